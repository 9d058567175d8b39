// Co-simulation: mechanisms, hydraulic circuits, controllers and foreign simulators that meet every macro step H; nothing is
// iterated and nothing is stepped twice.
//
// A **mechanism** is a model of bodies with contact. A **subsystem** is anything else: it takes micro steps h between two
// communication points and is known by a table of functions. They are joined by
//   bonds   a line actuator of a mechanism is a power port of a subsystem (a cylinder): length and rate go one way, force
//           comes back. In between, the subsystem sees a reduced interface model (RIM) of the mechanism or predicted rates;
//   frame bonds   a frame on a body of one mechanism moves as a frame of another: one machine cut in two;
//   wires   an output of any part is an input of another: commands, measurements.
// A builder collects parts and joints, itm_cosim_build makes the running ItmCosim, which owns the running instances.
// docs/theory-cosim.md says what is solved, and what sets H.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_COSIM_H
#define INTERIM_COSIM_H

#include "interim/base.h"
#include "interim/control.h"
#include "interim/data.h"
#include "interim/hydraulics.h"
#include "interim/verdict.h"

ITM_EXTERN_C_BEGIN

typedef struct ItmCosimBuilder ItmCosimBuilder;  // definitions so far
typedef struct ItmCosim ItmCosim;                // a running system

// ---------------------------------------------------------------------------- choices

// What stands in for a mechanism between two communication points.
typedef enum ItmCoupling {
    ITM_COUPLING_ZOH,         // its rates of the last point, held
    ITM_COUPLING_LINEAR,      // its rates extrapolated from the last two points
    ITM_COUPLING_QUADRATIC,   // and from the last three
    ITM_COUPLING_RIM,         // its reduced interface model; at frames the smooth one: contacts that are closed stay so
    ITM_COUPLING_RIM_NONSMOOTH,  // the same with contacts that open, close, stick and slip inside the step, at frames too
    ITM_COUPLING_MONOLITHIC,  // the whole mechanism: all parts meet every micro step. For the whole system only
    ITM_COUPLING_COUNT
} ItmCoupling;

// What a mechanism is given for its macro step.
typedef enum ItmExchange {
    ITM_EXCHANGE_IMPULSE,  // impulse and first moment of the interface forces over this step; with coupling rim
    ITM_EXCHANGE_HOLD,     // the force of the last micro step, held (papers); always with predicted rates
    ITM_EXCHANGE_COUNT
} ItmExchange;

// What a held force is.
typedef enum ItmBondVariables {
    ITM_VARIABLES_VELOCITY_FORCE,     // the whole force of the port
    ITM_VARIABLES_VELOCITY_PRESSURE,  // its pressure part; friction and dampers follow the mechanism's own rate   [cranes]
    ITM_VARIABLES_COUNT
} ItmBondVariables;

// Who goes first with held forces.
typedef enum ItmScheme {
    ITM_SCHEME_JACOBI,        // both start with what is known at the communication point
    ITM_SCHEME_GAUSS_SEIDEL,  // subsystems first; mechanisms take the force that has just come out
    ITM_SCHEME_COUNT
} ItmScheme;

typedef struct ItmBondOptions {
    ItmCoupling coupling;
    ItmExchange exchange;
    ItmBondVariables variables;
} ItmBondOptions;

typedef struct ItmCosimOptions {
    double macro_step;       // H, s; a multiple of every micro step
    ItmScheme scheme;
    int nthread;             // 1: none of its own. The results do not depend on it
    bool is_monolithic;      // the twin: all parts meet every smallest micro step, with RIM and impulse exchange
    ItmBounds bounds;        // beyond which a run is doubted, or breaks down
    ItmElasticModel elastic_model; // of flexible bodies in interface models; implicit, the others with frame bonds and exchange hold
} ItmCosimOptions;

// 10 ms, Jacobi, one thread, default bounds.
ITM_API ItmCosimOptions itm_default_cosim_options(void);
// rim, impulse, velocity-force
ITM_API ItmBondOptions itm_default_bond_options(void);
// "zoh", "linear", "quadratic", "rim", "rim-nonsmooth", "monolithic"; "impulse", "hold"; "velocity-force", "velocity-pressure"; "jacobi",
// "gauss-seidel"; "implicit", "frozen", "effective"; NULL for a number that is none
ITM_API const char* itm_cosim_coupling_name(ItmCoupling coupling);
ITM_API const char* itm_cosim_exchange_name(ItmExchange exchange);
ITM_API const char* itm_cosim_bond_variables_name(ItmBondVariables variables);
ITM_API const char* itm_cosim_scheme_name(ItmScheme scheme);
ITM_API const char* itm_cosim_elastic_model_name(ItmElasticModel model);

// ---------------------------------------------------------------------------- parts

// A subsystem as a table of functions, shaped like FMI 3.0 co-simulation. Everything is fixed but what the functions do;
// names and tables must live as long as the system. Functions of different subsystems may be called from different threads
// at once; those of one never are.
typedef struct ItmSubsystem {
    void* self;                        // handed to every function
    int nport;                         // power ports: length and rate in, force (push > 0) out
    const char* const* port_names;     // (nport)
    int ninput;
    const char* const* input_names;    // (ninput)
    int noutput;
    const ItmOutputInfo* outputs;      // (noutput)
    bool is_sampled;                   // outputs follow the inputs at the beginning of a step (a controller); otherwise they
                                       // are those at its end, and do not follow inputs at once
    bool is_second_order;              // uses w_end: its interface model goes by Heun's rule

    // Lengths (m) and rates (m/s) of the ports from now on; w_end: rates at the end of the next step, linear in between, or
    // NULL: constant rates.
    void (*set_motion)(void* self, const double* s, const double* w, const double* w_end);
    // Forces of the ports (N) at the present state and motion.
    void (*get_forces)(void* self, double* force);
    // Part of the force of a port that follows s and w at once and depends on no state: friction, dampers. May be called
    // while another thread steps the subsystem. NULL: there is none, velocity-pressure is refused.
    double (*get_passive_force)(void* self, int port, double s, double w);
    // What the lengths of a port may be; NULL: anything.
    void (*get_stroke)(void* self, int port, double* least, double* most);
    void (*set_inputs)(void* self, const double* u);
    void (*get_outputs)(void* self, double* y);
    // From t to t + h. h = 0: compute outputs only. On failure: why, with the signal that went first in error->field.
    ItmStatus (*do_step)(void* self, double t, double h, ItmError* error);
    void (*reset)(void* self);

    // The whole state: plain memory that is copied as it is, or where that does not do (memory NULL) three functions.
    void* memory;
    size_t memory_size;
    size_t (*get_state_size)(void* self);
    void (*save)(void* self, void* bytes);
    void (*restore)(void* self, const void* bytes);

    // For advice on the macro step (itm_cosim_compute_radius), which disturbs states a little: those that follow the past
    // smoothly, with their usual sizes. get_states NULL: it has none, or cannot tell; itm_cosim_get_unlinearised names it then.
    int nstate;
    const double* nominal;             // (nstate), NULL: 0.1 each
    void (*get_states)(void* self, double* x);
    void (*set_states)(void* self, const double* x);
    double repeat;                     // s after which its samples come round again, 0: its step

    void (*destroy)(void* self);       // NULL: nothing to do
} ItmSubsystem;

ITM_API ItmStatus itm_cosim_builder_create(ItmCosimBuilder** builder, ItmError* error);
ITM_API void itm_cosim_builder_destroy(ItmCosimBuilder* b);

// Parts; names are unique. Models and circuits must outlive the system. id (may be NULL): mechanisms and subsystems are
// numbered apart, in the order they come.
// Step options of a mechanism (NULL: defaults) with a step of their own: H is a multiple of it; with coupling rim the mechanism
// takes one step H. A step of 0: that of the system.
ITM_API ItmStatus itm_cosim_builder_add_mechanism(ItmCosimBuilder* b, const char* name, const ItmModel* m,
                                          const ItmStepOptions* step, int* id, ItmError* error);
// Options NULL: RK4 with ledger.
ITM_API ItmStatus itm_cosim_builder_add_circuit(ItmCosimBuilder* b, const char* name, const ItmCircuit* c,
                                        const ItmHydraulicOptions* options, double step, int* id, ItmError* error);
// A control samples every `step`; 0: the macro step. Its inputs are wires of their own names, see itm_cosim_builder_add_wire.
ITM_API ItmStatus itm_cosim_builder_add_control(ItmCosimBuilder* b, const char* name, const ItmControl* c, double step, int* id,
                                        ItmError* error);
// Takes over `subsystem`, whose destroy is called at the end, also where this fails. Step 0: the macro step.
ITM_API ItmStatus itm_cosim_builder_add_subsystem(ItmCosimBuilder* b, const char* name, const ItmSubsystem* subsystem,
                                          double step, int* id, ItmError* error);

// A bond between an actuator ("cyl1") of a mechanism and a port of a subsystem. options NULL: the defaults. It is called
// after the actuator; with several mechanisms "mechanism-actuator".
ITM_API ItmStatus itm_cosim_builder_add_bond(ItmCosimBuilder* b, int mechanism, const char* actuator, int subsystem,
                                     const char* port, const ItmBondOptions* options, ItmError* error);
// An interface: a frame on a body of a mechanism, with up to six velocities in world axes.
typedef struct ItmFrameDef {
    const char* name;
    const char* body;
    ItmVec3 point;        // in the body frame, m
    unsigned directions;  // bits 1 << ITM_TX ... 1 << ITM_RZ: velocity of the point, angular velocity of the body
} ItmFrameDef;
// All six directions at the origin of the body frame.
ITM_API ItmFrameDef itm_default_frame_def(void);
// Interfaces are numbered over all mechanisms, in the order they come. One without a bond is there to be looked at.
ITM_API ItmStatus itm_cosim_builder_add_interface(ItmCosimBuilder* b, int mechanism, const ItmFrameDef* def, int* id,
                                          ItmError* error);
// The frames of two interfaces of different mechanisms with the same directions, which meet at the start, move together from
// then on: points stay together, orientations as they are at the start. Couplings rim and rim-nonsmooth; exchange impulse, or hold:
// each side takes its own steps with the interface models of the others, as the papers have it. It is called
// "mechanism-interface" after its first end.
ITM_API ItmStatus itm_cosim_builder_add_frame_bond(ItmCosimBuilder* b, int interface_a, int interface_b,
                                           const ItmBondOptions* options, ItmError* error);
// A wire by full names: from "control.kappa1" or "arm.cyl1.rate" to "hydraulics.valve1", to an actuator "arm.motor" that
// has no bond, or to a signal of kind ITM_SIGNAL_EXTERNAL of a mechanism, which drives motions, loads or servos; one that is smooth
// reaches what it is told at the next communication point. Values of mechanisms are those of the last communication point, but length, rate and force of a bond are
// followed at the micro rate.
ITM_API ItmStatus itm_cosim_builder_add_wire(ItmCosimBuilder* b, const char* from, const char* to, ItmError* error);

// A second name for an output of the whole: "arm.theta1" for "arm.theta1.angle". Checked when the system is built.
ITM_API ItmStatus itm_cosim_builder_add_alias(ItmCosimBuilder* b, const char* alias, const char* output, ItmError* error);

// Make the running system, at its start; subsystems given by a table move from the builder into it. ITM_ERR_INPUT: error->field names the part, bond, wire or option at fault: H no
// multiple of h, unknown names, two bonds for one port, two wires for one input, an algebraic loop of wires, a length outside a
// stroke, steps at one interface model without a common measure. ITM_ERR_UNSUPPORTED: what a coupling cannot do.
ITM_API ItmStatus itm_cosim_build(ItmCosim** cosim, ItmCosimBuilder* b, const ItmCosimOptions* options,
                                  ItmError* error);
ITM_API void itm_cosim_destroy(ItmCosim* cosim);

// ---------------------------------------------------------------------------- static start

// A circuit that is to start at rest.
typedef struct ItmCosimStart {
    int subsystem;
    const bool* is_free;  // inputs that may change (ninput), or NULL: none
    const double* force;  // of cylinders without a bond (ncylinder), NAN: any; or NULL
} ItmCosimStart;

// How far from rest a system is.
typedef struct ItmCosimResidual {
    double acceleration;   // of the body that has become fastest after one step, m/s^2
    int mechanism, body;   // which, or ITM_NONE
    double flow;           // largest net flow into a volume of a circuit, m^3/s
    bool is_broken;        // the step failed
} ItmCosimResidual;

// Find the forces that hold all mechanisms where they are (contacts included), and for the circuits in `starts` (nstart)
// pressures and free inputs that give these forces without flow. The state of rest becomes the start, to which
// itm_cosim_reset goes back. rest may be NULL. ITM_ERR_DIVERGED: there is none; the system is at its start as before.
ITM_API ItmStatus itm_cosim_solve_static(ItmCosim* cosim, const ItmCosimStart* starts, int nstart, ItmCosimResidual* rest);
// By a trial step, which is taken back.
ITM_API ItmCosimResidual itm_cosim_check_static(ItmCosim* cosim);

// ---------------------------------------------------------------------------- running

// All parts back to their starts, time 0.
ITM_API ItmStatus itm_cosim_reset(ItmCosim* cosim);
// One macro step (monolithic: one micro step). On failure everything is as it was before; itm_cosim_get_error says why, its
// field names the signal that went first: ITM_ERR_NOT_FINITE or ITM_ERR_DIVERGED. The latter also where energy has come from
// nowhere (ItmBounds.breakdown).
ITM_API ItmStatus itm_cosim_step(ItmCosim* cosim);
// A mechanism alone with stepper variable or adaptive: one step of the length that the stepper chooses (itm_data_get_time has the
// time, which itm_cosim_get_time does not follow). Anything else: itm_cosim_step.
ITM_API ItmStatus itm_cosim_step_free(ItmCosim* cosim);
ITM_API const ItmError* itm_cosim_get_error(const ItmCosim* cosim);

// Time is steps * step, exactly one rounding. The step is H, or the smallest micro step if monolithic.
ITM_API double itm_cosim_get_time(const ItmCosim* cosim);
ITM_API double itm_cosim_get_step(const ItmCosim* cosim);

// The running parts, to look at or to set inputs of. They must not be stepped on their own. NULL: no such part.
ITM_API int itm_cosim_get_mechanism_count(const ItmCosim* cosim);
ITM_API int itm_cosim_get_subsystem_count(const ItmCosim* cosim);
ITM_API const char* itm_cosim_get_mechanism_name(const ItmCosim* cosim, int mechanism);
ITM_API const char* itm_cosim_get_subsystem_name(const ItmCosim* cosim, int subsystem);
ITM_API const ItmModel* itm_cosim_get_model(const ItmCosim* cosim, int mechanism);
ITM_API ItmData* itm_cosim_get_data(ItmCosim* cosim, int mechanism);
ITM_API ItmHydraulics* itm_cosim_get_hydraulics(ItmCosim* cosim, int subsystem);  // NULL: not a circuit
// Input of a subsystem until a wire or another call changes it.
ITM_API ItmStatus itm_cosim_set_input(ItmCosim* cosim, int subsystem, int input, double value);

// A bond at the present communication point.
typedef struct ItmBondState {
    double length;           // m
    double rate;             // m/s
    double force;            // of the port, push > 0, at the end of the last micro step, N
    double impulse;          // over the last macro step, N s
    double residual_power;   // force that the mechanism had times its rate, less force times rate of the port    [cranes, eq. 21]
    double residual_energy;  // its integral by the trapezoidal rule                                    [cranes, eqs. 22, 24]
    double spurious_energy;  // work that the mechanism got less the work that the port gave, so far, J
    double throughput;       // energy that went through, either way, so far, J
    double spurious_largest; // largest magnitude of the spurious energy so far, J
} ItmBondState;
ITM_API int itm_cosim_get_bond_count(const ItmCosim* cosim);
ITM_API const char* itm_cosim_get_bond_name(const ItmCosim* cosim, int bond);
ITM_API ItmBondState itm_cosim_get_bond(const ItmCosim* cosim, int bond);
// A frame bond at the present communication point.
typedef struct ItmFrameBondState {
    double impulse[6];   // on the first mechanism over the last macro step, by direction, world axes; N s, N m s
    double drift;        // distance of the two points along the directions of the bond, m
    double turn;         // angle between the two frames about them, rad
    double slip;         // how fast the points part, m/s
    double largest_drift, drift_time;  // largest drift at any communication point so far, m, and when, s
    double largest_turn, turn_time;    // the same of the angle, rad, s
} ItmFrameBondState;
ITM_API int itm_cosim_get_frame_bond_count(const ItmCosim* cosim);
ITM_API const char* itm_cosim_get_frame_bond_name(const ItmCosim* cosim, int bond);
ITM_API ItmFrameBondState itm_cosim_get_frame_bond(const ItmCosim* cosim, int bond);

// What was noticed at the interface model of a mechanism, so far.
typedef struct ItmRimNotes {
    long switches;     // bounded rows that changed inside macro steps
    long rank_losses;  // macro steps in which joined frames could not move along a direction on either side
} ItmRimNotes;
ITM_API ItmRimNotes itm_cosim_get_rim_notes(const ItmCosim* cosim, int mechanism);

// An interface as its mechanism shows it now: mobility W, its inverse, and how well posed it is.
typedef struct ItmInterfaceView {
    const char* mechanism;
    const char* name;        // of the interface; of an actuator with a bond, its name
    int n;                   // rows
    ItmDirection direction[6]; // of each row; actuators: ITM_TX
    double W[36];            // row-major (n x n): velocities for unit impulses
    double M_eff[36];        // its inverse, the effective mass; pseudo-inverse where W is singular
    double value[6];         // eigenvalues of W, ascending
    double vector[36];       // and eigenvectors by columns
    int rank;
    double condition;        // of W and of M_eff; INFINITY where W is singular
    double acceleration[6];  // of the rows without interface forces, m/s^2, rad/s^2
    double velocity[6];      // m/s, rad/s
} ItmInterfaceView;
// Look at interface `interface` of all, line actuators with a bond after the frames. Bounded rows that hold now (closed
// contacts, sticking friction, stops) are eliminated; itm_cosim_get_active_row says which. Spends the system: it can be looked
// at, but must be reset or restored before it steps on. ITM_ERR_ARGUMENT: no such interface.
ITM_API int itm_cosim_get_interface_count(const ItmCosim* cosim);
ITM_API ItmStatus itm_cosim_inspect(ItmCosim* cosim, int interface, ItmInterfaceView* view);
// Name of an active row of the mechanism that was looked at last, "box ground normal"; NULL: no more. Valid until the next call.
ITM_API const char* itm_cosim_get_active_row(ItmCosim* cosim, int row);

// Quantities that have left their bounds so far, judged by the energies so far: those of the whole first, then of bonds, interfaces
// and mechanisms. A run with doubts is finished, but not to be trusted in them.
ITM_API int itm_cosim_get_doubt_count(const ItmCosim* cosim);
ITM_API ItmDoubt itm_cosim_get_doubt(const ItmCosim* cosim, int doubt);
// What bounds refer to, and the errors found so far, for judging them otherwise.
typedef struct ItmCosimScale {
    double energy;        // machine's energy so far, J
    double energy_error;  // largest energy not accounted for, coupling energy errors included, J
    double size;          // m; 0 before the first step
} ItmCosimScale;
ITM_API ItmCosimScale itm_cosim_get_scale(const ItmCosim* cosim);

// Where the time went, s of processor time since the start or reset.
typedef struct ItmCosimCost {
    double mechanism;   // evaluation, contacts, step
    double rim;         // making interface models, joining those of mechanisms
    double subsystems;  // micro steps with interface models or predicted rates
} ItmCosimCost;
ITM_API ItmCosimCost itm_cosim_get_cost(const ItmCosim* cosim);

// The whole coupled state as bytes: restored, the simulation continues bit for bit, in another instance of the same system.
ITM_API size_t itm_cosim_get_state_size(const ItmCosim* cosim);
ITM_API ItmStatus itm_cosim_save(ItmCosim* cosim, void* bytes, size_t size);
ITM_API ItmStatus itm_cosim_restore(ItmCosim* cosim, const void* bytes, size_t size);

// Spectral radius of the macro step, linearised at the present state (two steps later, when extrapolation has its past): above 1 a
// small disturbance grows. It is that of `nstep` steps together (1, or more to average over steps that differ), and where
// controls sample less often than every step at least until their samples repeat; always per step. Local: other positions, speeds and
// contacts may have another one. The state is as before afterwards. Parts of the system that do not influence each other are disturbed
// together; the radius is the largest of all. ITM_ERR_UNSUPPORTED: a part has too many states, or samples never repeat; ITM_ERR_MEMORY;
// otherwise a trial step failed.
ITM_API ItmStatus itm_cosim_compute_radius(ItmCosim* cosim, int nstep, double* radius);
// Name of subsystem number i of those whose states cannot be disturbed and are only carried along in the linearised step; NULL: no
// more.
ITM_API const char* itm_cosim_get_unlinearised(const ItmCosim* cosim, int i);

// ---------------------------------------------------------------------------- outputs

// Everything a run records: outputs of the parts as part.element.quantity (of a mechanism with an empty name without the
// first), bond.name.quantity, rim.mechanism.quantity, energy.account of the whole.
ITM_API int itm_cosim_get_output_count(const ItmCosim* cosim);
ITM_API ItmOutputInfo itm_cosim_get_output_info(const ItmCosim* cosim, int output);
ITM_API int itm_cosim_find_output(const ItmCosim* cosim, const char* name);
// values (count). Does not change the state.
ITM_API ItmStatus itm_cosim_compute_outputs(ItmCosim* cosim, double* values);

ITM_EXTERN_C_END

#endif
