// One system stepped by several processes (ranks), each of which has the whole of it and steps its own parts.
//
// A macro step, with the messages between ranks in brackets:
//   measure, samples, interface models    [mechanism -> group: lengths, rates, W, a0, contact rows; wires]
//   micro steps of the groups             [group -> mechanism: forces, impulses, moments]
//   steps of the mechanisms, energies     [mechanism -> group: lengths, rates, wires, for samples at the new point]
//   all ranks                             [-> rank 0: states, accounts, or what failed]
// Messages go only where a bond or wire connects parts of two ranks; the last one always. Rank 0 has the state of all parts at every
// communication point: it judges, writes results and checkpoints as one process does, and still has them if a rank dies. Whether a step
// stands is in its next order.
//
// Sums over parts are made by one rank in the order of the parts; everything else is computed by one rank as by one process.
#include "cosim/cosim.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/guard.h"
#include "rim/message.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

// clang-format off
typedef struct ItmRanks {
    ItmTransport transport;
    char    *out, *in;       // a message to send, and one that has come             (room)
    size_t   room;
    bool    *has_models, *has_impulses, *has_arrivals; // whether one rank sends another a message of that kind   (count x count)
    int*     output_ranks;   // process that computes each output                    (noutput)
    double*  values;         // outputs of a rank that is not 0                      (noutput)
    bool     is_stepping;    // between an order to step and the last message of the step
    double   since;          // the clock at that order
    ItmRanksInfo info;
} ItmRanks;

// How a step went on one rank.
typedef struct Report {
    int status;
    ItmFailure failure;
    ItmError error;
} Report;

// An order, and how many bytes follow it in a message of their own.
typedef struct Order {
    int order;
    size_t size;
} Order;
// clang-format on

typedef void Walk(ItmCosim* x, int from, int to, ItmPacket* p);

// ---------------------------------------------------------------------------- messages

static ItmStatus lose(ItmCosim* x, ItmStatus status)
{
    x->ranks->info.is_lost = true;
    x->failure = (ItmFailure){.phase = -1};  // before all that the step may have found
    return status;
}

static ItmStatus send(ItmCosim* x, int rank, const void* bytes, size_t size)
{
    ItmRanks* r = x->ranks;
    double start = itm_clock();
    ItmStatus status = r->transport.send(r->transport.self, rank, bytes, size, &x->error);
    r->info.wait += r->is_stepping ? itm_clock() - start : 0.0;
    r->info.messages++;
    r->info.bytes += (double)size;
    return status == ITM_OK ? ITM_OK : lose(x, status);
}

static ItmStatus receive(ItmCosim* x, int rank, void* bytes, size_t room, size_t* size)
{
    ItmRanks* r = x->ranks;
    double start = itm_clock();
    *size = 0;
    ItmStatus status = r->transport.receive(r->transport.self, rank, bytes, room, size, &x->error);
    r->info.wait += r->is_stepping ? itm_clock() - start : 0.0;
    r->info.messages++;
    r->info.bytes += (double)*size;
    if (status == ITM_OK && *size > room) {
        status = itm_error_set(&x->error, ITM_ERR_IO, "itm_cosim_step", NULL, "rank %d sent %zu bytes instead of %zu",
                               rank, *size, room);
    }
    return status == ITM_OK ? ITM_OK : lose(x, status);
}

static void begin_step(ItmRanks* r)
{
    r->is_stepping = true;
    r->since = itm_clock();
}

static void end_step(ItmRanks* r)
{
    r->is_stepping = false;
    r->info.step += itm_clock() - r->since;
    r->info.points++;
}

static ItmStatus refuse_message(ItmCosim* x, int rank)
{
    return lose(x, itm_error_set(&x->error, ITM_ERR_IO, "itm_cosim_step", NULL,
                                 "rank %d sent a message that does not fit the system", rank));
}

// ---------------------------------------------------------------------------- who needs what

static int get_bond_rank(const ItmCosim* x, const ItmBond* bond)
{
    return x->subsystems[bond->subsystem].rank;
}

// Whether the rank `to` takes the micro steps of the interface model of a mechanism, with a bond or by a wire.
static bool runs_model(const ItmCosim* x, const ItmMechanism* part, int to)
{
    for (int i = 0; i < part->nbond && part->has_rim && part->assembly == ITM_NONE; i++) {
        const ItmBond* bond = &x->bonds[part->bonds[i]];
        if (itm_cosim_is_rim(bond->options.coupling)) {
            return get_bond_rank(x, bond) == to;
        }
    }
    return false;
}

static bool is_wired(const ItmCosim* x, const ItmWire* wire, int mechanism, int to)
{
    return wire->from == ITM_SOURCE_MECHANISM && wire->from_part == mechanism && wire->to_subsystem != ITM_NONE &&
           x->subsystems[wire->to_subsystem].rank == to;
}

static bool is_needed(const ItmCosim* x, int mechanism, int to)
{
    const ItmMechanism* part = &x->mechanisms[mechanism];
    bool is = false;
    for (int i = 0; i < part->nbond; i++) {
        is = is || get_bond_rank(x, &x->bonds[part->bonds[i]]) == to;
    }
    for (int i = 0; i < x->nwire; i++) {
        is = is || is_wired(x, &x->wires[i], mechanism, to);
    }
    return is;
}

// ---------------------------------------------------------------------------- the messages of a step

// Lengths and rates at a communication point, and outputs that wires carry.
static void move_motion(ItmCosim* x, int mechanism, int to, ItmPacket* p)
{
    ItmMechanism* part = &x->mechanisms[mechanism];
    for (int i = 0; i < part->nbond; i++) {
        ItmBond* bond = &x->bonds[part->bonds[i]];
        itm_packet_move_reals(p, &bond->s, 1);
        itm_packet_move_reals(p, &bond->w, 1);
        if (p->use == ITM_PACKET_READ) {
            bond->s_now = bond->s;
            bond->w_now = bond->w;
            bond->lambda = bond->memory->force;
        }
    }
    for (int i = 0; i < x->nwire; i++) {
        if (is_wired(x, &x->wires[i], mechanism, to)) {
            itm_packet_move_reals(p, &part->y[x->wires[i].from_index], 1);
        }
    }
}

static void move_models(ItmCosim* x, int from, int to, ItmPacket* p)
{
    for (int k = 0; k < x->nmechanism; k++) {
        ItmMechanism* part = &x->mechanisms[k];
        if (part->rank != from || !is_needed(x, k, to)) {
            continue;
        }
        move_motion(x, k, to, p);
        for (int i = 0; i < part->nbond; i++) {
            ItmBond* bond = &x->bonds[part->bonds[i]];
            itm_packet_move_reals(p, &bond->shown, 1);
            if (p->use == ITM_PACKET_READ) {
                itm_mechanism_predict_bond(bond, x->step);
            }
        }
        if (runs_model(x, part, to)) {
            itm_rim_move_model(&part->rim, part->model, part->data, p);
        }
    }
}

static void move_impulses(ItmCosim* x, int from, int to, ItmPacket* p)
{
    for (int k = 0; k < x->nbond; k++) {
        ItmBond* bond = &x->bonds[k];
        ItmBondMemory* memory = bond->memory;
        if (get_bond_rank(x, bond) != from || x->mechanisms[bond->mechanism].rank != to) {
            continue;
        }
        double* const values[] = {&memory->force,      &memory->active, &memory->P0,      &memory->P1,
                                  &memory->throughput, &bond->s_now,    &bond->w_now,     &bond->w_end,
                                  &bond->s_port,       &bond->lambda,   &bond->work_port, &bond->work_model};
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            itm_packet_move_reals(p, values[i], 1);
        }
    }
    for (int k = 0; k < x->nmechanism; k++) {
        ItmMechanism* part = &x->mechanisms[k];
        // with held forces the mechanism has made its step by now, or makes it without
        if (part->rank == to && part->uses_impulse && runs_model(x, part, from)) {
            itm_rim_move_impulses(&part->rim, part->data, p);
        }
    }
}

static void move_arrivals(ItmCosim* x, int from, int to, ItmPacket* p)
{
    for (int k = 0; k < x->nmechanism; k++) {
        if (x->mechanisms[k].rank == from && is_needed(x, k, to)) {
            move_motion(x, k, to, p);
        }
    }
}

static ItmStatus send_walk(ItmCosim* x, int to, ItmStatus status, Walk* walk)
{
    ItmPacket p = {.use = ITM_PACKET_WRITE, .bytes = x->ranks->out, .size = x->ranks->room};
    int word = (int)status;
    itm_packet_move(&p, &word, sizeof word);
    if (status == ITM_OK) {
        walk(x, x->rank, to, &p);
    }
    return p.has_failed ? refuse_message(x, to) : send(x, to, p.bytes, p.used);
}

static ItmStatus receive_walk(ItmCosim* x, int from, ItmStatus status, Walk* walk)
{
    size_t size = 0;
    int word = ITM_OK;
    ItmStatus received = receive(x, from, x->ranks->in, x->ranks->room, &size);
    if (received != ITM_OK) {
        return received;
    }
    ItmPacket p = {.use = ITM_PACKET_READ, .bytes = x->ranks->in, .size = size};
    itm_packet_move(&p, &word, sizeof word);
    if (status == ITM_OK && word == ITM_OK) {
        walk(x, from, x->rank, &p);
        return p.has_failed || p.used != size ? refuse_message(x, from) : ITM_OK;
    }
    if (status == ITM_OK) {
        x->failure = (ItmFailure){.phase = INT_MAX};  // the rank itself reports what has failed
        return (ItmStatus)word;
    }
    return status;
}

// All ranks send before they receive; a rank that has failed sends its status, and no rank waits in vain.
static ItmStatus exchange(ItmCosim* x, ItmStatus status, const bool* has_message, Walk* walk)
{
    int count = x->ranks->transport.count;
    for (int to = 0; to < count; to++) {
        if (has_message[x->rank * count + to] && !x->ranks->info.is_lost) {
            ItmStatus sent = send_walk(x, to, status, walk);
            status = sent != ITM_OK ? sent : status;
        }
    }
    for (int from = 0; from < count; from++) {
        if (has_message[from * count + x->rank] && !x->ranks->info.is_lost) {
            status = receive_walk(x, from, status, walk);
        }
    }
    return status;
}

ItmStatus itm_ranks_exchange_models(ItmCosim* x, ItmStatus status)
{
    return x->ranks != NULL ? exchange(x, status, x->ranks->has_models, move_models) : status;
}

ItmStatus itm_ranks_exchange_impulses(ItmCosim* x, ItmStatus status)
{
    return x->ranks != NULL ? exchange(x, status, x->ranks->has_impulses, move_impulses) : status;
}

ItmStatus itm_ranks_exchange_arrivals(ItmCosim* x, ItmStatus status)
{
    return x->ranks != NULL ? exchange(x, status, x->ranks->has_arrivals, move_arrivals) : status;
}

// ---------------------------------------------------------------------------- to rank 0

static int get_frame_rank(const ItmCosim* x, const ItmFrameBond* bond)
{
    return x->mechanisms[x->interfaces[bond->a].mechanism].rank;
}

// All that rank 0 has of the parts of a rank.
static void move_parts(ItmCosim* x, int rank, ItmPacket* p)
{
    for (int i = 0; i < x->nmechanism; i++) {
        ItmMechanism* part = &x->mechanisms[i];
        if (part->rank == rank) {
            p->has_failed = !itm_cosim_move_mechanism(part, p) || p->has_failed;
            part->has_account = p->use == ITM_PACKET_READ;
        }
    }
    for (int i = 0; i < x->nsubsystem; i++) {
        if (x->subsystems[i].rank == rank) {
            itm_cosim_move_subsystem(&x->subsystems[i], p);
        }
    }
    for (int i = 0; i < x->nbond; i++) {
        if (x->mechanisms[x->bonds[i].mechanism].rank == rank) {
            itm_packet_move(p, x->bonds[i].memory, sizeof *x->bonds[i].memory);
        }
    }
    for (int i = 0; i < x->nframe_bond; i++) {
        ItmFrameBond* bond = &x->frame_bonds[i];
        if (get_frame_rank(x, bond) == rank) {
            itm_packet_move(p, bond->memory, sizeof *bond->memory);
            itm_packet_move_reals(p, &bond->drift, 1);
            itm_packet_move_reals(p, &bond->angle, 1);
            itm_packet_move_reals(p, &bond->slip, 1);
        }
    }
    for (int i = 0; i < x->ngroup; i++) {
        if (x->groups[i].rank == rank) {
            itm_packet_move_reals(p, &x->groups[i].cost, 1);
        }
    }
    for (int i = 0; i < x->nassembly; i++) {
        ItmAssembly* assembly = &x->assemblies[i];
        if (x->mechanisms[assembly->mechanisms[0]].rank == rank) {
            itm_packet_move_reals(p, &assembly->cost, 1);
            itm_packet_move(p, &assembly->join.rank, sizeof assembly->join.rank);
        }
    }
}

static bool is_before(const ItmFailure* a, const ItmFailure* b)
{
    return a->phase != b->phase ? a->phase < b->phase : a->kind != b->kind ? a->kind < b->kind : a->index < b->index;
}

static ItmStatus send_parts(ItmCosim* x, ItmStatus status)
{
    Report report = {.status = (int)status, .failure = x->failure};
    ItmPacket p = {.use = ITM_PACKET_WRITE, .bytes = x->ranks->out, .size = x->ranks->room};
    report.error = x->error;
    itm_packet_move(&p, &report, sizeof report);
    if (status == ITM_OK) {
        move_parts(x, x->rank, &p);
    }
    ItmStatus sent = p.has_failed ? refuse_message(x, 0) : send(x, 0, p.bytes, p.used);
    return sent != ITM_OK ? sent : status;
}

// The parts of one rank. A failure that one process would have noticed before replaces the present one.
static ItmStatus take_parts(ItmCosim* x, int rank, ItmStatus status)
{
    Report report;
    size_t size = 0;
    ItmStatus received = receive(x, rank, x->ranks->in, x->ranks->room, &size);
    if (received != ITM_OK) {
        return received;
    }
    ItmPacket p = {.use = ITM_PACKET_READ, .bytes = x->ranks->in, .size = size};
    itm_packet_move(&p, &report, sizeof report);
    if (p.has_failed) {
        return refuse_message(x, rank);
    }
    if (report.status == ITM_OK) {
        move_parts(x, rank, &p);
        return p.has_failed || p.used != size ? refuse_message(x, rank) : status;
    }
    if (status == ITM_OK || is_before(&report.failure, &x->failure)) {
        x->failure = report.failure;
        x->error = report.error;
        return (ItmStatus)report.status;
    }
    return status;
}

ItmStatus itm_ranks_gather(ItmCosim* x, ItmStatus status)
{
    if (x->ranks == NULL) {
        return status;
    }
    if (x->rank != 0) {
        status = send_parts(x, status);
    }
    for (int rank = 1; x->rank == 0 && rank < x->ranks->transport.count && !x->ranks->info.is_lost; rank++) {
        status = take_parts(x, rank, status);
    }
    end_step(x->ranks);
    return status;
}

// Accounts of the mechanisms of a rank, and its outputs.
static void move_outputs(ItmCosim* x, int rank, double* values, ItmPacket* p)
{
    for (int i = 0; i < x->nmechanism; i++) {
        ItmMechanism* part = &x->mechanisms[i];
        if (part->rank == rank) {
            itm_packet_move(p, &part->account, sizeof part->account);
            itm_packet_move(p, &part->data->info, sizeof part->data->info);
            part->has_account = p->use == ITM_PACKET_READ;
        }
    }
    for (int i = 0; i < x->noutput; i++) {
        if (x->ranks->output_ranks[i] == rank) {
            itm_packet_move_reals(p, &values[i], 1);
        }
    }
}

static ItmStatus send_outputs(ItmCosim* x)
{
    int status = (int)itm_cosim_compute_own_outputs(x, x->ranks->values);
    ItmPacket p = {.use = ITM_PACKET_WRITE, .bytes = x->ranks->out, .size = x->ranks->room};
    itm_packet_move(&p, &status, sizeof status);
    itm_packet_move(&p, &x->error, sizeof x->error);
    move_outputs(x, x->rank, x->ranks->values, &p);
    return p.has_failed ? refuse_message(x, 0) : send(x, 0, p.bytes, p.used);
}

ItmStatus itm_ranks_gather_outputs(ItmCosim* x, double* values)
{
    int status = ITM_OK;
    for (int rank = 1; x->ranks != NULL && rank < x->ranks->transport.count && !x->ranks->info.is_lost; rank++) {
        size_t size = 0;
        int word = ITM_OK;
        ItmError error;
        ItmStatus received = receive(x, rank, x->ranks->in, x->ranks->room, &size);
        if (received != ITM_OK) {
            return received;
        }
        ItmPacket p = {.use = ITM_PACKET_READ, .bytes = x->ranks->in, .size = size};
        itm_packet_move(&p, &word, sizeof word);
        itm_packet_move(&p, &error, sizeof error);
        move_outputs(x, rank, values, &p);
        if (p.has_failed || p.used != size) {
            return refuse_message(x, rank);
        }
        if (word != ITM_OK && status == ITM_OK) {
            status = word;
            x->error = error;
        }
    }
    return (ItmStatus)status;
}

// ---------------------------------------------------------------------------- orders

ItmStatus itm_ranks_order(ItmCosim* x, ItmRanksOrder word, const void* bytes, size_t size)
{
    ItmRanks* r = x->ranks;
    if (r == NULL || x->rank != 0 || r->in == NULL) {
        return ITM_OK;
    }
    bool is_farewell = word == ITM_RANKS_ABANDON || word == ITM_RANKS_END;
    if (r->info.is_lost) {
        return is_farewell ? ITM_OK : ITM_ERR_IO;  // the error is that of the loss
    }
    Order order = {.order = (int)word, .size = size};
    ItmStatus status = ITM_OK;
    if (word == ITM_RANKS_STEP) {
        begin_step(r);
    }
    for (int rank = 1; rank < r->transport.count && status == ITM_OK; rank++) {
        status = send(x, rank, &order, sizeof order);
        status = status == ITM_OK && size > 0 ? send(x, rank, bytes, size) : status;
    }
    return status;
}

static ItmStatus obey(ItmCosim* x, const Order* order)
{
    size_t size = 0;
    ItmStatus status = order->size > 0 ? receive(x, 0, x->ranks->in, x->ranks->room, &size) : ITM_OK;
    if (status != ITM_OK || size != order->size) {
        return status != ITM_OK ? status : refuse_message(x, 0);
    }
    switch (order->order) {
    case ITM_RANKS_STEP:
        begin_step(x->ranks);
        (void)itm_cosim_step_along(x);  // rank 0 has its status
        return ITM_OK;
    case ITM_RANKS_ABANDON:
        (void)itm_cosim_abandon(x, ITM_OK);
        return ITM_OK;
    case ITM_RANKS_RESET:
        return itm_cosim_reset(x);
    case ITM_RANKS_RESTORE:
        return itm_cosim_restore(x, x->ranks->in, size);
    case ITM_RANKS_OUTPUTS:
        return send_outputs(x);
    case ITM_RANKS_ECHO:
        return send(x, 0, x->ranks->in, size);
    default:
        return refuse_message(x, 0);
    }
}

#define ECHOES 20

// What messages alone take: the longest of those that end a step, there and back, the least of some times.
static ItmStatus time_messages(ItmCosim* x)
{
    ItmRanks* r = x->ranks;
    size_t most = 0;
    for (int rank = 1; rank < r->transport.count; rank++) {
        ItmPacket p = {.use = ITM_PACKET_MEASURE};
        move_parts(x, rank, &p);
        most = p.used > most ? p.used : most;
    }
    memset(r->out, 0, r->room);
    ItmStatus status = ITM_OK;
    for (int i = 0; i < ECHOES && status == ITM_OK; i++) {
        double start = itm_clock();
        status = itm_ranks_order(x, ITM_RANKS_ECHO, r->out, most);
        for (int rank = 1; rank < r->transport.count && status == ITM_OK; rank++) {
            size_t size = 0;
            status = receive(x, rank, r->in, r->room, &size);
        }
        // half of it: the order that starts a step is short
        double time = 0.5 * (itm_clock() - start);
        r->info.message = i == 0 || time < r->info.message ? time : r->info.message;
    }
    r->info.messages = 0;
    r->info.bytes = 0.0;
    return status;
}

ItmStatus itm_ranks_serve(ItmCosim* x, ItmError* error)
{
    if (x == NULL || x->ranks == NULL || x->rank == 0) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL,
                             "cosim is NULL, has joined no ranks, or is that of rank 0");
    }
    ItmStatus status = ITM_OK;
    Order order = {0};
    while (status == ITM_OK && order.order != ITM_RANKS_END) {
        size_t size = 0;
        status = receive(x, 0, &order, sizeof order, &size);
        status = status == ITM_OK && size != sizeof order ? refuse_message(x, 0) : status;
        if (status == ITM_OK && order.order != ITM_RANKS_END) {
            status = obey(x, &order);
            status = x->ranks->info.is_lost ? ITM_ERR_IO : status;
        }
    }
    if (status != ITM_OK && error != NULL) {
        *error = x->error;
    }
    return status;
}

// ---------------------------------------------------------------------------- joining

static void set_ranks(ItmCosim* x, const int* ranks)
{
    for (int i = 0; i < x->nmechanism; i++) {
        x->mechanisms[i].rank = ranks[i];
    }
    for (int i = 0; i < x->nsubsystem; i++) {
        x->subsystems[i].rank = ranks[x->nmechanism + i];
    }
    for (int i = 0; i < x->ngroup; i++) {
        ItmGroup* group = &x->groups[i];
        group->rank = x->subsystems[group->subsystems[0]].rank;
        group->is_late = false;
    }
    for (int i = 0; i < x->nbond; i++) {
        ItmGroup* group = &x->groups[x->subsystems[x->bonds[i].subsystem].group];
        group->is_late = group->is_late || x->mechanisms[x->bonds[i].mechanism].rank != group->rank;
    }
    for (int i = 0; i < x->nwire; i++) {
        const ItmWire* wire = &x->wires[i];
        if (wire->from == ITM_SOURCE_MECHANISM && wire->to_subsystem != ITM_NONE) {
            ItmGroup* group = &x->groups[x->subsystems[wire->to_subsystem].group];
            group->is_late = group->is_late || x->mechanisms[wire->from_part].rank != group->rank;
        }
    }
}

static void find_messages(ItmCosim* x)
{
    ItmRanks* r = x->ranks;
    int count = r->transport.count;
    for (int i = 0; i < x->nmechanism; i++) {
        int from = x->mechanisms[i].rank;
        for (int to = 0; to < count; to++) {
            if (to != from && is_needed(x, i, to)) {
                r->has_models[from * count + to] = true;
                r->has_arrivals[from * count + to] = x->nsampled > 0;
            }
        }
    }
    for (int i = 0; i < x->nbond; i++) {
        int from = get_bond_rank(x, &x->bonds[i]), to = x->mechanisms[x->bonds[i].mechanism].rank;
        r->has_impulses[from * count + to] = r->has_impulses[from * count + to] || from != to;
    }
}

// Length of the longest message, which any of the walks may have.
static size_t measure_messages(ItmCosim* x)
{
    size_t most = itm_cosim_get_state_size(x);
    int count = x->ranks->transport.count;
    for (int from = 0; from < count; from++) {
        ItmPacket p = {.use = ITM_PACKET_MEASURE};
        move_parts(x, from, &p);
        most = p.used > most ? p.used : most;
        for (int to = 0; to < count; to++) {
            ItmPacket models = {.use = ITM_PACKET_MEASURE}, impulses = {.use = ITM_PACKET_MEASURE};
            if (from != to) {
                move_models(x, from, to, &models);
                move_impulses(x, from, to, &impulses);
            }
            most = models.used > most ? models.used : most;
            most = impulses.used > most ? impulses.used : most;
        }
    }
    size_t outputs =
        sizeof(double) * (size_t)x->noutput + (sizeof(ItmAccount) + sizeof(ItmStepInfo)) * (size_t)x->nmechanism;
    return (outputs > most ? outputs : most) + sizeof(Report) + sizeof(ItmError);
}

// A system as far as ranks must agree on it before they exchange states.
typedef struct Outline {
    int nmechanism, nsubsystem, nbond, nwire, noutput;
    size_t state_size;
} Outline;

// Parts are placed as rank 0 has chosen; the start is compared, and taken from rank 0 where processors round differently.
static ItmStatus agree(ItmCosim* x, int* ranks, char* state)
{
    size_t npart = (size_t)(x->nmechanism + x->nsubsystem), size = 0;
    Outline own = {x->nmechanism, x->nsubsystem, x->nbond, x->nwire, x->noutput, itm_cosim_get_state_size(x)}, other;
    memset(&other, 0, sizeof other);
    if (x->ranks->transport.rank == 0) {
        ItmStatus status = itm_cosim_save(x, state, own.state_size);
        for (int to = 1; to < x->ranks->transport.count && status == ITM_OK; to++) {
            status = send(x, to, &own, sizeof own);
            status = status == ITM_OK ? send(x, to, ranks, sizeof *ranks * npart) : status;
            status = status == ITM_OK ? send(x, to, state, own.state_size) : status;
        }
        return status;
    }
    ItmStatus status = receive(x, 0, &other, sizeof other, &size);
    bool is_same = size == sizeof own && own.nmechanism == other.nmechanism && own.nsubsystem == other.nsubsystem &&
                   own.nbond == other.nbond && own.nwire == other.nwire && own.noutput == other.noutput &&
                   own.state_size == other.state_size;
    if (status == ITM_OK && !is_same) {
        return itm_error_set(&x->error, ITM_ERR_INPUT, "itm_ranks_join", NULL, "rank 0 has another system");
    }
    status = status == ITM_OK ? receive(x, 0, ranks, sizeof *ranks * npart, &size) : status;
    status = status == ITM_OK ? receive(x, 0, state, own.state_size, &size) : status;
    return status;
}

static ItmStatus take_start(ItmCosim* x, const char* state)
{
    size_t size = itm_cosim_get_state_size(x);
    ItmStatus status = itm_cosim_save(x, x->backup, size);
    return status == ITM_OK && memcmp(x->backup, state, size) != 0 ? itm_cosim_restore(x, state, size) : status;
}

static ItmStatus check_transport(const ItmCosim* x, const ItmTransport* t, const int* ranks, ItmError* error)
{
    if (x == NULL || t == NULL || t->send == NULL || t->receive == NULL || t->count < 1 || t->rank < 0 ||
        t->rank >= t->count || (t->rank == 0 && ranks == NULL) || x->ranks != NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, "itm_ranks_join", NULL,
                             "cosim or transport is NULL or incomplete, rank 0 has no placement, or the system has "
                             "joined ranks before");
    }
    for (int i = 0; t->rank == 0 && i < x->nmechanism + x->nsubsystem; i++) {
        if (ranks[i] < 0 || ranks[i] >= t->count) {
            return itm_error_set(error, ITM_ERR_ARGUMENT, "itm_ranks_join", "ranks", "part %d is on rank %d of %d", i,
                                 ranks[i], t->count);
        }
    }
    return ITM_OK;
}

static bool create(ItmCosim* x, const ItmTransport* transport)
{
    ItmRanks* r = x->ranks = calloc(1, sizeof *r);
    if (r == NULL) {
        return false;
    }
    size_t npair = (size_t)transport->count * (size_t)transport->count;
    r->transport = *transport;
    r->info.count = transport->count;
    r->has_models = calloc(3 * npair, sizeof(bool));
    r->output_ranks = calloc((size_t)x->noutput + 1, sizeof *r->output_ranks);
    r->values = calloc((size_t)x->noutput + 1, sizeof *r->values);
    if (r->has_models == NULL || r->output_ranks == NULL || r->values == NULL) {
        return false;
    }
    r->has_impulses = r->has_models + npair;
    r->has_arrivals = r->has_impulses + npair;
    return true;
}

static ItmStatus join(ItmCosim* x, int* ranks, char* state)
{
    ItmStatus status = agree(x, ranks, state);
    if (status != ITM_OK) {
        return status;
    }
    ItmRanks* r = x->ranks;
    status = r->transport.rank != 0 ? take_start(x, state) : ITM_OK;
    x->rank = r->transport.rank;
    set_ranks(x, ranks);
    find_messages(x);
    r->room = measure_messages(x);
    r->out = malloc(r->room);
    r->in = malloc(r->room);
    if (r->out == NULL || r->in == NULL) {
        return itm_error_set(&x->error, ITM_ERR_MEMORY, "itm_ranks_join", NULL, "out of memory for messages");
    }
    itm_cosim_find_output_ranks(x, r->output_ranks);
    for (int i = 0; i < x->nmechanism + x->nsubsystem; i++) {
        r->info.nown += ranks[i] == x->rank;
    }
    return status == ITM_OK && x->rank == 0 && r->transport.count > 1 ? time_messages(x) : status;
}

ItmStatus itm_ranks_join(ItmCosim* x, const ItmTransport* transport, const int* ranks, ItmError* error)
{
    ItmStatus status = check_transport(x, transport, ranks, error);
    if (status != ITM_OK) {
        return status;
    }
    size_t npart = (size_t)(x->nmechanism + x->nsubsystem);
    int* own = calloc(npart + 1, sizeof *own);
    char* state = malloc(itm_cosim_get_state_size(x) + 1);
    if (own == NULL || state == NULL || !create(x, transport)) {
        status = itm_error_set(&x->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    } else {
        if (transport->rank == 0) {
            memcpy(own, ranks, npart * sizeof *own);
        }
        status = join(x, own, state);
    }
    free(own);
    free(state);
    if (status != ITM_OK) {
        if (error != NULL) {
            *error = x->error;
        }
        itm_ranks_destroy(x);
    }
    return status;
}

void itm_ranks_destroy(ItmCosim* x)
{
    ItmRanks* r = x->ranks;
    if (r == NULL) {
        return;
    }
    if (r->in != NULL) {
        (void)itm_ranks_order(x, ITM_RANKS_END, NULL, 0);
    }
    free(r->has_models);
    free(r->output_ranks);
    free(r->values);
    free(r->out);
    free(r->in);
    free(r);
    x->ranks = NULL;
    x->rank = 0;
}

// ---------------------------------------------------------------------------- looking

ItmStatus itm_ranks_refuse(ItmCosim* x, const char* function)
{
    return x->ranks == NULL ? ITM_OK
                            : itm_error_set(&x->error, ITM_ERR_UNSUPPORTED, function, NULL,
                                            "several processes step this system: it can be stepped, reset, saved, "
                                            "restored and read");
}

ItmRanksInfo itm_ranks_get_info(const ItmCosim* x)
{
    ITM_GUARD(x != NULL, (ItmRanksInfo){0});
    return x->ranks != NULL ? x->ranks->info : (ItmRanksInfo){.count = 1, .nown = x->nmechanism + x->nsubsystem};
}

int itm_ranks_get_rank(const ItmCosim* x, int part)
{
    ITM_GUARD(x != NULL && ITM_IS_INDEX(part, x->nmechanism + x->nsubsystem), ITM_NONE);
    return part < x->nmechanism ? x->mechanisms[part].rank : x->subsystems[part - x->nmechanism].rank;
}
