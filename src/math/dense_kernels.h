// Source of the kernels in dense.h, included by dense_baseline.c and dense_avx2.c only, which
// define ITM_DENSE_TABLE as the name of the table to fill. Explicit lanes (four doubles) fix the
// order of summation.
#include "math/dense.h"

#include <math.h>
#include <string.h>

typedef double Lanes __attribute__((vector_size(32), aligned(8), may_alias));

enum { PANEL = 32 };  // columns eliminated before the rest of the matrix is touched; a multiple of the padding

static inline const Lanes* lanes(const double* p)
{
    return (const Lanes*)p;
}

static inline double dot_lanes(const double* restrict a, const double* restrict b, int n)
{
    Lanes s0 = {0}, s1 = {0};
    int i = 0;
    for (; i + 8 <= n; i += 8) {
        s0 += *lanes(a + i) * *lanes(b + i);
        s1 += *lanes(a + i + 4) * *lanes(b + i + 4);
    }
    s0 += s1;
    double sum = (s0[0] + s0[1]) + (s0[2] + s0[3]);
    for (; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static double dot(const double* a, const double* b, int n)
{
    return dot_lanes(a, b, n);
}

static inline void add_scaled(double* restrict y, double a, const double* restrict x, int n)
{
    for (int i = 0; i < n; i++) {
        y[i] += a * x[i];
    }
}

static void axpy(double* y, double a, const double* x, int n)
{
    add_scaled(y, a, x, n);
}

static inline double sum_lanes(const Lanes* s)
{
    return ((*s)[0] + (*s)[1]) + ((*s)[2] + (*s)[3]);
}

// Columns begin .. n - 1 of four rows at a time, because x is then loaded once for four products.
static void multiply_four(double* restrict y, const double* restrict A, int lda, const double* restrict x, const int* r,
                          int begin, int n)
{
    const double* restrict a0 = A + (size_t)r[0] * (size_t)lda;
    const double* restrict a1 = A + (size_t)r[1] * (size_t)lda;
    const double* restrict a2 = A + (size_t)r[2] * (size_t)lda;
    const double* restrict a3 = A + (size_t)r[3] * (size_t)lda;
    Lanes s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    int j = begin;
    for (; j + 4 <= n; j += 4) {
        Lanes xj = *lanes(x + j);
        s0 += *lanes(a0 + j) * xj;
        s1 += *lanes(a1 + j) * xj;
        s2 += *lanes(a2 + j) * xj;
        s3 += *lanes(a3 + j) * xj;
    }
    double t[4] = {sum_lanes(&s0), sum_lanes(&s1), sum_lanes(&s2), sum_lanes(&s3)};
    for (; j < n; j++) {
        t[0] += a0[j] * x[j];
        t[1] += a1[j] * x[j];
        t[2] += a2[j] * x[j];
        t[3] += a3[j] * x[j];
    }
    for (int k = 0; k < 4; k++) {
        y[r[k]] = t[k];
    }
}

// Four rows from place i on; the last group repeats its last row: the same number is then written more than once.
static inline void pick_four(int* r, const int* rows, int i, int m)
{
    for (int k = 0; k < 4; k++) {
        int at = i + k < m ? i + k : m - 1;
        r[k] = rows != NULL ? rows[at] : at;
    }
}

static void multiply_rows(double* y, const double* A, int lda, const double* x, const int* rows, int m, int n)
{
    for (int i = 0; i < m; i += 4) {
        int r[4];
        pick_four(r, rows, i, m);
        multiply_four(y, A, lda, x, r, 0, n);
    }
}

static void multiply_band(double* y, const double* A, int lda, const double* x, const int* rows, int m,
                          const int* first, const int* end)
{
    for (int i = 0; i < m; i += 4) {
        int r[4];
        pick_four(r, rows, i, m);
        int from = first[r[0]], to = end[r[0]];
        for (int k = 1; k < 4; k++) {
            from = first[r[k]] < from ? first[r[k]] : from;
            to = end[r[k]] > to ? end[r[k]] : to;
        }
        multiply_four(y, A, lda, x, r, from / 4 * 4, (to + 3) / 4 * 4);
    }
}

static void sweep(double* restrict x, double* restrict w, const double* restrict A, int lda, const int* restrict first,
                  const int* restrict end, const double* restrict inv_h, const double* restrict lo,
                  const double* restrict up, double eps, int n)
{
    for (int i = 0; i < n; i++) {
        double y = x[i] - w[i] * inv_h[i];
        y = y < lo[i] ? lo[i] : y > up[i] ? up[i] : y;
        double step = y - x[i];
        if (step != 0.0) {
            x[i] = y;
            add_scaled(w + first[i], step, A + (size_t)i * (size_t)lda + first[i], end[i] - first[i]);
            w[i] += eps * step;
        }
    }
}

// C_ij -= sum_k a(i,k) B_kj for one tile of 4 x 8;  a(i,k) = A[i ai + k ak]
static inline void update_tile(double* restrict C, int ldc, const double* restrict A, size_t ai, size_t ak,
                               const double* restrict B, int ldb, int depth)
{
    Lanes c[4][2] = {{{0}}};
    for (int k = 0; k < depth; k++) {
        const double* b = B + (size_t)k * (size_t)ldb;
        Lanes b0 = *lanes(b), b1 = *lanes(b + 4);
        for (int i = 0; i < 4; i++) {
            double a = A[(size_t)i * ai + (size_t)k * ak];
            c[i][0] += a * b0;
            c[i][1] += a * b1;
        }
    }
    for (int i = 0; i < 4; i++) {
        Lanes* row = (Lanes*)(C + (size_t)i * (size_t)ldc);
        row[0] -= c[i][0];
        row[1] -= c[i][1];
    }
}

// C_j -= sum_k a_k B_kj for one row, columns 0 .. n-1;  a_k = A[k ak]
static inline void update_row(double* restrict C, const double* restrict A, size_t ak, const double* restrict B,
                              int ldb, int depth, int n)
{
    for (int k = 0; k < depth; k++) {
        add_scaled(C, -A[(size_t)k * ak], B + (size_t)k * (size_t)ldb, n);
    }
}

// Rows k0 .. k0+np-1 of U, all columns, without looking below the panel.
static int factor_cholesky_panel(double* A, int lda, int n, int k0, int np, double floor)
{
    for (int k = k0; k < k0 + np; k++) {
        double* row = A + (size_t)k * (size_t)lda;
        double pivot = row[k];
        if (!(pivot > floor)) {
            return k;
        }
        double scale = 1.0 / sqrt(pivot);
        for (int j = k; j < n; j++) {
            row[j] *= scale;
        }
        for (int i = k + 1; i < k0 + np; i++) {
            add_scaled(A + (size_t)i * (size_t)lda + i, -row[i], row + i, n - i);
        }
    }
    return n;
}

static int factor_cholesky(double* A, int lda, int n, double floor)
{
    for (int k0 = 0; k0 < n; k0 += PANEL) {
        int np = n - k0 < PANEL ? n - k0 : PANEL;
        int bad = factor_cholesky_panel(A, lda, n, k0, np, floor);
        if (bad < n) {
            return bad;
        }
        // A_ij -= sum_k U_ki U_kj behind the panel; tiles may touch the unused lower triangle
        const double* U = A + (size_t)k0 * (size_t)lda;
        int i = k0 + np;
        for (; i + 4 <= n; i += 4) {
            for (int j = i / 8 * 8; j < n; j += 8) {
                update_tile(A + (size_t)i * (size_t)lda + j, lda, U + i, 1, (size_t)lda, U + j, lda, np);
            }
        }
        for (; i < n; i++) {
            update_row(A + (size_t)i * (size_t)lda + i, U + i, (size_t)lda, U + i, lda, np, n - i);
        }
    }
    return n;
}

static int factor_band(double* A, int lda, const int* end, double* inv_u, int n, double floor)
{
    for (int k = 0; k < n; k++) {
        double* row = A + (size_t)k * (size_t)lda;
        double pivot = row[k];
        if (!(pivot > floor)) {
            return k;
        }
        double scale = inv_u[k] = 1.0 / sqrt(pivot);
        for (int j = k; j < end[k]; j++) {
            row[j] *= scale;
        }
        for (int i = k + 1; i < end[k]; i++) {
            double* other = A + (size_t)i * (size_t)lda;
            double factor = row[i];
            for (int j = i / 4 * 4; j < end[k]; j += 4) {
                *(Lanes*)(other + j) -= factor * *lanes(row + j);
            }
        }
    }
    return n;
}

static void solve_band(const double* U, int ldu, const int* end, const double* inv_u, double* x, int n)
{
    for (int k = 0; k < n; k++) {
        const double* row = U + (size_t)k * (size_t)ldu;
        double xk = x[k] *= inv_u[k];
        for (int j = k + 1; j < end[k]; j++) {
            x[j] -= xk * row[j];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        const double* row = U + (size_t)k * (size_t)ldu;
        double sum = x[k];
        for (int j = k + 1; j < end[k]; j++) {
            sum -= row[j] * x[j];
        }
        x[k] = sum * inv_u[k];
    }
}

static void solve_cholesky_lower(const double* U, int ldu, double* x, int n)
{
    // U' y = x, by columns of U' = rows of U
    for (int k = 0; k < n; k++) {
        const double* row = U + (size_t)k * (size_t)ldu;
        x[k] /= row[k];
        add_scaled(x + k + 1, -x[k], row + k + 1, n - k - 1);
    }
}

static void solve_cholesky(const double* U, int ldu, double* x, int n)
{
    solve_cholesky_lower(U, ldu, x, n);
    // U x = y, from the last row up
    for (int k = n - 1; k >= 0; k--) {
        const double* row = U + (size_t)k * (size_t)ldu;
        x[k] = (x[k] - dot_lanes(row + k + 1, x + k + 1, n - k - 1)) / row[k];
    }
}

static void rotate(double* restrict a, double* restrict b, double c, double s, int n)
{
    for (int i = 0; i < n; i++) {
        double t = c * a[i] + s * b[i];
        b[i] = c * b[i] - s * a[i];
        a[i] = t;
    }
}

// ---------------------------------------------------------------------------- LU

static void swap_rows(double* restrict a, double* restrict b, int n)
{
    for (int j = 0; j < n; j++) {
        double t = a[j];
        a[j] = b[j];
        b[j] = t;
    }
}

static int find_pivot_row(const double* A, int lda, int n, int k)
{
    int best = k;
    double size = fabs(A[(size_t)k * (size_t)lda + (size_t)k]);
    for (int i = k + 1; i < n; i++) {
        double a = fabs(A[(size_t)i * (size_t)lda + (size_t)k]);
        if (a > size) {
            size = a;
            best = i;
        }
    }
    return best;
}

// Columns k0 .. k0+np-1 of L and U, exchanging whole rows; other columns are not updated yet.
static int factor_lu_panel(double* A, int lda, int n, int k0, int np, int* pivots, double floor)
{
    int replaced = 0;
    for (int k = k0; k < k0 + np; k++) {
        double* row = A + (size_t)k * (size_t)lda;
        pivots[k] = find_pivot_row(A, lda, n, k);
        if (pivots[k] != k) {
            swap_rows(row, A + (size_t)pivots[k] * (size_t)lda, lda);
        }
        if (!(fabs(row[k]) > floor)) {
            row[k] = floor == 0.0 ? (double)INFINITY : row[k] < 0.0 ? -floor : floor;
            replaced++;
        }
        double scale = 1.0 / row[k];
        for (int i = k + 1; i < n; i++) {
            double* other = A + (size_t)i * (size_t)lda;
            other[k] *= scale;
            if (other[k] != 0.0) {
                add_scaled(other + k + 1, -other[k], row + k + 1, k0 + np - k - 1);
            }
        }
    }
    return replaced;
}

static int factor_lu(double* A, int lda, int n, int* pivots, double floor)
{
    int replaced = 0;
    for (int k0 = 0; k0 < n; k0 += PANEL) {
        int np = n - k0 < PANEL ? n - k0 : PANEL;
        replaced += factor_lu_panel(A, lda, n, k0, np, pivots, floor);
        int j0 = k0 + np;
        if (j0 >= n) {
            break;
        }
        // rows of U to the right of the panel: U_kj -= sum_{l<k} L_kl U_lj
        double* U = A + (size_t)k0 * (size_t)lda + j0;
        for (int k = 1; k < np; k++) {
            update_row(U + (size_t)k * (size_t)lda, A + (size_t)(k0 + k) * (size_t)lda + k0, 1, U, lda, k, n - j0);
        }
        // A_ij -= sum_k L_ik U_kj behind the panel
        int i = j0;
        for (; i + 4 <= n; i += 4) {
            const double* L = A + (size_t)i * (size_t)lda + k0;
            for (int j = j0; j < n; j += 8) {
                update_tile(A + (size_t)i * (size_t)lda + j, lda, L, (size_t)lda, 1, A + (size_t)k0 * (size_t)lda + j,
                            lda, np);
            }
        }
        for (; i < n; i++) {
            double* row = A + (size_t)i * (size_t)lda;
            update_row(row + j0, row + k0, 1, U, lda, np, n - j0);
        }
    }
    return replaced;
}

// t_r = A_r . x over n columns, a multiple of four, for four rows one after another
static inline void dot_four(double t[4], const double* restrict A, int lda, const double* restrict x, int n)
{
    const double *a1 = A + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    Lanes s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (int j = 0; j < n; j += 4) {
        Lanes xj = *lanes(x + j);
        s0 += *lanes(A + j) * xj;
        s1 += *lanes(a1 + j) * xj;
        s2 += *lanes(a2 + j) * xj;
        s3 += *lanes(a3 + j) * xj;
    }
    t[0] = sum_lanes(&s0);
    t[1] = sum_lanes(&s1);
    t[2] = sum_lanes(&s2);
    t[3] = sum_lanes(&s3);
}

// Four unknowns from k on: y = T^-1 (x - t), T the small triangle at (k, k). They are stored together, because they are then loaded so.
static inline void solve_unit_lower_four(const double* T, int lda, double* x, const double* t)
{
    const double *a1 = T + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    double y0 = x[0] - t[0];
    double y1 = x[1] - t[1] - a1[0] * y0;
    double y2 = x[2] - t[2] - a2[0] * y0 - a2[1] * y1;
    double y3 = x[3] - t[3] - a3[0] * y0 - a3[1] * y1 - a3[2] * y2;
    *(Lanes*)x = (Lanes){y0, y1, y2, y3};
}

static inline void solve_upper_four(const double* T, int lda, double* x, const double* t)
{
    const double *a0 = T, *a1 = T + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    double y3 = (x[3] - t[3]) / a3[3];
    double y2 = (x[2] - t[2] - a2[3] * y3) / a2[2];
    double y1 = (x[1] - t[1] - a1[3] * y3 - a1[2] * y2) / a1[1];
    double y0 = (x[0] - t[0] - a0[3] * y3 - a0[2] * y2 - a0[1] * y1) / a0[0];
    *(Lanes*)x = (Lanes){y0, y1, y2, y3};
}

// Four unknowns at a time: their rows are multiplied together by the unknowns that are known, then a small triangle is left.
static void solve_lu(const double* A, int lda, const int* pivots, double* x, int n)
{
    double t[4];
    for (int k = 0; k < n; k++) {
        double swap = x[k];
        x[k] = x[pivots[k]];
        x[pivots[k]] = swap;
    }
    int k = 0;
    for (; k + 4 <= n; k += 4) {
        const double* rows = A + (size_t)k * (size_t)lda;
        dot_four(t, rows, lda, x, k);
        solve_unit_lower_four(rows + k, lda, x + k, t);
    }
    for (; k < n; k++) {
        x[k] -= dot_lanes(A + (size_t)k * (size_t)lda, x, k);
    }
    for (; k >= 4; k -= 4) {
        const double* rows = A + (size_t)(k - 4) * (size_t)lda;
        dot_four(t, rows + k, lda, x + k, n - k);
        solve_upper_four(rows + k - 4, lda, x + k - 4, t);
    }
    for (k--; k >= 0; k--) {
        const double* row = A + (size_t)k * (size_t)lda;
        x[k] = (x[k] - dot_lanes(row + k + 1, x + k + 1, n - k - 1)) / row[k];
    }
}

static void eliminate(double* A, int lda, int m, const double* f, const double* p, int skip, int n)
{
    for (int i = 0; i < m; i++) {
        if (i != skip && f[i] != 0.0) {
            add_scaled(A + (size_t)i * (size_t)lda, -f[i], p, n);
        }
    }
}

const ItmDense ITM_DENSE_TABLE = {
    .dot = dot,
    .axpy = axpy,
    .multiply_rows = multiply_rows,
    .multiply_band = multiply_band,
    .sweep = sweep,
    .factor_cholesky = factor_cholesky,
    .factor_band = factor_band,
    .solve_cholesky = solve_cholesky,
    .solve_band = solve_band,
    .solve_cholesky_lower = solve_cholesky_lower,
    .rotate = rotate,
    .factor_lu = factor_lu,
    .solve_lu = solve_lu,
    .eliminate = eliminate,
};
