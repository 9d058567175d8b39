#include "io/results/results_read.h"

#include "base/error.h"
#include "base/guard.h"
#include "base/utf8.h"
#include "io/results/isolated.h"
#include "io/results/results.h"

#include <stdlib.h>
#include <string.h>

#define MOST_SELECTED 1000000

bool itm_results_table_set_string(char** string, const char* text, size_t length)
{
    char* copy = malloc(length + 1);
    if (copy == NULL) {
        return false;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    free(*string);
    *string = copy;
    return true;
}

// Room for one more than `count` strings; the memory doubles whenever count is a power of two.
static bool grow(char*** strings, int count)
{
    if ((count & (count - 1)) == 0) {
        char** grown = realloc(*strings, (count > 0 ? 2 * (size_t)count : 1) * sizeof **strings);
        if (grown == NULL) {
            return false;
        }
        *strings = grown;
    }
    (*strings)[count] = NULL;
    return true;
}

bool itm_results_table_add_column(ItmTable* table, const char* name, size_t length)
{
    int i = table->ncolumn;
    bool has_room = grow(&table->names, i);
    has_room = has_room && grow(&table->units, i);
    has_room = has_room && grow(&table->descriptions, i);
    if (!has_room) {
        return false;
    }
    table->ncolumn++;
    return itm_results_table_set_string(&table->names[i], name, length) &&
           itm_results_table_set_string(&table->units[i], "", 0) &&
           itm_results_table_set_string(&table->descriptions[i], "", 0);
}

int itm_results_table_find(const ItmTable* table, const char* name)
{
    ITM_GUARD(table != NULL && name != NULL, ITM_NONE);
    for (int i = 0; i < table->ncolumn; i++) {
        if (strcmp(table->names[i], name) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}

double itm_results_table_get(const ItmTable* table, long row, int column)
{
    ITM_GUARD(table != NULL && ITM_IS_INDEX(row, table->nrow) && ITM_IS_INDEX(column, table->ncolumn), 0.0);
    return table->values[(size_t)row * (size_t)table->ncolumn + (size_t)column];
}

void itm_results_table_destroy(ItmTable* table)
{
    ITM_GUARD_VOID(table != NULL);
    if (table == NULL) {
        return;
    }
    for (int i = 0; i < table->ncolumn; i++) {
        free(table->names[i]);
        free(table->units[i]);
        free(table->descriptions[i]);
    }
    free(table->names);
    free(table->units);
    free(table->descriptions);
    free(table->values);
    free(table->title);
    free(table->reason);
    free(table->provenance);
    if (table->record != NULL) {
        itm_record_free(table->record);
    }
    free(table->record);
    free(table);
}

// Names, units and the description of the run, without values.
static bool copy_head(ItmTable* to, const ItmTable* from, const int* columns, int ncolumn)
{
    bool is_copied = itm_results_table_set_string(&to->title, from->title, strlen(from->title)) &&
                     itm_results_table_set_string(&to->reason, from->reason, strlen(from->reason)) &&
                     itm_results_table_set_string(&to->provenance, from->provenance, strlen(from->provenance));
    for (int i = 0; i < ncolumn && is_copied; i++) {
        const char *name = from->names[columns[i]], *unit = from->units[columns[i]];
        const char* description = from->descriptions[columns[i]];
        is_copied = itm_results_table_add_column(to, name, strlen(name)) &&
                    itm_results_table_set_string(&to->units[i], unit, strlen(unit)) &&
                    itm_results_table_set_string(&to->descriptions[i], description, strlen(description));
    }
    to->is_described = from->is_described;
    to->verdict = from->verdict;
    return is_copied;
}

ItmTable* itm_results_table_select(const ItmTable* table, const int* columns, int ncolumn)
{
    ITM_GUARD(table != NULL && columns != NULL && ncolumn >= 0 && ncolumn <= MOST_SELECTED, NULL);
    for (int i = 0; i < ncolumn; i++) {
        ITM_GUARD(ITM_IS_INDEX(columns[i], table->ncolumn), NULL);
    }
    ItmTable* selected = calloc(1, sizeof *selected);
    if (selected == NULL || !copy_head(selected, table, columns, ncolumn)) {
        itm_results_table_destroy(selected);
        return NULL;
    }
    selected->values = calloc((size_t)table->nrow * (size_t)ncolumn + 1, sizeof *selected->values);
    if (selected->values == NULL) {
        itm_results_table_destroy(selected);
        return NULL;
    }
    selected->nrow = table->nrow;
    double* to = selected->values;
    for (long row = 0; row < table->nrow; row++) {
        for (int i = 0; i < ncolumn; i++) {
            *to++ = itm_results_table_get(table, row, columns[i]);
        }
    }
    return selected;
}

static bool is_model_path(const char* path)
{
    const char* ending = strrchr(path, '.');
    return ending != NULL &&
           (strcmp(ending, ".yaml") == 0 || strcmp(ending, ".yml") == 0 || strcmp(ending, ".urdf") == 0);
}

static ItmStatus read_format(ItmTable* table, const char* path, ItmError* error)
{
    if (!itm_results_table_set_string(&table->title, "", 0) || !itm_results_table_set_string(&table->reason, "", 0) ||
        !itm_results_table_set_string(&table->provenance, "", 0)) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory to read '%s'", path);
    }
    switch (itm_results_format(path)) {
    case 'c':
        return itm_results_read_csv(table, path, error);
    case 'h':
        return itm_isolated_read(table, itm_results_read_hdf5, path, error);
    default:
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "path",
                             "results are files ending in .csv, .h5 or .hdf5, not '%s'%s", path,
                             is_model_path(path) ? "; interim run writes the results of a model" : "");
    }
}

// What a foreign file calls things goes to terminals and pages.
static void clean_texts(ItmTable* table)
{
    itm_utf8_clean(table->title);
    itm_utf8_clean(table->reason);
    for (int i = 0; i < table->ncolumn; i++) {
        itm_utf8_clean(table->names[i]);
        itm_utf8_clean(table->units[i]);
        itm_utf8_clean(table->descriptions[i]);
    }
}

ItmStatus itm_results_read(ItmTable** table, const char* path, ItmError* error)
{
    ITM_GUARD(table != NULL && path != NULL, ITM_ERR_ARGUMENT);
    *table = calloc(1, sizeof **table);
    ItmRecord* record = calloc(1, sizeof *record);
    if (*table == NULL || record == NULL) {
        free(*table);
        free(record);
        *table = NULL;
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory to read '%s'", path);
    }
    (*table)->record = record;
    ItmStatus status = read_format(*table, path, error);
    if (status == ITM_OK) {
        clean_texts(*table);
    }
    if (status == ITM_OK && (record->scene == NULL || !itm_record_is_valid(record))) {
        itm_record_free(record);
        free(record);
        (*table)->record = NULL;
    }
    if (status != ITM_OK) {
        itm_results_table_destroy(*table);
        *table = NULL;
    }
    return status;
}
