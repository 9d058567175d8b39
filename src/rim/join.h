// Mechanisms whose frames move together, between two communication points: their RIMs joined into one.
//
// Frame rows f of the joints' two sides, w_f = w_a - w_b, are held at 0 by impulses +p on side a and -p on side b. As everything in
// a RIM is linear but its bounded rows, they are eliminated once per macro step:
//   p(tau) = -G+ (w_f + a_f tau + F_L P_L(tau) + F_c x(tau)),   G = sum of the mobilities of both sides,
// F_L and F_c being what forces at line actuators and impulses of contact rows do to w_f. What is left is a RIM of the same kind over
// the line actuators and contact rows of all mechanisms, which takes the same micro steps; afterwards every mechanism receives
// the impulses and moments at its frames and takes over alone. Impulses on both sides are the same number, so momentum is exchanged
// exactly. G+ is the pseudo-inverse: where both sides are immobile along a direction, the impulse is the least one.
// Where frames have drifted apart by a gap, they are moved together by displacements -G+ gap in the same step, which has no velocity
// and no energy.
#ifndef ITM_RIM_JOIN_H
#define ITM_RIM_JOIN_H

#include "rim/rim.h"

// One row: frame row row_a of RIM a moves as row_b of RIM b. Where the two points have drifted apart, or move apart while the models
// are evaluated ahead, a translation of b is that of the point of a: with its rotations times a lever. Forces then act on both
// sides at one point, and angular momentum is exchanged exactly too.
typedef struct ItmRimLink {
    int a, row_a;
    int b, row_b;
    int turn[2];      // rotation rows of b, ITM_NONE: no lever
    double lever[2];  // m
} ItmRimLink;

// clang-format off
typedef struct ItmRimJoin {
    int     nrim, nlink, nline;
    int     capacity, coupling_capacity; // contact rows and friction couplings of all
    ItmRim** rims;           //                                                         (nrim)
    ItmRimLink* links;       //                                                         (nlink)
    int*    line_rim;        // line actuators in the joined RIM: whose                 (nline)
    int*    line_row;        // and which row there                                     (nline)
    int*    contact_adr;        // first contact row of each RIM in the joined one          (nrim + 1)
    ItmRim  rim;             // the joined RIM, over the lines
    struct ItmMlcpWorkspace* workspace;

    double* G;               //                                                         (nlink x nlink)  1/kg
    double* G_free;          // its diagonal if no rows held either side                (nlink)     1/kg
    double* G_inv;           // pseudo-inverse                                          (nlink x nlink)  kg
    int     rank;            // of G
    double* gap;             // position of a less that of b, set by the caller         (nlink)     m, rad
    double* F;               // F_L and F_c, a column an entry: G+ times it in B        (nlink x (nline + capacity))
    double* B;               //
    double *w_f, *a_f;       // G+ times them                                           (nlink)
    double *P0, *P1;         // impulse and moment on side a over the macro step        (nlink)     N s
    double* scratch;         // eigenvalues                                             (nlink (nlink + 3))
} ItmRimJoin;
// clang-format on

// Memory for RIMs (nrim) that are laid out already, and links between them; measured and then laid out by the same call.
void itm_rim_join_lay_out(ItmRimJoin* join, ItmArena* arena, ItmRim* const* rims, int nrim, const ItmRimLink* links,
                          int nlink);
ItmStatus itm_rim_join_create_workspace(ItmRimJoin* join, ItmError* error);
void itm_rim_join_destroy_workspace(ItmRimJoin* join);

// A RIM that is only numbers, to stand for a mechanism that is stepped elsewhere: room for a copy of another, and what that is at
// present, with effective stiffness and damping and bounded rows where it has them; messages of their solver go to the data
// object of the original. After a joined step it is at its end, ready for the next.
void itm_rim_lay_out_copy(ItmRim* rim, ItmArena* arena, const ItmRim* of);
void itm_rim_copy(ItmRim* to, const ItmRim* from);

// The same without its bounded rows, for a smooth model (itm_rim_contacts_eliminate).
void itm_rim_copy_smooth(ItmRim* to, const ItmRim* from);

// Join the RIMs as they were extracted, all for the same step, with join->gap; then begin K micro steps of join->rim.
// ITM_ERR_NOT_FINITE: the mobilities have no eigenvalues.
ItmStatus itm_rim_join_begin(ItmRimJoin* join, int K, bool use_heun);
// After the last micro step: impulses and moments to the RIMs, each ready for its itm_rim_take_over.
void itm_rim_join_end(ItmRimJoin* join);

#endif
