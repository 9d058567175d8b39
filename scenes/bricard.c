// Bricard's six-bar (IFToMM library of multibody benchmarks, A04): six bodies with the ground, six
// revolute joints, by Gruebler's count immobile, in truth with one freedom.
#include "scenes/scene.h"
#include "scenes/scenes.h"
#include "scenes/numbers.h"

#include <stdio.h>

#define NROD 5
#define SECTION 0.1 // edge of the square section, m

// The six hinges at corners of the unit cube; rod i runs from corner i - 1 to corner i, the ground from
// the last to the first. Each axis is perpendicular to the two links it joins.
static const struct Corner {
    ItmVec3 at;
    int axis;
} CORNERS[NROD + 1] = {
    {{0, 0, 0}, 1},  {{1, 0, 0}, 2},  {{1, -1, 0}, 0},
    {{1, -1, 1}, 1}, {{0, -1, 1}, 2}, {{0, 0, 1}, 0},
};

static ItmVec3 middle(int rod)
{
    ItmVec3 a = CORNERS[rod - 1].at, b = CORNERS[rod].at;
    return (ItmVec3){0.5 * (a.x + b.x), 0.5 * (a.y + b.y), 0.5 * (a.z + b.z)};
}

// Point of the world at the start, in the frame of a rod (parallel to the world) or of the ground.
static ItmVec3 in_link(int link, ItmVec3 point)
{
    ItmVec3 o = link >= 1 && link <= NROD ? middle(link) : (ItmVec3){0, 0, 0};
    return (ItmVec3){point.x - o.x, point.y - o.y, point.z - o.z};
}

static int add_rod(ItmScene* scene, int rod)
{
    char name[24];
    snprintf(name, sizeof name, "rod%d", rod);
    ItmVec3 a = CORNERS[rod - 1].at, b = CORNERS[rod].at;
    double along = SECTION * SECTION / 6, across = (1 + SECTION * SECTION) / 12;
    ItmBodyDef def = itm_default_body_def();
    def.name = name;
    def.mass = 1;
    def.inertia = (ItmSym3){.xx = a.x != b.x ? along : across,
                            .yy = a.y != b.y ? along : across,
                            .zz = a.z != b.z ? along : across};
    def.has_pose = true;
    def.pose.p = middle(rod);
    return itm_scene_add_body(scene, &def);
}

static void add_hinge(ItmScene* scene, int corner, int body_a, int body_b)
{
    char name[24];
    snprintf(name, sizeof name, "hinge%d", corner);
    ItmVec3 at = CORNERS[corner].at;
    ItmJointDef def =
        itm_scene_hinge(name, body_a, in_link(corner, at), body_b, in_link(corner + 1, at),
                        itm_scene_unit(CORNERS[corner].axis));
    itm_scene_add_joint(scene, &def);
}

ItmStatus itm_bricard_build(ItmModel** model, ItmCoordinates coordinates, ItmError* error)
{
    ItmScene scene = itm_scene_begin(coordinates, (ItmVec3){0, -ITM_SCENE_GRAVITY, 0}, error);
    int last = ITM_GROUND;
    for (int rod = 1; rod <= NROD; rod++) {
        int body = add_rod(&scene, rod);
        add_hinge(&scene, rod - 1, last, body);
        last = body;
    }
    add_hinge(&scene, NROD, last, ITM_GROUND);
    return itm_scene_finish(&scene, model);
}
