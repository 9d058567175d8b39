// The default stepper with a step size that follows an error tolerance.
//
// Every step is made once whole and once as two halves; the halves are kept. Their difference in the coordinates estimates
// the error, of order h^2 where the motion is smooth. At an impact it is of order h times the jump of velocity, so that
// the step shrinks until the time of the impact is known to tolerance / jump: impacts are found without looking for them.
// Velocities are left out of the estimate: beside a jump they cannot be compared.
#include "multibody/bounded.h"
#include "stepper/stepper.h"

#include "base/error.h"
#include "multibody/kinematics.h"

#include <stdlib.h>
#include <string.h>

#define RANGE 1e4  // default of largest over smallest step
#define SAFETY 0.9
#define MOST_GROWTH 2.0
#define MOST_SHRINK 0.1

typedef struct ItmAdaptiveStep {
    ItmArena arena;
    char* start;  // state before the step, as itm_data_save gives it    (size)
    size_t size;
    double* q_whole;  // coordinates after the whole step                     (nq)
} ItmAdaptiveStep;

static void lay_out(const ItmModel* m, ItmAdaptiveStep* s)
{
    s->start = ITM_TAKE(&s->arena, char, s->size);
    s->q_whole = ITM_TAKE(&s->arena, double, m->nq);
}

ItmStatus itm_adaptive_create(const ItmModel* m, ItmData* d, ItmError* error)
{
    ItmAdaptiveStep* s = calloc(1, sizeof *s);
    if (s != NULL) {
        s->size = itm_data_get_state_size(m, d);
        lay_out(m, s);
    }
    if (s == NULL || itm_arena_allocate(&s->arena) != 0) {
        free(s);
        return itm_error_set(error, ITM_ERR_MEMORY, "itm_data_create", NULL, "out of memory for the adaptive stepper");
    }
    lay_out(m, s);
    d->adaptive = s;
    return ITM_OK;
}

void itm_adaptive_destroy(ItmData* d)
{
    if (d->adaptive != NULL) {
        itm_arena_free(&d->adaptive->arena);
        free(d->adaptive);
        d->adaptive = NULL;
    }
}

// ---------------------------------------------------------------------------- step

// One step of the default stepper.
static ItmStatus make_step(const ItmModel* m, ItmData* d, double h)
{
    if (d->h != h && d->position_state == ITM_POSITION_FACTORED) {
        // the factor has the compliance of another step
        d->position_state = ITM_POSITION_CURRENT;
    }
    d->h = h;
    ItmStatus status = itm_euler_step(m, d);
    if (status == ITM_OK) {
        *d->time += h;
    }
    return status;
}

static ItmStatus go_back(const ItmModel* m, ItmData* d)
{
    return itm_data_restore(m, d, d->adaptive->start, d->adaptive->size);
}

// Largest difference of a coordinate, m or rad (quaternions: twice their components).
static double compare(const ItmModel* m, const double* q, const double* other)
{
    double largest = 0.0;
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        for (int k = 0; k < body->nq; k++) {
            double scale = body->nrot == 3 && k >= body->ntrans ? 2.0 : 1.0;
            largest = fmax(largest, scale * fabs(q[body->q_adr + k] - other[body->q_adr + k]));
        }
    }
    return largest;
}

// A whole step and two halves, whose state stays. The error estimate, not finite if one of them failed.
static ItmStatus try_step(const ItmModel* m, ItmData* d, double h, double* error)
{
    ItmAdaptiveStep* s = d->adaptive;
    ItmStatus status = make_step(m, d, h);
    memcpy(s->q_whole, d->q, sizeof(double) * (size_t)m->nq);
    status = status == ITM_OK ? go_back(m, d) : status;
    status = status == ITM_OK ? make_step(m, d, 0.5 * h) : status;
    if (status == ITM_OK && d->bounded != NULL) {
        itm_row_memory_commit(
            &d->bounded->memory);  // the second half starts from it; that of the second is left to itm_step
    }
    status = status == ITM_OK ? make_step(m, d, 0.5 * h) : status;
    *error = status == ITM_OK ? compare(m, d->q, s->q_whole) : INFINITY;
    return status;
}

ItmStatus itm_adaptive_step(const ItmModel* m, ItmData* d)
{
    ItmAdaptiveStep* s = d->adaptive;
    double tolerance = d->options.tolerance, time = *d->time;
    double h_min = d->options.min_step > 0.0 ? d->options.min_step : d->options.step / RANGE;
    double wish = *d->step_hint > 0.0 ? *d->step_hint : sqrt(h_min * d->options.step);
    itm_data_save(m, d, s->start, s->size);
    for (;;) {
        double h = itm_step_spread(d, itm_step_limit(d, wish), h_min, d->options.step), error = 0.0;
        ItmStatus status = try_step(m, d, h, &error);
        // before a stop time a step may be longer than the smallest one, and no shorter one fits
        bool is_last_try = fmin(h, wish) <= h_min * (1.0 + 1e-9);
        if (status != ITM_OK && is_last_try) {
            return status;
        }
        double factor = SAFETY * sqrt(tolerance / fmax(error, 1e-300));
        factor = fmin(MOST_GROWTH, fmax(MOST_SHRINK, factor));
        if (error <= tolerance || is_last_try) {
            d->info.unfinished += !(error <= tolerance);
            d->info.residual = error;
            *d->step_hint =
                fmin(d->options.step, fmax(h_min, factor * fmax(h, error <= tolerance && h < wish ? wish : h)));
            *d->time = time;
            itm_step_pass_time(d, h, 0.5 * h);
            return ITM_OK;
        }
        d->info.rejected++;
        wish = fmax(h_min, fmin(factor, 0.5) * h);
        status = go_back(m, d);
        if (status != ITM_OK) {
            return status;
        }
    }
}
