// A subsystem in C with the arithmetic of `Spring` in test_subsystem.py: a spring and damper behind a first-order lag.
#include "interim/cosim.h"

#include <stdlib.h>
#include <string.h>

typedef struct Spring {
    double memory[2];  // lagged force N; whether it has begun
    double s, w, force;
    double end;  // 1: `force` belongs to the end of the last step
} Spring;

static double compute(const Spring* x, double h)
{
    return -2e5 * (x->s + h * x->w - 0.5) - 1e3 * x->w + 2000.0;
}

static void set_motion(void* self, const double* s, const double* w, const double* w_end)
{
    (void)w_end;
    Spring* x = self;
    x->s = s[0];
    x->w = w[0];
    x->end = 0.0;
}

static void get_forces(void* self, double* force)
{
    Spring* x = self;
    force[0] = x->end == 1.0 ? x->force : x->memory[0];
}

static ItmStatus do_step(void* self, double t, double h, ItmError* error)
{
    (void)t, (void)error;
    Spring* x = self;
    if (h > 0.0) {
        x->memory[0] = x->memory[0] + h / (h + 0.002) * (compute(x, h) - x->memory[0]);
    }
    x->force = x->memory[0];
    x->end = 1.0;
    return ITM_OK;
}

static void get_outputs(void* self, double* y)
{
    y[0] = ((Spring*)self)->memory[0];
}

static void set_inputs(void* self, const double* u)
{
    (void)self, (void)u;
}

static void reset(void* self)
{
    Spring* x = self;
    memset(x, 0, sizeof *x);
    x->memory[0] = 2000.0;
}

ITM_API void spring_fill(ItmSubsystem* table);
void spring_fill(ItmSubsystem* table)
{
    static const char* const ports[] = {"end"};
    static const ItmOutputInfo outputs[] = {{"force", "N", "force"}};
    Spring* x = calloc(1, sizeof *x);
    if (x == NULL) {
        return;
    }
    reset(x);
    *table = (ItmSubsystem){.self = x,
                            .nport = 1,
                            .port_names = ports,
                            .noutput = 1,
                            .outputs = outputs,
                            .set_motion = set_motion,
                            .get_forces = get_forces,
                            .set_inputs = set_inputs,
                            .get_outputs = get_outputs,
                            .do_step = do_step,
                            .reset = reset,
                            .memory = x->memory,
                            .memory_size = sizeof x->memory,
                            .destroy = free};
}
