// interim run: load, step, write results, print the outcome.
#include "app.h"

#include "mechanisms.h"
#include "system.h"

#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const AppOption OPTIONS[] = {
    {APP_OPTION_OUTPUT, "--output", 'o', "FILE", NULL, "write results to FILE, ending in .csv, .h5 or .hdf5"},
    {APP_OPTION_WORD, "--report", 'r', "FILE.html", NULL, "write a report of the run"},
    {APP_OPTION_OVERRIDE, "--set", 's', "KEY=VALUE", NULL,
     "change a value of the model, as in run.step=2ms; may be repeated"},
    {APP_OPTION_OVERRIDE, "--until", 'u', "TIME", "run.duration", "simulate up to TIME, as in 2s or 500ms"},
    {APP_OPTION_OVERRIDE, "--every", 'e', "TIME", "run.output_interval",
     "spacing of the results, a multiple of a fixed step"},
    {APP_OPTION_WORD, "--checkpoint", 0, "TIME", NULL,
     "write a checkpoint every TIME of wall time, as in 60s, or of simulated time, as in sim:0.5s"},
    {APP_OPTION_WORD, "--resume", 0, NULL, NULL, "continue from the checkpoint of a run that did not finish"},
    {APP_OPTION_WORD, "--strict", 0, NULL, NULL, "end with status 3 if the run finishes with doubts"},
    {APP_OPTION_WORD, "--verbose", 'v', NULL, NULL,
     "a longer summary: every subsystem, the solver, redundant constraints, cost"},
    {APP_OPTION_QUIET, "--quiet", 'q', NULL, NULL, "no progress bar and no summary; doubts are still printed"},
    {APP_OPTION_SANDBOX, "--sandbox", 0, "DIR", NULL, "refuse a model that refers to files outside DIR"},
    {APP_OPTION_HELP, "--help", 'h', NULL, NULL, "show this help"},
};

#define LOOK_PERIOD 0.05  // s of wall time between two looks at signals and progress

const AppRunEngine* app_run_engine = NULL;

// One run from start to end.
typedef struct Run {
    ItmModelFile* file;
    ItmCosim* cosim;
    ItmRun* run;
    AppRunSummary summary;
    char* results_path;  // of the results; a file that goes away again where only a report is wanted; NULL: none
    char* checkpoint;    // path of the checkpoint file; NULL: none
} Run;

// ---------------------------------------------------------------------------- set-up

static void note_step(void* context, ItmCosim* cosim)
{
    app_system_note_step(context, cosim);
}

static void note_row(void* context, ItmCosim* cosim)
{
    app_system_note_outputs(context, cosim);
}

// "60s", wall time, or "sim:0.5s", simulated time. Prints a complaint.
static bool read_interval(const char* text, ItmRunOptions* options)
{
    static const char SIMULATED[] = "sim:";
    options->is_interval_simulated = strncmp(text, SIMULATED, sizeof SIMULATED - 1) == 0;
    const char* time = options->is_interval_simulated ? text + sizeof SIMULATED - 1 : text;
    char unit[32];
    ItmError error = {0};
    if (itm_expression_evaluate(time, &options->checkpoint_interval, unit, sizeof unit, &error) != ITM_OK ||
        strcmp(unit, "s") != 0 || !(options->checkpoint_interval > 0.0)) {
        fprintf(stderr,
                "interim run: --checkpoint requires a positive time, as in 60s (wall time) or sim:0.5s (simulated "
                "time), got '%s'\n",
                text);
        return false;
    }
    return true;
}

// Checkpoints are beside the results, which they belong to.
static bool choose_checkpoint(Run* r, const AppArguments* arguments, ItmRunOptions* options)
{
    const char* interval = app_arguments_get(arguments, "--checkpoint");
    options->is_resumed = app_arguments_get(arguments, "--resume") != NULL;
    bool is_spread = app_run_engine != NULL && arguments->output != NULL;  // its processes may die
    if (interval == NULL && !options->is_resumed && !is_spread) {
        return true;
    }
    if (arguments->output == NULL) {
        fprintf(stderr, "interim run: %s requires results: -o FILE\n", interval != NULL ? "--checkpoint" : "--resume");
        return false;
    }
    options->checkpoint_interval = INFINITY;  // a run that is only continued writes a last one when it is stopped
    r->checkpoint = app_path_replace_ending(arguments->output, ".checkpoint");
    options->checkpoint = r->checkpoint;
    if (r->checkpoint == NULL) {
        app_print_error(&(ItmError){.status = ITM_ERR_MEMORY});
        return false;
    }
    return interval == NULL || read_interval(interval, options);
}

// What a continued run has in its summary comes from a file.
static void check_summary(Run* r, const AppArguments* arguments)
{
    r->summary.is_verbose = app_arguments_get(arguments, "--verbose") != NULL;
    r->summary.redundant_names[sizeof r->summary.redundant_names - 1] = '\0';
    app_clean_text(r->summary.redundant_names);
    double time = itm_run_get_info(r->run).resumed_at;
    if (!arguments->is_quiet && r->checkpoint != NULL && app_arguments_get(arguments, "--resume") != NULL) {
        fprintf(stderr,
                isfinite(time) ? "interim: continued at %.9g s from '%s'\n"
                               : "interim: begun at %.9g s: there is no checkpoint '%s'\n",
                isfinite(time) ? time : 0.0, r->checkpoint);
    }
}

// Doubts and failures are printed at the end, with their largest values.
static void print_recovery(void* user, const ItmMessage* message)
{
    (void)user;
    if (message->kind == ITM_MESSAGE_RECOVERY) {
        fprintf(stderr, "interim: '%s' was restarted at %.9g s: %s\n", message->where, message->time, message->text);
    }
}

// A process among several that has no results: step its parts until the run is over.
static int serve(Run* r, const AppArguments* arguments)
{
    ItmError error = {0};
    r->file = app_load(arguments);
    ItmStatus status = r->file != NULL ? itm_file_create_cosim(&r->cosim, r->file, NULL, &error) : ITM_ERR_INPUT;
    status = status == ITM_OK ? app_run_engine->join(r->cosim, r->file, &error) : status;
    status = status == ITM_OK ? itm_ranks_serve(r->cosim, &error) : status;
    if (status != ITM_OK) {
        app_run_engine->fail(&error);
    }
    return status == ITM_OK ? APP_FINISHED : APP_BAD_INPUT;
}

// Create the run. Checkpoints that nobody asked for are left out where the state of a part cannot be kept in a file.
static ItmStatus create_run(Run* r, ItmRunOptions* options, bool is_asked, ItmError* error)
{
    ItmStatus status = itm_run_create(&r->run, r->file, r->cosim, options, error);
    if (status == ITM_ERR_UNSUPPORTED && options->checkpoint != NULL && !is_asked) {
        options->checkpoint = NULL;
        status = itm_run_create(&r->run, r->file, r->cosim, options, error);
    }
    return status;
}

static bool set_up(Run* r, const AppArguments* arguments)
{
    r->file = app_load(arguments);
    if (r->file == NULL) {
        return false;
    }
    for (int i = 0; i < r->file->nnote && !arguments->is_quiet; i++) {
        fprintf(stderr, "interim: note: %s\n", r->file->notes[i]);
    }
    ItmRunOptions options = itm_default_run_options(r->file);
    if (!choose_checkpoint(r, arguments, &options)) {
        return false;
    }
    if (!arguments->is_quiet) {
        app_warn_to_stderr();
        app_mechanisms_warn(r->file, false);
    }
    ItmError error = {0};
    ItmStatus status = itm_file_create_cosim(&r->cosim, r->file, NULL, &error);
    status = status == ITM_OK && app_run_engine != NULL ? app_run_engine->join(r->cosim, r->file, &error) : status;
    status = status == ITM_OK && !app_report_choose_results(&r->results_path, arguments) ? ITM_ERR_MEMORY : status;
    app_signals_catch();  // from here on there is a file that an interrupted run must finish
    options.path = r->results_path;
    options.context = &r->summary;
    options.context_size = sizeof r->summary;
    options.note_step = note_step;
    options.note_row = note_row;
    itm_cosim_set_message_handler(r->cosim, print_recovery, NULL);
    bool is_asked = app_arguments_get(arguments, "--checkpoint") != NULL || options.is_resumed;
    status = status == ITM_OK ? create_run(r, &options, is_asked, &error) : status;
    if (status != ITM_OK) {
        error.status = status;
        app_print_error(&error);
        return false;
    }
    check_summary(r, arguments);
    return true;
}

static void tear_down(Run* r)
{
    itm_run_destroy(r->run);
    free(r->results_path);
    free(r->checkpoint);
    itm_cosim_destroy(r->cosim);
    itm_file_destroy(r->file);
}

// ---------------------------------------------------------------------------- stepping

// Step to the end, or until a signal comes.
static ItmStatus step_to_the_end(Run* r, AppProgress* progress)
{
    ItmStatus status = ITM_OK;
    while (status == ITM_OK && itm_run_get_info(r->run).verdict == ITM_VERDICT_RUNNING) {
        if (app_signals_get() != 0) {
            char by[32];
            snprintf(by, sizeof by, "signal %d", app_signals_get());
            itm_run_stop(r->run, by);
        } else {
            status = itm_run_advance(r->run, LOOK_PERIOD);
            app_progress_update(progress, itm_run_get_info(r->run).time);
        }
    }
    return status;
}

// ---------------------------------------------------------------------------- end

static void print_doubts(ItmCosim* cosim)
{
    for (int i = 0; i < itm_cosim_get_doubt_count(cosim); i++) {
        ItmDoubt doubt = itm_cosim_get_doubt(cosim, i);
        char text[400];
        itm_verdict_describe_doubt(&doubt, text, sizeof text);
        fprintf(stderr, "interim: doubt: %s\n", text);
    }
}

static int choose_status(ItmVerdict verdict, bool is_strict)
{
    switch (verdict) {
    case ITM_VERDICT_INTERRUPTED:
        return app_signals_get() != 0 ? 128 + app_signals_get()
                                      : APP_BROKE_DOWN;  // a process that is lost is no signal
    case ITM_VERDICT_BROKE_DOWN:
        return APP_BROKE_DOWN;
    case ITM_VERDICT_DOUBTFUL:
        return is_strict ? APP_DOUBTFUL : APP_FINISHED;
    default:
        return APP_FINISHED;
    }
}

// Close the results and print the reason of an early end, then the doubts; the exit status.
static int finish(Run* r, ItmStatus status, const AppArguments* arguments)
{
    const char* reason = itm_run_get_reason(r->run);
    if (reason[0] != '\0') {
        fprintf(stderr, "interim: %s\n", reason);
    }
    if (itm_ranks_get_info(r->cosim).is_lost && r->checkpoint != NULL) {
        fprintf(stderr, "interim: continue from the checkpoint '%s' with --resume\n", r->checkpoint);
    }
    ItmCosimScale scale = itm_cosim_get_scale(r->cosim);
    r->summary.energy = scale.energy;
    r->summary.energy_error = scale.energy_error;
    ItmResults* results = itm_run_get_results(r->run);
    app_system_add_numbers(&r->summary, r->file, r->cosim, results, itm_run_get_info(r->run).time);
    for (int i = 0; i < arguments->noverride && results != NULL; i++) {
        // without memory a comparison names the run by its file
        itm_results_add_setting(results, arguments->overrides[i], NULL);
    }
    ItmStatus closed = itm_run_close(r->run);
    print_doubts(r->cosim);
    if (status != ITM_OK || closed != ITM_OK) {
        app_print_error(itm_run_get_error(r->run));
        return APP_BAD_INPUT;
    }
    return choose_status(itm_run_get_info(r->run).verdict, app_arguments_get(arguments, "--strict") != NULL);
}

static void print_summary(Run* r, const char* output)
{
    ItmRunInfo info = itm_run_get_info(r->run);
    r->summary.nrow = info.nrow;
    app_summary_print_head(r->file->title, info.verdict, info.time);
    app_system_print_summary(&r->summary, r->file, r->cosim);
    app_summary_print_tail(&r->summary, info.time, output, itm_cosim_get_output_count(r->cosim));
}

static int run(const AppArguments* arguments)
{
    Run r = {.summary.is_verbose = app_arguments_get(arguments, "--verbose") != NULL};
    if (app_run_engine != NULL && app_run_engine->is_server) {
        int served = serve(&r, arguments);
        tear_down(&r);
        return served;
    }
    if (!set_up(&r, arguments)) {
        tear_down(&r);
        return APP_BAD_INPUT;
    }
    AppProgress progress = app_progress_begin(r.file->run.duration, arguments->is_quiet);
    ItmStatus stepped = step_to_the_end(&r, &progress);
    app_progress_end(&progress);
    r.summary.wall_time = app_wall_time() - progress.start;

    int status = finish(&r, stepped, arguments);
    bool is_stored = status != APP_BAD_INPUT;
    if (!arguments->is_quiet && is_stored) {
        print_summary(&r, arguments->output);
    }
    if (app_arguments_get(arguments, "--report") != NULL && is_stored) {
        status = app_report_after_run(arguments, r.results_path, status);
    }
    tear_down(&r);
    return status;
}

const AppCommand app_run_command = {
    .name = "run",
    .synopsis = "MODEL.yaml [OPTION]...",
    .help = "simulate a model and write its results",
    .details =
        "Simulates a model from time 0 to run.duration. The results have one row every run.output_interval; the first\n"
        "column is time. Units and descriptions are in a JSON file beside a CSV file, or in HDF5 attributes.\n"
        "During a run the rows are in FILE with .part before the extension, which replaces an existing FILE only at the\n"
        "end. A run that breaks down (status 2) or is interrupted (status 128 + signal) keeps the results so far.\n"
        "\n"
        "A run finishes with doubts if its energy balance, momentum, penetration, joint gap, interface gap or solver\n"
        "residual leaves its bounds (run.bounds). Each doubt is printed with the first time and the largest value. The\n"
        "status is then 0, or 3 with --strict.\n"
        "\n"
        "With --checkpoint, the state of the run is saved next to FILE, with the endings .checkpoint and\n"
        ".checkpoint.rows. After kill -9, a crash or a signal, the same command with --resume continues the run: the\n"
        "results have the same bits as without the interruption. A checkpoint of another model, other options or another\n"
        "build is refused. Both files are removed when the run ends.",
    .options = OPTIONS,
    .noption = (int)(sizeof OPTIONS / sizeof OPTIONS[0]),
    .run = run,
};
