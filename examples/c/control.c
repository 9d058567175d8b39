// A controller through the C API, closed by hand around a mechanism: a ram lifts a flap to an angle that a ramp asks for.
//
//   cc control.c $(pkg-config --cflags --libs interim) -lm && ./a.out
//
// The control is a list of named blocks whose inputs are expressions. Names with a dot in them are outputs of other
// subsystems; whoever steps the control looks them up there. The co-simulation does that by itself, here it is a loop of
// ten lines.
// SPDX-License-Identifier: Apache-2.0
#include <interim/interim.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define LENGTH 1.2    // of the flap, m
#define MASS 40.0     // kg
#define STEP 1e-3     // of the mechanism and of the control, s
#define DURATION 4.0  // s
#define MOST_INPUTS 8

static void must(ItmStatus status, const ItmError* error)
{
    if (status != ITM_OK) {
        fprintf(stderr, "%s\n", error->message);
        exit(1);
    }
}

// 1. The plant: a rod along x, hinged about -y (positive angles lift it), and a ram below it.
static ItmModel* build_flap(void)
{
    ItmError error;
    ItmModelBuilder* builder;
    ItmModel* model;
    int flap;
    ItmVec3 origin = {0}, up = {0.0, -1.0, 0.0};
    must(itm_model_builder_create(&builder, NULL, &error), &error);
    ItmBodyDef body = itm_default_body_def();
    body.name = "flap";
    body.mass = MASS;
    body.com = (ItmVec3){0.5 * LENGTH, 0.0, 0.0};
    body.inertia = (ItmSym3){.xx = 0.1, .yy = MASS * LENGTH * LENGTH / 12.0, .zz = MASS * LENGTH * LENGTH / 12.0};
    must(itm_model_builder_add_body(builder, &body, &flap, &error), &error);
    ItmJointDef hinge = itm_default_joint_def(ITM_JOINT_REVOLUTE);
    hinge.name = "hinge";
    hinge.body_a = ITM_GROUND;
    hinge.body_b = flap;
    must(itm_model_frame_from_axis(&hinge.frame_a, origin, up, origin, &error), &error);
    must(itm_model_frame_from_axis(&hinge.frame_b, origin, up, origin, &error), &error);
    must(itm_model_builder_add_joint(builder, &hinge, NULL, &error), &error);
    ItmActuatorDef ram = itm_default_actuator_def();
    ram.name = "ram";
    ram.body_a = ITM_GROUND;
    ram.body_b = flap;
    ram.point_a = (ItmVec3){0.3, 0.0, -0.5};
    ram.point_b = (ItmVec3){0.6, 0.0, 0.0};
    must(itm_model_builder_add_actuator(builder, &ram, NULL, &error), &error);
    must(itm_model_build(&model, builder, &error), &error);
    itm_model_builder_destroy(builder);
    return model;
}

// 2. The control. Every definition starts from defaults.
static void add(ItmControlBuilder* builder, ItmControlBlockDef def, const char* name, const char* input)
{
    ItmError error;
    def.name = name;
    def.input = input;
    must(itm_control_builder_add_block(builder, &def, NULL, &error), &error);
}

static ItmControl* build_control(void)
{
    ItmError error;
    ItmControlBuilder* builder;
    ItmControl* control;
    must(itm_control_builder_create(&builder, &error), &error);

    // a known function of time, at rest at both ends
    ItmSignalDef lift = itm_default_signal_def();
    lift.name = "lift";
    lift.kind = ITM_SIGNAL_RAMP;
    lift.t_start = 0.5;
    lift.t_end = 2.5;
    lift.to = PI / 3.0;
    lift.is_smooth = true;
    must(itm_control_builder_add_signal(builder, &lift, &error), &error);
    must(itm_control_builder_add_constant(builder, "weight_torque", 0.5 * MASS * 9.81 * LENGTH, &error), &error);

    ItmControlBlockDef expression = itm_default_control_block_def(ITM_CONTROL_EXPRESSION);
    add(builder, expression, "error", "lift - flap.hinge.angle");

    // The torque: PID on the angle. The rate of the error is known, so that no differences are taken; the weight is fed
    // forward; while the torque is at its limit the integral stands still.
    ItmControlBlockDef pid = itm_default_control_block_def(ITM_CONTROL_PID);
    pid.proportional = 4000.0;
    pid.integral = 6000.0;
    pid.derivative = 600.0;
    pid.error_rate = "rate(lift) - flap.hinge.angle_rate";
    pid.feed_forward = "weight_torque * cos(flap.hinge.angle)";
    pid.lower = -800.0;
    pid.upper = 800.0;
    add(builder, pid, "torque", "error");

    // Force = torque / (d length / d angle): from a table over the angle, which is what a real controller would have.
    enum { NPOINT = 14 };
    double angles[NPOINT], arms[NPOINT];
    for (int i = 0; i < NPOINT; i++) {
        angles[i] = -0.1 + 0.1 * i;
        double dx = 0.6 * cos(angles[i]) - 0.3, dz = 0.6 * sin(angles[i]) + 0.5;
        arms[i] = (-dx * 0.6 * sin(angles[i]) + dz * 0.6 * cos(angles[i])) / sqrt(dx * dx + dz * dz);
    }
    ItmControlBlockDef table = itm_default_control_block_def(ITM_CONTROL_LOOKUP);
    table.points = angles;
    table.values = arms;
    table.npoint = NPOINT;
    table.interpolation = ITM_INTERPOLATE_CUBIC;
    add(builder, table, "arm", "flap.hinge.angle");

    // The ram's force builds up with 10 ms.
    ItmControlBlockDef lag = itm_default_control_block_def(ITM_CONTROL_LAG);
    lag.time_constant = 0.01;
    lag.start = NAN;  // starts with its first input, at rest
    add(builder, lag, "force", "torque / arm");

    must(itm_control_build(&control, builder, &error), &error);
    itm_control_builder_destroy(builder);
    return control;
}

// 3. Which output of the mechanism each input of the control is: "flap.hinge.angle" is "hinge.angle" of flap.
static void connect(const ItmControl* control, const ItmModel* model, int* source)
{
    for (int i = 0; i < itm_control_get_input_count(control); i++) {
        const char* name = itm_control_get_input_name(control, i);
        source[i] = itm_model_find_output(model, strchr(name, '.') + 1);
        if (source[i] == ITM_NONE) {
            fprintf(stderr, "the mechanism has no output '%s'\n", name);
            exit(1);
        }
    }
}

int main(void)
{
    ItmError error;
    ItmData* d;
    ItmController* controller;
    int source[MOST_INPUTS];
    double inputs[MOST_INPUTS];
    ItmModel* model = build_flap();
    ItmControl* control = build_control();
    ItmStepOptions options = itm_default_step_options();
    options.step = STEP;
    must(itm_data_create(&d, model, &options, &error), &error);
    must(itm_controller_create(&controller, control, &error), &error);
    double* outputs = calloc((size_t)itm_model_get_output_count(model), sizeof *outputs);
    const double* y = itm_controller_get_outputs(controller);
    int block_error = itm_control_find_output(control, "error"), force = itm_control_find_output(control, "force");
    connect(control, model, source);

    // 4. At every sample: outputs of the mechanism into the control, its force into the ram, both one step on.
    double worst = 0.0;
    long nstep = lround(DURATION / STEP);
    for (long k = 0; k <= nstep; k++) {
        must(itm_model_compute_outputs(model, d, outputs), itm_data_get_error(d));
        for (int i = 0; i < itm_control_get_input_count(control); i++) {
            inputs[i] = outputs[source[i]];
        }
        must(itm_controller_step(control, controller, (double)k * STEP, STEP, inputs),
             itm_controller_get_error(controller));
        must(itm_data_set_actuator_force(model, d, 0, y[force]), itm_data_get_error(d));
        worst = fmax(worst, fabs(y[block_error]));
        if (k % 500 == 0) {
            printf("%4.1f s  angle %7.3f deg  error %7.4f deg  force %7.1f N\n", (double)k * STEP,
                   outputs[itm_model_find_output(model, "hinge.angle")] * 180.0 / PI, y[block_error] * 180.0 / PI,
                   y[force]);
        }
        must(itm_step(model, d), itm_data_get_error(d));
    }
    double last = fabs(y[block_error]);
    printf("largest error %.3f deg, at the end %.5f deg\n", worst * 180.0 / PI, last * 180.0 / PI);
    free(outputs);
    itm_controller_destroy(controller);
    itm_control_destroy(control);
    itm_data_destroy(d);
    itm_model_destroy(model);
    return last < 1e-3 && worst < 0.05 ? 0 : 1;
}
