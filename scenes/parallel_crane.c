// Crane whose head stays upright, as bodies in space, in the x-y plane, gravity along -y: the boom and the cylinder of
// examples/crane-single.yaml, but with a closed loop and redundant rows, which no crane of the examples has.
#include "scenes/scene.h"
#include "scenes/scenes.h"

#define LENGTH 1.0  // boom and rod, m
#define FOOT_X 0.8660254037844386
#define THETA 0.5235987755982988
#define AXIAL 1.0  // inertia about the axes of boom and rod, which never turn about them, kg m^2

static ItmVec3 along(double x)
{
    return (ItmVec3){x, 0, 0};
}

// Uniform rod from the origin along x with a point mass at its tip: about the origin m L^2 / 3 + tip L^2.
static int add_rod(ItmScene* scene, const char* name, double rod, double tip)
{
    ItmBodyDef def = itm_default_body_def();
    double mass = rod + tip, x = (0.5 * rod + tip) * LENGTH / mass;
    double inertia = (rod / 3.0 + tip) * LENGTH * LENGTH - mass * x * x;
    def.name = name;
    def.mass = mass;
    def.com = along(x);
    def.inertia = (ItmSym3){.xx = AXIAL, .yy = inertia, .zz = inertia};
    return itm_scene_add_body(scene, &def);
}

static int add_head(ItmScene* scene)
{
    ItmBodyDef def = itm_default_body_def();
    def.name = "head";
    def.mass = 100.0;
    def.com = (ItmVec3){0.2, 0.1, 0};
    def.inertia = (ItmSym3){.xx = 2.0, .yy = 2.0, .zz = 2.0};
    return itm_scene_add_body(scene, &def);
}

static void add_hinge(ItmScene* scene, const char* name, int a, ItmVec3 at_a, int b, double angle)
{
    ItmJointDef def = itm_scene_hinge(name, a, at_a, b, along(0), (ItmVec3){0, 0, 1});
    itm_scene_set_start(&def, ITM_RZ, angle, 0);
    itm_scene_add_joint(scene, &def);
}

ItmStatus itm_parallel_crane_build(ItmModel** model, ItmCoordinates coordinates, ItmError* error)
{
    ItmScene scene = itm_scene_begin(coordinates, (ItmVec3){0, -9.81, 0}, error);
    ItmVec3 up = {0, 0.3, 0};
    int boom = add_rod(&scene, "boom", 200.0, 250.0);
    int rod = add_rod(&scene, "rod", 20.0, 5.0);
    int head = add_head(&scene);
    add_hinge(&scene, "foot", ITM_GROUND, along(0), boom, THETA);
    add_hinge(&scene, "rod_foot", ITM_GROUND, up, rod, THETA);
    add_hinge(&scene, "tip", boom, along(LENGTH), head, -THETA);
    ItmJointDef closing = itm_scene_hinge("rod_tip", rod, along(LENGTH), head, up, (ItmVec3){0, 0, 1});
    closing.coordinates = ITM_JOINT_ROWS;
    itm_scene_add_joint(&scene, &closing);
    itm_scene_add_actuator(&scene, "cyl1", ITM_GROUND, along(FOOT_X), boom, along(0.5 * LENGTH));
    return itm_scene_finish(&scene, model);
}
