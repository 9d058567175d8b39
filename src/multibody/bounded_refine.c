#include "multibody/bounded_refine.h"

#include "mlcp/least_norm.h"
#include "multibody/bounded_island.h"
#include "multibody/kinematics.h"
#include "multibody/mass.h"
#include "multibody/rows.h"

#include <string.h>

static void refine_island(const ItmModel* m, ItmData* d, int head, int n)
{
    ItmBounded* b = d->bounded;
    ItmRowProblem* p = &b->work.problem;
    itm_bounded_assemble(m, d, &b->work, head, n);
    for (int i = 0; i < n; i++) {
        p->v[i] = b->v_after[b->work.global[i]];
        p->w[i] = itm_bounded_compute_w(b, b->work.global[i]);
    }
    double* N = b->refined.work + (size_t)ITM_LEAST_NORM_SCRATCH * (size_t)n;
    ItmLeastNorm s = {.n = n,
                      .ncoupling = p->ncoupling,
                      .couplings = p->couplings,
                      .H = p->H,
                      .w = p->w,
                      .v = p->v,
                      .lo = p->lo,
                      .up = p->up,
                      .impulse = p->x,
                      .N = N,
                      .scratch = b->refined.work,
                      .part = b->refined.part};
    b->refined.nredundant += itm_least_norm_solve(&s, p->state);
    for (int i = 0; i < n; i++) {
        b->refined.is_redundant[b->work.global[i]] = p->state[i];
        b->x[b->work.global[i]] = p->x[i];
    }
}

// An island too large to be examined: its active rows beyond the velocities that they act on must be redundant.
static int count_surplus(const ItmModel* m, ItmBounded* b, int head)
{
    int surplus = 0;
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        const ItmBoundBlock* block = &b->blocks[k];
        for (int i = block->first; i < block->first + block->nrow; i++) {
            surplus += b->state[i] == ITM_ROW_ACTIVE;
        }
        for (int i = 0; i < block->path.npath; i++) {
            int body = block->path.path[i];
            surplus -= b->islands.body_head[body] == ITM_NONE ? m->bodies[body].nv : 0;
            b->islands.body_head[body] = 0;
        }
    }
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        for (int i = 0; i < b->blocks[k].path.npath; i++) {
            b->islands.body_head[b->blocks[k].path.path[i]] = ITM_NONE;
        }
    }
    return surplus > 0 ? surplus : 0;
}

void itm_bounded_factor_present(const ItmModel* m, ItmData* d)
{
    ItmBounded* b = d->bounded;
    itm_kinematics_compute_positions(m, d, d->q);
    itm_mass_factor(m, d);
    if (m->nrow > 0) {
        itm_rows_compute_jacobian(m, d);
        for (int i = 0; i < m->nrow; i++) {
            d->rows.omega[i] = itm_block_is_compliant(&m->blocks[m->row_block[i]]) ? ITM_OMEGA_IDLE : 0.0;
        }
        itm_rows_factor(m, d, 0.0);
    }
    for (int k = 0; b != NULL && k < b->nblock; k++) {
        const ItmRowBlock* path = &b->blocks[k].path;
        itm_mass_half_solve(m, d, b->Y + path->y_adr, path, b->cov + path->cov_adr);
    }
    d->position_state = ITM_POSITION_STALE;
}

void itm_bounded_refine(const ItmModel* m, ItmData* d)
{
    ItmBounded* b = d->bounded;
    if (b == NULL || b->refined.is_done) {
        return;
    }
    b->refined.is_done = true;
    b->refined.nredundant = 0;
    memset(b->refined.is_redundant, 0, (size_t)b->nrow);
    if (b->islands.count > 0) {
        itm_bounded_factor_present(m, d);
    }
    for (int k = 0; k < b->islands.count; k++) {
        int head = b->islands.head[b->islands.names[k]];
        int n = itm_bounded_number_rows(b, &b->work, head);
        if (n <= ITM_REFINE_MOST && n <= b->capacity.island) {
            refine_island(m, d, head, n);
        } else {
            b->refined.nredundant += count_surplus(m, b, head);
        }
    }
    d->info.solver_redundant = b->refined.nredundant;
}
