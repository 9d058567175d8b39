// N-four-bar mechanism (IFToMM library of multibody benchmarks, A02): redundant rows, and singular
// positions twice in every swing. Any number of windows: no model file has that.
#include "scenes/scene.h"
#include "scenes/scenes.h"
#include "scenes/numbers.h"

#include <stdio.h>

static int add_rod(ItmScene* scene, const char* kind, int i, ItmVec3 com)
{
    char name[24];
    snprintf(name, sizeof name, "%s%d", kind, i);
    ItmBodyDef def = itm_default_body_def();
    def.name = name;
    def.mass = 1;
    def.com = com;
    def.inertia = (ItmSym3){.xx = ITM_FOUR_BAR_INERTIA, .yy = ITM_FOUR_BAR_INERTIA, .zz = ITM_FOUR_BAR_INERTIA};
    return itm_scene_add_body(scene, &def);
}

static ItmJointDef hinge(const char* name, int a, ItmVec3 at_a, int b, ItmVec3 at_b)
{
    return itm_scene_hinge(name, a, at_a, b, at_b, (ItmVec3){0, 1, 0});
}

static int add_upright(ItmScene* scene, int i)
{
    char name[24];
    snprintf(name, sizeof name, "foot%d", i);
    int body = add_rod(scene, "upright", i, (ItmVec3){0, 0, 0.5});
    ItmJointDef foot = hinge(name, ITM_GROUND, (ItmVec3){i, 0, 0}, body, (ItmVec3){0, 0, 0});
    itm_scene_set_start(&foot, ITM_RZ, 0, 1);
    itm_scene_add_joint(scene, &foot);
    return body;
}

// Coupler i from the top of `left` to the top of `right`, at rest in its orientation.
static void add_coupler(ItmScene* scene, int i, int left, int right)
{
    char name[24];
    int body = add_rod(scene, "coupler", i, (ItmVec3){0.5, 0, 0});
    snprintf(name, sizeof name, "left%d", i);
    ItmJointDef near = hinge(name, left, (ItmVec3){0, 0, 1}, body, (ItmVec3){0, 0, 0});
    itm_scene_set_start(&near, ITM_RZ, 0, -1);
    itm_scene_add_joint(scene, &near);
    snprintf(name, sizeof name, "right%d", i);
    ItmJointDef far = hinge(name, body, (ItmVec3){1, 0, 0}, right, (ItmVec3){0, 0, 1});
    far.coordinates = ITM_JOINT_ROWS;
    itm_scene_add_joint(scene, &far);
}

ItmStatus itm_four_bar_build(ItmModel** model, ItmCoordinates coordinates, int n, ItmError* error)
{
    ItmScene scene = itm_scene_begin(coordinates, (ItmVec3){0, 0, -ITM_SCENE_GRAVITY}, error);
    int left = add_upright(&scene, 0);
    for (int i = 0; i < n; i++) {
        int right = add_upright(&scene, i + 1);
        add_coupler(&scene, i, left, right);
        left = right;
    }
    return itm_scene_finish(&scene, model);
}
