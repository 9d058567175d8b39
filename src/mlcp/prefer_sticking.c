// Which of several solutions. Coulomb's law of rigid bodies does not determine how redundant contacts share a load, and what friction can
// hold depends on it: a body between two jaws stays at rest where all points of the jaws press, and turns about the one point where
// one alone does. Both solve the problem. A solver that starts from the last impulses finds either.
//
// Here sticking is preferred: where contacts begin to slip, the convex problem of interior.c is solved too. If any admissible impulses
// keep everything at rest, it finds such, and they are taken; otherwise it is a start from which Newton may find less slip, and of the
// two solutions the one with less energy x'Hx / 2 + b'x is taken. Redundant contacts can stick only where their rates do not contradict
// each other: contradiction.c comes first.
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

static double square_slip(const ItmMlcpContact* c, const double* w)
{
    double sum = 0.0;
    for (int k = 0; k < 2 && c->tangent[k] != ITM_NONE; k++) {
        sum += w[c->tangent[k]] * w[c->tangent[k]];
    }
    return sum;
}

// Whether the closed contact slips now, and did not before: not that way, or less than half as fast, or by no more than b may be wrong.
// Contacts that open faster than they slip, w_n >= mu |w_t|, do so in the convex problem too.
static bool begins_to_slip(const ItmMlcpContact* c, const double* w, const double* before, double small, double error)
{
    double square = square_slip(c, w), along = 0.0;
    for (int k = 0; k < 2 && c->tangent[k] != ITM_NONE; k++) {
        along += w[c->tangent[k]] * before[c->tangent[k]];
    }
    return square > small * small && w[c->normal] < c->mu * sqrt(square) &&
           (along < 0.5 * square || square <= error * error);
}

// Slip that counts as none: what the tolerance allows.
static double find_least_slip(const ItmMlcpProblem* p, const ItmMlcpOptions* options)
{
    double most = 0.0;
    for (int i = 0; i < p->n; i++) {
        most = fmax(most, fabs(p->b[i]));
    }
    return options->tolerance * (1.0 + most);
}

// Whether no contact that pushes slips in the last measured solution.
static bool sticks(const ItmMlcpWorkspace* ws, const ItmMlcpOptions* options)
{
    const ItmMlcpProblem* p = ws->problem;
    double small = find_least_slip(p, options);
    for (int c = 0; c < p->ncontact; c++) {
        const ItmMlcpContact* contact = &p->contacts[c];
        if (ws->x_user[contact->normal] > 0.0 && square_slip(contact, ws->w_user) > small * small) {
            return false;
        }
    }
    return true;
}

bool itm_prefer_sticking_is_in_doubt(const ItmMlcpWorkspace* ws, const ItmMlcpOptions* options)
{
    const ItmMlcpProblem* p = ws->problem;
    if (p->w_before == NULL || !p->is_symmetric) {
        return false;
    }
    double small = find_least_slip(p, options), error = p->slip_is_known ? 0.0 : p->contradiction;
    for (int c = 0; c < p->ncontact; c++) {
        if (begins_to_slip(&p->contacts[c], ws->w_best, p->w_before, small, error)) {
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
           (sticks(ws, options) ||
            compute_energy(ws->problem, ws->x_user, ws->w_user) < compute_energy(ws->problem, ws->x_best, ws->w_best));
}
