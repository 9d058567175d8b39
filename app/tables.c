#include "tables.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- reading

const char* app_tables_base_name(const char* path)
{
    const char* slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

// File names tell runs apart, or paths where the file names are the same.
static const char* choose_label(const AppArguments* arguments, int index)
{
    for (int i = 0; i < arguments->noperand; i++) {
        if (i != index && strcmp(app_tables_base_name(arguments->operands[i]),
                                 app_tables_base_name(arguments->operands[index])) == 0) {
            return arguments->operands[index];
        }
    }
    return app_tables_base_name(arguments->operands[index]);
}

bool app_tables_read(AppTables* tables, const AppArguments* arguments)
{
    *tables = (AppTables){.runs = calloc((size_t)arguments->noperand + 1, sizeof *tables->runs)};
    if (tables->runs == NULL) {
        fprintf(stderr, "interim: out of memory\n");
        return false;
    }
    for (int i = 0; i < arguments->noperand; i++) {
        ItmTable* table = NULL;
        ItmError error = {0};
        if (itm_results_read(&table, arguments->operands[i], &error) != ITM_OK) {
            app_print_error(&error);
            return false;
        }
        tables->runs[tables->count++] = (ItmReportRun){choose_label(arguments, i), table};
    }
    return true;
}

void app_tables_free(AppTables* tables)
{
    for (int i = 0; i < tables->count; i++) {
        itm_results_table_destroy((ItmTable*)tables->runs[i].table);
    }
    free(tables->runs);
    *tables = (AppTables){0};
}

// ---------------------------------------------------------------------------- choosing

static bool is_chosen(const int* columns, int count, int column)
{
    for (int i = 0; i < count; i++) {
        if (columns[i] == column) {
            return true;
        }
    }
    return false;
}

static void complain(const ItmTable* table, const char* pattern)
{
    const char* nearest =
        itm_nearest_find(pattern, strlen(pattern), (const char* const*)table->names + 1, table->ncolumn - 1);
    fprintf(stderr, "interim: no signal '%s'", pattern);
    if (nearest != NULL) {
        fprintf(stderr, "; did you mean '%s'?\n", nearest);
    } else {
        fprintf(stderr, " (the first line of the file lists all signals; * matches anything)\n");
    }
}

// Columns of one pattern behind those already chosen; false if there are none.
static bool choose_pattern(const ItmTable* table, const char* pattern, int* columns, int* count)
{
    bool has_match = false;
    for (int i = 1; i < table->ncolumn; i++) {
        bool is_match = fnmatch(pattern, table->names[i], 0) == 0;
        has_match = has_match || is_match;
        if (is_match && !is_chosen(columns, *count, i)) {
            columns[(*count)++] = i;
        }
    }
    return has_match;
}

int app_tables_choose(const AppTables* tables, const char* patterns, int* columns)
{
    const ItmTable* table = tables->runs[0].table;
    int count = 0;
    char* list = strdup(patterns != NULL ? patterns : "*");
    char* rest = list;
    char* pattern = NULL;
    while (list != NULL && (pattern = strtok_r(rest, ",", &rest)) != NULL) {
        if (!choose_pattern(table, pattern, columns, &count)) {
            complain(table, pattern);
            count = 0;
            break;
        }
    }
    free(list);
    return count;
}
