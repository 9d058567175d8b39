// libFuzzer target: any bytes as a robot description. It goes through a file, as only files name robots.
#include "fuzz_input.h"

#include "interim/file.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static const char* const overrides[] = {"multibody.urdf.inertia=repair", "multibody.urdf.contact=all"};
    const char* path = write_input(data, size, ".urdf");
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
