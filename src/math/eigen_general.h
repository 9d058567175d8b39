// Eigenvalues of dense matrices without symmetry.
#ifndef ITM_MATH_EIGEN_GENERAL_H
#define ITM_MATH_EIGEN_GENERAL_H

#include "interim/base.h"

// Eigenvalues re + i im (n each) of A (n x n, row-major; its transpose has the same). A is overwritten. Complex pairs follow
// each other, positive imaginary part first.
// ITM_ERR_NOT_FINITE, or ITM_ERR_DIVERGED where the iteration does not converge.
ItmStatus itm_eigen_general(double* A, double* re, double* im, int n);

#endif
