// libFuzzer target: any bytes as a robot description. It goes through a file, as only files name robots.
#include "interim/file.h"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static char path[64];
    static const char* const overrides[] = {"multibody.urdf.inertia=repair", "multibody.urdf.contact=all"};
    if (path[0] == '\0') {
        snprintf(path, sizeof path, "fuzz-%ld.urdf", (long)getpid());
    }
    FILE* out = fopen(path, "wb");
    if (out == NULL || fwrite(data, 1, size, out) != size || fclose(out) != 0) {
        __builtin_trap();
    }
    ItmModelFile* file = NULL;
    ItmError error;
    if (itm_file_load(&file, path, overrides, 2, &error) == ITM_OK) {
        itm_file_destroy(file);
    } else if (error.message[0] == '\0' || (error.status == ITM_ERR_INPUT && error.line < 1)) {
        __builtin_trap();  // an error without a message or a place
    }
    unlink(path);
    return 0;
}
