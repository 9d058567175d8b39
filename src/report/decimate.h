// Fewer points for a plot without losing a spike: of every bucket of rows the least and the largest value stay, in the order
// in which they came.
#ifndef ITM_REPORT_DECIMATE_H
#define ITM_REPORT_DECIMATE_H

#include "io/results/results_read.h"

// Rows that fall on each point. Two points a bucket, or all rows if they are few enough.
typedef struct ItmDecimation {
    long nrow;     // of the table
    long nbucket;  // 0: every row is a point
    long npoint;
} ItmDecimation;

ItmDecimation itm_decimate_plan(long nrow, long most_points);
// Times of the points: the first and the middle row of each bucket. time (npoint)
void itm_decimate_time(const ItmDecimation* plan, const ItmTable* table, double* time);
// Values of a column at the points, NaN where a bucket has no number. values (npoint)
void itm_decimate_column(const ItmDecimation* plan, const ItmTable* table, int column, float* values);

#endif
