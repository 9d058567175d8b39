#include "multibody/model_builder.h"

#include "base/error.h"

#include <math.h>

// Moments are compared with this relative slack, so that inertias written with seven digits pass.
#define SLACK 1e-6
// A principal moment below this part of the largest one counts as zero.
#define SINGULAR 1e-12

// One Jacobi rotation in the plane (p, q) that makes A[p][q] zero.
static void rotate(double A[3][3], int p, int q)
{
    if (A[p][q] == 0.0) {
        return;
    }
    double theta = (A[q][q] - A[p][p]) / (2.0 * A[p][q]);
    double t = (theta >= 0 ? 1.0 : -1.0) / (fabs(theta) + hypot(theta, 1.0));
    double c = 1.0 / sqrt(1.0 + t * t), s = t * c;
    int r = 3 - p - q;
    double a_rp = A[r][p], a_rq = A[r][q];
    A[p][p] -= t * A[p][q];
    A[q][q] += t * A[p][q];
    A[p][q] = A[q][p] = 0.0;
    A[r][p] = A[p][r] = c * a_rp - s * a_rq;
    A[r][q] = A[q][r] = s * a_rp + c * a_rq;
}

static void swap_if_greater(double* a, double* b)
{
    if (*a > *b) {
        double t = *a;
        *a = *b;
        *b = t;
    }
}

// Principal moments, increasing, by cyclic Jacobi rotations; scaled by the largest element against
// overflow.
static void compute_principal(double moments[3], const ItmSym3* inertia, double scale)
{
    double A[3][3] = {{inertia->xx / scale, inertia->xy / scale, inertia->xz / scale},
                      {inertia->xy / scale, inertia->yy / scale, inertia->yz / scale},
                      {inertia->xz / scale, inertia->yz / scale, inertia->zz / scale}};
    // converges quadratically: six sweeps leave nothing above rounding for any 3 x 3 matrix
    for (int sweep = 0; sweep < 6; sweep++) {
        rotate(A, 0, 1);
        rotate(A, 0, 2);
        rotate(A, 1, 2);
    }
    for (int i = 0; i < 3; i++) {
        moments[i] = scale * A[i][i];
    }
    swap_if_greater(&moments[0], &moments[1]);
    swap_if_greater(&moments[1], &moments[2]);
    swap_if_greater(&moments[0], &moments[1]);
}

ItmStatus itm_inertia_check(const ItmSym3* inertia, const char* name, ItmError* error)
{
    double element[6] = {inertia->xx, inertia->yy, inertia->zz, inertia->xy, inertia->xz, inertia->yz};
    double scale = 0.0;
    for (int i = 0; i < 6; i++) {
        if (!isfinite(element[i])) {
            return itm_error_set(error, ITM_ERR_INPUT, __func__, "inertia", "body '%s': inertia must be finite", name);
        }
        scale = fmax(scale, fabs(element[i]));
    }
    if (scale == 0.0) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "inertia",
                             "body '%s': inertia must be positive definite, got zero", name);
    }
    double moments[3];
    compute_principal(moments, inertia, scale);
    if (!(moments[0] > SINGULAR * moments[2])) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "inertia",
                             "body '%s': inertia must be positive definite, but its principal moments are "
                             "%g, %g, %g kg m^2",
                             name, moments[0], moments[1], moments[2]);
    }
    if (moments[0] + moments[1] < (1.0 - SLACK) * moments[2]) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "inertia",
                             "body '%s': inertia violates the triangle inequality: no solid has the principal "
                             "moments %g + %g < %g kg m^2",
                             name, moments[0], moments[1], moments[2]);
    }
    return ITM_OK;
}
