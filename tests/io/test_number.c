// Formatting of numbers against the C library, which rounds correctly.
#include "check.h"

#include "io/number.h"

static void check_same(double x)
{
    char got[2 * ITM_NUMBER_BYTES], want[2 * ITM_NUMBER_BYTES];
    char* end = itm_number_format(got, x);
    snprintf(want, sizeof want, "%.17g", x);
    assert_string_equal(got, want);
    assert_int_equal(end - got, strlen(want));
    assert_true(strtod(got, NULL) == x);
}

static void check_both_signs(double x)
{
    check_same(x);
    check_same(-x);
}

static uint64_t next_random(uint64_t* state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void special_numbers_are_as_printf_has_them(void** state)
{
    (void)state;
    char text[ITM_NUMBER_BYTES];
    itm_number_format(text, NAN);
    assert_string_equal(text, "nan");
    const double numbers[] = {0.0,
                              1.0,
                              0.1,
                              1.0 / 3.0,
                              INFINITY,
                              5e-324,
                              1.7976931348623157e308,
                              1e23,
                              12345678.0,
                              9007199254740993.0,
                              99999999999999984.0};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        check_both_signs(numbers[i]);
    }
}

static void neighbours_of_powers_of_ten_are_as_printf_has_them(void** state)
{
    (void)state;
    for (int k = -8; k <= 20; k++) {
        double below = pow(10.0, k), above = below;
        for (int i = 0; i < 50; i++) {
            check_both_signs(below);
            check_both_signs(above);
            below = nextafter(below, 0.0);
            above = nextafter(above, INFINITY);
        }
    }
}

static void ties_go_to_even(void** state)
{
    (void)state;
    // odd multiples of 2^-e with a finite decimal expansion whose 18th digit is a final 5
    for (int e = 1; e <= 60; e++) {
        for (int n = 1; n < 400; n += 2) {
            check_both_signs(ldexp(9007199254740992.0 - n, -e));
        }
    }
}

static void random_numbers_of_all_sizes_are_as_printf_has_them(void** state)
{
    (void)state;
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = next_random(&seed);
        double any = 0.0;
        memcpy(&any, &bits, sizeof any);
        if (isfinite(any)) {
            check_same(any);
        }
        check_both_signs(ldexp((double)(bits >> 11), -(int)(bits % 80)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_numbers_are_as_printf_has_them),
        cmocka_unit_test(neighbours_of_powers_of_ten_are_as_printf_has_them),
        cmocka_unit_test(ties_go_to_even),
        cmocka_unit_test(random_numbers_of_all_sizes_are_as_printf_has_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
