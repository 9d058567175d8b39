// Result files from the inside: a table of named columns, one writer a format.
//
// Rows are collected in memory and handed to the writer in blocks, so that the file on disk is only ever
// touched for a moment and holds whole rows (a kill within that moment may truncate the last one). While a run lasts, rows go to name.part.csv (or .part.h5); closing
// renames it to name.csv. A run that dies therefore never replaces an older, good file.
#ifndef ITM_IO_RESULTS_RESULTS_H
#define ITM_IO_RESULTS_RESULTS_H

#include "interim/results.h"
#include "io/results/record.h"

// How a run ended, with what it takes to describe the file.
typedef struct ItmResultsSummary {
    ItmVerdict verdict;
    const char* reason;  // never NULL
    ItmDoubt* doubts;    // `where` owned           (ndoubt)
    int ndoubt;
    long nrow;
    double end_time;          // time of the last row, s
    const ItmRecord* record;  // scene and motion, or NULL
} ItmResultsSummary;

// Description of the table for every writer. Column 0 is time.
typedef struct ItmResultsHead {
    const char* path;  // file the user asked for
    const char* part;  // file to write while the run lasts
    const char* title;
    const char* provenance;        // JSON, or "": unknown
    const ItmOutputInfo* columns;  // (ncolumn)
    int ncolumn;
} ItmResultsHead;

// A format. `state` is what open gave.
typedef struct ItmResultsWriter {
    // Create the part file with its description.
    ItmStatus (*open)(void** state, const ItmResultsHead* head, ItmError* error);
    // Append rows (nrow x ncolumn, row-major) and get them to the operating system.
    ItmStatus (*write)(void* state, const ItmResultsHead* head, const double* rows, int nrow, ItmError* error);
    // Write the summary, close the part file and free `state`, whatever fails.
    ItmStatus (*close)(void* state, const ItmResultsHead* head, const ItmResultsSummary* summary, ItmError* error);
    // Give the closed part file the name the user asked for.
    ItmStatus (*publish)(const ItmResultsHead* head, ItmError* error);
} ItmResultsWriter;

extern const ItmResultsWriter itm_results_csv;
extern const ItmResultsWriter itm_results_hdf5;

// As itm_results_create_columns, with the provenance (JSON, "": unknown).
ItmStatus itm_results_open(ItmResults** results, const char* path, const ItmOutputInfo* columns, int ncolumn,
                           const char* prefix, const char* title, const char* provenance, ItmError* error);

// Scene and motion so far, for a checkpoint, and back. Failure: text->has_failed; ITM_ERR_INPUT, ITM_ERR_MEMORY.
void itm_results_save_record(const ItmResults* results, ItmText* text);
ItmStatus itm_results_restore_record(ItmResults* results, const char* bytes, size_t length, ItmError* error);
// Close the file without giving it its name: an older one stays. results may be NULL.
void itm_results_abandon(ItmResults* results);

// "running", "finished", "interrupted", "broke-down", "finished-with-doubts"
const char* itm_results_verdict_name(ItmVerdict verdict);
// The verdict of a name, ITM_VERDICT_RUNNING for an unknown one.
ItmVerdict itm_results_verdict_find(const char* name);

// Format by the ending of a path: 'c' for .csv, 'h' for .h5 and .hdf5, 0 for anything else.
char itm_results_format(const char* path);
// The path with `ending` in place of its last ending ("a/b.csv", ".json" -> "a/b.json"); NULL without memory.
char* itm_results_replace_ending(const char* path, const char* ending);
// ITM_ERR_IO with the path, what was tried ("write") and the system's reason for errno `code`.
ItmStatus itm_results_fail_io(ItmError* error, const char* function, const char* verb, const char* path, int code);

// Rename, replacing an older file in one step.
ItmStatus itm_results_rename(const char* from, const char* to, ItmError* error);

// The doubts of a run as a JSON array.
void itm_results_json_add_doubts(ItmText* text, const ItmResultsSummary* summary);
// The JSON side file of a CSV table.
ItmStatus itm_results_json_write(const char* path, const ItmResultsHead* head, const ItmResultsSummary* summary,
                                 ItmError* error);

#endif
