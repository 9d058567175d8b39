// Co-simulations from model files and text, for tests that run them and look at results by name.
#ifndef ITM_TESTS_SYSTEM_H
#define ITM_TESTS_SYSTEM_H

#include "check.h"

#include "interim/interim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct System {
    ItmModelFile* file;
    ItmCosim* x;
    double* y;  // outputs
} System;

static inline void system_create(System* s)
{
    ItmError error = {0};
    CHECK_OK(itm_file_create_cosim(&s->x, s->file, NULL, &error), &error);
    s->y = calloc((size_t)itm_cosim_get_output_count(s->x) + 1, sizeof *s->y);
}

// overrides as of --set (n)
static inline System system_load(const char* path, const char* const* overrides, int n)
{
    System s = {0};
    ItmError error = {0};
    CHECK_OK(itm_file_load(&s.file, path, overrides, n, &error), &error);
    system_create(&s);
    return s;
}

static inline System system_parse(const char* text, const char* const* overrides, int n)
{
    System s = {0};
    ItmError error = {0};
    CHECK_OK(itm_file_parse(&s.file, text, strlen(text), "text", overrides, n, &error), &error);
    system_create(&s);
    return s;
}

static inline void system_finish(System* s)
{
    itm_cosim_destroy(s->x);
    itm_file_destroy(s->file);
    free(s->y);
}

static inline void system_step(System* s)
{
    CHECK_OK(itm_cosim_step(s->x), itm_cosim_get_error(s->x));
}

static inline void system_step_to(System* s, double t)
{
    while (itm_cosim_get_time(s->x) < t - 1e-9) {
        system_step(s);
    }
}

static inline double system_get(const System* s, const char* name)
{
    int i = itm_cosim_find_output(s->x, name);
    if (i == ITM_NONE) {
        fail_msg("there is no output %s", name);
    }
    CHECK_OK(itm_cosim_compute_outputs(s->x, s->y), itm_cosim_get_error(s->x));
    return s->y[i];
}

static inline double system_get_component(const System* s, const char* name, char component)
{
    char full[128];
    snprintf(full, sizeof full, "%s.%c", name, component);
    return system_get(s, full);
}

// Distance of vectors of two systems.
static inline double system_measure(const System* a, const char* name_a, const System* b, const char* name_b)
{
    double sum = 0.0;
    for (char c = 'x'; c <= 'z'; c++) {
        double d = system_get_component(a, name_a, c) - system_get_component(b, name_b, c);
        sum += d * d;
    }
    return sqrt(sum);
}

// Read or built, the text fails with a place and with `part` in its message.
static inline void system_refuse(const char* text, const char* const* overrides, int n, const char* part)
{
    ItmModelFile* file = NULL;
    ItmCosim* x = NULL;
    ItmError error = {0};
    ItmStatus status = itm_file_parse(&file, text, strlen(text), "text", overrides, n, &error);
    if (status == ITM_OK) {
        status = itm_file_create_cosim(&x, file, NULL, &error);
    }
    assert_true(status != ITM_OK);
    assert_true(error.line > 0);
    if (strstr(error.message, part) == NULL) {
        fail_msg("'%s' is not in '%s'", part, error.message);
    }
    itm_cosim_destroy(x);
    itm_file_destroy(file);
}

#endif
