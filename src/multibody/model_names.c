// Default definitions, names of enums, and the frame of an axis.
#include "multibody/model_builder.h"

#include "base/error.h"
#include "math/vec.h"

// ---------------------------------------------------------------------------- defaults

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
    "signal",   "body", "joint",    "coupling", "motion", "load",  "spring",         "joint spring", "servo", "bushing",
    "actuator", "rope", "material", "shape",    "gap",    "limit", "joint friction", "contact",      "latch", "point"};

const char* itm_model_joint_type_name(ItmJointType type)
{
    return (int)type >= 0 && type < ITM_JOINT_TYPE_COUNT ? JOINT_TYPE_NAMES[type] : "unknown";
}

const char* itm_model_direction_name(ItmDirection direction)
{
    return (int)direction >= 0 && direction < ITM_DIRECTION_COUNT ? DIRECTION_NAMES[direction] : "unknown";
}

const char* itm_model_element_name(ItmElement element)
{
    return (int)element >= 0 && element < ITM_ELEMENT_COUNT ? ELEMENT_NAMES[element] : "unknown";
}

// ---------------------------------------------------------------------------- joints

#define BIT(direction) (1u << (direction))

unsigned itm_model_get_free_directions(const ItmJointDef* def)
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

ItmStatus itm_model_frame_from_axis(ItmPose* frame, ItmVec3 at, ItmVec3 axis, ItmVec3 x_hint, ItmError* error)
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
    *frame = (ItmPose){at, itm_vec_quat_from_mat(&R)};
    return ITM_OK;
}
