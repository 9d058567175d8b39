#include "stepper/clearance_projection.h"

#include "multibody/rows.h"
#include "stepper/bounded_solve.h"

#include <string.h>

// Whether a gap takes part: rigid, of a joint with clearance, closed in the last step.
static bool is_part(ItmBounded* b, const ItmRow* row)
{
    if (row->kind != ITM_BOUND_CLEARANCE || !itm_row_is_rigid(row)) {
        return false;
    }
    const ItmRowRecord* last = itm_row_memory_find(&b->memory, row->key);
    return last != NULL && last->x > 0.0;
}

bool itm_clearance_projection_is_needed(const ItmModel* m, const ItmData* d)
{
    ItmBounded* b = d->bounded;
    bool is_any = false;
    for (int i = 0; m->nclearance > 0 && m->nrow > 0 && !b->is_overfull && i < b->nrow && !is_any; i++) {
        is_any = is_part(b, &b->rows[i]);
    }
    return is_any;
}

// Gaps that take part and their friction keep their bounds, all other rows get none but zero.
static void select_rows(ItmBounded* b)
{
    bool is_in = false;
    for (int i = 0; i < b->nrow; i++) {
        ItmRow* row = &b->rows[i];
        bool is_friction = row->kind == ITM_BOUND_CLEARANCE_TANGENT || row->kind == ITM_BOUND_CLEARANCE_TORSION;
        is_in = is_friction ? is_in : is_part(b, row);
        b->projection.lo[i] = row->lo;
        b->projection.up[i] = row->up;
        row->lo = is_in ? row->lo : 0.0;
        row->up = is_in ? row->up : 0.0;
        row->offset = row->omega = 0.0;
    }
}

static void restore_bounds(ItmBounded* b)
{
    for (int i = 0; i < b->nrow; i++) {
        b->rows[i].lo = b->projection.lo[i];
        b->rows[i].up = b->projection.up[i];
    }
}

// 0 <= x _|_ A v >= 0 over the selected gaps, and their friction.
static ItmStatus solve(const ItmModel* m, ItmData* d, const double* v)
{
    ItmBounded* b = d->bounded;
    ItmStatus status = itm_bounded_begin(m, d);
    itm_bounded_multiply(m, d, b->v_after, v);
    for (int i = 0; i < b->islands.count && status == ITM_OK; i++) {
        int head = b->islands.head[b->islands.names[i]], n = itm_bounded_number_rows(b, &b->work, head);
        for (int k = 0; k < b->nrow && n > b->capacity.island; k++) {
            b->x[k] = 0.0;  // the solve of the step reports that there are too many
        }
        if (n <= b->capacity.island) {
            itm_bounded_assemble(m, d, &b->work, head, n);
            status = itm_bounded_solve_velocities(m, d);
        }
    }
    return status;
}

// The impulses act on v, with the reaction of the joints.
static void apply(const ItmModel* m, ItmData* d, double* v)
{
    double *answer = d->rows.scratch, *raw = d->rows.scratch + m->nrow;
    memset(answer, 0, sizeof(double) * (size_t)m->nrow);
    itm_bounded_respond(m, d, v, d->bounded->x, answer);
    if (m->nrow > 0) {
        itm_rows_multiply(m, d, raw, d->v_raw);
        itm_bounded_book_answer(m, d, answer, raw, v, true);
    }
}

ItmStatus itm_clearance_projection_run(const ItmModel* m, ItmData* d, double* v)
{
    ItmBounded* b = d->bounded;
    select_rows(b);
    ItmStatus status = solve(m, d, v);
    restore_bounds(b);
    if (status != ITM_OK) {
        return status;
    }
    // work with the velocities before the joints were projected, because both belong to the same end of a step
    double* before = b->work.sweep.change;
    itm_bounded_multiply(m, d, before, d->v_raw);
    for (int i = 0; i < b->nrow; i++) {
        b->projection.x[i] = b->x[i];
        itm_bounded_book_work(d, &b->rows[i], 0.5 * b->x[i] * (before[i] + b->v_after[i]));
        b->rows[i].rate = b->v_after[i];
    }
    apply(m, d, v);
    return ITM_OK;
}
