// Solving the bounded rows of a step.
#ifndef ITM_STEPPER_BOUNDED_SOLVE_H
#define ITM_STEPPER_BOUNDED_SOLVE_H

#include "multibody/bounded_island.h"

// Impulses of all bounded rows for a step h, given the velocities v that the step would end with without them (bilateral
// rows solved, H factored). v becomes v+, d->lambda the impulses of the bilateral rows. push (nv) receives the displacement
// that undoes penetrations. Energies are booked, what happened is in d->info.
// ITM_ERR_CAPACITY: an island or the table is too large. ITM_ERR_NOT_FINITE: the problem is.
ItmStatus itm_bounded_solve(const ItmModel* m, ItmData* d, double* v, double* push, double h);

// ---------------------------------------------------------------------------- its parts, which interface models share

#define ITM_BOUNDED_SLOP 1e-9  // m, rad: gaps and penetrations below this are rounding and count as contact

// Half solved rows, impulses and states of the last step (b->x, b->state), islands. M and H are factored.
// ITM_ERR_CAPACITY: the table is too large.
ItmStatus itm_bounded_begin(const ItmModel* m, ItmData* d);
// b->v_after = A v, and what is added to it in a step h.
void itm_bounded_set_offsets(const ItmModel* m, ItmData* d, const double* v, double h);
// Impulses of one island for a step h, v_free as given to itm_bounded_set_offsets.
ItmStatus itm_bounded_solve_island(const ItmModel* m, ItmData* d, int head, const double* v_free, double h);
// Displacements that undo the penetrations of an assembled chain, into b->x_push. b->H is used up.
ItmStatus itm_bounded_solve_push(ItmData* d, int n);
// v += M^-1 A_c' x, and what the bilateral rows answer; their impulses are added to lambda (NULL: not wanted).
void itm_bounded_respond(const ItmModel* m, ItmData* d, double* v, const double* x, double* lambda);
// All impulses b->x are there: v becomes v+, push as in itm_bounded_solve; energies, report, memory.
void itm_bounded_finish(const ItmModel* m, ItmData* d, double* v, double* push);

#endif
