// Reduced interface model (RIM): a mechanism as its actuators see it, in admittance form       [contact-rim, section 4]
//
//   w+ = w + h a0 + W h lambda,   W = A_i M^-1 A_i' - H_ic (H_cc + Omega)^-1 H_ci,   H = A M^-1 A'
//
// Interface rows are the line measures of chosen actuators, w = A_i v = s'; the bilateral rows c (joints that are not tree
// coordinates, couplings, motions) are eliminated. W is the inverse of the papers' effective mass [contact-rim, eq. 32] and
// is never inverted: it is singular where the mechanism cannot move along an interface, and there the RIM still holds.
// One RIM serves all partners of a mechanism.
//
// With y = L^-1 A_i', M = L L', the rows' answer mu = (H_cc + Omega)^-1 H_ci and what is left, y~ = y - Y_c' mu,
//   W = y~' y~ + mu' Omega mu,   X = M^-1 (A_i' - A_c' mu) = L^-T y~
// which is a Gram matrix: positive semi-definite to the last digit, where the difference above loses its sign.
#ifndef ITM_RIM_RIM_H
#define ITM_RIM_RIM_H

#include "multibody/data.h"
#include "multibody/measure.h"

// clang-format off
typedef struct ItmRim {
    int     n, nv, nrow;    // interfaces; velocities and bilateral rows of the mechanism
    int*    actuator;       // of each interface                                        (n)
    ItmRowBlock* blocks;    // bodies and path to the roots of each interface           (n)
    int*    path;           // and their parents: room for 4 depth a block              (4 n depth)
    ItmMeasured* measured;  // where the model was evaluated                            (n)

    // at the start of the step: itm_rim_measure
    double* s;              // lengths                                                  (n)         m
    double* w;              // rates                                                    (n)         m/s

    // itm_rim_extract
    double* W;              // mobility, row-major                                      (n x n)     1/kg
    double* a0;             // free acceleration of the lengths                         (n)         m/s^2
    double* v_dot;          // free accelerations of the mechanism, rows' answer included (nv)
    double* lambda;         // row forces of that                                       (nrow)      N
    double* X;              // velocities for a unit impulse at an interface            (n x nv)
    double* mu;             // row impulses that this takes off                         (n x nrow)
    double* Y;              // y~                                                       (n x nv)
} ItmRim;
// clang-format on

// Memory for n interfaces, in an arena that is measured and then laid out by the same call.
void itm_rim_lay_out(ItmRim* rim, ItmArena* arena, const ItmModel* m, int n);
// Choose the actuators (n); after the arena has its memory.
void itm_rim_init(ItmRim* rim, const ItmModel* m, const int* actuators);

// Lengths and rates of the interfaces in the present state. After the velocity stage.
void itm_rim_measure(const ItmModel* m, const ItmData* d, ItmRim* rim);

// The RIM for a step of length h from time t, from an evaluation (itm_euler_evaluate, itm_euler_factor) in the configuration
// q (+) shift v with the velocities v of time t; the interface forces are left out of it (d->input 0 there).
// d->wrench is overwritten.
void itm_rim_extract(const ItmModel* m, ItmData* d, ItmRim* rim, double t, double h, double shift);

// v += h v_dot + X p for interface impulses p (n)
void itm_rim_respond(const ItmRim* rim, double* v, double h, const double* p);

#endif
