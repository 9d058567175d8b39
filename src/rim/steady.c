// Steady micro steps of a RIM: while the active set holds and nothing moves at the rigid active rows, all is linear in the interface
// forces and in the motion of the compliant active rows, with constant maps.
#include "rim/contacts.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- maps

// Whether the rigid active rows rest in the next micro step too, without any push. Lists the compliant ones.
static bool rests(ItmRim* rim)
{
    ItmRimContacts* r = &rim->contacts;
    double tolerance = itm_rim_contacts_get_tolerance(rim);
    r->steady.ncompliant = 0;
    for (int k = 0; k < r->set.nactive; k++) {
        int i = r->set.active[k];
        const ItmRow* row = &r->problem.rows[i];
        if (row->omega != 0.0) {
            r->steady.compliant[r->steady.ncompliant++] = i;
        } else if (fabs(row->rate + itm_row_compute_offset(row, &r->step)) > tolerance) {
            return false;
        }
    }
    return true;
}

// Column k of the maps: forces and accelerations for accelerations b without impulses, from a guess in p->x. bound_share: 1 / h, which
// makes forces of the bounds of tight rows, or 0.
static void map_column(ItmRim* rim, int k, const double* b, double bound_share)
{
    ItmRimContacts* r = &rim->contacts;
    int n = rim->n, nc = r->problem.n;
    double *x = r->problem.x, *a = r->problem.w;
    itm_active_set_solve(&r->set, x, b, bound_share);
    itm_active_set_compute_rates(&r->set, a, b, x);
    for (int i = 0; i < nc; i++) {
        r->steady.f[k * nc + i] = x[i];
        r->steady.a[k * nc + i] = r->set.state[i] == ITM_ROW_ACTIVE ? 0.0 : a[i];
    }
    for (int i = 0; i < n; i++) {
        double sum = k == 0 ? rim->a0[i] : rim->W[i * n + k - 1];
        for (int j = 0; j < nc; j++) {
            sum += r->Hci[j * n + i] * x[j];
        }
        r->steady.W[k * n + i] = sum;
    }
}

// Impulses of active rows, rates of the others and of the lengths, for a unit rate of each compliant row. r->problem.x is overwritten.
static void map_compliant(ItmRim* rim)
{
    ItmRimContacts* r = &rim->contacts;
    ItmRimSteady* s = &r->steady;
    int n = rim->n, nc = r->problem.n;
    double *x = r->problem.x, *C = s->C;
    for (int k = 0; k < s->ncompliant; k++, C += nc + n) {
        itm_active_set_respond(&r->set, x, s->compliant[k]);
        for (int i = 0; i < nc; i++) {
            const double* H = r->problem.H + (size_t)i * (size_t)nc;
            C[i] = r->set.state[i] == ITM_ROW_ACTIVE ? x[i] : r->set.dense->dot(H, x, nc);
        }
        memset(C + nc, 0, sizeof(double) * (size_t)n);
        for (int j = 0; j < nc; j++) {
            for (int i = 0; i < n; i++) {
                C[nc + i] += r->Hci[j * n + i] * x[j];
            }
        }
    }
}

// Force of row i by the motion c of the compliant rows, C_c = C c.
static inline double get_compliant_force(const ItmRimContacts* r, const double* C_c, int i)
{
    if (r->set.state[i] == ITM_ROW_ACTIVE) {
        return C_c[i];
    }
    return r->set.state[i] == ITM_ROW_SLIP ? r->set.ratio[i] * C_c[r->problem.rows[i].normal] : 0.0;
}

// y = C c
static void multiply_compliant(const ItmRimContacts* r, double* y, const double* c, int n)
{
    const ItmRimSteady* s = &r->steady;
    int size = r->problem.n + n;
    memset(y, 0, sizeof(double) * (size_t)size);
    for (int k = 0; k < s->ncompliant; k++) {
        r->set.dense->axpy(y, c[k], s->C + (size_t)k * (size_t)size, size);
    }
}

// c at the start of a micro step, and forces and accelerations in it without lambda: f0 + f2 c, and so on.
static void start_maps(ItmRim* rim, double h)
{
    ItmRimContacts* r = &rim->contacts;
    ItmRimSteady* s = &r->steady;
    int n = rim->n, nc = r->problem.n;
    for (int k = 0; k < s->ncompliant; k++) {
        const ItmRow* row = &r->problem.rows[s->compliant[k]];
        s->c[k] = (row->rate + itm_row_compute_offset(row, &r->step)) / h;
    }
    multiply_compliant(r, s->C_c, s->c, n);
    for (int i = 0; i < nc; i++) {
        bool is_active = r->set.state[i] == ITM_ROW_ACTIVE;
        s->f_start[i] = s->f[i] + (is_active ? s->C_c[i] : get_compliant_force(r, s->C_c, i));
        s->a_start[i] = s->a[i] + (is_active ? 0.0 : s->C_c[i]);
    }
    for (int i = 0; i < n; i++) {
        s->W_start[i] = s->W[i] + s->C_c[nc + i];
    }
}

// What has to be looked at in a steady micro step.
static void list_checks(ItmRimContacts* r)
{
    const ItmActiveSet* set = &r->set;
    const ItmRowProblem* p = &r->problem;
    ItmRimSteady* s = &r->steady;
    s->nheld = s->nstuck = s->nsliding = s->nwatched = 0;
    for (int i = 0; i < p->n; i++) {
        const ItmRow* row = &p->rows[i];
        if (set->state[i] == ITM_ROW_ACTIVE && row->normal == ITM_NONE) {
            s->held[s->nheld++] = i;
        } else if (itm_active_set_is_tight(set, i) || itm_active_set_is_rubbing(set, i)) {
            s->watched[s->nwatched++] = i;
        }
    }
    for (int c = 0; c < p->ncoupling; c++) {
        const ItmMlcpContact* coupling = &p->couplings[c];
        bool is_stuck = false, is_sliding = false;
        for (int k = 0; k < 2 && coupling->tangent[k] != ITM_NONE; k++) {
            int t = coupling->tangent[k];
            is_stuck = is_stuck || set->state[t] == ITM_ROW_ACTIVE;
            is_sliding = is_sliding || itm_active_set_is_rubbing(set, t);
        }
        if (is_stuck) {
            s->stuck[s->nstuck++] = c;
        }
        if (is_sliding) {
            s->sliding[s->nsliding++] = c;
        }
    }
}

#define SOLVES 4  // that a micro step by trials takes

// Maps of compliant rows take as many solves as there are rows: the rest of the macro step must be worth it.
static bool pays(const ItmRim* rim, double h)
{
    return SOLVES * (rim->H - rim->tau) > rim->contacts.steady.ncompliant * h;
}

void itm_rim_steady_begin(ItmRim* rim, double h, const double* lambda)
{
    ItmRimContacts* r = &rim->contacts;
    ItmRimSteady* s = &r->steady;
    int n = rim->n, nc = r->problem.n;
    s->is_on = false;
    if (!rests(rim) || (s->ncompliant > 0 && (r->has_bounces || r->nserved == 0 || !pays(rim, h)))) {
        return;
    }
    double *b = r->problem.x_other, *x = r->problem.x;
    for (int k = 1; k <= n; k++) {
        for (int i = 0; i < nc; i++) {
            b[i] = r->Hci[i * n + k - 1];
        }
        memset(x, 0, sizeof(double) * (size_t)nc);
        map_column(rim, k, b, 0.0);
    }
    list_checks(r);
    if (s->ncompliant > 0) {
        map_compliant(rim);
        memset(s->f, 0, sizeof(double) * (size_t)nc);
        start_maps(rim, h);
    }
    // the constant part starts from the forces at hand: impulses that the rows cannot distinguish stay as they are
    for (int i = 0; i < nc; i++) {
        x[i] = r->x[i] / h - (s->ncompliant > 0 ? s->f_start[i] : 0.0);
        for (int k = 1; k <= n; k++) {
            x[i] -= s->f[k * nc + i] * lambda[k - 1];
        }
    }
    map_column(rim, 0, r->ac, 1.0 / h);
    start_maps(rim, h);
    s->since = s->since_moment = 0.0;
    memset(s->P_since, 0, sizeof(double) * (size_t)n);
    memset(s->P1_since, 0, sizeof(double) * (size_t)n);
    memset(s->c_since, 0, sizeof(double) * (size_t)s->ncompliant);
    memset(s->c1_since, 0, sizeof(double) * (size_t)s->ncompliant);
    s->is_on = true;
}

// ---------------------------------------------------------------------------- micro steps

// y = start + map_1 lambda of nrow rows; map by inputs, 1 and lambda
static inline void evaluate(double* restrict y, const double* restrict start, const double* restrict map,
                            const double* lambda, int n, int nrow)
{
    memcpy(y, start, sizeof(double) * (size_t)nrow);
    for (int k = 0; k < n; k++) {
        const double* restrict column = map + (k + 1) * nrow;
        for (int i = 0; i < nrow; i++) {
            y[i] += column[i] * lambda[k];
        }
    }
}

static double find_largest(const double* x, int n)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        most = fabs(x[i]) > most ? fabs(x[i]) : most;
    }
    return most;
}

// Acceleration of row i.
static double accelerate(const ItmRimSteady* s, int i, const double* lambda, int n, int nc)
{
    double a = s->a_start[i];
    for (int k = 0; k < n; k++) {
        a += s->a[(k + 1) * nc + i] * lambda[k];
    }
    return a;
}

bool itm_rim_steady_holds(ItmRim* rim, double h, const double* lambda)
{
    ItmRimContacts* r = &rim->contacts;
    const ItmRowProblem* p = &r->problem;
    const ItmRimSteady* s = &r->steady;
    int n = rim->n, nc = p->n;
    double tolerance = itm_rim_contacts_get_tolerance(rim);
    evaluate(p->x, s->f_start, s->f, lambda, n, nc);
    double most = find_largest(p->x, nc);
    for (int k = 0; k < s->nheld; k++) {
        int i = s->held[k];
        double x = h * p->x[i], small = 1e-9 * h * most;
        if (x < p->lo[i] - small || x > p->up[i] + small) {
            return false;
        }
    }
    for (int k = 0; k < s->nstuck; k++) {
        if (!itm_active_set_sticks(&p->couplings[s->stuck[k]], p->x, 1e-9 * most)) {
            return false;
        }
    }
    for (int k = 0; k < s->nwatched; k++) {
        int i = s->watched[k];
        const ItmRow* row = &p->rows[i];
        double w = p->v[i] = row->rate + h * accelerate(s, i, lambda, n, nc);
        if (itm_active_set_is_tight(&r->set, i)) {
            w += itm_row_compute_offset(row, &r->step);
            if (r->set.state[i] == ITM_ROW_LO ? w < -tolerance : w > tolerance) {
                return false;
            }
        }
    }
    for (int k = 0; k < s->nsliding; k++) {
        if (!itm_active_set_slips(&r->set, &p->couplings[s->sliding[k]], p->v, tolerance)) {
            return false;
        }
    }
    return true;
}

void itm_rim_steady_predict(const ItmRim* rim, double h, const double* lambda, double* w_next)
{
    const ItmRimSteady* s = &rim->contacts.steady;
    evaluate(w_next, s->W_start, s->W, lambda, rim->n, rim->n);
    for (int i = 0; i < rim->n; i++) {
        w_next[i] = rim->w[i] + h * w_next[i];
    }
}

// Row i gets the rate w.
static void move_row(ItmRim* rim, int i, double h, double w)
{
    ItmRimContacts* r = &rim->contacts;
    ItmRow* row = &r->problem.rows[i];
    double mean = 0.5 * (row->rate + w), f = r->problem.x[i];
    if (f != 0.0) {
        r->work[i] += h * f * mean;
    }
    row->gap += h * ((rim->use_heun ? mean : w) + r->gap_drift[i]);
    row->rate = w;
}

// Compliant rows: 0 = A v+ + offset + Omega x.
static void move_compliant(ItmRim* rim, double h, double left)
{
    ItmRimContacts* r = &rim->contacts;
    ItmRimSteady* s = &r->steady;
    for (int k = 0; k < s->ncompliant; k++) {
        int i = s->compliant[k];
        const ItmRow* row = &r->problem.rows[i];
        s->c_since[k] += h * s->c[k];
        s->c1_since[k] += h * left * s->c[k];
        move_row(rim, i, h, row->rate - h * (s->c[k] + row->omega * r->problem.x[i]));
    }
    start_maps(rim, h);
}

void itm_rim_steady_move(ItmRim* rim, double h, const double* lambda)
{
    ItmRimContacts* r = &rim->contacts;
    ItmRimSteady* s = &r->steady;
    double left = (rim->H - rim->tau - (rim->use_heun ? 0.5 * h : 0.0)) / rim->H;
    for (int k = 0; k < s->nwatched; k++) {
        move_row(rim, s->watched[k], h, r->problem.v[s->watched[k]]);
    }
    if (s->ncompliant > 0) {
        move_compliant(rim, h, left);
    }
    s->since += h;
    s->since_moment += h * left;
    for (int i = 0; i < rim->n; i++) {
        s->P_since[i] += h * lambda[i];
        s->P1_since[i] += h * left * lambda[i];
    }
    r->nsteady++;
}

void itm_rim_steady_end(ItmRim* rim, double h)
{
    ItmRimContacts* r = &rim->contacts;
    ItmRimSteady* s = &r->steady;
    int n = rim->n, nc = r->problem.n;
    bool is_compliant = s->is_on && s->ncompliant > 0;
    double *C0 = s->C_c, *C1 = s->C_c1;
    if (is_compliant) {
        multiply_compliant(r, C0, s->c_since, n);
        multiply_compliant(r, C1, s->c1_since, n);
    }
    for (int i = 0; i < nc && s->is_on; i++) {
        const double *f = s->f + i, *a = s->a + i;
        ItmRow* row = &r->problem.rows[i];
        double Q0 = f[0] * s->since, Q1 = f[0] * s->since_moment, dw = a[0] * s->since;
        for (int k = 0; k < n; k++) {
            Q0 += f[(k + 1) * nc] * s->P_since[k];
            Q1 += f[(k + 1) * nc] * s->P1_since[k];
            dw += a[(k + 1) * nc] * s->P_since[k];
        }
        if (is_compliant) {
            Q0 += get_compliant_force(r, C0, i);
            Q1 += get_compliant_force(r, C1, i);
            dw += C0[i];
        }
        r->Q0[i] += Q0;
        r->Q1[i] += Q1;
        if (r->set.state[i] == ITM_ROW_ACTIVE && row->omega == 0.0) {
            // motors rest at their own speed; nobody watched their work
            r->work[i] += Q0 * row->rate;
        }
        bool is_open_tangent = r->set.state[i] == ITM_ROW_SLIP && !itm_active_set_is_rubbing(&r->set, i);
        row->rate += is_open_tangent ? dw : 0.0;
        r->x[i] = s->since > 0.0 ? h * Q0 / s->since : r->x[i];
    }
    s->is_on = false;
}
