// Electric drives and winches as a subsystem: outputs are power ports, commands inputs.
#include "cosim/cosim.h"

#include "base/error.h"
#include "drive/drives.h"

#include <stdlib.h>
#include <string.h>

typedef struct Self {
    ItmDrivesRun* run;
    ItmLabels labels;  // names of the drives
    bool* is_rotary;   // of the ports
} Self;

static size_t count(const Self* x)
{
    return (size_t)x->run->drives->n;
}

static void set_motion(void* self, const double* s, const double* w, const double* w_end)
{
    const Self* x = self;
    memcpy(x->run->s, s, sizeof(double) * count(x));
    memcpy(x->run->w, w, sizeof(double) * count(x));
    memcpy(x->run->w_end, w_end != NULL ? w_end : w, sizeof(double) * count(x));
}

static void get_forces(void* self, double* force)
{
    itm_drives_get_forces(((const Self*)self)->run, force);
}

static void set_start(void* self, int port, double s)
{
    const Self* x = self;
    x->run->s_start[port] = x->run->s[port] = s;
}

static void set_inputs(void* self, const double* u)
{
    const Self* x = self;
    memcpy(x->run->input, u, sizeof(double) * count(x));
}

static void get_outputs(void* self, double* y)
{
    itm_drives_compute_outputs(((const Self*)self)->run, y);
}

static ItmStatus do_step(void* self, double t, double h, ItmError* error)
{
    return h > 0.0 ? itm_drives_step(((const Self*)self)->run, t, h, error) : ITM_OK;
}

static void reset(void* self)
{
    itm_drives_reset(((const Self*)self)->run);
}

static void get_states(void* self, double* states)
{
    const Self* x = self;
    memcpy(states, x->run->x, sizeof(double) * ITM_MOTOR_STATES * count(x));
}

static void set_states(void* self, const double* states)
{
    const Self* x = self;
    memcpy(x->run->x, states, sizeof(double) * ITM_MOTOR_STATES * count(x));
}

static void destroy(void* self)
{
    Self* x = self;
    if (x != NULL) {
        itm_drives_destroy_run(x->run);
        itm_labels_destroy(&x->labels);
        free(x->is_rotary);
        free(x);
    }
}

static void describe(ItmSubsystem* table, Self* x, const ItmDrives* drives)
{
    int n = itm_drives_get_count(drives), noutput = itm_drives_get_output_count(drives);
    for (int i = 0; i < n; i++) {
        x->labels.names[i] = drives->defs[i].name;
        x->is_rotary[i] = drives->defs[i].drum_radius == 0.0;
    }
    memcpy(x->labels.outputs, drives->outputs, sizeof(ItmOutputInfo) * (size_t)noutput);
    *table = (ItmSubsystem){
        .self = x,
        .nport = n,
        .port_names = x->labels.names,
        .port_is_rotary = x->is_rotary,
        .ninput = n,
        .input_names = x->labels.names,
        .noutput = noutput,
        .outputs = x->labels.outputs,
        .is_second_order = true,
        .set_motion = set_motion,
        .get_forces = get_forces,
        .set_start = set_start,
        .set_inputs = set_inputs,
        .get_outputs = get_outputs,
        .do_step = do_step,
        .reset = reset,
        .memory = x->run->memory,
        .memory_size = sizeof(double) * (size_t)x->run->nsaved,
        .nstate = ITM_MOTOR_STATES * n,
        .get_states = get_states,
        .set_states = set_states,
        .destroy = destroy,
    };
}

ItmStatus itm_cosim_builder_add_drives(ItmCosimBuilder* b, const char* name, const ItmDrives* drives, double step,
                                       int* id, ItmError* error)
{
    if (b == NULL || drives == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "builder or drives are missing");
    }
    int n = itm_drives_get_count(drives);
    Self* x = calloc(1, sizeof *x);
    bool ok = x != NULL && itm_labels_create(&x->labels, n, itm_drives_get_output_count(drives), 0);
    if (ok) {
        x->is_rotary = calloc((size_t)n, sizeof *x->is_rotary);
    }
    ItmStatus status = ok && x->is_rotary != NULL
                           ? itm_drives_create_run(&x->run, drives, error)
                           : itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory for drives");
    if (status != ITM_OK) {
        destroy(x);
        return status;
    }
    ItmSubsystem subsystem;
    describe(&subsystem, x, drives);
    return itm_cosim_builder_add_subsystem(b, name, &subsystem, step, id, error);
}
