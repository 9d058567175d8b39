// The residual that judges every solver alike, and the value of a proof.
#include "mlcp/friction.h"

#include "base/guard.h"
#include "mlcp/workspace.h"

#include <math.h>

// ---------------------------------------------------------------------------- residual

static double clamp(double y, double lo, double up)
{
    y = y < lo ? lo : y;
    return y > up ? up : y;
}

// max; a NaN in b stays
static double worse(double a, double b)
{
    return a > b ? a : b;
}

static double measure_box(const ItmMlcpContact* c, const double* x, const double* w)
{
    double r = c->mu * fmax(0.0, x[c->normal]);
    double worst = 0.0;
    for (int k = 0; k < 2 && c->tangent[k] != ITM_NONE; k++) {
        int i = c->tangent[k];
        worst = worse(worst, fabs(x[i] - clamp(x[i] - w[i], -r, r)));
    }
    return worst;
}

static double measure_pyramid(const ItmMlcpContact* c, const double* x, const double* w)
{
    if (c->tangent[1] == ITM_NONE) {
        return measure_box(c, x, w);
    }
    const int* t = c->tangent;
    double y[2] = {x[t[0]] - w[t[0]], x[t[1]] - w[t[1]]};
    itm_friction_project_polygon(y, c->mu * fmax(0.0, x[c->normal]), c->ndirection);
    return worse(fabs(x[t[0]] - y[0]), fabs(x[t[1]] - y[1]));
}

static double measure_cone(const ItmMlcpContact* c, const double* x, const double* w)
{
    int n = c->normal, t0 = c->tangent[0], t1 = c->tangent[1];
    double wt[2] = {w[t0], t1 != ITM_NONE ? w[t1] : 0.0};
    double xt[2] = {x[t0], t1 != ITM_NONE ? x[t1] : 0.0};

    // (x_n, x_t) - (w_n + mu |w_t|, w_t), projected onto the cone
    double yn = x[n] - (w[n] + c->mu * itm_friction_length(wt));
    double yt[2] = {xt[0] - wt[0], xt[1] - wt[1]};
    itm_friction_project(c, &yn, yt);
    return worse(fabs(x[n] - yn), worse(fabs(xt[0] - yt[0]), fabs(xt[1] - yt[1])));
}

static double max_abs(const double* v, int n)
{
    double m = 0.0;
    for (int i = 0; i < n; i++) {
        m = worse(m, fabs(v[i]));
    }
    return m;
}

// Slow but without memory: only the public function has no table to look the row up in.
static bool is_tangent(const ItmMlcpProblem* p, const int* tangent_of, int row)
{
    if (tangent_of != NULL) {
        return tangent_of[row] != ITM_NONE;
    }
    for (int c = 0; c < p->ncontact; c++) {
        if (p->contacts[c].tangent[0] == row || p->contacts[c].tangent[1] == row) {
            return true;
        }
    }
    return false;
}

static double measure_bounds(const ItmMlcpProblem* p, const double* x, const double* w, const int* tangent_of)
{
    double worst = 0.0;
    for (int i = 0; i < p->n; i++) {
        if (p->ncontact == 0 || !is_tangent(p, tangent_of, i)) {
            worst = worse(worst, fabs(x[i] - clamp(x[i] - w[i], p->lo[i], p->up[i])));
        }
    }
    return worst;
}

static double measure_contact(const ItmMlcpContact* contact, const double* x, const double* w)
{
    return contact->law == ITM_FRICTION_CONE      ? measure_cone(contact, x, w)
           : contact->law == ITM_FRICTION_PYRAMID ? measure_pyramid(contact, x, w)
                                                  : measure_box(contact, x, w);
}

static double measure_contacts(const ItmMlcpProblem* p, const double* x, const double* w)
{
    double worst = 0.0;
    for (int c = 0; c < p->ncontact; c++) {
        worst = worse(worst, measure_contact(&p->contacts[c], x, w));
    }
    return worst;
}

double itm_residual_compute(const ItmMlcpProblem* problem, const double* x, const double* w, const int* tangent_of)
{
    double worst = worse(measure_bounds(problem, x, w, tangent_of), measure_contacts(problem, x, w));
    return worst / (1.0 + max_abs(problem->b, problem->n));
}

int itm_residual_find_worst(const ItmMlcpProblem* p, const double* x, const double* w, const int* tangent_of)
{
    double worst = -1.0;
    int row = 0;
    for (int i = 0; i < p->n; i++) {
        if (!is_tangent(p, tangent_of, i)) {
            double r = fabs(x[i] - clamp(x[i] - w[i], p->lo[i], p->up[i]));
            row = r <= worst ? row : i;
            worst = worse(worst, r);
        }
    }
    for (int c = 0; c < p->ncontact; c++) {
        double r = measure_contact(&p->contacts[c], x, w);
        row = r <= worst ? row : p->contacts[c].normal;
        worst = worse(worst, r);
    }
    return row;
}

static double multiply_row(const ItmMlcpProblem* p, const double* x, int row)
{
    const double* H = p->H + (size_t)row * (size_t)p->n;
    double sum = p->b[row];
    for (int j = 0; j < p->n; j++) {
        sum += H[j] * x[j];
    }
    return sum;
}

// The contact's rows only, gathered so that no array for all of w is needed.
static double measure_contact_alone(const ItmMlcpProblem* p, const ItmMlcpContact* contact, const double* x)
{
    const int rows[3] = {contact->normal, contact->tangent[0], contact->tangent[1]};
    double xs[3] = {0}, ws[3] = {0};
    for (int k = 0; k < 3; k++) {
        if (rows[k] != ITM_NONE) {
            xs[k] = x[rows[k]];
            ws[k] = multiply_row(p, x, rows[k]);
        }
    }
    ItmMlcpContact local = *contact;
    local.normal = 0;
    local.tangent[0] = 1;
    local.tangent[1] = rows[2] != ITM_NONE ? 2 : ITM_NONE;
    ItmMlcpProblem alone = {.ncontact = 1, .contacts = &local};
    return measure_contacts(&alone, xs, ws);
}

double itm_mlcp_compute_residual(const ItmMlcpProblem* problem, const double* x)
{
    ITM_GUARD(problem != NULL && x != NULL, 0.0);
    double worst = 0.0;
    for (int i = 0; i < problem->n; i++) {
        if (!is_tangent(problem, NULL, i)) {
            double w = multiply_row(problem, x, i);
            worst = worse(worst, fabs(x[i] - clamp(x[i] - w, problem->lo[i], problem->up[i])));
        }
    }
    for (int c = 0; c < problem->ncontact; c++) {
        worst = worse(worst, measure_contact_alone(problem, &problem->contacts[c], x));
    }
    return worst / (1.0 + max_abs(problem->b, problem->n));
}

// ---------------------------------------------------------------------------- proof of no solution

// d may push w_i only where complementarity fixes the sign of w_i
static bool is_admissible_direction(double lo, double up, double d)
{
    if (d > 0.0) {
        return up == INFINITY;
    }
    return d == 0.0 || lo == -INFINITY;
}

// Let x solve the problem. Then d.w >= 0 for every admissible d, but d.w = d.b + (H'd).x. Where x_j
// is bounded, (H'd)_j x_j is at most its largest value on [lo_j, up_j]; where it is not, |(H'd)_j|
// max|x| bounds it. So
//     0 <= d.b + bounded + unbounded max|x|,   max|x| >= -(d.b + bounded) / unbounded
double itm_mlcp_compute_proof_radius(const ItmMlcpProblem* p, const double* d)
{
    ITM_GUARD(p != NULL && d != NULL, 0.0);
    double known = 0.0, unbounded = 0.0;
    for (int i = 0; i < p->n; i++) {
        if (!is_admissible_direction(p->lo[i], p->up[i], d[i]) || (d[i] != 0.0 && is_tangent(p, NULL, i))) {
            return 0.0;
        }
        known += d[i] * p->b[i];
    }
    for (int j = 0; j < p->n; j++) {
        double g = 0.0;
        for (int i = 0; i < p->n; i++) {
            g += p->H[(size_t)i * (size_t)p->n + (size_t)j] * d[i];
        }
        bool has_bounds = p->ncontact == 0 || !is_tangent(p, NULL, j);
        double bound = g > 0.0 ? p->up[j] : p->lo[j];
        if (g != 0.0 && has_bounds && isfinite(bound)) {
            known += g * bound;
        } else {
            unbounded += fabs(g);
        }
    }
    if (!(known < 0.0)) {
        return 0.0;
    }
    return unbounded > 0.0 ? -known / unbounded : INFINITY;
}
