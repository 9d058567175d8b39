// The step size as an unknown: the exact minimum of the step problem over it                          [clearance, eqs. 25, 31]
//
// With x = 1 / h and rigid gap rows A, g the gaps, a_f the accelerations without them, N = A M^-1 A', forces lambda:
//   minimise  lambda' N lambda + p(x)   over x_lo <= x <= x_hi   subject to   0 <= lambda _|_ N lambda + b(x) >= 0,
//   b(x) = c0 + c1 x + c2 x^2,   c2 = g,  c1 = A v,  c0 = A a_f
// where p is what bilateral rows need, a polynomial of degree four. On a fixed active set B lambda_B = -N_BB^-1 b_B(x) is
// quadratic and the objective -lambda_B . b_B quartic, so the search follows the complementarity problem along x from piece to
// piece and takes the least value of every piece in closed form. lambda is not unique where rows are redundant; the objective is.
//
// Ties: of all x whose objective is within ITM_SEARCH_TIE of the least, the smallest is taken, the largest step.
#ifndef ITM_MLCP_SEARCH_H
#define ITM_MLCP_SEARCH_H

#include "base/arena.h"
#include "interim/mlcp.h"

// relative: gaps are differences of coordinates, and 1e-17 m of them weigh that much at steps of 0.1 ms
#define ITM_SEARCH_TIE 1e-9

// clang-format off
typedef struct ItmStepSearch {
    int n, capacity;         // rows
    double* N;               // row-major                              (n x n)   1/kg
    double* c[3];            // coefficients of b                      (n)       m/s^2, m/s, m
    double  p[5];            // polynomial of the bilateral rows       (5)
    double  x_lo, x_hi;      // 1/s

    double* lambda;          // solution where it was last asked for   (n)       N
    signed char* state;      // of its rows, ITM_ROW_...               (n)

    double  x, objective;    // result
    int     npiece;          // pieces it took
    bool    is_complete;     // all of [x_lo, x_hi] was covered

    // work space
    double* b, *w, *lo, *up; //                                        (n)
    double* L;               // Cholesky factor of N_BB                (n x n)
    double* l[3], *s[3];     // coefficients of lambda and of the slack (n)
    double* z;               //                                        (n)
    int*    basis;           // B                                      (n)
    int     nbasis;
    struct ItmMlcpWorkspace* workspace;
} ItmStepSearch;
// clang-format on

void itm_search_lay_out(ItmStepSearch* search, ItmArena* arena, int capacity);
// Find x. search->N, c, p, x_lo, x_hi given; state holds a guess. ITM_ERR_NOT_FINITE: the problem is.
ItmStatus itm_search_run(ItmStepSearch* search, ItmError* error);

#endif
