#include "interim/report.h"

#include "base/error.h"
#include "base/guard.h"
#include "io/json.h"
#include "io/results/record.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOISE 1e-6  // of the largest range of a unit
#define SMALL 1e-3  // of the same: a smaller range is no scale for a difference

// ---------------------------------------------------------------------------- contacts

// The list of pairs of a scene; NULL where there is none. *has_memory: false without memory.
static const ItmNode* read_pairs(ItmDocument* document, const ItmRecord* record, bool* has_memory)
{
    ItmNode* scene = NULL;
    if (record != NULL && record->scene != NULL &&
        itm_json_parse_shown(&scene, document, record->scene, strlen(record->scene), NULL) == ITM_ERR_MEMORY) {
        *has_memory = false;
    }
    return itm_json_find(scene, "pairs");
}

static const char* get_name(const ItmNode* pair, int index)
{
    const ItmNode* name = itm_json_get_item(pair, index);
    return name != NULL && name->kind == ITM_NODE_SCALAR ? name->text : NULL;
}

// "floor - box"; text (256)
static void name_pair(char* text, const ItmNode* pair)
{
    const char *first = get_name(pair, 0), *second = get_name(pair, 1);
    snprintf(text, 256, "%s%s%s", first != NULL ? first : "", second != NULL ? " - " : "",
             second != NULL ? second : "");
}

static int find_pair(const ItmNode* pairs, const char* name)
{
    int i = 0;
    for (const ItmItem* item = pairs->first; item != NULL; item = item->next, i++) {
        char other[256];
        name_pair(other, item->value);
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
    ItmDocument document_a = {0}, document_b = {0};
    bool has_memory = true;
    const ItmNode* pairs_a = read_pairs(&document_a, a, &has_memory);
    const ItmNode* pairs_b = read_pairs(&document_b, b, &has_memory);
    bool have_both = pairs_a != NULL && pairs_b != NULL;
    c->shifts = calloc((size_t)(have_both ? pairs_a->count : 0) + 1, sizeof *c->shifts);
    has_memory = has_memory && c->shifts != NULL;
    const ItmItem* item = have_both ? pairs_a->first : NULL;
    for (int i = 0; item != NULL && has_memory; i++, item = item->next) {
        char name[256];
        name_pair(name, item->value);
        int other = find_pair(pairs_b, name);
        if (other != ITM_NONE) {
            ItmContactShift* shift = &c->shifts[c->nshift++];
            shift->name = strdup(name);
            has_memory = shift->name != NULL;
            measure_contact(shift, a, i, b, other);
        }
    }
    itm_document_free(&document_a);
    itm_document_free(&document_b);
    return has_memory;
}

// ---------------------------------------------------------------------------- signals

double itm_compare_get_share(const ItmSignalError* error)
{
    ITM_GUARD(error != NULL, 0.0);
    return error->scale > 0.0 ? error->comparison.maximum / error->scale : error->comparison.maximum;
}

static int rank(const ItmSignalError* e)
{
    return e->is_noise ? 2 : e->is_diagnostic ? 1 : 0;
}

static int compare_share(const void* a, const void* b)
{
    if (rank(a) != rank(b)) {
        return rank(a) - rank(b);
    }
    double x = itm_compare_get_share(a), y = itm_compare_get_share(b);
    return (x < y) - (x > y);
}

// Signals of the solver and of the coupling differ between any two runs and do not describe the machine.
static bool is_diagnostic(const char* name)
{
    static const char* const PARTS[] = {"bond.",          "rim.",           "solver.",    "stepper.",
                                        ".step.",         "step.size",      "violation.", "energy.balance",
                                        "coupling_error", "constraint_work"};
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++) {
        if (strstr(name, PARTS[i]) != NULL) {
            return true;
        }
    }
    return false;
}

// Whether a range in one unit is a scale for another: torques of planar machines may all be rounding, next to their forces
// (arms of a metre) and energies.
static bool is_comparable(const char* unit, const char* wanted)
{
    return strcmp(unit, wanted) == 0 ||
           (strcmp(wanted, "N m") == 0 && (strcmp(unit, "N") == 0 || strcmp(unit, "J") == 0));
}

// A signal that should be zero and is rounding would come first by its share, however small it is: the range that its
// difference is compared with is at least a thousandth of the largest one of its unit. A constant has no range of its own
// and is compared with the largest one.
static void weigh(ItmRunComparison* c)
{
    for (int i = 0; i < c->nerror; i++) {
        double largest = 0.0;
        for (int k = 0; k < c->nerror; k++) {
            if (is_comparable(c->errors[k].unit, c->errors[i].unit)) {
                largest = fmax(largest, c->errors[k].comparison.reference_range);
            }
        }
        ItmSignalError* e = &c->errors[i];
        double range = e->comparison.reference_range;
        e->scale = range > 0.0 ? fmax(range, SMALL * largest) : largest;
        e->is_noise = e->comparison.maximum < NOISE * largest;
        e->is_diagnostic = is_diagnostic(e->name);
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
    weigh(c);
    qsort(c->errors, (size_t)c->nerror, sizeof *c->errors, compare_share);
    return status;
}

ItmStatus itm_compare_runs(ItmRunComparison* c, const ItmTable* run, const ItmTable* reference, ItmError* error)
{
    ITM_GUARD(c != NULL && run != NULL && reference != NULL, ITM_ERR_ARGUMENT);
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
    ITM_GUARD_VOID(c != NULL);
    for (int i = 0; i < c->nshift; i++) {
        free(c->shifts[i].name);
    }
    free(c->shifts);
    free(c->errors);
    *c = (ItmRunComparison){0};
}
