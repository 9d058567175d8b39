// Reading result files back: a whole table in memory, for comparing and reporting.
#ifndef ITM_IO_RESULTS_RESULTS_READ_H
#define ITM_IO_RESULTS_RESULTS_READ_H

#include "interim/results.h"
#include "io/results/record.h"

typedef struct ItmTable {
    int ncolumn;
    long nrow;
    char** names;         // column 0 is "time"               (ncolumn)
    char** units;         // "" where the file says nothing    (ncolumn)
    char** descriptions;  //                                   (ncolumn)
    double* values;       // row-major                         (nrow x ncolumn)
    bool is_described;    // title, verdict and reason come from the file; otherwise "" and running
    char* title;
    char* reason;
    ItmVerdict verdict;
    ItmRecord record;  // scene and motion; scene NULL where the file has none that is valid
} ItmTable;

// Read a .csv (with its .json beside it, if there is one), .h5 or .hdf5 file. A broken CSV file is reported
// with line and column (counted in fields).
ItmStatus itm_results_read(ItmTable** table, const char* path, ItmError* error);
void itm_results_table_destroy(ItmTable* table);

// Column by name, ITM_NONE if there is none.
int itm_results_table_find(const ItmTable* table, const char* name);
double itm_results_table_get(const ItmTable* table, long row, int column);
// A table of some of the columns, in the order given; NULL without memory.
ItmTable* itm_results_table_select(const ItmTable* table, const int* columns, int ncolumn);

// ---------------------------------------------------------------------------- for the formats

// Fill an empty table; what was allocated on failure is freed by the caller through itm_results_table_destroy.
ItmStatus itm_results_read_csv(ItmTable* table, const char* path, ItmError* error);
// The same from memory, without a .json file: `length` bytes and a zero byte behind them, which are changed. path stands for
// the file in messages.
ItmStatus itm_results_parse_csv(ItmTable* table, char* text, size_t length, const char* path, ItmError* error);
ItmStatus itm_results_read_hdf5(ItmTable* table, const char* path, ItmError* error);

// Add a column with empty unit and description; the name is copied. False without memory.
bool itm_results_table_add_column(ItmTable* table, const char* name, size_t length);
// Replace a string of the table by a copy. False without memory.
bool itm_results_table_set_string(char** string, const char* text, size_t length);

#endif
