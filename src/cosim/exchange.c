// One macro step H of mechanism and circuit, K micro steps h = H / K of the circuit.
//
// Impulse exchange: the mechanism ends with exactly the velocity and position that its interface model had in the
// circuit's micro steps, because it takes over the impulse and the first moment of the interface forces. One evaluation
// at the middle, q_m = q (+) H/2 v, serves the interface model and the mechanism's step:
//
//   w += h (a0 + W lambda),  s += h w                         K times, with the circuit's lambda(s, w)
//   P0 = sum h lambda,  P1 = sum h lambda (K - k) / K         Heun's rule: weights (K - k - 1/2) / K, means of w and lambda
//   v+ = v + H v_dot + X P0                                   v_dot, X with the bilateral rows' answer
//   q+ = q (+) H (v + theta H v_dot + X P1)                   theta = (1 + 1/K) / 2, Heun's rule: 1/2
//
// Hold exchange [contact-rim, section 3; cranes, section 2]: both sides start at the same time (Jacobi); the mechanism takes
// its own step with the last force of the step before, the circuit runs with interface model or predicted rates.
#include "cosim/cosim.h"

#include "base/error.h"
#include "multibody/latch.h"
#include "multibody/kinematics.h"
#include "stepper/stepper.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- circuit

// Hand motions of the interfaces to the circuit; w_end NULL: constant rates. Cylinders without a pair stand still.
static void set_pistons(ItmCosim* x, const double* s, const double* w, const double* w_end)
{
    for (int i = 0; i < x->circuit->ncyl; i++) {
        x->s_all[i] = x->hydraulics->s[i];
        x->w_all[i] = x->w_end_all[i] = 0.0;
    }
    for (int i = 0; i < x->n; i++) {
        int cylinder = x->cylinder[i];
        x->s_all[cylinder] = s[i];
        x->w_all[cylinder] = w[i];
        x->w_end_all[cylinder] = w_end != NULL ? w_end[i] : w[i];
    }
    itm_hydraulics_set_pistons(x->circuit, x->hydraulics, x->s_all, x->w_all, x->w_end_all);
}

static void get_forces(ItmCosim* x, double* lambda)
{
    itm_hydraulics_get_forces(x->circuit, x->hydraulics, x->force_all);
    for (int i = 0; i < x->n; i++) {
        lambda[i] = x->force_all[x->cylinder[i]];
    }
}

void itm_exchange_compute_forces(ItmCosim* x, double* lambda, const double* s, const double* w)
{
    set_pistons(x, s, w, NULL);
    get_forces(x, lambda);
}

static ItmStatus step_circuit(ItmCosim* x)
{
    ItmStatus status = itm_hydraulics_step(x->circuit, x->hydraulics, x->h);
    if (status != ITM_OK) {
        const ItmError* cause = itm_hydraulics_get_error(x->hydraulics);
        itm_error_set(&x->error, status, "itm_cosim_step", cause->field,
                      "hydraulics: %s; take a smaller macro step or coupling rim with exchange impulse",
                      cause->message);
    }
    return status;
}

// ---------------------------------------------------------------------------- circuit with interface model

// w_end = w + h (a0 + W lambda)
static void advance_rates(const ItmCosim* x, double* w_end, const double* lambda)
{
    int n = x->n;
    for (int i = 0; i < n; i++) {
        double a = x->rim.a0[i];
        for (int j = 0; j < n; j++) {
            a += x->rim.W[i * n + j] * lambda[j];
        }
        w_end[i] = x->w[i] + x->h * a;
    }
}

// Interface forces of one micro step into x->lambda, the last ones into x->force.
static ItmStatus take_micro_step(ItmCosim* x)
{
    set_pistons(x, x->s, x->w, NULL);
    if (x->use_heun) {
        get_forces(x, x->lambda);
        advance_rates(x, x->w_end, x->lambda);
        set_pistons(x, x->s, x->w, x->w_end);
    }
    ItmStatus status = step_circuit(x);
    if (status != ITM_OK) {
        return status;
    }
    get_forces(x, x->force);
    for (int i = 0; i < x->n; i++) {
        x->lambda[i] = x->use_heun ? 0.5 * (x->lambda[i] + x->force[i]) : x->force[i];
    }
    return ITM_OK;
}

// K micro steps; impulses P0, moments P1 and work of the interface forces.
static ItmStatus run_with_rim(ItmCosim* x)
{
    int K = x->K, n = x->n;
    double h = x->h;
    x->work = 0.0;
    memset(x->P0, 0, sizeof(double) * (size_t)n);
    memset(x->P1, 0, sizeof(double) * (size_t)n);
    memcpy(x->s, x->rim.s, sizeof(double) * (size_t)n);
    memcpy(x->w, x->rim.w, sizeof(double) * (size_t)n);
    for (int k = 0; k < K; k++) {
        ItmStatus status = take_micro_step(x);
        if (status != ITM_OK) {
            return status;
        }
        advance_rates(x, x->w_end, x->lambda);
        double weight = (K - k - (x->use_heun ? 0.5 : 0.0)) / K;
        for (int i = 0; i < n; i++) {
            double p = h * x->lambda[i], w_mean = 0.5 * (x->w[i] + x->w_end[i]);
            x->P0[i] += p;
            x->P1[i] += weight * p;
            x->work += p * w_mean;
            x->s[i] += h * (x->use_heun ? w_mean : x->w_end[i]);
            x->w[i] = x->w_end[i];
        }
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- circuit with predicted rates

// w(tau) = w_n + slope tau; lengths follow. The last force into x->force.
static ItmStatus run_with_prediction(ItmCosim* x)
{
    memcpy(x->s, x->rim.s, sizeof(double) * (size_t)x->n);
    memset(x->P0, 0, sizeof(double) * (size_t)x->n);
    for (int k = 0; k < x->K; k++) {
        for (int i = 0; i < x->n; i++) {
            x->w[i] = x->rim.w[i] + k * x->h * x->slope[i];
            x->w_end[i] = x->rim.w[i] + (k + 1) * x->h * x->slope[i];
        }
        set_pistons(x, x->s, x->w, x->w_end);
        ItmStatus status = step_circuit(x);
        if (status != ITM_OK) {
            return status;
        }
        get_forces(x, x->force);
        for (int i = 0; i < x->n; i++) {
            x->s[i] += 0.5 * x->h * (x->w[i] + x->w_end[i]);
            x->P0[i] += x->h * x->force[i];
        }
    }
    return ITM_OK;
}

static void predict_rates(ItmCosim* x)
{
    bool is_linear = x->options.coupling == ITM_COUPLING_LINEAR && *x->has_prev > 0.0;
    for (int i = 0; i < x->n; i++) {
        x->slope[i] = is_linear ? (x->rim.w[i] - x->w_prev[i]) / x->options.macro_step : 0.0;
        x->w_prev[i] = x->rim.w[i];
    }
    *x->has_prev = 1.0;
}

// ---------------------------------------------------------------------------- mechanism

static void set_inputs(ItmCosim* x, const double* force)
{
    for (int i = 0; i < x->n; i++) {
        x->data->input[x->rim.actuator[i]] = force != NULL ? force[i] : 0.0;
    }
}

// Interface model for the step from time t, evaluated in the configuration that d->q has now, `shift` ahead of t.
static ItmStatus reduce(ItmCosim* x, double t, double shift)
{
    const ItmModel* m = x->model;
    ItmData* d = x->data;
    double H = x->options.macro_step;
    set_inputs(x, NULL);
    ItmStatus status = itm_euler_evaluate(m, d, t + shift, H);
    if (status == ITM_OK) {
        itm_euler_factor(m, d, H);
        itm_rim_extract(m, d, &x->rim, t, H, shift);
    }
    return status;
}

// Works over the step: forces at its middle, interfaces as the interface model had them.
static void book_work(ItmCosim* x)
{
    ItmData* d = x->data;
    for (int i = 0; i < ITM_LEDGER_FORCES; i++) {
        d->ledger[i] += x->options.macro_step * d->power[i];
    }
    d->ledger[ITM_LEDGER_LOAD] += x->work;
}

// v+ and q+ from the impulses and moments; then the joints that are rows are closed.
static void take_over(ItmCosim* x, double t)
{
    const ItmModel* m = x->model;
    ItmData* d = x->data;
    const ItmRim* rim = &x->rim;
    double H = x->options.macro_step, theta = x->use_heun ? 0.5 : 0.5 * (1.0 + 1.0 / x->K);
    double* v_mean = d->x1;
    memcpy(v_mean, d->v, sizeof(double) * (size_t)m->nv);
    itm_rim_respond(rim, v_mean, theta * H, x->P1);
    itm_rim_respond(rim, d->v, H, x->P0);
    itm_kinematics_integrate(m, d->q, x->q_start, v_mean, H);
    d->position_state = ITM_POSITION_STALE;
    if (m->nrow > 0) {
        for (int k = 0; k < m->nrow; k++) {
            d->lambda[k] = H * rim->lambda[k];
            for (int i = 0; i < rim->n; i++) {
                d->lambda[k] -= rim->mu[i * m->nrow + k] * x->P0[i];
            }
        }
        itm_euler_finish_rows(m, d, t + H, H);
    }
}

// ---------------------------------------------------------------------------- macro steps

ItmStatus itm_exchange_step_impulse(ItmCosim* x)
{
    const ItmModel* m = x->model;
    ItmData* d = x->data;
    double t = itm_data_get_time(d), H = x->options.macro_step;
    itm_data_refresh(m, d);
    itm_rim_measure(m, d, &x->rim);

    // q_m = q (+) H/2 v
    memcpy(x->q_start, d->q, sizeof(double) * (size_t)m->nq);
    itm_kinematics_integrate(m, d->q, x->q_start, d->v, 0.5 * H);
    d->position_state = ITM_POSITION_STALE;
    ItmStatus status = reduce(x, t, 0.5 * H);
    if (status == ITM_OK) {
        status = run_with_rim(x);
    }
    if (status == ITM_OK) {
        book_work(x);
        take_over(x, t);
        set_inputs(x, x->force);
        *d->steps += 1.0;
        d->info.steps++;
        itm_latch_apply_events(m, d);
    }
    return status;
}

ItmStatus itm_exchange_step_hold(ItmCosim* x)
{
    ItmData* d = x->data;
    bool use_rim = x->options.coupling == ITM_COUPLING_RIM;
    itm_data_refresh(x->model, d);
    itm_rim_measure(x->model, d, &x->rim);
    predict_rates(x);
    ItmStatus status = use_rim ? reduce(x, itm_data_get_time(d), 0.0) : ITM_OK;
    if (status != ITM_OK) {
        return status;
    }
    set_inputs(x, x->force);
    status = itm_step(x->model, d);
    if (status != ITM_OK) {
        itm_error_set(&x->error, status, "itm_cosim_step", "mechanism", "mechanism: %s", d->error.message);
        return status;
    }
    status = use_rim ? run_with_rim(x) : run_with_prediction(x);
    set_inputs(x, x->force);
    return status;
}
