// Result files: a table of outputs over time, as CSV (shortest numbers that read back to the same bits) or HDF5, with units and descriptions (HDF5:
// attributes; CSV: a JSON file of the same name).
//
// Threads: one thread at a time uses an ItmResults together with the data and systems that it records. The HDF5 library is not
// thread-safe: with .h5, use all results of the program from one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_RESULTS_H
#define INTERIM_RESULTS_H

#include "interim/cosim.h"

ITM_EXTERN_C_BEGIN

typedef struct ItmResults ItmResults;  // an open result file

// Open a result file for all outputs of a model. The extension of `path` selects the format (.csv, .h5, .hdf5). prefix: added
// with a dot before every name; may be "". title: free text. The first column is time, s. Until it is closed, the file is
// name.part.csv (name.part.h5); an existing file at `path` stays unchanged until then.
// ITM_ERR_INPUT: any other extension. ITM_ERR_IO: the file cannot be created; the message has the system's reason.
ITM_API ItmStatus itm_results_create(ItmResults** results, const char* path, const ItmModel* m, const char* prefix,
                                     const char* title, ItmError* error);
// Open a result file for any list of outputs, for example of a circuit or of several subsystems. columns (ncolumn), without
// time
ITM_API ItmStatus itm_results_create_columns(ItmResults** results, const char* path, const ItmOutputInfo* columns,
                                             int ncolumn, const char* prefix, const char* title, ItmError* error);
// Append one row. values: one per column, without time. ITM_ERR_IO (disk full): complete rows written so far stay readable in
// the part file.
ITM_API ItmStatus itm_results_append(ItmResults* results, double time, const double* values, ItmError* error);
// Write buffered rows and the verdict, close the file, rename it to `path` and free `results` (also on failure; results may be
// NULL). reason: a sentence, or NULL. If the process dies earlier, rows remain in the part file: appending flushes them once
// per second of wall time, or less often if flushing takes more than 5 % of the time (HDF5 with thousands of columns).
ITM_API ItmStatus itm_results_close(ItmResults* results, ItmVerdict verdict, const char* reason, ItmError* error);

// ---------------------------------------------------------------------------- animation

// `interim report` draws the machine from two more parts of the result file: the scene (bodies, shapes, joints, actuators,
// springs, flexible bodies, interfaces) and the motion (poses, modes, mobilities, contact points and forces at frames,
// intervals of contact, worst solver residuals). A file has at most a few thousand frames for any length of run.

// Record a mechanism; call before its first step. prefix: as for itm_results_create. Model and data must live until the
// results are closed. ITM_ERR_MEMORY.
ITM_API ItmStatus itm_results_watch(ItmResults* results, const ItmModel* m, ItmData* d, const char* prefix,
                                    ItmError* error);
// Record positions and mobilities of the interfaces of a system whose mechanisms are recorded. The system must live until the
// results are closed. ITM_ERR_MEMORY.
ITM_API ItmStatus itm_results_watch_interfaces(ItmResults* results, ItmCosim* cosim, ItmError* error);
// Record the current state; call at the start and after every step. results may be NULL. ITM_ERR_MEMORY.
ITM_API ItmStatus itm_results_note_step(ItmResults* results, double time, ItmError* error);
// Add a doubt to the description of the results and to the report. ITM_ERR_MEMORY.
ITM_API ItmStatus itm_results_add_doubt(ItmResults* results, const ItmDoubt* doubt, ItmError* error);
// Add a number to the head of the report ("wall_time", 1.2, "s", "wall time"). ITM_ERR_MEMORY.
ITM_API ItmStatus itm_results_add_number(ItmResults* results, const char* name, double value, const char* unit,
                                         const char* description, ItmError* error);
// Add a value that differs from the model file, as in "cosim.coupling=zoh": comparisons name runs by what differs.
// ITM_ERR_MEMORY.
ITM_API ItmStatus itm_results_add_setting(ItmResults* results, const char* setting, ItmError* error);
// Add a message of a subsystem to the report, "hydraulics: 0.2 s: warning: ...". ITM_ERR_MEMORY.
ITM_API ItmStatus itm_results_add_message(ItmResults* results, const char* message, ItmError* error);

// ---------------------------------------------------------------------------- reading

// A result file in memory. Threads: any number may read it.
typedef struct ItmTable {
    int ncolumn;
    long nrow;
    char** names;         // column 0 is "time"                (ncolumn)
    char** units;         // "" if the file has none            (ncolumn)
    char** descriptions;  //                                    (ncolumn)
    double* values;       // row-major                          (nrow x ncolumn)
    bool is_described;    // title, verdict and reason come from the file; otherwise "" and running
    char* title;
    char* reason;
    ItmVerdict verdict;
    char* provenance;          // what made the file, JSON (itm_provenance_read); "": unknown
    struct ItmRecord* record;  // scene and motion for reports, NULL: the file has none
} ItmTable;

// Read a .csv file (with the .json file of the same name, if there is one), .h5 or .hdf5 file. ITM_ERR_INPUT: any other
// extension, or a broken file; the error has line and column (counted in fields) of a CSV file. ITM_ERR_IO, ITM_ERR_MEMORY.
ITM_API ItmStatus itm_results_read(ItmTable** table, const char* path, ItmError* error);
// Free a table; NULL is allowed.
ITM_API void itm_results_table_destroy(ItmTable* table);
// Column by name; ITM_NONE if there is none.
ITM_API int itm_results_table_find(const ItmTable* table, const char* name);
// Value at a row and column; 0 outside 0 <= row < nrow, 0 <= column < ncolumn.
ITM_API double itm_results_table_get(const ItmTable* table, long row, int column);
// Table of some of the columns (ncolumn) in the given order, without the record; NULL: out of memory, or a column that there is not.
ITM_API ItmTable* itm_results_table_select(const ItmTable* table, const int* columns, int ncolumn);

ITM_EXTERN_C_END

#endif
