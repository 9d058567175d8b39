// interim plot: signals of result files as SVG or PNG.
#include "app.h"

#include "tables.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST_LINES 40  // of a picture; more cannot be distinguished

static const AppOption OPTIONS[] = {
    {APP_OPTION_WORD, "--signals", 'i', "NAMES", NULL, "signals to draw, separated by commas; * matches anything"},
    {APP_OPTION_WORD, "--range", 0, "FROM:TO", NULL, "time range in seconds, as in 0.5:2"},
    {APP_OPTION_OUTPUT, "--output", 'o', "FILE", NULL, "output file, .svg or .png; default: .svg next to the results"},
    {APP_OPTION_HELP, "--help", 'h', NULL, NULL, "show this help"},
};

// "0.5:2"; false after printing what is wrong.
static bool parse_range(const char* text, ItmPlotOptions* options)
{
    char* end = NULL;
    if (text == NULL) {
        return true;
    }
    options->from = strtod(text, &end);
    bool is_right = end != text && *end == ':';
    if (is_right) {
        const char* second = end + 1;
        options->to = strtod(second, &end);
        is_right = end != second && *end == '\0' && options->from < options->to;
    }
    if (!is_right) {
        fprintf(stderr, "interim plot: --range requires FROM:TO in seconds, as in 0.5:2, got '%s'\n", text);
    }
    return is_right;
}

static int draw(const AppTables* tables, const AppArguments* arguments, const ItmPlotOptions* options, const char* path)
{
    ItmError error = {0};
    int* columns = calloc((size_t)tables->runs[0].table->ncolumn + 1, sizeof *columns);
    int count = columns != NULL ? app_tables_choose(tables, app_arguments_get(arguments, "--signals"), columns) : 0;
    int status = APP_BAD_INPUT;
    if (count > MOST_LINES) {
        fprintf(stderr, "interim plot: %d signals are too many for one plot; select at most %d with --signals\n", count,
                MOST_LINES);
    } else if (count > 0 &&
               itm_plot_write(path, tables->runs, tables->count, columns, count, options, &error) != ITM_OK) {
        app_print_error(&error);
    } else if (count > 0) {
        status = APP_FINISHED;
    }
    free(columns);
    return status;
}

static int run(const AppArguments* arguments)
{
    AppTables tables;
    ItmPlotOptions options = itm_default_plot_options();
    int status = APP_BAD_INPUT;
    char* beside = app_path_replace_ending(arguments->model, ".svg");
    if (parse_range(app_arguments_get(arguments, "--range"), &options) && beside != NULL) {
        if (app_tables_read(&tables, arguments)) {
            status = draw(&tables, arguments, &options, arguments->output != NULL ? arguments->output : beside);
        }
        app_tables_free(&tables);
    }
    free(beside);
    return status;
}

const AppCommand app_plot_command = {
    .name = "plot",
    .synopsis = "RESULTS... --signals NAMES [-o FILE.svg|FILE.png]",
    .help = "plot signals as SVG or PNG",
    .details = "Plots signals over time as SVG or PNG, one panel per unit. Every time interval shows its minimum and\n"
               "maximum, so no spike is lost. Several result files are overlaid; all but the first are dashed.\n\n"
               "  interim plot run.csv --signals 'boom.position.*,cylinder.force' -o boom.png",
    .options = OPTIONS,
    .noption = (int)(sizeof OPTIONS / sizeof OPTIONS[0]),
    .operand = "result file",
    .takes_many = true,
    .run = run,
};
