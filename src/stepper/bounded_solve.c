// The bounded rows of a step as boxed MLCPs, island by island                                  [contact-rim, eqs. 20-30]
//
// With the bilateral rows b eliminated, an island of bounded rows c is
//   w = H' x + b,   H' = H_cc - H_cb H_bb^-1 H_bc + Omega,   b = A_c v + offset
// where v are the velocities without x. H' is a Gram matrix: H_cc = Y_c Y_c', H_cb H_bb^-1 H_bc = Z' Z, Z = L^-1 H_bc.
#include "stepper/bounded_solve.h"

#include "base/error.h"
#include "base/union_find.h"
#include "contact/contact.h"
#include "stepper/sweep.h"
#include "multibody/clearance.h"
#include "multibody/mass.h"
#include "multibody/rows.h"

#include <stdio.h>
#include <string.h>

#define TIGHT 1e-13          // tolerance of the solver where gaps are fed back
#define RESTING_RATE 1e-9    // m/s, rad/s: a row that moves slower does not slip
#define MAX_CORRECTION 0.01  // m, rad: penetration undone in one step, at most
#define MOST_DRIFT 0.1       // of the contact margin: a larger gap is one
#define RESTING_WAY 1e-7     // m, rad: a body that moves less in a step is at rest
#define SOFT 1e-4  // of the diagonal of H: drifts that contradict each other are undone as well as they can be

// ---------------------------------------------------------------------------- offsets

static bool is_rigid(const ItmBoundRow* row)
{
    return row->stiffness == 0.0 && row->damping == 0.0;
}

// What is added to A v+ so that w is complementary to the impulse. w_free = A v+ without the bounded rows.
//   open gap          A v+ + Phi / h >= 0: the step may use the gap up, not more
//   bounce            A v+ >= -e A v where the step would close the gap fast enough
//   compliant, closed Omega x + Gamma Phi / h                                                    [contact-rim, eq. 41]
//   fed back          A v+ + Phi / h >= 0, whatever the sign of Phi                            [clearance, eq. 24]
static void set_offset(const ItmModel* m, const ItmBounded* b, ItmBoundRow* row, double w_free, double h,
                       bool may_bounce)
{
    row->is_bouncing = false;
    row->omega = 0.0;
    row->offset = (h * row->bias_share - b->ahead) * row->bias - row->reference;
    if (!itm_bound_row_is_unilateral(row)) {
        return;
    }
    double K = row->stiffness, D = row->damping;
    row->omega = is_rigid(row) ? 0.0 : 1.0 / (h * h * K + h * D);
    double gap = is_rigid(row) && row->gap > 0.0 ? itm_bounded_get_open(row->gap, row->open) : row->gap;
    double gamma = gap > 0.0 ? 1.0 : is_rigid(row) ? 0.0 : h * K / (h * K + D);
    // as the row without bounce sees it, or that would brake before the bounce
    bool is_closing = gap + h * w_free <= 0.0;
    row->is_bouncing =
        may_bounce && row->restitution > 0.0 && is_closing && row->rate < -m->contact_options.restitution_speed;
    if (row->is_bouncing) {
        row->offset += row->restitution * row->rate;
    } else if (b->feeds_gaps_back && is_rigid(row)) {
        row->offset += itm_gap_feed(row->gap, h, row->gap < 0.0 ? b->feed_time : 0.0);
    } else {
        row->offset += gamma * gap / h;
    }
}

// ---------------------------------------------------------------------------- warm start

// A rigid contact under load does not open by itself: what its gap has become is the drift of two bodies that moved on by steps.
// Were it used up as a velocity, the contacts of a grip would let go one after the other.
static void hold(const ItmModel* m, ItmBoundRow* row, double x, signed char state)
{
    row->is_held = row->kind == ITM_BOUND_NORMAL && is_rigid(row) && x > 0.0 && state == ITM_ROW_ACTIVE &&
                   row->gap <= MOST_DRIFT * m->contact_options.margin;
    if (row->is_held) {
        row->open = ITM_BOUNDED_SLOP + fmax(0.0, row->gap);
    }
}

static void recall(const ItmModel* m, ItmBounded* b)
{
    for (int i = 0; i < b->nrow; i++) {
        int known = itm_bounded_find(b, b->rows[i].key);
        b->x[i] = known != ITM_NONE ? b->memory[b->current].x[known] : 0.0;
        b->state[i] = known != ITM_NONE ? b->memory[b->current].state[known] : ITM_ROW_UNKNOWN;
        hold(m, &b->rows[i], b->x[i], b->state[i]);
    }
}

// Friction at the edge of its cone that does not slip holds its rate all the same: dependent rows share a load in many ways. What
// bounced, were it less than it would, is on its way.
static signed char remembered_state(const ItmBounded* b, int i)
{
    bool is_leaving = b->rows[i].restitution > 0.0 && b->v_after[i] > RESTING_RATE;
    if (b->rows[i].is_bouncing || is_leaving) {
        return ITM_ROW_LO;
    }
    bool is_coupled = isinf(b->rows[i].lo) && isinf(b->rows[i].up);
    return is_coupled && b->x[i] != 0.0 && fabs(b->v_after[i]) <= RESTING_RATE ? ITM_ROW_ACTIVE : b->state[i];
}

static void remember(ItmBounded* b)
{
    int next = 1 - b->current;
    b->memory[next].count = b->nrow;
    for (int i = 0; i < b->nrow; i++) {
        b->memory[next].key[i] = b->rows[i].key;
        b->memory[next].x[i] = b->x[i];
        b->memory[next].state[i] = remembered_state(b, i);
    }
}

// ---------------------------------------------------------------------------- islands

// Blocks that share a component, directly or over other blocks, form an island; lists in the order of the blocks.
static void find_islands(const ItmModel* m, ItmBounded* b)
{
    for (int k = 0; k < b->nblock; k++) {
        const ItmRowBlock* path = &b->blocks[k].path;
        for (int i = 0; i < path->npath; i++) {
            int c = m->component[path->path[i]];
            b->root[c] = c;
            b->head[c] = ITM_NONE;
        }
    }
    for (int k = 0; k < b->nblock; k++) {
        const ItmRowBlock* path = &b->blocks[k].path;
        for (int i = 1; i < path->npath; i++) {
            itm_union_join(b->root, m->component[path->path[0]], m->component[path->path[i]]);
        }
    }
    b->nisland = 0;
    for (int k = 0; k < b->nblock; k++) {
        int root = itm_union_find(b->root, m->component[b->blocks[k].path.path[0]]);
        b->blocks[k].next = ITM_NONE;
        if (b->head[root] == ITM_NONE) {
            b->islands[b->nisland++] = root;
            b->head[root] = k;
        } else {
            b->blocks[b->tail[root]].next = k;
        }
        b->tail[root] = k;
    }
}

// ---------------------------------------------------------------------------- one island, densely

// An island that is not solved to the tolerance: the row that is off farthest, of this step.
static void note_residual(ItmBounded* b, int row, double residual)
{
    if (b->worst_row == ITM_NONE || !(residual <= b->worst_residual)) {
        b->worst_row = row;
        b->worst_residual = residual;
    }
}

// What a solve took; active rows are counted once, at the end, redundant ones when somebody looks. Whether it reached its tolerance.
static bool report(ItmData* d, const ItmMlcpInfo* info)
{
    bool is_solved = info->outcome == ITM_MLCP_SOLVED || info->outcome == ITM_MLCP_SOLVED_TO_ROUNDING;
    d->info.solver_iterations += info->iterations;
    d->info.solver_residual = fmax(d->info.solver_residual, info->residual);
    d->info.fallbacks += info->nattempt > 1;
    d->info.unsolved += !is_solved;
    return is_solved;
}

ItmStatus itm_bounded_solve_mlcp(const ItmModel* m, ItmData* d, ItmMlcpWorkspace* workspace, ItmMlcpResult* result,
                                 const ItmMlcpProblem* problem, const int* table)
{
    ItmMlcpOptions options = itm_default_mlcp_options();
    options.solver = m->contact_options.solver;
    // the variable stepper minimises what it solves: errors of the solve are errors of the choice
    double tolerance = m->contact_options.tolerance;
    options.tolerance = d->bounded->feeds_gaps_back ? fmin(TIGHT, tolerance) : tolerance;
    options.effort = m->contact_options.effort;
    options.warm_start = true;
    ItmStatus status = itm_mlcp_solve(workspace, result, problem, &options, &d->error);
    if (status == ITM_OK && !report(d, &result->info)) {
        note_residual(d->bounded, table[result->info.worst_row], result->info.residual);
    }
    return status;
}

// One MLCP of the assembled island; impulses in island_x, row velocities A v+ in island_v.
static ItmStatus solve_mlcp(const ItmModel* m, ItmData* d, int head, int n)
{
    ItmBounded* b = d->bounded;
    ItmMlcpProblem problem = {
        .n = n,
        .H = b->H,
        .b = b->island_b,
        .lo = b->island_lo,
        .up = b->island_up,
        .is_symmetric = true,
        .ncontact = itm_bounded_number_couplings(b, head),
        .contacts = b->island_couplings,
        .w_before = b->island_before,
    };
    for (int i = 0; i < n; i++) {
        b->island_before[i] = b->rows[b->global[i]].rate;
    }
    ItmMlcpResult result = {.x = b->island_x, .w = b->island_w, .state = b->island_state};
    ItmStatus status = itm_bounded_solve_mlcp(m, d, b->workspace, &result, &problem, b->global);
    if (status != ITM_OK) {
        return status;
    }
    for (int i = 0; i < n; i++) {
        const ItmBoundRow* row = &b->rows[b->global[i]];
        b->island_v[i] = b->island_w[i] - row->offset - row->omega * b->island_x[i];
    }
    return ITM_OK;
}

// Work of the impulses x with the mean of the row velocities before and after the step, x . (w + v) / 2: what the energy balance takes
// from dry friction and impact. Kinetic energy changes by it and by the work of the forces along the mean velocity, so bounces that keep
// it at 0 come up as high as they fell. Motors, which may add energy, do not count. size: the sum without cancellation.
static double work_of(const ItmBounded* b, const double* x, const double* v, int n, double* size)
{
    double sum = 0.0;
    *size = 0.0;
    for (int i = 0; i < n; i++) {
        const ItmBoundRow* row = &b->rows[b->global[i]];
        if (row->kind != ITM_BOUND_MOTOR) {
            sum += 0.5 * x[i] * (row->rate + v[i]);
            *size += 0.5 * fabs(x[i]) * (fabs(row->rate) + fabs(v[i]));
        }
    }
    return sum;
}

// dx . dv / 2 of two solutions, motors left out.
static double curvature_of(const ItmBounded* b, const double* x0, const double* v0, const double* x1, const double* v1,
                           int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        bool counts = b->rows[b->global[i]].kind != ITM_BOUND_MOTOR;
        sum += counts ? 0.5 * (x1[i] - x0[i]) * (v1[i] - v0[i]) : 0.0;
    }
    return sum;
}

double itm_bounded_share_bounce(double without, double with, double curvature, double allowed)
{
    // without + t slope + t^2 curvature = allowed, the larger root
    double slope = with - without - curvature, room = fmax(0.0, allowed - without);
    double root = sqrt(fmax(0.0, slope * slope + 4.0 * curvature * room));
    double share = slope > 0.0       ? 2.0 * room / (slope + root)
                   : curvature > 0.0 ? (root - slope) / (2.0 * curvature)
                                     : 1.0;
    return fmin(share, 1.0);
}

static bool has_bounce(const ItmBounded* b, int n)
{
    for (int i = 0; i < n; i++) {
        if (b->rows[b->global[i]].is_bouncing) {
            return true;
        }
    }
    return false;
}

// Newton's law of restitution can create energy where several contacts and friction meet. Then the impulses are taken
// between those without any bounce (x0, v0) and those with it (x1, v1), as far towards the latter as their work stays below 0, or
// below that of x0; both are admissible, and so is everything between, the admissible set being convex. What the tolerance of the
// solver does to the work is let pass: perfect bounces do none.
static ItmStatus limit_bounce(const ItmModel* m, ItmData* d, int head, int n, double h)
{
    ItmBounded* b = d->bounded;
    if (!has_bounce(b, n)) {
        return ITM_OK;
    }
    double size, size0, *x0 = b->island_x, *v0 = b->island_v, *x1 = b->bounce_x, *v1 = b->bounce_v;
    double with = work_of(b, x0, v0, n, &size);
    double allowed = m->contact_options.tolerance * size;
    if (with <= allowed) {
        return ITM_OK;
    }
    memcpy(x1, b->island_x, sizeof(double) * (size_t)n);
    memcpy(v1, b->island_v, sizeof(double) * (size_t)n);
    for (int i = 0; i < n; i++) {
        ItmBoundRow* row = &b->rows[b->global[i]];
        set_offset(m, b, row, b->v_after[b->global[i]], h, false);
        b->island_b[i] = b->v_after[b->global[i]] + row->offset;
    }
    ItmStatus status = solve_mlcp(m, d, head, n);
    double without = work_of(b, x0, v0, n, &size0);
    double share = itm_bounded_share_bounce(without, with, curvature_of(b, x0, v0, x1, v1, n), fmax(allowed, without));
    for (int i = 0; i < n && status == ITM_OK; i++) {
        x0[i] += share * (x1[i] - x0[i]);
        v0[i] += share * (v1[i] - v0[i]);
    }
    return status;
}

ItmStatus itm_bounded_solve_velocities(const ItmModel* m, ItmData* d, int head, int n, double h)
{
    ItmBounded* b = d->bounded;
    ItmStatus status = solve_mlcp(m, d, head, n);
    if (status == ITM_OK) {
        status = limit_bounce(m, d, head, n, h);
    }
    for (int i = 0; status == ITM_OK && i < n; i++) {
        b->x[b->global[i]] = b->island_x[i];
        b->v_after[b->global[i]] = b->island_v[i];
        b->state[b->global[i]] = b->island_state[i];
    }
    return status;
}

static bool is_corrected(const ItmBoundRow* row)
{
    return itm_bound_row_is_unilateral(row) && is_rigid(row);
}

// Whether the bodies of a contact move by less than rounding of its gap in a step: drifts of moving bodies add up.
bool itm_bounded_is_at_rest(const ItmData* d, const ItmBoundRow* row)
{
    const ItmRowBlock* path = &d->bounded->blocks[row->block].path;
    double most = RESTING_WAY / d->h;
    for (int i = 0; i < path->nbody; i++) {
        ItmSpatial v = d->twist[path->body[i]];
        if (!(itm_vec_dot(v.lin, v.lin) + itm_vec_dot(v.ang, v.ang) <= most * most)) {
            return false;
        }
    }
    return row->kind == ITM_BOUND_NORMAL;
}

static bool is_off(const ItmData* d, const ItmBoundRow* row)
{
    // whether the bodies are at rest only matters within the band, and is not looked up for the others
    return is_corrected(row) && itm_bounded_is_off(row->gap, row->is_held, false) &&
           (itm_bounded_is_off(row->gap, row->is_held, true) || !itm_bounded_is_at_rest(d, row));
}

void itm_bounded_set_correction(const ItmBoundCorrection* c, int i, double gap, bool is_held)
{
    c->H[(size_t)i * (size_t)(c->n + 1)] *= is_held ? 1.0 + SOFT : 1.0;
    c->b[i] = fmax(gap, -MAX_CORRECTION);
    c->lo[i] = is_held ? -INFINITY : 0.0;
    c->up[i] = INFINITY;
    // rows that penetrate or touch are expected to push: close to the solution, without the sweeps of a cold start
    c->x[i] = 0.0;
    c->state[i] = is_held || c->b[i] < ITM_BOUNDED_SLOP ? ITM_ROW_ACTIVE : ITM_ROW_LO;
}

ItmStatus itm_bounded_solve_correction(ItmData* d, ItmMlcpWorkspace* workspace, const ItmBoundCorrection* c)
{
    ItmMlcpProblem problem = {.n = c->n, .H = c->H, .b = c->b, .lo = c->lo, .up = c->up, .is_symmetric = true};
    ItmMlcpOptions options = itm_default_mlcp_options();
    options.effort = d->model->contact_options.effort;
    options.warm_start = true;
    ItmMlcpResult result = {.x = c->x, .w = c->w, .state = c->state};
    ItmStatus status = itm_mlcp_solve(workspace, &result, &problem, &options, &d->error);
    if (status == ITM_OK) {
        // a body squeezed between walls cannot be freed: that is seen in the penetration
        (void)report(d, &result.info);
    }
    return status;
}

// Position correction of an assembled chain into b->x_correction. H is overwritten by its normal part.
static ItmStatus solve_correction(ItmData* d, int n)
{
    ItmBounded* b = d->bounded;
    bool is_any = false;
    int count = 0;
    for (int i = 0; i < n; i++) {
        const ItmBoundRow* row = &b->rows[b->global[i]];
        if (is_corrected(row)) {
            is_any = is_any || is_off(d, row);
            b->global[count++] = b->global[i];
        }
    }
    if (!is_any || b->feeds_gaps_back) {
        return ITM_OK;
    }
    for (int i = 0; i < count && count < n; i++) {
        size_t from = (size_t)b->local[b->global[i]];
        for (int j = 0; j < count; j++) {
            b->H[(size_t)i * (size_t)count + (size_t)j] = b->H[from * (size_t)n + (size_t)b->local[b->global[j]]];
        }
    }
    const ItmBoundCorrection correction = {.n = count,
                                           .H = b->H,
                                           .b = b->island_b,
                                           .lo = b->island_lo,
                                           .up = b->island_up,
                                           .x = b->island_x,
                                           .w = b->island_w,
                                           .state = b->island_state};
    for (int i = 0; i < count; i++) {
        const ItmBoundRow* row = &b->rows[b->global[i]];
        itm_bounded_set_correction(&correction, i, row->gap, row->is_held);
    }
    ItmStatus status = itm_bounded_solve_correction(d, b->workspace, &correction);
    for (int i = 0; status == ITM_OK && i < count; i++) {
        b->x_correction[b->global[i]] = b->island_x[i];
    }
    return status;
}

// ---------------------------------------------------------------------------- one island, by sweeps

#define SWEEP_FROM 90  // rows: from here on an island of single bodies is swept first
#define TRIAL 3000     // rows^2 / TRIAL sweeps, a part of what a direct solve costs, where that is possible
#define LEAST_TRIAL 4
#define LEAST_SWEEPS 220   // otherwise at most that many, or more while rows * sweeps stays below
#define SWEEP_WORK 500000  //   this
#define MAX_CORRECTION_SWEEPS 50

// State of a row as the dense solvers report it.
static signed char state_of(const ItmBoundRow* row, double x, double v)
{
    return x <= row->lo ? ITM_ROW_LO : x >= row->up ? ITM_ROW_UP : fabs(v) > RESTING_RATE ? ITM_ROW_LO : ITM_ROW_ACTIVE;
}

// A few sweeps show whether the impulses of the last step still fit. Where a direct solve is possible, they end there: columns of
// boxes need thousands. Larger islands have nothing else.
static int limit_sweeps(const ItmBounded* b, int n)
{
    if (n <= b->island_capacity) {
        return n * n / TRIAL > LEAST_TRIAL ? n * n / TRIAL : LEAST_TRIAL;
    }
    return SWEEP_WORK / n > LEAST_SWEEPS ? SWEEP_WORK / n : LEAST_SWEEPS;
}

// Sweep an island. False: not suitable, or not done to the tolerance though a direct solver could do it. Bounces, which may need
// to be limited, go to that too.
static bool sweep_island(const ItmModel* m, ItmData* d, int head, int n)
{
    ItmBounded* b = d->bounded;
    bool is_dense_possible = n <= b->island_capacity;
    if (n < SWEEP_FROM || m->contact_options.solver != ITM_MLCP_AUTO || !itm_sweep_is_suitable(m, b, head)) {
        return false;
    }
    bool is_any = false, is_bouncing = false;
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        for (int i = b->blocks[k].first; i < b->blocks[k].first + b->blocks[k].nrow; i++) {
            is_bouncing = is_bouncing || b->rows[i].is_bouncing;
            b->sweep_target[i] = b->v_after[i] + b->rows[i].offset;
            is_any = is_any || is_off(d, &b->rows[i]);
        }
    }
    if (is_bouncing && is_dense_possible) {
        return false;
    }
    double tolerance = m->contact_options.tolerance;
    ItmSweepResult result =
        itm_sweep_solve(b, head, b->x, b->sweep_target, b->sweep_change, tolerance, limit_sweeps(b, n), false);
    if (result.residual > tolerance && is_dense_possible) {
        return false;
    }
    if (!(result.residual <= tolerance)) {
        d->info.unsolved++;
        note_residual(b, result.worst_row, result.residual);
    }
    d->info.solver_iterations += result.sweeps;
    d->info.solver_residual = fmax(d->info.solver_residual, result.residual);
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        for (int i = b->blocks[k].first; i < b->blocks[k].first + b->blocks[k].nrow; i++) {
            b->v_after[i] += b->sweep_change[i];
            b->state[i] = state_of(&b->rows[i], b->x[i], b->v_after[i]);
            b->sweep_target[i] = is_corrected(&b->rows[i]) ? fmax(b->rows[i].gap, -MAX_CORRECTION) : 0.0;
        }
    }
    if (is_any && !b->feeds_gaps_back) {
        itm_sweep_solve(b, head, b->x_correction, b->sweep_target, b->sweep_change, ITM_BOUNDED_SLOP,
                        MAX_CORRECTION_SWEEPS, true);
    }
    return true;
}

// ---------------------------------------------------------------------------- an island

ItmStatus itm_bounded_solve_island(const ItmModel* m, ItmData* d, int head, double h)
{
    ItmBounded* b = d->bounded;
    int n = itm_bounded_number_rows(b, head);
    if (sweep_island(m, d, head, n)) {
        return ITM_OK;
    }
    if (n > b->island_capacity) {
        return itm_error_set(&d->error, ITM_ERR_CAPACITY, __func__, NULL,
                             "an island of %d bounded rows is larger than the %d there is room for", n,
                             b->island_capacity);
    }
    itm_bounded_assemble(m, d, head, n);
    ItmStatus status = itm_bounded_solve_velocities(m, d, head, n, h);
    return status == ITM_OK ? solve_correction(d, n) : status;
}

// ---------------------------------------------------------------------------- all of them

void itm_bounded_respond(const ItmModel* m, ItmData* d, double* v, const double* x, double* lambda)
{
    double* change = d->x2;
    memset(change, 0, sizeof(double) * (size_t)m->nv);
    itm_bounded_apply(m, d, change, x);
    if (m->nrow > 0) {
        double* answer = d->row_x;
        itm_rows_multiply(m, d, answer, change);
        for (int i = 0; i < m->nrow; i++) {
            answer[i] = -answer[i];
        }
        itm_blocks_solve(&m->pattern, &d->factor, answer);
        itm_rows_apply(m, d, change, answer);
        for (int i = 0; lambda != NULL && i < m->nrow; i++) {
            lambda[i] += answer[i];
        }
    }
    for (int i = 0; i < m->nv; i++) {
        v[i] += change[i];
    }
}

void itm_bounded_book_work(ItmData* d, const ItmBoundRow* row, double work)
{
    if (row->kind == ITM_BOUND_MOTOR) {
        d->ledger[ITM_LEDGER_MOTION] += work;
    } else {
        d->ledger[itm_bound_row_is_unilateral(row) ? ITM_LEDGER_IMPACT : ITM_LEDGER_FRICTION] -= work;
        itm_clearance_book_work(d, row, work);
    }
}

// What a compliant row holds at a gap, K Phi^2 / 2.
static double elastic_of(const ItmBoundRow* row, double gap)
{
    return itm_bound_row_is_unilateral(row) && gap < 0.0 ? 0.5 * row->stiffness * gap * gap : 0.0;
}

// Works of the impulses, with the mean of the row velocities before and after the step. Rows that were solved in an interface model are
// booked there, and have their gap at the end of the step from it. What compliant rows hold is a store, not a loss.
static void book_works(ItmData* d)
{
    ItmBounded* b = d->bounded;
    if (*d->steps == 0.0 && *d->time == 0.0) {
        // what overlaps at the start was compressed before
        for (int i = 0; i < b->nrow; i++) {
            *d->elastic += elastic_of(&b->rows[i], b->rows[i].gap);
        }
        *d->energy_start += *d->elastic;
    }
    double held = *d->elastic;
    *d->elastic = 0.0;
    for (int i = 0; i < b->nrow; i++) {
        ItmBoundRow* row = &b->rows[i];
        if (!b->blocks[row->block].is_in_rim) {
            itm_bounded_book_work(d, row, 0.5 * b->x[i] * (row->rate + b->v_after[i]));
            row->gap_after = row->gap + d->h * b->v_after[i];  // as its force has it
        }
        *d->elastic += elastic_of(row, row->gap_after);
    }
    d->ledger[ITM_LEDGER_IMPACT] -= *d->elastic - held;
}

void itm_bounded_book_answer(const ItmModel* m, ItmData* d, const double* answer, const double* before, const double* v,
                             bool is_driven)
{
    itm_rows_multiply(m, d, d->row_x, v);
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        bool is_motion = block->kind == ITM_BLOCK_MOTION;
        if (itm_block_is_compliant(block) || (is_motion && !is_driven)) {
            continue;
        }
        double work = 0.0;
        for (int i = block->row; i < block->row + block->nrow; i++) {
            work += 0.5 * answer[i] * (before[i] + d->row_x[i]);
        }
        d->ledger[is_motion ? ITM_LEDGER_MOTION : ITM_LEDGER_IMPACT] += is_motion ? work : -work;
    }
}

// The impulses act on v, and what the bilateral rows answer, which is booked where the stepper asks for it.
static void respond_and_book(const ItmModel* m, ItmData* d, double* v)
{
    double* answer = d->row_scratch;
    memset(answer, 0, sizeof(double) * (size_t)m->nrow);
    itm_bounded_respond(m, d, v, d->bounded->x, answer);
    if (d->bounded->books_answer) {
        itm_bounded_book_answer(m, d, answer, d->row_before, v, false);
    }
    for (int i = 0; i < m->nrow; i++) {
        d->lambda[i] += answer[i];
    }
}

static void start_report(ItmData* d)
{
    ItmBounded* b = d->bounded;
    b->worst_row = ITM_NONE;
    b->worst_residual = 0.0;
    d->info.nbounded = b->nrow;
    d->info.nactive = d->info.solver_iterations = d->info.solver_redundant = 0;
    d->info.solver_residual = d->info.penetration = 0.0;
    for (int i = 0; i < b->nrow; i++) {
        if (itm_bound_row_is_unilateral(&b->rows[i])) {
            d->info.penetration = fmax(d->info.penetration, -b->rows[i].gap);
        }
    }
}

static ItmStatus fail_overfull(const ItmModel* m, ItmData* d)
{
    char where[160] = "";
    if (d->contact != NULL && d->contact->lost_first != ITM_NONE) {
        snprintf(where, sizeof where, ", the first to be left out between '%.50s' and '%.50s'",
                 m->contact->colliders[d->contact->lost_first].name,
                 m->contact->colliders[d->contact->lost_second].name);
    }
    return itm_error_set(
        &d->error, ITM_ERR_CAPACITY, "itm_step", NULL,
        "more contacts, or more shapes close to each other, than there is room for (%d contacts)%s; raise "
        "max_contacts",
        m->ncontact_max, where);
}

ItmStatus itm_bounded_begin(const ItmModel* m, ItmData* d)
{
    ItmBounded* b = d->bounded;
    start_report(d);
    if (b->is_overfull) {
        return fail_overfull(m, d);
    }
    for (int k = 0; !b->has_Y && k < b->nblock; k++) {
        const ItmRowBlock* path = &b->blocks[k].path;
        itm_mass_half_solve(m, d, b->Y + path->y_adr, path, b->cov + path->cov_adr);
    }
    b->has_Y = true;
    memset(b->x_correction, 0, sizeof(double) * (size_t)b->nrow);
    recall(m, b);
    find_islands(m, b);
    d->info.nisland = b->nisland;
    return ITM_OK;
}

void itm_bounded_set_offsets(const ItmModel* m, ItmData* d, const double* v, double h)
{
    ItmBounded* b = d->bounded;
    itm_bounded_multiply(m, d, b->v_after, v);
    for (int i = 0; i < b->nrow; i++) {
        set_offset(m, b, &b->rows[i], b->v_after[i], h, true);
    }
}

void itm_bounded_finish(const ItmModel* m, ItmData* d, double* v, double* correction)
{
    ItmBounded* b = d->bounded;
    memset(correction, 0, sizeof(double) * (size_t)m->nv);
    if (b->nrow > 0) {
        respond_and_book(m, d, v);
    }
    bool has_correction = false;
    for (int i = 0; i < b->nrow; i++) {
        d->info.nactive += b->state[i] == ITM_ROW_ACTIVE;
        has_correction = has_correction || b->x_correction[i] != 0.0;
    }
    if (has_correction) {
        itm_bounded_respond(m, d, correction, b->x_correction, NULL);
    }
    book_works(d);
    remember(b);
    // what was settled belongs to the forces of the step
    for (int i = 0; m->nclearance > 0 && i < b->nrow; i++) {
        b->x[i] += b->x_projected[i];
    }
    itm_clearance_tally(m, d, d->h);
}

ItmStatus itm_bounded_solve(const ItmModel* m, ItmData* d, double* v, double* correction, double h)
{
    ItmBounded* b = d->bounded;
    ItmStatus status = itm_bounded_begin(m, d);
    if (status != ITM_OK) {
        return status;
    }
    itm_bounded_set_offsets(m, d, v, h);
    for (int i = 0; i < b->nisland && status == ITM_OK; i++) {
        status = itm_bounded_solve_island(m, d, b->head[b->islands[i]], h);
    }
    if (status == ITM_OK) {
        itm_bounded_finish(m, d, v, correction);
    }
    return status;
}
