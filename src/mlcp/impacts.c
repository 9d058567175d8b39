// Impacts within a step, one after the other                                              [docs/theory.md, restitution]
//
// x0 and w0 are impulses and rates of the step without the rows that may bounce. Between impacts, the rate and the gap of a row are
//   c(s) = c0(s) + V,   Phi(s) = Phi + r s + a s^2 / 2 + s V - G,   V = sum dw_k,   G = sum s_k dw_k
// where impact k at time s_k changes impulses by dx_k and rates by dw_k = H dx_k. The next impact is where the first gap closes. Rows that
// close there bounce, those that carry load or have friction take part, those that are open do not:
//   dw >= -(1 + e) c   rows that bounce, dx >= 0          dw = 0, dx = 0      rows that are open
//   Phi(h) >= 0        rows without restitution that are open                 as in the table elsewhere
// An impact that would add energy is taken back towards one without rebound.
#include "mlcp/impacts.h"

#include <string.h>

#define MOST_IMPACTS 256    // in a step, and
#define IMPACT_WORK 150000  //   impacts * rows^2: then all rows that close in the rest of the step bounce at once
#define SHORTEST 1e-6       // of the step: what is left of it for gaps that are closed without rebound
#define ROUNDING 1e-12      // m, rad: gaps that are none

// What a row does in an impact: it has the impulses of forces too, it has none, it bounces, or it is kept from closing by the end of the step.
// Friction does as the normal of its contact.
enum { SUSTAINED, OPEN, HIT, BRAKED };

typedef struct Impacts {
    const ItmRowProblem* p;
    const ItmRowStep* step;
    ItmMlcpWorkspace* workspace;
    const ItmMlcpOptions* options;
    ItmRowSolves* solves;
    ItmError* error;
} Impacts;

// ---------------------------------------------------------------------------- motion between impacts

// V
static double get_change(const ItmRowProblem* p, int i)
{
    return p->v_last[i] - p->v_other[i];
}

// c(s)
static double compute_rate(const Impacts* z, int i, double s)
{
    const ItmRowProblem* p = z->p;
    return itm_row_compute_rate(itm_row_get(p, i), z->step, p->v_other[i], s) + get_change(p, i);
}

// Phi(s); rate and curve: its derivatives.
static double compute_gap(const Impacts* z, int i, double s, double* rate, double* curve)
{
    const ItmRowProblem* p = z->p;
    const ItmRow* row = itm_row_get(p, i);
    double r = itm_row_compute_rate(row, z->step, p->v_other[i], 0.0), V = get_change(p, i);
    *curve = 2.0 * (itm_row_compute_way(row, z->step, p->v_other[i]) - r) / z->step->h;
    *rate = r + *curve * s + V;
    double gap = itm_row_get_gap(row) > 0.0 ? row->gap : itm_row_get_gap(row);
    return gap + (r + V + 0.5 * *curve * s) * s - p->way[i];
}

// Phi(h), if no more impacts come
static double compute_end(const Impacts* z, int i)
{
    double rate, curve;
    return compute_gap(z, i, z->step->h, &rate, &curve);
}

// When row i closes, at `from` or after; INFINITY: not in this step.
static double find_closing(const Impacts* z, int i, double from)
{
    double c, a, gap = fmax(0.0, compute_gap(z, i, from, &c, &a)), left = z->step->h - from;
    if (gap <= ROUNDING && c < 0.0) {
        return from;
    }
    double square = c * c - 2.0 * a * gap;
    if (!(square >= 0.0) || (c >= 0.0 && a >= 0.0)) {
        return INFINITY;
    }
    // the first root after `from`; where c > 0 it comes back
    double root = sqrt(square), time = c < 0.0 ? 2.0 * gap / (root - c) : -(c + root) / a;
    return time <= left ? from + time : INFINITY;
}

// ---------------------------------------------------------------------------- parts of rows

static bool may_bounce(const ItmRow* row)
{
    return itm_row_is_unilateral(row) && row->restitution > 0.0 &&
           (row->is_bouncing || (!row->is_held && itm_row_get_gap(row) > 0.0));
}

// Friction takes the part of its normal. That of open ones goes to the end of the list; returns how much there is of the others.
static int part_couplings(const ItmRowProblem* p)
{
    int n = 0;
    for (int k = 0; k < p->ncoupling; k++) {
        ItmMlcpContact coupling = p->couplings[k];
        for (int l = 0; l < 2; l++) {
            if (coupling.tangent[l] != ITM_NONE) {
                p->part[coupling.tangent[l]] = p->part[coupling.normal];
            }
        }
        if (p->part[coupling.normal] != OPEN) {
            p->couplings[k] = p->couplings[n];
            p->couplings[n++] = coupling;
        }
    }
    return n;
}

// Bounds and starting points: totals of rows that are sustained, of the others what is added to their impulses, nothing where they are open.
static void bound_rows(const ItmRowProblem* p)
{
    for (int i = 0; i < p->n; i++) {
        const ItmRow* row = itm_row_get(p, i);
        if (p->part[i] != SUSTAINED) {
            p->lo[i] = p->part[i] != OPEN ? row->lo : 0.0;
            p->up[i] = p->part[i] != OPEN ? row->up : 0.0;
            p->x[i] = 0.0;
            p->state[i] = p->part[i] == HIT && itm_row_is_unilateral(row) ? ITM_ROW_ACTIVE : ITM_ROW_LO;
        }
    }
}

// ---------------------------------------------------------------------------- one impact

// Rates without what the impact changes: v_free and the impulses so far of rows that are not sustained.
static void set_free_rates(const ItmRowProblem* p)
{
    memcpy(p->v_free, p->v_start, sizeof(double) * (size_t)p->n);
    for (int j = 0; j < p->n; j++) {
        if (p->part[j] == SUSTAINED || p->x_last[j] == 0.0) {
            continue;
        }
        const double* H = p->H + (size_t)j * (size_t)p->n;
        for (int i = 0; i < p->n; i++) {
            p->v_free[i] += H[i] * p->x_last[j];
        }
    }
}

// Whether the row only has to be open at the end of the step.
static bool is_kept_open(const ItmRowProblem* p, int i)
{
    const ItmRow* row = itm_row_get(p, i);
    return itm_row_is_unilateral(row) &&
           (p->part[i] == BRAKED || (p->part[i] == SUSTAINED && itm_row_get_gap(row) > 0.0));
}

// Offsets of an impact at time s. share: of the restitution, 1, or 0 for an impact without rebound.
static void set_offsets(const Impacts* z, double s, double share)
{
    const ItmRowProblem* p = z->p;
    double left = fmax(z->step->h - s, SHORTEST * z->step->h);
    for (int i = 0; i < p->n; i++) {
        ItmRow* row = itm_row_get(p, i);
        row->offset = p->offset[i];
        if (p->part[i] == HIT && itm_row_is_unilateral(row)) {
            row->offset = (1.0 + share * row->restitution) * compute_rate(z, i, s) - p->v_last[i];
        } else if (is_kept_open(p, i)) {
            // stopped, but not thrown back where little is left of the step
            double least = fmin(0.0, fmin(compute_rate(z, i, s), compute_rate(z, i, z->step->h)));
            row->offset = fmax(compute_end(z, i) / left, least) - p->v_last[i];
        }
    }
}

// What the impact has added to impulse i.
static double get_added(const ItmRowProblem* p, const double* x, int i)
{
    return p->part[i] == SUSTAINED ? x[i] - p->x_last[i] : x[i];
}

// Work of the impact at time s, motors left out; size: the sum without cancellation.
static double work_of(const Impacts* z, double s, double* size)
{
    const ItmRowProblem* p = z->p;
    double sum = 0.0;
    *size = 0.0;
    for (int i = 0; i < p->n; i++) {
        double dx = get_added(p, p->x, i), c = compute_rate(z, i, s), dw = p->v[i] - p->v_last[i];
        if (itm_row_get(p, i)->kind != ITM_BOUND_MOTOR) {
            sum += dx * (c + 0.5 * dw);
            *size += fabs(dx) * (fabs(c) + 0.5 * fabs(dw));
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
        sum += counts ? 0.5 * (p->x_bounce[i] - p->x[i]) * (p->v_bounce[i] - p->v[i]) : 0.0;
    }
    return sum;
}

static bool solve_with(const Impacts* z, int ncoupling, double s, double share)
{
    ItmRowProblem q = *z->p;
    q.ncoupling = ncoupling;
    bound_rows(&q);
    set_offsets(z, s, share);
    return itm_row_solve_once(&q, z->workspace, z->options, z->solves, z->error) == ITM_OK;
}

// Impulses and rates of the impact at time s into p->x and p->v.
static bool solve_impact(const Impacts* z, double s)
{
    const ItmRowProblem* p = z->p;
    size_t size = sizeof(double) * (size_t)p->n;
    int ncoupling = part_couplings(p);
    double terms;
    set_free_rates(p);
    if (!solve_with(z, ncoupling, s, 1.0)) {
        return false;
    }
    double with = work_of(z, s, &terms), allowed = z->options->tolerance * terms;
    if (with <= allowed) {
        return true;
    }
    z->solves->is_limited = true;
    memcpy(p->x_bounce, p->x, size);
    memcpy(p->v_bounce, p->v, size);
    if (!solve_with(z, ncoupling, s, 0.0)) {
        return false;
    }
    double without = work_of(z, s, &terms);
    double share = itm_row_share_bounce(without, with, curvature_of(p), fmax(allowed, without));
    for (int i = 0; i < p->n; i++) {
        p->x[i] += share * (p->x_bounce[i] - p->x[i]);
        p->v[i] += share * (p->v_bounce[i] - p->v[i]);
    }
    return true;
}

// Where and with which works the impulses of the impact act. Those of x0 act evenly, also along what the impact adds to the way.
static void take_impact(const Impacts* z, double s)
{
    const ItmRowProblem* p = z->p;
    double k = itm_row_compute_share(z->step, s);
    for (int i = 0; i < p->n; i++) {
        ItmRow* row = itm_row_get(p, i);
        double dx = get_added(p, p->x, i), dw = p->v[i] - p->v_last[i], c = compute_rate(z, i, s);
        if (p->part[i] == BRAKED) {
            double mobility = p->H[(size_t)i * (size_t)(p->n + 1)];
            z->solves->lost += itm_row_compute_loss(row, z->step, dx * (c + 0.5 * dw), c + dw - mobility * dx);
        }
        row->hit += dx;
        row->late += s * dx;
        row->late_work += dx * (c + 0.5 * dw) + (0.5 - k) * p->x_other[i] * dw;
    }
    for (int i = 0; i < p->n; i++) {
        p->x_last[i] += get_added(p, p->x, i);
        p->way[i] += s * (p->v[i] - p->v_last[i]);
    }
    memcpy(p->v_last, p->v, sizeof(double) * (size_t)p->n);
}

// ---------------------------------------------------------------------------- which rows

// When the next open row closes, at `from` or after, and which one.
static double find_next(const Impacts* z, double from, int* first)
{
    double next = INFINITY;
    for (int i = 0; i < z->p->n; i++) {
        if (z->p->part[i] == OPEN && itm_row_is_unilateral(itm_row_get(z->p, i))) {
            double time = find_closing(z, i, from);
            *first = time < next ? i : *first;
            next = fmin(next, time);
        }
    }
    return next;
}

// Whether a row bounces in the impact at time s: it closes then or touches, or it belongs to a pair of bodies of which another row does and
// closes later in the step: a face that lands. In the last impact, all that close do.
static bool is_part(const Impacts* z, int i, double s, bool is_last)
{
    double time = find_closing(z, i, s), rate, curve;
    if (time <= s || (compute_gap(z, i, s, &rate, &curve) <= ITM_ROW_SLOP && rate <= ITM_ROW_AT_REST)) {
        return true;
    }
    bool is_pair = is_last;
    for (int j = 0; j < z->p->n && !is_pair && time < INFINITY; j++) {
        is_pair = z->p->part[j] == HIT && itm_row_get(z->p, j)->pair == itm_row_get(z->p, i)->pair;
    }
    return is_pair && time < INFINITY;
}

// Parts in the impact at time s, whose first row is `first`. What closes too slowly to bounce is kept from closing from now on. In the
// last impact so are all rows that do not bounce.
static void choose_parts(const Impacts* z, double s, int first, bool is_last)
{
    const ItmRowProblem* p = z->p;
    double least = -z->step->restitution_speed;
    p->part[first] = compute_rate(z, first, s) < least ? HIT : BRAKED;
    for (int i = 0; i < p->n; i++) {
        if (p->part[i] != OPEN || !itm_row_is_unilateral(itm_row_get(p, i))) {
            continue;
        }
        if (is_part(z, i, s, is_last)) {
            p->part[i] = compute_rate(z, i, s) < least ? HIT : BRAKED;
        } else if (is_last) {
            p->part[i] = BRAKED;
        }
    }
}

// Rows that have bounced are open; so are those that impacts have parted.
static void let_go(const ItmRowProblem* p)
{
    for (int i = 0; i < p->n; i++) {
        const ItmRow* row = itm_row_get(p, i);
        bool is_free = itm_row_is_unilateral(row) && row->restitution > 0.0 && !row->is_held;
        bool has_parted = is_free && p->v_last[i] > ITM_ROW_AT_REST &&
                          (p->part[i] == BRAKED || (p->part[i] == SUSTAINED && p->x_last[i] <= 0.0));
        p->part[i] = p->part[i] == HIT || has_parted ? OPEN : p->part[i];
    }
}

// ---------------------------------------------------------------------------- the step

// x0 and w0: the step without rows that may bounce.
static bool start(const Impacts* z)
{
    const ItmRowProblem* p = z->p;
    size_t size = sizeof(double) * (size_t)p->n;
    memcpy(p->v_start, p->v_free, size);
    for (int i = 0; i < p->n; i++) {
        const ItmRow* row = itm_row_get(p, i);
        p->offset[i] = row->offset;
        p->way[i] = 0.0;
        p->part[i] = may_bounce(row) ? OPEN : SUSTAINED;
    }
    ItmRowProblem q = *p;
    q.ncoupling = part_couplings(p);
    bound_rows(&q);
    bool is_solved = itm_row_solve_once(&q, z->workspace, z->options, z->solves, z->error) == ITM_OK;
    memcpy(p->x_other, p->x, size);
    memcpy(p->v_other, p->v, size);
    memcpy(p->x_last, p->x, size);
    memcpy(p->v_last, p->v, size);
    return is_solved;
}

static bool follow(const Impacts* z)
{
    const ItmRowProblem* p = z->p;
    double room = IMPACT_WORK / ((double)p->n * p->n), s = 0.0;
    int most = room < MOST_IMPACTS ? (int)room : MOST_IMPACTS, first = ITM_NONE;
    most = most > 1 ? most : 1;
    let_go(p);
    for (int count = 1; (s = find_next(z, s, &first)) < INFINITY; count++) {
        choose_parts(z, s, first, count == most);
        if (!solve_impact(z, s)) {
            return false;
        }
        take_impact(z, s);
        if (count == most) {
            break;
        }
        let_go(p);
    }
    return true;
}

// Impulses, rates and states of the whole step. Work is that of x0 along the way and that of the impacts, beside what
// x (rate + A v+) / 2 has of it.
static void finish(const ItmRowProblem* p)
{
    memcpy(p->x, p->x_last, sizeof(double) * (size_t)p->n);
    memcpy(p->v, p->v_last, sizeof(double) * (size_t)p->n);
    for (int i = 0; i < p->n; i++) {
        ItmRow* row = itm_row_get(p, i);
        row->late_work += 0.5 * (p->x_other[i] * (row->rate + p->v_other[i]) - p->x[i] * (row->rate + p->v[i]));
        if (p->part[i] != SUSTAINED) {
            p->state[i] = p->x[i] != 0.0 ? ITM_ROW_ACTIVE : ITM_ROW_LO;
        }
        row->is_bouncing = row->is_bouncing || (p->part[i] == OPEN && itm_row_is_unilateral(row) && p->x[i] > 0.0);
    }
}

static void restore(const ItmRowProblem* p)
{
    memcpy(p->v_free, p->v_start, sizeof(double) * (size_t)p->n);
    for (int i = 0; i < p->n; i++) {
        ItmRow* row = itm_row_get(p, i);
        row->offset = p->offset[i];
        bool is_bounded = itm_row_is_unilateral(row) || (isinf(row->lo) && isinf(row->up));
        p->lo[i] = is_bounded ? row->lo : p->lo[i];
        p->up[i] = is_bounded ? row->up : p->up[i];
    }
}

bool itm_impacts_solve(const ItmRowProblem* p, ItmMlcpWorkspace* workspace, const ItmMlcpOptions* options,
                       const ItmRowStep* step, ItmRowSolves* solves, ItmError* error)
{
    for (int i = 0; i < p->n; i++) {
        const ItmRow* row = itm_row_get(p, i);
        if (itm_row_is_unilateral(row) && !itm_row_is_rigid(row)) {
            return false;
        }
    }
    Impacts z = {p, step, workspace, options, solves, error};
    bool is_done = start(&z) && follow(&z);
    restore(p);
    for (int i = 0; i < p->n && !is_done; i++) {
        ItmRow* row = itm_row_get(p, i);
        row->hit = row->late = row->late_work = 0.0;
    }
    if (is_done) {
        finish(p);
    }
    return is_done;
}
