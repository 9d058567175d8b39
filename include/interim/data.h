// Running a model: state, stepping, results.
//
// An ItmData is one running instance of a model; its memory is made once, at creation. Stepping allocates
// nothing (except inside the reference integrator), prints nothing, touches no file.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_DATA_H
#define INTERIM_DATA_H

#include "interim/base.h"
#include "interim/model.h"

ITM_EXTERN_C_BEGIN

typedef struct ItmData ItmData;

// ---------------------------------------------------------------------------- stepping

typedef enum ItmStepper {
    ITM_STEPPER_EULER,      // impulse-momentum semi-implicit Euler, order 1; the default
    ITM_STEPPER_ALI1,       // index-1 augmented Lagrangian, semi-implicit Euler, order 1   [cranes]
    ITM_STEPPER_ALI3P,      // index-3 augmented Lagrangian with projections, order 2       [cranes]
    ITM_STEPPER_REFERENCE,  // adaptive explicit Runge-Kutta of order 8 (SUNDIALS) with projection
    ITM_STEPPER_VARIABLE,   // step size as an unknown of the step problem, order 1          [clearance, eqs. 25, 31]
    ITM_STEPPER_ADAPTIVE,   // the default stepper with error control, order 1
    ITM_STEPPER_COUNT
} ItmStepper;

// How the Euler stepper takes the modes of flexible bodies; both are implicit and stable at any step.
typedef enum ItmElasticRule {
    ITM_ELASTIC_NEWMARK,   // trapezoidal: order 2 in the modes, no numerical damping
    ITM_ELASTIC_BACKWARD,  // backward Euler: damps what the step cannot follow                  [contact-rim, eq. 21]
    ITM_ELASTIC_COUNT
} ItmElasticRule;

// How the interface model of a mechanism takes its flexible bodies over a macro step.
typedef enum ItmElasticModel {
    ITM_ELASTIC_MODEL_IMPLICIT,   // as the rule above over the whole step: stiffness is a mobility that shrinks with it
    ITM_ELASTIC_MODEL_FROZEN,     // elastic and damping forces are those of the communication point      [flexible-rim, eq. 9]
    ITM_ELASTIC_MODEL_EFFECTIVE,  // effective stiffness and damping at the interface, the rest held [flexible-rim, eqs. 12-24]
    ITM_ELASTIC_MODEL_COUNT
} ItmElasticModel;

typedef struct ItmStepOptions {
    ItmStepper stepper;
    double step;             // s, > 0; reference: spacing of its output points; variable, adaptive: largest step
    double min_step;         // variable, adaptive: smallest step; 0: a tenth, a 10000th of `step`       s
    double tolerance;        // reference: relative and absolute error; implicit steppers: Newton; adaptive: error of a step in
                             // the coordinates, m or rad
    double gap_tolerance;    // joint gaps are closed to this after each step, m or rad
    int max_iterations;      // of Newton, augmented Lagrangian and gap closing in one step
    double penalty;          // ALI1, ALI3P: alpha; 0: chosen from the masses and the step
    double frequency;        // ALI1: Baumgarte omega, rad/s; 0: chosen from the step
    double damping_ratio;    // ALI1: Baumgarte xi
    ItmElasticRule elastic;  // Euler: rule for flexible bodies
} ItmStepOptions;

// Semi-implicit Euler, 1 ms, gaps closed to 1e-11.
ITM_API ItmStepOptions itm_default_step_options(void);
// "euler", "ali1", "ali3p", "reference", "variable", "adaptive"
ITM_API const char* itm_stepper_name(ItmStepper stepper);
// "newmark", "backward"
ITM_API const char* itm_stepper_elastic_rule_name(ItmElasticRule rule);

// What happened in the last step, and summed over the run.
typedef struct ItmStepInfo {
    long steps;             // steps so far (communication steps for the reference integrator)
    int iterations;         // Newton / augmented Lagrangian / gap iterations of the last step
    long total_iterations;
    long internal_steps;    // reference integrator: steps of its own so far
    long unfinished;        // steps whose iteration hit max_iterations before its tolerance
    double residual;        // what was left in the last step, in the measure of the stepper
    int nredundant;         // rows found dependent in the last factorisation
    double gap;             // largest joint gap after the last step, m or rad

    int ncontact;           // contacts near enough to count in the last step
    int nbounded;           // bounded rows: contacts, joint limits, dry friction, motors
    int nactive;            // of them between their bounds
    int nisland;            // independent groups of them
    int solver_iterations;  // of the complementarity solver, summed over islands
    double solver_residual; // largest relative residual of an island
    int solver_redundant;   // active rows that follow from others, as of the last look (itm_model_compute_outputs,
                            // itm_data_count_redundant); in islands of more than 300 rows at least so many
    int bad_steps;          // steps on end, up to this one, with a residual beyond contact.residual_limit
    double worst_residual;  // largest residual of the run above the tolerance, 0: none;
    double worst_time;      //   at the start of which step, s
    char worst_name[160];   //   of the row that has it: "contact of 'box' and 'floor'", "limit 'elbow'"
    long fallbacks;         // islands so far that the first solver could not do
    long unsolved;          // islands so far that no solver could do to the tolerance
    double penetration;     // deepest penetration found at the start of the last step, m

    double objective;       // variable: what the last step minimised, the constraint forces F' M^-1 F, N^2/kg
    int pieces;             // variable: active sets that the search for the step went through
    long rejected;          // adaptive: steps so far that had to be repeated with a smaller size
    double smallest_step, largest_step; // variable, adaptive: so far, s
} ItmStepInfo;

// options NULL: the defaults. ITM_ERR_INPUT names a bad option in error->field.
ITM_API ItmStatus itm_data_create(ItmData** data, const ItmModel* m, const ItmStepOptions* options,
                                  ItmError* error);
ITM_API void itm_data_destroy(ItmData* d);
// Back to the assembled start, time 0.
ITM_API void itm_reset(const ItmModel* m, ItmData* d);
// Variable and adaptive steps end at this time exactly instead of going beyond it; the last two before it are of equal
// length if the last one would be shorter than the smallest step. INFINITY: no such time (the default).
ITM_API void itm_data_set_stop_time(ItmData* d, double time);
// One step. On failure the state is as it was before; itm_data_get_error says why.
ITM_API ItmStatus itm_step(const ItmModel* m, ItmData* d);
ITM_API ItmStepInfo itm_data_get_step_info(const ItmData* d);
ITM_API const ItmError* itm_data_get_error(const ItmData* d);

// ---------------------------------------------------------------------------- state

// Time is steps * step, exactly one rounding, where the step is fixed.
ITM_API double itm_data_get_time(const ItmData* d);
// Length of the last step (adaptive: of the second of its two halves); before the first, the option `step`.
ITM_API double itm_data_get_step_size(const ItmData* d);
// Coordinates and velocities in compiled order (nq, nv). Setting does not close joints: itm_assemble_data does.
ITM_API const double* itm_data_get_q(const ItmData* d);
ITM_API const double* itm_data_get_v(const ItmData* d);
ITM_API ItmStatus itm_data_set_qv(const ItmModel* m, ItmData* d, const double* q, const double* v);
// Close all joints and make the velocities agree, moving as little as possible (mass metric).
ITM_API ItmStatus itm_assemble_data(const ItmModel* m, ItmData* d);
// External force of an actuator until it is set again, N.
ITM_API ItmStatus itm_data_set_actuator_force(const ItmModel* m, ItmData* d, int actuator, double force);
// What a signal of kind ITM_SIGNAL_EXTERNAL is from now on: `value` until it is set again, or where it is smooth, straight from what it
// is to `value` within `time` > 0 (s) and on at that rate.
ITM_API ItmStatus itm_data_set_signal(const ItmModel* m, ItmData* d, int signal, double value, double time);
// Close or open a latch now, beside what the events of the model do. Closing changes the velocities, see ItmLatchKind.
ITM_API ItmStatus itm_latch_set(const ItmModel* m, ItmData* d, int latch, bool is_closed);
ITM_API bool itm_latch_is_closed(const ItmModel* m, const ItmData* d, int latch);
// First coordinate and velocity of a joint in q and v, ITM_NONE where the joint is rows.
ITM_API int itm_model_get_joint_q_adr(const ItmModel* m, int joint);
ITM_API int itm_model_get_joint_v_adr(const ItmModel* m, int joint);

// The whole state (time, coordinates, velocities, inputs, ledgers) as bytes: restored, the simulation
// continues bit for bit, in another data object of the same model and options too.
ITM_API size_t itm_data_get_state_size(const ItmModel* m, const ItmData* d);
ITM_API ItmStatus itm_data_save(const ItmModel* m, const ItmData* d, void* bytes, size_t size);
ITM_API ItmStatus itm_data_restore(const ItmModel* m, ItmData* d, const void* bytes, size_t size);

// ---------------------------------------------------------------------------- looking

// Body frame, velocity of its origin and angular velocity, world axes.
ITM_API ItmPose itm_data_get_body_pose(const ItmModel* m, ItmData* d, int body);
ITM_API ItmVec3 itm_data_get_body_velocity(const ItmModel* m, ItmData* d, int body);
ITM_API ItmVec3 itm_data_get_body_angular_velocity(const ItmModel* m, ItmData* d, int body);

// What a loose joint has been through since the start; npoint 0: the joint is ideal.
typedef struct ItmClearanceInfo {
    int npoint;            // contact points
    long impacts;          // contact points that closed after a flight of three steps or more, faster than the contact option
                           // restitution_speed
    double free_time;      // without any contact                      s
    double impulse;        // sum of the normal impulses               N s
    double peak_force;     // largest normal force of a step           N
    double impact_loss;    // energy lost in normal direction          J
    double friction_loss;  // energy lost by friction                  J
} ItmClearanceInfo;

ITM_API ItmClearanceInfo itm_clearance_get_info(const ItmModel* m, const ItmData* d, int joint);

// Accelerations v' of the present state under applied and constraint forces (contacts left out). v_dot (nv)
ITM_API ItmStatus itm_dynamics_compute_forward(const ItmModel* m, ItmData* d, double* v_dot);

// Force and torque on a body, acting at the origin of the user's body frame, world axes.
typedef struct ItmWrench {
    ItmVec3 force;   // N
    ItmVec3 torque;  // N m
} ItmWrench;

// Generalised forces tau (nv) that must be added to what acts already (gravity, loads, springs, actuators) for the present
// state to have the accelerations v_dot (nv): tau = M v' + c - f, by recursive Newton-Euler, O(bodies). A joint of the tree has
// its force or torque at itm_model_get_joint_v_adr. external: wrenches from outside, by body id (nbody), or NULL. Rigid
// rows, and so the joints that are rows, exert nothing in this; a prescribed motion tells its effort in closed loops too.
ITM_API ItmStatus itm_dynamics_compute_inverse(const ItmModel* m, ItmData* d, double* tau, const double* v_dot,
                                       const ItmWrench* external);

// Outputs: everything a run records, named element.quantity[.component].
ITM_API int itm_model_get_output_count(const ItmModel* m);
ITM_API ItmOutputInfo itm_model_get_output_info(const ItmModel* m, int output);
ITM_API int itm_model_find_output(const ItmModel* m, const char* name);
// All outputs of the present state, values (count). Does not change the state.
ITM_API ItmStatus itm_model_compute_outputs(const ItmModel* m, ItmData* d, double* values);

// Rows that follow from others, so that their forces are not unique and those of least norm are given: rows of joints in the
// present configuration, then contacts, limits, dry friction and motors of the last step. Looks, and counts those with a name.
ITM_API int itm_data_count_redundant(const ItmModel* m, ItmData* d);
// Name of one of them as of the last count, "contact of 'leg' and 'floor': normal"; empty beyond the count. name (size)
ITM_API void itm_data_get_redundant_name(const ItmModel* m, const ItmData* d, int index, char* name, size_t size);

ITM_EXTERN_C_END

#endif
