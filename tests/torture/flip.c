// Damage a copy of a file: change some bytes, or cut it off. The same seed gives the same damage.
//   flip FROM TO SEED
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// xorshift64*: a new number for every call
static uint64_t next(uint64_t* state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1dull;
}

static unsigned char* read_all(const char* path, size_t* size)
{
    FILE* file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        return NULL;
    }
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char* bytes = malloc(*size + 1);
    bool is_read = bytes != NULL && fread(bytes, 1, *size, file) == *size;
    fclose(file);
    return is_read ? bytes : NULL;
}

int main(int argc, char** argv)
{
    size_t size = 0;
    unsigned char* bytes = argc == 4 ? read_all(argv[1], &size) : NULL;
    if (bytes == NULL || size == 0) {
        fprintf(stderr, "usage: flip FROM TO SEED\n");
        return 1;
    }
    uint64_t state = 0x9e3779b97f4a7c15ull * (strtoull(argv[3], NULL, 10) + 1);
    next(&state);
    int kind = (int)(next(&state) % 8);
    if (kind == 0) {
        size = (size_t)(next(&state) % size);  // cut off
    } else {
        // every other file is damaged near its start, where formats keep what they live by
        size_t reach = kind % 2 == 0 && size > 4096 ? 4096 : size;
        for (uint64_t i = 0, n = 1 + next(&state) % 20; i < n; i++) {
            size_t at = (size_t)(next(&state) % reach);
            bytes[at] = kind < 4 ? bytes[at] ^ (unsigned char)(1u << (next(&state) % 8)) : (unsigned char)next(&state);
        }
    }
    FILE* file = fopen(argv[2], "wb");
    bool is_written = file != NULL && fwrite(bytes, 1, size, file) == size;
    is_written = file != NULL && fclose(file) == 0 && is_written;
    free(bytes);
    return is_written ? 0 : 1;
}
