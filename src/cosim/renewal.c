// Renewal of an interface model within a macro step, where the geometry of its contacts changes
//                                                                                  [docs/theory-rim-coupling.md, contact changes]
//
// A mechanism finds out how long its contact rows hold (rim/look_ahead.c). Where that is less than the rest of the macro step, its model is
// made for that time only. Then the mechanism takes over the impulses so far, and makes the next model from where it is; its partners
// go on as if nothing had happened. Nothing is computed twice.
#include "cosim/cosim.h"

#include "base/error.h"

#include <math.h>

// ---------------------------------------------------------------------------- which micro steps

bool itm_renewal_is_used(const ItmCosim* x, const ItmMechanism* part)
{
    return x->options.contact_renewals > 0 && part->uses_impulse && part->assembly == ITM_NONE &&
           part->foreign == NULL && part->model->contact != NULL && part->K > 1;
}

ItmStatus itm_renewal_choose(const ItmCosim* x, ItmMechanism* part, int first)
{
    ItmInterfaceModel* model = &part->interface_model;
    bool is_driven = x->driven == (int)(part - x->mechanisms);
    model->first = first;
    model->last = model->K;
    for (int i = 0; i < part->nbond && first == 0; i++) {
        x->bonds[part->bonds[i]].renewed = (ItmRenewed){0};
    }
    if (is_driven || !itm_renewal_is_used(x, part)) {
        return ITM_OK;
    }
    int rest = model->K - first, most = x->options.contact_renewals + 1, least = (model->K + most - 1) / most;
    double h = x->step / model->K, span;
    ItmStatus status = itm_rim_find_span(part->model, part->data, &part->rim, itm_data_get_time(part->data), rest * h,
                                         least * h, &span);
    int n = (int)(span / h + 1e-6);
    model->last = rest - n < least ? model->K : first + n;  // nothing shorter is left
    return status;
}

double itm_renewal_get_span(const ItmCosim* x, const ItmMechanism* part)
{
    const ItmInterfaceModel* model = &part->interface_model;
    int n = model->last - model->first;
    return n == model->K ? x->step : n * (x->step / model->K);
}

void itm_renewal_count_time(ItmMechanism* part, double steps)
{
    const ItmInterfaceModel* model = &part->interface_model;
    ItmData* d = part->data;
    bool is_whole = model->first == 0 && model->last == model->K;
    if (!is_whole) {
        *d->steps = floor(steps) + (double)model->last / model->K;
    }
    *d->step_size = is_whole ? 0.0 : part->rim.H;
    d->h = d->options.step;
}

// ---------------------------------------------------------------------------- renewal

// What the ending part of the macro step adds to work and impulses of the bonds.
static void close_bonds(ItmCosim* x, ItmMechanism* part)
{
    const ItmRim* rim = &part->rim;
    double rest = x->step - part->interface_model.last * (x->step / part->interface_model.K);
    for (int i = 0; i < part->nbond; i++) {
        ItmRenewed* sum = &x->bonds[part->bonds[i]].renewed;
        sum->work += rim->work[i];
        sum->P0 += rim->P0[i];
        sum->P1 += (rim->H * rim->P1[i] + rest * rim->P0[i]) / x->step;
    }
}

// The next part starts where the mechanism is. Its rates differ from those of the model: work as at the end of a macro step (ledger.c).
static void open_bonds(ItmCosim* x, ItmMechanism* part)
{
    const ItmRim* rim = &part->rim;
    for (int i = 0; i < part->nbond; i++) {
        part->w_end[i] = rim->w[i];
    }
    itm_mechanism_look_at_ports(part);
    for (int i = 0; i < part->nbond; i++) {
        ItmBond* bond = &x->bonds[part->bonds[i]];
        double beyond = (rim->P0[i] - rim->P1[i]) * (rim->w[i] - part->w_end[i]);
        part->data->energy.ledger[ITM_LEDGER_LOAD] += beyond;
        bond->renewed.work += beyond;
        if (itm_cosim_is_rim(bond->options.coupling)) {
            bond->s_now = rim->s[i];
            bond->w_now = rim->w[i];
        }
    }
}

ItmStatus itm_renewal_run(ItmCosim* x, ItmMechanism* part)
{
    ItmInterfaceModel* model = &part->interface_model;
    close_bonds(x, part);
    itm_mechanism_take_over(part);
    if (part->status == ITM_OK) {
        *part->nrenewal += 1.0;
        open_bonds(x, part);
        itm_mechanism_reduce(x, part, model->last);
    }
    if (part->status == ITM_OK) {
        ItmStatus status = itm_rim_begin(&part->rim, model->last - model->first, model->use_heun);
        if (status != ITM_OK) {
            itm_mechanism_note_failure(part, status);
        }
    }
    return part->status;
}
