// Steppers: each advances q and v of a data object by one step and reports in d->info. itm_step (step.c) chooses, guards
// and counts.
#ifndef ITM_STEPPER_STEPPER_H
#define ITM_STEPPER_STEPPER_H

#include "multibody/data.h"
#include "multibody/mass.h"

// Whether a stepper can step a model. ITM_ERR_UNSUPPORTED: it has bounds, and the stepper supports none.
ItmStatus itm_stepper_check(const ItmModel* m, ItmStepper stepper, ItmError* error);

ItmStatus itm_euler_step(const ItmModel* m, ItmData* d);
ItmStatus itm_ali1_step(const ItmModel* m, ItmData* d);
ItmStatus itm_ali3p_step(const ItmModel* m, ItmData* d);

// Steppers of variable step set d->time and d->step_size themselves.
ItmStatus itm_variable_create(const ItmModel* m, ItmData* d, ItmError* error);
void itm_variable_destroy(ItmData* d);
ItmStatus itm_variable_step(const ItmModel* m, ItmData* d);
ItmStatus itm_adaptive_create(const ItmModel* m, ItmData* d, ItmError* error);
void itm_adaptive_destroy(ItmData* d);
ItmStatus itm_adaptive_step(const ItmModel* m, ItmData* d);

// The largest step that does not pass d->stop_time, at most h_max.
double itm_step_limit(const ItmData* d, double h_max);
// The step that leaves no rest before d->stop_time that is shorter than h_min: h itself, or half of what remains, or all of it.
double itm_step_spread(const ItmData* d, double h, double h_min, double h_max);
// Time advances, and to d->stop_time exactly if that is where it leads; the last step that was made for it had length h.
void itm_step_pass_time(ItmData* d, double advance, double h);

// The parts of the Euler step that a co-simulation shares, because its interface model must be exactly this step's.
// What the implicit treatment of modes puts on their diagonal.
ItmModalTerms itm_euler_modal_terms(const ItmData* d, double h);
// What an evaluation is for. A reduced interface model needs the inertial motion of fast components over the step (stepper/inertial.h); FOREST:
// the rows are a forest, and have no Jacobian afterwards where itm_euler_can_span_interfaces.
typedef enum ItmEvaluation { ITM_EVALUATE_STEP, ITM_EVALUATE_INTERFACE, ITM_EVALUATE_FOREST } ItmEvaluation;
// Forces and rows of the present state (kinematics where they are stale), time t, into d->wrench, d->tau and the row stage.
ItmStatus itm_euler_evaluate(const ItmModel* m, ItmData* d, double t, double h, ItmEvaluation purpose);
// Whether the forest of rows, if they are one, gives an interface model: no bounded row is near, no component fast. After the evaluation.
bool itm_euler_can_span_interfaces(const ItmModel* m, const ItmData* d);
// The bounded rows of the present state for a step h from time t. After the velocity stage and the forces.
ItmStatus itm_euler_collect_bounded(const ItmModel* m, ItmData* d, double t, double h);
// Work of row impulses d->lambda over the step, with the mean of the row velocities A v before (d->rows.before) and after
// (d->rows.reference).
void itm_euler_book_row_work(const ItmModel* m, ItmData* d);
// Factors of M and H for a step h in the configuration of the position stage; rows computed.
void itm_euler_factor(const ItmModel* m, ItmData* d, double h);
// The same with other terms on the diagonal of the modes.
void itm_euler_factor_modes(const ItmModel* m, ItmData* d, double h, ItmModalTerms terms);
// x <- H^-1 x (nrow), v += M^-1 A' x (nv), with the last factors for a step.
void itm_euler_respond(const ItmModel* m, ItmData* d, double* v, double* x);
// At the end of the step h, time t: close the gaps at d->q and make d->v agree with the joints there. d->rows.before and
// d->rows.reference: row velocities at both ends of the step; d->lambda: its row impulses so far.
void itm_euler_finish_rows(const ItmModel* m, ItmData* d, double t, double h);

// After a step with bounded rows: note the row that is farthest off its law where an island was not solved to the tolerance; too
// many such consecutive steps are a failure, because the state then no longer follows the model.
ItmStatus itm_step_judge(const ItmModel* m, ItmData* d);
// At the end of a step h from v_start that succeeded: its impulses are those that the next one starts from; count it, remember
// accelerations and the largest impact loss, apply the events that are due.
void itm_step_finish(const ItmModel* m, ItmData* d, const double* v_start, double h);
// The body whose coordinates or velocities are not finite, or one of whose velocities is beyond all that Newton's mechanics is about, or
// ITM_NONE. Energy need not come from nowhere for that: a controller with the wrong sign gives as much as its force does.
#define ITM_SPEED_OF_LIGHT 299792458.0  // m/s; for rotations, rad/s
int itm_step_find_runaway(const ItmModel* m, const ItmData* d);
// What is wrong with it, as a predicate.
void itm_step_describe_runaway(const ItmModel* m, const ItmData* d, int body, char* text, size_t size);

ItmStatus itm_reference_create(const ItmModel* m, ItmData* d, ItmError* error);
void itm_reference_destroy(ItmData* d);
ItmStatus itm_reference_step(const ItmModel* m, ItmData* d);

// Whether an external signal drives a row, so that its rate jumps wherever it is set.
bool itm_jumps_are_external(const ItmModel* m);
// Where signals that drive velocities have jumped at t, the velocities follow by an impact:
//   v+ = v + M^-1 A' P,   H P = -(A v - signal'),   work of the motions P . (A v + A v+) / 2
void itm_jumps_follow(const ItmModel* m, ItmData* d, double t);

// Close the gaps of rigid rows at the end of a step, time t, by Newton's method with the factors at hand (H and M of the
// start of the step), or with new ones where those do not serve: q <- q (+) -M^-1 A' H^-1 Phi. The corrections count as part of
// the step's motion, d->v and d->lambda take them over (divided by the step): with Jacobians of the start this is SHAKE, whose
// energy stays bounded, where correcting positions alone feeds energy. Leaves the position stage at the final d->q, and
// the Jacobian where d->spanning is used. The largest gap left is d->info.gap; more than the tolerance counts as unfinished.
void itm_gaps_close(const ItmModel* m, ItmData* d, double t);

#endif
