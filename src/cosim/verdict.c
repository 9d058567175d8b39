// The monitor of a run: quantities with a bound, compared with it after every macro step.
//
// Energy. The error of the balance (ledger.c) is energy without a source. It is compared with the machine's own energy
//   S = max(T_max, V_max - V_min, |reached| + |load| + |motion|, through),   each work by its largest magnitude so far
//   reached = supply - valves - throttles - leakage: a pump that circulates oil heats it, whatever the machine does
//   through = energy transferred through all bonds, in either direction
// so that the bound grows with what happens: an error of the first steps, when hardly anything moves, is forgotten once S shows
// that it was small. Below `rest` a machine counts as at rest and S is that: what moves less is tolerances and rounding. It is a share
// REST of m g |x|, the kinetic and the stored energies, and the kinetic energy of all masses at SLOW sizes of the machine per second.
// A breakdown is stored energy E (T + V + compression of oil) that has grown beyond all inputs by more than they and the start gave:
//   E - E_0 - in > breakdown (E_0 - V_min + released + in + lift + FIRST T_1 + CHATTER rest),   in = supply + load + motion
// with each work by the most that was put in so far. Losses are not in it: they are sums of large terms of opposite signs where
// stiff drives fight stops. lift: position correction moves bodies that overlap apart, against their weight; at most each by all
// penetrations of a pile. T_1: kinetic energy of the first step that leaves rest. Methods of order 1 have errors as large as the
// energy itself there: a held force has given n^2 T_1 after n steps, and by the rates of the steps before n (n - 1) T_1.
//
// Memory is part of the state: a restored run ends with the same doubts.
#include "cosim/cosim.h"

#include "base/error.h"
#include "base/guard.h"
#include "contact/contact.h"
#include "multibody/forces.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define REST 1e-4
#define SLOW 1e-3  // 1/s
#define FIRST 4.0
#define CHATTER 100.0  // times `rest`: a machine that trembles about rest is doubted, not stopped

static const struct {
    const char *name, *unit;
} KINDS[ITM_DOUBT_COUNT] = {
    [ITM_DOUBT_ENERGY] = {"energy balance", "J"},       [ITM_DOUBT_COUPLING_ENERGY] = {"coupling energy error", "J"},
    [ITM_DOUBT_MOMENTUM] = {"momentum", "N s"},         [ITM_DOUBT_ANGULAR_MOMENTUM] = {"angular momentum", "N m s"},
    [ITM_DOUBT_PENETRATION] = {"penetration", "m"},     [ITM_DOUBT_JOINT_GAP] = {"joint gap", "m or rad"},
    [ITM_DOUBT_INTERFACE_GAP] = {"interface gap", "m"}, [ITM_DOUBT_INTERFACE_ANGLE] = {"interface angle", "rad"},
    [ITM_DOUBT_RESIDUAL] = {"solver residual", "1"},    [ITM_DOUBT_UNFINISHED] = {"unfinished steps", "steps"},
    [ITM_DOUBT_REBOUND] = {"lost rebound energy", "J"},
};

const char* itm_verdict_doubt_name(ItmDoubtKind kind)
{
    return (int)kind >= 0 && kind < ITM_DOUBT_COUNT ? KINDS[kind].name : NULL;
}

ItmBounds itm_default_verdict_bounds(void)
{
    return (ItmBounds){.energy = 0.01,
                       .coupling_energy = 0.01,
                       .momentum = 0.01,
                       .penetration = 1e-3,
                       .joint_gap = 1e-3,
                       .interface_gap = 1e-3,
                       .residual = 1e-3,
                       .unfinished = 0.01,
                       .breakdown = 1.0};
}

// ---------------------------------------------------------------------------- memory

static const ItmDoubtKind OF_MECHANISM[] = {ITM_DOUBT_MOMENTUM,  ITM_DOUBT_ANGULAR_MOMENTUM, ITM_DOUBT_PENETRATION,
                                            ITM_DOUBT_JOINT_GAP, ITM_DOUBT_RESIDUAL,         ITM_DOUBT_UNFINISHED,
                                            ITM_DOUBT_REBOUND};
#define NOF_MECHANISM ((int)(sizeof OF_MECHANISM / sizeof OF_MECHANISM[0]))

// The whole; bonds; interfaces together and each; mechanisms.
static int count_judged(const ItmCosim* x)
{
    return 1 + x->nbond + (x->nframe_bond > 0) + 2 * x->nframe_bond + NOF_MECHANISM * x->nmechanism;
}

size_t itm_verdict_count_reals(const ItmCosim* x)
{
    return (sizeof(ItmMachineWatch) + (size_t)x->nmechanism * sizeof(ItmMechanismWatch) +
            (size_t)count_judged(x) * sizeof(ItmExcess)) /
           sizeof(double);
}

// ---------------------------------------------------------------------------- momentum

static double compute_mass(const ItmModel* m)
{
    double mass = 0.0;
    for (int i = 0; i < m->nbody; i++) {
        mass += m->bodies[i].mass;
    }
    return mass;
}

static bool is_line_supported(const ItmModel* m, int measure)
{
    const ItmMeasure* it = &m->measures[measure];
    bool is_supported = it->places == NULL && (it->body_a == ITM_NONE || it->body_b == ITM_NONE);
    for (int i = 0; i < it->nplace; i++) {
        is_supported = is_supported || it->places[i].body == ITM_NONE;
    }
    return is_supported;
}

static bool is_block_supported(const ItmModel* m, const ItmRowBlock* block)
{
    bool is_supported = block->kind == ITM_BLOCK_JOINT && block->nbody < 2;
    for (int i = 0; i < block->nterm; i++) {
        is_supported = is_supported || is_line_supported(m, block->term[i]);
    }
    return is_supported;
}

static bool is_contact_supported(const ItmContactModel* c)
{
    bool is_supported = false;
    for (int i = 0; c != NULL && i < c->ncollider; i++) {
        is_supported = is_supported || c->colliders[i].body == ITM_NONE;
    }
    for (int i = 0; c != NULL && i < c->ngap; i++) {
        is_supported = is_supported || c->gaps[i].body_a == ITM_NONE || c->gaps[i].body_b == ITM_NONE;
    }
    return is_supported;
}

// Whether anything but gravity can act on a mechanism. Flexible bodies and joints with clearance count as supported:
// their momentum is not judged.
static bool is_supported(const ItmMechanism* part)
{
    const ItmModel* m = part->model;
    bool is = part->foreign != NULL || part->assembly != ITM_NONE || m->nload > 0 || m->nflexible > 0 ||
              m->nclearance > 0 || is_contact_supported(m->contact);
    for (int i = 0; i < m->nbody && !is; i++) {
        is = m->bodies[i].parent == ITM_NONE && m->bodies[i].nv < 6;
    }
    for (int i = 0; i < m->nblock && !is; i++) {
        is = is_block_supported(m, &m->blocks[i]);
    }
    for (int i = 0; i < m->nscalar_force && !is; i++) {
        is = is_line_supported(m, m->scalar_forces[i].measure);
    }
    for (int i = 0; i < m->nlimit && !is; i++) {
        is = is_line_supported(m, m->limits[i].measure);
    }
    for (int i = 0; i < m->nbushing && !is; i++) {
        is = m->bushings[i].body_a == ITM_NONE || m->bushings[i].body_b == ITM_NONE;
    }
    for (int i = 0; i < m->nlatch && !is; i++) {
        is = m->latches[i].body_a == ITM_NONE || m->latches[i].body_b == ITM_NONE;
    }
    return is;
}

// Momentum, and angular momentum about the centre of mass; sizes: sums of the bodies' magnitudes.
static void compute_momenta(const ItmMechanism* part, double p[3], double L[3], double* p_size, double* L_size)
{
    const ItmModel* m = part->model;
    const ItmData* d = part->data;
    ItmVec3 sum, turning, centre = {0, 0, 0};
    itm_forces_compute_momentum(m, d, &sum, &turning);
    for (int i = 0; i < m->nbody; i++) {
        centre = itm_vec_axpy(m->bodies[i].mass, d->x[i], centre);
    }
    centre = itm_vec_scale(1.0 / compute_mass(m), centre);
    turning = itm_vec_sub(turning, itm_vec_cross(centre, sum));
    *p_size = *L_size = 0.0;
    for (int i = 0; i < m->nbody; i++) {
        ItmVec3 mv = itm_vec_scale(m->bodies[i].mass, d->twist[i].lin);
        *p_size += itm_vec_norm(mv);
        *L_size += itm_vec_norm(itm_vec_cross(itm_vec_sub(d->x[i], centre), mv)) +
                   itm_vec_norm(itm_sym_mul_vec(&d->mass.J[i], d->twist[i].ang));
    }
    p[0] = sum.x, p[1] = sum.y, p[2] = sum.z;
    L[0] = turning.x, L[1] = turning.y, L[2] = turning.z;
}

static void watch(ItmCosim* x, ItmDoubtKind kind, const char* where, int index)
{
    x->judged[x->njudged++] = (ItmJudged){kind, where, index};
}

ItmStatus itm_verdict_create(ItmCosim* x, double* state, ItmError* error)
{
    x->judged = calloc((size_t)count_judged(x), sizeof *x->judged);
    if (x->judged == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, "itm_cosim_build", NULL, "out of memory for bounds");
    }
    x->machine = (ItmMachineWatch*)state;
    x->watches = (ItmMechanismWatch*)(x->machine + 1);
    x->excess = (ItmExcess*)(x->watches + x->nmechanism);
    watch(x, ITM_DOUBT_ENERGY, "", ITM_NONE);
    for (int i = 0; i < x->nbond; i++) {
        watch(x, ITM_DOUBT_COUPLING_ENERGY, x->bonds[i].name, i);
    }
    if (x->nframe_bond > 0) {
        watch(x, ITM_DOUBT_COUPLING_ENERGY, "interfaces", ITM_NONE);
    }
    for (int i = 0; i < x->nframe_bond; i++) {
        watch(x, ITM_DOUBT_INTERFACE_GAP, x->frame_bonds[i].name, i);
        watch(x, ITM_DOUBT_INTERFACE_ANGLE, x->frame_bonds[i].name, i);
    }
    for (int i = 0; i < x->nmechanism; i++) {
        x->mechanisms[i].is_supported = is_supported(&x->mechanisms[i]);
        for (int k = 0; k < NOF_MECHANISM; k++) {
            watch(x, OF_MECHANISM[k], x->mechanisms[i].name, i);
        }
    }
    return ITM_OK;
}

void itm_verdict_destroy(ItmCosim* x)
{
    free(x->judged);
}

// ---------------------------------------------------------------------------- start

// Diagonal of the box around all bodies, each taken with its radius of gyration.
static double compute_size(const ItmCosim* x)
{
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY}, sum = 0.0;
    for (int k = 0; k < x->nmechanism; k++) {
        const ItmModel* m = x->mechanisms[k].model;
        for (int i = 0; i < m->nbody; i++) {
            const ItmBody* body = &m->bodies[i];
            const ItmVec3 at = x->mechanisms[k].data->x[i];
            double trace = body->inertia.xx + body->inertia.yy + body->inertia.zz, c[3] = {at.x, at.y, at.z};
            double radius = body->mass > 0.0 ? sqrt(fmax(0.5 * trace / body->mass, 0.0)) : 0.0;
            for (int j = 0; j < 3; j++) {
                lo[j] = fmin(lo[j], c[j] - radius);
                hi[j] = fmax(hi[j], c[j] + radius);
            }
        }
    }
    for (int j = 0; j < 3; j++) {
        sum += hi[j] > lo[j] ? (hi[j] - lo[j]) * (hi[j] - lo[j]) : 0.0;
    }
    return sqrt(sum);
}

// Kinetic energy of a machine that hardly moves.
static double compute_slow_energy(const ItmCosim* x, double size)
{
    double mass = 0.0;
    for (int k = 0; k < x->nmechanism; k++) {
        mass += compute_mass(x->mechanisms[k].model);
    }
    return 0.5 * mass * SLOW * size * SLOW * size;
}

// Energy that numbers of this machine carry while it is at rest: weights times distances from the origin, what springs hold, what
// pressures hold.
static double compute_held_energy(const ItmCosim* x, const ItmBalance* balance)
{
    double sum = fabs(balance->potential) + balance->kinetic;
    for (int k = 0; k < x->nmechanism; k++) {
        const ItmModel* m = x->mechanisms[k].model;
        for (int i = 0; i < m->nbody; i++) {
            sum += m->bodies[i].mass * itm_vec_norm(m->gravity) * itm_vec_norm(x->mechanisms[k].data->x[i]);
        }
    }
    for (int k = 0; k < x->nbond; k++) {
        const ItmBond* bond = &x->bonds[k];
        bool is_foreign = x->mechanisms[bond->mechanism].foreign != NULL;
        sum += is_foreign ? fabs(bond->memory->force * bond->s) : 0.0;  // in place of weights
    }
    for (int k = 0; k < x->nsubsystem; k++) {
        ItmHydraulics* d = x->subsystems[k].hydraulics;
        if (d != NULL) {
            itm_hydraulics_refresh(d->circuit, d);
        }
        for (int i = 0; d != NULL && i < d->circuit->nvol; i++) {
            sum += d->x[i] * d->x[i] * d->capacity[i];
        }
    }
    return sum;
}

void itm_verdict_begin(ItmCosim* x)
{
    ItmMachineWatch* w = x->machine;
    if (w->has_start != 0.0 || x->is_trial) {
        return;
    }
    ItmBalance balance = itm_cosim_compute_balance(x);
    double size = compute_size(x);
    *w = (ItmMachineWatch){.has_start = 1.0,
                           .kinetic_max = balance.kinetic,
                           .potential_min = balance.potential,
                           .potential_max = balance.potential,
                           .rest = REST * compute_held_energy(x, &balance) + compute_slow_energy(x, size),
                           .size = size};
    for (int i = 0; i < x->nmechanism; i++) {
        ItmMechanism* part = &x->mechanisms[i];
        if (!part->is_supported) {
            ItmMechanismWatch* at = &x->watches[i];
            compute_momenta(part, at->p, at->L, &at->p_size, &at->L_size);
        }
    }
}

// ---------------------------------------------------------------------------- after a step

static void judge(ItmExcess* e, double value, double bound, double time)
{
    if (value > e->largest) {
        e->largest = value;
        e->largest_time = time;
    }
    e->bound = bound;
    bool is_beyond = bound > 0.0 && e->largest > bound;
    e->first_time = is_beyond && e->is_beyond == 0.0 ? time : e->first_time;
    e->is_beyond = is_beyond;
}

static void keep_larger(double* largest, double value)
{
    *largest = fmax(*largest, value);
}

static double get_energy(const ItmMachineWatch* w)
{
    double works = fmax(w->reached + w->load + w->motion, w->through);
    return fmax(fmax(w->rest, works), fmax(w->kinetic_max, w->potential_max - w->potential_min));
}

// Work of the supplies that valves, throttles and leakage have not turned into heat.
static double get_reached(const double* circuit)
{
    return circuit[ITM_HYDRAULIC_SUPPLY] - circuit[ITM_HYDRAULIC_VALVE] - circuit[ITM_HYDRAULIC_THROTTLE] -
           circuit[ITM_HYDRAULIC_LEAKAGE];
}

static double compute_through(const ItmCosim* x)
{
    double sum = 0.0;
    for (int i = 0; i < x->nbond; i++) {
        sum += x->bonds[i].memory->throughput;
    }
    return sum;
}

static void note_energies(ItmCosim* x, const ItmBalance* b)
{
    ItmMachineWatch* w = x->machine;
    double supply = b->circuit[ITM_HYDRAULIC_SUPPLY], motion = b->booked[ITM_LEDGER_MOTION];
    bool leaves_rest = w->kinetic_first == 0.0 && b->kinetic > w->rest;
    w->kinetic_first = leaves_rest ? b->kinetic : w->kinetic_first;
    keep_larger(&w->kinetic_max, b->kinetic);
    keep_larger(&w->potential_max, b->potential);
    w->potential_min = fmin(w->potential_min, b->potential);
    keep_larger(&w->reached, fabs(get_reached(b->circuit)));
    keep_larger(&w->through, compute_through(x));
    keep_larger(&w->load, fabs(b->load));
    keep_larger(&w->motion, fabs(motion));
    keep_larger(&w->supply_in, supply);
    keep_larger(&w->load_in, b->load);
    keep_larger(&w->motion_in, motion);
    keep_larger(&w->released, -b->circuit[ITM_HYDRAULIC_COMPRESSION]);
    keep_larger(&w->error, fabs(b->error));
}

// Weight of all bodies of each mechanism times the depth of a pile of them.
static double compute_lift(const ItmCosim* x)
{
    double sum = 0.0;
    for (int k = 0; k < x->nmechanism; k++) {
        const ItmModel* m = x->mechanisms[k].model;
        sum += compute_mass(m) * itm_vec_norm(m->gravity) * m->nbody * x->mechanisms[k].data->info.penetration;
    }
    return sum;
}

static double get_input(const ItmMachineWatch* w)
{
    return w->supply_in + w->load_in + w->motion_in;
}

// All energy that the machine had at the start, released or was given.
static double get_available(const ItmMachineWatch* w, const ItmBalance* b)
{
    return b->start - w->potential_min + w->released + get_input(w) + w->lift + FIRST * w->kinetic_first +
           CHATTER * w->rest;
}

static double get_growth(const ItmMachineWatch* w, const ItmBalance* b)
{
    return b->kinetic + b->potential + b->circuit[ITM_HYDRAULIC_COMPRESSION] - b->start - get_input(w);
}

// The balance with and without the coupling energy error, which may hide an error of the other sign, and with the work of constraints,
// whichever is worst.
static double get_error(const ItmBalance* b)
{
    double worst = fmax(fabs(b->error), fabs(b->error - b->booked[ITM_LEDGER_CONSTRAINT]));
    return fmax(worst, fabs(b->error - b->coupling_error));
}

static double get_momentum_change(const double* now, const double* start, const double* added)
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        double change = now[k] - start[k] - added[k];
        sum += change * change;
    }
    return sqrt(sum);
}

static void judge_momenta(ItmCosim* x, int i, ItmExcess* linear, ItmExcess* angular, double time)
{
    const ItmMechanism* part = &x->mechanisms[i];
    ItmMechanismWatch* w = &x->watches[i];
    if (part->is_supported) {
        return;
    }
    const ItmModel* m = part->model;
    const ItmAccount* now = &part->account;
    double mass = compute_mass(m);
    keep_larger(&w->p_size, now->p_size);
    keep_larger(&w->L_size, now->L_size);
    const double weight[3] = {mass * time * m->gravity.x, mass * time * m->gravity.y, mass * time * m->gravity.z};
    const double none[3] = {0};
    double bound = x->options.bounds.momentum;
    judge(linear, get_momentum_change(now->p, w->p, weight), bound * w->p_size, time);
    judge(angular, get_momentum_change(now->L, w->L, none), bound * w->L_size, time);
}

static void judge_mechanism(ItmCosim* x, const ItmJudged* it, ItmExcess* e, double time)
{
    ItmMechanism* part = &x->mechanisms[it->index];
    ItmMechanismWatch* w = &x->watches[it->index];
    const ItmBounds* bounds = &x->options.bounds;
    const ItmStepInfo* info = &part->data->info;
    double size = x->machine->size;
    switch (it->kind) {
    case ITM_DOUBT_MOMENTUM:
        judge_momenta(x, it->index, e, e + 1, time);
        break;
    case ITM_DOUBT_PENETRATION:
        judge(e, info->penetration, bounds->penetration * size, time);
        break;
    case ITM_DOUBT_JOINT_GAP:
        judge(e, info->gap, bounds->joint_gap * fmax(size, 1.0), time);
        break;
    case ITM_DOUBT_RESIDUAL:
        judge(e, info->solver_residual, bounds->residual, time);
        break;
    case ITM_DOUBT_UNFINISHED:
        w->steps += (double)(info->steps - part->steps_seen);
        w->unfinished += (double)(info->unfinished - part->unfinished_seen);
        part->steps_seen = info->steps;
        part->unfinished_seen = info->unfinished;
        judge(e, w->unfinished, bounds->unfinished * w->steps, time);
        break;
    case ITM_DOUBT_REBOUND:
        w->rebound_lost += info->impact_loss - part->rebound_seen;
        part->rebound_seen = info->impact_loss;
        judge(e, w->rebound_lost, bounds->energy * get_energy(x->machine), time);
        break;
    default:
        break;
    }
}

static void judge_one(ItmCosim* x, int i, const ItmBalance* balance, double time)
{
    const ItmJudged* it = &x->judged[i];
    ItmExcess* e = &x->excess[i];
    const ItmBounds* bounds = &x->options.bounds;
    double energy = get_energy(x->machine);
    switch (it->kind) {
    case ITM_DOUBT_ENERGY:
        judge(e, get_error(balance), bounds->energy * energy, time);
        break;
    case ITM_DOUBT_COUPLING_ENERGY: {
        double error =
            it->index != ITM_NONE ? x->bonds[it->index].memory->coupling_error : balance->booked[ITM_LEDGER_INTERFACE];
        judge(e, fabs(error), bounds->coupling_energy * energy, time);
        break;
    }
    case ITM_DOUBT_INTERFACE_GAP:
        judge(e, x->frame_bonds[it->index].drift, bounds->interface_gap * x->machine->size, time);
        break;
    case ITM_DOUBT_INTERFACE_ANGLE:
        judge(e, x->frame_bonds[it->index].angle, bounds->interface_gap, time);
        break;
    default:
        judge_mechanism(x, it, e, time);
    }
}

static ItmDoubt get_doubt(const ItmCosim* x, int i)
{
    const ItmExcess* e = &x->excess[i];
    const ItmJudged* it = &x->judged[i];
    return (ItmDoubt){it->kind, KINDS[it->kind].name, it->where,  KINDS[it->kind].unit,
                      e->bound, e->first_time,        e->largest, e->largest_time};
}

static void send_doubt(const ItmCosim* x, int i, double time)
{
    ItmDoubt doubt = get_doubt(x, i);
    char text[512];
    itm_verdict_describe_doubt(&doubt, text, sizeof text);
    itm_cosim_send_message(x, ITM_MESSAGE_DOUBT, time, doubt.where, text);
}

void itm_verdict_close(ItmCosim* x)
{
    for (int i = 0; i < x->nmechanism && !x->is_trial; i++) {
        if (itm_ranks_is_own(x, x->mechanisms[i].rank)) {
            itm_data_close_ledger(x->mechanisms[i].model, x->mechanisms[i].data);
        }
    }
    if (!x->is_trial) {
        itm_ledger_take_accounts(x);
    }
    for (int i = 0; i < x->nmechanism && !x->is_trial; i++) {
        ItmMechanism* part = &x->mechanisms[i];
        ItmAccount* account = &part->account;
        if (itm_ranks_is_own(x, part->rank) && !part->is_supported) {
            compute_momenta(part, account->p, account->L, &account->p_size, &account->L_size);
        }
    }
}

ItmStatus itm_verdict_update(ItmCosim* x, double time)
{
    if (x->is_trial) {
        return ITM_OK;
    }
    ItmBalance balance = itm_ledger_sum(x);
    note_energies(x, &balance);
    keep_larger(&x->machine->lift, compute_lift(x));
    double available = get_available(x->machine, &balance), growth = get_growth(x->machine, &balance);
    double factor = x->options.bounds.breakdown;
    if (factor > 0.0 && !(growth <= factor * available)) {
        return itm_error_set(
            &x->error, ITM_ERR_DIVERGED, "itm_cosim_step", "energy",
            "%.4g J have come from nowhere by t = %.9g s, more than the %.4g J that the machine had or was given; "
            "take a smaller step%s",
            growth, time, available, x->nbond + x->nframe_bond > 0 ? ", or coupling rim with exchange impulse" : "");
    }
    for (int i = 0; i < x->njudged; i++) {
        bool was_beyond = x->excess[i].is_beyond != 0.0;
        judge_one(x, i, &balance, time);
        if (!was_beyond && x->excess[i].is_beyond != 0.0) {
            send_doubt(x, i, time);
        }
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- looking

int itm_cosim_get_doubt_count(const ItmCosim* x)
{
    ITM_GUARD(x != NULL, 0);
    int n = 0;
    for (int i = 0; i < x->njudged; i++) {
        n += x->excess[i].is_beyond != 0.0;
    }
    return n;
}

ItmDoubt itm_cosim_get_doubt(const ItmCosim* x, int doubt)
{
    ITM_GUARD(x != NULL, (ItmDoubt){0});
    int i = -1;
    for (int n = doubt + 1; n > 0 && doubt >= 0;) {
        if (++i >= x->njudged) {
            return (ItmDoubt){.name = "", .where = "", .unit = ""};
        }
        n -= x->excess[i].is_beyond != 0.0;
    }
    if (i < 0) {
        return (ItmDoubt){.name = "", .where = "", .unit = ""};
    }
    return get_doubt(x, i);
}

const ItmExcess* itm_verdict_get_excess(const ItmCosim* x, ItmDoubtKind kind, int index)
{
    int i = 0;
    while (x->judged[i].kind != kind || x->judged[i].index != index) {
        i++;
    }
    return &x->excess[i];
}

ItmCosimScale itm_cosim_get_scale(const ItmCosim* x)
{
    ITM_GUARD(x != NULL, (ItmCosimScale){0});
    return (ItmCosimScale){get_energy(x->machine), x->machine->error, x->machine->size};
}

void itm_verdict_describe_doubt(const ItmDoubt* doubt, char* text, size_t size)
{
    ITM_GUARD_VOID(doubt != NULL && text != NULL && size > 0);
    if (doubt->name == NULL || doubt->where == NULL || doubt->unit == NULL) {
        text[0] = '\0';
        return;
    }
    const char* unit = doubt->kind == ITM_DOUBT_RESIDUAL ? "" : doubt->unit;
    snprintf(text, size, "%s%s%s%s: up to %.3g%s%s (at %.9g s), above %.3g%s%s since %.9g s", doubt->name,
             doubt->where[0] != '\0' ? " of '" : "", doubt->where, doubt->where[0] != '\0' ? "'" : "", doubt->largest,
             unit[0] != '\0' ? " " : "", unit, doubt->largest_time, doubt->bound, unit[0] != '\0' ? " " : "", unit,
             doubt->first_time);
}
