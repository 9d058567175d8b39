// With z = sum Y'x the velocities that impulses x cause, and w = b + Y z, contacts with friction obey (de Saxce and Feng 1998)
//   x = P(x - rho (w + mu |w_t| n)),   P: projection onto the cone |x_t| <= mu x_n, or onto bounds lo .. up
// for any rho > 0. With base impulses x0 and the slip m = mu |w_t| held, z is the minimum of the convex function
//   phi(z) = |z|^2 / 2 + sum |P(y)|^2 / (2 rho),   y = (x0 - rho (b + Y z + m n)) / (1 + rho omega),   (rows with lo = 0)
//   phi'   = z - sum Y' P(y)
//   phi''  = 1 + sum rho / (1 + rho omega) Y' P' Y
// which Newton's method with a line search finds in a few steps; then x0 <- P(y), m <- mu |w_t|. Weights rho are large compared with the
// diagonal of H, so that x0 hardly matters and two or three such rounds are enough. Where contacts slip, m converges slowly: once near,
// rounds are made with Coulomb's law itself, P: x_n = max(0, y_n), |x_t| <= mu x_n, whose derivative is not symmetric.
#include "mlcp/augmented.h"

#include "math/lanes.h"
#include "mlcp/friction.h"

#include <math.h>
#include <string.h>

#define WEIGHT 1e5         // rho times the diagonal of H
#define LEAST_WEIGHT 10.0  // that is tried where Newton's method does not get on
#define COLD 1e-5          // relative residual above which the impulses of the last step are no guide to velocities
#define CLOSE 1e-3         // share of the residual to which a minimum is found: errors of z come back in x, times rho
#define POLISH                                                                                                         \
    1e-3  // share of the tolerance to go on to while that needs no other factor: a stack at rest then stays solved
#define INSIDE 0.999999  // of the bound of friction
#define PROGRESS 0.9     // share of the residual that may be left after a minimum
#define MAX_STEPS 40     // of Newton's method
#define MAX_INNER 25     // of them for one minimum
#define MAX_COUPLED                                                                                                    \
    6  // of them with Coulomb's law, which has no function to minimise and converges from nearby or not at all
#define MAX_SEARCH 20       // points of a line search
#define WORK_A_BLOCK 300.0  // sum d^2 of the factor for every contact: beyond, sweeps are faster

void itm_augmented_lay_out(ItmAugmented* a, ItmArena* arena, int nblock, int nrow, int nnode)
{
    itm_graph_lay_out(&a->graph, arena, nnode, 16 * nnode, 6);
    a->groups = ITM_TAKE(arena, ItmAugmentedGroup, nblock);
    a->local = ITM_TAKE(arena, int, nnode);
    a->global = ITM_TAKE(arena, int, nnode);
    double** nodes[] = {&a->z, &a->g, &a->dz};
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        *nodes[i] = ITM_TAKE(arena, double, 6 * nnode);
    }
    double** rows[] = {&a->w, &a->dw, &a->base, &a->y};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        *rows[i] = ITM_TAKE(arena, double, nrow);
    }
    a->rho = ITM_TAKE(arena, double, nrow);
    a->shift = ITM_TAKE(arena, double, nblock);
    a->part = ITM_TAKE(arena, signed char, nrow);
    a->q = ITM_TAKE(arena, double, 6 * ITM_SWEEP_MOST_ROWS * nnode);
}

// ---------------------------------------------------------------------------- groups

// A contact with the exact cone, or rows with bounds of their own.
static bool is_suitable(const ItmSweep* s, const ItmSweepBlock* block)
{
    return block->ncoupling == 0 || itm_sweep_is_cone(s, block);
}

static bool is_same(const ItmSweepBlock* a, const ItmSweepBlock* b)
{
    return a->nnode == b->nnode && memcmp(a->node, b->node, sizeof(int) * (size_t)a->nnode) == 0;
}

// Groups of blocks, and nodes as they occur. false: a block is not suitable.
static bool gather(ItmAugmented* a, const ItmSweep* s)
{
    int nnode = 0;
    a->ngroup = 0;
    for (int k = 0; k < s->nblock; k++) {
        for (int i = 0; i < s->blocks[k].nnode; i++) {
            a->local[s->blocks[k].node[i]] = ITM_NONE;
        }
    }
    for (int k = 0; k < s->nblock; k++) {
        const ItmSweepBlock* block = &s->blocks[k];
        if (!is_suitable(s, block)) {
            return false;
        }
        if (k > 0 && is_same(block, block - 1)) {
            a->groups[a->ngroup - 1].end = k + 1;
            continue;
        }
        ItmAugmentedGroup* group = &a->groups[a->ngroup++];
        *group = (ItmAugmentedGroup){.first = k, .end = k + 1, .nnode = block->nnode};
        for (int i = 0; i < block->nnode; i++) {
            if (a->local[block->node[i]] == ITM_NONE) {
                a->global[nnode] = block->node[i];
                a->local[block->node[i]] = nnode++;
            }
            if (i < 2) {
                group->node[i] = a->local[block->node[i]];
            }
        }
    }
    return itm_graph_begin(&a->graph, nnode);
}

// Order of elimination, and where groups stand in the matrix. false: the factor would be too large.
static bool build_graph(ItmAugmented* a, const ItmSweep* s)
{
    for (int k = 0; k < a->ngroup; k++) {
        const ItmSweepBlock* block = &s->blocks[a->groups[k].first];
        for (int i = 0; i < block->nnode; i++) {
            for (int j = i + 1; j < block->nnode; j++) {
                if (!itm_graph_join(&a->graph, a->local[block->node[i]], a->local[block->node[j]])) {
                    return false;
                }
            }
        }
    }
    if (!itm_graph_order(&a->graph, WORK_A_BLOCK * s->nblock)) {
        return false;
    }
    for (int k = 0; k < a->ngroup; k++) {
        ItmAugmentedGroup* group = &a->groups[k];
        if (group->nnode == 2) {
            group->block = itm_graph_find(&a->graph, group->node[0], group->node[1], &group->is_transposed);
        }
    }
    return true;
}

// ---------------------------------------------------------------------------- products

// out_i = Y_i z for the rows of a group of more than two nodes
static void multiply_wide(const ItmAugmented* a, const ItmSweep* s, const ItmAugmentedGroup* group, double* out,
                          const double* z)
{
    for (int e = group->first; e < group->end; e++) {
        const ItmSweepBlock* block = &s->blocks[e];
        const double* y = block->Y;
        for (int i = block->first; i < block->first + block->nrow; i++) {
            out[i] = 0.0;
            for (int k = 0; k < block->nnode; k++, y += 6) {
                out[i] += itm_pair_dot(y, z + 6 * a->local[block->node[k]], 6);
            }
        }
    }
}

// z += Y' x over the same
static void add_wide(const ItmAugmented* a, const ItmSweep* s, const ItmAugmentedGroup* group, double* z,
                     const double* x)
{
    for (int e = group->first; e < group->end; e++) {
        const ItmSweepBlock* block = &s->blocks[e];
        const double* y = block->Y;
        for (int i = block->first; i < block->first + block->nrow; i++) {
            for (int k = 0; k < block->nnode; k++, y += 6) {
                double* z_k = z + 6 * a->local[block->node[k]];
                for (int l = 0; l < 6; l++) {
                    z_k[l] += x[i] * y[l];
                }
            }
        }
    }
}

// out_i = Y_i z for the rows of all blocks
static void multiply(const ItmAugmented* a, const ItmSweep* s, double* out, const double* z)
{
    for (int k = 0; k < a->ngroup; k++) {
        const ItmAugmentedGroup* group = &a->groups[k];
        ItmPair v[6] = {{0}};
        if (group->nnode > 2) {
            multiply_wide(a, s, group, out, z);
            continue;
        }
        for (int i = 0; i < group->nnode; i++) {
            for (int l = 0; l < 3; l++) {
                v[3 * i + l] = itm_pair_load(z + 6 * group->node[i] + 2 * l);
            }
        }
        int npair = 3 * group->nnode;
        for (int e = group->first; e < group->end; e++) {
            const ItmSweepBlock* block = &s->blocks[e];
            const double* y = block->Y;
            for (int i = block->first; i < block->first + block->nrow; i++, y += 2 * npair) {
                ItmPair sum = {0, 0};
                for (int l = 0; l < npair; l++) {
                    sum += v[l] * itm_pair_load(y + 2 * l);
                }
                out[i] = sum[0] + sum[1];
            }
        }
    }
}

// z += Y' x
static void add_impulses(const ItmAugmented* a, const ItmSweep* s, double* z, const double* x)
{
    for (int k = 0; k < a->ngroup; k++) {
        const ItmAugmentedGroup* group = &a->groups[k];
        ItmPair v[6] = {{0}};
        if (group->nnode > 2) {
            add_wide(a, s, group, z, x);
            continue;
        }
        int npair = 3 * group->nnode;
        for (int e = group->first; e < group->end; e++) {
            const ItmSweepBlock* block = &s->blocks[e];
            const double* y = block->Y;
            for (int i = block->first; i < block->first + block->nrow; i++, y += 2 * npair) {
                for (int l = 0; l < npair; l++) {
                    v[l] += itm_pair_splat(x[i]) * itm_pair_load(y + 2 * l);
                }
            }
        }
        for (int i = 0; i < group->nnode; i++) {
            double* z_i = z + 6 * group->node[i];
            for (int l = 0; l < 3; l++) {
                itm_pair_store(z_i + 2 * l, itm_pair_load(z_i + 2 * l) + v[3 * i + l]);
            }
        }
    }
}

// ---------------------------------------------------------------------------- projection

typedef enum Part { OPEN, HELD, SLIPS } Part;  // OPEN: also at another bound

// Nearest point of the cone |t| <= mu n
static Part project_cone(double* x, const double* y, double mu)
{
    double t = itm_friction_length(y + 1);
    if (t <= mu * y[0]) {
        x[0] = y[0];
        x[1] = y[1];
        x[2] = y[2];
        return HELD;
    }
    if (mu * t <= -y[0] || t == 0.0) {
        x[0] = x[1] = x[2] = 0.0;
        return OPEN;
    }
    x[0] = (y[0] + mu * t) / (1.0 + mu * mu);
    x[1] = mu * x[0] * y[1] / t;
    x[2] = mu * x[0] * y[2] / t;
    return SLIPS;
}

// Coulomb's law for the present normal: x_n = max(0, y_n), x_t nearest to y_t with |x_t| <= mu x_n
static Part project_coulomb(double* x, const double* y, double mu)
{
    double t = itm_friction_length(y + 1);
    if (!(y[0] > 0.0)) {
        x[0] = x[1] = x[2] = 0.0;
        return OPEN;
    }
    double share = t <= mu * y[0] ? 1.0 : mu * y[0] / t;
    x[0] = y[0];
    x[1] = share * y[1];
    x[2] = share * y[2];
    return share == 1.0 ? HELD : SLIPS;
}

static Part project_row(const ItmSweep* s, double* x, double y, int i)
{
    bool is_held = s->has_bounds[i] && y > s->lo[i] && y < s->up[i];
    *x = is_held ? y : !s->has_bounds[i] ? 0.0 : y <= s->lo[i] ? s->lo[i] : s->up[i];
    return is_held ? HELD : OPEN;
}

static inline double cone_mu(const ItmSweep* s, const ItmSweepBlock* block)
{
    return s->couplings[block->first_coupling].mu;
}

// y = (x0 - rho (w + alpha dw + shift n)) / (1 + rho omega) of a block
static inline void wish(const ItmAugmented* a, const ItmSweep* s, const ItmSweepBlock* block, double shift,
                        double alpha, double* y)
{
    for (int l = 0; l < block->nrow; l++) {
        int i = block->first + l;
        double w = a->w[i] + alpha * a->dw[i] + (l == 0 ? shift : 0.0), rho = a->rho[i];
        y[l] = (a->base[i] - rho * w) / (1.0 + rho * s->omega[i]);
    }
}

// Whether the first step from new base impulses takes a block for held, whatever the velocities are: it carried load before.
static inline bool is_guessed(const ItmAugmented* a, const ItmSweepBlock* block)
{
    return a->is_guessing && a->base[block->first] > 0.0;
}

// Parts of the projection that the factor belongs to; slipping parts never fit, because the derivative there turns with y.
static inline void note_part(ItmAugmented* a, int row, Part part)
{
    a->is_factored = a->is_factored && part != SLIPS && (Part)a->part[row] == part;
    a->part[row] = (signed char)part;
}

// x = P(y) at z + alpha dz; is_noted: at z, for the next factor. Returns -sum x . dw, the part of the impulses in the derivative of phi
// along dz.
static double project(ItmAugmented* a, const ItmSweep* s, double alpha, double* x, bool is_noted)
{
    double slope = 0.0;
    for (int k = 0; k < s->nblock; k++) {
        const ItmSweepBlock* block = &s->blocks[k];
        double y[ITM_SWEEP_MOST_ROWS];
        double* x_k = x + block->first;
        wish(a, s, block, a->is_coupled ? 0.0 : a->shift[k], alpha, y);
        bool is_held = is_guessed(a, block);
        if (block->ncoupling > 0 && !is_held) {
            Part part = (a->is_coupled ? project_coulomb : project_cone)(x_k, y, cone_mu(s, block));
            if (is_noted) {
                note_part(a, block->first, part);
            }
        } else {
            for (int l = 0; l < block->nrow; l++) {
                int i = block->first + l;
                Part part = is_held ? HELD : project_row(s, &x_k[l], y[l], i);
                x_k[l] = is_held ? y[l] : x_k[l];
                if (is_noted) {
                    note_part(a, i, part);
                }
            }
        }
        for (int l = 0; l < block->nrow; l++) {
            slope -= x_k[l] * a->dw[block->first + l];
        }
    }
    return slope;
}

// ---------------------------------------------------------------------------- matrix

// Derivative of the projection of a slipping cone at y: d d' / (1 + mu^2) + mu x_n / |y_t| e e', d = (1, mu u), e across u.
static void cone_derivative(double G[3][3], const double* y, double mu)
{
    double x[3];
    project_cone(x, y, mu);
    double t = itm_friction_length(y + 1), u = y[1] / t, v = y[2] / t, f = 1.0 / (1.0 + mu * mu), e = mu * x[0] / t;
    double d[3] = {1.0, mu * u, mu * v}, across[3] = {0.0, -v, u};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            G[i][j] = f * d[i] * d[j] + e * across[i] * across[j];
        }
    }
}

// The same for Coulomb's law: x_n = y_n, x_t = mu y_n u
static void coulomb_derivative(double G[3][3], const double* y, double mu)
{
    double t = itm_friction_length(y + 1), u = y[1] / t, v = y[2] / t, e = mu * y[0] / t;
    double rows[3][3] = {{1.0, 0.0, 0.0}, {mu * u, e * v * v, -e * u * v}, {mu * v, -e * u * v, e * u * u}};
    memcpy(G, rows, sizeof rows);
}

// What a group adds to the matrix: blocks aa, ab, bb, and ba where the matrix is not symmetric.
typedef struct Sums {
    double aa[36], ab[36], bb[36], ba[36];
} Sums;

// C += p q'
static inline void add_outer(double* restrict C, const double* restrict p, const double* restrict q)
{
    ItmPair q0 = itm_pair_load(q), q1 = itm_pair_load(q + 2), q2 = itm_pair_load(q + 4);
    for (int i = 0; i < 6; i++, C += 6) {
        ItmPair t = itm_pair_splat(p[i]);
        itm_pair_store(C, itm_pair_load(C) + t * q0);
        itm_pair_store(C + 2, itm_pair_load(C + 2) + t * q1);
        itm_pair_store(C + 4, itm_pair_load(C + 4) + t * q2);
    }
}

// sums += Y_i' q, q a row of rho P' Y
static inline void add_row(Sums* sums, const double* y, const double* q, int nnode, bool is_general)
{
    add_outer(sums->aa, y, q);
    if (nnode == 2) {
        add_outer(sums->ab, y, q + 6);
        add_outer(sums->bb, y + 6, q + 6);
    }
    if (nnode == 2 && is_general) {
        add_outer(sums->ba, y + 6, q);
    }
}

// Rows q = rho P' Y of a block (nrow x 6 nnode); bit l of the result: row l is not zero.
static unsigned weigh_block(const ItmAugmented* a, const ItmSweep* s, int k, double* q)
{
    const ItmSweepBlock* block = &s->blocks[k];
    int ny = 6 * block->nnode;
    unsigned rows = 0;
    if (block->ncoupling == 0) {
        for (int l = 0; l < block->nrow; l++) {
            int i = block->first + l;
            double f = a->rho[i] / (1.0 + a->rho[i] * s->omega[i]);
            rows |= a->part[i] == HELD ? 1u << l : 0u;
            for (int j = 0; a->part[i] == HELD && j < ny; j++) {
                q[l * ny + j] = f * block->Y[l * ny + j];
            }
        }
        return rows;
    }
    // rows of a cone have one weight and, but for the normal, no compliance
    double f[3], y[ITM_SWEEP_MOST_ROWS], G[3][3];
    for (int l = 0; l < 3; l++) {
        f[l] = a->rho[block->first + l] / (1.0 + a->rho[block->first + l] * s->omega[block->first + l]);
    }
    Part part = (Part)a->part[block->first];
    if (part == SLIPS) {
        wish(a, s, block, a->is_coupled ? 0.0 : a->shift[k], 0.0, y);
        (a->is_coupled ? coulomb_derivative : cone_derivative)(G, y, cone_mu(s, block));
    }
    for (int l = 0; part != OPEN && l < 3; l++) {
        for (int j = 0; j < ny; j++) {
            const double* Y = block->Y + j;
            q[l * ny + j] = part == HELD ? f[l] * Y[l * ny]
                                         : f[0] * G[l][0] * Y[0] + f[1] * G[l][1] * Y[ny] + f[2] * G[l][2] * Y[2 * ny];
        }
    }
    return part != OPEN ? 7u : 0u;
}

static void add_block(Sums* sums, const ItmAugmented* a, const ItmSweep* s, int k)
{
    const ItmSweepBlock* block = &s->blocks[k];
    int ny = 6 * block->nnode;
    double q[12 * ITM_SWEEP_MOST_ROWS];
    unsigned rows = weigh_block(a, s, k, q);
    for (int l = 0; l < block->nrow; l++) {
        if (rows & 1u << l) {
            add_row(sums, block->Y + l * ny, q + l * ny, block->nnode, a->is_coupled);
        }
    }
}

// What couples nodes 0 and 1 of a pair, ab and (general) ba, into the matrix.
static void add_coupling(ItmAugmented* a, int block, bool is_transposed, const double* ab, const double* ba)
{
    ItmGraph* g = &a->graph;
    size_t at = (size_t)ITM_GRAPH_BLOCK * (size_t)block;
    double* above = (is_transposed && a->is_coupled ? g->low : g->off) + at;
    double* below = (is_transposed ? g->off : g->low) + at;
    bool turns = is_transposed && !a->is_coupled;
    for (int i = 0; i < 36; i++) {
        above[turns ? i % 6 * 6 + i / 6 : i] += ab[i];
    }
    for (int i = 0; a->is_coupled && i < 36; i++) {
        below[i] += ba[i];
    }
}

// Y' q of the rows of a block over nodes i and j
static void sum_pair(double* C, const ItmSweepBlock* block, const double* q, unsigned rows, int i, int j)
{
    int ny = 6 * block->nnode;
    for (int l = 0; l < block->nrow; l++) {
        if (rows & 1u << l) {
            add_outer(C, block->Y + l * ny + 6 * i, q + l * ny + 6 * j);
        }
    }
}

// Blocks on more than two nodes: every pair of them.
static void add_wide_block(ItmAugmented* a, const ItmSweep* s, int k)
{
    ItmGraph* g = &a->graph;
    const ItmSweepBlock* block = &s->blocks[k];
    unsigned rows = weigh_block(a, s, k, a->q);
    for (int i = 0; rows != 0 && i < block->nnode; i++) {
        int node = a->local[block->node[i]];
        sum_pair(g->diagonal + (size_t)ITM_GRAPH_BLOCK * (size_t)g->position[node], block, a->q, rows, i, i);
        for (int j = i + 1; j < block->nnode; j++) {
            double ab[36] = {0}, ba[36] = {0};
            bool is_transposed;
            int at = itm_graph_find(g, node, a->local[block->node[j]], &is_transposed);
            sum_pair(ab, block, a->q, rows, i, j);
            if (a->is_coupled) {
                sum_pair(ba, block, a->q, rows, j, i);
            }
            add_coupling(a, at, is_transposed, ab, ba);
        }
    }
}

// Blocks of a group of one or two nodes.
static void add_group(ItmAugmented* a, const ItmSweep* s, const ItmAugmentedGroup* group)
{
    ItmGraph* g = &a->graph;
    Sums sums = {0};
    for (int e = group->first; e < group->end; e++) {
        add_block(&sums, a, s, e);
    }
    double* D = g->diagonal + (size_t)ITM_GRAPH_BLOCK * (size_t)g->position[group->node[0]];
    for (int i = 0; i < 36; i++) {
        D[i] += sums.aa[i];
    }
    if (group->nnode == 2) {
        D = g->diagonal + (size_t)ITM_GRAPH_BLOCK * (size_t)g->position[group->node[1]];
        for (int i = 0; i < 36; i++) {
            D[i] += sums.bb[i];
        }
        add_coupling(a, group->block, group->is_transposed, sums.ab, sums.ba);
    }
}

// A = 1 + sum rho Y' P' Y, factored
static bool factor(ItmAugmented* a, const ItmSweep* s)
{
    ItmGraph* g = &a->graph;
    memset(g->diagonal, 0, sizeof(double) * ITM_GRAPH_BLOCK * (size_t)g->n);
    memset(g->off, 0, sizeof(double) * ITM_GRAPH_BLOCK * (size_t)g->nblock);
    if (a->is_coupled) {
        memset(g->low, 0, sizeof(double) * ITM_GRAPH_BLOCK * (size_t)g->nblock);
    }
    for (int i = 0; i < g->n; i++) {
        for (int l = 0; l < 6; l++) {
            g->diagonal[ITM_GRAPH_BLOCK * i + 7 * l] = 1.0;
        }
    }
    for (int k = 0; k < a->ngroup; k++) {
        const ItmAugmentedGroup* group = &a->groups[k];
        if (group->nnode <= 2) {
            add_group(a, s, group);
            continue;
        }
        for (int e = group->first; e < group->end; e++) {
            add_wide_block(a, s, e);
        }
    }
    return a->is_coupled ? itm_graph_factor_general(g) : itm_graph_factor(g);
}

// ---------------------------------------------------------------------------- residual

// Largest change of velocity that held contacts see in the step. Impulses that stop a rest of velocity do not fit the next step, which
// has none to stop; were they kept because that is below the tolerance, a stack would be solved anew for ever.
static double measure_change(const ItmAugmented* a, const ItmSweep* s, const double* x)
{
    double most = 0.0;
    for (int k = 0; k < s->nblock; k++) {
        const ItmSweepBlock* block = &s->blocks[k];
        int i = block->first;
        bool is_cone = block->ncoupling > 0;
        if (x[i] > 0.0 && s->omega[i] == 0.0) {
            most = fmax(most, fabs(a->w[i] - s->rate[i]));
        }
        if (is_cone && itm_friction_length(x + i + 1) < cone_mu(s, block) * x[i]) {
            most = fmax(most, fmax(fabs(a->w[i + 1] - s->rate[i + 1]), fabs(a->w[i + 2] - s->rate[i + 2])));
        }
    }
    return most;
}

// ---------------------------------------------------------------------------- iteration

static double dot(const double* a, const double* b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

// rho, the same for the rows of a cone
static void set_weight(ItmAugmented* a, const ItmSweep* s, double weight)
{
    a->is_factored = false;
    for (int k = 0; k < s->nblock; k++) {
        const ItmSweepBlock* block = &s->blocks[k];
        double least = INFINITY;
        for (int i = block->first; i < block->first + block->nrow; i++) {
            a->rho[i] = weight * s->inv_D[i];
            least = fmin(least, a->rho[i]);
        }
        for (int i = block->first; block->ncoupling > 0 && i < block->first + block->nrow; i++) {
            a->rho[i] = least;
        }
    }
}

static void set_weight_to(ItmAugmented* a, const ItmSweep* s, double* weight, double next)
{
    if (next != *weight) {
        *weight = next;
        set_weight(a, s, next);
    }
}

// 1 / D for the measure and the weights; root_D: least 1 / sqrt(D). Returns the largest b.
static double prepare(ItmSweep* s, double* root_D)
{
    double largest = 0.0, least = INFINITY;
    for (int k = 0; k < s->nblock; k++) {
        const ItmSweepBlock* block = &s->blocks[k];
        const double* y = block->Y;
        for (int i = block->first; i < block->first + block->nrow; i++, y += 6 * block->nnode) {
            double D = s->omega[i] + itm_pair_dot(y, y, 6 * block->nnode);
            s->inv_D[i] = 1.0 / D;
            least = s->inv_D[i] < least ? s->inv_D[i] : least;
            largest = fabs(s->b[i]) > largest ? fabs(s->b[i]) : largest;
        }
    }
    *root_D = sqrt(least);
    return largest;
}

// z = Y'x, w = b + Y z
static void start_from(ItmAugmented* a, const ItmSweep* s, const double* x)
{
    memset(a->z, 0, sizeof(double) * 6 * (size_t)a->graph.n);
    add_impulses(a, s, a->z, x);
    multiply(a, s, a->w, a->z);
    for (int k = 0; k < s->nblock; k++) {
        for (int i = s->blocks[k].first; i < s->blocks[k].first + s->blocks[k].nrow; i++) {
            s->change[i] = a->w[i];
            a->w[i] += s->b[i];
            a->dw[i] = 0.0;
        }
    }
}

// Slip of the cones and base of the proximal term, from x and w
static void set_base(ItmAugmented* a, const ItmSweep* s, const double* x)
{
    for (int k = 0; k < s->nblock; k++) {
        const ItmSweepBlock* block = &s->blocks[k];
        memcpy(a->base + block->first, x + block->first, sizeof(double) * (size_t)block->nrow);
        // impulses inside the cone hold, whatever the velocities of the start are
        double mu = block->ncoupling > 0 ? cone_mu(s, block) : 0.0;
        bool slips = mu > 0.0 && itm_friction_length(x + block->first + 1) >= INSIDE * mu * x[block->first];
        a->shift[k] = slips ? mu * itm_friction_length(a->w + block->first + 1) : 0.0;
    }
}

// Longest way along dz that lowers phi, whose derivative there is slope(alpha) = (z + alpha dz) . dz - x(alpha) . dw; convex.
static double search(ItmAugmented* a, const ItmSweep* s, double* x, double slope0)
{
    int n = 6 * a->graph.n;
    double zd = dot(a->z, a->dz, n), dd = dot(a->dz, a->dz, n), lo = 0.0, up = 1.0, alpha = 1.0, at_lo = slope0, at_up;
    double slope = zd + dd + project(a, s, 1.0, x, false);
    if (slope <= 0.1 * fabs(slope0)) {
        return 1.0;
    }
    at_up = slope;
    for (int k = 0; k < MAX_SEARCH && fabs(slope) > 0.1 * fabs(slope0); k++) {
        double share = -at_lo / (at_up - at_lo);
        alpha = lo + fmin(fmax(share, 0.1), 0.9) * (up - lo);
        slope = zd + alpha * dd + project(a, s, alpha, x, false);
        if (slope < 0.0) {
            lo = alpha;
            at_lo = slope;
        } else {
            up = alpha;
            at_up = slope;
        }
    }
    return alpha;
}

// g = -phi' = sum Y' P(y) - z and x = P(y). Returns the largest number of g.
static double compute_gradient(ItmAugmented* a, const ItmSweep* s, double* x)
{
    int n = 6 * a->graph.n;
    memset(a->g, 0, sizeof(double) * (size_t)n);
    project(a, s, 0.0, x, true);
    add_impulses(a, s, a->g, x);
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        a->g[i] -= a->z[i];
        most = fmax(most, fabs(a->g[i]));
    }
    return most;
}

// One Newton step for phi, g being there. false: the factor failed.
static bool take_step(ItmAugmented* a, const ItmSweep* s, double* x)
{
    int n = 6 * a->graph.n;
    memcpy(a->dz, a->g, sizeof(double) * (size_t)n);
    if (!a->is_factored && !factor(a, s)) {
        return false;
    }
    a->is_factored = true;
    (a->is_coupled ? itm_graph_solve_general : itm_graph_solve)(&a->graph, a->dz);
    multiply(a, s, a->dw, a->dz);
    double alpha = a->is_guessing || a->is_coupled ? 1.0 : search(a, s, x, -dot(a->g, a->dz, n));
    a->is_guessing = false;
    for (int i = 0; i < n; i++) {
        a->z[i] += alpha * a->dz[i];
    }
    for (int k = 0; k < s->nblock; k++) {
        for (int i = s->blocks[k].first; i < s->blocks[k].first + s->blocks[k].nrow; i++) {
            a->w[i] += alpha * a->dw[i];
            a->dw[i] = 0.0;
        }
    }
    return true;
}

// Velocities without any impulse to begin with: contacts that close are then taken for closed.
static void start_cold(ItmAugmented* a, const ItmSweep* s)
{
    memset(a->z, 0, sizeof(double) * 6 * (size_t)a->graph.n);
    for (int k = 0; k < s->nblock; k++) {
        const ItmSweepBlock* block = &s->blocks[k];
        memcpy(a->w + block->first, s->b + block->first, sizeof(double) * (size_t)block->nrow);
    }
    a->is_guessing = false;
}

// The minimum of phi, or (coupled) the zero of g, to |g| <= most. false: it was not found.
static bool minimise(ItmAugmented* a, const ItmSweep* s, double* x, double most, int* steps)
{
    int limit = a->is_coupled ? MAX_COUPLED : MAX_INNER;
    for (int k = 0;; k++) {
        double g = compute_gradient(a, s, x);
        if (g <= most) {
            return true;
        }
        if (k == limit || *steps >= MAX_STEPS || !isfinite(g) || !take_step(a, s, x)) {
            return false;
        }
        ++*steps;
    }
}

static bool has_slip(const ItmAugmented* a, const ItmSweep* s)
{
    for (int k = 0; k < s->nblock; k++) {
        if (s->blocks[k].ncoupling > 0 && (Part)a->part[s->blocks[k].first] == SLIPS) {
            return true;
        }
    }
    return false;
}

static void set_coupled(ItmAugmented* a, bool is_coupled)
{
    a->is_factored = a->is_factored && a->is_coupled == is_coupled;
    a->is_coupled = is_coupled;
}

// Whether the impulses of the start are kept.
static bool is_steady(const ItmAugmented* a, const ItmSweep* s, const double* x, double residual, double tolerance,
                      double scale)
{
    return residual <= POLISH * tolerance ||
           (residual <= tolerance && measure_change(a, s, x) <= POLISH * tolerance * scale);
}

static bool is_done(const ItmAugmented* a, const ItmSweepResult* result, double tolerance)
{
    bool is_polished = !a->is_factored || result->residual <= POLISH * tolerance;
    return (result->residual <= tolerance && is_polished) || result->sweeps >= MAX_STEPS;
}

// Back to the base, whose residual was the smallest.
static void return_to_base(ItmAugmented* a, const ItmSweep* s, double* x)
{
    for (int k = 0; k < s->nblock; k++) {
        const ItmSweepBlock* block = &s->blocks[k];
        memcpy(x + block->first, a->base + block->first, sizeof(double) * (size_t)block->nrow);
    }
    start_from(a, s, x);
}

bool itm_augmented_gather(ItmAugmented* a, const ItmSweep* s)
{
    int nrow = 0;
    for (int k = 0; k < s->nblock; k++) {
        nrow += s->blocks[k].nrow;
    }
    return gather(a, s) && nrow > 6 * a->graph.n && s->nblock >= 2 * a->ngroup;
}

bool itm_augmented_solve(ItmAugmented* a, ItmSweep* s, double* x, double tolerance, ItmSweepResult* result)
{
    double root_D, scale = 1.0 + prepare(s, &root_D), weight = WEIGHT;
    start_from(a, s, x);
    *result = (ItmSweepResult){0};
    result->residual = itm_sweep_measure(s, a->w, x, &result->worst_row) / scale;
    if (is_steady(a, s, x, result->residual, tolerance, scale)) {
        return true;
    }
    if (!build_graph(a, s)) {
        return false;
    }
    set_weight(a, s, WEIGHT);
    a->is_guessing = true;
    a->is_coupled = false;
    int rounds = 0;
    do {
        int worst_row = 0;
        double residual = INFINITY;
        set_base(a, s, x);
        if (result->sweeps == 0 && result->residual > COLD) {
            start_cold(a, s);
        }
        if (minimise(a, s, x, CLOSE * result->residual * scale * root_D, &result->sweeps)) {
            start_from(a, s, x);
            residual = itm_sweep_measure(s, a->w, x, &worst_row) / scale;
        }
        bool is_better = residual < PROGRESS * result->residual;
        if (is_better) {
            result->residual = residual;
            result->worst_row = worst_row;
            set_weight_to(a, s, &weight, fmin(WEIGHT, 100.0 * weight));
        } else {
            return_to_base(a, s, x);
            if (!a->is_coupled && (weight <= LEAST_WEIGHT || result->residual <= tolerance)) {
                break;
            }
            set_weight_to(a, s, &weight, a->is_coupled ? weight : 0.01 * weight);
        }
        rounds = is_better ? rounds + 1 : -1;
        // the next minimum is close: its first step keeps the factor, where velocities that are off by little would let contacts open
        a->is_guessing = is_better && a->is_factored;
        set_coupled(a, rounds >= 1 && has_slip(a, s));
    } while (!is_done(a, result, tolerance));
    return true;
}
