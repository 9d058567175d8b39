// A signal recorded in a CSV file: {csv: {file: ..., time: ..., column: ...}}.
#include "io/model/reader.h"

#include "base/error.h"
#include "io/bytes.h"
#include "io/results/results_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES ((size_t)64 << 20)

// ---------------------------------------------------------------------------- the file

static ItmTable* load_table(ItmReader* r, const ItmNode* file, const char* name)
{
    char* path = itm_reader_make_path(r, name);
    if (path == NULL) {
        return NULL;
    }
    ItmTable* table = calloc(1, sizeof *table);
    if (table == NULL) {
        free(path);
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
        return NULL;
    }
    size_t length;
    const char* why;
    char* bytes = itm_bytes_read(path, MOST_BYTES, &length, &why);
    ItmError error = {0};
    if (bytes == NULL) {
        itm_reader_fail(r, file, "CSV file '%.200s': cannot read it: %s", name, why);
    } else if (itm_results_parse_csv(table, bytes, length, name, &error) != ITM_OK) {
        itm_reader_fail(r, file, "CSV file '%.200s', line %d, field %d: %s", name, error.line, error.column,
                        error.message);
    }
    free(bytes);
    free(path);
    if (r->status != ITM_OK) {
        itm_results_table_destroy(table);
        return NULL;
    }
    return table;
}

// A column by the name that a node gives, or by a name that is not given in the file.
static int find_column(ItmReader* r, const ItmNode* file, const ItmNode* node, const ItmTable* table,
                       const char* absent)
{
    const char* name = node != NULL ? itm_reader_get_text(r, node, "the name of a column") : absent;
    if (name == NULL) {
        return ITM_NONE;
    }
    int column = itm_results_table_find(table, name);
    if (column == ITM_NONE) {
        ItmNearest nearest = itm_nearest_start(name, strlen(name));
        for (int i = 0; i < table->ncolumn; i++) {
            itm_nearest_offer(&nearest, table->names[i]);
        }
        char hint[160];
        itm_reader_fail(r, node != NULL ? node : file, "the CSV file has no column '%.64s'%s", name,
                        itm_nearest_format(&nearest, hint, sizeof hint));
    }
    return column;
}

// ---------------------------------------------------------------------------- the signal

// Times and values into memory of the document.
static void copy_columns(ItmReader* r, const ItmNode* file, const ItmTable* table, int time, int column, double scale,
                         ItmSignalDef* def)
{
    int n = (int)table->nrow;
    double* numbers = itm_document_take(r->doc, 2 * (size_t)n * sizeof *numbers + 1);
    if (numbers == NULL) {
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
        return;
    }
    for (int i = 0; i < n && r->status == ITM_OK; i++) {
        numbers[i] = itm_results_table_get(table, i, time);
        numbers[n + i] = scale * itm_results_table_get(table, i, column);
        if (!isfinite(numbers[i]) || !isfinite(numbers[n + i])) {
            itm_reader_fail(r, file, "CSV file '%.200s', row %d: time and value must be finite, got %g and %g",
                            file->text, i + 1, numbers[i], numbers[n + i]);
        } else if (i > 0 && numbers[i] <= numbers[i - 1]) {
            itm_reader_fail(r, file, "CSV file '%.200s', row %d: times must increase, but %g s follows %g s",
                            file->text, i + 1, numbers[i], numbers[i - 1]);
        }
    }
    def->times = numbers;
    def->values = numbers + n;
    def->npoint = n;
}

void itm_read_recording(ItmReader* r, const ItmNode* node, ItmSignalDef* def, ItmSignalUnit* unit)
{
    enum { FILE_NAME, TIME, COLUMN, SCALE, INTERPOLATION, NKEY };
    static const char* const KEYS[NKEY] = {"file", "time", "column", "scale", "interpolation"};
    static const char* const WORDS[] = {"linear", "cubic", "hold"};
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, node, "a recorded signal", KEYS, NKEY, v);
    itm_reader_require(r, node, v[FILE_NAME], "a recorded signal", "file");
    itm_reader_require(r, node, v[COLUMN], "a recorded signal", "column");
    const char* name = itm_reader_get_text(r, v[FILE_NAME], "the name of a CSV file");
    int word = itm_reader_get_word(r, v[INTERPOLATION], "an interpolation", WORDS, 3, 0);
    ItmQuantity scale = {.value = 1.0, .is_bare = true};
    if (v[SCALE] != NULL) {
        scale = itm_reader_get_quantity(r, v[SCALE]);
    }
    ItmTable* table = name != NULL && r->status == ITM_OK ? load_table(r, v[FILE_NAME], name) : NULL;
    if (table == NULL) {
        return;
    }
    int time = find_column(r, v[FILE_NAME], v[TIME], table, "time");
    int column = find_column(r, v[FILE_NAME], v[COLUMN], table, NULL);
    if (r->status == ITM_OK && table->nrow < 2) {
        itm_reader_fail(r, v[FILE_NAME], "CSV file '%.200s' has %ld rows; at least two are needed", name, table->nrow);
    }
    if (r->status == ITM_OK) {
        copy_columns(r, v[FILE_NAME], table, time, column, scale.value, def);
    }
    itm_results_table_destroy(table);
    def->kind = word == 2 ? ITM_SIGNAL_PIECEWISE : ITM_SIGNAL_TABLE;
    def->interpolation = word == 1 ? ITM_INTERPOLATE_CUBIC : ITM_INTERPOLATE_LINEAR;
    *unit = (ItmSignalUnit){.dimension = scale.dimension, .is_bare = scale.is_bare};
}
