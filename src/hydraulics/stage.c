// Commands and piston motion at the stages of a step.
#include "hydraulics/data.h"

#include <math.h>

// A jump that falls on the start of a step belongs to it, rounding of the time notwithstanding.
#define JUMP_MARGIN 1e-9  // of the step

void itm_stage_begin(const ItmCircuit* c, ItmHydraulics* d, double t, double h)
{
    d->tau_stage = NAN;
    for (int i = 0; i < c->ndrive; i++) {
        const ItmDrive* drive = &c->drives[i];
        d->drive[i] = drive->base + d->input[i];
        if (drive->signal != ITM_NONE) {
            d->drive[i] += itm_signal_compute(&c->signals[drive->signal], t + JUMP_MARGIN * h).x;
        }
    }
}

void itm_stage_set(const ItmCircuit* c, ItmHydraulics* d, double t, double h, double tau)
{
    if (tau == d->tau_stage) {
        return;
    }
    d->tau_stage = tau;
    for (int i = 0; i < c->nvarying; i++) {
        const ItmDrive* drive = &c->drives[c->varying[i]];
        d->drive[c->varying[i]] =
            drive->base + d->input[c->varying[i]] + itm_signal_compute(&c->signals[drive->signal], t + tau).x;
    }
    for (int i = 0; i < c->ncyl; i++) {
        int motion = c->cylinders[i].motion;
        if (motion != ITM_NONE) {
            ItmSignalValue value = itm_signal_compute(&c->signals[motion], t + tau);
            d->s_stage[i] = value.x;
            d->w_stage[i] = value.x_dot;
        } else if (c->cylinders[i].speed != ITM_NONE) {
            // an engine gives the rate:  s(tau) = s + (w + w(tau)) tau / 2
            d->w_stage[i] = d->drive[c->cylinders[i].speed];
            d->s_stage[i] = d->s[i] + 0.5 * tau * (d->w[i] + d->w_stage[i]);
        } else {
            // w(tau) = w + (w_end - w) tau / h,  s(tau) = s + w tau + (w_end - w) tau^2 / (2 h)
            double slope = h > 0.0 ? (d->w_end[i] - d->w[i]) / h : 0.0;
            d->w_stage[i] = d->w[i] + slope * tau;
            d->s_stage[i] = d->s[i] + tau * (d->w[i] + 0.5 * slope * tau);
        }
    }
}
