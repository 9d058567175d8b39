#include "bench/clearance_nlp.h"

#include <math.h>
#include <nlopt.h>
#include <stddef.h>
#include <string.h>

// ---------------------------------------------------------------------------- small vectors

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(double out[3], const double a[3], const double b[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

// A(p) of Euler parameters e0, e1, e2, e3
static void rotation(double A[3][3], const double p[4])
{
    double w = p[0], x = p[1], y = p[2], z = p[3];
    const double R[3][3] = {{w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)},
                            {2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)},
                            {2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z}};
    memcpy(A, R, sizeof R);
}

static void to_world(double out[3], double A[3][3], const double s[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = dot(A[i], s);
    }
}

static void to_body(double out[3], double A[3][3], const double s[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = A[0][i] * s[0] + A[1][i] * s[1] + A[2][i] * s[2];
    }
}

// M^-1 f for f = (force, torque')
static void solve_mass(const NlpStep* s, double out[6], const double f[6])
{
    const double(*J)[3] = s->inertia;
    double c[3][3];
    for (int i = 0; i < 3; i++) {
        cross(c[i], J[(i + 1) % 3], J[(i + 2) % 3]);
        out[i] = f[i] / s->mass;
    }
    double det = dot(J[0], c[0]);
    for (int i = 0; i < 3; i++) {
        // J is symmetric: its cofactors are too
        out[3 + i] = dot(c[i], f + 3) / det;
    }
}

static void multiply_mass(const NlpStep* s, double out[6], const double v[6])
{
    for (int i = 0; i < 3; i++) {
        out[i] = s->mass * v[i];
        out[3 + i] = dot(s->inertia[i], v + 3);
    }
}

// ---------------------------------------------------------------------------- gaps of the joints

// A gap of a point s' of the body along a unit vector n of the world: Phi, D = (n, s' x A'n)
static void add_gap(NlpStep* step, double A[3][3], const double s[3], const double n[3], double phi)
{
    double n_body[3];
    double* D = step->D[step->ngap];
    to_body(n_body, A, n);
    memcpy(D, n, 3 * sizeof *D);
    cross(D + 3, s, n_body);
    step->gap[step->ngap++] = phi;
}

// An end of the hub and the axis z through the origin                                           [clearance, eqs. 34-36]
static void add_radial(NlpStep* step, const double r[3], double A[3][3], const double s[3], double c)
{
    double end[3];
    to_world(end, A, s);
    double d[3] = {r[0] + end[0], r[1] + end[1], 0.0};
    double length = hypot(d[0], d[1]);
    if (length <= 1e-12 * c) {
        // along the free motion of that end
        double a[6], w[3], turned[3];
        solve_mass(step, a, step->force);
        for (int i = 0; i < 3; i++) {
            w[i] = step->v[3 + i] + step->h_max * a[3 + i];
        }
        cross(turned, w, s);
        to_world(end, A, turned);
        d[0] = step->v[0] + step->h_max * a[0] + end[0];
        d[1] = step->v[1] + step->h_max * a[1] + end[1];
    }
    double size = hypot(d[0], d[1]);
    double n[3] = {d[0] / size, d[1] / size, 0.0};
    add_gap(step, A, s, n, length - c);
}

// A corner and the plane n . x = offset                                                             [clearance, eq. 38]
static void add_plane(NlpStep* step, const double r[3], double A[3][3], const double s[3], const double n[3],
                      double offset)
{
    double at[3];
    to_world(at, A, s);
    double distance = dot(n, r) + dot(n, at);
    add_gap(step, A, s, n, distance - offset);
}

static void add_triangle(NlpStep* step, const double r[3], double A[3][3])
{
    const double pi = 3.14159265358979323846;
    for (int k = 0; k < 6; k++) {
        double angle = pi / 2 + (k % 3) * 2 * pi / 3;
        double s[3] = {10 * cos(angle), 10 * sin(angle), k < 3 ? -10.0 : 10.0};
        for (int side = -1; side <= 1; side += 2) {
            double normal = angle + side * pi / 3;
            double n[3] = {cos(normal), sin(normal), 0.0};
            add_plane(step, r, A, s, n, 5.0 + 0.1009);
        }
    }
}

// ---------------------------------------------------------------------------- the problem

static void set_body(NlpStep* step, NlpJoint joint)
{
    static const double J[NLP_JOINT_COUNT][4] = {{1066.6666666666667, 346.66666666666667, 1200, 0},
                                                 {1066.6666666666667, 346.66666666666667, 1200, 0},
                                                 {436.51878, 768.72715, 332.20837, -228.24873},
                                                 {25, 636.54, 636.54, 0}};
    step->mass = joint <= NLP_PRISMATIC ? 3.2 : 2.0;
    for (int i = 0; i < 3; i++) {
        step->inertia[i][i] = J[joint][i];
    }
    step->inertia[0][2] = step->inertia[2][0] = J[joint][3];
}

static void set_force(NlpStep* step, NlpJoint joint, double A[3][3])
{
    double Jw[3], gyro[3];
    for (int i = 0; i < 3; i++) {
        Jw[i] = dot(step->inertia[i], step->v + 3);
    }
    cross(gyro, step->v + 3, Jw);
    step->force[1] = -9.81 * step->mass;
    if (joint <= NLP_PRISMATIC) {
        const double F[3] = {0, 0, joint == NLP_CYLINDRICAL ? 50.0 : 40.0}, s[3] = {0, 30, 0};
        double F_body[3];
        to_body(F_body, A, F);
        step->force[2] += F[2];
        cross(step->force + 3, s, F_body);
    }
    for (int i = 0; i < 3; i++) {
        step->force[3 + i] -= gyro[i];
    }
}

NlpStep nlp_make_step(NlpJoint joint, const double r[3], const double p[4], const double v[6], double h_min,
                      double h_max)
{
    NlpStep step = {.h_min = h_min, .h_max = h_max};
    double A[3][3];
    rotation(A, p);
    // a gap is the small difference of a position and an arm of the same length
    step.rounding = 4.0 * 2.2e-16 * (1.0 + sqrt(dot(r, r)));
    memcpy(step.p, p, sizeof step.p);
    memcpy(step.v, v, sizeof step.v);
    set_body(&step, joint);
    set_force(&step, joint, A);
    if (joint == NLP_PRISMATIC) {
        add_triangle(&step, r, A);
        return step;
    }
    double x = joint == NLP_CYLINDRICAL ? 0.0 : -30.9, z = joint == NLP_REVOLUTE ? -11.97 : 0.0;
    for (int k = -1; k <= 1; k += 2) {
        double s[3] = {x, 0, z + 10 * k};
        add_radial(&step, r, A, s, 0.1);
    }
    for (int k = -1; joint >= NLP_REVOLUTE && k <= 1; k += 2) {
        double s[3] = {x, 0, z + 10 * k}, n[3] = {0, 0, k};
        add_plane(&step, r, A, s, n, 10.1);
    }
    return step;
}

double nlp_compute_objective(const NlpStep* s, double h, const double v_next[6])
{
    double change[6], F[6], a[6];
    for (int i = 0; i < 6; i++) {
        change[i] = (v_next[i] - s->v[i]) / h;
    }
    multiply_mass(s, F, change);
    for (int i = 0; i < 6; i++) {
        F[i] = s->force[i] - F[i];
    }
    solve_mass(s, a, F);
    return dot(F, a) + dot(F + 3, a + 3);
}

double nlp_compute_residual(const NlpStep* s, double h, const double v_next[6], const double* lambda)
{
    double change[6], f[6], largest = 0.0;
    for (int i = 0; i < 6; i++) {
        change[i] = v_next[i] - s->v[i];
    }
    multiply_mass(s, f, change);
    for (int i = 0; i < 6; i++) {
        double sum = f[i] - h * s->force[i];
        for (int k = 0; k < s->ngap; k++) {
            sum += h * s->D[k][i] * lambda[k];
        }
        largest = fmax(largest, fabs(sum));
    }
    return largest;
}

// ---------------------------------------------------------------------------- the program

// Unknowns: h / h_max, r' (3), p' (4), lambda / force scale. Scales keep them near 1.
typedef struct Program {
    const NlpStep* s;
    double scale;                          // of the forces, N
    double N[NLP_MAX_GAPS][NLP_MAX_GAPS];  // D' M^-1 D
    double G[3][4];                        // omega' = 2 G p'
    int evaluations;
} Program;

enum { H, RDOT, PDOT = 4, LAMBDA = 8 };

static double objective(unsigned n, const double* x, double* gradient, void* data)
{
    Program* p = data;
    const NlpStep* s = p->s;
    double sum = 0.0;
    p->evaluations++;
    if (gradient != NULL) {
        memset(gradient, 0, n * sizeof *gradient);
    }
    for (int i = 0; i < s->ngap; i++) {
        double row = 0.0;
        for (int j = 0; j < s->ngap; j++) {
            row += p->N[i][j] * x[LAMBDA + j];
        }
        sum += x[LAMBDA + i] * row;
        if (gradient != NULL) {
            gradient[LAMBDA + i] = 2.0 * p->scale * row;
        }
    }
    return sum * p->scale;
}

// v of the unknowns
static void velocities(const Program* p, const double* x, double v[6])
{
    for (int i = 0; i < 3; i++) {
        v[i] = x[RDOT + i];
        v[3 + i] = 0.0;
        for (int k = 0; k < 4; k++) {
            v[3 + i] += 2.0 * p->G[i][k] * x[PDOT + k];
        }
    }
}

// Add f . dv / dx to a row of a Jacobian.
static void add_velocity_gradient(const Program* p, double* row, const double f[6])
{
    for (int i = 0; i < 3; i++) {
        row[RDOT + i] += f[i];
        for (int k = 0; k < 4; k++) {
            row[PDOT + k] += 2.0 * f[3 + i] * p->G[i][k];
        }
    }
}

// Six equations of motion, divided by the mass matrix, and the normalisation.
static void equalities(unsigned m, double* result, unsigned n, const double* x, double* gradient, void* data)
{
    const Program* p = data;
    const NlpStep* s = p->s;
    double h = x[H] * s->h_max, v[6], F[6], a[6];
    (void)m;
    velocities(p, x, v);
    memcpy(F, s->force, sizeof F);
    for (int k = 0; k < s->ngap; k++) {
        for (int i = 0; i < 6; i++) {
            F[i] -= s->D[k][i] * x[LAMBDA + k] * p->scale;
        }
    }
    solve_mass(s, a, F);
    if (gradient != NULL) {
        memset(gradient, 0, 7 * n * sizeof *gradient);
    }
    for (int i = 0; i < 6; i++) {
        result[i] = v[i] - s->v[i] - h * a[i];
        if (gradient != NULL) {
            double unit[6] = {0};
            unit[i] = 1.0;
            add_velocity_gradient(p, gradient + (size_t)i * n, unit);
            gradient[(size_t)i * n + H] = -s->h_max * a[i];
        }
    }
    for (int k = 0; gradient != NULL && k < s->ngap; k++) {
        double column[6];
        solve_mass(s, column, s->D[k]);
        for (int i = 0; i < 6; i++) {
            gradient[(size_t)i * n + LAMBDA + (size_t)k] = h * p->scale * column[i];
        }
    }
    double norm = -1.0, rate = 0.0;
    for (int k = 0; k < 4; k++) {
        norm += s->p[k] * s->p[k];
        rate += 2.0 * s->p[k] * x[PDOT + k];
    }
    result[6] = norm + h * rate;
    if (gradient != NULL) {
        gradient[(size_t)6 * n + H] = s->h_max * rate;
        for (int k = 0; k < 4; k++) {
            gradient[(size_t)6 * n + PDOT + (size_t)k] = 2.0 * h * s->p[k];
        }
    }
}

static void inequalities(unsigned m, double* result, unsigned n, const double* x, double* gradient, void* data)
{
    const Program* p = data;
    const NlpStep* s = p->s;
    double h = x[H] * s->h_max, v[6];
    velocities(p, x, v);
    if (gradient != NULL) {
        memset(gradient, 0, (size_t)m * n * sizeof *gradient);
    }
    for (int k = 0; k < s->ngap; k++) {
        double rate = dot(s->D[k], v) + dot(s->D[k] + 3, v + 3);
        result[k] = s->gap[k] + h * rate;
        if (gradient != NULL) {
            double f[6];
            for (int i = 0; i < 6; i++) {
                f[i] = h * s->D[k][i];
            }
            gradient[(size_t)k * n + H] = s->h_max * rate;
            add_velocity_gradient(p, gradient + (size_t)k * n, f);
        }
    }
}

static Program make_program(const NlpStep* s)
{
    Program p = {.s = s, .scale = 100.0};
    const double* e = s->p;
    const double G[3][4] = {{-e[1], e[0], e[3], -e[2]}, {-e[2], -e[3], e[0], e[1]}, {-e[3], e[2], -e[1], e[0]}};
    memcpy(p.G, G, sizeof G);
    for (int i = 0; i < s->ngap; i++) {
        double column[6];
        solve_mass(s, column, s->D[i]);
        for (int j = 0; j < s->ngap; j++) {
            p.N[j][i] = dot(s->D[j], column) + dot(s->D[j] + 3, column + 3);
        }
    }
    return p;
}

// The free motion of the step, without contact forces.
static void guess(const Program* p, double* x, double h)
{
    const NlpStep* s = p->s;
    double a[6];
    solve_mass(s, a, s->force);
    x[H] = h / s->h_max;
    for (int i = 0; i < 3; i++) {
        x[RDOT + i] = s->v[i] + h * a[i];
    }
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 3; i++) {
            x[PDOT + k] += 0.5 * p->G[i][k] * (s->v[3 + i] + h * a[3 + i]);
        }
    }
}

NlpSolution nlp_solve_step(const NlpStep* s, double h_guess)
{
    Program p = make_program(s);
    unsigned n = (unsigned)(LAMBDA + s->ngap);
    double x[LAMBDA + NLP_MAX_GAPS] = {0}, lo[LAMBDA + NLP_MAX_GAPS], up[LAMBDA + NLP_MAX_GAPS], tight[NLP_MAX_GAPS];
    for (unsigned i = 0; i < n; i++) {
        lo[i] = i >= LAMBDA ? 0.0 : -HUGE_VAL;
        up[i] = HUGE_VAL;
    }
    lo[H] = s->h_min / s->h_max;
    up[H] = 1.0;
    for (int i = 0; i < NLP_MAX_GAPS; i++) {
        tight[i] = 1e-12;
    }
    guess(&p, x, h_guess);
    nlopt_opt opt = nlopt_create(NLOPT_LD_SLSQP, n);
    nlopt_set_min_objective(opt, objective, &p);
    nlopt_add_equality_mconstraint(opt, 7, equalities, &p, tight);
    nlopt_add_inequality_mconstraint(opt, (unsigned)s->ngap, inequalities, &p, tight);
    nlopt_set_lower_bounds(opt, lo);
    nlopt_set_upper_bounds(opt, up);
    nlopt_set_ftol_rel(opt, 1e-14);
    nlopt_set_xtol_rel(opt, 1e-12);
    nlopt_set_maxeval(opt, 400);
    double value = 0.0;
    nlopt_optimize(opt, x, &value);
    nlopt_destroy(opt);

    NlpSolution out = {
        .is_feasible = true, .h = x[H] * s->h_max, .objective = value * p.scale, .evaluations = p.evaluations};
    double eq[7], ineq[NLP_MAX_GAPS];
    equalities(7, eq, n, x, NULL, &p);
    inequalities((unsigned)s->ngap, ineq, n, x, NULL, &p);
    for (int k = 0; k < s->ngap; k++) {
        out.is_feasible = out.is_feasible && ineq[k] < 1e-9;
        out.lambda[k] = x[LAMBDA + k] * p.scale;
        // a gap that is missed by e saves a force that changes the velocity by e / h: 2 lambda e / h^2 of the objective
        out.slack += 2.0 * out.lambda[k] * (s->rounding + fmax(0.0, ineq[k])) / (out.h * out.h);
    }
    velocities(&p, x, out.v);
    double F[6] = {0};
    for (int i = 0; i < 7; i++) {
        out.is_feasible = out.is_feasible && fabs(eq[i]) < 1e-9;
        for (int k = 0; i < 6 && k < s->ngap; k++) {
            F[i] += s->D[k][i] * out.lambda[k];
        }
        // and an equation of motion that is missed by a velocity e a force of M e / h: 2 F e / h
        out.slack += i < 6 ? 2.0 * fabs(F[i] * eq[i]) / out.h : 0.0;
    }
    return out;
}
