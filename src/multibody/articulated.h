// Articulated inertias, the working type of the factorisation M = L L' (mass.c, flexible.c).
#ifndef ITM_MULTIBODY_ARTICULATED_H
#define ITM_MULTIBODY_ARTICULATED_H

#include "base/inline.h"
#include "multibody/data.h"

static inline ItmSpatial itm_articulated_mul(const ItmArticulated* A, ItmSpatial s)
{
    return (ItmSpatial){itm_vec_add(itm_sym_mul_vec(&A->J, s.ang), itm_mat_mul_vec(&A->H, s.lin)),
                        itm_vec_add(itm_mat_t_mul_vec(&A->H, s.ang), itm_sym_mul_vec(&A->M, s.lin))};
}

// A -= u w' for w along u
static inline void itm_sym_subtract_outer(ItmSym3* A, ItmVec3 u, ItmVec3 w)
{
    A->xx -= u.x * w.x;
    A->yy -= u.y * w.y;
    A->zz -= u.z * w.z;
    A->xy -= u.x * w.y;
    A->xz -= u.x * w.z;
    A->yz -= u.y * w.z;
}

// A -= g w' for w along g
static inline void itm_articulated_subtract_outer(ItmArticulated* A, ItmSpatial g, ItmSpatial w)
{
    itm_sym_subtract_outer(&A->J, g.ang, w.ang);
    itm_sym_subtract_outer(&A->M, g.lin, w.lin);
    A->H.x = itm_vec_axpy(-w.lin.x, g.ang, A->H.x);
    A->H.y = itm_vec_axpy(-w.lin.y, g.ang, A->H.y);
    A->H.z = itm_vec_axpy(-w.lin.z, g.ang, A->H.z);
}

// parent += A seen from a point -s away:  H' = H + s~ M,  J' = J + s~ H'' + (s~ H')'
static inline void itm_articulated_add_shifted(ItmArticulated* parent, const ItmArticulated* A, ItmVec3 s)
{
    const ItmSym3* M = &A->M;
    ItmMat3 H = {
        itm_vec_add(A->H.x, itm_vec_cross(s, itm_vec(M->xx, M->xy, M->xz))),
        itm_vec_add(A->H.y, itm_vec_cross(s, itm_vec(M->xy, M->yy, M->yz))),
        itm_vec_add(A->H.z, itm_vec_cross(s, itm_vec(M->xz, M->yz, M->zz))),
    };
    // columns of s~ H' are crosses of s with rows of H; same for the shifted H
    ItmVec3 ox = itm_vec_cross(s, itm_vec(A->H.x.x, A->H.y.x, A->H.z.x));
    ItmVec3 oy = itm_vec_cross(s, itm_vec(A->H.x.y, A->H.y.y, A->H.z.y));
    ItmVec3 oz = itm_vec_cross(s, itm_vec(A->H.x.z, A->H.y.z, A->H.z.z));
    ItmVec3 nx = itm_vec_cross(s, itm_vec(H.x.x, H.y.x, H.z.x));
    ItmVec3 ny = itm_vec_cross(s, itm_vec(H.x.y, H.y.y, H.z.y));
    ItmVec3 nz = itm_vec_cross(s, itm_vec(H.x.z, H.y.z, H.z.z));
    parent->J.xx += A->J.xx + nx.x + ox.x;
    parent->J.yy += A->J.yy + ny.y + oy.y;
    parent->J.zz += A->J.zz + nz.z + oz.z;
    parent->J.xy += A->J.xy + ny.x + ox.y;
    parent->J.xz += A->J.xz + nz.x + ox.z;
    parent->J.yz += A->J.yz + nz.y + oy.z;
    parent->H.x = itm_vec_add(parent->H.x, H.x);
    parent->H.y = itm_vec_add(parent->H.y, H.y);
    parent->H.z = itm_vec_add(parent->H.z, H.z);
    parent->M.xx += M->xx;
    parent->M.yy += M->yy;
    parent->M.zz += M->zz;
    parent->M.xy += M->xy;
    parent->M.xz += M->xz;
    parent->M.yz += M->yz;
}

// Factor D = S' IA S = L L' of a body with several velocities, G = IA S L^-T; L (n x n) is row-major, its diagonal inverted.
static inline void itm_articulated_factor(const ItmArticulated* A, ItmSpatial* G, double* L, const ItmSpatial* S, int n)
{
    for (int i = 0; i < n; i++) {
        G[i] = itm_articulated_mul(A, S[i]);
    }
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n; i++) {
            double sum = itm_spatial_dot(S[i], G[j]);
            for (int k = 0; k < j; k++) {
                sum -= L[i * n + k] * L[j * n + k];
            }
            L[i * n + j] = i == j ? 1.0 / sqrt(sum) : sum * L[j * n + j];
        }
    }
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++) {
            G[j] = itm_spatial_axpy(-L[j * n + k], G[k], G[j]);
        }
        G[j] = itm_spatial_scale(L[j * n + j], G[j]);
    }
}

// The parent, if any, `offset` away, gets IA - G G'.
static inline void itm_articulated_pass(ItmArticulated* parent, const ItmArticulated* A, const ItmSpatial* G, int n,
                                        ItmVec3 offset)
{
    if (parent != NULL) {
        ItmArticulated rest = *A;
        for (int k = 0; k < n; k++) {
            itm_articulated_subtract_outer(&rest, G[k], G[k]);
        }
        itm_articulated_add_shifted(parent, &rest, offset);
    }
}

// Both for one velocity, D = S . U with U = IA S: the parent gets IA - U U' / D, and does not wait for the root of D.
ITM_INLINE void itm_articulated_factor_single(const ItmArticulated* A, ItmSpatial* G, double* L, ItmSpatial S,
                                              ItmArticulated* parent, ItmVec3 offset)
{
    ItmSpatial U = itm_articulated_mul(A, S);
    double inv_D = 1.0 / itm_spatial_dot(S, U), inv_L = sqrt(inv_D);
    *L = inv_L;
    *G = itm_spatial_scale(inv_L, U);
    if (parent != NULL) {
        ItmArticulated rest = *A;
        itm_articulated_subtract_outer(&rest, U, itm_spatial_scale(inv_D, U));
        itm_articulated_add_shifted(parent, &rest, offset);
    }
}

// y <- L^-1 y, diagonal inverted
static inline void itm_articulated_solve_lower(const double* L, double* y, int n)
{
    for (int i = 0; i < n; i++) {
        double sum = y[i];
        for (int k = 0; k < i; k++) {
            sum -= L[i * n + k] * y[k];
        }
        y[i] = sum * L[i * n + i];
    }
}

// y <- L^-T y
static inline void itm_articulated_solve_upper(const double* L, double* y, int n)
{
    for (int i = n - 1; i >= 0; i--) {
        double sum = y[i];
        for (int k = i + 1; k < n; k++) {
            sum -= L[k * n + i] * y[k];
        }
        y[i] = sum * L[i * n + i];
    }
}

// Field by field: compilers clear a whole compound literal first, which is slow.
static inline void itm_articulated_init(ItmArticulated* A, const ItmBody* body, const ItmSym3* J)
{
    const ItmVec3 zero = {0, 0, 0};
    A->J = *J;
    A->H.x = A->H.y = A->H.z = zero;
    A->M.xx = A->M.yy = A->M.zz = body->mass;
    A->M.xy = A->M.xz = A->M.yz = 0.0;
}

#endif
