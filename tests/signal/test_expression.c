#include "check.h"

#include <math.h>

#include "interim/signal.h"
#include "signal/expression.h"

// Parameters: L = 2 m, m = 3 kg, n = 4 and s1 = 5 without unit.
static bool find(void* context, const char* name, size_t length, int depth, ItmQuantity* value,
                 ItmExpressionError* error)
{
    (void)context;
    (void)depth;
    if (length == 1 && *name == 'L') {
        *value = (ItmQuantity){.value = 2, .dimension = ITM_DIM_LENGTH};
    } else if (length == 1 && *name == 'm') {
        *value = (ItmQuantity){.value = 3, .dimension = ITM_DIM_MASS};
    } else if (length == 1 && *name == 'n') {
        *value = (ItmQuantity){.value = 4, .is_bare = true};
    } else if (length == 2 && memcmp(name, "s1", 2) == 0) {
        *value = (ItmQuantity){.value = 5, .is_bare = true};
    } else {
        snprintf(error->message, sizeof error->message, "no parameter");
        return false;
    }
    return true;
}

static bool has(void* context, const char* name, size_t length)
{
    (void)context;
    return (length == 1 && strchr("Lmn", *name) != NULL) || (length == 2 && memcmp(name, "s1", 2) == 0);
}

static const ItmScope SCOPE = {.find = find, .has = has};

static ItmQuantity compute(const char* text)
{
    ItmQuantity value;
    ItmExpressionError error;
    if (!itm_expression_compute(&value, text, strlen(text), &SCOPE, 0, &error)) {
        fail_msg("'%s': %s at %zu", text, error.message, error.offset);
    }
    return value;
}

static void check(const char* text, double value, ItmDimension dimension)
{
    ItmQuantity got = compute(text);
    // a few roundings
    if (!(fabs(got.value - value) <= 4e-16 * fabs(value)) || !itm_quantity_equal_dimensions(got.dimension, dimension)) {
        char unit[64];
        fail_msg("'%s' gives %.17g %s, expected %.17g", text, got.value,
                 itm_quantity_format_dimension(got.dimension, unit, sizeof unit), value);
    }
}

static void refuse(const char* text, size_t offset, const char* word)
{
    ItmQuantity value;
    ItmExpressionError error;
    if (itm_expression_compute(&value, text, strlen(text), &SCOPE, 0, &error)) {
        fail_msg("'%s' gives %g", text, value.value);
    }
    if (error.offset != offset || strstr(error.message, word) == NULL) {
        fail_msg("'%s': expected '%s' at %zu, got '%s' at %zu", text, word, offset, error.message, error.offset);
    }
}

static void arithmetic_follows_the_usual_rules(void** state)
{
    (void)state;
    check("1 + 2*3", 7, ITM_DIM_ONE);
    check("(1+2)*3", 9, ITM_DIM_ONE);
    check("2^3^2", 512, ITM_DIM_ONE);
    check("-2^2", -4, ITM_DIM_ONE);
    check("2^-1", 0.5, ITM_DIM_ONE);
    check("8/4/2", 1, ITM_DIM_ONE);
    check("7 - 4 - 2", 1, ITM_DIM_ONE);
    check("--3", 3, ITM_DIM_ONE);
    check("+.5e1", 5, ITM_DIM_ONE);
    check("1e-3", 1e-3, ITM_DIM_ONE);
    check("  2 * n ", 8, ITM_DIM_ONE);
    check("2.", 2, ITM_DIM_ONE);
}

static void numbers_are_read_to_the_last_bit(void** state)
{
    (void)state;
    assert_true(compute("0.1").value == 0.1);
    assert_true(compute("1.7976931348623157e308").value == 1.7976931348623157e308);
    assert_true(compute("4.9406564584124654e-324").value == 4.9406564584124654e-324);
    assert_true(compute("123.456E-7").value == 123.456e-7);
    assert_true(compute("0.000000000000000000000001").value == 1e-24);
    assert_true(compute("3.14159265358979323846").value == 3.14159265358979323846);
    assert_true(compute("1e-99999999999999999999").value == 0);
    assert_true(compute("0e99999999999999999999").value == 0);
    assert_true(compute("5.").value == 5);
    refuse("1e99999999999999999999", 0, "too large");
}

static void functions_and_pi(void** state)
{
    (void)state;
    check("sin(pi/2)", 1, ITM_DIM_ONE);
    check("cos(60 deg)", 0.5, ITM_DIM_ONE);
    check("tan(0)", 0, ITM_DIM_ONE);
    check("asin(1)*2", acos(-1), ITM_DIM_ONE);
    check("acos(-1)", acos(-1), ITM_DIM_ONE);
    check("4*atan(1)", acos(-1), ITM_DIM_ONE);
    check("atan2(L, -L)", 0.75 * acos(-1), ITM_DIM_ONE);
    check("sqrt(L^2)", 2, ITM_DIM_LENGTH);
    check("sqrt(9 m^2/s^2)", 3, ITM_DIM_VELOCITY);
    check("abs(-L)", 2, ITM_DIM_LENGTH);
    check("min(L, 30 cm)", 0.3, ITM_DIM_LENGTH);
    check("max(1, 2)", 2, ITM_DIM_ONE);
    check("exp(0) + log(1)", 1, ITM_DIM_ONE);
    check("pow(2 m, 3)", 8, (ItmDimension){{3}});
    check("if(L > 150 cm, 3 kg, m/2)", 3, ITM_DIM_MASS);
    check("clamp(L, 0, 1500 mm)", 1.5, ITM_DIM_LENGTH);
    check("deadband(L, 0.5 m)", 1.5, ITM_DIM_LENGTH);
    check("max(1 m, L, 30 cm)", 2, ITM_DIM_LENGTH);
    check("sign(-L) + floor(1.5) + ceil(0.5)", 1, ITM_DIM_ONE);
    check("not (n < 3 or n == 5) and n >= 4", 1, ITM_DIM_ONE);
}

static void units_follow_numbers(void** state)
{
    (void)state;
    check("30 deg", acos(-1) / 6, ITM_DIM_ONE);
    check("0.2 ms", 0.2e-3, ITM_DIM_TIME);
    check("2ms", 2e-3, ITM_DIM_TIME);
    check("7.6 MPa", 7.6e6, (ItmDimension){{-1, 1, -2}});
    check("12 l/min", 12e-3 / 60, (ItmDimension){{3, 0, -1}});
    check("1e5 N s/m", 1e5, ITM_DIM_DAMPING);
    check("5 N m/rad", 5, ITM_DIM_TORQUE);
    check("5 N*m", 5, ITM_DIM_TORQUE);
    check("5 N·m", 5, ITM_DIM_TORQUE);
    check("9.81 m/s^2", 9.81, ITM_DIM_ACCELERATION);
    check("9.81 m/s²", 9.81, ITM_DIM_ACCELERATION);
    check("9.81 m s^-2", 9.81, ITM_DIM_ACCELERATION);
    check("4 J/kg K", 4, (ItmDimension){{2, 0, -2, 0, -1}});
    check("(1/2) m", 0.5, ITM_DIM_LENGTH);
    check("36 km/h", 10, ITM_DIM_VELOCITY);
    check("1e3 mm", 1, ITM_DIM_LENGTH);
    check("50 %", 0.5, ITM_DIM_ONE);
    check("8 mm^0.5", 8 * sqrt(1e-3), (ItmDimension){{0.5}});
    check("5 1/s", 5, ITM_DIM_FREQUENCY);
    check("2 m^3.5/kg^0.5", 2, ITM_DIM_ORIFICE);
}

// Factors of a study and bounds are written with the unit that was printed.
static void printed_units_are_read_back(void** state)
{
    (void)state;
    const double powers[] = {1, -1, 2, 0.5, -1.5, 3.5, 1.0 / 3, -2.0 / 3, 5.0 / 7, 0.8, 0.123, 12, 99};
    const int count = (int)(sizeof powers / sizeof powers[0]);
    for (int i = 0; i < count * count; i++) {
        ItmDimension dimension = {{powers[i / count], 0, powers[i % count], 0, i % 3 == 0 ? -0.25 : 0}};
        char unit[64], text[80];
        itm_quantity_format_dimension(dimension, unit, sizeof unit);
        snprintf(text, sizeof text, "1 %s", unit);
        check(text, 1, dimension);
    }
}

static void parameters_may_be_called_like_units(void** state)
{
    (void)state;
    check("m", 3, ITM_DIM_MASS);
    check("2*m", 6, ITM_DIM_MASS);
    check("2 m", 2, ITM_DIM_LENGTH);
    check("10 m/s", 10, ITM_DIM_VELOCITY);
    check("12 N / m", 4, ITM_DIM_ACCELERATION);  // spaces: divided by the parameter m
    check("12 N/m", 12, ITM_DIM_STIFFNESS);      // no spaces: the unit
    check("12 m/n", 3, ITM_DIM_LENGTH);          // n is no unit
    check("12 m/n*2", 6, ITM_DIM_LENGTH);
    check("12 m/sqrt(n)", 6, ITM_DIM_LENGTH);
    check("12 rad/pi", 12 / acos(-1), ITM_DIM_ONE);
    check("0.5 m*s1", 2.5, ITM_DIM_LENGTH);  // s is a unit, s1 is not
    refuse("2 n", 2, "write *");
    refuse("2 m/x", 4, "no unit 'x'");
}

static void dimensions_are_checked(void** state)
{
    (void)state;
    refuse("1 m + 2 kg", 4, "cannot add m and kg");
    refuse("L - m", 2, "cannot subtract m and kg");
    refuse("sin(2 m)", 0, "without unit, got m");
    refuse("2^(3 s)", 1, "exponent");
    refuse("max(L, m)", 0, "compare");
    refuse("L < m", 2, "cannot compare m and kg");
    refuse("if(n, L, m)", 0, "cannot compare m and kg");
    refuse("if(L, 1, 2)", 0, "condition");
    refuse("floor(L)", 0, "without unit");
    check("L + 0.5", 2.5, ITM_DIM_LENGTH);  // a bare number fits
    assert_true(compute("2*n").is_bare);
    assert_false(compute("30 deg").is_bare);
    assert_false(compute("2*L/L").is_bare);
}

static void mistakes_are_found_at_their_place(void** state)
{
    (void)state;
    refuse("", 0, "too early");
    refuse("1 +", 3, "too early");
    refuse("(1 + 2", 6, "')'");
    refuse("1 + * 2", 4, "expected a number");
    refuse("2 3", 2, "no meaning here");
    refuse("sine(1)", 0, "nearest: sin");
    refuse("L + frob(1)", 4, "no function");
    refuse("atan2(1)", 0, "2 values, not 1");
    refuse("sin(1", 5, "')'");
    refuse("4 mmm", 2, "no unit");
    refuse("3 degg", 2, "'deg'");
    refuse("9 m^222", 3, "below 100");
    refuse("9 m^(1/0)", 3, "below 100");
    refuse("9 m^(1/2", 3, "below 100");
    refuse("9 m^", 3, "below 100");
    refuse("x1 + 2", 0, "no parameter");
    refuse("1e999", 0, "too large");
    refuse("1/0", 0, "finite");
    refuse("log(-1)", 0, "finite");
    refuse("$", 0, "expected a number");
    refuse("0x10", 1, "no unit 'x'");
    refuse("nan", 0, "no parameter");
    refuse("2*time", 2, "changes with time");
    refuse("rate(L)", 5, "changes with time");
    refuse("inf", 0, "no parameter");
}

static void hostile_expressions_end(void** state)
{
    (void)state;
    static char text[5000];
    memset(text, '(', 4000);
    text[4000] = '\0';
    refuse(text, ITM_EXPRESSION_MAX_DEPTH, "nested");
    memset(text, '-', 4000);
    refuse(text, ITM_EXPRESSION_MAX_DEPTH, "nested");
    for (int i = 0; i < 4000; i += 2) {
        memcpy(text + i, "1^", 2);
    }
    refuse(text, 2 * ITM_EXPRESSION_MAX_DEPTH, "nested");
    memset(text, '1', 4000);
    refuse(text, 0, "too long");
    memset(text, '1', 4999);
    text[4999] = '\0';
    refuse(text, 0, "too long");
    ItmQuantity value;
    ItmExpressionError error;
    assert_false(itm_expression_compute(&value, "x", 1, NULL, 0, &error));
}

static void public_evaluation_gives_value_unit_and_place(void** state)
{
    (void)state;
    double value;
    char unit[32];
    ItmError error = {0};
    assert_int_equal(itm_expression_evaluate("2*500 us", &value, unit, sizeof unit, &error), ITM_OK);
    CHECK_NEAR(value, 1e-3, 1e-18);
    assert_string_equal(unit, "s");
    assert_int_equal(itm_expression_evaluate("90 deg", &value, unit, sizeof unit, &error), ITM_OK);
    CHECK_NEAR(value, 2.0 * atan(1.0), 1e-15);
    assert_string_equal(unit, "1");
    assert_int_equal(itm_expression_evaluate("3", &value, unit, sizeof unit, &error), ITM_OK);
    assert_string_equal(unit, "");
    assert_int_equal(itm_expression_evaluate("1 m + 1 s", &value, NULL, 0, &error), ITM_ERR_INPUT);
    assert_true(error.column > 1);
    assert_int_equal(itm_expression_evaluate(NULL, &value, NULL, 0, NULL), ITM_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_evaluation_gives_value_unit_and_place),
        cmocka_unit_test(arithmetic_follows_the_usual_rules),
        cmocka_unit_test(numbers_are_read_to_the_last_bit),
        cmocka_unit_test(functions_and_pi),
        cmocka_unit_test(units_follow_numbers),
        cmocka_unit_test(printed_units_are_read_back),
        cmocka_unit_test(parameters_may_be_called_like_units),
        cmocka_unit_test(dimensions_are_checked),
        cmocka_unit_test(mistakes_are_found_at_their_place),
        cmocka_unit_test(hostile_expressions_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
