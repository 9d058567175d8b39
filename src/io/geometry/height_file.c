#include "io/geometry/height_file.h"

#include "base/error.h"
#include "io/csv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1000000 };

// One number of the table, at the end of the values.
static ItmStatus read_value(ItmHeightFile* file, ItmCsv* csv, double scale, int* count, int column, ItmError* error)
{
    if (*count == MOST) {
        return itm_csv_fail(csv, column, error, "a height field has at most a million heights");
    }
    double* value = &file->values[*count];
    ItmStatus status = itm_csv_take_number(csv, value, column, error);
    if (status == ITM_OK && !isfinite(scale * *value)) {
        return itm_csv_fail(csv, column, error, "a height must be finite");
    }
    *value *= scale;
    ++*count;
    return status;
}

static ItmStatus read_line(ItmHeightFile* file, ItmCsv* csv, double scale, int* count, ItmError* error)
{
    int column = 0;
    bool has_more = true;
    while (has_more) {
        ItmStatus status = read_value(file, csv, scale, count, ++column, error);
        if (status != ITM_OK) {
            return status;
        }
        has_more = itm_csv_take_separator(csv);
    }
    file->nx = file->ny == 0 ? column : file->nx;
    if (column != file->nx) {
        return itm_csv_fail(csv, column, error, "this line has not as many heights as the first");
    }
    file->ny++;
    csv->line++;
    return ITM_OK;
}

static ItmStatus read_lines(ItmHeightFile* file, char* text, size_t size, const char* path, double scale,
                            ItmError* error)
{
    ItmCsv csv = {.path = path, .at = text, .line = 1};
    int count = 0;
    if (strncmp(csv.at, "\xef\xbb\xbf", 3) == 0) {  // byte order mark
        csv.at += 3;
    }
    ItmStatus status = ITM_OK;
    while (status == ITM_OK && csv.at[strspn(csv.at, "\r\n")] != '\0') {
        status = read_line(file, &csv, scale, &count, error);
    }
    csv.at += strspn(csv.at, "\r\n");
    if (status == ITM_OK && csv.at < text + size) {
        return itm_csv_fail(&csv, 1, error, "there is a zero byte");
    }
    if (status == ITM_OK && (file->nx < 2 || file->ny < 2)) {
        return itm_csv_fail(&csv, 1, error, "heights need at least 2 lines of 2");
    }
    return status;
}

ItmStatus itm_height_file_read(ItmHeightFile* file, const char* path, double scale, ItmError* error)
{
    size_t size;
    char* text = itm_csv_read_file(path, &size);
    if (text == NULL) {
        return itm_error_set(error, ITM_ERR_IO, __func__, NULL, "cannot be read: %s", strerror(errno));
    }
    // a height takes two characters at least
    size_t room = size / 2 + 1 < MOST ? size / 2 + 1 : MOST;
    *file = (ItmHeightFile){.values = calloc(room, sizeof(double))};
    ItmStatus status =
        file->values != NULL ? read_lines(file, text, size, path, scale, error) : itm_csv_fail_memory(path, error);
    free(text);
    if (status != ITM_OK) {
        free(file->values);
        file->values = NULL;
    }
    return status;
}
