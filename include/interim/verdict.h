// Verdict on a run: bounds that a running system checks in every macro step, and the doubts about quantities outside them.
//
// Bounds of energies are relative to the energy of the machine: the largest value so far of its kinetic energy, the range of its
// potential energy, the energy transferred through its bonds, and the work of its sources (supplies, loads, prescribed motions, foreign
// subsystems). Energy that valves, throttles and leakage turn into heat does not count: a pump may circulate far more than reaches the
// machine. Bounds of lengths are relative to the size of the machine: the diagonal of a box around its bodies at the start.
// docs/reference/results.md lists kinds and bounds.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_VERDICT_H
#define INTERIM_VERDICT_H

#include "interim/base.h"

ITM_EXTERN_C_BEGIN

// How a run ended.
typedef enum ItmVerdict {
    ITM_VERDICT_RUNNING,  // not closed: still running, or the program died
    ITM_VERDICT_FINISHED,
    ITM_VERDICT_INTERRUPTED,  // by the user
    ITM_VERDICT_BROKE_DOWN,   // not finite, diverged, or energy without a source; `reason` gives the place
    ITM_VERDICT_DOUBTFUL,     // finished with doubts
} ItmVerdict;

// Quantity that is checked.
typedef enum ItmDoubtKind {
    ITM_DOUBT_ENERGY,            // error of the energy balance of the whole system, J
    ITM_DOUBT_COUPLING_ENERGY,   // coupling energy error of a bond, or of all frame bonds, J
    ITM_DOUBT_MOMENTUM,          // change of momentum of a mechanism without support, N s
    ITM_DOUBT_ANGULAR_MOMENTUM,  // change of its angular momentum about the centre of mass, N m s
    ITM_DOUBT_PENETRATION,       // of contacts, m
    ITM_DOUBT_JOINT_GAP,         // m or rad
    ITM_DOUBT_INTERFACE_GAP,     // distance between two joined frames, m
    ITM_DOUBT_INTERFACE_ANGLE,   // angle between them, rad
    ITM_DOUBT_RESIDUAL,          // of the complementarity solver, relative
    ITM_DOUBT_UNFINISHED,        // steps whose iteration did not reach its tolerance
    ITM_DOUBT_REBOUND,           // energy that impacts lost although their restitution returns it, J; bound: `energy`
    ITM_DOUBT_COUNT
} ItmDoubtKind;

// Bounds; 0: the quantity is not checked.
typedef struct ItmBounds {
    double energy;           // relative to the machine's energy
    double coupling_energy;  // relative to the machine's energy
    double momentum;         // relative to the sum of the magnitudes of the bodies' momenta
    double penetration;      // relative to the machine's size
    double joint_gap;        // relative to the machine's size, or to 1 m (1 rad) if the machine is smaller
    double interface_gap;    // relative to the machine's size; angles: rad
    double residual;         // relative residual of the complementarity solver
    double unfinished;       // fraction of all steps
    double
        breakdown;  // a step fails with ITM_ERR_DIVERGED if the stored energy exceeds the work of all sources by more than
                    // this factor times the energy that the machine had at the start, released or received
} ItmBounds;

// Defaults: energies and momenta 0.01, lengths and residual 0.001, unfinished steps 0.01, breakdown 1.
ITM_API ItmBounds itm_default_verdict_bounds(void);

// A quantity that has left its bounds.
typedef struct ItmDoubt {
    ItmDoubtKind kind;
    const char* name;   // name of the kind: "energy balance"
    const char* where;  // mechanism, bond or interface; "" for the whole machine. Valid as long as the system
    const char* unit;
    double bound;         // relative to the reference values so far
    double first_time;    // time since which `largest` has been above the bound, s
    double largest;       // largest value so far
    double largest_time;  // time of the largest value, s
} ItmDoubt;

// Name of a kind: "energy balance", "coupling energy", ...; NULL for any other number.
ITM_API const char* itm_verdict_doubt_name(ItmDoubtKind kind);
// Describe a doubt in one sentence: "joint gap of 'arm': up to 0.0042 m (at 1.3 s), above 0.001 m since 0.7 s". text (size)
ITM_API void itm_verdict_describe_doubt(const ItmDoubt* doubt, char* text, size_t size);

ITM_EXTERN_C_END

#endif
