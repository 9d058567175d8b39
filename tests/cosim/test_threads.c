// Sharing between threads: compiled models, circuits and model files are read by many at once, and each gets the bits of one thread
// alone; threads share a step, with the bits of one. The thread sanitizer runs this program (preset tsan).
#include "check.h"

#include "interim/interim.h"
#include "scenes/numbers.h"
#include "scenes/scene.h"
#include "scenes/scenes.h"

#include <pthread.h>
#include <stdio.h>

enum { NTHREAD = 4 };

typedef struct Job {
    const ItmModelFile* file;
    int nstep;
    double* values;  // outputs at the end   (nvalue)
    int nvalue;
    ItmStatus status;
    ItmError error;
} Job;

// A data object of the shared model.
static void* run_data(void* context)
{
    Job* job = context;
    const ItmModel* m = job->file->model;
    ItmData* d = NULL;
    job->status = itm_data_create(&d, m, &job->file->run.step, &job->error);
    for (int i = 0; i < job->nstep && job->status == ITM_OK; i++) {
        job->status = itm_step(m, d);
    }
    job->nvalue = itm_model_get_output_count(m);
    job->values = calloc((size_t)job->nvalue, sizeof *job->values);
    if (job->status == ITM_OK && job->values != NULL) {
        job->status = itm_model_compute_outputs(m, d, job->values);
    }
    itm_data_destroy(d);
    return NULL;
}

// A system of the shared mechanisms, circuits and controls.
static void* run_cosim(void* context)
{
    Job* job = context;
    ItmCosim* x = NULL;
    job->status = itm_file_create_cosim(&x, job->file, NULL, &job->error);
    for (int i = 0; i < job->nstep && job->status == ITM_OK; i++) {
        job->status = itm_cosim_step(x);
    }
    if (job->status == ITM_OK) {
        job->nvalue = itm_cosim_get_output_count(x);
        job->values = calloc((size_t)job->nvalue, sizeof *job->values);
        job->status = job->values != NULL ? itm_cosim_compute_outputs(x, job->values) : ITM_ERR_MEMORY;
    }
    itm_cosim_destroy(x);
    return NULL;
}

// All jobs at once have the bits of one job alone.
static void expect_same_bits(const char* path, const char* const* overrides, int noverride, int nstep,
                             void* (*run)(void*))
{
    ItmModelFile* file = NULL;
    ItmError error = {0};
    CHECK_OK(itm_file_load(&file, path, overrides, noverride, &error), &error);
    Job alone = {.file = file, .nstep = nstep}, jobs[NTHREAD];
    pthread_t threads[NTHREAD];
    run(&alone);
    CHECK_OK(alone.status, &alone.error);
    assert_true(alone.nvalue > 0);
    for (int i = 0; i < NTHREAD; i++) {
        jobs[i] = (Job){.file = file, .nstep = nstep};
        assert_int_equal(pthread_create(&threads[i], NULL, run, &jobs[i]), 0);
    }
    for (int i = 0; i < NTHREAD; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < NTHREAD; i++) {
        CHECK_CASE("%s, thread %d of %d", path, i, NTHREAD);
        CHECK_OK(jobs[i].status, &jobs[i].error);
        assert_int_equal(jobs[i].nvalue, alone.nvalue);
        assert_memory_equal(jobs[i].values, alone.values, (size_t)alone.nvalue * sizeof(double));
        free(jobs[i].values);
    }
    free(alone.values);
    itm_file_destroy(file);
}

static void data_objects_share_a_model(void** state)
{
    (void)state;
    expect_same_bits(ITM_SOURCE_DIR "/examples/stack.yaml", NULL, 0, 40, run_data);
    expect_same_bits(ITM_SOURCE_DIR "/examples/flexible-pendulum.yaml", NULL, 0, 40, run_data);
}

static void systems_share_circuits_and_mechanisms(void** state)
{
    (void)state;
    expect_same_bits(ITM_SOURCE_DIR "/examples/crane-double.yaml", NULL, 0, 20, run_cosim);
}

static void systems_with_threads_of_their_own_share_too(void** state)
{
    (void)state;
    const char* const threads[] = {"cosim.threads=3"};
    expect_same_bits(ITM_SOURCE_DIR "/examples/arm-capture.yaml", threads, 1, 5, run_cosim);
    expect_same_bits(ITM_SOURCE_DIR "/examples/scara.yaml", threads, 1, 20, run_cosim);
}

// ---------------------------------------------------------------------------- threads within a step

// A piece on the pile: 125 kg, 0.5 m, every second one a sphere.
static void add_piece(ItmScene* scene, int n, int i)
{
    double p[3];
    itm_pile_get_position(n, i, p);
    char name[24];
    snprintf(name, sizeof name, "piece%d", i);
    ItmBodyDef body = itm_default_body_def();
    double I = ITM_PILE_MASS * ITM_PILE_SIZE * ITM_PILE_SIZE / 6.0;
    body.name = name;
    body.mass = ITM_PILE_MASS;
    body.inertia = (ItmSym3){.xx = I, .yy = I, .zz = I};
    body.has_pose = true;
    body.pose.p = (ItmVec3){p[0], p[1], p[2]};
    ItmColliderDef shape = itm_default_collider_def();
    shape.body = itm_scene_add_body(scene, &body);
    snprintf(name, sizeof name, "shape%d", i);
    shape.name = name;
    shape.kind = i % 2 == 0 ? ITM_COLLIDER_BOX : ITM_COLLIDER_SPHERE;
    shape.size[0] = i % 2 == 0 ? ITM_PILE_SIZE : 0.5 * ITM_PILE_SIZE;
    shape.size[1] = shape.size[2] = ITM_PILE_SIZE;
    itm_scene_add_collider(scene, &shape);
}

// A ball of 300 kg on two hinges in a row that swings into the pile.
static void add_wrecker(ItmScene* scene)
{
    ItmBodyDef body = itm_default_body_def();
    body.mass = 300.0;
    body.inertia = (ItmSym3){.xx = 20.0, .yy = 20.0, .zz = 20.0};
    body.name = "arm";
    int arm = itm_scene_add_body(scene, &body);
    body.name = "ball";
    int ball = itm_scene_add_body(scene, &body);
    ItmVec3 y = itm_scene_unit(1), end = {0, 0, -1.5}, zero = {0, 0, 0};
    ItmJointDef upper = itm_scene_hinge("upper", ITM_GROUND, (ItmVec3){-1.0, 0.7, 3.5}, arm, zero, y);
    itm_scene_set_start(&upper, ITM_RZ, 0.15, -3.0);
    itm_scene_add_joint(scene, &upper);
    ItmJointDef lower = itm_scene_hinge("lower", arm, end, ball, (ItmVec3){0, 0, 1.0}, y);
    itm_scene_set_start(&lower, ITM_RZ, 0.0, 0.0);
    itm_scene_add_joint(scene, &lower);
    ItmColliderDef shape = itm_default_collider_def();
    shape.name = "bob";
    shape.body = ball;
    shape.kind = ITM_COLLIDER_SPHERE;
    shape.size[0] = 0.5;
    itm_scene_add_collider(scene, &shape);
}

static ItmModel* build_mixed(ItmCoordinates coordinates, int n)
{
    ItmModel* m = NULL;
    ItmError error = {0};
    ItmScene scene = itm_scene_begin(coordinates, (ItmVec3){0, 0, -9.81}, &error);
    ItmColliderDef plane = itm_default_collider_def();
    plane.name = "plane";
    plane.body = ITM_GROUND;
    plane.kind = ITM_COLLIDER_PLANE;
    itm_scene_add_collider(&scene, &plane);
    for (int i = 0; i < n; i++) {
        add_piece(&scene, n, i);
    }
    add_wrecker(&scene);
    CHECK_OK(itm_scene_finish(&scene, &m), &error);
    return m;
}

// Bytes of the state, and the counts of the solver, after steps with threads; the second half is continued in another data object with another
// number of threads.
typedef struct Outcome {
    void* bytes;
    size_t size;
    ItmStepInfo info;
} Outcome;

static Outcome run_steps(const ItmModel* m, int nthread, int nstep)
{
    ItmStepOptions options = itm_default_step_options();
    options.step = ITM_SCENE_STEP;
    ItmData *first = NULL, *second = NULL;
    ItmError error = {0};
    CHECK_OK(itm_data_create(&first, m, &options, &error), &error);
    CHECK_OK(itm_data_create(&second, m, &options, &error), &error);
    CHECK_OK(itm_data_set_threads(m, first, nthread), itm_data_get_error(first));
    CHECK_OK(itm_data_set_threads(m, second, 1 + nthread % 3), itm_data_get_error(second));
    Outcome out = {.size = itm_data_get_state_size(m, first)};
    out.bytes = malloc(out.size);
    assert_non_null(out.bytes);
    for (int i = 0; i < nstep; i++) {
        ItmData* d = i < nstep / 2 ? first : second;
        CHECK_OK(itm_step(m, d), itm_data_get_error(d));
        if (i + 1 == nstep / 2 || i + 1 == nstep) {
            CHECK_OK(itm_data_save(m, d, out.bytes, out.size), itm_data_get_error(d));
        }
        if (i + 1 == nstep / 2) {
            CHECK_OK(itm_data_restore(m, second, out.bytes, out.size), itm_data_get_error(second));
        }
    }
    out.info = itm_data_get_step_info(second);
    itm_data_destroy(first);
    itm_data_destroy(second);
    return out;
}

static void expect_same_steps(const char* name, ItmModel* m, int nstep)
{
    Outcome alone = run_steps(m, 1, nstep);
    assert_true(alone.info.nisland > 1);
    for (int nthread = 2; nthread <= 4; nthread++) {
        CHECK_CASE("%s, %d threads", name, nthread);
        Outcome shared = run_steps(m, nthread, nstep);
        assert_int_equal(shared.size, alone.size);
        assert_memory_equal(shared.bytes, alone.bytes, alone.size);
        assert_int_equal(shared.info.solver_iterations, alone.info.solver_iterations);
        assert_int_equal(shared.info.fallbacks, alone.info.fallbacks);
        assert_int_equal(shared.info.unsolved, alone.info.unsolved);
        assert_true(shared.info.solver_residual == alone.info.solver_residual);
        free(shared.bytes);
    }
    free(alone.bytes);
    itm_model_destroy(m);
}

static void threads_share_a_step_and_change_no_bit(void** state)
{
    (void)state;
    ItmError error = {0};
    ItmModel *boxes = NULL, *spheres = NULL;
    CHECK_OK(itm_pile_build(&boxes, 125, false, &error), &error);
    CHECK_OK(itm_pile_build(&spheres, 125, true, &error), &error);
    expect_same_steps("boxes", boxes, 60);
    expect_same_steps("spheres", spheres, 160);
    expect_same_steps("mixed, absolute coordinates", build_mixed(ITM_COORDINATES_ABSOLUTE, 125), 120);
    expect_same_steps("mixed, joint coordinates", build_mixed(ITM_COORDINATES_JOINT, 125), 120);
}

// Two piles in one system: their steps are jobs of the pool that their islands would use. One pile in a system: its islands use it.
static void a_system_shares_its_threads_with_its_mechanisms(void** state)
{
    (void)state;
    ItmError error = {0};
    ItmModel* m = NULL;
    CHECK_OK(itm_pile_build(&m, 64, false, &error), &error);
    for (int nmechanism = 1; nmechanism <= 2; nmechanism++) {
        char* bytes[2] = {NULL, NULL};
        size_t size = 0;
        for (int k = 0; k < 2; k++) {
            CHECK_CASE("%d mechanisms, %d threads", nmechanism, 1 + 2 * k);
            ItmCosimBuilder* b = NULL;
            ItmCosim* x = NULL;
            ItmCosimOptions options = itm_default_cosim_options();
            options.macro_step = 4e-3;
            options.nthread = 1 + 2 * k;
            ItmStepOptions step = itm_default_step_options();
            step.step = 2e-3;
            CHECK_OK(itm_cosim_builder_create(&b, &error), &error);
            for (int i = 0; i < nmechanism; i++) {
                CHECK_OK(itm_cosim_builder_add_mechanism(b, i == 0 ? "left" : "right", m, &step, NULL, &error), &error);
            }
            CHECK_OK(itm_cosim_build(&x, b, &options, &error), &error);
            for (int i = 0; i < 20; i++) {
                CHECK_OK(itm_cosim_step(x), itm_cosim_get_error(x));
            }
            size = itm_cosim_get_state_size(x);
            bytes[k] = malloc(size);
            assert_non_null(bytes[k]);
            CHECK_OK(itm_cosim_save(x, bytes[k], size), itm_cosim_get_error(x));
            itm_cosim_destroy(x);
            itm_cosim_builder_destroy(b);
        }
        assert_memory_equal(bytes[0], bytes[1], size);
        free(bytes[0]);
        free(bytes[1]);
    }
    itm_model_destroy(m);
}

// An island that has no solution within its capacity or is not finite fails the step the same way for any number of threads.
static void the_error_of_a_step_does_not_depend_on_threads(void** state)
{
    (void)state;
    ItmError error = {0};
    ItmModel* m = NULL;
    CHECK_OK(itm_pile_build(&m, 64, false, &error), &error);
    ItmModelInfo info = itm_model_get_info(m);
    double* v = calloc((size_t)info.nv, sizeof *v);
    assert_non_null(v);
    char message[sizeof error.message] = "";
    for (int nthread = 1; nthread <= 4; nthread++) {
        ItmData* d = NULL;
        CHECK_OK(itm_data_create(&d, m, NULL, &error), &error);
        CHECK_OK(itm_data_set_threads(m, d, nthread), itm_data_get_error(d));
        for (int i = 0; i < 3; i++) {
            v[6 * (10 + i)] = 1e300;
        }
        CHECK_OK(itm_data_set_qv(m, d, itm_data_get_q(d), v), itm_data_get_error(d));
        assert_int_not_equal(itm_step(m, d), ITM_OK);
        if (nthread == 1) {
            snprintf(message, sizeof message, "%s", itm_data_get_error(d)->message);
        }
        assert_string_equal(itm_data_get_error(d)->message, message);
        itm_data_destroy(d);
    }
    free(v);
    itm_model_destroy(m);
}

static void numbers_of_threads_that_cannot_be_are_refused(void** state)
{
    (void)state;
    ItmError error = {0};
    ItmModel* m = NULL;
    ItmData* d = NULL;
    CHECK_OK(itm_pile_build(&m, 8, false, &error), &error);
    CHECK_OK(itm_data_create(&d, m, NULL, &error), &error);
    assert_int_equal(itm_data_set_threads(m, d, 0), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_data_set_threads(m, d, 257), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_data_set_threads(NULL, d, 2), ITM_ERR_ARGUMENT);
    CHECK_OK(itm_data_set_threads(m, d, 3), itm_data_get_error(d));
    CHECK_OK(itm_data_set_threads(m, d, 2), itm_data_get_error(d));
    CHECK_OK(itm_step(m, d), itm_data_get_error(d));
    CHECK_OK(itm_data_set_threads(m, d, 1), itm_data_get_error(d));
    CHECK_OK(itm_step(m, d), itm_data_get_error(d));
    itm_data_destroy(d);
    itm_model_destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_objects_share_a_model),
        cmocka_unit_test(systems_share_circuits_and_mechanisms),
        cmocka_unit_test(systems_with_threads_of_their_own_share_too),
        cmocka_unit_test(threads_share_a_step_and_change_no_bit),
        cmocka_unit_test(a_system_shares_its_threads_with_its_mechanisms),
        cmocka_unit_test(the_error_of_a_step_does_not_depend_on_threads),
        cmocka_unit_test(numbers_of_threads_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
