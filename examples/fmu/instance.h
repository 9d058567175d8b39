// What the FMUs of both versions share: states as bytes, continuous states, derivatives by differences. fmu2.c and fmu3.c wrap
// these functions in those of the standard.
// SPDX-License-Identifier: Apache-2.0
#ifndef FMU_INSTANCE_H
#define FMU_INSTANCE_H

#include "fmu.h"
#include "integrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef FMU_ENTER
#define FMU_ENTER(instance, name) ((void)(instance))
#endif
#ifndef FMU_DERIVATIVE_FACTOR
#define FMU_DERIVATIVE_FACTOR 1.0
#endif

#define EXPORT __attribute__((visibility("default")))

// Start, and initialization: everything may be set. Events: discrete variables, too. Running: all but discrete variables, where
// the FMU has events.
typedef enum FmuMode { FMU_START, FMU_EVENT, FMU_RUNNING } FmuMode;

static inline void fmu_reset(Fmu* m)
{
    memset(m, 0, sizeof *m);
    m->next_event = -1.0;
    fmu_start(m);
}

static inline bool fmu_may_set(unsigned reference, FmuMode mode, bool has_events)
{
    bool is_there = reference < (unsigned)fmu_nvariable;
    return is_there && (mode != FMU_RUNNING || !has_events || (int)reference < fmu_nvariable - fmu_ndiscrete);
}

// ---------------------------------------------------------------------------- state

static inline bool fmu_save(const Fmu* m, void** state)
{
    Fmu* copy = *state != NULL ? *state : malloc(sizeof *copy);
    if (copy != NULL) {
        *copy = *m;
        *state = copy;
    }
    return copy != NULL;
}

static inline bool fmu_read_bytes(const void* bytes, size_t size, void** state)
{
    return size == sizeof(Fmu) && fmu_save(bytes, state);
}

static inline bool fmu_write_bytes(const void* state, void* bytes, size_t size)
{
    bool is_large_enough = size >= sizeof(Fmu);
    memcpy(bytes, state, is_large_enough ? sizeof(Fmu) : 0);
    return is_large_enough;
}

static inline void fmu_free_state(void** state)
{
    free(*state);
    *state = NULL;
}

// ---------------------------------------------------------------------------- continuous states

static inline void fmu_put_states(Fmu* m, const double* values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        m->r[fmu_states[i]] = values[i];
    }
}

static inline void fmu_get_states(const Fmu* m, double* values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        values[i] = m->r[fmu_states[i]];
    }
}

static inline void fmu_get_derivatives(Fmu* m, double* values, size_t n)
{
    fmu_compute(m);
    for (size_t i = 0; i < n; i++) {
        values[i] = m->r[fmu_derivatives[i]];
    }
}

static inline void fmu_get_nominals(double* values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        values[i] = 1.0;
    }
}

// Derivatives of the unknowns along the seed of the knowns, by central differences over a millionth of each known.
static inline bool fmu_differentiate(Fmu* m, const unsigned* unknowns, size_t nunknown, const unsigned* knowns,
                                     size_t nknown, const double* seed, double* sensitivity)
{
    Fmu before = *m;
    double size = 1.0;
    for (size_t i = 0; i < nknown; i++) {
        if (knowns[i] >= (unsigned)fmu_nvariable) {
            return false;
        }
        size = fmax(size, fabs(before.r[fmu_variables[knowns[i]].at]));
    }
    for (int side = 0; side < 2; side++) {
        double change = (side == 0 ? 1e-6 : -1e-6) * size;
        *m = before;
        for (size_t i = 0; i < nknown; i++) {
            m->r[fmu_variables[knowns[i]].at] += change * seed[i];
        }
        fmu_compute(m);
        for (size_t i = 0; i < nunknown; i++) {
            double value = unknowns[i] < (unsigned)fmu_nvariable ? m->r[fmu_variables[unknowns[i]].at] : 0.0;
            sensitivity[i] = side == 0 ? value : FMU_DERIVATIVE_FACTOR * (sensitivity[i] - value) / (2e-6 * size);
        }
    }
    *m = before;
    return true;
}

#endif
