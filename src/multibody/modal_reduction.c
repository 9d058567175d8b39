// Interior of a finite element model: its nodes, the sparse factor of K_ii, static shapes of the interfaces, slowest fixed modes by
// subspace iteration.
#include "multibody/modal_reduction.h"

#include "base/error.h"
#include "math/eigen.h"

#include <stdlib.h>
#include <string.h>

#define PIVOT 1e-13      // of the diagonal of K_ii: below it the interior is not held
#define CONVERGED 1e-13  // relative change of the slowest eigenvalues of the subspace
#define MOST_ITERATIONS 300

// ---------------------------------------------------------------------------- small things

ItmStatus itm_modal_reduction_refuse(const ItmReduction* r, const char* field, const char* what)
{
    return itm_error_set(r->error, ITM_ERR_INPUT, "itm_model_builder_add_flexible", field, "flexible body '%s': %s",
                         r->body, what);
}

void itm_modal_reduction_multiply(const ItmSparseDef* A, double* y, const double* x)
{
    memset(y, 0, sizeof(double) * (size_t)A->n);
    for (int i = 0; i < A->nentry; i++) {
        y[A->row[i]] += A->value[i] * x[A->column[i]];
        if (A->row[i] != A->column[i]) {
            y[A->column[i]] += A->value[i] * x[A->row[i]];
        }
    }
}

double itm_modal_reduction_dot(const double* x, const double* y, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

void itm_modal_reduction_write_rigid(double* u, int per_node, ItmVec3 node, ItmVec3 at, int direction)
{
    double unit[3] = {0, 0, 0};
    unit[direction % 3] = 1.0;
    ItmVec3 e = itm_vec(unit[0], unit[1], unit[2]);
    ItmVec3 move = direction < 3 ? e : itm_vec_cross(e, itm_vec_sub(node, at));
    u[0] = move.x;
    u[1] = move.y;
    u[2] = move.z;
    for (int k = 3; k < per_node; k++) {
        u[k] = direction < 3 ? 0.0 : unit[k - 3];
    }
}

ItmVec3 itm_modal_reduction_find_middle(const ItmModalDef* def, const ItmModalInterface* face)
{
    ItmVec3 sum = {0, 0, 0};
    for (int i = 0; i < face->nnode; i++) {
        sum = itm_vec_add(sum, def->nodes[face->nodes[i]]);
    }
    return itm_vec_scale(1.0 / face->nnode, sum);
}

// ---------------------------------------------------------------------------- interior

static ItmStatus number_nodes(ItmReduction* r)
{
    const ItmModalDef* def = r->def;
    r->tied = malloc(sizeof(int) * 2 * (size_t)def->nnode);
    if (r->tied == NULL) {
        return ITM_ERR_MEMORY;
    }
    r->inner = r->tied + def->nnode;
    for (int i = 0; i < def->nnode; i++) {
        r->tied[i] = ITM_NONE;
    }
    for (int k = 0; k < def->ninterface; k++) {
        for (int i = 0; i < def->interfaces[k].nnode; i++) {
            int node = def->interfaces[k].nodes[i];
            if (r->tied[node] != ITM_NONE && r->tied[node] != k) {
                return itm_modal_reduction_refuse(r, "interfaces", "two interfaces share a node");
            }
            r->tied[node] = k;
        }
    }
    for (int i = 0; i < def->nnode; i++) {
        r->inner[i] = r->tied[i] == ITM_NONE ? r->ninner++ : ITM_NONE;
    }
    return ITM_OK;
}

// Blocks of inner nodes that an entry of K couples; false where it is not between two of them.
static bool find_nodes(const ItmReduction* r, int entry, int* a, int* b)
{
    *a = r->inner[r->def->stiffness.row[entry] / r->per_node];
    *b = r->inner[r->def->stiffness.column[entry] / r->per_node];
    return *a != ITM_NONE && *b != ITM_NONE;
}

static ItmStatus build_pattern(ItmReduction* r)
{
    const ItmSparseDef* K = &r->def->stiffness;
    int* size = malloc(sizeof(int) * ((size_t)r->ninner + 2 * (size_t)K->nentry + 1));
    if (size == NULL) {
        return ITM_ERR_MEMORY;
    }
    int *pairs = size + r->ninner, npair = 0, a, b;
    for (int i = 0; i < r->ninner; i++) {
        size[i] = r->per_node;
    }
    for (int i = 0; i < K->nentry; i++) {
        if (find_nodes(r, i, &a, &b) && a != b) {
            pairs[2 * npair] = a;
            pairs[2 * npair++ + 1] = b;
        }
    }
    ItmStatus status = itm_blocks_build(&r->pattern, r->ninner, size, NULL, pairs, npair);
    free(size);
    return status;
}

static void assemble(ItmReduction* r)
{
    const ItmSparseDef* K = &r->def->stiffness;
    int p = r->per_node, a, b;
    for (int i = 0; i < K->nentry; i++) {
        if (!find_nodes(r, i, &a, &b)) {
            continue;
        }
        int row = K->row[i] % p, column = K->column[i] % p;
        bool is_transposed = false;
        double* block = r->factor.L + itm_blocks_find(&r->pattern, a, b, &is_transposed);
        if (a == b) {
            // the lower half
            block[row > column ? row * p + column : column * p + row] += K->value[i];
            r->factor.scale[a * p + row] += row == column ? K->value[i] : 0.0;
        } else {
            block[is_transposed ? column * p + row : row * p + column] += K->value[i];
        }
    }
}

static ItmStatus factor_inner(ItmReduction* r)
{
    ItmStatus status = build_pattern(r);
    if (status != ITM_OK) {
        return status;
    }
    size_t nrow = (size_t)r->pattern.nrow;
    r->factor_memory = calloc((size_t)r->pattern.nvalue + 2 * nrow, sizeof(double));
    r->factor.map = calloc((size_t)r->ninner + 1, sizeof(int));
    if (r->factor_memory == NULL || r->factor.map == NULL) {
        return ITM_ERR_MEMORY;
    }
    r->factor.L = r->factor_memory;
    r->factor.inv_diag = r->factor.L + r->pattern.nvalue;
    r->factor.scale = r->factor.inv_diag + nrow;
    assemble(r);
    if (itm_blocks_factor(&r->pattern, &r->factor, PIVOT) > 0) {
        return itm_modal_reduction_refuse(
            r, "stiffness",
            "with its interfaces held, the stiffness matrix is singular or not positive definite: "
            "some nodes hang on nothing, or the matrices belong to another order of the nodes");
    }
    return ITM_OK;
}

// x_i = K_ii^-1 f_i over the inner nodes of vectors over all rows; the others of x become 0.
static void solve_inner(ItmReduction* r, double* x, const double* f)
{
    int p = r->per_node;
    double* packed = r->work + r->n;
    for (int i = 0; i < r->def->nnode; i++) {
        if (r->inner[i] != ITM_NONE) {
            memcpy(packed + r->inner[i] * p, f + i * p, sizeof(double) * (size_t)p);
        }
    }
    itm_blocks_solve(&r->pattern, &r->factor, packed);
    for (int i = 0; i < r->def->nnode; i++) {
        if (r->inner[i] != ITM_NONE) {
            memcpy(x + i * p, packed + r->inner[i] * p, sizeof(double) * (size_t)p);
        } else {
            memset(x + i * p, 0, sizeof(double) * (size_t)p);
        }
    }
}

// ---------------------------------------------------------------------------- shapes

// Static shapes: an interface moves by a unit, the others are held.
static void make_static_shapes(ItmReduction* r)
{
    const ItmModalDef* def = r->def;
    size_t n = (size_t)r->n;
    double* tie = malloc(sizeof(double) * n);
    for (int k = 0; tie != NULL && k < 6 * def->ninterface; k++) {
        const ItmModalInterface* face = &def->interfaces[k / 6];
        ItmVec3 at = itm_modal_reduction_find_middle(def, face);
        memset(tie, 0, sizeof(double) * n);
        for (int i = 0; i < face->nnode; i++) {
            int node = face->nodes[i];
            itm_modal_reduction_write_rigid(tie + node * r->per_node, r->per_node, def->nodes[node], at, k % 6);
        }
        double* v = r->V + (size_t)r->nV++ * n;
        itm_modal_reduction_multiply(&def->stiffness, r->work, tie);
        solve_inner(r, v, r->work);
        for (size_t i = 0; i < n; i++) {
            v[i] = tie[i] - v[i];
        }
    }
    free(tie);
}

void itm_modal_reduction_project(const ItmReduction* r, const ItmSparseDef* A, double* out, const double* X, int q)
{
    size_t n = (size_t)r->n;
    for (int i = 0; i < q; i++) {
        double* y = r->work;
        itm_modal_reduction_multiply(A, y, X + (size_t)i * n);
        for (int j = 0; j < q; j++) {
            out[i * q + j] = itm_modal_reduction_dot(y, X + (size_t)j * n, r->n);
        }
    }
}

// X <- Z X for row-combinations Z (count x q); scratch (q x n)
static void combine(double* X, const double* Z, double* scratch, int count, int q, size_t n)
{
    memset(scratch, 0, sizeof(double) * (size_t)count * n);
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < q; j++) {
            for (size_t k = 0; k < n; k++) {
                scratch[(size_t)i * n + k] += Z[i * q + j] * X[(size_t)j * n + k];
            }
        }
    }
    memcpy(X, scratch, sizeof(double) * (size_t)count * n);
}

// Subspace iteration for the slowest fixed-interface modes, q vectors X over all rows, zero at the interfaces.
static ItmStatus iterate_subspace(ItmReduction* r, double* X, double* Y, double* small, int p, int q)
{
    size_t n = (size_t)r->n;
    double *Mr = small, *Kr = Mr + q * q, *mu = Kr + q * q, *mu_prev = mu + q;
    // any start that is not orthogonal to the modes: a fixed pseudo-random one
    unsigned seed = 1u;
    for (size_t i = 0; i < (size_t)q * n; i++) {
        seed = seed * 1664525u + 1013904223u;
        Y[i] = (double)(seed >> 8) / 8388608.0 - 1.0;
    }
    memset(mu_prev, 0, sizeof(double) * (size_t)q);
    for (int iteration = 0; iteration < MOST_ITERATIONS; iteration++) {
        for (int i = 0; i < q; i++) {
            solve_inner(r, X + (size_t)i * n, Y + (size_t)i * n);
        }
        itm_modal_reduction_project(r, &r->def->stiffness, Kr, X, q);
        itm_modal_reduction_project(r, &r->def->mass, Mr, X, q);
        ItmStatus status = itm_eigen_generalized(Mr, Kr, mu, q);
        if (status != ITM_OK) {
            return status == ITM_ERR_INPUT
                       ? itm_modal_reduction_refuse(r, "modes", "it has fewer fixed-interface modes than asked for")
                       : status;
        }
        // largest mu last: reverse, so that the wanted ones come first
        for (int i = 0; i < q / 2; i++) {
            for (int j = 0; j < q; j++) {
                double t = Mr[i * q + j];
                Mr[i * q + j] = Mr[(q - 1 - i) * q + j];
                Mr[(q - 1 - i) * q + j] = t;
            }
        }
        combine(X, Mr, Y, q, q, n);
        double change = 0.0;
        for (int i = 0; i < p; i++) {
            change = fmax(change, fabs(mu[q - 1 - i] - mu_prev[i]) / mu[q - 1 - i]);
            mu_prev[i] = mu[q - 1 - i];
        }
        if (change < CONVERGED) {
            return ITM_OK;
        }
        for (int i = 0; i < q; i++) {
            itm_modal_reduction_multiply(&r->def->mass, Y + (size_t)i * n, X + (size_t)i * n);
        }
    }
    // eigenvalues still creep: the vectors span the slow modes well enough, by Rayleigh's principle to the square of their error
    return ITM_OK;
}

static ItmStatus make_fixed_modes(ItmReduction* r)
{
    int p = r->def->modes, most = r->ninner * r->per_node;
    if (p == 0) {
        return ITM_OK;
    }
    if (p > most) {
        return itm_modal_reduction_refuse(r, "modes", "it has fewer fixed-interface modes than asked for");
    }
    int q = p + 8 > 2 * p ? p + 8 : 2 * p;
    q = q < most ? q : most;
    size_t n = (size_t)r->n;
    double* X = malloc(sizeof(double) * (2 * (size_t)q * n + 2 * (size_t)(q * q) + 2 * (size_t)q));
    if (X == NULL) {
        return ITM_ERR_MEMORY;
    }
    double* Y = X + (size_t)q * n;
    ItmStatus status = iterate_subspace(r, X, Y, Y + (size_t)q * n, p, q);
    if (status == ITM_OK) {
        memcpy(r->V + (size_t)r->nV * n, X, sizeof(double) * (size_t)p * n);
        r->nV += p;
    }
    free(X);
    return status;
}

// ---------------------------------------------------------------------------- all of it

ItmStatus itm_modal_reduction_init(ItmReduction* r, const ItmModalDef* def, const char* body, ItmError* error)
{
    *r = (ItmReduction){
        .def = def, .body = body, .error = error, .n = def->mass.n, .per_node = def->mass.n / def->nnode};
    size_t n = (size_t)r->n, nV = (size_t)(6 * def->ninterface + def->modes);
    r->work = malloc(sizeof(double) * 2 * n);
    r->V = malloc(sizeof(double) * nV * n);
    return r->work != NULL && r->V != NULL ? ITM_OK : ITM_ERR_MEMORY;
}

ItmStatus itm_modal_reduction_build(ItmReduction* r)
{
    ItmStatus status = number_nodes(r);
    status = status == ITM_OK ? factor_inner(r) : status;
    if (status == ITM_OK) {
        make_static_shapes(r);
        status = make_fixed_modes(r);
    }
    return status;
}

void itm_modal_reduction_free(ItmReduction* r)
{
    itm_blocks_free(&r->pattern);
    free(r->factor_memory);
    free(r->factor.map);
    free(r->tied);
    free(r->V);
    free(r->work);
}
