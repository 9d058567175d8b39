// Bounded rows in a RIM: gathered and reduced (contacts.c), carried through micro steps (step.c, steady.c).
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

// Rows whose mobility is below this fraction of that of free bodies do not move but by rounding, and take no part.
#define ITM_RIM_FIXED 1e-12

// ---------------------------------------------------------------------------- steady.c

// After an accepted trial: if the active rows rest, make the maps that give everything linearly in lambda for as long as the
// active set holds.
void itm_rim_steady_begin(ItmRim* rim, double h, const double* lambda);
// Whether the maps hold under forces lambda: forces of the rows and rates of those that are watched.
bool itm_rim_steady_holds(ItmRim* rim, double h, const double* lambda);
// Rates of the lengths at the end of a micro step.
void itm_rim_steady_predict(const ItmRim* rim, double h, const double* lambda, double* w_next);
// One micro step, after itm_rim_steady_holds.
void itm_rim_steady_move(ItmRim* rim, double h, const double* lambda);
// Book what the steady micro steps left: impulses, and rates of rows that nobody watched.
void itm_rim_steady_end(ItmRim* rim, double h);

// Whether a bounded row is one of a contact.
static inline bool itm_rim_contacts_is_row(const ItmRow* row)
{
    return row->kind >= ITM_BOUND_NORMAL && row->kind <= ITM_BOUND_ROLLING;
}

// Largest rate that counts as none.
static inline double itm_rim_contacts_get_tolerance(const ItmRim* rim)
{
    return rim->model->contact_options.tolerance;
}

#endif
