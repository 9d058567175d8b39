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
    {APP_OPTION_HELP, "--help", 'h', NULL, NULL, "show this help"},
};

static bool is_wanted(const int* columns, int count, const ItmTable* table, const char* name)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(table->names[columns[i]], name) == 0) {
            return true;
        }
    }
    return false;
}

// Where the events of a signal are; quantities that cross their middle once in a while have some.
static void print_events(const ItmComparison* c)
{
    if (c->npaired > 0) {
        printf("  %d and %d events, up to %.3g s apart", c->nevent, c->nreference_event, fabs(c->shift_maximum));
    } else if (c->nevent + c->nreference_event > 0) {
        printf("  %d and %d events", c->nevent, c->nreference_event);
    }
}

static void print_errors(const ItmRunComparison* c, const ItmTable* reference, const int* columns, int count)
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
        if (!is_wanted(columns, count, reference, e->name)) {
            continue;
        }
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
static bool compare(const AppTables* tables, int index, const int* columns, int count)
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
        print_errors(&c, reference->table, columns, count);
        print_shifts(&c);
        if (c.nonly + c.nonly_reference > 0) {
            printf("  %d signals are only in %s, %d only in %s\n", c.nonly_reference, reference->label, c.nonly,
                   run->label);
        }
    }
    itm_compare_free_runs(&c);
    return has_common;
}

static int write_report(const AppTables* tables, const char* path)
{
    ItmError error = {0};
    ItmReportOptions options = {0};
    if (itm_report_write(path, tables->runs, tables->count, &options, &error) != ITM_OK) {
        app_print_error(&error);
        return APP_BAD_INPUT;
    }
    printf("  report       %s\n", path);
    return APP_FINISHED;
}

static int compare_all(const AppTables* tables, const AppArguments* arguments)
{
    int* columns = calloc((size_t)tables->runs[0].table->ncolumn + 1, sizeof *columns);
    int count = columns != NULL ? app_tables_choose(tables, app_arguments_get(arguments, "--signals"), columns) : 0;
    bool is_right = count > 0;
    for (int i = 1; i < tables->count && is_right; i++) {
        is_right = compare(tables, i, columns, count);
    }
    free(columns);
    if (!is_right) {
        return APP_BAD_INPUT;
    }
    const char* report = app_arguments_get(arguments, "--report");
    return report != NULL ? write_report(tables, report) : APP_FINISHED;
}

static int run(const AppArguments* arguments)
{
    if (arguments->noperand < 2) {
        fprintf(stderr, "interim compare: two or more result files are required (see: interim help compare)\n");
        return APP_BAD_INPUT;
    }
    AppTables tables;
    int status = app_tables_read(&tables, arguments) ? compare_all(&tables, arguments) : APP_BAD_INPUT;
    app_tables_free(&tables);
    return status;
}

const AppCommand app_compare_command = {
    .name = "compare",
    .synopsis = "REFERENCE RESULTS... [OPTION]...",
    .help = "compare results with a reference, signal by signal",
    .details = "Compares each result file with the first one. For every signal, prints the root mean square and the\n"
               "largest difference, also relative to the signal's range, and sorts by the relative difference. Also\n"
               "prints the time differences of events (crossings of the middle of a signal's range) and of contact\n"
               "onsets. Signals are compared at the times of the table with fewer rows; the other is interpolated.",
    .options = OPTIONS,
    .noption = (int)(sizeof OPTIONS / sizeof OPTIONS[0]),
    .operand = "result file",
    .takes_many = true,
    .run = run,
};
