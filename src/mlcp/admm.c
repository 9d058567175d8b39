// Alternating directions (ADMM) with one factorisation per penalty, for exact cones and many
// contacts.
//     x = (H + rho I)^-1 (rho (z - u) - b - s),   z = P(x~ + u),   u = u + x~ - z,   x~ = over-relaxed x
// s is De Saxce's shift mu |w_t| on the normal row of a cone, refreshed from the dual w = -rho u -
// s at every iteration; boxes and pyramids use the radius of the current normal impulse. rho
// follows the balance of the primal residual |x - z| and the dual one rho |z - z_prev| (both in
// scaled units).
#include "mlcp/friction.h"
#include "mlcp/workspace.h"

#include <math.h>
#include <string.h>

enum { CHECK_EVERY = 25, BALANCE_EVERY = 50 };
static const double OVER_RELAXATION = 1.6;

typedef struct Admm {
    ItmMlcpWorkspace* ws;
    int n;
    double rho;
    double* x;       // (n)
    double* z;       // admissible copy of x                              (n)
    double* z_prev;  // (n)
    double* u;       // scaled dual                                       (n)
    double* s;       // De Saxce's shift                                  (n)
} Admm;

static bool factor(Admm* a, ItmMlcpInfo* info)
{
    ItmMlcpWorkspace* ws = a->ws;
    const ItmMlcpScaled* s = &ws->s;
    memcpy(ws->F, s->H, (size_t)s->n * (size_t)s->ld * sizeof *ws->F);
    for (int i = 0; i < s->n; i++) {
        ws->F[(size_t)i * (size_t)s->ld + (size_t)i] += a->rho;
    }
    info->factorisations++;
    info->work += (double)a->n * a->n * a->n / 6.0;
    return ws->dense->factor_cholesky(ws->F, s->ld, s->n, 0.0) == s->n;
}

// The cone that is projected together with its normal; others of the same normal are discs.
static bool is_first_cone(const ItmMlcpScaled* s, int k)
{
    return s->contacts[k].law == ITM_FRICTION_CONE && s->cone_of[s->contacts[k].normal] == k;
}

// z = P(z), the normals before the tangents that depend on them
static void project(const ItmMlcpScaled* s, double* z)
{
    for (int i = 0; i < s->n; i++) {
        if (s->tangent_of[i] == ITM_NONE && s->cone_of[i] == ITM_NONE) {
            z[i] = fmin(fmax(z[i], s->lo[i]), s->up[i]);
        }
    }
    for (int k = 0; k < s->ncontact; k++) {
        const ItmMlcpContact* c = &s->contacts[k];
        if (is_first_cone(s, k)) {
            double t[2] = {z[c->tangent[0]], z[c->tangent[1]]};
            itm_friction_project(c, &z[c->normal], t);
            z[c->tangent[0]] = t[0];
            z[c->tangent[1]] = t[1];
        }
    }
    for (int k = 0; k < s->ncontact; k++) {
        const ItmMlcpContact* c = &s->contacts[k];
        double r = c->mu * fmax(0.0, z[c->normal]);
        if (c->law == ITM_FRICTION_BOX) {
            z[c->tangent[0]] = fmin(fmax(z[c->tangent[0]], -r), r);
        } else if (!is_first_cone(s, k)) {
            double t[2] = {z[c->tangent[0]], z[c->tangent[1]]};
            itm_friction_project_tangents(c, t, r);
            z[c->tangent[0]] = t[0];
            z[c->tangent[1]] = t[1];
        }
    }
}

static void iterate(Admm* a)
{
    ItmMlcpWorkspace* ws = a->ws;
    const ItmMlcpScaled* s = &ws->s;

    // x = (H + rho)^-1 (rho (z - u) - b - s)
    for (int i = 0; i < a->n; i++) {
        a->x[i] = a->rho * (a->z[i] - a->u[i]) - s->b[i] - a->s[i];
    }
    ws->dense->solve_cholesky(ws->F, s->ld, a->x, a->n);

    // z = P(x~ + u),  u = x~ + u - z
    for (int i = 0; i < a->n; i++) {
        a->z_prev[i] = a->z[i];
        a->u[i] += OVER_RELAXATION * a->x[i] + (1.0 - OVER_RELAXATION) * a->z[i];
        a->z[i] = a->u[i];
    }
    project(s, a->z);
    for (int i = 0; i < a->n; i++) {
        a->u[i] -= a->z[i];
    }

    // s_n = mu |w_t|,  w_t = -rho u_t
    for (int k = 0; k < s->ncontact; k++) {
        const ItmMlcpContact* c = &s->contacts[k];
        if (is_first_cone(s, k)) {
            a->s[c->normal] = c->mu * a->rho * hypot(a->u[c->tangent[0]], a->u[c->tangent[1]]);
        }
    }
}

static double distance(const double* a, const double* b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sqrt(sum);
}

// A new penalty where primal and dual residual are far apart; u holds w / rho and follows.
static bool balance(Admm* a, ItmMlcpInfo* info)
{
    double primal = distance(a->x, a->z, a->n);
    double dual = a->rho * distance(a->z, a->z_prev, a->n);
    double factor_wanted = sqrt((primal + 1e-300) / (dual + 1e-300));
    if (factor_wanted < 4.0 && factor_wanted > 0.25) {
        return true;
    }
    double rho = fmin(fmax(a->rho * fmin(fmax(factor_wanted, 0.1), 10.0), 1e-7), 1e3);
    for (int i = 0; i < a->n; i++) {
        a->u[i] *= a->rho / rho;
    }
    a->rho = rho;
    return factor(a, info);
}

static bool start_admm(Admm* a, ItmMlcpInfo* info)
{
    const ItmMlcpScaled* s = &a->ws->s;
    // from the iterate so far: z = P(x), and the dual that belongs to it
    memcpy(a->z, a->ws->x, (size_t)a->n * sizeof *a->z);
    project(s, a->z);
    memcpy(a->ws->x, a->z, (size_t)a->n * sizeof *a->z);
    itm_mlcp_measure(a->ws);
    memset(a->s, 0, (size_t)a->n * sizeof *a->s);
    for (int k = 0; k < s->ncontact; k++) {
        const ItmMlcpContact* c = &s->contacts[k];
        if (is_first_cone(s, k)) {
            a->s[c->normal] = c->mu * hypot(a->ws->w[c->tangent[0]], a->ws->w[c->tangent[1]]);
        }
    }
    for (int i = 0; i < a->n; i++) {
        a->u[i] = -(a->ws->w[i] + a->s[i]) / a->rho;
    }
    return factor(a, info);
}

bool itm_admm_solve(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info)
{
    if (!ws->s.is_symmetric) {
        return false;
    }
    Admm a = {.ws = ws,
              .n = ws->s.n,
              .rho = 0.1,
              .x = ws->v[0],
              .z = ws->v[1],
              .z_prev = ws->v[2],
              .u = ws->v[3],
              .s = ws->v[4]};
    if (!start_admm(&a, info)) {
        return false;
    }
    bool is_last = false;
    for (int k = 1; !is_last; k++) {
        iterate(&a);
        info->iterations++;
        info->work += (double)a.n * a.n;
        is_last = k >= options->max_iterations || itm_mlcp_is_spent(options, info);
        if (k % CHECK_EVERY == 0 || is_last) {
            memcpy(ws->x, a.z, (size_t)a.n * sizeof *a.z);
            if (itm_mlcp_measure(ws) <= options->tolerance) {
                break;
            }
        }
        if (k % BALANCE_EVERY == 0 && !balance(&a, info)) {
            break;
        }
    }
    return true;
}
