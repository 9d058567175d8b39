// libFuzzer target: any bytes as the modelDescription.xml of an FMU.
#include "fmi/description.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    ItmFmiDescription* d = NULL;
    ItmError error = {0};
    ItmFmiFindings findings;
    if (itm_description_parse(&d, (const char*)data, size, "modelDescription.xml", &error) != ITM_OK) {
        if (error.message[0] == '\0' || error.line < 1 || error.column < 1) {
            __builtin_trap();  // an error without a message or a place
        }
        return 0;
    }
    if (itm_description_check(&findings, d, &error) == ITM_OK) {
        itm_description_free_findings(&findings);
    }
    for (int i = 0; i < d->nvariable; i++) {
        ItmFmiConversion conversion;
        itm_description_convert_unit(&conversion, d, i, &error);
    }
    itm_description_destroy(d);
    return 0;
}
