// The shared library of an FMU in this process: one function per operation, the same for FMI 2.0 and 3.0.
//
// This file and those that it needs link with libm and libdl only: they are the core of the host process (host/), and serve
// the library for subsystems with isolation none. Optional functions are looked up without a complaint; one that is absent is
// an error when it is called. Every call leaves its name in the watch before it begins, so that a process that survives the
// FMU can report where it ended.
#ifndef ITM_FMI_BINARY_H
#define ITM_FMI_BINARY_H

#include "fmi/description.h"
#include "fmi/fmi2.h"
#include "fmi/fmi3.h"
#include "fmi/layer.h"
#include "interim/base.h"

#include <stdatomic.h>

// ---------------------------------------------------------------------------- watch and log

// The call in progress. In shared memory where the FMU has a process of its own.
typedef struct ItmFmuWatch {
    _Atomic uint64_t count;  // calls begun and ended
    _Atomic int call;        // name of the call, 0: none
    _Atomic double time;     // simulation time of it, s
} ItmFmuWatch;

// Name of a call, "fmi2DoStep"; "" for 0.
const char* itm_fmi_get_call_name(int call);

// Receiver of log messages; status as fmi2Status.
typedef void ItmFmuLogger(void* context, int status, const char* category, const char* text);
// Called inside a step where the FMU asks for inputs at this time (3.0).
typedef void ItmFmuUpdate(void* context, double time);

// ---------------------------------------------------------------------------- binary

#define ITM_FMI_POINTER2(name, presence) fmi2##name##TYPE* name;
#define ITM_FMI_POINTER3(name, presence) fmi3##name##TYPE* name;
#define ITM_FMI_POINTER_LAYER(name) interimRim##name##TYPE* name;

// clang-format off
typedef struct ItmFmuBinary {
    int   version;               // 2 or 3
    bool  is_exchange;           // model exchange; otherwise co-simulation
    void* handle;                // of dlopen
    void* instance;              // fmi2Component or fmi3Instance, NULL: none
    struct { FMI2_FUNCTIONS(ITM_FMI_POINTER2) } f2;
    struct { FMI3_FUNCTIONS(ITM_FMI_POINTER3) } f3;
    struct { LAYER_FUNCTIONS(ITM_FMI_POINTER_LAYER) LAYER_OPTIONAL(ITM_FMI_POINTER_LAYER) } layer;
    fmi2CallbackFunctions callbacks;
    char* resources;             // as the FMU gets it: a URI (2.0) or a path (3.0)
    char* name;                  // of the instance
    ItmFmuWatch* watch;          // never NULL
    ItmFmuWatch own_watch;
    ItmFmuLogger* logger;        // or NULL
    void* logger_context;
    // co-simulation of 3.0, set before the instance is made
    bool  has_event_mode;        // event mode is used
    ItmFmuUpdate* update;        // or NULL
    void* update_context;
    const uint32_t* update_refs; // variables that it sets                             (nupdate_ref)
    int   nupdate_ref;
    bool  keeps_past;            // a state of the past may be restored
    char  last[512];             // last message of the FMU that is a warning or worse
    double time;                 // of the simulation, for messages                          s
    ItmError error;              // of the last call that failed
    bool  is_lazy;               // it has undefined symbols and was loaded with lazy binding
} ItmFmuBinary;
// clang-format on

// Load the library and look up its functions. Before: b zeroed, watch and logger may be set. ITM_ERR_IO: it cannot be loaded;
// ITM_ERR_INPUT: a function that this kind needs is missing.
ItmStatus itm_fmi_load(ItmFmuBinary* b, const char* library, int version, bool is_exchange);
// Free instance and library.
void itm_fmi_unload(ItmFmuBinary* b);

// ---------------------------------------------------------------------------- creation, modes

// resources: absolute path of the folder.
ItmStatus itm_fmi_instantiate(ItmFmuBinary* b, const char* name, const char* token, const char* resources,
                              bool is_logging);
void itm_fmi_free_instance(ItmFmuBinary* b);
// tolerance 0: none. stop NAN: none.
ItmStatus itm_fmi_enter_initialization(ItmFmuBinary* b, double tolerance, double start, double stop);
ItmStatus itm_fmi_exit_initialization(ItmFmuBinary* b);
ItmStatus itm_fmi_enter_configuration(ItmFmuBinary* b);
ItmStatus itm_fmi_exit_configuration(ItmFmuBinary* b);
ItmStatus itm_fmi_terminate(ItmFmuBinary* b);

// ---------------------------------------------------------------------------- variables

// Bytes of a value of this type in the arrays below.
size_t itm_fmi_get_value_size(int version, ItmFmiType type);
// A value as a double, and back, rounded to the nearest where the type is an integer; Booleans: 0 or 1.
double itm_fmi_read_value(int version, ItmFmiType type, const void* value);
void itm_fmi_write_value(int version, ItmFmiType type, void* value, double number);
// nref references with nvalue values. Strings: const char*; binaries only by itm_fmi_set_binary.
ItmStatus itm_fmi_get(ItmFmuBinary* b, ItmFmiType type, const uint32_t* refs, int nref, void* values, int nvalue);
ItmStatus itm_fmi_set(ItmFmuBinary* b, ItmFmiType type, const uint32_t* refs, int nref, const void* values, int nvalue);
ItmStatus itm_fmi_set_binary(ItmFmuBinary* b, uint32_t ref, const uint8_t* bytes, size_t size);
// First derivatives of real inputs over the next step; 2.0 only.
ItmStatus itm_fmi_set_slopes(ItmFmuBinary* b, const uint32_t* refs, int n, const double* slopes);

// ---------------------------------------------------------------------------- state, derivatives

ItmStatus itm_fmi_get_state(ItmFmuBinary* b, void** state);
ItmStatus itm_fmi_set_state(ItmFmuBinary* b, void* state);
void itm_fmi_free_state(ItmFmuBinary* b, void** state);
ItmStatus itm_fmi_get_state_bytes(ItmFmuBinary* b, void* state, size_t* size);
ItmStatus itm_fmi_serialize(ItmFmuBinary* b, void* state, void* bytes, size_t size);
ItmStatus itm_fmi_deserialize(ItmFmuBinary* b, const void* bytes, size_t size, void** state);
// Derivatives of the unknowns along `seed` of the knowns.
ItmStatus itm_fmi_get_directional(ItmFmuBinary* b, const uint32_t* unknowns, int nunknown, const uint32_t* knowns,
                                  int nknown, const double* seed, double* sensitivity);

// ---------------------------------------------------------------------------- layered standard

// Functions of layer.h, for n ports; all of them are there or none is used.
bool itm_fmi_has_layer(const ItmFmuBinary* b);
ItmStatus itm_fmi_begin_layer(ItmFmuBinary* b, double H, int K, bool use_heun, int n, double* W, double* a0,
                              int* ncontact);
ItmStatus itm_fmi_predict_layer(ItmFmuBinary* b, double h, int n, const double* lambda, double* w_end);
ItmStatus itm_fmi_advance_layer(ItmFmuBinary* b, double h, int n, const double* lambda, double* s, double* w);
ItmStatus itm_fmi_commit_layer(ItmFmuBinary* b, int n, const double* P0, const double* P1, double theta);
void itm_fmi_cancel_layer(ItmFmuBinary* b);
// Contact rows of the step that has begun, *size bytes; 0: there are none, or the FMU does not hand them over.
ItmStatus itm_fmi_get_layer_rows(ItmFmuBinary* b, size_t capacity, size_t* size, void* bytes);
ItmStatus itm_fmi_set_layer_results(ItmFmuBinary* b, size_t size, const void* bytes);

// ---------------------------------------------------------------------------- co-simulation

// How a step ended. 3.0 only: an FMU of 2.0 always reaches the end of its step.
typedef struct ItmFmuStepEnd {
    double t;        // where the FMU is, s
    bool is_early;   // it stopped before the end of the step
    bool has_event;  // and needs event mode
} ItmFmuStepEnd;

// ITM_ERR_DIVERGED: the FMU returned an error, or asks to end the simulation; the field of the error is ITM_FMU_END then.
#define ITM_FMU_END "end of simulation"
ItmStatus itm_fmi_do_step(ItmFmuBinary* b, double t, double h, ItmFmuStepEnd* end);

// ---------------------------------------------------------------------------- events

ItmStatus itm_fmi_enter_event_mode(ItmFmuBinary* b);
// Iterate event mode until nothing changes. *next: time of the next time event, INFINITY: none.
ItmStatus itm_fmi_update_discrete(ItmFmuBinary* b, bool* has_new_states, double* next);
// Back to continuous time (model exchange) or to steps (co-simulation).
ItmStatus itm_fmi_leave_event_mode(ItmFmuBinary* b);

// ---------------------------------------------------------------------------- model exchange

ItmStatus itm_fmi_count_states(ItmFmuBinary* b, size_t* nx, size_t* nz);  // 3.0 only
ItmStatus itm_fmi_set_time(ItmFmuBinary* b, double t);
ItmStatus itm_fmi_set_continuous(ItmFmuBinary* b, const double* x, size_t nx);
ItmStatus itm_fmi_get_continuous(ItmFmuBinary* b, double* x, size_t nx);
ItmStatus itm_fmi_get_nominals(ItmFmuBinary* b, double* nominal, size_t nx);
ItmStatus itm_fmi_get_derivatives(ItmFmuBinary* b, double* dx, size_t nx);
ItmStatus itm_fmi_get_indicators(ItmFmuBinary* b, double* z, size_t nz);
ItmStatus itm_fmi_complete_step(ItmFmuBinary* b, bool* has_event);

#endif
