// subsystems of type control: blocks and their expressions. A control needs nothing of the other subsystems to be compiled,
// so that it is here at once.
#include "io/model/reader.h"

#include "base/error.h"
#include "control/control.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The control that is being read.
typedef struct ControlReader {
    ItmReader* r;
    ItmControlBuilder* builder;
    const char* name;
    const ItmNode* blocks;
    double step;  // s
} ControlReader;

// ---------------------------------------------------------------------------- keys of blocks

enum {
    TYPE,
    INPUT,
    UNIT,
    SAMPLE,
    LIMITS,
    START,
    PROPORTIONAL,
    INTEGRAL,
    DERIVATIVE,
    FILTER,
    ERROR_RATE,
    FEED_FORWARD,
    ANTI_WINDUP,
    TRACKING_TIME,
    TIME_CONSTANT,
    RATE,
    RISING,
    FALLING,
    TIME,
    SAMPLES,
    POINTS,
    VALUES,
    INTERPOLATION,
    NKEY
};

static const char* const KEYS[NKEY] = {
    "type",       "input",   "unit",       "sample",       "limits",      "start",         "proportional",  "integral",
    "derivative", "filter",  "error_rate", "feed_forward", "anti_windup", "tracking_time", "time_constant", "rate",
    "rising",     "falling", "time",       "samples",      "points",      "values",        "interpolation"};

#define BIT(key) (1u << (key))

// Which keys a kind has beside those of all: `type` to `limits`.
static const unsigned OWN_KEYS[ITM_CONTROL_KIND_COUNT] = {
    [ITM_CONTROL_PID] = BIT(START) | BIT(PROPORTIONAL) | BIT(INTEGRAL) | BIT(DERIVATIVE) | BIT(FILTER) |
                        BIT(ERROR_RATE) | BIT(FEED_FORWARD) | BIT(ANTI_WINDUP) | BIT(TRACKING_TIME),
    [ITM_CONTROL_INTEGRATOR] = BIT(START),
    [ITM_CONTROL_LAG] = BIT(START) | BIT(TIME_CONSTANT),
    [ITM_CONTROL_DERIVATIVE] = BIT(FILTER),
    [ITM_CONTROL_RATE_LIMIT] = BIT(START) | BIT(RATE) | BIT(RISING) | BIT(FALLING),
    [ITM_CONTROL_DELAY] = BIT(START) | BIT(TIME) | BIT(SAMPLES),
    [ITM_CONTROL_LOOKUP] = BIT(POINTS) | BIT(VALUES) | BIT(INTERPOLATION),
};

// The values of a block's mapping by key, with only the keys that its kind has.
static void get_block_map(ItmReader* r, const ItmNode* node, ItmControlKind kind, const ItmNode** v)
{
    const char* keys[NKEY];
    const ItmNode* values[NKEY];
    for (const ItmItem* item = node->first; item != NULL; item = item->next) {
        if (item->value->kind == ITM_NODE_SCALAR && item->value->length == 0) {
            char found[64];
            itm_reader_fail(r, item->key, "%s has no value; inside { } an expression with a comma needs quotes",
                            itm_document_describe(item->key, found, sizeof found));
        }
    }
    int index[NKEY], n = 0;
    for (int i = 0; i < NKEY; i++) {
        v[i] = NULL;
        if (i <= LIMITS || (OWN_KEYS[kind] & BIT(i)) != 0) {
            keys[n] = KEYS[i];
            index[n++] = i;
        }
    }
    itm_reader_get_map(r, node, "this type of block", keys, n, values);
    for (int i = 0; i < n; i++) {
        v[index[i]] = values[i];
    }
}

// The node that a field of ItmControlBlockDef was read from, or NULL.
static const ItmNode* find_field(const ItmNode* const* v, const char* field)
{
    static const struct {
        const char* field;
        int keys[2];
    } OTHERS[] = {{"lower", {LIMITS, LIMITS}},
                  {"time_constant", {TIME_CONSTANT, FILTER}},
                  {"rising", {RISING, RATE}},
                  {"falling", {FALLING, RATE}},
                  {"samples", {SAMPLES, TIME}}};
    for (int i = 0; i < ITM_COUNT(OTHERS); i++) {
        if (strcmp(OTHERS[i].field, field) == 0) {
            return v[OTHERS[i].keys[0]] != NULL ? v[OTHERS[i].keys[0]] : v[OTHERS[i].keys[1]];
        }
    }
    for (int i = 0; i < NKEY; i++) {
        if (strcmp(KEYS[i], field) == 0) {
            return v[i];
        }
    }
    return NULL;
}

// ---------------------------------------------------------------------------- values

// A number in whatever unit: signals of a control have none that is known.
static double get_any(ItmReader* r, const ItmNode* node, double absent)
{
    return node != NULL ? itm_reader_get_quantity(r, node).value : absent;
}

// A time that is a multiple of another; 0 where it is absent.
static double get_multiple(ItmReader* r, const ItmNode* node, double unit, const char* of)
{
    double time = itm_reader_get_real(r, node, ITM_DIM_TIME, 0.0);
    double ratio = time / unit;
    if (r->status == ITM_OK && node != NULL && !(ratio > 0.5 && fabs(ratio - round(ratio)) <= 1e-9 * ratio)) {
        itm_reader_fail(r, node, "%g s is not a multiple of %s, %g s", time, of, unit);
    }
    return time;
}

// [lower, upper], or {lower: ...} or {upper: ...} for one of them.
static void get_limits(ItmReader* r, const ItmNode* node, ItmControlBlockDef* def)
{
    static const char* const WORDS[] = {"lower", "upper"};
    const ItmNode* v[2] = {NULL, NULL};
    if (r->status != ITM_OK || node == NULL) {
        return;
    }
    if (node->kind == ITM_NODE_LIST && node->count == 2) {
        v[0] = node->first->value;
        v[1] = node->first->next->value;
    } else if (node->kind == ITM_NODE_MAP) {
        itm_reader_get_map(r, node, "limits", WORDS, 2, v);
    } else {
        char found[64];
        itm_reader_fail(r, node, "expected [lower, upper] or {lower: ..., upper: ...}, found %s",
                        itm_document_describe(node, found, sizeof found));
    }
    def->lower = get_any(r, v[0], def->lower);
    def->upper = get_any(r, v[1], def->upper);
}

// A start value; `input` means the first input.
static double get_start(ItmReader* r, const ItmNode* node, const ItmControlBlockDef* def)
{
    bool may_be_input =
        def->kind == ITM_CONTROL_LAG || def->kind == ITM_CONTROL_DELAY || def->kind == ITM_CONTROL_RATE_LIMIT;
    if (may_be_input && node != NULL && node->kind == ITM_NODE_SCALAR && strcmp(node->text, "input") == 0) {
        return NAN;
    }
    return get_any(r, node, def->start);
}

static double* get_list(ItmReader* r, const ItmNode* node, int* count)
{
    char found[64];
    if (r->status != ITM_OK || node == NULL) {
        return NULL;
    }
    if (node->kind != ITM_NODE_LIST) {
        itm_reader_fail(r, node, "expected a list of numbers, found %s",
                        itm_document_describe(node, found, sizeof found));
        return NULL;
    }
    double* numbers = itm_document_take(r->doc, (size_t)node->count * sizeof *numbers + 1);
    if (numbers == NULL) {
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
        return NULL;
    }
    *count = 0;
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        numbers[(*count)++] = get_any(r, item->value, 0.0);
    }
    return numbers;
}

// ---------------------------------------------------------------------------- kinds of blocks

static void read_pid(ControlReader* c, const ItmNode* const* v, ItmControlBlockDef* def)
{
    ItmReader* r = c->r;
    const char* methods[ITM_WINDUP_COUNT];
    for (int i = 0; i < ITM_WINDUP_COUNT; i++) {
        methods[i] = itm_control_anti_windup_name((ItmAntiWindup)i);
    }
    def->proportional = get_any(r, v[PROPORTIONAL], 0.0);
    def->integral = get_any(r, v[INTEGRAL], 0.0);
    def->derivative = get_any(r, v[DERIVATIVE], 0.0);
    def->time_constant = itm_reader_get_real(r, v[FILTER], ITM_DIM_TIME, 0.0);
    def->error_rate = itm_reader_get_text(r, v[ERROR_RATE], "an expression");
    def->feed_forward = itm_reader_get_text(r, v[FEED_FORWARD], "an expression");
    int method = itm_reader_get_word(r, v[ANTI_WINDUP], "a method of anti-windup", methods, ITM_WINDUP_COUNT,
                                     v[TRACKING_TIME] != NULL ? ITM_WINDUP_TRACKING : ITM_WINDUP_CLAMP);
    def->anti_windup = method != ITM_NONE ? (ItmAntiWindup)method : ITM_WINDUP_CLAMP;
    def->tracking_time = itm_reader_get_real(r, v[TRACKING_TIME], ITM_DIM_TIME, 0.0);
    if (v[TRACKING_TIME] != NULL && def->anti_windup != ITM_WINDUP_TRACKING) {
        itm_reader_fail(r, v[TRACKING_TIME], "tracking_time is for 'anti_windup: tracking'");
    }
    if (r->status == ITM_OK && def->anti_windup == ITM_WINDUP_TRACKING && v[TRACKING_TIME] == NULL) {
        itm_reader_fail(r, v[ANTI_WINDUP], "tracking needs 'tracking_time'");
    }
}

static void read_rate_limit(ControlReader* c, const ItmItem* item, const ItmNode* const* v, ItmControlBlockDef* def)
{
    ItmReader* r = c->r;
    if (v[RATE] != NULL && (v[RISING] != NULL || v[FALLING] != NULL)) {
        itm_reader_fail(r, v[RATE], "give rate for both directions, or rising and falling, not both");
    } else if (v[RATE] == NULL && v[RISING] == NULL && v[FALLING] == NULL) {
        itm_reader_fail(r, item->key, "a rate limiter needs 'rate', or 'rising' or 'falling'");
    }
    def->rising = get_any(r, v[RATE] != NULL ? v[RATE] : v[RISING], def->rising);
    def->falling = get_any(r, v[RATE] != NULL ? v[RATE] : v[FALLING], def->falling);
}

static void read_delay(ControlReader* c, const ItmItem* item, const ItmNode* const* v, ItmControlBlockDef* def)
{
    ItmReader* r = c->r;
    double unit = def->sample > 0 ? def->sample : c->step;
    if ((v[TIME] != NULL) == (v[SAMPLES] != NULL)) {
        itm_reader_fail(r, item->key, "a delay needs one of 'time' and 'samples'");
    }
    double time = get_multiple(r, v[TIME], unit, def->sample > 0 ? "the block's sample time" : "the control's step");
    double samples = v[TIME] != NULL ? round(time / unit) : itm_reader_get_int(r, v[SAMPLES], 1, 1000000, 1);
    def->samples = samples <= 1e9 ? (int)samples : 1000000000;  // the builder reports too many
}

static void read_lookup(ControlReader* c, const ItmItem* item, const ItmNode* const* v, ItmControlBlockDef* def)
{
    static const char* const WORDS[] = {"linear", "cubic", "hold"};
    ItmReader* r = c->r;
    int nvalue = 0;
    itm_reader_require(r, item->key, v[POINTS], "a look-up table", "points");
    itm_reader_require(r, item->key, v[VALUES], "a look-up table", "values");
    def->points = get_list(r, v[POINTS], &def->npoint);
    def->values = get_list(r, v[VALUES], &nvalue);
    int word = itm_reader_get_word(r, v[INTERPOLATION], "an interpolation", WORDS, 3, 0);
    def->interpolation = word == 1 ? ITM_INTERPOLATE_CUBIC : ITM_INTERPOLATE_LINEAR;
    def->is_stepped = word == 2;
    if (r->status == ITM_OK && nvalue != def->npoint) {
        itm_reader_fail(r, v[VALUES], "there are %d points but %d values", def->npoint, nvalue);
    }
}

static void read_kind(ControlReader* c, const ItmItem* item, const ItmNode* const* v, ItmControlBlockDef* def)
{
    ItmReader* r = c->r;
    switch (def->kind) {
    case ITM_CONTROL_PID:
        read_pid(c, v, def);
        break;
    case ITM_CONTROL_LAG:
        itm_reader_require(r, item->key, v[TIME_CONSTANT], "a lag", "time_constant");
        def->time_constant = itm_reader_get_real(r, v[TIME_CONSTANT], ITM_DIM_TIME, 0.0);
        break;
    case ITM_CONTROL_DERIVATIVE:
        def->time_constant = itm_reader_get_real(r, v[FILTER], ITM_DIM_TIME, 0.0);
        break;
    case ITM_CONTROL_RATE_LIMIT:
        read_rate_limit(c, item, v, def);
        break;
    case ITM_CONTROL_DELAY:
        read_delay(c, item, v, def);
        break;
    case ITM_CONTROL_LOOKUP:
        read_lookup(c, item, v, def);
        break;
    default:
        break;
    }
}

// ---------------------------------------------------------------------------- blocks

// An error of the builder, at its field; where that is an expression, inside it.
static void take(ItmReader* r, ItmStatus status, const ItmNode* whole, const ItmNode* field)
{
    if (r->status != ITM_OK || status == ITM_OK) {
        return;
    }
    r->status = status;
    if (r->error != NULL) {
        size_t offset = field != NULL && r->error->column > 0 ? (size_t)r->error->column - 1 : 0;
        itm_document_locate(field != NULL ? field : whole, offset, r->error);
    }
}

static void read_block_map(ControlReader* c, const ItmItem* item)
{
    ItmReader* r = c->r;
    const char* types[ITM_CONTROL_KIND_COUNT];
    for (int i = 0; i < ITM_CONTROL_KIND_COUNT; i++) {
        types[i] = itm_control_kind_name((ItmControlKind)i);
    }
    int kind = itm_reader_get_type(r, item, "a block", "a type of block", types, ITM_CONTROL_KIND_COUNT);
    if (r->status != ITM_OK) {
        return;
    }
    const ItmNode* v[NKEY];
    ItmControlBlockDef def = itm_default_control_block_def((ItmControlKind)kind);
    get_block_map(r, item->value, def.kind, v);
    itm_reader_require(r, item->key, v[INPUT], "a block", "input");
    def.name = item->key->text;
    def.input = itm_reader_get_text(r, v[INPUT], "an expression");
    def.unit = itm_reader_get_text(r, v[UNIT], "a unit");
    def.sample = get_multiple(r, v[SAMPLE], c->step, "the control's step");
    def.start = get_start(r, v[START], &def);
    get_limits(r, v[LIMITS], &def);
    read_kind(c, item, v, &def);
    if (r->status == ITM_OK) {
        ItmStatus status = itm_control_builder_add_block(c->builder, &def, NULL, r->error);
        take(r, status, item->key, r->error != NULL ? find_field(v, r->error->field) : NULL);
    }
}

// A mapping with a type, or an expression alone.
static void read_block(ControlReader* c, const ItmItem* item)
{
    ItmReader* r = c->r;
    if (item->value->kind == ITM_NODE_MAP) {
        read_block_map(c, item);
        return;
    }
    ItmControlBlockDef def = itm_default_control_block_def(ITM_CONTROL_EXPRESSION);
    def.name = item->key->text;
    def.input = itm_reader_get_text(r, item->value, "an expression, or a mapping with a type of block");
    if (r->status == ITM_OK) {
        ItmStatus status = itm_control_builder_add_block(c->builder, &def, NULL, r->error);
        bool is_name = r->error != NULL && strcmp(r->error->field, "name") == 0;
        take(r, status, item->key, is_name ? NULL : item->value);
    }
}

// The node of "block.input" and the like, as the compiler names it; the whole block if there is none.
static const ItmNode* find_expression(const ControlReader* c, const char* field)
{
    size_t length = strcspn(field, ".");
    for (const ItmItem* item = c->blocks->first; item != NULL; item = item->next) {
        if (item->key->length == length && memcmp(item->key->text, field, length) == 0) {
            const ItmNode* value = item->value->kind == ITM_NODE_MAP && field[length] == '.'
                                       ? itm_document_find(item->value, field + length + 1)
                                       : item->value;
            return value != NULL ? value : item->key;
        }
    }
    return NULL;
}

// ---------------------------------------------------------------------------- what blocks may name

static void add_names(ControlReader* c)
{
    ItmReader* r = c->r;
    for (size_t i = 0; i < r->parameter_names.nslot && r->status == ITM_OK; i++) {
        const ItmNameEntry* entry = &r->parameter_names.slots[i];
        if (entry->name != NULL) {
            const ItmParameter* parameter = &r->parameters[entry->value];
            take(r, itm_control_builder_add_constant(c->builder, entry->name, parameter->value.value, r->error),
                 parameter->node, NULL);
        }
    }
    for (int i = 0; i < r->nsignal && r->status == ITM_OK; i++) {
        bool is_external = r->signals[i].def.kind == ITM_SIGNAL_EXTERNAL;  // only mechanisms have those
        r->status = is_external ? ITM_OK : itm_control_builder_add_signal(c->builder, &r->signals[i].def, r->error);
    }
}

// Outputs of other subsystems that expressions name are connections, placed where they are named first.
static void add_connections(ControlReader* c, const ItmControl* control)
{
    ItmReader* r = c->r;
    int nknown = 0;  // inputs are numbered in the order of their first mention
    for (int i = 0; i < control->nblock; i++) {
        const ItmControlBlock* block = &control->blocks[i];
        for (int slot = 0; slot < ITM_SLOT_COUNT; slot++) {
            for (int k = block->op_adr[slot]; k < block->op_adr[slot] + block->nop[slot]; k++) {
                const ItmOp* op = &control->ops[k];
                if (op->code == ITM_OP_INPUT && op->index == nknown) {
                    ItmError place = {0};
                    char field[160];
                    snprintf(field, sizeof field, "%s.%s", block->def.name,
                             itm_control_slot_name((ItmControlSlot)slot));
                    const char* name = control->input_name[nknown++];
                    const ItmNode* node = find_expression(c, field);
                    itm_document_locate(node, (size_t)op->offset, &place);
                    const ItmNode here = {.kind = ITM_NODE_SCALAR,
                                          .line = place.line,
                                          .column = place.column,
                                          .source = node->source,
                                          .text = name,
                                          .length = strlen(name)};
                    itm_reader_add_connection(r, &here, c->name, name);
                }
            }
        }
    }
}

// ---------------------------------------------------------------------------- control

static void read_blocks(ControlReader* c)
{
    ItmReader* r = c->r;
    if (!itm_reader_is_collection(r, c->blocks, "blocks")) {
        return;
    }
    for (const ItmItem* item = c->blocks->first; item != NULL && r->status == ITM_OK; item = item->next) {
        read_block(c, item);
    }
}

static void build(ControlReader* c, const ItmItem* item, ItmFileControl* control)
{
    ItmReader* r = c->r;
    ItmStatus status = itm_control_build(&control->control, c->builder, r->error);
    take(r, status, item->key, r->error != NULL ? find_expression(c, r->error->field) : NULL);
    if (r->status == ITM_OK) {
        add_connections(c, control->control);
    }
}

// One more control of the file.
static ItmFileControl* add_control(ItmReader* r, const char* name)
{
    ItmModelFile* file = r->file;
    ItmFileControl* moved = realloc(file->controls, ((size_t)file->ncontrol + 1) * sizeof *moved);
    char* copy = strdup(name);
    if (moved != NULL) {
        file->controls = moved;
    }
    if (moved == NULL || copy == NULL) {
        free(copy);
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
        return NULL;
    }
    moved[file->ncontrol] = (ItmFileControl){.name = copy};
    return &moved[file->ncontrol++];
}

void itm_read_control(ItmReader* r, const ItmItem* item)
{
    enum { CONTROL_TYPE, STEP, BLOCKS, NCONTROL_KEY };
    static const char* const CONTROL_KEYS[NCONTROL_KEY] = {"type", "step", "blocks"};
    const ItmNode* v[NCONTROL_KEY];
    itm_reader_get_map(r, item->value, "a control", CONTROL_KEYS, NCONTROL_KEY, v);
    itm_reader_require(r, item->key, v[STEP], "a control", "step");
    itm_reader_require(r, item->key, v[BLOCKS], "a control", "blocks");
    ControlReader c = {.r = r,
                       .name = item->key->text,
                       .blocks = v[BLOCKS],
                       .step = itm_reader_get_real(r, v[STEP], ITM_DIM_TIME, 1.0)};
    if (r->status == ITM_OK && !(c.step > 0)) {
        itm_reader_fail(r, v[STEP], "step must be positive, got %g", c.step);
    }
    ItmFileControl* control = r->status == ITM_OK ? add_control(r, c.name) : NULL;
    if (control == NULL) {
        return;
    }
    control->step = c.step;
    const ItmScope scope = itm_reader_get_scope(r);
    r->status = itm_control_builder_create(&c.builder, r->error);
    if (r->status == ITM_OK) {
        r->status = itm_control_builder_set_name(c.builder, c.name, r->error);
    }
    if (r->status == ITM_OK) {
        itm_control_builder_set_scope(c.builder, &scope);
        add_names(&c);
        read_blocks(&c);
    }
    if (r->status == ITM_OK) {
        build(&c, item, control);
    }
    itm_control_builder_destroy(c.builder);
}
