// Preparing a study: design, reference runs, signals and expressions, signature.
#include "study/study.h"

#include "base/error.h"
#include "base/guard.h"
#include "base/list.h"
#include "base/nearest.h"
#include "interim/file.h"
#include "io/csv.h"
#include "io/text.h"
#include "signal/expression.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- design

static ItmStatus draw(ItmStudy* s, ItmError* error)
{
    if (s->factors.count == 0) {
        return itm_error_set(error, ITM_ERR_INPUT, "itm_study_prepare", NULL, "a study requires at least one factor");
    }
    s->nrun = itm_design_count(s);
    if (s->nrun > ITM_STUDY_MOST_RUNS) {
        s->nrun = 0;
        return itm_error_set(error, ITM_ERR_INPUT, "itm_study_prepare", NULL,
                             "more than %d combinations; use fewer values", ITM_STUDY_MOST_RUNS);
    }
    s->points = itm_owned_take(&s->owned, (size_t)s->nrun * (size_t)s->factors.count, sizeof *s->points);
    return s->points != NULL ? itm_design_draw(s, error) : itm_study_fail_memory(error);
}

// Mark the first run with each word of a factor, or those with its least and its largest number.
static void mark_extremes(const ItmStudy* s, int factor, int* marks)
{
    const ItmStudyFactor* f = &s->factors.items[factor];
    bool is_choice = f->distribution == ITM_DISTRIBUTION_CHOICE;
    int least = 0, most = 0;
    size_t stride = (size_t)s->factors.count;
    const double* column = s->points + factor;
    for (int value = 0; value < f->nvalue && is_choice; value++) {
        int run = 0;
        while (run < s->nrun && column[stride * (size_t)run] != value) {
            run++;
        }
        if (run < s->nrun) {
            marks[run] = 1;
        }
    }
    for (int run = 0; run < s->nrun && !is_choice; run++) {
        least = column[stride * (size_t)run] < column[stride * (size_t)least] ? run : least;
        most = column[stride * (size_t)run] > column[stride * (size_t)most] ? run : most;
    }
    marks[least] = marks[most] = 1;
}

int itm_study_list_probes(const ItmStudy* s, int* runs)
{
    ITM_GUARD(s != NULL && runs != NULL && s->is_prepared, 0);
    int count = 0;
    memset(runs, 0, sizeof *runs * (size_t)s->nrun);
    for (int i = 0; i < s->factors.count; i++) {
        mark_extremes(s, i, runs);
    }
    for (int run = 0; run < s->nrun; run++) {
        if (runs[run] != 0) {
            runs[count++] = run;
        }
    }
    if (s->nreference > 0) {
        runs[count++] = s->nrun;
    }
    return count;
}

// ---------------------------------------------------------------------------- references

// Values that a reference shares with its run, for sorting.
typedef struct Key {
    const double* point;
    const bool* is_shared;  // (nfactor)
    int nfactor, run;
} Key;

static int compare_keys(const void* a, const void* b)
{
    const Key *x = a, *y = b;
    for (int i = 0; i < x->nfactor; i++) {
        if (x->is_shared[i] && x->point[i] != y->point[i]) {
            return x->point[i] < y->point[i] ? -1 : 1;
        }
    }
    return 0;
}

static int compare_keys_and_runs(const void* a, const void* b)
{
    int order = compare_keys(a, b);
    return order != 0 ? order : ((const Key*)a)->run - ((const Key*)b)->run;
}

// Runs that differ only in values which the reference sets share one reference; these are numbered by their first runs.
static void number_references(ItmStudy* s, Key* keys)
{
    qsort(keys, (size_t)s->nrun, sizeof *keys, compare_keys_and_runs);
    for (int i = 0; i < s->nrun; i++) {
        bool is_first = i == 0 || compare_keys(&keys[i - 1], &keys[i]) != 0;
        s->reference_ids[keys[i].run] = is_first ? keys[i].run : s->reference_ids[keys[i - 1].run];
    }
    for (int run = 0; run < s->nrun; run++) {
        int first = s->reference_ids[run];
        if (first == run) {
            s->reference_runs[s->nreference] = run;
            s->reference_ids[run] = s->nreference++;
        } else {
            s->reference_ids[run] = s->reference_ids[first];
        }
    }
}

static ItmStatus make_references(ItmStudy* s, ItmError* error)
{
    if (s->reference.count == 0) {
        return ITM_OK;
    }
    size_t n = (size_t)s->nrun, nfactor = (size_t)s->factors.count;
    bool* is_shared = calloc(nfactor, sizeof *is_shared);
    Key* keys = calloc(n, sizeof *keys);
    s->reference_ids = itm_owned_take(&s->owned, n, sizeof *s->reference_ids);
    s->reference_runs = itm_owned_take(&s->owned, n, sizeof *s->reference_runs);
    bool has_all = is_shared != NULL && keys != NULL && s->reference_ids != NULL && s->reference_runs != NULL;
    for (size_t i = 0; i < nfactor && has_all; i++) {
        is_shared[i] = !itm_study_is_referred(s, &s->factors.items[i]);
    }
    for (int i = 0; i < s->nrun && has_all; i++) {
        keys[i] = (Key){s->points + nfactor * (size_t)i, is_shared, s->factors.count, i};
    }
    if (has_all) {
        number_references(s, keys);
        s->references = calloc((size_t)s->nreference, sizeof *s->references);
    }
    free(is_shared);
    free(keys);
    return has_all && s->references != NULL ? ITM_OK : itm_study_fail_memory(error);
}

// ---------------------------------------------------------------------------- signals

typedef struct Outputs {
    ItmStudy* study;
    const ItmModelFile* file;
    ItmCosim* cosim;
    int count;
} Outputs;

static ItmStatus fail_signal(const Outputs* o, const char* where, const char* name, size_t length, ItmError* error)
{
    ItmNearest nearest = itm_nearest_start(name, length);
    for (int i = 0; i < o->count; i++) {
        itm_nearest_offer(&nearest, itm_cosim_get_output_info(o->cosim, i).name);
    }
    for (int i = 0; i < o->file->nparameter; i++) {
        itm_nearest_offer(&nearest, o->file->parameters[i].name);
    }
    if (nearest.best != NULL) {
        return itm_error_set(error, ITM_ERR_INPUT, "itm_study_prepare", NULL, "%s no signal '%.*s'; did you mean '%s'?",
                             where, (int)length, name, nearest.best);
    }
    return itm_error_set(error, ITM_ERR_INPUT, "itm_study_prepare", NULL,
                         "%s no signal '%.*s'; use the signal names of the results of interim run", where, (int)length,
                         name);
}

// Record an output once: its index among the recorded signals, ITM_NONE without memory.
static int record(ItmStudy* s, ItmOutputInfo info)
{
    int index = itm_study_find_text(&s->signals, info.name, strlen(info.name));
    if (index != ITM_NONE) {
        return index;
    }
    // the unit first: no signal is found without one
    bool is_added = itm_study_add_text(s, &s->signal_units, info.unit, strlen(info.unit)) &&
                    itm_study_add_text(s, &s->signals, info.name, strlen(info.name));
    return is_added ? s->signals.count - 1 : ITM_NONE;
}

static ItmStatus add_response(ItmStudy* s, const char* signal, ItmStatistic statistic, const char* ending,
                              ItmError* error)
{
    size_t size = strlen(signal) + strlen(ending) + 2;
    char* name = itm_owned_take(&s->owned, size, 1);
    if (name == NULL) {
        return itm_study_fail_memory(error);
    }
    snprintf(name, size, "%s.%s", signal, ending);
    ItmStudyResponse response = {
        .name = name, .group = signal, .statistic = statistic, .expression = signal, .from = -INFINITY, .to = INFINITY};
    return ITM_LIST_APPEND(s->responses, response) ? ITM_OK : itm_study_fail_memory(error);
}

static ItmStatus add_signal(ItmStudy* s, const char* name, ItmError* error)
{
    static const struct {
        ItmStatistic statistic;
        const char* ending;
        bool needs_reference;
    } KINDS[] = {{ITM_STATISTIC_RMS_DIFFERENCE, "rms", true},
                 {ITM_STATISTIC_MAX_DIFFERENCE, "max", true},
                 {ITM_STATISTIC_FINAL, "final", false},
                 {ITM_STATISTIC_PEAK, "peak", false}};
    ItmStatus status = ITM_OK;
    bool has_reference = s->reference.count > 0 || s->reference_file != NULL;
    for (int i = 0; i < 4 && status == ITM_OK; i++) {
        if (has_reference || !KINDS[i].needs_reference) {
            status = add_response(s, name, KINDS[i].statistic, KINDS[i].ending, error);
        }
    }
    return status;
}

// Signals of patterns: statistics of each, and the coupling energy errors of all bonds.
static ItmStatus find_signals(Outputs* o, ItmError* error)
{
    ItmStudy* s = o->study;
    ItmStatus status = ITM_OK;
    for (int i = 0; i < s->patterns.count && status == ITM_OK; i++) {
        bool is_matched = false;
        for (int k = 0; k < o->count && status == ITM_OK; k++) {
            ItmOutputInfo info = itm_cosim_get_output_info(o->cosim, k);
            int before = s->signals.count;
            if (fnmatch(s->patterns.items[i], info.name, 0) == 0) {
                is_matched = true;
                int index = record(s, info);
                status = index == ITM_NONE ? itm_study_fail_memory(error)
                         : index >= before ? add_signal(s, s->signals.items[index], error)
                                           : ITM_OK;
            }
        }
        if (status == ITM_OK && !is_matched) {
            status = fail_signal(o, "the results have", s->patterns.items[i], strlen(s->patterns.items[i]), error);
        }
    }
    s->npattern_signal = s->signals.count;
    for (int k = 0; k < o->count && status == ITM_OK && s->path == NULL; k++) {
        ItmOutputInfo info = itm_cosim_get_output_info(o->cosim, k);
        if (fnmatch("*.coupling_error", info.name, 0) == 0) {
            int index = record(s, info);
            status = index == ITM_NONE ? itm_study_fail_memory(error)
                     : index >= s->npattern_signal
                         ? add_response(s, s->signals.items[index], ITM_STATISTIC_FINAL, "final", error)
                         : ITM_OK;  // a pattern has added it
        }
    }
    return status;
}

// Signals to keep of every run.
static ItmStatus find_traces(Outputs* o, ItmError* error)
{
    ItmStudy* s = o->study;
    s->traces = itm_owned_take(&s->owned, (size_t)o->count, sizeof *s->traces);
    for (int i = 0; i < s->trace_patterns.count && s->traces != NULL; i++) {
        bool is_matched = false;
        for (int k = 0; k < o->count; k++) {
            ItmOutputInfo info = itm_cosim_get_output_info(o->cosim, k);
            if (fnmatch(s->trace_patterns.items[i], info.name, 0) != 0) {
                continue;
            }
            is_matched = true;
            int index = record(s, info);
            bool is_known = index == ITM_NONE;
            for (int j = 0; j < s->ntrace; j++) {
                is_known = is_known || s->traces[j] == index;
            }
            if (!is_known) {
                s->traces[s->ntrace++] = index;
            }
        }
        if (!is_matched) {
            return fail_signal(o, "'signals': the results have", s->trace_patterns.items[i],
                               strlen(s->trace_patterns.items[i]), error);
        }
    }
    return s->traces != NULL ? ITM_OK : itm_study_fail_memory(error);
}

// ---------------------------------------------------------------------------- expressions

static bool has_parameter(void* context, const char* name, size_t length)
{
    const Outputs* o = context;
    for (int i = 0; i < o->file->nparameter; i++) {
        if (strlen(o->file->parameters[i].name) == length && memcmp(o->file->parameters[i].name, name, length) == 0) {
            return true;
        }
    }
    return false;
}

static ItmQuantity get_unit(const char* unit)
{
    ItmQuantity quantity = {.value = 1.0, .is_bare = true};
    ItmExpressionError error;
    char text[80];
    snprintf(text, sizeof text, "1 %s", unit);
    if (strcmp(unit, "1") == 0 || unit[0] == '\0' ||
        !itm_expression_compute(&quantity, text, strlen(text), NULL, 0, &error)) {
        return (ItmQuantity){.value = 1.0, .is_bare = true};
    }
    return quantity;
}

// One of the unit of a name, to find the unit of an expression.
static bool find_unit(void* context, const char* name, size_t length, int depth, ItmQuantity* value,
                      ItmExpressionError* error)
{
    (void)depth;
    (void)error;
    const Outputs* o = context;
    int index = itm_study_find_text(&o->study->signals, name, length);
    const char* unit = index != ITM_NONE ? o->study->signal_units.items[index] : "1";
    for (int i = 0; i < o->file->nparameter && index == ITM_NONE; i++) {
        if (strlen(o->file->parameters[i].name) == length && memcmp(o->file->parameters[i].name, name, length) == 0) {
            unit = o->file->parameters[i].unit;
        }
    }
    *value = get_unit(unit);
    return true;
}

static void set_unit(const Outputs* o, ItmStudyResponse* r)
{
    ItmScope scope = {.context = (void*)o, .find = find_unit, .has = has_parameter};
    ItmQuantity quantity;
    ItmExpressionError error;
    int index = itm_study_find_text(&o->study->signals, r->expression, strlen(r->expression));
    if (r->statistic == ITM_STATISTIC_CROSSING || r->statistic == ITM_STATISTIC_EVENTS) {
        snprintf(r->unit, sizeof r->unit, "%s", r->statistic == ITM_STATISTIC_CROSSING ? "s" : "1");
    } else if (index != ITM_NONE) {
        snprintf(r->unit, sizeof r->unit, "%.47s", o->study->signal_units.items[index]);
    } else if (itm_expression_compute(&quantity, r->expression, strlen(r->expression), &scope, 0, &error) &&
               !itm_quantity_equal_dimensions(quantity.dimension, ITM_DIM_ONE)) {
        itm_quantity_format_dimension(quantity.dimension, r->unit, sizeof r->unit);
    }
}

static ItmStatus locate(const ItmStudy* s, const ItmStudyResponse* r, size_t offset, ItmStatus status, ItmError* error)
{
    if (status != ITM_OK && r->line > 0) {
        itm_error_locate(error, s->path, r->line, r->column + (int)offset);
    }
    return status;
}

// An output, or a parameter of the model; parameters are inputs behind all signals, whose number is not known yet.
static ItmStatus resolve_name(Outputs* o, const ItmStudyResponse* r, ItmOp* op, ItmError* error)
{
    ItmStudy* s = o->study;
    const char* name = r->program.text + op->offset;
    size_t length = (size_t)op->length;
    for (int i = 0; i < o->count && op->code == ITM_OP_NAME; i++) {
        ItmOutputInfo info = itm_cosim_get_output_info(o->cosim, i);
        if (strlen(info.name) == length && memcmp(info.name, name, length) == 0) {
            op->code = ITM_OP_INPUT;
            op->index = record(s, info);
            return op->index != ITM_NONE ? ITM_OK : itm_study_fail_memory(error);
        }
    }
    if (op->code == ITM_OP_NAME && has_parameter(o, name, length)) {
        int index = itm_study_find_text(&s->parameters, name, length);
        if (index == ITM_NONE && !itm_study_add_text(s, &s->parameters, name, length)) {
            return itm_study_fail_memory(error);
        }
        op->code = ITM_OP_SIGNAL;
        op->index = index != ITM_NONE ? index : s->parameters.count - 1;
        return ITM_OK;
    }
    return op->code == ITM_OP_NAME
               ? fail_signal(o, "the results have", name, length, error)
               : itm_error_set(error, ITM_ERR_INPUT, "itm_study_prepare", NULL,
                               "rate() is for controls; use the signal of the rate itself, as in hinge.angle_rate");
}

static ItmStatus compile(Outputs* o, ItmStudyResponse* r, ItmError* error)
{
    ItmStudy* s = o->study;
    int index = itm_study_find_text(&s->signals, r->expression, strlen(r->expression));
    ItmScope scope = {.context = o, .find = find_unit, .has = has_parameter};
    ItmExpressionError why = {0};
    for (int i = 0; i < o->count && index == ITM_NONE; i++) {
        ItmOutputInfo info = itm_cosim_get_output_info(o->cosim, i);
        if (strcmp(info.name, r->expression) == 0 && (index = record(s, info)) == ITM_NONE) {
            return itm_study_fail_memory(error);
        }
    }
    // a name alone needs no quotes, whatever characters it has
    ItmStatus status = itm_program_compile(&r->program, index != ITM_NONE ? "0" : r->expression, &scope, &why);
    if (status != ITM_OK) {
        return locate(s, r, why.offset, itm_error_set(error, status, "itm_study_prepare", NULL, "%s", why.message),
                      error);
    }
    if (index != ITM_NONE) {
        r->program.ops[0] = (ItmOp){.code = ITM_OP_INPUT, .index = index};
    }
    for (int i = 0; i < r->program.nop && status == ITM_OK; i++) {
        ItmOp* op = &r->program.ops[i];
        if (op->code == ITM_OP_NAME || op->code == ITM_OP_RATE) {
            size_t offset = (size_t)op->offset;
            status = locate(s, r, offset, resolve_name(o, r, op, error), error);
        }
    }
    return status;
}

static ItmStatus compile_responses(Outputs* o, ItmError* error)
{
    ItmStudy* s = o->study;
    ItmStatus status = ITM_OK;
    for (int i = 0; i < s->responses.count && status == ITM_OK; i++) {
        status = compile(o, &s->responses.items[i], error);
    }
    for (int i = 0; i < s->responses.count && status == ITM_OK; i++) {
        ItmStudyResponse* r = &s->responses.items[i];
        for (int k = 0; k < r->program.nop; k++) {
            if (r->program.ops[k].code == ITM_OP_SIGNAL) {
                r->program.ops[k].code = ITM_OP_INPUT;
                r->program.ops[k].index += s->signals.count;
            }
        }
        set_unit(o, r);
    }
    return status;
}

// ---------------------------------------------------------------------------- model

static ItmStatus read_reference_file(ItmStudy* s, ItmError* error)
{
    ItmTable* table = NULL;
    ItmStatus status = itm_results_read(&table, s->reference_file, error);
    if (status != ITM_OK) {
        return status;
    }
    size_t width = (size_t)s->signals.count + 1;
    s->references = calloc(1, sizeof *s->references);
    double* values = malloc(sizeof *values * width * (size_t)(table->nrow + 1));
    status = s->references != NULL && values != NULL ? ITM_OK : itm_study_fail_memory(error);
    for (size_t k = 0; k < width && status == ITM_OK; k++) {
        int column = k == 0 ? 0 : itm_results_table_find(table, s->signals.items[k - 1]);
        if (column == ITM_NONE && k <= (size_t)s->npattern_signal) {
            const char* name = s->signals.items[k - 1];
            const char* nearest =
                itm_nearest_find(name, strlen(name), (const char* const*)table->names + 1, table->ncolumn - 1);
            status = itm_error_set(
                error, ITM_ERR_INPUT, "itm_study_prepare", NULL, "the reference file has no signal '%s'%s%s%s", name,
                nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
        }
        for (long row = 0; row < table->nrow && status == ITM_OK; row++) {
            values[width * (size_t)row + k] =
                column != ITM_NONE ? itm_results_table_get(table, row, column) : (double)NAN;
        }
    }
    if (status == ITM_OK) {
        s->references[0] = (ItmSamples){.values = values, .nrow = table->nrow};
    } else {
        free(values);
    }
    itm_results_table_destroy(table);
    return status;
}

static ItmStatus make_runs(ItmStudy* s, ItmError* error)
{
    size_t count = (size_t)(s->nrun + s->nreference), nresponse = (size_t)s->responses.count;
    size_t ntrace = (size_t)s->ntrace * (size_t)s->npoint;
    s->runs = itm_owned_take(&s->owned, count, sizeof *s->runs);
    double* responses = itm_owned_take(&s->owned, count * nresponse + 1, sizeof *responses);
    double* traces = itm_owned_take(&s->owned, (size_t)s->nrun * ntrace + 1, sizeof *traces);
    if (s->runs == NULL || responses == NULL || traces == NULL) {
        s->runs = NULL;
        return itm_study_fail_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        s->runs[i].end_time = NAN;
        s->runs[i].responses = responses + i * nresponse;
        s->runs[i].traces = ntrace > 0 && i < (size_t)s->nrun ? traces + i * ntrace : NULL;
        for (size_t k = 0; k < nresponse; k++) {
            s->runs[i].responses[k] = NAN;
        }
        for (size_t k = 0; s->runs[i].traces != NULL && k < ntrace; k++) {
            s->runs[i].traces[k] = NAN;
        }
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- signature

// FNV-1a, 64 bits: detects edited files, not forged ones.
static uint64_t hash_bytes(uint64_t hash, const char* bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
    }
    return hash;
}

static uint64_t hash_file(uint64_t hash, const char* path)
{
    size_t size = 0;
    char* bytes = itm_csv_read_file(path, &size);
    hash = bytes != NULL ? hash_bytes(hash, bytes, size) : hash;
    free(bytes);
    return hash;
}

static void add_list(ItmText* text, const char* key, const ItmStudyTexts* list, int from)
{
    itm_text_format(text, ",\"%s\":[", key);
    for (int i = from; i < list->count; i++) {
        itm_text_add(text, i > from ? "," : "");
        itm_text_add_json(text, list->items[i]);
    }
    itm_text_add(text, "]");
}

static ItmStatus sign(ItmStudy* s, const ItmModelFile* file, ItmError* error)
{
    uint64_t hash = hash_bytes(0xcbf29ce484222325u, s->model_text, s->model_length);
    hash = hash_bytes(hash, s->text, strlen(s->text));
    hash = hash_bytes(hash, (const char*)s->points, sizeof *s->points * (size_t)s->nrun * (size_t)s->factors.count);
    for (int i = 0; i < file->nreference; i++) {
        hash = hash_file(hash, file->references[i].path);
    }
    hash = s->reference_file != NULL ? hash_file(hash, s->reference_file) : hash;
    ItmText text = {0};
    itm_text_add(&text, "{\"interim\":");
    itm_text_add_json(&text, itm_version());
    itm_text_add(&text, ",\"study\":");
    itm_text_add_json(&text, s->path != NULL ? s->path : "");
    itm_text_add(&text, ",\"model\":");
    itm_text_add_json(&text, s->model);
    itm_text_format(&text, ",\"hash\":\"%016llx\",\"runs\":%d", (unsigned long long)hash, s->nrun);
    add_list(&text, "settings", &s->settings, s->settings.count - s->noverride);
    if (s->path == NULL) {
        add_list(&text, "axes", &s->axes, 0);
        add_list(&text, "signals", &s->patterns, 0);
        add_list(&text, "reference", &s->reference, 0);
        itm_text_add(&text, ",\"reference_file\":");
        itm_text_add_json(&text, s->reference_file != NULL ? s->reference_file : "");
    }
    itm_text_add(&text, "}");
    s->signature = !text.has_failed ? itm_owned_copy_string(&s->owned, text.chars) : NULL;
    itm_text_free(&text);
    return s->signature != NULL ? ITM_OK : itm_study_fail_memory(error);
}

// ---------------------------------------------------------------------------- all of it

static bool has_ending(const char* path, const char* ending)
{
    size_t n = strlen(path), k = strlen(ending);
    return n > k && strcmp(path + n - k, ending) == 0;
}

// The text of the model, parsed once for all children; other formats are read by each.
static ItmStatus read_model(ItmStudy* s, ItmError* error)
{
    size_t size = 0;
    char* text = itm_csv_read_file(s->model, &size);
    if (text == NULL) {
        ItmStatus status =
            itm_error_set(error, ITM_ERR_IO, "itm_study_prepare", NULL, "cannot read it: %s", strerror(errno));
        itm_error_locate(error, s->model, 0, 0);
        return status;
    }
    s->model_text = itm_study_copy_text(s, text, size);
    s->model_length = size;
    free(text);
    if (s->model_text == NULL) {
        return itm_study_fail_memory(error);
    }
    if (has_ending(s->model, ".ssp") || has_ending(s->model, ".ssd") || has_ending(s->model, ".urdf")) {
        return ITM_OK;
    }
    ItmStatus status = itm_yaml_parse(&s->document.root, &s->document, s->model_text, size, s->model, 1, error);
    s->has_document = status == ITM_OK;
    return status;
}

static ItmStatus look_at_model(ItmStudy* s, ItmError* error)
{
    ItmOwned owned = {0};
    ItmStudyTexts settings = {0};
    ItmModelFile* file = NULL;
    ItmCosim* cosim = NULL;
    ItmStatus status = itm_study_collect_settings(s, 0, &owned, &settings);
    status = status == ITM_OK ? itm_file_load_below(&file, s->model, s->root, settings.items, settings.count, error)
                              : itm_study_fail_memory(error);
    status = status == ITM_OK ? itm_file_create_cosim(&cosim, file, NULL, error) : status;
    if (status != ITM_OK && error != NULL) {
        itm_study_name_origin(s, error);
    }
    if (status == ITM_OK) {
        Outputs o = {.study = s, .file = file, .cosim = cosim, .count = itm_cosim_get_output_count(cosim)};
        s->duration = file->run.duration;
        const char* title = s->title[0] == '\0' ? itm_study_copy_text(s, file->title, strlen(file->title)) : s->title;
        s->title = title != NULL ? title : "";
        status = find_signals(&o, error);
        status = status == ITM_OK ? compile_responses(&o, error) : status;
        status = status == ITM_OK ? find_traces(&o, error) : status;
        status = status == ITM_OK && s->reference_file != NULL ? read_reference_file(s, error) : status;
        status = status == ITM_OK ? sign(s, file, error) : status;
    }
    itm_cosim_destroy(cosim);
    itm_file_destroy(file);
    free(settings.items);
    itm_owned_free(&owned);
    return status;
}

ItmStatus itm_study_prepare(ItmStudy* s, ItmError* error)
{
    ITM_GUARD(s != NULL && !s->is_prepared, ITM_ERR_ARGUMENT);
    ItmStatus status = draw(s, error);
    status = status == ITM_OK ? make_references(s, error) : status;
    status = status == ITM_OK ? read_model(s, error) : status;
    status = status == ITM_OK ? look_at_model(s, error) : status;
    status = status == ITM_OK ? make_runs(s, error) : status;
    s->is_prepared = status == ITM_OK;
    return status;
}
