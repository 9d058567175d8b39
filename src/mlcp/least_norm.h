// Impulses of redundant rows are not unique: with x also x + z is a solution where H z = 0 and the laws allow it. This file finds the
// redundant rows and the solution of least norm,
//   min |x|^2  over  H (x - x0) = 0,  x in K
// x0 being the impulses of a solver. Moving them moves no body, so every row keeps its velocity w, and K follows from it:
//   open, or w > 0              x = 0
//   touching, sticking          |x_t| <= mu x_n, also where the solver gave nothing: all contacts with w = 0 can share the load
//   sliding                     friction goes with the normal impulse, in the direction it has
//   other rows with w = 0       their bounds; those at a bound with w stay there
#ifndef ITM_MLCP_LEAST_NORM_H
#define ITM_MLCP_LEAST_NORM_H

#include "interim/mlcp.h"
#include "math/dense.h"

// clang-format off
typedef struct ItmLeastNorm {
    int n, ncoupling;
    const ItmMlcpContact* couplings; // friction                                       (ncoupling)
    double* H;               // used up                                                (n x n)
    const double *w, *v;     // velocities as complementarity has them, and A v+       (n)
    const double *lo, *up;   // bounds of rows without coupling                        (n)
    double* impulse;         // x0, then the result                                    (n)
    double* N;               // work space                                             (n x n)
    double* scratch;         //                                                        (ITM_LEAST_NORM_SCRATCH n)
    signed char* part;       //                                                        (n)

    // Variables are impulses times `scale`, so that the norm of a sliding contact has its friction in it.
    double *scale, *diagonal, *inv_diag, *y, *x, *z, *u, *t;
    int nnull;
    const ItmDense* dense;
} ItmLeastNorm;
// clang-format on

#define ITM_LEAST_NORM_SCRATCH 8

// Fill s->impulse; is_redundant (n) flags the rows that depend on others. Returns how many of them there are.
int itm_least_norm_solve(ItmLeastNorm* s, signed char* is_redundant);

#endif
