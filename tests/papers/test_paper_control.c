// The control laws of contact-rim as the examples have them: eq. 52 (valves of manipulator.yaml), eqs. 53 and 54 (velocity
// controllers of log-crane.yaml), with the paper's numbers.
#include "system.h"

#include "scenes/scenes.h"

static void valves_of_the_manipulator_follow_equation_52(void** state)
{
    (void)state;
    const char* overrides[] = {"parameters.dkappa2=-0.015"};
    System s = {0};
    ItmError error = {0};
    CHECK_OK(itm_example_load(&s.file, "manipulator", overrides, 1, &error), &error);
    system_create(&s);
    for (int k = 0; k <= 110; k++) {
        double t = itm_cosim_get_time(s.x);
        double share = t <= 1.0 ? 0.0 : t <= 2.0 ? (t - 1.0) / (2.0 - 1.0) : 1.0;
        CHECK_NEAR(system_get(&s, "hydraulics.valve1.command"), 0.4416, 0);
        CHECK_NEAR(system_get(&s, "hydraulics.valve2.command"), 0.4871 - 0.015 * share, 1e-16);  // rounding
        system_step(&s);
    }
    system_finish(&s);
}

// Eq. 54: 0, up from 5 s to 6 s, held until 9 s (the jump comes after 9 s), 0.
static double desired(double t, double w_max)
{
    return t <= 5.0 ? 0.0 : t <= 6.0 ? w_max * (t - 5.0) : t <= 9.0 ? w_max : 0.0;
}

typedef struct Law {
    ItmModelFile* file;
    const ItmControl* c;  // of the file
    ItmController* d;
} Law;

// "w" and 1: the output w1
static double get(const Law* law, const char* quantity, int actuator)
{
    char name[32];
    snprintf(name, sizeof name, "%s%d", quantity, actuator);
    int output = itm_control_find_output(law->c, name);
    assert_true(output != ITM_NONE);
    return itm_controller_get_outputs(law->d)[output];
}

// Eq. 53 with the derivative taken from differences, as the paper's discrete controller must: kappa' within [-3, 3], kappa its
// integral. The control runs without its crane: the cylinder moves as a damper would, w = -c kappa, behind a lag of 50 ms.
static void velocity_controllers_of_the_log_crane_follow_equations_53_and_54(void** state)
{
    (void)state;
    const double w_max[2] = {-0.050, -0.020}, k_P[2] = {6.0, 4.0}, k_D[2] = {1.0, 0.1};
    double h = 1.0 / 1024, kappa[2] = {0.0, 0.0}, rate[2] = {0.0, 0.0}, error_last[2] = {0.0, 0.0};
    Law law = {0};
    ItmError status = {0};
    CHECK_OK(itm_example_load(&law.file, "log-crane", NULL, 0, &status), &status);
    law.c = law.file->controls[0].control;
    CHECK_OK(itm_controller_create(&law.d, law.c, &status), &status);
    assert_int_equal(itm_control_find_input(law.c, "crane.cyl1.rate"), 0);
    assert_int_equal(itm_control_find_input(law.c, "crane.cyl2.rate"), 1);

    int nlimited = 0;
    double settled[2] = {0.0, 0.0};
    for (int k = 0; k < 10 * 1024; k++) {
        double t = k * h;
        CHECK_OK(itm_controller_step(law.c, law.d, t, h, rate), itm_controller_get_error(law.d));
        for (int j = 0; j < 2; j++) {
            double error = desired(t, w_max[j]) - rate[j];
            double derivative = k == 0 ? 0.0 : (error - error_last[j]) / h;
            double kappa_dot = fmin(fmax(-k_P[j] * error - k_D[j] * derivative, -3.0), 3.0);  // eq. 53
            nlimited += fabs(kappa_dot) == 3.0;
            CHECK_NEAR(get(&law, "w", j + 1), desired(t, w_max[j]), 2e-17);
            CHECK_NEAR(get(&law, "rate", j + 1), kappa_dot, 2e-13);  // differences of 0.05, rounded, over h
            CHECK_NEAR(get(&law, "kappa", j + 1), kappa[j], 1e-13);
            kappa[j] = get(&law, "kappa", j + 1) + h * get(&law, "rate", j + 1);
            error_last[j] = error;
            // the machine: more kappa, less rate
            rate[j] += -expm1(-h / 0.05) * (-2.0 * get(&law, "kappa", j + 1) - rate[j]);
            settled[j] = k == 9 * 1024 ? rate[j] : settled[j];
        }
    }
    assert_true(nlimited > 0);  // the jump at 9 s drives kappa' to its limit
    CHECK_NEAR(settled[0], w_max[0], 1e-6 + 0.050 * exp(-3.0 * 2.0 * 6.0 / (1.0 + 2.0 * 1.0)));
    CHECK_NEAR(settled[1], w_max[1], 1e-6 + 0.020 * exp(-3.0 * 2.0 * 4.0 / (1.0 + 2.0 * 0.1)));
    itm_controller_destroy(law.d);
    itm_file_destroy(law.file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valves_of_the_manipulator_follow_equation_52),
        cmocka_unit_test(velocity_controllers_of_the_log_crane_follow_equations_53_and_54),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
