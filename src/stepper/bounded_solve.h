// Solving the bounded rows of a step.
#ifndef ITM_STEPPER_BOUNDED_SOLVE_H
#define ITM_STEPPER_BOUNDED_SOLVE_H

#include "multibody/bounded_island.h"

// Impulses of all bounded rows for a step h, given the velocities v that the step would end with without them (bilateral
// rows solved, H factored). v becomes v+, d->lambda the impulses of the bilateral rows. correction (nv) receives the displacement
// that undoes penetrations. Energies are booked, what happened is in d->info.
// ITM_ERR_CAPACITY: an island or the table is too large. ITM_ERR_NOT_FINITE: the problem is.
ItmStatus itm_bounded_solve(const ItmModel* m, ItmData* d, double* v, double* correction, double h);

// ---------------------------------------------------------------------------- its parts, which interface models share

// Half solved rows, impulses and states of the last step (b->x, b->state), islands. M and H are factored.
// ITM_ERR_CAPACITY: the table is too large.
ItmStatus itm_bounded_begin(const ItmModel* m, ItmData* d);
// b->v_after = A v, and what is added to it in a step h.
void itm_bounded_set_offsets(const ItmModel* m, ItmData* d, const double* v, double h);
// Solve a warm started problem over rows of the table (table: their numbers, ITM_NONE: rows of another mechanism) with the options
// of the model; what it took and what is left is noted in d->info and for itm_step_judge.
ItmStatus itm_bounded_solve_mlcp(const ItmModel* m, ItmData* d, ItmMlcpWorkspace* workspace, ItmMlcpResult* result,
                                 const ItmMlcpProblem* problem, const int* table);
// Impulses of one island for a step h.
ItmStatus itm_bounded_solve_island(const ItmModel* m, ItmData* d, int head, double h);
// The same for an island that is assembled, without undoing penetrations.
ItmStatus itm_bounded_solve_velocities(const ItmModel* m, ItmData* d, int head, int n, double h);
// How far to go from a solution without bounces to one with them, 0 .. 1, where impulses do the work `without` and `with`, half the
// product of the changes of impulses and rates is `curvature` (not negative), and the work must not exceed `allowed` >= `without`.
double itm_bounded_share_bounce(double without, double with, double curvature, double allowed);

// Position correction of rigid contacts and limits: displacements, not velocities, so that they add no energy.
//   0 <= Phi + H x  _|_  x >= 0 over n rows,   0 = Phi + H x over those under load, whose gap is drift of the bodies
typedef struct ItmBoundCorrection {
    int n;
    double* H;            // mobility of the rows, used up         (n x n)     1/kg
    double *b, *lo, *up;  //                                       (n)         m, kg m
    double *x, *w;        // impulses of position, gaps afterwards (n)         kg m, m
    signed char* state;   //                                       (n)
} ItmBoundCorrection;

#define ITM_BOUNDED_RESTING_BAND 5e-7  // m: half of the penetration that is promised

// Whether the bodies of a contact move by less than rounding of its gap in a step: drifts of moving bodies add up.
bool itm_bounded_is_at_rest(const ItmData* d, const ItmBoundRow* row);
// Whether the gap of a row is to be corrected. Contacts between bodies at rest are left alone while they are off by less than half a
// micrometre: every correction turns bodies a little, which changes all contact forces of a wall by more than the tolerance, and the
// next solve starts over. Once a row asks, all rows of its island are corrected to 0.
static inline bool itm_bounded_is_off(double gap, bool is_held, bool is_at_rest)
{
    double off = is_held ? fabs(gap) : -gap;
    return off > (is_at_rest ? ITM_BOUNDED_RESTING_BAND : ITM_BOUNDED_SLOP);
}
// Fill row i, H being there.
void itm_bounded_set_correction(const ItmBoundCorrection* c, int i, double gap, bool is_held);
ItmStatus itm_bounded_solve_correction(ItmData* d, ItmMlcpWorkspace* workspace, const ItmBoundCorrection* c);
// v += M^-1 A_c' x, and what the bilateral rows answer; their impulses are added to lambda (NULL: not wanted).
void itm_bounded_respond(const ItmModel* m, ItmData* d, double* v, const double* x, double* lambda);
// All impulses b->x are there: v becomes v+, correction as in itm_bounded_solve; energies, report, memory.
void itm_bounded_finish(const ItmModel* m, ItmData* d, double* v, double* correction);

// Work of a row's impulse, into its account and that of its joint with clearance.
void itm_bounded_book_work(ItmData* d, const ItmBoundRow* row, double work);
// Work of bilateral impulses that answer bounded ones, with the mean of their row velocities `before` and those of v. Joints do
// work in a step because their rows turn; what they answer to an impact belongs to it. Of motions only if is_driven: the step
// books theirs with all their impulses.
void itm_bounded_book_answer(const ItmModel* m, ItmData* d, const double* answer, const double* before, const double* v,
                             bool is_driven);

#endif
