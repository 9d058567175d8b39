// Eigenvalues without symmetry and least-squares solutions: closed forms, and LAPACK as a second implementation.
#include "check.h"

#include "math/eigen_general.h"
#include "math/least_squares.h"

#include <complex.h>
#include <lapacke.h>

#define MOST 60

static double draw(unsigned* seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1.0;
}

// Largest distance of an eigenvalue to the nearest one of the other list that is not taken yet.
static double compare(const double* re, const double* im, const double* re_b, const double* im_b, int n)
{
    bool is_taken[MOST] = {false};
    double worst = 0.0;
    for (int i = 0; i < n; i++) {
        int best = ITM_NONE;
        double least = INFINITY;
        for (int j = 0; j < n; j++) {
            double distance = hypot(re[i] - re_b[j], im[i] - im_b[j]);
            if (!is_taken[j] && distance < least) {
                least = distance;
                best = j;
            }
        }
        is_taken[best] = true;
        worst = fmax(worst, least);
    }
    return worst;
}

static double compare_with_lapack(const double* A, int n)
{
    double B[MOST * MOST], C[MOST * MOST], re[MOST], im[MOST], re_b[MOST], im_b[MOST];
    memcpy(B, A, sizeof(double) * (size_t)(n * n));
    memcpy(C, A, sizeof(double) * (size_t)(n * n));
    assert_int_equal(itm_eigen_general(B, re, im, n), ITM_OK);
    assert_int_equal(LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'N', 'N', n, C, n, re_b, im_b, NULL, 1, NULL, 1), 0);
    return compare(re, im, re_b, im_b, n);
}

static void random_matrices_agree_with_lapack(void** state)
{
    (void)state;
    unsigned seed = 7;
    double A[MOST * MOST];
    for (int trial = 0; trial < 300; trial++) {
        int n = 1 + trial % MOST;
        for (int i = 0; i < n * n; i++) {
            A[i] = draw(&seed);
        }
        // eigenvalues of norm sqrt(n); the condition of a random one is some hundreds
        CHECK_NEAR(compare_with_lapack(A, n), 0, 1e-9);
    }
}

static void sparse_matrices_keep_their_power_sums(void** state)
{
    (void)state;
    unsigned seed = 11;
    double A[MOST * MOST], B[MOST * MOST], re[MOST], im[MOST];
    for (int trial = 0; trial < 200; trial++) {
        int n = 2 + trial % (MOST - 1);
        for (int i = 0; i < n * n; i++) {
            A[i] = B[i] = i % 7 != 0 ? 0.0 : draw(&seed);
        }
        assert_int_equal(itm_eigen_general(B, re, im, n), ITM_OK);
        // many of these fall apart and have defective zeros, which are only found to the root of rounding; sums are well
        // conditioned: tr A = sum lambda, tr A^2 = sum lambda^2
        double complex sums[2] = {0, 0};
        double traces[2] = {0, 0};
        for (int i = 0; i < n; i++) {
            double complex lambda = re[i] + I * im[i];
            sums[0] += lambda;
            sums[1] += lambda * lambda;
            traces[0] += A[i * n + i];
            for (int j = 0; j < n; j++) {
                traces[1] += A[i * n + j] * A[j * n + i];
            }
        }
        CHECK_NEAR(cabs(sums[0] - traces[0]), 0, 1e-12);
        CHECK_NEAR(cabs(sums[1] - traces[1]), 0, 1e-12);
    }
}

static void badly_scaled_matrices_keep_small_eigenvalues(void** state)
{
    (void)state;
    // D^-1 T D with a triangular T: eigenvalues 1 ... 6, entries from 1e-20 to 1e20
    double A[36] = {0}, re[6], im[6], zeros[6] = {0}, wanted[6];
    for (int i = 0; i < 6; i++) {
        wanted[i] = i + 1;
        for (int j = i; j < 6; j++) {
            A[i * 6 + j] = (i == j ? i + 1 : 1.0) * pow(1e4, i - j);
        }
    }
    assert_int_equal(itm_eigen_general(A, re, im, 6), ITM_OK);
    CHECK_NEAR(compare(re, im, wanted, zeros, 6), 0, 1e-13);
}

static void roots_of_unity_need_other_shifts(void** state)
{
    (void)state;
    for (int n = 2; n <= 24; n++) {
        double A[24 * 24] = {0}, re[24], im[24], re_b[24], im_b[24];
        for (int i = 0; i < n; i++) {
            A[i * n + (i + 1) % n] = 1.0;
            re_b[i] = cos(2.0 * acos(-1.0) * i / n);
            im_b[i] = sin(2.0 * acos(-1.0) * i / n);
        }
        assert_int_equal(itm_eigen_general(A, re, im, n), ITM_OK);
        CHECK_NEAR(compare(re, im, re_b, im_b, n), 0, 1e-13);
    }
}

// Eigenvalues that are close to each other are told apart by differences only.
static void nearly_equal_eigenvalues_are_found(void** state)
{
    (void)state;
    unsigned seed = 17;
    double A[MOST * MOST];
    for (int trial = 0; trial < 60; trial++) {
        int n = 3 + trial % 20;
        double spread = pow(10.0, -3.0 - trial % 12);
        for (int i = 0; i < n * n; i++) {
            A[i] = spread * draw(&seed) + (i % (n + 1) == 0 ? 1.0 : 0.0);
        }
        CHECK_NEAR(compare_with_lapack(A, n), 0, 1e-12 * n);  // rounding of the entries times the condition
    }
}

static void defective_and_trivial_matrices(void** state)
{
    (void)state;
    double re[8], im[8], jordan[64] = {0}, zero[16] = {0}, one = -3.5, bad[4] = {1, (double)NAN, 0, 1};
    for (int i = 0; i < 8; i++) {
        jordan[i * 9] = 2.0;
        if (i < 7) {
            jordan[i * 9 + 1] = 1.0;
        }
    }
    assert_int_equal(itm_eigen_general(jordan, re, im, 8), ITM_OK);
    for (int i = 0; i < 8; i++) {
        CHECK_NEAR(cabs(re[i] + I * im[i] - 2.0), 0, 1e-12);  // triangular already: exact
    }
    assert_int_equal(itm_eigen_general(zero, re, im, 4), ITM_OK);
    assert_true(re[0] == 0 && re[3] == 0);
    assert_int_equal(itm_eigen_general(&one, re, im, 1), ITM_OK);
    assert_true(re[0] == -3.5);
    assert_int_equal(itm_eigen_general(NULL, re, im, 0), ITM_OK);
    assert_int_equal(itm_eigen_general(bad, re, im, 2), ITM_ERR_NOT_FINITE);
}

static void least_squares_agree_with_lapack(void** state)
{
    (void)state;
    unsigned seed = 3;
    for (int trial = 0; trial < 200; trial++) {
        int m = 1 + trial % 11, n = 1 + trial / 11 % 9, rank = 1 + trial % 4;
        double A[99] = {0}, C[99], b[11], y[11] = {0}, x[9], singular[9], scratch[ITM_LEAST_SQUARES_SCRATCH(11, 11)];
        for (int k = 0; k < rank; k++) {
            double u[11], v[9];
            for (int i = 0; i < m; i++) {
                u[i] = draw(&seed);
            }
            for (int j = 0; j < n; j++) {
                v[j] = draw(&seed);
            }
            for (int i = 0; i < m * n; i++) {
                A[i] += u[i / n] * v[i % n];
            }
        }
        for (int i = 0; i < m; i++) {
            b[i] = y[i] = draw(&seed);
        }
        memcpy(C, A, sizeof C);
        lapack_int found = 0;
        assert_int_equal(LAPACKE_dgelsd(LAPACK_ROW_MAJOR, m, n, 1, C, n, y, 1, singular, 1e-10, &found), 0);
        assert_int_equal(itm_least_squares_solve(x, A, b, m, n, 1e-10, scratch), found);
        for (int j = 0; j < n; j++) {
            CHECK_NEAR(x[j], y[j],
                       1e-9 * fmax(1.0, 1.0 / singular[found - 1]));  // rounding over the smallest singular value
        }
    }
}

static void nothing_is_solved_by_nothing(void** state)
{
    (void)state;
    double zero[6] = {0}, b[3] = {1, 2, 3}, x[2] = {7, 7}, scratch[ITM_LEAST_SQUARES_SCRATCH(3, 2)];
    assert_int_equal(itm_least_squares_solve(x, zero, b, 3, 2, 1e-12, scratch), 0);
    assert_true(x[0] == 0 && x[1] == 0);
    zero[3] = (double)INFINITY;
    assert_int_equal(itm_least_squares_solve(x, zero, b, 3, 2, 1e-12, scratch), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_matrices_agree_with_lapack),
        cmocka_unit_test(sparse_matrices_keep_their_power_sums),
        cmocka_unit_test(badly_scaled_matrices_keep_small_eigenvalues),
        cmocka_unit_test(roots_of_unity_need_other_shifts),
        cmocka_unit_test(nearly_equal_eigenvalues_are_found),
        cmocka_unit_test(defective_and_trivial_matrices),
        cmocka_unit_test(least_squares_agree_with_lapack),
        cmocka_unit_test(nothing_is_solved_by_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
