#include "multibody/mass.h"

#include "base/assert.h"
#include "multibody/kinematics.h"

#include <string.h>

// M = L L' with L built from articulated inertias: for body i with motion subspace S,
//   D = S' IA S = L_i L_i',  G = IA S L_i^-T,  IA(parent) += shift(IA - G G')
// (articulated-body algorithm, written as a factorisation; Featherstone 2008, ch. 7).

// ---------------------------------------------------------------------------- articulated inertia

static inline ItmSpatial articulated_mul(const ItmArticulated* A, ItmSpatial s)
{
    return (ItmSpatial){
        itm_vec_add(itm_sym_mul_vec(&A->J, s.ang), itm_mat_mul_vec(&A->H, s.lin)),
        itm_vec_add(itm_mat_t_mul_vec(&A->H, s.ang), itm_sym_mul_vec(&A->M, s.lin))};
}

static inline void sym_subtract_outer(ItmSym3* A, ItmVec3 u)
{
    A->xx -= u.x * u.x;
    A->yy -= u.y * u.y;
    A->zz -= u.z * u.z;
    A->xy -= u.x * u.y;
    A->xz -= u.x * u.z;
    A->yz -= u.y * u.z;
}

// A -= g g'
static inline void articulated_subtract_outer(ItmArticulated* A, ItmSpatial g)
{
    sym_subtract_outer(&A->J, g.ang);
    sym_subtract_outer(&A->M, g.lin);
    A->H.x = itm_vec_axpy(-g.lin.x, g.ang, A->H.x);
    A->H.y = itm_vec_axpy(-g.lin.y, g.ang, A->H.y);
    A->H.z = itm_vec_axpy(-g.lin.z, g.ang, A->H.z);
}

// parent += A seen from a point -s away:  H' = H + s~ M,  J' = J + s~ H'' + (s~ H')'
static inline void articulated_add_shifted(ItmArticulated* parent, const ItmArticulated* A, ItmVec3 s)
{
    const ItmSym3* M = &A->M;
    ItmMat3 H = {
        itm_vec_add(A->H.x, itm_vec_cross(s, itm_vec(M->xx, M->xy, M->xz))),
        itm_vec_add(A->H.y, itm_vec_cross(s, itm_vec(M->xy, M->yy, M->yz))),
        itm_vec_add(A->H.z, itm_vec_cross(s, itm_vec(M->xz, M->yz, M->zz))),
    };
    // columns of s~ H' are crosses of s with rows of H; same for the shifted H
    ItmVec3 ox = itm_vec_cross(s, itm_vec(A->H.x.x, A->H.y.x, A->H.z.x));
    ItmVec3 oy = itm_vec_cross(s, itm_vec(A->H.x.y, A->H.y.y, A->H.z.y));
    ItmVec3 oz = itm_vec_cross(s, itm_vec(A->H.x.z, A->H.y.z, A->H.z.z));
    ItmVec3 nx = itm_vec_cross(s, itm_vec(H.x.x, H.y.x, H.z.x));
    ItmVec3 ny = itm_vec_cross(s, itm_vec(H.x.y, H.y.y, H.z.y));
    ItmVec3 nz = itm_vec_cross(s, itm_vec(H.x.z, H.y.z, H.z.z));
    parent->J.xx += A->J.xx + nx.x + ox.x;
    parent->J.yy += A->J.yy + ny.y + oy.y;
    parent->J.zz += A->J.zz + nz.z + oz.z;
    parent->J.xy += A->J.xy + ny.x + ox.y;
    parent->J.xz += A->J.xz + nz.x + ox.z;
    parent->J.yz += A->J.yz + nz.y + oy.z;
    parent->H.x = itm_vec_add(parent->H.x, H.x);
    parent->H.y = itm_vec_add(parent->H.y, H.y);
    parent->H.z = itm_vec_add(parent->H.z, H.z);
    parent->M.xx += M->xx;
    parent->M.yy += M->yy;
    parent->M.zz += M->zz;
    parent->M.xy += M->xy;
    parent->M.xz += M->xz;
    parent->M.yz += M->yz;
}

// Field by field: compilers clear a whole compound literal first, which is slow.
static inline void articulated_init(ItmArticulated* A, const ItmBody* body, const ItmSym3* J)
{
    const ItmVec3 zero = {0, 0, 0};
    A->J = *J;
    A->H.x = A->H.y = A->H.z = zero;
    A->M.xx = A->M.yy = A->M.zz = body->mass;
    A->M.xy = A->M.xz = A->M.yz = 0.0;
}

// ---------------------------------------------------------------------------- factor

// Factor D = S' IA S of a body with several velocities; L is row-major, its diagonal inverted.
static void factor_body(const ItmArticulated* A, ItmSpatial* G, double* L, const ItmSpatial* S, int n)
{
    for (int i = 0; i < n; i++) {
        G[i] = articulated_mul(A, S[i]);
    }
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n; i++) {
            double sum = itm_spatial_dot(S[i], G[j]);
            for (int k = 0; k < j; k++) {
                sum -= L[i * n + k] * L[j * n + k];
            }
            L[i * n + j] = i == j ? 1.0 / sqrt(sum) : sum * L[j * n + j];
        }
    }
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++) {
            G[j] = itm_spatial_axpy(-L[j * n + k], G[k], G[j]);
        }
        G[j] = itm_spatial_scale(L[j * n + j], G[j]);
    }
}

void itm_mass_factor(const ItmModel* m, ItmData* d)
{
    for (int i = 0; i < m->nbody; i++) {
        if (!m->bodies[i].is_root_leaf) {
            articulated_init(&d->IA[i], &m->bodies[i], &d->J[i]);
        }
    }
    for (int i = m->nbody - 1; i >= 0; i--) {
        const ItmBody* body = &m->bodies[i];
        if (body->is_root_leaf) {
            continue;
        }
        ItmArticulated* A = &d->IA[i];
        ItmSpatial* G = d->G + body->v_adr;
        if (body->nv == 1) {
            ItmSpatial S = d->S[body->v_adr];
            ItmSpatial U = articulated_mul(A, S);
            double inv_L = 1.0 / sqrt(itm_spatial_dot(S, U));
            d->mass_L[body->L_adr] = inv_L;
            G[0] = itm_spatial_scale(inv_L, U);
        } else {
            factor_body(A, G, d->mass_L + body->L_adr, d->S + body->v_adr, body->nv);
        }
        if (body->parent != ITM_NONE) {
            for (int k = 0; k < body->nv; k++) {
                articulated_subtract_outer(A, G[k]);
            }
            articulated_add_shifted(&d->IA[body->parent], A,
                                    itm_vec_sub(d->x[i], d->x[body->parent]));
        }
    }
}

// ---------------------------------------------------------------------------- solve

// y <- L^-1 y, diagonal inverted
static inline void solve_lower(const double* L, double* y, int n)
{
    for (int i = 0; i < n; i++) {
        double sum = y[i];
        for (int k = 0; k < i; k++) {
            sum -= L[i * n + k] * y[k];
        }
        y[i] = sum * L[i * n + i];
    }
}

// y <- L^-T y
static inline void solve_upper(const double* L, double* y, int n)
{
    for (int i = n - 1; i >= 0; i--) {
        double sum = y[i];
        for (int k = i + 1; k < n; k++) {
            sum -= L[k * n + i] * y[k];
        }
        y[i] = sum * L[i * n + i];
    }
}

// v' of a body that is alone: r'' = f / m, omega'' = J^-1 R' torque
static void solve_root_leaf(const ItmBody* body, const ItmData* d, double* x, const double* tau, int i,
                            ItmSpatial wrench)
{
    ItmVec3 torque = itm_mat_t_mul_vec(&d->R[i], wrench.ang);
    ItmVec3 force = wrench.lin;
    if (tau != NULL) {
        const double* t = tau + body->v_adr;
        force = itm_vec_add(force, itm_vec(t[0], t[1], t[2]));
        torque = itm_vec_add(torque, itm_vec(t[3], t[4], t[5]));
    }
    ItmVec3 w = itm_body_solve_inertia(body, torque);
    double* out = x + body->v_adr;
    out[0] = force.x * body->inv_mass;
    out[1] = force.y * body->inv_mass;
    out[2] = force.z * body->inv_mass;
    out[3] = w.x;
    out[4] = w.y;
    out[5] = w.z;
}

// Half of that: (force / sqrt m, L_J^-1 torque)
static void half_solve_leaf(const ItmBody* body, const ItmData* d, double* y, const double* tau, int i, ItmSpatial wrench)
{
    ItmVec3 w = itm_body_solve_lower(body, itm_vec_add(itm_mat_t_mul_vec(&d->R[i], wrench.ang), itm_vec(tau[3], tau[4], tau[5])));
    double s = body->inv_sqrt_mass;
    y[0] = s * (wrench.lin.x + tau[0]);
    y[1] = s * (wrench.lin.y + tau[1]);
    y[2] = s * (wrench.lin.z + tau[2]);
    y[3] = w.x;
    y[4] = w.y;
    y[5] = w.z;
}

// Up the tree: y = L^-1 rhs, wrenches handed on to the parents. Bodies that are alone are solved into x, or (NULL) half.
static void sweep_up(const ItmModel* m, ItmData* d, double* x, const double* tau, ItmSpatial* wrench)
{
    double* y = d->mass_y;
    for (int i = m->nbody - 1; i >= 0; i--) {
        const ItmBody* body = &m->bodies[i];
        if (body->is_root_leaf && x == NULL) {
            half_solve_leaf(body, d, y + body->v_adr, tau + body->v_adr, i, wrench[i]);
            continue;
        }
        if (body->is_root_leaf) {
            solve_root_leaf(body, d, x, tau, i, wrench[i]);
            continue;
        }
        int adr = body->v_adr, n = body->nv;
        for (int k = adr; k < adr + n; k++) {
            y[k] = itm_spatial_dot(d->S[k], wrench[i]) + (tau != NULL ? tau[k] : 0.0);
        }
        solve_lower(d->mass_L + body->L_adr, y + adr, n);
        if (body->parent != ITM_NONE) {
            ItmSpatial p = wrench[i];
            for (int k = adr; k < adr + n; k++) {
                p = itm_spatial_axpy(-y[k], d->G[k], p);
            }
            p = itm_wrench_shift(p, itm_vec_sub(d->x[i], d->x[body->parent]));
            wrench[body->parent] = itm_spatial_add(wrench[body->parent], p);
        }
    }
}

// Down the tree: x = L^-T (y - G' acceleration of the parent).
static void sweep_down(const ItmModel* m, ItmData* d, double* x)
{
    const double* y = d->mass_y;
    ItmSpatial* accel = d->accel;
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        if (body->is_root_leaf) {
            continue;
        }
        int adr = body->v_adr, n = body->nv;
        ItmSpatial a = itm_twist_shift(accel[body->parent],
                                       itm_vec_sub(d->x[i], d->x[body->parent]));
        for (int k = adr; k < adr + n; k++) {
            x[k] = y[k] - itm_spatial_dot(d->G[k], a);
        }
        solve_upper(d->mass_L + body->L_adr, x + adr, n);
        for (int k = adr; k < adr + n; k++) {
            a = itm_spatial_axpy(x[k], d->S[k], a);
        }
        accel[i] = a;
    }
}

void itm_mass_solve(const ItmModel* m, ItmData* d, double* x, const double* tau, ItmSpatial* wrench)
{
    sweep_up(m, d, x, tau, wrench);
    sweep_down(m, d, x);
}

void itm_mass_solve_lower(const ItmModel* m, ItmData* d, const double* tau, ItmSpatial* wrench)
{
    sweep_up(m, d, NULL, tau, wrench);
}

void itm_mass_solve_upper(const ItmModel* m, ItmData* d, double* x)
{
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        if (body->is_root_leaf) {
            double s = body->inv_sqrt_mass;
            const double* y = d->mass_y + body->v_adr;
            ItmVec3 w = itm_body_solve_upper(body, itm_vec(y[3], y[4], y[5]));
            double out[6] = {s * y[0], s * y[1], s * y[2], w.x, w.y, w.z};
            memcpy(x + body->v_adr, out, sizeof out);
        }
    }
    sweep_down(m, d, x);
}

// ---------------------------------------------------------------------------- rows

// Y of a free body alone: (force / sqrt m, L_J^-1 R' torque)
static inline void half_solve_root_leaf(const ItmBody* body, const ItmMat3* R, double* y, ItmSpatial p)
{
    double s = body->inv_sqrt_mass;
    ItmVec3 w = itm_body_solve_lower(body, itm_mat_t_mul_vec(R, p.ang));
    y[0] = s * p.lin.x;
    y[1] = s * p.lin.y;
    y[2] = s * p.lin.z;
    y[3] = w.x;
    y[4] = w.y;
    y[5] = w.z;
}

// y of a body with one velocity: the rows of the block are independent of each other
static inline void half_solve_single(const ItmData* d, const ItmBody* body, double* Y, const ItmRowBlock* block,
                                     const ItmSpatial* p)
{
    ItmSpatial S = d->S[body->v_adr];
    double inv_L = d->mass_L[body->L_adr], direct = 0.0;
    for (int l = 0; l < block->ndof; l++) {
        direct += block->dof[l] == body->v_adr ? block->dof_coef[l] : 0.0;
    }
    for (int i = 0; i < block->nrow; i++) {
        Y[i * block->ny] = (itm_spatial_dot(S, p[i]) + direct) * inv_L;
    }
}

static inline void half_solve_several(const ItmData* d, const ItmBody* body, double* Y, const ItmRowBlock* block,
                                      const ItmSpatial* p)
{
    int adr = body->v_adr, n = body->nv;
    for (int i = 0; i < block->nrow; i++) {
        double* y = Y + i * block->ny;
        for (int k = 0; k < n; k++) {
            y[k] = itm_spatial_dot(d->S[adr + k], p[i]);
            for (int l = 0; l < block->ndof; l++) {
                y[k] += block->dof[l] == adr + k ? block->dof_coef[l] : 0.0;
            }
        }
        solve_lower(d->mass_L + body->L_adr, y, n);
    }
}

// What the mobilizer does not take of the wrenches p goes on to the parent, `offset` away: parent += shift(p - G y)
static inline void hand_on(const ItmData* d, const ItmBody* body, ItmSpatial* parent, const double* Y,
                           const ItmRowBlock* block, const ItmSpatial* p, ItmVec3 offset)
{
    for (int i = 0; i < block->nrow; i++) {
        ItmSpatial f = p[i];
        for (int k = 0; k < body->nv; k++) {
            f = itm_spatial_axpy(-Y[i * block->ny + k], d->G[body->v_adr + k], f);
        }
        parent[i] = itm_spatial_add(parent[i], itm_wrench_shift(f, offset));
    }
}

// Where the path of a block has a body that it touches.
static int find_on_path(const ItmRowBlock* block, int body)
{
    int j = 0;
    while (block->path[j] != body) {
        j++;
    }
    return j;
}

void itm_mass_half_solve(const ItmModel* m, ItmData* d, double* Y, const ItmRowBlock* block, const ItmSpatial* cov)
{
    int n = block->nrow;
    ITM_ASSERT(n <= ITM_BLOCK_MAX);
    ItmSpatial* wrench = d->path_wrench;  // of every row on the bodies of the path   (npath x nrow)
    for (int j = 0; j < block->npath * n; j++) {
        wrench[j] = itm_spatial_zero();
    }
    for (int k = 0; k < block->nbody; k++) {
        ItmSpatial* p = wrench + n * find_on_path(block, block->body[k]);
        for (int i = 0; i < n; i++) {
            p[i] = itm_spatial_add(p[i], cov[i * block->nbody + k]);
        }
    }
    for (int j = 0; j < block->npath; j++) {
        int id = block->path[j], parent = block->path_parent[j];
        const ItmBody* body = &m->bodies[id];
        const ItmSpatial* p = wrench + n * j;
        if (body->is_root_leaf) {
            for (int i = 0; i < n; i++) {
                half_solve_root_leaf(body, &d->R[id], Y + i * block->ny, p[i]);
            }
        } else if (body->nv == 1) {
            half_solve_single(d, body, Y, block, p);
        } else {
            half_solve_several(d, body, Y, block, p);
        }
        if (parent != ITM_NONE) {
            hand_on(d, body, wrench + n * parent, Y, block, p, itm_vec_sub(d->x[id], d->x[body->parent]));
        }
        Y += body->nv;
    }
}

// ---------------------------------------------------------------------------- inertia forces

void itm_mass_compute_inertia_wrench(const ItmModel* m, const ItmData* d, ItmSpatial* wrench,
                                     const ItmSpatial* accel)
{
    const ItmSpatial* A = accel != NULL ? accel : d->accel_bias;
    for (int i = 0; i < m->nbody; i++) {
        ItmVec3 w = d->twist[i].ang;
        ItmVec3 gyro = itm_vec_cross(w, itm_sym_mul_vec(&d->J[i], w));
        ItmVec3 torque = itm_vec_add(itm_sym_mul_vec(&d->J[i], A[i].ang), gyro);
        wrench[i].ang = itm_vec_neg(torque);
        wrench[i].lin = itm_vec_scale(m->bodies[i].mass, itm_vec_sub(m->gravity, A[i].lin));
    }
}

void itm_mass_compute_accelerations(const ItmModel* m, const ItmData* d, ItmSpatial* accel, const double* a)
{
    itm_kinematics_compute_twists(m, d, accel, a);
    for (int i = 0; i < m->nbody; i++) {
        accel[i] = itm_spatial_add(accel[i], d->accel_bias[i]);
    }
}
