// The rule of the cross-check: within 1 % of the range, one sample of shift at events.
#include "check.h"

#include "report/crosscheck.h"

static ItmTable* make_table(const char* text)
{
    ItmTable* table = calloc(1, sizeof *table);
    char* copy = strdup(text);
    ItmError error = {0};
    CHECK_OK(itm_results_parse_csv(table, copy, strlen(copy), "text.csv", &error), &error);
    free(copy);
    return table;
}

static ItmFmuComparison compare_as(const char* run, const char* reference, bool is_discrete)
{
    bool kinds[2] = {false, is_discrete};
    ItmTable *a = make_table(run), *b = make_table(reference);
    ItmFmuComparison c;
    ItmError error = {0};
    CHECK_OK(itm_crosscheck_compare(&c, a, b, ITM_CROSSCHECK_SHARE, kinds, &error), &error);
    itm_results_table_destroy(a);
    itm_results_table_destroy(b);
    c.worst = NULL;  // belonged to the table
    return c;
}

static ItmFmuComparison compare(const char* run, const char* reference)
{
    return compare_as(run, reference, false);
}

static const char* const RAMP = "time,y\n0,0\n1,1\n2,2\n3,3\n4,4\n5,5\n6,6\n7,7\n8,8\n9,9\n10,10\n";

static void values_within_one_percent_of_the_range_pass(void** state)
{
    (void)state;
    assert_true(compare("time,y\n0,0.099\n10,10.099\n", RAMP).has_passed);
    ItmFmuComparison c = compare("time,y\n0,0\n10,10.101\n", RAMP);
    assert_false(c.has_passed);
    CHECK_NEAR(c.worst_share, 0.101 / 10.0, 1e-12);
    CHECK_NEAR(c.worst_time, 10.0, 0.0);
    assert_int_equal(c.nbad, 1);
    // a smooth signal has no events, so it must not come a sample late
    assert_false(compare("time,y\n0,0\n1,0\n11,10\n", RAMP).has_passed);
}

static void an_event_may_come_one_sample_early_or_late_and_no_more(void** state)
{
    (void)state;
    const char* jump = "time,y\n0,0\n1,0\n2,0\n2,1\n3,1\n4,1\n5,1\n6,1\n";
    assert_true(compare(jump, jump).has_passed);
    assert_true(compare("time,y\n0,0\n3,0\n3,1\n6,1\n", jump).has_passed);  // one late
    assert_true(compare("time,y\n0,0\n1,0\n1,1\n6,1\n", jump).has_passed);  // one early
    assert_false(compare("time,y\n0,0\n4.5,0\n4.5,1\n6,1\n", jump).has_passed);
    assert_false(
        compare("time,y\n0,0\n0.5,0\n0.5,1\n6,1\n", "time,y\n0,0\n1,0\n2,0\n3,0\n3,1\n4,1\n5,1\n6,1\n").has_passed);
}

// The run follows a ramp one sample longer than the reference and is then outside of all values of the reference.
static void a_late_event_may_continue_the_signal_before_it(void** state)
{
    (void)state;
    const char* reference = "time,y\n0,0\n1,10\n2,20\n3,0\n4,0\n5,0\n";
    assert_true(compare("time,y\n0,0\n1,10\n2,20\n3,30\n4,0\n5,0\n", reference).has_passed);
    assert_false(compare("time,y\n0,0\n1,10\n2,20\n3,30\n4,40\n5,0\n", reference).has_passed);
}

// Small changes of a discrete signal are events too.
static void discrete_signals_may_come_one_sample_late(void** state)
{
    (void)state;
    const char* late = "time,y\n0,0\n1,0\n2,1\n3,2\n4,3\n5,4\n6,5\n7,6\n8,7\n9,8\n10,9\n";
    const char* later = "time,y\n0,0\n1,0\n2,0\n3,1\n4,2\n5,3\n6,4\n7,5\n8,6\n9,7\n10,8\n";
    assert_true(compare_as(late, RAMP, true).has_passed);
    assert_false(compare_as(later, RAMP, true).has_passed);
    assert_false(compare_as(late, RAMP, false).has_passed);
}

static void constants_are_compared_with_rounding(void** state)
{
    (void)state;
    assert_true(compare("time,y\n0,1000.0005\n1,1000\n", "time,y\n0,1000\n1,1000\n").has_passed);
    assert_false(compare("time,y\n0,1000.5\n1,1000\n", "time,y\n0,1000\n1,1000\n").has_passed);
}

static void short_runs_missing_signals_and_nan_fail(void** state)
{
    (void)state;
    assert_false(compare("time,y\n0,0\n9,9\n", RAMP).has_passed);
    assert_false(compare("time,z\n0,0\n10,10\n", RAMP).has_passed);
    assert_false(compare("time,y\n0,0\n2,nan\n10,10\n", RAMP).has_passed);
    ItmTable *a = make_table("time,y\n1,0\n0,0\n"), *b = make_table(RAMP);
    ItmFmuComparison c;
    ItmError error = {0};
    assert_int_equal(itm_crosscheck_compare(&c, a, b, ITM_CROSSCHECK_SHARE, NULL, &error), ITM_ERR_INPUT);
    assert_non_null(strstr(error.message, "run backwards"));
    itm_results_table_destroy(a);
    itm_results_table_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_within_one_percent_of_the_range_pass),
        cmocka_unit_test(an_event_may_come_one_sample_early_or_late_and_no_more),
        cmocka_unit_test(a_late_event_may_continue_the_signal_before_it),
        cmocka_unit_test(discrete_signals_may_come_one_sample_late),
        cmocka_unit_test(constants_are_compared_with_rounding),
        cmocka_unit_test(short_runs_missing_signals_and_nan_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
