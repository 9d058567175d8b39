// From definitions to a running system: steps that fit, memory, bonds, wires, groups, the start.
#include "cosim/builder.h"
#include "cosim/cosim.h"

#include "base/error.h"
#include "base/guard.h"
#include "model/model_build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REFUSE(field, ...) itm_error_set(error, ITM_ERR_INPUT, "itm_cosim_build", field, __VA_ARGS__)

static ItmStatus refuse_memory(ItmError* error)
{
    return itm_error_set(error, ITM_ERR_MEMORY, "itm_cosim_build", NULL, "out of memory for a co-simulation");
}

// ---------------------------------------------------------------------------- steps

// Steps of 1e-9 of H apart count as a multiple: decimal steps are not exact in binary.
#define STEP_TOLERANCE 1e-9
#define MOST_STEPS 1e8
#define MOST_PERIODS 1000

// How often `part` goes into `whole`, 0: not a whole number of times.
long itm_cosim_count_whole(double whole, double part)
{
    double ratio = whole / part, count = floor(ratio + 0.5);
    return count >= 1.0 && count <= MOST_STEPS && fabs(ratio - count) <= STEP_TOLERANCE * count ? (long)count : 0;
}

long itm_cosim_count_common(long a, long b)
{
    long p = a, q = b;
    while (q != 0) {
        long rest = p % q;
        p = q;
        q = rest;
    }
    return a / p * b;
}

double itm_cosim_find_common_multiple(double a, double b)
{
    if (a == 0.0 || b == 0.0) {
        return a + b;
    }
    for (int k = 1; k <= MOST_PERIODS; k++) {
        if (itm_cosim_count_whole(k * a, b) > 0) {
            return k * a;
        }
    }
    return INFINITY;
}

static ItmStatus check_options(const ItmCosimOptions* o, ItmError* error)
{
    if (!(isfinite(o->macro_step) && o->macro_step > 0.0)) {
        return REFUSE("macro_step", "macro_step must be positive, got %g s", o->macro_step);
    }
    if (itm_cosim_scheme_name(o->scheme) == NULL) {
        return REFUSE("scheme", "there is no scheme number %d", (int)o->scheme);
    }
    if (itm_cosim_flexible_interface_name(o->flexible_interface) == NULL) {
        return REFUSE("flexible_interface", "there is no flexible_interface number %d", (int)o->flexible_interface);
    }
    if (o->nthread < 1 || o->nthread > ITM_POOL_MOST_THREADS) {
        return REFUSE("threads", "threads must be 1 to %d, got %d", ITM_POOL_MOST_THREADS, o->nthread);
    }
    return ITM_OK;
}

// The communication step: H, or for the monolithic twin the smallest micro step.
static double choose_step(const ItmCosimBuilder* b, const ItmCosimOptions* o)
{
    double step = o->macro_step;
    for (int i = 0; o->is_monolithic && i < b->subsystems.count; i++) {
        double h = b->subsystems.items[i].step;
        step = h > 0.0 && h < step ? h : step;
    }
    for (int i = 0; o->is_monolithic && i < b->frame_bonds.count; i++) {
        for (int k = 0; k < 2; k++) {
            const ItmFrameBondDef* bond = &b->frame_bonds.items[i];
            const ItmInterfaceEntry* end = &b->interfaces.items[k == 0 ? bond->a : bond->b];
            const ItmMechanismDef* def = &b->mechanisms.items[end->mechanism];
            step = def->has_step && def->step.step < step ? def->step.step : step;
        }
    }
    return step;
}

// Step and period of a subsystem: micro steps per macro step (> 0), or minus the macro steps per step.
static ItmStatus fit_subsystem(const ItmCosim* x, ItmSubsystemInstance* subsystem, ItmError* error)
{
    subsystem->step = subsystem->own_step > 0.0 ? subsystem->own_step : x->step;
    long inside = itm_cosim_count_whole(x->step, subsystem->step),
         around = itm_cosim_count_whole(subsystem->step, x->step);
    bool has_bond = false;
    for (int i = 0; i < subsystem->table.nport; i++) {
        has_bond = has_bond || subsystem->bonds[i] != ITM_NONE;
    }
    if (inside == 0 && around == 0) {
        return REFUSE("macro_step", "macro_step %g s and the step %g s of '%s' are no multiples of one another",
                      x->step, subsystem->step, subsystem->name);
    }
    if (inside == 0 && has_bond) {
        return REFUSE("macro_step", "macro_step %g s is smaller than the step %g s of '%s', which has a bond", x->step,
                      subsystem->step, subsystem->name);
    }
    subsystem->period = inside > 0 ? inside : -around;
    return ITM_OK;
}

// ---------------------------------------------------------------------------- subsystems

static ItmStatus create_subsystem(ItmSubsystemInstance* subsystem, ItmSubsystemDef* def, ItmError* error)
{
    subsystem->name = strdup(def->name);
    subsystem->own_step = def->step;
    if (def->circuit != NULL) {
        ItmStatus status =
            itm_circuit_make_subsystem(&subsystem->table, &subsystem->hydraulics, def->circuit, &def->options, error);
        if (status != ITM_OK) {
            return status;
        }
    } else {
        subsystem->table = def->table;
        def->table.destroy = NULL;
    }
    int nport = subsystem->table.nport;
    size_t ports = (size_t)nport + 1, inputs = (size_t)subsystem->table.ninput + 1,
           outputs = (size_t)subsystem->table.noutput + 1;
    subsystem->bonds = calloc(ports, sizeof *subsystem->bonds);
    subsystem->s = calloc(4 * ports + 2 * inputs + outputs, sizeof *subsystem->s);
    if (subsystem->name == NULL || subsystem->bonds == NULL || subsystem->s == NULL) {
        return refuse_memory(error);
    }
    subsystem->w = subsystem->s + ports;
    subsystem->w_end = subsystem->w + ports;
    subsystem->force = subsystem->w_end + ports;
    subsystem->offset = subsystem->force + ports;
    subsystem->u = subsystem->offset + inputs;
    subsystem->y = subsystem->u + inputs;
    for (int i = 0; i < nport; i++) {
        subsystem->bonds[i] = ITM_NONE;
    }
    return ITM_OK;
}

// Ports without a bond stay where they are.
static void rest_ports(ItmSubsystemInstance* subsystem)
{
    for (int i = 0; i < subsystem->table.nport; i++) {
        subsystem->s[i] = subsystem->hydraulics != NULL ? subsystem->hydraulics->s[i] : 0.0;
        subsystem->w[i] = subsystem->w_end[i] = 0.0;
    }
}

// ---------------------------------------------------------------------------- bonds

static ItmStatus create_bonds(ItmCosim* x, const ItmCosimBuilder* b, ItmError* error)
{
    for (int i = 0; i < x->nbond; i++) {
        const ItmBondDef* def = &b->bonds.items[i];
        ItmBond* bond = &x->bonds[i];
        ItmMechanism* part = &x->mechanisms[def->mechanism];
        const char* actuator = part->foreign != NULL ? part->foreign->table.port_names[def->actuator]
                                                     : itm_actuator_name(part->model, def->actuator);
        int slot =
            part->foreign != NULL ? def->actuator : part->nbond;  // ports of a foreign mechanism keep their order
        char name[160];
        bool is_one = x->nmechanism == 1;
        snprintf(name, sizeof name, "%s%s%s", is_one ? "" : part->name, is_one ? "" : "-", actuator);
        *bond = (ItmBond){.name = strdup(name),
                          .options = def->options,
                          .mechanism = def->mechanism,
                          .slot = slot,
                          .least = -INFINITY,
                          .most = INFINITY,
                          .subsystem = def->subsystem,
                          .port = def->port};
        bond->memory = (ItmBondMemory*)(x->state + 1) + i;
        if (x->options.is_monolithic) {
            bond->options = itm_default_bond_options();
        }
        if (bond->name == NULL) {
            return refuse_memory(error);
        }
        part->bonds[slot] = i;
        part->nbond++;
        x->subsystems[def->subsystem].bonds[def->port] = i;
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- mechanisms

// A mechanism with frame bonds has an interface model that is joined with others, and its other bonds go with it.
static ItmStatus join_exchange(ItmCosim* x, ItmMechanism* part, const ItmBond* first, ItmError* error)
{
    bool is_held = x->assemblies[part->assembly].is_held;
    if (is_held && part->nbond > 0) {
        return itm_error_set(error, ITM_ERR_UNSUPPORTED, "itm_cosim_build", "exchange",
                             "mechanism '%s' has frame bonds with exchange hold, which goes without other bonds: use "
                             "exchange impulse",
                             part->name);
    }
    if (first != NULL && first->options.exchange != ITM_EXCHANGE_IMPULSE) {
        return REFUSE("exchange", "mechanism '%s' has frame bonds with exchange impulse: bond '%s' must exchange alike",
                      part->name, first->name);
    }
    part->has_rim = true;
    part->uses_impulse = !is_held;
    part->is_smooth = part->is_smooth && first == NULL;
    return ITM_OK;
}

// All its bonds at the interface model exchange alike; the model takes the steps of their common measure.
static ItmStatus choose_exchange(ItmCosim* x, ItmMechanism* part, ItmError* error)
{
    const ItmBond* first = NULL;
    part->use_heun = true;
    long K = 1;
    for (int i = 0; i < part->nbond; i++) {
        const ItmBond* bond = &x->bonds[part->bonds[i]];
        const ItmSubsystemInstance* subsystem = &x->subsystems[bond->subsystem];
        if (!itm_cosim_is_rim(bond->options.coupling)) {
            continue;
        }
        first = first == NULL ? bond : first;
        if (bond->options.exchange != first->options.exchange) {
            return REFUSE("exchange", "bonds '%s' and '%s' share an interface model and must exchange alike",
                          first->name, bond->name);
        }
        K = itm_cosim_count_common(K, subsystem->period);
        if (K > ITM_MOST_TICKS) {
            return REFUSE(
                "step",
                "'%s' and '%s' share an interface model, but their steps %g and %g s have no common measure above "
                "%g s: choose steps that divide each other",
                x->subsystems[first->subsystem].name, subsystem->name, x->subsystems[first->subsystem].step,
                subsystem->step, x->step / (double)ITM_MOST_TICKS);
        }
        part->use_heun = part->use_heun && subsystem->table.is_second_order;
    }
    part->has_rim = first != NULL;
    part->uses_impulse = first != NULL && first->options.exchange == ITM_EXCHANGE_IMPULSE;
    part->K = (int)K;
    return part->assembly != ITM_NONE ? join_exchange(x, part, first, error) : ITM_OK;
}

// Other models than the implicit one are for others to step with: a mechanism that takes over impulses needs its own step as its model.
static ItmStatus check_flexible_interface(const ItmCosim* x, const ItmMechanism* part, ItmError* error)
{
    bool is_held = part->assembly != ITM_NONE && x->assemblies[part->assembly].is_held;
    if (part->has_rim && !is_held && x->options.flexible_interface != ITM_FLEXIBLE_INTERFACE_IMPLICIT) {
        return itm_error_set(
            error, ITM_ERR_UNSUPPORTED, "itm_cosim_build", "flexible_interface",
            "mechanism '%s': flexible_interface %s goes with interfaces and exchange hold, where the others step with "
            "a model of the mechanism; otherwise the model is the mechanism's own step, which is implicit",
            part->name, itm_cosim_flexible_interface_name(x->options.flexible_interface));
    }
    return ITM_OK;
}

static ItmStatus choose_own_steps(const ItmCosim* x, ItmMechanism* part, ItmError* error)
{
    part->nsub = 1;
    if (part->has_rim && part->step.stepper != ITM_STEPPER_EULER) {
        return itm_error_set(error, ITM_ERR_UNSUPPORTED, "itm_cosim_build", "stepper",
                             "mechanism '%s': coupling 'rim' is made from the step of 'euler', not of '%s'", part->name,
                             itm_stepper_name(part->step.stepper));
    }
    bool is_held = part->assembly != ITM_NONE && x->assemblies[part->assembly].is_held;
    if (part->own_step > 0.0 && (!part->has_rim || is_held) && !x->options.is_monolithic) {
        long n = itm_cosim_count_whole(x->step, part->own_step);
        if (n == 0) {
            return REFUSE("macro_step", "macro_step %g s is not a multiple of the step %g s of mechanism '%s'", x->step,
                          part->own_step, part->name);
        }
        part->nsub = (int)n;
    }
    part->step.step = x->step / part->nsub;
    return part->foreign != NULL ? itm_foreign_fit_step(part->foreign, x->step, part->has_rim, error) : ITM_OK;
}

static void lay_out_mechanism(const ItmCosim* x, ItmMechanism* part)
{
    ItmArena* arena = &part->arena;
    int n = part->nbond + part->nframe;
    itm_rim_lay_out(&part->rim, arena, part->model, n);
    if (part->has_rim && x->options.flexible_interface == ITM_FLEXIBLE_INTERFACE_EFFECTIVE) {
        itm_effective_lay_out(&part->rim, arena, part->model->nv);
    }
    part->lambda = ITM_TAKE(arena, double, n);
    part->w_end = ITM_TAKE(arena, double, n);
    part->passive = ITM_TAKE(arena, ItmForceRow, n);
    part->W = ITM_TAKE(arena, double, part->nframe * part->nframe + ITM_SPECTRUM_SCRATCH(part->nframe));
    part->interface_model = (ItmInterfaceModel){.name = part->name,
                                                .rim = &part->rim,
                                                .assembly = ITM_NONE,
                                                .n = part->nbond,
                                                .bonds = part->bonds,
                                                .lambda = part->lambda,
                                                .w_end = part->w_end,
                                                .use_heun = part->use_heun,
                                                .K = part->K,
                                                .last = part->K,
                                                .foreign = part->foreign};
    int noutput = part->foreign != NULL ? part->foreign->table.noutput : itm_model_get_output_count(part->model);
    part->y = ITM_TAKE(arena, double, noutput);
}

// Every port of a foreign mechanism has a bond: the interface model is that of all its ports.
static ItmStatus check_ports(const ItmMechanism* part, ItmError* error)
{
    const ItmForeign* f = part->foreign;
    return f == NULL || part->nbond == f->n
               ? ITM_OK
               : itm_error_set(error, ITM_ERR_INPUT, "itm_cosim_build", part->name,
                               "%d of the %d ports of mechanism '%s' have a bond: connect all of them, or leave "
                               "the others out of its ports",
                               part->nbond, f->n, part->name);
}

// Whether a port of a mechanism's bonds has a stroke.
static bool has_strokes(const ItmCosim* x, const ItmMechanism* part)
{
    for (int i = 0; i < part->nbond; i++) {
        const ItmBond* bond = &x->bonds[part->bonds[i]];
        const ItmSubsystem* table = &x->subsystems[bond->subsystem].table;
        double least = -INFINITY, most = INFINITY;
        if (table->get_stroke != NULL) {
            table->get_stroke(table->self, bond->port, &least, &most);
        }
        if (isfinite(least) || isfinite(most)) {
            return true;
        }
    }
    return false;
}

static ItmStatus create_mechanism(ItmCosim* x, ItmMechanism* part, const ItmCosimBuilder* b, ItmError* error)
{
    ItmStatus status = check_ports(part, error);
    if (status == ITM_OK) {
        status = choose_exchange(x, part, error);
    }
    if (status == ITM_OK) {
        status = check_flexible_interface(x, part, error);
    }
    if (status == ITM_OK) {
        status = choose_own_steps(x, part, error);
    }
    if (status == ITM_OK) {
        // steppers without bounded rows go without end stops
        part->step.has_actuator_limits =
            part->foreign == NULL && itm_stepper_has_bounds(part->step.stepper) && has_strokes(x, part);
        status = itm_data_create(&part->data, part->model, &part->step, error);
    }
    if (status != ITM_OK) {
        return status;
    }
    lay_out_mechanism(x, part);
    int* actuators = calloc((size_t)part->rim.n + 1, sizeof *actuators);
    if (actuators == NULL || itm_arena_allocate(&part->arena) != 0) {
        free(actuators);
        return refuse_memory(error);
    }
    lay_out_mechanism(x, part);
    for (int i = 0; i < part->rim.n; i++) {
        actuators[i] = i < part->nbond && part->foreign == NULL ? b->bonds.items[part->bonds[i]].actuator : ITM_NONE;
    }
    itm_rim_init(&part->rim, part->model, actuators);
    itm_frames_set_rows(x, part);
    free(actuators);
    return ITM_OK;
}

#define LENGTH_TOLERANCE 1e-6  // of lengths that a user gives twice, relative, and absolute in m

// A length at the start that the user gave must be that of the actuator.
static ItmStatus check_start_length(const ItmCosim* x, const ItmBond* bond, double length, ItmError* error)
{
    const ItmSubsystemInstance* subsystem = &x->subsystems[bond->subsystem];
    const ItmCylinder* cylinder =
        subsystem->hydraulics != NULL ? &subsystem->hydraulics->circuit->cylinders[bond->port] : NULL;
    if (cylinder == NULL) {
        return ITM_OK;
    }
    if (cylinder->has_start_length &&
        !(fabs(cylinder->start_length - length) <= LENGTH_TOLERANCE * (1.0 + fabs(length)))) {
        return REFUSE(
            bond->name,
            "cylinder '%s.%s' has start_length %.9g m, but actuator '%s' of mechanism '%s' starts with length "
            "%.9g m: leave start_length out, it is then that of the actuator",
            subsystem->name, cylinder->name, cylinder->start_length,
            itm_mechanism_get_port_name(&x->mechanisms[bond->mechanism], bond->slot),
            x->mechanisms[bond->mechanism].name, length);
    }
    return ITM_OK;
}

// Cylinders start where their actuators do, and the ends of their strokes become limits of the actuators. After a reset, which has
// measured the actuators; another one must follow.
static ItmStatus fit_strokes(ItmCosim* x, ItmError* error)
{
    ItmStatus status = ITM_OK;
    for (int i = 0; i < x->nbond && status == ITM_OK; i++) {
        ItmBond* bond = &x->bonds[i];
        const ItmSubsystem* table = &x->subsystems[bond->subsystem].table;
        ItmMechanism* part = &x->mechanisms[bond->mechanism];
        status = check_start_length(x, bond, bond->s, error);
        if (status == ITM_OK && table->set_start != NULL) {
            table->set_start(table->self, bond->port, bond->s);
        }
        if (status == ITM_OK && part->step.has_actuator_limits && table->get_stroke != NULL) {
            table->get_stroke(table->self, bond->port, &bond->least, &bond->most);
            status = itm_data_set_actuator_limits(part->model, part->data, part->rim.actuator[bond->slot], bond->least,
                                                  bond->most);
        }
    }
    return status;
}

// Lengths of the actuators at the start lie inside the strokes.
static ItmStatus check_strokes(const ItmCosim* x, ItmError* error)
{
    for (int i = 0; i < x->nbond; i++) {
        const ItmBond* bond = &x->bonds[i];
        const ItmSubsystemInstance* subsystem = &x->subsystems[bond->subsystem];
        double least = -INFINITY, most = INFINITY;
        if (subsystem->table.get_stroke != NULL) {
            subsystem->table.get_stroke(subsystem->table.self, bond->port, &least, &most);
        }
        if (!(bond->s >= least && bond->s <= most)) {
            return REFUSE(
                bond->name,
                "cylinder '%s.%s' starts with length %.9g m, outside its stroke [%.9g, %.9g] m: correct its start "
                "length and extension, or the start of mechanism '%s'",
                subsystem->name, subsystem->table.port_names[bond->port], bond->s, least, most,
                x->mechanisms[bond->mechanism].name);
        }
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- the whole

static ItmStatus allocate(ItmCosim* x, const ItmCosimBuilder* b, ItmError* error)
{
    x->nmechanism = b->mechanisms.count;
    x->nsubsystem = b->subsystems.count;
    x->nbond = b->bonds.count;
    x->nwire = b->wires.count;
    x->ninterface = b->interfaces.count;
    x->nframe_bond = b->frame_bonds.count;
    x->nstate =
        1 +
        ((size_t)x->nbond * sizeof(ItmBondMemory) + (size_t)x->nframe_bond * sizeof(ItmFrameMemory)) / sizeof(double) +
        itm_verdict_count_reals(x) + ITM_MECHANISM_COUNTERS * (size_t)x->nmechanism;
    size_t parts = (size_t)(x->nmechanism + x->nsubsystem);
    x->mechanisms = calloc((size_t)x->nmechanism + 1, sizeof *x->mechanisms);
    x->subsystems = calloc((size_t)x->nsubsystem + 1, sizeof *x->subsystems);
    x->sampled = calloc((size_t)x->nsubsystem + 1, sizeof *x->sampled);
    x->bonds = calloc((size_t)x->nbond + 1, sizeof *x->bonds);
    x->wires = calloc((size_t)x->nwire + 1, sizeof *x->wires);
    x->groups = calloc((size_t)x->nsubsystem + 1, sizeof *x->groups);
    x->group_room = calloc(parts + 1, sizeof *x->group_room);
    x->interface_model_room = calloc((size_t)x->nmechanism + 1, sizeof *x->interface_model_room);
    x->interfaces = calloc((size_t)x->ninterface + 1, sizeof *x->interfaces);
    x->frame_bonds = calloc((size_t)x->nframe_bond + 1, sizeof *x->frame_bonds);
    x->assemblies = calloc((size_t)x->nmechanism + 1, sizeof *x->assemblies);
    x->slots = calloc((size_t)x->nbond + 1, sizeof *x->slots);
    x->state = calloc(x->nstate, sizeof *x->state);
    bool is_there = x->mechanisms != NULL && x->subsystems != NULL && x->sampled != NULL && x->bonds != NULL &&
                    x->wires != NULL && x->groups != NULL && x->group_room != NULL && x->slots != NULL &&
                    x->state != NULL && x->interface_model_room != NULL && x->interfaces != NULL &&
                    x->frame_bonds != NULL && x->assemblies != NULL;
    if (!is_there) {
        x->nmechanism = x->nsubsystem = x->nbond = x->ninterface = x->nframe_bond = 0;
        return refuse_memory(error);
    }
    int* slots = x->slots;
    for (int i = 0; i < x->nmechanism; i++) {
        ItmMechanism* part = &x->mechanisms[i];
        part->model = b->mechanisms.items[i].model;
        part->step = b->mechanisms.items[i].step;
        part->own_step = b->mechanisms.items[i].has_step ? part->step.step : 0.0;
        part->name = strdup(b->mechanisms.items[i].name);
        part->nswitch = x->state + x->nstate - ITM_MECHANISM_COUNTERS * (size_t)(i + 1);
        part->nlost = part->nswitch + 1;
        part->nrenewal = part->nswitch + 2;
        part->assembly = ITM_NONE;
        part->bonds = slots;
        for (int k = 0; k < x->nbond; k++) {
            slots += b->bonds.items[k].mechanism == i;
        }
        if (part->name == NULL) {
            return refuse_memory(error);
        }
    }
    return ITM_OK;
}

// The foreign mechanisms of the builder, which gives up its tables.
static ItmStatus create_foreign(ItmMechanism* part, ItmMechanismDef* def, ItmError* error)
{
    if (def->foreign.nport == 0) {
        return ITM_OK;
    }
    ItmForeignMechanism table = def->foreign;
    def->foreign.destroy = NULL;
    ItmStatus status = itm_foreign_create(&part->foreign, part->name, &table, &def->options, error);
    if (status == ITM_OK) {
        status = itm_model_build_empty(&part->empty, error);
    }
    part->model = part->empty;
    return status;
}

static ItmStatus create_parts(ItmCosim* x, ItmCosimBuilder* b, ItmError* error)
{
    ItmStatus status = ITM_OK;
    for (int i = 0; i < x->nmechanism && status == ITM_OK; i++) {
        status = create_foreign(&x->mechanisms[i], &b->mechanisms.items[i], error);
    }
    for (int i = 0; i < x->nsubsystem && status == ITM_OK; i++) {
        status = create_subsystem(&x->subsystems[i], &b->subsystems.items[i], error);
    }
    if (status == ITM_OK) {
        status = create_bonds(x, b, error);
    }
    for (int i = 0; i < x->nsubsystem && status == ITM_OK; i++) {
        rest_ports(&x->subsystems[i]);
        status = fit_subsystem(x, &x->subsystems[i], error);
    }
    if (status == ITM_OK) {
        status = itm_frames_create(x, b, error);
    }
    if (status == ITM_OK) {
        status = itm_assembly_group_all(x, error);
    }
    for (int i = 0; i < x->nmechanism && status == ITM_OK; i++) {
        status = create_mechanism(x, &x->mechanisms[i], b, error);
    }
    if (status == ITM_OK) {
        status = itm_assembly_create_all(x, error);
    }
    for (int i = 0; i < x->nwire && status == ITM_OK; i++) {
        status = itm_wires_resolve(x, &x->wires[i], b->wires.items[i].from, b->wires.items[i].to, error);
        x->wires[i].factor = b->wires.items[i].factor;
        x->wires[i].offset = b->wires.items[i].offset;
    }
    return status;
}

// Threads that step parts at the same time, and that share the contacts of a mechanism which steps while no other part does.
static ItmStatus start_threads(ItmCosim* x, ItmError* error)
{
    if (x->options.nthread == 1) {
        return ITM_OK;
    }
    x->pool = itm_pool_create(x->options.nthread);
    if (x->pool == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, "itm_cosim_build", "threads", "the system gave no %d threads",
                             x->options.nthread);
    }
    ItmStatus status = ITM_OK;
    for (int i = 0; i < x->nmechanism && status == ITM_OK; i++) {
        ItmMechanism* part = &x->mechanisms[i];
        if (part->model->contact != NULL) {
            status = itm_bounded_set_pool(part->model, part->data->bounded, x->pool, error);
        }
    }
    return status;
}

static ItmStatus start(ItmCosim* x, ItmError* error)
{
    ItmStatus status = start_threads(x, error);
    if (status != ITM_OK) {
        return status;
    }
    x->backup = malloc(itm_cosim_get_state_size(x) + 1);
    x->start = malloc(itm_cosim_get_state_size(x) + 1);
    if (x->backup == NULL || x->start == NULL) {
        return refuse_memory(error);
    }
    status = itm_cosim_reset(x);
    if (status == ITM_OK && x->nbond > 0) {
        status = fit_strokes(x, error);
        if (status != ITM_OK) {
            return status;
        }
        status = itm_cosim_reset(x);
    }
    if (status != ITM_OK) {
        *error = x->error;
        return status;
    }
    return check_strokes(x, error);
}

// A mechanism may be without a name only where it is alone.
static ItmStatus check_names(const ItmCosimBuilder* b, ItmError* error)
{
    for (int i = 0; i < b->mechanisms.count && b->mechanisms.count + b->subsystems.count > 1; i++) {
        if (b->mechanisms.items[i].name[0] == '\0') {
            return REFUSE("name", "a mechanism needs a name beside other parts: its results begin with it");
        }
    }
    return ITM_OK;
}

ItmStatus itm_cosim_build(ItmCosim** cosim, ItmCosimBuilder* b, const ItmCosimOptions* options, ItmError* error)
{
    ItmError ignored;
    error = error != NULL ? error : &ignored;
    if (cosim == NULL || b == NULL || b->mechanisms.count + b->subsystems.count == 0) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "cosim or builder is missing, or it has no part");
    }
    *cosim = NULL;
    ItmCosim* x = calloc(1, sizeof *x);
    if (x == NULL) {
        return refuse_memory(error);
    }
    x->inspected = x->driven = ITM_NONE;
    x->options = options != NULL ? *options : itm_default_cosim_options();
    ItmStatus status = check_options(&x->options, error);
    if (x->options.is_monolithic) {
        x->options.flexible_interface = ITM_FLEXIBLE_INTERFACE_IMPLICIT;  // the twin exchanges impulses
    }
    if (status == ITM_OK) {
        status = check_names(b, error);
    }
    if (status == ITM_OK) {
        x->step = choose_step(b, &x->options);
        status = allocate(x, b, error);
    }
    if (status == ITM_OK) {
        status = create_parts(x, b, error);
    }
    if (status == ITM_OK) {
        status = itm_cosim_group(x, error);
    }
    if (status == ITM_OK) {
        status = itm_verdict_create(
            x, x->state + x->nstate - itm_verdict_count_reals(x) - ITM_MECHANISM_COUNTERS * (size_t)x->nmechanism,
            error);
    }
    if (status == ITM_OK) {
        status = itm_cosim_name_outputs(x, b, error);
    }
    if (status == ITM_OK) {
        status = itm_inputs_create(x, error);
    }
    if (status == ITM_OK) {
        status = start(x, error);
    }
    if (status != ITM_OK) {
        itm_cosim_destroy(x);
        return status;
    }
    *cosim = x;
    return ITM_OK;
}

// Steps of all parts anew, in the order in which they are made.
static ItmStatus fit_parts(ItmCosim* x, ItmError* error)
{
    ItmStatus status = ITM_OK;
    for (int i = 0; i < x->nsubsystem && status == ITM_OK; i++) {
        status = fit_subsystem(x, &x->subsystems[i], error);
    }
    if (status == ITM_OK) {
        status = itm_assembly_fit_steps(x, error);
    }
    for (int i = 0; i < x->nmechanism && status == ITM_OK; i++) {
        ItmMechanism* part = &x->mechanisms[i];
        status = choose_exchange(x, part, error);
        status = status == ITM_OK ? choose_own_steps(x, part, error) : status;
        part->interface_model.K = part->interface_model.last = part->K;
        part->data->options.step = part->data->h = part->step.step;
    }
    if (status == ITM_OK) {
        itm_assembly_fit_models(x);
        status = itm_wires_count_micro_steps(x, error);
    }
    return status;
}

ItmStatus itm_cosim_set_macro_step(ItmCosim* x, double H)
{
    ITM_GUARD(x != NULL, ITM_ERR_ARGUMENT);
    ItmStatus status = itm_ranks_refuse(x, __func__);
    if (status != ITM_OK) {
        return status;
    }
    x->options.macro_step = x->step = H;
    status = check_options(&x->options, &x->error);
    status = status == ITM_OK ? fit_parts(x, &x->error) : status;
    return status == ITM_OK ? itm_cosim_reset(x) : status;
}

void itm_cosim_destroy(ItmCosim* x)
{
    if (x == NULL) {
        return;
    }
    itm_ranks_destroy(x);
    itm_pool_destroy(x->pool);
    itm_inputs_destroy(x);
    itm_cosim_free_outputs(x);
    itm_verdict_destroy(x);
    itm_assembly_destroy_all(x);
    for (int i = 0; i < x->nmechanism; i++) {
        ItmMechanism* part = &x->mechanisms[i];
        itm_data_destroy(part->data);
        itm_model_destroy(part->empty);
        itm_foreign_destroy(part->foreign);
        itm_arena_free(&part->arena);
        free(part->name);
    }
    for (int i = 0; i < x->nsubsystem; i++) {
        ItmSubsystemInstance* subsystem = &x->subsystems[i];
        if (subsystem->table.destroy != NULL) {
            subsystem->table.destroy(subsystem->table.self);
        }
        free(subsystem->bonds);
        free(subsystem->s);
        free(subsystem->name);
    }
    for (int i = 0; i < x->nbond; i++) {
        free(x->bonds[i].name);
    }
    itm_frames_destroy(x);
    free(x->interface_model_room);
    free(x->mechanisms);
    free(x->subsystems);
    free(x->sampled);
    free(x->bonds);
    free(x->wires);
    free(x->groups);
    free(x->group_room);
    free(x->slots);
    free(x->state);
    free(x->backup);
    free(x->start);
    free(x);
}
