// Least-squares solutions of least norm, for matrices of any shape and rank.
#ifndef ITM_MATH_LEAST_SQUARES_H
#define ITM_MATH_LEAST_SQUARES_H

#include "interim/base.h"

#define ITM_LEAST_SQUARES_SCRATCH(nrow, ncol) (((nrow) + (ncol) + 2) * ((nrow) < (ncol) ? (nrow) : (ncol)))

// x (ncol) of least norm among those with the least |A x - b|; A (nrow x ncol, row-major), b (nrow). Singular values below
// `tolerance` times the largest count as zero. scratch (ITM_LEAST_SQUARES_SCRATCH(nrow, ncol)). Returns the rank, or -1 where the
// iteration does not converge (A is not finite).
int itm_least_squares_solve(double* x, const double* A, const double* b, int nrow, int ncol, double tolerance,
                            double* scratch);

#endif
