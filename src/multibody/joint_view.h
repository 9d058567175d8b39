// A joint seen in the world, and the scalars it has: translations, rates about axes, dot products of directions.
//
// Inline, because callers use parts of what a scalar has: closing gaps its value, factors its Jacobian, a right side its rate
// and bias. One formula each, and the compiler drops what is not asked for.
#ifndef ITM_MULTIBODY_JOINT_VIEW_H
#define ITM_MULTIBODY_JOINT_VIEW_H

#include "base/inline.h"
#include "multibody/kinematics.h"

typedef struct ItmJointView {
    ItmMat3 R_a, R_b;           // axes of the joint frames
    ItmVec3 p_a, p_b;           // their origins
    ItmVec3 s_a, s_b;           // from the centres of mass of the bodies to p_b
    ItmVec3 w_a, w_b;           // angular velocities
    ItmSpatial bias_a, bias_b;  // bias accelerations of the bodies
    ItmVec3 u;                  // velocity of p_b seen from body a
    ItmVec3 a;                  // its acceleration seen from body a while v' = 0
} ItmJointView;

// A scalar between two bodies with its rate, the part of its second derivative that does not come from v', and its Jacobian.
typedef struct ItmJointMeasured {
    double value, rate, bias;
    ItmSpatial cov_a, cov_b;
} ItmJointMeasured;

// The same of any measure.
typedef struct ItmMeasured {
    double value, rate, bias;
    ItmSpatial cov_a, cov_b;                   // zero where the measure is a tree coordinate
    ItmSpatial cov_other[ITM_MEASURE_OTHERS];  // of a rope over more than two bodies; other measures leave it as it is
} ItmMeasured;

// The frames of two bodies, with their axes, from the position stage.
ITM_INLINE void itm_joint_view_place_frames(ItmJointView* view, const ItmData* d, int body_a, int body_b,
                                            const ItmFrame* a, const ItmFrame* b, const ItmAxes* axes_a,
                                            const ItmAxes* axes_b)
{
    view->R_a = itm_axes_mul(&d->R[body_a], &a->R, axes_a);
    view->R_b = itm_axes_mul(&d->R[body_b], &b->R, axes_b);
    view->p_a = itm_vec_add(d->x[body_a], itm_mat_mul_vec(&d->R[body_a], a->p));
    view->s_b = itm_mat_mul_vec(&d->R[body_b], b->p);
    view->p_b = itm_vec_add(d->x[body_b], view->s_b);
    view->s_a = itm_vec_sub(view->p_b, d->x[body_a]);
}

// Those of a joint.
ITM_INLINE void itm_joint_view_place(ItmJointView* view, const ItmData* d, const ItmJoint* joint)
{
    itm_joint_view_place_frames(view, d, joint->body_a, joint->body_b, &joint->a, &joint->b, &joint->axes_a,
                                &joint->axes_b);
}

// How they move, from the velocity stage; after itm_joint_view_place.
ITM_INLINE void itm_joint_view_move(ItmJointView* view, const ItmData* d, int body_a, int body_b)
{
    view->w_a = d->twist[body_a].ang;
    view->w_b = d->twist[body_b].ang;
    view->bias_a = d->accel_bias[body_a];
    view->bias_b = d->accel_bias[body_b];
    view->u =
        itm_vec_sub(itm_twist_shift(d->twist[body_b], view->s_b).lin, itm_twist_shift(d->twist[body_a], view->s_a).lin);
    // a = a_b - a_a(s_a) - 2 w_a x u
    ItmVec3 a_rel = itm_vec_sub(itm_point_acceleration(view->bias_b, view->w_b, view->s_b),
                                itm_point_acceleration(view->bias_a, view->w_a, view->s_a));
    view->a = itm_vec_axpy(-2.0, itm_vec_cross(view->w_a, view->u), a_rel);
}

ITM_INLINE void itm_joint_view_init(ItmJointView* view, const ItmData* d, const ItmJoint* joint)
{
    itm_joint_view_place(view, d, joint);
    itm_joint_view_move(view, d, joint->body_a, joint->body_b);
}

ITM_INLINE void itm_joint_view_init_bushing(ItmJointView* view, const ItmData* d, const ItmBushing* bushing)
{
    const ItmAxes any = {.is_aligned = false};
    itm_joint_view_place_frames(view, d, bushing->body_a, bushing->body_b, &bushing->a, &bushing->b, &any, &any);
    itm_joint_view_move(view, d, bushing->body_a, bushing->body_b);
}

// Translation k of p_b along the axes of frame a.
ITM_INLINE ItmJointMeasured itm_joint_measure_translation(const ItmJointView* view, int k)
{
    // x = e . (p_b - p_a), e fixed in a:  x' = e . u,  x'' = e . a
    ItmVec3 e = itm_mat_column(&view->R_a, k);
    return (ItmJointMeasured){
        .value = itm_vec_dot(e, itm_vec_sub(view->p_b, view->p_a)),
        .rate = itm_vec_dot(e, view->u),
        .bias = itm_vec_dot(e, view->a),
        .cov_a = {itm_vec_cross(e, view->s_a), itm_vec_neg(e)},
        .cov_b = {itm_vec_cross(view->s_b, e), e},
    };
}

// Rate about an axis fixed in body a (or b); the value is left 0.
ITM_INLINE ItmJointMeasured itm_joint_measure_axis(const ItmJointView* view, ItmVec3 e, bool is_fixed_in_b)
{
    // x' = e . (w_b - w_a),  x'' = e . (alpha_b - alpha_a) + e' . (w_b - w_a)
    ItmVec3 w_rel = itm_vec_sub(view->w_b, view->w_a);
    ItmVec3 e_dot = itm_vec_cross(is_fixed_in_b ? view->w_b : view->w_a, e);
    ItmVec3 alpha_rel = itm_vec_sub(view->bias_b.ang, view->bias_a.ang);
    return (ItmJointMeasured){
        .rate = itm_vec_dot(e, w_rel),
        .bias = itm_vec_dot(e, alpha_rel) + itm_vec_dot(e_dot, w_rel),
        .cov_a = {itm_vec_neg(e), {0, 0, 0}},
        .cov_b = {e, {0, 0, 0}},
    };
}

// x . y of a direction x fixed in body a and y fixed in body b, 0 where they are perpendicular.
ITM_INLINE ItmJointMeasured itm_joint_measure_dot(const ItmJointView* view, ItmVec3 x, ItmVec3 y)
{
    // d/dt x . y = (y x x) . (w_b - w_a)
    ItmVec3 n = itm_vec_cross(y, x);
    ItmVec3 w_rel = itm_vec_sub(view->w_b, view->w_a);
    ItmVec3 n_dot =
        itm_vec_add(itm_vec_cross(itm_vec_cross(view->w_b, y), x), itm_vec_cross(y, itm_vec_cross(view->w_a, x)));
    ItmVec3 alpha_rel = itm_vec_sub(view->bias_b.ang, view->bias_a.ang);
    return (ItmJointMeasured){
        .value = itm_vec_dot(x, y),
        .rate = itm_vec_dot(n, w_rel),
        .bias = itm_vec_dot(n, alpha_rel) + itm_vec_dot(n_dot, w_rel),
        .cov_a = {itm_vec_neg(n), {0, 0, 0}},
        .cov_b = {n, {0, 0, 0}},
    };
}

#endif
