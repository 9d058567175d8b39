#include "io/compare.h"

#include "base/error.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libfyaml.h>

#define MOST_STATES 1000  // a signal with larger values is no state

// ---------------------------------------------------------------------------- values

// A column of the second table between its rows, asked for rising times.
typedef struct Walk {
    const ItmTable* table;
    int column;
    long row;  // the last one not after the time
} Walk;

static double walk_to(Walk* w, double time)
{
    while (w->row + 1 < w->table->nrow && itm_table_get(w->table, w->row + 1, 0) <= time) {
        w->row++;
    }
    double x = itm_table_get(w->table, w->row, w->column), t = itm_table_get(w->table, w->row, 0);
    if (w->row + 1 >= w->table->nrow || time <= t) {
        return x;
    }
    double next = itm_table_get(w->table, w->row + 1, 0);
    return x + (time - t) / (next - t) * (itm_table_get(w->table, w->row + 1, w->column) - x);
}

// rms over time by the trapezoidal rule on the rows of the first; a gap in either (not a number) is left out
static void measure_difference(ItmSignalError* e, const ItmTable* a, int column_a, const ItmTable* b, int column_b,
                               double from, double to)
{
    Walk walk = {b, column_b, 0};
    double sum = 0.0, duration = 0.0, before = NAN, time_before = NAN, lo = INFINITY, hi = -INFINITY;
    e->max = 0.0;
    e->at = from;
    for (long i = 0; i < a->nrow; i++) {
        double t = itm_table_get(a, i, 0), x = itm_table_get(a, i, column_a);
        if (t < from || t > to) {
            continue;
        }
        double d = walk_to(&walk, t) - x;
        if (fabs(d) > e->max) {
            e->max = fabs(d);
            e->at = t;
        }
        lo = fmin(lo, x);
        hi = fmax(hi, x);
        if (isfinite(d) && isfinite(before)) {
            sum += 0.5 * (d * d + before * before) * (t - time_before);
            duration += t - time_before;
        }
        before = d;
        time_before = t;
    }
    e->rms = duration > 0.0 ? sqrt(sum / duration) : e->max;
    e->range = hi > lo ? hi - lo : 0.0;
}

double itm_signal_error_get_relative(const ItmSignalError* error)
{
    return error->range > 0.0 ? error->max / error->range : error->max;
}

// ---------------------------------------------------------------------------- events

// Whether all values are small whole numbers and one of them changes.
static bool is_state(const ItmTable* table, int column)
{
    bool has_change = false;
    for (long i = 0; i < table->nrow; i++) {
        double x = itm_table_get(table, i, column);
        if (!(fabs(x) <= MOST_STATES) || x != floor(x)) {
            return false;
        }
        has_change = has_change || x != itm_table_get(table, 0, column);
    }
    return has_change;
}

// The next row after `row` at which a column changes, or nrow.
static long next_change(const ItmTable* table, int column, long row)
{
    for (long i = row + 1; i < table->nrow; i++) {
        if (itm_table_get(table, i, column) != itm_table_get(table, i - 1, column)) {
            return i;
        }
    }
    return table->nrow;
}

static void measure_events(ItmSignalError* e, const ItmTable* a, int column_a, const ItmTable* b, int column_b)
{
    e->is_state = is_state(a, column_a);
    if (!e->is_state) {
        return;
    }
    long i = next_change(a, column_a, 0), k = next_change(b, column_b, 0);
    while (i < a->nrow || k < b->nrow) {
        e->nevent_a += i < a->nrow;
        e->nevent_b += k < b->nrow;
        if (i < a->nrow && k < b->nrow) {
            e->event_shift = fmax(e->event_shift, fabs(itm_table_get(a, i, 0) - itm_table_get(b, k, 0)));
        }
        i = i < a->nrow ? next_change(a, column_a, i) : i;
        k = k < b->nrow ? next_change(b, column_b, k) : k;
    }
}

// ---------------------------------------------------------------------------- contacts

// The list of pairs of a scene, as a document; NULL where there is none.
static struct fy_document* read_scene(const ItmRecord* record)
{
    struct fy_parse_cfg config = {.flags = FYPCF_QUIET | FYPCF_JSON_FORCE};
    return record->scene != NULL ? fy_document_build_from_string(&config, record->scene, FY_NT) : NULL;
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
    snprintf(text, 256, "%s%s%s", first != NULL ? first : "", second != NULL ? " - " : "", second != NULL ? second : "");
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
        shift->nevent_a += i < na;
        shift->nevent_b += k < nb;
        if (i < na && k < nb) {
            shift->shift = fmax(shift->shift, fabs(times_a[2 * i] - times_b[2 * k]));
        }
        i = i < na ? next_begin(a, pair_a, i + 1, &ended_a) : i;
        k = k < nb ? next_begin(b, pair_b, k + 1, &ended_b) : k;
    }
}

static bool compare_contacts(ItmComparison* c, const ItmRecord* a, const ItmRecord* b)
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

// ---------------------------------------------------------------------------- all of it

static void find_common_time(ItmComparison* c, const ItmTable* a, const ItmTable* b)
{
    c->from = 1.0;
    c->to = 0.0;
    if (a->nrow > 0 && b->nrow > 0) {
        c->from = fmax(itm_table_get(a, 0, 0), itm_table_get(b, 0, 0));
        c->to = fmin(itm_table_get(a, a->nrow - 1, 0), itm_table_get(b, b->nrow - 1, 0));
    }
}

ItmStatus itm_compare(ItmComparison* c, const ItmTable* a, const ItmTable* b, ItmError* error)
{
    *c = (ItmComparison){.errors = calloc((size_t)a->ncolumn + 1, sizeof *c->errors)};
    if (c->errors == NULL || !compare_contacts(c, &a->record, &b->record)) {
        itm_comparison_free(c);
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory to compare %d signals", a->ncolumn);
    }
    find_common_time(c, a, b);
    for (int i = 1; i < a->ncolumn; i++) {
        int other = itm_table_find(b, a->names[i]);
        if (other == ITM_NONE) {
            c->nonly_a++;
        } else if (c->from <= c->to) {
            ItmSignalError* e = &c->errors[c->nerror++];
            *e = (ItmSignalError){.name = a->names[i], .unit = a->units[i]};
            measure_difference(e, a, i, b, other, c->from, c->to);
            measure_events(e, a, i, b, other);
        }
    }
    c->nonly_b = b->ncolumn - (a->ncolumn - c->nonly_a);
    return ITM_OK;
}

void itm_comparison_free(ItmComparison* c)
{
    for (int i = 0; i < c->nshift; i++) {
        free(c->shifts[i].name);
    }
    free(c->shifts);
    free(c->errors);
    *c = (ItmComparison){0};
}
