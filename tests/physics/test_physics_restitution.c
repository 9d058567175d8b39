// Newton's restitution: every impact leaves e times the speed and takes (1 - e^2) of the energy along the normal, up to and with
// e = 1, whatever the step, the shape, and whether a contact, a limit or a joint with clearance bounces.
#include "contact_scene.h"

#include "interim/file.h"

static const double E[] = {0.0, 0.5, 0.999, 1.0};
static const double STEPS[] = {1e-4, 1e-3, 3e-3};
enum { NE = 4, NSTEP = 3 };

// ---------------------------------------------------------------------------- contacts

static const struct {
    const char* name;
    ItmColliderKind kind;
    double size[3];
    double half;  // height of its centre when it lies
    bool lies;    // its axis along x
} SHAPES[] = {{"sphere", ITM_COLLIDER_SPHERE, {0.1, 0, 0}, 0.1, false},
              {"box", ITM_COLLIDER_BOX, {0.2, 0.3, 0.1}, 0.05, false},
              {"capsule", ITM_COLLIDER_CAPSULE, {0.1, 0.4, 0}, 0.1, true},
              {"cylinder", ITM_COLLIDER_CYLINDER, {0.1, 0.2, 0}, 0.1, false}};

// A body falls from 0.2 m and bounces once. Its speeds are compared in the step of the impact, its height with that of the fall: the
// stepper retraces a perfect bounce step by step.
static void check_drop(int shape, double e, double h)
{
    const double g = 9.81, height = 0.2, floor = SHAPES[shape].half;
    Scene s;
    open_scene(&s, DOWN);
    int material = add_material(&s, "hard", (ItmSurface){.friction = 0.5, .restitution = e});
    ItmPose pose = SHAPES[shape].lies ? turned_y(0, 0, floor + height, acos(0.0)) : at(0, 0, floor + height);
    int body = add_body(&s, "body", 2.0, (ItmVec3){0.02, 0.03, 0.025}, pose);
    add_shape(&s, ITM_GROUND, ITM_COLLIDER_PLANE, 0, 0, 0, at(0, 0, 0), material);
    add_shape(&s, body, SHAPES[shape].kind, SHAPES[shape].size[0], SHAPES[shape].size[1], SHAPES[shape].size[2],
              at(0, 0, 0), material);
    start_scene(&s, h);
    double fall = sqrt(2.0 * height / g), before = 0.0, v = 0.0, top = 0.0;
    while (itm_data_get_time(s.d) < fall + 10.0 * h && !(v > before + 0.5 * fabs(before))) {
        before = v;
        run(&s, 1);
        v = itm_data_get_v(s.d)[2];
    }
    // rounding of a few thousand steps; the impulse holds against the weight too, and takes the mean speed of the step from it
    if (e > 0.0) {
        CHECK_NEAR(v, -e * before, 1e-9);
        CHECK_NEAR(output(&s, "energy.impact"), 0.5 * 2.0 * (1.0 - e) * -before * ((1.0 + e) * -before + g * h), 1e-9);
    }
    while (itm_data_get_time(s.d) < 2.02 * fall) {
        run(&s, 1);
        top = fmax(top, output(&s, "body.position.z") - floor);
    }
    // e^2 of the height, started up to a step's way too high
    CHECK_NEAR(top, e * e * height, e < 1.0 ? h * sqrt(2.0 * g * height) + 1e-6 : 1e-9);
    close_scene(&s);
}

static void bodies_bounce_with_the_share_of_their_speed(void** state)
{
    (void)state;
    for (int k = 0; k < (int)(sizeof SHAPES / sizeof *SHAPES) * NE * NSTEP; k++) {
        check_drop(k / (NE * NSTEP), E[k % NE], STEPS[k / NE % NSTEP]);
    }
}

// ---------------------------------------------------------------------------- limits and joints with clearance

// A slide between two limits, without forces: after any number of impacts e^n of the speed is left.
static void limits_bounce_with_the_share_of_the_speed(void** state)
{
    (void)state;
    for (int k = 0; k < NE * NSTEP; k++) {
        double e = E[k % NE], h = STEPS[k / NE];
        Scene s;
        ItmError error = {0};
        open_scene(&s, (ItmVec3){0, 0, 0});
        int body = add_body(&s, "body", 2.0, (ItmVec3){1, 1, 1}, at(0, 0, 0));
        ItmJointDef slide = itm_default_joint_def(ITM_JOINT_PRISMATIC);
        slide.name = "slide";
        slide.body_b = body;
        slide.has_start[ITM_TZ] = true;
        slide.start_rate[ITM_TZ] = 3.0;
        ItmLimitDef limit = itm_default_limit_def();
        limit.name = "stop";
        CHECK_OK(itm_model_builder_add_joint(s.b, &slide, &limit.joint, &error), &error);
        limit.direction = ITM_TZ;
        limit.lower = -0.1;
        limit.upper = 0.1;
        limit.restitution = e;
        CHECK_OK(itm_model_builder_add_limit(s.b, &limit, NULL, &error), &error);
        start_scene(&s, h);
        int impacts = 0;
        double v = 3.0;
        for (int i = 0; i < (int)lround(0.3 / h); i++) {
            double before = v;
            run(&s, 1);
            v = output(&s, "slide.displacement_rate");
            impacts += v * before < 0.0;
        }
        double left = e > 0.0 ? 3.0 * pow(e, impacts) : 0.0;
        assert_true(e == 0.0 || impacts >= 2);
        CHECK_NEAR(fabs(v), left, 1e-9);
        CHECK_NEAR(output(&s, "energy.impact"), 0.5 * 2.0 * (9.0 - left * left), 1e-8);
        close_scene(&s);
    }
}

// The pendulum on a hinge with clearance falls free, and its hub bounces on the pin for a second: perfect bounces lose nothing.
static void joints_with_clearance_lose_nothing_in_perfect_bounces(void** state)
{
    (void)state;
    const char* steppers[] = {"run.stepper=euler", "run.stepper=variable"};
    for (int k = 0; k < 2; k++) {
        const char* overrides[] = {steppers[k], "multibody.joints.joint.clearance.restitution=1"};
        ItmModelFile* file = NULL;
        ItmError error = {0};
        CHECK_OK(itm_file_load(&file, ITM_SOURCE_DIR "/examples/clearance-pendulum.yaml", overrides, 2, &error),
                 &error);
        Scene s = {.m = file->model};
        CHECK_OK(itm_data_create(&s.d, s.m, &file->run.step, &error), &error);
        s.values = calloc((size_t)itm_model_get_output_count(s.m), sizeof(double));
        while (itm_data_get_time(s.d) < 1.0) {
            run(&s, 1);
        }
        // 0.49 J goes where the first impact has no rebound; what is left is the tolerance of the solver, 1e-9 of x v an impact
        CHECK_NEAR(output(&s, "energy.impact"), 0.0, 1e-7);
        file->model = file->mechanisms[0].model = NULL;
        itm_file_destroy(file);
        close_scene(&s);
    }
}

// ---------------------------------------------------------------------------- chains of balls

// Five equal balls in a row, the first comes with 1 m/s. Momentum is that of the first whatever e and the gaps; energy is lost for
// e < 1 only. Where a gap lets impacts follow each other, e = 1 hands the speed on to the last ball.
static void check_cradle(double gap, double e, double h)
{
    enum { N = 5 };
    const double r = 0.1, mass = 2.0;
    Scene s;
    open_scene(&s, (ItmVec3){0, 0, 0});
    int material = add_material(&s, "hard", (ItmSurface){.restitution = e});
    for (int i = 0; i < N; i++) {
        char name[32];
        ItmBodyDef def = itm_default_body_def();
        ItmError error = {0};
        int ball;
        snprintf(name, sizeof name, "ball%d", i);
        def.name = name;
        def.mass = mass;
        def.inertia = (ItmSym3){.xx = 0.008, .yy = 0.008, .zz = 0.008};
        def.has_pose = true;
        def.pose = at(i * (2.0 * r + gap) - (i == 0 ? 0.05 : 0.0), 0, 0);
        def.velocity.x = i == 0 ? 1.0 : 0.0;
        CHECK_OK(itm_model_builder_add_body(s.b, &def, &ball, &error), &error);
        add_shape(&s, ball, ITM_COLLIDER_SPHERE, r, 0, 0, at(0, 0, 0), material);
    }
    start_scene(&s, h);
    double lost = 0.0;
    for (int k = 0; k < (int)lround(0.2 / h); k++) {
        run(&s, 1);
        double now = output(&s, "energy.impact");
        assert_true(now >= lost - 1e-9);  // impacts take energy, they never give any
        lost = now;
    }
    CHECK_NEAR(output(&s, "momentum.linear.x"), mass * 1.0, 1e-9);
    CHECK_NEAR(output(&s, "energy.kinetic") + lost, 0.5 * mass, 1e-9);
    if (e == 1.0) {
        CHECK_NEAR(lost, 0.0, 1e-8);
    }
    for (int i = 0; i < N && e == 1.0 && gap > 0.0; i++) {
        CHECK_NEAR(itm_data_get_body_velocity(s.m, s.d, i).x, i == N - 1 ? 1.0 : 0.0, 1e-8);
    }
    close_scene(&s);
}

static void rows_of_balls_keep_momentum_and_hand_on_perfect_bounces(void** state)
{
    (void)state;
    const double gaps[] = {0.0, 5e-3};
    for (int k = 0; k < 2 * NE * NSTEP; k++) {
        check_cradle(gaps[k / (NE * NSTEP)], E[k % NE], STEPS[k / NE % NSTEP]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_bounce_with_the_share_of_their_speed),
        cmocka_unit_test(limits_bounce_with_the_share_of_the_speed),
        cmocka_unit_test(joints_with_clearance_lose_nothing_in_perfect_bounces),
        cmocka_unit_test(rows_of_balls_keep_momentum_and_hand_on_perfect_bounces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
