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

// ---------------------------------------------------------------------------- parts

#define MOST_PARTS 16

// Arrays of a message, one after the other, each aligned to 8 bytes.
typedef struct Part {
    void* at;
    size_t size;
} Part;

static size_t round_up(size_t n)
{
    return (n + 7) / 8 * 8;
}

static int list_rows(const ItmRim* rim, Part* parts)
{
    const ItmRimContacts* r = &rim->contacts;
    const ItmRowProblem* p = &r->problem;
    size_t n = (size_t)rim->n, nc = (size_t)p->n, real = sizeof(double);
    const Part list[] = {{p->rows, nc * sizeof *p->rows},
                         {p->couplings, (size_t)p->ncoupling * sizeof *p->couplings},
                         {p->H, nc * nc * real},
                         {r->Hci, nc * n * real},
                         {r->ac, nc * real},
                         {r->gap_drift, nc * real},
                         {r->s_drift, n * real},
                         {r->x, nc * real},
                         {r->set.ratio, nc * real},
                         {r->table, nc * sizeof *r->table},
                         {p->state, nc},
                         {r->set.state, nc},
                         {r->has_held, nc},
                         {r->has_changed, nc}};
    memcpy(parts, list, sizeof list);
    return (int)(sizeof list / sizeof list[0]);
}

static int list_results(const ItmRim* rim, const double* lambda, Part* parts)
{
    const ItmRimContacts* r = &rim->contacts;
    size_t n = (size_t)rim->n, nc = (size_t)r->problem.n, real = sizeof(double);
    const Part list[] = {{rim->s, n * real},   {rim->w, n * real},        {rim->P0, n * real},
                         {rim->P1, n * real},  {rim->work, n * real},     {(void*)(uintptr_t)lambda, n * real},
                         {r->x, nc * real},    {r->Q0, nc * real},        {r->Q1, nc * real},
                         {r->work, nc * real}, {r->set.ratio, nc * real}, {r->set.state, nc},
                         {r->has_held, nc},    {r->has_changed, nc}};
    memcpy(parts, list, sizeof list);
    return (int)(sizeof list / sizeof list[0]);
}

static size_t measure_parts(const Part* parts, int n)
{
    size_t size = round_up(sizeof(ItmRimMessage));
    for (int i = 0; i < n; i++) {
        size += round_up(parts[i].size);
    }
    return size;
}

// Returns the place behind them.
static char* write_parts(const Part* parts, int n, char* at)
{
    for (int i = 0; i < n; at += round_up(parts[i].size), i++) {
        memcpy(at, parts[i].at, parts[i].size);
    }
    return at;
}

static const char* read_parts(const Part* parts, int n, const char* at)
{
    for (int i = 0; i < n; at += round_up(parts[i].size), i++) {
        memcpy(parts[i].at, at, parts[i].size);
    }
    return at;
}

// Numbers of a row that micro steps change.
typedef struct RowResult {
    double gap, rate, omega;
    double is_bouncing;  // 0 or 1: no padding
} RowResult;

size_t itm_rim_measure_message(int n, int nc, int ncoupling)
{
    Part parts[MOST_PARTS];
    ItmRim sizes = {.n = n, .contacts.problem = {.n = nc, .ncoupling = ncoupling}};
    size_t rows = measure_parts(parts, list_rows(&sizes, parts));
    size_t results = measure_parts(parts, list_results(&sizes, NULL, parts)) + (size_t)nc * sizeof(RowResult);
    return rows > results ? rows : results;
}

// ---------------------------------------------------------------------------- header

static ItmRimMessage write_header(const ItmRim* rim)
{
    const ItmRimContacts* r = &rim->contacts;
    const ItmStepInfo* info = &rim->data->info;
    ItmRimMessage m = {.n = rim->n,
                       .nc = r->problem.n,
                       .ncoupling = r->problem.ncoupling,
                       .nlcp = r->workspace->capacity.nlcp,
                       .has_bounces = r->has_bounces,
                       .h = rim->h,
                       .tau = rim->tau,
                       .theta = rim->theta,
                       .step = r->step,
                       .options = rim->model->contact_options,
                       .solver_iterations = info->solver_iterations,
                       .solver_redundant = info->solver_redundant,
                       .fallbacks = info->fallbacks,
                       .unsolved = info->unsolved,
                       .solver_residual = info->solver_residual,
                       .worst_residual = rim->data->bounded->worst_residual,
                       .worst_row = rim->data->bounded->worst_row,
                       .nsolve = r->nsolve,
                       .ntrial = r->ntrial,
                       .nsteady = r->nsteady};
    m.size = itm_rim_measure_message(m.n, m.nc, m.ncoupling);
    itm_rim_write_build(m.build);
    return m;
}

static void read_counters(ItmRim* rim, const ItmRimMessage* m)
{
    ItmRimContacts* r = &rim->contacts;
    ItmStepInfo* info = &rim->data->info;
    info->solver_iterations = m->solver_iterations;
    info->solver_redundant = m->solver_redundant;
    info->fallbacks = m->fallbacks;
    info->unsolved = m->unsolved;
    info->solver_residual = m->solver_residual;
    r->nsolve = m->nsolve;
    r->ntrial = m->ntrial;
    r->nsteady = m->nsteady;
    rim->h = m->h;
}

// ---------------------------------------------------------------------------- rows

void itm_rim_write_rows(const ItmRim* rim, void* bytes)
{
    Part parts[MOST_PARTS];
    ItmRimMessage header = write_header(rim);
    memcpy(bytes, &header, sizeof header);
    write_parts(parts, list_rows(rim, parts), (char*)bytes + round_up(sizeof header));
}

// Whether every number that names a row names one, and every state is one: a message may come from a damaged process.
static bool is_sound(const ItmRowProblem* p, const signed char* state)
{
    bool is = true;
    for (int i = 0; i < p->n; i++) {
        const ItmRow* row = &p->rows[i];
        is = is && row->normal >= ITM_NONE && row->normal < p->n && (int)row->kind >= 0 &&
             row->kind <= ITM_BOUND_CLEARANCE_TORSION && p->state[i] >= ITM_ROW_LO && p->state[i] <= ITM_ROW_UNKNOWN &&
             state[i] >= ITM_ROW_LO && state[i] <= ITM_ROW_SLIP &&
             (state[i] != ITM_ROW_SLIP || row->normal != ITM_NONE);
    }
    for (int c = 0; c < p->ncoupling; c++) {
        const ItmMlcpContact* coupling = &p->couplings[c];
        const int *t = coupling->tangent, n = p->n;
        is = is && coupling->normal >= 0 && coupling->normal < n && t[0] >= 0 && t[0] < n && t[1] >= ITM_NONE &&
             t[1] < n;
    }
    return is;
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
           itm_rim_measure_message(m->n, m->nc, m->ncoupling) == size;
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
    Part parts[MOST_PARTS];
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
    room->bounded.worst_row = header.worst_row;
    room->bounded.worst_residual = header.worst_residual;
    r->problem.n = header.nc;
    r->problem.ncoupling = header.ncoupling;
    r->has_bounces = header.has_bounces != 0;
    r->has_begun = true;
    r->step = header.step;
    r->steady.is_on = r->set.is_factored = false;
    read_counters(rim, &header);
    read_parts(parts, list_rows(rim, parts), (const char*)bytes + round_up(sizeof header));
    memset(r->Q0, 0, sizeof(double) * (size_t)header.nc);
    memset(r->Q1, 0, sizeof(double) * (size_t)header.nc);
    memset(r->work, 0, sizeof(double) * (size_t)header.nc);
    if (!is_sound(&r->problem, r->set.state)) {
        r->problem.n = r->problem.ncoupling = 0;
        return itm_error_set(error, ITM_ERR_INPUT, __func__, NULL, "rows of contacts are damaged");
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- results

void itm_rim_write_results(ItmRim* rim, const double* lambda, void* bytes)
{
    const ItmRimContacts* r = &rim->contacts;
    Part parts[MOST_PARTS];
    itm_rim_steady_end(rim, rim->h);
    ItmRimMessage header = write_header(rim);
    header.is_result = 1;
    memcpy(bytes, &header, sizeof header);
    char* at = write_parts(parts, list_results(rim, lambda, parts), (char*)bytes + round_up(sizeof header));
    for (int i = 0; i < r->problem.n; i++, at += sizeof(RowResult)) {
        const ItmRow* row = &r->problem.rows[i];
        RowResult result = {.gap = row->gap, .rate = row->rate, .omega = row->omega, .is_bouncing = row->is_bouncing};
        memcpy(at, &result, sizeof result);
    }
}

bool itm_rim_read_results(ItmRim* rim, double* lambda, const void* bytes)
{
    ItmRimContacts* r = &rim->contacts;
    ItmRimMessage header;
    Part parts[MOST_PARTS];
    memcpy(&header, bytes, sizeof header);
    if (!is_of_this_build(&header, itm_rim_measure_message(rim->n, r->problem.n, r->problem.ncoupling)) ||
        !header.is_result || header.n != rim->n || header.nc != r->problem.n) {
        return false;
    }
    read_counters(rim, &header);
    rim->tau = header.tau;
    rim->theta = header.theta;
    const char* at = read_parts(parts, list_results(rim, lambda, parts), (const char*)bytes + round_up(sizeof header));
    for (int i = 0; i < r->problem.n; i++, at += sizeof(RowResult)) {
        RowResult result;
        ItmRow* row = &r->problem.rows[i];
        memcpy(&result, at, sizeof result);
        // compliance is on the diagonal of H
        r->problem.H[(size_t)i * (size_t)(r->problem.n + 1)] += result.omega - row->omega;
        row->gap = result.gap;
        row->rate = result.rate;
        row->omega = result.omega;
        row->is_bouncing = result.is_bouncing != 0.0;
        if (r->table[i] == header.worst_row) {
            rim->data->bounded->worst_row = header.worst_row;
            rim->data->bounded->worst_residual = header.worst_residual;
        }
    }
    return true;
}
