// Householder's reduction to a tridiagonal matrix, then the QL algorithm with implicit shifts (Martin, Reinsch and Wilkinson
// 1968; Parlett, The Symmetric Eigenvalue Problem, ch. 7-8). Our own and not LAPACK's, because results must not depend on
// the number of threads that a BLAS takes, and OpenBLAS wakes threads for matrices of six rows: joined mechanisms took twice the
// time for it, ten times on a busy machine.
#include "math/eigen.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SWEEPS 60  // of QL for one eigenvalue; two or three are usual

// ---------------------------------------------------------------------------- tridiagonal form

// A <- Q with Q' A Q tridiagonal: diagonal d, below it e (e[0] unused). Rows are eliminated from the last, each by a
// reflection I - u u' / h, whose u stays in the row.
static void reduce(double* A, double* d, double* e, int n)
{
    for (int i = n - 1; i > 0; i--) {
        double *u = A + (size_t)i * (size_t)n, scale = 0.0, h = 0.0;
        for (int k = 0; k < i; k++) {
            scale += fabs(u[k]);
        }
        if (i == 1 || scale == 0.0) {
            e[i] = u[i - 1];
            d[i] = 0.0;
            continue;
        }
        for (int k = 0; k < i; k++) {
            u[k] /= scale;
            h += u[k] * u[k];
        }
        double f = u[i - 1], g = f >= 0.0 ? -sqrt(h) : sqrt(h);
        e[i] = scale * g;
        h -= f * g;
        u[i - 1] = f - g;
        // p = A u / h, K = u' p / 2h, q = p - K u, A <- A - q u' - u q'
        double K = 0.0;
        for (int j = 0; j < i; j++) {
            const double* a = A + (size_t)j * (size_t)n;
            A[(size_t)j * (size_t)n + (size_t)i] = u[j] / h;
            double sum = 0.0;
            for (int k = 0; k <= j; k++) {
                sum += a[k] * u[k];
            }
            for (int k = j + 1; k < i; k++) {
                sum += A[(size_t)k * (size_t)n + (size_t)j] * u[k];
            }
            e[j] = sum / h;
            K += e[j] * u[j];
        }
        K /= h + h;
        for (int j = 0; j < i; j++) {
            double* a = A + (size_t)j * (size_t)n;
            e[j] -= K * u[j];
            for (int k = 0; k <= j; k++) {
                a[k] -= u[j] * e[k] + e[j] * u[k];
            }
        }
        d[i] = h;
    }
    d[0] = e[0] = 0.0;
}

// The product of the reflections, in place of them.
static void accumulate(double* A, double* d, int n)
{
    for (int i = 0; i < n; i++) {
        double* u = A + (size_t)i * (size_t)n;
        for (int j = 0; d[i] != 0.0 && j < i; j++) {
            double sum = 0.0;
            for (int k = 0; k < i; k++) {
                sum += u[k] * A[(size_t)k * (size_t)n + (size_t)j];
            }
            for (int k = 0; k < i; k++) {
                A[(size_t)k * (size_t)n + (size_t)j] -= sum * A[(size_t)k * (size_t)n + (size_t)i];
            }
        }
        d[i] = u[i];
        u[i] = 1.0;
        for (int j = 0; j < i; j++) {
            u[j] = A[(size_t)j * (size_t)n + (size_t)i] = 0.0;
        }
    }
}

// ---------------------------------------------------------------------------- QL

// Eigenvalues d of the tridiagonal matrix; the rows of Z (columns of Q) turn with it.
static ItmStatus iterate(double* Z, double* d, double* e, int n)
{
    for (int i = 1; i < n; i++) {
        e[i - 1] = e[i];
    }
    e[n - 1] = 0.0;
    for (int l = 0; l < n; l++) {
        for (int sweep = 0;; sweep++) {
            int m = l;
            while (m < n - 1 && !(fabs(e[m]) <= DBL_EPSILON * (fabs(d[m]) + fabs(d[m + 1])))) {
                m++;
            }
            if (m == l) {
                break;
            }
            if (sweep == MOST_SWEEPS) {
                return ITM_ERR_DIVERGED;
            }
            double g = (d[l + 1] - d[l]) / (2.0 * e[l]), r = hypot(g, 1.0);
            g = d[m] - d[l] + e[l] / (g + (g >= 0.0 ? r : -r));
            double s = 1.0, c = 1.0, p = 0.0;
            int i = m - 1;
            for (; i >= l; i--) {
                double f = s * e[i], b = c * e[i];
                r = hypot(f, g);
                e[i + 1] = r;
                if (r == 0.0) {
                    d[i + 1] -= p;
                    e[m] = 0.0;
                    break;
                }
                s = f / r;
                c = g / r;
                g = d[i + 1] - p;
                r = (d[i] - g) * s + 2.0 * c * b;
                p = s * r;
                d[i + 1] = g + p;
                g = c * r - b;
                double *z = Z + (size_t)i * (size_t)n, *y = z + n;
                for (int k = 0; k < n; k++) {
                    double t = y[k];
                    y[k] = s * z[k] + c * t;
                    z[k] = c * z[k] - s * t;
                }
            }
            if (r == 0.0 && i >= l) {
                continue;
            }
            d[l] -= p;
            e[l] = g;
            e[m] = 0.0;
        }
    }
    return ITM_OK;
}

static void swap_rows(double* A, int i, int j, int n)
{
    for (int k = 0; k < n; k++) {
        double t = A[(size_t)i * (size_t)n + (size_t)k];
        A[(size_t)i * (size_t)n + (size_t)k] = A[(size_t)j * (size_t)n + (size_t)k];
        A[(size_t)j * (size_t)n + (size_t)k] = t;
    }
}

static void sort(double* Z, double* mu, int n)
{
    for (int i = 0; i < n; i++) {
        int least = i;
        for (int j = i + 1; j < n; j++) {
            least = mu[j] < mu[least] ? j : least;
        }
        if (least != i) {
            double t = mu[i];
            mu[i] = mu[least];
            mu[least] = t;
            swap_rows(Z, i, least, n);
        }
    }
}

static void transpose(double* A, int n)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            double t = A[(size_t)i * (size_t)n + (size_t)j];
            A[(size_t)i * (size_t)n + (size_t)j] = A[(size_t)j * (size_t)n + (size_t)i];
            A[(size_t)j * (size_t)n + (size_t)i] = t;
        }
    }
}

ItmStatus itm_eigen_symmetric_in(double* A, double* mu, int n, double* scratch)
{
    if (n == 0) {
        return ITM_OK;
    }
    reduce(A, mu, scratch, n);
    accumulate(A, mu, n);
    transpose(A, n);
    ItmStatus status = iterate(A, mu, scratch, n);
    sort(A, mu, n);
    for (int i = 0; i < n; i++) {
        status = isfinite(mu[i]) ? status : ITM_ERR_NOT_FINITE;
    }
    return status;
}

ItmStatus itm_eigen_symmetric(double* A, double* mu, int n)
{
    double* e = malloc(sizeof(double) * ((size_t)n + 1));
    ItmStatus status = e != NULL ? itm_eigen_symmetric_in(A, mu, n, e) : ITM_ERR_MEMORY;
    free(e);
    return status;
}

// ---------------------------------------------------------------------------- two matrices

// B = L L' in its lower half; false where it is not positive definite.
static bool factor(double* B, int n)
{
    for (int j = 0; j < n; j++) {
        double* b_j = B + (size_t)j * (size_t)n;
        for (int i = j; i < n; i++) {
            double *b_i = B + (size_t)i * (size_t)n, sum = b_i[j];
            for (int k = 0; k < j; k++) {
                sum -= b_i[k] * b_j[k];
            }
            if (i == j && !(sum > 0.0)) {
                return false;
            }
            b_i[j] = i == j ? sqrt(sum) : sum / b_j[j];
        }
    }
    return true;
}

// x <- L^-1 x
static void solve_lower(const double* L, double* x, int n)
{
    for (int i = 0; i < n; i++) {
        double sum = x[i];
        for (int k = 0; k < i; k++) {
            sum -= L[(size_t)i * (size_t)n + (size_t)k] * x[k];
        }
        x[i] = sum / L[(size_t)i * (size_t)n + (size_t)i];
    }
}

// x <- L^-T x
static void solve_upper(const double* L, double* x, int n)
{
    for (int i = n - 1; i >= 0; i--) {
        x[i] /= L[(size_t)i * (size_t)n + (size_t)i];
        for (int k = 0; k < i; k++) {
            x[k] -= L[(size_t)i * (size_t)n + (size_t)k] * x[i];
        }
    }
}

ItmStatus itm_eigen_generalized(double* A, double* B, double* mu, int n)
{
    if (!factor(B, n)) {
        return ITM_ERR_INPUT;
    }
    // C = L^-1 A L^-T: rows, then rows of the transpose
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < n; i++) {
            solve_lower(B, A + (size_t)i * (size_t)n, n);
        }
        transpose(A, n);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            double mean = 0.5 * (A[(size_t)i * (size_t)n + (size_t)j] + A[(size_t)j * (size_t)n + (size_t)i]);
            A[(size_t)i * (size_t)n + (size_t)j] = A[(size_t)j * (size_t)n + (size_t)i] = mean;
        }
    }
    ItmStatus status = itm_eigen_symmetric(A, mu, n);
    for (int i = 0; status == ITM_OK && i < n; i++) {
        solve_upper(B, A + (size_t)i * (size_t)n, n);
    }
    return status;
}
