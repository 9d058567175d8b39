// Solving the bounded rows of a step.
#ifndef ITM_STEPPER_BOUNDED_SOLVE_H
#define ITM_STEPPER_BOUNDED_SOLVE_H

#include "multibody/bounded.h"

// Impulses of all bounded rows for a step h, given the velocities v that the step would end with without them (bilateral
// rows solved, H factored). v becomes v+, d->lambda the impulses of the bilateral rows. push (nv) receives the displacement
// that undoes penetrations. Energies are booked, what happened is in d->info.
// ITM_ERR_CAPACITY: an island or the table is too large. ITM_ERR_NOT_FINITE: the problem is.
ItmStatus itm_bounded_solve(const ItmModel* m, ItmData* d, double* v, double* push, double h);

// Whether gaps of loose joints were closed in the last step and still have rows.
bool itm_bounded_is_settling(const ItmModel* m, const ItmData* d);
// Take from the velocities v, H factored, what closes such gaps, as the projection at the end of a step does for joints; with
// friction. A hub that slides in its bearing gets half of its impulse here and half from the solve, the same at both ends of a
// step, and keeps its energy to second order.
ItmStatus itm_bounded_settle(const ItmModel* m, ItmData* d, double* v);

// H' of all bounded rows as one island into bounded->H (nrow x nrow), in the order of the rows, without compliance. H factored.
// False: there are more rows than fit.
bool itm_bounded_assemble(const ItmModel* m, ItmData* d);

#endif
