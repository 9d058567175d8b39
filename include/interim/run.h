// A run of a system: steps up to the end, one row of outputs per output interval in memory or in a result file, verdict.
// `interim run` and the Python package are built on it.
//
// Threads: one thread at a time uses an ItmRun together with its system.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_RUN_H
#define INTERIM_RUN_H

#include "interim/file.h"
#include "interim/results.h"

ITM_EXTERN_C_BEGIN

typedef struct ItmRun ItmRun;  // a run that has begun

// What a run records, and where. The functions may be NULL; they must not change the system.
typedef struct ItmRunOptions {
    double duration;  // end of the run, s, >= 0
    double
        output_interval;  // s; a multiple of a fixed step; 0: every macro step, or every step that the stepper chooses
    const char* path;     // result file, see itm_results_create; NULL: none
    bool keeps_rows;      // keep the rows in memory, see itm_run_get_rows
    void* context;        // first argument of the functions
    size_t
        context_size;  // bytes at `context`, plain data, that checkpoints keep and a continued run gets back; 0: none
    void (*note_step)(void* context, ItmCosim* cosim);  // after every step
    void (*note_row)(void* context, ItmCosim* cosim);   // after the outputs of every row are computed

    // Checkpoints. The file is replaced as a whole; beside it, FILE.rows has all rows. Both are removed when the run ends by itself;
    // a run that is stopped writes a last checkpoint.
    const char* checkpoint;      // path of the checkpoint file; NULL: none
    double checkpoint_interval;  // s, > 0
    bool is_interval_simulated;  // of simulated time; otherwise of wall time
    bool
        is_resumed;  // continue from the checkpoint file, bit for bit; without the file, begin. Otherwise the file must not exist
} ItmRunOptions;

// Duration and output interval of the file; nothing recorded.
ITM_API ItmRunOptions itm_default_run_options(const ItmModelFile* file);

// Outcome of a run so far.
typedef struct ItmRunInfo {
    ItmVerdict verdict;  // ITM_VERDICT_RUNNING until the end is reached or the run is stopped
    double time;         // s
    long nstep;          // steps so far
    long nrow;           // rows so far
    double wall_time;    // spent in itm_run_advance, s
    long ncheckpoint;    // checkpoints written so far by this process
    double resumed_at;   // time of the checkpoint from which the run was continued, s; NAN: it was not
} ItmRunInfo;

// Begin a run of a system at its current state, usually the initial one, and record the first row. The file and the system must
// outlive it. ITM_ERR_INPUT, ITM_ERR_IO: the result file cannot be created, or the checkpoint is damaged, or belongs to another model,
// other options or another build. ITM_ERR_UNSUPPORTED: the state of a subsystem cannot be kept in a file. ITM_ERR_ARGUMENT: bad
// options. A system that is continued must be in its initial state.
ITM_API ItmStatus itm_run_create(ItmRun** run, const ItmModelFile* file, ItmCosim* cosim, const ItmRunOptions* options,
                                 ItmError* error);
// Take steps until the end, or for about `wall_time` seconds (INFINITY: no limit). Returns ITM_OK also at the end and if the run
// breaks down: read the verdict. ITM_ERR_IO, ITM_ERR_MEMORY: a row could not be stored; itm_run_get_error returns the reason.
ITM_API ItmStatus itm_run_advance(ItmRun* run, double wall_time);
// Take steps until the simulated time is at least `time`, s, or the run ends; otherwise as itm_run_advance.
ITM_API ItmStatus itm_run_advance_to(ItmRun* run, double time);
// End the run here: verdict ITM_VERDICT_INTERRUPTED. No effect if it has ended already. by: continues "interrupted at ... s by";
// NULL: the user.
ITM_API void itm_run_stop(ItmRun* run, const char* by);
// Record the last state if it has no row yet, describe doubts and close the result file. Further calls have no effect.
ITM_API ItmStatus itm_run_close(ItmRun* run);
// Free a run, closing it first; NULL is allowed.
ITM_API void itm_run_destroy(ItmRun* run);

// Outcome so far.
ITM_API ItmRunInfo itm_run_get_info(const ItmRun* run);
// Why the run broke down or was interrupted, or the doubts after itm_run_close: one sentence, "" if there is none.
ITM_API const char* itm_run_get_reason(const ItmRun* run);
// Error of the last call that failed.
ITM_API const ItmError* itm_run_get_error(const ItmRun* run);
// The open result file, for itm_results_add_number; NULL: none, or closed.
ITM_API ItmResults* itm_run_get_results(ItmRun* run);
// Rows kept in memory, row-major (nrow x (1 + outputs)), time first. Valid until the next itm_run_advance, itm_run_close or
// itm_run_destroy; NULL without keeps_rows.
ITM_API const double* itm_run_get_rows(const ItmRun* run);

ITM_EXTERN_C_END

#endif
