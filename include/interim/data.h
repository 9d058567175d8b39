// Running a model: state, stepping, results.
//
// An ItmData is one running instance of a model. It allocates its memory at creation. Stepping allocates no memory (except
// inside the reference integrator), prints nothing and accesses no file.
//
// Threads: one thread at a time uses an ItmData, reading included, because getters refresh derived quantities. Different data
// objects, also of the same model, may be used by different threads at the same time. itm_data_set_threads lets a step use several.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_DATA_H
#define INTERIM_DATA_H

#include "interim/base.h"
#include "interim/model.h"

ITM_EXTERN_C_BEGIN

typedef struct ItmData ItmData;  // a running model

// ---------------------------------------------------------------------------- stepping

// Time integrators; docs/theory.md describes them.
typedef enum ItmStepper {
    ITM_STEPPER_EULER,      // impulse-momentum semi-implicit Euler, order 1; the default
    ITM_STEPPER_ALI1,       // index-1 augmented Lagrangian, semi-implicit Euler, order 1   [cranes]
    ITM_STEPPER_ALI3P,      // index-3 augmented Lagrangian with projections, order 2       [cranes]
    ITM_STEPPER_REFERENCE,  // adaptive explicit Runge-Kutta of order 8 (SUNDIALS) with projection
    ITM_STEPPER_VARIABLE,   // step size as an unknown of the step problem, order 1          [clearance, eqs. 25, 31]
    ITM_STEPPER_ADAPTIVE,   // the default stepper with error control, order 1
    ITM_STEPPER_COUNT
} ItmStepper;

// Integration rule of the Euler stepper for the modes of flexible bodies. Both are implicit and stable at any step length.
typedef enum ItmModalRule {
    ITM_MODAL_RULE_NEWMARK,   // trapezoidal: order 2 in the modes, no numerical damping
    ITM_MODAL_RULE_BACKWARD,  // backward Euler: damps modes faster than the step                   [contact-rim, eq. 21]
    ITM_MODAL_RULE_COUNT
} ItmModalRule;

// Flexible bodies in the interface model of a mechanism, over a macro step.
typedef enum ItmFlexibleInterface {
    ITM_FLEXIBLE_INTERFACE_IMPLICIT,  // the rule above over the whole macro step: stiffness reduces the mobility
    ITM_FLEXIBLE_INTERFACE_FROZEN,  // elastic and damping forces constant, from the communication point    [flexible-rim, eq. 9]
    ITM_FLEXIBLE_INTERFACE_EFFECTIVE,  // effective stiffness and damping at the interface, the rest frozen [flexible-rim, eqs. 12-24]
    ITM_FLEXIBLE_INTERFACE_COUNT
} ItmFlexibleInterface;

// Options of a stepper.
typedef struct ItmStepOptions {
    ItmStepper stepper;
    double step;       // s, > 0; reference: output interval; variable, adaptive: largest step
    double min_step;   // variable, adaptive: smallest step, s; 0: step / 10 (variable), step / 10000 (adaptive)
    double tolerance;  // reference: relative and absolute error; implicit steppers: of Newton's method; adaptive: error
                       // of the coordinates per step, m or rad
    double gap_tolerance;      // largest joint gap after a step, m or rad; position correction aims at 1/20 of it
    int max_iterations;        // of Newton, augmented Lagrangian and position correction, per step
    double penalty;            // ALI1, ALI3P: alpha; 0: chosen from the masses and the step
    double frequency;          // ALI1: Baumgarte omega, rad/s; 0: chosen from the step
    double damping_ratio;      // ALI1: Baumgarte xi
    ItmModalRule modal_rule;   // Euler: rule for flexible bodies
    bool has_actuator_limits;  // actuators may get limits, see itm_data_set_actuator_limits
} ItmStepOptions;

// Defaults: semi-implicit Euler, 1 ms, gap tolerance 1e-11.
ITM_API ItmStepOptions itm_default_step_options(void);
// Name as in model files: "euler", "ali1", "ali3p", "reference", "variable" or "adaptive".
ITM_API const char* itm_stepper_name(ItmStepper stepper);
// Name as in model files: "newmark" or "backward".
ITM_API const char* itm_stepper_modal_rule_name(ItmModalRule rule);

// Statistics of the last step and of the run so far.
typedef struct ItmStepInfo {
    long steps;      // steps so far (reference integrator: output intervals)
    int iterations;  // of Newton, augmented Lagrangian and position correction in the last step
    long total_iterations;
    long internal_steps;  // reference integrator: its internal steps so far
    long unfinished;      // steps that reached max_iterations before their tolerance
    double residual;      // of the last step, in the norm of the stepper
    int nredundant;       // redundant constraints in the last factorisation
    double gap;           // largest joint gap after the last step, m or rad

    int ncontact;            // contacts within reach in the last step
    int nbounded;            // bounded rows: contacts, joint limits, dry friction, motors
    int nactive;             // bounded rows strictly between their bounds
    int nisland;             // independent groups of bounded rows
    int nasleep;             // bodies that sleep, see ItmContactOptions.sleep_after
    int solver_iterations;   // of the complementarity solver, summed over islands
    double solver_residual;  // largest relative residual of an island
    int solver_redundant;   // redundant active rows, updated by itm_model_compute_outputs and itm_data_count_redundant;
                            // a lower bound in islands of more than 300 rows
    int bad_steps;          // consecutive steps up to the last with a residual above contact.residual_limit
    double worst_residual;  // largest residual above the tolerance in the run, 0: none;
    double worst_time;      //   start time of its step, s
    char worst_name[160];   //   name of its row: "contact of 'box' and 'floor'", "limit 'elbow'"
    long fallbacks;         // islands so far that the first solver did not solve
    long unsolved;          // islands so far that no solver solved to the tolerance
    double penetration;     // deepest penetration at the start of the last step, m
    double
        step_impact_loss;  // energy that the last step took from impacts although restitution returns it, J (estimate): more
                           // impacts fell into the step than it followed, or compliant contacts took part
    double impact_loss;       // its sum so far, J
    double impact_loss_time;  // start time of the step with the largest one, s
    double impact_loss_most;  // and that, J

    double objective;  // variable: minimised objective of the last step, F^T M^-1 F of constraint forces F, N^2/kg
    int pieces;        // variable: active sets visited by the step size search
    long rejected;     // adaptive: steps so far that were repeated with a smaller size
    double smallest_step, largest_step;  // variable, adaptive: so far, s
} ItmStepInfo;

// Create a running instance in the initial state. options NULL: defaults. ITM_ERR_INPUT: error->field is the invalid option.
ITM_API ItmStatus itm_data_create(ItmData** data, const ItmModel* m, const ItmStepOptions* options, ItmError* error);
// Destroy a data object; d may be NULL.
ITM_API void itm_data_destroy(ItmData* d);
// Return to the assembled initial state, time 0.
ITM_API void itm_reset(const ItmModel* m, ItmData* d);
// Make variable and adaptive steps end exactly at this time. The last two steps before it have equal length if the last one
// would be shorter than the smallest step. INFINITY (the default): none.
ITM_API void itm_data_set_stop_time(ItmData* d, double time);
// Let `nthread` threads (1 to 256, the caller included; the default is 1) share the work of a step: contacts are found, and independent groups
// of contacts solved, several at a time. It pays from some hundred contacts on. Results do not depend on it. Threads are started and their
// memory is taken here, not while stepping. A co-simulation sets the threads of its mechanisms itself. ITM_ERR_ARGUMENT: no such number.
// ITM_ERR_MEMORY: no memory or no threads; one thread is left.
ITM_API ItmStatus itm_data_set_threads(const ItmModel* m, ItmData* d, int nthread);
// Take one step. On failure the state is unchanged and itm_data_get_error returns the reason.
ITM_API ItmStatus itm_step(const ItmModel* m, ItmData* d);
// Statistics of the last step and of the run so far.
ITM_API ItmStepInfo itm_data_get_step_info(const ItmData* d);
// Error of the last call that failed.
ITM_API const ItmError* itm_data_get_error(const ItmData* d);

// ---------------------------------------------------------------------------- state

// Time, s. With a fixed step: number of steps times the step, rounded once.
ITM_API double itm_data_get_time(const ItmData* d);
// Length of the last step, s (adaptive: of its second half step); before the first step, the option `step`.
ITM_API double itm_data_get_step_size(const ItmData* d);
// Position coordinates in compiled order (nq). Valid until the next call that changes the state.
ITM_API const double* itm_data_get_q(const ItmData* d);
// Velocity coordinates in compiled order (nv). Valid until the next call that changes the state.
ITM_API const double* itm_data_get_v(const ItmData* d);
// Set q (nq) and v (nv). This does not close joints; itm_assemble_data does.
ITM_API ItmStatus itm_data_set_qv(const ItmModel* m, ItmData* d, const double* q, const double* v);
// Close all joints and make the velocities consistent, with the smallest change in the mass metric.
ITM_API ItmStatus itm_assemble_data(const ItmModel* m, ItmData* d);
// Set the external force of an actuator, N or N m. It stays until the next call.
ITM_API ItmStatus itm_data_set_actuator_force(const ItmModel* m, ItmData* d, int actuator, double force);
// Keep the length or angle of an actuator within [lower, upper] from now on, as a rigid joint limit does: the stroke of a
// cylinder. -INFINITY, INFINITY: none. Not part of the state. ITM_ERR_ARGUMENT: no such actuator, lower > upper, or a data object
// that was created without ItmStepOptions.has_actuator_limits.
ITM_API ItmStatus itm_data_set_actuator_limits(const ItmModel* m, ItmData* d, int actuator, double lower, double upper);
// Set an external signal (ITM_SIGNAL_EXTERNAL). It stays at `value` until the next call. A smooth signal moves linearly from its
// current value to `value` within `time` > 0 (s), and continues at that rate.
ITM_API ItmStatus itm_data_set_signal(const ItmModel* m, ItmData* d, int signal, double value, double time);
// Close or open a latch now, independently of the model's events. Closing changes velocities, see ItmLatchKind.
ITM_API ItmStatus itm_latch_set(const ItmModel* m, ItmData* d, int latch, bool is_closed);
// Whether a latch is closed.
ITM_API bool itm_latch_is_closed(const ItmModel* m, const ItmData* d, int latch);
// Index in q of the first coordinate of a joint; ITM_NONE if the joint is a block of rows.
ITM_API int itm_model_get_joint_q_adr(const ItmModel* m, int joint);
// Index in v of the first velocity of a joint; ITM_NONE if the joint is a block of rows.
ITM_API int itm_model_get_joint_v_adr(const ItmModel* m, int joint);

// Size of the saved state (time, coordinates, velocities, inputs, energy balance), bytes. A restored simulation continues bit
// for bit, also in another data object of the same model and options.
ITM_API size_t itm_data_get_state_size(const ItmModel* m, const ItmData* d);
// Write the whole state to bytes (size).
ITM_API ItmStatus itm_data_save(const ItmModel* m, const ItmData* d, void* bytes, size_t size);
// Restore the whole state from bytes (size).
ITM_API ItmStatus itm_data_restore(const ItmModel* m, ItmData* d, const void* bytes, size_t size);

// ---------------------------------------------------------------------------- results

// Pose of the body frame in the world. Ids that are no body give the ground: no displacement, no rotation, no velocity.
ITM_API ItmPose itm_data_get_body_pose(const ItmModel* m, ItmData* d, int body);
// Velocity of the body frame's origin, world axes, m/s.
ITM_API ItmVec3 itm_data_get_body_velocity(const ItmModel* m, ItmData* d, int body);
// Angular velocity of a body, world axes, rad/s.
ITM_API ItmVec3 itm_data_get_body_angular_velocity(const ItmModel* m, ItmData* d, int body);

// Statistics of a joint with clearance since the start. npoint 0: the joint is ideal.
typedef struct ItmClearanceInfo {
    int npoint;            // contact points
    long impacts;          // contact points that closed after three or more open steps, faster than the contact option
                           // restitution_speed
    double free_time;      // time without any contact                 s
    double impulse;        // sum of the normal impulses               N s
    double peak_force;     // largest normal force in a step           N
    double impact_loss;    // energy lost in the normal direction      J
    double friction_loss;  // energy lost by friction                  J
} ItmClearanceInfo;

// Statistics of a joint with clearance.
ITM_API ItmClearanceInfo itm_clearance_get_info(const ItmModel* m, const ItmData* d, int joint);

// Compute accelerations v_dot (nv) of the current state under applied and constraint forces, without contacts.
ITM_API ItmStatus itm_dynamics_compute_forward(const ItmModel* m, ItmData* d, double* v_dot);

// The limit of itm_stiffness_get_limit in the current configuration, with all that the bodies carry and the joints that hold them: at
// least as large. 0 <= element < itm_stiffness_get_limit_count(m). Contacts are left out.
ITM_API ItmStepLimit itm_stiffness_compute_limit(const ItmModel* m, ItmData* d, int element);

// Force and torque on a body, acting at the origin of the user's body frame, world axes.
typedef struct ItmWrench {
    ItmVec3 force;   // N
    ItmVec3 torque;  // N m
} ItmWrench;

// Compute the generalised forces tau (nv) that give the current state the accelerations v_dot (nv), in addition to gravity,
// loads, springs and actuators: tau = M v_dot + c - f, by recursive Newton-Euler, O(bodies). The force or torque of a tree joint
// is at itm_model_get_joint_v_adr. external: external wrenches by body id (nbody), or NULL. Constraint rows, including joints
// that are rows, exert no force here; for closed loops, use a prescribed motion and read its force output.
ITM_API ItmStatus itm_dynamics_compute_inverse(const ItmModel* m, ItmData* d, double* tau, const double* v_dot,
                                               const ItmWrench* external);

// Compute the mass matrix M (nv x nv), row-major: kinetic energy is v^T M v / 2. Constraint rows are not eliminated.
ITM_API ItmStatus itm_dynamics_compute_mass_matrix(const ItmModel* m, ItmData* d, double* M);
// Compute the Jacobian J (6 x nv), row-major, of a point of a body (body frame, m): J v is the velocity of the point (tx, ty, tz)
// and the angular velocity of the body (rx, ry, rz), world axes. ITM_ERR_ARGUMENT: no such body.
ITM_API ItmStatus itm_dynamics_compute_jacobian(const ItmModel* m, ItmData* d, double* J, int body, ItmVec3 point);

// Outputs are what a run records, named element.quantity[.component].

// Number of outputs.
ITM_API int itm_model_get_output_count(const ItmModel* m);
// Name, unit and description of an output, 0 <= output < count.
ITM_API ItmOutputInfo itm_model_get_output_info(const ItmModel* m, int output);
// Index of an output by name; ITM_NONE if there is none.
ITM_API int itm_model_find_output(const ItmModel* m, const char* name);
// Compute all outputs of the current state, values (count). The state does not change.
ITM_API ItmStatus itm_model_compute_outputs(const ItmModel* m, ItmData* d, double* values);

// Find the redundant constraints and return how many have a name. Their forces are not unique; outputs give those of minimum
// norm. Joint rows in the current configuration come first, then contacts, limits, dry friction and motors of the last step.
ITM_API int itm_data_count_redundant(const ItmModel* m, ItmData* d);
// Name of a redundant constraint found by the last count, "contact of 'leg' and 'floor': normal"; empty beyond the count.
// name (size)
ITM_API void itm_data_get_redundant_name(const ItmModel* m, const ItmData* d, int index, char* name, size_t size);

ITM_EXTERN_C_END

#endif
