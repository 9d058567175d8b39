// Wires: finding their ends by name, the order of sampled subsystems, and which subsystems must step side by side.
#include "cosim/cosim.h"

#include "base/error.h"
#include "base/union_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGNAL_SUFFIX ":signal"  // of signals that an element has for itself

// ---------------------------------------------------------------------------- names

// What follows "part." in a full name, or NULL; a part without a name has everything.
static const char* strip_part(const char* full, const char* part)
{
    size_t n = strlen(part);
    if (n == 0) {
        return full;
    }
    return strncmp(full, part, n) == 0 && full[n] == '.' ? full + n + 1 : NULL;
}

static int find_name(const char* const* names, int n, const char* name)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(names[i], name) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}

static int find_subsystem_output(const ItmSubsystemInstance* subsystem, const char* name)
{
    for (int i = 0; i < subsystem->table.noutput; i++) {
        if (strcmp(subsystem->table.outputs[i].name, name) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}

// "cyl1.rate" of a mechanism whose actuator cyl1 has a bond: followed at the micro rate.
static bool find_bond_quantity(ItmCosim* x, int mechanism, const char* name, ItmWire* wire)
{
    static const char* const QUANTITIES[] = {"length", "angle", "rate", "force", "torque"};
    static const ItmSourceKind KINDS[] = {ITM_SOURCE_LENGTH, ITM_SOURCE_LENGTH, ITM_SOURCE_RATE, ITM_SOURCE_FORCE,
                                          ITM_SOURCE_FORCE};
    const ItmMechanism* part = &x->mechanisms[mechanism];
    for (int i = 0; i < part->nbond; i++) {
        const char* rest = strip_part(name, itm_mechanism_get_port_name(part, i));
        int quantity = rest != NULL ? find_name(QUANTITIES, 5, rest) : ITM_NONE;
        if (quantity != ITM_NONE) {
            *wire = (ItmWire){.from = KINDS[quantity], .from_part = mechanism, .from_index = part->bonds[i]};
            return true;
        }
    }
    return false;
}

static int find_mechanism_output(const ItmMechanism* part, const char* name)
{
    if (part->foreign == NULL) {
        return itm_model_find_output(part->model, name);
    }
    int output = ITM_NONE;
    for (int i = 0; i < part->foreign->table.noutput && output == ITM_NONE; i++) {
        output = strcmp(part->foreign->table.outputs[i].name, name) == 0 ? i : ITM_NONE;
    }
    return output;
}

static bool find_source(ItmCosim* x, ItmWire* wire, const char* from)
{
    for (int i = 0; i < x->nsubsystem; i++) {
        const char* name = strip_part(from, x->subsystems[i].name);
        int output = name != NULL ? find_subsystem_output(&x->subsystems[i], name) : ITM_NONE;
        if (output != ITM_NONE) {
            *wire = (ItmWire){.from = ITM_SOURCE_SUBSYSTEM, .from_part = i, .from_index = output};
            x->subsystems[i].is_watched = true;
            return true;
        }
    }
    for (int i = 0; i < x->nmechanism; i++) {
        const char* name = strip_part(from, x->mechanisms[i].name);
        if (name == NULL) {
            continue;
        }
        if (find_bond_quantity(x, i, name, wire)) {
            return true;
        }
        int output = find_mechanism_output(&x->mechanisms[i], name);
        if (output != ITM_NONE) {
            *wire = (ItmWire){.from = ITM_SOURCE_MECHANISM, .from_part = i, .from_index = output};
            x->mechanisms[i].is_watched = true;
            return true;
        }
    }
    return false;
}

// What a wire may drive of a mechanism: an actuator without a bond, or a signal that is external, by its name or that of
// the element that has it ("drive" for "drive:signal").
static bool find_driven(const ItmMechanism* part, const char* name, ItmWire* wire)
{
    if (part->foreign != NULL) {
        const ItmForeignMechanism* table = &part->foreign->table;
        wire->to_index = find_name(table->input_names, table->ninput, name);
        return wire->to_index != ITM_NONE;
    }
    const ItmModel* m = part->model;
    int actuator = itm_model_find_actuator(m, name);
    if (actuator != ITM_NONE && !itm_mechanism_has_bond(part, actuator)) {
        wire->to_index = actuator;
        return true;
    }
    for (int i = 0; i < m->nsignal; i++) {
        const char* signal = m->signals[i].def.name;
        size_t n = strlen(name);
        bool is_named = strncmp(signal, name, n) == 0 && (signal[n] == '\0' || strcmp(signal + n, SIGNAL_SUFFIX) == 0);
        if (is_named && m->signals[i].external != ITM_NONE) {
            wire->to_index = i;
            wire->is_signal = true;
            return true;
        }
    }
    return false;
}

static bool find_target(ItmCosim* x, ItmWire* wire, const char* to)
{
    wire->to_subsystem = wire->to_mechanism = ITM_NONE;
    for (int i = 0; i < x->nsubsystem && wire->to_subsystem == ITM_NONE; i++) {
        const char* name = strip_part(to, x->subsystems[i].name);
        const ItmSubsystem* table = &x->subsystems[i].table;
        int input = name != NULL ? find_name(table->input_names, table->ninput, name) : ITM_NONE;
        if (input != ITM_NONE) {
            wire->to_subsystem = i;
            wire->to_index = input;
        }
    }
    for (int i = 0; i < x->nmechanism && wire->to_subsystem == ITM_NONE && wire->to_mechanism == ITM_NONE; i++) {
        const char* name = strip_part(to, x->mechanisms[i].name);
        if (name != NULL && find_driven(&x->mechanisms[i], name, wire)) {
            wire->to_mechanism = i;
        }
    }
    return wire->to_subsystem != ITM_NONE || wire->to_mechanism != ITM_NONE;
}

ItmStatus itm_wires_resolve(ItmCosim* x, ItmWire* wire, const char* from, const char* to, ItmError* error)
{
    if (!find_source(x, wire, from)) {
        return itm_error_set(error, ITM_ERR_INPUT, "itm_cosim_build", from, "no part has an output '%s'", from);
    }
    if (!find_target(x, wire, to)) {
        return itm_error_set(
            error, ITM_ERR_INPUT, "itm_cosim_build", to,
            "'%s' is no input of a subsystem, no actuator without a bond and no motion or force of a mechanism "
            "that an output drives",
            to);
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- values

static double get_source(const ItmCosim* x, const ItmWire* wire)
{
    switch (wire->from) {
    case ITM_SOURCE_SUBSYSTEM:
        return x->subsystems[wire->from_part].y[wire->from_index];
    case ITM_SOURCE_MECHANISM:
        return x->mechanisms[wire->from_part].y[wire->from_index];
    case ITM_SOURCE_LENGTH:
        return x->bonds[wire->from_index].s_now;
    case ITM_SOURCE_RATE:
        return x->bonds[wire->from_index].w_now;
    case ITM_SOURCE_FORCE:
        return x->bonds[wire->from_index].lambda;
    }
    return 0.0;
}

static double get_value(const ItmCosim* x, const ItmWire* wire)
{
    return wire->factor * get_source(x, wire) + wire->offset;
}

void itm_wires_feed_subsystem(ItmCosim* x, ItmSubsystemInstance* subsystem)
{
    for (int i = subsystem->wire; i < subsystem->wire + subsystem->nwire; i++) {
        int input = x->wires[i].to_index;
        subsystem->u[input] = subsystem->offset[input] + get_value(x, &x->wires[i]);
    }
    if (subsystem->nwire > 0) {
        subsystem->table.set_inputs(subsystem->table.self, subsystem->u);
    }
}

void itm_wires_feed_mechanism(ItmCosim* x, ItmMechanism* part)
{
    for (int i = part->wire; i < part->wire + part->nwire; i++) {
        const ItmWire* wire = &x->wires[i];
        if (part->foreign != NULL) {
            part->foreign->u[wire->to_index] = get_value(x, wire);
        } else if (wire->is_signal) {
            itm_data_set_signal(part->model, part->data, wire->to_index, get_value(x, wire), x->step);
        } else {
            itm_data_set_actuator_force(part->model, part->data, wire->to_index, get_value(x, wire));
        }
    }
    if (part->foreign != NULL && part->nwire > 0) {
        const ItmForeignMechanism* table = &part->foreign->table;
        part->status = table->set_inputs(table->self, part->foreign->u, &part->error);
    }
}

// ---------------------------------------------------------------------------- order

// Subsystems first, then mechanisms, each by number and input.
static int compare_targets(const void* left, const void* right)
{
    const ItmWire *a = left, *b = right;
    if (a->to_subsystem != b->to_subsystem) {
        return a->to_subsystem < b->to_subsystem ? -1 : 1;
    }
    if (a->to_mechanism != b->to_mechanism) {
        return a->to_mechanism < b->to_mechanism ? -1 : 1;
    }
    if (a->is_signal != b->is_signal) {
        return a->is_signal ? 1 : -1;
    }
    return (a->to_index > b->to_index) - (a->to_index < b->to_index);
}

static const char* get_target_name(const ItmCosim* x, const ItmWire* wire)
{
    if (wire->to_subsystem != ITM_NONE) {
        return x->subsystems[wire->to_subsystem].table.input_names[wire->to_index];
    }
    const ItmMechanism* part = &x->mechanisms[wire->to_mechanism];
    const ItmModel* m = part->model;
    if (part->foreign != NULL) {
        return part->foreign->table.input_names[wire->to_index];
    }
    return wire->is_signal ? m->signals[wire->to_index].def.name : itm_actuator_name(m, wire->to_index);
}

static ItmStatus sort_wires(ItmCosim* x, ItmError* error)
{
    if (x->nwire > 1) {
        qsort(x->wires, (size_t)x->nwire, sizeof *x->wires, compare_targets);
    }
    for (int i = 0; i < x->nwire; i++) {
        const ItmWire* wire = &x->wires[i];
        bool is_subsystem = wire->to_subsystem != ITM_NONE;
        if (i > 0 && compare_targets(wire - 1, wire) == 0) {
            char full[128];
            const char* part =
                is_subsystem ? x->subsystems[wire->to_subsystem].name : x->mechanisms[wire->to_mechanism].name;
            const char* name = get_target_name(x, wire);
            const char* suffix = wire->is_signal ? strstr(name, SIGNAL_SUFFIX) : NULL;
            snprintf(full, sizeof full, "%.60s.%.*s", part, suffix != NULL ? (int)(suffix - name) : 60, name);
            return itm_error_set(error, ITM_ERR_INPUT, "itm_cosim_build", full, "two wires end at '%s'", full);
        }
        int* first = is_subsystem ? &x->subsystems[wire->to_subsystem].wire : &x->mechanisms[wire->to_mechanism].wire;
        int* count = is_subsystem ? &x->subsystems[wire->to_subsystem].nwire : &x->mechanisms[wire->to_mechanism].nwire;
        *first = *count == 0 ? i : *first;
        (*count)++;
    }
    return ITM_OK;
}

// Whether a sampled subsystem waits for another that is not ordered yet; which one.
static int find_waited_for(const ItmCosim* x, int i, const bool* is_done)
{
    const ItmSubsystemInstance* subsystem = &x->subsystems[i];
    for (int k = subsystem->wire; k < subsystem->wire + subsystem->nwire; k++) {
        const ItmWire* wire = &x->wires[k];
        if (wire->from == ITM_SOURCE_SUBSYSTEM && x->subsystems[wire->from_part].table.is_sampled &&
            !is_done[wire->from_part]) {
            return wire->from_part;
        }
    }
    return ITM_NONE;
}

// The subsystems of a loop in words, found by following what each waits for.
static ItmStatus refuse_loop(const ItmCosim* x, int i, const bool* is_done, ItmError* error)
{
    for (int k = 0; k < x->nsubsystem; k++) {
        i = find_waited_for(x, i, is_done);
    }
    char words[400] = "";
    int at = i;
    do {
        size_t used = strlen(words);
        snprintf(words + used, sizeof words - used, "%s <- ", x->subsystems[at].name);
        at = find_waited_for(x, at, is_done);
    } while (at != i);
    return itm_error_set(
        error, ITM_ERR_INPUT, "itm_cosim_build", x->subsystems[i].name,
        "algebraic loop of wires: %s%s; outputs of sampled subsystems follow their inputs at once: put a "
        "lag or another delay into one subsystem, or join them into one",
        words, x->subsystems[i].name);
}

static ItmStatus order_sampled(ItmCosim* x, bool* is_done, ItmError* error)
{
    int left = 0, waiting = ITM_NONE;
    for (int i = 0; i < x->nsubsystem; i++) {
        left += x->subsystems[i].table.is_sampled;
    }
    while (x->nsampled < left) {
        int before = x->nsampled;
        for (int i = 0; i < x->nsubsystem; i++) {
            if (!x->subsystems[i].table.is_sampled || is_done[i]) {
                continue;
            }
            if (find_waited_for(x, i, is_done) == ITM_NONE) {
                is_done[i] = true;
                x->sampled[x->nsampled++] = i;
            } else {
                waiting = i;
            }
        }
        if (x->nsampled == before) {
            return refuse_loop(x, waiting, is_done, error);
        }
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- groups

// Join subsystems that share a wire or an interface model. root (nsubsystem + nmechanism)
static void join_sets(const ItmCosim* x, int* root)
{
    for (int i = 0; i < x->nsubsystem + x->nmechanism; i++) {
        root[i] = i;
    }
    for (int i = 0; i < x->nbond; i++) {
        if (itm_cosim_is_rim(x->bonds[i].options.coupling)) {
            itm_union_join(root, x->bonds[i].subsystem, x->nsubsystem + x->bonds[i].mechanism);
        }
    }
    for (int i = 0; i < x->nassembly; i++) {
        const ItmAssembly* assembly = &x->assemblies[i];
        for (int k = 1; k < assembly->nmechanism; k++) {
            itm_union_join(root, x->nsubsystem + assembly->mechanisms[0], x->nsubsystem + assembly->mechanisms[k]);
        }
    }
    for (int i = 0; i < x->nwire; i++) {
        const ItmWire* wire = &x->wires[i];
        if (wire->to_subsystem == ITM_NONE || wire->from == ITM_SOURCE_MECHANISM) {
            continue;
        }
        int from = wire->from == ITM_SOURCE_SUBSYSTEM ? wire->from_part : x->bonds[wire->from_index].subsystem;
        itm_union_join(root, from, wire->to_subsystem);
    }
}

// Ticks of a group from the subsystems' micro steps; periods are micro steps per macro step (> 0) or macro steps per step (< 0) so
// far.
static ItmStatus count_ticks(ItmCosim* x, ItmGroup* group, ItmError* error)
{
    long nticks = 1;
    for (int k = 0; k < group->nsubsystem; k++) {
        long K = x->subsystems[group->subsystems[k]].period;
        nticks = K > 0 ? itm_cosim_count_common(nticks, K) : nticks;
        if (nticks > ITM_MOST_TICKS) {
            return itm_error_set(
                error, ITM_ERR_INPUT, "itm_cosim_build", x->subsystems[group->subsystems[k]].name,
                "the steps of the subsystems have no common measure above %g s: choose steps that divide "
                "each other",
                x->step / (double)ITM_MOST_TICKS);
        }
    }
    group->nticks = (int)nticks;
    for (int k = 0; k < group->nsubsystem; k++) {
        ItmSubsystemInstance* subsystem = &x->subsystems[group->subsystems[k]];
        subsystem->period = subsystem->period > 0 ? nticks / subsystem->period : nticks * -subsystem->period;
    }
    return ITM_OK;
}

ItmStatus itm_wires_count_micro_steps(ItmCosim* x, ItmError* error)
{
    ItmStatus status = ITM_OK;
    for (int i = 0; i < x->ngroup && status == ITM_OK; i++) {
        status = count_ticks(x, &x->groups[i], error);
    }
    return status;
}

// Subsystems of one set, sampled ones first in their order.
static void fill_group(ItmCosim* x, ItmGroup* group, int* root, int set, int* room,
                       ItmInterfaceModel** interface_models)
{
    group->subsystems = room;
    for (int k = 0; k < x->nsampled + x->nsubsystem; k++) {
        int i = k < x->nsampled ? x->sampled[k] : k - x->nsampled;
        bool is_turn = k < x->nsampled || !x->subsystems[i].table.is_sampled;
        if (is_turn && itm_union_find(root, i) == set) {
            group->subsystems[group->nsubsystem++] = i;
            x->subsystems[i].group = x->ngroup;
        }
    }
    group->interface_models = interface_models;
    for (int i = 0; i < x->nmechanism; i++) {
        ItmMechanism* part = &x->mechanisms[i];
        if (part->has_rim && part->assembly == ITM_NONE && itm_union_find(root, x->nsubsystem + i) == set) {
            group->interface_models[group->ninterface_model++] = &part->interface_model;
        }
    }
    for (int i = 0; i < x->nassembly; i++) {
        ItmAssembly* assembly = &x->assemblies[i];
        if (itm_union_find(root, x->nsubsystem + assembly->mechanisms[0]) == set) {
            assembly->has_subsystems = true;
            group->interface_models[group->ninterface_model++] = &assembly->interface_model;
        }
    }
}

ItmStatus itm_cosim_group(ItmCosim* x, ItmError* error)
{
    int n = x->nsubsystem + x->nmechanism;
    int* root = calloc((size_t)n + 1, sizeof *root);
    bool* is_done = calloc((size_t)n + 1, sizeof *is_done);
    ItmStatus status = root != NULL && is_done != NULL
                           ? ITM_OK
                           : itm_error_set(error, ITM_ERR_MEMORY, "itm_cosim_build", NULL, "out of memory");
    if (status == ITM_OK) {
        status = sort_wires(x, error);
    }
    if (status == ITM_OK) {
        status = order_sampled(x, is_done, error);
    }
    if (status == ITM_OK) {
        join_sets(x, root);
        int* room = x->group_room;
        ItmInterfaceModel** interface_models = x->interface_model_room;
        for (int i = 0; i < x->nsubsystem; i++) {
            if (itm_union_find(root, i) == i) {
                ItmGroup* group = &x->groups[x->ngroup];
                fill_group(x, group, root, i, room, interface_models);
                room += group->nsubsystem;
                interface_models += group->ninterface_model;
                x->ngroup++;
            }
        }
        status = itm_wires_count_micro_steps(x, error);
    }
    free(root);
    free(is_done);
    return status;
}
