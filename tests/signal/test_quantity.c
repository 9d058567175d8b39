#include "check.h"

#include "base/nearest.h"
#include "signal/quantity.h"
#include "base/utf8.h"

static double unit(const char* name, ItmDimension expected)
{
    double factor = NAN;
    ItmDimension dimension;
    if (!itm_quantity_find_unit(name, strlen(name), &factor, &dimension)) {
        fail_msg("no unit %s", name);
    }
    if (!itm_quantity_equal_dimensions(dimension, expected)) {
        char got[64];
        fail_msg("%s has dimension %s", name, itm_quantity_format_dimension(dimension, got, sizeof got));
    }
    return factor;
}

static bool is_unit(const char* name)
{
    double factor;
    ItmDimension dimension;
    return itm_quantity_find_unit(name, strlen(name), &factor, &dimension);
}

static void units_have_their_factors(void** state)
{
    (void)state;
    const ItmDimension pressure = {{-1, 1, -2}}, volume = {{3}};
    CHECK_NEAR(unit("mm", ITM_DIM_LENGTH), 1e-3, 0);
    CHECK_NEAR(unit("kg", ITM_DIM_MASS), 1, 0);
    CHECK_NEAR(unit("ms", ITM_DIM_TIME), 1e-3, 0);
    CHECK_NEAR(unit("us", ITM_DIM_TIME), 1e-6, 0);
    CHECK_NEAR(unit("µs", ITM_DIM_TIME), 1e-6, 0);
    CHECK_NEAR(unit("min", ITM_DIM_TIME), 60, 0);
    CHECK_NEAR(unit("h", ITM_DIM_TIME), 3600, 0);
    CHECK_NEAR(unit("deg", ITM_DIM_ONE), acos(-1) / 180, 0);
    CHECK_NEAR(unit("°", ITM_DIM_ONE), acos(-1) / 180, 0);
    CHECK_NEAR(unit("rpm", ITM_DIM_FREQUENCY), acos(-1) / 30, 1e-17);
    CHECK_NEAR(unit("MPa", pressure), 1e6, 0);
    CHECK_NEAR(unit("bar", pressure), 1e5, 0);
    CHECK_NEAR(unit("l", volume), 1e-3, 0);
    CHECK_NEAR(unit("kNm", ITM_DIM_TORQUE), 1e3, 0);
    CHECK_NEAR(unit("in", ITM_DIM_LENGTH), 0.0254, 0);
    CHECK_NEAR(unit("%", ITM_DIM_ONE), 0.01, 0);
}

static void words_that_are_no_units_are_refused(void** state)
{
    (void)state;
    const char* none[] = {"", "k", "mmm", "kmin", "kdeg", "Kg", "metre", "mrpm", "x"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_false(is_unit(none[i]));
    }
    assert_string_equal(itm_quantity_suggest_unit("degg", 4), "deg");
    assert_string_equal(itm_quantity_suggest_unit("Mpa", 3), "MPa");
    assert_null(itm_quantity_suggest_unit("furlong", 7));
}

static void dimensions_print_as_people_write_them(void** state)
{
    (void)state;
    char text[64];
    assert_string_equal(itm_quantity_format_dimension(ITM_DIM_FORCE, text, sizeof text), "N");
    assert_string_equal(itm_quantity_format_dimension(ITM_DIM_ONE, text, sizeof text), "no unit");
    assert_string_equal(itm_quantity_format_dimension(ITM_DIM_INERTIA, text, sizeof text), "kg m^2");
    assert_string_equal(itm_quantity_format_dimension(ITM_DIM_ACCELERATION, text, sizeof text), "m/s^2");
    assert_string_equal(itm_quantity_format_dimension(ITM_DIM_FREQUENCY, text, sizeof text), "1/s");
    assert_string_equal(itm_quantity_format_dimension((ItmDimension){{0.5, 0, -1.5}}, text, sizeof text),
                        "m^0.5/s^1.5");
    char small[8];
    assert_int_equal(strlen(itm_quantity_format_dimension(ITM_DIM_DENSITY, small, sizeof small)), 6);
}

static void only_bare_numbers_fit_everywhere(void** state)
{
    (void)state;
    assert_true(itm_quantity_fits((ItmQuantity){.is_bare = true}, ITM_DIM_MASS));
    assert_false(itm_quantity_fits((ItmQuantity){.dimension = ITM_DIM_ONE}, ITM_DIM_MASS));
    assert_true(itm_quantity_fits((ItmQuantity){.dimension = ITM_DIM_MASS}, ITM_DIM_MASS));
}

static size_t distance(const char* a, const char* b)
{
    return itm_nearest_distance(a, strlen(a), b, strlen(b), 9);
}

static void distance_counts_edits(void** state)
{
    (void)state;
    assert_int_equal(distance("mass", "mass"), 0);
    assert_int_equal(distance("mass", "Mass"), 0);
    assert_int_equal(distance("mas", "mass"), 1);
    assert_int_equal(distance("masss", "mass"), 1);
    assert_int_equal(distance("mess", "mass"), 1);
    assert_int_equal(distance("msas", "mass"), 1);
    assert_int_equal(distance("kitten", "sitting"), 3);
    assert_int_equal(distance("", "abc"), 3);
    assert_int_equal(distance("aaaaaaaaaaaaaaaaaaaa", "b"), 10);
    char longest[100];
    memset(longest, 'a', sizeof longest);
    assert_int_equal(itm_nearest_distance(longest, 100, longest, 100, 3), 4);
}

static void nearest_is_the_best_that_could_be_meant(void** state)
{
    (void)state;
    ItmNearest n = itm_nearest_start("revolut", 7);
    itm_nearest_offer(&n, "prismatic");
    assert_null(n.best);
    itm_nearest_offer(&n, "revolute");
    itm_nearest_offer(&n, "revolut-e");
    assert_string_equal(n.best, "revolute");
    // equally near: the first in the alphabet, whatever the order
    n = itm_nearest_start("rim", 3);
    itm_nearest_offer(&n, "rum");
    itm_nearest_offer(&n, "ram");
    itm_nearest_offer(&n, "rom");
    assert_string_equal(n.best, "ram");
    n = itm_nearest_start("xyz", 3);
    itm_nearest_offer(&n, "abc");
    assert_null(n.best);
}

static void utf8_is_checked_strictly(void** state)
{
    (void)state;
    const char* good[] = {"", "abc\t\r\n", "µ°²", "€", "\xF0\x9F\x98\x80"};
    const char* bad[] = {"\x80",         "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                         "\xF8\x88\x80", "\xE2\x82", "\x01",         "\x7f",         "\xC2\x85"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(itm_utf8_check(good[i], strlen(good[i])), strlen(good[i]));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(itm_utf8_check(bad[i], strlen(bad[i])), 0);
    }
    assert_int_equal(itm_utf8_check("a\0b", 3), 1);
    assert_int_equal(itm_utf8_count("aµb", 4), 3);
    assert_int_equal(itm_utf8_cut("aµb", 4, 2), 1);
    assert_int_equal(itm_utf8_cut("aµb", 4, 9), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_have_their_factors),
        cmocka_unit_test(words_that_are_no_units_are_refused),
        cmocka_unit_test(dimensions_print_as_people_write_them),
        cmocka_unit_test(only_bare_numbers_fit_everywhere),
        cmocka_unit_test(distance_counts_edits),
        cmocka_unit_test(nearest_is_the_best_that_could_be_meant),
        cmocka_unit_test(utf8_is_checked_strictly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
