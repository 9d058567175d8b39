#include "stepper/stepper.h"

#include "multibody/kinematics.h"
#include "multibody/mass.h"
#include "multibody/rows.h"
#include "multibody/spanning.h"

#include <float.h>
#include <string.h>

// Near a singular position H has small pivots that change from one step to the next. New factors are made with the
// diagonal of H enlarged by this fraction, which bounds the correction there and costs nothing elsewhere.
#define DAMPING 1e-8

// Corrections go on to this share of options.gap_tolerance while they converge: the last one costs little, and the distance of two points
// (three rows) is then within a tenth of the tolerance. A gap that stays between the two counts as closed.
#define AIM 0.05

// They do not go below this many roundings of the largest coordinate: predict_drift in euler.c adds up to five differences of the last
// gaps, which enlarges their rounding up to 2^5 times, and a gap is itself the difference of two sums.
#define ROUNDINGS 64.0

// What gaps are closed to: less far from the origin (1.4e-12 m at 100 m), but never less than the tolerance.
static double find_aim(const ItmModel* m, const ItmData* d)
{
    double largest = 0.0, tolerance = d->options.gap_tolerance;
    for (int i = 0; i < m->nbody; i++) {
        largest = fmax(largest, fmax(fabs(d->x[i].x), fmax(fabs(d->x[i].y), fabs(d->x[i].z))));
    }
    return fmin(tolerance, fmax(AIM * tolerance, ROUNDINGS * DBL_EPSILON * largest));
}

// Phi to be closed, position stage and gaps at q. Returns the largest gap. Factors do not need the Jacobian any more: where steps end at
// the first look, that of joints comes along.
static double look(const ItmModel* m, ItmData* d, const double* q, double t)
{
    itm_kinematics_compute_positions(m, d, q);
    d->rows.is_placed = d->rows.was_closed && !d->spanning.is_used;
    if (d->spanning.is_used) {
        return itm_rows_place_nodes(m, d);
    }
    return d->rows.is_placed ? itm_rows_place_joints(m, d, q, t) : itm_rows_compute_gaps(m, d, q, t);
}

// mu = -H^-1 Phi into d->rows.x, its displacement M^-1 A' mu into d->x2; q <- q (+) displacement.
static double take_step(const ItmModel* m, ItmData* d, double* q, double t)
{
    for (int row = 0; row < m->nrow; row++) {
        bool is_rigid = !itm_block_is_compliant(&m->blocks[m->row_block[row]]);
        d->rows.x[row] = is_rigid ? -d->rows.gap[row] : 0.0;
    }
    memset(d->x2, 0, sizeof(double) * (size_t)m->nv);
    itm_euler_respond(m, d, d->x2, d->rows.x);
    itm_kinematics_integrate(m, q, q, d->x2, 1.0);
    return look(m, d, q, t);
}

// Gaps, and factors of M and H, at q.
static void refresh(const ItmModel* m, ItmData* d, const double* q, double t)
{
    look(m, d, q, t);
    if (d->spanning.is_used) {
        itm_spanning_factor(m, d);
        return;
    }
    itm_mass_factor_implicit(m, d, itm_euler_modal_terms(d, d->options.step));
    itm_rows_compute_jacobian(m, d);
    itm_rows_factor(m, d, DAMPING);
}

// The correction took part of a step of h: book it in velocities and impulses.
static void book(const ItmModel* m, ItmData* d, double h)
{
    for (int i = 0; i < m->nv; i++) {
        d->v[i] += d->x2[i] / h;
    }
    for (int row = 0; row < m->nrow; row++) {
        d->lambda[row] += d->rows.x[row] / h;
    }
}

// The drift of this step, which the gaps show before they are closed, and its differences to those of the steps before.
static void keep_drift(const ItmModel* m, ItmData* d)
{
    double scale = 1.0 / (d->h * d->h * d->h);
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        bool is_rigid = !itm_block_is_compliant(block);
        for (int row = block->row; row < block->row + block->nrow; row++) {
            double* D = d->rows.drift + ITM_DRIFT_STEPS * row;
            double next = is_rigid ? scale * (d->rows.guess[row] + d->rows.gap[row]) : 0.0;
            for (int n = 0; n < ITM_DRIFT_STEPS; n++) {
                double difference = next - D[n];
                D[n] = next;
                next = difference;
            }
        }
    }
}

void itm_gaps_close(const ItmModel* m, ItmData* d, double t)
{
    size_t size = sizeof(double) * (size_t)m->nq;
    double gap = look(m, d, d->q, t);
    keep_drift(m, d);
    double aim = gap > AIM * d->options.gap_tolerance ? find_aim(m, d) : gap;
    d->rows.was_closed = gap <= aim;
    for (int i = 0; i < d->options.max_iterations && gap > aim; i++) {
        memcpy(d->q1, d->q, size);
        double gap_next = take_step(m, d, d->q, t);
        if (!(gap_next < 0.5 * gap)) {
            // the factors are too old: go back, and on from there with new ones
            memcpy(d->q, d->q1, size);
            refresh(m, d, d->q, t);
            gap_next = take_step(m, d, d->q, t);
        }
        if (!(gap_next < gap)) {
            memcpy(d->q, d->q1, size);
            gap = look(m, d, d->q, t);
            break;
        }
        book(m, d, d->h);
        gap = gap_next;
        d->info.iterations++;
    }
    d->info.gap = d->info.residual = gap;
    d->info.unfinished += !(gap <= d->options.gap_tolerance);
}
