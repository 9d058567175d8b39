// libFuzzer target: any bytes as a result file. The first byte chooses: 'c' a CSV table, 'j' the JSON file beside one, 'p' a
// provenance.
#include "fuzz_input.h"

#include "interim/results.h"
#include "io/results/provenance.h"
#include "io/results/results_read.h"

#include <stdlib.h>
#include <string.h>

static void read_csv(const uint8_t* data, size_t size)
{
    char* text = malloc(size + 1);
    ItmTable* table = calloc(1, sizeof *table);
    ItmError error = {0};
    memcpy(text, data, size);
    text[size] = '\0';
    if (itm_results_parse_csv(table, text, size, "fuzz.csv", &error) != ITM_OK &&
        (error.message[0] == '\0' || error.line < 1)) {
        __builtin_trap();
    }
    itm_results_table_destroy(table);
    free(text);
}

static void read_side(const uint8_t* data, size_t size)
{
    static const char TABLE[] = "time,a.x\n0,1\n1,2\n";
    const char* side = write_input(data, size, ".json");
    const char* path = write_input((const uint8_t*)TABLE, sizeof TABLE - 1, ".csv");
    ItmTable* table = NULL;
    ItmError error = {0};
    if (itm_results_read(&table, path, &error) != ITM_OK) {
        __builtin_trap();  // the side file is a help only
    }
    itm_results_table_destroy(table);
    unlink(side);
    unlink(path);
}

static void read_provenance(const uint8_t* data, size_t size)
{
    ItmProvenance* p = NULL;
    ItmError error = {0};
    char path[64];
    if (itm_provenance_parse(&p, (const char*)data, size, &error) == ITM_OK) {
        itm_provenance_find_model(p, "folder/results.csv", path, sizeof path);
        itm_provenance_destroy(p);
    } else if (error.message[0] == '\0') {
        __builtin_trap();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size > 0) {
        (data[0] == 'c' ? read_csv : data[0] == 'j' ? read_side : read_provenance)(data + 1, size - 1);
    }
    return 0;
}
