// Co-simulations from model files and text: running them, looking at results by name, and a machine that several tests run.
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
    double* y;
} System;

static inline System start_file(const char* path, const char* const* overrides, int n)
{
    System s = {0};
    ItmError error = {0};
    CHECK_OK(itm_file_load(&s.file, path, overrides, n, &error), &error);
    CHECK_OK(itm_file_create_cosim(&s.x, s.file, NULL, &error), &error);
    s.y = calloc((size_t)itm_cosim_get_output_count(s.x) + 1, sizeof *s.y);
    return s;
}

static inline System start_text(const char* text, const char* const* overrides, int n)
{
    System s = {0};
    ItmError error = {0};
    CHECK_OK(itm_file_parse(&s.file, text, strlen(text), "text", overrides, n, &error), &error);
    CHECK_OK(itm_file_create_cosim(&s.x, s.file, NULL, &error), &error);
    s.y = calloc((size_t)itm_cosim_get_output_count(s.x) + 1, sizeof *s.y);
    return s;
}

static inline void finish(System* s)
{
    itm_cosim_destroy(s->x);
    itm_file_destroy(s->file);
    free(s->y);
}

static inline void step_to(System* s, double t)
{
    while (itm_cosim_get_time(s->x) < t - 1e-9) {
        CHECK_OK(itm_cosim_step(s->x), itm_cosim_get_error(s->x));
    }
}

static inline double get(System* s, const char* name)
{
    int i = itm_cosim_find_output(s->x, name);
    if (i == ITM_NONE) {
        fail_msg("there is no output %s", name);
    }
    CHECK_OK(itm_cosim_compute_outputs(s->x, s->y), itm_cosim_get_error(s->x));
    return s->y[i];
}

static inline double get_component(System* s, const char* name, char component)
{
    char full[128];
    snprintf(full, sizeof full, "%s.%c", name, component);
    return get(s, full);
}

// Distance of vectors of two systems.
static inline double measure(System* a, const char* name_a, System* b, const char* name_b)
{
    double sum = 0.0;
    for (char c = 'x'; c <= 'z'; c++) {
        double d = get_component(a, name_a, c) - get_component(b, name_b, c);
        sum += d * d;
    }
    return sqrt(sum);
}

// Read or built, the text fails with a place and with `part` in its message.
static inline void refuse(const char* text, const char* const* overrides, int n, const char* part)
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

#define G "[0, 0, -9.81 m/s^2]\n"

// A ball at the end of a rod falls on the floor and bounces; rod and ball are mechanisms of their own.
static const char BOUNCE[] = "multibody:\n"
                             "  name: a\n  gravity: " G
                             "  bodies:\n    rod: {mass: 1 kg, com: [0.5 m, 0, 0], inertia: [0.001 kg m^2, 0.083 kg m^2, 0.083 kg m^2], position: [0, 0, 0]}\n"
                             "  joints:\n    j: {type: revolute, bodies: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0], start: 0}\n"
                             "  interfaces: {end: {body: rod, point: [1 m, 0, 0]}}\n"
                             "subsystems:\n"
                             "  b:\n    type: multibody\n    gravity: " G
                             "    bodies:\n      ball: {mass: 1 kg, shape: {sphere: 0.1 m, collide: true, material: m}, position: [1 m, 0, 0]}\n"
                             "    shapes:\n      floor: {body: ground, plane: [0, 0, 1], position: [0, 0, -0.3 m], material: m}\n"
                             "    materials:\n      m: {friction: 0.3, restitution: 0.6}\n"
                             "    interfaces: {start: {body: ball}}\n"
                             "cosim:\n  macro_step: 20 ms\n  subsystems: {a: {step: 1 ms}, b: {step: 1 ms}}\n"
                             "  bonds: {a.end: b.start}\n";

#endif
