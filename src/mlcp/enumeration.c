// All active sets of a small problem, one after the other: the last resort for H that no method's
// theory covers.
#include "mlcp/workspace.h"

#include <math.h>
#include <string.h>

static const double MAX_SETS = 2e5;
static const double PIVOT_FLOOR = 1e-13;
enum { REFINEMENTS = 3 };

static int count_states(const ItmMlcpScaled* s, int i)
{
    int count = 1 + (isfinite(s->lo[i]) ? 1 : 0) + (isfinite(s->up[i]) ? 1 : 0);
    return s->lo[i] == s->up[i] ? 1 : count;
}

// The set-th combination of states: a number written with count_states(i) as the base of digit i.
static void choose_states(ItmMlcpWorkspace* ws, long set)
{
    const ItmMlcpScaled* s = &ws->s;
    for (int i = 0; i < s->n; i++) {
        int count = count_states(s, i);
        int digit = (int)(set % count);
        set /= count;
        bool has_lo = isfinite(s->lo[i]);
        if (s->lo[i] == s->up[i]) {
            ws->state[i] = ITM_ROW_LO;
        } else if (digit == 0) {
            ws->state[i] = ITM_ROW_ACTIVE;
        } else {
            ws->state[i] = digit == 1 && has_lo ? ITM_ROW_LO : ITM_ROW_UP;
        }
    }
}

// x at bounds where tight, H_zz x_z = -(b_z + H_zt x_t) by LU with refinement    [contact-rim, eq. 29]
static void solve_set(ItmMlcpWorkspace* ws)
{
    const ItmMlcpScaled* s = &ws->s;
    int *active = ws->iv[0], m = 0;
    double* r = ws->v[0];
    for (int i = 0; i < s->n; i++) {
        ws->x[i] = ws->state[i] == ITM_ROW_LO ? s->lo[i] : ws->state[i] == ITM_ROW_UP ? s->up[i] : 0.0;
        if (ws->state[i] == ITM_ROW_ACTIVE) {
            active[m++] = i;
        }
    }
    int ld = itm_dense_pad(m);
    for (int k = 0; k < m; k++) {
        double* row = ws->F + (size_t)k * (size_t)ld;
        memset(row, 0, (size_t)ld * sizeof *row);
        for (int j = 0; j < m; j++) {
            row[j] = s->H[(size_t)active[k] * (size_t)s->ld + (size_t)active[j]];
        }
    }
    ws->dense->factor_lu(ws->F, ld, m, ws->iv[1], PIVOT_FLOOR);
    for (int pass = 0; pass < REFINEMENTS; pass++) {
        ws->dense->multiply_rows(ws->w, s->H, s->ld, ws->x, active, m, s->n);
        for (int k = 0; k < m; k++) {
            r[k] = -(ws->w[active[k]] + s->b[active[k]]);
        }
        ws->dense->solve_lu(ws->F, ld, ws->iv[1], r, m);
        for (int k = 0; k < m; k++) {
            ws->x[active[k]] += r[k];
        }
    }
}

bool itm_enumeration_solve(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info)
{
    const ItmMlcpScaled* s = &ws->s;
    double nset = 1.0;
    for (int i = 0; i < s->n; i++) {
        nset *= count_states(s, i);
    }
    if (s->ncontact > 0 || nset > MAX_SETS) {
        return false;
    }
    double best = INFINITY;
    double* x_best = ws->v[1];
    memset(x_best, 0, (size_t)s->n * sizeof *x_best);
    for (long set = 0; set < (long)nset && !(best <= options->tolerance); set++) {
        choose_states(ws, set);
        solve_set(ws);
        info->iterations++;
        info->factorisations++;
        double residual = itm_mlcp_measure(ws);
        if (residual < best) {
            best = residual;
            memcpy(x_best, ws->x, (size_t)s->n * sizeof *x_best);
        }
    }
    memcpy(ws->x, x_best, (size_t)s->n * sizeof *x_best);
    return true;
}
