// Eigenvalues of dense symmetric matrices.
#ifndef ITM_MATH_EIGEN_H
#define ITM_MATH_EIGEN_H

#include "interim/base.h"

// A z = mu z, eigenvalues increasing. A (n x n, row-major) is overwritten by the eigenvectors: row k is z_k, of length 1.
// ITM_ERR_MEMORY, ITM_ERR_NOT_FINITE, or ITM_ERR_DIVERGED where the iteration does not converge.
ItmStatus itm_eigen_symmetric(double* A, double* mu, int n);
// The same within a step: no memory is allocated. scratch (n)
ItmStatus itm_eigen_symmetric_in(double* A, double* mu, int n, double* scratch);

// A z = mu B z with B positive definite, eigenvalues increasing; row k of A becomes z_k with z_k' B z_k = 1. B is overwritten.
// ITM_ERR_INPUT where B is not positive definite.
ItmStatus itm_eigen_generalized(double* A, double* B, double* mu, int n);

#endif
