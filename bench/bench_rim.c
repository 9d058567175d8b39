// Interface models: what making one costs beside the mechanism's step, and how fast micro steps with contact run.
//
// A RIM's cost is that of the extraction with all interfaces less that of the same without any; both, and the mechanism's own
// step, are CPU times in one run, the least of many rounds.
#include "bench/measure.h"
#include "rim/rim.h"
#include "scenes/scenes.h"

#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 100
#define STEP 1e-2      // s
#define COST_GOAL 8.0  // per cent
#define ARM_GOAL 50.0
#define FLEXIBLE_ARM_GOAL 30.0
#define SPEED_GOAL 250.0  // times real time

static void stop_on_error(ItmStatus status, const ItmError* error)
{
    if (status != ITM_OK) {
        fprintf(stderr, "interim: %s: %s\n", itm_status_message(status), error->message);
        exit(1);
    }
}

// ---------------------------------------------------------------------------- cost of a RIM

// Interfaces are the first n actuators, or with is_frame the n directions of the last body.
static void init_rim(ItmRim* rim, ItmArena* arena, const ItmModel* m, int n, bool is_frame)
{
    int actuators[ITM_DIRECTION_COUNT];
    for (int i = 0; i < n; i++) {
        actuators[i] = is_frame ? ITM_NONE : i;
    }
    itm_rim_lay_out(rim, arena, m, n);
    if (itm_arena_allocate(arena) != 0) {
        fprintf(stderr, "bench_rim: out of memory\n");
        exit(1);
    }
    itm_rim_lay_out(rim, arena, m, n);
    itm_rim_init(rim, m, actuators);
    for (int i = 0; i < n && is_frame; i++) {
        itm_rim_set_frame(rim, m, i, &(ItmRimFrame){.body = m->nbody - 1, .direction = (ItmDirection)i});
    }
}

static double time_steps(const ItmModel* m, ItmData* d, int count)
{
    itm_reset(m, d);
    double start = bench_now();
    for (int k = 0; k < count; k++) {
        stop_on_error(itm_step(m, d), &d->error);
    }
    return (bench_now() - start) / count;
}

static double time_extractions(const ItmModel* m, ItmData* d, ItmRim* rim, int count)
{
    itm_reset(m, d);
    itm_data_refresh(m, d);
    double start = bench_now();
    for (int k = 0; k < count; k++) {
        d->position_state = ITM_POSITION_STALE;
        stop_on_error(itm_rim_extract(m, d, rim, 0.0, STEP, 0.0, ITM_RIM_SOLVE), &d->error);
    }
    return (bench_now() - start) / count;
}

static void measure_cost(const char* name, const ItmModel* m, int n, bool is_frame, double goal)
{
    ItmError error = {0};
    ItmStepOptions options = itm_default_step_options();
    ItmData* d = NULL;
    ItmArena arenas[2] = {{0}};
    ItmRim without = {0}, with = {0};
    options.step = STEP;
    stop_on_error(itm_data_create(&d, m, &options, &error), &error);
    init_rim(&without, &arenas[0], m, 0, is_frame);
    init_rim(&with, &arenas[1], m, n, is_frame);
    double best[3] = {1.0, 1.0, 1.0};
    for (int round = 0; round < ROUNDS; round++) {
        double times[3] = {time_steps(m, d, 40), time_extractions(m, d, &without, 200),
                           time_extractions(m, d, &with, 200)};
        for (int i = 0; i < 3; i++) {
            best[i] = times[i] < best[i] ? times[i] : best[i];
        }
    }
    double cost = best[2] - best[1], share = 100.0 * cost / best[0];
    printf("%-34s %d interfaces: step %6.2f us, RIM %6.3f us, %5.1f %% (goal %.0f %%: %s)\n", name, n, 1e6 * best[0],
           1e6 * cost, share, goal, bench_at_most(share, goal));
    itm_arena_free(&arenas[0]);
    itm_arena_free(&arenas[1]);
    itm_data_destroy(d);
}

static void measure_costs(void)
{
    static const char* const NAMES[3][2] = {{"double crane, absolute", "double crane, joint"},
                                            {"parallel crane, absolute", "parallel crane, joint"},
                                            {"manipulator, absolute", "manipulator, joint"}};
    static const char* const EXAMPLES[3] = {"crane-double", NULL, "manipulator"};
    static const char* const COORDINATES[2] = {"multibody.coordinates=absolute", "multibody.coordinates=joint"};
    for (int scene = 0; scene < 3; scene++) {
        for (int coordinates = 0; coordinates < 2; coordinates++) {
            ItmError error = {0};
            ItmModelFile* file = NULL;
            ItmModel* m = NULL;
            if (EXAMPLES[scene] != NULL) {
                stop_on_error(itm_example_load(&file, EXAMPLES[scene], &COORDINATES[coordinates], 1, &error), &error);
            } else {
                stop_on_error(itm_parallel_crane_build(&m, (ItmCoordinates)coordinates, &error), &error);
            }
            measure_cost(NAMES[scene][coordinates], m != NULL ? m : file->model, m != NULL ? 1 : 2, false, COST_GOAL);
            itm_model_destroy(m);
            itm_file_destroy(file);
        }
    }
}

// Six velocities at the hand of the seven-joint arm, rigid and with booms that bend.
static void measure_arm(void)
{
    for (int is_flexible = 0; is_flexible < 2; is_flexible++) {
        ItmError error = {0};
        ItmModelFile* file = NULL;
        stop_on_error(itm_example_load_arm(&file, ITM_COORDINATES_JOINT, is_flexible != 0, &error), &error);
        measure_cost(is_flexible ? "seven-joint arm, flexible booms" : "seven-joint arm", file->model,
                     ITM_DIRECTION_COUNT, true, is_flexible ? FLEXIBLE_ARM_GOAL : ARM_GOAL);
        itm_file_destroy(file);
    }
}

// ---------------------------------------------------------------------------- manipulator

static double time_second(ItmCosim* x)
{
    double start = bench_now();
    for (int k = 0; k < 100; k++) {
        stop_on_error(itm_cosim_step(x), itm_cosim_get_error(x));
    }
    return bench_now() - start;
}

static void measure_manipulator(ItmHydraulicIntegrator integrator)
{
    ItmError error = {0};
    ItmModelFile* file = NULL;
    ItmCosim* x = NULL;
    char chosen[64];
    snprintf(chosen, sizeof chosen, "subsystems.hydraulics.integrator=%s", itm_hydraulics_integrator_name(integrator));
    const char* const overrides[] = {"cosim.macro_step=10 ms", "subsystems.hydraulics.ledger=false", chosen};
    stop_on_error(itm_example_load(&file, "manipulator", overrides, 3, &error), &error);
    stop_on_error(itm_file_create_cosim(&x, file, NULL, &error), &error);
    double best[2] = {1.0, 1.0};
    for (int round = 0; round < 20; round++) {
        stop_on_error(itm_cosim_reset(x), itm_cosim_get_error(x));
        for (int i = 0; i < 2; i++) {
            double seconds = time_second(x);
            best[i] = seconds < best[i] ? seconds : best[i];
        }
    }
    for (int i = 0; i < 2; i++) {
        printf("manipulator, H = 10 ms, h = 0.2 ms, %-5s second %d (%s): %5.0f times real time, %.2f us a micro step "
               "(goal %.0f: %s)\n",
               itm_hydraulics_integrator_name(integrator), i + 1, i == 0 ? "free" : "impact, sliding, wall",
               1.0 / best[i], 1e6 * best[i] / 5000, SPEED_GOAL, bench_at_least(1.0 / best[i], SPEED_GOAL));
    }
    itm_cosim_destroy(x);
    itm_file_destroy(file);
}

int main(void)
{
    measure_costs();
    measure_arm();
    measure_manipulator(ITM_HYDRAULIC_EULER);
    measure_manipulator(ITM_HYDRAULIC_RK4);
    return 0;
}
