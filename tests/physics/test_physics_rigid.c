// Laws that rigid mechanisms must obey, in both kinds of coordinates and with every stepper.
#include "check.h"

#include "run.h"
#include "scenes/scene.h"

static ItmStepOptions choose(ItmStepper stepper, double step)
{
    ItmStepOptions options = itm_default_step_options();
    options.stepper = stepper;
    options.step = step;
    options.tolerance = stepper == ITM_STEPPER_REFERENCE ? 1e-12 : 1e-11;
    options.frequency = 100.0;  // ALI1: the same for all steps, so that its order can be seen
    return options;
}

static Run start_run(ItmModel* m, ItmStepper stepper, double step)
{
    ItmStepOptions options = choose(stepper, step);
    return start_run_with(m, &options);
}

// Largest difference of body positions between two runs of models with the same bodies.
static double compare_positions(Run* a, Run* b)
{
    double largest = 0.0;
    int n = itm_model_get_info(a->m).nbody;
    for (int i = 0; i < n; i++) {
        ItmPose p = itm_data_get_body_pose(a->m, a->d, i), q = itm_data_get_body_pose(b->m, b->d, i);
        largest = fmax(largest, hypot(p.p.x - q.p.x, hypot(p.p.y - q.p.y, p.p.z - q.p.z)));
        // quaternions up to sign
        double dot = p.q.w * q.q.w + p.q.x * q.q.x + p.q.y * q.q.y + p.q.z * q.q.z;
        double s = dot < 0 ? -1.0 : 1.0;
        largest = fmax(largest, fabs(p.q.w - s * q.q.w));
        largest = fmax(largest, fabs(p.q.x - s * q.q.x));
        largest = fmax(largest, fabs(p.q.y - s * q.q.y));
        largest = fmax(largest, fabs(p.q.z - s * q.q.z));
    }
    return largest;
}

// ---------------------------------------------------------------------------- closed forms

// Period of examples/pendulum.yaml, a cylinder of radius 10 mm hinged 0.5 m from its centre:
// T = 4 sqrt(I / (m g c)) K(sin(amplitude / 2)),  K(k) = pi / (2 agm(1, sqrt(1 - k^2)))
static double compute_pendulum_period(double amplitude)
{
    double L = 1.0, r = 0.01, a = 1, g = cos(0.5 * amplitude);
    while (fabs(a - g) > 1e-15 * a) {
        double mean = 0.5 * (a + g);
        g = sqrt(a * g);
        a = mean;
    }
    double inertia = (3 * r * r + L * L) / 12 + 0.25 * L * L;  // about the hinge, over the mass
    return 2 * acos(-1.0) * sqrt(inertia / (9.81 * 0.5 * L)) / a;
}

static void pendulum_has_the_period_of_the_elliptic_integral(void** state)
{
    (void)state;
    for (int c = 0; c < 2; c++) {
        const char* overrides[] = {SET_COORDINATES[c], "parameters.start=2.5 rad"};
        // after whole periods the pendulum is where it was let go, at rest
        ItmStepOptions options = choose(ITM_STEPPER_REFERENCE, compute_pendulum_period(2.5));
        Run run = start_example("pendulum", overrides, 2, &options);
        advance(&run, 3);
        CHECK_NEAR(output(&run, "hinge.angle_rate"), 0.0, 1e-8);  // observed 1e-10
        // some 500 internal steps, each allowed an error of 1e-12
        CHECK_NEAR(output(&run, "energy.balance"), 0.0, 5e-10);  // observed 1.3e-10
        finish_run(&run);
    }
}

// Rate at which examples/top.yaml precesses without nutation at a spin w3 along its axis, about the tip:
// I1 W^2 cos(tilt) - I3 w3 W + m g l = 0; the slow root, written without cancellation.
static double compute_top_precession(double tilt, double spin)
{
    double m = 0.5, l = 0.04, axial = 2e-4, side = 1.5e-4;
    double a = (side + m * l * l) * cos(tilt), b = axial * spin, c = m * 9.81 * l;
    return 2 * c / (b + sqrt(b * b - 4 * a * c));
}

static void top_precesses_steadily_at_the_closed_form_rate(void** state)
{
    (void)state;
    for (int c = 0; c < 2; c++) {
        double tilt = 0.4, spin = 150.0, precession = compute_top_precession(tilt, spin);
        char start[64];
        snprintf(start, sizeof start, "parameters.precession=%.17g rad/s", precession);
        const char* overrides[] = {SET_COORDINATES[c], "parameters.tilt=0.4 rad", "parameters.spin=150 rad/s", start};
        double turn = 2.0 * acos(-1.0) / fabs(precession);
        ItmStepOptions options = choose(ITM_STEPPER_REFERENCE, turn / 8.0);
        Run run = start_example("top", overrides, 4, &options);
        ItmQuat q0 = itm_data_get_body_pose(run.m, run.d, 0).q;
        double tilt0 = 1.0 - 2.0 * (q0.x * q0.x + q0.y * q0.y);
        double azimuth0 = atan2(q0.y * q0.z - q0.w * q0.x, q0.x * q0.z + q0.w * q0.y);
        for (int k = 1; k <= 8; k++) {
            advance(&run, 1);
            ItmQuat q = itm_data_get_body_pose(run.m, run.d, 0).q;
            // no nutation: the tilt of the axis stays, its azimuth turns by an eighth
            CHECK_NEAR(1.0 - 2.0 * (q.x * q.x + q.y * q.y), tilt0, 1e-10);
            double azimuth = atan2(q.y * q.z - q.w * q.x, q.x * q.z + q.w * q.y);
            double expected = azimuth0 + k * precession * turn / 8.0;
            CHECK_NEAR(cos(azimuth - expected), 1.0, 1e-14);
            CHECK_NEAR(sin(azimuth - expected), 0.0, 1e-9);
        }
        finish_run(&run);
    }
}

// Jacobi's elliptic functions sn, cn, dn by descending Landen transformation; 0 <= k < 1.
static void jacobi(double u, double k, double* sn, double* cn, double* dn)
{
    double a[16], c[16], b = sqrt(1.0 - k * k);
    a[0] = 1.0;
    c[0] = k;
    int n = 0;
    while (fabs(c[n]) > 1e-17 && n < 15) {
        a[n + 1] = 0.5 * (a[n] + b);
        c[n + 1] = 0.5 * (a[n] - b);
        b = sqrt(a[n] * b);
        n++;
    }
    double phi = ldexp(a[n] * u, n);
    for (int i = n; i > 0; i--) {
        phi = 0.5 * (phi + asin(c[i] / a[i] * sin(phi)));
    }
    *sn = sin(phi);
    *cn = cos(phi);
    *dn = sqrt(1.0 - k * k * *sn * *sn);
}

static void free_body_tumbles_as_jacobi_says(void** state)
{
    (void)state;
    // torque-free motion with J1 < J2 < J3 and 2 T J2 > L^2 or < L^2: [Landau & Lifshitz, Mechanics, sect. 37]
    const double J[3] = {1.0, 2.0, 3.0};
    const double w1_0 = 0.3, w3_0 = 1.1;  // at w2 = 0, the moment from which the closed form counts
    ItmError error = {0};
    ItmWorldDef world = itm_default_world_def();
    world.gravity = (ItmVec3){0, 0, 0};
    ItmModelBuilder* b = NULL;
    CHECK_OK(itm_model_builder_create(&b, &world, &error), &error);
    ItmBodyDef def = itm_default_body_def();
    def.name = "body";
    def.inertia = (ItmSym3){.xx = J[0], .yy = J[1], .zz = J[2]};
    def.has_pose = true;
    def.angular_velocity = (ItmVec3){w1_0, 0, w3_0};
    CHECK_OK(itm_model_builder_add_body(b, &def, NULL, &error), &error);
    ItmModel* m = NULL;
    CHECK_OK(itm_model_build(&m, b, &error), &error);
    itm_model_builder_destroy(b);

    double E2 = J[0] * w1_0 * w1_0 + J[2] * w3_0 * w3_0;                // 2 T
    double L2 = J[0] * J[0] * w1_0 * w1_0 + J[2] * J[2] * w3_0 * w3_0;  // L^2 > 2 T J2 here
    assert_true(L2 > E2 * J[1]);
    double rate = sqrt((J[2] - J[1]) * (L2 - E2 * J[0]) / (J[0] * J[1] * J[2]));
    double k = sqrt((J[1] - J[0]) * (E2 * J[2] - L2) / ((J[2] - J[1]) * (L2 - E2 * J[0])));
    double amplitude[3] = {sqrt((E2 * J[2] - L2) / (J[0] * (J[2] - J[0]))),
                           sqrt((E2 * J[2] - L2) / (J[1] * (J[2] - J[1]))),
                           sqrt((L2 - E2 * J[0]) / (J[2] * (J[2] - J[0])))};
    Run run = start_run(m, ITM_STEPPER_REFERENCE, 0.5);
    for (int step = 1; step <= 20; step++) {
        advance(&run, 1);
        double sn, cn, dn;
        jacobi(rate * 0.5 * step, k, &sn, &cn, &dn);
        const double* v = itm_data_get_v(run.d);  // r', then omega in body axes
        CHECK_NEAR(v[3], amplitude[0] * cn, 1e-10);
        CHECK_NEAR(v[4], amplitude[1] * sn, 1e-10);
        CHECK_NEAR(v[5], amplitude[2] * dn, 1e-10);
        CHECK_NEAR(output(&run, "momentum.angular.x"), J[0] * w1_0, 1e-10);
        CHECK_NEAR(output(&run, "momentum.angular.z"), J[2] * w3_0, 1e-10);
    }
    finish_run(&run);
}

// ---------------------------------------------------------------------------- orders of convergence

// Error of a double pendulum after 1 s against the reference integrator.
static double double_pendulum_error(ItmStepper stepper, ItmCoordinates coordinates, double step)
{
    ItmModel *m = NULL, *exact = NULL;
    ItmError error = {0};
    CHECK_OK(itm_double_pendulum_build(&m, coordinates, 1.2, 0.7, &error), &error);
    CHECK_OK(itm_double_pendulum_build(&exact, ITM_COORDINATES_JOINT, 1.2, 0.7, &error), &error);
    Run run = start_run(m, stepper, step), reference = start_run(exact, ITM_STEPPER_REFERENCE, 1.0);
    advance(&run, (int)lround(1.0 / step));
    advance(&reference, 1);
    double difference = compare_positions(&run, &reference);
    finish_run(&run);
    finish_run(&reference);
    return difference;
}

static void steppers_converge_with_their_order(void** state)
{
    (void)state;
    const struct {
        ItmStepper stepper;
        double order;
    } cases[] = {{ITM_STEPPER_EULER, 1.0}, {ITM_STEPPER_ALI1, 1.0}, {ITM_STEPPER_ALI3P, 2.0}};
    printf("stepper  coordinates  error at 4, 2, 1, 0.5 ms                     order\n");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int c = 0; c < 2; c++) {
            double e[4];
            for (int k = 0; k < 4; k++) {
                e[k] = double_pendulum_error(cases[i].stepper, COORDINATES[c], 4e-3 / (1 << k));
            }
            double order = log2(e[2] / e[3]);
            printf("%-8s %-12s %.3e %.3e %.3e %.3e  %.3f\n", itm_stepper_name(cases[i].stepper),
                   c == 0 ? "absolute" : "joint", e[0], e[1], e[2], e[3], order);
            // the error's next term bends the observed order by O(h): 0.1 at these steps
            CHECK_NEAR(order, cases[i].order, 0.1);
        }
    }
}

// ---------------------------------------------------------------------------- coordinates agree

static double zoo_difference(ItmJointType type, ItmStepper stepper, double step, double duration)
{
    ItmError error = {0};
    Run run[2];
    for (int c = 0; c < 2; c++) {
        ItmModel* m = NULL;
        CHECK_OK(itm_zoo_build_pair(&m, COORDINATES[c], type, &error), &error);
        run[c] = start_run(m, stepper, step);
        advance(&run[c], (int)lround(duration / step));
    }
    double difference = compare_positions(&run[0], &run[1]);
    finish_run(&run[0]);
    finish_run(&run[1]);
    return difference;
}

static void coordinates_agree_for_every_joint_type(void** state)
{
    (void)state;
    printf("joint type    reference    ali3p 2 ms   1 ms         euler 2 ms   1 ms\n");
    for (int type = 0; type < ITM_JOINT_TYPE_COUNT; type++) {
        double exact = zoo_difference((ItmJointType)type, ITM_STEPPER_REFERENCE, 0.1, 0.5);
        double second[2], first[2];
        for (int k = 0; k < 2; k++) {
            second[k] = zoo_difference((ItmJointType)type, ITM_STEPPER_ALI3P, 2e-3 / (1 << k), 0.5);
            first[k] = zoo_difference((ItmJointType)type, ITM_STEPPER_EULER, 2e-3 / (1 << k), 0.5);
        }
        printf("%-12s  %.3e    %.3e    %.3e    %.3e    %.3e\n", itm_model_joint_type_name((ItmJointType)type), exact,
               second[0], second[1], first[0], first[1]);
        CHECK_NEAR(exact, 0.0, 1e-9);
        assert_true(second[1] < 1e-12 || second[0] / second[1] > 3.0);
        assert_true(first[1] < 1e-12 || first[0] / first[1] > 1.7);
    }
}

// ---------------------------------------------------------------------------- benchmark mechanisms

#if defined(__SANITIZE_ADDRESS__)
#define DRIFT_SECONDS 1  // sanitizers look for other things than drift
#else
#define DRIFT_SECONDS 10
#endif

// Largest energy error over 10 s at 1 ms; finishes the run.
static double energy_drift(Run* run, double* gap)
{
    double largest = 0.0;
    *gap = 0.0;
    for (int k = 0; k < 100 * DRIFT_SECONDS; k++) {
        advance(run, 10);
        largest = fmax(largest, fabs(output(run, "energy.balance")));
        *gap = fmax(*gap, output(run, "violation.position"));
    }
    finish_run(run);
    return largest;
}

static void four_bar_passes_its_singular_positions_with_small_energy_drift(void** state)
{
    (void)state;
    const int sizes[] = {2, 10, 40};
    for (int i = 0; i < 3; i++) {
        for (int c = 0; c < 2; c++) {
            ItmModel* m = NULL;
            ItmError error = {0};
            CHECK_OK(itm_four_bar_build(&m, COORDINATES[c], sizes[i], &error), &error);
            ItmModelInfo info = itm_model_get_info(m);
            assert_int_equal(info.freedom, 1);
            Run run = start_run(m, ITM_STEPPER_ALI3P, 1e-3);
            double gap, drift = energy_drift(&run, &gap);
            printf("four-bar N = %2d, %s: energy drift %.3e J, joint gap %.3e m\n", sizes[i],
                   c == 0 ? "absolute" : "joint", drift, gap);
            assert_true(drift < 0.1);
        }
    }
}

// Largest energy error of four-bars over 10 s with the Euler stepper, at the step of the benchmarks.
static double euler_energy_error(ItmCoordinates coordinates, int n)
{
    ItmModel* m = NULL;
    ItmError error = {0};
    CHECK_OK(itm_four_bar_build(&m, coordinates, n, &error), &error);
    Run run = start_run(m, ITM_STEPPER_EULER, 1.0 / 600.0);
    double start = output(&run, "energy.kinetic") + output(&run, "energy.potential"), largest = 0.0;
    for (int k = 0; k < 60 * DRIFT_SECONDS; k++) {
        advance(&run, 10);
        double energy = output(&run, "energy.kinetic") + output(&run, "energy.potential");
        largest = fmax(largest, fabs(energy - start));
    }
    finish_run(&run);
    return largest;
}

// At first order the energy swings by an amount of order h, which absolute and joint coordinates have in common (the uprights turn
// alike); what singular positions add would be on top, and was 20 J for 40 windows and 27 J for 20.
static void euler_steps_through_singular_positions_as_well_in_absolute_as_in_joint_coordinates(void** state)
{
    (void)state;
    const int sizes[] = {2, 20, 40};
    for (int i = 0; i < 3; i++) {
        double absolute = euler_energy_error(ITM_COORDINATES_ABSOLUTE, sizes[i]);
        double joint = euler_energy_error(ITM_COORDINATES_JOINT, sizes[i]);
        printf("four-bar N = %2d, euler: energy error %.4f J absolute, %.4f J joint\n", sizes[i], absolute, joint);
        CHECK_NEAR(absolute, joint, 0.02 * joint);  // observed 0.4 %
    }
}

// A light link between two heavy ones: the rows of its far end have pivots of 1e-7 of the light body's mobility, always, and
// must not be taken for those of a singular position.
static ItmModel* build_heavy_light_heavy(ItmCoordinates coordinates)
{
    const double masses[] = {100.0, 1e-5, 100.0};
    ItmModel* m = NULL;
    ItmError error = {0};
    ItmScene scene = itm_scene_begin(coordinates, (ItmVec3){0, 0, -9.81}, &error);
    int parent = ITM_GROUND;
    for (int i = 0; i < 3; i++) {
        char name[24];
        snprintf(name, sizeof name, "link%d", i);
        double inertia = masses[i] / 12.0;
        ItmBodyDef def = itm_default_body_def();
        def.name = name;
        def.mass = masses[i];
        def.com = (ItmVec3){0.5, 0, 0};
        def.inertia = (ItmSym3){.xx = inertia, .yy = inertia, .zz = inertia};
        int child = itm_scene_add_body(&scene, &def);
        snprintf(name, sizeof name, "hinge%d", i);
        ItmJointDef hinge =
            itm_scene_hinge(name, parent, (ItmVec3){i > 0, 0, 0}, child, (ItmVec3){0, 0, 0}, (ItmVec3){0, 1, 0});
        itm_scene_set_start(&hinge, ITM_RZ, 0.3 * i, 0.0);
        itm_scene_add_joint(&scene, &hinge);
        parent = child;
    }
    CHECK_OK(itm_scene_finish(&scene, &m), &error);
    return m;
}

static void light_link_between_heavy_ones_keeps_its_rows(void** state)
{
    (void)state;
    double difference[2];
    for (int k = 0; k < 2; k++) {
        Run run[2];
        for (int c = 0; c < 2; c++) {
            run[c] = start_run(build_heavy_light_heavy(COORDINATES[c]), ITM_STEPPER_EULER, 2e-3 / (1 << k));
            for (int i = 0; i < (250 << k); i++) {
                advance(&run[c], 1);
                assert_int_equal(itm_data_get_step_info(run[c].d).nredundant, 0);
            }
            assert_true(output(&run[c], "violation.position") < 1e-10);
        }
        difference[k] = compare_positions(&run[0], &run[1]);
        finish_run(&run[0]);
        finish_run(&run[1]);
    }
    printf("heavy, light, heavy: coordinates differ by %.3e, %.3e at 2 ms, 1 ms\n", difference[0], difference[1]);
    assert_true(difference[0] / difference[1] > 1.7);
}

static void bricard_runs_in_spite_of_its_redundant_row(void** state)
{
    (void)state;
    for (int c = 0; c < 2; c++) {
        ItmStepOptions options = choose(ITM_STEPPER_ALI3P, 1e-3);
        Run run = start_example("bricard", &SET_COORDINATES[c], 1, &options);
        assert_int_equal(itm_model_get_info(run.m).freedom, 1);
        double gap, drift = energy_drift(&run, &gap);
        printf("Bricard, %s: energy drift %.3e J, joint gap %.3e m\n", c == 0 ? "absolute" : "joint", drift, gap);
        assert_true(drift < 0.1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulum_has_the_period_of_the_elliptic_integral),
        cmocka_unit_test(top_precesses_steadily_at_the_closed_form_rate),
        cmocka_unit_test(free_body_tumbles_as_jacobi_says),
        cmocka_unit_test(steppers_converge_with_their_order),
        cmocka_unit_test(coordinates_agree_for_every_joint_type),
        cmocka_unit_test(four_bar_passes_its_singular_positions_with_small_energy_drift),
        cmocka_unit_test(euler_steps_through_singular_positions_as_well_in_absolute_as_in_joint_coordinates),
        cmocka_unit_test(light_link_between_heavy_ones_keeps_its_rows),
        cmocka_unit_test(bricard_runs_in_spite_of_its_redundant_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
