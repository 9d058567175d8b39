// Redundant rows that hold together (the pads of a grip) have rates that no impulses can bring to zero at once: b is linearised, and its
// part outside the range of H is of second order in the step. However small it is, it leaves a rigid grip without a solution that sticks:
// along the null space of H the energy b'x falls until cones are at their edges, and which contacts slip, and how fast, is then up to
// rounding. So this part is taken off b where the caller states that it is an error:
//     b <- b - c,   c = (I - Q Q') b   over the rows that hold,   |c_i| <= problem->contradiction
// Q: an orthonormal basis of the range of H, from a Cholesky factor with pivoting that ends at the rank.
#include "mlcp/workspace.h"

#include <math.h>
#include <string.h>

static const double DEPENDENT = 1e-10;  // pivot against the largest: squares of angles of 1e-5
enum { PROJECTIONS = 2 };               // of b: the second takes what rounding left of Q's angles

static double* basis_row(const ItmMlcpWorkspace* ws, int k)
{
    return ws->F + (size_t)k * (size_t)ws->s.ld;
}

// Row k of L' for pivot p: the part of H_p over the rows that hold that the rows so far do not have.
static void add_pivot(ItmMlcpWorkspace* ws, const signed char* holds, double* left, int k, int p)
{
    const ItmMlcpScaled* s = &ws->s;
    double* column = basis_row(ws, k);
    for (int i = 0; i < s->ld; i++) {
        column[i] = i < s->n && holds[i] ? s->H[(size_t)p * (size_t)s->ld + (size_t)i] : 0.0;
    }
    for (int l = 0; l < k; l++) {
        ws->dense->axpy(column, -basis_row(ws, l)[p], basis_row(ws, l), s->n);
    }
    double scale = 1.0 / sqrt(left[p]);
    for (int i = 0; i < s->n; i++) {
        column[i] *= scale;
        left[i] -= column[i] * column[i];
    }
    left[p] = 0.0;
}

// L' in the rows of ws->F. Returns the rank.
static int factor(ItmMlcpWorkspace* ws, const signed char* holds)
{
    const ItmMlcpScaled* s = &ws->s;
    double *left = ws->v[0], most = 0.0;
    for (int i = 0; i < s->n; i++) {
        left[i] = holds[i] ? s->H[(size_t)i * (size_t)(s->ld + 1)] : 0.0;
        most = fmax(most, left[i]);
    }
    for (int k = 0; k < s->n; k++) {
        int p = 0;
        for (int i = 1; i < s->n; i++) {
            p = left[i] > left[p] ? i : p;
        }
        if (!(left[p] > DEPENDENT * most)) {
            return k;
        }
        add_pivot(ws, holds, left, k, p);
    }
    return s->n;
}

// Gram and Schmidt over the rows of L', in place.
static void orthonormalise(ItmMlcpWorkspace* ws, int rank)
{
    int n = ws->s.n;
    for (int k = 0; k < rank; k++) {
        double* q = basis_row(ws, k);
        for (int l = 0; l < k; l++) {
            ws->dense->axpy(q, -ws->dense->dot(q, basis_row(ws, l), n), basis_row(ws, l), n);
        }
        double size = sqrt(ws->dense->dot(q, q, n));
        for (int i = 0; i < n && size > 0.0; i++) {
            q[i] /= size;
        }
    }
}

// Whether c, scaled, is within the error that the caller states.
static bool is_error(const ItmMlcpWorkspace* ws, const double* c)
{
    for (int i = 0; i < ws->s.n; i++) {
        if (!(fabs(c[i] / ws->s.d[i]) <= ws->problem->contradiction)) {
            return false;
        }
    }
    return true;
}

bool itm_contradiction_remove(ItmMlcpWorkspace* ws, const signed char* holds, ItmMlcpInfo* info)
{
    const ItmMlcpScaled* s = &ws->s;
    double* c = ws->v[0];
    int count = 0;
    for (int i = 0; i < s->n; i++) {
        count += holds[i] != 0;
    }
    int rank = factor(ws, holds);
    info->work += 0.5 * s->n * rank * rank;
    if (rank == count) {
        return false;
    }
    orthonormalise(ws, rank);
    info->work += (double)s->n * rank * rank;
    for (int i = 0; i < s->n; i++) {
        c[i] = holds[i] ? s->b[i] : 0.0;
    }
    for (int k = 0; k < PROJECTIONS * rank; k++) {
        const double* q = basis_row(ws, k % rank);
        ws->dense->axpy(c, -ws->dense->dot(c, q, s->n), q, s->n);
    }
    if (!is_error(ws, c)) {
        return false;
    }
    for (int i = 0; i < s->n; i++) {
        s->b[i] -= c[i];
    }
    return true;
}
