// The public functions for one FMU: description, check, run, comparison.
#include "../check.h"

#include "interim/interim.h"

#include <math.h>
#include <unistd.h>

static ItmFmu* open_fmu(const char* name)
{
    char path[400];
    ItmFmu* fmu = NULL;
    ItmError error = {0};
    snprintf(path, sizeof path, "%s/%s", ITM_FMU_DIR, name);
    CHECK_OK(itm_fmu_open(&fmu, path, &error), &error);
    return fmu;
}

static void it_is_described(void** state)
{
    (void)state;
    ItmFmu* fmu = open_fmu("oscillator3.fmu");
    ItmFmuInfo info = itm_fmu_get_info(fmu);
    assert_string_equal(info.version, "3.0");
    assert_true(info.has_co_simulation && info.nvariable > 3 && info.nfile >= 2 && info.size > 1000);
    int x = itm_fmu_find_variable(fmu, "x");
    assert_int_not_equal(x, ITM_NONE);
    ItmFmuVariable v = itm_fmu_get_variable(fmu, x);
    assert_string_equal(v.name, "x");
    assert_string_equal(v.type, "Float64");
    assert_null(itm_fmu_get_variable(fmu, info.nvariable).name);
    assert_int_equal(itm_fmu_find_variable(fmu, "nothing"), ITM_NONE);
    char *text = itm_fmu_describe(fmu, ITM_FMU_TEXT), *json = itm_fmu_describe(fmu, ITM_FMU_JSON);
    assert_non_null(strstr(text, "FMI 3.0"));
    assert_non_null(strstr(json, "\"fmi_version\":\"3.0\""));
    free(text);
    free(json);
    itm_fmu_close(fmu);
}

static void note_finding(void* context, const ItmFmuFinding* finding)
{
    assert_true(finding->subject[0] != '\0' && finding->text[0] != '\0');
    ((int*)context)[finding->level]++;
}

static void every_finding_is_passed_on_and_counted(void** state)
{
    (void)state;
    ItmFmu* fmu = open_fmu("oscillator2.fmu");
    int counts[ITM_FMU_LEVEL_COUNT], seen[ITM_FMU_LEVEL_COUNT] = {0};
    ItmError error = {0};
    CHECK_OK(itm_fmu_check(fmu, note_finding, seen, counts, &error), &error);
    assert_memory_equal(counts, seen, sizeof counts);
    assert_int_equal(counts[ITM_FMU_ERROR], 0);
    assert_true(counts[ITM_FMU_GOOD] > 3);
    itm_fmu_close(fmu);
}

static bool stop_after(void* context)
{
    return (*(int*)context)-- == 0;
}

static void a_run_meets_its_own_results_and_no_others(void** state)
{
    (void)state;
    ItmFmu* fmu = open_fmu("oscillator2.fmu");
    ItmError error = {0};
    ItmFmuRunOptions options = itm_default_fmu_run_options();
    options.stop = 1.0;
    options.step = 0.01;
    options.path = "test_fmu_alone.csv";
    ItmFmuRunInfo info;
    CHECK_OK(itm_fmu_run(&info, fmu, &options, &error), &error);
    assert_int_equal(info.verdict, ITM_VERDICT_FINISHED);
    assert_int_equal(info.nstep, 100);
    CHECK_NEAR(info.time, 1.0, 0.0);
    ItmTable* reference = NULL;
    CHECK_OK(itm_results_read(&reference, options.path, &error), &error);
    assert_int_equal(reference->nrow, 101);

    // the same run again is within rounding of the reference; with another start value it is not
    ItmFmuComparison c;
    options.path = NULL;
    CHECK_OK(itm_fmu_compare(&c, fmu, reference, &options, &error), &error);
    assert_true(c.has_passed && c.nsignal == reference->ncolumn - 1);
    CHECK_NEAR(c.worst_share, 0.0, 0.0);
    const char* setting = "x=0.5";
    options.settings = &setting;
    options.nsetting = 1;
    CHECK_OK(itm_fmu_compare(&c, fmu, reference, &options, &error), &error);
    assert_false(c.has_passed);
    assert_true(c.worst_share > 0.01 && c.worst != NULL);

    // a bad setting is refused by name, and a run can be ended
    setting = "nothing=1";
    assert_int_equal(itm_fmu_run(&info, fmu, &options, &error), ITM_ERR_INPUT);
    assert_non_null(strstr(error.message, "nothing"));
    int left = 10;
    options.nsetting = 0;
    options.is_stopped = stop_after;
    options.context = &left;
    CHECK_OK(itm_fmu_run(&info, fmu, &options, &error), &error);
    assert_int_equal(info.verdict, ITM_VERDICT_INTERRUPTED);
    CHECK_NEAR(info.time, 0.1, 1e-12);
    itm_results_table_destroy(reference);
    itm_fmu_close(fmu);
    unlink("test_fmu_alone.csv");
    unlink("test_fmu_alone.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_described),
        cmocka_unit_test(every_finding_is_passed_on_and_counted),
        cmocka_unit_test(a_run_meets_its_own_results_and_no_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
