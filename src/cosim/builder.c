#include "cosim/builder.h"

#include "base/check.h"
#include "base/error.h"
#include "base/list.h"
#include "cosim/cosim.h"

#include <math.h>
#include <string.h>

ItmStatus itm_cosim_builder_create(ItmCosimBuilder** builder, ItmError* error)
{
    if (builder == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder is NULL");
    }
    *builder = calloc(1, sizeof **builder);
    return *builder != NULL ? ITM_OK
                            : itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory for a builder");
}

static void destroy_subsystem(const ItmSubsystem* table)
{
    if (table->destroy != NULL) {
        table->destroy(table->self);
    }
}

void itm_cosim_builder_destroy(ItmCosimBuilder* b)
{
    if (b == NULL) {
        return;
    }
    for (int i = 0; i < b->mechanisms.count; i++) {
        free(b->mechanisms.items[i].name);
    }
    for (int i = 0; i < b->members.count; i++) {
        free(b->members.items[i].name);
        destroy_subsystem(&b->members.items[i].table);
    }
    for (int i = 0; i < b->wires.count; i++) {
        free(b->wires.items[i].from);
        free(b->wires.items[i].to);
    }
    free(b->mechanisms.items);
    free(b->members.items);
    free(b->bonds.items);
    free(b->wires.items);
    free(b);
}

// ---------------------------------------------------------------------------- parts

static ItmStatus refuse_memory(ItmError* error)
{
    return itm_error_set(error, ITM_ERR_MEMORY, "itm_cosim_add", NULL, "out of memory for a part of a co-simulation");
}

// A name is new and well made; that of a mechanism may be empty.
static ItmStatus check_name(const ItmCosimBuilder* b, const char* kind, const char* name, bool may_be_empty,
                            ItmError* error)
{
    if (may_be_empty && name != NULL && name[0] == '\0') {
        return ITM_OK;
    }
    ItmCheck k = itm_check_start("itm_cosim_add", kind, name, error);
    static const char* const TAKEN[] = {"bond", "rim", "energy", "cosim"};
    for (int i = 0; i < 4 && k.status == ITM_OK; i++) {
        if (strcmp(name, TAKEN[i]) == 0) {
            itm_check_refuse(&k, "name", "the name is taken for results of the whole system: choose another");
        }
    }
    for (int i = 0; i < b->mechanisms.count && k.status == ITM_OK; i++) {
        if (strcmp(b->mechanisms.items[i].name, name) == 0) {
            itm_check_refuse(&k, "name", "a mechanism has this name already");
        }
    }
    for (int i = 0; i < b->members.count && k.status == ITM_OK; i++) {
        if (strcmp(b->members.items[i].name, name) == 0) {
            itm_check_refuse(&k, "name", "a subsystem has this name already");
        }
    }
    return k.status;
}

ItmStatus itm_cosim_add_mechanism(ItmCosimBuilder* b, const char* name, const ItmModel* m, const ItmStepOptions* step,
                                  int* id, ItmError* error)
{
    if (b == NULL || m == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder or model is missing");
    }
    ItmStatus status = check_name(b, "mechanism", name, true, error);
    if (status != ITM_OK) {
        return status;
    }
    ItmMechanismDef def = {.name = strdup(name), .model = m, .has_step = step != NULL};
    def.step = step != NULL ? *step : itm_default_step_options();
    if (def.name == NULL || !ITM_LIST_APPEND(b->mechanisms, def)) {
        free(def.name);
        return refuse_memory(error);
    }
    if (id != NULL) {
        *id = b->mechanisms.count - 1;
    }
    return ITM_OK;
}

// Takes over `def` but for its name, which is copied.
static ItmStatus add_member(ItmCosimBuilder* b, const char* name, ItmMemberDef def, int* id, ItmError* error)
{
    ItmStatus status = check_name(b, "subsystem", name, false, error);
    if (status == ITM_OK && !(isfinite(def.step) && def.step >= 0.0)) {
        status = itm_error_set(error, ITM_ERR_INPUT, "itm_cosim_add", "step",
                               "subsystem '%s': step must be positive, got %g s", name, def.step);
    }
    if (status == ITM_OK) {
        def.name = strdup(name);
        status = def.name != NULL && ITM_LIST_APPEND(b->members, def) ? ITM_OK : refuse_memory(error);
    }
    if (status != ITM_OK) {
        free(def.name);
        destroy_subsystem(&def.table);
        return status;
    }
    if (id != NULL) {
        *id = b->members.count - 1;
    }
    return ITM_OK;
}

ItmStatus itm_cosim_add_circuit(ItmCosimBuilder* b, const char* name, const ItmCircuit* c,
                                const ItmHydraulicOptions* options, double step, int* id, ItmError* error)
{
    if (b == NULL || c == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder or circuit is missing");
    }
    ItmMemberDef def = {.circuit = c, .step = step, .options = itm_default_hydraulic_options()};
    def.options.integrator = ITM_HYDRAULIC_RK4;
    if (options != NULL) {
        def.options = *options;
    }
    return add_member(b, name, def, id, error);
}

ItmStatus itm_cosim_add_subsystem(ItmCosimBuilder* b, const char* name, const ItmSubsystem* subsystem, double step,
                                  int* id, ItmError* error)
{
    if (b == NULL || subsystem == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder or subsystem is missing");
    }
    const ItmSubsystem* t = subsystem;
    bool is_whole = t->do_step != NULL && t->reset != NULL && t->get_state_size != NULL && t->save != NULL &&
                    t->restore != NULL && (t->nport == 0 || (t->set_motion != NULL && t->get_forces != NULL)) &&
                    (t->ninput == 0 || t->set_inputs != NULL) && (t->noutput == 0 || t->get_outputs != NULL);
    if (!is_whole) {
        destroy_subsystem(t);
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "subsystem '%s' lacks a function that it needs",
                             name != NULL ? name : "");
    }
    return add_member(b, name, (ItmMemberDef){.table = *subsystem, .step = step}, id, error);
}

// ---------------------------------------------------------------------------- bonds and wires

static int find_port(const ItmMemberDef* def, const char* port)
{
    if (def->circuit != NULL) {
        return itm_circuit_find_cylinder(def->circuit, port);
    }
    for (int i = 0; i < def->table.nport; i++) {
        if (strcmp(def->table.port_names[i], port) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}

#define REFUSE(field, ...) itm_error_set(error, ITM_ERR_INPUT, "itm_cosim_add_bond", field, __VA_ARGS__)

static ItmStatus check_bond_options(const ItmBondOptions* o, const char* name, ItmError* error)
{
    if (itm_coupling_name(o->coupling) == NULL || o->coupling == ITM_COUPLING_MONOLITHIC) {
        return REFUSE("coupling", "bond '%s': a bond is coupled by zoh, linear, quadratic or rim; monolithic is a choice for "
                                  "the whole system",
                      name);
    }
    if (itm_exchange_name(o->exchange) == NULL) {
        return REFUSE("exchange", "bond '%s': there is no exchange number %d", name, (int)o->exchange);
    }
    if (itm_bond_variables_name(o->variables) == NULL) {
        return REFUSE("variables", "bond '%s': there are no variables number %d", name, (int)o->variables);
    }
    if (o->variables == ITM_VARIABLES_VELOCITY_PRESSURE && o->coupling == ITM_COUPLING_RIM &&
        o->exchange == ITM_EXCHANGE_IMPULSE) {
        return REFUSE("variables", "bond '%s': velocity-pressure needs exchange hold: with impulses the mechanism has no "
                                   "friction of its own",
                      name);
    }
    return ITM_OK;
}

static ItmStatus check_bond(const ItmCosimBuilder* b, const ItmBondDef* def, const char* actuator, const char* port,
                            ItmError* error)
{
    const ItmMechanismDef* mechanism = &b->mechanisms.items[def->mechanism];
    const ItmMemberDef* member = &b->members.items[def->member];
    if (def->actuator == ITM_NONE) {
        return REFUSE("actuator", "mechanism '%s' has no actuator '%s'", mechanism->name, actuator);
    }
    if (def->port == ITM_NONE) {
        return REFUSE("port", "subsystem '%s' has no %s '%s'", member->name,
                      member->circuit != NULL ? "cylinder" : "port", port);
    }
    if (member->circuit != NULL && member->circuit->cylinders[def->port].motion != ITM_NONE) {
        return REFUSE("port", "cylinder '%s' follows a signal and cannot be moved by an actuator too", port);
    }
    if (def->options.variables == ITM_VARIABLES_VELOCITY_PRESSURE && member->circuit == NULL &&
        member->table.get_passive_force == NULL) {
        return REFUSE("variables", "subsystem '%s' cannot tell its friction apart: use velocity-force", member->name);
    }
    for (int i = 0; i < b->bonds.count; i++) {
        const ItmBondDef* other = &b->bonds.items[i];
        if (other->mechanism == def->mechanism && other->actuator == def->actuator) {
            return REFUSE("actuator", "actuator '%s' has a bond already", actuator);
        }
        if (other->member == def->member && other->port == def->port) {
            return REFUSE("port", "port '%s' of '%s' has a bond already", port, member->name);
        }
    }
    return check_bond_options(&def->options, actuator, error);
}

ItmStatus itm_cosim_add_bond(ItmCosimBuilder* b, int mechanism, const char* actuator, int subsystem, const char* port,
                             const ItmBondOptions* options, ItmError* error)
{
    if (b == NULL || actuator == NULL || port == NULL || mechanism < 0 || mechanism >= b->mechanisms.count ||
        subsystem < 0 || subsystem >= b->members.count) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder, part or name of a bond is missing");
    }
    ItmBondDef def = {
        .mechanism = mechanism,
        .member = subsystem,
        .actuator = itm_model_find_actuator(b->mechanisms.items[mechanism].model, actuator),
        .port = find_port(&b->members.items[subsystem], port),
        .options = options != NULL ? *options : itm_default_bond_options(),
    };
    ItmStatus status = check_bond(b, &def, actuator, port, error);
    if (status == ITM_OK && !ITM_LIST_APPEND(b->bonds, def)) {
        status = refuse_memory(error);
    }
    return status;
}

ItmStatus itm_cosim_add_wire(ItmCosimBuilder* b, const char* from, const char* to, ItmError* error)
{
    if (b == NULL || from == NULL || to == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder or an end of a wire is missing");
    }
    ItmWireDef def = {strdup(from), strdup(to)};
    if (def.from == NULL || def.to == NULL || !ITM_LIST_APPEND(b->wires, def)) {
        free(def.from);
        free(def.to);
        return refuse_memory(error);
    }
    return ITM_OK;
}
