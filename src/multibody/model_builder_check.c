// What each definition must satisfy. A check keeps the first thing it finds wrong; later ones then do nothing.
#include "multibody/model_builder.h"

#include "base/check.h"
#include "base/error.h"
#include "math/vec.h"
#include "multibody/clearance.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------- names and numbers

// Words that name outputs of the whole system, or the fixed body.
static const char* const RESERVED[] = {"ground", "energy", "momentum", "violation", "step", "solver"};

static ItmCheck start(ItmElement element, const char* name, ItmError* error)
{
    ItmCheck c = itm_check_start("itm_model_builder_add", itm_model_element_name(element), name, error);
    for (size_t i = 0; i < sizeof RESERVED / sizeof RESERVED[0]; i++) {
        if (strcmp(c.name, RESERVED[i]) == 0) {
            itm_check_refuse(&c, "name",
                             i == 0 ? "'%s' is the name of the fixed body"
                                    : "'%s' is the name of outputs of the "
                                      "whole system",
                             RESERVED[i]);
        }
    }
    return c;
}

ItmStatus itm_model_builder_check_name(ItmElement element, const char* name, ItmError* error)
{
    return start(element, name, error).status;
}

static void finite_vec(ItmCheck* c, const char* field, ItmVec3 value)
{
    if (!itm_vec_is_finite(value)) {
        itm_check_refuse(c, field, "%s must be finite", field);
    }
}

static void valid_pose(ItmCheck* c, const char* field, ItmPose pose)
{
    finite_vec(c, field, pose.p);
    double size = fmax(fmax(fabs(pose.q.w), fabs(pose.q.x)), fmax(fabs(pose.q.y), fabs(pose.q.z)));
    // the squares must neither overflow nor vanish
    if (!(size > 1e-150) || !(size < 1e150) || isnan(pose.q.w + pose.q.x + pose.q.y + pose.q.z)) {
        itm_check_refuse(c, field, "%s has a quaternion that is zero or not finite", field);
    }
}

// ---------------------------------------------------------------------------- references

static void valid_body(ItmCheck* c, const ItmModelBuilder* b, const char* field, int body, bool allow_ground)
{
    if (body == ITM_GROUND && allow_ground) {
        return;
    }
    if (body == ITM_NONE && allow_ground) {
        itm_check_refuse(c, field, "no body is given: %s is ITM_NONE; the ground is ITM_GROUND", field);
    } else if (body < 0 || body >= b->bodies.count) {
        itm_check_refuse(c, field, "there is no body %d: %d are defined so far", body, b->bodies.count);
    }
}

static void two_bodies(ItmCheck* c, const ItmModelBuilder* b, int body_a, int body_b)
{
    valid_body(c, b, "body_a", body_a, true);
    valid_body(c, b, "body_b", body_b, true);
    if (body_a == body_b) {
        itm_check_refuse(c, "body_b", "it connects a body with itself");
    }
}

static void valid_signal(ItmCheck* c, const ItmModelBuilder* b, int signal, bool is_optional)
{
    if (signal == ITM_NONE && is_optional) {
        return;
    }
    if (signal < 0 || signal >= b->signals.count) {
        itm_check_refuse(c, "signal", "there is no signal %d: %d are defined so far", signal, b->signals.count);
    }
}

#define ROTATIONS (1u << ITM_RX | 1u << ITM_RY | 1u << ITM_RZ)

// The direction has a position of its own: free, and not one of three rotations, which have no order.
static void free_direction(ItmCheck* c, const ItmModelBuilder* b, const char* joint_field, const char* field, int joint,
                           ItmDirection direction, bool needs_position)
{
    if (joint < 0 || joint >= b->joints.count) {
        itm_check_refuse(c, joint_field, "there is no joint %d: %d are defined so far", joint, b->joints.count);
        return;
    }
    const ItmJointDef* def = &b->joints.items[joint];
    if ((int)direction < 0 || direction >= ITM_DIRECTION_COUNT) {
        itm_check_refuse(c, field, "%d is not a direction", (int)direction);
        return;
    }
    unsigned bit = 1u << direction, mobile = itm_model_get_free_directions(def);
    if (def->type == ITM_JOINT_DISTANCE || (mobile & bit) == 0) {
        itm_check_refuse(c, field, "direction %s is not free in the %s joint '%s'", itm_model_direction_name(direction),
                         itm_model_joint_type_name(def->type), def->name);
    } else if (needs_position && (bit & ROTATIONS) != 0 && (mobile & ROTATIONS) == ROTATIONS) {
        itm_check_refuse(c, field, "joint '%s' turns freely in all directions, so there is no angle %s", def->name,
                         itm_model_direction_name(direction));
    }
}

// ---------------------------------------------------------------------------- bodies and joints

ItmStatus itm_model_builder_check_body(const ItmBodyDef* def, ItmError* error)
{
    ItmCheck c = start(ITM_ELEMENT_BODY, def->name, error);
    if (!(def->mass > 0) || !isfinite(def->mass)) {
        itm_check_refuse(&c, "mass", "mass must be positive, got %g kg", def->mass);
    }
    finite_vec(&c, "com", def->com);
    if (c.status == ITM_OK) {
        c.status = itm_inertia_check(&def->inertia, c.name, error);
    }
    if (def->has_pose) {
        valid_pose(&c, "pose", def->pose);
    }
    finite_vec(&c, "velocity", def->velocity);
    finite_vec(&c, "angular_velocity", def->angular_velocity);
    return c.status;
}

static void check_start_values(ItmCheck* c, const ItmJointDef* def)
{
    unsigned mobile = def->type == ITM_JOINT_DISTANCE ? 0 : itm_model_get_free_directions(def);
    for (int i = 0; i < ITM_DIRECTION_COUNT; i++) {
        if (!def->has_start[i]) {
            continue;
        }
        if ((mobile & 1u << i) == 0) {
            itm_check_refuse(c, "start", "a start value is given for %s, which is not a free direction of a %s joint",
                             itm_model_direction_name((ItmDirection)i), itm_model_joint_type_name(def->type));
        }
        itm_check_finite(c, "start", def->start[i]);
        itm_check_finite(c, "start_rate", def->start_rate[i]);
    }
}

// A screw's two directions move together: tz = pitch rz / (2 pi).
static void check_screw(ItmCheck* c, const ItmJointDef* def)
{
    if (!isfinite(def->pitch) || def->pitch == 0.0) {
        itm_check_refuse(c, "pitch", "pitch must be finite and not zero (a screw without pitch is a revolute joint)");
    }
    if (def->has_start[ITM_TZ] && def->has_start[ITM_RZ]) {
        itm_check_refuse(c, "start", "give the start of a screw for tz or for rz, not for both");
    }
}

static void check_joint_numbers(ItmCheck* c, const ItmJointDef* def)
{
    if (def->type == ITM_JOINT_SCREW) {
        check_screw(c, def);
    } else if (def->pitch != 0.0) {
        itm_check_refuse(c, "pitch", "only screw joints have a pitch");
    }
    if (def->type == ITM_JOINT_DISTANCE) {
        itm_check_not_negative(c, "length", def->length);
    } else if (def->length != 0.0) {
        itm_check_refuse(c, "length", "only distance joints have a length");
    }
    if (def->type == ITM_JOINT_GENERIC && def->free >= 1u << ITM_DIRECTION_COUNT) {
        itm_check_refuse(c, "free", "free has bits beyond the six directions: 0x%x", def->free);
    }
    itm_check_not_negative(c, "stiffness", def->stiffness);
    itm_check_not_negative(c, "damping", def->damping);
}

ItmStatus itm_model_builder_check_joint(const ItmModelBuilder* b, const ItmJointDef* def, ItmError* error)
{
    ItmCheck c = start(ITM_ELEMENT_JOINT, def->name, error);
    if ((int)def->type < 0 || def->type >= ITM_JOINT_TYPE_COUNT) {
        itm_check_refuse(&c, "type", "%d is not a type of joint", (int)def->type);
    }
    if ((int)def->coordinates < 0 || def->coordinates > ITM_JOINT_ROWS) {
        itm_check_refuse(&c, "coordinates", "%d is not a choice of coordinates", (int)def->coordinates);
    }
    two_bodies(&c, b, def->body_a, def->body_b);
    valid_pose(&c, "frame_a", def->frame_a);
    valid_pose(&c, "frame_b", def->frame_b);
    check_joint_numbers(&c, def);
    check_start_values(&c, def);
    itm_clearance_check(&c, def);
    return c.status;
}

ItmStatus itm_model_builder_check_coupling(const ItmModelBuilder* b, const ItmCouplingDef* def, ItmError* error)
{
    ItmCheck c = start(ITM_ELEMENT_COUPLING, def->name, error);
    free_direction(&c, b, "joint_first", "direction_first", def->joint_first, def->direction_first, true);
    free_direction(&c, b, "joint_second", "direction_second", def->joint_second, def->direction_second, true);
    if (def->joint_first == def->joint_second && def->direction_first == def->direction_second) {
        itm_check_refuse(&c, "direction_second", "it couples a direction with itself");
    }
    if (!isfinite(def->ratio) || def->ratio == 0.0) {
        itm_check_refuse(&c, "ratio", "ratio must be finite and not zero");
    }
    return c.status;
}

ItmStatus itm_model_builder_check_motion(const ItmModelBuilder* b, const ItmMotionDef* def, ItmError* error)
{
    ItmCheck c = start(ITM_ELEMENT_MOTION, def->name, error);
    if ((int)def->kind < 0 || def->kind > ITM_MOTION_FORCE) {
        itm_check_refuse(&c, "kind", "%d is not a kind of motion", (int)def->kind);
    }
    free_direction(&c, b, "joint", "direction", def->joint, def->direction, def->kind == ITM_MOTION_POSITION);
    valid_signal(&c, b, def->signal, false);
    itm_check_not_negative(&c, "max_force", def->max_force);
    if (def->kind == ITM_MOTION_FORCE && def->max_force > 0.0) {
        itm_check_refuse(&c, "max_force", "a motion that gives the force has no use for a limit of it");
    }
    for (int i = 0; i < b->latches.count && def->kind != ITM_MOTION_FORCE && def->max_force == 0.0; i++) {
        const ItmLatchDef* latch = &b->latches.items[i];
        if (latch->kind == ITM_LATCH_DIRECTION && latch->joint == def->joint && latch->direction == def->direction) {
            itm_check_refuse(&c, "direction", "latch '%s' locks it: a motion there needs a force limit", latch->name);
        }
    }
    if (c.status == ITM_OK && def->kind != ITM_MOTION_FORCE &&
        (b->driven.items[def->joint] & 1u << def->direction) != 0) {
        itm_check_refuse(&c, "direction", "another motion prescribes %s of joint '%s' already",
                         itm_model_direction_name(def->direction), b->joints.items[def->joint].name);
    }
    return c.status;
}

// ---------------------------------------------------------------------------- latches

// Whether a motion without a force limit prescribes the direction: nothing can hold it then.
static bool is_prescribed(const ItmModelBuilder* b, int joint, ItmDirection direction)
{
    for (int i = 0; i < b->motions.count; i++) {
        const ItmMotionDef* motion = &b->motions.items[i];
        if (motion->joint == joint && motion->direction == direction && motion->kind != ITM_MOTION_FORCE &&
            motion->max_force == 0.0) {
            return true;
        }
    }
    return false;
}

ItmStatus itm_model_builder_check_latch(const ItmModelBuilder* b, const ItmLatchDef* def, ItmError* error)
{
    ItmCheck c = start(ITM_ELEMENT_LATCH, def->name, error);
    if (def->kind == ITM_LATCH_BODIES) {
        two_bodies(&c, b, def->body_a, def->body_b);
        return c.status;
    }
    if (def->kind != ITM_LATCH_DIRECTION) {
        itm_check_refuse(&c, "kind", "%d is not a kind of latch", (int)def->kind);
    }
    free_direction(&c, b, "joint", "direction", def->joint, def->direction, true);
    if (c.status == ITM_OK && is_prescribed(b, def->joint, def->direction)) {
        itm_check_refuse(&c, "direction",
                         "a motion prescribes %s of joint '%s'; give it a force limit, or do not lock it",
                         itm_model_direction_name(def->direction), b->joints.items[def->joint].name);
    }
    return c.status;
}

ItmStatus itm_model_builder_check_event(const ItmModelBuilder* b, const ItmEventDef* def, ItmError* error)
{
    if (!(def->time >= 0.0) || !isfinite(def->time)) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "time",
                             "the time of an event must be zero or positive, got %g", def->time);
    }
    if (def->latch < 0 || def->latch >= b->latches.count) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "latch", "there is no latch %d: %d are defined so far",
                             def->latch, b->latches.count);
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- forces

ItmStatus itm_model_builder_check_load(const ItmModelBuilder* b, const ItmLoadDef* def, ItmError* error)
{
    ItmCheck c = start(ITM_ELEMENT_LOAD, def->name, error);
    valid_body(&c, b, "body", def->body, false);
    finite_vec(&c, "point", def->point);
    finite_vec(&c, "vector", def->vector);
    valid_signal(&c, b, def->signal, true);
    return c.status;
}

ItmStatus itm_model_builder_check_spring(const ItmModelBuilder* b, const ItmSpringDef* def, ItmError* error)
{
    ItmCheck c = start(ITM_ELEMENT_SPRING, def->name, error);
    two_bodies(&c, b, def->body_a, def->body_b);
    finite_vec(&c, "point_a", def->point_a);
    finite_vec(&c, "point_b", def->point_b);
    itm_check_not_negative(&c, "stiffness", def->stiffness);
    itm_check_not_negative(&c, "damping", def->damping);
    itm_check_finite(&c, "length", def->length);
    itm_check_finite(&c, "preload", def->preload);
    return c.status;
}

ItmStatus itm_model_builder_check_joint_spring(const ItmModelBuilder* b, const ItmJointSpringDef* def, ItmError* error)
{
    ItmCheck c = start(ITM_ELEMENT_JOINT_SPRING, def->name, error);
    free_direction(&c, b, "joint", "direction", def->joint, def->direction, def->stiffness != 0.0);
    itm_check_not_negative(&c, "stiffness", def->stiffness);
    itm_check_not_negative(&c, "damping", def->damping);
    itm_check_finite(&c, "rest", def->rest);
    return c.status;
}

ItmStatus itm_model_builder_check_servo(const ItmModelBuilder* b, const ItmServoDef* def, ItmError* error)
{
    ItmCheck c = start(ITM_ELEMENT_SERVO, def->name, error);
    free_direction(&c, b, "joint", "direction", def->joint, def->direction,
                   def->stiffness != 0.0 || def->target != ITM_NONE);
    itm_check_not_negative(&c, "stiffness", def->stiffness);
    itm_check_not_negative(&c, "damping", def->damping);
    itm_check_not_negative(&c, "max_force", def->max_force);
    valid_signal(&c, b, def->target, true);
    valid_signal(&c, b, def->feedforward, true);
    return c.status;
}

ItmStatus itm_model_builder_check_point(const ItmModelBuilder* b, const ItmPointDef* def, ItmError* error)
{
    ItmCheck c = start(ITM_ELEMENT_POINT, def->name, error);
    valid_body(&c, b, "body", def->body, false);
    finite_vec(&c, "point", def->point);
    return c.status;
}

ItmStatus itm_model_builder_check_bushing(const ItmModelBuilder* b, const ItmBushingDef* def, ItmError* error)
{
    ItmCheck c = start(ITM_ELEMENT_BUSHING, def->name, error);
    two_bodies(&c, b, def->body_a, def->body_b);
    valid_pose(&c, "frame_a", def->frame_a);
    valid_pose(&c, "frame_b", def->frame_b);
    for (int i = 0; i < ITM_DIRECTION_COUNT; i++) {
        itm_check_not_negative(&c, "stiffness", def->stiffness[i]);
        itm_check_not_negative(&c, "damping", def->damping[i]);
    }
    return c.status;
}

// The way of a rope over sheaves: two bodies (the ground is one) at least, and no more than a row can touch.
static void valid_path(ItmCheck* c, const ItmModelBuilder* b, const int ends[2], const ItmSheave* via, int nvia,
                       int drum)
{
    int bodies[ITM_BLOCK_BODIES], n = 0, nmoving = 0;
    if (nvia < 0 || (nvia > 0 && via == NULL)) {
        itm_check_refuse(c, "via", "%d sheaves are announced, but there is no list of them", nvia);
        return;
    }
    for (int i = 0; i < nvia; i++) {
        valid_body(c, b, "via", via[i].body, true);
        finite_vec(c, "via", via[i].point);
    }
    for (int i = 0; c->status == ITM_OK && i < nvia + 4; i++) {
        bool is_drum = i >= nvia + 2;
        if (is_drum && drum == ITM_NONE) {
            break;
        }
        int body = i < 2        ? ends[i]
                   : !is_drum   ? via[i - 2].body
                   : i % 2 == 0 ? b->joints.items[drum].body_a
                                : b->joints.items[drum].body_b;
        // every place on a flexible body is one of its own
        bool is_known = body != ITM_GROUND && itm_model_builder_get_elastic(b, body) != NULL;
        bool is_new = true;
        for (int k = 0; k < n && !is_known; k++) {
            is_new = is_new && bodies[k] != body;
        }
        if (is_new && n < ITM_BLOCK_BODIES) {
            bodies[n++] = body;
        }
        nmoving += is_new && body != ITM_GROUND;
    }
    if (c->status == ITM_OK && nmoving > ITM_BLOCK_BODIES) {
        itm_check_refuse(c, "via", "the rope touches %d bodies or places of flexible bodies; %d are allowed", nmoving,
                         ITM_BLOCK_BODIES);
    }
    if (c->status == ITM_OK && n < 2) {
        itm_check_refuse(c, "via", "all points are on one body");
    }
}

ItmStatus itm_model_builder_check_rope(const ItmModelBuilder* b, const ItmRopeDef* def, ItmError* error)
{
    ItmCheck c = start(ITM_ELEMENT_ROPE, def->name, error);
    valid_body(&c, b, "body_a", def->body_a, true);
    valid_body(&c, b, "body_b", def->body_b, true);
    finite_vec(&c, "point_a", def->point_a);
    finite_vec(&c, "point_b", def->point_b);
    if (def->drum != ITM_NONE) {
        free_direction(&c, b, "drum", "drum", def->drum, ITM_RZ, true);
        itm_check_positive(&c, "drum_radius", def->drum_radius);
    }
    if (c.status == ITM_OK) {
        valid_path(&c, b, (const int[]){def->body_a, def->body_b}, def->via, def->nvia, def->drum);
    }
    itm_check_finite(&c, "length", def->length);
    itm_check_not_negative(&c, "preload", def->preload);
    itm_check_not_negative(&c, "stiffness", def->stiffness);
    itm_check_not_negative(&c, "damping", def->damping);
    if (!(def->restitution >= 0 && def->restitution <= 1)) {
        itm_check_refuse(&c, "restitution", "restitution must lie between 0 and 1, got %g", def->restitution);
    }
    if (def->preload > 0.0 && (def->length >= 0.0 || !(def->stiffness > 0.0))) {
        itm_check_refuse(&c, "preload", "a preload needs a stiffness, and sets the length: give one of the two");
    }
    return c.status;
}

ItmStatus itm_model_builder_check_actuator(const ItmModelBuilder* b, const ItmActuatorDef* def, ItmError* error)
{
    ItmCheck c = start(ITM_ELEMENT_ACTUATOR, def->name, error);
    if (def->joint != ITM_NONE) {
        free_direction(&c, b, "joint", "direction", def->joint, def->direction, true);
    } else if (def->nvia != 0) {
        valid_body(&c, b, "body_a", def->body_a, true);
        valid_body(&c, b, "body_b", def->body_b, true);
        if (c.status == ITM_OK) {
            valid_path(&c, b, (const int[]){def->body_a, def->body_b}, def->via, def->nvia, ITM_NONE);
        }
    } else {
        two_bodies(&c, b, def->body_a, def->body_b);
    }
    finite_vec(&c, "point_a", def->point_a);
    finite_vec(&c, "point_b", def->point_b);
    valid_signal(&c, b, def->signal, true);
    return c.status;
}

// ---------------------------------------------------------------------------- contact

static void valid_surface(ItmCheck* c, const ItmSurface* surface)
{
    itm_check_not_negative(c, "friction", surface->friction);
    itm_check_not_negative(c, "torsional_friction", surface->torsional_friction);
    itm_check_not_negative(c, "rolling_friction", surface->rolling_friction);
    itm_check_not_negative(c, "stiffness", surface->stiffness);
    itm_check_not_negative(c, "damping", surface->damping);
    if (!(surface->restitution >= 0 && surface->restitution <= 1)) {
        itm_check_refuse(c, "restitution", "restitution must lie between 0 and 1, got %g", surface->restitution);
    }
}

static void valid_material(ItmCheck* c, const ItmModelBuilder* b, const char* field, int material, bool is_optional)
{
    bool is_default = material == ITM_NONE && is_optional;
    if (!is_default && (material < 0 || material >= b->materials.count)) {
        itm_check_refuse(c, field, "there is no material %d: %d are defined so far", material, b->materials.count);
    }
}

ItmStatus itm_model_builder_check_material(const ItmMaterialDef* def, ItmError* error)
{
    ItmCheck c = start(ITM_ELEMENT_MATERIAL, def->name, error);
    valid_surface(&c, &def->surface);
    return c.status;
}

ItmStatus itm_model_builder_check_material_pair(const ItmModelBuilder* b, const ItmMaterialPairDef* def,
                                                ItmError* error)
{
    ItmCheck c = itm_check_start("itm_model_builder_set", itm_model_element_name(ITM_ELEMENT_MATERIAL), "pair", error);
    valid_material(&c, b, "material_a", def->material_a, false);
    valid_material(&c, b, "material_b", def->material_b, false);
    valid_surface(&c, &def->surface);
    return c.status;
}

// Sizes that a kind of shape uses, starting with the first.
static int count_sizes(ItmColliderKind kind)
{
    switch (kind) {
    case ITM_COLLIDER_BOX:
        return 3;
    case ITM_COLLIDER_SPHERE:
        return 1;
    case ITM_COLLIDER_CYLINDER:
    case ITM_COLLIDER_CAPSULE:
    case ITM_COLLIDER_HEIGHTS:
        return 2;
    default:
        return 0;
    }
}

#define LARGEST_ARRAY 10000000  // vertices, triangles or heights of one shape

static void valid_mesh(ItmCheck* c, const ItmColliderDef* def)
{
    bool has_vertices = def->kind == ITM_COLLIDER_HULL || def->kind == ITM_COLLIDER_MESH;
    int least = def->kind == ITM_COLLIDER_HULL ? 4 : 3;
    if (has_vertices != (def->nvertex > 0) || (has_vertices && def->vertices == NULL)) {
        itm_check_refuse(c, "vertices", has_vertices ? "vertices are needed" : "this shape has no vertices");
    } else if (has_vertices && (def->nvertex < least || def->nvertex > LARGEST_ARRAY)) {
        itm_check_refuse(c, "vertices", "%d vertices: there must be %d to %d", def->nvertex, least, LARGEST_ARRAY);
    }
    bool has_triangles = def->kind == ITM_COLLIDER_MESH;
    if (has_triangles != (def->ntriangle > 0) || (has_triangles && def->triangles == NULL)) {
        itm_check_refuse(c, "triangles", has_triangles ? "triangles are needed" : "this shape has no triangles");
    } else if (has_triangles && def->ntriangle > LARGEST_ARRAY) {
        itm_check_refuse(c, "triangles", "%d triangles: there can be at most %d", def->ntriangle, LARGEST_ARRAY);
    }
    for (int i = 0; c->status == ITM_OK && i < def->nvertex; i++) {
        finite_vec(c, "vertices", def->vertices[i]);
    }
    for (int i = 0; c->status == ITM_OK && i < 3 * def->ntriangle; i++) {
        if (def->triangles[i] < 0 || def->triangles[i] >= def->nvertex) {
            itm_check_refuse(c, "triangles", "triangle %d has vertex %d of %d", i / 3, def->triangles[i], def->nvertex);
        }
    }
}

static void valid_heights(ItmCheck* c, const ItmColliderDef* def)
{
    bool has_heights = def->kind == ITM_COLLIDER_HEIGHTS;
    if (has_heights && (def->nx < 2 || def->ny < 2 || def->nx > LARGEST_ARRAY / 2 ||
                        def->ny > LARGEST_ARRAY / def->nx || def->heights == NULL)) {
        itm_check_refuse(c, "heights", "heights need a grid of at least 2 x 2, got %d x %d", def->nx, def->ny);
    } else if (!has_heights && (def->nx != 0 || def->ny != 0)) {
        itm_check_refuse(c, "heights", "this shape has no heights");
    }
    for (int i = 0; c->status == ITM_OK && i < def->nx * def->ny; i++) {
        itm_check_finite(c, "heights", def->heights[i]);
    }
}

ItmStatus itm_model_builder_check_collider(const ItmModelBuilder* b, const ItmColliderDef* def, ItmError* error)
{
    ItmCheck c = start(ITM_ELEMENT_COLLIDER, def->name, error);
    valid_body(&c, b, "body", def->body, true);
    valid_pose(&c, "pose", def->pose);
    valid_material(&c, b, "material", def->material, true);
    if ((int)def->kind < 0 || def->kind >= ITM_COLLIDER_KIND_COUNT) {
        itm_check_refuse(&c, "kind", "%d is not a kind of shape", (int)def->kind);
        return c.status;
    }
    for (int i = 0; i < count_sizes(def->kind); i++) {
        if (!(def->size[i] > 0) || !isfinite(def->size[i])) {
            itm_check_refuse(&c, "size", "sizes must be positive, got %g m", def->size[i]);
        }
    }
    valid_mesh(&c, def);
    valid_heights(&c, def);
    return c.status;
}

ItmStatus itm_model_builder_check_gap(const ItmModelBuilder* b, const ItmGapDef* def, ItmError* error)
{
    ItmCheck c = start(ITM_ELEMENT_GAP, def->name, error);
    two_bodies(&c, b, def->body_a, def->body_b);
    valid_surface(&c, &def->surface);
    if (def->function == NULL) {
        itm_check_refuse(&c, "function", "a function is needed");
    }
    if (def->max_points < 1 || def->max_points > 16) {
        itm_check_refuse(&c, "max_points", "max_points must lie between 1 and 16, got %d", def->max_points);
    }
    return c.status;
}

ItmStatus itm_model_builder_check_limit(const ItmModelBuilder* b, const ItmLimitDef* def, ItmError* error)
{
    ItmCheck c = start(ITM_ELEMENT_LIMIT, def->name, error);
    free_direction(&c, b, "joint", "direction", def->joint, def->direction, true);
    if (!(def->lower <= def->upper)) {
        itm_check_refuse(&c, "lower", "lower limit %g is above the upper one, %g", def->lower, def->upper);
    }
    itm_check_not_negative(&c, "stiffness", def->stiffness);
    itm_check_not_negative(&c, "damping", def->damping);
    if (!(def->restitution >= 0 && def->restitution <= 1)) {
        itm_check_refuse(&c, "restitution", "restitution must lie between 0 and 1, got %g", def->restitution);
    }
    return c.status;
}

ItmStatus itm_model_builder_check_joint_friction(const ItmModelBuilder* b, const ItmJointFrictionDef* def,
                                                 ItmError* error)
{
    ItmCheck c = start(ITM_ELEMENT_JOINT_FRICTION, def->name, error);
    free_direction(&c, b, "joint", "direction", def->joint, def->direction, false);
    itm_check_not_negative(&c, "force", def->force);
    return c.status;
}

ItmStatus itm_model_builder_check_contact_options(const ItmContactOptions* o, ItmError* error)
{
    ItmCheck c =
        itm_check_start("itm_model_builder_set", itm_model_element_name(ITM_ELEMENT_CONTACT), "options", error);
    if ((int)o->law < 0 || o->law >= ITM_FRICTION_COUNT) {
        itm_check_refuse(&c, "law", "%d is not a friction law", (int)o->law);
    }
    if (o->law == ITM_FRICTION_PYRAMID && (o->ndirection < 3 || o->ndirection > 32)) {
        itm_check_refuse(&c, "ndirection", "a pyramid has 3 to 32 corners, got %d", o->ndirection);
    }
    itm_check_not_negative(&c, "margin", o->margin);
    itm_check_not_negative(&c, "restitution_speed", o->restitution_speed);
    if (o->max_contacts < 0 || o->max_contacts > 1000000) {
        itm_check_refuse(&c, "max_contacts", "max_contacts must lie between 0 and a million, got %d", o->max_contacts);
    }
    if ((int)o->solver < 0 || o->solver >= ITM_MLCP_SOLVER_COUNT) {
        itm_check_refuse(&c, "solver", "%d is not a solver", (int)o->solver);
    }
    if (o->solver == ITM_MLCP_PIVOTING && !o->lag_friction_bounds) {
        itm_check_refuse(
            &c, "solver",
            "pivoting needs bounds that do not depend on the normal impulse of the same step: take them from "
            "the last one, or another solver");
    }
    if (!(o->tolerance > 0) || !isfinite(o->tolerance)) {
        itm_check_refuse(&c, "tolerance", "tolerance must be positive, got %g", o->tolerance);
    }
    itm_check_not_negative(&c, "effort", o->effort);
    if (!(o->residual_limit >= o->tolerance) || !isfinite(o->residual_limit)) {
        itm_check_refuse(&c, "residual_limit", "residual_limit must not be below the tolerance %g, got %g",
                         o->tolerance, o->residual_limit);
    }
    if (o->residual_steps < 0) {
        itm_check_refuse(&c, "residual_steps", "residual_steps must be zero (never stop) or positive, got %d",
                         o->residual_steps);
    }
    itm_check_not_negative(&c, "sleep_after", o->sleep_after);
    if (!(o->sleep_speed > 0) || !isfinite(o->sleep_speed)) {
        itm_check_refuse(&c, "sleep_speed", "sleep_speed must be positive, got %g", o->sleep_speed);
    }
    return c.status;
}
