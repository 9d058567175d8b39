// An FMU as a subsystem: archive, description and what the user chooses, put together.
//
// itm_fmu_open reads and unpacks the FMU once; any number of running instances share it. itm_fmi_choose checks the choices
// against the description and probes the FMU in a disposable process, because capabilities are claims: a state that can be
// saved must continue with the same bits, and inputs must not leak into the next step (probe.c).
#ifndef ITM_FMI_FMU_H
#define ITM_FMI_FMU_H

#include "fmi/archive.h"
#include "fmi/description.h"
#include "fmi/process.h"
#include "fmi/spec.h"
#include "interim/cosim.h"
#include "interim/fmu.h"

// ---------------------------------------------------------------------------- choices

// A value for a variable. Numbers without a unit are in the unit of the FMU.
typedef struct ItmFmuValue {
    const char* variable;  // "supply_pressure", "K[2]"
    const char* text;      // as typed: for strings, binaries, Booleans and names of enumerations
    bool has_number;
    ItmQuantity number;
} ItmFmuValue;

// A power port by the names of its variables; a "-" in front reverses the sign. Interim's signs: the force is positive where
// it lengthens the actuator, the rate is positive while it lengthens.
typedef struct ItmFmuPortDef {
    const char* name;
    const char* rate;      // input, or NULL
    const char* position;  // input, or NULL
    const char* force;     // output
    double offset;         // position of the FMU = length of the actuator - offset, m
    bool is_rotational;    // torque, angular rate, angle
} ItmFmuPortDef;

typedef enum ItmFmuIsolation { ITM_FMU_PROCESS, ITM_FMU_IN_PLACE } ItmFmuIsolation;

// clang-format off
typedef struct ItmFmuDef {
    const char* name;            // of the instance
    int    kind;                 // ITM_FMI_CO_SIMULATION, ITM_FMI_MODEL_EXCHANGE; ITM_NONE: the first that is there
    double step;                 // micro step for the probes, s; 0: that of the FMU
    double tolerance;            // 0: that of the FMU's default experiment
    double start, stop;          // experiment, s; stop NAN: none
    bool   keeps_units;          // values in the units of the FMU; otherwise SI where the unit is known
    bool   is_logging;           // all messages, not only warnings and errors
    bool   is_stateless;         // its state is never saved, whatever it claims
    ItmFmuIsolation isolation;
    ItmFmuLimits limits;
    bool   is_restarting;
    int    nvalue, nport, nrecord;
    const ItmFmuValue*   values;
    const ItmFmuPortDef* ports;
    const char* const*   records; // patterns of variables to record beside the outputs
} ItmFmuDef;
// clang-format on

// Defaults: co-simulation if there is one, a process, default limits, stop.
ItmFmuDef itm_default_fmi_def(void);

// ---------------------------------------------------------------------------- an FMU

const ItmFmiDescription* itm_fmi_get_description(const ItmFmu* fmu);
ItmArchive* itm_fmi_get_archive(ItmFmu* fmu);
const char* itm_fmi_get_path(const ItmFmu* fmu);

// Check the choices and keep them: unpack, find variables, convert values. Errors have the name as typed in their field. No
// process is started.
ItmStatus itm_fmi_choose(ItmFmu* fmu, const ItmFmuDef* def, ItmError* error);
// What the choices come to. Valid until the next itm_fmi_choose.
const ItmFmuSpec* itm_fmi_get_spec(const ItmFmu* fmu);
// Name of an element of an array, in the order of its values, "A[2,1]"; NULL: there is none. To be freed.
char* itm_fmi_name_element(const ItmFmu* fmu, int variable, int element);
// Its steps are multiples of this, s; 0: any step. Of an FMU that takes no other step and does not state which, that of its default
// experiment.
double itm_fmi_get_fixed_step(const ItmFmu* fmu);
const char* itm_fmi_get_input_name(const ItmFmu* fmu, int input);
ItmOutputInfo itm_fmi_get_output_info(const ItmFmu* fmu, int output);

// Run the probes, once, and rely on what they prove from now on. Notes: a sentence for every claim that does not hold.
ItmStatus itm_fmi_prove(ItmFmu* fmu, ItmError* error);
int itm_fmi_get_note_count(const ItmFmu* fmu);
const char* itm_fmi_get_note(const ItmFmu* fmu, int note);

// Start an instance as a subsystem. The FMU must outlive it. process (may be NULL): the host, NULL with isolation none; it
// belongs to the subsystem.
ItmStatus itm_fmi_make_subsystem(ItmSubsystem* subsystem, ItmFmu* fmu, ItmFmuProcess** process, ItmError* error);
// The same with other settings than those of the choices; the spec must outlive the instance.
ItmStatus itm_fmi_make_variant(ItmSubsystem* subsystem, ItmFmu* fmu, const ItmFmuSpec* spec, ItmFmuProcess** process,
                               ItmError* error);

// ---------------------------------------------------------------------------- probe.c

typedef enum ItmFmuVerdict {
    ITM_FMU_NOT_CLAIMED,  // or there is nothing to test
    ITM_FMU_HOLDS,
    ITM_FMU_WRONG,    // other results
    ITM_FMU_REFUSED,  // a call returned an error, or is absent
    ITM_FMU_CRASHED,  // the process ended, or hung
} ItmFmuVerdict;

typedef struct ItmFmuProbe {
    ItmFmuVerdict verdict;
    char text[512];  // sentence on it
} ItmFmuProbe;

// The same steps twice give the same bits.
ItmFmuProbe itm_fmi_probe_determinism(const ItmFmuSpec* spec, const ItmFmuLimits* limits, double step);
// Save, step, restore, step: the same bits. has_bytes of the spec: as bytes, restored in another process.
ItmFmuProbe itm_fmi_probe_state(const ItmFmuSpec* spec, const ItmFmuLimits* limits, double step);
// States can be read and set one by one: what was set is read again, and the next steps follow it.
ItmFmuProbe itm_fmi_probe_state_access(const ItmFmuSpec* spec, const ItmFmuLimits* limits, double step);
// New inputs act from the start of the next step. WRONG: the FMU latches inputs.
ItmFmuProbe itm_fmi_probe_latch(const ItmFmuSpec* spec, const ItmFmuLimits* limits, double step);
// Directional derivatives, of an FMU that claims to have them, agree with differences.
ItmFmuProbe itm_fmi_probe_derivatives(const ItmFmuSpec* spec, const ItmFmuLimits* limits);
// Processor time of a step, s; NAN: it failed.
double itm_fmi_measure_step(const ItmFmuSpec* spec, const ItmFmuLimits* limits, double step);

#endif
