// What interim study and interim sweep share: execution of the missing runs, journal, tables, parts of a study.
#include "study.h"
#include "tables.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <errno.h>
#include <unistd.h>

#define WAIT 0.1  // s of wall time between two looks at signals

bool app_study_complain(const AppStudy* s, const char* what, const char* text)
{
    fprintf(stderr, "interim %s: %s '%s' (see: interim help %s)\n", s->name, what, text, s->name);
    return false;
}

static bool fail(AppStudy* s, const ItmError* error)
{
    s->has_failed = true;
    app_print_error(error);
    return false;
}

// ---------------------------------------------------------------------------- options

static bool set_jobs(AppStudy* s, const char* text)
{
    char* end = NULL;
    long count = strtol(text, &end, 10);
    if (end == text || *end != '\0' || count < 1 || count > 1024) {
        return app_study_complain(s, "--jobs requires a number from 1 to 1024, got", text);
    }
    s->nworker = (int)count;
    return true;
}

static bool set_timeout(AppStudy* s, const char* text)
{
    double value;
    char unit[64];
    if (itm_expression_evaluate(text, &value, unit, sizeof unit, NULL) != ITM_OK ||
        (strcmp(unit, "s") != 0 && unit[0] != '\0') || !(value > 0.0)) {
        return app_study_complain(s, "--timeout requires a time, as in 60s, got", text);
    }
    s->timeout = value;
    return true;
}

static bool set_shard(AppStudy* s, const char* text)
{
    int used = 0;
    if (sscanf(text, "%6d/%6d%n", &s->shard, &s->nshard, &used) < 2 || text[used] != '\0' || s->shard < 1 ||
        s->shard > s->nshard) {
        return app_study_complain(s, "--shard requires PART/PARTS, as in 3/16, got", text);
    }
    return true;
}

static bool set_keep(AppStudy* s, const char* text)
{
    s->keep = text;
    return true;
}

static bool set_resume(AppStudy* s, const char* text)
{
    (void)text;
    s->is_resumed = true;
    return true;
}

bool app_study_apply_word(AppStudy* s, const AppWord* word, bool* is_known)
{
    static const struct {
        const char* name;
        bool (*apply)(AppStudy* s, const char* text);
    } WORDS[] = {{"--jobs", set_jobs},
                 {"--timeout", set_timeout},
                 {"--shard", set_shard},
                 {"--keep", set_keep},
                 {"--resume", set_resume}};
    *is_known = true;
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        if (strcmp(word->option->name, WORDS[i].name) == 0) {
            return WORDS[i].apply(s, word->value);
        }
    }
    *is_known = false;
    return true;
}

void app_study_set_defaults(AppStudy* s)
{
    long nprocessor = sysconf(_SC_NPROCESSORS_ONLN);
    s->nworker = nprocessor > 0 && nprocessor < 1024 ? (int)nprocessor : 1;
    s->timeout = INFINITY;
    s->table = itm_default_study_table_options();
}

// ---------------------------------------------------------------------------- execution

static void execute_here(AppStudy* s, const int* runs, int count)
{
    ItmStudyPoolOptions options = itm_default_study_pool_options();
    options.nworker = s->nworker;
    options.timeout = s->timeout;
    options.keep = s->keep;
    ItmStudyPool* pool = NULL;
    ItmError error = {0};
    if (itm_study_pool_create(&pool, s->study, &options, &error) != ITM_OK) {
        fail(s, &error);
        return;
    }
    int next = 0;
    while ((next < count && app_signals_get() == 0 && !s->has_failed) || itm_study_pool_get_busy(pool) > 0) {
        bool can_start = next < count && app_signals_get() == 0 && !s->has_failed;
        while (can_start && itm_study_pool_start(pool, runs[next], &error) == ITM_OK) {
            can_start = ++next < count;
        }
        if (can_start && itm_study_pool_get_busy(pool) == 0) {
            fail(s, &error);  // not even one process can be had
            break;
        }
        if (app_signals_get() != 0) {
            itm_study_pool_stop(pool);
        }
        int run = itm_study_pool_wait(pool, WAIT);
        if (run != ITM_NONE) {
            app_study_take(s, run, itm_study_pool_get_busy(pool));
        } else {
            app_progress_update_runs(&s->progress, s->ntaken, itm_study_pool_get_busy(pool));
        }
    }
    itm_study_pool_destroy(pool);
}

static const AppStudyEngine LOCAL = {.execute = execute_here};
const AppStudyEngine* app_study_engine = &LOCAL;

// Load the model with every word and the extreme numbers of all factors: what is misspelt shows before anything is run.
static bool probe(AppStudy* s)
{
    ItmStudyPoolOptions options = itm_default_study_pool_options();
    ItmStudyPool* pool = NULL;
    ItmError error = {0};
    bool is_good = true;
    options.nworker = s->nworker;
    options.timeout = s->timeout;
    options.is_probe = true;
    int* runs = calloc((size_t)(s->info.nrun + s->info.nreference) + 1, sizeof *runs);
    int count = runs != NULL ? itm_study_list_probes(s->study, runs) : 0, next = 0;
    if (itm_study_pool_create(&pool, s->study, &options, &error) != ITM_OK) {
        free(runs);
        return fail(s, &error);
    }
    while (is_good && app_signals_get() == 0 && (next < count || itm_study_pool_get_busy(pool) > 0)) {
        while (next < count && itm_study_pool_start(pool, runs[next], &error) == ITM_OK) {
            next++;
        }
        int run = itm_study_pool_wait(pool, WAIT);
        const ItmStudyRun* outcome = itm_study_get_run(s->study, run);
        if (outcome != NULL && outcome->verdict == ITM_STUDY_FAILED) {
            is_good = false;
            fprintf(stderr, "interim: %s\n", outcome->message);
        }
    }
    itm_study_pool_destroy(pool);
    free(runs);
    return is_good && app_signals_get() == 0;
}

// ---------------------------------------------------------------------------- tables

static char* get_path(const AppStudy* s, const char* ending)
{
    return app_path_replace_ending(s->output, ending);
}

static void write_table(AppStudy* s)
{
    ItmError error = {0};
    if (s->output != NULL && s->nshard == 0 && itm_study_write_csv(s->study, s->output, &s->table, &error) != ITM_OK) {
        fail(s, &error);
    }
    s->written = app_wall_time();
}

// The files beside the table.
static void write_others(AppStudy* s)
{
    static const struct {
        const char* ending;
        ItmStatus (*write)(const ItmStudy* study, const char* path, ItmError* error);
    } FILES[] = {{".h5", itm_study_write_hdf5},
                 {".costs.csv", itm_study_write_costs},
                 {".effects.csv", itm_study_write_effects}};
    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0] && s->has_hdf5 && s->nshard == 0; i++) {
        ItmError error = {0};
        char* path = get_path(s, FILES[i].ending);
        if (path == NULL || FILES[i].write(s->study, path, &error) != ITM_OK) {
            fail(s, &error);
        }
        free(path);
    }
}

void app_study_take(AppStudy* s, int run, int nbusy)
{
    ItmError error = {0};
    const ItmStudyRun* outcome = itm_study_get_run(s->study, run);
    s->ntaken++;
    // a run that was interrupted is executed again
    if (outcome->verdict != ITM_STUDY_INTERRUPTED && itm_study_note_run(s->study, run, &error) != ITM_OK) {
        fail(s, &error);
    }
    app_progress_update_runs(&s->progress, s->ntaken, nbusy);
    if (app_wall_time() - s->written > 1.0 && !s->has_failed) {
        write_table(s);
    }
}

// ---------------------------------------------------------------------------- runs to be executed

static bool is_in_shard(const AppStudy* s, int run)
{
    return s->nshard == 0 || run % s->nshard == s->shard - 1;
}

static bool is_missing(const AppStudy* s, int run)
{
    ItmStudyVerdict verdict = itm_study_get_run(s->study, run)->verdict;
    return verdict == ITM_STUDY_WAITING || verdict == ITM_STUDY_INTERRUPTED || verdict == ITM_STUDY_CRASHED ||
           verdict == ITM_STUDY_FAILED;
}

// Missing runs of the design, or the missing references that these need. runs (nrun + nreference)
static int list_missing(const AppStudy* s, int* runs, bool are_references)
{
    int count = 0;
    for (int run = 0; run < s->info.nrun; run++) {
        int reference = itm_study_get_reference(s->study, run);
        if (!is_in_shard(s, run) || !is_missing(s, run)) {
            continue;
        }
        if (!are_references) {
            runs[count++] = run;
        } else if (reference != ITM_NONE && is_missing(s, reference)) {
            bool is_listed = false;
            for (int i = 0; i < count && !is_listed; i++) {
                is_listed = runs[i] == reference;
            }
            runs[count] = reference;
            count += !is_listed;
        }
    }
    return count;
}

static void execute(AppStudy* s)
{
    int* runs = calloc((size_t)(s->info.nrun + s->info.nreference) + 1, sizeof *runs);
    if (runs == NULL) {
        fprintf(stderr, "interim %s: out of memory\n", s->name);
        s->has_failed = true;
        return;
    }
    int nreference = list_missing(s, runs, true);
    s->nall = nreference + list_missing(s, runs, false);
    s->progress = app_progress_begin(s->nall, s->arguments->is_quiet);
    // a run needs its reference
    for (int pass = 0; pass < 2; pass++) {
        int count = list_missing(s, runs, pass == 0);
        if (count > 0 && app_signals_get() == 0 && !s->has_failed) {
            app_study_engine->execute(s, runs, count);
        }
    }
    app_progress_end(&s->progress);
    free(runs);
}

// ---------------------------------------------------------------------------- end

static void count_verdicts(const AppStudy* s, int counts[ITM_STUDY_VERDICT_COUNT])
{
    for (int i = 0; i < s->info.nrun; i++) {
        counts[itm_study_get_run(s->study, i)->verdict]++;
    }
}

static void print_summary(const AppStudy* s, const int counts[ITM_STUDY_VERDICT_COUNT], double wall_time)
{
    double cpu_time = 0.0;
    int nrun = s->info.nrun - counts[ITM_STUDY_WAITING];
    for (int i = 0; i < s->info.nrun + s->info.nreference; i++) {
        cpu_time += itm_study_get_run(s->study, i)->cpu_time;
    }
    printf("%d run%s", nrun, nrun == 1 ? "" : "s");
    for (int i = 1; i < ITM_STUDY_VERDICT_COUNT; i++) {
        if (counts[i] > 0) {
            printf("%s %d %s", i == ITM_STUDY_FINISHED || counts[ITM_STUDY_FINISHED] == 0 ? ":" : ",", counts[i],
                   itm_study_verdict_name((ItmStudyVerdict)i));
        }
    }
    printf("; %.3g s of CPU time in %.3g s%s%s\n", cpu_time, wall_time,
           s->output == NULL ? ""
           : s->nshard == 0  ? ", table in "
                             : ", part in ",
           s->output == NULL ? ""
           : s->nshard == 0  ? s->output
                             : s->journal);
}

// References and runs without results: to stderr.
static void print_troubles(const AppStudy* s)
{
    for (int i = 0; i < s->info.nrun + s->info.nreference; i++) {
        const ItmStudyRun* run = itm_study_get_run(s->study, i);
        bool is_reference = i >= s->info.nrun;
        if (run->verdict >= ITM_STUDY_CRASHED || (is_reference && run->verdict > ITM_STUDY_FINISHED)) {
            fprintf(stderr, "interim: %s %d: %s%s%s\n", is_reference ? "reference" : "run",
                    1 + (is_reference ? i - s->info.nrun : i), itm_study_verdict_name(run->verdict),
                    run->message[0] != '\0' ? ": " : "", run->message);
        }
    }
}

// The exit status: a run that broke down, timed out or crashed is a result, one that could not be run is not.
static int finish(AppStudy* s, double start)
{
    int counts[ITM_STUDY_VERDICT_COUNT] = {0};
    count_verdicts(s, counts);
    if (!s->has_failed) {
        write_table(s);
        write_others(s);
    }
    if (!s->arguments->is_quiet) {
        if (s->nshard == 0) {
            s->print(s);
        }
        print_summary(s, counts, app_wall_time() - start);
    }
    print_troubles(s);
    const char* report = app_arguments_get(s->arguments, "--report");
    if (report != NULL && !s->has_failed && s->nshard == 0 && app_signals_get() == 0) {
        s->write_report(s, report);
    }
    bool is_complete = counts[ITM_STUDY_WAITING] + counts[ITM_STUDY_INTERRUPTED] == 0;
    if (is_complete && s->journal != NULL && !s->keeps_journal && s->nshard == 0 && !s->has_failed) {
        unlink(s->journal);
    }
    bool has_failed = s->has_failed || counts[ITM_STUDY_FAILED] > 0;
    for (int i = 0; i < s->info.nreference; i++) {
        has_failed = has_failed || itm_study_get_run(s->study, s->info.nrun + i)->verdict == ITM_STUDY_FAILED;
    }
    return has_failed ? APP_BAD_INPUT : APP_FINISHED;
}

// ---------------------------------------------------------------------------- all of it

// The folder for results of runs. A page shows runs over time: without --keep, their results are in a folder that is removed at the end.
static bool make_folder(AppStudy* s)
{
    bool is_whole = s->nshard == 0 && !s->is_resumed;
    if (s->keep == NULL && is_whole && s->info.nrun <= s->most_shown &&
        app_arguments_get(s->arguments, "--report") != NULL) {
        s->keep = s->temporary = app_folder_create(s->name, "the page shows no runs over time");
        return true;
    }
    if (s->keep != NULL && mkdir(s->keep, 0777) != 0 && errno != EEXIST) {
        fprintf(stderr, "interim %s: cannot create the directory '%s': %s\n", s->name, s->keep, strerror(errno));
        return false;
    }
    return true;
}

static bool open_journal(AppStudy* s)
{
    ItmError error = {0};
    char ending[64] = ".journal";
    if (s->output == NULL) {
        return true;
    }
    if (s->nshard > 0) {
        snprintf(ending, sizeof ending, ".shard%dof%d.journal", s->shard, s->nshard);
    }
    s->journal = get_path(s, ending);
    if (s->journal == NULL || itm_study_open_journal(s->study, s->journal, s->is_resumed, &error) != ITM_OK) {
        return fail(s, &error);
    }
    write_table(s);  // fail now, not at the end, if the table cannot be written
    return !s->has_failed;
}

static bool prepare(AppStudy* s)
{
    ItmError error = {0};
    if (itm_study_prepare(s->study, &error) != ITM_OK) {
        return fail(s, &error);
    }
    s->info = itm_study_get_info(s->study);
    return true;
}

int app_study_run(AppStudy* s)
{
    double start = app_wall_time();
    if (s->nshard > 0 && s->output == NULL) {
        app_study_complain(s, "--shard requires -o TABLE.csv:", "the parts are kept beside it");
        return APP_BAD_INPUT;
    }
    if (!prepare(s)) {
        return APP_BAD_INPUT;
    }
    if (app_study_engine->serve != NULL) {
        return app_study_engine->serve(s);
    }
    app_signals_catch();
    int status = APP_BAD_INPUT;
    if (make_folder(s) && probe(s) && open_journal(s)) {
        execute(s);
        status = finish(s, start);
    }
    if (app_signals_get() != 0) {
        fprintf(stderr, "interim: interrupted by signal %d; the table contains the completed runs%s\n",
                app_signals_get(), s->journal != NULL ? ", --resume continues" : "");
        status = 128 + app_signals_get();
    }
    return status;
}

void app_study_free(AppStudy* s)
{
    app_folder_remove(s->temporary);
    itm_study_destroy(s->study);
    free(s->output);
    free(s->journal);
}

// ---------------------------------------------------------------------------- merging

// Take over the outcomes of all parts; false if a run is in none of them.
static bool read_parts(AppStudy* s, const glob_t* parts)
{
    ItmError error = {0};
    for (size_t i = 0; i < parts->gl_pathc; i++) {
        if (itm_study_read_journal(s->study, parts->gl_pathv[i], &error) != ITM_OK) {
            return fail(s, &error);
        }
    }
    int nmissing = 0, first = ITM_NONE;
    for (int run = 0; run < s->info.nrun; run++) {
        bool is_waiting = itm_study_get_run(s->study, run)->verdict == ITM_STUDY_WAITING;
        first = is_waiting && first == ITM_NONE ? run : first;
        nmissing += is_waiting;
    }
    if (nmissing > 0) {
        fprintf(stderr,
                "interim %s: the %zu parts lack %d of %d runs, the first is run %d; execute the missing shards, or "
                "continue them with --resume\n",
                s->name, parts->gl_pathc, nmissing, s->info.nrun, first + 1);
    }
    return nmissing == 0;
}

// The journal of the whole study, from which it can be repeated.
static bool write_journal(AppStudy* s)
{
    ItmError error = {0};
    s->journal = get_path(s, ".journal");
    if (s->journal == NULL || itm_study_open_journal(s->study, s->journal, false, &error) != ITM_OK) {
        return fail(s, &error);
    }
    for (int run = 0; run < s->info.nrun + s->info.nreference; run++) {
        if (itm_study_get_run(s->study, run)->verdict != ITM_STUDY_WAITING &&
            itm_study_note_run(s->study, run, &error) != ITM_OK) {
            return fail(s, &error);
        }
    }
    return true;
}

int app_study_merge(AppStudy* s)
{
    double start = app_wall_time();
    ItmError error = {0};
    glob_t parts = {0};
    s->output = strdup(s->arguments->model);  // the operand is the table
    char* pattern = s->output != NULL ? get_path(s, ".shard*of*.journal") : NULL;
    int status = APP_BAD_INPUT;
    if (pattern == NULL || glob(pattern, 0, NULL, &parts) != 0) {
        app_study_complain(s, "there are no parts", pattern != NULL ? pattern : "");
    } else if (itm_study_create_from_journal(&s->study, parts.gl_pathv[0], s->arguments->sandbox, &error) != ITM_OK) {
        fail(s, &error);
    } else {
        s->info = itm_study_get_info(s->study);
        const char* kind = s->info.path != NULL ? "study" : "sweep";
        bool is_other = strcmp(s->info.version, itm_version()) != 0 || strcmp(s->name, kind) != 0;
        if (strcmp(s->name, kind) != 0) {
            fprintf(stderr, "interim %s merge: the parts of '%s' are those of a %s; use: interim %s merge\n", s->name,
                    s->output, kind, kind);
        } else if (is_other) {
            app_study_complain(s, "the parts were made by another version of Interim:", s->info.version);
        }
        bool is_whole = !is_other && read_parts(s, &parts) && (!s->keeps_journal || write_journal(s));
        status = is_whole ? finish(s, start) : APP_BAD_INPUT;
    }
    globfree(&parts);
    free(pattern);
    return status;
}
