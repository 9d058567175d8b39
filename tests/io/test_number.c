// Formatting of numbers: they read back to the same bits, and no shorter text of the C library does.
#include "check.h"

#include "io/number.h"

// The least number of digits with which printf, which rounds correctly, gives a text that reads back.
static int count_digits(double x)
{
    char text[64];
    int n = 0;
    do {
        snprintf(text, sizeof text, "%.*e", n++, x);
    } while (n < 17 && strtod(text, NULL) != x);
    return n;
}

static void check_shortest(double x)
{
    char got[2 * ITM_NUMBER_BYTES], want[2 * ITM_NUMBER_BYTES], first[64];
    char* end = itm_number_format(got, x);
    assert_int_equal(end - got, strlen(got));
    assert_true(end - got < ITM_NUMBER_BYTES);
    assert_true(strtod(got, NULL) == x);
    assert_int_equal(signbit(strtod(got, NULL)) != 0, signbit(x) != 0);
    if (x == 0.0 || isinf(x)) {
        return;
    }
    int n = count_digits(x);
    snprintf(first, sizeof first, "%.*e", n - 1, x);
    int k = atoi(strchr(first, 'e') + 1);
    if (k < -4 || k >= 17) {
        assert_string_equal(got, first);
    } else if (n > k) {
        snprintf(want, sizeof want, "%.*f", n - 1 - k, x);
        assert_string_equal(got, want);
    } else {  // an integer whose last digits are zeros, as %f would not have them
        assert_int_equal(strlen(got), (size_t)(k + 1 + (x < 0.0)));
    }
}

static void check_both_signs(double x)
{
    check_shortest(x);
    check_shortest(-x);
}

static uint64_t next_random(uint64_t* state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void special_numbers_are_shortest(void** state)
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

static void neighbours_of_powers_of_ten_are_shortest(void** state)
{
    (void)state;
    for (int k = -30; k <= 30; k++) {
        double below = pow(10.0, k), above = below;
        for (int i = 0; i < 20; i++) {
            check_both_signs(below);
            check_both_signs(above);
            below = nextafter(below, 0.0);
            above = nextafter(above, INFINITY);
        }
    }
}

static void numbers_halfway_between_decimals_read_back(void** state)
{
    (void)state;
    // odd multiples of 2^-e with a finite decimal expansion whose 18th digit is a final 5
    for (int e = 1; e <= 60; e++) {
        for (int n = 1; n < 400; n += 2) {
            check_both_signs(ldexp(9007199254740992.0 - n, -e));
        }
    }
}

static void random_numbers_of_all_sizes_are_shortest(void** state)
{
    (void)state;
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = next_random(&seed);
        double any = 0.0;
        memcpy(&any, &bits, sizeof any);
        if (isfinite(any)) {
            check_shortest(any);
        }
        check_both_signs(ldexp((double)(bits >> 11), -(int)(bits % 80)));
    }
}

static void random_numbers_read_back(void** state)
{
    (void)state;
    uint64_t seed = 88172645463325252u;
    char text[ITM_NUMBER_BYTES];
    for (int i = 0; i < 1000000; i++) {
        uint64_t bits = next_random(&seed);
        double x = 0.0;
        memcpy(&x, &bits, sizeof x);
        x = i % 2 == 0 ? x : 1e-6 * (double)(int64_t)(bits >> 30);
        itm_number_format(text, x);
        assert_true(isnan(x) ? strcmp(text, "nan") == 0 : strtod(text, NULL) == x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_numbers_are_shortest),
        cmocka_unit_test(neighbours_of_powers_of_ten_are_shortest),
        cmocka_unit_test(numbers_halfway_between_decimals_read_back),
        cmocka_unit_test(random_numbers_of_all_sizes_are_shortest),
        cmocka_unit_test(random_numbers_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
