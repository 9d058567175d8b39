// libFuzzer target: HDF5 results of strangers: any bytes, or ('p') a sound file with bytes of it changed, in pairs of an offset (4 bytes)
// and 8 bytes to put there. A child process reads them, so that only our own side can fail here; it also means that the fuzzer does not
// see what the reader does, and changes at random.
#include "fuzz_input.h"

#include "interim/results.h"

#include <stdbool.h>

static char* sound;  // a file with three columns and some rows
static size_t nsound;

static void set_up(void)
{
    static const ItmOutputInfo COLUMNS[] = {
        {.name = "a.x", .unit = "m", .description = "position"},
        {.name = "a.v", .unit = "m/s", .description = "velocity"},
    };
    ItmError error = {0};
    ItmResults* results = NULL;
    const char* path = write_input((const uint8_t*)"", 0, "-sound.h5");
    ItmStatus status = itm_results_create_columns(&results, path, COLUMNS, 2, "", "a title", &error);
    for (int i = 0; i < 700 && status == ITM_OK; i++) {
        status = itm_results_append(results, 1e-3 * i, (const double[]){i, -i}, &error);
    }
    if (status != ITM_OK || itm_results_close(results, ITM_VERDICT_FINISHED, "", &error) != ITM_OK) {
        __builtin_trap();
    }
    sound = read_whole(path, &nsound);
    unlink(path);
}

static const char* change_sound(const uint8_t* data, size_t size)
{
    uint8_t* bytes = malloc(nsound);
    memcpy(bytes, sound, nsound);
    change_bytes(bytes, nsound, data, size);
    const char* path = write_input(bytes, nsound, ".h5");
    free(bytes);
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (sound == NULL) {
        set_up();
    }
    bool is_change = size > 0 && data[0] == 'p';
    const char* path = is_change ? change_sound(data + 1, size - 1) : write_input(data, size, ".h5");
    ItmTable* table = NULL;
    ItmError error = {0};
    if (itm_results_read(&table, path, &error) == ITM_OK) {
        for (int i = 0; i < table->ncolumn && table->nrow > 0; i++) {
            itm_results_table_get(table, table->nrow - 1, i);
        }
        itm_results_table_destroy(table);
    } else if (error.message[0] == '\0') {
        __builtin_trap();
    }
    unlink(path);
    return 0;
}
