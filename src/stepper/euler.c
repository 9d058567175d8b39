// Impulse-momentum semi-implicit Euler (Moreau's time stepping) for bilateral rows        [contact-rim, eqs. 21-24]
//
//   M v+ = M v + h (f - c) + A' h lambda
//   A v+ + c h A' v + Omega h lambda + Gamma Phi / h = signal'(t + h),  c = 1/2 for rigid rows, 1 for compliant ones
//   q+ = q (+) h v+, then the gaps of rigid rows are closed, by impulses that belong to the step (SHAKE)
//   v+ is projected onto A(q+) v+ = signal'(t + h), which changes no later position: the next impulses absorb it (RATTLE)
//
// The factors of M and H at q+ that the projection needs are those with which the next step begins.
// Rigid rows have Omega = Gamma = 0. Compliant rows have Omega = 1 / (h^2 K + h D), Gamma = h K / (h K + D)
// [contact-rim, eqs. 40-41]: their force -K Phi+ - D w+ is taken at the end of the step, so no stiffness is too large.
// Modes of flexible bodies are implicit too: M^ = M + h/2 D + h^2/4 K (Newmark's rule as a step of velocities, which neither
// damps nor limits the step), or M + h D + h^2 K with the force -K (eta + h eta') - D eta' of the step's end [contact-rim, eq. 21].
#include "stepper/bounded_solve.h"
#include "stepper/inertial.h"
#include "stepper/clearance_projection.h"
#include "stepper/stepper.h"

#include "contact/contact.h"
#include "multibody/clearance.h"
#include "multibody/flexible.h"
#include "multibody/kinematics.h"
#include "multibody/mass.h"
#include "multibody/rows.h"
#include "multibody/sleep.h"
#include "multibody/spanning.h"

#include <string.h>

static void set_compliance(const ItmModel* m, ItmData* d, double h)
{
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        double K = block->stiffness, D = block->damping;
        bool is_compliant = itm_block_is_compliant(block);
        for (int i = block->row; i < block->row + block->nrow; i++) {
            d->rows.omega[i] = is_compliant ? 1.0 / (h * h * K + h * D) : 0.0;
            d->rows.gamma[i] = is_compliant ? h * K / (h * K + D) : 0.0;
        }
    }
}

void itm_euler_book_row_work(const ItmModel* m, ItmData* d)
{
    double motion = d->energy.ledger[ITM_LEDGER_MOTION], constraint = d->energy.ledger[ITM_LEDGER_CONSTRAINT];
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        bool is_motion = block->kind == ITM_BLOCK_MOTION;
        if (!is_motion && itm_block_is_compliant(block)) {
            continue;
        }
        double sum = is_motion ? motion : constraint;
        for (int i = block->row; i < block->row + block->nrow; i++) {
            sum += 0.5 * d->lambda[i] * (d->rows.before[i] + d->rows.reference[i]);
        }
        *(is_motion ? &motion : &constraint) = sum;
    }
    d->energy.ledger[ITM_LEDGER_MOTION] = motion;
    d->energy.ledger[ITM_LEDGER_CONSTRAINT] = constraint;
}

void itm_euler_respond(const ItmModel* m, ItmData* d, double* v, double* x)
{
    if (d->spanning.is_used) {
        itm_spanning_solve(m, d, v, x);
    } else {
        itm_blocks_solve(&m->pattern, &d->rows.factor, x);
        itm_rows_apply(m, d, v, x);
    }
}

// out = A v (nrow) where the last factors for a step were made
static void multiply_rows(const ItmModel* m, ItmData* d, double* out, const double* v)
{
    if (d->spanning.is_used) {
        itm_spanning_multiply(m, d, out, v);
    } else {
        itm_rows_multiply(m, d, out, v);
    }
}

// Drift of a joint in this step from those of the last five, into d->rows.guess: a polynomial in time through the last ones, of the
// degree that would have come nearest in the last two steps. One step is not enough: a difference may pass through 0 there.
static void predict_drift(ItmData* d, const ItmRowBlock* block, bool is_even)
{
    enum { DEGREES = ITM_DRIFT_STEPS - 1 };
    int from = block->row, to = from + block->nrow, degree = 0;
    // of each degree, squared: the next difference, and what that was one step before
    double error[DEGREES] = {0.0};
    for (int i = from; is_even && i < to; i++) {
        const double* D = d->rows.drift + ITM_DRIFT_STEPS * i;
        for (int n = 0; n < DEGREES; n++) {
            double last = D[n + 1] - (n + 2 < ITM_DRIFT_STEPS ? D[n + 2] : 0.0);
            error[n] += D[n + 1] * D[n + 1] + last * last;
        }
    }
    for (int n = 1; n < DEGREES; n++) {
        degree = error[n] < error[degree] ? n : degree;
    }
    for (int i = from; i < to; i++) {
        const double* D = d->rows.drift + ITM_DRIFT_STEPS * i;
        double sum = D[0];
        for (int n = 1; n <= degree; n++) {
            sum += D[n];
        }
        d->rows.guess[i] = sum;
    }
}

// A v at the start of the step into d->rows.before, and signal'(t + h) into d->rows.reference.
static void set_references(const ItmModel* m, ItmData* d, double t, double h)
{
    itm_rows_compute_reference(m, d, d->rows.reference, t, 1);
    for (int i = 0; i < m->nrow; i++) {
        d->rows.before[i] = d->rows.rate[i] + d->rows.reference[i];
    }
    itm_rows_compute_reference(m, d, d->rows.reference, t + h, 1);
}

// The right side of H h lambda = -(A v_free + c h A' v + Gamma Phi / h - signal'(t + h)) into b, which is A v_free. Rows whose gap is
// closed afterwards need the velocity that takes it to 0, the mean over the step, c = 1/2: that leaves a gap of order h^3, and of order
// h^4 to h^7 once the gaps of the last steps are reckoned with.
static void set_right_side(const ItmModel* m, ItmData* d, double* b, double h)
{
    // bounded rows, singular positions and steps of other lengths make drifts jump: there the next one is as the last, with the gap
    // that was left
    bool is_even = d->spanning.is_used && !itm_stepper_is_variable(d->options.stepper);
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        predict_drift(d, block, is_even);
        bool is_fast =
            itm_inertial_is_fast(m, d, block->path[0]);  // its bias is that of the drift, which closes its gaps itself
        bool is_compliant = itm_block_is_compliant(block);
        double c = is_fast || is_compliant ? 1.0 : 0.5,
               share = is_even && !is_fast ? 1.0 : 0.0;  // of the gap at the start
        for (int i = block->row; i < block->row + block->nrow; i++) {
            d->rows.guess[i] = is_fast ? 0.0 : h * h * h * d->rows.guess[i];
            double gap = (is_compliant ? d->rows.gamma[i] : share) * d->rows.gap[i];
            b[i] = d->rows.reference[i] - b[i] - c * h * d->rows.bias[i] - (gap + d->rows.guess[i]) / h;
        }
    }
}

// Solve the rows: h lambda into d->lambda, v+ into v_free.
static void solve_rows(const ItmModel* m, ItmData* d, double* v_free, double t, double h)
{
    double* b = d->rows.x;
    set_references(m, d, t, h);
    multiply_rows(m, d, b, v_free);
    set_right_side(m, d, b, h);
    itm_euler_respond(m, d, v_free, b);
    memcpy(d->lambda, b, sizeof(double) * (size_t)m->nrow);
}

// The same with half solved vectors, where nothing needs the velocities without the rows: y = L^-1 (f - c) and
//   A v_free = A v + h Y y,  v+ = v + L^-T (h y + Y' h lambda)
static void solve_rows_half(const ItmModel* m, ItmData* d, double* v_next, double t, double h)
{
    double *b = d->rows.x, *y = d->mass.y;
    itm_mass_solve_lower(m, d, d->tau, d->wrench);
    set_references(m, d, t, h);
    itm_rows_gather(m, d, b, y);
    for (int i = 0; i < m->nrow; i++) {
        b[i] = d->rows.before[i] + h * b[i];
    }
    set_right_side(m, d, b, h);
    itm_blocks_solve(&m->pattern, &d->rows.factor, b);
    memcpy(d->lambda, b, sizeof(double) * (size_t)m->nrow);
    for (int i = 0; i < m->nv; i++) {
        y[i] *= h;
    }
    itm_rows_spread(m, d, y, b, 1.0);
    itm_mass_solve_upper(m, d, v_next);
    for (int i = 0; i < m->nv; i++) {
        v_next[i] += d->v[i];
    }
}

ItmModalTerms itm_euler_modal_terms(const ItmData* d, double h)
{
    bool is_backward = d->options.modal_rule == ITM_MODAL_RULE_BACKWARD;
    return (ItmModalTerms){
        .inertia = 1.0, .damping = is_backward ? h : 0.5 * h, .stiffness = is_backward ? h * h : 0.25 * h * h};
}

void itm_euler_factor(const ItmModel* m, ItmData* d, double h)
{
    itm_euler_factor_modes(m, d, h, itm_euler_modal_terms(d, h));
}

void itm_euler_factor_modes(const ItmModel* m, ItmData* d, double h, ItmModalTerms terms)
{
    d->spanning.is_used = false;
    itm_mass_factor_implicit(m, d, terms);
    if (m->nrow > 0) {
        set_compliance(m, d, h);
        itm_rows_factor_step(m, d);
    }
}

// Whether the forest of rows, if they are one, solves a step that has no factors yet.
static bool can_span(const ItmModel* m, const ItmData* d)
{
    return m->nspanning > 0 && d->bounded == NULL && !d->inertial.has_fast;
}

bool itm_euler_can_span_interfaces(const ItmModel* m, const ItmData* d)
{
    return m->nspanning > 0 && !d->inertial.has_fast && (d->bounded == NULL || d->bounded->nrow == 0);
}

// Factors for a step h where rows have their Jacobian.
static void factor_step(const ItmModel* m, ItmData* d, double h, bool is_spanned)
{
    if (is_spanned) {
        itm_spanning_factor(m, d);
    } else {
        itm_euler_factor(m, d, h);
    }
}

// Work of the impulses lambda of prescribed motions while their rows move with their signals, d->rows.reference.
static void book_driven(const ItmModel* m, ItmData* d, const double* lambda)
{
    for (int i = 0; i < m->nmotion; i++) {
        int block = m->motions[i].block, row = block != ITM_NONE ? m->blocks[block].row : ITM_NONE;
        d->energy.ledger[ITM_LEDGER_MOTION] += row != ITM_NONE ? lambda[row] * d->rows.reference[row] : 0.0;
    }
}

// What rigid rows with velocities x lack to move with their signals, d->rows.reference; 0 for compliant ones.
static void leave_rigid(const ItmModel* m, const ItmData* d, double* x)
{
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        bool is_compliant = itm_block_is_compliant(block);
        for (int i = block->row; i < block->row + block->nrow; i++) {
            x[i] = is_compliant ? 0.0 : d->rows.reference[i] - x[i];
        }
    }
}

// The velocities before those of the joints are projected, for the projection of joints with clearance in the next step.
static void keep_raw(const ItmModel* m, ItmData* d)
{
    if (m->nclearance > 0) {
        memcpy(d->v_raw, d->v, sizeof(double) * (size_t)m->nv);
    }
}

void itm_euler_finish_rows(const ItmModel* m, ItmData* d, double t, double h)
{
    if (d->inertial.has_fast) {
        // the factors of the start are gone, and too old where a body has turned far
        itm_kinematics_compute_positions(m, d, d->q);
        itm_rows_compute_jacobian(m, d);
        itm_euler_factor(m, d, h);
    }
    itm_gaps_close(m, d, t);
    memset(d->rows.guess, 0, sizeof(double) * (size_t)m->nrow);
    itm_data_update_angles(m, d);

    keep_raw(m, d);
    if (d->rows.is_placed) {
        itm_rows_place_measures(m, d);
    } else if (!d->spanning.is_used) {  // there the last look at the gaps has placed the nodes
        itm_rows_compute_jacobian(m, d);
    }
    if (d->spanning.is_used) {
        itm_spanning_project(m, d, d->v, d->rows.x);
    } else {
        itm_euler_factor(m, d, h);
        itm_rows_multiply(m, d, d->rows.x, d->v);
        leave_rigid(m, d, d->rows.x);
        itm_euler_respond(m, d, d->v, d->rows.x);
    }
    for (int i = 0; i < m->nrow; i++) {
        d->lambda[i] += d->rows.x[i];
    }
    itm_euler_book_row_work(m, d);
    d->position_state = d->spanning.is_used ? ITM_POSITION_SPANNED : ITM_POSITION_FACTORED;
}

// ---------------------------------------------------------------------------- step

ItmStatus itm_euler_collect_bounded(const ItmModel* m, ItmData* d, double t, double h)
{
    itm_bounded_clear(d->bounded);
    itm_row_memory_rewind(&d->bounded->memory);
    itm_bounded_add_joints(m, d, t, h);
    itm_clearance_add_rows(m, d, h);
    return m->contact != NULL ? itm_contact_add_rows(m, d, h) : ITM_OK;
}

#define MOST_HITS 32  // bodies one behind the other that an impact of the step may reach

// The same, and what sleeps wakes up where an awake body reaches it, and those that it reaches in turn; so do bodies come farther that are hit.
static ItmStatus collect_awake(const ItmModel* m, ItmData* d, double t, double h)
{
    itm_sleep_begin(m, d);
    ItmStatus status;
    int hits = 0;
    do {
        status = itm_euler_collect_bounded(m, d, t, h);
    } while (status == ITM_OK &&
             (itm_sleep_wake_touched(d) || (hits++ < MOST_HITS && itm_contact_extend_reach(m, d, h))));
    itm_contact_reset_reach(m, d);
    itm_sleep_hold(m, d);
    return status;
}

// The velocity stage, as far as the step needs it: inertia forces of articulated components are those of the middle of the step, so that
// nothing but rows uses accel_bias.
static void compute_velocities(const ItmModel* m, ItmData* d, bool has_interface)
{
    bool has_bodies_only = m->nrow == 0 && d->bounded == NULL && !has_interface;
    if (has_bodies_only && m->narticulated > 0) {
        itm_kinematics_compute_twists(m, d, d->twist, d->v);
    } else {
        itm_kinematics_compute_velocities(m, d, d->v);
    }
}

ItmStatus itm_euler_evaluate(const ItmModel* m, ItmData* d, double t, double h, ItmEvaluation purpose)
{
    bool has_interface = purpose != ITM_EVALUATE_STEP;
    if (d->position_state == ITM_POSITION_STALE) {
        itm_kinematics_compute_positions(m, d, d->q);
    }
    if (d->position_state != ITM_POSITION_LOOKED) {
        compute_velocities(m, d, has_interface);
    }
    itm_inertial_begin(m, d, h, has_interface ? ITM_FAST_TURN_INTERFACE : ITM_FAST_TURN,
                       has_interface || d->bounded != NULL, !has_interface);
    itm_inertial_compute_right_side(m, d, t, h);
    if (d->options.modal_rule == ITM_MODAL_RULE_BACKWARD) {
        itm_flexible_add_lag(m, d, h);
    }
    // the bias of fast rows needs the Jacobian
    bool is_forest = purpose == ITM_EVALUATE_FOREST && !d->inertial.has_fast;
    if (m->nrow > 0) {
        bool is_spanned = d->position_state == ITM_POSITION_SPANNED && can_span(m, d) && !has_interface;
        if (d->position_state == ITM_POSITION_FACTORED || is_spanned || is_forest) {
            itm_rows_compute_rates(m, d, t);
        } else {
            itm_rows_compute_jacobian(m, d);
            itm_rows_compute_motion(m, d, t);
        }
        itm_rows_add_damper_power(m, d);
        itm_inertial_set_bias(m, d, h);
    }
    ItmStatus status = d->bounded != NULL ? collect_awake(m, d, t, h) : ITM_OK;
    if (is_forest && !itm_euler_can_span_interfaces(m, d)) {
        itm_rows_compute_jacobian(m, d);
    }
    return status;
}

// Contact in joints with clearance as in Verlet's method: the first half of the forces, accelerations a, acts before the velocities of the
// joints and of closed gaps are projected, the second half in the step that follows.
static ItmStatus project_clearances(const ItmModel* m, ItmData* d, const double* a, double t, double half)
{
    for (int i = 0; i < m->nv; i++) {
        d->v[i] += half * a[i];
    }
    if (m->nrow > 0) {
        double* lambda = d->rows.x;
        itm_rows_compute_reference(m, d, d->rows.reference, t, 1);
        itm_rows_multiply(m, d, lambda, d->v);
        leave_rigid(m, d, lambda);
        itm_euler_respond(m, d, d->v, lambda);
        book_driven(m, d, lambda);
    }
    return itm_clearance_projection_run(m, d, d->v);
}

// v+ of forces and rows into v_next; `left` is what is left of the step h after contact in joints with clearance.
static ItmStatus solve_in_full(const ItmModel* m, ItmData* d, double* v_next, double* left, bool is_factored, double t,
                               double h)
{
    if (is_factored) {
        itm_mass_solve(m, d, v_next, d->tau, d->wrench);
    } else {
        itm_mass_factor_solve(m, d, itm_euler_modal_terms(d, h), v_next, d->tau, d->wrench);
    }
    if (d->bounded != NULL && itm_clearance_projection_is_needed(m, d)) {
        *left = 0.5 * h;
        ItmStatus status = project_clearances(m, d, v_next, t, *left);
        if (status != ITM_OK) {
            return status;
        }
    }
    for (int i = 0; i < m->nv; i++) {
        v_next[i] = d->v[i] + *left * v_next[i];
    }
    if (m->nrow > 0) {
        solve_rows(m, d, v_next, t, h);
    }
    return ITM_OK;
}

ItmStatus itm_euler_step(const ItmModel* m, ItmData* d)
{
    double h = d->h, t = itm_data_get_time(d);
    double *v_next = d->x1, *move = d->x3;
    ItmStatus status = itm_euler_evaluate(m, d, t, h, ITM_EVALUATE_STEP);
    if (status != ITM_OK) {
        return status;
    }
    itm_data_advance_ledger(d, h);

    // v_free = v + h M^-1 (f - c)
    bool is_spanned = d->position_state == ITM_POSITION_SPANNED && can_span(m, d);
    bool is_factored = is_spanned || d->position_state == ITM_POSITION_FACTORED;
    if (!is_factored && m->nrow > 0) {
        if (can_span(m, d)) {
            itm_rows_place_nodes(m, d);
        }
        factor_step(m, d, h, can_span(m, d));
        is_factored = true;
    }
    double left = h;
    if (m->nrow > 0 && d->bounded == NULL && !d->spanning.is_used) {
        solve_rows_half(m, d, v_next, t, h);
    } else {
        status = solve_in_full(m, d, v_next, &left, is_factored, t, h);
        if (status != ITM_OK) {
            return status;
        }
    }
    if (d->bounded != NULL || d->inertial.has_fast) {
        memset(move, 0, sizeof(double) * (size_t)m->nv);
    }
    if (d->bounded != NULL) {
        // joints with clearance need their energies to second order
        d->bounded->books_answer = m->nclearance > 0 && m->nrow > 0;
        status = itm_bounded_solve(m, d, v_next, move, h, left);
        d->bounded->books_answer = false;
        if (status != ITM_OK) {
            return status;
        }
    }
    // q+ = q (+) (h v+ + position correction)
    double *q_start = d->q1, *correction = d->x2;
    if (d->inertial.has_fast) {
        memcpy(q_start, d->q, sizeof(double) * (size_t)m->nq);
        memcpy(correction, move, sizeof(double) * (size_t)m->nv);
    }
    memcpy(d->v, v_next, sizeof(double) * (size_t)m->nv);
    if (d->bounded != NULL) {
        for (int i = 0; i < m->nv; i++) {
            move[i] += h * v_next[i];
        }
        itm_kinematics_integrate(m, d->q, d->q, move, 1.0);
    } else {
        itm_kinematics_integrate(m, d->q, d->q, v_next, h);
    }
    d->position_state = ITM_POSITION_STALE;
    itm_inertial_finish(m, d, q_start, correction, h);
    if (m->nrow > 0) {
        itm_euler_finish_rows(m, d, t + h, h);
    } else {
        keep_raw(m, d);
    }
    if (m->nrow == 0 && m->nangle > 0) {
        itm_kinematics_compute_positions(m, d, d->q);
        itm_data_update_angles(m, d);
        d->position_state = ITM_POSITION_CURRENT;
    }
    return ITM_OK;
}
