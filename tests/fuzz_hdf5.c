// libFuzzer target: any bytes as HDF5 results. A child process reads them, so that only our own side can fail here.
#include "fuzz_input.h"

#include "interim/results.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const char* path = write_input(data, size, ".h5");
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
