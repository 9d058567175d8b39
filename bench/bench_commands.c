// Commands as a user types them: time and memory until the first step, reading and compiling of large models, `check` of every
// example and of many copies, the cost of writing results of contacts. CPU time of the process, the least of some rounds.
#include "bench/command.h"
#include "bench/measure.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 5
#define EXAMPLES ITM_SOURCE_DIR "/examples/"
#define START_GOAL 10.0    // ms, from the start of the program to the end of a run of one step
#define CHECK_GOAL 1.0     // s
#define GROWTH_GOAL 1.1    // exponent of n
#define WRITING_GOAL 1.25  // with rows of results at the interval of the file, times without

static BenchCommand measure(int rounds, const char* const* words)
{
    BenchCommand least = BENCH_COMMAND_NONE;
    for (int round = 0; round < rounds; round++) {
        bench_run_command(words, &least);
    }
    return least;
}

static FILE* open_model(const char* name)
{
    FILE* out = fopen(name, "w");
    if (out == NULL) {
        fprintf(stderr, "bench_commands: cannot write %s\n", name);
        exit(1);
    }
    return out;
}

// ---------------------------------------------------------------------------- start

static void measure_start(void)
{
    static const char* const MODELS[] = {"pendulum", "bouncing-ball", "crane-single"};
    printf("run of one step, best of %d\n", ROUNDS);
    for (int i = 0; i < BENCH_COUNT(MODELS); i++) {
        char path[512];
        snprintf(path, sizeof path, EXAMPLES "%s.yaml", MODELS[i]);
        BenchCommand c =
            measure(ROUNDS, (const char* const[]){"run", path, "-q", "--until", "10ms", "-o", "a.csv", NULL});
        printf("  %-16s %8.1f ms %8.1f MB                  goal <= %g ms: %s\n", MODELS[i], 1e3 * c.cpu,
               1e-6 * c.memory, START_GOAL, bench_at_most(1e3 * c.cpu, START_GOAL));
    }
}

// ---------------------------------------------------------------------------- large models

// A chain of n rods on hinges.
static void write_chain(const char* name, int n)
{
    FILE* out = open_model(name);
    fprintf(out, "multibody:\n  bodies:\n");
    for (int i = 0; i < n; i++) {
        fprintf(out, "    b%d: {mass: 1 kg, inertia: [1, 1, 1], position: [%d, 0, 0]}\n", i, i);
    }
    fprintf(out, "  joints:\n");
    for (int i = 0; i < n; i++) {
        char parent[16] = "ground";
        if (i > 0) {
            snprintf(parent, sizeof parent, "b%d", i - 1);
        }
        fprintf(out, "    j%d: {type: revolute, bodies: [%s, b%d], at: [%d, 0, 0], axis: [0, 1, 0]}\n", i, parent, i,
                i);
    }
    fprintf(out, "run: {duration: 1 ms, step: 1 ms, output_interval: 1 ms}\n");
    fclose(out);
}

static void print_growth(double time_a, double time_b, double ratio)
{
    double p = log(time_b / time_a) / log(ratio);
    printf("  growth           n^%.2f                                 goal <= %g: %s\n", p, GROWTH_GOAL,
           bench_at_most(p, GROWTH_GOAL));
}

static void measure_load(void)
{
    static const int SIZES[] = {1000, 10000, 100000};
    double times[BENCH_COUNT(SIZES)];
    printf("check of a chain of n bodies: reading, compiling, assembling\n");
    for (int i = 0; i < BENCH_COUNT(SIZES); i++) {
        write_chain("chain.yaml", SIZES[i]);
        BenchCommand c = measure(i == 0 ? ROUNDS : 1, (const char* const[]){"check", "chain.yaml", NULL});
        times[i] = c.cpu;
        printf("  %-16d %8.2f s  %8.1f MB\n", SIZES[i], c.cpu, 1e-6 * c.memory);
    }
    print_growth(times[1], times[2], 10.0);
}

// ---------------------------------------------------------------------------- check

static int is_model(const struct dirent* file)
{
    const char* ending = strrchr(file->d_name, '.');
    return ending != NULL && strcmp(ending, ".yaml") == 0;
}

// Every example; those above half of the goal are printed by name.
static void measure_checks(void)
{
    struct dirent** files = NULL;
    int n = scandir(EXAMPLES, &files, is_model, alphasort);
    double longest = 0.0, sum = 0.0;
    printf("check of all %d examples\n", n);
    for (int i = 0; i < n; i++) {
        char path[512];
        snprintf(path, sizeof path, EXAMPLES "%s", files[i]->d_name);
        BenchCommand c = measure(2, (const char* const[]){"check", path, NULL});
        sum += c.cpu;
        longest = fmax(longest, c.cpu);
        if (c.cpu > 0.5 * CHECK_GOAL) {
            printf("  %-16s %8.2f s\n", files[i]->d_name, c.cpu);
        }
        free(files[i]);
    }
    free(files);
    printf("  longest          %8.2f s, all %.1f s                    goal <= %g s: %s\n", longest, sum, CHECK_GOAL,
           bench_at_most(longest, CHECK_GOAL));
}

static void measure_copies(void)
{
    static const char* const COUNTS[] = {"10", "100"};
    double times[BENCH_COUNT(COUNTS)];
    printf("check of n cranes, each with a circuit and a load of its own\n");
    for (int i = 0; i < BENCH_COUNT(COUNTS); i++) {
        char command[600];
        snprintf(command, sizeof command, EXAMPLES "cranes.sh %s >cranes.yaml", COUNTS[i]);
        if (system(command) != 0) {
            fprintf(stderr, "bench_commands: %s failed\n", command);
            exit(1);
        }
        times[i] = measure(1, (const char* const[]){"check", "cranes.yaml", NULL}).cpu;
        printf("  %-16s %8.2f s\n", COUNTS[i], times[i]);
    }
    print_growth(times[0], times[1], 10.0);
}

// ---------------------------------------------------------------------------- results

// The stack of boxes with results at the interval of its file, every tenth step, and with those of its end only.
static void measure_writing(void)
{
    static const char* const STACK = EXAMPLES "stack.yaml";
    BenchCommand none =
        measure(ROUNDS, (const char* const[]){"run", STACK, "-q", "--every", "2s", "-o", "a.csv", NULL});
    BenchCommand all = measure(ROUNDS, (const char* const[]){"run", STACK, "-q", "-o", "a.csv", NULL});
    printf(
        "results of stack.yaml at every tenth step: %.1f ms, at the end only: %.1f ms, ratio %.2f   goal <= %g: %s\n",
        1e3 * all.cpu, 1e3 * none.cpu, all.cpu / none.cpu, WRITING_GOAL,
        bench_at_most(all.cpu / none.cpu, WRITING_GOAL));
}

int main(void)
{
    bench_enter_folder();
    measure_start();
    measure_load();
    measure_checks();
    measure_copies();
    measure_writing();
    bench_leave_folder();
    return 0;
}
