#include "report/crosscheck.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

// Rounding of a constant signal, which has no range: results have six digits in some references.
#define ROUNDING 1e-6

static ItmStatus check_times(const ItmTable* table, const char* which, ItmError* error)
{
    for (long i = 0; i < table->nrow; i++) {
        double t = itm_results_table_get(table, i, 0);
        if (!isfinite(t) || (i > 0 && t < itm_results_table_get(table, i - 1, 0))) {
            return itm_error_set(error, ITM_ERR_INPUT, "itm_crosscheck_compare", NULL,
                                 "the times of the %s run backwards or are not finite in row %ld", which, i + 1);
        }
    }
    if (table->nrow < 1) {
        return itm_error_set(error, ITM_ERR_INPUT, "itm_crosscheck_compare", NULL, "the %s has no rows", which);
    }
    return ITM_OK;
}

static void get_range(const ItmTable* table, int column, double* least, double* largest)
{
    *least = INFINITY;
    *largest = -INFINITY;
    for (long i = 0; i < table->nrow; i++) {
        double value = itm_results_table_get(table, i, column);
        *least = fmin(*least, value);
        *largest = fmax(*largest, value);
    }
}

#define JUMP 0.2  // of the range, between two samples of the reference: an event

// Rows of a table within one sample of row k: rows of one time are one sample. *is_twice: two of them have one time.
static void get_neighbours(const ItmTable* table, long k, long* first, long* last, bool* is_twice)
{
    *first = *last = k;
    *is_twice = false;
    for (int step = -1; step <= 1; step += 2) {
        int distance = 0;
        for (long i = k + step; i >= 0 && i < table->nrow; i += step) {
            bool is_same = itm_results_table_get(table, i, 0) == itm_results_table_get(table, i - step, 0);
            distance += !is_same;
            if (distance > 1) {
                break;
            }
            *is_twice = *is_twice || is_same;
            *(step < 0 ? first : last) = i;
        }
    }
}

// Whether an event is near row k: two rows of one time, a jump, or any change of a signal that has no values in between. The
// values that a run may have there are those of one sample before and after it; elsewhere that of the row.
static bool get_band(const ItmTable* reference, int column, long k, double least_jump, double* low, double* high)
{
    long first, last;
    bool is_twice;
    get_neighbours(reference, k, &first, &last, &is_twice);
    *low = INFINITY;
    *high = -INFINITY;
    for (long i = first; i <= last; i++) {
        *low = fmin(*low, itm_results_table_get(reference, i, column));
        *high = fmax(*high, itm_results_table_get(reference, i, column));
    }
    if (is_twice || *high - *low > least_jump) {
        return true;
    }
    *low = *high = itm_results_table_get(reference, k, column);
    return false;
}

// How far a value is outside of [low, high]; NaN is infinitely far.
static double get_distance(double value, double low, double high)
{
    if (isnan(value)) {
        return INFINITY;
    }
    return fmax(0.0, fmax(low - value, value - high));
}

// The run's value at time t, nearest to the band: interpolated, or one of those before and after an event. *row moves on.
static double get_run_distance(const ItmTable* run, int column, double t, long* row, double low, double high)
{
    while (*row + 1 < run->nrow && itm_results_table_get(run, *row + 1, 0) < t) {
        (*row)++;
    }
    long i = *row;
    double t0 = itm_results_table_get(run, i, 0), y0 = itm_results_table_get(run, i, column);
    if (i + 1 >= run->nrow || t <= t0) {
        return get_distance(y0, low, high);
    }
    double t1 = itm_results_table_get(run, i + 1, 0), y1 = itm_results_table_get(run, i + 1, column);
    double best = get_distance(y0 + (y1 - y0) * (t - t0) / (t1 - t0), low, high);
    // rows at t itself: before and after an event
    for (i++; i < run->nrow && itm_results_table_get(run, i, 0) <= t; i++) {
        best = fmin(best, get_distance(itm_results_table_get(run, i, column), low, high));
    }
    return best;
}

// How far a value of the reference at row k is outside of what the run has within one sample of it.
static double get_shifted_distance(const ItmTable* run, int column, const ItmTable* reference, long k, double value)
{
    long first, last;
    bool is_twice;
    get_neighbours(reference, k, &first, &last, &is_twice);
    double from = itm_results_table_get(reference, first, 0), to = itm_results_table_get(reference, last, 0);
    double low = INFINITY, high = -INFINITY;
    for (long i = 0; i < run->nrow && itm_results_table_get(run, i, 0) <= to; i++) {
        if (itm_results_table_get(run, i, 0) >= from) {
            low = fmin(low, itm_results_table_get(run, i, column));
            high = fmax(high, itm_results_table_get(run, i, column));
        }
    }
    return low <= high ? get_distance(value, low, high) : INFINITY;
}

static void compare_signal(ItmFmuComparison* c, const ItmTable* run, int column, const ItmTable* reference, int signal,
                           double share, bool is_discrete)
{
    double least, largest, worst = -1.0, worst_time = 0.0;
    get_range(reference, signal, &least, &largest);
    double range = largest - least;
    double scale = range > 0.0 ? range : fmax(fabs(largest), 1.0) * ROUNDING / share;
    long row = 0;
    for (long k = 0; k < reference->nrow; k++) {
        double t = itm_results_table_get(reference, k, 0), low, high;
        if (t > c->until) {
            break;
        }
        bool is_event = get_band(reference, signal, k, is_discrete ? 0.0 : JUMP * range, &low, &high);
        double off = get_run_distance(run, column, t, &row, low, high) / scale;
        // the start is an event of a discrete signal: it may show the first sample there already
        if ((is_event || (is_discrete && k == 0)) && off > share) {
            double value = itm_results_table_get(reference, k, signal);
            off = fmin(off, get_shifted_distance(run, column, reference, k, value) / scale);
        }
        if (off > worst) {
            worst = off;
            worst_time = t;
        }
    }
    c->nbad += worst > share;
    if (c->worst == NULL || worst > c->worst_share) {
        c->worst = reference->names[signal];
        c->worst_share = worst;
        c->worst_time = worst_time;
    }
}

ItmStatus itm_crosscheck_compare(ItmFmuComparison* check, const ItmTable* run, const ItmTable* reference, double share,
                                 const bool* is_discrete, ItmError* error)
{
    *check = (ItmFmuComparison){0};
    ItmStatus status = check_times(run, "run", error);
    status = status == ITM_OK ? check_times(reference, "reference", error) : status;
    if (status != ITM_OK) {
        return status;
    }
    check->until = itm_results_table_get(run, run->nrow - 1, 0);
    check->reference_until = itm_results_table_get(reference, reference->nrow - 1, 0);
    for (int i = 1; i < reference->ncolumn; i++) {
        int column = itm_results_table_find(run, reference->names[i]);
        check->nsignal++;
        if (column == ITM_NONE) {
            check->nbad++;
            check->missing = check->missing != NULL ? check->missing : reference->names[i];
        } else {
            compare_signal(check, run, column, reference, i, share, is_discrete != NULL && is_discrete[i]);
        }
    }
    // a run that ends early misses the rest; times are compared with rounding
    double slack = 1e-6 * fabs(check->reference_until) + 1e-12;
    check->has_passed = check->nbad == 0 && check->nsignal > 0 && check->until >= check->reference_until - slack;
    return ITM_OK;
}
