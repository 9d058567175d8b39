// A = L U of 3 x 3 blocks over the pattern of a graph, as graph.c has it for 6 x 6: rows are exchanged within a block only.
#include "math/graph.h"

#include <math.h>
#include <string.h>

#define B ITM_GRAPH_SMALL

// C -= P Q
static inline void subtract(double* restrict C, const double* restrict P, const double* restrict Q)
{
    for (int i = 0; i < 9; i += 3) {
        for (int j = 0; j < 3; j++) {
            C[i + j] -= P[i] * Q[j] + P[i + 1] * Q[3 + j] + P[i + 2] * Q[6 + j];
        }
    }
}

// A <- A^-1 by cofactors. false: the determinant is rounding beside the products that it consists of.
static bool invert(double* A)
{
    double c[9] = {A[4] * A[8] - A[5] * A[7], A[2] * A[7] - A[1] * A[8], A[1] * A[5] - A[2] * A[4],
                   A[5] * A[6] - A[3] * A[8], A[0] * A[8] - A[2] * A[6], A[2] * A[3] - A[0] * A[5],
                   A[3] * A[7] - A[4] * A[6], A[1] * A[6] - A[0] * A[7], A[0] * A[4] - A[1] * A[3]};
    double t[3] = {A[0] * c[0], A[1] * c[3], A[2] * c[6]}, det = t[0] + t[1] + t[2];
    if (!(fabs(det) > 1e-12 * (fabs(t[0]) + fabs(t[1]) + fabs(t[2]))) || !isfinite(det)) {
        return false;
    }
    for (int i = 0; i < 9; i++) {
        A[i] = c[i] / det;
    }
    return true;
}

// Take row and column p off the rest: A_qr -= L_qp A_pr, on both sides of the diagonal.
static void pass_on(ItmGraph* g, int p)
{
    const int end = g->row_adr[p + 1];
    for (int e = g->row_adr[p]; e < end; e++) {
        int q = g->column[e], at = g->row_adr[q];
        const double *A_pq = g->off + (size_t)B * (size_t)e, *L_qp = g->low + (size_t)B * (size_t)e;
        subtract(g->diagonal + (size_t)B * (size_t)q, L_qp, A_pq);
        for (int f = e + 1; f < end; f++) {
            while (g->column[at] != g->column[f]) {
                at++;
            }
            subtract(g->off + (size_t)B * (size_t)at, L_qp, g->off + (size_t)B * (size_t)f);
            subtract(g->low + (size_t)B * (size_t)at, g->low + (size_t)B * (size_t)f, A_pq);
        }
    }
}

bool itm_graph_factor_small(ItmGraph* g)
{
    for (int p = 0; p < g->n; p++) {
        double* D = g->diagonal + (size_t)B * (size_t)p;
        if (!invert(D)) {
            return false;
        }
        for (int e = g->row_adr[p]; e < g->row_adr[p + 1]; e++) {
            double *A_qp = g->low + (size_t)B * (size_t)e, L[B] = {0};
            subtract(L, A_qp, D);
            for (int i = 0; i < B; i++) {
                A_qp[i] = -L[i];
            }
        }
        pass_on(g, p);
    }
    return true;
}

// y -= A x
static inline void subtract_vector(double* y, const double* A, const double* x)
{
    for (int i = 0; i < 3; i++) {
        y[i] -= A[3 * i] * x[0] + A[3 * i + 1] * x[1] + A[3 * i + 2] * x[2];
    }
}

void itm_graph_solve_small(ItmGraph* g, double* x)
{
    double* y = g->permuted;
    for (int i = 0; i < g->n; i++) {
        memcpy(y + 3 * g->position[i], x + 3 * i, 3 * sizeof(double));
    }
    for (int p = 0; p < g->n; p++) {
        for (int e = g->row_adr[p]; e < g->row_adr[p + 1]; e++) {
            subtract_vector(y + 3 * g->column[e], g->low + (size_t)B * (size_t)e, y + 3 * p);
        }
    }
    for (int p = g->n - 1; p >= 0; p--) {
        double sum[3] = {0.0, 0.0, 0.0}, right[3];
        memcpy(right, y + 3 * p, sizeof right);
        for (int e = g->row_adr[p]; e < g->row_adr[p + 1]; e++) {
            subtract_vector(right, g->off + (size_t)B * (size_t)e, y + 3 * g->column[e]);
        }
        subtract_vector(sum, g->diagonal + (size_t)B * (size_t)p, right);
        for (int k = 0; k < 3; k++) {
            y[3 * p + k] = -sum[k];
        }
    }
    for (int i = 0; i < g->n; i++) {
        memcpy(x + 3 * i, y + 3 * g->position[i], 3 * sizeof(double));
    }
}
