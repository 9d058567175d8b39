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

static void destroy_foreign(const ItmForeignMechanism* table)
{
    if (table->destroy != NULL) {
        table->destroy(table->self);
    }
}

static void free_wires(ItmWireList* list)
{
    for (int i = 0; i < list->count; i++) {
        free(list->items[i].from);
        free(list->items[i].to);
    }
    free(list->items);
}

void itm_cosim_builder_destroy(ItmCosimBuilder* b)
{
    if (b == NULL) {
        return;
    }
    for (int i = 0; i < b->mechanisms.count; i++) {
        free(b->mechanisms.items[i].name);
        destroy_foreign(&b->mechanisms.items[i].foreign);
    }
    for (int i = 0; i < b->subsystems.count; i++) {
        free(b->subsystems.items[i].name);
        destroy_subsystem(&b->subsystems.items[i].table);
    }
    free_wires(&b->wires);
    free_wires(&b->aliases);
    for (int i = 0; i < b->interfaces.count; i++) {
        free(b->interfaces.items[i].name);
    }
    free(b->interfaces.items);
    free(b->frame_bonds.items);
    free(b->mechanisms.items);
    free(b->subsystems.items);
    free(b->bonds.items);
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
    for (int i = 0; i < b->subsystems.count && k.status == ITM_OK; i++) {
        if (strcmp(b->subsystems.items[i].name, name) == 0) {
            itm_check_refuse(&k, "name", "a subsystem has this name already");
        }
    }
    return k.status;
}

ItmStatus itm_cosim_builder_add_mechanism(ItmCosimBuilder* b, const char* name, const ItmModel* m,
                                          const ItmStepOptions* step, int* id, ItmError* error)
{
    if (b == NULL || m == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder or model is missing");
    }
    ItmStatus status = check_name(b, "mechanism", name, true, error);
    if (status != ITM_OK) {
        return status;
    }
    ItmMechanismDef def = {.name = strdup(name), .model = m, .has_step = step != NULL && step->step > 0.0};
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

static ItmStatus check_foreign(const ItmForeignMechanism* t, const ItmForeignOptions* o, const char* name,
                               ItmError* error)
{
    bool has_state = t->get_state_size != NULL && t->save != NULL && t->restore != NULL;
    bool has_part_of_state = t->get_state_size != NULL || t->save != NULL || t->restore != NULL;
    bool is_whole = t->nport > 0 && t->port_names != NULL && t->get_motion != NULL && t->do_step != NULL &&
                    t->reset != NULL && (t->ninput == 0 || t->set_inputs != NULL) &&
                    (t->noutput == 0 || t->get_outputs != NULL) && has_state == has_part_of_state &&
                    (t->begin == NULL) == (t->commit == NULL) && (t->predict == NULL) == (t->advance == NULL);
    if (!is_whole) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, "itm_cosim_builder_add_foreign_mechanism", NULL,
                             "foreign mechanism '%s' lacks ports or a function that it needs", name);
    }
    if (itm_cosim_mobility_name(o->mobility) == NULL || o->probe_interval < 1 ||
        !(isfinite(o->amplitude) && o->amplitude >= 0.0)) {
        return itm_error_set(error, ITM_ERR_INPUT, "itm_cosim_builder_add_foreign_mechanism", "mobility",
                             "foreign mechanism '%s': probe_interval is at least 1 and amplitude not negative", name);
    }
    return ITM_OK;
}

ItmStatus itm_cosim_builder_add_foreign_mechanism(ItmCosimBuilder* b, const char* name,
                                                  const ItmForeignMechanism* mechanism,
                                                  const ItmForeignOptions* options, int* id, ItmError* error)
{
    if (b == NULL || mechanism == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder or mechanism is missing");
    }
    ItmMechanismDef def = {.foreign = *mechanism, .step = itm_default_step_options()};
    def.options = options != NULL ? *options : itm_default_foreign_options();
    ItmStatus status = check_name(b, "mechanism", name, false, error);
    if (status == ITM_OK) {
        status = check_foreign(mechanism, &def.options, name, error);
    }
    if (status == ITM_OK) {
        def.name = strdup(name);
        status = def.name != NULL && ITM_LIST_APPEND(b->mechanisms, def) ? ITM_OK : refuse_memory(error);
    }
    if (status != ITM_OK) {
        free(def.name);
        destroy_foreign(mechanism);
        return status;
    }
    if (id != NULL) {
        *id = b->mechanisms.count - 1;
    }
    return ITM_OK;
}

// Takes over `def` but for its name, which is copied.
static ItmStatus add_subsystem(ItmCosimBuilder* b, const char* name, ItmSubsystemDef def, int* id, ItmError* error)
{
    ItmStatus status = check_name(b, "subsystem", name, false, error);
    if (status == ITM_OK && !(isfinite(def.step) && def.step >= 0.0)) {
        status = itm_error_set(error, ITM_ERR_INPUT, "itm_cosim_add", "step",
                               "subsystem '%s': step must be positive, got %g s", name, def.step);
    }
    if (status == ITM_OK) {
        def.name = strdup(name);
        status = def.name != NULL && ITM_LIST_APPEND(b->subsystems, def) ? ITM_OK : refuse_memory(error);
    }
    if (status != ITM_OK) {
        free(def.name);
        destroy_subsystem(&def.table);
        return status;
    }
    if (id != NULL) {
        *id = b->subsystems.count - 1;
    }
    return ITM_OK;
}

ItmStatus itm_cosim_builder_add_circuit(ItmCosimBuilder* b, const char* name, const ItmCircuit* c,
                                        const ItmHydraulicOptions* options, double step, int* id, ItmError* error)
{
    if (b == NULL || c == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder or circuit is missing");
    }
    ItmSubsystemDef def = {.circuit = c, .step = step, .options = itm_default_hydraulic_options()};
    def.options.integrator = ITM_HYDRAULIC_RK4;
    if (options != NULL) {
        def.options = *options;
    }
    return add_subsystem(b, name, def, id, error);
}

ItmStatus itm_cosim_builder_add_subsystem(ItmCosimBuilder* b, const char* name, const ItmSubsystem* subsystem,
                                          double step, int* id, ItmError* error)
{
    if (b == NULL || subsystem == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder or subsystem is missing");
    }
    const ItmSubsystem* t = subsystem;
    bool has_functions = t->get_state_size != NULL && t->save != NULL && t->restore != NULL;
    bool is_saved = t->memory != NULL || has_functions;
    bool is_whole = t->do_step != NULL && t->reset != NULL && (t->get_states == NULL || t->set_states != NULL) &&
                    (t->nport == 0 || (t->set_motion != NULL && t->get_forces != NULL)) &&
                    (t->ninput == 0 || t->set_inputs != NULL) && (t->noutput == 0 || t->get_outputs != NULL);
    if (!is_whole || !is_saved) {
        destroy_subsystem(t);
        return itm_error_set(
            error, ITM_ERR_ARGUMENT, __func__, NULL, "subsystem '%s' lacks %s", name != NULL ? name : "",
            is_saved ? "a function that it needs"
                     : "a state that can be saved: give its memory, or get_state_size, save and restore");
    }
    return add_subsystem(b, name, (ItmSubsystemDef){.table = *subsystem, .step = step}, id, error);
}

// ---------------------------------------------------------------------------- bonds and wires

// Actuator of a mechanism, or port of a foreign one.
static int find_actuator(const ItmMechanismDef* def, const char* name)
{
    int port = ITM_NONE;
    for (int i = 0; i < def->foreign.nport && port == ITM_NONE; i++) {
        port = strcmp(def->foreign.port_names[i], name) == 0 ? i : ITM_NONE;
    }
    return def->model != NULL ? itm_model_find_actuator(def->model, name) : port;
}

static int find_port(const ItmSubsystemDef* def, const char* port)
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

#define REFUSE(field, ...) itm_error_set(error, ITM_ERR_INPUT, "itm_cosim_builder_add_bond", field, __VA_ARGS__)

static ItmStatus check_bond_options(const ItmBondOptions* o, const char* name, ItmError* error)
{
    if (itm_cosim_coupling_name(o->coupling) == NULL || o->coupling == ITM_COUPLING_MONOLITHIC) {
        return REFUSE(
            "coupling",
            "bond '%s': a bond is coupled by zoh, linear, quadratic, rim or rim-nonsmooth; monolithic is a choice for "
            "the whole system",
            name);
    }
    if (itm_cosim_exchange_name(o->exchange) == NULL) {
        return REFUSE("exchange", "bond '%s': there is no exchange number %d", name, (int)o->exchange);
    }
    if (itm_cosim_bond_variables_name(o->variables) == NULL) {
        return REFUSE("variables", "bond '%s': there are no variables number %d", name, (int)o->variables);
    }
    if (o->variables == ITM_VARIABLES_VELOCITY_PRESSURE && itm_cosim_is_rim(o->coupling) &&
        o->exchange == ITM_EXCHANGE_IMPULSE) {
        return REFUSE("variables",
                      "bond '%s': velocity-pressure needs exchange hold: with impulses the mechanism has no "
                      "friction of its own",
                      name);
    }
    return ITM_OK;
}

static ItmStatus check_bond(const ItmCosimBuilder* b, const ItmBondDef* def, const char* actuator, const char* port,
                            ItmError* error)
{
    const ItmMechanismDef* mechanism = &b->mechanisms.items[def->mechanism];
    const ItmSubsystemDef* subsystem = &b->subsystems.items[def->subsystem];
    if (def->actuator == ITM_NONE) {
        return REFUSE("actuator", "mechanism '%s' has no %s '%s'", mechanism->name,
                      mechanism->model != NULL ? "actuator" : "port", actuator);
    }
    if (def->port == ITM_NONE) {
        return REFUSE("port", "subsystem '%s' has no %s '%s'", subsystem->name,
                      subsystem->circuit != NULL ? "cylinder" : "port", port);
    }
    bool is_rotary =
        mechanism->model != NULL && itm_measure_is_rotation(itm_actuator_get_measure(mechanism->model, def->actuator));
    bool has_kind = mechanism->model != NULL && (subsystem->circuit != NULL || subsystem->table.port_is_rotary != NULL);
    if (has_kind && is_rotary != (subsystem->circuit != NULL ? subsystem->circuit->cylinders[def->port].is_rotary
                                                             : subsystem->table.port_is_rotary[def->port])) {
        return REFUSE("port",
                      "actuator '%s' has %s, but port '%s' of '%s' has %s: connect a motor to an actuator at a joint, "
                      "a cylinder to an actuator between two points",
                      actuator, is_rotary ? "an angle" : "a length", port, subsystem->name,
                      is_rotary ? "a length" : "an angle");
    }
    const ItmCylinder* cylinder = subsystem->circuit != NULL ? &subsystem->circuit->cylinders[def->port] : NULL;
    if (cylinder != NULL && (cylinder->motion != ITM_NONE || cylinder->speed != ITM_NONE)) {
        return REFUSE("port", "cylinder or shaft '%s' follows a signal and cannot be moved by an actuator too", port);
    }
    if (def->options.variables == ITM_VARIABLES_VELOCITY_PRESSURE && subsystem->circuit == NULL &&
        subsystem->table.get_passive_force == NULL) {
        return REFUSE("variables", "subsystem '%s' does not separate friction from pressure force: use velocity-force",
                      subsystem->name);
    }
    for (int i = 0; i < b->bonds.count; i++) {
        const ItmBondDef* other = &b->bonds.items[i];
        if (other->mechanism == def->mechanism && other->actuator == def->actuator) {
            return REFUSE("actuator", "actuator '%s' has a bond already", actuator);
        }
        if (other->subsystem == def->subsystem && other->port == def->port) {
            return REFUSE("port", "port '%s' of '%s' has a bond already", port, subsystem->name);
        }
    }
    return check_bond_options(&def->options, actuator, error);
}

ItmStatus itm_cosim_builder_add_bond(ItmCosimBuilder* b, int mechanism, const char* actuator, int subsystem,
                                     const char* port, const ItmBondOptions* options, ItmError* error)
{
    if (b == NULL || actuator == NULL || port == NULL || mechanism < 0 || mechanism >= b->mechanisms.count ||
        subsystem < 0 || subsystem >= b->subsystems.count) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder, part or name of a bond is missing");
    }
    ItmBondDef def = {
        .mechanism = mechanism,
        .subsystem = subsystem,
        .actuator = find_actuator(&b->mechanisms.items[mechanism], actuator),
        .port = find_port(&b->subsystems.items[subsystem], port),
        .options = options != NULL ? *options : itm_default_bond_options(),
    };
    ItmStatus status = check_bond(b, &def, actuator, port, error);
    if (status == ITM_OK && !ITM_LIST_APPEND(b->bonds, def)) {
        status = refuse_memory(error);
    }
    return status;
}

// ---------------------------------------------------------------------------- frames

static ItmStatus check_interface(const ItmCosimBuilder* b, int mechanism, const ItmInterfaceDef* def, int body,
                                 ItmError* error)
{
    ItmCheck k = itm_check_start("itm_cosim_builder_add_interface", "interface", def->name, error);
    for (int i = 0; i < b->interfaces.count && k.status == ITM_OK; i++) {
        const ItmInterfaceEntry* other = &b->interfaces.items[i];
        if (other->mechanism == mechanism && strcmp(other->name, def->name) == 0) {
            itm_check_refuse(&k, "name", "mechanism '%s' has an interface of this name already",
                             b->mechanisms.items[mechanism].name);
        }
    }
    if (k.status == ITM_OK && body == ITM_NONE) {
        itm_check_refuse(&k, "body", "mechanism '%s' has no body '%s'", b->mechanisms.items[mechanism].name,
                         def->body != NULL ? def->body : "");
    }
    if (k.status == ITM_OK && (def->directions == 0 || def->directions >> ITM_DIRECTION_COUNT != 0)) {
        itm_check_refuse(&k, "directions", "an interface has one to six directions out of tx ty tz rx ry rz");
    }
    itm_check_finite(&k, "point", def->point.x + def->point.y + def->point.z);
    return k.status;
}

#define SAME_PLACE 1e-9  // m

// On a flexible body an interface sits on a watched point of the mechanism, which moves with the deformation.
static ItmStatus attach(const ItmModel* m, const ItmInterfaceDef* def, ItmInterfaceEntry* entry, ItmError* error)
{
    bool is_flexible = false;
    for (int i = 0; i < m->nflexible; i++) {
        is_flexible = is_flexible || m->flexibles[i].frame == entry->body;
    }
    for (int i = 0; i < m->npoint && is_flexible; i++) {
        const ItmBody* body = &m->bodies[m->points[i].body];
        bool is_node = body->mobility == ITM_MOBILIZER_NODE;
        ItmVec3 at = itm_vec_add(is_node ? m->nodes[body->part].origin : body->com, m->points[i].point);
        if (body->owner == entry->body && itm_vec_norm(itm_vec_sub(at, def->point)) < SAME_PLACE) {
            entry->body = m->points[i].body;
            entry->point = m->points[i].point;
            return ITM_OK;
        }
    }
    return is_flexible
               ? REFUSE("point",
                        "interface '%s': body '%s' is flexible; an interface on it needs a watched point of the "
                        "mechanism (points) at the same place",
                        def->name, def->body)
               : ITM_OK;
}

ItmStatus itm_cosim_builder_add_interface(ItmCosimBuilder* b, int mechanism, const ItmInterfaceDef* def, int* id,
                                          ItmError* error)
{
    if (b == NULL || def == NULL || mechanism < 0 || mechanism >= b->mechanisms.count) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder, mechanism or interface is missing");
    }
    const ItmModel* m = b->mechanisms.items[mechanism].model;
    if (m == NULL) {
        return itm_error_set(error, ITM_ERR_UNSUPPORTED, __func__, "interface",
                             "foreign mechanism '%s' has power ports only, no frames",
                             b->mechanisms.items[mechanism].name);
    }
    int body = def->body != NULL ? itm_model_find_body(m, def->body) : ITM_NONE;
    ItmStatus status = check_interface(b, mechanism, def, body, error);
    if (status != ITM_OK) {
        return status;
    }
    ItmInterfaceEntry entry = {.mechanism = mechanism, .body = m->body_index[body], .directions = def->directions};
    entry.point = itm_vec_sub(def->point, m->bodies[entry.body].com);
    status = attach(m, def, &entry, error);
    if (status != ITM_OK) {
        return status;
    }
    entry.name = strdup(def->name);
    if (entry.name == NULL || !ITM_LIST_APPEND(b->interfaces, entry)) {
        free(entry.name);
        return refuse_memory(error);
    }
    if (id != NULL) {
        *id = b->interfaces.count - 1;
    }
    return ITM_OK;
}

static ItmStatus check_frame_bond(const ItmCosimBuilder* b, const ItmFrameBondDef* def, ItmError* error)
{
    const ItmInterfaceEntry *first = &b->interfaces.items[def->a], *second = &b->interfaces.items[def->b];
    if (first->mechanism == second->mechanism) {
        return REFUSE(first->name,
                      "interfaces '%s' and '%s' belong to the same mechanism: join their bodies by a joint",
                      first->name, second->name);
    }
    if (first->directions != second->directions) {
        return REFUSE(first->name,
                      "interfaces '%s' and '%s' have different directions: a bond needs the same at both ends",
                      first->name, second->name);
    }
    for (int i = 0; i < b->frame_bonds.count; i++) {
        const ItmFrameBondDef* other = &b->frame_bonds.items[i];
        if (other->a == def->a || other->b == def->a || other->a == def->b || other->b == def->b) {
            bool is_first = other->a == def->a || other->b == def->a;
            return REFUSE(first->name, "interface '%s' has a bond already", is_first ? first->name : second->name);
        }
    }
    if (!itm_cosim_is_rim(def->options.coupling)) {
        return REFUSE("coupling",
                      "frame bond of '%s': frames are coupled by rim or rim-nonsmooth; a predicted motion would hold "
                      "no joint together",
                      first->name);
    }
    if (itm_cosim_exchange_name(def->options.exchange) == NULL) {
        return REFUSE("exchange", "frame bond of '%s': there is no exchange number %d", first->name,
                      (int)def->options.exchange);
    }
    return ITM_OK;
}

ItmStatus itm_cosim_builder_add_frame_bond(ItmCosimBuilder* b, int interface_a, int interface_b,
                                           const ItmBondOptions* options, ItmError* error)
{
    if (b == NULL || interface_a < 0 || interface_b < 0 || interface_a >= b->interfaces.count ||
        interface_b >= b->interfaces.count || interface_a == interface_b) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL,
                             "builder or interface of a frame bond is missing");
    }
    ItmFrameBondDef def = {interface_a, interface_b, options != NULL ? *options : itm_default_bond_options()};
    ItmStatus status = check_frame_bond(b, &def, error);
    if (status == ITM_OK && !ITM_LIST_APPEND(b->frame_bonds, def)) {
        status = refuse_memory(error);
    }
    return status;
}

// ---------------------------------------------------------------------------- wires

static ItmStatus append_wire(ItmWireList* list, const char* from, const char* to, double factor, double offset,
                             ItmError* error)
{
    ItmWireDef def = {strdup(from), strdup(to), factor, offset};
    if (def.from == NULL || def.to == NULL || !ITM_LIST_APPEND(*list, def)) {
        free(def.from);
        free(def.to);
        return refuse_memory(error);
    }
    return ITM_OK;
}

ItmStatus itm_cosim_builder_add_wire(ItmCosimBuilder* b, const char* from, const char* to, ItmError* error)
{
    if (b == NULL || from == NULL || to == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder or an end of a wire is missing");
    }
    return append_wire(&b->wires, from, to, 1.0, 0.0, error);
}

ItmStatus itm_cosim_builder_add_scaled_wire(ItmCosimBuilder* b, const char* from, const char* to, double factor,
                                            double offset, ItmError* error)
{
    if (b == NULL || from == NULL || to == NULL || !isfinite(factor) || !isfinite(offset)) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL,
                             "builder or an end of a wire is missing, or factor %g or offset %g is not finite", factor,
                             offset);
    }
    return append_wire(&b->wires, from, to, factor, offset, error);
}

ItmStatus itm_cosim_builder_add_alias(ItmCosimBuilder* b, const char* alias, const char* output, ItmError* error)
{
    if (b == NULL || alias == NULL || output == NULL || alias[0] == '\0') {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder, alias or output is missing");
    }
    return append_wire(&b->aliases, output, alias, 1.0, 0.0, error);
}
