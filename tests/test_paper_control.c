// The control laws of contact-rim, written as blocks: eq. 52 (valve of the manipulator), eqs. 53 and 54 (velocity
// controller of the log crane), with the paper's numbers.
#include "check.h"

#include "interim/control.h"

typedef struct Law {
    ItmControlBuilder* b;
    ItmControl* c;
    ItmController* d;
    ItmError error;
} Law;

static Law make(void)
{
    Law law = {0};
    CHECK_OK(itm_control_builder_create(&law.b, &law.error), &law.error);
    return law;
}

static void add_ramp(Law* law, const char* name, double t_start, double t_end, double from, double to)
{
    ItmSignalDef def = itm_default_signal_def();
    def.name = name;
    def.kind = ITM_SIGNAL_RAMP;
    def.t_start = t_start;
    def.t_end = t_end;
    def.from = from;
    def.to = to;
    def.is_smooth = false;
    CHECK_OK(itm_control_add_signal(law->b, &def, &law->error), &law->error);
}

static void add(Law* law, ItmControlBlockDef def, const char* name, const char* input)
{
    def.name = name;
    def.input = input;
    CHECK_OK(itm_control_add_block(law->b, &def, NULL, &law->error), &law->error);
}

static void build(Law* law)
{
    CHECK_OK(itm_control_build(&law->c, law->b, &law->error), &law->error);
    CHECK_OK(itm_controller_create(&law->d, law->c, &law->error), &law->error);
}

static double get(const Law* law, const char* name)
{
    return itm_controller_get_outputs(law->d)[itm_control_find_output(law->c, name)];
}

static void done(Law* law)
{
    itm_controller_destroy(law->d);
    itm_control_destroy(law->c);
    itm_control_builder_destroy(law->b);
}

static void valve_of_the_manipulator_ramps(void** state)
{
    (void)state;
    Law law = make();
    add_ramp(&law, "open", 1.0, 2.0, 0.0, 1.0);
    add(&law, itm_default_control_block_def(ITM_CONTROL_EXPRESSION), "kappa1", "0.4416");
    add(&law, itm_default_control_block_def(ITM_CONTROL_EXPRESSION), "kappa2", "0.4871 - 0.015 * open");
    build(&law);
    for (int k = 0; k <= 300; k++) {
        double t = k * 0.01;
        CHECK_OK(itm_controller_step(law.c, law.d, t, 0.01, NULL), itm_controller_get_error(law.d));
        double share = t <= 1.0 ? 0.0 : t <= 2.0 ? (t - 1.0) / (2.0 - 1.0) : 1.0;  // eq. 52
        CHECK_NEAR(get(&law, "kappa1"), 0.4416, 0);
        CHECK_NEAR(get(&law, "kappa2"), 0.4871 - 0.015 * share, 2e-16);
    }
    done(&law);
}

// Eq. 54: 0, up from 5 s to 6 s, held until 9 s (the jump comes after 9 s), 0.
static double desired(double t, double w_max)
{
    return t <= 5.0 ? 0.0 : t <= 6.0 ? w_max * (t - 5.0) : t <= 9.0 ? w_max : 0.0;
}

// Eq. 53 with the derivative taken from differences, as the paper's discrete controller must: kappa' within [-3, 3], kappa its
// integral. The cylinder answers as a damper would: w = -c (kappa - kappa_0), behind a lag of 50 ms.
static void velocity_controller_of_the_crane(void** state)
{
    (void)state;
    const double w_max[2] = {-0.050, -0.020}, k_P[2] = {6.0, 4.0}, k_D[2] = {1.0, 0.1};
    double h = 1.0 / 1024, kappa[2] = {0.45, 0.48}, rate[2] = {0.0, 0.0}, error_last[2] = {0.0, 0.0};
    Law law = make();
    add_ramp(&law, "ramp", 5.0, 6.0, 0.0, 1.0);
    for (int j = 0; j < 2; j++) {
        char name[3][32], input[3][96];
        snprintf(name[0], sizeof name[0], "w%d", j + 1);
        snprintf(input[0], sizeof input[0], "%g * if(time > 9, 0, ramp)", w_max[j]);
        add(&law, itm_default_control_block_def(ITM_CONTROL_EXPRESSION), name[0], input[0]);
        ItmControlBlockDef pid = itm_default_control_block_def(ITM_CONTROL_PID);
        pid.proportional = -k_P[j];
        pid.derivative = -k_D[j];
        pid.lower = -3.0;
        pid.upper = 3.0;
        snprintf(name[1], sizeof name[1], "kappa_dot%d", j + 1);
        snprintf(input[1], sizeof input[1], "w%d - crane.cyl%d.rate", j + 1, j + 1);
        add(&law, pid, name[1], input[1]);
        ItmControlBlockDef sum = itm_default_control_block_def(ITM_CONTROL_INTEGRATOR);
        sum.start = kappa[j];
        sum.lower = 0.0;
        sum.upper = 1.0;
        snprintf(name[2], sizeof name[2], "kappa%d", j + 1);
        add(&law, sum, name[2], name[1]);
    }
    build(&law);
    assert_int_equal(itm_control_find_input(law.c, "crane.cyl2.rate"), 1);

    int nlimited = 0;
    double settled[2] = {0.0, 0.0};
    for (int k = 0; k < 10 * 1024; k++) {
        double t = k * h;
        CHECK_OK(itm_controller_step(law.c, law.d, t, h, rate), itm_controller_get_error(law.d));
        for (int j = 0; j < 2; j++) {
            char name[32];
            double error = desired(t, w_max[j]) - rate[j];
            double derivative = k == 0 ? 0.0 : (error - error_last[j]) / h;
            double kappa_dot = fmin(fmax(-k_P[j] * error - k_D[j] * derivative, -3.0), 3.0);  // eq. 53
            nlimited += fabs(kappa_dot) == 3.0;
            snprintf(name, sizeof name, "w%d", j + 1);
            CHECK_NEAR(get(&law, name), desired(t, w_max[j]), 2e-17);
            snprintf(name, sizeof name, "kappa_dot%d", j + 1);
            CHECK_NEAR(get(&law, name), kappa_dot, 2e-13);  // differences of 0.05, rounded, over h
            snprintf(name, sizeof name, "kappa%d", j + 1);
            CHECK_NEAR(get(&law, name), kappa[j], 1e-13);
            kappa[j] = get(&law, name) + h * get(&law, j == 0 ? "kappa_dot1" : "kappa_dot2");
            error_last[j] = error;
            // the machine: more kappa, less rate
            double start = j == 0 ? 0.45 : 0.48;
            rate[j] += -expm1(-h / 0.05) * (-2.0 * (get(&law, name) - start) - rate[j]);
            settled[j] = k == 9 * 1024 ? rate[j] : settled[j];
        }
    }
    assert_true(nlimited > 0);  // the jump at 9 s drives kappa' to its limit
    CHECK_NEAR(settled[0], w_max[0], 1e-6 + 0.050 * exp(-3.0 * 2.0 * 6.0 / (1.0 + 2.0 * 1.0)));
    CHECK_NEAR(settled[1], w_max[1], 1e-6 + 0.020 * exp(-3.0 * 2.0 * 4.0 / (1.0 + 2.0 * 0.1)));
    done(&law);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valve_of_the_manipulator_ramps),
        cmocka_unit_test(velocity_controller_of_the_crane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
