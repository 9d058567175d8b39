// Gathering the bounded rows of an evaluation into a RIM.
//
// Rows that an interface can feel, over joints and other contacts, are taken from the table island by island. The others are
// left to the mechanism, which solves them once a macro step.
#include "rim/contacts.h"

#include "base/error.h"
#include "multibody/rows.h"
#include "stepper/bounded_solve.h"

#include <string.h>

// ---------------------------------------------------------------------------- memory

static void lay_out_reals(ItmRimContacts* r, ItmArena* arena, int n)
{
    size_t nc = (size_t)r->capacity;
    double** rows[] = {&r->ac, &r->omega, &r->gap_drift, &r->wc,       &r->gap, &r->x,    &r->Q0,
                       &r->Q1, &r->ratio, &r->rhs,       &r->a,        &r->b,   &r->w,    &r->x_try,
                       &r->lo, &r->up,    &r->x_bounce,  &r->v_bounce, &r->y,   &r->work, &r->correction};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        *rows[i] = ITM_TAKE(arena, double, nc);
    }
    r->H = ITM_TAKE(arena, double, nc* nc);
    r->S = ITM_TAKE(arena, double, nc* nc);
    r->Hci = ITM_TAKE(arena, double, nc*(size_t)n);
    r->f = ITM_TAKE(arena, double, nc*(size_t)(n + 1));
    r->a_steady = ITM_TAKE(arena, double, nc*(size_t)(n + 1));
    r->W_steady = ITM_TAKE(arena, double, n*(n + 1));
    r->s_drift = ITM_TAKE(arena, double, n);
    r->P_since = ITM_TAKE(arena, double, n);
    r->P1_since = ITM_TAKE(arena, double, n);
}

static void lay_out_contacts(ItmRimContacts* r, ItmArena* arena, int n, int capacity, int coupling_capacity)
{
    r->capacity = capacity;
    r->coupling_capacity = coupling_capacity;
    r->rows = ITM_TAKE(arena, ItmRimRow, r->capacity);
    r->couplings = ITM_TAKE(arena, ItmMlcpContact, r->coupling_capacity);
    signed char** marks[] = {&r->mode, &r->state};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        *marks[i] = ITM_TAKE(arena, signed char, r->capacity);
    }
    int** lists[] = {&r->table, &r->active, &r->pivot, &r->held, &r->loaded, &r->watched, &r->landing};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        *lists[i] = ITM_TAKE(arena, int, r->capacity);
    }
    r->stuck = ITM_TAKE(arena, int, r->coupling_capacity);
    r->sliding = ITM_TAKE(arena, int, r->coupling_capacity);
    r->is_bouncing = ITM_TAKE(arena, bool, r->capacity);
    r->has_held = ITM_TAKE(arena, bool, r->capacity);
    r->has_changed = ITM_TAKE(arena, bool, r->capacity);
    lay_out_reals(r, arena, n);
    r->dense = itm_dense_choose();
}

void itm_rim_contacts_lay_out(ItmRim* rim, ItmArena* arena, const ItmModel* m)
{
    ItmBounded table = {0};
    ItmArena measuring = {0};
    itm_bounded_lay_out(m, &table, &measuring, m->ncontact_max);
    rim->ahead_key = ITM_TAKE(arena, uint64_t, table.row_capacity);
    rim->ahead_rate = ITM_TAKE(arena, double, table.row_capacity);
    itm_rim_contacts_lay_out_rows(rim, arena, table.island_capacity, table.coupling_capacity);
}

void itm_rim_contacts_lay_out_rows(ItmRim* rim, ItmArena* arena, int capacity, int coupling_capacity)
{
    lay_out_contacts(&rim->contacts, arena, rim->n, capacity, coupling_capacity);
    rim->eliminated = ITM_TAKE(arena, int, capacity);
}

// ---------------------------------------------------------------------------- the start of the step

// The table belongs to the evaluation, `shift` ahead of the start: take gaps and rates back, and give motors the references of
// this step.
static void take_rows_back(const ItmModel* m, ItmData* d, const ItmRim* rim)
{
    ItmBounded* b = d->bounded;
    double shift = rim->shift;
    for (int i = 0; i < b->nrow; i++) {
        ItmBoundRow* row = &b->rows[i];
        if (itm_bound_row_is_unilateral(row)) {
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
static void set_motor(const ItmModel* m, const ItmRim* rim, const ItmBoundRow* row, ItmRimRow* out, double* gap,
                      double* drift)
{
    const ItmMotion* motion = &m->motions[row->owner];
    const ItmData* d = rim->data;
    if (motion->is_velocity) {
        out->reference = itm_data_compute_signal(m, d, motion->signal, rim->t + 0.5 * rim->H).x;
        return;
    }
    double now = itm_data_compute_signal(m, d, motion->signal, rim->t).x;
    double next = itm_data_compute_signal(m, d, motion->signal, rim->t + rim->H).x;
    out->has_target = true;
    out->reference = (next - now) / rim->H;
    *gap = next - row->reference * rim->H - now;
    *drift = -out->reference;
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
    for (int i = 0; i < b->nisland; i++) {
        int root = b->islands[i], head = b->head[root];
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
        last = b->tail[root];
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
            out[stride * b->local[block->first + i]] = sum;
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
    int index = b->global[i];
    const ItmBoundBlock* block = &b->blocks[b->rows[index].block];
    const ItmSpatial* cov = b->cov + block->path.cov_adr + (index - block->first) * block->path.nbody;
    double H = b->H[(size_t)i * (size_t)(nc + 1)];
    return !(H > ITM_RIM_FIXED * itm_rows_compute_free_mobility(m, &block->path, cov));
}

// ---------------------------------------------------------------------------- rows solved in micro steps

static void copy_row(const ItmModel* m, const ItmData* d, ItmRim* rim, const ItmBounded* b, int i)
{
    ItmRimContacts* r = &rim->contacts;
    int index = b->global[i];
    const ItmBoundRow* row = &b->rows[index];
    r->table[i] = index;
    r->rows[i] = (ItmRimRow){
        .is_unilateral = itm_bound_row_is_unilateral(row),
        .is_rigid = row->stiffness == 0.0 && row->damping == 0.0,
        .is_motor = row->kind == ITM_BOUND_MOTOR,
        .is_fixed = is_fixed(m, b, i, r->nc),
        .is_held = row->is_held,
        .is_at_rest = itm_bounded_is_at_rest(d, row),
        .open = row->open,
        .lo = row->lo / rim->H,
        .up = row->up / rim->H,
        .restitution = row->restitution,
        .stiffness = row->stiffness,
        .damping = row->damping,
        .normal = ITM_NONE,
    };
    r->gap[i] = row->gap;
    r->wc[i] = row->rate;
    r->ac[i] += row->bias;
    r->x[i] = b->x[index];
    r->state[i] = b->state[index];
    r->omega[i] = r->gap_drift[i] = 0.0;
    r->has_bounces = r->has_bounces || row->restitution > 0.0;
    if (row->kind == ITM_BOUND_MOTOR) {
        set_motor(m, rim, row, &r->rows[i], &r->gap[i], &r->gap_drift[i]);
    }
}

static void copy_couplings(ItmRimContacts* r, ItmBounded* b)
{
    r->ncoupling = itm_bounded_number_couplings(b, r->head);
    memcpy(r->couplings, b->island_couplings, sizeof(ItmMlcpContact) * (size_t)r->ncoupling);
    for (int c = 0; c < r->ncoupling; c++) {
        for (int t = 0; t < 2 && r->couplings[c].tangent[t] != ITM_NONE; t++) {
            r->rows[r->couplings[c].tangent[t]].normal = r->couplings[c].normal;
        }
    }
}

static void keep_rows(const ItmModel* m, ItmData* d, ItmRim* rim, int nc)
{
    ItmRimContacts* r = &rim->contacts;
    ItmBounded* b = d->bounded;
    for (int i = 0; i < nc; i++) {
        b->rows[b->global[i]].omega = b->rows[b->global[i]].offset = 0.0;
    }
    itm_bounded_assemble(m, d, r->head, nc);
    multiply_chain(m, b, r->head, r->ac, 1, rim->y_free);
    r->nc = nc;
    r->workspace = b->workspace;
    r->has_bounces = false;
    for (int i = 0; i < nc; i++) {
        copy_row(m, d, rim, b, i);
    }
    memcpy(r->H, b->H, sizeof(double) * (size_t)nc * (size_t)nc);
    copy_couplings(r, b);
    multiply_interfaces(m, b, rim);
    memset(r->s_drift, 0, sizeof(double) * (size_t)rim->n);
}

// ---------------------------------------------------------------------------- elimination

// Split the rows: those that were active in the last solve, and can move at all, into r->active, impulses over the step H of the others
// into r->x. Returns how many are active.
static int split_rows(ItmRim* rim)
{
    ItmRimContacts* r = &rim->contacts;
    double scale = rim->H / rim->data->options.step;
    int nz = 0;
    for (int i = 0; i < r->nc; i++) {
        bool is_active = r->state[i] == ITM_ROW_ACTIVE && !r->rows[i].is_fixed;
        r->x[i] = is_active || r->state[i] == ITM_ROW_UNKNOWN ? 0.0 : scale * r->x[i];
        if (is_active) {
            rim->eliminated[nz] = r->table[i];
            r->active[nz++] = i;
        }
    }
    rim->neliminated = nz;
    return nz;
}

static void factor_active(ItmRimContacts* r, int nz)
{
    for (int k = 0; k < nz; k++) {
        const double* row = r->H + (size_t)r->active[k] * (size_t)r->nc;
        for (int l = 0; l < nz; l++) {
            r->S[k * nz + l] = row[r->active[l]];
        }
        r->S[k * (nz + 1)] *= 1.0 + ITM_RIM_PROXIMAL;
    }
    itm_rim_contacts_factor(r, nz);
}

// Impulses of the active rows without interface forces: x0 (r->x_try) at the start of the step, which brings rigid rows to their rates
// at once, and the rest over the step, H f (r->rhs). b = w_c + H a_c + offset + H_zt x_t
//   (H_zz + Omega) x0 = -(w_c + offset), 0 for compliant rows;   (H_zz + Omega) (x0 + H f) = -b
static void solve_active(ItmRim* rim, int nz)
{
    ItmRimContacts* r = &rim->contacts;
    for (int k = 0; k < nz; k++) {
        int i = r->active[k];
        const double* row = r->H + (size_t)i * (size_t)r->nc;
        double start = r->wc[i] + itm_rim_contacts_compute_offset(r, i, rim->H), sum = rim->H * r->ac[i];
        for (int j = 0; j < r->nc; j++) {
            sum += row[j] * r->x[j];
        }
        bool is_compliant = r->omega[i] != 0.0;
        r->x_try[k] = is_compliant ? 0.0 : -start;
        r->rhs[k] = -sum - (is_compliant ? start : 0.0);
    }
    itm_rim_contacts_solve(r, r->x_try, nz);
    itm_rim_contacts_solve(r, r->rhs, nz);
}

// W = |y~ - Y_z' nu|^2 + nu' Omega nu, nu = (H_zz + Omega)^-1 H_zi: as a square, for its sign
static void reduce_mobility(ItmRim* rim, int nz)
{
    ItmRimContacts* r = &rim->contacts;
    int n = rim->n;
    double* nu = r->f;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < nz; k++) {
            nu[i * nz + k] = r->Hci[r->active[k] * n + i];
        }
        itm_rim_contacts_solve(r, nu + i * nz, nz);
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < nz; k++) {
            const double* row = r->H + (size_t)r->active[k] * (size_t)r->nc;
            double sum = -2.0 * r->Hci[r->active[k] * n + i];
            for (int l = 0; l < nz; l++) {
                sum += row[r->active[l]] * nu[i * nz + l];
            }
            r->rhs[k] = sum;
        }
        for (int j = 0; j <= i; j++) {
            for (int k = 0; k < nz; k++) {
                rim->W[i * n + j] += nu[j * nz + k] * r->rhs[k];
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
    int nz = split_rows(rim);
    factor_active(r, nz);
    solve_active(rim, nz);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < r->nc; j++) {
            rim->a0[i] += r->Hci[j * n + i] * r->x[j] / rim->H;
        }
        for (int k = 0; k < nz; k++) {
            rim->w[i] += r->Hci[r->active[k] * n + i] * r->x_try[k];
            rim->a0[i] += r->Hci[r->active[k] * n + i] * r->rhs[k] / rim->H;
        }
    }
    reduce_mobility(rim, nz);
    r->nc = r->ncoupling = 0;
}

// ---------------------------------------------------------------------------- all of it

ItmStatus itm_rim_contacts_extract(const ItmModel* m, ItmData* d, ItmRim* rim, ItmRimContact contact)
{
    ItmBounded* b = d->bounded;
    take_rows_back(m, d, rim);
    b->ahead = rim->shift;
    ItmStatus status = itm_bounded_begin(m, d);
    if (status != ITM_OK) {
        return status;
    }
    chain_islands(m, rim, b);
    int nc = itm_bounded_number_rows(b, rim->contacts.head);
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
