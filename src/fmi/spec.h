// Everything that is needed to load and run one instance of an FMU, without its archive and description: paths, variables by
// value reference, values to set, ports. The library makes it from a description; the host process gets it as bytes.
#ifndef ITM_FMI_SPEC_H
#define ITM_FMI_SPEC_H

#include "fmi/description.h"
#include "interim/base.h"
#include "interim/cosim.h"

// An element of a variable. A scalar has count 1 and element 0.
typedef struct ItmFmuScalar {
    uint32_t reference;
    int type;             // ItmFmiType
    int element, count;   // which of how many
    double scale, shift;  // our value = scale * value of the FMU + shift
    bool is_discrete;     // an input that changes at events only
} ItmFmuScalar;

typedef enum ItmFmuPhase {
    ITM_FMU_CONFIGURE,  // structural parameters
    ITM_FMU_START,      // before initialization: parameters and start values
} ItmFmuPhase;

// A value for the start.
typedef struct ItmFmuSetting {
    ItmFmuScalar variable;
    int phase;         // ItmFmuPhase
    double value;      // in units of the FMU
    const char* text;  // strings, and binaries as hexadecimal digits; NULL otherwise
} ItmFmuSetting;

// A power port: rate and position in, force out. The signs are in the scales.
typedef struct ItmFmuPort {
    bool has_rate, has_position;
    bool has_update;  // both may be set while the FMU integrates (3.0)
    ItmFmuScalar rate, position, force;
    double start;  // position at the start, for the probes, m, rad
} ItmFmuPort;

// A continuous state and its derivative, both scalars.
typedef struct ItmFmuSlope {
    uint32_t state, derivative;
    double nominal;  // of the state
} ItmFmuSlope;

// clang-format off
typedef struct ItmFmuSpec {
    const char* name;            // of the instance
    const char* library;         // absolute path
    const char* resources;       // absolute path of the folder
    const char* token;           // guid or instantiation token
    int    version;              // 2 or 3
    bool   is_exchange;
    bool   is_logging;           // the FMU is asked for all its messages
    double tolerance;            // 0: none
    double start, stop;          // experiment, s; stop NAN: none
    bool   has_state;            // states can be saved and restored: claimed, or proven by a probe
    bool   has_bytes;            // and saved as bytes
    bool   has_slopes;           // inputs may be given a slope over a step (2.0)
    bool   has_event_mode;       // co-simulation with event mode (3.0)
    bool   is_latched;           // a new input must be refreshed by a tiny first step
    bool   needs_completed_step; // model exchange
    bool   has_derivatives;      // directional derivatives, proven by a probe
    int    nx, nz;               // states and event indicators of model exchange in 2.0
    int    nsetting, ninput, noutput, nport;
    int    nslope;               // continuous states; 0: none are listed, or some are arrays
    bool   has_state_access;     // states can be read and set one by one: model exchange, or proven by a probe
    const ItmFmuSetting* settings;
    const ItmFmuScalar*  inputs;
    const ItmFmuScalar*  outputs;
    const ItmFmuPort*    ports;
    const ItmFmuSlope*   slopes;
    void*  memory;               // of an unpacked spec: owns all of the above
} ItmFmuSpec;
// clang-format on

// Bytes of a packed spec, and the packing.
size_t itm_fmi_get_spec_size(const ItmFmuSpec* spec);
void itm_fmi_pack_spec(const ItmFmuSpec* spec, void* bytes);
// False: the bytes are not a spec, or there is no memory. To be freed by itm_fmi_free_spec.
bool itm_fmi_unpack_spec(ItmFmuSpec* spec, const void* bytes, size_t size);
void itm_fmi_free_spec(ItmFmuSpec* spec);
// The table of a subsystem with the counts and claims of the spec, without functions. nominal (nslope), input_start (ninput)
ItmSubsystem itm_fmi_describe(const ItmFmuSpec* spec, const double* nominal, const double* input_start);

#endif
