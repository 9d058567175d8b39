// interim compare: how far runs are apart.
#include "app.h"

#include "io/compare.h"
#include "tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const AppOption OPTIONS[] = {
    {APP_OPTION_SIGNALS, "--signals", 's', "NAMES", NULL, "only these, with commas between; * stands for anything"},
    {APP_OPTION_REPORT, "--report", 'r', "FILE", NULL, "also write a page with the runs laid over each other"},
    {APP_OPTION_HELP, "--help", 'h', NULL, NULL, "show this page"},
};

static int compare_errors(const void* a, const void* b)
{
    double x = itm_signal_error_get_relative(a), y = itm_signal_error_get_relative(b);
    return (x < y) - (x > y);
}

static bool is_wanted(const int* columns, int count, const ItmTable* table, const char* name)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(table->names[columns[i]], name) == 0) {
            return true;
        }
    }
    return false;
}

static void print_errors(const ItmComparison* c, const ItmTable* first, const int* columns, int count)
{
    size_t width = 6;
    for (int i = 0; i < c->nerror; i++) {
        size_t length = strlen(c->errors[i].name);
        width = length > width ? length : width;
    }
    printf("  %-*s  %-8s  %10s  %10s  %9s  %10s\n", (int)width, "signal", "unit", "rms", "largest", "of range", "at, s");
    for (int i = 0; i < c->nerror; i++) {
        const ItmSignalError* e = &c->errors[i];
        if (!is_wanted(columns, count, first, e->name)) {
            continue;
        }
        printf("  %-*s  %-8s  %10.3g  %10.3g  ", (int)width, e->name, e->unit, e->rms, e->max);
        if (e->range > 0.0) {
            printf("%8.3g%%", 100.0 * e->max / e->range);
        } else {
            printf("%9s", "constant");
        }
        printf("  %10.6g", e->at);
        if (e->is_state) {
            printf("  %ld and %ld changes, up to %.3g s apart", e->nevent_a, e->nevent_b, e->event_shift);
        }
        printf("\n");
    }
}

static void print_shifts(const ItmComparison* c)
{
    for (int i = 0; i < c->nshift; i++) {
        const ItmContactShift* s = &c->shifts[i];
        printf("  contact %s: begins %ld and %ld times, up to %.3g s apart\n", s->name, s->nevent_a, s->nevent_b, s->shift);
    }
}

// Compare one run with the first; false where they have nothing in common.
static bool compare(const AppTables* tables, int index, const int* columns, int count)
{
    const ItmReportRun *a = &tables->runs[0], *b = &tables->runs[index];
    ItmComparison c;
    ItmError error = {0};
    if (itm_compare(&c, a->table, b->table, &error) != ITM_OK) {
        app_print_error(&error);
        return false;
    }
    bool has_common = c.nerror > 0;
    if (!has_common) {
        fprintf(stderr, "interim: %s and %s have no %s in common\n", a->label, b->label,
                c.from <= c.to ? "signal" : "stretch of time");
    } else {
        printf("%s against %s, from %.9g s to %.9g s\n", b->label, a->label, c.from, c.to);
        qsort(c.errors, (size_t)c.nerror, sizeof *c.errors, compare_errors);
        print_errors(&c, a->table, columns, count);
        print_shifts(&c);
        if (c.nonly_a + c.nonly_b > 0) {
            printf("  %d signals are only in %s, %d only in %s\n", c.nonly_a, a->label, c.nonly_b, b->label);
        }
    }
    itm_comparison_free(&c);
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
    int count = columns != NULL ? app_tables_choose(tables, arguments->signals, columns) : 0;
    bool is_right = count > 0;
    for (int i = 1; i < tables->count && is_right; i++) {
        is_right = compare(tables, i, columns, count);
    }
    free(columns);
    if (!is_right) {
        return APP_BAD_INPUT;
    }
    return arguments->report != NULL ? write_report(tables, arguments->report) : APP_FINISHED;
}

static int run(const AppArguments* arguments)
{
    if (arguments->noperand < 2) {
        fprintf(stderr, "interim compare: two or more result files are needed (see: interim help compare)\n");
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
    .help = "how far results are from a reference, signal by signal",
    .details =
        "Compares results with the first one: root mean square and largest difference of every signal, the\n"
        "latter also as a share of the signal's range, largest share first; of counts and states how far their\n"
        "changes are apart; of contacts how far their begins are apart. The times are those of the reference,\n"
        "the others are interpolated between their rows.",
    .options = OPTIONS,
    .noption = (int)(sizeof OPTIONS / sizeof OPTIONS[0]),
    .operand = "result file",
    .takes_many = true,
    .run = run,
};
