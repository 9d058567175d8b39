#include "fmi/port.h"

#include "base/error.h"
#include "cosim/cosim.h"

static ItmStatus look(ItmFmuInstance* x, ItmFmuPortCall* c)
{
    const ItmFmuBinary* b = &x->binary;
    c->has_layer = !b->is_exchange && itm_fmi_has_layer(b);
    c->has_derivatives =
        b->version == 2 ? b->f2.GetDirectionalDerivative != NULL : b->f3.GetDirectionalDerivative != NULL;
    return ITM_OK;
}

// W by columns: along one force after the other. An FMU that has the function and fails in it goes on without.
static ItmStatus derive(ItmFmuInstance* x, ItmFmuPortCall* c)
{
    double column[ITM_FMU_MOST_FORCES], one = 1.0;
    ItmStatus status = itm_fmi_feed(x, 0.0, 0.0);
    if (status == ITM_OK) {
        status = itm_fmi_get(&x->binary, ITM_FMI_FLOAT64, c->acceleration, c->n, c->a0, c->n);
    }
    for (int j = 0; j < c->n && status == ITM_OK; j++) {
        status = itm_fmi_get_directional(&x->binary, c->acceleration, c->n, &c->force[j], 1, &one, column);
        for (int i = 0; i < c->n && status == ITM_OK; i++) {
            c->W[i * c->n + j] = column[i];
        }
    }
    c->has_derivatives = status == ITM_OK;
    return ITM_OK;
}

static ItmStatus begin(ItmFmuInstance* x, ItmFmuPortCall* c, void* rows)
{
    size_t size = 0;
    ItmStatus status = itm_fmi_feed(x, 0.0, 0.0);
    if (status == ITM_OK) {
        status = itm_fmi_begin_layer(&x->binary, c->H, c->K, c->use_heun != 0, c->n, c->W, c->a0, &c->ncontact);
    }
    if (status == ITM_OK && c->ncontact > 0) {
        status = itm_fmi_get_layer_rows(&x->binary, ITM_MOST_RUN_BYTES, &size, rows);
    }
    c->rows_size = size;
    return status;
}

static ItmStatus commit(ItmFmuInstance* x, ItmFmuPortCall* c, const void* rows)
{
    ItmStatus status = c->rows_size > 0 ? itm_fmi_set_layer_results(&x->binary, c->rows_size, rows) : ITM_OK;
    if (status == ITM_OK) {
        status = itm_fmi_commit_layer(&x->binary, c->n, c->P0, c->P1, c->theta);
    }
    x->has_stepped = true;
    x->t = x->binary.time = x->spec->start + c->t + c->H;
    return status;
}

static ItmStatus act(ItmFmuInstance* x, ItmFmuPortCall* c, void* rows)
{
    switch (c->action) {
    case ITM_FMU_PORT_LOOK:
        return look(x, c);
    case ITM_FMU_PORT_DERIVE:
        return derive(x, c);
    case ITM_FMU_PORT_BEGIN:
        return begin(x, c, rows);
    case ITM_FMU_PORT_PREDICT:
        return itm_fmi_predict_layer(&x->binary, c->h, c->n, c->lambda, c->w);
    case ITM_FMU_PORT_ADVANCE:
        return itm_fmi_advance_layer(&x->binary, c->h, c->n, c->lambda, c->s, c->w);
    case ITM_FMU_PORT_COMMIT:
        return commit(x, c, rows);
    default:
        itm_fmi_cancel_layer(&x->binary);
        return ITM_OK;
    }
}

ItmStatus itm_fmi_serve_port(ItmFmuInstance* x, ItmFmuPortCall* c, void* rows)
{
    if (x->is_failed) {
        return x->error.status;
    }
    if (c->n < 0 || c->n > ITM_FMU_MOST_FORCES) {
        return itm_error_set(&x->error, ITM_ERR_ARGUMENT, __func__, NULL, "%d ports: at most %d", c->n,
                             ITM_FMU_MOST_FORCES);
    }
    ItmStatus status = act(x, c, rows);
    if (status != ITM_OK) {
        x->is_failed = true;
        x->error = x->binary.error;
        x->error.status = status;
    }
    return status;
}
