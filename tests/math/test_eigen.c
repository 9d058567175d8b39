// Eigenvalues of symmetric matrices: definitions, a closed form, and hard cases.
#include "check.h"

#include "math/eigen.h"

static double* make_random(int n, unsigned seed)
{
    double* A = calloc((size_t)(n * n), sizeof(double));
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            seed = seed * 1664525u + 1013904223u;
            A[i * n + j] = A[j * n + i] = (double)(seed >> 8) / 8388608.0 - 1.0;
        }
    }
    return A;
}

// |A z - mu B z| and |z_i' B z_j - delta|, the largest. B NULL: the identity.
static double compute_residual(const double* A, const double* B, const double* Z, const double* mu, int n)
{
    double worst = 0.0;
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < n; i++) {
            double sum = 0.0, scalar = 0.0;
            for (int j = 0; j < n; j++) {
                double b_ij = B != NULL ? B[i * n + j] : i == j;
                sum += (A[i * n + j] - mu[k] * b_ij) * Z[k * n + j];
                for (int l = 0; l < n && B != NULL; l++) {
                    scalar += Z[k * n + j] * B[j * n + l] * Z[i * n + l];
                }
                scalar += B == NULL ? Z[k * n + j] * Z[i * n + j] : 0.0;
            }
            worst = fmax(worst, fmax(fabs(sum), fabs(scalar - (i == k))));
        }
        assert_true(k == 0 || mu[k] >= mu[k - 1]);
    }
    return worst;
}

static void eigenvectors_satisfy_their_definition(void** state)
{
    (void)state;
    for (int n = 1; n <= 40; n += 3) {
        double *A = make_random(n, (unsigned)n), *Z = make_random(n, (unsigned)n),
               *mu = calloc((size_t)n, sizeof(double));
        assert_int_equal(itm_eigen_symmetric(Z, mu, n), ITM_OK);
        // rounding: some n eps
        CHECK_NEAR(compute_residual(A, NULL, Z, mu, n), 0.0, 1e-13);
        free(A);
        free(Z);
        free(mu);
    }
}

static void two_matrices_are_diagonal_together(void** state)
{
    (void)state;
    for (int n = 1; n <= 25; n += 4) {
        double *A = make_random(n, (unsigned)n), *Z = make_random(n, (unsigned)n), *B = make_random(n, 77u);
        double *mu = calloc((size_t)n, sizeof(double)), *copy = calloc((size_t)(n * n), sizeof(double));
        for (int i = 0; i < n; i++) {
            B[i * (n + 1)] += 2.0 * n;
        }
        memcpy(copy, B, sizeof(double) * (size_t)(n * n));
        assert_int_equal(itm_eigen_generalized(Z, copy, mu, n), ITM_OK);
        CHECK_NEAR(compute_residual(A, B, Z, mu, n), 0.0, 1e-12);
        free(A);
        free(Z);
        free(B);
        free(copy);
        free(mu);
    }
}

// Second differences: 2 - 2 cos(k pi / (n + 1)).
static void chain_of_springs_has_its_closed_form(void** state)
{
    (void)state;
    enum { N = 50 };
    double A[N * N] = {0}, mu[N];
    for (int i = 0; i < N; i++) {
        A[i * (N + 1)] = 2.0;
        if (i > 0) {
            A[i * N + i - 1] = A[(i - 1) * N + i] = -1.0;
        }
    }
    assert_int_equal(itm_eigen_symmetric(A, mu, N), ITM_OK);
    for (int k = 0; k < N; k++) {
        CHECK_NEAR(mu[k], 2.0 - 2.0 * cos((k + 1) * 3.14159265358979323846 / (N + 1)), 1e-14);
    }
}

static void hard_cases_are_solved(void** state)
{
    (void)state;
    double zero[9] = {0}, ones[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1},
           graded[9] = {1e-20, 1e-10, 0, 1e-10, 1, 1e-3, 0, 1e-3, 1e10}, mu[3];
    assert_int_equal(itm_eigen_symmetric(zero, mu, 3), ITM_OK);
    assert_true(mu[0] == 0.0 && mu[2] == 0.0);
    assert_int_equal(itm_eigen_symmetric(ones, mu, 3), ITM_OK);
    CHECK_NEAR(mu[2], 3.0, 1e-15);
    CHECK_NEAR(mu[0], 0.0, 1e-15);
    assert_int_equal(itm_eigen_symmetric(graded, mu, 3), ITM_OK);
    CHECK_NEAR(mu[2] / 1e10, 1.0, 1e-15);
    CHECK_NEAR(mu[1], 1.0, 1e-5);
    double A[4] = {1, 0, 0, 1}, B[4] = {1, 2, 2, 1};
    assert_int_equal(itm_eigen_generalized(A, B, mu, 2), ITM_ERR_INPUT);
    assert_int_equal(itm_eigen_symmetric(A, mu, 0), ITM_OK);
    double infinite[4] = {1, INFINITY, INFINITY, 1}, nan[4] = {1, NAN, NAN, 1};
    assert_int_equal(itm_eigen_symmetric(infinite, mu, 2), ITM_ERR_NOT_FINITE);
    assert_int_equal(itm_eigen_symmetric(nan, mu, 2), ITM_ERR_NOT_FINITE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eigenvectors_satisfy_their_definition),
        cmocka_unit_test(two_matrices_are_diagonal_together),
        cmocka_unit_test(chain_of_springs_has_its_closed_form),
        cmocka_unit_test(hard_cases_are_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
