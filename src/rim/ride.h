// Bounded rows in a RIM: gathered and reduced (ride.c), solved with a guessed active set (ride_set.c) and carried through micro steps
// (ride_step.c).
#ifndef ITM_RIM_RIDE_H
#define ITM_RIM_RIDE_H

#include "rim/rim.h"

void itm_ride_lay_out(ItmRim* rim, ItmArena* arena, const ItmModel* m);

// The same with room for so many rows and friction couplings.
void itm_ride_lay_out_rows(ItmRim* rim, ItmArena* arena, int capacity, int coupling_capacity);

// The bounded rows of the evaluation that an interface can feel, for riding or elimination. After the interface part.
ItmStatus itm_ride_extract(const ItmModel* m, ItmData* d, ItmRim* rim, ItmRimContact contact);

// Take the rows of an extraction, or of a copy, out of the model: it is smooth from now on. Rows that were active in the mechanism's
// last solve hold over the step, the others act as they did. The model starts from the projected velocity: where rigid active rows
// have another rate than they should, an impulse at the start corrects it.
void itm_ride_eliminate(ItmRim* rim);

// Compliance of micro steps h on the diagonal of H; the factors of the active set are void.
void itm_ride_set_step(ItmRim* rim, double h);

// After the last micro step: Q0, Q1 complete, r->state filled.
void itm_ride_end(ItmRim* rim);

// What is added to the rate of a row so that it is complementary to its impulse, for a micro step h.
double itm_ride_compute_offset(const ItmRide* r, int i, double h);

// ---------------------------------------------------------------------------- dense systems

// Active rows are often redundant (four corners of a box). The diagonal of their matrix is enlarged by this fraction, and the
// solution taken as a step from the last one (proximal point): rates are met to this fraction of the step, and what the rows
// cannot tell apart stays as it was.
#define ITM_RIDE_PROXIMAL 1e-10
// Rows whose mobility is below this fraction of that of free bodies do not move but by rounding, and take no part.
#define ITM_RIDE_FIXED 1e-12

// LU factors of r->S (n x n) in place, row pivoting: inverse pivots on the diagonal, r->pivot filled.
void itm_ride_factor(ItmRide* r, int n);
// x <- S^-1 x
void itm_ride_solve(const ItmRide* r, double* x, int n);

// ---------------------------------------------------------------------------- active set

// Read the modes from states and impulses of an MLCP over the riding rows.
void itm_ride_set_modes(ItmRide* r, const signed char* state, const double* x);
// Impulses x_try and rates w for the present modes and r->b. False: they contradict the modes.
bool itm_ride_try(ItmRim* rim, double h);
// The position impulses y that belong to impulses x_try and rates A v+ in r->w, with Heun's rule.
void itm_ride_place(ItmRim* rim, double h);
// After an accepted trial: if the active rows rest, make the maps that give everything linearly in lambda for as long as the
// modes hold.
void itm_ride_settle(ItmRim* rim, double h, const double* lambda);

// Whether a row is the slipping tangent of a closed contact.
static inline bool itm_ride_is_rubbing(const ItmRide* r, int i)
{
    return r->mode[i] == ITM_RIDE_SLIP && r->mode[r->rows[i].normal] == ITM_RIDE_ACTIVE;
}

// Whether the tangential forces of a coupling are admissible for its normal force; f over the riding rows.
bool itm_ride_sticks(const ItmMlcpContact* c, const double* f, double tolerance);
// Whether slip w (riding rows) of a coupling opposes its friction as its law wants.
bool itm_ride_slips(const ItmRide* r, const ItmMlcpContact* c, const double* w, double tolerance);
// Largest rate that counts as none.
double itm_ride_get_tolerance(const ItmRim* rim);

#endif
