// What every stepper must stand: redundant loops, stiff springs, flexible bodies, change points, cut steps.
#include "run.h"

#include "scenes/scene.h"
#include "scenes/numbers.h"
#include "scenes/scenes.h"

#include <string.h>

// ---------------------------------------------------------------------------- examples

// An example with the stepper and step given.
static Run start_with(const char* name, const char* stepper, double step, const char* override)
{
    ItmError error = {0};
    ItmModelFile* file = NULL;
    char use[64];
    snprintf(use, sizeof use, "run.stepper=%s", stepper);
    const char* overrides[] = {use, override};
    CHECK_OK(itm_example_load(&file, name, overrides, override != NULL ? 2 : 1, &error), &error);
    file->run.step.step = step;
    Run run = start_run_with(file->model, &file->run.step);
    run.file = file;
    return run;
}

// ---------------------------------------------------------------------------- ali1

// Bricard's six-bar: one of 30 rows is redundant, and gaps of order h^2 make it contradict the others. The energy error of a method
// of first order is of order h: some 1e-3 s / 1 s of the 4.55 J that go to and fro.
static void ali1_finishes_redundant_loops_and_keeps_their_energy(void** state)
{
    (void)state;
    const double penalties[] = {0.0, 1e3, 1e6};
    for (int c = 0; c < 2; c++) {
        for (int p = 0; p < 3; p++) {
            ItmStepOptions options = itm_default_step_options();
            options.stepper = ITM_STEPPER_ALI1;
            options.penalty = penalties[p];
            Run run = start_example("bricard", &SET_COORDINATES[c], 1, &options);
            double start = output(&run, "energy.mechanical"), swing = 0.0, off = 0.0;
            for (int k = 0; k < 300; k++) {
                advance(&run, 10);
                swing = fmax(swing, output(&run, "energy.kinetic"));
                off = fmax(off, fabs(output(&run, "energy.mechanical") - start));
            }
            ItmStepInfo info = itm_data_get_step_info(run.d);
            assert_int_equal(info.unfinished, 0);
            CHECK_NEAR(swing, 4.55, 0.05);
            CHECK_NEAR(off, 0.0, 0.01 * swing);  // the order of the method
            CHECK_NEAR(info.gap, 0.0, 1e-4);     // h^2 times accelerations of some g; observed 4e-5
            finish_run(&run);
        }
    }
}

// Modes of the examples turn by h omega > 2 a step, which an explicit method does not survive.
static void ali1_steps_flexible_bodies(void** state)
{
    (void)state;
    const char* names[] = {"flexible-beam", "flexible-mast", "flexible-pendulum"};
    const char* rules[] = {"run.modal_rule=newmark", "run.modal_rule=backward"};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 2; k++) {
            Run r = start_with(names[i], "ali1", 1e-3, rules[k]);
            double largest = 0.0;
            for (int step = 0; step < 20; step++) {
                advance(&r, 10);
                largest = fmax(largest, output(&r, "energy.kinetic"));
            }
            printf("%s %s: kinetic up to %.4g J, balance %.3g J\n", names[i], rules[k], largest,
                   output(&r, "energy.balance"));
            // order 1 in the step; backward Euler loses energy on purpose, which the balance shows
            double allowed = k == 0 ? 0.02 : 0.5;
            CHECK_NEAR(output(&r, "energy.balance"), 0.0, allowed * largest);
            finish_run(&r);
        }
    }
}

// ---------------------------------------------------------------------------- ali3p

// Height of the slider, speed of a rod and length of a spring after 0.4 s.
static void run_governor(double out[3], const char* stepper, double step, const char* coordinates)
{
    Run r = start_with("governor", stepper, step, coordinates);
    while (itm_data_get_time(r.d) < 0.4 - 0.5 * step) {
        advance(&r, 1);
    }
    const char* names[] = {"slider.position.z", "right.angular_velocity.z", "right_link.length"};
    for (int i = 0; i < 3; i++) {
        out[i] = output(&r, names[i]);
    }
    assert_int_equal(itm_data_get_step_info(r.d).unfinished, 0);
    finish_run(&r);
}

// The decay of the governor's spring-dampers takes 0.1 ms; at 4 and 2 ms the error is that of the swing, and of second order.
static void ali3p_follows_the_swing_of_a_stiff_governor(void** state)
{
    (void)state;
    const char* coordinates[] = {"multibody.coordinates=joint", "multibody.coordinates=absolute"};
    for (int c = 0; c < 2; c++) {
        double exact[3], coarse[3], fine[3];
        run_governor(exact, "reference", 10e-3, coordinates[c]);
        run_governor(coarse, "ali3p", 4e-3, coordinates[c]);
        run_governor(fine, "ali3p", 2e-3, coordinates[c]);
        for (int i = 0; i < 2; i++) {
            double ratio = (coarse[i] - exact[i]) / (fine[i] - exact[i]);
            printf("governor, %s: error %.3g and %.3g, ratio %.3f\n", coordinates[c], coarse[i] - exact[i],
                   fine[i] - exact[i], ratio);
            CHECK_NEAR(ratio, 4.0, 0.4);
        }
        CHECK_NEAR(fine[0], exact[0], 2e-5);  // observed 9e-6 m
        CHECK_NEAR(fine[2], exact[2], 1e-6);  // observed 2e-7 m
    }
}

typedef enum { LINE_SPRING, JOINT_SPRING, SERVO, BUSHING, NELEMENT } Element;

// 1.5 kg on K and D along x, pulled out by x0 and pushed with v0.
static ItmModel* build_oscillator(Element element, ItmCoordinates coordinates, double K, double D, double x0, double v0)
{
    ItmError error = {0};
    ItmModel* m = NULL;
    ItmModelBuilder* b = NULL;
    ItmWorldDef world = {.coordinates = coordinates};
    CHECK_OK(itm_model_builder_create(&b, &world, &error), &error);
    ItmBodyDef body = itm_default_body_def();
    body.name = "mass";
    body.mass = 1.5;
    body.inertia = (ItmSym3){.xx = 0.01, .yy = 0.01, .zz = 0.01};
    body.has_pose = true;
    body.pose.p.x = x0;
    body.velocity.x = v0;
    int mass = ITM_NONE, joint = ITM_NONE;
    CHECK_OK(itm_model_builder_add_body(b, &body, &mass, &error), &error);
    if (element != BUSHING) {
        ItmJointDef slide = itm_default_joint_def(ITM_JOINT_PRISMATIC);
        slide.name = "slide";
        slide.body_a = ITM_GROUND;
        slide.body_b = mass;
        slide.frame_a = slide.frame_b = itm_scene_frame((ItmVec3){0, 0, 0}, (ItmVec3){1, 0, 0});
        itm_scene_set_start(&slide, ITM_TZ, x0, v0);
        CHECK_OK(itm_model_builder_add_joint(b, &slide, &joint, &error), &error);
    }
    if (element == LINE_SPRING) {
        ItmSpringDef def = itm_default_spring_def();
        def.name = "spring";
        def.body_a = ITM_GROUND;
        def.body_b = mass;
        def.point_a.x = -1.0;
        def.stiffness = K;
        def.damping = D;
        def.length = 1.0;
        CHECK_OK(itm_model_builder_add_spring(b, &def, NULL, &error), &error);
    } else if (element == JOINT_SPRING) {
        ItmJointSpringDef def = itm_default_joint_spring_def();
        def.name = "spring";
        def.joint = joint;
        def.direction = ITM_TZ;
        def.stiffness = K;
        def.damping = D;
        CHECK_OK(itm_model_builder_add_joint_spring(b, &def, NULL, &error), &error);
    } else if (element == SERVO) {
        ItmServoDef def = itm_default_servo_def();
        def.name = "servo";
        def.joint = joint;
        def.direction = ITM_TZ;
        def.stiffness = K;
        def.damping = D;
        CHECK_OK(itm_model_builder_add_servo(b, &def, NULL, &error), &error);
    } else {
        ItmBushingDef def = itm_default_bushing_def();
        def.name = "bushing";
        def.body_a = ITM_GROUND;
        def.body_b = mass;
        for (int k = 0; k < ITM_DIRECTION_COUNT; k++) {
            def.stiffness[k] = K;
            def.damping[k] = D;
        }
        CHECK_OK(itm_model_builder_add_bushing(b, &def, NULL, &error), &error);
    }
    CHECK_OK(itm_model_build(&m, b, &error), &error);
    itm_model_builder_destroy(b);
    return m;
}

// One step of the trapezoidal rule for m x'' = -K x - D x', in closed form.
static void step_trapezoidal(double* x, double* v, double k, double d, double h)
{
    // (1 + h/2 d + h^2/4 k) v+ = (1 - h/2 d - h^2/4 k) v - h k x
    double v_next = ((1.0 - 0.5 * h * d - 0.25 * h * h * k) * *v - h * k * *x) / (1.0 + 0.5 * h * d + 0.25 * h * h * k);
    *x += 0.5 * h * (*v + v_next);
    *v = v_next;
}

// h omega up to 80: Newton's method must converge at once, to the trapezoidal rule.
static void ali3p_is_the_trapezoidal_rule_on_stiff_oscillators(void** state)
{
    (void)state;
    const double stiffness[] = {2e4, 1e10}, damping[] = {10.0, 1e5};
    double h = 1e-3;
    for (int i = 0; i < 2 * 2 * NELEMENT; i++) {
        Element element = (Element)(i / 4);
        double K = stiffness[i % 2], D = damping[i % 2], x = 1e-3, v = 0.3;
        ItmStepOptions options = itm_default_step_options();
        options.stepper = ITM_STEPPER_ALI3P;
        options.step = h;
        options.tolerance = 1e-12;
        Run run = start_run_with(build_oscillator(element, COORDINATES[i / 2 % 2], K, D, x, v), &options);
        for (int k = 0; k < 40; k++) {
            advance(&run, 1);
            step_trapezoidal(&x, &v, K / 1.5, D / 1.5, h);
            assert_true(itm_data_get_step_info(run.d).iterations <= 4);
        }
        // rounding of x = 1e-3 + 1 (length of the line) at K: 1e-16 a step
        CHECK_NEAR(output(&run, "mass.position.x"), x, 1e-10);
        CHECK_NEAR(output(&run, "mass.velocity.x"), v, 1e-7);
        assert_int_equal(itm_data_get_step_info(run.d).unfinished, 0);
        finish_run(&run);
    }
}

// ---------------------------------------------------------------------------- reference

// Parallelogram windows fold flat twice a swing, where a fourth row of each becomes redundant. Both coordinates go on along the same
// branch, and energy is kept.
static void reference_passes_change_points(void** state)
{
    (void)state;
    for (int n = 1; n <= 2; n++) {
        double angle[2];
        for (int c = 0; c < 2; c++) {
            ItmModel* m = NULL;
            ItmError error = {0};
            CHECK_OK(itm_four_bar_build(&m, COORDINATES[c], n, &error), &error);
            ItmStepOptions options = itm_default_step_options();
            options.stepper = ITM_STEPPER_REFERENCE;
            options.step = 10e-3;
            Run run = start_run_with(m, &options);
            advance(&run, 500);
            angle[c] = output(&run, "foot0.angle");
            CHECK_NEAR(output(&run, "energy.balance"), 0.0, 1e-6);  // observed 5e-9 J of 70 J
            CHECK_NEAR(output(&run, "violation.position"), 0.0, 1e-9);
            // the coupler stays level: the parallelogram has not become a crossed one
            CHECK_NEAR(output(&run, "coupler0.orientation.y"), 0.0, 1e-7);
            finish_run(&run);
        }
        printf("%d windows: angles after 5 s differ by %.3g rad\n", n, angle[1] - angle[0]);
        CHECK_NEAR(angle[1], angle[0], 1e-6);
    }
}

// A rod of half the crank's length lets the crank turn by asin(1/2) and no farther, whatever the motor does.
static void reference_names_the_joint_at_the_end_of_its_reach(void** state)
{
    (void)state;
    Run r = start_with("slider-crank", "reference", 1e-3, "parameters.l=0.05 m");
    ItmStatus status = ITM_OK;
    while (status == ITM_OK) {
        status = itm_step(r.m, r.d);
    }
    const char* message = itm_data_get_error(r.d)->message;
    assert_int_equal(status, ITM_ERR_DIVERGED);
    assert_non_null(strstr(message, "'motor'"));
    assert_non_null(strstr(message, "end of its reach"));
    assert_null(strstr(message, "start velocities"));
    double reach = asin(0.5), rate = fabs(output(&r, "main.angle_rate"));
    CHECK_NEAR(fabs(output(&r, "main.angle")), reach - 0.5e-3 * rate, 0.6e-3 * rate);  // within the step that failed
    finish_run(&r);
}

// ---------------------------------------------------------------------------- jumps

// The control of the arm gives its shoulder a new rate every 2 ms: the motor's work is that of small impacts.
static void rates_that_jump_do_work_that_is_booked(void** state)
{
    (void)state;
    const struct {
        const char* stepper;
        double allowed;  // J of the 0.43 J that go through: rounding, and order 2 in the step
    } cases[] = {{"reference", 1e-10}, {"ali3p", 1e-4}};
    for (int i = 0; i < 2; i++) {
        Run r = start_with("scara", cases[i].stepper, 2e-3, NULL);
        ItmCosim* x = NULL;
        ItmError error = {0};
        CHECK_OK(itm_file_create_cosim(&x, r.file, NULL, &error), &error);
        ItmData* d = itm_cosim_get_data(x, 0);
        double* values = calloc((size_t)itm_model_get_output_count(r.m), sizeof *values);
        for (int k = 0; k < 250; k++) {
            CHECK_OK(itm_cosim_step(x), itm_cosim_get_error(x));
        }
        assert_int_equal(itm_model_compute_outputs(r.m, d, values), ITM_OK);
        CHECK_NEAR(values[itm_model_find_output(r.m, "energy.balance")], 0.0,
                   cases[i].allowed);  // observed 5e-16, 1.2e-5
        free(values);
        itm_cosim_destroy(x);
        finish_run(&r);
    }
}

// ---------------------------------------------------------------------------- variable

// A row of results at 2400 x 20 us and the end of the run at 48 ms are one rounding apart; what lies between is no step. A stop
// that cuts a step far below the smallest one closes joints no faster than that one would.
static void variable_steps_cut_short_give_no_energy(void** state)
{
    (void)state;
    Run r = start_with("clearance-slider-crank", "variable", 5e-6, NULL);
    for (int row = 1; row <= 100; row++) {
        double stop = row * 20e-6;
        itm_data_set_stop_time(r.d, stop);
        while (itm_data_get_time(r.d) < stop) {
            advance(&r, 1);
        }
        double energy = output(&r, "energy.kinetic"), time = itm_data_get_time(r.d);
        itm_data_set_stop_time(r.d, time * (1.0 + 2e-16));
        advance(&r, 1);
        CHECK_NEAR(output(&r, "energy.kinetic"), energy, 0.0);
        itm_data_set_stop_time(r.d, time + 1e-13);
        advance(&r, 1);
        CHECK_NEAR(output(&r, "energy.kinetic"), energy, 0.01 * energy);  // an impact may take some
    }
    CHECK_NEAR(output(&r, "energy.balance"), 0.0, 1e-9);
    CHECK_NEAR(output(&r, "energy.constraint_work"), 0.0, 0.1);  // of 60 J; order 1 in the step
    finish_run(&r);
}

// Through the singular positions too: corrections aim at a twentieth of the tolerance, and a point has three rows.
static void gaps_of_loops_stay_below_a_tenth_of_the_tolerance(void** state)
{
    (void)state;
    ItmModel* m = NULL;
    ItmData* d = NULL;
    ItmError error = {0};
    ItmStepOptions options = itm_default_step_options();
    options.step = ITM_SCENE_STEP;
    CHECK_OK(itm_four_bar_build(&m, ITM_COORDINATES_JOINT, 2, &error), &error);
    CHECK_OK(itm_data_create(&d, m, &options, &error), &error);
    for (int i = 0; i < 1200; i++) {
        CHECK_OK(itm_step(m, d), itm_data_get_error(d));
        assert_true(itm_data_get_step_info(d).gap <= 0.1 * options.gap_tolerance);  // observed 5.0e-13 m of 1e-11 m
    }
    assert_int_equal(itm_data_get_step_info(d).unfinished, 0);
    itm_data_destroy(d);
    itm_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ali1_finishes_redundant_loops_and_keeps_their_energy),
        cmocka_unit_test(gaps_of_loops_stay_below_a_tenth_of_the_tolerance),
        cmocka_unit_test(ali1_steps_flexible_bodies),
        cmocka_unit_test(ali3p_follows_the_swing_of_a_stiff_governor),
        cmocka_unit_test(ali3p_is_the_trapezoidal_rule_on_stiff_oscillators),
        cmocka_unit_test(reference_passes_change_points),
        cmocka_unit_test(reference_names_the_joint_at_the_end_of_its_reach),
        cmocka_unit_test(rates_that_jump_do_work_that_is_booked),
        cmocka_unit_test(variable_steps_cut_short_give_no_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
