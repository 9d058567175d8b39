// Projected Gauss-Seidel without a matrix, for problems of many rows that act on few nodes of six velocities each (a body that is free on
// the world is one node, a mechanism several). With mass-normalised velocities z = sum Y' x of the nodes, row i has the velocity w_i = b_i + Y_i z + omega_i x_i.
// Limit: where the two tangents of a sliding cone have different diagonals D of H, friction ends opposite to D^-1 w instead of w.
#ifndef ITM_MLCP_SWEEP_H
#define ITM_MLCP_SWEEP_H

#include "base/arena.h"
#include "interim/mlcp.h"

#define ITM_SWEEP_MOST_ROWS 6  // of a block

// clang-format off
// Rows that act on the same nodes.
typedef struct ItmSweepBlock {
    int first, nrow;
    int first_coupling, ncoupling;
    int nnode;
    int row;                  // first, in the table that the problem is about
    const int* node;          //                                          (nnode)
    const double* Y;          // row by row                               (nrow x 6 nnode)

    bool   is_cone;           // itm_sweep_is_cone, with                  set by itm_sweep_prepare
    double mu;                //   its friction
    double H[2];              //   the velocities of its tangents that an impulse at its normal causes
} ItmSweepBlock;

// The problem, and the memory of its solution. Rows are numbered from 0: an island is solved in the same memory as the one before it,
// which stays in the cache, wherever its rows are in the table.
typedef struct ItmSweep {
    int nblock, nrow, ncoupling;
    ItmSweepBlock* blocks;    //                                          (nblock)
    ItmMlcpContact* couplings; // friction, in numbers of the problem      (ncoupling)
    double* x;                // impulses, for callers without an array   (rows)
    double* b;                // row velocities without impulses          (rows)
    double* rate;             // row velocities before the step           (rows)
    double *lo, *up;          // bounds                                   (rows)
    double* omega;            // on the diagonal                          (rows)
    bool*   has_bounds;       // false: only couplings change the impulse (rows)
    double* change;           // result: what the impulses add to b, Y z  (rows)

    int*    visited;          // blocks that sweeps visit                 (nvisited)
    int     nvisited;
    double* z;                //                                          (6 nodes)
    double* near;             // z of a block that is being visited       (6 nodes)
    double* inv_D;            // 1 / (|Y|^2 + omega)                      (rows)
    double* prev;             // impulses before a pair of sweeps         (rows)
    double* p;                // direction of acceleration                (rows)
} ItmSweep;
// clang-format on

typedef struct ItmSweepResult {
    int sweeps;
    int worst_row;    // the row that was off farthest
    double residual;  // largest velocity that a row is still off by, relative to 1 + the largest b
} ItmSweepResult;

void itm_sweep_lay_out(ItmSweep* s, ItmArena* arena, int nblock, int nrow, int ncoupling, int nnode);

// 1 / D of every row and the z of impulses x. Returns the largest |b|.
double itm_sweep_prepare(ItmSweep* s, const double* x);
// z = Y' x
void itm_sweep_set_velocities(ItmSweep* s, const double* x);
// Whether a block with friction is a contact with two tangents, the exact cone and no other bounds.
bool itm_sweep_is_cone(const ItmSweep* s, const ItmSweepBlock* block);
// How far x with velocities w is off the law, as sweeps find it: the velocity |x - P(x - w / D)| D with the friction of the present
// normal. After itm_sweep_prepare; blocks with one coupling at most.
double itm_sweep_measure(const ItmSweep* s, const double* w, const double* x, int* worst_row);
// The contacts `blocks` (n) of s, each a cone, as a problem of its own: the impulses x of all others stay, and their velocities are part of
// its b. s has the z of x; part->x is the start.
void itm_sweep_extract(ItmSweep* part, const ItmSweep* s, const int* blocks, int n, const double* x);
// Pairs of sweeps over s->visited, which the caller fills; x within its bounds and z of it.
void itm_sweep_repair(ItmSweep* s, double* x, int npair);

// Impulses x (rows), which also holds the start.
ItmSweepResult itm_sweep_solve(ItmSweep* s, double* x, double tolerance, int max_sweeps);

#endif
