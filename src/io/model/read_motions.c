// multibody.couplings and multibody.motions: relations between directions of joints, and prescribed
// ones.
#include "io/model/reader.h"

// ---------------------------------------------------------------------------- couplings

static bool is_rotation(ItmDirection direction)
{
    return direction >= ITM_RX;
}

enum { GEAR, RACK };

static void read_coupling(ItmReader* r, const ItmItem* item)
{
    enum { TYPE, FIRST, SECOND, RATIO, NKEY };
    static const char* const KEYS[NKEY] = {"type", "first", "second", "ratio"};
    static const char* const TYPES[] = {"gear", "rack"};
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, item->value, "a coupling", KEYS, NKEY, v);
    for (int i = 0; i < NKEY; i++) {
        itm_reader_require(r, item->key, v[i], "a coupling", KEYS[i]);
    }
    ItmCouplingDef def = itm_default_coupling_def();
    def.name = item->key->text;
    int type = itm_reader_get_word(r, v[TYPE], "a type of coupling", TYPES, 2, GEAR);
    itm_reader_get_direction(r, v[FIRST], &def.joint_first, &def.direction_first);
    itm_reader_get_direction(r, v[SECOND], &def.joint_second, &def.direction_second);
    if (r->status != ITM_OK) {
        return;
    }
    if (is_rotation(def.direction_first) != (type == GEAR)) {
        itm_reader_fail(r, v[FIRST], "the first direction of a %s is a %s, not %s", TYPES[type],
                        type == GEAR ? "rotation" : "translation", itm_model_direction_name(def.direction_first));
    }
    if (!is_rotation(def.direction_second)) {
        itm_reader_fail(r, v[SECOND], "the second direction of a %s is a rotation, not %s", TYPES[type],
                        itm_model_direction_name(def.direction_second));
    }
    def.ratio = itm_reader_get_real(r, v[RATIO], type == GEAR ? ITM_DIM_ONE : ITM_DIM_LENGTH, 1.0);
    if (r->status != ITM_OK) {
        return;
    }
    const ItmBlame blames[] = {
        {"name", item->key},         {"joint_first", v[FIRST]},       {"direction_first", v[FIRST]},
        {"joint_second", v[SECOND]}, {"direction_second", v[SECOND]}, {"ratio", v[RATIO]},
    };
    ItmStatus status = itm_model_builder_add_coupling(r->builder, &def, NULL, r->error);
    itm_reader_take(r, status, item->key, blames, ITM_COUNT(blames));
}

void itm_read_couplings(ItmReader* r, const ItmNode* node)
{
    if (!itm_reader_is_collection(r, node, "couplings")) {
        return;
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        read_coupling(r, item);
    }
}

// ---------------------------------------------------------------------------- motions

static ItmDimension unit_of(ItmMotionKind kind, ItmDirection direction)
{
    switch (kind) {
    case ITM_MOTION_POSITION:
        return is_rotation(direction) ? ITM_DIM_ONE : ITM_DIM_LENGTH;
    case ITM_MOTION_VELOCITY:
        return is_rotation(direction) ? ITM_DIM_FREQUENCY : ITM_DIM_VELOCITY;
    case ITM_MOTION_FORCE:
        break;
    }
    return is_rotation(direction) ? ITM_DIM_TORQUE : ITM_DIM_FORCE;
}

static double get_max_force(ItmReader* r, const ItmNode* node, const ItmMotionDef* def)
{
    if (node != NULL && def->kind == ITM_MOTION_FORCE) {
        itm_reader_fail(r, node, "max_force limits a motor that follows a position or velocity");
    }
    double force = itm_reader_get_real(r, node, unit_of(ITM_MOTION_FORCE, def->direction), 0.0);
    if (r->status == ITM_OK && node != NULL && !(force > 0)) {
        itm_reader_fail(r, node, "max_force must be positive, got %g", force);
    }
    return force;
}

static void read_motion(ItmReader* r, const ItmItem* item)
{
    enum { JOINT, POSITION, VELOCITY, FORCE, MAX_FORCE, NKEY };
    static const char* const KEYS[NKEY] = {"joint", "position", "velocity", "force", "max_force"};
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, item->value, "a motion", KEYS, NKEY, v);
    itm_reader_require(r, item->key, v[JOINT], "a motion", "joint");
    if (r->status == ITM_OK && (v[POSITION] != NULL) + (v[VELOCITY] != NULL) + (v[FORCE] != NULL) != 1) {
        itm_reader_fail(r, item->key, "a motion prescribes exactly one of position, velocity and force");
    }
    ItmMotionDef def = itm_default_motion_def();
    def.name = item->key->text;
    def.kind = v[POSITION] != NULL ? ITM_MOTION_POSITION : v[VELOCITY] != NULL ? ITM_MOTION_VELOCITY : ITM_MOTION_FORCE;
    itm_reader_get_direction(r, v[JOINT], &def.joint, &def.direction);
    const ItmNode* value = v[POSITION + (int)def.kind];
    def.signal =
        itm_reader_get_drive(r, value, def.name, unit_of(def.kind, def.direction), def.kind == ITM_MOTION_POSITION);
    def.max_force = get_max_force(r, v[MAX_FORCE], &def);
    if (r->status != ITM_OK) {
        return;
    }
    const ItmBlame blames[] = {{"name", item->key},
                               {"joint", v[JOINT]},
                               {"direction", v[JOINT]},
                               {"signal", value},
                               {"max_force", v[MAX_FORCE]}};
    ItmStatus status = itm_model_builder_add_motion(r->builder, &def, NULL, r->error);
    itm_reader_take(r, status, item->key, blames, ITM_COUNT(blames));
}

void itm_read_motions(ItmReader* r, const ItmNode* node)
{
    if (!itm_reader_is_collection(r, node, "motions")) {
        return;
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        read_motion(r, item);
    }
}
