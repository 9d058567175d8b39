// An instance of an exported FMU: a unit (src/export/unit.h) read from the folder of resources, and its messages.
#ifndef ITM_FMU_INSTANCE_H
#define ITM_FMU_INSTANCE_H

#include "export/unit.h"

typedef struct Instance Instance;

struct Instance {
    ItmUnit* unit;
    char* name;
    double start;  // time of the master at time 0 of the unit, s
    bool is_logging;
    bool can_return_early;  // the master takes steps that end before their time (FMI 3.0)
    void* environment;      // of the master
    void* logger;           // its call-back: fmi2CallbackLogger or fmi3LogMessageCallback
    void* update;           // sets inputs while a step runs: fmi3IntermediateUpdateCallback, or NULL
    // The status of a call as a number of fmi2Status or fmi3Status, its message to the master.
    int (*judge)(Instance* x, ItmStatus status);
};

// Read the unit from a folder, given as a path or as a URI "file:///...". token must be that of the FMU. On failure NULL and the
// reason in error.
Instance* instance_create(const char* name, const char* token, const char* resources, ItmError* error);
void instance_destroy(Instance* x);

// Values of n variables by value reference, up to the first that fails.
ItmStatus instance_get(Instance* x, const unsigned* references, size_t n, double* values);
ItmStatus instance_set(Instance* x, const unsigned* references, size_t n, const double* values);

// Whether a step failed because of the simulation, not because of the call: its time is the last that was reached, and the master may
// go on from there with other inputs.
bool instance_is_broken_down(ItmStatus status);

// A state is the bytes of the unit. *state NULL: it is allocated. Bytes of another size are ITM_ERR_ARGUMENT.
ItmStatus instance_save(Instance* x, void** state);
ItmStatus instance_restore(Instance* x, const void* state);
void instance_free_state(void** state);
ItmStatus instance_write_state(Instance* x, const void* state, void* bytes, size_t size);
ItmStatus instance_read_state(Instance* x, const void* bytes, size_t size, void** state);

// Derivatives of the accelerations of the ports, a0 + W f, along a direction of forces: sensitivity_i = sum W_ij seed_j. False: the
// unknowns are not accelerations of ports, or the knowns are not their forces.
bool instance_differentiate(Instance* x, const unsigned* unknowns, size_t nunknown, const unsigned* knowns,
                            size_t nknown, const double* seed, double* sensitivity);

#endif
