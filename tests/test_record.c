// The record of a run: what pictures are drawn from is in every result file, however long the run and whatever its columns.
#include "check.h"

#include "interim/interim.h"
#include "io/results.h"
#include "io/results_read.h"
#include "io/text.h"

#include <unistd.h>

// A ball of 1 kg that falls 0.5 m onto a floor and stays, an arm on a hinge with a spring, a block to look at.
static const char MODEL[] = "multibody:\n"
                            "  materials: {clay: {friction: 0.5, restitution: 0}}\n"
                            "  bodies:\n"
                            "    ball: {mass: 1 kg, shape: {sphere: 0.1, collide: true, material: clay}, position: [0, 0, 0.6]}\n"
                            "    arm: {mass: 2 kg, inertia: [0.1, 0.1, 0.1], com: [0.5, 0, 0], position: [3, 0, 2]}\n"
                            "  shapes:\n"
                            "    floor: {body: ground, plane: [0, 0, 1], material: clay}\n"
                            "    house: {body: ground, box: [1, 2, 3], position: [5, 0, 1.5], collide: false}\n"
                            "  joints:\n"
                            "    hinge: {type: revolute, bodies: [ground, arm], at: [3, 0, 2], axis: [0, 1, 0]}\n"
                            "  forces:\n"
                            "    spring: {type: spring, bodies: [ground, arm], at_a: [4, 0, 3], at_b: [4, 0, 2], stiffness: 100}\n"
                            "run: {duration: 1 s, step: 1 ms}\n";

// The model simulated for `steps` steps of 1 ms into a file, which is read back.
static ItmTable* simulate(const char* path, int steps)
{
    ItmError error = {0};
    ItmModelFile* file = NULL;
    ItmData* d = NULL;
    ItmResults* results = NULL;
    ItmTable* table = NULL;
    CHECK_OK(itm_file_parse(&file, MODEL, sizeof MODEL - 1, "model.yaml", NULL, 0, &error), &error);
    CHECK_OK(itm_data_create(&d, file->model, &file->run.step, &error), &error);
    CHECK_OK(itm_results_create_columns(&results, path, NULL, 0, "", "fall", &error), &error);
    CHECK_OK(itm_results_watch(results, file->model, d, "sub", &error), &error);
    CHECK_OK(itm_results_note_step(results, 0.0, &error), &error);
    for (int i = 0; i < steps; i++) {
        CHECK_OK(itm_step(file->model, d), itm_data_get_error(d));
        CHECK_OK(itm_results_note_step(results, itm_data_get_time(d), &error), &error);
    }
    CHECK_OK(itm_results_append(results, itm_data_get_time(d), &(double){0}, &error), &error);
    CHECK_OK(itm_results_add_number(results, "answer", 42.5, "J", "the \"answer\"", &error), &error);
    CHECK_OK(itm_results_close(results, ITM_VERDICT_FINISHED, NULL, &error), &error);
    CHECK_OK(itm_results_read(&table, path, &error), &error);
    itm_data_destroy(d);
    itm_file_destroy(file);
    return table;
}

static void drop(ItmTable* table, const char* path)
{
    itm_table_destroy(table);
    unlink(path);
    unlink("record.json");
}

static const double* times(const ItmTable* t)
{
    return t->record.arrays[ITM_MOTION_TIME].values;
}

// Height of a body's frame at a frame.
static double height(const ItmTable* t, long frame, int body)
{
    const ItmArray* pose = &t->record.arrays[ITM_MOTION_POSE];
    return (double)((const float*)pose->values)[(frame * pose->size[1] + body) * 7 + 2];
}

static void scene_says_what_the_machine_looks_like(void** state)
{
    (void)state;
    ItmTable* t = simulate("record.h5", 10);
    static const char* const WORDS[] = {
        "\"name\": \"sub.ball\"",        "\"mass\": 2, \"com\": [0.5,0,0]",  "\"kind\": \"sphere\", \"size\": [0.1]",
        "\"kind\": \"plane\"",           "\"collides\": false",              "\"kind\": \"box\", \"size\": [1,2,3]",
        "\"type\": \"revolute\"",        "\"kind\": \"spring\"",             "\"bodies\": [-1, 1]",
        "\"point_b\": [1,0,0]",          "\"name\": \"answer\"",             "the \\\"answer\\\"",
        "\"gravity\": [0, 0, -9.81"};
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        if (strstr(t->record.scene, WORDS[i]) == NULL) {
            fail_msg("the scene does not say %s: %s", WORDS[i], t->record.scene);
        }
    }
    drop(t, "record.h5");
}

static void frames_are_the_states_of_the_run(void** state)
{
    (void)state;
    ItmTable* t = simulate("record.h5", 100);
    assert_int_equal(t->record.arrays[ITM_MOTION_TIME].size[0], 101);
    for (long i = 0; i <= 100; i++) {
        double time = times(t)[i], h = 1e-3;
        CHECK_NEAR(time, (double)i * h, 1e-15);
        // semi-implicit Euler falls by g h^2 n (n + 1) / 2; a float has 24 bits
        CHECK_NEAR(height(t, i, 0), 0.6 - 9.81 * h * h * (double)(i * (i + 1)) / 2.0, 0.6 * 1e-7);
    }
    drop(t, "record.h5");
}

static void long_runs_keep_few_frames_and_their_last_state(void** state)
{
    (void)state;
    ItmTable* t = simulate("record.h5", 7001);
    const ItmArray* time = &t->record.arrays[ITM_MOTION_TIME];
    assert_in_range(time->size[0], 1500, 3000);
    CHECK_NEAR(times(t)[time->size[0] - 1], 7.001, 1e-12);
    for (long i = 1; i < time->size[0]; i++) {
        assert_true(times(t)[i] > times(t)[i - 1]);
        assert_true(times(t)[i] - times(t)[i - 1] < 0.0041);
    }
    drop(t, "record.h5");
}

static void contact_is_recorded_with_its_force_and_its_time(void** state)
{
    (void)state;
    ItmTable* t = simulate("record.h5", 1000);
    const ItmRecord* r = &t->record;
    assert_non_null(strstr(r->scene, "[\"sub.ball-shape\", \"sub.floor\"]"));
    // the last frame: one point below the ball, which carries its weight
    const int32_t* start = r->arrays[ITM_MOTION_CONTACT_START].values;
    long n = r->arrays[ITM_MOTION_TIME].size[0];
    assert_int_equal(start[n] - start[n - 1], 1);
    const float* contact = (const float*)r->arrays[ITM_MOTION_CONTACT].values + 6 * start[n - 1];
    CHECK_NEAR((double)contact[2], 0.0, 1e-6);
    CHECK_NEAR(fabs((double)contact[5]), 9.81, 1e-5);
    // it fell sqrt(2 * 0.5 / g) long, to a step, and rests since then
    const double* interval = r->arrays[ITM_MOTION_INTERVAL].values;
    assert_true(r->arrays[ITM_MOTION_INTERVAL].size[0] >= 1);
    CHECK_NEAR(interval[0], sqrt(2.0 * 0.5 / 9.81), 2e-3);
    long last = r->arrays[ITM_MOTION_INTERVAL].size[0] - 1;
    CHECK_NEAR(interval[2 * last + 1], 1.0, 1e-12);
    drop(t, "record.h5");
}

static void csv_and_hdf5_hold_the_same_record(void** state)
{
    (void)state;
    ItmTable *csv = simulate("record.csv", 500), *hdf5 = simulate("record.h5", 500);
    for (int i = 0; i < ITM_MOTION_COUNT; i++) {
        const ItmArray *a = &csv->record.arrays[i], *b = &hdf5->record.arrays[i];
        size_t bytes = itm_array_get_count(b) * itm_array_type_size(itm_motion_array_type((ItmMotionArray)i));
        assert_memory_equal(a->size, b->size, sizeof a->size);
        assert_memory_equal(a->values, b->values, bytes);
    }
    assert_non_null(strstr(csv->record.scene, "sub.ball-shape"));
    drop(csv, "record.csv");
    drop(hdf5, "record.h5");
}

static void broken_records_are_no_records(void** state)
{
    (void)state;
    ItmTable* t = simulate("record.h5", 20);
    ItmRecord* r = &t->record;
    assert_true(itm_record_is_valid(r));
    int32_t* start = r->arrays[ITM_MOTION_CONTACT_START].values;
    start[3] = 1000000;
    assert_false(itm_record_is_valid(r));
    start[3] = 0;
    ((float*)r->arrays[ITM_MOTION_POSE].values)[5] = NAN;
    assert_false(itm_record_is_valid(r));
    ((float*)r->arrays[ITM_MOTION_POSE].values)[5] = 0.0f;
    r->arrays[ITM_MOTION_CHANNEL].size[0] = 1;
    assert_false(itm_record_is_valid(r));
    drop(t, "record.h5");

    // a side file that lies about a shape, or whose data is no base64
    static const char* const DATA[] = {"[3], \"data\": \"eJwDAAAAAAE=\"", "[-1], \"data\": \"\"", "[9000000000], \"data\": \"\"",
                                       "[2], \"data\": \"!!!!\"", "2"};
    for (size_t i = 0; i < sizeof DATA / sizeof DATA[0]; i++) {
        FILE* out = fopen("record.csv", "w");
        fputs("time,x\n0,1\n", out);
        fclose(out);
        out = fopen("record.json", "w");
        fprintf(out, "{\"verdict\": \"finished\", \"scene\": {}, \"motion\": {\"time\": {\"type\": \"float64\", \"shape\": %s}}}", DATA[i]);
        fclose(out);
        ItmError error = {0};
        CHECK_OK(itm_results_read(&t, "record.csv", &error), &error);
        assert_null(t->record.scene);
        drop(t, "record.csv");
    }
}

// ---------------------------------------------------------------------------- text

static void base64_gives_bytes_back(void** state)
{
    (void)state;
    unsigned char bytes[300], back[300];
    for (int i = 0; i < 300; i++) {
        bytes[i] = (unsigned char)(i * i);
    }
    for (size_t n = 0; n < 300; n += 7) {
        for (int is_packed = 0; is_packed < 2; is_packed++) {
            ItmText text = {0};
            itm_text_add_base64(&text, bytes, n, is_packed);
            assert_true(itm_text_read_base64(back, n, text.chars, text.length, is_packed));
            assert_memory_equal(bytes, back, n);
            assert_false(itm_text_read_base64(back, n + 1, text.chars, text.length, is_packed));
            itm_text_free(&text);
        }
    }
    // RFC 4648, section 10
    ItmText text = {0};
    itm_text_add_base64(&text, "foobar", 6, false);
    itm_text_add_base64(&text, "foob", 4, false);
    assert_string_equal(text.chars, "Zm9vYmFyZm9vYg==");
    itm_text_free(&text);
}

static void escapes_leave_no_markup(void** state)
{
    (void)state;
    ItmText text = {0};
    itm_text_add_json(&text, "</script>\"\\\n\t\xc3\xa9");
    itm_text_add_html(&text, "<a href=\"x\">'&'</a>");
    assert_string_equal(text.chars, "\"\\u003c/script>\\\"\\\\\\u000a\\u0009\xc3\xa9\""
                                    "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
    itm_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scene_says_what_the_machine_looks_like),
        cmocka_unit_test(frames_are_the_states_of_the_run),
        cmocka_unit_test(long_runs_keep_few_frames_and_their_last_state),
        cmocka_unit_test(contact_is_recorded_with_its_force_and_its_time),
        cmocka_unit_test(csv_and_hdf5_hold_the_same_record),
        cmocka_unit_test(broken_records_are_no_records),
        cmocka_unit_test(base64_gives_bytes_back),
        cmocka_unit_test(escapes_leave_no_markup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
