// Coupled runs of the examples: how much faster than real time, what an interface model costs, what the papers' exchange costs
// at equal error, what a second thread gives. A table of its own; times are CPU time of this process but for the threads.
#include "bench/measure.h"
#include "scenes/scenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void stop_on_error(ItmStatus status, const ItmError* error)
{
    if (status != ITM_OK) {
        fprintf(stderr, "interim: %s: %s\n", itm_status_message(status), error->message);
        exit(1);
    }
}

// ---------------------------------------------------------------------------- runs

typedef struct Run {
    ItmModelFile* file;
    ItmCosim* cosim;
} Run;

static Run open_run(const char* example, const char* const* overrides, int noverride)
{
    Run r = {0};
    ItmError error = {0};
    stop_on_error(itm_example_load(&r.file, example, overrides, noverride, &error), &error);
    stop_on_error(itm_file_create_cosim(&r.cosim, r.file, NULL, &error), &error);
    return r;
}

static void close_run(Run* r)
{
    itm_cosim_destroy(r->cosim);
    itm_file_destroy(r->file);
}

static ItmStatus advance(Run* r, double duration)
{
    ItmStatus status = ITM_OK;
    for (long n = lround(duration / itm_cosim_get_step(r->cosim)); n > 0 && status == ITM_OK; n--) {
        status = itm_cosim_step(r->cosim);
    }
    return status;
}

// ---------------------------------------------------------------------------- real time

#define REPEATS 20

static void measure_manipulator(void)
{
    static const char* const OVERRIDES[] = {"cosim.macro_step=10ms", "cosim.overrides.hydraulics.step=0.2ms",
                                            "cosim.overrides.hydraulics.integrator=euler"};
    Run r = open_run("manipulator", OVERRIDES, 3);
    double seconds[2] = {0.0, 0.0};
    for (int k = 0; k < REPEATS; k++) {
        itm_cosim_reset(r.cosim);
        for (int i = 0; i < 2; i++) {
            double start = bench_now();
            stop_on_error(advance(&r, 1.0), itm_cosim_get_error(r.cosim));
            double taken = bench_now() - start;
            seconds[i] = k == 0 || taken < seconds[i] ? taken : seconds[i];
        }
    }
    ItmCosimCost cost = itm_cosim_get_cost(r.cosim);
    printf("manipulator, H = 10 ms, h = 0.2 ms, Euler, best of %d\n", REPEATS);
    printf("  first second (rest)              %8.1f times real time, %.3f us a micro step     goal 200\n",
           1.0 / seconds[0], 1e6 * seconds[0] / 5000.0);
    printf("  second second (impact, sliding)  %8.1f times real time, %.3f us a micro step     goal 200\n",
           1.0 / seconds[1], 1e6 * seconds[1] / 5000.0);
    printf("  of the last run: mechanism %.1f %%, interface model %.1f %%, subsystems %.1f %%\n",
           100.0 * cost.mechanism / (cost.mechanism + cost.rim + cost.subsystems),
           100.0 * cost.rim / (cost.mechanism + cost.rim + cost.subsystems),
           100.0 * cost.subsystems / (cost.mechanism + cost.rim + cost.subsystems));
    close_run(&r);
}

// Two mechanisms that meet at 60 Hz, one of them at a wall.
static void measure_joined(const char* example, const char* const* overrides, int noverride, double duration)
{
    Run r = open_run(example, overrides, noverride);
    double least = INFINITY;
    for (int k = 0; k < REPEATS; k++) {
        itm_cosim_reset(r.cosim);
        double start = bench_now();
        stop_on_error(advance(&r, duration), itm_cosim_get_error(r.cosim));
        least = fmin(least, bench_now() - start);
    }
    printf("%-14s %-28s %8.1f times real time                             goal 100\n", example,
           noverride > 0 ? overrides[0] : "", duration / least);
    close_run(&r);
}

// What making an interface model adds to the mechanism's macro step.
static void measure_model(const char* example)
{
    static const char* const OVERRIDES[] = {"cosim.macro_step=2ms"};
    Run r = open_run(example, OVERRIDES, 1);
    stop_on_error(advance(&r, 2.0), itm_cosim_get_error(r.cosim));
    ItmCosimCost cost = itm_cosim_get_cost(r.cosim);
    printf("interface model of %-13s  %8.3f of the mechanism's step                          goal 0.15\n", example,
           cost.rim / cost.mechanism);
    close_run(&r);
}

// ---------------------------------------------------------------------------- log crane

// The whole manoeuvre of 12 s: real time, and what a macro step costs.
static void measure_log_crane(const char* macro_step, double goal)
{
    char override[64];
    snprintf(override, sizeof override, "cosim.macro_step=%s", macro_step);
    Run r = open_run("log-crane", (const char* const[]){override}, 1);
    double duration = r.file->run.duration, start = bench_now();
    stop_on_error(advance(&r, duration), itm_cosim_get_error(r.cosim));
    double seconds = bench_now() - start, steps = duration / itm_cosim_get_step(r.cosim);
    ItmCosimCost cost = itm_cosim_get_cost(r.cosim);
    double sum = cost.mechanism + cost.rim + cost.subsystems, scale = 1e6 * seconds / (sum * steps);
    printf("  H = %-5s %6.1f times real time, %7.1f us a macro step: mechanism %6.1f, interface model %5.1f (%4.1f "
           "%%), subsystems %6.1f",
           macro_step, duration / seconds, 1e6 * seconds / steps, scale * cost.mechanism, scale * cost.rim,
           100.0 * cost.rim / sum, scale * cost.subsystems);
    if (goal > 0.0) {
        printf("   goal %.0f", goal);
    }
    printf("\n");
    close_run(&r);
}

static void measure_log_cranes(void)
{
    printf("log crane, 12 s, h = 0.2 ms; interface model: goal 15 %%\n");
    measure_log_crane("1ms", 0.0);
    measure_log_crane("2ms", 1.0);
    measure_log_crane("5ms", 0.0);
    measure_log_crane("10ms", 30.0);
    measure_log_crane("16ms", 10.0);
    measure_log_crane("20ms", 0.0);
}

// ---------------------------------------------------------------------------- equal error

#define DURATION 12.0
#define SPACING 0.1  // s
#define POINTS 120

// Lengths of both cylinders of the double crane, every SPACING; CPU time. INFINITY: broke down.
static double record(const char* const* overrides, int noverride, double* lengths)
{
    Run r = open_run("crane-double", overrides, noverride);
    double start = bench_now();
    ItmStatus status = ITM_OK;
    for (int k = 0; k < POINTS && status == ITM_OK; k++) {
        status = advance(&r, SPACING);
        lengths[2 * k] = itm_cosim_get_bond(r.cosim, 0).length;
        lengths[2 * k + 1] = itm_cosim_get_bond(r.cosim, 1).length;
    }
    double seconds = bench_now() - start;
    close_run(&r);
    return status == ITM_OK ? seconds : INFINITY;
}

static double rms(const double* a, const double* b)
{
    double sum = 0.0;
    for (int k = 0; k < 2 * POINTS; k++) {
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    }
    return sqrt(sum / (2 * POINTS));
}

// Shrink the papers' steps until they are as accurate as impulses at 10 ms.
static void measure_equal_error(void)
{
    static double fine[2 * POINTS], coarse[2 * POINTS];
    static const char* const FINE[] = {"cosim.coupling=monolithic", "cosim.macro_step=0.02ms",
                                       "cosim.overrides.hydraulics.step=0.02ms"};
    static const char* const STEPS[] = {"1", "0.5", "0.2", "0.1", "0.05", "0.02", "0.01"};
    record(FINE, 3, fine);
    double seconds = record(NULL, 0, coarse), error = rms(coarse, fine);
    printf("double crane, RMS of the lengths against H = h = 0.02 ms\n");
    printf("  impulse, H = 10 ms, h = 0.1 ms   %8.2g m  %8.3f s\n", error, seconds);
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        char macro[64], micro[64];
        const char* h = atof(STEPS[i]) < 0.1 ? STEPS[i] : "0.1";
        snprintf(macro, sizeof macro, "cosim.macro_step=%sms", STEPS[i]);
        snprintf(micro, sizeof micro, "cosim.overrides.hydraulics.step=%sms", h);
        const char* const overrides[] = {"cosim.exchange=hold", macro, micro};
        double taken = record(overrides, 3, coarse), off = rms(coarse, fine);
        printf("  papers, H = %-4s ms, h = %-4s ms  %8.2g m  %8.3f s  %8.1f times the CPU time of impulses%s\n",
               STEPS[i], h, off, taken, taken / seconds, off <= error ? "   goal 20 at equal error" : "");
        if (off <= error) {
            return;
        }
    }
    printf("  the papers' exchange does not reach that error at all\n");
}

// ---------------------------------------------------------------------------- threads

static double wall_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Cranes with a circuit each that have nothing to do with one another, in one system.
typedef struct Yard {
    const char* example;
    int ncrane, nbond;  // cylinders cyl1 ... of each crane
    const char* macro_step;
    int nstep;
    double goal;
} Yard;

static ItmCosim* build_yard(const Yard* yard, const Run* one, int nthread)
{
    ItmError error = {0};
    ItmCosimBuilder* b = NULL;
    ItmCosim* x = NULL;
    ItmCosimOptions options = itm_default_cosim_options();
    options.macro_step = itm_cosim_get_step(one->cosim);
    options.nthread = nthread;
    const ItmFileCircuit* c = &one->file->circuits[0];
    stop_on_error(itm_cosim_builder_create(&b, &error), &error);
    for (int i = 0; i < yard->ncrane; i++) {
        char crane[32], oil[32], cylinder[32];
        snprintf(crane, sizeof crane, "crane%d", i);
        snprintf(oil, sizeof oil, "oil%d", i);
        stop_on_error(itm_cosim_builder_add_mechanism(b, crane, one->file->model, NULL, NULL, &error), &error);
        stop_on_error(itm_cosim_builder_add_circuit(b, oil, c->circuit, &c->options, c->step, NULL, &error), &error);
        for (int k = 0; k < yard->nbond; k++) {
            snprintf(cylinder, sizeof cylinder, "cyl%d", k + 1);
            stop_on_error(itm_cosim_builder_add_bond(b, i, cylinder, i, cylinder, NULL, &error), &error);
        }
    }
    stop_on_error(itm_cosim_build(&x, b, &options, &error), &error);
    itm_cosim_builder_destroy(b);
    return x;
}

// Wall time; the state at the end, allocated, in *bytes.
static double run_threads(const Yard* yard, int nthread, char** bytes, size_t* size)
{
    char override[64];
    snprintf(override, sizeof override, "cosim.macro_step=%s", yard->macro_step);
    Run one = open_run(yard->example, (const char* const[]){override}, 1);
    ItmCosim* x = build_yard(yard, &one, nthread);
    double start = wall_now();
    for (int k = 0; k < yard->nstep; k++) {
        stop_on_error(itm_cosim_step(x), itm_cosim_get_error(x));
    }
    double seconds = wall_now() - start;
    *size = itm_cosim_get_state_size(x);
    free(*bytes);
    *bytes = malloc(*size);
    if (*bytes == NULL) {
        fprintf(stderr, "bench_cosim: no memory\n");
        exit(1);
    }
    stop_on_error(itm_cosim_save(x, *bytes, *size), itm_cosim_get_error(x));
    itm_cosim_destroy(x);
    close_run(&one);
    return seconds;
}

static void measure_threads(const Yard* yard)
{
    char *one = NULL, *two = NULL;
    size_t size[2] = {0};
    double seconds[2] = {INFINITY, INFINITY};
    for (int k = 0; k < 5; k++) {
        seconds[0] = fmin(seconds[0], run_threads(yard, 1, &one, &size[0]));
        seconds[1] = fmin(seconds[1], run_threads(yard, 2, &two, &size[1]));
    }
    bool is_same = size[0] == size[1] && memcmp(one, two, size[0]) == 0;
    printf("%3d cranes, two threads            %8.2f times as fast as one, %s bits              goal %.1f\n",
           yard->ncrane, seconds[0] / seconds[1], is_same ? "identical" : "DIFFERENT", yard->goal);
    free(one);
    free(two);
}

// Wall time of two processors, which only an idle machine has.
static void measure_yards(void)
{
    measure_threads(&(Yard){"crane-double", 2, 2, "20ms", 500, 1.6});
    measure_threads(&(Yard){"crane-single", 100, 1, "10ms", 100, 1.8});
}

// Everything, or with the word logcrane or threads that part alone.
int main(int argc, char** argv)
{
    if (argc > 1 && strcmp(argv[1], "logcrane") == 0) {
        measure_log_cranes();
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "threads") == 0) {
        measure_yards();
        return 0;
    }
    measure_manipulator();
    measure_model("crane-single");
    measure_model("crane-double");
    static const char* const FLEXIBLE[] = {"parameters.flexible=1"};
    measure_joined("arm-manoeuvre2", NULL, 0, 6.0);
    measure_joined("arm-manoeuvre2", FLEXIBLE, 1, 6.0);
    measure_joined("arm-capture", NULL, 0, 12.0);
    measure_equal_error();
    measure_yards();
    return 0;
}
