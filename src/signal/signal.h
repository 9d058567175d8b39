// Signals compiled for evaluation, with their first and second time derivatives.
#ifndef ITM_SIGNAL_SIGNAL_H
#define ITM_SIGNAL_SIGNAL_H

#include "interim/signal.h"

typedef struct ItmSignal {
    ItmSignalDef def;      // times and values point into memory owned by the model
    const double* second;  // second derivatives at the points of a cubic table (npoint), else NULL
    int external;          // of a mechanism: which of those that are external, or ITM_NONE
} ItmSignal;

typedef struct ItmSignalValue {
    double x, x_dot, x_ddot;
} ItmSignalValue;

// A copy of a definition with tables of its own, for builders; itm_signal_def_free gives them back. False without memory.
bool itm_signal_def_copy(ItmSignalDef* copy, const ItmSignalDef* def);
void itm_signal_def_free(ItmSignalDef* copy);

// Compile a definition that itm_signal_def_check accepted. second: memory for npoint reals, used by
// cubic tables only; scratch: npoint reals.
void itm_signal_init(ItmSignal* signal, const ItmSignalDef* def, double* second, double* scratch);
// The same with a copy of the table: memory for 4 npoint reals, which lives as long as the signal.
void itm_signal_compile(ItmSignal* signal, const ItmSignalDef* def, double* memory);
// Of one that is external: its start. itm_data_compute_signal handles the others.
ItmSignalValue itm_signal_compute(const ItmSignal* signal, double t);
// The first time after t at which the signal or one of its derivatives jumps (the ends of a ramp,
// the points of a table), or INFINITY: adaptive integrators stop there.
double itm_signal_next_break(const ItmSignal* signal, double t);
// ITM_ERR_INPUT with the field at fault: not finite, times not increasing, too few points,
// frequency < 0, t_end <= t_start.
ItmStatus itm_signal_def_check(const ItmSignalDef* def, ItmError* error);

#endif
