// libFuzzer target: checkpoints of strangers. 'f': any bytes as a file. 'r': any bytes as the record of the motion. 'c': a checkpoint of a
// run is changed (pairs of an offset, 4 bytes, and 8 bytes to put there), gets a valid checksum, and the run is continued from it.
// Otherwise the state of a machine with a circuit, a control and contacts is changed in the same way and the machine takes some steps
// from it: it may break down, not crash.
#include "fuzz_input.h"

#include "base/sha256.h"
#include "cosim/cosim.h"
#include "interim/file.h"
#include "interim/run.h"
#include "io/results/checkpoint.h"
#include "io/results/recorder.h"

#include <stdlib.h>
#include <string.h>

static ItmModelFile* file;
static ItmCosim* cosim;
static char *start, *changed;
static size_t nstate, nnotes;

static char *kept, *rows;  // files of a run that was stopped
static size_t nkept, nrows;

static const char* name_checkpoint(const char* ending)
{
    static char path[2][64];
    char* name = path[ending[0] != '\0'];
    snprintf(name, sizeof path[0], "fuzz-%ld.checkpoint%s", (long)getpid(), ending);
    return name;
}

// Continue a run, or begin it where there is no checkpoint, for 5 ms and stop it. Rows are kept in memory.
static void continue_run(void)
{
    ItmRunOptions options = itm_default_run_options(file);
    ItmCosim* fresh = NULL;
    ItmRun* run = NULL;
    ItmError error = {0};
    options.checkpoint = name_checkpoint("");
    options.checkpoint_interval = 1.0;
    options.is_interval_simulated = options.is_resumed = options.keeps_rows = true;
    if (itm_file_create_cosim(&fresh, file, NULL, &error) == ITM_OK &&
        itm_run_create(&run, file, fresh, &options, &error) == ITM_OK) {
        itm_run_advance_to(run, itm_run_get_info(run).time + 5e-3);
        itm_run_stop(run, "the fuzzer");
        itm_run_destroy(run);
    } else if (error.message[0] == '\0') {
        __builtin_trap();
    }
    itm_cosim_destroy(fresh);
}

static void set_up_files(void)
{
    continue_run();
    kept = read_whole(name_checkpoint(""), &nkept);
    rows = read_whole(name_checkpoint(".rows"), &nrows);
}

static void write_file(const char* path, const char* bytes, size_t size)
{
    FILE* out = fopen(path, "wb");
    if (out == NULL || fwrite(bytes, 1, size, out) != size || fclose(out) != 0) {
        __builtin_trap();
    }
}

static void restore_file(const uint8_t* data, size_t size)
{
    size_t nbyte = nkept - ITM_SHA256_BYTES;
    char* bytes = malloc(nkept);
    ItmSha256 sha;
    memcpy(bytes, kept, nkept);
    change_bytes(bytes, nbyte, data, size);
    itm_sha256_init(&sha);
    itm_sha256_add(&sha, bytes, nbyte);
    itm_sha256_get(&sha, (unsigned char*)bytes + nbyte);
    write_file(name_checkpoint(""), bytes, nkept);
    write_file(name_checkpoint(".rows"), rows, nrows);
    free(bytes);
    continue_run();
}

static void set_up(void)
{
    ItmError error;
    const char* model = getenv("FUZZ_MODEL");
    if (itm_file_load(&file, model != NULL ? model : ITM_SOURCE_DIR "/examples/pick-and-place.yaml", NULL, 0, &error) !=
            ITM_OK ||
        itm_file_create_cosim(&cosim, file, NULL, &error) != ITM_OK) {
        fprintf(stderr, "%s\n", error.message);
        __builtin_trap();
    }
    for (int i = 0; i < 5; i++) {
        itm_cosim_step(cosim);
    }
    nstate = itm_cosim_get_state_size(cosim);
    nnotes = itm_cosim_get_notes_size(cosim);
    start = calloc(1, nstate + nnotes);
    changed = calloc(1, nstate + nnotes);
    itm_cosim_save(cosim, start, nstate);
    itm_cosim_save_notes(cosim, start + nstate);
    set_up_files();
}

static void restore_state(const uint8_t* data, size_t size)
{
    memcpy(changed, start, nstate + nnotes);
    change_bytes(changed, nstate + nnotes, data, size);
    double* values = calloc((size_t)itm_cosim_get_output_count(cosim) + 1, sizeof *values);
    itm_cosim_restore_notes(cosim, changed + nstate);
    ItmStatus status = itm_cosim_restore(cosim, changed, nstate);
    for (int i = 0; i < 2 && status == ITM_OK; i++) {
        status = itm_cosim_step(cosim);
    }
    itm_cosim_compute_outputs(cosim, values);
    free(values);
}

static void restore_record(const uint8_t* data, size_t size)
{
    ItmRecorder* recorder = itm_recorder_create();
    ItmRecord record = {0};
    for (int i = 0; i < itm_cosim_get_mechanism_count(cosim); i++) {
        itm_recorder_add(recorder, itm_cosim_get_model(cosim, i), itm_cosim_get_data(cosim, i), "m");
    }
    itm_recorder_add_interfaces(recorder, cosim);
    if (itm_recorder_restore(recorder, (const char*)data, size) == ITM_OK) {
        itm_recorder_note(recorder, 1.0);
        if (itm_recorder_take(recorder, &record)) {
            itm_record_free(&record);
        }
    }
    itm_recorder_destroy(recorder);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (cosim == NULL) {
        set_up();
    }
    if (size == 0) {
        return 0;
    }
    if (data[0] == 'f') {
        ItmCheckpoint checkpoint;
        ItmError error = {0};
        if (itm_checkpoint_parse(&checkpoint, (const char*)data + 1, size - 1, "fuzz", &error) != ITM_OK &&
            error.message[0] == '\0') {
            __builtin_trap();
        }
    } else if (data[0] == 'c') {
        restore_file(data + 1, size - 1);
    } else if (data[0] == 'r') {
        restore_record(data + 1, size - 1);
    } else {
        restore_state(data + 1, size - 1);
    }
    return 0;
}
