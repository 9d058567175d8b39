// The complementarity problem of one island of bounded rows: numbering, matrix, couplings. The matrix has the bilateral
// rows eliminated, H' = H_cc - H_cb H_bb^-1 H_bc + Omega (see src/stepper/bounded_solve.c).
#ifndef ITM_MULTIBODY_BOUNDED_ISLAND_H
#define ITM_MULTIBODY_BOUNDED_ISLAND_H

#include "multibody/bounded.h"

// Number the rows of a chain of blocks (b->islands.local, work->global). Returns how many, which may be more than there is room for.
int itm_bounded_number_rows(ItmBounded* b, ItmBoundWork* work, int head);
// Its problem into work->problem: H' with bilateral rows eliminated, bounds, impulses and states to start from, couplings.
void itm_bounded_assemble(const ItmModel* m, ItmData* d, ItmBoundWork* work, int head, int n);
// Once more what the table has for it, compliance too, which is added to H'.
void itm_bounded_load(const ItmBounded* b, ItmBoundWork* work);

#endif
