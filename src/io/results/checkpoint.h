// Checkpoint files: a run as far as it has come, to go on from in another process bit for bit. Beside the checkpoint, FILE.rows has
// all rows of the run as numbers: result files are written again from it, whatever their format and wherever a kill truncated them.
//
//   ItmCheckpointHead, state, notes, context, record; SHA-256 of everything before
//
// A checkpoint belongs to one build of the program, one model and one choice of options. It is written aside and renamed.
#ifndef ITM_IO_RESULTS_CHECKPOINT_H
#define ITM_IO_RESULTS_CHECKPOINT_H

#include "base/sha256.h"
#include "interim/base.h"
#include "io/results/lock.h"

#include <stdio.h>

#define ITM_CHECKPOINT_MAGIC "interim-checkpoint 1\n"

typedef enum ItmCheckpointPart {
    ITM_CHECKPOINT_STATE,    // itm_cosim_save
    ITM_CHECKPOINT_NOTES,    // itm_cosim_save_notes
    ITM_CHECKPOINT_CONTEXT,  // of the caller
    ITM_CHECKPOINT_RECORD,   // itm_recorder_save
    ITM_CHECKPOINT_PARTS
} ItmCheckpointPart;

// Plain numbers and texts, written as they are.
typedef struct ItmCheckpointHead {
    char magic[24];
    char version[24], commit[40];      // of the program
    char model[72];                    // itm_provenance_hash
    double duration, output_interval;  // of the run
    int64_t noutput;                   // columns without time
    int64_t nstep, nrow, nrow_due;     // so far
    int64_t is_recorded;
    double time, wall_time;                // s
    unsigned char rows[ITM_SHA256_BYTES];  // digest of the rows
    int64_t sizes[ITM_CHECKPOINT_PARTS];   // bytes
} ItmCheckpointHead;

// A checkpoint in memory; the parts are in the bytes that were parsed.
typedef struct ItmCheckpoint {
    ItmCheckpointHead head;
    const char* parts[ITM_CHECKPOINT_PARTS];
} ItmCheckpoint;

// A head for this program, without numbers.
ItmCheckpointHead itm_checkpoint_make_head(void);
// Write a checkpoint, so that there is either the older one or this one whole. ITM_ERR_IO, ITM_ERR_MEMORY.
ItmStatus itm_checkpoint_write(const char* path, const ItmCheckpointHead* head,
                               const void* const parts[ITM_CHECKPOINT_PARTS], ItmError* error);
// Read one. The bytes are not trusted. ITM_ERR_INPUT: damaged, or of another version; path: for messages.
ItmStatus itm_checkpoint_parse(ItmCheckpoint* checkpoint, const char* bytes, size_t length, const char* path,
                               ItmError* error);

// ---------------------------------------------------------------------------- rows

// The file of rows of a run.
typedef struct ItmCheckpointRows {
    char* path;
    FILE* file;  // NULL: none
    size_t width;
    ItmSha256 sha;  // of all rows so far
    ItmLock lock;
} ItmCheckpointRows;

// What is done with the rows so far. row (width)
typedef ItmStatus ItmCheckpointVisit(void* context, const double* row);

// Begin the rows beside a checkpoint file. width: numbers of a row, with time
ItmStatus itm_checkpoint_rows_open(ItmCheckpointRows* rows, const char* checkpoint, size_t width, ItmError* error);
// Open those of a checkpoint. ITM_ERR_INPUT: they are not the rows of the checkpoint.
ItmStatus itm_checkpoint_rows_resume(ItmCheckpointRows* rows, const char* checkpoint, size_t width,
                                     const ItmCheckpointHead* head, ItmError* error);
// Visit the first `nrow` of them and cut off the rest. Returns also a status of visit other than ITM_OK.
ItmStatus itm_checkpoint_rows_replay(ItmCheckpointRows* rows, int64_t nrow, ItmCheckpointVisit* visit, void* context,
                                     ItmError* error);
ItmStatus itm_checkpoint_rows_append(ItmCheckpointRows* rows, const double* row, ItmError* error);
// Get all rows to the disk.
ItmStatus itm_checkpoint_rows_sync(ItmCheckpointRows* rows, ItmError* error);
// Close the file, and remove it and the checkpoint if the run needs no other. All zero is closed.
void itm_checkpoint_rows_close(ItmCheckpointRows* rows, const char* checkpoint, bool is_removed);

#endif
