// The null space of H comes from a Cholesky factor that leaves dependent rows out, which also names them; the minimum from ADMM between
// its affine set and K. The last step of the way goes from x0 straight towards the result, as far as K allows, so that what is given is
// admissible.
#include "mlcp/least_norm.h"

#include "mlcp/friction.h"
#include "mlcp/row.h"

#include <math.h>
#include <string.h>

#define DEPENDENT 1e-10  // pivot against its diagonal entry: squares of angles of 1e-5
#define MAX_ITERATIONS 500
#define CONVERGED 1e-9  // change of an iteration, relative to the impulses

typedef enum { STAYS, NORMAL, STICKING_NORMAL, STICKING_TANGENT, TIED, BOUNDED } Part;

static inline double* entry(const ItmLeastNorm* s, int i, int j)
{
    return &s->H[(size_t)i * (size_t)s->n + (size_t)j];
}

static bool is_variable(const ItmLeastNorm* s, int i)
{
    return s->part[i] != STAYS && s->part[i] != TIED;
}

// ---------------------------------------------------------------------------- what may move

// Friction goes with the normal: x_t = ratio x_n. Row and column of the normal take in the tangent's.
static void tie(ItmLeastNorm* s, int normal, int tangent)
{
    double x_n = s->impulse[normal], ratio = x_n > 0.0 ? s->impulse[tangent] / x_n : 0.0;
    s->part[tangent] = TIED;
    s->scale[normal] = hypot(s->scale[normal], ratio);
    for (int j = 0; j < s->n; j++) {
        *entry(s, normal, j) += ratio * *entry(s, tangent, j);
    }
    for (int j = 0; j < s->n; j++) {
        *entry(s, j, normal) += ratio * *entry(s, j, tangent);
    }
}

// Whether friction may move by itself: a contact that sticks, with two tangents.
static bool is_sticking(const ItmLeastNorm* s, const ItmMlcpContact* c)
{
    if (c->tangent[1] == ITM_NONE) {
        return false;
    }
    return hypot(s->v[c->tangent[0]], s->v[c->tangent[1]]) <= ITM_ROW_AT_REST;
}

static void choose_contact(ItmLeastNorm* s, const ItmMlcpContact* c)
{
    bool is_touching = s->w[c->normal] <= ITM_ROW_AT_REST;
    // a contact can have further couplings, for torsion and rolling, behind the first
    bool is_first = s->part[c->normal] == STAYS;
    if (is_touching && is_first) {
        s->part[c->normal] = is_sticking(s, c) ? STICKING_NORMAL : NORMAL;
    }
    for (int k = 0; k < 2 && c->tangent[k] != ITM_NONE; k++) {
        if (s->part[c->normal] == STICKING_NORMAL && is_first) {
            s->part[c->tangent[k]] = STICKING_TANGENT;
        } else if (is_touching) {
            tie(s, c->normal, c->tangent[k]);
        }
    }
}

static void choose_parts(ItmLeastNorm* s)
{
    for (int i = 0; i < s->n; i++) {
        bool is_at_rest = fabs(s->w[i]) <= ITM_ROW_AT_REST;
        s->part[i] = is_at_rest ? BOUNDED : STAYS;
        s->scale[i] = 1.0;
    }
    for (int c = 0; c < s->ncoupling; c++) {
        const ItmMlcpContact* contact = &s->couplings[c];
        s->part[contact->normal] = STAYS;
        for (int k = 0; k < 2 && contact->tangent[k] != ITM_NONE; k++) {
            s->part[contact->tangent[k]] = STAYS;
        }
    }
    for (int c = 0; c < s->ncoupling; c++) {
        choose_contact(s, &s->couplings[c]);
    }
    for (int i = 0; i < s->n; i++) {
        s->diagonal[i] = *entry(s, i, i);
        s->y[i] = is_variable(s, i) ? s->scale[i] * s->impulse[i] : 0.0;
    }
}

// ---------------------------------------------------------------------------- null space

// S'HS = L L' of the variables, dependent ones left out. Returns how many those are.
static int factor(ItmLeastNorm* s)
{
    int ndependent = 0;
    for (int i = 0; i < s->n; i++) {
        double* L_i = entry(s, i, 0);
        double pivot = s->diagonal[i];
        for (int j = 0; j < i; j++) {
            const double* L_j = entry(s, j, 0);
            bool is_needed = is_variable(s, i) && s->inv_diag[j] != 0.0;
            L_i[j] = is_needed ? (*entry(s, j, i) - s->dense->dot(L_i, L_j, j)) * s->inv_diag[j] : 0.0;
            pivot -= L_i[j] * L_i[j];
        }
        bool is_dependent = is_variable(s, i) && !(pivot > DEPENDENT * s->diagonal[i]);
        s->inv_diag[i] = is_variable(s, i) && !is_dependent ? 1.0 / sqrt(pivot) : 0.0;
        ndependent += is_dependent;
    }
    return ndependent;
}

static bool is_dependent(const ItmLeastNorm* s, int i)
{
    return is_variable(s, i) && s->inv_diag[i] == 0.0;
}

static double norm_of(const ItmLeastNorm* s, const double* a)
{
    return sqrt(s->dense->dot(a, a, s->n));
}

// The null vector with 1 in one dependent row and 0 in the others, in scaled variables: L' z = 0 from the back, row by row of L,
// z_i holding - sum L_ki z_k over the k > i done so far until its turn comes.
static void find_null_vector(const ItmLeastNorm* s, double* z, int dependent)
{
    memset(z, 0, sizeof(double) * (size_t)s->n);
    for (int i = dependent; i >= 0; i--) {
        z[i] = i == dependent ? 1.0 : z[i] * s->inv_diag[i];
        if (z[i] != 0.0) {
            s->dense->axpy(z, -z[i], entry(s, i, 0), i);
        }
    }
    for (int i = 0; i < s->n; i++) {
        z[i] *= s->scale[i];
    }
}

// Gram and Schmidt, twice over because the vectors may be nearly parallel.
static void build_null_space(ItmLeastNorm* s)
{
    s->nnull = 0;
    for (int i = 0; i < s->n; i++) {
        if (!is_dependent(s, i)) {
            continue;
        }
        double* z = s->N + (size_t)s->nnull * (size_t)s->n;
        find_null_vector(s, z, i);
        for (int k = 0; k < 2 * s->nnull; k++) {
            const double* other = s->N + (size_t)(k % s->nnull) * (size_t)s->n;
            s->dense->axpy(z, -s->dense->dot(z, other, s->n), other, s->n);
        }
        double length = norm_of(s, z);
        for (int j = 0; j < s->n && length > 0.0; j++) {
            z[j] /= length;
        }
        s->nnull += length > 0.0;
    }
}

// ---------------------------------------------------------------------------- laws

// Nearest point of K, in place.
static void project(const ItmLeastNorm* s, double* y)
{
    for (int i = 0; i < s->n; i++) {
        if (s->part[i] == NORMAL) {
            y[i] = fmax(0.0, y[i]);
        } else if (s->part[i] == BOUNDED) {
            y[i] = fmin(fmax(y[i], s->lo[i]), s->up[i]);
        }
    }
    for (int c = 0; c < s->ncoupling; c++) {
        const ItmMlcpContact* contact = &s->couplings[c];
        if (s->part[contact->tangent[0]] == STICKING_TANGENT) {
            double t[2] = {y[contact->tangent[0]], y[contact->tangent[1]]};
            itm_friction_project(contact, &y[contact->normal], t);
            y[contact->tangent[0]] = t[0];
            y[contact->tangent[1]] = t[1];
        }
    }
}

// Whether y is in K, but for rounding of the size `small`.
static bool is_admissible(const ItmLeastNorm* s, const double* y, double* scratch, double small)
{
    memcpy(scratch, y, sizeof(double) * (size_t)s->n);
    project(s, scratch);
    for (int i = 0; i < s->n; i++) {
        if (fabs(scratch[i] - y[i]) > small) {
            return false;
        }
    }
    return true;
}

// ---------------------------------------------------------------------------- least norm

// x = y0 + N N'(v - y0); v becomes v - y0
static void project_affine(const ItmLeastNorm* s, double* x, double* v)
{
    int n = s->n;
    memcpy(x, s->y, sizeof(double) * (size_t)n);
    s->dense->axpy(v, -1.0, s->y, n);
    for (int k = 0; k < s->nnull; k++) {
        const double* z = s->N + (size_t)k * (size_t)n;
        s->dense->axpy(x, s->dense->dot(z, v, n), z, n);
    }
}

// min |x|^2 / 2 over the affine set, z in K, x = z: ADMM with unit penalty. x ends in the affine set, near K.
static void minimise(ItmLeastNorm* s)
{
    int n = s->n;
    double size = norm_of(s, s->y);
    memcpy(s->z, s->y, sizeof(double) * (size_t)n);
    memset(s->u, 0, sizeof(double) * (size_t)n);
    for (int k = 0; k < MAX_ITERATIONS; k++) {
        double* v = s->t;
        double change = 0.0;
        for (int i = 0; i < n; i++) {
            v[i] = 0.5 * (s->z[i] - s->u[i]);
        }
        project_affine(s, s->x, v);
        for (int i = 0; i < n; i++) {
            v[i] = s->x[i] + s->u[i];
        }
        memcpy(s->u, v, sizeof(double) * (size_t)n);
        project(s, v);
        for (int i = 0; i < n; i++) {
            s->u[i] -= v[i];
            change = fmax(change, fmax(fabs(v[i] - s->z[i]), fabs(v[i] - s->x[i])));
            s->z[i] = v[i];
        }
        if (change <= CONVERGED * size) {
            break;
        }
    }
}

// From x0 straight towards the result, as far as K allows.
static void approach(ItmLeastNorm* s)
{
    int n = s->n;
    double *trial = s->z, *scratch = s->u, inside = 0.0, outside = 2.0;
    double small = 1e-12 * norm_of(s, s->y);
    // the first trial is the whole way
    for (int k = 0; k < 30 && inside < 1.0; k++) {
        double share = 0.5 * (inside + outside);
        for (int i = 0; i < n; i++) {
            trial[i] = s->y[i] + share * (s->x[i] - s->y[i]);
        }
        bool is_inside = is_admissible(s, trial, scratch, small);
        inside = is_inside ? share : inside;
        outside = is_inside ? outside : share;
    }
    for (int i = 0; i < n; i++) {
        s->y[i] += fmin(inside, 1.0) * (s->x[i] - s->y[i]);
    }
}

static void write_back(const ItmLeastNorm* s)
{
    for (int c = 0; c < s->ncoupling; c++) {
        const ItmMlcpContact* contact = &s->couplings[c];
        double before = s->impulse[contact->normal];
        double after = s->y[contact->normal] / s->scale[contact->normal];
        for (int k = 0; k < 2 && contact->tangent[k] != ITM_NONE && before > 0.0; k++) {
            if (s->part[contact->tangent[k]] == TIED) {
                s->impulse[contact->tangent[k]] *= after / before;
            }
        }
    }
    for (int i = 0; i < s->n; i++) {
        if (is_variable(s, i)) {
            s->impulse[i] = s->y[i] / s->scale[i];
        }
    }
}

int itm_least_norm_solve(ItmLeastNorm* s, signed char* is_redundant)
{
    double** vectors[ITM_LEAST_NORM_SCRATCH] = {&s->scale, &s->diagonal, &s->inv_diag, &s->y,
                                                &s->x,     &s->z,        &s->u,        &s->t};
    for (int i = 0; i < ITM_LEAST_NORM_SCRATCH; i++) {
        *vectors[i] = s->scratch + (size_t)i * (size_t)s->n;
    }
    s->dense = itm_dense_choose();
    choose_parts(s);
    int ndependent = factor(s);
    for (int i = 0; i < s->n; i++) {
        is_redundant[i] = is_dependent(s, i);
    }
    if (ndependent > 0) {
        build_null_space(s);
        minimise(s);
        approach(s);
        write_back(s);
    }
    return ndependent;
}
