// What a study costs: overhead per run of a small model, and the gain of a second process.
//
// The command itself is measured, from its start to its last table. Wall times, because several processes work; the least of some
// rounds, in which the numbers of processes take turns. Beside them the CPU time of all processes: on a busy machine wall time exceeds
// it, and the CPU time per run grows with the second process where caches or a core are shared.
#include "bench/command.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 5
#define OVERHEAD_RUNS 500
#define LONG_RUNS 24
#define OVERHEAD_GOAL 5.0    // ms per run
#define EFFICIENCY_GOAL 1.9  // of one process
#define BUSY 1.05            // wall time of one process over its CPU time above which others use the machine

static void write_study(const char* model, const char* set, const char* factor, int nrun, const char* response)
{
    FILE* out = fopen("study.yaml", "w");
    if (out == NULL ||
        fprintf(out,
                "model: " ITM_SOURCE_DIR "/examples/%s\nset: {%s}\nfactors: {%s}\n"
                "design: {type: latin-hypercube, runs: %d}\nresponses: {y: {final: %s}}\n",
                model, set, factor, nrun, response) < 0 ||
        fclose(out) != 0) {
        fprintf(stderr, "bench_study: cannot write the study\n");
        exit(1);
    }
}

// One study by so many processes at a time; its times go into *least where they are less.
static void run_study(const char* jobs, BenchCommand* least)
{
    bench_run_command((const char* const[]){"study", "study.yaml", "-q", "-j", jobs, "-o", "table.csv", NULL}, least);
}

static const char* judge(bool is_met, bool is_busy)
{
    return is_met ? "yes" : is_busy ? "NO (machine busy)" : "NO";
}

static void measure_overhead(void)
{
    BenchCommand cost = BENCH_COMMAND_NONE;
    write_study("studies/ishigami.yaml", "", "x1: {from: 0, to: 1}", OVERHEAD_RUNS, "control.y");
    for (int round = 0; round < ROUNDS; round++) {
        run_study("1", &cost);
    }
    double wall = 1e3 * cost.wall / OVERHEAD_RUNS, cpu = 1e3 * cost.cpu / OVERHEAD_RUNS;
    bool is_met = wall < OVERHEAD_GOAL;
    bool is_busy = wall > BUSY * cpu;
    printf("study, %d runs of one step (Ishigami function), one at a time, best of %d\n", OVERHEAD_RUNS, ROUNDS);
    printf("  per run               %7.3f ms wall %7.3f ms CPU        goal %.0f ms: %s\n", wall, cpu, OVERHEAD_GOAL,
           judge(is_met, is_busy));
}

static void measure_efficiency(void)
{
    static const char* const JOBS[2] = {"1", "2"};
    BenchCommand costs[2] = {BENCH_COMMAND_NONE, BENCH_COMMAND_NONE};
    write_study("pendulum.yaml", "run.duration: 100 s, run.output_interval: 1 s", "L: {from: 0.5 m, to: 2 m}",
                LONG_RUNS, "hinge.angle");
    for (int round = 0; round < ROUNDS; round++) {
        run_study(JOBS[0], &costs[0]);
        run_study(JOBS[1], &costs[1]);
    }
    double ratio = costs[0].wall / costs[1].wall, busy = costs[0].wall / costs[0].cpu;
    printf("study, %d runs of 100 s of a pendulum, best of %d\n", LONG_RUNS, ROUNDS);
    for (int i = 0; i < 2; i++) {
        printf("  %s at a time         %7.3f ms wall %7.3f ms CPU per run\n", i == 0 ? "one" : "two",
               1e3 * costs[i].wall / LONG_RUNS, 1e3 * costs[i].cpu / LONG_RUNS);
    }
    printf("  two against one       %7.3f times as fast                goal %.1f: %s\n", ratio, EFFICIENCY_GOAL,
           judge(ratio >= EFFICIENCY_GOAL, busy > BUSY));
    printf("  CPU per run, two/one  %7.3f; wall/CPU of one %.3f%s\n", costs[1].cpu / costs[0].cpu, busy,
           busy > BUSY ? ": the machine is busy" : "");
}

int main(void)
{
    bench_enter_folder();
    measure_overhead();
    measure_efficiency();
    bench_leave_folder();
    return 0;
}
