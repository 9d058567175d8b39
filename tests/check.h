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

static inline void check_near(double got, double want, double tolerance, const char* what, const char* file, int line)
{
    if (!(fabs(got - want) <= tolerance * check_scale())) {
        fail_msg("%s:%d: %s: got %.17g, want %.17g, difference %.3g, tolerance %.3g", file, line, what, got, want,
                 got - want, tolerance);
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
            fail_msg("%s:%d: %s: status %d: %s", __FILE__, __LINE__, #call, (int)check_status,                         \
                     (error) != NULL ? (error)->message : "");                                                         \
        }                                                                                                              \
    } while (0)

#endif
