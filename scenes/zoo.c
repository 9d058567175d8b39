// Every joint type, with inertia and frames that hide no mistake, to compare absolute with joint
// coordinates. Examples have axes and inertias that people choose.
#include "scenes/scene.h"
#include "scenes/scenes.h"
#include "scenes/numbers.h"
#include "math/vec.h"

#include <stdio.h>

// The joint types, and start values for the pairs: small enough to stay far from singular positions.
static const struct Specimen {
    ItmJointType type;
    int freedom;
    unsigned free;  // directions that have a coordinate of their own
} SPECIMENS[ITM_JOINT_TYPE_COUNT] = {
    {ITM_JOINT_FIXED, 0, 0},
    {ITM_JOINT_REVOLUTE, 1, 1u << ITM_RZ},
    {ITM_JOINT_PRISMATIC, 1, 1u << ITM_TZ},
    {ITM_JOINT_CYLINDRICAL, 2, 1u << ITM_TZ | 1u << ITM_RZ},
    {ITM_JOINT_SPHERICAL, 3, 0},
    {ITM_JOINT_UNIVERSAL, 2, 1u << ITM_RX | 1u << ITM_RY},
    {ITM_JOINT_PLANAR, 3, 1u << ITM_TX | 1u << ITM_TY | 1u << ITM_RZ},
    {ITM_JOINT_DISTANCE, 5, 0},
    {ITM_JOINT_SCREW, 1, 1u << ITM_RZ},
    {ITM_JOINT_GENERIC, 3, 1u << ITM_TX | 1u << ITM_TZ | 1u << ITM_RY},
};
static const double START[ITM_DIRECTION_COUNT] = {0.1, -0.15, 0.2, 0.3, -0.25, 0.4};
static const double RATE[ITM_DIRECTION_COUNT] = {0.5, -0.4, 0.3, 0.8, -0.6, 0.7};

static ItmVec3 skew_gravity(void)
{
    return itm_vec(1.2, -2.3, -9.0);
}

// Body number i: mass, centre and principal axes all skew, and different for every i.
static ItmBodyDef skew_body(const char* name, int i)
{
    ItmMat3 R = itm_quat_to_mat(itm_quat_exp(itm_vec(0.3 + 0.1 * i, -0.5, 0.2 + 0.05 * i)));
    ItmSym3 principal = {.xx = 0.3 + 0.02 * i, .yy = 0.2 + 0.01 * i, .zz = 0.15 + 0.015 * i};
    ItmBodyDef def = itm_default_body_def();
    def.name = name;
    def.mass = 2.0 + 0.3 * i;
    def.com = itm_vec(0.1 + 0.01 * i, -0.05, 0.07);
    def.inertia = itm_sym_rotate(&R, &principal);
    return def;
}

static ItmPose skew_frame(double x, double y, double z, double turn)
{
    return itm_scene_frame(itm_vec(x, y, z), itm_vec(0.3 + turn, -0.4, 0.8 - turn));
}

static ItmJointDef joint_of_type(const char* name, ItmJointType type)
{
    ItmJointDef def = itm_default_joint_def(type);
    def.name = name;
    if (type == ITM_JOINT_GENERIC) {
        def.free = SPECIMENS[type].free;
    }
    if (type == ITM_JOINT_SCREW) {
        def.pitch = 0.25;
    }
    return def;
}

int itm_zoo_get_freedom(ItmJointType type)
{
    return SPECIMENS[type].freedom;
}

// ---------------------------------------------------------------------------- pairs

static void set_starts(ItmJointDef* def)
{
    for (int i = 0; i < ITM_DIRECTION_COUNT; i++) {
        if (SPECIMENS[def->type].free & 1u << i) {
            itm_scene_set_start(def, (ItmDirection)i, START[i], RATE[i]);
        }
    }
}

ItmStatus itm_zoo_build_pair(ItmModel** model, ItmCoordinates coordinates, ItmJointType type, ItmError* error)
{
    ItmScene scene = itm_scene_begin(coordinates, skew_gravity(), error);
    ItmBodyDef body = skew_body("carrier", 0);
    int carrier = itm_scene_add_body(&scene, &body);
    ItmJointDef swing = joint_of_type("swing", ITM_JOINT_REVOLUTE);
    swing.body_a = ITM_GROUND;
    swing.body_b = carrier;
    swing.frame_a = skew_frame(0.2, 0.1, -0.3, 0.1);
    swing.frame_b = skew_frame(-0.3, 0.2, 0.1, 0.3);
    itm_scene_set_start(&swing, ITM_RZ, 0.2, 1.1);
    itm_scene_add_joint(&scene, &swing);

    body = skew_body("rider", 1);
    ItmJointDef joint = joint_of_type("joint", type);
    joint.body_a = carrier;
    joint.body_b = itm_scene_add_body(&scene, &body);
    joint.frame_a = skew_frame(0.5, -0.1, 0.2, 0.2);
    joint.frame_b = skew_frame(-0.4, 0.3, -0.2, -0.1);
    if (type == ITM_JOINT_DISTANCE) {
        joint.length = 0.6;
    }
    set_starts(&joint);
    itm_scene_add_joint(&scene, &joint);
    return itm_scene_finish(&scene, model);
}

// ---------------------------------------------------------------------------- spin

// Whether the specimen can spin about its own axis for ever: not about one of two, nor in a plane.
static bool has_spin(ItmJointType type)
{
    return type != ITM_JOINT_FIXED && type != ITM_JOINT_PRISMATIC;
}

// A rotor with its centre of mass in the joint, and three different moments.
static int add_rotor(ItmScene* scene, const char* name, double rate)
{
    ItmBodyDef body = itm_default_body_def();
    body.name = name;
    body.mass = 2.3;
    body.inertia = (ItmSym3){.xx = 0.32, .yy = 0.30, .zz = 0.4};
    body.angular_velocity = itm_vec(0.1 * rate, 0.05 * rate, rate);  // where no joint says otherwise
    return itm_scene_add_body(scene, &body);
}

ItmStatus itm_zoo_build_spin(ItmModel** model, ItmCoordinates coordinates, ItmJointType type, double rate,
                             ItmError* error)
{
    ItmScene scene = itm_scene_begin(coordinates, itm_vec(0, 0, 0), error);
    ItmBodyDef body = skew_body("carrier", 0);
    body.has_pose = true;
    body.pose = itm_pose_identity();
    body.angular_velocity = itm_vec(0.3, 0.2, -0.4);
    ItmJointDef joint = joint_of_type("joint", type);
    joint.body_a = itm_scene_add_body(&scene, &body);
    joint.frame_a = skew_frame(0.5, -0.1, 0.2, 0.2);
    joint.pitch *= 1e-3;
    joint.length = type == ITM_JOINT_DISTANCE ? 0.6 : joint.length;
    for (int i = 0; i < ITM_DIRECTION_COUNT; i++) {
        if (SPECIMENS[type].free & 1u << i) {
            bool is_spun = i >= ITM_RX && (type != ITM_JOINT_UNIVERSAL || i == ITM_RX);
            itm_scene_set_start(&joint, (ItmDirection)i, START[i], is_spun ? rate : 0.0);
        }
    }
    if (has_spin(type)) {
        joint.body_b = add_rotor(&scene, "rotor", rate);
        itm_scene_add_joint(&scene, &joint);
        return itm_scene_finish(&scene, model);
    }
    // a joint without rotations: it carries the bearing of a wheel
    body = skew_body("bearing", 1);
    joint.body_b = itm_scene_add_body(&scene, &body);
    itm_scene_add_joint(&scene, &joint);
    ItmJointDef axle = joint_of_type("axle", ITM_JOINT_REVOLUTE);
    axle.body_a = joint.body_b;
    axle.body_b = add_rotor(&scene, "rotor", rate);
    axle.frame_a = skew_frame(-0.2, 0.3, 0.1, 0.1);
    itm_scene_set_start(&axle, ITM_RZ, 0.0, rate);
    itm_scene_add_joint(&scene, &axle);
    return itm_scene_finish(&scene, model);
}

// ---------------------------------------------------------------------------- loop

// Start pose of body i of the loop, on a bent ring; 0 and the last are the ground.
static ItmPose ring_pose(int i)
{
    if (i == 0 || i == ITM_JOINT_TYPE_COUNT) {
        return itm_pose_identity();
    }
    double a = 2 * 3.14159265358979323846 * i / ITM_JOINT_TYPE_COUNT;
    return (ItmPose){itm_vec(2 - 2 * cos(a), 1.5 * sin(a), 0.4 * sin(2 * a)),
                     itm_quat_exp(itm_vec(0.2 * i, 0.5 - 0.1 * i, 0.3 * a))};
}

// Joint number i lies halfway between bodies i and i + 1; its ends coincide at the start, except that
// a distance joint spans the middle third.
static ItmPose ring_joint(int i, double along)
{
    ItmVec3 p = ring_pose(i).p, step = itm_vec_sub(ring_pose(i + 1).p, p);
    return skew_frame(p.x + along * step.x, p.y + along * step.y, p.z + along * step.z, 0.1 * i);
}

static void add_ring_joint(ItmScene* scene, int i, int body_a, int body_b)
{
    ItmJointType type = SPECIMENS[i].type;
    bool is_distance = type == ITM_JOINT_DISTANCE;
    ItmJointDef def = joint_of_type(itm_model_joint_type_name(type), type);
    def.body_a = body_a;
    def.body_b = body_b;
    def.frame_a = itm_pose_mul(itm_pose_inverse(ring_pose(i)), ring_joint(i, is_distance ? 0.33 : 0.5));
    def.frame_b = itm_pose_mul(itm_pose_inverse(ring_pose(i + 1)), ring_joint(i, is_distance ? 0.67 : 0.5));
    itm_scene_add_joint(scene, &def);
}

ItmStatus itm_zoo_build_loop(ItmModel** model, ItmCoordinates coordinates, ItmError* error)
{
    ItmScene scene = itm_scene_begin(coordinates, skew_gravity(), error);
    int last = ITM_GROUND;
    for (int i = 0; i < ITM_JOINT_TYPE_COUNT; i++) {
        int body = ITM_GROUND;
        if (i + 1 < ITM_JOINT_TYPE_COUNT) {
            char name[24];
            snprintf(name, sizeof name, "body%d", i + 1);
            ItmBodyDef def = skew_body(name, i);
            def.has_pose = true;
            def.pose = ring_pose(i + 1);
            body = itm_scene_add_body(&scene, &def);
        }
        add_ring_joint(&scene, i, last, body);
        last = body;
    }
    return itm_scene_finish(&scene, model);
}
