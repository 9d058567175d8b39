// Stiff oil at the ports of the cart (cart.h), and both together in one state as a reference that shares no code with the library.
#ifndef ITM_TESTS_OIL_H
#define ITM_TESTS_OIL_H

#include "cart.h"
#include "check.h"

#include "interim/cosim.h"

static const char* const PORTS[] = {"rail", "hinge"};

// ---------------------------------------------------------------------------- the partner

// Oil behind each port: force A p, p' = E (Q(t) - A w) - p / tau, stiffness A^2 E. 500 rad/s with the cart.
#define OIL_STIFFNESS 2.5e7  // A^2 E, N/m (rail); N m/rad (hinge: a tenth)
#define OIL_TIME 0.05        // tau, s

typedef struct Oil {
    double force[2], w[2], w_end[2];
} Oil;

static inline double command_rate(int port, double t)
{
    return port == 0 ? 0.3 * sin(2.0 * t) : 0.2 * cos(3.0 * t) - 0.2;
}

static inline double oil_rate(int port, double force, double w, double t)
{
    return (port == 0 ? 1.0 : 0.1) * OIL_STIFFNESS * (command_rate(port, t) - w) - force / OIL_TIME;
}

static inline void oil_set_motion(void* self, const double* s, const double* w, const double* w_end)
{
    Oil* oil = self;
    (void)s;
    memcpy(oil->w, w, sizeof oil->w);
    memcpy(oil->w_end, w_end != NULL ? w_end : w, sizeof oil->w);
}

static inline void oil_get_forces(void* self, double* force)
{
    memcpy(force, ((Oil*)self)->force, sizeof(double) * 2);
}

// f' = c(t) - f / tau by the trapezoidal rule
static inline ItmStatus oil_do_step(void* self, double t, double h, ItmError* error)
{
    Oil* oil = self;
    (void)error;
    for (int i = 0; i < 2; i++) {
        double mean = 0.5 * (oil_rate(i, 0.0, oil->w[i], t) + oil_rate(i, 0.0, oil->w_end[i], t + h));
        double k = 0.5 * h / OIL_TIME;
        oil->force[i] = ((1.0 - k) * oil->force[i] + h * mean) / (1.0 + k);
    }
    return ITM_OK;
}

static inline void oil_reset(void* self)
{
    *(Oil*)self = (Oil){0};
}

static inline ItmSubsystem make_oil(Oil* oil)
{
    *oil = (Oil){0};
    return (ItmSubsystem){.self = oil,
                          .nport = 2,
                          .port_names = PORTS,
                          .is_second_order = true,
                          .set_motion = oil_set_motion,
                          .get_forces = oil_get_forces,
                          .do_step = oil_do_step,
                          .reset = oil_reset,
                          .memory = oil,
                          .memory_size = sizeof *oil};
}

// ---------------------------------------------------------------------------- reference

// Cart and oil in one state, classical Runge-Kutta at 10 us. (s, w) of both ports at t_end.
static inline void run_reference(double t_end, double s[2], double w[2])
{
    Cart c = cart_default();
    double force[2] = {0}, h = 1e-5;
    long n = lround(t_end / h);
    for (long k = 0; k < n; k++) {
        static const double NODE[4] = {0.0, 0.5, 0.5, 1.0}, WEIGHT[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
        double d[8] = {0}, y[8], slope[8] = {0};
        for (int stage = 0; stage < 4; stage++) {
            double x[8];
            for (int i = 0; i < 8; i++) {
                y[i] = i < 3 ? c.q[i] : i < 6 ? c.v[i - 3] : force[i - 6];
                x[i] = y[i] + NODE[stage] * h * slope[i];
            }
            for (int i = 0; i < 3; i++) {
                slope[i] = x[3 + i];
            }
            cart_accelerate(&c, x, x + 3, x + 6, slope + 3);
            for (int i = 0; i < 2; i++) {
                slope[6 + i] = oil_rate(i, x[6 + i], x[3 + i], (double)k * h + NODE[stage] * h);
            }
            for (int i = 0; i < 8; i++) {
                d[i] += h * WEIGHT[stage] * slope[i];
            }
        }
        for (int i = 0; i < 3; i++) {
            c.q[i] += d[i];
            c.v[i] += d[3 + i];
        }
        force[0] += d[6];
        force[1] += d[7];
    }
    for (int i = 0; i < 2; i++) {
        s[i] = c.q[i];
        w[i] = c.v[i];
    }
}

#endif
