// Linearised macro step: how much a small disturbance grows from one communication point to the next.
//
// z -> F(z) is one macro step; z holds coordinates and velocities of bodies at interfaces, pressures and spools of the circuits, and
// what bonds remember. The Jacobian comes by central differences over whole steps, so it is that of the scheme that runs, with
// all that rides in it; contacts answer as they do to small disturbances of either sign.
#include "cosim/cosim.h"

#include "base/error.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STATES 600     // of the linearised step: its eigenvalues take (states)^3 operations
#define SMALL 1e-6          // disturbance of coordinates (m, rad) and velocities
#define SMALL_SHARE 1e-5    // of pressures and forces
#define LEAST_PRESSURE 1e5  // Pa
#define LEAST_FORCE 100.0   // N
#define PAST_STEPS 2        // until predictions have their past

// ---------------------------------------------------------------------------- states

// Calls visit(context, address, disturbance) for every state.
typedef void Visit(void* context, double* state, double small);

static double share(double value, double least)
{
    return SMALL_SHARE * fmax(fabs(value), least);
}

// Bodies that joints connect with an interface. Others (a block that lies there) meet them by contact only, and their own contacts
// answer a disturbance upwards and downwards differently: that is no growth.
static void visit_mechanism(ItmMechanism* part, Visit* visit, void* context)
{
    const ItmModel* m = part->model;
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        if (part->nbond > 0 && !part->rim.is_touched[m->component[i]]) {
            continue;
        }
        for (int k = 0; k < body->nq; k++) {
            visit(context, &part->data->q[body->q_adr + k], SMALL);
        }
        for (int k = 0; k < body->nv; k++) {
            visit(context, &part->data->v[body->v_adr + k], SMALL);
        }
    }
}

static void visit_states(ItmCosim* x, Visit* visit, void* context)
{
    for (int i = 0; i < x->nmechanism; i++) {
        visit_mechanism(&x->mechanisms[i], visit, context);
    }
    for (int i = 0; i < x->nmember; i++) {
        ItmHydraulics* d = x->members[i].hydraulics;
        for (int k = 0; d != NULL && k < d->circuit->nx; k++) {
            visit(context, &d->x[k], k < d->circuit->nvol ? share(d->x[k], LEAST_PRESSURE) : SMALL);
        }
    }
    for (int i = 0; i < x->nbond; i++) {
        ItmBondMemory* memory = x->bonds[i].memory;
        visit(context, &memory->active, share(memory->active, LEAST_FORCE));
        visit(context, &memory->w_past[0], SMALL);
        visit(context, &memory->w_past[1], SMALL);
    }
}

typedef struct Walk {
    double* values;  // to copy to, or NULL
    int count;
    int chosen;      // state to disturb
    double times;    // by this many times its disturbance
} Walk;

static void read_state(void* context, double* state, double small)
{
    Walk* walk = context;
    (void)small;
    if (walk->values != NULL) {
        walk->values[walk->count] = *state;
    }
    walk->count++;
}

static void disturb_state(void* context, double* state, double small)
{
    Walk* walk = context;
    if (walk->count++ == walk->chosen) {
        *state += walk->times * small;
    }
}

static void read_scale(void* context, double* state, double small)
{
    Walk* walk = context;
    (void)state;
    walk->values[walk->count++] = small;
}

// ---------------------------------------------------------------------------- Jacobian

typedef struct Linear {
    int n;
    char* start;                 // state of the system where it is linearised
    double *scale, *plus, *minus; // (n)
    double* J;                   // column by column, in units of the disturbances (n x n)
    double *re, *im;             // eigenvalues (n)
} Linear;

// F(start + times * disturbance of state j)
static ItmStatus step_disturbed(ItmCosim* x, const Linear* l, int j, double times, double* z)
{
    itm_cosim_restore(x, l->start, itm_cosim_get_state_size(x));
    Walk disturbing = {.chosen = j, .times = times}, reading = {.values = z};
    visit_states(x, disturb_state, &disturbing);
    for (int i = 0; i < x->nmechanism; i++) {
        x->mechanisms[i].data->position_state = ITM_POSITION_STALE;
    }
    ItmStatus status = itm_cosim_step(x);
    visit_states(x, read_state, &reading);
    return status;
}

static ItmStatus differentiate(ItmCosim* x, Linear* l)
{
    Walk scaling = {.values = l->scale};
    visit_states(x, read_scale, &scaling);
    for (int j = 0; j < l->n; j++) {
        ItmStatus status = step_disturbed(x, l, j, 1.0, l->plus);
        status = status == ITM_OK ? step_disturbed(x, l, j, -1.0, l->minus) : status;
        if (status != ITM_OK) {
            return status;
        }
        for (int i = 0; i < l->n; i++) {
            l->J[(size_t)j * (size_t)l->n + (size_t)i] = 0.5 * (l->plus[i] - l->minus[i]) / l->scale[i];
        }
    }
    return ITM_OK;
}

static ItmStatus find_radius(ItmCosim* x, Linear* l, double* radius)
{
    int info = LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'N', l->n, l->J, l->n, l->re, l->im, NULL, 1, NULL, 1);
    if (info != 0) {
        return itm_error_set(&x->error, ITM_ERR_NOT_FINITE, "itm_cosim_compute_radius", NULL,
                             "the linearised step has no eigenvalues (LAPACK %d)", info);
    }
    *radius = 0.0;
    for (int i = 0; i < l->n; i++) {
        *radius = fmax(*radius, hypot(l->re[i], l->im[i]));
    }
    return ITM_OK;
}

static ItmStatus linearise(ItmCosim* x, Linear* l, double* radius)
{
    for (int k = 0; k < PAST_STEPS; k++) {
        ItmStatus status = itm_cosim_step(x);
        if (status != ITM_OK) {
            return status;
        }
    }
    itm_cosim_save(x, l->start, itm_cosim_get_state_size(x));
    ItmStatus status = differentiate(x, l);
    return status == ITM_OK ? find_radius(x, l, radius) : status;
}

ItmStatus itm_cosim_compute_radius(ItmCosim* x, double* radius)
{
    Walk counting = {0};
    visit_states(x, read_state, &counting);
    int n = counting.count;
    if (n == 0 || n > MOST_STATES) {
        return itm_error_set(&x->error, ITM_ERR_UNSUPPORTED, __func__, NULL,
                             "the linearised step has %d states, more than the %d that are worth an answer", n,
                             MOST_STATES);
    }
    size_t size = itm_cosim_get_state_size(x), reals = (size_t)n * (size_t)(n + 5);
    Linear l = {.n = n};
    double* block = malloc(sizeof *block * reals);
    char* bytes = malloc(2 * size);
    ItmStatus status = block != NULL && bytes != NULL
                           ? ITM_OK
                           : itm_error_set(&x->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    if (status == ITM_OK) {
        l.start = bytes + size;
        l.scale = block;
        l.plus = l.scale + n;
        l.minus = l.plus + n;
        l.re = l.minus + n;
        l.im = l.re + n;
        l.J = l.im + n;
        itm_cosim_save(x, bytes, size);
        status = linearise(x, &l, radius);
        itm_cosim_restore(x, bytes, size);
    }
    free(block);
    free(bytes);
    return status;
}
