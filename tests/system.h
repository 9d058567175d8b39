// A whole system from the text of a model file, for tests that run it.
#ifndef ITM_TESTS_SYSTEM_H
#define ITM_TESTS_SYSTEM_H

#include "check.h"

#include "interim/interim.h"

typedef struct System {
    ItmModelFile* file;
    ItmCosim* x;
    double* y;  // outputs after the last system_step
} System;

// overrides as of --set (n)
static inline void system_start(System* s, const char* text, const char* const* overrides, int n)
{
    ItmError error = {0};
    CHECK_OK(itm_file_parse(&s->file, text, strlen(text), "text", overrides, n, &error), &error);
    CHECK_OK(itm_file_create_cosim(&s->x, s->file, NULL, &error), &error);
    s->y = calloc((size_t)itm_cosim_get_output_count(s->x) + 1, sizeof *s->y);
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
    CHECK_OK(itm_cosim_compute_outputs(s->x, s->y), itm_cosim_get_error(s->x));
}

static inline double system_get(const System* s, const char* name)
{
    int i = itm_cosim_find_output(s->x, name);
    if (i == ITM_NONE) {
        fail_msg("there is no output %s", name);
    }
    return s->y[i];
}

#endif
