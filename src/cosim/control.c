// A control as a subsystem: sampled, without ports.
#include "cosim/cosim.h"

#include "base/error.h"
#include "control/control.h"

#include <stdlib.h>
#include <string.h>

typedef struct Self {
    const ItmControl* control;
    ItmController* running;
    const char** names;      // of the inputs
    ItmOutputInfo* outputs;
    double* inputs;
    ItmArena arena;          // of the three
} Self;

static void set_inputs(void* self, const double* u)
{
    const Self* x = self;
    memcpy(x->inputs, u, sizeof(double) * (size_t)itm_control_get_input_count(x->control));
}

static void get_outputs(void* self, double* y)
{
    const Self* x = self;
    memcpy(y, itm_controller_get_outputs(x->running), sizeof(double) * (size_t)itm_control_get_output_count(x->control));
}

static ItmStatus do_step(void* self, double t, double h, ItmError* error)
{
    const Self* x = self;
    ItmStatus status = h > 0.0 ? itm_controller_step(x->control, x->running, t, h, x->inputs)
                               : itm_controller_evaluate(x->control, x->running, t, x->inputs);
    if (status != ITM_OK) {
        *error = *itm_controller_get_error(x->running);
    }
    return status;
}

static void reset(void* self)
{
    const Self* x = self;
    itm_controller_reset(x->control, x->running);
}

static void get_states(void* self, double* x)
{
    itm_controller_get_states(((const Self*)self)->running, x);
}

static void set_states(void* self, const double* x)
{
    itm_controller_set_states(((const Self*)self)->running, x);
}

static void destroy(void* self)
{
    Self* x = self;
    itm_controller_destroy(x->running);
    itm_arena_free(&x->arena);
    free(x);
}

static void lay_out(Self* x)
{
    int ninput = itm_control_get_input_count(x->control);
    x->names = ITM_TAKE(&x->arena, const char*, ninput);
    x->inputs = ITM_TAKE(&x->arena, double, ninput);
    x->outputs = ITM_TAKE(&x->arena, ItmOutputInfo, itm_control_get_output_count(x->control));
}

static void describe(ItmSubsystem* table, Self* x)
{
    const ItmControl* c = x->control;
    int ninput = itm_control_get_input_count(c), noutput = itm_control_get_output_count(c);
    double repeat = 0.0;
    for (int i = 0; i < ninput; i++) {
        x->names[i] = itm_control_get_input_name(c, i);
    }
    for (int i = 0; i < noutput; i++) {
        x->outputs[i] = itm_control_get_output_info(c, i);
        repeat = itm_cosim_find_common_multiple(repeat, itm_control_get_sample(c, i));
    }
    *table = (ItmSubsystem){
        .self = x,
        .ninput = ninput,
        .input_names = x->names,
        .noutput = noutput,
        .outputs = x->outputs,
        .is_sampled = true,
        .set_inputs = set_inputs,
        .get_outputs = get_outputs,
        .do_step = do_step,
        .reset = reset,
        .memory = itm_controller_get_memory(x->running),
        .memory_size = itm_controller_get_state_size(x->running),
        .nstate = itm_controller_get_state_count(x->running),
        .get_states = get_states,
        .set_states = set_states,
        .repeat = repeat,
        .destroy = destroy,
    };
}

static ItmStatus make_subsystem(ItmSubsystem* subsystem, const ItmControl* c, ItmError* error)
{
    Self x = {.control = c};
    ItmStatus status = itm_controller_create(&x.running, c, error);
    if (status != ITM_OK) {
        return status;
    }
    lay_out(&x);
    Self* kept = malloc(sizeof *kept);
    if (kept == NULL || itm_arena_allocate(&x.arena) != 0) {
        free(kept);
        itm_controller_destroy(x.running);
        return itm_error_set(error, ITM_ERR_MEMORY, "itm_cosim_add_control", NULL, "out of memory for a control");
    }
    lay_out(&x);
    *kept = x;
    describe(subsystem, kept);
    return ITM_OK;
}

ItmStatus itm_cosim_add_control(ItmCosimBuilder* b, const char* name, const ItmControl* c, double step, int* id,
                                ItmError* error)
{
    if (b == NULL || c == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder or control is missing");
    }
    ItmSubsystem subsystem;
    ItmStatus status = make_subsystem(&subsystem, c, error);
    return status == ITM_OK ? itm_cosim_add_subsystem(b, name, &subsystem, step, id, error) : status;
}
