// Bounded rows beside plain contact: joint stops, dry friction and motors of joints, compliance, user's gaps, filters, and the
// contracts of a data object that has them.
#include "check.h"

#include "contact_scene.h"

static const ItmCoordinates COORDINATES[2] = {ITM_COORDINATES_ABSOLUTE, ITM_COORDINATES_JOINT};

// A block of 2 kg on a horizontal slide along x, and the joint's id.
static int add_slide(Scene* s, ItmCoordinates coordinates, double start, double speed)
{
    ItmError error = {0};
    int body = add_body(s, "block", 2.0, (ItmVec3){0.1, 0.1, 0.1}, at(start, 0, 0)), joint;
    ItmJointDef def = itm_default_joint_def(ITM_JOINT_PRISMATIC);
    def.name = "slide";
    def.body_b = body;
    CHECK_OK(itm_model_frame_from_axis(&def.frame_a, (ItmVec3){0, 0, 0}, (ItmVec3){1, 0, 0}, (ItmVec3){0}, &error),
             &error);
    def.frame_b.q = def.frame_a.q;
    def.has_start[ITM_TZ] = true;
    def.start[ITM_TZ] = start;
    def.start_rate[ITM_TZ] = speed;
    def.coordinates = coordinates == ITM_COORDINATES_ABSOLUTE ? ITM_JOINT_ROWS : ITM_JOINT_TREE;
    CHECK_OK(itm_model_builder_add_joint(s->b, &def, &joint, &error), &error);
    return joint;
}

static void add_pull(Scene* s, double force)
{
    ItmError error = {0};
    ItmLoadDef load = itm_default_load_def();
    load.name = "pull";
    load.body = 0;
    load.vector = (ItmVec3){force, 0, 0};
    CHECK_OK(itm_model_builder_add_load(s->b, &load, NULL, &error), &error);
}

// ---------------------------------------------------------------------------- joints

static void joint_stop_holds_and_bounces(void** state)
{
    (void)state;
    for (int c = 0; c < 2; c++) {
        for (int bounce = 0; bounce < 2; bounce++) {
            Scene s;
            ItmError error = {0};
            open_scene(&s, DOWN);
            ItmLimitDef limit = itm_default_limit_def();
            limit.name = "stop";
            limit.joint = add_slide(&s, COORDINATES[c], 0.0, 1.0);
            limit.direction = ITM_TZ;
            limit.upper = 0.5;
            limit.restitution = bounce ? 0.5 : 0.0;
            CHECK_OK(itm_model_builder_add_limit(s.b, &limit, NULL, &error), &error);
            add_pull(&s, bounce ? 0.0 : 6.0);
            start_scene(&s, 1e-3);
            run(&s, 600);
            if (bounce) {
                // turns at 0.5 m after 0.5 s, up to a step early, and comes back at half the speed
                CHECK_NEAR(output(&s, "slide.displacement_rate"), -0.5, 1e-12);
                CHECK_NEAR(output(&s, "slide.displacement"), 0.45, 2e-3);
                CHECK_NEAR(output(&s, "energy.impact"), 0.75 * 0.5 * 2.0, 1e-9);
            } else {
                // 1e-9: what counts as rounding
                CHECK_NEAR(output(&s, "slide.displacement"), 0.5, 1.1e-9);
                CHECK_NEAR(output(&s, "stop.force"), -6.0, 1e-9);
            }
            CHECK_NEAR(output(&s, "slide.force.z"), 2.0 * 9.81, 1e-8);
            close_scene(&s);
        }
    }
}

static void joint_friction_sticks_and_stops(void** state)
{
    (void)state;
    for (int c = 0; c < 2; c++) {
        for (int moving = 0; moving < 2; moving++) {
            Scene s;
            ItmError error = {0};
            open_scene(&s, DOWN);
            ItmJointFrictionDef friction = itm_default_joint_friction_def();
            friction.name = "seal";
            friction.joint = add_slide(&s, COORDINATES[c], 0.0, moving ? 1.0 : 0.0);
            friction.direction = ITM_TZ;
            friction.force = 4.0;
            CHECK_OK(itm_model_builder_add_joint_friction(s.b, &friction, NULL, &error), &error);
            add_pull(&s, moving ? 0.0 : 3.9);
            start_scene(&s, 1e-3);
            run(&s, 700);
            // v0^2 / (2 F / m) less v0 h / 2 of semi-implicit Euler; or nothing below the limit
            CHECK_NEAR(output(&s, "slide.displacement"), moving ? 0.25 - 0.5e-3 : 0.0, 1e-9);
            CHECK_NEAR(output(&s, "slide.displacement_rate"), 0.0, 1e-12);
            CHECK_NEAR(output(&s, "energy.friction"), moving ? 1.0 : 0.0, 1e-9);
            close_scene(&s);
        }
    }
}

static void motor_yields_at_its_limit_and_follows_below(void** state)
{
    (void)state;
    for (int c = 0; c < 2; c++) {
        for (int weak = 0; weak < 2; weak++) {
            Scene s;
            ItmError error = {0};
            open_scene(&s, DOWN);
            int joint = add_slide(&s, COORDINATES[c], 0.0, 0.0);
            ItmSignalDef signal = itm_default_signal_def();
            signal.name = "speed";
            signal.value = 0.3;
            ItmMotionDef motor = itm_default_motion_def();
            motor.name = "motor";
            motor.joint = joint;
            motor.direction = ITM_TZ;
            motor.kind = ITM_MOTION_VELOCITY;
            // against a pull of -5 N: too weak at 4 N, strong enough at 50 N
            motor.max_force = weak ? 4.0 : 50.0;
            CHECK_OK(itm_model_builder_add_signal(s.b, &signal, &motor.signal, &error), &error);
            CHECK_OK(itm_model_builder_add_motion(s.b, &motor, NULL, &error), &error);
            add_pull(&s, -5.0);
            start_scene(&s, 1e-3);
            run(&s, 500);
            double start = output(&s, "slide.displacement_rate");
            run(&s, 500);
            double accel = (output(&s, "slide.displacement_rate") - start) / 0.5;
            CHECK_NEAR(accel, weak ? -0.5 : 0.0, 1e-9);
            CHECK_NEAR(output(&s, "motor.force"), weak ? 4.0 : 5.0, 1e-8);
            close_scene(&s);
        }
    }
}

// ---------------------------------------------------------------------------- compliance and stick-slip

static void compliant_ground_gives_by_the_static_deflection(void** state)
{
    (void)state;
    Scene s;
    open_scene(&s, DOWN);
    int soft = add_material(&s, "soft", (ItmSurface){.friction = 0.5, .stiffness = 2e6, .damping = 1e4});
    int hard = add_material(&s, "hard", (ItmSurface){.friction = 0.5});
    int ball = add_body(&s, "ball", 4.0, (ItmVec3){0.1, 0.1, 0.1}, at(0, 0, 0.2));
    add_shape(&s, ITM_GROUND, ITM_COLLIDER_PLANE, 0, 0, 0, at(0, 0, 0), soft);
    add_shape(&s, ball, ITM_COLLIDER_SPHERE, 0.2, 0, 0, at(0, 0, 0), hard);
    start_scene(&s, 5e-3);
    run(&s, 1000);
    // the solver leaves at most 1e-9 m/s, times the step
    CHECK_NEAR(output(&s, "ball.position.z"), 0.2 - 4.0 * 9.81 / 2e6, 5e-12);
    CHECK_NEAR(output(&s, "ball.contact_force.z"), 4.0 * 9.81, 5e-12 * 2e6);
    close_scene(&s);
}

static void block_on_a_belt_sticks_and_slips(void** state)
{
    (void)state;
    // block of m on a belt at speed V, held by a spring k: it sticks until k x = mu m g, then slips; with one coefficient of
    // friction and negligible V the slip is half a period about x = mu m g / k that ends when the speeds agree again
    const double mu = 0.4, m = 2.0, k = 100.0, V = 0.05, g = 9.81;
    const char* overrides[] = {"parameters.mu=0.4", "parameters.k=100 N/m", "parameters.v=50 mm/s",
                               "multibody.bodies.block.velocity=[0, 0, 0]"};
    Scene s;
    start_example(&s, "stick-slip", overrides, 4, 5e-4);
    double x_slip = mu * m * g / k, t_slip = x_slip / V;
    run(&s, (int)(0.99 * t_slip / 5e-4));
    // still sticking: moved exactly with the belt
    CHECK_NEAR(output(&s, "block.velocity.x"), V, 1e-9);
    double largest = 0.0;
    for (int i = 0; i < 2000; i++) {
        run(&s, 1);
        largest = fmax(largest, output(&s, "block.position.x"));
    }
    // overshoot of the slip phase: x_slip + V sqrt(m / k)
    CHECK_NEAR(largest, x_slip + V * sqrt(m / k), 1e-4);
    close_scene(&s);
}

static void painleves_rod_starts_without_breaking_down(void** state)
{
    (void)state;
    // a slender rod at 45 degrees with mu = 1.8 > 4/3 dragged over the floor: rigid forces have no solution there, impulses do
    Scene s;
    open_scene(&s, DOWN);
    int material = add_material(&s, "chalk", (ItmSurface){.friction = 1.8});
    double angle = 0.25 * acos(-1.0), length = 2.0, r = 0.01;
    ItmPose pose = turned_y(0, 0, 0.5 * length * cos(angle) + r, angle);
    int rod = add_body(&s, "rod", 1.0, (ItmVec3){1.0 / 3.0, 1.0 / 3.0, 1e-3}, pose);
    add_shape(&s, ITM_GROUND, ITM_COLLIDER_PLANE, 0, 0, 0, at(0, 0, 0), material);
    add_shape(&s, rod, ITM_COLLIDER_CAPSULE, r, length, 0, at(0, 0, 0), material);
    start_scene(&s, 1e-3);
    double q[7] = {pose.p.x, pose.p.y, pose.p.z, pose.q.w, pose.q.x, pose.q.y, pose.q.z}, v[6] = {0};
    for (int direction = -1; direction <= 1; direction += 2) {
        itm_reset(s.m, s.d);
        v[0] = 3.0 * direction;
        CHECK_OK(itm_data_set_qv(s.m, s.d, q, v), itm_data_get_error(s.d));
        double before = output(&s, "energy.mechanical");
        for (int i = 0; i < 1500; i++) {
            run(&s, 1);
            double now = output(&s, "energy.mechanical");
            assert_true(now <= before + 1e-6);
            before = now;
        }
        ItmStepInfo info = itm_data_get_step_info(s.d);
        assert_int_equal(info.unsolved, 0);
        assert_true(output(&s, "rod.position.z") > 0.0);
    }
    close_scene(&s);
}

// ---------------------------------------------------------------------------- user's gaps, filters

// The inside of a bowl: a sphere of radius R about the origin of body a; body b is a ball of radius r.
static int bowl(void* context, ItmGapPoint* points, int max, const ItmPose* a, const ItmPose* b)
{
    (void)max;
    const double* radii = context;
    double x = b->p.x - a->p.x, y = b->p.y - a->p.y, z = b->p.z - a->p.z, distance = sqrt(x * x + y * y + z * z);
    if (distance < 1e-9) {
        return 0;
    }
    // from the bowl to the ball: inwards
    ItmVec3 n = {-x / distance, -y / distance, -z / distance};
    points[0].gap = radii[0] - radii[1] - distance;
    points[0].normal = n;
    points[0].point_a = (ItmVec3){a->p.x - radii[0] * n.x, a->p.y - radii[0] * n.y, a->p.z - radii[0] * n.z};
    points[0].point_b = (ItmVec3){b->p.x - radii[1] * n.x, b->p.y - radii[1] * n.y, b->p.z - radii[1] * n.z};
    points[0].key = 1;
    return 1;
}

static void ball_swings_in_a_bowl_given_by_the_user(void** state)
{
    (void)state;
    static double radii[2] = {1.0, 0.1};
    Scene s;
    ItmError error = {0};
    open_scene(&s, DOWN);
    int ball = add_body(&s, "ball", 1.0, (ItmVec3){0.004, 0.004, 0.004}, at(0.9 * sin(0.1), 0, -0.9 * cos(0.1)));
    ItmGapDef gap = itm_default_gap_def();
    gap.name = "bowl";
    gap.body_b = ball;
    gap.function = bowl;
    gap.context = radii;
    gap.surface = (ItmSurface){0};
    CHECK_OK(itm_model_builder_add_gap(s.b, &gap, NULL, &error), &error);
    start_scene(&s, 1e-4);
    // without friction it slides like a pendulum of 0.9 m: half a period later it is on the other side
    double half = acos(-1.0) * sqrt(0.9 / 9.81) * (1.0 + 0.1 * 0.1 / 16.0);
    run(&s, (int)lround(half / 1e-4));
    CHECK_NEAR(output(&s, "ball.position.x"), -0.9 * sin(0.1), 2e-4);
    close_scene(&s);
}

static bool do_spheres_meet(uint32_t group_a, uint32_t mask_b, bool exclude)
{
    Scene s;
    ItmError error = {0};
    open_scene(&s, (ItmVec3){0, 0, 0});
    for (int i = 0; i < 2; i++) {
        int body = add_body(&s, i == 0 ? "first" : "second", 1.0, (ItmVec3){1, 1, 1}, at(1.9 * i, 0, 0));
        ItmColliderDef def = itm_default_collider_def();
        def.name = i == 0 ? "shape-first" : "shape-second";
        def.body = body;
        def.size[0] = 1.0;
        def.group = i == 0 ? group_a : 1;
        def.mask = i == 0 ? UINT32_MAX : mask_b;
        CHECK_OK(itm_model_builder_add_collider(s.b, &def, NULL, &error), &error);
    }
    if (exclude) {
        CHECK_OK(itm_model_builder_exclude_contact(s.b, 1, 0, &error), &error);
    }
    start_scene(&s, 1e-3);
    run(&s, 1);
    bool is_met = itm_contact_get_count(s.d) > 0;
    close_scene(&s);
    return is_met;
}

static void groups_masks_and_excluded_pairs_decide_who_meets(void** state)
{
    (void)state;
    assert_true(do_spheres_meet(1, UINT32_MAX, false));
    assert_false(do_spheres_meet(2, 1, false));
    assert_true(do_spheres_meet(2, 3, false));
    assert_false(do_spheres_meet(1, UINT32_MAX, true));
}

// ---------------------------------------------------------------------------- contracts

static void build_heap(Scene* s)
{
    open_scene(s, DOWN);
    int material = add_material(s, "stone", (ItmSurface){.friction = 0.6, .restitution = 0.2});
    add_shape(s, ITM_GROUND, ITM_COLLIDER_PLANE, 0, 0, 0, at(0, 0, 0), material);
    for (int i = 0; i < 5; i++) {
        char name[24];
        snprintf(name, sizeof name, "stone%d", i);
        int body = add_body(s, name, 1.0 + i, (ItmVec3){0.01, 0.012, 0.014}, at(0.05 * i, 0.03 * i, 0.12 + 0.22 * i));
        if (i % 2) {
            add_shape(s, body, ITM_COLLIDER_SPHERE, 0.1, 0, 0, at(0, 0, 0), material);
        } else {
            add_shape(s, body, ITM_COLLIDER_BOX, 0.3, 0.25, 0.2, at(0, 0, 0), material);
        }
    }
    start_scene(s, 2e-3);
}

static void restored_heap_continues_with_identical_bits(void** state)
{
    (void)state;
    Scene a, b;
    build_heap(&a);
    build_heap(&b);
    size_t size = itm_data_get_state_size(a.m, a.d), nq = sizeof(double) * (size_t)itm_model_get_info(a.m).nq;
    void* bytes = malloc(size);
    run(&a, 200);
    CHECK_OK(itm_data_save(a.m, a.d, bytes, size), itm_data_get_error(a.d));
    run(&a, 200);
    run(&b, 17);
    CHECK_OK(itm_data_restore(b.m, b.d, bytes, size), itm_data_get_error(b.d));
    run(&b, 200);
    assert_memory_equal(itm_data_get_q(a.d), itm_data_get_q(b.d), nq);
    free(bytes);
    close_scene(&a);
    close_scene(&b);
}

static void other_steppers_refuse_contact(void** state)
{
    (void)state;
    Scene s;
    build_heap(&s);
    for (int stepper = ITM_STEPPER_ALI1; stepper <= ITM_STEPPER_REFERENCE; stepper++) {
        ItmError error = {0};
        ItmStepOptions options = itm_default_step_options();
        options.stepper = (ItmStepper)stepper;
        ItmData* d = NULL;
        assert_int_equal(itm_data_create(&d, s.m, &options, &error), ITM_ERR_UNSUPPORTED);
        assert_string_equal(error.field, "stepper");
        assert_null(d);
    }
    close_scene(&s);
}

static void too_many_contacts_are_an_error_that_names_the_remedy(void** state)
{
    (void)state;
    Scene s;
    ItmError error = {0};
    open_scene(&s, DOWN);
    ItmContactOptions options = itm_default_contact_options();
    options.max_contacts = 3;
    CHECK_OK(itm_model_builder_set_contact_options(s.b, &options, &error), &error);
    int body = add_body(&s, "box", 1.0, (ItmVec3){1, 1, 1}, at(0, 0, 0.5));
    add_shape(&s, ITM_GROUND, ITM_COLLIDER_PLANE, 0, 0, 0, at(0, 0, 0), ITM_NONE);
    add_shape(&s, body, ITM_COLLIDER_BOX, 1, 1, 1, at(0, 0, 0), ITM_NONE);
    start_scene(&s, 1e-3);
    assert_int_equal(itm_step(s.m, s.d), ITM_ERR_CAPACITY);
    assert_non_null(strstr(itm_data_get_error(s.d)->message, "max_contacts"));
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joint_stop_holds_and_bounces),
        cmocka_unit_test(joint_friction_sticks_and_stops),
        cmocka_unit_test(motor_yields_at_its_limit_and_follows_below),
        cmocka_unit_test(compliant_ground_gives_by_the_static_deflection),
        cmocka_unit_test(block_on_a_belt_sticks_and_slips),
        cmocka_unit_test(painleves_rod_starts_without_breaking_down),
        cmocka_unit_test(ball_swings_in_a_bowl_given_by_the_user),
        cmocka_unit_test(groups_masks_and_excluded_pairs_decide_who_meets),
        cmocka_unit_test(restored_heap_continues_with_identical_bits),
        cmocka_unit_test(other_steppers_refuse_contact),
        cmocka_unit_test(too_many_contacts_are_an_error_that_names_the_remedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
