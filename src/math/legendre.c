#include "math/legendre.h"

#include "math/vec.h"

double itm_legendre_compute(const double* a, int n, double s)
{
    // (k + 1) P_k+1 = (2 k + 1) s P_k - k P_k-1
    double sum = 0.0, P = 1.0, P_prev = 0.0;
    for (int k = 0; k < n; k++) {
        sum += a[k] * P;
        double next = ((2 * k + 1) * s * P - k * P_prev) / (k + 1);
        P_prev = P;
        P = next;
    }
    return sum;
}

void itm_legendre_integrate(double* F, const double* a, int n, double length)
{
    // integral of P_k from -1: (P_k+1 - P_k-1) / (2 k + 1), of P_0: P_1 + P_0;  dx = length / 2 ds
    for (int k = 0; k <= n; k++) {
        F[k] = 0.0;
    }
    for (int k = 0; k < n; k++) {
        double c = 0.5 * length * a[k] / (2 * k + 1);
        F[k + 1] += c;
        F[k > 0 ? k - 1 : 0] += k > 0 ? -c : c;
    }
}

// P_n and its derivative at s, |s| < 1
static void compute_last(int n, double s, double* P, double* dP)
{
    double prev = 0.0;
    *P = 1.0;
    for (int k = 0; k < n; k++) {
        double next = ((2 * k + 1) * s * *P - k * prev) / (k + 1);
        prev = *P;
        *P = next;
    }
    *dP = n * (prev - s * *P) / (1.0 - s * s);
}

void itm_legendre_gauss(double* s, double* w, int n)
{
    for (int i = 0; i < n; i++) {
        // Newton from the Chebyshev-like guess: converges quadratically, 1e-16 after at most five
        double x = cos(ITM_PI * (i + 0.75) / (n + 0.5)), P, dP;
        for (int k = 0; k < 8; k++) {
            compute_last(n, x, &P, &dP);
            x -= P / dP;
        }
        compute_last(n, x, &P, &dP);
        s[i] = x;
        w[i] = 2.0 / ((1.0 - x * x) * dP * dP);
    }
}
