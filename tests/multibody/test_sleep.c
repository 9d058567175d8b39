// Islands that sleep: the same machine as awake, at less work.
#include "contact_scene.h"

#include "math/vec.h"

#define STEP 2e-3

static void start_towers(Scene* s, const char* sleep_after)
{
    char override[64];
    snprintf(override, sizeof override, "multibody.contact.sleep_after=%s", sleep_after);
    const char* overrides[] = {override};
    start_example(s, "towers", overrides, 1, STEP);
}

static int count_asleep(const Scene* s)
{
    return itm_data_get_step_info(s->d).nasleep;
}

// Towers stand still within rounding, so that sleep changes nothing but rounding until the ball has come, and little after.
static void towers_move_as_if_they_had_not_slept(void** state)
{
    (void)state;
    Scene asleep, awake;
    start_towers(&asleep, "0.5 s");
    start_towers(&awake, "0");
    run(&asleep, 450);  // 0.9 s: before the ball comes
    run(&awake, 450);
    assert_int_equal(count_asleep(&asleep), 16);
    assert_int_equal(itm_data_get_step_info(asleep.d).ncontact, 0);
    assert_int_equal(count_asleep(&awake), 0);
    run(&asleep, 1550);
    run(&awake, 1550);
    assert_int_equal(itm_data_get_step_info(asleep.d).unsolved, 0);
    static const char* const NAMES[] = {"box1a", "box1b", "box1c", "box1d", "box2a", "box3d", "box4c", "ball"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        CHECK_CASE("%s", NAMES[i]);
        ItmVec3 p = itm_data_get_body_pose(asleep.m, asleep.d, itm_model_find_body(asleep.m, NAMES[i])).p;
        ItmVec3 q = itm_data_get_body_pose(awake.m, awake.d, itm_model_find_body(awake.m, NAMES[i])).p;
        // impacts and slips amplify a position that is off by rounding, 1e-14 m; observed 6e-10 m
        CHECK_NEAR(itm_vec_norm(itm_vec_sub(p, q)), 0.0, 1e-7);
    }
    // the energy that falling asleep takes is in the balance
    CHECK_NEAR(output(&asleep, "energy.balance"), output(&awake, "energy.balance"), 1e-6);
    close_scene(&asleep);
    close_scene(&awake);
}

// Only the tower that the ball reaches wakes up.
static void ball_wakes_one_tower(void** state)
{
    (void)state;
    Scene s;
    start_towers(&s, "0.5 s");
    int least = 16;
    run(&s, 450);
    for (int i = 450; i < 1000; i++) {
        run(&s, 1);
        least = count_asleep(&s) < least ? count_asleep(&s) : least;
    }
    assert_int_equal(least, 12);
    close_scene(&s);
}

// Outputs of a sleeping body are those of a body at rest.
static void sleeping_body_keeps_its_contact_force(void** state)
{
    (void)state;
    Scene s;
    start_towers(&s, "0.5 s");
    run(&s, 400);
    assert_int_equal(count_asleep(&s), 16);
    CHECK_NEAR(output(&s, "box2b.contact_force.z"), 5.0 * 9.81, 1e-7);  // its weight; solver 1e-9 of the tower's
    CHECK_NEAR(output(&s, "box2b.contact_count"), 8.0, 0.0);
    CHECK_NEAR(output(&s, "box2b.velocity.z"), 0.0, 0.0);
    CHECK_NEAR(output(&s, "solver.asleep"), 16.0, 0.0);
    close_scene(&s);
}

// A state saved while bodies sleep continues bit for bit, through the waking, and equal states are equal bytes.
static void saved_sleep_continues_bit_for_bit(void** state)
{
    (void)state;
    Scene a, b;
    start_towers(&a, "0.5 s");
    start_towers(&b, "0.5 s");
    run(&a, 450);
    size_t size = itm_data_get_state_size(a.m, a.d);
    char *bytes = malloc(size), *other = malloc(size);
    CHECK_OK(itm_data_save(a.m, a.d, bytes, size), itm_data_get_error(a.d));
    CHECK_OK(itm_data_restore(b.m, b.d, bytes, size), itm_data_get_error(b.d));
    run(&a, 301);  // an odd number: the two lists of rows, which take turns, have changed places
    run(&b, 301);
    CHECK_OK(itm_data_save(a.m, a.d, bytes, size), itm_data_get_error(a.d));
    CHECK_OK(itm_data_save(b.m, b.d, other, size), itm_data_get_error(b.d));
    assert_true(count_asleep(&a) == 12 && count_asleep(&b) == 12);
    assert_memory_equal(bytes, other, size);
    free(bytes);
    free(other);
    close_scene(&a);
    close_scene(&b);
}

// Positions and velocities that the caller sets wake everything.
static void set_state_wakes(void** state)
{
    (void)state;
    Scene s;
    start_towers(&s, "0.1 s");
    run(&s, 100);
    assert_int_equal(count_asleep(&s), 16);
    CHECK_OK(itm_data_set_qv(s.m, s.d, itm_data_get_q(s.d), itm_data_get_v(s.d)), itm_data_get_error(s.d));
    run(&s, 1);
    assert_int_equal(count_asleep(&s), 0);
    close_scene(&s);
}

// A compliant block on a compliant floor holds energy while it sleeps; a block on a spring, and one that slides, do not sleep.
static void open_compliant(Scene* s, bool has_spring, double angle)
{
    open_scene(s, itm_vec(9.81 * sin(angle), 0, -9.81 * cos(angle)));
    ItmContactOptions options = itm_default_contact_options();
    options.sleep_after = 0.2;
    ItmError error = {0};
    CHECK_OK(itm_model_builder_set_contact_options(s->b, &options, &error), &error);
    int material = add_material(s, "soft", (ItmSurface){.friction = 0.5, .stiffness = 1e5, .damping = 3e3});
    add_shape(s, ITM_GROUND, ITM_COLLIDER_PLANE, 0, 0, 0, at(0, 0, 0), material);
    int body = add_body(s, "block", 10.0, itm_vec(0.1, 0.1, 0.1), at(0, 0, 0.1));
    add_shape(s, body, ITM_COLLIDER_BOX, 0.4, 0.4, 0.2, at(0, 0, 0), material);
    if (has_spring) {
        ItmSpringDef spring = itm_default_spring_def();
        spring.name = "spring";
        spring.body_a = ITM_GROUND;
        spring.body_b = body;
        spring.point_a = itm_vec(0, 0, 2.0);
        spring.stiffness = 1.0;
        CHECK_OK(itm_model_builder_add_spring(s->b, &spring, NULL, &error), &error);
    }
    start_scene(s, 1e-3);
}

static void compliant_contacts_keep_their_energy(void** state)
{
    (void)state;
    Scene s;
    open_compliant(&s, false, 0.0);
    run(&s, 1000);
    assert_int_equal(count_asleep(&s), 1);
    double impact = output(&s, "energy.impact"), balance = output(&s, "energy.balance");
    // m g / (4 corners of two surfaces in series) and the energy they hold
    ItmPose p = itm_data_get_body_pose(s.m, s.d, 0);
    CHECK_NEAR(p.p.z, 0.1 - 98.1 / (4 * 0.5e5), 1e-6);
    run(&s, 100);
    assert_true(output(&s, "energy.impact") == impact && output(&s, "energy.balance") == balance);
    CHECK_OK(itm_data_set_qv(s.m, s.d, itm_data_get_q(s.d), itm_data_get_v(s.d)), itm_data_get_error(s.d));
    run(&s, 10);
    // what a block that just rests may move with, m sleep_speed^2 / 2, of 0.024 J in its contacts; observed 3e-9 J
    CHECK_NEAR(output(&s, "energy.impact"), impact, 5e-8);
    CHECK_NEAR(output(&s, "energy.balance"), balance, 5e-8);
    close_scene(&s);
}

static void what_moves_or_is_held_stays_awake(void** state)
{
    (void)state;
    Scene s;
    open_compliant(&s, true, 0.0);
    run(&s, 1000);
    assert_int_equal(count_asleep(&s), 0);
    close_scene(&s);
    open_compliant(&s, false, atan(0.6));
    run(&s, 1000);
    assert_int_equal(count_asleep(&s), 0);
    close_scene(&s);
}

static void bad_options_are_refused(void** state)
{
    (void)state;
    ItmModelFile* file = NULL;
    ItmError error = {0};
    const char* const bad[][2] = {{"multibody.contact.sleep_after=-1 s", "sleep_after"},
                                  {"multibody.contact.sleep_speed=0", "sleep_speed"}};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(itm_example_load(&file, "towers", &bad[i][0], 1, &error), ITM_ERR_INPUT);
        assert_non_null(strstr(error.message, bad[i][1]));
    }
    const char* variable[] = {"run.stepper=variable"};
    assert_int_equal(itm_example_load(&file, "towers", variable, 1, &error), ITM_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "sleep"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(towers_move_as_if_they_had_not_slept),
        cmocka_unit_test(ball_wakes_one_tower),
        cmocka_unit_test(sleeping_body_keeps_its_contact_force),
        cmocka_unit_test(saved_sleep_continues_bit_for_bit),
        cmocka_unit_test(set_state_wakes),
        cmocka_unit_test(compliant_contacts_keep_their_energy),
        cmocka_unit_test(what_moves_or_is_held_stays_awake),
        cmocka_unit_test(bad_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
