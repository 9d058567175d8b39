// The energy ledger of the bonds: what the coupling itself adds or takes.                          [cranes, eqs. 16-24]
//
// At a communication point the mechanism has had the force f and reached the rate w; the port was told the rate w~ and gives
// the force f~. The residual power is dP = f w - f~ w~, its integral the residual energy, by the trapezoidal rule (the
// second minus of eq. 24 is a misprint). Beside these estimates from the points alone stands the work of the step itself:
//   the port gave    sum h f~ w~ over the micro steps
//   the mechanism got   held force: sum h f (w_n + w_n+1) / 2 over its own steps;  impulses: the work on its interface model, and (P0 - P1) times
//                       what its rate at the end differs from the model's
// The difference is the spurious energy; > 0: the coupling has added energy.
#include "cosim/cosim.h"

#include <math.h>
#include <stdio.h>

static void book(const ItmCosim* x, ItmMechanism* part, ItmBond* bond)
{
    ItmBondMemory* memory = bond->memory;
    bool is_impulse = part->uses_impulse && itm_coupling_is_rim(bond->options.coupling);
    double w_end = part->rim.w[bond->slot], force = is_impulse ? memory->force : bond->held;
    double beyond = is_impulse ? (memory->P0 - memory->P1) * (w_end - bond->w_now) : 0.0;
    double got = is_impulse ? bond->work_model + beyond : bond->work_held;
    double power = force * w_end - memory->force * bond->w_now;
    memory->residual_energy += 0.5 * x->step * (memory->residual_power + power);
    memory->residual_power = power;
    part->data->ledger[ITM_LEDGER_LOAD] += beyond;
    memory->given += bond->work_port;
    memory->spurious += got - bond->work_port;
    part->data->input[part->rim.actuator[bond->slot]] = memory->force;
}

void itm_bonds_book(ItmCosim* x)
{
    for (int k = 0; k < x->nmechanism; k++) {
        ItmMechanism* part = &x->mechanisms[k];
        if (part->nbond == 0) {
            continue;
        }
        itm_data_refresh(part->model, part->data);
        itm_rim_measure(part->model, part->data, &part->rim);
        for (int i = 0; i < part->nbond; i++) {
            book(x, part, &x->bonds[part->bonds[i]]);
        }
    }
}

// ---------------------------------------------------------------------------- looking

int itm_cosim_get_bond_count(const ItmCosim* x)
{
    return x->nbond;
}

const char* itm_cosim_get_bond_name(const ItmCosim* x, int bond)
{
    return bond >= 0 && bond < x->nbond ? x->bonds[bond].name : NULL;
}

ItmBondState itm_cosim_get_bond(const ItmCosim* x, int bond)
{
    if (bond < 0 || bond >= x->nbond) {
        return (ItmBondState){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    }
    const ItmBond* it = &x->bonds[bond];
    const ItmRim* rim = &x->mechanisms[it->mechanism].rim;
    const ItmBondMemory* memory = it->memory;
    return (ItmBondState){rim->s[it->slot],       rim->w[it->slot],        memory->force,    memory->P0,
                          memory->residual_power, memory->residual_energy, memory->spurious, memory->throughput};
}

const char* itm_cosim_get_warning(ItmCosim* x)
{
    double worst = x->options.spurious_limit;
    x->warning[0] = '\0';
    for (int i = 0; i < x->nbond; i++) {
        const ItmBondMemory* memory = x->bonds[i].memory;
        double share = memory->throughput > 0.0 ? fabs(memory->spurious) / memory->throughput : 0.0;
        if (share > worst) {
            worst = share;
            snprintf(x->warning, sizeof x->warning,
                     "the coupling of '%s' has %s %.3g J, %.3g %% of the %.3g J that went through it: take a smaller macro "
                     "step, or coupling rim with exchange impulse",
                     x->bonds[i].name, memory->spurious > 0.0 ? "added" : "taken", fabs(memory->spurious), 100.0 * share,
                     memory->throughput);
        }
    }
    return x->warning;
}
