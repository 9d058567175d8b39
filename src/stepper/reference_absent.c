// The reference integrator where SUNDIALS is not linked: it is refused when a data object is created.
#include "stepper/stepper.h"

#include "base/error.h"

ItmStatus itm_reference_create(const ItmModel* m, ItmData* d, ItmError* error)
{
    (void)m, (void)d;
    return itm_error_set(error, ITM_ERR_UNSUPPORTED, __func__, "stepper",
                         "stepper 'reference' needs SUNDIALS, which the engine alone does not have: link libinterim");
}

void itm_reference_destroy(ItmData* d)
{
    (void)d;
}

ItmStatus itm_reference_step(const ItmModel* m, ItmData* d)
{
    return itm_reference_create(m, d, &d->error);
}
