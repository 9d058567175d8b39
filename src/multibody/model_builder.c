#include "multibody/model_builder.h"

#include "base/builder.h"
#include "math/vec.h"
#include "signal/signal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static ItmStatus out_of_memory(ItmError* error)
{
    return itm_error_set(error, ITM_ERR_MEMORY, "itm_model_builder_add", NULL, "out of memory");
}

// ---------------------------------------------------------------------------- names

// Register a name, which must be new, for the element `id`, and make the definition point to our copy.
static ItmStatus take_name(ItmModelBuilder* b, ItmElement element, const char** name, int id, ItmError* error)
{
    bool is_apart = element == ITM_ELEMENT_SIGNAL || element == ITM_ELEMENT_MATERIAL;
    ItmNames* names = element == ITM_ELEMENT_SIGNAL     ? &b->signal_names
                      : element == ITM_ELEMENT_MATERIAL ? &b->material_names
                                                        : &b->names;
    size_t length = strlen(*name);
    int known = itm_names_find(names, *name, length);
    if (known != ITM_NONE) {
        ItmElement other = is_apart ? element : (ItmElement)(known % ITM_ELEMENT_COUNT);
        return itm_error_set(error, ITM_ERR_INPUT, "itm_model_builder_add", "name",
                             "%s '%s': there is a %s of that name already", itm_model_element_name(element), *name,
                             itm_model_element_name(other));
    }
    if (id > INT_MAX / ITM_ELEMENT_COUNT - 1) {
        return itm_error_set(error, ITM_ERR_CAPACITY, "itm_model_builder_add", "name", "too many elements");
    }
    int value = is_apart ? id : id * ITM_ELEMENT_COUNT + (int)element;
    const char* copy = itm_names_add(names, *name, length, value);
    if (copy == NULL) {
        return out_of_memory(error);
    }
    *name = copy;
    return ITM_OK;
}

int itm_model_builder_find(const ItmModelBuilder* b, ItmElement element, const char* name, size_t length)
{
    if (element == ITM_ELEMENT_SIGNAL) {
        return itm_names_find(&b->signal_names, name, length);
    }
    if (element == ITM_ELEMENT_MATERIAL) {
        return itm_names_find(&b->material_names, name, length);
    }
    int value = itm_names_find(&b->names, name, length);
    return value != ITM_NONE && value % ITM_ELEMENT_COUNT == (int)element ? value / ITM_ELEMENT_COUNT : ITM_NONE;
}

// ---------------------------------------------------------------------------- life

ItmStatus itm_model_builder_create(ItmModelBuilder** builder, const ItmWorldDef* world, ItmError* error)
{
    if (builder == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder is NULL");
    }
    *builder = NULL;
    ItmWorldDef def = world != NULL ? *world : itm_default_world_def();
    if (!itm_vec_is_finite(def.gravity)) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "gravity", "gravity must be finite");
    }
    if (def.coordinates != ITM_COORDINATES_ABSOLUTE && def.coordinates != ITM_COORDINATES_JOINT) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "coordinates", "%d is not a choice of coordinates",
                             (int)def.coordinates);
    }
    ItmModelBuilder* b = calloc(1, sizeof *b);
    if (b == NULL) {
        return out_of_memory(error);
    }
    b->world = def;
    b->contact = itm_default_contact_options();
    *builder = b;
    return ITM_OK;
}

static void free_joint(ItmJointDef* def)
{
    free((void*)def->clearance.section);
}

static void free_collider(ItmColliderDef* def)
{
    free((void*)def->vertices);
    free((void*)def->triangles);
    free((void*)def->heights);
}

void itm_model_builder_destroy(ItmModelBuilder* b)
{
    if (b == NULL) {
        return;
    }
    for (int i = 0; i < b->signals.count; i++) {
        itm_signal_def_free(&b->signals.items[i]);
    }
    free(b->signals.items);
    free(b->bodies.items);
    for (int i = 0; i < b->joints.count; i++) {
        free_joint(&b->joints.items[i]);
    }
    free(b->joints.items);
    free(b->couplings.items);
    free(b->motions.items);
    free(b->loads.items);
    free(b->springs.items);
    free(b->joint_springs.items);
    free(b->servos.items);
    free(b->bushings.items);
    for (int i = 0; i < b->actuators.count; i++) {
        free((void*)b->actuators.items[i].via);
    }
    free(b->actuators.items);
    for (int i = 0; i < b->ropes.count; i++) {
        free((void*)b->ropes.items[i].via);
    }
    free(b->ropes.items);
    for (int i = 0; i < b->elastics.count; i++) {
        itm_elastic_destroy(b->elastics.items[i]);
    }
    free(b->elastics.items);
    free(b->latches.items);
    free(b->events.items);
    free(b->points.items);
    free(b->driven.items);
    for (int i = 0; i < b->colliders.count; i++) {
        free_collider(&b->colliders.items[i]);
    }
    for (int i = 0; i < b->visuals.count; i++) {
        free_collider(&b->visuals.items[i]);
    }
    free(b->materials.items);
    free(b->material_pairs.items);
    free(b->colliders.items);
    free(b->visuals.items);
    free(b->gaps.items);
    free(b->limits.items);
    free(b->joint_frictions.items);
    free(b->excluded.items);
    itm_names_free(&b->signal_names);
    itm_names_free(&b->material_names);
    itm_names_free(&b->names);
    free(b);
}

// ---------------------------------------------------------------------------- adding

// Append a checked definition and register its name.
#define ADD(list, element, def)                                                                                        \
    (!ITM_LIST_APPEND(list, def)                                                                                       \
         ? out_of_memory(error)                                                                                        \
         : itm_list_commit(take_name(b, element, &(list).items[(list).count - 1].name, (list).count - 1, error),       \
                           &(list).count, id))

static ItmPose normalized(ItmPose pose)
{
    pose.q = itm_quat_normalize(pose.q);
    return pose;
}

// A copy of an array, or NULL for an empty one. *ok turns false without memory.
static void* copy_array(const void* items, int count, size_t size, bool* ok)
{
    if (count == 0) {
        return NULL;
    }
    void* copy = malloc((size_t)count * size);
    if (copy != NULL) {
        memcpy(copy, items, (size_t)count * size);
    }
    *ok = *ok && copy != NULL;
    return copy;
}

ItmStatus itm_model_builder_add_signal(ItmModelBuilder* b, const ItmSignalDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_model_builder_check_name(ITM_ELEMENT_SIGNAL, def->name, error));
    ITM_REQUIRE(itm_signal_def_check(def, error));
    ItmSignalDef copy;
    if (!itm_signal_def_copy(&copy, def)) {
        return out_of_memory(error);
    }
    ItmStatus status = ADD(b->signals, ITM_ELEMENT_SIGNAL, copy);
    if (status != ITM_OK) {
        itm_signal_def_free(&copy);
    }
    return status;
}

ItmStatus itm_model_builder_add_body(ItmModelBuilder* b, const ItmBodyDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_model_builder_check_body(def, error));
    ItmBodyDef copy = *def;
    copy.pose = def->has_pose ? normalized(def->pose) : itm_pose_identity();
    return ADD(b->bodies, ITM_ELEMENT_BODY, copy);
}

const ItmElastic* itm_model_builder_get_elastic(const ItmModelBuilder* b, int body)
{
    for (int i = 0; i < b->elastics.count; i++) {
        if (b->elastics.items[i]->body == body) {
            return b->elastics.items[i];
        }
    }
    return NULL;
}

ItmStatus itm_model_builder_add_flexible(ItmModelBuilder* b, int body, const ItmFlexibleDef* def, ItmError* error)
{
    if (b == NULL || def == NULL || body < 0 || body >= b->bodies.count) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder or def is NULL, or there is no body %d",
                             body);
    }
    ItmBodyDef* body_def = &b->bodies.items[body];
    if (itm_model_builder_get_elastic(b, body) != NULL) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "flexible", "body '%s' is flexible already",
                             body_def->name);
    }
    ItmElastic* elastic = NULL;
    ItmStatus status = itm_elastic_create(&elastic, body, body_def->name, def, error);
    if (status == ITM_OK) {
        status = itm_inertia_check(&elastic->inertia, body_def->name, error);
    }
    if (status == ITM_OK && !ITM_LIST_APPEND(b->elastics, elastic)) {
        status = out_of_memory(error);
    }
    if (status != ITM_OK) {
        itm_elastic_destroy(elastic);
        return status;
    }
    body_def->mass = elastic->mass;
    body_def->com = elastic->com;
    body_def->inertia = elastic->inertia;
    return ITM_OK;
}

ItmStatus itm_model_builder_add_joint(ItmModelBuilder* b, const ItmJointDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_model_builder_check_joint(b, def, error));
    ItmJointDef copy = *def;
    copy.frame_a = normalized(def->frame_a);
    copy.frame_b = normalized(def->frame_b);
    unsigned undriven = 0;
    bool ok = true;
    copy.clearance.section = copy_array(def->clearance.section, 2 * def->clearance.nsection, sizeof(double), &ok);
    ok = ok && ITM_LIST_APPEND(b->driven, undriven);
    ItmStatus status = ok ? ADD(b->joints, ITM_ELEMENT_JOINT, copy) : out_of_memory(error);
    b->driven.count = b->joints.count;
    if (status != ITM_OK) {
        free_joint(&copy);
    }
    return status;
}

ItmStatus itm_model_builder_add_coupling(ItmModelBuilder* b, const ItmCouplingDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_model_builder_check_coupling(b, def, error));
    return ADD(b->couplings, ITM_ELEMENT_COUPLING, *def);
}

ItmStatus itm_model_builder_add_motion(ItmModelBuilder* b, const ItmMotionDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_model_builder_check_motion(b, def, error));
    ItmStatus status = ADD(b->motions, ITM_ELEMENT_MOTION, *def);
    if (status == ITM_OK && def->kind != ITM_MOTION_FORCE) {
        b->driven.items[def->joint] |= 1u << def->direction;
    }
    return status;
}

ItmStatus itm_model_builder_add_load(ItmModelBuilder* b, const ItmLoadDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_model_builder_check_load(b, def, error));
    return ADD(b->loads, ITM_ELEMENT_LOAD, *def);
}

ItmStatus itm_model_builder_add_spring(ItmModelBuilder* b, const ItmSpringDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_model_builder_check_spring(b, def, error));
    return ADD(b->springs, ITM_ELEMENT_SPRING, *def);
}

ItmStatus itm_model_builder_add_joint_spring(ItmModelBuilder* b, const ItmJointSpringDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_model_builder_check_joint_spring(b, def, error));
    return ADD(b->joint_springs, ITM_ELEMENT_JOINT_SPRING, *def);
}

ItmStatus itm_model_builder_add_servo(ItmModelBuilder* b, const ItmServoDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_model_builder_check_servo(b, def, error));
    return ADD(b->servos, ITM_ELEMENT_SERVO, *def);
}

ItmStatus itm_model_builder_add_bushing(ItmModelBuilder* b, const ItmBushingDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_model_builder_check_bushing(b, def, error));
    ItmBushingDef copy = *def;
    copy.frame_a = normalized(def->frame_a);
    copy.frame_b = normalized(def->frame_b);
    return ADD(b->bushings, ITM_ELEMENT_BUSHING, copy);
}

ItmStatus itm_model_builder_add_point(ItmModelBuilder* b, const ItmPointDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_model_builder_check_point(b, def, error));
    return ADD(b->points, ITM_ELEMENT_POINT, *def);
}

ItmStatus itm_model_builder_add_actuator(ItmModelBuilder* b, const ItmActuatorDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_model_builder_check_actuator(b, def, error));
    ItmActuatorDef copy = *def;
    bool ok = true;
    copy.via = copy_array(def->via, def->nvia, sizeof *def->via, &ok);
    ItmStatus status = ok ? ADD(b->actuators, ITM_ELEMENT_ACTUATOR, copy) : out_of_memory(error);
    if (status != ITM_OK) {
        free((void*)copy.via);
    }
    return status;
}

ItmStatus itm_model_builder_add_rope(ItmModelBuilder* b, const ItmRopeDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_model_builder_check_rope(b, def, error));
    ItmRopeDef copy = *def;
    bool ok = true;
    copy.via = copy_array(def->via, def->nvia, sizeof *def->via, &ok);
    ItmStatus status = ok ? ADD(b->ropes, ITM_ELEMENT_ROPE, copy) : out_of_memory(error);
    if (status != ITM_OK) {
        free((void*)copy.via);
    }
    return status;
}

// ---------------------------------------------------------------------------- latches

ItmStatus itm_model_builder_add_latch(ItmModelBuilder* b, const ItmLatchDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_model_builder_check_latch(b, def, error));
    return ADD(b->latches, ITM_ELEMENT_LATCH, *def);
}

ItmStatus itm_model_builder_add_event(ItmModelBuilder* b, const ItmEventDef* def, ItmError* error)
{
    ITM_REQUIRE(itm_model_builder_check_event(b, def, error));
    return ITM_LIST_APPEND(b->events, *def) ? ITM_OK : out_of_memory(error);
}

// ---------------------------------------------------------------------------- contact

ItmStatus itm_model_builder_set_contact_options(ItmModelBuilder* b, const ItmContactOptions* def, ItmError* error)
{
    ITM_REQUIRE(itm_model_builder_check_contact_options(def, error));
    b->contact = *def;
    return ITM_OK;
}

ItmStatus itm_model_builder_add_material(ItmModelBuilder* b, const ItmMaterialDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_model_builder_check_material(def, error));
    return ADD(b->materials, ITM_ELEMENT_MATERIAL, *def);
}

ItmStatus itm_model_builder_add_material_pair(ItmModelBuilder* b, const ItmMaterialPairDef* def, ItmError* error)
{
    ITM_REQUIRE(itm_model_builder_check_material_pair(b, def, error));
    return ITM_LIST_APPEND(b->material_pairs, *def) ? ITM_OK : out_of_memory(error);
}

// The definition with arrays of its own.
static ItmColliderDef copy_collider(const ItmColliderDef* def, bool* ok)
{
    ItmColliderDef copy = *def;
    copy.pose = normalized(def->pose);
    copy.vertices = copy_array(def->vertices, def->nvertex, sizeof *def->vertices, ok);
    copy.triangles = copy_array(def->triangles, 3 * def->ntriangle, sizeof *def->triangles, ok);
    copy.heights = copy_array(def->heights, def->nx * def->ny, sizeof *def->heights, ok);
    return copy;
}

ItmStatus itm_model_builder_add_collider(ItmModelBuilder* b, const ItmColliderDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_model_builder_check_collider(b, def, error));
    bool ok = true;
    ItmColliderDef copy = copy_collider(def, &ok);
    ItmStatus status = ok ? ADD(b->colliders, ITM_ELEMENT_COLLIDER, copy) : out_of_memory(error);
    if (status != ITM_OK) {
        free_collider(&copy);
    }
    return status;
}

ItmStatus itm_model_builder_add_visual(ItmModelBuilder* b, const ItmColliderDef* def, ItmError* error)
{
    ITM_REQUIRE(itm_model_builder_check_collider(b, def, error));
    bool ok = true;
    ItmColliderDef copy = copy_collider(def, &ok);
    copy.name = NULL;
    if (!ok || !ITM_LIST_APPEND(b->visuals, copy)) {
        free_collider(&copy);
        return out_of_memory(error);
    }
    return ITM_OK;
}

ItmStatus itm_model_builder_add_gap(ItmModelBuilder* b, const ItmGapDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_model_builder_check_gap(b, def, error));
    return ADD(b->gaps, ITM_ELEMENT_GAP, *def);
}

ItmStatus itm_model_builder_add_limit(ItmModelBuilder* b, const ItmLimitDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_model_builder_check_limit(b, def, error));
    return ADD(b->limits, ITM_ELEMENT_LIMIT, *def);
}

ItmStatus itm_model_builder_add_joint_friction(ItmModelBuilder* b, const ItmJointFrictionDef* def, int* id,
                                               ItmError* error)
{
    ITM_REQUIRE(itm_model_builder_check_joint_friction(b, def, error));
    return ADD(b->joint_frictions, ITM_ELEMENT_JOINT_FRICTION, *def);
}

static bool is_body(const ItmModelBuilder* b, int id)
{
    return id == ITM_GROUND || (id >= 0 && id < b->bodies.count);
}

ItmStatus itm_model_builder_exclude_contact(ItmModelBuilder* b, int body_a, int body_b, ItmError* error)
{
    if (b == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder is NULL");
    }
    if (!is_body(b, body_a) || !is_body(b, body_b)) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "body", "bodies %d and %d: there are %d", body_a, body_b,
                             b->bodies.count);
    }
    ItmBodyPair pair = {body_a, body_b};
    return ITM_LIST_APPEND(b->excluded, pair) ? ITM_OK : out_of_memory(error);
}
