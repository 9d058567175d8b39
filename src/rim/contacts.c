// Gathering the bounded rows of an evaluation into a RIM.
//
// Rows that an interface can feel, over joints and other contacts, are taken from the table island by island. The others are
// left to the mechanism, which solves them once per macro step.
#include "rim/contacts.h"

#include "base/error.h"
#include "multibody/rows.h"
#include "stepper/bounded_solve.h"

#include <string.h>

// ---------------------------------------------------------------------------- memory

static void lay_out_steady(ItmRimSteady* s, ItmArena* arena, int n, int nc, int ncoupling)
{
    s->f = ITM_TAKE(arena, double, (size_t)nc*(size_t)(n + 1));
    s->a = ITM_TAKE(arena, double, (size_t)nc*(size_t)(n + 1));
    s->W = ITM_TAKE(arena, double, n*(n + 1));
    s->f_start = ITM_TAKE(arena, double, nc);
    s->a_start = ITM_TAKE(arena, double, nc);
    s->W_start = ITM_TAKE(arena, double, n);
    s->P_since = ITM_TAKE(arena, double, n);
    s->P1_since = ITM_TAKE(arena, double, n);
    s->held = ITM_TAKE(arena, int, nc);
    s->watched = ITM_TAKE(arena, int, nc);
    s->stuck = ITM_TAKE(arena, int, ncoupling);
    s->sliding = ITM_TAKE(arena, int, ncoupling);
    s->compliant = ITM_TAKE(arena, int, nc);
    s->c = ITM_TAKE(arena, double, nc);
    s->c_since = ITM_TAKE(arena, double, nc);
    s->c1_since = ITM_TAKE(arena, double, nc);
    s->C = ITM_TAKE(arena, double, (size_t)nc*(size_t)(nc + n));
    s->C_c = ITM_TAKE(arena, double, nc + n);
    s->C_c1 = ITM_TAKE(arena, double, nc + n);
}

void itm_rim_contacts_lay_out_rows(ItmRim* rim, ItmArena* arena, int capacity, int coupling_capacity)
{
    ItmRimContacts* r = &rim->contacts;
    size_t nc = (size_t)capacity;
    r->capacity = capacity;
    r->coupling_capacity = coupling_capacity;
    itm_row_lay_out(&r->problem, arena, capacity);
    r->problem.rows = ITM_TAKE(arena, ItmRow, nc);
    r->problem.H = ITM_TAKE(arena, double, nc* nc);
    r->problem.couplings = ITM_TAKE(arena, ItmMlcpContact, coupling_capacity);
    itm_active_set_lay_out(&r->set, arena, &r->problem, capacity);
    lay_out_steady(&r->steady, arena, rim->n, capacity, coupling_capacity);
    double** reals[] = {&r->ac, &r->gap_drift, &r->correction, &r->x, &r->y, &r->Q0, &r->Q1, &r->work};
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        *reals[i] = ITM_TAKE(arena, double, nc);
    }
    r->Hci = ITM_TAKE(arena, double, nc*(size_t)rim->n);
    r->s_drift = ITM_TAKE(arena, double, rim->n);
    r->table = ITM_TAKE(arena, int, nc);
    r->landing = ITM_TAKE(arena, int, nc);
    r->has_held = ITM_TAKE(arena, bool, nc);
    r->has_changed = ITM_TAKE(arena, bool, nc);
    rim->eliminated = ITM_TAKE(arena, int, nc);
}

void itm_rim_contacts_lay_out(ItmRim* rim, ItmArena* arena, const ItmModel* m)
{
    ItmBounded table = {0};
    ItmArena measuring = {0};
    itm_bounded_lay_out(m, &table, &measuring, m->ncontact_max);
    rim->ahead_key = ITM_TAKE(arena, uint64_t, table.capacity.row);
    rim->ahead_rate = ITM_TAKE(arena, double, table.capacity.row);
    rim->ahead_normal = ITM_TAKE(arena, ItmVec3, table.capacity.row);
    rim->seen = ITM_TAKE(arena, ItmRimSeen, m->contact != NULL ? m->ncontact_max : 0);
    rim->is_reached = ITM_TAKE(arena, bool, m->nbody);
    itm_rim_contacts_lay_out_rows(rim, arena, table.capacity.island, table.capacity.coupling);
}

// ---------------------------------------------------------------------------- the start of the step

// The table belongs to the evaluation, `shift` ahead of the start: take gaps and rates back, and give motors the references of
// this step.
static void take_rows_back(const ItmModel* m, ItmData* d, const ItmRim* rim)
{
    ItmBounded* b = d->bounded;
    double shift = rim->shift;
    for (int i = 0; i < b->nrow; i++) {
        ItmRow* row = &b->rows[i];
        if (itm_row_is_unilateral(row)) {
            row->gap -= shift * (row->rate - 0.5 * shift * row->bias);
        }
        row->rate -= shift * row->bias;
        if (row->kind == ITM_BOUND_MOTOR) {
            const ItmMotion* motion = &m->motions[row->owner];
            ItmMeasured x = itm_measure_compute(m, d, &m->measures[motion->measure]);
            double next = itm_data_compute_signal(m, d, motion->signal, rim->t + rim->H).x;
            row->reference = motion->is_velocity ? next : (next - x.value + shift * x.rate) / rim->H;
        }
    }
}

// A motor in micro steps: a position motor goes for its signal in every one of them, along the chord of the signal over the
// macro step; a velocity motor holds the mean.
static void set_motor(const ItmModel* m, const ItmRim* rim, ItmRow* row, double* drift)
{
    const ItmMotion* motion = &m->motions[row->owner];
    const ItmData* d = rim->data;
    if (motion->is_velocity) {
        row->reference = itm_data_compute_signal(m, d, motion->signal, rim->t + 0.5 * rim->H).x;
        return;
    }
    double now = itm_data_compute_signal(m, d, motion->signal, rim->t).x;
    double next = itm_data_compute_signal(m, d, motion->signal, rim->t + rim->H).x;
    row->has_target = true;
    row->gap = next - row->reference * rim->H - now;
    row->reference = (next - now) / rim->H;
    *drift = -row->reference;
}

// ---------------------------------------------------------------------------- which rows are in the RIM

static bool is_felt(const ItmModel* m, const ItmRim* rim, const ItmBounded* b, int head)
{
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        const ItmRowBlock* path = &b->blocks[k].path;
        for (int i = 0; i < path->npath; i++) {
            if (rim->is_touched[m->component[path->path[i]]]) {
                return true;
            }
        }
    }
    return false;
}

static void mark_macro(const ItmModel* m, ItmRim* rim, const ItmBounded* b, int head)
{
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        for (int i = 0; i < b->blocks[k].path.npath; i++) {
            rim->is_macro[m->component[b->blocks[k].path.path[i]]] = true;
        }
    }
}

// Chain the islands that an interface feels into one.
static void chain_islands(const ItmModel* m, ItmRim* rim, ItmBounded* b)
{
    int last = ITM_NONE;
    rim->contacts.head = ITM_NONE;
    memset(rim->is_macro, 0, sizeof(bool) * (size_t)m->nbody);
    for (int i = 0; i < b->islands.count; i++) {
        int root = b->islands.names[i], head = b->islands.head[root];
        if (!is_felt(m, rim, b, head)) {
            mark_macro(m, rim, b, head);
            continue;
        }
        for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
            b->blocks[k].is_in_rim = true;
        }
        if (last == ITM_NONE) {
            rim->contacts.head = head;
        } else {
            b->blocks[last].next = head;
        }
        last = b->islands.tail[root];
    }
}

// ---------------------------------------------------------------------------- reduction

// out[stride local(c)] = Y_c y for the rows of the chain
static void multiply_chain(const ItmModel* m, const ItmBounded* b, int head, double* out, int stride, const double* y)
{
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        const ItmBoundBlock* block = &b->blocks[k];
        for (int i = 0; i < block->nrow; i++) {
            const double* Y = b->Y + block->path.y_adr + i * block->path.ny;
            double sum = 0.0;
            for (int p = 0; p < block->path.npath; p++) {
                const ItmBody* body = &m->bodies[block->path.path[p]];
                for (int l = body->v_adr; l < body->v_adr + body->nv; l++, Y++) {
                    sum += *Y * y[l];
                }
            }
            out[stride * b->islands.local[block->first + i]] = sum;
        }
    }
}

// H_ci = Y_c y~
static void multiply_interfaces(const ItmModel* m, const ItmBounded* b, const ItmRim* rim)
{
    for (int j = 0; j < rim->n; j++) {
        multiply_chain(m, b, rim->contacts.head, rim->contacts.Hci + j, rim->n, rim->Y + j * rim->nv);
    }
}

// Whether nothing can move row i of the assembled chain; b->H without compliance.
static bool is_fixed(const ItmModel* m, const ItmBounded* b, int i, int nc)
{
    int index = b->work.global[i];
    const ItmBoundBlock* block = &b->blocks[b->rows[index].block];
    const ItmSpatial* cov = b->cov + block->path.cov_adr + (index - block->first) * block->path.nbody;
    double H = b->work.problem.H[(size_t)i * (size_t)(nc + 1)];
    return !(H > ITM_RIM_FIXED * itm_rows_compute_free_mobility(m, &block->path, cov));
}

// ---------------------------------------------------------------------------- rows solved in micro steps

// Row i of the assembled chain, as micro steps have it: the bias is in the free acceleration.
static void take_row(const ItmModel* m, const ItmData* d, ItmRim* rim, int i)
{
    ItmRimContacts* r = &rim->contacts;
    const ItmBounded* b = d->bounded;
    int index = b->work.global[i];
    ItmRow* row = &r->problem.rows[i];
    *row = b->rows[index];
    row->normal = ITM_NONE;
    row->is_fixed = is_fixed(m, b, i, r->problem.n);
    row->is_at_rest = itm_bounded_is_at_rest(d, row);
    r->table[i] = index;
    r->ac[i] += row->bias;
    row->bias = 0.0;
    r->x[i] = *d->step_size > 0.0 ? b->x[index] * (rim->H / *d->step_size) : b->x[index];
    r->problem.state[i] = b->state[index];
    r->gap_drift[i] = 0.0;
    r->has_bounces = r->has_bounces || row->restitution > 0.0;
    if (row->kind == ITM_BOUND_MOTOR) {
        set_motor(m, rim, row, &r->gap_drift[i]);
    }
}

static void keep_rows(const ItmModel* m, ItmData* d, ItmRim* rim, int nc)
{
    ItmRimContacts* r = &rim->contacts;
    ItmBounded* b = d->bounded;
    ItmRowProblem* p = &r->problem;
    for (int i = 0; i < nc; i++) {
        b->rows[b->work.global[i]].omega = b->rows[b->work.global[i]].offset = 0.0;
    }
    itm_bounded_assemble(m, d, &b->work, r->head, nc);
    multiply_chain(m, b, r->head, r->ac, 1, rim->y_free);
    p->n = nc;
    r->workspace = b->work.workspace;
    r->has_bounces = false;
    p->contradiction = itm_row_find_contradiction(&b->work.problem, rim->H);
    p->slip_is_known = false;
    for (int i = 0; i < nc; i++) {
        take_row(m, d, rim, i);
    }
    memcpy(p->H, b->work.problem.H, sizeof(double) * (size_t)nc * (size_t)nc);
    p->ncoupling = b->work.problem.ncoupling;
    memcpy(p->couplings, b->work.problem.couplings, sizeof(ItmMlcpContact) * (size_t)p->ncoupling);
    for (int c = 0; c < p->ncoupling; c++) {
        for (int t = 0; t < 2 && p->couplings[c].tangent[t] != ITM_NONE; t++) {
            p->rows[p->couplings[c].tangent[t]].normal = p->couplings[c].normal;
        }
    }
    multiply_interfaces(m, b, rim);
    memset(r->s_drift, 0, sizeof(double) * (size_t)rim->n);
}

// ---------------------------------------------------------------------------- elimination

// Split the rows: those that were active in the last solve, and can move at all, into the active set, impulses over the step H of the
// others into r->x.
static void split_rows(ItmRim* rim)
{
    ItmRimContacts* r = &rim->contacts;
    double scale = rim->H / rim->data->options.step;
    for (int i = 0; i < r->problem.n; i++) {
        signed char state = r->problem.state[i];
        bool is_active = state == ITM_ROW_ACTIVE && !r->problem.rows[i].is_fixed;
        r->x[i] = is_active || state == ITM_ROW_UNKNOWN ? 0.0 : scale * r->x[i];
        r->set.state[i] = is_active ? ITM_ROW_ACTIVE : ITM_ROW_LO;
    }
    itm_active_set_factor(&r->set);
    rim->neliminated = r->set.nactive;
    for (int k = 0; k < r->set.nactive; k++) {
        rim->eliminated[k] = r->table[r->set.active[k]];
    }
}

// Impulses of the active rows without interface forces: x0 (p->x) at the start of the step, which brings rigid rows to their rates
// at once, and the rest over the step, H f (p->w). b = w_c + H a_c + offset + H_zt x_t
//   (H_zz + Omega) x0 = -(w_c + offset), 0 for compliant rows;   (H_zz + Omega) (x0 + H f) = -b
static void solve_active(ItmRim* rim)
{
    const ItmRimContacts* r = &rim->contacts;
    const ItmRowProblem* p = &r->problem;
    for (int k = 0; k < r->set.nactive; k++) {
        int i = r->set.active[k];
        const ItmRow* row = &p->rows[i];
        double start = row->rate + itm_row_compute_offset(row, &r->step), sum = rim->H * r->ac[i];
        sum += r->set.dense->dot(p->H + (size_t)i * (size_t)p->n, r->x, p->n);
        bool is_compliant = row->omega != 0.0;
        p->x[k] = is_compliant ? 0.0 : -start;
        p->w[k] = -sum - (is_compliant ? start : 0.0);
    }
    itm_active_set_solve_active(&r->set, p->x);
    itm_active_set_solve_active(&r->set, p->w);
}

// W = |y~ - Y_z' nu|^2 + nu' Omega nu, nu = (H_zz + Omega)^-1 H_zi: as a square, for its sign
static void reduce_mobility(ItmRim* rim)
{
    const ItmRimContacts* r = &rim->contacts;
    int n = rim->n, nz = r->set.nactive, *active = r->set.active;
    double *nu = r->steady.f, *left = r->set.rhs;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < nz; k++) {
            nu[i * nz + k] = r->Hci[active[k] * n + i];
        }
        itm_active_set_solve_active(&r->set, nu + i * nz);
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < nz; k++) {
            const double* row = r->problem.H + (size_t)active[k] * (size_t)r->problem.n;
            double sum = -2.0 * r->Hci[active[k] * n + i];
            for (int l = 0; l < nz; l++) {
                sum += row[active[l]] * nu[i * nz + l];
            }
            left[k] = sum;
        }
        for (int j = 0; j <= i; j++) {
            for (int k = 0; k < nz; k++) {
                rim->W[i * n + j] += nu[j * nz + k] * left[k];
            }
            rim->W[j * n + i] = rim->W[i * n + j];
        }
    }
}

// w += H_iz x0,   a0 += H_iz f + H_it x_t / H,   W -= H_iz (H_zz + Omega)^-1 H_zi                  [contact-rim, eqs. 36, 42]
void itm_rim_contacts_eliminate(ItmRim* rim)
{
    ItmRimContacts* r = &rim->contacts;
    int n = rim->n;
    itm_rim_contacts_set_step(rim, rim->H);
    split_rows(rim);
    solve_active(rim);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < r->problem.n; j++) {
            rim->a0[i] += r->Hci[j * n + i] * r->x[j] / rim->H;
        }
        for (int k = 0; k < r->set.nactive; k++) {
            double H = r->Hci[r->set.active[k] * n + i];
            rim->w[i] += H * r->problem.x[k];
            rim->a0[i] += H * r->problem.w[k] / rim->H;
        }
    }
    reduce_mobility(rim);
    r->problem.n = r->problem.ncoupling = 0;
}

// ---------------------------------------------------------------------------- all of it

ItmStatus itm_rim_contacts_extract(const ItmModel* m, ItmData* d, ItmRim* rim, ItmRimContact contact)
{
    ItmBounded* b = d->bounded;
    take_rows_back(m, d, rim);
    b->step.ahead = rim->shift;
    ItmStatus status = itm_bounded_begin(m, d);
    if (status != ITM_OK) {
        return status;
    }
    chain_islands(m, rim, b);
    int nc = itm_bounded_number_rows(b, &b->work, rim->contacts.head);
    if (nc > rim->contacts.capacity) {
        return itm_error_set(
            &d->error, ITM_ERR_CAPACITY, __func__, NULL,
            "%d rows of contacts, limits and friction exceed the capacity %d of the interface model; use coupling "
            "zoh with a small macro step, or simpler shapes",
            nc, rim->contacts.capacity);
    }
    if (nc > 0) {
        keep_rows(m, d, rim, nc);
    }
    if (nc > 0 && contact == ITM_RIM_ELIMINATE) {
        itm_rim_contacts_eliminate(rim);
    }
    return ITM_OK;
}
