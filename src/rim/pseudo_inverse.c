#include "rim/pseudo_inverse.h"

#include "math/eigen.h"

#include <math.h>
#include <string.h>

#define RANK_TOLERANCE 1e-12  // eigenvalues of the scaled matrix below this are none

int itm_pseudo_invert(double* out, const double* A, int n, double* scratch)
{
    double *V = scratch, *e = V + n * n, *scale = e + n, *work = scale + n;
    for (int i = 0; i < n; i++) {
        double diagonal = A[i * (n + 1)];
        scale[i] = diagonal > 0.0 ? 1.0 / sqrt(diagonal) : 0.0;
    }
    for (int i = 0; i < n * n; i++) {
        V[i] = A[i] * scale[i / n] * scale[i % n];
    }
    if (itm_eigen_symmetric_in(V, e, n, work) != ITM_OK) {
        return -1;
    }
    memset(out, 0, sizeof(double) * (size_t)(n * n));
    int rank = 0;
    for (int k = 0; k < n; k++) {
        if (!(e[k] > RANK_TOLERANCE * e[n - 1])) {
            continue;
        }
        rank++;
        for (int i = 0; i < n * n; i++) {
            out[i] += scale[i / n] * V[k * n + i / n] * V[k * n + i % n] * scale[i % n] / e[k];
        }
    }
    return rank;
}
