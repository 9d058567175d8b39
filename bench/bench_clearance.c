// Loose joints: cost of a step with the step size as an unknown against a fixed step and against the literal nonlinear program
// (where NLopt is installed), and of a chain of loose joints against the ideal one. CPU time, microseconds a step.
#include "bench/measure.h"
#include "scenes/scenes.h"

#ifdef ITM_BENCH_HAS_NLOPT
#include "bench/clearance_nlp.h"
#endif

#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 5
#define SQP_GOAL 100.0  // times of the nonlinear program
#define CHAIN_GOAL 4.0  // times of ideal joints

static void require(ItmStatus status, const ItmError* error)
{
    if (status != ITM_OK) {
        fprintf(stderr, "bench_clearance: %s\n", error->message);
        exit(1);
    }
}

static ItmModelFile* load(const char* name)
{
    ItmModelFile* file = NULL;
    ItmError error = {0};
    char example[64];
    snprintf(example, sizeof example, "clearance-%s", name);
    require(itm_example_load(&file, example, NULL, 0, &error), &error);
    return file;
}

// Best time of a step over several runs of the same `count` steps.
static double time_steps(const ItmModel* m, const ItmStepOptions* options, int count)
{
    ItmData* d = NULL;
    ItmError error = {0};
    double best = 1e9;
    require(itm_data_create(&d, m, options, &error), &error);
    for (int round = 0; round < ROUNDS; round++) {
        itm_reset(m, d);
        double start = bench_now();
        for (int i = 0; i < count; i++) {
            require(itm_step(m, d), itm_data_get_error(d));
        }
        double time = (bench_now() - start) / count;
        best = time < best ? time : best;
    }
    itm_data_destroy(d);
    return 1e6 * best;
}

#ifdef ITM_BENCH_HAS_NLOPT
// Mean time of the program at the states of a run.
static double time_nlp(NlpJoint joint, const ItmModel* m, const ItmStepOptions* options, int count)
{
    ItmData* d = NULL;
    ItmError error = {0};
    double time = 0.0;
    require(itm_data_create(&d, m, options, &error), &error);
    for (int i = 0; i < count; i++) {
        const double *q = itm_data_get_q(d), *v = itm_data_get_v(d);
        NlpStep step = nlp_make_step(joint, q, q + 3, v, options->min_step, options->step);
        double start = bench_now();
        nlp_solve_step(&step, options->step);
        time += bench_now() - start;
        require(itm_step(m, d), itm_data_get_error(d));
    }
    itm_data_destroy(d);
    return 1e6 * time / count;
}
#endif

static void run_searches(void)
{
    const struct {
        const char* name;
        double step, min_step;
    } cases[] = {
        {"cylindrical", 1e-3, 1e-4}, {"prismatic", 1e-3, 1e-4}, {"revolute", 2e-3, 1e-3}, {"pendulum", 1e-3, 2e-4}};
    printf("%-24s %10s %10s %10s %10s %8s %8s %7s\n", "step of one joint, us", "variable", "fixed", "default", "SQP",
           "/fixed", "SQP/", ">= 100");
    for (int i = 0; i < 4; i++) {
        ItmModelFile* file = load(cases[i].name);
        ItmStepOptions variable = file->run.step;
        variable.step = cases[i].step;
        variable.min_step = cases[i].min_step;
        ItmStepOptions fixed = variable, standard = variable;
        fixed.min_step = fixed.step;
        standard.stepper = ITM_STEPPER_EULER;
        double t_variable = time_steps(file->model, &variable, 1000), t_fixed = time_steps(file->model, &fixed, 1000);
        double t_default = time_steps(file->model, &standard, 1000), t_nlp = 0.0;
#ifdef ITM_BENCH_HAS_NLOPT
        t_nlp = time_nlp((NlpJoint)i, file->model, &variable, 1000);
#endif
        printf("%-24s %10.3f %10.3f %10.3f %10.1f %8.2f %8.1f %7s\n", cases[i].name, t_variable, t_fixed, t_default,
               t_nlp, t_variable / t_fixed, t_nlp / t_variable,
               t_nlp > 0.0 ? bench_at_least(t_nlp / t_variable, SQP_GOAL) : "no peer");
        itm_file_destroy(file);
    }
}

static void run_chains(void)
{
    const char* const names[] = {"absolute", "joint"};
    printf("\n%-24s %10s %10s %8s %7s\n", "chain of 20 joints, us", "clearance", "ideal", "ratio", "<= 4");
    for (int c = 0; c < 2; c++) {
        ItmModel *clearance = NULL, *ideal = NULL;
        ItmError error = {0};
        ItmStepOptions options = itm_default_step_options();
        options.step = 1e-4;
        require(itm_clearance_chain_build(&clearance, (ItmCoordinates)c, 20, 1e-4, &error), &error);
        require(itm_chain_build(&ideal, (ItmCoordinates)c, 20, &error), &error);
        double t_clearance = time_steps(clearance, &options, 2000), t_ideal = time_steps(ideal, &options, 2000);
        printf("%-24s %10.2f %10.2f %8.2f %7s\n", names[c], t_clearance, t_ideal, t_clearance / t_ideal,
               bench_at_most(t_clearance / t_ideal, CHAIN_GOAL));
        itm_model_destroy(clearance);
        itm_model_destroy(ideal);
    }
}

int main(void)
{
    run_searches();
    run_chains();
    return 0;
}
