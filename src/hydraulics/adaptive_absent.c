// The adaptive integrator where SUNDIALS is not linked: it is refused when a circuit's data object is created.
#include "hydraulics/data.h"

#include "base/error.h"

ItmStatus itm_hydraulics_adaptive_create(const ItmCircuit* c, ItmHydraulics* d, ItmError* error)
{
    (void)c, (void)d;
    return itm_error_set(error, ITM_ERR_UNSUPPORTED, __func__, "integrator",
                         "integrator 'adaptive' needs SUNDIALS, which the engine alone does not have: link libinterim");
}

void itm_hydraulics_adaptive_destroy(ItmHydraulics* d)
{
    (void)d;
}

ItmStatus itm_hydraulics_adaptive_step(const ItmCircuit* c, ItmHydraulics* d, double t, double h)
{
    (void)t, (void)h;
    return itm_hydraulics_adaptive_create(c, d, &d->error);
}
