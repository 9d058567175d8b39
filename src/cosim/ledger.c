// The energy ledger of the bonds: what the coupling itself adds or takes.                          [cranes, eqs. 16, 21, 22, 24]
//
// At a communication point the mechanism has had the force f and reached the rate w; the port received the rate w~ and gives
// the force f~. The residual power is dP = f w - f~ w~, its integral the residual energy, by the trapezoidal rule (the
// second minus of eq. 24 is a misprint). Beside these estimates from the points alone stands the work of the step itself:
//   the port gave    sum h f~ w~ over the micro steps
//   the mechanism got   held force: sum h f (w_n + w_n+1) / 2 over its own steps;  impulses: the work on its interface model, and (P0 - P1) times
//                       what its rate at the end differs from the model's
// The difference is the coupling energy error; > 0: the coupling created energy.
#include "cosim/cosim.h"

#include "base/guard.h"
#include "multibody/forces.h"

#include <math.h>

static void book(const ItmCosim* x, ItmMechanism* part, ItmBond* bond)
{
    ItmBondMemory* memory = bond->memory;
    bool is_impulse = part->uses_impulse && itm_cosim_is_rim(bond->options.coupling);
    double w_end = part->rim.w[bond->slot], force = is_impulse ? memory->force : bond->held;
    // of the last model alone, where it was renewed
    double P1 = part->interface_model.first == 0 ? memory->P1 : part->rim.P1[bond->slot];
    double beyond = is_impulse ? (memory->P0 - bond->renewed.P0 - P1) * (w_end - bond->w_now) : 0.0;
    double work = part->foreign != NULL ? part->foreign->work[bond->slot] : bond->work_model + beyond;
    double got = is_impulse ? work : bond->work_held;
    double power = force * w_end - memory->force * bond->w_now;
    memory->residual_energy += 0.5 * x->step * (memory->residual_power + power);
    memory->residual_power = power;
    part->data->energy.ledger[ITM_LEDGER_LOAD] += part->foreign != NULL ? 0.0 : beyond;
    memory->given += bond->work_port;
    memory->coupling_error += got - bond->work_port;
    itm_mechanism_show_force(part, bond->slot, memory->force);
}

void itm_ledger_book_bonds(ItmCosim* x)
{
    for (int k = 0; k < x->nmechanism; k++) {
        ItmMechanism* part = &x->mechanisms[k];
        if (part->nbond == 0 || !itm_ranks_is_own(x, part->rank)) {
            continue;
        }
        itm_mechanism_look_at_ports(part);
        for (int i = 0; i < part->nbond; i++) {
            book(x, part, &x->bonds[part->bonds[i]]);
        }
    }
}

// ---------------------------------------------------------------------------- the whole

// Whether a subsystem has an energy balance of its own, which that of the whole goes on with.
static bool has_balance(const ItmSubsystemInstance* subsystem)
{
    return subsystem->hydraulics != NULL && subsystem->hydraulics->options.use_ledger;
}

// Work that the cylinders of a circuit without a bond have given.
static double compute_free_work(const ItmCosim* x, const ItmSubsystemInstance* subsystem)
{
    bool has_free_port = false;
    double work = itm_hydraulics_get_ledger(subsystem->hydraulics)[ITM_HYDRAULIC_MECHANICAL];
    for (int i = 0; i < subsystem->table.nport; i++) {
        has_free_port = has_free_port || subsystem->bonds[i] == ITM_NONE;
        work -= subsystem->bonds[i] != ITM_NONE ? x->bonds[subsystem->bonds[i]].memory->given : 0.0;
    }
    return has_free_port ? work : 0.0;
}

void itm_ledger_take_accounts(ItmCosim* x)
{
    for (int i = 0; i < x->nmechanism; i++) {
        ItmMechanism* part = &x->mechanisms[i];
        if (itm_ranks_is_own(x, part->rank) || (x->rank == 0 && !part->has_account)) {
            ItmAccount* account = &part->account;
            itm_data_read_ledger(part->data, account->booked);
            itm_data_refresh_energy(part->model, part->data);
            account->kinetic = itm_forces_compute_kinetic(part->model, part->data);
            account->potential = itm_forces_compute_potential(part->model, part->data);
            account->start = *part->data->energy.start;
        }
    }
}

static void add_mechanisms(const ItmCosim* x, ItmBalance* sum)
{
    for (int i = 0; i < x->nmechanism; i++) {
        const ItmAccount* account = &x->mechanisms[i].account;
        for (int k = 0; k < ITM_LEDGER_COUNT; k++) {
            sum->booked[k] += account->booked[k];
        }
        sum->kinetic += account->kinetic;
        sum->potential += account->potential;
        sum->start += account->start;
    }
}

ItmBalance itm_ledger_sum(const ItmCosim* x)
{
    ItmBalance sum = {0};
    add_mechanisms(x, &sum);
    sum.load = sum.booked[ITM_LEDGER_LOAD];
    for (int i = 0; i < x->nsubsystem; i++) {
        const ItmSubsystemInstance* subsystem = &x->subsystems[i];
        for (int k = 0; has_balance(subsystem) && k < ITM_HYDRAULIC_ACCOUNT_COUNT; k++) {
            sum.circuit[k] += itm_hydraulics_get_ledger(subsystem->hydraulics)[k];
        }
        sum.load -= has_balance(subsystem) ? compute_free_work(x, subsystem) : 0.0;
    }
    // a bond to a circuit only carries energy; any other subsystem is a source
    sum.coupling_error = sum.booked[ITM_LEDGER_INTERFACE];
    for (int i = 0; i < x->nbond; i++) {
        const ItmBondMemory* memory = x->bonds[i].memory;
        // a foreign mechanism is a load: its own energy is out of reach, and so is what the coupling adds to it
        bool is_foreign = x->mechanisms[x->bonds[i].mechanism].foreign != NULL;
        sum.load -= (is_foreign ? 0.0 : memory->coupling_error) +
                    (has_balance(&x->subsystems[x->bonds[i].subsystem]) ? memory->given : 0.0);
        sum.coupling_error += memory->coupling_error;
    }
    sum.error = sum.kinetic + sum.potential - sum.start - sum.load;
    for (int k = 0; k < ITM_HYDRAULIC_ACCOUNT_COUNT; k++) {
        sum.error += k == ITM_HYDRAULIC_SUPPLY ? -sum.circuit[k] : k == ITM_HYDRAULIC_MECHANICAL ? 0.0 : sum.circuit[k];
    }
    sum.error += sum.booked[ITM_LEDGER_DISSIPATED] + sum.booked[ITM_LEDGER_FRICTION] + sum.booked[ITM_LEDGER_IMPACT] -
                 sum.booked[ITM_LEDGER_MOTION];
    return sum;
}

ItmBalance itm_cosim_compute_balance(ItmCosim* x)
{
    itm_ledger_take_accounts(x);
    return itm_ledger_sum(x);
}

// ---------------------------------------------------------------------------- looking

int itm_cosim_get_bond_count(const ItmCosim* x)
{
    ITM_GUARD(x != NULL, 0);
    return x->nbond;
}

const char* itm_cosim_get_bond_name(const ItmCosim* x, int bond)
{
    ITM_GUARD(x != NULL, NULL);
    return bond >= 0 && bond < x->nbond ? x->bonds[bond].name : NULL;
}

ItmBondState itm_cosim_get_bond(const ItmCosim* x, int bond)
{
    ITM_GUARD(x != NULL, (ItmBondState){0});
    if (bond < 0 || bond >= x->nbond) {
        return (ItmBondState){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, false};
    }
    const ItmBond* it = &x->bonds[bond];
    const ItmRim* rim = &x->mechanisms[it->mechanism].rim;
    const ItmBondMemory* memory = it->memory;
    return (ItmBondState){rim->s[it->slot],
                          rim->w[it->slot],
                          memory->force,
                          memory->P0,
                          memory->residual_power,
                          memory->residual_energy,
                          memory->coupling_error,
                          memory->throughput,
                          itm_verdict_get_excess(x, ITM_DOUBT_COUPLING_ENERGY, bond)->largest,
                          itm_mechanism_is_rotary(&x->mechanisms[it->mechanism], it->slot)};
}
