// interim report: an HTML report from result files.
#include "app.h"

#include "tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const AppOption OPTIONS[] = {
    {APP_OPTION_OUTPUT, "--output", 'o', "FILE", NULL, "output file; default: .html next to the first results"},
    {APP_OPTION_WORD, "--static", 0, NULL, NULL, "plots as images, no scripts and no 3-D view"},
    {APP_OPTION_QUIET, "--quiet", 'q', NULL, NULL, "do not print the name of the report"},
    {APP_OPTION_HELP, "--help", 'h', NULL, NULL, "show this help"},
};

// Write the report of the tables; the exit status.
static int write_report(const AppTables* tables, const char* path, bool is_static, bool is_quiet)
{
    ItmError error = {0};
    ItmReportOptions options = {.is_static = is_static};
    if (itm_report_write(path, tables->runs, tables->count, &options, &error) != ITM_OK) {
        app_print_error(&error);
        return APP_BAD_INPUT;
    }
    if (!is_quiet) {
        printf("  report       %s%s\n", path,
               is_static || itm_report_has_viewer() ? "" : " (static plots only: this build was made without npm)");
    }
    return APP_FINISHED;
}

int app_report_write_sweep(const char* table, const char* path, const ItmSweepReportOptions* options, bool is_quiet)
{
    ItmError error = {0};
    if (itm_report_write_sweep(path, table, options, &error) != ITM_OK) {
        app_print_error(&error);
        return APP_BAD_INPUT;
    }
    if (!is_quiet) {
        printf("  report       %s\n", path);
    }
    return APP_FINISHED;
}

static int report_runs(const AppArguments* arguments, const char* path)
{
    AppTables tables;
    int status = APP_BAD_INPUT;
    if (app_tables_read(&tables, arguments)) {
        app_tables_name(&tables);
        status = write_report(&tables, path, app_arguments_get(arguments, "--static") != NULL, arguments->is_quiet);
    }
    app_tables_free(&tables);
    return status;
}

static int run(const AppArguments* arguments)
{
    char* beside = app_path_replace_ending(arguments->model, ".html");
    const char* path = arguments->output != NULL ? arguments->output : beside;
    int status = APP_BAD_INPUT;
    if (path != NULL && arguments->noperand == 1 && itm_report_is_sweep(arguments->model)) {
        status = app_report_write_sweep(arguments->model, path, NULL, arguments->is_quiet);
    } else if (path != NULL) {
        status = report_runs(arguments, path);
    }
    free(beside);
    return status;
}

// ---------------------------------------------------------------------------- of a run

bool app_report_choose_results(char** path, const AppArguments* arguments)
{
    const char* report = app_arguments_get(arguments, "--report");
    if (arguments->output != NULL) {
        *path = strdup(arguments->output);
    } else {
        *path = report != NULL ? app_path_replace_ending(report, ".of-report.h5") : NULL;
    }
    return *path != NULL || (arguments->output == NULL && report == NULL);
}

int app_report_after_run(const AppArguments* arguments, const char* results, int status)
{
    AppTables tables;
    char* operands[] = {(char*)results};
    const char* label = arguments->output != NULL ? NULL : arguments->model;
    AppArguments one = {.operands = operands, .noperand = 1};
    int written = APP_BAD_INPUT;
    if (app_tables_read(&tables, &one)) {
        tables.runs[0].label = label != NULL ? label : tables.runs[0].label;
        written = write_report(&tables, app_arguments_get(arguments, "--report"), false, arguments->is_quiet);
    }
    app_tables_free(&tables);
    if (arguments->output == NULL) {
        unlink(results);
    }
    return status != APP_FINISHED ? status : written;
}

const AppCommand app_report_command = {
    .name = "report",
    .synopsis = "RESULTS... [-o FILE.html]",
    .help = "write an HTML report: 3-D view, plots, energy, contacts",
    .details =
        "Writes one HTML file from the results of `interim run` (.csv or .h5): model and outcome, animated 3-D\n"
        "view, plots with a shared time cursor, contacts, energy, solver. The file is self-contained: it opens\n"
        "from disk without network or server. Several results are overlaid; the 3-D view shows the first. Any\n"
        "CSV file whose first column is time can be plotted. For the table of `interim sweep`, the report shows\n"
        "curves and maps of the errors over the swept values.",
    .options = OPTIONS,
    .noption = (int)(sizeof OPTIONS / sizeof OPTIONS[0]),
    .operand = "result file",
    .takes_many = true,
    .run = run,
};
