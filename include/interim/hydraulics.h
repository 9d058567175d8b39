// Hydraulic circuits: fluids, volumes, valves, cylinders, and their integration.
//
// A circuit is a netlist. Its nodes are volumes, whose pressures are states, and sources, whose pressures are
// given. Elements (orifices, valves, cylinders ...) connect nodes. A builder collects definitions.
// itm_circuit_build compiles them into an ItmCircuit, which is immutable and may be shared by threads. An
// ItmHydraulics is one instance of it. The circuit contains no mechanics: the motion of each piston (length s,
// rate w) is an input and its force (positive when pushing) an output.     docs/theory-hydraulics.md
//
// Pressures are absolute. Flow through an element is positive from its first port to its second.
//
// Threads: an ItmCircuit is read-only; any number of threads may share it. One thread at a time uses an ItmHydraulics or a
// builder, reading included, because getters refresh derived quantities.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_HYDRAULICS_H
#define INTERIM_HYDRAULICS_H

#include "interim/base.h"
#include "interim/signal.h"

ITM_EXTERN_C_BEGIN

typedef struct ItmCircuitBuilder ItmCircuitBuilder;  // collects definitions
typedef struct ItmCircuit ItmCircuit;                // compiled, read-only
typedef struct ItmHydraulics ItmHydraulics;          // an instance with its state

// ---------------------------------------------------------------------------- fluids and nodes

typedef struct ItmFluidDef {
    const char* name;
    double density;          // kg/m^3, > 0
    double bulk_modulus;     // of the oil, Pa, > 0; used if has_pressure_law is false
    bool has_pressure_law;   // B = (1 + a p + b p^2) / (a + 2 b p)          [contact-rim, eq. 49]
    double compress_a;       // a, 1/Pa
    double compress_b;       // b, 1/Pa^2
    double vapour_pressure;  // Pa, >= 0; lower bound of all pressures
    double air;              // entrained air, volume per volume of oil at 0.1 MPa, in [0, 1)
    double air_exponent;     // polytropic exponent of the air, >= 1: 1 isothermal, 1.4 adiabatic
    // Temperature, constant over a run. Density and bulk modulus are those at 288.15 K (15 degrees Celsius).
    double temperature;    // K, in [200, 500]
    double expansion;      // of the volume, 1/K, >= 0: density / (1 + expansion (T - 288.15 K))
    double modulus_decay;  // 1/K, >= 0: bulk modulus exp(-modulus_decay (T - 288.15 K))
    double viscosity_40;   // kinematic, at 313.15 K, m^2/s, > 0
    double viscosity_100;  // kinematic, at 373.15 K, m^2/s, in (0, viscosity_40]; between and beyond: [walther]
} ItmFluidDef;

// Default fluid: density 850 kg/m^3, bulk modulus 1.5 GPa, vapour pressure 1 kPa, no air; 313.15 K, where it has the viscosity of ISO VG
// 46 (46 and 6.8 mm^2/s); density and bulk modulus do not depend on temperature.
ITM_API ItmFluidDef itm_default_fluid_def(void);

// Properties of a fluid at its temperature.
typedef struct ItmFluidProperties {
    double density;              // kg/m^3
    double bulk_modulus;         // of oil and air together at `pressure`, Pa
    double kinematic_viscosity;  // m^2/s
    double dynamic_viscosity;    // Pa s
} ItmFluidProperties;

// Compute them at a pressure, Pa. All NAN: the definition is invalid, or the pressure not positive.
ITM_API ItmFluidProperties itm_fluid_compute_properties(const ItmFluidDef* def, double pressure);

// A node with a pressure state: a rigid volume, a hose (wall_modulus), or only the port of a cylinder, whose chamber
// is then its volume.
typedef struct ItmVolumeDef {
    const char* name;
    int fluid;
    double volume;        // m^3; > 0, or 0 if a chamber provides the volume
    double wall_modulus;  // of the hose, Pa, > 0; INFINITY: rigid                 [cranes, eq. 9]
    double pressure;      // initial, Pa; not below vapour or tank pressure
    bool is_held;         // itm_hydraulics_solve_static does not change the pressure
} ItmVolumeDef;

// Default volume: rigid, no volume of its own, 0.1 MPa.
ITM_API ItmVolumeDef itm_default_volume_def(void);

// A node with a given pressure: pump or tank. Pressure = pressure + signal(t) + input.
typedef struct ItmPressureSourceDef {
    const char* name;
    int fluid;
    double pressure;  // Pa; its sum with the signal's initial value must not be below the vapour pressure
    int signal;       // Pa, or ITM_NONE
    bool is_tank;     // no volume may start below tank pressure
} ItmPressureSourceDef;

// Default pressure source: 0.1 MPa.
ITM_API ItmPressureSourceDef itm_default_pressure_source_def(void);
// Default tank: 0.1 MPa.
ITM_API ItmPressureSourceDef itm_default_tank_def(void);

// Prescribed flow from port_a to port_b: flow + signal(t) + input.
typedef struct ItmFlowSourceDef {
    const char* name;
    int port_a;   // node, or ITM_NONE: the environment, at zero pressure
    int port_b;   // node
    double flow;  // m^3/s
    int signal;   // m^3/s, or ITM_NONE
} ItmFlowSourceDef;

// Default flow source: flow 0; the ports are not set.
ITM_API ItmFlowSourceDef itm_default_flow_source_def(void);

// ---------------------------------------------------------------------------- resistances and valves

// Turbulent flow as a function of the pressure drop x: Q = coefficient r(x), r(x) = sign(x) sqrt(|x|). Below `threshold`,
// r is the straight line x / sqrt(threshold), because the slope of the root is infinite at 0.
// coefficient = discharge area sqrt(2 / density)                             [cranes, eq. 30]
typedef struct ItmOrificeLaw {
    double coefficient;  // m^3/(s sqrt(Pa)), > 0; 0: computed from discharge and area
    double discharge;    // > 0
    double area;         // m^2, > 0
    double threshold;    // Pa, >= 0
    bool is_one_way;     // no reverse flow: Q = 0 if x < 0                  [contact-rim, eq. 47]
} ItmOrificeLaw;

// Orifice or throttle. A variable orifice multiplies the flow by opening + signal(t) + input, clamped to [0, 1].
typedef struct ItmOrificeDef {
    const char* name;
    int port_a, port_b;
    ItmOrificeLaw law;
    bool is_variable;
    double opening;  // variable
    int signal;      // variable; or ITM_NONE
} ItmOrificeDef;

// Default orifice: discharge 0.7, threshold 2 bar, both directions, fixed.
ITM_API ItmOrificeDef itm_default_orifice_def(void);

// Laminar resistance: Q = conductance (p_a - p_b).
typedef struct ItmLaminarDef {
    const char* name;
    int port_a, port_b;
    double conductance;  // m^3/(s Pa), > 0
} ItmLaminarDef;

// Default laminar resistance; ports and conductance are not set.
ITM_API ItmLaminarDef itm_default_laminar_def(void);

// A pressure that acts on a valve, with the ratio of its area to that of the others.
typedef struct ItmPilot {
    int port;      // node, or one of the valve's own ports: ITM_PILOT_A, ITM_PILOT_B, ITM_PILOT_C
    double ratio;  // positive: opens
} ItmPilot;

#define ITM_PILOT_A (-2)
#define ITM_PILOT_B (-3)
#define ITM_PILOT_C (-4)
#define ITM_MAX_PILOTS 6

// Valve that pressures move against a spring: check, relief, reducing, counterbalance, priority, shuttle valve, compensator ...
//   u = (sum of ratio_i p_i - setting) / span, clamped to [0, 1], with setting = opening_pressure + signal(t) + input
//   u = (sum of ratio_i p_i + setting) / span                  where the spring opens the valve (is_normally_open)
// Edge A-B opens by u. With port_c, edge A-C opens by 1 - u.
typedef struct ItmPressureValveDef {
    const char* name;
    int port_a, port_b;
    int port_c;               // or ITM_NONE
    ItmOrificeLaw law;        // at full opening
    double opening_pressure;  // cracking or set pressure, Pa, >= 0
    bool is_normally_open;
    int signal;                       // Pa, or ITM_NONE
    double span;                      // Pa, > 0
    double time_constant;             // u follows with first order, s; 0: at once
    int npilot;                       // 1 to ITM_MAX_PILOTS
    ItmPilot pilots[ITM_MAX_PILOTS];  // the first npilot
    bool has_check;                   // a check valve from B to A in parallel, with the same law and the default spring
} ItmPressureValveDef;

// Default check valve: opens at 0.2 bar of p_a - p_b, fully open 0.5 bar above. No reverse flow.
ITM_API ItmPressureValveDef itm_default_check_valve_def(void);
// Default relief valve: opens at 20 MPa of p_a - p_b, fully open 1 MPa above. No reverse flow.
ITM_API ItmPressureValveDef itm_default_relief_valve_def(void);
// Reducing valve from A to B, normally open: closed where p_b reaches opening_pressure, 5 MPa; it begins to close `span`, 0.5 MPa, below.
ITM_API ItmPressureValveDef itm_default_reducing_valve_def(void);
// Counterbalance valve from A (load) to B, with check valve from B to A: opens by p_a + ratio p_pilot - (1 + ratio) p_b above 20 MPa.
ITM_API ItmPressureValveDef itm_default_counterbalance_valve_def(int pilot_port, double ratio);
// Pilot-operated check valve from A to B: a check valve that p_pilot opens in both directions with the given area ratio.
ITM_API ItmPressureValveDef itm_default_pilot_check_valve_def(int pilot_port, double ratio);
// Pressure compensator from A to B, upstream of a metering edge whose outlet has the pressure of `load_port`, normally open: closed where
// p_b - p_load reaches opening_pressure, 1 MPa; it begins to close `span`, 0.2 MPa, below.
ITM_API ItmPressureValveDef itm_default_compensator_def(int load_port);
// Priority valve with inlet A, excess port B and priority port C: what keeps p_c - p_load at opening_pressure goes to C, the rest to B.
// 0.7 MPa, span 0.3 MPa.
ITM_API ItmPressureValveDef itm_default_priority_valve_def(int load_port);
// Shuttle valve: A is connected with the higher of B and C; the ball moves over a span of 0.2 bar.
ITM_API ItmPressureValveDef itm_default_shuttle_valve_def(void);

typedef enum ItmValveKind {
    ITM_VALVE_4_3,        // closed in the middle: u > 0 opens P-A and B-T by u, u < 0 opens P-B and A-T by -u
                          //                                                   [cranes, eq. 31]
    ITM_VALVE_SYMMETRIC,  // u in [0, 1]: P-A and B-T open by 1 - u, P-B and A-T by u
                          //                                                   [contact-rim, eqs. 47, 48, 51]
    ITM_VALVE_KIND_COUNT
} ItmValveKind;

typedef enum ItmSpoolKind {
    ITM_SPOOL_DIRECT,  // u = command
    ITM_SPOOL_FIRST,   // du/dt = (command - u) / time_constant                [cranes, eq. 32]
    ITM_SPOOL_SECOND,  // d2u/dt2 = frequency^2 (command - u) - 2 damping_ratio frequency du/dt
    ITM_SPOOL_KIND_COUNT
} ItmSpoolKind;

// Edges of a directional valve.
typedef enum ItmValveEdge {
    ITM_EDGE_PA,
    ITM_EDGE_BT,
    ITM_EDGE_PB,
    ITM_EDGE_AT,
    ITM_EDGE_PT,  // open centre
    ITM_EDGE_AB,  // regeneration
    ITM_EDGE_COUNT
} ItmValveEdge;

// Metering curve of an edge: opening over spool position, linear between the points, constant beyond them.
typedef struct ItmMetering {
    int npoint;             // >= 2, or 0: the straight line of the kind of valve; closed for P-T and A-B
    const double* spool;    // increasing                  (npoint)
    const double* opening;  // >= 0                        (npoint)
} ItmMetering;

// Directional valve. Command = command + signal(t) + input. A load-sensing port connects the side that the pump feeds with a signal line,
// through one-way edges that open with the first 5 % of the limit of the spool (of 1 where there is none).
typedef struct ItmValveDef {
    const char* name;
    ItmValveKind kind;
    int port_p, port_t, port_a, port_b;
    ItmOrificeLaw law;  // coefficient per unit of u (4/3: per volt); area at u = 1
    double command;
    int signal;        // or ITM_NONE
    double limit;      // 4/3: |command| and |u| <= limit, > 0; INFINITY: none
    double dead_band;  // 4/3: no opening for |u| <= dead_band, and from there on |u| - dead_band; >= 0
    ItmSpoolKind spool;
    double time_constant;                  // s, > 0
    double frequency;                      // rad/s, > 0
    double damping_ratio;                  // >= 0
    ItmMetering metering[ITM_EDGE_COUNT];  // 4/3; the builder copies the tables
    bool is_regenerative;                  // 4/3: edge A-B lets oil pass from B to A only
    int port_ls;                           // 4/3: load-sensing line, or ITM_NONE
    double ls_coefficient;                 // of its edges, m^3/(s sqrt(Pa)), > 0
} ItmValveDef;

// Default valve: direct spool; 4/3: command 0; symmetric: command 0.5, one-way, threshold 0.
ITM_API ItmValveDef itm_default_valve_def(ItmValveKind kind);

// Gas accumulator: p_gas V_gas^exponent is constant. It contains no oil below the precharge.
typedef struct ItmAccumulatorDef {
    const char* name;
    int port;
    double gas_volume;  // at the precharge, m^3, > 0
    double precharge;   // Pa, > 0
    double exponent;    // >= 1: 1 isothermal, 1.4 adiabatic
} ItmAccumulatorDef;

// Default accumulator: exponent 1.4; port, volume and precharge are not set.
ITM_API ItmAccumulatorDef itm_default_accumulator_def(void);

// Filter: laminar resistance with a bypass that opens at bypass_pressure. The conductance is divided by 1 + clogging(t).
typedef struct ItmFilterDef {
    const char* name;
    int port_a, port_b;
    double conductance;         // clean, m^3/(s Pa), > 0
    double clogging;            // >= 0: 0 clean, 1 twice the resistance
    int signal;                 // added, or ITM_NONE
    double bypass_pressure;     // Pa, > 0; INFINITY: no bypass
    double bypass_span;         // Pa, > 0
    double bypass_coefficient;  // m^3/(s sqrt(Pa)); 0: ten times the flow of the clean filter at bypass_pressure
} ItmFilterDef;

// Default filter: clean, bypass from 3 bar over a span of 1 bar; ports and conductance are not set.
ITM_API ItmFilterDef itm_default_filter_def(void);

// Pipe or hose with its oil volume and laminar friction (Hagen and Poiseuille). With segments > 0 its oil has inertia, and waves travel: it
// becomes `segments` inertances between segments - 1 volumes "name.1", "name.2" ... and half a volume at each end.
//   q' = A / (density l) (p_a - p_b) - 32 nu / d^2 q        for each length l
typedef struct ItmLineDef {
    const char* name;
    int port_a, port_b;
    double length, diameter;  // m, > 0
    double wall_modulus;      // Pa, > 0; INFINITY: rigid
    int segments;             // 0 to 100
} ItmLineDef;

// Default line: rigid, without inertia; ports, length and diameter are not set.
ITM_API ItmLineDef itm_default_line_def(void);

// ---------------------------------------------------------------------------- cylinders

// Double-acting cylinder. Chamber 1 (port_1) grows with the length s, chamber 2 shrinks:
//   l_1 = start_extension + s - start_length,  l_2 = stroke - l_1
//   F = p_1 A_1 - p_2 A_2 - viscous w - seal(w) + F_d                         [cranes, eqs. 33, 34]
// The paper contact-rim numbers the chambers in the opposite order: its p_1 is p_2 here.
typedef struct ItmCylinderDef {
    const char* name;
    int port_1, port_2;
    double area_1, area_2;   // m^2, > 0; 0: computed from the diameters
    double bore, rod;        // m; area_1 = pi bore^2 / 4, area_2 = pi (bore^2 - rod^2) / 4
    double stroke;           // m, > 0
    double start_length;     // initial s, m; NAN: that of the motion, or of the actuator that a bond connects
    double start_extension;  // initial l_1, in [0, stroke]; NAN: half the stroke    [contact-rim, eq. 50]
    double dead_volume_1, dead_volume_2;                     // m^3, >= 0
    double wall_modulus;                                     // of the cylinder, Pa, > 0; INFINITY: rigid
    double leakage;                                          // across the piston, m^3/(s Pa), >= 0
    double viscous;                                          // N s/m, >= 0
    double coulomb;                                          // seal friction, N, >= 0
    double coulomb_speed;                                    // |w| below which seal friction is linear in w, m/s, > 0
    double damper_length, damper_stiffness, damper_damping;  // end dampers, m, N/m, N s/m; 0: none
    int motion;  // signal for s (stand-alone runs), or ITM_NONE: set by itm_hydraulics_set_piston
} ItmCylinderDef;

// Default cylinder: piston at half stroke, rigid walls, no leakage, friction or end dampers; ports and sizes are not set.
ITM_API ItmCylinderDef itm_default_cylinder_def(void);

// Hydraulic motor, or pump-motor: a rotating power port. Oil that flows from port_1 to port_2 turns it forwards:
//   Q_1 = u D w,   T = u D (p_1 - p_2) - viscous w - (coulomb + pressure_drag |u D (p_1 - p_2)|) sat(w / coulomb_speed)
// Leakage is laminar: across the motor, and from each port to the drain. The losses are those of Schlösser's model  [schloesser].
typedef struct ItmMotorDef {
    const char* name;
    int port_1, port_2;
    int port_drain;        // or ITM_NONE
    double displacement;   // D, m^3/rad, > 0
    double leakage;        // across, m^3/(s Pa), >= 0
    double drain_leakage;  // of each port, m^3/(s Pa), >= 0; needs port_drain
    double viscous;        // N m s, >= 0
    double coulomb;        // N m, >= 0
    double pressure_drag;  // share of the pressure torque, in [0, 1)
    double coulomb_speed;  // |w| below which friction is linear in w, rad/s, > 0
    bool is_variable;      // u = setting + signal(t) + input, within [-1, 1]; otherwise 1
    double setting;        // variable
    int signal;            // variable; or ITM_NONE
    double time_constant;  // variable: u follows with first order, s; 0: at once
    int motion;            // signal for the angle (stand-alone runs), or ITM_NONE
    // A shaft that an engine turns: no power port for bonds.
    bool is_driven;    // w = speed + speed_signal(t) + input "<name>.speed"
    double speed;      // rad/s
    int speed_signal;  // rad/s, or ITM_NONE
    // Controllers of a variable pump from port_1 (suction) to port_2: u is the least of `setting` and of
    //   (load_margin - (p_2 - p_load)) / load_span           load sensing
    //   (pressure_limit - p_2) / pressure_span               pressure compensator
    //   torque_limit / (D (p_2 - p_1))                       torque limit
    //   power_limit / (D |w| (p_2 - p_1))                    power limit
    // within [least_setting, 1].
    int load_port;                         // or ITM_NONE: no load sensing
    double load_margin, load_span;         // Pa, > 0
    double pressure_limit, pressure_span;  // Pa, > 0; INFINITY: no limit
    double torque_limit, power_limit;      // N m, W, > 0; INFINITY: no limit
    double least_setting;                  // in [-1, 1]
} ItmMotorDef;

// Default motor: fixed, no leakage or friction, coulomb_speed 0.1 rad/s; ports and displacement are not set.
ITM_API ItmMotorDef itm_default_motor_def(void);
// Default pump: driven and variable, no controllers (load_margin 2 MPa, load_span and pressure_span 0.5 MPa), least_setting 0.
ITM_API ItmMotorDef itm_default_pump_def(void);

// ---------------------------------------------------------------------------- building

// Create an empty builder.
ITM_API ItmStatus itm_circuit_builder_create(ItmCircuitBuilder** builder, ItmError* error);
// Free a builder; NULL is allowed.
ITM_API void itm_circuit_builder_destroy(ItmCircuitBuilder* b);

// Each itm_circuit_add_ function checks the definition, copies it and stores an id (may be NULL). Signals, fluids and nodes
// (volumes and sources together) are numbered separately, elements per kind. Names are unique over nodes and elements, have 1 to
// 64 bytes without white space, control characters or any of . , / = " and are not "energy".
// ITM_ERR_INPUT: error->field is the invalid field.

// Add a signal of time.
ITM_API ItmStatus itm_circuit_builder_add_signal(ItmCircuitBuilder* b, const ItmSignalDef* def, int* id,
                                                 ItmError* error);
// Add a fluid.
ITM_API ItmStatus itm_circuit_builder_add_fluid(ItmCircuitBuilder* b, const ItmFluidDef* def, int* id, ItmError* error);
// Add a volume node.
ITM_API ItmStatus itm_circuit_builder_add_volume(ItmCircuitBuilder* b, const ItmVolumeDef* def, int* id,
                                                 ItmError* error);
// Add a pressure source or tank.
ITM_API ItmStatus itm_circuit_builder_add_pressure_source(ItmCircuitBuilder* b, const ItmPressureSourceDef* def,
                                                          int* id, ItmError* error);
// Add a flow source.
ITM_API ItmStatus itm_circuit_builder_add_flow_source(ItmCircuitBuilder* b, const ItmFlowSourceDef* def, int* id,
                                                      ItmError* error);
// Add an orifice or throttle.
ITM_API ItmStatus itm_circuit_builder_add_orifice(ItmCircuitBuilder* b, const ItmOrificeDef* def, int* id,
                                                  ItmError* error);
// Add a laminar resistance.
ITM_API ItmStatus itm_circuit_builder_add_laminar(ItmCircuitBuilder* b, const ItmLaminarDef* def, int* id,
                                                  ItmError* error);
// Add a valve that pressures move.
ITM_API ItmStatus itm_circuit_builder_add_pressure_valve(ItmCircuitBuilder* b, const ItmPressureValveDef* def, int* id,
                                                         ItmError* error);
// Add a directional valve.
ITM_API ItmStatus itm_circuit_builder_add_valve(ItmCircuitBuilder* b, const ItmValveDef* def, int* id, ItmError* error);
// Add an accumulator.
ITM_API ItmStatus itm_circuit_builder_add_accumulator(ItmCircuitBuilder* b, const ItmAccumulatorDef* def, int* id,
                                                      ItmError* error);
// Add a filter.
ITM_API ItmStatus itm_circuit_builder_add_filter(ItmCircuitBuilder* b, const ItmFilterDef* def, int* id,
                                                 ItmError* error);
// Add a line; with segments, also its inner volumes as nodes, which start at the mean pressure of its ends.
ITM_API ItmStatus itm_circuit_builder_add_line(ItmCircuitBuilder* b, const ItmLineDef* def, int* id, ItmError* error);
// Add a cylinder.
ITM_API ItmStatus itm_circuit_builder_add_cylinder(ItmCircuitBuilder* b, const ItmCylinderDef* def, int* id,
                                                   ItmError* error);
// Add a hydraulic motor or pump. Its number follows those of the cylinders.
ITM_API ItmStatus itm_circuit_builder_add_motor(ItmCircuitBuilder* b, const ItmMotorDef* def, int* id, ItmError* error);
// Add a second name for an output: "cyl1.p3" for "line1.pressure". Each part between dots follows the rules for names.
// itm_circuit_build checks that the output exists.
ITM_API ItmStatus itm_circuit_builder_add_alias(ItmCircuitBuilder* b, const char* alias, const char* output,
                                                ItmError* error);

// Id of a signal by name, or ITM_NONE.
ITM_API int itm_circuit_builder_find_signal(const ItmCircuitBuilder* b, const char* name);
// Id of a fluid by name, or ITM_NONE.
ITM_API int itm_circuit_builder_find_fluid(const ItmCircuitBuilder* b, const char* name);
// Id of a node by name, or ITM_NONE.
ITM_API int itm_circuit_builder_find_node(const ItmCircuitBuilder* b, const char* name);

// Compile a circuit. ITM_ERR_INPUT: a node without connection or volume, or with an initial pressure below tank or vapour
// pressure; a cylinder outside its stroke; an alias of an unknown output. error->field is element and field
// ("line1.pressure"). The builder is not changed.
ITM_API ItmStatus itm_circuit_build(ItmCircuit** circuit, const ItmCircuitBuilder* b, ItmError* error);
// Free a circuit; NULL is allowed.
ITM_API void itm_circuit_destroy(ItmCircuit* c);

typedef struct ItmCircuitInfo {
    int nnode, nvolume, nsource;  // nodes: volumes and sources
    int nbranch;                  // flow branches (a directional valve has four)
    int nvalve, naccumulator;
    int ncylinder;      // power ports: cylinders, then motors
    int ninput;         // external inputs: commands that itm_hydraulics_set_input sets
    int nstate;         // pressures and spool states
    int nisland;        // groups of volumes connected without a source in between
    size_t data_bytes;  // size of an instance
} ItmCircuitInfo;

// Sizes of a circuit.
ITM_API ItmCircuitInfo itm_circuit_get_info(const ItmCircuit* c);
// Id of a node by name, or ITM_NONE.
ITM_API int itm_circuit_find_node(const ItmCircuit* c, const char* name);
// Index of a cylinder or motor by name, or ITM_NONE.
ITM_API int itm_circuit_find_cylinder(const ItmCircuit* c, const char* name);
// Index of an input, or ITM_NONE. An input has the name of its element: source, flow source, variable orifice, valve, filter, motor; the
// speed of a driven shaft is "<motor>.speed".
ITM_API int itm_circuit_find_input(const ItmCircuit* c, const char* name);
// Name of a node; NULL if there is no such node.
ITM_API const char* itm_circuit_get_node_name(const ItmCircuit* c, int node);
// Name of a cylinder; NULL if there is no such cylinder.
ITM_API const char* itm_circuit_get_cylinder_name(const ItmCircuit* c, int cylinder);
// Name of an input; NULL if there is no such input.
ITM_API const char* itm_circuit_get_input_name(const ItmCircuit* c, int input);
// Name of a state, equal to its output ("line1.pressure", "valve1.spool"), for messages.
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
    double tolerance;    // trapezoidal: Newton residual; adaptive: relative error; > 0
    int max_iterations;  // of Newton per step
    bool use_ledger;     // also integrate the energy balance
} ItmHydraulicOptions;

// Default options: trapezoidal, tolerance 1e-10, 30 iterations, with energy balance.
ITM_API ItmHydraulicOptions itm_default_hydraulic_options(void);
// "euler", "heun", "rk4", "trapezoidal", "adaptive"
ITM_API const char* itm_hydraulics_integrator_name(ItmHydraulicIntegrator integrator);

// Create an instance as one block of memory; stepping allocates nothing. options NULL: the defaults.
ITM_API ItmStatus itm_hydraulics_create(ItmHydraulics** data, const ItmCircuit* c, const ItmHydraulicOptions* options,
                                        ItmError* error);
// Free an instance; NULL is allowed.
ITM_API void itm_hydraulics_destroy(ItmHydraulics* d);
// Reset to the initial state: time 0, initial pressures, spools at their commands, inputs 0.
ITM_API void itm_hydraulics_reset(const ItmCircuit* c, ItmHydraulics* d);

// Advance by h > 0. A piston moves with its rate, s(tau) = s + w tau + (w_end - w) tau^2 / (2 h), or follows its motion
// signal; after the step it is at the end of that motion. Piecewise constant signals keep their value at the start of the
// step (the adaptive integrator stops at their jumps).
// On failure the state before the step is restored, and itm_hydraulics_get_error returns the reason: ITM_ERR_NOT_FINITE or
// ITM_ERR_DIVERGED (Newton did not converge, or a piston left its stroke).
ITM_API ItmStatus itm_hydraulics_step(const ItmCircuit* c, ItmHydraulics* d, double h);
// The last error of this instance.
ITM_API const ItmError* itm_hydraulics_get_error(const ItmHydraulics* d);

typedef struct ItmHydraulicInfo {
    long steps;
    int iterations;  // Newton iterations, or internal steps (adaptive), of the last step
    long total_iterations;
    double residual;         // of Newton in the last step, relative to the pressures
    long splits;             // steps or parts of steps halved because Newton failed
    long cavitations;        // number of times that a pressure reached the vapour pressure
    double cavitation_time;  // start of the last one, s
    int cavitation_node;     // node of the last one, or ITM_NONE
} ItmHydraulicInfo;

// Statistics of the steps so far.
ITM_API ItmHydraulicInfo itm_hydraulics_get_info(const ItmHydraulics* d);
// Message about the last cavitation: node, time and treatment. Empty if there was none.
ITM_API const char* itm_hydraulics_get_event(const ItmCircuit* c, ItmHydraulics* d);

// Current time, s.
ITM_API double itm_hydraulics_get_time(const ItmHydraulics* d);
// Set the current time, s. ITM_ERR_ARGUMENT: not finite.
ITM_API ItmStatus itm_hydraulics_set_time(ItmHydraulics* d, double t);

// Set the length at which a cylinder starts, with the extension of its definition; the stroke moves with it. Not part of the
// state: call it before the first step. ITM_ERR_ARGUMENT: no such cylinder, not finite, or driven by a signal.
ITM_API ItmStatus itm_hydraulics_set_start_length(const ItmCircuit* c, ItmHydraulics* d, int cylinder, double length);
// Set the motion of a piston: length s, constant rate w until set again. ITM_ERR_ARGUMENT: no such cylinder, not finite,
// or driven by a signal.
ITM_API ItmStatus itm_hydraulics_set_piston(const ItmCircuit* c, ItmHydraulics* d, int cylinder, double s, double w);
// The same with a rate that changes linearly to w_end over the next step (predicted by a Heun-type coupling).
ITM_API ItmStatus itm_hydraulics_set_piston_motion(const ItmCircuit* c, ItmHydraulics* d, int cylinder, double s,
                                                   double w, double w_end);
// Set all pistons, for micro steps; w_end NULL: constant rates. Not checked here: the step reports non-finite values.
ITM_API void itm_hydraulics_set_pistons(const ItmCircuit* c, ItmHydraulics* d, const double* s, const double* w,
                                        const double* w_end);

// Force of a cylinder on its rod by origin, positive when pushing. total is the sum of the other forces.
typedef struct ItmCylinderForce {
    double total;            // N
    double pressure;         // p_1 A_1 - p_2 A_2
    double viscous;          // -viscous w
    double seal;             // Coulomb friction
    double damper;           // F_d of the end dampers
    double rate_derivative;  // d total / d w at these pressures, N s/m
} ItmCylinderForce;

// Force of a cylinder at the current pressures and piston motion.
ITM_API ItmCylinderForce itm_hydraulics_get_force(const ItmCircuit* c, const ItmHydraulics* d, int cylinder);
// Force of a cylinder at the current pressures for any s and w.
ITM_API ItmCylinderForce itm_hydraulics_compute_force(const ItmCircuit* c, const ItmHydraulics* d, int cylinder,
                                                      double s, double w);
// Total forces of all cylinders in the current state, force (ncylinder).
ITM_API void itm_hydraulics_get_forces(const ItmCircuit* c, const ItmHydraulics* d, double* force);

// Set an external input. ITM_ERR_ARGUMENT: no such input, or not finite.
ITM_API ItmStatus itm_hydraulics_set_input(const ItmCircuit* c, ItmHydraulics* d, int input, double value);
// Value of an external input; NAN if there is no such input.
ITM_API double itm_hydraulics_get_input(const ItmHydraulics* d, int input);
// Pressure of a node, Pa; NAN if there is no such node.
ITM_API double itm_hydraulics_get_pressure(const ItmCircuit* c, const ItmHydraulics* d, int node);
// Set the pressure of a volume, Pa. ITM_ERR_ARGUMENT: not a volume, not finite, or below the vapour pressure.
ITM_API ItmStatus itm_hydraulics_set_pressure(const ItmCircuit* c, ItmHydraulics* d, int node, double pressure);
// Missing oil volume of a cavitating node, m^3: it must be refilled before the pressure rises.
ITM_API double itm_hydraulics_get_void(const ItmCircuit* c, const ItmHydraulics* d, int node);

// Size of the saved state in bytes. A restored simulation continues bit for bit, also in another instance of the same
// circuit and options.
ITM_API size_t itm_hydraulics_get_state_size(const ItmHydraulics* d);
// Save the state; size must be itm_hydraulics_get_state_size.
ITM_API ItmStatus itm_hydraulics_save(const ItmHydraulics* d, void* bytes, size_t size);
// Restore a saved state. ITM_ERR_ARGUMENT: wrong size.
ITM_API ItmStatus itm_hydraulics_restore(ItmHydraulics* d, const void* bytes, size_t size);

// ---------------------------------------------------------------------------- equations

// For monolithic integration and linearisation: dx/dt = f(t, x, s, w) and F(x, s, w), with the inputs of d. x contains the
// pressures of the volumes (below the vapour pressure: void, see theory), then the spool states, in the order of
// itm_circuit_get_state_name. Only itm_hydraulics_set_x changes the state of d.

// Copy the state vector to x (nstate).
ITM_API void itm_hydraulics_get_x(const ItmHydraulics* d, double* x);
// Set the state vector from x (nstate). ITM_ERR_ARGUMENT: not finite.
ITM_API ItmStatus itm_hydraulics_set_x(ItmHydraulics* d, const double* x);
// Evaluate f and F: x_dot (nstate), force (ncylinder, may be NULL), power (ITM_HYDRAULIC_ACCOUNT_COUNT, may be NULL).
ITM_API void itm_hydraulics_compute_rates(const ItmCircuit* c, ItmHydraulics* d, double* x_dot, double* force,
                                          double* power, double t, const double* x, const double* s, const double* w);
// Jacobians, row-major, each may be NULL: f_x (nstate x nstate), f_s and f_w (nstate x ncylinder),
// F_x (ncylinder x nstate), F_s and F_w (ncylinder, diagonal).
typedef struct ItmHydraulicDerivatives {
    double *f_x, *f_s, *f_w, *F_x, *F_s, *F_w;
} ItmHydraulicDerivatives;
// Evaluate the Jacobians of f and F.
ITM_API void itm_hydraulics_compute_derivatives(const ItmCircuit* c, ItmHydraulics* d,
                                                const ItmHydraulicDerivatives* out, double t, const double* x,
                                                const double* s, const double* w);
// Fastest rate of the current state: largest eigenvalue magnitude of f_x, 1/s. NAN if out of memory.
ITM_API double itm_hydraulics_compute_fastest_rate(const ItmCircuit* c, ItmHydraulics* d);
// Largest stable step, s, of an explicit integrator, from the linearisation at the current state; INFINITY for implicit
// integrators or without flow. NAN if out of memory. The cost is cubic in the number of states.
ITM_API double itm_hydraulics_compute_stable_step(const ItmCircuit* c, ItmHydraulics* d,
                                                  ItmHydraulicIntegrator integrator);
// First time after t at which a signal of the circuit has a jump or kink, or INFINITY.
ITM_API double itm_circuit_next_break(const ItmCircuit* c, double t);

// ---------------------------------------------------------------------------- statics

typedef struct ItmHydraulicStatics {
    const double* force;  // required force per cylinder, NAN: any     (ncylinder), or NULL: any
    const bool* is_free;  // inputs that may change                    (ninput), or NULL: none
    double tolerance;     // relative to the largest pressure, flow and force scales
    int max_iterations;
} ItmHydraulicStatics;

// Default: any force, no free inputs, tolerance 1e-11, 100 iterations.
ITM_API ItmHydraulicStatics itm_default_hydraulic_statics(void);

// Residual of the static equilibrium: largest net flow into a volume, largest force error.
typedef struct ItmHydraulicResidual {
    double flow;         // m^3/s
    int flow_node;       // its node, or ITM_NONE
    double force;        // N
    int force_cylinder;  // its cylinder, or ITM_NONE
    int iterations;
} ItmHydraulicResidual;

// Static residual of the current state with all pistons at rest.
ITM_API ItmHydraulicResidual itm_hydraulics_check_static(const ItmCircuit* c, ItmHydraulics* d,
                                                         const ItmHydraulicStatics* statics);
// Solve for static equilibrium: pressures (except of held volumes) and free inputs with zero net flow and the required
// cylinder forces, with minimum-norm changes; spools are at their commands. ITM_ERR_DIVERGED: no equilibrium nearby; the
// error names the largest residual, and the state is unchanged.
ITM_API ItmStatus itm_hydraulics_solve_static(const ItmCircuit* c, ItmHydraulics* d, const ItmHydraulicStatics* statics,
                                              ItmHydraulicResidual* rest);

// ---------------------------------------------------------------------------- energy and outputs

// Terms of the energy balance. supply = sum of all others, at every instant; integrated with the quadrature of the integrator.
typedef enum ItmHydraulicAccount {
    ITM_HYDRAULIC_SUPPLY,       // from pressure and flow sources, net of the flow to the tank
    ITM_HYDRAULIC_VALVE,        // lost in valves and variable orifices
    ITM_HYDRAULIC_THROTTLE,     // lost in fixed orifices, laminar resistances
    ITM_HYDRAULIC_LEAKAGE,      // lost across pistons
    ITM_HYDRAULIC_COMPRESSION,  // stored in oil, walls and gas
    ITM_HYDRAULIC_VISCOUS,
    ITM_HYDRAULIC_SEAL,
    ITM_HYDRAULIC_DAMPER,      // end dampers, including the energy stored in their springs
    ITM_HYDRAULIC_MECHANICAL,  // work of the rods
    ITM_HYDRAULIC_ACCOUNT_COUNT
} ItmHydraulicAccount;

// Energies since the start (ITM_HYDRAULIC_ACCOUNT_COUNT), J; zeros without use_ledger.
ITM_API const double* itm_hydraulics_get_ledger(const ItmHydraulics* d);

// Number of outputs. Outputs are named element.quantity ("cyl1.p1", "valve1.flow", "energy.supply"); aliases come last.
ITM_API int itm_circuit_get_output_count(const ItmCircuit* c);
// Name, unit and description of an output; all NULL if there is no such output.
ITM_API ItmOutputInfo itm_circuit_get_output_info(const ItmCircuit* c, int output);
// Index of an output by name, or ITM_NONE.
ITM_API int itm_circuit_find_output(const ItmCircuit* c, const char* name);
// Compute all outputs of the current state, values (number of outputs).
ITM_API void itm_hydraulics_compute_outputs(const ItmCircuit* c, ItmHydraulics* d, double* values);

ITM_EXTERN_C_END

#endif
