// Names and values of everything a run of the whole system records: the parts' own outputs, then bonds, interface models and
// the energy balance of the whole.
#include "cosim/builder.h"
#include "cosim/cosim.h"

#include "base/error.h"
#include "base/guard.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One walk names (names != NULL) and computes (values != NULL), so that both always agree.
typedef struct Sink {
    ItmCosim* x;
    double* values;   // NULL: naming
    int count;        // outputs so far
    bool has_failed;  // no memory for a name
    int* ranks;       // the process that computes each output, to be filled, or NULL
    int rank;         // the process of the outputs that follow; ITM_NONE: rank 0, from what all have sent
} Sink;

// Outputs that follow belong to a part of a process. Whether they are computed here.
static bool open_part(Sink* sink, int rank)
{
    sink->rank = rank;
    return sink->values != NULL && itm_ranks_is_own(sink->x, rank);
}

// Go on by n outputs that a part has computed, or another process has.
static void pass(Sink* sink, int n)
{
    for (int i = 0; i < n && sink->ranks != NULL; i++) {
        sink->ranks[sink->count + i] = sink->rank;
    }
    sink->count += n;
}

static void name_output(Sink* sink, const char* part, const char* element, const char* quantity, ItmOutputInfo info)
{
    char name[512];
    snprintf(name, sizeof name, "%s%s%s%s%s", part, part[0] != '\0' ? "." : "", element, element[0] != '\0' ? "." : "",
             quantity);
    ItmOutputInfo* output = &sink->x->outputs[sink->count];
    *output = info;
    output->name = itm_names_find(&sink->x->output_names, name, strlen(name)) == ITM_NONE
                       ? itm_names_add(&sink->x->output_names, name, strlen(name), sink->count)
                       : NULL;
    sink->has_failed = sink->has_failed || output->name == NULL;
}

static void emit(Sink* sink, const char* part, const char* element, const char* quantity, const char* unit,
                 const char* description, double value)
{
    if (sink->values != NULL) {
        bool is_here = sink->rank == ITM_NONE || itm_ranks_is_own(sink->x, sink->rank);
        sink->values[sink->count] = is_here ? value : sink->values[sink->count];
    } else if (sink->x->outputs != NULL && sink->ranks == NULL) {
        name_output(sink, part, element, quantity, (ItmOutputInfo){.unit = unit, .description = description});
    }
    pass(sink, 1);
}

// ---------------------------------------------------------------------------- parts

// Ports, then outputs of its own.
static ItmStatus emit_foreign(Sink* sink, ItmMechanism* part, bool is_here)
{
    ItmForeign* f = part->foreign;
    for (int i = 0; i < f->n; i++) {
        const char* port = f->table.port_names[i];
        emit(sink, part->name, port, "length", "m", "position of the port", part->rim.s[i]);
        emit(sink, part->name, port, "rate", "m/s", "rate of the port", part->rim.w[i]);
        emit(sink, part->name, port, "force", "N", "mean force on the port over the last macro step", f->f[i]);
    }
    ItmStatus status = ITM_OK;
    bool is_naming = sink->values == NULL && sink->ranks == NULL && sink->x->outputs != NULL;
    if (is_here && f->table.noutput > 0) {
        status = f->table.get_outputs(f->table.self, sink->values + sink->count, &sink->x->error);
    }
    for (int i = 0; i < f->table.noutput && is_naming; i++) {
        name_output(sink, part->name, "", f->table.outputs[i].name, f->table.outputs[i]);
        sink->count++;
    }
    pass(sink, is_naming ? 0 : f->table.noutput);
    return status;
}

static ItmStatus emit_mechanism(Sink* sink, ItmMechanism* part)
{
    bool is_here = open_part(sink, part->rank);
    if (part->foreign != NULL) {
        return emit_foreign(sink, part, is_here);
    }
    int n = itm_model_get_output_count(part->model);
    bool is_naming = sink->values == NULL && sink->ranks == NULL && sink->x->outputs != NULL;
    ItmStatus status = ITM_OK;
    if (is_here) {
        status = itm_model_compute_outputs(part->model, part->data, sink->values + sink->count);
        if (status != ITM_OK) {
            sink->x->error = *itm_data_get_error(part->data);
        }
    }
    for (int i = 0; i < n && is_naming; i++) {
        ItmOutputInfo info = itm_model_get_output_info(part->model, i);
        name_output(sink, part->name, "", info.name, info);
        sink->count++;
    }
    pass(sink, is_naming ? 0 : n);
    return status;
}

static void emit_subsystem(Sink* sink, ItmSubsystemInstance* subsystem)
{
    const ItmSubsystem* table = &subsystem->table;
    bool is_naming = sink->values == NULL && sink->ranks == NULL && sink->x->outputs != NULL;
    if (open_part(sink, subsystem->rank) && table->noutput > 0) {
        table->get_outputs(table->self, sink->values + sink->count);
    }
    for (int i = 0; i < table->noutput && is_naming; i++) {
        name_output(sink, subsystem->name, "", table->outputs[i].name, table->outputs[i]);
        sink->count++;
    }
    pass(sink, is_naming ? 0 : table->noutput);
}

// ---------------------------------------------------------------------------- coupling

static void emit_bonds(Sink* sink)
{
    for (int i = 0; i < sink->x->nbond; i++) {
        const char* name = sink->x->bonds[i].name;
        ItmBondState b = itm_cosim_get_bond(sink->x, i);
        double share = b.throughput > 0.0 ? fabs(b.coupling_error) / b.throughput : 0.0;
        emit(sink, "bond", name, "impulse", "N s", "impulse of the interface force over the last macro step",
             b.impulse);
        emit(sink, "bond", name, "residual_power", "W",
             "power into the mechanism minus power out of the port, at the communication point", b.residual_power);
        emit(sink, "bond", name, "residual_energy", "J", "integral of the residual power by the trapezoidal rule",
             b.residual_energy);
        emit(sink, "bond", name, "coupling_error", "J", "coupling energy error so far", b.coupling_error);
        emit(sink, "bond", name, "throughput", "J", "energy transferred through the bond in either direction so far",
             b.throughput);
        emit(sink, "bond", name, "coupling_error_share", "1", "coupling energy error over throughput", share);
    }
}

static void emit_frame_bonds(Sink* sink)
{
    for (int i = 0; i < sink->x->nframe_bond; i++) {
        const char* name = sink->x->frame_bonds[i].name;
        ItmFrameBondState b = itm_cosim_get_frame_bond(sink->x, i);
        static const char* const COMPONENTS[] = {"impulse.x",         "impulse.y",         "impulse.z",
                                                 "angular_impulse.x", "angular_impulse.y", "angular_impulse.z"};
        for (int k = 0; k < ITM_DIRECTION_COUNT; k++) {
            emit(sink, "bond", name, COMPONENTS[k], k < ITM_RX ? "N s" : "N m s",
                 "impulse on the first mechanism over the last macro step", b.impulse[k]);
        }
        emit(sink, "bond", name, "drift", "m", "distance between the two points", b.drift);
        emit(sink, "bond", name, "turn", "rad", "angle between the two frames", b.turn);
        emit(sink, "bond", name, "slip", "m/s", "relative speed of the two points", b.slip);
    }
}

// Rank and condition number of the mobility over all interfaces of a mechanism, and what happened to its interface model.
static void emit_models(Sink* sink)
{
    for (int i = 0; i < sink->x->nmechanism; i++) {
        ItmMechanism* part = &sink->x->mechanisms[i];
        if (part->nframe == 0) {
            continue;
        }
        ItmRimSpectrum spectrum = {0};
        if (open_part(sink, part->rank)) {
            spectrum = itm_mechanism_look(part);
        }
        emit(sink, "rim", part->name, "rank", "1", "rank of the mobility at its interfaces, without contacts",
             (double)spectrum.rank);
        emit(sink, "rim", part->name, "condition", "1",
             "condition number of that mobility and of the effective mass; 1e12 if singular",
             fmin(spectrum.condition, 1e12));
        emit(sink, "rim", part->name, "switches", "1",
             "contact, limit and friction rows that changed within macro steps so far", *part->nswitch);
        if (part->assembly != ITM_NONE) {
            emit(sink, "rim", part->name, "rank_losses", "1",
                 "macro steps so far in which joined frames were immobile along a direction on both sides",
                 *part->nlost);
        }
    }
}

// ---------------------------------------------------------------------------- energy of the whole

static void emit_energies(Sink* sink)
{
    static const struct {
        const char *name, *description;
        ItmHydraulicAccount account;
    } ACCOUNTS[] = {
        {"valve", "lost in valves and variable orifices so far", ITM_HYDRAULIC_VALVE},
        {"throttle", "lost in fixed resistances so far", ITM_HYDRAULIC_THROTTLE},
        {"leakage", "lost across pistons so far", ITM_HYDRAULIC_LEAKAGE},
        {"compression", "stored in oil, walls and gas since the start", ITM_HYDRAULIC_COMPRESSION},
        {"viscous", "lost by viscous friction of cylinders so far", ITM_HYDRAULIC_VISCOUS},
        {"seal", "lost by seal friction so far", ITM_HYDRAULIC_SEAL},
        {"end_damper", "lost in end dampers of cylinders so far", ITM_HYDRAULIC_DAMPER},
    };
    ItmBalance sum = sink->values != NULL ? itm_cosim_compute_balance(sink->x) : (ItmBalance){0};
    const double* booked = sum.booked;
    emit(sink, "energy", "", "supply", "J", "from pressure and flow sources so far, net",
         sum.circuit[ITM_HYDRAULIC_SUPPLY]);
    emit(
        sink, "energy", "", "load_work", "J",
        "work of loads, actuators without a bond and foreign subsystems so far, minus that of cylinders without a bond",
        sum.load);
    emit(sink, "energy", "", "motion_work", "J", "work of prescribed motions so far", booked[ITM_LEDGER_MOTION]);
    emit(sink, "energy", "", "coupling_error", "J", "coupling energy error so far", sum.coupling_error);
    for (size_t i = 0; i < sizeof ACCOUNTS / sizeof ACCOUNTS[0]; i++) {
        emit(sink, "energy", "", ACCOUNTS[i].name, "J", ACCOUNTS[i].description, sum.circuit[ACCOUNTS[i].account]);
    }
    emit(sink, "energy", "", "dissipated", "J", "lost in dampers of mechanisms so far", booked[ITM_LEDGER_DISSIPATED]);
    emit(sink, "energy", "", "friction", "J", "lost by dry friction so far", booked[ITM_LEDGER_FRICTION]);
    emit(sink, "energy", "", "impact", "J", "lost in contacts and joint limits so far", booked[ITM_LEDGER_IMPACT]);
    emit(sink, "energy", "", "mechanical", "J", "change of kinetic and potential energy since the start",
         sum.kinetic + sum.potential - sum.start);
    emit(sink, "energy", "", "balance", "J", "numerical error of the energy balance", sum.error - sum.coupling_error);
}

// ---------------------------------------------------------------------------- the walk

static ItmStatus walk(Sink* sink)
{
    ItmCosim* x = sink->x;
    ItmStatus status = ITM_OK;
    for (int i = 0; i < x->nmechanism && status == ITM_OK; i++) {
        status = emit_mechanism(sink, &x->mechanisms[i]);
    }
    for (int i = 0; i < x->nsubsystem; i++) {
        emit_subsystem(sink, &x->subsystems[i]);
    }
    if (sink->values != NULL && x->rank == 0 && status == ITM_OK) {
        status = itm_ranks_gather_outputs(x, sink->values);  // with the accounts that the energies need
    }
    sink->rank = ITM_NONE;
    emit_bonds(sink);
    emit_frame_bonds(sink);
    emit_models(sink);
    sink->rank = ITM_NONE;
    if (x->nmechanism + x->nsubsystem > 1 && x->rank == 0) {
        emit_energies(sink);
    }
    return status;
}

// Second names after all others.
static ItmStatus name_aliases(Sink* naming, const ItmCosimBuilder* b, ItmError* error)
{
    ItmCosim* x = naming->x;
    for (int i = 0; i < x->nalias; i++) {
        const ItmWireDef* def = &b->aliases.items[i];
        int of = itm_names_find(&x->output_names, def->from, strlen(def->from));
        if (of == ITM_NONE) {
            return itm_error_set(error, ITM_ERR_INPUT, "itm_cosim_build", def->to,
                                 "there is no output '%s' for the alias '%s'", def->from, def->to);
        }
        if (itm_names_find(&x->output_names, def->to, strlen(def->to)) != ITM_NONE) {
            return itm_error_set(error, ITM_ERR_INPUT, "itm_cosim_build", def->to, "there is an output '%s' already",
                                 def->to);
        }
        x->alias_of[i] = of;
        name_output(naming, "", "", def->to, x->outputs[of]);
        naming->count++;
    }
    return ITM_OK;
}

ItmStatus itm_cosim_name_outputs(ItmCosim* x, const ItmCosimBuilder* b, ItmError* error)
{
    Sink counting = {.x = x};
    walk(&counting);
    x->nalias = b->aliases.count;
    x->noutput = counting.count + x->nalias;
    x->outputs = calloc((size_t)x->noutput + 1, sizeof *x->outputs);
    x->alias_of = calloc((size_t)x->nalias + 1, sizeof *x->alias_of);
    Sink naming = {.x = x};
    ItmStatus status = x->outputs != NULL && x->alias_of != NULL ? ITM_OK : ITM_ERR_MEMORY;
    if (status == ITM_OK) {
        walk(&naming);
        status = name_aliases(&naming, b, error);
    }
    return status == ITM_ERR_MEMORY || naming.has_failed
               ? itm_error_set(error, ITM_ERR_MEMORY, "itm_cosim_build", NULL, "out of memory for names of outputs")
               : status;
}

void itm_cosim_free_outputs(ItmCosim* x)
{
    itm_names_free(&x->output_names);
    free(x->outputs);
    free(x->alias_of);
}

int itm_cosim_get_output_count(const ItmCosim* x)
{
    ITM_GUARD(x != NULL, 0);
    return x->noutput;
}

ItmOutputInfo itm_cosim_get_output_info(const ItmCosim* x, int output)
{
    ITM_GUARD(x != NULL, (ItmOutputInfo){0});
    return output >= 0 && output < x->noutput ? x->outputs[output] : (ItmOutputInfo){NULL, NULL, NULL};
}

int itm_cosim_find_output(const ItmCosim* x, const char* name)
{
    ITM_GUARD(x != NULL, ITM_NONE);
    return name != NULL ? itm_names_find(&x->output_names, name, strlen(name)) : ITM_NONE;
}

ItmStatus itm_cosim_compute_own_outputs(ItmCosim* x, double* values)
{
    Sink sink = {.x = x, .values = values};
    ItmStatus status = walk(&sink);
    itm_ledger_take_accounts(x);
    return status;
}

void itm_cosim_find_output_ranks(ItmCosim* x, int* ranks)
{
    Sink sink = {.x = x, .ranks = ranks};
    for (int i = 0; i < x->noutput; i++) {
        ranks[i] = ITM_NONE;
    }
    walk(&sink);
}

ItmStatus itm_cosim_compute_outputs(ItmCosim* x, double* values)
{
    ITM_GUARD(x != NULL && values != NULL, ITM_ERR_ARGUMENT);
    Sink sink = {.x = x, .values = values};
    ItmStatus status = itm_ranks_order(x, ITM_RANKS_OUTPUTS, NULL, 0);
    status = status == ITM_OK ? walk(&sink) : status;
    for (int i = 0; i < x->nalias && status == ITM_OK; i++) {
        values[sink.count + i] = values[x->alias_of[i]];
    }
    return status;
}
