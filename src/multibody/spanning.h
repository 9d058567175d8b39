// Rows that form a forest: free bodies, each held by one rigid joint to another one or to the world.
//
// There the spanning tree's recursion solves H lambda = r and v += M^-1 A' lambda at once, in O(n) and without the block factor of H: a body
// moves against the next one by what the rows ask for, and along the free directions S of the joint as articulated inertias let it
// (Featherstone 2008, ch. 7). No row is redundant.
#ifndef ITM_MULTIBODY_SPANNING_H
#define ITM_MULTIBODY_SPANNING_H

#include "multibody/data.h"

// Find the forest, if the rows are one: fills m->spanning, after the row blocks. Returns false without memory.
bool itm_spanning_build(ItmModel* m);

// The factor at the position of the position stage, after itm_rows_place_nodes, once for each.
void itm_spanning_factor(const ItmModel* m, ItmData* d);

// out = A v (nrow), with A of the last itm_spanning_factor.
void itm_spanning_multiply(const ItmModel* m, ItmData* d, double* out, const double* v);

// x <- H^-1 x (nrow), v += M^-1 A' x (nv), with A and M of the last itm_spanning_factor.
void itm_spanning_solve(const ItmModel* m, ItmData* d, double* v, double* x);

// The inward half of that, for accelerations x (nrow) of the rows and wrenches that the caller has put into the nodes' p, each less than 0 by
// what pushes on its body: leaves d->spanning.y, and takes the wrenches away.
void itm_spanning_solve_inward(const ItmModel* m, ItmData* d, const double* x);

// y = L^-1 S' a' of a row a along the nodes of its path, children first, whose p has the row's covectors on its bodies and is taken away.
// y (nspanning_free) is written along the path only. Returns a v_dot of the motion that the last itm_spanning_solve_inward, for x, has begun.
double itm_spanning_half_solve(const ItmModel* m, ItmData* d, double* y, const double* x, const int* path, int npath);

// Factor, and take the rates of the rows out of v: x <- -H^-1 A v (nrow), v += M^-1 A' x (nv), in three walks over the nodes.
void itm_spanning_project(const ItmModel* m, ItmData* d, double* v, double* x);

#endif
