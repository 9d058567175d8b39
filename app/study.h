// interim study and interim sweep: many runs of one model, each in its own process, and one table of their outcomes.
#ifndef INTERIM_APP_STUDY_H
#define INTERIM_APP_STUDY_H

#include "app.h"

typedef struct AppStudy AppStudy;

// How runs are executed: by processes of this machine, or by the ranks of an MPI job.
typedef struct AppStudyEngine {
    // Execute these runs (count), in any order; call app_study_take for each that has ended. Stops after a signal.
    void (*execute)(AppStudy* study, const int* runs, int count);
    // Of a worker of an MPI job: what it does with a prepared study, the exit status. NULL: this process is in charge of it.
    int (*serve)(AppStudy* study);
} AppStudyEngine;

// Processes of this machine, unless the program sets another.
extern const AppStudyEngine* app_study_engine;

struct AppStudy {
    const AppArguments* arguments;
    const char* name;  // of the command: "sweep", "study"
    ItmStudy* study;
    ItmStudyInfo info;
    int nworker;
    double timeout;    // s
    const char* keep;  // folder for the results of all runs, or NULL
    char* temporary;   // that folder, if it is removed at the end
    int most_shown;    // the page shows so many runs over time
    char* output;      // table, or NULL
    char* journal;     // or NULL
    bool is_resumed;
    bool keeps_journal;  // also when all runs are there
    int shard, nshard;   // from 1; 0: the whole study
    ItmStudyTableOptions table;
    void (*print)(const AppStudy* s);                     // the table or a summary to stdout
    void (*write_report)(AppStudy* s, const char* path);  // for --report
    bool has_hdf5;                                        // also write a table as HDF5, costs and effects
    AppProgress progress;
    int ntaken, nall;  // runs that have ended, of how many
    double written;    // wall time at which the table was last written, s
    bool has_failed;   // memory, files
};

// study_driver.c
// "interim sweep: what 'text' (see: interim help sweep)"; false.
bool app_study_complain(const AppStudy* s, const char* what, const char* text);
// Options that both commands have; false after printing what is wrong. *is_known: it is one of them.
bool app_study_apply_word(AppStudy* s, const AppWord* word, bool* is_known);
// Number of processors, no timeout.
void app_study_set_defaults(AppStudy* s);
// Prepare the study, execute what is missing, write tables; the exit status.
int app_study_run(AppStudy* s);
// Put the journals of all shards of a table together; the exit status.
int app_study_merge(AppStudy* s);
void app_study_free(AppStudy* s);
// A run has ended: journal, table, progress. nbusy: runs under way.
void app_study_take(AppStudy* s, int run, int nbusy);

// study_reports.c: write the page of the study, with the reports of the best and the worst runs in a folder beside it.
void app_study_write_report(AppStudy* s, const char* path);

// sweep_table.c: all runs to stdout, for people.
void app_sweep_table_print(const AppStudy* s);

#endif
