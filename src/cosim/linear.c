// Linearised step: x(t + H) = F(x, u) and y = G(x, u) by central differences about the current state.
//
// F is a whole macro step, so A and B are those of the scheme that runs, interface models and contacts included. advice_states.c has the
// states; here those of all bodies take part.
#include "cosim/advice.h"

#include "base/error.h"
#include "base/guard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_INPUT 1e-4  // disturbance of an input, relative to its value, or to 1

// clang-format off
typedef struct Work {
    ItmCosim*  x;
    ItmStates  states;
    const ItmLinear* linear;
    const int *inputs, *outputs;
    char*   start;               // state of the system where it is linearised
    double *z, *small;           // states there, and their disturbances        (nstate)
    double *trial;               //                                             (nstate)
    double *next[2];             // states one step after a disturbance down, up (nstate)
    double *y[2];                // all outputs of the system, likewise         (outputs of the system)
} Work;
// clang-format on

// ---------------------------------------------------------------------------- differences

// Outputs and next states from the start with state `state` or input `input` (the other: ITM_NONE) disturbed by `amount`.
static ItmStatus try_disturbed(Work* w, int state, int input, double amount, double* next, double* y)
{
    ItmCosim* x = w->x;
    itm_cosim_restore(x, w->start, itm_cosim_get_state_size(x));
    if (state != ITM_NONE) {
        memcpy(w->trial, w->z, sizeof *w->z * (size_t)w->states.n);
        w->trial[state] += amount;
        itm_advice_states_write(&w->states, x, w->trial);
    } else {
        ItmStatus status = itm_cosim_set_input_value(x, input, itm_cosim_get_input_value(x, input) + amount);
        if (status != ITM_OK) {
            return status;
        }
    }
    ItmStatus status = itm_cosim_compute_outputs(x, y);
    status = status == ITM_OK ? itm_cosim_step(x) : status;
    itm_advice_states_read(&w->states, x, next, NULL);
    return status;
}

// Column `column` of F_ (nstate x width) and G_ (noutput x width).
static ItmStatus differentiate(Work* w, int state, int input, double amount, double* F_, double* G_, int column,
                               int width)
{
    for (int side = 0; side < 2; side++) {
        ItmStatus status = try_disturbed(w, state, input, side == 0 ? -amount : amount, w->next[side], w->y[side]);
        if (status != ITM_OK) {
            return status;
        }
    }
    for (int i = 0; i < w->linear->nstate; i++) {
        F_[(size_t)i * (size_t)width + (size_t)column] = (w->next[1][i] - w->next[0][i]) / (2.0 * amount);
    }
    for (int i = 0; i < w->linear->noutput; i++) {
        int k = w->outputs[i];
        G_[(size_t)i * (size_t)width + (size_t)column] = (w->y[1][k] - w->y[0][k]) / (2.0 * amount);
    }
    return ITM_OK;
}

static ItmStatus fill(Work* w, ItmLinear* l)
{
    ItmCosim* x = w->x;
    itm_cosim_save(x, w->start, itm_cosim_get_state_size(x));
    itm_advice_states_read(&w->states, x, w->z, w->small);
    memcpy(l->x, w->z, sizeof *l->x * (size_t)l->nstate);
    ItmStatus status = ITM_OK;
    for (int k = 0; k < l->nstate && status == ITM_OK; k++) {
        status = differentiate(w, k, ITM_NONE, w->small[k], l->A, l->C, k, l->nstate);
    }
    for (int k = 0; k < l->ninput && status == ITM_OK; k++) {
        double amount = SMALL_INPUT * fmax(1.0, fabs(itm_cosim_get_input_value(x, w->inputs[k])));
        status = differentiate(w, ITM_NONE, w->inputs[k], amount, l->B, l->D, k, l->ninput);
        itm_cosim_restore(x, w->start, itm_cosim_get_state_size(x));
    }
    return status;
}

// ---------------------------------------------------------------------------- memory

// The matrices and names behind the struct, in one block.
static ItmLinear* allocate(ItmCosim* x, int n, int ninput, int noutput)
{
    size_t ns = (size_t)n, nu = (size_t)ninput, ny = (size_t)noutput;
    size_t nreal = ns + ns * ns + ns * nu + ny * ns + ny * nu;
    ItmLinear* l = calloc(1, sizeof *l + sizeof(double) * nreal + ITM_STATE_NAME_SIZE * ns);
    if (l != NULL) {
        double* next = (double*)(l + 1);
        *l = (ItmLinear){.nstate = n, .ninput = ninput, .noutput = noutput, .step = itm_cosim_get_step(x)};
        double** parts[] = {&l->x, &l->A, &l->B, &l->C, &l->D};
        const size_t sizes[] = {ns, ns * ns, ns * nu, ny * ns, ny * nu};
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            *parts[i] = next;
            next += sizes[i];
        }
        l->names = (char(*)[ITM_STATE_NAME_SIZE])next;
    }
    return l;
}

static ItmStatus fill_in_room(Work* w, ItmLinear* l)
{
    ItmCosim* x = w->x;
    size_t n = (size_t)l->nstate, ny = (size_t)itm_cosim_get_output_count(x);
    double* block = malloc(sizeof *block * (5 * n + 2 * ny + 1));
    w->start = malloc(itm_cosim_get_state_size(x));
    ItmStatus status = ITM_ERR_MEMORY;
    if (block != NULL && w->start != NULL) {
        w->z = block;
        w->small = block + n;
        w->trial = block + 2 * n;
        w->next[0] = block + 3 * n;
        w->next[1] = block + 4 * n;
        w->y[0] = block + 5 * n;
        w->y[1] = w->y[0] + ny;
        x->is_trial = true;  // a disturbance is energy from nowhere
        status = fill(w, l);
        x->is_trial = false;
        itm_cosim_restore(x, w->start, itm_cosim_get_state_size(x));
    }
    free(block);
    free(w->start);
    return status;
}

static ItmStatus check_request(ItmCosim* x, const int* inputs, int ninput, const int* outputs, int noutput)
{
    for (int i = 0; i < ninput; i++) {
        ItmInputInfo input = itm_cosim_get_input_info(x, inputs[i]);
        if (input.name == NULL || input.is_wired) {
            return itm_error_set(&x->error, ITM_ERR_ARGUMENT, "itm_linear_create", input.name,
                                 input.name == NULL ? "there is no input %d" : "input %d is set by a wire", inputs[i]);
        }
    }
    for (int i = 0; i < noutput; i++) {
        if (outputs[i] < 0 || outputs[i] >= itm_cosim_get_output_count(x)) {
            return itm_error_set(&x->error, ITM_ERR_ARGUMENT, "itm_linear_create", NULL, "there is no output %d",
                                 outputs[i]);
        }
    }
    return ITM_OK;
}

ItmStatus itm_linear_create(ItmLinear** linear, ItmCosim* x, const int* inputs, int ninput, const int* outputs,
                            int noutput)
{
    ITM_GUARD(linear != NULL && x != NULL && (inputs != NULL || ninput <= 0) && (outputs != NULL || noutput <= 0),
              ITM_ERR_ARGUMENT);
    *linear = NULL;
    ItmStatus status = itm_ranks_refuse(x, __func__);
    status = status == ITM_OK ? check_request(x, inputs, ninput, outputs, noutput) : status;
    if (status != ITM_OK) {
        return status;
    }
    Work w = {.x = x, .inputs = inputs, .outputs = outputs};
    status = itm_advice_states_create(&w.states, x, true);
    ItmLinear* l = status == ITM_OK ? allocate(x, w.states.n, ninput, noutput) : NULL;
    if (status == ITM_OK && l == NULL) {
        status = itm_error_set(&x->error, ITM_ERR_MEMORY, "itm_linear_create", NULL, "out of memory");
    }
    if (status == ITM_OK) {
        w.linear = l;
        itm_advice_states_name(&w.states, x, l->names);
        status = fill_in_room(&w, l);
    }
    itm_advice_states_destroy(&w.states);
    if (status != ITM_OK) {
        itm_linear_destroy(l);
        return status;
    }
    *linear = l;
    return ITM_OK;
}

void itm_linear_destroy(ItmLinear* linear)
{
    free(linear);
}
