// A cart with a double pendulum as an FMU: a mechanism that is not ours, in its own equations and with its own integrator. A force along
// the rail and a torque at the first hinge are inputs; positions, rates and accelerations are variables.
// CART_LATCH: the first stage of a step uses the forces of the step before, as in some exporting tools.
#include "fmu.h"

#include "../../cart.h"

#include <string.h>

enum { Q, V = 3, A = 6, FORCE = 9, IS_LOCKED = 11, USED, LAST = 14 };

const char* const fmu_token = "{cart-1}";
const FmuVariable fmu_variables[] = {{Q, 1}, {Q + 1, 1}, {Q + 2, 1}, {V, 1},     {V + 1, 1},     {V + 2, 1},
                                     {A, 1}, {A + 1, 1}, {A + 2, 1}, {FORCE, 1}, {FORCE + 1, 1}, {IS_LOCKED, 1}};
const int fmu_nvariable = 12, fmu_ndiscrete = 0;
// a locked cart has rates of zero, whatever the forces
const int fmu_states[] = {Q, Q + 1, Q + 2, V, V + 1, V + 2}, fmu_derivatives[] = {V, V + 1, V + 2, A, A + 1, A + 2};
const int fmu_nx = 6, fmu_nz = 0;
#ifdef CART_LATCH
const double fmu_longest_step = 5e-3;
#else
const double fmu_longest_step = 0.0625e-3;
#endif

void fmu_start(Fmu* m)
{
    Cart c = cart_default();
    memcpy(&m->r[Q], c.q, sizeof c.q);
    memcpy(&m->r[V], c.v, sizeof c.v);
    m->r[LAST] = -1.0;
}

void fmu_compute(Fmu* m)
{
    double* r = m->r;
    Cart c = cart_default();
    bool is_used = true;
#ifdef CART_LATCH
    is_used = m->time > r[LAST];
#endif
    if (is_used) {
        memcpy(&r[USED], &r[FORCE], 2 * sizeof *r);
        r[LAST] = m->time;
    }
    cart_accelerate(&c, &r[Q], &r[V], &r[USED], &r[A]);
    if (r[IS_LOCKED] != 0.0) {
        memset(&r[A], 0, 3 * sizeof *r);
    }
}

void fmu_indicate(const Fmu* m, double* z)
{
    (void)m, (void)z;
}

bool fmu_handle_event(Fmu* m)
{
    (void)m;
    return false;
}
