// A motor of one's own in a system that is loaded from a model file: `type: external` in foreign_motor.yaml is filled by name.
// The motor's electrical time constant is 2 ms; data are exchanged with the mechanism every 10 ms through its interface model.
// SPDX-License-Identifier: Apache-2.0
#include <interim/interim.h>

#include <stdio.h>
#include <stdlib.h>

// Permanent magnet DC motor: L di/dt = u - R i - k w, torque = k i.
typedef struct Motor {
    double R, L, k;  // V/A, V s/A, N m/A
    double voltage;  // input                                          V
    double rate;     // of the shaft, given by the interface model     rad/s
    double current;  // the state                                      A
} Motor;

static void set_motion(void* self, const double* angle, const double* rate, const double* rate_end)
{
    Motor* m = self;
    (void)angle;
    m->rate = rate_end != NULL ? rate_end[0] : rate[0];
}

static void get_forces(void* self, double* torque)
{
    const Motor* m = self;
    torque[0] = m->k * m->current;
}

static void set_inputs(void* self, const double* u)
{
    ((Motor*)self)->voltage = u[0];
}

static void get_outputs(void* self, double* y)
{
    const Motor* m = self;
    y[0] = m->current;
    y[1] = m->voltage * m->current;
}

// Implicit Euler: stable for any step.
static ItmStatus do_step(void* self, double t, double h, ItmError* error)
{
    Motor* m = self;
    (void)t;
    (void)error;
    m->current = (m->current + h / m->L * (m->voltage - m->k * m->rate)) / (1.0 + h * m->R / m->L);
    return ITM_OK;
}

static void reset(void* self)
{
    ((Motor*)self)->current = 0.0;
}

// Called for every system that is made from the file.
static ItmStatus make_motor(void* context, ItmSubsystem* subsystem, ItmError* error)
{
    static const char* const PORTS[] = {"shaft"};
    static const bool IS_ROTARY[] = {true};
    static const char* const INPUTS[] = {"voltage"};
    static const ItmOutputInfo OUTPUTS[] = {{"current", "A", "current of the motor"},
                                            {"power", "W", "electrical power"}};
    Motor* m = malloc(sizeof *m);
    (void)error;
    if (m == NULL) {
        return ITM_ERR_MEMORY;
    }
    *m = *(const Motor*)context;
    *subsystem = (ItmSubsystem){
        .self = m,
        .nport = 1,
        .port_names = PORTS,
        .port_is_rotary = IS_ROTARY,
        .ninput = 1,
        .input_names = INPUTS,
        .noutput = 2,
        .outputs = OUTPUTS,
        .set_motion = set_motion,
        .get_forces = get_forces,
        .set_inputs = set_inputs,
        .get_outputs = get_outputs,
        .do_step = do_step,
        .reset = reset,
        .memory = m,  // saving and restoring copies this
        .memory_size = sizeof *m,
        .destroy = free,
    };
    return ITM_OK;
}

// Called after every step: here one could send the state to a display, or wait for the real time.
static void note_step(void* context, ItmCosim* cosim)
{
    (void)cosim;
    (*(long*)context)++;
}

// Speed of the flywheel in the last row of results.
static double get_speed(const ItmRun* run, const ItmCosim* cosim)
{
    size_t width = 1 + (size_t)itm_cosim_get_output_count(cosim), row = (size_t)itm_run_get_info(run).nrow - 1;
    return itm_run_get_rows(run)[row * width + 1 + (size_t)itm_cosim_find_output(cosim, "rig.axle.angle_rate")];
}

int main(int argc, char** argv)
{
    Motor motor = {.R = 0.5, .L = 1e-3, .k = 0.3};
    ItmModelFile* file = NULL;
    ItmCosim* cosim = NULL;
    ItmRun* run = NULL;
    ItmError error = {0};
    long nstep = 0;
    ItmStatus status = itm_file_load(&file, argc > 1 ? argv[1] : "foreign_motor.yaml", NULL, 0, &error);
    status = status == ITM_OK ? itm_file_set_external(file, "motor", make_motor, &motor, &error) : status;
    status = status == ITM_OK ? itm_file_create_cosim(&cosim, file, NULL, &error) : status;
    if (status == ITM_OK) {
        ItmRunOptions options = itm_default_run_options(file);
        options.keeps_rows = true;
        options.context = &nstep;
        options.note_step = note_step;
        status = itm_run_create(&run, file, cosim, &options, &error);
    }
    for (int t = 5; t <= 20 && status == ITM_OK; t += 5) {
        status = itm_run_advance_to(run, t);
        printf("%5d s  %8.4f rad/s\n", t, get_speed(run, cosim));
    }
    // steady state: k (u - k w) / R = drag w
    double drag = 0.05, steady = motor.k * 24.0 / (motor.k * motor.k + motor.R * drag);
    printf("steady   %8.4f rad/s by hand; %ld steps\n", steady, nstep);
    if (status != ITM_OK) {
        fprintf(stderr, "%s: %s\n", error.file, error.message);
    }
    itm_run_destroy(run);
    itm_cosim_destroy(cosim);
    itm_file_destroy(file);
    return status == ITM_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
