// libFuzzer target: any bytes as a SystemStructure.ssd, up to the document of the model file that it becomes.
#include "fmi/ssp.h"
#include "io/model/file.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    ItmSsp* ssp = NULL;
    ItmError error = {0};
    if (itm_ssp_parse(&ssp, (const char*)data, size, "SystemStructure.ssd", &error) != ITM_OK) {
        if (error.message[0] == '\0' || error.line < 1 || error.column < 1) {
            __builtin_trap();  // an error without a message or a place
        }
        return 0;
    }
    ItmDocument doc = {0};
    if (itm_file_make_ssp_document(&doc, ssp, NULL, &error) == ITM_OK && doc.root == NULL) {
        __builtin_trap();
    }
    itm_document_free(&doc);
    itm_ssp_destroy(ssp);
    return 0;
}
