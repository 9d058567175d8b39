#include "io/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char* read_stream(FILE* stream, size_t most, size_t* length, const char** why)
{
    size_t capacity = 1 << 16;
    char* bytes = malloc(capacity + 1);
    *why = "out of memory";
    *length = 0;
    while (bytes != NULL) {
        *length += fread(bytes + *length, 1, capacity - *length, stream);
        if (*length > most || ferror(stream) != 0) {
            *why = ferror(stream) != 0 ? "reading failed" : "it is too large";
            free(bytes);
            return NULL;
        }
        if (*length < capacity) {
            bytes[*length] = '\0';
            return bytes;
        }
        capacity *= 2;
        char* grown = realloc(bytes, capacity + 1);
        if (grown == NULL) {
            free(bytes);
        }
        bytes = grown;
    }
    return NULL;
}

char* itm_bytes_read(const char* path, size_t most, size_t* length, const char** why)
{
    struct stat about;
    errno = 0;
    FILE* stream = stat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "rb") : NULL;
    if (stream == NULL) {
        *why = errno != 0 ? strerror(errno) : "it is not a file";
        return NULL;
    }
    char* bytes = read_stream(stream, most, length, why);
    fclose(stream);
    return bytes;
}

FILE* itm_bytes_open(const char* path, const char* mode)
{
    int flags = mode[0] == 'w' ? O_WRONLY | O_CREAT | O_TRUNC : O_RDWR;
    int file = open(path, flags | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE* stream = file >= 0 ? fdopen(file, mode) : NULL;
    if (file >= 0 && stream == NULL) {
        close(file);
    }
    return stream;
}
