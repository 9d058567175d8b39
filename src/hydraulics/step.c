// One step: the explicit integrators, and what every integrator shares.
#include "hydraulics/cylinder.h"

#include "base/error.h"
#include "base/guard.h"

#include <math.h>
#include <string.h>

#define STROKE_SLACK 1e-3  // of the stroke: what an end stop may yield before the length counts as an error

// ---------------------------------------------------------------------------- explicit integrators

// Book the powers of the stage just computed for a time dt.
static void book(const ItmCircuit* c, ItmHydraulics* d, double dt)
{
    if (!d->options.use_ledger) {
        return;
    }
    double power[ITM_HYDRAULIC_ACCOUNT_COUNT];
    itm_kernel_compute_power(c, d, power);
    for (int i = 0; i < ITM_HYDRAULIC_ACCOUNT_COUNT; i++) {
        d->ledger[i] += dt * power[i];
    }
}

// k = f(t + tau, x + tau k_prev), counted with its weight
static void compute_stage(const ItmCircuit* c, ItmHydraulics* d, double t, double h, double tau, double* k,
                          const double* k_prev, double weight)
{
    const double* x = d->x;
    if (k_prev != NULL) {
        for (int i = 0; i < c->nx; i++) {
            d->x_stage[i] = d->x[i] + tau * k_prev[i];
        }
        x = d->x_stage;
    }
    itm_stage_set(c, d, t, h, tau);
    itm_kernel_compute(c, d, k, x);
    book(c, d, weight * h);
}

static void step_euler(const ItmCircuit* c, ItmHydraulics* d, double t, double h)
{
    compute_stage(c, d, t, h, 0.0, d->k[0], NULL, 1.0);
    for (int i = 0; i < c->nx; i++) {
        d->x[i] += h * d->k[0][i];
    }
}

static void step_heun(const ItmCircuit* c, ItmHydraulics* d, double t, double h)
{
    double** k = d->k;
    compute_stage(c, d, t, h, 0.0, k[0], NULL, 0.5);
    compute_stage(c, d, t, h, h, k[1], k[0], 0.5);
    for (int i = 0; i < c->nx; i++) {
        d->x[i] += 0.5 * h * (k[0][i] + k[1][i]);
    }
}

static void step_rk4(const ItmCircuit* c, ItmHydraulics* d, double t, double h)
{
    double** k = d->k;
    compute_stage(c, d, t, h, 0.0, k[0], NULL, 1.0 / 6.0);
    compute_stage(c, d, t, h, 0.5 * h, k[1], k[0], 1.0 / 3.0);
    compute_stage(c, d, t, h, 0.5 * h, k[2], k[1], 1.0 / 3.0);
    compute_stage(c, d, t, h, h, k[3], k[2], 1.0 / 6.0);
    for (int i = 0; i < c->nx; i++) {
        d->x[i] += h / 6.0 * (k[0][i] + 2.0 * (k[1][i] + k[2][i]) + k[3][i]);
    }
}

// ---------------------------------------------------------------------------- checks

// Pistons inside their strokes at the present stage.
static ItmStatus check_strokes(const ItmCircuit* c, ItmHydraulics* d, double t)
{
    for (int i = 0; i < c->ncyl; i++) {
        const ItmCylinder* cylinder = &c->cylinders[i];
        double l_1 = itm_cylinder_get_extension(d, i, d->s_stage[i]),
               slack = cylinder->motion != ITM_NONE ? 0.0 : STROKE_SLACK * cylinder->stroke;
        if (!cylinder->is_rotary && !(l_1 >= -slack && l_1 <= cylinder->stroke + slack)) {
            return itm_error_set(&d->error, isfinite(l_1) ? ITM_ERR_DIVERGED : ITM_ERR_NOT_FINITE,
                                 "itm_hydraulics_step", cylinder->name,
                                 "cylinder '%s' left its stroke at t = %.9g s: its length is %g m, not in [%g, %g]",
                                 cylinder->name, t, d->s_stage[i], d->s_0[i], d->s_0[i] + cylinder->stroke);
        }
    }
    return ITM_OK;
}

static ItmStatus check_states(const ItmCircuit* c, ItmHydraulics* d, double t)
{
    for (int i = 0; i < c->nx; i++) {
        if (!isfinite(d->x[i])) {
            return itm_error_set(&d->error, ITM_ERR_NOT_FINITE, "itm_hydraulics_step", c->state_name[i],
                                 "%s became infinite or not a number at t = %.9g s", c->state_name[i], t);
        }
        if (i < c->nvol && d->x[i] >= c->oil[i].highest) {
            return itm_error_set(&d->error, ITM_ERR_DIVERGED, "itm_hydraulics_step", c->state_name[i],
                                 "%s reached %g Pa at t = %.9g s, where its oil has no positive bulk modulus",
                                 c->state_name[i], d->x[i], t);
        }
    }
    return ITM_OK;
}

// Count the volumes that begin to cavitate in this step.
static void note_cavitation(const ItmCircuit* c, ItmHydraulics* d, double t)
{
    const double* x_prev = d->backup;  // the state begins with x
    for (int i = 0; i < c->nvol; i++) {
        if (d->x[i] < c->oil[i].vapour && x_prev[i] >= c->oil[i].vapour) {
            d->counters[ITM_COUNT_CAVITATIONS] += 1.0;
            d->counters[ITM_COUNT_CAVITATION_TIME] = t;
            for (int id = 0; id < c->nnode; id++) {
                if (c->node_index[id] == i) {
                    d->counters[ITM_COUNT_CAVITATION_NODE] = id;
                }
            }
        }
    }
}

// ---------------------------------------------------------------------------- step

static ItmStatus integrate(const ItmCircuit* c, ItmHydraulics* d, double t, double h)
{
    itm_stage_begin(c, d, t, h);
    itm_stage_set(c, d, t, h, 0.0);
    ItmStatus status = check_strokes(c, d, t);
    if (status != ITM_OK) {
        return status;
    }
    switch (d->options.integrator) {
    case ITM_HYDRAULIC_EULER:
        step_euler(c, d, t, h);
        break;
    case ITM_HYDRAULIC_HEUN:
        step_heun(c, d, t, h);
        break;
    case ITM_HYDRAULIC_RK4:
        step_rk4(c, d, t, h);
        break;
    case ITM_HYDRAULIC_TRAPEZOIDAL:
        return itm_trapezoidal_step(c, d, t, h);
    case ITM_HYDRAULIC_ADAPTIVE:
        return itm_hydraulics_adaptive_step(c, d, t, h);
    case ITM_HYDRAULIC_INTEGRATOR_COUNT:
        break;
    }
    return ITM_OK;
}

// Pistons to the end of their motion, time to the end of the step.
static void finish(const ItmCircuit* c, ItmHydraulics* d, double h)
{
    memcpy(d->s, d->s_stage, sizeof(double) * (size_t)c->ncyl);
    memcpy(d->w, d->w_stage, sizeof(double) * (size_t)c->ncyl);
    memcpy(d->w_end, d->w, sizeof(double) * (size_t)c->ncyl);
    if (h != d->clock[2]) {
        d->clock[0] = itm_hydraulics_get_time(d);
        d->clock[1] = 0.0;
        d->clock[2] = h;
    }
    d->clock[1] += 1.0;
    d->counters[ITM_COUNT_STEPS] += 1.0;
    d->counters[ITM_COUNT_TOTAL] += d->counters[ITM_COUNT_ITERATIONS];
}

ItmStatus itm_hydraulics_step(const ItmCircuit* c, ItmHydraulics* d, double h)
{
    ITM_GUARD(c != NULL && d != NULL, ITM_ERR_ARGUMENT);
    if (!isfinite(h) || h <= 0) {
        return itm_error_set(&d->error, ITM_ERR_ARGUMENT, __func__, NULL, "the step must be positive, got %g", h);
    }
    memcpy(d->backup, d->state, sizeof(double) * (size_t)d->nstate);
    double t = itm_hydraulics_get_time(d);
    ItmStatus status = integrate(c, d, t, h);
    if (status == ITM_OK) {
        itm_stage_set(c, d, t, h, h);
        status = check_strokes(c, d, t + h);
    }
    status = status == ITM_OK ? check_states(c, d, t + h) : status;
    if (status != ITM_OK) {
        memcpy(d->state, d->backup, sizeof(double) * (size_t)d->nstate);
        return status;
    }
    note_cavitation(c, d, t + h);
    finish(c, d, h);
    return ITM_OK;
}
