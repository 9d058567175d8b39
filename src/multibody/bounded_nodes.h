// Islands of any size: rows as vectors over nodes of six velocities, for the solvers without a matrix (mlcp/sweep.h).
//
// A body that is free on the world is a node, and its rows have their Y. A component of bodies with joints, nv velocities and bilateral
// rows b, of which some are compliant, is as many nodes as its velocities and compliant rows need. There a row y has the vector
//   y^ = (y - Y_b' l, -Omega^1/2 l),   l = (Y_b Y_b' + Omega)^-1 Y_b y
// so that y^_r . y^_s = H_rs - H_rb H_bb^-1 H_bs: the bilateral rows are eliminated.
#ifndef ITM_MULTIBODY_BOUNDED_NODES_H
#define ITM_MULTIBODY_BOUNDED_NODES_H

#include "multibody/bounded.h"

// The nodes of a model, m->velocity_nodes. After its components are known. false: no memory.
bool itm_bounded_build_nodes(ItmModel* m);
// Whether a block touches only bodies that are free on the world and have no bilateral rows.
bool itm_bounded_is_single(const ItmModel* m, const ItmRowBlock* path);

// Memory for the rows and blocks of an island; none where no island can be too large for a matrix.
void itm_bounded_lay_out_nodes(const ItmModel* m, const ItmBoundCapacity* capacity, ItmBoundNodes* nodes,
                               ItmArena* arena);
// Forget all blocks.
void itm_bounded_clear_nodes(ItmBoundNodes* nodes);
// The nodes and Y of a block, into `out`. After the Y of the block and of the bilateral rows, and their factor. false: no room.
bool itm_bounded_express(const ItmModel* m, const ItmData* d, ItmBoundNodes* nodes, const ItmBoundBlock* block,
                         ItmSweepBlock* out);

#endif
