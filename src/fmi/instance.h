// A running FMU in this process, as the table of functions of a subsystem.
//
// Ports: during a co-simulation step the FMU has the mean rate of the step and the position of its middle; outputs and forces
// are read after the rate and position of its end have been set, because an output may depend on an input of the same instant.
// An FMU whose inputs take a slope gets the linear rate (2.0), and so does one that asks for inputs while it integrates (3.0,
// intermediate update). Model exchange is integrated by exchange.c with linear rates.
//
// Events of co-simulation (3.0, event mode): the FMU stops where it needs one, or at the time that it named before; it is then
// given its discrete inputs, which it takes nowhere else, and goes on to the end of the step.
#ifndef ITM_FMI_INSTANCE_H
#define ITM_FMI_INSTANCE_H

#include "fmi/binary.h"
#include "fmi/spec.h"
#include "interim/cosim.h"

// Variables that are read or set together, by type; inputs that change at events only apart from the others.
typedef struct ItmFmuAccess {
    int n;  // scalars
    int ngroup;
    struct {
        ItmFmiType type;
        bool is_discrete;
        size_t size;     // of a value, bytes
        uint32_t* refs;  // (nref)
        int nref, nvalue;
        char* values;   // (nvalue)
        bool is_dirty;  // values that the FMU has not got yet
    } groups[2 * ITM_FMI_TYPE_COUNT];
    struct {
        int group, place;  // in its values
        double scale, shift;
    } * scalars;  // (n)
    void* memory;
} ItmFmuAccess;

typedef struct ItmFmuExchange ItmFmuExchange;

// clang-format off
typedef struct ItmFmuInstance {
    const ItmFmuSpec* spec;
    ItmFmuBinary binary;
    ItmFmuAccess in;             // inputs, then rates and positions of the ports
    ItmFmuAccess forces;         // of the ports
    ItmFmuAccess out;            // outputs
    int*    rate_at;             // of each port in `in`, or ITM_NONE                  (nport)
    int*    position_at;         //                                                    (nport)
    double *s, *w, *w_end;       // motion of the ports                                (nport)
    double* input_start;         // start values of the inputs                         (ninput)
    double* nominal;             // of the states                                      (nslope)
    double* reals;               // owns these
    // intermediate update: rates and positions of the ports that take it, apart from the other inputs
    ItmFmuAccess update;
    int*    update_port;         // of each scalar of `update`; ~port: its position    (update.n)
    uint32_t* update_refs;       //                                                    (update.n)
    bool    is_updating;         // the FMU is expected to ask for inputs while it integrates
    bool    has_asked;           // and did in this step
    double  step_start, step;    // the micro step                                     s
    double  next_event;          // time event that the FMU has named, INFINITY: none  s
    double  t;                   // where the instance is, s
    bool    has_stepped;         // since its start
    ItmFmuExchange* exchange;    // model exchange; NULL otherwise
    size_t  state_capacity;      // bytes of a saved state, with its header
    void*   states[64];          // saved states that cannot be bytes, by number modulo their count
    uint64_t nsaved;             // states saved so far
    bool    is_failed;           // a call failed; every later one does
    ItmError error;              // why
    int     nevent;              // events so far
} ItmFmuInstance;
// clang-format on

// Load, instantiate and initialize. The spec must live as long. watch and logger: see binary.h, may be NULL. On failure
// *instance is NULL.
ItmStatus itm_fmi_create_instance(ItmFmuInstance** instance, const ItmFmuSpec* spec, ItmFmuWatch* watch,
                                  ItmFmuLogger* logger, void* logger_context, ItmError* error);
void itm_fmi_destroy_instance(ItmFmuInstance* x);

// The table of the instance; names are left out, nothing in it owns the instance.
ItmSubsystem itm_fmi_get_table(ItmFmuInstance* x);

// The functions of the table, for hosts and probes.
void itm_fmi_set_motion(ItmFmuInstance* x, const double* s, const double* w, const double* w_end);
void itm_fmi_get_forces(ItmFmuInstance* x, double* force);
void itm_fmi_set_inputs(ItmFmuInstance* x, const double* u);
void itm_fmi_get_outputs(ItmFmuInstance* x, double* y);
ItmStatus itm_fmi_step(ItmFmuInstance* x, double t, double h);
ItmStatus itm_fmi_reset_instance(ItmFmuInstance* x);
// Current values of the inputs in the FMU.
void itm_fmi_get_inputs(ItmFmuInstance* x, double* u);
// States in at most state_capacity bytes; false: the instance has failed.
bool itm_fmi_save(ItmFmuInstance* x, void* bytes);
bool itm_fmi_restore(ItmFmuInstance* x, const void* bytes);

// Continuous states (nslope of the spec), where the spec has has_state_access.
void itm_fmi_get_states(ItmFmuInstance* x, double* states);
void itm_fmi_set_states(ItmFmuInstance* x, const double* states);

// Values of the inputs at a time into a step of length h that began with the motion set last, tau in [0, h]; used by
// exchange.c.
ItmStatus itm_fmi_feed(ItmFmuInstance* x, double tau, double h);
// Whether discrete inputs wait for event mode.
bool itm_fmi_has_discrete_inputs(const ItmFmuInstance* x);
// Event mode: discrete inputs, updates, and the next time event; has_new_states may be NULL.
ItmStatus itm_fmi_handle_event(ItmFmuInstance* x, bool* has_new_states);

// ---------------------------------------------------------------------------- exchange.c

// Integrate a model-exchange instance; after initialization. nx, nz: of the spec (2.0), or asked for (3.0).
ItmStatus itm_fmi_create_exchange(ItmFmuInstance* x, ItmError* error);
void itm_fmi_destroy_exchange(ItmFmuExchange* e);
// From t to t + h with the inputs of itm_fmi_feed.
ItmStatus itm_fmi_integrate(ItmFmuInstance* x, double t, double h);
// States of a model-exchange instance.
ItmStatus itm_fmi_get_exchange_states(ItmFmuInstance* x, double* states);
ItmStatus itm_fmi_set_exchange_states(ItmFmuInstance* x, const double* states);
// Step size of the integrator, saved with the state.
double itm_fmi_get_exchange_step(const ItmFmuExchange* e);
void itm_fmi_restore_exchange(ItmFmuInstance* x, double step);

// ---------------------------------------------------------------------------- derivative.c

// Directional derivatives of state derivatives and outputs with respect to states and inputs, against central differences:
// *worst is the largest deviation of a row, relative to its largest element; *count the number of directions, 0: none. For a
// process that is thrown away.
ItmStatus itm_fmi_compare_derivatives(ItmFmuInstance* x, double* worst, int* count);

#endif
