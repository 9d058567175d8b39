// Which process steps which part.
//
// Parts that nothing but bonds between a mechanism and its partners connects may be on different ranks. A *unit* is a set of parts that
// stay together; a *component* is a set of units that bonds or wires connect. Either whole components are dealt, or units. Whole components need no
// message within a step, so that its time is that of the rank with the most work. Divided ones wait for each other between mechanisms (M) and groups (G), and for
// messages that each take time tau:
//   whole     max over ranks of M + G
//   divided   max over ranks of M  +  max over ranks of G  +  2 tau      (interface models there, impulses back)
// The shorter of the two is chosen. Order and report of a step go to and from all ranks in any case.
#include "cosim/cosim.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/union_find.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RANKS 65536
#define TRIAL_STEPS 20
#define TRIAL_TIME 0.2        // s of wall time
#define DIVIDED_MESSAGES 2.0  // one after the other within a step of a divided component

// What is stepped at the same time.
typedef enum Phase { MECHANISMS, GROUPS, PHASES } Phase;

typedef struct Cost {
    double phases[PHASES];  // s
} Cost;

// clang-format off
// Parts are numbered mechanisms first, then subsystems.
typedef struct Chooser {
    ItmCosim* x;
    int     count, npart;
    int*    ranks;           // ITM_NONE: not yet                              (npart)
    int*    unit;            // set of each part                               (npart)
    int*    component;       //                                                (npart)
    int    *given, *whole;   // ranks by rule, and with whole components       (npart)
    double* cost;            // of each part                                   (npart)    s
    Cost*   sums;            // of each unit or component, at its first part   (npart)
    Cost*   load;            // of each rank                                   (count)
    double  message_time;    // tau                                                       s
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
static void measure_costs(Chooser* c)
{
    ItmCosim* x = c->x;
    double start = itm_clock();
    ItmStatus status = ITM_OK;
    x->is_trial = true;
    for (int n = 0; n < TRIAL_STEPS && status == ITM_OK && (n < 2 || itm_clock() - start < TRIAL_TIME); n++) {
        for (int i = 0; i < c->npart; i++) {
            c->sums[i].phases[0] = get_cost(c, i);
        }
        status = itm_cosim_step(x);
        for (int i = 0; i < c->npart; i++) {
            double cost = get_cost(c, i) - c->sums[i].phases[0] + 1e-9;  // parts that cost nothing are spread too
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

static double sum_phases(const Cost* cost)
{
    return cost->phases[MECHANISMS] + cost->phases[GROUPS];
}

static void add_cost(Cost* sum, const Cost* cost)
{
    sum->phases[MECHANISMS] += cost->phases[MECHANISMS];
    sum->phases[GROUPS] += cost->phases[GROUPS];
}

static Cost get_part_cost(const Chooser* c, int part)
{
    Cost cost = {{0.0, 0.0}};
    cost.phases[part < c->x->nmechanism ? MECHANISMS : GROUPS] = c->cost[part];
    return cost;
}

// The costs of all parts without a rank into the first of their set, of the others into the load of their rank.
static void sum_costs(Chooser* c, int* set)
{
    memset(c->sums, 0, sizeof *c->sums * (size_t)c->npart);
    memset(c->load, 0, sizeof *c->load * (size_t)c->count);
    for (int i = 0; i < c->npart; i++) {
        Cost cost = get_part_cost(c, i);
        add_cost(c->ranks[i] == ITM_NONE ? &c->sums[itm_union_find(set, i)] : &c->load[c->ranks[i]], &cost);
    }
}

// The most of all ranks, in each phase and in both together.
typedef struct Most {
    Cost cost;
    double sum;
} Most;

static Most include(Most most, const Cost* load)
{
    for (int i = 0; i < PHASES; i++) {
        most.cost.phases[i] = fmax(most.cost.phases[i], load->phases[i]);
    }
    most.sum = fmax(most.sum, sum_phases(load));
    return most;
}

static double predict_time(const Chooser* c, const Most* most, bool is_divided)
{
    return is_divided ? sum_phases(&most->cost) + DIVIDED_MESSAGES * c->message_time : most->sum;
}

// The rank with which a step is shortest if it gets this set, too; of these the one with the least cost.
static int find_rank(const Chooser* c, const Most* most, const Cost* sum, bool is_divided)
{
    int best = 0;
    double least = INFINITY;
    for (int i = 0; i < c->count; i++) {
        Cost load = c->load[i];
        add_cost(&load, sum);
        Most then = include(*most, &load);
        double time = predict_time(c, &then, is_divided);
        if (time < least || (time <= least && sum_phases(&c->load[i]) < sum_phases(&c->load[best]))) {
            best = i;
            least = time;
        }
    }
    return best;
}

static int find_costliest(const Chooser* c)
{
    int next = ITM_NONE;
    for (int i = 0; i < c->npart; i++) {
        double sum = sum_phases(&c->sums[i]);
        next = sum > 0.0 && (next == ITM_NONE || sum > sum_phases(&c->sums[next])) ? i : next;
    }
    return next;
}

// Sets of parts, the costliest first; the time of a step.
static double deal(Chooser* c, int* set, bool is_divided)
{
    Most most = {0};
    sum_costs(c, set);
    for (int i = 0; i < c->count; i++) {
        most = include(most, &c->load[i]);
    }
    for (int next = find_costliest(c); next != ITM_NONE; next = find_costliest(c)) {
        int rank = find_rank(c, &most, &c->sums[next], is_divided);
        add_cost(&c->load[rank], &c->sums[next]);
        most = include(most, &c->load[rank]);
        c->sums[next] = (Cost){{0.0, 0.0}};
        for (int i = 0; i < c->npart; i++) {
            c->ranks[i] = c->ranks[i] == ITM_NONE && itm_union_find(set, i) == next ? rank : c->ranks[i];
        }
    }
    return predict_time(c, &most, is_divided);
}

static void place_others(Chooser* c)
{
    size_t size = sizeof *c->ranks * (size_t)c->npart;
    memcpy(c->given, c->ranks, size);
    double whole = deal(c, c->component, false);
    memcpy(c->whole, c->ranks, size);
    memcpy(c->ranks, c->given, size);
    if (deal(c, c->unit, true) >= whole) {
        memcpy(c->ranks, c->whole, size);
    }
}

static ItmStatus choose(Chooser* c, const ItmPlacement* places, int nplace, ItmError* error)
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
        measure_costs(c);
        place_others(c);
    }
    return status;
}

ItmStatus itm_ranks_choose(int* ranks, ItmCosim* trial, int count, double message_time, const ItmPlacement* places,
                           int nplace, ItmError* error)
{
    size_t npart = trial != NULL ? (size_t)(trial->nmechanism + trial->nsubsystem) : 0;
    if (ranks == NULL || trial == NULL || count < 1 || count > MOST_RANKS || !(message_time >= 0.0) || nplace < 0 ||
        nplace > (int)npart || (nplace > 0 && places == NULL) || trial->ranks != NULL) {
        return itm_error_set(
            error, ITM_ERR_ARGUMENT, __func__, NULL,
            "ranks, trial or places is NULL, there are %d ranks or more places than parts, message_time is negative, or "
            "trial has joined ranks",
            count);
    }
    Chooser c = {.x = trial, .count = count, .npart = (int)npart, .ranks = ranks, .message_time = message_time};
    c.unit = calloc(4 * npart + 1, sizeof *c.unit);
    c.cost = calloc(npart + 1, sizeof *c.cost);
    c.sums = calloc(npart + (size_t)count + 1, sizeof *c.sums);
    ItmStatus status = ITM_OK;
    if (c.unit == NULL || c.cost == NULL || c.sums == NULL) {
        status = itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    } else {
        c.component = c.unit + npart;
        c.given = c.unit + 2 * npart;
        c.whole = c.unit + 3 * npart;
        c.load = c.sums + npart;
        status = choose(&c, places, nplace, error);
    }
    free(c.unit);
    free(c.cost);
    free(c.sums);
    return status;
}
