// One visit of a row costs a dot product and an update over its one or two nodes.
//   row        x <- max(lo, min(up, x - w / D)),  D = |Y|^2 + omega
//   friction   x_t <- projection of (x_t - w_t / D_t) onto the law's set for the present normal impulse
// Sweeps go forwards and backwards in turn: weight travels down a stack in one and back in the other. A pair of sweeps is
// taken as a descent step and accelerated as in nonlinear conjugate gradients: with s_k the change that the pair made,
//   beta = |s_k|^2 / |s_k-1|^2;  beta > 1: forget the direction, else x += beta p, p <- beta p + s_k
// (the nonsmooth variant of Silcowitz-Hansen, Niebe and Erleben 2010). The last pair is never accelerated, so that the result
// satisfies all bounds.
#include "mlcp/sweep.h"

#include "math/lanes.h"
#include "mlcp/friction.h"

#include <math.h>
#include <string.h>

#define ALL_EVERY 8

void itm_sweep_lay_out(ItmSweep* s, ItmArena* arena, int nblock, int nrow, int ncoupling, int nnode)
{
    s->blocks = ITM_TAKE(arena, ItmSweepBlock, nblock);
    s->couplings = ITM_TAKE(arena, ItmMlcpContact, ncoupling);
    double** reals[] = {&s->x, &s->b, &s->rate, &s->lo, &s->up, &s->omega, &s->change, &s->inv_D, &s->prev, &s->p};
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        *reals[i] = ITM_TAKE(arena, double, nrow);
    }
    s->has_bounds = ITM_TAKE(arena, bool, nrow);
    s->z = ITM_TAKE(arena, double, 6 * nnode);
    s->near = ITM_TAKE(arena, double, 6 * nnode);
    s->visited = ITM_TAKE(arena, int, nblock);
}

// ---------------------------------------------------------------------------- rows and nodes

static inline const double* row_Y(const ItmSweepBlock* block, int row)
{
    return block->Y + (row - block->first) * 6 * block->nnode;
}

// Y z of one row
static inline double read_row(const ItmSweep* s, const ItmSweepBlock* block, int row)
{
    const double* y = row_Y(block, row);
    double sum = 0.0;
    for (int i = 0; i < block->nnode; i++) {
        sum += itm_pair_dot(y + 6 * i, s->z + 6 * block->node[i], 6);
    }
    return sum;
}

// z += Y' dx
static inline void write_row(ItmSweep* s, const ItmSweepBlock* block, int row, double dx)
{
    const double* y = row_Y(block, row);
    for (int i = 0; i < block->nnode; i++, y += 6) {
        double* z = s->z + 6 * block->node[i];
        for (int k = 0; k < 6; k += 2) {
            itm_pair_store(z + k, itm_pair_load(z + k) + itm_pair_splat(dx) * itm_pair_load(y + k));
        }
    }
}

// For every row of the problem.
#define FOR_ROWS(s, block, i)                                                                                          \
    for (const ItmSweepBlock* block = (s)->blocks; block < (s)->blocks + (s)->nblock; block++)                         \
        for (int i = block->first; i < block->first + block->nrow; i++)

// For every row of the blocks that sweeps visit.
#define FOR_VISITED(s, block, i)                                                                                       \
    for (int at = 0; at < (s)->nvisited; at++)                                                                         \
        for (const ItmSweepBlock* block = &(s)->blocks[(s)->visited[at]]; block != NULL; block = NULL)                 \
            for (int i = block->first; i < block->first + block->nrow; i++)

static inline double clamp(double x, double lo, double up)
{
    return x < lo ? lo : x > up ? up : x;
}

// Two tangents onto the set that the law allows; most laws are the cone.
static inline void project_tangents(const ItmMlcpContact* c, double* t, double bound)
{
    if (c->law == ITM_FRICTION_CONE && c->tangent[1] != ITM_NONE) {
        itm_friction_project_disc(t, bound);
    } else {
        itm_friction_project_tangents(c, t, bound);
    }
}

void itm_sweep_set_velocities(ItmSweep* s, const double* x)
{
    for (int k = 0; k < s->nblock; k++) {
        for (int i = 0; i < s->blocks[k].nnode; i++) {
            memset(s->z + 6 * s->blocks[k].node[i], 0, 6 * sizeof(double));
        }
    }
    FOR_ROWS(s, block, i)
    {
        if (x[i] != 0.0) {
            write_row(s, block, i, x[i]);
        }
    }
}

double itm_sweep_prepare(ItmSweep* s, const double* x)
{
    double largest = 0.0;
    itm_sweep_set_velocities(s, x);
    FOR_ROWS(s, block, i)
    {
        const double* y = row_Y(block, i);
        double D = s->omega[i];
        for (int l = 0; l < 6 * block->nnode; l++) {
            D += y[l] * y[l];
        }
        s->inv_D[i] = 1.0 / D;
        s->p[i] = 0.0;
        largest = fmax(largest, fabs(s->b[i]));
    }
    for (int k = 0; k < s->nblock; k++) {
        ItmSweepBlock* block = &s->blocks[k];
        block->is_cone = block->nnode <= 2 && block->ncoupling == 1 && itm_sweep_is_cone(s, block);
        if (block->is_cone) {
            block->mu = s->couplings[block->first_coupling].mu;
            for (int l = 0; l < 2; l++) {
                block->H[l] = itm_pair_dot(block->Y, row_Y(block, block->first + 1 + l), 6 * block->nnode);
            }
        }
    }
    return largest;
}

// Whether a block with one coupling, the contact of its rows, carries nothing and opens: then it obeys the law.
static inline bool is_idle(const ItmSweep* s, const ItmSweepBlock* block, const double* w, const double* x)
{
    int i = block->first;
    return block->ncoupling == 1 && block->nrow == 3 && w[i] >= 0.0 && s->lo[i] == 0.0 && x[i] == 0.0 &&
           x[i + 1] == 0.0 && x[i + 2] == 0.0;
}

void itm_sweep_extract(ItmSweep* part, const ItmSweep* s, const int* blocks, int n, const double* x)
{
    part->nblock = part->ncoupling = n;
    part->nrow = 3 * n;
    for (int k = 0; k < n; k++) {
        const ItmSweepBlock* block = &s->blocks[blocks[k]];
        part->blocks[k] = *block;
        part->blocks[k].first = 3 * k;
        part->blocks[k].first_coupling = k;
        part->couplings[k] = s->couplings[block->first_coupling];
        part->couplings[k].normal = 3 * k;
        for (int i = 0; i < 2; i++) {
            part->couplings[k].tangent[i] = 3 * k + 1 + i;
        }
        for (int i = 0; i < 3; i++) {
            int to = 3 * k + i, from = block->first + i;
            part->x[to] = x[from];
            part->rate[to] = s->rate[from];
            part->lo[to] = s->lo[from];
            part->up[to] = s->up[from];
            part->omega[to] = s->omega[from];
            part->has_bounds[to] = s->has_bounds[from];
            part->b[to] = s->b[from] + read_row(s, block, from);
        }
    }
    itm_sweep_set_velocities(part, part->x);
    FOR_ROWS(part, block, i)
    {
        part->b[i] -= read_row(part, block, i);
    }
}

bool itm_sweep_is_cone(const ItmSweep* s, const ItmSweepBlock* block)
{
    const ItmMlcpContact* c = &s->couplings[block->first_coupling];
    return block->ncoupling == 1 && block->nrow == 3 && c->law == ITM_FRICTION_CONE && c->normal == block->first &&
           c->tangent[0] == block->first + 1 && c->tangent[1] == block->first + 2 && s->lo[block->first] == 0.0 &&
           s->up[block->first] == INFINITY;
}

// The row that a sweep found farthest off its law.
typedef struct {
    int row;
    double off;  // m/s
} Farthest;

// How far a block is off, and the row that is farthest.
static Farthest measure_block(const ItmSweep* s, const ItmSweepBlock* block, const double* w, const double* x)
{
    double off[ITM_SWEEP_MOST_ROWS];
    Farthest farthest = {block->first, 0.0};
    if (is_idle(s, block, w, x)) {
        return farthest;
    }
    for (int l = 0; l < block->nrow; l++) {
        int i = block->first + l;
        double y = x[i] - (w[i] + s->omega[i] * x[i]) * s->inv_D[i];
        off[l] = s->has_bounds[i] ? clamp(y, s->lo[i], s->up[i]) - x[i] : block->ncoupling > 0 ? y : 0.0;
    }
    if (block->ncoupling > 0) {
        const ItmMlcpContact* c = &s->couplings[block->first_coupling];
        project_tangents(c, off + 1, x[block->first] > 0.0 ? c->mu * x[block->first] : 0.0);
        off[1] -= x[block->first + 1];
        off[2] -= x[block->first + 2];
    }
    for (int l = 0; l < block->nrow; l++) {
        double size = fabs(off[l]) / s->inv_D[block->first + l];
        if (!(size <= farthest.off)) {
            farthest = (Farthest){block->first + l, size};
        }
    }
    return farthest;
}

double itm_sweep_measure(const ItmSweep* s, const double* w, const double* x, int* worst_row)
{
    Farthest farthest = {s->blocks[0].first, 0.0};
    for (int k = 0; k < s->nblock; k++) {
        Farthest here = measure_block(s, &s->blocks[k], w, x);
        farthest = here.off <= farthest.off ? farthest : here;
    }
    *worst_row = farthest.row;
    return farthest.off;
}

// ---------------------------------------------------------------------------- visiting a block

// A block that is being visited, with the velocities of its nodes at hand.
typedef struct {
    const ItmSweepBlock* block;
    int nnode;   // 1 and 2 as constants, so that z stays in registers
    ItmPair* z;  // (3 nnode)
} Visit;

// Change one impulse and note how large a velocity that was.
static inline void move(const ItmSweep* s, Visit* v, double* x, int row, double x_next, Farthest* farthest)
{
    double dx = x_next - x[row];
    if (dx == 0.0) {
        return;
    }
    x[row] = x_next;
    const double* y = row_Y(v->block, row);
    for (int k = 0; k < 3 * v->nnode; k++) {
        v->z[k] += itm_pair_splat(dx) * itm_pair_load(y + 2 * k);
    }
    double off = fabs(dx) / s->inv_D[row];
    if (!(off <= farthest->off)) {
        *farthest = (Farthest){row, off};
    }
}

// x - w / D of one row
static inline double wish(const ItmSweep* s, const Visit* v, const double* x, int row)
{
    const double* y = row_Y(v->block, row);
    double w = s->b[row];
    for (int i = 0; i < v->nnode; i++) {
        ItmPair sum = itm_pair_splat(0.0);
        for (int k = 3 * i; k < 3 * i + 3; k++) {
            sum += itm_pair_load(y + 2 * k) * v->z[k];
        }
        w += sum[0] + sum[1];
    }
    return x[row] - (w + s->omega[row] * x[row]) * s->inv_D[row];
}

// Two tangents at once, onto the set that the law allows for a normal impulse.
static inline void visit_tangents(const ItmSweep* s, Visit* v, const ItmMlcpContact* c, double* x, Farthest* farthest)
{
    double bound = x[c->normal] > 0.0 ? c->mu * x[c->normal] : 0.0;
    int first = c->tangent[0], second = c->tangent[1];
    if (c->law == ITM_FRICTION_BOX || second == ITM_NONE) {
        for (int k = 0; k < 2 && c->tangent[k] != ITM_NONE; k++) {
            move(s, v, x, c->tangent[k], clamp(wish(s, v, x, c->tangent[k]), -bound, bound), farthest);
        }
        return;
    }
    if (bound == 0.0 && x[first] == 0.0 && x[second] == 0.0) {
        return;  // nothing presses, nothing rubs
    }
    double t[2] = {wish(s, v, x, first), wish(s, v, x, second)};
    project_tangents(c, t, bound);
    move(s, v, x, first, t[0], farthest);
    move(s, v, x, second, t[1], farthest);
}

static inline void visit_with(ItmSweep* s, const ItmSweepBlock* block, int nnode, ItmPair* z, double* x,
                              Farthest* farthest)
{
    Visit v = {.block = block, .nnode = nnode, .z = z};
    for (int k = 0; k < 3 * nnode; k++) {
        v.z[k] = itm_pair_load(s->z + 6 * block->node[k / 3] + 2 * (k % 3));
    }
    for (int i = block->first; i < block->first + block->nrow; i++) {
        if (s->has_bounds[i]) {
            move(s, &v, x, i, clamp(wish(s, &v, x, i), s->lo[i], s->up[i]), farthest);
        }
    }
    for (int c = 0; c < block->ncoupling; c++) {
        visit_tangents(s, &v, &s->couplings[block->first_coupling + c], x, farthest);
    }
    for (int k = 0; k < 3 * nnode; k++) {
        itm_pair_store(s->z + 6 * block->node[k / 3] + 2 * (k % 3), v.z[k]);
    }
}

// The same of a contact with the exact cone: all of its rows are read at once, and written at once, because the chain from one number to
// the next is what a visit costs.
static inline void visit_cone(ItmSweep* s, const ItmSweepBlock* block, int nnode, double* x, Farthest* farthest)
{
    const double *y = block->Y, *inv_D = s->inv_D + block->first, *omega = s->omega + block->first;
    double *x_k = x + block->first, w[3], dx[3];
    ItmPair z[6];
    for (int k = 0; k < 3 * nnode; k++) {
        z[k] = itm_pair_load(s->z + 6 * block->node[k / 3] + 2 * (k % 3));
    }
    for (int i = 0; i < 3; i++) {
        ItmPair sum = itm_pair_splat(0.0), other = sum;
        for (int k = 0; k < 3; k++) {
            sum += itm_pair_load(y + 6 * nnode * i + 2 * k) * z[k];
            if (nnode == 2) {
                other += itm_pair_load(y + 12 * i + 6 + 2 * k) * z[3 + k];
            }
        }
        sum += other;
        w[i] = s->b[block->first + i] + omega[i] * x_k[i] + (sum[0] + sum[1]);
        if (i == 0 && w[0] >= 0.0 && x_k[0] == 0.0 && x_k[1] == 0.0 && x_k[2] == 0.0) {
            return;  // open, and stays so
        }
    }
    double normal = x_k[0] - w[0] * inv_D[0];
    normal = normal < 0.0 ? 0.0 : normal;
    dx[0] = normal - x_k[0];
    double t[2] = {x_k[1] - (w[1] + block->H[0] * dx[0]) * inv_D[1], x_k[2] - (w[2] + block->H[1] * dx[0]) * inv_D[2]};
    itm_friction_project_disc(t, block->mu * normal);
    dx[1] = t[0] - x_k[1];
    dx[2] = t[1] - x_k[2];
    if (dx[0] == 0.0 && dx[1] == 0.0 && dx[2] == 0.0) {
        return;
    }
    x_k[0] = normal;
    x_k[1] = t[0];
    x_k[2] = t[1];
    for (int k = 0; k < 3 * nnode; k++) {
        ItmPair sum = itm_pair_splat(dx[0]) * itm_pair_load(y + 2 * k);
        sum += itm_pair_splat(dx[1]) * itm_pair_load(y + 6 * nnode + 2 * k);
        sum += itm_pair_splat(dx[2]) * itm_pair_load(y + 12 * nnode + 2 * k);
        itm_pair_store(s->z + 6 * block->node[k / 3] + 2 * (k % 3), z[k] + sum);
    }
    for (int i = 0; i < 3; i++) {
        double off = fabs(dx[i]) / inv_D[i];
        if (!(off <= farthest->off)) {
            *farthest = (Farthest){block->first + i, off};
        }
    }
}

static void visit(ItmSweep* s, const ItmSweepBlock* block, double* x, Farthest* farthest)
{
    ItmPair z[6];
    if (block->is_cone && block->nnode == 2) {
        visit_cone(s, block, 2, x, farthest);
    } else if (block->is_cone) {
        visit_cone(s, block, 1, x, farthest);
    } else if (block->nnode == 2) {
        visit_with(s, block, 2, z, x, farthest);
    } else if (block->nnode == 1) {
        visit_with(s, block, 1, z, x, farthest);
    } else {
        visit_with(s, block, block->nnode, (ItmPair*)s->near, x, farthest);
    }
}

// ---------------------------------------------------------------------------- sweeping

static bool has_impulse(const ItmSweepBlock* block, const double* x)
{
    for (int i = block->first; i < block->first + block->nrow; i++) {
        if (x[i] != 0.0) {
            return true;
        }
    }
    return false;
}

// The blocks that the next pairs of sweeps visit: all, or those with impulses.
static void choose_blocks(ItmSweep* s, const double* x, bool is_all)
{
    s->nvisited = 0;
    for (int k = 0; k < s->nblock; k++) {
        const ItmSweepBlock* block = &s->blocks[k];
        if (is_all || has_impulse(block, x)) {
            s->visited[s->nvisited++] = k;
        } else {
            memset(s->p + block->first, 0, sizeof(double) * (size_t)block->nrow);
        }
    }
}

// One pair of sweeps. Returns the row that was off by the largest velocity in the second.
static Farthest sweep_pair(ItmSweep* s, double* x)
{
    Farthest ignored = {ITM_NONE, 0.0}, farthest = {s->blocks[0].first, 0.0};
    for (int i = 0; i < s->nvisited; i++) {
        visit(s, &s->blocks[s->visited[i]], x, &ignored);
    }
    for (int i = s->nvisited - 1; i >= 0; i--) {
        visit(s, &s->blocks[s->visited[i]], x, &farthest);
    }
    return farthest;
}

void itm_sweep_repair(ItmSweep* s, double* x, int npair)
{
    for (int k = 0; k < npair; k++) {
        sweep_pair(s, x);
    }
}

// |s|^2 of the change s = x - x_prev, in the norm of the diagonal of H.
static double change_norm(const ItmSweep* s, const double* x)
{
    double sum = 0.0;
    FOR_VISITED(s, block, i)
    {
        double dx = x[i] - s->prev[i];
        sum += dx * dx / s->inv_D[i];
    }
    return sum;
}

// x += beta p, z with it, and p <- beta p + s
static void accelerate(ItmSweep* s, double* x, double beta)
{
    FOR_VISITED(s, block, i)
    {
        double change = x[i] - s->prev[i], dx = beta * s->p[i];
        s->p[i] = dx + change;
        if (dx != 0.0) {
            x[i] += dx;
            write_row(s, block, i, dx);
        }
    }
}

// Most contacts of a heap are open and stay so: only every ALL_EVERY-th pair of sweeps, and the last, visits those without impulses.
ItmSweepResult itm_sweep_solve(ItmSweep* s, double* x, double tolerance, int max_sweeps)
{
    double scale = 1.0 + itm_sweep_prepare(s, x), norm_prev = 0.0;
    ItmSweepResult result = {0};
    bool is_all = true;
    for (int pair = 0;; pair++) {
        if (is_all || pair % ALL_EVERY == 1) {
            choose_blocks(s, x, is_all);
        }
        FOR_VISITED(s, block, i)
        {
            s->prev[i] = x[i];
        }
        Farthest farthest = sweep_pair(s, x);
        result.residual = farthest.off / scale;
        result.worst_row = farthest.row;
        result.sweeps += 2;
        if (is_all && (result.residual <= tolerance || result.sweeps >= max_sweeps)) {
            break;
        }
        is_all = pair % ALL_EVERY == ALL_EVERY - 1 || result.residual <= tolerance || result.sweeps + 2 >= max_sweeps;
        double norm = change_norm(s, x);
        double beta = norm_prev > 0.0 && norm <= norm_prev ? norm / norm_prev : 0.0;
        accelerate(s, x, beta);
        norm_prev = norm;
    }
    FOR_ROWS(s, block, i)
    {
        s->change[i] = read_row(s, block, i);
    }
    return result;
}
