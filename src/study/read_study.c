// Study files: YAML in, definition of a study out.  docs/reference/study-file.md
#include "study/study.h"

#include "base/error.h"
#include "base/guard.h"
#include "base/list.h"
#include "io/csv.h"
#include "io/model/reader.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_VALUES 100000

// ---------------------------------------------------------------------------- quantities

static void fail_memory(ItmReader* r)
{
    if (r->status == ITM_OK) {
        r->status = itm_study_fail_memory(r->error);
    }
}

// The unit of a factor is that of the first of its numbers that has one.
static void note_unit(ItmReader* r, ItmStudyFactor* f, ItmQuantity* common, const ItmNode* node, ItmQuantity quantity)
{
    if (r->status != ITM_OK || quantity.is_bare) {
        return;
    }
    if (common->is_bare) {
        *common = quantity;
        bool is_one = itm_quantity_equal_dimensions(quantity.dimension, ITM_DIM_ONE);
        snprintf(f->unit, sizeof f->unit, "1");
        if (!is_one) {
            itm_quantity_format_dimension(quantity.dimension, f->unit, sizeof f->unit);
        }
    } else if (!itm_quantity_equal_dimensions(common->dimension, quantity.dimension)) {
        char a[64], b[64];
        itm_reader_fail(r, node, "the numbers of a factor have one dimension: %s here, %s before",
                        itm_quantity_format_dimension(quantity.dimension, a, sizeof a),
                        itm_quantity_format_dimension(common->dimension, b, sizeof b));
    }
}

static double read_number(ItmReader* r, ItmStudyFactor* f, ItmQuantity* common, const ItmNode* node, double absent)
{
    if (node == NULL || r->status != ITM_OK) {
        return absent;
    }
    ItmQuantity quantity = itm_reader_get_quantity(r, node);
    note_unit(r, f, common, node, quantity);
    return quantity.value;
}

// ---------------------------------------------------------------------------- lists of values

static int compare_reals(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double* read_weights(ItmReader* r, const ItmNode* node, const ItmNode* values)
{
    if (node == NULL || r->status != ITM_OK) {
        return NULL;
    }
    if (node->kind != ITM_NODE_LIST || node->count != values->count) {
        itm_reader_fail(r, node, "expected a list of %d weights, one per value", values->count);
        return NULL;
    }
    double* weights = itm_reader_take_array(r, node->count, sizeof *weights);
    double sum = 0.0;
    int i = 0;
    for (const ItmItem* item = node->first; item != NULL && weights != NULL; item = item->next, i++) {
        weights[i] = itm_reader_get_real(r, item->value, ITM_DIM_ONE, 0.0);
        sum += weights[i];
        if (!(weights[i] >= 0.0)) {
            itm_reader_fail(r, item->value, "a weight must not be negative, got %g", weights[i]);
        }
    }
    if (!(sum > 0.0)) {
        itm_reader_fail(r, node, "at least one weight must be positive");
    }
    return weights;
}

static void read_choice(ItmReader* r, ItmStudy* s, ItmStudyFactor* f, const ItmNode* values, const ItmNode* weights)
{
    if (values->kind == ITM_NODE_SCALAR) {
        ItmStatus status = itm_values_read(s, f, values->text, r->error);
        itm_reader_take(r, status, values, NULL, 0);
        return;
    }
    const char** texts = itm_reader_take_array(r, values->count, sizeof *texts);
    int count = 0;
    for (const ItmItem* item = values->first; item != NULL && texts != NULL; item = item->next) {
        const char* text = itm_reader_get_text(r, item->value, "a value; write a list or mapping in quotes");
        texts[count++] = text != NULL ? itm_study_copy_text(s, text, strlen(text)) : NULL;
    }
    double* shares = read_weights(r, weights, values);
    if (r->status == ITM_OK) {
        itm_reader_take(r, itm_values_set(s, f, texts, count, shares, r->error), values, NULL, 0);
    }
    free(shares);
    free(texts);
}

// Number of the column with this name in the head of a CSV file, ITM_NONE: there is none. *ncolumn: their number.
static int find_column(ItmCsv* csv, const char* name, int* ncolumn)
{
    int found = ITM_NONE;
    bool has_next = true;
    for (*ncolumn = 0; has_next; ++*ncolumn) {
        size_t length = 0;
        const char* field = itm_csv_take_field(csv, &length);
        found = length == strlen(name) && memcmp(field, name, length) == 0 ? *ncolumn : found;
        has_next = itm_csv_take_separator(csv);
    }
    csv->line++;
    return found;
}

// The numbers of a column below its head.
static ItmStatus take_column(ItmCsv* csv, ItmStudy* s, ItmStudyFactor* f, int column, int ncolumn, double factor,
                             ItmError* error)
{
    struct {
        double* items;
        int count, capacity;
    } list = {0};
    ItmStatus status = ITM_OK;
    while (*csv->at != '\0' && status == ITM_OK) {
        for (int i = 0; i < ncolumn && status == ITM_OK; i++) {
            double value = 0.0;
            size_t length;
            if (i == column) {
                status = itm_csv_take_number(csv, &value, i + 1, error);
            } else {
                (void)itm_csv_take_field(csv, &length);
            }
            if (i == column && status == ITM_OK && !ITM_LIST_APPEND(list, factor * value)) {
                status = itm_study_fail_memory(error);
            }
            bool has_next = itm_csv_take_separator(csv);
            if (status == ITM_OK && has_next != (i + 1 < ncolumn)) {
                status = itm_csv_fail(csv, i + 1, error, "the row has not as many fields as the head");
            }
        }
        csv->line++;
    }
    f->numbers = status == ITM_OK ? itm_owned_take(&s->owned, (size_t)list.count + 1, sizeof *f->numbers) : NULL;
    if (f->numbers != NULL) {
        memcpy(f->numbers, list.items, sizeof *f->numbers * (size_t)list.count);
        f->nvalue = list.count;
    } else if (status == ITM_OK) {
        status = itm_study_fail_memory(error);
    }
    free(list.items);
    return status;
}

// A column of a CSV file beside the study file, in SI units or in `unit`.
static void read_column(ItmReader* r, ItmStudy* s, ItmStudyFactor* f, const ItmNode* file, const ItmNode* column,
                        double factor)
{
    const char *name = itm_reader_get_text(r, file, "a file name"), *head = itm_reader_get_text(r, column, "a column");
    char* path = name != NULL && head != NULL ? itm_reader_make_path(r, name) : NULL;
    size_t size = 0;
    if (path == NULL) {
        return;
    }
    char* text = itm_csv_read_file(path, &size);
    if (text == NULL) {
        itm_reader_fail(r, file, "cannot read '%s': %s", path, strerror(errno));
    } else {
        ItmCsv csv = {.path = path, .at = text, .line = 1};
        int ncolumn, at = find_column(&csv, head, &ncolumn);
        if (at == ITM_NONE) {
            itm_reader_fail(r, column, "'%s' has no column '%s'", name, head);
        } else {
            r->status = take_column(&csv, s, f, at, ncolumn, factor, r->error);
        }
    }
    if (r->status == ITM_OK && f->nvalue < 2) {
        itm_reader_fail(r, file, "a table requires at least 2 values, the file has %d", f->nvalue);
    }
    free(text);
    free(path);
}

static void read_table(ItmReader* r, ItmStudy* s, ItmStudyFactor* f, const ItmNode* values)
{
    ItmQuantity common = {.is_bare = true};
    if (values->kind != ITM_NODE_LIST || values->count < 2 || values->count > MOST_VALUES) {
        itm_reader_fail(r, values, "expected a list of at least 2 measured values");
        return;
    }
    f->numbers = itm_owned_take(&s->owned, (size_t)values->count, sizeof *f->numbers);
    if (f->numbers == NULL) {
        fail_memory(r);
        return;
    }
    for (const ItmItem* item = values->first; item != NULL; item = item->next) {
        f->numbers[f->nvalue++] = read_number(r, f, &common, item->value, 0.0);
    }
}

// ---------------------------------------------------------------------------- factors

enum {
    KEY,
    DISTRIBUTION,
    FROM,
    TO,
    MEAN,
    STD,
    MODE,
    VALUES,
    WEIGHTS,
    FILE_NAME,
    COLUMN,
    UNIT,
    NOMINAL,
    LEVELS,
    NFACTOR_KEY
};

static void check_order(ItmReader* r, const ItmNode* node, double low, double high)
{
    if (r->status == ITM_OK && !(low < high)) {
        itm_reader_fail(r, node, "'from' must be less than 'to'");
    }
}

static void require(ItmReader* r, const ItmNode* map, const ItmNode* const* v, const char* const* keys,
                    const int* wanted, int count)
{
    for (int i = 0; i < count; i++) {
        itm_reader_require(r, map, v[wanted[i]], "a factor of this distribution", keys[wanted[i]]);
    }
}

// Keys that the distribution does not use are mistakes.
static void refuse_others(ItmReader* r, const ItmNode* const* v, const char* const* keys, ItmDistribution distribution)
{
    static const unsigned USED[ITM_DISTRIBUTION_COUNT] = {
        [ITM_DISTRIBUTION_UNIFORM] = 1u << FROM | 1u << TO | 1u << NOMINAL | 1u << LEVELS,
        [ITM_DISTRIBUTION_NORMAL] = 1u << MEAN | 1u << STD | 1u << FROM | 1u << TO | 1u << NOMINAL | 1u << LEVELS,
        [ITM_DISTRIBUTION_TRIANGULAR] = 1u << FROM | 1u << TO | 1u << MODE | 1u << NOMINAL | 1u << LEVELS,
        [ITM_DISTRIBUTION_CHOICE] = 1u << VALUES | 1u << WEIGHTS | 1u << NOMINAL,
        [ITM_DISTRIBUTION_TABLE] = 1u << VALUES | 1u << FILE_NAME | 1u << COLUMN | 1u << UNIT | 1u << NOMINAL};
    static const char* const NAMES[ITM_DISTRIBUTION_COUNT] = {"uniform", "normal", "triangular", "choice", "table"};
    for (int i = FROM; i < NFACTOR_KEY; i++) {
        if (v[i] != NULL && (USED[distribution] >> i & 1u) == 0) {
            itm_reader_fail(r, v[i], "a factor of distribution %s has no '%s'", NAMES[distribution], keys[i]);
        }
    }
}

static void read_numbers(ItmReader* r, ItmStudyFactor* f, const ItmNode* map, const ItmNode* const* v,
                         const char* const* keys)
{
    static const int BOUNDS[] = {FROM, TO}, NORMAL[] = {MEAN, STD}, TRIANGLE[] = {FROM, MODE, TO};
    ItmQuantity common = {.is_bare = true};
    bool is_normal = f->distribution == ITM_DISTRIBUTION_NORMAL;
    if (is_normal) {
        require(r, map, v, keys, NORMAL, 2);
    } else if (f->distribution == ITM_DISTRIBUTION_TRIANGULAR) {
        require(r, map, v, keys, TRIANGLE, 3);
    } else {
        require(r, map, v, keys, BOUNDS, 2);
    }
    f->low = read_number(r, f, &common, v[FROM], -INFINITY);
    f->high = read_number(r, f, &common, v[TO], INFINITY);
    f->mean = read_number(r, f, &common, v[MEAN], 0.0);
    f->deviation = read_number(r, f, &common, v[STD], 0.0);
    f->mode = read_number(r, f, &common, v[MODE], 0.0);
    f->nominal = read_number(r, f, &common, v[NOMINAL], NAN);
    check_order(r, v[TO] != NULL ? v[TO] : map, f->low, f->high);
    if (is_normal && r->status == ITM_OK && !(f->deviation > 0.0)) {
        itm_reader_fail(r, v[STD], "'std' must be positive, got %g", f->deviation);
    }
    if (f->distribution == ITM_DISTRIBUTION_TRIANGULAR && r->status == ITM_OK &&
        !(f->mode >= f->low && f->mode <= f->high)) {
        itm_reader_fail(r, v[MODE], "'mode' must lie between 'from' and 'to'");
    }
}

static void read_list(ItmReader* r, ItmStudy* s, ItmStudyFactor* f, const ItmNode* map, const ItmNode* const* v)
{
    bool is_choice = f->distribution == ITM_DISTRIBUTION_CHOICE;
    double factor = 1.0;
    if (is_choice || v[FILE_NAME] == NULL) {
        itm_reader_require(r, map, v[VALUES], "a factor of this distribution", "values");
    } else {
        itm_reader_require(r, map, v[COLUMN], "a table in a file", "column");
        if (v[UNIT] != NULL) {
            const char* unit = itm_reader_get_text(r, v[UNIT], "a unit");
            char text[64];
            snprintf(text, sizeof text, "1 %.50s", unit != NULL ? unit : "");
            if (itm_expression_evaluate(text, &factor, f->unit, sizeof f->unit, NULL) != ITM_OK) {
                itm_reader_fail(r, v[UNIT], "'%.40s' is no unit", unit != NULL ? unit : "");
            }
        }
    }
    if (r->status != ITM_OK) {
        return;
    }
    if (is_choice) {
        read_choice(r, s, f, v[VALUES], v[WEIGHTS]);
    } else if (v[FILE_NAME] != NULL) {
        read_column(r, s, f, v[FILE_NAME], v[COLUMN], factor);
    } else {
        read_table(r, s, f, v[VALUES]);
    }
    if (!is_choice && r->status == ITM_OK) {
        qsort(f->numbers, (size_t)f->nvalue, sizeof *f->numbers, compare_reals);
    }
    if (v[NOMINAL] != NULL && is_choice && r->status == ITM_OK) {
        const char* text = itm_reader_get_text(r, v[NOMINAL], "a value");
        f->nominal = NAN;
        for (int i = 0; i < f->nvalue && text != NULL; i++) {
            f->nominal = strcmp(f->texts[i], text) == 0 ? i : f->nominal;
        }
        if (isnan(f->nominal)) {
            itm_reader_fail(r, v[NOMINAL], "'nominal' must be one of the values");
        }
    } else if (v[NOMINAL] != NULL && r->status == ITM_OK) {
        f->nominal = itm_reader_get_quantity(r, v[NOMINAL]).value;
    }
}

static void read_factor(ItmReader* r, ItmStudy* s, const ItmItem* item)
{
    static const char* const KEYS[NFACTOR_KEY] = {"key",    "distribution", "from",    "to",      "mean",
                                                  "std",    "mode",         "values",  "weights", "file",
                                                  "column", "unit",         "nominal", "levels"};
    static const char* const NAMES[] = {"uniform", "normal", "triangular", "choice", "table"};
    const ItmNode* v[NFACTOR_KEY];
    ItmStudyFactor f = {.nominal = NAN, .line = item->key->line, .column = item->key->column};
    itm_reader_get_map(r, item->value, "a factor", KEYS, NFACTOR_KEY, v);
    if (r->status != ITM_OK) {
        return;
    }
    const char* key = v[KEY] != NULL ? itm_reader_get_text(r, v[KEY], "a key of the model file") : item->key->text;
    // a list of values alone is a choice
    int kind = itm_reader_get_word(r, v[DISTRIBUTION], "a distribution", NAMES, ITM_DISTRIBUTION_COUNT,
                                   v[VALUES] != NULL ? ITM_DISTRIBUTION_CHOICE : ITM_DISTRIBUTION_UNIFORM);
    if (r->status != ITM_OK) {
        return;
    }
    f.distribution = (ItmDistribution)kind;
    f.name = itm_study_copy_text(s, item->key->text, item->key->length);
    size_t length = strlen(key) + 12;
    char* full = itm_owned_take(&s->owned, length, 1);
    if (f.name == NULL || full == NULL) {
        fail_memory(r);
        return;
    }
    snprintf(full, length, "%s%s", strchr(key, '.') == NULL ? "parameters." : "", key);
    f.key = full;
    refuse_others(r, v, KEYS, f.distribution);
    f.nlevel = v[LEVELS] != NULL ? itm_reader_get_int(r, v[LEVELS], 1, 10000, 1) : 0;
    if (f.distribution == ITM_DISTRIBUTION_CHOICE || f.distribution == ITM_DISTRIBUTION_TABLE) {
        read_list(r, s, &f, item->value, v);
    } else {
        read_numbers(r, &f, item->value, v, KEYS);
    }
    if (r->status == ITM_OK && !ITM_LIST_APPEND(s->factors, f)) {
        fail_memory(r);
    }
}

// ---------------------------------------------------------------------------- design

static void read_design(ItmReader* r, ItmStudy* s, const ItmNode* node)
{
    enum { TYPE, RUNS, SAMPLES, SEED, DESIGN_LEVELS, NKEY };
    static const char* const KEYS[NKEY] = {"type", "runs", "samples", "seed", "levels"};
    const char* types[ITM_DESIGN_COUNT];
    const ItmNode* v[NKEY];
    for (int i = 0; i < ITM_DESIGN_COUNT; i++) {
        types[i] = itm_design_type_name((ItmDesignType)i);
    }
    itm_reader_get_map(r, node, "a design", KEYS, NKEY, v);
    if (r->status != ITM_OK) {
        return;
    }
    itm_reader_require(r, node, v[TYPE], "a design", "type");
    int type = itm_reader_get_word(r, v[TYPE], "a type of design", types, ITM_DESIGN_COUNT, 0);
    if (r->status != ITM_OK) {
        return;
    }
    bool has_levels = type == ITM_DESIGN_GRID || type == ITM_DESIGN_ONE_AT_A_TIME;
    bool has_samples = type == ITM_DESIGN_SOBOL_INDICES;
    if (has_levels && (v[RUNS] != NULL || v[SEED] != NULL || v[SAMPLES] != NULL)) {
        itm_reader_fail(r,
                        v[RUNS] != NULL   ? v[RUNS]
                        : v[SEED] != NULL ? v[SEED]
                                          : v[SAMPLES],
                        "a design of type %s has 'levels' only: its runs follow from them", types[type]);
    } else if (!has_levels && v[DESIGN_LEVELS] != NULL) {
        itm_reader_fail(r, v[DESIGN_LEVELS], "a design of type %s has no 'levels'", types[type]);
    } else if (has_samples && v[RUNS] != NULL) {
        itm_reader_fail(r, v[RUNS],
                        "a design of type sobol-indices has 'samples': it takes samples x (factors + 2) runs");
    } else if (!has_levels && !has_samples) {
        if (v[SAMPLES] != NULL) {
            itm_reader_fail(r, v[SAMPLES], "a design of type %s has 'runs'", types[type]);
        }
        itm_reader_require(r, node, v[RUNS], "this design", "runs");
    } else if (has_samples) {
        itm_reader_require(r, node, v[SAMPLES], "this design", "samples");
    }
    s->design = (ItmStudyDesign){
        .type = (ItmDesignType)type,
        .nsample = itm_reader_get_int(r, has_samples ? v[SAMPLES] : v[RUNS], 1, ITM_STUDY_MOST_RUNS, 1),
        .nlevel = itm_reader_get_int(r, v[DESIGN_LEVELS], 1, 10000, 3),
        .seed = itm_reader_get_int(r, v[SEED], 0, 2147483647, 1)};
}

// ---------------------------------------------------------------------------- responses

enum { RESPONSE_FROM = ITM_STATISTIC_COUNT, RESPONSE_TO, LEVEL, DIRECTION, BAND, NRESPONSE_KEY };

// The one statistic that a response has, ITM_NONE after a complaint.
static int find_statistic(ItmReader* r, const ItmNode* map, const ItmNode* const* v)
{
    int found = ITM_NONE;
    for (int i = 0; i < ITM_STATISTIC_COUNT; i++) {
        if (v[i] != NULL && found != ITM_NONE) {
            itm_reader_fail(r, v[i], "a response has one statistic; '%s' is there already",
                            itm_response_statistic_name((ItmStatistic)found));
        }
        found = v[i] != NULL ? i : found;
    }
    if (found == ITM_NONE) {
        itm_reader_fail(r, map, "a response requires a statistic of an expression, as in 'peak: rod.force.x'");
    }
    return r->status == ITM_OK ? found : ITM_NONE;
}

static void read_crossing(ItmReader* r, ItmStudyResponse* response, const ItmNode* map, const ItmNode* const* v)
{
    static const char* const DIRECTIONS[] = {"falling", "both", "rising"};
    bool is_crossing = response->statistic == ITM_STATISTIC_CROSSING || response->statistic == ITM_STATISTIC_EVENTS;
    for (int i = LEVEL; i <= BAND && !is_crossing; i++) {
        if (v[i] != NULL) {
            itm_reader_fail(r, v[i], "'level', 'direction' and 'band' belong to 'crossing' and 'events'");
        }
    }
    if (is_crossing) {
        itm_reader_require(r, map, v[LEVEL], "a crossing", "level");
    }
    response->level = v[LEVEL] != NULL ? itm_reader_get_quantity(r, v[LEVEL]).value : 0.0;
    response->band = v[BAND] != NULL ? itm_reader_get_quantity(r, v[BAND]).value : 0.0;
    response->direction = itm_reader_get_word(r, v[DIRECTION], "a direction", DIRECTIONS, 3, 1) - 1;
    if (r->status == ITM_OK && response->band < 0.0) {
        itm_reader_fail(r, v[BAND], "'band' must not be negative");
    }
}

static void read_response(ItmReader* r, ItmStudy* s, const ItmItem* item)
{
    const char* keys[NRESPONSE_KEY] = {
        [RESPONSE_FROM] = "from", [RESPONSE_TO] = "to", [LEVEL] = "level", [DIRECTION] = "direction", [BAND] = "band"};
    const ItmNode* v[NRESPONSE_KEY];
    for (int i = 0; i < ITM_STATISTIC_COUNT; i++) {
        keys[i] = itm_response_statistic_name((ItmStatistic)i);
    }
    itm_reader_get_map(r, item->value, "a response", keys, NRESPONSE_KEY, v);
    int statistic = r->status == ITM_OK ? find_statistic(r, item->value, v) : ITM_NONE;
    if (statistic == ITM_NONE) {
        return;
    }
    const char* text = itm_reader_get_text(r, v[statistic], "an expression of signals");
    ItmStudyResponse response = {.statistic = (ItmStatistic)statistic,
                                 .from = itm_reader_get_real(r, v[RESPONSE_FROM], ITM_DIM_TIME, -INFINITY),
                                 .to = itm_reader_get_real(r, v[RESPONSE_TO], ITM_DIM_TIME, INFINITY),
                                 .line = v[statistic]->line,
                                 .column = v[statistic]->column};
    read_crossing(r, &response, item->value, v);
    check_order(r, v[RESPONSE_TO] != NULL ? v[RESPONSE_TO] : item->value, response.from, response.to);
    if (r->status != ITM_OK) {
        return;
    }
    response.name = itm_study_copy_text(s, item->key->text, item->key->length);
    response.expression = itm_study_copy_text(s, text, strlen(text));
    if (response.name == NULL || response.expression == NULL || !ITM_LIST_APPEND(s->responses, response)) {
        fail_memory(r);
    }
}

// ---------------------------------------------------------------------------- the file

// "key: value" of the model as "key=value"
static void read_settings(ItmReader* r, ItmStudy* s, const ItmNode* node, ItmStudyTexts* texts)
{
    if (!itm_reader_is_collection(r, node, "keys of the model file")) {
        return;
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        const char* value = itm_reader_get_text(r, item->value, "a value; write a list or mapping in quotes");
        size_t size = item->key->length + (value != NULL ? strlen(value) : 0) + 2;
        char* text = itm_owned_take(&s->owned, size, 1);
        if (text == NULL) {
            fail_memory(r);
            return;
        }
        snprintf(text, size, "%s=%s", item->key->text, value != NULL ? value : "");
        if (r->status == ITM_OK && !ITM_LIST_APPEND(*texts, text)) {
            fail_memory(r);
        }
    }
}

static void read_signals(ItmReader* r, ItmStudy* s, const ItmNode* node)
{
    enum { NAMES, POINTS, NKEY };
    static const char* const KEYS[NKEY] = {"names", "points"};
    const ItmNode* v[NKEY] = {node, NULL};
    if (node != NULL && node->kind == ITM_NODE_MAP) {
        itm_reader_get_map(r, node, "signals", KEYS, NKEY, v);
        itm_reader_require(r, node, v[NAMES], "signals", "names");
    }
    s->npoint = itm_reader_get_int(r, v[POINTS], 2, 10000, 200);
    if (r->status != ITM_OK || v[NAMES] == NULL) {
        return;
    }
    if (v[NAMES]->kind != ITM_NODE_LIST) {
        itm_reader_fail(r, v[NAMES], "expected a list of signals, as in [rod.position.x, 'rod.force.*']");
        return;
    }
    for (const ItmItem* item = v[NAMES]->first; item != NULL && r->status == ITM_OK; item = item->next) {
        const char* name = itm_reader_get_text(r, item->value, "the name of a signal");
        if (name != NULL && !itm_study_add_text(s, &s->trace_patterns, name, strlen(name))) {
            fail_memory(r);
        }
    }
}

static void read_collection(ItmReader* r, ItmStudy* s, const ItmNode* node, const char* what,
                            void (*read)(ItmReader*, ItmStudy*, const ItmItem*))
{
    if (!itm_reader_is_collection(r, node, what)) {
        return;
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        read(r, s, item);
    }
}

static void read_model_path(ItmReader* r, ItmStudy* s, const ItmNode* root, const ItmNode* node)
{
    itm_reader_require(r, root, node, "a study", "model");
    const char* name = itm_reader_get_text(r, node, "a model file");
    char* path = name != NULL ? itm_reader_make_path(r, name) : NULL;
    if (path != NULL) {
        s->model = itm_owned_copy_string(&s->owned, path);
        free(path);
    }
    if (r->status == ITM_OK && s->model == NULL) {
        fail_memory(r);
    }
}

static void check_differences(ItmReader* r, const ItmStudy* s, const ItmNode* responses)
{
    for (int i = 0; i < s->responses.count && s->reference.count == 0 && r->status == ITM_OK; i++) {
        ItmStatistic statistic = s->responses.items[i].statistic;
        if (statistic == ITM_STATISTIC_RMS_DIFFERENCE || statistic == ITM_STATISTIC_MAX_DIFFERENCE) {
            itm_reader_fail(r, responses, "response '%s' is a difference from a reference run; add 'reference'",
                            s->responses.items[i].name);
        }
    }
}

static void read_root(ItmReader* r, ItmStudy* s, const ItmNode* root)
{
    enum { VERSION, TITLE, MODEL, SET, FACTORS, DESIGN, RESPONSES, REFERENCE, SIGNALS, JOBS, TIMEOUT, NKEY };
    static const char* const KEYS[NKEY] = {"interim",   "title",     "model",   "set",  "factors", "design",
                                           "responses", "reference", "signals", "jobs", "timeout"};
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, root, "a study", KEYS, NKEY, v);
    if (r->status != ITM_OK) {
        return;
    }
    double version = itm_reader_get_real(r, v[VERSION], ITM_DIM_ONE, 1.0);
    if (r->status == ITM_OK && version != 1.0) {
        itm_reader_fail(r, v[VERSION], "this version of Interim reads format 1, not %g", version);
    }
    const char* title = itm_reader_get_text(r, v[TITLE], "a title");
    s->title = title != NULL ? itm_study_copy_text(s, title, strlen(title)) : s->title;
    read_model_path(r, s, root, v[MODEL]);
    itm_reader_require(r, root, v[FACTORS], "a study", "factors");
    itm_reader_require(r, root, v[DESIGN], "a study", "design");
    itm_reader_require(r, root, v[RESPONSES], "a study", "responses");
    read_settings(r, s, v[SET], &s->settings);
    read_collection(r, s, v[FACTORS], "factors", read_factor);
    read_design(r, s, v[DESIGN]);
    read_collection(r, s, v[RESPONSES], "responses", read_response);
    read_settings(r, s, v[REFERENCE], &s->reference);
    read_signals(r, s, v[SIGNALS]);
    check_differences(r, s, v[RESPONSES]);
    s->njob = v[JOBS] != NULL ? itm_reader_get_int(r, v[JOBS], 1, 1024, 1) : 0;
    s->timeout = itm_reader_get_real(r, v[TIMEOUT], ITM_DIM_TIME, INFINITY);
    if (r->status == ITM_OK && !(s->timeout > 0.0)) {
        itm_reader_fail(r, v[TIMEOUT], "'timeout' must be positive");
    }
    if (r->status == ITM_OK && itm_design_count(s) > ITM_STUDY_MOST_RUNS) {
        itm_reader_fail(r, v[DESIGN], "the design has more than %d runs", ITM_STUDY_MOST_RUNS);
    }
    if (r->status == ITM_OK && (s->factors.count == 0 || s->responses.count == 0)) {
        itm_reader_fail(r, s->factors.count == 0 ? v[FACTORS] : v[RESPONSES], "expected at least one");
    }
}

static ItmStatus read_text(ItmStudy* s, const char* path, ItmError* error)
{
    size_t size = 0;
    char* text = itm_csv_read_file(path, &size);
    if (text == NULL) {
        ItmStatus status =
            itm_error_set(error, ITM_ERR_IO, "itm_study_load", NULL, "cannot read it: %s", strerror(errno));
        itm_error_locate(error, path, 0, 0);
        return status;
    }
    s->path = itm_owned_copy_string(&s->owned, path);
    char* copy = itm_study_copy_text(s, text, size);
    free(text);
    if (s->path == NULL || copy == NULL) {
        return itm_study_fail_memory(error);
    }
    s->text = copy;
    ItmDocument doc = {0};
    ItmModelFile file = {0};  // the reader keeps the names of files there
    ItmStatus status = itm_yaml_parse(&doc.root, &doc, copy, size, s->path, 1, error);
    if (status == ITM_OK) {
        ItmReader r = {.doc = &doc, .error = error, .path = s->path, .root = s->root, .file = &file};
        read_root(&r, s, doc.root);
        status = r.status;
    }
    itm_file_clear(&file);
    itm_document_free(&doc);
    return status;
}

ItmStatus itm_study_load(ItmStudy** study, const char* path, const char* root, const char* const* overrides,
                         int noverride, ItmError* error)
{
    ITM_GUARD(study != NULL && path != NULL && (overrides != NULL || noverride <= 0), ITM_ERR_ARGUMENT);
    ItmStatus status = itm_study_create(study, path, root, NULL, 0, error);
    if (status != ITM_OK) {
        return status;
    }
    ItmStudy* s = *study;
    status = read_text(s, path, error);
    for (int i = 0; i < noverride && status == ITM_OK; i++) {
        status = itm_study_add_text(s, &s->settings, overrides[i], strlen(overrides[i])) ? ITM_OK
                                                                                         : itm_study_fail_memory(error);
        s->noverride++;
    }
    if (status != ITM_OK) {
        itm_study_destroy(s);
        *study = NULL;
    }
    return status;
}
