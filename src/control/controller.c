// A running control: one block of memory, state first.
#include "control/control.h"

#include "base/error.h"
#include "base/guard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A sample counts as reached this share of the sample time before, because times are rounded.
#define SAMPLE_SLACK 1e-6

// clang-format off
struct ItmController {
    const ItmControl* control;
    ItmArena arena;
    ItmError error;

    // state: saved and restored as one copy
    double*  state;         // all of it                                                   (nstate)
    int      nstate;
    double*  y;             // values of the blocks                                        (nblock)
    double*  last;          // number of the sample at which a block took part last        (nblock)
    double*  x;             // states of the blocks, samples of delays at the end          (nx)

    // of the present sample: itm_controller_evaluate
    double*  u;             // values of the expressions                                   (nblock x ITM_SLOT_COUNT)
    double*  signal;        //                                                             (nsignal)
    double*  signal_rate;   //                                                             (nsignal)
    double*  number;        // of the sample, of blocks with a sample time                 (nblock)
    bool*    is_due;        // whether a block takes part                                  (nblock)
    double*  stack;         //                                                             (nstack)
    double*  backup;        // state before, without the samples of delays                 (nstate - samples)
};
// clang-format on

// ---------------------------------------------------------------------------- memory

static int count_backup(const ItmControl* c)
{
    return 2 * c->nblock + c->nx_scalar;
}

static void lay_out(const ItmControl* c, ItmController* d)
{
    ItmArena* arena = &d->arena;
    d->nstate = 2 * c->nblock + c->nx;
    d->state = ITM_TAKE(arena, double, d->nstate);
    if (d->state != NULL) {
        d->y = d->state;
        d->last = d->y + c->nblock;
        d->x = d->last + c->nblock;
    }
    d->u = ITM_TAKE(arena, double, c->nblock* ITM_SLOT_COUNT);
    d->signal = ITM_TAKE(arena, double, c->nsignal);
    d->signal_rate = ITM_TAKE(arena, double, c->nsignal);
    d->number = ITM_TAKE(arena, double, c->nblock);
    d->is_due = ITM_TAKE(arena, bool, c->nblock);
    d->stack = ITM_TAKE(arena, double, c->nstack);
    d->backup = ITM_TAKE(arena, double, count_backup(c));
}

size_t itm_controller_measure(const ItmControl* c)
{
    ItmController d = {0};
    lay_out(c, &d);
    return sizeof d + d.arena.used;
}

ItmStatus itm_controller_create(ItmController** controller, const ItmControl* c, ItmError* error)
{
    if (controller == NULL || c == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "controller or control is NULL");
    }
    *controller = NULL;
    ItmController* d = calloc(1, sizeof *d);
    if (d != NULL) {
        lay_out(c, d);
    }
    if (d == NULL || itm_arena_allocate(&d->arena) != 0) {
        free(d);
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory for a control of %d blocks",
                             c->nblock);
    }
    d->control = c;
    lay_out(c, d);
    itm_controller_reset(c, d);
    *controller = d;
    return ITM_OK;
}

void itm_controller_destroy(ItmController* d)
{
    if (d == NULL) {
        return;
    }
    itm_arena_free(&d->arena);
    free(d);
}

void itm_controller_reset(const ItmControl* c, ItmController* d)
{
    ITM_GUARD_VOID(c != NULL && d != NULL);
    for (int i = 0; i < c->nblock; i++) {
        const ItmControlBlock* block = &c->blocks[i];
        d->y[i] = 0.0;
        d->last[i] = -INFINITY;
        itm_control_kind_reset(block, d->x + block->x_adr, d->x + block->ring_adr);
    }
}

// ---------------------------------------------------------------------------- evaluating

static ItmStatus fail(ItmController* d, const char* name, const char* what, double value, double t)
{
    return itm_error_set(&d->error, ITM_ERR_NOT_FINITE, "itm_controller_step", name, "%s '%s' is %g at t = %.9g s",
                         what, name, value, t);
}

static ItmStatus check_inputs(const ItmControl* c, ItmController* d, double t, const double* inputs)
{
    if (!isfinite(t) || (inputs == NULL && c->ninput > 0)) {
        return itm_error_set(&d->error, ITM_ERR_ARGUMENT, "itm_controller_step", NULL,
                             "time %g, %d inputs: the time must be finite and the inputs be given", t, c->ninput);
    }
    for (int i = 0; i < c->ninput; i++) {
        if (!isfinite(inputs[i])) {
            return fail(d, c->input_name[i], "input", inputs[i], t);
        }
    }
    return ITM_OK;
}

// Signals at t, and which blocks take part: those whose sample time has reached another multiple.
static void begin(const ItmControl* c, ItmController* d, double t)
{
    for (int i = 0; i < c->nsignal; i++) {
        ItmSignalValue value = itm_signal_compute(&c->signals[i], t);
        d->signal[i] = value.x;
        d->signal_rate[i] = value.x_dot;
    }
    for (int i = 0; i < c->nblock; i++) {
        double sample = c->blocks[i].def.sample;
        d->number[i] = sample > 0 ? floor(t / sample + SAMPLE_SLACK) : 0.0;
        d->is_due[i] = sample <= 0 || d->number[i] != d->last[i];
    }
}

static void run_expressions(const ItmControl* c, ItmController* d, int i, const ItmProgramScope* scope)
{
    const ItmControlBlock* block = &c->blocks[i];
    for (int slot = 0; slot < ITM_SLOT_COUNT; slot++) {
        d->u[i * ITM_SLOT_COUNT + slot] =
            block->nop[slot] > 0 ? itm_program_run(c->ops + block->op_adr[slot], block->nop[slot], scope, d->stack)
                                 : 0.0;
    }
}

static void compute_value(const ItmControl* c, ItmController* d, int i)
{
    const ItmControlBlock* block = &c->blocks[i];
    double y = itm_control_kind_compute(block, d->x + block->x_adr, d->x + block->ring_adr, d->u + i * ITM_SLOT_COUNT);
    d->y[i] = itm_control_kind_limit(block, y);
}

static ItmStatus check_expressions(const ItmControl* c, ItmController* d, int i, double t)
{
    const double* u = d->u + i * ITM_SLOT_COUNT;
    for (int slot = 0; slot < ITM_SLOT_COUNT && d->is_due[i]; slot++) {
        if (!isfinite(u[slot])) {
            return fail(d, c->blocks[i].def.name,
                        slot == ITM_SLOT_INPUT ? "the input of block" : "an expression of block", u[slot], t);
        }
    }
    return ITM_OK;
}

// In the order of evaluation, so that what went first is named.
static ItmStatus check_values(const ItmControl* c, ItmController* d, double t)
{
    ItmStatus status = ITM_OK;
    for (int n = 0; n < c->nblock && status == ITM_OK; n++) {
        int i = c->order[n];
        status = c->blocks[i].is_feedthrough ? check_expressions(c, d, i, t) : ITM_OK;
        if (status == ITM_OK && !isfinite(d->y[i])) {
            status = fail(d, c->blocks[i].def.name, "block", d->y[i], t);
        }
    }
    for (int n = 0; n < c->nblock && status == ITM_OK; n++) {
        status = check_expressions(c, d, c->order[n], t);
    }
    return status;
}

// Blocks without feed-through show their states; the others follow in order; at last the former get their inputs.
static ItmStatus evaluate(const ItmControl* c, ItmController* d, double t, const double* inputs)
{
    ItmStatus status = check_inputs(c, d, t, inputs);
    if (status != ITM_OK) {
        return status;
    }
    const ItmProgramScope scope = {
        .time = t, .blocks = d->y, .signals = d->signal, .signal_rates = d->signal_rate, .inputs = inputs};
    begin(c, d, t);
    for (int n = 0; n < c->nblock; n++) {
        int i = c->order[n];
        if (d->is_due[i]) {
            if (c->blocks[i].is_feedthrough) {
                run_expressions(c, d, i, &scope);
            }
            compute_value(c, d, i);
        }
    }
    for (int i = 0; i < c->nblock; i++) {
        if (d->is_due[i] && !c->blocks[i].is_feedthrough) {
            run_expressions(c, d, i, &scope);
        }
    }
    return check_values(c, d, t);
}

ItmStatus itm_controller_evaluate(const ItmControl* c, ItmController* d, double t, const double* inputs)
{
    ITM_GUARD(c != NULL && d != NULL, ITM_ERR_ARGUMENT);
    size_t size = sizeof(double) * (size_t)c->nblock;
    memcpy(d->backup, d->y, size);
    ItmStatus status = evaluate(c, d, t, inputs);
    if (status != ITM_OK) {
        memcpy(d->y, d->backup, size);
    }
    return status;
}

// ---------------------------------------------------------------------------- stepping

static ItmStatus advance(const ItmControl* c, ItmController* d, double t, double h)
{
    for (int i = 0; i < c->nblock; i++) {
        const ItmControlBlock* block = &c->blocks[i];
        if (!d->is_due[i]) {
            continue;
        }
        double* x = d->x + block->x_adr;
        itm_control_kind_advance(block, x, d->u + i * ITM_SLOT_COUNT, d->y[i],
                                 block->def.sample > 0 ? block->def.sample : h);
        d->last[i] = d->number[i];
        for (int j = 0; j < itm_control_kind_count_states(&block->def); j++) {
            if (!isfinite(x[j])) {
                return fail(d, block->def.name, "a state of block", x[j], t + h);
            }
        }
    }
    return ITM_OK;
}

ItmStatus itm_controller_step(const ItmControl* c, ItmController* d, double t, double h, const double* inputs)
{
    ITM_GUARD(c != NULL && d != NULL, ITM_ERR_ARGUMENT);
    if (!isfinite(h) || h <= 0) {
        return itm_error_set(&d->error, ITM_ERR_ARGUMENT, __func__, NULL, "the step must be positive, got %g", h);
    }
    size_t size = sizeof(double) * (size_t)count_backup(c);
    memcpy(d->backup, d->state, size);
    ItmStatus status = evaluate(c, d, t, inputs);
    status = status == ITM_OK ? advance(c, d, t, h) : status;
    if (status != ITM_OK) {
        memcpy(d->state, d->backup, size);
        return status;
    }
    for (int i = 0; i < c->nblock; i++) {
        const ItmControlBlock* block = &c->blocks[i];
        if (d->is_due[i]) {
            itm_control_kind_push(block, d->x + block->x_adr, d->x + block->ring_adr, d->u + i * ITM_SLOT_COUNT);
        }
    }
    return ITM_OK;
}

const ItmError* itm_controller_get_error(const ItmController* d)
{
    return &d->error;
}

const double* itm_controller_get_outputs(const ItmController* d)
{
    ITM_GUARD(d != NULL, NULL);
    return d->y;
}

// ---------------------------------------------------------------------------- checkpoints

size_t itm_controller_get_state_size(const ItmController* d)
{
    ITM_GUARD(d != NULL, 0);
    return sizeof(double) * (size_t)d->nstate;
}

ItmStatus itm_controller_save(const ItmController* d, void* bytes, size_t size)
{
    ITM_GUARD(d != NULL && bytes != NULL, ITM_ERR_ARGUMENT);
    if (bytes == NULL || size != itm_controller_get_state_size(d)) {
        return ITM_ERR_ARGUMENT;
    }
    memcpy(bytes, d->state, size);
    return ITM_OK;
}

ItmStatus itm_controller_restore(ItmController* d, const void* bytes, size_t size)
{
    ITM_GUARD(d != NULL, ITM_ERR_ARGUMENT);
    if (bytes == NULL || size != itm_controller_get_state_size(d)) {
        return itm_error_set(&d->error, ITM_ERR_ARGUMENT, __func__, NULL, "a state has %zu bytes, got %zu",
                             itm_controller_get_state_size(d), size);
    }
    memcpy(d->state, bytes, size);
    return ITM_OK;
}

// ---------------------------------------------------------------------------- states to disturb

void* itm_controller_get_memory(ItmController* d)
{
    return d->state;
}

// State number n to `out`, or from `in`, where they are given. One state.
static int exchange(double* state, double* out, const double* in, int n)
{
    if (out != NULL) {
        out[n] = *state;
    }
    if (in != NULL) {
        *state = in[n];
    }
    return 1;
}

// Copies the states to `out`, or from `in`; either may be NULL. Their number.
static int walk_states(ItmController* d, double* out, const double* in)
{
    const ItmControl* c = d->control;
    int n = 0;
    for (int i = 0; i < c->nblock; i++) {
        const ItmControlBlock* block = &c->blocks[i];
        n += block->def.sample > 0 ? exchange(&d->y[i], out, in, n) : 0;
        double* state;
        for (int k = 0;
             (state = itm_control_kind_get_smooth(block, d->x + block->x_adr, d->x + block->ring_adr, k)) != NULL;
             k++) {
            n += exchange(state, out, in, n);
        }
    }
    return n;
}

int itm_controller_get_state_count(ItmController* d)
{
    return walk_states(d, NULL, NULL);
}

void itm_controller_get_states(ItmController* d, double* x)
{
    walk_states(d, x, NULL);
}

void itm_controller_set_states(ItmController* d, const double* x)
{
    walk_states(d, NULL, x);
}
