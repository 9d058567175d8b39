// Largest stable steps of springs, dampers and bushings that a step treats explicitly.
#include "multibody/mass.h"

#include "base/guard.h"

#include <math.h>

// A spring and damper between otherwise free bodies obeys x'' = -W (k x + d x'), W the mobility along its direction.
// With forces of the start of the step, semi-implicit Euler is stable for W (k h^2 + 2 d h) < 4. What else the bodies
// carry only lowers W, so this limit is on the safe side.

// nᵀ I⁻¹ n, with the Cholesky factor of the inertia
static double turning_mobility(const ItmBody* body, ItmVec3 n)
{
    ItmVec3 y = itm_body_solve_lower(body, n);
    return itm_vec_dot(y, y);
}

// Mobility of one body for a direction of a frame fixed in it; none for the ground.
static double frame_mobility(const ItmModel* m, int body_id, const ItmFrame* frame, int direction)
{
    if (body_id == ITM_NONE) {
        return 0.0;
    }
    const ItmBody* body = &m->bodies[body_id];
    ItmVec3 n = itm_mat_column(&frame->R, direction % 3);
    if (direction >= ITM_RX) {
        return turning_mobility(body, n);
    }
    return 1.0 / body->mass + turning_mobility(body, itm_vec_cross(frame->p, n));
}

static double mass_mobility(const ItmModel* m, int body_id)
{
    return body_id == ITM_NONE ? 0.0 : 1.0 / m->bodies[body_id].mass;
}

static double compute_mobility(const ItmModel* m, const ItmMeasure* measure)
{
    if (measure->joint == ITM_NONE) {
        return mass_mobility(m, measure->body_a) + mass_mobility(m, measure->body_b);
    }
    const ItmJoint* joint = &m->joints[measure->joint];
    int direction = (int)measure->direction;
    return frame_mobility(m, joint->body_a, &joint->a, direction) +
           frame_mobility(m, joint->body_b, &joint->b, direction);
}

// Largest stable step: the positive root of W (k h^2 + 2 d h) = 4.
static double stable_step(double W, double k, double d)
{
    double wk = W * k, wd = W * d;
    return wk > 0.0 || wd > 0.0 ? 4.0 / (wd + sqrt(wd * wd + 4.0 * wk)) : INFINITY;
}

int itm_stiffness_get_limit_count(const ItmModel* m)
{
    ITM_GUARD(m != NULL, 0);
    return m->nscalar_force + m->nbushing;
}

ItmStepLimit itm_stiffness_get_limit(const ItmModel* m, int element)
{
    ITM_GUARD(m != NULL && ITM_IS_INDEX(element, m->nscalar_force + m->nbushing), (ItmStepLimit){0});
    if (element < m->nscalar_force) {
        const ItmScalarForce* force = &m->scalar_forces[element];
        double W = compute_mobility(m, &m->measures[force->measure]);
        return (ItmStepLimit){force->name, stable_step(W, force->stiffness, force->damping)};
    }
    const ItmBushing* b = &m->bushings[element - m->nscalar_force];
    double limit = INFINITY;
    for (int k = 0; k < ITM_DIRECTION_COUNT; k++) {
        double W = frame_mobility(m, b->body_a, &b->a, k) + frame_mobility(m, b->body_b, &b->b, k);
        limit = fmin(limit, stable_step(W, b->stiffness[k], b->damping[k]));
    }
    return (ItmStepLimit){b->name, limit};
}
