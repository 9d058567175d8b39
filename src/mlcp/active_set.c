#include "mlcp/active_set.h"

#include "mlcp/friction.h"

#include <string.h>

void itm_active_set_lay_out(ItmActiveSet* set, ItmArena* arena, const ItmRowProblem* problem, int n)
{
    set->problem = problem;
    set->dense = itm_dense_choose();
    set->state = ITM_TAKE(arena, signed char, n);
    set->ratio = ITM_TAKE(arena, double, n);
    set->rhs = ITM_TAKE(arena, double, n);
    set->S = ITM_TAKE(arena, double, (size_t)n*(size_t)itm_dense_pad(n));
    set->active = ITM_TAKE(arena, int, n);
    set->pivot = ITM_TAKE(arena, int, n);
    set->place = ITM_TAKE(arena, int, n);
}

// ---------------------------------------------------------------------------- guess

// Slip lies on the edge of what the law allows, not within a solver's tolerance of it.
static void snap_ratios(ItmActiveSet* set, const ItmMlcpContact* c, bool is_pair)
{
    if (is_pair && c->law == ITM_FRICTION_CONE) {
        double *x = &set->ratio[c->tangent[0]], *y = &set->ratio[c->tangent[1]], length = hypot(*x, *y);
        double scale = length > 0.0 ? c->mu / length : 0.0;
        *x *= scale;
        *y *= scale;
        return;
    }
    for (int k = 0; !is_pair && k < 2 && c->tangent[k] != ITM_NONE; k++) {
        double* x = &set->ratio[c->tangent[k]];
        *x = *x != 0.0 ? copysign(c->mu, *x) : 0.0;
    }
}

void itm_active_set_guess(ItmActiveSet* set, const signed char* state, const double* x)
{
    const ItmRowProblem* p = set->problem;
    for (int i = 0; i < p->n; i++) {
        const ItmRow* row = &p->rows[i];
        bool is_active = state[i] == ITM_ROW_ACTIVE || (state[i] == ITM_ROW_UNKNOWN && !itm_row_is_unilateral(row));
        set->state[i] = is_active ? ITM_ROW_ACTIVE : state[i] == ITM_ROW_UP ? ITM_ROW_UP : ITM_ROW_LO;
        set->ratio[i] = 0.0;
    }
    // tangents: stick only where the contact is closed, and both of a cone together
    for (int c = 0; c < p->ncoupling; c++) {
        const ItmMlcpContact* coupling = &p->couplings[c];
        int normal = coupling->normal, t0 = coupling->tangent[0], t1 = coupling->tangent[1];
        bool is_closed = set->state[normal] == ITM_ROW_ACTIVE && x[normal] > 0.0;
        bool is_pair = t1 != ITM_NONE && coupling->law != ITM_FRICTION_BOX;
        bool sticks[2] = {is_closed && set->state[t0] == ITM_ROW_ACTIVE,
                          is_closed && t1 != ITM_NONE && set->state[t1] == ITM_ROW_ACTIVE};
        for (int k = 0; k < 2 && coupling->tangent[k] != ITM_NONE; k++) {
            int t = coupling->tangent[k];
            bool is_stuck = is_pair ? sticks[0] && sticks[1] : sticks[k];
            set->state[t] = is_stuck ? ITM_ROW_ACTIVE : ITM_ROW_SLIP;
            set->ratio[t] = !is_stuck && is_closed ? x[t] / x[normal] : 0.0;
        }
        snap_ratios(set, coupling, is_pair);
    }
    set->is_factored = false;
}

bool itm_active_set_sticks(const ItmMlcpContact* c, const double* f, double tolerance)
{
    double t[2] = {f[c->tangent[0]], c->tangent[1] != ITM_NONE ? f[c->tangent[1]] : 0.0};
    return itm_friction_contains(c, f[c->normal], t, tolerance);
}

bool itm_active_set_slips(const ItmActiveSet* set, const ItmMlcpContact* c, const double* w, double tolerance)
{
    int t0 = c->tangent[0], t1 = c->tangent[1];
    if (t1 != ITM_NONE && c->law != ITM_FRICTION_BOX) {
        const double p[2] = {set->ratio[t0], set->ratio[t1]}, w_t[2] = {w[t0], w[t1]};
        return itm_friction_opposes(c, p, w_t, tolerance);
    }
    for (int k = 0; k < 2 && c->tangent[k] != ITM_NONE; k++) {
        int t = c->tangent[k];
        if (set->state[t] == ITM_ROW_SLIP && w[t] * set->ratio[t] > tolerance) {
            return false;
        }
    }
    return true;
}

// ---------------------------------------------------------------------------- linear system

// S over the active rows: column j has H of the row and of what slips with it.
static void factor(ItmActiveSet* set)
{
    const ItmRowProblem* p = set->problem;
    int n = 0, *place = set->place;
    for (int i = 0; i < p->n; i++) {
        place[i] = ITM_NONE;
        if (set->state[i] == ITM_ROW_ACTIVE && !p->rows[i].is_fixed) {
            place[i] = n;
            set->active[n++] = i;
        }
    }
    set->nactive = n;
    int ld = itm_dense_pad(n), nslip = 0, *slip = set->pivot;
    for (int j = 0; j < p->n; j++) {
        if (set->state[j] == ITM_ROW_SLIP && set->ratio[j] != 0.0 && place[p->rows[j].normal] != ITM_NONE) {
            slip[nslip++] = j;
        }
    }
    for (int i = 0; i < n; i++) {
        const double* H = p->H + (size_t)set->active[i] * (size_t)p->n;
        double* S = set->S + (size_t)i * (size_t)ld;
        for (int j = 0; j < n; j++) {
            S[j] = H[set->active[j]];
        }
        memset(S + n, 0, sizeof(double) * (size_t)(ld - n));
        for (int k = 0; k < nslip; k++) {
            S[place[p->rows[slip[k]].normal]] += H[slip[k]] * set->ratio[slip[k]];
        }
        S[i] += ITM_ACTIVE_SET_PROXIMAL * H[set->active[i]];
    }
    set->dense->factor_lu(set->S, ld, n, set->pivot, 0.0);
    set->is_factored = true;
    set->nfactor++;
}

void itm_active_set_factor(ItmActiveSet* set)
{
    if (!set->is_factored) {
        factor(set);
    }
}

void itm_active_set_solve_active(const ItmActiveSet* set, double* x)
{
    set->dense->solve_lu(set->S, itm_dense_pad(set->nactive), set->pivot, x, set->nactive);
}

// Impulses of rows that are not active, from those that are.
static void follow(const ItmActiveSet* set, double* x, double bound_share)
{
    const ItmRowProblem* p = set->problem;
    for (int i = 0; i < p->n; i++) {
        if (itm_active_set_is_tight(set, i)) {
            x[i] = bound_share * (set->state[i] == ITM_ROW_UP ? p->up[i] : p->lo[i]);
        } else if (set->state[i] == ITM_ROW_SLIP) {
            x[i] = set->ratio[i] * x[p->rows[i].normal];
        }
    }
}

void itm_active_set_solve(ItmActiveSet* set, double* x, const double* b, double bound_share)
{
    const ItmRowProblem* p = set->problem;
    follow(set, x, bound_share);
    set->dense->multiply_rows(p->w, p->H, p->n, x, set->active, set->nactive, p->n);
    for (int k = 0; k < set->nactive; k++) {
        set->rhs[k] = p->w[set->active[k]] + b[set->active[k]];
    }
    itm_active_set_solve_active(set, set->rhs);
    for (int k = 0; k < set->nactive; k++) {
        x[set->active[k]] -= set->rhs[k];
    }
    follow(set, x, bound_share);
}

void itm_active_set_respond(ItmActiveSet* set, double* x, int i)
{
    memset(set->rhs, 0, sizeof(double) * (size_t)set->nactive);
    set->rhs[set->place[i]] = 1.0;
    itm_active_set_solve_active(set, set->rhs);
    memset(x, 0, sizeof(double) * (size_t)set->problem->n);
    for (int k = 0; k < set->nactive; k++) {
        x[set->active[k]] = -set->rhs[k];
    }
    follow(set, x, 0.0);
}

void itm_active_set_compute_rates(const ItmActiveSet* set, double* w, const double* b, const double* x)
{
    int n = set->problem->n;
    set->dense->multiply_rows(w, set->problem->H, n, x, NULL, n, n);
    for (int i = 0; i < n; i++) {
        w[i] += b[i];
    }
}

// ---------------------------------------------------------------------------- trial

// Result of a comparison of impulses and rates with the guess. TURNS: only the direction of some slip is not right.
typedef enum Verdict { AGREES, TURNS, FAILS } Verdict;

// Impulses within bounds, rates on the right side.
static Verdict judge(const ItmActiveSet* set, double tolerance)
{
    const ItmRowProblem* p = set->problem;
    double most_x = 0.0, most_b = 0.0;
    for (int i = 0; i < p->n; i++) {
        double x = fabs(p->x[i]), b = fabs(p->b[i]);
        most_x = x > most_x ? x : most_x;
        most_b = b > most_b ? b : most_b;
    }
    double tol_w = tolerance * (1.0 + most_b), tol_x = 1e-9 * most_x;
    for (int i = 0; i < p->n; i++) {
        const ItmRow* row = &p->rows[i];
        double x = p->x[i], w = p->w[i];
        if (set->state[i] == ITM_ROW_ACTIVE) {
            bool is_bounded = row->normal == ITM_NONE;
            if ((fabs(w) > tol_w && !row->is_fixed) || (is_bounded && (x < p->lo[i] - tol_x || x > p->up[i] + tol_x))) {
                return FAILS;
            }
        } else if (itm_active_set_is_tight(set, i) && (set->state[i] == ITM_ROW_LO ? w < -tol_w : w > tol_w)) {
            return FAILS;
        }
    }
    Verdict verdict = AGREES;
    for (int c = 0; c < p->ncoupling; c++) {
        const ItmMlcpContact* coupling = &p->couplings[c];
        if (set->state[coupling->normal] != ITM_ROW_ACTIVE) {
            continue;
        }
        if (!itm_active_set_sticks(coupling, p->x, tol_x)) {
            return FAILS;
        }
        if (!itm_active_set_slips(set, coupling, p->w, tol_w)) {
            verdict = TURNS;
        }
    }
    return verdict;
}

// Turn the friction of sliding cones against the slip that the trial found. False: a contact does not slide on, or its law has
// corners.
static bool turn_slip(ItmActiveSet* set, double tolerance)
{
    const ItmRowProblem* p = set->problem;
    for (int c = 0; c < p->ncoupling; c++) {
        const ItmMlcpContact* coupling = &p->couplings[c];
        int t0 = coupling->tangent[0], t1 = coupling->tangent[1];
        if (!itm_active_set_is_rubbing(set, t0) || itm_active_set_slips(set, coupling, p->w, tolerance)) {
            continue;
        }
        if (t1 == ITM_NONE || coupling->law != ITM_FRICTION_CONE) {
            return false;
        }
        double x = p->w[t0], y = p->w[t1], speed = sqrt(x * x + y * y);
        if (speed < 1e3 * tolerance || x * set->ratio[t0] + y * set->ratio[t1] > -0.5 * coupling->mu * speed) {
            return false;
        }
        set->ratio[t0] = -coupling->mu * x / speed;
        set->ratio[t1] = -coupling->mu * y / speed;
    }
    factor(set);
    return true;
}

#define MOST_TURNS 6

// From the guess in problem->x.
static Verdict try_from(ItmActiveSet* set, double tolerance)
{
    const ItmRowProblem* p = set->problem;
    Verdict verdict = TURNS;
    for (int k = 0; k < MOST_TURNS && verdict == TURNS; k++) {
        itm_active_set_solve(set, p->x, p->b, 1.0);
        itm_active_set_compute_rates(set, p->w, p->b, p->x);
        verdict = judge(set, tolerance);
        if (verdict == TURNS && !turn_slip(set, tolerance)) {
            verdict = FAILS;
        }
    }
    return verdict;
}

// Whether only friction can be redundant: all normals that push are compliant, and their impulses determined.
static bool has_compliant_normals(const ItmActiveSet* set)
{
    for (int k = 0; k < set->nactive; k++) {
        const ItmRow* row = &set->problem->rows[set->active[k]];
        if (itm_row_is_unilateral(row) && row->omega == 0.0) {
            return false;
        }
    }
    return true;
}

bool itm_active_set_try(ItmActiveSet* set, double tolerance)
{
    const ItmRowProblem* p = set->problem;
    itm_active_set_factor(set);
    Verdict verdict = try_from(set, tolerance);
    if (verdict == FAILS && has_compliant_normals(set)) {
        // friction of least norm may be within cones that friction near the last one has left
        memset(p->x, 0, sizeof(double) * (size_t)p->n);
        itm_active_set_solve(set, p->x, p->b, 1.0);  // once more below: from none, the enlarged diagonal shows
        verdict = try_from(set, tolerance);
    }
    return verdict == AGREES;
}
