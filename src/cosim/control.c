// A control as a subsystem: sampled, without ports.
#include "cosim/cosim.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

typedef struct Self {
    const ItmControl* control;
    ItmController* running;
    const char** names;      // of the inputs
    ItmOutputInfo* outputs;
    double* inputs;
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

static size_t get_state_size(void* self)
{
    return itm_controller_get_state_size(((const Self*)self)->running);
}

static void save(void* self, void* bytes)
{
    itm_controller_save(((const Self*)self)->running, bytes, get_state_size(self));
}

static void restore(void* self, const void* bytes)
{
    itm_controller_restore(((const Self*)self)->running, bytes, get_state_size(self));
}

static void destroy(void* self)
{
    Self* x = self;
    if (x != NULL) {
        itm_controller_destroy(x->running);
        free(x->names);
        free(x->outputs);
        free(x->inputs);
        free(x);
    }
}

static ItmStatus make_subsystem(ItmSubsystem* subsystem, const ItmControl* c, ItmError* error)
{
    int ninput = itm_control_get_input_count(c), noutput = itm_control_get_output_count(c);
    Self* x = calloc(1, sizeof *x);
    if (x != NULL) {
        x->control = c;
        x->names = calloc((size_t)ninput + 1, sizeof *x->names);
        x->outputs = calloc((size_t)noutput + 1, sizeof *x->outputs);
        x->inputs = calloc((size_t)ninput + 1, sizeof *x->inputs);
    }
    ItmStatus status = x != NULL && x->names != NULL && x->outputs != NULL && x->inputs != NULL
                           ? itm_controller_create(&x->running, c, error)
                           : itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory for a control");
    if (status != ITM_OK) {
        destroy(x);
        return status;
    }
    for (int i = 0; i < ninput; i++) {
        x->names[i] = itm_control_get_input_name(c, i);
    }
    for (int i = 0; i < noutput; i++) {
        x->outputs[i] = itm_control_get_output_info(c, i);
    }
    *subsystem = (ItmSubsystem){
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
        .get_state_size = get_state_size,
        .save = save,
        .restore = restore,
        .destroy = destroy,
    };
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
