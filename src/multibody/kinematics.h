// Poses, motion subspaces, twists and bias accelerations of all bodies, from the coordinates down the tree.
#ifndef ITM_MULTIBODY_KINEMATICS_H
#define ITM_MULTIBODY_KINEMATICS_H

#include "multibody/data.h"

// Acceleration of the point at s from the centre of mass of a body with acceleration A and angular velocity w.
static inline ItmVec3 itm_point_acceleration(ItmSpatial A, ItmVec3 w, ItmVec3 s)
{
    ItmVec3 centripetal = itm_vec_cross(w, itm_vec_cross(w, s));
    return itm_vec_add(A.lin, itm_vec_add(itm_vec_cross(A.ang, s), centripetal));
}

// Motion of body i for a unit velocity k of its own, at its x. Bodies that are alone have none in d->S.
static inline ItmSpatial itm_kinematics_get_motion(const ItmModel* m, const ItmData* d, int i, int k)
{
    const ItmBody* body = &m->bodies[i];
    if (!body->is_root_leaf) {
        return d->S[body->v_adr + k];
    }
    ItmSpatial motion = itm_spatial_zero();
    if (k < 3) {
        ((double*)&motion.lin)[k] = 1.0;
    } else {
        motion.ang = itm_mat_column(&d->R[i], k - 3);
    }
    return motion;
}

// q -> d->x, d->R, d->r, d->S, d->mass.J
void itm_kinematics_compute_positions(const ItmModel* m, ItmData* d, const double* q);
// v -> d->twist, d->accel_bias; after positions
void itm_kinematics_compute_velocities(const ItmModel* m, ItmData* d, const double* v);
// twist of every body for the velocities v, in the configuration of the position stage
void itm_kinematics_compute_twists(const ItmModel* m, const ItmData* d, ItmSpatial* twist, const double* v);
// q_next = q (+) s v: translations and angles add, quaternions turn by exp(s omega')
void itm_kinematics_integrate(const ItmModel* m, double* q_next, const double* q, const double* v, double s);
// q' = N(q) v: rates of plain coordinates are velocities, p' = p o omega' / 2. q_dot (nq)
void itm_kinematics_compute_rates(const ItmModel* m, double* q_dot, const double* q, const double* v);
// Coordinates of a mobilizer that come closest to a relative pose of frame b in frame a.
void itm_kinematics_fit(const ItmBody* body, double* q, ItmPose b_in_a);

#endif
