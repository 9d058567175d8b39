// interim rerun: repeat the run that a result file records, and compare bit for bit.
#include "rerun.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const AppOption OPTIONS[] = {
    {APP_OPTION_WORD, "--model", 'm', "FILE", NULL,
     "the model file, if it is found neither at its recorded path nor beside the results"},
    {APP_OPTION_SANDBOX, "--sandbox", 0, "DIR", NULL, "refuse a model that refers to files outside DIR"},
    {APP_OPTION_WORD, "--run", 0, "NUMBER", NULL, "of a study: repeat this run only"},
    {APP_OPTION_WORD, "--jobs", 'j', "N", NULL, "of a study: number of parallel runs; default: number of processors"},
    {APP_OPTION_QUIET, "--quiet", 'q', NULL, NULL, "print nothing if the bits agree"},
    {APP_OPTION_HELP, "--help", 'h', NULL, NULL, "show this help"},
};

#define LOOK_PERIOD 0.05  // s of wall time between two looks at signals

// A result file, and the run that repeats it.
typedef struct Rerun {
    const char* path;
    ItmTable* table;
    ItmProvenance* provenance;
    ItmModelFile* file;
    ItmCosim* cosim;
    ItmRun* run;
} Rerun;

static void tear_down(Rerun* r)
{
    itm_run_destroy(r->run);
    itm_cosim_destroy(r->cosim);
    itm_file_destroy(r->file);
    itm_provenance_destroy(r->provenance);
    itm_results_table_destroy(r->table);
}

// ---------------------------------------------------------------------------- set-up

// Texts of the file go to the terminal.
static void clean_provenance(ItmProvenance* p)
{
    char* const texts[] = {p->version, p->commit, p->host, p->time, p->model, p->path};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        app_clean_text(texts[i]);
    }
}

static bool load_model(Rerun* r, const AppArguments* arguments)
{
    char path[4096], change[512];
    const char* given = app_arguments_get(arguments, "--model");
    if (given == NULL && !itm_provenance_find_model(r->provenance, r->path, path, sizeof path)) {
        fprintf(stderr, "interim: the model file is neither '%s' nor '%s' beside the results; give it with --model\n",
                r->provenance->path, r->provenance->model);
        return false;
    }
    if (given == NULL && !itm_file_is_below(path, arguments->sandbox)) {
        fprintf(
            stderr,
            "interim: the results refer to '%s', which is no file below the sandbox '%s'; give the model with --model\n",
            r->provenance->path, arguments->sandbox);
        return false;
    }
    ItmError error = {0};
    const char* model = given != NULL ? given : path;
    if (itm_file_load_below(&r->file, model, arguments->sandbox, (const char* const*)r->provenance->settings,
                            r->provenance->nsetting, &error) != ITM_OK) {
        app_print_error(&error);
        return false;
    }
    if (itm_provenance_find_change(r->provenance, r->file, change, sizeof change)) {
        app_clean_text(change);
        fprintf(stderr, "interim: %s is not the model of '%s': %s\n", model, r->path, change);
        return false;
    }
    return true;
}

static void print_origin(const Rerun* r)
{
    const ItmProvenance* p = r->provenance;
    printf("%s: made by Interim %s (%s) at %s on %s\n", r->path, p->version, p->commit, p->time, p->host);
    if (strcmp(p->version, itm_version()) != 0 || strcmp(p->commit, itm_commit()) != 0) {
        printf("  this is Interim %s (%s)\n", itm_version(), itm_commit());
    }
}

// Whether the first column of a CSV table is not time: a row is a run of a study or sweep. An HDF5 table is not looked into.
static bool is_table_of_runs(const char* path)
{
    static const char TIME[] = "time";
    char head[sizeof TIME] = "";
    FILE* file = fopen(path, "rb");
    size_t length = file != NULL ? fread(head, 1, sizeof head - 1, file) : 0;
    if (file != NULL) {
        fclose(file);
    }
    const char* ending = strrchr(path, '.');
    bool is_hdf5 = ending != NULL && strcmp(ending, ".h5") == 0;
    return length == sizeof head - 1 && !is_hdf5 && memcmp(head, TIME, length) != 0;
}

static bool set_up(Rerun* r, const AppArguments* arguments)
{
    ItmError error = {0};
    ItmStatus status = itm_results_read(&r->table, r->path, &error);
    status = status == ITM_OK ? itm_provenance_read(&r->provenance, r->path, &error) : status;
    if (status != ITM_OK) {
        app_print_error(&error);
        if (status == ITM_ERR_INPUT && is_table_of_runs(r->path)) {
            fprintf(
                stderr,
                "interim: a study's table can be repeated only with its .journal file beside it, a sweep's runs one by "
                "one if they were kept (--keep)\n");
        }
        return false;
    }
    clean_provenance(r->provenance);
    if (!load_model(r, arguments)) {
        return false;
    }
    if (!arguments->is_quiet) {
        print_origin(r);
    }
    ItmRunOptions options = {
        .duration = r->provenance->duration, .output_interval = r->provenance->output_interval, .keeps_rows = true};
    if (itm_file_create_cosim(&r->cosim, r->file, NULL, &error) != ITM_OK ||
        itm_run_create(&r->run, r->file, r->cosim, &options, &error) != ITM_OK) {
        app_print_error(&error);
        return false;
    }
    return true;
}

// ---------------------------------------------------------------------------- stepping

// Up to the last recorded row: an interrupted run is repeated as far as it came. False after a signal or a failure.
static bool repeat(Rerun* r, AppProgress* progress)
{
    double last = r->table->nrow > 0 ? itm_results_table_get(r->table, r->table->nrow - 1, 0) : 0.0;
    bool is_whole = r->table->verdict == ITM_VERDICT_FINISHED || r->table->verdict == ITM_VERDICT_DOUBTFUL;
    ItmStatus status = ITM_OK;
    while (status == ITM_OK && itm_run_get_info(r->run).verdict == ITM_VERDICT_RUNNING && app_signals_get() == 0) {
        if (!is_whole && itm_run_get_info(r->run).time >= last) {
            itm_run_stop(r->run, "the end of the recorded run");
        } else {
            status = itm_run_advance(r->run, is_whole ? LOOK_PERIOD : 0.0);
            app_progress_update(progress, itm_run_get_info(r->run).time);
        }
    }
    if (app_signals_get() != 0) {
        fprintf(stderr, "interim: interrupted at %.9g s by signal %d\n", itm_run_get_info(r->run).time,
                app_signals_get());
        return false;
    }
    status = status == ITM_OK ? itm_run_close(r->run) : status;
    if (status != ITM_OK) {
        app_print_error(itm_run_get_error(r->run));
    }
    return status == ITM_OK;
}

// ---------------------------------------------------------------------------- comparing

// Whether the columns are the same.
static bool has_same_columns(const Rerun* r)
{
    const ItmTable* table = r->table;
    int ncolumn = itm_cosim_get_output_count(r->cosim) + 1;
    if (table->ncolumn != ncolumn) {
        printf("different: %d columns recorded, %d now\n", table->ncolumn, ncolumn);
        return false;
    }
    for (int i = 1; i < ncolumn; i++) {
        const char* name = itm_cosim_get_output_info(r->cosim, i - 1).name;
        if (strcmp(table->names[i], name) != 0) {
            printf("different: column %d is '%s' in the file, '%s' now\n", i + 1, table->names[i], name);
            return false;
        }
    }
    return true;
}

// Whether all recorded rows are the same bits; a run that died before it could record a last row may have more of them now.
static bool has_same_rows(const Rerun* r)
{
    const ItmTable* table = r->table;
    const double* rows = itm_run_get_rows(r->run);
    long nrow = itm_run_get_info(r->run).nrow, count = nrow < table->nrow ? nrow : table->nrow, ndifferent = 0;
    for (long i = 0; i < count * table->ncolumn; i++) {
        if (memcmp(&rows[i], &table->values[i], sizeof *rows) != 0 && ndifferent++ == 0) {
            int column = (int)(i % table->ncolumn);
            printf("different: first at %.17g s in '%s': %.17g recorded, %.17g now\n", rows[i - column],
                   table->names[column], table->values[i], rows[i]);
        }
    }
    if (nrow != table->nrow && !(table->verdict == ITM_VERDICT_RUNNING && nrow > table->nrow)) {
        printf("different: %ld rows recorded, %ld now\n", table->nrow, nrow);
        return false;
    }
    if (ndifferent > 0) {
        printf("different: %ld of %ld numbers\n", ndifferent, count * table->ncolumn);
    }
    return ndifferent == 0;
}

static int rerun_results(const AppArguments* arguments)
{
    Rerun r = {.path = arguments->model};
    int status = APP_BAD_INPUT;
    if (set_up(&r, arguments)) {
        app_signals_catch();
        AppProgress progress = app_progress_begin(r.provenance->duration, arguments->is_quiet);
        bool is_repeated = repeat(&r, &progress);
        app_progress_end(&progress);
        if (is_repeated) {
            status = has_same_columns(&r) && has_same_rows(&r) ? APP_FINISHED : APP_DIFFERENT;
        } else if (app_signals_get() != 0) {
            status = 128 + app_signals_get();
        }
        if (status == APP_FINISHED && !arguments->is_quiet) {
            printf("the same bits: %ld rows of %d columns\n", r.table->nrow, r.table->ncolumn);
        }
    }
    tear_down(&r);
    return status;
}

static int run(const AppArguments* arguments)
{
    char* journal = app_rerun_find_journal(arguments->model);
    const char* unfit = journal != NULL ? "--model" : "--run";
    if (app_arguments_get(arguments, unfit) != NULL) {
        fprintf(stderr, "interim rerun: %s is for %s, and '%s' %s\n", unfit,
                journal != NULL ? "results of one run" : "tables of studies", arguments->model,
                journal != NULL ? "is the table of a study" : "has no journal of a study beside it");
        free(journal);
        return APP_BAD_INPUT;
    }
    int status = journal != NULL ? app_rerun_study(arguments, journal) : rerun_results(arguments);
    free(journal);
    return status;
}

const AppCommand app_rerun_command = {
    .name = "rerun",
    .synopsis = "RESULTS.csv|.h5 [OPTION]...",
    .help = "repeat the run of a result file, or the runs of a study, and compare bit for bit",
    .details =
        "Every result file of a run records its origin: version and commit, the model file with its text, the hashes of\n"
        "all files that it refers to, overrides, options, host and time (HDF5: /provenance/json; CSV: \"provenance\" in the\n"
        "JSON file). This command repeats the run and compares all numbers bit for bit. It looks for the model file relative\n"
        "to the results first and then at its recorded path, so that a folder may be moved as a whole.\n"
        "\n"
        "For a study (TABLE.csv or TABLE.h5, with TABLE.journal beside it), the command repeats all runs, or one with --run,\n"
        "in the folder where the study was executed. It also compares the table with its journal.\n"
        "\n"
        "Status 0: the same bits; 4: other bits, with the first difference; 1: the model is not found or has changed.",
    .options = OPTIONS,
    .noption = (int)(sizeof OPTIONS / sizeof OPTIONS[0]),
    .operand = "result file",
    .run = run,
};
