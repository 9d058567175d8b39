// Micro steps of members that step side by side, and of the interface models they share.
//
// At every tick: sampled members that are due compute their outputs; then the others that are due are told the motion of their
// ports and take a step. Ports at an interface model:
//   w+ = w + h (a0 + W lambda), s+ = s + h w+, contacts in between (src/rim), with the force of the step's end; by Heun's rule
//   with the mean of the forces at both ends, the rates told to the members being predicted by the first.
// Members at one model may take different steps: the model takes those of their common measure, and a longer step of a member
// pushes with its one force (or mean) over all of them.
// Ports with predicted rates follow their polynomial.
#include "cosim/cosim.h"

#include "base/error.h"
#include "base/clock.h"

#include <string.h>

// ---------------------------------------------------------------------------- members

// Ticks of the group of a member since the start.
static long count_ticks(const ItmCosim* x, const ItmSubsystemInstance* member, int tick)
{
    return (long)*itm_cosim_get_steps(x) * x->groups[member->group].nticks + tick;
}

bool itm_cosim_subsystem_is_due(const ItmCosim* x, const ItmSubsystemInstance* member, int tick)
{
    return member->period == 1 || count_ticks(x, member, tick) % member->period == 0;
}

// A port does not leave its stroke, however far its rate is extrapolated: it gets the constant rate that ends there.
static void stop_port(ItmSubsystemInstance* member, const ItmBond* bond, int i)
{
    double h = member->step, end = member->s[i] + 0.5 * h * (member->w[i] + member->w_end[i]);
    if (end < bond->least || end > bond->most) {
        double stop = end < bond->least ? bond->least : bond->most;
        bool is_beyond = member->s[i] < bond->least || member->s[i] > bond->most;
        member->w[i] = member->w_end[i] = is_beyond ? 0.0 : (stop - member->s[i]) / h;
    }
}

static void tell_motion(ItmCosim* x, ItmSubsystemInstance* member, bool has_end)
{
    for (int i = 0; i < member->table.nport; i++) {
        if (member->bonds[i] != ITM_NONE) {
            const ItmBond* bond = &x->bonds[member->bonds[i]];
            member->s[i] = bond->s_now;
            member->w[i] = bond->w_now;
            member->w_end[i] = has_end ? bond->w_end : bond->w_now;
            stop_port(member, bond, i);
        }
    }
    member->table.set_motion(member->table.self, member->s, member->w, member->w_end);
}

static void ask_forces(ItmCosim* x, ItmSubsystemInstance* member)
{
    member->table.get_forces(member->table.self, member->force);
    for (int i = 0; i < member->table.nport; i++) {
        if (member->bonds[i] != ITM_NONE) {
            x->bonds[member->bonds[i]].lambda = member->force[i];
        }
    }
}

// What the mechanisms will be told of the forces of the ports, which are those of the end of the last motion.
static void remember_forces(ItmCosim* x, const ItmSubsystemInstance* member)
{
    const ItmSubsystem* table = &member->table;
    for (int i = 0; i < table->nport; i++) {
        if (member->bonds[i] == ITM_NONE) {
            continue;
        }
        ItmBond* bond = &x->bonds[member->bonds[i]];
        bond->memory->force = bond->memory->active = bond->lambda;
        if (bond->options.variables == ITM_VARIABLES_VELOCITY_PRESSURE) {
            bond->memory->active -= table->get_passive_force(table->self, i, bond->s_port, bond->w_end);
        }
    }
}

ItmStatus itm_cosim_subsystem_step(ItmCosim* x, ItmSubsystemInstance* member, int tick, double h, ItmError* error)
{
    const ItmSubsystem* table = &member->table;
    ItmError cause;  // more than a kilobyte: what is read below is cleared, not all of it in every micro step
    cause.message[0] = cause.field[0] = '\0';
    double t = (double)count_ticks(x, member, tick) * (x->step / x->groups[member->group].nticks);
    ItmStatus status = table->do_step(table->self, t, h, &cause);
    if (status != ITM_OK) {
        return itm_error_set(error, status, "itm_cosim_step", cause.field, "%s: %s", member->name, cause.message);
    }
    if (member->is_watched) {
        table->get_outputs(table->self, member->y);
    }
    return ITM_OK;
}

// The end of a motion that has not begun: where the ports are, with the rates they have.
static void stand_still(ItmCosim* x, const ItmSubsystemInstance* member)
{
    for (int i = 0; i < member->table.nport; i++) {
        if (member->bonds[i] != ITM_NONE) {
            ItmBond* bond = &x->bonds[member->bonds[i]];
            bond->s_port = bond->s_now;
            bond->w_end = bond->w_now;
        }
    }
}

void itm_cosim_start_subsystems(ItmCosim* x)
{
    for (int i = 0; i < x->nmember; i++) {
        ItmSubsystemInstance* member = &x->members[i];
        if (member->table.nport > 0) {
            tell_motion(x, member, false);
            ask_forces(x, member);
            stand_still(x, member);
            remember_forces(x, member);
        }
        if (member->is_watched) {
            member->table.get_outputs(member->table.self, member->y);
        }
    }
}

// ---------------------------------------------------------------------------- ports

// Rates at the end of a micro step for ports with predicted rates.
static void predict_ports(ItmCosim* x, const ItmGroup* group, const ItmSubsystemInstance* member, int tick)
{
    double tau = (double)(tick + member->period) * (x->step / group->nticks);
    for (int i = 0; i < member->table.nport; i++) {
        ItmBond* bond = member->bonds[i] != ITM_NONE ? &x->bonds[member->bonds[i]] : NULL;
        if (bond != NULL && !itm_coupling_is_rim(bond->options.coupling)) {
            bond->w_end = bond->w + tau * (bond->slope + tau * bond->curve);
            bond->lambda_start = bond->lambda;
        }
    }
}

// Forces on an interface model: of the ports that share it as they are now, of others as the model was shown them.
static void collect_forces(const ItmCosim* x, ItmInterfaceModel* coupler)
{
    for (int i = 0; i < coupler->n; i++) {
        const ItmBond* bond = &x->bonds[coupler->bonds[i]];
        coupler->lambda[i] = itm_coupling_is_rim(bond->options.coupling) ? bond->lambda : bond->shown;
    }
}

static ItmStatus refuse_model(ItmGroup* group, const ItmInterfaceModel* coupler, ItmStatus status)
{
    const ItmError* cause = &coupler->rim->data->error;
    return itm_error_set(&group->error, status, "itm_cosim_step", cause->field, "interface model of '%s': %s",
                         coupler->name, cause->message);
}

// Rates at the end of the steps of members that are due, for their ports at interface models: as they are, or predicted with the
// present forces.
static ItmStatus predict_models(ItmCosim* x, ItmGroup* group, int tick)
{
    for (int k = 0; k < group->ncoupler; k++) {
        ItmInterfaceModel* coupler = group->couplers[k];
        const double* w_end = coupler->rim->w;
        double h = 0.0;
        for (int i = 0; i < coupler->n; i++) {
            ItmBond* bond = &x->bonds[coupler->bonds[i]];
            const ItmSubsystemInstance* member = &x->members[bond->member];
            if (!itm_coupling_is_rim(bond->options.coupling) || !itm_cosim_subsystem_is_due(x, member, tick)) {
                continue;
            }
            bond->lambda_start = bond->lambda;
            if (coupler->use_heun && member->step != h) {
                h = member->step;
                collect_forces(x, coupler);
                ItmStatus status = itm_rim_predict(coupler->rim, h, coupler->lambda, coupler->w_end);
                if (status != ITM_OK) {
                    return refuse_model(group, coupler, status);
                }
                w_end = coupler->w_end;
            }
            bond->w_end = w_end[i];
        }
    }
    return ITM_OK;
}

static ItmStatus advance_models(ItmCosim* x, ItmGroup* group, int tick)
{
    for (int k = 0; k < group->ncoupler; k++) {
        ItmInterfaceModel* coupler = group->couplers[k];
        if (tick % (group->nticks / coupler->K) != 0) {
            continue;
        }
        collect_forces(x, coupler);
        for (int i = 0; i < coupler->n && coupler->use_heun; i++) {
            const ItmBond* bond = &x->bonds[coupler->bonds[i]];
            bool is_shared = itm_coupling_is_rim(bond->options.coupling);
            coupler->lambda[i] = is_shared ? 0.5 * (bond->lambda_start + bond->lambda) : coupler->lambda[i];
        }
        ItmStatus status = itm_rim_advance(coupler->rim, x->step / coupler->K, coupler->lambda);
        if (status != ITM_OK) {
            return refuse_model(group, coupler, status);
        }
        for (int i = 0; i < coupler->n; i++) {
            ItmBond* bond = &x->bonds[coupler->bonds[i]];
            if (itm_coupling_is_rim(bond->options.coupling)) {
                bond->s_now = coupler->rim->s[i];
                bond->w_now = coupler->rim->w[i];
            }
        }
    }
    return ITM_OK;
}

// After a member's step: forces, impulses, work by the rates it was told.
static void take_forces(ItmCosim* x, ItmSubsystemInstance* member)
{
    double h = member->step;
    ask_forces(x, member);
    for (int i = 0; i < member->table.nport; i++) {
        ItmBond* bond = member->bonds[i] != ITM_NONE ? &x->bonds[member->bonds[i]] : NULL;
        if (bond == NULL) {
            continue;
        }
        double mean = member->table.is_second_order ? 0.5 * (bond->lambda_start + bond->lambda) : bond->lambda;
        double path = 0.5 * h * (member->w[i] + member->w_end[i]), work = mean * path;
        bond->memory->P0 += h * mean;
        bond->work_port += work;
        bond->memory->throughput += work < 0.0 ? -work : work;
        bond->s_port = member->s[i] + path;
        if (!itm_coupling_is_rim(bond->options.coupling)) {
            bond->s_now = bond->s_port;
            bond->w_now = bond->w_end;
        }
    }
}

// ---------------------------------------------------------------------------- a macro step

static ItmStatus begin_bonds(ItmCosim* x, ItmGroup* group)
{
    for (int k = 0; k < group->nmember; k++) {
        const ItmSubsystemInstance* member = &x->members[group->members[k]];
        for (int i = 0; i < member->table.nport; i++) {
            if (member->bonds[i] != ITM_NONE) {
                ItmBond* bond = &x->bonds[member->bonds[i]];
                bond->memory->P0 = bond->memory->P1 = bond->work_port = 0.0;
            }
        }
    }
    for (int k = 0; k < group->ncoupler; k++) {
        ItmInterfaceModel* coupler = group->couplers[k];
        ItmStatus status = itm_assembly_model_begin(x, coupler);
        if (status != ITM_OK) {
            return refuse_model(group, coupler, status);
        }
    }
    return ITM_OK;
}

static bool shares_model(const ItmCosim* x, const ItmSubsystemInstance* member)
{
    for (int i = 0; i < member->table.nport; i++) {
        if (member->bonds[i] != ITM_NONE && itm_coupling_is_rim(x->bonds[member->bonds[i]].options.coupling)) {
            return true;
        }
    }
    return false;
}

// Inputs by wires, samples of controls (those of tick 0 have been taken by itm_cosim_step), predictions.
static ItmStatus prepare_members(ItmCosim* x, ItmGroup* group, int tick)
{
    for (int k = 0; k < group->nmember; k++) {
        ItmSubsystemInstance* member = &x->members[group->members[k]];
        bool is_sampled = member->table.is_sampled;
        if (!itm_cosim_subsystem_is_due(x, member, tick) || (is_sampled && tick == 0)) {
            continue;
        }
        itm_wires_feed_member(x, member);
        ItmStatus status = is_sampled ? itm_cosim_subsystem_step(x, member, tick, member->step, &group->error) : ITM_OK;
        if (status != ITM_OK) {
            return status;
        }
        if (member->table.is_second_order && shares_model(x, member)) {
            tell_motion(x, member, false);
            ask_forces(x, member);
        }
        predict_ports(x, group, member, tick);
    }
    return ITM_OK;
}

static ItmStatus step_members(ItmCosim* x, ItmGroup* group, int tick)
{
    for (int k = 0; k < group->nmember; k++) {
        ItmSubsystemInstance* member = &x->members[group->members[k]];
        if (member->table.is_sampled || !itm_cosim_subsystem_is_due(x, member, tick)) {
            continue;
        }
        if (member->table.nport > 0) {
            tell_motion(x, member, true);
        }
        ItmStatus status = itm_cosim_subsystem_step(x, member, tick, member->step, &group->error);
        if (status != ITM_OK) {
            return status;
        }
        if (member->table.nport > 0) {
            take_forces(x, member);
        }
    }
    return ITM_OK;
}

static ItmStatus run_tick(ItmCosim* x, ItmGroup* group, int tick)
{
    ItmStatus status = prepare_members(x, group, tick);
    if (status == ITM_OK) {
        status = predict_models(x, group, tick);
    }
    if (status == ITM_OK) {
        status = step_members(x, group, tick);
    }
    if (status == ITM_OK) {
        status = advance_models(x, group, tick);
    }
    return status;
}

static ItmStatus end_bonds(ItmCosim* x, ItmGroup* group)
{
    ItmStatus status = ITM_OK;
    for (int k = 0; k < group->nmember; k++) {
        remember_forces(x, &x->members[group->members[k]]);
    }
    for (int k = 0; k < group->ncoupler && status == ITM_OK; k++) {
        ItmInterfaceModel* coupler = group->couplers[k];
        for (int i = 0; i < coupler->n; i++) {
            ItmBond* bond = &x->bonds[coupler->bonds[i]];
            bond->memory->P1 = coupler->rim->P1[i];
            bond->work_model = coupler->rim->work[i];
        }
        status = itm_assembly_model_end(x, coupler);
        if (status != ITM_OK) {
            refuse_model(group, coupler, status);
        }
    }
    return status;
}

void itm_group_run(ItmCosim* x, ItmGroup* group)
{
    double start = itm_clock();
    group->status = begin_bonds(x, group);
    for (int tick = 0; tick < group->nticks && group->status == ITM_OK; tick++) {
        group->status = run_tick(x, group, tick);
    }
    if (group->status == ITM_OK) {
        group->status = end_bonds(x, group);
    }
    group->cost += itm_clock() - start;
}
