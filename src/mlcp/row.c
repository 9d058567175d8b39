#include "mlcp/row.h"

#include <string.h>

#define MOST_CORRECTION 0.01  // m, rad: penetration undone in one step, at most
#define RESTING_BAND 5e-7     // m: half of the penetration that is promised
#define SOFT 1e-4  // of the diagonal of H: drifts that contradict each other are undone as well as they can be

// ---------------------------------------------------------------------------- offsets

static double start_offset(const ItmRow* row, const ItmRowStep* step)
{
    return (step->h * row->bias_share - step->ahead) * row->bias - row->reference;
}

// The gap of which a step may use up what is open; that of rounding is none.
static double get_gap(const ItmRow* row)
{
    return itm_row_is_rigid(row) && row->gap > 0.0 ? itm_row_get_open(row) : row->gap;
}

double itm_row_compute_offset(const ItmRow* row, const ItmRowStep* step)
{
    double offset = start_offset(row, step), h = step->h, K = row->stiffness, D = row->damping;
    if (row->has_target) {
        return offset + row->gap / h;
    }
    if (!itm_row_is_unilateral(row)) {
        return offset;
    }
    bool is_rigid = itm_row_is_rigid(row);
    if (step->feeds_gaps_back && is_rigid) {
        return offset + itm_row_feed_gap(row->gap, h, row->gap < 0.0 ? step->feed_time : 0.0);
    }
    double gap = get_gap(row);
    double gamma = gap > 0.0 ? 1.0 : is_rigid ? 0.0 : h * K / (h * K + D);
    return offset + gamma * gap / h;
}

// A v+ >= -e A v
static double bounce_offset(const ItmRow* row, const ItmRowStep* step)
{
    return start_offset(row, step) + row->restitution * row->rate;
}

// Rate at which the gap goes over the step, where bounces are placed, A v being w at its end.
static double compute_way(const ItmRow* row, const ItmRowStep* step, double w)
{
    return (step->uses_mean ? 0.5 * (row->rate + w) : w) + start_offset(row, step);
}

void itm_row_let_bounce(ItmRow* row, const ItmRowStep* step, double w_free)
{
    row->is_bouncing = false;
    if (!(row->restitution > 0.0) || !itm_row_is_unilateral(row) || !(row->rate < -step->restitution_speed)) {
        return;
    }
    // closing as the row without bounce sees it, or that would brake before the bounce
    row->is_bouncing = get_gap(row) + step->h * (step->places_hits ? compute_way(row, step, w_free) : w_free) <= 0.0;
    if (row->is_bouncing) {
        row->offset = bounce_offset(row, step);
    } else if (step->places_hits && step->uses_mean) {
        row->offset = 2.0 * (start_offset(row, step) + get_gap(row) / step->h) + row->rate;  // nor does the mean
    }
}

// When in the step the rates after it are those of the bodies.
static double get_place(const ItmRowStep* step)
{
    return step->uses_mean ? step->h : 0.5 * step->h;
}

double itm_row_compute_rate(const ItmRow* row, const ItmRowStep* step, double w_free, double s)
{
    return w_free + (s - get_place(step)) * (w_free - row->rate_mid) / step->since;
}

double itm_row_find_hit(const ItmRow* row, const ItmRowStep* step, double w_free)
{
    double gap = get_gap(row), h = step->h, r = itm_row_compute_rate(row, step, w_free, 0.0);
    double mean = compute_way(row, step, w_free), a = 2.0 * (mean - r) / h;
    if (gap + h * mean > 0.0) {
        return INFINITY;
    }
    return gap > 0.0 ? fmin(h, 2.0 * row->gap / (sqrt(fmax(0.0, r * r - 2.0 * a * row->gap)) - r)) : 0.0;
}

// ---------------------------------------------------------------------------- solving

void itm_row_lay_out(ItmRowProblem* p, ItmArena* arena, int n)
{
    double** reals[] = {&p->v_free, &p->lo, &p->up, &p->x, &p->v, &p->b, &p->w, &p->before, &p->x_other, &p->v_other};
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        *reals[i] = ITM_TAKE(arena, double, n);
    }
    p->state = ITM_TAKE(arena, signed char, n);
}

double itm_row_find_contradiction(const ItmRowProblem* p, double h)
{
    double most = 0.0;
    for (int i = 0; i < p->n; i++) {
        const ItmRow* row = itm_row_get(p, i);
        bool is_contact = row->kind >= ITM_BOUND_NORMAL && row->kind <= ITM_BOUND_ROLLING;
        most = is_contact ? fmax(most, h * row->bias_share * fabs(row->bias)) : most;
    }
    return most;
}

// One MLCP: w = H x + v_free + offset, and the velocities behind it, v = w - offset - Omega x.
static ItmStatus solve(const ItmRowProblem* p, ItmMlcpWorkspace* workspace, const ItmMlcpOptions* options,
                       ItmRowSolves* solves, ItmError* error)
{
    ItmMlcpProblem problem = {.n = p->n,
                              .H = p->H,
                              .b = p->b,
                              .lo = p->lo,
                              .up = p->up,
                              .is_symmetric = true,
                              .ncontact = p->ncoupling,
                              .contacts = p->couplings,
                              .w_before = p->before,
                              .contradiction = p->contradiction,
                              .slip_is_known = p->slip_is_known};
    for (int i = 0; i < p->n; i++) {
        const ItmRow* row = itm_row_get(p, i);
        p->before[i] = row->rate;
        p->b[i] = p->v_free[i] + row->offset;
    }
    ItmMlcpResult result = {.x = p->x, .w = p->w, .state = p->state};
    ItmStatus status = itm_mlcp_solve(workspace, &result, &problem, options, error);
    for (int i = 0; i < p->n && status == ITM_OK; i++) {
        const ItmRow* row = itm_row_get(p, i);
        p->v[i] = p->w[i] - row->offset - row->omega * p->x[i];
    }
    if (status == ITM_OK) {
        solves->info[solves->n++] = result.info;
    }
    return status;
}

// Work of the impulses x with the mean of the row velocities before and after the step, x . (w + v) / 2: what the energy balance takes
// from dry friction and impact. Kinetic energy changes by it and by the work of the forces along the mean velocity, so bounces that keep
// it at 0 come up as high as they fell. Motors, which may add energy, do not count. size: the sum without cancellation.
static double work_of(const ItmRowProblem* p, const double* x, const double* v, double* size)
{
    double sum = 0.0;
    *size = 0.0;
    for (int i = 0; i < p->n; i++) {
        const ItmRow* row = itm_row_get(p, i);
        if (row->kind != ITM_BOUND_MOTOR) {
            sum += 0.5 * x[i] * (row->rate + v[i]);
            *size += 0.5 * fabs(x[i]) * (fabs(row->rate) + fabs(v[i]));
        }
    }
    return sum;
}

// dx . dv / 2 of the two solutions, motors left out.
static double curvature_of(const ItmRowProblem* p)
{
    double sum = 0.0;
    for (int i = 0; i < p->n; i++) {
        bool counts = itm_row_get(p, i)->kind != ITM_BOUND_MOTOR;
        sum += counts ? 0.5 * (p->x_other[i] - p->x[i]) * (p->v_other[i] - p->v[i]) : 0.0;
    }
    return sum;
}

// How far to go from a solution without bounces to one with them, 0 .. 1, where impulses do the work `without` and `with`, half the
// product of the changes of impulses and rates is `curvature` (not negative), and the work must not exceed `allowed` >= `without`:
// without + t slope + t^2 curvature = allowed, the larger root.
static double share_bounce(double without, double with, double curvature, double allowed)
{
    double slope = with - without - curvature, room = fmax(0.0, allowed - without);
    double root = sqrt(fmax(0.0, slope * slope + 4.0 * curvature * room));
    double share = slope > 0.0       ? 2.0 * room / (slope + root)
                   : curvature > 0.0 ? (root - slope) / (2.0 * curvature)
                                     : 1.0;
    return fmin(share, 1.0);
}

static bool has_bounce(const ItmRowProblem* p)
{
    for (int i = 0; i < p->n; i++) {
        if (itm_row_get(p, i)->is_bouncing) {
            return true;
        }
    }
    return false;
}

// Friction of rows that bounce goes to the end of the list. Returns how much there is of the others.
static int part_couplings(const ItmRowProblem* p)
{
    int n = 0;
    for (int k = 0; k < p->ncoupling; k++) {
        ItmMlcpContact coupling = p->couplings[k];
        if (!itm_row_get(p, coupling.normal)->is_bouncing) {
            p->couplings[k] = p->couplings[n];
            p->couplings[n++] = coupling;
        }
    }
    return n;
}

// Bounds of the rows that bounce and of their friction, from coupling n on: those of the rows, or none but zero.
static void bound_hits(const ItmRowProblem* p, int n, bool is_in)
{
    for (int i = 0; i < p->n; i++) {
        const ItmRow* row = itm_row_get(p, i);
        if (row->is_bouncing) {
            p->lo[i] = is_in ? row->lo : 0.0;
            p->up[i] = is_in ? row->up : 0.0;
            p->x[i] = 0.0;
            p->state[i] = is_in ? ITM_ROW_ACTIVE : ITM_ROW_LO;
        }
    }
    for (int k = 2 * n; k < 2 * p->ncoupling; k++) {
        int i = p->couplings[k / 2].tangent[k % 2];
        if (i != ITM_NONE) {
            p->lo[i] = is_in ? itm_row_get(p, i)->lo : 0.0;
            p->up[i] = is_in ? itm_row_get(p, i)->up : 0.0;
            p->x[i] = 0.0;
        }
    }
}

// The step without the rows that bounce: impulses x0 and rates w0 into x_other and v_other.
static ItmStatus solve_without_hits(const ItmRowProblem* p, ItmMlcpWorkspace* workspace, const ItmMlcpOptions* options,
                                    ItmRowSolves* solves, ItmError* error)
{
    ItmRowProblem others = *p;
    others.ncoupling = part_couplings(p);
    bound_hits(p, others.ncoupling, false);
    ItmStatus status = solve(&others, workspace, options, solves, error);
    memcpy(p->x_other, p->x, sizeof(double) * (size_t)p->n);
    memcpy(p->v_other, p->v, sizeof(double) * (size_t)p->n);
    bound_hits(p, others.ncoupling, true);
    return status;
}

// When the first of the rows that bounce closes, and the offsets of all of them for a bounce at that time. INFINITY: one does not close, or
// would close again in the same step.
static double place_hits(const ItmRowProblem* p, const ItmRowStep* step)
{
    double s = INFINITY, latest = 0.0;
    for (int i = 0; i < p->n; i++) {
        const ItmRow* row = itm_row_get(p, i);
        if (row->is_bouncing) {
            double time = itm_row_find_hit(row, step, p->v_other[i]);
            s = fmin(s, time);
            latest = fmax(latest, time);
        }
    }
    for (int i = 0; i < p->n && latest < INFINITY; i++) {
        ItmRow* row = itm_row_get(p, i);
        if (row->is_bouncing) {
            double change = -(1.0 + row->restitution) * itm_row_compute_rate(row, step, p->v_other[i], s);
            double end = get_gap(row) + step->h * compute_way(row, step, p->v_other[i]) + (step->h - s) * change;
            row->offset = -p->v_other[i] - change;
            latest = end < -ITM_ROW_SLOP ? INFINITY : latest;
        }
    }
    return latest < INFINITY ? s : INFINITY;
}

// Work of the impacts at time s, motors left out; size: the sum without cancellation.
static double impact_of(const ItmRowProblem* p, const ItmRowStep* step, double s, double* size)
{
    double sum = 0.0;
    *size = 0.0;
    for (int i = 0; i < p->n; i++) {
        const ItmRow* row = itm_row_get(p, i);
        double c = itm_row_compute_rate(row, step, p->v_other[i], s), dx = p->x[i] - p->x_other[i];
        double dw = p->v[i] - p->v_other[i];
        if (row->kind != ITM_BOUND_MOTOR) {
            sum += dx * (c + 0.5 * dw);
            *size += fabs(dx) * (fabs(c) + 0.5 * fabs(dw));
        }
    }
    return sum;
}

// Where and with which works the impulses act late, c being the rates of w0 at time s and k the share of w0 - rate in c - (rate + w0) / 2:
//   x0 ((rate + w1) / 2 - k (w1 - w0)) + (x1 - x0) (c + (w1 - w0) / 2)
// Those of x0 act evenly, also along what the impacts add to the way.
static void note_hits(const ItmRowProblem* p, const ItmRowStep* step, double s)
{
    double k = 0.5 + (s - get_place(step)) / step->since;
    for (int i = 0; i < p->n; i++) {
        ItmRow* row = itm_row_get(p, i);
        double w0 = p->v_other[i], dx = p->x[i] - p->x_other[i], dw = p->v[i] - w0;
        double c = itm_row_compute_rate(row, step, w0, s);
        row->hit = dx;
        row->late = s * dx;
        row->late_work = dx * (c - 0.5 * (row->rate + w0)) - k * p->x_other[i] * dw;
    }
}

// Bounces at the time of the first hit. False: not possible, or not without adding energy.
static bool solve_hits(const ItmRowProblem* p, ItmMlcpWorkspace* workspace, const ItmMlcpOptions* options,
                       const ItmRowStep* step, ItmRowSolves* solves, ItmError* error)
{
    for (int i = 0; i < p->n; i++) {
        const ItmRow* row = itm_row_get(p, i);
        if (itm_row_is_unilateral(row) && !itm_row_is_rigid(row)) {
            return false;
        }
    }
    if (solve_without_hits(p, workspace, options, solves, error) != ITM_OK) {
        return false;
    }
    double size, s = place_hits(p, step);
    if (!(s < INFINITY) || solve(p, workspace, options, solves, error) != ITM_OK) {
        return false;
    }
    bool is_lossy = impact_of(p, step, s, &size) <= options->tolerance * size;
    if (is_lossy) {
        note_hits(p, step, s);
    }
    return is_lossy;
}

static ItmStatus solve_at_start(const ItmRowProblem* p, ItmMlcpWorkspace* workspace, const ItmMlcpOptions* options,
                                const ItmRowStep* step, ItmRowSolves* solves, ItmError* error)
{
    solves->n = 0;
    ItmStatus status = solve(p, workspace, options, solves, error);
    if (status != ITM_OK || !has_bounce(p)) {
        return status;
    }
    // what the tolerance of the solver does to the work is let pass: perfect bounces do none
    double size, size0, with = work_of(p, p->x, p->v, &size), allowed = options->tolerance * size;
    if (with <= allowed) {
        return ITM_OK;
    }
    solves->is_limited = true;
    memcpy(p->x_other, p->x, sizeof(double) * (size_t)p->n);
    memcpy(p->v_other, p->v, sizeof(double) * (size_t)p->n);
    for (int i = 0; i < p->n; i++) {
        ItmRow* row = itm_row_get(p, i);
        row->offset = itm_row_compute_offset(row, step);
    }
    status = solve(p, workspace, options, solves, error);
    // both are admissible, and so is everything between, the admissible set being convex
    double without = work_of(p, p->x, p->v, &size0);
    double share = share_bounce(without, with, curvature_of(p), fmax(allowed, without));
    for (int i = 0; i < p->n && status == ITM_OK; i++) {
        p->x[i] += share * (p->x_other[i] - p->x[i]);
        p->v[i] += share * (p->v_other[i] - p->v[i]);
    }
    return status;
}

ItmStatus itm_row_solve(const ItmRowProblem* p, ItmMlcpWorkspace* workspace, const ItmMlcpOptions* options,
                        const ItmRowStep* step, ItmRowSolves* solves, ItmError* error)
{
    *solves = (ItmRowSolves){0};
    if (step->places_hits && has_bounce(p)) {
        if (solve_hits(p, workspace, options, step, solves, error)) {
            return ITM_OK;
        }
        for (int i = 0; i < p->n; i++) {
            ItmRow* row = itm_row_get(p, i);
            row->offset = row->is_bouncing ? bounce_offset(row, step) : row->offset;
        }
    }
    return solve_at_start(p, workspace, options, step, solves, error);
}

// ---------------------------------------------------------------------------- position correction

bool itm_row_is_off(const ItmRow* row, double gap, bool is_at_rest)
{
    double off = row->is_held ? fabs(gap) : -gap;
    return off > (is_at_rest ? RESTING_BAND : ITM_ROW_SLOP);
}

double itm_row_limit_gap(double gap)
{
    return fmax(gap, -MOST_CORRECTION);
}

ItmStatus itm_row_correct(const ItmRowProblem* p, ItmMlcpWorkspace* workspace, double effort, const double* drift,
                          int* list, double* S, int* count, ItmRowSolves* solves, ItmError* error)
{
    bool is_any = false;
    int n = 0;
    solves->n = 0;
    for (int i = 0; i < p->n; i++) {
        const ItmRow* row = itm_row_get(p, i);
        if (itm_row_is_corrected(row)) {
            double gap = row->gap + (drift != NULL ? drift[i] : 0.0);
            is_any = is_any || itm_row_is_off(row, gap, row->is_at_rest);
            list[n++] = i;
        }
    }
    *count = is_any ? n : 0;
    bool is_copied = S != p->H || n < p->n;  // otherwise all rows stay where they are
    for (int k = 0; k < *count; k++) {
        const ItmRow* row = itm_row_get(p, list[k]);
        const double* H = p->H + (size_t)list[k] * (size_t)p->n;
        for (int l = 0; l < n && is_copied; l++) {
            S[(size_t)k * (size_t)n + (size_t)l] = H[list[l]];
        }
        S[(size_t)k * (size_t)(n + 1)] *= row->is_held ? 1.0 + SOFT : 1.0;
        p->b[k] = itm_row_limit_gap(row->gap + (drift != NULL ? drift[list[k]] : 0.0));
        p->lo[k] = row->is_held ? -INFINITY : 0.0;
        p->up[k] = INFINITY;
        // rows that penetrate or touch are expected to push: close to the solution, without the sweeps of a cold start
        p->x[k] = 0.0;
        p->state[k] = row->is_held || p->b[k] < ITM_ROW_SLOP ? ITM_ROW_ACTIVE : ITM_ROW_LO;
    }
    if (*count == 0) {
        return ITM_OK;
    }
    ItmMlcpProblem problem = {.n = n, .H = S, .b = p->b, .lo = p->lo, .up = p->up, .is_symmetric = true};
    ItmMlcpOptions options = itm_default_mlcp_options();
    options.effort = effort;
    options.warm_start = true;
    ItmMlcpResult result = {.x = p->x, .w = p->w, .state = p->state};
    ItmStatus status = itm_mlcp_solve(workspace, &result, &problem, &options, error);
    if (status == ITM_OK) {
        solves->info[solves->n++] = result.info;
    }
    return status;
}
