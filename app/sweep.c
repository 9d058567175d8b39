#include "sweep.h"
#include "tables.h"

#include <math.h>
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
    {APP_OPTION_WORD, "--keep", 'k', "DIR", NULL, "keep the results of every run in DIR"},
    {APP_OPTION_WORD, "--report", 'r', "FILE.html", NULL, "write an HTML report with curves and maps; requires -o"},
    {APP_OPTION_OUTPUT, "--output", 'o', "FILE.csv", NULL, "also write the table to FILE.csv"},
    {APP_OPTION_QUIET, "--quiet", 'q', NULL, NULL, "print no progress bar and no table"},
    {APP_OPTION_SANDBOX, "--sandbox", 0, "DIR", NULL, "refuse a model that refers to files outside DIR"},
    {APP_OPTION_HELP, "--help", 'h', NULL, NULL, "show this help"},
};

static bool complain(const char* what, const char* text)
{
    fprintf(stderr, "interim sweep: %s '%s' (see: interim help sweep)\n", what, text);
    return false;
}

bool app_sweep_complain_memory(void)
{
    fprintf(stderr, "interim sweep: out of memory\n");
    return false;
}

// ---------------------------------------------------------------------------- arguments

bool app_sweep_add_text(SweepTexts* texts, const char* text, size_t length)
{
    char** moved = realloc(texts->items, ((size_t)texts->count + 1) * sizeof *moved);
    texts->items = moved != NULL ? moved : texts->items;
    char* copy = moved != NULL ? strndup(text, length) : NULL;
    if (copy == NULL) {
        return app_sweep_complain_memory();
    }
    texts->items[texts->count++] = copy;
    return true;
}

void app_sweep_free_texts(SweepTexts* texts)
{
    for (int i = 0; i < texts->count; i++) {
        free(texts->items[i]);
    }
    free(texts->items);
    *texts = (SweepTexts){0};
}

static bool add_patterns(Sweep* s, const char* text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        if (length > 0 && !app_sweep_add_text(&s->patterns, text, length)) {
            return false;
        }
        text += length + (text[length] == ',');
    }
    return s->patterns.count > 0 || complain("--signals requires names, got", text);
}

static bool is_results(const char* path)
{
    return app_path_has_ending(path, ".csv") || app_path_has_ending(path, ".h5") || app_path_has_ending(path, ".hdf5");
}

static bool set_reference(Sweep* s, const char* text)
{
    if (is_results(text) && access(text, F_OK) == 0) {
        s->reference_file = text;
        return true;
    }
    if (strchr(text, '=') == NULL) {
        return complain("--reference requires KEY=VALUE or an existing results file, got", text);
    }
    return app_sweep_add_text(&s->reference, text, strlen(text));
}

static bool set_jobs(Sweep* s, const char* text)
{
    char* end = NULL;
    long count = strtol(text, &end, 10);
    if (end == text || *end != '\0' || count < 1 || count > 1024) {
        return complain("--jobs requires a number from 1 to 1024, got", text);
    }
    s->nworker = (int)count;
    return true;
}

static bool set_timeout(Sweep* s, const char* text)
{
    double value;
    char unit[64];
    if (itm_expression_evaluate(text, &value, unit, sizeof unit, NULL) != ITM_OK ||
        (strcmp(unit, "s") != 0 && unit[0] != '\0') || !(value > 0.0)) {
        return complain("--timeout requires a time, as in 60s, got", text);
    }
    s->timeout = value;
    return true;
}

static bool set_axis(Sweep* s, const char* text)
{
    return app_sweep_axes_add(&s->axes, text);
}

static bool check_report(Sweep* s, const char* text)
{
    return s->arguments->output != NULL || complain("a report requires the table; add -o TABLE.csv to --report", text);
}

static bool set_keep(Sweep* s, const char* text)
{
    s->keep = text;
    return true;
}

static bool apply_word(Sweep* s, const AppWord* word)
{
    static const struct {
        const char* name;
        bool (*apply)(Sweep* s, const char* text);
    } WORDS[] = {{"--over", set_axis}, {"--signals", add_patterns}, {"--reference", set_reference},
                 {"--jobs", set_jobs}, {"--timeout", set_timeout},  {"--report", check_report},
                 {"--keep", set_keep}};
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        if (strcmp(word->option->name, WORDS[i].name) == 0) {
            return WORDS[i].apply(s, word->value);
        }
    }
    return complain("unknown option", word->option->name);
}

static bool check_arguments(const Sweep* s)
{
    const char* output = s->arguments->output;
    bool has_reference = s->reference.count > 0 || s->reference_file != NULL;
    if (s->axes.count == 0) {
        fprintf(stderr, "interim sweep: missing --over KEY=VALUE,VALUE,... (see: interim help sweep)\n");
        return false;
    }
    if (s->ncombination > SWEEP_MOST_RUNS) {
        fprintf(stderr, "interim sweep: more than %d combinations; use fewer values\n", SWEEP_MOST_RUNS);
        return false;
    }
    if (s->reference.count > 0 && s->reference_file != NULL) {
        return complain("--reference is either a file or a run, not both:", s->reference_file);
    }
    if (has_reference && s->patterns.count == 0) {
        fprintf(stderr, "interim sweep: --reference requires --signals NAME,...\n");
        return false;
    }
    if (output != NULL && !app_path_has_ending(output, ".csv")) {
        return complain("the name of the table must end in .csv, got", output);
    }
    return true;
}

static bool read_arguments(Sweep* s)
{
    long nprocessor = sysconf(_SC_NPROCESSORS_ONLN);
    s->nworker = nprocessor > 0 && nprocessor < 1024 ? (int)nprocessor : 1;
    s->timeout = INFINITY;
    for (int i = 0; i < s->arguments->nword; i++) {
        if (!apply_word(s, &s->arguments->words[i])) {
            return false;
        }
    }
    s->ncombination = app_sweep_axes_count(&s->axes);
    return check_arguments(s);
}

// ---------------------------------------------------------------------------- sweep

static bool set_up(Sweep* s)
{
    if (!read_arguments(s) || !app_sweep_make_directory(s)) {
        return false;
    }
    app_signals_catch();
    bool is_set_up = app_sweep_probe(s) && app_sweep_make_jobs(s) && app_sweep_make_table(s);
    if (is_set_up) {
        app_sweep_write_table(s);  // fail now, not at the end, if the table cannot be written
    }
    return is_set_up && !s->has_failed;
}

static void tear_down(Sweep* s)
{
    for (int i = 0; s->jobs != NULL && i < s->nreference + s->ncombination; i++) {
        app_sweep_job_free(&s->jobs[i]);
    }
    for (int i = 0; i < s->table.nrow; i++) {
        free(s->table.rows[i].signals);
        free(s->table.rows[i].errors);
    }
    if (s->keep == NULL && s->directory != NULL) {
        rmdir(s->directory);
    }
    free(s->table.rows);
    free(s->jobs);
    free(s->directory);
    itm_results_table_destroy(s->reference_table);
    app_sweep_free_texts(&s->reference);
    app_sweep_free_texts(&s->patterns);
    app_sweep_free_texts(&s->signals);
    app_sweep_free_texts(&s->errors);
    app_sweep_axes_free(&s->axes);
}

static void count_verdicts(const Sweep* s, int counts[SWEEP_VERDICT_COUNT])
{
    for (int i = 0; i < s->ncombination; i++) {
        counts[s->jobs[s->nreference + i].verdict]++;
    }
}

static void print_summary(const Sweep* s, const int counts[SWEEP_VERDICT_COUNT], double wall_time)
{
    double cpu_time = 0.0;
    for (int i = 0; i < s->nreference + s->ncombination; i++) {
        cpu_time += s->jobs[i].cpu_time;
    }
    int nrun = s->ncombination - counts[SWEEP_WAITING];
    printf("%d run%s", nrun, nrun == 1 ? "" : "s");
    for (int i = 1; i < SWEEP_VERDICT_COUNT; i++) {
        if (counts[i] > 0) {
            printf("%s %d %s", i == SWEEP_FINISHED || counts[SWEEP_FINISHED] == 0 ? ":" : ",", counts[i],
                   app_sweep_verdict_name((SweepVerdict)i));
        }
    }
    printf("; %.3g s of CPU time in %.3g s%s%s\n", cpu_time, wall_time,
           s->arguments->output != NULL ? ", table in " : "", s->arguments->output != NULL ? s->arguments->output : "");
}

// References and runs without results: to stderr.
static void print_troubles(const Sweep* s)
{
    for (int i = 0; i < s->nreference + s->ncombination; i++) {
        const SweepJob* job = &s->jobs[i];
        bool is_reference = i < s->nreference;
        if (job->verdict >= SWEEP_CRASHED || (is_reference && job->verdict > SWEEP_FINISHED)) {
            fprintf(stderr, "interim: %s %d: %s%s%s\n", is_reference ? "reference" : "run",
                    1 + (is_reference ? i : i - s->nreference), app_sweep_verdict_name(job->verdict),
                    job->message[0] != '\0' ? ": " : "", job->message);
        }
    }
}

// The page, with the runs over time where their results are kept.
static bool write_report(Sweep* s, const char* path)
{
    enum { MOST_RUNS = 24 };
    ItmReportRun runs[MOST_RUNS];
    char* names[MOST_RUNS] = {NULL};
    int n = 0;
    for (int i = s->nreference; s->keep != NULL && i < s->nreference + s->ncombination && n < MOST_RUNS; i++) {
        ItmTable* table = NULL;
        if (s->jobs[i].output != NULL && itm_results_read(&table, s->jobs[i].output, NULL) == ITM_OK) {
            runs[n++] = (ItmReportRun){app_tables_base_name(s->jobs[i].output), table};
        }
    }
    if (n > 0 && itm_report_name_runs(names, runs, n)) {
        for (int i = 0; i < n; i++) {
            runs[i].label = names[i];
        }
    }
    int status = app_report_write_sweep(s->arguments->output, path, app_tables_base_name(s->arguments->model), runs, n,
                                        s->arguments->is_quiet);
    for (int i = 0; i < n; i++) {
        itm_results_table_destroy((ItmTable*)runs[i].table);
        free(names[i]);
    }
    return status == APP_FINISHED;
}

// The exit status: a run that broke down, timed out or crashed is a result, one that could not be run is not.
static int finish(Sweep* s, double wall_time)
{
    int counts[SWEEP_VERDICT_COUNT] = {0};
    count_verdicts(s, counts);
    if (!s->has_failed) {
        app_sweep_write_table(s);
    }
    if (!s->arguments->is_quiet) {
        app_sweep_table_print(&s->table);
        print_summary(s, counts, wall_time);
    }
    print_troubles(s);
    const char* report = app_arguments_get(s->arguments, "--report");
    if (report != NULL && !s->has_failed) {
        s->has_failed = !write_report(s, report);
    }
    bool has_failed = s->has_failed || counts[SWEEP_FAILED] > 0;
    for (int i = 0; i < s->nreference; i++) {
        has_failed = has_failed || s->jobs[i].verdict == SWEEP_FAILED;
    }
    return has_failed ? APP_BAD_INPUT : APP_FINISHED;
}

static int sweep(const AppArguments* arguments)
{
    Sweep s = {.arguments = arguments};
    int status = APP_BAD_INPUT;
    if (set_up(&s)) {
        AppProgress progress = app_progress_begin(s.nreference + s.ncombination, arguments->is_quiet);
        SweepPool pool = {.model = arguments->model,
                          .sandbox = arguments->sandbox,
                          .jobs = s.jobs,
                          .njob = s.nreference + s.ncombination,
                          .nworker = s.nworker,
                          .timeout = s.timeout,
                          .progress = &progress,
                          .done = app_sweep_take_job,
                          .context = &s};
        app_sweep_pool_run(&pool);
        app_progress_end(&progress);
        status = finish(&s, app_wall_time() - progress.start);
    }
    if (app_signals_get() != 0) {
        fprintf(stderr, "interim: interrupted by signal %d; the table contains the completed runs\n",
                app_signals_get());
        status = 128 + app_signals_get();
    }
    tear_down(&s);
    return status;
}

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
        "like any other. Exit status: 0 all runs were executed; 1 wrong usage or invalid model; 128 + signal\n"
        "number if interrupted, with the completed runs in the table.",
    .options = OPTIONS,
    .noption = (int)(sizeof OPTIONS / sizeof OPTIONS[0]),
    .run = sweep,
};
