// The running instance: state first and contiguous, then what each stage of a step computes.
//
// Arrays over bodies have an element -1 before their first: the world, at rest in the origin. A parent index
// ITM_NONE therefore needs no special case in the recursions.
#ifndef ITM_MULTIBODY_DATA_H
#define ITM_MULTIBODY_DATA_H

#include "base/arena.h"
#include "multibody/model.h"

// Articulated inertia at the centre of mass of a body, world axes: force = [J H; H' M] (ang, lin).
typedef struct ItmArticulated {
    ItmSym3 J;  // kg m^2
    ItmMat3 H;  // kg m; columns multiply lin
    ItmSym3 M;  // kg
} ItmArticulated;

// Energy that has passed so far, J. Works of forces are integrated by the trapezoidal rule, whose last half step is open
// until the next evaluation; the steppers themselves, which hold the impulses, count works of rows.
typedef enum ItmLedger {
    ITM_LEDGER_LOAD,        // work of loads, actuators and driving forces
    ITM_LEDGER_DISSIPATED,  // taken by dampers
    ITM_LEDGER_MOTION,      // work of prescribed motions
    ITM_LEDGER_CONSTRAINT,  // work of the other rows: numerical, 0 in the limit of small steps
    ITM_LEDGER_FRICTION,    // taken by dry friction
    ITM_LEDGER_IMPACT,      // lost in contacts and joint limits in their normal direction
    ITM_LEDGER_INTERFACE,   // work of the forces between this mechanism and others at their frames
    ITM_LEDGER_COUNT,
    ITM_LEDGER_POWERS = ITM_LEDGER_INTERFACE,  // number of accounts that have a power within a step
    ITM_LEDGER_FORCES = ITM_LEDGER_MOTION      // number of accounts of forces
} ItmLedger;

// What is counted of a joint with clearance since the start.
typedef enum ItmTally {
    ITM_TALLY_IMPACTS,    // gaps that closed after a flight, faster than the contact option restitution_speed
    ITM_TALLY_FREE_TIME,  // without any contact                           s
    ITM_TALLY_IMPULSE,    // sum of the normal impulses                    N s
    ITM_TALLY_IMPACT,     // energy taken in normal direction              J
    ITM_TALLY_FRICTION,   // energy taken by friction                      J
    ITM_TALLY_PEAK,       // largest sum of normal forces of a step        N
    ITM_TALLY_COUNT
} ItmTally;

// Which derived arrays belong to the present state.
typedef enum ItmPositionState {
    ITM_POSITION_STALE,    // nothing
    ITM_POSITION_CURRENT,  // x, R, r, S, J belong to q
    ITM_POSITION_LOOKED,   // and the twists to v
    ITM_POSITION_SPANNED,  // x, R, r, S, mass.J, gaps and d->spanning belong to q
    ITM_POSITION_FACTORED,  // x, R, r, S, mass.J, gaps, rows.cov and the factors of M and H of the Euler step belong to q
} ItmPositionState;

// A body that turns by more than this in a step makes its component fast (stepper/inertial.h), rad: there the step's own treatment of
// the inertia forces c has a relative error of 1e-4, turn^2 for steppers of order 1, turn^3 for ALI3-P.
#define ITM_FAST_TURN 0.01
#define ITM_FAST_TURN_SECOND 0.05
// In a component that its joints keep in a plane (multibody/planar.h) no gyroscopic torque acts, only centrifugal forces.
#define ITM_FAST_TURN_PLANAR 0.05
// For a step with a reduced interface model, which must be the mechanism's step to rounding. Impulses of the interface go through the drift
// unseen by the model, so only components that could not be stepped otherwise are fast.
#define ITM_FAST_TURN_INTERFACE 0.1
#define ITM_INERTIAL_COLUMNS 8  // of the extrapolation of inertial motion

typedef struct ItmReference ItmReference;  // SUNDIALS objects of the reference integrator

// clang-format off
// Flexible bodies: position stage, but force.
typedef struct ItmFlexState {
    double*  eta;           // modes                                                 (nmode)
    ItmMat3* B;             // sum m r phi_k', body axes                             (nmode)  kg m
    ItmSpatial* U;          // momentum of the body for a unit rate of a mode, at x  (nmode)
    double*  alpha;         // rates of shortening: translation, 1                   (nmode)
    double*  beta;          // and strain of the axis                                (nmode)  1/m
    ItmVec3* c;             // sum m u, world axes                                   (nflexible) kg m
    ItmSym3* J;             // inertia that deformation adds, world axes             (nflexible) kg m^2
    ItmSpatial* node_S;     // motion of a node for a unit rate of a mode            (nnode_S)
    ItmVec3* node_turn;     // its rotation vector in the body frame                 (nnode)
    double*  force;         // modal forces of nodes on the way up, 0 in between     (nmode)
} ItmFlexState;

// Mass matrix: itm_mass_factor.
typedef struct ItmMassFactor {
    ItmSym3* J;             // inertia about x, world axes                           (nbody)  kg m^2
    ItmArticulated* IA;     // articulated inertia, while M is factored              (ntree)
    ItmSpatial* G;          // gain: IA S L^-T                                       (nv_tree)
    double*  L;             // Cholesky factors of S' IA S; the diagonal is inverted (nL)
    double*  y;             // half solved right side                                (nv)
} ItmMassFactor;

#define ITM_DRIFT_STEPS 5  // steps whose drift is kept

// Rows of joints, motions and couplings, whose pattern is fixed: itm_rows_compute, itm_rows_factor.
typedef struct ItmJointRows {
    double*  gap;           // Phi                                                   (nrow)   m, rad
    double*  rate;          // w = A v - signal'                                     (nrow)   m/s
    double*  bias;          // A' v                                                  (nrow)   m/s^2
    double*  reference;     // a derivative of the signals that drive rows           (nrow)
    ItmSpatial* cov;        // Jacobian by bodies                                    (ncov)
    double*  Y;             // L^-1 A'                                               (nY)
    double*  omega;         // compliance added to the diagonal of H                 (nrow)
    double*  gamma;         // share of the gap that a step removes                  (nrow)
    ItmBlockFactor factor;  // of H
    double   singular_share; // itm_rows_factor leaves out rows (not of motions) with pivots below this share of their start, 0: none
    double*  drift;         // gap that a step h of c = 1/2 leaves, over h^3, in the last step, and its backward differences over the
                            // steps before, row by row                             (nrow x ITM_DRIFT_STEPS) m/s^3
    double*  guess;         // part of the drift that this step reckons with        (nrow)   m, rad
    bool     was_closed;    // the last step left no gap beyond the tolerance; decides what is computed when, never a result
    bool     is_placed;     // the last look at the gaps made the Jacobian of joints too
    double*  before;        // A v at the start of the step                          (nrow)   m/s
    double*  x;             // right sides and solutions                             (nrow)
    double*  scratch;       //                                                       (4 nrow)
} ItmJointRows;

// The rows of a node: itm_rows_place_nodes.
typedef struct ItmSpannedRows {
    ItmVec3 s;              // from x of the body to the joint's frame b             m
    ItmVec3 e[3], n[3];     // directions of locked translations and rotations
} ItmSpannedRows;

// A node of the forest of rows: itm_spanning_factor, p itm_spanning_solve.
typedef struct ItmSpanned {
    ItmArticulated IA;      // articulated inertia
    ItmMat3 R;              // orientation of the body
    ItmVec3 offset;         // to its x from that of the parent                      m
    ItmVec3 dual[3];        // dual vectors of the rows' n
    ItmSpatial p;           // wrench of what hangs on it, 0 in between
} ItmSpanned;

// Rows that form a forest: multibody/spanning.h.
typedef struct ItmSpanningFactor {
    bool     is_used;       // the last factor for a step is this one, not rows.factor
    ItmSpanned* nodes;      //                                                       (nspanning)
    ItmSpannedRows* rows;   // of the factor                                         (nspanning)
    ItmSpannedRows* placed; // in the configuration of the last look at the gaps; those of the factor have the other array (nspanning)
    ItmSpatial* S;          // free directions                                       (nspanning_free)
    ItmSpatial* G;          // gain: IA S L^-T                                       (nspanning_free)
    double*  L;             // Cholesky factors of S' IA S; the diagonal is inverted (nspanning_L)
    double*  y;             // half solved right side                                (nspanning_free)
} ItmSpanningFactor;

// Inertial motion of components that turn fast: stepper/inertial.c.
typedef struct ItmInertial {
    bool     has_fast;      // some component is fast in this step
    bool*    is_fast;       // by component                                          (nbody)
    int*     component_size; // bodies and row blocks of a component                 (nbody)
    double*  dv;            // what inertia alone does to v in this step, where predicted (nv)
    signed char* state;          // of a component in the extrapolation              (nbody)
    double*  size;          // largest rate of translations, of rotations in a component (2 nbody)
    double*  q;             // coordinates with unit quaternions                     (nq)
    double*  y;             // states: q, v, row impulses                            (3 (nq + nv + nrow))
    double*  work;          // table and rates of the extrapolation  ((ITM_INERTIAL_COLUMNS + 3) (nq + nv + nrow))
    ItmSpatial* twist_ahead; // twist and accel_bias at the velocities of the middle of the step (stepper/inertial.c) (nbody or 0)
    ItmSpatial* bias_ahead; //                                                       (nbody or 0)
} ItmInertial;

// Energy balance; all but the present powers is state.
typedef struct ItmEnergyAccounts {
    double*  ledger;        //                                                       (ITM_LEDGER_COUNT) J
    double*  power_prev;    // power of each account at the start of the last step   (ITM_LEDGER_COUNT) W
    double*  open;          // time since then that is not counted yet: 0 or the step (1) s
    double*  start;         // kinetic + potential at the start                      (1) J
    double*  impact_peak;   // largest impact loss so far, which is the one reported (1) J
    double*  elastic;       // energy that compliant contacts and limits hold        (1) J
    double   power[ITM_LEDGER_COUNT];  // that goes into each account                         W
} ItmEnergyAccounts;

// Joints with clearance.
typedef struct ItmClearanceState {
    double*  open;              // time since a contact point of a joint with clearance last pushed (nclearance_point) s
    double*  tally;             // what joints with clearance have been through                   (nclearance * ITM_TALLY_COUNT)
    struct ItmClearancePoint* points;           // gaps of joints with clearance, itm_clearance_measure   (nclearance_point)
} ItmClearanceState;

#define ITM_SLEEP_CONTACT 5  // reals of the contacts of a sleeping body

// Bodies that rest or sleep: multibody/sleep.h.
typedef struct ItmSleepState {
    int      n;             // nbody; 0: nothing sleeps, and all arrays are empty
    double*  rest;          // time that a body has rested so far, INFINITY: it is asleep (n) s
    double*  island;        // asleep: the body that names its island                (n)
    double*  contact;       // asleep: sum of contact impulses on it, closed and sliding contacts (ITM_SLEEP_CONTACT n)
    double*  elastic;       // energy that the compliant contacts of a sleeping island hold, by its name (n) J
    bool*    can_sleep;     // not part of the state                                 (n)
} ItmSleepState;

struct ItmData {
    const ItmModel* model;
    ItmStepOptions options;
    ItmArena  arena;
    ItmError  error;        // of the last failed call
    ItmStepInfo info;

    // state: one contiguous block of reals, saved and restored by one copy
    double*  state;         //                                                       (nstate)
    int      nstate;
    double*  steps;         // steps so far, as a real                               (1)
    double*  q;             // coordinates                                           (nq)
    double*  v;             // velocities                                            (nv)
    double*  a;             // accelerations at the end of the last step             (ALI3P: nv, else 0)
    double*  v_rate;        // mean acceleration of the last step; that of the last two, the smaller one; where there are articulated components (2 nv or 0)
    double*  was_fast;      // component in the last step: 1 fast (stepper/inertial.h), -1 slow, 0 not known; by its name     (nbody)
    double*  lambda;        // row impulses of the last step [N s]; ALI3P: forces [N] (nrow)
    double*  angle;         // unwrapped angles                                      (nangle) rad
    double*  input;         // actuator forces from external signals                          (nactuator) N, N m
    double*  external;      // signals from external signals, see itm_data_compute_signal     (ITM_EXTERNAL_REALS nexternal)
    double*  latch;         // what latches hold                                     (ITM_LATCH_REALS nlatch)
    double*  next_event;    // events so far                                         (1)
    double*  step_hint;     // reference integrator: its next step, 0: not known     (1) s
    double*  v_raw;         // velocities before the joints were projected, where there are clearance ones (nv or 0)
    double*  time;          // steppers of variable step: time so far                (1) s
    double*  step_size;     // and their last step; other steppers: 0, or the part of a step that was taken last (1) s
    ItmEnergyAccounts energy;
    ItmClearanceState clearance;
    ItmSleepState sleep;

    // position stage: itm_kinematics_compute_positions
    ItmVec3* x;             // centre of mass                                        (nbody)  m
    ItmMat3* R;             // orientation                                           (nbody)
    ItmVec3* r;             // from the origin of its joint frame b to x             (nbody)  m
    ItmSpatial* S;          // motion of a body for a unit velocity, at its x; itm_kinematics_get_motion (nv_tree)
    ItmFlexState flex;

    // velocity stage: itm_kinematics_compute_velocities
    ItmSpatial* twist;      // angular velocity, velocity of x                       (nbody)
    ItmSpatial* accel_bias; // acceleration of a body while v' = 0                   (nbody)

    ItmMassFactor mass;     // mass stage

    // force stage: itm_forces_compute
    ItmSpatial* wrench;     // on a body at x                                        (nbody)
    double*  tau;           // on coordinates directly                               (nv)
    double*  scalar_force;    // of each scalar force                                  (nscalar_force)
    struct ItmMeasured* scalar_measured; // what each scalar force acts along          (nscalar_force)

    ItmJointRows rows;      // row stage
    ItmSpanningFactor spanning; // in place of rows.Y and rows.factor where the position state is SPANNED
    ItmInertial inertial;

    // work space of steppers and outputs
    ItmSpatial* accel;      // forward pass of itm_mass_solve                        (nbody)
    ItmSpatial* joint_wrench; // through tree joints, for outputs                    (nbody)
    ItmSpatial* path_wrench; // half solve along a path                  (ITM_BLOCK_MAX x longest path)
    double*  x1;            // velocities                                            (nv)
    double*  x2;            //                                                       (nv)
    double*  x3;            //                                                       (nv)
    double*  x4;            //                                                       (nv)
    double*  q1;            // coordinates                                           (nq)
    double*  stiffness_scratch; //                                                (4 itm_stiffness_count)
    double*  state_backup;  // state before the step                                 (nstate)
    double*  stroke;        // lower and upper limit of each actuator, NULL without has_actuator_limits (2 nactuator) m, rad
    ItmPositionState position_state;

    struct ItmBounded* bounded;     // bounded rows, or NULL where the model has none
    struct ItmContactData* contact; // contacts (src/contact), or NULL
    ItmReference* reference; // or NULL
    struct ItmVariable* variable; // work space of the stepper of that name, or NULL
    struct ItmAdaptiveStep* adaptive; // of that one, or NULL
    struct ItmPool* pool;    // threads of itm_data_set_threads, or NULL
    double   h;              // length of the step that is being made                          s
    bool     has_jumps;      // external signals jump where they are set, CHANGE is 0: for a stepper that takes jumps as impacts
    double   stop_time;      // variable steps end there                                       s
};
// clang-format on

// Whether the stepper chooses the length of its steps.
static inline bool itm_stepper_is_variable(ItmStepper stepper)
{
    return stepper == ITM_STEPPER_VARIABLE || stepper == ITM_STEPPER_ADAPTIVE;
}

// Steppers that solve bounded rows: contacts, limits, dry friction.
static inline bool itm_stepper_has_bounds(ItmStepper stepper)
{
    return stepper == ITM_STEPPER_EULER || itm_stepper_is_variable(stepper);
}

// Remember the mean acceleration of a step h from v_start to d->v, and the smaller one of the last two steps: an impact, a spike in one
// of them, does not count.
void itm_data_note_rates(const ItmModel* m, ItmData* d, const double* v_start, double h);

// Memory of a data object, and the parts of its life that need no stepper.
size_t itm_data_measure(const ItmModel* m);
ItmStatus itm_data_init(ItmData** data, const ItmModel* m, const ItmStepOptions* options, ItmError* error);
void itm_data_free(ItmData* d);
void itm_data_reset_to_start(const ItmModel* m, ItmData* d);
// Positions and velocities of the present state, unless they are there already.
void itm_data_refresh(const ItmModel* m, ItmData* d);
// Book the powers of forces in d->energy.power (trapezoidal rule with those of the state before), and open the next step of
// length h.
void itm_data_advance_ledger(ItmData* d, double h);
// The accounts as of now; needs d->energy.power of the present state. An impact loss never decreases: where contacts give back more than
// they took, which only discretisation does, the rest is work of constraints.
void itm_data_read_ledger(const ItmData* d, double booked[ITM_LEDGER_COUNT]);
// Account for the time since the last step's start with the forces of the present state, before inputs change: a force that was held
// over a step does the work h f (w_n + w_n+1) / 2, whatever follows it. Leaves d->wrench and d->tau void.
void itm_data_close_ledger(const ItmModel* m, ItmData* d);
// After inputs have changed between two steps: ALI3P starts its next step from the power of the new ones.
void itm_data_restart_ledger(const ItmModel* m, ItmData* d);
// Kinematics and, where rows are compliant, gaps and rates of the present state, as energies need them.
void itm_data_refresh_energy(const ItmModel* m, ItmData* d);
// Carry the unwrapped angles to the configuration of the position stage.
void itm_data_update_angles(const ItmModel* m, ItmData* d);
// What is known of a signal from external signals: beyond its start it is OFFSET + SLOPE (t - TIME). CHANGE is the mean derivative of what jumps
// when it is set anew, its rate or (held) itself, over the last time: reactions of a motion follow it.
enum { ITM_EXTERNAL_OFFSET, ITM_EXTERNAL_SLOPE, ITM_EXTERNAL_TIME, ITM_EXTERNAL_CHANGE, ITM_EXTERNAL_REALS };
// A signal at t; an external one as it was set last.
ItmSignalValue itm_data_compute_signal(const ItmModel* m, const ItmData* d, int signal, double t);

#endif
