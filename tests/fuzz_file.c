// libFuzzer target: any bytes as a model file, which is started and takes a step. Build with the `fuzz` preset, run with
//   build-fuzz/tests/fuzz_file -dict=tests/fuzz_file.dict -max_len=4096 -timeout=10 <new corpus> tests/corpus examples
#include "interim/file.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static void start_circuit(const ItmFileCircuit* circuit)
{
    ItmHydraulics* d = NULL;
    ItmError error;
    if (itm_file_create_hydraulics(&d, circuit, NULL, &error) == ITM_OK) {
        itm_hydraulics_step(circuit->circuit, d, 1e-3);
        itm_hydraulics_destroy(d);
    } else if (error.message[0] == '\0') {
        __builtin_trap();
    }
}

static void start_system(const ItmModelFile* file)
{
    ItmCosim* cosim = NULL;
    ItmError error;
    if (itm_file_create_cosim(&cosim, file, NULL, &error) == ITM_OK) {
        itm_cosim_step(cosim);
        itm_cosim_destroy(cosim);
    } else if (error.message[0] == '\0') {
        __builtin_trap();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    ItmModelFile* file = NULL;
    ItmError error;
    if (itm_file_parse(&file, (const char*)data, size, "fuzz", NULL, 0, &error) == ITM_OK) {
        for (int i = 0; i < file->ncircuit; i++) {
            start_circuit(&file->circuits[i]);
        }
        start_system(file);
        itm_file_destroy(file);
    } else if (error.message[0] == '\0' || (error.status == ITM_ERR_INPUT && error.line < 1)) {
        __builtin_trap();  // an error without a message or a place
    }
    return 0;
}
