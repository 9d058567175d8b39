// A run of an FMU against a reference, by the rule of the FMI cross-check: every reference signal is matched within a share of its
// range. At events, where a signal jumps, one sample of shift is allowed, of the run or of the reference.
#ifndef ITM_REPORT_CROSSCHECK_H
#define ITM_REPORT_CROSSCHECK_H

#include "io/results/results_read.h"

#define ITM_CROSSCHECK_SHARE 0.01  // of a signal's range

typedef struct ItmCrosscheck {
    bool has_passed;
    int nsignal;             // signals of the reference
    int nbad;                // those that are not matched
    const char* worst;       // the signal that is farthest off, in the reference; NULL: there is none
    double worst_share;      // its distance from the band, as a share of its range; 0: inside; INFINITY: no such signal
    double worst_time;       // where, s
    const char* missing;     // a reference signal that the run does not have, or NULL
    double until;            // end of the run, s
    double reference_until;  // end of the reference, s
} ItmCrosscheck;

// Compare all columns of the reference with columns of the same name. share: 0.01. Both tables have times that do not run
// backwards; two rows of one time are the values before and after an event. is_discrete (one per column of the reference, may be
// NULL): every change of this signal is an event.
ItmStatus itm_crosscheck_compare(ItmCrosscheck* check, const ItmTable* run, const ItmTable* reference, double share,
                                 const bool* is_discrete, ItmError* error);

#endif
