#include "multibody/spanning.h"

#include "base/inline.h"
#include "base/union_find.h"
#include "multibody/articulated.h"
#include "multibody/rows.h"

#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- the forest

// Whether a block is a rigid joint of free bodies only.
static bool is_tree_block(const ItmModel* m, const ItmRowBlock* block)
{
    bool is_tree = block->kind == ITM_BLOCK_JOINT && block->latch == ITM_NONE && !itm_block_is_compliant(block);
    for (int k = 0; k < block->nbody; k++) {
        is_tree = is_tree && m->bodies[block->body[k]].is_root_leaf;
    }
    return is_tree;
}

// Whether no block closes a loop. set (nbody + 1), the last is the world
static bool is_forest(const ItmModel* m, int* set)
{
    for (int i = 0; i <= m->nbody; i++) {
        set[i] = i;
    }
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        if (!is_tree_block(m, block)) {
            return false;
        }
        int a = block->body[0], b = block->nbody == 2 ? block->body[1] : m->nbody;
        if (itm_union_find(set, a) == itm_union_find(set, b)) {
            return false;
        }
        itm_union_join(set, a, b);
    }
    return true;
}

static void add_node(ItmModel* m, int* node_of, int body, int parent, int block)
{
    ItmSpanningNode* node = &m->spanning[m->nspanning];
    *node =
        (ItmSpanningNode){.body = body, .parent = parent, .block = block, .nfree = 6, .free_adr = m->nspanning_free};
    if (block != ITM_NONE) {
        const ItmJoint* joint = &m->joints[m->blocks[block].index];
        node->row = m->blocks[block].row;
        for (int k = 0; k < 3; k++) {
            node->nlin += !(joint->free & 1u << (ITM_TX + k));
            node->nrot += !(joint->free & 1u << (ITM_RX + k));
        }
        node->nfree = 6 - node->nlin - node->nrot;
    }
    node->L_adr = m->nspanning_L;
    m->nspanning_free += node->nfree;
    m->nspanning_L += node->nfree * node->nfree;
    node_of[body] = m->nspanning++;
}

// Add the bodies that blocks of a body connect and that have no node yet. body_block lists the blocks by body.
static void add_children(ItmModel* m, int* node_of, int body)
{
    for (int e = m->body_block_adr[body]; e < m->body_block_adr[body + 1]; e++) {
        const ItmRowBlock* block = &m->blocks[m->body_block[e]];
        for (int k = 0; k < block->nbody; k++) {
            if (node_of[block->body[k]] == ITM_NONE) {
                add_node(m, node_of, block->body[k], node_of[body], m->body_block[e]);
            }
        }
    }
}

// Nodes, parents first: bodies on the world, then what hangs on them; the smallest body of a component that is not on the world floats.
static void add_nodes(ItmModel* m, int* node_of)
{
    for (int i = 0; i < m->nbody; i++) {
        node_of[i] = ITM_NONE;
    }
    for (int k = 0; k < m->nblock; k++) {
        if (m->blocks[k].nbody == 1) {
            add_node(m, node_of, m->blocks[k].body[0], ITM_NONE, k);
        }
    }
    int done = 0;
    for (int i = 0; i <= m->nbody; i++) {
        for (; done < m->nspanning; done++) {
            add_children(m, node_of, m->spanning[done].body);
        }
        bool is_held = i < m->nbody && m->body_block_adr[i + 1] > m->body_block_adr[i];
        if (is_held && node_of[i] == ITM_NONE) {
            add_node(m, node_of, i, ITM_NONE, ITM_NONE);
        }
    }
}

bool itm_spanning_build(ItmModel* m)
{
    int* work = malloc(sizeof(int) * (size_t)(m->nbody + 1));
    bool has_memory = work != NULL;
    if (has_memory && m->nblock > 0 && is_forest(m, work)) {
        m->spanning = itm_model_take(m, (size_t)m->nbody, sizeof(ItmSpanningNode));
        has_memory = m->spanning != NULL;
        if (has_memory) {
            add_nodes(m, work);
        }
    }
    free(work);
    return has_memory;
}

// ---------------------------------------------------------------------------- factor

// Vectors that complete v (k, independent, of length near 1) to a basis of space: perpendicular to them and to each other, of length 1.
ITM_INLINE void complete(ItmVec3* out, const ItmVec3* v, int k)
{
    if (k == 0) {
        out[0] = itm_vec(1, 0, 0);
        out[1] = itm_vec(0, 1, 0);
        out[2] = itm_vec(0, 0, 1);
    } else if (k == 1) {
        double x = fabs(v[0].x), y = fabs(v[0].y), z = fabs(v[0].z);
        ItmVec3 axis = x <= y && x <= z ? itm_vec(1, 0, 0) : y <= z ? itm_vec(0, 1, 0) : itm_vec(0, 0, 1);
        ItmVec3 first = itm_vec_cross(v[0], axis);
        out[0] = itm_vec_scale(1.0 / itm_vec_norm(first), first);
        ItmVec3 second = itm_vec_cross(v[0], out[0]);
        out[1] = itm_vec_scale(1.0 / itm_vec_norm(second), second);
    } else if (k == 2) {
        ItmVec3 last = itm_vec_cross(v[0], v[1]);
        out[0] = itm_vec_scale(1.0 / itm_vec_norm(last), last);
    }
}

// Vectors in the span of v (k) with out_i . v_j = 1 for i = j, else 0.
ITM_INLINE void dualize(ItmVec3* out, const ItmVec3* v, int k)
{
    if (k == 1) {
        out[0] = itm_vec_scale(1.0 / itm_vec_dot(v[0], v[0]), v[0]);
    } else if (k == 2) {
        double aa = itm_vec_dot(v[0], v[0]), ab = itm_vec_dot(v[0], v[1]), bb = itm_vec_dot(v[1], v[1]);
        double inv = 1.0 / (aa * bb - ab * ab);
        out[0] = itm_vec_axpy(inv * bb, v[0], itm_vec_scale(-inv * ab, v[1]));
        out[1] = itm_vec_axpy(inv * aa, v[1], itm_vec_scale(-inv * ab, v[0]));
    } else if (k == 3) {
        ItmVec3 c = itm_vec_cross(v[1], v[2]);
        double inv = 1.0 / itm_vec_dot(v[0], c);
        out[0] = itm_vec_scale(inv, c);
        out[1] = itm_vec_scale(inv, itm_vec_cross(v[2], v[0]));
        out[2] = itm_vec_scale(inv, itm_vec_cross(v[0], v[1]));
    }
}

// The free directions of a node, S, and the dual vectors of its locked rotations.
ITM_INLINE void place(ItmSpanned* f, const ItmSpannedRows* rows, ItmSpatial* S, int nlin, int nrot)
{
    ItmVec3 t[3] = {{0, 0, 0}}, w[3] = {{0, 0, 0}};
    dualize(f->dual, rows->n, nrot);
    complete(t, rows->e, nlin);
    complete(w, rows->n, nrot);
    for (int k = 0; k < 3 - nlin; k++) {
        S[k] = (ItmSpatial){{0, 0, 0}, t[k]};
    }
    for (int k = 0; k < 3 - nrot; k++) {
        S[3 - nlin + k] = (ItmSpatial){w[k], itm_vec_cross(rows->s, w[k])};
    }
}

static void place_node(const ItmModel* m, ItmData* d, int k)
{
    const ItmSpanningNode* node = &m->spanning[k];
    ItmSpanned* f = &d->spanning.nodes[k];
    ItmSpannedRows* rows = &d->spanning.rows[k];
    ItmSpatial* S = d->spanning.S + node->free_adr;
    itm_articulated_init(&f->IA, &m->bodies[node->body], &d->mass.J[node->body]);
    f->R = d->R[node->body];
    f->p = itm_spatial_zero();
    f->offset = itm_vec(0, 0, 0);
    if (node->parent != ITM_NONE) {
        f->offset = itm_vec_sub(d->x[node->body], d->x[m->spanning[node->parent].body]);
    }
    if (node->block == ITM_NONE) {
        rows->s = itm_vec(0, 0, 0);
        for (int i = 0; i < 6; i++) {
            S[i] = itm_spatial_zero();
            ((double*)&S[i])[i] = 1.0;
        }
    } else if (node->nlin == 3 && node->nrot == 2) {
        place(f, rows, S, 3, 2);
    } else {
        place(f, rows, S, node->nlin, node->nrot);
    }
}

// The factor takes over the rows of the last look at the gaps, which next places them where the old ones are.
static void begin_factor(ItmData* d)
{
    ItmSpannedRows* rows = d->spanning.rows;
    d->spanning.rows = d->spanning.placed;
    d->spanning.placed = rows;
    d->spanning.is_used = true;
    d->info.nredundant = 0;
}

// Factor a node that is placed; all that hangs on it is done.
ITM_INLINE void factor_node(const ItmModel* m, ItmData* d, int k, int nfree)
{
    const ItmSpanningNode* node = &m->spanning[k];
    ItmSpanned* f = &d->spanning.nodes[k];
    ItmSpatial *S = d->spanning.S + node->free_adr, *G = d->spanning.G + node->free_adr;
    ItmArticulated* parent = node->parent != ITM_NONE ? &d->spanning.nodes[node->parent].IA : NULL;
    double* L = d->spanning.L + node->L_adr;
    if (nfree == 1) {
        itm_articulated_factor_single(&f->IA, G, L, *S, parent, f->offset);
    } else {
        itm_articulated_factor(&f->IA, G, L, S, nfree);
        itm_articulated_pass(parent, &f->IA, G, nfree, f->offset);
    }
}

void itm_spanning_factor(const ItmModel* m, ItmData* d)
{
    begin_factor(d);
    for (int k = 0; k < m->nspanning; k++) {
        place_node(m, d, k);
    }
    for (int k = m->nspanning - 1; k >= 0; k--) {
        factor_node(m, d, k, m->spanning[k].nfree);
    }
}

// ---------------------------------------------------------------------------- products

// Motions of nodes are in d->accel by their numbers.

// Rates of the rows of a node whose body moves by `motion` against its parent.
ITM_INLINE void find_rates(const ItmSpannedRows* rows, double* x, ItmSpatial motion, int nlin, int nrot)
{
    ItmVec3 u = itm_twist_shift(motion, rows->s).lin;
    for (int k = 0; k < nlin; k++) {
        x[k] = itm_vec_dot(rows->e[k], u);
    }
    for (int k = 0; k < nrot; k++) {
        x[nlin + k] = itm_vec_dot(rows->n[k], motion.ang);
    }
}

// x = A v for the rows of a node; its parent is done.
ITM_INLINE void multiply_node(const ItmModel* m, ItmData* d, int k, double* x, const double* v)
{
    const ItmSpanningNode* node = &m->spanning[k];
    const ItmSpanned* f = &d->spanning.nodes[k];
    const double* v_k = v + m->bodies[node->body].v_adr;
    ItmSpatial motion = {itm_mat_mul_vec(&f->R, itm_vec(v_k[3], v_k[4], v_k[5])), itm_vec(v_k[0], v_k[1], v_k[2])};
    d->accel[k] = motion;
    if (node->parent != ITM_NONE) {
        motion = itm_spatial_axpy(-1.0, itm_twist_shift(d->accel[node->parent], f->offset), motion);
    }
    if (node->nlin == 3 && node->nrot == 2) {
        find_rates(&d->spanning.rows[k], x + node->row, motion, 3, 2);
    } else {
        find_rates(&d->spanning.rows[k], x + node->row, motion, node->nlin, node->nrot);
    }
}

void itm_spanning_multiply(const ItmModel* m, ItmData* d, double* out, const double* v)
{
    for (int k = 0; k < m->nspanning; k++) {
        multiply_node(m, d, k, out, v);
    }
}

// ---------------------------------------------------------------------------- solve

// Motion of the body against its parent by which its rows have the rates x.
ITM_INLINE ItmSpatial find_motion(const ItmSpanned* f, const ItmSpannedRows* rows, const double* x, int nlin, int nrot)
{
    ItmSpatial c = itm_spatial_zero();
    for (int k = 0; k < nrot; k++) {
        c.ang = itm_vec_axpy(x[nlin + k], f->dual[k], c.ang);
    }
    c.lin = itm_vec_cross(rows->s, c.ang);
    for (int k = 0; k < nlin; k++) {
        c.lin = itm_vec_axpy(x[k], rows->e[k], c.lin);
    }
    return c;
}

// Forces x of the rows whose sum is the wrench p on the body.
ITM_INLINE void find_forces(const ItmSpanned* f, const ItmSpannedRows* rows, double* x, ItmSpatial p, int nlin,
                            int nrot)
{
    ItmVec3 torque = itm_vec_sub(p.ang, itm_vec_cross(rows->s, p.lin));
    for (int k = 0; k < nlin; k++) {
        x[k] = itm_vec_dot(rows->e[k], p.lin);
    }
    for (int k = 0; k < nrot; k++) {
        x[nlin + k] = itm_vec_dot(f->dual[k], torque);
    }
}

// Inward: what the rows of a node ask for, and what hangs on it, pushes on its parent.
ITM_INLINE void go_inward(const ItmModel* m, ItmData* d, int k, const double* x, int nlin, int nrot, int nfree)
{
    const ItmSpanningNode* node = &m->spanning[k];
    ItmSpanned* f = &d->spanning.nodes[k];
    const ItmSpatial *S = d->spanning.S + node->free_adr, *G = d->spanning.G + node->free_adr;
    const double* L = d->spanning.L + node->L_adr;
    double* y = d->spanning.y + node->free_adr;
    ItmSpatial c = find_motion(f, &d->spanning.rows[k], x + node->row, nlin, nrot);
    ItmSpatial z = itm_spatial_add(itm_articulated_mul(&f->IA, c), f->p);
    for (int i = 0; i < nfree; i++) {
        y[i] = itm_spatial_dot(S[i], z);
    }
    itm_articulated_solve_lower(L, y, nfree);
    if (node->parent != ITM_NONE) {
        ItmSpatial* parent = &d->spanning.nodes[node->parent].p;
        for (int i = 0; i < nfree; i++) {
            z = itm_spatial_axpy(-y[i], G[i], z);
        }
        *parent = itm_spatial_add(*parent, itm_wrench_shift(z, f->offset));
    }
}

// Outward: velocities of a node's body and forces of its rows. Leaves p = 0 for the next solve.
ITM_INLINE void go_outward(const ItmModel* m, ItmData* d, int k, double* v, double* x, int nlin, int nrot, int nfree)
{
    const ItmSpanningNode* node = &m->spanning[k];
    ItmSpanned* f = &d->spanning.nodes[k];
    const ItmSpannedRows* rows = &d->spanning.rows[k];
    const ItmSpatial *S = d->spanning.S + node->free_adr, *G = d->spanning.G + node->free_adr;
    const double* L = d->spanning.L + node->L_adr;
    double* y = d->spanning.y + node->free_adr;
    ItmSpatial a = itm_spatial_zero();
    if (node->parent != ITM_NONE) {
        a = itm_twist_shift(d->accel[node->parent], f->offset);
    }
    for (int i = 0; i < nfree; i++) {
        y[i] = -y[i] - itm_spatial_dot(G[i], a);
    }
    itm_articulated_solve_upper(L, y, nfree);
    a = itm_spatial_add(a, find_motion(f, rows, x + node->row, nlin, nrot));
    for (int i = 0; i < nfree; i++) {
        a = itm_spatial_axpy(y[i], S[i], a);
    }
    d->accel[k] = a;
    find_forces(f, rows, x + node->row, itm_spatial_add(itm_articulated_mul(&f->IA, a), f->p), nlin, nrot);
    f->p = itm_spatial_zero();
    ItmVec3 w = itm_mat_t_mul_vec(&f->R, a.ang);
    const double add[6] = {a.lin.x, a.lin.y, a.lin.z, w.x, w.y, w.z};
    double* v_k = v + m->bodies[node->body].v_adr;
    for (int i = 0; i < 6; i++) {
        v_k[i] += add[i];
    }
}

static void go_all_inward(const ItmModel* m, ItmData* d, const double* x)
{
    for (int k = m->nspanning - 1; k >= 0; k--) {
        const ItmSpanningNode* node = &m->spanning[k];
        if (node->nlin == 3 && node->nrot == 2) {
            go_inward(m, d, k, x, 3, 2, 1);
        } else {
            go_inward(m, d, k, x, node->nlin, node->nrot, node->nfree);
        }
    }
}

static void go_all_outward(const ItmModel* m, ItmData* d, double* v, double* x)
{
    for (int k = 0; k < m->nspanning; k++) {
        const ItmSpanningNode* node = &m->spanning[k];
        if (node->nlin == 3 && node->nrot == 2) {
            go_outward(m, d, k, v, x, 3, 2, 1);
        } else {
            go_outward(m, d, k, v, x, node->nlin, node->nrot, node->nfree);
        }
    }
}

void itm_spanning_solve(const ItmModel* m, ItmData* d, double* v, double* x)
{
    go_all_inward(m, d, x);
    go_all_outward(m, d, v, x);
}

void itm_spanning_project(const ItmModel* m, ItmData* d, double* v, double* x)
{
    begin_factor(d);
    for (int k = 0; k < m->nspanning; k++) {
        place_node(m, d, k);
        multiply_node(m, d, k, x, v);
    }
    for (int i = 0; i < m->nrow; i++) {
        x[i] = -x[i];
    }
    for (int k = m->nspanning - 1; k >= 0; k--) {
        const ItmSpanningNode* node = &m->spanning[k];
        if (node->nlin == 3 && node->nrot == 2) {
            factor_node(m, d, k, 1);
            go_inward(m, d, k, x, 3, 2, 1);
        } else {
            factor_node(m, d, k, node->nfree);
            go_inward(m, d, k, x, node->nlin, node->nrot, node->nfree);
        }
    }
    go_all_outward(m, d, v, x);
}

void itm_spanning_solve_inward(const ItmModel* m, ItmData* d, const double* x)
{
    go_all_inward(m, d, x);
    for (int k = 0; k < m->nspanning; k++) {
        d->spanning.nodes[k].p = itm_spatial_zero();
    }
}

// ---------------------------------------------------------------------------- half solve

// A body moves by a = X a_parent + c + S u, where L' u = -y_free - G' X a_parent: with y = L^-1 S' p,
//   p . a = p . c - y . y_free + (p - G y) . X a_parent
double itm_spanning_half_solve(const ItmModel* m, ItmData* d, double* y, const double* x, const int* path, int npath)
{
    double rate = 0.0;
    for (int j = 0; j < npath; j++) {
        const ItmSpanningNode* node = &m->spanning[path[j]];
        ItmSpanned* f = &d->spanning.nodes[path[j]];
        const ItmSpatial *S = d->spanning.S + node->free_adr, *G = d->spanning.G + node->free_adr;
        double *own = y + node->free_adr, *free = d->spanning.y + node->free_adr;
        ItmSpatial p = f->p;
        f->p = itm_spatial_zero();
        ItmSpatial c = find_motion(f, &d->spanning.rows[path[j]], x + node->row, node->nlin, node->nrot);
        rate += itm_spatial_dot(p, c);
        for (int i = 0; i < node->nfree; i++) {
            own[i] = itm_spatial_dot(S[i], p);
        }
        itm_articulated_solve_lower(d->spanning.L + node->L_adr, own, node->nfree);
        for (int i = 0; i < node->nfree; i++) {
            rate -= own[i] * free[i];
            p = itm_spatial_axpy(-own[i], G[i], p);
        }
        if (node->parent != ITM_NONE) {
            ItmSpatial* parent = &d->spanning.nodes[node->parent].p;
            *parent = itm_spatial_add(*parent, itm_wrench_shift(p, f->offset));
        }
    }
    return rate;
}
