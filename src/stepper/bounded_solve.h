// Solving the bounded rows of a step.
#ifndef ITM_STEPPER_BOUNDED_SOLVE_H
#define ITM_STEPPER_BOUNDED_SOLVE_H

#include "multibody/bounded_island.h"

// Impulses of all bounded rows for a step h, given the velocities v that the step would end with without them (bilateral
// rows solved, H factored), by the forces of the time `since`. v becomes v+, d->lambda the impulses of the bilateral rows. correction (nv)
// receives the displacement that corrects positions and places bounces in the step. Energies are counted, and d->info describes the step.
// ITM_ERR_CAPACITY: an island or the table is too large. ITM_ERR_NOT_FINITE: the problem is.
ItmStatus itm_bounded_solve(const ItmModel* m, ItmData* d, double* v, double* correction, double h, double since);

// Whether the rows are one small island, after itm_bounded_begin.
bool itm_bounded_is_one_island(const ItmBounded* b);
// The same for such an island that is in b->work already, assembled without compliance, where positions are not corrected.
ItmStatus itm_bounded_solve_assembled(const ItmModel* m, ItmData* d, double* v, double* correction, double h,
                                      double since);

// ---------------------------------------------------------------------------- its parts, which interface models share

// Half solved rows, impulses and states of the last step (b->x, b->state), islands. M and H are factored.
// ITM_ERR_CAPACITY: the table is too large.
ItmStatus itm_bounded_begin(const ItmModel* m, ItmData* d);
// b->v_after = A v, and what is added to it in a step h; since as above, 0: bounces start with the step.
void itm_bounded_set_offsets(const ItmModel* m, ItmData* d, const double* v, double h, double since);
// Solve a warm started problem for a step with the options of the model; what it took and what is left is noted in d->info and for
// itm_step_judge (table: numbers of the rows in the table, ITM_NONE: a row of another mechanism).
ItmStatus itm_bounded_solve_rows(const ItmModel* m, ItmData* d, const ItmRowProblem* problem, const ItmRowStep* step,
                                 ItmMlcpWorkspace* workspace, const int* table, ItmRowSolves* solves);
// itm_row_correct with the options of the model.
ItmStatus itm_bounded_correct(ItmData* d, const ItmRowProblem* problem, ItmMlcpWorkspace* workspace,
                              const double* drift, int* list, double* S, int* count);
// Impulses of all islands but those that are in an interface model, for the step of itm_bounded_set_offsets. Threads of b->pool solve several
// at a time; results, report and error do not depend on how many.
ItmStatus itm_bounded_solve_islands(const ItmModel* m, ItmData* d);
// The same for the assembled island b->work, without position correction.
ItmStatus itm_bounded_solve_velocities(const ItmModel* m, ItmData* d);
// Whether the bodies of a contact move by less than rounding of its gap in a step: drifts of moving bodies add up.
bool itm_bounded_is_at_rest(const ItmData* d, const ItmRow* row);

// v += M^-1 A_c' x, and the reaction of the bilateral rows; their impulses are added to lambda (NULL: not wanted).
void itm_bounded_respond(const ItmModel* m, ItmData* d, double* v, const double* x, double* lambda);
// All impulses b->x are there: v becomes v+, correction as in itm_bounded_solve; energies, report, memory.
void itm_bounded_finish(const ItmModel* m, ItmData* d, double* v, double* correction);

// Work of a row's impulse, into its account and that of its joint with clearance.
void itm_bounded_book_work(ItmData* d, const ItmRow* row, double work);
// Work of bilateral impulses that respond to bounded ones, with the mean of their row velocities `before` and those of v. Joints do
// work in a step because their rows turn; their reaction to an impact belongs to the impact. Of motions only if is_driven: the step
// counts theirs with all their impulses.
void itm_bounded_book_answer(const ItmModel* m, ItmData* d, const double* answer, const double* before, const double* v,
                             bool is_driven);

#endif
