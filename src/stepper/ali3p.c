// Index-3 augmented Lagrangian with projections, trapezoidal rule                          [cranes, eqs. 3-7]
//
// At the end of the step, with Delta the displacement (q+ = q (+) Delta), v+ = 2 Delta / h - v, a+ = 2 (v+ - v) / h - a:
//
//   g = M a+ + c - f + A' (alpha Phi + lambda*) = 0,   lambda* <- lambda* + alpha Phi
//
// Newton with the tangent W + (h^2/4) A' alpha A, W = M + (h/2) D + (h^2/4) K. K and D are those of springs, dampers, servos,
// actuators and bushings (stiffness.h) and of modes of flexible bodies; the derivatives of c and of A, and geometric stiffness, are
// left out, which costs iterations, not accuracy. In the space of the rows, with Omega = 4 / (alpha h^2):
//   delta a = x - M^-1 A' (H + Omega)^-1 A x,   x = -M^-1 g
// The factors hold M and the modes; springs and dampers follow by conjugate gradients over their forces (add_stiffness).
// Compliant rows enter g with -K Phi - D w, and the tangent with Omega = 1 / (h^2 K / 4 + h D / 2).
// Components that turn fast (stepper/inertial.h) are stepped before, by half a kick, a drift and half a kick, of order 2 too: Newton's
// method then finds their end of the step given.
// Afterwards v+ and a+ are projected onto the constraints in the metric W [cranes, eqs. 6-7].
#include "stepper/inertial.h"
#include "stepper/stepper.h"

#include "base/error.h"
#include "multibody/dynamics.h"
#include "multibody/flexible.h"
#include "multibody/forces.h"
#include "multibody/kinematics.h"
#include "multibody/mass.h"
#include "multibody/rows.h"
#include "multibody/stiffness.h"

#include <string.h>

#define DEFAULT_COMPLIANCE 1e-9  // 4 / (alpha h^2) by default, as a fraction of the mobility a row sees
#define SMALL_RESIDUAL 1e-8      // of conjugate gradients, against the start: Newton's method does the rest

static void set_omega(const ItmModel* m, ItmData* d, double h)
{
    double alpha = d->options.penalty;
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        double yielding = 0.25 * h * h * block->stiffness + 0.5 * h * block->damping;
        for (int i = block->row; i < block->row + block->nrow; i++) {
            d->rows.omega[i] = itm_block_is_compliant(block) ? 1.0 / yielding
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
        compute_row_forces(m, d, d->rows.x, d->lambda);
        itm_rows_add_forces(m, d, d->wrench, d->tau, d->rows.x);
    }
    itm_mass_solve(m, d, x, d->tau, d->wrench);
}

// ---------------------------------------------------------------------------- solves with the tangent

// x <- x + M^-1 A' mu with (H + Omega) mu = -(A x + mu), mu given: what the rows miss beside A x. mu (nrow)
static void add_rows(const ItmModel* m, ItmData* d, double* x, double* mu)
{
    if (m->nrow == 0) {
        return;
    }
    double* A_x = d->rows.scratch;
    itm_rows_multiply(m, d, A_x, x);
    for (int i = 0; i < m->nrow; i++) {
        mu[i] = -mu[i] - A_x[i];
    }
    itm_blocks_solve(&m->pattern, &d->rows.factor, mu);
    itm_rows_apply(m, d, x, mu);
}

// z and its row forces mu: how M and the rows respond to forces sqrt(weight) p of the elements.
static void respond(const ItmModel* m, ItmData* d, double* z, double* mu, double* force, const double* root,
                    const double* p)
{
    for (int i = 0; i < itm_stiffness_count(m); i++) {
        force[i] = root[i] * p[i];
    }
    for (int i = 0; i < m->nbody; i++) {
        d->wrench[i] = itm_spatial_zero();
    }
    memset(d->tau, 0, sizeof(double) * (size_t)m->nv);
    memset(mu, 0, sizeof(double) * (size_t)m->nrow);
    itm_stiffness_add_forces(m, d, d->wrench, d->tau, force);
    itm_mass_solve(m, d, z, d->tau, d->wrench);
    add_rows(m, d, z, mu);
}

static double dot(const double* a, const double* b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

// From the solution x, mu with M to that with W = M + a' w a, a the directions of springs and dampers, w their weights.
// Their forces sqrt(w) y follow from
//   (I + sqrt(w) a P a' sqrt(w)) y = -sqrt(w) a x,   P: the response of M with the rows,
// by conjugate gradients: as many iterations as there are stiff elements, at most. x and mu are updated along with y.
static void add_stiffness(const ItmModel* m, ItmData* d, double* x, double* mu, double h)
{
    int n = itm_stiffness_count(m);
    double *root = d->stiffness_scratch, *r = root + n, *p = r + n, *q = p + n;
    double *z = d->x2, *mu_z = d->rows.scratch + m->nrow;
    if (n == 0 || !itm_stiffness_compute(m, d, root, 0.25 * h * h, 0.5 * h)) {
        return;
    }
    itm_stiffness_multiply(m, d, r, x);
    for (int i = 0; i < n; i++) {
        root[i] = sqrt(root[i]);
        p[i] = r[i] = -root[i] * r[i];
    }
    double rr = dot(r, r, n), enough = SMALL_RESIDUAL * SMALL_RESIDUAL * rr;
    for (int k = 0; k < 2 * n && rr > enough; k++) {
        // q = p + sqrt(w) a z
        respond(m, d, z, mu_z, q, root, p);
        itm_stiffness_multiply(m, d, q, z);
        for (int i = 0; i < n; i++) {
            q[i] = p[i] + root[i] * q[i];
        }
        double alpha = rr / dot(p, q, n);
        for (int i = 0; i < n; i++) {
            r[i] -= alpha * q[i];
        }
        for (int i = 0; i < m->nv; i++) {
            x[i] += alpha * z[i];
        }
        for (int i = 0; i < m->nrow; i++) {
            mu[i] += alpha * mu_z[i];
        }
        double rr_next = dot(r, r, n);
        for (int i = 0; i < n; i++) {
            p[i] = r[i] + rr_next / rr * p[i];
        }
        rr = rr_next;
    }
}

// Newton correction of the accelerations, from x = -M^-1 g into x; d->lambda takes over the penalty forces.
// The penalty term's share of x and of the row forces comes out of one solve:
//   (H + Omega) mu = -(A x + (4/h^2) Phi),   delta a = x + M^-1 A' mu,   lambda += mu
// Rows without a position level require (2/h) w instead of (4/h^2) Phi.
static void correct(const ItmModel* m, ItmData* d, double* x, double h)
{
    double* mu = d->rows.x;
    for (int i = 0; i < m->nrow; i++) {
        const ItmRowBlock* block = &m->blocks[m->row_block[i]];
        double missing = block->is_velocity ? 2.0 / h * d->rows.rate[i] : 4.0 / (h * h) * d->rows.gap[i];
        mu[i] = itm_block_is_compliant(block) ? 0.0 : missing;
    }
    add_rows(m, d, x, mu);
    add_stiffness(m, d, x, mu, h);
    for (int i = 0; i < m->nrow; i++) {
        d->lambda[i] += mu[i];
    }
}

// x <- x - W^-1 A' (A W^-1 A' + Omega)^-1 violation, over the rigid rows; violation becomes the row forces [cranes, eqs. 6-7]
static void project(const ItmModel* m, ItmData* d, double* x, double* violation, double h)
{
    double* change = d->x1;
    memset(change, 0, sizeof(double) * (size_t)m->nv);
    for (int i = 0; i < m->nrow; i++) {
        violation[i] = itm_block_is_compliant(&m->blocks[m->row_block[i]]) ? 0.0 : violation[i];
    }
    add_rows(m, d, change, violation);
    add_stiffness(m, d, change, violation, h);
    for (int i = 0; i < m->nv; i++) {
        x[i] += change[i];
    }
}

static void project_velocities(const ItmModel* m, ItmData* d, double h)
{
    memcpy(d->rows.x, d->rows.rate, sizeof(double) * (size_t)m->nrow);
    project(m, d, d->v, d->rows.x, h);
}

static void project_accelerations(const ItmModel* m, ItmData* d, double t, double h)
{
    itm_kinematics_compute_velocities(m, d, d->v);
    itm_rows_compute(m, d, t);
    itm_rows_multiply(m, d, d->rows.x, d->a);
    itm_rows_compute_reference(m, d, d->rows.reference, t, 2);
    for (int i = 0; i < m->nrow; i++) {
        d->rows.x[i] += d->rows.bias[i] - d->rows.reference[i];
    }
    project(m, d, d->a, d->rows.x, h);
    // the forces that go with the projected accelerations
    for (int i = 0; i < m->nrow; i++) {
        d->lambda[i] += d->rows.x[i];
    }
}

// ---------------------------------------------------------------------------- components that turn fast

// First half of their kick and their drift: d->q of the end of the step, d->v up to the second half of the kick.
static void begin_fast(const ItmModel* m, ItmData* d, double t, double h)
{
    double *a_kick = d->x1, *a = d->x2;
    itm_data_refresh(m, d);
    if (!itm_inertial_begin(m, d, h, ITM_FAST_TURN_SECOND, false, false)) {
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
    if (!d->inertial.has_fast) {
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
        d->lambda[i] = itm_inertial_is_fast_row(m, d, i) ? d->rows.x[i] : d->lambda[i];
    }
    set_omega(m, d, h);
    evaluate(m, d, t);
}

// Nothing of x (nv) for them.
static void leave_out_fast(const ItmModel* m, const ItmData* d, double* x)
{
    for (int i = 0; d->inertial.has_fast && i < m->nbody; i++) {
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

// Start of the iteration: constant acceleration. That of stiff springs would lead (h omega)^2 / 2 times too far, so with springs
// constant velocity: Delta = h v, v+ = v, a+ = -a.
static void predict(const ItmModel* m, ItmData* d, double* delta, const double* q_start, double h)
{
    bool has_springs = itm_stiffness_is_any(m);
    double* change = d->x1;
    for (int i = 0; i < m->nv; i++) {
        delta[i] = h * d->v[i] + (has_springs ? 0.0 : 0.5 * h * h * d->a[i]);
        change[i] = has_springs ? 0.0 : h * d->a[i];
    }
    leave_out_fast(m, d, delta);
    leave_out_fast(m, d, change);
    for (int i = 0; i < m->nv; i++) {
        d->v[i] += change[i];
        d->a[i] = has_springs ? -d->a[i] : d->a[i];
    }
    itm_kinematics_integrate(m, d->q, q_start, delta, 1.0);
}

// Powers of the present state at time t, rows included, into d->energy.power.
static void compute_powers(const ItmModel* m, ItmData* d, double t)
{
    memset(d->tau, 0, sizeof(double) * (size_t)m->nv);
    itm_forces_compute(m, d, t);
    if (m->nrow > 0) {
        itm_rows_compute(m, d, t);
        compute_row_forces(m, d, d->rows.x, d->lambda);
        itm_dynamics_compute_row_powers(m, d, d->rows.x, t);
    }
    itm_rows_add_damper_power(m, d);
}

// Trapezoidal rule over the step that ended here, all accounts.
static void book(ItmData* d, double h)
{
    for (int i = 0; i < ITM_LEDGER_COUNT; i++) {
        d->energy.ledger[i] += 0.5 * h * (d->energy.power_prev[i] + d->energy.power[i]);
        d->energy.power_prev[i] = d->energy.power[i];
    }
}

// Newton until displacements no longer change and the gaps are closed. Leaves all stages at the end of the step.
static ItmStatus iterate(const ItmModel* m, ItmData* d, double* delta, const double* q_start, double t, double h)
{
    double moved = HUGE_VAL, first = 0.0, gap = 0.0;
    for (d->info.iterations = 0; d->info.iterations < d->options.max_iterations; d->info.iterations++) {
        evaluate(m, d, t);
        compute_imbalance(m, d, d->x1, t);
        correct(m, d, d->x1, h);
        leave_out_fast(m, d, d->x1);
        moved = update(m, d, delta, d->x1, q_start, h);
        first = d->info.iterations == 0 ? moved : first;
        if (!(moved <= 1e6 * (1.0 + first))) {
            return itm_error_set(
                &d->error, ITM_ERR_DIVERGED, __func__, NULL,
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
    memcpy(d->lambda, d->rows.x, sizeof(double) * (size_t)m->nrow);
}

// The step from t; external signals have jumped before it and are linear in it.
static ItmStatus make_step(const ItmModel* m, ItmData* d, double t, double h)
{
    double *q_start = d->q1, *delta = d->x3;
    bool has_jumped = itm_jumps_are_external(m);
    if (has_jumped) {
        itm_jumps_follow(m, d, t);
    }
    if (has_jumped || *d->steps == 0.0) {
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
        project_velocities(m, d, h);
        project_accelerations(m, d, t + h, h);
    }
    itm_kinematics_compute_velocities(m, d, d->v);
    compute_powers(m, d, t + h);
    book(d, h);
    itm_data_update_angles(m, d);
    d->position_state = ITM_POSITION_LOOKED;
    return ITM_OK;
}

ItmStatus itm_ali3p_step(const ItmModel* m, ItmData* d)
{
    d->has_jumps = true;
    ItmStatus status = make_step(m, d, itm_data_get_time(d), d->options.step);
    d->has_jumps = false;
    return status;
}
