// Hydraulic circuits: fluids, volumes, valves, cylinders, and their integration.
//
// A circuit is a netlist. Its nodes are volumes, whose pressures are states, and sources, whose pressures are
// given. Everything else (orifices, valves, cylinders ...) joins nodes. A builder collects definitions;
// itm_circuit_build compiles them into an ItmCircuit, which never changes and may be shared by threads; an
// ItmHydraulics is one running instance of it. The circuit knows no mechanics: the motion of each piston (length s,
// rate w) is an input, its force (push > 0) an output.     docs/theory-hydraulics.md
//
// Pressures are absolute. Flow through an element is positive from its first port to its second.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_HYDRAULICS_H
#define INTERIM_HYDRAULICS_H

#include "interim/base.h"
#include "interim/signal.h"

ITM_EXTERN_C_BEGIN

typedef struct ItmCircuitBuilder ItmCircuitBuilder;  // definitions so far
typedef struct ItmCircuit ItmCircuit;                // compiled, read-only
typedef struct ItmHydraulics ItmHydraulics;          // a running instance

// ---------------------------------------------------------------------------- fluids and nodes

typedef struct ItmFluidDef {
    const char* name;
    double density;          // kg/m^3, > 0
    double bulk_modulus;     // of the oil, Pa, > 0; where has_pressure_law is false
    bool has_pressure_law;   // B = (1 + a p + b p^2) / (a + 2 b p)          [contact-rim, eq. 49]
    double compress_a;       // a, 1/Pa
    double compress_b;       // b, 1/Pa^2
    double vapour_pressure;  // Pa, >= 0: no pressure falls below it
} ItmFluidDef;

// Density 850, bulk modulus 1.5 GPa, vapour pressure 1 kPa.
ITM_API ItmFluidDef itm_default_fluid_def(void);

// A node with a pressure state: rigid volume, hose (wall_modulus), or just the port of a cylinder, whose chamber
// then is its volume.
typedef struct ItmVolumeDef {
    const char* name;
    int fluid;
    double volume;        // m^3; > 0, or 0 where a chamber gives the node its volume
    double wall_modulus;  // of the hose, Pa, > 0; INFINITY: rigid                 [cranes, eq. 9]
    double pressure;      // at the start, Pa; not below vapour or tank pressure
    bool is_held;         // itm_hydraulics_solve_static keeps the pressure as it is
} ItmVolumeDef;

// Rigid, no volume of its own, 0.1 MPa.
ITM_API ItmVolumeDef itm_default_volume_def(void);

// A node with given pressure: pump or tank. Pressure = pressure + signal(t) + input.
typedef struct ItmPressureSourceDef {
    const char* name;
    int fluid;
    double pressure;  // Pa; with the signal's start value not below the vapour pressure
    int signal;       // Pa, or ITM_NONE
    bool is_tank;     // no volume may start below a tank
} ItmPressureSourceDef;

// 0.1 MPa.
ITM_API ItmPressureSourceDef itm_default_pressure_source_def(void);
ITM_API ItmPressureSourceDef itm_default_tank_def(void);

// Given flow from port_a to port_b: flow + signal(t) + input.
typedef struct ItmFlowSourceDef {
    const char* name;
    int port_a;   // node, or ITM_NONE: from outside, at zero pressure
    int port_b;   // node
    double flow;  // m^3/s
    int signal;   // m^3/s, or ITM_NONE
} ItmFlowSourceDef;

ITM_API ItmFlowSourceDef itm_default_flow_source_def(void);

// ---------------------------------------------------------------------------- resistances and valves

// How turbulent flow depends on the pressure drop x. r(x) = sign(x) sqrt(|x|); below `threshold` it is replaced by the
// straight line x / sqrt(threshold), because the slope of the root is infinite at 0. Q = coefficient r(x),
// coefficient = discharge area sqrt(2 / density)                             [cranes, eq. 30]
typedef struct ItmOrificeLaw {
    double coefficient;  // m^3/(s sqrt(Pa)), > 0; or 0: from discharge and area
    double discharge;    // > 0
    double area;         // m^2, > 0
    double threshold;    // Pa, >= 0
    bool is_one_way;     // no flow back: Q = 0 where x < 0                   [contact-rim, eq. 47]
} ItmOrificeLaw;

// Orifice or throttle. A variable one has opening + signal(t) + input, kept in [0, 1], as a factor.
typedef struct ItmOrificeDef {
    const char* name;
    int port_a, port_b;
    ItmOrificeLaw law;
    bool is_variable;
    double opening;  // variable
    int signal;      // variable; or ITM_NONE
} ItmOrificeDef;

// Discharge 0.7, threshold 2 bar, both ways, fixed.
ITM_API ItmOrificeDef itm_default_orifice_def(void);

// Laminar resistance: Q = conductance (p_a - p_b).
typedef struct ItmLaminarDef {
    const char* name;
    int port_a, port_b;
    double conductance;  // m^3/(s Pa), > 0
} ItmLaminarDef;

ITM_API ItmLaminarDef itm_default_laminar_def(void);

// Check or relief valve: opens from 0 to 1 while p_a - p_b rises from opening_pressure by span. No flow back.
typedef struct ItmPressureValveDef {
    const char* name;
    int port_a, port_b;
    ItmOrificeLaw law;        // at full opening
    double opening_pressure;  // cracking or set pressure, Pa, >= 0
    double span;              // Pa, > 0
} ItmPressureValveDef;

// Check: opens at 0.2 bar, fully 0.5 bar later. Relief: at 20 MPa, fully 1 MPa later.
ITM_API ItmPressureValveDef itm_default_check_valve_def(void);
ITM_API ItmPressureValveDef itm_default_relief_valve_def(void);

typedef enum ItmValveKind {
    ITM_VALVE_4_3,        // closed in the middle: u > 0 opens P-A and B-T by u, u < 0 opens P-B and A-T by -u
                          //                                                   [cranes, eq. 31]
    ITM_VALVE_SYMMETRIC,  // u in [0, 1]: P-A and B-T open by 1 - u, P-B and A-T by u
                          //                                                   [contact-rim, eqs. 47, 48, 51]
    ITM_VALVE_KIND_COUNT
} ItmValveKind;

typedef enum ItmSpoolKind {
    ITM_SPOOL_DIRECT,  // u = command
    ITM_SPOOL_FIRST,   // u' = (command - u) / time_constant                   [cranes, eq. 32]
    ITM_SPOOL_SECOND,  // u'' = frequency^2 (command - u) - 2 damping_ratio frequency u'
    ITM_SPOOL_KIND_COUNT
} ItmSpoolKind;

// Directional valve. Command = command + signal(t) + input.
typedef struct ItmValveDef {
    const char* name;
    ItmValveKind kind;
    int port_p, port_t, port_a, port_b;
    ItmOrificeLaw law;     // coefficient per unit of u (4/3: per volt); area is that at u = 1
    double command;
    int signal;            // or ITM_NONE
    double limit;          // 4/3: |command| and |u| <= limit, > 0; INFINITY: none
    double dead_band;      // 4/3: no opening for |u| <= dead_band, and from there on |u| - dead_band; >= 0
    ItmSpoolKind spool;
    double time_constant;  // s, > 0
    double frequency;      // rad/s, > 0
    double damping_ratio;  // >= 0
} ItmValveDef;

// The spool follows directly; 4/3: command 0; symmetric: command 0.5, one way, threshold 0.
ITM_API ItmValveDef itm_default_valve_def(ItmValveKind kind);

// Gas behind a bladder or piston: p_gas V_gas^exponent stays constant. Empty of oil below the precharge.
typedef struct ItmAccumulatorDef {
    const char* name;
    int port;
    double gas_volume;  // at the precharge, m^3, > 0
    double precharge;   // Pa, > 0
    double exponent;    // >= 1: 1 isothermal, 1.4 adiabatic
} ItmAccumulatorDef;

ITM_API ItmAccumulatorDef itm_default_accumulator_def(void);

// ---------------------------------------------------------------------------- cylinders

// Double-acting cylinder. Chamber 1 (port_1) grows with the length s, chamber 2 shrinks:
//   l_1 = start_extension + s - start_length,  l_2 = stroke - l_1
//   F = p_1 A_1 - p_2 A_2 - viscous w - seal(w) + F_d                         [cranes, eqs. 33, 34]
// contact-rim numbers its chambers the other way: its p_1 is p_2 here.
typedef struct ItmCylinderDef {
    const char* name;
    int port_1, port_2;
    double area_1, area_2;  // m^2, > 0; or 0: from the diameters
    double bore, rod;       // m; area_1 = pi bore^2 / 4, area_2 = pi (bore^2 - rod^2) / 4
    double stroke;          // m, > 0
    double start_length;    // s at the start, m; NAN: that of the motion
    double start_extension; // l_1 there, in [0, stroke]; NAN: half the stroke     [contact-rim, eq. 50]
    double dead_volume_1, dead_volume_2;  // m^3, >= 0
    double wall_modulus;    // of the cylinder, Pa, > 0; INFINITY: rigid
    double leakage;         // across the piston, m^3/(s Pa), >= 0
    double viscous;         // N s/m, >= 0
    double coulomb;         // seal friction, N, >= 0
    double coulomb_speed;   // |w| below which it falls off linearly, m/s, > 0
    double damper_length, damper_stiffness, damper_damping;  // end dampers, m, N/m, N s/m; 0: none
    int motion;             // signal for s (stand-alone runs), or ITM_NONE: from itm_hydraulics_set_piston
} ItmCylinderDef;

ITM_API ItmCylinderDef itm_default_cylinder_def(void);

// ---------------------------------------------------------------------------- building

ITM_API ItmStatus itm_circuit_builder_create(ItmCircuitBuilder** builder, ItmError* error);
ITM_API void itm_circuit_builder_destroy(ItmCircuitBuilder* b);

// Each add checks its definition, copies it and gives an id (may be NULL): of signals, fluids and nodes, which are
// numbered together whether volume or source, and of elements per kind. Names are unique over nodes and
// elements, have 1 to 64 bytes without white space, control characters or any of . , / = " and are not "energy".
// ITM_ERR_INPUT: error->field names the member at fault.
ITM_API ItmStatus itm_circuit_add_signal(ItmCircuitBuilder* b, const ItmSignalDef* def, int* id, ItmError* error);
ITM_API ItmStatus itm_circuit_add_fluid(ItmCircuitBuilder* b, const ItmFluidDef* def, int* id, ItmError* error);
ITM_API ItmStatus itm_circuit_add_volume(ItmCircuitBuilder* b, const ItmVolumeDef* def, int* id, ItmError* error);
ITM_API ItmStatus itm_circuit_add_pressure_source(ItmCircuitBuilder* b, const ItmPressureSourceDef* def, int* id,
                                                  ItmError* error);
ITM_API ItmStatus itm_circuit_add_flow_source(ItmCircuitBuilder* b, const ItmFlowSourceDef* def, int* id,
                                              ItmError* error);
ITM_API ItmStatus itm_circuit_add_orifice(ItmCircuitBuilder* b, const ItmOrificeDef* def, int* id, ItmError* error);
ITM_API ItmStatus itm_circuit_add_laminar(ItmCircuitBuilder* b, const ItmLaminarDef* def, int* id, ItmError* error);
ITM_API ItmStatus itm_circuit_add_pressure_valve(ItmCircuitBuilder* b, const ItmPressureValveDef* def, int* id,
                                                 ItmError* error);
ITM_API ItmStatus itm_circuit_add_valve(ItmCircuitBuilder* b, const ItmValveDef* def, int* id, ItmError* error);
ITM_API ItmStatus itm_circuit_add_accumulator(ItmCircuitBuilder* b, const ItmAccumulatorDef* def, int* id,
                                              ItmError* error);
ITM_API ItmStatus itm_circuit_add_cylinder(ItmCircuitBuilder* b, const ItmCylinderDef* def, int* id, ItmError* error);
// A second name for an output: "cyl1.p3" for "line1.pressure"; between its dots the rules for names hold. Whether there is such an
// output is checked when the circuit is built.
ITM_API ItmStatus itm_circuit_add_alias(ItmCircuitBuilder* b, const char* alias, const char* output, ItmError* error);

// Id of a signal, fluid or node that was added, ITM_NONE if there is none of that name.
ITM_API int itm_circuit_builder_find_signal(const ItmCircuitBuilder* b, const char* name);
ITM_API int itm_circuit_builder_find_fluid(const ItmCircuitBuilder* b, const char* name);
ITM_API int itm_circuit_builder_find_node(const ItmCircuitBuilder* b, const char* name);

// Compile. ITM_ERR_INPUT: a node that nothing joins, without volume, or whose start pressure is below tank or vapour
// pressure; a cylinder outside its stroke; an alias of nothing. error->field names element and member ("line1.pressure").
// The builder is not changed.
ITM_API ItmStatus itm_circuit_build(ItmCircuit** circuit, const ItmCircuitBuilder* b, ItmError* error);
ITM_API void itm_circuit_destroy(ItmCircuit* c);

typedef struct ItmCircuitInfo {
    int nnode, nvolume, nsource;  // nodes: volumes and sources
    int nbranch;                  // single resistances (a directional valve has four)
    int nvalve, ncylinder, naccumulator;
    int ninput;                   // commands that can be set from outside
    int nstate;                   // pressures and spool states
    int nisland;                  // groups of volumes that exchange oil
    size_t data_bytes;            // size of a running instance
} ItmCircuitInfo;

ITM_API ItmCircuitInfo itm_circuit_get_info(const ItmCircuit* c);
ITM_API int itm_circuit_find_node(const ItmCircuit* c, const char* name);
ITM_API int itm_circuit_find_cylinder(const ItmCircuit* c, const char* name);
// Inputs carry the name of the element they command: source, flow source, variable orifice, valve.
ITM_API int itm_circuit_find_input(const ItmCircuit* c, const char* name);
ITM_API const char* itm_circuit_get_node_name(const ItmCircuit* c, int node);
ITM_API const char* itm_circuit_get_cylinder_name(const ItmCircuit* c, int cylinder);
ITM_API const char* itm_circuit_get_input_name(const ItmCircuit* c, int input);
// Name of a state, as its output ("line1.pressure", "valve1.spool"), for messages.
ITM_API const char* itm_circuit_get_state_name(const ItmCircuit* c, int state);

// ---------------------------------------------------------------------------- running

typedef enum ItmHydraulicIntegrator {
    ITM_HYDRAULIC_EULER,        // forward Euler, order 1
    ITM_HYDRAULIC_HEUN,         // order 2
    ITM_HYDRAULIC_RK4,          // order 4
    ITM_HYDRAULIC_TRAPEZOIDAL,  // implicit, order 2, A-stable; Newton with the analytic Jacobian
    ITM_HYDRAULIC_ADAPTIVE,     // backward differentiation formulas with error control (SUNDIALS, CVODES)
    ITM_HYDRAULIC_INTEGRATOR_COUNT
} ItmHydraulicIntegrator;

typedef struct ItmHydraulicOptions {
    ItmHydraulicIntegrator integrator;
    double tolerance;    // trapezoidal: of Newton; adaptive: relative error; > 0
    int max_iterations;  // of Newton in one step
    bool use_ledger;     // integrate the energy accounts along
} ItmHydraulicOptions;

// Trapezoidal, 1e-10, 30 iterations, with ledger.
ITM_API ItmHydraulicOptions itm_default_hydraulic_options(void);
// "euler", "heun", "rk4", "trapezoidal", "adaptive"
ITM_API const char* itm_hydraulic_integrator_name(ItmHydraulicIntegrator integrator);

// One block of memory, made once: stepping allocates nothing. options NULL: the defaults.
ITM_API ItmStatus itm_hydraulics_create(ItmHydraulics** data, const ItmCircuit* c, const ItmHydraulicOptions* options,
                                        ItmError* error);
ITM_API void itm_hydraulics_destroy(ItmHydraulics* d);
// Back to the start of the circuit: time 0, start pressures, spools at their commands, inputs 0.
ITM_API void itm_hydraulics_reset(const ItmCircuit* c, ItmHydraulics* d);

// Advance by h > 0. A piston moves with the rate it was set to: s(tau) = s + w tau + (w_end - w) tau^2 / (2 h), or
// follows its motion signal; afterwards it stands at the end of that motion. Piecewise constant signals keep the value of
// the start of the step (the adaptive integrator stops at their jumps).
// On failure the state is as it was before, and itm_hydraulics_get_error says why: ITM_ERR_NOT_FINITE or
// ITM_ERR_DIVERGED (Newton found no solution, a piston left its stroke).
ITM_API ItmStatus itm_hydraulics_step(const ItmCircuit* c, ItmHydraulics* d, double h);
ITM_API const ItmError* itm_hydraulics_get_error(const ItmHydraulics* d);

typedef struct ItmHydraulicInfo {
    long steps;
    int iterations;         // Newton iterations, or internal steps (adaptive), of the last step
    long total_iterations;
    double residual;        // of Newton in the last step, relative to the pressures
    long splits;            // parts of steps that were halved because Newton failed there
    long cavitations;       // times that a pressure reached the vapour pressure
    double cavitation_time; // when the last of them began, s
    int cavitation_node;    // where, or ITM_NONE
} ItmHydraulicInfo;

ITM_API ItmHydraulicInfo itm_hydraulics_get_info(const ItmHydraulics* d);
// A sentence about the last cavitation: node, time, how it is treated. Empty if there was none.
ITM_API const char* itm_hydraulics_get_event(const ItmCircuit* c, ItmHydraulics* d);

ITM_API double itm_hydraulics_get_time(const ItmHydraulics* d);
ITM_API ItmStatus itm_hydraulics_set_time(ItmHydraulics* d, double t);

// Motion of a piston: length s, rate w, held until set again. ITM_ERR_ARGUMENT: no such cylinder, not finite, or driven
// by a signal.
ITM_API ItmStatus itm_hydraulics_set_piston(const ItmCircuit* c, ItmHydraulics* d, int cylinder, double s, double w);
// The same with a rate that goes linearly to w_end over the next step (predicted by a Heun-type coupling).
ITM_API ItmStatus itm_hydraulics_set_piston_motion(const ItmCircuit* c, ItmHydraulics* d, int cylinder, double s,
                                                   double w, double w_end);
// All pistons at once, for micro steps; w_end NULL: constant rates. Not checked: the step reports what is not finite.
ITM_API void itm_hydraulics_set_pistons(const ItmCircuit* c, ItmHydraulics* d, const double* s, const double* w,
                                        const double* w_end);

// Force of a cylinder on its rod, push > 0, by origin. total is the sum of the others.
typedef struct ItmCylinderForce {
    double total;     // N
    double pressure;  // p_1 A_1 - p_2 A_2
    double viscous;   // -viscous w
    double seal;      // Coulomb friction
    double damper;    // F_d of the end dampers
    double rate_derivative;  // d total / d w at these pressures, N s/m
} ItmCylinderForce;

// At the present pressures and piston motion; itm_hydraulics_compute_force: for any s and w.
ITM_API ItmCylinderForce itm_hydraulics_get_force(const ItmCircuit* c, const ItmHydraulics* d, int cylinder);
ITM_API ItmCylinderForce itm_hydraulics_compute_force(const ItmCircuit* c, const ItmHydraulics* d, int cylinder,
                                                      double s, double w);
// Total forces of all cylinders at the present state, force (ncylinder).
ITM_API void itm_hydraulics_get_forces(const ItmCircuit* c, const ItmHydraulics* d, double* force);

ITM_API ItmStatus itm_hydraulics_set_input(const ItmCircuit* c, ItmHydraulics* d, int input, double value);
ITM_API double itm_hydraulics_get_input(const ItmHydraulics* d, int input);
ITM_API double itm_hydraulics_get_pressure(const ItmCircuit* c, const ItmHydraulics* d, int node);
ITM_API ItmStatus itm_hydraulics_set_pressure(const ItmCircuit* c, ItmHydraulics* d, int node, double pressure);
// Oil that is missing in a node that cavitates: it must flow back before the pressure rises.   m^3
ITM_API double itm_hydraulics_get_void(const ItmCircuit* c, const ItmHydraulics* d, int node);

// The whole state as bytes: restored, the simulation continues bit for bit, in another instance of the same circuit and
// options too.
ITM_API size_t itm_hydraulics_get_state_size(const ItmHydraulics* d);
ITM_API ItmStatus itm_hydraulics_save(const ItmHydraulics* d, void* bytes, size_t size);
ITM_API ItmStatus itm_hydraulics_restore(ItmHydraulics* d, const void* bytes, size_t size);

// ---------------------------------------------------------------------------- equations

// For monolithic integration and linearisation: x' = f(t, x, s, w) and F(x, s, w), with the inputs of d. x: pressures
// of the volumes (below the vapour pressure: void, see theory), then spool states, as itm_circuit_get_state_name names them. Nothing of the state of d changes.
ITM_API void itm_hydraulics_get_x(const ItmHydraulics* d, double* x);
ITM_API ItmStatus itm_hydraulics_set_x(ItmHydraulics* d, const double* x);
// x_dot (nstate), force (ncylinder, may be NULL), power (ITM_HYDRAULIC_ACCOUNT_COUNT, may be NULL)
ITM_API void itm_hydraulics_compute_rates(const ItmCircuit* c, ItmHydraulics* d, double* x_dot, double* force,
                                          double* power, double t, const double* x, const double* s, const double* w);
// Derivatives, row-major, each may be NULL: f_x (nstate x nstate), f_s and f_w (nstate x ncylinder),
// F_x (ncylinder x nstate), F_s and F_w (ncylinder, diagonal).
typedef struct ItmHydraulicDerivatives {
    double *f_x, *f_s, *f_w, *F_x, *F_s, *F_w;
} ItmHydraulicDerivatives;
ITM_API void itm_hydraulics_compute_derivatives(const ItmCircuit* c, ItmHydraulics* d,
                                                const ItmHydraulicDerivatives* out, double t, const double* x,
                                                const double* s, const double* w);
// Fastest rate of the present state: largest magnitude of an eigenvalue of f_x, 1/s. NAN without memory.
ITM_API double itm_hydraulics_compute_fastest_rate(const ItmCircuit* c, ItmHydraulics* d);
// Largest step, s, at which an explicit integrator is stable for the present state, linearised; INFINITY for the implicit
// ones, or where nothing flows. NAN without memory. Takes the cube of the number of states.
ITM_API double itm_hydraulics_compute_stable_step(const ItmCircuit* c, ItmHydraulics* d, ItmHydraulicIntegrator integrator);
// First time after t at which a signal of the circuit jumps or kinks, or INFINITY.
ITM_API double itm_circuit_next_break(const ItmCircuit* c, double t);

// ---------------------------------------------------------------------------- statics

typedef struct ItmHydraulicStatics {
    const double* force;    // required of each cylinder, NAN: any       (ncylinder), or NULL: any
    const bool* is_free;    // inputs that may change                    (ninput), or NULL: none
    double tolerance;       // relative to the largest pressure, flow and force scales
    int max_iterations;
} ItmHydraulicStatics;

ITM_API ItmHydraulicStatics itm_default_hydraulic_statics(void);

// How far from rest: largest net flow into a volume, largest force error.
typedef struct ItmHydraulicRest {
    double flow;        // m^3/s
    int flow_node;      // where, or ITM_NONE
    double force;       // N
    int force_cylinder; // where, or ITM_NONE
    int iterations;
} ItmHydraulicRest;

// Residual of the present state with all pistons at rest.
ITM_API ItmHydraulicRest itm_hydraulics_check_static(const ItmCircuit* c, ItmHydraulics* d,
                                                     const ItmHydraulicStatics* statics);
// Find pressures (except of held volumes) and free inputs so that no oil flows and the cylinders give the required
// forces, changing as little as possible; spools stand at their commands. ITM_ERR_DIVERGED: no such state near; the
// error names what is left, and the state is as it was.
ITM_API ItmStatus itm_hydraulics_solve_static(const ItmCircuit* c, ItmHydraulics* d,
                                              const ItmHydraulicStatics* statics, ItmHydraulicRest* rest);

// ---------------------------------------------------------------------------- energy and outputs

// supply = sum of all others, at every moment; integrated with the quadrature of the integrator.
typedef enum ItmHydraulicAccount {
    ITM_HYDRAULIC_SUPPLY,       // from pressure and flow sources, net of what the tank takes
    ITM_HYDRAULIC_VALVE,        // lost in valves and variable orifices
    ITM_HYDRAULIC_THROTTLE,     // lost in fixed orifices, laminar resistances
    ITM_HYDRAULIC_LEAKAGE,      // lost across pistons
    ITM_HYDRAULIC_COMPRESSION,  // stored in oil, walls and gas
    ITM_HYDRAULIC_VISCOUS,
    ITM_HYDRAULIC_SEAL,
    ITM_HYDRAULIC_DAMPER,       // end dampers, what their springs store included
    ITM_HYDRAULIC_MECHANICAL,   // work of the rods
    ITM_HYDRAULIC_ACCOUNT_COUNT
} ItmHydraulicAccount;

// Energies so far, J; zeros without ledger.
ITM_API const double* itm_hydraulics_get_ledger(const ItmHydraulics* d);

// Outputs, named element.quantity: "cyl1.p1", "cyl1.force", "valve1.flow", "energy.supply"; then the aliases.
ITM_API int itm_circuit_get_output_count(const ItmCircuit* c);
ITM_API ItmOutputInfo itm_circuit_get_output_info(const ItmCircuit* c, int output);
ITM_API int itm_circuit_find_output(const ItmCircuit* c, const char* name);
ITM_API void itm_hydraulics_compute_outputs(const ItmCircuit* c, ItmHydraulics* d, double* values);

ITM_EXTERN_C_END

#endif
