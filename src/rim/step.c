// Micro steps of a RIM. Three ways, each tried before the next: steady maps, a trial with the last active set, and the MLCP.
#include "rim/contacts.h"

#include "stepper/bounded_solve.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- steps and offsets

void itm_rim_contacts_set_step(ItmRim* rim, double h)
{
    ItmRimContacts* r = &rim->contacts;
    rim->h = h;
    for (int i = 0; i < r->nc; i++) {
        const ItmRimRow* row = &r->rows[i];
        double omega = row->is_unilateral && !row->is_rigid ? 1.0 / (h * h * row->stiffness + h * row->damping) : 0.0;
        r->H[(size_t)i * (size_t)(r->nc + 1)] += omega - r->omega[i];
        r->omega[i] = omega;
    }
    r->is_factored = r->is_steady = false;
}

// Gap that a micro step may use up; that of rounding is none.
static double get_open(const ItmRimContacts* r, int i)
{
    bool is_open = r->rows[i].is_rigid && r->gap[i] > 0.0;
    return is_open ? itm_bounded_get_open(r->gap[i], r->rows[i].open) : r->gap[i];
}

// As the mechanism's own step has it (bounded_solve.c), but the rates carry their bias themselves.
double itm_rim_contacts_compute_offset(const ItmRimContacts* r, int i, double h)
{
    const ItmRimRow* row = &r->rows[i];
    double offset = -row->reference, gap = r->gap[i], K = row->stiffness, D = row->damping;
    if (row->has_target) {
        offset += gap / h;
    } else if (row->is_unilateral) {
        gap = get_open(r, i);
        offset += gap > 0.0 ? gap / h : row->is_rigid ? 0.0 : K / (h * K + D) * gap;
    }
    return offset;
}

// Accelerations a and rates b of the rows without impulses.
static void compute_free_rates(ItmRim* rim, double h, const double* lambda)
{
    ItmRimContacts* r = &rim->contacts;
    for (int i = 0; i < r->nc; i++) {
        double a = r->ac[i];
        for (int j = 0; j < rim->n; j++) {
            a += r->Hci[i * rim->n + j] * lambda[j];
        }
        r->a[i] = a;
        r->b[i] = r->wc[i] + h * a + itm_rim_contacts_compute_offset(r, i, h);
    }
}

// ---------------------------------------------------------------------------- MLCP

// Offsets of rows that bounce in this micro step instead of closing their gap. Returns whether there are any.
static bool let_bounce(ItmRim* rim, double h)
{
    ItmRimContacts* r = &rim->contacts;
    bool is_bouncing = false;
    for (int i = 0; i < r->nc; i++) {
        const ItmRimRow* row = &r->rows[i];
        double w_free = r->wc[i] + h * r->a[i];
        r->is_bouncing[i] = row->restitution > 0.0 && get_open(r, i) + h * w_free <= 0.0 &&
                            r->wc[i] < -rim->model->contact_options.restitution_speed;
        if (r->is_bouncing[i]) {
            r->b[i] = w_free - row->reference + row->restitution * r->wc[i];
            is_bouncing = true;
        }
    }
    return is_bouncing;
}

// x_try, w and state from b; x_try and state hold a guess.
static ItmStatus solve_mlcp(ItmRim* rim)
{
    ItmRimContacts* r = &rim->contacts;
    ItmData* d = rim->data;
    ItmMlcpProblem problem = {.n = r->nc,
                              .H = r->H,
                              .b = r->b,
                              .lo = r->lo,
                              .up = r->up,
                              .is_symmetric = true,
                              .ncontact = r->ncoupling,
                              .contacts = r->couplings,
                              .w_before = r->wc};
    ItmMlcpResult result = {.x = r->x_try, .w = r->w, .state = r->state};
    ItmStatus status = itm_bounded_solve_mlcp(rim->model, d, r->workspace, &result, &problem, r->table);
    d->info.solver_redundant = status == ITM_OK ? result.info.nredundant : 0;
    r->nsolve++;
    return status;
}

// Work of impulses x with rates v after the micro step, and the sum without cancellation (see bounded_solve.c).
static double work_of(const ItmRimContacts* r, const double* x, const double* v, double* size)
{
    double sum = 0.0;
    *size = 0.0;
    for (int i = 0; i < r->nc; i++) {
        if (!r->rows[i].is_motor) {
            sum += 0.5 * x[i] * (r->wc[i] + v[i]);
            *size += 0.5 * fabs(x[i]) * (fabs(r->wc[i]) + fabs(v[i]));
        }
    }
    return sum;
}

// dx . dv / 2 of two solutions, motors left out.
static double curvature_of(const ItmRimContacts* r, const double* x0, const double* v0, const double* x1,
                           const double* v1)
{
    double sum = 0.0;
    for (int i = 0; i < r->nc; i++) {
        sum += r->rows[i].is_motor ? 0.0 : 0.5 * (x1[i] - x0[i]) * (v1[i] - v0[i]);
    }
    return sum;
}

// Rates A v+ behind w, which has offsets and compliance.
static void strip_offsets(ItmRim* rim, double* v, double h)
{
    const ItmRimContacts* r = &rim->contacts;
    for (int i = 0; i < r->nc; i++) {
        double offset = r->b[i] - r->wc[i] - h * r->a[i];
        v[i] = r->w[i] - offset - r->omega[i] * r->x_try[i];
    }
}

// Newton's restitution may create energy where contacts and friction meet: then go back towards the solution without bounce.
static ItmStatus limit_bounce(ItmRim* rim, double h)
{
    ItmRimContacts* r = &rim->contacts;
    double size, size0, *x1 = r->x_bounce, *v1 = r->v_bounce;
    memcpy(x1, r->x_try, sizeof(double) * (size_t)r->nc);
    memcpy(v1, r->w, sizeof(double) * (size_t)r->nc);
    double with = work_of(r, x1, v1, &size), allowed = rim->model->contact_options.tolerance * size;
    if (with <= allowed) {
        return ITM_OK;
    }
    for (int i = 0; i < r->nc; i++) {
        r->b[i] = r->wc[i] + h * r->a[i] + itm_rim_contacts_compute_offset(r, i, h);
    }
    ItmStatus status = solve_mlcp(rim);
    strip_offsets(rim, r->w, h);
    double without = work_of(r, r->x_try, r->w, &size0);
    double share =
        itm_bounded_share_bounce(without, with, curvature_of(r, r->x_try, r->w, x1, v1), fmax(allowed, without));
    for (int i = 0; i < r->nc && status == ITM_OK; i++) {
        r->x_try[i] += share * (x1[i] - r->x_try[i]);
        r->w[i] += share * (v1[i] - r->w[i]);
    }
    return status;
}

// Impulses x_try, rates A v+ in w and new modes by the MLCP.
static ItmStatus solve(ItmRim* rim, double h, bool is_bouncing)
{
    ItmRimContacts* r = &rim->contacts;
    for (int i = 0; i < r->nc; i++) {
        r->lo[i] = h * r->rows[i].lo;
        r->up[i] = h * r->rows[i].up;
        r->x_try[i] = r->x[i];
        r->state[i] = r->mode[i] != ITM_ROW_SLIP ? r->mode[i] : r->state[i] == ITM_ROW_UP ? ITM_ROW_UP : ITM_ROW_LO;
    }
    ItmStatus status = solve_mlcp(rim);
    if (status != ITM_OK) {
        return status;
    }
    strip_offsets(rim, r->w, h);
    if (is_bouncing) {
        status = limit_bounce(rim, h);
    }
    // the next trial starts from here
    itm_rim_contacts_set_modes(r, r->state, r->x_try);
    memcpy(r->x, r->x_try, sizeof(double) * (size_t)r->nc);
    return status;
}

// ---------------------------------------------------------------------------- rows in one micro step

// Impulses x_try and rates A v+ in w for forces lambda. is_trial: the modes of the last micro step did.
static ItmStatus find_impulses(ItmRim* rim, double h, const double* lambda, bool* is_trial)
{
    ItmRimContacts* r = &rim->contacts;
    compute_free_rates(rim, h, lambda);
    bool is_bouncing = r->has_bounces && let_bounce(rim, h);
    *is_trial = !is_bouncing && itm_rim_contacts_try(rim, h);
    if (*is_trial) {
        strip_offsets(rim, r->w, h);
        return ITM_OK;
    }
    return solve(rim, h, is_bouncing);
}

// Position impulses y of the micro step.
static void place_impulses(ItmRim* rim, double h)
{
    ItmRimContacts* r = &rim->contacts;
    if (rim->use_heun) {
        itm_rim_contacts_place(rim, h);
    } else {
        memcpy(r->y, r->x_try, sizeof(double) * (size_t)r->nc);
        r->is_plain = true;
    }
}

// How far a row moves: h w + h^2 a / 2 + h H y, with Euler's rule h w+.
static double move_row(const ItmRim* rim, int i, double h)
{
    const ItmRimContacts* r = &rim->contacts;
    double move = rim->use_heun ? 0.5 * (r->wc[i] + r->w[i]) : r->w[i];
    const double* H = r->H + (size_t)i * (size_t)r->nc;
    for (int j = 0; !r->is_plain && j < r->nc; j++) {
        move += H[j] * (r->y[j] - 0.5 * r->x_try[j]);
    }
    // compliance is on the diagonal of H, but moves nothing
    move -= r->is_plain ? 0.0 : r->omega[i] * (r->y[i] - 0.5 * r->x_try[i]);
    return h * move;
}

// Book the impulses, and move the rows on.
static void move_rows(ItmRim* rim, double h)
{
    ItmRimContacts* r = &rim->contacts;
    double left = (rim->H - rim->tau - h) / rim->H;
    for (int i = 0; i < r->nc; i++) {
        double x = r->x_try[i];
        r->gap[i] += move_row(rim, i, h) + h * r->gap_drift[i];
        if (x != 0.0) {
            r->work[i] += 0.5 * x * (r->wc[i] + r->w[i]);
        }
        r->Q0[i] += x;
        r->Q1[i] += left * x + h / rim->H * r->y[i];
        r->x[i] = x;
        r->has_changed[i] = r->has_changed[i] || r->has_held[i] != (r->mode[i] == ITM_ROW_ACTIVE);
        r->has_held[i] = r->mode[i] == ITM_ROW_ACTIVE;
    }
    memcpy(r->wc, r->w, sizeof(double) * (size_t)r->nc);
}

// w_next = w + h (a0 + W lambda) + H_ic x
static void move_interfaces(ItmRim* rim, double h, const double* lambda)
{
    const ItmRimContacts* r = &rim->contacts;
    int n = rim->n;
    for (int i = 0; i < n; i++) {
        double a = rim->a0[i], jump = 0.0;
        for (int j = 0; j < n; j++) {
            a += rim->W[i * n + j] * lambda[j];
        }
        for (int j = 0; j < r->nc; j++) {
            jump += r->Hci[j * n + i] * r->x_try[j];
        }
        rim->w_next[i] = rim->w[i] + h * a + jump;
    }
}

// ---------------------------------------------------------------------------- steady

// Rates that the watched rows would have, and whether all inequalities hold.
static bool stays_steady(ItmRim* rim, double h, const double* lambda)
{
    ItmRimContacts* r = &rim->contacts;
    int n = rim->n, width = n + 1;
    double most = 0.0, tolerance = itm_rim_contacts_get_tolerance(rim);
    for (int k = 0; k < r->nloaded; k++) {
        int i = r->loaded[k];
        const double* f = r->f + i * width;
        double sum = f[0];
        for (int j = 0; j < n; j++) {
            sum += f[1 + j] * lambda[j];
        }
        r->x_try[i] = sum;
        most = fabs(sum) > most ? fabs(sum) : most;
    }
    for (int k = 0; k < r->nheld; k++) {
        const ItmRimRow* row = &r->rows[r->held[k]];
        double f = r->x_try[r->held[k]];
        if (f < row->lo - 1e-9 * most || f > row->up + 1e-9 * most) {
            return false;
        }
    }
    for (int k = 0; k < r->nstuck; k++) {
        if (!itm_rim_contacts_sticks(&r->couplings[r->stuck[k]], r->x_try, 1e-9 * most)) {
            return false;
        }
    }
    for (int k = 0; k < r->nwatched; k++) {
        int i = r->watched[k];
        const double* a = r->a_steady + i * width;
        double sum = a[0];
        for (int j = 0; j < n; j++) {
            sum += a[1 + j] * lambda[j];
        }
        double w = r->w[i] = r->wc[i] + h * sum;
        if (itm_rim_contacts_is_tight(r, i)) {
            w += itm_rim_contacts_compute_offset(r, i, h);
            if (r->mode[i] == ITM_ROW_LO ? w < -tolerance : w > tolerance) {
                return false;
            }
        }
    }
    for (int k = 0; k < r->nsliding; k++) {
        if (!itm_rim_contacts_slips(r, &r->couplings[r->sliding[k]], r->w, tolerance)) {
            return false;
        }
    }
    return true;
}

static void predict_steady(const ItmRim* rim, double h, const double* lambda, double* w_next)
{
    int n = rim->n;
    for (int i = 0; i < n; i++) {
        const double* W = rim->contacts.W_steady + i * (n + 1);
        double a = W[0];
        for (int j = 0; j < n; j++) {
            a += W[1 + j] * lambda[j];
        }
        w_next[i] = rim->w[i] + h * a;
    }
}

// A steady micro step; forces and rates from stays_steady.
static void move_steady(ItmRim* rim, double h, const double* lambda)
{
    ItmRimContacts* r = &rim->contacts;
    double left = (rim->H - rim->tau - (rim->use_heun ? 0.5 * h : 0.0)) / rim->H;
    for (int k = 0; k < r->nwatched; k++) {
        int i = r->watched[k];
        double w = r->w[i], mean = 0.5 * (r->wc[i] + w);
        if (r->x_try[i] != 0.0) {
            r->work[i] += h * r->x_try[i] * mean;
        }
        r->gap[i] += h * ((rim->use_heun ? mean : w) + r->gap_drift[i]);
        r->wc[i] = w;
    }
    r->since += h;
    r->since_moment += h * left;
    for (int i = 0; i < rim->n; i++) {
        r->P_since[i] += h * lambda[i];
        r->P1_since[i] += h * left * lambda[i];
    }
    r->nsteady++;
}

// Book what the steady micro steps left: impulses, and rates of rows that nobody watched.
static void end_steady(ItmRim* rim, double h)
{
    ItmRimContacts* r = &rim->contacts;
    int n = rim->n, width = n + 1;
    if (!r->is_steady) {
        return;
    }
    for (int i = 0; i < r->nc; i++) {
        const double *f = r->f + i * width, *a = r->a_steady + i * width;
        double Q0 = f[0] * r->since, Q1 = f[0] * r->since_moment, dw = a[0] * r->since;
        for (int k = 0; k < n; k++) {
            Q0 += f[1 + k] * r->P_since[k];
            Q1 += f[1 + k] * r->P1_since[k];
            dw += a[1 + k] * r->P_since[k];
        }
        r->Q0[i] += Q0;
        r->Q1[i] += Q1;
        if (r->mode[i] == ITM_ROW_ACTIVE) {
            // motors rest at their own speed; nobody watched their work
            r->work[i] += Q0 * r->wc[i];
        }
        bool is_open_tangent = r->mode[i] == ITM_ROW_SLIP && !itm_rim_contacts_is_rubbing(r, i);
        r->wc[i] += is_open_tangent ? dw : 0.0;
        r->x[i] = r->since > 0.0 ? h * Q0 / r->since : r->x[i];
    }
    r->is_steady = false;
}

// ---------------------------------------------------------------------------- position correction

// The part of H over the rows to be corrected, listed in r->active, and their gaps at the end of the macro step without a correction.
// Returns how many; 0: none of them is off.
static int prepare_correction(const ItmRim* rim, ItmBoundCorrection* c)
{
    const ItmRimContacts* r = &rim->contacts;
    bool is_any = false;
    for (int i = 0; i < r->nc; i++) {
        const ItmRimRow* row = &r->rows[i];
        if (row->is_unilateral && row->is_rigid && !row->is_fixed) {
            is_any = is_any || itm_bounded_is_off(r->gap[i] + rim->H * r->gap_drift[i], row->is_held, row->is_at_rest);
            r->active[c->n++] = i;
        }
    }
    for (int k = 0; k < c->n && is_any; k++) {
        int i = r->active[k];
        for (int l = 0; l < c->n; l++) {
            c->H[(size_t)k * (size_t)c->n + (size_t)l] = r->H[(size_t)i * (size_t)r->nc + (size_t)r->active[l]];
        }
        itm_bounded_set_correction(c, k, r->gap[i] + rim->H * r->gap_drift[i], r->rows[i].is_held);
    }
    return is_any ? c->n : 0;
}

// Gaps of rigid contacts and limits are corrected by displacements over the macro step: no velocity, no energy. In a joined model
// gap_drift already has the displacements that close the interfaces, and H the response of the interfaces: both corrections agree.
static ItmStatus correct_positions(ItmRim* rim)
{
    ItmRimContacts* r = &rim->contacts;
    ItmBoundCorrection c = {.H = r->S, .b = r->b, .lo = r->lo, .up = r->up, .x = r->x_try, .w = r->w, .state = r->mode};
    int n = rim->n, nc = r->nc, count = prepare_correction(rim, &c);
    memset(r->correction, 0, sizeof(double) * (size_t)nc);
    ItmStatus status = count > 0 ? itm_bounded_solve_correction(rim->data, r->workspace, &c) : ITM_OK;
    for (int k = 0; k < count && status == ITM_OK; k++) {
        int j = r->active[k];
        double rate = c.x[k] / rim->H;
        r->correction[j] = c.x[k];
        for (int i = 0; i < nc && rate != 0.0; i++) {
            r->gap_drift[i] += r->H[(size_t)i * (size_t)nc + (size_t)j] * rate;
        }
        for (int i = 0; i < n && rate != 0.0; i++) {
            r->s_drift[i] += r->Hci[j * n + i] * rate;
        }
    }
    return status;
}

// ---------------------------------------------------------------------------- micro steps

ItmStatus itm_rim_begin(ItmRim* rim, int K, bool use_heun)
{
    ItmRimContacts* r = &rim->contacts;
    double h = rim->H / K;
    rim->use_heun = use_heun;
    rim->h = h;
    rim->tau = rim->theta = 0.0;
    memset(rim->P0, 0, sizeof(double) * (size_t)rim->n);
    memset(rim->P1, 0, sizeof(double) * (size_t)rim->n);
    memset(rim->work, 0, sizeof(double) * (size_t)rim->n);
    r->is_steady = false;
    if (r->nc == 0) {
        return ITM_OK;
    }
    ItmStatus status = correct_positions(rim);
    if (status != ITM_OK) {
        return status;
    }
    memset(r->work, 0, sizeof(double) * (size_t)r->nc);
    memset(r->Q0, 0, sizeof(double) * (size_t)r->nc);
    memset(r->Q1, 0, sizeof(double) * (size_t)r->nc);
    for (int i = 0; i < r->nc; i++) {
        r->x[i] *= h / rim->H;
    }
    memset(r->is_bouncing, 0, sizeof(bool) * (size_t)r->nc);
    itm_rim_contacts_set_step(rim, h);
    itm_rim_contacts_set_modes(r, r->state, r->x);
    for (int i = 0; i < r->nc; i++) {
        r->has_held[i] = r->mode[i] == ITM_ROW_ACTIVE;
        r->has_changed[i] = false;
    }
    return ITM_OK;
}

ItmStatus itm_rim_predict(ItmRim* rim, double h, const double* lambda, double* w_end)
{
    ItmRimContacts* r = &rim->contacts;
    ItmStatus status = ITM_OK;
    if (r->is_steady) {
        // a step that leaves the steady state is corrected by itm_rim_advance
        predict_steady(rim, h, lambda, w_end);
        return ITM_OK;
    }
    if (r->nc > 0) {
        bool is_trial;
        status = find_impulses(rim, h, lambda, &is_trial);
    }
    move_interfaces(rim, h, lambda);
    memcpy(w_end, rim->w_next, sizeof(double) * (size_t)rim->n);
    return status;
}

// The lengths go with the mean of the rates, or with the last one; where y is not even, with that.
static void finish_step(ItmRim* rim, double h, const double* lambda, bool is_plain)
{
    const ItmRimContacts* r = &rim->contacts;
    double left = (rim->H - rim->tau - (rim->use_heun ? 0.5 * h : 0.0)) / rim->H;
    int n = rim->n;
    for (int i = 0; i < n; i++) {
        double w = rim->w[i], w_next = rim->w_next[i], mean = 0.5 * (w + w_next);
        double move = rim->use_heun ? mean : w_next;
        for (int j = 0; !is_plain && j < r->nc; j++) {
            move += r->Hci[j * n + i] * (r->y[j] - 0.5 * r->x_try[j]);
        }
        rim->s[i] += h * move + (r->nc > 0 ? h * r->s_drift[i] : 0.0);
        rim->w[i] = w_next;
        rim->P0[i] += h * lambda[i];
        rim->P1[i] += h * left * lambda[i];
        rim->work[i] += h * lambda[i] * mean;
    }
    rim->theta += h * left / rim->H;
    rim->tau += h;
}

ItmStatus itm_rim_advance(ItmRim* rim, double h, const double* lambda)
{
    ItmRimContacts* r = &rim->contacts;
    if (r->nc == 0) {
        move_interfaces(rim, h, lambda);
        finish_step(rim, h, lambda, true);
        return ITM_OK;
    }
    if (h != rim->h) {
        end_steady(rim, rim->h);
        itm_rim_contacts_set_step(rim, h);
    }
    if (r->is_steady && stays_steady(rim, h, lambda)) {
        predict_steady(rim, h, lambda, rim->w_next);
        move_steady(rim, h, lambda);
        finish_step(rim, h, lambda, true);
        return ITM_OK;
    }
    end_steady(rim, h);
    bool is_trial;
    ItmStatus status = find_impulses(rim, h, lambda, &is_trial);
    if (status != ITM_OK) {
        return status;
    }
    place_impulses(rim, h);
    move_interfaces(rim, h, lambda);
    move_rows(rim, h);
    finish_step(rim, h, lambda, r->is_plain);
    if (is_trial) {
        r->ntrial++;
        itm_rim_contacts_settle(rim, h, lambda);
    }
    return ITM_OK;
}

void itm_rim_contacts_end(ItmRim* rim)
{
    ItmRimContacts* r = &rim->contacts;
    end_steady(rim, rim->h);
    for (int i = 0; i < r->nc; i++) {
        bool is_up = itm_rim_contacts_is_tight(r, i) ? r->mode[i] == ITM_ROW_UP : r->ratio[i] > 0.0;
        bool is_active = r->mode[i] == ITM_ROW_ACTIVE && !r->is_bouncing[i];
        r->state[i] = is_active ? ITM_ROW_ACTIVE : is_up ? ITM_ROW_UP : ITM_ROW_LO;
    }
}
