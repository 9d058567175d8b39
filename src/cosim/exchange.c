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

// The RIM's errors are those of its data object.
static ItmStatus pass_error(ItmCosim* x, ItmStatus status)
{
    if (status != ITM_OK) {
        itm_error_set(&x->error, status, "itm_cosim_step", "mechanism", "mechanism: %s", x->data->error.message);
    }
    return status;
}

// Interface forces of one micro step into x->lambda, the last ones into x->force.
static ItmStatus take_micro_step(ItmCosim* x)
{
    ItmRim* rim = &x->rim;
    ItmStatus status = ITM_OK;
    set_pistons(x, rim->s, rim->w, NULL);
    if (x->use_heun) {
        get_forces(x, x->lambda);
        status = pass_error(x, itm_rim_predict(rim, x->h, x->lambda, x->w_end));
        set_pistons(x, rim->s, rim->w, x->w_end);
    }
    status = status == ITM_OK ? step_circuit(x) : status;
    if (status != ITM_OK) {
        return status;
    }
    get_forces(x, x->force);
    for (int i = 0; i < x->n; i++) {
        x->lambda[i] = x->use_heun ? 0.5 * (x->lambda[i] + x->force[i]) : x->force[i];
    }
    return pass_error(x, itm_rim_advance(rim, x->h, x->lambda));
}

// K micro steps
static ItmStatus run_with_rim(ItmCosim* x)
{
    itm_rim_begin(&x->rim, x->K, x->use_heun);
    ItmStatus status = ITM_OK;
    for (int k = 0; k < x->K && status == ITM_OK; k++) {
        status = take_micro_step(x);
    }
    memcpy(x->P0, x->rim.P0, sizeof(double) * (size_t)x->n);
    return status;
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
        x->data->input[x->rim.actuator[i]] = force[i];
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
    ItmStatus status = pass_error(x, itm_rim_extract(m, d, &x->rim, t, H, 0.5 * H, ITM_RIM_RIDE));
    status = status == ITM_OK ? run_with_rim(x) : status;
    status = status == ITM_OK ? pass_error(x, itm_rim_take_over(m, d, &x->rim)) : status;
    if (status == ITM_OK) {
        set_inputs(x, x->force);
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
    ItmStatus status = ITM_OK;
    if (use_rim) {
        status = pass_error(x, itm_rim_extract(x->model, d, &x->rim, itm_data_get_time(d), x->options.macro_step, 0.0,
                                               ITM_RIM_ELIMINATE));
    }
    set_inputs(x, x->force);
    status = status == ITM_OK ? pass_error(x, itm_step(x->model, d)) : status;
    if (status == ITM_OK) {
        status = use_rim ? run_with_rim(x) : run_with_prediction(x);
        set_inputs(x, x->force);
    }
    return status;
}
