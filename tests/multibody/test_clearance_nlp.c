// The exact search for the step against the literal nonlinear program of the paper, solved by NLopt's SQP: recorded steps of
// every joint type.
#include "check.h"

#include "bench/clearance_nlp.h"
#include "interim/interim.h"

#define STEPS 1000

typedef struct Tally {
    int same, better, tied,
        lost;   // against the SQP: same h, lower objective, equal objective at another h; SQP not feasible
    int stuck;  // fixed h: SQP not at the minimum
    double objective, motion, residual, gap;  // largest: excess of ours, differences of motion, residuals
} Tally;

// The motion at a given h: the same program with h fixed.
static void compare_motion(Tally* tally, NlpStep step, double h, const double v[6])
{
    step.h_min = h * (1.0 - 1e-12);
    step.h_max = h;
    NlpSolution fixed = nlp_solve_step(&step, h);
    double ours = nlp_compute_objective(&step, h, v);
    // for a fixed h the program is convex: a value above the least one means that the SQP gave up
    if (!fixed.is_feasible || fixed.objective > ours + 1e-6 * fmax(1.0, ours)) {
        tally->stuck++;
        return;
    }
    for (int i = 0; i < 6; i++) {
        tally->motion = fmax(tally->motion, h * fabs(fixed.v[i] - v[i]));
    }
}

static void compare_objective(Tally* tally, const NlpStep* step, double h, double ours)
{
    const double guesses[3] = {h, step->h_max, step->h_min};
    for (int i = 0; i < 3; i++) {
        NlpSolution nlp = nlp_solve_step(step, guesses[i]);
        double scale = fmax(1.0, fabs(ours));
        if (!nlp.is_feasible) {
            tally->lost++;
            continue;
        }
        tally->objective = fmax(tally->objective, (ours - nlp.objective - nlp.slack) / scale);
        bool is_equal = fabs(ours - nlp.objective) <= 1e-8 * scale;
        tally->same += is_equal && fabs(h - nlp.h) <= 1e-6 * h;
        tally->tied += is_equal && fabs(h - nlp.h) > 1e-6 * h;
        tally->better += !is_equal;
    }
}

static void check_step(Tally* tally, const NlpStep* step, const ItmModel* m, ItmData* d, double* values)
{
    double h = itm_data_get_step_size(d), lambda[NLP_MAX_GAPS];
    const double* v = itm_data_get_v(d);
    assert_int_equal(itm_model_compute_outputs(m, d, values), ITM_OK);
    for (int k = 0; k < step->ngap; k++) {
        char name[64];
        snprintf(name, sizeof name, "joint.normal_force.%d", k + 1);
        lambda[k] = values[itm_model_find_output(m, name)];
        double rate = 0.0;
        for (int i = 0; i < 6; i++) {
            rate += step->D[k][i] * v[i];
        }
        tally->gap = fmax(tally->gap, step->gap[k] + h * rate);
    }
    tally->residual = fmax(tally->residual, nlp_compute_residual(step, h, v, lambda));
    double ours = nlp_compute_objective(step, h, v);
    CHECK_NEAR(itm_data_get_step_info(d).objective, ours, 1e-6 * fmax(1.0, ours));
    compare_objective(tally, step, h, ours);
    compare_motion(tally, *step, h, v);
}

static Tally record(NlpJoint joint, double h_min, double h_max)
{
    static const char* const NAMES[NLP_JOINT_COUNT] = {"cylindrical", "prismatic", "revolute", "pendulum"};
    ItmModelFile* file = NULL;
    ItmData* d = NULL;
    ItmError error = {0};
    char path[1024];
    snprintf(path, sizeof path, "%s/examples/clearance-%s.yaml", ITM_SOURCE_DIR, NAMES[joint]);
    CHECK_OK(itm_file_load(&file, path, NULL, 0, &error), &error);
    file->run.step.step = h_max;
    file->run.step.min_step = h_min;
    CHECK_OK(itm_data_create(&d, file->model, &file->run.step, &error), &error);
    double* values = calloc((size_t)itm_model_get_output_count(file->model), sizeof *values);
    Tally tally = {.objective = -INFINITY, .gap = -INFINITY};
    for (int i = 0; i < STEPS; i++) {
        const double *q = itm_data_get_q(d), *v = itm_data_get_v(d);
        NlpStep step = nlp_make_step(joint, q, q + 3, v, h_min, h_max);
        CHECK_OK(itm_step(file->model, d), itm_data_get_error(d));
        check_step(&tally, &step, file->model, d, values);
    }
    print_message("%s: SQP same %d, worse %d, tied %d, not feasible %d, stuck %d; objective +%.2g, motion %.2g, "
                  "residual %.2g, gap %.2g\n",
                  NAMES[joint], tally.same, tally.better, tally.tied, tally.lost, tally.stuck, tally.objective,
                  tally.motion, tally.residual, tally.gap);
    free(values);
    itm_data_destroy(d);
    itm_file_destroy(file);
    return tally;
}

static void check_joint(NlpJoint joint, double h_min, double h_max)
{
    Tally tally = record(joint, h_min, h_max);
    assert_true(tally.objective <= 1e-9);
    assert_true(tally.stuck < STEPS / 20);
    assert_true(tally.motion <= 1e-6);
    assert_true(tally.residual <= 1e-12);
    assert_true(tally.gap <= 1e-12);
    assert_true(tally.same > STEPS / 4);
    assert_true(tally.lost < 3 * STEPS / 10);
}

static void cylindrical(void** state)
{
    (void)state;
    check_joint(NLP_CYLINDRICAL, 1e-4, 1e-3);
}

static void prismatic(void** state)
{
    (void)state;
    check_joint(NLP_PRISMATIC, 1e-4, 1e-3);
}

static void revolute(void** state)
{
    (void)state;
    check_joint(NLP_REVOLUTE, 1e-3, 2e-3);
}

static void pendulum(void** state)
{
    (void)state;
    check_joint(NLP_PENDULUM, 2e-4, 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cylindrical),
        cmocka_unit_test(prismatic),
        cmocka_unit_test(revolute),
        cmocka_unit_test(pendulum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
