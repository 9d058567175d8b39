// A mechanism in a co-simulation: its values at a communication point, and its macro step with impulses or held forces.
//
// Impulse exchange: the mechanism ends with exactly the velocity and position that its interface model had in the micro steps
// of the subsystems. One evaluation at the middle, q_m = q (+) H/2 v, serves the interface model and the mechanism's step
// (src/rim). Hold exchange [contact-rim, section 3; cranes, section 2]: the mechanism takes its own steps with a force that
// it is given, and the interface model is that of the start, with the contacts that were active before.
#include "cosim/cosim.h"

#include "base/error.h"
#include "base/clock.h"
#include "contact/contact.h"
#include "multibody/measure.h"
#include "stepper/stepper.h"

#include <math.h>
#include <stdio.h>

// ---------------------------------------------------------------------------- communication point

// Rate polynomial through the last points: w(tau) = w + slope tau + curve tau^2, tau from this point on.
void itm_mechanism_predict_bond(ItmBond* bond, double H)
{
    ItmBondMemory* past = bond->memory;
    double known = past->npast, w = bond->w, w_1 = past->w_past[0], w_2 = past->w_past[1];
    bond->slope = bond->curve = 0.0;
    if (bond->options.coupling == ITM_COUPLING_QUADRATIC && known >= 2.0) {
        bond->slope = (1.5 * w - 2.0 * w_1 + 0.5 * w_2) / H;
        bond->curve = 0.5 * (w - 2.0 * w_1 + w_2) / (H * H);
    } else if (bond->options.coupling != ITM_COUPLING_ZOH && known >= 1.0) {
        bond->slope = (w - w_1) / H;
    }
    past->npast = known < 2.0 ? known + 1.0 : 2.0;
    past->w_past[1] = w_1;
    past->w_past[0] = w;
}

const char* itm_mechanism_get_port_name(const ItmMechanism* part, int slot)
{
    return part->foreign != NULL ? part->foreign->table.port_names[slot]
                                 : itm_actuator_name(part->model, part->rim.actuator[slot]);
}

bool itm_mechanism_has_bond(const ItmMechanism* part, int actuator)
{
    for (int i = 0; i < part->nbond; i++) {
        if (part->rim.actuator[i] == actuator) {
            return true;
        }
    }
    return false;
}

bool itm_mechanism_is_rotary(const ItmMechanism* part, int slot)
{
    return part->foreign == NULL &&
           itm_measure_is_rotation(itm_actuator_get_measure(part->model, part->rim.actuator[slot]));
}

void itm_mechanism_show_force(ItmMechanism* part, int slot, double force)
{
    if (part->foreign == NULL) {
        part->data->input[part->rim.actuator[slot]] = force;
    }
}

void itm_mechanism_look_at_ports(ItmMechanism* part)
{
    if (part->foreign != NULL) {
        ItmStatus status = itm_foreign_measure(part->foreign, part->rim.s, part->rim.w, &part->error);
        part->status = part->status == ITM_OK ? status : part->status;
        return;
    }
    itm_data_refresh(part->model, part->data);
    itm_rim_measure(part->model, part->data, &part->rim);
}

static void read_outputs(ItmMechanism* part)
{
    ItmForeign* f = part->foreign;
    if (f == NULL) {
        itm_model_compute_outputs(part->model, part->data, part->y);
    } else if (f->table.noutput > 0) {
        ItmStatus status = f->table.get_outputs(f->table.self, part->y, &part->error);
        part->status = part->status == ITM_OK ? status : part->status;
    }
}

void itm_mechanism_measure(ItmCosim* x, ItmMechanism* part)
{
    itm_mechanism_look_at_ports(part);
    for (int i = 0; i < part->nbond; i++) {
        ItmBond* bond = &x->bonds[part->bonds[i]];
        bond->s = bond->s_now = part->rim.s[i];
        bond->w = bond->w_now = part->rim.w[i];
        bond->lambda = bond->memory->force;
    }
    if (part->is_watched) {
        read_outputs(part);
    }
}

// The part of the force of a port that the mechanism has itself.
static double get_passive(const ItmCosim* x, const ItmBond* bond, double s, double w)
{
    const ItmSubsystem* table = &x->subsystems[bond->subsystem].table;
    return bond->options.variables == ITM_VARIABLES_VELOCITY_PRESSURE
               ? table->get_passive_force(table->self, bond->port, s, w)
               : 0.0;
}

// Force on the mechanism at s, w: the force it received, and with velocity-pressure its own friction.
static double held_force(const ItmCosim* x, const ItmBond* bond, double s, double w)
{
    return bond->told + get_passive(x, bond, s, w);
}

// The actuators' inputs at lengths s and rates w (nbond) of the mechanism.
static void set_inputs(ItmCosim* x, ItmMechanism* part, const double* s, const double* w)
{
    for (int i = 0; i < part->nbond; i++) {
        ItmBond* bond = &x->bonds[part->bonds[i]];
        bond->held = held_force(x, bond, s != NULL ? s[i] : bond->s, w != NULL ? w[i] : bond->w);
        itm_mechanism_show_force(part, i, bond->held);
    }
}

// ---------------------------------------------------------------------------- friction at its own rate

static bool has_own_friction(const ItmCosim* x, const ItmMechanism* part)
{
    bool has_any = false;
    for (int i = 0; i < part->nbond; i++) {
        has_any = has_any || x->bonds[part->bonds[i]].options.variables == ITM_VARIABLES_VELOCITY_PRESSURE;
    }
    return has_any && part->step.stepper == ITM_STEPPER_EULER && part->foreign == NULL;
}

// Bonds of a mechanism at lengths s, NULL: those of the communication point.
typedef struct Passive {
    const ItmCosim* cosim;
    const ItmMechanism* part;
    const double* s;
} Passive;

static double compute_passive(const void* context, int i, double rate)
{
    const Passive* p = context;
    const ItmBond* bond = &p->cosim->bonds[p->part->bonds[i]];
    return get_passive(p->cosim, bond, p->s != NULL ? p->s[i] : bond->s, rate);
}

// Velocity-pressure: friction and dampers at the rate of the end of the step h, as a mechanism would have its own:
//   lambda_i = told_i + f_i(s_i, w_i+),   w+ = w + h (a0 + W lambda)
// s, w (nbond): at the start of the step. `held` has the forces at that rate before, and these afterwards. A model that subsystems share is theirs by now, possibly in
// another thread: only what they do not change is read, and it is that of this step.
static ItmStatus solve_friction(ItmCosim* x, ItmMechanism* part, double h, const double* s, const double* w)
{
    ItmRim* rim = &part->rim;
    ItmStatus status = part->has_rim ? ITM_OK
                                     : itm_rim_extract_view(part->model, part->data, rim, itm_data_get_time(part->data),
                                                            h, 0.0, ITM_FLEXIBLE_INTERFACE_IMPLICIT, ITM_RIM_ELIMINATE);
    ItmForceRow* rows = part->passive;
    for (int i = 0; i < part->nbond; i++) {
        const ItmBond* bond = &x->bonds[part->bonds[i]];
        rows[i] = (ItmForceRow){
            .given = bond->told, .force = bond->held, .rate = (w != NULL ? w[i] : bond->w) + h * rim->a0[i]};
    }
    for (int i = 0; i < part->nbond; i++) {
        for (int j = 0; j < part->nbond; j++) {
            rows[i].rate += h * rim->W[i * rim->n + j] * rows[j].force;
        }
    }
    const Passive passive = {x, part, s};
    itm_force_law_solve(rows, part->nbond, h, rim->W, rim->n, compute_passive, &passive);
    for (int i = 0; i < part->nbond; i++) {
        part->data->input[rim->actuator[i]] = x->bonds[part->bonds[i]].held = rows[i].force;
    }
    return status;
}

// ---------------------------------------------------------------------------- interface model

void itm_mechanism_note_failure(ItmMechanism* part, ItmStatus status)
{
    part->status = status;
    itm_error_set(&part->error, status, "itm_cosim_step", part->data->error.field, "mechanism '%s': %s", part->name,
                  part->data->error.message);
}

// How far ahead of the communication point the model is evaluated, and the steps of contacts that it stands for. It is carried over the
// whole macro step, so the middle is best: at the start, errors are of order 1. A mechanism's own steps (exchange hold at frames) are
// evaluated at their start, h/2 before their middle. Held forces, of actuators or of modes, are in balance with those of the start.
static double find_shift(const ItmCosim* x, const ItmMechanism* part, double span)
{
    double own = part->assembly != ITM_NONE && part->model->nflexible == 0 ? x->step / part->nsub : x->step;
    return part->uses_impulse ? 0.5 * span : 0.5 * (x->step - own);
}

void itm_mechanism_reduce(ItmCosim* x, ItmMechanism* part, int first)
{
    double start = itm_clock(), before = part->rim.cost;
    bool keeps_contacts = part->uses_impulse || part->assembly != ITM_NONE;
    if (first == 0) {
        set_inputs(x, part, NULL, NULL);  // bonds with predicted rates have these over the whole step
    }
    for (int i = 0; i < part->nbond; i++) {
        x->bonds[part->bonds[i]].shown = x->bonds[part->bonds[i]].held;
    }
    if (part->foreign != NULL) {
        for (int i = 0; i < part->nbond && *itm_cosim_get_steps(x) == 0.0; i++) {
            part->foreign->f[i] = x->bonds[part->bonds[i]].memory->force;  // there is no step before the first
        }
        part->status = itm_foreign_reduce(part->foreign, &part->rim, itm_cosim_get_time(x), x->step, part->K,
                                          part->use_heun, &part->error);
        for (int i = 0; i < part->nbond; i++) {
            x->bonds[part->bonds[i]].s_now = part->rim.s[i];  // where the model of the last step ended
        }
        part->cost_rim += itm_clock() - start;
        return;
    }
    // where partners see a smooth model, they get a copy of it (assembly.c)
    ItmRimContact contact = keeps_contacts ? ITM_RIM_SOLVE : ITM_RIM_ELIMINATE;
    double t = itm_data_get_time(part->data);
    ItmStatus status = itm_renewal_choose(x, part, first);
    double H = itm_renewal_get_span(x, part), shift = find_shift(x, part, H);
    double lag = part->uses_impulse ? 0.0 : part->data->options.step;
    if (part->uses_impulse && part->assembly == ITM_NONE) {
        part->data->h = H;
    }
    if (status == ITM_OK && part->assembly != ITM_NONE) {
        status = itm_rim_look_ahead(part->model, part->data, &part->rim, t, x->step, shift, lag);
    }
    if (status == ITM_OK) {
        status = part->uses_impulse ? itm_rim_extract(part->model, part->data, &part->rim, t, H, shift, contact)
                                    : itm_rim_extract_view(part->model, part->data, &part->rim, t, x->step, shift,
                                                           x->options.flexible_interface, contact);
    }
    if (status != ITM_OK) {
        itm_mechanism_note_failure(part, status);
    }
    double rim = part->rim.cost - before;
    part->cost_rim += rim;
    part->cost += itm_clock() - start - rim;
}

// ---------------------------------------------------------------------------- steps

void itm_mechanism_count(ItmMechanism* part)
{
    *part->nswitch += part->rim.nswitch;
}

void itm_mechanism_take_over(ItmMechanism* part)
{
    double start = itm_clock();
    if (part->foreign != NULL) {
        part->status = itm_foreign_take_over(part->foreign, &part->rim, part->interface_model.lambda, &part->error);
        part->cost += itm_clock() - start;
        return;
    }
    double done = *part->data->steps;
    ItmStatus status = itm_rim_take_over(part->model, part->data, &part->rim);
    itm_renewal_count_time(part, done);
    itm_mechanism_count(part);
    if (status != ITM_OK) {
        itm_mechanism_note_failure(part, status);
    }
    part->cost += itm_clock() - start;
}

// Length and rate of a bond's actuator now. The interface model has them too, but subsystems may be using it in another thread.
static ItmMeasured look_at_bond(const ItmMechanism* part, int slot)
{
    const ItmModel* m = part->model;
    const ItmScalarForce* force = &m->scalar_forces[m->actuator_force[part->rim.actuator[slot]]];
    return itm_measure_compute(m, part->data, &m->measures[force->measure]);
}

// One step of the stepper, and the work of the held forces over it as the ledger of the mechanism has it: f h (w + w+) / 2, or
// f (s+ - s) where the ledger is integrated.
static ItmStatus step_and_book(ItmCosim* x, ItmMechanism* part)
{
    ItmData* d = part->data;
    bool is_integrated = d->options.stepper == ITM_STEPPER_REFERENCE;
    double t = itm_data_get_time(d);
    for (int i = 0; i < part->nbond; i++) {
        ItmMeasured from = look_at_bond(part, i);
        x->bonds[part->bonds[i]].s_held = from.value;
        x->bonds[part->bonds[i]].w_held = from.rate;
    }
    ItmStatus status = itm_step(part->model, d);
    if (status != ITM_OK) {
        return status;
    }
    itm_data_close_ledger(part->model, d);
    itm_data_refresh(part->model, d);
    double h = itm_data_get_time(d) - t;
    for (int i = 0; i < part->nbond; i++) {
        ItmBond* bond = &x->bonds[part->bonds[i]];
        ItmMeasured to = look_at_bond(part, i);
        bond->work_held += bond->held * (is_integrated ? to.value - bond->s_held : 0.5 * h * (bond->w_held + to.rate));
    }
    return ITM_OK;
}

// One step of its own, or as many as a stepper that chooses them takes for that time.
static ItmStatus make_step(ItmCosim* x, ItmMechanism* part)
{
    ItmData* d = part->data;
    itm_data_restart_ledger(part->model, d);
    if (!itm_stepper_is_variable(d->options.stepper)) {
        return step_and_book(x, part);
    }
    double end = itm_data_get_time(d) + d->options.step;
    ItmStatus status = ITM_OK;
    itm_data_set_stop_time(d, end);
    while (status == ITM_OK && itm_data_get_time(d) < end) {
        status = step_and_book(x, part);
    }
    return status;
}

static void step_foreign_held(ItmCosim* x, ItmMechanism* part)
{
    set_inputs(x, part, NULL, NULL);
    for (int i = 0; i < part->nbond; i++) {
        part->lambda[i] = x->bonds[part->bonds[i]].held;
    }
    part->status = itm_foreign_step_held(part->foreign, itm_cosim_get_time(x), x->step, part->lambda, &part->error);
    for (int i = 0; i < part->nbond; i++) {
        x->bonds[part->bonds[i]].work_held = part->foreign->work[i];
    }
}

void itm_mechanism_step_held(ItmCosim* x, ItmMechanism* part)
{
    double start = itm_clock();
    if (part->foreign != NULL) {
        step_foreign_held(x, part);
        part->cost += itm_clock() - start;
        return;
    }
    for (int i = 0; i < part->nbond; i++) {
        x->bonds[part->bonds[i]].work_held = 0.0;
    }
    for (int k = 0; k < part->nsub && part->status == ITM_OK; k++) {
        if (k > 0) {  // there is no interface model then: it goes with one step
            itm_rim_measure(part->model, part->data, &part->rim);
        }
        const double *s = k > 0 ? part->rim.s : NULL, *w = k > 0 ? part->rim.w : NULL;
        set_inputs(x, part, s, w);
        ItmStatus status = has_own_friction(x, part) ? solve_friction(x, part, part->step.step, s, w) : ITM_OK;
        status = status == ITM_OK ? make_step(x, part) : status;
        if (status != ITM_OK) {
            itm_mechanism_note_failure(part, status);
        }
    }
    part->cost += itm_clock() - start;
}

ItmRimSpectrum itm_mechanism_look(ItmMechanism* part)
{
    ItmRimSpectrum spectrum = {0};
    itm_rim_compute_mobility(part->model, part->data, &part->rim);
    // rows and columns of bonds are left out: their rates are another matter
    int n = part->nframe, adr = part->nbond;
    for (int i = 0; i < n * n; i++) {
        part->W[i] = part->rim.W[(adr + i / n) * part->rim.n + adr + i % n];
    }
    itm_rim_compute_spectrum(part->W, part->rim.mobility_free + adr, n, &spectrum, NULL, NULL, NULL, part->W + n * n);
    return spectrum;
}

void itm_mechanism_check(ItmCosim* x, ItmMechanism* part)
{
    int body = part->status == ITM_OK ? itm_step_find_runaway(part->model, part->data) : ITM_NONE;
    if (body != ITM_NONE) {
        const char* name = part->model->bodies[body].name;
        char what[80];
        itm_step_describe_runaway(part->model, part->data, body, what, sizeof what);
        part->status = itm_error_set(&part->error, ITM_ERR_NOT_FINITE, "itm_cosim_step", name,
                                     "mechanism '%s': body '%s' %s after the step to t = %.9g s; take a smaller macro "
                                     "step, or coupling rim with exchange impulse",
                                     part->name, name, what, itm_cosim_get_time(x));
    }
}
