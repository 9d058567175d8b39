// interim fmu run and interim fmu compare: one FMU alone, in its host process. All values are in the units of the FMU.
#include "fmu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMON_OPTIONS                                                                                                 \
    {APP_OPTION_OVERRIDE, "--set", 's', "NAME=VALUE", NULL, "start value of a variable, repeatable"},                  \
        {APP_OPTION_WORD, "--input", 'i', "FILE", NULL, "inputs over time (CSV: time and variables by name)"},         \
        {APP_OPTION_WORD, "--kind", 0, "KIND", NULL, "co-simulation (default if there is one) or model-exchange"},     \
        {APP_OPTION_WORD, "--start", 0, "TIME", NULL, "start time, s (that of the FMU, or 0)"},                        \
        {APP_OPTION_WORD, "--until", 0, "TIME", NULL, "end time, s (that of the FMU, or 1)"},                          \
        {APP_OPTION_WORD, "--step", 0, "TIME", NULL, "step, s (that of the FMU, or 1/500 of the run)"},                \
        {APP_OPTION_WORD, "--tolerance", 0, "NUMBER", NULL, "relative tolerance of the integration"},                  \
        {APP_OPTION_WORD, "--record", 0, "PATTERN", NULL, "variables to record beside the outputs, repeatable"},       \
        {APP_OPTION_WORD, "--log", 0, NULL, NULL, "print the messages of the FMU"},                                    \
        {APP_OPTION_QUIET, "--quiet", 'q', NULL, NULL, "print errors only"},                                           \
    {                                                                                                                  \
        APP_OPTION_HELP, "--help", 'h', NULL, NULL, "show this help"                                                   \
    }

static const AppOption RUN_OPTIONS[] = {
    {APP_OPTION_OUTPUT, "--output", 'o', "FILE", NULL, "write the results (.csv, .h5)"},
    {APP_OPTION_WORD, "--report", 'r', "FILE.html", NULL, "write a report page"},
    COMMON_OPTIONS,
};
static const AppOption COMPARE_OPTIONS[] = {
    {APP_OPTION_WORD, "--reference", 0, "FILE", NULL, "results to compare with (CSV)"},
    COMMON_OPTIONS,
};

// ---------------------------------------------------------------------------- options

typedef struct Run {
    const AppArguments* arguments;
    ItmFmu* fmu;
    ItmFmuRunOptions options;
    const char** records;
    ItmTable* input;
    ItmError error;
} Run;

static bool complain(Run* r, const char* text, const char* about)
{
    snprintf(r->error.message, sizeof r->error.message, "'%.300s' %s", text, about);
    return false;
}

// A number of an option; NAN or 0 stays where it is not given.
static bool get_number(Run* r, const char* option, double* value)
{
    const char* text = app_arguments_get(r->arguments, option);
    char* end = NULL;
    *value = text != NULL ? strtod(text, &end) : *value;
    return text == NULL || (end != text && *end == '\0' && isfinite(*value)) || complain(r, text, "is no number");
}

static bool get_kind(Run* r)
{
    const char* kind = app_arguments_get(r->arguments, "--kind");
    if (kind != NULL && strcmp(kind, "co-simulation") != 0 && strcmp(kind, "model-exchange") != 0) {
        return complain(r, kind, "is no kind: co-simulation or model-exchange");
    }
    r->options.kind = kind == NULL                         ? ITM_FMU_ANY_KIND
                      : strcmp(kind, "co-simulation") == 0 ? ITM_FMU_CO_SIMULATION
                                                           : ITM_FMU_MODEL_EXCHANGE;
    return true;
}

static bool get_records(Run* r)
{
    const AppArguments* a = r->arguments;
    r->records = calloc((size_t)a->nword + 1, sizeof *r->records);
    for (int i = 0; i < a->nword && r->records != NULL; i++) {
        if (strcmp(a->words[i].option->name, "--record") == 0) {
            r->records[r->options.nrecord++] = a->words[i].value;
        }
    }
    r->options.records = r->records;
    return r->records != NULL || complain(r, "--record", "needs more memory than there is");
}

static bool is_signalled(void* context)
{
    (void)context;
    return app_signals_get() != 0;
}

static void print_messages(void* context, const char* messages)
{
    (void)context;
    fputs(messages, stdout);
}

static bool prepare(Run* r)
{
    const AppArguments* a = r->arguments;
    ItmFmuRunOptions* o = &r->options;
    *o = itm_default_fmu_run_options();
    o->settings = (const char* const*)a->overrides;
    o->nsetting = a->noverride;
    o->is_stopped = is_signalled;
    o->is_logging = app_arguments_get(a, "--log") != NULL;
    o->note_messages = o->is_logging ? print_messages : NULL;
    const char* input = app_arguments_get(a, "--input");
    bool is_good = itm_fmu_open(&r->fmu, a->model, &r->error) == ITM_OK && get_kind(r) && get_records(r) &&
                   get_number(r, "--start", &o->start) && get_number(r, "--until", &o->stop) &&
                   get_number(r, "--step", &o->step) && get_number(r, "--tolerance", &o->tolerance) &&
                   (input == NULL || itm_results_read(&r->input, input, &r->error) == ITM_OK);
    o->input = r->input;
    app_signals_catch();
    return is_good;
}

static void finish(Run* r)
{
    itm_fmu_close(r->fmu);
    itm_results_table_destroy(r->input);
    free(r->records);
}

// ---------------------------------------------------------------------------- run

static int get_exit_status(const ItmFmuRunInfo* info)
{
    return info->verdict == ITM_VERDICT_FINISHED      ? APP_FINISHED
           : info->verdict == ITM_VERDICT_INTERRUPTED ? 128 + app_signals_get()
                                                      : APP_BROKE_DOWN;
}

static void print_outcome(const Run* r, const ItmFmuRunInfo* info)
{
    const char* verdict = info->verdict == ITM_VERDICT_FINISHED      ? "finished"
                          : info->verdict == ITM_VERDICT_INTERRUPTED ? "interrupted"
                                                                     : "broke down";
    printf("%s: %s at %.9g s\n  steps        %ld of %g s, %s\n  wall time    %.3g s, %.3g us per step\n",
           itm_fmu_get_info(r->fmu).model_name, verdict, info->time, info->nstep, info->step,
           info->kind == ITM_FMU_MODEL_EXCHANGE ? "model exchange" : "co-simulation", info->wall_time,
           1e6 * info->wall_time / (double)(info->nstep > 0 ? info->nstep : 1));
}

static int run(const AppArguments* arguments)
{
    Run r = {.arguments = arguments};
    char* path = NULL;
    if (!app_report_choose_results(&path, arguments)) {
        fprintf(stderr, "interim: out of memory\n");
        return APP_BAD_INPUT;
    }
    int status = APP_BAD_INPUT;
    ItmFmuRunInfo info = {0};
    if (prepare(&r)) {
        r.options.path = path;
        if (itm_fmu_run(&info, r.fmu, &r.options, &r.error) == ITM_OK) {
            status = get_exit_status(&info);
            r.error = info.reason;
            if (!arguments->is_quiet) {
                print_outcome(&r, &info);
            }
        }
    }
    if (r.error.message[0] != '\0' && status != APP_FINISHED) {
        app_print_error(&r.error);
    }
    bool has_results = status == APP_FINISHED || status == APP_BROKE_DOWN;
    finish(&r);
    if (path != NULL && has_results && app_arguments_get(arguments, "--report") != NULL) {
        status = app_report_after_run(arguments, path, status);
    }
    free(path);
    return status;
}

// ---------------------------------------------------------------------------- compare

static int print_verdict(const ItmFmuComparison* c)
{
    if (c->run.verdict != ITM_VERDICT_FINISHED) {
        printf("failed: %s\n", c->run.reason.message);
        return get_exit_status(&c->run);
    }
    if (c->has_passed) {
        printf("passed: %d signals; worst: %s, %.2g %% of its range at %g s\n", c->nsignal, c->worst,
               100.0 * c->worst_share, c->worst_time);
        return APP_FINISHED;
    }
    if (c->nsignal == 0) {
        printf("refused: the reference has no signals\n");
        return APP_BAD_INPUT;
    }
    if (c->missing != NULL) {
        printf("failed: the results have no signal '%s'\n", c->missing);
    } else if (c->nbad > 0) {
        printf("failed: %d of %d signals; worst: %s, %.3g %% of its range at %g s\n", c->nbad, c->nsignal, c->worst,
               100.0 * c->worst_share, c->worst_time);
    } else {
        printf("failed: the run ends at %g s, the reference at %g s\n", c->until, c->reference_until);
    }
    return APP_BROKE_DOWN;
}

static void print_refusal(const ItmError* error)
{
    printf("refused: ");
    if (error->file[0] != '\0' && error->line > 0) {
        printf("%s:%d:%d: ", error->file, error->line, error->column);
    } else if (error->file[0] != '\0') {
        printf("%s: ", error->file);
    }
    printf("%s\n", error->message);
}

static int compare(const AppArguments* arguments)
{
    const char* path = app_arguments_get(arguments, "--reference");
    ItmTable* reference = NULL;
    ItmFmuComparison comparison;
    Run r = {.arguments = arguments};
    if (path == NULL) {
        fprintf(stderr, "interim: fmu compare needs --reference FILE\n");
        return APP_BAD_INPUT;
    }
    int status = APP_BAD_INPUT;
    if (itm_results_read(&reference, path, &r.error) == ITM_OK && prepare(&r) &&
        itm_fmu_compare(&comparison, r.fmu, reference, &r.options, &r.error) == ITM_OK) {
        status = print_verdict(&comparison);
    } else {
        print_refusal(&r.error);
    }
    finish(&r);
    itm_results_table_destroy(reference);
    return status;
}

const AppCommand app_fmu_run_command = {
    .name = "fmu run",
    .synopsis = "FILE.fmu [OPTION]...",
    .help = "simulate an FMU alone",
    .details =
        "Simulates one FMU in a process of its own and records its outputs, in its own units. Exit status: 0 finished,\n"
        "1 wrong usage or an FMU that cannot be used, 2 the FMU failed; results up to there are kept.",
    .options = RUN_OPTIONS,
    .noption = sizeof RUN_OPTIONS / sizeof *RUN_OPTIONS,
    .operand = "FMU",
    .run = run,
};

const AppCommand app_fmu_compare_command = {
    .name = "fmu compare",
    .synopsis = "FILE.fmu --reference REF.csv [OPTION]...",
    .help = "simulate an FMU and compare it with a reference",
    .details = "Simulates one FMU and compares every signal of the reference with it: passed if all are within 1 % of\n"
               "their range, one sample of shift allowed at events. Exit status: 0 passed, 2 failed, 1 refused.",
    .options = COMPARE_OPTIONS,
    .noption = sizeof COMPARE_OPTIONS / sizeof *COMPARE_OPTIONS,
    .operand = "FMU",
    .run = compare,
};
