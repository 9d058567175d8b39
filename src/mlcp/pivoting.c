// Proximal block principal pivoting for fixed bounds and symmetric positive semi-definite H.
//
// Outer, proximal point iteration: x+ solves the problem with  w = (H + eps I)(x+ - x) + (H x + b), a positive definite
// one however redundant the rows are. Starting at x = 0 its limit is, to O(eps), the solution of
// least norm of the scaled impulses; it is also iterative refinement, so the regularisation leaves
// no error behind. Inner, block principal pivoting: guess which rows are active, solve for them
// [contact-rim, eq. 29], compute the velocity of the tight ones [contact-rim, eq. 30], move all
// rows that break their condition; where that stops reducing their number, descend (below) instead.
// Murty's single moves would be finite too, but took thousands of pivots where the descent takes
// tens (redundant contacts, 178 rows: 3200 against 100).
#include "mlcp/workspace.h"

#include <math.h>
#include <string.h>

enum {
    MAX_PROXIMAL = 60,
    PATIENCE = 2,         // block moves without progress before descending
    GUESS_ROUNDS = 5,     // rounds of sweeps that make the first guess, fewer where a round changes no state
    GUESS_SWEEPS = 5,     // of a round
    REFACTOR_SHARE = 20,  // update the factor for up to m/20 moved rows, else factor anew
    MAX_DESCENT = 100,
    DESCENT_SWEEPS = 10,
    MAX_UPDATES = 64  // updates before a fresh factor, to keep rounding out
};
static const double RELAXATION = 1.4;  // of sweeps: half the number of pivots that 1 leaves, or less
static const double EPS_START = 1e-7, EPS_MIN = 1e-13;
static const double X_NOISE = 1e-10;           // of the active rows' solution, relative: rounding / eps
static const double W_NOISE = 1e-13;           // of the tight rows' velocity, relative: rounding
static const double NO_SOLUTION_FACTOR = 1e7;  // proof radius over largest impulse that counts as a proof

typedef struct Pivoting {
    ItmMlcpWorkspace* ws;
    const ItmDense* dense;
    ItmMlcpInfo* info;
    int n, ld;
    double eps;   // proximal weight
    double* U;    // H_zz + eps = U'U, in the order of `active`      (m x ld)
    int m;        // active rows
    int* active;  // position -> row                                (m)
    int* tight;   // the other rows                                 (n - m)
    int* moved;   // rows that break their condition                (n)
    int nfree;    // the first of them that never leave
    int*
        end;  // banded H: column behind the last of a row of U  (m); sparse: places of active rows, while they are gathered (ld)
    double* inv_u;   // 1 / U_kk                                       (m)
    double* base;    // x of the proximal step                         (n)
    double* w_base;  // H base + b                                     (n)
    double* delta;   // x - base                                       (n)
    double* w;       // of the regularised problem                     (n)
    double* rhs;     // (n)
    int nupdate;     // updates since the last factorisation
    bool is_factored;
    bool is_settled;  // every row keeps its condition in the last trial
} Pivoting;

// ---------------------------------------------------------------------------- active set and
// factor

static bool is_free(const ItmMlcpScaled* s, int i)
{
    return s->lo[i] == -INFINITY && s->up[i] == INFINITY;
}

// Free rows first, because they never leave; those of a band in their order.
static void list_rows(Pivoting* p)
{
    const ItmMlcpScaled* s = &p->ws->s;
    const signed char* state = p->ws->state;
    p->m = 0;
    int ntight = 0;
    for (int i = 0; i < p->n && !s->is_banded; i++) {
        if (is_free(s, i)) {
            p->active[p->m++] = i;
        }
    }
    p->nfree = p->m;
    for (int i = 0; i < p->n; i++) {
        if (state[i] != ITM_ROW_ACTIVE) {
            p->tight[ntight++] = i;
        } else if (s->is_banded || !is_free(s, i)) {
            p->active[p->m++] = i;
        }
    }
}

static void list_tight(Pivoting* p)
{
    int ntight = 0;
    for (int i = 0; i < p->n; i++) {
        if (p->ws->state[i] != ITM_ROW_ACTIVE) {
            p->tight[ntight++] = i;
        }
    }
}

// Rows of a band: what lies behind the last column of the rows so far is zero, in U too.
static int factor_active_band(Pivoting* p)
{
    const ItmMlcpScaled* s = &p->ws->s;
    for (int k = 0, end = 0; k < p->m; k++) {
        const double* from = s->H + (size_t)p->active[k] * (size_t)p->ld;
        double* to = p->U + (size_t)k * (size_t)p->ld;
        while (end < p->m && p->active[end] < s->end[p->active[k]]) {
            end++;
        }
        p->end[k] = end;
        for (int j = k / 4 * 4; j < k; j++) {
            to[j] = 0.0;
        }
        for (int j = k; j < end; j++) {
            to[j] = from[p->active[j]];
        }
        for (int j = end; j < (end + 3) / 4 * 4; j++) {
            to[j] = 0.0;
        }
        to[k] += p->eps;
        p->info->work += 0.5 * (end - k) * (end - k);
    }
    return p->dense->factor_band(p->U, p->ld, p->end, p->inv_u, p->m, 1e-3 * p->eps);
}

static void gather_dense(Pivoting* p)
{
    for (int k = 0; k < p->m; k++) {
        const double* from = p->ws->s.H + (size_t)p->active[k] * (size_t)p->ld;
        double* to = p->U + (size_t)k * (size_t)p->ld;
        for (int j = k; j < p->m; j++) {
            to[j] = from[p->active[j]];
        }
        for (int j = p->m; j < itm_dense_pad(p->m); j++) {
            to[j] = 0.0;
        }
    }
}

// The same from the groups of the rows. What is left of the diagonal is of no use: there go the columns of tight rows, too.
static void gather_groups(Pivoting* p)
{
    const ItmMlcpScaled* s = &p->ws->s;
    int* place = p->end;
    memset(place, 0, (size_t)p->ld * sizeof *place);
    for (int k = 0; k < p->m; k++) {
        place[p->active[k]] = k;
    }
    for (int k = 0; k < p->m; k++) {
        int i = p->active[k];
        const double* from = s->H + (size_t)i * (size_t)p->ld;
        const int* group = s->group + (size_t)i * (size_t)(p->ld / 4);
        double* to = p->U + (size_t)k * (size_t)p->ld;
        int first = k / 8 * 8;
        memset(to + first, 0, (size_t)(itm_dense_pad(p->m) - first) * sizeof *to);
        for (int g = 0; g < s->ngroup[i]; g++) {
            for (int j = group[g]; j < group[g] + 4; j++) {
                to[place[j]] = from[j];
            }
        }
        to[k] = from[i];  // once more: columns of tight rows go to the first
    }
}

static int factor_active_dense(Pivoting* p)
{
    if (p->ws->s.is_sparse) {
        gather_groups(p);
    } else {
        gather_dense(p);
    }
    for (int k = 0; k < p->m; k++) {
        p->U[(size_t)k * (size_t)p->ld + (size_t)k] += p->eps;
    }
    p->info->work += (double)p->m * p->m * p->m / 6.0;
    return p->dense->factor_cholesky(p->U, p->ld, p->m, 1e-3 * p->eps);
}

static void invert_diagonal(Pivoting* p)
{
    for (int k = 0; k < p->m; k++) {
        p->inv_u[k] = 1.0 / p->U[(size_t)k * (size_t)p->ld + (size_t)k];
    }
}

// U'U = H_zz + eps I
static bool factor_active(Pivoting* p)
{
    list_rows(p);
    p->nupdate = 0;
    p->info->factorisations++;
    p->is_factored = (p->ws->s.is_banded ? factor_active_band(p) : factor_active_dense(p)) == p->m;
    if (!p->ws->s.is_banded && p->is_factored) {
        invert_diagonal(p);
    }
    return p->is_factored;
}

// A row enters at the end:  U' u = h,  u_mm^2 = h_mm + eps - u.u
static bool add_to_factor(Pivoting* p, int row)
{
    const double* from = p->ws->s.H + (size_t)row * (size_t)p->ld;
    double* u = p->rhs;
    for (int k = 0; k < p->m; k++) {
        u[k] = from[p->active[k]];
    }
    p->dense->solve_cholesky_lower(p->U, p->ld, u, p->m);
    double pivot = from[row] + p->eps - p->dense->dot(u, u, p->m);
    if (!(pivot > 1e-3 * p->eps)) {
        return false;
    }
    for (int k = 0; k < p->m; k++) {
        p->U[(size_t)k * (size_t)p->ld + (size_t)p->m] = u[k];
    }
    p->U[(size_t)p->m * (size_t)p->ld + (size_t)p->m] = sqrt(pivot);
    p->active[p->m++] = row;
    return true;
}

// A row leaves: its column is dropped and Givens rotations of neighbouring rows make U triangular
// again.
static void remove_from_factor(Pivoting* p, int row)
{
    int at = 0;
    while (p->active[at] != row) {
        at++;
    }
    int m = --p->m;
    for (int k = at; k < m; k++) {
        p->active[k] = p->active[k + 1];
    }
    for (int k = 0; k <= m; k++) {
        double* u = p->U + (size_t)k * (size_t)p->ld;
        int from = k > at ? k - 1 : at;
        memmove(u + from, u + from + 1, (size_t)(m - from) * sizeof *u);
    }
    for (int k = at; k < m; k++) {
        double* a = p->U + (size_t)k * (size_t)p->ld;
        double* b = p->U + (size_t)(k + 1) * (size_t)p->ld;
        double size = hypot(a[k], b[k]);
        p->dense->rotate(a + k, b + k, a[k] / size, b[k] / size, m - k);
    }
}

static bool update_factor(Pivoting* p, int nmoved)
{
    for (int k = 0; k < nmoved; k++) {
        if (p->ws->state[p->moved[k]] != ITM_ROW_ACTIVE) {
            remove_from_factor(p, p->moved[k]);
        }
    }
    for (int k = 0; k < nmoved; k++) {
        if (p->ws->state[p->moved[k]] == ITM_ROW_ACTIVE && !add_to_factor(p, p->moved[k])) {
            return factor_active(p);
        }
    }
    p->nupdate += nmoved;
    list_tight(p);
    // what rows that left have put behind the last column
    for (int k = 0; k < p->m; k++) {
        for (int j = p->m; j < (p->m + 3) / 4 * 4; j++) {
            p->U[(size_t)k * (size_t)p->ld + (size_t)j] = 0.0;
        }
    }
    invert_diagonal(p);
    return true;
}

// ---------------------------------------------------------------------------- one trial

// rhs = (H_zz + eps)^-1 rhs
static void solve_active(const Pivoting* p)
{
    if (p->ws->s.is_banded) {
        p->dense->solve_band(p->U, p->ld, p->end, p->inv_u, p->rhs, p->m);
    } else {
        for (int k = p->m; k < (p->m + 3) / 4 * 4; k++) {
            p->rhs[k] = 0.0;
        }
        p->dense->solve_inverse(p->U, p->ld, p->inv_u, p->rhs, p->m);
    }
}

// Solve for the active rows with the others at their bounds.
static void solve_trial(Pivoting* p)
{
    const ItmMlcpScaled* s = &p->ws->s;
    int ntight = p->n - p->m;

    // delta_tau = bound - base
    memset(p->delta, 0, (size_t)p->ld * sizeof *p->delta);
    bool is_any_moved = false;
    for (int k = 0; k < ntight; k++) {
        int i = p->tight[k];
        p->delta[i] = (p->ws->state[i] == ITM_ROW_LO ? s->lo[i] : s->up[i]) - p->base[i];
        is_any_moved = is_any_moved || p->delta[i] != 0.0;
    }

    // delta_z = -(H_zz + eps)^-1 (w_z + H_zt delta_t)                        [contact-rim, eq. 29]
    if (is_any_moved) {
        itm_mlcp_multiply(p->ws, p->w, p->delta, p->active, p->m);
    }
    for (int k = 0; k < p->m; k++) {
        int i = p->active[k];
        p->rhs[k] = -(p->w_base[i] + (is_any_moved ? p->w[i] : 0.0));
    }
    solve_active(p);
    for (int k = 0; k < p->m; k++) {
        p->delta[p->active[k]] = p->rhs[k];
        p->w[p->active[k]] = 0.0;
    }

    // w_t = w_t + (H + eps) delta                                            [contact-rim, eq. 30]
    itm_mlcp_multiply(p->ws, p->w, p->delta, p->tight, ntight);
    for (int k = 0; k < ntight; k++) {
        int i = p->tight[k];
        p->w[i] += p->w_base[i] + p->eps * p->delta[i];
    }
}

// Largest size; a NaN stays
static double max_abs(const double* v, int n)
{
    double even = 0.0, odd = 0.0;
    for (int i = 0; i + 1 < n; i += 2) {
        double a = fabs(v[i]), b = fabs(v[i + 1]);
        even = a <= even ? even : a;
        odd = b <= odd ? odd : b;
    }
    double last = n % 2 == 1 ? fabs(v[n - 1]) : 0.0;
    even = last <= even ? even : last;
    return odd <= even ? even : odd;
}

// Rows that break their condition go to p->moved; returns how many.
static int find_broken(Pivoting* p)
{
    const ItmMlcpScaled* s = &p->ws->s;
    double size = max_abs(p->delta, p->n);
    double x_noise = X_NOISE * size;
    double w_noise = W_NOISE * (size + max_abs(p->w_base, p->n));
    int nbroken = 0, ntight = p->n - p->m;
    // no branches: states change from row to row, and a wrong guess of the processor costs more than all of this
    for (int k = p->nfree; k < p->m; k++) {
        int i = p->active[k];
        double x = p->base[i] + p->delta[i];
        p->moved[nbroken] = i;
        nbroken += (x < s->lo[i] - x_noise) | (x > s->up[i] + x_noise);
    }
    for (int k = 0; k < ntight; k++) {
        int i = p->tight[k];
        // towards the inside of the bounds
        double rate = p->ws->state[i] == ITM_ROW_LO ? -p->w[i] : p->w[i];
        p->moved[nbroken] = i;
        nbroken += (rate > w_noise) & (s->lo[i] < s->up[i]);
    }
    return nbroken;
}

static void move_row(Pivoting* p, int i)
{
    signed char* state = p->ws->state;
    if (state[i] != ITM_ROW_ACTIVE) {
        state[i] = ITM_ROW_ACTIVE;
    } else {
        state[i] = p->base[i] + p->delta[i] < p->ws->s.lo[i] ? ITM_ROW_LO : ITM_ROW_UP;
    }
    p->info->pivots++;
}

// The factor after the rows in p->moved have changed sides; that of a band is cheap, and a row at its end would fill it
static bool refresh_factor(Pivoting* p, int nmoved)
{
    bool is_small = !p->ws->s.is_banded && nmoved * REFACTOR_SHARE <= p->m && p->nupdate + nmoved <= MAX_UPDATES;
    return is_small ? update_factor(p, nmoved) : factor_active(p);
}

static bool move_rows(Pivoting* p, int nmoved)
{
    for (int k = 0; k < nmoved; k++) {
        move_row(p, p->moved[k]);
    }
    return refresh_factor(p, nmoved);
}

typedef enum Ending { SETTLED, UNSETTLED, BROKEN_DOWN } Ending;

// Block moves while they reduce the number of broken rows.
static Ending pivot(Pivoting* p)
{
    int fewest = p->n + 1, patience = PATIENCE;
    while (patience > 0) {
        solve_trial(p);
        int nbroken = find_broken(p);
        if (nbroken == 0) {
            return SETTLED;
        }
        patience = nbroken < fewest ? PATIENCE : patience - 1;
        fewest = nbroken < fewest ? nbroken : fewest;
        if (patience > 0 && !move_rows(p, nbroken)) {
            return BROKEN_DOWN;
        }
    }
    return UNSETTLED;
}

// ---------------------------------------------------------------------------- descent

// The regularised problem is the minimum of  f(y) = y.(H + eps)y / 2 + w_base.y  over lo <= base + y <= up. Where block
// moves go round in circles, this goes down: Gauss-Seidel sweeps propose the active set, its
// solution is the direction, and the step along the projected direction must lower f.

static double clamp_step(const Pivoting* p, int i, double y)
{
    const ItmMlcpScaled* s = &p->ws->s;
    return fmin(fmax(y, s->lo[i] - p->base[i]), s->up[i] - p->base[i]);
}

// g = (H + eps) y + w_base
static void compute_gradient(const Pivoting* p, double* g, const double* y)
{
    itm_mlcp_multiply(p->ws, g, y, NULL, p->n);
    for (int i = 0; i < p->n; i++) {
        g[i] += p->eps * y[i] + p->w_base[i];
    }
}

// f = y.(g + w_base) / 2
static double descent_value(const Pivoting* p, const double* g, const double* y)
{
    return 0.5 * (p->dense->dot(y, g, p->n) + p->dense->dot(y, p->w_base, p->n));
}

// States that fit y: tight where it is at a bound and g holds it there. Rows that change go to
// p->moved.
static int adopt_states(Pivoting* p, const double* y, const double* g)
{
    const ItmMlcpScaled* s = &p->ws->s;
    int nmoved = 0;
    for (int i = 0; i < p->n; i++) {
        double x = p->base[i] + y[i];
        signed char state = x <= s->lo[i] && g[i] >= 0.0   ? ITM_ROW_LO
                            : x >= s->up[i] && g[i] <= 0.0 ? ITM_ROW_UP
                                                           : ITM_ROW_ACTIVE;
        state = s->lo[i] == s->up[i] ? ITM_ROW_LO : state;
        bool was_active = p->ws->state[i] == ITM_ROW_ACTIVE;
        if (was_active != (state == ITM_ROW_ACTIVE)) {
            p->moved[nmoved++] = i;
        }
        p->ws->state[i] = state;
    }
    p->info->pivots += nmoved;
    return nmoved;
}

// y(a) = clamp(y + a (delta - y)) for a = 1, 1/2, 1/4 that lowers f, if there is one.
static bool search_descent(Pivoting* p, double* y, double* g)
{
    double *trial = p->ws->v[6], *g_trial = p->ws->v[8];
    double f = descent_value(p, g, y);
    memset(trial, 0, (size_t)p->ld * sizeof *trial);
    for (double a = 1.0; a > 0.2; a *= 0.5) {
        for (int i = 0; i < p->n; i++) {
            trial[i] = clamp_step(p, i, y[i] + a * (p->delta[i] - y[i]));
        }
        compute_gradient(p, g_trial, trial);
        if (descent_value(p, g_trial, trial) < f) {
            memcpy(y, trial, (size_t)p->n * sizeof *y);
            memcpy(g, g_trial, (size_t)p->n * sizeof *g);
            return true;
        }
    }
    return false;
}

// Share of the step y -> delta that row i allows, 1 if it does not block
static double allowed_share(const Pivoting* p, const double* y, int i)
{
    double bounded = clamp_step(p, i, p->delta[i]);
    return bounded == p->delta[i] ? 1.0 : (bounded - y[i]) / (p->delta[i] - y[i]);
}

// y goes as far towards delta as the active rows allow; those that block become tight. Returns how
// many.
static int step_to_bound(Pivoting* p, double* y)
{
    double share = 1.0;
    for (int k = 0; k < p->m; k++) {
        share = fmin(share, allowed_share(p, y, p->active[k]));
    }
    int nblocking = 0;
    for (int k = 0; k < p->m && share < 1.0; k++) {
        int i = p->active[k];
        if (allowed_share(p, y, i) <= share) {
            p->moved[nblocking++] = i;
        }
    }
    for (int i = 0; i < p->n; i++) {
        y[i] = clamp_step(p, i, y[i] + share * (p->delta[i] - y[i]));
    }
    for (int k = 0; k < nblocking; k++) {
        int i = p->moved[k];
        y[i] = clamp_step(p, i, p->delta[i]);
        p->ws->state[i] = p->base[i] + p->delta[i] < p->ws->s.lo[i] ? ITM_ROW_LO : ITM_ROW_UP;
    }
    p->info->pivots += nblocking;
    return nblocking;
}

// Lowest f with the tight rows held: straight to the first bound on the way, which is then held
// too, and so on. f falls with every step that has a length, so no face is ever minimised twice and
// the descent is finite.
static bool minimise_on_face(Pivoting* p, double* y, double* g)
{
    for (int nblocking = step_to_bound(p, y); nblocking > 0; nblocking = step_to_bound(p, y)) {
        if (!refresh_factor(p, nblocking)) {
            return false;
        }
        solve_trial(p);
    }
    compute_gradient(p, g, y);
    return true;
}

static Ending descend(Pivoting* p)
{
    const ItmMlcpScaled* s = &p->ws->s;
    double *y = p->ws->v[5], *g = p->ws->v[7], *inv_h = p->ws->v[9], *lo = p->ws->v[10], *up = p->ws->v[11];
    memset(y, 0, (size_t)p->ld * sizeof *y);
    memset(g, 0, (size_t)p->ld * sizeof *g);
    for (int i = 0; i < p->n; i++) {
        lo[i] = s->lo[i] - p->base[i];
        up[i] = s->up[i] - p->base[i];
        inv_h[i] = RELAXATION / (s->H[(size_t)i * (size_t)s->ld + (size_t)i] + p->eps);
        y[i] = clamp_step(p, i, p->ws->x[i] - p->base[i]);
    }
    compute_gradient(p, g, y);
    for (int k = 0; k < MAX_DESCENT; k++) {
        for (int sweep = 0; sweep < DESCENT_SWEEPS; sweep++) {
            p->dense->sweep(y, g, s->H, s->ld, s->group, s->ngroup, inv_h, lo, up, p->eps, p->n);
        }
        if (!refresh_factor(p, adopt_states(p, y, g))) {
            return BROKEN_DOWN;
        }
        solve_trial(p);
        if (find_broken(p) == 0) {
            return SETTLED;
        }
        if (!search_descent(p, y, g) && !minimise_on_face(p, y, g)) {
            return BROKEN_DOWN;
        }
    }
    // lower than before, and admissible: good enough for a proximal step
    memcpy(p->delta, y, (size_t)p->n * sizeof *y);
    return UNSETTLED;
}

static bool settle(Pivoting* p)
{
    Ending ending = pivot(p);
    ending = ending == UNSETTLED ? descend(p) : ending;
    p->is_settled = ending == SETTLED;
    return ending != BROKEN_DOWN;
}

// ---------------------------------------------------------------------------- start

static signed char classify(double x, double lo, double up)
{
    return x <= lo ? ITM_ROW_LO : x >= up ? ITM_ROW_UP : ITM_ROW_ACTIVE;
}

static bool has_unknown(const ItmMlcpWorkspace* ws)
{
    for (int i = 0; i < ws->s.n; i++) {
        if (ws->state[i] == ITM_ROW_UNKNOWN) {
            return true;
        }
    }
    return false;
}

// Whether a row has another state than at the last call
static bool changes_state(ItmMlcpWorkspace* ws)
{
    const double *x = ws->x, *lo = ws->s.lo, *up = ws->s.up;
    signed char* mark = ws->mark;
    bool is_changed = false;
    for (int i = 0, n = ws->s.n; i < n; i++) {
        signed char state = classify(x[i], lo[i], up[i]);
        is_changed |= state != mark[i];
        mark[i] = state;
    }
    return is_changed;
}

static bool is_zero(const double* x, int n)
{
    bool is_any = false;
    for (int i = 0; i < n; i++) {
        is_any |= x[i] != 0.0;
    }
    return !is_any;
}

// Sweeps from ws->x, which is zero for a cold start
static void sweep_guess(ItmMlcpWorkspace* ws)
{
    const ItmMlcpScaled* s = &ws->s;
    double* inv_h = ws->v[9];
    if (is_zero(ws->x, s->n)) {
        memset(ws->w, 0, (size_t)s->n * sizeof *ws->w);
    } else {
        itm_mlcp_multiply(ws, ws->w, ws->x, NULL, s->n);
    }
    for (int i = 0; i < s->n; i++) {
        double h = s->H[(size_t)i * (size_t)s->ld + (size_t)i];
        inv_h[i] = h > 0.0 ? RELAXATION / h : 0.0;
        ws->w[i] += s->b[i];
        ws->mark[i] = ITM_ROW_UNKNOWN;
    }
    for (int k = 0; k < GUESS_ROUNDS && changes_state(ws); k++) {
        for (int sweep = 0; sweep < GUESS_SWEEPS; sweep++) {
            ws->dense->sweep(ws->x, ws->w, s->H, s->ld, s->group, s->ngroup, inv_h, s->lo, s->up, 0.0, s->n);
        }
    }
}

// Rows without a state get the one that a few Gauss-Seidel sweeps lead to.
static void guess_states(ItmMlcpWorkspace* ws)
{
    const ItmMlcpScaled* s = &ws->s;
    if (has_unknown(ws)) {
        sweep_guess(ws);
    }
    for (int i = 0; i < s->n; i++) {
        bool is_impossible = (ws->state[i] == ITM_ROW_LO && s->lo[i] == -INFINITY) ||
                             (ws->state[i] == ITM_ROW_UP && s->up[i] == INFINITY);
        if (is_free(s, i)) {
            ws->state[i] = ITM_ROW_ACTIVE;
        } else if (s->lo[i] == s->up[i]) {
            ws->state[i] = ITM_ROW_LO;
        } else if (ws->state[i] == ITM_ROW_UNKNOWN || is_impossible) {
            ws->state[i] = classify(ws->x[i], s->lo[i], s->up[i]);
        }
    }
}

static Pivoting start_pivoting(ItmMlcpWorkspace* ws, ItmMlcpInfo* info)
{
    const ItmMlcpScaled* s = &ws->s;
    Pivoting p = {.ws = ws,
                  .dense = ws->dense,
                  .info = info,
                  .n = s->n,
                  .ld = s->ld,
                  .eps = EPS_START,
                  .U = ws->F,
                  .active = ws->iv[0],
                  .tight = ws->iv[1],
                  .moved = ws->iv[2],
                  .end = ws->iv[3],
                  .base = ws->v[0],
                  .w_base = ws->v[1],
                  .delta = ws->v[2],
                  .w = ws->v[3],
                  .rhs = ws->v[4],
                  .inv_u = ws->v[12]};
    guess_states(ws);
    // base = 0 whatever the guess: the limit is then the solution of least norm
    memset(p.base, 0, (size_t)s->n * sizeof *p.base);
    memcpy(p.w_base, s->b, (size_t)s->n * sizeof *p.w_base);
    return p;
}

// ---------------------------------------------------------------------------- proximal iteration

// x = base + delta within bounds, as the next base; returns the residual
static double take_step(Pivoting* p)
{
    ItmMlcpWorkspace* ws = p->ws;
    for (int i = 0; i < p->n; i++) {
        double x = p->base[i] + p->delta[i];
        x = x < ws->s.lo[i] ? ws->s.lo[i] : x;
        ws->x[i] = x > ws->s.up[i] ? ws->s.up[i] : x;
        p->delta[i] = ws->x[i] - p->base[i];
    }
    double residual = itm_mlcp_measure(ws);
    memcpy(p->base, ws->x, (size_t)p->n * sizeof *p->base);
    memcpy(p->w_base, ws->w, (size_t)p->n * sizeof *p->w_base);
    return residual;
}

// The first proximal step is never the last: its residual is about eps |x|. So its x and w need not
// be measured; they follow from the trial, w = w^ - eps delta. false: only measuring will do.
static bool take_first_step(Pivoting* p)
{
    const ItmMlcpScaled* s = &p->ws->s;
    const signed char* state = p->ws->state;
    for (int k = 0; k < p->m; k++) {
        int i = p->active[k];
        double x = p->base[i] + p->delta[i];
        if (!p->is_settled || x < s->lo[i] || x > s->up[i]) {
            return false;
        }
    }
    for (int i = 0; i < p->n; i++) {
        p->base[i] = state[i] == ITM_ROW_ACTIVE ? p->base[i] + p->delta[i]
                     : state[i] == ITM_ROW_LO   ? s->lo[i]
                                                : s->up[i];
        p->w_base[i] = p->w[i] - p->eps * p->delta[i];
    }
    memcpy(p->ws->x, p->base, (size_t)p->n * sizeof *p->base);
    return true;
}

// The proximal step from a base whose tight rows are at their bounds, with the active set as it is; the residual judges whether that
// set was right.
static void refine(Pivoting* p)
{
    memset(p->delta, 0, (size_t)p->n * sizeof *p->delta);
    for (int k = 0; k < p->m; k++) {
        p->rhs[k] = -p->w_base[p->active[k]];
    }
    solve_active(p);
    for (int k = 0; k < p->m; k++) {
        p->delta[p->active[k]] = p->rhs[k];
    }
}

// If the problem has no solution the steps tend to a direction d with H d = 0 and d.b < 0 that
// proves it.
static bool find_proof(Pivoting* p)
{
    ItmMlcpWorkspace* ws = p->ws;
    const ItmMlcpScaled* s = &ws->s;
    double size = max_abs(p->delta, p->n);
    double largest = 0.0;
    for (int i = 0; i < p->n; i++) {
        double d = p->delta[i] / size;
        bool is_allowed = d > 0.0 ? s->up[i] == INFINITY : s->lo[i] == -INFINITY;
        ws->ray[i] = is_allowed ? s->d[i] * d : 0.0;
        // without the growth along d
        double x = fmin(fmax(ws->x[i] - (p->info->iterations) * p->delta[i], s->lo[i]), s->up[i]);
        p->rhs[i] = x;
        largest = fmax(largest, s->d[i] * fabs(x));
    }
    double radius = itm_mlcp_compute_proof_radius(ws->problem, ws->ray);
    if (!(radius > NO_SOLUTION_FACTOR * (1.0 + largest))) {
        return false;
    }
    memcpy(ws->x, p->rhs, (size_t)p->n * sizeof *ws->x);
    p->info->proof_radius = radius;
    return ws->has_ray = true;
}

// Active rows whose pivot is all regularisation depend on the rows before them.
static int count_redundant(const Pivoting* p)
{
    int count = 0;
    for (int k = 0; k < p->m; k++) {
        double u = p->U[(size_t)k * (size_t)p->ld + (size_t)k];
        count += u * u < 1e3 * p->eps;
    }
    return count;
}

bool itm_pivoting_solve(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info)
{
    if (!ws->s.is_symmetric || ws->s.ncontact > 0) {
        return false;
    }
    Pivoting p = start_pivoting(ws, info);
    double before = INFINITY;
    info->iterations = 0;
    bool is_sound = factor_active(&p), is_settled = false;
    while (is_sound && info->iterations < MAX_PROXIMAL && !itm_mlcp_is_spent(options, info)) {
        if (is_settled) {
            refine(&p);
        } else if (!(is_sound = settle(&p))) {
            break;
        }
        info->iterations++;
        is_settled = info->iterations == 1 && take_first_step(&p);
        if (is_settled) {
            continue;
        }
        double residual = take_step(&p);
        if (residual <= options->tolerance) {
            ws->is_measured = true;
            break;
        }
        if (residual > 0.1 * before) {
            if (find_proof(&p)) {
                break;
            }
            // directions softer than eps converge slowly: follow them, as far as rounding allows
            p.eps = fmax(0.03 * p.eps, EPS_MIN);
            is_sound = factor_active(&p);
        }
        before = residual;
    }
    info->nredundant = p.is_factored ? count_redundant(&p) : 0;
    return is_sound;
}
