// The interface part of a RIM where the bilateral rows are a forest of all bodies (multibody/spanning.h): its recursion takes the place of
// the factor of H, as it does in the mechanism's own step.
//
// With y = L^-1 S' A_i' in the free directions of the tree, W = Y Y', and A_i v_dot comes from the same walk along the path of the interface.
// Nothing else is kept of the rows: the take-over solves for velocities and row impulses at once.
#ifndef ITM_RIM_FOREST_H
#define ITM_RIM_FOREST_H

#include "rim/rim.h"

void itm_rim_forest_lay_out(ItmRimForest* forest, ItmArena* arena, const ItmModel* m, int n);
// The path of row i in the forest, from its block. Rows that act on coordinates have none: there the forest is not used.
void itm_rim_forest_set_path(ItmRimForest* forest, const ItmModel* m, int i, const ItmRowBlock* block);

// The free motion over a step h from an evaluation `shift` ahead, and factors. After itm_euler_evaluate for ITM_EVALUATE_FOREST.
void itm_rim_forest_begin(const ItmModel* m, ItmData* d, ItmRim* rim);
// W, a0 without its bias, and mobility_free of row i beside those before it; cov: its covectors on the bodies of its block.
void itm_rim_forest_reduce(const ItmModel* m, ItmData* d, ItmRim* rim, int i, const ItmSpatial* cov);

// v += h v_dot + X p for interface impulses p (n; NULL: none), and into d->rows.x the impulses of the rows.
void itm_rim_forest_respond(const ItmModel* m, ItmData* d, const ItmRim* rim, double* v, double h, const double* p);
// v += X_i p of one interface
void itm_rim_forest_push(const ItmModel* m, ItmData* d, const ItmRim* rim, double* v, int i, double p);

#endif
