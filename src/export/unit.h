// A model file as one unit of a larger simulation: what an exported FMU runs. Variables are numbered, and set and read by number; the
// number of a variable is its value reference.
//
// Ports. A bond whose other end is not in the unit becomes a port:
//   of a mechanism    force in, position and rate out. The unit also returns the interface model of all its ports, W and a0, and takes
//                     impulses P0, moments P1 instead of forces: interface model port, level 1 (docs/reference/rim-port.md); or its
//                     micro steps are taken by calls: level 2
//   of a subsystem    position and rate in, force out
#ifndef ITM_EXPORT_UNIT_H
#define ITM_EXPORT_UNIT_H

#include "interim/file.h"

#define ITM_UNIT_MOST_PORTS 32

typedef enum ItmUnitKind {
    ITM_UNIT_PARAMETER,  // of the model file; before initialization
    ITM_UNIT_STEP,       // macro step, s; before initialization
    ITM_UNIT_INPUT,
    ITM_UNIT_OUTPUT,
    ITM_UNIT_FORCE_IN,  // port of a mechanism
    ITM_UNIT_POSITION_OUT,
    ITM_UNIT_RATE_OUT,
    ITM_UNIT_ACCELERATION,  // derivative of the rate at the present force
    ITM_UNIT_POSITION_IN,   // port of a subsystem
    ITM_UNIT_RATE_IN,
    ITM_UNIT_FORCE_OUT,
    ITM_UNIT_W,  // interface model of the mechanism's ports, row-major
    ITM_UNIT_A0,
    ITM_UNIT_P0,
    ITM_UNIT_P1,
    ITM_UNIT_THETA,
    ITM_UNIT_USE_IMPULSES,  // 1: the next step takes P0 and P1, 0: forces
    ITM_UNIT_TIME,          // s
} ItmUnitKind;

typedef struct ItmUnitVariable {
    char* name;
    ItmUnitKind kind;
    int index;         // parameter, input, output, port, or place in W
    const char* unit;  // SI
    const char* description;
    double start;
} ItmUnitVariable;

// An end of a bond that stays in the unit.
typedef struct ItmUnitPort {
    char* part;  // mechanism or subsystem
    char* name;  // actuator or port
    bool is_mechanism;
} ItmUnitPort;

typedef struct ItmUnit ItmUnit;

// Read a unit: `bytes` is a tree (io/tree.h) or YAML where there is a parser, `path` its name, to which references are relative.
// ports (nport) are those of one mechanism at most. The unit is not initialized.
ItmStatus itm_unit_create(ItmUnit** unit, const char* bytes, size_t length, const char* path, const ItmUnitPort* ports,
                          int nport, ItmError* error);
void itm_unit_destroy(ItmUnit* u);

int itm_unit_get_variable_count(const ItmUnit* u);
const ItmUnitVariable* itm_unit_get_variable(const ItmUnit* u, int i);
const ItmModelFile* itm_unit_get_file(const ItmUnit* u);
// Ports of the mechanism, in the order of W.
int itm_unit_get_mechanism_port_count(const ItmUnit* u);

// Reading W, a0 or outputs may compute. ITM_ERR_ARGUMENT: no such variable, or it cannot be set at this time.
ItmStatus itm_unit_get(ItmUnit* u, int variable, double* value);
ItmStatus itm_unit_set(ItmUnit* u, int variable, double value);

// Slope of a rate of a subsystem's port over the next step; 0 without a call. ITM_ERR_ARGUMENT: any other variable.
ItmStatus itm_unit_set_slope(ItmUnit* u, int variable, double slope);

// Build the system with the parameters that were set, in its initial state at time 0.
ItmStatus itm_unit_initialize(ItmUnit* u);
// Back to before initialization, all variables at their start values.
ItmStatus itm_unit_reset(ItmUnit* u);
// From the present time over H, a multiple of the macro step.
ItmStatus itm_unit_step(ItmUnit* u, double H);
double itm_unit_get_time(const ItmUnit* u);

// A macro step in micro steps that the caller takes (level 2): as itm_cosim_begin_step and what follows it, for all n ports of the
// mechanism. H is the macro step; *ncontact: contact rows of the model, 0: W and a0 are all of it. ITM_ERR_INPUT: out of order.
ItmStatus itm_unit_begin(ItmUnit* u, double H, int K, bool use_heun, size_t n, double* W, double* a0, int* ncontact);
ItmStatus itm_unit_predict(ItmUnit* u, double h, size_t n, const double* lambda, double* w_end);
ItmStatus itm_unit_advance(ItmUnit* u, double h, size_t n, const double* lambda, double* s, double* w);
ItmStatus itm_unit_commit(ItmUnit* u, size_t n, const double* P0, const double* P1, double theta);
void itm_unit_cancel(ItmUnit* u);
// Contact rows of the step that has begun as a message (rim/message.h), and the results of micro steps that were taken with them elsewhere.
// *size 0: there are none, or they do not fit.
ItmStatus itm_unit_get_rows(ItmUnit* u, size_t capacity, size_t* size, void* bytes);
ItmStatus itm_unit_set_results(ItmUnit* u, size_t size, const void* bytes);

// State with all inputs, after initialization.
size_t itm_unit_get_state_size(const ItmUnit* u);
ItmStatus itm_unit_save(ItmUnit* u, void* bytes, size_t size);
ItmStatus itm_unit_restore(ItmUnit* u, const void* bytes, size_t size);

// Reason of the last failure.
const ItmError* itm_unit_get_error(const ItmUnit* u);

#endif
