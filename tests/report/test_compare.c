// Comparison of two results tables: closed forms of RMS, maximum and shift, whatever the spacing of the rows.
#include "check.h"

#include "interim/report.h"
#include "io/results/results_read.h"

#define PI 3.14159265358979323846

typedef double Function(double time);

// A table of time and y = f(time), n + 1 rows from `from` to `until`.
static ItmTable* make_table(Function* f, double from, double until, long n)
{
    ItmTable* table = calloc(1, sizeof *table);
    assert_non_null(table);
    assert_true(itm_results_table_add_column(table, "time", 4));
    assert_true(itm_results_table_add_column(table, "y", 1));
    table->nrow = n + 1;
    table->values = calloc((size_t)(2 * (n + 1)), sizeof *table->values);
    assert_non_null(table->values);
    for (long i = 0; i <= n; i++) {
        double time = from + (until - from) * (double)i / (double)n;
        table->values[2 * i] = time;
        table->values[2 * i + 1] = f(time);
    }
    return table;
}

static ItmComparison compare(const ItmTable* run, const ItmTable* reference, const ItmCompareOptions* options)
{
    ItmError error = {0};
    ItmComparison c;
    CHECK_OK(itm_compare(&c, run, 1, reference, 1, options, &error), &error);
    return c;
}

static double sine(double t)
{
    return sin(2.0 * PI * t);
}
static double raised_sine(double t)
{
    return sin(2.0 * PI * t) + 0.25;
}
static double late_sine(double t)
{
    return sin(2.0 * PI * (t - 0.01));
}
static double ramp(double t)
{
    return 3.0 * t;
}
static double steeper_ramp(double t)
{
    return 3.5 * t;
}
static double flat(double t)
{
    (void)t;
    return 2.0;
}
static double noisy_sine(double t)
{
    return sin(2.0 * PI * t) + 0.01 * sin(2.0 * PI * 50.0 * t);
}

static void a_table_equals_itself(void** state)
{
    (void)state;
    ItmTable* table = make_table(sine, 0.0, 2.0, 200);
    ItmComparison c = compare(table, table, NULL);
    assert_int_equal(c.ncompared, 201);
    assert_int_equal(c.nmissing, 0);
    assert_true(c.rms == 0.0 && c.maximum == 0.0 && c.last == 0.0);
    assert_int_equal(c.nevent, 3);
    assert_int_equal(c.npaired, 3);
    assert_true(c.shift_mean == 0.0 && c.shift_maximum == 0.0);
    itm_results_table_destroy(table);
}

static void a_constant_offset_is_rms_and_maximum(void** state)
{
    (void)state;
    ItmTable* run = make_table(raised_sine, 0.0, 1.0, 100);
    ItmTable* reference = make_table(sine, 0.0, 1.0, 100);
    ItmComparison c = compare(run, reference, NULL);
    CHECK_NEAR(c.rms, 0.25, 1e-15);
    CHECK_NEAR(c.maximum, 0.25, 1e-15);
    CHECK_NEAR(c.last, 0.25, 1e-15);
    CHECK_NEAR(c.reference_rms, sqrt(0.5), 1e-14);  // the trapezoidal rule is exact over a whole period
    CHECK_NEAR(c.reference_range, 2.0, 1e-14);
    itm_results_table_destroy(run);
    itm_results_table_destroy(reference);
}

// Straight lines are interpolated exactly: difference t/2 on [0, 2], RMS 1/sqrt(3) up to the trapezoidal rule,
// whose relative error for t^2 is h^2/(2 T^2) for the squares.
static void tables_of_different_spacing_meet_at_the_times_of_the_coarser(void** state)
{
    (void)state;
    ItmTable* coarse = make_table(steeper_ramp, 0.0, 2.0, 40);
    ItmTable* fine = make_table(ramp, 0.0, 2.0, 977);
    ItmComparison c = compare(coarse, fine, NULL);
    assert_int_equal(c.ncompared, 41);
    double want = sqrt(1.0 / 3.0 * (1.0 + 0.5 / (40.0 * 40.0)));
    CHECK_NEAR(c.rms, want, 1e-14);
    CHECK_NEAR(c.maximum, 1.0, 1e-14);
    CHECK_NEAR(c.maximum_time, 2.0, 0.0);
    ItmComparison d = compare(fine, coarse, NULL);
    assert_int_equal(d.ncompared, 41);
    CHECK_NEAR(d.rms, want, 1e-14);
    CHECK_NEAR(d.last, -1.0, 1e-14);
    itm_results_table_destroy(coarse);
    itm_results_table_destroy(fine);
}

static void only_the_common_interval_counts(void** state)
{
    (void)state;
    ItmTable* run = make_table(steeper_ramp, 0.0, 1.0, 100);
    ItmTable* reference = make_table(ramp, 0.5, 4.0, 350);
    ItmComparison c = compare(run, reference, NULL);
    CHECK_NEAR(c.from, 0.5, 0.0);
    CHECK_NEAR(c.until, 1.0, 0.0);
    CHECK_NEAR(c.maximum, 0.5, 1e-14);
    ItmCompareOptions options = itm_default_compare_options();
    options.until = 0.8;
    CHECK_NEAR(compare(run, reference, &options).maximum, 0.4, 1e-14);
    options.from = 2.0;
    c = compare(run, reference, &options);
    assert_true(c.from > c.until && c.ncompared == 0 && isnan(c.rms) && isnan(c.maximum));
    itm_results_table_destroy(run);
    itm_results_table_destroy(reference);
}

// A sine that is 10 ms late crosses zero 10 ms late; linear interpolation between rows 1 ms apart errs by
// about h^3 y''' / y' / 10 at a zero crossing, where y'' = 0: below 1e-8 s.
static void late_events_show_their_shift(void** state)
{
    (void)state;
    ItmTable* run = make_table(late_sine, 0.0, 1.9, 1900);
    ItmTable* reference = make_table(sine, 0.0, 1.9, 1900);
    ItmCompareOptions options = itm_default_compare_options();
    options.level = 0.0;
    ItmComparison c = compare(run, reference, &options);
    // the late one starts below the band, so it also crosses at 0.01; the other starts at zero, on no side
    assert_int_equal(c.nreference_event, 3);
    options.from = 0.1;
    c = compare(run, reference, &options);
    assert_int_equal(c.nevent, 3);
    assert_int_equal(c.npaired, 3);
    CHECK_NEAR(c.shift_mean, 0.01, 1e-8);
    CHECK_NEAR(c.shift_maximum, 0.01, 1e-8);
    c = compare(reference, run, &options);
    CHECK_NEAR(c.shift_maximum, -0.01, 1e-8);
    itm_results_table_destroy(run);
    itm_results_table_destroy(reference);
}

static void ripple_within_the_band_is_no_event(void** state)
{
    (void)state;
    ItmTable* run = make_table(noisy_sine, 0.1, 1.9, 5000);
    ItmTable* reference = make_table(sine, 0.1, 1.9, 5000);
    ItmComparison c = compare(run, reference, NULL);
    assert_int_equal(c.nreference_event, 3);
    assert_int_equal(c.nevent, 3);
    // the ripple of 0.01 moves a crossing of slope 2 pi (less that of the ripple, 0.01 * 100 pi) by at most 0.01/pi
    assert_true(fabs(c.shift_maximum) < 0.01 / PI);
    itm_results_table_destroy(run);
    itm_results_table_destroy(reference);
}

static void a_constant_reference_has_no_events(void** state)
{
    (void)state;
    ItmTable* run = make_table(ramp, 0.0, 1.0, 10);
    ItmTable* reference = make_table(flat, 0.0, 1.0, 10);
    ItmComparison c = compare(run, reference, NULL);
    assert_int_equal(c.npaired, 0);
    assert_true(isnan(c.shift_mean) && isnan(c.shift_maximum));
    CHECK_NEAR(c.maximum, 2.0, 0.0);
    itm_results_table_destroy(run);
    itm_results_table_destroy(reference);
}

static void values_that_are_not_finite_are_counted_and_left_out(void** state)
{
    (void)state;
    ItmTable* run = make_table(ramp, 0.0, 1.0, 10);
    ItmTable* reference = make_table(ramp, 0.0, 1.0, 10);
    run->values[2 * 4 + 1] = NAN;
    reference->values[2 * 7 + 1] = INFINITY;
    ItmComparison c = compare(run, reference, NULL);
    assert_int_equal(c.nmissing, 2);
    assert_int_equal(c.ncompared, 9);
    assert_true(c.rms == 0.0);
    itm_results_table_destroy(run);
    itm_results_table_destroy(reference);
}

static void a_single_row_is_enough(void** state)
{
    (void)state;
    ItmTable* run = make_table(flat, 0.0, 1.0, 1);
    ItmTable* reference = make_table(ramp, 0.0, 1.0, 1);
    run->nrow = reference->nrow = 1;
    ItmComparison c = compare(run, reference, NULL);
    assert_int_equal(c.ncompared, 1);
    CHECK_NEAR(c.rms, 2.0, 0.0);
    itm_results_table_destroy(run);
    itm_results_table_destroy(reference);
}

static void tables_without_a_clock_are_refused(void** state)
{
    (void)state;
    ItmTable* table = make_table(ramp, 0.0, 1.0, 4);
    ItmTable* good = make_table(ramp, 0.0, 1.0, 4);
    ItmError error = {0};
    ItmComparison c;
    table->values[4] = 0.1;  // row 3, after 0.25
    assert_int_equal(itm_compare(&c, table, 1, good, 1, NULL, &error), ITM_ERR_INPUT);
    assert_non_null(strstr(error.message, "row 3"));
    assert_non_null(strstr(error.message, "the run"));
    table->values[4] = NAN;
    assert_int_equal(itm_compare(&c, good, 1, table, 1, NULL, &error), ITM_ERR_INPUT);
    assert_non_null(strstr(error.message, "the reference"));
    assert_int_equal(itm_compare(&c, good, 2, good, 1, NULL, &error), ITM_ERR_ARGUMENT);
    good->nrow = 0;
    assert_int_equal(itm_compare(&c, good, 1, good, 1, NULL, &error), ITM_ERR_INPUT);
    itm_results_table_destroy(table);
    itm_results_table_destroy(good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_equals_itself),
        cmocka_unit_test(a_constant_offset_is_rms_and_maximum),
        cmocka_unit_test(tables_of_different_spacing_meet_at_the_times_of_the_coarser),
        cmocka_unit_test(only_the_common_interval_counts),
        cmocka_unit_test(late_events_show_their_shift),
        cmocka_unit_test(ripple_within_the_band_is_no_event),
        cmocka_unit_test(a_constant_reference_has_no_events),
        cmocka_unit_test(values_that_are_not_finite_are_counted_and_left_out),
        cmocka_unit_test(a_single_row_is_enough),
        cmocka_unit_test(tables_without_a_clock_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
