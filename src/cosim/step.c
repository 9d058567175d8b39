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
#include "base/packet.h"

#include <string.h>

// Phases of a step, in the order in which one process would notice that they fail.
enum { PHASE_SAMPLES, PHASE_MODELS, PHASE_GROUPS, PHASE_MECHANISMS };

// ---------------------------------------------------------------------------- state

// Whether this process has the state of a part: its own, and rank 0 those of all.
static bool has_part(const ItmCosim* x, int rank)
{
    return x->rank == 0 || itm_ranks_is_own(x, rank);
}

static size_t get_mechanism_size(const ItmMechanism* part)
{
    return itm_data_get_state_size(part->model, part->data) +
           (part->foreign != NULL ? itm_foreign_get_state_size(part->foreign) : 0);
}

static size_t get_subsystem_size(const ItmSubsystemInstance* subsystem)
{
    const ItmSubsystem* table = &subsystem->table;
    return table->memory != NULL ? table->memory_size : table->get_state_size(table->self);
}

static void save_subsystem(const ItmSubsystemInstance* subsystem, void* bytes)
{
    const ItmSubsystem* table = &subsystem->table;
    if (table->memory != NULL) {
        memcpy(bytes, table->memory, table->memory_size);
    } else {
        table->save(table->self, bytes);
    }
}

static void restore_subsystem(const ItmSubsystemInstance* subsystem, const void* bytes)
{
    const ItmSubsystem* table = &subsystem->table;
    if (table->memory != NULL) {
        memcpy(table->memory, bytes, table->memory_size);
    } else {
        table->restore(table->self, bytes);
    }
}

// Offsets, inputs and outputs, each array one longer.
static size_t get_port_size(const ItmSubsystemInstance* subsystem)
{
    return sizeof(double) * (size_t)(2 * subsystem->table.ninput + subsystem->table.noutput + 3);
}

size_t itm_cosim_get_state_size(const ItmCosim* x)
{
    ITM_GUARD(x != NULL, 0);
    size_t size = sizeof(double) * x->nstate;
    for (int i = 0; i < x->nmechanism; i++) {
        size += get_mechanism_size(&x->mechanisms[i]);
    }
    for (int i = 0; i < x->nsubsystem; i++) {
        size += get_subsystem_size(&x->subsystems[i]) + get_port_size(&x->subsystems[i]);
    }
    return size;
}

static ItmStatus save_mechanism(const ItmMechanism* part, char* bytes)
{
    size_t size = itm_data_get_state_size(part->model, part->data);
    itm_data_save(part->model, part->data, bytes, size);
    return part->foreign != NULL ? itm_foreign_save(part->foreign, bytes + size) : ITM_OK;
}

static ItmStatus restore_mechanism(ItmMechanism* part, const char* bytes)
{
    size_t size = itm_data_get_state_size(part->model, part->data);
    itm_data_restore(part->model, part->data, bytes, size);
    return part->foreign != NULL ? itm_foreign_restore(part->foreign, bytes + size) : ITM_OK;
}

// Returns the first failure of a foreign mechanism.
static ItmStatus copy_out(const ItmCosim* x, char* bytes)
{
    ItmStatus status = ITM_OK;
    memcpy(bytes, x->state, sizeof(double) * x->nstate);
    bytes += sizeof(double) * x->nstate;
    for (int i = 0; i < x->nmechanism; i++) {
        const ItmMechanism* part = &x->mechanisms[i];
        ItmStatus saved = has_part(x, part->rank) ? save_mechanism(part, bytes) : ITM_OK;
        status = status == ITM_OK ? saved : status;
        bytes += get_mechanism_size(part);
    }
    for (int i = 0; i < x->nsubsystem; i++) {
        const ItmSubsystemInstance* subsystem = &x->subsystems[i];
        if (has_part(x, subsystem->rank)) {
            save_subsystem(subsystem, bytes);
            memcpy(bytes + get_subsystem_size(subsystem), subsystem->offset, get_port_size(subsystem));
        }
        bytes += get_subsystem_size(subsystem) + get_port_size(subsystem);
    }
    return status;
}

// State, then offsets, inputs and outputs.
static void take_subsystem(ItmSubsystemInstance* subsystem, const char* bytes)
{
    restore_subsystem(subsystem, bytes);
    memcpy(subsystem->offset, bytes + get_subsystem_size(subsystem), get_port_size(subsystem));
    if (subsystem->table.input_start != NULL && subsystem->table.ninput > 0) {
        subsystem->table.set_inputs(subsystem->table.self, subsystem->u);
    }
}

static ItmStatus copy_in(ItmCosim* x, const char* bytes)
{
    ItmStatus status = ITM_OK;
    memcpy(x->state, bytes, sizeof(double) * x->nstate);
    bytes += sizeof(double) * x->nstate;
    for (int i = 0; i < x->nmechanism; i++) {
        ItmMechanism* part = &x->mechanisms[i];
        ItmStatus restored = has_part(x, part->rank) ? restore_mechanism(part, bytes) : ITM_OK;
        status = status == ITM_OK ? restored : status;
        part->has_account = false;
        bytes += get_mechanism_size(part);
    }
    for (int i = 0; i < x->nsubsystem; i++) {
        ItmSubsystemInstance* subsystem = &x->subsystems[i];
        if (has_part(x, subsystem->rank)) {
            take_subsystem(subsystem, bytes);
        }
        bytes += get_subsystem_size(subsystem) + get_port_size(subsystem);
    }
    return status;
}

bool itm_cosim_move_mechanism(ItmMechanism* part, ItmPacket* p)
{
    char* bytes = itm_packet_take(p, get_mechanism_size(part));
    ItmStatus status = bytes == NULL                ? ITM_OK
                       : p->use == ITM_PACKET_WRITE ? save_mechanism(part, bytes)
                                                    : restore_mechanism(part, bytes);
    itm_packet_move(p, &part->data->info, sizeof part->data->info);
    itm_packet_move(p, &part->account, sizeof part->account);
    itm_packet_move_reals(p, part->nswitch, ITM_MECHANISM_COUNTERS);
    itm_packet_move_reals(p, part->rim.s, part->rim.n);
    itm_packet_move_reals(p, part->rim.w, part->rim.n);
    itm_packet_move_reals(p, &part->cost, 1);
    itm_packet_move_reals(p, &part->cost_rim, 1);
    return status == ITM_OK;
}

void itm_cosim_move_subsystem(ItmSubsystemInstance* subsystem, ItmPacket* p)
{
    char* bytes = itm_packet_take(p, get_subsystem_size(subsystem) + get_port_size(subsystem));
    if (bytes != NULL && p->use == ITM_PACKET_WRITE) {
        save_subsystem(subsystem, bytes);
        memcpy(bytes + get_subsystem_size(subsystem), subsystem->offset, get_port_size(subsystem));
    } else if (bytes != NULL) {
        take_subsystem(subsystem, bytes);
    }
}

static ItmStatus refuse_state(ItmCosim* x, ItmStatus status, const char* verb)
{
    return status == ITM_OK ? ITM_OK
                            : itm_error_set(&x->error, status, "itm_cosim_save", NULL,
                                            "the state of a foreign mechanism cannot be %s", verb);
}

const char* itm_cosim_find_unsaved(const ItmCosim* x)
{
    for (int i = 0; i < x->nsubsystem; i++) {
        if (x->subsystems[i].table.is_unsaved) {
            return x->subsystems[i].name;
        }
    }
    return NULL;
}

const char* itm_cosim_find_local_state(const ItmCosim* x)
{
    for (int i = 0; i < x->nsubsystem; i++) {
        const ItmSubsystem* table = &x->subsystems[i].table;
        if (table->is_unsaved || table->is_state_local) {
            return x->subsystems[i].name;
        }
    }
    for (int i = 0; i < x->nmechanism; i++) {
        const ItmForeign* foreign = x->mechanisms[i].foreign;
        if (foreign != NULL && (foreign->state_size == 0 || foreign->table.is_state_local)) {
            return x->mechanisms[i].name;
        }
    }
    return NULL;
}

size_t itm_cosim_get_notes_size(const ItmCosim* x)
{
    return (size_t)x->nmechanism * sizeof(ItmStepInfo);
}

void itm_cosim_save_notes(const ItmCosim* x, void* bytes)
{
    for (int i = 0; i < x->nmechanism; i++) {
        memcpy((char*)bytes + (size_t)i * sizeof(ItmStepInfo), &x->mechanisms[i].data->info, sizeof(ItmStepInfo));
    }
}

void itm_cosim_restore_notes(ItmCosim* x, const void* bytes)
{
    for (int i = 0; i < x->nmechanism; i++) {
        ItmMechanism* part = &x->mechanisms[i];
        ItmStepInfo* info = &part->data->info;
        memcpy(info, (const char*)bytes + (size_t)i * sizeof *info, sizeof *info);
        info->worst_name[sizeof info->worst_name - 1] = '\0';
        part->steps_seen = info->steps;
        part->unfinished_seen = info->unfinished;
        part->rebound_seen = info->impact_loss;
    }
}

ItmStatus itm_cosim_refuse_unsaved(ItmCosim* x, const char* function)
{
    const char* name = itm_cosim_find_unsaved(x);
    return name == NULL ? ITM_OK
                        : itm_error_set(&x->error, ITM_ERR_UNSUPPORTED, function, name,
                                        "the state of subsystem '%s' cannot be saved and restored", name);
}

ItmStatus itm_cosim_save(ItmCosim* x, void* bytes, size_t size)
{
    ITM_GUARD(x != NULL && bytes != NULL, ITM_ERR_ARGUMENT);
    ItmStatus status = itm_cosim_refuse_unsaved(x, __func__);
    if (status != ITM_OK) {
        return status;
    }
    if (bytes == NULL || size != itm_cosim_get_state_size(x)) {
        return itm_error_set(&x->error, ITM_ERR_ARGUMENT, __func__, NULL, "a state has %zu bytes, got %zu",
                             itm_cosim_get_state_size(x), size);
    }
    if (x->driven != ITM_NONE) {
        memcpy(bytes, x->backup, size);  // the step that has begun may be going on
        return ITM_OK;
    }
    return refuse_state(x, copy_out(x, bytes), "saved");
}

static void measure_one(void* context, int job)
{
    ItmCosim* x = context;
    if (itm_ranks_is_own(x, x->mechanisms[job].rank)) {
        itm_mechanism_measure(x, &x->mechanisms[job]);
    }
}

ItmStatus itm_cosim_restore(ItmCosim* x, const void* bytes, size_t size)
{
    ITM_GUARD(x != NULL, ITM_ERR_ARGUMENT);
    if (bytes == NULL || size != itm_cosim_get_state_size(x)) {
        return itm_error_set(&x->error, ITM_ERR_ARGUMENT, __func__, NULL, "a state has %zu bytes, got %zu",
                             itm_cosim_get_state_size(x), size);
    }
    ItmStatus status = itm_ranks_order(x, ITM_RANKS_RESTORE, bytes, size);
    x->has_backup = false;
    status = status == ITM_OK ? refuse_state(x, copy_in(x, bytes), "restored") : status;
    if (status == ITM_OK) {
        itm_pool_run(x->pool, measure_one, x, x->nmechanism);  // ports show the restored state
    }
    return status;
}

// ---------------------------------------------------------------------------- start

ItmStatus itm_cosim_run_sampled(ItmCosim* x, double h_factor, bool is_late)
{
    for (int k = 0; k < x->nsampled; k++) {
        ItmSubsystemInstance* subsystem = &x->subsystems[x->sampled[k]];
        bool is_asked = itm_ranks_is_own(x, subsystem->rank) && x->groups[subsystem->group].is_late == is_late;
        if (!is_asked || !itm_cosim_subsystem_is_due(x, subsystem, 0)) {
            continue;
        }
        itm_wires_feed_subsystem(x, subsystem);
        ItmStatus status = itm_cosim_subsystem_step(x, subsystem, 0, h_factor * subsystem->step, &x->error);
        if (status != ITM_OK) {
            x->failure = (ItmFailure){.phase = PHASE_SAMPLES, .index = k};
            return status;
        }
    }
    return ITM_OK;
}

static ItmStatus reset_parts(ItmCosim* x)
{
    ItmStatus status = ITM_OK;
    memset(x->state, 0, sizeof(double) * x->nstate);
    for (int i = 0; i < x->nsubsystem; i++) {
        ItmSubsystemInstance* subsystem = &x->subsystems[i];
        subsystem->table.reset(subsystem->table.self);
        memset(subsystem->offset, 0, get_port_size(subsystem));
        for (int k = 0; subsystem->table.input_start != NULL && k < subsystem->table.ninput; k++) {
            subsystem->u[k] = subsystem->table.input_start[k];
        }
    }
    for (int i = 0; i < x->nmechanism; i++) {
        ItmMechanism* part = &x->mechanisms[i];
        itm_reset(part->model, part->data);
        part->steps_seen = part->unfinished_seen = 0;
        part->rebound_seen = 0.0;
        if (part->foreign != NULL && status == ITM_OK) {
            status = itm_foreign_reset(part->foreign, &x->error);
        }
    }
    return status;
}

// Forces, outputs and inputs by wires from the present state of the parts; no past.
static ItmStatus start_parts(ItmCosim* x)
{
    for (int i = 0; i < x->nmechanism; i++) {
        itm_mechanism_measure(x, &x->mechanisms[i]);
    }
    itm_assembly_measure_all(x);
    itm_cosim_start_subsystems(x);
    ItmStatus status = itm_cosim_run_sampled(x, 0.0, false);
    for (int i = 0; i < x->nsubsystem && status == ITM_OK; i++) {
        itm_wires_feed_subsystem(x, &x->subsystems[i]);
    }
    // forces of actuators with a bond are outputs of the start, too
    for (int i = 0; i < x->nbond; i++) {
        const ItmBond* bond = &x->bonds[i];
        ItmMechanism* part = &x->mechanisms[bond->mechanism];
        itm_mechanism_show_force(part, bond->slot, bond->memory->force);
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
    for (int i = 0; i < x->nassembly; i++) {
        x->assemblies[i].cost = 0.0;
    }
    ItmStatus status = itm_ranks_order(x, ITM_RANKS_RESET, NULL, 0);
    x->has_backup = false;
    if (status == ITM_OK && x->has_start) {
        return refuse_state(x, copy_in(x, x->start), "restored");
    }
    status = status == ITM_OK ? reset_parts(x) : status;
    return status == ITM_OK ? start_parts(x) : status;
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
    return !part->uses_impulse && part->assembly == ITM_NONE &&
           (x->options.scheme == ITM_SCHEME_JACOBI || part->nbond == 0);
}

static void reduce_one(void* context, int job)
{
    ItmCosim* x = context;
    ItmMechanism* part = &x->mechanisms[job];
    if (!itm_ranks_is_own(x, part->rank)) {
        return;
    }
    itm_wires_feed_mechanism(x, part);
    if (part->has_rim) {
        itm_mechanism_reduce(x, part, 0);
    }
}

// Groups and assemblies first, then mechanisms that need not wait for them.
static void run_first(void* context, int job)
{
    ItmCosim* x = context;
    int ahead = x->ngroup + x->nassembly;
    if (job < x->ngroup) {
        ItmGroup* group = &x->groups[job];
        if (itm_ranks_is_own(x, group->rank) && !itm_group_is_driven(x, group)) {
            itm_group_run(x, group);
        }
    } else if (job < ahead) {
        ItmAssembly* assembly = &x->assemblies[job - x->ngroup];
        if (!assembly->has_subsystems && itm_ranks_is_own(x, x->mechanisms[assembly->mechanisms[0]].rank)) {
            itm_assembly_run(x, assembly);
        }
    } else {
        ItmMechanism* part = &x->mechanisms[job - ahead];
        if (itm_ranks_is_own(x, part->rank) && steps_held_first(x, part)) {
            itm_mechanism_step_held(x, part);
        }
    }
}

static void run_second(void* context, int job)
{
    ItmCosim* x = context;
    ItmMechanism* part = &x->mechanisms[job];
    if (!itm_ranks_is_own(x, part->rank)) {
        return;
    }
    if (part->uses_impulse) {
        itm_mechanism_take_over(part);
    } else if (part->assembly == ITM_NONE && !steps_held_first(x, part)) {
        itm_mechanism_step_held(x, part);
    }
    itm_mechanism_check(x, part);
}

// Forces that the mechanisms receive, as far as they are available now.
static void tell_forces(ItmCosim* x)
{
    for (int i = 0; i < x->nbond; i++) {
        x->bonds[i].told = x->bonds[i].memory->active;
    }
}

static ItmStatus find_failure(ItmCosim* x, int phase)
{
    for (int i = 0; i < x->ngroup; i++) {
        if (x->groups[i].status != ITM_OK) {
            x->error = x->groups[i].error;
            x->failure = (ItmFailure){phase, 0, i};
            return x->groups[i].status;
        }
    }
    for (int i = 0; i < x->nassembly; i++) {
        if (x->assemblies[i].status != ITM_OK) {
            x->error = x->assemblies[i].error;
            x->failure = (ItmFailure){phase, 1, i};
            return x->assemblies[i].status;
        }
    }
    for (int i = 0; i < x->nmechanism; i++) {
        if (x->mechanisms[i].status != ITM_OK) {
            x->error = x->mechanisms[i].error;
            x->failure = (ItmFailure){phase, 2, i};
            return x->mechanisms[i].status;
        }
    }
    return ITM_OK;
}

// Up to the interface models: motion at the communication point, samples of controls, reductions.
static ItmStatus prepare(ItmCosim* x)
{
    itm_pool_run(x->pool, measure_one, x, x->nmechanism);
    itm_assembly_measure_all(x);
    for (int i = 0; i < x->nbond; i++) {
        if (itm_ranks_is_own(x, x->mechanisms[x->bonds[i].mechanism].rank)) {
            itm_mechanism_predict_bond(&x->bonds[i], x->step);
        }
    }
    ItmStatus status = itm_cosim_run_sampled(x, 1.0, false);
    if (status == ITM_OK) {
        tell_forces(x);
        itm_pool_run(x->pool, reduce_one, x, x->nmechanism);
        status = find_failure(x, PHASE_MODELS);
    }
    status = itm_ranks_exchange_models(x, status);
    return status == ITM_OK ? itm_cosim_run_sampled(x, 1.0, true) : status;
}

// From the micro steps on: groups and assemblies, then mechanisms.
static ItmStatus run(ItmCosim* x, ItmStatus status)
{
    if (status == ITM_OK) {
        itm_pool_run(x->pool, run_first, x, x->ngroup + x->nassembly + x->nmechanism);
        status = find_failure(x, PHASE_GROUPS);
    }
    status = itm_ranks_exchange_impulses(x, status);
    if (status != ITM_OK) {
        return status;
    }
    if (x->options.scheme == ITM_SCHEME_GAUSS_SEIDEL) {
        tell_forces(x);
    }
    itm_pool_run(x->pool, run_second, x, x->nmechanism);
    return find_failure(x, PHASE_MECHANISMS);
}

// Outputs of sampled subsystems at the point that has been reached; the next step computes them again and goes on.
static ItmStatus arrive(ItmCosim* x, ItmStatus status)
{
    if (status == ITM_OK && x->nsampled > 0) {
        itm_pool_run(x->pool, measure_one, x, x->nmechanism);
        status = itm_cosim_run_sampled(x, 0.0, false);
    }
    status = itm_ranks_exchange_arrivals(x, status);
    return status == ITM_OK ? itm_cosim_run_sampled(x, 0.0, true) : status;
}

ItmStatus itm_cosim_abandon(ItmCosim* x, ItmStatus status)
{
    for (int i = 0; i < x->nmechanism; i++) {
        if (x->mechanisms[i].foreign != NULL) {
            itm_foreign_cancel(x->mechanisms[i].foreign);
        }
    }
    if (x->has_backup) {
        copy_in(x, x->backup);
    }
    (void)itm_ranks_order(x, ITM_RANKS_ABANDON, NULL, 0);  // a process that cannot be reached has been reported
    x->driven = ITM_NONE;
    return status;
}

static void clear_failures(ItmCosim* x)
{
    for (int i = 0; i < x->ngroup; i++) {
        x->groups[i].status = ITM_OK;
    }
    for (int i = 0; i < x->nassembly; i++) {
        x->assemblies[i].status = ITM_OK;
    }
    for (int i = 0; i < x->nmechanism; i++) {
        x->mechanisms[i].status = ITM_OK;
    }
}

static ItmStatus back_up(ItmCosim* x)
{
    x->has_backup = true;
    return refuse_state(x, copy_out(x, x->backup), "saved");
}

static ItmStatus begin(ItmCosim* x)
{
    itm_verdict_begin(x);
    clear_failures(x);
    return back_up(x);
}

ItmStatus itm_cosim_prepare(ItmCosim* x)
{
    ItmStatus status = begin(x);
    if (status != ITM_OK) {
        return status;
    }
    status = prepare(x);
    return status == ITM_OK ? ITM_OK : itm_cosim_abandon(x, status);
}

// From the micro steps to the verdict. With other processes all exchanges take place, whatever has failed before.
static ItmStatus complete(ItmCosim* x, ItmStatus status)
{
    status = run(x, status);
    if (status == ITM_OK) {
        *itm_cosim_get_steps(x) += 1.0;
        itm_ledger_book_bonds(x);
        itm_assembly_arrive_all(x);
        itm_verdict_close(x);
        x->driven = ITM_NONE;
    }
    status = arrive(x, status);
    status = itm_ranks_gather(x, status);
    if (status == ITM_OK && x->rank == 0) {
        status = itm_verdict_update(x, itm_cosim_get_time(x));
    }
    return status;
}

ItmStatus itm_cosim_finish(ItmCosim* x)
{
    ItmStatus status = complete(x, ITM_OK);
    return status == ITM_OK ? ITM_OK : itm_cosim_abandon(x, status);
}

// Whether a subsystem that failed runs again.
static bool has_recovered(const ItmCosim* x)
{
    bool is_any = false;
    for (int i = 0; i < x->nsubsystem; i++) {
        const ItmSubsystem* table = &x->subsystems[i].table;
        if (table->is_recovered != NULL && table->is_recovered(table->self)) {
            itm_cosim_send_message(x, ITM_MESSAGE_RECOVERY, itm_cosim_get_time(x), x->subsystems[i].name,
                                   x->error.message);
            is_any = true;
        }
    }
    return is_any;
}

static ItmStatus report_failure(const ItmCosim* x, ItmStatus status)
{
    if (status != ITM_OK) {
        itm_cosim_send_message(x, ITM_MESSAGE_FAILURE, itm_cosim_get_time(x), "", x->error.message);
    }
    return status;
}

static ItmStatus try_step(ItmCosim* x)
{
    ItmStatus status = begin(x);
    status = status == ITM_OK ? itm_ranks_order(x, ITM_RANKS_STEP, NULL, 0) : status;
    if (status != ITM_OK) {
        return status;
    }
    status = complete(x, prepare(x));
    return status == ITM_OK ? ITM_OK : itm_cosim_abandon(x, status);
}

ItmStatus itm_cosim_step_along(ItmCosim* x)
{
    ItmStatus status = begin(x);
    return complete(x, status == ITM_OK ? prepare(x) : status);
}

ItmStatus itm_cosim_step(ItmCosim* x)
{
    ITM_GUARD(x != NULL, ITM_ERR_ARGUMENT);
    ItmStatus status = try_step(x);
    return report_failure(x, status != ITM_OK && has_recovered(x) ? try_step(x) : status);
}

ItmStatus itm_cosim_step_free(ItmCosim* x)
{
    ITM_GUARD(x != NULL, ITM_ERR_ARGUMENT);
    ItmMechanism* part = &x->mechanisms[0];
    if (x->nmechanism != 1 || x->nsubsystem > 0 || x->ranks != NULL || !itm_stepper_is_variable(part->step.stepper)) {
        return itm_cosim_step(x);
    }
    itm_verdict_begin(x);
    (void)back_up(x);
    ItmStatus status = itm_step(part->model, part->data);
    if (status != ITM_OK) {
        x->error = *itm_data_get_error(part->data);
        return report_failure(x, status);
    }
    itm_verdict_close(x);
    status = itm_verdict_update(x, itm_data_get_time(part->data));
    return status == ITM_OK ? ITM_OK : report_failure(x, itm_cosim_abandon(x, status));
}

// ---------------------------------------------------------------------------- messages

void itm_cosim_set_message_handler(ItmCosim* x, ItmMessageHandler* handler, void* user)
{
    ITM_GUARD_VOID(x != NULL);
    x->message_handler = handler;
    x->message_user = user;
}

void itm_cosim_send_message(const ItmCosim* x, ItmMessageKind kind, double time, const char* where, const char* text)
{
    if (x->message_handler != NULL && !x->is_trial) {
        ItmMessage message = {kind, time, where, text};
        x->message_handler(x->message_user, &message);
    }
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
    return x->nsubsystem;
}

static ItmMechanism* get_mechanism(const ItmCosim* x, int mechanism)
{
    return mechanism >= 0 && mechanism < x->nmechanism ? &x->mechanisms[mechanism] : NULL;
}

static ItmSubsystemInstance* get_subsystem(const ItmCosim* x, int subsystem)
{
    return subsystem >= 0 && subsystem < x->nsubsystem ? &x->subsystems[subsystem] : NULL;
}

const char* itm_cosim_get_mechanism_name(const ItmCosim* x, int mechanism)
{
    ITM_GUARD(x != NULL, NULL);
    const ItmMechanism* part = get_mechanism(x, mechanism);
    return part != NULL ? part->name : NULL;
}

const char* itm_cosim_get_log(const ItmCosim* x, int subsystem, size_t* nleft_out)
{
    ITM_GUARD(x != NULL, "");
    const ItmSubsystemInstance* instance = get_subsystem(x, subsystem);
    size_t nlost = 0;
    const char* log = instance != NULL && instance->table.get_log != NULL
                          ? instance->table.get_log(instance->table.self, &nlost)
                          : "";
    if (nleft_out != NULL) {
        *nleft_out = nlost;
    }
    return log;
}

const char* itm_cosim_get_subsystem_name(const ItmCosim* x, int subsystem)
{
    ITM_GUARD(x != NULL, NULL);
    const ItmSubsystemInstance* instance = get_subsystem(x, subsystem);
    return instance != NULL ? instance->name : NULL;
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

ItmForeignNotes itm_cosim_get_foreign_notes(const ItmCosim* x, int mechanism)
{
    ITM_GUARD(x != NULL, (ItmForeignNotes){0});
    const ItmMechanism* part = get_mechanism(x, mechanism);
    const ItmForeign* f = part != NULL ? part->foreign : NULL;
    return f != NULL ? (ItmForeignNotes){f->source, (long)f->memory->nprobe, f->memory->asymmetry,
                                         f->memory->nonlinearity, f->memory->error}
                     : (ItmForeignNotes){0};
}

ItmHydraulics* itm_cosim_get_hydraulics(ItmCosim* x, int subsystem)
{
    ITM_GUARD(x != NULL, NULL);
    ItmSubsystemInstance* instance = get_subsystem(x, subsystem);
    return instance != NULL ? instance->hydraulics : NULL;
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
    for (int i = 0; i < x->nassembly; i++) {
        // without line actuators there are no subsystems at joined mechanisms: their interface models are all there is
        *(x->assemblies[i].join.nline > 0 ? &cost.subsystems : &cost.rim) += x->assemblies[i].cost;
    }
    return cost;
}
