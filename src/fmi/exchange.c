// Model exchange: the FMU gives derivatives, the integrator is here.
//
// The pair of Dormand and Prince of order 5(4) with error control, inside each micro step. The host process must not bring
// an integrator with public symbols (FMUs export CVode and BLAS themselves), so it is a hundred lines of our own. Where it
// would need more than a few hundred steps in one micro step, the model is stiff, and a linearly implicit method of order 2
// takes over (the second-order Rosenbrock pair of Shampine and Reichelt), with the Jacobian by directional derivatives of the FMU
// where it has them and they have been proven, otherwise by differences.
//
// Events: sign changes of the indicators are located by bisection on the cubic through both ends of the step; time events
// end a step; step events are asked for after every step. A step ends at the first of them and goes on after event mode.
#include "fmi/instance.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STEPS 200000       // inside one micro step
#define STIFF_STEPS 300         // of the explicit pair inside one micro step, before the implicit one takes over
#define MOST_STIFF_STATES 2000  // the Jacobian is dense
#define MOST_EVENTS 10000       // inside one micro step
#define DEFAULT_TOLERANCE 1e-6

// clang-format off
struct ItmFmuExchange {
    size_t  nx, nz;
    double* x;           // states                                             (nx)
    double* dx;          // their derivatives at the start of a step           (nx)
    double* k[7];        // stages                                             (nx each)
    double* x_try;       //                                                    (nx)
    double* nominal;     //                                                    (nx)
    double *z, *z_try;   // indicators at the start and at the end             (nz)
    double* J;           // Jacobian, then factors of I - h d J; NULL: none    (nx x nx)
    int*    pivot;       //                                                    (nx)
    uint32_t* derivative_refs; // where the FMU has directional derivatives    (nx)
    double  tolerance;
    double  h_next;      // step that the error control suggests               s
    double  begin, h;    // the micro step                                     s
    bool    is_stiff;    // the implicit method is in use in this micro step
    void*   memory;
};
// clang-format on

// ---------------------------------------------------------------------------- memory

ItmStatus itm_fmi_create_exchange(ItmFmuInstance* x, ItmError* error)
{
    ItmFmuExchange* e = calloc(1, sizeof *e);
    if (e == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory for an FMU");
    }
    x->exchange = e;
    e->nx = (size_t)x->spec->nx;
    e->nz = (size_t)x->spec->nz;
    ItmStatus status = x->spec->version == 3 ? itm_fmi_count_states(&x->binary, &e->nx, &e->nz) : ITM_OK;
    if (status == ITM_OK && (e->nx > 1000000 || e->nz > 1000000)) {
        status = itm_error_set(error, ITM_ERR_CAPACITY, __func__, NULL,
                               "the FMU has %zu states and %zu event indicators; the limit is a million", e->nx, e->nz);
    }
    double* at = status == ITM_OK ? calloc(11 * e->nx + 2 * e->nz + 1, sizeof *at) : NULL;
    if (at == NULL) {
        return status != ITM_OK ? status
                                : itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory for an FMU");
    }
    e->memory = at;
    double** arrays[] = {&e->x,    &e->dx,   &e->k[0], &e->k[1],  &e->k[2],   &e->k[3],
                         &e->k[4], &e->k[5], &e->k[6], &e->x_try, &e->nominal};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = at;
        at += e->nx;
    }
    e->z = at;
    e->z_try = at + e->nz;
    e->tolerance = x->spec->tolerance > 0.0 ? x->spec->tolerance : DEFAULT_TOLERANCE;
    status = itm_fmi_get_continuous(&x->binary, e->x, e->nx);
    if (status != ITM_OK) {
        return status;
    }
    bool has_nominals = itm_fmi_get_nominals(&x->binary, e->nominal, e->nx) == ITM_OK;
    for (size_t i = 0; i < e->nx; i++) {
        e->nominal[i] = has_nominals && e->nominal[i] > 0.0 ? e->nominal[i] : 1.0;
    }
    return ITM_OK;
}

void itm_fmi_destroy_exchange(ItmFmuExchange* e)
{
    if (e != NULL) {
        free(e->memory);
        free(e->J);
        free(e->pivot);
        free(e->derivative_refs);
        free(e);
    }
}

static ItmStatus check_states(ItmFmuInstance* x)
{
    return x->exchange->nx == (size_t)x->spec->nslope
               ? ITM_OK
               : itm_error_set(&x->binary.error, ITM_ERR_INPUT, "itm_fmi_get_states", NULL,
                               "the FMU has %zu continuous states, and its description lists %d", x->exchange->nx,
                               x->spec->nslope);
}

ItmStatus itm_fmi_get_exchange_states(ItmFmuInstance* x, double* states)
{
    ItmStatus status = check_states(x);
    if (status == ITM_OK) {
        memcpy(states, x->exchange->x, sizeof(double) * x->exchange->nx);
    }
    return status;
}

ItmStatus itm_fmi_set_exchange_states(ItmFmuInstance* x, const double* states)
{
    ItmStatus status = check_states(x);
    if (status != ITM_OK) {
        return status;
    }
    memcpy(x->exchange->x, states, sizeof(double) * x->exchange->nx);
    return itm_fmi_set_continuous(&x->binary, states, x->exchange->nx);
}

double itm_fmi_get_exchange_step(const ItmFmuExchange* e)
{
    return e->h_next;
}

void itm_fmi_restore_exchange(ItmFmuInstance* x, double step)
{
    x->exchange->h_next = step;
    (void)itm_fmi_get_continuous(&x->binary, x->exchange->x, x->exchange->nx);
}

// ---------------------------------------------------------------------------- evaluation

// dx = f(t, x)
static ItmStatus evaluate(ItmFmuInstance* m, double t, const double* x, double* dx)
{
    ItmFmuExchange* e = m->exchange;
    ItmStatus status = itm_fmi_set_time(&m->binary, t);
    status = status == ITM_OK ? itm_fmi_feed(m, t - e->begin, e->h) : status;
    status = status == ITM_OK ? itm_fmi_set_continuous(&m->binary, x, e->nx) : status;
    return status == ITM_OK ? itm_fmi_get_derivatives(&m->binary, dx, e->nx) : status;
}

// Largest error in units of the tolerance: |error_i| / (tol max(|x_i|, nominal_i)); not finite: 1e9
static double weigh(const ItmFmuExchange* e, const double* error, const double* x_end)
{
    double most = 0.0;
    for (size_t i = 0; i < e->nx; i++) {
        double size = fmax(fmax(fabs(e->x[i]), fabs(x_end[i])), e->nominal[i]);
        double ratio = fabs(error[i]) / (e->tolerance * size);
        most = ratio > most ? ratio : most;
        if (!isfinite(ratio) || !isfinite(x_end[i])) {
            return 1e9;
        }
    }
    return most;
}

// ---------------------------------------------------------------------------- explicit pair

// One step: new states in x_try, derivatives there in k[6], error in k[1].
static ItmStatus try_explicit(ItmFmuInstance* m, double t, double h, double* error)
{
    static const double C[7] = {0.0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1.0, 1.0};
    static const double A[7][6] = {
        {0},
        {1.0 / 5},
        {3.0 / 40, 9.0 / 40},
        {44.0 / 45, -56.0 / 15, 32.0 / 9},
        {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
        {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
        {35.0 / 384, 0.0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
    };
    static const double E[7] = {71.0 / 57600,      0.0,          -71.0 / 16695, 71.0 / 1920,
                                -17253.0 / 339200, 22.0 / 525.0, -1.0 / 40};
    ItmFmuExchange* e = m->exchange;
    memcpy(e->k[0], e->dx, sizeof(double) * e->nx);
    ItmStatus status = ITM_OK;
    for (int s = 1; s < 7 && status == ITM_OK; s++) {
        // x_s = x + h sum_j a_sj k_j
        for (size_t i = 0; i < e->nx; i++) {
            double sum = 0.0;
            for (int j = 0; j < s; j++) {
                sum += A[s][j] * e->k[j][i];
            }
            e->x_try[i] = e->x[i] + h * sum;
        }
        status = evaluate(m, t + C[s] * h, e->x_try, e->k[s]);
    }
    for (size_t i = 0; i < e->nx && status == ITM_OK; i++) {
        double sum = 0.0;
        for (int j = 0; j < 7; j++) {
            sum += E[j] * e->k[j][i];
        }
        e->k[1][i] = h * sum;
    }
    *error = status == ITM_OK ? weigh(e, e->k[1], e->x_try) : 0.0;
    return status;
}

// ---------------------------------------------------------------------------- implicit pair

// LU factors of a matrix n x n with row exchanges; false: singular.
static bool factor(double* M, int* pivot, size_t n)
{
    for (size_t c = 0; c < n; c++) {
        size_t p = c;
        for (size_t r = c + 1; r < n; r++) {
            p = fabs(M[r * n + c]) > fabs(M[p * n + c]) ? r : p;
        }
        pivot[c] = (int)p;
        if (!(fabs(M[p * n + c]) > 0.0)) {
            return false;
        }
        for (size_t k = 0; k < n && p != c; k++) {
            double swap = M[c * n + k];
            M[c * n + k] = M[p * n + k];
            M[p * n + k] = swap;
        }
        for (size_t r = c + 1; r < n; r++) {
            double f = M[r * n + c] /= M[c * n + c];
            for (size_t k = c + 1; k < n && f != 0.0; k++) {
                M[r * n + k] -= f * M[c * n + k];
            }
        }
    }
    return true;
}

static void solve(const double* M, const int* pivot, size_t n, double* b)
{
    for (size_t r = 0; r < n; r++) {
        double swap = b[r];
        b[r] = b[pivot[r]];
        b[pivot[r]] = swap;
    }
    for (size_t r = 0; r < n; r++) {
        for (size_t k = 0; k < r; k++) {
            b[r] -= M[r * n + k] * b[k];
        }
    }
    for (size_t r = n; r-- > 0;) {
        for (size_t k = r + 1; k < n; k++) {
            b[r] -= M[r * n + k] * b[k];
        }
        b[r] /= M[r * n + r];
    }
}

// Columns of J by directional derivatives of the FMU. False: it has none that can be relied on.
static bool derive(ItmFmuInstance* m, double t, ItmStatus* status)
{
    ItmFmuExchange* e = m->exchange;
    const ItmFmuSpec* spec = m->spec;
    size_t n = e->nx;
    double one = 1.0;
    bool is_good = spec->has_derivatives && (size_t)spec->nslope == n;
    *status = is_good ? evaluate(m, t, e->x, e->k[6]) : ITM_OK;
    for (size_t j = 0; j < n && is_good && *status == ITM_OK; j++) {
        is_good = itm_fmi_get_directional(&m->binary, e->derivative_refs, (int)n, &spec->slopes[j].state, 1, &one,
                                          e->k[6]) == ITM_OK;
        for (size_t i = 0; i < n; i++) {
            e->J[i * n + j] = e->k[6][i];
        }
    }
    return is_good;
}

// M = I - h d J, J by directional derivatives, or by differences of the derivatives.
static ItmStatus assemble(ItmFmuInstance* m, double t, double hd)
{
    ItmFmuExchange* e = m->exchange;
    size_t n = e->nx;
    ItmStatus status;
    if (derive(m, t, &status)) {
        for (size_t i = 0; i < n * n; i++) {
            e->J[i] = (i % (n + 1) == 0 ? 1.0 : 0.0) - hd * e->J[i];
        }
        return status;
    }
    memcpy(e->x_try, e->x, sizeof(double) * n);
    for (size_t j = 0; j < n && status == ITM_OK; j++) {
        double delta = 1e-7 * fmax(fabs(e->x[j]), e->nominal[j]);
        e->x_try[j] = e->x[j] + delta;
        delta = e->x_try[j] - e->x[j];
        status = evaluate(m, t, e->x_try, e->k[6]);
        for (size_t i = 0; i < n; i++) {
            e->J[i * n + j] = (i == j ? 1.0 : 0.0) - hd * (e->k[6][i] - e->dx[i]) / delta;
        }
        e->x_try[j] = e->x[j];
    }
    return status;
}

// One step of the Rosenbrock pair, d = 1 / (2 + sqrt 2), e32 = 6 + sqrt 2:
//   (I - h d J) k1 = f0 + h d T
//   (I - h d J) (k2 - k1) = f(t + h/2, x + h/2 k1) - k1
//   (I - h d J) k3 = f(t + h, x + h k2) - e32 (k2 - f1) - 2 (k1 - f0) + h d T
//   error = h/6 (k1 - 2 k2 + k3)
// T, the derivative of f with respect to time, comes from a difference over a thousandth of the step.
static ItmStatus try_implicit(ItmFmuInstance* m, double t, double h, double* error)
{
    ItmFmuExchange* e = m->exchange;
    size_t n = e->nx;
    double d = 1.0 / (2.0 + sqrt(2.0)), e32 = 6.0 + sqrt(2.0), dt = 1e-3 * h;
    double *k1 = e->k[0], *k2 = e->k[2], *k3 = e->k[3], *f1 = e->k[4], *T = e->k[5];
    ItmStatus status = assemble(m, t, h * d);
    status = status == ITM_OK ? evaluate(m, t + dt, e->x, T) : status;
    if (status != ITM_OK) {
        return status;
    }
    if (!factor(e->J, e->pivot, n)) {
        *error = 1e9;
        return ITM_OK;
    }
    for (size_t i = 0; i < n; i++) {
        T[i] = h * d * (T[i] - e->dx[i]) / dt;
        k1[i] = e->dx[i] + T[i];
    }
    solve(e->J, e->pivot, n, k1);
    for (size_t i = 0; i < n; i++) {
        e->x_try[i] = e->x[i] + 0.5 * h * k1[i];
    }
    status = evaluate(m, t + 0.5 * h, e->x_try, f1);
    for (size_t i = 0; i < n; i++) {
        k2[i] = f1[i] - k1[i];
    }
    solve(e->J, e->pivot, n, k2);
    for (size_t i = 0; i < n; i++) {
        k2[i] += k1[i];
        e->x_try[i] = e->x[i] + h * k2[i];
    }
    status = status == ITM_OK ? evaluate(m, t + h, e->x_try, e->k[6]) : status;
    for (size_t i = 0; i < n; i++) {
        k3[i] = e->k[6][i] - e32 * (k2[i] - f1[i]) - 2.0 * (k1[i] - e->dx[i]) + T[i];
    }
    solve(e->J, e->pivot, n, k3);
    for (size_t i = 0; i < n; i++) {
        e->k[1][i] = h / 6.0 * (k1[i] - 2.0 * k2[i] + k3[i]);
    }
    *error = status == ITM_OK ? weigh(e, e->k[1], e->x_try) : 0.0;
    return status;
}

static bool become_stiff(ItmFmuInstance* m)
{
    ItmFmuExchange* e = m->exchange;
    if (e->nx == 0 || e->nx > MOST_STIFF_STATES) {
        return false;
    }
    if (e->J == NULL) {
        e->J = calloc(e->nx * e->nx, sizeof *e->J);
        e->pivot = calloc(e->nx, sizeof *e->pivot);
        e->derivative_refs = calloc(e->nx, sizeof *e->derivative_refs);
        for (int i = 0; i < m->spec->nslope && (size_t)i < e->nx && e->derivative_refs != NULL; i++) {
            e->derivative_refs[i] = m->spec->slopes[i].derivative;
        }
    }
    e->is_stiff = e->J != NULL && e->pivot != NULL && e->derivative_refs != NULL;
    return e->is_stiff;
}

// ---------------------------------------------------------------------------- events

// Whether an indicator has passed zero; the value zero belongs to the side below.
static bool has_crossed(const double* z, const double* z_end, size_t nz)
{
    for (size_t i = 0; i < nz; i++) {
        if ((z[i] > 0.0) != (z_end[i] > 0.0)) {
            return true;
        }
    }
    return false;
}

// Cubic through states and derivatives at both ends: x at t + theta h into k[2], indicators into z_try.
static ItmStatus look_inside(ItmFmuInstance* m, double t, double h, double theta)
{
    ItmFmuExchange* e = m->exchange;
    double a = theta, b = 1.0 - theta;
    double x0 = b * b * (1.0 + 2.0 * a), x1 = a * a * (1.0 + 2.0 * b), d0 = a * b * b * h, d1 = -a * a * b * h;
    for (size_t i = 0; i < e->nx; i++) {
        e->k[2][i] = x0 * e->x[i] + x1 * e->x_try[i] + d0 * e->dx[i] + d1 * e->k[6][i];
    }
    ItmStatus status = itm_fmi_set_time(&m->binary, t + theta * h);
    status = status == ITM_OK ? itm_fmi_feed(m, t + theta * h - e->begin, e->h) : status;
    status = status == ITM_OK ? itm_fmi_set_continuous(&m->binary, e->k[2], e->nx) : status;
    return status == ITM_OK ? itm_fmi_get_indicators(&m->binary, e->z_try, e->nz) : status;
}

// Shorten the step to just after the first crossing: states into x_try, the length into *h.
static ItmStatus locate(ItmFmuInstance* m, double t, double* h)
{
    ItmFmuExchange* e = m->exchange;
    double lo = 0.0, hi = 1.0;
    ItmStatus status = ITM_OK;
    for (int i = 0; i < 60 && (hi - lo) * *h > 1e-13 * fmax(1.0, fabs(t)) && status == ITM_OK; i++) {
        double middle = 0.5 * (lo + hi);
        status = look_inside(m, t, *h, middle);
        if (has_crossed(e->z, e->z_try, e->nz)) {
            hi = middle;
        } else {
            lo = middle;
        }
    }
    if (status == ITM_OK && hi < 1.0) {
        status = look_inside(m, t, *h, hi);
        memcpy(e->x_try, e->k[2], sizeof(double) * e->nx);
        *h *= hi;
    }
    return status;
}

static ItmStatus handle_event(ItmFmuInstance* m)
{
    ItmFmuExchange* e = m->exchange;
    bool has_new_states = false;
    ItmStatus status = itm_fmi_handle_event(m, &has_new_states);
    return status == ITM_OK && has_new_states ? itm_fmi_get_continuous(&m->binary, e->x, e->nx) : status;
}

// ---------------------------------------------------------------------------- micro step

// Derivatives and indicators at t, from which a step starts.
static ItmStatus begin_step(ItmFmuInstance* m, double t)
{
    ItmFmuExchange* e = m->exchange;
    ItmStatus status = evaluate(m, t, e->x, e->dx);
    return status == ITM_OK ? itm_fmi_get_indicators(&m->binary, e->z, e->nz) : status;
}

// Take the step to t + *h that has been found good; *h becomes shorter where an event ends it.
static ItmStatus accept(ItmFmuInstance* m, double t, double* h, bool* has_event)
{
    ItmFmuExchange* e = m->exchange;
    *has_event = false;
    ItmStatus status = itm_fmi_set_time(&m->binary, t + *h);
    status = status == ITM_OK ? itm_fmi_feed(m, t + *h - e->begin, e->h) : status;
    status = status == ITM_OK ? itm_fmi_set_continuous(&m->binary, e->x_try, e->nx) : status;
    status = status == ITM_OK ? itm_fmi_get_indicators(&m->binary, e->z_try, e->nz) : status;
    if (status == ITM_OK && has_crossed(e->z, e->z_try, e->nz)) {
        *has_event = true;
        status = locate(m, t, h);
    }
    memcpy(e->x, e->x_try, sizeof(double) * e->nx);
    bool has_step_event = false;
    if (status == ITM_OK && m->spec->needs_completed_step) {
        status = itm_fmi_complete_step(&m->binary, &has_step_event);
    }
    *has_event = *has_event || has_step_event;
    return status;
}

static ItmStatus refuse_steps(ItmFmuInstance* m, double t, double h)
{
    return itm_error_set(&m->binary.error, ITM_ERR_DIVERGED, "itm_fmi_integrate", NULL,
                         "the states of the FMU cannot be integrated at %.9g s: the step has shrunk to %.3g s", t, h);
}

// Events that follow each other ever faster would never let the time go on.
static ItmStatus refuse_events(ItmFmuInstance* m, double t)
{
    return itm_error_set(&m->binary.error, ITM_ERR_DIVERGED, "itm_fmi_integrate", NULL,
                         "the FMU has more than %d events in one step at %.9g s", MOST_EVENTS, t);
}

ItmStatus itm_fmi_integrate(ItmFmuInstance* m, double t, double H)
{
    ItmFmuExchange* e = m->exchange;
    double end = t + H;
    e->begin = t;
    e->h = H;
    e->is_stiff = false;
    ItmStatus status = itm_fmi_feed(m, 0.0, H);
    if (status == ITM_OK && (itm_fmi_has_discrete_inputs(m) || m->next_event <= t)) {
        status = handle_event(m);
    }
    status = status == ITM_OK ? begin_step(m, t) : status;
    double h = e->h_next > 0.0 ? e->h_next : 0.1 * H;
    int nevent = 0;
    for (int n = 0; status == ITM_OK && t < end; n++) {
        if (n == STIFF_STEPS && become_stiff(m)) {
            h = 0.1 * H;
        }
        double goal = fmin(end, m->next_event);
        bool is_last = t + 1.01 * h >= goal, has_event;
        double step = is_last ? goal - t : h, error = 0.0;
        status = e->is_stiff ? try_implicit(m, t, step, &error) : try_explicit(m, t, step, &error);
        double order = e->is_stiff ? 1.0 / 3.0 : 0.2;
        double factor_next = error > 0.0 ? fmin(5.0, fmax(0.2, 0.9 * pow(error, -order))) : 5.0;
        if (status == ITM_OK && error > 1.0) {
            h = step * fmin(factor_next, 0.9);
            if (n > MOST_STEPS || t + h <= t) {
                return refuse_steps(m, t, h);
            }
            continue;
        }
        h = is_last && factor_next >= 1.0 && step < h ? h : step * factor_next;
        double taken = step;
        status = status == ITM_OK ? accept(m, t, &taken, &has_event) : status;
        if (status != ITM_OK) {
            break;
        }
        t = is_last && taken == step ? goal : t + taken;
        if (has_event || t >= m->next_event) {
            status = ++nevent <= MOST_EVENTS ? handle_event(m) : refuse_events(m, t);
        }
        // after an event and with new inputs derivatives start anew
        status = status == ITM_OK && t < end ? begin_step(m, t) : status;
    }
    e->h_next = fmin(h, H);
    return status;
}
