// CSV back into a table. Any CSV file with a header line of names and otherwise numbers will do.
#include "io/results/results_read.h"

#include "base/error.h"
#include "io/csv.h"
#include "io/json.h"
#include "io/results/results.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_COLUMNS 100000

typedef struct Reader {
    ItmCsv csv;
    const char* end;  // the zero byte behind the whole file
    size_t capacity;  // rows in table->values
} Reader;

// ---------------------------------------------------------------------------- rows

static ItmStatus read_header(Reader* r, ItmTable* table, ItmError* error)
{
    do {
        size_t length = 0;
        char* name = itm_csv_take_field(&r->csv, &length);
        if (length == 0) {
            return itm_csv_fail(&r->csv, table->ncolumn + 1, error,
                                *r->csv.at == '\0' && table->ncolumn == 0 ? "the file is empty"
                                                                          : "expected a name in the header line");
        }
        if (table->ncolumn == MOST_COLUMNS) {
            return itm_csv_fail(&r->csv, table->ncolumn + 1, error, "there are too many columns");
        }
        if (!itm_results_table_add_column(table, name, length)) {
            return itm_csv_fail_memory(r->csv.path, error);
        }
    } while (itm_csv_take_separator(&r->csv));
    r->csv.line++;
    return ITM_OK;
}

static bool reserve_row(Reader* r, ItmTable* table)
{
    if ((size_t)table->nrow < r->capacity) {
        return true;
    }
    r->capacity = r->capacity == 0 ? 256 : 2 * r->capacity;
    size_t count = r->capacity * (size_t)table->ncolumn;
    double* values = realloc(table->values, count * sizeof *values);
    if (values == NULL) {
        return false;
    }
    table->values = values;
    return true;
}

static ItmStatus read_row(Reader* r, ItmTable* table, ItmError* error)
{
    if (!reserve_row(r, table)) {
        return itm_csv_fail_memory(r->csv.path, error);
    }
    double* row = table->values + (size_t)table->nrow * (size_t)table->ncolumn;
    for (int i = 0; i < table->ncolumn; i++) {
        ItmStatus status = itm_csv_take_number(&r->csv, &row[i], i + 1, error);
        if (status != ITM_OK) {
            return status;
        }
        bool has_more = itm_csv_take_separator(&r->csv);
        if (has_more != (i + 1 < table->ncolumn)) {
            return itm_csv_fail(&r->csv, i + 1, error, "this row has not as many fields as the header line");
        }
    }
    table->nrow++;
    r->csv.line++;
    return ITM_OK;
}

static ItmStatus read_table(Reader* r, ItmTable* table, ItmError* error)
{
    if (strncmp(r->csv.at, "\xef\xbb\xbf", 3) == 0) {  // byte order mark
        r->csv.at += 3;
    }
    ItmStatus status = read_header(r, table, error);
    while (status == ITM_OK && r->csv.at[strspn(r->csv.at, "\r\n")] != '\0') {
        status = read_row(r, table, error);
    }
    r->csv.at += strspn(r->csv.at, "\r\n");
    return status == ITM_OK && r->csv.at < r->end ? itm_csv_fail(&r->csv, 1, error, "there is a zero byte") : status;
}

// ---------------------------------------------------------------------------- side file

// Copy the text of a key; true without it too.
static bool copy_string(char** string, const ItmNode* object, const char* key)
{
    const ItmNode* value = itm_json_find(object, key);
    return value == NULL || value->kind != ITM_NODE_SCALAR ||
           itm_results_table_set_string(string, value->text, value->length);
}

static bool describe_columns(ItmTable* table, const ItmNode* columns)
{
    bool is_copied = true;
    const ItmItem* item = columns != NULL && columns->kind == ITM_NODE_LIST ? columns->first : NULL;
    for (int i = 0; item != NULL && i < table->ncolumn; i++, item = item->next) {
        is_copied = copy_string(&table->units[i], item->value, "unit") && is_copied;
        is_copied = copy_string(&table->descriptions[i], item->value, "description") && is_copied;
    }
    return is_copied;
}

// An array as itm_results_json_write has it. ITM_ERR_INPUT: anything else, which leaves it empty.
static ItmStatus read_array(ItmArray* array, const ItmNode* node, ItmMotionArray which)
{
    const ItmNode* shape = itm_json_find(node, "shape");
    const ItmNode* data = itm_json_find(node, "data");
    long size[3] = {0};
    int ndim = itm_record_motion_ndim(which);
    if (shape == NULL || shape->kind != ITM_NODE_LIST || shape->count != ndim || data == NULL ||
        data->kind != ITM_NODE_SCALAR) {
        return ITM_ERR_INPUT;
    }
    for (int i = 0; i < ndim; i++) {
        const ItmNode* number = itm_json_get_item(shape, i);
        size[i] = number->kind == ITM_NODE_SCALAR ? strtol(number->text, NULL, 10) : -1;
    }
    ItmStatus status = itm_record_array_allocate(array, which, size);
    if (status != ITM_OK) {
        return status;
    }
    size_t bytes = itm_record_array_get_count(array) * itm_record_array_type_size(itm_record_motion_type(which));
    return itm_text_read_base64(array->values, bytes, data->text, data->length, true);
}

// Scene and motion; a record that is not as it should be is no record.
static ItmStatus read_record(ItmRecord* record, const ItmNode* root)
{
    const ItmNode* motion = itm_json_find(root, "motion");
    const ItmNode* scene = itm_json_find(root, "scene");
    ItmStatus status = motion != NULL && scene != NULL && scene->kind == ITM_NODE_MAP ? ITM_OK : ITM_ERR_INPUT;
    for (int i = 0; i < ITM_MOTION_COUNT && status == ITM_OK; i++) {
        const char* name = itm_record_motion_name((ItmMotionArray)i);
        status = read_array(&record->arrays[i], itm_json_find(motion, name), (ItmMotionArray)i);
    }
    if (status == ITM_OK && !itm_results_table_set_string(&record->scene, scene->text, scene->length)) {
        return ITM_ERR_MEMORY;
    }
    return status == ITM_ERR_MEMORY ? status : ITM_OK;
}

static bool describe(ItmTable* table, const ItmNode* root)
{
    char* verdict = NULL;
    bool is_copied = copy_string(&table->title, root, "title") && copy_string(&table->reason, root, "reason") &&
                     copy_string(&verdict, root, "verdict") && describe_columns(table, itm_json_find(root, "columns"));
    const ItmNode* provenance = itm_json_find(root, "provenance");
    is_copied = is_copied && (provenance == NULL || provenance->kind != ITM_NODE_MAP ||
                              itm_results_table_set_string(&table->provenance, provenance->text, provenance->length));
    table->verdict = itm_results_verdict_find(verdict != NULL ? verdict : "");
    table->is_described = verdict != NULL;
    free(verdict);
    return read_record(table->record, root) == ITM_OK && is_copied;
}

// The side file is a help, not a must: without it, or with one that is not JSON, the table stays undescribed.
static ItmStatus read_side(const char* csv_path, ItmTable* table, ItmError* error)
{
    char* path = itm_results_replace_ending(csv_path, ".json");
    size_t length = 0;
    errno = 0;
    char* text = path != NULL ? itm_csv_read_file(path, &length) : NULL;
    bool has_memory = path != NULL && (text != NULL || errno != ENOMEM);
    free(path);
    if (text != NULL) {
        ItmDocument document = {0};
        ItmNode* root = NULL;
        ItmStatus status = itm_json_parse(&root, &document, text, length, NULL);
        has_memory = status != ITM_ERR_MEMORY && (status != ITM_OK || describe(table, root));
        itm_document_free(&document);
        free(text);
    }
    return has_memory ? ITM_OK : itm_csv_fail_memory(csv_path, error);
}

// ---------------------------------------------------------------------------- reader

ItmStatus itm_results_parse_csv(ItmTable* table, char* text, size_t length, const char* path, ItmError* error)
{
    Reader r = {.csv = {path, text, 1}, .end = text + length};
    locale_t c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t before = uselocale(c_locale);
    ItmStatus status = read_table(&r, table, error);
    uselocale(before);
    if (c_locale != (locale_t)0) {
        freelocale(c_locale);
    }
    return status;
}

// Rows are written in blocks of whole ones, but the system may carry out only a part of the write that a kill interrupts. So in the
// part file of a run that did not end, what follows the last line end is no row. The length without it.
static size_t measure_whole_rows(const char* path, char* text, size_t length)
{
    static const char ENDING[] = ".part.csv";
    size_t n = strlen(path), ending = sizeof ENDING - 1;
    bool is_part = n >= ending && strcmp(path + n - ending, ENDING) == 0 && memchr(text, '\n', length) != NULL;
    while (is_part && text[length - 1] != '\n') {
        length--;
    }
    text[length] = '\0';
    return length;
}

ItmStatus itm_results_read_csv(ItmTable* table, const char* path, ItmError* error)
{
    size_t length = 0;
    char* text = itm_csv_read_file(path, &length);
    if (text == NULL) {
        return itm_results_fail_io(error, __func__, "read", path, errno);
    }
    length = measure_whole_rows(path, text, length);
    ItmStatus status = itm_results_parse_csv(table, text, length, path, error);
    free(text);
    return status == ITM_OK ? read_side(path, table, error) : status;
}
