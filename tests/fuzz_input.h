// Inputs of fuzz targets that only files can have: written to a file in the working directory, in memory where that is /dev/shm.
#ifndef ITM_TESTS_FUZZ_INPUT_H
#define ITM_TESTS_FUZZ_INPUT_H

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// The path of a file with these bytes, the same for every call with this ending.
static inline const char* write_input(const uint8_t* data, size_t size, const char* ending)
{
    static char paths[4][64];
    static int next = 0;
    char* path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "fuzz-%ld%s", (long)getpid(), ending);
    FILE* out = fopen(path, "wb");
    if (out == NULL || (size > 0 && fwrite(data, 1, size, out) != size) || fclose(out) != 0) {
        __builtin_trap();
    }
    return path;
}

#endif
