// Inertial motion of mechanisms that turn fast: the step is split into a kick by forces and impulses and a drift without forces.
//
// A component (bodies connected by joints) is fast in a step h where a body of it turns by more than ITM_FAST_TURN
// (ALI3-P: ITM_FAST_TURN_SECOND; kept in a plane by its joints: ITM_FAST_TURN_PLANAR). For such a
// component the velocity-dependent terms c of M v' + c = f + A' lambda, extrapolated elsewhere, would feed energy:
//   kick    v_k = v + M^-1 (h f + A' P)        forces, rows, contacts, interfaces: the step as it is, without c and A' v
//   drift   M v' + c = A' lambda,  A v' + A' v = 0   from (q, v_k) over h, to a relative 1e-13
// This is the splitting of the kinetic and the potential energy (symplectic Euler on any configuration space), of order 1 in the
// forces; the drift keeps energy and momentum to its tolerance at any h omega. Slow components are stepped as without it, bit for bit.
#ifndef ITM_STEPPER_INERTIAL_H
#define ITM_STEPPER_INERTIAL_H

#include "multibody/data.h"

// Find the components that turn by more than `most` (rad) in a step h, from d->q and d->v; the twists must be there, and the rest of the velocity stage is computed where components are fast or become slow. is_predicted: also their drift from
// the present state, d->inertial.dv, for bounded rows and interfaces, which need the velocities at the end of the step. This overwrites the
// factors of M and H, and the position and velocity stages are computed again. is_midway: velocities of slow components belong to the
// middle between two positions, and change by half a step of inertia where a component becomes fast or slow. Returns whether there are any.
bool itm_inertial_begin(const ItmModel* m, ItmData* d, double h, double most, bool is_predicted, bool is_midway);
// d->wrench and d->tau of a step h: forces at time t, and the inertia forces c
//   of fast components         those of the predicted drift, or none
//   of free bodies             the mean of their motion without forces, by the midpoint rule, which keeps the energy
//   of articulated components  at the velocities v + h/2 v' of the middle of the step, v' being the mean acceleration of the last steps
// so that none feeds energy: with q+ = q (+) h v+, the velocities are those of the middle between two positions (leapfrog). They
// differ by order h from those at the positions, without drift. After itm_inertial_begin; the velocity stage stays. Without articulated components it must be complete.
void itm_inertial_compute_right_side(const ItmModel* m, ItmData* d, double t, double h);
// Replace the inertia forces in d->wrench of fast components by those of the predicted drift, or by none.
void itm_inertial_set_wrench(const ItmModel* m, ItmData* d, double h);
// The same for the bias of their rows: h row_bias is what the kick must not see of A v. After itm_rows_compute_motion.
void itm_inertial_set_bias(const ItmModel* m, ItmData* d, double h);
// Drift of fast components: from q_start and the velocities d->v (prediction included) into d->q and d->v, over h; then q <- q (+) move
// (may be NULL). Impulses of their rows are added to d->lambda. Slow components stay as they are.
void itm_inertial_finish(const ItmModel* m, ItmData* d, const double* q_start, const double* move, double h);

// Accelerations a (nv) of all components in the present state, and a_kick, the part that is not due to inertia: M a_kick = f + A' lambda,
// A a_kick = signal''. Leaves the row stage as itm_dynamics_compute does, row forces in d->rows.x.
void itm_inertial_compute_kick(const ItmModel* m, ItmData* d, double* a_kick, double* a, double t);

// Whether the component of a body, or of the bodies of a row, is fast in this step.
bool itm_inertial_is_fast(const ItmModel* m, const ItmData* d, int body);
bool itm_inertial_is_fast_row(const ItmModel* m, const ItmData* d, int row);

#endif
