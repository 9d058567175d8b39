// The compiled circuit: flat tables that never change while a simulation runs.
//
// Nodes are numbered anew: first the volumes, island by island (volumes that exchange oil without a source in
// between), then the sources. Every resistance, whatever element it belongs to, is one branch of the same table:
//   q = coefficient opening r(p_a - p_b)
// A directional valve is four branches that share a control. A control is moved by a command, or by pressures (pilots): relief, reducing,
// counterbalance and priority valves, compensators and the controllers of pumps differ by their pilots only.
#ifndef ITM_HYDRAULICS_CIRCUIT_H
#define ITM_HYDRAULICS_CIRCUIT_H

#include "base/owned.h"
#include "interim/hydraulics.h"
#include "signal/signal.h"

#include <math.h>

// clang-format off
// What opens a branch.
typedef enum ItmOpening {
    ITM_OPENING_FULL,        // 1
    ITM_OPENING_POSITIVE,    // max(u, 0)
    ITM_OPENING_NEGATIVE,    // max(-u, 0)
    ITM_OPENING_COMPLEMENT,  // 1 - u
    ITM_OPENING_RECIPROCAL,  // 1 / (1 + max(u, 0))
    ITM_OPENING_TABLE,       // metering curve
} ItmOpening;

typedef struct ItmBranch {
    int a, b;                    // nodes
    ItmOpening opening;
    int control;                 // whose u, or ITM_NONE
    bool is_one_way;             // q = 0 for p_a < p_b
    ItmHydraulicAccount account; // where its loss is counted
    double coefficient;          // m^3/(s sqrt(Pa)); laminar: m^3/(s Pa)
    double threshold;            // the law is a straight line below; laminar: infinite          Pa
    double slope;                // of that line: 1/sqrt(threshold); laminar: 1
    int npoint;                  // of the metering curve
    const double *table_u, *table_y; //                                              (npoint)
    int x_adr;                   // inertial: its flow is this state; or ITM_NONE
    double inv_inertia, rate;    // inertial: q' = inv_inertia (p_a - p_b) - rate q               m^3/(s^2 Pa), 1/s
    int aa, bb, ab, ba;          // its entries in ItmHydraulics.lu, or ITM_NONE: a source
} ItmBranch;

// What moves a control by pressures.  value = base + by_drive drive + sum of gain_i p_i, or base / sum (a limit of torque or power)
typedef struct ItmPilotTerm {
    int node;
    double gain;         // 1/Pa
} ItmPilotTerm;

typedef struct ItmPilotLaw {
    double base;
    int drive;           // or ITM_NONE
    double by_drive;
    int adr, count;      // its terms
    bool is_hyperbola;   // base / sum; no limit where the sum is not positive
    int shaft;           // hyperbola: base / (|w| sum) with the rate of this motor, or ITM_NONE
} ItmPilotLaw;

// Spool of a valve, opening of a variable orifice, displacement of a motor.
typedef struct ItmSpool {
    int drive;           // its command, where nlaw is 0
    int law_adr, nlaw;   // its command is the least of these
    int order;           // of the dynamics: 0, 1, 2
    int x_adr;           // first state, where order > 0
    double lo, hi;       // command and u stay in between
    double dead_band;
    double rate;         // order 1: 1/tau; order 2: natural frequency                       1/s
    double damping;      // order 2: 2 zeta omega                                            1/s
} ItmSpool;

// Given quantity: base + signal + input. Of source k (pressure), flow source or control.
typedef struct ItmDrive {
    const char* name;
    double base;
    int signal;          // or ITM_NONE
} ItmDrive;

typedef struct ItmFlowBranch {
    int a, b;            // a may be ITM_NONE
    int drive;
} ItmFlowBranch;

typedef struct ItmAccumulator {
    int node;
    double gas_volume, precharge, inv_exponent;
} ItmAccumulator;

// A power port: a cylinder, or a motor, whose length is an angle, whose area is the displacement and whose chambers do not grow.
typedef struct ItmCylinder {
    const char* name;
    bool is_rotary;              // a motor
    int node_1, node_2;
    double area_1, area_2;       // m^2; motor: displacement, m^3/rad
    int control;                 // whose u scales the areas of a motor, or ITM_NONE
    double pressure_drag;        // motor: part of the pressure torque that drags
    int speed;                   // drive that turns a motor, or ITM_NONE
    double extension;            // l_1 at the start                                          m
    double stroke;               // m; motor: infinite
    double start_length;         // m
    bool has_start_length;       // the user gave it; otherwise a bond may set another
    double wall;                 // 1 / wall modulus                                        1/Pa
    double viscous, coulomb, inv_speed;
    double damper_length, damper_stiffness, damper_damping;
    int motion;                  // signal, or ITM_NONE
} ItmCylinder;

// Compressibility of the oil of a volume: kappa(p) = 1/B = (a + b p) / (1 + c p + e p^2)
typedef struct ItmOil {
    double a, b, c, e;
    double air, inv_air_exponent; // entrained air: volume at ITM_AIR_PRESSURE per volume of oil, 1/n
    double vapour;               // Pa
    double highest;              // kappa > 0 below                                            Pa
} ItmOil;

// Elements as the outputs need them.
typedef struct ItmValveView {
    const char* name;
    int control;
    int branch;                  // first of P-A, B-T, P-B, A-T
} ItmValveView;

typedef struct ItmBranchView {
    const char* name;
    int branch;
    int last;                    // last branch of a line; otherwise branch
    int second;                  // edge A-C of a valve, or 0: none
    int reverse;                 // check valve from b to a, or 0: none
    int bypass;                  // check valve from a to b, or 0: none
} ItmBranchView;

typedef struct ItmCircuitOutput {
    const char *name, *unit, *description;
} ItmCircuitOutput;

struct ItmCircuit {
    int nnode, nvol, nsrc, nbranch, ncontrol, ndrive, nflow, ncyl, nacc, nx, nisland, nsignal;
    int nlu;                     // reals in the Jacobian blocks of all islands

    // nodes
    const char** node_name;      //                                                  (nnode)
    int*     node_index;         // id of the builder to node                        (nnode)
    ItmOil*  oil;                //                                                  (nvol)
    double*  volume;             // that does not move, dead volumes of chambers included (nvol) m^3
    double*  wall;               // its share V/B of the walls                       (nvol)   m^3/Pa
    double*  void_capacity;      // V per Pa of virtual pressure below vapour        (nvol)   m^3/Pa
    double*  start;              // states at the start; spools follow the commands  (nx)
    bool*    is_held;            //                                                  (nvol)
    double*  source_vapour;      // least pressure of a source                       (nsrc)   Pa
    int*     source_drive;       //                                                  (nsrc)
    int*     island_adr;         // first volume                                     (nisland + 1)
    int*     lu_adr;             // first entry of the Jacobian block                (nisland)
    int*     lu_diag;            // diagonal entry of each volume                    (nvol)

    ItmBranch* branches;         //                                                  (nbranch)
    ItmSpool* controls;          //                                                  (ncontrol)
    ItmPilotLaw* laws;           //                                                  (nlaw)
    ItmPilotTerm* terms;         //                                                  (nterm)
    int      nlaw, nterm;
    int      ninertial;          // branches
    bool     has_followers;      // states beside the pressures that follow pressures: controls with pilots and dynamics, inertial branches
    ItmDrive* drives;            //                                                  (ndrive)
    ItmFlowBranch* flows;        //                                                  (nflow)
    ItmAccumulator* accumulators;//                                                  (nacc)
    ItmCylinder* cylinders;      //                                                  (ncyl)
    ItmSignal* signals;          //                                                  (nsignal)
    int*     varying;            // drives whose signal varies within a step         (nvarying)
    int      nvarying;

    // names
    int nvalve, nsingle;
    ItmValveView* valves;        //                                                  (nvalve)
    ItmBranchView* singles;      // orifices, laminar resistances, pressure valves, filters, lines (nsingle)
    const char** accumulator_name; //                                                (nacc)
    const char** flow_name;      //                                                  (nflow)
    const char** state_name;     //                                                  (nx)
    ItmCircuitOutput* outputs;   //                                                  (noutput)
    int*     alias_of;           // outputs from noutput_own on                      (noutput - noutput_own)
    int noutput_own, noutput;
    size_t data_bytes;

    ItmOwned owned;              // memory of all of the above
};
// clang-format on

#define ITM_AIR_PRESSURE 1e5  // where the volume of entrained air is given, Pa

// Value of a law for the sum of its terms.
static inline double itm_law_compute(const ItmPilotLaw* law, double sum, double drive, double w)
{
    if (!law->is_hyperbola) {
        return law->base + law->by_drive * drive + sum;
    }
    double scale = law->shaft != ITM_NONE ? fabs(w) * sum : sum;
    return scale > 0.0 ? law->base / scale : INFINITY;
}

// Compressibility law of a fluid at its temperature.
ItmOil itm_fluid_compile(const ItmFluidDef* def);

// Zeroed memory that lives as long as the circuit; NULL without memory.
void* itm_circuit_take(ItmCircuit* c, size_t count, size_t size);

// Name all outputs, and resolve the aliases; fills outputs, noutput_own, noutput.
struct ItmCircuitBuilder;
ItmStatus itm_circuit_name_outputs(ItmCircuit* c, const struct ItmCircuitBuilder* b, ItmError* error);

#endif
