// A model that runs and is looked at by the tests of laws.
#ifndef ITM_TESTS_RUN_H
#define ITM_TESTS_RUN_H

#include "check.h"

#include "interim/interim.h"
#include "scenes/scenes.h"

static const ItmCoordinates COORDINATES[2] = {ITM_COORDINATES_ABSOLUTE, ITM_COORDINATES_JOINT};
// the same for a model file
static const char* const SET_COORDINATES[2] = {"multibody.coordinates=absolute", "multibody.coordinates=joint"};

typedef struct {
    ItmModelFile* file;  // owns m; NULL: m is owned here
    ItmModel* m;
    ItmData* d;
    double* values;
} Run;

static inline Run start_run_with(ItmModel* m, const ItmStepOptions* options)
{
    ItmError error = {0};
    Run run = {.m = m};
    CHECK_OK(itm_data_create(&run.d, m, options, &error), &error);
    run.values = calloc((size_t)itm_model_get_output_count(m), sizeof(double));
    return run;
}

// The mechanism of an example, with overrides as of --set (n).
static inline Run start_example(const char* name, const char* const* overrides, int n, const ItmStepOptions* options)
{
    ItmError error = {0};
    ItmModelFile* file = NULL;
    CHECK_OK(itm_example_load(&file, name, overrides, n, &error), &error);
    Run run = start_run_with(file->model, options);
    run.file = file;
    return run;
}

static inline void advance(Run* run, int steps)
{
    for (int i = 0; i < steps; i++) {
        CHECK_OK(itm_step(run->m, run->d), itm_data_get_error(run->d));
    }
}

static inline double output(Run* run, const char* name)
{
    int i = itm_model_find_output(run->m, name);
    if (i == ITM_NONE) {
        fail_msg("there is no output '%s'", name);
    }
    assert_int_equal(itm_model_compute_outputs(run->m, run->d, run->values), ITM_OK);
    return run->values[i];
}

static inline void finish_run(Run* run)
{
    itm_data_destroy(run->d);
    if (run->file != NULL) {
        itm_file_destroy(run->file);
    } else {
        itm_model_destroy(run->m);
    }
    free(run->values);
}

#endif
