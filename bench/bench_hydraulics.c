// Micro steps of the two-cylinder circuits: set both pistons, one step of 0.1 ms, get both forces. Figures are CPU time in
// microseconds a step, with (metric ...-ledger) and without the energy accounts.
#include "bench/measure.h"
#include "scenes/scenes.h"

#include <stdio.h>
#include <stdlib.h>

#define STEP 1e-4  // s
#define STEPS 100000
#define HALF_SWING 500  // steps until the pistons turn round
#define RATE 0.02       // m/s

static void stop_on_error(ItmStatus status, const ItmError* error)
{
    if (status != ITM_OK) {
        fprintf(stderr, "interim: %s: %s\n", itm_status_message(status), error->message);
        exit(1);
    }
}

// Pistons swing to and fro; returns the seconds that STEPS steps took.
static double run(const ItmCircuit* c, ItmHydraulics* d, const double start[2])
{
    double s[2] = {start[0], start[1]}, w[2] = {RATE, RATE}, force[2], sum = 0.0;
    double begin = bench_now();
    for (long i = 0; i < STEPS; i++) {
        if (i % HALF_SWING == 0 && i > 0) {
            w[0] = -w[0];
            w[1] = -w[1];
        }
        itm_hydraulics_set_pistons(c, d, s, w, NULL);
        stop_on_error(itm_hydraulics_step(c, d, STEP), itm_hydraulics_get_error(d));
        itm_hydraulics_get_forces(c, d, force);
        s[0] += STEP * w[0];
        s[1] += STEP * w[1];
        sum += force[0] + force[1];
    }
    double seconds = bench_now() - begin;
    if (!(sum == sum)) {
        fprintf(stderr, "bench_hydraulics: forces are not finite\n");
        exit(1);
    }
    return seconds;
}

// The circuit of an example, without its mechanism.
static void measure(const char* scene, const char* example, const double start[2])
{
    ItmModelFile* file = NULL;
    ItmError error = {0};
    stop_on_error(itm_example_load(&file, example, NULL, 0, &error), &error);
    const ItmCircuit* c = file->circuits[0].circuit;
    for (int k = 0; k < 2 * ITM_HYDRAULIC_ADAPTIVE; k++) {
        ItmHydraulics* d = NULL;
        ItmHydraulicOptions options = itm_default_hydraulic_options();
        options.integrator = (ItmHydraulicIntegrator)(k / 2);
        options.use_ledger = k % 2 == 1;
        stop_on_error(itm_hydraulics_create(&d, c, &options, &error), &error);
        char metric[64];
        snprintf(metric, sizeof metric, "%s%s", itm_hydraulics_integrator_name(options.integrator),
                 options.use_ledger ? "-ledger" : "");
        bench_report("interim", scene, 2, metric, 1e6 * run(c, d, start) / STEPS);
        itm_hydraulics_destroy(d);
    }
    itm_file_destroy(file);
}

int main(int argc, char** argv)
{
    if (bench_is_wanted(argc, argv, "crane-circuit")) {
        measure("crane-circuit", "crane-double", (const double[2]){0.5, 0.4330127});
    }
    if (bench_is_wanted(argc, argv, "manipulator-circuit")) {
        measure("manipulator-circuit", "manipulator", (const double[2]){0.5658554, 0.4609772});
    }
    return 0;
}
