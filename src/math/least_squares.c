// Singular values by Hestenes' one-sided Jacobi rotations: orthogonal columns U = B V, B the matrix or its transpose with at
// least as many rows as columns. It finds small singular values to a relative accuracy that a two-sided reduction does not.
#include "math/least_squares.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MOST_SWEEPS 60

// U and V by columns: k columns of m and of k reals.
typedef struct Factors {
    double* U;  // (k x m)
    double* V;  // (k x k)
    int m, k;
} Factors;

static double dot(const double* a, const double* b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static void rotate(double* a, double* b, int n, double c, double s)
{
    for (int i = 0; i < n; i++) {
        double x = a[i], y = b[i];
        a[i] = c * x - s * y;
        b[i] = s * x + c * y;
    }
}

// Make columns p and q orthogonal; false if they are.
static bool orthogonalise(const Factors* f, int p, int q)
{
    double *a = f->U + p * f->m, *b = f->U + q * f->m;
    double aa = dot(a, a, f->m), bb = dot(b, b, f->m), ab = dot(a, b, f->m);
    if (fabs(ab) <= DBL_EPSILON * sqrt(aa * bb) || ab == 0.0) {
        return false;
    }
    double zeta = (bb - aa) / (2.0 * ab);
    double t = (zeta >= 0.0 ? 1.0 : -1.0) / (fabs(zeta) + hypot(1.0, zeta));
    double c = 1.0 / hypot(1.0, t);
    rotate(a, b, f->m, c, c * t);
    rotate(f->V + p * f->k, f->V + q * f->k, f->k, c, c * t);
    return true;
}

static bool factor(const Factors* f)
{
    for (int sweep = 0; sweep < MOST_SWEEPS; sweep++) {
        bool has_rotated = false;
        for (int p = 0; p < f->k; p++) {
            for (int q = p + 1; q < f->k; q++) {
                has_rotated = orthogonalise(f, p, q) || has_rotated;
            }
        }
        if (!has_rotated) {
            return true;
        }
    }
    return false;
}

int itm_least_squares_solve(double* x, const double* A, const double* b, int nrow, int ncol, double tolerance,
                            double* scratch)
{
    bool is_tall = nrow >= ncol;
    Factors f = {.m = is_tall ? nrow : ncol, .k = is_tall ? ncol : nrow};
    double* sigma = scratch;
    f.U = sigma + f.k;
    f.V = f.U + f.k * f.m;
    memset(f.V, 0, sizeof(double) * (size_t)f.k * (size_t)f.k);
    for (int j = 0; j < f.k; j++) {
        f.V[j * f.k + j] = 1.0;
        for (int i = 0; i < f.m; i++) {
            f.U[j * f.m + i] = is_tall ? A[i * ncol + j] : A[j * ncol + i];
            if (!isfinite(f.U[j * f.m + i])) {
                return -1;
            }
        }
    }
    if (!factor(&f)) {
        return -1;
    }
    double largest = 0.0;
    for (int j = 0; j < f.k; j++) {
        sigma[j] = sqrt(dot(f.U + j * f.m, f.U + j * f.m, f.m));
        largest = fmax(largest, sigma[j]);
    }
    // x = sum of v_j (u_j . b) / sigma_j^2, u_j of length sigma_j; where the transpose was factored, u_j (v_j . b) / sigma_j^2
    memset(x, 0, sizeof(double) * (size_t)ncol);
    int rank = 0;
    for (int j = 0; j < f.k; j++) {
        const double *u = f.U + j * f.m, *v = f.V + j * f.k;
        if (!(sigma[j] > tolerance * largest)) {
            continue;
        }
        rank++;
        double share = (is_tall ? dot(u, b, f.m) : dot(v, b, f.k)) / (sigma[j] * sigma[j]);
        for (int i = 0; i < ncol; i++) {
            x[i] += share * (is_tall ? v[i] : u[i]);
        }
    }
    return rank;
}
