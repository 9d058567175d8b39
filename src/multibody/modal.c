// Craig-Bampton reduction of a finite element model. With the nodes of the interfaces tied to frames b and all others i,
//   u = [ b ; -K_ii^-1 K_ib b + Phi q ],   K_ii Phi = M_ii Phi Omega^2
// The basis of static shapes and slowest Phi is that of modal_reduction.c. What is left after the reduction is made
// diagonal: modes in the frame of the first interface (its b dropped), or modes without momentum (the six rigid ones dropped).
// Rigid inertia and the momenta of the modes come from the mass matrix as it is, the second moments, which couple deformation
// with rotation, from masses lumped to the nodes.
#include "multibody/modal_reduction.h"

#include "base/error.h"
#include "math/eigen.h"
#include "multibody/moments.h"
#include "multibody/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RIGID 1e-6      // of what the largest stiffnesses would give: rigid motion must cost less force
#define SITE 1e-6       // of the size of the body: as near as a point must be to an interface
#define MASSLESS 1e-14  // of the largest modal compliance: faster modes have no mass to speak of and are dropped

struct ItmModalShapes {
    int n, ninterface;
    bool is_first_fixed;
    double size;  // largest distance of a node from the centre of mass
    double mass;
    ItmVec3 com;
    ItmSym3 inertia;
    ItmVec3* origins;    // (ninterface)
    char (*names)[72];   // (ninterface)
    ItmSpatial* shapes;  // (ninterface x n)
    double* block;       // tables
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

// ---------------------------------------------------------------------------- modes of what is left

// Coefficients (rows) of the modes of the reduced model, slowest first, into Z (nV x nV), their eigenvalues mu = 1 / omega^2 into
// mu. In the frame of the first interface its six shapes have no part. Returns their number, or -1 with *status set.
static int solve_reduced(const ItmReduction* r, double* Z, double* mu, ItmStatus* status)
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
    itm_modal_reduction_project(r, &r->def->mass, M, X, q);
    itm_modal_reduction_project(r, &r->def->stiffness, K, X, q);
    *status = is_free ? itm_eigen_generalized(K, M, value, q) : itm_eigen_generalized(M, K, value, q);
    if (*status == ITM_ERR_INPUT) {
        itm_modal_reduction_refuse(r, is_free ? "mass" : "stiffness",
                                   is_free ? "the mass matrix is not positive definite"
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
            Z[(size_t)kept * (size_t)r->nV + (size_t)(skip + j)] =
                scale * vectors[(size_t)from * (size_t)q + (size_t)j];
        }
        kept++;
    }
    if (*status == ITM_OK && is_free && q > 6 && !(value[5] < RIGID * value[6])) {
        *status = itm_modal_reduction_refuse(r, "stiffness", "it has no six rigid motions apart from its modes");
    }
    free(M);
    return *status == ITM_OK ? kept : -1;
}

// ---------------------------------------------------------------------------- inertia

// Mass, centre and inertia from the mass matrix and rigid motions R (6 x n, about the origin; MR = M R).
static ItmStatus measure_body(const ItmReduction* r, ItmModalShapes* s, const double* R, const double* MR)
{
    double G[6][6];
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            G[i][j] = itm_modal_reduction_dot(R + (size_t)i * (size_t)r->n, MR + (size_t)j * (size_t)r->n, r->n);
        }
    }
    s->mass = (G[0][0] + G[1][1] + G[2][2]) / 3.0;
    double spread = fabs(G[0][0] - s->mass) + fabs(G[1][1] - s->mass) + fabs(G[2][2] - s->mass);
    if (!(s->mass > 0.0) || !(spread <= 1e-6 * s->mass)) {
        return itm_modal_reduction_refuse(r, "mass",
                                          "the mass matrix does not give the same positive mass along x, y and z");
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
static ItmStatus check_rigid(ItmReduction* r, const double* R)
{
    const ItmSparseDef* K = &r->def->stiffness;
    double *force = r->work, *most = r->work + r->n;
    for (int d = 0; d < 6; d++) {
        const double* u = R + (size_t)d * (size_t)r->n;
        itm_modal_reduction_multiply(K, force, u);
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
            return itm_modal_reduction_refuse(
                r, "stiffness",
                "the stiffness matrix resists rigid motion: the model must not be held anywhere, and "
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
static void fill_tables(const ItmReduction* r, ItmModalShapes* s, const double* U, const double* MR)
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
            q[d] = itm_modal_reduction_dot(MR + (size_t)d * n, U + (size_t)k * n, r->n);
        }
        ItmVec3 linear = itm_vec(q[0], q[1], q[2]);
        ItmVec3 angular = itm_vec_sub(itm_vec(q[3], q[4], q[5]), itm_vec_cross(s->com, linear));
        t->S[k] = linear;
        // what lumping misses of the angular momentum
        t->P[k] = itm_vec_sub(angular, itm_moment_axial(&t->B[k]));
    }
}

// Largest displacement of a node 1 m, or, where nodes only turn, the largest rotation 1 rad; its largest component positive.
static double scale_of(const ItmReduction* r, const double* u, double size)
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

static ItmStatus allocate_shapes(ItmModalShapes* s, const ItmReduction* r, int n)
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
        s->origins[i] = itm_modal_reduction_find_middle(r->def, &r->def->interfaces[i]);
        snprintf(s->names[i], sizeof s->names[i], "%s", r->def->interfaces[i].name);
    }
    return ITM_OK;
}

// Modes over all rows from their coefficients, scaled; motion of the interfaces, modal masses and stiffnesses.
static void make_modes(const ItmReduction* r, ItmModalShapes* s, double* U, const double* Z, const double* mu)
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

static ItmStatus finish(ItmReduction* r, ItmModalShapes* s, const double* R, double* MR)
{
    ItmStatus status = ITM_OK;
    double *Z = malloc(sizeof(double) * (size_t)(r->nV * r->nV + r->nV) + 1), *U = NULL;
    if (Z == NULL) {
        return ITM_ERR_MEMORY;
    }
    double* mu = Z + r->nV * r->nV;
    int n = solve_reduced(r, Z, mu, &status);
    if (status == ITM_OK && n == 0) {
        status = itm_modal_reduction_refuse(r, "modes",
                                            "it is left without any mode: ask for some, or give it a second interface");
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

static ItmStatus reduce(ItmReduction* r, ItmModalShapes* s)
{
    size_t n = (size_t)r->n;
    double* R = malloc(sizeof(double) * 12 * n);
    ItmStatus status = R != NULL ? ITM_OK : ITM_ERR_MEMORY;
    for (int d = 0; status == ITM_OK && d < 6; d++) {
        for (int i = 0; i < r->def->nnode; i++) {
            itm_modal_reduction_write_rigid(R + (size_t)d * n + i * r->per_node, r->per_node, r->def->nodes[i],
                                            itm_vec(0, 0, 0), d);
        }
        itm_modal_reduction_multiply(&r->def->mass, R + (size_t)(6 + d) * n, R + (size_t)d * n);
    }
    status = status == ITM_OK ? check_rigid(r, R) : status;
    status = status == ITM_OK ? itm_modal_reduction_build(r) : status;
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
    ItmReduction r;
    status = itm_modal_reduction_init(&r, def, body, error);
    status = status == ITM_OK ? reduce(&r, s) : status;
    itm_modal_reduction_free(&r);
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
        return itm_error_set(
            error, ITM_ERR_INPUT, __func__, "points",
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
