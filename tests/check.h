// What every test file includes: cmocka, and a comparison that shows both numbers.
// ITM_TOLERANCE_SCALE in the environment scales all tolerances, to see the true residuals.
#ifndef ITM_TESTS_CHECK_H
#define ITM_TESTS_CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static inline double check_scale(void)
{
    const char* text = getenv("ITM_TOLERANCE_SCALE");
    return text != NULL ? strtod(text, NULL) : 1.0;
}

// The case of a loop that is being checked: CHECK_CASE("law %d, step %g", law, h) at the top of the loop. A check that fails prints it.
static char check_case_text[256];

#ifdef __GNUC__
__attribute__((format(printf, 1, 2)))
#endif
static inline void
check_set_case(const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(check_case_text, sizeof check_case_text, format, arguments);
    va_end(arguments);
}

static inline const char* check_get_case(void)
{
    static char text[300];
    snprintf(text, sizeof text, check_case_text[0] != '\0' ? " [%s]" : "%s", check_case_text);
    return text;
}

#define CHECK_CASE(...) check_set_case(__VA_ARGS__)

static inline void check_near(double got, double want, double tolerance, const char* what, const char* file, int line)
{
    if (!(fabs(got - want) <= tolerance * check_scale())) {
        fail_msg("%s:%d: %s: got %.17g, want %.17g, difference %.3g, tolerance %.3g%s", file, line, what, got, want,
                 got - want, tolerance, check_get_case());
    }
}

#define CHECK_NEAR(got, want, tolerance) check_near((got), (want), (tolerance), #got, __FILE__, __LINE__)

// Leave the test uncounted; `./do test` prints the reason.
#define SKIP(reason)                                                                                                   \
    do {                                                                                                               \
        print_message("skipped: %s: %s\n", __func__, reason);                                                          \
        skip();                                                                                                        \
    } while (0)

#define CHECK_OK(call, error)                                                                                          \
    do {                                                                                                               \
        ItmStatus check_status = (call);                                                                               \
        if (check_status != ITM_OK) {                                                                                  \
            fail_msg("%s:%d: %s: status %d: %s%s", __FILE__, __LINE__, #call, (int)check_status,                       \
                     (error) != NULL ? (error)->message : "", check_get_case());                                       \
        }                                                                                                              \
    } while (0)

#endif
