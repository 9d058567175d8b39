// Result files: what is written is read back bit for bit, and no failure costs rows or an older file.
#define _DEFAULT_SOURCE  // realpath
#include "check.h"

#include "io/results/hdf5.h"
#include "io/results/results.h"
#include "io/results/results_read.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <float.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char* const ENDINGS[] = {".csv", ".h5"};

static const ItmOutputInfo COLUMNS[] = {
    {"rod.position.x", "m", "position of the body frame's origin, world x"},
    {"rod.position.y", "m", "position with \"quotes\", back\\slash and\ttab"},
    {"energy.kinetic", "J", "kinetic energy, \xc2\xbd m v\xc2\xb2"},
};
#define NCOLUMN 3

// A fresh directory for one test; every test leaves it empty.
static char directory[64];

static int make_directory(void** state)
{
    (void)state;
    snprintf(directory, sizeof directory, "results-XXXXXX");
    return mkdtemp(directory) != NULL ? 0 : -1;
}

static int remove_directory(void** state)
{
    (void)state;
    return rmdir(directory);
}

static const char* path_of(const char* name, const char* ending)
{
    static char path[4][160];
    static int next = 0;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s%s", directory, name, ending);
    return path[next];
}

static bool exists(const char* path)
{
    return access(path, F_OK) == 0;
}

static void remove_results(const char* name, const char* ending)
{
    unlink(path_of(name, ending));
    unlink(path_of(name, ".json"));
}

static ItmResults* create(const char* path)
{
    ItmError error = {0};
    ItmResults* results = NULL;
    CHECK_OK(itm_results_create_columns(&results, path, COLUMNS, NCOLUMN, "arm", "A title", &error), &error);
    return results;
}

static void append(ItmResults* results, double time, double value)
{
    ItmError error = {0};
    CHECK_OK(itm_results_append(results, time, (double[]){value, -value, 2.0 * value}, &error), &error);
}

static void finish(ItmResults* results)
{
    ItmError error = {0};
    CHECK_OK(itm_results_close(results, ITM_VERDICT_FINISHED, NULL, &error), &error);
}

static ItmTable* read_back(const char* path)
{
    ItmError error = {0};
    ItmTable* table = NULL;
    CHECK_OK(itm_results_read(&table, path, &error), &error);
    return table;
}

// ---------------------------------------------------------------------------- round trips

static void assert_same_bits(double a, double b)
{
    if (isnan(a) && isnan(b)) {
        return;  // the payload of a NaN does not survive text
    }
    uint64_t bits_a = 0, bits_b = 0;
    memcpy(&bits_a, &a, sizeof a);
    memcpy(&bits_b, &b, sizeof b);
    assert_int_equal(bits_a, bits_b);
}

// Doubles of all sizes from a fixed generator, and the special ones.
static double nth_value(int n)
{
    static const double SPECIAL[] = {0.0,     -0.0,      1.0 / 3.0, 0.1,       DBL_MAX, -DBL_MAX,
                                     DBL_MIN, 4.94e-324, INFINITY,  -INFINITY, NAN,     -NAN};
    if (n < (int)(sizeof SPECIAL / sizeof SPECIAL[0])) {
        return SPECIAL[n];
    }
    uint64_t bits = (uint64_t)n * 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 29)) * 0xbf58476d1ce4e5b9u;
    bits ^= bits >> 32;
    double value = 0.0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void every_double_reads_back_bit_for_bit(void** state)
{
    (void)state;
    enum { NROW = 6000 };  // more than one block
    for (int e = 0; e < 2; e++) {
        const char* path = path_of("r", ENDINGS[e]);
        ItmResults* results = create(path);
        for (int i = 0; i < NROW; i++) {
            double row[NCOLUMN] = {nth_value(3 * i), nth_value(3 * i + 1), nth_value(3 * i + 2)};
            assert_int_equal(itm_results_append(results, 0.001 * i, row, NULL), ITM_OK);
        }
        finish(results);
        ItmTable* table = read_back(path);
        assert_int_equal(table->nrow, NROW);
        assert_int_equal(table->ncolumn, NCOLUMN + 1);
        for (int i = 0; i < NROW; i++) {
            assert_same_bits(itm_results_table_get(table, i, 0), 0.001 * i);
            for (int j = 0; j < NCOLUMN; j++) {
                assert_same_bits(itm_results_table_get(table, i, j + 1), nth_value(3 * i + j));
            }
        }
        itm_results_table_destroy(table);
        remove_results("r", ENDINGS[e]);
    }
}

static void description_verdict_and_reason_read_back(void** state)
{
    (void)state;
    for (int e = 0; e < 2; e++) {
        const char* path = path_of("r", ENDINGS[e]);
        ItmResults* results = create(path);
        append(results, 0.0, 1.0);
        const char* reason = "at 1.5 s: 'rod' is not finite";
        assert_int_equal(itm_results_close(results, ITM_VERDICT_BROKE_DOWN, reason, NULL), ITM_OK);
        ItmTable* table = read_back(path);
        assert_true(table->is_described);
        assert_string_equal(table->title, "A title");
        assert_string_equal(table->reason, reason);
        assert_int_equal(table->verdict, ITM_VERDICT_BROKE_DOWN);
        assert_string_equal(table->names[0], "time");
        assert_string_equal(table->units[0], "s");
        assert_string_equal(table->names[2], "arm.rod.position.y");
        assert_int_equal(itm_results_table_find(table, "arm.energy.kinetic"), 3);
        assert_int_equal(itm_results_table_find(table, "energy.kinetic"), ITM_NONE);
        for (int j = 0; j < NCOLUMN; j++) {
            assert_string_equal(table->units[j + 1], COLUMNS[j].unit);
            assert_string_equal(table->descriptions[j + 1], COLUMNS[j].description);
        }
        itm_results_table_destroy(table);
        remove_results("r", ENDINGS[e]);
    }
}

static void a_table_without_rows_is_valid(void** state)
{
    (void)state;
    for (int e = 0; e < 2; e++) {
        const char* path = path_of("r", ENDINGS[e]);
        finish(create(path));
        ItmTable* table = read_back(path);
        assert_int_equal(table->nrow, 0);
        assert_int_equal(table->ncolumn, NCOLUMN + 1);
        itm_results_table_destroy(table);
        remove_results("r", ENDINGS[e]);
    }
}

static ItmModel* build_ball(void)
{
    ItmError error = {0};
    ItmModelBuilder* builder = NULL;
    ItmModel* model = NULL;
    ItmWorldDef world = itm_default_world_def();
    ItmBodyDef ball = itm_default_body_def();
    ball.name = "ball";
    CHECK_OK(itm_model_builder_create(&builder, &world, &error), &error);
    CHECK_OK(itm_model_builder_add_body(builder, &ball, NULL, &error), &error);
    CHECK_OK(itm_model_build(&model, builder, &error), &error);
    itm_model_builder_destroy(builder);
    return model;
}

static void columns_of_a_model_are_its_outputs(void** state)
{
    (void)state;
    ItmError error = {0};
    ItmModel* model = build_ball();
    int count = itm_model_get_output_count(model);
    double* values = calloc((size_t)count, sizeof *values);
    for (int e = 0; e < 2; e++) {
        const char* path = path_of("r", ENDINGS[e]);
        ItmResults* results = NULL;
        CHECK_OK(itm_results_create(&results, path, model, "", "Ball", &error), &error);
        CHECK_OK(itm_results_append(results, 0.0, values, &error), &error);
        finish(results);
        ItmTable* table = read_back(path);
        assert_int_equal(table->ncolumn, count + 1);
        for (int i = 0; i < count; i++) {
            ItmOutputInfo info = itm_model_get_output_info(model, i);
            assert_string_equal(table->names[i + 1], info.name);
            assert_string_equal(table->units[i + 1], info.unit);
            assert_string_equal(table->descriptions[i + 1], info.description);
        }
        itm_results_table_destroy(table);
        remove_results("r", ENDINGS[e]);
    }
    free(values);
    itm_model_destroy(model);
}

static void thousands_of_columns_read_back(void** state)
{
    (void)state;
    enum { WIDE = 2500, NROW = 40 };
    static char names[WIDE][16];
    static ItmOutputInfo columns[WIDE];
    static double row[WIDE];
    for (int j = 0; j < WIDE; j++) {
        snprintf(names[j], sizeof names[j], "b%d.x", j);
        columns[j] = (ItmOutputInfo){names[j], "m", "x"};
    }
    for (int e = 0; e < 2; e++) {
        const char* path = path_of("wide", ENDINGS[e]);
        ItmResults* results = NULL;
        assert_int_equal(itm_results_create_columns(&results, path, columns, WIDE, "", "wide", NULL), ITM_OK);
        for (int i = 0; i < NROW; i++) {
            for (int j = 0; j < WIDE; j++) {
                row[j] = i + 1e-4 * j;
            }
            assert_int_equal(itm_results_append(results, i, row, NULL), ITM_OK);
        }
        finish(results);
        ItmTable* table = read_back(path);
        assert_int_equal(table->ncolumn, WIDE + 1);
        assert_string_equal(table->names[WIDE], "b2499.x");
        for (int i = 0; i < NROW; i++) {
            for (int j = 0; j < WIDE; j++) {
                assert_same_bits(itm_results_table_get(table, i, j + 1), i + 1e-4 * j);
            }
        }
        itm_results_table_destroy(table);
        remove_results("wide", ENDINGS[e]);
    }
}

static void names_that_need_it_are_quoted(void** state)
{
    (void)state;
    const ItmOutputInfo columns[] = {{"a,b", "m", ""}, {"say \"x\"", "m", ""}, {"two\nlines", "m", ""}};
    const char* path = path_of("r", ".csv");
    ItmResults* results = NULL;
    assert_int_equal(itm_results_create_columns(&results, path, columns, 3, "", "", NULL), ITM_OK);
    append(results, 0.5, 1.0);
    finish(results);

    FILE* file = fopen(path, "r");
    char text[200] = "";
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_true(length > 0);
    assert_string_equal(text, "time,\"a,b\",\"say \"\"x\"\"\",\"two\nlines\"\n0.5,1,-1,2\n");

    ItmTable* table = read_back(path);
    static const char* const READ[3] = {"a,b", "say \"x\"", "two lines"};  // in one line, for terminals
    for (int j = 0; j < 3; j++) {
        assert_string_equal(table->names[j + 1], READ[j]);
    }
    itm_results_table_destroy(table);
    remove_results("r", ".csv");
}

// Escape sequences, bytes that are no UTF-8 and changes of direction in names of strangers never reach a terminal.
static void names_of_strangers_are_cleaned(void** state)
{
    (void)state;
    const char* path = path_of("r", ".csv");
    FILE* file = fopen(path, "w");
    fputs("time,\033]0;owned\007,bad\xff,right\xe2\x80\xae left,\xc3\xa4\n0,1,2,3,4\n", file);
    fclose(file);
    ItmTable* table = read_back(path);
    static const char* const READ[4] = {"?]0;owned?", "bad?", "right??\? left", "\xc3\xa4"};
    for (int j = 0; j < 4; j++) {
        assert_string_equal(table->names[j + 1], READ[j]);
    }
    itm_results_table_destroy(table);
    remove_results("r", ".csv");
}

static void numbers_do_not_depend_on_the_locale(void** state)
{
    (void)state;
    static const char* const COMMA_LOCALES[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "es_ES.UTF-8"};
    const char* chosen = NULL;
    for (int i = 0; i < 3 && chosen == NULL; i++) {
        chosen = setlocale(LC_ALL, COMMA_LOCALES[i]);
    }
    if (chosen == NULL) {
        SKIP("the system has no locale with a decimal comma");
    }
    const char* path = path_of("r", ".csv");
    ItmResults* results = create(path);
    append(results, 0.25, 1.5);
    finish(results);
    ItmTable* table = read_back(path);
    setlocale(LC_ALL, "C");
    assert_true(itm_results_table_get(table, 0, 0) == 0.25 && itm_results_table_get(table, 0, 1) == 1.5);
    itm_results_table_destroy(table);
    remove_results("r", ".csv");
}

// ---------------------------------------------------------------------------- failures

static void an_unknown_ending_is_refused(void** state)
{
    (void)state;
    ItmResults* results = NULL;
    ItmError error = {0};
    static const char* const PATHS[] = {"r.xlsx", "r", "a.csv/r", ".csv"};
    for (int i = 0; i < 4; i++) {
        ItmStatus status = itm_results_create_columns(&results, PATHS[i], COLUMNS, NCOLUMN, "", "", &error);
        assert_int_equal(status, ITM_ERR_INPUT);
        assert_non_null(strstr(error.message, ".csv, .h5"));
        assert_null(results);
    }
    ItmTable* table = NULL;
    assert_int_equal(itm_results_read(&table, "r.xlsx", &error), ITM_ERR_INPUT);
    assert_null(table);
}

static void a_path_that_cannot_be_written_is_named_with_the_reason(void** state)
{
    (void)state;
    for (int e = 0; e < 2; e++) {
        ItmResults* results = NULL;
        ItmError error = {0};
        const char* path = path_of("nowhere/r", ENDINGS[e]);
        ItmStatus status = itm_results_create_columns(&results, path, COLUMNS, NCOLUMN, "", "", &error);
        assert_int_equal(status, ITM_ERR_IO);
        assert_null(results);
        assert_non_null(strstr(error.message, "nowhere/r"));
        assert_non_null(strstr(error.message, "No such file or directory"));

        ItmTable* table = NULL;
        assert_int_equal(itm_results_read(&table, path, &error), ITM_ERR_IO);
        assert_non_null(strstr(error.message, "nowhere/r"));
    }
}

static void an_older_file_stays_until_the_run_is_closed(void** state)
{
    (void)state;
    for (int e = 0; e < 2; e++) {
        const char* path = path_of("r", ENDINGS[e]);
        ItmResults* results = create(path);
        append(results, 1.0, 1.0);
        finish(results);

        results = create(path);
        append(results, 2.0, 2.0);
        ItmTable* table = read_back(path);
        assert_true(itm_results_table_get(table, 0, 0) == 1.0);
        itm_results_table_destroy(table);

        finish(results);
        table = read_back(path);
        assert_true(itm_results_table_get(table, 0, 0) == 2.0);
        itm_results_table_destroy(table);
        char part[16];
        snprintf(part, sizeof part, ".part%s", ENDINGS[e]);
        assert_false(exists(path_of("r", part)));
        assert_false(exists(path_of("r", ".part.json")));
        remove_results("r", ENDINGS[e]);
    }
}

// A disk that is full after `bytes`; the same errors come from write() as from a real one.
static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, bytes == RLIM_INFINITY ? SIG_DFL : SIG_IGN);
}

// Append until it fails; the number of rows that were taken.
static int append_until_failure(ItmResults* results, ItmError* error)
{
    int count = 0;
    while (count < 1000000) {
        double x = 1.0 / (count + 3);
        if (itm_results_append(results, count, (double[]){x, x, x}, error) != ITM_OK) {
            return count;
        }
        count++;
    }
    return -1;
}

static void a_full_disk_is_reported_and_replaces_nothing(void** state)
{
    (void)state;
    for (int e = 0; e < 2; e++) {
        const char* path = path_of("r", ENDINGS[e]);
        ItmResults* results = create(path);
        append(results, 1.0, 1.0);
        finish(results);

        results = create(path);
        ItmError error = {0};
        limit_file_size(6000000);  // between one and two blocks of rows
        int count = append_until_failure(results, &error);
        assert_true(count > 0);
        assert_int_equal(error.status, ITM_ERR_IO);
        assert_non_null(strstr(error.message, "r.part"));
        assert_non_null(strstr(error.message, "File too large"));
        assert_int_equal(itm_results_close(results, ITM_VERDICT_BROKE_DOWN, "disk full", &error), ITM_ERR_IO);
        limit_file_size(RLIM_INFINITY);

        ItmTable* table = read_back(path);
        assert_true(table->nrow == 1 && itm_results_table_get(table, 0, 0) == 1.0);
        itm_results_table_destroy(table);
        remove_results("r", ENDINGS[e]);
        char part[16];
        snprintf(part, sizeof part, ".part%s", ENDINGS[e]);
        table = read_back(path_of("r", part));
        assert_true(table->nrow > 1000);
        for (long i = 0; i < table->nrow; i++) {
            assert_true(itm_results_table_get(table, i, 1) == 1.0 / (double)(i + 3));
        }
        itm_results_table_destroy(table);
        unlink(path_of("r", part));
        unlink(path_of("r", ".part.json"));
    }
}

static void sleep_seconds(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&time, NULL);
}

// In a folder that several users may write to, somebody else may have put links at names that a run will use.
static void links_at_names_of_part_files_are_not_followed(void** state)
{
    (void)state;
    char victim[160];
    snprintf(victim, sizeof victim, "%s", path_of("victim", ".txt"));
    FILE* file = fopen(victim, "w");
    fputs("precious", file);
    fclose(file);
    static const char* const PARTS[][2] = {
        {".csv", ".part.csv"}, {".csv", ".part.csv.lock"}, {".h5", ".part.h5"}, {".h5", ".part.h5.lock"}};
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++) {
        ItmError error = {0};
        ItmResults* results = NULL;
        const char* link = path_of("r", PARTS[i][1]);
        assert_int_equal(symlink("victim.txt", link), 0);
        assert_int_equal(
            itm_results_create_columns(&results, path_of("r", PARTS[i][0]), COLUMNS, NCOLUMN, "", "", &error),
            ITM_ERR_IO);
        char text[16] = "";
        file = fopen(victim, "r");
        assert_non_null(fgets(text, sizeof text, file));
        fclose(file);
        assert_string_equal(text, "precious");
        unlink(link);
    }
    unlink(victim);
}

static void rows_of_a_killed_process_survive(void** state)
{
    (void)state;
    for (int e = 0; e < 2; e++) {
        pid_t child = fork();
        if (child == 0) {
            ItmResults* results = create(path_of("r", ENDINGS[e]));
            for (int i = 0;; i++) {
                append(results, i, 0.1 * i);
                sleep_seconds(0.02);
            }
        }
        sleep_seconds(1.6);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);

        char part[16];
        snprintf(part, sizeof part, ".part%s", ENDINGS[e]);
        assert_false(exists(path_of("r", ENDINGS[e])));
        ItmTable* table = read_back(path_of("r", part));
        assert_int_equal(table->verdict, ITM_VERDICT_RUNNING);
        assert_true(table->is_described);
        assert_true(table->nrow >= 10);
        for (long i = 0; i < table->nrow; i++) {
            assert_true(itm_results_table_get(table, i, 0) == (double)i);
            assert_true(itm_results_table_get(table, i, 1) == 0.1 * (double)i);
        }
        itm_results_table_destroy(table);
        char lock[24];
        snprintf(lock, sizeof lock, "%s.lock", part);
        unlink(path_of("r", lock));  // stays, but locks nobody out
        unlink(path_of("r", part));
        unlink(path_of("r", ".part.json"));
    }
}

// ---------------------------------------------------------------------------- reading what others wrote

static ItmStatus read_text(const char* text, ItmTable** table, ItmError* error)
{
    const char* path = path_of("t", ".csv");
    FILE* file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
    ItmStatus status = itm_results_read(table, path, error);
    unlink(path);
    return status;
}

static void plain_csv_of_other_programs_is_read(void** state)
{
    (void)state;
    ItmTable* table = NULL;
    assert_int_equal(read_text("t,x\r\n0,1e3\r\n1,nan\r\n", &table, NULL), ITM_OK);
    assert_int_equal(table->nrow, 2);
    assert_false(table->is_described);
    assert_true(itm_results_table_get(table, 0, 1) == 1000.0 && isnan(itm_results_table_get(table, 1, 1)));
    itm_results_table_destroy(table);
}

// A run that was killed within a write: its part file may end anywhere in a row, even in the last number.
static void cut_row_of_a_part_file_is_left_out(void** state)
{
    (void)state;
    static const char ROWS[] = "time,x\n0,1.5\n1,2.5\n2,3.25\n";
    for (size_t length = strlen("time,x\n"); length < sizeof ROWS; length++) {
        const char* path = path_of("t", ".part.csv");
        FILE* file = fopen(path, "w");
        fwrite(ROWS, 1, length, file);
        fclose(file);
        ItmTable* table = NULL;
        ItmError error = {0};
        CHECK_OK(itm_results_read(&table, path, &error), &error);
        long whole = -1;
        for (size_t i = 0; i < length; i++) {
            whole += ROWS[i] == '\n';
        }
        assert_int_equal(table->nrow, whole);
        for (int i = 0; i < whole; i++) {
            assert_true(itm_results_table_get(table, i, 0) == (double)i);
        }
        itm_results_table_destroy(table);
        unlink(path);
    }
}

static void broken_csv_is_refused_with_line_and_column(void** state)
{
    (void)state;
    static const struct {
        const char* text;
        int line, column;
    } CASES[] = {
        {"", 1, 1},           {"a,,b\n", 1, 2},       {"a,b\n1,2\n3\n", 3, 1},
        {"a,b\n1,x\n", 2, 2}, {"a,b\n1,2,3\n", 2, 2}, {"a,b\n1,\n2,3\n", 2, 2},
        {"a\n\n1\n", 2, 1},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        ItmTable* table = NULL;
        ItmError error = {0};
        assert_int_equal(read_text(CASES[i].text, &table, &error), ITM_ERR_INPUT);
        assert_null(table);
        assert_int_equal(error.line, CASES[i].line);
        assert_int_equal(error.column, CASES[i].column);
    }
}

static void a_file_that_is_no_hdf5_is_refused(void** state)
{
    (void)state;
    const char* path = path_of("t", ".h5");
    FILE* file = fopen(path, "w");
    fputs("time,x\n0,1\n", file);
    fclose(file);
    ItmTable* table = NULL;
    ItmError error = {0};
    assert_int_equal(itm_results_read(&table, path, &error), ITM_ERR_INPUT);
    assert_non_null(strstr(error.message, "t.h5"));
    unlink(path);
}

// A function of the HDF5 library that the package itself does not use, to write files as strangers may.
static void* find_in_hdf5(const char* name)
{
    void* library = dlopen(ITM_HDF5_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(library);
    void* symbol = dlsym(library, name);
    assert_non_null(symbol);
    dlclose(library);
    return symbol;
}

// An empty file that the reader accepts.
static hid_t create_hdf5(const char* path)
{
    hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, creation, H5P_DEFAULT);
    H5Pclose(creation);
    return file;
}

static void expect_refused(const char* path)
{
    ItmTable* table = NULL;
    ItmError error = {0};
    assert_int_equal(itm_results_read(&table, path, &error), ITM_ERR_INPUT);
    assert_non_null(strstr(error.message, "takes data from other files"));
    unlink(path);
}

// The format can name any file of the disk as the place of values: its bytes would appear in reports.
static void an_hdf5_file_cannot_bring_in_other_files(void** state)
{
    (void)state;
    herr_t (*set_external)(hid_t, const char*, long, hsize_t);
    herr_t (*set_virtual)(hid_t, hid_t, const char*, const char*, hid_t);
    herr_t (*link_external)(const char*, const char*, hid_t, const char*, hid_t, hid_t);
    ItmError error = {0};
    assert_int_equal(itm_hdf5_load(&error), ITM_OK);
    *(void**)&set_external = find_in_hdf5("H5Pset_external");
    *(void**)&set_virtual = find_in_hdf5("H5Pset_virtual");
    *(void**)&link_external = find_in_hdf5("H5Lcreate_external");
    const char *path = path_of("hostile", ".h5"), *secret = path_of("secret", ".h5");
    char whole[PATH_MAX];
    ItmResults* other = create(secret);
    append(other, 0.0, 1.0);
    append(other, 1.0, 2.0);
    finish(other);
    assert_non_null(realpath(secret, whole));
    hid_t space = H5Screate_simple(1, &(hsize_t){2}, NULL);

    // a file of this kind is read
    hid_t file = create_hdf5(path);
    H5Dclose(H5Dcreate2(file, "time", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Fclose(file);
    itm_results_table_destroy(read_back(path));

    // bytes of the other file as the values of a column
    file = create_hdf5(path);
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(set_external(creation, whole, 0, 16) >= 0);
    H5Dclose(H5Dcreate2(file, "time", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    H5Pclose(creation);
    H5Fclose(file);
    expect_refused(path);

    // a column of the other file
    file = create_hdf5(path);
    creation = H5Pcreate(H5P_DATASET_CREATE);
    assert_true(set_virtual(creation, space, whole, "time", space) >= 0);
    H5Dclose(H5Dcreate2(file, "time", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    H5Pclose(creation);
    H5Fclose(file);
    expect_refused(path);

    // the provenance of the other file
    file = create_hdf5(path);
    H5Dclose(H5Dcreate2(file, "time", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    assert_true(link_external(whole, "provenance", file, "provenance", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    H5Fclose(file);
    expect_refused(path);
    H5Sclose(space);
    remove_results("secret", ".h5");
}

// A dataset may claim any number of rows without having them; 2^61 of them have 2^64 bytes.
static void an_hdf5_file_with_absurd_sizes_is_refused(void** state)
{
    (void)state;
    ItmError error = {0};
    assert_int_equal(itm_hdf5_load(&error), ITM_OK);
    static const int EXPONENTS[] = {40, 61};
    for (size_t i = 0; i < sizeof EXPONENTS / sizeof EXPONENTS[0]; i++) {
        const char* path = path_of("large", ".h5");
        hid_t space = H5Screate_simple(1, &(hsize_t){(hsize_t)1 << EXPONENTS[i]}, NULL);
        hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_chunk(creation, 1, &(hsize_t){1 << 20});
        hid_t file = create_hdf5(path);
        hid_t dataset = H5Dcreate2(file, "time", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
        assert_true(dataset >= 0);
        H5Dclose(dataset);
        H5Pclose(creation);
        H5Sclose(space);
        H5Fclose(file);
        ItmTable* table = NULL;
        assert_int_equal(itm_results_read(&table, path, &error), ITM_ERR_INPUT);
        assert_non_null(strstr(error.message, path));
        unlink(path);
    }
}

#define RESULTS_TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RESULTS_TEST(every_double_reads_back_bit_for_bit),
        RESULTS_TEST(description_verdict_and_reason_read_back),
        RESULTS_TEST(a_table_without_rows_is_valid),
        RESULTS_TEST(columns_of_a_model_are_its_outputs),
        RESULTS_TEST(thousands_of_columns_read_back),
        RESULTS_TEST(names_that_need_it_are_quoted),
        RESULTS_TEST(names_of_strangers_are_cleaned),
        RESULTS_TEST(numbers_do_not_depend_on_the_locale),
        RESULTS_TEST(an_unknown_ending_is_refused),
        RESULTS_TEST(a_path_that_cannot_be_written_is_named_with_the_reason),
        RESULTS_TEST(an_older_file_stays_until_the_run_is_closed),
        RESULTS_TEST(a_full_disk_is_reported_and_replaces_nothing),
        RESULTS_TEST(links_at_names_of_part_files_are_not_followed),
        RESULTS_TEST(rows_of_a_killed_process_survive),
        RESULTS_TEST(plain_csv_of_other_programs_is_read),
        RESULTS_TEST(cut_row_of_a_part_file_is_left_out),
        RESULTS_TEST(broken_csv_is_refused_with_line_and_column),
        RESULTS_TEST(a_file_that_is_no_hdf5_is_refused),
        RESULTS_TEST(an_hdf5_file_cannot_bring_in_other_files),
        RESULTS_TEST(an_hdf5_file_with_absurd_sizes_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
