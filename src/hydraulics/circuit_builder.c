#include "hydraulics/circuit_builder.h"

#include "base/builder.h"
#include "base/guard.h"
#include "signal/signal.h"

#include "base/check.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

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

// Tables of a valve that the builder owns: one block for each edge, positions first.
static void free_metering(ItmValveDef* def)
{
    for (int i = 0; i < ITM_EDGE_COUNT; i++) {
        free((void*)def->metering[i].spool);
        def->metering[i] = (ItmMetering){0};
    }
}

static bool copy_metering(ItmValveDef* def)
{
    ItmMetering given[ITM_EDGE_COUNT];
    memcpy(given, def->metering, sizeof given);
    memset(def->metering, 0, sizeof def->metering);
    for (int i = 0; i < ITM_EDGE_COUNT; i++) {
        size_t n = (size_t)given[i].npoint;
        double* table = n > 0 ? malloc(2 * n * sizeof *table) : NULL;
        if (n > 0 && table == NULL) {
            free_metering(def);
            return false;
        }
        if (n > 0) {
            memcpy(table, given[i].spool, n * sizeof *table);
            memcpy(table + n, given[i].opening, n * sizeof *table);
            def->metering[i] = (ItmMetering){given[i].npoint, table, table + n};
        }
    }
    return true;
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
    for (int i = 0; i < b->valves.count; i++) {
        free_metering(&b->valves.items[i]);
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
    free(b->filters.items);
    free(b->lines.items);
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
    ItmValveDef copy = *def;
    if (!copy_metering(&copy)) {
        return out_of_memory(error);
    }
    ItmStatus status = ADD(b->valves, b->names, copy, ITM_NODE_LIMIT);
    if (status != ITM_OK) {
        free_metering(&copy);
    }
    return status;
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

ItmStatus itm_circuit_builder_add_filter(ItmCircuitBuilder* b, const ItmFilterDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_circuit_check_filter(b, def, error));
    return ADD(b->filters, b->names, *def, ITM_NODE_LIMIT);
}

static double get_start_pressure(const ItmNodeDef* node)
{
    return node->is_source ? node->source.pressure : node->volume.pressure;
}

// Inner volumes "line.1" ... of a line, V / segments each.
static ItmStatus add_inner_nodes(ItmCircuitBuilder* b, const ItmLineDef* def, ItmError* error)
{
    ItmVolumeDef volume = itm_default_volume_def();
    int fluid = itm_circuit_builder_get_fluid(b, def->port_a), *id = NULL;
    double pressure =
        0.5 * (get_start_pressure(&b->nodes.items[def->port_a]) + get_start_pressure(&b->nodes.items[def->port_b]));
    volume.fluid = fluid;
    volume.volume = 0.25 * PI * def->diameter * def->diameter * def->length / (def->segments > 0 ? def->segments : 1);
    volume.wall_modulus = def->wall_modulus;
    volume.pressure = pressure;
    for (int i = 1; i < def->segments; i++) {
        char name[ITM_LONGEST_NAME + 16];
        snprintf(name, sizeof name, "%s.%d", def->name, i);
        ItmNodeDef node = {.name = name, .volume = volume};
        ItmStatus status = ADD(b->nodes, b->names, node, b->nodes.count - 1);
        if (status != ITM_OK) {
            return status;
        }
    }
    return ITM_OK;
}

ItmStatus itm_circuit_builder_add_line(ItmCircuitBuilder* b, const ItmLineDef* def, int* id, ItmError* error)
{
    ITM_REQUIRE(itm_circuit_check_line(b, def, error));
    ItmLineParts parts = {.name = def->name, .def = *def, .inner = b->nodes.count};
    ItmStatus status = ADD(b->lines, b->names, parts, ITM_NODE_LIMIT);
    return status == ITM_OK ? add_inner_nodes(b, def, error) : status;
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
