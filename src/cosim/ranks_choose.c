// Which process steps which part.
//
// Parts that nothing but bonds between a mechanism and its partners connects may be on different ranks. A *unit* is a set of parts that
// stay together; a *component* is a set of units that bonds or wires connect. Components are dealt whole, the costliest first, each to the rank with
// the least cost so far; where one is more than its share, its units are dealt instead, which costs messages within the step.
#include "cosim/cosim.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/union_find.h"

#include <stdlib.h>
#include <string.h>

#define MOST_RANKS 65536
#define TRIAL_STEPS 20
#define TRIAL_TIME 0.2  // s of wall time
#define SHARE 1.1       // of the mean cost of a rank: a component of more than that is divided

// clang-format off
// Parts are numbered mechanisms first, then subsystems.
typedef struct Chooser {
    ItmCosim* x;
    int     count, npart;
    int*    ranks;           // ITM_NONE: not yet                              (npart)
    int*    unit;            // set of each part                               (npart)
    int*    component;       //                                                (npart)
    double* cost;            // of each part, then of each unit or component   (npart)    s
    double* load;            // of each rank                                   (count)    s
} Chooser;
// clang-format on

// ---------------------------------------------------------------------------- units

static int number_subsystem(const Chooser* c, int subsystem)
{
    return c->x->nmechanism + subsystem;
}

static void join_units(Chooser* c, int a, int b)
{
    itm_union_join(c->unit, a, b);
}

static void join_partners(Chooser* c, int mechanism)
{
    const ItmMechanism* part = &c->x->mechanisms[mechanism];
    for (int i = 0; i < part->nbond; i++) {
        join_units(c, mechanism, number_subsystem(c, c->x->bonds[part->bonds[i]].subsystem));
    }
}

// A group whose outputs a mechanism needs before its interface model is made cannot wait for those of other ranks.
static void join_group_sources(Chooser* c, int group)
{
    const ItmCosim* x = c->x;
    for (int i = 0; i < x->nbond; i++) {
        if (x->subsystems[x->bonds[i].subsystem].group == group) {
            join_units(c, x->bonds[i].mechanism, number_subsystem(c, x->bonds[i].subsystem));
        }
    }
    for (int i = 0; i < x->nwire; i++) {
        const ItmWire* wire = &x->wires[i];
        if (wire->from == ITM_SOURCE_MECHANISM && wire->to_subsystem != ITM_NONE &&
            x->subsystems[wire->to_subsystem].group == group) {
            join_units(c, wire->from_part, number_subsystem(c, wire->to_subsystem));
        }
    }
}

// Wires that end at a mechanism.
static void join_wire(Chooser* c, const ItmWire* wire)
{
    const ItmCosim* x = c->x;
    if (wire->to_mechanism == ITM_NONE) {
        return;
    }
    if (wire->from == ITM_SOURCE_MECHANISM) {
        join_units(c, wire->from_part, wire->to_mechanism);
        return;
    }
    bool is_output = wire->from == ITM_SOURCE_SUBSYSTEM;
    int subsystem = is_output ? wire->from_part : x->bonds[wire->from_index].subsystem;
    join_units(c, wire->to_mechanism, number_subsystem(c, subsystem));
    join_group_sources(c, x->subsystems[subsystem].group);
}

static void find_units(Chooser* c)
{
    const ItmCosim* x = c->x;
    for (int i = 0; i < c->npart; i++) {
        c->unit[i] = i;
    }
    for (int i = 0; i < x->ngroup; i++) {
        for (int k = 1; k < x->groups[i].nsubsystem; k++) {
            join_units(c, number_subsystem(c, x->groups[i].subsystems[0]),
                       number_subsystem(c, x->groups[i].subsystems[k]));
        }
    }
    for (int i = 0; i < x->nmechanism; i++) {
        const ItmMechanism* part = &x->mechanisms[i];
        if (part->assembly != ITM_NONE) {
            join_units(c, i, x->assemblies[part->assembly].mechanisms[0]);
        }
        if (part->assembly != ITM_NONE || part->foreign != NULL || part->rim.effective != NULL ||
            itm_renewal_is_used(x, part)) {
            join_partners(c, i);
        }
    }
    for (int i = 0; i < x->nwire; i++) {
        join_wire(c, &x->wires[i]);
    }
}

static void find_components(Chooser* c)
{
    const ItmCosim* x = c->x;
    memcpy(c->component, c->unit, sizeof *c->component * (size_t)c->npart);
    for (int i = 0; i < x->nbond; i++) {
        itm_union_join(c->component, x->bonds[i].mechanism, number_subsystem(c, x->bonds[i].subsystem));
    }
    for (int i = 0; i < x->nwire; i++) {
        const ItmWire* wire = &x->wires[i];
        if (wire->from == ITM_SOURCE_MECHANISM && wire->to_subsystem != ITM_NONE) {
            itm_union_join(c->component, wire->from_part, number_subsystem(c, wire->to_subsystem));
        }
    }
}

// ---------------------------------------------------------------------------- costs

// Wall time that a part has taken so far; that of a group is its first subsystem's.
static double get_cost(const Chooser* c, int part)
{
    const ItmCosim* x = c->x;
    if (part < x->nmechanism) {
        const ItmMechanism* mechanism = &x->mechanisms[part];
        bool is_first = mechanism->assembly != ITM_NONE && x->assemblies[mechanism->assembly].mechanisms[0] == part;
        return mechanism->cost + mechanism->cost_rim + (is_first ? x->assemblies[mechanism->assembly].cost : 0.0);
    }
    const ItmGroup* group = &x->groups[x->subsystems[part - x->nmechanism].group];
    return group->subsystems[0] == part - x->nmechanism ? group->cost : 0.0;
}

// The least time of a few steps: whatever else the machine does only adds to it.
static void measure_costs(Chooser* c, double* before)
{
    ItmCosim* x = c->x;
    double start = itm_clock();
    ItmStatus status = ITM_OK;
    x->is_trial = true;
    for (int n = 0; n < TRIAL_STEPS && status == ITM_OK && (n < 2 || itm_clock() - start < TRIAL_TIME); n++) {
        for (int i = 0; i < c->npart; i++) {
            before[i] = get_cost(c, i);
        }
        status = itm_cosim_step(x);
        for (int i = 0; i < c->npart; i++) {
            double cost = get_cost(c, i) - before[i] + 1e-9;  // parts that cost nothing are spread too
            c->cost[i] = n == 0 || cost < c->cost[i] ? cost : c->cost[i];
        }
    }
}

// ---------------------------------------------------------------------------- places

static const char* get_name(const Chooser* c, int part)
{
    const ItmCosim* x = c->x;
    return part < x->nmechanism ? x->mechanisms[part].name : x->subsystems[part - x->nmechanism].name;
}

static bool is_at_home(const Chooser* c, int part)
{
    const ItmCosim* x = c->x;
    if (part < x->nmechanism) {
        return x->mechanisms[part].foreign != NULL;
    }
    const ItmSubsystem* table = &x->subsystems[part - x->nmechanism].table;
    return table->is_unsaved || table->is_state_local;
}

static ItmStatus place_unit(Chooser* c, int part, int rank, ItmError* error)
{
    for (int i = 0; i < c->npart; i++) {
        if (itm_union_find(c->unit, i) != itm_union_find(c->unit, part)) {
            continue;
        }
        if (is_at_home(c, i) && rank != 0) {
            return itm_error_set(error, ITM_ERR_INPUT, "itm_ranks_choose", get_name(c, part),
                                 "'%s' cannot be on rank %d: the state of '%s' cannot be sent; put it on rank 0",
                                 get_name(c, part), rank, get_name(c, i));
        }
        if (c->ranks[i] != ITM_NONE && c->ranks[i] != rank) {
            return itm_error_set(
                error, ITM_ERR_INPUT, "itm_ranks_choose", get_name(c, part),
                "'%s' and '%s' must be on the same rank, not on %d and %d: a wire, a frame or an interface "
                "model that cannot be divided connects them (one with contacts can be with contact_renewals: 0)",
                get_name(c, i), get_name(c, part), c->ranks[i], rank);
        }
        c->ranks[i] = rank;
    }
    return ITM_OK;
}

static ItmStatus place_given(Chooser* c, const ItmPlacement* place, ItmError* error)
{
    for (int i = 0; i < c->npart; i++) {
        if (strcmp(get_name(c, i), place->name) == 0) {
            return place_unit(c, i, place->rank % c->count, error);
        }
    }
    return itm_error_set(error, ITM_ERR_INPUT, "itm_ranks_choose", place->name,
                         "there is no mechanism or subsystem '%s'", place->name);
}

static ItmStatus place_by_rule(Chooser* c, const ItmPlacement* places, int nplace, ItmError* error)
{
    ItmStatus status = ITM_OK;
    for (int i = 0; i < c->npart && status == ITM_OK; i++) {
        status = is_at_home(c, i) ? place_unit(c, i, 0, error) : ITM_OK;
    }
    for (int i = 0; i < nplace && status == ITM_OK; i++) {
        if (places[i].name == NULL || places[i].rank < 0) {
            return itm_error_set(error, ITM_ERR_ARGUMENT, "itm_ranks_choose", "places",
                                 "a placement has a name and a rank of at least 0");
        }
        status = place_given(c, &places[i], error);
    }
    return status;
}

// ---------------------------------------------------------------------------- the others

// Sum the costs of all parts without a rank into the first of their set.
static double sum_costs(const Chooser* c, int* set, double* sums)
{
    double most = 0.0;
    memset(sums, 0, sizeof *sums * (size_t)c->npart);
    for (int i = 0; i < c->npart; i++) {
        if (c->ranks[i] == ITM_NONE) {
            double* sum = &sums[itm_union_find(set, i)];
            *sum += c->cost[i];
            most = *sum > most ? *sum : most;
        }
    }
    return most;
}

static int find_least(const Chooser* c)
{
    int least = 0;
    for (int i = 1; i < c->count; i++) {
        least = c->load[i] < c->load[least] ? i : least;
    }
    return least;
}

// Sets of parts, the costliest first, each to the rank with the least cost.
static void deal(Chooser* c, int* set, double* sums)
{
    for (;;) {
        int next = ITM_NONE;
        for (int i = 0; i < c->npart; i++) {
            next = sums[i] > 0.0 && (next == ITM_NONE || sums[i] > sums[next]) ? i : next;
        }
        if (next == ITM_NONE) {
            return;
        }
        int rank = find_least(c);
        c->load[rank] += sums[next];
        sums[next] = 0.0;
        for (int i = 0; i < c->npart; i++) {
            c->ranks[i] = c->ranks[i] == ITM_NONE && itm_union_find(set, i) == next ? rank : c->ranks[i];
        }
    }
}

static void place_others(Chooser* c, double* sums)
{
    double total = 0.0;
    for (int i = 0; i < c->npart; i++) {
        total += c->cost[i];
        if (c->ranks[i] != ITM_NONE) {
            c->load[c->ranks[i]] += c->cost[i];
        }
    }
    double most = sum_costs(c, c->component, sums);
    bool is_divided = most > SHARE * total / c->count;
    if (is_divided) {
        sum_costs(c, c->unit, sums);
    }
    deal(c, is_divided ? c->unit : c->component, sums);
}

static ItmStatus choose(Chooser* c, const ItmPlacement* places, int nplace, double* sums, ItmError* error)
{
    for (int i = 0; i < c->npart; i++) {
        c->ranks[i] = ITM_NONE;
    }
    find_units(c);
    find_components(c);
    ItmStatus status = place_by_rule(c, places, nplace, error);
    bool is_open = false;
    for (int i = 0; i < c->npart; i++) {
        is_open = is_open || c->ranks[i] == ITM_NONE;
    }
    if (status == ITM_OK && is_open) {
        measure_costs(c, sums);
        place_others(c, sums);
    }
    return status;
}

ItmStatus itm_ranks_choose(int* ranks, ItmCosim* trial, int count, const ItmPlacement* places, int nplace,
                           ItmError* error)
{
    size_t npart = trial != NULL ? (size_t)(trial->nmechanism + trial->nsubsystem) : 0;
    if (ranks == NULL || trial == NULL || count < 1 || count > MOST_RANKS || nplace < 0 || nplace > (int)npart ||
        (nplace > 0 && places == NULL) || trial->ranks != NULL) {
        return itm_error_set(
            error, ITM_ERR_ARGUMENT, __func__, NULL,
            "ranks, trial or places is NULL, there are %d ranks or more places than parts, or trial has "
            "joined ranks",
            count);
    }
    Chooser c = {.x = trial, .count = count, .npart = (int)npart, .ranks = ranks};
    c.unit = calloc(2 * npart + 1, sizeof *c.unit);
    c.cost = calloc(2 * npart + (size_t)count + 1, sizeof *c.cost);
    ItmStatus status = ITM_OK;
    if (c.unit == NULL || c.cost == NULL) {
        status = itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    } else {
        c.component = c.unit + npart;
        c.load = c.cost + 2 * npart;
        status = choose(&c, places, nplace, c.cost + npart, error);
    }
    free(c.unit);
    free(c.cost);
    return status;
}
