// A run of an FMU against a reference, by the rule of the FMI cross-check: every reference signal is matched within a share of its
// range. At events, where a signal jumps, one sample of shift is allowed, of the run or of the reference.
#ifndef ITM_REPORT_CROSSCHECK_H
#define ITM_REPORT_CROSSCHECK_H

#include "interim/fmu.h"
#include "io/results/results_read.h"

#define ITM_CROSSCHECK_SHARE 0.01  // of a signal's range

// Compare all columns of the reference with columns of the same name. share: 0.01. Both tables have times that do not run
// backwards; two rows of one time are the values before and after an event. is_discrete (one per column of the reference, may be
// NULL): every change of this signal is an event. check->run stays empty.
ItmStatus itm_crosscheck_compare(ItmFmuComparison* check, const ItmTable* run, const ItmTable* reference, double share,
                                 const bool* is_discrete, ItmError* error);

#endif
