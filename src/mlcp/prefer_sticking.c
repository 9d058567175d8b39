// Which of several solutions. Coulomb's law of rigid bodies does not determine how redundant contacts share a load, and what friction can
// hold depends on it: a body between two jaws stays at rest where all points of the jaws press, and turns about the one point where
// one alone does. Both solve the problem. A solver that starts from the last impulses finds either.
//
// Here sticking is preferred: where contacts begin to slip, the convex problem of interior.c is solved too. If any admissible impulses
// keep everything at rest, it finds such; otherwise it is a start from which Newton may find less slip. Of the two solutions the one
// with less energy x'Hx / 2 + b'x is taken.
#include "mlcp/workspace.h"

#include <math.h>
#include <string.h>

#define ROUNDS 4  // of sweeps and Newton steps from the solution of the convex problem
#define SWEEPS 50

// x'(w + b) / 2 in the caller's units
static double compute_energy(const ItmMlcpProblem* problem, const double* x, const double* w)
{
    double sum = 0.0;
    for (int i = 0; i < problem->n; i++) {
        sum += 0.5 * x[i] * (w[i] + problem->b[i]);
    }
    return sum;
}

// Whether the closed contact slips now, and did not before: not that way, or less than half as fast. Contacts that open faster than
// they slip, w_n >= mu |w_t|, do so in the convex problem too.
static bool begins_to_slip(const ItmMlcpContact* c, const double* w, const double* before, double small)
{
    double speed = 0.0, along = 0.0;
    for (int k = 0; k < 2 && c->tangent[k] != ITM_NONE; k++) {
        speed += w[c->tangent[k]] * w[c->tangent[k]];
        along += w[c->tangent[k]] * before[c->tangent[k]];
    }
    return speed > small * small && w[c->normal] < c->mu * sqrt(speed) && along < 0.5 * speed;
}

bool itm_prefer_sticking_is_in_doubt(const ItmMlcpWorkspace* ws, const ItmMlcpOptions* options)
{
    const ItmMlcpProblem* p = ws->problem;
    if (p->w_before == NULL || !p->is_symmetric) {
        return false;
    }
    double most = 0.0;
    for (int i = 0; i < p->n; i++) {
        most = fmax(most, fabs(p->b[i]));
    }
    for (int c = 0; c < p->ncontact; c++) {
        if (begins_to_slip(&p->contacts[c], ws->w_best, p->w_before, options->tolerance * (1.0 + most))) {
            return true;
        }
    }
    return false;
}

bool itm_prefer_sticking_solve(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info, double* residual)
{
    if (!itm_interior_solve(ws, options, info)) {
        return false;
    }
    ItmMlcpOptions tight = *options;
    tight.tolerance *= 0.01;
    itm_newton_polish(ws, &tight, info);
    *residual = itm_mlcp_measure(ws);
    // where friction of the convex problem is not quite that of the law, Newton's method may miss the solution nearby: sweeps stay close
    for (int k = 0; k<ROUNDS&& * residual> options->tolerance && !itm_mlcp_is_spent(options, info); k++) {
        itm_gauss_seidel_sweep(ws, 1.0, SWEEPS);
        itm_newton_polish(ws, &tight, info);
        *residual = itm_mlcp_measure(ws);
    }
    return *residual <= options->tolerance &&
           compute_energy(ws->problem, ws->x_user, ws->w_user) < compute_energy(ws->problem, ws->x_best, ws->w_best);
}
