#include "math/graph.h"

#include "interim/base.h"
#include "math/lanes.h"

#include <math.h>
#include <string.h>

#define B ITM_GRAPH_BLOCK

void itm_graph_lay_out(ItmGraph* g, ItmArena* arena, int node, int block, int size)
{
    g->node_capacity = node;
    g->block_capacity = block;
    g->pool_capacity = 4 * block;
    int** ints[] = {&g->position, &g->row_adr, &g->list, &g->count, &g->room, &g->head, &g->next, &g->prev, &g->mark};
    for (size_t i = 0; i < sizeof ints / sizeof ints[0]; i++) {
        *ints[i] = ITM_TAKE(arena, int, node + 1);
    }
    g->column = ITM_TAKE(arena, int, block);
    g->pool = ITM_TAKE(arena, int, g->pool_capacity);
    size_t reals = (size_t)size * (size_t)size;
    g->permuted = ITM_TAKE(arena, double, size* node);
    g->inv_diag = ITM_TAKE(arena, double, size* node);
    g->diagonal = ITM_TAKE(arena, double, reals*(size_t)node);
    g->off = ITM_TAKE(arena, double, reals*(size_t)block);
    g->low = ITM_TAKE(arena, double, reals*(size_t)block);
}

// ---------------------------------------------------------------------------- lists of neighbours

#define FIRST_ROOM 8

bool itm_graph_begin(ItmGraph* g, int n)
{
    if (n > g->node_capacity) {
        return false;
    }
    g->n = n;
    g->nblock = g->npool = g->stamp = 0;
    for (int i = 0; i < n; i++) {
        g->count[i] = g->room[i] = g->mark[i] = 0;
    }
    return true;
}

// Make room for one more neighbour of i, at the end of the pool if need be.
static bool grow(ItmGraph* g, int i, int room)
{
    if (g->npool > g->pool_capacity - room) {
        return false;
    }
    memcpy(g->pool + g->npool, g->pool + g->list[i], sizeof(int) * (size_t)g->count[i]);
    g->list[i] = g->npool;
    g->room[i] = room;
    g->npool += room;
    return true;
}

static bool add_neighbour(ItmGraph* g, int i, int j)
{
    if (g->room[i] == 0) {
        g->list[i] = 0;
    }
    if (g->count[i] == g->room[i] && !grow(g, i, g->room[i] > 0 ? 2 * g->room[i] : FIRST_ROOM)) {
        return false;
    }
    g->pool[g->list[i] + g->count[i]++] = j;
    return true;
}

static bool is_neighbour(const ItmGraph* g, int i, int j)
{
    for (int k = 0; k < g->count[i]; k++) {
        if (g->pool[g->list[i] + k] == j) {
            return true;
        }
    }
    return false;
}

bool itm_graph_join(ItmGraph* g, int a, int b)
{
    return is_neighbour(g, a, b) || (add_neighbour(g, a, b) && add_neighbour(g, b, a));
}

// ---------------------------------------------------------------------------- nodes by degree

static void put_in(ItmGraph* g, int i)
{
    int d = g->count[i];
    g->prev[i] = ITM_NONE;
    g->next[i] = g->head[d];
    if (g->head[d] != ITM_NONE) {
        g->prev[g->head[d]] = i;
    }
    g->head[d] = i;
}

static void take_out(ItmGraph* g, int i)
{
    if (g->prev[i] != ITM_NONE) {
        g->next[g->prev[i]] = g->next[i];
    } else {
        g->head[g->count[i]] = g->next[i];
    }
    if (g->next[i] != ITM_NONE) {
        g->prev[g->next[i]] = g->prev[i];
    }
}

// ---------------------------------------------------------------------------- order and fill

// Neighbours of i after the elimination of p: those of both without i and p.
static bool merge_neighbours(ItmGraph* g, int i, int p)
{
    g->stamp++;
    g->mark[i] = g->stamp;
    for (int k = 0; k < g->count[i]; k++) {
        int j = g->pool[g->list[i] + k];
        g->mark[j] = g->stamp;
        if (j == p) {
            g->pool[g->list[i] + k--] = g->pool[g->list[i] + --g->count[i]];
        }
    }
    for (int k = 0; k < g->count[p]; k++) {
        int j = g->pool[g->list[p] + k];
        if (g->mark[j] != g->stamp && !add_neighbour(g, i, j)) {
            return false;
        }
    }
    return true;
}

// The neighbours of p, which become the row of the factor, are made neighbours of each other.
static bool eliminate(ItmGraph* g, int p, int at)
{
    int n = g->count[p];
    if (g->nblock > g->block_capacity - n) {
        return false;
    }
    g->position[p] = at;
    g->row_adr[at] = g->nblock;
    memcpy(g->column + g->nblock, g->pool + g->list[p], sizeof(int) * (size_t)n);
    g->nblock += n;
    for (int k = 0; k < n; k++) {
        int i = g->pool[g->list[p] + k];
        take_out(g, i);
        if (!merge_neighbours(g, i, p)) {
            return false;
        }
        put_in(g, i);
    }
    return true;
}

// Columns as positions, rising: rows are short.
static void sort_rows(ItmGraph* g)
{
    for (int p = 0; p < g->n; p++) {
        int* c = g->column + g->row_adr[p];
        int n = g->row_adr[p + 1] - g->row_adr[p];
        for (int k = 0; k < n; k++) {
            int at = g->position[c[k]], l = k;
            for (; l > 0 && c[l - 1] > at; l--) {
                c[l] = c[l - 1];
            }
            c[l] = at;
        }
    }
}

bool itm_graph_order(ItmGraph* g, double most)
{
    double work = 0.0;
    int least = 0;
    for (int i = 0; i <= g->n; i++) {
        g->head[i] = ITM_NONE;
    }
    for (int i = g->n - 1; i >= 0; i--) {
        put_in(g, i);
    }
    for (int at = 0; at < g->n; at++) {
        while (g->head[least] == ITM_NONE) {
            least++;
        }
        int p = g->head[least], d = g->count[p];
        take_out(g, p);
        work += (double)d * d;
        if (work > most || !eliminate(g, p, at)) {
            return false;
        }
        least = d > 0 ? d - 1 : 0;
    }
    g->row_adr[g->n] = g->nblock;
    sort_rows(g);
    return true;
}

int itm_graph_find(const ItmGraph* g, int a, int b, bool* is_transposed)
{
    int p = g->position[a], q = g->position[b];
    *is_transposed = p > q;
    int row = p < q ? p : q, column = p < q ? q : p, e = g->row_adr[row];
    while (g->column[e] != column) {
        e++;
    }
    return e;
}

// ---------------------------------------------------------------------------- numbers

// C -= (P_ik) Q, P_ik = P[row i + column k]; three rows of C at a time
static inline void subtract_strided(double* restrict C, const double* restrict P, const double* restrict Q, int row,
                                    int column)
{
    for (int i = 0; i < 6; i += 3, C += 18) {
        ItmPair sum[3][3];
        for (int l = 0; l < 3; l++) {
            for (int j = 0; j < 3; j++) {
                sum[l][j] = itm_pair_load(C + 6 * l + 2 * j);
            }
        }
        for (int k = 0; k < 6; k++) {
            for (int l = 0; l < 3; l++) {
                ItmPair p = itm_pair_splat(P[row * (i + l) + column * k]);
                for (int j = 0; j < 3; j++) {
                    sum[l][j] -= p * itm_pair_load(Q + 6 * k + 2 * j);
                }
            }
        }
        for (int l = 0; l < 3; l++) {
            for (int j = 0; j < 3; j++) {
                itm_pair_store(C + 6 * l + 2 * j, sum[l][j]);
            }
        }
    }
}

// C -= P'Q
static void subtract_product(double* C, const double* P, const double* Q)
{
    subtract_strided(C, P, Q, 1, 6);
}

// C -= P Q
static void subtract_plain(double* C, const double* P, const double* Q)
{
    subtract_strided(C, P, Q, 6, 1);
}

// A = U'U in the upper half
static inline bool factor_diagonal(double* A, double* inv_diag)
{
    for (int s = 0; s < 6; s++) {
        double pivot = A[7 * s];
        if (!(pivot > 0.0) || !isfinite(pivot)) {
            return false;
        }
        inv_diag[s] = 1.0 / sqrt(pivot);
        for (int j = s; j < 6; j++) {
            A[6 * s + j] *= inv_diag[s];
        }
        for (int i = s + 1; i < 6; i++) {
            for (int j = i; j < 6; j++) {
                A[6 * i + j] -= A[6 * s + i] * A[6 * s + j];
            }
        }
    }
    return true;
}

// X <- U^-T X
static inline void solve_block(double* restrict X, const double* restrict U, const double* restrict inv_diag)
{
    for (int s = 0; s < 6; s++) {
        for (int j = 0; j < 6; j += 2) {
            ItmPair sum = itm_pair_load(X + 6 * s + j);
            for (int k = 0; k < s; k++) {
                sum -= itm_pair_splat(U[6 * k + s]) * itm_pair_load(X + 6 * k + j);
            }
            itm_pair_store(X + 6 * s + j, sum * itm_pair_splat(inv_diag[s]));
        }
    }
}

// Take row p, which is done, off the rows of its columns.
static void pass_on(ItmGraph* g, int p)
{
    for (int e = g->row_adr[p]; e < g->row_adr[p + 1]; e++) {
        int q = g->column[e], at = g->row_adr[q];
        const double* U_pq = g->off + (size_t)B * (size_t)e;
        subtract_product(g->diagonal + (size_t)B * (size_t)q, U_pq, U_pq);
        for (int f = e + 1; f < g->row_adr[p + 1]; f++) {
            while (g->column[at] != g->column[f]) {
                at++;
            }
            subtract_product(g->off + (size_t)B * (size_t)at, U_pq, g->off + (size_t)B * (size_t)f);
        }
    }
}

bool itm_graph_factor(ItmGraph* g)
{
    for (int p = 0; p < g->n; p++) {
        double* U = g->diagonal + (size_t)B * (size_t)p;
        if (!factor_diagonal(U, g->inv_diag + 6 * p)) {
            return false;
        }
        for (int e = g->row_adr[p]; e < g->row_adr[p + 1]; e++) {
            solve_block(g->off + (size_t)B * (size_t)e, U, g->inv_diag + 6 * p);
        }
        pass_on(g, p);
    }
    return true;
}

// x <- U^-T x
static void solve_forward(const ItmGraph* g, double* x)
{
    for (int p = 0; p < g->n; p++) {
        const double* U = g->diagonal + (size_t)B * (size_t)p;
        double* x_p = x + 6 * p;
        for (int s = 0; s < 6; s++) {
            x_p[s] *= g->inv_diag[6 * p + s];
            for (int j = s + 1; j < 6; j++) {
                x_p[j] -= U[6 * s + j] * x_p[s];
            }
        }
        for (int e = g->row_adr[p]; e < g->row_adr[p + 1]; e++) {
            const double* U_pq = g->off + (size_t)B * (size_t)e;
            double* x_q = x + 6 * g->column[e];
            ItmPair a = itm_pair_load(x_q), b = itm_pair_load(x_q + 2), c = itm_pair_load(x_q + 4);
            for (int k = 0; k < 6; k++) {
                ItmPair t = itm_pair_splat(x_p[k]);
                a -= t * itm_pair_load(U_pq + 6 * k);
                b -= t * itm_pair_load(U_pq + 6 * k + 2);
                c -= t * itm_pair_load(U_pq + 6 * k + 4);
            }
            itm_pair_store(x_q, a);
            itm_pair_store(x_q + 2, b);
            itm_pair_store(x_q + 4, c);
        }
    }
}

// x <- U^-1 x
static void solve_backward(const ItmGraph* g, double* x)
{
    for (int p = g->n - 1; p >= 0; p--) {
        const double* U = g->diagonal + (size_t)B * (size_t)p;
        double* x_p = x + 6 * p;
        for (int e = g->row_adr[p]; e < g->row_adr[p + 1]; e++) {
            const double *U_pq = g->off + (size_t)B * (size_t)e, *x_q = x + 6 * g->column[e];
            for (int k = 0; k < 6; k++) {
                x_p[k] -= itm_pair_dot(U_pq + 6 * k, x_q, 6);
            }
        }
        for (int s = 5; s >= 0; s--) {
            double sum = x_p[s];
            for (int j = s + 1; j < 6; j++) {
                sum -= U[6 * s + j] * x_p[j];
            }
            x_p[s] = sum * g->inv_diag[6 * p + s];
        }
    }
}

void itm_graph_solve(ItmGraph* g, double* x)
{
    double* y = g->permuted;
    for (int i = 0; i < g->n; i++) {
        memcpy(y + 6 * g->position[i], x + 6 * i, 6 * sizeof(double));
    }
    solve_forward(g, y);
    solve_backward(g, y);
    for (int i = 0; i < g->n; i++) {
        memcpy(x + 6 * i, y + 6 * g->position[i], 6 * sizeof(double));
    }
}

// ---------------------------------------------------------------------------- not symmetric

// A <- A^-1 by elimination with the largest pivot of a column. false: singular.
static bool invert_block(double* A)
{
    double M[6][12];
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            M[i][j] = A[6 * i + j];
            M[i][6 + j] = i == j ? 1.0 : 0.0;
        }
    }
    for (int s = 0; s < 6; s++) {
        int best = s;
        for (int i = s + 1; i < 6; i++) {
            best = fabs(M[i][s]) > fabs(M[best][s]) ? i : best;
        }
        if (!(fabs(M[best][s]) > 0.0) || !isfinite(M[best][s])) {
            return false;
        }
        double row[12];
        memcpy(row, M[best], sizeof row);
        memcpy(M[best], M[s], sizeof row);
        for (int j = 0; j < 12; j++) {
            M[s][j] = row[j] / row[s];
        }
        for (int i = 0; i < 6; i++) {
            double f = i == s ? 0.0 : M[i][s];
            for (int j = 0; j < 12; j++) {
                M[i][j] -= f * M[s][j];
            }
        }
    }
    for (int i = 0; i < 6; i++) {
        memcpy(A + 6 * i, M[i] + 6, 6 * sizeof(double));
    }
    return true;
}

// Take row and column p off the rest: A_qr -= L_qp A_pr, on both sides of the diagonal.
static void pass_on_general(ItmGraph* g, int p)
{
    for (int e = g->row_adr[p]; e < g->row_adr[p + 1]; e++) {
        int q = g->column[e], at = g->row_adr[q];
        const double *A_pq = g->off + (size_t)B * (size_t)e, *L_qp = g->low + (size_t)B * (size_t)e;
        subtract_plain(g->diagonal + (size_t)B * (size_t)q, L_qp, A_pq);
        for (int f = e + 1; f < g->row_adr[p + 1]; f++) {
            while (g->column[at] != g->column[f]) {
                at++;
            }
            subtract_plain(g->off + (size_t)B * (size_t)at, L_qp, g->off + (size_t)B * (size_t)f);
            subtract_plain(g->low + (size_t)B * (size_t)at, g->low + (size_t)B * (size_t)f, A_pq);
        }
    }
}

bool itm_graph_factor_general(ItmGraph* g)
{
    for (int p = 0; p < g->n; p++) {
        double* D = g->diagonal + (size_t)B * (size_t)p;
        if (!invert_block(D)) {
            return false;
        }
        for (int e = g->row_adr[p]; e < g->row_adr[p + 1]; e++) {
            double *A_qp = g->low + (size_t)B * (size_t)e, L[B] = {0};
            subtract_plain(L, A_qp, D);
            for (int i = 0; i < B; i++) {
                A_qp[i] = -L[i];
            }
        }
        pass_on_general(g, p);
    }
    return true;
}

void itm_graph_solve_general(ItmGraph* g, double* x)
{
    double* y = g->permuted;
    for (int i = 0; i < g->n; i++) {
        memcpy(y + 6 * g->position[i], x + 6 * i, 6 * sizeof(double));
    }
    for (int p = 0; p < g->n; p++) {
        for (int e = g->row_adr[p]; e < g->row_adr[p + 1]; e++) {
            for (int k = 0; k < 6; k++) {
                y[6 * g->column[e] + k] -= itm_pair_dot(g->low + (size_t)B * (size_t)e + 6 * k, y + 6 * p, 6);
            }
        }
    }
    for (int p = g->n - 1; p >= 0; p--) {
        double sum[6];
        memcpy(sum, y + 6 * p, sizeof sum);
        for (int e = g->row_adr[p]; e < g->row_adr[p + 1]; e++) {
            for (int k = 0; k < 6; k++) {
                sum[k] -= itm_pair_dot(g->off + (size_t)B * (size_t)e + 6 * k, y + 6 * g->column[e], 6);
            }
        }
        for (int k = 0; k < 6; k++) {
            y[6 * p + k] = itm_pair_dot(g->diagonal + (size_t)B * (size_t)p + 6 * k, sum, 6);
        }
    }
    for (int i = 0; i < g->n; i++) {
        memcpy(x + 6 * i, y + 6 * g->position[i], 6 * sizeof(double));
    }
}
