#include "check.h"

#include "bench/mlcp_generator.h"
#include "math/dense.h"

enum { N = 77, LD = 80 };

static void fill_random(double* a, int count, uint64_t seed)
{
    for (int k = 0; k < count; k++) {
        a[k] = mlcp_random_between(&seed, -1.0, 1.0);
    }
}

// S = B B' + I with B random: eigenvalues from 1 to about 2 N / 3
static void fill_positive(double* S, uint64_t seed)
{
    static double B[N * N];
    fill_random(B, N * N, seed);
    memset(S, 0, N * LD * sizeof *S);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            double sum = i == j;
            for (int k = 0; k < N; k++) {
                sum += B[i * N + k] * B[j * N + k];
            }
            S[i * LD + j] = sum;
        }
    }
}

static void cholesky_solves_to_rounding(void** state)
{
    (void)state;
    static double S[N * LD], U[N * LD], x[LD], y[LD];
    fill_positive(S, 1);
    memcpy(U, S, sizeof S);
    fill_random(x, N, 2);
    for (int i = 0; i < N; i++) {
        y[i] = 0.0;
        for (int j = 0; j < N; j++) {
            y[i] += S[i * LD + j] * x[j];
        }
    }
    assert_int_equal(itm_dense_baseline.factor_cholesky(U, LD, N, 0.0), N);
    itm_dense_baseline.solve_cholesky(U, LD, y, N);
    for (int i = 0; i < N; i++) {
        CHECK_NEAR(y[i], x[i],
                   1e-12);  // condition 2 N / 3 times N roundings, 77 * 50 * 1.1e-16 = 4e-13
    }
}

// Four rows and four unknowns at a time: all sizes of the rest, and of the panel behind
static void cholesky_solves_at_all_sizes(void** state)
{
    (void)state;
    static double S[N * LD], U[N * LD], x[LD], y[LD], z[LD], inv_u[N];
    fill_positive(S, 1);
    fill_random(x, N, 2);
    for (int n = 1; n <= 45; n++) {
        memset(U, 0, sizeof U);
        for (int i = 0; i < n; i++) {
            memcpy(U + (size_t)i * LD, S + (size_t)i * LD, (size_t)n * sizeof(double));
        }
        itm_dense_baseline.multiply_rows(y, S, LD, x, NULL, n, n);
        assert_int_equal(itm_dense_baseline.factor_cholesky(U, LD, n, 0.0), n);
        memset(z, 0, sizeof z);
        for (int i = 0; i < n; i++) {
            z[i] = y[i];
            inv_u[i] = 1.0 / U[i * LD + i];
            memset(U + i * LD + n, 0, (size_t)(LD - n) * sizeof(double));
        }
        itm_dense_baseline.solve_cholesky(U, LD, y, n);
        itm_dense_baseline.solve_inverse(U, LD, inv_u, z, n);
        for (int i = 0; i < n; i++) {
            CHECK_NEAR(y[i], x[i], 1e-12);  // as above
            CHECK_NEAR(z[i], x[i], 1e-12);
        }
    }
}

static void cholesky_names_the_first_pivot_that_is_not_positive(void** state)
{
    (void)state;
    static double S[N * LD];
    fill_positive(S, 1);
    for (int j = 0; j < N; j++) {
        S[60 * LD + j] = S[j * LD + 60] = 0.0;  // a row that nothing moves
    }
    assert_int_equal(itm_dense_baseline.factor_cholesky(S, LD, N, 1e-12), 60);
}

// A band of varying width: what fill_positive makes, cut off, with a diagonal that keeps it positive.
static void fill_band(double* S, int* first, int* end, uint64_t seed)
{
    fill_positive(S, seed);
    for (int i = 0; i < N; i++) {
        first[i] = i > 3 + i % 5 ? i - 3 - i % 5 : 0;
    }
    for (int j = N - 1; j >= 0; j--) {
        end[j] = j + 1;
        for (int i = j; i < N; i++) {
            end[j] = first[i] <= j ? i + 1 : end[j];
        }
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < LD; j++) {
            bool is_in = j < N && (j <= i ? j >= first[i] : j < end[i] && i >= first[j]);
            S[i * LD + j] = is_in ? S[i * LD + j] : 0.0;
        }
        S[i * LD + i] += 100.0;
    }
}

// Sums over the groups of four columns that are not zero have the bits of those over whole rows; the copy without scales is exact.
static void groups_leave_out_zeros_only(void** state)
{
    (void)state;
    static double S[N * LD], A[N * N], B[N * LD], x[LD], y[2][LD], w[LD], z[LD], one[LD], lo[N], up[N];
    static int first[N], end[N], group[N * (LD / 4)], ngroup[N];
    fill_band(S, first, end, 7);
    fill_random(x, N, 8);
    for (int i = 0; i < N; i++) {
        one[i] = up[i] = 1.0;
        lo[i] = 0.0;
        memcpy(A + (size_t)i * N, S + (size_t)i * LD, N * sizeof(double));
    }
    assert_true(itm_dense_baseline.scale(B, LD, A, one, N, group, ngroup, false));
    assert_memory_equal(B, S, sizeof S);
    itm_dense_baseline.multiply_rows(y[0], B, LD, x, NULL, N, LD);
    itm_dense_baseline.multiply_groups(y[1], B, LD, x, NULL, N, group, ngroup);
    assert_memory_equal(y[0], y[1], N * sizeof(double));
    // w follows x
    memcpy(z, x, sizeof x);
    itm_dense_baseline.sweep(z, y[0], B, LD, group, ngroup, one, lo, up, 1e-3, N);
    itm_dense_baseline.multiply_rows(w, B, LD, z, NULL, N, LD);
    for (int i = 0; i < N; i++) {
        assert_true(z[i] >= lo[i] && z[i] <= up[i]);
        CHECK_NEAR(y[0][i], w[i] + 1e-3 * (z[i] - x[i]), 1e-12);  // numbers below 200, ten roundings a row
    }
    A[5 * N + 70] = (double)INFINITY;
    assert_false(itm_dense_baseline.scale(B, LD, A, one, N, group, ngroup, false));
}

// In the place of another matrix, whose groups are known, the numbers and groups are those of a copy into any memory.
static void copy_in_place_of_a_sparse_matrix_is_the_same(void** state)
{
    (void)state;
    static double S[N * LD], A[N * N], B[2][N * LD], scales[LD];
    static int first[N], end[N], group[2][N * (LD / 4)], ngroup[2][N];
    const ItmDense* dense = itm_dense_choose();
    for (int i = 0; i < N; i++) {
        scales[i] = i % 3 == 0 ? 2.0 : 0.5;
    }
    for (int seed = 7; seed < 12; seed++) {
        fill_band(S, first, end, (uint64_t)seed);
        for (int i = 0; i < N; i++) {
            memcpy(A + (size_t)i * N, S + (size_t)i * LD, N * sizeof(double));
        }
        assert_true(dense->scale(B[0], LD, A, scales, N, group[0], ngroup[0], false));
        assert_true(dense->scale(B[1], LD, A, scales, N, group[1], ngroup[1], seed > 7));
        assert_memory_equal(B[0], B[1], sizeof B[0]);
        assert_memory_equal(ngroup[0], ngroup[1], sizeof ngroup[0]);
        for (int i = 0; i < N; i++) {
            assert_memory_equal(group[0] + i * (LD / 4), group[1] + i * (LD / 4), (size_t)ngroup[0][i] * sizeof(int));
        }
    }
    A[5 * N + 70] = (double)NAN;
    assert_false(dense->scale(B[1], LD, A, scales, N, group[1], ngroup[1], true));
    A[5 * N + 70] = 0.0;
    assert_true(dense->scale(B[1], LD, A, scales, N, group[1], ngroup[1], true));
    assert_true(dense->scale(B[0], LD, A, scales, N, group[0], ngroup[0], false));
    assert_memory_equal(B[0], B[1], sizeof B[0]);
}

static void kernels_of_a_band_agree_with_those_of_the_whole_matrix(void** state)
{
    (void)state;
    static double S[N * LD], U[N * LD], x[LD], y[LD], inv_u[N];
    static int first[N], end[N], ends[N];
    fill_band(S, first, end, 7);
    fill_random(x, N, 8);
    itm_dense_baseline.multiply_rows(y, S, LD, x, NULL, N, LD);
    for (int i = 0; i < N; i++) {
        ends[i] = i > 0 && ends[i - 1] > end[i] ? ends[i - 1] : end[i];
    }
    memcpy(U, S, sizeof S);
    assert_int_equal(itm_dense_baseline.factor_band(U, LD, ends, inv_u, N, 0.0), N);
    itm_dense_baseline.solve_band(U, LD, ends, inv_u, y, N);
    for (int i = 0; i < N; i++) {
        CHECK_NEAR(y[i], x[i], 1e-14);  // condition below 3, ten roundings a row
    }
    S[60 * LD + 60] = -1.0;
    assert_int_equal(itm_dense_baseline.factor_band(S, LD, ends, inv_u, N, 0.0), 60);
}

static void lu_solves_and_counts_replaced_pivots(void** state)
{
    (void)state;
    static double A[N * LD], F[N * LD], x[LD], y[LD];
    static int pivots[N];
    fill_positive(A, 3);
    for (int i = 0; i < N; i++) {
        A[i * LD + (i * 7) % N] -= 30.0;  // far from symmetric
    }
    memcpy(F, A, sizeof A);
    fill_random(x, N, 4);
    itm_dense_baseline.multiply_rows(y, A, LD, x, NULL, N, N);
    assert_int_equal(itm_dense_baseline.factor_lu(F, LD, N, pivots, 1e-14), 0);
    itm_dense_baseline.solve_lu(F, LD, pivots, y, N);
    for (int i = 0; i < N; i++) {
        CHECK_NEAR(y[i], x[i], 1e-10);  // condition below 1e4
    }
    // four unknowns at a time: all sizes of the rest
    for (int n = 1; n < 12; n++) {
        memcpy(F, A, sizeof A);
        itm_dense_baseline.multiply_rows(y, A, LD, x, NULL, n, n);
        assert_int_equal(itm_dense_baseline.factor_lu(F, LD, n, pivots, 1e-14), 0);
        itm_dense_baseline.solve_lu(F, LD, pivots, y, n);
        for (int i = 0; i < n; i++) {
            CHECK_NEAR(y[i], x[i], 1e-12);  // condition below 100
        }
    }
    memset(A, 0, sizeof A);
    assert_int_equal(itm_dense_baseline.factor_lu(A, LD, N, pivots, 1e-14), N);
}

#ifdef ITM_DENSE_HAS_AVX2
static void compare_with_baseline(const ItmDense* other)
{
    const ItmDense* variants[2] = {&itm_dense_baseline, other};
    static double S[2][N * LD], x[2][LD], y[2][LD], L[2][N * LD];
    static double z[2][LD], inv_u[N], A[N * N], B[2][N * LD], scales[LD], bounds[2][N];
    static int pivots[2][N], first[N], end[N], group[2][N * (LD / 4)], ngroup[2][N];
    memset(x, 0, sizeof x);
    memset(y, 0, sizeof y);
    memset(z, 0, sizeof z);
    memset(S, 0, sizeof S);
    for (int i = 0; i < N; i++) {
        scales[i] = i % 3 == 0 ? 0.5 : 0.0625;
        bounds[0][i] = -1.0;
        bounds[1][i] = 1.0;
    }
    for (int k = 0; k < 2; k++) {
        const ItmDense* dense = variants[k];
        fill_positive(S[k], 5);
        fill_random(x[k], N, 6);
        dense->multiply_rows(y[k], S[k], LD, x[k], NULL, N, N);
        y[k][0] = dense->dot(x[k], y[k], N);
        memcpy(L[k], S[k], sizeof S[k]);
        dense->factor_lu(L[k], LD, N, pivots[k], 1e-14);
        dense->solve_lu(L[k], LD, pivots[k], y[k], N);
        dense->factor_cholesky(S[k], LD, N, 0.0);
        dense->solve_cholesky(S[k], LD, y[k], N);
        for (int i = 0; i < N; i++) {
            inv_u[i] = 1.0 / S[k][i * LD + i];
            for (int j = N; j < LD; j++) {
                S[k][i * LD + j] = 0.0;
            }
        }
        dense->solve_inverse(S[k], LD, inv_u, y[k], N);
        dense->rotate(x[k], y[k], 0.6, 0.8, N);
        fill_band(S[k], first, end, 7);
        for (int i = 0; i < N; i++) {
            memcpy(A + (size_t)i * N, S[k] + (size_t)i * LD, N * sizeof(double));
        }
        assert_true(dense->scale(B[k], LD, A, scales, N, group[k], ngroup[k], false));
        dense->multiply_groups(z[k], B[k], LD, x[k], NULL, N, group[k], ngroup[k]);
        dense->sweep(z[k], x[k], B[k], LD, group[k], ngroup[k], scales, bounds[0], bounds[1], 1e-3, N);
        for (int i = 1; i < N; i++) {
            end[i] = end[i] < end[i - 1] ? end[i - 1] : end[i];
        }
        dense->factor_band(S[k], LD, end, inv_u, N, 0.0);
        dense->solve_band(S[k], LD, end, inv_u, z[k], N);
    }
    assert_memory_equal(x[0], x[1], N * sizeof(double));
    assert_memory_equal(y[0], y[1], N * sizeof(double));
    assert_memory_equal(L[0], L[1], sizeof L[0]);
    assert_memory_equal(z[0], z[1], N * sizeof(double));
    assert_memory_equal(B[0], B[1], sizeof B[0]);
    assert_memory_equal(ngroup[0], ngroup[1], sizeof ngroup[0]);
}
#endif

static void all_variants_give_the_same_bits(void** state)
{
    (void)state;
#ifdef ITM_DENSE_HAS_AVX2
    if (itm_dense_choose() == &itm_dense_baseline) {
        SKIP("this processor has no AVX2");
    }
    compare_with_baseline(&itm_dense_avx2);
    if (itm_dense_choose() == &itm_dense_avx512) {
        compare_with_baseline(&itm_dense_avx512);
    }
#else
    SKIP("there is one variant only on this processor");
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cholesky_solves_to_rounding),
        cmocka_unit_test(cholesky_solves_at_all_sizes),
        cmocka_unit_test(cholesky_names_the_first_pivot_that_is_not_positive),
        cmocka_unit_test(groups_leave_out_zeros_only),
        cmocka_unit_test(copy_in_place_of_a_sparse_matrix_is_the_same),
        cmocka_unit_test(kernels_of_a_band_agree_with_those_of_the_whole_matrix),
        cmocka_unit_test(lu_solves_and_counts_replaced_pivots),
        cmocka_unit_test(all_variants_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
