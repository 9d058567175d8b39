// Contact MLCPs with bounds of 35, 178 and 500 rows: cold, warm-started in the next step, and
// Siconos' best.
//     bench_mlcp [-v]
// Goals: 30 times (35 rows) and 60 times (more rows) as fast as Siconos' best solver, cold; a third of the cold time where warm-started.
// Times are means over instances of the shortest CPU time of many runs in this one process; only
// their ratios mean anything elsewhere.
#include "bench/measure.h"
#include "bench/peer_mlcp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double PROMISE = 1e-9;       // residual we must reach
static const double PEER_PROMISE = 1e-6;  // residual at which a peer counts as having solved it

static const double GOAL_PEER[2] = {30, 60};  // times as fast as Siconos: up to SMALL rows, more rows
static const double GOAL_WARM = 3;            // times as fast as cold
enum { SMALL = 35 };

#ifndef ITM_BENCH_HAS_SICONOS
PeerTiming peer_siconos_solve_mlcp(const MlcpCase* c, double tolerance, bool is_verbose)
{
    (void)c, (void)tolerance, (void)is_verbose;
    return (PeerTiming){.solver = "none", .seconds = NAN, .residual = NAN};
}
#endif

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct Run {
    ItmMlcpWorkspace* workspace;
    ItmMlcpResult result;
    double* x_guess;
    signed char* state_guess;
} Run;

static Run create_run(int n)
{
    Run run = {0};
    ItmMlcpCapacity capacity = itm_default_mlcp_capacity(n, 0);
    size_t rows = (size_t)n;
    run.result =
        (ItmMlcpResult){.x = calloc(rows, sizeof(double)), .w = calloc(rows, sizeof(double)), .state = calloc(rows, 1)};
    run.x_guess = calloc(rows, sizeof(double));
    run.state_guess = calloc(rows, 1);
    if (itm_mlcp_workspace_create(&run.workspace, &capacity, NULL) != ITM_OK || run.state_guess == NULL) {
        fprintf(stderr, "bench_mlcp: no memory\n");
        exit(1);
    }
    return run;
}

static void destroy_run(Run* run)
{
    itm_mlcp_workspace_destroy(run->workspace);
    free(run->result.x);
    free(run->result.w);
    free(run->result.state);
    free(run->x_guess);
    free(run->state_guess);
}

// Shortest of the runs that fit into a tenth of a second; a warm one starts from the guess each
// time.
static double measure(Run* run, const MlcpCase* c, bool is_warm)
{
    ItmMlcpOptions options = itm_default_mlcp_options();
    options.warm_start = is_warm;
    double best = INFINITY, start = now();
    for (int k = 0; k < 2000 && (k < 3 || now() - start < 0.1); k++) {
        memcpy(run->result.x, run->x_guess, (size_t)c->n * sizeof(double));
        memcpy(run->result.state, run->state_guess, (size_t)c->n);
        double t = now();
        ItmStatus status = itm_mlcp_solve(run->workspace, &run->result, &c->problem, &options, NULL);
        best = fmin(best, now() - t);
        if (status != ITM_OK || itm_mlcp_compute_residual(&c->problem, run->result.x) > PROMISE) {
            fprintf(stderr, "bench_mlcp: not solved\n");
            exit(1);
        }
    }
    return best;
}

typedef struct Row {
    double cold, next_cold, next_warm, peer;  // seconds, summed over the instances
    char solver[32];
} Row;

static void bench_instance(Row* row, MlcpSpec spec, bool is_verbose)
{
    MlcpCase step, next;
    bool is_made = mlcp_case_create(&step, &spec);
    spec.drift = 1e-3;  // a step of 1 ms at 1 m/s
    if (!is_made || !mlcp_case_create(&next, &spec)) {
        fprintf(stderr, "bench_mlcp: no memory\n");
        exit(1);
    }
    Run run = create_run(step.n);
    row->cold += measure(&run, &step, false);
    memcpy(run.x_guess, run.result.x, (size_t)step.n * sizeof(double));
    memcpy(run.state_guess, run.result.state, (size_t)step.n);
    row->next_cold += measure(&run, &next, false);
    row->next_warm += measure(&run, &next, true);
    PeerTiming peer = peer_siconos_solve_mlcp(&step, PEER_PROMISE, is_verbose);
    row->peer += peer.seconds;
    snprintf(row->solver, sizeof row->solver, "%s", peer.solver);
    destroy_run(&run);
    mlcp_case_destroy(&step);
    mlcp_case_destroy(&next);
}

static void bench_size(int nbilateral, int ncontact, int ninstance, bool is_redundant, bool is_verbose)
{
    MlcpSpec spec = mlcp_default_spec(nbilateral, ncontact);
    spec.is_redundant = is_redundant;
    Row row = {0};
    for (int k = 0; k < ninstance; k++, spec.seed++) {
        bench_instance(&row, spec, is_verbose);
    }
    int nrow = nbilateral + 3 * ncontact;
    double goal = GOAL_PEER[nrow > SMALL];
    double us = 1e6 / ninstance, gain = row.peer / row.cold, warm_gain = row.next_cold / row.next_warm;
    printf("%4d %-10s %9d %10.1f %10.1f %10.1f %9.1f %-4s %11.1f %-14s %8.1f %4g %s\n", nrow,
           is_redundant ? "redundant" : "well-posed", ninstance, us * row.cold, us * row.next_cold, us * row.next_warm,
           warm_gain, bench_at_least(warm_gain, GOAL_WARM), us * row.peer, row.solver, gain, goal,
           isnan(gain) ? "no peer" : bench_at_least(gain, goal));
    fflush(stdout);
}

int main(int argc, char** argv)
{
    bool is_verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    // bilateral rows, contacts, instances: means over several, because single small problems differ
    // by a factor of four
    const int sizes[3][3] = {{5, 10, 15}, {28, 50, 3}, {50, 150, 1}};
    printf("rows kind       instances    cold us  next cold  next warm cold/warm >= 3 siconos us last "
           "best siconos/cold goal\n");
    for (int k = 0; k < 3; k++) {
        bench_size(sizes[k][0], sizes[k][1], sizes[k][2], false, is_verbose);
        bench_size(sizes[k][0], sizes[k][1], sizes[k][2], true, is_verbose);
    }
    return 0;
}
