// A pendulum through the C API: describe, compile, step, look, save and restore, write results.
//
//   cc pendulum.c $(pkg-config --cflags --libs interim) -lm && ./a.out pendulum.csv
//
// It swings from 60 degrees; the period found is compared with the closed form, a complete elliptic integral.
// SPDX-License-Identifier: Apache-2.0
#include <interim/interim.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PI 3.14159265358979323846
#define LENGTH 1.0        // m
#define RADIUS 0.01       // m
#define START (PI / 3.0)  // rad
#define GRAVITY 9.81      // m/s^2

// Every call that can fail returns a status and fills an ItmError with a sentence.
static void must(ItmStatus status, const ItmError* error)
{
    if (status != ITM_OK) {
        fprintf(stderr, "%s\n", error->message);
        exit(1);
    }
}

// 1. Describe. Definitions start from defaults, so that only what matters is set.
static ItmModel* build_pendulum(void)
{
    ItmError error;
    ItmModelBuilder* builder;
    ItmModel* model;
    int rod;
    ItmWorldDef world = itm_default_world_def();  // gravity along -z, joint coordinates
    must(itm_model_builder_create(&builder, &world, &error), &error);

    // a rod along z, its frame in the middle
    ItmBodyDef body = itm_default_body_def();
    ItmShapeDef shape = {.kind = ITM_SHAPE_CYLINDER, .size = {RADIUS, LENGTH}, .pose.q.w = 1.0};
    must(itm_shape_compute_mass(&body.mass, &body.com, &body.inertia, &shape, 7800.0, &error), &error);
    body.name = "rod";
    must(itm_model_builder_add_body(builder, &body, &rod, &error), &error);

    // hinged about y at its upper end; the joint's z axis is the one it turns about
    ItmJointDef hinge = itm_default_joint_def(ITM_JOINT_REVOLUTE);
    ItmVec3 axis = {0.0, 1.0, 0.0}, origin = {0.0, 0.0, 0.0}, end = {0.0, 0.0, 0.5 * LENGTH};
    hinge.name = "hinge";
    hinge.body_a = ITM_GROUND;
    hinge.body_b = rod;
    must(itm_model_frame_from_axis(&hinge.frame_a, origin, axis, origin, &error), &error);
    must(itm_model_frame_from_axis(&hinge.frame_b, end, axis, origin, &error), &error);
    hinge.has_start[ITM_RZ] = true;
    hinge.start[ITM_RZ] = START;
    must(itm_model_builder_add_joint(builder, &hinge, NULL, &error), &error);

    // 2. Compile. The model never changes again; any number of running instances may share it.
    must(itm_model_build(&model, builder, &error), &error);
    itm_model_builder_destroy(builder);
    return model;
}

// 3. Step and look, writing every tenth step. Returns the time of the first passage through the vertical.
static double swing(const ItmModel* m, ItmData* d, ItmResults* results, int nstep)
{
    ItmError error;
    int angle = itm_model_find_output(m, "hinge.angle");
    double* outputs = calloc((size_t)itm_model_get_output_count(m), sizeof *outputs);
    double passage = 0.0, time_before = 0.0, angle_before = START;
    for (int i = 1; i <= nstep; i++) {
        must(itm_step(m, d), itm_data_get_error(d));
        must(itm_model_compute_outputs(m, d, outputs), itm_data_get_error(d));
        double time = itm_data_get_time(d);
        if (passage == 0.0 && outputs[angle] <= 0.0) {
            passage = time - (time - time_before) * outputs[angle] / (outputs[angle] - angle_before);
        }
        time_before = time;
        angle_before = outputs[angle];
        if (results != NULL && i % 10 == 0) {
            must(itm_results_append(results, time, outputs, &error), &error);
        }
    }
    free(outputs);
    return passage;
}

// 4. Save and restore: the future of a restored state is the same, bit for bit.
static bool future_is_the_same(const ItmModel* m, ItmData* d)
{
    size_t size = itm_data_get_state_size(m, d);
    void* state = malloc(size);
    must(itm_data_save(m, d, state, size), itm_data_get_error(d));
    swing(m, d, NULL, 100);
    double first = itm_data_get_q(d)[0];
    must(itm_data_restore(m, d, state, size), itm_data_get_error(d));
    swing(m, d, NULL, 100);
    free(state);
    return first == itm_data_get_q(d)[0];
}

// Quarter period from rest: K(sin(START / 2)) / omega, by the arithmetic-geometric mean.
static double exact_passage(void)
{
    double a = 1.0, b = cos(0.5 * START);
    for (int i = 0; i < 6; i++) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    double inertia = LENGTH * LENGTH / 3.0 + RADIUS * RADIUS / 4.0;  // about the hinge, for a mass of 1
    return PI / (2.0 * a) / sqrt(0.5 * GRAVITY * LENGTH / inertia);
}

int main(int argc, char** argv)
{
    ItmError error;
    ItmData* d;
    ItmResults* results;
    ItmModel* m = build_pendulum();
    ItmStepOptions options = itm_default_step_options();
    options.stepper = ITM_STEPPER_ALI3P;
    options.step = 1e-3;
    must(itm_data_create(&d, m, &options, &error), &error);
    must(itm_results_create(&results, argc > 1 ? argv[1] : "pendulum.csv", m, "", "Pendulum", &error), &error);

    double period = 4.0 * swing(m, d, results, 2000);
    must(itm_results_close(results, ITM_VERDICT_FINISHED, NULL, &error), &error);
    bool is_same = future_is_the_same(m, d);
    double miss = fabs(period - 4.0 * exact_passage());
    printf("period %.9f s, exactly %.9f s\n", period, 4.0 * exact_passage());
    printf("a restored state %s\n", is_same ? "continues bit for bit" : "went another way");

    itm_data_destroy(d);
    itm_model_destroy(m);
    return is_same && miss < 1e-5 ? 0 : 1;  // about (omega h)^2 / 12 of it: 2e-6 s
}
