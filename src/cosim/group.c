// Micro steps of subsystems that step side by side, and of the interface models they share.
//
// At every tick: sampled subsystems that are due compute their outputs; then the others that are due receive the motion of their
// ports and take a step. Ports at an interface model:
//   w+ = w + h (a0 + W lambda), s+ = s + h w+, contacts in between (src/rim), with the force of the step's end; by Heun's rule
//   with the mean of the forces at both ends, the first predicts the rates that the subsystems receive.
// Subsystems at one model may take different steps: the model takes those of their common measure, and a longer step of a subsystem
// pushes with its one force (or mean) over all of them.
// Ports with predicted rates follow their polynomial.
#include "cosim/cosim.h"

#include "base/error.h"
#include "base/clock.h"
#include "rim/message.h"

#include <string.h>

// ---------------------------------------------------------------------------- subsystems

// Ticks of the group of a subsystem since the start.
static long count_ticks(const ItmCosim* x, const ItmSubsystemInstance* subsystem, int tick)
{
    return (long)*itm_cosim_get_steps(x) * x->groups[subsystem->group].nticks + tick;
}

bool itm_cosim_subsystem_is_due(const ItmCosim* x, const ItmSubsystemInstance* subsystem, int tick)
{
    return subsystem->period == 1 || count_ticks(x, subsystem, tick) % subsystem->period == 0;
}

// A port does not leave its stroke, however far its rate is extrapolated: it gets the constant rate that ends there.
static void stop_port(ItmSubsystemInstance* subsystem, const ItmBond* bond, int i)
{
    double h = subsystem->step, end = subsystem->s[i] + 0.5 * h * (subsystem->w[i] + subsystem->w_end[i]);
    if (end < bond->least || end > bond->most) {
        double stop = end < bond->least ? bond->least : bond->most;
        bool is_beyond = subsystem->s[i] < bond->least || subsystem->s[i] > bond->most;
        subsystem->w[i] = subsystem->w_end[i] = is_beyond ? 0.0 : (stop - subsystem->s[i]) / h;
    }
}

static void tell_motion(ItmCosim* x, ItmSubsystemInstance* subsystem, bool has_end)
{
    for (int i = 0; i < subsystem->table.nport; i++) {
        if (subsystem->bonds[i] != ITM_NONE) {
            const ItmBond* bond = &x->bonds[subsystem->bonds[i]];
            subsystem->s[i] = bond->s_now;
            subsystem->w[i] = bond->w_now;
            subsystem->w_end[i] = has_end ? bond->w_end : bond->w_now;
            stop_port(subsystem, bond, i);
        }
    }
    subsystem->table.set_motion(subsystem->table.self, subsystem->s, subsystem->w, subsystem->w_end);
}

static void ask_forces(ItmCosim* x, ItmSubsystemInstance* subsystem)
{
    subsystem->table.get_forces(subsystem->table.self, subsystem->force);
    for (int i = 0; i < subsystem->table.nport; i++) {
        if (subsystem->bonds[i] != ITM_NONE) {
            x->bonds[subsystem->bonds[i]].lambda = subsystem->force[i];
        }
    }
}

// Forces of the ports that the mechanisms will receive: those of the end of the last motion.
static void remember_forces(ItmCosim* x, const ItmSubsystemInstance* subsystem)
{
    const ItmSubsystem* table = &subsystem->table;
    for (int i = 0; i < table->nport; i++) {
        if (subsystem->bonds[i] == ITM_NONE) {
            continue;
        }
        ItmBond* bond = &x->bonds[subsystem->bonds[i]];
        bond->memory->force = bond->memory->active = bond->lambda;
        if (bond->options.variables == ITM_VARIABLES_VELOCITY_PRESSURE) {
            bond->memory->active -= table->get_passive_force(table->self, i, bond->s_port, bond->w_end);
        }
    }
}

ItmStatus itm_cosim_subsystem_step(ItmCosim* x, ItmSubsystemInstance* subsystem, int tick, double h, ItmError* error)
{
    const ItmSubsystem* table = &subsystem->table;
    ItmError cause;  // more than a kilobyte: what is read below is cleared, not all of it in every micro step
    cause.message[0] = cause.field[0] = '\0';
    double t = (double)count_ticks(x, subsystem, tick) * (x->step / x->groups[subsystem->group].nticks);
    ItmStatus status = table->do_step(table->self, t, h, &cause);
    if (status != ITM_OK) {
        return itm_error_set(error, status, "itm_cosim_step", cause.field, "%s: %s", subsystem->name, cause.message);
    }
    if (subsystem->is_watched) {
        table->get_outputs(table->self, subsystem->y);
    }
    return ITM_OK;
}

// The end of a motion that has not begun: where the ports are, with the rates they have.
static void stand_still(ItmCosim* x, const ItmSubsystemInstance* subsystem)
{
    for (int i = 0; i < subsystem->table.nport; i++) {
        if (subsystem->bonds[i] != ITM_NONE) {
            ItmBond* bond = &x->bonds[subsystem->bonds[i]];
            bond->s_port = bond->s_now;
            bond->w_end = bond->w_now;
        }
    }
}

void itm_cosim_start_subsystems(ItmCosim* x)
{
    for (int i = 0; i < x->nsubsystem; i++) {
        ItmSubsystemInstance* subsystem = &x->subsystems[i];
        if (subsystem->table.nport > 0) {
            tell_motion(x, subsystem, false);
            ask_forces(x, subsystem);
            stand_still(x, subsystem);
            remember_forces(x, subsystem);
        }
        if (subsystem->is_watched) {
            subsystem->table.get_outputs(subsystem->table.self, subsystem->y);
        }
    }
}

// ---------------------------------------------------------------------------- ports

// Rates at the end of a micro step for ports with predicted rates.
static void predict_ports(ItmCosim* x, const ItmGroup* group, const ItmSubsystemInstance* subsystem, int tick)
{
    double tau = (double)(tick + subsystem->period) * (x->step / group->nticks);
    for (int i = 0; i < subsystem->table.nport; i++) {
        ItmBond* bond = subsystem->bonds[i] != ITM_NONE ? &x->bonds[subsystem->bonds[i]] : NULL;
        if (bond != NULL && !itm_cosim_is_rim(bond->options.coupling)) {
            bond->w_end = bond->w + tau * (bond->slope + tau * bond->curve);
            bond->lambda_start = bond->lambda;
        }
    }
}

// Forces on an interface model: of the ports that share it as they are now, of others as the model was shown them.
static void collect_forces(const ItmCosim* x, ItmInterfaceModel* interface_model)
{
    for (int i = 0; i < interface_model->n; i++) {
        const ItmBond* bond = &x->bonds[interface_model->bonds[i]];
        interface_model->lambda[i] = itm_cosim_is_rim(bond->options.coupling) ? bond->lambda : bond->shown;
    }
}

static ItmStatus refuse_model(ItmGroup* group, const ItmInterfaceModel* interface_model, ItmStatus status)
{
    if (interface_model->foreign != NULL && !itm_foreign_is_smooth(interface_model->foreign)) {
        return status;  // the error is there
    }
    const ItmError* cause = &interface_model->rim->data->error;
    return itm_error_set(&group->error, status, "itm_cosim_step", cause->field, "interface model of '%s': %s",
                         interface_model->name, cause->message);
}

// Rates at the end of a micro step at the present forces of an interface model.
static ItmStatus predict(ItmGroup* group, ItmInterfaceModel* model, double h)
{
    return model->foreign != NULL
               ? itm_foreign_predict(model->foreign, model->rim, h, model->lambda, model->w_end, &group->error)
               : itm_rim_predict(model->rim, h, model->lambda, model->w_end);
}

// A micro step of an interface model.
static ItmStatus advance(ItmGroup* group, ItmInterfaceModel* model, double h)
{
    return model->foreign != NULL ? itm_foreign_advance(model->foreign, model->rim, h, model->lambda, &group->error)
                                  : itm_rim_advance(model->rim, h, model->lambda);
}

// Rates at the end of the steps of subsystems that are due, for their ports at interface models: as they are, or predicted with the
// present forces.
static ItmStatus predict_models(ItmCosim* x, ItmGroup* group, int tick)
{
    for (int k = 0; k < group->ninterface_model; k++) {
        ItmInterfaceModel* interface_model = group->interface_models[k];
        const double* w_end = interface_model->rim->w;
        double h = 0.0;
        for (int i = 0; i < interface_model->n; i++) {
            ItmBond* bond = &x->bonds[interface_model->bonds[i]];
            const ItmSubsystemInstance* subsystem = &x->subsystems[bond->subsystem];
            if (!itm_cosim_is_rim(bond->options.coupling) || !itm_cosim_subsystem_is_due(x, subsystem, tick)) {
                continue;
            }
            bond->lambda_start = bond->lambda;
            if (interface_model->use_heun && subsystem->step != h) {
                h = subsystem->step;
                collect_forces(x, interface_model);
                ItmStatus status = predict(group, interface_model, h);
                if (status != ITM_OK) {
                    return refuse_model(group, interface_model, status);
                }
                w_end = interface_model->w_end;
            }
            bond->w_end = w_end[i];
        }
    }
    return ITM_OK;
}

// A new interface model after `done` micro steps, where contacts of its mechanism change.
static ItmStatus renew(ItmCosim* x, ItmGroup* group, ItmInterfaceModel* model, int done)
{
    if (done < model->last || done == model->K) {
        return ITM_OK;
    }
    double start = itm_clock();
    ItmMechanism* part = &x->mechanisms[x->bonds[model->bonds[0]].mechanism];
    ItmStatus status = itm_renewal_run(x, part);
    if (status != ITM_OK) {
        group->error = part->error;
    }
    group->cost -= itm_clock() - start;  // the mechanism has counted it
    return status;
}

static ItmStatus advance_models(ItmCosim* x, ItmGroup* group, int tick)
{
    ItmStatus status = ITM_OK;
    for (int k = 0; k < group->ninterface_model && status == ITM_OK; k++) {
        ItmInterfaceModel* interface_model = group->interface_models[k];
        int period = group->nticks / interface_model->K;
        if (tick % period != 0) {
            continue;
        }
        collect_forces(x, interface_model);
        for (int i = 0; i < interface_model->n && interface_model->use_heun; i++) {
            const ItmBond* bond = &x->bonds[interface_model->bonds[i]];
            bool is_shared = itm_cosim_is_rim(bond->options.coupling);
            interface_model->lambda[i] =
                is_shared ? 0.5 * (bond->lambda_start + bond->lambda) : interface_model->lambda[i];
        }
        status = advance(group, interface_model, x->step / interface_model->K);
        if (status != ITM_OK) {
            return refuse_model(group, interface_model, status);
        }
        for (int i = 0; i < interface_model->n; i++) {
            ItmBond* bond = &x->bonds[interface_model->bonds[i]];
            if (itm_cosim_is_rim(bond->options.coupling)) {
                bond->s_now = interface_model->rim->s[i];
                bond->w_now = interface_model->rim->w[i];
            }
        }
        status = renew(x, group, interface_model, tick / period + 1);
    }
    return status;
}

// After a subsystem's step: forces, impulses, work by the rates it received.
static void take_forces(ItmCosim* x, ItmSubsystemInstance* subsystem)
{
    double h = subsystem->step;
    ask_forces(x, subsystem);
    for (int i = 0; i < subsystem->table.nport; i++) {
        ItmBond* bond = subsystem->bonds[i] != ITM_NONE ? &x->bonds[subsystem->bonds[i]] : NULL;
        if (bond == NULL) {
            continue;
        }
        double mean = subsystem->table.is_second_order ? 0.5 * (bond->lambda_start + bond->lambda) : bond->lambda;
        double path = 0.5 * h * (subsystem->w[i] + subsystem->w_end[i]), work = mean * path;
        bond->memory->P0 += h * mean;
        bond->work_port += work;
        bond->memory->throughput += work < 0.0 ? -work : work;
        bond->s_port = subsystem->s[i] + path;
        if (!itm_cosim_is_rim(bond->options.coupling)) {
            bond->s_now = bond->s_port;
            bond->w_now = bond->w_end;
        }
    }
}

// ---------------------------------------------------------------------------- a macro step

static ItmStatus begin_bonds(ItmCosim* x, ItmGroup* group)
{
    for (int k = 0; k < group->nsubsystem; k++) {
        const ItmSubsystemInstance* subsystem = &x->subsystems[group->subsystems[k]];
        for (int i = 0; i < subsystem->table.nport; i++) {
            if (subsystem->bonds[i] != ITM_NONE) {
                ItmBond* bond = &x->bonds[subsystem->bonds[i]];
                bond->memory->P0 = bond->memory->P1 = bond->work_port = 0.0;
            }
        }
    }
    for (int k = 0; k < group->ninterface_model; k++) {
        ItmInterfaceModel* interface_model = group->interface_models[k];
        ItmStatus status = itm_assembly_model_begin(x, interface_model);
        if (status != ITM_OK) {
            return refuse_model(group, interface_model, status);
        }
    }
    return ITM_OK;
}

static bool shares_model(const ItmCosim* x, const ItmSubsystemInstance* subsystem)
{
    for (int i = 0; i < subsystem->table.nport; i++) {
        if (subsystem->bonds[i] != ITM_NONE && itm_cosim_is_rim(x->bonds[subsystem->bonds[i]].options.coupling)) {
            return true;
        }
    }
    return false;
}

// Samples of controls that are due (those of tick 0 have been taken by itm_cosim_step).
static ItmStatus sample_subsystems(ItmCosim* x, ItmGroup* group, int tick)
{
    ItmStatus status = ITM_OK;
    for (int k = 0; k < group->nsubsystem && status == ITM_OK && tick > 0; k++) {
        ItmSubsystemInstance* subsystem = &x->subsystems[group->subsystems[k]];
        if (subsystem->table.is_sampled && itm_cosim_subsystem_is_due(x, subsystem, tick)) {
            itm_wires_feed_subsystem(x, subsystem);
            status = itm_cosim_subsystem_step(x, subsystem, tick, subsystem->step, &group->error);
        }
    }
    return status;
}

// Inputs by wires, predictions.
static void prepare_subsystems(ItmCosim* x, ItmGroup* group, int tick)
{
    for (int k = 0; k < group->nsubsystem; k++) {
        ItmSubsystemInstance* subsystem = &x->subsystems[group->subsystems[k]];
        if (subsystem->table.is_sampled || !itm_cosim_subsystem_is_due(x, subsystem, tick)) {
            continue;
        }
        itm_wires_feed_subsystem(x, subsystem);
        if (subsystem->table.is_second_order && shares_model(x, subsystem)) {
            tell_motion(x, subsystem, false);
            ask_forces(x, subsystem);
        }
        predict_ports(x, group, subsystem, tick);
    }
}

static ItmStatus step_subsystems(ItmCosim* x, ItmGroup* group, int tick)
{
    for (int k = 0; k < group->nsubsystem; k++) {
        ItmSubsystemInstance* subsystem = &x->subsystems[group->subsystems[k]];
        if (subsystem->table.is_sampled || !itm_cosim_subsystem_is_due(x, subsystem, tick)) {
            continue;
        }
        if (subsystem->table.nport > 0) {
            tell_motion(x, subsystem, true);
        }
        ItmStatus status = itm_cosim_subsystem_step(x, subsystem, tick, subsystem->step, &group->error);
        if (status != ITM_OK) {
            return status;
        }
        if (subsystem->table.nport > 0) {
            take_forces(x, subsystem);
        }
    }
    return ITM_OK;
}

static ItmStatus run_tick(ItmCosim* x, ItmGroup* group, int tick)
{
    ItmStatus status = sample_subsystems(x, group, tick);
    if (status == ITM_OK) {
        prepare_subsystems(x, group, tick);
        status = predict_models(x, group, tick);
    }
    if (status == ITM_OK) {
        status = step_subsystems(x, group, tick);
    }
    if (status == ITM_OK) {
        status = advance_models(x, group, tick);
    }
    return status;
}

static ItmStatus end_bonds(ItmCosim* x, ItmGroup* group)
{
    ItmStatus status = ITM_OK;
    for (int k = 0; k < group->nsubsystem; k++) {
        remember_forces(x, &x->subsystems[group->subsystems[k]]);
    }
    for (int k = 0; k < group->ninterface_model && status == ITM_OK; k++) {
        ItmInterfaceModel* interface_model = group->interface_models[k];
        for (int i = 0; i < interface_model->n; i++) {
            ItmBond* bond = &x->bonds[interface_model->bonds[i]];
            double share = interface_model->first == 0 ? 1.0 : interface_model->rim->H / x->step;
            bond->memory->P1 = bond->renewed.P1 + share * interface_model->rim->P1[i];
            bond->work_model = bond->renewed.work + interface_model->rim->work[i];
        }
        status = itm_assembly_model_end(x, interface_model);
        if (status != ITM_OK) {
            refuse_model(group, interface_model, status);
        }
    }
    return status;
}

bool itm_group_is_driven(const ItmCosim* x, const ItmGroup* group)
{
    bool is_driven = false;
    for (int i = 0; i < group->ninterface_model && x->driven != ITM_NONE; i++) {
        is_driven = is_driven || group->interface_models[i] == &x->mechanisms[x->driven].interface_model;
    }
    return is_driven;
}

ItmStatus itm_group_run_ticks(ItmCosim* x, ItmGroup* group, int first, int last)
{
    ItmStatus status = ITM_OK;
    for (int tick = first; tick < last && status == ITM_OK; tick++) {
        status = run_tick(x, group, tick);
    }
    return status;
}

// ---------------------------------------------------------------------------- micro steps elsewhere

// Whether the micro steps of an interface model can be taken in another process: its contacts fit into a message.
static bool can_travel(const ItmInterfaceModel* model)
{
    const ItmRim* rim = model->rim;
    int nc = rim->contacts.problem.n;
    return rim->effective == NULL && (model->foreign == NULL || itm_foreign_is_smooth(model->foreign)) &&
           (nc == 0 || (rim->data->bounded != NULL &&
                        itm_rim_measure_message(model->n, nc, rim->contacts.problem.ncoupling) <= ITM_MOST_RUN_BYTES));
}

// The only subsystem that is not sampled, where it can take micro steps in its own process: it steps at every tick, alone at its
// interface model, and nothing that changes between samples is wired to it. NULL: there is none.
static ItmSubsystemInstance* find_alone(const ItmCosim* x, const ItmGroup* group)
{
    ItmSubsystemInstance* alone = NULL;
    for (int k = 0; k < group->nsubsystem; k++) {
        ItmSubsystemInstance* subsystem = &x->subsystems[group->subsystems[k]];
        if (!subsystem->table.is_sampled && (alone != NULL || subsystem->table.run == NULL || subsystem->period != 1)) {
            return NULL;
        }
        alone = subsystem->table.is_sampled ? alone : subsystem;
    }
    const ItmInterfaceModel* model = group->ninterface_model > 0 ? group->interface_models[0] : NULL;
    bool is_alone = alone != NULL && group->ninterface_model <= 1 && alone->table.nport <= ITM_MOST_RUN_PORTS;
    if (is_alone && model != NULL) {
        is_alone = model->K == group->nticks && can_travel(model);
        for (int i = 0; i < model->n && is_alone; i++) {
            const ItmBond* bond = &x->bonds[model->bonds[i]];
            is_alone = &x->subsystems[bond->subsystem] == alone && itm_cosim_is_rim(bond->options.coupling);
        }
    }
    for (int i = 0; is_alone && i < alone->nwire; i++) {
        const ItmWire* wire = &x->wires[alone->wire + i];
        is_alone = wire->from == ITM_SOURCE_MECHANISM ||
                   (wire->from == ITM_SOURCE_SUBSYSTEM && x->subsystems[wire->from_part].table.is_sampled);
    }
    return is_alone ? alone : NULL;
}

// The tick after `tick` at which a sampled subsystem is due next, or the end of the macro step.
static int find_next_sample(const ItmCosim* x, const ItmGroup* group, int tick)
{
    long next = group->nticks;
    for (int k = 0; k < group->nsubsystem; k++) {
        const ItmSubsystemInstance* subsystem = &x->subsystems[group->subsystems[k]];
        if (subsystem->table.is_sampled) {
            long due = tick + subsystem->period - count_ticks(x, subsystem, tick) % subsystem->period;
            next = due < next ? due : next;
        }
    }
    return (int)next;
}

// Micro steps from `tick` to the next sample or renewal of the interface model, in the process of the subsystem. Returns that tick.
static int run_alone(ItmCosim* x, ItmGroup* group, ItmSubsystemInstance* subsystem, int tick)
{
    ItmInterfaceModel* model = group->ninterface_model > 0 ? group->interface_models[0] : NULL;
    int last = find_next_sample(x, group, tick);
    last = model != NULL && model->last < last ? model->last : last;
    ItmMicroSteps steps = {.system = x,
                           .group = group,
                           .model = model,
                           .subsystem = subsystem,
                           .first = tick,
                           .last = last,
                           .is_new = model != NULL && tick == model->first,
                           .is_done = model != NULL && last == model->last};
    ItmError cause;
    cause.message[0] = cause.field[0] = '\0';
    group->status = sample_subsystems(x, group, tick);
    if (group->status == ITM_OK) {
        itm_wires_feed_subsystem(x, subsystem);
        group->status = subsystem->table.run(subsystem->table.self, &steps, &cause);
        if (group->status != ITM_OK) {
            itm_error_set(&group->error, group->status, "itm_cosim_step", cause.field, "%s: %s", subsystem->name,
                          cause.message);
        }
    }
    if (group->status == ITM_OK && model != NULL) {
        group->status = renew(x, group, model, last);
    }
    return last;
}

void itm_group_run(ItmCosim* x, ItmGroup* group)
{
    double start = itm_clock();
    group->status = begin_bonds(x, group);
    for (int tick = 0; tick < group->nticks && group->status == ITM_OK;) {
        ItmSubsystemInstance* alone = find_alone(x, group);
        if (alone != NULL) {
            tick = run_alone(x, group, alone, tick);
        } else {
            group->status = itm_group_run_ticks(x, group, tick, group->nticks);
            tick = group->nticks;
        }
    }
    if (group->status == ITM_OK) {
        group->status = end_bonds(x, group);
    }
    group->cost += itm_clock() - start;
}
