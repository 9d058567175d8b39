// Small vectors, rotations and spatial vectors, passed and returned by value.
//
// Matrices ItmMat3 are kept by columns, because the columns of a rotation matrix are the axes of the inner
// frame in the outer one, and that is how joints use them.
#ifndef ITM_MATH_VEC_H
#define ITM_MATH_VEC_H

#include "base/inline.h"
#include "interim/base.h"

#include <math.h>

#define ITM_PI 3.14159265358979323846

// ---------------------------------------------------------------------------- vectors

static inline ItmVec3 itm_vec(double x, double y, double z)
{
    return (ItmVec3){x, y, z};
}

static inline ItmVec3 itm_vec_add(ItmVec3 a, ItmVec3 b)
{
    return (ItmVec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline ItmVec3 itm_vec_sub(ItmVec3 a, ItmVec3 b)
{
    return (ItmVec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline ItmVec3 itm_vec_scale(double s, ItmVec3 a)
{
    return (ItmVec3){s * a.x, s * a.y, s * a.z};
}

static inline ItmVec3 itm_vec_neg(ItmVec3 a)
{
    return (ItmVec3){-a.x, -a.y, -a.z};
}

// a + s b
static inline ItmVec3 itm_vec_axpy(double s, ItmVec3 b, ItmVec3 a)
{
    return (ItmVec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline double itm_vec_dot(ItmVec3 a, ItmVec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline ItmVec3 itm_vec_cross(ItmVec3 a, ItmVec3 b)
{
    return (ItmVec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline double itm_vec_norm(ItmVec3 a)
{
    return sqrt(itm_vec_dot(a, a));
}

static inline double itm_vec_get(ItmVec3 a, int i)
{
    return i == 0 ? a.x : i == 1 ? a.y : a.z;
}

// Two unit vectors that complete a unit vector to a right-handed frame. They are made with the first axis that is not too close to n, and
// jump only where one of its components is ITM_VEC_SKEW, 40.5 degrees off an axis: were it the axis of the smallest component, the tangents of a
// floor would change places with the rounding of its normal.
#define ITM_VEC_SKEW 0.65

static inline void itm_vec_make_tangents(ItmVec3 t[2], ItmVec3 n)
{
    bool is_x = fabs(n.x) <= ITM_VEC_SKEW, is_y = fabs(n.y) <= ITM_VEC_SKEW;
    ItmVec3 helper = is_x ? itm_vec(1, 0, 0) : is_y ? itm_vec(0, 1, 0) : itm_vec(0, 0, 1);
    t[0] = itm_vec_cross(helper, n);
    t[0] = itm_vec_scale(1.0 / itm_vec_norm(t[0]), t[0]);
    t[1] = itm_vec_cross(n, t[0]);
}

static inline bool itm_vec_is_finite(ItmVec3 a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}

// ---------------------------------------------------------------------------- 3 x 3 matrices

// By columns: x, y, z are the images of the unit vectors.
typedef struct ItmMat3 {
    ItmVec3 x, y, z;
} ItmMat3;

static inline ItmMat3 itm_mat_identity(void)
{
    return (ItmMat3){{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
}

static inline ItmVec3 itm_mat_column(const ItmMat3* A, int i)
{
    return i == 0 ? A->x : i == 1 ? A->y : A->z;
}

// A v
static inline ItmVec3 itm_mat_mul_vec(const ItmMat3* A, ItmVec3 v)
{
    return (ItmVec3){A->x.x * v.x + A->y.x * v.y + A->z.x * v.z, A->x.y * v.x + A->y.y * v.y + A->z.y * v.z,
                     A->x.z * v.x + A->y.z * v.y + A->z.z * v.z};
}

// A' v
static inline ItmVec3 itm_mat_t_mul_vec(const ItmMat3* A, ItmVec3 v)
{
    return (ItmVec3){itm_vec_dot(A->x, v), itm_vec_dot(A->y, v), itm_vec_dot(A->z, v)};
}

// A B
static inline ItmMat3 itm_mat_mul(const ItmMat3* A, const ItmMat3* B)
{
    return (ItmMat3){itm_mat_mul_vec(A, B->x), itm_mat_mul_vec(A, B->y), itm_mat_mul_vec(A, B->z)};
}

// A' B
static inline ItmMat3 itm_mat_t_mul(const ItmMat3* A, const ItmMat3* B)
{
    return (ItmMat3){itm_mat_t_mul_vec(A, B->x), itm_mat_t_mul_vec(A, B->y), itm_mat_t_mul_vec(A, B->z)};
}

static inline ItmMat3 itm_mat_transpose(const ItmMat3* A)
{
    return (ItmMat3){{A->x.x, A->y.x, A->z.x}, {A->x.y, A->y.y, A->z.y}, {A->x.z, A->y.z, A->z.z}};
}

// ---------------------------------------------------------------------------- symmetric matrices

static inline ItmVec3 itm_sym_mul_vec(const ItmSym3* A, ItmVec3 v)
{
    return (ItmVec3){A->xx * v.x + A->xy * v.y + A->xz * v.z, A->xy * v.x + A->yy * v.y + A->yz * v.z,
                     A->xz * v.x + A->yz * v.y + A->zz * v.z};
}

// B R' where it is symmetric, B by columns
static inline ItmSym3 itm_sym_product(ItmVec3 bx, ItmVec3 by, ItmVec3 bz, const ItmMat3* R)
{
    return (ItmSym3){
        .xx = bx.x * R->x.x + by.x * R->y.x + bz.x * R->z.x,
        .yy = bx.y * R->x.y + by.y * R->y.y + bz.y * R->z.y,
        .zz = bx.z * R->x.z + by.z * R->y.z + bz.z * R->z.z,
        .xy = bx.x * R->x.y + by.x * R->y.y + bz.x * R->z.y,
        .xz = bx.x * R->x.z + by.x * R->y.z + bz.x * R->z.z,
        .yz = bx.y * R->x.z + by.y * R->y.z + bz.y * R->z.z,
    };
}

// R A R'
static inline ItmSym3 itm_sym_rotate(const ItmMat3* R, const ItmSym3* A)
{
    return itm_sym_product(itm_mat_mul_vec(R, itm_vec(A->xx, A->xy, A->xz)),
                           itm_mat_mul_vec(R, itm_vec(A->xy, A->yy, A->yz)),
                           itm_mat_mul_vec(R, itm_vec(A->xz, A->yz, A->zz)), R);
}

// The same for a diagonal A, to the same bits
static inline ItmSym3 itm_sym_rotate_diagonal(const ItmMat3* R, const ItmSym3* A)
{
    return itm_sym_product(itm_vec_scale(A->xx, R->x), itm_vec_scale(A->yy, R->y), itm_vec_scale(A->zz, R->z), R);
}

// ---------------------------------------------------------------------------- quaternions

static inline ItmQuat itm_quat_identity(void)
{
    return (ItmQuat){1, 0, 0, 0};
}

static inline ItmQuat itm_quat_conj(ItmQuat a)
{
    return (ItmQuat){a.w, -a.x, -a.y, -a.z};
}

static inline ItmQuat itm_quat_mul(ItmQuat a, ItmQuat b)
{
    return (ItmQuat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                     a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

static inline ItmQuat itm_quat_normalize(ItmQuat a)
{
    double s = 1.0 / sqrt(a.w * a.w + a.x * a.x + a.y * a.y + a.z * a.z);
    return (ItmQuat){s * a.w, s * a.x, s * a.y, s * a.z};
}

// Rotation by the rotation vector phi: exp(phi).
static inline ItmQuat itm_quat_exp(ItmVec3 phi)
{
    double angle2 = itm_vec_dot(phi, phi);
    // below 1e-8 rad^2 the next terms of sin and cos are under half an ulp
    if (angle2 < 1e-8) {
        double s = 0.5 - angle2 / 48.0;
        return (ItmQuat){1.0 - angle2 / 8.0, s * phi.x, s * phi.y, s * phi.z};
    }
    double angle = sqrt(angle2);
    double s = sin(0.5 * angle) / angle;
    return (ItmQuat){cos(0.5 * angle), s * phi.x, s * phi.y, s * phi.z};
}

// Rotation vector of a unit quaternion, |phi| <= pi: log, the inverse of exp.
static inline ItmVec3 itm_quat_log(ItmQuat a)
{
    double sign = a.w < 0 ? -1.0 : 1.0;
    ItmVec3 v = itm_vec(sign * a.x, sign * a.y, sign * a.z);
    double s = itm_vec_norm(v);
    double w = sign * a.w;
    if (s < 1e-9) {
        return itm_vec_scale(2.0, v);
    }
    return itm_vec_scale(2.0 * atan2(s, w) / s, v);
}

static inline ItmMat3 itm_quat_to_mat(ItmQuat a)
{
    double xx = a.x * a.x, yy = a.y * a.y, zz = a.z * a.z;
    double xy = a.x * a.y, xz = a.x * a.z, yz = a.y * a.z;
    double wx = a.w * a.x, wy = a.w * a.y, wz = a.w * a.z;
    return (ItmMat3){{1 - 2 * (yy + zz), 2 * (xy + wz), 2 * (xz - wy)},
                     {2 * (xy - wz), 1 - 2 * (xx + zz), 2 * (yz + wx)},
                     {2 * (xz + wy), 2 * (yz - wx), 1 - 2 * (xx + yy)}};
}

// Unit quaternion of a rotation matrix (Shepperd: divide by the largest component).
ItmQuat itm_vec_quat_from_mat(const ItmMat3* R);

static inline ItmVec3 itm_quat_rotate(ItmQuat a, ItmVec3 v)
{
    // v + 2 w (u x v) + 2 u x (u x v)
    ItmVec3 u = itm_vec(a.x, a.y, a.z);
    ItmVec3 t = itm_vec_scale(2.0, itm_vec_cross(u, v));
    return itm_vec_add(itm_vec_axpy(a.w, t, v), itm_vec_cross(u, t));
}

// ---------------------------------------------------------------------------- poses

static inline ItmPose itm_pose_identity(void)
{
    return (ItmPose){{0, 0, 0}, {1, 0, 0, 0}};
}

// Frame b given in frame a, a given in the outer one: b in the outer one.
static inline ItmPose itm_pose_mul(ItmPose a, ItmPose b)
{
    return (ItmPose){itm_vec_add(a.p, itm_quat_rotate(a.q, b.p)), itm_quat_mul(a.q, b.q)};
}

static inline ItmPose itm_pose_inverse(ItmPose a)
{
    ItmQuat q = itm_quat_conj(a.q);
    return (ItmPose){itm_vec_neg(itm_quat_rotate(q, a.p)), q};
}

// A pose with its rotation matrix at hand: x_outer = p + R x_inner.
typedef struct ItmFrame {
    ItmVec3 p;
    ItmMat3 R;
} ItmFrame;

// Which axes of the outer frame the axes of a frame are, if they are such axes or their opposites.
typedef struct ItmAxes {
    bool is_aligned;  // they are
    int axis[3];
    double sign[3];
} ItmAxes;

// The axis that the direction e, or its opposite (sign -1), is to a tolerance; ITM_NONE: none
static inline int itm_axes_find_one(ItmVec3 e, double tolerance, double* sign)
{
    int axis = ITM_NONE;
    for (int k = 0; k < 3; k++) {
        double along = itm_vec_get(e, k), a = itm_vec_get(e, (k + 1) % 3), b = itm_vec_get(e, (k + 2) % 3);
        if (fabs(fabs(along) - 1.0) <= tolerance && fabs(a) <= tolerance && fabs(b) <= tolerance) {
            axis = k;
            *sign = along > 0.0 ? 1.0 : -1.0;
        }
    }
    return axis;
}

// Exactly: products with them have the same bits then.
static inline ItmAxes itm_axes_find(const ItmMat3* R)
{
    ItmAxes out = {.is_aligned = true};
    for (int i = 0; i < 3; i++) {
        out.axis[i] = itm_axes_find_one(itm_mat_column(R, i), 0.0, &out.sign[i]);
        out.is_aligned = out.is_aligned && out.axis[i] != ITM_NONE;
    }
    return out;
}

// Column i of A B, with the axes of B
ITM_INLINE ItmVec3 itm_axes_turn(const ItmMat3* A, const ItmMat3* B, const ItmAxes* axes, int i)
{
    return axes->is_aligned ? itm_vec_scale(axes->sign[i], itm_mat_column(A, axes->axis[i]))
                            : itm_mat_mul_vec(A, itm_mat_column(B, i));
}

// A B, with the axes of B: no products where they are aligned
ITM_INLINE ItmMat3 itm_axes_mul(const ItmMat3* A, const ItmMat3* B, const ItmAxes* axes)
{
    if (!axes->is_aligned) {
        return itm_mat_mul(A, B);
    }
    const ItmVec3* column = &A->x;
    return (ItmMat3){itm_vec_scale(axes->sign[0], column[axes->axis[0]]),
                     itm_vec_scale(axes->sign[1], column[axes->axis[1]]),
                     itm_vec_scale(axes->sign[2], column[axes->axis[2]])};
}

static inline ItmVec3 itm_frame_apply(const ItmFrame* f, ItmVec3 v)
{
    return itm_vec_add(f->p, itm_mat_mul_vec(&f->R, v));
}

// ---------------------------------------------------------------------------- spatial vectors

// A twist (angular velocity, velocity of a point) or a wrench (torque about a point, force), world axes.
typedef struct ItmSpatial {
    ItmVec3 ang, lin;
} ItmSpatial;

static inline ItmSpatial itm_spatial_zero(void)
{
    return (ItmSpatial){{0, 0, 0}, {0, 0, 0}};
}

static inline ItmSpatial itm_spatial_add(ItmSpatial a, ItmSpatial b)
{
    return (ItmSpatial){itm_vec_add(a.ang, b.ang), itm_vec_add(a.lin, b.lin)};
}

// a + s b
static inline ItmSpatial itm_spatial_axpy(double s, ItmSpatial b, ItmSpatial a)
{
    return (ItmSpatial){itm_vec_axpy(s, b.ang, a.ang), itm_vec_axpy(s, b.lin, a.lin)};
}

static inline ItmSpatial itm_spatial_scale(double s, ItmSpatial a)
{
    return (ItmSpatial){itm_vec_scale(s, a.ang), itm_vec_scale(s, a.lin)};
}

static inline double itm_spatial_dot(ItmSpatial a, ItmSpatial b)
{
    return itm_vec_dot(a.ang, b.ang) + itm_vec_dot(a.lin, b.lin);
}

// The same twist seen at a point `offset` further on.
static inline ItmSpatial itm_twist_shift(ItmSpatial t, ItmVec3 offset)
{
    return (ItmSpatial){t.ang, itm_vec_add(t.lin, itm_vec_cross(t.ang, offset))};
}

// A wrench that acts at a point `offset` away, about the present point.
static inline ItmSpatial itm_wrench_shift(ItmSpatial w, ItmVec3 offset)
{
    return (ItmSpatial){itm_vec_add(w.ang, itm_vec_cross(offset, w.lin)), w.lin};
}

#endif
