// What the process of an FMU costs: the crane with its hydraulics in an FMU, against the same FMU inside this process; and the
// manipulator that pushes a block, whose contacts are solved in every micro step, with its hydraulics and its arm in FMUs.
//
// Wall times, because two processes work; the least of many rounds. Per micro step: 100 micro steps per macro step, the lever
// sampled once per macro step. Per macro step: one micro step each. Contacts: 100 micro steps per macro step.
#include "bench/measure.h"
#include "interim/export.h"
#include "interim/file.h"
#include "io/bytes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 20
#define MICRO_GOAL 0.3     // us
#define MACRO_GOAL 25.0    // us
#define CONTACT_GOAL 30.0  // us per process

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

// ---------------------------------------------------------------------------- contacts

#define MANIPULATOR ITM_SOURCE_DIR "/examples/manipulator.yaml"

static void export_part(const char* part, const char* macro_step, const char* path, const char* const* more, int nmore)
{
    const char* overrides[3] = {macro_step};
    ItmError error;
    ItmExportOptions options = itm_default_export_options();
    memcpy(overrides + 1, more, sizeof *more * (size_t)nmore);
    options.parts = &part;
    options.npart = 1;
    options.overrides = overrides;
    options.noverride = 1 + nmore;
    options.binary = ITM_FMU_BINARY;
    stop_on_error(itm_export_fmu(MANIPULATOR, path, &options, &error), &error);
}

// Hydraulics and arm of the manipulator as FMUs, in this folder. A part of a model does not know the lengths of the actuators.
static void export_manipulator(void)
{
    ItmError error;
    ItmModelFile* file = NULL;
    ItmCosim* native = NULL;
    char text[2][100];
    const char* lengths[2] = {text[0], text[1]};
    stop_on_error(itm_file_load(&file, MANIPULATOR, NULL, 0, &error), &error);
    stop_on_error(itm_file_create_cosim(&native, file, NULL, &error), &error);
    for (int i = 0; i < 2; i++) {
        snprintf(text[i], sizeof text[i], "subsystems.hydraulics.elements.cyl%d.start_length=%.17g", i + 1,
                 itm_cosim_get_bond(native, i).length);
    }
    itm_cosim_destroy(native);
    itm_file_destroy(file);
    export_part("hydraulics", "cosim.macro_step=0.2ms", "bench-hydraulics.fmu", lengths, 2);
    export_part("arm", "cosim.macro_step=20ms", "bench-arm.fmu", NULL, 0);
}

// The manipulator with its arm in an FMU, or its hydraulics, or both, each in a process of its own or inside this one.
static ItmModelFile* load_manipulator(bool has_arm, bool has_hydraulics, const char* isolation)
{
    static const char PART[] = "  %s:\n    type: fmu\n    file: bench-%s.fmu\n    isolation: %s\n%s    ports:\n"
                               "      cyl1: {force: %s-cyl1.force, rate: %s-cyl1.rate, position: %s-cyl1.position}\n"
                               "      cyl2: {force: %s-cyl2.force, rate: %s-cyl2.rate, position: %s-cyl2.position}\n";
    size_t length;
    const char* why = "";
    char* text = itm_bytes_read(MANIPULATOR, 100000, &length, &why);
    char *multibody = strstr(text, "\nmultibody:"), *subsystems = strstr(text, "\nsubsystems:\n"),
         *cosim = strstr(text, "\ncosim:"), *joined = malloc(strlen(text) + 3000), *at = joined;
    at += sprintf(at, "%.*s\nsubsystems:\n", (int)((has_arm ? multibody : subsystems) - text), text);
    for (int i = has_arm ? 0 : 1; i < (has_hydraulics ? 2 : 1); i++) {
        const char* n = i == 0 ? "arm" : "hydraulics";
        at += sprintf(at, PART, n, n, isolation, i == 0 ? "" : "    step: 0.2 ms\n", n, n, n, n, n, n);
    }
    at += sprintf(at, "%s", has_hydraulics ? cosim : subsystems + strlen("\nsubsystems:\n"));
    ItmModelFile* file = NULL;
    ItmError error;
    stop_on_error(itm_file_parse(&file, joined, (size_t)(at - joined), "./manipulator.yaml", NULL, 0, &error), &error);
    free(joined);
    free(text);
    return file;
}

#define FIRST_PUSH 75  // macro steps: the ball pushes the block from 1.4 s to 1.94 s
#define PUSHES 20

// Time of a macro step while the block is pushed, us: the mean of the macro steps, the least of many runs for each.
static double time_pushing(bool has_arm, bool has_hydraulics, const char* isolation)
{
    ItmError error;
    ItmModelFile* file = load_manipulator(has_arm, has_hydraulics, isolation);
    ItmCosim* cosim = NULL;
    double least[PUSHES], sum = 0.0;
    stop_on_error(itm_file_create_cosim(&cosim, file, NULL, &error), &error);
    for (int round = 0; round < ROUNDS; round++) {
        stop_on_error(itm_cosim_reset(cosim), itm_cosim_get_error(cosim));
        for (int i = 0; i < FIRST_PUSH; i++) {
            stop_on_error(itm_cosim_step(cosim), itm_cosim_get_error(cosim));
        }
        for (int i = 0; i < PUSHES; i++) {
            double start = get_wall_time();
            stop_on_error(itm_cosim_step(cosim), itm_cosim_get_error(cosim));
            double time = 1e6 * (get_wall_time() - start);
            least[i] = round == 0 ? time : fmin(least[i], time);
        }
    }
    for (int i = 0; i < PUSHES; i++) {
        sum += least[i] / PUSHES;
    }
    itm_cosim_destroy(cosim);
    itm_file_destroy(file);
    return sum;
}

static bool measure_contacts(void)
{
    static const char* const SCENES[] = {"fmu-contact-hydraulics", "fmu-contact-arm", "fmu-contact-both"};
    bool is_met = true;
    export_manipulator();
    for (int k = 0; k < 3; k++) {
        bool has_arm = k > 0, has_hydraulics = k != 1;
        double process = time_pushing(has_arm, has_hydraulics, "process");
        double place = time_pushing(has_arm, has_hydraulics, "none");
        bench_report("interim", SCENES[k], 100, "process_us_per_macro_step", process);
        bench_report("interim", SCENES[k], 100, "in_place_us_per_macro_step", place);
        bench_report("interim", SCENES[k], 100, "overhead_us_per_macro_step", process - place);
        is_met = is_met && process - place <= CONTACT_GOAL * (has_arm + has_hydraulics);
    }
    unlink("bench-hydraulics.fmu");
    unlink("bench-arm.fmu");
    return is_met;
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
    bool is_met = measure_contacts();
    return is_met && macro <= MACRO_GOAL && micro <= MICRO_GOAL ? 0 : 1;
}
