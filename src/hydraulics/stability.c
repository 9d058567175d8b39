// How fast the present state reacts, and the steps at which the explicit integrators follow it: eigenvalues lambda of f_x, and
// |R(h lambda)| <= 1 with the amplification R of one step.
#include "hydraulics/data.h"

#include "base/guard.h"
#include "math/eigen_general.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

#define FARTHEST 4.0  // |h lambda| at which none of the integrators is stable any more
#define SCANS 400     // looks on the way there
#define BISECTIONS 50
#define NO_RATE 1e-9  // of the fastest: eigenvalues of zero, of volumes that only exchange oil, come out below

// Eigenvalues of f_x at the present state, re and im (nx). False without memory or convergence.
static bool compute_eigenvalues(const ItmCircuit* c, ItmHydraulics* d, double* re, double* im)
{
    size_t n = (size_t)c->nx;
    double* f_x = malloc(sizeof(double) * (n * n + 1));
    if (f_x == NULL) {
        return false;
    }
    itm_hydraulics_compute_derivatives(c, d, &(ItmHydraulicDerivatives){.f_x = f_x}, itm_hydraulics_get_time(d), d->x,
                                       d->s, d->w);
    bool ok = itm_eigen_general(f_x, re, im, c->nx) == ITM_OK;
    free(f_x);
    return ok;
}

static double find_fastest(const double* re, const double* im, int n)
{
    double fastest = 0.0;
    for (int i = 0; i < n; i++) {
        fastest = fmax(fastest, hypot(re[i], im[i]));
    }
    return fastest;
}

// R(z): 1 + z + ... up to the order of the integrator
static double amplify(ItmHydraulicIntegrator integrator, double complex z)
{
    double complex quadratic = 1.0 + z + z * z / 2.0;
    switch (integrator) {
    case ITM_HYDRAULIC_EULER:
        return cabs(1.0 + z);
    case ITM_HYDRAULIC_HEUN:
        return cabs(quadratic);
    case ITM_HYDRAULIC_RK4:
        return cabs(quadratic + z * z * z / 6.0 + z * z * z * z / 24.0);
    default:
        return 0.0;
    }
}

// First |z| along a direction of the left half plane at which |R| exceeds 1.
static double find_limit(ItmHydraulicIntegrator integrator, double complex direction)
{
    const double one = 1.0 + 1e-12;  // rounding at small z
    double low = 0.0, high = 0.0;
    for (int i = 1; i <= SCANS && high == 0.0; i++) {
        double r = FARTHEST * i / SCANS;
        if (amplify(integrator, r * direction) > one) {
            high = r;
        } else {
            low = r;
        }
    }
    if (high == 0.0) {
        return INFINITY;
    }
    for (int i = 0; i < BISECTIONS; i++) {
        double r = 0.5 * (low + high);
        if (amplify(integrator, r * direction) > one) {
            high = r;
        } else {
            low = r;
        }
    }
    return low;
}

double itm_hydraulics_compute_fastest_rate(const ItmCircuit* c, ItmHydraulics* d)
{
    ITM_GUARD(c != NULL && d != NULL, 0.0);
    double* re = malloc(sizeof(double) * (2 * (size_t)c->nx + 1));
    bool ok = re != NULL && compute_eigenvalues(c, d, re, re + c->nx);
    double fastest = ok ? find_fastest(re, re + c->nx, c->nx) : NAN;
    free(re);
    return fastest;
}

double itm_hydraulics_compute_stable_step(const ItmCircuit* c, ItmHydraulics* d, ItmHydraulicIntegrator integrator)
{
    ITM_GUARD(c != NULL && d != NULL, 0.0);
    double* re = malloc(sizeof(double) * (2 * (size_t)c->nx + 1));
    double* im = re != NULL ? re + c->nx : NULL;
    if (re == NULL || !compute_eigenvalues(c, d, re, im)) {
        free(re);
        return NAN;
    }
    double fastest = find_fastest(re, im, c->nx), step = INFINITY;
    for (int i = 0; i < c->nx; i++) {
        double size = hypot(re[i], im[i]);
        // what grows by itself does so in every integrator
        if (size > NO_RATE * fastest && re[i] <= NO_RATE * fastest) {
            double complex direction = fmin(re[i], 0.0) / size + I * (im[i] / size);
            step = fmin(step, find_limit(integrator, direction) / size);
        }
    }
    free(re);
    return step;
}
