// A control as a subsystem: sampled, without ports.
#include "cosim/cosim.h"

#include "base/error.h"
#include "control/control.h"

#include <stdlib.h>
#include <string.h>

typedef struct Self {
    const ItmControl* control;
    ItmController* running;
    ItmLabels labels;  // names and values of the inputs
} Self;

static void set_inputs(void* self, const double* u)
{
    const Self* x = self;
    memcpy(x->labels.reals, u, sizeof(double) * (size_t)itm_control_get_input_count(x->control));
}

static void get_outputs(void* self, double* y)
{
    const Self* x = self;
    memcpy(y, itm_controller_get_outputs(x->running),
           sizeof(double) * (size_t)itm_control_get_output_count(x->control));
}

static ItmStatus do_step(void* self, double t, double h, ItmError* error)
{
    const Self* x = self;
    ItmStatus status = h > 0.0 ? itm_controller_step(x->control, x->running, t, h, x->labels.reals)
                               : itm_controller_evaluate(x->control, x->running, t, x->labels.reals);
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
    if (x != NULL) {
        itm_controller_destroy(x->running);
        itm_labels_destroy(&x->labels);
        free(x);
    }
}

static void describe(ItmSubsystem* table, Self* x)
{
    const ItmControl* c = x->control;
    int ninput = itm_control_get_input_count(c), noutput = itm_control_get_output_count(c);
    double repeat = 0.0;
    for (int i = 0; i < ninput; i++) {
        x->labels.names[i] = itm_control_get_input_name(c, i);
    }
    for (int i = 0; i < noutput; i++) {
        x->labels.outputs[i] = itm_control_get_output_info(c, i);
        repeat = itm_cosim_find_common_multiple(repeat, itm_control_get_sample(c, i));
    }
    *table = (ItmSubsystem){
        .self = x,
        .ninput = ninput,
        .input_names = x->labels.names,
        .noutput = noutput,
        .outputs = x->labels.outputs,
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

ItmStatus itm_cosim_builder_add_control(ItmCosimBuilder* b, const char* name, const ItmControl* c, double step, int* id,
                                        ItmError* error)
{
    if (b == NULL || c == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder or control is missing");
    }
    int ninput = itm_control_get_input_count(c);
    ItmSubsystem subsystem;
    Self* x = calloc(1, sizeof *x);
    if (x == NULL || !itm_labels_create(&x->labels, ninput, itm_control_get_output_count(c), ninput)) {
        free(x);
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory for a control");
    }
    x->control = c;
    ItmStatus status = itm_controller_create(&x->running, c, error);
    if (status != ITM_OK) {
        destroy(x);
        return status;
    }
    describe(&subsystem, x);
    return itm_cosim_builder_add_subsystem(b, name, &subsystem, step, id, error);
}
