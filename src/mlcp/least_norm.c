// A Cholesky factor that leaves dependent rows out names these, and gives a basis of the null space of H or of its range: of the smaller, since
// either projects on the affine set. The minimum comes from ADMM between that set and K. The last step goes from x0 straight towards the
// result, as far as K allows, so that what is given is admissible.
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

// S'HS = L L' of the variables, with columns for the independent ones only: row i has them from s->start[i] on, in front all is zero. It
// lies below the diagonal of H. Returns how many variables are dependent.
static int factor(ItmLeastNorm* s)
{
    int ndependent = 0, rank = 0;
    for (int i = 0; i < s->n; i++) {
        double *L_i = entry(s, i, 0), pivot = s->diagonal[i];
        int column = 0, start = rank;
        for (int j = 0; j < i && is_variable(s, i); j++) {
            double H_ij = *entry(s, j, i);
            if (s->inv_diag[j] == 0.0) {
                continue;
            }
            start = H_ij != 0.0 && column < start ? column : start;
            if (column >= start) {
                int from = (int)fmax(start, s->start[j]);
                double dot = column > from ? s->dense->dot(L_i + from, entry(s, j, from), column - from) : 0.0;
                L_i[column] = (H_ij - dot) * s->inv_diag[j];
                pivot -= L_i[column] * L_i[column];
            }
            column++;
        }
        bool is_dependent = is_variable(s, i) && !(pivot > DEPENDENT * s->diagonal[i]);
        bool is_column = is_variable(s, i) && !is_dependent;
        s->start[i] = start;
        s->inv_diag[i] = is_column ? 1.0 / sqrt(pivot) : 0.0;
        if (is_column) {
            L_i[rank++] = sqrt(pivot);
        }
        ndependent += is_dependent;
    }
    s->rank = rank;
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

static double* get_basis(const ItmLeastNorm* s, int k)
{
    return s->N + (size_t)k * (size_t)s->n;
}

// The null vector with 1 in one dependent row and 0 in the others, in scaled variables: L' z = 0 from the back, row by row of L, with
// - sum L_ki z_k over the k > i done so far in t. rank: columns of L before the row `dependent`
static void find_null_vector(const ItmLeastNorm* s, double* z, int dependent, int rank)
{
    memset(z, 0, sizeof(double) * (size_t)s->n);
    memset(s->t, 0, sizeof(double) * (size_t)rank);
    for (int i = dependent, column = rank; i >= 0; i--) {
        column -= s->inv_diag[i] != 0.0;
        z[i] = i == dependent ? 1.0 : s->inv_diag[i] != 0.0 ? s->t[column] * s->inv_diag[i] : 0.0;
        int start = (int)s->start[i];
        if (z[i] != 0.0 && column > start) {
            s->dense->axpy(s->t + start, -z[i], entry(s, i, start), column - start);
        }
    }
    for (int i = 0; i < s->n; i++) {
        z[i] *= s->scale[i];
    }
}

// Column of L in scaled variables, which begins at the row `first`; those of all span the range. Returns behind which row it is zero.
static int find_column(const ItmLeastNorm* s, double* z, int first, int column)
{
    int end = first + 1;
    memset(z, 0, sizeof(double) * (size_t)s->n);
    for (int i = first; i < s->n; i++) {
        if (is_variable(s, i) && s->start[i] <= column) {
            z[i] = *entry(s, i, column) / s->scale[i];
            end = i + 1;
        }
    }
    return end;
}

// z minus its parts along the vectors before it, which are zero behind s->end; z is zero in front of `first`.
static void make_orthogonal(const ItmLeastNorm* s, double* z, int nbasis, int first)
{
    for (int k = 0; k < nbasis; k++) {
        const double* other = get_basis(s, k);
        int end = (int)s->end[k];
        if (end > first) {
            s->dense->axpy(z, -s->dense->dot(z + first, other + first, end - first), other, end);
        }
    }
}

// Gram and Schmidt, a second time where little is left of a vector because it is nearly parallel to others.
static void add_to_basis(ItmLeastNorm* s, double* z, int first, int end)
{
    double before = norm_of(s, z);
    make_orthogonal(s, z, s->nbasis, first);
    double length = norm_of(s, z);
    if (length < 0.7 * before) {
        make_orthogonal(s, z, s->nbasis, 0);
        length = norm_of(s, z);
    }
    for (int j = 0; j < s->n && length > 0.0; j++) {
        z[j] /= length;
    }
    s->end[s->nbasis] = s->nbasis > 0 ? fmax(end, s->end[s->nbasis - 1]) : end;
    s->nbasis += length > 0.0;
}

static void build_basis(ItmLeastNorm* s, int ndependent)
{
    int column = 0;
    s->nbasis = 0;
    s->is_range = s->rank < ndependent;
    for (int i = 0; i < s->n; i++) {
        double* z = get_basis(s, s->nbasis);
        if (!s->is_range && is_dependent(s, i)) {
            find_null_vector(s, z, i, column);
            add_to_basis(s, z, 0, i + 1);
        } else if (s->is_range && s->inv_diag[i] != 0.0) {
            int end = find_column(s, z, i, column);
            add_to_basis(s, z, i, end);
        }
        column += s->inv_diag[i] != 0.0;
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

// x = y0 + N N'(v - y0), or y0 + (1 - R R')(v - y0) with the range R; v becomes v - y0, which is zero where nothing varies
static void project_affine(const ItmLeastNorm* s, double* x, double* v)
{
    int n = s->n;
    memcpy(x, s->y, sizeof(double) * (size_t)n);
    s->dense->axpy(v, -1.0, s->y, n);
    if (s->is_range) {
        s->dense->axpy(x, 1.0, v, n);
    }
    for (int k = 0; k < s->nbasis; k++) {
        const double* z = get_basis(s, k);
        int end = (int)s->end[k];
        double part = s->dense->dot(z, v, end);
        s->dense->axpy(x, s->is_range ? -part : part, z, end);
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
    double** vectors[ITM_LEAST_NORM_SCRATCH] = {&s->scale, &s->diagonal, &s->inv_diag, &s->start, &s->end,
                                                &s->y,     &s->x,        &s->z,        &s->u,     &s->t};
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
        build_basis(s, ndependent);
        minimise(s);
        approach(s);
        write_back(s);
    }
    return ndependent;
}
