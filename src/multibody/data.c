// Memory and state of a running instance.
#include "multibody/data.h"

#include "base/error.h"
#include "base/guard.h"
#include "mlcp/workspace.h"
#include "multibody/bounded.h"
#include "multibody/clearance.h"
#include "multibody/forces.h"
#include "multibody/kinematics.h"
#include "multibody/latch.h"
#include "multibody/measure.h"
#include "multibody/rows.h"
#include "multibody/sleep.h"
#include "multibody/stiffness.h"

#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- memory

// Reals of the state, in the order of ItmData. Called while measuring with state NULL.
static int lay_out_state(const ItmModel* m, ItmData* d, double* state)
{
    int used = 0;
    const struct {
        double** field;
        int count;
    } parts[] = {
        {&d->steps, 1},
        {&d->q, m->nq},
        {&d->v, m->nv},
        {&d->a, d->options.stepper == ITM_STEPPER_ALI3P ? m->nv : 0},
        {&d->v_rate, m->narticulated > 0 ? 2 * m->nv : 0},
        {&d->was_fast, m->nbody},
        {&d->lambda, m->nrow},
        {&d->rows.drift, ITM_DRIFT_STEPS * m->nrow},
        {&d->angle, m->nangle},
        {&d->input, m->nactuator},
        {&d->external, ITM_EXTERNAL_REALS * m->nexternal},
        {&d->energy.ledger, ITM_LEDGER_COUNT},
        {&d->energy.power_prev, ITM_LEDGER_COUNT},
        {&d->energy.open, 1},
        {&d->energy.start, 1},
        {&d->energy.impact_peak, 1},
        {&d->v_raw, m->nclearance > 0 ? m->nv : 0},
        {&d->time, 1},
        {&d->step_size, 1},
        {&d->clearance.open, m->nclearance_point},
        {&d->clearance.tally, m->nclearance * ITM_TALLY_COUNT},
        {&d->latch, ITM_LATCH_REALS * m->nlatch},
        {&d->next_event, 1},
        {&d->step_hint, 1},
        {&d->energy.elastic, 1},
        {&d->sleep.rest, d->sleep.n},
        {&d->sleep.island, d->sleep.n},
        {&d->sleep.contact, ITM_SLEEP_CONTACT * d->sleep.n},
        {&d->sleep.elastic, d->sleep.n},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        *parts[i].field = state != NULL ? state + used : NULL;
        used += parts[i].count;
    }
    return used;
}

// An array over bodies with the world's element before it.
#define TAKE_BODIES(arena, type, n)                                                                                    \
    ((arena)->block != NULL ? ITM_TAKE(arena, type, (n) + 1) + 1 : ITM_TAKE(arena, type, (n) + 1))

// The table of bounded rows, behind everything else.
static void lay_out_bounded(const ItmModel* m, ItmData* d)
{
    ItmBounded measured = {0};
    ItmBounded* b = ITM_TAKE(&d->arena, ItmBounded, 1);
    itm_bounded_lay_out(m, b != NULL ? b : &measured, &d->arena, m->ncontact_max);
    d->bounded = b;
}

// Arrays that are never in use together share memory. Where a component is fast the forest of rows is not used, and the velocity stage of
// the middle of the step, the wrenches for outputs and the scratch of rows are only needed while nothing drifts. Articulated inertias are
// needed while M is factored, wrenches along a path afterwards.
static void lay_out_shared(const ItmModel* m, ItmData* d)
{
    ItmArena* arena = &d->arena;
    size_t start = arena->used;
    int ny = m->nq + m->nv + m->nrow;
    d->inertial.q = ITM_TAKE(arena, double, m->nq);
    d->inertial.y = ITM_TAKE(arena, double, 3 * ny);
    d->inertial.work = ITM_TAKE(arena, double, (ITM_INERTIAL_COLUMNS + 3) * ny);
    size_t end = arena->used;

    arena->used = start;
    d->spanning.nodes = ITM_TAKE(arena, ItmSpanned, m->nspanning);
    d->spanning.rows = ITM_TAKE(arena, ItmSpannedRows, m->nspanning);
    d->spanning.placed = ITM_TAKE(arena, ItmSpannedRows, m->nspanning);
    d->spanning.S = ITM_TAKE(arena, ItmSpatial, m->nspanning_free);
    d->spanning.G = ITM_TAKE(arena, ItmSpatial, m->nspanning_free);
    d->spanning.L = ITM_TAKE(arena, double, m->nspanning_L);
    d->spanning.y = ITM_TAKE(arena, double, m->nspanning_free);
    d->rows.scratch = ITM_TAKE(arena, double, 4 * m->nrow);
    d->inertial.twist_ahead = TAKE_BODIES(arena, ItmSpatial, m->narticulated > 0 ? m->nbody : 0);
    d->inertial.bias_ahead = TAKE_BODIES(arena, ItmSpatial, m->narticulated > 0 ? m->nbody : 0);
    d->joint_wrench = TAKE_BODIES(arena, ItmSpatial, m->nbody);
    arena->used = start = arena->used > end ? arena->used : end;

    d->mass.IA = ITM_TAKE(arena, ItmArticulated, m->ntree);
    end = arena->used;
    arena->used = start;
    // interfaces have one row, joints and contacts up to ITM_BLOCK_MAX
    int nrow_max = m->nblock > 0 || itm_model_has_bounds(m) ? ITM_BLOCK_MAX : 1;
    d->path_wrench = ITM_TAKE(arena, ItmSpatial, nrow_max * m->npath_max);
    arena->used = arena->used > end ? arena->used : end;
}

static void lay_out(const ItmModel* m, ItmData* d)
{
    ItmArena* arena = &d->arena;
    int nb = m->nbody, nv = m->nv, nrow = m->nrow;
    d->sleep.n = m->contact != NULL && m->contact_options.sleep_after > 0.0 ? nb : 0;
    d->nstate = lay_out_state(m, d, NULL);
    d->state = ITM_TAKE(arena, double, d->nstate);
    lay_out_state(m, d, d->state);

    d->sleep.can_sleep = ITM_TAKE(arena, bool, d->sleep.n);
    d->x = TAKE_BODIES(arena, ItmVec3, nb);
    d->R = TAKE_BODIES(arena, ItmMat3, nb);
    d->r = TAKE_BODIES(arena, ItmVec3, nb);
    d->S = ITM_TAKE(arena, ItmSpatial, m->nv_tree);
    d->flex.eta = ITM_TAKE(arena, double, m->nmode);
    d->flex.B = ITM_TAKE(arena, ItmMat3, m->nmode);
    d->flex.U = ITM_TAKE(arena, ItmSpatial, m->nmode);
    d->flex.alpha = ITM_TAKE(arena, double, m->nmode);
    d->flex.beta = ITM_TAKE(arena, double, m->nmode);
    d->flex.c = ITM_TAKE(arena, ItmVec3, m->nflexible);
    d->flex.J = ITM_TAKE(arena, ItmSym3, m->nflexible);
    d->flex.node_S = ITM_TAKE(arena, ItmSpatial, m->nnode_S);
    d->flex.node_turn = ITM_TAKE(arena, ItmVec3, m->nnode);
    d->twist = TAKE_BODIES(arena, ItmSpatial, nb);
    d->accel_bias = TAKE_BODIES(arena, ItmSpatial, nb);
    d->mass.J = TAKE_BODIES(arena, ItmSym3, nb);
    d->mass.G = ITM_TAKE(arena, ItmSpatial, m->nv_tree);
    d->mass.L = ITM_TAKE(arena, double, m->nL);
    d->mass.y = ITM_TAKE(arena, double, nv);
    d->flex.force = ITM_TAKE(arena, double, m->nmode);
    d->wrench = TAKE_BODIES(arena, ItmSpatial, nb);
    d->tau = ITM_TAKE(arena, double, nv);
    d->scalar_force = ITM_TAKE(arena, double, m->nscalar_force);
    d->scalar_measured = ITM_TAKE(arena, ItmMeasured, m->nscalar_force);

    d->rows.gap = ITM_TAKE(arena, double, nrow);
    d->rows.rate = ITM_TAKE(arena, double, nrow);
    d->rows.bias = ITM_TAKE(arena, double, nrow);
    d->rows.reference = ITM_TAKE(arena, double, nrow);
    d->rows.cov = ITM_TAKE(arena, ItmSpatial, m->ncov);
    d->rows.Y = ITM_TAKE(arena, double, m->nY);
    d->rows.omega = ITM_TAKE(arena, double, nrow);
    d->rows.gamma = ITM_TAKE(arena, double, nrow);
    d->rows.guess = ITM_TAKE(arena, double, nrow);
    d->rows.before = ITM_TAKE(arena, double, nrow);
    d->rows.x = ITM_TAKE(arena, double, nrow);
    d->rows.factor.L = ITM_TAKE(arena, double, m->pattern.nvalue);
    d->rows.factor.inv_diag = ITM_TAKE(arena, double, nrow);
    d->rows.factor.scale = ITM_TAKE(arena, double, nrow);
    d->rows.factor.map = ITM_TAKE(arena, int, m->nblock);

    d->accel = TAKE_BODIES(arena, ItmSpatial, nb);
    lay_out_shared(m, d);
    double** velocities[] = {&d->x1, &d->x2, &d->x3, &d->x4};
    for (int i = 0; i < 4; i++) {
        *velocities[i] = ITM_TAKE(arena, double, nv);
    }
    d->q1 = ITM_TAKE(arena, double, m->nq);
    d->stiffness_scratch = ITM_TAKE(arena, double, 4 * itm_stiffness_count(m));
    d->state_backup = ITM_TAKE(arena, double, d->nstate);
    d->inertial.is_fast = ITM_TAKE(arena, bool, nb);
    d->inertial.component_size = ITM_TAKE(arena, int, nb);
    d->inertial.dv = ITM_TAKE(arena, double, nv);
    d->inertial.state = ITM_TAKE(arena, signed char, nb);
    d->inertial.size = ITM_TAKE(arena, double, 2 * nb);
    d->clearance.points = ITM_TAKE(arena, ItmClearancePoint, m->nclearance_point);
    bool has_strokes = d->options.has_actuator_limits && m->nactuator > 0;
    d->stroke = has_strokes ? ITM_TAKE(arena, double, 2 * m->nactuator) : NULL;
    if (itm_model_has_bounds(m) || has_strokes) {
        lay_out_bounded(m, d);
    }
}

size_t itm_data_measure(const ItmModel* m)
{
    ItmData d = {0};
    size_t workspace = 0;
    lay_out(m, &d);
    if (itm_model_has_bounds(m)) {
        ItmBounded b = {0};
        ItmArena arena = {0};
        itm_bounded_lay_out(m, &b, &arena, m->ncontact_max);
        ItmMlcpCapacity capacity = itm_default_mlcp_capacity(b.capacity.island, b.capacity.coupling);
        workspace = itm_mlcp_workspace_measure(&capacity);
    }
    return sizeof d + d.arena.used + workspace;
}

ItmStatus itm_data_init(ItmData** data, const ItmModel* m, const ItmStepOptions* options, ItmError* error)
{
    ItmData* d = calloc(1, sizeof *d);
    if (d != NULL) {
        d->options = *options;
        lay_out(m, d);
    }
    if (d == NULL || itm_arena_allocate(&d->arena) != 0) {
        free(d);
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory for a data object of %d bodies",
                             m->nbody);
    }
    d->model = m;
    d->h = options->step;
    d->stop_time = INFINITY;
    lay_out(m, d);
    for (int i = 0; d->stroke != NULL && i < m->nactuator; i++) {
        d->stroke[2 * i] = -INFINITY;
        d->stroke[2 * i + 1] = INFINITY;
    }
    itm_sleep_find_sleepers(m, d);
    d->R[ITM_NONE] = itm_mat_identity();
    for (int i = 0; i < m->nbody; i++) {
        if (m->bodies[i].mobility == ITM_MOBILIZER_FREE && !m->bodies[i].is_root_leaf) {
            ItmSpatial* S = d->S + m->bodies[i].v_adr;
            S[0].lin.x = S[1].lin.y = S[2].lin.z = 1.0;  // the rest is 0, or set with the pose
        }
    }
    ItmStatus status = d->bounded != NULL ? itm_bounded_create_workspace(d->bounded, &d->bounded->work, error) : ITM_OK;
    if (status != ITM_OK) {
        itm_data_free(d);
        return status;
    }
    *data = d;
    return ITM_OK;
}

void itm_data_free(ItmData* d)
{
    if (d->bounded != NULL) {
        itm_bounded_set_pool(d->model, d->bounded, NULL, NULL);
        itm_mlcp_workspace_destroy(d->bounded->work.workspace);
    }
    itm_pool_destroy(d->pool);
    itm_arena_free(&d->arena);
    free(d);
}

ItmStatus itm_data_set_threads(const ItmModel* m, ItmData* d, int nthread)
{
    ITM_GUARD(m != NULL && d != NULL, ITM_ERR_ARGUMENT);
    if (nthread < 1 || nthread > ITM_POOL_MOST_THREADS) {
        return itm_error_set(&d->error, ITM_ERR_ARGUMENT, __func__, NULL, "threads must be 1 to %d, got %d",
                             ITM_POOL_MOST_THREADS, nthread);
    }
    if (d->bounded == NULL) {
        return ITM_OK;  // nothing to share
    }
    itm_bounded_set_pool(m, d->bounded, NULL, NULL);
    itm_pool_destroy(d->pool);
    d->pool = nthread > 1 ? itm_pool_create(nthread) : NULL;
    if (nthread > 1 && d->pool == NULL) {
        return itm_error_set(&d->error, ITM_ERR_MEMORY, __func__, NULL, "the system gave no %d threads", nthread);
    }
    return itm_bounded_set_pool(m, d->bounded, d->pool, &d->error);
}

// ---------------------------------------------------------------------------- state

void itm_data_reset_to_start(const ItmModel* m, ItmData* d)
{
    memset(d->state, 0, sizeof(double) * (size_t)d->nstate);
    memcpy(d->q, m->start, sizeof(double) * (size_t)m->nq);
    memcpy(d->v, m->start + m->nq, sizeof(double) * (size_t)m->nv);
    memcpy(d->angle, m->start + m->nq + m->nv, sizeof(double) * (size_t)m->nangle);
    d->info = (ItmStepInfo){0};
    if (d->bounded != NULL) {
        itm_bounded_clear(d->bounded);
        itm_row_memory_clear(&d->bounded->memory);
    }
    itm_kinematics_compute_positions(m, d, d->q);
    itm_kinematics_compute_velocities(m, d, d->v);
    itm_rows_compute(m, d, 0.0);
    *d->energy.start = itm_forces_compute_kinetic(m, d) + itm_forces_compute_potential(m, d);
    d->position_state = ITM_POSITION_STALE;
    itm_latch_apply_events(m, d);
}

double itm_data_get_time(const ItmData* d)
{
    ITM_GUARD(d != NULL, 0.0);
    return itm_stepper_is_variable(d->options.stepper) ? *d->time : *d->steps * d->options.step;
}

double itm_data_get_step_size(const ItmData* d)
{
    ITM_GUARD(d != NULL, 0.0);
    return *d->step_size > 0.0 ? *d->step_size : d->options.step;
}

void itm_data_set_stop_time(ItmData* d, double time)
{
    ITM_GUARD_VOID(d != NULL);
    d->stop_time = time;
}

const double* itm_data_get_q(const ItmData* d)
{
    ITM_GUARD(d != NULL, NULL);
    return d->q;
}

const double* itm_data_get_v(const ItmData* d)
{
    ITM_GUARD(d != NULL, NULL);
    return d->v;
}

ItmStepInfo itm_data_get_step_info(const ItmData* d)
{
    ITM_GUARD(d != NULL, (ItmStepInfo){0});
    return d->info;
}

const ItmError* itm_data_get_error(const ItmData* d)
{
    return &d->error;
}

static void forget_rates(const ItmModel* m, ItmData* d)
{
    memset(d->v_rate, 0, sizeof(double) * (size_t)(m->narticulated > 0 ? 2 * m->nv : 0));
    memset(d->was_fast, 0, sizeof(double) * (size_t)m->nbody);
}

// The smaller of two numbers of one sign; of different signs, 0.
static double min_mod(double x, double y)
{
    double least = fabs(x) < fabs(y) ? x : y;
    return x * y > 0.0 ? least : 0.0;
}

void itm_data_note_rates(const ItmModel* m, ItmData* d, const double* v_start, double h)
{
    double *last = d->v_rate, *trend = d->v_rate + m->nv, per_h = h > 0.0 ? 1.0 / h : 0.0;
    for (int i = 0; m->narticulated > 0 && i < m->nv; i++) {
        double rate = per_h * (d->v[i] - v_start[i]);
        trend[i] = min_mod(rate, last[i]);
        last[i] = rate;
    }
}

ItmStatus itm_data_set_qv(const ItmModel* m, ItmData* d, const double* q, const double* v)
{
    ITM_GUARD(m != NULL && d != NULL && q != NULL && v != NULL, ITM_ERR_ARGUMENT);
    for (int i = 0; i < m->nq + m->nv; i++) {
        double value = i < m->nq ? q[i] : v[i - m->nq];
        if (!isfinite(value)) {
            return itm_error_set(&d->error, ITM_ERR_ARGUMENT, __func__, NULL, "%s[%d] is not finite",
                                 i < m->nq ? "q" : "v", i < m->nq ? i : i - m->nq);
        }
    }
    memcpy(d->v, v, sizeof(double) * (size_t)m->nv);
    memset(d->rows.drift, 0, sizeof(double) * ITM_DRIFT_STEPS * (size_t)m->nrow);
    forget_rates(m, d);
    itm_sleep_wake_all(d);
    // adding nothing normalises the quaternions
    memset(d->x1, 0, sizeof(double) * (size_t)m->nv);
    itm_kinematics_integrate(m, d->q, q, d->x1, 0.0);
    if (m->nangle > 0) {
        itm_kinematics_compute_positions(m, d, d->q);
        itm_kinematics_compute_velocities(m, d, d->v);
        itm_data_update_angles(m, d);
    }
    d->position_state = ITM_POSITION_STALE;
    return ITM_OK;
}

ItmStatus itm_data_set_actuator_force(const ItmModel* m, ItmData* d, int actuator, double force)
{
    ITM_GUARD(m != NULL && d != NULL, ITM_ERR_ARGUMENT);
    if (actuator < 0 || actuator >= m->nactuator || !isfinite(force)) {
        return itm_error_set(&d->error, ITM_ERR_ARGUMENT, __func__, NULL,
                             "actuator %d of %d, force %g: no such actuator or not a finite force", actuator,
                             m->nactuator, force);
    }
    if (d->input[actuator] != force) {
        itm_data_close_ledger(m, d);
        d->input[actuator] = force;
        itm_data_restart_ledger(m, d);
    }
    return ITM_OK;
}

ItmStatus itm_data_set_actuator_limits(const ItmModel* m, ItmData* d, int actuator, double lower, double upper)
{
    ITM_GUARD(m != NULL && d != NULL, ITM_ERR_ARGUMENT);
    if (actuator < 0 || actuator >= m->nactuator || !(lower <= upper) || d->stroke == NULL) {
        return itm_error_set(&d->error, ITM_ERR_ARGUMENT, __func__, NULL,
                             "actuator %d of %d, limits [%g, %g]: no such actuator, limits in the wrong order, or "
                             "step options without has_actuator_limits",
                             actuator, m->nactuator, lower, upper);
    }
    d->stroke[2 * actuator] = lower;
    d->stroke[2 * actuator + 1] = upper;
    return ITM_OK;
}

ItmStatus itm_data_set_signal(const ItmModel* m, ItmData* d, int signal, double value, double time)
{
    ITM_GUARD(m != NULL && d != NULL, ITM_ERR_ARGUMENT);
    int index = signal >= 0 && signal < m->nsignal ? m->signals[signal].external : ITM_NONE;
    if (index == ITM_NONE || !isfinite(value) || !(time > 0.0)) {
        return itm_error_set(&d->error, ITM_ERR_ARGUMENT, __func__, NULL,
                             "signal %d, value %g, time %g: not an external signal, or not finite", signal, value,
                             time);
    }
    const ItmSignalDef* def = &m->signals[signal].def;
    double t = itm_data_get_time(d), now = itm_data_compute_signal(m, d, signal, t).x - def->value;
    double* external = d->external + ITM_EXTERNAL_REALS * index;
    double slope = (value - def->value - now) / time;
    external[ITM_EXTERNAL_CHANGE] = def->is_smooth ? (slope - external[ITM_EXTERNAL_SLOPE]) / time : slope;
    external[ITM_EXTERNAL_OFFSET] = def->is_smooth ? now : value - def->value;
    external[ITM_EXTERNAL_SLOPE] = def->is_smooth ? slope : 0.0;
    external[ITM_EXTERNAL_TIME] = t;
    return ITM_OK;
}

ItmSignalValue itm_data_compute_signal(const ItmModel* m, const ItmData* d, int signal, double t)
{
    const ItmSignal* s = &m->signals[signal];
    ItmSignalValue value = itm_signal_compute(s, t);
    if (s->external != ITM_NONE) {
        const double* external = d->external + ITM_EXTERNAL_REALS * s->external;
        value.x += external[ITM_EXTERNAL_OFFSET] + external[ITM_EXTERNAL_SLOPE] * (t - external[ITM_EXTERNAL_TIME]);
        double change = d->has_jumps ? 0.0 : external[ITM_EXTERNAL_CHANGE];
        value.x_dot = s->def.is_smooth ? external[ITM_EXTERNAL_SLOPE] : change;
        value.x_ddot = s->def.is_smooth ? change : 0.0;
    }
    return value;
}

size_t itm_data_get_state_size(const ItmModel* m, const ItmData* d)
{
    ITM_GUARD(m != NULL && d != NULL, 0);
    (void)m;
    size_t bounded = d->bounded != NULL ? itm_row_memory_get_size(&d->bounded->memory) : 0;
    return sizeof(double) * (size_t)d->nstate + bounded;
}

static ItmStatus check_state_size(const ItmModel* m, const ItmData* d, size_t size, ItmError* error)
{
    size_t expected = itm_data_get_state_size(m, d);
    if (size != expected) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "a state has %zu bytes, got %zu", expected, size);
    }
    return ITM_OK;
}

ItmStatus itm_data_save(const ItmModel* m, const ItmData* d, void* bytes, size_t size)
{
    ITM_GUARD(m != NULL && d != NULL && bytes != NULL, ITM_ERR_ARGUMENT);
    ItmStatus status = check_state_size(m, d, size, NULL);
    size_t reals = sizeof(double) * (size_t)d->nstate;
    if (status == ITM_OK) {
        memcpy(bytes, d->state, reals);
    }
    if (status == ITM_OK && d->bounded != NULL) {
        itm_row_memory_save(&d->bounded->memory, (char*)bytes + reals);
    }
    return status;
}

ItmStatus itm_data_restore(const ItmModel* m, ItmData* d, const void* bytes, size_t size)
{
    ITM_GUARD(m != NULL && d != NULL, ITM_ERR_ARGUMENT);
    ItmStatus status = check_state_size(m, d, size, &d->error);
    size_t reals = sizeof(double) * (size_t)d->nstate;
    if (status == ITM_OK) {
        memcpy(d->state, bytes, reals);
        d->position_state = ITM_POSITION_STALE;
    }
    if (status == ITM_OK && d->bounded != NULL) {
        itm_bounded_clear(d->bounded);
        itm_row_memory_restore(&d->bounded->memory, (const char*)bytes + reals);
    }
    return status;
}

// ---------------------------------------------------------------------------- ledger

// The open half step of the forces' accounts, by the trapezoidal rule.
static void add_open(const ItmData* d, double booked[ITM_LEDGER_COUNT])
{
    for (int i = 0; i < ITM_LEDGER_FORCES; i++) {
        booked[i] += 0.5 * *d->energy.open * (d->energy.power_prev[i] + d->energy.power[i]);
    }
}

void itm_data_read_ledger(const ItmData* d, double booked[ITM_LEDGER_COUNT])
{
    memcpy(booked, d->energy.ledger, sizeof(double) * ITM_LEDGER_COUNT);
    add_open(d, booked);
    // rows that stay closed on a curve do numerical work, up to 0.7 % of the loss in the examples: constraint work, not a gain by impacts
    double impact = fmax(*d->energy.impact_peak, booked[ITM_LEDGER_IMPACT]);
    booked[ITM_LEDGER_CONSTRAINT] += impact - booked[ITM_LEDGER_IMPACT];
    booked[ITM_LEDGER_IMPACT] = impact;
}

void itm_data_advance_ledger(ItmData* d, double h)
{
    add_open(d, d->energy.ledger);
    memcpy(d->energy.power_prev, d->energy.power, sizeof d->energy.power);
    *d->energy.open = h;
}

void itm_data_refresh_energy(const ItmModel* m, ItmData* d)
{
    itm_data_refresh(m, d);
    if (m->has_compliant_rows) {
        itm_rows_compute(m, d, itm_data_get_time(d));
    }
}

// d->energy.power of forces and dampers at the present state.
static void compute_force_powers(const ItmModel* m, ItmData* d)
{
    itm_data_refresh_energy(m, d);
    itm_forces_compute(m, d, itm_data_get_time(d));
    itm_rows_add_damper_power(m, d);
}

void itm_data_close_ledger(const ItmModel* m, ItmData* d)
{
    if (*d->energy.open > 0.0) {
        compute_force_powers(m, d);
        add_open(d, d->energy.ledger);
        *d->energy.open = 0.0;
    }
}

void itm_data_restart_ledger(const ItmModel* m, ItmData* d)
{
    if (d->options.stepper == ITM_STEPPER_ALI3P && *d->steps > 0.0) {
        compute_force_powers(m, d);
        memcpy(d->energy.power_prev, d->energy.power, sizeof(double) * ITM_LEDGER_FORCES);
    }
}

// ---------------------------------------------------------------------------- angles and bodies

void itm_data_update_angles(const ItmModel* m, ItmData* d)
{
    for (int i = 0; m->nangle > 0 && i < m->nmeasure; i++) {
        const ItmMeasure* measure = &m->measures[i];
        if (measure->angle != ITM_NONE) {
            d->angle[measure->angle] = itm_measure_compute_value(m, d, d->q, measure);
        }
    }
}

void itm_data_refresh(const ItmModel* m, ItmData* d)
{
    if (d->position_state != ITM_POSITION_LOOKED) {
        itm_kinematics_compute_positions(m, d, d->q);
        itm_kinematics_compute_velocities(m, d, d->v);
        d->position_state = ITM_POSITION_LOOKED;
    }
}

static const ItmPose GROUND_POSE = {.q = {1.0, 0.0, 0.0, 0.0}};

ItmPose itm_data_get_body_pose(const ItmModel* m, ItmData* d, int body)
{
    ITM_GUARD(m != NULL && d != NULL && ITM_IS_INDEX(body, m->nuser), GROUND_POSE);
    itm_data_refresh(m, d);
    int i = m->body_index[body];
    ItmVec3 offset = itm_mat_mul_vec(&d->R[i], m->bodies[i].com);
    return (ItmPose){itm_vec_sub(d->x[i], offset), itm_vec_quat_from_mat(&d->R[i])};
}

ItmVec3 itm_data_get_body_velocity(const ItmModel* m, ItmData* d, int body)
{
    ITM_GUARD(m != NULL && d != NULL && ITM_IS_INDEX(body, m->nuser), (ItmVec3){0});
    itm_data_refresh(m, d);
    int i = m->body_index[body];
    ItmVec3 offset = itm_mat_mul_vec(&d->R[i], m->bodies[i].com);
    return itm_twist_shift(d->twist[i], itm_vec_neg(offset)).lin;
}

ItmVec3 itm_data_get_body_angular_velocity(const ItmModel* m, ItmData* d, int body)
{
    ITM_GUARD(m != NULL && d != NULL && ITM_IS_INDEX(body, m->nuser), (ItmVec3){0});
    itm_data_refresh(m, d);
    return d->twist[m->body_index[body]].ang;
}
