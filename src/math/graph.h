// Cholesky factor of a positive definite matrix of 6 x 6 blocks whose pattern is a graph that changes from use to use: bodies and the
// contacts between them. Order of elimination (minimum degree), fill and factor are found without allocating anything.
#ifndef ITM_MATH_GRAPH_H
#define ITM_MATH_GRAPH_H

#include "base/arena.h"

#include <stdbool.h>

#define ITM_GRAPH_BLOCK 36  // reals of a block, row-major
#define ITM_GRAPH_SMALL 9   // of a small one

// clang-format off
// Row p of the factor U, A = U'U, has the diagonal block p and the blocks (p, column[row_adr[p] ... row_adr[p + 1])).
typedef struct ItmGraph {
    int     n, nblock;             // nodes; blocks right of the diagonal
    int     node_capacity, block_capacity, pool_capacity;
    int*    position;              // of a node in the order of elimination              (n)
    int*    row_adr;               //                                                    (n + 1)
    int*    column;                // positions, rising in a row                         (nblock)
    double* diagonal;              // A_pp, then the upper half of U_pp                  (n x 36)
    double* inv_diag;              // 1 / U_ss                                           (n x 6)
    double* off;                   // A_pq, then U_pq                                    (nblock x 36)
    double* low;                   // A_qp of a matrix that is not symmetric, then L_qp  (nblock x 36)
    double* permuted;              // right side in the order of elimination             (n x 6)

    int*    pool;                  // lists of neighbours that are not eliminated        (pool_capacity)
    int     npool;
    int     *list, *count, *room;  // list of a node: start, length, place               (n each)
    int     *head, *next, *prev;   // nodes by degree, linked                            (n each)
    int*    mark;                  //                                                    (n)
    int     stamp;
} ItmGraph;
// clang-format on

// Room for graphs of up to `node` nodes and `block` blocks right of the diagonal, of 6 x 6 or 3 x 3 (size) reals.
void itm_graph_lay_out(ItmGraph* g, ItmArena* arena, int node, int block, int size);

// A graph of n nodes without edges; false: it has too many nodes.
bool itm_graph_begin(ItmGraph* g, int n);
// An edge between nodes a != b; repeats are allowed. false: no room.
bool itm_graph_join(ItmGraph* g, int a, int b);
// Order and fill. false: the factor has no room, or sum d^2 of the blocks d of its rows exceeds `most`.
bool itm_graph_order(ItmGraph* g, double most);
// Number of the block in off (and low) that couples nodes a != b, which were joined. is_transposed: off has A_ba.
int itm_graph_find(const ItmGraph* g, int a, int b, bool* is_transposed);
// A = U'U in place, of the upper halves of the diagonal blocks and the others. false: not positive definite.
bool itm_graph_factor(ItmGraph* g);
// x <- A^-1 x   (6 n), in the order of the nodes
void itm_graph_solve(ItmGraph* g, double* x);

// The same for a matrix whose pattern alone is symmetric, A = L U with whole diagonal blocks; blocks below the diagonal in low. Rows are
// exchanged within a block only. false: a diagonal block became singular.
bool itm_graph_factor_general(ItmGraph* g);
void itm_graph_solve_general(ItmGraph* g, double* x);

// The same with blocks of 3 x 3; x (3 n).
bool itm_graph_factor_small(ItmGraph* g);
void itm_graph_solve_small(ItmGraph* g, double* x);

#endif
