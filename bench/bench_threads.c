// What a second thread gives a mechanism with many contacts that steps alone: piles of boxes, columns that are islands of their own, and heaps
// of spheres, a few large islands, where threads share the search for contacts. A table of its own; wall time, minima of rounds in turn. The
// CPU time of the calling thread shows what is left to it where a busy machine spoils wall times.
#include "bench/measure.h"
#include "scenes/scenes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 3, STEPS = 60 };

static void stop_on_error(ItmStatus status, const ItmError* error)
{
    if (status != ITM_OK) {
        fprintf(stderr, "threads: %s: %s\n", itm_status_message(status), error->message);
        exit(1);
    }
}

static double read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void advance(const ItmModel* m, ItmData* d, int steps)
{
    for (int i = 0; i < steps; i++) {
        stop_on_error(itm_step(m, d), itm_data_get_error(d));
    }
}

// A part of the run with 1 and 2 threads from the same state.
typedef struct Part {
    double wall[2], cpu[2], caller[2];  // s per step; CPU time of all threads, of the calling one
    bool has_same_bits;
    ItmStepInfo info;
} Part;

static Part run_part(const ItmModel* m, ItmData* d)
{
    size_t size = itm_data_get_state_size(m, d);
    char *start = malloc(size), *end[2] = {malloc(size), malloc(size)};
    if (start == NULL || end[0] == NULL || end[1] == NULL) {
        exit(1);
    }
    stop_on_error(itm_data_save(m, d, start, size), itm_data_get_error(d));
    Part part = {.wall = {INFINITY, INFINITY},
                 .cpu = {INFINITY, INFINITY},
                 .caller = {INFINITY, INFINITY},
                 .has_same_bits = true};
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < 2; k++) {
            stop_on_error(itm_data_restore(m, d, start, size), itm_data_get_error(d));
            stop_on_error(itm_data_set_threads(m, d, 1 + k), itm_data_get_error(d));
            double wall = read_clock(CLOCK_MONOTONIC), cpu = bench_now(), caller = read_clock(CLOCK_THREAD_CPUTIME_ID);
            advance(m, d, STEPS);
            part.wall[k] = fmin(part.wall[k], (read_clock(CLOCK_MONOTONIC) - wall) / STEPS);
            part.caller[k] = fmin(part.caller[k], (read_clock(CLOCK_THREAD_CPUTIME_ID) - caller) / STEPS);
            part.cpu[k] = fmin(part.cpu[k], (bench_now() - cpu) / STEPS);
            stop_on_error(itm_data_save(m, d, end[k], size), itm_data_get_error(d));
        }
        part.has_same_bits = part.has_same_bits && memcmp(end[0], end[1], size) == 0;
    }
    part.info = itm_data_get_step_info(d);
    free(start);
    free(end[0]);
    free(end[1]);
    return part;
}

static void measure(int n, bool is_round, int settle, double goal)
{
    ItmModel* m;
    ItmData* d;
    ItmError error = {0};
    ItmStepOptions options = itm_default_step_options();
    options.step = ITM_SCENE_STEP;
    stop_on_error(itm_pile_build(&m, n, is_round, &error), &error);
    stop_on_error(itm_data_create(&d, m, &options, &error), &error);
    advance(m, d, settle);
    Part p = run_part(m, d);
    double gain = p.wall[0] / p.wall[1];
    printf("  %-8s %5d  %6d %8d  %8.2f %8.2f  %6.2f  %6.2f %6.2f   %-9s   goal %.1f   %s\n",
           is_round ? "spheres" : "boxes", n, p.info.ncontact, p.info.nisland, 1e3 * p.wall[0], 1e3 * p.wall[1], gain,
           p.cpu[1] / p.cpu[0], p.caller[1] / p.caller[0], p.has_same_bits ? "identical" : "DIFFERENT", goal,
           gain >= goal ? "yes" : "NO");
    itm_data_destroy(d);
    itm_model_destroy(m);
}

int main(void)
{
    printf(
        "one mechanism, two threads instead of one: wall time per step, ratio; CPU time of all threads and of the caller, ratios\n");
    printf("                contacts  islands    1 [ms]   2 [ms]    gain     all caller   bits\n");
    measure(1000, false, 300, 1.4);
    measure(5000, false, 150, 1.4);
    measure(1000, true, 300, 1.2);
    measure(5000, true, 150, 1.2);
    return 0;
}
