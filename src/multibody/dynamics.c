#include "multibody/dynamics.h"

#include "base/error.h"
#include "base/guard.h"
#include "multibody/bounded.h"
#include "multibody/flexible.h"
#include "multibody/forces.h"
#include "multibody/kinematics.h"
#include "multibody/mass.h"
#include "multibody/rows.h"
#include "multibody/sleep.h"

#include <string.h>

void itm_dynamics_compute_inertia_forces(const ItmModel* m, ItmData* d)
{
    itm_mass_compute_inertia_wrench(m, d, d->wrench, NULL);
    memset(d->tau, 0, sizeof(double) * (size_t)m->nv);
    itm_flexible_add_inertia(m, d, d->wrench, d->tau, NULL, NULL);
}

void itm_dynamics_compute_right_side(const ItmModel* m, ItmData* d, double t)
{
    memset(d->energy.power, 0, sizeof d->energy.power);
    itm_dynamics_compute_inertia_forces(m, d);
    itm_forces_compute(m, d, t);
}

// Forces of compliant rows into d->rows.x; a row that only pushes takes no part in the constraint equations.
static void compute_compliant_rows(const ItmModel* m, ItmData* d)
{
    itm_rows_compute_compliant_forces(m, d, d->rows.x);
    itm_rows_add_damper_power(m, d);
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        for (int i = block->row; i < block->row + block->nrow; i++) {
            d->rows.omega[i] = itm_block_is_compliant(block) ? ITM_OMEGA_IDLE : 0.0;
        }
    }
}

void itm_dynamics_compute_row_powers(const ItmModel* m, ItmData* d, const double* lambda, double t)
{
    d->energy.power[ITM_LEDGER_MOTION] = 0.0;
    d->energy.power[ITM_LEDGER_CONSTRAINT] = 0.0;
    itm_rows_compute_reference(m, d, d->rows.reference, t, 1);
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        for (int i = block->row; !itm_block_is_compliant(block) && i < block->row + block->nrow; i++) {
            ItmLedger account = block->kind == ITM_BLOCK_MOTION ? ITM_LEDGER_MOTION : ITM_LEDGER_CONSTRAINT;
            d->energy.power[account] += lambda[i] * (d->rows.rate[i] + d->rows.reference[i]);
        }
    }
}

void itm_dynamics_compute(const ItmModel* m, ItmData* d, double* v_dot, double t, double bounded_rate)
{
    itm_kinematics_compute_positions(m, d, d->q);
    itm_kinematics_compute_velocities(m, d, d->v);
    itm_dynamics_compute_right_side(m, d, t);
    if (bounded_rate > 0.0) {
        itm_bounded_add_forces(d->bounded, d->wrench, d->tau, d->bounded->x, bounded_rate);
    }
    itm_sleep_hold(m, d);
    if (m->nrow == 0) {
        itm_mass_factor_solve(m, d, (ItmModalTerms){.inertia = 1.0}, v_dot, d->tau, d->wrench);
        return;
    }
    itm_mass_factor(m, d);
    itm_rows_compute(m, d, t);
    compute_compliant_rows(m, d);
    itm_rows_add_forces(m, d, d->wrench, d->tau, d->rows.x);
    itm_mass_solve(m, d, v_dot, d->tau, d->wrench);

    // H lambda = -(A v'_free + bias - signal'')
    itm_rows_factor(m, d, 0.0);
    double* lambda = d->rows.scratch;
    itm_rows_multiply(m, d, lambda, v_dot);
    itm_rows_compute_reference(m, d, d->rows.reference, t, 2);
    for (int i = 0; i < m->nrow; i++) {
        lambda[i] = -(lambda[i] + d->rows.bias[i] - d->rows.reference[i]);
    }
    itm_blocks_solve(&m->pattern, &d->rows.factor, lambda);
    itm_rows_apply(m, d, v_dot, lambda);
    for (int i = 0; i < m->nrow; i++) {
        d->rows.x[i] = d->rows.omega[i] > 0.0 ? d->rows.x[i] : lambda[i];
    }
    itm_dynamics_compute_row_powers(m, d, d->rows.x, t);
}

void itm_dynamics_compute_reactions(const ItmModel* m, ItmData* d)
{
    if (m->nrow > 0) {
        itm_blocks_min_norm(&m->pattern, &d->rows.factor, d->rows.x, d->rows.scratch);
    }
}

// What the bodies need beyond d->wrench, summed over all that hangs on each: it goes through their joints.
static void collect_through_joints(const ItmModel* m, const ItmData* d, ItmSpatial* wrench)
{
    for (int i = 0; i < m->nbody; i++) {
        wrench[i] = itm_spatial_scale(-1.0, d->wrench[i]);
    }
    for (int i = m->nbody - 1; i >= 0; i--) {
        int parent = m->bodies[i].parent;
        if (parent != ITM_NONE) {
            ItmSpatial f = itm_wrench_shift(wrench[i], itm_vec_sub(d->x[i], d->x[parent]));
            wrench[parent] = itm_spatial_add(wrench[parent], f);
        }
    }
}

void itm_dynamics_compute_joint_wrenches(const ItmModel* m, ItmData* d, ItmSpatial* wrench, const double* v_dot,
                                         const double* lambda, double t, double bounded_rate)
{
    // m a - f, what the bodies need beyond applied and row forces
    itm_mass_compute_accelerations(m, d, d->accel, v_dot);
    itm_mass_compute_inertia_wrench(m, d, d->wrench, d->accel);
    memset(d->tau, 0, sizeof(double) * (size_t)m->nv);
    itm_flexible_add_inertia(m, d, d->wrench, d->tau, d->accel, v_dot);
    itm_forces_compute(m, d, t);
    itm_rows_add_forces(m, d, d->wrench, d->tau, lambda);
    if (bounded_rate > 0.0) {
        itm_bounded_add_forces(d->bounded, d->wrench, d->tau, d->bounded->x, bounded_rate);
    }
    collect_through_joints(m, d, wrench);
}

// The wrenches that bodies lack (-d->wrench) go through the joints; along their free directions, less d->tau, they are tau (nv).
static void project_on_coordinates(const ItmModel* m, ItmData* d, double* tau)
{
    collect_through_joints(m, d, d->joint_wrench);
    for (int i = 0; i < m->nbody; i++) {
        for (int k = 0, adr = m->bodies[i].v_adr; k < m->bodies[i].nv; k++) {
            tau[adr + k] = itm_spatial_dot(itm_kinematics_get_motion(m, d, i, k), d->joint_wrench[i]) - d->tau[adr + k];
        }
    }
    // on the modes of flexible bodies what goes through their nodes
    for (int i = 0; i < m->nnode; i++) {
        const ItmFlexNode* node = &m->nodes[i];
        const ItmFlexible* f = &m->flexibles[node->flexible];
        for (int k = 0; k < f->n; k++) {
            tau[m->bodies[f->modes].v_adr + k] +=
                itm_spatial_dot(d->flex.node_S[node->S_adr + k], d->joint_wrench[node->body]);
        }
    }
}

ItmStatus itm_dynamics_compute_inverse(const ItmModel* m, ItmData* d, double* tau, const double* v_dot,
                                       const ItmWrench* external)
{
    if (m == NULL || d == NULL || tau == NULL || v_dot == NULL) {
        return d == NULL ? ITM_ERR_ARGUMENT
                         : itm_error_set(&d->error, ITM_ERR_ARGUMENT, __func__, NULL, "model, tau or v_dot is NULL");
    }
    itm_data_refresh(m, d);
    // f - (M v' + c), body by body
    itm_mass_compute_accelerations(m, d, d->accel, v_dot);
    itm_mass_compute_inertia_wrench(m, d, d->wrench, d->accel);
    memset(d->tau, 0, sizeof(double) * (size_t)m->nv);
    itm_flexible_add_inertia(m, d, d->wrench, d->tau, d->accel, v_dot);
    itm_forces_compute(m, d, itm_data_get_time(d));
    if (m->nrow > 0) {
        itm_rows_compute(m, d, itm_data_get_time(d));
        itm_rows_compute_compliant_forces(m, d, d->rows.x);
        itm_rows_add_forces(m, d, d->wrench, d->tau, d->rows.x);
    }
    for (int id = 0; external != NULL && id < m->nuser; id++) {
        int i = m->body_index[id];
        ItmSpatial at_origin = {external[id].torque, external[id].force};
        ItmVec3 from_com = itm_vec_neg(itm_mat_mul_vec(&d->R[i], m->bodies[i].com));
        d->wrench[i] = itm_spatial_add(d->wrench[i], itm_wrench_shift(at_origin, from_com));
    }
    project_on_coordinates(m, d, tau);
    return ITM_OK;
}

// M v' + c of inertia and gravity alone into tau (nv).
static void compute_inertia_forces(const ItmModel* m, ItmData* d, double* tau, const double* v_dot)
{
    itm_mass_compute_accelerations(m, d, d->accel, v_dot);
    itm_mass_compute_inertia_wrench(m, d, d->wrench, d->accel);
    memset(d->tau, 0, sizeof(double) * (size_t)m->nv);
    itm_flexible_add_inertia(m, d, d->wrench, d->tau, d->accel, v_dot);
    project_on_coordinates(m, d, tau);
}

ItmStatus itm_dynamics_compute_mass_matrix(const ItmModel* m, ItmData* d, double* M)
{
    ITM_GUARD(m != NULL && d != NULL && M != NULL, ITM_ERR_ARGUMENT);
    size_t n = (size_t)m->nv;
    double *v_dot = d->x1, *rest = d->x2;
    itm_data_refresh(m, d);
    memset(v_dot, 0, sizeof *v_dot * n);
    compute_inertia_forces(m, d, rest, v_dot);
    for (size_t k = 0; k < n; k++) {
        v_dot[k] = 1.0;
        compute_inertia_forces(m, d, M + k * n, v_dot);
        v_dot[k] = 0.0;
        for (size_t i = 0; i < n; i++) {
            M[k * n + i] -= rest[i];
        }
    }
    // rounding must not cost symmetry
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < k; i++) {
            M[k * n + i] = M[i * n + k] = 0.5 * (M[k * n + i] + M[i * n + k]);
        }
    }
    return ITM_OK;
}

ItmStatus itm_dynamics_compute_jacobian(const ItmModel* m, ItmData* d, double* J, int body, ItmVec3 point)
{
    ITM_GUARD(m != NULL && d != NULL && J != NULL, ITM_ERR_ARGUMENT);
    if (body < 0 || body >= m->nuser) {
        return itm_error_set(&d->error, ITM_ERR_ARGUMENT, __func__, NULL, "there is no body %d", body);
    }
    size_t n = (size_t)m->nv;
    double* v = d->x1;
    itm_data_refresh(m, d);
    int i = m->body_index[body];
    ItmVec3 arm = itm_mat_mul_vec(&d->R[i], itm_vec_sub(point, m->bodies[i].com));
    memset(v, 0, sizeof *v * n);
    // twists are linear in v: column k is the motion for a unit velocity k
    for (size_t k = 0; k < n; k++) {
        v[k] = 1.0;
        itm_kinematics_compute_velocities(m, d, v);
        v[k] = 0.0;
        ItmSpatial at_point = itm_twist_shift(d->twist[i], arm);
        const double column[] = {at_point.lin.x, at_point.lin.y, at_point.lin.z,
                                 at_point.ang.x, at_point.ang.y, at_point.ang.z};
        for (size_t row = 0; row < ITM_DIRECTION_COUNT; row++) {
            J[row * n + k] = column[row];
        }
    }
    itm_kinematics_compute_velocities(m, d, d->v);
    return ITM_OK;
}

ItmStatus itm_dynamics_compute_forward(const ItmModel* m, ItmData* d, double* v_dot)
{
    ITM_GUARD(m != NULL && d != NULL && v_dot != NULL, ITM_ERR_ARGUMENT);
    itm_dynamics_compute(m, d, v_dot, itm_data_get_time(d), 0.0);
    d->position_state = ITM_POSITION_LOOKED;
    return ITM_OK;
}
