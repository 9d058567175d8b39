#include "rim/join.h"

#include "base/error.h"
#include "rim/effective.h"
#include "math/pseudo_inverse.h"
#include "rim/contacts.h"

#include <string.h>

// ---------------------------------------------------------------------------- memory

static int count_lines(ItmRim* const* rims, int nrim)
{
    int n = 0;
    for (int k = 0; k < nrim; k++) {
        for (int i = 0; i < rims[k]->n; i++) {
            n += rims[k]->actuator[i] != ITM_NONE;
        }
    }
    return n;
}

static void lay_out_rim(ItmRim* rim, ItmArena* arena, int n, int capacity, int coupling_capacity)
{
    rim->n = n;
    rim->W = ITM_TAKE(arena, double, n* n);
    double** reals[] = {&rim->s,   &rim->w, &rim->a0, &rim->P0, &rim->P1, &rim->work, &rim->w_next, &rim->mobility_free,
                        &rim->jump};
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        *reals[i] = ITM_TAKE(arena, double, n);
    }
    itm_rim_contacts_lay_out_rows(rim, arena, capacity, coupling_capacity);
}

void itm_rim_join_lay_out(ItmRimJoin* join, ItmArena* arena, ItmRim* const* rims, int nrim, const ItmRimLink* links,
                          int nlink)
{
    join->nrim = nrim;
    join->nlink = nlink;
    join->nline = count_lines(rims, nrim);
    join->capacity = join->coupling_capacity = 0;
    for (int k = 0; k < nrim; k++) {
        join->capacity += rims[k]->contacts.capacity;
        join->coupling_capacity += rims[k]->contacts.coupling_capacity;
    }
    join->rims = ITM_TAKE(arena, ItmRim*, nrim);
    join->links = ITM_TAKE(arena, ItmRimLink, nlink);
    join->line_rim = ITM_TAKE(arena, int, join->nline);
    join->line_row = ITM_TAKE(arena, int, join->nline);
    join->contact_adr = ITM_TAKE(arena, int, nrim + 1);
    join->G = ITM_TAKE(arena, double, nlink* nlink);
    join->G_inv = ITM_TAKE(arena, double, nlink* nlink);
    join->F = ITM_TAKE(arena, double, nlink*(join->nline + join->capacity));
    join->B = ITM_TAKE(arena, double, nlink*(join->nline + join->capacity));
    join->scratch = ITM_TAKE(arena, double, nlink*(nlink + 3));
    double** reals[] = {&join->G_free, &join->gap, &join->w_f, &join->a_f, &join->P0, &join->P1};
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        *reals[i] = ITM_TAKE(arena, double, nlink);
    }
    lay_out_rim(&join->rim, arena, join->nline, join->capacity, join->coupling_capacity);
    if (arena->block == NULL) {
        return;
    }
    memcpy(join->rims, rims, sizeof *rims * (size_t)nrim);
    memcpy(join->links, links, sizeof *links * (size_t)nlink);
    for (int k = 0, n = 0; k < nrim; k++) {
        for (int i = 0; i < rims[k]->n; i++) {
            if (rims[k]->actuator[i] != ITM_NONE) {
                join->line_rim[n] = k;
                join->line_row[n++] = i;
            }
        }
    }
}

void itm_rim_lay_out_copy(ItmRim* rim, ItmArena* arena, const ItmRim* of)
{
    rim->actuator = ITM_TAKE(arena, int, of->n);
    lay_out_rim(rim, arena, of->n, of->contacts.capacity, of->contacts.coupling_capacity);
    if (of->effective != NULL) {
        itm_effective_lay_out(rim, arena, 0);
    }
}

static void copy_contacts(ItmRimContacts* to, const ItmRimContacts* from, int n)
{
    size_t nc = (size_t)from->problem.n;
    to->problem.n = from->problem.n;
    to->problem.ncoupling = from->problem.ncoupling;
    to->problem.contradiction = from->problem.contradiction;
    to->problem.slip_is_known = false;
    to->has_bounces = from->has_bounces;
    memcpy(to->problem.rows, from->problem.rows, sizeof(ItmRow) * nc);
    memcpy(to->problem.couplings, from->problem.couplings, sizeof(ItmMlcpContact) * (size_t)from->problem.ncoupling);
    memcpy(to->problem.state, from->problem.state, nc);
    memcpy(to->problem.H, from->problem.H, sizeof(double) * nc * nc);
    memcpy(to->table, from->table, sizeof(int) * nc);
    memcpy(to->ac, from->ac, sizeof(double) * nc);
    memcpy(to->gap_drift, from->gap_drift, sizeof(double) * nc);
    memcpy(to->x, from->x, sizeof(double) * nc);
    memcpy(to->Hci, from->Hci, sizeof(double) * nc * (size_t)n);
    if (nc > 0) {
        memcpy(to->s_drift, from->s_drift, sizeof(double) * (size_t)n);
    }
}

void itm_rim_copy(ItmRim* to, const ItmRim* from)
{
    size_t n = (size_t)from->n;
    to->model = from->model;
    to->data = from->data;
    to->t = from->t;
    to->H = from->H;
    memcpy(to->actuator, from->actuator, sizeof(int) * n);
    memcpy(to->W, from->W, sizeof(double) * n * n);
    memcpy(to->a0, from->a0, sizeof(double) * n);
    memcpy(to->mobility_free, from->mobility_free, sizeof(double) * n);
    memcpy(to->w, from->w, sizeof(double) * n);
    memcpy(to->s, from->s, sizeof(double) * n);
    copy_contacts(&to->contacts, &from->contacts, from->n);
    if (to->effective != NULL) {
        itm_effective_copy(to, from);
    }
}

void itm_rim_copy_smooth(ItmRim* to, const ItmRim* from)
{
    itm_rim_copy(to, from);
    if (to->contacts.problem.n > 0) {
        itm_rim_contacts_eliminate(to);
    }
}

ItmStatus itm_rim_join_create_workspace(ItmRimJoin* join, ItmError* error)
{
    if (join->capacity == 0) {
        return ITM_OK;
    }
    ItmMlcpCapacity capacity = itm_default_mlcp_capacity(join->capacity, join->coupling_capacity);
    return itm_mlcp_workspace_create(&join->workspace, &capacity, error);
}

void itm_rim_join_destroy_workspace(ItmRimJoin* join)
{
    itm_mlcp_workspace_destroy(join->workspace);
}

// ---------------------------------------------------------------------------- sums over the sides of links

// A row of a RIM that is part of a link, with its factor: that of a, that of b, rotations of b times levers.
typedef struct Side {
    int rim, row;
    double sign;
} Side;

#define NSIDE 4

static Side get_side(const ItmRimLink* link, int side)
{
    if (side < 2) {
        return side == 0 ? (Side){link->a, link->row_a, 1.0} : (Side){link->b, link->row_b, -1.0};
    }
    int turn = link->turn[side - 2];
    return turn != ITM_NONE ? (Side){link->b, turn, -link->lever[side - 2]} : (Side){link->b, link->row_b, 0.0};
}

// What a unit impulse of link l does to w_f of link k.
static double multiply_links(const ItmRimJoin* join, int k, int l)
{
    double sum = 0.0;
    for (int i = 0; i < NSIDE * NSIDE; i++) {
        Side p = get_side(&join->links[k], i / NSIDE), q = get_side(&join->links[l], i % NSIDE);
        const ItmRim* rim = join->rims[p.rim];
        sum += p.rim == q.rim ? p.sign * q.sign * rim->W[p.row * rim->n + q.row] : 0.0;
    }
    return sum;
}

// What line j of the joined RIM does to w_f of link k.
static double multiply_line(const ItmRimJoin* join, int k, int j)
{
    double sum = 0.0;
    for (int i = 0; i < NSIDE; i++) {
        Side p = get_side(&join->links[k], i);
        const ItmRim* rim = join->rims[p.rim];
        sum += p.rim == join->line_rim[j] ? p.sign * rim->W[p.row * rim->n + join->line_row[j]] : 0.0;
    }
    return sum;
}

// What contact row i of RIM r does to w_f of link k.
static double multiply_contact(const ItmRimJoin* join, int k, int r, int i)
{
    double sum = 0.0;
    for (int s = 0; s < NSIDE; s++) {
        Side p = get_side(&join->links[k], s);
        sum += p.rim == r ? p.sign * join->rims[r]->contacts.Hci[i * join->rims[r]->n + p.row] : 0.0;
    }
    return sum;
}

// What the mobility of link k would be if no rows held either side.
static double get_free_mobility(const ItmRimJoin* join, int k)
{
    const ItmRimLink* link = &join->links[k];
    return join->rims[link->a]->mobility_free[link->row_a] + join->rims[link->b]->mobility_free[link->row_b];
}

// ---------------------------------------------------------------------------- joining

// out = G+ x
static void solve(const ItmRimJoin* join, double* out, const double* x)
{
    int n = join->nlink;
    for (int i = 0; i < n; i++) {
        out[i] = 0.0;
        for (int k = 0; k < n; k++) {
            out[i] += join->G_inv[i * n + k] * x[k];
        }
    }
}

// Columns of F and B = G+ F: lines first, contact rows after them.
static void fill_columns(ItmRimJoin* join)
{
    int n = join->nlink;
    double* F = join->F;
    for (int j = 0; j < join->nline; j++, F += n) {
        for (int k = 0; k < n; k++) {
            F[k] = multiply_line(join, k, j);
        }
    }
    for (int r = 0; r < join->nrim; r++) {
        for (int i = 0; i < join->rims[r]->contacts.problem.n; i++, F += n) {
            for (int k = 0; k < n; k++) {
                F[k] = multiply_contact(join, k, r, i);
            }
        }
    }
    int ncolumn = join->nline + join->contact_adr[join->nrim];
    for (int j = 0; j < ncolumn; j++) {
        solve(join, join->B + j * n, join->F + j * n);
    }
}

static double dot(const double* x, const double* y, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

// Rates and accelerations of the links, through G+, and the gaps as displacements (in P1 for now).
static void fill_links(ItmRimJoin* join)
{
    int n = join->nlink;
    double *w = join->scratch, *a = w + n;
    for (int k = 0; k < n; k++) {
        w[k] = a[k] = 0.0;
        for (int s = 0; s < NSIDE; s++) {
            Side p = get_side(&join->links[k], s);
            w[k] += p.sign * join->rims[p.rim]->w[p.row];
            a[k] += p.sign * join->rims[p.rim]->a0[p.row];
        }
    }
    solve(join, join->w_f, w);
    solve(join, join->a_f, a);
    solve(join, join->P1, join->gap);
}

static void join_lines(ItmRimJoin* join)
{
    ItmRim* out = &join->rim;
    int n = join->nlink, nline = join->nline;
    for (int i = 0; i < nline; i++) {
        const ItmRim* rim = join->rims[join->line_rim[i]];
        int row = join->line_row[i];
        const double* F = join->F + i * n;
        out->s[i] = rim->s[row];
        out->w[i] = rim->w[row] - dot(F, join->w_f, n);
        out->a0[i] = rim->a0[row] - dot(F, join->a_f, n);
        out->contacts.s_drift[i] =
            (rim->contacts.problem.n > 0 ? rim->contacts.s_drift[row] : 0.0) - dot(F, join->P1, n) / out->H;
        for (int j = 0; j < nline; j++) {
            bool is_same = join->line_rim[i] == join->line_rim[j];
            double W = is_same ? rim->W[row * rim->n + join->line_row[j]] : 0.0;
            out->W[i * nline + j] = W - dot(F, join->B + j * n, n);
        }
    }
}

static void copy_couplings(ItmRowProblem* out, const ItmRowProblem* in, int adr)
{
    for (int c = 0; c < in->ncoupling; c++) {
        ItmMlcpContact* coupling = &out->couplings[out->ncoupling++];
        *coupling = in->couplings[c];
        coupling->normal += adr;
        for (int t = 0; t < 2; t++) {
            coupling->tangent[t] += coupling->tangent[t] != ITM_NONE ? adr : 0;
        }
    }
}

// Row i of RIM r, with what the frames take off it.
static void join_row(ItmRimJoin* join, int r, int i)
{
    ItmRimContacts* out = &join->rim.contacts;
    const ItmRimContacts* in = &join->rims[r]->contacts;
    int adr = join->contact_adr[r], c = adr + i, n = join->nlink, nline = join->nline;
    int nc = out->problem.n, nc_in = in->problem.n;
    const double* F = join->F + (nline + c) * n;
    ItmRow* row = &out->problem.rows[c];
    *row = in->problem.rows[i];
    row->normal += row->normal != ITM_NONE ? adr : 0;
    row->omega = 0.0;
    row->rate -= dot(F, join->w_f, n);
    // what the solver cannot solve is noted with the last mechanism that has rows, where it is about one of these
    out->table[c] = join->rims[r]->data == join->rim.data ? in->table[i] : ITM_NONE;
    out->x[c] = in->x[i];
    out->problem.state[c] = in->problem.state[i];
    out->ac[c] = in->ac[i] - dot(F, join->a_f, n);
    out->gap_drift[c] = in->gap_drift[i] - dot(F, join->P1, n) / join->rim.H;
    for (int j = 0; j < nline; j++) {
        bool is_same = join->line_rim[j] == r;
        double H = is_same ? in->Hci[i * join->rims[r]->n + join->line_row[j]] : 0.0;
        out->Hci[c * nline + j] = H - dot(F, join->B + j * n, n);
    }
    double *H_out = out->problem.H + (size_t)c * (size_t)nc, *H_in = in->problem.H + (size_t)i * (size_t)nc_in;
    for (int j = 0; j < nc; j++) {
        bool is_same = j >= adr && j < adr + nc_in;
        H_out[j] = (is_same ? H_in[j - adr] : 0.0) - dot(F, join->B + (nline + j) * n, n);
    }
    // where the frames hold the row, what is left of its mobility is rounding
    row->is_fixed = row->is_fixed || !(H_out[c] > ITM_RIM_FIXED * H_in[i]);
}

static void join_contacts(ItmRimJoin* join)
{
    ItmRimContacts* out = &join->rim.contacts;
    out->problem.n = join->contact_adr[join->nrim];
    out->problem.ncoupling = 0;
    out->problem.contradiction = 0.0;
    out->problem.slip_is_known = false;
    out->has_bounces = false;
    out->workspace = join->workspace;
    for (int r = 0; r < join->nrim; r++) {
        const ItmRimContacts* in = &join->rims[r]->contacts;
        if (in->problem.n == 0) {
            continue;
        }
        out->problem.contradiction = fmax(out->problem.contradiction, in->problem.contradiction);
        out->has_bounces = out->has_bounces || in->has_bounces;
        copy_couplings(&out->problem, &in->problem, join->contact_adr[r]);
        for (int i = 0; i < in->problem.n; i++) {
            join_row(join, r, i);
        }
    }
}

ItmStatus itm_rim_join_begin(ItmRimJoin* join, int K, bool use_heun)
{
    int n = join->nlink;
    join->rim.model = join->rims[0]->model;
    join->rim.data = join->rims[0]->data;
    for (int r = 0; r < join->nrim; r++) {
        if (join->rims[r]->contacts.problem.n > 0) {
            join->rim.model = join->rims[r]->model;
            join->rim.data = join->rims[r]->data;
        }
    }
    join->rim.t = join->rims[0]->t;
    join->rim.H = join->rims[0]->H;
    for (int r = 0; r < join->nrim; r++) {
        join->contact_adr[r + 1] = join->contact_adr[r] + join->rims[r]->contacts.problem.n;
    }
    for (int i = 0; i < n * n; i++) {
        join->G[i] = multiply_links(join, i / n, i % n);
    }
    for (int k = 0; k < n; k++) {
        join->G_free[k] = get_free_mobility(join, k);
    }
    join->rank = itm_pseudo_inverse_compute(join->G_inv, join->G, join->G_free, n, join->scratch);
    if (join->rank < 0) {
        return itm_error_set(&join->rim.data->error, ITM_ERR_NOT_FINITE, __func__, NULL,
                             "the mobilities of joined frames are not finite");
    }
    fill_columns(join);
    fill_links(join);
    join_lines(join);
    join_contacts(join);
    return itm_rim_begin(&join->rim, K, use_heun);
}

// ---------------------------------------------------------------------------- handing back

// P0 = -G+ (w_f + H a_f + F_L P0_L + F_c Q0), and P1 likewise with the displacements that close the gaps, and with those that
// correct contacts
static void find_impulses(ItmRimJoin* join)
{
    const ItmRim* rim = &join->rim;
    int n = join->nlink, nc = rim->contacts.problem.n;
    for (int k = 0; k < n; k++) {
        join->P0[k] = -join->w_f[k] - rim->H * join->a_f[k];
        join->P1[k] = -join->w_f[k] - rim->theta * rim->H * join->a_f[k] - join->P1[k] / rim->H;
        for (int j = 0; j < join->nline + nc; j++) {
            bool is_line = j < join->nline;
            double B = join->B[j * n + k];
            join->P0[k] -= B * (is_line ? rim->P0[j] : rim->contacts.Q0[j - join->nline]);
            join->P1[k] -=
                B * (is_line ? rim->P1[j]
                             : rim->contacts.Q1[j - join->nline] + rim->contacts.correction[j - join->nline] / rim->H);
        }
    }
}

static void hand_back_rows(const ItmRimJoin* join, int r)
{
    const ItmRimContacts* from = &join->rim.contacts;
    ItmRimContacts* to = &join->rims[r]->contacts;
    int adr = join->contact_adr[r];
    for (int i = 0; i < to->problem.n; i++) {
        to->problem.rows[i].rate = from->problem.rows[adr + i].rate;
        to->problem.rows[i].gap = from->problem.rows[adr + i].gap;
        to->problem.rows[i].is_bouncing = from->problem.rows[adr + i].is_bouncing;
        to->problem.state[i] = from->problem.state[adr + i];
        to->set.state[i] = from->set.state[adr + i];
        to->set.ratio[i] = from->set.ratio[adr + i];
        to->Q0[i] = from->Q0[adr + i];
        to->Q1[i] = from->Q1[adr + i];
        to->correction[i] = from->correction[adr + i];
        to->x[i] = from->x[adr + i];
        to->work[i] = from->work[adr + i];
        to->has_changed[i] = from->has_changed[adr + i];
    }
    to->steady.is_on = false;
}

// Rate of interface i after the jump at the start.
static double rate_after_jump(const ItmRim* rim, int i)
{
    double w = rim->w[i];
    for (int j = 0; j < rim->n; j++) {
        w += rim->W[i * rim->n + j] * rim->jump[j];
    }
    return w;
}

// Rates at the end, and the work of the frames: impulses times mean rates, which is what they add to the kinetic energy of a
// mechanism whose mass does not change. The impulse that makes the frames move together comes first: contact rows begin with the rates
// that it leaves.
static void finish_rim(ItmRim* rim)
{
    const ItmRimContacts* r = &rim->contacts;
    for (int i = 0; i < rim->n; i++) {
        double w = rim->w[i] + rim->H * rim->a0[i];
        for (int j = 0; j < rim->n; j++) {
            w += rim->W[i * rim->n + j] * rim->P0[j];
        }
        for (int j = 0; j < r->problem.n; j++) {
            w += r->Hci[j * rim->n + i] * r->Q0[j];
        }
        rim->w_next[i] = w;
    }
    for (int i = 0; i < rim->n; i++) {
        if (rim->actuator[i] == ITM_NONE) {
            double w = rate_after_jump(rim, i), rest = rim->P0[i] - rim->jump[i];
            rim->work[i] = 0.5 * (rim->jump[i] * (rim->w[i] + w) + rest * (w + rim->w_next[i]));
        }
    }
    memcpy(rim->w, rim->w_next, sizeof(double) * (size_t)rim->n);
}

void itm_rim_join_end(ItmRimJoin* join)
{
    const ItmRim* from = &join->rim;
    itm_rim_contacts_end(&join->rim);
    find_impulses(join);
    for (int r = 0; r < join->nrim; r++) {
        ItmRim* rim = join->rims[r];
        rim->theta = from->theta;
        rim->tau = from->tau;
        rim->h = from->h;
        rim->use_heun = from->use_heun;
        memset(rim->P0, 0, sizeof(double) * (size_t)rim->n);
        memset(rim->P1, 0, sizeof(double) * (size_t)rim->n);
        memset(rim->jump, 0, sizeof(double) * (size_t)rim->n);
        hand_back_rows(join, r);
    }
    for (int j = 0; j < join->nline; j++) {
        ItmRim* rim = join->rims[join->line_rim[j]];
        int row = join->line_row[j];
        rim->P0[row] = from->P0[j];
        rim->P1[row] = from->P1[j];
        rim->work[row] = from->work[j];
        rim->s[row] = from->s[j];
    }
    for (int k = 0; k < join->nlink; k++) {
        for (int s = 0; s < NSIDE; s++) {
            Side p = get_side(&join->links[k], s);
            join->rims[p.rim]->P0[p.row] += p.sign * join->P0[k];
            join->rims[p.rim]->P1[p.row] += p.sign * join->P1[k];
            join->rims[p.rim]->jump[p.row] -= p.sign * join->w_f[k];
        }
    }
    for (int r = 0; r < join->nrim; r++) {
        finish_rim(join->rims[r]);
    }
}
