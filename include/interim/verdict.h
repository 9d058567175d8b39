// How far a run can be trusted: bounds that a running system compares itself with in every macro step, and the doubts that follow.
//
// Energies are compared with the machine's own energy: the largest of its kinetic energy, the range of its potential energy and
// the works of all sources (supplies, loads, prescribed motions, foreign subsystems), each as large as it has been so far.
// Lengths are compared with the size of the machine: the diagonal of a box around its bodies at the start.
// docs/reference/results.md lists kinds and bounds.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_VERDICT_H
#define INTERIM_VERDICT_H

#include "interim/base.h"

ITM_EXTERN_C_BEGIN

// How a run ended.
typedef enum ItmVerdict {
    ITM_VERDICT_RUNNING,      // not closed yet: the program died
    ITM_VERDICT_FINISHED,
    ITM_VERDICT_INTERRUPTED,  // by the user
    ITM_VERDICT_BROKE_DOWN,   // not finite, diverged, or energy without a source; `reason` says where
    ITM_VERDICT_DOUBTFUL,     // finished with doubts
} ItmVerdict;

// What is compared with a bound.
typedef enum ItmDoubtKind {
    ITM_DOUBT_ENERGY,            // energy of the whole that is not accounted for, J
    ITM_DOUBT_COUPLING_ENERGY,   // coupling energy error of a bond, or of all interfaces between mechanisms, J
    ITM_DOUBT_MOMENTUM,          // change of momentum of a mechanism that nothing supports, N s
    ITM_DOUBT_ANGULAR_MOMENTUM,  // and of its angular momentum about the centre of mass, N m s
    ITM_DOUBT_PENETRATION,       // of contacts, m
    ITM_DOUBT_JOINT_GAP,         // m or rad
    ITM_DOUBT_INTERFACE_GAP,     // distance of two joined frames, m
    ITM_DOUBT_INTERFACE_ANGLE,   // angle between them, rad
    ITM_DOUBT_RESIDUAL,          // of the complementarity solver, relative
    ITM_DOUBT_UNFINISHED,        // steps whose iteration did not reach its tolerance
    ITM_DOUBT_COUNT
} ItmDoubtKind;

// Bounds; 0: the quantity is not judged.
typedef struct ItmBounds {
    double energy;           // of the machine's energy
    double coupling_energy;  // of the machine's energy
    double momentum;         // of the sum of the bodies' momenta, each by its magnitude
    double penetration;      // of the machine's size
    double joint_gap;        // of the machine's size, where that is below 1 m of 1 m or 1 rad
    double interface_gap;    // of the machine's size; angles: rad
    double residual;
    double unfinished;       // share of all steps
    double breakdown;        // a step fails with ITM_ERR_DIVERGED where stored energy grows beyond all inputs by this many times all that
                             // the machine had at the start, released or was given
} ItmBounds;

// Energies and momenta 0.01, lengths and residual 0.001, unfinished steps 0.01, breakdown 1.
ITM_API ItmBounds itm_default_verdict_bounds(void);

// A quantity that has left its bounds.
typedef struct ItmDoubt {
    ItmDoubtKind kind;
    const char* name;     // of the kind: "energy balance"
    const char* where;    // mechanism, bond or interface; "" for the whole machine. Lives as long as the system
    const char* unit;
    double bound;         // by what the run has seen so far
    double first_time;    // since when the largest value has been above the bound, s
    double largest;       // so far
    double largest_time;  // s
} ItmDoubt;

// "energy balance", "coupling energy", ...; NULL for a number that is none
ITM_API const char* itm_verdict_doubt_name(ItmDoubtKind kind);
// A sentence: "joint gap of 'arm': up to 0.0042 m (at 1.3 s), above 0.001 m since 0.7 s". text (size)
ITM_API void itm_verdict_describe_doubt(const ItmDoubt* doubt, char* text, size_t size);

ITM_EXTERN_C_END

#endif
