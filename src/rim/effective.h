// Effective stiffness and damping of an interface model, as the papers have them                    [flexible-rim, eqs. 11, 12, 13, 14, 21, 22, 24]
//
// With M_eff = W^-1 and D = M^-1 A' M_eff, the motion of the whole mechanism that a unit of interface velocity stands for,
//   M_eff w' = lambda + f - K_eff d - C_eff (w - w_0),   K_eff = D' K D,   C_eff = D' C D
// f has the elastic and damping forces of the communication point; d is how far the interface has moved and w - w_0 how its velocity has
// changed since. The other velocities, u_a of the papers, keep their displacements and their values: rigid motion of the mechanism
// moves its interface too, and is charged as strain. That is why this model is there to compare with and not to use.
//
// Where active rows take part, D is made from what they leave, P M^-1 A' (A P M^-1 A')^-1: A D = 1 holds for it, as the equations
// of the interface ask, which it does not for the product P D that eqs. 21-23 have in its place. W+ stands for W^-1 where there is none.
#ifndef ITM_RIM_EFFECTIVE_H
#define ITM_RIM_EFFECTIVE_H

#include "rim/rim.h"

// clang-format off
typedef struct ItmRimEffective {
    // itm_effective_extract
    double* M;         // M_eff                                                          (n x n)     kg
    double* K;         // K_eff                                                          (n x n)     N/m
    double* C;         // C_eff                                                          (n x n)     N s/m
    double* X;         // motions of the mechanism for unit impulses                     (n x nv)

    // running
    double  h;         // step that the RIM's W is for, 0: still that of M_eff                       s
    double* f;         // forces of the communication point, M_eff a0                    (n)         N
    double* d;         // displacement since then                                        (n)         m, rad
    double* w_0;       // velocity then                                                  (n)         m/s
    double* scratch;   //                                                                (n (2 n + 3))
} ItmRimEffective;
// clang-format on

// Memory for it, beside a RIM that is laid out; nv 0: for a copy, which runs and is never extracted.
void itm_effective_lay_out(ItmRim* rim, ItmArena* arena, int nv);

// The matrices of a RIM that has just been extracted with frozen elastic forces. ITM_ERR_NOT_FINITE: W has no eigenvalues.
ItmStatus itm_effective_extract(const ItmModel* m, ItmData* d, ItmRim* rim);
// The copy of a RIM gets them, and is at the communication point; part of itm_rim_copy.
void itm_effective_copy(ItmRim* to, const ItmRim* from);

// Before a step h of a copy: W and a0 become those of the implicit step with stiffness and damping,
//   (M_eff + h C_eff + h^2 K_eff) (w+ - w) = h lambda + h (f - K_eff (d + h w) - C_eff (w - w_0))
// and after it: the displacement follows. ITM_ERR_NOT_FINITE as above.
ItmStatus itm_effective_begin_step(ItmRim* rim, double h);
void itm_effective_end_step(ItmRim* rim);

#endif
