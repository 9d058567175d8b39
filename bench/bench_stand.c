// A wall of bricks stands for ten seconds: how fast it creeps at the end, and how deep bricks sink into each other. The same wall asleep:
// what is left of the time of a step.
#include "bench/measure.h"
#include "scenes/scenes.h"

#include <stdio.h>
#include <stdlib.h>

enum { NBRICK = 200, STEPS = 6000, LAST = 600 };

static void stop_on_error(ItmStatus status, const ItmError* error)
{
    if (status != ITM_OK) {
        fprintf(stderr, "stand: %s: %s\n", itm_status_message(status), error->message);
        exit(1);
    }
}

static void start_wall(ItmModel** m, ItmData** d, double sleep_after)
{
    ItmError error = {0};
    ItmStepOptions options = itm_default_step_options();
    options.step = ITM_SCENE_STEP;
    stop_on_error(itm_wall_build_sleeper(m, NBRICK, sleep_after, &error), &error);
    stop_on_error(itm_data_create(d, *m, &options, &error), &error);
}

// CPU time of a step of the wall after a second, s.
static double time_step(double sleep_after, int* nasleep)
{
    ItmModel* m;
    ItmData* d;
    start_wall(&m, &d, sleep_after);
    double start = 0.0;
    for (int i = 0; i < 2 * LAST; i++) {
        start = i == LAST ? bench_now() : start;
        stop_on_error(itm_step(m, d), itm_data_get_error(d));
    }
    double time = (bench_now() - start) / LAST;
    *nasleep = itm_data_get_step_info(d).nasleep;
    itm_data_destroy(d);
    itm_model_destroy(m);
    return time;
}

static void compare_sleep(void)
{
    int nasleep;
    double awake = time_step(0.0, &nasleep), asleep = time_step(0.5, &nasleep);
    printf(
        "the same wall with sleep_after 0.5 s: %d bricks asleep, %.3g us per step, awake %.3g us, ratio %.3f   goal <= 0.1: %s\n",
        nasleep, 1e6 * asleep, 1e6 * awake, asleep / awake, bench_at_most(asleep / awake, 0.1));
}

int main(void)
{
    ItmModel* m;
    ItmData* d;
    start_wall(&m, &d, 0.0);

    ItmVec3 before[NBRICK];
    double penetration = 0.0, farthest = 0.0, start = bench_now();
    long last_unsolved = 0;
    for (int i = 0; i < STEPS; i++) {
        for (int k = 0; i == STEPS - LAST && k < NBRICK; k++) {
            before[k] = itm_data_get_body_pose(m, d, k).p;
        }
        long unsolved = itm_data_get_step_info(d).unsolved;
        stop_on_error(itm_step(m, d), itm_data_get_error(d));
        ItmStepInfo info = itm_data_get_step_info(d);
        last_unsolved = info.unsolved > unsolved ? i + 1 : last_unsolved;
        penetration = fmax(penetration, info.penetration);
    }
    for (int k = 0; k < NBRICK; k++) {
        ItmVec3 p = itm_data_get_body_pose(m, d, k).p;
        farthest =
            fmax(farthest, sqrt((p.x - before[k].x) * (p.x - before[k].x) + (p.y - before[k].y) * (p.y - before[k].y) +
                                (p.z - before[k].z) * (p.z - before[k].z)));
    }
    ItmStepInfo info = itm_data_get_step_info(d);
    double creep = farthest / (LAST * ITM_SCENE_STEP);
    printf("wall of %d bricks, %g s in steps of 1/600 s, %d contacts: %.3g s of CPU time\n", NBRICK,
           STEPS * ITM_SCENE_STEP, info.ncontact, bench_now() - start);
    printf("  creep in the last second   %.2e m/s   goal <= 1e-6: %s\n", creep, bench_at_most(creep, 1e-6));
    printf("  deepest penetration        %.2e m     goal <= 1e-6: %s\n", penetration, bench_at_most(penetration, 1e-6));
    printf("  steps not solved to 1e-9   %ld, the last of them step %ld; worst residual %.1e   goal 0: %s\n",
           info.unsolved, last_unsolved, info.worst_residual, bench_at_most((double)info.unsolved, 0.0));
    itm_data_destroy(d);
    itm_model_destroy(m);
    compare_sleep();
    return 0;
}
