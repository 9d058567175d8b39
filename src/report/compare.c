// SPDX-License-Identifier: Apache-2.0
#include "interim/report.h"

#include "base/error.h"
#include "base/guard.h"

#include <math.h>
#include <stdlib.h>

ItmCompareOptions itm_default_compare_options(void)
{
    return (ItmCompareOptions){.from = -INFINITY, .until = INFINITY, .level = NAN, .band = 0.02};
}

// ---------------------------------------------------------------------------- tables

static double time_of(const ItmTable* table, long row)
{
    return itm_results_table_get(table, row, 0);
}

static ItmStatus check_times(const ItmTable* table, const char* what, ItmError* error)
{
    if (table->nrow == 0 || table->ncolumn == 0) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "time", "the %s has no rows", what);
    }
    double before = -INFINITY;
    for (long i = 0; i < table->nrow; i++) {
        double time = time_of(table, i);
        if (!isfinite(time) || time < before) {
            return itm_error_set(error, ITM_ERR_INPUT, __func__, "time",
                                 "the first column of the %s must be a time that never decreases, but row %ld "
                                 "has %g after %g",
                                 what, i + 1, time, before);
        }
        before = time;
    }
    return ITM_OK;
}

// First row whose time is >= `time`; nrow if there is none.
static long find_row(const ItmTable* table, double time)
{
    long low = 0, high = table->nrow;
    while (low < high) {
        long middle = low + (high - low) / 2;
        if (time_of(table, middle) < time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Value between rows `row` - 1 and `row`, the first whose time is >= `time`.
static double interpolate_before(const ItmTable* table, int column, long row, double time)
{
    double t1 = time_of(table, row), y1 = itm_results_table_get(table, row, column);
    if (t1 == time) {
        return y1;
    }
    double t0 = time_of(table, row - 1), y0 = itm_results_table_get(table, row - 1, column);
    double share = (time - t0) / (t1 - t0);
    return (1.0 - share) * y0 + share * y1;
}

// ---------------------------------------------------------------------------- difference

// One of the two signals, read from row to row.
typedef struct Signal {
    const ItmTable* table;
    int column;
    long row;  // first whose time is >= the last time asked for
} Signal;

// Value at a time that is not before the one asked for last, and within the table.
static double value_at(Signal* s, double time)
{
    while (time_of(s->table, s->row) < time) {
        s->row++;
    }
    return interpolate_before(s->table, s->column, s->row, time);
}

// Sums over the times compared, by the trapezoidal rule.
typedef struct Sums {
    double duration, squares, reference_squares;
    double time, square, reference_square;  // at the time before; time NAN: none yet
    double least, most;                     // of the reference
} Sums;

static void add_time(ItmComparison* c, Sums* sums, double time, double run, double reference)
{
    double difference = run - reference;
    double square = difference * difference, reference_square = reference * reference;
    if (c->ncompared > 0) {
        double h = time - sums->time;
        sums->duration += h;
        sums->squares += 0.5 * h * (sums->square + square);
        sums->reference_squares += 0.5 * h * (sums->reference_square + reference_square);
    }
    sums->time = time;
    sums->square = square;
    sums->reference_square = reference_square;
    sums->least = fmin(sums->least, reference);
    sums->most = fmax(sums->most, reference);
    if (c->ncompared == 0 || fabs(difference) > c->maximum) {
        c->maximum = fabs(difference);
        c->maximum_time = time;
    }
    c->last = difference;
    c->ncompared++;
}

// Roots of the means; of a single time, or of times that are all the same, its own values.
static void finish_sums(ItmComparison* c, const Sums* sums)
{
    if (c->ncompared == 0) {
        c->rms = c->maximum = c->maximum_time = c->last = c->reference_rms = c->reference_range = NAN;
        return;
    }
    bool has_duration = sums->duration > 0.0;
    c->rms = sqrt(has_duration ? sums->squares / sums->duration : sums->square);
    c->reference_rms = sqrt(has_duration ? sums->reference_squares / sums->duration : sums->reference_square);
    c->reference_range = sums->most - sums->least;
}

static void compare_values(ItmComparison* c, Sums* sums, Signal run, Signal reference)
{
    long nrun = find_row(run.table, nextafter(c->until, INFINITY)) - run.row;
    long nreference = find_row(reference.table, nextafter(c->until, INFINITY)) - reference.row;
    const Signal at = nrun <= nreference ? run : reference;
    long count = nrun <= nreference ? nrun : nreference;
    for (long i = 0; i < count; i++) {
        double time = time_of(at.table, at.row + i);
        double y = value_at(&run, time), y_reference = value_at(&reference, time);
        if (isfinite(y) && isfinite(y_reference)) {
            add_time(c, sums, time, y, y_reference);
        } else {
            c->nmissing++;
        }
    }
    finish_sums(c, sums);
}

// ---------------------------------------------------------------------------- events

typedef struct Events {
    Signal signal;
    double until, level, band;
    int side;          // beyond which edge of the band the signal was last: -1, 1, 0 not yet beyond any
    double candidate;  // time of the last crossing of the level itself
    double time;       // of the event found, s
    int direction;     // of it: 1 upwards, -1 downwards
} Events;

// Where the straight line from the row before to `row` crosses the level.
static double crossing_time(const Events* e, long row)
{
    double t0 = time_of(e->signal.table, row - 1), t1 = time_of(e->signal.table, row);
    double y0 = itm_results_table_get(e->signal.table, row - 1, e->signal.column) - e->level;
    double y1 = itm_results_table_get(e->signal.table, row, e->signal.column) - e->level;
    double share = y0 / (y0 - y1);
    return isfinite(share) ? t0 + (t1 - t0) * share : t1;
}

// The next event; false if there is none before the end of the interval.
static bool find_event(Events* e)
{
    for (; e->signal.row < e->signal.table->nrow && time_of(e->signal.table, e->signal.row) <= e->until;
         e->signal.row++) {
        long row = e->signal.row;
        double y = itm_results_table_get(e->signal.table, row, e->signal.column) - e->level;
        double before = row > 0 ? itm_results_table_get(e->signal.table, row - 1, e->signal.column) - e->level : y;
        if ((before < 0.0) != (y < 0.0)) {
            e->candidate = crossing_time(e, row);
        }
        int side = y > e->band ? 1 : y < -e->band ? -1 : e->side;
        bool is_event = e->side != 0 && side != e->side;
        e->side = side;
        if (is_event) {
            e->time = e->candidate;
            e->direction = side;
            e->signal.row++;
            return true;
        }
    }
    return false;
}

static void compare_events(ItmComparison* c, Signal run, Signal reference, double band)
{
    Events a = {.signal = run, .until = c->until, .level = c->level, .band = band};
    Events b = {.signal = reference, .until = c->until, .level = c->level, .band = band};
    bool has_a = find_event(&a), has_b = find_event(&b), is_paired = true;
    double sum = 0.0, largest = NAN;
    while (has_a || has_b) {
        is_paired = is_paired && has_a && has_b && a.direction == b.direction;
        if (is_paired) {
            double shift = a.time - b.time;
            sum += shift;
            largest = c->npaired == 0 || fabs(shift) > fabs(largest) ? shift : largest;
            c->npaired++;
        }
        c->nevent += has_a;
        c->nreference_event += has_b;
        has_a = has_a && find_event(&a);
        has_b = has_b && find_event(&b);
    }
    c->shift_mean = c->npaired > 0 ? sum / c->npaired : NAN;
    c->shift_maximum = largest;
}

// ---------------------------------------------------------------------------- comparison

ItmStatus itm_compare(ItmComparison* c, const ItmTable* run, int column, const ItmTable* reference,
                      int reference_column, const ItmCompareOptions* options, ItmError* error)
{
    ITM_GUARD(c != NULL && run != NULL && reference != NULL, ITM_ERR_ARGUMENT);
    const ItmCompareOptions chosen = options != NULL ? *options : itm_default_compare_options();
    *c = (ItmComparison){.shift_mean = NAN, .shift_maximum = NAN, .level = NAN};
    if (column < 0 || column >= run->ncolumn || reference_column < 0 || reference_column >= reference->ncolumn) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, "column",
                             "columns %d and %d do not exist in tables of %d and %d", column, reference_column,
                             run->ncolumn, reference->ncolumn);
    }
    ItmStatus status = check_times(run, "run", error);
    status = status == ITM_OK ? check_times(reference, "reference", error) : status;
    if (status != ITM_OK) {
        return status;
    }
    c->from = fmax(chosen.from, fmax(time_of(run, 0), time_of(reference, 0)));
    c->until = fmin(chosen.until, fmin(time_of(run, run->nrow - 1), time_of(reference, reference->nrow - 1)));
    Signal a = {.table = run, .column = column, .row = find_row(run, c->from)};
    Signal b = {.table = reference, .column = reference_column, .row = find_row(reference, c->from)};
    Sums sums = {.least = INFINITY, .most = -INFINITY};
    if (c->from > c->until) {
        finish_sums(c, &sums);
        return ITM_OK;
    }
    compare_values(c, &sums, a, b);
    c->level = isnan(chosen.level) ? 0.5 * (sums.least + sums.most) : chosen.level;
    if (c->ncompared > 0 && c->reference_range > 0.0) {
        compare_events(c, a, b, chosen.band * c->reference_range);
    }
    return ITM_OK;
}
