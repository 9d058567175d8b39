// Active and tight rows taken out of the micro steps, potential ones kept                [nonsmooth-rim, eqs. 15 to 20]
//
// Active rows z hold their rates, tight rows t have known forces. With impulses p of the interfaces and x_p of the potential rows,
//   x_z(tau) = x0 + tau f0 + nu p(tau) + D x_p(tau),   nu = -H_zz^-1 H_zi,   D = -H_zz^-1 H_zp
// which leaves a RIM of the same kind over the potential rows:
//   W' = W + H_iz nu,   H_pp' = H_pp + H_pz D,   a' = a + H_.z f0 + H_.t f_t
// x0 brings active rows to their rates at the start, y0 closes what gap they have as a displacement, without velocity or energy.
// Every micro step looks at the rows that were taken out: where one would have to change, all rows ride from there on.
#include "rim/ride.h"

#include "stepper/bounded_solve.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- parts of H

// Row of H of the whole.
static const double* row_of(const ItmRide* r, int i)
{
    return r->H + (size_t)i * (size_t)r->nc;
}

// H_iz x for row i of the whole.
static double multiply_active(const ItmRim* rim, int i, const double* x)
{
    const double* H = row_of(&rim->ride, i);
    double sum = 0.0;
    for (int k = 0; k < rim->split.nz; k++) {
        sum += H[rim->split.active[k]] * x[k];
    }
    return sum;
}

// The same with column j of a matrix over the active rows.
static double multiply_column(const ItmRim* rim, int i, const double* X, int width, int j)
{
    const double* H = row_of(&rim->ride, i);
    double sum = 0.0;
    for (int k = 0; k < rim->split.nz; k++) {
        sum += H[rim->split.active[k]] * X[k * width + j];
    }
    return sum;
}

// ---------------------------------------------------------------------------- active rows

static void list_rows(ItmRim* rim)
{
    const ItmRide* r = &rim->ride;
    ItmRideSplit* s = &rim->split;
    int np = 0;
    s->nz = s->nt = 0;
    for (int i = 0; i < r->nc; i++) {
        int* list = r->group[i] == ITM_RIDE_GROUP_ACTIVE  ? s->active
                    : r->group[i] == ITM_RIDE_GROUP_TIGHT ? s->tight
                                                          : s->potential;
        int* count = list == s->active ? &s->nz : list == s->tight ? &s->nt : &np;
        s->place[i] = *count;
        list[(*count)++] = i;
    }
    rim->potential.nc = np;
}

// Forces of the tight rows: their bounds; of friction at an open contact: none.
static void set_tight_forces(ItmRim* rim)
{
    const ItmRide* r = &rim->ride;
    for (int k = 0; k < rim->split.nt; k++) {
        const ItmRideRow* row = &r->rows[rim->split.tight[k]];
        double bound = r->side[rim->split.tight[k]] > 0 ? row->up : row->lo;
        rim->split.force[k] = row->normal == ITM_NONE ? bound : 0.0;
    }
}

// Acceleration of row i of the whole with the forces of the tight rows.
static double accelerate(const ItmRim* rim, int i)
{
    const double* H = row_of(&rim->ride, i);
    double sum = rim->ride.ac[i];
    for (int k = 0; k < rim->split.nt; k++) {
        sum += H[rim->split.tight[k]] * rim->split.force[k];
    }
    return sum;
}

static void factor_active(ItmRim* rim)
{
    ItmRide* r = &rim->ride;
    int nz = rim->split.nz;
    // all rows that are active at present stay so: their factors are there
    bool is_done = r->is_factored && r->nactive == nz && memcmp(r->active, rim->split.active, sizeof(int) * (size_t)nz) == 0;
    r->is_factored = false;
    if (is_done) {
        return;
    }
    for (int k = 0; k < nz; k++) {
        const double* H = row_of(r, rim->split.active[k]);
        for (int l = 0; l < nz; l++) {
            r->S[k * nz + l] = H[rim->split.active[l]];
        }
        r->S[k * (nz + 1)] *= 1.0 + ITM_RIDE_PROXIMAL;
    }
    itm_ride_factor(r, nz);
}

// Column of a matrix over the active rows <- H_zz^-1 rhs, rhs in r->rhs. Twice, because the diagonal of the factors is enlarged: what
// active rows hold must not move by that, or rows that they hold would slip and stick at random.
static void solve_column(ItmRim* rim, double* X, int width, int j)
{
    ItmRide* r = &rim->ride;
    int nz = rim->split.nz;
    double *x = r->b, *wanted = r->a;
    memcpy(wanted, r->rhs, sizeof(double) * (size_t)nz);
    itm_ride_solve(r, r->rhs, nz);
    memcpy(x, r->rhs, sizeof(double) * (size_t)nz);
    for (int k = 0; k < nz; k++) {
        r->rhs[k] = wanted[k] - multiply_active(rim, rim->split.active[k], x);
    }
    itm_ride_solve(r, r->rhs, nz);
    for (int k = 0; k < nz; k++) {
        X[k * width + j] = x[k] + r->rhs[k];
    }
}

// f0, x0, y0: forces as near as can be to those of the last step, where rows cannot be told apart.
static void solve_motion(ItmRim* rim, double h)
{
    ItmRide* r = &rim->ride;
    ItmRideSplit* s = &rim->split;
    double* last = s->y0;
    for (int k = 0; k < s->nz; k++) {
        last[k] = r->x[s->active[k]] / h;
    }
    for (int k = 0; k < s->nz; k++) {
        r->rhs[k] = -accelerate(rim, s->active[k]) - multiply_active(rim, s->active[k], last);
    }
    solve_column(rim, s->f0, 1, 0);
    for (int k = 0; k < s->nz; k++) {
        int i = s->active[k];
        s->f0[k] += last[k];
        r->rhs[k] = r->rows[i].reference - r->wc[i];
    }
    solve_column(rim, s->x0, 1, 0);
    for (int k = 0; k < s->nz; k++) {
        int i = s->active[k];
        bool is_open = r->rows[i].is_unilateral && r->gap[i] > r->rows[i].open;
        r->rhs[k] = is_open ? -r->gap[i] / rim->H : 0.0;
    }
    solve_column(rim, s->y0, 1, 0);
}

static void solve_answers(ItmRim* rim)
{
    ItmRide* r = &rim->ride;
    ItmRideSplit* s = &rim->split;
    int n = rim->n, np = rim->potential.nc;
    for (int j = 0; j < n + np; j++) {
        for (int k = 0; k < s->nz; k++) {
            int i = s->active[k];
            r->rhs[k] = j < n ? -r->Hci[i * n + j] : -row_of(r, i)[s->potential[j - n]];
        }
        solve_column(rim, j < n ? s->nu : s->D, j < n ? n : np, j < n ? j : j - n);
    }
}

// ---------------------------------------------------------------------------- what is left

static void reduce_interfaces(ItmRim* rim)
{
    ItmRide* p = &rim->potential;
    const ItmRide* r = &rim->ride;
    ItmRideSplit* s = &rim->split;
    int n = rim->n;
    memcpy(s->W, rim->W, sizeof(double) * (size_t)(n * n));
    memcpy(s->a0, rim->a0, sizeof(double) * (size_t)n);
    memcpy(p->s_drift, r->s_drift, sizeof(double) * (size_t)n);
    for (int k = 0; k < s->nz; k++) {
        const double* H = r->Hci + s->active[k] * n;
        for (int i = 0; i < n; i++) {
            rim->a0[i] += H[i] * s->f0[k];
            rim->w[i] += H[i] * s->x0[k];
            p->s_drift[i] += H[i] * s->y0[k];
            for (int j = 0; j < n; j++) {
                rim->W[i * n + j] += H[i] * s->nu[k * n + j];
            }
        }
    }
    for (int k = 0; k < s->nt; k++) {
        for (int i = 0; i < n; i++) {
            rim->a0[i] += r->Hci[s->tight[k] * n + i] * s->force[k];
        }
    }
}

static void copy_potential_row(ItmRim* rim, int q)
{
    const ItmRide* r = &rim->ride;
    const ItmRideSplit* s = &rim->split;
    ItmRide* p = &rim->potential;
    int i = s->potential[q], n = rim->n, np = p->nc;
    p->rows[q] = r->rows[i];
    p->rows[q].normal = r->rows[i].normal != ITM_NONE ? s->place[r->rows[i].normal] : ITM_NONE;
    p->table[q] = r->table[i];
    p->omega[q] = r->omega[i];
    p->gap[q] = r->gap[i];
    p->x[q] = r->x[i];
    p->mode[q] = r->mode[i];
    p->side[q] = r->side[i];
    p->ratio[q] = r->ratio[i];
    p->state[q] = r->state[i];
    p->Q0[q] = p->Q1[q] = p->work[q] = 0.0;
    p->is_bouncing[q] = p->has_changed[q] = false;
    p->has_held[q] = r->has_held[i];
    p->wc[q] = r->wc[i] + multiply_active(rim, i, s->x0);
    p->ac[q] = accelerate(rim, i) + multiply_active(rim, i, s->f0);
    p->gap_drift[q] = r->gap_drift[i] + multiply_active(rim, i, s->y0);
    for (int j = 0; j < n; j++) {
        p->Hci[q * n + j] = r->Hci[i * n + j] + multiply_column(rim, i, s->nu, n, j);
    }
    // H of the rows left, symmetric
    for (int l = 0; l <= q; l++) {
        double H = row_of(r, i)[s->potential[l]] + multiply_column(rim, i, s->D, np, l);
        p->H[(size_t)q * (size_t)np + (size_t)l] = p->H[(size_t)l * (size_t)np + (size_t)q] = H;
    }
    // where active rows hold it, what is left of its mobility is rounding
    double before = row_of(r, i)[i] - r->omega[i], after = p->H[(size_t)q * (size_t)(np + 1)] - r->omega[i];
    p->rows[q].is_fixed = r->rows[i].is_fixed || !(after > ITM_RIDE_FIXED * before);
    p->has_bounces = p->has_bounces || r->rows[i].restitution > 0.0;
}

static void copy_couplings(ItmRim* rim)
{
    const ItmRide* r = &rim->ride;
    ItmRide* p = &rim->potential;
    p->ncoupling = 0;
    for (int c = 0; c < r->ncoupling; c++) {
        ItmMlcpContact coupling = r->couplings[c];
        if (r->group[coupling.normal] != ITM_RIDE_GROUP_POTENTIAL) {
            continue;
        }
        coupling.normal = rim->split.place[coupling.normal];
        for (int t = 0; t < 2 && coupling.tangent[t] != ITM_NONE; t++) {
            coupling.tangent[t] = rim->split.place[coupling.tangent[t]];
        }
        p->couplings[p->ncoupling++] = coupling;
    }
}

static void reduce_potential(ItmRim* rim)
{
    ItmRide* p = &rim->potential;
    p->head = ITM_NONE;
    p->workspace = rim->ride.workspace;
    p->has_bounces = p->is_factored = p->is_steady = false;
    for (int q = 0; q < p->nc; q++) {
        copy_potential_row(rim, q);
    }
    copy_couplings(rim);
}

static void reduce_tight(ItmRim* rim)
{
    ItmRide* r = &rim->ride;
    ItmRideSplit* s = &rim->split;
    int n = rim->n, np = rim->potential.nc;
    for (int k = 0; k < s->nt; k++) {
        int i = s->tight[k];
        s->a[k] = accelerate(rim, i) + multiply_active(rim, i, s->f0);
        r->wc[i] += multiply_active(rim, i, s->x0);
        for (int j = 0; j < n; j++) {
            s->C[k * n + j] = r->Hci[i * n + j] + multiply_column(rim, i, s->nu, n, j);
        }
        for (int j = 0; j < np; j++) {
            s->E[k * np + j] = row_of(r, i)[s->potential[j]] + multiply_column(rim, i, s->D, np, j);
        }
    }
}

void itm_ride_part(ItmRim* rim, double h)
{
    list_rows(rim);
    set_tight_forces(rim);
    factor_active(rim);
    solve_motion(rim, h);
    solve_answers(rim);
    reduce_interfaces(rim);
    reduce_potential(rim);
    reduce_tight(rim);
    rim->split.is_on = true;
}

// ---------------------------------------------------------------------------- looking after them

// Forces of the active rows into r->x_try of the whole. Returns the largest.
static double compute_forces(ItmRim* rim, double h, const double* lambda, const double* x, double scale)
{
    ItmRide* r = &rim->ride;
    const ItmRideSplit* s = &rim->split;
    int n = rim->n, np = rim->potential.nc;
    double most = 0.0;
    for (int k = 0; k < s->nz; k++) {
        double f = s->f0[k] + r->dense->dot(s->nu + k * n, lambda, n) + scale * r->dense->dot(s->D + k * np, x, np);
        f += rim->tau == 0.0 ? s->x0[k] / h : 0.0;
        r->x_try[s->active[k]] = f;
        most = fmax(most, fabs(f));
    }
    return most;
}

static bool active_rows_hold(ItmRim* rim, double tolerance)
{
    ItmRide* r = &rim->ride;
    bool hold = true;
    for (int k = 0; k < rim->split.nz; k++) {
        int i = rim->split.active[k];
        const ItmRideRow* row = &r->rows[i];
        double f = r->x_try[i];
        if (row->normal == ITM_NONE && (f < row->lo - tolerance || f > row->up + tolerance)) {
            r->is_surprise[i] = true;
            hold = false;
        }
    }
    for (int c = 0; c < r->ncoupling; c++) {
        const ItmMlcpContact* coupling = &r->couplings[c];
        bool sticks = r->group[coupling->normal] == ITM_RIDE_GROUP_ACTIVE &&
                      r->group[coupling->tangent[0]] == ITM_RIDE_GROUP_ACTIVE;
        if (sticks && !itm_ride_sticks(coupling, r->x_try, tolerance)) {
            r->is_surprise[coupling->tangent[0]] = true;
            hold = false;
        }
    }
    return hold;
}

// Rates of the tight rows into r->w of the whole.
static bool tight_rows_hold(ItmRim* rim, double h, const double* lambda, const double* x, double scale)
{
    ItmRide* r = &rim->ride;
    const ItmRideSplit* s = &rim->split;
    int n = rim->n, np = rim->potential.nc;
    double tolerance = itm_ride_get_tolerance(rim);
    bool hold = true;
    for (int k = 0; k < s->nt; k++) {
        int i = s->tight[k];
        r->w[i] = r->wc[i] + h * (s->a[k] + r->dense->dot(s->C + k * n, lambda, n) + scale * r->dense->dot(s->E + k * np, x, np));
        double w = r->w[i] + itm_ride_compute_offset(r, i, h);
        bool is_wrong = r->rows[i].normal == ITM_NONE && (r->side[i] < 0 ? w < -tolerance : w > tolerance);
        r->is_surprise[i] = r->is_surprise[i] || is_wrong;
        hold = hold && !is_wrong;
    }
    return hold;
}

bool itm_ride_holds(ItmRim* rim, double h, const double* lambda, const double* x, double scale)
{
    if (!rim->split.is_on) {
        return true;
    }
    double most = compute_forces(rim, h, lambda, x, scale);
    bool holds = active_rows_hold(rim, 1e-9 * most);
    return tight_rows_hold(rim, h, lambda, x, scale) && holds;
}

void itm_ride_carry(ItmRim* rim, double h)
{
    ItmRide* r = &rim->ride;
    const ItmRideSplit* s = &rim->split;
    for (int k = 0; k < s->nz && s->is_on; k++) {
        r->x[s->active[k]] = h * r->x_try[s->active[k]];
    }
    for (int k = 0; k < s->nt && s->is_on; k++) {
        int i = s->tight[k];
        double mean = 0.5 * (r->wc[i] + r->w[i]);
        r->gap[i] += h * ((rim->use_heun ? mean : r->w[i]) + r->gap_drift[i]);
        r->work[i] += h * s->force[k] * mean;
        r->x[i] = h * s->force[k];
        r->wc[i] = r->w[i];
    }
}

// ---------------------------------------------------------------------------- all rows again

static void merge_active(ItmRim* rim)
{
    ItmRide* r = &rim->ride;
    const ItmRide* p = &rim->potential;
    const ItmRideSplit* s = &rim->split;
    int n = rim->n, np = p->nc;
    for (int k = 0; k < s->nz; k++) {
        int i = s->active[k];
        double start = r->wc[i];
        bool is_open = r->rows[i].is_unilateral && r->gap[i] > r->rows[i].open;
        r->Q0[i] = s->x0[k] + rim->tau * s->f0[k] + r->dense->dot(s->nu + k * n, rim->P0, n) + r->dense->dot(s->D + k * np, p->Q0, np);
        r->Q1[i] = s->x0[k] + rim->theta * rim->H * s->f0[k] + r->dense->dot(s->nu + k * n, rim->P1, n) + r->dense->dot(s->D + k * np, p->Q1, np) +
                   rim->tau / rim->H * s->y0[k];
        r->wc[i] = r->rows[i].reference;
        r->gap[i] += rim->tau * (r->gap_drift[i] - (is_open ? r->gap[i] / rim->H : 0.0));
        r->work[i] = 0.5 * s->x0[k] * (start - r->wc[i]) + r->Q0[i] * r->wc[i];
    }
}

static void merge_tight(ItmRim* rim)
{
    ItmRide* r = &rim->ride;
    const ItmRideSplit* s = &rim->split;
    for (int k = 0; k < s->nt; k++) {
        r->Q0[s->tight[k]] = rim->tau * s->force[k];
        r->Q1[s->tight[k]] = rim->theta * rim->H * s->force[k];
    }
}

static void merge_potential(ItmRim* rim)
{
    ItmRide *r = &rim->ride, *p = &rim->potential;
    for (int q = 0; q < p->nc; q++) {
        int i = rim->split.potential[q];
        r->Q0[i] = p->Q0[q];
        r->Q1[i] = p->Q1[q];
        r->wc[i] = p->wc[q];
        r->gap[i] = p->gap[q];
        r->x[i] = p->x[q];
        r->work[i] = p->work[q];
        r->mode[i] = p->mode[q];
        r->side[i] = p->side[q];
        r->ratio[i] = p->ratio[q];
        r->has_held[i] = p->has_held[q];
        r->has_changed[i] = p->has_changed[q];
    }
    r->nsolve += p->nsolve;
    r->ntrial += p->ntrial;
    r->nsteady += p->nsteady;
    p->nsolve = p->ntrial = p->nsteady = 0;
}

void itm_ride_merge(ItmRim* rim)
{
    merge_active(rim);
    merge_tight(rim);
    merge_potential(rim);
    memcpy(rim->W, rim->split.W, sizeof(double) * (size_t)(rim->n * rim->n));
    memcpy(rim->a0, rim->split.a0, sizeof(double) * (size_t)rim->n);
    rim->split.is_on = false;
    itm_ride_set_step(rim, rim->h);
}
