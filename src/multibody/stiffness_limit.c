// Largest stable steps of springs, dampers and bushings that a step treats explicitly.
#include "multibody/dynamics.h"
#include "multibody/kinematics.h"
#include "multibody/mass.h"
#include "multibody/measure.h"
#include "multibody/rows.h"

#include "base/guard.h"

#include <math.h>
#include <string.h>

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

// ---------------------------------------------------------------------------- with all that the bodies carry

// Velocities d->x1 after a unit of the impulses in d->wrench and d->tau, with the factors that itm_dynamics_compute left:
// M x1 = f + A' lambda, A x1 = 0.
static void respond(const ItmModel* m, ItmData* d)
{
    itm_mass_solve(m, d, d->x1, d->tau, d->wrench);
    if (m->nrow > 0) {
        double* lambda = d->rows.scratch;
        itm_rows_multiply(m, d, lambda, d->x1);
        itm_blocks_solve(&m->pattern, &d->rows.factor, lambda);
        for (int i = 0; i < m->nrow; i++) {
            lambda[i] = -lambda[i];
        }
        itm_rows_apply(m, d, d->x1, lambda);
    }
    itm_kinematics_compute_twists(m, d, d->accel, d->x1);
}

static void clear_forces(const ItmModel* m, ItmData* d)
{
    memset(d->wrench, 0, sizeof *d->wrench * (size_t)m->nbody);
    memset(d->tau, 0, sizeof *d->tau * (size_t)m->nv);
}

// Rate of a measure after a unit impulse along it.
static double respond_along(const ItmModel* m, ItmData* d, const ItmMeasure* measure)
{
    ItmMeasured x = itm_measure_compute(m, d, measure);
    clear_forces(m, d);
    itm_measure_add_force(measure, &x, 1.0, d->wrench, d->tau);
    respond(m, d);
    return itm_measure_compute_rate(measure, &x, d->accel, d->x1);
}

// The same for a direction of a bushing, in axes of its frame a.
static double respond_across(const ItmModel* m, ItmData* d, const ItmBushing* b, int direction)
{
    ItmJointView view;
    itm_joint_view_init_bushing(&view, d, b);
    ItmVec3 n = itm_mat_column(&view.R_a, direction % 3), zero = itm_vec(0.0, 0.0, 0.0);
    ItmSpatial unit = direction >= ITM_RX ? (ItmSpatial){n, zero} : (ItmSpatial){zero, n};
    ItmSpatial on_a = itm_spatial_scale(-1.0, itm_wrench_shift(unit, view.s_a)),
               on_b = itm_wrench_shift(unit, view.s_b);
    clear_forces(m, d);
    d->wrench[b->body_a] = itm_spatial_add(d->wrench[b->body_a], on_a);
    d->wrench[b->body_b] = itm_spatial_add(d->wrench[b->body_b], on_b);
    respond(m, d);
    return (b->body_a != ITM_NONE ? itm_spatial_dot(on_a, d->accel[b->body_a]) : 0.0) +
           (b->body_b != ITM_NONE ? itm_spatial_dot(on_b, d->accel[b->body_b]) : 0.0);
}

ItmStepLimit itm_stiffness_compute_limit(const ItmModel* m, ItmData* d, int element)
{
    ITM_GUARD(m != NULL && d != NULL && ITM_IS_INDEX(element, m->nscalar_force + m->nbushing), (ItmStepLimit){0});
    itm_dynamics_compute(m, d, d->x1, itm_data_get_time(d), 0.0);
    d->position_state = ITM_POSITION_LOOKED;
    if (element < m->nscalar_force) {
        const ItmScalarForce* force = &m->scalar_forces[element];
        double W = respond_along(m, d, &m->measures[force->measure]);
        return (ItmStepLimit){force->name, stable_step(W, force->stiffness, force->damping)};
    }
    const ItmBushing* b = &m->bushings[element - m->nscalar_force];
    ItmStepLimit limit = {b->name, INFINITY};
    for (int k = 0; k < ITM_DIRECTION_COUNT; k++) {
        limit.step = fmin(limit.step, stable_step(respond_across(m, d, b, k), b->stiffness[k], b->damping[k]));
    }
    return limit;
}
