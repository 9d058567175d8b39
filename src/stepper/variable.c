// Nonsmooth stepping with the step size as an unknown                                             [clearance, eqs. 21-26, 31]
//
//   M (v+ - v) = h (f - c + C' lambda_b + A' lambda),   f, c, C, A and the gaps of the start of the step
//   Phi + h C v+ = 0,   0 <= lambda _|_ g + h A v+ >= 0
//   h in [h_min, h_max] such that the constraint forces F = C' lambda_b + A' lambda are least in the mass metric, F' M^-1 F
//   q+ = q (+) h v+
//
// Gaps are fed back as velocities, not closed afterwards as in the default stepper: this is the scheme of the paper, of first
// order. Euler parameters go p+ = p + h G' omega / 2 and are normalised, which the paper does to first order.
// Friction, restitution, motors and compliance take part in the step but not in the choice of h. Bounces happen within the step (mlcp/row.h).
// A step that a stop time shortens below the smallest step closes only a share of open joints and penetration (itm_row_feed_gap).
#include "stepper/bounded_solve.h"
#include "stepper/inertial.h"
#include "mlcp/search.h"
#include "stepper/stepper.h"

#include "base/error.h"
#include "multibody/bounded.h"
#include "multibody/clearance.h"
#include "multibody/dynamics.h"
#include "multibody/kinematics.h"
#include "multibody/mass.h"
#include "multibody/rows.h"

#include <stdlib.h>
#include <string.h>

#define RANGE 10.0  // default of largest over smallest step

typedef struct ItmVariable {
    ItmArena arena;
    ItmStepSearch search;
    int* rows;          // rows of the search in the table of bounded rows   (search.capacity)
    double* a;          // accelerations without rows                        (nv)
    double* response;   // velocities that rows respond with                  (nv)
    double* way;        // displacement beside h v+, of bounces within a step (nv)
    double* b[3];       // coefficients in x of the bilateral rows           (nrow)
    double* mu[3];      // H^-1 b                                            (nrow)
    double* out;        // A v of bounded rows                               (row capacity)
    bool is_assembled;  // the only island is in the work space of the bounded rows, as the step needs it
} ItmVariable;

static double get_smallest_step(const ItmData* d)
{
    return d->options.min_step > 0.0 ? d->options.min_step : d->options.step / RANGE;
}

// ---------------------------------------------------------------------------- life

static void lay_out(const ItmModel* m, const ItmData* d, ItmVariable* s)
{
    int nrow = d->bounded != NULL ? d->bounded->capacity.row : 0;
    int capacity = d->bounded != NULL ? d->bounded->capacity.island : 0;
    itm_search_lay_out(&s->search, &s->arena, capacity);
    s->rows = ITM_TAKE(&s->arena, int, capacity);
    s->a = ITM_TAKE(&s->arena, double, m->nv);
    s->response = ITM_TAKE(&s->arena, double, m->nv);
    s->way = ITM_TAKE(&s->arena, double, m->nv);
    s->out = ITM_TAKE(&s->arena, double, nrow);
    for (int k = 0; k < 3; k++) {
        s->b[k] = ITM_TAKE(&s->arena, double, m->nrow);
        s->mu[k] = ITM_TAKE(&s->arena, double, m->nrow);
    }
}

ItmStatus itm_variable_create(const ItmModel* m, ItmData* d, ItmError* error)
{
    for (int k = 0; k < m->nblock; k++) {
        if (itm_block_is_compliant(&m->blocks[k])) {
            return itm_error_set(error, ITM_ERR_UNSUPPORTED, "itm_data_create", "stepper",
                                 "stepper 'variable' supports rigid joints and joints with clearance, but joint '%s' "
                                 "is compliant: use 'euler' or "
                                 "'adaptive'",
                                 m->joints[m->blocks[k].index].name);
        }
    }
    ItmVariable* s = calloc(1, sizeof *s);
    if (s != NULL) {
        lay_out(m, d, s);
    }
    if (s == NULL || itm_arena_allocate(&s->arena) != 0) {
        free(s);
        return itm_error_set(error, ITM_ERR_MEMORY, "itm_data_create", NULL,
                             "out of memory for the search of the step");
    }
    lay_out(m, d, s);
    d->variable = s;
    if (d->bounded != NULL) {
        s->search.workspace = d->bounded->work.workspace;
        d->bounded->step.feeds_gaps_back = true;
        d->bounded->step.feed_time = get_smallest_step(d);
    }
    return ITM_OK;
}

void itm_variable_destroy(ItmData* d)
{
    if (d->variable != NULL) {
        itm_arena_free(&d->variable->arena);
        free(d->variable);
        d->variable = NULL;
    }
}

// ---------------------------------------------------------------------------- problem of the step

// Forces, rows and factors of the present state, for a step up to h.
static ItmStatus evaluate(const ItmModel* m, ItmData* d, double t, double h)
{
    if (d->position_state == ITM_POSITION_STALE) {
        itm_kinematics_compute_positions(m, d, d->q);
    }
    if (d->position_state != ITM_POSITION_LOOKED) {
        itm_kinematics_compute_velocities(m, d, d->v);
    }
    itm_inertial_begin(m, d, h, ITM_FAST_TURN, false, false);
    itm_dynamics_compute_right_side(m, d, t);  // c of the start: the length of the step is not known yet
    itm_inertial_set_wrench(m, d, h);
    if (m->nrow > 0) {
        itm_rows_compute(m, d, t);
    }
    ItmStatus status = d->bounded != NULL ? itm_euler_collect_bounded(m, d, t, h) : ITM_OK;
    itm_euler_factor(m, d, h);
    itm_mass_solve(m, d, d->variable->a, d->tau, d->wrench);
    return status;
}

// Velocities that driven rows shall have: where the velocity is driven, that of the end of the step; where the position is, the
// mean one, so that the step ends in it.
static void compute_driven(const ItmModel* m, ItmData* d, double t, double h)
{
    itm_rows_compute_reference(m, d, d->rows.reference, t + h, 1);
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        if (block->signal != ITM_NONE && !block->is_velocity) {
            double now = itm_data_compute_signal(m, d, block->signal, t).x;
            d->rows.reference[block->row] = (itm_data_compute_signal(m, d, block->signal, t + h).x - now) / h;
        }
    }
}

// Bilateral rows: b(x) = C a + (C v - signal') x + Phi x^2, mu = H^-1 b, and what they add to the objective, b' H^-1 b. The
// velocities of motions are those of the largest step.
static void set_bilateral(const ItmModel* m, ItmData* d, double t, double h)
{
    ItmVariable* s = d->variable;
    memset(s->search.p, 0, sizeof s->search.p);
    if (m->nrow == 0) {
        return;
    }
    itm_rows_compute_reference(m, d, d->rows.reference, t, 1);
    for (int i = 0; i < m->nrow; i++) {
        d->rows.before[i] = d->rows.rate[i] + d->rows.reference[i];
    }
    compute_driven(m, d, t, h);
    itm_rows_multiply(m, d, s->b[0], s->a);
    for (int i = 0; i < m->nrow; i++) {
        s->b[1][i] = d->rows.before[i] - d->rows.reference[i];
        s->b[2][i] = d->rows.gap[i];
    }
    for (int k = 0; k < 3; k++) {
        memcpy(s->mu[k], s->b[k], sizeof(double) * (size_t)m->nrow);
        itm_blocks_solve(&m->pattern, &d->rows.factor, s->mu[k]);
        for (int l = 0; l <= k; l++) {
            for (int i = 0; i < m->nrow; i++) {
                s->search.p[k + l] += (k == l ? 1.0 : 2.0) * s->mu[k][i] * s->b[l][i];
            }
        }
    }
}

// Coefficient k of b(x) of the unilateral rows: A a, A v or gaps, and the reaction of the bilateral rows to theirs.
static void set_coefficient(const ItmModel* m, ItmData* d, int k)
{
    ItmVariable* s = d->variable;
    const ItmRow* rows = d->bounded->rows;
    bool has_response = k == 0 || m->nrow > 0;
    memset(s->response, 0, sizeof(double) * (size_t)m->nv);
    if (m->nrow > 0) {
        for (int i = 0; i < m->nrow; i++) {
            d->rows.x[i] = -s->mu[k][i];
        }
        itm_rows_apply(m, d, s->response, d->rows.x);
    }
    for (int i = 0; i < m->nv && k == 0; i++) {
        s->response[i] += s->a[i];
    }
    if (has_response) {
        itm_bounded_multiply(m, d, s->out, s->response);
    }
    for (int i = 0; i < s->search.n; i++) {
        const ItmRow* row = &rows[s->rows[i]];
        s->search.c[k][i] = (has_response ? s->out[s->rows[i]] : 0.0) + (k == 1 ? row->rate : k == 2 ? row->gap : 0.0);
    }
}

// Whether bounds of rows do
static bool depends_on_step(const ItmModel* m)
{
    return m->nmotor + m->njoint_friction > 0;
}

// H' of all bounded rows, as if they were one island. False: too many.
static bool assemble_all(const ItmModel* m, ItmData* d)
{
    ItmBounded* b = d->bounded;
    if (b->nrow > b->capacity.island || itm_bounded_begin(m, d) != ITM_OK) {
        return false;
    }
    for (int k = 0; k < b->nblock; k++) {
        b->blocks[k].next = k + 1 < b->nblock ? k + 1 : ITM_NONE;
    }
    itm_bounded_assemble(m, d, &b->work, 0, itm_bounded_number_rows(b, &b->work, 0));
    return true;
}

// The rigid unilateral rows, their matrix and their guess. False: too many.
static bool set_unilateral(const ItmModel* m, ItmData* d)
{
    ItmVariable* s = d->variable;
    ItmBounded* b = d->bounded;
    s->search.n = 0;
    s->is_assembled = false;
    if (b == NULL || b->nrow == 0) {
        return true;
    }
    if (!assemble_all(m, d)) {
        return false;
    }
    s->is_assembled = itm_bounded_is_one_island(b) && !depends_on_step(m);
    for (int i = 0; i < b->nrow; i++) {
        const ItmRow* row = &b->rows[i];
        if (itm_row_is_unilateral(row) && itm_row_is_rigid(row)) {
            const ItmRowRecord* last = itm_row_memory_find(&b->memory, row->key);
            s->search.state[s->search.n] = last != NULL ? (signed char)last->state : ITM_ROW_UNKNOWN;
            s->search.lambda[s->search.n] = 0.0;
            s->rows[s->search.n++] = i;
        }
    }
    int n = s->search.n;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            s->search.N[(size_t)i * (size_t)n + (size_t)j] =
                b->work.problem.H[(size_t)s->rows[i] * (size_t)b->nrow + (size_t)s->rows[j]];
        }
    }
    for (int k = 0; n > 0 && k < 3; k++) {
        set_coefficient(m, d, k);
    }
    return true;
}

// The step in [h_min, h_max] with the least constraint forces.
static ItmStatus search(const ItmModel* m, ItmData* d, double t, double h_min, double h_max, double* h)
{
    ItmStepSearch* s = &d->variable->search;
    set_bilateral(m, d, t, h_max);
    *h = h_max;
    if (!set_unilateral(m, d)) {
        return ITM_OK;  // the solve of the step reports how many rows there are
    }
    s->x_lo = 1.0 / h_max;
    s->x_hi = 1.0 / h_min;
    ItmStatus status = itm_search_run(s, &d->error);
    if (status == ITM_OK) {
        *h = s->x > s->x_lo ? fmin(fmax(1.0 / s->x, h_min), h_max) : h_max;
        d->info.objective = s->objective;
        d->info.pieces = s->npiece;
        d->info.unfinished += !s->is_complete;
    }
    return status;
}

// ---------------------------------------------------------------------------- step

// v += M^-1 C' h lambda with C v+ + Phi / h = signal'; impulses into d->lambda.
static void solve_bilateral(const ItmModel* m, ItmData* d, double* v, double t, double h)
{
    double shortest = get_smallest_step(d);
    compute_driven(m, d, t, h);
    itm_rows_multiply(m, d, d->lambda, v);
    for (int i = 0; i < m->nrow; i++) {
        d->lambda[i] = d->rows.reference[i] - d->lambda[i] - itm_row_feed_gap(d->rows.gap[i], h, shortest);
    }
    itm_blocks_solve(&m->pattern, &d->rows.factor, d->lambda);
    itm_rows_apply(m, d, v, d->lambda);
}

// q <- q (+) (h v + way), Euler parameters by p + h G' omega / 2 normalised: a turn by 2 atan(h |omega| / 2) about omega
static void integrate(const ItmModel* m, ItmData* d, double h)
{
    double* move = d->x3;
    for (int i = 0; i < m->nv; i++) {
        move[i] = h * d->v[i] + d->variable->way[i];
    }
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        double* w = move + body->v_adr + body->ntrans;
        double angle = body->nrot == 3 ? sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]) : 0.0;
        for (int k = 0; angle > 0.0 && k < 3; k++) {
            w[k] *= 2.0 * atan(0.5 * angle) / angle;
        }
    }
    itm_kinematics_integrate(m, d->q, d->q, move, 1.0);
    d->position_state = ITM_POSITION_STALE;
}

// Largest gap of the joints, unwrapped angles, and the work of the rows.
static void finish_rows(const ItmModel* m, ItmData* d, double t)
{
    if (m->nrow > 0) {
        itm_rows_multiply(m, d, d->rows.reference, d->v);
        itm_euler_book_row_work(m, d);
    }
    memcpy(d->q1, d->q, sizeof(double) * (size_t)m->nq);
    integrate(m, d, d->h);
    itm_inertial_finish(m, d, d->q1, d->variable->way, d->h);
    if (m->nrow + m->nangle > 0) {
        itm_kinematics_compute_positions(m, d, d->q);
        itm_data_update_angles(m, d);
        d->info.gap = m->nrow > 0 ? itm_rows_compute_gaps(m, d, d->q, t) : 0.0;
        d->info.residual = d->info.gap;
        d->position_state = ITM_POSITION_CURRENT;
    }
}

ItmStatus itm_variable_step(const ItmModel* m, ItmData* d)
{
    ItmVariable* s = d->variable;
    double t = itm_data_get_time(d), *v_next = d->x1;
    double h_max = itm_step_limit(d, d->options.step);
    double h_min = fmin(h_max, get_smallest_step(d));
    double h = h_max;
    ItmStatus status = evaluate(m, d, t, h_max);
    if (status == ITM_OK) {
        status = search(m, d, t, h_min, h_max, &h);
    }
    if (status != ITM_OK) {
        return status;
    }
    d->h = h = itm_step_spread(d, h, h_min, d->options.step);
    itm_data_advance_ledger(d, h);
    if (d->bounded != NULL && depends_on_step(m)) {
        status = itm_euler_collect_bounded(m, d, t, h);
    }
    // v_free = v + h M^-1 (f - c)
    for (int i = 0; i < m->nv; i++) {
        v_next[i] = d->v[i] + h * s->a[i];
    }
    if (m->nrow > 0) {
        solve_bilateral(m, d, v_next, t, h);
    }
    memset(s->way, 0, sizeof(double) * (size_t)m->nv);
    if (status == ITM_OK && d->bounded != NULL) {
        status = s->is_assembled ? itm_bounded_solve_assembled(m, d, v_next, s->way, h, h)
                                 : itm_bounded_solve(m, d, v_next, s->way, h, h);
    }
    if (status != ITM_OK) {
        return status;
    }
    memcpy(d->v, v_next, sizeof(double) * (size_t)m->nv);
    finish_rows(m, d, t + h);
    itm_step_pass_time(d, h, h);
    return ITM_OK;
}
