// Studies: many runs of one model that differ by the values of factors, and one table of what came out of them.
// docs/reference/study-file.md
//
// A study is loaded from a file, or made by calls; itm_study_prepare then draws the design, checks the model and numbers the runs.
// Runs 0 ... count - 1 are those of the design, the numbers after them are reference runs. Every run is executed in a child process
// (ItmStudyPool). Its outcome travels as one line of JSON: from the child, between machines, and into the journal, from which an
// interrupted study goes on. Tables are functions of the study and these lines, so that neither the order of the runs nor the number
// of processes or machines changes a byte.
//
// Threads: one thread at a time uses a study. Creating child processes requires that no other thread of the program holds a lock
// that a run needs: use a pool in programs with one thread.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_STUDY_H
#define INTERIM_STUDY_H

#include "interim/verdict.h"

ITM_EXTERN_C_BEGIN

typedef struct ItmStudy ItmStudy;
typedef struct ItmStudyPool ItmStudyPool;  // child processes that execute runs

#define ITM_STUDY_MOST_RUNS 100000

// How a run ended.
typedef enum ItmStudyVerdict {
    ITM_STUDY_WAITING,  // not executed yet
    ITM_STUDY_FINISHED,
    ITM_STUDY_DOUBTFUL,  // finished with doubts
    ITM_STUDY_BROKE_DOWN,
    ITM_STUDY_TIMED_OUT,
    ITM_STUDY_INTERRUPTED,
    ITM_STUDY_CRASHED,  // the process was killed or died
    ITM_STUDY_FAILED,   // bad model, or results that cannot be written
    ITM_STUDY_VERDICT_COUNT
} ItmStudyVerdict;

// Name of a verdict: "finished-with-doubts"; NULL for any other number.
ITM_API const char* itm_study_verdict_name(ItmStudyVerdict verdict);

// Outcome of a run. The numbers depend on the model and the values of the factors only, except for the costs.
typedef struct ItmStudyRun {
    ItmStudyVerdict verdict;
    double end_time;    // simulated, of the last row, s; NAN: no row
    double* responses;  // NAN: none; belongs to the study  (nresponse)
    char message[512];  // why it did not finish, or its doubts; otherwise ""
    double cpu_time;    // user and system, s
    double wall_time;   // s
    char host[64];      // name of the machine
    int nattempt;       // how often it was begun
    char* samples;      // reference runs: recorded signals as JSON; belongs to the study
    double* traces;     // signals at evenly spaced times, NAN after the end; belongs to the study  (ntrace x npoint)
} ItmStudyRun;

// ---------------------------------------------------------------------------- definition

// Load a study file (YAML). overrides: "key.path=value" of the model, for all runs, after those of the file. root: as for
// itm_file_load_below, may be NULL. Errors contain file, line and column.
ITM_API ItmStatus itm_study_load(ItmStudy** study, const char* path, const char* root, const char* const* overrides,
                                 int noverride, ItmError* error);
// Create a study of a model file without factors and responses: a grid to which the following functions add.
ITM_API ItmStatus itm_study_create(ItmStudy** study, const char* model, const char* root, const char* const* overrides,
                                   int noverride, ItmError* error);
// Add a factor "key.path=a,b,c", where an item may be a range "first:last:count" or, evenly in its logarithm,
// "first:last:countlog".
ITM_API ItmStatus itm_study_add_axis(ItmStudy* study, const char* text, ItmError* error);
// Add the final and the peak value of signals as responses, and their differences from the reference if there is one. pattern: a
// name, or with wildcards of the shell.
ITM_API ItmStatus itm_study_add_signals(ItmStudy* study, const char* pattern, ItmError* error);
// Compare with a reference run: the values of a run, but this "key.path=value".
ITM_API ItmStatus itm_study_add_reference(ItmStudy* study, const char* setting, ItmError* error);
// Compare with a result file.
ITM_API ItmStatus itm_study_set_reference_file(ItmStudy* study, const char* path, ItmError* error);
// Draw the design, load the model with the values of its first run, find the signals and create the runs.
ITM_API ItmStatus itm_study_prepare(ItmStudy* study, ItmError* error);
// Create the study whose journal this is, from the definition in its first line, and prepare it. Paths are relative to the current
// folder, as they were. A journal of another version of Interim is accepted; see ItmStudyInfo. ITM_ERR_INPUT: it is no journal, or the
// files have changed since.
ITM_API ItmStatus itm_study_create_from_journal(ItmStudy** study, const char* path, const char* root, ItmError* error);
// JSON Schema (draft 7) of study files, as text, for editors. Static.
ITM_API const char* itm_study_get_schema(void);
// Free a study; NULL is allowed.
ITM_API void itm_study_destroy(ItmStudy* study);

// ---------------------------------------------------------------------------- reading

// Sizes of a study; those of the design and the signals after itm_study_prepare.
typedef struct ItmStudyInfo {
    const char* title;    // that of the model where the study has none
    const char* model;    // path of the model file
    const char* path;     // path of the study file; NULL: made by calls
    const char* version;  // of Interim: this one, or that of the journal of itm_study_create_from_journal
    int nfactor;
    int nresponse;
    int nrun;        // of the design
    int nreference;  // reference runs, numbered from nrun on
    int njob;        // processes at a time that the file asks for; 0: not given
    double timeout;  // wall time of one run that the file allows, s; INFINITY: any
    int nsignal;     // signals of itm_study_add_signals
    bool has_reference;
} ItmStudyInfo;

// Sizes and names; texts are valid as long as the study.
ITM_API ItmStudyInfo itm_study_get_info(const ItmStudy* study);
// Name of a factor; NULL: there is none.
ITM_API const char* itm_study_get_factor_name(const ItmStudy* study, int factor);
// SI unit of a factor's numbers, "" where they have none or are words; NULL: there is no such factor.
ITM_API const char* itm_study_get_factor_unit(ItmStudy* study, int factor);
// Value of a factor in a run of the design as it is set in the model ("2 ms"); NULL: no such run. Valid until the next call.
ITM_API const char* itm_study_get_factor_value(ItmStudy* study, int run, int factor);
// Name of a response ("hinge.angle.peak"); NULL: there is none.
ITM_API const char* itm_study_get_response_name(const ItmStudy* study, int response);
// SI unit of a response, "" where it has none; NULL: there is no such response. After itm_study_prepare.
ITM_API const char* itm_study_get_response_unit(const ItmStudy* study, int response);
// Runs that together have every word and the extreme numbers of every factor, and a reference: to be loaded before hours of runs.
// runs (nrun + nreference). Returns their number.
ITM_API int itm_study_list_probes(const ItmStudy* study, int* runs);
// Outcome of a run; NULL: no such run.
ITM_API const ItmStudyRun* itm_study_get_run(const ItmStudy* study, int run);
// Reference run that a run of the design is compared with, or ITM_NONE.
ITM_API int itm_study_get_reference(const ItmStudy* study, int run);
// Settings of a run, "key.path=value"; NULL beyond the last. Valid until the next call.
ITM_API const char* itm_study_get_setting(ItmStudy* study, int run, int setting);
// The study in one line of JSON: a study of the same line has the same runs. Valid as long as the study.
ITM_API const char* itm_study_get_signature(const ItmStudy* study);

// ---------------------------------------------------------------------------- execution

typedef struct ItmStudyPoolOptions {
    int nworker;       // processes at a time, at least 1
    double timeout;    // wall time of one run, s; INFINITY: any
    const char* keep;  // folder for the results of every run, runN.h5; NULL: they are not kept
    bool is_probe;     // load the model and take no step
} ItmStudyPoolOptions;

// Default options: one process, no timeout, results are not kept.
ITM_API ItmStudyPoolOptions itm_default_study_pool_options(void);
// Create a pool for a prepared study. The study must outlive it. options may be NULL.
ITM_API ItmStatus itm_study_pool_create(ItmStudyPool** pool, ItmStudy* study, const ItmStudyPoolOptions* options,
                                        ItmError* error);
// Begin a run in a child process. ITM_ERR_CAPACITY: all processes are busy. ITM_ERR_UNSUPPORTED: no process can be created now.
ITM_API ItmStatus itm_study_pool_start(ItmStudyPool* pool, int run, ItmError* error);
// Wait up to `seconds` for the end of a run and take over its outcome: its number, or ITM_NONE. A signal ends the wait.
ITM_API int itm_study_pool_wait(ItmStudyPool* pool, double seconds);
// Ask all runs to stop; those that do not are killed ten seconds later. Wait for their ends afterwards.
ITM_API void itm_study_pool_stop(ItmStudyPool* pool);
// Number of runs under way.
ITM_API int itm_study_pool_get_busy(const ItmStudyPool* pool);
// Kill what runs, free the pool; NULL is allowed.
ITM_API void itm_study_pool_destroy(ItmStudyPool* pool);

// The outcome of a run as one line of JSON without a line end, to be freed; NULL: out of memory, or no such run.
ITM_API char* itm_study_write_run(const ItmStudy* study, int run);
// Take over an outcome from such a line. run (may be NULL) receives its number. ITM_ERR_INPUT: it is none of this study.
ITM_API ItmStatus itm_study_read_run(ItmStudy* study, const char* line, int* run, ItmError* error);

// Set how often a run was begun, where others executed it.
ITM_API void itm_study_set_attempts(ItmStudy* study, int run, int nattempt);

// ---------------------------------------------------------------------------- journal

// From now on append every outcome that itm_study_note_run is called for to a file, which begins with the signature of the study.
// resume: take over the outcomes that the file has, if it exists; ITM_ERR_INPUT: it belongs to another study. A last line that was
// not written completely is dropped. Runs that were interrupted or failed are executed again.
ITM_API ItmStatus itm_study_open_journal(ItmStudy* study, const char* path, bool resume, ItmError* error);
// Take over the outcomes of a journal without writing to it.
ITM_API ItmStatus itm_study_read_journal(ItmStudy* study, const char* path, ItmError* error);
// Append the outcome of a run to the journal, if one is open. The line is in the hands of the system when this returns.
ITM_API ItmStatus itm_study_note_run(ItmStudy* study, int run, ItmError* error);
// Note that a run was given up by whoever began it ("rank 3") and is to be executed again.
ITM_API ItmStatus itm_study_note_repetition(ItmStudy* study, int run, const char* by, ItmError* error);

// ---------------------------------------------------------------------------- tables

typedef struct ItmStudyTableOptions {
    bool has_numbers;  // a first column `run`
    bool has_costs;    // wall_time, cpu_time, real_time_factor: these differ from execution to execution
    int digits;        // significant ones of responses, 1 to 17
} ItmStudyTableOptions;

// Default options: numbers, no costs, 17 digits.
ITM_API ItmStudyTableOptions itm_default_study_table_options(void);
// Write the runs that have been executed as CSV: factors, verdict, end time, responses, message. options may be NULL.
ITM_API ItmStatus itm_study_write_csv(const ItmStudy* study, const char* path, const ItmStudyTableOptions* options,
                                      ItmError* error);
// Write what the executions cost and where they took place as CSV, with the runs that were begun more than once.
ITM_API ItmStatus itm_study_write_costs(const ItmStudy* study, const char* path, ItmError* error);
// Write factors, responses, verdicts, signals at evenly spaced times, and the texts of study and model as HDF5.
ITM_API ItmStatus itm_study_write_hdf5(const ItmStudy* study, const char* path, ItmError* error);

// ---------------------------------------------------------------------------- evaluation

// How much a factor matters to a response, with a 95 % interval by resampling the runs.
typedef enum ItmStudyMeasure {
    ITM_STUDY_CORRELATION,       // of the values (Pearson)
    ITM_STUDY_RANK_CORRELATION,  // of their ranks (Spearman)
    ITM_STUDY_MAIN_EFFECT,  // share of the variance that the mean over the factor explains, from classes of its values
    ITM_STUDY_FIRST_INDEX,  // Sobol' index of first order; designs of type sobol-indices
    ITM_STUDY_TOTAL_INDEX,  // total Sobol' index; designs of type sobol-indices
    ITM_STUDY_MEASURE_COUNT
} ItmStudyMeasure;

typedef struct ItmStudyEffect {
    double value;      // NAN: it has none
    double low, high;  // interval; NAN: none
} ItmStudyEffect;

// Statistics of a response over the runs that finished.
typedef struct ItmStudyStatistics {
    int count;  // finished runs with a value
    double mean, deviation, least, largest;
    double quantiles[3];      // 5 %, 50 %, 95 %
    int best_run, worst_run;  // of the smallest and the largest value; ITM_NONE: there is none
} ItmStudyStatistics;

// Name of a measure: "rank_correlation"; NULL for any other number.
ITM_API const char* itm_study_measure_name(ItmStudyMeasure measure);
// Compute a measure of one factor and one response over the runs that finished. Words count by their position in the list.
ITM_API ItmStudyEffect itm_study_compute_effect(const ItmStudy* study, ItmStudyMeasure measure, int response,
                                                int factor);
// Statistics of a response.
ITM_API ItmStudyStatistics itm_study_compute_statistics(const ItmStudy* study, int response);
// Write all measures that the design offers as CSV: response, factor, measure, value, low, high.
ITM_API ItmStatus itm_study_write_effects(const ItmStudy* study, const char* path, ItmError* error);
// Write the page of a study. reports (may be NULL): prefix of the reports of single runs, to which the page links where the file
// PREFIXn.html exists; n is the number of the run from 1 on.
ITM_API ItmStatus itm_study_write_page(ItmStudy* study, const char* path, const char* reports, ItmError* error);

ITM_EXTERN_C_END

#endif
