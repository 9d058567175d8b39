// A micro step with a guessed active set: a linear system instead of an MLCP, and inequalities that tell whether the guess was
// right. While it holds and nothing moves at the active rows, all is linear in the interface forces, with constant maps.
#include "rim/contacts.h"

#include "mlcp/friction.h"
#include "stepper/bounded_solve.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- dense systems

void itm_rim_contacts_factor(ItmRimContacts* r, int n)
{
    double* S = r->S;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++) {
            best = fabs(S[i * n + k]) > fabs(S[best * n + k]) ? i : best;
        }
        r->pivot[k] = best;
        for (int j = 0; best != k && j < n; j++) {
            double swap = S[k * n + j];
            S[k * n + j] = S[best * n + j];
            S[best * n + j] = swap;
        }
        // a row that nothing can move gets no impulse
        double inv = S[k * n + k] != 0.0 ? 1.0 / S[k * n + k] : 0.0;
        S[k * n + k] = inv;
        for (int i = k + 1; i < n; i++) {
            double factor = S[i * n + k] *= inv;
            for (int j = k + 1; factor != 0.0 && j < n; j++) {
                S[i * n + j] -= factor * S[k * n + j];
            }
        }
    }
}

void itm_rim_contacts_solve(const ItmRimContacts* r, double* x, int n)
{
    const double* S = r->S;
    for (int k = 0; k < n; k++) {
        double swap = x[r->pivot[k]];
        x[r->pivot[k]] = x[k];
        x[k] = swap;
    }
    for (int i = 1; i < n; i++) {
        x[i] -= r->dense->dot(S + i * n, x, i);
    }
    for (int i = n - 1; i >= 0; i--) {
        const double* row = S + i * n;
        x[i] = (x[i] - r->dense->dot(row + i + 1, x + i + 1, n - i - 1)) * row[i];
    }
}

// ---------------------------------------------------------------------------- modes

// Slip lies on the edge of what the law allows, not within a solver's tolerance of it.
static void snap_ratios(ItmRimContacts* r, const ItmMlcpContact* c, bool is_pair)
{
    if (is_pair && c->law == ITM_FRICTION_CONE) {
        double *x = &r->ratio[c->tangent[0]], *y = &r->ratio[c->tangent[1]], length = hypot(*x, *y);
        double scale = length > 0.0 ? c->mu / length : 0.0;
        *x *= scale;
        *y *= scale;
        return;
    }
    for (int k = 0; !is_pair && k < 2 && c->tangent[k] != ITM_NONE; k++) {
        double* x = &r->ratio[c->tangent[k]];
        *x = *x != 0.0 ? copysign(c->mu, *x) : 0.0;
    }
}

void itm_rim_contacts_set_modes(ItmRimContacts* r, const signed char* state, const double* x)
{
    for (int i = 0; i < r->nc; i++) {
        const ItmRimRow* row = &r->rows[i];
        bool is_active = state[i] == ITM_ROW_ACTIVE || (state[i] == ITM_ROW_UNKNOWN && !row->is_unilateral);
        r->mode[i] = is_active ? ITM_ROW_ACTIVE : state[i] == ITM_ROW_UP ? ITM_ROW_UP : ITM_ROW_LO;
        r->ratio[i] = 0.0;
    }
    // tangents: stick only where the contact is closed, and both of a cone together
    for (int c = 0; c < r->ncoupling; c++) {
        const ItmMlcpContact* coupling = &r->couplings[c];
        int normal = coupling->normal, t0 = coupling->tangent[0], t1 = coupling->tangent[1];
        bool is_closed = r->mode[normal] == ITM_ROW_ACTIVE && x[normal] > 0.0;
        bool is_pair = t1 != ITM_NONE && coupling->law != ITM_FRICTION_BOX;
        bool sticks[2] = {is_closed && r->mode[t0] == ITM_ROW_ACTIVE,
                          is_closed && t1 != ITM_NONE && r->mode[t1] == ITM_ROW_ACTIVE};
        for (int k = 0; k < 2 && coupling->tangent[k] != ITM_NONE; k++) {
            int t = coupling->tangent[k];
            bool is_stuck = is_pair ? sticks[0] && sticks[1] : sticks[k];
            r->mode[t] = is_stuck ? ITM_ROW_ACTIVE : ITM_ROW_SLIP;
            r->ratio[t] = !is_stuck && is_closed ? x[t] / x[normal] : 0.0;
        }
        snap_ratios(r, coupling, is_pair);
    }
    r->is_factored = r->is_steady = false;
}

double itm_rim_contacts_get_tolerance(const ItmRim* rim)
{
    return rim->model->contact_options.tolerance;
}

bool itm_rim_contacts_sticks(const ItmMlcpContact* c, const double* f, double tolerance)
{
    double t[2] = {f[c->tangent[0]], c->tangent[1] != ITM_NONE ? f[c->tangent[1]] : 0.0};
    return itm_friction_contains(c, f[c->normal], t, tolerance);
}

bool itm_rim_contacts_slips(const ItmRimContacts* r, const ItmMlcpContact* c, const double* w, double tolerance)
{
    int t0 = c->tangent[0], t1 = c->tangent[1];
    if (t1 != ITM_NONE && c->law != ITM_FRICTION_BOX) {
        const double p[2] = {r->ratio[t0], r->ratio[t1]}, w_t[2] = {w[t0], w[t1]};
        return itm_friction_opposes(c, p, w_t, tolerance);
    }
    for (int k = 0; k < 2 && c->tangent[k] != ITM_NONE; k++) {
        int t = c->tangent[k];
        if (r->mode[t] == ITM_ROW_SLIP && w[t] * r->ratio[t] > tolerance) {
            return false;
        }
    }
    return true;
}

// ---------------------------------------------------------------------------- trial

// S over the active rows: column j has H of the row and of what slips with it.
static void factor_set(ItmRimContacts* r)
{
    size_t nc = (size_t)r->nc;
    int n = 0, *place = r->held;  // row -> number in S
    for (int i = 0; i < r->nc; i++) {
        place[i] = ITM_NONE;
        if (r->mode[i] == ITM_ROW_ACTIVE && !r->rows[i].is_fixed) {
            place[i] = n;
            r->active[n++] = i;
        }
    }
    r->nactive = n;
    for (int i = 0; i < n; i++) {
        const double* H = r->H + (size_t)r->active[i] * nc;
        double* S = r->S + i * n;
        for (int j = 0; j < n; j++) {
            S[j] = H[r->active[j]];
        }
        for (int j = 0; j < r->nc; j++) {
            if (r->mode[j] == ITM_ROW_SLIP && r->ratio[j] != 0.0 && place[r->rows[j].normal] != ITM_NONE) {
                S[place[r->rows[j].normal]] += H[j] * r->ratio[j];
            }
        }
        S[i] += ITM_RIM_PROXIMAL * H[r->active[i]];
    }
    itm_rim_contacts_factor(r, n);
    r->is_factored = true;
}

// Impulses of rows that are not active, from those that are.
static void follow(const ItmRimContacts* r, double* x, double h)
{
    for (int i = 0; i < r->nc; i++) {
        if (itm_rim_contacts_is_tight(r, i)) {
            x[i] = h * (r->mode[i] == ITM_ROW_UP ? r->rows[i].up : r->rows[i].lo);
        } else if (r->mode[i] == ITM_ROW_SLIP) {
            x[i] = r->ratio[i] * x[r->rows[i].normal];
        }
    }
}

// w = b + H x over the listed rows, NULL: the first n
static void compute_rates(const ItmRimContacts* r, double* w, const double* b, const double* x, const int* list, int n)
{
    r->dense->multiply_rows(w, r->H, r->nc, x, list, n, r->nc);
    for (int k = 0; k < n; k++) {
        int i = list != NULL ? list[k] : k;
        w[i] += b[i];
    }
}

// x makes the rates b + H x of the active rows vanish, starting from what x is. r->w is overwritten.
static void solve_set(ItmRimContacts* r, double* x, const double* b, double h)
{
    follow(r, x, h);
    compute_rates(r, r->w, b, x, r->active, r->nactive);
    for (int k = 0; k < r->nactive; k++) {
        r->rhs[k] = r->w[r->active[k]];
    }
    itm_rim_contacts_solve(r, r->rhs, r->nactive);
    for (int k = 0; k < r->nactive; k++) {
        x[r->active[k]] -= r->rhs[k];
    }
    follow(r, x, h);
}

// Factors for the present modes, if there are none.
static void prepare(ItmRimContacts* r)
{
    if (!r->is_factored) {
        factor_set(r);
    }
}

// Forces x for accelerations b without them, starting from what x is, and the accelerations then. tight: 1; 0: tight rows stay out of it.
static void respond(ItmRimContacts* r, double* x, double* a, const double* b, double tight)
{
    solve_set(r, x, b, tight);
    compute_rates(r, a, b, x, NULL, r->nc);
}

// What a trial found.
typedef enum Verdict { AGREES, TURNS, FAILS } Verdict;

// Impulses within bounds, rates on the right side. TURNS: only the direction of some slip is not right.
static Verdict judge(const ItmRim* rim, double h)
{
    const ItmRimContacts* r = &rim->contacts;
    double most_x = 0.0, most_b = 0.0;
    for (int i = 0; i < r->nc; i++) {
        most_x = fmax(most_x, fabs(r->x_try[i]));
        most_b = fmax(most_b, fabs(r->b[i]));
    }
    double tol_w = itm_rim_contacts_get_tolerance(rim) * (1.0 + most_b), tol_x = 1e-9 * most_x;
    for (int i = 0; i < r->nc; i++) {
        const ItmRimRow* row = &r->rows[i];
        double x = r->x_try[i], w = r->w[i];
        if (r->mode[i] == ITM_ROW_ACTIVE) {
            bool is_bounded = row->normal == ITM_NONE;
            if ((fabs(w) > tol_w && !row->is_fixed) ||
                (is_bounded && (x < h * row->lo - tol_x || x > h * row->up + tol_x))) {
                return FAILS;
            }
        } else if (itm_rim_contacts_is_tight(r, i) && (r->mode[i] == ITM_ROW_LO ? w < -tol_w : w > tol_w)) {
            return FAILS;
        }
    }
    Verdict verdict = AGREES;
    for (int c = 0; c < r->ncoupling; c++) {
        const ItmMlcpContact* coupling = &r->couplings[c];
        if (r->mode[coupling->normal] != ITM_ROW_ACTIVE) {
            continue;
        }
        if (!itm_rim_contacts_sticks(coupling, r->x_try, tol_x)) {
            return FAILS;
        }
        if (!itm_rim_contacts_slips(r, coupling, r->w, tol_w)) {
            verdict = TURNS;
        }
    }
    return verdict;
}

// Turn the friction of sliding cones against the slip that the trial found. False: a contact does not slide on, or its law has
// corners.
static bool turn_slip(ItmRim* rim)
{
    ItmRimContacts* r = &rim->contacts;
    double tolerance = itm_rim_contacts_get_tolerance(rim);
    for (int c = 0; c < r->ncoupling; c++) {
        const ItmMlcpContact* coupling = &r->couplings[c];
        int t0 = coupling->tangent[0], t1 = coupling->tangent[1];
        if (!itm_rim_contacts_is_rubbing(r, t0) || itm_rim_contacts_slips(r, coupling, r->w, tolerance)) {
            continue;
        }
        if (t1 == ITM_NONE || coupling->law != ITM_FRICTION_CONE) {
            return false;
        }
        double x = r->w[t0], y = r->w[t1], speed = sqrt(x * x + y * y);
        if (speed < 1e3 * tolerance || x * r->ratio[t0] + y * r->ratio[t1] > -0.5 * coupling->mu * speed) {
            return false;
        }
        r->ratio[t0] = -coupling->mu * x / speed;
        r->ratio[t1] = -coupling->mu * y / speed;
    }
    factor_set(r);
    return true;
}

#define TURNS_MAX 6

bool itm_rim_contacts_try(ItmRim* rim, double h)
{
    ItmRimContacts* r = &rim->contacts;
    prepare(r);
    memcpy(r->x_try, r->x, sizeof(double) * (size_t)r->nc);
    Verdict verdict = TURNS;
    for (int k = 0; k < TURNS_MAX && verdict == TURNS; k++) {
        solve_set(r, r->x_try, r->b, h);
        compute_rates(r, r->w, r->b, r->x_try, NULL, r->nc);
        verdict = judge(rim, h);
        if (verdict == TURNS && !turn_slip(rim)) {
            verdict = FAILS;
        }
    }
    return verdict == AGREES;
}

// ---------------------------------------------------------------------------- positions

// What an active row should move beyond the mean of its rates, as a rate: a rigid contact or stop uses up its gap and no more,
// where going on at the mean would carry it in, and a position motor arrives.
static double compute_excess(const ItmRimContacts* r, int i, double h)
{
    const ItmRimRow* row = &r->rows[i];
    double even = 0.5 * (r->wc[i] + r->w[i]);
    if (row->has_target) {
        return -r->gap[i] / h - r->gap_drift[i] - even;
    }
    return -itm_bounded_get_open(r->gap[i], row->open) / h - even;
}

static bool lands(const ItmRimContacts* r, int i)
{
    const ItmRimRow* row = &r->rows[i];
    bool is_stop = row->is_unilateral && row->is_rigid && !r->is_bouncing[i];
    return r->mode[i] == ITM_ROW_ACTIVE && (is_stop || row->has_target);
}

#define SWEEPS 50

// The rates change by h a + H x in the step; the positions move by h w + h^2 a / 2 + h H y. Evenly, y = x / 2; rows that land
// get the rest by sweeps over them, which is exact enough in a few and harmless where rows depend on each other.
void itm_rim_contacts_place(ItmRim* rim, double h)
{
    ItmRimContacts* r = &rim->contacts;
    double *excess = r->rhs, least = 1e-3 * ITM_BOUNDED_SLOP / h, most = 0.0;
    int n = 0;
    for (int i = 0; i < r->nc; i++) {
        r->y[i] = 0.5 * r->x_try[i];
        if (lands(r, i)) {
            excess[n] = compute_excess(r, i, h);
            most = fmax(most, fabs(excess[n]));
            r->landing[n++] = i;
        }
    }
    r->is_plain = most <= least;
    for (int sweep = 0; sweep < SWEEPS && most > least; sweep++) {
        most = 0.0;
        for (int k = 0; k < n; k++) {
            const double* H = r->H + (size_t)r->landing[k] * (size_t)r->nc;
            double change = H[r->landing[k]] > 0.0 ? excess[k] / H[r->landing[k]] : 0.0;
            most = fmax(most, fabs(excess[k]));
            r->y[r->landing[k]] += change;
            for (int l = 0; l < n; l++) {
                excess[l] -= H[r->landing[l]] * change;
            }
        }
    }
}

// ---------------------------------------------------------------------------- steady maps

// Whether the active rows rest in the next micro step too, without any push.
static bool rests(const ItmRim* rim, double h)
{
    const ItmRimContacts* r = &rim->contacts;
    double tolerance = itm_rim_contacts_get_tolerance(rim);
    for (int k = 0; k < r->nactive; k++) {
        int i = r->active[k];
        if (r->omega[i] != 0.0 || fabs(r->wc[i] + itm_rim_contacts_compute_offset(r, i, h)) > tolerance) {
            return false;
        }
    }
    return true;
}

// Column k of the maps: forces and accelerations for accelerations b without impulses. column 0 has the tight rows' forces.
static void map_column(ItmRim* rim, int k, const double* b, const double* guess, double tight)
{
    ItmRimContacts* r = &rim->contacts;
    int n = rim->n, width = n + 1;
    double *x = r->x_try, *a = r->w;
    memcpy(x, guess, sizeof(double) * (size_t)r->nc);
    respond(r, x, a, b, tight);
    for (int i = 0; i < r->nc; i++) {
        r->f[i * width + k] = x[i];
        r->a_steady[i * width + k] = r->mode[i] == ITM_ROW_ACTIVE ? 0.0 : a[i];
    }
    for (int i = 0; i < n; i++) {
        double sum = k == 0 ? rim->a0[i] : rim->W[i * n + k - 1];
        for (int j = 0; j < r->nc; j++) {
            sum += r->Hci[j * n + i] * x[j];
        }
        r->W_steady[i * width + k] = sum;
    }
}

// What has to be looked at in a steady micro step.
static void list_checks(ItmRimContacts* r)
{
    r->nloaded = r->nheld = r->nstuck = r->nsliding = r->nwatched = 0;
    for (int i = 0; i < r->nc; i++) {
        const ItmRimRow* row = &r->rows[i];
        double bound = r->mode[i] == ITM_ROW_UP ? row->up : row->lo;
        bool is_free =
            itm_rim_contacts_is_tight(r, i) ? bound == 0.0 : r->mode[i] == ITM_ROW_SLIP && r->ratio[i] == 0.0;
        r->x_try[i] = 0.0;
        if (!is_free) {
            r->loaded[r->nloaded++] = i;
        }
        if (r->mode[i] == ITM_ROW_ACTIVE && row->normal == ITM_NONE) {
            r->held[r->nheld++] = i;
        } else if (itm_rim_contacts_is_tight(r, i) || itm_rim_contacts_is_rubbing(r, i)) {
            r->watched[r->nwatched++] = i;
        }
    }
    for (int c = 0; c < r->ncoupling; c++) {
        const ItmMlcpContact* coupling = &r->couplings[c];
        bool is_stuck = false, is_sliding = false;
        for (int k = 0; k < 2 && coupling->tangent[k] != ITM_NONE; k++) {
            int t = coupling->tangent[k];
            is_stuck = is_stuck || r->mode[t] == ITM_ROW_ACTIVE;
            is_sliding = is_sliding || itm_rim_contacts_is_rubbing(r, t);
        }
        if (is_stuck) {
            r->stuck[r->nstuck++] = c;
        }
        if (is_sliding) {
            r->sliding[r->nsliding++] = c;
        }
    }
}

void itm_rim_contacts_settle(ItmRim* rim, double h, const double* lambda)
{
    ItmRimContacts* r = &rim->contacts;
    int n = rim->n, width = n + 1;
    r->is_steady = false;
    if (!rests(rim, h)) {
        return;
    }
    double *zero = r->v_bounce, *b = r->x_bounce;
    memset(zero, 0, sizeof(double) * (size_t)r->nc);
    for (int k = 1; k <= n; k++) {
        for (int i = 0; i < r->nc; i++) {
            b[i] = r->Hci[i * n + k - 1];
        }
        map_column(rim, k, b, zero, 0.0);
    }
    // the constant part starts from the forces at hand: what the rows cannot tell apart stays as it is
    for (int i = 0; i < r->nc; i++) {
        zero[i] = r->x[i] / h;
        for (int k = 1; k <= n; k++) {
            zero[i] -= r->f[i * width + k] * lambda[k - 1];
        }
    }
    map_column(rim, 0, r->ac, zero, 1.0);
    list_checks(r);
    r->since = r->since_moment = 0.0;
    memset(r->P_since, 0, sizeof(double) * (size_t)n);
    memset(r->P1_since, 0, sizeof(double) * (size_t)n);
    r->is_steady = true;
}
