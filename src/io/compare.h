// How far runs are apart: error of every signal, and shift of events.
#ifndef ITM_IO_COMPARE_H
#define ITM_IO_COMPARE_H

#include "io/results_read.h"

// Of a signal of the second table against the first, over the time that both have.
typedef struct ItmSignalError {
    const char* name;   // belongs to the first table, as does unit
    const char* unit;
    double rms;         // over time: root of the mean square, in the unit
    double max;         // largest absolute difference, in the unit
    double at;          // when, s
    double range;       // largest minus least value of the first, in the unit
    bool is_state;      // only whole numbers (counts, modes): its changes are events
    long nevent_a, nevent_b;  // changes in the first, in the second
    double event_shift; // largest difference of the times of the k-th changes, s; over the changes that both have
} ItmSignalError;

// Begins of contact of a pair of shapes that both records have.
typedef struct ItmContactShift {
    char* name;         // "floor - box", owned
    long nevent_a, nevent_b;
    double shift;       // largest difference of the times of the k-th begins, s
} ItmContactShift;

typedef struct ItmComparison {
    double from, to;           // time that both have, s; from > to: none
    ItmSignalError* errors;    // (nerror) in the order of the first table
    int nerror;
    ItmContactShift* shifts;   // (nshift)
    int nshift;
    int nonly_a, nonly_b;      // signals that only one has
} ItmComparison;

// The second table is interpolated linearly at the times of the first. ITM_ERR_MEMORY; a comparison without common signals
// has nerror 0.
ItmStatus itm_compare(ItmComparison* comparison, const ItmTable* a, const ItmTable* b, ItmError* error);
void itm_comparison_free(ItmComparison* comparison);

// max / range; the max itself where the first is constant
double itm_signal_error_get_relative(const ItmSignalError* error);

#endif
