// interim sweep: one run per combination of values, each in its own process, and one table of their outcomes.
#ifndef INTERIM_APP_SWEEP_H
#define INTERIM_APP_SWEEP_H

#include "app.h"

#include <sys/types.h>

// ---------------------------------------------------------------------------- texts

typedef struct SweepTexts {
    char** items;
    int count;
} SweepTexts;

bool app_sweep_complain_memory(void);
// Add a copy; false after printing that there is no memory.
bool app_sweep_add_text(SweepTexts* texts, const char* text, size_t length);
void app_sweep_free_texts(SweepTexts* texts);

// ---------------------------------------------------------------------------- axes

// One --over: a key of the model file and the values it takes, as texts.
typedef struct SweepAxis {
    char* key;
    SweepTexts values;
} SweepAxis;

// All of them. Combinations are numbered from 0; the last axis runs fastest.
typedef struct SweepAxes {
    SweepAxis* items;
    int count;
} SweepAxes;

#define SWEEP_MOST_RUNS 100000

// Add "key.path=a,b,c", where an item may be a range "first:last:count" or, evenly in its logarithm,
// "first:last:countlog". False after printing what is wrong.
bool app_sweep_axes_add(SweepAxes* axes, const char* text);
void app_sweep_axes_free(SweepAxes* axes);
// Number of combinations; SWEEP_MOST_RUNS + 1 stands for any larger number.
int app_sweep_axes_count(const SweepAxes* axes);
// The value that an axis has in a combination.
const char* app_sweep_axes_get(const SweepAxes* axes, int combination, int axis);
// Number of an axis by its key, which ends with '=' or the text's end; ITM_NONE if there is none.
int app_sweep_axes_find(const SweepAxes* axes, const char* text);

// ---------------------------------------------------------------------------- jobs

typedef enum SweepVerdict {
    SWEEP_WAITING,  // not started, or not ended
    SWEEP_FINISHED,
    SWEEP_DOUBTFUL,  // finished, its results hold the doubts
    SWEEP_BROKE_DOWN,
    SWEEP_TIMED_OUT,
    SWEEP_INTERRUPTED,
    SWEEP_CRASHED,  // the process was killed or died
    SWEEP_FAILED,   // bad model, or results that cannot be written or read
    SWEEP_VERDICT_COUNT
} SweepVerdict;

const char* app_sweep_verdict_name(SweepVerdict verdict);

// One run in a process of its own.
typedef struct SweepJob {
    char** overrides;  // "key.path=value"                                    (noverride)
    int noverride;
    char* output;  // results file
    char* log;     // file for what the run prints to stderr
    pid_t pid;     // while it runs, otherwise 0
    double start;  // wall time of its start, s
    double stop;   // wall time at which it was asked to stop, s; 0: it was not
    bool is_late;  // asked because it took too long
    // outcome
    SweepVerdict verdict;
    double end_time;    // of the last row, simulated s; NAN: no row
    double cpu_time;    // user and system, s
    double wall_time;   // s
    char message[512];  // why it did not finish, otherwise ""
    ItmTable* table;    // time and the signals asked for, NULL where there are no results
} SweepJob;

typedef struct SweepPool {
    const char* model;
    const char* sandbox;  // as in AppArguments
    SweepJob* jobs;       // (njob)
    int njob;
    int nworker;                                 // processes at a time
    double timeout;                              // wall time of one run, s; INFINITY: none
    AppProgress* progress;                       // may be NULL
    void (*done)(void* context, SweepJob* job);  // called when a job has its verdict; the results file is there
    void* context;
} SweepPool;

bool app_sweep_job_add_override(SweepJob* job, const char* text, size_t length, const char* value);
void app_sweep_job_free(SweepJob* job);
// Run all jobs, in their order. A signal stops those at work (their results stay) and starts no more.
void app_sweep_pool_run(SweepPool* pool);

// ---------------------------------------------------------------------------- table

// Statistics of a signal in a run.
typedef struct SweepSignal {
    double rms, maximum;  // difference from the reference; NAN: none
    double last, peak;    // value at the end, and the one largest in magnitude; NAN: not in the results
} SweepSignal;

typedef struct SweepRow {
    const SweepJob* job;
    SweepSignal* signals;  // (nsignal)
    double* errors;        // coupling energy error of a bond at the end, J; NAN: not in the results  (nerror)
} SweepRow;

typedef struct SweepTable {
    const SweepAxes* axes;
    char** signals;  // names                                        (nsignal)
    int nsignal;
    char** errors;  // names of signals of coupling energy error          (nerror)
    int nerror;
    bool has_reference;
    SweepRow* rows;  // by combination; those without verdict are not shown  (nrow)
    int nrow;
} SweepTable;

// To stdout, for people.
void app_sweep_table_print(const SweepTable* table);
// To a file, for programs; prints what is wrong and returns false if that fails.
bool app_sweep_table_write(const SweepTable* table, const char* path);

// ---------------------------------------------------------------------------- sweep

typedef struct Sweep {
    const AppArguments* arguments;
    SweepAxes axes;
    SweepTexts reference;  // "key=value" of the reference run
    const char* reference_file;
    SweepTexts patterns;  // --signals as given
    int nworker;
    double timeout;    // s
    const char* keep;  // directory, or NULL
    char* directory;   // where results go; our own unless kept

    SweepJob* jobs;  // references first, then one per combination  (nreference + ncombination)
    int nreference, ncombination;
    ItmTable* reference_table;  // from a file
    SweepTable table;
    SweepTexts signals, errors;  // names found in the results
    double written;              // wall time at which the table was last written, s
    bool has_failed;             // memory, files
} Sweep;

// sweep_runs.c: the jobs of a sweep and their results.
// Make the directory for results: the one to keep them in, or one that goes away with the sweep.
bool app_sweep_make_directory(Sweep* sweep);
// A job with the overrides of all runs; its files are called after stem and number.
bool app_sweep_make_job(Sweep* sweep, SweepJob* job, const char* stem, int number);
// Add the values of a combination; for its reference those that --reference gives, and not the run's own of these.
bool app_sweep_add_combination(Sweep* sweep, SweepJob* job, int combination, bool is_reference);
bool app_sweep_make_jobs(Sweep* sweep);
bool app_sweep_make_table(Sweep* sweep);
// A job has ended: read its results, fill the rows that can be filled.
void app_sweep_take_job(void* sweep, SweepJob* job);
void app_sweep_write_table(Sweep* sweep);
// Remove the results of a job, also the part file of one that was killed.
void app_sweep_remove_results(const SweepJob* job);
// Time and those of the wanted columns that a table has; NULL without memory.
ItmTable* app_sweep_select_columns(const Sweep* sweep, const ItmTable* table);

// sweep_probe.c: load every value once and make no step, so that what is misspelt shows before anything is run; find
// the signals in the names of the results; read the reference file. False after printing what is wrong, or after a
// signal.
bool app_sweep_probe(Sweep* sweep);

#endif
