// Pseudo-inverse of a symmetric positive semi-definite matrix: a mobility, or an effective mass.
#ifndef ITM_MATH_PSEUDO_INVERSE_H
#define ITM_MATH_PSEUDO_INVERSE_H

// out = A+ for a symmetric positive semi-definite A (both n x n, row-major), with rows scaled to a unit diagonal first: metres and radians,
// kilogrammes and tonnes count alike in the rank. A_free (n, may be NULL): what the diagonal would be if nothing held the rows; where
// it is far above the diagonal, that is rounding and must not be scaled up. scratch (n (n + 3)). Returns the rank, or -1: A is not finite.
int itm_pseudo_inverse_compute(double* out, const double* A, const double* A_free, int n, double* scratch);

#endif
