#include "multibody/kinematics.h"

#include "multibody/flexible.h"

#include <string.h>

// ---------------------------------------------------------------------------- positions

static inline ItmMat3 rotation_about_axis(int axis, double angle)
{
    double c = cos(angle), s = sin(angle);
    switch (axis) {
    case 0:
        return (ItmMat3){{1, 0, 0}, {0, c, s}, {0, -s, c}};
    case 1:
        return (ItmMat3){{c, 0, -s}, {0, 1, 0}, {s, 0, c}};
    default:
        return (ItmMat3){{c, s, 0}, {-s, c, 0}, {0, 0, 1}};
    }
}

static inline ItmQuat read_quat(const double* q)
{
    return (ItmQuat){q[0], q[1], q[2], q[3]};
}

static inline void write_quat(double* q, ItmQuat p)
{
    q[0] = p.w;
    q[1] = p.x;
    q[2] = p.y;
    q[3] = p.z;
}

// Place a body whose orientation R and axis e are known.
static inline void place_about(const ItmBody* body, ItmData* d, int i, const ItmMat3* R, ItmVec3 e)
{
    ItmVec3 p = itm_vec_add(d->x[body->parent], itm_mat_mul_vec(&d->R[body->parent], body->a.p));
    ItmVec3 r = itm_vec_neg(itm_mat_mul_vec(R, body->b.p));
    d->R[i] = *R;
    d->r[i] = r;
    d->x[i] = itm_vec_add(p, r);
    d->S[body->v_adr] = (ItmSpatial){e, itm_vec_cross(e, r)};
}

// (c a + s b, c b - s a)
static inline void turn_pair(ItmVec3* a_out, ItmVec3* b_out, ItmVec3 a, ItmVec3 b, double c, double s)
{
    *a_out = itm_vec_axpy(s, b, itm_vec_scale(c, a));
    *b_out = itm_vec_axpy(-s, a, itm_vec_scale(c, b));
}

// About an axis of the parent: two of its columns turn
static inline void place_aligned(const ItmBody* body, ItmData* d, int i, const double* q)
{
    const ItmMat3* R_p = &d->R[body->parent];
    double c = cos(q[0]), s = body->turn_sign * sin(q[0]);
    ItmMat3 R = *R_p;
    switch (body->turn_axis) {
    case 0:
        turn_pair(&R.y, &R.z, R_p->y, R_p->z, c, s);
        place_about(body, d, i, &R, itm_vec_scale(body->turn_sign, R_p->x));
        break;
    case 1:
        turn_pair(&R.z, &R.x, R_p->z, R_p->x, c, s);
        place_about(body, d, i, &R, itm_vec_scale(body->turn_sign, R_p->y));
        break;
    default:
        turn_pair(&R.x, &R.y, R_p->x, R_p->y, c, s);
        place_about(body, d, i, &R, itm_vec_scale(body->turn_sign, R_p->z));
        break;
    }
}

// R = turn0 + c turn1 + s turn2 in the parent: Rodrigues' formula with the constant parts multiplied out
static inline void place_revolute(const ItmBody* body, ItmData* d, int i, const double* q)
{
    if (body->turn_axis != ITM_NONE) {
        place_aligned(body, d, i, q);
        return;
    }
    const ItmMat3* R_p = &d->R[body->parent];
    double c = cos(q[0]), s = sin(q[0]);
    const ItmMat3* T = body->turn;
    ItmMat3 rel = {
        itm_vec_axpy(s, T[2].x, itm_vec_axpy(c, T[1].x, T[0].x)),
        itm_vec_axpy(s, T[2].y, itm_vec_axpy(c, T[1].y, T[0].y)),
        itm_vec_axpy(s, T[2].z, itm_vec_axpy(c, T[1].z, T[0].z)),
    };
    ItmMat3 R = itm_mat_mul(R_p, &rel);
    place_about(body, d, i, &R, itm_mat_mul_vec(R_p, body->axis));
}

static inline void place_fixed(const ItmBody* body, ItmData* d, int i)
{
    const ItmMat3* R_p = &d->R[body->parent];
    ItmVec3 p = itm_vec_add(d->x[body->parent], itm_mat_mul_vec(R_p, body->a.p));
    d->R[i] = itm_mat_mul(R_p, &body->turn[0]);
    d->r[i] = itm_vec_neg(itm_mat_mul_vec(&d->R[i], body->b.p));
    d->x[i] = itm_vec_add(p, d->r[i]);
}

static inline void place_free(const ItmBody* body, ItmData* d, int i, const double* q)
{
    // itm_data_init has set what is constant: r and all but this of S
    d->x[i] = itm_vec(q[0], q[1], q[2]);
    d->R[i] = itm_quat_to_mat(read_quat(q + 3));
    if (!body->is_root_leaf) {
        ItmSpatial* S = d->S + body->v_adr;
        S[3].ang = d->R[i].x;
        S[4].ang = d->R[i].y;
        S[5].ang = d->R[i].z;
    }
}

// Rotation of frame b in frame a from the rotational coordinates.
static ItmMat3 rotation_of(const ItmBody* body, const double* q)
{
    switch (body->nrot) {
    case 0:
        return itm_mat_identity();
    case 1:
        return rotation_about_axis(body->rot_axis[0], q[0]);
    case 2: {
        ItmMat3 first = rotation_about_axis(body->rot_axis[0], q[0]);
        ItmMat3 second = rotation_about_axis(body->rot_axis[1], q[1]);
        return itm_mat_mul(&first, &second);
    }
    default:
        return itm_quat_to_mat(read_quat(q));
    }
}

// p_b = p_a + R_a d, R_b = R_a R(q)
static void place_general(const ItmBody* body, ItmData* d, int i, const double* q)
{
    const double* q_rot = q + body->ntrans;
    ItmMat3 R_a = itm_mat_mul(&d->R[body->parent], &body->a.R);
    ItmMat3 turn = rotation_of(body, q_rot);
    ItmMat3 R_b = itm_mat_mul(&R_a, &turn);
    ItmMat3 inner = itm_mat_transpose(&body->b.R);
    d->R[i] = itm_mat_mul(&R_b, &inner);

    ItmVec3 p = itm_vec_add(d->x[body->parent], itm_mat_mul_vec(&d->R[body->parent], body->a.p));
    ItmSpatial* S = d->S + body->v_adr;
    for (int k = 0; k < body->ntrans; k++) {
        ItmVec3 e = itm_mat_column(&R_a, body->trans_axis[k]);
        p = itm_vec_axpy(q[k], e, p);
        S[k] = (ItmSpatial){{0, 0, 0}, e};
    }
    if (body->lead != 0.0) {
        p = itm_vec_axpy(body->lead * q_rot[0], itm_mat_column(&R_a, body->rot_axis[0]), p);
    }
    ItmVec3 r = itm_vec_neg(itm_mat_mul_vec(&d->R[i], body->b.p));
    d->r[i] = r;
    d->x[i] = itm_vec_add(p, r);

    S += body->ntrans;
    for (int k = 0; k < body->nrot; k++) {
        ItmVec3 e = body->nrot == 3 ? itm_mat_column(&R_b, k)
                    : k == 0        ? itm_mat_column(&R_a, body->rot_axis[0])
                                    : itm_mat_column(&R_b, body->rot_axis[1]);
        S[k] = (ItmSpatial){e, itm_vec_axpy(body->lead, e, itm_vec_cross(e, r))};
    }
}

void itm_kinematics_compute_positions(const ItmModel* m, ItmData* d, const double* q)
{
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        switch (body->mobility) {
        case ITM_MOBILIZER_REVOLUTE:
            place_revolute(body, d, i, q + body->q_adr);
            break;
        case ITM_MOBILIZER_FREE:
            place_free(body, d, i, q + body->q_adr);
            break;
        case ITM_MOBILIZER_FIXED:
            place_fixed(body, d, i);
            break;
        case ITM_MOBILIZER_GENERAL:
            place_general(body, d, i, q + body->q_adr);
            break;
        case ITM_MOBILIZER_MODES:
        case ITM_MOBILIZER_NODE:
            itm_flexible_place(m, d, i, q);
            break;
        }
        d->mass.J[i] = body->has_diagonal_inertia ? itm_sym_rotate_diagonal(&d->R[i], &body->inertia)
                                                  : itm_sym_rotate(&d->R[i], &body->inertia);
    }
}

// ---------------------------------------------------------------------------- velocities

static inline void move_body(const ItmBody* body, ItmData* d, int i, const double* v)
{
    const ItmSpatial* S = d->S + body->v_adr;
    ItmSpatial parent = d->twist[body->parent];
    ItmSpatial parent_bias = d->accel_bias[body->parent];
    ItmVec3 r = d->r[i];
    ItmVec3 s = itm_vec_sub(itm_vec_sub(d->x[i], r), d->x[body->parent]);  // parent -> frame b

    // u: velocity of frame b along the free translations; w_rel: relative angular velocity
    ItmVec3 u = {0, 0, 0}, w_rel = {0, 0, 0};
    for (int k = 0; k < body->ntrans; k++) {
        u = itm_vec_axpy(v[k], S[k].lin, u);
    }
    for (int k = body->ntrans; k < body->nv; k++) {
        w_rel = itm_vec_axpy(v[k], S[k].ang, w_rel);
    }
    u = itm_vec_axpy(body->lead, w_rel, u);
    ItmVec3 w = itm_vec_add(parent.ang, w_rel);
    ItmVec3 v_b = itm_vec_add(parent.lin, itm_vec_add(itm_vec_cross(parent.ang, s), u));
    d->twist[i] = (ItmSpatial){w, itm_vec_add(v_b, itm_vec_cross(w, r))};

    // with v' = 0: alpha = alpha_p + w_p x w_rel (+ rate1 rate2 e1 x e2),  a_b = a_p(s) + 2 w_p x u
    ItmSpatial bias;
    bias.ang = itm_vec_add(parent_bias.ang, itm_vec_cross(parent.ang, w_rel));
    if (body->nrot == 2) {
        int first = body->ntrans;
        ItmVec3 turn = itm_vec_cross(S[first].ang, S[first + 1].ang);
        bias.ang = itm_vec_axpy(v[first] * v[first + 1], turn, bias.ang);
    }
    ItmVec3 a_b = itm_vec_axpy(2.0, itm_vec_cross(parent.ang, u), itm_point_acceleration(parent_bias, parent.ang, s));
    bias.lin = a_b;
    bias.lin = itm_point_acceleration(bias, w, r);
    d->accel_bias[i] = bias;
}

// The same for a body that cannot translate against its parent and has at most one rotation, w_rel: u = 0
static inline void move_hinged(const ItmBody* body, ItmData* d, int i, ItmVec3 w_rel)
{
    ItmSpatial parent = d->twist[body->parent];
    ItmSpatial parent_bias = d->accel_bias[body->parent];
    ItmVec3 r = d->r[i];
    ItmVec3 s = itm_vec_sub(itm_vec_sub(d->x[i], r), d->x[body->parent]);
    ItmVec3 w = itm_vec_add(parent.ang, w_rel);
    ItmVec3 v_b = itm_vec_add(parent.lin, itm_vec_cross(parent.ang, s));
    d->twist[i] = (ItmSpatial){w, itm_vec_add(v_b, itm_vec_cross(w, r))};

    ItmSpatial bias;
    bias.ang = itm_vec_add(parent_bias.ang, itm_vec_cross(parent.ang, w_rel));
    bias.lin = itm_point_acceleration(parent_bias, parent.ang, s);
    bias.lin = itm_point_acceleration(bias, w, r);
    d->accel_bias[i] = bias;
}

// Twist of a body that is free on the world, from its six velocities
static inline ItmSpatial twist_of_free(const ItmMat3* R, const double* v)
{
    return (ItmSpatial){itm_mat_mul_vec(R, itm_vec(v[3], v[4], v[5])), itm_vec(v[0], v[1], v[2])};
}

void itm_kinematics_compute_velocities(const ItmModel* m, ItmData* d, const double* v)
{
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        const double* v_i = v + body->v_adr;
        if (body->mobility == ITM_MOBILIZER_REVOLUTE) {
            move_hinged(body, d, i, itm_vec_scale(v_i[0], d->S[body->v_adr].ang));
        } else if (body->mobility == ITM_MOBILIZER_FREE) {
            d->twist[i] = twist_of_free(&d->R[i], v_i);
            if (m->narticulated > 0) {  // else it is 0 always
                d->accel_bias[i] = itm_spatial_zero();
            }
        } else if (itm_body_is_elastic(body)) {
            itm_flexible_move(m, d, i, v);
        } else {
            move_body(body, d, i, v_i);
        }
    }
}

void itm_kinematics_compute_twists(const ItmModel* m, const ItmData* d, ItmSpatial* twist, const double* v)
{
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        if (body->mobility == ITM_MOBILIZER_FREE) {
            twist[i] = twist_of_free(&d->R[i], v + body->v_adr);
            continue;
        }
        ItmSpatial t = itm_twist_shift(twist[body->parent], itm_vec_sub(d->x[i], d->x[body->parent]));
        for (int k = body->v_adr; k < body->v_adr + body->nv; k++) {
            t = itm_spatial_axpy(v[k], d->S[k], t);
        }
        if (body->mobility == ITM_MOBILIZER_NODE) {
            t = itm_flexible_add_motion(m, d, i, t, v);
        }
        twist[i] = t;
    }
}

// ---------------------------------------------------------------------------- coordinates

void itm_kinematics_integrate(const ItmModel* m, double* q_next, const double* q, const double* v, double s)
{
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        const double *q_i = q + body->q_adr, *v_i = v + body->v_adr;
        double* out = q_next + body->q_adr;
        int nplain = body->nrot == 3 ? body->ntrans : body->nq;
        for (int k = 0; k < nplain; k++) {
            out[k] = q_i[k] + s * v_i[k];
        }
        if (body->nrot == 3) {
            const double* w = v_i + nplain;
            ItmQuat turn = itm_quat_exp(itm_vec(s * w[0], s * w[1], s * w[2]));
            write_quat(out + nplain, itm_quat_normalize(itm_quat_mul(read_quat(q_i + nplain), turn)));
        }
    }
}

void itm_kinematics_compute_rates(const ItmModel* m, double* q_dot, const double* q, const double* v)
{
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        double* out = q_dot + body->q_adr;
        const double* v_i = v + body->v_adr;
        int nplain = body->nrot == 3 ? body->ntrans : body->nq;
        memcpy(out, v_i, sizeof(double) * (size_t)nplain);
        if (body->nrot == 3) {
            const double *p = q + body->q_adr + nplain, *w = v_i + nplain;
            ItmQuat rate = itm_quat_mul((ItmQuat){p[0], p[1], p[2], p[3]}, (ItmQuat){0, w[0], w[1], w[2]});
            out[nplain] = 0.5 * rate.w;
            out[nplain + 1] = 0.5 * rate.x;
            out[nplain + 2] = 0.5 * rate.y;
            out[nplain + 3] = 0.5 * rate.z;
        }
    }
}

// Angle about axis k that maps frame a's axis i to b: i -> cos i + sin j, (k, i, j) cyclic.
static double angle_about(int k, const ItmMat3* R)
{
    int i = (k + 1) % 3, j = (k + 2) % 3;
    ItmVec3 image = itm_mat_column(R, i);
    return atan2(itm_vec_get(image, j), itm_vec_get(image, i));
}

void itm_kinematics_fit(const ItmBody* body, double* q, ItmPose b_in_a)
{
    double p[3] = {b_in_a.p.x, b_in_a.p.y, b_in_a.p.z};
    for (int k = 0; k < body->ntrans; k++) {
        q[k] = p[body->trans_axis[k]];
    }
    double* q_rot = q + body->ntrans;
    ItmMat3 R = itm_quat_to_mat(b_in_a.q);
    if (body->nrot == 3) {
        write_quat(q_rot, itm_quat_normalize(b_in_a.q));
    } else if (body->nrot == 1) {
        q_rot[0] = angle_about(body->rot_axis[0], &R);
        if (body->lead != 0.0) {
            // the translation gives the number of turns
            double turns = (p[body->rot_axis[0]] / body->lead - q_rot[0]) / (2.0 * ITM_PI);
            q_rot[0] += 2.0 * ITM_PI * floor(turns + 0.5);
        }
    } else if (body->nrot == 2) {
        // R = Rot(i, alpha) Rot(j, beta): alpha from the image of e_j, beta from what is left
        int i = body->rot_axis[0], j = body->rot_axis[1];
        ItmMat3 identity = itm_mat_identity();
        ItmVec3 e_j = itm_mat_column(&identity, j);
        ItmVec3 e_k = itm_vec_cross(itm_mat_column(&identity, i), e_j);
        ItmVec3 image = itm_mat_column(&R, j);
        q_rot[0] = atan2(itm_vec_dot(image, e_k), itm_vec_dot(image, e_j));
        ItmMat3 first = rotation_about_axis(i, q_rot[0]);
        ItmMat3 rest = itm_mat_t_mul(&first, &R);
        q_rot[1] = angle_about(j, &rest);
    }
}
