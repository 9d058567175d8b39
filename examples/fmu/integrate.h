// The integrator of co-simulation: steps of Runge and Kutta's fourth order, no longer than fmu_longest_step.
// SPDX-License-Identifier: Apache-2.0
#ifndef FMU_INTEGRATE_H
#define FMU_INTEGRATE_H

#include "fmu.h"

#include <math.h>
#include <string.h>

static void fmu_slope(Fmu* m, double t, const double* x, double* k)
{
    m->time = t;
    for (int i = 0; i < fmu_nx; i++) {
        m->r[fmu_states[i]] = x[i];
    }
    fmu_compute(m);
    for (int i = 0; i < fmu_nx; i++) {
        k[i] = m->r[fmu_derivatives[i]];
    }
}

static void fmu_take_step(Fmu* m, double t, double h)
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
        fmu_slope(m, t + SHARE[s] * h, y, k[s]);
    }
    for (int i = 0; i < fmu_nx; i++) {
        m->r[fmu_states[i]] = x[i] + h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
    }
    m->time = t + h;
}

// From t over h; an event inside a step is located by bisection over its length.
static void fmu_integrate(Fmu* m, double t, double h)
{
    double z[FMU_REALS], z_end[FMU_REALS];
    int n = (int)ceil(h / fmu_longest_step - 1e-9);
    double step = h / (n < 1 ? 1 : n), end = t + h;
    for (int guard = 0; t < end - 1e-12 * fmax(1.0, fabs(end)) && guard < 10000; guard++) {
        Fmu before = *m;
        double taken = fmin(step, end - t);
        taken = m->next_event >= 0.0 && m->next_event > t ? fmin(taken, m->next_event - t) : taken;
        fmu_compute(m);
        fmu_indicate(m, z);
        fmu_take_step(m, t, taken);
        fmu_compute(m);
        fmu_indicate(m, z_end);
        bool has_event = m->next_event >= 0.0 && t + taken >= m->next_event - 1e-12;
        double low = 0.0, high = taken;
        for (int i = 0; i < fmu_nz; i++) {
            has_event = has_event || (z[i] > 0.0) != (z_end[i] > 0.0);
        }
        for (int k = 0; has_event && fmu_nz > 0 && k < 50; k++) {
            double middle = 0.5 * (low + high);
            bool has_crossed = false;
            *m = before;
            fmu_take_step(m, t, middle);
            fmu_compute(m);
            fmu_indicate(m, z_end);
            for (int i = 0; i < fmu_nz; i++) {
                has_crossed = has_crossed || (z[i] > 0.0) != (z_end[i] > 0.0);
            }
            *(has_crossed ? &high : &low) = middle;
        }
        if (has_event) {
            *m = before;
            fmu_take_step(m, t, high);
            fmu_compute(m);
            fmu_handle_event(m);
            taken = high;
        }
        t += taken;
    }
    m->time = end;
    fmu_compute(m);
}

#endif
