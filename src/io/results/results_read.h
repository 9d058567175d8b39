// Reading result files: what the readers of the formats share.
#ifndef ITM_IO_RESULTS_RESULTS_READ_H
#define ITM_IO_RESULTS_RESULTS_READ_H

#include "interim/results.h"
#include "io/results/record.h"

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
