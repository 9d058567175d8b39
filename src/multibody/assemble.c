#include "multibody/assemble.h"

#include "base/error.h"
#include "base/guard.h"
#include "multibody/kinematics.h"
#include "multibody/mass.h"
#include "multibody/measure.h"
#include "multibody/rows.h"

#include <stdio.h>
#include <string.h>

#define MAX_ITERATIONS 200
#define MAX_HALVINGS 12
#define MAX_TURN 0.5     // rad, largest rotation in one iteration: beyond it the linearisation is worthless
#define CLOSED 1e-13     // times (1 + size of the mechanism): as close as rounding allows
#define HEAVY 1e9        // modes of flexible bodies weigh this much more: bodies move before they bend
#define LEFT_OUT 1e-6    // m or rad: 3e-4 rad from a singular position a left-out row opens by the square of that
#define ACCEPTABLE 1e-9  // times the same: larger gaps are an error

// ---------------------------------------------------------------------------- common

typedef enum Level { POSITIONS, VELOCITIES } Level;

// Whether the rows of a block must be satisfied: rigid ones; motions that give a velocity only among velocities, where they may not stand in
// the way of a start value along the same direction.
static bool takes_part(const ItmRowBlock* block, Level level)
{
    bool is_velocity = block->kind == ITM_BLOCK_MOTION && block->is_velocity;
    return !itm_block_is_compliant(block) && (level == VELOCITIES || !is_velocity);
}

// All stages of the present q, v at time t, with the rows of this level exact and the others switched off.
static void evaluate(const ItmModel* m, ItmData* d, double t, Level level)
{
    itm_kinematics_compute_positions(m, d, d->q);
    itm_kinematics_compute_velocities(m, d, d->v);
    itm_mass_factor_implicit(m, d, (ItmModalTerms){.inertia = HEAVY});
    itm_rows_compute(m, d, t);
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        for (int i = block->row; i < block->row + block->nrow; i++) {
            d->rows.omega[i] = takes_part(block, level) ? 0.0 : ITM_OMEGA_IDLE;
        }
    }
    itm_rows_factor(m, d, 0.0);
}

static bool is_rigid_row(const ItmModel* m, int row)
{
    return !itm_block_is_compliant(&m->blocks[m->row_block[row]]);
}

// Whether a row must hold: it is rigid, and not one that a nearly singular position leaves out (ItmData.singular_share). Those stay
// nearly closed; a row that opens contradicts others.
static bool must_hold(const ItmModel* m, const ItmData* d, int row)
{
    bool is_motion = m->blocks[m->row_block[row]].kind == ITM_BLOCK_MOTION;
    bool is_left_out = d->rows.singular_share > 0.0 && d->rows.factor.inv_diag[row] == 0.0 &&
                       !m->is_row_redundant[row] && !is_motion && fabs(d->rows.gap[row]) < LEFT_OUT;
    return is_rigid_row(m, row) && !is_left_out;
}

// Norm of the entries of the rows that must hold, not finite if one of them is not.
static double norm_of(const ItmModel* m, const ItmData* d, const double* x)
{
    double sum = 0.0;
    for (int i = 0; i < m->nrow; i++) {
        sum += must_hold(m, d, i) ? x[i] * x[i] : 0.0;
    }
    return sqrt(sum);
}

static double size_of(const ItmModel* m, const ItmData* d)
{
    double size = 1.0;
    for (int i = 0; i < m->nbody; i++) {
        size = fmax(size, itm_vec_norm(d->x[i]));
    }
    return size;
}

// "loop.tx (0.3), hinge.ry (0.01)": the rows that are furthest from zero.
static void name_worst_rows(const ItmModel* m, const ItmData* d, const double* x, char* text, size_t size)
{
    size_t used = 0;
    double last = HUGE_VAL;
    text[0] = '\0';
    for (int shown = 0; shown < 4; shown++) {
        int worst = ITM_NONE;
        for (int i = 0; i < m->nrow; i++) {
            if (must_hold(m, d, i) && fabs(x[i]) < last && (worst == ITM_NONE || fabs(x[i]) > fabs(x[worst]))) {
                worst = i;
            }
        }
        if (worst == ITM_NONE || (shown > 0 && fabs(x[worst]) < 1e-3 * norm_of(m, d, x)) || used >= size) {
            return;
        }
        last = fabs(x[worst]);
        int n = snprintf(text + used, size - used, "%s%s (%.3g)", shown > 0 ? ", " : "", m->row_names[worst], x[worst]);
        used += n > 0 ? (size_t)n : 0;
    }
}

// "loop": the element whose row is furthest from zero.
static void name_worst_element(const ItmModel* m, const ItmData* d, const double* x, char* text, size_t size)
{
    name_worst_rows(m, d, x, text, size);
    text[strcspn(text, ". ")] = '\0';
}

// ---------------------------------------------------------------------------- positions

// Newton step for the gaps: delta = -M^-1 A' H^-1 Phi, into d->x1. Returns the largest component.
static double compute_correction(const ItmModel* m, ItmData* d)
{
    for (int i = 0; i < m->nrow; i++) {
        d->rows.x[i] = is_rigid_row(m, i) ? -d->rows.gap[i] : 0.0;
    }
    itm_blocks_solve(&m->pattern, &d->rows.factor, d->rows.x);
    memset(d->x1, 0, sizeof(double) * (size_t)m->nv);
    itm_rows_apply(m, d, d->x1, d->rows.x);
    double largest = 0.0;
    for (int i = 0; i < m->nv; i++) {
        largest = fmax(largest, fabs(d->x1[i]));
    }
    return largest;
}

// Go along the correction, halving until the gaps shrink. Returns false if they do not.
static bool search_along(const ItmModel* m, ItmData* d, double t, double scale, double gap)
{
    for (int halving = 0; halving < MAX_HALVINGS; halving++, scale *= 0.5) {
        itm_kinematics_integrate(m, d->q1, d->q, d->x1, scale);
        itm_kinematics_compute_positions(m, d, d->q1);
        itm_rows_compute_gaps(m, d, d->q1, t);
        if (norm_of(m, d, d->rows.gap) < gap) {
            memcpy(d->q, d->q1, sizeof(double) * (size_t)m->nq);
            itm_data_update_angles(m, d);
            return true;
        }
    }
    return false;
}

ItmStatus itm_assemble_positions(const ItmModel* m, ItmData* d, double t, ItmError* error)
{
    double gap = 0.0, size = 1.0;
    d->position_state = ITM_POSITION_STALE;
    for (int iteration = 0; iteration < MAX_ITERATIONS; iteration++) {
        evaluate(m, d, t, POSITIONS);
        size = size_of(m, d);
        gap = norm_of(m, d, d->rows.gap);
        if (gap <= CLOSED * size) {
            return ITM_OK;
        }
        double step = compute_correction(m, d);
        double scale = step > MAX_TURN * size ? MAX_TURN * size / step : 1.0;
        if (!search_along(m, d, t, scale, gap)) {
            break;
        }
    }
    evaluate(m, d, t, POSITIONS);
    gap = norm_of(m, d, d->rows.gap);
    if (gap <= ACCEPTABLE * size) {
        return ITM_OK;
    }
    char rows[400], element[128];
    name_worst_rows(m, d, d->rows.gap, rows, sizeof rows);
    name_worst_element(m, d, d->rows.gap, element, sizeof element);
    return itm_error_set(error, ITM_ERR_ASSEMBLY, __func__, element,
                         "the joints cannot be closed: %s remain open (m or rad); move the bodies nearer to where they "
                         "fit, or check joint frames, lengths and start values",
                         rows);
}

// ---------------------------------------------------------------------------- velocities

ItmStatus itm_assemble_velocities(const ItmModel* m, ItmData* d, double t, ItmError* error)
{
    evaluate(m, d, t, VELOCITIES);
    double before = norm_of(m, d, d->rows.rate);
    // v <- v - M^-1 A' H^-1 (A v - signal'); the second pass removes what rounding left of the first
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < m->nrow; i++) {
            d->rows.x[i] = is_rigid_row(m, i) ? -d->rows.rate[i] : 0.0;
        }
        itm_blocks_solve(&m->pattern, &d->rows.factor, d->rows.x);
        itm_rows_apply(m, d, d->v, d->rows.x);
        itm_kinematics_compute_velocities(m, d, d->v);
        itm_rows_compute(m, d, t);
    }
    double speed = 1.0;
    for (int i = 0; i < m->nv; i++) {
        speed = fmax(speed, fabs(d->v[i]));
    }
    if (norm_of(m, d, d->rows.rate) <= ACCEPTABLE * (speed + before)) {
        return ITM_OK;
    }
    char rows[400], element[128];
    name_worst_rows(m, d, d->rows.rate, rows, sizeof rows);
    name_worst_element(m, d, d->rows.rate, element, sizeof element);
    return itm_error_set(
        error, ITM_ERR_ASSEMBLY, __func__, element,
        "the start velocities contradict the joints: %s cannot be satisfied (m/s or rad/s); check driven "
        "motions and start rates against each other",
        rows);
}

ItmStatus itm_assemble_data(const ItmModel* m, ItmData* d)
{
    ITM_GUARD(m != NULL && d != NULL, ITM_ERR_ARGUMENT);
    double t = itm_data_get_time(d);
    ItmStatus status = itm_assemble_positions(m, d, t, &d->error);
    return status == ITM_OK ? itm_assemble_velocities(m, d, t, &d->error) : status;
}
