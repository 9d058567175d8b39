// multibody.forces, a function a type.
#include "io/model/reader.h"

#include "math/vec.h"

#include <stdio.h>

// ---------------------------------------------------------------------------- force and torque

// A vector and whether it was written without units.
static ItmVec3 get_vector(ItmReader* r, const ItmNode* node, ItmDimension dimension, bool* is_bare)
{
    ItmVec3 vector = itm_reader_get_vec(r, node, dimension, itm_vec(0, 0, 0));
    *is_bare = true;
    for (const ItmItem* item = r->status == ITM_OK ? node->first : NULL; item != NULL; item = item->next) {
        *is_bare = *is_bare && itm_reader_get_quantity(r, item->value).is_bare;
    }
    return vector;
}

static void read_load(ItmReader* r, const ItmItem* item, bool is_torque)
{
    enum { TYPE, BODY, VECTOR, FRAME, SIGNAL, POINT, AT, NKEY };
    static const char* const KEYS[NKEY] = {"type", "body", "vector", "frame", "signal", "point", "at"};
    static const char* const FRAMES[] = {"world", "body"};
    const ItmNode* v[NKEY];
    const char* what = is_torque ? "a torque" : "a force";
    itm_reader_get_map(r, item->value, what, KEYS, NKEY, v);
    itm_reader_require(r, item->key, v[BODY], what, "body");
    itm_reader_require(r, item->key, v[VECTOR], what, "vector");
    ItmLoadDef def = itm_default_load_def();
    def.name = item->key->text;
    def.is_torque = is_torque;
    def.body = itm_reader_get_body(r, v[BODY]);
    const ItmNode* place = v[POINT] != NULL ? v[POINT] : v[AT];
    if (r->status == ITM_OK && is_torque && place != NULL &&
        itm_model_builder_get_elastic(r->builder, def.body) == NULL) {
        itm_reader_fail(r, place, "a torque needs a place on flexible bodies only: it turns a rigid one from anywhere");
    }
    if (r->status == ITM_OK && def.body == ITM_GROUND) {
        itm_reader_fail(r, v[BODY], "%s on the ground moves nothing", what);
    }
    if (r->status != ITM_OK) {
        return;
    }
    // vector times signal is a force: one of them has the unit, or none
    bool is_bare;
    ItmDimension unit = is_torque ? ITM_DIM_TORQUE : ITM_DIM_FORCE;
    def.vector = get_vector(r, v[VECTOR], unit, &is_bare);
    def.signal = itm_reader_get_drive(r, v[SIGNAL], def.name, is_bare ? unit : ITM_DIM_ONE, false);
    def.point = itm_reader_get_point(r, def.body, v[POINT], v[AT]);
    def.in_body = itm_reader_get_word(r, v[FRAME], "a frame", FRAMES, 2, 0) == 1;
    if (r->status != ITM_OK) {
        return;
    }
    const ItmBlame blames[] = {{"name", item->key}, {"body", v[BODY]}, {"vector", v[VECTOR]}};
    ItmStatus status = itm_model_builder_add_load(r->builder, &def, NULL, r->error);
    itm_reader_take(r, status, item->key, blames, ITM_COUNT(blames));
}

static void read_force(ItmReader* r, const ItmItem* item)
{
    read_load(r, item, false);
}

static void read_torque(ItmReader* r, const ItmItem* item)
{
    read_load(r, item, true);
}

// ---------------------------------------------------------------------------- springs

// The ends of an element between two points.
typedef struct Ends {
    const ItmNode *bodies, *point_a, *point_b, *at_a, *at_b;
} Ends;

static void read_ends(ItmReader* r, const ItmNode* key, const char* what, Ends ends, int* body_a, ItmVec3* point_a,
                      int* body_b, ItmVec3* point_b)
{
    itm_reader_require(r, key, ends.bodies, what, "bodies");
    itm_reader_get_bodies(r, ends.bodies, body_a, body_b);
    if (r->status == ITM_OK) {
        *point_a = itm_reader_get_point(r, *body_a, ends.point_a, ends.at_a);
        *point_b = itm_reader_get_point(r, *body_b, ends.point_b, ends.at_b);
    }
}

static void read_spring(ItmReader* r, const ItmItem* item)
{
    enum { TYPE, BODIES, POINT_A, POINT_B, AT_A, AT_B, STIFFNESS, DAMPING, LENGTH, PRELOAD, NKEY };
    static const char* const KEYS[NKEY] = {"type", "bodies",    "point_a", "point_b", "at_a",
                                           "at_b", "stiffness", "damping", "length",  "preload"};
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, item->value, "a spring", KEYS, NKEY, v);
    ItmSpringDef def = itm_default_spring_def();
    def.name = item->key->text;
    const Ends ends = {v[BODIES], v[POINT_A], v[POINT_B], v[AT_A], v[AT_B]};
    read_ends(r, item->key, "a spring", ends, &def.body_a, &def.point_a, &def.body_b, &def.point_b);
    if (r->status != ITM_OK) {
        return;
    }
    def.stiffness = itm_reader_get_real(r, v[STIFFNESS], ITM_DIM_STIFFNESS, 0.0);
    def.damping = itm_reader_get_real(r, v[DAMPING], ITM_DIM_DAMPING, 0.0);
    def.preload = itm_reader_get_real(r, v[PRELOAD], ITM_DIM_FORCE, 0.0);
    def.length = itm_reader_get_real(r, v[LENGTH], ITM_DIM_LENGTH, -1.0);
    if (r->status == ITM_OK && v[LENGTH] != NULL && def.length < 0) {
        itm_reader_fail(r, v[LENGTH], "a length must not be negative, got %g m", def.length);
    }
    if (r->status != ITM_OK) {
        return;
    }
    const ItmBlame blames[] = {{"name", item->key}, {"stiffness", v[STIFFNESS]}, {"damping", v[DAMPING]}};
    ItmStatus status = itm_model_builder_add_spring(r->builder, &def, NULL, r->error);
    itm_reader_take(r, status, item->key, blames, ITM_COUNT(blames));
}

static void read_joint_spring(ItmReader* r, const ItmItem* item)
{
    enum { TYPE, JOINT, STIFFNESS, DAMPING, REST, IMPLICIT, NKEY };
    static const char* const KEYS[NKEY] = {"type", "joint", "stiffness", "damping", "rest", "implicit"};
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, item->value, "a joint-spring", KEYS, NKEY, v);
    itm_reader_require(r, item->key, v[JOINT], "a joint-spring", "joint");
    ItmJointSpringDef def = itm_default_joint_spring_def();
    def.name = item->key->text;
    itm_reader_get_direction(r, v[JOINT], &def.joint, &def.direction);
    bool is_rotation = def.direction >= ITM_RX;
    def.stiffness = itm_reader_get_real(r, v[STIFFNESS], is_rotation ? ITM_DIM_TORQUE : ITM_DIM_STIFFNESS, 0.0);
    def.damping = itm_reader_get_real(r, v[DAMPING], is_rotation ? ITM_DIM_TORQUE_DAMPING : ITM_DIM_DAMPING, 0.0);
    def.rest = itm_reader_get_real(r, v[REST], is_rotation ? ITM_DIM_ONE : ITM_DIM_LENGTH, 0.0);
    def.is_implicit = itm_reader_get_bool(r, v[IMPLICIT], false);
    if (r->status != ITM_OK) {
        return;
    }
    const ItmBlame blames[] = {{"name", item->key},
                               {"joint", v[JOINT]},
                               {"direction", v[JOINT]},
                               {"stiffness", v[STIFFNESS]},
                               {"damping", v[DAMPING]}};
    ItmStatus status = itm_model_builder_add_joint_spring(r->builder, &def, NULL, r->error);
    itm_reader_take(r, status, item->key, blames, ITM_COUNT(blames));
}

// ---------------------------------------------------------------------------- servo

static void read_servo(ItmReader* r, const ItmItem* item)
{
    enum { TYPE, JOINT, POSITION, STIFFNESS, DAMPING, FEEDFORWARD, MAX_FORCE, NKEY };
    static const char* const KEYS[NKEY] = {"type",    "joint",       "position", "stiffness",
                                           "damping", "feedforward", "max_force"};
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, item->value, "a servo", KEYS, NKEY, v);
    itm_reader_require(r, item->key, v[JOINT], "a servo", "joint");
    ItmServoDef def = itm_default_servo_def();
    def.name = item->key->text;
    itm_reader_get_direction(r, v[JOINT], &def.joint, &def.direction);
    bool is_rotation = def.direction >= ITM_RX;
    ItmDimension force = is_rotation ? ITM_DIM_TORQUE : ITM_DIM_FORCE;
    def.target = itm_reader_get_drive(r, v[POSITION], def.name, is_rotation ? ITM_DIM_ONE : ITM_DIM_LENGTH, true);
    char owner[80];
    snprintf(owner, sizeof owner, "%.40s:feedforward", def.name);
    def.feedforward = itm_reader_get_drive(r, v[FEEDFORWARD], owner, force, false);
    def.stiffness = itm_reader_get_real(r, v[STIFFNESS], is_rotation ? ITM_DIM_TORQUE : ITM_DIM_STIFFNESS, 0.0);
    def.damping = itm_reader_get_real(r, v[DAMPING], is_rotation ? ITM_DIM_TORQUE_DAMPING : ITM_DIM_DAMPING, 0.0);
    def.max_force = itm_reader_get_real(r, v[MAX_FORCE], force, 0.0);
    if (r->status == ITM_OK && v[MAX_FORCE] != NULL && !(def.max_force > 0.0)) {
        itm_reader_fail(r, v[MAX_FORCE], "max_force must be positive, got %g", def.max_force);
    }
    if (r->status != ITM_OK) {
        return;
    }
    const ItmBlame blames[] = {
        {"name", item->key},     {"joint", v[JOINT]},     {"direction", v[JOINT]},         {"stiffness", v[STIFFNESS]},
        {"damping", v[DAMPING]}, {"target", v[POSITION]}, {"feedforward", v[FEEDFORWARD]}, {"max_force", v[MAX_FORCE]}};
    ItmStatus status = itm_model_builder_add_servo(r->builder, &def, NULL, r->error);
    itm_reader_take(r, status, item->key, blames, ITM_COUNT(blames));
}

// ---------------------------------------------------------------------------- bushing

// {tx, ty, tz, rx, ry, rz} with t and r for three at once; missing directions are 0.
static void read_six(ItmReader* r, const ItmNode* node, const char* what, ItmDimension translation,
                     ItmDimension rotation, double* six)
{
    enum { T = ITM_DIRECTION_COUNT, R, NKEY };
    static const char* const KEYS[NKEY] = {"tx", "ty", "tz", "rx", "ry", "rz", "t", "r"};
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, node, what, KEYS, NKEY, v);
    for (int i = 0; i < ITM_DIRECTION_COUNT; i++) {
        const ItmNode* group = v[i < ITM_RX ? T : R];
        if (v[i] != NULL && group != NULL) {
            itm_reader_fail(r, v[i], "%s is given by '%s' already", KEYS[i], i < ITM_RX ? "t" : "r");
        }
        const ItmNode* one = v[i] != NULL ? v[i] : group;
        six[i] = itm_reader_get_real(r, one, i < ITM_RX ? translation : rotation, 0.0);
        if (r->status == ITM_OK && six[i] < 0) {
            itm_reader_fail(r, one, "must not be negative, got %g", six[i]);
        }
    }
}

static void read_bushing(ItmReader* r, const ItmItem* item)
{
    enum { TYPE, BODIES, AT, AXIS, X_AXIS, FRAME_A, FRAME_B, STIFFNESS, DAMPING, NKEY };
    static const char* const KEYS[NKEY] = {"type",    "bodies",  "at",        "axis",   "x_axis",
                                           "frame_a", "frame_b", "stiffness", "damping"};
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, item->value, "a bushing", KEYS, NKEY, v);
    itm_reader_require(r, item->key, v[BODIES], "a bushing", "bodies");
    ItmBushingDef def = itm_default_bushing_def();
    def.name = item->key->text;
    itm_reader_get_bodies(r, v[BODIES], &def.body_a, &def.body_b);
    if (r->status != ITM_OK) {
        return;
    }
    const ItmPlace place = {v[AT], v[AXIS], v[X_AXIS], v[FRAME_A], v[FRAME_B]};
    itm_reader_get_frames(r, &place, def.body_a, def.body_b, &def.frame_a, &def.frame_b);
    read_six(r, v[STIFFNESS], "a bushing's stiffness", ITM_DIM_STIFFNESS, ITM_DIM_TORQUE, def.stiffness);
    read_six(r, v[DAMPING], "a bushing's damping", ITM_DIM_DAMPING, ITM_DIM_TORQUE_DAMPING, def.damping);
    if (r->status != ITM_OK) {
        return;
    }
    const ItmBlame blames[] = {{"name", item->key}, {"frame_a", v[FRAME_A]}, {"frame_b", v[FRAME_B]}};
    ItmStatus status = itm_model_builder_add_bushing(r->builder, &def, NULL, r->error);
    itm_reader_take(r, status, item->key, blames, ITM_COUNT(blames));
}

// ---------------------------------------------------------------------------- ropes

#define MOST_SHEAVES 64

// [{body, at or point}, ...] into via (MOST_SHEAVES). Returns how many.
static int read_sheaves(ItmReader* r, const ItmNode* node, ItmSheave* via)
{
    enum { BODY, POINT, AT, NKEY };
    static const char* const KEYS[NKEY] = {"body", "point", "at"};
    int n = 0;
    if (r->status != ITM_OK || node == NULL) {
        return 0;
    }
    if (node->kind != ITM_NODE_LIST || node->count < 1 || node->count > MOST_SHEAVES) {
        itm_reader_fail(r, node, "expected a list of 1 to %d sheaves, as [{body: hook, point: [0, 0, 0.2 m]}]",
                        MOST_SHEAVES);
        return 0;
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        const ItmNode* v[NKEY] = {0};
        itm_reader_get_map(r, item->value, "a sheave", KEYS, NKEY, v);
        itm_reader_require(r, item->value, v[BODY], "a sheave", "body");
        int body = itm_reader_get_body(r, v[BODY]);
        if (r->status == ITM_OK) {
            via[n++] = (ItmSheave){body, itm_reader_get_point(r, body, v[POINT], v[AT])};
        }
    }
    return n;
}

// As read_ends; both ends may be on one body where there are sheaves between them.
static void read_path_ends(ItmReader* r, const ItmNode* key, const char* what, Ends ends, bool has_sheaves, int* body_a,
                           ItmVec3* point_a, int* body_b, ItmVec3* point_b)
{
    const ItmNode* pair = ends.bodies;
    bool is_pair = pair != NULL && pair->kind == ITM_NODE_LIST && pair->count == 2;
    if (!has_sheaves || !is_pair) {
        read_ends(r, key, what, ends, body_a, point_a, body_b, point_b);
        return;
    }
    *body_a = itm_reader_get_body(r, pair->first->value);
    *body_b = itm_reader_get_body(r, pair->first->next->value);
    if (r->status == ITM_OK) {
        *point_a = itm_reader_get_point(r, *body_a, ends.point_a, ends.at_a);
        *point_b = itm_reader_get_point(r, *body_b, ends.point_b, ends.at_b);
    }
}

static void read_drum(ItmReader* r, const ItmNode* node, ItmRopeDef* def)
{
    enum { JOINT, RADIUS, NKEY };
    static const char* const KEYS[NKEY] = {"joint", "radius"};
    const ItmNode* v[NKEY] = {0};
    if (r->status != ITM_OK || node == NULL) {
        return;
    }
    itm_reader_get_map(r, node, "a drum", KEYS, NKEY, v);
    itm_reader_require(r, node, v[JOINT], "a drum", "joint");
    itm_reader_require(r, node, v[RADIUS], "a drum", "radius");
    ItmDirection direction = ITM_RZ;
    itm_reader_get_direction(r, v[JOINT], &def->drum, &direction);
    if (r->status == ITM_OK && direction != ITM_RZ) {
        itm_reader_fail(r, v[JOINT], "a drum turns about the axis z of its joint, rz");
    }
    def->drum_radius = itm_reader_get_real(r, v[RADIUS], ITM_DIM_LENGTH, 0.0);
}

static void read_rope(ItmReader* r, const ItmItem* item)
{
    enum {
        TYPE,
        BODIES,
        POINT_A,
        POINT_B,
        AT_A,
        AT_B,
        VIA,
        DRUM,
        LENGTH,
        PRELOAD,
        STIFFNESS,
        DAMPING,
        RESTITUTION,
        NKEY
    };
    static const char* const KEYS[NKEY] = {"type", "bodies", "point_a", "point_b",   "at_a",    "at_b",       "via",
                                           "drum", "length", "preload", "stiffness", "damping", "restitution"};
    const ItmNode* v[NKEY];
    ItmSheave via[MOST_SHEAVES];
    itm_reader_get_map(r, item->value, "a rope", KEYS, NKEY, v);
    ItmRopeDef def = itm_default_rope_def();
    def.name = item->key->text;
    def.via = via;
    def.nvia = read_sheaves(r, v[VIA], via);
    const Ends ends = {v[BODIES], v[POINT_A], v[POINT_B], v[AT_A], v[AT_B]};
    read_path_ends(r, item->key, "a rope", ends, def.nvia > 0, &def.body_a, &def.point_a, &def.body_b, &def.point_b);
    read_drum(r, v[DRUM], &def);
    def.length = itm_reader_get_real(r, v[LENGTH], ITM_DIM_LENGTH, -1.0);
    def.preload = itm_reader_get_real(r, v[PRELOAD], ITM_DIM_FORCE, 0.0);
    def.stiffness = itm_reader_get_real(r, v[STIFFNESS], ITM_DIM_STIFFNESS, 0.0);
    def.damping = itm_reader_get_real(r, v[DAMPING], ITM_DIM_DAMPING, 0.0);
    def.restitution = itm_reader_get_real(r, v[RESTITUTION], ITM_DIM_ONE, 0.0);
    if (r->status == ITM_OK && v[LENGTH] != NULL && def.length < 0) {
        itm_reader_fail(r, v[LENGTH], "a length must not be negative, got %g m", def.length);
    }
    if (r->status != ITM_OK) {
        return;
    }
    const ItmBlame blames[] = {{"name", item->key},     {"via", v[VIA]},
                               {"drum", v[DRUM]},       {"drum_radius", v[DRUM]},
                               {"preload", v[PRELOAD]}, {"stiffness", v[STIFFNESS]},
                               {"damping", v[DAMPING]}, {"restitution", v[RESTITUTION]},
                               {"body_a", v[BODIES]},   {"body_b", v[BODIES]}};
    ItmStatus status = itm_model_builder_add_rope(r->builder, &def, NULL, r->error);
    itm_reader_take(r, status, item->key, blames, ITM_COUNT(blames));
}

// ---------------------------------------------------------------------------- actuator

static void read_actuator(ItmReader* r, const ItmItem* item)
{
    enum { TYPE, JOINT, FORCE, TORQUE, BODIES, POINT_A, POINT_B, AT_A, AT_B, VIA, NKEY };
    static const char* const KEYS[NKEY] = {"type",    "joint",   "force", "torque", "bodies",
                                           "point_a", "point_b", "at_a",  "at_b",   "via"};
    ItmSheave via[MOST_SHEAVES];
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, item->value, "an actuator", KEYS, NKEY, v);
    ItmActuatorDef def = itm_default_actuator_def();
    def.name = item->key->text;
    for (int i = BODIES; i < NKEY && v[JOINT] != NULL; i++) {
        if (v[i] != NULL) {
            itm_reader_fail(r, v[i], "an actuator acts at a joint or between two points, not both");
        }
    }
    if (v[JOINT] != NULL) {
        itm_reader_get_direction(r, v[JOINT], &def.joint, &def.direction);
    } else {
        const Ends ends = {v[BODIES], v[POINT_A], v[POINT_B], v[AT_A], v[AT_B]};
        def.via = via;
        def.nvia = read_sheaves(r, v[VIA], via);
        read_path_ends(r, item->key, "an actuator", ends, def.nvia > 0, &def.body_a, &def.point_a, &def.body_b,
                       &def.point_b);
    }
    bool is_rotation = def.joint != ITM_NONE && def.direction >= ITM_RX;
    if (r->status == ITM_OK && v[is_rotation ? FORCE : TORQUE] != NULL) {
        itm_reader_fail(r, v[is_rotation ? FORCE : TORQUE], "this actuator has a %s", is_rotation ? "torque" : "force");
    }
    if (r->status != ITM_OK) {
        return;
    }
    // an output of another subsystem is an input of the actuator
    const ItmNode* effort = v[is_rotation ? TORQUE : FORCE];
    bool is_driven = itm_reader_is_driven(r, effort, def.name);
    def.signal =
        is_driven ? ITM_NONE : itm_reader_get_signal(r, effort, def.name, is_rotation ? ITM_DIM_TORQUE : ITM_DIM_FORCE);
    if (r->status != ITM_OK) {
        return;
    }
    const ItmBlame blames[] = {{"name", item->key}, {"joint", v[JOINT]}, {"direction", v[JOINT]}, {"via", v[VIA]}};
    ItmStatus status = itm_model_builder_add_actuator(r->builder, &def, NULL, r->error);
    itm_reader_take(r, status, item->key, blames, ITM_COUNT(blames));
}

// ---------------------------------------------------------------------------- forces

static void read_one(ItmReader* r, const ItmItem* item)
{
    static const char* const TYPES[] = {"force", "torque",  "spring",   "joint-spring",
                                        "servo", "bushing", "actuator", "rope"};
    static void (*const READERS[])(ItmReader*, const ItmItem*) = {
        read_force, read_torque, read_spring, read_joint_spring, read_servo, read_bushing, read_actuator, read_rope};
    int type = itm_reader_get_type(r, item, "a force", "a type of force", TYPES, ITM_COUNT(TYPES));
    if (type != ITM_NONE) {
        READERS[type](r, item);
    }
}

void itm_read_forces(ItmReader* r, const ItmNode* node)
{
    if (!itm_reader_is_collection(r, node, "forces")) {
        return;
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        read_one(r, item);
    }
}
