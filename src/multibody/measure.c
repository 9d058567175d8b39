#include "multibody/measure.h"

#include "multibody/kinematics.h"

int itm_joint_get_free_rotations(unsigned free, int axes[3])
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

void itm_joint_view_init(ItmJointView* view, const ItmData* d, int body_a, int body_b, const ItmFrame* a,
                         const ItmFrame* b)
{
    view->body_a = body_a;
    view->body_b = body_b;
    view->R_a = itm_mat_mul(&d->R[body_a], &a->R);
    view->R_b = itm_mat_mul(&d->R[body_b], &b->R);
    view->p_a = itm_vec_add(d->x[body_a], itm_mat_mul_vec(&d->R[body_a], a->p));
    view->s_b = itm_mat_mul_vec(&d->R[body_b], b->p);
    view->p_b = itm_vec_add(d->x[body_b], view->s_b);
    view->s_a = itm_vec_sub(view->p_b, d->x[body_a]);
    view->w_a = d->twist[body_a].ang;
    view->w_b = d->twist[body_b].ang;
    view->bias_a = d->accel_bias[body_a];
    view->bias_b = d->accel_bias[body_b];
    view->u = itm_vec_sub(itm_twist_shift(d->twist[body_b], view->s_b).lin,
                          itm_twist_shift(d->twist[body_a], view->s_a).lin);
    // a = a_b - a_a(s_a) - 2 w_a x u
    ItmVec3 a_rel = itm_vec_sub(itm_point_acceleration(view->bias_b, view->w_b, view->s_b),
                                itm_point_acceleration(view->bias_a, view->w_a, view->s_a));
    view->a = itm_vec_axpy(-2.0, itm_vec_cross(view->w_a, view->u), a_rel);
}

ItmMeasured itm_joint_measure_translation(const ItmJointView* view, int k)
{
    // x = e . (p_b - p_a), e fixed in a:  x' = e . u,  x'' = e . a
    ItmVec3 e = itm_mat_column(&view->R_a, k);
    return (ItmMeasured){
        .value = itm_vec_dot(e, itm_vec_sub(view->p_b, view->p_a)),
        .rate = itm_vec_dot(e, view->u),
        .bias = itm_vec_dot(e, view->a),
        .cov_a = {itm_vec_cross(e, view->s_a), itm_vec_neg(e)},
        .cov_b = {itm_vec_cross(view->s_b, e), e},
    };
}

ItmMeasured itm_joint_measure_axis(const ItmJointView* view, ItmVec3 e, bool is_fixed_in_b)
{
    // x' = e . (w_b - w_a),  x'' = e . (alpha_b - alpha_a) + e' . (w_b - w_a)
    ItmVec3 w_rel = itm_vec_sub(view->w_b, view->w_a);
    ItmVec3 e_dot = itm_vec_cross(is_fixed_in_b ? view->w_b : view->w_a, e);
    ItmVec3 alpha_rel = itm_vec_sub(view->bias_b.ang, view->bias_a.ang);
    return (ItmMeasured){
        .rate = itm_vec_dot(e, w_rel),
        .bias = itm_vec_dot(e, alpha_rel) + itm_vec_dot(e_dot, w_rel),
        .cov_a = {itm_vec_neg(e), {0, 0, 0}},
        .cov_b = {e, {0, 0, 0}},
    };
}

ItmMeasured itm_joint_measure_dot(const ItmJointView* view, ItmVec3 x, ItmVec3 y)
{
    // d/dt x . y = (y x x) . (w_b - w_a)
    ItmVec3 n = itm_vec_cross(y, x);
    ItmVec3 w_rel = itm_vec_sub(view->w_b, view->w_a);
    ItmVec3 n_dot = itm_vec_add(itm_vec_cross(itm_vec_cross(view->w_b, y), x),
                                itm_vec_cross(y, itm_vec_cross(view->w_a, x)));
    ItmVec3 alpha_rel = itm_vec_sub(view->bias_b.ang, view->bias_a.ang);
    return (ItmMeasured){
        .value = itm_vec_dot(x, y),
        .rate = itm_vec_dot(n, w_rel),
        .bias = itm_vec_dot(n, alpha_rel) + itm_vec_dot(n_dot, w_rel),
        .cov_a = {itm_vec_neg(n), {0, 0, 0}},
        .cov_b = {n, {0, 0, 0}},
    };
}

// Angle about a free rotation axis, in (-pi, pi]. With two free rotations i (fixed in a) and j (fixed in b):
// R = Rot(i, alpha) Rot(j, beta), e_k = e_i x e_j.
static double rotation_angle(const ItmMat3* R_a, const ItmMat3* R_b, unsigned free, int axis)
{
    int axes[3];
    int n = itm_joint_get_free_rotations(free, axes);
    if (n == 1) {
        int i = (axis + 1) % 3, j = (axis + 2) % 3;
        ItmVec3 image = itm_mat_column(R_b, i);
        return atan2(itm_vec_dot(image, itm_mat_column(R_a, j)),
                     itm_vec_dot(image, itm_mat_column(R_a, i)));
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

static ItmMeasured measure_rotation(const ItmData* d, const ItmJoint* joint, const ItmMeasure* measure,
                                    const ItmJointView* view)
{
    int axis = (int)measure->direction - ITM_RX, axes[3];
    int n = itm_joint_get_free_rotations(joint->free, axes);
    // a single rotation and the first of two turn about an axis of a, the others about axes of b
    bool is_fixed_in_b = n == 3 || (n == 2 && axis == axes[1]);
    ItmVec3 e = itm_mat_column(is_fixed_in_b ? &view->R_b : &view->R_a, axis);
    ItmMeasured out = itm_joint_measure_axis(view, e, is_fixed_in_b);
    if (measure->has_value) {
        out.value = unwrap(rotation_angle(&view->R_a, &view->R_b, joint->free, axis),
                           d->angle[measure->angle]);
    }
    return out;
}

// ---------------------------------------------------------------------------- lines

static ItmMeasured measure_line(const ItmData* d, const ItmMeasure* line)
{
    int a = line->body_a, b = line->body_b;
    ItmVec3 s_a = itm_mat_mul_vec(&d->R[a], line->point_a), s_b = itm_mat_mul_vec(&d->R[b], line->point_b);
    ItmVec3 delta = itm_vec_sub(itm_vec_add(d->x[b], s_b), itm_vec_add(d->x[a], s_a));
    double length = itm_vec_norm(delta);
    // ends that meet have no direction: any will do, x is stated
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

ItmMeasured itm_measure_compute(const ItmModel* m, const ItmData* d, const ItmMeasure* measure)
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

double itm_measure_compute_value(const ItmModel* m, const ItmData* d, const double* q,
                                 const ItmMeasure* measure)
{
    if (!measure->has_value) {
        return 0.0;
    }
    if (measure->q_index != ITM_NONE) {
        return measure->scale * q[measure->q_index];
    }
    return itm_measure_compute(m, d, measure).value;
}
