#include "rim/forest.h"

#include "base/inline.h"
#include "multibody/mass.h"
#include "multibody/rows.h"
#include "multibody/spanning.h"
#include "stepper/stepper.h"

#include <string.h>

// ---------------------------------------------------------------------------- memory

void itm_rim_forest_lay_out(ItmRimForest* forest, ItmArena* arena, const ItmModel* m, int n)
{
    forest->is_possible = m->nspanning > 0 && m->nspanning == m->nbody;
    int nnode = forest->is_possible ? m->nspanning : 0, nfree = forest->is_possible ? m->nspanning_free : 0;
    forest->node_of = ITM_TAKE(arena, int, nnode);
    forest->path = ITM_TAKE(arena, int, n* nnode);
    forest->npath = ITM_TAKE(arena, int, n);
    forest->cov = ITM_TAKE(arena, ItmSpatial, nnode > 0 ? n * ITM_BLOCK_BODIES : 0);
    forest->y = ITM_TAKE(arena, double, n* nfree);
    forest->wrench = ITM_TAKE(arena, ItmSpatial, nnode);
    forest->rate = ITM_TAKE(arena, double, nnode > 0 ? m->nrow : 0);
    for (int k = 0; k < nnode && forest->node_of != NULL; k++) {
        forest->node_of[m->spanning[k].body] = k;
    }
}

void itm_rim_forest_set_path(ItmRimForest* forest, const ItmModel* m, int i, const ItmRowBlock* block)
{
    forest->is_possible = forest->is_possible && block->ndof == 0;
    if (!forest->is_possible) {
        return;
    }
    int *path = forest->path + i * m->nspanning, n = 0;
    // parents have smaller numbers: a node is on the path where it is touched, or the parent of one that is
    for (int k = m->nspanning - 1; k >= 0; k--) {
        bool is_on = false;
        for (int j = 0; j < block->nbody; j++) {
            is_on = is_on || forest->node_of[block->body[j]] == k;
        }
        for (int j = 0; j < n; j++) {
            is_on = is_on || m->spanning[path[j]].parent == k;
        }
        if (is_on) {
            path[n++] = k;
        }
    }
    forest->npath[i] = n;
}

// ---------------------------------------------------------------------------- free motion

// What pushes on a body that is alone: its wrench, and tau, whose torques are in its axes.
ITM_INLINE ItmSpatial find_wrench(const ItmModel* m, const ItmData* d, int body)
{
    const double* tau = d->tau + m->bodies[body].v_adr;
    ItmSpatial p = d->wrench[body];
    p.lin = itm_vec_add(p.lin, itm_vec(tau[0], tau[1], tau[2]));
    p.ang = itm_vec_add(p.ang, itm_mat_mul_vec(&d->R[body], itm_vec(tau[3], tau[4], tau[5])));
    return p;
}

// The rows ask for A v_dot = -(A v + ahead c) / h: the rates of the evaluation, which is ahead by `shift`, have that part of the bias c
// already.
void itm_rim_forest_begin(const ItmModel* m, ItmData* d, ItmRim* rim)
{
    ItmRimForest* forest = &rim->forest;
    double h = rim->H, ahead = h - rim->shift;
    if (d->position_state != ITM_POSITION_SPANNED || !d->spanning.is_used) {
        itm_rows_place_nodes(m, d);
        itm_spanning_factor(m, d);
        d->position_state = ITM_POSITION_SPANNED;
    }
    for (int i = 0; i < m->nrow; i++) {
        forest->rate[i] = -(d->rows.rate[i] + ahead * d->rows.bias[i]) / h;
    }
    for (int k = 0; k < m->nspanning; k++) {
        forest->wrench[k] = find_wrench(m, d, m->spanning[k].body);
        d->spanning.nodes[k].p = itm_spatial_scale(-1.0, forest->wrench[k]);
    }
    itm_spanning_solve_inward(m, d, forest->rate);
    // no row has a signal
    memset(d->rows.before, 0, sizeof(double) * (size_t)m->nrow);
    memset(d->rows.reference, 0, sizeof(double) * (size_t)m->nrow);
}

// ---------------------------------------------------------------------------- mobility

// Wrenches p a' of row i onto the nodes.
ITM_INLINE void push_nodes(ItmData* d, const ItmRim* rim, int i, double p)
{
    const ItmRimForest* forest = &rim->forest;
    const ItmRowBlock* block = &rim->blocks[i];
    for (int k = 0; k < block->nbody; k++) {
        ItmSpatial* to = &d->spanning.nodes[forest->node_of[block->body[k]]].p;
        *to = itm_spatial_axpy(p, forest->cov[i * ITM_BLOCK_BODIES + k], *to);
    }
}

// a M^-1 a' of a body that is alone
ITM_INLINE double find_free_mobility(const ItmBody* body, const ItmMat3* R, ItmSpatial a)
{
    ItmVec3 y = itm_body_solve_lower(body, itm_mat_t_mul_vec(R, a.ang));
    return itm_vec_dot(a.lin, a.lin) * body->inv_mass + itm_vec_dot(y, y);
}

void itm_rim_forest_reduce(const ItmModel* m, ItmData* d, ItmRim* rim, int i, const ItmSpatial* cov)
{
    ItmRimForest* forest = &rim->forest;
    const ItmRowBlock* block = &rim->blocks[i];
    int n = rim->n, nfree = m->nspanning_free;
    double *y = forest->y + i * nfree, free = 0.0;
    for (int k = 0; k < block->nbody; k++) {
        int body = block->body[k];
        forest->cov[i * ITM_BLOCK_BODIES + k] = cov[k];
        free += find_free_mobility(&m->bodies[body], &d->R[body], cov[k]);
    }
    rim->mobility_free[i] = free;
    push_nodes(d, rim, i, 1.0);
    rim->a0[i] = itm_spanning_half_solve(m, d, y, forest->rate, forest->path + i * m->nspanning, forest->npath[i]);
    for (int j = 0; j <= i; j++) {
        rim->W[i * n + j] = rim->W[j * n + i] = itm_rows_dot(y, forest->y + j * nfree, nfree);
    }
}

// ---------------------------------------------------------------------------- take-over

void itm_rim_forest_respond(const ItmModel* m, ItmData* d, const ItmRim* rim, double* v, double h, const double* p)
{
    const ItmRimForest* forest = &rim->forest;
    for (int k = 0; k < m->nspanning; k++) {
        d->spanning.nodes[k].p = itm_spatial_scale(-h, forest->wrench[k]);
    }
    for (int i = 0; p != NULL && i < rim->n; i++) {
        push_nodes(d, rim, i, -p[i]);
    }
    for (int i = 0; i < m->nrow; i++) {
        d->rows.x[i] = h * forest->rate[i];
    }
    itm_spanning_solve(m, d, v, d->rows.x);
}

void itm_rim_forest_push(const ItmModel* m, ItmData* d, const ItmRim* rim, double* v, int i, double p)
{
    push_nodes(d, rim, i, -p);
    memset(d->rows.x, 0, sizeof(double) * (size_t)m->nrow);
    itm_spanning_solve(m, d, v, d->rows.x);
}
