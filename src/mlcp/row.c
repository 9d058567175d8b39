#include "mlcp/row.h"

#include "mlcp/impacts.h"

#include <string.h>

#define MOST_CORRECTION 0.01  // m, rad: penetration undone in one step, at most
#define RESTING_BAND 5e-7     // m: half of the penetration that is promised
#define SOFT 1e-4  // of the diagonal of H: drifts that contradict each other are undone as well as they can be

// ---------------------------------------------------------------------------- offsets

static double start_offset(const ItmRow* row, const ItmRowStep* step)
{
    return (step->h * row->bias_share - step->ahead) * row->bias - row->reference;
}

double itm_row_get_gap(const ItmRow* row)
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
    double gap = itm_row_get_gap(row);
    double gamma = gap > 0.0 ? 1.0 : is_rigid ? 0.0 : h * K / (h * K + D);
    return offset + gamma * gap / h;
}

// A v+ >= -e A v
static double bounce_offset(const ItmRow* row, const ItmRowStep* step)
{
    return start_offset(row, step) + row->restitution * row->rate;
}

double itm_row_compute_way(const ItmRow* row, const ItmRowStep* step, double w)
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
    row->is_bouncing =
        itm_row_get_gap(row) + step->h * (step->places_hits ? itm_row_compute_way(row, step, w_free) : w_free) <= 0.0;
    if (row->is_bouncing) {
        row->offset = bounce_offset(row, step);
    } else if (step->places_hits && step->uses_mean) {
        row->offset =
            2.0 * (start_offset(row, step) + itm_row_get_gap(row) / step->h) + row->rate;  // nor does the mean
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

double itm_row_compute_share(const ItmRowStep* step, double s)
{
    return 0.5 + (s - get_place(step)) / step->since;
}

// ---------------------------------------------------------------------------- solving

void itm_row_lay_out(ItmRowProblem* p, ItmArena* arena, int n)
{
    double** reals[] = {&p->v_free, &p->lo,     &p->up,       &p->x,        &p->v,       &p->b,
                        &p->w,      &p->before, &p->x_other,  &p->v_other,  &p->v_start, &p->offset,
                        &p->x_last, &p->v_last, &p->x_bounce, &p->v_bounce, &p->way};
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        *reals[i] = ITM_TAKE(arena, double, n);
    }
    p->state = ITM_TAKE(arena, signed char, n);
    p->part = ITM_TAKE(arena, signed char, n);
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

// What a solve took beside those before.
static void note_solve(ItmRowSolves* solves, const ItmMlcpInfo* info)
{
    ItmMlcpInfo* last = &solves->info[1];
    if (solves->n < 2) {
        solves->info[solves->n++] = *info;
        return;
    }
    bool is_worse =
        info->outcome > last->outcome || (info->outcome == last->outcome && info->residual > last->residual);
    int iterations = last->iterations + info->iterations;
    *last = is_worse ? *info : *last;
    last->iterations = iterations;
}

ItmStatus itm_row_solve_once(const ItmRowProblem* p, ItmMlcpWorkspace* workspace, const ItmMlcpOptions* options,
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
        note_solve(solves, &result.info);
    }
    return status;
}

double itm_row_compute_loss(const ItmRow* row, const ItmRowStep* step, double work, double closing)
{
    bool should_bounce = itm_row_is_unilateral(row) && itm_row_is_rigid(row) && closing < -step->restitution_speed;
    return should_bounce ? row->restitution * row->restitution * fmax(0.0, -work) : 0.0;
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

double itm_row_share_bounce(double without, double with, double curvature, double allowed)
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

// Energy that open rows took which should have bounced, had they not been kept from closing by the end of the step.
static double sum_losses(const ItmRowProblem* p, const ItmRowStep* step)
{
    double sum = 0.0;
    for (int i = 0; i < p->n; i++) {
        const ItmRow* row = itm_row_get(p, i);
        if (row->restitution > 0.0 && !row->is_bouncing && !row->is_held && itm_row_get_gap(row) > 0.0) {
            double closing = p->v[i] - p->H[(size_t)i * (size_t)(p->n + 1)] * p->x[i];
            sum += itm_row_compute_loss(row, step, 0.5 * p->x[i] * (row->rate + p->v[i]), closing);
        }
    }
    return sum;
}

static ItmStatus solve_at_start(const ItmRowProblem* p, ItmMlcpWorkspace* workspace, const ItmMlcpOptions* options,
                                const ItmRowStep* step, ItmRowSolves* solves, ItmError* error)
{
    solves->n = 0;
    ItmStatus status = itm_row_solve_once(p, workspace, options, solves, error);
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
    status = itm_row_solve_once(p, workspace, options, solves, error);
    // both are admissible, and so is everything between, the admissible set being convex
    double without = work_of(p, p->x, p->v, &size0);
    double share = itm_row_share_bounce(without, with, curvature_of(p), fmax(allowed, without));
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
    bool is_any = has_bounce(p);
    if (step->places_hits && is_any) {
        if (itm_impacts_solve(p, workspace, options, step, solves, error)) {
            return ITM_OK;
        }
        for (int i = 0; i < p->n; i++) {
            ItmRow* row = itm_row_get(p, i);
            row->offset = row->is_bouncing ? bounce_offset(row, step) : row->offset;
        }
    }
    ItmStatus status = solve_at_start(p, workspace, options, step, solves, error);
    solves->lost = status == ITM_OK && is_any ? sum_losses(p, step) : 0.0;
    return status;
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
    *solves = (ItmRowSolves){0};
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
