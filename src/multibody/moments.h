// Second moments of a mass distribution, sum m a b': what beams, finite element models and their motion share.
#ifndef ITM_MULTIBODY_MOMENTS_H
#define ITM_MULTIBODY_MOMENTS_H

#include "math/vec.h"

// A += m a b'
static inline void itm_moment_add(ItmMat3* A, double m, ItmVec3 a, ItmVec3 b)
{
    A->x = itm_vec_axpy(m * b.x, a, A->x);
    A->y = itm_vec_axpy(m * b.y, a, A->y);
    A->z = itm_vec_axpy(m * b.z, a, A->z);
}

// sum m a x b of A = sum m a b'
static inline ItmVec3 itm_moment_axial(const ItmMat3* A)
{
    return itm_vec(A->z.y - A->y.z, A->x.z - A->z.x, A->y.x - A->x.y);
}

#endif
