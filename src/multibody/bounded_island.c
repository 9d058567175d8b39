#include "multibody/bounded_island.h"

#include <string.h>

int itm_bounded_number_rows(ItmBounded* b, int head)
{
    int n = 0;
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        for (int i = b->blocks[k].first; i < b->blocks[k].first + b->blocks[k].nrow; i++) {
            if (n < b->island_capacity) {
                b->global[n] = i;
            }
            b->local[i] = n++;
        }
    }
    return n;
}

// H(block k, block other) += Y_k Y_other' over the velocities of one body
static void add_products(ItmBounded* b, int k, int y_k, int other, int y_other, int nv, int n)
{
    const ItmBoundBlock *f = &b->blocks[k], *s = &b->blocks[other];
    for (int i = 0; i < f->nrow; i++) {
        const double* y_f = b->Y + f->path.y_adr + i * f->path.ny + y_k;
        double* H = b->H + (size_t)b->local[f->first + i] * (size_t)n + b->local[s->first];
        for (int j = 0; j < s->nrow; j++) {
            const double* y_s = b->Y + s->path.y_adr + j * s->path.ny + y_other;
            double sum = 0.0;
            for (int l = 0; l < nv; l++) {
                sum += y_f[l] * y_s[l];
            }
            H[j] += sum;
        }
    }
}

// Lower half of H_cc: every block meets the earlier ones (and itself) body by body.
static void assemble_products(const ItmModel* m, ItmBounded* b, int head, int n)
{
    int nentry = 0;
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        const ItmRowBlock* path = &b->blocks[k].path;
        int y = 0;
        for (int i = 0; i < path->npath; i++) {
            int body = path->path[i], nv = m->bodies[body].nv;
            b->entry_block[nentry] = k;
            b->entry_y[nentry] = y;
            b->entry_next[nentry] = b->body_head[body];
            b->body_head[body] = nentry;
            for (int e = nentry++; e != ITM_NONE; e = b->entry_next[e]) {
                add_products(b, k, y, b->entry_block[e], b->entry_y[e], nv, n);
            }
            y += nv;
        }
    }
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        for (int i = 0; i < b->blocks[k].path.npath; i++) {
            b->body_head[b->blocks[k].path.path[i]] = ITM_NONE;
        }
    }
}

// Z = L^-1 H_bc for the rows of one block; false if no bilateral row feels it.
static bool eliminate_block(const ItmModel* m, const ItmData* d, const ItmBoundBlock* block)
{
    const ItmBounded* b = d->bounded;
    bool is_felt = false;
    for (int i = 0; i < block->nrow; i++) {
        double* z = b->Z + (size_t)b->local[block->first + i] * (size_t)m->nrow;
        memset(z, 0, sizeof(double) * (size_t)m->nrow);
        const double* y_c = b->Y + block->path.y_adr + i * block->path.ny;
        for (int p = 0; p < block->path.npath; p++) {
            int body = block->path.path[p], nv = m->bodies[body].nv;
            for (int e = m->body_block_adr[body]; e < m->body_block_adr[body + 1]; e++) {
                const ItmRowBlock* rows = &m->blocks[m->body_block[e]];
                is_felt = true;
                for (int j = 0; j < rows->nrow; j++) {
                    const double* y_b = d->row_Y + rows->y_adr + j * rows->ny + m->body_block_y[e];
                    for (int l = 0; l < nv; l++) {
                        z[rows->row + j] += y_b[l] * y_c[l];
                    }
                }
            }
            y_c += nv;
        }
        if (is_felt) {
            itm_blocks_half_solve(&m->pattern, &d->factor, z);
        }
    }
    return is_felt;
}

// H -= Z Z', lower half
static void eliminate_bilateral(const ItmModel* m, ItmData* d, int head, int n)
{
    ItmBounded* b = d->bounded;
    bool is_felt = false;
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        is_felt = eliminate_block(m, d, &b->blocks[k]) || is_felt;
    }
    for (int i = 0; is_felt && i < n; i++) {
        const double* z_i = b->Z + (size_t)i * (size_t)m->nrow;
        for (int j = 0; j <= i; j++) {
            const double* z_j = b->Z + (size_t)j * (size_t)m->nrow;
            double sum = 0.0;
            for (int l = 0; l < m->nrow; l++) {
                sum += z_i[l] * z_j[l];
            }
            b->H[(size_t)i * (size_t)n + (size_t)j] -= sum;
        }
    }
}

void itm_bounded_assemble(const ItmModel* m, ItmData* d, int head, int n)
{
    ItmBounded* b = d->bounded;
    memset(b->H, 0, sizeof(double) * (size_t)n * (size_t)n);
    assemble_products(m, b, head, n);
    if (m->nrow > 0) {
        eliminate_bilateral(m, d, head, n);
    }
    for (int i = 0; i < n; i++) {
        const ItmBoundRow* row = &b->rows[b->global[i]];
        b->H[(size_t)i * (size_t)n + (size_t)i] += row->omega;
        for (int j = 0; j < i; j++) {
            b->H[(size_t)j * (size_t)n + (size_t)i] = b->H[(size_t)i * (size_t)n + (size_t)j];
        }
        b->island_b[i] = b->v_after[b->global[i]] + row->offset;
        b->island_lo[i] = row->lo;
        b->island_up[i] = row->up;
        b->island_x[i] = b->x[b->global[i]];
        b->island_state[i] = b->state[b->global[i]];
    }
}

int itm_bounded_number_couplings(ItmBounded* b, int head)
{
    int count = 0;
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        for (int c = 0; c < b->blocks[k].ncoupling; c++) {
            ItmMlcpContact coupling = b->couplings[b->blocks[k].first_coupling + c];
            if (b->rows[coupling.normal].up == 0.0) {
                continue; // a row that takes no part
            }
            coupling.normal = b->local[coupling.normal];
            for (int t = 0; t < 2; t++) {
                coupling.tangent[t] = coupling.tangent[t] == ITM_NONE ? ITM_NONE : b->local[coupling.tangent[t]];
            }
            b->island_couplings[count++] = coupling;
        }
    }
    return count;
}
