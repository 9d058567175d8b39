#include "rim/message.h"

#include "base/error.h"
#include "mlcp/workspace.h"
#include "rim/contacts.h"

#include <stdio.h>
#include <string.h>

void itm_rim_write_build(char build[48])
{
    snprintf(build, 48, "%.20s %zu %zu %zu", itm_version(), sizeof(ItmRow), sizeof(ItmMlcpContact),
             sizeof(ItmRimMessage));
}

// ---------------------------------------------------------------------------- walks

static void move_flag(ItmPacket* p, bool* flag)
{
    int value = *flag;
    itm_packet_move(p, &value, sizeof value);
    *flag = value != 0;
}

// How solves of bounded rows went: the mechanism continues with it.
static void move_counters(ItmRim* rim, ItmPacket* p, int* worst_row, double* worst_residual)
{
    ItmStepInfo* info = &rim->data->info;
    int* const counts[] = {&info->solver_iterations, &info->solver_redundant, worst_row};
    long* const totals[] = {&info->fallbacks, &info->unsolved, &rim->contacts.nsolve, &rim->contacts.ntrial,
                            &rim->contacts.nsteady};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        itm_packet_move(p, counts[i], sizeof *counts[i]);
    }
    for (size_t i = 0; i < sizeof totals / sizeof totals[0]; i++) {
        itm_packet_move(p, totals[i], sizeof *totals[i]);
    }
    itm_packet_move_reals(p, &info->solver_residual, 1);
    itm_packet_move_reals(p, worst_residual, 1);
}

// Bounded rows on their way to the micro steps.
static void move_rows(ItmRim* rim, ItmPacket* p, int nc, int ncoupling)
{
    ItmRimContacts* r = &rim->contacts;
    ItmRowProblem* problem = &r->problem;
    itm_packet_move(p, problem->rows, sizeof(ItmRow) * (size_t)nc);
    itm_packet_move(p, problem->couplings, sizeof(ItmMlcpContact) * (size_t)ncoupling);
    itm_packet_move_reals(p, problem->H, nc * nc);
    itm_packet_move_reals(p, r->Hci, nc * rim->n);
    itm_packet_move_reals(p, r->s_drift, nc > 0 ? rim->n : 0);
    double* const of_rows[] = {r->ac, r->gap_drift, r->correction, r->x, r->set.ratio};
    for (size_t i = 0; i < sizeof of_rows / sizeof of_rows[0]; i++) {
        itm_packet_move_reals(p, of_rows[i], nc);
    }
    itm_packet_move(p, r->table, sizeof *r->table * (size_t)nc);
    void* const of_bytes[] = {problem->state, r->set.state, r->has_held, r->has_changed};
    for (size_t i = 0; i < sizeof of_bytes / sizeof of_bytes[0]; i++) {
        itm_packet_move(p, of_bytes[i], (size_t)nc);
    }
    itm_packet_move_reals(p, &problem->contradiction, 1);
    problem->slip_is_known = false;  // a macro step begins
    move_flag(p, &r->has_bounces);
    itm_packet_move_reals(p, &rim->h, 1);
    move_counters(rim, p, &rim->data->bounded->worst_row, &rim->data->bounded->worst_residual);
}

// Numbers of a row that micro steps change. Compliance is on the diagonal of H too.
typedef struct RowResult {
    double gap, rate, omega, diagonal;
    double is_bouncing;  // 0 or 1: no padding
} RowResult;

static void move_row_result(ItmRowProblem* problem, int i, int nc, ItmPacket* p)
{
    RowResult result = {0};
    bool is_read = p->use == ITM_PACKET_READ;
    if (p->use == ITM_PACKET_WRITE) {
        const ItmRow* row = &problem->rows[i];
        result =
            (RowResult){row->gap, row->rate, row->omega, problem->H[(size_t)i * (size_t)(nc + 1)], row->is_bouncing};
    }
    itm_packet_move(p, &result, sizeof result);
    if (is_read && !p->has_failed) {
        ItmRow* row = &problem->rows[i];
        row->gap = result.gap;
        row->rate = result.rate;
        row->omega = result.omega;
        row->is_bouncing = result.is_bouncing != 0.0;
        problem->H[(size_t)i * (size_t)(nc + 1)] = result.diagonal;
    }
}

// Results of the micro steps on their way back. The row that was solved worst counts if it is one of those that were handed over.
static void move_results(ItmRim* rim, ItmPacket* p, int nc)
{
    ItmRimContacts* r = &rim->contacts;
    double* const scalars[] = {&rim->h, &rim->tau, &rim->theta};
    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++) {
        itm_packet_move_reals(p, scalars[i], 1);
    }
    move_flag(p, &rim->use_heun);
    double* const of_interfaces[] = {rim->P0, rim->P1, rim->work, rim->s, rim->w};
    for (size_t i = 0; i < sizeof of_interfaces / sizeof of_interfaces[0]; i++) {
        itm_packet_move_reals(p, of_interfaces[i], rim->n);
    }
    if (nc == 0) {
        return;
    }
    double* const of_rows[] = {r->Q0, r->Q1, r->work, r->correction, r->x, r->set.ratio};
    for (size_t i = 0; i < sizeof of_rows / sizeof of_rows[0]; i++) {
        itm_packet_move_reals(p, of_rows[i], nc);
    }
    void* const of_bytes[] = {r->set.state, r->has_held, r->has_changed};
    for (size_t i = 0; i < sizeof of_bytes / sizeof of_bytes[0]; i++) {
        itm_packet_move(p, of_bytes[i], (size_t)nc);
    }
    for (int i = 0; i < nc; i++) {
        move_row_result(&r->problem, i, nc, p);
    }
    ItmBounded* bounded = rim->data->bounded;
    int worst_row = bounded->worst_row;
    double worst_residual = bounded->worst_residual;
    move_counters(rim, p, &worst_row, &worst_residual);
    for (int i = 0; p->use == ITM_PACKET_READ && i < nc; i++) {
        if (r->table[i] == worst_row) {
            bounded->worst_row = worst_row;
            bounded->worst_residual = worst_residual;
        }
    }
}

// ---------------------------------------------------------------------------- between processes of one system

// Rows of a measured message: as many as there is room for.
static int count_rows(const ItmPacket* p, int n, int capacity)
{
    return p->use == ITM_PACKET_MEASURE ? capacity : n;
}

void itm_rim_move_model(ItmRim* rim, const ItmModel* m, ItmData* d, ItmPacket* p)
{
    ItmRimContacts* r = &rim->contacts;
    ItmRowProblem* problem = &r->problem;
    int n = rim->n;
    rim->model = m;
    rim->data = d;
    itm_packet_move_reals(p, &rim->t, 1);
    itm_packet_move_reals(p, &rim->H, 1);
    itm_packet_move_reals(p, rim->W, n * n);
    itm_packet_move_reals(p, rim->a0, n);
    itm_packet_move_reals(p, rim->s, n);
    itm_packet_move_reals(p, rim->w, n);
    itm_packet_move_count(p, &problem->n, r->capacity);
    itm_packet_move_count(p, &problem->ncoupling, r->coupling_capacity);
    if (d->bounded != NULL) {
        move_rows(rim, p, count_rows(p, problem->n, r->capacity),
                  count_rows(p, problem->ncoupling, r->coupling_capacity));
        r->workspace = p->use == ITM_PACKET_READ ? d->bounded->work.workspace : r->workspace;
    }
}

void itm_rim_move_impulses(ItmRim* rim, ItmData* d, ItmPacket* p)
{
    ItmRimContacts* r = &rim->contacts;
    int nc = count_rows(p, r->problem.n, r->capacity);
    rim->data = d;
    if (p->use == ITM_PACKET_WRITE && nc > 0) {
        itm_rim_steady_end(rim, rim->h);
    }
    move_results(rim, p, nc);
    if (p->use == ITM_PACKET_READ) {
        r->steady.is_on = false;
    }
}

// ---------------------------------------------------------------------------- header

size_t itm_rim_measure_message(int n, int nc, int ncoupling)
{
    ItmBounded bounded = {.worst_row = ITM_NONE};
    ItmData data = {.bounded = &bounded};
    ItmRim sizes = {.n = n, .data = &data};
    ItmPacket rows = {.use = ITM_PACKET_MEASURE}, results = rows;
    move_rows(&sizes, &rows, nc, ncoupling);
    move_results(&sizes, &results, nc);
    itm_packet_move_reals(&results, NULL, n);  // lambda
    return sizeof(ItmRimMessage) + (rows.used > results.used ? rows.used : results.used);
}

static ItmRimMessage write_header(const ItmRim* rim, bool is_result)
{
    const ItmRimContacts* r = &rim->contacts;
    ItmRimMessage m = {.n = rim->n,
                       .nc = r->problem.n,
                       .ncoupling = r->problem.ncoupling,
                       .nlcp = r->workspace->capacity.nlcp,
                       .is_result = is_result,
                       .step = r->step,
                       .options = rim->model->contact_options};
    m.size = itm_rim_measure_message(m.n, m.nc, m.ncoupling);
    itm_rim_write_build(m.build);
    return m;
}

// The packet behind the header of a message; only ITM_PACKET_WRITE writes to it.
static ItmPacket open_packet(ItmPacketUse use, const void* bytes, size_t size)
{
    return (ItmPacket){.use = use, .bytes = (char*)(uintptr_t)bytes, .size = size, .used = sizeof(ItmRimMessage)};
}

// ---------------------------------------------------------------------------- rows

void itm_rim_write_rows(const ItmRim* rim, void* bytes)
{
    ItmRimMessage header = write_header(rim, false);
    memcpy(bytes, &header, sizeof header);
    ItmPacket p = open_packet(ITM_PACKET_WRITE, bytes, header.size);
    ItmRim from = *rim;
    move_rows(&from, &p, header.nc, header.ncoupling);
}

// A flag in a message that was copied byte by byte: any other value than 0 and 1 is undefined.
static bool is_flag(const bool* flag)
{
    unsigned char byte;
    memcpy(&byte, flag, 1);
    return byte <= 1;
}

static bool is_sound_row(const ItmRow* row, int n)
{
    const bool* const flags[] = {&row->is_bouncing, &row->is_held, &row->is_at_rest, &row->is_fixed, &row->has_target};
    bool is =
        row->normal >= ITM_NONE && row->normal < n && (int)row->kind >= 0 && row->kind <= ITM_BOUND_CLEARANCE_TORSION;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        is = is && is_flag(flags[i]);
    }
    return is;
}

static bool is_sound_coupling(const ItmMlcpContact* coupling, int n)
{
    const int* t = coupling->tangent;
    return coupling->normal >= 0 && coupling->normal < n && t[0] >= 0 && t[0] < n && t[1] >= ITM_NONE && t[1] < n &&
           (int)coupling->law >= 0 && coupling->law < ITM_FRICTION_COUNT &&
           (coupling->law != ITM_FRICTION_PYRAMID || (coupling->ndirection >= 3 && coupling->ndirection <= 32));
}

// Active set and flags of n rows, also those that micro steps have changed.
static bool is_sound_set(const ItmRimContacts* r, int n)
{
    bool is = true;
    for (int i = 0; i < n; i++) {
        int state = r->set.state[i];
        is = is && state >= ITM_ROW_LO && state <= ITM_ROW_SLIP &&
             (state != ITM_ROW_SLIP || r->problem.rows[i].normal != ITM_NONE) && is_flag(&r->has_held[i]) &&
             is_flag(&r->has_changed[i]);
    }
    return is;
}

static bool is_sound_header(const ItmRimMessage* m)
{
    const ItmContactOptions* o = &m->options;
    const ItmRowStep* step = &m->step;
    return is_flag(&step->feeds_gaps_back) && is_flag(&step->places_hits) && is_flag(&step->uses_mean) &&
           is_flag(&o->lag_friction_bounds) && (int)o->law >= 0 && o->law < ITM_FRICTION_COUNT && (int)o->solver >= 0 &&
           o->solver < ITM_MLCP_SOLVER_COUNT;
}

// Whether every number that names a row names one, and every state is one: a message may come from a damaged process.
static bool is_sound(const ItmRimContacts* r)
{
    const ItmRowProblem* p = &r->problem;
    if (!(p->contradiction >= 0.0)) {
        return false;
    }
    bool is = true;
    for (int i = 0; i < p->n; i++) {
        is = is && is_sound_row(&p->rows[i], p->n) && p->state[i] >= ITM_ROW_LO && p->state[i] <= ITM_ROW_UNKNOWN;
    }
    for (int c = 0; c < p->ncoupling; c++) {
        is = is && is_sound_coupling(&p->couplings[c], p->n);
    }
    return is && is_sound_set(r, p->n);
}

static bool is_of_this_build(const ItmRimMessage* m, size_t size)
{
    char build[sizeof m->build] = "";
    itm_rim_write_build(build);
    return memcmp(m->build, build, sizeof build) == 0 && m->size == size;
}

static bool fits(const ItmRim* rim, const ItmRimMessage* m, size_t size)
{
    return is_of_this_build(m, size) && !m->is_result && m->n == rim->n && m->nc > 0 && m->nc < (1 << 16) &&
           m->ncoupling >= 0 && m->ncoupling < (1 << 16) && m->nlcp >= 0 && m->nlcp < (1 << 16) &&
           itm_rim_measure_message(m->n, m->nc, m->ncoupling) == size && is_sound_header(m);
}

#define LEAST_ROWS 64  // room for rows grows by doubling from here

static ItmStatus make_room(ItmRim* rim, ItmRimRoom* room, const ItmRimMessage* m, ItmError* error)
{
    const ItmRimContacts* r = &rim->contacts;
    bool is_enough = room->workspace != NULL && r->workspace == room->workspace && m->nc <= r->capacity &&
                     m->ncoupling <= r->coupling_capacity && m->nlcp == room->workspace->capacity.nlcp;
    if (is_enough) {
        return ITM_OK;
    }
    int capacity = LEAST_ROWS;
    while (capacity < m->nc || capacity < m->ncoupling) {
        capacity *= 2;
    }
    itm_rim_free_room(room);
    rim->contacts = (ItmRimContacts){.capacity = 0};
    itm_rim_contacts_lay_out_rows(rim, &room->arena, capacity, capacity);
    ItmMlcpCapacity most = {.n = capacity, .ncontact = capacity, .nlcp = m->nlcp};
    if (itm_arena_allocate(&room->arena) != 0) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory for %d rows of contacts", capacity);
    }
    itm_rim_contacts_lay_out_rows(rim, &room->arena, capacity, capacity);
    ItmStatus status = itm_mlcp_workspace_create(&room->workspace, &most, error);
    rim->contacts.workspace = room->workspace;
    room->data.model = &room->model;
    room->data.bounded = &room->bounded;
    return status;
}

void itm_rim_free_room(ItmRimRoom* room)
{
    itm_mlcp_workspace_destroy(room->workspace);
    itm_arena_free(&room->arena);
    room->workspace = NULL;
    room->arena = (ItmArena){.used = 0};
}

ItmStatus itm_rim_read_rows(ItmRim* rim, ItmRimRoom* room, const void* bytes, size_t size, ItmError* error)
{
    ItmRimContacts* r = &rim->contacts;
    ItmRimMessage header;
    memcpy(&header, bytes, sizeof header);
    r->problem.n = r->problem.ncoupling = 0;
    ItmStatus status = fits(rim, &header, size) ? make_room(rim, room, &header, error)
                                                : itm_error_set(error, ITM_ERR_INPUT, __func__, NULL,
                                                                "rows of contacts are of another build, or damaged");
    if (status != ITM_OK) {
        return status;
    }
    rim->model = &room->model;
    rim->data = &room->data;
    room->model.contact_options = header.options;
    r->problem.n = header.nc;
    r->problem.ncoupling = header.ncoupling;
    r->has_begun = true;
    r->step = header.step;
    r->steady.is_on = r->set.is_factored = false;
    ItmPacket p = open_packet(ITM_PACKET_READ, bytes, size);
    move_rows(rim, &p, header.nc, header.ncoupling);
    memset(r->Q0, 0, sizeof(double) * (size_t)header.nc);
    memset(r->Q1, 0, sizeof(double) * (size_t)header.nc);
    memset(r->work, 0, sizeof(double) * (size_t)header.nc);
    if (!is_sound(r)) {
        r->problem.n = r->problem.ncoupling = 0;
        return itm_error_set(error, ITM_ERR_INPUT, __func__, NULL, "rows of contacts are damaged");
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- results

void itm_rim_write_results(ItmRim* rim, const double* lambda, void* bytes)
{
    itm_rim_steady_end(rim, rim->h);
    ItmRimMessage header = write_header(rim, true);
    memcpy(bytes, &header, sizeof header);
    ItmPacket p = open_packet(ITM_PACKET_WRITE, bytes, header.size);
    move_results(rim, &p, header.nc);
    memcpy(itm_packet_take(&p, sizeof(double) * (size_t)rim->n), lambda, sizeof(double) * (size_t)rim->n);
}

bool itm_rim_read_results(ItmRim* rim, double* lambda, const void* bytes)
{
    const ItmRowProblem* problem = &rim->contacts.problem;
    ItmRimMessage header;
    memcpy(&header, bytes, sizeof header);
    if (!is_of_this_build(&header, itm_rim_measure_message(rim->n, problem->n, problem->ncoupling)) ||
        !header.is_result || header.n != rim->n || header.nc != problem->n) {
        return false;
    }
    ItmPacket p = open_packet(ITM_PACKET_READ, bytes, header.size);
    move_results(rim, &p, header.nc);
    itm_packet_move_reals(&p, lambda, rim->n);
    return is_sound_set(&rim->contacts, header.nc);
}
