// Free rows that contradict each other (drifting redundant joints) leave a friction problem without
// a solution, and the friction solvers would only fail slowly. So they are found beforehand: with
// all other rows at zero impulse, pivoting either satisfies the free rows or proves that nothing
// can, since H d = 0 there means H d = 0 everywhere. What is left of w in its compromise is taken
// off b; the problem solved from then on is the nearest one that has a solution.
#include "mlcp/workspace.h"

#include <math.h>
#include <string.h>

static bool is_free(const ItmMlcpScaled* s, int i)
{
    return s->tangent_of[i] == ITM_NONE && s->lo[i] == -INFINITY && s->up[i] == INFINITY;
}

static int count_free(const ItmMlcpScaled* s)
{
    int count = 0;
    for (int i = 0; i < s->n; i++) {
        count += is_free(s, i);
    }
    return count;
}

// The problem of the free rows alone, and back
static void pin_other_rows(ItmMlcpScaled* s, double* lo, double* up)
{
    for (int i = 0; i < s->n; i++) {
        lo[i] = s->lo[i];
        up[i] = s->up[i];
        if (!is_free(s, i)) {
            s->lo[i] = s->up[i] = 0.0;
        }
    }
}

void itm_consistency_restore(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info)
{
    ItmMlcpScaled* s = &ws->s;
    int ncontact = s->ncontact;
    if (ncontact == 0 || !s->is_symmetric || count_free(s) < 2) {
        return;
    }
    double *lo = ws->x_best, *up = ws->w_best, *x = ws->shift;
    const ItmMlcpProblem* problem = ws->problem;
    size_t size = (size_t)s->n * sizeof(double);
    memcpy(x, ws->x, size);
    memcpy(ws->state_best, ws->state, (size_t)s->n);

    // solve with everything else pinned; what is measured is then a problem of bounds only
    ItmMlcpProblem pinned = *problem;
    pinned.ncontact = 0;
    pin_other_rows(s, lo, up);
    pinned.lo = s->lo;
    pinned.up = s->up;
    ws->problem = &pinned;
    s->ncontact = 0;
    ItmMlcpInfo own = {0};
    for (int i = 0; i < s->n; i++) {
        ws->state[i] = is_free(s, i) ? ITM_ROW_ACTIVE : ITM_ROW_LO;
    }
    itm_pivoting_solve(ws, options, &own);
    info->factorisations += own.factorisations;
    info->proof_radius = own.proof_radius;
    ws->problem = problem;
    s->ncontact = ncontact;
    if (ws->has_ray) {
        itm_mlcp_measure(ws);
    }
    memcpy(s->lo, lo, size);
    memcpy(s->up, up, size);
    memcpy(ws->x, x, size);
    memcpy(ws->state, ws->state_best, (size_t)s->n);
    for (int i = 0; i < s->n; i++) {
        ws->shift[i] = ws->has_ray && is_free(s, i) ? ws->w[i] : 0.0;
        s->b[i] -= ws->shift[i];
    }
}
