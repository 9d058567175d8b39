#include "math/pseudo_inverse.h"

#include "math/eigen.h"

#include <math.h>
#include <string.h>

#define RANK_TOLERANCE                                                                                                 \
    1e-12  // eigenvalues of the scaled matrix below this are none, nor are diagonals below this of free ones

int itm_pseudo_inverse_compute(double* out, const double* A, const double* A_free, int n, double* scratch)
{
    double *V = scratch, *e = V + n * n, *scale = e + n, *work = scale + n;
    for (int i = 0; i < n; i++) {
        double diagonal = A[i * (n + 1)], least = A_free != NULL ? RANK_TOLERANCE * A_free[i] : 0.0;
        scale[i] = diagonal > least ? 1.0 / sqrt(diagonal) : 0.0;
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
