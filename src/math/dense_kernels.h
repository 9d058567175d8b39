// Source of the kernels in dense.h, included by dense_baseline.c, dense_avx2.c and dense_avx512.c only, which
// define ITM_DENSE_TABLE as the name of the table to fill. Explicit lanes (four doubles) fix the
// order of summation.
#include "math/dense.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <immintrin.h>
#endif

typedef double Lanes __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t Bits __attribute__((vector_size(32), aligned(8), may_alias));

// A piece of the eight columns of a tile. No number of a tile depends on another one, so the width does not change results.
#ifdef __AVX512F__
typedef double Piece __attribute__((vector_size(64), aligned(8), may_alias));
enum { PIECES = 1 };
#else
typedef Lanes Piece;
enum { PIECES = 2 };
#endif

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

// Four rows at a time, because x is then loaded once for four products.
static void multiply_four(double* restrict y, const double* restrict A, int lda, const double* restrict x, const int* r,
                          int n)
{
    const double* restrict a0 = A + (size_t)r[0] * (size_t)lda;
    const double* restrict a1 = A + (size_t)r[1] * (size_t)lda;
    const double* restrict a2 = A + (size_t)r[2] * (size_t)lda;
    const double* restrict a3 = A + (size_t)r[3] * (size_t)lda;
    Lanes s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    int j = 0;
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
        multiply_four(y, A, lda, x, r, n);
    }
}

// Groups g .. count - 1 of a row
static inline void add_groups(Lanes* sum, const double* a, const double* x, const int* group, int g, int count)
{
    for (; g < count; g++) {
        *sum += *lanes(a + group[g]) * *lanes(x + group[g]);
    }
}

// Four rows side by side as far as the shortest goes, because the sum of one waits for itself.
static void multiply_groups(double* restrict y, const double* restrict A, int lda, const double* restrict x,
                            const int* rows, int m, const int* group, const int* ngroup)
{
    for (int i = 0; i < m; i += 4) {
        int r[4], shortest = lda;
        const double* a[4];
        const int* own[4];
        Lanes s[4] = {{0}};
        pick_four(r, rows, i, m);
        for (int k = 0; k < 4; k++) {
            a[k] = A + (size_t)r[k] * (size_t)lda;
            own[k] = group + (size_t)r[k] * (size_t)(lda / 4);
            shortest = ngroup[r[k]] < shortest ? ngroup[r[k]] : shortest;
        }
        for (int g = 0; g < shortest; g++) {
            for (int k = 0; k < 4; k++) {
                s[k] += *lanes(a[k] + own[k][g]) * *lanes(x + own[k][g]);
            }
        }
        for (int k = 0; k < 4; k++) {
            add_groups(&s[k], a[k], x, own[k], shortest, ngroup[r[k]]);
            y[r[k]] = sum_lanes(&s[k]);
        }
    }
}

// x <- clamp(x - w inv_h, lo, up); returns the step, from the shortest chain of operations, because the next row waits for it
static inline double step_row(double* x, double w, double inv_h, double lo, double up)
{
    double fall = lo - *x, rise = up - *x, full = w * inv_h, y = *x - full, step = -full;
    step = step < fall ? fall : step;
    step = step > rise ? rise : step;
    y = y < lo ? lo : y;
    *x = y > up ? up : y;
    return step;
}

static const Lanes UNIT[4] = {{1.0, 0.0, 0.0, 0.0}, {0.0, 1.0, 0.0, 0.0}, {0.0, 0.0, 1.0, 0.0}, {0.0, 0.0, 0.0, 1.0}};

// w of the next row is computed before the others: the next step waits for it.
static void sweep(double* restrict x, double* restrict w, const double* restrict A, int lda, const int* group,
                  const int* ngroup, const double* restrict inv_h, const double* restrict lo, const double* restrict up,
                  double eps, int n)
{
    double w_i = w[0];
    for (int i = 0; i < n; i++) {
        const double* row = A + (size_t)i * (size_t)lda;
        int next = i + 1 < n ? i + 1 : 0;
        double step = step_row(&x[i], w_i, inv_h[i], lo[i], up[i]);
        double w_next = w[next];
        if (step != 0.0) {
            w_next += step * row[next];
            const int* own = group + (size_t)i * (size_t)(lda / 4);
            for (int g = 0; g < ngroup[i]; g++) {
                *(Lanes*)(w + own[g]) += step * *lanes(row + own[g]);
            }
            if (eps != 0.0) {
                // four numbers as above: one alone would make the loads of the next row wait
                *(Lanes*)(w + i / 4 * 4) += eps * step * UNIT[i % 4];
            }
        }
        w_i = w_next;
    }
}

// Whether one of four numbers is not zero
static inline bool is_any(const Lanes* v)
{
#if defined __AVX2__
    return _mm256_movemask_pd((__m256d)(*v != 0.0)) != 0;
#elif defined __SSE2__
    typedef double Half __attribute__((vector_size(16)));
    Half low = {(*v)[0], (*v)[1]}, high = {(*v)[2], (*v)[3]};
    return _mm_movemask_pd((__m128d)((low != 0.0) | (high != 0.0))) != 0;
#else
    return (*v)[0] != 0.0 || (*v)[1] != 0.0 || (*v)[2] != 0.0 || (*v)[3] != 0.0;
#endif
}

// Four columns of a row of B. Returns whether one of them is not zero; `bad` stays zero where all are finite: 0 times anything finite is 0,
// times anything else NaN.
static inline bool scale_group(Lanes* restrict to, const Lanes* restrict from, double d_i, const double* restrict d_j,
                               Lanes* bad)
{
    Lanes v = *from * (d_i * *lanes(d_j));
    *to = v;
    *bad += 0.0 * v;
    return is_any(&v);
}

// Whether none of eight numbers has a bit
static inline bool is_nothing(const double* p)
{
    const Bits* b = (const Bits*)p;
    Bits all = b[0] | b[1];
#ifdef __AVX2__
    return _mm256_testz_si256((__m256i)all, (__m256i)all);
#else
    return ((all[0] | all[1]) | (all[2] | all[3])) == 0;
#endif
}

// Columns 0 .. end-1 of a row, end a multiple of 8, without those where eight in a line are zero, which are zero in `to` too. Returns the
// number of groups.
static inline int scale_listed(double* restrict to, const double* restrict from, double d_i, const double* restrict d,
                               int end, int* restrict own, int size, Lanes bad[2])
{
    // where there is something, at the end of the list, which groups do not reach before; no branch, which nothing could foresee
    int* at = own + size - end / 8;
    int nat = 0, count = 0;
    for (int j = 0; j < end; j += 8) {
        at[nat] = j;
        nat += !is_nothing(from + j);
    }
    for (int l = 0; l < nat; l++) {
        int j = at[l];
        own[count] = j;
        count += scale_group((Lanes*)(to + j), lanes(from + j), d_i, d + j, &bad[0]);
        own[count] = j + 4;
        count += scale_group((Lanes*)(to + j + 4), lanes(from + j + 4), d_i, d + j + 4, &bad[1]);
    }
    return count;
}

static bool scale(double* restrict B, int ldb, const double* restrict A, const double* restrict d, int n,
                  int* restrict group, int* restrict ngroup, bool is_listed)
{
    Lanes bad[2] = {{0}};  // two, so that one need not wait for the other
    for (int i = 0; i < n; i++) {
        const double* from = A + (size_t)i * (size_t)n;
        double* to = B + (size_t)i * (size_t)ldb;
        int* own = group + (size_t)i * (size_t)(ldb / 4);
        int count = 0, j = 0;
        if (is_listed) {
            for (int g = 0; g < ngroup[i]; g++) {
                *(Lanes*)(to + own[g]) = (Lanes){0};
            }
            j = n / 8 * 8;
            count = scale_listed(to, from, d[i], d, j, own, ldb / 4, bad);
        }
        for (; j + 8 <= n; j += 8) {
            own[count] = j;
            count += scale_group((Lanes*)(to + j), lanes(from + j), d[i], d + j, &bad[0]);
            own[count] = j + 4;
            count += scale_group((Lanes*)(to + j + 4), lanes(from + j + 4), d[i], d + j + 4, &bad[1]);
        }
        if (j + 4 <= n) {
            own[count] = j;
            count += scale_group((Lanes*)(to + j), lanes(from + j), d[i], d + j, &bad[0]);
            j += 4;
        }
        if (j < n) {
            Lanes rest = {0};
            if (i + 1 < n) {
                rest = *lanes(from + j);  // the next row, too, which the zeros of d take away
            } else {
                for (int k = 0; k < n - j; k++) {
                    rest[k] = from[j + k];
                }
            }
            Lanes v = rest * (d[i] * *lanes(d + j)) + 0.0;  // no negative zeros
            *(Lanes*)(to + j) = v;
            bad[1] += 0.0 * v;
            own[count] = j;
            count += is_any(&v);
            j += 4;
        }
        if (j < ldb) {
            *(Lanes*)(to + j) = (Lanes){0};
        }
        ngroup[i] = count;
    }
    Lanes nothing = bad[0] + bad[1];
    return sum_lanes(&nothing) == 0.0;
}

// C_ij -= sum_k a(i,k) B_kj for one tile of 4 x 8;  a(i,k) = A[i ai + k ak]
static inline void update_tile(double* restrict C, int ldc, const double* restrict A, size_t ai, size_t ak,
                               const double* restrict B, int ldb, int depth)
{
    Piece c[4][PIECES] = {{{0}}};
    for (int k = 0; k < depth; k++) {
        const Piece* b = (const Piece*)(B + (size_t)k * (size_t)ldb);
        for (int i = 0; i < 4; i++) {
            double a = A[(size_t)i * ai + (size_t)k * ak];
            for (int l = 0; l < PIECES; l++) {
                c[i][l] += a * b[l];
            }
        }
    }
    for (int i = 0; i < 4; i++) {
        Piece* row = (Piece*)(C + (size_t)i * (size_t)ldc);
        for (int l = 0; l < PIECES; l++) {
            row[l] -= c[i][l];
        }
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

// Four rows of U at the diagonal: 1 / U_ii, and what stands right of it
typedef struct Corner {
    double inv[4];
    double u01, u02, u03, u12, u13, u23;
} Corner;

// Returns 4, or the row whose pivot failed. Pivots are those of L D L', so that none waits for a square root.
static inline int factor_corner(Corner* c, const double* A, int lda, double floor)
{
    const double *a1 = A + lda, *a2 = a1 + lda, *a3 = a2 + lda;
    double p0 = A[0], q0 = 1.0 / p0;
    double l1 = A[1] * q0, l2 = A[2] * q0, l3 = A[3] * q0;
    double p1 = a1[1] - l1 * A[1], q1 = 1.0 / p1;
    double b2 = a1[2] - l1 * A[2], b3 = a1[3] - l1 * A[3], m2 = b2 * q1, m3 = b3 * q1;
    double p2 = a2[2] - l2 * A[2] - m2 * b2, q2 = 1.0 / p2;
    double c3 = a2[3] - l2 * A[3] - m2 * b3, n3 = c3 * q2;
    double p3 = a3[3] - l3 * A[3] - m3 * b3 - n3 * c3;
    c->inv[0] = sqrt(q0);
    c->inv[1] = sqrt(q1);
    c->inv[2] = sqrt(q2);
    c->inv[3] = sqrt(1.0 / p3);
    c->u01 = A[1] * c->inv[0];
    c->u02 = A[2] * c->inv[0];
    c->u03 = A[3] * c->inv[0];
    c->u12 = b2 * c->inv[1];
    c->u13 = b3 * c->inv[1];
    c->u23 = c3 * c->inv[2];
    return !(p0 > floor) ? 0 : !(p1 > floor) ? 1 : !(p2 > floor) ? 2 : !(p3 > floor) ? 3 : 4;
}

// Four rows of A, 4 * width columns from j on: the rows k0 .. k-1 of U are taken off, in this order; then, with a corner, they become rows of U
static inline __attribute__((always_inline)) void factor_tile(double* restrict A, int lda, int k0, int k, int j,
                                                              int width, const Corner* t)
{
    Lanes c[4][2];
    double* C = A + (size_t)k * (size_t)lda + j;
    for (int i = 0; i < 4; i++) {
        for (int l = 0; l < width; l++) {
            c[i][l] = *lanes(C + (size_t)i * (size_t)lda + 4 * l);
        }
    }
    for (int r = k0; r < k; r++) {
        const double* u = A + (size_t)r * (size_t)lda;
        for (int l = 0; l < width; l++) {
            Lanes b = *lanes(u + j + 4 * l);
            for (int i = 0; i < 4; i++) {
                c[i][l] -= u[k + i] * b;
            }
        }
    }
    for (int l = 0; l < width && t != NULL; l++) {
        c[0][l] *= t->inv[0];
        c[1][l] = (c[1][l] - t->u01 * c[0][l]) * t->inv[1];
        c[2][l] = (c[2][l] - t->u02 * c[0][l] - t->u12 * c[1][l]) * t->inv[2];
        c[3][l] = (c[3][l] - t->u03 * c[0][l] - t->u13 * c[1][l] - t->u23 * c[2][l]) * t->inv[3];
    }
    for (int i = 0; i < 4; i++) {
        for (int l = 0; l < width; l++) {
            *(Lanes*)(C + (size_t)i * (size_t)lda + 4 * l) = c[i][l];
        }
    }
}

// Rows k0 .. k0+np-1 of U, all columns, without looking below the panel: four rows at a time, each number loaded and stored once.
static int factor_cholesky_panel(double* A, int lda, int n, int k0, int np, double floor)
{
    int k = k0;
    for (; k + 4 <= k0 + np; k += 4) {
        Corner corner;
        factor_tile(A, lda, k0, k, k, 1, NULL);
        int good = factor_corner(&corner, A + (size_t)k * (size_t)lda + k, lda, floor);
        if (good < 4) {
            return k + good;
        }
        factor_tile(A, lda, k, k, k, 1, &corner);
        int j = k + 4;
        for (; j + 4 < n; j += 8) {
            factor_tile(A, lda, k0, k, j, 2, &corner);
        }
        if (j < n) {
            factor_tile(A, lda, k0, k, j, 1, &corner);
        }
    }
    for (; k < k0 + np; k++) {
        double* row = A + (size_t)k * (size_t)lda;
        update_row(row + k, A + (size_t)k0 * (size_t)lda + k, (size_t)lda, A + (size_t)k0 * (size_t)lda + k, lda,
                   k - k0, n - k);
        if (!(row[k] > floor)) {
            return k;
        }
        double scale = 1.0 / sqrt(row[k]);
        for (int j = k; j < n; j++) {
            row[j] *= scale;
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
        // as L D L', because the next pivot would wait for a square root
        double inv_pivot = 1.0 / pivot, scale = inv_u[k] = sqrt(inv_pivot);
        for (int i = k + 1; i < end[k]; i++) {
            double* other = A + (size_t)i * (size_t)lda;
            double factor = row[i] * inv_pivot;
            for (int j = i / 4 * 4; j < end[k]; j += 4) {
                *(Lanes*)(other + j) -= factor * *lanes(row + j);
            }
        }
        for (int j = k; j < end[k]; j++) {
            row[j] *= scale;
        }
    }
    return n;
}

// What the next unknown waits for comes last in its sum, and stays in a register.
static void solve_band(const double* U, int ldu, const int* end, const double* inv_u, double* restrict x, int n)
{
    double next = n > 0 ? x[0] : 0.0;
    for (int k = 0; k < n; k++) {
        const double* row = U + (size_t)k * (size_t)ldu;
        double xk = x[k] = next * inv_u[k];
        next = k + 1 < n ? x[k + 1] : 0.0;
        next -= k + 1 < end[k] ? xk * row[k + 1] : 0.0;
        for (int j = k + 2; j < end[k]; j++) {
            x[j] -= xk * row[j];
        }
    }
    double last = 0.0;
    for (int k = n - 1; k >= 0; k--) {
        const double* row = U + (size_t)k * (size_t)ldu;
        double sum = x[k];
        for (int j = end[k] - 1; j > k + 1; j--) {
            sum -= row[j] * x[j];
        }
        sum -= k + 1 < end[k] ? row[k + 1] * last : 0.0;
        last = x[k] = sum * inv_u[k];
    }
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

// Four unknowns at a time: their small triangle, then their rows taken off the others. Divisions do not wait for unknowns.
static void solve_cholesky_lower(const double* U, int ldu, double* restrict x, int n)
{
    // U' y = x, by columns of U' = rows of U
    int k = 0;
    for (; k + 4 <= n; k += 4) {
        const double *a0 = U + (size_t)k * (size_t)ldu, *a1 = a0 + ldu, *a2 = a1 + ldu, *a3 = a2 + ldu;
        double y0 = x[k] * (1.0 / a0[k]);
        double y1 = (x[k + 1] - a0[k + 1] * y0) * (1.0 / a1[k + 1]);
        double y2 = (x[k + 2] - a0[k + 2] * y0 - a1[k + 2] * y1) * (1.0 / a2[k + 2]);
        double y3 = (x[k + 3] - a0[k + 3] * y0 - a1[k + 3] * y1 - a2[k + 3] * y2) * (1.0 / a3[k + 3]);
        *(Lanes*)(x + k) = (Lanes){y0, y1, y2, y3};
        int j = k + 4;
        for (; j + 4 <= n; j += 4) {
            Lanes s = (y0 * *lanes(a0 + j) + y1 * *lanes(a1 + j)) + (y2 * *lanes(a2 + j) + y3 * *lanes(a3 + j));
            *(Lanes*)(x + j) -= s;
        }
        for (; j < n; j++) {
            x[j] -= (y0 * a0[j] + y1 * a1[j]) + (y2 * a2[j] + y3 * a3[j]);
        }
    }
    for (; k < n; k++) {
        const double* row = U + (size_t)k * (size_t)ldu;
        x[k] *= 1.0 / row[k];
        for (int j = k + 1; j < n; j++) {
            x[j] -= x[k] * row[j];
        }
    }
}

// U x = y, from the last row up
static void solve_cholesky_upper(const double* U, int ldu, double* restrict x, int n)
{
    int k = n;
    for (; k % 4 != 0; k--) {
        const double* row = U + (size_t)(k - 1) * (size_t)ldu;
        double sum = x[k - 1];
        for (int j = k; j < n; j++) {
            sum -= row[j] * x[j];
        }
        x[k - 1] = sum * (1.0 / row[k - 1]);
    }
    int whole = k;
    for (k -= 4; k >= 0; k -= 4) {
        const double *a0 = U + (size_t)k * (size_t)ldu, *a1 = a0 + ldu, *a2 = a1 + ldu, *a3 = a2 + ldu;
        double t[4];
        dot_four(t, a0 + k + 4, ldu, x + k + 4, whole - k - 4);
        for (int j = whole; j < n; j++) {
            t[0] += a0[j] * x[j];
            t[1] += a1[j] * x[j];
            t[2] += a2[j] * x[j];
            t[3] += a3[j] * x[j];
        }
        double y3 = (x[k + 3] - t[3]) * (1.0 / a3[k + 3]);
        double y2 = (x[k + 2] - t[2] - a2[k + 3] * y3) * (1.0 / a2[k + 2]);
        double y1 = (x[k + 1] - t[1] - a1[k + 2] * y2 - a1[k + 3] * y3) * (1.0 / a1[k + 1]);
        double y0 = (x[k] - t[0] - a0[k + 1] * y1 - a0[k + 2] * y2 - a0[k + 3] * y3) * (1.0 / a0[k]);
        *(Lanes*)(x + k) = (Lanes){y0, y1, y2, y3};
    }
}

static void solve_cholesky(const double* U, int ldu, double* x, int n)
{
    solve_cholesky_lower(U, ldu, x, n);
    solve_cholesky_upper(U, ldu, x, n);
}

// Unknowns behind the last whole group of four, of U' and of U
static inline void solve_tail_lower(const double* U, int ldu, const double* inv_u, double* x, int k, int n)
{
    for (; k < n; k++) {
        const double* row = U + (size_t)k * (size_t)ldu;
        x[k] *= inv_u[k];
        for (int j = k + 1; j < n; j++) {
            x[j] -= x[k] * row[j];
        }
    }
}

static inline void solve_tail_upper(const double* U, int ldu, const double* inv_u, double* x, int first, int n)
{
    for (int k = n - 1; k >= first; k--) {
        const double* row = U + (size_t)k * (size_t)ldu;
        for (int j = n - 1; j > k; j--) {
            x[k] -= row[j] * x[j];
        }
        x[k] *= inv_u[k];
    }
}

// Four unknowns at a time, as above; no division waits for another.
static void solve_inverse(const double* U, int ldu, const double* restrict inv_u, double* restrict x, int n)
{
    int k = 0;
    for (; k + 4 <= n; k += 4) {
        const double *a0 = U + (size_t)k * (size_t)ldu, *a1 = a0 + ldu, *a2 = a1 + ldu, *a3 = a2 + ldu;
        double y0 = x[k] * inv_u[k];
        double y1 = (x[k + 1] - y0 * a0[k + 1]) * inv_u[k + 1];
        double y2 = ((x[k + 2] - y0 * a0[k + 2]) - y1 * a1[k + 2]) * inv_u[k + 2];
        double y3 = ((x[k + 3] - y0 * a0[k + 3]) - y1 * a1[k + 3] - y2 * a2[k + 3]) * inv_u[k + 3];
        *(Lanes*)(x + k) = (Lanes){y0, y1, y2, y3};
        for (int j = k + 4; j < n; j += 4) {
            *(Lanes*)(x + j) =
                *lanes(x + j) - y0 * *lanes(a0 + j) - y1 * *lanes(a1 + j) - y2 * *lanes(a2 + j) - y3 * *lanes(a3 + j);
        }
    }
    solve_tail_lower(U, ldu, inv_u, x, k, n);
    solve_tail_upper(U, ldu, inv_u, x, k, n);
    for (k -= 4; k >= 0; k -= 4) {
        const double *a0 = U + (size_t)k * (size_t)ldu, *a1 = a0 + ldu, *a2 = a1 + ldu;
        double t[4];
        dot_four(t, a0 + k + 4, ldu, x + k + 4, (n - k - 1) / 4 * 4);
        double y3 = (x[k + 3] - t[3]) * inv_u[k + 3];
        double y2 = (x[k + 2] - t[2] - a2[k + 3] * y3) * inv_u[k + 2];
        double y1 = (x[k + 1] - t[1] - a1[k + 3] * y3 - a1[k + 2] * y2) * inv_u[k + 1];
        double y0 = (x[k] - t[0] - a0[k + 3] * y3 - a0[k + 2] * y2 - a0[k + 1] * y1) * inv_u[k];
        *(Lanes*)(x + k) = (Lanes){y0, y1, y2, y3};
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
    .multiply_groups = multiply_groups,
    .scale = scale,
    .sweep = sweep,
    .factor_cholesky = factor_cholesky,
    .factor_band = factor_band,
    .solve_cholesky = solve_cholesky,
    .solve_inverse = solve_inverse,
    .solve_band = solve_band,
    .solve_cholesky_lower = solve_cholesky_lower,
    .rotate = rotate,
    .factor_lu = factor_lu,
    .solve_lu = solve_lu,
    .eliminate = eliminate,
};
