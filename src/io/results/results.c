#include "io/results/results.h"

#include "base/error.h"
#include "base/guard.h"
#include "io/results/lock.h"
#include "io/results/recorder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define BUFFER_BYTES (8u << 20)  // aimed size of the row buffer
#define MIN_ROWS 16
#define MAX_ROWS (1 << 17)
#define FLUSH_PERIOD 0.5  // s of wall time; half of what the header promises
#define SLOW_PERIOD 0.1   // s between rows from which every row is written at once
#define WRITING_SHARE                                                                                                  \
    0.05  // of the wall time that writing because of the time may take: with thousands of columns it is slow

struct ItmResults {
    const ItmResultsWriter* writer;
    void* state;          // of the writer; NULL before open succeeded
    ItmResultsHead head;  // its strings belong to this object
    ItmLock lock;         // on its part file
    double* rows;         // rows not yet written   (capacity x ncolumn)
    int capacity, nbuffered;
    bool has_failed;  // rows are missing: the part file must not take the place of a good one
    ItmResultsSummary summary;
    ItmRecorder* recorder;           // scene and motion; NULL where nothing is watched
    bool has_lost_record;            // memory was short for a part of it
    double flushed_at, appended_at;  // wall time of the last flush and row, s
    double flush_cost;               // how long the last flush took, s
};

// ---------------------------------------------------------------------------- names and paths

static const char* const VERDICT_NAMES[] = {
    [ITM_VERDICT_RUNNING] = "running",
    [ITM_VERDICT_FINISHED] = "finished",
    [ITM_VERDICT_INTERRUPTED] = "interrupted",
    [ITM_VERDICT_BROKE_DOWN] = "broke-down",
    [ITM_VERDICT_DOUBTFUL] = "finished-with-doubts",
};
#define NVERDICT ((int)(sizeof VERDICT_NAMES / sizeof VERDICT_NAMES[0]))

const char* itm_results_verdict_name(ItmVerdict verdict)
{
    return (int)verdict >= 0 && (int)verdict < NVERDICT ? VERDICT_NAMES[verdict] : "unknown";
}

ItmVerdict itm_results_verdict_find(const char* name)
{
    for (int i = 0; i < NVERDICT; i++) {
        if (strcmp(name, VERDICT_NAMES[i]) == 0) {
            return (ItmVerdict)i;
        }
    }
    return ITM_VERDICT_RUNNING;
}

// The last ending of a path, with its dot; "" if the file name has none.
static const char* find_ending(const char* path)
{
    const char* slash = strrchr(path, '/');
    const char* name = slash != NULL ? slash + 1 : path;
    const char* dot = strrchr(name, '.');
    return dot != NULL && dot != name ? dot : "";
}

char itm_results_format(const char* path)
{
    const char* ending = find_ending(path);
    if (strcasecmp(ending, ".csv") == 0) {
        return 'c';
    }
    return strcasecmp(ending, ".h5") == 0 || strcasecmp(ending, ".hdf5") == 0 ? 'h' : 0;
}

char* itm_results_replace_ending(const char* path, const char* ending)
{
    size_t stem = strlen(path) - strlen(find_ending(path));
    size_t size = stem + strlen(ending) + 1;
    char* changed = malloc(size);
    if (changed != NULL) {
        snprintf(changed, size, "%.*s%s", (int)stem, path, ending);
    }
    return changed;
}

// "a/b.csv" -> "a/b.part.csv": the ending still shows the format.
static char* make_part_path(const char* path)
{
    char ending[32];
    snprintf(ending, sizeof ending, ".part%s", find_ending(path));
    return itm_results_replace_ending(path, ending);
}

ItmStatus itm_results_fail_io(ItmError* error, const char* function, const char* verb, const char* path, int code)
{
    ItmStatus status = itm_error_set(error, ITM_ERR_IO, function, NULL, "cannot %s '%s': %s", verb, path,
                                     code > 0 ? strerror(code) : "the file system gave no reason");
    itm_error_locate(error, path, 0, 0);
    return status;
}

ItmStatus itm_results_rename(const char* from, const char* to, ItmError* error)
{
    return rename(from, to) == 0 ? ITM_OK : itm_results_fail_io(error, __func__, "write", to, errno);
}

// ---------------------------------------------------------------------------- columns

static char* join_name(const char* prefix, const char* name)
{
    size_t size = strlen(prefix) + strlen(name) + 2;
    char* joined = malloc(size);
    if (joined != NULL) {
        snprintf(joined, size, "%s%s%s", prefix, prefix[0] != '\0' ? "." : "", name);
    }
    return joined;
}

static void free_columns(const ItmOutputInfo* columns, int ncolumn)
{
    for (int i = 0; columns != NULL && i < ncolumn; i++) {
        free((void*)columns[i].name);
        free((void*)columns[i].unit);
        free((void*)columns[i].description);
    }
    free((void*)columns);
}

// Time and then the given columns, copied; NULL without memory.
static ItmOutputInfo* copy_columns(const ItmOutputInfo* columns, int ncolumn, const char* prefix)
{
    ItmOutputInfo* copy = calloc((size_t)ncolumn + 1, sizeof *copy);
    if (copy == NULL) {
        return NULL;
    }
    copy[0] = (ItmOutputInfo){strdup("time"), strdup("s"), strdup("simulated time")};
    for (int i = 0; i < ncolumn; i++) {
        copy[i + 1] = (ItmOutputInfo){join_name(prefix, columns[i].name), strdup(columns[i].unit),
                                      strdup(columns[i].description)};
    }
    for (int i = 0; i <= ncolumn; i++) {
        if (copy[i].name == NULL || copy[i].unit == NULL || copy[i].description == NULL) {
            free_columns(copy, ncolumn + 1);
            return NULL;
        }
    }
    return copy;
}

// ---------------------------------------------------------------------------- life

static double wall_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int choose_capacity(int ncolumn)
{
    size_t rows = BUFFER_BYTES / ((size_t)ncolumn * sizeof(double));
    return rows < MIN_ROWS ? MIN_ROWS : rows > MAX_ROWS ? MAX_ROWS : (int)rows;
}

static void destroy(ItmResults* r)
{
    free_columns(r->head.columns, r->head.ncolumn);
    free((void*)r->head.path);
    free((void*)r->head.part);
    free((void*)r->head.title);
    free((void*)r->head.provenance);
    free(r->rows);
    for (int i = 0; i < r->summary.ndoubt; i++) {
        free((void*)r->summary.doubts[i].where);
    }
    free(r->summary.doubts);
    itm_recorder_destroy(r->recorder);
    itm_lock_release(&r->lock);
    free(r);
}

// All memory of the object, or NULL.
static ItmResults* allocate(const char* path, const ItmOutputInfo* columns, int ncolumn, const char* prefix,
                            const char* title, const char* provenance)
{
    ItmResults* r = calloc(1, sizeof *r);
    if (r == NULL) {
        return NULL;
    }
    r->capacity = choose_capacity(ncolumn + 1);
    r->rows = malloc((size_t)r->capacity * (size_t)(ncolumn + 1) * sizeof *r->rows);
    r->head = (ItmResultsHead){.path = strdup(path),
                               .part = make_part_path(path),
                               .title = strdup(title),
                               .provenance = strdup(provenance),
                               .columns = copy_columns(columns, ncolumn, prefix),
                               .ncolumn = ncolumn + 1};
    r->summary = (ItmResultsSummary){.verdict = ITM_VERDICT_RUNNING, .reason = ""};
    if (r->rows == NULL || r->head.path == NULL || r->head.part == NULL || r->head.title == NULL ||
        r->head.provenance == NULL || r->head.columns == NULL) {
        destroy(r);
        return NULL;
    }
    return r;
}

static ItmStatus flush(ItmResults* r, ItmError* error)
{
    int nrow = r->nbuffered;
    r->nbuffered = 0;  // also when writing fails: a row is never written twice
    double start = r->flushed_at = wall_time();
    if (nrow == 0) {
        return ITM_OK;
    }
    ItmStatus status = r->writer->write(r->state, &r->head, r->rows, nrow, error);
    r->flushed_at = wall_time();
    r->flush_cost = r->flushed_at - start;
    r->has_failed = r->has_failed || status != ITM_OK;
    return status;
}

ItmStatus itm_results_create_columns(ItmResults** results, const char* path, const ItmOutputInfo* columns, int ncolumn,
                                     const char* prefix, const char* title, ItmError* error)
{
    return itm_results_open(results, path, columns, ncolumn, prefix, title, "", error);
}

ItmStatus itm_results_open(ItmResults** results, const char* path, const ItmOutputInfo* columns, int ncolumn,
                           const char* prefix, const char* title, const char* provenance, ItmError* error)
{
    ITM_GUARD(results != NULL && path != NULL && ncolumn >= 0 && (columns != NULL || ncolumn == 0) && prefix != NULL &&
                  title != NULL,
              itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "a required argument is NULL"));
    *results = NULL;
    char format = itm_results_format(path);
    if (format == 0) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "path",
                             "results go to a file ending in .csv, .h5 or .hdf5, not '%s'", path);
    }
    ItmResults* r = allocate(path, columns, ncolumn, prefix, title, provenance);
    if (r == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory for %d columns", ncolumn);
    }
    r->writer = format == 'c' ? &itm_results_csv : &itm_results_hdf5;
    r->flushed_at = r->appended_at = wall_time();
    ItmStatus status = itm_lock_take(&r->lock, r->head.part, error);
    if (status == ITM_OK) {
        status = r->writer->open(&r->state, &r->head, error);
    }
    if (status != ITM_OK) {
        destroy(r);
        return status;
    }
    *results = r;
    return ITM_OK;
}

ItmStatus itm_results_create(ItmResults** results, const char* path, const ItmModel* m, const char* prefix,
                             const char* title, ItmError* error)
{
    ITM_GUARD(results != NULL && path != NULL && m != NULL && prefix != NULL && title != NULL,
              itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "a required argument is NULL"));
    int ncolumn = itm_model_get_output_count(m);
    ItmOutputInfo* columns = calloc((size_t)ncolumn + 1, sizeof *columns);
    if (columns == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory for %d columns", ncolumn);
    }
    for (int i = 0; i < ncolumn; i++) {
        columns[i] = itm_model_get_output_info(m, i);
    }
    ItmStatus status = itm_results_create_columns(results, path, columns, ncolumn, prefix, title, error);
    free(columns);
    return status;
}

ItmStatus itm_results_append(ItmResults* r, double time, const double* values, ItmError* error)
{
    ITM_GUARD(r != NULL && (values != NULL || r->head.ncolumn == 1),
              itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "a required argument is NULL"));
    double* row = r->rows + (size_t)r->nbuffered * (size_t)r->head.ncolumn;
    row[0] = time;
    memcpy(row + 1, values, (size_t)(r->head.ncolumn - 1) * sizeof *row);
    r->nbuffered++;
    r->summary.nrow++;
    r->summary.end_time = time;

    // rows that come slowly are written at once, because the next call may come late
    double now = wall_time();
    bool is_slow = now - r->appended_at > SLOW_PERIOD;
    r->appended_at = now;
    bool is_due =
        (is_slow || now - r->flushed_at > FLUSH_PERIOD) && now - r->flushed_at > r->flush_cost / WRITING_SHARE;
    if (r->nbuffered == r->capacity || is_due) {
        return flush(r, error);
    }
    return ITM_OK;
}

ItmStatus itm_results_close(ItmResults* r, ItmVerdict verdict, const char* reason, ItmError* error)
{
    if (r == NULL) {
        return ITM_OK;
    }
    r->summary.verdict = verdict;
    r->summary.reason = reason != NULL ? reason : "";
    ItmRecord record = {0};
    bool is_taken = !r->has_lost_record && (r->recorder == NULL || itm_recorder_take(r->recorder, &record));
    r->summary.record = record.scene != NULL ? &record : NULL;
    bool had_failed = r->has_failed;
    ItmStatus status = flush(r, error);
    ItmStatus closed = r->writer->close(r->state, &r->head, &r->summary, status == ITM_OK ? error : NULL);
    status = status != ITM_OK ? status : closed;
    if (status == ITM_OK && had_failed) {
        status = itm_error_set(error, ITM_ERR_IO, __func__, NULL, "rows were lost; what could be written is in '%s'",
                               r->head.part);
    }
    if (status == ITM_OK) {
        status = r->writer->publish(&r->head, error);
    }
    if (status == ITM_OK && !is_taken) {  // the table is still worth having
        status = itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL,
                               "no memory for the animation; the table in '%s' is complete", r->head.path);
    }
    itm_record_free(&record);
    destroy(r);
    return status;
}

// ---------------------------------------------------------------------------- pictures

static ItmStatus fail_record(ItmResults* r, ItmError* error)
{
    r->has_lost_record = true;
    return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory for the record of the motion");
}

static bool has_recorder(ItmResults* r)
{
    r->recorder = r->recorder != NULL ? r->recorder : itm_recorder_create();
    return r->recorder != NULL;
}

ItmStatus itm_results_watch(ItmResults* r, const ItmModel* m, ItmData* d, const char* prefix, ItmError* error)
{
    ITM_GUARD(r != NULL && m != NULL && d != NULL && prefix != NULL,
              itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "a required argument is NULL"));
    return has_recorder(r) && itm_recorder_add(r->recorder, m, d, prefix) ? ITM_OK : fail_record(r, error);
}

ItmStatus itm_results_watch_interfaces(ItmResults* r, ItmCosim* cosim, ItmError* error)
{
    ITM_GUARD(r != NULL && cosim != NULL,
              itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "a required argument is NULL"));
    if (!has_recorder(r)) {
        return fail_record(r, error);
    }
    itm_recorder_add_interfaces(r->recorder, cosim);
    return ITM_OK;
}

ItmStatus itm_results_note_step(ItmResults* r, double time, ItmError* error)
{
    bool is_watching = r != NULL && r->recorder != NULL;
    return !is_watching || itm_recorder_note(r->recorder, time) ? ITM_OK : fail_record(r, error);
}

ItmStatus itm_results_add_number(ItmResults* r, const char* name, double value, const char* unit,
                                 const char* description, ItmError* error)
{
    ITM_GUARD(r != NULL && name != NULL && unit != NULL && description != NULL,
              itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "a required argument is NULL"));
    return has_recorder(r) && itm_recorder_add_number(r->recorder, name, value, unit, description)
               ? ITM_OK
               : fail_record(r, error);
}

ItmStatus itm_results_add_setting(ItmResults* r, const char* setting, ItmError* error)
{
    ITM_GUARD(r != NULL && setting != NULL,
              itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "a required argument is NULL"));
    return has_recorder(r) && itm_recorder_add_setting(r->recorder, setting) ? ITM_OK : fail_record(r, error);
}

ItmStatus itm_results_add_message(ItmResults* r, const char* message, ItmError* error)
{
    ITM_GUARD(r != NULL && message != NULL,
              itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "a required argument is NULL"));
    return has_recorder(r) && itm_recorder_add_message(r->recorder, message) ? ITM_OK : fail_record(r, error);
}

ItmStatus itm_results_add_doubt(ItmResults* r, const ItmDoubt* doubt, ItmError* error)
{
    ITM_GUARD(r != NULL && doubt != NULL && doubt->where != NULL,
              itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "a required argument is NULL"));
    ItmResultsSummary* s = &r->summary;
    ItmDoubt* grown = realloc(s->doubts, (size_t)(s->ndoubt + 1) * sizeof *grown);
    char* where = strdup(doubt->where);
    s->doubts = grown != NULL ? grown : s->doubts;
    if (grown == NULL || where == NULL) {
        free(where);
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory for a doubt");
    }
    s->doubts[s->ndoubt] = *doubt;
    s->doubts[s->ndoubt].name = itm_verdict_doubt_name(doubt->kind);
    s->doubts[s->ndoubt++].where = where;
    return ITM_OK;
}

// ---------------------------------------------------------------------------- checkpoints

void itm_results_save_record(const ItmResults* r, ItmText* text)
{
    if (r->recorder != NULL) {
        itm_recorder_save(r->recorder, text);
    }
}

ItmStatus itm_results_restore_record(ItmResults* r, const char* bytes, size_t length, ItmError* error)
{
    ItmStatus status =
        r->recorder == NULL ? (length == 0 ? ITM_OK : ITM_ERR_INPUT) : itm_recorder_restore(r->recorder, bytes, length);
    return status == ITM_OK ? ITM_OK
           : status == ITM_ERR_INPUT
               ? itm_error_set(error, status, __func__, NULL,
                               "the record of the motion in the checkpoint does not fit the model")
               : fail_record(r, error);
}

void itm_results_abandon(ItmResults* r)
{
    if (r != NULL) {
        r->has_failed = true;
        itm_results_close(r, ITM_VERDICT_BROKE_DOWN, "the run could not be continued", NULL);
    }
}
