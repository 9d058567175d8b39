#include "multibody/stiffness.h"

#include "multibody/kinematics.h"
#include "multibody/measure.h"

bool itm_stiffness_is_any(const ItmModel* m)
{
    for (int i = 0; i < m->nscalar_force; i++) {
        if (m->scalar_forces[i].stiffness > 0.0 || m->scalar_forces[i].damping > 0.0) {
            return true;
        }
    }
    return m->nbushing > 0;
}

bool itm_stiffness_compute(const ItmModel* m, const ItmData* d, double* weight, double c_K, double c_D)
{
    bool is_any = false;
    for (int i = 0; i < m->nscalar_force; i++) {
        const ItmScalarForce* force = &m->scalar_forces[i];
        bool is_at_limit = force->is_servo && force->max_force > 0.0 && fabs(d->scalar_force[i]) >= force->max_force;
        weight[i] = is_at_limit ? 0.0 : fmax(0.0, c_K * force->stiffness + c_D * force->damping);
        is_any = is_any || weight[i] > 0.0;
    }
    for (int i = 0; i < m->nbushing; i++) {
        for (int k = 0; k < 6; k++) {
            double w = c_K * m->bushings[i].stiffness[k] + c_D * m->bushings[i].damping[k];
            weight[m->nscalar_force + 6 * i + k] = fmax(0.0, w);
            is_any = is_any || w > 0.0;
        }
    }
    return is_any;
}

// Covectors of the six directions of a bushing on its bodies.
static void find_directions(const ItmData* d, const ItmBushing* b, ItmSpatial on_a[6], ItmSpatial on_b[6])
{
    ItmJointView view;
    itm_joint_view_init_bushing(&view, d, b);
    for (int k = 0; k < 6; k++) {
        ItmVec3 e = itm_mat_column(&view.R_a, k % 3);
        ItmSpatial unit = k < 3 ? (ItmSpatial){{0, 0, 0}, e} : (ItmSpatial){e, {0, 0, 0}};
        on_a[k] = itm_spatial_scale(-1.0, itm_wrench_shift(unit, view.s_a));
        on_b[k] = itm_wrench_shift(unit, view.s_b);
    }
}

void itm_stiffness_multiply(const ItmModel* m, ItmData* d, double* out, const double* v)
{
    itm_kinematics_compute_twists(m, d, d->accel, v);
    for (int i = 0; i < m->nscalar_force; i++) {
        out[i] =
            itm_measure_compute_rate(&m->measures[m->scalar_forces[i].measure], &d->scalar_measured[i], d->accel, v);
    }
    for (int i = 0; i < m->nbushing; i++) {
        const ItmBushing* b = &m->bushings[i];
        ItmSpatial on_a[6], on_b[6];
        find_directions(d, b, on_a, on_b);
        for (int k = 0; k < 6; k++) {
            out[m->nscalar_force + 6 * i + k] =
                itm_spatial_dot(on_a[k], d->accel[b->body_a]) + itm_spatial_dot(on_b[k], d->accel[b->body_b]);
        }
    }
}

void itm_stiffness_add_forces(const ItmModel* m, const ItmData* d, ItmSpatial* wrench, double* tau, const double* f)
{
    for (int i = 0; i < m->nscalar_force; i++) {
        itm_measure_add_force(&m->measures[m->scalar_forces[i].measure], &d->scalar_measured[i], f[i], wrench, tau);
    }
    for (int i = 0; i < m->nbushing; i++) {
        const ItmBushing* b = &m->bushings[i];
        ItmSpatial on_a[6], on_b[6];
        find_directions(d, b, on_a, on_b);
        for (int k = 0; k < 6; k++) {
            double force = f[m->nscalar_force + 6 * i + k];
            wrench[b->body_a] = itm_spatial_axpy(force, on_a[k], wrench[b->body_a]);
            wrench[b->body_b] = itm_spatial_axpy(force, on_b[k], wrench[b->body_b]);
        }
    }
}
