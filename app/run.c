// interim run: load, step, write results, say how it went.
#include "app.h"

#include "system.h"

#include <math.h>
#include <stdio.h>
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
    {APP_OPTION_WORD, "--strict", 0, NULL, NULL, "end with status 3 if the run finishes with doubts"},
    {APP_OPTION_QUIET, "--quiet", 'q', NULL, NULL, "no progress bar and no summary; doubts are still printed"},
    {APP_OPTION_HELP, "--help", 'h', NULL, NULL, "show this help"},
};

// One run from start to end.
typedef struct Run {
    ItmModelFile* file;
    ItmCosim* cosim;
    AppRunSummary summary;
    ItmResults* results;  // NULL without -o and --report
    char* results_path;   // of the results; a file that goes away again where only a report is wanted
    double* values;       // outputs of the present state   (noutput)
    int noutput;
    long nstep;        // to make in all, where the step is fixed
    long every;        // steps between two rows
    bool is_variable;  // a mechanism alone chooses its steps; rows stand at its times, or every output_interval
    long nrow_due;     // rows of output_interval so far
    ItmVerdict verdict;
    ItmError error;        // why it broke down
    bool is_recorded;      // the present state stands in the last row
    bool has_write_error;  // the results, not the simulation, failed
} Run;

// ---------------------------------------------------------------------------- set-up

// What stands before the names of a mechanism's signals.
static const char* name_mechanism(const Run* r, int mechanism)
{
    return itm_cosim_get_mechanism_count(r->cosim) == 1 && r->file->name[0] == '\0'
               ? ""
               : itm_cosim_get_mechanism_name(r->cosim, mechanism);
}

// Open the results.
static ItmStatus open_results(Run* r, const char* path)
{
    r->noutput = itm_cosim_get_output_count(r->cosim);
    r->values = calloc((size_t)r->noutput + 1, sizeof *r->values);
    ItmOutputInfo* columns = calloc((size_t)r->noutput + 1, sizeof *columns);
    ItmStatus status = r->values != NULL && columns != NULL ? ITM_OK : ITM_ERR_MEMORY;
    for (int i = 0; i < r->noutput && status == ITM_OK; i++) {
        columns[i] = itm_cosim_get_output_info(r->cosim, i);
    }
    if (status == ITM_OK && path != NULL) {
        status = itm_results_create_columns(&r->results, path, columns, r->noutput, "", r->file->title, &r->error);
    }
    for (int i = 0; i < itm_cosim_get_mechanism_count(r->cosim) && status == ITM_OK && r->results != NULL; i++) {
        status = itm_results_watch(r->results, itm_cosim_get_model(r->cosim, i), itm_cosim_get_data(r->cosim, i),
                                   name_mechanism(r, i), &r->error);
    }
    if (status == ITM_OK && r->results != NULL && itm_cosim_get_interface_count(r->cosim) > 0) {
        status = itm_results_watch_interfaces(r->results, r->cosim, &r->error);
    }
    free(columns);
    return status;
}

// Variable steps end at the next row, or at the end of the run.
static void set_stop(Run* r)
{
    double interval = r->file->run.output_interval, duration = r->file->run.duration;
    if (r->is_variable) {
        double row = (double)(r->nrow_due + 1) * interval;
        // a row that misses the end by rounding is the end: no step of 1e-17 s may follow it
        double stop = interval > 0.0 && row < duration - 1e-9 * interval ? row : duration;
        itm_data_set_stop_time(itm_cosim_get_data(r->cosim, 0), stop);
    }
}

static double get_time(const Run* r)
{
    return r->is_variable ? itm_data_get_time(itm_cosim_get_data(r->cosim, 0)) : itm_cosim_get_time(r->cosim);
}

static bool set_up(Run* r, const AppArguments* arguments)
{
    r->file = app_load(arguments);
    if (r->file == NULL) {
        return false;
    }
    if (r->file->nnote > 0 && !arguments->is_quiet) {
        fprintf(stderr, "interim: %d note%s about the model file (see: interim check %s)\n", r->file->nnote,
                r->file->nnote > 1 ? "s" : "", arguments->model);
    }
    const ItmRunSettings* run = &r->file->run;
    ItmStatus status = itm_file_create_cosim(&r->cosim, r->file, NULL, &r->error);
    r->results_path = app_report_choose_results(arguments);
    app_signals_catch();  // from here on there is a file that an interrupted run must finish
    status = status == ITM_OK ? open_results(r, r->results_path) : status;
    if (status != ITM_OK) {
        r->error.status = status;
        app_print_error(&r->error);
        return false;
    }
    // a duration that is a multiple of the step but for rounding gives exactly that many steps
    double step = itm_cosim_get_step(r->cosim);
    double interval = run->output_interval > 0.0 ? run->output_interval : r->file->cosim.options.macro_step;
    r->nstep = (long)ceil(run->duration / step * (1.0 - 1e-12));
    r->every = lround(interval / step);
    r->every = r->every > 0 ? r->every : 1;
    bool is_variable = run->step.stepper == ITM_STEPPER_VARIABLE || run->step.stepper == ITM_STEPPER_ADAPTIVE;
    bool is_alone = itm_cosim_get_mechanism_count(r->cosim) == 1 && itm_cosim_get_subsystem_count(r->cosim) == 0;
    r->is_variable = is_variable && is_alone;
    set_stop(r);
    return true;
}

static void tear_down(Run* r)
{
    free(r->values);
    free(r->results_path);
    itm_cosim_destroy(r->cosim);
    itm_file_destroy(r->file);
}

// ---------------------------------------------------------------------------- stepping

// Name of the first output that is not a number, or NULL.
static const char* find_not_finite(const Run* r)
{
    for (int i = 0; i < r->noutput; i++) {
        if (!isfinite(r->values[i])) {
            return itm_cosim_get_output_info(r->cosim, i).name;
        }
    }
    return NULL;
}

static bool break_down(Run* r, ItmStatus status)
{
    r->verdict = ITM_VERDICT_BROKE_DOWN;
    if (r->error.message[0] == '\0') {
        snprintf(r->error.message, sizeof r->error.message, "%s", itm_status_message(status));
    }
    return false;
}

// Compute the outputs and write them; false ends the run.
static bool record(Run* r)
{
    ItmStatus status = itm_cosim_compute_outputs(r->cosim, r->values);
    if (status != ITM_OK) {
        r->error = *itm_cosim_get_error(r->cosim);
        return break_down(r, status);
    }
    const char* name = find_not_finite(r);
    if (name != NULL) {
        snprintf(r->error.message, sizeof r->error.message, "output '%s' is not finite", name);
        return break_down(r, ITM_ERR_NOT_FINITE);
    }
    app_system_note_outputs(&r->summary, r->cosim);
    r->summary.nrow++;
    r->is_recorded = true;
    if (r->results != NULL && itm_results_append(r->results, get_time(r), r->values, &r->error) != ITM_OK) {
        r->has_write_error = true;
        return false;
    }
    return true;
}

// Whether the state after this step is one of the results.
static bool is_row_due(Run* r, long step)
{
    double interval = r->file->run.output_interval;
    if (!r->is_variable) {
        return (step + 1) % r->every == 0;
    }
    if (interval > 0.0 && get_time(r) < fmin(r->file->run.duration, (double)(r->nrow_due + 1) * interval)) {
        return false;
    }
    r->nrow_due++;
    set_stop(r);
    return true;
}

static bool is_at_end(const Run* r, long step)
{
    return r->is_variable ? get_time(r) >= r->file->run.duration : step >= r->nstep;
}

// One step, and its row if one is due; false ends the run.
static bool advance(Run* r, long step)
{
    ItmStatus status = r->is_variable ? itm_cosim_step_free(r->cosim) : itm_cosim_step(r->cosim);
    if (status != ITM_OK) {
        r->error = *itm_cosim_get_error(r->cosim);
        return break_down(r, status);
    }
    r->is_recorded = false;
    app_system_note_step(&r->summary, r->cosim);
    if (itm_results_note_step(r->results, get_time(r), &r->error) != ITM_OK) {
        r->has_write_error = true;
        return false;
    }
    return !is_row_due(r, step) || record(r);
}

// The last row is the last good state, also off the spacing; what ended the run stays the reason.
static void record_last(Run* r)
{
    ItmError error = r->error;
    ItmVerdict verdict = r->verdict;
    if (record(r) || verdict == ITM_VERDICT_BROKE_DOWN) {
        r->error = r->has_write_error ? r->error : error;
        r->verdict = verdict;
    }
}

static void step_to_the_end(Run* r, AppProgress* progress)
{
    long step = 0;
    bool is_going = itm_results_note_step(r->results, get_time(r), &r->error) == ITM_OK && record(r);
    while (is_going && !is_at_end(r, step) && app_signals_get() == 0) {
        is_going = advance(r, step);
        step += is_going;
        app_progress_update(progress, get_time(r));
    }
    if (is_going && !is_at_end(r, step)) {
        r->verdict = ITM_VERDICT_INTERRUPTED;
    }
    if (!r->is_recorded && !r->has_write_error) {
        record_last(r);
    }
}

// ---------------------------------------------------------------------------- end

// Print the doubts, give them to the results, and list them in `reason` (size) as far as they fit.
static void tell_doubts(Run* r, char* reason, size_t size)
{
    int ndoubt = itm_cosim_get_doubt_count(r->cosim);
    for (int i = 0; i < ndoubt; i++) {
        ItmDoubt doubt = itm_cosim_get_doubt(r->cosim, i);
        char text[400];
        itm_verdict_describe_doubt(&doubt, text, sizeof text);
        fprintf(stderr, "interim: doubt: %s\n", text);
        size_t used = strlen(reason);
        snprintf(reason + used, size - used, "%s%s", used > 0 ? "; " : "", text);
        if (r->results != NULL) {
            // without memory the description lacks a doubt, the verdict stands
            itm_results_add_doubt(r->results, &doubt, NULL);
        }
    }
    r->verdict = ndoubt > 0 && r->verdict == ITM_VERDICT_FINISHED ? ITM_VERDICT_DOUBTFUL : r->verdict;
}

static int choose_status(const Run* r, bool is_strict)
{
    switch (r->verdict) {
    case ITM_VERDICT_INTERRUPTED:
        return 128 + app_signals_get();
    case ITM_VERDICT_BROKE_DOWN:
        return APP_BROKE_DOWN;
    case ITM_VERDICT_DOUBTFUL:
        return is_strict ? APP_DOUBTFUL : APP_FINISHED;
    default:
        return APP_FINISHED;
    }
}

// Close the results and say what went wrong; the exit status.
static int finish(Run* r, bool is_strict)
{
    double time = get_time(r);
    char reason[2000] = "";
    if (r->verdict == ITM_VERDICT_BROKE_DOWN) {
        snprintf(reason, sizeof reason, "broke down at %.9g s: %s", time, r->error.message);
    } else if (r->verdict == ITM_VERDICT_INTERRUPTED) {
        snprintf(reason, sizeof reason, "interrupted at %.9g s by signal %d", time, app_signals_get());
    }
    if (reason[0] != '\0') {
        fprintf(stderr, "interim: %s\n", reason);
    }
    tell_doubts(r, reason, sizeof reason);
    ItmCosimScale scale = itm_cosim_get_scale(r->cosim);
    r->summary.energy = scale.energy;
    r->summary.energy_error = scale.energy_error;
    app_system_add_numbers(&r->summary, r->file, r->cosim, r->results);
    ItmError closing = {0};
    bool is_closed = itm_results_close(r->results, r->verdict, reason, &closing) == ITM_OK;
    if (r->has_write_error || !is_closed) {
        app_print_error(r->has_write_error ? &r->error : &closing);
        return APP_BAD_INPUT;
    }
    return choose_status(r, is_strict);
}

static void print_summary(const Run* r, const char* output)
{
    double time = get_time(r);
    app_summary_print_head(r->file->title, r->verdict, time);
    app_system_print_summary(&r->summary, r->file, r->cosim);
    app_summary_print_tail(&r->summary, time, output, r->noutput);
}

static int run(const AppArguments* arguments)
{
    Run r = {.verdict = ITM_VERDICT_FINISHED};
    if (!set_up(&r, arguments)) {
        tear_down(&r);
        return APP_BAD_INPUT;
    }
    AppProgress progress = app_progress_begin(r.file->run.duration, arguments->is_quiet);
    step_to_the_end(&r, &progress);
    app_progress_end(&progress);
    r.summary.wall_time = app_wall_time() - progress.start;

    int status = finish(&r, app_arguments_get(arguments, "--strict") != NULL);
    if (!arguments->is_quiet && !r.has_write_error) {
        print_summary(&r, arguments->output);
    }
    if (app_arguments_get(arguments, "--report") != NULL && !r.has_write_error) {
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
        "During a run the rows are in FILE with .part before the extension, which replaces an existing FILE\n"
        "only at the end. A run that breaks down (status 2) or is interrupted (status 128 +\n"
        "signal) keeps the results so far. A run whose energy balance, momentum, penetration, joint\n"
        "gap, interface gap or solver residual leaves its bounds (run.bounds) finishes with doubts, each\n"
        "printed with the first time and the largest value: status 0, or 3 with --strict.",
    .options = OPTIONS,
    .noption = (int)(sizeof OPTIONS / sizeof OPTIONS[0]),
    .run = run,
};
