// interim fmu run and interim fmu compare: one FMU alone, in its host process. All values are in the units of the FMU.
#include "fmu.h"

#include "fmi/binary.h"
#include "fmi/fmu.h"
#include "io/results/results_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_VALUES 256
#define DEFAULT_STEPS 500  // of an FMU that names no step

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

// ---------------------------------------------------------------------------- choices

typedef struct Run {
    const AppArguments* arguments;
    ItmFmu* fmu;
    ItmFmuDef def;
    ItmFmuValue values[MOST_VALUES];
    const char* records[MOST_VALUES];
    double start, stop, step;
    ItmTable* input;
    ItmSubsystem table;
    ItmFmuProcess* process;
    ItmResults* results;
    double *u, *y;
    ItmError error;
} Run;

static bool complain(Run* r, const char* format, const char* text)
{
    char message[400];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(message, sizeof message, format, text);
#pragma GCC diagnostic pop
    snprintf(r->error.message, sizeof r->error.message, "%s", message);
    return false;
}

// A number of an option, or `absent`.
static bool get_number(Run* r, const char* option, double absent, double* value)
{
    const char* text = app_arguments_get(r->arguments, option);
    char* end = NULL;
    *value = text != NULL ? strtod(text, &end) : absent;
    return text == NULL || (end != text && *end == '\0' && isfinite(*value)) || complain(r, "'%s' is no number", text);
}

// NAME=VALUE
static bool get_values(Run* r)
{
    for (int i = 0; i < r->arguments->noverride && i < MOST_VALUES; i++) {
        char* equal = strchr(r->arguments->overrides[i], '=');
        if (equal == NULL) {
            return complain(r, "--set needs NAME=VALUE, not '%s'", r->arguments->overrides[i]);
        }
        *equal = '\0';
        char* end;
        double number = strtod(equal + 1, &end);
        r->values[r->def.nvalue++] = (ItmFmuValue){.variable = r->arguments->overrides[i],
                                                   .text = equal + 1,
                                                   .has_number = end != equal + 1 && *end == '\0',
                                                   .number = {.value = number, .is_bare = true}};
    }
    r->def.values = r->values;
    return true;
}

static bool get_times(Run* r)
{
    const ItmFmiDescription* d = itm_fmi_get_description(r->fmu);
    double start = isnan(d->start_time) ? 0.0 : d->start_time, tolerance;
    if (!get_number(r, "--start", start, &r->start) || !get_number(r, "--tolerance", 0.0, &tolerance)) {
        return false;
    }
    double stop = d->stop_time > r->start ? d->stop_time : r->start + 1.0;
    if (!get_number(r, "--until", stop, &r->stop) ||
        !get_number(r, "--step", d->step_size > 0.0 ? d->step_size : (r->stop - r->start) / DEFAULT_STEPS, &r->step)) {
        return false;
    }
    if (!(r->stop > r->start) || !(r->step > 0.0)) {
        return complain(r, "%s", "the end must lie after the start, and the step must be positive");
    }
    double fixed = d->kinds[ITM_FMI_CO_SIMULATION].fixed_step;
    if (fixed > 0.0 && !d->kinds[ITM_FMI_CO_SIMULATION].can_handle_variable_step) {
        r->step = fixed * fmax(1.0, round(r->step / fixed));
    }
    r->def.start = r->start;
    r->def.stop = r->stop;
    r->def.step = r->step;
    r->def.tolerance = tolerance;
    return true;
}

static bool get_kind(Run* r)
{
    const char* kind = app_arguments_get(r->arguments, "--kind");
    if (kind != NULL && strcmp(kind, "co-simulation") != 0 && strcmp(kind, "model-exchange") != 0) {
        return complain(r, "'%s' is no kind: co-simulation or model-exchange", kind);
    }
    r->def.kind = kind == NULL                         ? ITM_NONE
                  : strcmp(kind, "co-simulation") == 0 ? ITM_FMI_CO_SIMULATION
                                                       : ITM_FMI_MODEL_EXCHANGE;
    return true;
}

static void get_records(Run* r, const ItmTable* reference)
{
    for (int i = 0; i < r->arguments->nword && r->def.nrecord < MOST_VALUES; i++) {
        if (strcmp(r->arguments->words[i].option->name, "--record") == 0) {
            r->records[r->def.nrecord++] = r->arguments->words[i].value;
        }
    }
    for (int i = 1; reference != NULL && i < reference->ncolumn && r->def.nrecord < MOST_VALUES; i++) {
        r->records[r->def.nrecord++] = reference->names[i];
    }
    r->def.records = r->records;
}

static bool choose(Run* r, const ItmTable* reference)
{
    if (itm_fmi_open(&r->fmu, r->arguments->model, &r->error) != ITM_OK) {
        return false;
    }
    r->def = itm_default_fmi_def();
    r->def.keeps_units = r->def.is_stateless = true;
    r->def.is_logging = app_arguments_get(r->arguments, "--log") != NULL;
    get_records(r, reference);
    if (!get_kind(r) || !get_values(r) || !get_times(r)) {
        return false;
    }
    const char* input = app_arguments_get(r->arguments, "--input");
    if (input != NULL && itm_results_read(&r->input, input, &r->error) != ITM_OK) {
        return false;
    }
    return itm_fmi_choose(r->fmu, &r->def, &r->error) == ITM_OK &&
           itm_fmi_make_subsystem(&r->table, r->fmu, &r->process, &r->error) == ITM_OK;
}

// ---------------------------------------------------------------------------- inputs

// Value of a column at a time: linear, or the last one where the variable is discrete; two rows of one time are a jump.
static double interpolate(const ItmTable* t, int column, double time, bool is_linear)
{
    long low = 0, high = t->nrow - 1;
    while (low < high) {
        long middle = (low + high + 1) / 2;
        if (itm_results_table_get(t, middle, 0) <= time) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    double from = itm_results_table_get(t, low, 0), value = itm_results_table_get(t, low, column);
    if (!is_linear || low + 1 >= t->nrow || time <= from) {
        return value;
    }
    double to = itm_results_table_get(t, low + 1, 0);
    return value + (time - from) / (to - from) * (itm_results_table_get(t, low + 1, column) - value);
}

static void feed(Run* r, double time, double middle)
{
    const ItmFmuSpec* spec = itm_fmi_get_spec(r->fmu);
    for (int i = 0; r->input != NULL && i < spec->ninput; i++) {
        int column = itm_results_table_find(r->input, itm_fmi_get_input_name(r->fmu, i));
        bool is_linear = !spec->inputs[i].is_discrete;
        if (column != ITM_NONE && r->input->nrow > 0) {
            r->u[i] = interpolate(r->input, column, is_linear ? middle : time, is_linear);
        }
    }
    if (r->input != NULL) {
        r->table.set_inputs(r->table.self, r->u);
    }
}

// ---------------------------------------------------------------------------- steps

static bool record(Run* r, double time)
{
    r->table.get_outputs(r->table.self, r->y);
    return r->table.do_step(r->table.self, time, 0.0, &r->error) == ITM_OK &&
           (r->results == NULL || itm_results_append(r->results, time, r->y, &r->error) == ITM_OK);
}

// Communication points: multiples of the step, and the end. An FMU that takes no other step ends before it.
static long count_steps(const Run* r)
{
    double n = (r->stop - r->start) / r->step;
    bool is_cut = itm_fmi_get_fixed_step(r->fmu) == 0.0;
    return (long)fmax(1.0, is_cut ? ceil(n - 1e-6) : floor(n + 1e-6));
}

static double get_point(const Run* r, long i, long n)
{
    bool is_end = i == n && itm_fmi_get_fixed_step(r->fmu) == 0.0;
    return is_end ? r->stop : r->start + (double)i * r->step;
}

// Inputs over a step are those of its middle; outputs at its end are read with the inputs of the end. A step is the difference of
// two communication points, because an FMU may refuse to pass its stop time by a rounding error.
static bool step_to_the_end(Run* r, double* time, long* nstep)
{
    long n = count_steps(r);
    *time = r->start;
    feed(r, r->start, r->start);
    bool is_good = record(r, r->start);
    for (long i = 0; i < n && is_good && app_signals_get() == 0; i++) {
        double t = get_point(r, i, n), end = get_point(r, i + 1, n);
        feed(r, t, 0.5 * (t + end));
        is_good = r->table.do_step(r->table.self, t - r->start, end - t, &r->error) == ITM_OK;
        if (!is_good && strcmp(r->error.field, ITM_FMU_END) == 0) {
            // the FMU ends the run, in order; its outputs are those of the end
            r->table.get_outputs(r->table.self, r->y);
            *time = end;
            return r->results == NULL || itm_results_append(r->results, *time, r->y, &r->error) == ITM_OK;
        }
        feed(r, end, end);
        *time = is_good ? end : t;
        is_good = is_good && record(r, end);
        *nstep = i + 1;
    }
    return is_good;
}

static void print_log(Run* r)
{
    uint64_t nleft_out = 0;
    if (r->process != NULL && app_arguments_get(r->arguments, "--log") != NULL) {
        const char* log = itm_fmi_get_log(r->process, &nleft_out);
        fputs(log, stdout);
        if (nleft_out > 0) {
            printf("(%llu bytes of messages left out)\n", (unsigned long long)nleft_out);
        }
    }
}

static int simulate(Run* r, const char* path, bool is_quiet)
{
    const ItmFmuSpec* spec = itm_fmi_get_spec(r->fmu);
    const ItmFmiDescription* d = itm_fmi_get_description(r->fmu);
    r->u = calloc((size_t)spec->ninput + 1, sizeof *r->u);
    r->y = calloc((size_t)spec->noutput + 1, sizeof *r->y);
    if (r->u == NULL || r->y == NULL) {
        complain(r, "%s", "out of memory");
        return APP_BAD_INPUT;
    }
    memcpy(r->u, r->table.input_start, sizeof(double) * (size_t)spec->ninput);
    if (path != NULL && itm_results_create_columns(&r->results, path, r->table.outputs, spec->noutput, "",
                                                   d->model_name, &r->error) != ITM_OK) {
        return APP_BAD_INPUT;
    }
    app_signals_catch();
    double wall = app_wall_time(), time = 0.0;
    long nstep = 0;
    bool is_good = step_to_the_end(r, &time, &nstep);
    wall = app_wall_time() - wall;
    bool is_over = is_good && app_signals_get() == 0;
    ItmError closing = {0};
    ItmVerdict verdict = !is_good ? ITM_VERDICT_BROKE_DOWN : is_over ? ITM_VERDICT_FINISHED : ITM_VERDICT_INTERRUPTED;
    ItmStatus closed = r->results != NULL
                           ? itm_results_close(r->results, verdict, is_good ? NULL : r->error.message, &closing)
                           : ITM_OK;
    r->results = NULL;
    print_log(r);
    if (closed != ITM_OK) {
        r->error = closing;
        return APP_BAD_INPUT;
    }
    if (!is_quiet) {
        printf("%s: %s at %.9g s\n  steps        %ld of %g s, %s\n  wall time    %.3g s, %.3g us per step\n",
               d->model_name,
               is_over   ? "finished"
               : is_good ? "interrupted"
                         : "broke down",
               time, nstep, r->step, spec->is_exchange ? "model exchange" : "co-simulation", wall,
               1e6 * wall / (double)(nstep > 0 ? nstep : 1));
    }
    return !is_good ? APP_BROKE_DOWN : is_over ? APP_FINISHED : 128 + app_signals_get();
}

static void finish(Run* r)
{
    if (r->table.destroy != NULL) {
        r->table.destroy(r->table.self);
    }
    itm_fmi_close(r->fmu);
    itm_results_table_destroy(r->input);
    free(r->u);
    free(r->y);
}

// ---------------------------------------------------------------------------- commands

static int run(const AppArguments* arguments)
{
    Run r = {.arguments = arguments};
    char* path = NULL;
    if (!app_report_choose_results(&path, arguments)) {
        fprintf(stderr, "interim: out of memory\n");
        return APP_BAD_INPUT;
    }
    int status = choose(&r, NULL) ? simulate(&r, path, arguments->is_quiet) : APP_BAD_INPUT;
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

// Simulate into a folder that goes away again, and compare.
static int compare_in(Run* r, const char* folder, const char* reference, const ItmTable* wanted)
{
    char path[512], description[512];
    snprintf(path, sizeof path, "%s/run.csv", folder);
    snprintf(description, sizeof description, "%s/run.json", folder);
    int status = choose(r, wanted) ? simulate(r, path, true) : APP_BAD_INPUT;
    if (status == APP_FINISHED) {
        status = app_fmu_compare_files(path, reference, itm_fmi_get_description(r->fmu));
    } else {
        printf("%s: %s\n", status == APP_BROKE_DOWN ? "failed" : "refused", r->error.message);
    }
    unlink(path);
    unlink(description);
    rmdir(folder);
    return status;
}

static int compare(const AppArguments* arguments)
{
    const char *reference = app_arguments_get(arguments, "--reference"), *room = getenv("TMPDIR");
    ItmTable* wanted = NULL;
    Run r = {.arguments = arguments};
    char folder[400];
    if (reference == NULL) {
        fprintf(stderr, "interim: fmu compare needs --reference FILE\n");
        return APP_BAD_INPUT;
    }
    if (itm_results_read(&wanted, reference, &r.error) != ITM_OK) {
        printf("refused: %s\n", r.error.message);
        return APP_BAD_INPUT;
    }
    snprintf(folder, sizeof folder, "%.300s/interim-compare-XXXXXX", room != NULL ? room : "/tmp");
    int status = APP_BAD_INPUT;
    if (mkdtemp(folder) != NULL) {
        status = compare_in(&r, folder, reference, wanted);
    } else {
        printf("refused: no folder for results in '%s'\n", folder);
    }
    finish(&r);
    itm_results_table_destroy(wanted);
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
