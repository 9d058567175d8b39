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

// Least and largest value of the reference within one sample of row k: rows of one time are one sample.
static void get_neighbours(const ItmTable* reference, int column, long k, double* low, double* high)
{
    double t = itm_results_table_get(reference, k, 0);
    *low = INFINITY;
    *high = -INFINITY;
    long i = k;
    for (int distance = 0; i >= 0; i--) {
        double s = itm_results_table_get(reference, i, 0);
        distance += i < k && s < itm_results_table_get(reference, i + 1, 0);
        if (distance > 1 && s < t) {
            break;
        }
        *low = fmin(*low, itm_results_table_get(reference, i, column));
        *high = fmax(*high, itm_results_table_get(reference, i, column));
    }
    int distance = 0;
    for (i = k + 1; i < reference->nrow; i++) {
        distance += itm_results_table_get(reference, i, 0) > itm_results_table_get(reference, i - 1, 0);
        if (distance > 1) {
            break;
        }
        *low = fmin(*low, itm_results_table_get(reference, i, column));
        *high = fmax(*high, itm_results_table_get(reference, i, column));
    }
}

// The values that a run may have at row k: that of the reference; near an event those of one sample before and after it.
static void get_band(const ItmTable* reference, int column, long k, double range, double* low, double* high)
{
    get_neighbours(reference, column, k, low, high);
    double t = itm_results_table_get(reference, k, 0), value = itm_results_table_get(reference, k, column);
    bool is_twice = (k > 0 && itm_results_table_get(reference, k - 1, 0) == t) ||
                    (k + 1 < reference->nrow && itm_results_table_get(reference, k + 1, 0) == t);
    if (!is_twice && *high - *low <= JUMP * range) {
        *low = *high = value;
    }
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

static void compare_signal(ItmCrosscheck* c, const ItmTable* run, int column, const ItmTable* reference, int signal,
                           double share)
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
        get_band(reference, signal, k, range, &low, &high);
        double off = get_run_distance(run, column, t, &row, low, high) / scale;
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

ItmStatus itm_crosscheck_compare(ItmCrosscheck* check, const ItmTable* run, const ItmTable* reference, double share,
                                 ItmError* error)
{
    *check = (ItmCrosscheck){0};
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
            compare_signal(check, run, column, reference, i, share);
        }
    }
    // a run that ends early misses the rest; times are compared with rounding
    double slack = 1e-6 * fabs(check->reference_until) + 1e-12;
    check->has_passed = check->nbad == 0 && check->nsignal > 0 && check->until >= check->reference_until - slack;
    return ITM_OK;
}
