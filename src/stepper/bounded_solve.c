// The bounded rows of a step as boxed MLCPs, island by island                                  [contact-rim, eqs. 20-30]
//
// With the bilateral rows b eliminated, an island of bounded rows c is
//   w = H' x + b,   H' = H_cc - H_cb H_bb^-1 H_bc + Omega,   b = A_c v + offset
// where v are the velocities without x. H' is a Gram matrix: H_cc = Y_c Y_c', H_cb H_bb^-1 H_bc = Z' Z, Z = L^-1 H_bc.
#include "stepper/bounded_solve.h"

#include "base/error.h"
#include "base/union_find.h"
#include "contact/contact.h"
#include "multibody/bounded_nodes.h"
#include "multibody/clearance.h"
#include "multibody/forces.h"
#include "multibody/mass.h"
#include "multibody/rows.h"
#include "multibody/sleep.h"
#include "stepper/inertial.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define TIGHT 1e-13        // tolerance of the solver where gaps are fed back
#define RESTING_RATE 1e-9  // m/s, rad/s: a row that moves slower does not slip
#define MOST_DRIFT 0.1     // of the contact margin: a larger gap is one
#define RESTING_WAY 1e-7   // m, rad: a body that moves less in a step is at rest

// ---------------------------------------------------------------------------- warm start

// A rigid contact under load does not open by itself: what its gap has become is the drift of two bodies that moved on by steps.
// Were it used up as a velocity, the contacts of a grip would let go one after the other.
static void hold(const ItmModel* m, ItmRow* row, double x, signed char state)
{
    row->is_held = row->kind == ITM_BOUND_NORMAL && itm_row_is_rigid(row) && x > 0.0 && state == ITM_ROW_ACTIVE &&
                   row->gap <= MOST_DRIFT * m->contact_options.margin;
    if (row->is_held) {
        row->open = ITM_ROW_SLOP + fmax(0.0, row->gap);
    }
}

// The direction of a row in its record.
static void note_direction(const ItmData* d, const ItmRow* row, ItmRowRecord* record)
{
    if (row->kind == ITM_BOUND_NORMAL) {
        ItmVec3 n = d->contact->contacts[row->owner].point.normal;
        record->direction[0] = (int16_t)lrint(ITM_ROW_DIRECTION * n.x);
        record->direction[1] = (int16_t)lrint(ITM_ROW_DIRECTION * n.y);
        record->direction[2] = (int16_t)lrint(ITM_ROW_DIRECTION * n.z);
    }
}

static bool has_turned(const ItmData* d, const ItmRow* row, const ItmRowRecord* last)
{
    ItmVec3 n = itm_vec(last->direction[0], last->direction[1], last->direction[2]);
    return row->kind == ITM_BOUND_NORMAL && !itm_contact_is_turn(itm_vec_scale(1.0 / ITM_ROW_DIRECTION, n),
                                                                 d->contact->contacts[row->owner].point.normal);
}

// A rope that stretches under load does not penetrate anything.
static bool is_elastic_rope(const ItmModel* m, const ItmRow* row)
{
    return row->kind == ITM_BOUND_LIMIT && m->limits[row->owner].is_rope && !itm_row_is_rigid(row);
}

// Impulses and states of the last step for the rows of a block; the deepest penetration.
static void recall(const ItmModel* m, ItmData* d, const ItmBoundBlock* block)
{
    ItmBounded* b = d->bounded;
    for (int i = block->first; i < block->first + block->nrow; i++) {
        ItmRow* row = &b->rows[i];
        if (-row->gap > d->info.penetration && itm_row_is_unilateral(row) && !is_elastic_rope(m, row)) {
            d->info.penetration = -row->gap;
        }
        const ItmRowRecord* last = itm_row_memory_find(&b->memory, row->key);
        last = last != NULL && has_turned(d, row, last) ? NULL : last;
        b->x[i] = last != NULL ? last->x : 0.0;
        b->state[i] = last != NULL ? (signed char)last->state : ITM_ROW_UNKNOWN;
        hold(m, row, b->x[i], b->state[i]);
    }
}

// Friction at the edge of its cone that does not slip holds its rate all the same: dependent rows share a load in many ways. What
// bounced, were it less than it would, is on its way.
static signed char remembered_state(const ItmBounded* b, int i)
{
    bool is_leaving = b->rows[i].restitution > 0.0 && b->v_after[i] > RESTING_RATE;
    if (b->rows[i].is_bouncing || is_leaving) {
        return ITM_ROW_LO;
    }
    bool is_coupled = isinf(b->rows[i].lo) && isinf(b->rows[i].up);
    return is_coupled && b->x[i] != 0.0 && fabs(b->v_after[i]) <= RESTING_RATE ? ITM_ROW_ACTIVE : b->state[i];
}

// ---------------------------------------------------------------------------- islands

// Blocks that share a component, directly or over other blocks, form an island; lists in the order of the blocks.
static void find_islands(const ItmModel* m, ItmBounded* b)
{
    for (int k = 0; k < b->nblock; k++) {
        const ItmRowBlock* path = &b->blocks[k].path;
        for (int i = 0; i < path->npath; i++) {
            int c = m->component[path->path[i]];
            b->islands.root[c] = c;
            b->islands.head[c] = ITM_NONE;
        }
    }
    for (int k = 0; k < b->nblock; k++) {
        const ItmRowBlock* path = &b->blocks[k].path;
        for (int i = 1; i < path->npath; i++) {
            itm_union_join(b->islands.root, m->component[path->path[0]], m->component[path->path[i]]);
        }
    }
    b->islands.count = 0;
    for (int k = 0; k < b->nblock; k++) {
        int root = itm_union_find(b->islands.root, m->component[b->blocks[k].path.path[0]]);
        b->blocks[k].next = ITM_NONE;
        if (b->islands.head[root] == ITM_NONE) {
            b->islands.names[b->islands.count++] = root;
            b->islands.head[root] = k;
        } else {
            b->blocks[b->islands.tail[root]].next = k;
        }
        b->islands.tail[root] = k;
    }
}

// ---------------------------------------------------------------------------- one island, densely

// The row that is off farthest, of an island and of all.
static void note_residual(int* worst_row, double* worst_residual, int row, double residual)
{
    if (*worst_row == ITM_NONE || !(residual <= *worst_residual)) {
        *worst_row = row;
        *worst_residual = residual;
    }
}

static ItmBoundReport start_island_report(void)
{
    return (ItmBoundReport){.status = ITM_OK, .worst_row = ITM_NONE};
}

// What solves took; active rows are counted once, at the end, redundant ones when somebody looks. table: numbers of the rows in the
// table, NULL: what is left is not to be noted.
static void report(ItmBoundReport* r, const ItmRowSolves* solves, const int* table)
{
    for (int i = 0; i < solves->n; i++) {
        const ItmMlcpInfo* info = &solves->info[i];
        bool is_solved = info->outcome == ITM_MLCP_SOLVED || info->outcome == ITM_MLCP_SOLVED_TO_ROUNDING;
        r->iterations += info->iterations;
        r->residual = fmax(r->residual, info->residual);
        r->fallbacks += info->nattempt > 1;
        r->unsolved += !is_solved;
        if (!is_solved && table != NULL) {
            note_residual(&r->worst_row, &r->worst_residual, table[info->worst_row], info->residual);
        }
    }
    r->lost += solves->lost;
}

// The report of an island into that of the step.
static void take_report(ItmData* d, const ItmBoundReport* r)
{
    d->info.solver_iterations += r->iterations;
    d->info.solver_residual = fmax(d->info.solver_residual, r->residual);
    d->info.fallbacks += r->fallbacks;
    d->info.unsolved += r->unsolved;
    d->info.step_impact_loss += r->lost;
    if (r->worst_row != ITM_NONE) {
        note_residual(&d->bounded->worst_row, &d->bounded->worst_residual, r->worst_row, r->worst_residual);
    }
}

static ItmStatus solve_rows(const ItmModel* m, const ItmRowProblem* problem, const ItmRowStep* step,
                            ItmMlcpWorkspace* workspace, const int* table, ItmRowSolves* solves, ItmBoundReport* r,
                            ItmError* error)
{
    ItmMlcpOptions options = itm_default_mlcp_options();
    options.solver = m->contact_options.solver;
    // the variable stepper minimises what it solves: errors of the solve are errors of the choice
    double tolerance = m->contact_options.tolerance;
    options.tolerance = step->feeds_gaps_back ? fmin(TIGHT, tolerance) : tolerance;
    options.effort = m->contact_options.effort;
    options.warm_start = true;
    ItmStatus status = itm_row_solve(problem, workspace, &options, step, solves, error);
    report(r, solves, table);
    return status;
}

ItmStatus itm_bounded_solve_rows(const ItmModel* m, ItmData* d, const ItmRowProblem* problem, const ItmRowStep* step,
                                 ItmMlcpWorkspace* workspace, const int* table, ItmRowSolves* solves)
{
    ItmBoundReport r = start_island_report();
    ItmStatus status = solve_rows(m, problem, step, workspace, table, solves, &r, &d->error);
    take_report(d, &r);
    return status;
}

static ItmStatus correct_rows(const ItmModel* m, const ItmRowProblem* problem, ItmMlcpWorkspace* workspace,
                              const double* drift, int* list, double* S, int* count, ItmBoundReport* r, ItmError* error)
{
    ItmRowSolves solves;
    ItmStatus status =
        itm_row_correct(problem, workspace, m->contact_options.effort, drift, list, S, count, &solves, error);
    // a body squeezed between walls cannot be freed: that is seen in the penetration
    report(r, &solves, NULL);
    return status;
}

ItmStatus itm_bounded_correct(ItmData* d, const ItmRowProblem* problem, ItmMlcpWorkspace* workspace,
                              const double* drift, int* list, double* S, int* count)
{
    ItmBoundReport r = start_island_report();
    ItmStatus status = correct_rows(d->model, problem, workspace, drift, list, S, count, &r, &d->error);
    take_report(d, &r);
    return status;
}

// Impulses and velocities of the assembled island, into the table.
static ItmStatus solve_velocities(const ItmModel* m, ItmBounded* b, ItmBoundWork* work, ItmBoundReport* r)
{
    const ItmRowProblem* p = &work->problem;
    ItmRowSolves solves;
    // where gaps return as velocities, rates contradict each other because gaps do, which is no error
    work->problem.contradiction = b->step.feeds_gaps_back ? 0.0 : itm_row_find_contradiction(p, b->step.h);
    ItmStatus status = solve_rows(m, p, &b->step, work->workspace, work->global, &solves, r, &work->error);
    for (int i = 0; status == ITM_OK && i < p->n; i++) {
        ItmRow* row = &b->rows[work->global[i]];
        b->x[work->global[i]] = p->x[i];
        b->v_after[work->global[i]] = p->v[i];
        b->state[work->global[i]] = p->state[i];
        row->is_bouncing = row->is_bouncing && !solves.is_limited;
    }
    return status;
}

ItmStatus itm_bounded_solve_velocities(const ItmModel* m, ItmData* d)
{
    ItmBounded* b = d->bounded;
    ItmBoundReport r = start_island_report();
    ItmStatus status = solve_velocities(m, b, &b->work, &r);
    take_report(d, &r);
    if (status != ITM_OK) {
        d->error = b->work.error;
    }
    return status;
}

// Whether the bodies of a contact move by less than rounding of its gap in a step: drifts of moving bodies add up.
bool itm_bounded_is_at_rest(const ItmData* d, const ItmRow* row)
{
    const ItmRowBlock* path = &d->bounded->blocks[row->block].path;
    double most = RESTING_WAY / d->h;
    for (int i = 0; i < path->nbody; i++) {
        ItmSpatial v = d->twist[path->body[i]];
        if (!(itm_vec_dot(v.lin, v.lin) + itm_vec_dot(v.ang, v.ang) <= most * most)) {
            return false;
        }
    }
    return row->kind == ITM_BOUND_NORMAL;
}

// Whether the gap of a row is to be corrected. Whether its bodies are at rest only matters within the band, and is not looked up for the
// others.
static bool is_off(const ItmData* d, ItmRow* row)
{
    if (!itm_row_is_corrected(row) || !itm_row_is_off(row, row->gap, false)) {
        return false;
    }
    row->is_at_rest = !itm_row_is_off(row, row->gap, true) && itm_bounded_is_at_rest(d, row);
    return !row->is_at_rest;
}

// Position correction of the island that was solved, into b->x_correction. H is overwritten by its part over rigid normals.
static ItmStatus correct_island(const ItmModel* m, ItmData* d, ItmBoundWork* work, ItmBoundReport* r)
{
    ItmBounded* b = d->bounded;
    const ItmRowProblem* p = &work->problem;
    bool is_any = false;
    for (int i = 0; i < p->n; i++) {
        is_any = is_off(d, &b->rows[work->global[i]]) || is_any;
    }
    int count = 0;
    ItmStatus status = is_any && !b->step.feeds_gaps_back
                           ? correct_rows(m, p, work->workspace, NULL, work->list, p->H, &count, r, &work->error)
                           : ITM_OK;
    for (int i = 0; status == ITM_OK && i < count; i++) {
        b->x_correction[work->global[work->list[i]]] = p->x[i];
    }
    return status;
}

// ---------------------------------------------------------------------------- one island, by sweeps

#define SPARSE_FROM 12      // rows: from here on an island of single bodies is solved without a matrix of its rows
#define SWEEP_FROM 90       // the same where it would be swept first
#define MECHANISM_FROM 600  // the same where a mechanism is part of it
#define TRIAL 3000          // rows^2 / TRIAL sweeps, a part of what a direct solve costs, where that is possible
#define LEAST_TRIAL 4
#define LEAST_SWEEPS 400   // otherwise at most that many, or more while rows * sweeps stays below
#define SWEEP_WORK 500000  //   this
#define MAX_CORRECTION_SWEEPS 50
#define LOADED_ROUNDS 10  // of Newton's method over loaded contacts after the first, with
#define LOADED_SWEEPS 8   //   these sweeps before, at first

// State of a row as the dense solvers report it.
static signed char state_of(const ItmRow* row, double x, double v)
{
    return x <= row->lo ? ITM_ROW_LO : x >= row->up ? ITM_ROW_UP : fabs(v) > RESTING_RATE ? ITM_ROW_LO : ITM_ROW_ACTIVE;
}

// A few sweeps show whether the impulses of the last step still fit. Where a direct solve is possible, they end there: columns of
// boxes need thousands. Larger islands have nothing else.
static int limit_sweeps(const ItmBounded* b, int n)
{
    if (n <= b->capacity.island) {
        return n * n / TRIAL > LEAST_TRIAL ? n * n / TRIAL : LEAST_TRIAL;
    }
    return SWEEP_WORK / n > LEAST_SWEEPS ? SWEEP_WORK / n : LEAST_SWEEPS;
}

static int count_rows(const ItmBounded* b, int head)
{
    int n = 0;
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        n += b->blocks[k].nrow;
    }
    return n;
}

// Whether every body that the island touches is free on the world, so that its rows share only that body.
static bool has_single_bodies(const ItmModel* m, const ItmBounded* b, int head)
{
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        if (!itm_bounded_is_single(m, &b->blocks[k].path)) {
            return false;
        }
    }
    return true;
}

// Nodes and Y of the blocks that touch jointed bodies. false: no room.
static bool express_mechanisms(const ItmModel* m, const ItmData* d, ItmBoundWork* work, int head)
{
    const ItmBounded* b = d->bounded;
    ItmSweepBlock* out = work->sweep.blocks;
    bool has_room = true;
    itm_bounded_clear_nodes(&work->nodes);
    for (int k = head; k != ITM_NONE && has_room; k = b->blocks[k].next, out++) {
        has_room =
            itm_bounded_is_single(m, &b->blocks[k].path) || itm_bounded_express(m, d, &work->nodes, &b->blocks[k], out);
    }
    return has_room;
}

// Friction of a block of the table, in numbers of the problem.
static void state_couplings(const ItmBounded* b, const ItmBoundBlock* block, ItmSweep* s)
{
    int shift = s->nrow - block->first;
    for (int c = block->first_coupling; c < block->first_coupling + block->ncoupling; c++) {
        ItmMlcpContact* coupling = &s->couplings[s->ncoupling++];
        *coupling = b->couplings[c];
        coupling->normal += shift;
        for (int k = 0; k < 2; k++) {
            coupling->tangent[k] += coupling->tangent[k] != ITM_NONE ? shift : 0;
        }
    }
}

// The island as a problem for sweeps. Returns whether rows bounce; is_any: some gap is to be corrected.
static bool state_sweep(ItmData* d, ItmSweep* s, int head, bool* is_any)
{
    ItmBounded* b = d->bounded;
    bool is_bouncing = *is_any = false;
    s->nblock = s->nrow = s->ncoupling = 0;
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        const ItmBoundBlock* block = &b->blocks[k];
        s->blocks[s->nblock++] = (ItmSweepBlock){.first = s->nrow,
                                                 .nrow = block->nrow,
                                                 .first_coupling = s->ncoupling,
                                                 .ncoupling = block->ncoupling,
                                                 .nnode = block->path.npath,
                                                 .row = block->first,
                                                 .node = block->path.path,
                                                 .Y = b->Y + block->path.y_adr};
        state_couplings(b, block, s);
        for (int l = block->first; l < block->first + block->nrow; l++) {
            ItmRow* row = &b->rows[l];
            int i = s->nrow++;
            is_bouncing = is_bouncing || row->is_bouncing;
            *is_any = is_off(d, row) || *is_any;
            s->x[i] = b->x[l];
            s->b[i] = b->v_after[l] + row->offset;
            s->rate[i] = row->rate;
            s->lo[i] = row->lo;
            s->up[i] = row->up;
            s->omega[i] = row->omega;
            s->has_bounds[i] = row->normal == ITM_NONE;
        }
    }
    return is_bouncing;
}

// Impulses of the problem into the table.
static void take_impulses(const ItmSweep* s, double* x)
{
    for (int k = 0; k < s->nblock; k++) {
        const ItmSweepBlock* block = &s->blocks[k];
        memcpy(x + block->row, s->x + block->first, sizeof(double) * (size_t)block->nrow);
    }
}

// Results of the sweeps.
static void finish_sweep(ItmBounded* b, const ItmSweep* s)
{
    for (int k = 0; k < s->nblock; k++) {
        const ItmSweepBlock* block = &s->blocks[k];
        for (int l = 0; l < block->nrow; l++) {
            int i = block->row + l;
            b->v_after[i] += s->change[block->first + l];
            b->state[i] = state_of(&b->rows[i], b->x[i], b->v_after[i]);
        }
    }
}

// Energy that open rows took which should have bounced: all rows bounce at the start of the step here.
static double sum_swept_losses(const ItmBounded* b, const ItmSweep* s)
{
    double sum = 0.0;
    for (int k = 0; k < s->nblock; k++) {
        for (int i = s->blocks[k].row; i < s->blocks[k].row + s->blocks[k].nrow; i++) {
            const ItmRow* row = &b->rows[i];
            if (row->restitution > 0.0 && !row->is_bouncing && !row->is_held && row->gap > row->open) {
                sum += itm_row_compute_loss(row, &b->step, 0.5 * b->x[i] * (row->rate + b->v_after[i]), b->v_after[i]);
            }
        }
    }
    return sum;
}

static int find_table_row(const ItmSweep* s, int row)
{
    int k = 0;
    while (row >= s->blocks[k].first + s->blocks[k].nrow) {
        k++;
    }
    return s->blocks[k].row + row - s->blocks[k].first;
}

// Position correction of the island that was swept, over rigid normals only, into b->x_correction.
static void correct_sweep(ItmBounded* b, ItmSweep* s)
{
    memset(s->x, 0, sizeof(double) * (size_t)s->nrow);
    for (int k = 0; k < s->nblock; k++) {
        ItmSweepBlock* block = &s->blocks[k];
        block->ncoupling = 0;
        // tangents, torsion and rolling follow the normal
        block->nrow = b->rows[block->row].kind == ITM_BOUND_NORMAL ? 1 : block->nrow;
        for (int l = 0; l < block->nrow; l++) {
            const ItmRow* row = &b->rows[block->row + l];
            double v = b->v_after[block->row + l];
            int i = block->first + l;
            s->has_bounds[i] = itm_row_is_unilateral(row);
            // what the velocities of the step use up of an open gap is not left for displacements
            double used = !row->is_held && row->gap > 0.0 && v < 0.0 ? b->step.h * v : 0.0;
            s->b[i] = itm_row_is_corrected(row) ? itm_row_limit_gap(row->gap + used) : 0.0;
            s->lo[i] = row->is_held ? -INFINITY : row->lo;
        }
    }
    itm_sweep_solve(s, s->x, ITM_ROW_SLOP, MAX_CORRECTION_SWEEPS);
    take_impulses(s, b->x_correction);
}

// Newton's method over loaded contacts, with sweeps in between to find out which are loaded, twice as many in every round. Every other round
// solves no parts of the problem alone: they can take turns too.
static ItmSweepResult solve_loaded(ItmBoundWork* work, double tolerance)
{
    ItmSweep* s = &work->sweep;
    ItmSweepResult result = itm_loaded_solve(&work->loaded, &work->patch, s, s->x, tolerance);
    for (int round = 0; round < LOADED_ROUNDS && result.residual > tolerance; round++) {
        int sweeps = result.sweeps + itm_sweep_solve(s, s->x, tolerance, LOADED_SWEEPS << round).sweeps;
        result = itm_loaded_solve(&work->loaded, round % 2 == 0 ? NULL : &work->patch, s, s->x, tolerance);
        result.sweeps += sweeps;
    }
    return result;
}

// Newton's method in the velocities for stacks of boxes, over loaded contacts for heaps of spheres; sweeps where it fails and nothing else
// is left.
static ItmSweepResult solve_sparse(ItmBounded* b, ItmBoundWork* work, double tolerance, int n)
{
    ItmSweep* s = &work->sweep;
    ItmSweepResult result = {.residual = INFINITY};
    if (itm_augmented_gather(&work->augmented, s)) {
        bool is_tried = itm_augmented_solve(&work->augmented, s, s->x, tolerance, &result);
        if (result.residual <= tolerance || (is_tried && n <= b->capacity.island)) {
            return result;
        }
    } else if (itm_loaded_is_suited(s)) {
        result = solve_loaded(work, tolerance);
        if (result.residual <= tolerance) {
            return result;
        }
    }
    if (n < SWEEP_FROM) {
        return result;
    }
    ItmSweepResult swept = itm_sweep_solve(s, s->x, tolerance, limit_sweeps(b, n));
    swept.sweeps += result.sweeps;
    return swept;
}

// Solve an island without a matrix. False: not suitable, or not done to the tolerance though a direct solver could do it. Bounces, which may
// need to be limited, go to that too, and mechanisms.
static bool sweep_island(const ItmModel* m, ItmData* d, ItmBoundWork* work, int head, int n, ItmBoundReport* r)
{
    ItmBounded* b = d->bounded;
    bool is_any, is_dense_possible = n <= b->capacity.island;
    if (n < SPARSE_FROM || m->contact_options.solver != ITM_MLCP_AUTO) {
        return false;
    }
    bool is_single = has_single_bodies(m, b, head);
    if (!is_single && n < MECHANISM_FROM && is_dense_possible) {
        return false;
    }
    bool is_bouncing = state_sweep(d, &work->sweep, head, &is_any);
    if (is_bouncing && is_dense_possible) {
        return false;
    }
    if (!is_single && !express_mechanisms(m, d, work, head)) {
        return false;
    }
    double tolerance = m->contact_options.tolerance;
    ItmSweepResult result = solve_sparse(b, work, tolerance, n);
    take_impulses(&work->sweep, b->x);
    if (result.residual > tolerance && is_dense_possible) {
        return false;
    }
    if (!(result.residual <= tolerance)) {
        r->unsolved++;
        note_residual(&r->worst_row, &r->worst_residual, find_table_row(&work->sweep, result.worst_row),
                      result.residual);
    }
    r->iterations += result.sweeps;
    r->residual = fmax(r->residual, result.residual);
    finish_sweep(b, &work->sweep);
    r->lost += is_bouncing ? sum_swept_losses(b, &work->sweep) : 0.0;
    if (is_any && !b->step.feeds_gaps_back) {
        correct_sweep(b, &work->sweep);
    }
    return true;
}

// ---------------------------------------------------------------------------- islands, several at a time

// Impulses of one island. It writes to its own rows and bodies, to `work` and to the report.
static ItmStatus solve_island(const ItmModel* m, ItmData* d, ItmBoundWork* work, int head, ItmBoundReport* r)
{
    ItmBounded* b = d->bounded;
    int n = count_rows(b, head);
    if (sweep_island(m, d, work, head, n, r)) {
        return ITM_OK;
    }
    if (n > b->capacity.island) {
        return itm_error_set(&work->error, ITM_ERR_CAPACITY, __func__, NULL,
                             "an island of %d bounded rows is larger than the %d there is room for", n,
                             b->capacity.island);
    }
    itm_bounded_number_rows(b, work, head);
    itm_bounded_assemble(m, d, work, head, n);
    ItmStatus status = solve_velocities(m, b, work, r);
    return status == ITM_OK ? correct_island(m, d, work, r) : status;
}

typedef struct Islands {
    const ItmModel* m;
    ItmData* d;
    int count;        // of b->islands.order
    atomic_int next;  // place in it
} Islands;

// Solve islands that nobody has begun, with the memory of thread `thread`. Of those that fail the first counts: none after it is solved.
static void solve_some(void* context, int thread)
{
    Islands* all = context;
    ItmBounded* b = all->d->bounded;
    ItmBoundWork* work = thread == 0 ? &b->work : &b->others[thread - 1];
    work->failed = ITM_NONE;
    for (int k = atomic_fetch_add(&all->next, 1); k < all->count; k = atomic_fetch_add(&all->next, 1)) {
        int i = b->islands.order[k];
        if (work->failed != ITM_NONE && work->failed < i) {
            continue;
        }
        ItmBoundReport* r = &b->islands.reports[i];
        *r = start_island_report();
        r->status = solve_island(all->m, all->d, work, b->islands.head[b->islands.names[i]], r);
        work->failed = r->status != ITM_OK ? i : work->failed;
    }
}

#define LARGE_SHARE 8  // an island with more than one in so many of the rows per thread is begun before the others

// The order in which islands are begun: large ones first, so that no thread is left with one when the others are done.
static int order_islands(ItmBounded* b)
{
    int count = 0, large = b->nrow / (LARGE_SHARE * (1 + b->nother));
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < b->islands.count; i++) {
            int head = b->islands.head[b->islands.names[i]];
            bool is_first = b->nother == 0 || count_rows(b, head) > large;
            if (!b->blocks[head].is_in_rim && is_first == (pass == 0)) {
                b->islands.order[count++] = i;
            }
        }
    }
    return count;
}

// The error of the first island that failed.
static ItmStatus take_error(ItmData* d, int island)
{
    ItmBounded* b = d->bounded;
    const ItmBoundWork* work = &b->work;
    for (int i = 0; work->failed != island; i++) {
        work = &b->others[i];
    }
    d->error = work->error;
    return b->islands.reports[island].status;
}

ItmStatus itm_bounded_solve_islands(const ItmModel* m, ItmData* d)
{
    ItmBounded* b = d->bounded;
    Islands all = {.m = m, .d = d, .count = order_islands(b)};
    int nthread = all.count < 1 + b->nother ? all.count : 1 + b->nother;
    itm_pool_run(b->pool, solve_some, &all, nthread);
    // in the order of the islands, whoever solved them
    for (int i = 0; i < b->islands.count; i++) {
        if (!b->blocks[b->islands.head[b->islands.names[i]]].is_in_rim) {
            take_report(d, &b->islands.reports[i]);
            if (b->islands.reports[i].status != ITM_OK) {
                return take_error(d, i);
            }
        }
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- all of them

void itm_bounded_respond(const ItmModel* m, ItmData* d, double* v, const double* x, double* lambda)
{
    double* change = d->x2;
    memset(change, 0, sizeof(double) * (size_t)m->nv);
    itm_bounded_apply(m, d, change, x);
    if (m->nrow > 0) {
        double* answer = d->rows.x;
        itm_rows_multiply(m, d, answer, change);
        for (int i = 0; i < m->nrow; i++) {
            answer[i] = -answer[i];
        }
        itm_blocks_solve(&m->pattern, &d->rows.factor, answer);
        itm_rows_apply(m, d, change, answer);
        for (int i = 0; lambda != NULL && i < m->nrow; i++) {
            lambda[i] += answer[i];
        }
    }
    for (int i = 0; i < m->nv; i++) {
        v[i] += change[i];
    }
}

void itm_bounded_book_work(ItmData* d, const ItmRow* row, double work)
{
    if (row->kind == ITM_BOUND_MOTOR) {
        d->energy.ledger[ITM_LEDGER_MOTION] += work;
    } else {
        d->energy.ledger[itm_row_is_unilateral(row) ? ITM_LEDGER_IMPACT : ITM_LEDGER_FRICTION] -= work;
        itm_clearance_book_work(d, row, work);
    }
}

// What overlaps at the start was compressed before.
static void book_start(ItmData* d)
{
    const ItmBounded* b = d->bounded;
    for (int i = 0; i < b->nrow; i++) {
        *d->energy.elastic += itm_row_compute_elastic(&b->rows[i], b->rows[i].gap);
    }
    *d->energy.start += *d->energy.elastic;
}

// Works of the impulses, with the mean of the row velocities before and after the step, the memory for the next one, and the report. Rows
// that were solved in an interface model are counted there, and have their gap at the end of the step from it. Compliant rows store
// energy; they do not lose it. Returns whether positions are corrected.
static bool finish_rows(ItmData* d)
{
    ItmBounded* b = d->bounded;
    double elastic = itm_sleep_get_elastic(d);
    bool has_correction = false;
    b->memory.nnext = b->nrow;
    for (int i = 0; i < b->nrow; i++) {
        ItmRow* row = &b->rows[i];
        if (!b->blocks[row->block].is_in_rim) {
            itm_bounded_book_work(d, row, 0.5 * b->x[i] * (row->rate + b->v_after[i]) + row->late_work);
            row->gap_after = row->gap + d->h * b->v_after[i];  // as its force has it
        }
        elastic += itm_row_compute_elastic(row, row->gap_after);
        b->memory.next[i] = (ItmRowRecord){.key = row->key, .x = b->x[i], .state = remembered_state(b, i)};
        note_direction(d, row, &b->memory.next[i]);
        d->info.nactive += b->state[i] == ITM_ROW_ACTIVE;
        has_correction = has_correction || b->x_correction[i] != 0.0;
    }
    d->energy.ledger[ITM_LEDGER_IMPACT] -= elastic - *d->energy.elastic;
    *d->energy.elastic = elastic;
    return has_correction;
}

void itm_bounded_book_answer(const ItmModel* m, ItmData* d, const double* answer, const double* before, const double* v,
                             bool is_driven)
{
    itm_rows_multiply(m, d, d->rows.x, v);
    for (int k = 0; k < m->nblock; k++) {
        const ItmRowBlock* block = &m->blocks[k];
        bool is_motion = block->kind == ITM_BLOCK_MOTION;
        if (itm_block_is_compliant(block) || (is_motion && !is_driven)) {
            continue;
        }
        double work = 0.0;
        for (int i = block->row; i < block->row + block->nrow; i++) {
            work += 0.5 * answer[i] * (before[i] + d->rows.x[i]);
        }
        d->energy.ledger[is_motion ? ITM_LEDGER_MOTION : ITM_LEDGER_IMPACT] += is_motion ? work : -work;
    }
}

// The impulses act on v, with the reaction of the bilateral rows, whose work is counted where the stepper asks for it.
static void respond_and_book(const ItmModel* m, ItmData* d, double* v)
{
    double* answer = d->rows.scratch;
    memset(answer, 0, sizeof(double) * (size_t)m->nrow);
    itm_bounded_respond(m, d, v, d->bounded->x, answer);
    if (d->bounded->books_answer) {
        itm_bounded_book_answer(m, d, answer, d->rows.before, v, false);
    }
    for (int i = 0; i < m->nrow; i++) {
        d->lambda[i] += answer[i];
    }
}

static void start_report(ItmData* d)
{
    ItmBounded* b = d->bounded;
    b->worst_row = ITM_NONE;
    b->worst_residual = 0.0;
    d->info.nbounded = b->nrow;
    d->info.nactive = d->info.solver_iterations = d->info.solver_redundant = 0;
    d->info.solver_residual = d->info.penetration = d->info.step_impact_loss = 0.0;
}

static ItmStatus fail_overfull(const ItmModel* m, ItmData* d)
{
    char where[160] = "";
    if (d->contact != NULL && d->contact->lost_first != ITM_NONE) {
        snprintf(where, sizeof where, ", the first to be left out between '%.50s' and '%.50s'",
                 m->contact->colliders[d->contact->lost_first].name,
                 m->contact->colliders[d->contact->lost_second].name);
    }
    return itm_error_set(
        &d->error, ITM_ERR_CAPACITY, "itm_step", NULL,
        "more contacts, or more shapes close to each other, than there is room for (%d contacts)%s; raise "
        "max_contacts",
        m->ncontact_max, where);
}

#define BLOCK_CHUNK 64  // blocks that a thread takes at a time

typedef struct Blocks {
    const ItmModel* m;
    ItmData* d;
} Blocks;

static void half_solve(const ItmModel* m, ItmData* d, const ItmRowBlock* path)
{
    const ItmBounded* b = d->bounded;
    itm_mass_half_solve(m, d, b->Y + path->y_adr, path, b->cov + path->cov_adr);
}

// Those of a chunk of blocks that several threads may solve at a time.
static void half_solve_some(void* context, int chunk)
{
    const Blocks* all = context;
    const ItmBounded* b = all->d->bounded;
    int end = BLOCK_CHUNK * (chunk + 1) < b->nblock ? BLOCK_CHUNK * (chunk + 1) : b->nblock;
    for (int k = BLOCK_CHUNK * chunk; k < end; k++) {
        if (itm_mass_has_root_leaves_only(all->m, &b->blocks[k].path)) {
            half_solve(all->m, all->d, &b->blocks[k].path);
        }
    }
}

// Y = L^-1 A' of all rows, and what the last step has left for them, while they are at hand.
static void half_solve_and_recall(const ItmModel* m, ItmData* d)
{
    ItmBounded* b = d->bounded;
    Blocks all = {m, d};
    if (b->pool != NULL && !b->has_Y) {
        itm_pool_run(b->pool, half_solve_some, &all, (b->nblock + BLOCK_CHUNK - 1) / BLOCK_CHUNK);
    }
    for (int k = 0; k < b->nblock; k++) {
        const ItmBoundBlock* block = &b->blocks[k];
        if (!b->has_Y && (b->pool == NULL || !itm_mass_has_root_leaves_only(m, &block->path))) {
            half_solve(m, d, &block->path);
        }
        recall(m, d, block);
    }
    b->has_Y = true;
}

ItmStatus itm_bounded_begin(const ItmModel* m, ItmData* d)
{
    ItmBounded* b = d->bounded;
    start_report(d);
    if (b->is_overfull) {
        return fail_overfull(m, d);
    }
    half_solve_and_recall(m, d);
    memset(b->x_correction, 0, sizeof(double) * (size_t)b->nrow);
    find_islands(m, b);
    d->info.nisland = b->islands.count;
    return ITM_OK;
}

// What the turning of joints has changed of A v by the middle of a step h, for bilateral row i: the velocities at its start are projected,
// and rigid rows have the rate -h/2 A' v in the middle. Steps that start with half of the forces begin there too, as do those that feed gaps
// back, without projection.
static double find_turn(const ItmModel* m, const ItmData* d, int i, double h, double since)
{
    bool is_turned = since >= h && !d->bounded->step.feeds_gaps_back &&
                     !itm_block_is_compliant(&m->blocks[m->row_block[i]]) && !itm_inertial_is_fast_row(m, d, i);
    return is_turned ? -0.5 * h * d->rows.bias[i] : 0.0;
}

// Rates of all rows in the middle of the last step, from those at its end.
static void set_mid_rates(const ItmModel* m, ItmData* d)
{
    ItmBounded* b = d->bounded;
    double *turn = d->rows.x, *v = d->x2, *rate = b->work.sweep.change;
    for (int i = 0; i < m->nrow; i++) {
        turn[i] = find_turn(m, d, i, b->step.h, b->step.since);
    }
    itm_blocks_solve(&m->pattern, &d->rows.factor, turn);
    memset(v, 0, sizeof(double) * (size_t)m->nv);
    itm_rows_apply(m, d, v, turn);
    itm_bounded_multiply(m, d, rate, v);
    for (int i = 0; i < b->nrow; i++) {
        b->rows[i].rate_mid -= rate[i];
    }
}

// Which bodies a row connects: points of one face bounce together. Limits are on their own.
static void set_pairs(ItmBounded* b)
{
    for (int i = 0; i < b->nrow; i++) {
        ItmRow* row = &b->rows[i];
        const ItmRowBlock* path = &b->blocks[row->block].path;
        unsigned first = path->nbody > 0 ? (unsigned)path->body[0] + 1u : 0u;
        unsigned second = path->nbody > 1 ? (unsigned)path->body[1] + 1u : 0u;
        bool is_limit = row->kind == ITM_BOUND_LIMIT;
        row->pair = (int)(is_limit ? 0x40000000u | (unsigned)row->owner : (first * 32749u + second) & 0x3fffffffu);
    }
}

void itm_bounded_set_offsets(const ItmModel* m, ItmData* d, const double* v, double h, double since)
{
    ItmBounded* b = d->bounded;
    b->step.h = h;
    b->step.since = since;
    b->step.places_hits = since > 0.0;
    b->step.restitution_speed = m->contact_options.restitution_speed;
    itm_bounded_multiply(m, d, b->v_after, v);
    bool is_any = false;
    for (int i = 0; i < b->nrow; i++) {
        ItmRow* row = &b->rows[i];
        row->omega = itm_row_compute_omega(row, h);
        row->offset = itm_row_compute_offset(row, &b->step);
        itm_row_let_bounce(row, &b->step, b->v_after[i]);
        row->rate_mid = row->rate;
        is_any = is_any || row->is_bouncing;
    }
    if (is_any && b->step.places_hits) {
        set_pairs(b);
    }
    if (is_any && m->nrow > 0 && b->step.places_hits) {
        set_mid_rates(m, d);
    }
}

// Reactions of the bilateral rows to the hits, or to them times how late they are; way (nv): the velocities or the displacement.
static void respond_to_hits(const ItmModel* m, ItmData* d, double* way, double* reaction, bool is_late)
{
    ItmBounded* b = d->bounded;
    double* x = b->work.sweep.change;
    for (int i = 0; i < b->nrow; i++) {
        x[i] = is_late ? b->rows[i].late : b->rows[i].hit;
    }
    memset(way, 0, sizeof(double) * (size_t)m->nv);
    memset(reaction, 0, sizeof(double) * (size_t)m->nrow);
    itm_bounded_respond(m, d, way, x, reaction);
}

// Works of the reactions of bilateral rows to hits, beside (before + rate) / 2 times it: their rates c at the time of the hit, as
// itm_row_compute_rate has them for bounded rows. v: velocities without bounded rows.
static void book_late_reaction(const ItmModel* m, ItmData* d, const double* reaction, const double* late,
                               const double* v)
{
    double *rate = d->rows.x, h = d->bounded->step.h, since = d->bounded->step.since;
    itm_rows_multiply(m, d, rate, v);
    for (int i = 0; i < m->nrow; i++) {
        const ItmRowBlock* block = &m->blocks[m->row_block[i]];
        double change = rate[i] - d->rows.before[i], a = (change + find_turn(m, d, i, h, since)) / since;
        double work = reaction[i] * 0.5 * (change - h * a) + late[i] * a;
        if (!itm_block_is_compliant(block)) {
            bool is_motion = block->kind == ITM_BLOCK_MOTION;
            d->energy.ledger[is_motion ? ITM_LEDGER_MOTION : ITM_LEDGER_IMPACT] += is_motion ? work : -work;
        }
    }
}

// Hits act late in the step: the bodies move without them until then, which the displacement `way` takes back. Loads do work along it;
// potential energy has it from the positions. v: velocities without bounded rows.
static void place_hits(const ItmModel* m, ItmData* d, double* way, const double* v)
{
    ItmBounded* b = d->bounded;
    double *reaction = d->rows.scratch, *late = d->rows.scratch + m->nrow;
    bool is_any = false;
    memset(way, 0, sizeof(double) * (size_t)m->nv);
    for (int i = 0; i < b->nrow; i++) {
        is_any = is_any || b->rows[i].hit != 0.0;
    }
    if (is_any) {
        respond_to_hits(m, d, way, reaction, false);
        respond_to_hits(m, d, way, late, true);
        for (int i = 0; i < m->nv; i++) {
            way[i] = -way[i];
        }
        book_late_reaction(m, d, reaction, late, v);
        d->energy.ledger[ITM_LEDGER_LOAD] += itm_forces_compute_load_work(m, d, way, itm_data_get_time(d));
    }
}

void itm_bounded_finish(const ItmModel* m, ItmData* d, double* v, double* correction)
{
    ItmBounded* b = d->bounded;
    place_hits(m, d, correction, v);
    if (b->nrow > 0) {
        respond_and_book(m, d, v);
    }
    if (*d->steps == 0.0 && *d->time == 0.0) {
        book_start(d);
    }
    if (finish_rows(d)) {
        itm_bounded_respond(m, d, correction, b->x_correction, NULL);
    }
    // the impulses of the projection belong to the forces of the step
    for (int i = 0; m->nclearance > 0 && i < b->nrow; i++) {
        b->x[i] += b->projection.x[i];
    }
    itm_clearance_tally(m, d, d->h);
}

bool itm_bounded_is_one_island(const ItmBounded* b)
{
    return b->islands.count == 1 && b->nrow < SPARSE_FROM;
}

ItmStatus itm_bounded_solve_assembled(const ItmModel* m, ItmData* d, double* v, double* correction, double h,
                                      double since)
{
    itm_bounded_set_offsets(m, d, v, h, since);
    itm_bounded_load(d->bounded, &d->bounded->work);
    ItmStatus status = itm_bounded_solve_velocities(m, d);
    if (status == ITM_OK) {
        itm_bounded_finish(m, d, v, correction);
    }
    return status;
}

ItmStatus itm_bounded_solve(const ItmModel* m, ItmData* d, double* v, double* correction, double h, double since)
{
    ItmStatus status = itm_bounded_begin(m, d);
    if (status != ITM_OK) {
        return status;
    }
    itm_bounded_set_offsets(m, d, v, h, since);
    status = itm_bounded_solve_islands(m, d);
    if (status == ITM_OK) {
        itm_bounded_finish(m, d, v, correction);
    }
    return status;
}
