#include "multibody/mass.h"

#include "base/assert.h"
#include "base/inline.h"
#include "multibody/articulated.h"
#include "multibody/flexible.h"
#include "multibody/kinematics.h"

#include <string.h>

// M = L L' with L built from articulated inertias: for body i with motion subspace S,
//   D = S' IA S = L_i L_i',  G = IA S L_i^-T,  IA(parent) += shift(IA - G G')
// (articulated-body algorithm, written as a factorisation; Featherstone 2008, ch. 7).

// ---------------------------------------------------------------------------- factor

static ItmArticulated* get_parent_inertia(const ItmData* d, const ItmBody* body)
{
    return body->parent != ITM_NONE ? &d->mass.IA[body->parent] : NULL;
}

static void factor_several(ItmData* d, const ItmBody* body, int i)
{
    ItmSpatial* G = d->mass.G + body->v_adr;
    itm_articulated_factor(&d->mass.IA[i], G, d->mass.L + body->L_adr, d->S + body->v_adr, body->nv);
    itm_articulated_pass(get_parent_inertia(d, body), &d->mass.IA[i], G, body->nv,
                         itm_vec_sub(d->x[i], d->x[body->parent]));
}

ITM_INLINE void factor_single(ItmData* d, const ItmBody* body, int i)
{
    itm_articulated_factor_single(&d->mass.IA[i], d->mass.G + body->v_adr, d->mass.L + body->L_adr, d->S[body->v_adr],
                                  get_parent_inertia(d, body), itm_vec_sub(d->x[i], d->x[body->parent]));
}

// Inertias of the bodies alone, before those of what hangs on them are added.
static void begin_factor(const ItmModel* m, ItmData* d, ItmModalTerms terms)
{
    for (int i = 0; i < m->ntree; i++) {
        if (!m->bodies[i].is_root_leaf) {
            itm_articulated_init(&d->mass.IA[i], &m->bodies[i], &d->mass.J[i]);
        }
    }
    itm_flexible_begin_factor(m, d, terms);
}

// Factor body i; all that hangs on it is done.
ITM_INLINE void factor_at(const ItmModel* m, ItmData* d, int i)
{
    const ItmBody* body = &m->bodies[i];
    if (body->is_root_leaf) {
        return;
    }
    if (itm_body_is_elastic(body)) {
        itm_flexible_factor(m, d, i);
    } else if (body->nv == 1) {
        factor_single(d, body, i);
    } else {
        factor_several(d, body, i);
    }
}

void itm_mass_factor_implicit(const ItmModel* m, ItmData* d, ItmModalTerms terms)
{
    begin_factor(m, d, terms);
    for (int i = m->ntree - 1; i >= 0; i--) {
        factor_at(m, d, i);
    }
}

void itm_mass_factor(const ItmModel* m, ItmData* d)
{
    itm_mass_factor_implicit(m, d, (ItmModalTerms){.inertia = 1.0});
}

// ---------------------------------------------------------------------------- solve

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
static void half_solve_leaf(const ItmBody* body, const ItmData* d, double* y, const double* tau, int i,
                            ItmSpatial wrench)
{
    ItmVec3 w = itm_body_solve_lower(
        body, itm_vec_add(itm_mat_t_mul_vec(&d->R[i], wrench.ang), itm_vec(tau[3], tau[4], tau[5])));
    double s = body->inv_sqrt_mass;
    y[0] = s * (wrench.lin.x + tau[0]);
    y[1] = s * (wrench.lin.y + tau[1]);
    y[2] = s * (wrench.lin.z + tau[2]);
    y[3] = w.x;
    y[4] = w.y;
    y[5] = w.z;
}

// The wrench p that the mobilizer of body i does not take goes on to its parent.
static inline void hand_up(const ItmData* d, const ItmBody* body, ItmSpatial* wrench, ItmSpatial p, int i)
{
    if (body->parent != ITM_NONE) {
        p = itm_wrench_shift(p, itm_vec_sub(d->x[i], d->x[body->parent]));
        wrench[body->parent] = itm_spatial_add(wrench[body->parent], p);
    }
}

// y = L^-1 rhs of body i, the wrench that is left handed on to its parent. Bodies that are alone are solved into x, or (NULL) half.
ITM_INLINE void sweep_up_at(const ItmModel* m, ItmData* d, double* x, const double* tau, ItmSpatial* wrench, int i)
{
    double* y = d->mass.y;
    const ItmBody* body = &m->bodies[i];
    if (body->is_root_leaf) {
        if (x == NULL) {
            half_solve_leaf(body, d, y + body->v_adr, tau + body->v_adr, i, wrench[i]);
        } else {
            solve_root_leaf(body, d, x, tau, i, wrench[i]);
        }
        return;
    }
    if (body->mobility == ITM_MOBILIZER_NODE) {
        itm_flexible_hand_on(m, d, i, &wrench[body->parent], wrench[i]);
        return;
    }
    int adr = body->v_adr, n = body->nv;
    if (n == 1 && body->mobility != ITM_MOBILIZER_MODES) {  // no loops: a chain waits for every one of these bodies
        ItmSpatial p = wrench[i];
        y[adr] = (itm_spatial_dot(d->S[adr], p) + (tau != NULL ? tau[adr] : 0.0)) * d->mass.L[body->L_adr];
        hand_up(d, body, wrench, itm_spatial_axpy(-y[adr], d->mass.G[adr], p), i);
        return;
    }
    for (int k = adr; k < adr + n; k++) {
        y[k] = itm_spatial_dot(d->S[k], wrench[i]) + (tau != NULL ? tau[k] : 0.0);
    }
    if (body->mobility == ITM_MOBILIZER_MODES) {
        itm_flexible_collect(m, d, i, y + adr);
    }
    itm_articulated_solve_lower(d->mass.L + body->L_adr, y + adr, n);
    ItmSpatial p = wrench[i];
    for (int k = adr; k < adr + n; k++) {
        p = itm_spatial_axpy(-y[k], d->mass.G[k], p);
    }
    hand_up(d, body, wrench, p, i);
}

static void sweep_up(const ItmModel* m, ItmData* d, double* x, const double* tau, ItmSpatial* wrench)
{
    for (int i = m->nbody - 1; i >= 0; i--) {
        sweep_up_at(m, d, x, tau, wrench, i);
    }
}

// Down the tree: x = L^-T (y - G' acceleration of the parent).
static void sweep_down(const ItmModel* m, ItmData* d, double* x)
{
    const double* y = d->mass.y;
    ItmSpatial* accel = d->accel;
    for (int i = 0; i < m->ntree; i++) {
        const ItmBody* body = &m->bodies[i];
        if (body->is_root_leaf) {
            continue;
        }
        int adr = body->v_adr, n = body->nv;
        ItmSpatial a = itm_twist_shift(accel[body->parent], itm_vec_sub(d->x[i], d->x[body->parent]));
        if (body->mobility == ITM_MOBILIZER_NODE) {
            accel[i] = itm_flexible_add_motion(m, d, i, a, x);
            continue;
        }
        if (n == 1 && body->mobility != ITM_MOBILIZER_MODES) {
            x[adr] = (y[adr] - itm_spatial_dot(d->mass.G[adr], a)) * d->mass.L[body->L_adr];
            accel[i] = itm_spatial_axpy(x[adr], d->S[adr], a);
            continue;
        }
        for (int k = adr; k < adr + n; k++) {
            x[k] = y[k] - itm_spatial_dot(d->mass.G[k], a);
        }
        itm_articulated_solve_upper(d->mass.L + body->L_adr, x + adr, n);
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

void itm_mass_factor_solve(const ItmModel* m, ItmData* d, ItmModalTerms terms, double* x, const double* tau,
                           ItmSpatial* wrench)
{
    begin_factor(m, d, terms);
    for (int i = m->nbody - 1; i >= 0; i--) {
        factor_at(m, d, i);
        sweep_up_at(m, d, x, tau, wrench, i);
    }
    sweep_down(m, d, x);
}

void itm_mass_factor_solve_lower(const ItmModel* m, ItmData* d, ItmModalTerms terms, const double* tau,
                                 ItmSpatial* wrench)
{
    begin_factor(m, d, terms);
    for (int i = m->nbody - 1; i >= 0; i--) {
        factor_at(m, d, i);
        sweep_up_at(m, d, NULL, tau, wrench, i);
    }
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
            const double* y = d->mass.y + body->v_adr;
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
                                     const ItmSpatial* p, int n)
{
    ItmSpatial S = d->S[body->v_adr];
    double inv_L = d->mass.L[body->L_adr], direct = 0.0;
    for (int l = 0; l < block->ndof; l++) {
        direct += block->dof[l] == body->v_adr ? block->dof_coef[l] : 0.0;
    }
    for (int i = 0; i < n; i++) {
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
        itm_articulated_solve_lower(d->mass.L + body->L_adr, y, n);
    }
}

// What the mobilizer does not take of the wrenches p goes on to the parent, `offset` away: parent += shift(p - G y)
ITM_INLINE void hand_on(const ItmData* d, const ItmBody* body, ItmSpatial* parent, const double* Y,
                        const ItmRowBlock* block, const ItmSpatial* p, ItmVec3 offset, int n, int nv)
{
    for (int i = 0; i < n; i++) {
        ItmSpatial f = p[i];
        for (int k = 0; k < nv; k++) {
            f = itm_spatial_axpy(-Y[i * block->ny + k], d->mass.G[body->v_adr + k], f);
        }
        parent[i] = itm_spatial_add(parent[i], itm_wrench_shift(f, offset));
    }
}

// A node, entry j of the path: its wrenches push on the modes, a later entry, whose part of Y collects that.
static void half_solve_node(const ItmModel* m, const ItmData* d, double* Y, const ItmRowBlock* block,
                            const ItmSpatial* p, int j)
{
    const ItmFlexNode* node = &m->nodes[m->bodies[block->path[j]].part];
    const ItmSpatial* S = d->flex.node_S + node->S_adr;
    for (int k = j; k < block->path_parent[j]; k++) {
        Y += m->bodies[block->path[k]].nv;
    }
    for (int i = 0; i < block->nrow; i++) {
        for (int k = 0; k < m->flexibles[node->flexible].n; k++) {
            Y[i * block->ny + k] += itm_spatial_dot(S[k], p[i]);
        }
    }
}

// Modes: what the nodes have left in Y, which began with zeros. No row acts on a mode directly.
static void half_solve_modes(const ItmData* d, const ItmBody* body, double* Y, const ItmRowBlock* block)
{
    for (int i = 0; i < block->nrow; i++) {
        itm_articulated_solve_lower(d->mass.L + body->L_adr, Y + i * block->ny, body->nv);
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

bool itm_mass_has_root_leaves_only(const ItmModel* m, const ItmRowBlock* block)
{
    bool is_so = block->npath == block->nbody;
    for (int j = 0; is_so && j < block->npath; j++) {
        is_so = m->bodies[block->path[j]].is_root_leaf;
    }
    return is_so;
}

static void half_solve_root_leaves(const ItmModel* m, const ItmData* d, double* Y, const ItmRowBlock* block,
                                   const ItmSpatial* cov)
{
    int nrow = block->nrow, nbody = block->nbody, ny = block->ny;
    for (int k = 0; k < nbody; k++) {
        const ItmBody* body = &m->bodies[block->body[k]];
        const ItmMat3 R = d->R[block->body[k]];  // Y could overlap that in the table
        double* y = Y + 6 * find_on_path(block, block->body[k]);
        for (int i = 0; i < nrow; i++, y += ny) {
            half_solve_root_leaf(body, &R, y, cov[i * nbody + k]);
        }
    }
}

// n rows
ITM_INLINE void half_solve(const ItmModel* m, ItmData* d, double* Y, const ItmRowBlock* block, const ItmSpatial* cov,
                           int n)
{
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
    if (m->nflexible > 0) {
        memset(Y, 0, sizeof(double) * (size_t)(n * block->ny));
    }
    for (int j = 0; j < block->npath; j++) {
        int id = block->path[j], parent = block->path_parent[j];
        const ItmBody* body = &m->bodies[id];
        const ItmSpatial* p = wrench + n * j;
        if (body->is_root_leaf) {
            for (int i = 0; i < n; i++) {
                half_solve_root_leaf(body, &d->R[id], Y + i * block->ny, p[i]);
            }
        } else if (itm_body_is_elastic(body)) {
            if (body->mobility == ITM_MOBILIZER_NODE) {
                half_solve_node(m, d, Y, block, p, j);
            } else {
                half_solve_modes(d, body, Y, block);
            }
        } else if (body->nv == 1) {
            half_solve_single(d, body, Y, block, p, n);
        } else {
            half_solve_several(d, body, Y, block, p);
        }
        if (parent != ITM_NONE) {
            ItmVec3 offset = itm_vec_sub(d->x[id], d->x[body->parent]);
            if (body->nv == 1) {
                hand_on(d, body, wrench + n * parent, Y, block, p, offset, n, 1);
            } else {
                hand_on(d, body, wrench + n * parent, Y, block, p, offset, n, body->nv);
            }
        }
        Y += body->nv;
    }
}

// The sizes of an interface, of a hinge in a planar loop, of a contact with friction and of a hinge are known to the compiler.
void itm_mass_half_solve(const ItmModel* m, ItmData* d, double* Y, const ItmRowBlock* block, const ItmSpatial* cov)
{
    ITM_ASSERT(block->nrow <= ITM_BLOCK_MAX);
    if (itm_mass_has_root_leaves_only(m, block)) {
        half_solve_root_leaves(m, d, Y, block, cov);
        return;
    }
    switch (block->nrow) {
    case 1:
        half_solve(m, d, Y, block, cov, 1);
        break;
    case 2:
        half_solve(m, d, Y, block, cov, 2);
        break;
    case 3:
        half_solve(m, d, Y, block, cov, 3);
        break;
    case 5:
        half_solve(m, d, Y, block, cov, 5);
        break;
    default:
        half_solve(m, d, Y, block, cov, block->nrow);
        break;
    }
}

// ---------------------------------------------------------------------------- inertia forces

void itm_mass_compute_inertia_wrench(const ItmModel* m, const ItmData* d, ItmSpatial* wrench, const ItmSpatial* accel)
{
    const ItmSpatial* A = accel != NULL ? accel : d->accel_bias;
    for (int i = 0; i < m->nbody; i++) {
        ItmVec3 w = d->twist[i].ang;
        ItmVec3 gyro = itm_vec_cross(w, itm_sym_mul_vec(&d->mass.J[i], w));
        ItmVec3 torque = itm_vec_add(itm_sym_mul_vec(&d->mass.J[i], A[i].ang), gyro);
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
