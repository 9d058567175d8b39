#include "scales.h"

#include "multibody/mass.h"

#include <math.h>
#include <stdio.h>

// Beyond these limits, double precision or the step no longer resolves both ends of the scale.
#define MASS_RATIO_LIMIT 1e6
#define FAR_LIMIT 1e5      // m from the world's origin
#define GYRATION_MOST 1e3  // radius of gyration against the size of the model
#define GYRATION_LEAST 1e-6

// ---------------------------------------------------------------------------- numbers in the file

static int warn_masses(const ItmModelInfo* info, const char* name)
{
    if (info->nbody < 2 || info->mass_max <= MASS_RATIO_LIMIT * info->mass_min) {
        return 0;
    }
    app_print_warning(name,
                      "the heaviest body has %.2g times the mass of the lightest; forces on light bodies lose accuracy",
                      info->mass_max / info->mass_min);
    return 1;
}

static int warn_size(const ItmModelInfo* info, const char* name)
{
    if (info->length <= FAR_LIMIT) {
        return 0;
    }
    app_print_warning(name, "the model extends to %.2g m from the world origin; move the origin closer", info->length);
    return 1;
}

// Inertia in other units than the mass is the most common mistake: compare the radius of gyration with the model.
static int warn_inertia(const ItmModel* m, double size, const char* name)
{
    int count = 0;
    for (int i = 0; i < m->nuser && size > 0.0; i++) {
        const ItmBody* body = &m->bodies[m->body_index[i]];
        double inertia = (body->inertia.xx + body->inertia.yy + body->inertia.zz) / 2.0;
        double radius = sqrt(inertia / body->mass);
        if (radius > GYRATION_MOST * size || radius < GYRATION_LEAST * size) {
            app_print_warning(
                name,
                "body '%s' has a radius of gyration of %.2g m in a model of %.2g m; check the units of mass "
                "and inertia",
                body->name, radius, size);
            count++;
        }
    }
    return count;
}

static int warn_freedom(const ItmModelInfo* info, const char* name)
{
    if (info->freedom > 0 || info->nmotion > 0) {
        return 0;
    }
    app_print_warning(name, "nothing can move: the constraints leave no degree of freedom");
    return 1;
}

// ---------------------------------------------------------------------------- stiffness against the step
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

static int warn_step(const char* part, const char* name, double limit, double step)
{
    if (step <= limit) {
        return 0;
    }
    app_print_warning(part, "'%s' may be too stiff for a step of %.3g s; reduce the step to at most %.2g s", name, step,
                      limit);
    return 1;
}

static int warn_scalar_forces(const ItmModel* m, double step, const char* name)
{
    int count = 0;
    for (int i = 0; i < m->nscalar_force; i++) {
        const ItmScalarForce* force = &m->scalar_forces[i];
        double W = compute_mobility(m, &m->measures[force->measure]);
        count += warn_step(name, force->name, stable_step(W, force->stiffness, force->damping), step);
    }
    return count;
}

static int warn_bushings(const ItmModel* m, double step, const char* name)
{
    int count = 0;
    for (int i = 0; i < m->nbushing; i++) {
        const ItmBushing* b = &m->bushings[i];
        double limit = INFINITY;
        for (int k = 0; k < ITM_DIRECTION_COUNT; k++) {
            double W = frame_mobility(m, b->body_a, &b->a, k) + frame_mobility(m, b->body_b, &b->b, k);
            limit = fmin(limit, stable_step(W, b->stiffness[k], b->damping[k]));
        }
        count += warn_step(name, b->name, limit, step);
    }
    return count;
}

int app_scales_warn(const ItmModel* m, const ItmStepOptions* step, const char* name)
{
    ItmModelInfo info = itm_model_get_info(m);
    int count = warn_masses(&info, name) + warn_size(&info, name) + warn_inertia(m, info.length, name) +
                warn_freedom(&info, name);
    if (step->stepper != ITM_STEPPER_REFERENCE && step->stepper != ITM_STEPPER_ALI3P) {
        count += warn_scalar_forces(m, step->step, name) + warn_bushings(m, step->step, name);
    }
    return count;
}
