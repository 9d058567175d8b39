// Instantaneous dynamics: accelerations and row forces of a state, without any time step.
#ifndef ITM_MULTIBODY_DYNAMICS_H
#define ITM_MULTIBODY_DYNAMICS_H

#include "multibody/data.h"

// Applied forces, gravity and inertia of the velocities into d->wrench and d->tau. After the velocity stage.
void itm_dynamics_compute_right_side(const ItmModel* m, ItmData* d, double t);
// Its first part: -c of the velocity stage into d->wrench and d->tau, to which itm_forces_compute adds.
void itm_dynamics_compute_inertia_forces(const ItmModel* m, ItmData* d);

// M v' + c = f + A' lambda,  A v' + A' v = signal''  for the present q, v at time t. Compliant rows push with -K Phi - D w.
//   v_dot    (nv)    accelerations
//   d->rows.x (nrow)  lambda as forces [N, N m]; redundant rows get 0, see itm_dynamics_compute_reactions
// bounded_rate > 0: the bounded rows' impulses of the last step act as forces, times this rate (1 / step).
// Leaves the position, velocity, mass and row stages at this state and fills d->energy.power.
void itm_dynamics_compute(const ItmModel* m, ItmData* d, double* v_dot, double t, double bounded_rate);

// Powers of prescribed motions and of the other rigid rows, for row forces lambda [N]. After itm_rows_compute.
void itm_dynamics_compute_row_powers(const ItmModel* m, ItmData* d, const double* lambda, double t);

// Turn d->rows.x into the forces of least norm where rows are redundant. After itm_dynamics_compute.
void itm_dynamics_compute_reactions(const ItmModel* m, ItmData* d);

// Wrench through every tree joint on its body at the centre of mass, and the part of it that the coordinates' own forces
// (tau) make up, for the accelerations v_dot and row forces lambda of the present state. wrench (nbody)
void itm_dynamics_compute_joint_wrenches(const ItmModel* m, ItmData* d, ItmSpatial* wrench, const double* v_dot,
                                         const double* lambda, double t, double bounded_rate);

#endif
