// interim compare: differences between runs.
#include "app.h"

#include "interim/report.h"
#include "tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const AppOption OPTIONS[] = {
    {APP_OPTION_WORD, "--signals", 'i', "NAMES", NULL, "signals to compare, separated by commas; * matches anything"},
    {APP_OPTION_WORD, "--report", 'r', "FILE.html", NULL, "also write an HTML report that overlays the runs"},
    {APP_OPTION_WORD, "--title", 0, "TEXT", NULL, "title of the report; otherwise that of the first run"},
    {APP_OPTION_QUIET, "--quiet", 'q', NULL, NULL, "print only one line per run"},
    {APP_OPTION_HELP, "--help", 'h', NULL, NULL, "show this help"},
};

// Where the events of a signal are; quantities that cross their middle once in a while have some.
static void print_events(const ItmComparison* c)
{
    if (c->npaired > 0) {
        printf("  %d and %d events, up to %.3g s apart", c->nevent, c->nreference_event, fabs(c->shift_maximum));
    } else if (c->nevent + c->nreference_event > 0) {
        printf("  %d and %d events", c->nevent, c->nreference_event);
    }
}

static void print_errors(const ItmRunComparison* c)
{
    size_t width = 6;
    for (int i = 0; i < c->nerror; i++) {
        size_t length = strlen(c->errors[i].name);
        width = length > width ? length : width;
    }
    printf("  %-*s  %-8s  %10s  %10s  %9s  %10s\n", (int)width, "signal", "unit", "rms", "largest", "of range",
           "at, s");
    for (int i = 0; i < c->nerror; i++) {
        const ItmSignalError* e = &c->errors[i];
        printf("  %-*s  %-8s  %10.3g  %10.3g  ", (int)width, e->name, e->unit, e->comparison.rms,
               e->comparison.maximum);
        if (e->comparison.reference_range > 0.0) {
            printf("%8.3g%%", 100.0 * itm_compare_get_share(e));
        } else {
            printf("%9s", "constant");
        }
        printf("  %10.6g", e->comparison.maximum_time);
        print_events(&e->comparison);
        printf("\n");
    }
}

static void print_shifts(const ItmRunComparison* c)
{
    for (int i = 0; i < c->nshift; i++) {
        const ItmContactShift* s = &c->shifts[i];
        printf("  contact %s: %ld and %ld onsets, up to %.3g s apart\n", s->name, s->nevent, s->nreference_event,
               s->shift);
    }
}

// Compare one run with the first; false where they have nothing in common.
static bool compare(const AppTables* tables, int index)
{
    const ItmReportRun *reference = &tables->runs[0], *run = &tables->runs[index];
    ItmRunComparison c;
    ItmError error = {0};
    if (itm_compare_runs(&c, run->table, reference->table, &error) != ITM_OK) {
        app_print_error(&error);
        return false;
    }
    bool has_common = c.nerror > 0;
    if (!has_common) {
        fprintf(stderr, "interim: %s and %s have no %s in common\n", reference->label, run->label,
                c.from <= c.until ? "signal" : "time interval");
    } else {
        printf("%s against %s, from %.9g s to %.9g s\n", run->label, reference->label, c.from, c.until);
        print_errors(&c);
        print_shifts(&c);
        if (c.nonly + c.nonly_reference > 0) {
            printf("  %d signals are only in %s, %d only in %s\n", c.nonly_reference, reference->label, c.nonly,
                   run->label);
        }
    }
    itm_compare_free_runs(&c);
    return has_common;
}

// How each run went, a line each.
static void print_outcomes(const AppTables* tables)
{
    size_t width = 0;
    for (int i = 0; i < tables->count; i++) {
        size_t length = strlen(tables->runs[i].label);
        width = length > width ? length : width;
    }
    for (int i = 0; i < tables->count; i++) {
        char* outcome = itm_report_describe_run(tables->runs, i);
        printf("%-*s  %s\n", (int)width, tables->runs[i].label, outcome != NULL ? outcome : "");
        free(outcome);
    }
}

// The page comes first: a reader who closes the pipe after a few lines of the tables does not lose it.
static bool write_report(const AppTables* tables, const AppArguments* arguments)
{
    const char* path = app_arguments_get(arguments, "--report");
    ItmError error = {0};
    ItmReportOptions options = itm_default_report_options();
    options.title = app_arguments_get(arguments, "--title");
    options.is_selection = app_arguments_get(arguments, "--signals") != NULL;
    if (path != NULL && itm_report_write(path, tables->runs, tables->count, &options, &error) != ITM_OK) {
        app_print_error(&error);
        return false;
    }
    return true;
}

static int compare_all(const AppTables* tables, const AppArguments* arguments)
{
    bool is_right = write_report(tables, arguments);
    if (is_right) {
        print_outcomes(tables);
    }
    for (int i = 1; i < tables->count && is_right && !arguments->is_quiet; i++) {
        printf("\n");
        is_right = compare(tables, i);
    }
    if (is_right && app_arguments_get(arguments, "--report") != NULL) {
        printf("report: %s\n", app_arguments_get(arguments, "--report"));
    }
    return is_right ? APP_FINISHED : APP_BAD_INPUT;
}

static int run(const AppArguments* arguments)
{
    if (arguments->noperand < 2) {
        fprintf(stderr, "interim compare: two or more result files are required (see: interim help compare)\n");
        return APP_BAD_INPUT;
    }
    AppTables tables;
    bool is_read =
        app_tables_read(&tables, arguments) && app_tables_select(&tables, app_arguments_get(arguments, "--signals"));
    if (is_read) {
        app_tables_name(&tables);
    }
    int status = is_read ? compare_all(&tables, arguments) : APP_BAD_INPUT;
    app_tables_free(&tables);
    return status;
}

const AppCommand app_compare_command = {
    .name = "compare",
    .synopsis = "REFERENCE RESULTS... [OPTION]...",
    .help = "compare results with a reference, signal by signal",
    .details =
        "Prints one line per run: its outcome and its coupling energy error. Runs are named by the\n"
        "values that differ (--set), or by their files. Then compares each run with the first one: for every\n"
        "signal the root mean square and the largest difference, also relative to the signal's range, sorted by\n"
        "the relative difference; rounding, solver and coupling signals come last. Also prints the time\n"
        "differences of events (crossings of the middle of a signal's range) and of contact onsets. Signals are\n"
        "compared at the times of the table with fewer rows; the other is interpolated.",
    .options = OPTIONS,
    .noption = (int)(sizeof OPTIONS / sizeof OPTIONS[0]),
    .operand = "result file",
    .takes_many = true,
    .run = run,
};
