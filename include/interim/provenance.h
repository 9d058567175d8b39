// Provenance of results: every result file of a run records version and commit, the model with all files that it refers to,
// overrides, options, host and time, so that the run can be repeated (`interim rerun`). Runs use no random numbers.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_PROVENANCE_H
#define INTERIM_PROVENANCE_H

#include "interim/file.h"

ITM_EXTERN_C_BEGIN

#define ITM_HASH_SIZE 65  // a SHA-256 hash as text, with a zero byte

// A file of the model, or one that it refers to.
typedef struct ItmProvenanceFile {
    char* name;  // as in the model file
    char* hash;  // SHA-256 of its bytes, hexadecimal; "": it could not be read
} ItmProvenanceFile;

// What made a result file.
typedef struct ItmProvenance {
    char *version, *commit;    // of Interim
    char* model;               // path of the model file, relative to the folder of the result file
    char* path;                // the same, absolute
    char* hash;                // of the model: all files and overrides
    ItmProvenanceFile* files;  // the model file first  (nfile)
    int nfile;
    char** settings;  // overrides, "run.step=2ms"  (nsetting)
    int nsetting;
    double duration, output_interval;  // of the run, s
    char *host, *time;                 // name of the computer and its system; start, UTC, as in 2031-05-04T12:00:00Z
    char* text;                        // of the model file; "": it is no text
} ItmProvenance;

// Hash of a model: of the model file, of all files that it refers to as they are now, and of the overrides. The paths do not
// matter. hash (ITM_HASH_SIZE)
ITM_API ItmStatus itm_provenance_hash(const ItmModelFile* file, char* hash, ItmError* error);
// Read the provenance in a result file. ITM_ERR_INPUT: the file has none.
ITM_API ItmStatus itm_provenance_read(ItmProvenance** provenance, const char* path, ItmError* error);
// Free a provenance; NULL is allowed.
ITM_API void itm_provenance_destroy(ItmProvenance* provenance);
// Path of the model file of a result file at `results` into `path` (size): the recorded one relative to the results if there is a
// file, otherwise the absolute one. False if neither exists or `size` is too small.
ITM_API bool itm_provenance_find_model(const ItmProvenance* provenance, const char* results, char* path, size_t size);
// Compare a model with the recorded one: true if any of their files or overrides differ, and then a sentence with the first
// difference in `text` (size).
ITM_API bool itm_provenance_find_change(const ItmProvenance* provenance, const ItmModelFile* file, char* text,
                                        size_t size);

ITM_EXTERN_C_END

#endif
