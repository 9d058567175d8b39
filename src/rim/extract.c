// The interface part of a RIM: which lines it sees, their mobility and free motion, bilateral rows eliminated.
#include "rim/rim.h"

#include "base/clock.h"
#include "base/inline.h"
#include "contact/contact.h"
#include "multibody/flexible.h"
#include "multibody/kinematics.h"
#include "multibody/mass.h"
#include "multibody/rows.h"
#include "multibody/sleep.h"
#include "rim/effective.h"
#include "rim/forest.h"
#include "rim/frame_rows.h"
#include "rim/contacts.h"
#include "stepper/inertial.h"
#include "stepper/stepper.h"

#include <string.h>

// ---------------------------------------------------------------------------- memory

void itm_rim_lay_out(ItmRim* rim, ItmArena* arena, const ItmModel* m, int n)
{
    int nv = m->nv, nrow = m->nrow;
    rim->n = n;
    rim->nv = nv;
    rim->nrow = nrow;
    rim->actuator = ITM_TAKE(arena, int, n);
    rim->frames = ITM_TAKE(arena, ItmRimFrame, n);
    rim->blocks = ITM_TAKE(arena, ItmRowBlock, n);
    rim->longest_path = m->npath_max;
    rim->path = ITM_TAKE(arena, int, 2 * n * rim->longest_path);
    rim->is_chain = ITM_TAKE(arena, bool, n);
    rim->is_touched = ITM_TAKE(arena, bool, m->nbody);
    rim->q_start = ITM_TAKE(arena, double, m->nq);
    rim->v_start = ITM_TAKE(arena, double, nv);
    rim->W = ITM_TAKE(arena, double, n* n);
    rim->y_free = ITM_TAKE(arena, double, nv);
    rim->lambda = ITM_TAKE(arena, double, nrow);
    rim->mu = ITM_TAKE(arena, double, n* nrow);
    rim->Y = ITM_TAKE(arena, double, n* nv);
    rim->Y_frame = ITM_TAKE(arena, double, ITM_DIRECTION_COUNT* nv);
    rim->is_macro = ITM_TAKE(arena, bool, m->nbody);
    double** interfaces[] = {
        &rim->s, &rim->w, &rim->a0, &rim->P0, &rim->P1, &rim->work, &rim->w_next, &rim->mobility_free, &rim->jump};
    for (size_t i = 0; i < sizeof interfaces / sizeof interfaces[0]; i++) {
        *interfaces[i] = ITM_TAKE(arena, double, n);
    }
    itm_rim_forest_lay_out(&rim->forest, arena, m, n);
    itm_rim_contacts_lay_out(rim, arena, m);
}

static const ItmMeasure* measure_of(const ItmModel* m, int actuator)
{
    return &m->measures[m->scalar_forces[m->actuator_force[actuator]].measure];
}

// The path of row i, from the bodies (n) it touches.
static void set_path(ItmRim* rim, const ItmModel* m, int i, const int* bodies, int n)
{
    ItmRowBlock* block = &rim->blocks[i];
    int* path = rim->path + 2 * i * rim->longest_path;
    *block = (ItmRowBlock){.nrow = 1, .nbody = n};
    memcpy(block->body, bodies, sizeof(int) * (size_t)n);
    itm_rows_trace_path(m, block, path, path + rim->longest_path, bodies, n);
    rim->is_chain[i] = true;
    for (int k = 0; k < block->npath; k++) {
        int body = block->path[k];
        rim->is_touched[m->component[body]] = true;
        bool is_link = m->bodies[body].nv == 1 && m->bodies[body].mobility != ITM_MOBILIZER_MODES;
        bool is_serial = block->path_parent[k] == (k + 1 < block->npath ? k + 1 : ITM_NONE);
        rim->is_chain[i] = rim->is_chain[i] && is_link && is_serial;
    }
}

// A measure that is a coordinate of the tree acts on it directly: its row has no bodies, only the path from its mobilizer on.
static void set_coordinate(ItmRim* rim, const ItmModel* m, int i, const ItmMeasure* measure)
{
    ItmRowBlock* block = &rim->blocks[i];
    int body = itm_model_body_of_velocity(m, measure->v_index);
    set_path(rim, m, i, &body, 1);
    block->nbody = 0;
    block->ndof = 1;
    block->dof[0] = measure->v_index;
    block->dof_coef[0] = measure->scale;
    rim->is_chain[i] = false;
}

void itm_rim_init(ItmRim* rim, const ItmModel* m, const int* actuators)
{
    for (int i = 0; i < rim->n; i++) {
        rim->actuator[i] = actuators[i];
        if (actuators[i] == ITM_NONE) {
            continue;
        }
        const ItmMeasure* measure = measure_of(m, actuators[i]);
        if (measure->v_index != ITM_NONE) {
            set_coordinate(rim, m, i, measure);
        } else {
            int bodies[ITM_BLOCK_BODIES], n = itm_measure_get_bodies(measure, bodies);
            set_path(rim, m, i, bodies, n);
            rim->is_chain[i] = rim->is_chain[i] && measure->nother == 0;
        }
        itm_rim_forest_set_path(&rim->forest, m, i, &rim->blocks[i]);
    }
    memset(rim->Y, 0, sizeof(double) * (size_t)(rim->n * rim->nv));
}

void itm_rim_set_frame(ItmRim* rim, const ItmModel* m, int row, const ItmRimFrame* frame)
{
    rim->actuator[row] = ITM_NONE;
    rim->frames[row] = *frame;
    set_path(rim, m, row, &frame->body, frame->body != ITM_NONE);
    itm_rim_forest_set_path(&rim->forest, m, row, &rim->blocks[row]);
}

// ---------------------------------------------------------------------------- rows

// Row i and those after it that are directions of the same frame, looked at together, into x (ITM_DIRECTION_COUNT at most). Returns
// how many.
static int look_at_rows(const ItmModel* m, const ItmData* d, const ItmRim* rim, int i, ItmMeasured* x)
{
    if (rim->actuator[i] == ITM_NONE) {
        int n = itm_frame_rows_count(rim, i);
        itm_frame_rows_look(d, x, &rim->frames[i], n);
        return n;
    }
    x[0] = itm_measure_compute(m, d, measure_of(m, rim->actuator[i]));
    return 1;
}

void itm_rim_measure(const ItmModel* m, const ItmData* d, ItmRim* rim)
{
    for (int i = 0, n; i < rim->n; i += n) {
        ItmMeasured x[ITM_DIRECTION_COUNT];
        n = look_at_rows(m, d, rim, i, x);
        for (int k = 0; k < n; k++) {
            rim->s[i + k] = x[k].value;
            rim->w[i + k] = x[k].rate;
        }
    }
}

// ---------------------------------------------------------------------------- free motion

// The rows' reaction to the free motion: forces lambda and y_free += Y_b' lambda, from
//   A (v + h v_dot) + (h - shift) A' v + Omega h lambda + Gamma Phi / h = signal'(t + h)
// as the mechanism's own step has it. A is that of the evaluation, which is ahead by `shift`: A v has that part of the bias
// already, and the gap Phi at the start is what is seen there less shift w.
static void answer_rows(const ItmModel* m, ItmData* d, ItmRim* rim)
{
    double *b = rim->lambda, h = rim->H, shift = rim->shift;
    // A v = w + signal' of the evaluation
    itm_rows_compute_reference(m, d, d->rows.before, rim->t + shift, 1);
    itm_rows_compute_reference(m, d, d->rows.reference, rim->t + h, 1);
    itm_rows_gather(m, d, b, rim->y_free);
    for (int i = 0; i < m->nrow; i++) {
        double gap = d->rows.gap[i] - shift * d->rows.rate[i];
        double ahead = itm_inertial_is_fast_row(m, d, i) ? h : h - shift;  // drift over all of the step is taken out
        b[i] = d->rows.reference[i] - d->rows.rate[i] - d->rows.before[i] - h * b[i] - ahead * d->rows.bias[i] -
               d->rows.gamma[i] * gap / h;
    }
    itm_blocks_solve(&m->pattern, &d->rows.factor, b);
    for (int i = 0; i < m->nrow; i++) {
        b[i] /= h;
    }
    itm_rows_spread(m, d, rim->y_free, b, 1.0);
    itm_rows_compute_reference(m, d, d->rows.before, rim->t, 1);
}

// ---------------------------------------------------------------------------- mobility

// y = L^-1 A_i' of an interface along the bodies of its path, 0 elsewhere, and its products there.
typedef struct {
    double square, free;  // y . y, y . y_free
} HalfSolved;

// The path is one chain of bodies with one velocity each: as itm_mass_half_solve, without its loops over rows, velocities and branches,
// which for a small mechanism cost more than the rest of a RIM. The wrench that goes inward stays in registers.
ITM_INLINE HalfSolved half_solve_chain(const ItmModel* m, const ItmData* d, const ItmRim* rim, int i,
                                       const ItmMeasured* x, double* y)
{
    const ItmRowBlock* block = &rim->blocks[i];
    const ItmMeasure* measure = measure_of(m, rim->actuator[i]);
    int id = block->path[0], npath = block->npath;
    bool begins_at_a = id == measure->body_a;
    int other = begins_at_a ? measure->body_b : measure->body_a;
    ItmSpatial p = begins_at_a ? x->cov_a : x->cov_b;
    HalfSolved out = {0.0, 0.0};
    for (int j = 0;;) {
        const ItmBody* body = &m->bodies[id];
        int adr = body->v_adr;
        double value = itm_spatial_dot(d->S[adr], p) * d->mass.L[body->L_adr];
        y[adr] = value;
        out.square += value * value;
        out.free += value * rim->y_free[adr];
        if (++j == npath) {
            return out;
        }
        p = itm_wrench_shift(itm_spatial_axpy(-value, d->mass.G[adr], p), itm_vec_sub(d->x[id], d->x[body->parent]));
        id = body->parent;
        if (id == other) {
            p = itm_spatial_add(p, begins_at_a ? x->cov_b : x->cov_a);
        }
    }
}

// y before it is half solved along its path: the reaction of rows was everywhere.
ITM_INLINE void clear_reaction(const ItmModel* m, double* y)
{
    if (m->nrow > 0) {
        memset(y, 0, sizeof(double) * (size_t)m->nv);
    }
}

// Covectors of interface i on the bodies of its block (ITM_BLOCK_BODIES at most).
ITM_INLINE void get_covectors(const ItmModel* m, const ItmRim* rim, int i, const ItmMeasured* x, ItmSpatial* cov)
{
    if (rim->actuator[i] != ITM_NONE) {
        itm_measure_get_covectors(measure_of(m, rim->actuator[i]), x, 1.0, cov);
    } else {
        cov[0] = x->cov_a;
    }
}

static HalfSolved half_solve_interface(const ItmModel* m, ItmData* d, const ItmRim* rim, int i, const ItmMeasured* x,
                                       double* y)
{
    const ItmRowBlock* block = &rim->blocks[i];
    ItmSpatial cov[ITM_BLOCK_BODIES];
    get_covectors(m, rim, i, x, cov);
    const double* along = d->x1;
    HalfSolved out = {0.0, 0.0};
    clear_reaction(m, y);
    itm_mass_half_solve(m, d, d->x1, block, cov);
    for (int j = 0; j < block->npath; j++) {
        const ItmBody* body = &m->bodies[block->path[j]];
        memcpy(y + body->v_adr, along, sizeof(double) * (size_t)body->nv);
        out.square += itm_rows_dot(along, along, body->nv);
        out.free += itm_rows_dot(along, rim->y_free + body->v_adr, body->nv);
        along += body->nv;
    }
    return out;
}

// What the rows take off y of interface i: y~ and mu.
static void answer_interface(const ItmModel* m, ItmData* d, ItmRim* rim, int i)
{
    double *y = rim->Y + i * m->nv, *mu = rim->mu + i * m->nrow;
    itm_rows_gather_path(m, d, mu, y, &rim->blocks[i]);
    itm_blocks_solve(&m->pattern, &d->rows.factor, mu);
    itm_rows_spread(m, d, y, mu, -1.0);
}

// W_ij = y~_i . y~_j + mu_i' Omega mu_j, Omega of compliant rows
static double multiply_interfaces(const ItmModel* m, const ItmData* d, const ItmRim* rim, int i, int j)
{
    const double *mu = rim->mu + i * rim->nrow, *nu = rim->mu + j * rim->nrow;
    double sum = itm_rows_dot(rim->Y + i * rim->nv, rim->Y + j * rim->nv, rim->nv);
    for (int b = 0; b < m->nblock; b++) {
        const ItmRowBlock* block = &m->blocks[b];
        for (int k = block->row; itm_block_is_compliant(block) && k < block->row + block->nrow; k++) {
            sum += d->rows.omega[k] * mu[k] * nu[k];
        }
    }
    return sum;
}

// W of row i with those before `end`
static void multiply_row(const ItmModel* m, const ItmData* d, ItmRim* rim, int i, int end)
{
    for (int j = 0; j < end; j++) {
        rim->W[i * rim->n + j] = rim->W[j * rim->n + i] = multiply_interfaces(m, d, rim, i, j);
    }
}

// a0 and W of row k beside those before it, from its half solved vector.
ITM_INLINE void finish_row(const ItmModel* m, ItmData* d, ItmRim* rim, int k, HalfSolved solved, double bias)
{
    rim->a0[k] = solved.free + bias;
    rim->mobility_free[k] = solved.square;
    if (m->nrow > 0) {
        answer_interface(m, d, rim, k);
        multiply_row(m, d, rim, k, k + 1);
        return;
    }
    rim->W[k * (rim->n + 1)] = solved.square;
    for (int j = 0; j < k; j++) {
        rim->W[k * rim->n + j] = rim->W[j * rim->n + k] =
            itm_rows_dot(rim->Y + k * rim->nv, rim->Y + j * rim->nv, rim->nv);
    }
}

// Y, a0 and W of n rows from i on, seen as x, beside those before them.
static void reduce_rows(const ItmModel* m, ItmData* d, ItmRim* rim, int i, int n, const ItmMeasured* x)
{
    bool is_wide = rim->actuator[i] == ITM_NONE && !m->bodies[rim->frames[i].body].is_root_leaf;
    bool is_free = is_wide && m->nrow == 0;  // nothing reacts: their products at once, too
    if (is_wide) {
        itm_frame_rows_half_solve(m, d, rim, i, n, x);
    }
    if (is_free) {
        itm_frame_rows_multiply(rim, i, n);
    }
    for (int k = i; k < i + n; k++) {
        double* y = rim->Y + k * m->nv;
        if (is_wide && !is_free) {
            finish_row(m, d, rim, k, (HalfSolved){itm_rows_dot(y, y, m->nv), itm_rows_dot(y, rim->y_free, m->nv)},
                       x[k - i].bias);
        } else if (!is_wide) {
            finish_row(m, d, rim, k, half_solve_interface(m, d, rim, k, &x[k - i], y), x[k - i].bias);
        } else {
            rim->a0[k] += x[k - i].bias;
            rim->mobility_free[k] = rim->W[k * (rim->n + 1)];
            multiply_row(m, d, rim, k, i);
        }
    }
}

// The same for one row whose path is a chain.
static void reduce_chain(const ItmModel* m, ItmData* d, ItmRim* rim, int i, const ItmMeasured* x)
{
    double* y = rim->Y + i * m->nv;
    clear_reaction(m, y);
    finish_row(m, d, rim, i, half_solve_chain(m, d, rim, i, x, y), x->bias);
}

// The same for n rows of a forest.
static void reduce_in_forest(const ItmModel* m, ItmData* d, ItmRim* rim, int i, int n, const ItmMeasured* x)
{
    for (int k = i; k < i + n; k++) {
        ItmSpatial cov[ITM_BLOCK_BODIES];
        get_covectors(m, rim, k, &x[k - i], cov);
        itm_rim_forest_reduce(m, d, rim, k, cov);
        rim->a0[k] += x[k - i].bias;
    }
}

// Any rows from i on; x are their measures.
static void reduce_any(const ItmModel* m, ItmData* d, ItmRim* rim, int i, int n, const ItmMeasured* x)
{
    if (rim->forest.is_used) {
        reduce_in_forest(m, d, rim, i, n, x);
    } else if (rim->actuator[i] != ITM_NONE && rim->is_chain[i]) {
        reduce_chain(m, d, rim, i, x);
    } else {
        reduce_rows(m, d, rim, i, n, x);
    }
}

// W, a0 and the free motion of the mechanism, M and H factored; d->mass.y is L^-1 (f - c).
static void reduce_interfaces(const ItmModel* m, ItmData* d, ItmRim* rim)
{
    if (!rim->forest.is_used) {
        memcpy(rim->y_free, d->mass.y, sizeof(double) * (size_t)m->nv);
    }
    if (!rim->forest.is_used && m->nrow > 0) {
        answer_rows(m, d, rim);
    }
    for (int i = 0, n; i < rim->n; i += n) {
        if (rim->actuator[i] != ITM_NONE) {
            // the evaluation of the forces has just looked at the lines
            reduce_any(m, d, rim, i, n = 1, &d->scalar_measured[m->actuator_force[rim->actuator[i]]]);
        } else {
            ItmMeasured x[ITM_DIRECTION_COUNT];
            n = look_at_rows(m, d, rim, i, x);
            reduce_any(m, d, rim, i, n, x);
        }
    }
}

void itm_rim_compute_mobility(const ItmModel* m, ItmData* d, ItmRim* rim)
{
    itm_data_refresh(m, d);
    if (m->nrow > 0) {
        itm_rows_compute_jacobian(m, d);
    }
    itm_euler_factor(m, d, d->options.step);
    rim->forest.is_used = false;
    for (int i = 0, n; i < rim->n; i += n) {
        ItmMeasured x[ITM_DIRECTION_COUNT];
        n = look_at_rows(m, d, rim, i, x);
        reduce_any(m, d, rim, i, n, x);
    }
}

// ---------------------------------------------------------------------------- all of it

// A' v of the contact rows that both looks have; the lists are in the same order but for rows that come and go. An own step h of the
// mechanism (the lag) brings the rate of a closed contact to 0 with the Jacobian of its start, so that A v at its end is h A' v. The
// model, whose rows change all the time, starts from the rate without that: with one micro step h it is then the mechanism's own step.
static void set_contact_bias(const ItmData* d, ItmRim* rim)
{
    ItmBounded* b = d->bounded;
    double apart = rim->ahead_time - rim->shift;  // 0: forces of the start, with the rows as they are
    for (int i = 0, at = 0; i < b->nrow && rim->nahead > 0; i++) {
        ItmRow* row = &b->rows[i];
        int k = 0;
        while (k < rim->nahead && rim->ahead_key[(at + k) % rim->nahead] != row->key) {
            k++;
        }
        if (itm_rim_contacts_is_row(row) && k < rim->nahead) {
            at = (at + k) % rim->nahead;
            if (!itm_contact_is_turn(rim->ahead_normal[at], d->contact->contacts[row->owner].point.normal)) {
                continue;
            }
            row->bias = apart != 0.0 ? (rim->ahead_rate[at] - row->rate) / apart : 0.0;
            row->rate -= rim->ahead_lag * row->bias;
        }
    }
    rim->nahead = 0;
}

// Evaluation of the mechanism without the interface forces, in the configuration q (+) shift v. may_span: by the forest of rows, if they
// are one.
static ItmStatus evaluate(const ItmModel* m, ItmData* d, ItmRim* rim, double t, double H, double shift, bool may_span)
{
    rim->model = m;
    rim->data = d;
    rim->t = t;
    rim->H = H;
    rim->shift = shift;
    rim->neliminated = 0;
    rim->contacts.problem.n = 0;
    for (int i = 0; i < rim->n; i++) {
        if (rim->actuator[i] != ITM_NONE) {
            d->input[rim->actuator[i]] = 0.0;
        } else {
            itm_sleep_forbid(d, rim->frames[i].body);
        }
    }
    memcpy(rim->q_start, d->q, sizeof(double) * (size_t)m->nq);
    if (shift > 0.0) {
        itm_kinematics_integrate(m, d->q, rim->q_start, d->v, shift);
        d->position_state = ITM_POSITION_STALE;
    }
    may_span = may_span && rim->forest.is_possible;
    ItmStatus status = itm_euler_evaluate(m, d, t + shift, H, may_span ? ITM_EVALUATE_FOREST : ITM_EVALUATE_INTERFACE);
    rim->forest.is_used = may_span && itm_euler_can_span_interfaces(m, d);
    if (status == ITM_OK && d->bounded != NULL) {
        set_contact_bias(d, rim);
    }
    return status;
}

// Interfaces and bounded rows, M and H factored, the free motion half solved in d->mass.y.
static ItmStatus reduce(const ItmModel* m, ItmData* d, ItmRim* rim, ItmRimContact contact)
{
    double start = itm_clock();
    reduce_interfaces(m, d, rim);
    ItmStatus status = d->bounded != NULL ? itm_rim_contacts_extract(m, d, rim, contact) : ITM_OK;
    rim->cost += itm_clock() - start;
    return status;
}

// M and H, where the last step has not left them, and y = L^-1 (f - c), which the mechanism takes over with its step; without rows in one
// sweep, as its own step has it.
static void factor_free_motion(const ItmModel* m, ItmData* d, double H)
{
    if (d->position_state != ITM_POSITION_FACTORED && m->nrow == 0) {
        itm_mass_factor_solve_lower(m, d, itm_euler_modal_terms(d, H), d->tau, d->wrench);
    } else {
        if (d->position_state != ITM_POSITION_FACTORED) {
            itm_euler_factor(m, d, H);
        }
        itm_mass_solve_lower(m, d, d->tau, d->wrench);
    }
    d->position_state = ITM_POSITION_FACTORED;
}

static ItmStatus extract(const ItmModel* m, ItmData* d, ItmRim* rim, double t, double H, double shift,
                         ItmRimContact contact, bool may_span)
{
    ItmStatus status = evaluate(m, d, rim, t, H, shift, may_span);
    if (status != ITM_OK) {
        return status;
    }
    if (rim->forest.is_used) {
        itm_rim_forest_begin(m, d, rim);
    } else {
        factor_free_motion(m, d, H);
    }
    return reduce(m, d, rim, contact);
}

ItmStatus itm_rim_extract(const ItmModel* m, ItmData* d, ItmRim* rim, double t, double H, double shift,
                          ItmRimContact contact)
{
    return extract(m, d, rim, t, H, shift, contact, true);
}

ItmStatus itm_rim_extract_view(const ItmModel* m, ItmData* d, ItmRim* rim, double t, double H, double shift,
                               ItmFlexibleInterface elastic, ItmRimContact contact)
{
    if (elastic == ITM_FLEXIBLE_INTERFACE_IMPLICIT) {
        ItmStatus status = extract(m, d, rim, t, H, shift, contact, false);
        if (shift > 0.0) {
            memcpy(d->q, rim->q_start, sizeof(double) * (size_t)m->nq);
            d->position_state = ITM_POSITION_STALE;
        }
        return status;
    }
    ItmStatus status = evaluate(m, d, rim, t, H, 0.0, false);
    if (status != ITM_OK) {
        return status;
    }
    if (d->options.modal_rule == ITM_MODAL_RULE_BACKWARD) {
        itm_flexible_add_lag(m, d, -H);  // the forces of the start, not of the end
    }
    itm_euler_factor_modes(m, d, H, (ItmModalTerms){.inertia = 1.0});
    itm_mass_solve_lower(m, d, d->tau, d->wrench);
    d->position_state = ITM_POSITION_LOOKED;
    // effective stiffness is known of interfaces only: contacts cannot be solved with it
    status = reduce(m, d, rim, elastic == ITM_FLEXIBLE_INTERFACE_EFFECTIVE ? ITM_RIM_ELIMINATE : contact);
    return status == ITM_OK && elastic == ITM_FLEXIBLE_INTERFACE_EFFECTIVE ? itm_effective_extract(m, d, rim) : status;
}

void itm_rim_respond(const ItmModel* m, ItmData* d, const ItmRim* rim, double* v, double h, const double* p)
{
    if (rim->forest.is_used) {
        itm_rim_forest_respond(m, d, rim, v, h, p);
        return;
    }
    for (int k = 0; k < m->nv; k++) {
        double sum = h * rim->y_free[k];
        for (int i = 0; p != NULL && i < rim->n; i++) {
            sum += rim->Y[i * m->nv + k] * p[i];
        }
        d->mass.y[k] = sum;
    }
    itm_mass_solve_upper(m, d, d->x4);
    for (int k = 0; k < m->nv; k++) {
        v[k] += d->x4[k];
    }
}
