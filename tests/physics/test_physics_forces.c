// Forces, motions and reactions: closed forms, balances, and the same answers in both kinds of coordinates.
#include "check.h"

#include "run.h"

static ItmStepOptions choose(ItmStepper stepper, double step)
{
    ItmStepOptions options = itm_default_step_options();
    options.stepper = stepper;
    options.step = step;
    options.tolerance = stepper == ITM_STEPPER_REFERENCE ? 1e-12 : options.tolerance;
    return options;
}

static Run start_run(ItmModel* m, ItmStepper stepper, double step)
{
    ItmStepOptions options = choose(stepper, step);
    return start_run_with(m, &options);
}

// A builder with a body "block" of 2 kg on a vertical slide "slide" (z up), and a constant signal 0.
static ItmModelBuilder* slide_builder(ItmCoordinates coordinates)
{
    ItmError error = {0};
    ItmWorldDef world = itm_default_world_def();
    world.coordinates = coordinates;
    ItmModelBuilder* b = NULL;
    CHECK_OK(itm_model_builder_create(&b, &world, &error), &error);
    ItmBodyDef body = itm_default_body_def();
    body.name = "block";
    body.mass = 2.0;
    body.com = (ItmVec3){0.1, -0.2, 0.3};
    CHECK_OK(itm_model_builder_add_body(b, &body, NULL, &error), &error);
    ItmJointDef joint = itm_default_joint_def(ITM_JOINT_PRISMATIC);
    joint.name = "slide";
    joint.body_b = 0;
    CHECK_OK(itm_model_builder_add_joint(b, &joint, NULL, &error), &error);
    return b;
}

static Run build_and_start(ItmModelBuilder* b, ItmStepper stepper, double step)
{
    ItmModel* m = NULL;
    ItmError error = {0};
    CHECK_OK(itm_model_build(&m, b, &error), &error);
    itm_model_builder_destroy(b);
    return start_run(m, stepper, step);
}

static int add_signal(ItmModelBuilder* b, const char* name, ItmSignalDef def)
{
    ItmError error = {0};
    int id = ITM_NONE;
    def.name = name;
    CHECK_OK(itm_model_builder_add_signal(b, &def, &id, &error), &error);
    return id;
}

// ---------------------------------------------------------------------------- springs and dampers

// x of m x'' + c x' + k x = -m g from rest at x = 0
static double damped_fall(double t, double m, double c, double k)
{
    double rest = -m * 9.81 / k, delta = c / (2 * m), w = sqrt(k / m - delta * delta);
    return rest - rest * exp(-delta * t) * (cos(w * t) + delta / w * sin(w * t));
}

static void block_on_a_spring_follows_the_damped_oscillator(void** state)
{
    (void)state;
    const double k = 300.0, c = 4.0;
    for (int kind = 0; kind < 4; kind++) {
        for (int i = 0; i < 2; i++) {
            ItmError error = {0};
            ItmModelBuilder* b = slide_builder(COORDINATES[i]);
            if (kind == 0 || kind == 3) {
                ItmJointSpringDef def = itm_default_joint_spring_def();
                def.name = "spring";
                def.joint = 0;
                def.direction = ITM_TZ;
                def.stiffness = k;
                def.damping = c;
                def.is_implicit = kind == 3;
                CHECK_OK(itm_model_builder_add_joint_spring(b, &def, NULL, &error), &error);
            } else if (kind == 1) {
                // from a point 5 m above, unstressed at the start: lengthens as the block falls
                ItmSpringDef def = itm_default_spring_def();
                def.name = "spring";
                def.body_b = 0;
                def.point_a = (ItmVec3){0, 0, 5};
                def.stiffness = k;
                def.damping = c;
                CHECK_OK(itm_model_builder_add_spring(b, &def, NULL, &error), &error);
            } else {
                ItmBushingDef def = itm_default_bushing_def();
                def.name = "spring";
                def.body_b = 0;
                def.stiffness[ITM_TZ] = k;
                def.damping[ITM_TZ] = c;
                CHECK_OK(itm_model_builder_add_bushing(b, &def, NULL, &error), &error);
            }
            Run run = build_and_start(b, ITM_STEPPER_REFERENCE, 0.1);
            for (int step = 1; step <= 10; step++) {
                advance(&run, 1);
                double x = damped_fall(0.1 * step, 2.0, c, k);
                CHECK_NEAR(output(&run, "block.position.z"), x, 1e-10);
                CHECK_NEAR(output(&run, "energy.balance"), 0.0, 1e-9);
                if (kind == 1) {
                    CHECK_NEAR(output(&run, "spring.length"), 5.0 - x, 1e-10);
                }
            }
            assert_true(output(&run, "energy.dissipated") > 0.1);
            finish_run(&run);
        }
    }
}

// ---------------------------------------------------------------------------- servos

static ItmServoDef slide_servo(void)
{
    ItmServoDef def = itm_default_servo_def();
    def.name = "servo";
    def.joint = 0;
    def.direction = ITM_TZ;
    return def;
}

static Run start_servo(ItmModelBuilder* b, const ItmServoDef* def, ItmStepper stepper, double step)
{
    ItmError error = {0};
    CHECK_OK(itm_model_builder_add_servo(b, def, NULL, &error), &error);
    return build_and_start(b, stepper, step);
}

// Without a target a servo moves the block as a spring and damper would, but what it does is work of a load.
static void servo_without_target_is_a_spring_that_does_work(void** state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        ItmServoDef def = slide_servo();
        def.stiffness = 300.0;
        def.damping = 4.0;
        Run run = start_servo(slide_builder(COORDINATES[i]), &def, ITM_STEPPER_REFERENCE, 0.1);
        for (int step = 1; step <= 10; step++) {
            advance(&run, 1);
            CHECK_NEAR(output(&run, "block.position.z"), damped_fall(0.1 * step, 2.0, 4.0, 300.0), 1e-10);
            CHECK_NEAR(output(&run, "energy.balance"), 0.0, 1e-9);
        }
        assert_true(output(&run, "energy.dissipated") == 0.0);
        assert_true(output(&run, "energy.load_work") < -0.1);
        finish_run(&run);
    }
}

// With the force of the ideal motion fed forward, m (r'' + g), nothing is left for the gains to do.
static void servo_with_feedforward_follows_its_target(void** state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        ItmModelBuilder* b = slide_builder(COORDINATES[i]);
        const double amplitude = 0.2, frequency = 0.8, w = 2.0 * 3.14159265358979323846 * 0.8, mass = 2.0;
        ItmSignalDef target = itm_default_signal_def();
        target.kind = ITM_SIGNAL_SINE;
        target.amplitude = amplitude;
        target.frequency = frequency;
        target.phase = 0.5 * 3.14159265358979323846;
        target.offset = -amplitude;  // starts at 0, at rest
        ItmSignalDef force = target;
        force.amplitude = -mass * w * w * amplitude;
        force.offset = mass * 9.81;
        ItmServoDef def = slide_servo();
        def.target = add_signal(b, "target", target);
        def.feedforward = add_signal(b, "force", force);
        def.stiffness = 500.0;
        def.damping = 60.0;
        Run run = start_servo(b, &def, ITM_STEPPER_REFERENCE, 0.05);
        for (int step = 1; step <= 20; step++) {
            advance(&run, 1);
            double r = amplitude * (cos(w * 0.05 * step) - 1.0);
            CHECK_NEAR(output(&run, "slide.displacement"), r, 1e-10);  // observed 1e-13
        }
        finish_run(&run);
    }
}

// A servo that may push with half the weight at most lets the block fall with half of g.
static void servo_pushes_no_harder_than_its_limit(void** state)
{
    (void)state;
    ItmServoDef def = slide_servo();
    def.stiffness = 1e6;
    def.max_force = 9.81;
    Run run = start_servo(slide_builder(ITM_COORDINATES_JOINT), &def, ITM_STEPPER_EULER, 1e-3);
    advance(&run, 1);  // in the first step nothing is displaced yet
    double before = output(&run, "slide.displacement_rate");
    advance(&run, 200);
    CHECK_NEAR(output(&run, "slide.displacement_rate") - before, -0.2 * 0.5 * 9.81, 1e-12);
    CHECK_NEAR(output(&run, "servo.force"), 9.81, 0.0);
    finish_run(&run);
}

static void servos_are_checked(void** state)
{
    (void)state;
    ItmError error = {0};
    ItmModelBuilder* b = slide_builder(ITM_COORDINATES_JOINT);
    const struct {
        const char* field;
        ItmServoDef def;
    } cases[] = {
        {"joint", {.name = "s", .joint = 7, .direction = ITM_TZ, .target = ITM_NONE, .feedforward = ITM_NONE}},
        {"direction", {.name = "s", .direction = ITM_RZ, .target = ITM_NONE, .feedforward = ITM_NONE}},
        {"stiffness", {.name = "s", .direction = ITM_TZ, .target = ITM_NONE, .feedforward = ITM_NONE, .stiffness = -1}},
        {"damping", {.name = "s", .direction = ITM_TZ, .target = ITM_NONE, .feedforward = ITM_NONE, .damping = NAN}},
        {"max_force", {.name = "s", .direction = ITM_TZ, .target = ITM_NONE, .feedforward = ITM_NONE, .max_force = -1}},
        {"signal", {.name = "s", .direction = ITM_TZ, .target = 3, .feedforward = ITM_NONE}},
        {"signal", {.name = "s", .direction = ITM_TZ, .target = ITM_NONE, .feedforward = 3}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(itm_model_builder_add_servo(b, &cases[i].def, NULL, &error), ITM_ERR_INPUT);
        assert_string_equal(error.field, cases[i].field);
    }
    itm_model_builder_destroy(b);
}

// h sqrt(K/m) = 22, h D / m = 500: an explicit spring would explode in the first steps.
static void implicit_spring_takes_any_step(void** state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        ItmError error = {0};
        ItmModelBuilder* b = slide_builder(COORDINATES[i]);
        ItmJointSpringDef def = itm_default_joint_spring_def();
        def.name = "spring";
        def.joint = 0;
        def.direction = ITM_TZ;
        def.stiffness = 1e7;
        def.damping = 1e5;
        def.rest = 0.1;
        def.is_implicit = true;
        CHECK_OK(itm_model_builder_add_joint_spring(b, &def, NULL, &error), &error);
        Run run = build_and_start(b, ITM_STEPPER_EULER, 10e-3);
        assert_int_equal(itm_model_get_info(run.m).freedom, 1);
        advance(&run, 200);
        CHECK_NEAR(output(&run, "slide.displacement"), 0.1 - 2.0 * 9.81 / 1e7, 1e-12);
        CHECK_NEAR(output(&run, "spring.force"), 2.0 * 9.81, 1e-5);  // 1e7 times round-off of the position
        // inverse dynamics counts it among what acts already
        double v_dot[6], tau[6];
        CHECK_OK(itm_dynamics_compute_forward(run.m, run.d, v_dot), itm_data_get_error(run.d));
        CHECK_OK(itm_dynamics_compute_inverse(run.m, run.d, tau, v_dot, NULL), itm_data_get_error(run.d));
        CHECK_NEAR(COORDINATES[i] == ITM_COORDINATES_JOINT ? tau[0] : 0.0, 0.0, 1e-12);
        finish_run(&run);
    }
}

static void stiff_compliant_joint_settles_at_its_static_deflection_at_any_step(void** state)
{
    (void)state;
    // h sqrt(K/m) = 22: an explicit spring would explode
    ItmError error = {0};
    ItmWorldDef world = itm_default_world_def();
    ItmModelBuilder* b = NULL;
    CHECK_OK(itm_model_builder_create(&b, &world, &error), &error);
    ItmBodyDef body = itm_default_body_def();
    body.name = "block";
    body.mass = 2.0;
    CHECK_OK(itm_model_builder_add_body(b, &body, NULL, &error), &error);
    ItmJointDef joint = itm_default_joint_def(ITM_JOINT_FIXED);
    joint.name = "mount";
    joint.body_b = 0;
    joint.stiffness = 1e7;
    joint.damping = 1e3;
    CHECK_OK(itm_model_builder_add_joint(b, &joint, NULL, &error), &error);
    Run run = build_and_start(b, ITM_STEPPER_EULER, 10e-3);
    advance(&run, 200);
    CHECK_NEAR(output(&run, "block.position.z"), -2.0 * 9.81 / 1e7, 1e-15);
    CHECK_NEAR(output(&run, "mount.force.z"), 2.0 * 9.81, 1e-8);
    finish_run(&run);
}

// ---------------------------------------------------------------------------- bushing

static void bushing_between_free_bodies_keeps_energy_and_momenta(void** state)
{
    (void)state;
    ItmError error = {0};
    ItmWorldDef world = itm_default_world_def();
    world.gravity = (ItmVec3){0, 0, 0};
    ItmModelBuilder* b = NULL;
    CHECK_OK(itm_model_builder_create(&b, &world, &error), &error);
    for (int i = 0; i < 2; i++) {
        ItmBodyDef body = itm_default_body_def();
        body.name = i == 0 ? "first" : "second";
        body.inertia = (ItmSym3){.xx = 0.1, .yy = 0.15, .zz = 0.2, .xy = 0.01};
        body.has_pose = true;
        body.pose.p = (ItmVec3){0.3 * i, 0.1, -0.2};
        body.velocity = (ItmVec3){1.0 - i, 0.5 * i, 0.2};
        body.angular_velocity = (ItmVec3){2.0 * i, -1.0, 3.0 - i};
        CHECK_OK(itm_model_builder_add_body(b, &body, NULL, &error), &error);
    }
    ItmBushingDef def = itm_default_bushing_def();
    def.name = "mount";
    def.body_a = 0;
    def.body_b = 1;
    def.frame_a.p = (ItmVec3){0.2, 0, 0};
    def.frame_b.p = (ItmVec3){-0.1, 0, 0};
    const double stiffness[6] = {400, 100, 250, 8, 20, 3};
    memcpy(def.stiffness, stiffness, sizeof stiffness);
    CHECK_OK(itm_model_builder_add_bushing(b, &def, NULL, &error), &error);
    Run run = build_and_start(b, ITM_STEPPER_REFERENCE, 0.5);
    double L[3], p[3];
    const char* const axes[3] = {"x", "y", "z"};
    char name[64];
    for (int k = 0; k < 3; k++) {
        snprintf(name, sizeof name, "momentum.angular.%s", axes[k]);
        L[k] = output(&run, name);
        snprintf(name, sizeof name, "momentum.linear.%s", axes[k]);
        p[k] = output(&run, name);
    }
    advance(&run, 4);
    CHECK_NEAR(output(&run, "energy.balance"), 0.0, 1e-9);
    for (int k = 0; k < 3; k++) {
        snprintf(name, sizeof name, "momentum.angular.%s", axes[k]);
        CHECK_NEAR(output(&run, name), L[k], 1e-10);
        snprintf(name, sizeof name, "momentum.linear.%s", axes[k]);
        CHECK_NEAR(output(&run, name), p[k], 1e-11);
    }
    finish_run(&run);
}

// ---------------------------------------------------------------------------- driven motions

static void driven_slide_follows_its_signal_and_books_its_work(void** state)
{
    (void)state;
    const double amplitude = 0.3, frequency = 0.7, omega = 2.0 * acos(-1.0) * frequency;
    for (int kind = 0; kind < 2; kind++) {
        for (int i = 0; i < 2; i++) {
            for (int stepper = 0; stepper < ITM_STEPPER_COUNT; stepper++) {
                ItmError error = {0};
                ItmModelBuilder* b = slide_builder(COORDINATES[i]);
                ItmSignalDef sine = itm_default_signal_def();
                sine.kind = ITM_SIGNAL_SINE;
                sine.amplitude = kind == 0 ? amplitude : amplitude * omega;
                sine.frequency = frequency;
                sine.phase = kind == 0 ? 0.0 : 0.5 * acos(-1.0);  // the rate of the same motion
                ItmMotionDef motion = itm_default_motion_def();
                motion.name = "drive";
                motion.joint = 0;
                motion.direction = ITM_TZ;
                motion.kind = kind == 0 ? ITM_MOTION_POSITION : ITM_MOTION_VELOCITY;
                motion.signal = add_signal(b, "sine", sine);
                CHECK_OK(itm_model_builder_add_motion(b, &motion, NULL, &error), &error);
                Run run = build_and_start(b, (ItmStepper)stepper, 1e-3);
                itm_data_set_stop_time(run.d, 0.4);
                while (itm_data_get_time(run.d) < 0.4 * (1.0 - 1e-12)) {
                    advance(&run, 1);
                }
                double t = 0.4, z = amplitude * sin(omega * t), accel = -omega * omega * z;
                bool is_exact = stepper == ITM_STEPPER_REFERENCE || (kind == 0 && stepper != ITM_STEPPER_ALI1);
                // first order: error of the position below h * |v|, of the work below that times the force
                double slack = is_exact ? 1e-9 : 2e-3;
                CHECK_NEAR(output(&run, "block.position.z"), z, slack);
                CHECK_NEAR(output(&run, "drive.force"), 2.0 * (9.81 + accel), 50.0 * slack);
                CHECK_NEAR(output(&run, "energy.balance"), 0.0,
                           stepper == ITM_STEPPER_REFERENCE ? 1e-9
                           : stepper == ITM_STEPPER_ALI3P   ? 1e-4
                                                            : 0.1);
                CHECK_NEAR(output(&run, "violation.position"), 0.0, kind == 0 ? (is_exact ? 1e-10 : 1e-2) : 1e-10);
                finish_run(&run);
            }
        }
    }
}

static void actuator_lifts_with_signal_plus_input(void** state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        ItmError error = {0};
        ItmModelBuilder* b = slide_builder(COORDINATES[i]);
        ItmSignalDef constant = itm_default_signal_def();
        constant.value = 12.0;
        ItmActuatorDef def = itm_default_actuator_def();
        def.name = "jack";
        def.body_b = 0;
        def.point_a = (ItmVec3){0, 0, -2};
        def.signal = add_signal(b, "base", constant);
        CHECK_OK(itm_model_builder_add_actuator(b, &def, NULL, &error), &error);
        Run run = build_and_start(b, ITM_STEPPER_REFERENCE, 0.25);
        assert_int_equal(itm_model_find_actuator(run.m, "jack"), 0);
        CHECK_OK(itm_data_set_actuator_force(run.m, run.d, 0, 10.0), itm_data_get_error(run.d));
        advance(&run, 2);
        double z = 0.5 * (22.0 / 2.0 - 9.81) * 0.25;
        CHECK_NEAR(output(&run, "block.position.z"), z, 1e-11);
        CHECK_NEAR(output(&run, "jack.length"), 2.0 + z, 1e-11);
        CHECK_NEAR(output(&run, "jack.force"), 22.0, 1e-12);
        CHECK_NEAR(output(&run, "energy.load_work"), 22.0 * z, 1e-10);
        finish_run(&run);
    }
}

// ---------------------------------------------------------------------------- all outputs agree

static void all_outputs_agree_between_coordinates_for_every_joint_type(void** state)
{
    (void)state;
    for (int type = 0; type < ITM_JOINT_TYPE_COUNT; type++) {
        ItmError error = {0};
        Run run[2];
        for (int c = 0; c < 2; c++) {
            ItmModel* m = NULL;
            CHECK_OK(itm_zoo_build_pair(&m, COORDINATES[c], (ItmJointType)type, &error), &error);
            run[c] = start_run(m, ITM_STEPPER_REFERENCE, 0.1);
        }
        assert_int_equal(itm_model_get_output_count(run[0].m), itm_model_get_output_count(run[1].m));
        for (int step = 0; step <= 3; step++) {
            itm_model_compute_outputs(run[0].m, run[0].d, run[0].values);
            itm_model_compute_outputs(run[1].m, run[1].d, run[1].values);
            for (int i = 0; i < itm_model_get_output_count(run[0].m); i++) {
                const char* name = itm_model_get_output_info(run[0].m, i).name;
                assert_string_equal(name, itm_model_get_output_info(run[1].m, i).name);
                // how hard the methods work may differ, what the mechanism does may not
                if (strncmp(name, "step.", 5) == 0 || strncmp(name, "violation.", 10) == 0) {
                    continue;
                }
                double a = run[0].values[i], b = run[1].values[i];
                if (!(fabs(a - b) <= 1e-9 * (1.0 + fabs(a)) * check_scale())) {
                    fail_msg("%s joint, step %d: %s is %.15g in absolute and %.15g in joint coordinates",
                             itm_model_joint_type_name((ItmJointType)type), step, name, a, b);
                }
            }
            advance(&run[0], 1);
            advance(&run[1], 1);
        }
        finish_run(&run[0]);
        finish_run(&run[1]);
    }
}

// ---------------------------------------------------------------------------- assembly

static void loop_that_cannot_close_is_named(void** state)
{
    (void)state;
    ItmError error = {0};
    ItmModelBuilder* b = NULL;
    ItmWorldDef world = itm_default_world_def();
    CHECK_OK(itm_model_builder_create(&b, &world, &error), &error);
    ItmBodyDef body = itm_default_body_def();
    body.name = "rod";
    CHECK_OK(itm_model_builder_add_body(b, &body, NULL, &error), &error);
    ItmJointDef pin = itm_default_joint_def(ITM_JOINT_SPHERICAL);
    pin.name = "near";
    pin.body_b = 0;
    CHECK_OK(itm_model_builder_add_joint(b, &pin, NULL, &error), &error);
    // the rod is 1 m long, its other end should be 3 m away
    pin.name = "far";
    pin.frame_a.p = (ItmVec3){3, 0, 0};
    pin.frame_b.p = (ItmVec3){1, 0, 0};
    CHECK_OK(itm_model_builder_add_joint(b, &pin, NULL, &error), &error);
    ItmModel* m = NULL;
    assert_int_equal(itm_model_build(&m, b, &error), ITM_ERR_ASSEMBLY);
    assert_null(m);
    assert_non_null(strstr(error.message, "far.t"));
    itm_model_builder_destroy(b);
}

static void gears_turn_with_their_ratio(void** state)
{
    (void)state;
    for (int c = 0; c < 2; c++) {
        ItmStepOptions options = choose(ITM_STEPPER_ALI3P, 1e-3);
        Run run = start_example("gears", &SET_COORDINATES[c], 1, &options);
        assert_int_equal(itm_model_get_info(run.m).freedom, 1);
        advance(&run, 500);
        CHECK_NEAR(output(&run, "violation.position"), 0.0, 1e-10);
        CHECK_NEAR(output(&run, "energy.balance"), 0.0, 1e-5);
        finish_run(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_on_a_spring_follows_the_damped_oscillator),
        cmocka_unit_test(servo_without_target_is_a_spring_that_does_work),
        cmocka_unit_test(servo_with_feedforward_follows_its_target),
        cmocka_unit_test(servo_pushes_no_harder_than_its_limit),
        cmocka_unit_test(servos_are_checked),
        cmocka_unit_test(implicit_spring_takes_any_step),
        cmocka_unit_test(stiff_compliant_joint_settles_at_its_static_deflection_at_any_step),
        cmocka_unit_test(bushing_between_free_bodies_keeps_energy_and_momenta),
        cmocka_unit_test(driven_slide_follows_its_signal_and_books_its_work),
        cmocka_unit_test(actuator_lifts_with_signal_plus_input),
        cmocka_unit_test(all_outputs_agree_between_coordinates_for_every_joint_type),
        cmocka_unit_test(loop_that_cannot_close_is_named),
        cmocka_unit_test(gears_turn_with_their_ratio),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
