// Index-1 augmented Lagrangian with semi-implicit Euler                                    [cranes, eqs. 2a-2b]
//
//   (M + A' alpha A) v' + A' lambda* = f - c - A' alpha g,   g = A' v - signal'' + 2 xi omega w + omega^2 Phi
//   lambda* <- lambda* + alpha (A v' + g), until A v' + g is small
//
// Solved in the space of the rows: with r = A v' + g of the current v', the Woodbury identity turns one iteration into
//   delta = -(H + 1/alpha)^-1 r,   v' += M^-1 A' delta,   lambda += delta        (lambda = -lambda*)
// Without a given alpha this is its limit 1/alpha = 0: one iteration, and a second one against rounding.
//
// The gaps that stabilisation leaves open, of order h^2, make redundant rows contradict the others: r cannot vanish in all of
// them, and lambda would grow with every iteration. Redundant rows therefore take no part (itm_rows_factor_open); they hold as
// far as the others do.
//
// Modes of flexible bodies are implicit as in the default stepper, M^ = M + h/2 D + h^2/4 K or M + h D + h^2 K.
// Compliant rows apply -K Phi - D w explicitly.
#include "stepper/inertial.h"
#include "stepper/stepper.h"

#include "multibody/flexible.h"
#include "multibody/kinematics.h"
#include "multibody/mass.h"
#include "multibody/rows.h"

#include <string.h>

#define DEFAULT_OMEGA 0.1  // omega h by default: stabilises over some ten steps

static bool takes_part(const ItmData* d, int row)
{
    return d->rows.omega[row] < ITM_OMEGA_IDLE;
}

// H + 1/alpha, factored. Compliant and redundant rows take no part: their omega is ITM_OMEGA_IDLE.
static void factor_rows(const ItmModel* m, ItmData* d)
{
    for (int i = 0; i < m->nrow; i++) {
        d->rows.omega[i] = itm_block_is_compliant(&m->blocks[m->row_block[i]]) ? ITM_OMEGA_IDLE : 0.0;
    }
    itm_rows_factor_open(m, d);
    double alpha = d->options.penalty;
    for (int i = 0; i < m->nrow; i++) {
        bool is_idle = !takes_part(d, i) || d->rows.factor.inv_diag[i] == 0.0;
        d->rows.omega[i] = is_idle ? ITM_OMEGA_IDLE : alpha > 0.0 ? 1.0 / alpha : 0.0;
    }
    if (alpha > 0.0) {
        int nredundant = d->info.nredundant;
        itm_rows_factor(m, d, 0.0);
        d->info.nredundant = nredundant;
    }
}

// Row forces to start from: those of the last step, and those of compliant rows.
static void set_row_forces(const ItmModel* m, ItmData* d, double* lambda)
{
    itm_rows_compute_compliant_forces(m, d, d->rows.scratch);
    for (int i = 0; i < m->nrow; i++) {
        bool is_compliant = itm_block_is_compliant(&m->blocks[m->row_block[i]]);
        lambda[i] = is_compliant ? d->rows.scratch[i] : takes_part(d, i) ? d->lambda[i] / d->options.step : 0.0;
    }
}

// Acceleration that the rows still miss: r = A v' + g, 0 for those that take no part. Returns the largest entry.
static double compute_missing(const ItmModel* m, ItmData* d, double* r, const double* v_dot)
{
    double omega = d->options.frequency > 0.0 ? d->options.frequency : DEFAULT_OMEGA / d->options.step;
    double xi = d->options.damping_ratio, largest = 0.0;
    itm_rows_multiply(m, d, r, v_dot);
    for (int i = 0; i < m->nrow; i++) {
        double g = d->rows.bias[i] - d->rows.reference[i] + 2.0 * xi * omega * d->rows.rate[i] +
                   omega * omega * d->rows.gap[i];
        r[i] = takes_part(d, i) ? r[i] + g : 0.0;
        largest = fmax(largest, fabs(r[i]));
    }
    return largest;
}

// The iteration of eqs. 2a-2b on v_dot and lambda (forces).
static void iterate(const ItmModel* m, ItmData* d, double* v_dot, double* lambda)
{
    double* r = d->rows.x;
    double missing = compute_missing(m, d, r, v_dot);
    double enough = d->options.tolerance * (1.0 + missing);
    for (; d->info.iterations < d->options.max_iterations && missing > enough; d->info.iterations++) {
        for (int i = 0; i < m->nrow; i++) {
            r[i] = -r[i];
        }
        itm_blocks_solve(&m->pattern, &d->rows.factor, r);
        itm_rows_apply(m, d, v_dot, r);
        for (int i = 0; i < m->nrow; i++) {
            lambda[i] += r[i];
        }
        missing = compute_missing(m, d, r, v_dot);
    }
    d->info.residual = missing;
    d->info.unfinished += !(missing <= enough);
}

static void solve_rows(const ItmModel* m, ItmData* d, double* v_dot, double t)
{
    double* lambda = d->lambda;
    itm_rows_compute(m, d, t);
    itm_inertial_set_bias(m, d, d->options.step);
    factor_rows(m, d);
    set_row_forces(m, d, lambda);
    itm_rows_add_forces(m, d, d->wrench, d->tau, lambda);
    itm_mass_solve(m, d, v_dot, d->tau, d->wrench);

    itm_rows_compute_reference(m, d, d->rows.reference, t, 2);
    iterate(m, d, v_dot, lambda);
    itm_rows_add_damper_power(m, d);
    for (int i = 0; i < m->nrow; i++) {
        lambda[i] *= d->options.step;
    }
}

// Work of the row impulses, with the mean of the row velocities at both ends of the step.
static void book_rows(const ItmModel* m, ItmData* d, const double* v_next)
{
    itm_rows_multiply(m, d, d->rows.before, d->v);
    itm_rows_multiply(m, d, d->rows.reference, v_next);
    itm_euler_book_row_work(m, d);
}

ItmStatus itm_ali1_step(const ItmModel* m, ItmData* d)
{
    double h = d->options.step, t = itm_data_get_time(d);
    double* v_dot = d->x1;
    itm_kinematics_compute_positions(m, d, d->q);
    itm_kinematics_compute_velocities(m, d, d->v);
    itm_inertial_begin(m, d, h, ITM_FAST_TURN, false, true);
    itm_inertial_compute_right_side(m, d, t, h);
    if (d->options.modal_rule == ITM_MODAL_RULE_BACKWARD) {
        itm_flexible_add_lag(m, d, h);
    }
    itm_mass_factor_implicit(m, d, itm_euler_modal_terms(d, h));
    if (m->nrow > 0) {
        solve_rows(m, d, v_dot, t);
    } else {
        itm_mass_solve(m, d, v_dot, d->tau, d->wrench);
    }
    itm_data_advance_ledger(d, h);

    double* v_next = v_dot;
    for (int i = 0; i < m->nv; i++) {
        v_next[i] = d->v[i] + h * v_dot[i];
    }
    if (m->nrow > 0) {
        book_rows(m, d, v_next);
    }
    memcpy(d->v, v_next, sizeof(double) * (size_t)m->nv);
    memcpy(d->q1, d->q, sizeof(double) * (size_t)m->nq);
    itm_kinematics_integrate(m, d->q, d->q, d->v, h);
    itm_inertial_finish(m, d, d->q1, NULL, h);
    itm_kinematics_compute_positions(m, d, d->q);
    d->info.gap = itm_rows_compute_gaps(m, d, d->q, t + h);
    itm_data_update_angles(m, d);
    d->position_state = ITM_POSITION_STALE;
    return ITM_OK;
}
