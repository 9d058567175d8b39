// Recorded signals of a model that is exported: {csv: {file, column, ...}} becomes a table in the model, because the binary of an FMU
// reads no results.
#include "export/export_tree.h"

#include "base/error.h"
#include "io/bytes.h"
#include "io/results/results_read.h"
#include "io/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES ((size_t)64 << 20)

typedef struct Recordings {
    ItmDocument* doc;
    const char* folder;  // of the model, with a separator at its end
    ItmError* error;
} Recordings;

static const char* get_text(const ItmNode* map, const char* key, const char* absent)
{
    const ItmNode* node = itm_document_find(map, key);
    return node != NULL && node->kind == ITM_NODE_SCALAR ? node->text : absent;
}

static ItmStatus load_table(const Recordings* x, const char* name, ItmTable** table)
{
    size_t length, size = strlen(x->folder) + strlen(name) + 1;
    const char* why = "out of memory";
    char* path = malloc(size);
    *table = calloc(1, sizeof **table);
    ItmStatus status = ITM_ERR_MEMORY;
    if (path != NULL && *table != NULL) {
        snprintf(path, size, "%s%s", name[0] == '/' ? "" : x->folder, name);
        char* bytes = itm_bytes_read(path, MOST_BYTES, &length, &why);
        status = bytes != NULL
                     ? itm_results_parse_csv(*table, bytes, length, name, x->error)
                     : itm_error_set(x->error, ITM_ERR_IO, "itm_export_fmu", NULL, "cannot read '%s': %s", path, why);
        free(bytes);
    }
    free(path);
    return status;
}

static void write_column(ItmText* out, const ItmTable* table, int column, const char* scale)
{
    itm_text_add(out, "[");
    for (long i = 0; i < table->nrow; i++) {
        itm_text_add(out, i > 0 ? ", " : "");
        itm_text_add(out, scale != NULL ? "\"(" : "");
        itm_text_add_number(out, itm_results_table_get(table, i, column), 17);
        if (scale != NULL) {
            itm_text_format(out, ")*(%s)\"", scale);
        }
    }
    itm_text_add(out, "]");
}

// The key csv of a signal becomes table, or piecewise where it is held.
static ItmStatus replace(const Recordings* x, ItmItem* item)
{
    const ItmNode* node = item->value;
    const char *word = get_text(node, "interpolation", "linear"), *column_name = get_text(node, "column", "");
    ItmTable* table = NULL;
    ItmText text = {0};
    ItmStatus status = load_table(x, get_text(node, "file", ""), &table);
    int time = ITM_NONE, column = ITM_NONE;
    if (status == ITM_OK) {
        time = itm_results_table_find(table, get_text(node, "time", "time"));
        column = itm_results_table_find(table, column_name);
    }
    if (status == ITM_OK && (time == ITM_NONE || column == ITM_NONE)) {
        status = itm_error_set(x->error, ITM_ERR_INPUT, "itm_export_fmu", column_name,
                               "the CSV file of a signal has no column '%s', or none of times", column_name);
    }
    bool is_held = strcmp(word, "hold") == 0;
    if (status == ITM_OK) {
        itm_text_add(&text, "{times: ");
        write_column(&text, table, time, NULL);
        itm_text_add(&text, ", values: ");
        write_column(&text, table, column, get_text(node, "scale", NULL));
        itm_text_format(&text, is_held ? "}" : ", interpolation: %s}", word);
        char* copy = text.has_failed ? NULL : itm_document_take(x->doc, text.length + 1);
        if (copy != NULL) {
            memcpy(copy, text.chars, text.length);
            status = itm_yaml_parse(&item->value, x->doc, copy, text.length, node->source, 1, x->error);
            item->key->text = is_held ? "piecewise" : "table";
            item->key->length = strlen(item->key->text);
        } else {
            status = itm_error_set(x->error, ITM_ERR_MEMORY, "itm_export_fmu", NULL, "out of memory");
        }
    }
    itm_text_free(&text);
    if (table != NULL) {
        itm_results_table_destroy(table);
    }
    return status;
}

static ItmStatus walk(const Recordings* x, ItmNode* node)
{
    ItmStatus status = ITM_OK;
    for (ItmItem* item = node->first; item != NULL && status == ITM_OK; item = item->next) {
        bool is_recording = item->key != NULL && strcmp(item->key->text, "csv") == 0 &&
                            item->value->kind == ITM_NODE_MAP && itm_document_find(item->value, "column") != NULL;
        if (is_recording) {
            status = replace(x, item);
        } else if (item->value->kind != ITM_NODE_SCALAR) {
            status = walk(x, item->value);
        }
    }
    return status;
}

ItmStatus itm_export_inline_recordings(ItmDocument* doc, const char* path, ItmError* error)
{
    const char* slash = strrchr(path, '/');
    char* folder = strndup(path, slash != NULL ? (size_t)(slash - path) + 1 : 0);
    if (folder == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, "itm_export_fmu", NULL, "out of memory");
    }
    Recordings x = {doc, folder, error};
    ItmStatus status = walk(&x, doc->root);
    free(folder);
    return status;
}
