// Bounded rows in a RIM: gathered and reduced (contacts.c), solved with a guessed active set (contacts_trial.c) and carried through micro steps
// (step.c).
#ifndef ITM_RIM_CONTACTS_H
#define ITM_RIM_CONTACTS_H

#include "rim/rim.h"

void itm_rim_contacts_lay_out(ItmRim* rim, ItmArena* arena, const ItmModel* m);

// The same with room for so many rows and friction couplings.
void itm_rim_contacts_lay_out_rows(ItmRim* rim, ItmArena* arena, int capacity, int coupling_capacity);

// The bounded rows of the evaluation that an interface can feel, to be solved or eliminated. After the interface part.
ItmStatus itm_rim_contacts_extract(const ItmModel* m, ItmData* d, ItmRim* rim, ItmRimContact contact);

// Take the rows of an extraction, or of a copy, out of the model: it is smooth from now on. Rows that were active in the mechanism's
// last solve hold over the step, the others act as they did. The model starts from the projected velocity: where rigid active rows
// have another rate than they should, an impulse at the start corrects it.
void itm_rim_contacts_eliminate(ItmRim* rim);

// Compliance of micro steps h on the diagonal of H; the factors of the active set are void.
void itm_rim_contacts_set_step(ItmRim* rim, double h);

// After the last micro step: Q0, Q1 complete, r->state filled.
void itm_rim_contacts_end(ItmRim* rim);

// What is added to the rate of a row so that it is complementary to its impulse, for a micro step h.
double itm_rim_contacts_compute_offset(const ItmRimContacts* r, int i, double h);

// ---------------------------------------------------------------------------- dense systems

// Active rows are often redundant (four corners of a box). The diagonal of their matrix is enlarged by this fraction, and the
// solution taken as a step from the last one (proximal point): rates are met to this fraction of the step, and what the rows
// cannot tell apart stays as it was.
#define ITM_RIM_PROXIMAL 1e-10
// Rows whose mobility is below this fraction of that of free bodies do not move but by rounding, and take no part.
#define ITM_RIM_FIXED 1e-12

// LU factors of r->S (n x n) in place, row pivoting: inverse pivots on the diagonal, r->pivot filled.
void itm_rim_contacts_factor(ItmRimContacts* r, int n);
// x <- S^-1 x
void itm_rim_contacts_solve(const ItmRimContacts* r, double* x, int n);

// ---------------------------------------------------------------------------- active set

// Read the modes from states and impulses of an MLCP over the contact rows.
void itm_rim_contacts_set_modes(ItmRimContacts* r, const signed char* state, const double* x);
// Impulses x_try and rates w for the present modes and r->b. False: they contradict the modes.
bool itm_rim_contacts_try(ItmRim* rim, double h);
// The position impulses y that belong to impulses x_try and rates A v+ in r->w, with Heun's rule.
void itm_rim_contacts_place(ItmRim* rim, double h);
// After an accepted trial: if the active rows rest, make the maps that give everything linearly in lambda for as long as the
// modes hold.
void itm_rim_contacts_settle(ItmRim* rim, double h, const double* lambda);

// Whether a row is at a bound: open contact, slipping joint friction, motor at its limit.
static inline bool itm_rim_contacts_is_tight(const ItmRimContacts* r, int i)
{
    return r->mode[i] == ITM_ROW_LO || r->mode[i] == ITM_ROW_UP;
}

// Whether a row is the slipping tangent of a closed contact.
static inline bool itm_rim_contacts_is_rubbing(const ItmRimContacts* r, int i)
{
    return r->mode[i] == ITM_ROW_SLIP && r->mode[r->rows[i].normal] == ITM_ROW_ACTIVE;
}

// Whether the tangential forces of a coupling are admissible for its normal force; f over the contact rows.
bool itm_rim_contacts_sticks(const ItmMlcpContact* c, const double* f, double tolerance);
// Whether slip w (contact rows) of a coupling opposes its friction as its law wants.
bool itm_rim_contacts_slips(const ItmRimContacts* r, const ItmMlcpContact* c, const double* w, double tolerance);
// Largest rate that counts as none.
double itm_rim_contacts_get_tolerance(const ItmRim* rim);

#endif
