// Pages, plots and comparisons made from tables.
#include "check.h"

#include "interim/report.h"
#include "report/decimate.h"
#include "report/plot.h"
#include "report/report.h"

#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

// A table of time and columns of the given function; destroy it.
static ItmTable* make_table(int ncolumn, long nrow, double step, double (*value)(int column, double time))
{
    ItmTable* t = calloc(1, sizeof *t);
    char name[40];
    assert_true(itm_results_table_add_column(t, "time", 4));
    for (int i = 0; i < ncolumn; i++) {
        snprintf(name, sizeof name, "body%d.position.x", i);
        assert_true(itm_results_table_add_column(t, name, strlen(name)));
        itm_results_table_set_string(&t->units[i + 1], "m", 1);
    }
    t->values = malloc((size_t)nrow * (size_t)(ncolumn + 1) * sizeof *t->values);
    t->nrow = nrow;
    for (long k = 0; k < nrow; k++) {
        double* row = t->values + (size_t)k * (size_t)(ncolumn + 1);
        row[0] = (double)k * step;
        for (int i = 0; i < ncolumn; i++) {
            row[i + 1] = value(i, row[0]);
        }
    }
    itm_results_table_set_string(&t->title, "made", 4);
    itm_results_table_set_string(&t->reason, "", 0);
    return t;
}

static double sine(int column, double time)
{
    return sin(time + column);
}

static double shifted(int column, double time)
{
    return sine(column, time) + 0.25;
}

// One spike of one row in the middle.
static double spike(int column, double time)
{
    return fabs(time - 5.0) < 5e-5 ? 1000.0 + column : 0.001 * time;
}

// ---------------------------------------------------------------------------- decimation

static void decimation_keeps_every_spike(void** state)
{
    (void)state;
    ItmTable* t = make_table(2, 100000, 1e-4, spike);
    ItmDecimation plan = itm_decimate_plan(t->nrow, 500);
    assert_int_equal(plan.npoint, 500);
    double time[500];
    float values[500];
    itm_decimate_time(&plan, t, time);
    itm_decimate_column(&plan, t, 2, values);
    float largest = 0.0f;
    long at = 0;
    for (long i = 0; i < plan.npoint; i++) {
        assert_true(i == 0 || time[i] > time[i - 1]);
        if (values[i] > largest) {
            largest = values[i];
            at = i;
        }
    }
    assert_true(largest == 1001.0f);
    CHECK_NEAR(time[at], 5.0, 10.0 / 250);  // a bucket
    CHECK_NEAR(time[499], 9.9999, 1e-9);
    itm_results_table_destroy(t);
}

static void few_rows_stay_as_they_are_and_gaps_stay_gaps(void** state)
{
    (void)state;
    ItmTable* t = make_table(1, 100, 0.1, sine);
    t->values[2 * 7 + 1] = NAN;
    ItmDecimation plan = itm_decimate_plan(t->nrow, 1000);
    float values[100];
    assert_int_equal(plan.npoint, 100);
    itm_decimate_column(&plan, t, 1, values);
    CHECK_NEAR((double)values[99], sin(9.9), 1e-7);
    assert_true(isnan(values[7]));
    plan = itm_decimate_plan(t->nrow, 20);
    itm_decimate_column(&plan, t, 1, values);
    for (int i = 0; i < 20; i++) {
        assert_true(isfinite(values[i]));
    }
    itm_results_table_destroy(t);
}

// ---------------------------------------------------------------------------- comparison

static void runs_are_compared_signal_by_signal(void** state)
{
    (void)state;
    ItmTable *reference = make_table(3, 101, 0.1, sine), *run = make_table(3, 201, 0.05, shifted);
    ItmError error = {0};
    ItmRunComparison c;
    itm_results_table_set_string(&run->names[3], "other", 5);
    run->values[4 * 100 + 1] += 1.0;  // body0 is off most, at 5 s
    CHECK_OK(itm_compare_runs(&c, run, reference, &error), &error);
    assert_int_equal(c.nerror, 2);
    assert_int_equal(c.nonly, 1);
    assert_int_equal(c.nonly_reference, 1);
    CHECK_NEAR(c.until, 10.0, 1e-12);
    assert_string_equal(c.errors[0].name, "body0.position.x");
    CHECK_NEAR(c.errors[0].comparison.maximum, 1.25, 1e-12);
    CHECK_NEAR(c.errors[0].comparison.maximum_time, 5.0, 1e-12);
    CHECK_NEAR(c.errors[1].comparison.rms, 0.25, 1e-12);
    itm_compare_free_runs(&c);
    itm_results_table_destroy(reference);
    itm_results_table_destroy(run);
}

static void runs_without_common_signals_have_no_errors(void** state)
{
    (void)state;
    ItmTable *a = make_table(1, 10, 0.1, sine), *b = make_table(1, 10, 0.1, sine);
    ItmRunComparison c;
    itm_results_table_set_string(&b->names[1], "other", 5);
    assert_int_equal(itm_compare_runs(&c, a, b, NULL), ITM_OK);
    assert_int_equal(c.nerror, 0);
    assert_int_equal(c.nonly, 1);
    assert_int_equal(c.nonly_reference, 1);
    itm_compare_free_runs(&c);
    itm_results_table_destroy(a);
    itm_results_table_destroy(b);
}

// ---------------------------------------------------------------------------- pictures

static char* slurp(const char* path, size_t* length)
{
    FILE* in = fopen(path, "r");
    assert_non_null(in);
    char* text = calloc(1, 20000000);
    *length = fread(text, 1, 19999999, in);
    fclose(in);
    return text;
}

static uint32_t big_endian(const unsigned char* at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

// Red of every pixel of a PNG file as we write it, after checking every chunk's sum; free it.
static unsigned char* decode_png(const char* path, uint32_t* width, uint32_t* height)
{
    size_t length = 0;
    unsigned char* file = (unsigned char*)slurp(path, &length);
    unsigned char* lines = NULL;
    assert_memory_equal(file, "\x89PNG\r\n\x1a\n", 8);
    *width = big_endian(file + 16);
    *height = big_endian(file + 20);
    for (size_t at = 8; at < length;) {
        uint32_t count = big_endian(file + at);
        assert_true(at + 12 + count <= length);
        assert_int_equal(crc32(0, file + at + 4, count + 4), big_endian(file + at + 8 + count));
        if (memcmp(file + at + 4, "IDAT", 4) == 0) {
            uLongf size = (3ul * *width + 1) * *height;
            lines = malloc(size);
            assert_int_equal(uncompress(lines, &size, file + at + 8, count), Z_OK);
            assert_int_equal(size, (3ul * *width + 1) * *height);
        }
        at += 12 + count;
    }
    free(file);
    assert_non_null(lines);
    unsigned char* red = malloc((size_t)*width * *height);
    for (size_t y = 0; y < *height; y++) {
        assert_int_equal(lines[y * (3ul * *width + 1)], 0);
        for (size_t x = 0; x < *width; x++) {
            red[y * *width + x] = lines[y * (3ul * *width + 1) + 1 + 3 * x];
        }
    }
    free(lines);
    return red;
}

static void png_shows_the_line_where_it_belongs(void** state)
{
    (void)state;
    ItmTable* t = make_table(1, 1001, 0.01, sine);
    ItmReportRun run = {"made.csv", t};
    ItmPlotOptions options = itm_default_plot_options();
    ItmError error = {0};
    CHECK_OK(itm_plot_write("plot.png", &run, 1, (int[]){1}, 1, &options, &error), &error);
    uint32_t width = 0, height = 0;
    unsigned char* red = decode_png("plot.png", &width, &height);
    assert_int_equal(width, 2 * options.width);
    // the line is blue, 0x25 of red; on it in every column between the axes, and its top is where the sine is 1
    long covered = 0;
    uint32_t top = height, top_at = 0;
    for (uint32_t x = 160; x < width - 60; x++) {
        bool has_line = false;
        for (uint32_t y = 110; y < height - 84; y++) {
            bool is_line = red[y * width + x] == 0x25;
            has_line = has_line || is_line;
            if (is_line && y < top) {
                top = y;
                top_at = x;
            }
        }
        covered += has_line;
    }
    assert_int_equal(covered, width - 60 - 160);
    // 144 px to the axis, 1404 px to the end: 0 s to 10 s; the sine has its first top at pi / 2, its second at 5 pi / 2
    double time = ((double)top_at - 144.0) / (1404.0 - 144.0) * 10.0;
    assert_true(fabs(time - 1.5708) < 0.1 || fabs(time - 7.8540) < 0.1);
    free(red);
    unlink("plot.png");
    itm_results_table_destroy(t);
}

static void svg_names_are_escaped_and_runs_are_told_apart(void** state)
{
    (void)state;
    ItmTable *a = make_table(1, 50, 0.1, sine), *b = make_table(1, 50, 0.1, shifted);
    itm_results_table_set_string(&a->names[1], "<b>.x", 5);
    itm_results_table_set_string(&b->names[1], "<b>.x", 5);
    ItmReportRun runs[2] = {{"a.csv", a}, {"b.csv", b}};
    ItmPlotOptions options = itm_default_plot_options();
    ItmError error = {0};
    CHECK_OK(itm_plot_write("plot.svg", runs, 2, (int[]){1}, 1, &options, &error), &error);
    size_t length = 0;
    char* text = slurp("plot.svg", &length);
    assert_non_null(strstr(text, "&lt;b&gt;.x (a.csv)"));
    assert_non_null(strstr(text, "&lt;b&gt;.x (b.csv)"));
    assert_non_null(strstr(text, "stroke-dasharray"));
    assert_null(strstr(text, "<b>"));
    free(text);
    assert_int_equal(itm_plot_write("plot.gif", runs, 2, (int[]){1}, 1, &options, &error), ITM_ERR_INPUT);
    unlink("plot.svg");
    itm_results_table_destroy(a);
    itm_results_table_destroy(b);
}

// ---------------------------------------------------------------------------- pages

static double noise(int column, double time)
{
    // every digit matters: nothing packs this
    uint64_t x = ((uint64_t)(time * 1e6) * 1000003u + (uint64_t)column) * 0x9e3779b97f4a7c15u;
    x ^= x >> 29;
    return (double)(x * 0xbf58476d1ce4e5b9u >> 11) / 9007199254740992.0;
}

static void page_of_noise_stays_below_ten_megabytes(void** state)
{
    (void)state;
    ItmTable* t = make_table(1000, 4000, 0.01, noise);
    ItmReportRun run = {"noise.csv", t};
    ItmError error = {0};
    CHECK_OK(itm_report_write("noise.html", &run, 1, &(ItmReportOptions){0}, &error), &error);
    struct stat info;
    assert_int_equal(stat("noise.html", &info), 0);
    assert_in_range(info.st_size, 100000, 10000000);
    unlink("noise.html");
    itm_results_table_destroy(t);
}

static void static_page_has_pictures_and_no_script(void** state)
{
    (void)state;
    ItmTable* t = make_table(5, 100, 0.01, sine);
    itm_results_table_set_string(&t->title, "<script>alert(1)</script>", 25);
    t->is_described = true;
    t->verdict = ITM_VERDICT_BROKE_DOWN;
    itm_results_table_set_string(&t->reason, "broke down at 1 s: <i>", 22);
    ItmReportRun run = {"r.csv", t};
    ItmError error = {0};
    CHECK_OK(itm_report_write("static.html", &run, 1, &(ItmReportOptions){.is_static = true}, &error), &error);
    size_t length = 0;
    char* text = slurp("static.html", &length);
    assert_null(strstr(text, "<script"));
    assert_null(strstr(text, "<i>"));
    assert_non_null(strstr(text, "class=\"verdict broke-down\""));
    assert_non_null(strstr(text, "broke down at 1 s: &lt;i&gt;"));
    assert_non_null(strstr(text, "<polyline"));
    free(text);
    unlink("static.html");
    itm_results_table_destroy(t);
}

static void page_that_cannot_be_written_says_why(void** state)
{
    (void)state;
    ItmTable* t = make_table(1, 10, 0.1, sine);
    ItmReportRun run = {"r.csv", t};
    ItmError error = {0};
    assert_int_equal(itm_report_write("no/such/folder/r.html", &run, 1, &(ItmReportOptions){0}, &error), ITM_ERR_IO);
    assert_non_null(strstr(error.message, "No such file"));
    itm_results_table_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimation_keeps_every_spike),
        cmocka_unit_test(few_rows_stay_as_they_are_and_gaps_stay_gaps),
        cmocka_unit_test(runs_are_compared_signal_by_signal),
        cmocka_unit_test(runs_without_common_signals_have_no_errors),
        cmocka_unit_test(png_shows_the_line_where_it_belongs),
        cmocka_unit_test(svg_names_are_escaped_and_runs_are_told_apart),
        cmocka_unit_test(page_of_noise_stays_below_ten_megabytes),
        cmocka_unit_test(static_page_has_pictures_and_no_script),
        cmocka_unit_test(page_that_cannot_be_written_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
