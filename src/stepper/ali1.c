// Index-1 augmented Lagrangian with semi-implicit Euler                                    [cranes, eqs. 2a-2b]
//
//   (M + A' alpha A) v' + A' lambda* = f - c - A' alpha g,   g = A' v - signal'' + 2 xi omega w + omega^2 Phi
//   lambda* <- lambda* + alpha (A v' + g), until A v' + g is small
//
// Solved in the space of the rows: with r = A v' + g of the current v', the Woodbury identity turns one iteration into
//   delta = -(H + 1/alpha)^-1 r,   v' += M^-1 A' delta,   lambda += delta        (lambda = -lambda*)
// Compliant rows push explicitly with -K Phi - D w.
#include "stepper/inertial.h"
#include "stepper/stepper.h"

#include "multibody/dynamics.h"
#include "multibody/kinematics.h"
#include "multibody/mass.h"
#include "multibody/rows.h"

#include <string.h>

#define DEFAULT_COMPLIANCE 1e-6  // 1/alpha by default, as a fraction of the mobility a row sees
#define DEFAULT_OMEGA 0.1        // omega h by default: stabilises over some ten steps

// Row forces to start from: those of the last step, and what compliant rows push with.
static void set_row_forces(const ItmModel* m, ItmData* d, double* lambda)
{
    itm_rows_compute_compliant_forces(m, d, d->row_scratch);
    for (int i = 0; i < m->nrow; i++) {
        bool is_compliant = itm_block_is_compliant(&m->blocks[m->row_block[i]]);
        lambda[i] = is_compliant ? d->row_scratch[i] : d->lambda[i] / d->options.step;
        d->row_omega[i] = is_compliant              ? ITM_OMEGA_IDLE
                          : d->options.penalty > 0.0 ? 1.0 / d->options.penalty
                                                     : 0.0;
    }
}

// Acceleration that the rigid rows still miss: r = A v' + g. Returns the largest entry.
static double compute_missing(const ItmModel* m, ItmData* d, double* r, const double* v_dot)
{
    double omega = d->options.frequency > 0.0 ? d->options.frequency : DEFAULT_OMEGA / d->options.step;
    double xi = d->options.damping_ratio, largest = 0.0;
    itm_rows_multiply(m, d, r, v_dot);
    for (int i = 0; i < m->nrow; i++) {
        bool is_compliant = itm_block_is_compliant(&m->blocks[m->row_block[i]]);
        double g = d->row_bias[i] - d->row_ref[i] + 2.0 * xi * omega * d->row_rate[i] +
                   omega * omega * d->row_gap[i];
        r[i] = is_compliant ? 0.0 : r[i] + g;
        largest = fmax(largest, fabs(r[i]));
    }
    return largest;
}

// The iteration of eqs. 2a-2b on v_dot and lambda (forces).
static void iterate(const ItmModel* m, ItmData* d, double* v_dot, double* lambda)
{
    double* r = d->row_x;
    double missing = compute_missing(m, d, r, v_dot);
    double enough = d->options.tolerance * (1.0 + missing);
    for (; d->info.iterations < d->options.max_iterations && missing > enough; d->info.iterations++) {
        for (int i = 0; i < m->nrow; i++) {
            r[i] = -r[i];
        }
        itm_blocks_solve(&m->pattern, &d->factor, r);
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
    set_row_forces(m, d, lambda);
    itm_rows_add_forces(m, d, d->wrench, d->tau, lambda);
    itm_mass_solve(m, d, v_dot, d->tau, d->wrench);

    itm_rows_factor(m, d, d->options.penalty > 0.0 ? 0.0 : DEFAULT_COMPLIANCE);
    itm_rows_compute_reference(m, d, d->row_ref, t, 2);
    iterate(m, d, v_dot, lambda);
    itm_dynamics_compute_row_powers(m, d, lambda, t);
    itm_rows_add_damper_power(m, d);
    for (int i = ITM_LEDGER_FORCES; i < ITM_LEDGER_COUNT; i++) {
        d->ledger[i] += d->options.step * d->power[i];
    }
    for (int i = 0; i < m->nrow; i++) {
        lambda[i] *= d->options.step;
    }
}

ItmStatus itm_ali1_step(const ItmModel* m, ItmData* d)
{
    double h = d->options.step, t = itm_data_get_time(d);
    double* v_dot = d->x1;
    itm_kinematics_compute_positions(m, d, d->q);
    itm_kinematics_compute_velocities(m, d, d->v);
    itm_inertial_begin(m, d, h, ITM_FAST_TURN, false);
    itm_dynamics_compute_right_side(m, d, t);
    itm_inertial_set_wrench(m, d, h);
    itm_mass_factor(m, d);
    if (m->nrow > 0) {
        solve_rows(m, d, v_dot, t);
    } else {
        itm_mass_solve(m, d, v_dot, d->tau, d->wrench);
    }
    itm_ledger_advance(d, h);

    for (int i = 0; i < m->nv; i++) {
        d->v[i] += h * v_dot[i];
    }
    memcpy(d->q1, d->q, sizeof(double) * (size_t)m->nq);
    itm_kinematics_integrate(m, d->q, d->q, d->v, h);
    itm_inertial_finish(m, d, d->q1, NULL, h);
    itm_kinematics_compute_positions(m, d, d->q);
    d->info.gap = itm_rows_compute_gaps(m, d, d->q, t + h);
    itm_data_update_angles(m, d);
    d->position_state = ITM_POSITION_STALE;
    return ITM_OK;
}
