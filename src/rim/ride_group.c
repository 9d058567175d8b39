// Which bounded rows are active, tight or potential over a macro step                          [nonsmooth-rim, section III]
//
// Within a macro step the RIM is linear, so a row that holds changes its force only where forces at the interfaces change or other
// rows do. Both are bounded: interface forces by what the caller expects and how far off that may be (ItmRim.expected, spread),
// rows that may change by the force they have and the impulse that would stop them. A row may change if, with margin times that,
//   it holds      force <= lower or >= upper bound, or a gap that the force cannot close in a micro step
//   it sticks     tangential force reaches mu times normal force
//   it is open    the gap is used up at some time within the step
//   it slips      the slip may come to rest
// and then what it may do is added to the others' account, until no row follows. Contacts that slip are potential in any case:
// their friction follows the normal force, which a constant does not.
#include "rim/ride.h"

#include "stepper/bounded_solve.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- what is expected

// How a row counts in a response: a force where it is active, an acceleration elsewhere.
static double pick(const ItmRide* r, int i, const double* x, const double* a)
{
    return r->mode[i] == ITM_RIDE_ACTIVE ? x[i] : a[i];
}

// Forces r->x_try and accelerations r->a in the step if nothing changes, and impulses that bring the active rows to their rates.
static void expect(ItmRim* rim, double h)
{
    ItmRide* r = &rim->ride;
    double *x = r->x_bounce, *a = r->v_bounce;
    itm_ride_prepare(r);
    for (int i = 0; i < r->nc; i++) {
        r->b[i] = r->ac[i];
        r->x_try[i] = r->x[i] / h;
        for (int j = 0; j < rim->n; j++) {
            r->b[i] += r->Hci[i * rim->n + j] * rim->expected[j];
        }
    }
    itm_ride_respond(r, r->x_try, r->a, r->b, 1.0);
    memset(x, 0, sizeof(double) * (size_t)r->nc);
    for (int i = 0; i < r->nc; i++) {
        r->b[i] = r->mode[i] == ITM_RIDE_ACTIVE ? r->wc[i] - r->rows[i].reference : 0.0;
    }
    itm_ride_respond(r, x, a, r->b, 0.0);
    for (int i = 0; i < r->nc; i++) {
        rim->split.x_start[i] = pick(r, i, x, a);
    }
}

// What the spread of the interface forces may change.
static void add_interfaces(ItmRim* rim)
{
    ItmRide* r = &rim->ride;
    ItmRideSplit* s = &rim->split;
    double *x = r->x_bounce, *a = r->v_bounce;
    memset(s->f_change, 0, sizeof(double) * (size_t)r->nc);
    memset(s->x_change, 0, sizeof(double) * (size_t)r->nc);
    for (int j = 0; j < rim->n; j++) {
        if (rim->spread[j] == 0.0) {
            continue;
        }
        memset(x, 0, sizeof(double) * (size_t)r->nc);
        for (int i = 0; i < r->nc; i++) {
            r->b[i] = r->Hci[i * rim->n + j];
        }
        itm_ride_respond(r, x, a, r->b, 0.0);
        for (int i = 0; i < r->nc; i++) {
            s->f_change[i] += rim->spread[j] * fabs(pick(r, i, x, a));
        }
    }
}

// What row c may change in the others: its force by up to `force`, and an impulse of up to `impulse` at once. A normal
// impulse only pushes.
static void add_row(ItmRim* rim, int c, double force, double impulse)
{
    ItmRide* r = &rim->ride;
    ItmRideSplit* s = &rim->split;
    double *x = r->x_bounce, *a = r->v_bounce;
    if (force == 0.0 && impulse == 0.0) {
        return;
    }
    if (r->mode[c] == ITM_RIDE_ACTIVE) {
        itm_ride_let_go(r, x, a, c);
    } else {
        memset(x, 0, sizeof(double) * (size_t)r->nc);
        for (int i = 0; i < r->nc; i++) {
            r->b[i] = r->H[(size_t)i * (size_t)r->nc + (size_t)c];
        }
        itm_ride_respond(r, x, a, r->b, 0.0);
    }
    for (int i = 0; i < r->nc; i++) {
        double answer = pick(r, i, x, a);
        bool is_relieved = r->rows[c].is_unilateral && r->rows[i].is_unilateral && answer > 0.0;
        s->f_change[i] += fabs(answer) * force;
        s->x_change[i] += is_relieved ? 0.0 : fabs(answer) * impulse;
    }
}

// ---------------------------------------------------------------------------- may it change

// Least value of x + v t + a t^2 / 2 for 0 <= t <= H.
static double find_least(double x, double v, double a, double H)
{
    double least = fmin(x, x + H * (v + 0.5 * a * H));
    bool has_vertex = a > 0.0 && v < 0.0 && -v < a * H;
    return has_vertex ? fmin(least, x - 0.5 * v * v / a) : least;
}

static bool may_leave_bounds(const ItmRim* rim, int i, double h)
{
    const ItmRide* r = &rim->ride;
    const ItmRideSplit* s = &rim->split;
    const ItmRideRow* row = &r->rows[i];
    double f = r->x_try[i], start = s->x_start[i] / h, off = row->margin * (s->f_change[i] + s->x_change[i] / h);
    double reach = 0.5 * h * h * f * r->H[(size_t)i * (size_t)(r->nc + 1)];
    bool is_loose = row->is_unilateral && r->gap[i] > row->open && r->gap[i] > reach;
    return is_loose || f + fmin(start, 0.0) - off <= row->lo || f + fmax(start, 0.0) + off >= row->up;
}

static bool may_leave_bound(const ItmRim* rim, int i)
{
    const ItmRide* r = &rim->ride;
    const ItmRideSplit* s = &rim->split;
    const ItmRideRow* row = &r->rows[i];
    double f_change = row->margin * s->f_change[i], x_change = row->margin * s->x_change[i];
    double w = r->wc[i] + s->x_start[i] + r->gap_drift[i] - row->reference;
    if (row->is_unilateral) {
        return find_least(r->gap[i], w - x_change, r->a[i] - f_change, rim->H) <= row->open;
    }
    double sign = r->side[i] < 0 ? 1.0 : -1.0;  // at its lower bound a row goes on upwards
    return find_least(sign * w - x_change, sign * r->a[i] - f_change, 0.0, rim->H) <= 0.0;
}

// Tangential force of a coupling up to its cone, with margins; both rows stick.
static bool may_slip(const ItmRim* rim, const ItmMlcpContact* c, double h)
{
    const ItmRide* r = &rim->ride;
    const ItmRideSplit* s = &rim->split;
    double most[2] = {0.0, 0.0}, margin = r->rows[c->normal].margin;
    for (int k = 0; k < 2 && c->tangent[k] != ITM_NONE; k++) {
        int t = c->tangent[k];
        most[k] = fabs(r->x_try[t]) + fabs(s->x_start[t]) / h + margin * (s->f_change[t] + s->x_change[t] / h);
    }
    double off = margin * (s->f_change[c->normal] + s->x_change[c->normal] / h);
    double normal = r->x_try[c->normal] + fmin(s->x_start[c->normal] / h, 0.0) - off;
    double mu = c->law == ITM_FRICTION_PYRAMID ? c->mu * cos(3.14159265358979323846 / c->ndirection) : c->mu;
    bool is_box = c->law == ITM_FRICTION_BOX;
    return (is_box ? fmax(most[0], most[1]) : hypot(most[0], most[1])) >= mu * normal;
}

static bool may_stop(const ItmRim* rim, const ItmMlcpContact* c)
{
    const ItmRide* r = &rim->ride;
    const ItmRideSplit* s = &rim->split;
    double speed[2] = {0.0, 0.0}, off = 0.0, margin = r->rows[c->normal].margin;
    for (int k = 0; k < 2 && c->tangent[k] != ITM_NONE; k++) {
        int t = c->tangent[k];
        speed[k] = r->wc[t] + s->x_start[t];
        off += rim->H * (fabs(r->a[t]) + margin * s->f_change[t]) + margin * s->x_change[t];
    }
    return hypot(speed[0], speed[1]) <= off;
}

static bool may_change(const ItmRim* rim, int i, double h)
{
    const ItmRide* r = &rim->ride;
    return r->mode[i] == ITM_RIDE_ACTIVE ? may_leave_bounds(rim, i, h) : may_leave_bound(rim, i);
}

static bool may_turn(const ItmRim* rim, const ItmMlcpContact* c, double h)
{
    const ItmRide* r = &rim->ride;
    if (r->mode[c->normal] != ITM_RIDE_ACTIVE) {
        return false;
    }
    bool sticks = r->mode[c->tangent[0]] == ITM_RIDE_ACTIVE &&
                  (c->tangent[1] == ITM_NONE || r->mode[c->tangent[1]] == ITM_RIDE_ACTIVE);
    return sticks ? may_slip(rim, c, h) : may_stop(rim, c);
}

// ---------------------------------------------------------------------------- groups

// A row whose force is not that of a constraint over the whole step, or that nothing can move.
static bool must_ride(const ItmRideRow* row)
{
    return row->choice == ITM_RIDE_ALWAYS || row->is_fixed || row->has_target || (row->is_unilateral && !row->is_rigid);
}

static void set_first_groups(ItmRide* r)
{
    for (int i = 0; i < r->nc; i++) {
        ItmRideGroup as_it_is = r->mode[i] == ITM_RIDE_ACTIVE ? ITM_RIDE_GROUP_ACTIVE : ITM_RIDE_GROUP_TIGHT;
        // touching, and in its first step: nobody knows what it does
        bool is_new = r->state[i] == ITM_ROW_UNKNOWN && r->gap[i] <= r->rows[i].open;
        bool rides = must_ride(&r->rows[i]) || itm_ride_is_rubbing(r, i) || is_new;
        r->group[i] = (signed char)(rides ? ITM_RIDE_GROUP_POTENTIAL : as_it_is);
    }
}

// A contact is potential as a whole.
static void unite_contacts(ItmRide* r)
{
    for (int pass = 0; pass < 2; pass++) {  // the second one reaches couplings that share a normal with a later one
        for (int c = 0; c < r->ncoupling; c++) {
            const ItmMlcpContact* coupling = &r->couplings[c];
            const int rows[3] = {coupling->normal, coupling->tangent[0], coupling->tangent[1]};
            bool is_potential = false;
            for (int k = 0; k < 3 && rows[k] != ITM_NONE; k++) {
                is_potential = is_potential || r->group[rows[k]] == ITM_RIDE_GROUP_POTENTIAL;
            }
            for (int k = 0; k < 3 && rows[k] != ITM_NONE && is_potential; k++) {
                r->group[rows[k]] = ITM_RIDE_GROUP_POTENTIAL;
            }
        }
    }
}

// A row that bounds the friction of others, or is not bounded by another's force, may change: it and what hangs on it.
static void let_change(ItmRim* rim, int i)
{
    ItmRide* r = &rim->ride;
    const ItmRideRow* row = &r->rows[i];
    double w = r->wc[i] + (r->mode[i] == ITM_RIDE_ACTIVE ? 0.0 : rim->split.x_start[i]);
    double approach = row->is_unilateral ? fmax(0.0, -fmin(w, w + rim->H * r->a[i])) : 0.0;
    double H = r->H[(size_t)i * (size_t)(r->nc + 1)];
    double impulse = r->mode[i] != ITM_RIDE_ACTIVE && H > 0.0 ? (1.0 + row->restitution) * approach / H : 0.0;
    rim->split.is_prone[i] = true;
    r->group[i] = ITM_RIDE_GROUP_POTENTIAL;
    add_row(rim, i, fabs(r->x_try[i]), impulse);
    for (int c = 0; c < r->ncoupling; c++) {
        const ItmMlcpContact* coupling = &r->couplings[c];
        for (int k = 0; k < 2 && coupling->normal == i && coupling->tangent[k] != ITM_NONE; k++) {
            int t = coupling->tangent[k];
            r->group[t] = ITM_RIDE_GROUP_POTENTIAL;
            add_row(rim, t, fabs(r->x_try[t]), coupling->mu * impulse);
        }
    }
}

// One look at all rows and contacts; whether some may change that were not known to.
static bool look_round(ItmRim* rim, double h)
{
    ItmRide* r = &rim->ride;
    bool has_more = false;
    for (int i = 0; i < r->nc; i++) {
        const ItmRideRow* row = &r->rows[i];
        bool is_settled = row->normal != ITM_NONE || row->choice == ITM_RIDE_NEVER || row->is_fixed || rim->split.is_prone[i];
        if (!is_settled && may_change(rim, i, h)) {
            let_change(rim, i);
            has_more = true;
        }
    }
    for (int c = 0; c < r->ncoupling; c++) {
        int normal = r->couplings[c].normal;
        if (r->rows[normal].choice != ITM_RIDE_NEVER && !rim->split.is_prone[normal] && may_turn(rim, &r->couplings[c], h)) {
            let_change(rim, normal);
            has_more = true;
        }
    }
    return has_more;
}

static int count_potential(const ItmRide* r)
{
    int n = 0;
    for (int i = 0; i < r->nc; i++) {
        n += r->group[i] == ITM_RIDE_GROUP_POTENTIAL;
    }
    return n;
}

int itm_ride_group(ItmRim* rim, double h)
{
    ItmRide* r = &rim->ride;
    memset(r->is_surprise, 0, sizeof(bool) * (size_t)r->nc);
    memset(r->group, ITM_RIDE_GROUP_POTENTIAL, sizeof(signed char) * (size_t)r->nc);
    if (rim->split.is_prone == NULL) {
        return r->nc;
    }
    memset(rim->split.is_prone, 0, sizeof(bool) * (size_t)r->nc);
    set_first_groups(r);
    unite_contacts(r);
    // where most rows may change, taking the others out costs more than it saves
    if (2 * count_potential(r) <= r->nc) {
        expect(rim, h);
        add_interfaces(rim);
        while (2 * count_potential(r) <= r->nc && look_round(rim, h)) {
        }
    }
    int n = count_potential(r);
    if (2 * n > r->nc) {
        memset(r->group, ITM_RIDE_GROUP_POTENTIAL, sizeof(signed char) * (size_t)r->nc);
        return r->nc;
    }
    return n;
}

void itm_ride_note_changes(ItmRide* r)
{
    for (int i = 0; i < r->nc; i++) {
        bool is_active = r->mode[i] == ITM_RIDE_ACTIVE;
        bool lets_go = r->group[i] == ITM_RIDE_GROUP_ACTIVE && !is_active;
        bool closes = r->group[i] == ITM_RIDE_GROUP_TIGHT && is_active && r->rows[i].normal == ITM_NONE;
        if (lets_go || closes) {
            r->is_surprise[i] = true;
            r->group[i] = ITM_RIDE_GROUP_POTENTIAL;
        }
    }
}
