// Dense kernels: row-major, leading dimension a multiple of ITM_DENSE_PAD, padding
// columns zero. The kernels are compiled for the baseline, for AVX2 and for AVX-512, from the same source
// with the same order of summation and without contraction: all give the same bits, and the fastest one is
// chosen once per workspace.
#ifndef ITM_MATH_DENSE_H
#define ITM_MATH_DENSE_H

#include <stdbool.h>
#include <stddef.h>

#define ITM_DENSE_PAD 8

static inline int itm_dense_pad(int n)
{
    return (n + ITM_DENSE_PAD - 1) / ITM_DENSE_PAD * ITM_DENSE_PAD;
}

typedef struct ItmDense {
    // sum_i a_i b_i
    double (*dot)(const double* a, const double* b, int n);

    // y += a x
    void (*axpy)(double* y, double a, const double* x, int n);

    // y_i = A_i . x for the rows i = rows[0 .. m-1] of A (all of 0 .. m-1 if rows is NULL); other y
    // stay
    void (*multiply_rows)(double* y, const double* A, int lda, const double* x, const int* rows, int m, int n);

    // The same where row i of A is zero but for ngroup_i groups of four columns, which begin at group[i lda / 4 ...]; x padded with
    // zeros
    void (*multiply_groups)(double* y, const double* A, int lda, const double* x, const int* rows, int m,
                            const int* group, const int* ngroup);

    // B = D A D with a diagonal D, padded with zeros; A without padding (n x n), d padded with zeros, ldb = itm_dense_pad(n). Lists the
    // groups of B. Returns whether all is finite. is_listed: the groups of B are those of another matrix of n rows, the rest is zero; only
    // these and the new groups are written.
    bool (*scale)(double* B, int ldb, const double* A, const double* d, int n, int* group, int* ngroup, bool is_listed);

    // One Gauss-Seidel sweep over rows with bounds:  x_i <- clamp(x_i - w_i inv_h_i, lo_i, up_i), and w, padded, follows by the groups
    // of the rows of the symmetric A, and by eps on the diagonal
    void (*sweep)(double* x, double* w, const double* A, int lda, const int* group, const int* ngroup,
                  const double* inv_h, const double* lo, const double* up, double eps, int n);

    // A = U'U in the upper triangle, in place (below: garbage). A pivot not above `floor` stops it.
    // Returns n, or the index of the pivot that failed.
    int (*factor_cholesky)(double* A, int lda, int n, double floor);

    // The same where row i of A, and then of U, ends before column end_i; end must not fall. Four columns at a time: up to three
    // numbers left of the diagonal are read, which must be finite, and behind the end, which must be zero. inv_u receives 1 / U_ii.
    int (*factor_band)(double* A, int lda, const int* end, double* inv_u, int n, double floor);

    // U'U x = x, in place
    void (*solve_cholesky)(const double* U, int ldu, double* x, int n);

    // The same with the inverses of the diagonal of U. Four columns at a time: the columns of U behind the last, up to a multiple of
    // four, are zero; so is x there, and stays so.
    void (*solve_inverse)(const double* U, int ldu, const double* inv_u, double* x, int n);

    // U'U x = x, in place, with U of factor_band
    void (*solve_band)(const double* U, int ldu, const int* end, const double* inv_u, double* x, int n);

    // U' x = x, in place
    void (*solve_cholesky_lower)(const double* U, int ldu, double* x, int n);

    // (a_i, b_i) <- (c a_i + s b_i, c b_i - s a_i)
    void (*rotate)(double* a, double* b, double c, double s, int n);

    // P A = L U in place with row exchanges recorded in pivots (n). A pivot below `floor` in size
    // is replaced by +-floor: the caller refines. floor 0: a pivot of 0 is replaced by infinity, and its unknown is 0. Returns the
    // number of replaced pivots.
    int (*factor_lu)(double* A, int lda, int n, int* pivots, double floor);

    // L U x = P x, in place
    void (*solve_lu)(const double* A, int lda, const int* pivots, double* x, int n);

    // A_i -= f_i p for all rows i but `skip`: the elimination step of a tableau
    void (*eliminate)(double* A, int lda, int m, const double* f, const double* p, int skip, int n);
} ItmDense;

extern const ItmDense itm_dense_baseline;
#ifdef ITM_DENSE_HAS_AVX2
extern const ItmDense itm_dense_avx2;
extern const ItmDense itm_dense_avx512;
#endif

// The fastest variant for the processor we run on.
const ItmDense* itm_dense_choose(void);

#endif
