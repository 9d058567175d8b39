// Growth of a disturbance in a system with foreign mechanisms, whose states are out of reach.
//
// A foreign mechanism is disturbed through its ports: from its saved state it takes the last two macro steps again, with a little more
// force in one of them. From there the whole system runs on, and positions, rates and forces of the ports and states of the partners are
// compared with the run that was not disturbed. The responses y_k = C A^k b have the eigenvalues of the linearised macro step A, as far
// as they can be excited and seen at the ports; growth that cannot is not that of the coupling. With the block Hankel matrices
//   H0 = [y_(i+j)],  H1 = [y_(i+j+1)],  H0 = U S V'
// they are the eigenvalues of S^-1/2 U' H1 V S^-1/2                                       [juang-pappa, sec. realization algorithm]
// Singular values as small as the noise of differences are left out. An event in the undisturbed motion, which is no growth, shows in the
// last samples only: of all samples and of the first two thirds, the smaller radius counts.
#include "cosim/advice.h"

#include "base/error.h"
#include "math/eigen.h"
#include "math/eigen_general.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES 25           // of a response, the first at the disturbance
#define LEAST_SAMPLES 6      // for eigenvalues
#define LONG 0.3             // s: within this the undisturbed motion should not change much,
#define LONG_SAMPLES 9       // but there are at least so many samples
#define MARGIN 2             // samples before a breakdown of the undisturbed run that are not used
#define SMALL_RATE 1e-5      // m/s, rad/s: of a disturbance,
#define LARGER 10.0          // made so many times larger
#define MOST_RATE 1e-3       // up to this, where responses upwards and downwards differ
#define MOST_EVEN 0.2        // by more than this share
#define MOST_GROWTH 1e4      // of the rates: beyond, a response is not that of a small disturbance any more
#define LEAST_SINGULAR 1e-3  // of the largest: below are noise, and slow modes that change with the undisturbed motion

typedef struct Response {
    ItmCosim* x;
    ItmAdviceWatch watch;
    int nsteps;            // macro steps from sample to sample
    int nrate;             // rates among the outputs; they come first
    int p, q;              // outputs, disturbances
    int most;              // samples at most
    int nsample;           // that all runs have
    double t;              // of the state `before`, s
    char *before, *start;  // states of the system: before its last two macro steps, and after
    void* bytes;           // disturbed state of a mechanism
    double* forces;        // mean forces over these two steps, mechanism after mechanism (2 x nrate)
    int first;             // those of the present mechanism
    double* force;         // scratch                                                   (most ports)
    double *s, *w;         // scratch                                                   (most ports)
    double* free;          // outputs of the undisturbed run                            (SAMPLES x p)
    double *plus, *minus;  //                                                           (SAMPLES x p)
    double* y;             // responses, disturbance after disturbance                  (q x SAMPLES x p)
    double* scale;         // of the outputs: 1 / the largest response                  (p)
    double even;           // largest share of a response that is even in the disturbance
    ItmStatus status;      // of a step that ended a run early
} Response;

// ---------------------------------------------------------------------------- outputs

// Rates, positions and forces of the ports of foreign mechanisms, then states of their partners. y NULL: only counts.
static int read_outputs(const Response* r, double* y)
{
    ItmCosim* x = r->x;
    int n = 0, nrate = r->nrate;
    for (int i = 0; i < x->nmechanism; i++) {
        ItmMechanism* part = &x->mechanisms[i];
        for (int k = 0; k < part->nbond && part->foreign != NULL; k++, n++) {
            const ItmBondMemory* memory = x->bonds[part->bonds[k]].memory;
            if (y != NULL && k == 0) {
                part->status = itm_foreign_measure(part->foreign, r->s, r->w, &x->error);
            }
            if (y != NULL) {
                y[n] = r->w[k];
                y[nrate + n] = r->s[k];
                y[2 * nrate + n] = memory->force;
            }
        }
    }
    n *= 3;
    for (int i = 0; i < x->nsubsystem; i++) {
        const ItmSubsystem* table = &x->subsystems[i].table;
        if (table->get_states != NULL && itm_advice_is_partner(x, i)) {
            if (y != NULL) {
                table->get_states(table->self, y + n);
            }
            n += table->nstate;
        }
    }
    return n;
}

// ---------------------------------------------------------------------------- runs

// Samples from the present state on; their number, fewer where a step fails. Only a spent budget is a failure.
static ItmStatus run(Response* r, double* y, int* nsample)
{
    read_outputs(r, y);
    *nsample = 1;
    for (int k = 1; k < r->nsample; k++) {
        ItmStatus status = ITM_OK;
        for (int i = 0; i < r->nsteps && status == ITM_OK; i++) {
            if (r->watch.is_over != NULL && r->watch.is_over(r->watch.context)) {
                return itm_advice_refuse_budget(r->x);
            }
            status = itm_cosim_step(r->x);
        }
        if (status != ITM_OK) {
            r->status = status;
            return ITM_OK;
        }
        read_outputs(r, y + (size_t)k * (size_t)r->p);
        *nsample = k + 1;
    }
    return ITM_OK;
}

// The state `start`, with a mechanism that took the last two macro steps with `delta` more force at a port in one of them. change: of the
// rate of that port from w, m/s
static ItmStatus disturb(Response* r, ItmMechanism* part, int port, int step, double delta, double w, double* change)
{
    ItmCosim* x = r->x;
    ItmForeign* f = part->foreign;
    ItmStatus status = itm_cosim_restore(x, r->before, itm_cosim_get_state_size(x));
    for (int i = 0; i < 2 && status == ITM_OK; i++) {
        memcpy(r->force, r->forces + (size_t)i * (size_t)r->nrate + r->first, sizeof(double) * (size_t)f->n);
        r->force[port] += i == step ? delta : 0.0;
        status = itm_foreign_repeat(f, r->t + i * x->step, x->step, r->force, &x->error);
    }
    status = status == ITM_OK ? itm_foreign_measure(f, r->s, r->w, &x->error) : status;
    *change = r->w[port] - w;
    status = status == ITM_OK ? f->table.save(f->table.self, r->bytes) : status;
    status = status == ITM_OK ? itm_cosim_restore(x, r->start, itm_cosim_get_state_size(x)) : status;
    return status == ITM_OK ? f->table.restore(f->table.self, r->bytes) : status;
}

static ItmStatus run_disturbed(Response* r, ItmMechanism* part, int port, int step, double delta, double* y)
{
    double change;
    int nsample;
    ItmStatus status = r->status == ITM_OK ? disturb(r, part, port, step, delta, 0.0, &change) : ITM_OK;
    if (r->status != ITM_OK) {
        return ITM_OK;  // after a breakdown there are no more runs
    }
    status = status == ITM_OK ? run(r, y, &nsample) : status;
    r->nsample = status == ITM_OK && nsample < r->nsample ? nsample : r->nsample;
    return status;
}

// Half the difference of two runs into y (SAMPLES x p). Returns the share that is even in the disturbance.
static double subtract(const Response* r, double* y)
{
    double even = 0.0, odd = 0.0;
    for (int k = 0; k < r->nsample; k++) {
        for (int i = 0; i < r->p; i++) {
            int at = k * r->p + i;
            y[at] = 0.5 * (r->plus[at] - r->minus[at]);
            if (i < r->nrate) {
                odd = fmax(odd, fabs(y[at]));
                even = fmax(even, fabs(0.5 * (r->plus[at] + r->minus[at]) - r->free[at]));
            }
        }
    }
    return odd > 0.0 ? even / odd : 0.0;
}

// Response to more and less force at a port, of a size that changes its rate by `rate`. A port that nothing moves has none.
static ItmStatus respond_at(Response* r, ItmMechanism* part, int port, int step, double rate, double* y)
{
    double w = 0.0, change = 0.0, delta = fmax(1.0, 1e-3 * fabs(r->forces[r->first + port]));
    ItmStatus status = disturb(r, part, port, step, 0.0, 0.0, &w);
    status = status == ITM_OK ? disturb(r, part, port, step, delta, w, &change) : status;
    if (status != ITM_OK || change == 0.0) {
        memset(y, 0, sizeof *y * (size_t)(SAMPLES * r->p));
        return status;
    }
    delta *= rate / fabs(change);
    status = run_disturbed(r, part, port, step, delta, r->plus);
    status = status == ITM_OK ? run_disturbed(r, part, port, step, -delta, r->minus) : status;
    r->even = status == ITM_OK ? fmax(r->even, subtract(r, y)) : r->even;
    return status;
}

// The undisturbed run starts like the disturbed ones, from steps taken again.
static ItmStatus respond(Response* r, double rate)
{
    ItmCosim* x = r->x;
    ItmStatus status = ITM_OK;
    int q = 0, n = (int)fmin(LONG / (x->step * r->nsteps) + 1.5, SAMPLES);
    n = n > LONG_SAMPLES ? n : LONG_SAMPLES;
    r->nsample = n < r->most ? n : r->most;
    r->even = 0.0;
    r->first = 0;
    for (int i = 0; i < x->nmechanism && status == ITM_OK; i++) {
        ItmMechanism* part = &x->mechanisms[i];
        ItmForeign* f = part->foreign;
        status = f != NULL ? run_disturbed(r, part, 0, 0, 0.0, r->free) : status;
        for (int k = 0; f != NULL && k < 2 * f->n && status == ITM_OK && r->status == ITM_OK; k++) {
            status = respond_at(r, part, k / 2, k % 2, rate, r->y + (size_t)q++ * (size_t)(SAMPLES * r->p));
        }
        r->first += f != NULL ? f->n : 0;
    }
    r->q = q;
    return status;
}

// ---------------------------------------------------------------------------- eigenvalues

// Growth of the rates from the disturbance to sample k, of the response that grows most.
static double find_growth(const Response* r, int k)
{
    double most = 0.0;
    for (int j = 0; j < r->q; j++) {
        const double *y = r->y + (size_t)j * (size_t)(SAMPLES * r->p), *now = y + (size_t)k * (size_t)r->p;
        double first = 0.0, last = 0.0;
        for (int i = 0; i < r->nrate; i++) {
            first = fmax(first, fabs(y[i]));
            last = isfinite(now[i]) ? fmax(last, fabs(now[i])) : INFINITY;
        }
        most = first > 0.0 ? fmax(most, last / first) : most;
    }
    return most;
}

static void scale_outputs(const Response* r, int nsample)
{
    for (int i = 0; i < r->p; i++) {
        double most = 0.0;
        for (int j = 0; j < r->q; j++) {
            for (int k = 0; k < nsample; k++) {
                most = fmax(most, fabs(r->y[(j * SAMPLES + k) * r->p + i]));
            }
        }
        r->scale[i] = most > 0.0 ? 1.0 / most : 0.0;
    }
}

// Entry of H0' H_shift: columns a and b are (sample j, disturbance), rows (sample i, output).
static double multiply(const Response* r, int nrow, int a, int b, int shift)
{
    const double* ya = r->y + (size_t)((a % r->q) * SAMPLES + a / r->q) * (size_t)r->p;
    const double* yb = r->y + (size_t)((b % r->q) * SAMPLES + b / r->q + shift) * (size_t)r->p;
    double sum = 0.0;
    for (int k = 0; k < nrow * r->p; k++) {
        double scale = r->scale[k % r->p];
        sum += scale * scale * ya[k] * yb[k];
    }
    return sum;
}

// S^-1 V' H0' H1 V S^-1 with V the eigenvectors of H0' H0 whose eigenvalues S^2 count. room (3 n^2 + 3 n). Returns its order through m.
static ItmStatus realise(const Response* r, int nrow, int n, double* room, double** A, int* m)
{
    double *V = room, *B = V + (size_t)n * (size_t)n, *mu = B + (size_t)n * (size_t)n;
    *A = mu + 3 * (size_t)n;
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n; b++) {
            V[a * n + b] = multiply(r, nrow, a, b, 0);
            B[a * n + b] = multiply(r, nrow, a, b, 1);
        }
    }
    ItmStatus status = itm_eigen_symmetric(V, mu, n);
    int first = n;
    double least = LEAST_SINGULAR * LEAST_SINGULAR * mu[n - 1];
    while (status == ITM_OK && first > 0 && mu[first - 1] > least && mu[first - 1] > 0.0) {
        first--;
    }
    *m = n - first;
    for (int i = 0; i < *m && status == ITM_OK; i++) {
        const double* v = V + (size_t)(first + i) * (size_t)n;
        for (int j = 0; j < *m; j++) {
            const double* u = V + (size_t)(first + j) * (size_t)n;
            double sum = 0.0;
            for (int k = 0; k < n * n; k++) {
                sum += v[k / n] * B[k] * u[k % n];
            }
            (*A)[i * *m + j] = sum / sqrt(mu[first + i] * mu[first + j]);
        }
    }
    return status;
}

static ItmStatus find_radius(const Response* r, int nsample, double* radius)
{
    int nrow = nsample / 2, n = (nsample - nrow) * r->q, m = 0;
    double *A, *room = malloc(sizeof *room * (size_t)(3 * n * n + 3 * n + 1));
    if (room == NULL) {
        return ITM_ERR_MEMORY;
    }
    scale_outputs(r, nsample);
    ItmStatus status = realise(r, nrow, n, room, &A, &m);
    double* re = room + 2 * (size_t)n * (size_t)n + (size_t)n;
    status = status == ITM_OK && m > 0 ? itm_eigen_general(A, re, re + n, m) : status;
    *radius = 0.0;
    for (int i = 0; i < m && status == ITM_OK; i++) {
        *radius = fmax(*radius, hypot(re[i], re[n + i]));
    }
    free(room);
    return status;
}

// Where rates grow far, the growth itself is the radius; a run that fails before anything is seen leaves it unknown.
static ItmStatus judge(Response* r, double* radius)
{
    ItmCosim* x = r->x;
    int last = 1;
    while (last < r->nsample - 1 && find_growth(r, last) < MOST_GROWTH) {
        last++;
    }
    double growth = r->nsample > 1 ? find_growth(r, last) : 0.0;
    if (growth >= MOST_GROWTH) {
        *radius = pow(fmin(growth, 1e100), 1.0 / (last * r->nsteps));
        return ITM_OK;
    }
    if (r->nsample < LEAST_SAMPLES) {
        return r->status;
    }
    if (r->even > MOST_EVEN) {
        return itm_error_set(
            &x->error, ITM_ERR_UNSUPPORTED, "itm_cosim_compute_radius", NULL,
            "the foreign mechanism responds differently to more and to less force (contact, friction, a "
            "coarse tolerance): nothing is known beyond runs");
    }
    double of_first = INFINITY;
    ItmStatus status = find_radius(r, r->nsample, radius);
    int nfirst = 2 * r->nsample / 3;
    status = status == ITM_OK && nfirst >= LEAST_SAMPLES ? find_radius(r, nfirst, &of_first) : status;
    *radius = pow(fmin(*radius, of_first), 1.0 / r->nsteps);
    return status == ITM_OK
               ? ITM_OK
               : itm_error_set(&x->error, status, "itm_cosim_compute_radius", NULL,
                               "the eigenvalues of the linearised step were not found: %s", itm_status_message(status));
}

// ---------------------------------------------------------------------------- room

static int count_disturbances(const ItmCosim* x, int* most_ports, size_t* most_bytes)
{
    int q = 0;
    *most_ports = 0;
    *most_bytes = 0;
    for (int i = 0; i < x->nmechanism; i++) {
        const ItmForeign* f = x->mechanisms[i].foreign;
        if (f != NULL) {
            q += 2 * f->n;
            *most_ports = f->n > *most_ports ? f->n : *most_ports;
            *most_bytes = f->state_size > *most_bytes ? f->state_size : *most_bytes;
        }
    }
    return q;
}

static bool place(Response* r, double** block)
{
    int most_ports;
    size_t most_bytes, size = itm_cosim_get_state_size(r->x);
    int q = count_disturbances(r->x, &most_ports, &most_bytes);
    r->nrate = q / 2;
    r->p = read_outputs(r, NULL);
    size_t run_size = (size_t)(SAMPLES * r->p), n = (size_t)most_ports;
    *block = calloc((size_t)(q + 3) * run_size + (size_t)(r->p + 2 * r->nrate) + 3 * n + 1, sizeof **block);
    r->before = malloc(2 * size + most_bytes + 1);
    if (*block == NULL || r->before == NULL) {
        return false;
    }
    r->start = r->before + size;
    r->bytes = r->start + size;
    r->y = *block;
    r->free = r->y + (size_t)q * run_size;
    r->plus = r->free + run_size;
    r->minus = r->plus + run_size;
    r->scale = r->minus + run_size;
    r->forces = r->scale + r->p;
    r->force = r->forces + 2 * (size_t)r->nrate;
    r->s = r->force + n;
    r->w = r->s + n;
    return true;
}

// A macro step, and its mean forces.
static ItmStatus step_and_note(Response* r, int step)
{
    ItmStatus status = itm_cosim_step(r->x);
    double* at = r->forces + (size_t)step * (size_t)r->nrate;
    for (int i = 0; i < r->x->nmechanism; i++) {
        const ItmForeign* f = r->x->mechanisms[i].foreign;
        if (f != NULL) {
            memcpy(at, f->f, sizeof(double) * (size_t)f->n);
            at += f->n;
        }
    }
    return status;
}

// Responses of a rate that is large enough to be odd in the disturbance.
static ItmStatus respond_well(Response* r)
{
    ItmStatus status = ITM_OK;
    bool is_done = false;
    for (double rate = SMALL_RATE; !is_done && status == ITM_OK; rate *= LARGER) {
        status = respond(r, rate);
        is_done = r->status != ITM_OK || r->even <= MOST_EVEN || rate * LARGER > 1.01 * MOST_RATE;
    }
    return status;
}

// A run that breaks down ends a process: from a reset, the others end before that.
static ItmStatus respond_before_failure(Response* r)
{
    ItmStatus status = respond_well(r);
    if (status == ITM_OK && r->status != ITM_OK && r->nsample >= LEAST_SAMPLES + MARGIN) {
        r->most = r->nsample - MARGIN;
        r->status = ITM_OK;
        status = itm_cosim_reset(r->x);
        status = status == ITM_OK ? respond_well(r) : status;
    }
    return status;
}

ItmStatus itm_advice_respond(ItmCosim* x, int nsteps, ItmAdviceWatch watch, double* radius)
{
    Response r = {.x = x, .watch = watch, .nsteps = nsteps, .most = SAMPLES};
    double* block = NULL;
    bool has_room = place(&r, &block);
    ItmStatus status = has_room ? ITM_OK : ITM_ERR_MEMORY;
    if (has_room) {
        r.t = itm_cosim_get_time(x);
        itm_cosim_save(x, r.before, itm_cosim_get_state_size(x));
        status = step_and_note(&r, 0);
        status = status == ITM_OK ? step_and_note(&r, 1) : status;
        itm_cosim_save(x, r.start, itm_cosim_get_state_size(x));
    }
    status = status == ITM_OK ? respond_before_failure(&r) : status;
    status = status == ITM_OK ? judge(&r, radius) : status;
    free(block);
    free(r.before);
    return has_room ? status : itm_error_set(&x->error, status, "itm_cosim_compute_radius", NULL, "out of memory");
}
