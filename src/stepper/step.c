// Stepping: options, the choice of the stepper, and the guard that a failed step leaves the state as it was.
#include "stepper/stepper.h"

#include "base/error.h"
#include "base/guard.h"
#include "contact/contact.h"
#include "multibody/bounded.h"
#include "multibody/latch.h"
#include "multibody/sleep.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char* const STEPPER_NAMES[ITM_STEPPER_COUNT] = {"euler",     "ali1",     "ali3p",
                                                             "reference", "variable", "adaptive"};

const char* itm_stepper_name(ItmStepper stepper)
{
    return (int)stepper >= 0 && stepper < ITM_STEPPER_COUNT ? STEPPER_NAMES[stepper] : NULL;
}

static const char* const MODAL_RULE_NAMES[ITM_MODAL_RULE_COUNT] = {"newmark", "backward"};

const char* itm_stepper_modal_rule_name(ItmModalRule rule)
{
    return (int)rule >= 0 && rule < ITM_MODAL_RULE_COUNT ? MODAL_RULE_NAMES[rule] : NULL;
}

// ---------------------------------------------------------------------------- options

ItmStatus itm_stepper_check(const ItmModel* m, ItmStepper stepper, ItmError* error)
{
    if (m->nlatch > 0 && stepper == ITM_STEPPER_ALI3P) {
        return itm_error_set(error, ITM_ERR_UNSUPPORTED, __func__, "stepper",
                             "stepper 'ali3p' cannot lock or grasp: use 'euler', 'ali1' or 'reference'");
    }
    if (m->contact_options.sleep_after > 0.0 && itm_stepper_is_variable(stepper)) {
        return itm_error_set(error, ITM_ERR_UNSUPPORTED, __func__, "stepper",
                             "stepper '%s' cannot let bodies sleep: use 'euler', or contact.sleep_after 0",
                             itm_stepper_name(stepper));
    }
    if (itm_stepper_has_bounds(stepper) || !itm_model_has_bounds(m)) {
        return ITM_OK;
    }
    return itm_error_set(error, ITM_ERR_UNSUPPORTED, __func__, "stepper",
                         "stepper '%s' does not support contacts, joint limits, clearance, dry friction or motors with "
                         "a force limit: use "
                         "'euler'",
                         itm_stepper_name(stepper));
}

// ---------------------------------------------------------------------------- life

void itm_reset(const ItmModel* m, ItmData* d)
{
    ITM_GUARD_VOID(m != NULL && d != NULL);
    itm_data_reset_to_start(m, d);
}

// ---------------------------------------------------------------------------- steps of variable length

double itm_step_limit(const ItmData* d, double h_max)
{
    return fmin(h_max, d->stop_time - *d->time);
}

double itm_step_spread(const ItmData* d, double h, double h_min, double h_max)
{
    // times are sums of steps: a rest that misses a step by rounding is one
    double rest = d->stop_time - *d->time, rounding = 1e-9 * h;
    if (rest - h >= h_min - rounding || h >= rest) {
        return fmin(h, rest);
    }
    bool is_one = rest < 2.0 * h_min - rounding && rest <= h_max + rounding;
    return is_one ? rest : 0.5 * rest;
}

void itm_step_pass_time(ItmData* d, double advance, double h)
{
    bool is_end = *d->time + advance >= d->stop_time || d->stop_time - (*d->time + advance) < 1e-9 * advance;
    *d->time = is_end ? d->stop_time : *d->time + advance;
    *d->step_size = h;
    d->info.largest_step = fmax(d->info.largest_step, h);
    d->info.smallest_step = d->info.smallest_step > 0.0 ? fmin(d->info.smallest_step, h) : h;
}

// Whether a stepper of variable step has nothing left to do before d->stop_time: a rest that is rounding of time is no step.
static bool is_at_stop(const ItmData* d)
{
    double rest = d->stop_time - *d->time;
    return itm_stepper_is_variable(d->options.stepper) && rest < INFINITY &&
           rest <= 4.0 * DBL_EPSILON * fabs(d->stop_time);
}

// ---------------------------------------------------------------------------- step

// Sum of |x|: four sums side by side, so that none waits for the one before it.
static double sum_magnitudes(const double* x, int n)
{
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) {
            sum[k] += fabs(x[i + k]);
        }
    }
    for (; i < n; i++) {
        sum[0] += fabs(x[i]);
    }
    return sum[0] + sum[1] + sum[2] + sum[3];
}

static double find_fastest(const ItmBody* body, const double* v)
{
    double most = 0.0;
    for (int k = 0; k < body->nv; k++) {
        most = fmax(most, fabs(v[body->v_adr + k]));
    }
    return most;
}

int itm_step_find_runaway(const ItmModel* m, const ItmData* d)
{
    if (isfinite(sum_magnitudes(d->q, m->nq)) && sum_magnitudes(d->v, m->nv) <= ITM_SPEED_OF_LIGHT) {
        return ITM_NONE;
    }
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        double sum = sum_magnitudes(d->q + body->q_adr, body->nq) + sum_magnitudes(d->v + body->v_adr, body->nv);
        if (!isfinite(sum) || find_fastest(body, d->v) > ITM_SPEED_OF_LIGHT) {
            return i;
        }
    }
    return ITM_NONE;
}

void itm_step_describe_runaway(const ItmModel* m, const ItmData* d, int body, char* text, size_t size)
{
    double fastest = find_fastest(&m->bodies[body], d->v);
    if (fastest > ITM_SPEED_OF_LIGHT && isfinite(fastest)) {
        snprintf(text, size, "moves at %.3g m/s or rad/s, faster than light,", fastest);
    } else {
        snprintf(text, size, "has a position or velocity that is not finite");
    }
}

// The contact that pushed hardest on a body in this step, or ITM_NONE; one that is not finite pushes harder than any.
static int find_hardest_contact(const ItmModel* m, const ItmData* d, int body)
{
    int hardest = ITM_NONE;
    double most = 0.0;
    for (int i = 0; i < itm_contact_get_count(d); i++) {
        ItmContactInfo c = itm_contact_look(d, i);
        bool is_on_body = (c.body_a != ITM_GROUND && m->body_index[c.body_a] == body) ||
                          (c.body_b != ITM_GROUND && m->body_index[c.body_b] == body);
        if (is_on_body && !(c.normal_impulse <= most)) {
            most = isnan(c.normal_impulse) ? INFINITY : c.normal_impulse;
            hardest = i;
        }
    }
    return hardest;
}

static ItmStatus fail_runaway(const ItmModel* m, ItmData* d, int body)
{
    char where[200] = "";
    int contact = find_hardest_contact(m, d, m->bodies[body].owner);
    if (contact != ITM_NONE) {
        ItmContactInfo c = itm_contact_look(d, contact);
        snprintf(where, sizeof where, ", where '%s'%s%s%s touched hardest", c.name_a, c.name_b != NULL ? " and '" : "",
                 c.name_b != NULL ? c.name_b : "", c.name_b != NULL ? "'" : "");
    }
    char what[80];
    itm_step_describe_runaway(m, d, body, what, sizeof what);
    return itm_error_set(&d->error, ITM_ERR_NOT_FINITE, "itm_step", NULL,
                         "body '%s' %s after the step from t = %.9g s%s; take a smaller step or look at its forces",
                         m->bodies[body].name, what, itm_data_get_time(d), where);
}

ItmStatus itm_step_judge(const ItmModel* m, ItmData* d)
{
    const ItmBounded* b = d->bounded;
    const ItmContactOptions* options = &m->contact_options;
    if (b->worst_row == ITM_NONE) {
        d->info.bad_steps = 0;
        return ITM_OK;
    }
    char name[sizeof d->info.worst_name];
    itm_data_name_row(m, d, b->worst_row, false, name, sizeof name);
    if (!(b->worst_residual <= d->info.worst_residual)) {
        d->info.worst_residual = b->worst_residual;
        d->info.worst_time = itm_data_get_time(d);
        memcpy(d->info.worst_name, name, sizeof name);
    }
    d->info.bad_steps = b->worst_residual <= options->residual_limit ? 0 : d->info.bad_steps + 1;
    if (options->residual_steps == 0 || d->info.bad_steps < options->residual_steps) {
        return ITM_OK;
    }
    return itm_error_set(
        &d->error, ITM_ERR_DIVERGED, "itm_step", NULL,
        "the contact solver failed in %d consecutive steps, the last from t = %.9g s: %s has a residual of "
        "%.2g of its speed (residual_limit %.2g); use a smaller step, less friction or stiffness, remove overlaps "
        "at the start, or allow more iterations",
        d->info.bad_steps, itm_data_get_time(d), name, b->worst_residual, options->residual_limit);
}

// Losses of impacts; time has not advanced yet.
static void note_impact_loss(ItmData* d)
{
    d->info.impact_loss += d->info.step_impact_loss;
    if (d->info.step_impact_loss > d->info.impact_loss_most) {
        d->info.impact_loss_most = d->info.step_impact_loss;
        d->info.impact_loss_time = itm_data_get_time(d);
    }
}

void itm_step_finish(const ItmModel* m, ItmData* d, const double* v_start, double h)
{
    if (d->bounded != NULL) {
        itm_row_memory_commit(&d->bounded->memory);
        note_impact_loss(d);
    }
    *d->steps += 1.0;
    itm_sleep_finish(m, d, h);
    itm_data_note_rates(m, d, v_start, h);
    d->info.steps++;
    d->info.total_iterations += d->info.iterations;
    itm_latch_apply_events(m, d);
    *d->energy.impact_peak = fmax(*d->energy.impact_peak, d->energy.ledger[ITM_LEDGER_IMPACT]);
}

static ItmStatus dispatch(const ItmModel* m, ItmData* d)
{
    switch (d->options.stepper) {
    case ITM_STEPPER_ALI1:
        return itm_ali1_step(m, d);
    case ITM_STEPPER_ALI3P:
        return itm_ali3p_step(m, d);
    case ITM_STEPPER_REFERENCE:
        return itm_reference_step(m, d);
    case ITM_STEPPER_VARIABLE:
        return itm_variable_step(m, d);
    case ITM_STEPPER_ADAPTIVE:
        return itm_adaptive_step(m, d);
    default:
        return itm_euler_step(m, d);
    }
}

ItmStatus itm_step(const ItmModel* m, ItmData* d)
{
    ITM_GUARD(m != NULL && d != NULL, ITM_ERR_ARGUMENT);
    if (is_at_stop(d)) {
        *d->time = fmax(*d->time, d->stop_time);
        return ITM_OK;
    }
    memcpy(d->state_backup, d->state, sizeof(double) * (size_t)d->nstate);
    d->info.iterations = 0;
    double start = itm_data_get_time(d);
    ItmStatus status = dispatch(m, d);
    int culprit = status == ITM_OK ? itm_step_find_runaway(m, d) : ITM_NONE;
    if (culprit != ITM_NONE) {
        status = fail_runaway(m, d, culprit);
    }
    if (status == ITM_OK && d->bounded != NULL) {
        status = itm_step_judge(m, d);
    }
    if (status != ITM_OK) {
        memcpy(d->state, d->state_backup, sizeof(double) * (size_t)d->nstate);
        d->position_state = ITM_POSITION_STALE;
        return status;
    }
    double h = itm_stepper_is_variable(d->options.stepper) ? *d->time - start : d->options.step;
    itm_step_finish(m, d, d->state_backup + (d->v - d->state), h);
    return ITM_OK;
}
