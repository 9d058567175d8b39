// Projected Gauss-Seidel without forming H. In mass-normalised velocities z = sum Y' x (6 a body) a row's velocity is
// target + Y z + Omega x, so that one visit of a row costs a dot product and an update over its one or two bodies.
//   normal     x <- max(lo, min(up, x - w / D)),  D = |Y|^2 + Omega
//   friction   x_t <- projection of (x_t - w_t / D_t) onto the law's set for the present normal impulse
// Sweeps go forwards and backwards in turn: weight travels down a stack in one and back in the other. A pair of sweeps is
// taken as a descent step and accelerated as in nonlinear conjugate gradients: with s_k the change that the pair made,
//   beta = |s_k|^2 / |s_k-1|^2;  beta > 1: forget the direction, else x += beta p, p <- beta p + s_k
// (the nonsmooth variant of Silcowitz-Hansen, Niebe and Erleben 2010). The last pair is never accelerated, so that the result
// satisfies all bounds.
#include "stepper/sweep.h"

#include "math/lanes.h"
#include "mlcp/friction.h"

#include <math.h>
#include <string.h>

bool itm_sweep_is_suitable(const ItmModel* m, const ItmBounded* b, int head)
{
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        const ItmRowBlock* path = &b->blocks[k].path;
        for (int i = 0; i < path->npath; i++) {
            int body = path->path[i];
            bool has_rows = m->nrow > 0 && m->body_block_adr[body] != m->body_block_adr[body + 1];
            if (!m->bodies[body].is_root_leaf || has_rows) {
                return false;
            }
        }
    }
    return true;
}

// ---------------------------------------------------------------------------- rows and bodies

// w = Y z of one row
static inline double read_row(const ItmBounded* b, const ItmRowBlock* path, const double* y)
{
    double sum = 0.0;
    for (int i = 0; i < path->npath; i++) {
        sum += itm_pair_dot(y + 6 * i, b->sweep_z + 6 * path->path[i], 6);
    }
    return sum;
}

// z += Y' dx
static inline void write_row(ItmBounded* b, const ItmRowBlock* path, const double* y, double dx)
{
    for (int i = 0; i < path->npath; i++) {
        double* z = b->sweep_z + 6 * path->path[i];
        const double* y_i = y + 6 * i;
        for (int k = 0; k < 6; k += 2) {
            itm_pair_store(z + k, itm_pair_load(z + k) + itm_pair_splat(dx) * itm_pair_load(y_i + k));
        }
    }
}

static inline const double* row_Y(const ItmBounded* b, const ItmBoundBlock* block, int row)
{
    return b->Y + block->path.y_adr + (row - block->first) * block->path.ny;
}

static bool takes_part(const ItmBoundRow* row, bool only_normals)
{
    return itm_bound_row_is_unilateral(row) || !only_normals;
}

// Inverse of D for every row, and z of the impulses that the sweeps start from.
static void prepare(ItmBounded* b, int head, const double* x, bool only_normals)
{
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        const ItmRowBlock* path = &b->blocks[k].path;
        for (int i = 0; i < path->npath; i++) {
            memset(b->sweep_z + 6 * path->path[i], 0, 6 * sizeof(double));
        }
    }
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        const ItmBoundBlock* block = &b->blocks[k];
        for (int i = block->first; i < block->first + block->nrow; i++) {
            const double* y = row_Y(b, block, i);
            double D = b->rows[i].omega;
            for (int l = 0; l < block->path.ny; l++) {
                D += y[l] * y[l];
            }
            b->sweep_inv_D[i] = 1.0 / D;
            if (takes_part(&b->rows[i], only_normals)) {
                write_row(b, &block->path, y, x[i]);
            }
        }
    }
}

// ---------------------------------------------------------------------------- visiting a block

// The row that a sweep found farthest off its law.
typedef struct {
    int row;
    double off;  // m/s
} Farthest;

static inline double clamp(double x, double lo, double up)
{
    return x < lo ? lo : x > up ? up : x;
}

// Change one impulse by dx and note how large a velocity that was.
static inline void move(ItmBounded* b, const ItmBoundBlock* block, double* x, int row, double x_next,
                        Farthest* farthest)
{
    double dx = x_next - x[row];
    if (dx == 0.0) {
        return;
    }
    x[row] = x_next;
    write_row(b, &block->path, row_Y(b, block, row), dx);
    double off = fabs(dx) / b->sweep_inv_D[row];
    if (!(off <= farthest->off)) {
        *farthest = (Farthest){row, off};
    }
}

// x - w / D of one row
static inline double wish(const ItmBounded* b, const ItmBoundBlock* block, const double* x, const double* target,
                          int row)
{
    double w = target[row] + read_row(b, &block->path, row_Y(b, block, row)) + b->rows[row].omega * x[row];
    return x[row] - w * b->sweep_inv_D[row];
}

// Two tangents at once, onto the set that the law allows for a normal impulse.
static void visit_tangents(ItmBounded* b, const ItmBoundBlock* block, const ItmMlcpContact* c, double* x,
                           const double* target, Farthest* farthest)
{
    double bound = x[c->normal] > 0.0 ? c->mu * x[c->normal] : 0.0;
    int first = c->tangent[0], second = c->tangent[1];
    if (c->law == ITM_FRICTION_BOX || second == ITM_NONE) {
        for (int k = 0; k < 2 && c->tangent[k] != ITM_NONE; k++) {
            double t = wish(b, block, x, target, c->tangent[k]);
            move(b, block, x, c->tangent[k], clamp(t, -bound, bound), farthest);
        }
        return;
    }
    double t[2] = {wish(b, block, x, target, first), wish(b, block, x, target, second)};
    itm_friction_project_tangents(c, t, bound);
    move(b, block, x, first, t[0], farthest);
    move(b, block, x, second, t[1], farthest);
}

static void visit(ItmBounded* b, const ItmBoundBlock* block, double* x, const double* target, bool only_normals,
                  Farthest* farthest)
{
    for (int i = block->first; i < block->first + block->nrow; i++) {
        const ItmBoundRow* row = &b->rows[i];
        if (takes_part(row, only_normals) && !row->is_coupled) {
            double lo = only_normals && row->is_held ? -INFINITY : row->lo;
            move(b, block, x, i, clamp(wish(b, block, x, target, i), lo, row->up), farthest);
        }
    }
    for (int c = 0; c < block->ncoupling && !only_normals; c++) {
        visit_tangents(b, block, &b->couplings[block->first_coupling + c], x, target, farthest);
    }
}

// ---------------------------------------------------------------------------- sweeping

// Blocks of the island in b->islands' scratch order, so that sweeps can go both ways. Returns how many.
static int list_blocks(ItmBounded* b, int head)
{
    int n = 0;
    for (int k = head; k != ITM_NONE; k = b->blocks[k].next) {
        b->sweep_order[n++] = k;
    }
    return n;
}

// Call for every row of the island.
#define FOR_ROWS(b, head, block, i)                                                                                    \
    for (int block = (head); block != ITM_NONE; block = (b)->blocks[block].next)                                       \
        for (int i = (b)->blocks[block].first; i < (b)->blocks[block].first + (b)->blocks[block].nrow; i++)

// One pair of sweeps. Returns the row that was off by the largest velocity in the second.
static Farthest sweep_pair(ItmBounded* b, int n, double* x, const double* target, bool only_normals)
{
    Farthest ignored = {ITM_NONE, 0.0}, farthest = {b->blocks[b->sweep_order[0]].first, 0.0};
    for (int i = 0; i < n; i++) {
        visit(b, &b->blocks[b->sweep_order[i]], x, target, only_normals, &ignored);
    }
    for (int i = n - 1; i >= 0; i--) {
        visit(b, &b->blocks[b->sweep_order[i]], x, target, only_normals, &farthest);
    }
    return farthest;
}

// |s|^2 of the change s = x - x_prev, in the norm of the diagonal of H.
static double change_norm(const ItmBounded* b, int head, const double* x)
{
    double sum = 0.0;
    FOR_ROWS(b, head, k, i)
    {
        double s = x[i] - b->sweep_prev[i];
        sum += s * s / b->sweep_inv_D[i];
    }
    return sum;
}

// x += beta p, z with it, and p <- beta p + s
static void accelerate(ItmBounded* b, int head, double* x, double beta)
{
    FOR_ROWS(b, head, k, i)
    {
        double s = x[i] - b->sweep_prev[i], dx = beta * b->sweep_p[i];
        b->sweep_p[i] = dx + s;
        if (dx != 0.0) {
            x[i] += dx;
            write_row(b, &b->blocks[k].path, row_Y(b, &b->blocks[k], i), dx);
        }
    }
}

static double largest_target(const ItmBounded* b, int head, const double* target)
{
    double largest = 0.0;
    FOR_ROWS(b, head, k, i)
    {
        largest = fmax(largest, fabs(target[i]));
    }
    return largest;
}

ItmSweepResult itm_sweep_solve(ItmBounded* b, int head, double* x, const double* target, double* change,
                               double tolerance, int max_sweeps, bool only_normals)
{
    prepare(b, head, x, only_normals);
    int n = list_blocks(b, head);
    double scale = 1.0 + largest_target(b, head, target), norm_prev = 0.0;
    ItmSweepResult result = {0};
    FOR_ROWS(b, head, k, i)
    {
        b->sweep_p[i] = 0.0;
    }
    for (;;) {
        FOR_ROWS(b, head, k, i)
        {
            b->sweep_prev[i] = x[i];
        }
        Farthest farthest = sweep_pair(b, n, x, target, only_normals);
        result.residual = farthest.off / scale;
        result.worst_row = farthest.row;
        result.sweeps += 2;
        if (result.residual <= tolerance || result.sweeps >= max_sweeps) {
            break;
        }
        double norm = change_norm(b, head, x);
        double beta = norm_prev > 0.0 && norm <= norm_prev ? norm / norm_prev : 0.0;
        accelerate(b, head, x, beta);
        norm_prev = norm;
    }
    FOR_ROWS(b, head, k, i)
    {
        change[i] = read_row(b, &b->blocks[k].path, row_Y(b, &b->blocks[k], i));
    }
    return result;
}
