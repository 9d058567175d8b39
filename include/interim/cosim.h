// Co-simulation of mechanisms, hydraulic circuits, controllers and foreign simulators. They exchange data at communication
// points, one macro step H apart. The coupling is not iterative, and no subsystem repeats a step.
//
// A **mechanism** is a model of bodies with contact, or a foreign mechanism that another program simulates. A **subsystem** is anything else: a table of functions that takes micro
// steps h between two communication points. Three kinds of connection join them:
//   bonds        connect a line actuator of a mechanism to a power port of a subsystem (a cylinder). Length and rate go to the
//                port, force goes to the actuator. Between two communication points the subsystem uses a reduced interface
//                model (RIM) of the mechanism, or extrapolated rates;
//   frame bonds  make a frame on a body of one mechanism move with a frame of another mechanism: they join two halves of one
//                machine;
//   wires        connect an output to an input: commands, measurements.
// A builder collects mechanisms, subsystems and connections. itm_cosim_build creates an ItmCosim, which owns the running
// instances. docs/theory-cosim.md gives the equations and the limits on H.
//
// Threads: one thread at a time uses an ItmCosim or an ItmCosimBuilder, reading included, because getters refresh derived
// quantities. Different systems may share models, circuits and controls and run in parallel.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_COSIM_H
#define INTERIM_COSIM_H

#include "interim/base.h"
#include "interim/control.h"
#include "interim/drive.h"
#include "interim/data.h"
#include "interim/hydraulics.h"
#include "interim/verdict.h"

ITM_EXTERN_C_BEGIN

typedef struct ItmCosimBuilder ItmCosimBuilder;  // collects definitions
typedef struct ItmCosim ItmCosim;                // a running system
typedef struct ItmMicroSteps ItmMicroSteps;      // internal

// ---------------------------------------------------------------------------- choices

// Prediction of a mechanism's motion between two communication points.
typedef enum ItmCoupling {
    ITM_COUPLING_ZOH,        // zero-order hold of its rates
    ITM_COUPLING_LINEAR,     // linear extrapolation of its rates, from the last two points
    ITM_COUPLING_QUADRATIC,  // quadratic extrapolation, from the last three points
    ITM_COUPLING_RIM,        // its reduced interface model (RIM); at frames the smooth one: closed contacts stay closed
    ITM_COUPLING_RIM_NONSMOOTH,  // RIM with contacts that open, close, stick and slip within the macro step, at frames too
    ITM_COUPLING_MONOLITHIC,     // the whole mechanism: data are exchanged every micro step. For the whole system only
    ITM_COUPLING_COUNT
} ItmCoupling;

// Interface force that a mechanism receives for its macro step.
typedef enum ItmExchange {
    ITM_EXCHANGE_IMPULSE,  // impulse and first moment of the interface force over this step; with coupling rim
    ITM_EXCHANGE_HOLD,     // the force of the last micro step, constant (papers); always with extrapolated rates
    ITM_EXCHANGE_COUNT
} ItmExchange;

// Quantity that stays constant with exchange hold.
typedef enum ItmBondVariables {
    ITM_VARIABLES_VELOCITY_FORCE,     // the whole force of the port
    ITM_VARIABLES_VELOCITY_PRESSURE,  // its pressure part; friction and dampers use the mechanism's own rate   [cranes]
    ITM_VARIABLES_COUNT
} ItmBondVariables;

// Order of the subsystems with exchange hold.
typedef enum ItmScheme {
    ITM_SCHEME_JACOBI,        // all start from the values of the communication point
    ITM_SCHEME_GAUSS_SEIDEL,  // subsystems first; mechanisms then use the new force
    ITM_SCHEME_COUNT
} ItmScheme;

// Coupling at one bond or frame bond.
typedef struct ItmBondOptions {
    ItmCoupling coupling;
    ItmExchange exchange;
    ItmBondVariables variables;
} ItmBondOptions;

// Options of the whole system.
typedef struct ItmCosimOptions {
    double macro_step;  // H, s; a multiple of every micro step
    ItmScheme scheme;
    int nthread;  // threads, 1 to 256, that step parts, or share the contacts of a mechanism that steps alone. The
                  // results do not depend on it
    bool is_monolithic;  // data are exchanged every smallest micro step, with coupling rim and exchange impulse
    ItmBounds bounds;    // a run outside them finishes with doubts, or breaks down
    ItmFlexibleInterface
        flexible_interface;  // flexible bodies in interface models; other than implicit: only frame bonds with exchange hold
    int contact_renewals;  // largest number of times that an interface model is renewed within a macro step, where the
                           // geometry of its contacts changes; 0: never
} ItmCosimOptions;

// Defaults: 10 ms, Jacobi, one thread, default bounds.
ITM_API ItmCosimOptions itm_default_cosim_options(void);
// Defaults: rim, impulse, velocity-force.
ITM_API ItmBondOptions itm_default_bond_options(void);
// Name as in model files: "zoh", "linear", "quadratic", "rim", "rim-nonsmooth" or "monolithic"; NULL for any other number.
ITM_API const char* itm_cosim_coupling_name(ItmCoupling coupling);
// Whether a coupling uses the reduced interface model.
ITM_API bool itm_cosim_is_rim(ItmCoupling coupling);
// Name as in model files: "impulse" or "hold"; NULL for any other number.
ITM_API const char* itm_cosim_exchange_name(ItmExchange exchange);
// Name as in model files: "velocity-force" or "velocity-pressure"; NULL for any other number.
ITM_API const char* itm_cosim_bond_variables_name(ItmBondVariables variables);
// Name as in model files: "jacobi" or "gauss-seidel"; NULL for any other number.
ITM_API const char* itm_cosim_scheme_name(ItmScheme scheme);
// Name as in model files: "implicit", "frozen" or "effective"; NULL for any other number.
ITM_API const char* itm_cosim_flexible_interface_name(ItmFlexibleInterface model);

// ---------------------------------------------------------------------------- mechanisms and subsystems

// A subsystem as a table of functions, modelled on FMI 3.0 co-simulation. The table does not change; its names and arrays must
// live as long as the system. The system may call functions of different subsystems from different threads at the same time,
// but never two functions of one subsystem.
typedef struct ItmSubsystem {
    void* self;  // first argument of every function
    int nport;   // power ports: length and rate in, force out (> 0 lengthens); or angle, rate, torque
    const char* const* port_names;  // (nport)
    const bool* port_is_rotary;     // (nport); NULL: each port takes the kind of its bond
    int ninput;
    const char* const* input_names;  // (ninput)
    int noutput;
    const ItmOutputInfo* outputs;  // (noutput)
    bool is_sampled;               // outputs depend directly on the inputs at the start of a step (a controller);
                                   // otherwise outputs are those at its end and have no direct feedthrough
    bool is_second_order;          // uses w_end: its interface model is integrated with Heun's rule

    // Set lengths (m) and rates (m/s) of the ports. w_end: rates at the end of the next step, linear in between; NULL: constant
    // rates.
    void (*set_motion)(void* self, const double* s, const double* w, const double* w_end);
    // Forces of the ports (N) at the current state and motion.
    void (*get_forces)(void* self, double* force);
    // Part of a port's force that depends on s and w only, not on the state: friction, dampers. May be called while another
    // thread steps the subsystem. NULL: none; velocity-pressure is then refused.
    double (*get_passive_force)(void* self, int port, double s, double w);
    // Length or angle of a port at the start, given by its actuator before the first reset. NULL: not needed.
    void (*set_start)(void* self, int port, double s);
    // Smallest and largest length of a port, m; limits of the actuator that its bond connects. NULL: no limits.
    void (*get_stroke)(void* self, int port, double* least, double* most);
    // Set all inputs. u (ninput)
    void (*set_inputs)(void* self, const double* u);
    // Current outputs. y (noutput)
    void (*get_outputs)(void* self, double* y);
    // Step from t to t + h. h = 0: compute outputs only. On failure, error->message gives the reason and error->field the first
    // signal that failed.
    ItmStatus (*do_step)(void* self, double t, double h, ItmError* error);
    // Back to the initial state.
    void (*reset)(void* self);

    // The whole state: either plain memory that is copied, or (memory NULL) three functions.
    void* memory;
    size_t memory_size;
    size_t (*get_state_size)(void* self);
    void (*save)(void* self, void* bytes);
    void (*restore)(void* self, const void* bytes);

    // Continuous states and their nominal values, which itm_cosim_compute_radius perturbs. get_states NULL: none, or no access;
    // itm_cosim_get_unlinearised then returns the subsystem's name.
    int nstate;
    const double* nominal;  // (nstate), NULL: 0.1 each
    void (*get_states)(void* self, double* x);
    void (*set_states)(void* self, const double* x);
    double repeat;  // period of its samples, s; 0: its step

    // Start values of the inputs, which they have until a wire or a call sets them. (ninput), NULL: zeros
    const double* input_start;
    // The state cannot be saved: get_state_size is 0. A step that fails then cannot be taken back, and itm_cosim_save,
    // itm_cosim_compute_radius and a static start are refused.
    bool is_unsaved;
    // A saved state is of use to this instance only (it holds handles): checkpoint files are refused.
    bool is_state_local;
    // After a step failed and `restore` was called: whether the subsystem failed and runs again from the restored state. The
    // step is then repeated once. NULL: no.
    bool (*is_recovered)(void* self);
    // Messages of the subsystem so far, one per line; *nleft_out: bytes that were not kept. NULL: none.
    const char* (*get_log)(void* self, size_t* nleft_out);
    // Micro steps against an interface model in another process; used by the library's own subsystems. NULL: none.
    ItmStatus (*run)(void* self, ItmMicroSteps* steps, ItmError* error);

    void (*destroy)(void* self);  // may be NULL
} ItmSubsystem;

// Names of mechanisms and subsystems are unique. Models, circuits and controls must outlive the system. The id (may be NULL)
// counts from 0 in the order of the calls, separately for mechanisms and subsystems.

// Create an empty builder.
ITM_API ItmStatus itm_cosim_builder_create(ItmCosimBuilder** builder, ItmError* error);
// Destroy a builder and the subsystems that no system has taken over; b may be NULL.
ITM_API void itm_cosim_builder_destroy(ItmCosimBuilder* b);

// Add a mechanism. step NULL: default step options. H must be a multiple of step->step; with coupling rim the mechanism takes
// one step of length H. step->step 0: the macro step.
ITM_API ItmStatus itm_cosim_builder_add_mechanism(ItmCosimBuilder* b, const char* name, const ItmModel* m,
                                                  const ItmStepOptions* step, int* id, ItmError* error);
// Add a hydraulic circuit with micro steps of length `step`, s. options NULL: RK4 with energy balance.
ITM_API ItmStatus itm_cosim_builder_add_circuit(ItmCosimBuilder* b, const char* name, const ItmCircuit* c,
                                                const ItmHydraulicOptions* options, double step, int* id,
                                                ItmError* error);
// Add a controller that samples every `step` seconds; 0: the macro step. Each of its inputs is wired to the output of the same
// name, see itm_cosim_builder_add_wire.
ITM_API ItmStatus itm_cosim_builder_add_control(ItmCosimBuilder* b, const char* name, const ItmControl* c, double step,
                                                int* id, ItmError* error);
// Add electric drives and winches with micro steps of length `step`, s; 0: the macro step. Inputs have the names of the drives and
// add to their commands.
ITM_API ItmStatus itm_cosim_builder_add_drives(ItmCosimBuilder* b, const char* name, const ItmDrives* drives,
                                               double step, int* id, ItmError* error);
// Add a foreign subsystem with micro steps of length `step`, s; 0: the macro step. The builder takes ownership and calls
// subsystem->destroy, also if this call fails.
ITM_API ItmStatus itm_cosim_builder_add_subsystem(ItmCosimBuilder* b, const char* name, const ItmSubsystem* subsystem,
                                                  double step, int* id, ItmError* error);

// Add a bond between an actuator ("cyl1") of a mechanism and a port of a subsystem. options NULL: defaults. The bond has the
// name of the actuator; with several mechanisms "mechanism-actuator".
ITM_API ItmStatus itm_cosim_builder_add_bond(ItmCosimBuilder* b, int mechanism, const char* actuator, int subsystem,
                                             const char* port, const ItmBondOptions* options, ItmError* error);
// An interface: a frame on a body of a mechanism, with up to six velocities in world axes.
typedef struct ItmInterfaceDef {
    const char* name;
    const char* body;
    ItmVec3 point;        // in the body frame, m
    unsigned directions;  // bits 1 << ITM_TX ... 1 << ITM_RZ: velocity of the point, angular velocity of the body
} ItmInterfaceDef;
// Default: all six directions at the origin of the body frame.
ITM_API ItmInterfaceDef itm_default_interface_def(void);
// Add an interface. Ids count over all mechanisms. An interface without a bond can still be inspected (itm_cosim_inspect).
ITM_API ItmStatus itm_cosim_builder_add_interface(ItmCosimBuilder* b, int mechanism, const ItmInterfaceDef* def,
                                                  int* id, ItmError* error);
// Join the frames of two interfaces of different mechanisms. Both have the same directions, and their points coincide at the
// start; points then stay together, and relative orientations stay as they are at the start. Couplings: rim, rim-nonsmooth.
// Exchange hold: each mechanism takes its own steps with the interface models of the others, as in the papers. The name is
// "mechanism-interface" of interface_a.
ITM_API ItmStatus itm_cosim_builder_add_frame_bond(ItmCosimBuilder* b, int interface_a, int interface_b,
                                                   const ItmBondOptions* options, ItmError* error);
// Add a wire by full names, from an output "control.kappa1" or "arm.cyl1.rate". It leads to an input "hydraulics.valve1", to
// an actuator "arm.motor" without a bond, or to an external signal of a mechanism (ITM_SIGNAL_EXTERNAL), which drives motions,
// loads or servos; a smooth external signal reaches the new value at the next communication point. Outputs of mechanisms are
// those of the last communication point, except length, rate and force of a bond, which are updated every micro step.
ITM_API ItmStatus itm_cosim_builder_add_wire(ItmCosimBuilder* b, const char* from, const char* to, ItmError* error);
// The same with a linear transformation: value at the input = factor * value of the output + offset.
ITM_API ItmStatus itm_cosim_builder_add_scaled_wire(ItmCosimBuilder* b, const char* from, const char* to, double factor,
                                                    double offset, ItmError* error);

// Add a second name for an output of the system: "arm.theta1" for "arm.theta1.angle". itm_cosim_build checks it.
ITM_API ItmStatus itm_cosim_builder_add_alias(ItmCosimBuilder* b, const char* alias, const char* output,
                                              ItmError* error);

// Create the running system in its initial state. It takes over the foreign subsystems of the builder.
// ITM_ERR_INPUT: H is not a multiple of h, a name is unknown, a port has two bonds, an input has two wires, wires form an
// algebraic loop, a length is outside its stroke, or steps at one interface model have no common multiple; error->field is the
// name of the subsystem, bond, wire or option. ITM_ERR_UNSUPPORTED: the coupling does not support this system.
ITM_API ItmStatus itm_cosim_build(ItmCosim** cosim, ItmCosimBuilder* b, const ItmCosimOptions* options,
                                  ItmError* error);
// Destroy a system and its running instances; cosim may be NULL.
ITM_API void itm_cosim_destroy(ItmCosim* cosim);

// ---------------------------------------------------------------------------- foreign mechanisms

// Source of the interface model of a foreign mechanism.
typedef enum ItmMobility {
    ITM_MOBILITY_AUTO,         // the first of the following that the mechanism offers
    ITM_MOBILITY_PORT,         // the mechanism returns W and a0 itself (begin, commit)
    ITM_MOBILITY_DERIVATIVES,  // derivatives of its accelerations with respect to forces
    ITM_MOBILITY_PROBING,      // trial steps from the saved state: one, and one per port
    ITM_MOBILITY_IDENTIFIED,   // least squares over past forces and rates: unproven, for mechanisms without a state
    ITM_MOBILITY_COUNT
} ItmMobility;

// A mechanism that another program simulates, as a table of functions: it takes forces at its power ports and returns positions
// and rates. Positions are lengths or angles, forces are forces or torques, and a positive force increases the position. Names
// and arrays must live as long as the system. Rules for threads as for ItmSubsystem.
typedef struct ItmForeignMechanism {
    void* self;                      // first argument of every function
    int nport;                       // power ports, at least one: force in, position and rate out
    const char* const* port_names;   // (nport)
    int ninput;                      // further inputs, constant over a macro step
    const char* const* input_names;  // (ninput)
    int noutput;
    const ItmOutputInfo* outputs;  // (noutput)
    double step;                   // its steps are multiples of this, s; 0: any step

    // Positions s (m, rad) and rates w (m/s, rad/s) of the ports now. (nport)
    ItmStatus (*get_motion)(void* self, double* s, double* w, ItmError* error);
    // Step from t to t + h with constant forces. force (nport), N, N m
    ItmStatus (*do_step)(void* self, double t, double h, const double* force, ItmError* error);
    // Set all inputs, u (ninput); read all outputs, y (noutput). NULL: none.
    ItmStatus (*set_inputs)(void* self, const double* u, ItmError* error);
    ItmStatus (*get_outputs)(void* self, double* y, ItmError* error);
    // Back to the initial state.
    ItmStatus (*reset)(void* self, ItmError* error);
    // Start anew with another `step` h, s; called before reset: the macro step for the interface model port, otherwise a step that divides
    // it, and half of it where there is an interface model. The size of the state stays. NULL: the step does not change.
    ItmStatus (*set_step)(void* self, double h, ItmError* error);

    // The whole state as bytes of constant size. NULL: it cannot be saved. Probing and checkpoints need it; without it a step
    // that fails leaves the mechanism after the step.
    size_t (*get_state_size)(void* self);
    ItmStatus (*save)(void* self, void* bytes);
    ItmStatus (*restore)(void* self, const void* bytes);
    bool
        is_state_local;  // a saved state is of use to this instance only (it holds handles): checkpoint files are refused

    // Derivatives W (nport x nport) of the accelerations of the ports with respect to the forces, and these accelerations dw_dt
    // (nport) at `force` (nport). NULL: not offered.
    ItmStatus (*get_derivatives)(void* self, const double* force, double* W, double* dw_dt, ItmError* error);

    // Interface model port (docs/reference/rim-port.md). begin NULL: not offered.
    // Begin a macro step H from t, in K micro steps if they are equal; use_heun: the positions follow the mean of the rates at both
    // ends of a micro step, otherwise the last one. Returns the mobility W (nport x nport), symmetric and positive
    // semi-definite, and the acceleration a0 (nport) without forces.
    ItmStatus (*begin)(void* self, double t, double H, int K, bool use_heun, double* W, double* a0, ItmError* error);
    // After begin: whether W and a0 are all of the model, because no contact is in reach. predict and advance are then not called, and
    // commit takes the impulses. NULL: never with advance, always without.
    bool (*is_smooth)(void* self);
    // After begin: contact rows of the model in *size bytes, as Interim of the same build writes them (exported FMUs). Micro steps are
    // then taken by the caller, which puts their results in the place of the rows before commit. *size 0: by predict and advance.
    // NULL: not offered.
    void* (*get_rows)(void* self, size_t* size);
    // Rates at the end of a micro step h at forces lambda (nport); nothing moves. NULL: the model is smooth, W and a0 are all.
    ItmStatus (*predict)(void* self, double h, const double* lambda, double* w_end, ItmError* error);
    // One micro step of the model with its contacts: positions s and rates w at its end. NULL as predict.
    ItmStatus (*advance)(void* self, double h, const double* lambda, double* s, double* w, ItmError* error);
    // Take the macro step with the impulses P0 = int lambda dt and moments P1 = (1/H) int (H - tau) lambda dtau of the ports (nport),
    // theta = (1/H^2) int (H - tau) dtau by the rule of the micro steps. With advance, they are those of its micro steps.
    ItmStatus (*commit)(void* self, const double* P0, const double* P1, double theta, ItmError* error);
    // Forget the macro step that has begun.
    void (*cancel)(void* self);

    void (*destroy)(void* self);  // may be NULL
} ItmForeignMechanism;

// Options of a foreign mechanism.
typedef struct ItmForeignOptions {
    ItmMobility mobility;
    int probe_interval;  // macro steps between two probes of W, at least 1; a step that the model misses probes sooner
    double amplitude;    // probing force, N or N m; 0: chosen from the response
} ItmForeignOptions;
// Defaults: auto, every step, amplitude chosen.
ITM_API ItmForeignOptions itm_default_foreign_options(void);
// Name as in model files: "auto", "port", "derivatives", "probing" or "identified"; NULL for any other number.
ITM_API const char* itm_cosim_mobility_name(ItmMobility mobility);

// Add a foreign mechanism. Its ports take bonds as the actuators of a mechanism do; it has no bodies, contacts or frames that the
// system can reach. options NULL: defaults. The builder takes ownership and calls mechanism->destroy, also if this call fails.
ITM_API ItmStatus itm_cosim_builder_add_foreign_mechanism(ItmCosimBuilder* b, const char* name,
                                                          const ItmForeignMechanism* mechanism,
                                                          const ItmForeignOptions* options, int* id, ItmError* error);

// Source and quality of the interface model of a foreign mechanism so far.
typedef struct ItmForeignNotes {
    ItmMobility source;   // in use
    long probes;          // trial macro steps so far
    double asymmetry;     // largest |W - W'| relative to |W|; zero for a mechanism whose forces and rates are conjugate
    double nonlinearity;  // relative change of W when the probing forces are doubled, at the first probe
    double error;         // change of rates that the model missed in the last macro step, relative
} ItmForeignNotes;
// Notes on a foreign mechanism; source ITM_MOBILITY_AUTO for a mechanism that is not foreign.
ITM_API ItmForeignNotes itm_cosim_get_foreign_notes(const ItmCosim* cosim, int mechanism);

// ---------------------------------------------------------------------------- static start

// A circuit that starts in static equilibrium.
typedef struct ItmCosimStart {
    int subsystem;
    const bool* is_free;  // inputs that the solver may change (ninput), or NULL: none
    const double* force;  // force of each cylinder without a bond (ncylinder), N; NAN: any; or NULL
} ItmCosimStart;

// Deviation of a system from static equilibrium.
typedef struct ItmCosimResidual {
    double acceleration;  // of the fastest body after one step, m/s^2
    int mechanism, body;  // of this body, or ITM_NONE
    double flow;          // largest net flow into a volume of a circuit, m^3/s
    bool is_broken;       // the step failed
} ItmCosimResidual;

// Solve for static equilibrium: forces that hold all mechanisms in place (contacts included) and, for the circuits in `starts`
// (nstart), pressures and free inputs that give these forces without flow. The result becomes the initial state, to which
// itm_cosim_reset returns. rest (may be NULL) receives the remaining deviation. ITM_ERR_DIVERGED: no equilibrium was found; the
// initial state is unchanged.
ITM_API ItmStatus itm_cosim_solve_static(ItmCosim* cosim, const ItmCosimStart* starts, int nstart,
                                         ItmCosimResidual* rest);
// Measure the deviation from static equilibrium by one trial step; the state is restored.
ITM_API ItmCosimResidual itm_cosim_check_static(ItmCosim* cosim);

// ---------------------------------------------------------------------------- running

// Set all mechanisms and subsystems to their initial states, time 0.
ITM_API ItmStatus itm_cosim_reset(ItmCosim* cosim);
// Take one macro step (monolithic: one micro step). On failure (ITM_ERR_NOT_FINITE, ITM_ERR_DIVERGED) the state is unchanged;
// itm_cosim_get_error returns the reason, with the first signal that failed in its field. ITM_ERR_DIVERGED is also returned if
// energy grows without a source (ItmBounds.breakdown).
ITM_API ItmStatus itm_cosim_step(ItmCosim* cosim);
// The macro step of a mechanism whose partner is outside of the system, for instance behind an interface model port of an FMU: the
// caller takes the micro steps. All bonds of the mechanism end at one subsystem, which stands for the partner and is not
// stepped. Order of calls: begin; then predict and advance as often as needed, or none; then commit or cancel.
// Arrays have one entry per bond of the mechanism, in the order of the bonds.

// Begin a macro step in K micro steps if they are equal; use_heun: positions follow the mean of the rates at both ends of a micro
// step, otherwise the last one. Returns W (n x n) and a0 (n) of w+ = w + h (a0 + W lambda); both may be NULL. K 0: there will be no
// micro steps, unless it is called again with K > 0. Until commit, itm_cosim_save saves the state before the step.
// ITM_ERR_UNSUPPORTED: the mechanism has other partners, or its coupling is not rim with exchange impulse.
ITM_API ItmStatus itm_cosim_begin_step(ItmCosim* cosim, int mechanism, int K, bool use_heun, double* W, double* a0);
// Contact rows, joint limits and dry friction of the interface model of the step that has begun: those in reach, each solved in every
// micro step. 0: W and a0 are the whole model.
ITM_API int itm_cosim_count_step_contacts(const ItmCosim* cosim);
// Rates w_end at the end of a micro step h at forces lambda, contacts included; nothing moves.
ITM_API ItmStatus itm_cosim_predict_step(ItmCosim* cosim, double h, const double* lambda, double* w_end);
// One micro step h at forces lambda, with use_heun the mean of those at its ends. Returns positions s and rates w at its end.
ITM_API ItmStatus itm_cosim_advance_step(ItmCosim* cosim, double h, const double* lambda, double* s, double* w);
// End the macro step: the mechanism takes over the impulses of the micro steps. Without micro steps it takes over the impulses P0,
// moments P1 and theta that are given (see ItmForeignMechanism.commit); with micro steps these are not used and may be NULL.
ITM_API ItmStatus itm_cosim_commit_step(ItmCosim* cosim, const double* P0, const double* P1, double theta);
// Return to the state before begin.
ITM_API void itm_cosim_cancel_step(ItmCosim* cosim);

// Compute the forces of all ports at the present motion of the mechanisms, between steps; for foreign mechanisms whose motion has been
// changed from elsewhere.
ITM_API ItmStatus itm_cosim_refresh_ports(ItmCosim* cosim);

// For a single mechanism with stepper variable or adaptive: take one step of the length that the stepper chooses.
// itm_data_get_time then returns the time; itm_cosim_get_time is not updated. Any other system: the same as itm_cosim_step.
ITM_API ItmStatus itm_cosim_step_free(ItmCosim* cosim);
// Error of the last call that failed.
ITM_API const ItmError* itm_cosim_get_error(const ItmCosim* cosim);

// Time, s: number of steps times the step length, rounded once.
ITM_API double itm_cosim_get_time(const ItmCosim* cosim);
// Length of a step, s: H, or the smallest micro step if monolithic.
ITM_API double itm_cosim_get_step(const ItmCosim* cosim);

// Running instances, for reading and for setting inputs. Do not step them directly.

// Number of mechanisms.
ITM_API int itm_cosim_get_mechanism_count(const ItmCosim* cosim);
// Number of subsystems, controllers and circuits included.
ITM_API int itm_cosim_get_subsystem_count(const ItmCosim* cosim);
// Name of a mechanism; NULL if out of range.
ITM_API const char* itm_cosim_get_mechanism_name(const ItmCosim* cosim, int mechanism);
// Name of a subsystem; NULL if out of range.
ITM_API const char* itm_cosim_get_subsystem_name(const ItmCosim* cosim, int subsystem);
// Messages of a subsystem so far, one per line, "" if it has none; *nleft_out (may be NULL): bytes that were not kept. Valid until
// the next step.
ITM_API const char* itm_cosim_get_log(const ItmCosim* cosim, int subsystem, size_t* nleft_out);
// Model of a mechanism; NULL if out of range.
ITM_API const ItmModel* itm_cosim_get_model(const ItmCosim* cosim, int mechanism);
// Data of a mechanism; NULL if out of range.
ITM_API ItmData* itm_cosim_get_data(ItmCosim* cosim, int mechanism);
// Hydraulics of a circuit; NULL if out of range or not a circuit.
ITM_API ItmHydraulics* itm_cosim_get_hydraulics(ItmCosim* cosim, int subsystem);

// An input of the whole system, by its full name: an input of a subsystem ("hydraulics.valve1"), an actuator without a bond
// ("arm.motor") or an external signal of a mechanism ("arm.drive").
typedef struct ItmInputInfo {
    const char* name;          // belongs to the system; NULL: there is no such input
    int subsystem, mechanism;  // one of them, the other ITM_NONE
    int index;                 // input of the subsystem, actuator or signal of the mechanism
    bool is_signal;            // of a mechanism: an external signal, otherwise an actuator
    bool is_wired;             // a wire sets it at every step
} ItmInputInfo;
// Number of inputs.
ITM_API int itm_cosim_get_input_count(const ItmCosim* cosim);
// An input, 0 <= input < count; name NULL if out of range.
ITM_API ItmInputInfo itm_cosim_get_input_info(const ItmCosim* cosim, int input);
// Index of an input by name; ITM_NONE if there is none.
ITM_API int itm_cosim_find_input(const ItmCosim* cosim, const char* name);
// Current value of an input; NAN if there is no such input.
ITM_API double itm_cosim_get_input_value(const ItmCosim* cosim, int input);
// Set an input. It keeps the value until the next call; a smooth external signal reaches it at the next communication point.
// ITM_ERR_ARGUMENT: no such input, not finite, or set by a wire.
ITM_API ItmStatus itm_cosim_set_input_value(ItmCosim* cosim, int input, double value);

// State of a bond at the last communication point.
typedef struct ItmBondState {
    double length;   // m
    double rate;     // m/s
    double force;    // of the port at the end of the last micro step, N; > 0 lengthens
    double impulse;  // over the last macro step, N s
    double
        residual_power;  // force on the mechanism times its rate, minus force times rate of the port, W      [cranes, eq. 21]
    double
        residual_energy;  // its integral by the trapezoidal rule, J                                [cranes, eqs. 22, 24]
    double coupling_error;  // coupling energy error: work done on the mechanism minus work done by the port, so far, J
    double throughput;      // energy transferred in either direction so far, J
    double coupling_error_largest;  // largest magnitude of the coupling energy error so far, J
    bool is_rotary;  // the length is an angle (rad), the force a torque (N m), the impulse angular (N m s)
} ItmBondState;
// Number of bonds.
ITM_API int itm_cosim_get_bond_count(const ItmCosim* cosim);
// Name of a bond; NULL if out of range.
ITM_API const char* itm_cosim_get_bond_name(const ItmCosim* cosim, int bond);
// State of a bond, 0 <= bond < count.
ITM_API ItmBondState itm_cosim_get_bond(const ItmCosim* cosim, int bond);
// Lever of a line actuator about the revolute joint between its two bodies: the arm of its force, d length / d angle, now and at
// most, where the actuator is at right angles to the shorter of its two sides.
typedef struct ItmLeverView {
    const char* joint;  // NULL: the actuator has no such joint
    double arm, most;   // m
} ItmLeverView;
// Lever of a bond in the present state. An arm far below `most` means that the actuator is near its dead centre.
ITM_API ItmLeverView itm_cosim_get_lever(ItmCosim* cosim, int bond);
// Ends of a frame bond, each an interface.
typedef struct ItmFrameBondInfo {
    struct {
        const char* mechanism;
        const char* interface;
        const char* body;
    } ends[2];
    unsigned directions;  // that move together, bits 1 << ITM_TX ...
} ItmFrameBondInfo;
// Ends of a frame bond, 0 <= bond < count.
ITM_API ItmFrameBondInfo itm_cosim_get_frame_bond_info(const ItmCosim* cosim, int bond);

// Mechanisms connected by frame bonds.
typedef struct ItmAssemblyInfo {
    int nmechanism;
    const int* mechanisms;  // their numbers                    (nmechanism)
    int nrow;               // rows of the frame bonds
    int nredundant;         // redundant ones in the last step; before the first step, of itm_cosim_check_static
} ItmAssemblyInfo;
// Number of assemblies.
ITM_API int itm_assembly_get_count(const ItmCosim* cosim);
// An assembly, 0 <= assembly < count.
ITM_API ItmAssemblyInfo itm_assembly_get_info(const ItmCosim* cosim, int assembly);

// State of a frame bond at the last communication point.
typedef struct ItmFrameBondState {
    double impulse[6];  // on the first mechanism over the last macro step, by direction, world axes; N s, N m s
    double drift;       // distance between the two points along the directions of the bond, m
    double turn;        // angle between the two frames about them, rad
    double slip;        // relative speed of the two points, m/s
    double largest_drift, drift_time;  // largest drift at a communication point so far, m, and its time, s
    double largest_turn, turn_time;    // the same for the angle, rad, s
} ItmFrameBondState;
// Number of frame bonds.
ITM_API int itm_cosim_get_frame_bond_count(const ItmCosim* cosim);
// Name of a frame bond; NULL if out of range.
ITM_API const char* itm_cosim_get_frame_bond_name(const ItmCosim* cosim, int bond);
// State of a frame bond, 0 <= bond < count.
ITM_API ItmFrameBondState itm_cosim_get_frame_bond(const ItmCosim* cosim, int bond);

// Events in the interface model of a mechanism so far.
typedef struct ItmRimNotes {
    long switches;     // contact, limit and friction rows that changed within macro steps
    long rank_losses;  // macro steps in which joined frames were immobile along a direction on both sides
    long renewals;     // interface models made within macro steps, where the geometry of contacts changed
} ItmRimNotes;
// Events in the interface model of a mechanism.
ITM_API ItmRimNotes itm_cosim_get_rim_notes(const ItmCosim* cosim, int mechanism);

// Mobility W of an interface, its inverse and its conditioning, at the current state.
typedef struct ItmInterfaceView {
    const char* mechanism;
    const char* name;           // of the interface, or of the actuator
    int n;                      // rows
    ItmDirection direction[6];  // of each row; actuators: ITM_TX
    double W[36];               // row-major (n x n): velocities for unit impulses
    double M_eff[36];           // its inverse, the effective mass; pseudo-inverse where W is singular
    double value[6];            // eigenvalues of W, ascending
    double vector[36];          // and eigenvectors by columns
    int rank;
    double condition;        // of W and of M_eff; INFINITY where W is singular
    double acceleration[6];  // of the rows without interface forces, m/s^2, rad/s^2
    double velocity[6];      // m/s, rad/s
} ItmInterfaceView;
// Number of interfaces: frames first, then line actuators with a bond.
ITM_API int itm_cosim_get_interface_count(const ItmCosim* cosim);
// Mechanism of an interface; ITM_NONE: no such interface.
ITM_API int itm_cosim_get_interface_mechanism(const ItmCosim* cosim, int interface);
// Compute the view of an interface. Active rows (closed contacts, sticking friction, joint limits) are eliminated;
// itm_cosim_get_active_row returns their names. The system can be read afterwards, but must be reset or restored before the
// next step. ITM_ERR_ARGUMENT: no such interface.
ITM_API ItmStatus itm_cosim_inspect(ItmCosim* cosim, int interface, ItmInterfaceView* view);
// Name of an active row of the mechanism that was inspected last, "box ground normal"; NULL beyond the last. Valid until the
// next call.
ITM_API const char* itm_cosim_get_active_row(ItmCosim* cosim, int row);

// Mobility W of all ports of a foreign mechanism together, at the current state. Arrays are valid until the next call with the system.
typedef struct ItmForeignView {
    const char* mechanism;
    int n;                          // ports
    const char* const* names;       // (n)
    const double* W;                // row-major (n x n): rates for unit impulses
    const double* acceleration;     // without forces of the ports (n), m/s^2, rad/s^2
    const double *position, *rate;  // (n), m, m/s, rad, rad/s
    int rank;
    double condition;       // of W; INFINITY where it is singular
    ItmForeignNotes notes;  // source of W, and checks of probing
} ItmForeignView;
// Compute the view of a foreign mechanism, as itm_cosim_inspect. ITM_ERR_ARGUMENT: the mechanism is not foreign.
ITM_API ItmStatus itm_cosim_inspect_foreign(ItmCosim* cosim, int mechanism, ItmForeignView* view);

// Number of quantities that have left their bounds so far, relative to the energies so far. Those of the whole system come
// first, then those of bonds, interfaces and mechanisms.
ITM_API int itm_cosim_get_doubt_count(const ItmCosim* cosim);
// One of these quantities, 0 <= doubt < count.
ITM_API ItmDoubt itm_cosim_get_doubt(const ItmCosim* cosim, int doubt);
// Kind of a message of a running system.
typedef enum ItmMessageKind {
    ITM_MESSAGE_DOUBT,     // a quantity has left its bounds
    ITM_MESSAGE_RECOVERY,  // a subsystem failed and was restarted; the macro step is repeated
    ITM_MESSAGE_FAILURE    // a step failed
} ItmMessageKind;
// Message of a running system; the texts are valid during the call of the handler.
typedef struct ItmMessage {
    ItmMessageKind kind;
    double time;        // end of the macro step (DOUBT), or its start, s
    const char* where;  // mechanism, subsystem, bond or interface; "" for the whole machine
    const char* text;   // one sentence
} ItmMessage;
typedef void ItmMessageHandler(void* user, const ItmMessage* message);
// Set the function that receives messages while the system steps; NULL: none, the default. It runs in the thread that calls
// itm_cosim_step and must not change the system.
ITM_API void itm_cosim_set_message_handler(ItmCosim* cosim, ItmMessageHandler* handler, void* user);

// Reference values of the bounds, and the energy error so far.
typedef struct ItmCosimScale {
    double energy;        // energy of the machine so far, J (see verdict.h)
    double energy_error;  // largest error of the energy balance, coupling energy errors included, J
    double size;          // size of the machine, m; 0 before the first step
} ItmCosimScale;
// Reference values of the bounds, and the energy error so far.
ITM_API ItmCosimScale itm_cosim_get_scale(const ItmCosim* cosim);

// Processor time since the start or the last reset, s.
typedef struct ItmCosimCost {
    double mechanism;   // evaluation, contacts, step
    double rim;         // extracting and joining interface models
    double subsystems;  // micro steps with interface models or extrapolated rates
} ItmCosimCost;
// Processor time since the start or the last reset.
ITM_API ItmCosimCost itm_cosim_get_cost(const ItmCosim* cosim);

// Size of the saved state, bytes. A restored simulation continues bit for bit, also in another instance of the same system.
ITM_API size_t itm_cosim_get_state_size(const ItmCosim* cosim);
// Write the whole coupled state to bytes (size).
ITM_API ItmStatus itm_cosim_save(ItmCosim* cosim, void* bytes, size_t size);
// Restore the whole coupled state from bytes (size).
ITM_API ItmStatus itm_cosim_restore(ItmCosim* cosim, const void* bytes, size_t size);

// Spectral radius of the macro step, linearised at the current state plus two steps (extrapolation needs past values). Above 1
// a small disturbance grows. The linearisation covers `nstep` steps (1, or more to average over steps that differ), extended to
// a whole sampling period if controllers sample less often than every step; the radius is per step. It is a local measure: it
// may differ at other positions, speeds and contacts. Independent subsystems are perturbed together; the radius is the largest
// of all. The state is restored. ITM_ERR_UNSUPPORTED: a subsystem has too many states, or samples have no common period.
// nstep: 1 to 100000. Any other status: out of memory, or a trial step failed.
ITM_API ItmStatus itm_cosim_compute_radius(ItmCosim* cosim, int nstep, double* radius);
// Called before every trial step; returning true ends the computation with ITM_ERR_CAPACITY.
typedef struct ItmAdviceWatch {
    bool (*is_over)(void* context);  // NULL: never
    void* context;
} ItmAdviceWatch;
// The same as itm_cosim_compute_radius, with a watch.
ITM_API ItmStatus itm_advice_compute_radius(ItmCosim* cosim, int nstep, ItmAdviceWatch watch, double* radius);
// Reset a system and run it for `nstep` macro steps; returns the status of a step that fails. change receives the time at which the
// number of bounded rows first changes, s; INFINITY: it does not.
ITM_API ItmStatus itm_advice_run(ItmCosim* cosim, int nstep, ItmAdviceWatch watch, double* change);
// Approximate number of operations per component that itm_cosim_compute_radius takes with a macro step H, from the sizes of the last
// step. ITM_ERR_MEMORY; with any other error the work is 0.
ITM_API ItmStatus itm_advice_estimate_work(ItmCosim* cosim, double H, double* work);
// Change the macro step of a system and reset it, as if it had been built with H. Allocates nothing. On failure (the steps of
// subsystems do not divide H) the system has no valid step until the next call that succeeds.
ITM_API ItmStatus itm_cosim_set_macro_step(ItmCosim* cosim, double H);
// Least time that is an integer multiple of both steps, s; a step of 0 divides everything. INFINITY: none up to a thousand steps.
ITM_API double itm_cosim_find_common_multiple(double a, double b);
// Name of the i-th subsystem whose states cannot be perturbed and are left out of the linearisation; NULL beyond the last.
ITM_API const char* itm_cosim_get_unlinearised(const ItmCosim* cosim, int i);

#define ITM_STATE_NAME_SIZE 160

// Step of the system and its outputs, linearised about the current state at time t:
//   x(t + H) - x1 = A (x - x0) + B (u - u0),   y(t) - y0 = C (x - x0) + D (u - u0)
// where x1 is the state that the step reaches from x0 with u0. x contains coordinates and velocities of all bodies, past values
// of wires and bonds, and states of subsystems that give access to them. Matrices are row-major.
typedef struct ItmLinear {
    int nstate, ninput, noutput;
    double step;  // H, s
    double* x;    // x0                                       (nstate)
    double* A;    //                                          (nstate x nstate)
    double* B;    //                                          (nstate x ninput)
    double* C;    //                                          (noutput x nstate)
    double* D;    //                                          (noutput x ninput)
    char (*names)
        [ITM_STATE_NAME_SIZE];  // of the states: "arm.boom.q0", "arm.boom.v0", "hydraulics.line.pressure"   (nstate)
} ItmLinear;
// Linearise by central differences over whole steps. inputs (ninput) and outputs (noutput) are indices of this system. The state
// is restored. It is a local measure, as itm_cosim_compute_radius. ITM_ERR_ARGUMENT: no such input or output, or an input that a
// wire sets. Any other status: out of memory, or a trial step failed. itm_cosim_get_error returns the reason.
ITM_API ItmStatus itm_linear_create(ItmLinear** linear, ItmCosim* cosim, const int* inputs, int ninput,
                                    const int* outputs, int noutput);
// Free a linearisation; NULL is allowed.
ITM_API void itm_linear_destroy(ItmLinear* linear);

// ---------------------------------------------------------------------------- outputs

// Outputs are what a run records: subsystem.element.quantity (element.quantity for a mechanism with an empty name),
// bond.name.quantity, rim.mechanism.quantity, and energy.account for the whole system.

// Number of outputs.
ITM_API int itm_cosim_get_output_count(const ItmCosim* cosim);
// Name, unit and description of an output, 0 <= output < count.
ITM_API ItmOutputInfo itm_cosim_get_output_info(const ItmCosim* cosim, int output);
// Index of an output by name or alias; ITM_NONE if there is none.
ITM_API int itm_cosim_find_output(const ItmCosim* cosim, const char* name);
// Compute all outputs of the current state, values (count). The state does not change.
ITM_API ItmStatus itm_cosim_compute_outputs(ItmCosim* cosim, double* values);

// ---------------------------------------------------------------------------- several processes

// Processes (ranks) on one or more machines can step one system together. Every rank builds the whole system from the same model;
// each steps the parts placed on it, and rank 0 has the results. Mechanisms send their interface models (mobility, free
// acceleration, lengths, rates) to the ranks of their partners once per macro step and receive impulses and moments. All sums have
// a fixed order: the number of ranks and the placement change no bit.
//
// Rank 0 calls itm_ranks_join and uses the system as any other; the other ranks call itm_ranks_join and itm_ranks_serve. The
// library has no network code: the caller gives it functions that carry messages.

// Messages between ranks. Messages from one rank to another arrive in the order in which they were sent.
typedef struct ItmTransport {
    void* self;       // first argument of the functions
    int rank, count;  // of this process, 0 <= rank < count; number of processes
    // Send `size` bytes; may return before they arrive, but not wait for the receiver to ask for them. Any status but ITM_OK: the
    // rank cannot be reached, with the reason in error.
    ItmStatus (*send)(void* self, int rank, const void* bytes, size_t size, ItmError* error);
    // Wait for the next message from a rank, at most `room` bytes; its length into size.
    ItmStatus (*receive)(void* self, int rank, void* bytes, size_t room, size_t* size, ItmError* error);
} ItmTransport;

// Rank of a mechanism or subsystem, by its name; taken modulo the number of ranks.
typedef struct ItmPlacement {
    const char* name;
    int rank;
} ItmPlacement;

// Choose the rank of every part: `places` (nplace, NULL: none) first, then the others so that a step takes the least time. Mechanisms and their
// partners are on different ranks only if that gains more than their messages take (message_time: wall time of one message, s).
// Parts that must be on one rank stay together: subsystems connected by wires or by one interface model, mechanisms connected by
// frames, foreign mechanisms and their partners. Parts whose state cannot be sent are on rank 0. ranks: of the mechanisms, then of
// the subsystems (nmechanism + nsubsystem). The costs are measured by a few macro steps of `trial`, a system of its own, which is
// of no use afterwards. ITM_ERR_INPUT: error->field is the name that cannot be placed.
ITM_API ItmStatus itm_ranks_choose(int* ranks, ItmCosim* trial, int count, double message_time,
                                   const ItmPlacement* places, int nplace, ItmError* error);
// Join the other ranks, before the first step. ranks: from itm_ranks_choose in rank 0, ignored elsewhere. All ranks call it with the
// same system. ITM_ERR_INPUT: they have different ones. ITM_ERR_IO: a rank cannot be reached.
ITM_API ItmStatus itm_ranks_join(ItmCosim* cosim, const ItmTransport* transport, const int* ranks, ItmError* error);
// Step the parts of this rank until rank 0 destroys its system. ITM_ERR_IO: rank 0 cannot be reached. Not for rank 0.
ITM_API ItmStatus itm_ranks_serve(ItmCosim* cosim, ItmError* error);

// Work and messages of this rank so far.
typedef struct ItmRanksInfo {
    int count;      // ranks, 1: one process
    int nown;       // mechanisms and subsystems on this rank
    long points;    // macro steps
    long messages;  // sent and received
    double bytes;   // in them
    double step;    // wall time of the macro steps, s
    double wait;    // of it, sending and waiting for messages, s
    double
        message;  // rank 0: least time of one message each way between it and all others, as long as those of a step, s
    bool is_lost;  // a rank could not be reached; the system is in the state of the last communication point
} ItmRanksInfo;
// Work and messages of this rank so far.
ITM_API ItmRanksInfo itm_ranks_get_info(const ItmCosim* cosim);
// Rank of a part: mechanisms first, then subsystems; ITM_NONE if out of range.
ITM_API int itm_ranks_get_rank(const ItmCosim* cosim, int part);

ITM_EXTERN_C_END

#endif
