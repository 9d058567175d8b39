// Inputs of a system by name: inputs of subsystems, actuators without a bond, external signals of mechanisms.
#include "cosim/cosim.h"

#include "base/error.h"
#include "base/guard.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIGNAL_SUFFIX ":signal"  // of signals that an element has for itself

// ---------------------------------------------------------------------------- list

static bool is_wired(const ItmCosim* x, const ItmInputInfo* it)
{
    for (int i = 0; i < x->nwire; i++) {
        const ItmWire* wire = &x->wires[i];
        bool is_here = it->subsystem != ITM_NONE
                           ? wire->to_subsystem == it->subsystem
                           : wire->to_mechanism == it->mechanism && wire->is_signal == it->is_signal;
        if (is_here && wire->to_index == it->index) {
            return true;
        }
    }
    return false;
}

// Count an input or, where there is a list, add it: "part.name". A second input of the same name stays without one.
static bool add_input(ItmCosim* x, ItmInputInfo input, const char* part, const char* own, size_t length)
{
    if (x->inputs != NULL) {
        char name[512];
        snprintf(name, sizeof name, "%s%s%.*s", part, part[0] != '\0' ? "." : "", (int)length, own);
        bool is_new = itm_names_find(&x->input_names, name, strlen(name)) == ITM_NONE;
        input.name = is_new ? itm_names_add(&x->input_names, name, strlen(name), x->ninput) : "";
        input.is_wired = is_wired(x, &input);
        x->inputs[x->ninput] = input;
        if (input.name == NULL) {
            return false;
        }
    }
    x->ninput++;
    return true;
}

static bool add_mechanism(ItmCosim* x, int mechanism)
{
    const ItmMechanism* part = &x->mechanisms[mechanism];
    const ItmModel* m = part->model;
    bool is_good = true;
    for (int i = 0; i < m->nactuator && is_good; i++) {
        const char* name = itm_actuator_name(m, i);
        if (!itm_mechanism_has_bond(part, i)) {
            ItmInputInfo input = {.subsystem = ITM_NONE, .mechanism = mechanism, .index = i};
            is_good = add_input(x, input, part->name, name, strlen(name));
        }
    }
    for (int i = 0; i < m->nsignal && is_good; i++) {
        const char* name = m->signals[i].def.name;
        size_t n = strlen(name), suffix = strlen(SIGNAL_SUFFIX);
        n -= n > suffix && strcmp(name + n - suffix, SIGNAL_SUFFIX) == 0 ? suffix : 0;
        if (m->signals[i].external != ITM_NONE) {
            ItmInputInfo input = {.subsystem = ITM_NONE, .mechanism = mechanism, .index = i, .is_signal = true};
            is_good = add_input(x, input, part->name, name, n);
        }
    }
    return is_good;
}

static bool walk(ItmCosim* x)
{
    bool is_good = true;
    x->ninput = 0;
    for (int i = 0; i < x->nmechanism && is_good; i++) {
        is_good = add_mechanism(x, i);
    }
    for (int i = 0; i < x->nsubsystem && is_good; i++) {
        const ItmSubsystem* table = &x->subsystems[i].table;
        for (int k = 0; k < table->ninput && is_good; k++) {
            ItmInputInfo input = {.subsystem = i, .mechanism = ITM_NONE, .index = k};
            is_good = add_input(x, input, x->subsystems[i].name, table->input_names[k], strlen(table->input_names[k]));
        }
    }
    return is_good;
}

ItmStatus itm_inputs_create(ItmCosim* x, ItmError* error)
{
    walk(x);
    x->inputs = calloc((size_t)x->ninput + 1, sizeof *x->inputs);
    return x->inputs != NULL && walk(x)
               ? ITM_OK
               : itm_error_set(error, ITM_ERR_MEMORY, "itm_cosim_build", NULL, "out of memory for names of inputs");
}

void itm_inputs_destroy(ItmCosim* x)
{
    itm_names_free(&x->input_names);
    free(x->inputs);
}

// ---------------------------------------------------------------------------- access

int itm_cosim_get_input_count(const ItmCosim* x)
{
    ITM_GUARD(x != NULL, 0);
    return x->ninput;
}

ItmInputInfo itm_cosim_get_input_info(const ItmCosim* x, int input)
{
    ITM_GUARD(x != NULL, ((ItmInputInfo){.subsystem = ITM_NONE, .mechanism = ITM_NONE}));
    return input >= 0 && input < x->ninput ? x->inputs[input]
                                           : (ItmInputInfo){.subsystem = ITM_NONE, .mechanism = ITM_NONE};
}

int itm_cosim_find_input(const ItmCosim* x, const char* name)
{
    ITM_GUARD(x != NULL && name != NULL, ITM_NONE);
    return name != NULL ? itm_names_find(&x->input_names, name, strlen(name)) : ITM_NONE;
}

double itm_cosim_get_input_value(const ItmCosim* x, int input)
{
    ITM_GUARD(x != NULL, NAN);
    if (input < 0 || input >= x->ninput) {
        return NAN;
    }
    const ItmInputInfo* it = &x->inputs[input];
    if (it->subsystem != ITM_NONE) {
        const ItmSubsystemInstance* part = &x->subsystems[it->subsystem];
        return part->u[it->index] - part->offset[it->index];
    }
    const ItmMechanism* part = &x->mechanisms[it->mechanism];
    return it->is_signal ? itm_data_compute_signal(part->model, part->data, it->index, itm_data_get_time(part->data)).x
                         : part->data->input[it->index];
}

ItmStatus itm_cosim_set_input_value(ItmCosim* x, int input, double value)
{
    ITM_GUARD(x != NULL, ITM_ERR_ARGUMENT);
    ItmStatus refused = itm_ranks_refuse(x, __func__);
    if (refused != ITM_OK) {
        return refused;
    }
    const ItmInputInfo* it = input >= 0 && input < x->ninput ? &x->inputs[input] : NULL;
    if (it == NULL || !isfinite(value)) {
        return itm_error_set(&x->error, ITM_ERR_ARGUMENT, __func__, NULL,
                             "input %d of %d, value %g: no such input, or not finite", input, x->ninput, value);
    }
    if (it->is_wired) {
        return itm_error_set(&x->error, ITM_ERR_ARGUMENT, __func__, it->name,
                             "a wire sets input '%s' at every step; remove the wire to set it yourself", it->name);
    }
    if (it->subsystem != ITM_NONE) {
        ItmSubsystemInstance* instance = &x->subsystems[it->subsystem];
        instance->u[it->index] = instance->offset[it->index] + value;
        instance->table.set_inputs(instance->table.self, instance->u);
        return ITM_OK;
    }
    ItmMechanism* part = &x->mechanisms[it->mechanism];
    ItmStatus status = it->is_signal ? itm_data_set_signal(part->model, part->data, it->index, value, x->step)
                                     : itm_data_set_actuator_force(part->model, part->data, it->index, value);
    if (status != ITM_OK) {
        x->error = *itm_data_get_error(part->data);
    }
    return status;
}
