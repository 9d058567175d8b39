// How far whole runs are apart: every signal that both have, and where their contacts begin.
#ifndef ITM_REPORT_COMPARE_RUNS_H
#define ITM_REPORT_COMPARE_RUNS_H

#include "report/compare.h"

typedef struct ItmSignalError {
    const char* name;  // belongs to the reference, as does unit
    const char* unit;
    ItmComparison comparison;
    bool is_noise;  // off by less than a millionth of what signals of its unit go through: rounding, mostly
} ItmSignalError;

// Begins of contact of a pair of shapes that both records have.
typedef struct ItmContactShift {
    char* name;  // "floor - box", owned
    long nevent, nreference_event;
    double shift;  // largest difference of the times of the k-th begins, s
} ItmContactShift;

typedef struct ItmRunComparison {
    double from, until;  // time that both have, s; from > until: none
    ItmSignalError*
        errors;  // (nerror) those that are off most first, by their share of the reference's range; noise last
    int nerror;
    ItmContactShift* shifts;  // (nshift)
    int nshift;
    int nonly, nonly_reference;  // signals that only one has
} ItmRunComparison;

// ITM_ERR_INPUT: the times of a table are not in order. Runs without common signals or time have nerror 0.
ItmStatus itm_compare_runs(ItmRunComparison* comparison, const ItmTable* run, const ItmTable* reference,
                           ItmError* error);
void itm_compare_free_runs(ItmRunComparison* comparison);

// Largest difference as a share of the reference's range; the difference itself where the reference is constant.
double itm_compare_get_share(const ItmSignalError* error);

#endif
