#include "math/blocks.h"

#include "base/assert.h"
#include "math/lanes.h"
#include "math/ordering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- pattern

static int compare_ints(const void* a, const void* b)
{
    int x = *(const int*)a, y = *(const int*)b;
    return (x > y) - (x < y);
}

// Compressed adjacency of the block graph, both directions, sorted, without repeats. adr (n + 1).
static int* build_adjacency(int* adr, int n, const int* pairs, int npair)
{
    int* list = malloc(sizeof(int) * (size_t)(2 * npair + 1));
    if (list == NULL) {
        return NULL;
    }
    memset(adr, 0, sizeof(int) * (size_t)(n + 1));
    for (int i = 0; i < 2 * npair; i++) {
        adr[pairs[i] + 1]++;
    }
    for (int i = 0; i < n; i++) {
        adr[i + 1] += adr[i];
    }
    int* fill = malloc(sizeof(int) * (size_t)(n + 1));
    if (fill == NULL) {
        free(list);
        return NULL;
    }
    memcpy(fill, adr, sizeof(int) * (size_t)(n + 1));
    for (int i = 0; i < npair; i++) {
        list[fill[pairs[2 * i]]++] = pairs[2 * i + 1];
        list[fill[pairs[2 * i + 1]]++] = pairs[2 * i];
    }
    free(fill);

    // sort each list and squeeze repeats out
    int out = 0, begin = 0;
    for (int i = 0; i < n; i++) {
        int end = adr[i + 1];
        qsort(list + begin, (size_t)(end - begin), sizeof(int), compare_ints);
        int first = out;
        for (int k = begin; k < end; k++) {
            if (out == first || list[out - 1] != list[k]) {
                list[out++] = list[k];
            }
        }
        begin = end;
        adr[i] = first;
    }
    adr[n] = out;
    return list;
}

// A growing list of ints, for the symbolic phase only.
typedef struct {
    int* items;
    int count, capacity;
} IntList;

static bool push(IntList* list, int value)
{
    if (list->count == list->capacity) {
        int capacity = list->capacity > 0 ? 2 * list->capacity : 256;
        int* items = realloc(list->items, sizeof(int) * (size_t)capacity);
        if (items == NULL) {
            return false;
        }
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = value;
    return true;
}

// Structure of column j: neighbours eliminated later, and what its children in the elimination tree pass on.
static bool gather_column(IntList* rows, const ItmBlocks* b, int j, const int* order, const int* adr, const int* list,
                          const int* child, const int* sibling, int* seen)
{
    int first = rows->count;
    seen[j] = j;
    if (!push(rows, j)) {
        return false;
    }
    int original = order[j];
    for (int k = adr[original]; k < adr[original + 1]; k++) {
        int i = b->position[list[k]];
        if (i > j && seen[i] != j) {
            seen[i] = j;
            if (!push(rows, i)) {
                return false;
            }
        }
    }
    for (int c = child[j]; c >= 0; c = sibling[c]) {
        for (int e = b->col_adr[c] + 1; e < b->col_adr[c + 1]; e++) {
            int i = rows->items[e];
            if (i > j && seen[i] != j) {
                seen[i] = j;
                if (!push(rows, i)) {
                    return false;
                }
            }
        }
    }
    qsort(rows->items + first, (size_t)(rows->count - first), sizeof(int), compare_ints);
    return true;
}

// Fill of the whole factor, column by column in elimination order.
static bool build_columns(ItmBlocks* b, const int* order, const int* adr, const int* list)
{
    int n = b->n;
    IntList rows = {0};
    int* work = malloc(sizeof(int) * (size_t)(3 * n + 1));
    if (work == NULL) {
        return false;
    }
    int *child = work, *sibling = work + n, *seen = work + 2 * n;
    for (int i = 0; i < 3 * n; i++) {
        work[i] = ITM_NONE;
    }
    for (int j = 0; j < n; j++) {
        b->col_adr[j] = rows.count;
        if (!gather_column(&rows, b, j, order, adr, list, child, sibling, seen)) {
            free(rows.items);
            free(work);
            return false;
        }
        b->col_adr[j + 1] = rows.count;
        if (rows.count > b->col_adr[j] + 1) {
            int parent = rows.items[b->col_adr[j] + 1];
            sibling[j] = child[parent];
            child[parent] = j;
        }
    }
    free(work);
    b->rows = rows.items;
    return true;
}

// Addresses of the blocks, and for every row the entries left of its diagonal.
static bool build_addresses(ItmBlocks* b)
{
    int nentry = b->col_adr[b->n];
    b->value_adr = malloc(sizeof(int) * (size_t)(nentry + 1));
    b->left_adr = calloc((size_t)b->n + 2, sizeof(int));
    b->left = malloc(sizeof(int) * (size_t)(nentry + 1));
    b->left_col = malloc(sizeof(int) * (size_t)(nentry + 1));
    if (b->value_adr == NULL || b->left_adr == NULL || b->left == NULL || b->left_col == NULL) {
        return false;
    }
    long address = 0;
    for (int j = 0; j < b->n; j++) {
        for (int e = b->col_adr[j]; e < b->col_adr[j + 1]; e++) {
            b->value_adr[e] = (int)address;
            address += (long)b->size[b->rows[e]] * b->size[j];
            if (b->rows[e] != j) {
                b->left_adr[b->rows[e] + 2]++;
            }
        }
    }
    if (address > 1L << 28) {
        return false;
    }
    b->nvalue = (int)address;
    for (int i = 1; i <= b->n + 1; i++) {
        b->left_adr[i] += b->left_adr[i - 1];
    }
    for (int j = 0; j < b->n; j++) {
        for (int e = b->col_adr[j] + 1; e < b->col_adr[j + 1]; e++) {
            int slot = b->left_adr[b->rows[e] + 1]++;
            b->left[slot] = e;
            b->left_col[slot] = j;
        }
    }
    return true;
}

ItmStatus itm_blocks_build(ItmBlocks* b, int n, const int* size, const int* start, const int* pairs, int npair)
{
    *b = (ItmBlocks){.n = n};
    size_t count = (size_t)n + 1;
    b->size = calloc(count, sizeof(int));
    b->start = calloc(count, sizeof(int));
    b->position = calloc(count, sizeof(int));
    b->col_adr = calloc(count, sizeof(int));
    int* order = calloc(count, sizeof(int));
    int* adr = calloc(count, sizeof(int));
    int* list = adr != NULL ? build_adjacency(adr, n, pairs, npair) : NULL;
    bool ok = b->size != NULL && b->start != NULL && b->position != NULL && b->col_adr != NULL && order != NULL &&
              list != NULL;
    ok = ok && itm_ordering_compute(order, n, adr, list);
    if (ok) {
        for (int p = 0; p < n; p++) {
            b->position[order[p]] = p;
        }
        for (int i = 0; i < n; i++) {
            ITM_ASSERT(size[i] >= 1 && size[i] <= ITM_BLOCK_MAX);
            b->size[b->position[i]] = size[i];
            int first = start != NULL ? start[i] : b->nrow;
            b->start[b->position[i]] = first;
            b->nrow = first + size[i] > b->nrow ? first + size[i] : b->nrow;
        }
        ok = build_columns(b, order, adr, list) && build_addresses(b);
    }
    free(order);
    free(adr);
    free(list);
    if (!ok) {
        itm_blocks_free(b);
        return ITM_ERR_MEMORY;
    }
    return ITM_OK;
}

void itm_blocks_free(ItmBlocks* b)
{
    int* arrays[] = {b->size,      b->start,    b->position, b->col_adr, b->rows,
                     b->value_adr, b->left_adr, b->left,     b->left_col};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        free(arrays[i]);
    }
    *b = (ItmBlocks){0};
}

int itm_blocks_find(const ItmBlocks* b, int block_a, int block_b, bool* is_transposed)
{
    int i = b->position[block_a], j = b->position[block_b];
    *is_transposed = i < j;
    if (i < j) {
        int swap = i;
        i = j;
        j = swap;
    }
    int lo = b->col_adr[j], hi = b->col_adr[j + 1];
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (b->rows[mid] < i) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    ITM_ASSERT(lo < b->col_adr[j + 1] && b->rows[lo] == i);
    return b->value_adr[lo];
}

// ---------------------------------------------------------------------------- numbers

// C -= A B'   C (p x q), A (p x r), B (q x r), row-major
static inline void subtract_product(double* C, const double* A, const double* B, int p, int q, int r)
{
    for (int i = 0; i < p; i++) {
        for (int j = 0; j < q; j++) {
            double sum = 0.0;
            for (int k = 0; k < r; k++) {
                sum += A[i * r + k] * B[j * r + k];
            }
            C[i * q + j] -= sum;
        }
    }
}

// Blocks of hinges, five rows: transposed, so that two columns are done at a time.
#define FIVE 5

// X (5 x 5) transposed, rows padded to pairs
static inline void transpose_five(double X_t[FIVE][FIVE + 1], const double* X)
{
    for (int i = 0; i < FIVE; i++) {
        for (int j = 0; j < FIVE; j++) {
            X_t[j][i] = X[i * FIVE + j];
        }
    }
}

static inline void subtract_product_five(double* restrict C, const double* restrict A, const double* restrict B)
{
    double B_t[FIVE][FIVE + 1];
    transpose_five(B_t, B);
    for (int i = 0; i < FIVE; i++, C += FIVE, A += FIVE) {
        ItmPair s = {0, 0}, t = {0, 0};
        double u = 0.0;
        for (int k = 0; k < FIVE; k++) {
            s += itm_pair_splat(A[k]) * itm_pair_load(B_t[k]);
            t += itm_pair_splat(A[k]) * itm_pair_load(B_t[k] + 2);
            u += A[k] * B_t[k][4];
        }
        itm_pair_store(C, itm_pair_load(C) - s);
        itm_pair_store(C + 2, itm_pair_load(C + 2) - t);
        C[4] -= u;
    }
}

// B <- B L^-T: the rows of B are independent of each other, two at a time
static inline void solve_below_five(double* restrict B, const double* restrict L, const double* restrict inv_diag)
{
    double B_t[FIVE][FIVE + 1];
    transpose_five(B_t, B);
    for (int s = 0; s < FIVE; s++) {
        ItmPair x = itm_pair_load(B_t[s]), y = itm_pair_load(B_t[s] + 2);
        double z = B_t[s][4];
        for (int k = 0; k < s; k++) {
            double l = L[s * FIVE + k];
            x -= itm_pair_splat(l) * itm_pair_load(B_t[k]);
            y -= itm_pair_splat(l) * itm_pair_load(B_t[k] + 2);
            z -= l * B_t[k][4];
        }
        itm_pair_store(B_t[s], x * itm_pair_splat(inv_diag[s]));
        itm_pair_store(B_t[s] + 2, y * itm_pair_splat(inv_diag[s]));
        B_t[s][4] = z * inv_diag[s];
    }
    for (int i = 0; i < FIVE; i++) {
        for (int s = 0; s < FIVE; s++) {
            B[i * FIVE + s] = B_t[s][i];
        }
    }
}

// The same, with the sizes of the common joints known to the compiler.
static void subtract_product_sized(double* C, const double* A, const double* B, int p, int q, int r)
{
    if (p == 5 && q == 5 && r == 5) {
        subtract_product_five(C, A, B);
    } else if (p == 1 && q == 1 && r == 1) {
        C[0] -= A[0] * B[0];
    } else if (p == 2 && q == 2 && r == 2) {
        subtract_product(C, A, B, 2, 2, 2);
    } else if (p == 3 && q == 3 && r == 3) {
        subtract_product(C, A, B, 3, 3, 3);
    } else {
        subtract_product(C, A, B, p, q, r);
    }
}

// Factor the diagonal block C = L L' in place (lower half), marking redundant rows.
static inline int factor_diagonal(double* C, double* inv_diag, const double* scale, int n, double tolerance)
{
    int nredundant = 0;
    for (int s = 0; s < n; s++) {
        double pivot = C[s * n + s];
        for (int k = 0; k < s; k++) {
            pivot -= C[s * n + k] * C[s * n + k];
        }
        bool is_redundant = !(pivot > tolerance * scale[s]);
        inv_diag[s] = is_redundant ? 0.0 : 1.0 / sqrt(pivot);
        C[s * n + s] = is_redundant ? 0.0 : sqrt(pivot);
        nredundant += is_redundant;
        for (int i = s + 1; i < n; i++) {
            double sum = C[i * n + s];
            for (int k = 0; k < s; k++) {
                sum -= C[i * n + k] * C[s * n + k];
            }
            C[i * n + s] = sum * inv_diag[s];
        }
    }
    return nredundant;
}

// B <- B L^-T for a block below the diagonal, B (m x n)
static inline void solve_below(double* B, const double* L, const double* inv_diag, int m, int n)
{
    for (int i = 0; i < m; i++) {
        double* row = B + i * n;
        for (int s = 0; s < n; s++) {
            double sum = row[s];
            for (int k = 0; k < s; k++) {
                sum -= row[k] * L[s * n + k];
            }
            row[s] = sum * inv_diag[s];
        }
    }
}

// Left-looking column j: subtract what earlier columns contribute, then factor and scale.
static int factor_column(const ItmBlocks* b, ItmBlockFactor* f, int j, double tolerance)
{
    int n = b->size[j], start = b->start[j];
    for (int e = b->col_adr[j]; e < b->col_adr[j + 1]; e++) {
        f->map[b->rows[e]] = b->value_adr[e];
    }
    double* diagonal = f->L + b->value_adr[b->col_adr[j]];
    // A_ij -= L_ik L_jk'
    for (int l = b->left_adr[j]; l < b->left_adr[j + 1]; l++) {
        int k = b->left_col[l];
        const double* L_jk = f->L + b->value_adr[b->left[l]];
        for (int e = b->left[l]; e < b->col_adr[k + 1]; e++) {
            subtract_product_sized(f->L + f->map[b->rows[e]], f->L + b->value_adr[e], L_jk, b->size[b->rows[e]], n,
                                   b->size[k]);
        }
    }
    int nredundant = n == 5   ? factor_diagonal(diagonal, f->inv_diag + start, f->scale + start, 5, tolerance)
                     : n == 2 ? factor_diagonal(diagonal, f->inv_diag + start, f->scale + start, 2, tolerance)
                              : factor_diagonal(diagonal, f->inv_diag + start, f->scale + start, n, tolerance);
    for (int e = b->col_adr[j] + 1; e < b->col_adr[j + 1]; e++) {
        int m = b->size[b->rows[e]];
        if (m == 5 && n == 5) {
            solve_below_five(f->L + b->value_adr[e], diagonal, f->inv_diag + start);
        } else if (m == 2 && n == 2) {
            solve_below(f->L + b->value_adr[e], diagonal, f->inv_diag + start, 2, 2);
        } else {
            solve_below(f->L + b->value_adr[e], diagonal, f->inv_diag + start, m, n);
        }
    }
    return nredundant;
}

int itm_blocks_factor(const ItmBlocks* b, ItmBlockFactor* f, double tolerance)
{
    f->nredundant = 0;
    for (int j = 0; j < b->n; j++) {
        f->nredundant += factor_column(b, f, j, tolerance);
    }
    return f->nredundant;
}

// x_i -= B x_j   B (m x n)
static inline void subtract_image(double* restrict x_i, const double* restrict B, const double* restrict x_j, int m,
                                  int n)
{
    for (int i = 0; i < m; i++) {
        x_i[i] -= itm_pair_dot(B + i * n, x_j, n);
    }
}

// x_j -= B' x_i   B (m x n)
static inline void subtract_image_t(double* restrict x_j, const double* restrict B, const double* restrict x_i, int m,
                                    int n)
{
    double sum[ITM_BLOCK_MAX] = {0};
    for (int i = 0; i < m; i++) {
        for (int s = 0; s < n; s++) {
            sum[s] += B[i * n + s] * x_i[i];
        }
    }
    for (int s = 0; s < n; s++) {
        x_j[s] -= sum[s];
    }
}

// The same for a block of hinges
static inline void subtract_image_t_five(double* restrict x_j, const double* restrict B, const double* restrict x_i)
{
    ItmPair s = itm_pair_load(x_j), t = itm_pair_load(x_j + 2);
    double u = x_j[4];
    for (int i = 0; i < FIVE; i++, B += FIVE) {
        s -= itm_pair_splat(x_i[i]) * itm_pair_load(B);
        t -= itm_pair_splat(x_i[i]) * itm_pair_load(B + 2);
        u -= x_i[i] * B[4];
    }
    itm_pair_store(x_j, s);
    itm_pair_store(x_j + 2, t);
    x_j[4] = u;
}

// x_j <- L_jj^-1 x_j; what is left of the right side of a redundant row goes into residual, if given
static inline void solve_lower(double* restrict x_j, const double* restrict L, const double* restrict inv_diag,
                               double* residual, int n)
{
    for (int s = 0; s < n; s++) {
        double sum = x_j[s];
        for (int k = 0; k < s; k++) {
            sum -= L[s * n + k] * x_j[k];
        }
        x_j[s] = sum * inv_diag[s];
        if (residual != NULL) {
            residual[s] = inv_diag[s] == 0.0 ? sum : 0.0;
        }
    }
}

// x_j <- L_jj^-T x_j; redundant rows take their value from seed, or 0
static inline void solve_upper(double* restrict x_j, const double* restrict L, const double* restrict inv_diag,
                               const double* seed, int n)
{
    for (int s = n - 1; s >= 0; s--) {
        double sum = x_j[s];
        for (int k = s + 1; k < n; k++) {
            sum -= L[k * n + s] * x_j[k];
        }
        bool is_seeded = inv_diag[s] == 0.0 && seed != NULL;
        x_j[s] = is_seeded ? seed[s] : sum * inv_diag[s];
    }
}

// x <- L^-1 x. Where a row is redundant its unknown becomes 0 and, if residual is given, what is left of
// its right side goes there.
static void solve_forward(const ItmBlocks* b, const ItmBlockFactor* f, double* x, double* residual)
{
    for (int j = 0; j < b->n; j++) {
        int n = b->size[j], start = b->start[j];
        const double* L = f->L + b->value_adr[b->col_adr[j]];
        double *x_j = x + start, *left = residual != NULL ? residual + start : NULL;
        if (n == 5) {
            solve_lower(x_j, L, f->inv_diag + start, left, 5);
        } else if (n == 2) {
            solve_lower(x_j, L, f->inv_diag + start, left, 2);
        } else {
            solve_lower(x_j, L, f->inv_diag + start, left, n);
        }
        for (int e = b->col_adr[j] + 1; e < b->col_adr[j + 1]; e++) {
            const double* B = f->L + b->value_adr[e];
            int m = b->size[b->rows[e]];
            double* x_i = x + b->start[b->rows[e]];
            if (m == 5 && n == 5) {
                subtract_image(x_i, B, x_j, 5, 5);
            } else if (m == 2 && n == 2) {
                subtract_image(x_i, B, x_j, 2, 2);
            } else {
                subtract_image(x_i, B, x_j, m, n);
            }
        }
    }
}

// x <- L^-T x. Unknowns of redundant rows come from `seed` (NULL: 0).
static void solve_backward(const ItmBlocks* b, const ItmBlockFactor* f, double* x, const double* seed)
{
    for (int j = b->n - 1; j >= 0; j--) {
        int n = b->size[j], start = b->start[j];
        const double* L = f->L + b->value_adr[b->col_adr[j]];
        double* x_j = x + start;
        for (int e = b->col_adr[j] + 1; e < b->col_adr[j + 1]; e++) {
            const double* B = f->L + b->value_adr[e];
            int m = b->size[b->rows[e]];
            const double* x_i = x + b->start[b->rows[e]];
            if (m == 5 && n == 5) {
                subtract_image_t_five(x_j, B, x_i);
            } else if (m == 2 && n == 2) {
                subtract_image_t(x_j, B, x_i, 2, 2);
            } else {
                subtract_image_t(x_j, B, x_i, m, n);
            }
        }
        const double* given = seed != NULL ? seed + start : NULL;
        if (n == 5) {
            solve_upper(x_j, L, f->inv_diag + start, given, 5);
        } else if (n == 2) {
            solve_upper(x_j, L, f->inv_diag + start, given, 2);
        } else {
            solve_upper(x_j, L, f->inv_diag + start, given, n);
        }
    }
}

void itm_blocks_solve(const ItmBlocks* b, const ItmBlockFactor* f, double* x)
{
    solve_forward(b, f, x, NULL);
    solve_backward(b, f, x, NULL);
}

void itm_blocks_half_solve(const ItmBlocks* b, const ItmBlockFactor* f, double* x)
{
    solve_forward(b, f, x, NULL);
}

// ---------------------------------------------------------------------------- least norm

// With rows split into independent (r) and redundant (s), the null space is spanned by the columns of
// Z = [-L_rr^-T L_sr'; I].

// z = Z c, c given on the redundant rows
static void multiply_null(const ItmBlocks* b, const ItmBlockFactor* f, double* z, const double* c)
{
    memset(z, 0, sizeof(double) * (size_t)b->nrow);
    solve_backward(b, f, z, c);
}

// c = Z' r; r is overwritten
static void multiply_null_t(const ItmBlocks* b, const ItmBlockFactor* f, double* c, double* r)
{
    memset(c, 0, sizeof(double) * (size_t)b->nrow);
    solve_forward(b, f, r, c);
}

static double dot(const double* a, const double* b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

int itm_blocks_min_norm(const ItmBlocks* b, const ItmBlockFactor* f, double* x, double* scratch)
{
    int n = b->nrow;
    double *r = scratch, *p = scratch + n, *z = scratch + 2 * n, *Ap = scratch + 3 * n;
    if (f->nredundant == 0) {
        return 0;
    }
    // conjugate gradients on Z'Z c = Z'x, with x <- x - Z c updated as c grows
    memcpy(z, x, sizeof(double) * (size_t)n);
    multiply_null_t(b, f, r, z);
    memcpy(p, r, sizeof(double) * (size_t)n);
    double rr = dot(r, r, n), rr_stop = 1e-30 * rr;
    int iteration = 0;
    for (; iteration < 4 * f->nredundant && rr > rr_stop; iteration++) {
        multiply_null(b, f, z, p);
        double alpha = rr / dot(z, z, n);
        for (int i = 0; i < n; i++) {
            x[i] -= alpha * z[i];
        }
        multiply_null_t(b, f, Ap, z);
        for (int i = 0; i < n; i++) {
            r[i] -= alpha * Ap[i];
        }
        double rr_next = dot(r, r, n);
        for (int i = 0; i < n; i++) {
            p[i] = r[i] + rr_next / rr * p[i];
        }
        rr = rr_next;
    }
    return iteration;
}
