// signals: known functions of time.
#include "io/model/reader.h"

#include "base/error.h"
#include "signal/signal.h"

#include <stdlib.h>

// ---------------------------------------------------------------------------- values with one unit

// The unit that the values of one signal share; the first one with a unit sets it.
static double get_value(ItmReader* r, const ItmNode* node, ItmSignalUnit* unit)
{
    if (node == NULL) {
        return 0.0;
    }
    ItmQuantity value = itm_reader_get_quantity(r, node);
    if (r->status != ITM_OK || value.is_bare) {
        return value.value;
    }
    if (unit->is_bare) {
        *unit = (ItmSignalUnit){.dimension = value.dimension};
    } else if (!itm_quantity_equal_dimensions(unit->dimension, value.dimension)) {
        char want[64], got[64];
        itm_reader_fail(r, node, "the values of a signal have one unit: %s before, %s here",
                        itm_quantity_format_dimension(unit->dimension, want, sizeof want),
                        itm_quantity_format_dimension(value.dimension, got, sizeof got));
    }
    return value.value;
}

// ---------------------------------------------------------------------------- kinds

static void read_ramp(ItmReader* r, const ItmNode* node, ItmSignalDef* def, ItmSignalUnit* unit)
{
    enum { START, END, FROM, TO, SMOOTH, NKEY };
    static const char* const KEYS[NKEY] = {"start", "end", "from", "to", "smooth"};
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, node, "a ramp", KEYS, NKEY, v);
    itm_reader_require(r, node, v[END], "a ramp", "end");
    itm_reader_require(r, node, v[TO], "a ramp", "to");
    def->kind = ITM_SIGNAL_RAMP;
    def->t_start = itm_reader_get_real(r, v[START], ITM_DIM_TIME, 0.0);
    def->t_end = itm_reader_get_real(r, v[END], ITM_DIM_TIME, 0.0);
    def->from = get_value(r, v[FROM], unit);
    def->to = get_value(r, v[TO], unit);
    def->is_smooth = itm_reader_get_bool(r, v[SMOOTH], false);
    if (r->status == ITM_OK && def->t_end <= def->t_start) {
        itm_reader_fail(r, v[END], "the end of a ramp must come after its start (%g s)", def->t_start);
    }
}

static void read_sine(ItmReader* r, const ItmNode* node, ItmSignalDef* def, ItmSignalUnit* unit)
{
    enum { OFFSET, AMPLITUDE, FREQUENCY, PHASE, NKEY };
    static const char* const KEYS[NKEY] = {"offset", "amplitude", "frequency", "phase"};
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, node, "a sine", KEYS, NKEY, v);
    itm_reader_require(r, node, v[AMPLITUDE], "a sine", "amplitude");
    itm_reader_require(r, node, v[FREQUENCY], "a sine", "frequency");
    def->kind = ITM_SIGNAL_SINE;
    def->offset = get_value(r, v[OFFSET], unit);
    def->amplitude = get_value(r, v[AMPLITUDE], unit);
    def->frequency = itm_reader_get_real(r, v[FREQUENCY], ITM_DIM_FREQUENCY, 0.0);
    def->phase = itm_reader_get_real(r, v[PHASE], ITM_DIM_ONE, 0.0);
    if (r->status == ITM_OK && def->frequency < 0) {
        itm_reader_fail(r, v[FREQUENCY], "a frequency must not be negative, got %g Hz", def->frequency);
    }
}

static bool check_list(ItmReader* r, const ItmNode* node, int count)
{
    if (r->status != ITM_OK) {
        return false;
    }
    char found[64];
    if (node->kind != ITM_NODE_LIST) {
        itm_reader_fail(r, node, "expected a list of numbers, found %s",
                        itm_document_describe(node, found, sizeof found));
    } else if (count >= 0 && node->count != count) {
        itm_reader_fail(r, node, "there are %d times but %d values", count, node->count);
    }
    return r->status == ITM_OK;
}

// Points into memory of the document.
static void read_points(ItmReader* r, const ItmNode* times, const ItmNode* values, ItmSignalDef* def,
                        ItmSignalUnit* unit)
{
    if (!check_list(r, times, -1) || !check_list(r, values, times->count)) {
        return;
    }
    int n = times->count;
    double* numbers = itm_document_take(r->doc, 2 * (size_t)n * sizeof *numbers + 1);
    if (numbers == NULL) {
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
        return;
    }
    int i = 0;
    for (const ItmItem* item = times->first; item != NULL && r->status == ITM_OK; item = item->next, i++) {
        numbers[i] = itm_reader_get_real(r, item->value, ITM_DIM_TIME, 0.0);
        if (i > 0 && numbers[i] <= numbers[i - 1]) {
            itm_reader_fail(r, item->value, "times must increase, but %g s follows %g s", numbers[i], numbers[i - 1]);
        }
    }
    for (const ItmItem* item = values->first; item != NULL && r->status == ITM_OK; item = item->next, i++) {
        numbers[i] = get_value(r, item->value, unit);
    }
    def->times = numbers;
    def->values = numbers + n;
    def->npoint = n;
}

static void read_table(ItmReader* r, const ItmNode* node, ItmSignalDef* def, ItmSignalUnit* unit)
{
    enum { TIMES, VALUES, INTERPOLATION, NKEY };
    static const char* const KEYS[NKEY] = {"times", "values", "interpolation"};
    // in the order of ItmInterpolation
    static const char* const WORDS[] = {"linear", "cubic", "smooth"};
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, node, "a table", KEYS, NKEY, v);
    itm_reader_require(r, node, v[TIMES], "a table", "times");
    itm_reader_require(r, node, v[VALUES], "a table", "values");
    def->kind = ITM_SIGNAL_TABLE;
    int word = itm_reader_get_word(r, v[INTERPOLATION], "an interpolation", WORDS, ITM_COUNT(WORDS), 0);
    def->interpolation = word > 0 ? (ItmInterpolation)word : ITM_INTERPOLATE_LINEAR;
    read_points(r, v[TIMES], v[VALUES], def, unit);
}

static void read_piecewise(ItmReader* r, const ItmNode* node, ItmSignalDef* def, ItmSignalUnit* unit)
{
    enum { TIMES, VALUES, NKEY };
    static const char* const KEYS[NKEY] = {"times", "values"};
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, node, "a piecewise signal", KEYS, NKEY, v);
    itm_reader_require(r, node, v[TIMES], "a piecewise signal", "times");
    itm_reader_require(r, node, v[VALUES], "a piecewise signal", "values");
    def->kind = ITM_SIGNAL_PIECEWISE;
    read_points(r, v[TIMES], v[VALUES], def, unit);
}

// `external: 0 N m`, or a mapping: set by the program that runs the model, or by a wire.
static void read_external(ItmReader* r, const ItmNode* node, ItmSignalDef* def, ItmSignalUnit* unit)
{
    enum { START, SMOOTH, NKEY };
    static const char* const KEYS[NKEY] = {"start", "smooth"};
    def->kind = ITM_SIGNAL_EXTERNAL;
    if (node->kind != ITM_NODE_MAP) {
        def->value = get_value(r, node, unit);
        return;
    }
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, node, "an external signal", KEYS, NKEY, v);
    def->value = get_value(r, v[START], unit);
    def->is_smooth = itm_reader_get_bool(r, v[SMOOTH], false);
}

// ---------------------------------------------------------------------------- signals

// Exactly one kind stands in a signal's mapping.
const ItmNode* itm_read_signal(ItmReader* r, const ItmNode* node, ItmSignalDef* def, ItmSignalUnit* unit)
{
    *def = itm_default_signal_def();
    *unit = (ItmSignalUnit){.is_bare = true};
    if (node->kind != ITM_NODE_MAP) {
        def->value = get_value(r, node, unit);
        return node;
    }
    static const char* const KEYS[] = {"ramp", "sine", "table", "piecewise", "csv", "external"};
    static void (*const READERS[])(ItmReader*, const ItmNode*, ItmSignalDef*, ItmSignalUnit*) = {
        read_ramp, read_sine, read_table, read_piecewise, itm_read_recording, read_external};
    const ItmNode* v[ITM_COUNT(KEYS)];
    itm_reader_get_map(r, node, "a signal", KEYS, ITM_COUNT(KEYS), v);
    if (node->count != 1) {
        itm_reader_fail(r, node, "a signal is a number, or one of ramp, sine, table, piecewise, csv or external");
    }
    for (int i = 0; i < ITM_COUNT(KEYS) && r->status == ITM_OK; i++) {
        if (v[i] != NULL) {
            READERS[i](r, v[i], def, unit);
            return v[i];
        }
    }
    return node;
}

static void add_signal(ItmReader* r, const ItmItem* item)
{
    const ItmNode* key = item->key;
    ItmFileSignal* signal = &r->signals[r->nsignal];
    const ItmNode* whole = itm_read_signal(r, item->value, &signal->def, &signal->unit);
    signal->def.name = key->text;
    if (r->status != ITM_OK) {
        return;
    }
    const ItmBlame blames[] = {{"name", key}};
    itm_reader_take(r, itm_model_builder_check_name(ITM_ELEMENT_SIGNAL, key->text, r->error), key, NULL, 0);
    if (r->status == ITM_OK) {
        ItmStatus status = itm_signal_def_check(&signal->def, r->error);
        itm_reader_take(r, status, whole, blames, ITM_COUNT(blames));
    }
    if (r->status == ITM_OK && itm_names_add(&r->signal_names, key->text, key->length, r->nsignal++) == NULL) {
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
}

void itm_read_signals(ItmReader* r, const ItmNode* node)
{
    if (!itm_reader_is_collection(r, node, "signals")) {
        return;
    }
    r->signals = calloc((size_t)node->count + 1, sizeof *r->signals);
    if (r->signals == NULL) {
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
        return;
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        add_signal(r, item);
    }
}
