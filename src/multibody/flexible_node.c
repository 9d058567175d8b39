// Nodes of flexible bodies: where the modes take them, how they move, what accelerates them while the rates of the modes stay.
#include "multibody/flexible.h"

#include "multibody/kinematics.h"

// exp(theta) turns by omega = T theta', T = I + a theta~ + b theta~^2; derivatives of a, b by |theta|^2
typedef struct Turn {
    double a, b, da, db;
} Turn;

static Turn turn_of(ItmVec3 theta)
{
    double t2 = itm_vec_dot(theta, theta);
    if (t2 < 1e-2) {
        // the next terms are below 1e-14
        return (Turn){0.5 - t2 * (1.0 / 24.0 - t2 * (1.0 / 720.0 - t2 / 40320.0)),
                      1.0 / 6.0 - t2 * (1.0 / 120.0 - t2 * (1.0 / 5040.0 - t2 / 362880.0)),
                      -1.0 / 24.0 + t2 * (1.0 / 360.0 - t2 * (1.0 / 13440.0 - t2 / 907200.0)),
                      -1.0 / 120.0 + t2 * (1.0 / 2520.0 - t2 * (1.0 / 120960.0 - t2 / 9979200.0))};
    }
    double t = sqrt(t2), a = (1.0 - cos(t)) / t2, b = (t - sin(t)) / (t2 * t);
    return (Turn){a, b, (0.5 * sin(t) / t - a) / t2, 0.5 * (a - 3.0 * b) / t2};
}

// T w
static inline ItmVec3 apply_turn(const Turn* T, ItmVec3 theta, ItmVec3 w)
{
    ItmVec3 once = itm_vec_cross(theta, w);
    return itm_vec_axpy(T->b, itm_vec_cross(theta, once), itm_vec_axpy(T->a, once, w));
}

// Displacement and rotation vector of a node in the body frame.
static ItmSpatial deflection(const ItmFlexNode* node, const double* eta, int n)
{
    ItmSpatial u = itm_spatial_zero();
    for (int k = 0; k < n; k++) {
        u = itm_spatial_axpy(eta[k], node->shape[k], u);
        if (node->gamma != NULL) {
            u.lin.x -= 0.5 * eta[k] * itm_flexible_row_product(node->gamma, eta, k, n);
        }
    }
    return u;
}

ItmFrame itm_flexible_node_frame(const ItmFlexNode* node, const double* eta, int n)
{
    ItmSpatial u = deflection(node, eta, n);
    return (ItmFrame){itm_vec_add(node->s, u.lin), itm_quat_to_mat(itm_quat_exp(u.ang))};
}

void itm_flexible_place_node(const ItmModel* m, ItmData* d, int i)
{
    const ItmFlexNode* node = &m->nodes[m->bodies[i].part];
    const ItmFlexible* f = &m->flexibles[node->flexible];
    const double* eta = d->flex.eta + f->mode_adr;
    const ItmMat3* R = &d->R[f->frame];
    ItmSpatial u = deflection(node, eta, f->n);
    ItmMat3 turned = itm_quat_to_mat(itm_quat_exp(u.ang));
    d->R[i] = itm_mat_mul(R, &turned);
    d->x[i] = itm_vec_add(d->x[f->frame], itm_mat_mul_vec(R, itm_vec_add(node->s, u.lin)));
    d->r[i] = itm_vec(0, 0, 0);
    d->flex.node_turn[m->bodies[i].part] = u.ang;
    Turn T = turn_of(u.ang);
    for (int k = 0; k < f->n; k++) {
        ItmVec3 phi = node->shape[k].lin;
        if (node->gamma != NULL) {
            phi.x -= itm_flexible_row_product(node->gamma, eta, k, f->n);
        }
        d->flex.node_S[node->S_adr + k] =
            (ItmSpatial){itm_mat_mul_vec(R, apply_turn(&T, u.ang, node->shape[k].ang)), itm_mat_mul_vec(R, phi)};
    }
}

// Acceleration of a node against the body frame while eta'' = 0, body axes:
//   T' theta' = a' theta x theta' + b' theta x (theta x theta') + b theta' x (theta x theta'),   -e_x eta'' Gamma eta'
static ItmSpatial node_bias(const ItmFlexNode* node, ItmVec3 theta, const double* rate, int n)
{
    ItmSpatial bias = itm_spatial_zero();
    ItmVec3 theta_dot = {0, 0, 0};
    for (int k = 0; k < n; k++) {
        theta_dot = itm_vec_axpy(rate[k], node->shape[k].ang, theta_dot);
        if (node->gamma != NULL) {
            bias.lin.x -= rate[k] * itm_flexible_row_product(node->gamma, rate, k, n);
        }
    }
    Turn T = turn_of(theta);
    double growth = 2.0 * itm_vec_dot(theta, theta_dot);
    ItmVec3 once = itm_vec_cross(theta, theta_dot);
    bias.ang = itm_vec_scale(growth * T.da, once);
    bias.ang = itm_vec_axpy(growth * T.db, itm_vec_cross(theta, once), bias.ang);
    bias.ang = itm_vec_axpy(T.b, itm_vec_cross(theta_dot, once), bias.ang);
    return bias;
}

void itm_flexible_move_node(const ItmModel* m, ItmData* d, int i, const double* v)
{
    const ItmFlexNode* node = &m->nodes[m->bodies[i].part];
    const ItmFlexible* f = &m->flexibles[node->flexible];
    ItmSpatial frame = d->twist[f->frame], frame_bias = d->accel_bias[f->frame];
    ItmVec3 offset = itm_vec_sub(d->x[i], d->x[f->frame]);
    ItmSpatial rel = itm_flexible_add_motion(m, d, i, itm_spatial_zero(), v);
    d->twist[i] = itm_spatial_add(itm_twist_shift(frame, offset), rel);

    // alpha = alpha_f + w_f x w_rel + own,  a = a_f(offset) + 2 w_f x u' + own
    ItmSpatial own = node_bias(node, d->flex.node_turn[m->bodies[i].part], v + m->bodies[f->modes].v_adr, f->n);
    ItmSpatial bias;
    bias.ang = itm_vec_add(frame_bias.ang, itm_vec_cross(frame.ang, rel.ang));
    bias.ang = itm_vec_add(bias.ang, itm_mat_mul_vec(&d->R[f->frame], own.ang));
    bias.lin =
        itm_vec_axpy(2.0, itm_vec_cross(frame.ang, rel.lin), itm_point_acceleration(frame_bias, frame.ang, offset));
    bias.lin = itm_vec_add(bias.lin, itm_mat_mul_vec(&d->R[f->frame], own.lin));
    d->accel_bias[i] = bias;
}
