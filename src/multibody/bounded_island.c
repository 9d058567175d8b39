#include "multibody/bounded_island.h"

#include "math/dense.h"

#include <string.h>

int itm_bounded_number_rows(ItmBounded* b, ItmBoundWork* work, int head)
{
    int n = 0;
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        for (int i = b->blocks[k].first; i < b->blocks[k].first + b->blocks[k].nrow; i++) {
            if (n < b->capacity.island) {
                work->global[n] = i;
            }
            b->islands.local[i] = n++;
        }
    }
    return n;
}

// H(block k, block other) += Y_k Y_other' over nv velocities that both have in a row. Three rows of Y_other at once: one sum alone
// would wait for its own additions.
static void add_products(ItmBounded* b, ItmBoundWork* work, int k, int y_k, int other, int y_other, int nv, int n)
{
    const ItmBoundBlock *f = &b->blocks[k], *s = &b->blocks[other];
    int ny = s->path.ny;
    for (int i = 0; i < f->nrow; i++) {
        const double* y_f = b->Y + f->path.y_adr + i * f->path.ny + y_k;
        double* H = work->problem.H + (size_t)b->islands.local[f->first + i] * (size_t)n + b->islands.local[s->first];
        const double* y_s = b->Y + s->path.y_adr + y_other;
        int j = 0;
        for (; j + 3 <= s->nrow; j += 3, y_s += 3 * ny) {
            double sum0 = 0.0, sum1 = 0.0, sum2 = 0.0;
            for (int l = 0; l < nv; l++) {
                sum0 += y_f[l] * y_s[l];
                sum1 += y_f[l] * y_s[ny + l];
                sum2 += y_f[l] * y_s[2 * ny + l];
            }
            H[j] += sum0;
            H[j + 1] += sum1;
            H[j + 2] += sum2;
        }
        for (; j < s->nrow; j++, y_s += ny) {
            double sum = 0.0;
            for (int l = 0; l < nv; l++) {
                sum += y_f[l] * y_s[l];
            }
            H[j] += sum;
        }
    }
}

// Velocities of the bodies that two paths share from places i and j on; 0 where the body before is shared too, and has counted
// these already.
static int count_shared(const ItmModel* m, const ItmRowBlock* a, int i, const ItmRowBlock* b, int j)
{
    if (i > 0 && j > 0 && a->path[i - 1] == b->path[j - 1]) {
        return 0;
    }
    int nv = 0;
    for (; i < a->npath && j < b->npath && a->path[i] == b->path[j]; i++, j++) {
        nv += m->bodies[a->path[i]].nv;
    }
    return nv;
}

// Lower half of H_cc: every block is coupled to the earlier ones (and itself) where their paths run together.
static void assemble_products(const ItmModel* m, ItmBounded* b, ItmBoundWork* work, int head, int n)
{
    int nentry = 0;
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        const ItmRowBlock* path = &b->blocks[k].path;
        int y = 0;
        for (int i = 0; i < path->npath; i++) {
            int body = path->path[i];
            work->entry_block[nentry] = k;
            work->entry_at[nentry] = i;
            work->entry_y[nentry] = y;
            work->entry_next[nentry] = b->islands.body_head[body];
            b->islands.body_head[body] = nentry;
            for (int e = nentry++; e != ITM_NONE; e = work->entry_next[e]) {
                int other = work->entry_block[e],
                    nv = count_shared(m, path, i, &b->blocks[other].path, work->entry_at[e]);
                if (nv > 0) {
                    add_products(b, work, k, y, other, work->entry_y[e], nv, n);
                }
            }
            y += m->bodies[body].nv;
        }
    }
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        for (int i = 0; i < b->blocks[k].path.npath; i++) {
            b->islands.body_head[b->blocks[k].path.path[i]] = ITM_NONE;
        }
    }
}

// Z = L^-1 H_bc for the rows of one block; false if no bilateral row feels it.
static bool eliminate_block(const ItmModel* m, const ItmData* d, ItmBoundWork* work, const ItmBoundBlock* block)
{
    const ItmBounded* b = d->bounded;
    bool is_felt = false;
    for (int i = 0; i < block->nrow; i++) {
        double* z = work->Z + (size_t)b->islands.local[block->first + i] * (size_t)m->nrow;
        memset(z, 0, sizeof(double) * (size_t)m->nrow);
        const double* y_c = b->Y + block->path.y_adr + i * block->path.ny;
        for (int p = 0; p < block->path.npath; p++) {
            int body = block->path.path[p], nv = m->bodies[body].nv;
            for (int e = m->body_block_adr[body]; e < m->body_block_adr[body + 1]; e++) {
                const ItmRowBlock* rows = &m->blocks[m->body_block[e]];
                is_felt = true;
                for (int j = 0; j < rows->nrow; j++) {
                    const double* y_b = d->rows.Y + rows->y_adr + j * rows->ny + m->body_block_y[e];
                    for (int l = 0; l < nv; l++) {
                        z[rows->row + j] += y_b[l] * y_c[l];
                    }
                }
            }
            y_c += nv;
        }
        if (is_felt) {
            itm_blocks_half_solve(&m->pattern, &d->rows.factor, z);
        }
    }
    return is_felt;
}

// H -= Z Z', lower half
static void eliminate_bilateral(const ItmModel* m, const ItmData* d, ItmBoundWork* work, int head, int n)
{
    const ItmBounded* b = d->bounded;
    bool is_felt = false;
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        is_felt = eliminate_block(m, d, work, &b->blocks[k]) || is_felt;
    }
    const ItmDense* dense = itm_dense_choose();
    double* products = work->problem.b;
    for (int i = 0; is_felt && i < n; i++) {
        dense->multiply_rows(products, work->Z, m->nrow, work->Z + (size_t)i * (size_t)m->nrow, NULL, i + 1, m->nrow);
        dense->axpy(work->problem.H + (size_t)i * (size_t)n, -1.0, products, i + 1);
    }
}

// Friction couplings of a chain in its own row numbers.
static void number_couplings(const ItmBounded* b, ItmBoundWork* work, int head)
{
    ItmRowProblem* p = &work->problem;
    p->ncoupling = 0;
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        for (int c = 0; c < b->blocks[k].ncoupling; c++) {
            ItmMlcpContact coupling = b->couplings[b->blocks[k].first_coupling + c];
            if (b->rows[coupling.normal].up == 0.0) {
                continue;  // a row that takes no part
            }
            coupling.normal = b->islands.local[coupling.normal];
            for (int t = 0; t < 2; t++) {
                coupling.tangent[t] =
                    coupling.tangent[t] == ITM_NONE ? ITM_NONE : b->islands.local[coupling.tangent[t]];
            }
            p->couplings[p->ncoupling++] = coupling;
        }
    }
}

void itm_bounded_load(const ItmBounded* b, ItmBoundWork* work)
{
    ItmRowProblem* p = &work->problem;
    for (int i = 0, n = p->n; i < n; i++) {
        int row = work->global[i];
        p->H[(size_t)i * (size_t)n + (size_t)i] += b->rows[row].omega;
        p->v_free[i] = b->v_after[row];
        p->lo[i] = b->rows[row].lo;
        p->up[i] = b->rows[row].up;
        p->x[i] = b->x[row];
        p->state[i] = b->state[row];
    }
}

void itm_bounded_assemble(const ItmModel* m, ItmData* d, ItmBoundWork* work, int head, int n)
{
    ItmBounded* b = d->bounded;
    ItmRowProblem* p = &work->problem;
    p->n = n;
    memset(p->H, 0, sizeof(double) * (size_t)n * (size_t)n);
    assemble_products(m, b, work, head, n);
    if (m->nrow > 0) {
        eliminate_bilateral(m, d, work, head, n);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            p->H[(size_t)j * (size_t)n + (size_t)i] = p->H[(size_t)i * (size_t)n + (size_t)j];
        }
    }
    itm_bounded_load(b, work);
    number_couplings(b, work, head);
}
