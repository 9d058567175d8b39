#include "rim/message.h"

#include "interim/interim.h"
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

static int list_results(const ItmRim* rim, Part* parts)
{
    const ItmRimContacts* r = &rim->contacts;
    size_t nc = (size_t)r->problem.n, real = sizeof(double);
    const Part list[] = {{r->x, nc * real},         {r->Q0, nc * real}, {r->Q1, nc * real}, {r->work, nc * real},
                         {r->set.ratio, nc * real}, {r->set.state, nc}, {r->has_held, nc},  {r->has_changed, nc}};
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
    bool is_bouncing;
} RowResult;

size_t itm_rim_measure_message(int n, int nc, int ncoupling)
{
    Part parts[MOST_PARTS];
    ItmRim sizes = {.n = n, .contacts.problem = {.n = nc, .ncoupling = ncoupling}};
    size_t rows = measure_parts(parts, list_rows(&sizes, parts));
    size_t results = measure_parts(parts, list_results(&sizes, parts)) + (size_t)nc * sizeof(RowResult);
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

void itm_rim_read_rows(ItmRim* rim, ItmModel* m, ItmData* d, const void* bytes)
{
    ItmRimContacts* r = &rim->contacts;
    ItmRimMessage header;
    Part parts[MOST_PARTS];
    memcpy(&header, bytes, sizeof header);
    rim->model = m;
    rim->data = d;
    m->contact_options = header.options;
    d->bounded->worst_row = header.worst_row;
    d->bounded->worst_residual = header.worst_residual;
    r->problem.n = header.nc;
    r->problem.ncoupling = header.ncoupling;
    r->has_bounces = header.has_bounces != 0;
    r->step = header.step;
    r->steady.is_on = r->set.is_factored = false;
    read_counters(rim, &header);
    read_parts(parts, list_rows(rim, parts), (const char*)bytes + round_up(sizeof header));
    memset(r->Q0, 0, sizeof(double) * (size_t)header.nc);
    memset(r->Q1, 0, sizeof(double) * (size_t)header.nc);
    memset(r->work, 0, sizeof(double) * (size_t)header.nc);
}

// ---------------------------------------------------------------------------- results

void itm_rim_write_results(ItmRim* rim, void* bytes)
{
    const ItmRimContacts* r = &rim->contacts;
    Part parts[MOST_PARTS];
    itm_rim_steady_end(rim, rim->h);
    ItmRimMessage header = write_header(rim);
    header.is_result = 1;
    memcpy(bytes, &header, sizeof header);
    char* at = write_parts(parts, list_results(rim, parts), (char*)bytes + round_up(sizeof header));
    for (int i = 0; i < r->problem.n; i++, at += sizeof(RowResult)) {
        const ItmRow* row = &r->problem.rows[i];
        RowResult result = {.gap = row->gap, .rate = row->rate, .omega = row->omega, .is_bouncing = row->is_bouncing};
        memcpy(at, &result, sizeof result);
    }
}

bool itm_rim_read_results(ItmRim* rim, const void* bytes)
{
    ItmRimContacts* r = &rim->contacts;
    ItmRimMessage header;
    Part parts[MOST_PARTS];
    memcpy(&header, bytes, sizeof header);
    if (!header.is_result || header.n != rim->n || header.nc != r->problem.n) {
        return false;
    }
    read_counters(rim, &header);
    const char* at = read_parts(parts, list_results(rim, parts), (const char*)bytes + round_up(sizeof header));
    for (int i = 0; i < r->problem.n; i++, at += sizeof(RowResult)) {
        RowResult result;
        ItmRow* row = &r->problem.rows[i];
        memcpy(&result, at, sizeof result);
        // compliance is on the diagonal of H
        r->problem.H[(size_t)i * (size_t)(r->problem.n + 1)] += result.omega - row->omega;
        row->gap = result.gap;
        row->rate = result.rate;
        row->omega = result.omega;
        row->is_bouncing = result.is_bouncing;
        if (r->table[i] == header.worst_row) {
            rim->data->bounded->worst_row = header.worst_row;
            rim->data->bounded->worst_residual = header.worst_residual;
        }
    }
    return true;
}
