// Checkpoints: a run that is killed at any time goes on bit for bit, and nothing is continued that does not belong together.
#define _DEFAULT_SOURCE  // usleep
#include "check.h"

#include "base/sha256.h"
#include "interim/interim.h"
#include "io/results/checkpoint.h"
#include "io/results/record.h"
#include "scenes/scenes.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[64];

static int make_directory(void** state)
{
    (void)state;
    // in memory where there is such a place: checkpoints wait for the disk
    snprintf(directory, sizeof directory, "/dev/shm/checkpoint-XXXXXX");
    if (mkdtemp(directory) != NULL) {
        return 0;
    }
    snprintf(directory, sizeof directory, "checkpoint-XXXXXX");
    return mkdtemp(directory) != NULL ? 0 : -1;
}

static int remove_directory(void** state)
{
    (void)state;
    return rmdir(directory);
}

static const char* path_of(const char* name)
{
    static char path[8][360];
    static int next = 0;
    next = (next + 1) % 8;
    snprintf(path[next], sizeof path[next], "%s/%s", directory, name);
    return path[next];
}

static bool exists(const char* name)
{
    return access(path_of(name), F_OK) == 0;
}

// All files of a case. A process that was killed while it wrote one may have left "run.part.json.part-PID".
static void remove_all(void)
{
    DIR* folder = opendir(directory);
    assert_non_null(folder);
    for (const struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        static const char* const NAMES[] = {"run.", "whole."};
        for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
            if (strncmp(entry->d_name, NAMES[i], strlen(NAMES[i])) == 0) {
                unlink(path_of(entry->d_name));
            }
        }
    }
    closedir(folder);
}

// ---------------------------------------------------------------------------- runs

typedef struct Machine {
    ItmModelFile* file;
    ItmCosim* cosim;
    ItmRun* run;
    ItmError error;
} Machine;

static Machine load(const char* example, const char* override)
{
    Machine x = {0};
    const char* overrides[] = {override};
    CHECK_OK(itm_example_load(&x.file, example, overrides, override != NULL, &x.error), &x.error);
    CHECK_OK(itm_file_create_cosim(&x.cosim, x.file, NULL, &x.error), &x.error);
    return x;
}

static void unload(Machine* x)
{
    itm_run_destroy(x->run);
    itm_cosim_destroy(x->cosim);
    itm_file_destroy(x->file);
}

static ItmRunOptions make_options(const Machine* x, const char* path, double duration, bool is_resumed)
{
    ItmRunOptions options = itm_default_run_options(x->file);
    options.duration = duration;
    options.path = path;
    options.checkpoint = path_of("run.checkpoint");
    options.checkpoint_interval = duration / 37.0;
    options.is_interval_simulated = true;
    options.is_resumed = is_resumed;
    return options;
}

static ItmStatus begin(Machine* x, const char* path, double duration, bool is_resumed)
{
    ItmRunOptions options = make_options(x, path, duration, is_resumed);
    return itm_run_create(&x->run, x->file, x->cosim, &options, &x->error);
}

static void run_whole(const char* example, const char* override, const char* path, double duration)
{
    Machine x = load(example, override);
    ItmRunOptions options = make_options(&x, path, duration, false);
    options.checkpoint = NULL;
    CHECK_OK(itm_run_create(&x.run, x.file, x.cosim, &options, &x.error), &x.error);
    CHECK_OK(itm_run_advance(x.run, INFINITY), itm_run_get_error(x.run));
    CHECK_OK(itm_run_close(x.run), itm_run_get_error(x.run));
    unload(&x);
}

// In a process of its own: the whole run, or as much of it as there is time for.
static _Noreturn void run_as_child(const char* example, const char* override, const char* path, double duration)
{
    Machine x = load(example, override);
    ItmStatus status = begin(&x, path, duration, true);
    while (status == ITM_OK && itm_run_get_info(x.run).verdict == ITM_VERDICT_RUNNING) {
        status = itm_run_advance(x.run, 0.0);
    }
    status = status == ITM_OK ? itm_run_close(x.run) : status;
    if (status != ITM_OK) {
        fprintf(stderr, "%s\n", x.run != NULL ? itm_run_get_error(x.run)->message : x.error.message);
    }
    _exit(status == ITM_OK ? 0 : 1);
}

static uint64_t random_state = 1;

static uint64_t draw(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state >> 33;
}

// Begin and continue it, and kill it at random times; at last it comes to its end. Returns the kills that hit.
static int run_with_kills(const char* example, const char* override, const char* path, double duration)
{
    for (int nkill = 0;; nkill++) {
        pid_t pid = fork();
        if (pid == 0) {
            run_as_child(example, override, path, duration);
        }
        // longer and longer, so that it ends
        int outcome = 0, left = (int)(1000 + draw() % (20000u << (nkill < 8 ? nkill : 8)));  // us
        bool is_over = false;
        for (; left > 0 && !is_over; left -= 500) {
            usleep(500);
            is_over = waitpid(pid, &outcome, WNOHANG) == pid;
        }
        if (!is_over) {
            kill(pid, SIGKILL);
            waitpid(pid, &outcome, 0);
        }
        if (WIFEXITED(outcome)) {
            assert_int_equal(WEXITSTATUS(outcome), 0);
            return nkill;
        }
    }
}

// ---------------------------------------------------------------------------- comparing

static void check_same_motion(const ItmRecord* a, const ItmRecord* b)
{
    for (int i = 0; i < ITM_MOTION_COUNT; i++) {
        CHECK_CASE("%s", itm_record_motion_name((ItmMotionArray)i));
        size_t count = itm_record_array_get_count(&a->arrays[i]);
        assert_int_equal(count, itm_record_array_get_count(&b->arrays[i]));
        size_t bytes = count * itm_record_array_type_size(itm_record_motion_type((ItmMotionArray)i));
        if (memcmp(a->arrays[i].values, b->arrays[i].values, bytes) != 0) {
            fail_msg("the motion differs%s", check_get_case());
        }
    }
}

static void check_same_results(const char* first, const char* second)
{
    ItmTable *a = NULL, *b = NULL;
    ItmError error = {0};
    CHECK_OK(itm_results_read(&a, first, &error), &error);
    CHECK_OK(itm_results_read(&b, second, &error), &error);
    assert_int_equal(a->nrow, b->nrow);
    assert_int_equal(a->ncolumn, b->ncolumn);
    assert_memory_equal(a->values, b->values, sizeof(double) * (size_t)a->nrow * (size_t)a->ncolumn);
    assert_int_equal(a->verdict, b->verdict);
    assert_string_equal(a->reason, b->reason);
    assert_int_equal(a->record == NULL, b->record == NULL);
    if (a->record != NULL) {
        check_same_motion(a->record, b->record);
    }
    itm_results_table_destroy(a);
    itm_results_table_destroy(b);
}

// ---------------------------------------------------------------------------- tests

static void killed_runs_end_with_the_same_bits(void** state)
{
    (void)state;
    static const struct {
        const char *example, *override, *ending;
        double duration;
    } CASES[] = {
        {"log-crane", NULL, ".csv", 1.0},                        // circuit, control, interface model
        {"log-crane", NULL, ".h5", 1.0},                         //
        {"grasp", NULL, ".h5", 0.4},                             // contacts
        {"clearance-slider-crank", NULL, ".csv", 0.05},          // joints with clearance, variable steps
        {"bouncing-ball", "run.stepper=adaptive", ".csv", 0.5},  //
        {"flexible-mast", NULL, ".h5", 0.2},                     // modes
        {"crane-cut", NULL, ".csv", 0.3},                        // mechanisms connected at frames
    };
    int nkill = 0;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char whole[160], path[160];
        snprintf(whole, sizeof whole, "%s%s", path_of("whole"), CASES[i].ending);
        snprintf(path, sizeof path, "%s%s", path_of("run"), CASES[i].ending);
        run_whole(CASES[i].example, CASES[i].override, whole, CASES[i].duration);
        nkill += run_with_kills(CASES[i].example, CASES[i].override, path, CASES[i].duration);
        CHECK_CASE("%s", CASES[i].example);
        check_same_results(whole, path);
        assert_false(exists("run.checkpoint"));
        assert_false(exists("run.checkpoint.rows"));
        remove_all();
    }
    print_message("%d kills\n", nkill);
    assert_true(nkill >= 10);
}

// A run that a signal ends properly leaves results and a checkpoint; continued, it ends as if nothing had happened.
static void stopped_run_continues(void** state)
{
    (void)state;
    run_whole("crane-single", NULL, path_of("whole.csv"), 0.5);
    for (int i = 0; i < 4; i++) {
        Machine x = load("crane-single", NULL);
        CHECK_OK(begin(&x, path_of("run.csv"), 0.5, true), &x.error);
        assert_int_equal(isnan(itm_run_get_info(x.run).resumed_at), i == 0);
        for (int k = 0; k < 5 + 3 * i; k++) {  // off the spacing of rows
            CHECK_OK(itm_run_advance(x.run, 0.0), itm_run_get_error(x.run));
        }
        itm_run_stop(x.run, "a signal");
        CHECK_OK(itm_run_close(x.run), itm_run_get_error(x.run));
        assert_true(exists("run.csv"));
        assert_true(exists("run.checkpoint"));
        unload(&x);
    }
    Machine x = load("crane-single", NULL);
    CHECK_OK(begin(&x, path_of("run.csv"), 0.5, true), &x.error);
    CHECK_OK(itm_run_advance(x.run, INFINITY), itm_run_get_error(x.run));
    CHECK_OK(itm_run_close(x.run), itm_run_get_error(x.run));
    unload(&x);
    check_same_results(path_of("whole.csv"), path_of("run.csv"));
    assert_false(exists("run.checkpoint"));
    remove_all();
}

// A checkpoint of crane-single in the middle of its run, with the results so far.
static void leave_checkpoint(void)
{
    Machine x = load("crane-single", NULL);
    CHECK_OK(begin(&x, path_of("run.csv"), 0.5, false), &x.error);
    for (int k = 0; k < 20; k++) {
        CHECK_OK(itm_run_advance(x.run, 0.0), itm_run_get_error(x.run));
    }
    CHECK_OK(itm_run_close(x.run), itm_run_get_error(x.run));
    unload(&x);
}

static void check_refused(const char* override, double duration, bool is_resumed, ItmStatus status, const char* why)
{
    Machine x = load("crane-single", override);
    assert_int_equal(begin(&x, path_of("run.csv"), duration, is_resumed), status);
    assert_null(x.run);
    if (strstr(x.error.message, why) == NULL) {
        fail_msg("'%s' does not say '%s'", x.error.message, why);
    }
    unload(&x);
}

static char* read_all(const char* path, size_t* length)
{
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    char* bytes = calloc(1, 1 << 22);
    *length = fread(bytes, 1, 1 << 22, file);
    fclose(file);
    return bytes;
}

static void write_all(const char* path, const char* bytes, size_t length)
{
    FILE* file = fopen(path, "wb");
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

// Write a checkpoint with a valid digest, as a stranger would.
static void write_signed(char* bytes, size_t length)
{
    ItmSha256 sha;
    itm_sha256_init(&sha);
    itm_sha256_add(&sha, bytes, length - ITM_SHA256_BYTES);
    itm_sha256_get(&sha, (unsigned char*)bytes + length - ITM_SHA256_BYTES);
    write_all(path_of("run.checkpoint"), bytes, length);
}

static void other_runs_are_refused(void** state)
{
    (void)state;
    leave_checkpoint();
    size_t nresult;
    char* results = read_all(path_of("run.csv"), &nresult);
    check_refused(NULL, 0.5, false, ITM_ERR_INPUT, "of an unfinished run exists");
    check_refused("cosim.coupling=zoh", 0.5, true, ITM_ERR_INPUT, "belongs to another model");
    check_refused(NULL, 0.6, true, ITM_ERR_INPUT, "another duration");
    // another build
    size_t length;
    char* bytes = read_all(path_of("run.checkpoint"), &length);
    ItmCheckpointHead* head = (ItmCheckpointHead*)bytes;
    snprintf(head->commit, sizeof head->commit, "0123456789ab");
    write_signed(bytes, length);
    check_refused(NULL, 0.5, true, ITM_ERR_INPUT, "only the same build continues");
    free(bytes);
    // the results are still there
    size_t nnow;
    char* now = read_all(path_of("run.csv"), &nnow);
    assert_int_equal(nnow, nresult);
    assert_memory_equal(now, results, nresult);
    free(now);
    free(results);
    remove_all();
}

static void damage_is_noticed(void** state)
{
    (void)state;
    leave_checkpoint();
    size_t length, nrow_byte;
    char* bytes = read_all(path_of("run.checkpoint"), &length);
    char* rows = read_all(path_of("run.checkpoint.rows"), &nrow_byte);
    for (int i = 0; i < 40; i++) {
        CHECK_CASE("damage %d", i);
        size_t at = i < 20 ? (size_t)draw() % sizeof(ItmCheckpointHead) : (size_t)draw() % length;
        bytes[at] = (char)(bytes[at] ^ 1 << draw() % 8);
        ItmCheckpoint checkpoint;
        ItmError error = {0};
        assert_int_equal(itm_checkpoint_parse(&checkpoint, bytes, length, "x", &error), ITM_ERR_INPUT);
        free(bytes);
        bytes = read_all(path_of("run.checkpoint"), &length);
    }
    write_all(path_of("run.checkpoint"), bytes, length / 2);
    check_refused(NULL, 0.5, true, ITM_ERR_INPUT, "is damaged");
    write_all(path_of("run.checkpoint"), "time,x\n", 7);
    check_refused(NULL, 0.5, true, ITM_ERR_INPUT, "is not a checkpoint");
    write_all(path_of("run.checkpoint"), bytes, length);
    write_all(path_of("run.checkpoint.rows"), rows, nrow_byte / 3);
    check_refused(NULL, 0.5, true, ITM_ERR_INPUT, "rows of its checkpoint");
    rows[100] ^= 4;
    write_all(path_of("run.checkpoint.rows"), rows, nrow_byte);
    check_refused(NULL, 0.5, true, ITM_ERR_INPUT, "its rows are not those of the checkpoint");
    unlink(path_of("run.checkpoint.rows"));
    check_refused(NULL, 0.5, true, ITM_ERR_IO, "run.checkpoint.rows");
    free(bytes);
    free(rows);
    remove_all();
}

// A stranger can sign what he changed. A run at an infinite time would have no end.
static void states_of_strangers_have_their_time(void** state)
{
    (void)state;
    static const double TIMES[] = {INFINITY, -INFINITY, NAN, -1.0, 1e300};
    for (int i = 0; i < 5; i++) {
        leave_checkpoint();
        size_t length;
        char* bytes = read_all(path_of("run.checkpoint"), &length);
        ItmCheckpointHead* head = (ItmCheckpointHead*)bytes;
        double* values = (double*)(bytes + sizeof *head);
        for (int64_t k = 0; k < head->sizes[ITM_CHECKPOINT_STATE] / 8; k++) {
            values[k] = TIMES[i];
        }
        write_signed(bytes, length);
        check_refused(NULL, 0.5, true, ITM_ERR_INPUT, "not that of its time");
        free(bytes);
        remove_all();
    }
}

// ---------------------------------------------------------------------------- states that stay in their process

static void set_inputs(void* self, const double* u)
{
    (void)self;
    (void)u;
}

static void get_outputs(void* self, double* y)
{
    y[0] = *(double*)self;
}

static ItmStatus do_step(void* self, double t, double h, ItmError* error)
{
    (void)self;
    (void)t;
    (void)h;
    (void)error;
    return ITM_OK;
}

static void reset(void* self)
{
    *(double*)self = 0.0;
}

static void states_with_handles_are_refused(void** state)
{
    (void)state;
    static double memory;
    static const ItmOutputInfo OUTPUT = {"value", "1", "a value"};
    Machine x = {0};
    ItmCosimBuilder* builder = NULL;
    CHECK_OK(itm_example_load(&x.file, "crane-single", NULL, 0, &x.error), &x.error);
    CHECK_OK(itm_file_create_builder(&builder, x.file, &x.error), &x.error);
    ItmSubsystem table = {.self = &memory,
                          .noutput = 1,
                          .outputs = &OUTPUT,
                          .set_inputs = set_inputs,
                          .get_outputs = get_outputs,
                          .do_step = do_step,
                          .reset = reset,
                          .memory = &memory,
                          .memory_size = sizeof memory,
                          .is_state_local = true};
    CHECK_OK(itm_cosim_builder_add_subsystem(builder, "foreign", &table, 0.0, NULL, &x.error), &x.error);
    CHECK_OK(itm_file_build_cosim(&x.cosim, x.file, builder, NULL, &x.error), &x.error);
    assert_int_equal(begin(&x, path_of("run.csv"), 0.1, false), ITM_ERR_UNSUPPORTED);
    assert_non_null(strstr(x.error.message, "'foreign' cannot be kept in a file"));
    itm_cosim_builder_destroy(builder);
    unload(&x);
    remove_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(killed_runs_end_with_the_same_bits, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(stopped_run_continues, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(other_runs_are_refused, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(damage_is_noticed, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(states_of_strangers_have_their_time, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(states_with_handles_are_refused, make_directory, remove_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
