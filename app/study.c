#include "study.h"
#include "tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const AppOption OPTIONS[] = {
    {APP_OPTION_OVERRIDE, "--set", 's', "KEY=VALUE", NULL, "change a value of the model in all runs; repeatable"},
    {APP_OPTION_OVERRIDE, "--until", 'u', "TIME", "run.duration", "simulate up to TIME"},
    {APP_OPTION_OVERRIDE, "--every", 'e', "TIME", "run.output_interval",
     "output interval, at which responses are computed"},
    {APP_OPTION_WORD, "--jobs", 'j', "N", NULL, "number of parallel runs; default: that of the file, or of processors"},
    {APP_OPTION_WORD, "--timeout", 0, "TIME", NULL, "stop a run after this wall time, as in 60s"},
    {APP_OPTION_WORD, "--resume", 0, NULL, NULL, "continue: execute only the runs that the journal lacks"},
    {APP_OPTION_WORD, "--shard", 0, "PART/PARTS", NULL,
     "execute a part of the runs, as in 3/16; see: interim study merge"},
    {APP_OPTION_WORD, "--keep", 'k', "DIR", NULL, "keep the results of every run in DIR"},
    {APP_OPTION_WORD, "--report", 'r', "FILE.html", NULL,
     "write an HTML report, and reports of the best and worst runs"},
    {APP_OPTION_OUTPUT, "--output", 'o', "FILE.csv", NULL, "name of the table; default: name of the study"},
    {APP_OPTION_QUIET, "--quiet", 'q', NULL, NULL, "print no progress bar and no summary"},
    {APP_OPTION_SANDBOX, "--sandbox", 0, "DIR", NULL, "refuse a model that refers to files outside DIR"},
    {APP_OPTION_HELP, "--help", 'h', NULL, NULL, "show this help"},
};

static const AppOption MERGE_OPTIONS[] = {
    {APP_OPTION_WORD, "--report", 'r', "FILE.html", NULL,
     "write an HTML report, and reports of the best and worst runs"},
    {APP_OPTION_QUIET, "--quiet", 'q', NULL, NULL, "print no summary"},
    {APP_OPTION_SANDBOX, "--sandbox", 0, "DIR", NULL, "refuse a model that refers to files outside DIR"},
    {APP_OPTION_HELP, "--help", 'h', NULL, NULL, "show this help"},
};

// ---------------------------------------------------------------------------- summary

static void print_responses(const AppStudy* s)
{
    printf("%-24s %10s %10s %10s %10s %10s  %s\n", "response", "mean", "std", "5 %", "median", "95 %",
           "least / largest in run");
    for (int i = 0; i < s->info.nresponse; i++) {
        ItmStudyStatistics t = itm_study_compute_statistics(s->study, i);
        printf("%-24s %10.4g %10.4g %10.4g %10.4g %10.4g  %d / %d\n", itm_study_get_response_name(s->study, i), t.mean,
               t.deviation, t.quantiles[0], t.quantiles[1], t.quantiles[2], t.best_run + 1, t.worst_run + 1);
    }
}

// The factors of each response: Sobol' indices where the design has them, otherwise rank correlations.
static void print_effects(const AppStudy* s)
{
    bool has_indices = isfinite(itm_study_compute_effect(s->study, ITM_STUDY_FIRST_INDEX, 0, 0).value);
    printf("%-24s %-24s %s\n", "response", "factor",
           has_indices ? "first-order and total Sobol' index [95 % interval]" : "rank correlation [95 % interval]");
    for (int i = 0; i < s->info.nresponse; i++) {
        for (int k = 0; k < s->info.nfactor; k++) {
            ItmStudyEffect a = itm_study_compute_effect(
                s->study, has_indices ? ITM_STUDY_FIRST_INDEX : ITM_STUDY_RANK_CORRELATION, i, k);
            printf("%-24s %-24s %6.3f [%6.3f, %6.3f]", itm_study_get_response_name(s->study, i),
                   itm_study_get_factor_name(s->study, k), a.value, a.low, a.high);
            if (has_indices) {
                ItmStudyEffect b = itm_study_compute_effect(s->study, ITM_STUDY_TOTAL_INDEX, i, k);
                printf("  %6.3f [%6.3f, %6.3f]", b.value, b.low, b.high);
            }
            printf("\n");
        }
    }
}

static void print_study(const AppStudy* s)
{
    print_responses(s);
    print_effects(s);
}

// ---------------------------------------------------------------------------- command

// STUDY.yaml -> STUDY.csv in the current folder
static bool choose_output(AppStudy* s)
{
    const char* given = s->arguments->output;
    if (given != NULL && !app_path_has_ending(given, ".csv")) {
        return app_study_complain(s, "the name of the table must end in .csv, got", given);
    }
    s->output =
        given != NULL ? strdup(given) : app_path_replace_ending(app_tables_base_name(s->arguments->model), ".csv");
    return s->output != NULL || app_study_complain(s, "out of memory for the table of", s->arguments->model);
}

static bool read_arguments(AppStudy* s)
{
    ItmError error = {0};
    if (!choose_output(s)) {
        return false;
    }
    if (itm_study_load(&s->study, s->arguments->model, s->arguments->sandbox,
                       (const char* const*)s->arguments->overrides, s->arguments->noverride, &error) != ITM_OK) {
        app_print_error(&error);
        return false;
    }
    ItmStudyInfo info = itm_study_get_info(s->study);
    s->nworker = info.njob > 0 ? info.njob : s->nworker;
    s->timeout = info.timeout;
    for (int i = 0; i < s->arguments->nword; i++) {
        bool is_known;
        if (!app_study_apply_word(s, &s->arguments->words[i], &is_known)) {
            return false;
        }
    }
    return true;
}

static AppStudy make_study(const AppArguments* arguments)
{
    AppStudy s = {.arguments = arguments,
                  .name = "study",
                  .has_hdf5 = true,
                  .keeps_journal = true,
                  .print = print_study,
                  .write_report = app_study_write_report};
    app_study_set_defaults(&s);
    return s;
}

static int study(const AppArguments* arguments)
{
    AppStudy s = make_study(arguments);
    int status = read_arguments(&s) ? app_study_run(&s) : APP_BAD_INPUT;
    app_study_free(&s);
    return status;
}

static int merge(const AppArguments* arguments)
{
    AppStudy s = make_study(arguments);
    int status = app_study_merge(&s);
    app_study_free(&s);
    return status;
}

static const AppCommand MERGE = {
    .name = "study merge",
    .synopsis = "TABLE.csv [OPTION]...",
    .help = "put the parts of a study together",
    .details =
        "Reads the parts that interim study --shard has written beside TABLE.csv (TABLE.shard1of16.journal, ...) and writes\n"
        "the same files as a study without shards, byte for byte. Complains if a run is in none of the parts.",
    .options = MERGE_OPTIONS,
    .noption = (int)(sizeof MERGE_OPTIONS / sizeof MERGE_OPTIONS[0]),
    .operand = "table",
    .run = merge,
};

static const AppCommand* const SUBCOMMANDS[] = {&MERGE, NULL};

const AppCommand app_study_command = {
    .name = "study",
    .synopsis = "STUDY.yaml [OPTION]...",
    .help = "run a designed study: factors, distributions, responses, sensitivity",
    .details =
        "Executes the runs of a study file, several in parallel, each in its own process. The file names a model, factors with\n"
        "distributions, a design (grid, latin-hypercube, sobol, sobol-indices, one-at-a-time, monte-carlo) and responses\n"
        "(final, min, max, mean, std, rms, peak, crossing, events of expressions of signals).\n"
        "\n"
        "  interim study tolerance.yaml --report tolerance.html\n"
        "  interim study tolerance.yaml --resume\n"
        "  interim study tolerance.yaml --shard 3/16        then: interim study merge tolerance.csv\n"
        "\n"
        "Writes NAME.csv and NAME.h5 (factors, verdicts, responses), NAME.effects.csv (correlations, main effects, Sobol'\n"
        "indices with intervals), NAME.costs.csv (times, machines, repetitions) and NAME.journal, to which every completed\n"
        "run is added and from which --resume continues. The first two are the same, byte for byte, for any number of\n"
        "processes, shards and interruptions. Exit status: 0 all runs were executed; 1 wrong usage or invalid file;\n"
        "128 + signal number if interrupted.",
    .options = OPTIONS,
    .noption = (int)(sizeof OPTIONS / sizeof OPTIONS[0]),
    .operand = "study file",
    .run = study,
    .subcommands = SUBCOMMANDS,
};
