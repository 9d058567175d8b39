// Reading a hydraulic circuit: what its files share.
#ifndef ITM_IO_MODEL_READ_CIRCUIT_H
#define ITM_IO_MODEL_READ_CIRCUIT_H

#include "hydraulics/circuit_builder.h"
#include "io/model/reader.h"

// A circuit while it is read.
typedef struct ItmCircuitReader {
    ItmReader* r;
    ItmCircuitBuilder* builder;
    const char* name;  // of the subsystem
} ItmCircuitReader;

// A number of a definition: the key it is read from, and where it goes. An absent key leaves the default.
typedef struct ItmRealField {
    int key;
    ItmDimension dimension;
    double* value;
} ItmRealField;

void itm_read_circuit_get_reals(ItmReader* r, const ItmNode* const* v, const ItmRealField* fields, int nfield);
// Take over the outcome of adding a definition whose fields are called like its keys; v: their nodes. Further blames for those
// that are not.
void itm_read_circuit_take(ItmReader* r, ItmStatus status, const ItmItem* item, const char* const* keys,
                           const ItmNode* const* v, int nkey, const ItmBlame* blames, int nblame);
// Node of the circuit by name.
int itm_read_circuit_get_node(ItmCircuitReader* c, const ItmNode* node);

// What drives an element: a constant, a signal and an output of another subsystem, each at most once. `value` and `more` are
// the two keys that may hold them, or NULL.
typedef struct ItmDriveNodes {
    const ItmNode *value, *more;
    const char* input;  // second part of the input's name, as in "pump.speed"; NULL: the name of the element
} ItmDriveNodes;

void itm_read_circuit_get_drive(ItmCircuitReader* c, const ItmItem* item, ItmDriveNodes nodes, ItmDimension dimension,
                                double* base, int* signal);

// The nodes in the file of two ports [a, b]: flow counts from the first to the second.
typedef struct ItmPortNodes {
    const ItmNode *a, *b;
} ItmPortNodes;
ItmPortNodes itm_read_circuit_get_ports(ItmCircuitReader* c, const ItmItem* item, const ItmNode* node, const char* what,
                                        int* a, int* b);

// The orifice law. Its keys come first in every element that has one.
enum { ITM_LAW_COEFFICIENT, ITM_LAW_DISCHARGE, ITM_LAW_AREA, ITM_LAW_DIAMETER, ITM_LAW_THRESHOLD, ITM_LAW_COUNT };
#define ITM_LAW_KEYS "coefficient", "discharge", "area", "diameter", "threshold"
void itm_read_circuit_get_law(ItmReader* r, const ItmItem* item, const ItmNode* const* v, const ItmNode* one_way,
                              const char* what, ItmOrificeLaw* law);

// Valves that pressures move, by the number of their type from check-valve on; read_circuit_valves.c
void itm_read_circuit_pressure_valve(ItmCircuitReader* c, const ItmItem* item, int type);
// {pa: {spool, opening}, ...}: metering curves of a valve; *table receives memory to free after the valve was added.
void itm_read_circuit_metering(ItmReader* r, const ItmNode* node, ItmValveDef* def, double** table);

// `elements`, a function a type
void itm_read_circuit_elements(ItmCircuitReader* c, const ItmNode* node);

#endif
