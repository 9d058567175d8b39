// The definitions a circuit builder has collected, as the compiler of circuits reads them.
#ifndef ITM_HYDRAULICS_BUILDER_H
#define ITM_HYDRAULICS_BUILDER_H

#include "base/names.h"
#include "interim/hydraulics.h"

// Growing array of definitions; `items` owns copies, whose strings and tables belong to the builder.
#define ITM_CIRCUIT_LIST(type)                                                                                         \
    struct {                                                                                                           \
        type* items;                                                                                                   \
        int count, capacity;                                                                                           \
    }

// Volumes and sources share their numbering: a port is the id of either.
typedef struct ItmNodeDef {
    const char* name;
    bool is_source;
    ItmVolumeDef volume;          // where not is_source
    ItmPressureSourceDef source;  // where is_source
} ItmNodeDef;

// A line and the first of its inner nodes.
typedef struct ItmLineParts {
    const char* name;
    ItmLineDef def;
    int inner;
} ItmLineParts;

typedef struct ItmAliasDef {
    const char* name;
    const char* output;
} ItmAliasDef;

struct ItmCircuitBuilder {
    ITM_CIRCUIT_LIST(ItmSignalDef) signals;
    ITM_CIRCUIT_LIST(ItmFluidDef) fluids;
    ITM_CIRCUIT_LIST(ItmNodeDef) nodes;
    ITM_CIRCUIT_LIST(ItmFlowSourceDef) flows;
    ITM_CIRCUIT_LIST(ItmOrificeDef) orifices;
    ITM_CIRCUIT_LIST(ItmLaminarDef) laminars;
    ITM_CIRCUIT_LIST(ItmPressureValveDef) pressure_valves;
    ITM_CIRCUIT_LIST(ItmValveDef) valves;
    ITM_CIRCUIT_LIST(ItmAccumulatorDef) accumulators;
    ITM_CIRCUIT_LIST(ItmCylinderDef) cylinders;
    ITM_CIRCUIT_LIST(ItmMotorDef) motors;
    ITM_CIRCUIT_LIST(ItmFilterDef) filters;
    ITM_CIRCUIT_LIST(ItmLineParts) lines;
    ITM_CIRCUIT_LIST(ItmAliasDef) aliases;
    ItmNames signal_names;  // name to id
    ItmNames fluid_names;   // name to id
    ItmNames names;         // nodes: name to id; elements: to ITM_NODE_LIMIT
    ItmNames alias_names;
};

#define ITM_NODE_LIMIT 1000000000  // node ids are smaller; stands for an element in `names`

// Whether a definition may be added; the adding functions call them.
ItmStatus itm_circuit_check_name(const char* name, const char* kind, ItmError* error);
ItmStatus itm_circuit_check_alias(const char* alias, ItmError* error);
ItmStatus itm_circuit_check_fluid(const ItmFluidDef* def, ItmError* error);
ItmStatus itm_circuit_check_volume(const ItmCircuitBuilder* b, const ItmVolumeDef* def, ItmError* error);
ItmStatus itm_circuit_check_pressure_source(const ItmCircuitBuilder* b, const ItmPressureSourceDef* def,
                                            ItmError* error);
ItmStatus itm_circuit_check_flow_source(const ItmCircuitBuilder* b, const ItmFlowSourceDef* def, ItmError* error);
ItmStatus itm_circuit_check_orifice(const ItmCircuitBuilder* b, const ItmOrificeDef* def, ItmError* error);
ItmStatus itm_circuit_check_laminar(const ItmCircuitBuilder* b, const ItmLaminarDef* def, ItmError* error);
ItmStatus itm_circuit_check_pressure_valve(const ItmCircuitBuilder* b, const ItmPressureValveDef* def, ItmError* error);
ItmStatus itm_circuit_check_valve(const ItmCircuitBuilder* b, const ItmValveDef* def, ItmError* error);
ItmStatus itm_circuit_check_accumulator(const ItmCircuitBuilder* b, const ItmAccumulatorDef* def, ItmError* error);
// Also replaces diameters by areas, and the default extension by its value.
ItmStatus itm_circuit_complete_cylinder(const ItmCircuitBuilder* b, ItmCylinderDef* def, ItmError* error);

ItmStatus itm_circuit_check_filter(const ItmCircuitBuilder* b, const ItmFilterDef* def, ItmError* error);
ItmStatus itm_circuit_check_line(const ItmCircuitBuilder* b, const ItmLineDef* def, ItmError* error);
ItmStatus itm_circuit_check_motor(const ItmCircuitBuilder* b, const ItmMotorDef* def, ItmError* error);

// Node of a pilot of a valve: one of its own ports, or another.
int itm_circuit_builder_get_pilot_node(const ItmPressureValveDef* def, int pilot);

// Fluid of a node.
int itm_circuit_builder_get_fluid(const ItmCircuitBuilder* b, int node);

#endif
