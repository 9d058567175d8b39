// Default definitions, names of enums, and the frame of an axis.
#include "multibody/builder.h"

#include "base/error.h"
#include "math/vec.h"

// ---------------------------------------------------------------------------- defaults

ItmWorldDef itm_default_world_def(void)
{
    return (ItmWorldDef){.gravity = {0, 0, -9.81}, .coordinates = ITM_COORDINATES_JOINT};
}

ItmBodyDef itm_default_body_def(void)
{
    return (ItmBodyDef){
        .mass = 1.0, .inertia = {.xx = 1.0, .yy = 1.0, .zz = 1.0}, .pose = itm_pose_identity()};
}

ItmJointDef itm_default_joint_def(ItmJointType type)
{
    return (ItmJointDef){.type = type,
                         .body_a = ITM_GROUND,
                         .body_b = ITM_GROUND,
                         .frame_a = itm_pose_identity(),
                         .frame_b = itm_pose_identity()};
}

ItmCouplingDef itm_default_coupling_def(void)
{
    return (ItmCouplingDef){.joint_first = ITM_NONE,
                            .joint_second = ITM_NONE,
                            .direction_first = ITM_RZ,
                            .direction_second = ITM_RZ,
                            .ratio = 1.0};
}

ItmMotionDef itm_default_motion_def(void)
{
    return (ItmMotionDef){
        .joint = ITM_NONE, .direction = ITM_RZ, .kind = ITM_MOTION_POSITION, .signal = ITM_NONE};
}

ItmLoadDef itm_default_load_def(void)
{
    return (ItmLoadDef){.body = ITM_NONE, .signal = ITM_NONE};
}

ItmSpringDef itm_default_spring_def(void)
{
    return (ItmSpringDef){.body_a = ITM_GROUND, .body_b = ITM_GROUND, .length = -1.0};
}

ItmJointSpringDef itm_default_joint_spring_def(void)
{
    return (ItmJointSpringDef){.joint = ITM_NONE, .direction = ITM_RZ};
}

ItmServoDef itm_default_servo_def(void)
{
    return (ItmServoDef){.joint = ITM_NONE, .direction = ITM_RZ, .target = ITM_NONE, .feedforward = ITM_NONE};
}

ItmBushingDef itm_default_bushing_def(void)
{
    return (ItmBushingDef){.body_a = ITM_GROUND,
                           .body_b = ITM_GROUND,
                           .frame_a = itm_pose_identity(),
                           .frame_b = itm_pose_identity()};
}

ItmActuatorDef itm_default_actuator_def(void)
{
    return (ItmActuatorDef){.body_a = ITM_GROUND, .body_b = ITM_GROUND, .signal = ITM_NONE};
}

ItmLatchDef itm_default_latch_def(ItmLatchKind kind)
{
    return (ItmLatchDef){
        .kind = kind, .joint = ITM_NONE, .direction = ITM_RZ, .body_a = ITM_GROUND, .body_b = ITM_GROUND};
}

ItmMaterialDef itm_default_material_def(void)
{
    return (ItmMaterialDef){.surface = {.friction = 0.5}};
}

ItmColliderDef itm_default_collider_def(void)
{
    return (ItmColliderDef){.body = ITM_GROUND,
                            .kind = ITM_COLLIDER_SPHERE,
                            .size = {1, 1, 1},
                            .pose = itm_pose_identity(),
                            .material = ITM_NONE,
                            .group = 1,
                            .mask = UINT32_MAX};
}

ItmGapDef itm_default_gap_def(void)
{
    return (ItmGapDef){.body_a = ITM_GROUND, .body_b = ITM_GROUND, .max_points = 1, .surface = {.friction = 0.5}};
}

ItmLimitDef itm_default_limit_def(void)
{
    return (ItmLimitDef){.joint = ITM_NONE, .direction = ITM_RZ, .lower = -INFINITY, .upper = INFINITY};
}

ItmJointFrictionDef itm_default_joint_friction_def(void)
{
    return (ItmJointFrictionDef){.joint = ITM_NONE, .direction = ITM_RZ};
}

ItmContactOptions itm_default_contact_options(void)
{
    return (ItmContactOptions){.law = ITM_FRICTION_CONE,
                               .ndirection = 8,
                               .margin = 1e-3,
                               .restitution_speed = 1e-2,
                               .solver = ITM_MLCP_AUTO,
                               .tolerance = 1e-9,
                               .effort = 40.0,
                               .residual_limit = 1e-3,
                               .residual_steps = 20};
}

// ---------------------------------------------------------------------------- names

static const char* const JOINT_TYPE_NAMES[ITM_JOINT_TYPE_COUNT] = {
    [ITM_JOINT_FIXED] = "fixed",         [ITM_JOINT_REVOLUTE] = "revolute",
    [ITM_JOINT_PRISMATIC] = "prismatic", [ITM_JOINT_CYLINDRICAL] = "cylindrical",
    [ITM_JOINT_SPHERICAL] = "spherical", [ITM_JOINT_UNIVERSAL] = "universal",
    [ITM_JOINT_PLANAR] = "planar",       [ITM_JOINT_DISTANCE] = "distance",
    [ITM_JOINT_SCREW] = "screw",         [ITM_JOINT_GENERIC] = "generic",
};

static const char* const DIRECTION_NAMES[ITM_DIRECTION_COUNT] = {"tx", "ty", "tz", "rx", "ry", "rz"};

static const char* const ELEMENT_NAMES[ITM_ELEMENT_COUNT] = {
    "signal", "body", "joint", "coupling", "motion", "load", "spring", "joint spring", "servo", "bushing", "actuator",
    "material", "shape", "gap", "limit", "joint friction", "contact", "latch", "point"};

const char* itm_joint_type_name(ItmJointType type)
{
    return (int)type >= 0 && type < ITM_JOINT_TYPE_COUNT ? JOINT_TYPE_NAMES[type] : "unknown";
}

const char* itm_direction_name(ItmDirection direction)
{
    return (int)direction >= 0 && direction < ITM_DIRECTION_COUNT ? DIRECTION_NAMES[direction] : "unknown";
}

const char* itm_element_name(ItmElement element)
{
    return (int)element >= 0 && element < ITM_ELEMENT_COUNT ? ELEMENT_NAMES[element] : "unknown";
}

// ---------------------------------------------------------------------------- joints

#define BIT(direction) (1u << (direction))

unsigned itm_joint_def_get_free(const ItmJointDef* def)
{
    switch (def->type) {
    case ITM_JOINT_REVOLUTE:
        return BIT(ITM_RZ);
    case ITM_JOINT_PRISMATIC:
        return BIT(ITM_TZ);
    case ITM_JOINT_CYLINDRICAL:
    case ITM_JOINT_SCREW:
        return BIT(ITM_TZ) | BIT(ITM_RZ);
    case ITM_JOINT_SPHERICAL:
        return BIT(ITM_RX) | BIT(ITM_RY) | BIT(ITM_RZ);
    case ITM_JOINT_UNIVERSAL:
        return BIT(ITM_RX) | BIT(ITM_RY);
    case ITM_JOINT_PLANAR:
        return BIT(ITM_TX) | BIT(ITM_TY) | BIT(ITM_RZ);
    case ITM_JOINT_DISTANCE:
        return BIT(ITM_DIRECTION_COUNT) - 1u;
    case ITM_JOINT_GENERIC:
        return def->free;
    case ITM_JOINT_FIXED:
    case ITM_JOINT_TYPE_COUNT:
        break;
    }
    return 0;
}

// ---------------------------------------------------------------------------- frames

// a / |a|, without overflow or underflow; zero stays zero.
static ItmVec3 normalize(ItmVec3 a)
{
    double scale = fmax(fabs(a.x), fmax(fabs(a.y), fabs(a.z)));
    if (scale == 0.0) {
        return a;
    }
    ItmVec3 b = itm_vec(a.x / scale, a.y / scale, a.z / scale);
    return itm_vec_scale(1.0 / itm_vec_norm(b), b);
}

ItmStatus itm_frame_from_axis(ItmPose* frame, ItmVec3 at, ItmVec3 axis, ItmVec3 x_hint, ItmError* error)
{
    if (!itm_vec_is_finite(at) || !itm_vec_is_finite(axis) || !itm_vec_is_finite(x_hint)) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "axis", "a frame must be finite");
    }
    ItmVec3 z = normalize(axis);
    if (itm_vec_norm(z) == 0.0) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "axis", "an axis must not be zero");
    }
    // hints to try in turn: at 1e-6 rad from the axis a hint still gives its direction to ten digits
    const ItmVec3 hints[3] = {normalize(x_hint), {1, 0, 0}, {0, 1, 0}};
    const double nearest[3] = {1e-6, 0.1, 0.0};
    ItmVec3 x = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        x = itm_vec_axpy(-itm_vec_dot(hints[i], z), z, hints[i]);
        if (itm_vec_norm(x) > nearest[i]) {
            break;
        }
    }
    ItmMat3 R = {.x = normalize(x), .z = z};
    R.y = itm_vec_cross(R.z, R.x);
    *frame = (ItmPose){at, itm_quat_from_mat(&R)};
    return ITM_OK;
}
