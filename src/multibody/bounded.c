#include "multibody/bounded.h"

#include "base/error.h"
#include "mlcp/least_norm.h"
#include "multibody/bounded_nodes.h"
#include "multibody/kinematics.h"
#include "multibody/mass.h"
#include "multibody/measure.h"
#include "multibody/rows.h"

#include <limits.h>
#include <string.h>

// ---------------------------------------------------------------------------- memory

#define ROWS_PER_CONTACT 6         // normal, two tangents, torsion, two rolling
#define STROKE_ACCELERATION 200.0  // m/s^2, rad/s^2: that actuators are expected to have at most
#define LARGEST_DENSE_ISLAND 600   // rows; a dense matrix of that size has 3 MB

// Numbers of rows and places are ints. What does not fit is reported when a step needs it.
static int fit_int(double count)
{
    return count < INT_MAX / 2 ? (int)count : INT_MAX / 2;
}

// Bodies beside two that rows of limits may touch, in all: of ropes over several bodies.
static int count_others(const ItmModel* m)
{
    int n = 0;
    for (int i = 0; i < m->nlimit + m->nactuator; i++) {
        n += 2 * m->measures[m->limits[i].measure].nother;
    }
    return n;
}

static void set_capacities(const ItmModel* m, ItmBounded* b, int ncontact)
{
    int nother = count_others(m);
    int njoint = 2 * (m->nlimit + m->nactuator) + m->njoint_friction + m->nmotor;
    b->capacity.row = fit_int(njoint + m->nclearance_row + (double)ROWS_PER_CONTACT * ncontact);
    b->capacity.block = njoint + m->nclearance_point + ncontact;
    b->capacity.coupling = fit_int(m->nclearance_point + 4.0 * ncontact);
    b->capacity.path = fit_int(m->depth * (2.0 * b->capacity.block + nother));
    b->capacity.cov = fit_int(2.0 * b->capacity.row + nother);
    b->capacity.Y = fit_int(m->depth_velocities * (2.0 * b->capacity.row + nother));
    b->capacity.island = b->capacity.row < LARGEST_DENSE_ISLAND ? b->capacity.row : LARGEST_DENSE_ISLAND;
}

static void lay_out_table(ItmBounded* b, ItmArena* arena, int nbody)
{
    b->rows = ITM_TAKE(arena, ItmRow, b->capacity.row);
    b->blocks = ITM_TAKE(arena, ItmBoundBlock, b->capacity.block);
    b->couplings = ITM_TAKE(arena, ItmMlcpContact, b->capacity.coupling);
    b->path = ITM_TAKE(arena, int, 2 * b->capacity.path);
    b->cov = ITM_TAKE(arena, ItmSpatial, b->capacity.cov);
    b->Y = ITM_TAKE(arena, double, b->capacity.Y);
    b->x = ITM_TAKE(arena, double, b->capacity.row);
    b->v_after = ITM_TAKE(arena, double, b->capacity.row);
    b->state = ITM_TAKE(arena, signed char, b->capacity.row);
    b->body_force = ITM_TAKE(arena, ItmBoundForce, nbody);
    itm_row_memory_lay_out(&b->memory, arena, b->capacity.row);
    b->x_correction = ITM_TAKE(arena, double, b->capacity.row);
    b->projection.lo = ITM_TAKE(arena, double, b->capacity.row);
    b->projection.up = ITM_TAKE(arena, double, b->capacity.row);
    b->projection.x = ITM_TAKE(arena, double, b->capacity.row);
}

static void lay_out_islands(const ItmModel* m, ItmBounded* b, ItmArena* arena)
{
    b->islands.root = ITM_TAKE(arena, int, m->nbody);
    b->islands.head = ITM_TAKE(arena, int, m->nbody);
    b->islands.tail = ITM_TAKE(arena, int, m->nbody);
    b->islands.names = ITM_TAKE(arena, int, b->capacity.block);
    b->islands.local = ITM_TAKE(arena, int, b->capacity.row);
    b->islands.body_head = ITM_TAKE(arena, int, m->nbody);
    b->islands.order = ITM_TAKE(arena, int, b->capacity.block);
    b->islands.reports = ITM_TAKE(arena, ItmBoundReport, b->capacity.block);
    int most = b->capacity.island < ITM_REFINE_MOST ? b->capacity.island : ITM_REFINE_MOST;
    b->refined.work = ITM_TAKE(arena, double, most*(most + ITM_LEAST_NORM_SCRATCH));
    b->refined.part = ITM_TAKE(arena, signed char, most);
    b->refined.is_redundant = ITM_TAKE(arena, signed char, b->capacity.row);
}

static void lay_out_work(const ItmModel* m, const ItmBounded* b, ItmBoundWork* work, ItmArena* arena)
{
    int n = b->capacity.island, nnode = m->ncontact_max > 0 ? m->velocity_nodes.n : 0;
    work->global = ITM_TAKE(arena, int, n);
    work->list = ITM_TAKE(arena, int, n);
    work->entry_block = ITM_TAKE(arena, int, b->capacity.path);
    work->entry_at = ITM_TAKE(arena, int, b->capacity.path);
    work->entry_y = ITM_TAKE(arena, int, b->capacity.path);
    work->entry_next = ITM_TAKE(arena, int, b->capacity.path);
    work->Z = ITM_TAKE(arena, double, (size_t)n*(size_t)m->nrow);
    itm_row_lay_out(&work->problem, arena, n);
    work->problem.H = ITM_TAKE(arena, double, (size_t)n*(size_t)n);
    work->problem.couplings = ITM_TAKE(arena, ItmMlcpContact, b->capacity.coupling);
    work->problem.rows = b->rows;
    work->problem.index = work->global;
    itm_sweep_lay_out(&work->sweep, arena, b->capacity.block, b->capacity.row, b->capacity.coupling,
                      m->velocity_nodes.n);
    itm_bounded_lay_out_nodes(m, &b->capacity, &work->nodes, arena);
    itm_augmented_lay_out(&work->augmented, arena, b->capacity.block, b->capacity.row, nnode);
    itm_loaded_lay_out(&work->loaded, arena, b->capacity.block, b->capacity.row, nnode);
    itm_loaded_patch_lay_out(&work->patch, arena, b->capacity.block, nnode);
}

void itm_bounded_lay_out(const ItmModel* m, ItmBounded* b, ItmArena* arena, int ncontact)
{
    set_capacities(m, b, ncontact);
    lay_out_table(b, arena, m->nbody);
    lay_out_islands(m, b, arena);
    lay_out_work(m, b, &b->work, arena);
    for (int i = 0; arena->block != NULL && i < m->nbody; i++) {
        b->islands.body_head[i] = ITM_NONE;
    }
}

ItmStatus itm_bounded_create_workspace(const ItmBounded* b, ItmBoundWork* work, ItmError* error)
{
    ItmMlcpCapacity capacity = itm_default_mlcp_capacity(b->capacity.island, b->capacity.coupling);
    return itm_mlcp_workspace_create(&work->workspace, &capacity, error);
}

static void lay_out_others(const ItmModel* m, ItmBounded* b, int n)
{
    ItmBoundWork measured = {0};
    b->others = ITM_TAKE(&b->others_arena, ItmBoundWork, n);
    for (int i = 0; i < n; i++) {
        lay_out_work(m, b, b->others != NULL ? &b->others[i] : &measured, &b->others_arena);
    }
}

static void free_others(ItmBounded* b)
{
    for (int i = 0; i < b->nother; i++) {
        itm_mlcp_workspace_destroy(b->others[i].workspace);
    }
    itm_arena_free(&b->others_arena);
    b->others = NULL;
    b->nother = 0;
    b->pool = NULL;
}

ItmStatus itm_bounded_set_pool(const ItmModel* m, ItmBounded* b, ItmPool* pool, ItmError* error)
{
    free_others(b);
    int n = itm_pool_get_size(pool) - 1;
    if (n == 0) {
        return ITM_OK;
    }
    lay_out_others(m, b, n);
    if (itm_arena_allocate(&b->others_arena) != 0) {
        b->others_arena = (ItmArena){0};
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, "threads", "out of memory for %d threads", n + 1);
    }
    lay_out_others(m, b, n);
    ItmStatus status = ITM_OK;
    for (; b->nother < n && status == ITM_OK; b->nother += status == ITM_OK) {
        status = itm_bounded_create_workspace(b, &b->others[b->nother], error);
    }
    if (status != ITM_OK) {
        free_others(b);
        return status;
    }
    b->pool = pool;
    return ITM_OK;
}

void itm_bounded_clear(ItmBounded* b)
{
    b->nrow = b->nblock = b->ncoupling = b->npath = b->ncov = b->nY = 0;
    b->islands.count = b->refined.nredundant = 0;
    b->step.ahead = 0.0;
    b->is_overfull = b->has_Y = b->refined.is_done = false;
}

// ---------------------------------------------------------------------------- blocks

// Whether those of n bodies that move are the bodies of a path, in this order.
static bool is_path_of(const ItmRowBlock* path, const int* bodies, int n)
{
    int nbody = 0;
    for (int k = 0; k < n; k++) {
        if (bodies[k] != ITM_NONE) {
            if (nbody == path->nbody || path->body[nbody] != bodies[k]) {
                return false;
            }
            nbody++;
        }
    }
    return nbody == path->nbody && path->ndof == 0;
}

// The path of a block that touches n bodies: that of the block before it where it touches the same, as all contacts of a pair do.
static void set_path(const ItmModel* m, ItmBounded* b, ItmRowBlock* path, const ItmBoundBlock* before,
                     const int* bodies, int n)
{
    if (before != NULL && is_path_of(&before->path, bodies, n)) {
        path->path = before->path.path;
        path->path_parent = before->path.path_parent;
        path->npath = before->path.npath;
        path->ny = before->path.ny;
        return;
    }
    itm_rows_trace_path(m, path, b->path + b->npath, b->path + b->capacity.path + b->npath, bodies, n);
    b->npath += path->npath;
}

// A block of nrow rows that touch n bodies (ITM_NONE: the world).
static ItmBoundBlock* add_block(const ItmModel* m, ItmBounded* b, const int* bodies, int n, int nrow)
{
    bool has_path = b->npath <= b->capacity.path - n * m->depth;
    bool has_Y = b->nY + (double)n * m->depth_velocities * nrow <= b->capacity.Y;
    if (b->nblock == b->capacity.block || b->nrow + nrow > b->capacity.row || !has_path || !has_Y) {
        b->is_overfull = true;
        return NULL;
    }
    ItmBoundBlock* block = &b->blocks[b->nblock++];
    *block = (ItmBoundBlock){.first = b->nrow, .first_coupling = b->ncoupling, .next = ITM_NONE};
    set_path(m, b, &block->path, b->nblock > 1 ? block - 1 : NULL, bodies, n);
    block->path.cov_adr = b->ncov;
    block->path.y_adr = b->nY;
    return block;
}

// The same, whose rows have covectors on those of the bodies that move.
static ItmBoundBlock* add_body_block(const ItmModel* m, ItmBounded* b, const int* bodies, int n, int nrow)
{
    ItmBoundBlock* block = add_block(m, b, bodies, n, nrow);
    for (int k = 0; block != NULL && k < n; k++) {
        if (bodies[k] != ITM_NONE) {
            block->path.body[block->path.nbody++] = bodies[k];
        }
    }
    return block;
}

ItmBoundBlock* itm_bounded_add_block(const ItmModel* m, ItmBounded* b, int body_a, int body_b, int nrow)
{
    ItmBoundBlock* block = add_body_block(m, b, (const int[]){body_a, body_b}, 2, nrow);
    if (block != NULL) {
        block->is_a_world = body_a == ITM_NONE;
    }
    return block;
}

ItmBoundBlock* itm_bounded_add_dof_block(const ItmModel* m, ItmBounded* b, int v_index, double coef)
{
    int body = itm_model_body_of_velocity(m, v_index);
    ItmBoundBlock* block = add_block(m, b, &body, 1, 1);
    if (block != NULL) {
        block->path.ndof = 1;
        block->path.dof[0] = v_index;
        block->path.dof_coef[0] = coef;
    }
    return block;
}

// A row, whose covectors follow, one per body of the block.
static ItmRow* add_row(ItmBounded* b, ItmBoundBlock* block)
{
    int index = b->nrow++;
    b->projection.x[index] = 0.0;
    ItmRow* row = &b->rows[index];
    *row = (ItmRow){.block = (int)(block - b->blocks), .normal = ITM_NONE, .open = ITM_ROW_SLOP, .bias_share = 1.0};
    block->nrow++;
    block->path.nrow++;
    b->nY += block->path.ny;
    return row;
}

ItmRow* itm_bounded_open_row(ItmBounded* b, ItmBoundBlock* block, ItmSpatial** on_a, ItmSpatial** on_b)
{
    // the world is in none of the lists: one body is whichever moves
    bool has_a = !block->is_a_world, has_b = !has_a || block->path.nbody == 2;
    *on_a = has_a ? &b->cov[b->ncov] : NULL;
    *on_b = has_b ? &b->cov[b->ncov + has_a] : NULL;
    b->ncov += has_a + has_b;
    return add_row(b, block);
}

ItmRow* itm_bounded_add_row(ItmBounded* b, ItmBoundBlock* block, const ItmSpatial* cov_a, const ItmSpatial* cov_b)
{
    ItmSpatial *on_a, *on_b;
    ItmRow* row = itm_bounded_open_row(b, block, &on_a, &on_b);
    if (on_a != NULL) {
        *on_a = *cov_a;
    }
    if (on_b != NULL) {
        *on_b = *cov_b;
    }
    return row;
}

static void add_coupling(ItmBounded* b, ItmMlcpContact coupling)
{
    if (b->ncoupling == b->capacity.coupling) {
        b->is_overfull = true;
        return;
    }
    b->couplings[b->ncoupling++] = coupling;
    for (int k = 0; k < 2 && coupling.tangent[k] != ITM_NONE; k++) {
        b->rows[coupling.tangent[k]].normal = coupling.normal;
    }
    b->blocks[b->nblock - 1].ncoupling++;
}

void itm_bounded_add_friction(const ItmModel* m, ItmBounded* b, ItmMlcpContact coupling)
{
    if (!m->contact_options.lag_friction_bounds) {
        add_coupling(b, coupling);
        return;
    }
    const ItmRowRecord* last = itm_row_memory_find(&b->memory, b->rows[coupling.normal].key);
    double bound = last != NULL ? coupling.mu * last->x : 0.0;
    for (int k = 0; k < 2 && coupling.tangent[k] != ITM_NONE; k++) {
        b->rows[coupling.tangent[k]].lo = -bound;
        b->rows[coupling.tangent[k]].up = bound;
    }
}

// ---------------------------------------------------------------------------- joints

// A row on a measure, with its sign: +1 for w = x', -1 for w = -x'.
static ItmRow* add_measure_row(const ItmModel* m, ItmBounded* b, const ItmMeasure* measure, const ItmMeasured* x,
                               double sign)
{
    ItmBoundBlock* block;
    ItmSpatial cov[ITM_BLOCK_BODIES];
    if (measure->v_index != ITM_NONE) {
        block = itm_bounded_add_dof_block(m, b, measure->v_index, sign * measure->scale);
    } else {
        int bodies[ITM_BLOCK_BODIES], n = itm_measure_get_bodies(measure, bodies);
        itm_measure_get_covectors(measure, x, sign, cov);
        block = add_body_block(m, b, bodies, n, 1);
    }
    if (block == NULL) {
        return NULL;
    }
    for (int k = 0; k < block->path.nbody; k++) {
        b->cov[b->ncov++] = cov[k];
    }
    ItmRow* row = add_row(b, block);
    row->rate = sign * x->rate;
    row->bias = sign * x->bias;
    row->lo = -INFINITY;
    row->up = INFINITY;
    return row;
}

static uint64_t make_key(ItmRowKind kind, int owner, int part)
{
    return ((uint64_t)(kind + 1) << 56) | ((uint64_t)(unsigned)owner << 8) | (uint64_t)(unsigned)part;
}

// A line that also swings is bent: A' v > 0 belongs to the velocity before the impact and would let the step go beyond the stop, so it is
// left out. A' v < 0 shortens the way: a step that ends at the stop, at the mean rate gap / h, has A' v (gap / (h rate))^2 of it, which
// takes h^2 / 2 times that off the gap.
static void bend_to_stop(ItmRow* row, double h)
{
    if (row->rate < 0.0 && row->bias < 0.0 && row->gap > 0.0 && row->gap < -row->rate * h) {
        row->gap *= 1.0 + 0.5 * row->bias * row->gap / (row->rate * row->rate);
        row->gap = row->gap > 0.0 ? row->gap : 0.0;
    }
    row->bias = row->bias < 0.0 && row->gap >= -row->rate * h ? row->bias : 0.0;
}

// One stop of a limit, if the step could reach it: gap = sign (x - stop). More than the rate, `acceleration` may carry it there.
static void add_stop(const ItmModel* m, ItmData* d, int index, double stop, double sign, double h, double acceleration)
{
    const ItmLimit* limit = &m->limits[index];
    const ItmMeasure* measure = &m->measures[limit->measure];
    if (!isfinite(stop)) {
        return;
    }
    ItmMeasured x = itm_measure_compute(m, d, measure);
    double gap = sign * (x.value - stop);
    // within twice the way of this step, because the forces of the step are not known yet, and a margin
    double reach = 2.0 * h * fabs(x.rate) + 0.5 * h * h * acceleration + m->contact_options.margin;
    if (gap > reach) {
        return;
    }
    ItmRow* row = add_measure_row(m, d->bounded, measure, &x, sign);
    if (row != NULL) {
        row->kind = ITM_BOUND_LIMIT;
        row->owner = index;
        row->gap = gap;
        row->lo = 0.0;
        row->restitution = limit->restitution;
        row->stiffness = limit->stiffness;
        row->damping = limit->damping;
        row->key = make_key(ITM_BOUND_LIMIT, index, sign > 0.0 ? 0 : 1);
        // a rope that is taut already swings and runs over its sheaves: there is no impact
        if (!limit->is_rope || gap > ITM_ROW_SLOP) {
            bend_to_stop(row, h);
        }
    }
}

static void add_joint_friction(const ItmModel* m, ItmData* d, int index, double h)
{
    const ItmJointFriction* friction = &m->joint_frictions[index];
    const ItmMeasure* measure = &m->measures[friction->measure];
    ItmMeasured x = itm_measure_compute(m, d, measure);
    ItmRow* row = add_measure_row(m, d->bounded, measure, &x, 1.0);
    if (row != NULL) {
        row->kind = ITM_BOUND_FRICTION;
        row->owner = index;
        row->lo = -h * friction->force;
        row->up = h * friction->force;
        row->key = make_key(ITM_BOUND_FRICTION, index, 0);
    }
}

// A motor holds its signal's rate at the end of the step, and takes an error of position back in that step, as far as
// its force allows.
static void add_motor(const ItmModel* m, ItmData* d, int index, double t, double h)
{
    const ItmMotion* motion = &m->motions[index];
    const ItmMeasure* measure = &m->measures[motion->measure];
    ItmMeasured x = itm_measure_compute(m, d, measure);
    ItmSignalValue next = itm_data_compute_signal(m, d, motion->signal, t + h);
    ItmRow* row = add_measure_row(m, d->bounded, measure, &x, 1.0);
    if (row != NULL) {
        row->kind = ITM_BOUND_MOTOR;
        row->owner = index;
        // position: x+ = x + h w+ should be the signal at the end of the step
        row->reference = motion->is_velocity ? next.x : (next.x - x.value) / h;
        row->lo = -h * motion->max_force;
        row->up = h * motion->max_force;
        row->key = make_key(ITM_BOUND_MOTOR, index, 0);
    }
}

void itm_bounded_add_joints(const ItmModel* m, ItmData* d, double t, double h)
{
    for (int i = 0; i < m->nlimit; i++) {
        add_stop(m, d, i, m->limits[i].lower, 1.0, h, 0.0);
        add_stop(m, d, i, m->limits[i].upper, -1.0, h, 0.0);
    }
    // a port may push an actuator from rest to its stop within one macro step
    for (int i = 0; d->stroke != NULL && i < m->nactuator; i++) {
        add_stop(m, d, m->nlimit + i, d->stroke[2 * i], 1.0, h, STROKE_ACCELERATION);
        add_stop(m, d, m->nlimit + i, d->stroke[2 * i + 1], -1.0, h, STROKE_ACCELERATION);
    }
    for (int i = 0; i < m->njoint_friction; i++) {
        add_joint_friction(m, d, i, h);
    }
    for (int i = 0; i < m->nmotion; i++) {
        if (m->motions[i].max_force > 0.0) {
            add_motor(m, d, i, t, h);
        }
    }
}

// ---------------------------------------------------------------------------- products

void itm_bounded_multiply(const ItmModel* m, ItmData* d, double* out, const double* v)
{
    const ItmBounded* b = d->bounded;
    itm_kinematics_compute_twists(m, d, d->accel, v);
    for (int k = 0; k < b->nblock; k++) {
        const ItmBoundBlock* block = &b->blocks[k];
        const ItmRowBlock* path = &block->path;
        const ItmSpatial* cov = b->cov + path->cov_adr;
        for (int i = block->first; i < block->first + block->nrow; i++, cov += path->nbody) {
            double sum = path->ndof > 0 ? path->dof_coef[0] * v[path->dof[0]] : 0.0;
            for (int j = 0; j < path->nbody; j++) {
                sum += itm_spatial_dot(cov[j], d->accel[path->body[j]]);
            }
            out[i] = sum;
        }
    }
}

void itm_bounded_add_forces(const ItmBounded* b, ItmSpatial* wrench, double* tau, const double* x, double rate)
{
    for (int k = 0; k < b->nblock; k++) {
        const ItmBoundBlock* block = &b->blocks[k];
        const ItmRowBlock* path = &block->path;
        const ItmSpatial* cov = b->cov + path->cov_adr;
        for (int i = block->first; i < block->first + block->nrow; i++, cov += path->nbody) {
            double f = rate * x[i];
            for (int j = 0; j < path->nbody; j++) {
                wrench[path->body[j]] = itm_spatial_axpy(f, cov[j], wrench[path->body[j]]);
            }
            if (path->ndof > 0) {
                tau[path->dof[0]] += path->dof_coef[0] * f;
            }
        }
    }
}

void itm_bounded_apply(const ItmModel* m, ItmData* d, double* v, const double* x)
{
    memset(d->wrench, 0, sizeof(ItmSpatial) * (size_t)m->nbody);
    memset(d->tau, 0, sizeof(double) * (size_t)m->nv);
    itm_bounded_add_forces(d->bounded, d->wrench, d->tau, x, 1.0);
    itm_mass_solve(m, d, d->x4, d->tau, d->wrench);
    for (int i = 0; i < m->nv; i++) {
        v[i] += d->x4[i];
    }
}

// ---------------------------------------------------------------------------- looking

#define SLIDING_SPEED 1e-6  // m/s: slower contacts count as sticking

static bool is_tangent(ItmRowKind kind)
{
    return kind == ITM_BOUND_TANGENT || kind == ITM_BOUND_CLEARANCE_TANGENT;
}

bool itm_bounded_is_sliding(const ItmBounded* b, int normal)
{
    int end = b->blocks[b->rows[normal].block].first + b->blocks[b->rows[normal].block].nrow;
    double speed2 = 0.0;
    bool has_tangent = false;
    for (int i = normal + 1; i < end && is_tangent(b->rows[i].kind); i++) {
        has_tangent = true;
        speed2 += b->v_after[i] * b->v_after[i];
    }
    return !has_tangent || speed2 > SLIDING_SPEED * SLIDING_SPEED;
}

double itm_bounded_compute_w(const ItmBounded* b, int row)
{
    return b->v_after[row] + b->rows[row].offset + b->rows[row].omega * b->x[row];
}

bool itm_bounded_is_closed(const ItmBounded* b, int row)
{
    return b->x[row] > 0.0 || itm_bounded_compute_w(b, row) <= ITM_ROW_AT_REST;
}

// One closed contact, for the body that is the block's first or second.
static void add_force(ItmBounded* b, const ItmBoundBlock* block, int slot, int owner)
{
    ItmBoundForce* force = &b->body_force[owner];
    force->count++;
    force->sliding += itm_bounded_is_sliding(b, block->first);
    for (int i = 0; i < block->nrow; i++) {
        ItmSpatial cov = b->cov[block->path.cov_adr + i * block->path.nbody + slot];
        force->impulse = itm_vec_axpy(b->x[block->first + i], cov.lin, force->impulse);
    }
}

void itm_bounded_sum_contacts(const ItmModel* m, ItmBounded* b)
{
    memset(b->body_force, 0, sizeof *b->body_force * (size_t)m->nbody);
    for (int k = 0; k < b->nblock; k++) {
        const ItmBoundBlock* block = &b->blocks[k];
        bool is_contact = block->nrow > 0 && b->rows[block->first].kind == ITM_BOUND_NORMAL && b->x[block->first] > 0.0;
        int last = ITM_NONE;
        for (int slot = 0; is_contact && slot < block->path.nbody; slot++) {
            int owner = m->bodies[block->path.body[slot]].owner;
            // two nodes of one body: forces within it
            if (owner != last) {
                add_force(b, block, slot, owner);
            }
            last = owner;
        }
    }
}

double itm_bounded_compute_effort(const ItmBounded* b, ItmRowKind kind, int owner)
{
    double sum = 0.0;
    for (int i = 0; i < b->nrow; i++) {
        if (b->rows[i].kind == kind && b->rows[i].owner == owner) {
            // the upper stop pushes back
            bool is_upper = kind == ITM_BOUND_LIMIT && (b->rows[i].key & 1) != 0;
            sum += is_upper ? -b->x[i] : b->x[i];
        }
    }
    return sum;
}
