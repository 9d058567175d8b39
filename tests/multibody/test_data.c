// Contracts of a running instance: no allocation, same bits, checkpoints, honest failures.
#include "allocations.h"
#include "check.h"

#include "interim/interim.h"
#include "multibody/bounded.h"
#include "scenes/scenes.h"

// ---------------------------------------------------------------------------- helpers

// Of an example in absolute (0) or joint coordinates (1); the caller destroys the file.
static ItmModelFile* load(const char* name, int coordinates)
{
    const char* override =
        coordinates == ITM_COORDINATES_ABSOLUTE ? "multibody.coordinates=absolute" : "multibody.coordinates=joint";
    ItmModelFile* file = NULL;
    ItmError error = {0};
    CHECK_OK(itm_example_load(&file, name, &override, 1, &error), &error);
    return file;
}

static ItmData* create(const ItmModel* m, ItmStepper stepper)
{
    ItmData* d = NULL;
    ItmError error = {0};
    ItmStepOptions options = itm_default_step_options();
    options.stepper = stepper;
    options.step = 2e-3;
    CHECK_OK(itm_data_create(&d, m, &options, &error), &error);
    return d;
}

static void advance(const ItmModel* m, ItmData* d, int steps)
{
    for (int i = 0; i < steps; i++) {
        CHECK_OK(itm_step(m, d), itm_data_get_error(d));
    }
}

// ---------------------------------------------------------------------------- tests

static void stepping_allocates_nothing(void** state)
{
    (void)state;
    for (int stepper = 0; stepper < ITM_STEPPER_COUNT; stepper++) {
        // SUNDIALS allocates
        for (int c = stepper == ITM_STEPPER_REFERENCE ? 2 : 0; c < 2; c++) {
            ItmModelFile* file = load("bricard", c);
            ItmModel* m = file->model;
            ItmData* d = create(m, (ItmStepper)stepper);
            double* values = calloc((size_t)itm_model_get_output_count(m), sizeof(double));
            assert_true(allocations > 0);  // the counter is alive
            long before = allocations;
            advance(m, d, 20);
            itm_model_compute_outputs(m, d, values);
            assert_int_equal(allocations, before);
            free(values);
            itm_data_destroy(d);
            itm_file_destroy(file);
        }
    }
}

static void stepping_with_contact_allocates_nothing(void** state)
{
    (void)state;
    // single bricks are solved densely, a wall by sweeps; by one thread and by three
    for (int i = 0; i < 4; i++) {
        ItmModel* m = NULL;
        ItmError error = {0};
        CHECK_OK(i % 2 == 0 ? itm_floor_build(&m, 10, &error) : itm_wall_build(&m, 50, &error), &error);
        ItmData* d = create(m, ITM_STEPPER_EULER);
        CHECK_OK(itm_data_set_threads(m, d, i < 2 ? 1 : 3), itm_data_get_error(d));
        long before = allocations;
        advance(m, d, 20);
        assert_true(itm_data_get_step_info(d).ncontact > 0);
        assert_int_equal(allocations, before);
        itm_data_destroy(d);
        itm_model_destroy(m);
    }
}

// Also of the adaptive one, which makes two halves: it starts from the second.
static void next_step_starts_from_the_impulses_of_the_last(void** state)
{
    (void)state;
    const ItmStepper steppers[] = {ITM_STEPPER_EULER, ITM_STEPPER_ADAPTIVE};
    for (int i = 0; i < 2; i++) {
        ItmModelFile* file = load("rolling", ITM_COORDINATES_JOINT);
        ItmData* d = create(file->model, steppers[i]);
        int nfound = 0;
        for (int k = 0; k < 300; k++) {
            advance(file->model, d, 1);
            ItmBounded* b = d->bounded;
            itm_row_memory_rewind(&b->memory);
            for (int row = 0; row < b->nrow; row++) {
                const ItmRowRecord* record = itm_row_memory_find(&b->memory, b->rows[row].key);
                assert_non_null(record);
                CHECK_NEAR(record->x, b->x[row], 0.0);
                nfound += record->x > 0.0;
            }
        }
        assert_true(nfound > 100);
        itm_data_destroy(d);
        itm_file_destroy(file);
    }
}

static void stepping_loose_joints_allocates_nothing(void** state)
{
    (void)state;
    const ItmStepper steppers[] = {ITM_STEPPER_EULER, ITM_STEPPER_VARIABLE, ITM_STEPPER_ADAPTIVE};
    for (int i = 0; i < 3; i++) {
        ItmModel* m = NULL;
        ItmError error = {0};
        CHECK_OK(itm_clearance_chain_build(&m, ITM_COORDINATES_JOINT, 3, 1e-3, &error), &error);
        ItmData* d = create(m, steppers[i]);
        double* values = calloc((size_t)itm_model_get_output_count(m), sizeof(double));
        long before = allocations;
        advance(m, d, 50);
        itm_model_compute_outputs(m, d, values);
        assert_int_equal(allocations, before);
        free(values);
        itm_data_destroy(d);
        itm_model_destroy(m);
    }
}

// Also where rows are switched on and off: the hand of this example takes hold at 1.2 s.
static void stepping_over_events_allocates_nothing(void** state)
{
    (void)state;
    ItmModelFile* file = NULL;
    ItmError error = {0};
    CHECK_OK(itm_example_load(&file, "pick-and-place", NULL, 0, &error), &error);
    ItmData* d = create(file->model, ITM_STEPPER_EULER);
    int hand = itm_latch_find(file->model, "grasp-hand-box");
    long before = allocations;
    advance(file->model, d, 599);
    assert_false(itm_latch_is_closed(file->model, d, hand));
    advance(file->model, d, 2);
    assert_true(itm_latch_is_closed(file->model, d, hand));
    assert_int_equal(allocations, before);
    itm_data_destroy(d);
    itm_file_destroy(file);
}

static void restored_state_continues_with_identical_bits(void** state)
{
    (void)state;
    for (int stepper = 0; stepper < ITM_STEPPER_COUNT; stepper++) {
        ItmModelFile* file = load("bricard", ITM_COORDINATES_ABSOLUTE);
        ItmModel* m = file->model;
        ItmData *d = create(m, (ItmStepper)stepper), *other = create(m, (ItmStepper)stepper);
        int nout = itm_model_get_output_count(m);
        double* expected = calloc((size_t)nout, sizeof(double));
        double* got = calloc((size_t)nout, sizeof(double));
        size_t size = itm_data_get_state_size(m, d);
        void* bytes = malloc(size);
        advance(m, d, 25);
        CHECK_OK(itm_data_save(m, d, bytes, size), itm_data_get_error(d));
        // looking at a running simulation must not change it
        itm_model_compute_outputs(m, d, got);
        advance(m, d, 25);
        itm_model_compute_outputs(m, d, expected);

        CHECK_OK(itm_data_restore(m, other, bytes, size), itm_data_get_error(other));
        advance(m, other, 25);
        itm_model_compute_outputs(m, other, got);
        assert_memory_equal(itm_data_get_q(d), itm_data_get_q(other),
                            sizeof(double) * (size_t)itm_model_get_info(m).nq);
        assert_memory_equal(itm_data_get_v(d), itm_data_get_v(other),
                            sizeof(double) * (size_t)itm_model_get_info(m).nv);
        assert_memory_equal(expected, got, sizeof(double) * (size_t)nout);
        assert_int_equal(itm_data_restore(m, other, bytes, size - 1), ITM_ERR_ARGUMENT);

        free(bytes);
        free(expected);
        free(got);
        itm_data_destroy(d);
        itm_data_destroy(other);
        itm_file_destroy(file);
    }
}

static void two_runs_and_a_reset_give_the_same_bits(void** state)
{
    (void)state;
    ItmModelFile* file = load("bricard", ITM_COORDINATES_JOINT);
    ItmModel* m = file->model;
    ItmData *a = create(m, ITM_STEPPER_EULER), *b = create(m, ITM_STEPPER_EULER);
    size_t nq = sizeof(double) * (size_t)itm_model_get_info(m).nq;
    advance(m, a, 100);
    advance(m, b, 30);
    itm_reset(m, b);
    CHECK_NEAR(itm_data_get_time(b), 0.0, 0.0);
    advance(m, b, 100);
    assert_memory_equal(itm_data_get_q(a), itm_data_get_q(b), nq);
    CHECK_NEAR(itm_data_get_time(a), 0.2, 1e-16);
    itm_data_destroy(a);
    itm_data_destroy(b);
    itm_file_destroy(file);
}

static void failed_step_leaves_the_state_and_names_the_body(void** state)
{
    (void)state;
    ItmModelFile* file = load("pendulum", ITM_COORDINATES_ABSOLUTE);
    ItmModel* m = file->model;
    ItmData* d = create(m, ITM_STEPPER_EULER);
    ItmModelInfo info = itm_model_get_info(m);
    double* q = malloc(sizeof(double) * (size_t)info.nq);
    double* v = malloc(sizeof(double) * (size_t)info.nv);
    memcpy(q, itm_data_get_q(d), sizeof(double) * (size_t)info.nq);
    for (int i = 0; i < info.nv; i++) {
        v[i] = 1e200;  // its square, in the centrifugal forces, overflows
    }
    CHECK_OK(itm_data_set_qv(m, d, q, v), itm_data_get_error(d));
    assert_int_equal(itm_step(m, d), ITM_ERR_NOT_FINITE);
    assert_non_null(strstr(itm_data_get_error(d)->message, "rod"));
    assert_memory_equal(itm_data_get_v(d), v, sizeof(double) * (size_t)info.nv);
    CHECK_NEAR(itm_data_get_time(d), 0.0, 0.0);
    v[0] = NAN;
    assert_int_equal(itm_data_set_qv(m, d, q, v), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_data_set_actuator_force(m, d, 0, 1.0), ITM_ERR_ARGUMENT);
    free(q);
    free(v);
    itm_data_destroy(d);
    itm_file_destroy(file);
}

static void every_bad_option_is_refused_by_name(void** state)
{
    (void)state;
    ItmModelFile* file = load("bricard", ITM_COORDINATES_JOINT);
    ItmModel* m = file->model;
    const char* const fields[] = {"stepper",        "step",    "tolerance", "gap_tolerance",
                                  "max_iterations", "penalty", "frequency", "damping_ratio"};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        ItmStepOptions o = itm_default_step_options();
        switch (i) {
        case 0:
            o.stepper = ITM_STEPPER_COUNT;
            break;
        case 1:
            o.step = 0.0;
            break;
        case 2:
            o.tolerance = NAN;
            break;
        case 3:
            o.gap_tolerance = -1.0;
            break;
        case 4:
            o.max_iterations = 0;
            break;
        case 5:
            o.penalty = -1.0;
            break;
        case 6:
            o.frequency = INFINITY;
            break;
        default:
            o.damping_ratio = -0.1;
            break;
        }
        ItmData* d = NULL;
        ItmError error = {0};
        assert_int_equal(itm_data_create(&d, m, &o, &error), ITM_ERR_INPUT);
        assert_null(d);
        assert_string_equal(error.field, fields[i]);
    }
    itm_file_destroy(file);
}

static void memory_grows_linearly_with_the_bodies(void** state)
{
    (void)state;
    for (int c = 0; c < 2; c++) {
        size_t bytes[3];
        for (int i = 0; i < 3; i++) {
            ItmModel* m = NULL;
            ItmError error = {0};
            CHECK_OK(itm_chain_build(&m, (ItmCoordinates)c, 100 << i, &error), &error);
            bytes[i] = itm_model_get_info(m).data_bytes;
            itm_model_destroy(m);
        }
        double growth = (double)(bytes[2] - bytes[1]) / (double)(bytes[1] - bytes[0]);
        CHECK_NEAR(growth, 2.0, 0.02);  // 64-byte alignment of some forty arrays
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stepping_allocates_nothing),
        cmocka_unit_test(stepping_with_contact_allocates_nothing),
        cmocka_unit_test(next_step_starts_from_the_impulses_of_the_last),
        cmocka_unit_test(stepping_loose_joints_allocates_nothing),
        cmocka_unit_test(stepping_over_events_allocates_nothing),
        cmocka_unit_test(restored_state_continues_with_identical_bits),
        cmocka_unit_test(two_runs_and_a_reset_give_the_same_bits),
        cmocka_unit_test(failed_step_leaves_the_state_and_names_the_body),
        cmocka_unit_test(every_bad_option_is_refused_by_name),
        cmocka_unit_test(memory_grows_linearly_with_the_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
