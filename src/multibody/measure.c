#include "multibody/measure.h"

#include "base/inline.h"

// ---------------------------------------------------------------------------- joints

// Angle by which an axis e_i has turned towards e_j, in (-pi, pi]
static inline double turn_of(ItmVec3 image, ItmVec3 e_i, ItmVec3 e_j)
{
    return atan2(itm_vec_dot(image, e_j), itm_vec_dot(image, e_i));
}

// Angle about a free rotation axis, in (-pi, pi]. With two free rotations i (fixed in a) and j (fixed in b):
// R = Rot(i, alpha) Rot(j, beta), e_k = e_i x e_j.
static double rotation_angle(const ItmMat3* R_a, const ItmMat3* R_b, unsigned free, int axis)
{
    int axes[3];
    int n = itm_measure_get_free_rotations(free, axes);
    if (n == 1) {
        int i = (axis + 1) % 3, j = (axis + 2) % 3;
        return turn_of(itm_mat_column(R_b, i), itm_mat_column(R_a, i), itm_mat_column(R_a, j));
    }
    int i = axes[0], j = axes[1];
    if (axis == i) {
        ItmVec3 e_j = itm_mat_column(R_a, j), image = itm_mat_column(R_b, j);
        ItmVec3 e_k = itm_vec_cross(itm_mat_column(R_a, i), e_j);
        return turn_of(image, e_j, e_k);
    }
    ItmVec3 e_i = itm_mat_column(R_b, i), image = itm_mat_column(R_a, i);
    ItmVec3 e_k = itm_vec_cross(e_i, itm_mat_column(R_b, j));
    return turn_of(image, e_i, e_k);
}

// The branch of an angle that is nearest to where it was.
static double unwrap(double angle, double near)
{
    return angle + 2.0 * ITM_PI * floor((near - angle) / (2.0 * ITM_PI) + 0.5);
}

// The angle of a joint with one rotation, from the three axes that it needs.
static double compute_hinge_angle(const ItmData* d, const ItmJoint* joint, int axis)
{
    int i = (axis + 1) % 3, j = (axis + 2) % 3;
    const ItmMat3 *R_a = &d->R[joint->body_a], *R_b = &d->R[joint->body_b];
    return turn_of(itm_axes_turn(R_b, &joint->b.R, &joint->axes_b, i),
                   itm_axes_turn(R_a, &joint->a.R, &joint->axes_a, i),
                   itm_axes_turn(R_a, &joint->a.R, &joint->axes_a, j));
}

// Rate, bias and Jacobian of a rotation. A single rotation and the first of two turn about an axis of a, the others about axes of b.
ITM_INLINE ItmJointMeasured measure_turn(const ItmJoint* joint, int axis, const ItmJointView* view)
{
    int axes[3], n = itm_measure_get_free_rotations(joint->free, axes);
    bool is_fixed_in_b = n == 3 || (n == 2 && axis == axes[1]);
    ItmVec3 e = itm_mat_column(is_fixed_in_b ? &view->R_b : &view->R_a, axis);
    return itm_joint_measure_axis(view, e, is_fixed_in_b);
}

ITM_INLINE ItmJointMeasured measure_rotation(const ItmData* d, const ItmJoint* joint, const ItmMeasure* measure,
                                             const ItmJointView* view)
{
    int axis = (int)measure->direction - ITM_RX;
    ItmJointMeasured out = measure_turn(joint, axis, view);
    if (measure->has_value) {
        out.value = unwrap(rotation_angle(&view->R_a, &view->R_b, joint->free, axis), d->angle[measure->angle]);
    }
    return out;
}

// ---------------------------------------------------------------------------- lines

ITM_INLINE ItmJointMeasured measure_line(const ItmData* d, const ItmMeasure* line)
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
    return (ItmJointMeasured){
        .value = length,
        .rate = rate,
        .bias = itm_vec_dot(n, a_rel) + (length > 0.0 ? across2 / length : 0.0),
        .cov_a = {itm_vec_cross(n, s_a), itm_vec_neg(n)},
        .cov_b = {itm_vec_cross(s_b, n), n},
    };
}

// ---------------------------------------------------------------------------- ropes

// A point of a rope, how it moves, and its acceleration while v' = 0.
typedef struct {
    ItmVec3 s, p, u, a;
} Place;

ITM_INLINE Place look_at_place(const ItmData* d, const ItmRopePlace* place)
{
    int body = place->body;
    ItmVec3 s = itm_mat_mul_vec(&d->R[body], place->point);
    return (Place){s, itm_vec_add(d->x[body], s), itm_twist_shift(d->twist[body], s).lin,
                   itm_point_acceleration(d->accel_bias[body], d->twist[body].ang, s)};
}

static ItmSpatial* cov_of(ItmMeasured* x, int slot)
{
    return slot == 0 ? &x->cov_a : slot == 1 ? &x->cov_b : &x->cov_other[slot - 2];
}

// Force f at a point of a rope: what it adds to the Jacobian.
static void add_at(ItmMeasured* out, int slot, ItmVec3 s, ItmVec3 f)
{
    if (slot != ITM_NONE) {
        ItmSpatial* cov = cov_of(out, slot);
        *cov = itm_spatial_add(*cov, (ItmSpatial){itm_vec_cross(s, f), f});
    }
}

// A segment of the rope: as a line, l = |p_b - p_a|, l' = n . u, l'' = n . a + (u^2 - l'^2) / l.
static void add_segment(ItmMeasured* out, const Place* a, const Place* b, int slot_a, int slot_b)
{
    ItmVec3 delta = itm_vec_sub(b->p, a->p), u = itm_vec_sub(b->u, a->u);
    double length = itm_vec_norm(delta);
    ItmVec3 n = length > 0.0 ? itm_vec_scale(1.0 / length, delta) : itm_vec(1, 0, 0);
    double rate = itm_vec_dot(n, u), across2 = itm_vec_dot(u, u) - rate * rate;
    out->value += length;
    out->rate += rate;
    out->bias += itm_vec_dot(n, itm_vec_sub(b->a, a->a)) + (length > 0.0 ? across2 / length : 0.0);
    add_at(out, slot_a, a->s, itm_vec_neg(n));
    add_at(out, slot_b, b->s, n);
}

static ItmMeasured compute_any(const ItmModel* m, const ItmData* d, const ItmMeasure* measure);

// The rope that a drum of radius r takes in: r times its angle. By bodies even where the angle is a tree coordinate.
static void add_drum(ItmMeasured* out, const ItmModel* m, const ItmData* d, const ItmMeasure* rope)
{
    const ItmMeasure* angle = &m->measures[rope->drum];
    const ItmJoint* joint = &m->joints[angle->joint];
    ItmJointView view;
    itm_joint_view_init(&view, d, joint);
    ItmJointMeasured turn = measure_turn(joint, (int)angle->direction - ITM_RX, &view);
    double r = rope->drum_radius;
    out->value += r * compute_any(m, d, angle).value;
    out->rate += r * turn.rate;
    out->bias += r * turn.bias;
    const ItmSpatial* cov[2] = {&turn.cov_a, &turn.cov_b};
    for (int k = 0; k < 2; k++) {
        if (rope->drum_slot[k] != ITM_NONE) {
            ItmSpatial* sum = cov_of(out, rope->drum_slot[k]);
            *sum = itm_spatial_axpy(r, *cov[k], *sum);
        }
    }
}

static ItmMeasured measure_rope(const ItmModel* m, const ItmData* d, const ItmMeasure* rope)
{
    ItmMeasured out = {0};
    Place last = look_at_place(d, &rope->places[0]);
    for (int i = 1; i < rope->nplace; i++) {
        Place next = look_at_place(d, &rope->places[i]);
        add_segment(&out, &last, &next, rope->places[i - 1].slot, rope->places[i].slot);
        last = next;
    }
    if (rope->drum != ITM_NONE) {
        add_drum(&out, m, d, rope);
    }
    return out;
}

double itm_measure_compute_span(const ItmModel* m, const ItmData* d, const ItmMeasure* rope)
{
    double length = compute_any(m, d, rope).value;
    return rope->drum == ITM_NONE ? length
                                  : length - rope->drum_radius * compute_any(m, d, &m->measures[rope->drum]).value;
}

// ---------------------------------------------------------------------------- any measure

// As any measure has it. Field by field: compilers clear a whole compound literal first, which is slow.
ITM_INLINE ItmMeasured widen(const ItmJointMeasured* x)
{
    ItmMeasured out;
    out.value = x->value;
    out.rate = x->rate;
    out.bias = x->bias;
    out.cov_a = x->cov_a;
    out.cov_b = x->cov_b;
    return out;
}

// A measure between two bodies, or of a tree coordinate.
ITM_INLINE ItmJointMeasured measure_pair(const ItmModel* m, const ItmData* d, const ItmMeasure* measure)
{
    if (measure->v_index != ITM_NONE) {
        return (ItmJointMeasured){
            .value = measure->has_value ? measure->scale * d->q[measure->q_index] : 0.0,
            .rate = measure->scale * d->v[measure->v_index],
        };
    }
    if (measure->joint == ITM_NONE) {
        return measure_line(d, measure);
    }
    const ItmJoint* joint = &m->joints[measure->joint];
    ItmJointView view;
    itm_joint_view_init(&view, d, joint);
    if (measure->direction < ITM_RX) {
        return itm_joint_measure_translation(&view, (int)measure->direction);
    }
    return measure_rotation(d, joint, measure, &view);
}

// Inline, so that the compiler sees which callers need the value only.
ITM_INLINE ItmMeasured compute(const ItmModel* m, const ItmData* d, const ItmMeasure* measure)
{
    if (measure->places != NULL) {
        return measure_rope(m, d, measure);
    }
    ItmJointMeasured x = measure_pair(m, d, measure);
    return widen(&x);
}

static ItmMeasured compute_any(const ItmModel* m, const ItmData* d, const ItmMeasure* measure)
{
    return compute(m, d, measure);
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
    const ItmJoint* joint = measure->joint != ITM_NONE ? &m->joints[measure->joint] : NULL;
    int turn = joint != NULL ? (int)measure->direction - ITM_RX : 0;
    if (joint != NULL && turn >= 0 && (joint->free >> ITM_RX & 7u) == 1u << turn) {
        return unwrap(compute_hinge_angle(d, joint, turn), d->angle[measure->angle]);
    }
    return compute(m, d, measure).value;
}

// ---------------------------------------------------------------------------- bodies of a measure

int itm_measure_get_bodies(const ItmMeasure* measure, int* body)
{
    int n = 0;
    if (measure->body_a != ITM_NONE) {
        body[n++] = measure->body_a;
    }
    if (measure->body_b != ITM_NONE) {
        body[n++] = measure->body_b;
    }
    for (int i = 0; i < measure->nother; i++) {
        body[n++] = measure->other[i];
    }
    return n;
}

int itm_measure_get_covectors(const ItmMeasure* measure, const ItmMeasured* x, double sign, ItmSpatial* cov)
{
    int n = 0;
    if (measure->body_a != ITM_NONE) {
        cov[n++] = itm_spatial_scale(sign, x->cov_a);
    }
    if (measure->body_b != ITM_NONE) {
        cov[n++] = itm_spatial_scale(sign, x->cov_b);
    }
    for (int i = 0; i < measure->nother; i++) {
        cov[n++] = itm_spatial_scale(sign, x->cov_other[i]);
    }
    return n;
}

double itm_measure_compute_rate(const ItmMeasure* measure, const ItmMeasured* x, const ItmSpatial* twist,
                                const double* v)
{
    if (measure->v_index != ITM_NONE) {
        return measure->scale * v[measure->v_index];
    }
    double rate = itm_spatial_dot(x->cov_a, twist[measure->body_a]) + itm_spatial_dot(x->cov_b, twist[measure->body_b]);
    for (int i = 0; i < measure->nother; i++) {
        rate += itm_spatial_dot(x->cov_other[i], twist[measure->other[i]]);
    }
    return rate;
}

void itm_measure_add_force(const ItmMeasure* measure, const ItmMeasured* x, double force, ItmSpatial* wrench,
                           double* tau)
{
    if (measure->v_index != ITM_NONE) {
        tau[measure->v_index] += measure->scale * force;
        return;
    }
    wrench[measure->body_a] = itm_spatial_axpy(force, x->cov_a, wrench[measure->body_a]);
    wrench[measure->body_b] = itm_spatial_axpy(force, x->cov_b, wrench[measure->body_b]);
    for (int i = 0; i < measure->nother; i++) {
        wrench[measure->other[i]] = itm_spatial_axpy(force, x->cov_other[i], wrench[measure->other[i]]);
    }
}
