// With w = b + W x and y = x - r w, a contact obeys                       (Alart and Curnier 1991)
//   open    y_n <= 0              x = 0
//   sticks  |y_t| <= mu y_n       w = 0
//   slips   otherwise             w_n = 0,  x_t = mu x_n u,  u = y_t / |y_t|
// Newton's method linearises the case that each contact is in, u too:
//   dx_t - mu u dx_n - k T (dx_t - r dw_t) = mu x_n u - x_t,   T = 1 - u u',  k = mu y_n / |y_t| < 1
// Contacts that are open have no unknowns. The matrix E + F W of the others is not symmetric; its pattern is.
#include "mlcp/loaded.h"

#include "math/lanes.h"
#include "mlcp/friction.h"

#include <math.h>
#include <string.h>

#define COLD 1e-3      // relative residual of the start above which problems
#define COLD_FROM 100  //   of so many contacts begin with sweeps,
#define LEAST_SWEEPS                                                                                                   \
    16  //   so many, or one for so many contacts: the cost of a step of Newton's method rises faster than theirs
#define CONTACTS_A_SWEEP 150
#define MAX_STEPS 8
#define MOST_IDLE 3    // steps in a row that do not halve the smallest residual: contacts take their cases in turn
#define PROGRESS 0.1   // share of the residual that may be left after a step
#define FAST 0.05      // the same, below which the next step keeps the factor
#define LEVEL 1e-4     // share of the residual: contacts that are off by less are not repaired
#define FIRST_PAIRS 2  // of sweeps of the first repair; twice as many in the next
#define MOST_PAIRS 16
#define AT_ONCE 8       // pairs, then the contacts to visit are chosen anew
#define NEAR 1e-2       // share of the residual: contacts that are off by more are solved again with those around them,
#define LAYERS 3        //   so many contacts far,
#define MOST_PATCHES 4  //   at most so often after a step of Newton's method, while that halves the residual
#define PATCH_SHARE 4   // most contacts of such a part: one in so many
#define PATCH_ROUNDS 8  // of sweeps and Newton's method over it, with
#define PATCH_SWEEPS 8  //   these sweeps at first, twice as many in the next
#define BLOCKS_A_NODE 16    // room of the factor
#define PAIRS_A_NODE 6      // and of the contacts that share a body
#define WORK_A_NODE 400.0   // sum d^2 of the factor for every contact: beyond, sweeps are faster
#define WIDE 20.0           // times that where a mechanism couples all of its contacts: sweeps do not solve that
#define SWEEP_MARGIN 4.0    // times the largest error: contacts that open faster are left out of the sweeps,
#define NEWTON_MARGIN 10.0  //   of Newton's method, which may change velocities by more
#define NEAR_ROUNDS 4       // of that, with those that have closed meanwhile; then nothing is left out
#define CONTACTS_A_BODY 4
#define SIDES_A_CONTACT 3  // two of contacts between single bodies, more of those with mechanisms

void itm_loaded_patch_lay_out(ItmLoadedPatch* patch, ItmArena* arena, int nblock, int nnode)
{
    int n = nblock / PATCH_SHARE;
    patch->capacity = n;
    itm_sweep_lay_out(&patch->sweep, arena, n, 3 * n, n, nnode);
    itm_loaded_lay_out(&patch->newton, arena, n, 3 * n, nnode);
    patch->block = ITM_TAKE(arena, int, n);
    patch->is_in = ITM_TAKE(arena, bool, nblock);
}

void itm_loaded_lay_out(ItmLoaded* l, ItmArena* arena, int nblock, int nrow, int nnode)
{
    int n = nblock < CONTACTS_A_BODY * nnode ? nblock : CONTACTS_A_BODY * nnode;
    l->contact_capacity = n;
    l->pair_capacity = PAIRS_A_NODE * n;
    itm_graph_lay_out(&l->graph, arena, n, BLOCKS_A_NODE * n, 3);
    l->block = ITM_TAKE(arena, int, n);
    l->contact = ITM_TAKE(arena, int, nblock);
    l->near = ITM_TAKE(arena, ItmSweepBlock, nblock);
    l->head = ITM_TAKE(arena, int, nnode);
    l->side_capacity = SIDES_A_CONTACT * n;
    l->sides = ITM_TAKE(arena, ItmLoadedSide, l->side_capacity);
    l->pairs = ITM_TAKE(arena, ItmLoadedPair, l->pair_capacity);
    l->W = ITM_TAKE(arena, double, 9 * n);
    l->F = ITM_TAKE(arena, double, 9 * n);
    l->dx = ITM_TAKE(arena, double, 3 * n);
    l->kind = ITM_TAKE(arena, signed char, nblock);
    l->off = ITM_TAKE(arena, double, nblock);
    l->part = ITM_TAKE(arena, signed char, n);
    l->w = ITM_TAKE(arena, double, nrow);
    l->start = ITM_TAKE(arena, double, nrow);
}

bool itm_loaded_is_suited(const ItmSweep* s)
{
    for (int k = 0; k < s->nblock; k++) {
        if (s->blocks[k].ncoupling == 0 || !itm_sweep_is_cone(s, &s->blocks[k])) {
            return false;
        }
    }
    return true;
}

// ---------------------------------------------------------------------------- cases

typedef enum Part { OPEN, STICKS, SLIPS } Part;

static inline double mu_of(const ItmSweep* s, const ItmSweepBlock* block)
{
    return s->couplings[block->first_coupling].mu;
}

// r of both tangents
static inline double tangent_weight(const ItmSweep* s, const ItmSweepBlock* block)
{
    double a = s->inv_D[block->first + 1], b = s->inv_D[block->first + 2];
    return a < b ? a : b;
}

// y of a contact that is not open
static void find_y(const ItmLoaded* l, const ItmSweep* s, const ItmSweepBlock* block, const double* x, double y[3])
{
    int i = block->first;
    double r = tangent_weight(s, block);
    y[0] = x[i] - (l->w[i] + s->omega[i] * x[i]) * s->inv_D[i];
    y[1] = x[i + 1] - r * l->w[i + 1];
    y[2] = x[i + 2] - r * l->w[i + 2];
}

static Part find_part(const ItmLoaded* l, const ItmSweep* s, const ItmSweepBlock* block, const double* x)
{
    double y[3];
    find_y(l, s, block, x, y);
    return !(y[0] > 0.0) ? OPEN : itm_friction_length(y + 1) <= mu_of(s, block) * y[0] ? STICKS : SLIPS;
}

// How far a contact is off, as sweeps find it (itm_sweep_measure), and the row that is farthest.
static double find_off(const ItmLoaded* l, const ItmSweep* s, const ItmSweepBlock* block, const double* x, int* row)
{
    int first = block->first;
    double y[3], most = 0.0;
    for (int i = 0; i < 3; i++) {
        y[i] = x[first + i] - (l->w[first + i] + s->omega[first + i] * x[first + i]) * s->inv_D[first + i];
    }
    y[0] = y[0] < 0.0 ? 0.0 : y[0];
    itm_friction_project_disc(y + 1, x[first] > 0.0 ? mu_of(s, block) * x[first] : 0.0);
    for (int i = 0; i < 3; i++) {
        double size = fabs(y[i] - x[first + i]) / s->inv_D[first + i];
        if (!(size <= most)) {
            most = size;
            *row = first + i;
        }
    }
    return most;
}

// Y z of one row
static inline double read_row(const ItmSweep* s, const ItmSweepBlock* block, int i)
{
    const double* y = block->Y + 6 * block->nnode * i;
    double sum = 0.0;
    for (int k = 0; k < block->nnode; k++) {
        sum += itm_pair_dot(y + 6 * k, s->z + 6 * block->node[k], 6);
    }
    return sum;
}

// Whether a contact carries nothing and opens. Its tangents have no velocities then: no law uses them.
static inline bool is_idle(const double* w, const double* x, int i)
{
    return w[i] >= 0.0 && x[i] == 0.0 && x[i + 1] == 0.0 && x[i + 2] == 0.0;
}

// Velocities that belong to s->z, case and error of every contact, in one pass. Returns the largest error.
static double look(ItmLoaded* l, const ItmSweep* s, const double* x)
{
    double most = 0.0;
    l->worst_row = s->blocks[0].first;
    l->has_new = false;
    for (int k = 0; k < s->nblock; k++) {
        const ItmSweepBlock* block = &s->blocks[k];
        int first = block->first, row = first;
        l->w[first] = s->b[first] + read_row(s, block, 0);
        if (is_idle(l->w, x, first)) {
            l->kind[k] = OPEN;
            l->off[k] = 0.0;
            continue;
        }
        l->w[first + 1] = s->b[first + 1] + read_row(s, block, 1);
        l->w[first + 2] = s->b[first + 2] + read_row(s, block, 2);
        l->kind[k] = (signed char)find_part(l, s, block, x);
        l->has_new = l->has_new || (l->kind[k] != OPEN && (l->n == 0 || l->contact[k] == ITM_NONE));
        l->off[k] = find_off(l, s, block, x, &row);
        if (!(l->off[k] <= most)) {
            most = l->off[k];
            l->worst_row = row;
        }
    }
    return most;
}

// The same after x has changed.
static double look_again(ItmLoaded* l, ItmSweep* s, const double* x)
{
    itm_sweep_set_velocities(s, x);
    return look(l, s, x);
}

// ---------------------------------------------------------------------------- contacts and pairs

// W = Y_a Y_b' over one node
static void multiply_rows(double* W, const double* Y_a, int stride_a, const double* Y_b, int stride_b)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            W[3 * i + j] += itm_pair_dot(Y_a + i * stride_a, Y_b + j * stride_b, 6);
        }
    }
}

// Pairs of contact c with those already listed at the node of one of its sides. false: no room.
static bool add_pairs(ItmLoaded* l, const ItmSweep* s, int c, int side)
{
    const ItmSweepBlock* block = &s->blocks[l->block[c]];
    int node = block->node[side];
    for (int k = l->head[node]; k != ITM_NONE; k = l->sides[k].next) {
        int b = l->sides[k].contact;
        if (l->npair == l->pair_capacity || !itm_graph_join(&l->graph, c, b)) {
            return false;
        }
        const ItmSweepBlock* other = &s->blocks[l->block[b]];
        ItmLoadedPair* pair = &l->pairs[l->npair++];
        *pair = (ItmLoadedPair){.a = c, .b = b};
        multiply_rows(pair->W, block->Y + 6 * side, 6 * block->nnode, other->Y + 6 * l->sides[k].at, 6 * other->nnode);
    }
    return true;
}

static bool add_contact(ItmLoaded* l, const ItmSweep* s, int c)
{
    const ItmSweepBlock* block = &s->blocks[l->block[c]];
    double* W = l->W + 9 * c;
    if (l->nside + block->nnode > l->side_capacity) {
        return false;
    }
    memset(W, 0, 9 * sizeof(double));
    for (int side = 0; side < block->nnode; side++) {
        multiply_rows(W, block->Y + 6 * side, 6 * block->nnode, block->Y + 6 * side, 6 * block->nnode);
        if (!add_pairs(l, s, c, side)) {
            return false;
        }
    }
    for (int side = 0; side < block->nnode; side++) {
        l->sides[l->nside] = (ItmLoadedSide){.contact = c, .at = side, .next = l->head[block->node[side]]};
        l->head[block->node[side]] = l->nside++;
    }
    for (int i = 0; i < 3; i++) {
        W[4 * i] += s->omega[block->first + i];
    }
    return true;
}

// The contacts that are not open: their graph and its order of elimination. false: the factor would be too large.
static bool build(ItmLoaded* l, const ItmSweep* s)
{
    l->n = l->npair = l->nside = 0;
    l->is_wide = false;
    for (int k = 0; k < s->nblock; k++) {
        const ItmSweepBlock* block = &s->blocks[k];
        l->is_wide = l->is_wide || block->nnode > 2;
        bool is_open = l->kind[k] == OPEN;
        for (int i = 0; i < block->nnode; i++) {
            l->head[block->node[i]] = ITM_NONE;
        }
        l->contact[k] = is_open ? ITM_NONE : l->n;
        if (is_open) {
            continue;
        }
        if (l->n == l->contact_capacity) {
            return false;
        }
        l->block[l->n++] = k;
    }
    bool has_room = itm_graph_begin(&l->graph, l->n);
    for (int c = 0; has_room && c < l->n; c++) {
        has_room = add_contact(l, s, c);
    }
    if (!has_room || !itm_graph_order(&l->graph, (l->is_wide ? WIDE : 1.0) * WORK_A_NODE * l->n)) {
        return false;
    }
    for (int k = 0; k < l->npair; k++) {
        ItmLoadedPair* pair = &l->pairs[k];
        pair->block = itm_graph_find(&l->graph, pair->a, pair->b, &pair->is_transposed);
    }
    return true;
}

// ---------------------------------------------------------------------------- matrix

// E and F of a contact that slips, tangents in the unit of velocities (times 1 / r), and the right side.
static void linearise_slip(double E[9], double F[9], double* right, const double* y, const double* x, double w_n,
                           double mu, double r)
{
    double length = itm_friction_length(y + 1), u[2] = {y[1] / length, y[2] / length}, k = mu * y[0] / length;
    right[0] = -w_n;
    for (int i = 0; i < 2; i++) {
        right[1 + i] = (mu * x[0] * u[i] - x[1 + i]) / r;
        E[3 * (1 + i)] = -mu * u[i] / r;
        for (int j = 0; j < 2; j++) {
            double unit = i == j ? 1.0 : 0.0, T = unit - u[i] * u[j];
            E[3 * (1 + i) + 1 + j] = (unit - k * T) / r;
            F[3 * (1 + i) + 1 + j] = k * T;
        }
    }
}

// E, F and the right side of contact c. Returns the case that it is in.
static Part linearise(const ItmLoaded* l, const ItmSweep* s, const double* x, int c, double E[9], double F[9])
{
    const ItmSweepBlock* block = &s->blocks[l->block[c]];
    int first = block->first;
    double y[3], *right = l->dx + 3 * c;
    Part part = (Part)l->kind[l->block[c]];
    memset(E, 0, 9 * sizeof(double));
    memset(F, 0, 9 * sizeof(double));
    if (part == OPEN) {
        E[0] = E[4] = E[8] = 1.0;
        for (int i = 0; i < 3; i++) {
            right[i] = -x[first + i];
        }
        return part;
    }
    double w_n = l->w[first] + s->omega[first] * x[first];
    F[0] = 1.0;
    if (part == SLIPS) {
        find_y(l, s, block, x, y);
        linearise_slip(E, F, right, y, x + first, w_n, mu_of(s, block), tangent_weight(s, block));
        return part;
    }
    F[4] = F[8] = 1.0;
    right[0] = -w_n;
    right[1] = -l->w[first + 1];
    right[2] = -l->w[first + 2];
    return part;
}

// C += F W, or F W'
static void add_product(double* C, const double* F, const double* W, bool is_transposed)
{
    int row = is_transposed ? 1 : 3, column = is_transposed ? 3 : 1;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            for (int k = 0; k < 3; k++) {
                C[3 * i + j] += F[3 * i + k] * W[row * k + column * j];
            }
        }
    }
}

// The matrix of the cases that contacts are in, and its factor. false: singular.
static bool factor(ItmLoaded* l, const ItmSweep* s, const double* x)
{
    ItmGraph* g = &l->graph;
    memset(g->off, 0, sizeof(double) * ITM_GRAPH_SMALL * (size_t)g->nblock);
    memset(g->low, 0, sizeof(double) * ITM_GRAPH_SMALL * (size_t)g->nblock);
    for (int c = 0; c < l->n; c++) {
        double* D = g->diagonal + ITM_GRAPH_SMALL * (size_t)g->position[c];
        l->part[c] = (signed char)linearise(l, s, x, c, D, l->F + 9 * c);
        add_product(D, l->F + 9 * c, l->W + 9 * c, false);
    }
    for (int k = 0; k < l->npair; k++) {
        const ItmLoadedPair* pair = &l->pairs[k];
        double* ab = (pair->is_transposed ? g->low : g->off) + ITM_GRAPH_SMALL * (size_t)pair->block;
        double* ba = (pair->is_transposed ? g->off : g->low) + ITM_GRAPH_SMALL * (size_t)pair->block;
        add_product(ab, l->F + 9 * pair->a, pair->W, false);
        add_product(ba, l->F + 9 * pair->b, pair->W, true);
    }
    return itm_graph_factor_small(g);
}

// The right side alone. false: a contact is no more in the case of its row of the factor.
static bool set_right(const ItmLoaded* l, const ItmSweep* s, const double* x)
{
    double E[9], F[9];
    bool is_same = true;
    for (int c = 0; c < l->n && is_same; c++) {
        is_same = linearise(l, s, x, c, E, F) == (Part)l->part[c];
    }
    return is_same;
}

// ---------------------------------------------------------------------------- iteration

// Contacts that are open lose their impulses: they are to have no unknowns.
static void clear_open(ItmLoaded* l, ItmSweep* s, double* x)
{
    bool is_any = false;
    for (int k = 0; k < s->nblock; k++) {
        double* x_k = x + s->blocks[k].first;
        if (l->kind[k] == OPEN && (x_k[0] != 0.0 || x_k[1] != 0.0 || x_k[2] != 0.0)) {
            x_k[0] = x_k[1] = x_k[2] = 0.0;
            is_any = true;
        }
    }
    if (is_any) {
        look_again(l, s, x);
    }
}

// One step of Newton's method, with the factor of the last one if that is to be kept and all contacts are in the same cases.
// false: it cannot be made.
static bool take_step(ItmLoaded* l, ItmSweep* s, double* x, bool keeps_factor)
{
    bool is_new = l->has_new;
    if (is_new) {
        clear_open(l, s, x);
        if (!build(l, s)) {
            return false;
        }
    }
    bool is_kept = keeps_factor && !is_new && set_right(l, s, x);
    if (l->n == 0 || (!is_kept && !factor(l, s, x))) {
        return false;
    }
    itm_graph_solve_small(&l->graph, l->dx);
    for (int c = 0; c < l->n; c++) {
        double* x_c = x + s->blocks[l->block[c]].first;
        for (int i = 0; i < 3; i++) {
            x_c[i] += l->dx[3 * c + i];
        }
    }
    return true;
}

// Impulses that all bounds allow. Returns the largest error.
static double make_feasible(ItmLoaded* l, ItmSweep* s, double* x)
{
    for (int k = 0; k < s->nblock; k++) {
        double* x_k = x + s->blocks[k].first;
        x_k[0] = fmax(0.0, x_k[0]);
        itm_friction_project_disc(x_k + 1, mu_of(s, &s->blocks[k]) * x_k[0]);
    }
    return look_again(l, s, x);
}

// Pairs of sweeps where contacts are off by `least` or more: that decides between cases which Newton's method takes in turn.
static void repair(ItmLoaded* l, ItmSweep* s, double* x, double least, int pairs)
{
    make_feasible(l, s, x);
    for (int done = 0; done < pairs; done += AT_ONCE) {
        s->nvisited = 0;
        for (int k = 0; k < s->nblock; k++) {
            if (l->off[k] >= least) {
                s->visited[s->nvisited++] = k;
            }
        }
        itm_sweep_repair(s, x, pairs - done < AT_ONCE ? pairs - done : AT_ONCE);
        look(l, s, x);
    }
}

static void copy_rows(const ItmSweep* s, double* to, const double* from)
{
    for (int k = 0; k < s->nblock; k++) {
        memcpy(to + s->blocks[k].first, from + s->blocks[k].first, sizeof(double) * (size_t)s->blocks[k].nrow);
    }
}

// ---------------------------------------------------------------------------- parts of a problem

static ItmSweepResult iterate(ItmLoaded* l, ItmLoadedPatch* patch, ItmSweep* s, double* x, double scale,
                              double tolerance);

static bool add_to_patch(ItmLoadedPatch* patch, int k)
{
    if (patch->is_in[k]) {
        return true;
    }
    if (patch->n == patch->capacity) {
        return false;
    }
    patch->is_in[k] = true;
    patch->block[patch->n++] = k;
    return true;
}

// Contacts that are off by `least` or more and loaded ones around them. false: too many.
static bool gather_patch(ItmLoadedPatch* patch, const ItmLoaded* l, const ItmSweep* s, double least)
{
    memset(patch->is_in, 0, sizeof(bool) * (size_t)s->nblock);
    patch->n = 0;
    for (int k = 0; k < s->nblock; k++) {
        if (l->off[k] >= least && !add_to_patch(patch, k)) {
            return false;
        }
    }
    for (int layer = 0, from = 0; layer < LAYERS; layer++) {
        int to = patch->n;
        for (; from < to; from++) {
            const ItmSweepBlock* block = &s->blocks[patch->block[from]];
            for (int i = 0; i < block->nnode; i++) {
                for (int k = l->head[block->node[i]]; k != ITM_NONE; k = l->sides[k].next) {
                    if (!add_to_patch(patch, l->block[l->sides[k].contact])) {
                        return false;
                    }
                }
            }
        }
    }
    return true;
}

// Solve the contacts that are farthest off together with those around them, while the impulses of all others stay. That
// decides between cases which Newton's method takes in turn, at the cost of a small problem. false: too many are off.
static bool solve_patch(ItmLoadedPatch* patch, ItmLoaded* l, ItmSweep* s, double* x, double now, double scale,
                        double tolerance)
{
    if (!gather_patch(patch, l, s, fmax(tolerance, NEAR * now) * scale)) {
        return false;
    }
    ItmSweep* part = &patch->sweep;
    itm_sweep_extract(part, s, patch->block, patch->n, x);
    itm_sweep_prepare(part, part->x);
    ItmSweepResult result = iterate(&patch->newton, NULL, part, part->x, scale, tolerance);
    for (int round = 0; round < PATCH_ROUNDS && result.residual > tolerance; round++) {
        itm_sweep_solve(part, part->x, tolerance, PATCH_SWEEPS << round);
        result = iterate(&patch->newton, NULL, part, part->x, scale, tolerance);
    }
    for (int k = 0; k < patch->n; k++) {
        memcpy(x + s->blocks[patch->block[k]].first, part->x + 3 * k, 3 * sizeof(double));
    }
    return true;
}

// ---------------------------------------------------------------------------- solution

// After a step of Newton's method that left the residual `now`: what is off is solved again. Returns the residual.
static double settle(ItmLoaded* l, ItmLoadedPatch* patch, ItmSweep* s, double* x, double now, double scale,
                     double tolerance, int* pairs)
{
    for (int k = 0; k < MOST_PATCHES && patch != NULL; k++) {
        double last = now;
        if (!solve_patch(patch, l, s, x, now, scale, tolerance)) {
            break;
        }
        now = look_again(l, s, x) / scale;
        if (k + 1 == MOST_PATCHES || now <= tolerance || !(now <= 0.5 * last)) {
            return now;
        }
    }
    repair(l, s, x, LEVEL * now * scale, *pairs);
    *pairs = *pairs < MOST_PAIRS ? 2 * *pairs : *pairs;
    return now;
}

// Steps of Newton's method from x. The result is never farther off than the start.
static ItmSweepResult iterate(ItmLoaded* l, ItmLoadedPatch* patch, ItmSweep* s, double* x, double scale,
                              double tolerance)
{
    ItmSweepResult result = {0};
    l->n = 0;
    result.residual = look_again(l, s, x) / scale;
    result.worst_row = l->worst_row;
    copy_rows(s, l->start, x);
    double now = result.residual, best = INFINITY;
    int pairs = FIRST_PAIRS, idle = 0;
    bool is_fast = false;
    while (now > tolerance && idle < MOST_IDLE && result.sweeps < MAX_STEPS && take_step(l, s, x, is_fast)) {
        double last = now;
        result.sweeps++;
        now = look_again(l, s, x) / scale;
        idle = now < 0.5 * best ? 0 : idle + 1;
        best = fmin(best, now);
        is_fast = now <= FAST * last;
        if (!(now <= PROGRESS * last) && now > tolerance) {
            now = settle(l, idle > 0 ? patch : NULL, s, x, now, scale, tolerance, &pairs);
        }
    }
    if (result.sweeps > 0) {
        now = make_feasible(l, s, x) / scale;
        if (now < result.residual) {
            result.residual = now;
            result.worst_row = l->worst_row;
        } else {
            copy_rows(s, x, l->start);
            itm_sweep_set_velocities(s, x);
        }
    }
    return result;
}

// Leave out contacts that carry nothing and open at `margin` or faster.
static void narrow(ItmLoaded* l, ItmSweep* s, const double* x, double margin)
{
    const ItmSweepBlock* all = s->blocks;
    int n = 0;
    for (int k = 0; k < s->nblock; k++) {
        int i = all[k].first;
        if (!(l->w[i] >= margin) || x[i] != 0.0 || x[i + 1] != 0.0 || x[i + 2] != 0.0) {
            l->near[n++] = all[k];
        }
    }
    s->blocks = l->near;
    s->nblock = n;
}

// Back to all n contacts. Returns the relative residual.
static double widen(ItmLoaded* l, ItmSweep* s, ItmSweepBlock* all, int n, const double* x, double scale)
{
    s->blocks = all;
    s->nblock = n;
    l->n = 0;
    return look(l, s, x) / scale;
}

// Y z of all rows, also the tangents of contacts that are idle.
static void set_change(const ItmLoaded* l, ItmSweep* s, const double* x)
{
    for (int k = 0; k < s->nblock; k++) {
        int first = s->blocks[k].first;
        bool is_read = !is_idle(l->w, x, first);
        for (int i = 0; i < 3; i++) {
            bool has_w = is_read || i == 0;
            s->change[first + i] = has_w ? l->w[first + i] - s->b[first + i] : read_row(s, &s->blocks[k], i);
        }
    }
}

ItmSweepResult itm_loaded_solve(ItmLoaded* l, ItmLoadedPatch* patch, ItmSweep* s, double* x, double tolerance)
{
    ItmSweepBlock* all = s->blocks;
    int nall = s->nblock;
    double scale = 1.0 + itm_sweep_prepare(s, x), off = widen(l, s, all, nall, x, scale);
    if (nall >= COLD_FROM && off > COLD) {
        int sweeps = nall / CONTACTS_A_SWEEP;
        narrow(l, s, x, SWEEP_MARGIN * off * scale);
        itm_sweep_solve(s, x, tolerance, sweeps > LEAST_SWEEPS ? sweeps : LEAST_SWEEPS);
        off = widen(l, s, all, nall, x, scale);
    }
    ItmSweepResult result = {0};
    bool is_done = false;
    for (int round = 0; !is_done; round++) {
        int before = result.sweeps;
        bool is_last = round == NEAR_ROUNDS;
        narrow(l, s, x, is_last ? INFINITY : NEWTON_MARGIN * off * scale);
        if (s->nblock > 0) {
            result = iterate(l, patch, s, x, scale, tolerance);
            result.sweeps += before;
        }
        off = widen(l, s, all, nall, x, scale);
        is_done = is_last || off <= tolerance || off <= result.residual;
    }
    result.residual = off;
    result.worst_row = l->worst_row;
    set_change(l, s, x);
    return result;
}
