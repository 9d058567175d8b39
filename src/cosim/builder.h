// Definitions of a co-simulation before it is built.
#ifndef ITM_COSIM_BUILDER_H
#define ITM_COSIM_BUILDER_H

#include "base/names.h"
#include "interim/cosim.h"
#include "rim/rim.h"

typedef struct ItmMechanismDef {
    char* name;
    const ItmModel* model;
    ItmStepOptions step;
    bool has_step;                // of its own
    ItmForeignMechanism foreign;  // nport 0: none
    ItmForeignOptions options;    // of the foreign mechanism
} ItmMechanismDef;

typedef struct ItmSubsystemDef {
    char* name;
    const ItmCircuit* circuit;    // or NULL: `table`
    ItmHydraulicOptions options;  // of the circuit
    ItmSubsystem table;
    double step;  // s; 0: the macro step
} ItmSubsystemDef;

typedef struct ItmBondDef {
    int mechanism, subsystem;
    int actuator, port;
    ItmBondOptions options;
} ItmBondDef;

typedef struct ItmInterfaceEntry {
    char* name;
    int mechanism;
    int body;       // index in the model
    ItmVec3 point;  // from the centre of mass, body axes
    unsigned directions;
} ItmInterfaceEntry;

typedef struct ItmFrameBondDef {
    int a, b;  // interfaces
    ItmBondOptions options;
} ItmFrameBondDef;

typedef struct ItmWireDef {
    char *from, *to;
    double factor, offset;  // value at the end = factor * value at the start + offset
} ItmWireDef;

#define ITM_COSIM_LIST(type)                                                                                           \
    struct {                                                                                                           \
        type* items;                                                                                                   \
        int count, capacity;                                                                                           \
    }

typedef ITM_COSIM_LIST(ItmWireDef) ItmWireList;

struct ItmCosimBuilder {
    ITM_COSIM_LIST(ItmMechanismDef) mechanisms;
    ITM_COSIM_LIST(ItmSubsystemDef) subsystems;
    ITM_COSIM_LIST(ItmBondDef) bonds;
    ItmWireList wires;
    ItmWireList aliases;  // from an output to its second name
    ITM_COSIM_LIST(ItmInterfaceEntry) interfaces;
    ITM_COSIM_LIST(ItmFrameBondDef) frame_bonds;
};

#endif
