// The drift is y' = f(y) with y = (q, v, row impulses), by extrapolation of the modified midpoint rule (Gragg, Bulirsch, Stoer): n = 2, 4,
// 6, ... steps of the rule, whose results go with even powers of 1/n, until the last two extrapolated values agree. Every component
// accepts the first result that is good enough for itself; where none is, the step is halved. So no component's bits depend on others.
#include "stepper/inertial.h"

#include "base/inline.h"
#include "multibody/dynamics.h"
#include "multibody/forces.h"
#include "multibody/kinematics.h"
#include "multibody/mass.h"
#include "multibody/rows.h"

#include <string.h>

#define INERTIAL_TOLERANCE 1e-13  // of the last two extrapolated values, relative
#define MAX_HALVINGS 6
#define USABLE                                                                                                         \
    1e-6  // where they differ by more on the last level, velocities are held instead, and the step is unfinished

bool itm_inertial_is_fast(const ItmModel* m, const ItmData* d, int body)
{
    return d->inertial.has_fast && d->inertial.is_fast[m->component[body]];
}

bool itm_inertial_is_fast_row(const ItmModel* m, const ItmData* d, int row)
{
    const ItmRowBlock* block = &m->blocks[m->row_block[row]];
    return d->inertial.has_fast && d->inertial.is_fast[m->component[block->path[0]]];
}

// ---------------------------------------------------------------------------- extrapolation

#define LEAF_STATE 7  // turn, omega

typedef struct Drift {
    const ItmModel* m;
    ItmData* d;
    const ItmBody* leaf;                  // a body alone: y = (turn, omega); NULL: all of the model
    int n;                                // size of y
    double* table[ITM_INERTIAL_COLUMNS];  // extrapolated values of the last row      (n)
    double *f, *f0, *before;              // rates, rates of the start, the state before the last one (n)
} Drift;

// A free body: p' = p o omega / 2,  J omega' = J omega x omega, body axes
static void compute_leaf_rates(const ItmBody* body, double* f, const double* y)
{
    ItmVec3 w = itm_vec(y[4], y[5], y[6]);
    ItmQuat rate = itm_quat_mul((ItmQuat){y[0], y[1], y[2], y[3]}, (ItmQuat){0, w.x, w.y, w.z});
    ItmVec3 a = itm_body_solve_inertia(body, itm_vec_cross(itm_sym_mul_vec(&body->inertia, w), w));
    const double out[7] = {0.5 * rate.w, 0.5 * rate.x, 0.5 * rate.y, 0.5 * rate.z, a.x, a.y, a.z};
    memcpy(f, out, sizeof out);
}

// Forces lambda of the rigid rows with A v' + A' v = 0, or A v' = 0 (is_turning false); v' with them.
static void hold_rows(const ItmModel* m, ItmData* d, double* v_dot, double* lambda, bool is_turning)
{
    for (int i = 0; i < m->nrow; i++) {
        d->rows.omega[i] = itm_block_is_compliant(&m->blocks[m->row_block[i]]) ? ITM_OMEGA_IDLE : 0.0;
    }
    itm_rows_compute_jacobian(m, d);
    itm_rows_compute_motion(m, d, 0.0);
    itm_rows_factor(m, d, 0.0);
    itm_rows_multiply(m, d, lambda, v_dot);
    for (int i = 0; i < m->nrow; i++) {
        lambda[i] = d->rows.omega[i] > 0.0 ? 0.0 : -(lambda[i] + (is_turning ? d->rows.bias[i] : 0.0));
    }
    itm_blocks_solve(&m->pattern, &d->rows.factor, lambda);
    itm_rows_apply(m, d, v_dot, lambda);
}

// v' of M v' + c = 0, gravity left out, in the present position and velocity stages.
static void compute_inertial_rates(const ItmModel* m, ItmData* d, double* v_dot)
{
    itm_mass_compute_inertia_wrench(m, d, d->wrench, NULL);
    for (int i = 0; i < m->nbody; i++) {
        d->wrench[i].lin = itm_vec_axpy(-m->bodies[i].mass, m->gravity, d->wrench[i].lin);
    }
    itm_mass_factor(m, d);
    itm_mass_solve(m, d, v_dot, NULL, d->wrench);
}

// All of the model: q' = N v,  M v' + c = A' lambda,  impulses' = lambda
static void compute_rates(const Drift* g, double* f, const double* y)
{
    const ItmModel* m = g->m;
    ItmData* d = g->d;
    if (g->leaf != NULL) {
        compute_leaf_rates(g->leaf, f, y);
        return;
    }
    const double* v = y + m->nq;
    double* v_dot = f + m->nq;
    memset(v_dot, 0, sizeof(double) * (size_t)m->nv);
    itm_kinematics_integrate(m, d->inertial.q, y, v_dot, 0.0);  // quaternions normalised
    itm_kinematics_compute_positions(m, d, d->inertial.q);
    itm_kinematics_compute_velocities(m, d, v);
    itm_kinematics_compute_rates(m, f, y, v);
    compute_inertial_rates(m, d, v_dot);
    if (m->nrow > 0) {
        hold_rows(m, d, v_dot, v_dot + m->nv, true);
    }
}

// Modified midpoint rule, n steps over h, n even:  z_1 = y + s f(y),  z_i+1 = z_i-1 + 2 s f(z_i)
static void run_midpoint(const Drift* g, double* out, const double* y, double h, int n)
{
    double s = h / n, *before = g->before, *now = out;
    memcpy(before, y, sizeof(double) * (size_t)g->n);
    for (int k = 0; k < g->n; k++) {
        now[k] = y[k] + s * g->f0[k];
    }
    for (int i = 1; i < n; i++) {
        compute_rates(g, g->f, now);
        for (int k = 0; k < g->n; k++) {
            double next = before[k] + 2.0 * s * g->f[k];
            before[k] = now[k];
            now[k] = next;
        }
    }
}

// Row k of the table, over the row before it: T_kj from T_k,j-1 and T_k-1,j-1 (Aitken, Neville), best value in table[0].
static void add_row(const Drift* g, const double* y, double h, int k)
{
    int n = 2 * (k + 1);
    run_midpoint(g, g->table[k], y, h, n);
    for (int j = k - 1; j >= 0; j--) {
        double ratio = (double)n / (2 * (j + 1)), weight = 1.0 / (ratio * ratio - 1.0);
        for (int i = 0; i < g->n; i++) {
            g->table[j][i] = g->table[j + 1][i] + weight * (g->table[j + 1][i] - g->table[j][i]);
        }
    }
}

static Drift make_drift(const ItmModel* m, ItmData* d, const ItmBody* leaf, double* work)
{
    Drift g = {.m = m, .d = d, .leaf = leaf, .n = leaf != NULL ? LEAF_STATE : m->nq + m->nv + m->nrow};
    double* at = work;
    for (int k = 0; k < ITM_INERTIAL_COLUMNS; k++, at += g.n) {
        g.table[k] = at;
    }
    g.f = at;
    g.f0 = at + g.n;
    g.before = at + 2 * g.n;
    return g;
}

// ---------------------------------------------------------------------------- a body alone

// Whether a body moves by itself: free, without joints.
static bool is_alone(const ItmModel* m, const ItmData* d, int i)
{
    return m->bodies[i].is_root_leaf && d->inertial.component_size[m->component[i]] == 1;
}

// Whether the last two extrapolated values of entries from..to agree, relative to size + |value|.
static bool has_settled(const Drift* g, int from, int to, double size, double tolerance)
{
    for (int i = from; i < to; i++) {
        double best = g->table[0][i];
        if (!(fabs(best - g->table[1][i]) <= tolerance * (size + fabs(best)))) {
            return false;
        }
    }
    return true;
}

// Turn (quaternion) and angular velocity y of a free body after h, in npart parts. Returns false if a part did not converge to the tolerance.
static bool turn_alone(const Drift* g, double* y, double h, int npart, double tolerance)
{
    bool is_settled = true;
    for (int part = 0; part < npart && is_settled; part++) {
        double rate = fabs(y[4]) + fabs(y[5]) + fabs(y[6]);
        is_settled = false;
        compute_rates(g, g->f0, y);
        for (int k = 0; k < ITM_INERTIAL_COLUMNS && !is_settled; k++) {
            add_row(g, y, h / npart, k);
            is_settled = k > 0 && has_settled(g, 0, 4, 1.0, tolerance) && has_settled(g, 4, 7, rate, tolerance);
        }
        memcpy(y, g->table[0], sizeof(double) * LEAF_STATE);
    }
    return is_settled;
}

// Drift of a body alone, q and v its coordinates and velocities.
static void drift_alone(const ItmModel* m, ItmData* d, const ItmBody* body, double* q, double* v, double h)
{
    double y[LEAF_STATE], work[(ITM_INERTIAL_COLUMNS + 3) * LEAF_STATE];
    Drift g = make_drift(m, d, body, work);
    bool is_settled = false, is_usable = false;
    for (int half = 0; half <= MAX_HALVINGS + 1 && !is_usable; half++) {
        bool is_last = half > MAX_HALVINGS;
        const double start[7] = {1, 0, 0, 0, v[3], v[4], v[5]};
        memcpy(y, start, sizeof y);
        is_usable = turn_alone(&g, y, h, 1 << (is_last ? MAX_HALVINGS : half), is_last ? USABLE : INERTIAL_TOLERANCE);
        is_settled = is_usable && !is_last;
    }
    if (!is_usable) {
        ItmQuat turn = itm_quat_exp(itm_vec(h * v[3], h * v[4], h * v[5]));
        const double held[7] = {turn.w, turn.x, turn.y, turn.z, v[3], v[4], v[5]};
        memcpy(y, held, sizeof y);
    }
    d->info.unfinished += !is_settled;
    ItmQuat p = itm_quat_mul((ItmQuat){q[3], q[4], q[5], q[6]}, (ItmQuat){y[0], y[1], y[2], y[3]});
    p = itm_quat_normalize(p);
    for (int k = 0; k < 3; k++) {
        q[k] += h * v[k];
        v[3 + k] = y[4 + k];
    }
    const double turned[4] = {p.w, p.x, p.y, p.z};
    memcpy(q + 3, turned, sizeof turned);
}

// ---------------------------------------------------------------------------- mechanisms

// Components in the extrapolation: waiting for a result, converged just now, accepted in this part of the step, not converged on this level.
enum { OTHER, WAITING, SETTLED, ACCEPTED, FAILED };

// Largest rates of translations and of rotations of each component, into d->inertial.size: errors of one must not hide behind the other.
static void measure_sizes(const ItmModel* m, ItmData* d, const double* v)
{
    memset(d->inertial.size, 0, sizeof(double) * 2 * (size_t)m->nbody);
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        for (int k = 0; k < body->nv; k++) {
            double* size = &d->inertial.size[2 * m->component[i] + (k >= body->ntrans)];
            *size = fmax(*size, fabs(v[body->v_adr + k]));
        }
    }
}

// Whether coordinates and velocities of a body have converged.
static bool has_body_settled(const Drift* g, int i, double h, double tolerance)
{
    const ItmBody* body = &g->m->bodies[i];
    const double* size = g->d->inertial.size + 2 * g->m->component[i];
    int q = body->q_adr, v = g->m->nq + body->v_adr, n = body->ntrans;
    return has_settled(g, q, q + n, 1.0 + h * size[0], tolerance) &&
           has_settled(g, q + n, q + body->nq, 1.0 + h * size[1], tolerance) &&
           has_settled(g, v, v + n, size[0], tolerance) && has_settled(g, v + n, v + body->nv, size[1], tolerance);
}

// Copy the entries of components in a state from x to y: coordinates, velocities, row impulses.
static void copy_components(const ItmModel* m, const ItmData* d, double* y, const double* x, int state)
{
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        if (d->inertial.state[m->component[i]] == state) {
            memcpy(y + body->q_adr, x + body->q_adr, sizeof(double) * (size_t)body->nq);
            memcpy(y + m->nq + body->v_adr, x + m->nq + body->v_adr, sizeof(double) * (size_t)body->nv);
        }
    }
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        if (d->inertial.state[m->component[block->path[0]]] == state) {
            int adr = m->nq + m->nv + block->row;
            memcpy(y + adr, x + adr, sizeof(double) * (size_t)block->nrow);
        }
    }
}

static int count_state(const ItmModel* m, const ItmData* d, int state)
{
    int n = 0;
    for (int i = 0; i < m->nbody; i++) {
        n += m->component[i] == i && d->inertial.state[i] == state;
    }
    return n;
}

static void change_state(const ItmModel* m, ItmData* d, int from, int to)
{
    for (int i = 0; i < m->nbody; i++) {
        if (d->inertial.state[i] == from) {
            d->inertial.state[i] = (signed char)to;
        }
    }
}

// Waiting components that have converged to a tolerance take over the best values of the table; their state is `to` then.
static void accept(const Drift* g, double* y_next, double h, double tolerance, int to)
{
    const ItmModel* m = g->m;
    ItmData* d = g->d;
    change_state(m, d, WAITING, SETTLED);
    for (int i = 0; i < m->nbody; i++) {
        int c = m->component[i];
        if (d->inertial.state[c] == SETTLED && !has_body_settled(g, i, h, tolerance)) {
            d->inertial.state[c] = WAITING;
        }
    }
    copy_components(m, d, y_next, g->table[0], SETTLED);
    change_state(m, d, SETTLED, to);
}

// One part h of the step from y into y_next, for all waiting components. Those that do not converge have FAILED on this level; on the last
// one they go on with what is USABLE, or with their velocities held.
static void drift_part(const Drift* g, double* y_next, const double* y, double h, bool is_last)
{
    const ItmModel* m = g->m;
    ItmData* d = g->d;
    measure_sizes(m, d, y + m->nq);
    compute_rates(g, g->f0, y);
    for (int k = 0; k < ITM_INERTIAL_COLUMNS && count_state(m, d, WAITING) > 0; k++) {
        add_row(g, y, h, k);
        if (k > 0) {
            accept(g, y_next, h, INERTIAL_TOLERANCE, ACCEPTED);
        }
    }
    if (is_last && count_state(m, d, WAITING) > 0) {
        accept(g, y_next, h, USABLE, ACCEPTED);
        memcpy(g->table[0], y, sizeof(double) * (size_t)g->n);
        itm_kinematics_integrate(m, g->table[0], y, y + m->nq, h);
        copy_components(m, d, y_next, g->table[0], WAITING);
        change_state(m, d, WAITING, ACCEPTED);
    }
    change_state(m, d, WAITING, FAILED);
    change_state(m, d, ACCEPTED, WAITING);
}

// Mechanisms that are fast: their states (coordinates, velocities, row impulses) go on by h in `result`. Those that still wait are as they
// were at the start there.
static void drift_mechanisms(const ItmModel* m, ItmData* d, double* result, double h)
{
    Drift g = make_drift(m, d, NULL, d->inertial.work);
    double *y = d->inertial.y, *y_next = d->inertial.y + g.n;
    int last = 0;
    for (int half = 0; half <= MAX_HALVINGS && count_state(m, d, WAITING) > 0; half++) {
        int npart = 1 << half;
        last = half;
        memcpy(y, result, sizeof(double) * (size_t)g.n);
        memcpy(y_next, result, sizeof(double) * (size_t)g.n);
        for (int part = 0; part < npart && count_state(m, d, WAITING) > 0; part++) {
            drift_part(&g, y_next, y, h / npart, half == MAX_HALVINGS);
            memcpy(y, y_next, sizeof(double) * (size_t)g.n);
        }
        copy_components(m, d, result, y, WAITING);
        change_state(m, d, WAITING, OTHER);
        change_state(m, d, FAILED, WAITING);
    }
    d->info.unfinished += last == MAX_HALVINGS;
}

// Drift of all fast components over h: y (coordinates, velocities, row impulses) changes there only.
static void run_drift(const ItmModel* m, ItmData* d, double* y, double h)
{
    bool has_mechanism = false;
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        bool is_single = is_alone(m, d, i), is_fast = d->inertial.is_fast[m->component[i]];
        if (is_fast && is_single) {
            drift_alone(m, d, body, y + body->q_adr, y + m->nq + body->v_adr, h);
        }
        has_mechanism = has_mechanism || (is_fast && !is_single);
        d->inertial.state[i] = is_fast && !is_single ? WAITING : OTHER;
    }
    if (has_mechanism) {
        drift_mechanisms(m, d, y, h);
        d->position_state = ITM_POSITION_STALE;
    }
}

// ---------------------------------------------------------------------------- in a step

// Whether body i turns by more in h than its component may without being fast.
static inline bool turns_fast(const ItmModel* m, const ItmData* d, int i, double h, double most)
{
    ItmVec3 w = d->twist[i].ang;
    double turn = h * h * itm_vec_dot(w, w);
    return turn > most * most && (turn > ITM_FAST_TURN_PLANAR * ITM_FAST_TURN_PLANAR || !m->is_planar[m->component[i]]);
}

static void find_fast(const ItmModel* m, ItmData* d, double step, double most)
{
    // where steps vary, a component must not be fast in one and slow in the next
    double h = itm_stepper_is_variable(d->options.stepper) ? fmax(step, d->options.step) : step;
    d->inertial.has_fast = false;
    for (int i = 0; i < m->nbody; i++) {
        d->inertial.has_fast = d->inertial.has_fast || turns_fast(m, d, i, h, most);
    }
    if (!d->inertial.has_fast) {
        return;
    }
    memset(d->inertial.is_fast, 0, sizeof(bool) * (size_t)m->nbody);
    memset(d->inertial.component_size, 0, sizeof(int) * (size_t)m->nbody);
    for (int i = 0; i < m->nbody; i++) {
        d->inertial.is_fast[m->component[i]] |= turns_fast(m, d, i, h, most);
        d->inertial.component_size[m->component[i]]++;
    }
    for (int k = 0; k < m->nblock; k++) {
        d->inertial.component_size[m->component[m->blocks[k].path[0]]]++;
    }
    // modes of flexible bodies are stiff, and implicit in the step
    for (int i = 0; i < m->nbody; i++) {
        if (itm_body_has_modes(&m->bodies[i])) {
            d->inertial.is_fast[m->component[i]] = false;
        }
    }
}

// Which components change between slow and fast: into d->inertial.state, +1 or -1 for those that become fast or slow, 0 for the others.
static bool find_changes(const ItmModel* m, ItmData* d)
{
    bool is_any = d->inertial.has_fast;
    for (int i = 0; i < m->nbody && !is_any; i++) {
        is_any = d->was_fast[i] != -1.0;
    }
    if (!is_any) {
        return false;  // all were slow and are slow
    }
    is_any = false;
    for (int i = 0; i < m->nbody; i++) {
        bool is_fast = d->inertial.has_fast && d->inertial.is_fast[i], was_fast = d->was_fast[i] > 0.0;
        bool is_change = d->was_fast[i] != 0.0 && m->component[i] == i && is_fast != was_fast;
        d->inertial.state[i] = is_change ? (is_fast ? 1 : -1) : 0;
        d->was_fast[i] = is_fast ? 1.0 : -1.0;
        is_any = is_any || is_change;
    }
    return is_any;
}

// Velocities of slow components are those of the middle between two positions, those of fast ones belong to the position as far as inertia
// goes: where a component changes, half a step of -M^-1 c lies between them. Rows keep their rates, which belong to the position in both.
static void change_form(const ItmModel* m, ItmData* d, double h)
{
    if (!find_changes(m, d)) {
        return;
    }
    double* rate = d->inertial.work;
    itm_kinematics_compute_velocities(m, d, d->v);
    compute_inertial_rates(m, d, rate);
    if (m->nrow > 0) {
        hold_rows(m, d, rate, rate + m->nv, false);
    }
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        for (int k = body->v_adr; k < body->v_adr + body->nv; k++) {
            d->v[k] += 0.5 * h * d->inertial.state[m->component[i]] * rate[k];
        }
    }
    itm_kinematics_compute_velocities(m, d, d->v);
    d->position_state = ITM_POSITION_LOOKED;
}

bool itm_inertial_begin(const ItmModel* m, ItmData* d, double h, double most, bool is_predicted, bool is_midway)
{
    find_fast(m, d, h, most);
    if (is_midway) {
        change_form(m, d, h);
    }
    if (!d->inertial.has_fast) {
        return false;
    }
    itm_kinematics_compute_velocities(m, d, d->v);
    memset(d->inertial.dv, 0, sizeof(double) * (size_t)m->nv);
    if (is_predicted) {
        double* y = d->inertial.y + 2 * (m->nq + m->nv + m->nrow);
        memcpy(y, d->q, sizeof(double) * (size_t)m->nq);
        memcpy(y + m->nq, d->v, sizeof(double) * (size_t)m->nv);
        run_drift(m, d, y, h);
        for (int i = 0; i < m->nv; i++) {
            d->inertial.dv[i] = y[m->nq + i] - d->v[i];
        }
        if (d->position_state == ITM_POSITION_STALE) {
            itm_kinematics_compute_positions(m, d, d->q);
            itm_kinematics_compute_velocities(m, d, d->v);
            d->position_state = ITM_POSITION_LOOKED;
        }
    }
    return true;
}

// ---------------------------------------------------------------------------- inertia forces of a step

// J w and J^-1 w of a body, body axes; is_diagonal: without products of inertia, to the same bits
ITM_INLINE ItmVec3 multiply_inertia(const ItmBody* body, ItmVec3 w, bool is_diagonal)
{
    const ItmSym3* J = &body->inertia;
    return is_diagonal ? itm_vec(J->xx * w.x, J->yy * w.y, J->zz * w.z) : itm_sym_mul_vec(J, w);
}

ITM_INLINE ItmVec3 solve_inertia(const ItmBody* body, ItmVec3 w, bool is_diagonal)
{
    const double* K = body->inv_inertia_L;
    return is_diagonal ? itm_vec(K[0] * (K[0] * w.x), K[2] * (K[2] * w.y), K[5] * (K[5] * w.z))
                       : itm_body_solve_inertia(body, w);
}

// omega after h of J omega' + omega x J omega = 0 by the midpoint rule, which keeps the energy; omega in body axes. Where the
// iteration does not converge (h omega near 1) the length is set so that the energy is kept all the same.
ITM_INLINE ItmVec3 turn_freely(const ItmBody* body, ItmVec3 w, double h, bool is_diagonal)
{
    ItmVec3 next = w;
    double change = INFINITY, small = 1e-32 * itm_vec_dot(w, w);
    for (int i = 0; i < 6 && change > small; i++) {
        ItmVec3 mean = itm_vec_scale(0.5, itm_vec_add(w, next)), last = next;
        ItmVec3 torque = itm_vec_cross(multiply_inertia(body, mean, is_diagonal), mean);
        next = itm_vec_axpy(h, solve_inertia(body, torque, is_diagonal), w);
        ItmVec3 difference = itm_vec_sub(next, last);
        change = itm_vec_dot(difference, difference);
    }
    double before = itm_vec_dot(w, multiply_inertia(body, w, is_diagonal));
    double after = itm_vec_dot(next, multiply_inertia(body, next, is_diagonal));
    return after > 0.0 ? itm_vec_scale(sqrt(before / after), next) : next;
}

// Torque on a body that keeps the energy over h, less the explicit one, body axes
ITM_INLINE ItmVec3 correct_torque(const ItmBody* body, ItmVec3 w, double h, bool is_diagonal)
{
    ItmVec3 explicit_torque = itm_vec_cross(multiply_inertia(body, w, is_diagonal), w);
    ItmVec3 change = itm_vec_sub(turn_freely(body, w, h, is_diagonal), w);
    ItmVec3 torque = itm_vec_scale(1.0 / h, multiply_inertia(body, change, is_diagonal));
    return itm_vec_sub(torque, explicit_torque);
}

// The explicit torque -w x J w of the right side feeds energy, h^2 |torque|^2 / 2J a step. For bodies that are free on the
// world it is replaced by the one that keeps it.
static void keep_gyroscopic_energy(const ItmModel* m, ItmData* d, double h)
{
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        if (body->is_root_leaf && !itm_inertial_is_fast(m, d, i)) {
            ItmVec3 w = itm_mat_t_mul_vec(&d->R[i], d->twist[i].ang);
            ItmVec3 torque =
                body->has_diagonal_inertia ? correct_torque(body, w, h, true) : correct_torque(body, w, h, false);
            d->wrench[i].ang = itm_vec_add(d->wrench[i].ang, itm_mat_mul_vec(&d->R[i], torque));
        }
    }
}

// Velocities of articulated components half a step h ahead, by the accelerations of the last two steps; all others as they are.
static void extrapolate(const ItmModel* m, const ItmData* d, double* v, double h)
{
    const double* rate = d->v_rate + m->nv;
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        bool is_ahead = m->is_articulated[m->component[i]] && !itm_inertial_is_fast(m, d, i);
        double time = is_ahead ? 0.5 * h : 0.0;
        for (int k = body->v_adr; k < body->v_adr + body->nv; k++) {
            v[k] = d->v[k] + time * rate[k];
        }
    }
}

// The stage of the middle of the step in the place of that of d->v, and back.
static void swap_velocity_stages(ItmData* d)
{
    ItmSpatial *twist = d->twist, *bias = d->accel_bias;
    d->twist = d->inertial.twist_ahead;
    d->accel_bias = d->inertial.bias_ahead;
    d->inertial.twist_ahead = twist;
    d->inertial.bias_ahead = bias;
}

void itm_inertial_set_wrench(const ItmModel* m, ItmData* d, double h)
{
    if (!d->inertial.has_fast) {
        return;
    }
    itm_kinematics_compute_twists(m, d, d->accel, d->inertial.dv);
    for (int i = 0; i < m->nbody; i++) {
        if (itm_inertial_is_fast(m, d, i)) {
            // M^-1 of (J, m) times the twists of dv is dv
            ItmVec3 w = d->twist[i].ang;
            ItmVec3 turn = itm_vec_axpy(1.0 / h, d->accel[i].ang, d->accel_bias[i].ang);
            ItmVec3 move = itm_vec_axpy(1.0 / h, d->accel[i].lin, d->accel_bias[i].lin);
            ItmVec3 torque =
                itm_vec_add(itm_sym_mul_vec(&d->mass.J[i], turn), itm_vec_cross(w, itm_sym_mul_vec(&d->mass.J[i], w)));
            d->wrench[i].ang = itm_vec_add(d->wrench[i].ang, torque);
            d->wrench[i].lin = itm_vec_axpy(m->bodies[i].mass, move, d->wrench[i].lin);
        }
    }
}

void itm_inertial_compute_right_side(const ItmModel* m, ItmData* d, double t, double h)
{
    memset(d->energy.power, 0, sizeof d->energy.power);
    if (m->narticulated > 0) {
        // the memory is shared: the world is at rest
        d->inertial.twist_ahead[ITM_NONE] = d->inertial.bias_ahead[ITM_NONE] = itm_spatial_zero();
        swap_velocity_stages(d);
        extrapolate(m, d, d->x4, h);
        itm_kinematics_compute_velocities(m, d, d->x4);
        itm_dynamics_compute_inertia_forces(m, d);
        swap_velocity_stages(d);
    } else {
        itm_dynamics_compute_inertia_forces(m, d);
    }
    itm_forces_compute(m, d, t);
    itm_inertial_set_wrench(m, d, h);
    keep_gyroscopic_energy(m, d, h);
}

void itm_inertial_set_bias(const ItmModel* m, ItmData* d, double h)
{
    if (!d->inertial.has_fast || m->nrow == 0) {
        return;
    }
    itm_rows_multiply(m, d, d->rows.x, d->inertial.dv);
    for (int i = 0; i < m->nrow; i++) {
        d->rows.bias[i] = itm_inertial_is_fast_row(m, d, i) ? -d->rows.x[i] / h : d->rows.bias[i];
    }
}

void itm_inertial_compute_kick(const ItmModel* m, ItmData* d, double* a_kick, double* a, double t)
{
    Drift g = make_drift(m, d, NULL, d->inertial.work);
    double* y = d->inertial.y;
    memcpy(y, d->q, sizeof(double) * (size_t)m->nq);
    memcpy(y + m->nq, d->v, sizeof(double) * (size_t)m->nv);
    compute_rates(&g, g.f, y);
    itm_dynamics_compute(m, d, a, t, 0.0);
    for (int i = 0; i < m->nv; i++) {
        a_kick[i] = a[i] - g.f[m->nq + i];
    }
}

void itm_inertial_finish(const ItmModel* m, ItmData* d, const double* q_start, const double* move, double h)
{
    if (!d->inertial.has_fast) {
        return;
    }
    double* y = d->inertial.y + 2 * (m->nq + m->nv + m->nrow);
    memcpy(y, q_start, sizeof(double) * (size_t)m->nq);
    for (int i = 0; i < m->nv; i++) {
        y[m->nq + i] = d->v[i] - d->inertial.dv[i];
    }
    memset(y + m->nq + m->nv, 0, sizeof(double) * (size_t)m->nrow);
    run_drift(m, d, y, h);
    if (move != NULL) {
        itm_kinematics_integrate(m, y, y, move, 1.0);
    }
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        if (itm_inertial_is_fast(m, d, i)) {
            memcpy(d->q + body->q_adr, y + body->q_adr, sizeof(double) * (size_t)body->nq);
            memcpy(d->v + body->v_adr, y + m->nq + body->v_adr, sizeof(double) * (size_t)body->nv);
        }
    }
    for (int i = 0; i < m->nrow; i++) {
        d->lambda[i] += itm_inertial_is_fast_row(m, d, i) ? y[m->nq + m->nv + i] : 0.0;
    }
    d->position_state = ITM_POSITION_STALE;
}
