// What the process of an FMU costs: the crane with its hydraulics in an FMU, against the same FMU inside this process.
//
// Wall times, because two processes work; the least of many rounds. Per micro step: 100 micro steps per macro step, the lever
// sampled once per macro step. Per macro step: one micro step each.
#include "bench/measure.h"
#include "interim/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 20
#define MICRO_GOAL 0.3   // us
#define MACRO_GOAL 25.0  // us

static void stop_on_error(ItmStatus status, const ItmError* error)
{
    if (status != ITM_OK) {
        fprintf(stderr, "bench_fmu: %s\n", error->message);
        exit(1);
    }
}

static double get_wall_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Time of a macro step, us.
static double time_step(const char* macro_step, const char* lever_step, const char* isolation, int nstep)
{
    const char* overrides[] = {"subsystems.hydraulics.file=" ITM_EXAMPLE_DIR "/hydraulics.fmu", macro_step, lever_step,
                               isolation};
    ItmError error;
    ItmModelFile* file = NULL;
    ItmCosim* cosim = NULL;
    stop_on_error(itm_file_load(&file, ITM_SOURCE_DIR "/examples/fmu/crane.yaml", overrides, 4, &error), &error);
    stop_on_error(itm_file_create_cosim(&cosim, file, NULL, &error), &error);
    double least = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        double start = get_wall_time();
        for (int i = 0; i < nstep; i++) {
            stop_on_error(itm_cosim_step(cosim), itm_cosim_get_error(cosim));
        }
        least = fmin(least, 1e6 * (get_wall_time() - start) / nstep);
    }
    itm_cosim_destroy(cosim);
    itm_file_destroy(file);
    return least;
}

int main(int argc, char** argv)
{
    if (!bench_is_wanted(argc, argv, "fmu")) {
        return 0;
    }
    static const char* const MACROS[] = {"cosim.macro_step=10 ms", "cosim.macro_step=0.1 ms"};
    static const char* const LEVERS[] = {"subsystems.lever.step=10 ms", "subsystems.lever.step=0.1 ms"};
    double process[2], place[2];
    for (int k = 0; k < 2; k++) {
        process[k] = time_step(MACROS[k], LEVERS[k], "subsystems.hydraulics.isolation=process", k == 0 ? 10 : 100);
        place[k] = time_step(MACROS[k], LEVERS[k], "subsystems.hydraulics.isolation=none", k == 0 ? 10 : 100);
    }
    double macro = process[1] - place[1], micro = (process[0] - place[0] - macro) / 99.0;
    bench_report("interim", "fmu", 100, "process_us_per_macro_step", process[0]);
    bench_report("interim", "fmu", 100, "in_place_us_per_macro_step", place[0]);
    bench_report("interim", "fmu", 1, "overhead_us_per_macro_step", macro);
    bench_report("interim", "fmu", 1, "overhead_us_per_micro_step", micro);
    return macro <= MACRO_GOAL && micro <= MICRO_GOAL ? 0 : 1;
}
