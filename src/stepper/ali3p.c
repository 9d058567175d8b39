// Index-3 augmented Lagrangian with projections, trapezoidal rule                          [cranes, eqs. 3-7]
//
// At the end of the step, with Delta the displacement (q+ = q (+) Delta), v+ = 2 Delta / h - v, a+ = 2 (v+ - v) / h - a:
//
//   g = M a+ + c - f + A' (alpha Phi + lambda*) = 0,   lambda* <- lambda* + alpha Phi
//
// Newton with the tangent M + (h^2/4) A' alpha A; the derivatives of c, f and of A are left out of it, which costs
// iterations, not accuracy. In the space of the rows, with Omega = 4 / (alpha h^2):
//   delta a = x - M^-1 A' (H + Omega)^-1 A x,   x = -M^-1 g
// Modes of flexible bodies have M + (h/2) D + (h^2/4) K in the tangent.
// Compliant rows enter g with -K Phi - D w, and the tangent with Omega = 1 / (h^2 K / 4 + h D / 2).
// Components that turn fast (stepper/inertial.h) are stepped before, by half a kick, a drift and half a kick, of order 2 too: Newton's
// method then finds their end of the step given.
// Afterwards v+ and a+ are projected onto the constraints in the same metric [cranes, eqs. 6-7].
#include "stepper/inertial.h"
#include "stepper/stepper.h"

#include "base/error.h"
#include "multibody/dynamics.h"
#include "multibody/flexible.h"
#include "multibody/forces.h"
#include "multibody/kinematics.h"
#include "multibody/mass.h"
#include "multibody/rows.h"

#include <string.h>

#define DEFAULT_COMPLIANCE 1e-9  // 4 / (alpha h^2) by default, as a fraction of the mobility a row sees

static void set_omega(const ItmModel* m, ItmData* d, double h)
{
    double alpha = d->options.penalty;
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        double yielding = 0.25 * h * h * block->stiffness + 0.5 * h * block->damping;
        for (int i = block->row; i < block->row + block->nrow; i++) {
            d->row_omega[i] = itm_block_is_compliant(block) ? 1.0 / yielding
                              : alpha > 0.0                 ? 4.0 / (alpha * h * h)
                                                            : 0.0;
        }
    }
}

// All stages at (q, v) of the end of the step, time t, with H factored.
static void evaluate(const ItmModel* m, ItmData* d, double t)
{
    double h = d->options.step;
    itm_kinematics_compute_positions(m, d, d->q);
    itm_kinematics_compute_velocities(m, d, d->v);
    itm_mass_factor_implicit(m, d, (ItmModalTerms){.inertia = 1.0, .damping = 0.5 * h, .stiffness = 0.25 * h * h});
    if (m->nrow > 0) {
        itm_rows_compute(m, d, t);
        itm_rows_factor(m, d, d->options.penalty > 0.0 ? 0.0 : DEFAULT_COMPLIANCE);
    }
}

// Row forces: multipliers of rigid rows, springs and dampers of compliant ones. lambda (nrow)
static void compute_row_forces(const ItmModel* m, ItmData* d, double* lambda, const double* multiplier)
{
    itm_rows_compute_compliant_forces(m, d, lambda);
    for (int i = 0; i < m->nrow; i++) {
        if (!itm_block_is_compliant(&m->blocks[m->row_block[i]])) {
            lambda[i] = multiplier[i];
        }
    }
}

// x = -M^-1 g without the penalty term: what is missing in the balance of forces.
static void compute_imbalance(const ItmModel* m, ItmData* d, double* x, double t)
{
    itm_mass_compute_accelerations(m, d, d->accel, d->a);
    itm_mass_compute_inertia_wrench(m, d, d->wrench, d->accel);
    memset(d->tau, 0, sizeof(double) * (size_t)m->nv);
    itm_flexible_add_inertia(m, d, d->wrench, d->tau, d->accel, d->a);
    itm_forces_compute(m, d, t);
    if (m->nrow > 0) {
        compute_row_forces(m, d, d->row_x, d->lambda);
        itm_rows_add_forces(m, d, d->wrench, d->tau, d->row_x);
    }
    itm_mass_solve(m, d, x, d->tau, d->wrench);
}

// Newton correction of the accelerations, into x; d->lambda takes over the penalty forces.
// The penalty term's share of x and of the row forces comes out of one solve:
//   (H + Omega) mu = -(A x + (4/h^2) Phi),   delta a = x + M^-1 A' mu,   lambda += mu
// Rows without a position level ask for (2/h) w instead of (4/h^2) Phi.
static void correct(const ItmModel* m, ItmData* d, double* x, double h)
{
    double* mu = d->row_x;
    itm_rows_multiply(m, d, mu, x);
    for (int i = 0; i < m->nrow; i++) {
        const ItmRowBlock* block = &m->blocks[m->row_block[i]];
        double missing = block->is_velocity ? 2.0 / h * d->row_rate[i] : 4.0 / (h * h) * d->row_gap[i];
        mu[i] = -mu[i] - (itm_block_is_compliant(block) ? 0.0 : missing);
    }
    itm_blocks_solve(&m->pattern, &d->factor, mu);
    itm_rows_apply(m, d, x, mu);
    for (int i = 0; i < m->nrow; i++) {
        d->lambda[i] += mu[i];
    }
}

// x <- x - M^-1 A' (H + Omega)^-1 violation, over the rigid rows                           [cranes, eqs. 6-7]
static void project(const ItmModel* m, ItmData* d, double* x, double* violation)
{
    for (int i = 0; i < m->nrow; i++) {
        bool is_compliant = itm_block_is_compliant(&m->blocks[m->row_block[i]]);
        violation[i] = is_compliant ? 0.0 : -violation[i];
    }
    itm_blocks_solve(&m->pattern, &d->factor, violation);
    itm_rows_apply(m, d, x, violation);
}

static void project_velocities(const ItmModel* m, ItmData* d)
{
    memcpy(d->row_x, d->row_rate, sizeof(double) * (size_t)m->nrow);
    project(m, d, d->v, d->row_x);
}

static void project_accelerations(const ItmModel* m, ItmData* d, double t)
{
    itm_kinematics_compute_velocities(m, d, d->v);
    itm_rows_compute(m, d, t);
    itm_rows_multiply(m, d, d->row_x, d->a);
    itm_rows_compute_reference(m, d, d->row_ref, t, 2);
    for (int i = 0; i < m->nrow; i++) {
        d->row_x[i] += d->row_bias[i] - d->row_ref[i];
    }
    project(m, d, d->a, d->row_x);
    // the forces that go with the projected accelerations
    for (int i = 0; i < m->nrow; i++) {
        d->lambda[i] += d->row_x[i];
    }
}

// ---------------------------------------------------------------------------- components that turn fast

// First half of their kick and their drift: d->q of the end of the step, d->v up to the second half of the kick.
static void begin_fast(const ItmModel* m, ItmData* d, double t, double h)
{
    double *a_kick = d->x1, *a = d->x2;
    itm_data_refresh(m, d);
    if (!itm_inertial_begin(m, d, h, ITM_FAST_TURN_SECOND, false)) {
        return;
    }
    itm_inertial_compute_kick(m, d, a_kick, a, t);
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        for (int k = body->v_adr; itm_inertial_is_fast(m, d, i) && k < body->v_adr + body->nv; k++) {
            d->v[k] += 0.5 * h * a_kick[k];
        }
    }
    memcpy(d->q1, d->q, sizeof(double) * (size_t)m->nq);
    itm_inertial_finish(m, d, d->q1, NULL, h);
}

// Second half of their kick, at the end t of the step; their accelerations and row forces there.
static void finish_fast(const ItmModel* m, ItmData* d, double t, double h)
{
    if (!d->has_fast) {
        return;
    }
    double *a_kick = d->x1, *a = d->x2;
    itm_inertial_compute_kick(m, d, a_kick, a, t);
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        for (int k = body->v_adr; itm_inertial_is_fast(m, d, i) && k < body->v_adr + body->nv; k++) {
            d->v[k] += 0.5 * h * a_kick[k];
            d->a[k] = a[k];
        }
    }
    for (int i = 0; i < m->nrow; i++) {
        d->lambda[i] = itm_inertial_is_fast_row(m, d, i) ? d->row_x[i] : d->lambda[i];
    }
    set_omega(m, d, h);
    evaluate(m, d, t);
}

// Nothing of x (nv) for them.
static void leave_out_fast(const ItmModel* m, const ItmData* d, double* x)
{
    for (int i = 0; d->has_fast && i < m->nbody; i++) {
        if (itm_inertial_is_fast(m, d, i)) {
            memset(x + m->bodies[i].v_adr, 0, sizeof(double) * (size_t)m->bodies[i].nv);
        }
    }
}

// ---------------------------------------------------------------------------- step

// Add delta a to the end of the step: a += x, v += h/2 x, Delta += h^2/4 x. Returns the largest displacement.
static double update(const ItmModel* m, ItmData* d, double* delta, const double* x, const double* q_start, double h)
{
    double largest = 0.0;
    for (int i = 0; i < m->nv; i++) {
        d->a[i] += x[i];
        d->v[i] += 0.5 * h * x[i];
        delta[i] += 0.25 * h * h * x[i];
        double moved = fabs(0.25 * h * h * x[i]);
        largest = moved > largest || moved != moved ? moved : largest;
    }
    itm_kinematics_integrate(m, d->q, q_start, delta, 1.0);
    return largest;
}

// Start of the iteration: constant acceleration.
static void predict(const ItmModel* m, ItmData* d, double* delta, const double* q_start, double h)
{
    double* change = d->x1;
    for (int i = 0; i < m->nv; i++) {
        delta[i] = h * d->v[i] + 0.5 * h * h * d->a[i];
        change[i] = h * d->a[i];
    }
    leave_out_fast(m, d, delta);
    leave_out_fast(m, d, change);
    for (int i = 0; i < m->nv; i++) {
        d->v[i] += change[i];
    }
    itm_kinematics_integrate(m, d->q, q_start, delta, 1.0);
}

// Powers of the present state at time t, rows included, into d->power.
static void compute_powers(const ItmModel* m, ItmData* d, double t)
{
    memset(d->tau, 0, sizeof(double) * (size_t)m->nv);
    itm_forces_compute(m, d, t);
    if (m->nrow > 0) {
        itm_rows_compute(m, d, t);
        compute_row_forces(m, d, d->row_x, d->lambda);
        itm_dynamics_compute_row_powers(m, d, d->row_x, t);
    }
    itm_rows_add_damper_power(m, d);
}

// Trapezoidal rule over the step that ended here, all accounts.
static void book(ItmData* d, double h)
{
    for (int i = 0; i < ITM_LEDGER_COUNT; i++) {
        d->ledger[i] += 0.5 * h * (d->power_prev[i] + d->power[i]);
        d->power_prev[i] = d->power[i];
    }
}

// Newton until displacements no longer change and the gaps are closed. Leaves all stages at the end of the step.
static ItmStatus iterate(const ItmModel* m, ItmData* d, double* delta, const double* q_start, double t, double h)
{
    double moved = HUGE_VAL, first = 0.0, gap = 0.0;
    for (d->info.iterations = 0; d->info.iterations < d->options.max_iterations; d->info.iterations++) {
        evaluate(m, d, t);
        compute_imbalance(m, d, d->x1, t);
        if (m->nrow > 0) {
            correct(m, d, d->x1, h);
        }
        leave_out_fast(m, d, d->x1);
        moved = update(m, d, delta, d->x1, q_start, h);
        first = d->info.iterations == 0 ? moved : first;
        if (!(moved <= 1e6 * (1.0 + first))) {
            return itm_error_set(&d->error, ITM_ERR_DIVERGED, __func__, NULL,
                                 "Newton's method of ALI3-P diverges at t = %.9g s: corrections grew from %.3g to %.3g; "
                                 "take a smaller step",
                                 t, first, moved);
        }
        if (moved <= d->options.tolerance) {
            break;
        }
    }
    evaluate(m, d, t);
    gap = m->nrow > 0 ? itm_rows_compute_gaps(m, d, d->q, t) : 0.0;
    d->info.residual = moved;
    d->info.gap = gap;
    d->info.unfinished += !(moved <= d->options.tolerance);
    return ITM_OK;
}

// Accelerations and multipliers of the start of a run.
static void start(const ItmModel* m, ItmData* d, double t)
{
    itm_dynamics_compute(m, d, d->a, t, 0.0);
    memcpy(d->lambda, d->row_x, sizeof(double) * (size_t)m->nrow);
}

ItmStatus itm_ali3p_step(const ItmModel* m, ItmData* d)
{
    double h = d->options.step, t = itm_data_get_time(d);
    double *q_start = d->q1, *delta = d->x3;
    if (*d->steps == 0.0) {
        start(m, d, t);
        book(d, 0.0);
    }
    begin_fast(m, d, t, h);
    memcpy(q_start, d->q, sizeof(double) * (size_t)m->nq);
    set_omega(m, d, h);
    predict(m, d, delta, q_start, h);
    ItmStatus status = iterate(m, d, delta, q_start, t + h, h);
    if (status != ITM_OK) {
        return status;
    }
    finish_fast(m, d, t + h, h);
    if (m->nrow > 0) {
        project_velocities(m, d);
        project_accelerations(m, d, t + h);
    }
    itm_kinematics_compute_velocities(m, d, d->v);
    compute_powers(m, d, t + h);
    book(d, h);
    itm_data_update_angles(m, d);
    d->position_state = ITM_POSITION_LOOKED;
    return ITM_OK;
}
