// Life of a co-simulation: options, pairing, memory, state, and the guard that a failed step leaves everything as it was.
#include "cosim/cosim.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char* const COUPLING_NAMES[ITM_COUPLING_COUNT] = {"zoh", "linear", "rim"};
static const char* const EXCHANGE_NAMES[ITM_EXCHANGE_COUNT] = {"impulse", "hold"};

const char* itm_coupling_name(ItmCoupling coupling)
{
    return (int)coupling >= 0 && coupling < ITM_COUPLING_COUNT ? COUPLING_NAMES[coupling] : NULL;
}

const char* itm_exchange_name(ItmExchange exchange)
{
    return (int)exchange >= 0 && exchange < ITM_EXCHANGE_COUNT ? EXCHANGE_NAMES[exchange] : NULL;
}

ItmCosimOptions itm_default_cosim_options(void)
{
    ItmCosimOptions options = {
        .macro_step = 10e-3,
        .micro_step = 0.1e-3,
        .coupling = ITM_COUPLING_RIM,
        .exchange = ITM_EXCHANGE_IMPULSE,
        .hydraulics = itm_default_hydraulic_options(),
    };
    options.hydraulics.integrator = ITM_HYDRAULIC_RK4;
    return options;
}

// ---------------------------------------------------------------------------- checks

#define REFUSE(field, ...) itm_error_set(error, ITM_ERR_INPUT, "itm_cosim_create", field, __VA_ARGS__)

// Steps of 1e-9 of H apart count as a multiple: decimal steps are not exact in binary.
#define STEP_TOLERANCE 1e-9

static ItmStatus check_options(const ItmCosimOptions* o, int* K, ItmError* error)
{
    if (!(isfinite(o->macro_step) && o->macro_step > 0.0)) {
        return REFUSE("macro_step", "macro_step must be positive, got %g s", o->macro_step);
    }
    if (!(isfinite(o->micro_step) && o->micro_step > 0.0)) {
        return REFUSE("micro_step", "micro_step must be positive, got %g s", o->micro_step);
    }
    double ratio = o->macro_step / o->micro_step, count = floor(ratio + 0.5);
    if (!(count >= 1.0 && count <= 1e9 && fabs(ratio - count) <= STEP_TOLERANCE * count)) {
        return REFUSE("macro_step", "macro_step %g s is not a multiple of micro_step %g s (%.9g of them)", o->macro_step,
                      o->micro_step, ratio);
    }
    if (itm_coupling_name(o->coupling) == NULL) {
        return REFUSE("coupling", "there is no coupling number %d", (int)o->coupling);
    }
    if (itm_exchange_name(o->exchange) == NULL) {
        return REFUSE("exchange", "there is no exchange number %d", (int)o->exchange);
    }
    *K = (int)count;
    return ITM_OK;
}

static ItmStatus check_pair(const ItmModel* m, const ItmCircuit* c, const ItmCosimPair* pairs, int i, ItmError* error)
{
    int actuator = pairs[i].actuator, cylinder = pairs[i].cylinder;
    if (actuator < 0 || actuator >= m->nactuator) {
        return REFUSE("pairs", "pair %d: there is no actuator %d among %d", i, actuator, m->nactuator);
    }
    if (cylinder < 0 || cylinder >= c->ncyl) {
        return REFUSE("pairs", "pair %d: there is no cylinder %d among %d", i, cylinder, c->ncyl);
    }
    if (c->cylinders[cylinder].motion != ITM_NONE) {
        return REFUSE("pairs", "cylinder '%s' follows a signal and cannot be moved by an actuator too",
                      c->cylinders[cylinder].name);
    }
    for (int j = 0; j < i; j++) {
        if (pairs[j].actuator == actuator || pairs[j].cylinder == cylinder) {
            return REFUSE("pairs", "pairs %d and %d share an actuator or a cylinder", j, i);
        }
    }
    return ITM_OK;
}

static ItmStatus check_rim(const ItmData* d, const ItmCosimOptions* o, ItmError* error)
{
    if (o->coupling != ITM_COUPLING_RIM) {
        return ITM_OK;
    }
    if (d->options.stepper != ITM_STEPPER_EULER) {
        return itm_error_set(error, ITM_ERR_UNSUPPORTED, "itm_cosim_create", "stepper",
                             "coupling 'rim' is made from the step of 'euler', not of '%s'",
                             itm_stepper_name(d->options.stepper));
    }
    return ITM_OK;
}

// Lengths of the actuators at the start lie inside the strokes.
static ItmStatus check_strokes(const ItmCosim* x, ItmError* error)
{
    for (int i = 0; i < x->n; i++) {
        const ItmCylinder* cylinder = &x->circuit->cylinders[x->cylinder[i]];
        double l = x->rim.s[i] - cylinder->s_0;
        if (!(l >= 0.0 && l <= cylinder->stroke)) {
            return REFUSE(cylinder->name, "cylinder '%s' starts with length %.9g m, outside its stroke [%.9g, %.9g] m",
                          cylinder->name, x->rim.s[i], cylinder->s_0, cylinder->s_0 + cylinder->stroke);
        }
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- memory

static void lay_out(ItmCosim* x)
{
    ItmArena* arena = &x->arena;
    int n = x->n, ncyl = x->circuit->ncyl;
    x->nstate = 1 + 3 * n;
    x->state = ITM_TAKE(arena, double, x->nstate);
    if (arena->block != NULL) {
        x->has_prev = x->state;
        x->w_prev = x->state + 1;
        x->force = x->w_prev + n;
        x->P0 = x->force + n;
    }
    itm_rim_lay_out(&x->rim, arena, x->model, n);
    x->cylinder = ITM_TAKE(arena, int, n);
    double** interfaces[] = {&x->s, &x->w, &x->w_end, &x->slope, &x->lambda};
    for (size_t i = 0; i < sizeof interfaces / sizeof interfaces[0]; i++) {
        *interfaces[i] = ITM_TAKE(arena, double, n);
    }
    double** cylinders[] = {&x->s_all, &x->w_all, &x->w_end_all, &x->force_all};
    for (size_t i = 0; i < sizeof cylinders / sizeof cylinders[0]; i++) {
        *cylinders[i] = ITM_TAKE(arena, double, ncyl);
    }
    x->backup = ITM_TAKE(arena, char, itm_cosim_get_state_size(x));
}

static ItmStatus allocate(ItmCosim* x, const ItmCosimPair* pairs, ItmError* error)
{
    lay_out(x);
    if (itm_arena_allocate(&x->arena) != 0) {
        return itm_error_set(error, ITM_ERR_MEMORY, "itm_cosim_create", NULL, "out of memory for a co-simulation");
    }
    lay_out(x);
    for (int i = 0; i < x->n; i++) {
        x->cylinder[i] = pairs[i].actuator;
    }
    itm_rim_init(&x->rim, x->model, x->cylinder);
    for (int i = 0; i < x->n; i++) {
        x->cylinder[i] = pairs[i].cylinder;
    }
    return ITM_OK;
}

static ItmStatus create_parts(ItmCosim* x, const ItmStepOptions* step, ItmError* error)
{
    ItmStepOptions chosen = step != NULL ? *step : itm_default_step_options();
    chosen.step = x->options.macro_step;
    ItmStatus status = itm_data_create(&x->data, x->model, &chosen, error);
    if (status == ITM_OK) {
        status = check_rim(x->data, &x->options, error);
    }
    if (status == ITM_OK) {
        status = itm_hydraulics_create(&x->hydraulics, x->circuit, &x->options.hydraulics, error);
    }
    return status;
}

static ItmStatus fill(ItmCosim* x, const ItmStepOptions* step, const ItmCosimPair* pairs, ItmError* error)
{
    ItmStatus status = create_parts(x, step, error);
    if (status == ITM_OK) {
        status = allocate(x, pairs, error);
    }
    if (status == ITM_OK) {
        itm_cosim_reset(x);
        status = check_strokes(x, error);
    }
    return status;
}

ItmStatus itm_cosim_create(ItmCosim** cosim, const ItmModel* m, const ItmStepOptions* step, const ItmCircuit* c,
                           const ItmCosimPair* pairs, int npair, const ItmCosimOptions* options, ItmError* error)
{
    if (cosim == NULL || m == NULL || c == NULL || pairs == NULL || npair < 1) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "cosim, model, circuit or pairs is missing");
    }
    *cosim = NULL;
    ItmCosimOptions chosen = options != NULL ? *options : itm_default_cosim_options();
    int K = 0;
    ItmStatus status = check_options(&chosen, &K, error);
    for (int i = 0; i < npair && status == ITM_OK; i++) {
        status = check_pair(m, c, pairs, i, error);
    }
    if (status != ITM_OK) {
        return status;
    }
    ItmCosim* x = calloc(1, sizeof *x);
    if (x == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory for a co-simulation");
    }
    x->model = m;
    x->circuit = c;
    x->options = chosen;
    x->n = npair;
    x->K = K;
    x->h = chosen.macro_step / K;
    x->use_heun = chosen.hydraulics.integrator != ITM_HYDRAULIC_EULER;
    status = fill(x, step, pairs, error);
    if (status != ITM_OK) {
        itm_cosim_destroy(x);
        return status;
    }
    *cosim = x;
    return ITM_OK;
}

void itm_cosim_destroy(ItmCosim* x)
{
    if (x != NULL) {
        itm_data_destroy(x->data);
        itm_hydraulics_destroy(x->hydraulics);
        itm_arena_free(&x->arena);
        free(x);
    }
}

void itm_cosim_reset(ItmCosim* x)
{
    itm_reset(x->model, x->data);
    itm_hydraulics_reset(x->circuit, x->hydraulics);
    memset(x->state, 0, sizeof(double) * (size_t)x->nstate);
    itm_data_refresh(x->model, x->data);
    itm_rim_measure(x->model, x->data, &x->rim);
    itm_exchange_compute_forces(x, x->force, x->rim.s, x->rim.w);
    for (int i = 0; i < x->n; i++) {
        x->data->input[x->rim.actuator[i]] = x->force[i];
    }
}

// ---------------------------------------------------------------------------- state

size_t itm_cosim_get_state_size(const ItmCosim* x)
{
    return itm_state_get_size(x->model, x->data) + itm_hydraulics_get_state_size(x->hydraulics) +
           sizeof(double) * (size_t)x->nstate;
}

static void copy_out(const ItmCosim* x, char* bytes)
{
    size_t mechanism = itm_state_get_size(x->model, x->data);
    size_t circuit = itm_hydraulics_get_state_size(x->hydraulics);
    itm_state_save(x->model, x->data, bytes, mechanism);
    itm_hydraulics_save(x->hydraulics, bytes + mechanism, circuit);
    memcpy(bytes + mechanism + circuit, x->state, sizeof(double) * (size_t)x->nstate);
}

static void copy_in(ItmCosim* x, const char* bytes)
{
    size_t mechanism = itm_state_get_size(x->model, x->data);
    size_t circuit = itm_hydraulics_get_state_size(x->hydraulics);
    itm_state_restore(x->model, x->data, bytes, mechanism);
    itm_hydraulics_restore(x->hydraulics, bytes + mechanism, circuit);
    memcpy(x->state, bytes + mechanism + circuit, sizeof(double) * (size_t)x->nstate);
}

ItmStatus itm_cosim_save(const ItmCosim* x, void* bytes, size_t size)
{
    if (bytes == NULL || size != itm_cosim_get_state_size(x)) {
        return ITM_ERR_ARGUMENT;
    }
    copy_out(x, bytes);
    return ITM_OK;
}

ItmStatus itm_cosim_restore(ItmCosim* x, const void* bytes, size_t size)
{
    if (bytes == NULL || size != itm_cosim_get_state_size(x)) {
        return itm_error_set(&x->error, ITM_ERR_ARGUMENT, __func__, NULL, "a state has %zu bytes, got %zu",
                             itm_cosim_get_state_size(x), size);
    }
    copy_in(x, bytes);
    return ITM_OK;
}

// ---------------------------------------------------------------------------- step

// The first body whose coordinates or velocities are not finite.
static ItmStatus check_mechanism(ItmCosim* x)
{
    const ItmModel* m = x->model;
    for (int i = 0; i < m->nbody; i++) {
        const ItmBody* body = &m->bodies[i];
        double sum = 0.0;
        for (int k = 0; k < body->nq; k++) {
            sum += x->data->q[body->q_adr + k];
        }
        for (int k = 0; k < body->nv; k++) {
            sum += x->data->v[body->v_adr + k];
        }
        if (!isfinite(sum)) {
            return itm_error_set(&x->error, ITM_ERR_NOT_FINITE, "itm_cosim_step", body->name,
                                 "mechanism: body '%s' has a position or velocity that is not finite after the step to "
                                 "t = %.9g s; take a smaller macro step",
                                 body->name, itm_data_get_time(x->data));
        }
    }
    return ITM_OK;
}

ItmStatus itm_cosim_step(ItmCosim* x)
{
    bool use_impulse = x->options.coupling == ITM_COUPLING_RIM && x->options.exchange == ITM_EXCHANGE_IMPULSE;
    copy_out(x, x->backup);
    ItmStatus status = use_impulse ? itm_exchange_step_impulse(x) : itm_exchange_step_hold(x);
    if (status == ITM_OK) {
        status = check_mechanism(x);
    }
    if (status != ITM_OK) {
        copy_in(x, x->backup);
    }
    return status;
}

// ---------------------------------------------------------------------------- looking

const ItmError* itm_cosim_get_error(const ItmCosim* x)
{
    return &x->error;
}

double itm_cosim_get_time(const ItmCosim* x)
{
    return itm_data_get_time(x->data);
}

ItmData* itm_cosim_get_data(ItmCosim* x)
{
    return x->data;
}

ItmHydraulics* itm_cosim_get_hydraulics(ItmCosim* x)
{
    return x->hydraulics;
}

ItmInterfaceState itm_cosim_get_interface(ItmCosim* x, int pair)
{
    if (pair < 0 || pair >= x->n) {
        return (ItmInterfaceState){NAN, NAN, NAN, NAN};
    }
    itm_data_refresh(x->model, x->data);
    itm_rim_measure(x->model, x->data, &x->rim);
    return (ItmInterfaceState){x->rim.s[pair], x->rim.w[pair], x->force[pair], x->P0[pair]};
}
