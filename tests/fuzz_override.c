// libFuzzer target: the first line is an override, the rest a model file.
#include "interim/file.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    const uint8_t* end = memchr(data, '\n', size);
    size_t length = end != NULL ? (size_t)(end - data) : size;
    char* override = malloc(length + 1);
    memcpy(override, data, length);
    override[length] = '\0';
    const char* overrides[] = {override};
    const char* text = (const char*)data + length;
    ItmModelFile* file = NULL;
    ItmError error;
    if (itm_file_parse(&file, text, size - length, "fuzz", overrides, 1, &error) == ITM_OK) {
        itm_file_destroy(file);
    } else if (error.message[0] == '\0' || (error.status == ITM_ERR_INPUT && error.line < 1)) {
        __builtin_trap();  // an error without a message or a place
    }
    free(override);
    return 0;
}
