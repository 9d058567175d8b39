// multibody.joints
#include "io/model/reader.h"

#include "math/vec.h"

#include <math.h>
#include <stdio.h>

enum {
    TYPE,
    BODIES,
    AT,
    AXIS,
    X_AXIS,
    FRAME_A,
    FRAME_B,
    POINT_A,
    POINT_B,
    AT_A,
    AT_B,
    FREE,
    PITCH,
    LENGTH,
    START,
    START_RATE,
    COORDINATES,
    STIFFNESS,
    DAMPING,
    LIMITS,
    FRICTION,
    CLEARANCE,
    NKEY
};

static const char* const KEYS[NKEY] = {"type",    "bodies",  "at",       "axis",       "x_axis",      "frame_a",
                                       "frame_b", "point_a", "point_b",  "at_a",       "at_b",        "free",
                                       "pitch",   "length",  "start",    "start_rate", "coordinates", "stiffness",
                                       "damping", "limits",  "friction", "clearance"};

static ItmDimension unit_of(ItmDirection direction, bool is_rate)
{
    if (direction >= ITM_RX) {
        return is_rate ? ITM_DIM_FREQUENCY : ITM_DIM_ONE;
    }
    return is_rate ? ITM_DIM_VELOCITY : ITM_DIM_LENGTH;
}

// ---------------------------------------------------------------------------- place

// Two points for a distance joint, two frames for all others.
static void read_place(ItmReader* r, const ItmNode** v, ItmJointDef* def)
{
    const ItmNode* point = v[POINT_A] != NULL   ? v[POINT_A]
                           : v[POINT_B] != NULL ? v[POINT_B]
                           : v[AT_A] != NULL    ? v[AT_A]
                                                : v[AT_B];
    if (def->type == ITM_JOINT_DISTANCE) {
        for (int i = AT; i <= FRAME_B; i++) {
            if (v[i] != NULL) {
                itm_reader_fail(r, v[i],
                                "a distance joint has two points: give point_a and point_b (body frames) or "
                                "at_a and at_b (world), not '%s'",
                                KEYS[i]);
            }
        }
        def->frame_a.p = itm_reader_get_point(r, def->body_a, v[POINT_A], v[AT_A]);
        def->frame_b.p = itm_reader_get_point(r, def->body_b, v[POINT_B], v[AT_B]);
        return;
    }
    if (point != NULL) {
        itm_reader_fail(r, point, "only a distance joint has two points: give 'at' (world) or 'frame_a' and 'frame_b'");
    }
    const ItmPlace place = {v[AT], v[AXIS], v[X_AXIS], v[FRAME_A], v[FRAME_B]};
    itm_reader_get_frames(r, &place, def->body_a, def->body_b, &def->frame_a, &def->frame_b);
}

// ---------------------------------------------------------------------------- freedom

static ItmDirection find_single(unsigned free)
{
    for (int i = 0; i < ITM_DIRECTION_COUNT; i++) {
        if (free == 1u << i) {
            return (ItmDirection)i;
        }
    }
    return ITM_DIRECTION_COUNT;
}

static void set_start(ItmReader* r, const ItmNode* node, ItmJointDef* def, ItmDirection direction, bool is_rate)
{
    double value = itm_reader_get_real(r, node, unit_of(direction, is_rate), 0.0);
    (is_rate ? def->start_rate : def->start)[direction] = value;
    if (direction >= ITM_RX && !is_rate) {
        char what[80];
        snprintf(what, sizeof what, "joint '%.40s' starts at", def->name);
        itm_reader_note_angle(r, node, what, value);
    }
    def->has_start[direction] = true;
}

// A single value where one direction is free (a screw: the angle), else {direction: value}.
static void read_start(ItmReader* r, const ItmNode* node, ItmJointDef* def, bool is_rate)
{
    if (r->status != ITM_OK || node == NULL) {
        return;
    }
    unsigned free = def->type == ITM_JOINT_DISTANCE ? 0 : itm_model_get_free_directions(def);
    if (node->kind != ITM_NODE_MAP) {
        ItmDirection only = def->type == ITM_JOINT_SCREW ? ITM_RZ : find_single(free);
        if (only == ITM_DIRECTION_COUNT) {
            itm_reader_fail(r, node,
                            "a %s joint has not one free direction: write {direction: value}, for example "
                            "{tz: 0, rz: 0}",
                            itm_model_joint_type_name(def->type));
            return;
        }
        set_start(r, node, def, only, is_rate);
        return;
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        ItmDirection direction = itm_reader_get_direction_word(r, item->key);
        if (r->status == ITM_OK && (free & 1u << direction) == 0) {
            itm_reader_fail(r, item->key, "%s is not a free direction of a %s joint", item->key->text,
                            itm_model_joint_type_name(def->type));
        }
        set_start(r, item->value, def, direction, is_rate);
    }
}

// ---------------------------------------------------------------------------- joints

static void read_numbers(ItmReader* r, const ItmNode* whole, const ItmNode** v, ItmJointDef* def)
{
    static const char* const MODES[] = {"auto", "tree", "rows"};
    if (def->type == ITM_JOINT_GENERIC) {
        itm_reader_require(r, whole, v[FREE], "a generic joint", "free");
    } else if (v[FREE] != NULL) {
        itm_reader_fail(r, v[FREE], "only a generic joint lists its free directions; a %s joint has its own",
                        itm_model_joint_type_name(def->type));
    }
    if (def->type == ITM_JOINT_SCREW) {
        itm_reader_require(r, whole, v[PITCH], "a screw joint", "pitch");
    } else if (v[PITCH] != NULL) {
        itm_reader_fail(r, v[PITCH], "only a screw joint has a pitch");
    }
    if (def->type != ITM_JOINT_DISTANCE && v[LENGTH] != NULL) {
        itm_reader_fail(r, v[LENGTH], "only a distance joint has a length");
    }
    def->free = itm_reader_get_directions(r, v[FREE]);
    def->pitch = itm_reader_get_real(r, v[PITCH], ITM_DIM_LENGTH, 0.0);
    def->length = itm_reader_get_real(r, v[LENGTH], ITM_DIM_LENGTH, 0.0);
    if (r->status == ITM_OK && v[LENGTH] != NULL && !(def->length > 0)) {
        itm_reader_fail(r, v[LENGTH], "a length must be positive, got %g m", def->length);
    }
    int mode = itm_reader_get_word(r, v[COORDINATES], "a choice of coordinates", MODES, ITM_COUNT(MODES), 0);
    def->coordinates = mode > 0 ? (ItmJointMode)mode : ITM_JOINT_AUTO;
    def->stiffness = itm_reader_get_real(r, v[STIFFNESS], ITM_DIM_STIFFNESS, 0.0);
    def->damping = itm_reader_get_real(r, v[DAMPING], ITM_DIM_DAMPING, 0.0);
}

static ItmJointType get_type(ItmReader* r, const ItmNode* node)
{
    const char* names[ITM_JOINT_TYPE_COUNT];
    for (int i = 0; i < ITM_JOINT_TYPE_COUNT; i++) {
        names[i] = itm_model_joint_type_name((ItmJointType)i);
    }
    int type = itm_reader_get_word(r, node, "a type of joint", names, ITM_JOINT_TYPE_COUNT, 0);
    return type > 0 ? (ItmJointType)type : ITM_JOINT_FIXED;
}

static void read_joint(ItmReader* r, const ItmItem* item)
{
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, item->value, "a joint", KEYS, NKEY, v);
    itm_reader_require(r, item->key, v[TYPE], "a joint", "type");
    itm_reader_require(r, item->key, v[BODIES], "a joint", "bodies");
    ItmJointDef def = itm_default_joint_def(get_type(r, v[TYPE]));
    def.name = item->key->text;
    itm_reader_get_bodies(r, v[BODIES], &def.body_a, &def.body_b);
    if (r->status != ITM_OK) {
        return;
    }
    read_place(r, v, &def);
    read_numbers(r, item->key, v, &def);
    read_start(r, v[START], &def, false);
    read_start(r, v[START_RATE], &def, true);
    double section[ITM_CLEARANCE_MAX_CORNERS][2];
    const ItmNode* parts[ITM_CLEARANCE_NPART] = {0};
    itm_read_clearance(r, v[CLEARANCE], &def, section, parts);
    if (r->status != ITM_OK) {
        return;
    }
    const ItmBlame blames[] = {
        {"name", item->key},
        {"type", v[TYPE]},
        {"body_a", v[BODIES]},
        {"body_b", v[BODIES]},
        {"frame_a", v[FRAME_A]},
        {"frame_b", v[FRAME_B]},
        {"pitch", v[PITCH]},
        {"free", v[FREE]},
        {"start", v[START]},
        {"start_rate", v[START_RATE]},
        {"coordinates", v[COORDINATES]},
        {"length", v[LENGTH]},
        {"stiffness", v[STIFFNESS]},
        {"damping", v[DAMPING]},
        {"clearance", v[CLEARANCE]},
        {"clearance.radial", parts[ITM_CLEARANCE_RADIAL]},
        {"clearance.axial", parts[ITM_CLEARANCE_AXIAL]},
        {"clearance.length", parts[ITM_CLEARANCE_LENGTH]},
        {"clearance.radius", parts[ITM_CLEARANCE_RADIUS]},
        {"clearance.section", parts[ITM_CLEARANCE_SECTION]},
        {"clearance.friction", parts[ITM_CLEARANCE_FRICTION]},
        {"clearance.restitution", parts[ITM_CLEARANCE_RESTITUTION]},
        {"clearance.stiffness", parts[ITM_CLEARANCE_STIFFNESS]},
        {"clearance.damping", parts[ITM_CLEARANCE_DAMPING]},
    };
    int joint = ITM_NONE;
    ItmStatus status = itm_model_builder_add_joint(r->builder, &def, &joint, r->error);
    itm_reader_take(r, status, item->key, blames, ITM_COUNT(blames));
    itm_read_limits(r, v[LIMITS], def.name, joint);
    itm_read_joint_friction(r, v[FRICTION], def.name, joint);
}

void itm_read_joints(ItmReader* r, const ItmNode* node)
{
    if (!itm_reader_is_collection(r, node, "joints")) {
        return;
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        read_joint(r, item);
    }
}
