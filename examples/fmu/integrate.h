// The integrator of co-simulation: steps of Runge and Kutta's fourth order, no longer than fmu_longest_step.
// SPDX-License-Identifier: Apache-2.0
#ifndef FMU_INTEGRATE_H
#define FMU_INTEGRATE_H

#include "fmu.h"

#include <math.h>
#include <string.h>

// How the importer takes part in a step of co-simulation.
typedef struct FmuGuest {
    void (*update)(void* context, double t);  // sets inputs at this time; NULL: they are constant over the step
    void* context;
    bool stops_at_events;  // events are handled by the importer; otherwise inside the step
} FmuGuest;

static void fmu_slope(Fmu* m, double t, const double* x, double* k, const FmuGuest* guest)
{
    m->time = t;
    if (guest->update != NULL) {
        guest->update(guest->context, t);
    }
    for (int i = 0; i < fmu_nx; i++) {
        m->r[fmu_states[i]] = x[i];
    }
    fmu_compute(m);
    for (int i = 0; i < fmu_nx; i++) {
        k[i] = m->r[fmu_derivatives[i]];
    }
}

static void fmu_take_step(Fmu* m, double t, double h, const FmuGuest* guest)
{
    double x[FMU_REALS], y[FMU_REALS], k[4][FMU_REALS];
    static const double SHARE[4] = {0.0, 0.5, 0.5, 1.0};
    for (int i = 0; i < fmu_nx; i++) {
        x[i] = m->r[fmu_states[i]];
    }
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < fmu_nx; i++) {
            y[i] = x[i] + (s > 0 ? SHARE[s] * h * k[s - 1][i] : 0.0);
        }
        fmu_slope(m, t + SHARE[s] * h, y, k[s], guest);
    }
    for (int i = 0; i < fmu_nx; i++) {
        m->r[fmu_states[i]] = x[i] + h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
    }
    m->time = t + h;
    fmu_compute(m);
}

static bool fmu_has_crossed(const Fmu* m, const double* z)
{
    double z_end[FMU_REALS];
    fmu_indicate(m, z_end);
    for (int i = 0; i < fmu_nz; i++) {
        if ((z[i] > 0.0) != (z_end[i] > 0.0)) {
            return true;
        }
    }
    return false;
}

// From t over h. An event inside a step is located by bisection over its length. Returns where it ended: at t + h, or at the
// first event where the guest handles them, *has_event then.
static double fmu_integrate(Fmu* m, double t, double h, const FmuGuest* guest, bool* has_event)
{
    double z[FMU_REALS], end = t + h;
    int n = (int)ceil(h / fmu_longest_step - 1e-9);
    double step = h / (n < 1 ? 1 : n);
    *has_event = false;
    for (int guard = 0; t < end - 1e-12 * fmax(1.0, fabs(end)) && guard < 10000; guard++) {
        Fmu before = *m;
        double taken = fmin(step, end - t);
        taken = m->next_event >= 0.0 && m->next_event > t ? fmin(taken, m->next_event - t) : taken;
        fmu_compute(m);
        fmu_indicate(m, z);
        fmu_take_step(m, t, taken, guest);
        bool has_time_event = m->next_event >= 0.0 && t + taken >= m->next_event - 1e-12;
        bool has_state_event = fmu_has_crossed(m, z);
        double low = 0.0, high = taken;
        for (int k = 0; has_state_event && k < 50; k++) {
            double middle = 0.5 * (low + high);
            *m = before;
            fmu_take_step(m, t, middle, guest);
            *(fmu_has_crossed(m, z) ? &high : &low) = middle;
        }
        if (has_state_event) {
            *m = before;
            fmu_take_step(m, t, high, guest);
        }
        t += high;
        if ((has_state_event || has_time_event) && guest->stops_at_events) {
            *has_event = true;
            return t;
        }
        if (has_state_event || has_time_event) {
            fmu_handle_event(m);
        }
    }
    m->time = end;
    fmu_compute(m);
    return end;
}

#endif
