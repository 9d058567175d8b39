// A hydraulic circuit as a subsystem: cylinders are its power ports, commands its inputs.
#include "cosim/cosim.h"

#include "base/error.h"
#include "hydraulics/cylinder.h"

#include <stdlib.h>

typedef struct Self {
    const ItmCircuit* circuit;
    ItmHydraulics* running;
    const char** names;      // cylinders, then inputs
    ItmOutputInfo* outputs;
} Self;

static void set_motion(void* self, const double* s, const double* w, const double* w_end)
{
    const Self* x = self;
    itm_hydraulics_set_pistons(x->circuit, x->running, s, w, w_end);
}

static void get_forces(void* self, double* force)
{
    const Self* x = self;
    itm_hydraulics_get_forces(x->circuit, x->running, force);
}

static double get_passive_force(void* self, int port, double s, double w)
{
    const Self* x = self;
    return itm_cylinder_compute_force(&x->circuit->cylinders[port], 0.0, 0.0, s, w).total;
}

static void get_stroke(void* self, int port, double* least, double* most)
{
    const ItmCylinder* cylinder = &((const Self*)self)->circuit->cylinders[port];
    *least = cylinder->s_0;
    *most = cylinder->s_0 + cylinder->stroke;
}

static void set_inputs(void* self, const double* u)
{
    const Self* x = self;
    for (int i = 0; i < itm_circuit_get_info(x->circuit).ninput; i++) {
        itm_hydraulics_set_input(x->circuit, x->running, i, u[i]);
    }
}

static void get_outputs(void* self, double* y)
{
    const Self* x = self;
    itm_hydraulics_compute_outputs(x->circuit, x->running, y);
}

static ItmStatus do_step(void* self, double t, double h, ItmError* error)
{
    const Self* x = self;
    (void)t;  // the circuit counts its own steps
    if (h == 0.0) {
        return ITM_OK;
    }
    ItmStatus status = itm_hydraulics_step(x->circuit, x->running, h);
    if (status != ITM_OK) {
        *error = *itm_hydraulics_get_error(x->running);
    }
    return status;
}

static void reset(void* self)
{
    const Self* x = self;
    itm_hydraulics_reset(x->circuit, x->running);
}

static size_t get_state_size(void* self)
{
    return itm_hydraulics_get_state_size(((const Self*)self)->running);
}

static void save(void* self, void* bytes)
{
    itm_hydraulics_save(((const Self*)self)->running, bytes, get_state_size(self));
}

static void restore(void* self, const void* bytes)
{
    itm_hydraulics_restore(((const Self*)self)->running, bytes, get_state_size(self));
}

static void destroy(void* self)
{
    Self* x = self;
    if (x != NULL) {
        itm_hydraulics_destroy(x->running);
        free(x->names);
        free(x->outputs);
        free(x);
    }
}

static void describe(ItmSubsystem* table, Self* x)
{
    const ItmCircuit* c = x->circuit;
    ItmCircuitInfo info = itm_circuit_get_info(c);
    int noutput = itm_circuit_get_output_count(c);
    for (int i = 0; i < info.ncylinder; i++) {
        x->names[i] = itm_circuit_get_cylinder_name(c, i);
    }
    for (int i = 0; i < info.ninput; i++) {
        x->names[info.ncylinder + i] = itm_circuit_get_input_name(c, i);
    }
    for (int i = 0; i < noutput; i++) {
        x->outputs[i] = itm_circuit_get_output_info(c, i);
    }
    *table = (ItmSubsystem){
        .self = x,
        .nport = info.ncylinder,
        .port_names = x->names,
        .ninput = info.ninput,
        .input_names = x->names + info.ncylinder,
        .noutput = noutput,
        .outputs = x->outputs,
        .is_second_order = x->running->options.integrator != ITM_HYDRAULIC_EULER,
        .set_motion = set_motion,
        .get_forces = get_forces,
        .get_passive_force = get_passive_force,
        .get_stroke = get_stroke,
        .set_inputs = set_inputs,
        .get_outputs = get_outputs,
        .do_step = do_step,
        .reset = reset,
        .get_state_size = get_state_size,
        .save = save,
        .restore = restore,
        .destroy = destroy,
    };
}

ItmStatus itm_circuit_make_subsystem(ItmSubsystem* subsystem, ItmHydraulics** running, const ItmCircuit* c,
                                     const ItmHydraulicOptions* options, ItmError* error)
{
    ItmCircuitInfo info = itm_circuit_get_info(c);
    Self* x = calloc(1, sizeof *x);
    if (x != NULL) {
        x->circuit = c;
        x->names = calloc((size_t)(info.ncylinder + info.ninput + 1), sizeof *x->names);
        x->outputs = calloc((size_t)itm_circuit_get_output_count(c) + 1, sizeof *x->outputs);
    }
    ItmStatus status = x != NULL && x->names != NULL && x->outputs != NULL
                           ? itm_hydraulics_create(&x->running, c, options, error)
                           : itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory for a circuit");
    if (status != ITM_OK) {
        destroy(x);
        return status;
    }
    *running = x->running;
    describe(subsystem, x);
    return ITM_OK;
}
