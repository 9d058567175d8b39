// interim sweep: a study on the command line, one run for every combination of values.
#include "study.h"
#include "tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const AppOption OPTIONS[] = {
    {APP_OPTION_WORD, "--over", 0, "KEY=VALUES", NULL, "values of a key: a,b,c or first:last:count[log]; repeatable"},
    {APP_OPTION_OVERRIDE, "--set", 's', "KEY=VALUE", NULL, "change a value of the model in all runs; repeatable"},
    {APP_OPTION_OVERRIDE, "--until", 'u', "TIME", "run.duration", "simulate up to TIME"},
    {APP_OPTION_OVERRIDE, "--every", 'e', "TIME", "run.output_interval", "output interval of the compared results"},
    {APP_OPTION_WORD, "--signals", 'i', "NAME,...", NULL, "signals to report, as in rod.position.x or 'rod.*'"},
    {APP_OPTION_WORD, "--reference", 0, "KEY=VALUE", NULL,
     "compare with a run with this value, or with a results FILE"},
    {APP_OPTION_WORD, "--jobs", 'j', "N", NULL, "number of parallel runs; default: number of processors"},
    {APP_OPTION_WORD, "--timeout", 0, "TIME", NULL, "stop a run after this wall time, as in 60s"},
    {APP_OPTION_WORD, "--resume", 0, NULL, NULL, "continue: execute only the runs that the journal lacks"},
    {APP_OPTION_WORD, "--shard", 0, "PART/PARTS", NULL,
     "execute a part of the runs, as in 3/16; see: interim sweep merge"},
    {APP_OPTION_WORD, "--no-costs", 0, NULL, NULL, "leave out the columns of times, which are never the same twice"},
    {APP_OPTION_WORD, "--keep", 'k', "DIR", NULL, "keep the results of every run in DIR"},
    {APP_OPTION_WORD, "--report", 'r', "FILE.html", NULL, "write an HTML report with curves and maps; requires -o"},
    {APP_OPTION_OUTPUT, "--output", 'o', "FILE.csv", NULL, "also write the table to FILE.csv"},
    {APP_OPTION_QUIET, "--quiet", 'q', NULL, NULL, "print no progress bar and no table"},
    {APP_OPTION_SANDBOX, "--sandbox", 0, "DIR", NULL, "refuse a model that refers to files outside DIR"},
    {APP_OPTION_HELP, "--help", 'h', NULL, NULL, "show this help"},
};

static const AppOption MERGE_OPTIONS[] = {
    {APP_OPTION_WORD, "--no-costs", 0, NULL, NULL, "leave out the columns of times, which are never the same twice"},
    {APP_OPTION_WORD, "--report", 'r', "FILE.html", NULL, "write an HTML report with curves and maps"},
    {APP_OPTION_QUIET, "--quiet", 'q', NULL, NULL, "print no table"},
    {APP_OPTION_SANDBOX, "--sandbox", 0, "DIR", NULL, "refuse a model that refers to files outside DIR"},
    {APP_OPTION_HELP, "--help", 'h', NULL, NULL, "show this help"},
};

// ---------------------------------------------------------------------------- arguments

static bool take(AppStudy* s, ItmStatus status, const ItmError* error)
{
    if (status != ITM_OK) {
        fprintf(stderr, "interim sweep: %s (see: interim help sweep)\n", error->message);
    }
    s->has_failed = s->has_failed || status != ITM_OK;
    return status == ITM_OK;
}

static bool add_patterns(AppStudy* s, const char* text)
{
    ItmError error = {0};
    bool is_added = true, has_any = false;
    for (const char* at = text; *at != '\0' && is_added;) {
        size_t length = strcspn(at, ",");
        char* pattern = strndup(at, length);
        if (length > 0) {
            has_any = true;
            is_added =
                take(s, pattern != NULL ? itm_study_add_signals(s->study, pattern, &error) : ITM_ERR_MEMORY, &error);
        }
        free(pattern);
        at += length + (at[length] == ',');
    }
    return is_added && (has_any || app_study_complain(s, "--signals requires names, got", text));
}

static bool is_results(const char* path)
{
    return app_path_has_ending(path, ".csv") || app_path_has_ending(path, ".h5") || app_path_has_ending(path, ".hdf5");
}

static bool add_reference(AppStudy* s, const char* text)
{
    ItmError error = {0};
    if (is_results(text) && access(text, F_OK) == 0) {
        return take(s, itm_study_set_reference_file(s->study, text, &error), &error);
    }
    if (strchr(text, '=') == NULL) {
        return app_study_complain(s, "--reference requires KEY=VALUE or an existing results file, got", text);
    }
    return take(s, itm_study_add_reference(s->study, text, &error), &error);
}

static bool add_axis(AppStudy* s, const char* text)
{
    ItmError error = {0};
    return take(s, itm_study_add_axis(s->study, text, &error), &error);
}

static bool check_report(AppStudy* s, const char* text)
{
    return s->arguments->output != NULL ||
           app_study_complain(s, "a report requires the table; add -o TABLE.csv to --report", text);
}

static bool drop_costs(AppStudy* s, const char* text)
{
    (void)text;
    s->table.has_costs = false;
    return true;
}

static bool apply_word(AppStudy* s, const AppWord* word)
{
    static const struct {
        const char* name;
        bool (*apply)(AppStudy* s, const char* text);
    } WORDS[] = {{"--over", add_axis},
                 {"--signals", add_patterns},
                 {"--reference", add_reference},
                 {"--report", check_report},
                 {"--no-costs", drop_costs}};
    bool is_known;
    bool is_good = app_study_apply_word(s, word, &is_known);
    if (is_known) {
        return is_good;
    }
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        if (strcmp(word->option->name, WORDS[i].name) == 0) {
            return WORDS[i].apply(s, word->value);
        }
    }
    return app_study_complain(s, "unknown option", word->option->name);
}

static bool check_arguments(AppStudy* s)
{
    const char* output = s->arguments->output;
    ItmStudyInfo info = itm_study_get_info(s->study);
    if (info.nfactor == 0) {
        return app_study_complain(s, "missing", "--over KEY=VALUE,VALUE,...");
    }
    if (info.has_reference && app_arguments_get(s->arguments, "--signals") == NULL) {
        return app_study_complain(s, "a reference requires signals to compare; add", "--signals NAME");
    }
    if (output != NULL && !app_path_has_ending(output, ".csv")) {
        return app_study_complain(s, "the name of the table must end in .csv, got", output);
    }
    s->output = output != NULL ? strdup(output) : NULL;
    return output == NULL || s->output != NULL || app_study_complain(s, "out of memory for the table", output);
}

static bool read_arguments(AppStudy* s)
{
    ItmError error = {0};
    const AppArguments* a = s->arguments;
    if (!take(s,
              itm_study_create(&s->study, a->model, a->sandbox, (const char* const*)a->overrides, a->noverride, &error),
              &error)) {
        return false;
    }
    for (int i = 0; i < a->nword; i++) {
        if (!apply_word(s, &a->words[i])) {
            return false;
        }
    }
    return check_arguments(s);
}

// ---------------------------------------------------------------------------- command

enum { MOST_RUNS = 24 };  // that a page shows over time

// The page, with the runs over time where their results are kept.
static void write_report(AppStudy* s, const char* path)
{
    ItmReportRun runs[MOST_RUNS];
    char *names[MOST_RUNS] = {NULL}, files[MOST_RUNS][32];
    int n = 0;
    for (int i = 0; s->keep != NULL && i < s->info.nrun && n < MOST_RUNS; i++) {
        ItmTable* table = NULL;
        char kept[4096];
        snprintf(files[n], sizeof files[n], "run%d.h5", i + 1);
        snprintf(kept, sizeof kept, "%s/%s", s->keep, files[n]);
        if (access(kept, R_OK) == 0 && itm_results_read(&table, kept, NULL) == ITM_OK) {
            runs[n] = (ItmReportRun){files[n], table};
            n++;
        }
    }
    if (n > 0 && itm_report_name_runs(names, runs, n)) {
        for (int i = 0; i < n; i++) {
            runs[i].label = names[i];
        }
    }
    int ncolumn = s->info.nfactor + s->info.nresponse;
    const char** columns = calloc((size_t)ncolumn + 1, sizeof *columns);
    const char** units = calloc((size_t)ncolumn + 1, sizeof *units);
    for (int i = 0; i < ncolumn && columns != NULL && units != NULL; i++) {
        int response = i - s->info.nfactor;
        columns[i] =
            response < 0 ? itm_study_get_factor_name(s->study, i) : itm_study_get_response_name(s->study, response);
        units[i] =
            response < 0 ? itm_study_get_factor_unit(s->study, i) : itm_study_get_response_unit(s->study, response);
    }
    ItmSweepReportOptions options = {.title =
                                         s->info.title[0] != '\0' ? s->info.title : app_tables_base_name(s->info.model),
                                     .runs = n > 0 ? runs : NULL,
                                     .nrun = n,
                                     .columns = columns,
                                     .units = units,
                                     .nunit = columns != NULL && units != NULL ? ncolumn : 0};
    s->has_failed = app_report_write_sweep(s->output, path, &options, s->arguments->is_quiet) != APP_FINISHED;
    free(columns);
    free(units);
    for (int i = 0; i < n; i++) {
        itm_results_table_destroy((ItmTable*)runs[i].table);
        free(names[i]);
    }
}

static AppStudy make_sweep(const AppArguments* arguments)
{
    AppStudy s = {.arguments = arguments,
                  .name = "sweep",
                  .print = app_sweep_table_print,
                  .write_report = write_report,
                  .most_shown = MOST_RUNS};
    app_study_set_defaults(&s);
    s.table = (ItmStudyTableOptions){.has_costs = true, .digits = 12};
    return s;
}

static int sweep(const AppArguments* arguments)
{
    AppStudy s = make_sweep(arguments);
    int status = read_arguments(&s) ? app_study_run(&s) : APP_BAD_INPUT;
    app_study_free(&s);
    return status;
}

static int merge(const AppArguments* arguments)
{
    AppStudy s = make_sweep(arguments);
    s.table.has_costs = app_arguments_get(arguments, "--no-costs") == NULL;
    int status = app_study_merge(&s);
    app_study_free(&s);
    return status;
}

static const AppCommand MERGE = {
    .name = "sweep merge",
    .synopsis = "TABLE.csv [OPTION]...",
    .help = "put the parts of a sweep together",
    .details =
        "Reads the parts that interim sweep --shard -o TABLE.csv has written beside TABLE.csv (TABLE.shard1of16.journal, ...)\n"
        "and writes the table. Complains if a run is in none of the parts.",
    .options = MERGE_OPTIONS,
    .noption = (int)(sizeof MERGE_OPTIONS / sizeof MERGE_OPTIONS[0]),
    .operand = "table",
    .run = merge,
};

static const AppCommand* const SUBCOMMANDS[] = {&MERGE, NULL};

const AppCommand app_sweep_command = {
    .name = "sweep",
    .synopsis = "MODEL.yaml --over KEY=VALUES [OPTION]...",
    .help = "run a model for all combinations of parameter values and compare",
    .details =
        "Runs the model once for every combination of the values given with --over, several runs in parallel,\n"
        "each in its own process. Prints one row per run: outcome, end time, final and peak values of the\n"
        "selected signals, their difference from a reference, and the CPU time.\n"
        "\n"
        "  interim sweep pendulum.yaml --every 16ms --over run.step=1ms:16ms:5log --signals hinge.angle \\\n"
        "      --reference run.step=0.1ms -o steps.csv\n"
        "\n"
        "The reference of a run is the same combination with its own values replaced by those of --reference; runs\n"
        "that differ only in these values share a reference. A run that breaks down or times out is a result\n"
        "like any other. With -o TABLE.csv every completed run goes to TABLE.journal, from which --resume continues a\n"
        "sweep that was interrupted or killed. Exit status: 0 all runs were executed; 1 wrong usage or invalid model;\n"
        "128 + signal number if interrupted, with the completed runs in the table.",
    .options = OPTIONS,
    .noption = (int)(sizeof OPTIONS / sizeof OPTIONS[0]),
    .run = sweep,
    .subcommands = SUBCOMMANDS,
};
