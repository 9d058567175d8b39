#include "interim/report.h"

#include "base/error.h"
#include "io/results/record.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libfyaml.h>

#define NOISE 1e-6  // of the largest range of a unit

// ---------------------------------------------------------------------------- contacts

// The list of pairs of a scene, as a document; NULL where there is none.
static struct fy_document* read_scene(const ItmRecord* record)
{
    struct fy_parse_cfg config = {.flags = FYPCF_QUIET | FYPCF_JSON_FORCE};
    return record != NULL ? fy_document_build_from_string(&config, record->scene, FY_NT) : NULL;
}

static struct fy_node* get_pairs(struct fy_document* scene)
{
    return scene != NULL ? fy_node_mapping_lookup_by_string(fy_document_root(scene), "pairs", FY_NT) : NULL;
}

// "floor - box"; text (256)
static void name_pair(char* text, struct fy_node* pair)
{
    const char* first = fy_node_get_scalar0(fy_node_sequence_get_by_index(pair, 0));
    const char* second = fy_node_get_scalar0(fy_node_sequence_get_by_index(pair, 1));
    snprintf(text, 256, "%s%s%s", first != NULL ? first : "", second != NULL ? " - " : "",
             second != NULL ? second : "");
}

static int find_pair(struct fy_node* pairs, const char* name)
{
    int count = fy_node_sequence_item_count(pairs);
    for (int i = 0; i < count; i++) {
        char other[256];
        name_pair(other, fy_node_sequence_get_by_index(pairs, i));
        if (strcmp(name, other) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}

// The next interval of a pair that begins a contact (is not the continuation of another state), from `at` on; or the number
// of intervals.
static long next_begin(const ItmRecord* record, int pair, long at, double* ended)
{
    const double* times = record->arrays[ITM_MOTION_INTERVAL].values;
    const int32_t* pairs = record->arrays[ITM_MOTION_INTERVAL_PAIR].values;
    long count = record->arrays[ITM_MOTION_INTERVAL].size[0];
    for (long i = at; i < count; i++) {
        if (pairs[2 * i] == pair) {
            bool is_begin = times[2 * i] > *ended;
            *ended = times[2 * i + 1];
            if (is_begin) {
                return i;
            }
        }
    }
    return count;
}

static void measure_contact(ItmContactShift* shift, const ItmRecord* a, int pair_a, const ItmRecord* b, int pair_b)
{
    const double *times_a = a->arrays[ITM_MOTION_INTERVAL].values, *times_b = b->arrays[ITM_MOTION_INTERVAL].values;
    long na = a->arrays[ITM_MOTION_INTERVAL].size[0], nb = b->arrays[ITM_MOTION_INTERVAL].size[0];
    double ended_a = -INFINITY, ended_b = -INFINITY;
    long i = next_begin(a, pair_a, 0, &ended_a), k = next_begin(b, pair_b, 0, &ended_b);
    while (i < na || k < nb) {
        shift->nevent += i < na;
        shift->nreference_event += k < nb;
        if (i < na && k < nb) {
            shift->shift = fmax(shift->shift, fabs(times_a[2 * i] - times_b[2 * k]));
        }
        i = i < na ? next_begin(a, pair_a, i + 1, &ended_a) : i;
        k = k < nb ? next_begin(b, pair_b, k + 1, &ended_b) : k;
    }
}

static bool compare_contacts(ItmRunComparison* c, const ItmRecord* a, const ItmRecord* b)
{
    struct fy_document *scene_a = read_scene(a), *scene_b = read_scene(b);
    struct fy_node *pairs_a = get_pairs(scene_a), *pairs_b = get_pairs(scene_b);
    int count = pairs_a != NULL && pairs_b != NULL ? fy_node_sequence_item_count(pairs_a) : 0;
    c->shifts = calloc((size_t)count + 1, sizeof *c->shifts);
    bool has_memory = c->shifts != NULL;
    for (int i = 0; i < count && has_memory; i++) {
        char name[256];
        name_pair(name, fy_node_sequence_get_by_index(pairs_a, i));
        int other = find_pair(pairs_b, name);
        if (other != ITM_NONE) {
            ItmContactShift* shift = &c->shifts[c->nshift++];
            shift->name = strdup(name);
            has_memory = shift->name != NULL;
            measure_contact(shift, a, i, b, other);
        }
    }
    fy_document_destroy(scene_a);
    fy_document_destroy(scene_b);
    return has_memory;
}

// ---------------------------------------------------------------------------- signals

double itm_compare_get_share(const ItmSignalError* error)
{
    const ItmComparison* c = &error->comparison;
    return c->reference_range > 0.0 ? c->maximum / c->reference_range : c->maximum;
}

static int compare_share(const void* a, const void* b)
{
    const ItmSignalError *e = a, *f = b;
    if (e->is_noise != f->is_noise) {
        return e->is_noise ? 1 : -1;
    }
    double x = itm_compare_get_share(a), y = itm_compare_get_share(b);
    return (x < y) - (x > y);
}

// A signal that should be zero and is rounding would come first by its share, however small it is.
static void mark_noise(ItmRunComparison* c)
{
    for (int i = 0; i < c->nerror; i++) {
        double largest = 0.0;
        for (int k = 0; k < c->nerror; k++) {
            if (strcmp(c->errors[k].unit, c->errors[i].unit) == 0) {
                largest = fmax(largest, c->errors[k].comparison.reference_range);
            }
        }
        c->errors[i].is_noise = c->errors[i].comparison.maximum < NOISE * largest;
    }
}

static ItmStatus compare_signals(ItmRunComparison* c, const ItmTable* run, const ItmTable* reference, ItmError* error)
{
    ItmStatus status = ITM_OK;
    for (int i = 1; i < reference->ncolumn && status == ITM_OK; i++) {
        int column = itm_results_table_find(run, reference->names[i]);
        ItmSignalError* e = &c->errors[c->nerror];
        if (column == ITM_NONE) {
            c->nonly_reference++;
            continue;
        }
        *e = (ItmSignalError){.name = reference->names[i], .unit = reference->units[i]};
        status = itm_compare(&e->comparison, run, column, reference, i, NULL, error);
        c->nerror += e->comparison.ncompared > 0;
    }
    c->nonly = run->ncolumn - (reference->ncolumn - c->nonly_reference);
    mark_noise(c);
    qsort(c->errors, (size_t)c->nerror, sizeof *c->errors, compare_share);
    return status;
}

ItmStatus itm_compare_runs(ItmRunComparison* c, const ItmTable* run, const ItmTable* reference, ItmError* error)
{
    *c = (ItmRunComparison){.from = 1.0, .errors = calloc((size_t)reference->ncolumn + 1, sizeof *c->errors)};
    if (run->nrow > 0 && reference->nrow > 0) {
        c->from = fmax(itm_results_table_get(run, 0, 0), itm_results_table_get(reference, 0, 0));
        c->until = fmin(itm_results_table_get(run, run->nrow - 1, 0),
                        itm_results_table_get(reference, reference->nrow - 1, 0));
    }
    ItmStatus status = ITM_OK;
    if (c->errors == NULL || !compare_contacts(c, run->record, reference->record)) {
        status =
            itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory to compare %d signals", reference->ncolumn);
    }
    status = status == ITM_OK ? compare_signals(c, run, reference, error) : status;
    if (status != ITM_OK) {
        itm_compare_free_runs(c);
    }
    return status;
}

void itm_compare_free_runs(ItmRunComparison* c)
{
    for (int i = 0; i < c->nshift; i++) {
        free(c->shifts[i].name);
    }
    free(c->shifts);
    free(c->errors);
    *c = (ItmRunComparison){0};
}
