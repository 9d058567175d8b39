// Tests of an FMU's claims, each in processes that are thrown away.
#define _GNU_SOURCE
#include "fmi/fmu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NSTEP 3
#define PROBE_CALL 10.0  // s

// An instance under test: its table, and values after steps.
typedef struct Subject {
    ItmFmuProcess* process;
    ItmSubsystem table;
    double *s, *w, *u;  // inputs                        (nport, nport, ninput)
    double* values;     // forces and outputs            (nvalue)
    int nvalue;
    double t;
    ItmStatus status;
    ItmError error;
} Subject;

static bool begin(Subject* x, const ItmFmuSpec* spec, const ItmFmuLimits* limits)
{
    ItmFmuProcessOptions options = {.limits = *limits, .file = spec->name};
    options.limits.call = limits->call > 0.0 ? fmin(limits->call, PROBE_CALL) : PROBE_CALL;
    memset(x, 0, sizeof *x);
    size_t n = (size_t)spec->nport;
    x->nvalue = spec->nport + spec->noutput;
    x->s = calloc(2 * n + (size_t)spec->ninput + (size_t)x->nvalue + 1, sizeof *x->s);
    if (x->s == NULL) {
        x->status = ITM_ERR_MEMORY;
        return false;
    }
    x->w = x->s + n;
    x->u = x->w + n;
    x->values = x->u + spec->ninput;
    x->status = itm_fmi_create_process(&x->process, spec, &options, &x->error);
    if (x->status != ITM_OK) {
        return false;
    }
    x->table = itm_fmi_get_process_table(x->process);
    memcpy(x->u, x->table.input_start, sizeof(double) * (size_t)spec->ninput);
    for (int i = 0; i < spec->nport; i++) {
        x->s[i] = spec->ports[i].start;
    }
    return true;
}

static void end(Subject* x)
{
    itm_fmi_destroy_process(x->process);
    free(x->s);
}

static bool step(Subject* x, int n, double h)
{
    for (int i = 0; i < n && x->status == ITM_OK; i++) {
        x->table.set_motion(x->table.self, x->s, x->w, x->w);
        x->status = x->table.do_step(x->table.self, x->t, h, &x->error);
        x->t += h;
    }
    if (x->status == ITM_OK) {
        x->table.get_forces(x->table.self, x->values);
        x->table.get_outputs(x->table.self, x->values + x->table.nport);
        x->status = x->table.do_step(x->table.self, x->t, 0.0, &x->error);
    }
    return x->status == ITM_OK;
}

static ItmFmuProbe give(ItmFmuVerdict verdict, const char* text)
{
    ItmFmuProbe probe = {.verdict = verdict};
    snprintf(probe.text, sizeof probe.text, "%.*s", (int)sizeof probe.text - 1, text);
    return probe;
}

// A process that has gone is a crash; an error that came back is a refusal.
static ItmFmuProbe give_failure(const Subject* x)
{
    bool is_gone = x->process == NULL || itm_fmi_get_process_id(x->process) == 0;
    bool has_crashed =
        is_gone && (strstr(x->error.message, "signal") != NULL || strstr(x->error.message, "exit") != NULL ||
                    strstr(x->error.message, "longer than") != NULL);
    return give(has_crashed ? ITM_FMU_CRASHED : ITM_FMU_REFUSED, x->error.message);
}

static bool are_equal(const double* a, const double* b, int n)
{
    return memcmp(a, b, sizeof(double) * (size_t)n) == 0;
}

// ---------------------------------------------------------------------------- determinism

ItmFmuProbe itm_fmi_probe_determinism(const ItmFmuSpec* spec, const ItmFmuLimits* limits, double h)
{
    Subject a = {0}, b = {0};
    bool is_done = begin(&a, spec, limits) && step(&a, 2 * NSTEP, h);
    is_done = is_done && begin(&b, spec, limits) && step(&b, 2 * NSTEP, h);
    ItmFmuProbe probe = is_done ? are_equal(a.values, b.values, a.nvalue)
                                      ? give(ITM_FMU_HOLDS, "two instances give the same bits")
                                      : give(ITM_FMU_WRONG, "two instances with the same inputs give different results")
                                : give_failure(a.status != ITM_OK ? &a : &b);
    end(&a);
    end(&b);
    return probe;
}

// ---------------------------------------------------------------------------- states

static ItmFmuProbe compare_restored(Subject* a, Subject* b, void* bytes, double* after, double h)
{
    bool is_done = step(a, NSTEP, h);
    if (is_done) {
        a->table.save(a->table.self, bytes);
        double t = a->t;
        is_done = step(a, NSTEP, h);
        memcpy(after, a->values, sizeof(double) * (size_t)a->nvalue);
        if (b == a) {
            a->table.restore(a->table.self, bytes);
        } else if (is_done) {
            b->table.restore(b->table.self, bytes);
        }
        b->t = t;
        is_done = is_done && step(b, NSTEP, h);
    }
    if (!is_done) {
        return give_failure(a->status != ITM_OK ? a : b);
    }
    return are_equal(after, b->values, a->nvalue)
               ? give(ITM_FMU_HOLDS, "a restored state continues with the same bits")
               : give(ITM_FMU_WRONG, "a restored state does not continue as the saved one did");
}

ItmFmuProbe itm_fmi_probe_state(const ItmFmuSpec* spec, const ItmFmuLimits* limits, double h)
{
    if (!spec->has_state) {
        return give(ITM_FMU_NOT_CLAIMED, "the FMU does not claim to save its state");
    }
    Subject a = {0}, b = {0};
    ItmFmuProbe probe;
    if (!begin(&a, spec, limits) || (spec->has_bytes && !begin(&b, spec, limits))) {
        probe = give_failure(a.status != ITM_OK ? &a : &b);
    } else {
        void* bytes = calloc(1, a.table.get_state_size(a.table.self) + 1);
        double* after = calloc((size_t)a.nvalue + 1, sizeof *after);
        probe = bytes != NULL && after != NULL ? compare_restored(&a, spec->has_bytes ? &b : &a, bytes, after, h)
                                               : give(ITM_FMU_REFUSED, "out of memory");
        free(bytes);
        free(after);
    }
    end(&a);
    end(&b);
    return probe;
}

// ---------------------------------------------------------------------------- states one by one

// Set every state a thousandth away and read it again; after a step the FMU must be elsewhere than without.
static ItmFmuProbe move_states(Subject* x, const ItmFmuSpec* spec, double* states, double h)
{
    int n = spec->nslope;
    double *before = states, *moved = states + n, *after = states + 2 * n;
    if (!step(x, NSTEP, h)) {
        return give_failure(x);
    }
    x->table.get_states(x->table.self, before);
    for (int i = 0; i < n; i++) {
        moved[i] = before[i] + 1e-3 * fmax(fabs(before[i]), spec->slopes[i].nominal);
    }
    x->table.set_states(x->table.self, moved);
    x->table.get_states(x->table.self, after);
    bool is_kept = true;
    for (int i = 0; i < n; i++) {
        is_kept = is_kept && fabs(after[i] - moved[i]) <= 1e-12 * fmax(fabs(moved[i]), spec->slopes[i].nominal);
    }
    if (!step(x, 1, h)) {
        return give_failure(x);
    }
    x->table.get_states(x->table.self, after);
    double follows = 0.0;  // a state that has gone back to where it was was not set
    for (int i = 0; i < n; i++) {
        follows = fmax(follows, fabs(after[i] - before[i]) / fabs(moved[i] - before[i]));
    }
    return is_kept && follows > 1e-6 ? give(ITM_FMU_HOLDS, "states can be set one by one")
                                     : give(ITM_FMU_WRONG, "states that are set are not kept");
}

ItmFmuProbe itm_fmi_probe_state_access(const ItmFmuSpec* spec, const ItmFmuLimits* limits, double h)
{
    ItmFmuSpec copy = *spec;
    copy.has_state_access = true;
    copy.has_state = copy.has_bytes = false;
    Subject x = {0};
    size_t n = (size_t)spec->nslope;
    double* states = calloc(3 * n + 1, sizeof *states);
    ItmFmuProbe probe = states == NULL              ? give(ITM_FMU_REFUSED, "out of memory")
                        : !begin(&x, &copy, limits) ? give_failure(&x)
                                                    : move_states(&x, spec, states, h);
    end(&x);
    free(states);
    return probe;
}

// ---------------------------------------------------------------------------- input latch

// Values after two steps, the second with inputs moved by `change` each; refresh: the second begins with a tiny step.
static bool respond(const ItmFmuSpec* spec, const ItmFmuLimits* limits, double h, double change, bool is_refreshed,
                    double* values, ItmFmuProbe* failure)
{
    ItmFmuSpec copy = *spec;
    copy.is_latched = is_refreshed;
    copy.has_state = copy.has_bytes = false;
    Subject x;
    bool is_done = begin(&x, &copy, limits) && step(&x, 1, h);
    if (is_done) {
        for (int i = 0; i < spec->nport; i++) {
            x.w[i] = change;
        }
        for (int i = 0; i < spec->ninput; i++) {
            bool is_real = spec->inputs[i].type == ITM_FMI_FLOAT64 || spec->inputs[i].type == ITM_FMI_FLOAT32;
            x.u[i] += is_real ? change * fmax(1.0, fabs(x.u[i])) : 0.0;
        }
        x.table.set_inputs(x.table.self, x.u);
        is_done = step(&x, 1, h);
        // inputs back: what is left of the response is in the states
        memset(x.w, 0, sizeof(double) * (size_t)spec->nport);
        memcpy(x.u, x.table.input_start, sizeof(double) * (size_t)spec->ninput);
        x.table.set_inputs(x.table.self, x.u);
        is_done = is_done && step(&x, 0, h);
        memcpy(values, x.values, sizeof(double) * (size_t)x.nvalue);
    }
    if (!is_done) {
        *failure = give_failure(&x);
    }
    end(&x);
    return is_done;
}

// A latched FMU uses the old input for the first stage of a step; a tiny step before it makes that stage new. Where the
// responses with and without it differ by more than a hundredth, the FMU latches.
ItmFmuProbe itm_fmi_probe_latch(const ItmFmuSpec* spec, const ItmFmuLimits* limits, double h)
{
    if (spec->is_exchange || spec->nport + spec->ninput == 0) {
        return give(ITM_FMU_NOT_CLAIMED, "there are no inputs of a co-simulation to test");
    }
    int n = spec->nport + spec->noutput;
    double* values = calloc(3 * (size_t)n + 1, sizeof *values);
    if (values == NULL) {
        return give(ITM_FMU_REFUSED, "out of memory");
    }
    double *still = values, *plain = values + n, *fresh = values + 2 * n, change = 1e-3, worst = 0.0;
    ItmFmuProbe probe;
    bool is_done =
        respond(spec, limits, h, 0.0, false, still, &probe) && respond(spec, limits, h, change, false, plain, &probe);
    bool is_refreshed = is_done && respond(spec, limits, h, change, true, fresh, &probe);
    if (is_done && !is_refreshed && probe.verdict == ITM_FMU_REFUSED) {
        free(values);
        return give(ITM_FMU_NOT_CLAIMED, "not tested: the FMU refuses the tiny step that would show it");
    }
    is_done = is_refreshed;
    for (int i = 0; i < n && is_done; i++) {
        double response = fabs(fresh[i] - still[i]), size = fmax(fabs(still[i]), 1e-6);
        if (response > 1e-9 * size && isfinite(response)) {
            worst = fmax(worst, fabs(plain[i] - fresh[i]) / response);
        }
    }
    free(values);
    if (!is_done) {
        return probe;
    }
    char text[200];
    snprintf(text, sizeof text,
             "new inputs act only in part in the step after they are set (%.0f %% of the response is missing); a first "
             "step of 1 ns refreshes them",
             100.0 * fmin(worst, 1.0));
    return worst > 0.01 ? give(ITM_FMU_WRONG, text) : give(ITM_FMU_HOLDS, "new inputs act from the start of a step");
}

// ---------------------------------------------------------------------------- derivatives

ItmFmuProbe itm_fmi_probe_derivatives(const ItmFmuSpec* spec, const ItmFmuLimits* limits)
{
    ItmFmuSpec copy = *spec;
    copy.has_state = copy.has_bytes = false;
    Subject x;
    double worst = 0.0;
    int n = 0;
    bool is_done = begin(&x, &copy, limits) &&
                   (x.status = itm_fmi_compare_process_derivatives(x.process, &worst, &n, &x.error)) == ITM_OK;
    char text[200];
    snprintf(text, sizeof text, "directional derivatives differ from differences by %.2g of the largest, %d directions",
             worst, n);
    ItmFmuProbe probe = !is_done        ? give_failure(&x)
                        : n == 0        ? give(ITM_FMU_NOT_CLAIMED, "there are no states or inputs to derive for")
                        : worst <= 1e-3 ? give(ITM_FMU_HOLDS, text)
                                        : give(ITM_FMU_WRONG, text);
    end(&x);
    return probe;
}

// ---------------------------------------------------------------------------- effort

double itm_fmi_measure_step(const ItmFmuSpec* spec, const ItmFmuLimits* limits, double h)
{
    Subject x;
    struct timespec from, to;
    bool is_done = begin(&x, spec, limits) && step(&x, 1, h);
    clock_gettime(CLOCK_MONOTONIC, &from);
    is_done = is_done && step(&x, 100, h);
    clock_gettime(CLOCK_MONOTONIC, &to);
    end(&x);
    double time = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    return is_done ? time / 100.0 : NAN;
}
