// A problem of rows with a guessed active set: a linear system instead of an MLCP, and inequalities that decide whether the guess was right.
// The factors are kept for as long as the guess stays, so a sequence of problems with one matrix costs a back-substitution each.
#ifndef ITM_MLCP_ACTIVE_SET_H
#define ITM_MLCP_ACTIVE_SET_H

#include "math/dense.h"
#include "mlcp/row.h"

// Active rows are often redundant (four corners of a box). The diagonal of their matrix is enlarged by this fraction, and the
// solution taken as a step from the last one (proximal point): rates agree to this fraction of the step, and impulses that the rows
// cannot distinguish stay as they were.
#define ITM_ACTIVE_SET_PROXIMAL 1e-10

// clang-format off
typedef struct ItmActiveSet {
    const ItmRowProblem* problem; // rows (index NULL), H, couplings, bounds of the impulses
    const ItmDense* dense;
    signed char* state;      // ItmRowState; ITM_ROW_SLIP: tangent that slides, or whose contact is open  (n)
    double* ratio;           // slip: impulse over normal impulse                       (n)

    bool    is_factored;
    long    nfactor;         // factorisations so far: S is the same while this is
    int     nactive;
    int*    active;          // active rows that can move                               (nactive)
    double* S;               // LU factors of H over them, slip tied to normals         (nactive x pad(nactive))
    int*    pivot;           //                                                         (nactive)
    double* rhs;             //                                                         (nactive)
    int*    place;           // row -> number in S                                      (n)
} ItmActiveSet;
// clang-format on

// Memory for problems of up to n rows.
void itm_active_set_lay_out(ItmActiveSet* set, ItmArena* arena, const ItmRowProblem* problem, int n);

// Read the set from states and impulses of an MLCP.
void itm_active_set_guess(ItmActiveSet* set, const signed char* state, const double* x);
// Factors for the present set, unless they are there.
void itm_active_set_factor(ItmActiveSet* set);
// x (nactive, in the order of set->active) <- S^-1 x
void itm_active_set_solve_active(const ItmActiveSet* set, double* x);
// Impulses x that make the rates b + H x of the active rows vanish, starting from what x is; rows at a bound have bound_share times it.
// problem->w is overwritten.
void itm_active_set_solve(ItmActiveSet* set, double* x, const double* b, double bound_share);
// Impulses x (n), from none, that cancel a unit rate of active row i.
void itm_active_set_respond(ItmActiveSet* set, double* x, int i);
// w = b + H x of all rows
void itm_active_set_compute_rates(const ItmActiveSet* set, double* w, const double* b, const double* x);
// Solve, and judge: problem->x (on entry a guess) and problem->w for problem->b, rates below `tolerance` counting as none. False: they
// contradict the set. Friction of sliding cones turns with the slip.
bool itm_active_set_try(ItmActiveSet* set, double tolerance);

// Whether a row is at a bound: open contact, slipping joint friction, motor at its limit.
static inline bool itm_active_set_is_tight(const ItmActiveSet* set, int i)
{
    return set->state[i] == ITM_ROW_LO || set->state[i] == ITM_ROW_UP;
}

// Whether a row is the slipping tangent of a closed contact.
static inline bool itm_active_set_is_rubbing(const ItmActiveSet* set, int i)
{
    return set->state[i] == ITM_ROW_SLIP && set->state[set->problem->rows[i].normal] == ITM_ROW_ACTIVE;
}

// Whether the tangential forces f of a coupling are admissible for its normal force.
bool itm_active_set_sticks(const ItmMlcpContact* c, const double* f, double tolerance);
// Whether slip w of a coupling opposes its friction as its law demands.
bool itm_active_set_slips(const ItmActiveSet* set, const ItmMlcpContact* c, const double* w, double tolerance);

#endif
