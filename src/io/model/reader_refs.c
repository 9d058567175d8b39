// References from one part of a file to another: bodies, directions of joints, signals, places.
#include "io/model/reader.h"

#include "base/error.h"
#include "math/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- names

void itm_reader_fail_unknown(ItmReader* r, const ItmNode* node, const char* kind, const ItmNearest* nearest)
{
    char found[64], hint[128];
    itm_reader_fail(r, node, "there is no %s %s%s", kind, itm_document_describe(node, found, sizeof found),
                    itm_nearest_format(nearest, hint, sizeof hint));
}

void itm_reader_offer_names(ItmNearest* nearest, const ItmNames* names)
{
    for (size_t i = 0; i < names->nslot; i++) {
        if (names->slots[i].name != NULL) {
            itm_nearest_offer(nearest, names->slots[i].name);
        }
    }
}

static void offer_elements(ItmNearest* nearest, const ItmReader* r, ItmElement element)
{
    bool is_shared = element != ITM_ELEMENT_MATERIAL;
    const ItmNames* names = is_shared ? &r->builder->names : &r->builder->material_names;
    for (size_t i = 0; i < names->nslot; i++) {
        const ItmNameEntry* entry = &names->slots[i];
        if (entry->name != NULL && (!is_shared || entry->value % ITM_ELEMENT_COUNT == (int)element)) {
            itm_nearest_offer(nearest, entry->name);
        }
    }
}

static void fail_unknown(ItmReader* r, const ItmNode* node, ItmElement element, size_t length)
{
    ItmNearest nearest = itm_nearest_start(node->text, length);
    offer_elements(&nearest, r, element);
    if (element == ITM_ELEMENT_BODY) {
        itm_nearest_offer(&nearest, "ground");
    }
    itm_reader_fail_unknown(r, node, itm_model_element_name(element), &nearest);
}

// ---------------------------------------------------------------------------- bodies

int itm_reader_get_body(ItmReader* r, const ItmNode* node)
{
    const char* name = itm_reader_get_text(r, node, "the name of a body");
    if (name == NULL || strcmp(name, "ground") == 0) {
        return ITM_GROUND;
    }
    int body = itm_model_builder_find(r->builder, ITM_ELEMENT_BODY, name, node->length);
    if (body == ITM_NONE) {
        fail_unknown(r, node, ITM_ELEMENT_BODY, node->length);
    }
    return body;
}

void itm_reader_get_bodies(ItmReader* r, const ItmNode* node, int* body_a, int* body_b)
{
    if (r->status != ITM_OK || node == NULL) {
        return;
    }
    if (node->kind != ITM_NODE_LIST || node->count != 2) {
        char found[64];
        itm_reader_fail(r, node, "expected two names of bodies [a, b], found %s",
                        itm_document_describe(node, found, sizeof found));
        return;
    }
    *body_a = itm_reader_get_body(r, node->first->value);
    *body_b = itm_reader_get_body(r, node->first->next->value);
    if (r->status == ITM_OK && *body_a == *body_b) {
        itm_reader_fail(r, node->first->next->value, "two different bodies are needed, both are '%s'",
                        node->first->value->text);
    }
}

// ---------------------------------------------------------------------------- materials, groups

int itm_reader_get_material(ItmReader* r, const ItmNode* node)
{
    const char* name = itm_reader_get_text(r, node, "the name of a material");
    if (name == NULL) {
        return ITM_NONE;
    }
    int material = itm_model_builder_find(r->builder, ITM_ELEMENT_MATERIAL, name, node->length);
    if (material == ITM_NONE) {
        fail_unknown(r, node, ITM_ELEMENT_MATERIAL, node->length);
    }
    return material;
}

static uint32_t get_group(ItmReader* r, const ItmNode* node)
{
    int group = itm_reader_get_word(r, node, "a group of contact.groups", r->groups, r->ngroup, 0);
    return group >= 0 ? (uint32_t)1 << group : 0;
}

uint32_t itm_reader_get_groups(ItmReader* r, const ItmNode* node, uint32_t absent)
{
    if (r->status != ITM_OK || node == NULL) {
        return absent;
    }
    if (node->kind != ITM_NODE_LIST) {
        return get_group(r, node);
    }
    uint32_t groups = 0;
    for (const ItmItem* item = node->first; item != NULL; item = item->next) {
        groups |= get_group(r, item->value);
    }
    return groups;
}

// ---------------------------------------------------------------------------- directions

static ItmDirection find_direction(const char* word)
{
    for (int i = 0; i < ITM_DIRECTION_COUNT; i++) {
        if (strcmp(word, itm_model_direction_name((ItmDirection)i)) == 0) {
            return (ItmDirection)i;
        }
    }
    return ITM_DIRECTION_COUNT;
}

ItmDirection itm_reader_get_direction_word(ItmReader* r, const ItmNode* node)
{
    const char* word = itm_reader_get_text(r, node, "a direction (tx, ty, tz, rx, ry or rz)");
    ItmDirection direction = word != NULL ? find_direction(word) : ITM_TX;
    if (direction == ITM_DIRECTION_COUNT) {
        char found[64];
        itm_reader_fail(r, node, "%s is not a direction; expected tx, ty, tz, rx, ry or rz",
                        itm_document_describe(node, found, sizeof found));
        return ITM_TX;
    }
    return direction;
}

unsigned itm_reader_get_directions(ItmReader* r, const ItmNode* node)
{
    unsigned free = 0;
    if (r->status != ITM_OK || node == NULL) {
        return free;
    }
    if (node->kind != ITM_NODE_LIST) {
        char found[64];
        itm_reader_fail(r, node, "expected a list of directions like [tx, rz], found %s",
                        itm_document_describe(node, found, sizeof found));
        return free;
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        unsigned bit = 1u << itm_reader_get_direction_word(r, item->value);
        if (r->status == ITM_OK && (free & bit) != 0) {
            itm_reader_fail(r, item->value, "'%s' is listed twice", item->value->text);
        }
        free |= bit;
    }
    return free;
}

ItmDirection itm_reader_get_only_direction(ItmReader* r, const ItmNode* node, int joint, bool is_map)
{
    const ItmJointDef* def = &r->builder->joints.items[joint];
    unsigned free = def->type == ITM_JOINT_DISTANCE ? 0 : itm_model_get_free_directions(def);
    for (int i = 0; i < ITM_DIRECTION_COUNT; i++) {
        if (free == 1u << i) {
            return (ItmDirection)i;
        }
    }
    itm_reader_fail(r, node, "joint '%s' (%s) has %s free direction: name one, for example %s%s%s", def->name,
                    itm_model_joint_type_name(def->type), free == 0 ? "no" : "more than one", is_map ? "{rz: ..." : "'",
                    is_map ? "" : def->name, is_map ? "}" : ".rz'");
    return ITM_TX;
}

void itm_reader_get_direction(ItmReader* r, const ItmNode* node, int* joint, ItmDirection* direction)
{
    const char* text = itm_reader_get_text(r, node, "a joint, or a joint and a direction like 'hinge.rz'");
    if (text == NULL) {
        return;
    }
    const char* dot = strchr(text, '.');
    size_t length = dot != NULL ? (size_t)(dot - text) : node->length;
    *joint = itm_model_builder_find(r->builder, ITM_ELEMENT_JOINT, text, length);
    if (*joint == ITM_NONE) {
        fail_unknown(r, node, ITM_ELEMENT_JOINT, length);
        return;
    }
    if (dot == NULL) {
        *direction = itm_reader_get_only_direction(r, node, *joint, false);
        return;
    }
    *direction = find_direction(dot + 1);
    if (*direction == ITM_DIRECTION_COUNT) {
        itm_reader_fail(r, node, "'%.40s' is not a direction; expected tx, ty, tz, rx, ry or rz", dot + 1);
        *direction = ITM_TX;
    }
}

// ---------------------------------------------------------------------------- signals

int itm_reader_find_signal(const ItmReader* r, const ItmNode* node)
{
    return node->kind == ITM_NODE_SCALAR ? itm_names_find(&r->signal_names, node->text, node->length) : ITM_NONE;
}

bool itm_reader_is_unknown_name(const ItmReader* r, const ItmNode* node)
{
    static const char* const WORD = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-0123456789";
    return node->kind == ITM_NODE_SCALAR && strchr(WORD + 53, node->text[0]) == NULL && node->length > 0 &&
           strspn(node->text, WORD) == node->length && strcmp(node->text, "pi") != 0 &&
           itm_names_find(&r->parameter_names, node->text, node->length) == ITM_NONE;
}

// Hand a signal to the subsystem that uses it; one of the file, which others may use too, only once.
static int take_signal(ItmReader* r, const ItmNode* node, const ItmSignalDef* def, bool is_own)
{
    const ItmSignalTaker* taker = &r->taker;
    int id = is_own ? ITM_NONE : taker->find(taker->builder, def->name);
    if (id == ITM_NONE && r->status == ITM_OK) {
        itm_reader_take(r, taker->add(taker->builder, def, &id, r->error), node, NULL, 0);
    }
    return r->status == ITM_OK ? id : ITM_NONE;
}

int itm_reader_get_signal(ItmReader* r, const ItmNode* node, const char* owner, ItmDimension dimension)
{
    if (r->status != ITM_OK || node == NULL) {
        return ITM_NONE;
    }
    int index = itm_reader_find_signal(r, node);
    if (index == ITM_NONE && itm_reader_is_unknown_name(r, node)) {
        ItmNearest nearest = itm_nearest_start(node->text, node->length);
        itm_reader_offer_names(&nearest, &r->signal_names);
        itm_reader_fail_unknown(r, node, "signal", &nearest);
        return ITM_NONE;
    }
    char name[80];
    ItmFileSignal own;
    const ItmFileSignal* signal = index != ITM_NONE ? &r->signals[index] : &own;
    const ItmNode* whole = node;
    if (index == ITM_NONE) {
        snprintf(name, sizeof name, "%.57s:signal", owner);
        whole = itm_read_signal(r, node, &own.def, &own.unit);
        own.def.name = name;
    }
    ItmSignalUnit unit = signal->unit;
    if (r->status == ITM_OK && !unit.is_bare && !itm_quantity_equal_dimensions(unit.dimension, dimension)) {
        char want[64], got[64];
        itm_reader_fail(r, node, "wrong unit: expected %s, but the signal '%s' is in %s",
                        itm_quantity_format_dimension(dimension, want, sizeof want), signal->def.name,
                        itm_quantity_format_dimension(unit.dimension, got, sizeof got));
    }
    return take_signal(r, whole, &signal->def, index == ITM_NONE);
}

bool itm_reader_is_driven(ItmReader* r, const ItmNode* node, const char* input)
{
    if (r->status != ITM_OK || node == NULL || !itm_reader_is_connection(node)) {
        return false;
    }
    if (r->mechanism == NULL) {
        itm_reader_fail(r, node, "a mechanism that other subsystems drive needs a 'name'");
    } else {
        itm_reader_add_connection(r, node, r->mechanism, input);
    }
    return true;
}

int itm_reader_get_drive(ItmReader* r, const ItmNode* node, const char* owner, ItmDimension dimension, bool is_smooth)
{
    char input[64], name[80];
    snprintf(input, sizeof input, "%.57s", owner);
    snprintf(name, sizeof name, "%s:signal", input);
    if (!itm_reader_is_driven(r, node, input)) {
        return itm_reader_get_signal(r, node, owner, dimension);
    }
    ItmSignalDef def = itm_default_signal_def();
    def.name = name;
    def.kind = ITM_SIGNAL_EXTERNAL;
    def.is_smooth = is_smooth;
    return take_signal(r, node, &def, true);
}

// ---------------------------------------------------------------------------- places

// Pose of a body at the start, which a world position needs.
static ItmPose get_pose(ItmReader* r, const ItmNode* node, int body)
{
    if (r->status != ITM_OK || body == ITM_GROUND) {
        return itm_pose_identity();
    }
    const ItmBodyDef* def = &r->builder->bodies.items[body];
    if (!def->has_pose) {
        itm_reader_fail(r, node,
                        "the pose of body '%s' is not given, so a place in world coordinates is undefined on it: "
                        "give its position or orientation, or the place in its own frame",
                        def->name);
    }
    return def->pose;
}

ItmVec3 itm_reader_get_point(ItmReader* r, int body, const ItmNode* in_body, const ItmNode* in_world)
{
    if (in_body != NULL && in_world != NULL) {
        itm_reader_fail(r, in_world, "this point is given twice: in the body's frame and in the world");
    }
    if (in_world == NULL) {
        return itm_reader_get_vec(r, in_body, ITM_DIM_LENGTH, itm_vec(0, 0, 0));
    }
    ItmPose world = {itm_reader_get_vec(r, in_world, ITM_DIM_LENGTH, itm_vec(0, 0, 0)), {1, 0, 0, 0}};
    return itm_pose_mul(itm_pose_inverse(get_pose(r, in_world, body)), world).p;
}

static ItmPose get_axis_frame(ItmReader* r, ItmVec3 at, const ItmNode* axis, const ItmNode* x_axis)
{
    ItmVec3 z = itm_reader_get_vec(r, axis, ITM_DIM_ONE, itm_vec(0, 0, 1));
    ItmVec3 x = itm_reader_get_vec(r, x_axis, ITM_DIM_ONE, itm_vec(0, 0, 0));
    ItmPose frame = itm_pose_identity();
    if (r->status == ITM_OK) {
        itm_reader_take(r, itm_model_frame_from_axis(&frame, at, z, x, r->error), axis, NULL, 0);
    }
    return frame;
}

// {position, axis, x_axis} or {position, orientation} in a body frame.
static ItmPose get_frame(ItmReader* r, const ItmNode* node)
{
    enum { POSITION, AXIS, X_AXIS, ORIENTATION, NKEY };
    static const char* const KEYS[NKEY] = {"position", "axis", "x_axis", "orientation"};
    const ItmNode* v[NKEY];
    if (r->status != ITM_OK || node == NULL) {
        return itm_pose_identity();
    }
    itm_reader_get_map(r, node, "a frame", KEYS, NKEY, v);
    ItmVec3 position = itm_reader_get_vec(r, v[POSITION], ITM_DIM_LENGTH, itm_vec(0, 0, 0));
    if (v[ORIENTATION] == NULL) {
        return get_axis_frame(r, position, v[AXIS], v[X_AXIS]);
    }
    if (v[AXIS] != NULL || v[X_AXIS] != NULL) {
        itm_reader_fail(r, v[ORIENTATION], "give axis (and x_axis) or orientation, not both");
    }
    return (ItmPose){position, itm_reader_get_orientation(r, v[ORIENTATION])};
}

void itm_reader_get_frames(ItmReader* r, const ItmPlace* place, int body_a, int body_b, ItmPose* frame_a,
                           ItmPose* frame_b)
{
    if (place->at == NULL) {
        const ItmNode* stray = place->axis != NULL ? place->axis : place->x_axis;
        if (stray != NULL) {
            itm_reader_fail(r, stray, "an axis in the world needs 'at', a point on it");
        }
        *frame_a = get_frame(r, place->frame_a);
        *frame_b = get_frame(r, place->frame_b);
        return;
    }
    if (place->frame_a != NULL || place->frame_b != NULL) {
        itm_reader_fail(r, place->at, "give 'at' (world) or 'frame_a' and 'frame_b' (body frames), not both");
    }
    ItmVec3 at = itm_reader_get_vec(r, place->at, ITM_DIM_LENGTH, itm_vec(0, 0, 0));
    ItmPose world = get_axis_frame(r, at, place->axis, place->x_axis);
    *frame_a = itm_pose_mul(itm_pose_inverse(get_pose(r, place->at, body_a)), world);
    *frame_b = itm_pose_mul(itm_pose_inverse(get_pose(r, place->at, body_b)), world);
}

// ---------------------------------------------------------------------------- memory

void* itm_reader_take_array(ItmReader* r, int count, size_t size)
{
    void* array = calloc((size_t)count + 1, size);
    if (array == NULL && r->status == ITM_OK) {
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
    return array;
}
