// The record of a run: what pictures are drawn from is in every result file, however long the run and whatever its columns.
#include "check.h"

#include "interim/interim.h"
#include "io/results/results.h"
#include "io/results/results_read.h"
#include "io/text.h"

#include <unistd.h>

#include <libfyaml.h>

// A ball of 1 kg that falls 0.5 m onto a floor and stays, an arm on a hinge with a spring, a block to look at.
static const char MODEL[] =
    "multibody:\n"
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
    itm_results_table_destroy(table);
    unlink(path);
    unlink("record.json");
}

static const double* times(const ItmTable* t)
{
    return t->record->arrays[ITM_MOTION_TIME].values;
}

// Height of a body's frame at a frame.
static double height(const ItmTable* t, long frame, int body)
{
    const ItmArray* pose = &t->record->arrays[ITM_MOTION_POSE];
    return (double)((const float*)pose->values)[(frame * pose->size[1] + body) * 7 + 2];
}

static void scene_says_what_the_machine_looks_like(void** state)
{
    (void)state;
    ItmTable* t = simulate("record.h5", 10);
    static const char* const WORDS[] = {"\"name\": \"sub.ball\"",
                                        "\"mass\": 2, \"com\": [0.5,0,0]",
                                        "\"kind\": \"sphere\", \"size\": [0.1]",
                                        "\"kind\": \"plane\"",
                                        "\"collides\": false",
                                        "\"kind\": \"box\", \"size\": [1,2,3]",
                                        "\"type\": \"revolute\"",
                                        "\"kind\": \"spring\"",
                                        "\"bodies\": [-1, 1]",
                                        "\"point_b\": [1,0,0]",
                                        "\"name\": \"answer\"",
                                        "the \\\"answer\\\"",
                                        "\"gravity\": [0, 0, -9.81"};
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        if (strstr(t->record->scene, WORDS[i]) == NULL) {
            fail_msg("the scene does not say %s: %s", WORDS[i], t->record->scene);
        }
    }
    drop(t, "record.h5");
}

static void frames_are_the_states_of_the_run(void** state)
{
    (void)state;
    ItmTable* t = simulate("record.h5", 100);
    assert_int_equal(t->record->arrays[ITM_MOTION_TIME].size[0], 101);
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
    const ItmArray* time = &t->record->arrays[ITM_MOTION_TIME];
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
    const ItmRecord* r = t->record;
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
        const ItmArray *a = &csv->record->arrays[i], *b = &hdf5->record->arrays[i];
        size_t bytes =
            itm_record_array_get_count(b) * itm_record_array_type_size(itm_record_motion_type((ItmMotionArray)i));
        assert_memory_equal(a->size, b->size, sizeof a->size);
        assert_memory_equal(a->values, b->values, bytes);
    }
    assert_non_null(strstr(csv->record->scene, "sub.ball-shape"));
    drop(csv, "record.csv");
    drop(hdf5, "record.h5");
}

// A system of one mechanism, run as a whole with all its outputs, and read back.
static ItmTable* run_system(const char* model, double duration)
{
    ItmError error = {0};
    ItmModelFile* file = NULL;
    ItmCosim* cosim = NULL;
    ItmResults* results = NULL;
    ItmTable* table = NULL;
    CHECK_OK(itm_file_parse(&file, model, strlen(model), "model.yaml", NULL, 0, &error), &error);
    CHECK_OK(itm_file_create_cosim(&cosim, file, NULL, &error), &error);
    int n = itm_cosim_get_output_count(cosim);
    ItmOutputInfo columns[200];
    double values[200];
    assert_in_range(n, 1, 200);
    for (int i = 0; i < n; i++) {
        columns[i] = itm_cosim_get_output_info(cosim, i);
    }
    CHECK_OK(itm_results_create_columns(&results, "record.h5", columns, n, "", "system", &error), &error);
    CHECK_OK(itm_results_watch(results, itm_cosim_get_model(cosim, 0), itm_cosim_get_data(cosim, 0), "", &error),
             &error);
    CHECK_OK(itm_results_watch_interfaces(results, cosim, &error), &error);
    CHECK_OK(itm_results_note_step(results, 0.0, &error), &error);
    while (itm_cosim_get_time(cosim) < duration - 1e-9) {
        CHECK_OK(itm_cosim_step(cosim), itm_cosim_get_error(cosim));
        CHECK_OK(itm_results_note_step(results, itm_cosim_get_time(cosim), &error), &error);
    }
    CHECK_OK(itm_cosim_compute_outputs(cosim, values), itm_cosim_get_error(cosim));
    CHECK_OK(itm_results_append(results, itm_cosim_get_time(cosim), values, &error), &error);
    CHECK_OK(itm_results_close(results, ITM_VERDICT_FINISHED, NULL, &error), &error);
    CHECK_OK(itm_results_read(&table, "record.h5", &error), &error);
    itm_cosim_destroy(cosim);
    itm_file_destroy(file);
    return table;
}

// Value of an output in the last row.
static double last(const ItmTable* t, const char* name)
{
    int column = itm_results_table_find(t, name);
    assert_int_not_equal(column, ITM_NONE);
    return itm_results_table_get(t, t->nrow - 1, column);
}

// The list of numbers behind a key of a node of the scene.
static double number_at(struct fy_node* list, int index)
{
    return strtod(fy_node_get_scalar0(fy_node_sequence_get_by_index(list, index)), NULL);
}

// What a page draws, modes times shapes, is what the outputs say of the same point.
static void modes_and_shapes_give_the_deflection(void** state)
{
    (void)state;
    ItmTable* t = run_system("multibody:\n"
                             "  bodies:\n"
                             "    blade:\n"
                             "      flexible:\n"
                             "        beam: {length: 1 m, section: {rectangle: [30 mm, 5 mm]}, modes: {z: 3, y: 1}}\n"
                             "        points: {middle: [0.5, 0, 0], tip: [1, 0, 0]}\n"
                             "        stiffening: false\n"
                             "  joints: {wall: {type: fixed, bodies: [ground, blade]}}\n"
                             "run: {duration: 1 s, step: 1 ms}\n",
                             0.123);
    struct fy_parse_cfg config = {.flags = FYPCF_QUIET | FYPCF_JSON_FORCE};
    struct fy_document* scene = fy_document_build_from_string(&config, t->record->scene, FY_NT);
    struct fy_node* blade = fy_node_by_path(fy_document_root(scene), "/flexible/0", FY_NT, FYNWF_DONT_FOLLOW);
    assert_non_null(blade);
    struct fy_node* points = fy_node_mapping_lookup_by_string(blade, "points", FY_NT);
    struct fy_node* shapes = fy_node_mapping_lookup_by_string(blade, "modes", FY_NT);
    CHECK_NEAR(number_at(fy_node_mapping_lookup_by_string(blade, "section", FY_NT), 1), 5e-3, 0.0);
    const ItmArray* mode = &t->record->arrays[ITM_MOTION_MODE];
    assert_int_equal(mode->size[1], 4);
    assert_int_equal(fy_node_sequence_item_count(shapes), 4);
    const float* eta = (const float*)mode->values + (mode->size[0] - 1) * mode->size[1];
    int npoint = fy_node_sequence_item_count(points) / 3;
    const int places[2] = {(npoint - 1) / 2, npoint - 1};
    const char* const names[2] = {"blade.middle.deflection.z", "blade.tip.deflection.z"};
    for (int i = 0; i < 2; i++) {
        double u = 0.0;
        for (int k = 0; k < 4; k++) {
            u += (double)eta[k] * number_at(fy_node_sequence_get_by_index(shapes, k), 6 * places[i] + 2);
        }
        assert_true(fabs(last(t, names[i])) > 1e-3);
        // five digits of the shapes
        CHECK_NEAR(u, last(t, names[i]), 1e-4 * fabs(last(t, "blade.tip.deflection.z")));
    }
    fy_document_destroy(scene);
    drop(t, "record.h5");
}

// A ball of 2 kg that spins about z, held at a point beside its centre: W = 1/m + (r^2 - r r') / J.
static void mobility_at_an_interface_follows_the_body(void** state)
{
    (void)state;
    ItmTable* t = run_system("multibody:\n"
                             "  gravity: [0, 0, 0]\n"
                             "  bodies:\n"
                             "    ball: {mass: 2 kg, inertia: [0.5, 0.5, 0.5], angular_velocity: [0, 0, 3]}\n"
                             "  interfaces:\n"
                             "    side: {body: ball, point: [0.4, 0, 0]}\n"
                             "    flat: {body: ball, directions: [tx, ty]}\n"
                             "run: {duration: 1 s, step: 10 ms}\n",
                             0.5);
    const ItmArray* W = &t->record->arrays[ITM_MOTION_MOBILITY];
    assert_int_equal(W->size[0], 51);
    assert_int_equal(W->size[1], 2);
    assert_non_null(
        strstr(t->record->scene, "\"name\": \"side\", \"kind\": \"frame\", \"body\": 0, \"point\": [0.4,0,0]"));
    assert_non_null(strstr(t->record->scene, "\"directions\": [\"tx\", \"ty\"], \"bond\": \"\""));
    for (long i = 0; i < 51; i += 25) {
        const float* w = (const float*)W->values + i * 12;
        double angle = 3.0 * times(t)[i], x = 0.4 * cos(angle), y = 0.4 * sin(angle), m = 2.0, J = 0.5;
        const double wanted[12] = {1.0 / m + y * y / J,
                                   1.0 / m + x * x / J,
                                   1.0 / m + 0.16 / J,
                                   -x * y / J,
                                   0,
                                   0,
                                   1.0 / m,
                                   1.0 / m,
                                   0,
                                   0,
                                   0,
                                   0};
        for (int k = 0; k < 12; k++) {
            CHECK_NEAR((double)w[k], wanted[k], 1e-6);  // floats
        }
    }
    drop(t, "record.h5");
}

// A ball joint with play settles at its bottom: one contact, of the joint with itself, carries the weight.
static void loose_joints_touch_like_shapes(void** state)
{
    (void)state;
    ItmTable* t = run_system("multibody:\n"
                             "  bodies: {bob: {mass: 3 kg, inertia: [1, 1, 1]}}\n"
                             "  joints: {pivot: {type: spherical, bodies: [ground, bob], clearance: 1 mm}}\n"
                             "run: {duration: 1 s, step: 1 ms}\n",
                             0.5);
    const ItmRecord* r = t->record;
    assert_non_null(strstr(r->scene, "[\"pivot\"]"));
    const int32_t* start = r->arrays[ITM_MOTION_CONTACT_START].values;
    long n = r->arrays[ITM_MOTION_TIME].size[0];
    assert_int_equal(start[n] - start[n - 1], 1);
    const float* contact = (const float*)r->arrays[ITM_MOTION_CONTACT].values + 6 * start[n - 1];
    CHECK_NEAR((double)contact[5], 3.0 * 9.81, 1e-4);
    // it fell 1 mm: sqrt(2 * 1e-3 / g), to two steps
    CHECK_NEAR(((const double*)r->arrays[ITM_MOTION_INTERVAL].values)[0], sqrt(2e-3 / 9.81), 2e-3);
    drop(t, "record.h5");
}

static void broken_records_are_no_records(void** state)
{
    (void)state;
    ItmTable* t = simulate("record.h5", 20);
    ItmRecord* r = t->record;
    assert_true(itm_record_is_valid(r));
    int32_t* start = r->arrays[ITM_MOTION_CONTACT_START].values;
    start[3] = 1000000;
    assert_false(itm_record_is_valid(r));
    start[3] = 0;
    ((float*)r->arrays[ITM_MOTION_POSE].values)[5] = NAN;
    assert_false(itm_record_is_valid(r));
    ((float*)r->arrays[ITM_MOTION_POSE].values)[5] = 0.0f;
    long nframe = r->arrays[ITM_MOTION_TIME].size[0];
    for (int i = 0; i < 3; i++) {
        ItmArray* array = &r->arrays[(ItmMotionArray[]){ITM_MOTION_CHANNEL, ITM_MOTION_MODE, ITM_MOTION_MOBILITY}[i]];
        assert_true(itm_record_is_valid(r));
        array->size[0] = 1;
        assert_false(itm_record_is_valid(r));
        array->size[0] = nframe;
    }
    drop(t, "record.h5");

    // a side file that lies about a shape, or whose data is no base64
    static const char* const DATA[] = {"[3], \"data\": \"eJwDAAAAAAE=\"", "[-1], \"data\": \"\"",
                                       "[9000000000], \"data\": \"\"", "[2], \"data\": \"!!!!\"", "2"};
    for (size_t i = 0; i < sizeof DATA / sizeof DATA[0]; i++) {
        FILE* out = fopen("record.csv", "w");
        fputs("time,x\n0,1\n", out);
        fclose(out);
        out = fopen("record.json", "w");
        fprintf(out,
                "{\"verdict\": \"finished\", \"scene\": {}, \"motion\": {\"time\": {\"type\": \"float64\", \"shape\": "
                "%s}}}",
                DATA[i]);
        fclose(out);
        ItmError error = {0};
        CHECK_OK(itm_results_read(&t, "record.csv", &error), &error);
        assert_null(t->record);
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
            assert_int_equal(itm_text_read_base64(back, n, text.chars, text.length, is_packed), ITM_OK);
            assert_memory_equal(bytes, back, n);
            assert_int_equal(itm_text_read_base64(back, n + 1, text.chars, text.length, is_packed), ITM_ERR_INPUT);
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
        cmocka_unit_test(modes_and_shapes_give_the_deflection),
        cmocka_unit_test(mobility_at_an_interface_follows_the_body),
        cmocka_unit_test(loose_joints_touch_like_shapes),
        cmocka_unit_test(broken_records_are_no_records),
        cmocka_unit_test(base64_gives_bytes_back),
        cmocka_unit_test(escapes_leave_no_markup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
