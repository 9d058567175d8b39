// interim rerun of a study's table: repeat its runs, all or one, from the definition in its journal, and compare bit for bit.
#include "rerun.h"
#include "study.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// The recorded outcome of a run.
typedef struct Recorded {
    ItmStudyVerdict verdict;
    double end_time;
    double* responses;  // (nresponse)
} Recorded;

// ---------------------------------------------------------------------------- tables and journal

char* app_rerun_find_journal(const char* path)
{
    char* journal = app_path_replace_ending(path, ".journal");
    struct stat status;
    if (journal != NULL && stat(journal, &status) != 0) {
        free(journal);
        journal = NULL;
    }
    return journal;
}

static bool has_same_bytes(const char* a, const char* b)
{
    FILE *x = fopen(a, "rb"), *y = fopen(b, "rb");
    bool is_same = x != NULL && y != NULL;
    for (int c = 0; is_same && c != EOF;) {
        c = getc(x);
        is_same = c == getc(y);
    }
    if (x != NULL) {
        fclose(x);
    }
    if (y != NULL) {
        fclose(y);
    }
    return is_same;
}

// Compare the table that the outcomes of the journal give with the one that is there, byte for byte; the exit status.
static int compare_table(const AppStudy* s, const char* table)
{
    bool is_csv = app_path_has_ending(table, ".csv");
    ItmError error = {0};
    char* folder = app_folder_create(s->name, "the table cannot be compared");
    char* path = folder != NULL ? app_folder_join(folder, is_csv ? "table.csv" : "table.h5") : NULL;
    int result = APP_BAD_INPUT;
    if (path != NULL) {
        ItmStatus status = is_csv ? itm_study_write_csv(s->study, path, &s->table, &error)
                                  : itm_study_write_hdf5(s->study, path, &error);
        if (status != ITM_OK) {
            app_print_error(&error);
        } else {
            result = has_same_bytes(table, path) ? APP_FINISHED : APP_DIFFERENT;
        }
    }
    free(path);
    app_folder_remove(folder);
    return result;
}

// ---------------------------------------------------------------------------- runs

// What depends on the model alone: a timeout or a crash does not.
static bool is_repeatable(ItmStudyVerdict verdict)
{
    return verdict == ITM_STUDY_FINISHED || verdict == ITM_STUDY_DOUBTFUL || verdict == ITM_STUDY_BROKE_DOWN;
}

static bool is_asked_for(int run, int only)
{
    return only == ITM_NONE || run == only;
}

// Runs to repeat, or the references that these need. runs (nrun + nreference)
static int list_runs(const AppStudy* s, int only, bool are_references, int* runs)
{
    int count = 0;
    bool* is_listed = calloc((size_t)s->info.nreference + 1, sizeof *is_listed);
    for (int run = 0; run < s->info.nrun && is_listed != NULL; run++) {
        int reference = itm_study_get_reference(s->study, run);
        if (!is_asked_for(run, only) || !is_repeatable(itm_study_get_run(s->study, run)->verdict)) {
            continue;
        }
        if (!are_references) {
            runs[count++] = run;
        } else if (reference != ITM_NONE && !is_listed[reference - s->info.nrun]) {
            is_listed[reference - s->info.nrun] = true;
            runs[count++] = reference;
        }
    }
    free(is_listed);
    return count;
}

static Recorded* copy_outcomes(const AppStudy* s)
{
    size_t count = (size_t)s->info.nrun, nresponse = (size_t)s->info.nresponse;
    Recorded* recorded = calloc(count + 1, sizeof *recorded);
    double* responses = calloc(count * nresponse + 1, sizeof *responses);
    if (recorded == NULL || responses == NULL) {
        free(recorded);
        free(responses);
        return NULL;
    }
    recorded[0].responses = responses;
    for (size_t i = 0; i < count; i++) {
        const ItmStudyRun* run = itm_study_get_run(s->study, (int)i);
        recorded[i] = (Recorded){run->verdict, run->end_time, responses + i * nresponse};
        memcpy(recorded[i].responses, run->responses, sizeof *responses * nresponse);
    }
    return recorded;
}

// ---------------------------------------------------------------------------- comparing

// Same bits, where any NAN stands for no value.
static bool is_same_number(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b);
}

// Whether a run has come out as recorded; prints the first difference.
static bool compare_run(const AppStudy* s, int run, const Recorded* recorded)
{
    const ItmStudyRun* now = itm_study_get_run(s->study, run);
    if (now->verdict != recorded->verdict || !is_same_number(now->end_time, recorded->end_time)) {
        printf("different: run %d: %s at %.17g s recorded, %s at %.17g s now\n", run + 1,
               itm_study_verdict_name(recorded->verdict), recorded->end_time, itm_study_verdict_name(now->verdict),
               now->end_time);
        return false;
    }
    for (int i = 0; i < s->info.nresponse; i++) {
        if (!is_same_number(now->responses[i], recorded->responses[i])) {
            printf("different: run %d: '%s': %.17g recorded, %.17g now\n", run + 1,
                   itm_study_get_response_name(s->study, i), recorded->responses[i], now->responses[i]);
            return false;
        }
    }
    return true;
}

static int compare_runs(const AppStudy* s, const int* runs, int count, const Recorded* recorded)
{
    int ndifferent = 0;
    for (int i = 0; i < count; i++) {
        ndifferent += !compare_run(s, runs[i], &recorded[runs[i]]);
    }
    if (ndifferent > 0) {
        printf("different: %d of %d runs\n", ndifferent, count);
    } else if (!s->arguments->is_quiet) {
        printf("the same bits: %d run%s, %d response%s each\n", count, count == 1 ? "" : "s", s->info.nresponse,
               s->info.nresponse == 1 ? "" : "s");
    }
    return ndifferent > 0 ? APP_DIFFERENT : APP_FINISHED;
}

// ---------------------------------------------------------------------------- all of it

// Repeat the runs and compare them; the exit status. runs (nrun + nreference)
static int repeat(AppStudy* s, int only, int* runs, const Recorded* recorded)
{
    app_signals_catch();
    s->nall = list_runs(s, only, true, runs) + list_runs(s, only, false, runs);
    s->progress = app_progress_begin(s->nall, s->arguments->is_quiet);
    int nreference = list_runs(s, only, true, runs);
    app_study_engine->execute(s, runs, nreference);
    int count = list_runs(s, only, false, runs);
    app_study_engine->execute(s, runs, count);
    app_progress_end(&s->progress);
    if (app_signals_get() != 0) {
        fprintf(stderr, "interim: interrupted by signal %d\n", app_signals_get());
        return 128 + app_signals_get();
    }
    return s->has_failed ? APP_BAD_INPUT : compare_runs(s, runs, count, recorded);
}

// The number of --run, from 0; ITM_NONE: all. False after printing what is wrong.
static bool choose_run(const AppStudy* s, int* only)
{
    const char* text = app_arguments_get(s->arguments, "--run");
    char* end = NULL;
    long number = text != NULL ? strtol(text, &end, 10) : 0;
    *only = (int)number - 1;
    if (text == NULL) {
        *only = ITM_NONE;
    } else if (end == text || *end != '\0' || number < 1 || number > s->info.nrun) {
        fprintf(stderr, "interim rerun: --run requires a number from 1 to %d, got '%s'\n", s->info.nrun, text);
        return false;
    } else if (!is_repeatable(itm_study_get_run(s->study, *only)->verdict)) {
        fprintf(stderr, "interim rerun: run %ld has no outcome to compare with: %s\n", number,
                itm_study_verdict_name(itm_study_get_run(s->study, *only)->verdict));
        return false;
    }
    return true;
}

static bool load(AppStudy* s, const char* journal)
{
    ItmError error = {0};
    if (itm_study_create_from_journal(&s->study, journal, s->arguments->sandbox, &error) != ITM_OK ||
        itm_study_read_journal(s->study, journal, &error) != ITM_OK) {
        app_print_error(&error);
        return false;
    }
    s->info = itm_study_get_info(s->study);
    return true;
}

static bool is_of_other_version(const AppStudy* s)
{
    return strcmp(s->info.version, itm_version()) != 0;
}

// Texts of the file go to the terminal.
static void print_origin(const AppStudy* s)
{
    char text[256];
    snprintf(text, sizeof text, "%d runs of %s, made by Interim %s", s->info.nrun, s->info.model, s->info.version);
    app_clean_text(text);
    printf("%s: %s%s%s\n", s->arguments->model, text, is_of_other_version(s) ? "; this is " : "",
           is_of_other_version(s) ? itm_version() : "");
}

// Whether the journal gives the table; the exit status. One of another version is not looked at: it holds that version.
static int check_table(const AppStudy* s, const char* journal)
{
    const char* table = s->arguments->model;
    bool is_left_out = is_of_other_version(s) || app_path_has_ending(table, ".journal");
    int status = is_left_out ? APP_FINISHED : compare_table(s, table);
    if (status == APP_DIFFERENT) {
        printf("different: %s does not contain the outcomes of %s\n", table, journal);
    }
    return status;
}

int app_rerun_study(const AppArguments* arguments, const char* journal)
{
    AppStudy s = {.arguments = arguments, .name = "rerun"};
    int status = APP_BAD_INPUT, only = ITM_NONE;
    app_study_set_defaults(&s);
    for (int i = 0; i < arguments->nword; i++) {
        bool is_known;
        if (!app_study_apply_word(&s, &arguments->words[i], &is_known)) {
            return status;
        }
    }
    bool is_loaded = load(&s, journal) && choose_run(&s, &only);
    if (is_loaded && !arguments->is_quiet) {
        print_origin(&s);
    }
    status = is_loaded ? check_table(&s, journal) : APP_BAD_INPUT;
    if (status == APP_FINISHED) {
        status = APP_BAD_INPUT;
        Recorded* recorded = copy_outcomes(&s);
        int* runs = calloc((size_t)(s.info.nrun + s.info.nreference) + 1, sizeof *runs);
        if (recorded == NULL || runs == NULL) {
            fprintf(stderr, "interim rerun: out of memory\n");
        } else {
            status = repeat(&s, only, runs, recorded);
        }
        free(recorded != NULL ? recorded[0].responses : NULL);
        free(recorded);
        free(runs);
    }
    app_study_free(&s);
    return status;
}
