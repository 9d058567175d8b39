// Two-link hydraulic manipulator that pushes a block along the ground to a wall, as bodies in space, in the x-y plane,
// gravity along -y.                                                                          [contact-rim, section 5.2]
#include "scenes/scene.h"
#include "scenes/scenes.h"

#include <math.h>

#define THETA_1 0.5235987755982988   // absolute angles at the start
#define THETA_2 (-1.0471975511965976)
#define LINK_1 1.0                   // m
#define LINK_2 0.5
#define MASS_1 200.0                 // uniform rod, kg
#define MASS_Q 250.0                 // masses at the ends of link 2, kg
#define MASS_P 100.0
#define AXIAL 0.1                    // inertia about the axes of the links, kg m^2
#define RADIUS 0.05                  // sphere at P, m
#define SIDE 0.2                     // block, m
#define MASS_BLOCK 500.0

ItmManipulatorScene itm_default_manipulator_scene(void)
{
    return (ItmManipulatorScene){.coordinates = ITM_COORDINATES_JOINT, .friction = 0.5};
}

static ItmVec3 along(double x)
{
    return (ItmVec3){x, 0, 0};
}

static int add_link(ItmScene* scene, const char* name, double mass, double com, double inertia)
{
    ItmBodyDef def = itm_default_body_def();
    def.name = name;
    def.mass = mass;
    def.com = along(com);
    def.inertia = (ItmSym3){.xx = AXIAL, .yy = inertia, .zz = inertia};
    return itm_scene_add_body(scene, &def);
}

static void add_hinge(ItmScene* scene, const char* name, int a, ItmVec3 at_a, int b, double angle)
{
    ItmJointDef def = itm_scene_hinge(name, a, at_a, b, along(0), (ItmVec3){0, 0, 1});
    itm_scene_set_start(&def, ITM_RZ, angle, 0);
    itm_scene_add_joint(scene, &def);
}

static int add_block(ItmScene* scene)
{
    ItmBodyDef def = itm_default_body_def();
    double inertia = MASS_BLOCK * SIDE * SIDE / 6.0;
    def.name = "block";
    def.mass = MASS_BLOCK;
    def.inertia = (ItmSym3){.xx = inertia, .yy = inertia, .zz = inertia};
    def.has_pose = true;
    def.pose.p = (ItmVec3){1.3, 0.5 * SIDE, 0};
    return itm_scene_add_body(scene, &def);
}

static int add_material(ItmScene* scene, const char* name)
{
    ItmMaterialDef def = itm_default_material_def();
    def.name = name;
    def.surface.friction = 0.0;
    return itm_scene_add_material(scene, &def);
}

static void add_shape(ItmScene* scene, const char* name, int body, ItmColliderKind kind, double size, ItmPose pose, int material)
{
    ItmColliderDef def = itm_default_collider_def();
    def.name = name;
    def.body = body;
    def.kind = kind;
    def.size[0] = def.size[1] = def.size[2] = size;
    def.pose = pose;
    def.material = material;
    itm_scene_add_collider(scene, &def);
}

// Only block and ground rub.
static void add_shapes(ItmScene* scene, const ItmManipulatorScene* def, int link_2, int block)
{
    int smooth = add_material(scene, "smooth"), earth = add_material(scene, "earth"), stone = add_material(scene, "stone");
    ItmMaterialPairDef pair = {.material_a = earth, .material_b = stone, .surface = {.friction = def->friction}};
    if (scene->status == ITM_OK) {
        scene->status = itm_builder_add_material_pair(scene->builder, &pair, scene->error);
    }
    ItmPose origin = itm_default_body_def().pose, tip = origin;
    tip.p = along(LINK_2);
    add_shape(scene, "ball", link_2, ITM_COLLIDER_SPHERE, RADIUS, tip, smooth);
    add_shape(scene, "box", block, ITM_COLLIDER_BOX, SIDE, origin, stone);
    add_shape(scene, "floor", ITM_GROUND, ITM_COLLIDER_PLANE, 0, itm_scene_frame(along(0), (ItmVec3){0, 1, 0}), earth);
    add_shape(scene, "wall", ITM_GROUND, ITM_COLLIDER_PLANE, 0, itm_scene_frame(along(1.5), (ItmVec3){-1, 0, 0}), smooth);
}

ItmStatus itm_manipulator_build(ItmModel** model, const ItmManipulatorScene* def, ItmError* error)
{
    ItmScene scene = itm_scene_begin(def->coordinates, (ItmVec3){0, -9.81, 0}, error);
    double mass_2 = MASS_Q + MASS_P, com_2 = MASS_P * LINK_2 / mass_2;
    int link_1 = add_link(&scene, "link1", MASS_1, 0.5 * LINK_1, MASS_1 * LINK_1 * LINK_1 / 12.0);
    int link_2 = add_link(&scene, "link2", mass_2, com_2, MASS_P * MASS_Q / mass_2 * LINK_2 * LINK_2);
    add_hinge(&scene, "O", ITM_GROUND, along(0), link_1, THETA_1);
    add_hinge(&scene, "Q", link_1, along(LINK_1), link_2, THETA_2 - THETA_1);
    itm_scene_add_actuator(&scene, "cyl1", ITM_GROUND, (ItmVec3){0.3, -0.3, 0}, link_1, along(0.5 * LINK_1));
    itm_scene_add_actuator(&scene, "cyl2", link_1, along(LINK_1 - 0.1), link_2, along(LINK_2 - RADIUS));
    int block = add_block(&scene);
    add_shapes(&scene, def, link_2, block);
    return itm_scene_finish(&scene, model);
}
