#include "check.h"

#include "signal/signal.h"

#define MAX_POINTS 16

typedef struct Compiled {
    ItmSignal signal;
    double second[MAX_POINTS], scratch[MAX_POINTS];
} Compiled;

static void compile(Compiled* c, const ItmSignalDef* def)
{
    ItmError error;
    CHECK_OK(itm_signal_def_check(def, &error), &error);
    itm_signal_init(&c->signal, def, c->second, c->scratch);
}

// Central differences of the value agree with the derivatives; t must not be near a break.
static void check_derivatives(const ItmSignal* s, double t, double scale)
{
    double h = 1e-4;
    ItmSignalValue before = itm_signal_compute(s, t - h), at = itm_signal_compute(s, t),
                   after = itm_signal_compute(s, t + h);
    // truncation h^2/6 x''' ~ 1e-7 for the scales here, rounding 1e-16 / h^2 = 1e-8
    CHECK_NEAR(at.x_dot, (after.x - before.x) / (2 * h), 2e-6 * scale);
    CHECK_NEAR(at.x_ddot, (after.x_dot - before.x_dot) / (2 * h), 2e-6 * scale);
}

static void constant_stays(void** state)
{
    (void)state;
    ItmSignalDef def = itm_default_signal_def();
    def.value = 3;
    Compiled c;
    compile(&c, &def);
    ItmSignalValue v = itm_signal_compute(&c.signal, 1e9);
    assert_true(v.x == 3 && v.x_dot == 0 && v.x_ddot == 0);
    assert_true(isinf(itm_signal_next_break(&c.signal, 0)));
}

static ItmSignalDef make_ramp(bool is_smooth)
{
    ItmSignalDef def = itm_default_signal_def();
    def.kind = ITM_SIGNAL_RAMP;
    def.t_start = 1;
    def.t_end = 3;
    def.from = 10;
    def.to = 14;
    def.is_smooth = is_smooth;
    return def;
}

static void straight_ramp_rises_at_constant_rate(void** state)
{
    (void)state;
    ItmSignalDef def = make_ramp(false);
    Compiled c;
    compile(&c, &def);
    assert_true(itm_signal_compute(&c.signal, 0.5).x == 10);
    CHECK_NEAR(itm_signal_compute(&c.signal, 1.5).x, 11, 0);
    CHECK_NEAR(itm_signal_compute(&c.signal, 1.5).x_dot, 2, 0);
    assert_true(itm_signal_compute(&c.signal, 3).x == 14);
    assert_true(itm_signal_compute(&c.signal, 3).x_dot == 0);
    assert_true(itm_signal_next_break(&c.signal, 0) == 1);
    assert_true(itm_signal_next_break(&c.signal, 1) == 3);
    assert_true(isinf(itm_signal_next_break(&c.signal, 3)));
}

static void smooth_ramp_rests_at_both_ends(void** state)
{
    (void)state;
    ItmSignalDef def = make_ramp(true);
    Compiled c;
    compile(&c, &def);
    CHECK_NEAR(itm_signal_compute(&c.signal, 2).x, 12, 1e-14);
    // quintic: x - 10 ~ 40 s^3, so it is still within 1e-17 of rest at s = 5e-7
    CHECK_NEAR(itm_signal_compute(&c.signal, 1 + 1e-6).x_dot, 0, 1e-10);
    CHECK_NEAR(itm_signal_compute(&c.signal, 3 - 1e-6).x_dot, 0, 1e-10);
    CHECK_NEAR(itm_signal_compute(&c.signal, 3 - 1e-6).x_ddot, 0, 1e-3);
    check_derivatives(&c.signal, 1.7, 1);
}

static void sine_has_offset_phase_and_derivatives(void** state)
{
    (void)state;
    ItmSignalDef def = itm_default_signal_def();
    def.kind = ITM_SIGNAL_SINE;
    def.offset = 1;
    def.amplitude = 2;
    def.frequency = 0.5;
    def.phase = 1.5707963267948966;
    Compiled c;
    compile(&c, &def);
    CHECK_NEAR(itm_signal_compute(&c.signal, 0).x, 3, 1e-15);
    CHECK_NEAR(itm_signal_compute(&c.signal, 1).x, -1, 1e-15);
    check_derivatives(&c.signal, 0.3, 30);
}

static void linear_table_interpolates_and_holds_its_ends(void** state)
{
    (void)state;
    double times[] = {0, 1, 3}, values[] = {0, 2, -2};
    ItmSignalDef def = itm_default_signal_def();
    def.kind = ITM_SIGNAL_TABLE;
    def.times = times;
    def.values = values;
    def.npoint = 3;
    Compiled c;
    compile(&c, &def);
    assert_true(itm_signal_compute(&c.signal, -1).x == 0);
    assert_true(itm_signal_compute(&c.signal, 0.5).x == 1);
    assert_true(itm_signal_compute(&c.signal, 2).x == 0);
    assert_true(itm_signal_compute(&c.signal, 2).x_dot == -2);
    assert_true(itm_signal_compute(&c.signal, 9).x == -2);
    assert_true(itm_signal_next_break(&c.signal, -5) == 0);
    assert_true(itm_signal_next_break(&c.signal, 1) == 3);
    assert_true(isinf(itm_signal_next_break(&c.signal, 3)));
}

// The natural spline through points of a straight line is that line; through (0,0), (1,1), (2,0) it
// is, on [0, 1], (3 t - t^3) / 2.
static void cubic_table_is_the_natural_spline(void** state)
{
    (void)state;
    double times[] = {0, 1, 2}, values[] = {0, 1, 0};
    ItmSignalDef def = itm_default_signal_def();
    def.kind = ITM_SIGNAL_TABLE;
    def.interpolation = ITM_INTERPOLATE_CUBIC;
    def.times = times;
    def.values = values;
    def.npoint = 3;
    Compiled c;
    compile(&c, &def);
    for (double t = 0; t < 1; t += 0.125) {
        ItmSignalValue v = itm_signal_compute(&c.signal, t);
        CHECK_NEAR(v.x, (3 * t - t * t * t) / 2, 1e-15);
        CHECK_NEAR(v.x_dot, (3 - 3 * t * t) / 2, 1e-15);
        CHECK_NEAR(v.x_ddot, -3 * t, 1e-15);
    }
    double line_times[] = {0, 0.3, 1.1, 4, 4.2}, line[5];
    for (int i = 0; i < 5; i++) {
        line[i] = 2 - 3 * line_times[i];
    }
    def.times = line_times;
    def.values = line;
    def.npoint = 5;
    compile(&c, &def);
    CHECK_NEAR(itm_signal_compute(&c.signal, 2.5).x, 2 - 3 * 2.5, 1e-14);
    CHECK_NEAR(itm_signal_compute(&c.signal, 2.5).x_dot, -3, 1e-14);
}

// Between two points a smooth table is a smooth ramp; in its points it is at rest.
static void smooth_table_rests_in_its_points(void** state)
{
    (void)state;
    static const double times[] = {0.0, 2.0, 2.5, 4.5}, values[] = {3.0, 1.0, 1.0, 2.0};
    ItmSignalDef def = itm_default_signal_def();
    def.kind = ITM_SIGNAL_TABLE;
    def.interpolation = ITM_INTERPOLATE_SMOOTH;
    def.times = times;
    def.values = values;
    def.npoint = 4;
    assert_int_equal(itm_signal_def_check(&def, NULL), ITM_OK);
    ItmSignal table, ramp;
    itm_signal_init(&table, &def, NULL, NULL);
    for (int i = 0; i < 4; i++) {
        ItmSignalValue at = itm_signal_compute(&table, times[i]);
        assert_true(at.x == values[i] && at.x_dot == 0.0 && at.x_ddot == 0.0);
        CHECK_NEAR(itm_signal_compute(&table, times[i] - 1e-12).x, values[i], 1e-14);  // a polynomial of degree 5
    }
    ItmSignalDef part = itm_default_signal_def();
    part.kind = ITM_SIGNAL_RAMP;
    part.is_smooth = true;
    part.t_start = 2.5;
    part.t_end = 4.5;
    part.from = 1.0;
    part.to = 2.0;
    itm_signal_init(&ramp, &part, NULL, NULL);
    for (double t = 2.5; t < 4.5; t += 0.17) {
        ItmSignalValue a = itm_signal_compute(&table, t), b = itm_signal_compute(&ramp, t);
        assert_true(a.x == b.x && a.x_dot == b.x_dot && a.x_ddot == b.x_ddot);
    }
    def.interpolation = (ItmInterpolation)7;
    assert_int_equal(itm_signal_def_check(&def, NULL), ITM_ERR_INPUT);
}

static void cubic_table_is_smooth_at_its_points(void** state)
{
    (void)state;
    double times[] = {0, 0.5, 1.5, 2, 4}, values[] = {1, -1, 3, 0, 0.5};
    ItmSignalDef def = itm_default_signal_def();
    def.kind = ITM_SIGNAL_TABLE;
    def.interpolation = ITM_INTERPOLATE_CUBIC;
    def.times = times;
    def.values = values;
    def.npoint = 5;
    Compiled c;
    compile(&c, &def);
    for (int i = 1; i < 4; i++) {
        ItmSignalValue left = itm_signal_compute(&c.signal, times[i] - 1e-9);
        ItmSignalValue right = itm_signal_compute(&c.signal, times[i]);
        // 1e-9 times the next derivative, which is below 100 here
        CHECK_NEAR(left.x, right.x, 1e-7);
        CHECK_NEAR(left.x_dot, right.x_dot, 1e-7);
        CHECK_NEAR(left.x_ddot, right.x_ddot, 1e-6);
        CHECK_NEAR(right.x, values[i], 0);
    }
    check_derivatives(&c.signal, 0.25, 100);
    check_derivatives(&c.signal, 3.1, 100);
}

static void piecewise_keeps_the_last_value(void** state)
{
    (void)state;
    double times[] = {1, 2}, values[] = {5, 7};
    ItmSignalDef def = itm_default_signal_def();
    def.kind = ITM_SIGNAL_PIECEWISE;
    def.times = times;
    def.values = values;
    def.npoint = 2;
    Compiled c;
    compile(&c, &def);
    assert_true(itm_signal_compute(&c.signal, 0).x == 5);
    assert_true(itm_signal_compute(&c.signal, 1.999).x == 5);
    assert_true(itm_signal_compute(&c.signal, 2).x == 7);
    assert_true(itm_signal_compute(&c.signal, 2).x_dot == 0);
    assert_true(itm_signal_next_break(&c.signal, 1) == 2);
}

// Steps of 1/600 s meet points every 1/60 s, given to 11 decimals, with the value of the point and not of the one before.
static void piecewise_is_reached_in_spite_of_rounding(void** state)
{
    (void)state;
    double times[MAX_POINTS], values[MAX_POINTS];
    for (int k = 0; k < MAX_POINTS; k++) {
        char text[32];
        snprintf(text, sizeof text, "%.11f", k / 60.0);
        times[k] = strtod(text, NULL);
        values[k] = k;
    }
    Compiled c;
    ItmSignalDef def = itm_default_signal_def();
    def.kind = ITM_SIGNAL_PIECEWISE;
    def.times = times;
    def.values = values;
    def.npoint = MAX_POINTS;
    compile(&c, &def);
    for (int k = 0; k < 10 * MAX_POINTS; k++) {
        CHECK_NEAR(itm_signal_compute(&c.signal, k * (1.0 / 600.0)).x, k / 10, 0.0);
    }
    // a millionth before it, it is not
    CHECK_NEAR(itm_signal_compute(&c.signal, (1.0 - 1e-6) / 60.0).x, 0.0, 0.0);
}

static void expect_field(const ItmSignalDef* def, const char* field)
{
    ItmError error;
    assert_int_equal(itm_signal_def_check(def, &error), ITM_ERR_INPUT);
    assert_string_equal(error.field, field);
}

static void bad_signals_are_refused(void** state)
{
    (void)state;
    ItmSignalDef def = itm_default_signal_def();
    def.value = NAN;
    expect_field(&def, "value");
    def.kind = (ItmSignalKind)17;
    expect_field(&def, "kind");
    def = make_ramp(true);
    def.t_end = 1;
    expect_field(&def, "t_end");
    def = make_ramp(true);
    def.from = INFINITY;
    expect_field(&def, "from");
    def = itm_default_signal_def();
    def.kind = ITM_SIGNAL_SINE;
    def.frequency = -1;
    expect_field(&def, "frequency");

    double times[] = {0, 1, 1}, values[] = {0, NAN, 0};
    def = itm_default_signal_def();
    def.kind = ITM_SIGNAL_TABLE;
    def.times = times;
    def.values = values;
    def.npoint = 1;
    expect_field(&def, "times");
    def.npoint = 2;
    expect_field(&def, "values");
    values[1] = 0;
    def.npoint = 3;
    expect_field(&def, "times");
    def.interpolation = (ItmInterpolation)5;
    expect_field(&def, "interpolation");
    def.kind = ITM_SIGNAL_PIECEWISE;
    def.npoint = 0;
    expect_field(&def, "times");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constant_stays),
        cmocka_unit_test(straight_ramp_rises_at_constant_rate),
        cmocka_unit_test(smooth_ramp_rests_at_both_ends),
        cmocka_unit_test(sine_has_offset_phase_and_derivatives),
        cmocka_unit_test(linear_table_interpolates_and_holds_its_ends),
        cmocka_unit_test(cubic_table_is_the_natural_spline),
        cmocka_unit_test(smooth_table_rests_in_its_points),
        cmocka_unit_test(cubic_table_is_smooth_at_its_points),
        cmocka_unit_test(piecewise_keeps_the_last_value),
        cmocka_unit_test(piecewise_is_reached_in_spite_of_rounding),
        cmocka_unit_test(bad_signals_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
