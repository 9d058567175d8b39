// Pseudo-inverse of a mobility, or of an effective mass.
#ifndef ITM_RIM_PSEUDO_INVERSE_H
#define ITM_RIM_PSEUDO_INVERSE_H

// out = A+ for a symmetric positive semi-definite A (both n x n, row-major), with rows scaled to a unit diagonal first: metres and radians,
// kilogrammes and tonnes count alike in the rank. scratch (n (n + 3)). Returns the rank, or -1: A is not finite.
int itm_pseudo_invert(double* out, const double* A, int n, double* scratch);

#endif
