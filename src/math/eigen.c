#include "math/eigen.h"

#include <lapacke.h>

// A symmetric matrix is its own transpose: row-major in, and what LAPACK calls columns come out as our rows.

ItmStatus itm_eigen_symmetric(double* A, double* mu, int n)
{
    if (n == 0) {
        return ITM_OK;
    }
    lapack_int info = LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'V', 'L', n, A, n, mu);
    return info == 0 ? ITM_OK : info < 0 ? ITM_ERR_MEMORY : ITM_ERR_DIVERGED;
}

ItmStatus itm_eigen_generalized(double* A, double* B, double* mu, int n)
{
    if (n == 0) {
        return ITM_OK;
    }
    lapack_int info = LAPACKE_dsygvd(LAPACK_COL_MAJOR, 1, 'V', 'L', n, A, n, B, n, mu);
    return info == 0 ? ITM_OK : info < 0 ? ITM_ERR_MEMORY : info > n ? ITM_ERR_INPUT : ITM_ERR_DIVERGED;
}
