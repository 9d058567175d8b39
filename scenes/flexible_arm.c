// Seven-joint arm with two long booms, which may be flexible                              [flexible-rim, sections III-IV]
#include "scenes/scene.h"
#include "scenes/scenes.h"
#include "scenes/numbers.h"

#include <math.h>
#include <stdio.h>

#define JOINTS 7
#define DIAMETER 0.30
#define DENSITY 2700.0
#define YOUNG 69e9
#define BASE 0.38       // link 0, fixed, along x
#define DAMPING 0.02    // of the clamped modes

// Joint i at the start of link i, about an axis of the frame before; the link goes on by `length` along `along` of its own frame.
typedef struct Link {
    int axis, along;
    double length;  // m, with its sign
} Link;

static const Link LINKS[JOINTS] = {
    {0, 2, 0.64}, {2, 1, 0.50}, {1, 0, 6.85}, {1, 0, 6.85}, {1, 1, 0.50}, {2, 2, -0.64}, {0, 0, 0.38},
};

static ItmVec3 along(const Link* link, double share)
{
    double x = share * link->length;
    return (ItmVec3){link->along == 0 ? x : 0.0, link->along == 1 ? x : 0.0, link->along == 2 ? x : 0.0};
}

static void make_flexible(ItmScene* scene, int body, double length)
{
    const double size[2] = {DIAMETER, 0.0};
    ItmBeamDef beam = itm_default_beam_def();
    beam.length = length;
    beam.density = DENSITY;
    beam.young = YOUNG;
    beam.shear = YOUNG / 2.6;
    ItmFlexibleDef def = itm_default_flexible_def();
    def.beam = &beam;
    def.damping_ratio = DAMPING;
    if (scene->status == ITM_OK) {
        scene->status = itm_beam_set_section(&beam, ITM_SECTION_CIRCLE, size, scene->error);
    }
    if (scene->status == ITM_OK) {
        scene->status = itm_builder_add_flexible(scene->builder, body, &def, scene->error);
    }
}

static int add_link(ItmScene* scene, int i, bool is_flexible)
{
    const Link* link = &LINKS[i];
    char name[24];
    snprintf(name, sizeof name, "link%d", i + 1);
    double r = 0.5 * DIAMETER, length = fabs(link->length), mass = DENSITY * 3.14159265358979323846 * r * r * length;
    double J[3];
    for (int k = 0; k < 3; k++) {
        J[k] = k == link->along ? itm_cylinder_axial(mass, r) : itm_cylinder_transverse(mass, r, length);
    }
    ItmBodyDef def = itm_default_body_def();
    def.name = name;
    def.mass = mass;
    def.com = along(link, 0.5);
    def.inertia = (ItmSym3){.xx = J[0], .yy = J[1], .zz = J[2]};
    int body = itm_scene_add_body(scene, &def);
    if (is_flexible && (i == 2 || i == 3)) {
        make_flexible(scene, body, length);
    }
    return body;
}

ItmStatus itm_flexible_arm_build(ItmModel** model, ItmCoordinates coordinates, bool is_flexible, const double angles[7],
                                 ItmError* error)
{
    ItmScene scene = itm_scene_begin(coordinates, (ItmVec3){0, 0, 0}, error);
    int parent = ITM_GROUND;
    ItmVec3 at = {BASE, 0, 0};
    for (int i = 0; i < JOINTS; i++) {
        int child = add_link(&scene, i, is_flexible);
        char name[24];
        snprintf(name, sizeof name, "joint%d", i + 1);
        ItmJointDef def =
            itm_scene_hinge(name, parent, at, child, (ItmVec3){0, 0, 0}, itm_scene_unit(LINKS[i].axis));
        itm_scene_set_start(&def, ITM_RZ, angles[i], 0.02 * (i % 2 == 0 ? 1 : -1));
        itm_scene_add_joint(&scene, &def);
        parent = child;
        at = along(&LINKS[i], 1.0);
    }
    return itm_scene_finish(&scene, model);
}
