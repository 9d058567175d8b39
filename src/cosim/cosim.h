// A running co-simulation: mechanisms, subsystems (running subsystems), the bonds and wires between them, and how they are
// grouped for stepping.
//
// Time is counted in ticks of a group: a subsystem steps when its period of ticks comes round, so any integer ratios of steps coincide
// exactly.
#ifndef ITM_COSIM_COSIM_H
#define ITM_COSIM_COSIM_H

#include "base/names.h"
#include "base/pool.h"
#include "cosim/foreign.h"
#include "hydraulics/data.h"
#include "interim/cosim.h"
#include "mlcp/force_law.h"
#include "rim/effective.h"
#include "rim/join.h"

// clang-format off

// What a bond remembers from one macro step to the next; doubles only: it is saved as bytes.
typedef struct ItmBondMemory {
    double npast;            // communication points before this one that are known, at most 2
    double w_past[2];        // rates there, the latest first                       m/s
    double force;            // of the port at the end of the last micro step       N
    double active;           // the part of it that the mechanism receives          N
    double P0, P1;           // impulse and moment of the last macro step           N s
    double residual_power;   // W
    double residual_energy;  // J
    double given;            // work of the port so far                             J
    double coupling_error;         // work that the mechanism got beyond that             J
    double throughput;       // J
} ItmBondMemory;

// What the parts of a macro step before the last renewal of the interface model add up to (renewal.c).
typedef struct ItmRenewed {
    double work;             // of the model's forces, and of what the mechanism's rate at the end differed  J
    double P0, P1;           // impulse and moment                                  N s
} ItmRenewed;

typedef struct ItmBond {
    char* name;
    ItmBondOptions options;
    int mechanism, slot;     // which of its interfaces
    int subsystem, port;
    double s, w;             // at the communication point                          m, m/s
    double least, most;      // ends of the stroke, which are limits of the mechanism; infinite: none      m
    double slope, curve;     // predicted rate: w + slope tau + curve tau^2
    // as the subsystem sees the interface, at the micro rate
    double s_now, w_now, w_end;
    double s_port;           // where the port got to by the rates it received      m
    double lambda;           // force of the port at present                        N
    double lambda_start;     // and at the start of its micro step                  N
    double told;             // force that the mechanism receives for this step     N
    double held;             // force that it has: with its own friction where it receives none
    double shown;            // force that its interface model has for it: at the rate of the start of the step
    double work_port;        // of the port over this step                          J
    double s_held, w_held;   // of the mechanism at the start of its own step       m, m/s
    double work_held;        // of the force that the mechanism has over this step  J
    double work_model;       // of its force on the interface model                 J
    ItmRenewed renewed;
    ItmBondMemory* memory;
} ItmBond;

// A frame on a body of a mechanism.
typedef struct ItmInterface {
    char* name;
    int mechanism;
    ItmRimFrame frame;       // its direction is that of no row in particular
    unsigned directions;
    int first, nrow;         // its rows in the interface model of the mechanism
    int bond;                // frame bond, or ITM_NONE
} ItmInterface;

// What a frame bond remembers; doubles only, saved as bytes.
typedef struct ItmFrameMemory {
    double impulse[ITM_DIRECTION_COUNT]; // on mechanism a over the last macro step     N s
} ItmFrameMemory;

// Two frames that move together.
typedef struct ItmFrameBond {
    char* name;
    ItmBondOptions options;
    int a, b;                // interfaces
    int assembly, link, n;    // its rows among the links of its assembly
    ItmMat3 turn;            // R_a' R_b at the start
    double drift, angle, slip; // at the communication point                        m, rad, m/s
    ItmFrameMemory* memory;
} ItmFrameBond;

// An assembly as one of its mechanisms sees it: its own interface model with its contacts, and those of the others as they were at
// the communication point, carried on by themselves; with coupling rim these are smooth.
typedef struct ItmPeerModels {
    ItmRim*  others;         // numbers only; the own one is not used               (nmechanism)
    double*  lambda;         // mean forces of line actuators                       (join.nline)    N
    ItmRimJoin join;
    ItmArena arena;
} ItmPeerModels;

// An interface model at the micro rate: of a mechanism alone, or joined.
typedef struct ItmInterfaceModel {
    const char* name;
    ItmRim* rim;
    int     assembly;         // ITM_NONE: of a mechanism
    int     n;               // line actuators
    int*    bonds;           // their bonds                                         (n)
    double* lambda;          // forces                                              (n or more)     N
    double* w_end;           // rates                                               (n or more)     m/s
    bool    use_heun;
    int     K;               // micro steps a macro step
    int     first, last;     // those that the model as it is stands for; 0, K unless it is renewed within the macro step
    ItmForeign* foreign;     // whose model it is, or NULL
} ItmInterfaceModel;

// Mechanisms that frame bonds connect.
typedef struct ItmAssembly {
    int  nmechanism, nlink;
    int* mechanisms;         //                                                     (nmechanism)
    ItmRimLink* links;       //                                                     (nlink)
    bool is_held;            // exchange hold
    bool has_subsystems;        // subsystems share its interface model: a group runs it
    int  K;                  // micro steps per macro step, unless a subsystem has its own
    ItmRimJoin join;         // of the mechanisms' interface models, smooth copies where these are smooth
    ItmRim* smooth;          // the copies                                          (nmechanism)
    ItmInterfaceModel interface_model;
    ItmPeerModels* views;   // exchange hold, or smooth models among them          (nmechanism), else NULL
    ItmArena arena;
    ItmStatus status;
    ItmError error;
    double cost;             // s
} ItmAssembly;

#define ITM_MECHANISM_COUNTERS 3

// What a mechanism adds to the energy balance and the verdict, at a communication point; doubles only.
typedef struct ItmAccount {
    double booked[ITM_LEDGER_COUNT];
    double kinetic, potential, start;        // J
    double p[3], L[3], p_size, L_size;       // momenta, where they are judged       N s, N m s
} ItmAccount;

typedef struct ItmMechanism {
    char* name;
    int  rank;               // process that steps it (ranks.c)
    ItmAccount account;      // of the last communication point
    bool has_account;        // its process has sent it
    const ItmModel* model;   // without bodies for a foreign mechanism
    ItmForeign* foreign;     // simulated elsewhere, or NULL
    ItmModel* empty;         // model of a foreign mechanism, owned
    ItmStepOptions step;
    double   own_step;       // that the user gave it, 0: none                      s
    ItmData* data;
    int      nsub;           // own steps a macro step
    int      wire, nwire;    // those that feed its actuators
    int      nbond;
    int*     bonds;          // by slot                                             (nbond)
    int      nframe;         // rows of its interfaces, after those of the bonds
    int      assembly;        // or ITM_NONE: no frame bond
    bool     has_rim;        // a bond is coupled by the interface model
    bool     is_smooth;      // of which contacts that hold are part
    bool     uses_impulse;   // and its forces come as impulses
    bool     use_heun;       // the interface model uses Heun's rule
    int      K;              // micro steps of the interface model a macro step
    ItmRim   rim;
    ItmInterfaceModel interface_model;
    ItmArena arena;
    double*  lambda;         // forces by slot                                      (nbond)    N
    double*  w_end;          // rates by slot                                       (nbond)    m/s
    ItmForceRow* passive;    // forces that follow their own rate, velocity-pressure (nbond)
    double*  W;              // mobility of the frames, and scratch   (nframe^2 + ITM_SPECTRUM_SCRATCH(nframe))
    // saved with the state, as reals
    double*  nswitch;        // bounded rows that changed inside macro steps so far
    double*  nlost;          // macro steps so far in which joined frames had lost rank
    double*  nrenewal;       // renewals of its interface model within macro steps so far
    bool     is_supported;   // its momentum can change by reactions
    long     steps_seen, unfinished_seen; // of its step info by the monitor
    double   rebound_seen;   // likewise, J
    bool     is_watched;     // a wire reads its outputs
    double*  y;              // outputs at the communication point                  (noutput) where watched
    ItmStatus status;
    ItmError error;
    double   cost, cost_rim; // s
} ItmMechanism;

typedef struct ItmSubsystemInstance {
    char* name;
    ItmSubsystem table;
    ItmHydraulics* hydraulics; // of a circuit, else NULL
    double   own_step;       // that the user gave it, 0: that of the system        s
    double   step;           // h, s
    long     period;         // ticks of its group between two steps
    int      group;
    int      rank;           // process that steps it, that of its group
    int      wire, nwire;    // those that feed it
    bool     is_watched;     // a wire reads its outputs
    int*     bonds;          // by port, or ITM_NONE                                (nport)
    double  *s, *w, *w_end;  // of its ports                                        (nport)
    double*  force;          //                                                     (nport)    N
    // saved with the state: offset, u, y
    double*  offset;         // of the inputs, from a static start                  (ninput)
    double*  u;              // inputs, offset included                             (ninput)
    double*  y;              // outputs                                             (noutput)
} ItmSubsystemInstance;

typedef enum ItmSourceKind {
    ITM_SOURCE_SUBSYSTEM,       // output `index` of subsystem `part`
    ITM_SOURCE_MECHANISM,    // output `index` of mechanism `part`
    ITM_SOURCE_LENGTH,       // of bond `index`, at the micro rate
    ITM_SOURCE_RATE,
    ITM_SOURCE_FORCE,
} ItmSourceKind;

typedef struct ItmWire {
    ItmSourceKind from;
    int from_part, from_index;
    int to_subsystem, to_mechanism;  // one of them, the other ITM_NONE
    bool is_signal;               // of the mechanism, external; otherwise an actuator
    int to_index;                 // input of the subsystem, actuator or signal of the mechanism
    double factor, offset;        // value at the end = factor * value at the start + offset
} ItmWire;

// Subsystems that must step side by side, because a wire or an interface model joins them. Groups step in parallel.
typedef struct ItmGroup {
    int  nticks;             // a macro step: least common multiple of the micro steps in it
    int  nsubsystem, ninterface_model;
    int* subsystems;            // sampled ones first, in the order of their wires     (nsubsystem)
    ItmInterfaceModel** interface_models;       // interface models that they share                    (ninterface_model)
    int  rank;               // process that steps them
    bool is_late;            // mechanisms of other processes are at its bonds or wires: it waits for them
    ItmStatus status;
    ItmError error;
    double cost;             // s
} ItmGroup;

// What a quantity that has a bound has been so far; doubles only, saved as bytes.
typedef struct ItmExcess {
    double largest, largest_time;
    double bound;            // 0: not judged
    double first_time;       // since when the largest is above the bound, while it is
    double is_beyond;        // 0 or 1
} ItmExcess;

// A mechanism's momenta, and its steps; doubles only.
typedef struct ItmMechanismWatch {
    double p[3], L[3];       // momentum and angular momentum about the centre of mass at the start     N s, N m s
    double p_size, L_size;   // largest sum of the magnitudes of the bodies' momenta so far
    double steps, unfinished; // so far
    double rebound_lost;     // ItmStepInfo.impact_loss so far                                          J
} ItmMechanismWatch;

// What the whole machine has had so far; doubles only.
typedef struct ItmMachineWatch {
    double has_start;        // 0 or 1
    double kinetic_first;    // of the first step that was more than rest
    double kinetic_max, potential_min, potential_max;
    double reached, load, motion;            // largest magnitudes of works: of supplies less what valves, throttles and leakage lost; of other sources
    double through;          // energy transferred through the bonds
    double supply_in, load_in, motion_in;    // largest works that they put in
    double released;         // most energy that oil, walls and gas gave back
    double lift;             // most energy that position correction may have given
    double rest;             // energy below which a machine counts as at rest
    double size;             // m
    double error;            // largest magnitude of ItmBalance.error
} ItmMachineWatch;

// What failed first in a macro step: processes that step together report what one process would.
typedef struct ItmFailure {
    int phase, kind, index;  // phase of the step; group, assembly or mechanism; its number
} ItmFailure;

// A quantity with a bound.
typedef struct ItmJudged {
    ItmDoubtKind kind;
    const char* where;       // "" the whole
    int index;               // bond, frame bond or mechanism
} ItmJudged;

struct ItmCosim {
    ItmCosimOptions options;
    double   step;           // H, s
    int      nmechanism, nsubsystem, nbond, nwire, ngroup;
    int      ninterface, nframe_bond, nassembly;
    ItmInterface* interfaces;
    ItmFrameBond* frame_bonds;
    ItmAssembly* assemblies;
    int      inspected;      // mechanism that was looked at last, or ITM_NONE
    char     row_name[256];
    ItmMechanism* mechanisms;
    ItmSubsystemInstance* subsystems;
    int*     sampled;        // sampled subsystems in the order of their wires         (nsampled)
    int      nsampled;
    ItmBond* bonds;
    ItmWire* wires;
    ItmGroup* groups;
    int*     group_room;     // subsystems of all groups
    ItmInterfaceModel** interface_model_room;   // and interface models
    int*     slots;          // bonds of all mechanisms
    ItmPool* pool;           // NULL: one thread

    // state beyond that of the parts: steps so far, memories of the bonds, of the frame bonds, counters of the mechanisms
    double*  state;
    size_t   nstate;
    bool     has_backup;     // a step has begun since the system was reset or restored
    char*    backup;         // whole state before the step
    char*    start;          // state to which a reset goes back
    bool     has_start;      // it is there: a static start; otherwise the parts' own starts
    ItmError error;
    ItmFailure failure;
    struct ItmRanks* ranks;  // the other processes that step this system, or NULL
    int      rank;           // number of this process among them, 0 alone
    int      driven;         // mechanism whose micro steps the caller takes, or ITM_NONE
    bool     is_driving;     // and they have begun

    // bounds: what has one, and what it has been
    ItmJudged* judged;      //                                                  (njudged)
    ItmExcess* excess;       //                                                     (njudged)
    int      njudged;
    ItmMachineWatch* machine;
    ItmMechanismWatch* watches; //                                                  (nmechanism)
    bool     is_trial;       // steps that are taken back: nothing is judged
    ItmMessageHandler* message_handler; // or NULL
    void*    message_user;

    // inputs and outputs
    int      ninput;
    ItmInputInfo* inputs;    //                                                     (ninput)
    ItmNames input_names;
    int      noutput;
    ItmOutputInfo* outputs;
    ItmNames output_names;
    int      nalias;         // second names, the last of the outputs
    int*     alias_of;       // which output each repeats                           (nalias)
};
// clang-format on

// ---------------------------------------------------------------------------- step.c

// The first subsystem whose state cannot be saved, or NULL; ITM_ERR_UNSUPPORTED with a sentence in x->error if there is one.
const char* itm_cosim_find_unsaved(const ItmCosim* x);
// Name of a part whose state cannot be kept in a file, or NULL.
const char* itm_cosim_find_local_state(const ItmCosim* x);
// Step infos of the mechanisms: statistics beside the state, which a run that is continued in another process goes on counting.
size_t itm_cosim_get_notes_size(const ItmCosim* x);
void itm_cosim_save_notes(const ItmCosim* x, void* bytes);
void itm_cosim_restore_notes(ItmCosim* x, const void* bytes);
ItmStatus itm_cosim_refuse_unsaved(ItmCosim* x, const char* function);
// The present state of the parts is the start from now on; forces and outputs are computed anew.
void itm_cosim_start_here(ItmCosim* x);
// One part to or from a message; with the state of a mechanism or subsystem. False: a state cannot be restored.
bool itm_cosim_move_mechanism(ItmMechanism* part, ItmPacket* packet);
void itm_cosim_move_subsystem(ItmSubsystemInstance* subsystem, ItmPacket* packet);
// Samples of controls at the communication point, as far as they are due; h_factor 0: outputs only. is_late: those of groups that wait for
// mechanisms of other processes, or all others.
ItmStatus itm_cosim_run_sampled(ItmCosim* x, double h_factor, bool is_late);
// The two halves of a macro step: up to the interface models, and from the micro steps on. itm_cosim_abandon restores the state before
// the first half and returns `status`.
ItmStatus itm_cosim_prepare(ItmCosim* x);
ItmStatus itm_cosim_finish(ItmCosim* x);
ItmStatus itm_cosim_abandon(ItmCosim* x, ItmStatus status);
// A macro step in another process than rank 0, which decides whether it stands.
ItmStatus itm_cosim_step_along(ItmCosim* x);

// ---------------------------------------------------------------------------- mechanism.c

// Name of the actuator or port of a bond.
const char* itm_mechanism_get_port_name(const ItmMechanism* part, int slot);
// Whether the coordinate of a bond is an angle.
bool itm_mechanism_is_rotary(const ItmMechanism* part, int slot);
// Whether an actuator has a bond.
bool itm_mechanism_has_bond(const ItmMechanism* part, int actuator);
// The force of a bond's port as an output of the mechanism.
void itm_mechanism_show_force(ItmMechanism* part, int slot, double force);
// Positions and rates of the interfaces in the present state into the interface model. Status and error in `part`.
void itm_mechanism_look_at_ports(ItmMechanism* part);
// Positions, velocities and interfaces at the communication point.
void itm_mechanism_measure(ItmCosim* x, ItmMechanism* part);
// The polynomial of the rate over the coming step H.
void itm_mechanism_predict_bond(ItmBond* bond, double H);
// The interface model for the coming step from micro step `first` on. Status and error in `part`.
void itm_mechanism_reduce(ItmCosim* x, ItmMechanism* part, int first);
// Keep why a call on its data object failed.
void itm_mechanism_note_failure(ItmMechanism* part, ItmStatus status);
// One macro step with the impulses of its interface model, or with held forces. Status and error in `part`.
void itm_mechanism_count(ItmMechanism* part);  // what its interface model noticed in a step that it took over
void itm_mechanism_take_over(ItmMechanism* part);
void itm_mechanism_step_held(ItmCosim* x, ItmMechanism* part);
// Rank and condition of the mobility at all its interfaces in the present state, which stays as it is. Between steps only.
ItmRimSpectrum itm_mechanism_look(ItmMechanism* part);
// The first body whose coordinates or velocities are not finite, as an error of `part`.
void itm_mechanism_check(ItmCosim* x, ItmMechanism* part);

// ---------------------------------------------------------------------------- renewal.c

// Whether the interface model of a mechanism is renewed where its contacts change, unless the caller takes its micro steps.
bool itm_renewal_is_used(const ItmCosim* x, const ItmMechanism* part);
// Choose the micro steps, from `first` on, for which its contacts hold: interface_model.first and last. All of them where it is not renewed.
ItmStatus itm_renewal_choose(const ItmCosim* x, ItmMechanism* part, int first);
// Their time, s.
double itm_renewal_get_span(const ItmCosim* x, const ItmMechanism* part);
// The mechanism has taken over its model: the time and the step of its data object, which had this number of steps before.
void itm_renewal_count_time(ItmMechanism* part, double steps);
// After micro step last - 1: the mechanism takes over and makes the model of the next ones.
ItmStatus itm_renewal_run(ItmCosim* x, ItmMechanism* part);

// ---------------------------------------------------------------------------- frames.c

// Interfaces and frame bonds of the builder, numbered; before the mechanisms are made.
ItmStatus itm_frames_create(ItmCosim* x, const ItmCosimBuilder* b, ItmError* error);
// How often a step goes into H, 0: it is not a whole number of times.
long itm_cosim_count_whole(double H, double step);
// Least common multiple of two counts.
long itm_cosim_count_common(long a, long b);
#define ITM_MOST_TICKS 10000000L  // of a macro step
// The rows of a mechanism's interfaces, once its interface model has its memory.
void itm_frames_set_rows(const ItmCosim* x, ItmMechanism* part);
void itm_frames_destroy(ItmCosim* x);

// ---------------------------------------------------------------------------- assembly.c

// Assemblies of mechanisms that frame bonds connect: which, their steps, their exchange; before the mechanisms are made.
ItmStatus itm_assembly_group_all(ItmCosim* x, ItmError* error);
// Micro steps of their interface models from the macro step of the system.
ItmStatus itm_assembly_fit_steps(ItmCosim* x, ItmError* error);
void itm_assembly_fit_models(ItmCosim* x);
// Their joined interface models, once the mechanisms are there. Refuses frames that do not coincide at the start.
ItmStatus itm_assembly_create_all(ItmCosim* x, ItmError* error);
void itm_assembly_destroy_all(ItmCosim* x);
// How far the two frames of each bond are apart, after the measurement of all mechanisms.
void itm_assembly_measure_all(ItmCosim* x);
// The same at the end of a step, measurement included.
void itm_assembly_arrive_all(ItmCosim* x);
// Start and end of the micro steps of an interface model, joined ones included. Errors in the data object of its RIM.
ItmStatus itm_assembly_model_begin(ItmCosim* x, ItmInterfaceModel* interface_model);
ItmStatus itm_assembly_model_end(ItmCosim* x, ItmInterfaceModel* interface_model);
// An assembly over a macro step, up to what its mechanisms take over. Status and error in `assembly`.
void itm_assembly_run(ItmCosim* x, ItmAssembly* assembly);

// ---------------------------------------------------------------------------- labels.c

// What the table of one of our own subsystems points to.
typedef struct ItmLabels {
    const char** names;  // of ports and inputs
    ItmOutputInfo* outputs;
    double* reals;   // inputs, or sizes of states
    ItmArena arena;  // of all three
} ItmLabels;
// False without memory.
bool itm_labels_create(ItmLabels* l, int nname, int noutput, int nreal);
void itm_labels_destroy(ItmLabels* l);

// ---------------------------------------------------------------------------- group.c

// Micro steps that a subsystem takes in a process of its own (ItmSubsystem.run): those of ticks first ... last - 1, with the
// interface model that it has to itself. `model` and the bonds of the subsystem are as after these ticks when it returns.
struct ItmMicroSteps {
    ItmCosim* system;
    ItmGroup* group;
    ItmInterfaceModel* model;  // NULL: the subsystem has none
    ItmSubsystemInstance* subsystem;
    int first, last;
    bool is_new, is_done;  // the model as it is begins, ends with these micro steps
};
#define ITM_MOST_RUN_PORTS 64
#define ITM_MOST_RUN_BYTES ((size_t)16 << 20)  // of the message with its bounded rows (rim/message.h)

// external.c: contact rows of the step that the caller has begun, as a message (rim/message.h), and the results of its micro steps where they
// were taken with them elsewhere. Returns the bytes written, 0: there are no rows, or they do not fit.
size_t itm_external_write_rows(const ItmCosim* x, size_t capacity, void* bytes);
ItmStatus itm_external_read_results(ItmCosim* x, size_t size, const void* bytes);

// All subsystems of a group over a macro step. Status and error in `group`.
void itm_group_run(ItmCosim* x, ItmGroup* group);
// Whether the caller takes the micro steps of its interface model (external.c).
bool itm_group_is_driven(const ItmCosim* x, const ItmGroup* group);
// Its micro steps of ticks first ... last - 1, here.
ItmStatus itm_group_run_ticks(ItmCosim* x, ItmGroup* group, int first, int last);
// Forces and outputs of all subsystems as they are now.
void itm_cosim_start_subsystems(ItmCosim* x);
bool itm_cosim_subsystem_is_due(const ItmCosim* x, const ItmSubsystemInstance* subsystem, int tick);
// A step h of a subsystem that is due at a tick of the present macro step; h 0: its outputs only.
ItmStatus itm_cosim_subsystem_step(ItmCosim* x, ItmSubsystemInstance* subsystem, int tick, double h, ItmError* error);

// ---------------------------------------------------------------------------- wires.c

// Find both ends of a wire by name.
ItmStatus itm_wires_resolve(ItmCosim* x, ItmWire* wire, const char* from, const char* to, ItmError* error);
// Groups, order of the sampled subsystems; an algebraic loop is refused.
ItmStatus itm_cosim_group(ItmCosim* x, ItmError* error);
// Ticks of all groups from the periods of their subsystems as the macro step gives them: micro steps per macro step (> 0), or minus the
// macro steps per step.
ItmStatus itm_wires_count_micro_steps(ItmCosim* x, ItmError* error);
// Values of all wires into the inputs of a subsystem, of a mechanism.
void itm_wires_feed_subsystem(ItmCosim* x, ItmSubsystemInstance* subsystem);
void itm_wires_feed_mechanism(ItmCosim* x, ItmMechanism* part);

// ---------------------------------------------------------------------------- ledger.c

// Fill the accounts of the mechanisms that this process steps, and of those whose process has sent none.
void itm_ledger_take_accounts(ItmCosim* x);
// At the end of a macro step: residual power and energy of every bond, coupling energy error, throughput.
void itm_ledger_book_bonds(ItmCosim* x);

// Energies of the whole system, J. Start values of the circuits are their zero.
typedef struct ItmBalance {
    double circuit[ITM_HYDRAULIC_ACCOUNT_COUNT];
    double booked[ITM_LEDGER_COUNT];  // of all mechanisms
    double kinetic, potential;        // of all mechanisms
    double start;                     // their sum at the start
    double load;  // work of loads, of actuators without a bond, of subsystems without an energy balance of their own,
                  // less that of cylinders without a bond
    double coupling_error;  // coupling energy error of bonds and of interfaces between mechanisms
    double
        error;  // energy that has no source: stored + lost - start - supply - load - motions; coupling energy errors are in it
} ItmBalance;
// Sum over the accounts of the mechanisms, circuits and bonds, in their order.
ItmBalance itm_ledger_sum(const ItmCosim* x);
// The same with new accounts. After itm_data_close_ledger or itm_model_compute_outputs of all mechanisms.
ItmBalance itm_cosim_compute_balance(ItmCosim* x);

// ---------------------------------------------------------------------------- verdict.c

// Number of doubles of the state, once the numbers of parts are known; and their places in it.
size_t itm_verdict_count_reals(const ItmCosim* x);
ItmStatus itm_verdict_create(ItmCosim* x, double* state, ItmError* error);
void itm_verdict_destroy(ItmCosim* x);
// The start, before the first step; nothing afterwards.
void itm_verdict_begin(ItmCosim* x);
// Close the accounts of the mechanisms that this process steps, at the state that a step has reached.
void itm_verdict_close(ItmCosim* x);
// Compare that state with all bounds, by the accounts. ITM_ERR_DIVERGED: energy has come from nowhere.
ItmStatus itm_verdict_update(ItmCosim* x, double time);
// Give a message to the handler, if there is one; nothing in trials.
void itm_cosim_send_message(const ItmCosim* x, ItmMessageKind kind, double time, const char* where, const char* text);
// The largest value so far of a quantity of a bond, frame bond or mechanism.
const ItmExcess* itm_verdict_get_excess(const ItmCosim* x, ItmDoubtKind kind, int index);

// ---------------------------------------------------------------------------- inputs.c

// List the inputs by name, once wires and bonds are known.
ItmStatus itm_inputs_create(ItmCosim* x, ItmError* error);
void itm_inputs_destroy(ItmCosim* x);

// ---------------------------------------------------------------------------- output.c

ItmStatus itm_cosim_name_outputs(ItmCosim* x, const ItmCosimBuilder* b, ItmError* error);
void itm_cosim_free_outputs(ItmCosim* x);

// Outputs of the parts that a process steps, into values (noutput); the others are left as they are.
ItmStatus itm_cosim_compute_own_outputs(ItmCosim* x, double* values);
// The process that computes each output, into ranks (noutput); ITM_NONE: rank 0, from what all have sent.
void itm_cosim_find_output_ranks(ItmCosim* x, int* ranks);

// ---------------------------------------------------------------------------- ranks.c

// Steps of a system over several processes. All but the last two do nothing in a system of one process.
// Interface models from the mechanisms to the processes of their groups, impulses back, motion at the end of the step to those that
// sample it. `status`: of this process so far; returns it, or that another process has failed.
ItmStatus itm_ranks_exchange_models(ItmCosim* x, ItmStatus status);
ItmStatus itm_ranks_exchange_impulses(ItmCosim* x, ItmStatus status);
ItmStatus itm_ranks_exchange_arrivals(ItmCosim* x, ItmStatus status);
// An order of rank 0 to the others.
typedef enum ItmRanksOrder {
    ITM_RANKS_STEP = 1,  // a macro step; the last one stands
    ITM_RANKS_ABANDON,   // the last one does not
    ITM_RANKS_RESET,
    ITM_RANKS_RESTORE,  // with a whole state
    ITM_RANKS_OUTPUTS,
    ITM_RANKS_ECHO,  // send as many bytes as came
    ITM_RANKS_END,
} ItmRanksOrder;
ItmStatus itm_ranks_order(ItmCosim* x, ItmRanksOrder order, const void* bytes, size_t size);
// Rank 0: the parts of all others as they are after the step; the failure that one process would report. Others: send their own.
ItmStatus itm_ranks_gather(ItmCosim* x, ItmStatus status);
ItmStatus itm_ranks_gather_outputs(ItmCosim* x, double* values);
// ITM_ERR_UNSUPPORTED where several processes step the system.
ItmStatus itm_ranks_refuse(ItmCosim* x, const char* function);
void itm_ranks_destroy(ItmCosim* x);

static inline bool itm_ranks_is_own(const ItmCosim* x, int rank)
{
    return rank == x->rank;
}

// ---------------------------------------------------------------------------- circuit.c

// A circuit as a subsystem; the running instance belongs to it.
ItmStatus itm_circuit_make_subsystem(ItmSubsystem* subsystem, ItmHydraulics** running, const ItmCircuit* c,
                                     const ItmHydraulicOptions* options, ItmError* error);

// ---------------------------------------------------------------------------- small

static inline const ItmMeasure* itm_actuator_get_measure(const ItmModel* m, int actuator)
{
    return &m->measures[m->scalar_forces[m->actuator_force[actuator]].measure];
}

static inline const char* itm_actuator_name(const ItmModel* m, int actuator)
{
    return m->scalar_forces[m->actuator_force[actuator]].name;
}

static inline double* itm_cosim_get_steps(const ItmCosim* x)
{
    return x->state;
}

#endif
