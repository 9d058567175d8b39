// libFuzzer target: checkpoints of strangers. 'f': any bytes as a file. 'r': any bytes as the record of the motion. Otherwise the
// state of a machine with a circuit, a control and contacts is changed (pairs of an offset, 4 bytes, and 8 bytes to put there) and
// the machine takes some steps from it: it may break down, not crash.
#include "fuzz_input.h"

#include "cosim/cosim.h"
#include "interim/file.h"
#include "io/results/checkpoint.h"
#include "io/results/recorder.h"

#include <stdlib.h>
#include <string.h>

static ItmModelFile* file;
static ItmCosim* cosim;
static char *start, *changed;
static size_t nstate, nnotes;

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
}

static void restore_state(const uint8_t* data, size_t size)
{
    memcpy(changed, start, nstate + nnotes);
    for (; size >= 12; data += 12, size -= 12) {
        uint32_t at;
        memcpy(&at, data, sizeof at);
        memcpy(changed + at % (nstate + nnotes - 8), data + 4, 8);
    }
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
    } else if (data[0] == 'r') {
        restore_record(data + 1, size - 1);
    } else {
        restore_state(data + 1, size - 1);
    }
    return 0;
}
