// Looking at a RIM: its spectrum.
#include "rim/rim.h"

#include "math/eigen.h"

#include <math.h>
#include <string.h>

#define RANK_TOLERANCE 1e-12

bool itm_rim_compute_spectrum(const double* W, const double* mobility_free, int n, ItmRimSpectrum* spectrum,
                              double* value, double* vector, double* M_eff, double* scratch)
{
    double *V = scratch, *e = V + n * n, *work = e + n;
    *spectrum = (ItmRimSpectrum){.condition = 1.0};
    if (n == 0) {
        return true;
    }
    memcpy(V, W, sizeof(double) * (size_t)(n * n));
    if (itm_eigen_symmetric_in(V, e, n, work) != ITM_OK) {
        return false;
    }
    double most = e[n - 1];
    for (int i = 0; i < n && mobility_free != NULL; i++) {
        most = fmax(most, mobility_free[i]);
    }
    double least = RANK_TOLERANCE * most;
    *spectrum = (ItmRimSpectrum){.condition = e[0] > least ? e[n - 1] / e[0] : INFINITY};
    for (int i = 0; i < n; i++) {
        spectrum->rank += e[i] > least;
    }
    for (int i = 0; M_eff != NULL && i < n * n; i++) {
        M_eff[i] = 0.0;
        for (int k = 0; k < n; k++) {
            M_eff[i] += e[k] > least ? V[k * n + i / n] * V[k * n + i % n] / e[k] : 0.0;
        }
    }
    if (value != NULL) {
        memcpy(value, e, sizeof(double) * (size_t)n);
    }
    for (int i = 0; vector != NULL && i < n * n; i++) {
        vector[i] = V[i % n * n + i / n];
    }
    return true;
}
