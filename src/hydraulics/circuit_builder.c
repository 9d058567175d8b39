#include "hydraulics/circuit_builder.h"

#include "base/builder.h"
#include "base/guard.h"
#include "signal/signal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static ItmStatus out_of_memory(ItmError* error)
{
    return itm_error_set(error, ITM_ERR_MEMORY, "itm_circuit_add", NULL, "out of memory");
}

// Append a checked definition and register its name with a value.
#define ADD(list, table, def, value)                                                                                   \
    (!ITM_LIST_APPEND(list, def) ? out_of_memory(error)                                                                \
                                 : itm_list_commit(itm_names_take(&(table), &(list).items[(list).count - 1].name,      \
                                                                  value, "itm_circuit_add", error),                    \
                                                   &(list).count, id))

// ---------------------------------------------------------------------------- life

ItmStatus itm_circuit_builder_create(ItmCircuitBuilder** builder, ItmError* error)
{
    if (builder == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder is NULL");
    }
    *builder = calloc(1, sizeof **builder);
    return *builder != NULL ? ITM_OK : out_of_memory(error);
}

void itm_circuit_builder_destroy(ItmCircuitBuilder* b)
{
    if (b == NULL) {
        return;
    }
    for (int i = 0; i < b->signals.count; i++) {
        itm_signal_def_free(&b->signals.items[i]);
    }
    for (int i = 0; i < b->aliases.count; i++) {
        free((void*)b->aliases.items[i].output);
    }
    free(b->signals.items);
    free(b->fluids.items);
    free(b->nodes.items);
    free(b->flows.items);
    free(b->orifices.items);
    free(b->laminars.items);
    free(b->pressure_valves.items);
    free(b->valves.items);
    free(b->accumulators.items);
    free(b->cylinders.items);
    free(b->motors.items);
    free(b->aliases.items);
    itm_names_free(&b->signal_names);
    itm_names_free(&b->fluid_names);
    itm_names_free(&b->names);
    itm_names_free(&b->alias_names);
    free(b);
}

// ---------------------------------------------------------------------------- signals, fluids, nodes

ItmStatus itm_circuit_builder_add_signal(ItmCircuitBuilder* b, const ItmSignalDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_circuit_check_name(def->name, "signal", error));
    ITM_REQUIRE(itm_signal_def_check(def, error));
    if (def->kind == ITM_SIGNAL_EXTERNAL) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "kind",
                             "signal '%s' is external, which only mechanisms support; leave the signal out and set the "
                             "input of the element",
                             def->name);
    }
    ItmSignalDef copy;
    if (!itm_signal_def_copy(&copy, def)) {
        return out_of_memory(error);
    }
    ItmStatus status = ADD(b->signals, b->signal_names, copy, b->signals.count - 1);
    if (status != ITM_OK) {
        itm_signal_def_free(&copy);
    }
    return status;
}

ItmStatus itm_circuit_builder_add_fluid(ItmCircuitBuilder* b, const ItmFluidDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_circuit_check_fluid(def, error));
    return ADD(b->fluids, b->fluid_names, *def, b->fluids.count - 1);
}

ItmStatus itm_circuit_builder_add_volume(ItmCircuitBuilder* b, const ItmVolumeDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_circuit_check_volume(b, def, error));
    ItmNodeDef node = {.name = def->name, .volume = *def};
    return ADD(b->nodes, b->names, node, b->nodes.count - 1);
}

ItmStatus itm_circuit_builder_add_pressure_source(ItmCircuitBuilder* b, const ItmPressureSourceDef* def, int* id,
                                                  ItmError* error)
{
    ITM_REQUIRE(itm_circuit_check_pressure_source(b, def, error));
    ItmNodeDef node = {.name = def->name, .is_source = true, .source = *def};
    return ADD(b->nodes, b->names, node, b->nodes.count - 1);
}

// ---------------------------------------------------------------------------- elements

ItmStatus itm_circuit_builder_add_flow_source(ItmCircuitBuilder* b, const ItmFlowSourceDef* def, int* id,
                                              ItmError* error)
{
    ITM_REQUIRE(itm_circuit_check_flow_source(b, def, error));
    return ADD(b->flows, b->names, *def, ITM_NODE_LIMIT);
}

ItmStatus itm_circuit_builder_add_orifice(ItmCircuitBuilder* b, const ItmOrificeDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_circuit_check_orifice(b, def, error));
    return ADD(b->orifices, b->names, *def, ITM_NODE_LIMIT);
}

ItmStatus itm_circuit_builder_add_laminar(ItmCircuitBuilder* b, const ItmLaminarDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_circuit_check_laminar(b, def, error));
    return ADD(b->laminars, b->names, *def, ITM_NODE_LIMIT);
}

ItmStatus itm_circuit_builder_add_pressure_valve(ItmCircuitBuilder* b, const ItmPressureValveDef* def, int* id,
                                                 ItmError* error)
{
    ITM_REQUIRE(itm_circuit_check_pressure_valve(b, def, error));
    return ADD(b->pressure_valves, b->names, *def, ITM_NODE_LIMIT);
}

ItmStatus itm_circuit_builder_add_valve(ItmCircuitBuilder* b, const ItmValveDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_circuit_check_valve(b, def, error));
    return ADD(b->valves, b->names, *def, ITM_NODE_LIMIT);
}

ItmStatus itm_circuit_builder_add_accumulator(ItmCircuitBuilder* b, const ItmAccumulatorDef* def, int* id,
                                              ItmError* error)
{
    ITM_REQUIRE(itm_circuit_check_accumulator(b, def, error));
    return ADD(b->accumulators, b->names, *def, ITM_NODE_LIMIT);
}

ItmStatus itm_circuit_builder_add_cylinder(ItmCircuitBuilder* b, const ItmCylinderDef* def, int* id, ItmError* error)
{
    ItmCylinderDef copy = def != NULL ? *def : itm_default_cylinder_def();
    ITM_REQUIRE(itm_circuit_complete_cylinder(b, &copy, error));
    return ADD(b->cylinders, b->names, copy, ITM_NODE_LIMIT);
}

ItmStatus itm_circuit_builder_add_motor(ItmCircuitBuilder* b, const ItmMotorDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_circuit_check_motor(b, def, error));
    return ADD(b->motors, b->names, *def, ITM_NODE_LIMIT);
}

ItmStatus itm_circuit_builder_add_alias(ItmCircuitBuilder* b, const char* alias, const char* output, ItmError* error)
{
    if (b == NULL || alias == NULL || output == NULL || alias[0] == '\0') {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder, alias or output is missing");
    }
    ItmStatus checked = itm_circuit_check_alias(alias, error);
    if (checked != ITM_OK) {
        return checked;
    }
    int* id = NULL;
    size_t length = strlen(output) + 1;
    char* copy = malloc(length);
    if (copy == NULL) {
        return out_of_memory(error);
    }
    memcpy(copy, output, length);
    ItmAliasDef def = {alias, copy};
    ItmStatus status = ADD(b->aliases, b->alias_names, def, b->aliases.count - 1);
    if (status != ITM_OK) {
        free(copy);
    }
    return status;
}

// ---------------------------------------------------------------------------- finding

int itm_circuit_builder_find_signal(const ItmCircuitBuilder* b, const char* name)
{
    ITM_GUARD(b != NULL && name != NULL, ITM_NONE);
    return itm_names_find(&b->signal_names, name, strlen(name));
}

int itm_circuit_builder_find_fluid(const ItmCircuitBuilder* b, const char* name)
{
    ITM_GUARD(b != NULL && name != NULL, ITM_NONE);
    return itm_names_find(&b->fluid_names, name, strlen(name));
}

int itm_circuit_builder_find_node(const ItmCircuitBuilder* b, const char* name)
{
    ITM_GUARD(b != NULL && name != NULL, ITM_NONE);
    int value = itm_names_find(&b->names, name, strlen(name));
    return value != ITM_NODE_LIMIT ? value : ITM_NONE;
}
