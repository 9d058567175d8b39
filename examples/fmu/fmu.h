// The smallest FMU that is complete: a model is the few functions below; fmu2.c and fmu3.c make an FMU for FMI 2.0 or 3.0 of
// it, for co-simulation and model exchange.
//
// All numbers of an instance are in r, states included. A value reference is an index into fmu_variables.
// SPDX-License-Identifier: Apache-2.0
#ifndef FMU_H
#define FMU_H

#include <stdbool.h>
#include <stddef.h>

#define FMU_REALS 64
#define FMU_TEXT 64
#define FMU_BYTES 64

typedef struct Fmu {
    double time;                     // s
    double r[FMU_REALS];             // all numbers; Booleans and integers too
    char text[FMU_TEXT];             // the string of the model
    double next_event;               // time event, s; < 0: none
    unsigned char bytes[FMU_BYTES];  // the binary of the model
    size_t nbyte;
} Fmu;

typedef struct FmuVariable {
    int at, count;  // place in r, elements
} FmuVariable;

// ---------------------------------------------------------------------------- the model

extern const char* const fmu_token;        // guid or instantiation token
extern const FmuVariable fmu_variables[];  // by value reference
extern const int fmu_nvariable;
extern const int fmu_ndiscrete;      // so many of the last variables are inputs that change at events only
extern const int fmu_states[];       // places of the states in r          (fmu_nx)
extern const int fmu_derivatives[];  // places of their derivatives        (fmu_nx)
extern const int fmu_nx, fmu_nz;
extern const double fmu_longest_step;  // of the integrator of co-simulation, s

void fmu_start(Fmu* m);                      // start values of everything
void fmu_compute(Fmu* m);                    // derivatives and outputs from states, inputs and time
void fmu_indicate(const Fmu* m, double* z);  // event indicators                   (fmu_nz)
bool fmu_handle_event(Fmu* m);               // at a zero of an indicator, or at next_event; true: states have changed

#endif
