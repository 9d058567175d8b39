// A mechanism that is not ours: a cart with a double pendulum, in its own equations and with its own integrator (classical
// Runge-Kutta). Forces at two ports: along the rail on the cart, and a torque at the first hinge.
//
//   M(q) q'' = f(q, q') + (F, tau, 0),   q = (x, theta1, theta2), angles from hanging
#ifndef ITM_TESTS_CART_H
#define ITM_TESTS_CART_H

#include <math.h>

#define CART_G 9.81

typedef struct Cart {
    double m0, m1, m2, l1, l2;  // kg, m
    double q[3], v[3];          // m, rad; per second
} Cart;

static inline Cart cart_default(void)
{
    return (Cart){100.0, 20.0, 10.0, 1.0, 0.7, {0.0, 0.4, -0.3}, {0.0, 0.0, 0.0}};
}

// M (3 x 3) and the generalised forces without F and tau
static inline void cart_assemble(const Cart* c, const double q[3], const double v[3], double M[9], double f[3])
{
    double s1 = sin(q[1]), s2 = sin(q[2]), c1 = cos(q[1]), c2 = cos(q[2]);
    double s12 = sin(q[1] - q[2]), c12 = cos(q[1] - q[2]), m12 = c->m1 + c->m2;
    M[0] = c->m0 + m12;
    M[1] = M[3] = m12 * c->l1 * c1;
    M[2] = M[6] = c->m2 * c->l2 * c2;
    M[4] = m12 * c->l1 * c->l1;
    M[5] = M[7] = c->m2 * c->l1 * c->l2 * c12;
    M[8] = c->m2 * c->l2 * c->l2;
    f[0] = m12 * c->l1 * s1 * v[1] * v[1] + c->m2 * c->l2 * s2 * v[2] * v[2];
    f[1] = -m12 * CART_G * c->l1 * s1 - c->m2 * c->l1 * c->l2 * s12 * v[2] * v[2];
    f[2] = -c->m2 * CART_G * c->l2 * s2 + c->m2 * c->l1 * c->l2 * s12 * v[1] * v[1];
}

// a = M^-1 b by Cramer's rule
static inline void cart_solve(const double M[9], const double b[3], double a[3])
{
    double d =
        M[0] * (M[4] * M[8] - M[5] * M[7]) - M[1] * (M[3] * M[8] - M[5] * M[6]) + M[2] * (M[3] * M[7] - M[4] * M[6]);
    a[0] =
        (b[0] * (M[4] * M[8] - M[5] * M[7]) - M[1] * (b[1] * M[8] - M[5] * b[2]) + M[2] * (b[1] * M[7] - M[4] * b[2])) /
        d;
    a[1] =
        (M[0] * (b[1] * M[8] - M[5] * b[2]) - b[0] * (M[3] * M[8] - M[5] * M[6]) + M[2] * (M[3] * b[2] - b[1] * M[6])) /
        d;
    a[2] =
        (M[0] * (M[4] * b[2] - b[1] * M[7]) - M[1] * (M[3] * b[2] - b[1] * M[6]) + b[0] * (M[3] * M[7] - M[4] * M[6])) /
        d;
}

static inline void cart_accelerate(const Cart* c, const double q[3], const double v[3], const double force[2],
                                   double a[3])
{
    double M[9], f[3];
    cart_assemble(c, q, v, M, f);
    f[0] += force[0];
    f[1] += force[1];
    cart_solve(M, f, a);
}

static inline void cart_step(Cart* c, double h, const double force[2])
{
    static const double NODE[4] = {0.0, 0.5, 0.5, 1.0}, WEIGHT[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double q[3], v[3], dq[3] = {0}, dv[3] = {0}, k_q[3] = {0}, k_v[3] = {0};
    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < 3; i++) {
            q[i] = c->q[i] + NODE[stage] * h * k_q[i];
            v[i] = c->v[i] + NODE[stage] * h * k_v[i];
        }
        for (int i = 0; i < 3; i++) {
            k_q[i] = v[i];
        }
        cart_accelerate(c, q, v, force, k_v);
        for (int i = 0; i < 3; i++) {
            dq[i] += h * WEIGHT[stage] * k_q[i];
            dv[i] += h * WEIGHT[stage] * k_v[i];
        }
    }
    for (int i = 0; i < 3; i++) {
        c->q[i] += dq[i];
        c->v[i] += dv[i];
    }
}

#endif
