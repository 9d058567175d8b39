// Series of Legendre polynomials f(x) = sum a_k P_k(s), s = 2 x / length - 1 in [-1, 1], and Gauss quadrature.
#ifndef ITM_MATH_LEGENDRE_H
#define ITM_MATH_LEGENDRE_H

// Value of a series at s. a (n)
double itm_legendre_compute(const double* a, int n, double s);
// Series of the integral from s = -1 over x: F (n + 1), F(-1) = 0
void itm_legendre_integrate(double* F, const double* a, int n, double length);
// Gauss points and weights on [-1, 1], exact up to degree 2 n - 1. s, w (n)
void itm_legendre_gauss(double* s, double* w, int n);

#endif
