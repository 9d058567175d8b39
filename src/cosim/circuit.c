// A hydraulic circuit as a subsystem: cylinders are its power ports, commands its inputs.
#include "cosim/cosim.h"

#include "base/error.h"
#include "hydraulics/cylinder.h"

#include <stdlib.h>
#include <string.h>

#define USUAL_PRESSURE 1e5  // Pa
#define USUAL_SPOOL 0.1

typedef struct Self {
    const ItmCircuit* circuit;
    ItmHydraulics* running;
    ItmLabels labels;  // names of cylinders, then inputs; sizes of the states
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
    double l_1 = itm_cylinder_get_extension(x->running, port, s);
    return itm_cylinder_compute_force(&x->circuit->cylinders[port], 1.0, 0.0, 0.0, l_1, w).total;
}

static void set_start(void* self, int port, double s)
{
    const Self* x = self;
    itm_hydraulics_set_start_length(x->circuit, x->running, port, s);
}

static void get_stroke(void* self, int port, double* least, double* most)
{
    const Self* x = self;
    const ItmCylinder* cylinder = &x->circuit->cylinders[port];
    *least = cylinder->is_rotary ? -INFINITY : x->running->s_0[port];
    *most = cylinder->is_rotary ? INFINITY : x->running->s_0[port] + cylinder->stroke;
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

static void get_states(void* self, double* x)
{
    const Self* it = self;
    memcpy(x, it->running->x, sizeof(double) * (size_t)it->circuit->nx);
}

static void set_states(void* self, const double* x)
{
    const Self* it = self;
    memcpy(it->running->x, x, sizeof(double) * (size_t)it->circuit->nx);
}

static void destroy(void* self)
{
    Self* x = self;
    if (x != NULL) {
        itm_hydraulics_destroy(x->running);
        itm_labels_destroy(&x->labels);
        free(x);
    }
}

static void describe(ItmSubsystem* table, Self* x)
{
    const ItmCircuit* c = x->circuit;
    ItmLabels* labels = &x->labels;
    ItmCircuitInfo info = itm_circuit_get_info(c);
    int noutput = itm_circuit_get_output_count(c);
    for (int i = 0; i < info.ncylinder; i++) {
        labels->names[i] = itm_circuit_get_cylinder_name(c, i);
    }
    for (int i = 0; i < info.ninput; i++) {
        labels->names[info.ncylinder + i] = itm_circuit_get_input_name(c, i);
    }
    for (int i = 0; i < noutput; i++) {
        labels->outputs[i] = itm_circuit_get_output_info(c, i);
    }
    for (int i = 0; i < c->nx; i++) {
        labels->reals[i] = i < c->nvol ? USUAL_PRESSURE : USUAL_SPOOL;
    }
    *table = (ItmSubsystem){
        .self = x,
        .nport = info.ncylinder,
        .port_names = labels->names,
        .ninput = info.ninput,
        .input_names = labels->names + info.ncylinder,
        .noutput = noutput,
        .outputs = labels->outputs,
        .is_second_order = x->running->options.integrator != ITM_HYDRAULIC_EULER,
        .set_motion = set_motion,
        .get_forces = get_forces,
        .get_passive_force = get_passive_force,
        .set_start = set_start,
        .get_stroke = get_stroke,
        .set_inputs = set_inputs,
        .get_outputs = get_outputs,
        .do_step = do_step,
        .reset = reset,
        .memory = x->running->state,
        .memory_size = itm_hydraulics_get_state_size(x->running),
        .nstate = c->nx,
        .nominal = labels->reals,
        .get_states = get_states,
        .set_states = set_states,
        .destroy = destroy,
    };
}

ItmStatus itm_circuit_make_subsystem(ItmSubsystem* subsystem, ItmHydraulics** running, const ItmCircuit* c,
                                     const ItmHydraulicOptions* options, ItmError* error)
{
    ItmCircuitInfo info = itm_circuit_get_info(c);
    Self* x = calloc(1, sizeof *x);
    bool is_there = x != NULL &&
                    itm_labels_create(&x->labels, info.ncylinder + info.ninput, itm_circuit_get_output_count(c), c->nx);
    ItmStatus status = is_there ? itm_hydraulics_create(&x->running, c, options, error)
                                : itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory for a circuit");
    if (status != ITM_OK) {
        destroy(x);
        return status;
    }
    x->circuit = c;
    *running = x->running;
    describe(subsystem, x);
    return ITM_OK;
}
