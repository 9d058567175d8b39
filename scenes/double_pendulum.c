// Double pendulum of rods that hang along -z at angle 0 and swing about y: two joints that move each other, without
// contact, loop or drive, which no example is.
#include "scenes/scene.h"
#include "scenes/scenes.h"
#include "scenes/numbers.h"

static int add_rod(ItmScene* scene, const char* name)
{
    ItmBodyDef def = itm_default_body_def();
    def.name = name;
    def.mass = 1;
    def.com = (ItmVec3){0, 0, -0.5};
    def.inertia = (ItmSym3){.xx = 1.0 / 12, .yy = 1.0 / 12, .zz = 1e-3};
    return itm_scene_add_body(scene, &def);
}

static void add_hinge(ItmScene* scene, const char* name, int body_a, ItmVec3 at, int body_b, double angle)
{
    ItmJointDef def = itm_scene_hinge(name, body_a, at, body_b, (ItmVec3){0, 0, 0}, (ItmVec3){0, 1, 0});
    itm_scene_set_start(&def, ITM_RZ, angle, 0);
    itm_scene_add_joint(scene, &def);
}

ItmStatus itm_double_pendulum_build(ItmModel** model, ItmCoordinates coordinates, double angle_upper,
                                    double angle_lower, ItmError* error)
{
    ItmScene scene = itm_scene_begin(coordinates, (ItmVec3){0, 0, -ITM_SCENE_GRAVITY}, error);
    int upper = add_rod(&scene, "upper");
    int lower = add_rod(&scene, "lower");
    add_hinge(&scene, "shoulder", ITM_GROUND, (ItmVec3){0, 0, 0}, upper, angle_upper);
    add_hinge(&scene, "elbow", upper, (ItmVec3){0, 0, -1}, lower, angle_lower);
    return itm_scene_finish(&scene, model);
}
