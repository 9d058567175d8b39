// C functions of the interface model port, level 2.                                            [docs/reference/rim-port.md]
#include "fmi/layer.h"

#include "instance.h"

#define EXPORT __attribute__((visibility("default")))
#define DECLARE(name) EXPORT interimRim##name##TYPE interimRim##name;
LAYER_FUNCTIONS(DECLARE)
LAYER_OPTIONAL(DECLARE)

int interimRimBegin(void* instance, double H, int K, int useHeun, size_t n, double W[], double a0[], int* ncontact)
{
    Instance* x = instance;
    return x->judge(x, itm_unit_begin(x->unit, H, K, useHeun != 0, n, W, a0, ncontact));
}

int interimRimPredict(void* instance, double h, size_t n, const double lambda[], double wEnd[])
{
    Instance* x = instance;
    return x->judge(x, itm_unit_predict(x->unit, h, n, lambda, wEnd));
}

int interimRimAdvance(void* instance, double h, size_t n, const double lambda[], double s[], double w[])
{
    Instance* x = instance;
    return x->judge(x, itm_unit_advance(x->unit, h, n, lambda, s, w));
}

int interimRimCommit(void* instance, size_t n, const double P0[], const double P1[], double theta)
{
    Instance* x = instance;
    return x->judge(x, itm_unit_commit(x->unit, n, P0, P1, theta));
}

int interimRimCancel(void* instance)
{
    Instance* x = instance;
    itm_unit_cancel(x->unit);
    return 0;
}

int interimRimGetRows(void* instance, size_t capacity, size_t* size, void* bytes)
{
    Instance* x = instance;
    return x->judge(x, itm_unit_get_rows(x->unit, capacity, size, bytes));
}

int interimRimSetResults(void* instance, size_t size, const void* bytes)
{
    Instance* x = instance;
    return x->judge(x, itm_unit_set_results(x->unit, size, bytes));
}
