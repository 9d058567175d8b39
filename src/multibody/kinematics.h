// Poses, motion subspaces, twists and bias accelerations of all bodies, from the coordinates down the tree.
#ifndef ITM_MULTIBODY_KINEMATICS_H
#define ITM_MULTIBODY_KINEMATICS_H

#include "multibody/data.h"

// q -> d->x, d->R, d->r, d->S, d->J
void itm_kinematics_compute_positions(const ItmModel* m, ItmData* d, const double* q);
// v -> d->twist, d->accel_bias; after positions
void itm_kinematics_compute_velocities(const ItmModel* m, ItmData* d, const double* v);
// twist of every body for the velocities v, in the configuration of the position stage
void itm_kinematics_compute_twists(const ItmModel* m, const ItmData* d, ItmSpatial* twist, const double* v);
// q_next = q (+) s v: translations and angles add, quaternions turn by exp(s omega')
void itm_kinematics_integrate(const ItmModel* m, double* q_next, const double* q, const double* v, double s);
// Coordinates of a mobilizer that come closest to a relative pose of frame b in frame a.
void itm_kinematics_fit(const ItmBody* body, double* q, ItmPose b_in_a);

#endif
