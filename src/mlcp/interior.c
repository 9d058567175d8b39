// Interior-point method for the convex neighbour of a friction problem: normal velocities that widen with slip, w_n >= mu |w_t|,
//     min x'Hx / 2 + b'x   over   lo <= x <= up,  |x_t| <= mu x_n  (cones, boxes by rows)
// Wherever some admissible x keeps all contacts at rest, it is a minimum of this, and the one found here lies in the middle of all
// such x: the load is spread over the contacts, well inside their cones.
//     s = G x - g in C,  z in C,  H x + b = G'z,  s o z = 0;   C: half lines for bounds, second-order cones for contacts
// Mehrotra's predictor and corrector with Nesterov and Todd's scaling W of the cones, W z = W^-1 s = l:
//     (H + G'W^-2 G) dx = -(H x + b) + G'q,   dz = q - z - W^-2 G dx,   q = W^-1 (l \ (sigma mu e - W^-1 ds_a o W dz_a))
// A polygon is taken as the disc inscribed in it.
#include "mlcp/soc.h"
#include "mlcp/workspace.h"

#include <math.h>
#include <string.h>

enum { MAX_STEPS = 60 };
static const double GAP = 1e-10;     // s'z per constraint, of max |b|^2, that is small enough
static const double DUAL = 1e-10;    // and |H x + b - G'z|, of max |b|
static const double LEAST = 1e-24;   // and that cannot be made any smaller
static const double TO_EDGE = 0.99;  // share of the way to the edge of C
static const double LARGEST = 1e12;  // of max |b|: x runs away, there is no minimum
static const double OPEN = 1e-6;     // a contact is open where s is that much smaller than z

typedef enum Kind {
    FIXED,  // lo = up, or friction without any coefficient: x stays
    FREE,
    BOUNDED,      // s_a = x - lo, s_b = up - x where those are finite
    BOX_TANGENT,  // s_a = mu x_n + x_t, s_b = mu x_n - x_t
    BOX_NORMAL,   // bounded by its tangents
    CONE_NORMAL,  // s = (mu x_n, x_t1, x_t2), in s_a of the three rows
    CONE_TANGENT,
} Kind;

typedef struct Interior {
    ItmMlcpWorkspace* ws;
    int n;
    signed char* kind;                  // Kind of a row                                 (n)
    double *x, *w;                      // w = H x + b                                   (n)
    double *s_a, *s_b;                  // slacks; rows of a cone: s_a                   (n)
    double *z_a, *z_b;                  // multipliers                                   (n)
    double *q_a, *q_b;                  // right sides of complementarity                (n)
    double* dx;                         // (n)
    double *ds_a, *ds_b, *dz_a, *dz_b;  // (n)
    int degree;                         // constraints, a cone counts once
    double size;                        // max |b|
} Interior;

// ---------------------------------------------------------------------------- constraints

// The three rows of a cone.
static ItmSoc soc_get(const double* from, const ItmMlcpContact* c)
{
    return (ItmSoc){{from[c->normal], from[c->tangent[0]], from[c->tangent[1]]}};
}

static void soc_put(double* to, const ItmMlcpContact* c, ItmSoc a)
{
    to[c->normal] = a.v[0];
    to[c->tangent[0]] = a.v[1];
    to[c->tangent[1]] = a.v[2];
}

static bool is_cone(const Interior* p, const ItmMlcpContact* c)
{
    return p->kind[c->tangent[0]] == CONE_TANGENT;
}

static double cone_mu(const ItmMlcpContact* c)
{
    const double pi = 3.14159265358979323846;
    return c->law == ITM_FRICTION_PYRAMID ? c->mu * cos(pi / c->ndirection) : c->mu;
}

static void choose_kinds(Interior* p)
{
    const ItmMlcpScaled* s = &p->ws->s;
    for (int i = 0; i < p->n; i++) {
        bool is_fixed = s->lo[i] == s->up[i];
        bool is_bounded = isfinite(s->lo[i]) || isfinite(s->up[i]);
        p->kind[i] = is_fixed ? FIXED : is_bounded ? BOUNDED : FREE;
    }
    for (int k = 0; k < s->ncontact; k++) {
        const ItmMlcpContact* c = &s->contacts[k];
        bool is_smooth = c->mu == 0.0 || p->kind[c->normal] == FIXED, is_box = c->law == ITM_FRICTION_BOX;
        p->kind[c->tangent[0]] = is_smooth ? FIXED : is_box ? BOX_TANGENT : CONE_TANGENT;
        if (!is_box) {
            p->kind[c->tangent[1]] = p->kind[c->tangent[0]];
        }
        if (!is_smooth && p->kind[c->normal] != CONE_NORMAL) {
            p->kind[c->normal] = is_box ? BOX_NORMAL : CONE_NORMAL;
        }
    }
}

static bool has_lower(const Interior* p, int i)
{
    return p->kind[i] == BOX_TANGENT || (p->kind[i] == BOUNDED && isfinite(p->ws->s.lo[i]));
}

static bool has_upper(const Interior* p, int i)
{
    return p->kind[i] == BOX_TANGENT || (p->kind[i] == BOUNDED && isfinite(p->ws->s.up[i]));
}

// (a, b) = G y
static void multiply_G(const Interior* p, double* a, double* b, const double* y)
{
    const ItmMlcpScaled* s = &p->ws->s;
    for (int i = 0; i < p->n; i++) {
        a[i] = y[i];
        b[i] = -y[i];
    }
    for (int k = 0; k < s->ncontact; k++) {
        const ItmMlcpContact* c = &s->contacts[k];
        if (is_cone(p, c)) {
            a[c->normal] = cone_mu(c) * y[c->normal];
        } else if (p->kind[c->tangent[0]] == BOX_TANGENT) {
            a[c->tangent[0]] += c->mu * y[c->normal];
            b[c->tangent[0]] += c->mu * y[c->normal];
        }
    }
}

// y += G'(a, b)
static void add_G_transposed(const Interior* p, double* y, const double* a, const double* b)
{
    const ItmMlcpScaled* s = &p->ws->s;
    for (int i = 0; i < p->n; i++) {
        y[i] += has_lower(p, i) || p->kind[i] == CONE_TANGENT ? a[i] : 0.0;
        y[i] -= has_upper(p, i) ? b[i] : 0.0;
    }
    for (int k = 0; k < s->ncontact; k++) {
        const ItmMlcpContact* c = &s->contacts[k];
        if (is_cone(p, c)) {
            y[c->normal] += cone_mu(c) * a[c->normal];
        } else if (p->kind[c->tangent[0]] == BOX_TANGENT) {
            y[c->normal] += c->mu * (a[c->tangent[0]] + b[c->tangent[0]]);
        }
    }
}

static void compute_slacks(Interior* p)
{
    const ItmMlcpScaled* s = &p->ws->s;
    multiply_G(p, p->s_a, p->s_b, p->x);
    for (int i = 0; i < p->n; i++) {
        if (p->kind[i] == BOUNDED) {
            p->s_a[i] -= s->lo[i];
            p->s_b[i] += s->up[i];
        }
    }
}

// ---------------------------------------------------------------------------- start

// Inside all constraints, whatever x was: normals at the size of b, no friction, bounded rows off their bounds.
static void start(Interior* p)
{
    const ItmMlcpScaled* s = &p->ws->s;
    p->degree = 0;
    for (int i = 0; i < p->n; i++) {
        bool low = has_lower(p, i), high = has_upper(p, i);
        p->degree += low + high + (p->kind[i] == CONE_NORMAL);
        switch ((Kind)p->kind[i]) {
        case FIXED:
            p->x[i] = s->tangent_of[i] != ITM_NONE ? 0.0 : s->lo[i];
            break;
        case BOUNDED:
            p->x[i] = low && high ? 0.5 * (s->lo[i] + s->up[i]) : low ? s->lo[i] + p->size : s->up[i] - p->size;
            break;
        case BOX_NORMAL:
        case CONE_NORMAL:
            p->x[i] = p->size;
            break;
        default:
            p->x[i] = 0.0;
        }
    }
    compute_slacks(p);
    double* steps[] = {p->ds_a, p->ds_b, p->dz_a, p->dz_b};
    for (int k = 0; k < 4; k++) {
        memset(steps[k], 0, sizeof(double) * (size_t)p->n);
    }
    // s o z = mu e, mu = |b|^2
    double mu = p->size * p->size;
    for (int i = 0; i < p->n; i++) {
        p->z_a[i] = has_lower(p, i) ? mu / p->s_a[i] : 0.0;
        p->z_b[i] = has_upper(p, i) ? mu / p->s_b[i] : 0.0;
    }
    for (int k = 0; k < s->ncontact; k++) {
        const ItmMlcpContact* c = &s->contacts[k];
        if (is_cone(p, c)) {
            ItmSoc slack = soc_get(p->s_a, c), z = itm_soc_flip(slack);
            for (int l = 0; l < 3; l++) {
                z.v[l] *= mu / itm_soc_det(slack);
            }
            soc_put(p->z_a, c, z);
        }
    }
}

// ---------------------------------------------------------------------------- Newton step

// F = H + G'W^-2 G; rows that stay are put aside
static bool factor(Interior* p, ItmMlcpInfo* info)
{
    ItmMlcpWorkspace* ws = p->ws;
    const ItmMlcpScaled* s = &ws->s;
    size_t ld = (size_t)s->ld;
    double* F = ws->F;
    memcpy(F, s->H, (size_t)p->n * ld * sizeof *F);
    for (int i = 0; i < p->n; i++) {
        F[(size_t)i * (ld + 1)] += has_lower(p, i) ? p->z_a[i] / p->s_a[i] : 0.0;
        F[(size_t)i * (ld + 1)] += has_upper(p, i) ? p->z_b[i] / p->s_b[i] : 0.0;
    }
    for (int k = 0; k < s->ncontact; k++) {
        const ItmMlcpContact* c = &s->contacts[k];
        int t = c->tangent[0];
        size_t n = (size_t)c->normal;
        if (p->kind[t] == BOX_TANGENT) {
            double a = p->z_a[t] / p->s_a[t], b = p->z_b[t] / p->s_b[t];
            F[n * (ld + 1)] += c->mu * c->mu * (a + b);
            F[n * ld + (size_t)t] += c->mu * (a - b);
            F[(size_t)t * ld + n] += c->mu * (a - b);
        } else if (is_cone(p, c)) {
            ItmSocScaling W = itm_soc_scale(soc_get(p->s_a, c), soc_get(p->z_a, c));
            const int rows[3] = {c->normal, c->tangent[0], c->tangent[1]};
            for (int j = 0; j < 3; j++) {
                ItmSoc e = {{0.0, 0.0, 0.0}};
                e.v[j] = j == 0 ? cone_mu(c) : 1.0;
                ItmSoc column = itm_soc_solve(W, itm_soc_solve(W, e));
                for (int i = 0; i < 3; i++) {
                    F[(size_t)rows[i] * ld + (size_t)rows[j]] += (i == 0 ? cone_mu(c) : 1.0) * column.v[i];
                }
            }
        }
    }
    for (int i = 0; i < p->n; i++) {
        for (int j = 0; p->kind[i] == FIXED && j < p->n; j++) {
            F[(size_t)i * ld + (size_t)j] = F[(size_t)j * ld + (size_t)i] = i == j ? 1.0 : 0.0;
        }
    }
    info->factorisations++;
    info->work += (double)p->n * p->n * p->n / 6.0 + 3.0 * p->n * p->n;
    return ws->dense->factor_cholesky(F, s->ld, p->n, 0.0) == p->n;
}

// dx, ds, dz for the right sides q
static void solve(Interior* p)
{
    ItmMlcpWorkspace* ws = p->ws;
    const ItmMlcpScaled* s = &ws->s;
    for (int i = 0; i < p->n; i++) {
        p->dx[i] = -p->w[i];
    }
    add_G_transposed(p, p->dx, p->q_a, p->q_b);
    for (int i = 0; i < p->n; i++) {
        p->dx[i] = p->kind[i] == FIXED ? 0.0 : p->dx[i];
    }
    ws->dense->solve_cholesky(ws->F, s->ld, p->dx, p->n);
    multiply_G(p, p->ds_a, p->ds_b, p->dx);
    for (int i = 0; i < p->n; i++) {
        p->dz_a[i] = has_lower(p, i) ? p->q_a[i] - p->z_a[i] * (1.0 + p->ds_a[i] / p->s_a[i]) : 0.0;
        p->dz_b[i] = has_upper(p, i) ? p->q_b[i] - p->z_b[i] * (1.0 + p->ds_b[i] / p->s_b[i]) : 0.0;
    }
    for (int k = 0; k < s->ncontact; k++) {
        const ItmMlcpContact* c = &s->contacts[k];
        if (is_cone(p, c)) {
            ItmSoc z = soc_get(p->z_a, c), q = soc_get(p->q_a, c);
            ItmSocScaling W = itm_soc_scale(soc_get(p->s_a, c), z);
            ItmSoc pull = itm_soc_solve(W, itm_soc_solve(W, soc_get(p->ds_a, c)));
            for (int l = 0; l < 3; l++) {
                pull.v[l] = q.v[l] - z.v[l] - pull.v[l];
            }
            soc_put(p->dz_a, c, pull);
        }
    }
}

// q of the corrector; of the predictor (sigma mu = 0, no second order) it is zero
static void correct(Interior* p, double target)
{
    const ItmMlcpScaled* s = &p->ws->s;
    for (int i = 0; i < p->n; i++) {
        p->q_a[i] = has_lower(p, i) ? (target - p->ds_a[i] * p->dz_a[i]) / p->s_a[i] : 0.0;
        p->q_b[i] = has_upper(p, i) ? (target - p->ds_b[i] * p->dz_b[i]) / p->s_b[i] : 0.0;
    }
    for (int k = 0; k < s->ncontact; k++) {
        const ItmMlcpContact* c = &s->contacts[k];
        if (is_cone(p, c)) {
            ItmSoc slack = soc_get(p->s_a, c);
            ItmSocScaling W = itm_soc_scale(slack, soc_get(p->z_a, c));
            ItmSoc r = itm_soc_product(itm_soc_solve(W, soc_get(p->ds_a, c)), itm_soc_apply(W, soc_get(p->dz_a, c)));
            r = (ItmSoc){{target - r.v[0], -r.v[1], -r.v[2]}};
            soc_put(p->q_a, c, itm_soc_solve(W, itm_soc_divide(itm_soc_solve(W, slack), r)));
        }
    }
}

static double reach(double s, double ds)
{
    return ds < 0.0 ? -s / ds : INFINITY;
}

// Longest step that stays inside, at most 1.
static double find_reach(const Interior* p)
{
    const ItmMlcpScaled* s = &p->ws->s;
    double t = 1.0 / TO_EDGE;
    for (int i = 0; i < p->n; i++) {
        t = has_lower(p, i) ? fmin(t, fmin(reach(p->s_a[i], p->ds_a[i]), reach(p->z_a[i], p->dz_a[i]))) : t;
        t = has_upper(p, i) ? fmin(t, fmin(reach(p->s_b[i], p->ds_b[i]), reach(p->z_b[i], p->dz_b[i]))) : t;
    }
    for (int k = 0; k < s->ncontact; k++) {
        const ItmMlcpContact* c = &s->contacts[k];
        if (is_cone(p, c)) {
            t = fmin(t, itm_soc_reach(soc_get(p->s_a, c), soc_get(p->ds_a, c)));
            t = fmin(t, itm_soc_reach(soc_get(p->z_a, c), soc_get(p->dz_a, c)));
        }
    }
    return TO_EDGE * t;
}

// s'z, after a step of length t
static double compute_gap(const Interior* p, double t)
{
    double sum = 0.0;
    for (int i = 0; i < p->n; i++) {
        bool is_of_cone = p->kind[i] == CONE_NORMAL || p->kind[i] == CONE_TANGENT;
        sum += is_of_cone || has_lower(p, i) ? (p->s_a[i] + t * p->ds_a[i]) * (p->z_a[i] + t * p->dz_a[i]) : 0.0;
        sum += has_upper(p, i) ? (p->s_b[i] + t * p->ds_b[i]) * (p->z_b[i] + t * p->dz_b[i]) : 0.0;
    }
    return sum;
}

static bool is_in_cone(ItmSoc a)
{
    return a.v[0] > 0.0 && itm_soc_det(a) > 0.0;
}

// Whether s and z are inside C, which rounding near its edge can spoil.
static bool is_inside(const Interior* p)
{
    const ItmMlcpScaled* s = &p->ws->s;
    bool is_in = true;
    for (int i = 0; i < p->n; i++) {
        is_in = is_in && (!has_lower(p, i) || (p->s_a[i] > 0.0 && p->z_a[i] > 0.0));
        is_in = is_in && (!has_upper(p, i) || (p->s_b[i] > 0.0 && p->z_b[i] > 0.0));
    }
    for (int k = 0; k < s->ncontact && is_in; k++) {
        const ItmMlcpContact* c = &s->contacts[k];
        is_in = !is_cone(p, c) || (is_in_cone(soc_get(p->s_a, c)) && is_in_cone(soc_get(p->z_a, c)));
    }
    return is_in;
}

// false: rounding would lead out of C, nothing has changed
static bool advance(Interior* p, double t)
{
    for (int i = 0; i < p->n; i++) {
        p->x[i] += t * p->dx[i];
        p->z_a[i] += t * p->dz_a[i];
        p->z_b[i] += t * p->dz_b[i];
    }
    compute_slacks(p);
    bool is_in = is_inside(p);
    for (int i = 0; !is_in && i < p->n; i++) {
        p->x[i] -= t * p->dx[i];
        p->z_a[i] -= t * p->dz_a[i];
        p->z_b[i] -= t * p->dz_b[i];
    }
    if (!is_in) {
        compute_slacks(p);
    }
    return is_in;
}

// Rows that end at a bound, and contacts that open, exactly there.
static void snap(Interior* p)
{
    const ItmMlcpScaled* s = &p->ws->s;
    for (int i = 0; i < p->n; i++) {
        if (p->kind[i] == BOUNDED) {
            bool is_low = has_lower(p, i) && p->s_a[i] < p->z_a[i], is_high = has_upper(p, i) && p->s_b[i] < p->z_b[i];
            p->x[i] = is_low ? s->lo[i] : is_high ? s->up[i] : p->x[i];
        }
    }
    for (int k = 0; k < s->ncontact; k++) {
        const ItmMlcpContact* c = &s->contacts[k];
        if (is_cone(p, c) && p->s_a[c->normal] < OPEN * p->z_a[c->normal]) {
            soc_put(p->x, c, (ItmSoc){{0.0, 0.0, 0.0}});
        }
    }
}

// ---------------------------------------------------------------------------- loop

// w = H x + b; the largest part of it that no multiplier balances
static double compute_dual_residual(Interior* p)
{
    ItmMlcpWorkspace* ws = p->ws;
    double *left = p->dx, worst = 0.0;
    ws->dense->multiply_rows(p->w, ws->s.H, ws->s.ld, p->x, NULL, p->n, ws->s.ld);
    memset(left, 0, sizeof(double) * (size_t)p->n);
    add_G_transposed(p, left, p->z_a, p->z_b);
    for (int i = 0; i < p->n; i++) {
        p->w[i] += ws->s.b[i];
        worst = p->kind[i] == FIXED ? worst : fmax(worst, fabs(p->w[i] - left[i]));
    }
    return worst;
}

static double max_abs(const double* v, int n)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, fabs(v[i]));
    }
    return most;
}

// Steps until the gap cannot be made smaller. false: it is not small then.
static bool iterate(Interior* p, const ItmMlcpOptions* options, ItmMlcpInfo* info)
{
    size_t bytes = sizeof(double) * (size_t)p->n;
    double last = INFINITY;
    for (int k = 0; k < MAX_STEPS && !itm_mlcp_is_spent(options, info); k++) {
        double dual = compute_dual_residual(p), gap = compute_gap(p, 0.0) / p->degree;
        bool is_small = gap <= GAP * p->size * p->size && dual <= DUAL * p->size;
        bool is_lost = !isfinite(gap) || !isfinite(dual) || max_abs(p->x, p->n) > LARGEST * p->size;
        if (is_lost || (is_small && (gap <= LEAST * p->size * p->size || gap > 0.5 * last)) || !factor(p, info)) {
            return is_small && !is_lost;
        }
        last = gap;
        info->iterations++;
        // predictor: how far the gap could fall at once
        memset(p->q_a, 0, bytes);
        memset(p->q_b, 0, bytes);
        solve(p);
        double share = compute_gap(p, find_reach(p)) / p->degree / gap;
        correct(p, share * share * share * gap);
        solve(p);
        if (!advance(p, fmin(1.0, find_reach(p)))) {
            return is_small;
        }
    }
    return false;
}

// Whether two cones have one normal (rolling friction), for which slacks have no room.
static bool shares_normals(const ItmMlcpScaled* s)
{
    for (int k = 0; k < s->ncontact; k++) {
        if (s->contacts[k].law == ITM_FRICTION_CONE && s->cone_of[s->contacts[k].normal] != k) {
            return true;
        }
    }
    return false;
}

bool itm_interior_solve(ItmMlcpWorkspace* ws, const ItmMlcpOptions* options, ItmMlcpInfo* info)
{
    double** v = ws->v;
    Interior p = {.ws = ws,
                  .n = ws->s.n,
                  .kind = ws->mark,
                  .x = ws->x,
                  .w = ws->w,
                  .s_a = v[0],
                  .s_b = v[1],
                  .z_a = v[2],
                  .z_b = v[3],
                  .q_a = v[4],
                  .q_b = v[5],
                  .dx = v[6],
                  .ds_a = v[7],
                  .ds_b = v[8],
                  .dz_a = v[9],
                  .dz_b = v[10],
                  .size = max_abs(ws->s.b, ws->s.n)};
    if (!(p.size > 0.0) || !ws->s.is_symmetric || shares_normals(&ws->s)) {
        return false;
    }
    choose_kinds(&p);
    start(&p);
    if (p.degree == 0 || !iterate(&p, options, info)) {
        return false;
    }
    snap(&p);
    return true;
}
