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
} ItmDriveNodes;

void itm_read_circuit_get_drive(ItmCircuitReader* c, const ItmItem* item, ItmDriveNodes nodes, ItmDimension dimension,
                                double* base, int* signal);

// `elements`, a function a type
void itm_read_circuit_elements(ItmCircuitReader* c, const ItmNode* node);

#endif
