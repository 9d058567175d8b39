// Result files of a command line, read.
#ifndef INTERIM_APP_TABLES_H
#define INTERIM_APP_TABLES_H

#include "app.h"

typedef struct AppTables {
    ItmReportRun* runs;  // label and table of each   (count)
    int count;
    char** names;   // labels by what differs, or NULL   (count)
    char** labels;  // by file, as a terminal may show them   (count)
} AppTables;

// Read all operands; false after printing what is wrong. Free it in any case.
bool app_tables_read(AppTables* tables, const AppArguments* arguments);
void app_tables_free(AppTables* tables);

// The file name of a path.
const char* app_tables_base_name(const char* path);

// Columns of the first table that the patterns of --signals ("boom.*,energy.total") name, in the order of the patterns;
// all of them without patterns. columns (ncolumn of the table); their number, or 0 after printing what is wrong.
int app_tables_choose(const AppTables* tables, const char* patterns, int* columns);

// Reduce all tables to the signals that the patterns name; nothing to do without patterns. False after printing what is wrong.
bool app_tables_select(AppTables* tables, const char* patterns);

// Label the runs by the overrides that differ, where the results distinguish them.
void app_tables_name(AppTables* tables);

#endif
