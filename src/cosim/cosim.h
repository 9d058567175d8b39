// A running co-simulation: mechanisms, members (running subsystems), the bonds and wires between them, and how they are
// grouped for stepping.
//
// Time is counted in ticks of a group: a member steps when its period of ticks comes round, so any integer ratios of steps meet
// exactly.
#ifndef ITM_COSIM_COSIM_H
#define ITM_COSIM_COSIM_H

#include "base/names.h"
#include "cosim/pool.h"
#include "hydraulics/data.h"
#include "interim/cosim.h"
#include "rim/rim.h"

// clang-format off

// What a bond remembers from one macro step to the next; doubles only: it is saved as bytes.
typedef struct ItmBondMemory {
    double npast;            // communication points before this one that are known, at most 2
    double w_past[2];        // rates there, the latest first                       m/s
    double force;            // of the port at the end of the last micro step       N
    double active;           // the part of it that the mechanism is told           N
    double P0, P1;           // impulse and moment of the last macro step           N s
    double residual_power;   // W
    double residual_energy;  // J
    double given;            // work of the port so far                             J
    double spurious;         // work that the mechanism got beyond that             J
    double throughput;       // J
} ItmBondMemory;

typedef struct ItmBond {
    char* name;
    ItmBondOptions options;
    int mechanism, slot;     // which of its interfaces
    int member, port;
    double s, w;             // at the communication point                          m, m/s
    double slope, curve;     // predicted rate: w + slope tau + curve tau^2
    // as the member sees the interface, at the micro rate
    double s_now, w_now, w_end;
    double s_port;           // where the port got to by the rates it was told      m
    double lambda;           // force of the port at present                        N
    double lambda_start;     // and at the start of its micro step                  N
    double told;             // force that the mechanism is told for this step      N
    double held;             // force that it has: with its own friction where that is not told
    double work_port;        // of the port over this step                          J
    double work_model;       // of its force on the interface model                 J
    ItmBondMemory* memory;
} ItmBond;

typedef struct ItmMechanism {
    char* name;
    const ItmModel* model;
    ItmStepOptions step;
    ItmData* data;
    int      nsub;           // own steps a macro step
    int      wire, nwire;    // those that feed its actuators
    int      nbond;
    int*     bonds;          // by slot                                             (nbond)
    bool     has_rim;        // a bond is coupled by the interface model
    bool     uses_impulse;   // and its forces come as impulses
    bool     use_heun;       // the interface model goes by Heun's rule
    int      K;              // micro steps of the interface model a macro step
    ItmRim   rim;
    ItmArena arena;
    double*  lambda;         // forces by slot                                      (nbond)    N
    double*  w_end;          // rates by slot                                       (nbond)    m/s
    bool     is_watched;     // a wire wants its outputs
    double*  y;              // outputs at the communication point                  (noutput) where watched
    ItmStatus status;
    ItmError error;
    double   cost, cost_rim; // s
} ItmMechanism;

typedef struct ItmMember {
    char* name;
    ItmSubsystem table;
    ItmHydraulics* hydraulics; // of a circuit, else NULL
    double   step;           // h, s
    long     period;         // ticks of its group between two steps
    int      group;
    int      wire, nwire;    // those that feed it
    bool     is_watched;     // a wire wants its outputs
    int*     bonds;          // by port, or ITM_NONE                                (nport)
    double  *s, *w, *w_end;  // of its ports                                        (nport)
    double*  force;          //                                                     (nport)    N
    // saved with the state: offset, u, y
    double*  offset;         // of the inputs, from a static start                  (ninput)
    double*  u;              // inputs, offset included                             (ninput)
    double*  y;              // outputs                                             (noutput)
} ItmMember;

typedef enum ItmSourceKind {
    ITM_SOURCE_MEMBER,       // output `index` of member `part`
    ITM_SOURCE_MECHANISM,    // output `index` of mechanism `part`
    ITM_SOURCE_LENGTH,       // of bond `index`, at the micro rate
    ITM_SOURCE_RATE,
    ITM_SOURCE_FORCE,
} ItmSourceKind;

typedef struct ItmWire {
    ItmSourceKind from;
    int from_part, from_index;
    int to_member, to_mechanism;  // one of them, the other ITM_NONE
    int to_index;                 // input of the member, actuator of the mechanism
} ItmWire;

// Members that must step side by side, because a wire or an interface model joins them. Groups step in parallel.
typedef struct ItmGroup {
    int  nticks;             // a macro step: least common multiple of the micro steps in it
    int  nmember, nmechanism;
    int* members;            // sampled ones first, in the order of their wires     (nmember)
    int* mechanisms;         // whose interface models they share                   (nmechanism)
    ItmStatus status;
    ItmError error;
    double cost;             // s
} ItmGroup;

struct ItmCosim {
    ItmCosimOptions options;
    double   step;           // H, s
    int      nmechanism, nmember, nbond, nwire, ngroup;
    ItmMechanism* mechanisms;
    ItmMember* members;
    int*     sampled;        // sampled members in the order of their wires         (nsampled)
    int      nsampled;
    ItmBond* bonds;
    ItmWire* wires;
    ItmGroup* groups;
    int*     group_room;     // members and mechanisms of all groups
    int*     slots;          // bonds of all mechanisms
    ItmPool* pool;           // NULL: one thread

    // state beyond that of the parts: steps so far, then memories of the bonds
    double*  state;
    size_t   nstate;
    char*    backup;         // whole state before the step
    char*    start;          // state to which a reset goes back
    bool     has_start;      // it is there: a static start; otherwise the parts' own starts
    ItmError error;
    char     warning[256];

    // outputs
    int      noutput;
    ItmOutputInfo* outputs;
    ItmNames output_names;
};
// clang-format on

// ---------------------------------------------------------------------------- step.c

// The present state of the parts is the start from now on; forces and outputs are computed anew.
void itm_cosim_start_here(ItmCosim* x);

// ---------------------------------------------------------------------------- mechanism.c

// Positions, velocities and interfaces at the communication point.
void itm_mechanism_measure(ItmCosim* x, ItmMechanism* part);
// The polynomial of the rate over the coming step H.
void itm_bond_predict(ItmBond* bond, double H);
// The interface model for the coming step. Status and error in `part`.
void itm_mechanism_reduce(ItmCosim* x, ItmMechanism* part);
// One macro step with the impulses of its interface model, or with held forces. Status and error in `part`.
void itm_mechanism_take_over(ItmMechanism* part);
void itm_mechanism_step_held(ItmCosim* x, ItmMechanism* part);
// The first body whose coordinates or velocities are not finite, as an error of `part`.
void itm_mechanism_check(ItmCosim* x, ItmMechanism* part);

// ---------------------------------------------------------------------------- group.c

// All members of a group over a macro step. Status and error in `group`.
void itm_group_run(ItmCosim* x, ItmGroup* group);
// Forces and outputs of all members as they are now.
void itm_members_start(ItmCosim* x);
bool itm_member_is_due(const ItmCosim* x, const ItmMember* member, int tick);
// A step h of a member that is due at a tick of the present macro step; h 0: its outputs only.
ItmStatus itm_member_step(ItmCosim* x, ItmMember* member, int tick, double h, ItmError* error);

// ---------------------------------------------------------------------------- wires.c

// Find both ends of a wire by name.
ItmStatus itm_wire_resolve(ItmCosim* x, ItmWire* wire, const char* from, const char* to, ItmError* error);
// Groups, order of the sampled members; an algebraic loop is refused.
ItmStatus itm_cosim_group(ItmCosim* x, ItmError* error);
// Values of all wires into the inputs of a member, of a mechanism.
void itm_wires_feed_member(ItmCosim* x, ItmMember* member);
void itm_wires_feed_mechanism(ItmCosim* x, ItmMechanism* part);

// ---------------------------------------------------------------------------- ledger.c

// At the end of a macro step: residual power and energy of every bond, spurious energy, throughput.
void itm_bonds_book(ItmCosim* x);

// ---------------------------------------------------------------------------- output.c

ItmStatus itm_cosim_name_outputs(ItmCosim* x, ItmError* error);
void itm_cosim_free_outputs(ItmCosim* x);

// ---------------------------------------------------------------------------- circuit.c

// A circuit as a subsystem; the running instance belongs to it.
ItmStatus itm_circuit_make_subsystem(ItmSubsystem* subsystem, ItmHydraulics** running, const ItmCircuit* c,
                                     const ItmHydraulicOptions* options, ItmError* error);

// ---------------------------------------------------------------------------- small

static inline const char* itm_actuator_name(const ItmModel* m, int actuator)
{
    return m->pushes[m->actuator_push[actuator]].name;
}

static inline double* itm_cosim_get_steps(const ItmCosim* x)
{
    return x->state;
}

#endif
