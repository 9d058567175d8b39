// Inputs of fuzz targets that only files can have: written to a file in the working directory, in memory where that is /dev/shm.
#ifndef ITM_TESTS_FUZZ_INPUT_H
#define ITM_TESTS_FUZZ_INPUT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

// Put pairs of an offset (4 bytes) and 8 bytes to put there, as they are in `data`, into a sound file or state.
static inline void change_bytes(void* bytes, size_t nbyte, const uint8_t* data, size_t size)
{
    for (; size >= 12; data += 12, size -= 12) {
        uint32_t at;
        memcpy(&at, data, sizeof at);
        memcpy((char*)bytes + at % (nbyte - 8), data + 4, 8);
    }
}

// A whole file of at most 1 MiB, which stays in memory.
static inline char* read_whole(const char* path, size_t* size)
{
    FILE* in = fopen(path, "rb");
    char* bytes = calloc(1, 1 << 20);
    *size = in != NULL && bytes != NULL ? fread(bytes, 1, 1 << 20, in) : 0;
    if (*size == 0) {
        __builtin_trap();
    }
    fclose(in);
    return bytes;
}

#endif
