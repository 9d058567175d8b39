// Small problems whose guess is right: the equations of the active rows, solved once, without scales, regularisation and refinement, in the
// caller's memory. What this accepts is the only solution: active rows are independent and inside their bounds, tight ones pushed
// against theirs, all clearly. Whatever is in doubt is left to the solvers.
#include "mlcp/workspace.h"

#include <string.h>

enum { MOST = 8 };                       // rows
static const double INDEPENDENT = 1e-3;  // of the diagonal: what must be left of a row beside those before
static const double CLEAR = 1e-9;        // of the terms of w: distance from a change of state

typedef struct Direct {
    const ItmMlcpProblem* p;
    int m, active[MOST];      // active rows
    signed char state[MOST];  // of all rows
    double L[MOST][MOST];     // H_zz = L L', the diagonal inverted          (m x m)
    double x[MOST];
    double w[MOST];
    double size[MOST];  // |b| + |H| |x|
} Direct;

// States of the guess. false: one is missing, or impossible.
static bool take_states(Direct* t, const signed char* state)
{
    t->m = 0;
    for (int i = 0; i < t->p->n; i++) {
        double lo = t->p->lo[i], up = t->p->up[i];
        bool is_free = lo == -INFINITY && up == INFINITY;
        t->state[i] = is_free ? ITM_ROW_ACTIVE : lo == up ? ITM_ROW_LO : state[i];
        if (t->state[i] == ITM_ROW_ACTIVE) {
            t->active[t->m++] = i;
            t->x[i] = 0.0;
            continue;
        }
        t->x[i] = t->state[i] == ITM_ROW_LO ? lo : up;
        if (t->state[i] > ITM_ROW_UP || !isfinite(t->x[i])) {
            return false;
        }
    }
    return true;
}

// L L' = H_zz. false: a row depends on others, or nearly so.
static bool factor(Direct* t)
{
    for (int i = 0; i < t->m; i++) {
        const double* row = t->p->H + (size_t)t->active[i] * (size_t)t->p->n;
        double* L_i = t->L[i];
        double pivot = row[t->active[i]];
        for (int j = 0; j < i; j++) {
            double sum = row[t->active[j]];
            for (int k = 0; k < j; k++) {
                sum -= L_i[k] * t->L[j][k];
            }
            L_i[j] = sum * t->L[j][j];
            pivot -= L_i[j] * L_i[j];
        }
        if (!(pivot > INDEPENDENT * row[t->active[i]])) {
            return false;
        }
        L_i[i] = 1.0 / sqrt(pivot);
    }
    return true;
}

// w = H x + b of row i, and the sum of the sizes of its terms
static inline double multiply(const Direct* t, int i, double* size)
{
    const double* row = t->p->H + (size_t)i * (size_t)t->p->n;
    double sum = t->p->b[i];
    *size = fabs(sum);
    for (int j = 0; j < t->p->n; j++) {
        double term = row[j] * t->x[j];
        sum += term;
        *size += fabs(term);
    }
    return sum;
}

// x_z = -H_zz^-1 (H_zt x_t + b_z)                                            [contact-rim, eq. 29]
static void solve(Direct* t)
{
    double y[MOST], size;
    for (int i = 0; i < t->m; i++) {
        double sum = -multiply(t, t->active[i], &size);
        for (int k = 0; k < i; k++) {
            sum -= t->L[i][k] * y[k];
        }
        y[i] = sum * t->L[i][i];
    }
    for (int i = t->m - 1; i >= 0; i--) {
        for (int k = i + 1; k < t->m; k++) {
            y[i] -= t->L[k][i] * y[k];
        }
        y[i] *= t->L[i][i];
    }
    for (int i = 0; i < t->m; i++) {
        t->x[t->active[i]] = y[i];
    }
}

// Whether a row clearly keeps the state of the guess. No number of H x may be infinite, nor NaN.
static bool holds(const Direct* t, int i)
{
    const ItmMlcpProblem* p = t->p;
    double margin = CLEAR * t->size[i];
    if (!(t->size[i] < INFINITY)) {
        return false;
    }
    if (t->state[i] == ITM_ROW_ACTIVE) {
        double h = p->H[(size_t)i * (size_t)(p->n + 1)];
        return (p->lo[i] == -INFINITY || h * (t->x[i] - p->lo[i]) > margin) &&
               (p->up[i] == INFINITY || h * (p->up[i] - t->x[i]) > margin);
    }
    return p->lo[i] == p->up[i] || (t->state[i] == ITM_ROW_LO ? t->w[i] > margin : t->w[i] < -margin);
}

static void deliver(const Direct* t, ItmMlcpResult* result, double residual, int worst_row)
{
    int n = t->p->n;
    ItmMlcpInfo* info = &result->info;
    *info = (ItmMlcpInfo){.outcome = ITM_MLCP_SOLVED,
                          .solver = ITM_MLCP_PIVOTING,
                          .residual = residual,
                          .worst_row = worst_row,
                          .iterations = 1,
                          .factorisations = 1,
                          .work = t->m * t->m * t->m / 6.0 + 2.0 * n * n,
                          .nattempt = 1,
                          .attempts = {ITM_MLCP_PIVOTING}};
    for (int i = 0; i < n; i++) {
        result->x[i] = t->x[i];
        result->w[i] = t->w[i];
        result->state[i] = t->state[i];
        info->nactive += t->state[i] == ITM_ROW_ACTIVE;
        info->nlo += t->state[i] == ITM_ROW_LO;
        info->nup += t->state[i] == ITM_ROW_UP;
        if (result->ray != NULL) {
            result->ray[i] = 0.0;
        }
    }
}

bool itm_direct_solve(ItmMlcpResult* result, const ItmMlcpProblem* problem, const ItmMlcpOptions* options)
{
    bool is_suitable = options->solver == ITM_MLCP_AUTO || options->solver == ITM_MLCP_PIVOTING;
    if (!is_suitable || !options->warm_start || problem->n > MOST || problem->ncontact > 0 || !problem->is_symmetric) {
        return false;
    }
    Direct t;
    t.p = problem;
    if (!take_states(&t, result->state) || !factor(&t)) {
        return false;
    }
    solve(&t);
    for (int i = 0; i < problem->n; i++) {
        t.w[i] = multiply(&t, i, &t.size[i]);
        if (!holds(&t, i)) {
            return false;
        }
    }
    double residual = itm_residual_compute(problem, t.x, t.w, NULL);
    if (!(residual <= options->tolerance)) {
        return false;
    }
    deliver(&t, result, residual, itm_residual_find_worst(problem, t.x, t.w, NULL));
    return true;
}
