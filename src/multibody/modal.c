// Craig-Bampton reduction of a finite element model. With the nodes of the interfaces tied to frames b and all others i,
//   u = [ b ; -K_ii^-1 K_ib b + Phi q ],   K_ii Phi = M_ii Phi Omega^2
// The slowest Phi come from subspace iteration with the sparse factor of K_ii. What is left after the reduction is made
// diagonal: modes in the frame of the first interface (its b dropped), or modes without momentum (the six rigid ones dropped).
// Rigid inertia and the momenta of the modes come from the mass matrix as it is, the second moments, which couple deformation
// with rotation, from masses lumped to the nodes.
#include "multibody/modal.h"

#include "base/error.h"
#include "math/blocks.h"
#include "math/eigen.h"
#include "multibody/moments.h"
#include "multibody/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIVOT 1e-13            // of the diagonal of K_ii: below it the interior is not held
#define RIGID 1e-6             // of what the largest stiffnesses would give: rigid motion must cost less force
#define SITE 1e-6              // of the size of the body: as near as a point must be to an interface
#define CONVERGED 1e-13        // relative change of the slowest eigenvalues of the subspace
#define MOST_ITERATIONS 300
#define MASSLESS 1e-14         // of the largest modal compliance: faster modes have no mass to speak of and are dropped

struct ItmModalShapes {
    int n, ninterface;
    bool is_first_fixed;
    double size;        // largest distance of a node from the centre of mass
    double mass;
    ItmVec3 com;
    ItmSym3 inertia;
    ItmVec3* origins;   // (ninterface)
    char (*names)[72];  // (ninterface)
    ItmSpatial* shapes; // (ninterface x n)
    double* block;      // tables
    ItmElasticTables tables;
    ItmElasticPicture picture;
};

void itm_modal_destroy(ItmModalShapes* s)
{
    if (s != NULL) {
        free(s->origins);
        free(s->names);
        free(s->shapes);
        free(s->block);
        itm_picture_free(&s->picture);
        free(s);
    }
}

ItmElasticPicture itm_modal_take_picture(ItmModalShapes* s)
{
    ItmElasticPicture picture = s->picture;
    s->picture = (ItmElasticPicture){0};
    return picture;
}

// ---------------------------------------------------------------------------- reduction

typedef struct Reduction {
    const ItmModalDef* def;
    const char* body;
    ItmError* error;
    int n, per_node;      // rows, rows of a node
    int* tied;            // interface that a node is tied to, or ITM_NONE               (nnode)
    int* inner;           // number of a node among the others, or ITM_NONE              (nnode)
    int ninner;
    ItmBlocks pattern;    // of K_ii, a block a node
    ItmBlockFactor factor;
    double* factor_memory;
    double* V;            // basis: static shapes of the interfaces, then Phi            (nV x n)
    int nV;
    double* work;         // (2 n)
} Reduction;

static ItmStatus refuse(const Reduction* r, const char* field, const char* what)
{
    return itm_error_set(r->error, ITM_ERR_INPUT, "itm_builder_add_flexible", field, "flexible body '%s': %s", r->body, what);
}

// y = A x
static void multiply(const ItmSparseDef* A, double* y, const double* x)
{
    memset(y, 0, sizeof(double) * (size_t)A->n);
    for (int i = 0; i < A->nentry; i++) {
        y[A->row[i]] += A->value[i] * x[A->column[i]];
        if (A->row[i] != A->column[i]) {
            y[A->column[i]] += A->value[i] * x[A->row[i]];
        }
    }
}

static double dot(const double* x, const double* y, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

// Write a unit of rigid motion (direction 0 to 5, about `at`) into the rows of a node.
static void write_rigid(double* u, int per_node, ItmVec3 node, ItmVec3 at, int direction)
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

static ItmVec3 middle_of(const ItmModalDef* def, const ItmInterfaceDef* face)
{
    ItmVec3 sum = {0, 0, 0};
    for (int i = 0; i < face->nnode; i++) {
        sum = itm_vec_add(sum, def->nodes[face->nodes[i]]);
    }
    return itm_vec_scale(1.0 / face->nnode, sum);
}

static ItmStatus number_nodes(Reduction* r)
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
                return refuse(r, "interfaces", "two interfaces share a node");
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
static bool find_nodes(const Reduction* r, int entry, int* a, int* b)
{
    *a = r->inner[r->def->stiffness.row[entry] / r->per_node];
    *b = r->inner[r->def->stiffness.column[entry] / r->per_node];
    return *a != ITM_NONE && *b != ITM_NONE;
}

static ItmStatus build_pattern(Reduction* r)
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
    ItmStatus status = itm_blocks_build(&r->pattern, r->ninner, size, pairs, npair);
    free(size);
    return status;
}

static void assemble(Reduction* r)
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

static ItmStatus factor_inner(Reduction* r)
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
        return refuse(r, "stiffness", "with its interfaces held, the stiffness matrix is singular or not positive definite: "
                                      "some nodes hang on nothing, or the matrices belong to another order of the nodes");
    }
    return ITM_OK;
}

// x_i = K_ii^-1 f_i over the inner nodes of vectors over all rows; the others of x become 0.
static void solve_inner(Reduction* r, double* x, const double* f)
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

// Static shapes: an interface moves by a unit, the others are held.
static void make_static_shapes(Reduction* r)
{
    const ItmModalDef* def = r->def;
    size_t n = (size_t)r->n;
    double* tie = malloc(sizeof(double) * n);
    for (int k = 0; tie != NULL && k < 6 * def->ninterface; k++) {
        const ItmInterfaceDef* face = &def->interfaces[k / 6];
        ItmVec3 at = middle_of(def, face);
        memset(tie, 0, sizeof(double) * n);
        for (int i = 0; i < face->nnode; i++) {
            int node = face->nodes[i];
            write_rigid(tie + node * r->per_node, r->per_node, def->nodes[node], at, k % 6);
        }
        double* v = r->V + (size_t)r->nV++ * n;
        multiply(&def->stiffness, r->work, tie);
        solve_inner(r, v, r->work);
        for (size_t i = 0; i < n; i++) {
            v[i] = tie[i] - v[i];
        }
    }
    free(tie);
}

// X' A X for q vectors, and (Y not NULL) A X kept in Y
static void project(const Reduction* r, const ItmSparseDef* A, double* out, const double* X, double* Y, int q)
{
    size_t n = (size_t)r->n;
    for (int i = 0; i < q; i++) {
        double* y = Y != NULL ? Y + (size_t)i * n : r->work;
        multiply(A, y, X + (size_t)i * n);
        for (int j = 0; j < q; j++) {
            out[i * q + j] = dot(y, X + (size_t)j * n, r->n);
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
static ItmStatus iterate_subspace(Reduction* r, double* X, double* Y, double* small, int p, int q)
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
        project(r, &r->def->stiffness, Kr, X, NULL, q);
        project(r, &r->def->mass, Mr, X, NULL, q);
        ItmStatus status = itm_eigen_generalized(Mr, Kr, mu, q);
        if (status != ITM_OK) {
            return status == ITM_ERR_INPUT ? refuse(r, "modes", "it has fewer fixed-interface modes than asked for") : status;
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
            multiply(&r->def->mass, Y + (size_t)i * n, X + (size_t)i * n);
        }
    }
    // eigenvalues still creep: the vectors span the slow modes well enough, by Rayleigh's principle to the square of their error
    return ITM_OK;
}

static ItmStatus make_fixed_modes(Reduction* r)
{
    int p = r->def->modes, most = r->ninner * r->per_node;
    if (p == 0) {
        return ITM_OK;
    }
    if (p > most) {
        return refuse(r, "modes", "it has fewer fixed-interface modes than asked for");
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

// ---------------------------------------------------------------------------- modes of what is left

// Coefficients (rows) of the modes of the reduced model, slowest first, into Z (nV x nV), their eigenvalues mu = 1 / omega^2 into
// mu. In the frame of the first interface its six shapes have no part. Returns their number, or -1 with *status set.
static int solve_reduced(const Reduction* r, double* Z, double* mu, ItmStatus* status)
{
    bool is_free = r->def->frame == ITM_MODAL_FRAME_FREE;
    int skip = is_free ? 0 : 6, q = r->nV - skip;
    size_t count = (size_t)(q * q);
    double* M = malloc(sizeof(double) * (2 * count + (size_t)q + 1));
    if (M == NULL) {
        *status = ITM_ERR_MEMORY;
        return -1;
    }
    double *K = M + count, *value = K + count;
    const double* X = r->V + (size_t)skip * (size_t)r->n;
    project(r, &r->def->mass, M, X, NULL, q);
    project(r, &r->def->stiffness, K, X, NULL, q);
    *status = is_free ? itm_eigen_generalized(K, M, value, q) : itm_eigen_generalized(M, K, value, q);
    if (*status == ITM_ERR_INPUT) {
        refuse(r, is_free ? "mass" : "stiffness", is_free ? "the mass matrix is not positive definite"
                                                          : "the stiffness matrix is not positive definite");
    }
    int kept = 0;
    const double* vectors = is_free ? K : M;
    for (int i = 0; *status == ITM_OK && i < q; i++) {
        // free: omega^2 increasing, the first six are rigid; otherwise mu increasing
        int from = is_free ? i : q - 1 - i;
        if ((is_free && i < 6) || (!is_free && value[from] < MASSLESS * value[q - 1])) {
            continue;
        }
        mu[kept] = is_free ? 1.0 / value[from] : value[from];
        // to z' M z = 1 in both cases
        double scale = is_free ? 1.0 : 1.0 / sqrt(value[from]);
        memset(Z + (size_t)kept * (size_t)r->nV, 0, sizeof(double) * (size_t)r->nV);
        for (int j = 0; j < q; j++) {
            Z[(size_t)kept * (size_t)r->nV + (size_t)(skip + j)] = scale * vectors[(size_t)from * (size_t)q + (size_t)j];
        }
        kept++;
    }
    if (*status == ITM_OK && is_free && q > 6 && !(value[5] < RIGID * value[6])) {
        *status = refuse(r, "stiffness", "it has no six rigid motions apart from its modes");
    }
    free(M);
    return *status == ITM_OK ? kept : -1;
}

// ---------------------------------------------------------------------------- inertia

// Mass, centre and inertia from the mass matrix and rigid motions R (6 x n, about the origin; MR = M R).
static ItmStatus measure_body(const Reduction* r, ItmModalShapes* s, const double* R, const double* MR)
{
    double G[6][6];
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            G[i][j] = dot(R + (size_t)i * (size_t)r->n, MR + (size_t)j * (size_t)r->n, r->n);
        }
    }
    s->mass = (G[0][0] + G[1][1] + G[2][2]) / 3.0;
    double spread = fabs(G[0][0] - s->mass) + fabs(G[1][1] - s->mass) + fabs(G[2][2] - s->mass);
    if (!(s->mass > 0.0) || !(spread <= 1e-6 * s->mass)) {
        return refuse(r, "mass", "the mass matrix does not give the same positive mass along x, y and z");
    }
    // momentum of a turn: m com x = sum m x x, rows as G[translation][rotation]
    s->com = itm_vec((G[1][5] - G[2][4]) / (2.0 * s->mass), (G[2][3] - G[0][5]) / (2.0 * s->mass),
                     (G[0][4] - G[1][3]) / (2.0 * s->mass));
    double m = s->mass, x = s->com.x, y = s->com.y, z = s->com.z;
    s->inertia = (ItmSym3){
        .xx = G[3][3] - m * (y * y + z * z),
        .yy = G[4][4] - m * (x * x + z * z),
        .zz = G[5][5] - m * (x * x + y * y),
        .xy = G[3][4] + m * x * y,
        .xz = G[3][5] + m * x * z,
        .yz = G[4][5] + m * y * z,
    };
    return ITM_OK;
}

// Rigid motion must cost no force, compared with what the diagonal of K would give.
static ItmStatus check_rigid(Reduction* r, const double* R)
{
    const ItmSparseDef* K = &r->def->stiffness;
    double *force = r->work, *most = r->work + r->n;
    for (int d = 0; d < 6; d++) {
        const double* u = R + (size_t)d * (size_t)r->n;
        multiply(K, force, u);
        memset(most, 0, sizeof(double) * (size_t)r->n);
        for (int i = 0; i < K->nentry; i++) {
            double a = fabs(K->value[i]);
            most[K->row[i]] += a * fabs(u[K->column[i]]);
            most[K->column[i]] += a * fabs(u[K->row[i]]);
        }
        double largest = 0.0, missing = 0.0;
        for (int i = 0; i < r->n; i++) {
            largest = fmax(largest, most[i]);
            missing = fmax(missing, fabs(force[i]));
        }
        if (!(missing <= RIGID * largest)) {
            return refuse(r, "stiffness", "the stiffness matrix resists rigid motion: the model must not be held anywhere, and "
                                          "matrices and nodes must have the same order and units");
        }
    }
    return ITM_OK;
}

static ItmVec3 displacement(const double* u)
{
    return itm_vec(u[0], u[1], u[2]);
}

// Tables of the modes U (n x rows), with MR = M R of the rigid motions about the origin.
static void fill_tables(const Reduction* r, ItmModalShapes* s, const double* U, const double* MR)
{
    ItmElasticTables* t = &s->tables;
    int nmode = s->n, p = r->per_node;
    size_t n = (size_t)r->n;
    for (int i = 0; i < r->def->nnode; i++) {
        // mass that follows a node in a translation, mean over the axes
        const double *x = MR + i * p, *y = MR + n + i * p + 1, *z = MR + 2 * n + i * p + 2;
        double mass = (*x + *y + *z) / 3.0;
        ItmVec3 arm = itm_vec_sub(r->def->nodes[i], s->com);
        for (int k = 0; k < nmode; k++) {
            ItmVec3 phi = displacement(U + (size_t)k * n + i * p);
            itm_moment_add(&t->B[k], mass, arm, phi);
            for (int l = 0; l < nmode; l++) {
                itm_moment_add(&t->E[k * nmode + l], mass, phi, displacement(U + (size_t)l * n + i * p));
            }
        }
    }
    for (int k = 0; k < nmode; k++) {
        double q[6];
        for (int d = 0; d < 6; d++) {
            q[d] = dot(MR + (size_t)d * n, U + (size_t)k * n, r->n);
        }
        ItmVec3 linear = itm_vec(q[0], q[1], q[2]);
        ItmVec3 angular = itm_vec_sub(itm_vec(q[3], q[4], q[5]), itm_vec_cross(s->com, linear));
        t->S[k] = linear;
        // what lumping misses of the angular momentum
        t->P[k] = itm_vec_sub(angular, itm_moment_axial(&t->B[k]));
    }
}

// Largest displacement of a node 1 m, or, where nodes only turn, the largest rotation 1 rad; its largest component positive.
static double scale_of(const Reduction* r, const double* u, double size)
{
    double most[2] = {0, 0}, largest[2] = {0, 0};
    for (int i = 0; i < r->def->nnode; i++) {
        for (int kind = 0; kind < r->per_node / 3; kind++) {
            const double* x = u + i * r->per_node + 3 * kind;
            for (int k = 0; k < 3; k++) {
                most[kind] = fabs(x[k]) > (1.0 + 1e-9) * fabs(most[kind]) ? x[k] : most[kind];
            }
            largest[kind] = fmax(largest[kind], itm_vec_norm(displacement(x)));
        }
    }
    int kind = largest[0] > 1e-6 * size * largest[1] ? 0 : 1;
    return most[kind] < 0.0 ? -1.0 / largest[kind] : 1.0 / largest[kind];
}

// ---------------------------------------------------------------------------- creation

static ItmStatus allocate_shapes(ItmModalShapes* s, const Reduction* r, int n)
{
    int faces = r->def->ninterface;
    s->n = n;
    s->ninterface = faces;
    s->is_first_fixed = r->def->frame == ITM_MODAL_FRAME_INTERFACE;
    s->origins = calloc((size_t)faces, sizeof *s->origins);
    s->names = calloc((size_t)faces, sizeof *s->names);
    s->shapes = calloc((size_t)faces * (size_t)n + 1, sizeof *s->shapes);
    s->block = calloc(itm_elastic_count_reals(n) + 1, sizeof(double));
    if (s->origins == NULL || s->names == NULL || s->shapes == NULL || s->block == NULL) {
        return ITM_ERR_MEMORY;
    }
    itm_elastic_lay_out(&s->tables, s->block, n);
    for (int i = 0; i < faces; i++) {
        s->origins[i] = middle_of(r->def, &r->def->interfaces[i]);
        snprintf(s->names[i], sizeof s->names[i], "%s", r->def->interfaces[i].name);
    }
    return ITM_OK;
}

// Modes over all rows from their coefficients, scaled; motion of the interfaces, modal masses and stiffnesses.
static void make_modes(const Reduction* r, ItmModalShapes* s, double* U, const double* Z, const double* mu)
{
    size_t n = (size_t)r->n;
    for (int k = 0; k < s->n; k++) {
        double* u = U + (size_t)k * n;
        const double* z = Z + (size_t)k * (size_t)r->nV;
        for (int j = 0; j < r->nV; j++) {
            for (size_t i = 0; i < n; i++) {
                u[i] += z[j] * r->V[(size_t)j * n + i];
            }
        }
        double scale = scale_of(r, u, s->size);
        for (size_t i = 0; i < n; i++) {
            u[i] *= scale;
        }
        s->tables.mass[k] = scale * scale;
        s->tables.stiffness[k] = scale * scale / mu[k];
        for (int i = 0; i < s->ninterface; i++) {
            const double* b = z + 6 * i;
            s->shapes[i * s->n + k] = (ItmSpatial){itm_vec(scale * b[3], scale * b[4], scale * b[5]),
                                                   itm_vec(scale * b[0], scale * b[1], scale * b[2])};
        }
    }
}

static ItmStatus finish(Reduction* r, ItmModalShapes* s, const double* R, double* MR)
{
    ItmStatus status = ITM_OK;
    double *Z = malloc(sizeof(double) * (size_t)(r->nV * r->nV + r->nV) + 1), *U = NULL;
    if (Z == NULL) {
        return ITM_ERR_MEMORY;
    }
    double* mu = Z + r->nV * r->nV;
    int n = solve_reduced(r, Z, mu, &status);
    if (status == ITM_OK && n == 0) {
        status = refuse(r, "modes", "it is left without any mode: ask for some, or give it a second interface");
    }
    if (status == ITM_OK) {
        U = calloc((size_t)n * (size_t)r->n, sizeof(double));
        status = U != NULL ? allocate_shapes(s, r, n) : ITM_ERR_MEMORY;
    }
    status = status == ITM_OK ? measure_body(r, s, R, MR) : status;
    if (status == ITM_OK) {
        for (int i = 0; i < r->def->nnode; i++) {
            s->size = fmax(s->size, itm_vec_norm(itm_vec_sub(r->def->nodes[i], s->com)));
        }
        make_modes(r, s, U, Z, mu);
        fill_tables(r, s, U, MR);
        ItmPictureFaces faces = {s->ninterface, s->origins, s->shapes};
        status = itm_picture_make_nodes(&s->picture, r->def, U, n, &faces);
    }
    free(Z);
    free(U);
    return status;
}

static ItmStatus reduce(Reduction* r, ItmModalShapes* s)
{
    size_t n = (size_t)r->n, nV = (size_t)(6 * r->def->ninterface + r->def->modes);
    double* R = malloc(sizeof(double) * 12 * n);
    r->work = malloc(sizeof(double) * 2 * n);
    r->V = malloc(sizeof(double) * nV * n);
    ItmStatus status = R != NULL && r->work != NULL && r->V != NULL ? ITM_OK : ITM_ERR_MEMORY;
    for (int d = 0; status == ITM_OK && d < 6; d++) {
        for (int i = 0; i < r->def->nnode; i++) {
            write_rigid(R + (size_t)d * n + i * r->per_node, r->per_node, r->def->nodes[i], itm_vec(0, 0, 0), d);
        }
        multiply(&r->def->mass, R + (size_t)(6 + d) * n, R + (size_t)d * n);
    }
    status = status == ITM_OK ? check_rigid(r, R) : status;
    status = status == ITM_OK ? number_nodes(r) : status;
    status = status == ITM_OK ? factor_inner(r) : status;
    if (status == ITM_OK) {
        make_static_shapes(r);
        status = make_fixed_modes(r);
    }
    status = status == ITM_OK ? finish(r, s, R, R + 6 * n) : status;
    free(R);
    return status;
}

ItmStatus itm_modal_create(ItmModalShapes** shapes, int* n, const ItmModalDef* def, const char* body, ItmError* error)
{
    ItmStatus status = itm_modal_def_check(def, body, error);
    if (status != ITM_OK) {
        return status;
    }
    ItmModalShapes* s = calloc(1, sizeof *s);
    if (s == NULL) {
        return ITM_ERR_MEMORY;
    }
    Reduction r = {.def = def, .body = body, .error = error, .n = def->mass.n, .per_node = def->mass.n / def->nnode};
    status = reduce(&r, s);
    itm_blocks_free(&r.pattern);
    free(r.factor_memory);
    free(r.factor.map);
    free(r.tied);
    free(r.V);
    free(r.work);
    if (status != ITM_OK) {
        itm_modal_destroy(s);
        return status;
    }
    *shapes = s;
    *n = s->n;
    return ITM_OK;
}

void itm_modal_fill(const ItmModalShapes* s, ItmElastic* e)
{
    e->mass = s->mass;
    e->com = s->com;
    e->inertia = s->inertia;
    memcpy(e->block, s->block, itm_elastic_count_reals(s->n) * sizeof(double));
}

// ---------------------------------------------------------------------------- sites

ItmStatus itm_modal_find_site(ItmElasticSite* site, const ItmModalShapes* s, ItmVec3 point, ItmError* error)
{
    int nearest = 0;
    for (int i = 1; i < s->ninterface; i++) {
        if (itm_vec_norm(itm_vec_sub(point, s->origins[i])) < itm_vec_norm(itm_vec_sub(point, s->origins[nearest]))) {
            nearest = i;
        }
    }
    ItmVec3 at = s->origins[nearest];
    double distance = itm_vec_norm(itm_vec_sub(point, at));
    if (!(distance <= SITE * s->size)) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "points",
                             "it has no interface at (%g, %g, %g) m: the nearest, '%s' at (%g, %g, %g), is %g m away; make one "
                             "there, or move the point",
                             point.x, point.y, point.z, s->names[nearest], at.x, at.y, at.z, distance);
    }
    *site = (ItmElasticSite){s->is_first_fixed && nearest == 0, at};
    return ITM_OK;
}

void itm_modal_compute_shape(const ItmModalShapes* s, ItmSpatial* shape, ItmVec3 origin)
{
    for (int i = 0; i < s->ninterface; i++) {
        if (s->origins[i].x == origin.x && s->origins[i].y == origin.y && s->origins[i].z == origin.z) {
            memcpy(shape, s->shapes + i * s->n, sizeof(ItmSpatial) * (size_t)s->n);
        }
    }
}
