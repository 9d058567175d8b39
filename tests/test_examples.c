// Every example runs to its end in both kinds of coordinates and does what its comments say.
#include "check.h"

#include "interim/interim.h"

#define PI 3.14159265358979323846

typedef struct Run {
    ItmModelFile* file;
    ItmData* data;
    double* outputs;
} Run;

static Run start(const char* name, const char* override)
{
    Run r = {0};
    ItmError error = {0};
    char path[1024];
    snprintf(path, sizeof path, "%s/examples/%s.yaml", ITM_SOURCE_DIR, name);
    CHECK_OK(itm_file_load(&r.file, path, &override, override != NULL, &error), &error);
    CHECK_OK(itm_data_create(&r.data, r.file->model, &r.file->run.step, &error), &error);
    r.outputs = calloc((size_t)itm_output_get_count(r.file->model), sizeof *r.outputs);
    return r;
}

static void finish(Run* r)
{
    long nstep = lround(r->file->run.duration / r->file->run.step.step);
    for (long i = 0; i < nstep; i++) {
        CHECK_OK(itm_step(r->file->model, r->data), itm_data_get_error(r->data));
    }
}

static void done(Run* r)
{
    free(r->outputs);
    itm_data_destroy(r->data);
    itm_file_destroy(r->file);
}

static double get(Run* r, const char* name)
{
    int output = itm_output_find(r->file->model, name);
    if (output == ITM_NONE) {
        fail_msg("no output %s", name);
    }
    assert_int_equal(itm_output_compute(r->file->model, r->data, r->outputs), ITM_OK);
    return r->outputs[output];
}

static void every_example_runs_in_both_coordinates(void** state)
{
    (void)state;
    const char* names[] = {"pendulum", "top", "four-bar", "slider-crank", "gears", "crane"};
    const char* overrides[] = {"multibody.coordinates=joint", "multibody.coordinates=absolute"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (size_t k = 0; k < 2; k++) {
            Run r = start(names[i], overrides[k]);
            assert_true(strlen(r.file->title) > 3);
            finish(&r);
            ItmStepInfo info = itm_data_get_step_info(r.data);
            if (info.unfinished > 0 || !(info.gap <= 1e-9)) {
                fail_msg("%s, %s: %ld unfinished steps, gap %g", names[i], overrides[k],
                         info.unfinished, info.gap);
            }
            done(&r);
        }
    }
}

static void pendulum_starts_60_degrees_from_the_vertical(void** state)
{
    (void)state;
    Run r = start("pendulum", NULL);
    CHECK_NEAR(get(&r, "hinge.angle"), PI / 3, 1e-12);
    CHECK_NEAR(get(&r, "rod.position.z"), -0.25, 1e-12);
    done(&r);
}

// A fast top precesses at m g l / (I spin) = 2.45 rad/s; the next term of the steady rate is larger
// by m g l (I_side + m l^2) cos(tilt) / (I spin)^2 = 2.7 %, and starting without precession adds a
// nutation of that size.
static void top_precesses_at_the_textbook_rate(void** state)
{
    (void)state;
    Run r = start("top", NULL);
    finish(&r);
    double rate = 0.5 * 9.81 * 0.04 / (2e-4 * 400);
    // horizontal direction of the angular momentum: from -y at the start, less than a turn
    double angle = atan2(get(&r, "momentum.angular.y"), get(&r, "momentum.angular.x")) + PI / 2;
    angle = angle < 0 ? angle + 2 * PI : angle;
    CHECK_NEAR(angle / (rate * r.file->run.duration), 1.0, 2 * 0.027); // observed 1.0276
    done(&r);
}

static void four_bar_has_one_freedom_and_three_redundant_rows(void** state)
{
    (void)state;
    Run r = start("four-bar", NULL);
    ItmModelInfo info = itm_model_get_info(r.file->model);
    assert_int_equal(info.freedom, 1);
    assert_int_equal(info.nredundant, 3);
    CHECK_NEAR(get(&r, "a.angle_rate"), 2, 1e-9);
    done(&r);
}

static void crank_follows_its_signal(void** state)
{
    (void)state;
    Run r = start("slider-crank", NULL);
    finish(&r);
    double w = 120 * 2 * PI / 60, h = r.file->run.step.step;
    // the loop's gap after a step is of order (w h)^2, and closing it changes the velocity by that
    // part of itself
    CHECK_NEAR(get(&r, "main.angle_rate"), w, w * w * w * h * h); // observed 0.7 of it
    // half the speed on average in the first second, for the ramp is symmetric, then full speed;
    // Euler is late by h
    CHECK_NEAR(get(&r, "main.angle"), (0.5 + 2) * w, w * h);
    done(&r);
}

static void gears_and_rack_keep_their_ratios(void** state)
{
    (void)state;
    Run r = start("gears", NULL);
    finish(&r);
    double motor = get(&r, "shaft1.angle"), wheel = get(&r, "shaft2.angle");
    assert_true(fabs(motor) > 0.1);
    // gaps of couplings are closed to gap_tolerance
    CHECK_NEAR(wheel, -0.4 * motor, 1e-10);
    CHECK_NEAR(get(&r, "guide.displacement"), 0.04 * wheel, 1e-10);
    done(&r);
}

static void crane_lifts_its_load(void** state)
{
    (void)state;
    Run r = start("crane", NULL);
    double before = get(&r, "load.position.z");
    finish(&r);
    assert_true(get(&r, "load.position.z") > before + 0.1);
    CHECK_NEAR(get(&r, "rope.length"), 0.8, 1e-10);
    done(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_runs_in_both_coordinates),
        cmocka_unit_test(pendulum_starts_60_degrees_from_the_vertical),
        cmocka_unit_test(top_precesses_at_the_textbook_rate),
        cmocka_unit_test(four_bar_has_one_freedom_and_three_redundant_rows),
        cmocka_unit_test(crank_follows_its_signal),
        cmocka_unit_test(gears_and_rack_keep_their_ratios),
        cmocka_unit_test(crane_lifts_its_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
