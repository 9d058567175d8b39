// Everything a run records. One walk over the circuit serves both to name the outputs and to compute them, so that the
// two cannot disagree.
#include "hydraulics/circuit_builder.h"
#include "hydraulics/cylinder.h"
#include "hydraulics/data.h"

#include "base/error.h"
#include "base/guard.h"

#include <math.h>
#include <string.h>

// Where the walk puts what it finds: values, names, or only the count.
typedef struct Sink {
    ItmCircuit* naming;  // with its table of outputs, or NULL
    double* values;      // or NULL
    int count;
    bool is_full;  // naming ran out of memory
} Sink;

static void emit(Sink* sink, const char* element, const char* quantity, const char* unit, const char* description,
                 double value)
{
    if (sink->values != NULL) {
        sink->values[sink->count] = value;
    } else if (sink->naming != NULL) {
        ItmCircuitOutput* output = &sink->naming->outputs[sink->count];
        output->name = itm_owned_print(&sink->naming->owned, "%s.%s", element, quantity);
        output->unit = unit;
        output->description = description;
        sink->is_full = sink->is_full || output->name == NULL;
    }
    sink->count++;
}

// ---------------------------------------------------------------------------- walk

// d is NULL while naming: then every value is 0.
#define VALUE(array, i) (d != NULL ? d->array[i] : 0.0)

static void emit_nodes(Sink* sink, const ItmCircuit* c, const ItmHydraulics* d)
{
    for (int id = 0; id < c->nnode; id++) {
        int i = c->node_index[id];
        emit(sink, c->node_name[i], "pressure", "Pa", "absolute pressure", VALUE(p, i));
        if (i < c->nvol) {
            emit(sink, c->node_name[i], "void", "m^3", "oil that is missing while the pressure is the vapour pressure",
                 d != NULL ? itm_hydraulics_get_void(c, d, id) : 0.0);
        } else {
            emit(sink, c->node_name[i], "flow", "m^3/s", "flow out of the source", -VALUE(flow, i));
        }
    }
}

static void emit_branches(Sink* sink, const ItmCircuit* c, const ItmHydraulics* d)
{
    for (int i = 0; i < c->nflow; i++) {
        emit(sink, c->flow_name[i], "flow", "m^3/s", "given flow", VALUE(drive, c->flows[i].drive));
    }
    for (int i = 0; i < c->nsingle; i++) {
        const ItmBranchView* view = &c->singles[i];
        const ItmBranch* branch = &c->branches[view->branch];
        double through = VALUE(q, view->branch) + (view->bypass > 0 ? VALUE(q, view->bypass) : 0.0);
        through -= view->reverse > 0 ? VALUE(q, view->reverse) : 0.0;
        emit(sink, view->name, "flow", "m^3/s", "flow from the first port to the second", through);
        emit(sink, view->name, "drop", "Pa", "pressure drop from the first port to the second",
             VALUE(p, branch->a) - VALUE(p, c->branches[view->last].b));
        if (branch->control != ITM_NONE) {
            bool is_filter = branch->opening == ITM_OPENING_RECIPROCAL;
            emit(sink, view->name, is_filter ? "clogging" : "opening", "1", is_filter ? "clogging" : "opening",
                 VALUE(u, branch->control));
        }
        if (view->bypass > 0) {
            emit(sink, view->name, "bypass_flow", "m^3/s", "part of the flow through the bypass",
                 VALUE(q, view->bypass));
        }
        if (view->second > 0) {
            emit(sink, view->name, "flow_c", "m^3/s", "flow from the first port to the third", VALUE(q, view->second));
        }
        if (view->last != view->branch) {
            emit(sink, view->name, "flow_b", "m^3/s", "flow out at the second port", VALUE(q, view->last));
        }
    }
}

static void emit_valves(Sink* sink, const ItmCircuit* c, const ItmHydraulics* d)
{
    for (int i = 0; i < c->nvalve; i++) {
        const ItmValveView* view = &c->valves[i];
        const ItmSpool* control = &c->controls[view->control];
        double command = d != NULL ? itm_kernel_get_spool_command(c, d, view->control) : 0.0;
        double spool = control->order > 0 ? VALUE(x, control->x_adr) : command;
        emit(sink, view->name, "command", "1", "command within its limits", command);
        emit(sink, view->name, "spool", "1", "position of the spool, in the unit of the command", spool);
        emit(sink, view->name, "flow", "m^3/s", "flow out of port a",
             VALUE(q, view->branch) - VALUE(q, view->branch + 3));
        emit(sink, view->name, "return_flow", "m^3/s", "flow into port b",
             VALUE(q, view->branch + 1) - VALUE(q, view->branch + 2));
    }
}

static void emit_accumulators(Sink* sink, const ItmCircuit* c, const ItmHydraulics* d)
{
    for (int i = 0; i < c->nacc; i++) {
        const ItmAccumulator* gas = &c->accumulators[i];
        double ratio = d != NULL ? fmin(gas->precharge / d->p[gas->node], 1.0) : 1.0;
        emit(sink, c->accumulator_name[i], "gas_volume", "m^3", "volume of the gas",
             gas->gas_volume * pow(ratio, gas->inv_exponent));
    }
}

static void emit_motor(Sink* sink, const ItmCylinder* motor, double setting, double angle, double w, double p_1,
                       double p_2, const ItmCylinderForce* torque)
{
    emit(sink, motor->name, "angle", "rad", "angle", angle);
    emit(sink, motor->name, "rate", "rad/s", "angular rate", w);
    emit(sink, motor->name, "p1", "Pa", "pressure at the first port", p_1);
    emit(sink, motor->name, "p2", "Pa", "pressure at the second port", p_2);
    emit(sink, motor->name, "torque", "N m", "torque on the shaft", torque->total);
    emit(sink, motor->name, "pressure_torque", "N m", "part of the torque from the pressures", torque->pressure);
    emit(sink, motor->name, "friction_torque", "N m", "part of the torque from friction",
         torque->viscous + torque->seal);
    emit(sink, motor->name, "power", "W", "power of the shaft", torque->total * w);
    if (motor->control != ITM_NONE) {
        emit(sink, motor->name, "setting", "1", "part of the displacement", setting);
        emit(sink, motor->name, "flow", "m^3/s", "flow that the displacement moves from the first port to the second",
             setting * motor->area_1 * w);
    }
}

static void emit_cylinders(Sink* sink, const ItmCircuit* c, const ItmHydraulics* d)
{
    for (int i = 0; i < c->ncyl; i++) {
        const ItmCylinder* cylinder = &c->cylinders[i];
        double s = VALUE(s, i), w = VALUE(w, i);
        double p_1 = VALUE(p, cylinder->node_1), p_2 = VALUE(p, cylinder->node_2);
        ItmCylinderForce force = {0};
        if (d != NULL) {
            force = itm_cylinder_compute_stage_force(c, d, i, s, w);
        }
        if (cylinder->is_rotary) {
            emit_motor(sink, cylinder, cylinder->control != ITM_NONE ? VALUE(u, cylinder->control) : 1.0, s, w, p_1,
                       p_2, &force);
            continue;
        }
        emit(sink, cylinder->name, "length", "m", "length", s);
        emit(sink, cylinder->name, "rate", "m/s", "rate of the length", w);
        emit(sink, cylinder->name, "p1", "Pa", "pressure of the chamber that grows with the length", p_1);
        emit(sink, cylinder->name, "p2", "Pa", "pressure of the chamber that shrinks with the length", p_2);
        emit(sink, cylinder->name, "force", "N", "force on the rod, push positive", force.total);
        emit(sink, cylinder->name, "pressure_force", "N", "part of the force from the pressures", force.pressure);
        emit(sink, cylinder->name, "friction_force", "N", "part of the force from viscous and seal friction",
             force.viscous + force.seal);
        emit(sink, cylinder->name, "damper_force", "N", "part of the force from the end dampers", force.damper);
        emit(sink, cylinder->name, "power", "W", "power of the rod", force.total * w);
    }
}

static void emit_ledger(Sink* sink, const ItmHydraulics* d)
{
    static const struct {
        const char *name, *description;
    } ACCOUNTS[ITM_HYDRAULIC_ACCOUNT_COUNT] = {
        {"supply", "from the sources so far, net of what the tank took"},
        {"valve", "lost in valves so far"},
        {"throttle", "lost in orifices and laminar resistances so far"},
        {"leakage", "lost across pistons and in motors so far"},
        {"compression", "stored in oil, walls, gas and moving oil of lines since the start"},
        {"viscous", "lost by viscous friction so far"},
        {"seal", "lost by friction of seals and motors so far"},
        {"damper", "lost in the end dampers so far"},
        {"mechanical", "work of rods and shafts so far; negative: pumps that engines turn"},
    };
    double balance = 0.0;
    for (int i = 0; i < ITM_HYDRAULIC_ACCOUNT_COUNT; i++) {
        double value = VALUE(ledger, i);
        emit(sink, "energy", ACCOUNTS[i].name, "J", ACCOUNTS[i].description, value);
        balance += i == ITM_HYDRAULIC_SUPPLY ? value : -value;
    }
    emit(sink, "energy", "balance", "J", "supply minus all other accounts: 0", balance);
}

static void walk(Sink* sink, const ItmCircuit* c, const ItmHydraulics* d)
{
    emit_nodes(sink, c, d);
    emit_branches(sink, c, d);
    emit_valves(sink, c, d);
    emit_accumulators(sink, c, d);
    emit_cylinders(sink, c, d);
    emit_ledger(sink, d);
}

// ---------------------------------------------------------------------------- naming

static ItmStatus add_aliases(ItmCircuit* c, const ItmCircuitBuilder* b, ItmError* error)
{
    for (int i = 0; i < b->aliases.count; i++) {
        const ItmAliasDef* def = &b->aliases.items[i];
        c->noutput = c->noutput_own;
        int of = itm_circuit_find_output(c, def->output);
        if (of == ITM_NONE) {
            return itm_error_set(error, ITM_ERR_INPUT, "itm_circuit_build", "alias",
                                 "alias '%s': there is no output '%s'", def->name, def->output);
        }
        c->noutput = c->noutput_own + i;
        if (itm_circuit_find_output(c, def->name) != ITM_NONE) {
            return itm_error_set(error, ITM_ERR_INPUT, "itm_circuit_build", "alias",
                                 "alias '%s': there is an output of that name already", def->name);
        }
        c->outputs[c->noutput] = c->outputs[of];
        c->outputs[c->noutput].name = itm_owned_print(&c->owned, "%s", def->name);
        c->alias_of[i] = of;
        if (c->outputs[c->noutput].name == NULL) {
            return itm_error_set(error, ITM_ERR_MEMORY, "itm_circuit_build", NULL, "out of memory for names");
        }
    }
    c->noutput = c->noutput_own + b->aliases.count;
    return ITM_OK;
}

ItmStatus itm_circuit_name_outputs(ItmCircuit* c, const ItmCircuitBuilder* b, ItmError* error)
{
    Sink counting = {0};
    walk(&counting, c, NULL);
    c->noutput_own = counting.count;
    c->outputs = itm_circuit_take(c, (size_t)(counting.count + b->aliases.count), sizeof *c->outputs);
    c->alias_of = itm_circuit_take(c, (size_t)b->aliases.count, sizeof *c->alias_of);
    Sink naming = {.naming = c};
    if (c->outputs != NULL && c->alias_of != NULL) {
        walk(&naming, c, NULL);
    }
    if (c->outputs == NULL || c->alias_of == NULL || naming.is_full) {
        return itm_error_set(error, ITM_ERR_MEMORY, "itm_circuit_build", NULL, "out of memory for names");
    }
    return add_aliases(c, b, error);
}

// ---------------------------------------------------------------------------- outputs

int itm_circuit_get_output_count(const ItmCircuit* c)
{
    ITM_GUARD(c != NULL, 0);
    return c->noutput;
}

ItmOutputInfo itm_circuit_get_output_info(const ItmCircuit* c, int output)
{
    ITM_GUARD(c != NULL, (ItmOutputInfo){0});
    if (output < 0 || output >= c->noutput) {
        return (ItmOutputInfo){0};
    }
    const ItmCircuitOutput* it = &c->outputs[output];
    return (ItmOutputInfo){.name = it->name, .unit = it->unit, .description = it->description};
}

int itm_circuit_find_output(const ItmCircuit* c, const char* name)
{
    ITM_GUARD(c != NULL && name != NULL, ITM_NONE);
    for (int i = 0; i < c->noutput; i++) {
        if (strcmp(c->outputs[i].name, name) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}

void itm_hydraulics_refresh(const ItmCircuit* c, ItmHydraulics* d)
{
    itm_stage_begin(c, d, itm_hydraulics_get_time(d), 0.0);
    memcpy(d->s_stage, d->s, sizeof(double) * (size_t)c->ncyl);
    memcpy(d->w_stage, d->w, sizeof(double) * (size_t)c->ncyl);
    itm_kernel_compute(c, d, d->k[3], d->x);
}

void itm_hydraulics_compute_outputs(const ItmCircuit* c, ItmHydraulics* d, double* values)
{
    ITM_GUARD_VOID(c != NULL && d != NULL && values != NULL);
    itm_hydraulics_refresh(c, d);
    Sink sink = {.values = values};
    walk(&sink, c, d);
    for (int i = 0; i < c->noutput - c->noutput_own; i++) {
        values[c->noutput_own + i] = values[c->alias_of[i]];
    }
}
