// The mass matrix, never formed: articulated inertias give a factor M = L L' that is applied by one pass up and
// one pass down the tree, at a cost linear in the number of bodies.
#ifndef ITM_MULTIBODY_MASS_H
#define ITM_MULTIBODY_MASS_H

#include "multibody/data.h"

// L^-1 y, L^-T y and J^-1 y with the factor J = L L' of the inertia of one body, body axes.
static inline ItmVec3 itm_body_solve_lower(const ItmBody* body, ItmVec3 y)
{
    const double* K = body->inv_inertia_L;
    return itm_vec(K[0] * y.x, K[1] * y.x + K[2] * y.y, K[3] * y.x + K[4] * y.y + K[5] * y.z);
}

static inline ItmVec3 itm_body_solve_upper(const ItmBody* body, ItmVec3 y)
{
    const double* K = body->inv_inertia_L;
    return itm_vec(K[0] * y.x + K[1] * y.y + K[3] * y.z, K[2] * y.y + K[4] * y.z, K[5] * y.z);
}

static inline ItmVec3 itm_body_solve_inertia(const ItmBody* body, ItmVec3 y)
{
    return itm_body_solve_upper(body, itm_body_solve_lower(body, y));
}

// What stands on the diagonal of the modes of flexible bodies: inertia M + damping D + stiffness K.
typedef struct ItmModalTerms {
    double inertia, damping, stiffness;  // 1, s, s^2
} ItmModalTerms;

// Articulated inertias, gains and factors of the present configuration (after the position stage).
void itm_mass_factor(const ItmModel* m, ItmData* d);
// The same for M^ = M + damping D + stiffness K over the modes                                    [contact-rim, eq. 21]
void itm_mass_factor_implicit(const ItmModel* m, ItmData* d, ItmModalTerms terms);

// x = M^-1 (tau + sum of the bodies' wrenches). tau (nv) may be NULL; wrench (nbody, world element before it)
// is overwritten.
void itm_mass_solve(const ItmModel* m, ItmData* d, double* x, const double* tau, ItmSpatial* wrench);
// itm_mass_factor_implicit and itm_mass_solve in one pass up the tree, to the same bits.
void itm_mass_factor_solve(const ItmModel* m, ItmData* d, ItmModalTerms terms, double* x, const double* tau,
                           ItmSpatial* wrench);

// Half of it, y = L^-1 (tau + sum of the wrenches), into d->mass.y. tau (nv)
void itm_mass_solve_lower(const ItmModel* m, ItmData* d, const double* tau, ItmSpatial* wrench);
void itm_mass_factor_solve_lower(const ItmModel* m, ItmData* d, ItmModalTerms terms, const double* tau,
                                 ItmSpatial* wrench);

// The other half: x = L^-T y, y (nv) given in d->mass.y.
void itm_mass_solve_upper(const ItmModel* m, ItmData* d, double* x);

// Whether a block touches nothing but bodies that are free on the world, each once: they have no path.
bool itm_mass_has_root_leaves_only(const ItmModel* m, const ItmRowBlock* block);
// Half of that along the path of a row block: the rows of Y = L^-1 A'.
//   Y    (nrow x ny)    cov  covectors of its rows  (nrow x nbody)    nrow <= ITM_BLOCK_MAX
// Several threads may solve different blocks at a time where these have root leaves only.
void itm_mass_half_solve(const ItmModel* m, ItmData* d, double* Y, const ItmRowBlock* block, const ItmSpatial* cov);

// Wrench of inertia and gravity on each body while v' = accelerations that give body accelerations `accel`
// (NULL: v' = 0): -(m a - m g), -(J alpha + w x J w). After the velocity stage.
void itm_mass_compute_inertia_wrench(const ItmModel* m, const ItmData* d, ItmSpatial* wrench, const ItmSpatial* accel);

// Body accelerations for generalised accelerations a: bias plus S a, down the tree.
void itm_mass_compute_accelerations(const ItmModel* m, const ItmData* d, ItmSpatial* accel, const double* a);

#endif
