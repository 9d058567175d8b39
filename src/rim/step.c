// Micro steps of a RIM. Three ways, each tried before the next: steady maps (steady.c), the last active set, and the MLCP.
#include "rim/contacts.h"

#include "stepper/bounded_solve.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- impulses of a micro step

void itm_rim_contacts_set_step(ItmRim* rim, double h)
{
    ItmRimContacts* r = &rim->contacts;
    rim->h = h;
    r->step = (ItmRowStep){.h = h,
                           .since = h,
                           .restitution_speed = rim->model->contact_options.restitution_speed,
                           .places_hits = true,
                           .uses_mean = rim->use_heun};
    for (int i = 0; i < r->problem.n; i++) {
        ItmRow* row = &r->problem.rows[i];
        double omega = itm_row_compute_omega(row, h);
        r->problem.H[(size_t)i * (size_t)(r->problem.n + 1)] += omega - row->omega;
        row->omega = omega;
    }
    r->set.is_factored = r->steady.is_on = false;
}

// The problem of a micro step under forces lambda: rates without impulses, offsets and bounds. Returns whether rows bounce.
static bool state_problem(ItmRim* rim, double h, const double* lambda)
{
    ItmRimContacts* r = &rim->contacts;
    const ItmRowProblem* p = &r->problem;
    double share = h / rim->H;
    bool is_bouncing = false;
    r->step.h = r->step.since = h;
    for (int i = 0; i < p->n; i++) {
        ItmRow* row = &p->rows[i];
        double a = r->ac[i];
        row->rate_mid = row->rate;
        row->hit = row->late = row->late_work = 0.0;
        for (int j = 0; j < rim->n; j++) {
            a += r->Hci[i * rim->n + j] * lambda[j];
        }
        p->v_free[i] = row->rate + h * a;
        row->offset = itm_row_compute_offset(row, &r->step);
        if (r->has_bounces) {
            itm_row_let_bounce(row, &r->step, p->v_free[i]);
            is_bouncing = is_bouncing || row->is_bouncing;
        }
        p->b[i] = p->v_free[i] + row->offset;
        p->lo[i] = share * row->lo;
        p->up[i] = share * row->up;
        p->x[i] = r->x[i];
    }
    return is_bouncing;
}

// What the solve took off the rates of redundant rows, for their contradictions, is an error of the free accelerations: off those too, so
// that the next trials need no solve. In the first micro step it is also one of the rates at the start, which are free of it from then on.
static void take_off_contradictions(ItmRim* rim, double h)
{
    ItmRimContacts* r = &rim->contacts;
    const ItmRowProblem* p = &r->problem;
    if (p->contradiction == 0.0 || rim->tau == 0.0) {
        return;
    }
    for (int i = 0; i < p->n; i++) {
        double taken = p->b[i] + r->set.dense->dot(p->H + (size_t)i * (size_t)p->n, p->x, p->n) - p->w[i];
        r->ac[i] -= taken / h;
    }
}

// By the MLCP, starting from the last micro step; the next trial starts from its active set.
static ItmStatus solve(ItmRim* rim, double h)
{
    ItmRimContacts* r = &rim->contacts;
    ItmRowProblem* p = &r->problem;
    ItmRowSolves solves;
    for (int i = 0; i < p->n; i++) {
        signed char last = r->set.state[i];
        p->x[i] = r->x[i];
        p->state[i] = last != ITM_ROW_SLIP ? last : p->state[i] == ITM_ROW_UP ? ITM_ROW_UP : ITM_ROW_LO;
    }
    ItmStatus status = itm_bounded_solve_rows(rim->model, rim->data, p, &r->step, r->workspace, r->table, &solves);
    rim->data->info.solver_redundant = solves.n > 0 ? solves.info[solves.n - 1].nredundant : 0;
    r->nsolve += solves.n;
    // searching again in every micro step would cost more than all else, and find the same
    for (int k = 0; k < solves.n; k++) {
        p->slip_is_known = p->slip_is_known || solves.info[k].is_slip_found;
    }
    if (status == ITM_OK) {
        if (solves.n == 1) {
            take_off_contradictions(rim, h);
        }
        itm_active_set_guess(&r->set, p->state, p->x);
        memcpy(r->x, p->x, sizeof(double) * (size_t)p->n);
        r->steady.is_on = false;
    }
    return status;
}

// Impulses p->x and rates A v+ in p->v for forces lambda. is_trial: the active set of the last micro step did.
static ItmStatus find_impulses(ItmRim* rim, double h, const double* lambda, bool* is_trial)
{
    ItmRimContacts* r = &rim->contacts;
    const ItmRowProblem* p = &r->problem;
    long factors = r->set.nfactor;
    bool is_bouncing = state_problem(rim, h, lambda);
    *is_trial = !is_bouncing && itm_active_set_try(&r->set, itm_rim_contacts_get_tolerance(rim));
    r->nserved = r->set.nfactor == factors ? r->nserved + 1 : 0;
    if (!*is_trial) {
        return solve(rim, h);
    }
    for (int i = 0; i < p->n; i++) {
        p->v[i] = p->w[i] - p->rows[i].offset - p->rows[i].omega * p->x[i];
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- positions

// What an active row should move beyond the mean of its rates, as a rate: a rigid contact or limit uses up its gap and no more,
// where going on at the mean would carry it in, and a position motor arrives.
static double compute_excess(const ItmRimContacts* r, int i, double h)
{
    const ItmRow* row = &r->problem.rows[i];
    double even = 0.5 * (row->rate + r->problem.v[i]);
    return row->has_target ? -row->gap / h - r->gap_drift[i] - even : -itm_row_get_open(row) / h - even;
}

static bool lands(const ItmRimContacts* r, int i)
{
    const ItmRow* row = &r->problem.rows[i];
    bool is_stop = itm_row_is_unilateral(row) && itm_row_is_rigid(row) && !row->is_bouncing;
    return r->set.state[i] == ITM_ROW_ACTIVE && !row->is_fixed && (is_stop || row->has_target);
}

#define SWEEPS 50

// What row i moves beyond the mean of its rates by the parts of impulses that are not even (y - x / 2), as a rate.
static double compute_uneven(const ItmRimContacts* r, int i, double even)
{
    const ItmRowProblem* p = &r->problem;
    const double* H = p->H + (size_t)i * (size_t)p->n;
    double sum = 0.0;
    for (int j = 0; j < p->n; j++) {
        sum += H[j] * (r->y[j] - even * p->x[j]);
    }
    // compliance is on the diagonal of H, but moves nothing
    return sum - p->rows[i].omega * (r->y[i] - even * p->x[i]);
}

// The position impulses y of rows that land, with Heun's rule. Rates change by h a + H x in the step; positions move by
// h w + h^2 a / 2 + h H y. Evenly, y = x / 2; rows that land get the rest by sweeps over them, which is exact enough in a few and
// harmless where rows depend on each other.
static void place_landing(ItmRimContacts* r, double h)
{
    const ItmRowProblem* p = &r->problem;
    double *excess = r->set.rhs, least = 1e-3 * ITM_ROW_SLOP / h, most = 0.0;
    int n = 0;
    for (int i = 0; i < p->n; i++) {
        if (lands(r, i)) {
            excess[n] = compute_excess(r, i, h) - (r->is_plain ? 0.0 : compute_uneven(r, i, 0.5));
            most = fmax(most, fabs(excess[n]));
            r->landing[n++] = i;
        }
    }
    r->is_plain = r->is_plain && most <= least;
    for (int sweep = 0; sweep < SWEEPS && most > least; sweep++) {
        most = 0.0;
        for (int k = 0; k < n; k++) {
            const double* H = p->H + (size_t)r->landing[k] * (size_t)p->n;
            double change = H[r->landing[k]] > 0.0 ? excess[k] / H[r->landing[k]] : 0.0;
            most = fmax(most, fabs(excess[k]));
            r->y[r->landing[k]] += change;
            for (int l = 0; l < n; l++) {
                excess[l] -= H[r->landing[l]] * change;
            }
        }
    }
}

// Share of impulses that act evenly over a micro step in its displacement.
static double get_even(const ItmRim* rim)
{
    return rim->use_heun ? 0.5 : 1.0;
}

// Position impulses y of the micro step: the even share, (h - s) / h of a bounce at time s, and what landing takes.
static void place_impulses(ItmRim* rim, double h)
{
    ItmRimContacts* r = &rim->contacts;
    double even = get_even(rim);
    r->is_plain = true;
    for (int i = 0; i < r->problem.n; i++) {
        const ItmRow* row = &r->problem.rows[i];
        r->y[i] = even * r->problem.x[i] + (1.0 - even) * row->hit - row->late / h;
        r->is_plain = r->is_plain && row->hit == 0.0;
    }
    if (rim->use_heun) {
        place_landing(r, h);
    }
}

// How far a row moves: h w + h^2 a / 2 + h H y, with Euler's rule h (w + h a) + h H y.
static double move_row(const ItmRim* rim, int i, double h)
{
    const ItmRimContacts* r = &rim->contacts;
    const ItmRowProblem* p = &r->problem;
    double move = rim->use_heun ? 0.5 * (p->rows[i].rate + p->v[i]) : p->v[i];
    return h * (move + (r->is_plain ? 0.0 : compute_uneven(r, i, get_even(rim))));
}

// Book the impulses, and move the rows on.
static void move_rows(ItmRim* rim, double h)
{
    ItmRimContacts* r = &rim->contacts;
    const ItmRowProblem* p = &r->problem;
    double left = (rim->H - rim->tau - h) / rim->H;
    for (int i = 0; i < p->n; i++) {
        ItmRow* row = &p->rows[i];
        double x = p->x[i];
        bool is_active = r->set.state[i] == ITM_ROW_ACTIVE;
        row->gap += move_row(rim, i, h) + h * r->gap_drift[i];
        r->work[i] += 0.5 * x * (row->rate + p->v[i]) + row->late_work;
        r->Q0[i] += x;
        r->Q1[i] += left * x + h / rim->H * r->y[i];
        r->x[i] = x;
        r->has_changed[i] = r->has_changed[i] || r->has_held[i] != is_active;
        r->has_held[i] = is_active;
        row->rate = p->v[i];
    }
}

// w_next = w + h (a0 + a1 (tau + h/2 - H/2) + W lambda) + H_ic x
static void move_interfaces(ItmRim* rim, double h, const double* lambda)
{
    const ItmRimContacts* r = &rim->contacts;
    int n = rim->n;
    double late = rim->tau + 0.5 * (h - rim->H);
    for (int i = 0; i < n; i++) {
        double a = rim->a1 == NULL ? rim->a0[i] : rim->a0[i] + late * rim->a1[i], jump = 0.0;
        for (int j = 0; j < n; j++) {
            a += rim->W[i * n + j] * lambda[j];
        }
        for (int j = 0; j < r->problem.n; j++) {
            jump += r->Hci[j * n + i] * r->problem.x[j];
        }
        rim->w_next[i] = rim->w[i] + h * a + jump;
    }
}

// ---------------------------------------------------------------------------- position correction

// Gaps of rigid contacts and limits are corrected by displacements over the macro step: no velocity, no energy. In a joined model
// gap_drift already has the displacements that close the interfaces, and H the response of the interfaces: both corrections agree.
static ItmStatus correct_positions(ItmRim* rim)
{
    ItmRimContacts* r = &rim->contacts;
    ItmRowProblem p = r->problem;
    int n = rim->n, nc = p.n, count, *list = r->set.active;
    double* drift = p.v_free;
    p.state = r->set.state;
    for (int i = 0; i < nc; i++) {
        drift[i] = rim->H * r->gap_drift[i];
        r->correction[i] = 0.0;
    }
    ItmStatus status = itm_bounded_correct(rim->data, &p, r->workspace, drift, list, r->set.S, &count);
    for (int k = 0; k < count && status == ITM_OK; k++) {
        int j = list[k];
        double rate = p.x[k] / rim->H;
        r->correction[j] = p.x[k];
        for (int i = 0; i < nc && rate != 0.0; i++) {
            r->gap_drift[i] += p.H[(size_t)i * (size_t)nc + (size_t)j] * rate;
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
    r->steady.is_on = false;
    if (r->problem.n == 0 || r->has_begun) {
        return ITM_OK;
    }
    ItmStatus status = correct_positions(rim);
    if (status != ITM_OK) {
        return status;
    }
    memset(r->work, 0, sizeof(double) * (size_t)r->problem.n);
    memset(r->Q0, 0, sizeof(double) * (size_t)r->problem.n);
    memset(r->Q1, 0, sizeof(double) * (size_t)r->problem.n);
    for (int i = 0; i < r->problem.n; i++) {
        r->x[i] *= h / rim->H;
        r->problem.rows[i].is_bouncing = false;
    }
    itm_rim_contacts_set_step(rim, h);
    itm_active_set_guess(&r->set, r->problem.state, r->x);
    for (int i = 0; i < r->problem.n; i++) {
        r->has_held[i] = r->set.state[i] == ITM_ROW_ACTIVE;
        r->has_changed[i] = false;
    }
    return ITM_OK;
}

ItmStatus itm_rim_predict(ItmRim* rim, double h, const double* lambda, double* w_end)
{
    ItmRimContacts* r = &rim->contacts;
    ItmStatus status = ITM_OK;
    if (r->steady.is_on && r->steady.ncompliant > 0 && !itm_rim_steady_holds(rim, h, lambda)) {
        itm_rim_steady_end(rim, rim->h);
    }
    if (r->steady.is_on) {
        // rigid rows: a step that leaves the steady state is corrected by itm_rim_advance
        itm_rim_steady_predict(rim, h, lambda, w_end);
        return ITM_OK;
    }
    if (r->problem.n > 0) {
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
    double left = (rim->H - rim->tau - (rim->use_heun ? 0.5 * h : 0.0)) / rim->H, even = get_even(rim);
    int n = rim->n;
    for (int i = 0; i < n; i++) {
        double w = rim->w[i], w_next = rim->w_next[i], mean = 0.5 * (w + w_next);
        double move = rim->use_heun ? mean : w_next;
        for (int j = 0; !is_plain && j < r->problem.n; j++) {
            move += r->Hci[j * n + i] * (r->y[j] - even * r->problem.x[j]);
        }
        rim->s[i] += h * move + (r->problem.n > 0 ? h * r->s_drift[i] : 0.0);
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
    if (r->problem.n == 0) {
        move_interfaces(rim, h, lambda);
        finish_step(rim, h, lambda, true);
        return ITM_OK;
    }
    if (h != rim->h) {
        itm_rim_steady_end(rim, rim->h);
        itm_rim_contacts_set_step(rim, h);
    }
    if (r->steady.is_on && itm_rim_steady_holds(rim, h, lambda)) {
        itm_rim_steady_predict(rim, h, lambda, rim->w_next);
        itm_rim_steady_move(rim, h, lambda);
        finish_step(rim, h, lambda, true);
        return ITM_OK;
    }
    itm_rim_steady_end(rim, h);
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
        itm_rim_steady_begin(rim, h, lambda);
    }
    return ITM_OK;
}

void itm_rim_contacts_end(ItmRim* rim)
{
    ItmRimContacts* r = &rim->contacts;
    itm_rim_steady_end(rim, rim->h);
    for (int i = 0; i < r->problem.n; i++) {
        bool is_up = itm_active_set_is_tight(&r->set, i) ? r->set.state[i] == ITM_ROW_UP : r->set.ratio[i] > 0.0;
        bool is_active = r->set.state[i] == ITM_ROW_ACTIVE && !r->problem.rows[i].is_bouncing;
        r->problem.state[i] = is_active ? ITM_ROW_ACTIVE : is_up ? ITM_ROW_UP : ITM_ROW_LO;
    }
}
