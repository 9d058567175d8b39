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

// File names distinguish runs, or paths where the file names are the same.
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

// A rotation has two quaternions, q and -q; the results switch between them where w changes its sign. For plots and
// comparisons the one nearer to the row before is taken. column: of w; x, y and z follow
static void join_quaternions(ItmTable* table, int column)
{
    for (long row = 1; row < table->nrow; row++) {
        double *q = table->values + row * table->ncolumn + column, *before = q - table->ncolumn;
        if (q[0] * before[0] + q[1] * before[1] + q[2] * before[2] + q[3] * before[3] < 0.0) {
            for (int i = 0; i < 4; i++) {
                q[i] = -q[i];
            }
        }
    }
}

static void join_all_quaternions(ItmTable* table)
{
    static const char END[] = ".orientation.w";
    for (int i = 1; i + 3 < table->ncolumn; i++) {
        size_t length = strlen(table->names[i]), end = sizeof END - 1;
        bool is_first = length > end && strcmp(table->names[i] + length - end, END) == 0;
        if (is_first && strncmp(table->names[i], table->names[i + 3], length - 1) == 0) {
            join_quaternions(table, i);
        }
    }
}

bool app_tables_read(AppTables* tables, const AppArguments* arguments)
{
    *tables = (AppTables){.runs = calloc((size_t)arguments->noperand + 1, sizeof *tables->runs),
                          .labels = calloc((size_t)arguments->noperand + 1, sizeof *tables->labels)};
    if (tables->runs == NULL || tables->labels == NULL) {
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
        join_all_quaternions(table);
        char* label = strdup(choose_label(arguments, i));
        tables->labels[tables->count] = label;
        tables->runs[tables->count++] = (ItmReportRun){label, table};
        if (label == NULL) {
            fprintf(stderr, "interim: out of memory\n");
            return false;
        }
        app_clean_text(label);
    }
    return true;
}

void app_tables_free(AppTables* tables)
{
    for (int i = 0; i < tables->count; i++) {
        itm_results_table_destroy((ItmTable*)tables->runs[i].table);
        if (tables->names != NULL) {
            free(tables->names[i]);
        }
        free(tables->labels[i]);
    }
    free(tables->names);
    free(tables->labels);
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

// The columns of the first run that a run has, too, with its record.
static ItmTable* select_columns(ItmTable* table, const ItmTable* first, const int* columns, int count)
{
    int* own = calloc((size_t)count + 1, sizeof *own);  // time first
    int nown = 1;
    for (int i = 0; i < count && own != NULL; i++) {
        int column = itm_results_table_find(table, first->names[columns[i]]);
        if (column != ITM_NONE) {
            own[nown++] = column;
        }
    }
    ItmTable* selected = own != NULL ? itm_results_table_select(table, own, nown) : NULL;
    if (selected != NULL) {
        selected->record = table->record;
        table->record = NULL;
    }
    free(own);
    return selected;
}

bool app_tables_select(AppTables* tables, const char* patterns)
{
    if (patterns == NULL) {
        return true;
    }
    int* columns = calloc((size_t)tables->runs[0].table->ncolumn + 1, sizeof *columns);
    int count = columns != NULL ? app_tables_choose(tables, patterns, columns) : 0;
    bool is_right = count > 0;
    // the first one last: its columns are looked up for the others
    for (int i = tables->count - 1; i >= 0 && is_right; i--) {
        ItmTable* table = (ItmTable*)tables->runs[i].table;
        ItmTable* selected = select_columns(table, tables->runs[0].table, columns, count);
        is_right = selected != NULL;
        if (is_right) {
            tables->runs[i].table = selected;
            itm_results_table_destroy(table);
        } else {
            fprintf(stderr, "interim: out of memory\n");
        }
    }
    free(columns);
    return is_right;
}

void app_tables_name(AppTables* tables)
{
    tables->names = calloc((size_t)tables->count + 1, sizeof *tables->names);
    if (tables->names != NULL && itm_report_name_runs(tables->names, tables->runs, tables->count)) {
        for (int i = 0; i < tables->count; i++) {
            tables->runs[i].label = tables->names[i];
        }
    }
}
