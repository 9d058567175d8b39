#include "multibody/latch.h"

#include "base/error.h"
#include "base/guard.h"
#include "multibody/dynamics.h"
#include "multibody/forces.h"
#include "multibody/kinematics.h"
#include "multibody/mass.h"
#include "multibody/measure.h"
#include "multibody/rows.h"

#include <string.h>

// ---------------------------------------------------------------------------- compilation

static bool compile_one(ItmModel* m, const ItmLatchDef* def)
{
    ItmLatch* latch = &m->latches[m->nlatch++];
    bool is_direction = def->kind == ITM_LATCH_DIRECTION;
    *latch = (ItmLatch){
        .name = itm_model_take_string(m, def->name),
        .kind = def->kind,
        .measure = is_direction ? m->joints[def->joint].measure[def->direction] : ITM_NONE,
        .body_a = is_direction || def->body_a == ITM_GROUND ? ITM_NONE : m->body_index[def->body_a],
        .body_b = is_direction || def->body_b == ITM_GROUND ? ITM_NONE : m->body_index[def->body_b],
        .block = ITM_NONE,
    };
    return latch->name != NULL;
}

// Insertion keeps events of one time in the order given.
static void insert_event(ItmModel* m, ItmEvent event)
{
    int i = m->nevent++;
    for (; i > 0 && m->events[i - 1].time > event.time; i--) {
        m->events[i] = m->events[i - 1];
    }
    m->events[i] = event;
}

bool itm_latch_compile(ItmModel* m, const ItmModelBuilder* b)
{
    m->latches = itm_model_take(m, (size_t)b->latches.count, sizeof *m->latches);
    m->events = itm_model_take(m, (size_t)b->events.count, sizeof *m->events);
    bool ok = m->latches != NULL && m->events != NULL;
    for (int i = 0; i < b->latches.count && ok; i++) {
        ok = compile_one(m, &b->latches.items[i]);
    }
    for (int i = 0; i < b->events.count && ok; i++) {
        const ItmEventDef* def = &b->events.items[i];
        insert_event(m, (ItmEvent){def->time, def->latch, def->closes});
    }
    return ok;
}

// ---------------------------------------------------------------------------- looking

ItmJoint itm_latch_get_joint(const ItmModel* m, const ItmData* d, int index)
{
    const ItmLatch* latch = &m->latches[index];
    const double* s = d->latch + ITM_LATCH_REALS * index + 1;
    return (ItmJoint){
        .type = ITM_JOINT_FIXED,
        .body_a = latch->body_a,
        .body_b = latch->body_b,
        .a = {itm_vec(s[0], s[1], s[2]), itm_quat_to_mat((ItmQuat){s[3], s[4], s[5], s[6]})},
        .b = {itm_vec(0, 0, 0), itm_mat_identity()},
    };
}

int itm_latch_count_open_rows(const ItmModel* m, const ItmData* d)
{
    int count = 0;
    for (int i = 0; i < m->nlatch; i++) {
        count += itm_latch_holds(d, i) ? 0 : m->blocks[m->latches[i].block].nrow;
    }
    return count;
}

// ---------------------------------------------------------------------------- switching

// Keep what the latch holds as it is now. After the velocity stage.
static void take_hold(const ItmModel* m, ItmData* d, int index)
{
    const ItmLatch* latch = &m->latches[index];
    double* s = d->latch + ITM_LATCH_REALS * index + 1;
    if (latch->kind == ITM_LATCH_DIRECTION) {
        s[0] = itm_measure_compute(m, d, &m->measures[latch->measure]).value;
        return;
    }
    int a = latch->body_a, b = latch->body_b;
    ItmVec3 p = itm_mat_t_mul_vec(&d->R[a], itm_vec_sub(d->x[b], d->x[a]));
    ItmMat3 R = itm_mat_t_mul(&d->R[a], &d->R[b]);
    ItmQuat q = itm_vec_quat_from_mat(&R);
    const double kept[7] = {p.x, p.y, p.z, q.w, q.x, q.y, q.z};
    memcpy(s, kept, sizeof kept);
}

// Open or close without regard to velocities; false if it is so already.
static bool switch_latch(const ItmModel* m, ItmData* d, int index, bool closes)
{
    if (itm_latch_holds(d, index) == closes) {
        return false;
    }
    if (closes) {
        take_hold(m, d, index);
    }
    d->latch[ITM_LATCH_REALS * index] = closes ? 1.0 : 0.0;
    const ItmRowBlock* block = &m->blocks[m->latches[index].block];
    for (int i = block->row; i < block->row + block->nrow; i++) {
        d->lambda[i] = 0.0;
        for (int k = 0; k < ITM_DRIFT_STEPS; k++) {
            d->rows.drift[ITM_DRIFT_STEPS * i + k] = 0.0;
        }
    }
    return true;
}

// The powers of the state before the switch end what the ledger has open.
static void close_ledger(const ItmModel* m, ItmData* d, double t)
{
    itm_dynamics_compute_right_side(m, d, t);
    if (m->nrow > 0) {
        itm_rows_compute(m, d, t);
        itm_rows_add_damper_power(m, d);
    }
    itm_data_read_ledger(d, d->energy.ledger);
    *d->energy.open = 0.0;
}

// v <- v - M^-1 A' H^-1 (A v - signal'). What it takes of the kinetic energy is an impact's loss, less what impulses of
// prescribed motions put in.
static void settle(const ItmModel* m, ItmData* d, double t)
{
    double before = itm_forces_compute_kinetic(m, d), motion_work = 0.0;
    itm_mass_factor(m, d);
    itm_rows_compute(m, d, t);
    itm_rows_compute_reference(m, d, d->rows.reference, t, 1);
    for (int i = 0; i < m->nrow; i++) {
        bool is_compliant = itm_block_is_compliant(&m->blocks[m->row_block[i]]);
        d->rows.omega[i] = is_compliant ? ITM_OMEGA_IDLE : 0.0;
        d->rows.x[i] = is_compliant ? 0.0 : -d->rows.rate[i];
    }
    itm_rows_factor(m, d, 0.0);
    itm_blocks_solve(&m->pattern, &d->rows.factor, d->rows.x);
    itm_rows_apply(m, d, d->v, d->rows.x);
    for (int i = 0; i < m->nrow; i++) {
        bool is_motion = m->blocks[m->row_block[i]].kind == ITM_BLOCK_MOTION;
        motion_work += is_motion ? d->rows.x[i] * d->rows.reference[i] : 0.0;
    }
    itm_kinematics_compute_velocities(m, d, d->v);
    d->energy.ledger[ITM_LEDGER_MOTION] += motion_work;
    d->energy.ledger[ITM_LEDGER_IMPACT] += before - itm_forces_compute_kinetic(m, d) + motion_work;
}

// Switch latches at the present time; the times of the events do not matter here.
static void switch_all(const ItmModel* m, ItmData* d, const ItmEvent* events, int count)
{
    double t = itm_data_get_time(d);
    bool has_closed = false, has_changed = false;
    itm_data_refresh(m, d);
    close_ledger(m, d, t);
    for (int i = 0; i < count; i++) {
        bool is_changed = switch_latch(m, d, events[i].latch, events[i].closes);
        has_changed = has_changed || is_changed;
        has_closed = has_closed || (is_changed && events[i].closes);
    }
    if (has_closed) {
        settle(m, d, t);
    }
    if (has_changed) {
        d->position_state = ITM_POSITION_STALE;  // the factors of the last step have other rows
    }
}

void itm_latch_apply_events(const ItmModel* m, ItmData* d)
{
    if (m->nevent == 0) {
        return;
    }
    // decimal times and steps are not exact in binary
    double now = itm_data_get_time(d) + 1e-9 * d->options.step;
    double stored = *d->next_event;  // a foreign state may have any number
    int first = stored >= 0.0 && stored <= m->nevent ? (int)stored : m->nevent, next = first;
    while (next < m->nevent && m->events[next].time <= now) {
        next++;
    }
    if (next > first) {
        switch_all(m, d, m->events + first, next - first);
        *d->next_event = next;
    }
}

ItmStatus itm_latch_set(const ItmModel* m, ItmData* d, int latch, bool is_closed)
{
    ITM_GUARD(m != NULL && d != NULL, ITM_ERR_ARGUMENT);
    if (latch < 0 || latch >= m->nlatch) {
        return itm_error_set(&d->error, ITM_ERR_ARGUMENT, __func__, "latch", "there is no latch %d: the model has %d",
                             latch, m->nlatch);
    }
    const ItmEvent event = {.latch = latch, .closes = is_closed};
    switch_all(m, d, &event, 1);
    return ITM_OK;
}

bool itm_latch_is_closed(const ItmModel* m, const ItmData* d, int latch)
{
    ITM_GUARD(m != NULL && d != NULL, false);
    return latch >= 0 && latch < m->nlatch && itm_latch_holds(d, latch);
}

int itm_latch_find(const ItmModel* m, const char* name)
{
    ITM_GUARD(m != NULL, ITM_NONE);
    for (int i = 0; i < m->nlatch; i++) {
        if (strcmp(m->latches[i].name, name) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}
