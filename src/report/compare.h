// How far one run is from another: a signal of a results table against a signal of a reference table.
//
// The two need not share their times. Over the interval that both cover, the signals are compared at the times
// of whichever table has fewer rows there, the other one interpolated linearly: a coarse run is judged where it
// has values, not on straight lines between them.
// SPDX-License-Identifier: Apache-2.0
#ifndef ITM_REPORT_COMPARE_H
#define ITM_REPORT_COMPARE_H

#include "io/results/results_read.h"

typedef struct ItmCompareOptions {
    double from, until;  // interval to compare, s; cut to what both tables cover
    double level;        // an event is a crossing of this value; NAN: midway between the reference's extremes
    double band;         // a crossing counts once the signal is this far beyond the level, as a share of the
                         // reference's range: noise around the level is no event
} ItmCompareOptions;

// The whole of both tables, events midway, with a band of 2 %.
ItmCompareOptions itm_compare_default(void);

typedef struct ItmComparison {
    double from, until;            // interval compared, s; from > until: the tables have no time in common
    long ncompared;                // times compared
    long nmissing;                 // times left out because one of the two is not finite there
    double rms;                    // root of the time mean of (run - reference)^2; NAN if nothing was compared
    double maximum;                // largest |run - reference|
    double maximum_time;           // where, s
    double last;                   // run - reference at the last time compared
    double reference_rms;          // root of the time mean of reference^2
    double reference_range;        // largest less least value of the reference, at the times compared
    double level;                  // value whose crossings are the events
    int nevent, nreference_event;  // crossings in the run and in the reference
    int npaired;                   // events in both: the first with the first, and so on while they go the same way
    double shift_mean;             // of the paired events, run - reference: > 0 is late; NAN without a pair   s
    double shift_maximum;          // the one largest in magnitude, with its sign; NAN without a pair            s
} ItmComparison;

// Compare a column of `run` with one of `reference` (indices as itm_results_table_find gives them). Refuses a table whose
// times are not finite or run backwards. options may be NULL.
ItmStatus itm_compare(ItmComparison* comparison, const ItmTable* run, int column, const ItmTable* reference,
                      int reference_column, const ItmCompareOptions* options, ItmError* error);

#endif
