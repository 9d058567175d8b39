// Sharing between threads: compiled models, circuits and model files are read by many at once, and each gets the bits of one thread
// alone. The thread sanitizer runs this program (preset tsan).
#include "check.h"

#include "interim/interim.h"

#include <pthread.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_objects_share_a_model),
        cmocka_unit_test(systems_share_circuits_and_mechanisms),
        cmocka_unit_test(systems_with_threads_of_their_own_share_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
