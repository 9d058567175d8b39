// Largest stable steps of dampers, springs and bushings: against closed forms, and against what steps do just below and above them.
#include "check.h"

#include "interim/interim.h"
#include "scenes/scene.h"

static const double HUB_MASS = 0.5, HUB_INERTIA = 0.01, LOAD_MASS = 4.0, LOAD_INERTIA = 0.2, ARM = 1.5;

typedef struct {
    ItmModel* m;
    ItmData* d;
} Case;

static int add_body(ItmScene* scene, const char* name, double mass, double inertia, double x)
{
    ItmBodyDef def = itm_default_body_def();
    def.name = name;
    def.mass = mass;
    def.inertia = (ItmSym3){.xx = inertia, .yy = inertia, .zz = inertia};
    def.pose.p.x = x;
    return itm_scene_add_body(scene, &def);
}

// A light hub that carries a heavy load at the end of an arm along x. Returns the hub.
static int add_hub(ItmScene* scene)
{
    int hub = add_body(scene, "hub", HUB_MASS, HUB_INERTIA, 0.0);
    int load = add_body(scene, "load", LOAD_MASS, LOAD_INERTIA, ARM);
    ItmJointDef weld = itm_default_joint_def(ITM_JOINT_FIXED);
    weld.name = "weld";
    weld.body_a = hub;
    weld.body_b = load;
    weld.frame_a.p.x = ARM;
    itm_scene_add_joint(scene, &weld);
    return hub;
}

static Case finish(ItmScene* scene, double step)
{
    Case c = {0};
    CHECK_OK(itm_scene_finish(scene, &c.m), scene->error);
    ItmStepOptions options = itm_default_step_options();
    options.step = step;
    CHECK_OK(itm_data_create(&c.d, c.m, &options, scene->error), scene->error);
    return c;
}

static void end(Case* c)
{
    itm_data_destroy(c->d);
    itm_model_destroy(c->m);
}

// The hub turns about z, against a spring and damper, at 1 rad/s.
static Case begin_hinge(ItmCoordinates coordinates, double stiffness, double damping, double step)
{
    ItmError error = {0};
    ItmScene scene = itm_scene_begin(coordinates, (ItmVec3){0}, &error);
    int hub = add_hub(&scene);
    ItmJointDef hinge = itm_scene_hinge("hinge", ITM_GROUND, (ItmVec3){0}, hub, (ItmVec3){0}, (ItmVec3){.z = 1.0});
    itm_scene_set_start(&hinge, ITM_RZ, 0.0, 1.0);
    ItmJointSpringDef damper = itm_default_joint_spring_def();
    damper.name = "damper";
    damper.joint = itm_scene_add_joint(&scene, &hinge);
    damper.stiffness = stiffness;
    damper.damping = damping;
    CHECK_OK(itm_model_builder_add_joint_spring(scene.builder, &damper, NULL, &error), &error);
    return finish(&scene, step);
}

static double joint_rate(Case* c)
{
    double values[64];
    assert_true(itm_model_get_output_count(c->m) <= 64);
    CHECK_OK(itm_model_compute_outputs(c->m, c->d, values), itm_data_get_error(c->d));
    return fabs(values[itm_model_find_output(c->m, "hinge.angle_rate")]);
}

static const ItmCoordinates COORDINATES[] = {ITM_COORDINATES_JOINT, ITM_COORDINATES_ABSOLUTE};

// W (k h^2 + 2 d h) = 4 with W = 1 / I of all that turns; the limit of the hub alone is nearly a thousand times smaller.
static void the_limit_of_a_hinge_counts_what_it_carries(void** state)
{
    (void)state;
    double inertia = HUB_INERTIA + LOAD_INERTIA + LOAD_MASS * ARM * ARM;
    const double stiffness[] = {0.0, 3e5}, damping[] = {1000.0, 20.0};
    for (int i = 0; i < 4; i++) {
        double k = stiffness[i / 2], b = damping[i / 2];
        Case c = begin_hinge(COORDINATES[i % 2], k, b, 1e-3);
        ItmStepLimit alone = itm_stiffness_get_limit(c.m, 0), limit = itm_stiffness_compute_limit(c.m, c.d, 0);
        double h = limit.step;
        assert_string_equal(limit.name, "damper");
        CHECK_NEAR((k * h * h + 2.0 * b * h) / inertia, 4.0,
                   2e-11);  // rounding, with rows 1e3 times as large; observed 1e-12
        assert_true(alone.step < h);
        end(&c);
    }
}

static void steps_are_stable_below_the_limit_and_unstable_above_it(void** state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        Case c = begin_hinge(COORDINATES[i], 0.0, 1000.0, 1e-3);
        double limit = itm_stiffness_compute_limit(c.m, c.d, 0).step;
        end(&c);
        const double factor[] = {0.97, 1.03};
        for (int k = 0; k < 2; k++) {
            // a step multiplies the rate by 1 - 2 factor
            c = begin_hinge(COORDINATES[i], 0.0, 1000.0, factor[k] * limit);
            for (int n = 0; n < 20; n++) {
                CHECK_OK(itm_step(c.m, c.d), itm_data_get_error(c.d));
            }
            double rate = pow(fabs(1.0 - 2.0 * factor[k]), 20);
            CHECK_NEAR(joint_rate(&c), rate, 1e-9 * rate);  // joint gaps of 1e-11 over an arm of 1.5 m
            end(&c);
        }
    }
}

// Translation along the arm moves both bodies without turning them.
static void the_limit_of_a_bushing_counts_what_it_carries(void** state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        ItmError error = {0};
        ItmScene scene = itm_scene_begin(COORDINATES[i], (ItmVec3){0}, &error);
        ItmBushingDef def = itm_default_bushing_def();
        def.name = "mount";
        def.body_a = ITM_GROUND;
        def.body_b = add_hub(&scene);
        def.damping[ITM_TX] = 5000.0;
        CHECK_OK(itm_model_builder_add_bushing(scene.builder, &def, NULL, &error), &error);
        Case c = finish(&scene, 1e-3);
        double limit = 2.0 * (HUB_MASS + LOAD_MASS) / 5000.0;
        CHECK_NEAR(itm_stiffness_compute_limit(c.m, c.d, 0).step, limit, 1e-12 * limit);
        assert_true(itm_stiffness_get_limit(c.m, 0).step < 0.2 * limit);
        // looking changes nothing
        double q[64];
        int nq = itm_model_get_info(c.m).nq;
        memcpy(q, itm_data_get_q(c.d), sizeof *q * (size_t)nq);
        itm_stiffness_compute_limit(c.m, c.d, 0);
        assert_memory_equal(q, itm_data_get_q(c.d), sizeof *q * (size_t)nq);
        end(&c);
    }
}

static void wrong_elements_are_refused(void** state)
{
    (void)state;
    Case c = begin_hinge(ITM_COORDINATES_JOINT, 0.0, 1.0, 1e-3);
    assert_null(itm_stiffness_compute_limit(c.m, c.d, 7).name);
    assert_null(itm_stiffness_compute_limit(c.m, NULL, 0).name);
    end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_limit_of_a_hinge_counts_what_it_carries),
        cmocka_unit_test(steps_are_stable_below_the_limit_and_unstable_above_it),
        cmocka_unit_test(the_limit_of_a_bushing_counts_what_it_carries),
        cmocka_unit_test(wrong_elements_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
