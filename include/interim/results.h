// Result files: a tidy table of outputs over time, as CSV (17 significant digits) or HDF5, each with units
// and descriptions (HDF5 attributes; for CSV a JSON file beside it).
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_RESULTS_H
#define INTERIM_RESULTS_H

#include "interim/cosim.h"

ITM_EXTERN_C_BEGIN

typedef struct ItmResults ItmResults;  // an open result file

// Open for writing; the ending of `path` chooses the format (.csv, .h5, .hdf5). prefix: put with a dot before every
// name; may be "". title: free text. The first column is time [s].
// Until it is closed the file is called name.part.csv (name.part.h5); an older file at `path` is not touched before.
// ITM_ERR_INPUT for another ending, ITM_ERR_IO with the system's reason if the file cannot be made.
// The HDF5 library serves one thread at a time: with .h5, do not use two results from two threads at once.
ITM_API ItmStatus itm_results_create(ItmResults** results, const char* path, const ItmModel* m,
                                     const char* prefix, const char* title, ItmError* error);
// The same for any list of outputs, without time: of a circuit, of several subsystems.   columns (ncolumn)
ITM_API ItmStatus itm_results_create_columns(ItmResults** results, const char* path, const ItmOutputInfo* columns,
                                             int ncolumn, const char* prefix, const char* title, ItmError* error);
// Append one row. values (one a column, without time). ITM_ERR_IO (disk full): whole rows written so far stay readable
// in the part file.
ITM_API ItmStatus itm_results_append(ItmResults* results, double time, const double* values,
                                     ItmError* error);
// Write what is buffered and the verdict, close, give the file its name, free (also where it fails; results may be NULL).
// reason: a sentence, or NULL. The file is complete and valid afterwards. Rows appended before survive in the part file
// even if the process dies: they are flushed at least once a second of wall time in which rows come, or less often where
// that would take more than a twentieth of the time (HDF5 with thousands of columns).
ITM_API ItmStatus itm_results_close(ItmResults* results, ItmVerdict verdict, const char* reason,
                                    ItmError* error);

// ---------------------------------------------------------------------------- pictures

// What `interim report` draws the machine from is kept beside the table, in every format: the scene (bodies, shapes,
// joints, actuators, springs, flexible bodies, interfaces) and the motion (poses, modes, mobilities, contact points and forces
// at frames, intervals of contact, worst values of the solver). At most a few thousand frames are kept, however long the run.

// A mechanism to watch, before its first step; prefix as for itm_results_create. Model and data must live until the
// results are closed. ITM_ERR_MEMORY.
ITM_API ItmStatus itm_results_watch(ItmResults* results, const ItmModel* m, ItmData* d, const char* prefix,
                                    ItmError* error);
// The interfaces of a system whose mechanisms are watched: where they are, and the mobility there. As above. ITM_ERR_MEMORY.
ITM_API ItmStatus itm_results_watch_interfaces(ItmResults* results, ItmCosim* cosim, ItmError* error);
// The state of everything watched: call it at the start and after every step (results may be NULL). ITM_ERR_MEMORY.
ITM_API ItmStatus itm_results_note_step(ItmResults* results, double time, ItmError* error);
// A doubt for the description of the results and for the report. ITM_ERR_MEMORY.
ITM_API ItmStatus itm_results_add_doubt(ItmResults* results, const ItmDoubt* doubt, ItmError* error);
// A number for the top of the report ("wall_time", 1.2, "s", "wall time"). ITM_ERR_MEMORY.
ITM_API ItmStatus itm_results_add_number(ItmResults* results, const char* name, double value, const char* unit,
                                         const char* description, ItmError* error);

ITM_EXTERN_C_END

#endif
