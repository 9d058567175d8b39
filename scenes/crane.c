// Hydraulic cranes as bodies in space, in the x-y plane, gravity along -y.                        [cranes, section 3.1]
#include "scenes/scene.h"
#include "scenes/scenes.h"

#include <math.h>

#define CRANE_L 1.0       // boom, m
#define CRANE_LH 0.5      // hook arm, m
#define CRANE_M 200.0     // boom, uniform rod, kg
#define CRANE_MP 250.0    // at its tip, kg
#define CRANE_MH 100.0    // at the end of the hook arm, kg
#define CRANE_XB 0.8660254037844386
#define CRANE_THETA 0.5235987755982988
// The page has point masses; bodies need an inertia. About z it adds 1e-6 to M22 = 25 kg m^2; the boom's about its own
// axis never turns.
#define CRANE_TINY 1e-6
#define CRANE_AXIAL 1.0

static ItmVec3 along(double x)
{
    return (ItmVec3){x, 0, 0};
}

// Uniform rod from the origin along x with a point mass at its tip: about the origin m L^2 / 3 + tip L^2.
static int add_boom(ItmScene* scene, const char* name, double rod, double tip)
{
    ItmBodyDef def = itm_default_body_def();
    double mass = rod + tip, x = (0.5 * rod + tip) * CRANE_L / mass;
    double inertia = (rod / 3.0 + tip) * CRANE_L * CRANE_L - mass * x * x;
    def.name = name;
    def.mass = mass;
    def.com = along(x);
    def.inertia = (ItmSym3){.xx = CRANE_AXIAL, .yy = inertia, .zz = inertia};
    return itm_scene_add_body(scene, &def);
}

static int add_load(ItmScene* scene, const char* name, double mass, ItmVec3 com, double inertia)
{
    ItmBodyDef def = itm_default_body_def();
    def.name = name;
    def.mass = mass;
    def.com = com;
    def.inertia = (ItmSym3){.xx = inertia, .yy = inertia, .zz = inertia};
    return itm_scene_add_body(scene, &def);
}

static void add_hinge(ItmScene* scene, const char* name, int a, ItmVec3 at_a, int b, ItmVec3 at_b, double angle)
{
    ItmJointDef def = itm_scene_hinge(name, a, at_a, b, at_b, (ItmVec3){0, 0, 1});
    itm_scene_set_start(&def, ITM_RZ, angle, 0);
    itm_scene_add_joint(scene, &def);
}

ItmStatus itm_crane_build(ItmModel** model, ItmCoordinates coordinates, int nactuator, ItmError* error)
{
    ItmScene scene = itm_scene_begin(coordinates, (ItmVec3){0, -9.81, 0}, error);
    int boom = add_boom(&scene, "boom", CRANE_M, CRANE_MP);
    int hook = add_load(&scene, "hook", CRANE_MH, along(CRANE_LH), CRANE_TINY);
    add_hinge(&scene, "foot", ITM_GROUND, along(0), boom, along(0), CRANE_THETA);
    add_hinge(&scene, "tip", boom, along(CRANE_L), hook, along(0), 4.71238898038469 - CRANE_THETA);
    itm_scene_add_actuator(&scene, "cyl1", ITM_GROUND, along(CRANE_XB), boom, along(0.5 * CRANE_L));
    if (nactuator > 1) {
        itm_scene_add_actuator(&scene, "cyl2", boom, along(0.5 * CRANE_L), hook, along(0.5 * CRANE_LH));
    }
    return itm_scene_finish(&scene, model);
}

ItmStatus itm_parallel_crane_build(ItmModel** model, ItmCoordinates coordinates, ItmError* error)
{
    ItmScene scene = itm_scene_begin(coordinates, (ItmVec3){0, -9.81, 0}, error);
    ItmVec3 up = {0, 0.3, 0};
    int boom = add_boom(&scene, "boom", CRANE_M, CRANE_MP);
    int rod = add_boom(&scene, "rod", 20.0, 5.0);
    int head = add_load(&scene, "head", CRANE_MH, (ItmVec3){0.2, 0.1, 0}, 2.0);
    add_hinge(&scene, "foot", ITM_GROUND, along(0), boom, along(0), CRANE_THETA);
    add_hinge(&scene, "rod_foot", ITM_GROUND, up, rod, along(0), CRANE_THETA);
    add_hinge(&scene, "tip", boom, along(CRANE_L), head, along(0), -CRANE_THETA);
    ItmJointDef closing = itm_scene_hinge("rod_tip", rod, along(CRANE_L), head, up, (ItmVec3){0, 0, 1});
    closing.coordinates = ITM_JOINT_ROWS;
    itm_scene_add_joint(&scene, &closing);
    itm_scene_add_actuator(&scene, "cyl1", ITM_GROUND, along(CRANE_XB), boom, along(0.5 * CRANE_L));
    return itm_scene_finish(&scene, model);
}
