// A running circuit: one block of memory, state first.
#ifndef ITM_HYDRAULICS_DATA_H
#define ITM_HYDRAULICS_DATA_H

#include "base/arena.h"
#include "hydraulics/circuit.h"

typedef struct ItmHydraulicAdaptive ItmHydraulicAdaptive;  // CVODES and what it needs

// clang-format off
struct ItmHydraulics {
    const ItmCircuit* circuit;
    ItmHydraulicOptions options;
    ItmArena arena;
    ItmError error;
    char event[256];

    // state: saved and restored as one copy
    double*  state;        // all of it                                              (nstate)
    int      nstate;
    double*  x;            // pressures of volumes, then spool states                (nx)
    double*  clock;        // t = clock[0] + clock[1] clock[2]: base, steps, h       (3)
    double*  s;            // piston length                                          (ncyl)   m
    double*  w;            // piston rate                                            (ncyl)   m/s
    double*  w_end;        // rate at the end of the next step                       (ncyl)   m/s
    double*  input;        //                                                        (ndrive)
    double*  ledger;       //                                          (ITM_HYDRAULIC_ACCOUNT_COUNT)  J
    double*  counters;     // steps, iterations ..., see below   (ITM_COUNTERS)

    // where the cylinders stand, not part of the state
    double*  s_0;          // length at which l_1 = 0                                (ncyl)   m

    // inputs of a stage: itm_stage_begin, itm_stage_set
    double*  drive;        //                                                        (ndrive)
    double*  s_stage;      //                                                        (ncyl)   m
    double*  w_stage;      //                                                        (ncyl)   m/s
    double   tau_stage;    // time in the step that they belong to, NAN: none yet             s

    // equations: itm_kernel_compute
    double*  p;            // pressures of all nodes                                 (nnode)  Pa
    double*  flow;         // net volume flow into a node                            (nnode)  m^3/s
    double*  capacity;     // dV/dp of a volume                                      (nvol)   m^3/Pa
    double*  chamber;      // moving volume                                          (nvol)   m^3
    double*  q;            // flow through a branch                                  (nbranch) m^3/s
    double*  command;      // of a control: drive, or the least of its pilot laws    (ncontrol)
    int*     law;          // that one                                               (ncontrol)
    double*  u;            // opening of a control, dead band taken off              (ncontrol)

    // derivatives: itm_kernel_differentiate
    double*  q_p;          // dq / d(p_a - p_b)                                      (nbranch)
    double*  q_u;          // dq / du                                                (nbranch)
    double*  capacity_p;   // d capacity / dp                                        (nvol)
    double*  u_raw;        // du / d(state or command): 0 or 1                       (ncontrol)
    double*  u_command;    // du / d command at given pressures, 0 where u is a state; after itm_kernel_eliminate: of the step (ncontrol)
    double*  command_p;    // factor of the gains in d command / dp: 1, -command / sum of a hyperbola, 0 at a limit (ncontrol)

    // integrators
    double*  k[4];         // rates                                                  (nx)
    double*  x_stage;      //                                                        (nx)
    double*  x_trial;      // Newton                                                 (nx)
    double*  delta;        //                                                        (nx)
    double*  lu;           // I - h/2 J by islands                                   (nlu)
    double*  backup;       // state before the step                                  (nstate)

    ItmHydraulicAdaptive* adaptive; // or NULL
};
// clang-format on

enum {
    ITM_COUNT_STEPS,
    ITM_COUNT_ITERATIONS,
    ITM_COUNT_TOTAL,
    ITM_COUNT_RESIDUAL,
    ITM_COUNT_CAVITATIONS,
    ITM_COUNT_CAVITATION_TIME,
    ITM_COUNT_CAVITATION_NODE,
    ITM_COUNT_SPLITS,
    ITM_COUNTERS
};

// Bytes of a running instance.
size_t itm_hydraulics_measure(const ItmCircuit* c);

// ---------------------------------------------------------------------------- inputs (stage.c)

// Commands at the start of a step from t; piecewise constant signals keep these values.
void itm_stage_begin(const ItmCircuit* c, ItmHydraulics* d, double t, double h);
// Commands and piston motion at tau into the step of length h from t, the same t and h since itm_stage_begin. Nothing to do where
// the last stage had the same tau.
void itm_stage_set(const ItmCircuit* c, ItmHydraulics* d, double t, double h, double tau);

// ---------------------------------------------------------------------------- equations (kernel.c)

// x_dot = f(x) with the inputs of the stage; leaves p, flow, capacity, q, u.
void itm_kernel_compute(const ItmCircuit* c, ItmHydraulics* d, double* x_dot, const double* x);
// Flows, forces and capacities of the present state.
void itm_hydraulics_refresh(const ItmCircuit* c, ItmHydraulics* d);
// Derivatives of branches, capacities and controls; needs itm_kernel_compute(x) before.
void itm_kernel_differentiate(const ItmCircuit* c, ItmHydraulics* d, const double* x);
// Commands of all controls for the pressures of x; itm_kernel_compute calls it.
void itm_kernel_compute_commands(const ItmCircuit* c, ItmHydraulics* d, const double* x);
// Take spools and inertial flows out of the derivatives: over an implicit stage of half step `half` they are functions of the pressures.
// INFINITY: at rest. Changes u_command and the q_p of inertial branches; needs itm_kernel_differentiate before.
void itm_kernel_eliminate(const ItmCircuit* c, ItmHydraulics* d, double half);
// Call `visit` with the derivative of the flow into volume `row` by the pressure of volume `col` through each pilot.
typedef void (*ItmPilotVisit)(void* context, int row, int col, double value);
void itm_kernel_visit_pilots(const ItmCircuit* c, const ItmHydraulics* d, const double* x, ItmPilotVisit visit,
                             void* context);
// Compressibility of oil and air, 1/Pa.
double itm_kernel_compute_compressibility(const ItmOil* oil, double p);
// Dense Jacobian df/dx (nx x nx), row-major; needs itm_kernel_differentiate(x) before.
void itm_kernel_assemble_jacobian(const ItmCircuit* c, const ItmHydraulics* d, double* J, const double* x);
// Power that goes into each account; needs itm_kernel_compute before.
void itm_kernel_compute_power(const ItmCircuit* c, const ItmHydraulics* d, double power[ITM_HYDRAULIC_ACCOUNT_COUNT]);
// Command of control i, within its limits; needs itm_kernel_compute_commands before.
double itm_kernel_get_spool_command(const ItmCircuit* c, const ItmHydraulics* d, int i);

// ---------------------------------------------------------------------------- integrators

ItmStatus itm_trapezoidal_step(const ItmCircuit* c, ItmHydraulics* d, double t, double h);
ItmStatus itm_hydraulics_adaptive_create(const ItmCircuit* c, ItmHydraulics* d, ItmError* error);
void itm_hydraulics_adaptive_destroy(ItmHydraulics* d);
ItmStatus itm_hydraulics_adaptive_step(const ItmCircuit* c, ItmHydraulics* d, double t, double h);

#endif
