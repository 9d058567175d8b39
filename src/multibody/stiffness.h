// Derivatives of forces: what the tangent of an implicit step needs of springs, dampers, servos, actuators and bushings.
//
// Every such element acts along a direction a (a row over the velocities) with a force f(x, w), w = a v. Its share of the tangent is
// weight a' a, weight = c_K K + c_D D with the step's factors c_K, c_D. The change of a with the configuration (geometric
// stiffness) is left out: it goes with the force, not with the stiffness. A scalar force is one element, a bushing six: three
// translations, then three rotations, in axes of its frame a.
#ifndef ITM_MULTIBODY_STIFFNESS_H
#define ITM_MULTIBODY_STIFFNESS_H

#include "multibody/data.h"

// Elements of a model: scalar forces, then six per bushing.
static inline int itm_stiffness_count(const ItmModel* m)
{
    return m->nscalar_force + 6 * m->nbushing;
}

// Whether a model has any element with stiffness or damping.
bool itm_stiffness_is_any(const ItmModel* m);
// Weights [kg] of all elements, 0 where an element has no stiffness and damping, a negative sum of them, or a servo at its limit.
// Returns whether any is above 0. After itm_forces_compute. weight (itm_stiffness_count)
bool itm_stiffness_compute(const ItmModel* m, const ItmData* d, double* weight, double c_K, double c_D);
// out = a v for any velocities (or accelerations) v. out (itm_stiffness_count)
void itm_stiffness_multiply(const ItmModel* m, ItmData* d, double* out, const double* v);
// wrench, tau += a' f, the forces f of the elements. f (itm_stiffness_count)
void itm_stiffness_add_forces(const ItmModel* m, const ItmData* d, ItmSpatial* wrench, double* tau, const double* f);

#endif
