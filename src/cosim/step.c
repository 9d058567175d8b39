// A macro step of the whole system:
//
//   1. mechanisms: positions, velocities and interfaces at the communication point t
//   2. sampled subsystems that are due at t, in the order of their wires
//   3. interface models of the mechanisms that have one
//   4. subsystems over H, group by group; with held forces in a Jacobi scheme the mechanisms at the same time
//   5. mechanisms over H: impulses of their interface models, or forces that have just come out (Gauss-Seidel)
//   6. the ledger of the bonds; the new state against its bounds
//
// 1, 3, 4 and 5 go in parallel. A step that fails leaves everything as it was.
#include "cosim/cosim.h"

#include "base/error.h"
#include "base/guard.h"

#include <string.h>

// ---------------------------------------------------------------------------- state

static size_t get_mechanism_size(const ItmMechanism* part)
{
    return itm_data_get_state_size(part->model, part->data);
}

static size_t get_member_size(const ItmSubsystemInstance* member)
{
    const ItmSubsystem* table = &member->table;
    return table->memory != NULL ? table->memory_size : table->get_state_size(table->self);
}

static void save_member(const ItmSubsystemInstance* member, void* bytes)
{
    const ItmSubsystem* table = &member->table;
    if (table->memory != NULL) {
        memcpy(bytes, table->memory, table->memory_size);
    } else {
        table->save(table->self, bytes);
    }
}

static void restore_member(const ItmSubsystemInstance* member, const void* bytes)
{
    const ItmSubsystem* table = &member->table;
    if (table->memory != NULL) {
        memcpy(table->memory, bytes, table->memory_size);
    } else {
        table->restore(table->self, bytes);
    }
}

// Offsets, inputs and outputs, each array one longer.
static size_t get_port_size(const ItmSubsystemInstance* member)
{
    return sizeof(double) * (size_t)(2 * member->table.ninput + member->table.noutput + 3);
}

size_t itm_cosim_get_state_size(const ItmCosim* x)
{
    ITM_GUARD(x != NULL, 0);
    size_t size = sizeof(double) * x->nstate;
    for (int i = 0; i < x->nmechanism; i++) {
        size += get_mechanism_size(&x->mechanisms[i]);
    }
    for (int i = 0; i < x->nmember; i++) {
        size += get_member_size(&x->members[i]) + get_port_size(&x->members[i]);
    }
    return size;
}

static void copy_out(const ItmCosim* x, char* bytes)
{
    memcpy(bytes, x->state, sizeof(double) * x->nstate);
    bytes += sizeof(double) * x->nstate;
    for (int i = 0; i < x->nmechanism; i++) {
        const ItmMechanism* part = &x->mechanisms[i];
        itm_data_save(part->model, part->data, bytes, get_mechanism_size(part));
        bytes += get_mechanism_size(part);
    }
    for (int i = 0; i < x->nmember; i++) {
        const ItmSubsystemInstance* member = &x->members[i];
        save_member(member, bytes);
        bytes += get_member_size(member);
        memcpy(bytes, member->offset, get_port_size(member));
        bytes += get_port_size(member);
    }
}

static void copy_in(ItmCosim* x, const char* bytes)
{
    memcpy(x->state, bytes, sizeof(double) * x->nstate);
    bytes += sizeof(double) * x->nstate;
    for (int i = 0; i < x->nmechanism; i++) {
        ItmMechanism* part = &x->mechanisms[i];
        itm_data_restore(part->model, part->data, bytes, get_mechanism_size(part));
        bytes += get_mechanism_size(part);
    }
    for (int i = 0; i < x->nmember; i++) {
        ItmSubsystemInstance* member = &x->members[i];
        restore_member(member, bytes);
        bytes += get_member_size(member);
        memcpy(member->offset, bytes, get_port_size(member));
        bytes += get_port_size(member);
    }
}

ItmStatus itm_cosim_save(ItmCosim* x, void* bytes, size_t size)
{
    ITM_GUARD(x != NULL && bytes != NULL, ITM_ERR_ARGUMENT);
    if (bytes == NULL || size != itm_cosim_get_state_size(x)) {
        return itm_error_set(&x->error, ITM_ERR_ARGUMENT, __func__, NULL, "a state has %zu bytes, got %zu",
                             itm_cosim_get_state_size(x), size);
    }
    copy_out(x, bytes);
    return ITM_OK;
}

ItmStatus itm_cosim_restore(ItmCosim* x, const void* bytes, size_t size)
{
    ITM_GUARD(x != NULL, ITM_ERR_ARGUMENT);
    if (bytes == NULL || size != itm_cosim_get_state_size(x)) {
        return itm_error_set(&x->error, ITM_ERR_ARGUMENT, __func__, NULL, "a state has %zu bytes, got %zu",
                             itm_cosim_get_state_size(x), size);
    }
    copy_in(x, bytes);
    return ITM_OK;
}

// ---------------------------------------------------------------------------- start

static void measure_one(void* context, int job)
{
    ItmCosim* x = context;
    itm_mechanism_measure(x, &x->mechanisms[job]);
}

static ItmStatus run_sampled(ItmCosim* x, double h_factor)
{
    for (int k = 0; k < x->nsampled; k++) {
        ItmSubsystemInstance* member = &x->members[x->sampled[k]];
        if (!itm_cosim_subsystem_is_due(x, member, 0)) {
            continue;
        }
        itm_wires_feed_member(x, member);
        ItmStatus status = itm_cosim_subsystem_step(x, member, 0, h_factor * member->step, &x->error);
        if (status != ITM_OK) {
            return status;
        }
    }
    return ITM_OK;
}

static void reset_parts(ItmCosim* x)
{
    memset(x->state, 0, sizeof(double) * x->nstate);
    for (int i = 0; i < x->nmember; i++) {
        ItmSubsystemInstance* member = &x->members[i];
        member->table.reset(member->table.self);
        memset(member->offset, 0, get_port_size(member));
    }
    for (int i = 0; i < x->nmechanism; i++) {
        itm_reset(x->mechanisms[i].model, x->mechanisms[i].data);
    }
}

// Forces, outputs and inputs by wires from the present state of the parts; no past.
static ItmStatus start_parts(ItmCosim* x)
{
    for (int i = 0; i < x->nmechanism; i++) {
        itm_mechanism_measure(x, &x->mechanisms[i]);
    }
    itm_assembly_measure_all(x);
    itm_cosim_start_subsystems(x);
    ItmStatus status = run_sampled(x, 0.0);
    for (int i = 0; i < x->nmember && status == ITM_OK; i++) {
        itm_wires_feed_member(x, &x->members[i]);
    }
    // forces of actuators with a bond are outputs of the start, too
    for (int i = 0; i < x->nbond; i++) {
        const ItmBond* bond = &x->bonds[i];
        ItmMechanism* part = &x->mechanisms[bond->mechanism];
        part->data->input[part->rim.actuator[bond->slot]] = bond->memory->force;
    }
    return status;
}

ItmStatus itm_cosim_reset(ItmCosim* x)
{
    ITM_GUARD(x != NULL, ITM_ERR_ARGUMENT);
    for (int i = 0; i < x->nmechanism; i++) {
        x->mechanisms[i].cost = x->mechanisms[i].cost_rim = 0.0;
    }
    for (int i = 0; i < x->ngroup; i++) {
        x->groups[i].cost = 0.0;
    }
    for (int i = 0; i < x->ncluster; i++) {
        x->clusters[i].cost = 0.0;
    }
    if (x->has_start) {
        copy_in(x, x->start);
        return ITM_OK;
    }
    reset_parts(x);
    return start_parts(x);
}

void itm_cosim_start_here(ItmCosim* x)
{
    start_parts(x);
    copy_out(x, x->start);
    x->has_start = true;
}

// ---------------------------------------------------------------------------- step

static bool steps_held_first(const ItmCosim* x, const ItmMechanism* part)
{
    return !part->uses_impulse && part->cluster == ITM_NONE &&
           (x->options.scheme == ITM_SCHEME_JACOBI || part->nbond == 0);
}

static void reduce_one(void* context, int job)
{
    ItmCosim* x = context;
    ItmMechanism* part = &x->mechanisms[job];
    itm_wires_feed_mechanism(x, part);
    if (part->has_rim) {
        itm_mechanism_reduce(x, part);
    }
}

// Groups and clusters first, then mechanisms that need not wait for them.
static void run_first(void* context, int job)
{
    ItmCosim* x = context;
    int ahead = x->ngroup + x->ncluster;
    if (job < x->ngroup) {
        itm_group_run(x, &x->groups[job]);
    } else if (job < ahead) {
        ItmAssembly* cluster = &x->clusters[job - x->ngroup];
        if (!cluster->has_members) {
            itm_assembly_run(x, cluster);
        }
    } else if (steps_held_first(x, &x->mechanisms[job - ahead])) {
        itm_mechanism_step_held(x, &x->mechanisms[job - ahead]);
    }
}

static void run_second(void* context, int job)
{
    ItmCosim* x = context;
    ItmMechanism* part = &x->mechanisms[job];
    if (part->uses_impulse) {
        itm_mechanism_take_over(part);
    } else if (part->cluster == ITM_NONE && !steps_held_first(x, part)) {
        itm_mechanism_step_held(x, part);
    }
    itm_mechanism_check(x, part);
}

// What the mechanisms are told of the forces that are known now.
static void tell_forces(ItmCosim* x)
{
    for (int i = 0; i < x->nbond; i++) {
        x->bonds[i].told = x->bonds[i].memory->active;
    }
}

static ItmStatus find_failure(ItmCosim* x)
{
    for (int i = 0; i < x->ngroup; i++) {
        if (x->groups[i].status != ITM_OK) {
            x->error = x->groups[i].error;
            return x->groups[i].status;
        }
    }
    for (int i = 0; i < x->ncluster; i++) {
        if (x->clusters[i].status != ITM_OK) {
            x->error = x->clusters[i].error;
            return x->clusters[i].status;
        }
    }
    for (int i = 0; i < x->nmechanism; i++) {
        if (x->mechanisms[i].status != ITM_OK) {
            x->error = x->mechanisms[i].error;
            return x->mechanisms[i].status;
        }
    }
    return ITM_OK;
}

static ItmStatus step(ItmCosim* x)
{
    itm_pool_run(x->pool, measure_one, x, x->nmechanism);
    itm_assembly_measure_all(x);
    for (int i = 0; i < x->nbond; i++) {
        itm_mechanism_predict_bond(&x->bonds[i], x->step);
    }
    ItmStatus status = run_sampled(x, 1.0);
    if (status != ITM_OK) {
        return status;
    }
    tell_forces(x);
    itm_pool_run(x->pool, reduce_one, x, x->nmechanism);
    status = find_failure(x);
    if (status != ITM_OK) {
        return status;
    }
    itm_pool_run(x->pool, run_first, x, x->ngroup + x->ncluster + x->nmechanism);
    status = find_failure(x);
    if (status != ITM_OK) {
        return status;
    }
    if (x->options.scheme == ITM_SCHEME_GAUSS_SEIDEL) {
        tell_forces(x);
    }
    itm_pool_run(x->pool, run_second, x, x->nmechanism);
    return find_failure(x);
}

// Outputs of sampled subsystems at the point that has been reached; the next step computes them again and goes on.
static ItmStatus arrive(ItmCosim* x)
{
    itm_pool_run(x->pool, measure_one, x, x->nmechanism);
    return run_sampled(x, 0.0);
}

// Everything as it was before the step that failed.
static ItmStatus go_back(ItmCosim* x, ItmStatus status)
{
    copy_in(x, x->backup);
    return status;
}

ItmStatus itm_cosim_step(ItmCosim* x)
{
    ITM_GUARD(x != NULL, ITM_ERR_ARGUMENT);
    itm_verdict_begin(x);
    for (int i = 0; i < x->ngroup; i++) {
        x->groups[i].status = ITM_OK;
    }
    for (int i = 0; i < x->ncluster; i++) {
        x->clusters[i].status = ITM_OK;
    }
    for (int i = 0; i < x->nmechanism; i++) {
        x->mechanisms[i].status = ITM_OK;
    }
    copy_out(x, x->backup);
    ItmStatus status = step(x);
    if (status != ITM_OK) {
        return go_back(x, status);
    }
    *itm_cosim_get_steps(x) += 1.0;
    itm_ledger_book_bonds(x);
    itm_assembly_arrive_all(x);
    status = itm_verdict_update(x, itm_cosim_get_time(x));
    if (status != ITM_OK) {
        return go_back(x, status);
    }
    return x->nsampled > 0 ? arrive(x) : ITM_OK;
}

ItmStatus itm_cosim_step_free(ItmCosim* x)
{
    ITM_GUARD(x != NULL, ITM_ERR_ARGUMENT);
    ItmMechanism* part = &x->mechanisms[0];
    if (x->nmechanism != 1 || x->nmember > 0 || !itm_stepper_is_variable(part->step.stepper)) {
        return itm_cosim_step(x);
    }
    itm_verdict_begin(x);
    copy_out(x, x->backup);
    ItmStatus status = itm_step(part->model, part->data);
    if (status != ITM_OK) {
        x->error = *itm_data_get_error(part->data);
        return status;
    }
    status = itm_verdict_update(x, itm_data_get_time(part->data));
    return status == ITM_OK ? ITM_OK : go_back(x, status);
}

// ---------------------------------------------------------------------------- looking

const ItmError* itm_cosim_get_error(const ItmCosim* x)
{
    return &x->error;
}

double itm_cosim_get_step(const ItmCosim* x)
{
    ITM_GUARD(x != NULL, 0.0);
    return x->step;
}

double itm_cosim_get_time(const ItmCosim* x)
{
    ITM_GUARD(x != NULL, 0.0);
    return *itm_cosim_get_steps(x) * x->step;
}

int itm_cosim_get_mechanism_count(const ItmCosim* x)
{
    ITM_GUARD(x != NULL, 0);
    return x->nmechanism;
}

int itm_cosim_get_subsystem_count(const ItmCosim* x)
{
    ITM_GUARD(x != NULL, 0);
    return x->nmember;
}

static ItmMechanism* get_mechanism(const ItmCosim* x, int mechanism)
{
    return mechanism >= 0 && mechanism < x->nmechanism ? &x->mechanisms[mechanism] : NULL;
}

static ItmSubsystemInstance* get_member(const ItmCosim* x, int subsystem)
{
    return subsystem >= 0 && subsystem < x->nmember ? &x->members[subsystem] : NULL;
}

const char* itm_cosim_get_mechanism_name(const ItmCosim* x, int mechanism)
{
    ITM_GUARD(x != NULL, NULL);
    const ItmMechanism* part = get_mechanism(x, mechanism);
    return part != NULL ? part->name : NULL;
}

const char* itm_cosim_get_subsystem_name(const ItmCosim* x, int subsystem)
{
    ITM_GUARD(x != NULL, NULL);
    const ItmSubsystemInstance* member = get_member(x, subsystem);
    return member != NULL ? member->name : NULL;
}

const ItmModel* itm_cosim_get_model(const ItmCosim* x, int mechanism)
{
    ITM_GUARD(x != NULL, NULL);
    const ItmMechanism* part = get_mechanism(x, mechanism);
    return part != NULL ? part->model : NULL;
}

ItmData* itm_cosim_get_data(ItmCosim* x, int mechanism)
{
    ITM_GUARD(x != NULL, NULL);
    ItmMechanism* part = get_mechanism(x, mechanism);
    return part != NULL ? part->data : NULL;
}

ItmHydraulics* itm_cosim_get_hydraulics(ItmCosim* x, int subsystem)
{
    ITM_GUARD(x != NULL, NULL);
    ItmSubsystemInstance* member = get_member(x, subsystem);
    return member != NULL ? member->hydraulics : NULL;
}

ItmStatus itm_cosim_set_input(ItmCosim* x, int subsystem, int input, double value)
{
    ITM_GUARD(x != NULL, ITM_ERR_ARGUMENT);
    ItmSubsystemInstance* member = get_member(x, subsystem);
    if (member == NULL || input < 0 || input >= member->table.ninput) {
        return itm_error_set(&x->error, ITM_ERR_ARGUMENT, __func__, NULL, "there is no input %d of subsystem %d", input,
                             subsystem);
    }
    member->u[input] = member->offset[input] + value;
    member->table.set_inputs(member->table.self, member->u);
    return ITM_OK;
}

ItmCosimCost itm_cosim_get_cost(const ItmCosim* x)
{
    ITM_GUARD(x != NULL, (ItmCosimCost){0});
    ItmCosimCost cost = {0};
    for (int i = 0; i < x->nmechanism; i++) {
        cost.mechanism += x->mechanisms[i].cost;
        cost.rim += x->mechanisms[i].cost_rim;
    }
    for (int i = 0; i < x->ngroup; i++) {
        cost.subsystems += x->groups[i].cost;
    }
    for (int i = 0; i < x->ncluster; i++) {
        // without line actuators there are no subsystems at joined mechanisms: their interface models are all there is
        *(x->clusters[i].join.nline > 0 ? &cost.subsystems : &cost.rim) += x->clusters[i].cost;
    }
    return cost;
}
