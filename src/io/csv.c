#include "io/csv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char* itm_csv_read_file(const char* path, size_t* size)
{
    FILE* in = fopen(path, "r");
    char* text = NULL;
    size_t length = 0, capacity = 0, count = 0;
    if (in == NULL) {
        return NULL;
    }
    do {
        capacity = capacity == 0 ? 1u << 16 : 2 * capacity;
        char* grown = realloc(text, capacity);
        if (grown == NULL) {
            free(text);
            fclose(in);
            errno = ENOMEM;
            return NULL;
        }
        text = grown;
        count = fread(text + length, 1, capacity - length - 1, in);
        length += count;
    } while (length + 1 == capacity);
    text[length] = '\0';
    *size = length;
    int code = ferror(in) != 0 ? errno : 0;
    fclose(in);
    if (code != 0) {
        free(text);
        errno = code;
        return NULL;
    }
    return text;
}

bool itm_csv_take_separator(char** at)
{
    if (**at == ',') {
        (*at)++;
        return true;
    }
    if (**at == '\r') {
        (*at)++;
    }
    if (**at == '\n') {
        (*at)++;
    }
    return false;
}

static char* take_quoted(char** text, size_t* length)
{
    char* at = *text + 1;
    char *from = at, *to = at;
    while (*at != '\0' && !(at[0] == '"' && at[1] != '"')) {
        at += at[0] == '"' ? 1 : 0;
        *to++ = *at++;
    }
    *text = at + (*at == '"' ? 1 : 0);
    *length = (size_t)(to - from);
    return from;
}

char* itm_csv_take_field(char** at, size_t* length)
{
    if (**at == '"') {
        return take_quoted(at, length);
    }
    char* from = *at;
    *length = strcspn(from, ",\r\n");
    *at += *length;
    return from;
}
