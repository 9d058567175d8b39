// A run from start to end: steps, rows, verdict.
#include "interim/run.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/guard.h"
#include "cosim/cosim.h"
#include "io/bytes.h"
#include "io/results/checkpoint.h"
#include "io/results/provenance.h"
#include "io/results/results.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROWS 256  // of the memory for rows, which doubles
#define REASON_SIZE 2000

// clang-format off
struct ItmRun {
    const ItmModelFile* file;
    ItmCosim*     cosim;
    ItmRunOptions options;
    ItmResults*   results;       // NULL: none, or closed
    double*       values;        // outputs of the present state, with room for the time before them   (noutput)
    int           noutput;
    double*       rows;          // time and outputs, row by row            (nroom x (1 + noutput))
    long          nroom;
    long          nstep_all;     // steps in all, where the step is fixed
    long          every;         // steps between two rows
    bool          is_variable;   // a mechanism alone chooses its steps; rows stand at its times, or every output_interval
    long          nrow_due;      // rows of output_interval so far
    bool          is_recorded;   // the present state stands in the last row
    bool          is_closed;
    bool          has_failed;    // a row could not be stored; what the system did is not the matter
    ItmCheckpointRows spool;     // rows for checkpoints; file NULL: there are none
    char*         state;         // of the system, for checkpoints: itm_cosim_save, then its notes
    char          hash[ITM_HASH_SIZE]; // of the model
    double        noted_wall, noted_time; // of the last checkpoint, s
    ItmRunInfo    info;
    ItmError      error;
    char          reason[REASON_SIZE];
};
// clang-format on

ItmRunOptions itm_default_run_options(const ItmModelFile* file)
{
    ITM_GUARD(file != NULL, (ItmRunOptions){0});
    return (ItmRunOptions){.duration = file->run.duration, .output_interval = file->run.output_interval};
}

// ---------------------------------------------------------------------------- set-up

// What stands before the names of a mechanism's signals.
static const char* name_mechanism(const ItmRun* r, int mechanism)
{
    return itm_cosim_get_mechanism_count(r->cosim) == 1 && r->file->name[0] == '\0'
               ? ""
               : itm_cosim_get_mechanism_name(r->cosim, mechanism);
}

static ItmStatus watch_system(ItmRun* r)
{
    ItmStatus status = ITM_OK;
    for (int i = 0; i < itm_cosim_get_mechanism_count(r->cosim) && status == ITM_OK; i++) {
        status = itm_results_watch(r->results, itm_cosim_get_model(r->cosim, i), itm_cosim_get_data(r->cosim, i),
                                   name_mechanism(r, i), &r->error);
    }
    if (status == ITM_OK && itm_cosim_get_interface_count(r->cosim) > 0) {
        status = itm_results_watch_interfaces(r->results, r->cosim, &r->error);
    }
    return status;
}

static ItmStatus open_results(ItmRun* r)
{
    if (r->options.path == NULL) {
        return ITM_OK;
    }
    ItmOutputInfo* columns = calloc((size_t)r->noutput + 1, sizeof *columns);
    if (columns == NULL) {
        return itm_error_set(&r->error, ITM_ERR_MEMORY, "itm_run_create", NULL, "out of memory");
    }
    for (int i = 0; i < r->noutput; i++) {
        columns[i] = itm_cosim_get_output_info(r->cosim, i);
    }
    ItmText provenance = {0};
    itm_provenance_write(&provenance, r->file, r->options.path, r->options.duration, r->options.output_interval);
    ItmStatus status = provenance.has_failed
                           ? itm_error_set(&r->error, ITM_ERR_MEMORY, "itm_run_create", NULL, "out of memory")
                           : itm_results_open(&r->results, r->options.path, columns, r->noutput, "", r->file->title,
                                              provenance.chars, &r->error);
    itm_text_free(&provenance);
    free(columns);
    return status == ITM_OK ? watch_system(r) : status;
}

// Variable steps end at the next row, or at the end of the run.
static void set_stop(ItmRun* r)
{
    double interval = r->options.output_interval, duration = r->options.duration;
    if (r->is_variable) {
        double row = (double)(r->nrow_due + 1) * interval;
        // a row that misses the end by rounding is the end: no step of 1e-17 s may follow it
        double stop = interval > 0.0 && row < duration - 1e-9 * interval ? row : duration;
        itm_data_set_stop_time(itm_cosim_get_data(r->cosim, 0), stop);
    }
}

static double get_time(const ItmRun* r)
{
    return r->is_variable ? itm_data_get_time(itm_cosim_get_data(r->cosim, 0)) : itm_cosim_get_time(r->cosim);
}

static void count_steps(ItmRun* r)
{
    // a duration that is a multiple of the step but for rounding gives exactly that many steps
    double step = itm_cosim_get_step(r->cosim), interval = r->options.output_interval;
    double left = r->options.duration - itm_cosim_get_time(r->cosim);
    r->nstep_all = left > 0.0 ? (long)ceil(left / step * (1.0 - 1e-12)) : 0;
    r->every = lround((interval > 0.0 ? interval : r->file->cosim.options.macro_step) / step);
    r->every = r->every > 0 ? r->every : 1;
    ItmStepper stepper = r->file->run.step.stepper;
    bool is_alone = itm_cosim_get_mechanism_count(r->cosim) == 1 && itm_cosim_get_subsystem_count(r->cosim) == 0;
    r->is_variable = is_alone && (stepper == ITM_STEPPER_VARIABLE || stepper == ITM_STEPPER_ADAPTIVE);
    set_stop(r);
}

// ---------------------------------------------------------------------------- rows

// Name of the first output that is not a number, or NULL.
static const char* find_not_finite(const ItmRun* r)
{
    for (int i = 0; i < r->noutput; i++) {
        if (!isfinite(r->values[i])) {
            return itm_cosim_get_output_info(r->cosim, i).name;
        }
    }
    return NULL;
}

static void break_down(ItmRun* r, ItmStatus status)
{
    r->info.verdict = ITM_VERDICT_BROKE_DOWN;
    const char* message = r->error.message[0] != '\0' ? r->error.message : itm_status_message(status);
    snprintf(r->reason, sizeof r->reason, "broke down at %.9g s: %s", get_time(r), message);
}

// A process that steps parts of the system cannot be reached: the run is continued from the last communication point.
static void stop_by_loss(ItmRun* r)
{
    r->info.verdict = ITM_VERDICT_INTERRUPTED;
    snprintf(r->reason, sizeof r->reason, "interrupted at %.9g s: %s", get_time(r), r->error.message);
}

static bool has_loss(const ItmRun* r)
{
    return itm_ranks_get_info(r->cosim).is_lost;
}

// Keep the row of the present outputs at `time`.
static ItmStatus keep_row(ItmRun* r, double time)
{
    size_t width = (size_t)r->noutput + 1;
    if (r->info.nrow == r->nroom) {
        long nroom = r->nroom > 0 ? 2 * r->nroom : FIRST_ROWS;
        double* moved = realloc(r->rows, sizeof *moved * width * (size_t)nroom);
        if (moved == NULL) {
            return itm_error_set(&r->error, ITM_ERR_MEMORY, "itm_run_advance", NULL, "no memory for %ld rows of %zu",
                                 nroom, width);
        }
        r->rows = moved;
        r->nroom = nroom;
    }
    double* row = r->rows + width * (size_t)r->info.nrow;
    row[0] = time;
    memcpy(row + 1, r->values, sizeof *row * (size_t)r->noutput);
    return ITM_OK;
}

// The present outputs as a row: in memory, in the result file.
static ItmStatus store_row(ItmRun* r, double time)
{
    ItmStatus status = r->options.keeps_rows ? keep_row(r, time) : ITM_OK;
    if (status == ITM_OK && r->results != NULL) {
        status = itm_results_append(r->results, time, r->values, &r->error);
    }
    r->info.nrow++;
    return status;
}

static ItmStatus spool_row(ItmRun* r)
{
    if (r->spool.file == NULL) {
        return ITM_OK;
    }
    // values has room for the time in front
    r->values[-1] = get_time(r);
    return itm_checkpoint_rows_append(&r->spool, r->values - 1, &r->error);
}

// Compute the outputs and store them.
static ItmStatus record(ItmRun* r)
{
    ItmStatus status = itm_cosim_compute_outputs(r->cosim, r->values);
    const char* name = status == ITM_OK ? find_not_finite(r) : NULL;
    if (status != ITM_OK && has_loss(r)) {
        // without its row the step is not done
        r->error = *itm_cosim_get_error(r->cosim);
        (void)itm_cosim_abandon(r->cosim, status);
        r->info.nstep -= r->info.nstep > 0;
        stop_by_loss(r);
        return ITM_OK;
    }
    if (status != ITM_OK || name != NULL) {
        r->error = status != ITM_OK ? *itm_cosim_get_error(r->cosim) : (ItmError){.status = ITM_ERR_NOT_FINITE};
        if (name != NULL) {
            itm_error_set(&r->error, ITM_ERR_NOT_FINITE, "itm_run_advance", name, "output '%s' is not finite", name);
        }
        break_down(r, r->error.status);
        return ITM_OK;
    }
    if (r->options.note_row != NULL) {
        r->options.note_row(r->options.context, r->cosim);
    }
    status = store_row(r, get_time(r));
    status = status == ITM_OK ? spool_row(r) : status;
    r->is_recorded = true;
    r->has_failed = status != ITM_OK;
    return status;
}

// Whether the state after this step is one of the results.
static bool is_row_due(ItmRun* r)
{
    double interval = r->options.output_interval;
    if (!r->is_variable) {
        return r->info.nstep % r->every == 0;
    }
    if (interval > 0.0 && get_time(r) < fmin(r->options.duration, (double)(r->nrow_due + 1) * interval)) {
        return false;
    }
    r->nrow_due++;
    set_stop(r);
    return true;
}

// ---------------------------------------------------------------------------- checkpoints

static ItmCheckpointHead describe_run(const ItmRun* r)
{
    ItmCheckpointHead head = itm_checkpoint_make_head();
    memcpy(head.model, r->hash, sizeof r->hash);
    head.duration = r->options.duration;
    head.output_interval = r->options.output_interval;
    head.noutput = r->noutput;
    head.nstep = r->info.nstep;
    head.nrow = r->info.nrow;
    head.nrow_due = r->nrow_due;
    head.is_recorded = r->is_recorded;
    head.time = get_time(r);
    head.wall_time = r->info.wall_time;
    itm_sha256_get(&r->spool.sha, head.rows);
    head.sizes[ITM_CHECKPOINT_STATE] = (int64_t)itm_cosim_get_state_size(r->cosim);
    head.sizes[ITM_CHECKPOINT_NOTES] = (int64_t)itm_cosim_get_notes_size(r->cosim);
    head.sizes[ITM_CHECKPOINT_CONTEXT] = (int64_t)(r->options.context != NULL ? r->options.context_size : 0);
    return head;
}

// Rows first, then the state: a checkpoint never counts rows that are not on the disk.
static ItmStatus write_checkpoint(ItmRun* r)
{
    ItmCheckpointHead head = describe_run(r);
    size_t size = (size_t)head.sizes[ITM_CHECKPOINT_STATE];
    ItmText record = {0};
    ItmStatus status = itm_cosim_save(r->cosim, r->state, size);
    if (status != ITM_OK) {
        r->error = *itm_cosim_get_error(r->cosim);
        return status;
    }
    itm_cosim_save_notes(r->cosim, r->state + size);
    if (r->results != NULL) {
        itm_results_save_record(r->results, &record);
    }
    head.sizes[ITM_CHECKPOINT_RECORD] = (int64_t)record.length;
    const void* const parts[] = {r->state, r->state + size, r->options.context, record.chars};
    status = record.has_failed
                 ? itm_error_set(&r->error, ITM_ERR_MEMORY, "itm_run_advance", NULL, "no memory for a checkpoint")
                 : itm_checkpoint_rows_sync(&r->spool, &r->error);
    status = status == ITM_OK ? itm_checkpoint_write(r->options.checkpoint, &head, parts, &r->error) : status;
    itm_text_free(&record);
    r->info.ncheckpoint += status == ITM_OK;
    r->noted_wall = itm_clock();
    r->noted_time = get_time(r);
    return status;
}

static bool is_checkpoint_due(const ItmRun* r)
{
    double interval = r->options.checkpoint_interval;
    return r->spool.file != NULL &&
           (r->options.is_interval_simulated ? get_time(r) - r->noted_time >= interval * (1.0 - 1e-9)
                                             : itm_clock() - r->noted_wall >= interval);
}

static ItmStatus refuse_checkpoint(ItmRun* r, const char* why)
{
    ItmStatus status = itm_error_set(&r->error, ITM_ERR_INPUT, "itm_run_create", NULL, "the checkpoint '%s' %s",
                                     r->options.checkpoint, why);
    itm_error_locate(&r->error, r->options.checkpoint, 0, 0);
    return status;
}

static ItmStatus compare_head(ItmRun* r, const ItmCheckpointHead* head)
{
    ItmCheckpointHead own = describe_run(r);
    if (strcmp(head->model, own.model) != 0) {
        return refuse_checkpoint(r, "belongs to another model: the model file, a file that it refers to or an override "
                                    "has changed; restore them, or remove the checkpoint to begin again");
    }
    // as bytes: they are numbers of the same program, not results of a calculation
    if (memcmp(&head->duration, &own.duration, sizeof own.duration) != 0 ||
        memcmp(&head->output_interval, &own.output_interval, sizeof own.output_interval) != 0) {
        return refuse_checkpoint(r, "belongs to a run of another duration or output interval");
    }
    bool is_fit = head->noutput == own.noutput && head->nstep >= 0 && head->nrow >= 0 && head->nrow_due >= 0;
    for (int i = 0; i < ITM_CHECKPOINT_RECORD; i++) {
        is_fit = is_fit && head->sizes[i] == own.sizes[i];
    }
    return is_fit ? ITM_OK : refuse_checkpoint(r, "does not fit the model");
}

static ItmStatus replay_row(void* context, const double* row)
{
    ItmRun* r = context;
    memcpy(r->values, row + 1, sizeof *row * (size_t)r->noutput);
    return store_row(r, row[0]);
}

// A state that a stranger has changed may have any time, and a run at an infinite one would never end.
static ItmStatus check_time(ItmRun* r, const ItmCheckpointHead* head)
{
    double time = get_time(r), end = r->options.duration + itm_cosim_get_step(r->cosim);
    bool is_good = isfinite(time) && time >= 0.0 && time <= end && memcmp(&time, &head->time, sizeof time) == 0;
    return is_good ? ITM_OK : refuse_checkpoint(r, "is damaged: its state is not that of its time");
}

static ItmStatus restore_system(ItmRun* r, const ItmCheckpoint* c)
{
    const ItmCheckpointHead* head = &c->head;
    ItmStatus status =
        itm_cosim_restore(r->cosim, c->parts[ITM_CHECKPOINT_STATE], (size_t)head->sizes[ITM_CHECKPOINT_STATE]);
    if (status != ITM_OK) {
        r->error = *itm_cosim_get_error(r->cosim);
        return status;
    }
    status = check_time(r, head);
    if (status != ITM_OK) {
        return status;
    }
    itm_cosim_restore_notes(r->cosim, c->parts[ITM_CHECKPOINT_NOTES]);
    if (r->options.context != NULL && r->options.context_size > 0) {
        memcpy(r->options.context, c->parts[ITM_CHECKPOINT_CONTEXT], r->options.context_size);
    }
    if (r->results != NULL) {
        status = itm_results_restore_record(r->results, c->parts[ITM_CHECKPOINT_RECORD],
                                            (size_t)head->sizes[ITM_CHECKPOINT_RECORD], &r->error);
    }
    r->info.nstep = (long)head->nstep;
    r->info.wall_time = head->wall_time;
    r->info.resumed_at = get_time(r);
    r->nrow_due = (long)head->nrow_due;
    r->is_recorded = head->is_recorded != 0;
    set_stop(r);
    return status;
}

// Everything that may be wrong with the files of a checkpoint is found before the results are touched.
static ItmStatus open_checkpoint(ItmRun* r, ItmCheckpoint* c, char** bytes)
{
    const char *why = "", *path = r->options.checkpoint;
    size_t length = 0;
    *bytes = itm_bytes_read(path, (size_t)1 << 32, &length, &why);
    if (*bytes == NULL) {
        return refuse_checkpoint(r, why);
    }
    ItmStatus status = itm_checkpoint_parse(c, *bytes, length, path, &r->error);
    status = status == ITM_OK ? compare_head(r, &c->head) : status;
    return status == ITM_OK ? itm_checkpoint_rows_resume(&r->spool, path, (size_t)r->noutput + 1, &c->head, &r->error)
                            : status;
}

// What checkpoints need, and whether there is one to continue from.
static ItmStatus prepare_checkpoints(ItmRun* r, bool* is_resumed)
{
    const char* name = itm_cosim_find_local_state(r->cosim);
    FILE* found = fopen(r->options.checkpoint, "rb");
    *is_resumed = found != NULL;
    if (found != NULL) {
        fclose(found);
    }
    if (name != NULL) {
        return itm_error_set(
            &r->error, ITM_ERR_UNSUPPORTED, "itm_run_create", name,
            "no checkpoints: the state of '%s' cannot be kept in a file (an FMU must be able to write it "
            "as bytes); run without --checkpoint",
            name);
    }
    if (found != NULL && !r->options.is_resumed) {
        return refuse_checkpoint(r, "of an unfinished run exists; continue that run (--resume), or remove the file");
    }
    r->state = malloc(itm_cosim_get_state_size(r->cosim) + itm_cosim_get_notes_size(r->cosim) + 1);
    if (r->state == NULL) {
        return itm_error_set(&r->error, ITM_ERR_MEMORY, "itm_run_create", NULL, "no memory for checkpoints");
    }
    return itm_provenance_hash(r->file, r->hash, &r->error);
}

// ---------------------------------------------------------------------------- steps

static void note_end(ItmRun* r)
{
    bool is_at_end = r->is_variable ? get_time(r) >= r->options.duration : r->info.nstep >= r->nstep_all;
    if (is_at_end && r->info.verdict == ITM_VERDICT_RUNNING) {
        r->info.verdict = ITM_VERDICT_FINISHED;
    }
}

// One step, and its row if one is due.
static ItmStatus advance(ItmRun* r)
{
    ItmStatus status = r->is_variable ? itm_cosim_step_free(r->cosim) : itm_cosim_step(r->cosim);
    if (status != ITM_OK) {
        r->error = *itm_cosim_get_error(r->cosim);
        has_loss(r) ? stop_by_loss(r) : break_down(r, status);
        return ITM_OK;
    }
    r->is_recorded = false;
    r->info.nstep++;
    if (r->options.note_step != NULL) {
        r->options.note_step(r->options.context, r->cosim);
    }
    status = itm_results_note_step(r->results, get_time(r), &r->error);
    r->has_failed = status != ITM_OK;
    if (status == ITM_OK && is_row_due(r)) {
        status = record(r);
    }
    note_end(r);
    return status;
}

// Steps until the clock shows `until` or the simulated time is `time`.
static ItmStatus advance_until(ItmRun* r, double until, double time)
{
    if (r->has_failed || r->is_closed) {
        return r->error.status;
    }
    double start = itm_clock(), rounding = 1e-9 * fmax(fabs(time), 1e-6);  // sums of steps round
    ItmStatus status = ITM_OK;
    bool is_going = r->info.verdict == ITM_VERDICT_RUNNING && get_time(r) + rounding < time;
    while (is_going) {
        status = advance(r);
        if (status == ITM_OK && r->info.verdict == ITM_VERDICT_RUNNING && is_checkpoint_due(r)) {
            status = write_checkpoint(r);
            r->has_failed = status != ITM_OK;
        }
        is_going = status == ITM_OK && r->info.verdict == ITM_VERDICT_RUNNING && itm_clock() < until &&
                   get_time(r) + rounding < time;
    }
    r->info.wall_time += itm_clock() - start;
    return status;
}

ItmStatus itm_run_advance(ItmRun* r, double wall_time)
{
    ITM_GUARD(r != NULL, ITM_ERR_ARGUMENT);
    return advance_until(r, itm_clock() + wall_time, DBL_MAX);
}

ItmStatus itm_run_advance_to(ItmRun* r, double time)
{
    ITM_GUARD(r != NULL, ITM_ERR_ARGUMENT);
    return advance_until(r, (double)INFINITY, time);
}

void itm_run_stop(ItmRun* r, const char* by)
{
    ITM_GUARD_VOID(r != NULL);
    if (r->info.verdict == ITM_VERDICT_RUNNING) {
        r->info.verdict = ITM_VERDICT_INTERRUPTED;
        snprintf(r->reason, sizeof r->reason, "interrupted at %.9g s by %s", get_time(r), by != NULL ? by : "the user");
    }
}

// ---------------------------------------------------------------------------- start and end

// The first row of a run that begins.
static ItmStatus begin(ItmRun* r)
{
    ItmStatus status = r->options.checkpoint != NULL ? itm_checkpoint_rows_open(&r->spool, r->options.checkpoint,
                                                                                (size_t)r->noutput + 1, &r->error)
                                                     : ITM_OK;
    status = status == ITM_OK ? open_results(r) : status;
    if (status == ITM_OK) {
        count_steps(r);
        status = itm_results_note_step(r->results, get_time(r), &r->error);
    }
    status = status == ITM_OK ? record(r) : status;
    note_end(r);
    return status;
}

// The rows of a run that goes on, and its state.
static ItmStatus resume(ItmRun* r)
{
    ItmCheckpoint checkpoint;
    char* bytes = NULL;
    ItmStatus status = open_checkpoint(r, &checkpoint, &bytes);
    status = status == ITM_OK ? open_results(r) : status;
    if (status == ITM_OK) {
        count_steps(r);
        status = itm_checkpoint_rows_replay(&r->spool, checkpoint.head.nrow, replay_row, r, &r->error);
    }
    status = status == ITM_OK ? restore_system(r, &checkpoint) : status;
    free(bytes);
    if (status != ITM_OK) {
        itm_results_abandon(r->results);
        r->results = NULL;
    }
    note_end(r);
    return status;
}

static ItmStatus check_options(const ItmRunOptions* options, ItmError* error)
{
    if (!(options->duration >= 0.0) || !isfinite(options->duration) || !(options->output_interval >= 0.0)) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, "itm_run_create",
                             options->duration >= 0.0 ? "output_interval" : "duration",
                             "a run of %g s with rows every %g s: both must be finite and not negative",
                             options->duration, options->output_interval);
    }
    if (options->checkpoint != NULL && !(options->checkpoint_interval > 0.0)) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, "itm_run_create", "checkpoint_interval",
                             "checkpoints every %g s: the interval must be positive", options->checkpoint_interval);
    }
    return ITM_OK;
}

ItmStatus itm_run_create(ItmRun** run, const ItmModelFile* file, ItmCosim* cosim, const ItmRunOptions* options,
                         ItmError* error)
{
    if (run == NULL || file == NULL || cosim == NULL || options == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "run, file, cosim or options is NULL");
    }
    *run = NULL;
    ItmStatus status = check_options(options, error);
    if (status != ITM_OK) {
        return status;
    }
    ItmRun* r = calloc(1, sizeof *r);
    double* values = calloc((size_t)itm_cosim_get_output_count(cosim) + 1, sizeof *values);
    if (r == NULL || values == NULL) {
        free(r);
        free(values);
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
    *r = (ItmRun){.file = file, .cosim = cosim, .options = *options, .values = values + 1, .info.resumed_at = NAN};
    r->noutput = itm_cosim_get_output_count(cosim);
    r->noted_wall = itm_clock();
    bool is_resumed = false;
    status = options->checkpoint != NULL ? prepare_checkpoints(r, &is_resumed) : ITM_OK;
    status = status == ITM_OK ? (is_resumed ? resume(r) : begin(r)) : status;
    r->noted_time = get_time(r);
    if (status != ITM_OK) {
        if (error != NULL) {
            *error = r->error;
        }
        r->is_closed = true;
        itm_results_close(r->results, ITM_VERDICT_BROKE_DOWN, r->error.message, NULL);
        itm_checkpoint_rows_close(&r->spool, r->options.checkpoint, false);
        itm_run_destroy(r);
        return status;
    }
    *run = r;
    return ITM_OK;
}

// The last row is the last good state, also off the spacing; the reason of the end stays.
static ItmStatus record_last(ItmRun* r)
{
    if (r->is_recorded || r->has_failed || has_loss(r)) {
        return ITM_OK;
    }
    ItmVerdict verdict = r->info.verdict;
    ItmError error = r->error;
    char reason[REASON_SIZE];
    memcpy(reason, r->reason, sizeof reason);
    ItmStatus status = record(r);
    if (status == ITM_OK && (r->is_recorded || verdict == ITM_VERDICT_BROKE_DOWN)) {
        r->info.verdict = verdict;
        r->error = error;
        memcpy(r->reason, reason, sizeof reason);
    }
    return status;
}

// Give the doubts to the results, and list them in the reason as far as they fit.
static void describe_doubts(ItmRun* r)
{
    int ndoubt = itm_cosim_get_doubt_count(r->cosim);
    for (int i = 0; i < ndoubt; i++) {
        ItmDoubt doubt = itm_cosim_get_doubt(r->cosim, i);
        char text[400];
        itm_verdict_describe_doubt(&doubt, text, sizeof text);
        size_t used = strlen(r->reason);
        snprintf(r->reason + used, sizeof r->reason - used, "%s%s", used > 0 ? "; " : "", text);
        if (r->results != NULL) {
            // without memory the description lacks a doubt, the verdict stands
            itm_results_add_doubt(r->results, &doubt, NULL);
        }
    }
    r->info.verdict = ndoubt > 0 && r->info.verdict == ITM_VERDICT_FINISHED ? ITM_VERDICT_DOUBTFUL : r->info.verdict;
}

#define MOST_MESSAGES 500  // of a subsystem, in the report

// Lines of a text, from its end backwards, at most `most`; the start of the first of them.
static const char* find_last_lines(const char* text, int most)
{
    const char* at = text + strlen(text);
    for (int n = -1; at > text; at--) {
        n += at[-1] == '\n';
        if (n == most) {
            break;
        }
    }
    return at;
}

// Messages of subsystems for the report: the last ones of each, with its name, and how much is missing.
static void add_messages(ItmRun* r)
{
    for (int i = 0; i < itm_cosim_get_subsystem_count(r->cosim); i++) {
        size_t nlost = 0;
        const char *name = itm_cosim_get_subsystem_name(r->cosim, i), *log = itm_cosim_get_log(r->cosim, i, &nlost);
        const char* from = find_last_lines(log, MOST_MESSAGES);
        nlost += (size_t)(from - log);
        char line[2600];
        if (nlost > 0) {
            snprintf(line, sizeof line, "%s: (%zu bytes of messages are not shown)", name, nlost);
            (void)itm_results_add_message(r->results, line, NULL);
        }
        for (const char* at = from; *at != '\0';) {
            size_t n = strcspn(at, "\n");
            snprintf(line, sizeof line, "%s: %.*s", name, (int)(n < 2400 ? n : 2400), at);
            // without memory the report lacks a message
            (void)itm_results_add_message(r->results, line, NULL);
            at += n + (at[n] == '\n');
        }
    }
}

ItmStatus itm_run_close(ItmRun* r)
{
    ITM_GUARD(r != NULL, ITM_ERR_ARGUMENT);
    if (r->is_closed) {
        return ITM_OK;
    }
    itm_run_stop(r, NULL);
    ItmStatus status = r->has_failed ? r->error.status : ITM_OK;
    bool is_stopped = r->info.verdict == ITM_VERDICT_INTERRUPTED;
    if (status == ITM_OK && is_stopped && r->spool.file != NULL) {
        status = write_checkpoint(r);  // before the last row, which may be off the spacing
    }
    status = status == ITM_OK ? record_last(r) : status;
    describe_doubts(r);
    if (r->results != NULL) {
        add_messages(r);
    }
    ItmError closing = {0};
    ItmStatus closed = itm_results_close(r->results, r->info.verdict, r->reason, &closing);
    r->results = NULL;
    r->is_closed = true;
    if (status == ITM_OK && closed != ITM_OK) {
        r->error = closing;
        status = closed;
    }
    itm_checkpoint_rows_close(&r->spool, r->options.checkpoint, status == ITM_OK && !is_stopped);
    return status;
}

void itm_run_destroy(ItmRun* r)
{
    if (r != NULL) {
        itm_run_close(r);
        free(r->rows);
        free(r->values - 1);
        free(r->state);
        free(r);
    }
}

// ---------------------------------------------------------------------------- reading

ItmRunInfo itm_run_get_info(const ItmRun* r)
{
    ITM_GUARD(r != NULL, (ItmRunInfo){0});
    ItmRunInfo info = r->info;
    info.time = get_time(r);
    return info;
}

const char* itm_run_get_reason(const ItmRun* r)
{
    ITM_GUARD(r != NULL, "");
    return r->reason;
}

const ItmError* itm_run_get_error(const ItmRun* r)
{
    ITM_GUARD(r != NULL, NULL);
    return &r->error;
}

ItmResults* itm_run_get_results(ItmRun* r)
{
    ITM_GUARD(r != NULL, NULL);
    return r->results;
}

const double* itm_run_get_rows(const ItmRun* r)
{
    ITM_GUARD(r != NULL, NULL);
    return r->rows;
}
