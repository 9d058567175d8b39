// Newton's method on an augmented Lagrangian, in the velocities of the nodes instead of the impulses: for problems of many rows that act
// on few nodes (sweep.h), where a stack of boxes has many more rows than velocities. Its matrix is sparse like the graph of the
// contacts, and dependent rows do not spoil it.
#ifndef ITM_MLCP_AUGMENTED_H
#define ITM_MLCP_AUGMENTED_H

#include "math/graph.h"
#include "mlcp/sweep.h"

// clang-format off
// Successive blocks of rows that act on the same nodes.
typedef struct ItmAugmentedGroup {
    int  first, end;       // blocks
    int  nnode, node[2];   // in the graph; of more than two the first two
    bool is_transposed;    // it is A_ba
    int  block;            // of the matrix, that couples the two nodes
} ItmAugmentedGroup;

typedef struct ItmAugmented {
    ItmGraph graph;
    int      ngroup;
    ItmAugmentedGroup* groups; //                                                       (blocks)
    int*     local;        // node of the problem -> node of the graph                  (nodes)
    int*     global;       // and back                                                  (nodes)
    double   *z, *g, *dz;  // velocities that impulses cause, gradient, Newton step     (6 nodes)
    double   *w, *dw;      // b + Y z, Y dz                                             (rows)
    double*  base;         // impulses that the proximal term refers to                 (rows)
    double*  y;            // impulses before they are projected                        (rows)
    double   *rho, *shift; // weight; mu |w_t| of a cone                                (blocks)
    signed char* part;     // of the projection that a row was at in the factor         (rows)
    double*  q;            // rows of rho P' Y of a block                               (ITM_SWEEP_MOST_ROWS x 6 nodes)
    bool     is_coupled;   // friction follows the normal impulse, without the shift
    bool     is_factored;  // the factor fits these parts
    bool     is_guessing;  // the next step trusts the impulses of the start
} ItmAugmented;
// clang-format on

void itm_augmented_lay_out(ItmAugmented* a, ItmArena* arena, int nblock, int nrow, int nnode);

// Gather the problem. Returns whether the method should come before sweeps: rows outnumber velocities, and pairs of nodes touch at several places, as boxes do. Spheres
// touch at one, and their heaps slip at so many contacts that the method takes long to find out which.
bool itm_augmented_gather(ItmAugmented* a, const ItmSweep* s);

// Impulses x (rows) of the problem that was gathered; x also holds the start; s->change as after itm_sweep_solve. false: the factor would be
// too large; nothing has changed. Otherwise result reports how it went; `sweeps` counts steps of Newton's method.
bool itm_augmented_solve(ItmAugmented* a, ItmSweep* s, double* x, double tolerance, ItmSweepResult* result);

#endif
