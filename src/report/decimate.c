#include "report/decimate.h"

#include <float.h>
#include <math.h>

ItmDecimation itm_decimate_plan(long nrow, long most_points)
{
    ItmDecimation plan = {.nrow = nrow, .npoint = nrow};
    most_points = most_points < 4 ? 4 : most_points;
    if (nrow > most_points) {
        plan.nbucket = most_points / 2;
        plan.npoint = 2 * plan.nbucket;
    }
    return plan;
}

// First row of a bucket; buckets differ by one row at most.
static long bucket_start(const ItmDecimation* plan, long bucket)
{
    return (long)((double)bucket * (double)plan->nrow / (double)plan->nbucket);
}

void itm_decimate_time(const ItmDecimation* plan, const ItmTable* table, double* time)
{
    if (plan->nbucket == 0) {
        for (long i = 0; i < plan->npoint; i++) {
            time[i] = itm_results_table_get(table, i, 0);
        }
        return;
    }
    for (long b = 0; b < plan->nbucket; b++) {
        long from = bucket_start(plan, b), to = bucket_start(plan, b + 1);
        time[2 * b] = itm_results_table_get(table, from, 0);
        time[2 * b + 1] = itm_results_table_get(table, b + 1 == plan->nbucket ? to - 1 : from + (to - from) / 2, 0);
    }
}

static float to_float(double x)
{
    return isfinite(x) ? (float)fmax(-FLT_MAX, fmin(FLT_MAX, x)) : NAN;
}

// Least and largest of rows from .. to - 1, the earlier one first.
static void find_extremes(const ItmTable* table, int column, long from, long to, float pair[2])
{
    double least = NAN, largest = NAN;
    long least_at = from, largest_at = from;
    for (long i = from; i < to; i++) {
        double x = itm_results_table_get(table, i, column);
        if (!(x >= least) && isfinite(x)) {
            least = x;
            least_at = i;
        }
        if (!(x <= largest) && isfinite(x)) {
            largest = x;
            largest_at = i;
        }
    }
    pair[0] = to_float(least_at <= largest_at ? least : largest);
    pair[1] = to_float(least_at <= largest_at ? largest : least);
}

void itm_decimate_column(const ItmDecimation* plan, const ItmTable* table, int column, float* values)
{
    if (plan->nbucket == 0) {
        for (long i = 0; i < plan->npoint; i++) {
            values[i] = to_float(itm_results_table_get(table, i, column));
        }
        return;
    }
    for (long b = 0; b < plan->nbucket; b++) {
        find_extremes(table, column, bucket_start(plan, b), bucket_start(plan, b + 1), values + 2 * b);
    }
}
