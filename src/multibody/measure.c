#include "multibody/measure.h"

#include "base/inline.h"

int itm_measure_get_free_rotations(unsigned free, int axes[3])
{
    int n = 0;
    for (int k = 0; k < 3; k++) {
        if (free & (1u << (ITM_RX + k))) {
            axes[n++] = k;
        }
    }
    return n;
}

// ---------------------------------------------------------------------------- joints

// Angle about a free rotation axis, in (-pi, pi]. With two free rotations i (fixed in a) and j (fixed in b):
// R = Rot(i, alpha) Rot(j, beta), e_k = e_i x e_j.
static double rotation_angle(const ItmMat3* R_a, const ItmMat3* R_b, unsigned free, int axis)
{
    int axes[3];
    int n = itm_measure_get_free_rotations(free, axes);
    if (n == 1) {
        int i = (axis + 1) % 3, j = (axis + 2) % 3;
        ItmVec3 image = itm_mat_column(R_b, i);
        return atan2(itm_vec_dot(image, itm_mat_column(R_a, j)), itm_vec_dot(image, itm_mat_column(R_a, i)));
    }
    int i = axes[0], j = axes[1];
    if (axis == i) {
        ItmVec3 e_j = itm_mat_column(R_a, j), image = itm_mat_column(R_b, j);
        ItmVec3 e_k = itm_vec_cross(itm_mat_column(R_a, i), e_j);
        return atan2(itm_vec_dot(image, e_k), itm_vec_dot(image, e_j));
    }
    ItmVec3 e_i = itm_mat_column(R_b, i), image = itm_mat_column(R_a, i);
    ItmVec3 e_k = itm_vec_cross(e_i, itm_mat_column(R_b, j));
    return atan2(itm_vec_dot(image, e_k), itm_vec_dot(image, e_i));
}

// The branch of an angle that is nearest to where it was.
static double unwrap(double angle, double near)
{
    return angle + 2.0 * ITM_PI * floor((near - angle) / (2.0 * ITM_PI) + 0.5);
}

ITM_INLINE ItmMeasured measure_rotation(const ItmData* d, const ItmJoint* joint, const ItmMeasure* measure,
                                        const ItmJointView* view)
{
    int axis = (int)measure->direction - ITM_RX, axes[3];
    int n = itm_measure_get_free_rotations(joint->free, axes);
    // a single rotation and the first of two turn about an axis of a, the others about axes of b
    bool is_fixed_in_b = n == 3 || (n == 2 && axis == axes[1]);
    ItmVec3 e = itm_mat_column(is_fixed_in_b ? &view->R_b : &view->R_a, axis);
    ItmMeasured out = itm_joint_measure_axis(view, e, is_fixed_in_b);
    if (measure->has_value) {
        out.value = unwrap(rotation_angle(&view->R_a, &view->R_b, joint->free, axis), d->angle[measure->angle]);
    }
    return out;
}

// ---------------------------------------------------------------------------- lines

ITM_INLINE ItmMeasured measure_line(const ItmData* d, const ItmMeasure* line)
{
    int a = line->body_a, b = line->body_b;
    ItmVec3 s_a = itm_mat_mul_vec(&d->R[a], line->point_a), s_b = itm_mat_mul_vec(&d->R[b], line->point_b);
    ItmVec3 delta = itm_vec_sub(itm_vec_add(d->x[b], s_b), itm_vec_add(d->x[a], s_a));
    double length = itm_vec_norm(delta);
    // ends that coincide have no direction: any will do, x is stated
    ItmVec3 n = length > 0.0 ? itm_vec_scale(1.0 / length, delta) : itm_vec(1, 0, 0);
    ItmVec3 u = itm_vec_sub(itm_twist_shift(d->twist[b], s_b).lin, itm_twist_shift(d->twist[a], s_a).lin);
    ItmVec3 a_rel = itm_vec_sub(itm_point_acceleration(d->accel_bias[b], d->twist[b].ang, s_b),
                                itm_point_acceleration(d->accel_bias[a], d->twist[a].ang, s_a));
    double rate = itm_vec_dot(n, u);
    double across2 = itm_vec_dot(u, u) - rate * rate;
    return (ItmMeasured){
        .value = length,
        .rate = rate,
        .bias = itm_vec_dot(n, a_rel) + (length > 0.0 ? across2 / length : 0.0),
        .cov_a = {itm_vec_cross(n, s_a), itm_vec_neg(n)},
        .cov_b = {itm_vec_cross(s_b, n), n},
    };
}

// ---------------------------------------------------------------------------- any measure

// Inline, so that the compiler sees which callers need the value only.
ITM_INLINE ItmMeasured compute(const ItmModel* m, const ItmData* d, const ItmMeasure* measure)
{
    if (measure->v_index != ITM_NONE) {
        return (ItmMeasured){
            .value = measure->has_value ? measure->scale * d->q[measure->q_index] : 0.0,
            .rate = measure->scale * d->v[measure->v_index],
        };
    }
    if (measure->joint == ITM_NONE) {
        return measure_line(d, measure);
    }
    const ItmJoint* joint = &m->joints[measure->joint];
    ItmJointView view;
    itm_joint_view_init(&view, d, joint->body_a, joint->body_b, &joint->a, &joint->b);
    if (measure->direction < ITM_RX) {
        return itm_joint_measure_translation(&view, (int)measure->direction);
    }
    return measure_rotation(d, joint, measure, &view);
}

ItmMeasured itm_measure_compute(const ItmModel* m, const ItmData* d, const ItmMeasure* measure)
{
    return compute(m, d, measure);
}

double itm_measure_compute_value(const ItmModel* m, const ItmData* d, const double* q, const ItmMeasure* measure)
{
    if (!measure->has_value) {
        return 0.0;
    }
    if (measure->q_index != ITM_NONE) {
        return measure->scale * q[measure->q_index];
    }
    return compute(m, d, measure).value;
}
