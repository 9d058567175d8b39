#include "io/csv.h"

#include "base/error.h"

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

ItmStatus itm_csv_fail(const ItmCsv* csv, int column, ItmError* error, const char* what)
{
    ItmStatus status = itm_error_set(error, ITM_ERR_INPUT, __func__, NULL, "%s", what);
    itm_error_locate(error, csv->path, csv->line, column);
    return status;
}

ItmStatus itm_csv_fail_memory(const char* path, ItmError* error)
{
    return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory to read '%s'", path);
}

bool itm_csv_take_separator(ItmCsv* csv)
{
    if (*csv->at == ',') {
        csv->at++;
        return true;
    }
    if (*csv->at == '\r') {
        csv->at++;
    }
    if (*csv->at == '\n') {
        csv->at++;
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

char* itm_csv_take_field(ItmCsv* csv, size_t* length)
{
    if (*csv->at == '"') {
        return take_quoted(&csv->at, length);
    }
    char* from = csv->at;
    *length = strcspn(from, ",\r\n");
    csv->at += *length;
    return from;
}

ItmStatus itm_csv_take_number(ItmCsv* csv, double* value, int column, ItmError* error)
{
    csv->at += strspn(csv->at, " \t");
    char* end = csv->at;
    if (strchr("\r\n", *csv->at) == NULL) {
        *value = strtod(csv->at, &end);
    }
    if (end == csv->at) {
        return itm_csv_fail(csv, column, error, "expected a number");
    }
    csv->at = end + strspn(end, " \t");
    if (strchr(",\r\n", *csv->at) == NULL) {
        return itm_csv_fail(csv, column, error, "expected a comma or the end of the line behind a number");
    }
    return ITM_OK;
}
