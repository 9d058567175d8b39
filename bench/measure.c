#include "bench/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEPS_PER_SECOND 600
#define LOOP_STEPS 6000
#define LOOP_SAMPLE 10   // steps between two looks at the four-bar
#define TIME_WANTED 0.1  // CPU time over which a case is repeated, s
#define TIME_LIMIT 2.0   // CPU time after which a run is cut short, s
#define FORWARD_CALLS 20000
#define BRICKS_SETTLE_LIMIT 60.0  // CPU time after which settling is cut short, s
#define BRICKS_BLOCK 10           // steps between two looks at the clock
#define PILE_LIMIT 45.0           // CPU time after which half a second of a pile is cut short, s

double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bench_report(const char* subject, const char* scene, int n, const char* metric, double value)
{
    printf("%s %s %d %s %.9g\n", subject, scene, n, metric, value);
    fflush(stdout);
}

const char* bench_at_most(double value, double goal)
{
    return value <= goal ? "yes" : "NO";
}

const char* bench_at_least(double value, double goal)
{
    return value >= goal ? "yes" : "NO";
}

bool bench_is_wanted(int argc, char** argv, const char* scene)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], scene) == 0) {
            return true;
        }
    }
    return argc < 2;
}

// ---------------------------------------------------------------------------- runs

typedef struct Run {
    int steps;    // done; fewer than wanted if the time limit came first
    double time;  // CPU time in steps, s
} Run;

// Steps in blocks, so that reading the clock costs nothing beside them.
static Run run_steps(const BenchSubject* subject, void* scene, int wanted, int block)
{
    Run run = {0};
    while (run.steps < wanted && run.time < TIME_LIMIT) {
        double start = bench_now();
        subject->step(scene, block);
        run.time += bench_now() - start;
        run.steps += block;
    }
    return run;
}

// A run that the time limit ended is reported with the time it reached, and marked in the table: it measured something else.
static void report_cut(const BenchSubject* subject, const char* scene_name, int n, int steps, int wanted)
{
    if (steps < wanted) {
        bench_report(subject->name, scene_name, n, "cut_s", steps * ITM_SCENE_STEP);
    }
}

// One second from the start, repeated until enough time was measured; the fastest counts. The height
// of the tip after that second is reported if the time limit lets it come.
static void run_second(const BenchSubject* subject, const char* scene_name, int n, int block)
{
    double best = INFINITY, total = 0, tip_z = NAN;
    int least = STEPS_PER_SECOND;
    while (total < TIME_WANTED) {
        void* scene = subject->create(n);
        Run run = run_steps(subject, scene, STEPS_PER_SECOND, block);
        if (run.steps == STEPS_PER_SECOND) {
            tip_z = subject->get_tip_z(scene);
        }
        subject->destroy(scene);
        best = fmin(best, run.time / run.steps);
        least = run.steps < least ? run.steps : least;
        total += run.time;
    }
    bench_report(subject->name, scene_name, n, "step_us", 1e6 * best);
    bench_report(subject->name, scene_name, n, "tip_z", tip_z);
    report_cut(subject, scene_name, n, least, STEPS_PER_SECOND);
}

// ---------------------------------------------------------------------------- scenes

// The time of one call of `function` of a subject, and the norm it gives.
static void run_calls(const BenchSubject* subject, const char* scene_name, double (*function)(void* scene, int count),
                      const char* time_metric, const char* norm_metric)
{
    void* scene = subject->create(ITM_ARM7_JOINTS);
    double best = INFINITY, norm = 0;
    for (int i = 0; i < 5; i++) {
        double start = bench_now();
        norm = function(scene, FORWARD_CALLS);
        best = fmin(best, (bench_now() - start) / FORWARD_CALLS);
    }
    bench_report(subject->name, scene_name, ITM_ARM7_JOINTS, time_metric, 1e6 * best);
    bench_report(subject->name, scene_name, ITM_ARM7_JOINTS, norm_metric, norm);
    subject->destroy(scene);
}

static void run_arm(const BenchSubject* subject, const char* scene_name)
{
    run_calls(subject, scene_name, subject->forward, "forward_us", "acceleration");
    if (subject->inverse != NULL) {
        run_calls(subject, scene_name, subject->inverse, "inverse_us", "torque");
    }
    run_second(subject, scene_name, ITM_ARM7_JOINTS, 50);
}

// Ten seconds of the four-bar with a look every few steps; the time limit may end it early.
static void run_loop(const BenchSubject* subject, int n)
{
    void* scene = subject->create(n);
    double energy = subject->get_energy(scene), energy_error = 0, gap = 0;
    Run run = {0};
    while (run.steps < LOOP_STEPS && run.time < TIME_LIMIT) {
        Run block = run_steps(subject, scene, LOOP_SAMPLE, LOOP_SAMPLE);
        run.steps += block.steps;
        run.time += block.time;
        gap = fmax(gap, subject->get_gap(scene));
        energy_error = fmax(energy_error, fabs(subject->get_energy(scene) - energy));
    }
    double angle = itm_four_bar_compute_angle(n, run.steps * ITM_SCENE_STEP);
    BenchDirection upright = subject->get_upright(scene);
    bench_report(subject->name, "loop", n, "step_us", 1e6 * run.time / run.steps);
    bench_report(subject->name, "loop", n, "seconds", run.steps * ITM_SCENE_STEP);
    report_cut(subject, "loop", n, run.steps, LOOP_STEPS);
    bench_report(subject->name, "loop", n, "gap", gap);
    bench_report(subject->name, "loop", n, "energy_error", energy_error);
    bench_report(subject->name, "loop", n, "top_error", hypot(upright.x - sin(angle), upright.z - cos(angle)));
    subject->destroy(scene);
}

// ---------------------------------------------------------------------------- bricks

// Steps in blocks until `wanted` are done or `limit` seconds of CPU time are spent.
static Run run_limited(const BenchSubject* subject, void* scene, int wanted, double limit)
{
    Run run = {0};
    while (run.steps < wanted && run.time < limit) {
        Run block = run_steps(subject, scene, BRICKS_BLOCK, BRICKS_BLOCK);
        run.steps += block.steps;
        run.time += block.time;
    }
    return run;
}

// Bricks at rest: time a step, and the mean speed of the brick that creeps farthest meanwhile.
static void run_bricks(const BenchSubject* subject, const char* scene_name, int n, int settle, int measure)
{
    void* scene = subject->create(n);
    Run settled = run_limited(subject, scene, settle, BRICKS_SETTLE_LIMIT);
    double(*start)[3] = malloc(sizeof *start * (size_t)n);
    for (int i = 0; i < n; i++) {
        subject->get_brick(scene, i, start[i]);
    }
    Run run = run_limited(subject, scene, measure, 2 * TIME_LIMIT);
    double farthest = 0;
    for (int i = 0; i < n; i++) {
        double p[3];
        subject->get_brick(scene, i, p);
        double x = p[0] - start[i][0], y = p[1] - start[i][1], z = p[2] - start[i][2];
        farthest = fmax(farthest, sqrt(x * x + y * y + z * z));
    }
    BenchTouch touch = subject->get_touch(scene);
    bench_report(subject->name, scene_name, n, "step_us", 1e6 * run.time / run.steps);
    bench_report(subject->name, scene_name, n, "creep", farthest / (run.steps * ITM_SCENE_STEP));
    bench_report(subject->name, scene_name, n, "penetration", touch.penetration);
    bench_report(subject->name, scene_name, n, "contacts", touch.ncontact);
    bench_report(subject->name, scene_name, n, "settle_us", 1e6 * settled.time / settled.steps);
    bench_report(subject->name, scene_name, n, "seconds", (settled.steps + run.steps) * ITM_SCENE_STEP);
    report_cut(subject, scene_name, n, settled.steps < settle ? settled.steps : settle + run.steps, settle + measure);
    free(start);
    subject->destroy(scene);
}

// Boxes or spheres that fall on each other: time a step while they fall and hit each other, and in the half second that follows;
// deepest penetration of all looks.
static void run_pile(const BenchSubject* subject, const char* scene_name, int n)
{
    void* scene = subject->create(n);
    Run halves[2];
    BenchTouch touch = {0};
    double deepest = 0;
    for (int k = 0; k < 2; k++) {
        halves[k] = (Run){0};
        while (halves[k].steps < STEPS_PER_SECOND / 2 && halves[k].time < PILE_LIMIT) {
            Run block = run_steps(subject, scene, BRICKS_BLOCK, BRICKS_BLOCK);
            halves[k].steps += block.steps;
            halves[k].time += block.time;
            touch = subject->get_touch(scene);
            deepest = fmax(deepest, touch.penetration);
        }
    }
    bench_report(subject->name, scene_name, n, "fall_us", 1e6 * halves[0].time / halves[0].steps);
    bench_report(subject->name, scene_name, n, "step_us", 1e6 * halves[1].time / halves[1].steps);
    bench_report(subject->name, scene_name, n, "penetration", deepest);
    bench_report(subject->name, scene_name, n, "contacts", touch.ncontact);
    bench_report(subject->name, scene_name, n, "unsolved", (double)touch.unsolved);
    report_cut(subject, scene_name, n, halves[0].steps + halves[1].steps, STEPS_PER_SECOND);
    subject->destroy(scene);
}

// ---------------------------------------------------------------------------- scenes by kind

typedef struct Kind {
    const char* group;  // as the command line has it
    const char* name;
    int sizes[6];  // ended by 0
} Kind;

static const Kind KINDS[] = {
    [BENCH_ARM] = {"arm", "arm", {ITM_ARM7_JOINTS}},
    [BENCH_ARM_GRAVITY] = {"arm", "arm-gravity", {ITM_ARM7_JOINTS}},
    [BENCH_CHAIN] = {"chain", "chain", {10, 30, 100, 300, 1000}},
    [BENCH_LOOP] = {"loop", "loop", {2, 10, 40}},
    [BENCH_WALL] = {"wall", "wall", {10, 50, 200}},
    [BENCH_FLOOR] = {"floor", "floor", {10, 30, 100, 300, 1000}},
    [BENCH_PILE_BOXES] = {"pile", "pile-boxes", {1000, 5000}},
    [BENCH_PILE_SPHERES] = {"pile", "pile-spheres", {1000, 5000}},
};

static void run_size(const BenchSubject* subject, BenchKind kind, int n)
{
    switch (kind) {
    case BENCH_ARM:
    case BENCH_ARM_GRAVITY:
        run_arm(subject, KINDS[kind].name);
        break;
    case BENCH_CHAIN:
        run_second(subject, "chain", n, n < 100 ? 50 : n < 300 ? 10 : 1);
        break;
    case BENCH_LOOP:
        run_loop(subject, n);
        break;
    case BENCH_WALL:
        run_bricks(subject, "wall", n, 2 * STEPS_PER_SECOND, STEPS_PER_SECOND);
        break;
    case BENCH_FLOOR:
        run_bricks(subject, "floor", n, STEPS_PER_SECOND / 3, STEPS_PER_SECOND);
        break;
    case BENCH_PILE_BOXES:
    case BENCH_PILE_SPHERES:
        run_pile(subject, KINDS[kind].name, n);
        break;
    }
}

void bench_run_scenes(const BenchScene* scenes, int count, int argc, char** argv)
{
    for (int i = 0; i < count; i++) {
        const Kind* kind = &KINDS[scenes[i].kind];
        bool is_wanted = bench_is_wanted(argc, argv, kind->group);
        for (const int* n = kind->sizes; is_wanted && *n > 0 && (scenes[i].n_max == 0 || *n <= scenes[i].n_max); n++) {
            run_size(&scenes[i].subject, scenes[i].kind, *n);
        }
    }
}
