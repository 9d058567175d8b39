// The mechanism's step from what its RIM gathered                                             [docs/theory-cosim.md]
//
//   v+ = v + H v_dot + X P0 + X_c Q0                    impulse: the mechanism ends with the RIM's rates
//   q+ = q (+) H (v + theta H v_dot + X P1 + X_c Q1)    moment: and where the RIM ended
#include "rim/contacts.h"
#include "rim/forest.h"

#include "multibody/forces.h"
#include "multibody/kinematics.h"
#include "multibody/rows.h"
#include "stepper/bounded_solve.h"
#include "stepper/inertial.h"
#include "stepper/stepper.h"

#include <math.h>
#include <string.h>

#define MAX_END_CORRECTIONS 4
#define END_SLACK 1e-6  // m: less is left to the position correction of the limit's row

// Impulses of rows that no interface feels: one solve for the whole step, v without them.
static ItmStatus solve_others(const ItmModel* m, ItmData* d, const ItmRim* rim, const double* v)
{
    itm_bounded_set_offsets(m, d, v, rim->H, 0.0);
    return itm_bounded_solve_islands(m, d);
}

// Hand impulses (or moments) of the contact rows to the table.
static void place(const ItmRimContacts* r, double* x, const double* Q)
{
    for (int i = 0; i < r->problem.n; i++) {
        x[r->table[i]] = Q[i];
    }
}

#define STIFF 1e6  // h^2 K over the mass that a row moves: from here on the row is as good as rigid

// Gap at the end of the step. Of a row so stiff that the gap is rounding against the step, the one that its force accounts for: the
// stiffness would turn rounding into energy.
static double find_gap_after(const ItmRim* rim, int i)
{
    const ItmRimContacts* r = &rim->contacts;
    const ItmRow* row = &r->problem.rows[i];
    double K = row->stiffness, h = rim->h, mobility = r->problem.H[(size_t)i * (size_t)(r->problem.n + 1)] - row->omega;
    return h * h * K * mobility > STIFF ? -r->x[i] / (h * K) : row->gap;
}

static void report(const ItmRim* rim, ItmData* d)
{
    const ItmRimContacts* r = &rim->contacts;
    ItmBounded* b = d->bounded;
    for (int i = 0; i < r->problem.n; i++) {
        b->v_after[r->table[i]] = r->problem.rows[i].rate;
        b->state[r->table[i]] = r->problem.state[i];
        b->rows[r->table[i]].gap_after = find_gap_after(rim, i);
        itm_bounded_book_work(d, &b->rows[r->table[i]], r->work[i]);
    }
}

// Rows that began or ceased to hold: those in the RIM at any time within the step, also if they are back where they were; the others from
// one end of it to the other. Rows that were not there before count from where they are open.
static int count_switches(const ItmRim* rim, ItmBounded* b)
{
    int n = 0;
    for (int i = 0; i < b->nrow; i++) {
        const ItmRowRecord* last = itm_row_memory_find(&b->memory, b->rows[i].key);
        bool held = last != NULL && last->state == ITM_ROW_ACTIVE;
        n += b->blocks[b->rows[i].block].is_in_rim ? 0 : held != (b->state[i] == ITM_ROW_ACTIVE);
    }
    for (int i = 0; i < rim->contacts.problem.n; i++) {
        n += rim->contacts.has_changed[i];
    }
    return n;
}

// Bounded rows: v and v_mean with their impulses, correction the displacement of position correction.
static ItmStatus add_bounded(const ItmModel* m, ItmData* d, ItmRim* rim, double* v, double* v_mean, double* correction)
{
    ItmBounded* b = d->bounded;
    rim->nswitch = 0;
    if (b->nrow == 0) {
        itm_bounded_finish(m, d, v, correction);
        return ITM_OK;
    }
    itm_rim_contacts_end(rim);
    ItmStatus status = solve_others(m, d, rim, v);
    if (status != ITM_OK) {
        return status;
    }
    rim->nswitch = count_switches(rim, b);
    place(&rim->contacts, b->x, rim->contacts.Q1);
    itm_bounded_respond(m, d, v_mean, b->x, NULL);
    place(&rim->contacts, b->x, rim->contacts.Q0);
    place(&rim->contacts, b->x_correction, rim->contacts.correction);
    report(rim, d);
    itm_bounded_finish(m, d, v, correction);
    // where rows were solved for the whole step, positions go with the velocities at its end
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        if (rim->is_macro[m->component[i]]) {
            memcpy(v_mean + body->v_adr, v + body->v_adr, sizeof(double) * (size_t)body->nv);
        }
    }
    return ITM_OK;
}

// Impulses of the bilateral rows: free motion less what interface impulses take off. After the response to P0.
static void set_row_impulses(const ItmModel* m, ItmData* d, const ItmRim* rim)
{
    if (rim->forest.is_used) {
        memcpy(d->lambda, d->rows.x, sizeof(double) * (size_t)m->nrow);
        return;
    }
    for (int k = 0; k < m->nrow; k++) {
        d->lambda[k] = rim->H * rim->lambda[k];
        for (int i = 0; i < rim->n; i++) {
            d->lambda[k] -= rim->mu[i * m->nrow + k] * rim->P0[i];
        }
    }
}

// Works of forces over the step, with the mean of the velocities before and after it: for forces that are given, and for the damping of
// modes, that is what they add to the energy. The velocities before it alone would be off by half of what they change, every step
// alike. The configuration is that of the evaluation; wrench and tau are void afterwards.
static void book_forces(const ItmModel* m, ItmData* d, ItmRim* rim)
{
    double *v_end = d->x2, t = rim->t + rim->shift;
    for (int i = 0; i < m->nv; i++) {
        v_end[i] = d->v[i];
        d->v[i] = 0.5 * (rim->v_start[i] + v_end[i]);
    }
    itm_kinematics_compute_velocities(m, d, d->v);
    itm_forces_compute(m, d, t);
    if (m->nrow > 0) {
        itm_rows_compute_motion(m, d, t);
        itm_rows_add_damper_power(m, d);
    }
    for (int i = 0; i < ITM_LEDGER_FORCES; i++) {
        d->energy.ledger[i] += rim->H * d->energy.power[i];
    }
    memcpy(d->v, v_end, sizeof(double) * (size_t)m->nv);
}

// Works of the interfaces as the RIM had them.
static void book_interfaces(ItmData* d, const ItmRim* rim)
{
    for (int i = 0; i < rim->n; i++) {
        d->energy.ledger[rim->actuator[i] != ITM_NONE ? ITM_LEDGER_LOAD : ITM_LEDGER_INTERFACE] += rim->work[i];
    }
}

// Displacement that takes the length of interface i back by `beyond`: M^-1 a' beyond / W_ii.
static void move_interface(const ItmModel* m, ItmData* d, const ItmRim* rim, int i, double beyond)
{
    double scale = beyond / rim->W[i * rim->n + i];
    if (rim->forest.is_used) {
        memset(d->x4, 0, sizeof(double) * (size_t)m->nv);
        itm_rim_forest_push(m, d, rim, d->x4, i, scale);
    } else {
        for (int k = 0; k < m->nv; k++) {
            d->mass.y[k] = scale * rim->Y[i * m->nv + k];
        }
        itm_mass_solve_upper(m, d, d->x4);
    }
    itm_kinematics_integrate(m, d->q1, d->q, d->x4, 1.0);
    memcpy(d->q, d->q1, sizeof(double) * (size_t)m->nq);
}

// The rows of the RIM are linear: over a long and fast step the length curves past the end of a stroke. Take it back, by Newton's method with
// the mobility of the RIM.
static void stop_at_ends(const ItmModel* m, ItmData* d, const ItmRim* rim)
{
    bool is_beyond = d->stroke != NULL;
    for (int n = 0; is_beyond && n < MAX_END_CORRECTIONS; n++) {
        is_beyond = false;
        itm_kinematics_compute_positions(m, d, d->q);
        for (int i = 0; i < rim->n; i++) {
            int actuator = rim->actuator[i];
            if (actuator == ITM_NONE || !(rim->W[i * rim->n + i] > 0.0)) {
                continue;
            }
            double length =
                itm_measure_compute(m, d, &m->measures[m->scalar_forces[m->actuator_force[actuator]].measure]).value;
            double end = fmin(fmax(length, d->stroke[2 * actuator]), d->stroke[2 * actuator + 1]);
            if (fabs(end - length) > END_SLACK) {
                move_interface(m, d, rim, i, end - length);
                is_beyond = true;
            }
        }
    }
}

ItmStatus itm_rim_take_over(const ItmModel* m, ItmData* d, ItmRim* rim)
{
    double *v_mean = d->x1, *correction = d->x3, *v = d->v, H = rim->H;
    d->info.iterations = 0;
    memcpy(v_mean, v, sizeof(double) * (size_t)m->nv);
    memcpy(rim->v_start, v, sizeof(double) * (size_t)m->nv);
    itm_rim_respond(m, d, rim, v_mean, rim->theta * H, rim->P1);
    itm_rim_respond(m, d, rim, v, H, rim->P0);
    set_row_impulses(m, d, rim);
    book_interfaces(d, rim);
    memset(correction, 0, sizeof(double) * (size_t)m->nv);
    if (d->bounded != NULL) {
        ItmStatus status = add_bounded(m, d, rim, v, v_mean, correction);
        status = status == ITM_OK ? itm_step_judge(m, d) : status;
        if (status != ITM_OK) {
            return status;
        }
    }
    book_forces(m, d, rim);
    double* late = d->x2;  // displacement of fast components beside their drift with the velocities of the end
    for (int i = 0; i < m->nv; i++) {
        double drift = d->inertial.has_fast ? d->inertial.dv[i] : 0.0;
        late[i] = correction[i] + H * (v_mean[i] - v[i] + (1.0 - rim->theta) * drift);
        correction[i] += H * v_mean[i];
    }
    itm_kinematics_integrate(m, d->q, rim->q_start, correction, 1.0);
    d->position_state = ITM_POSITION_STALE;
    itm_inertial_finish(m, d, rim->q_start, late, H);
    stop_at_ends(m, d, rim);
    if (m->nrow > 0) {
        itm_euler_finish_rows(m, d, rim->t + H, H);
    } else if (m->nangle > 0) {
        itm_kinematics_compute_positions(m, d, d->q);
        itm_data_update_angles(m, d);
        d->position_state = ITM_POSITION_CURRENT;
    }
    itm_step_finish(m, d, rim->v_start, H);
    return ITM_OK;
}
