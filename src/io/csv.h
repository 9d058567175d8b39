// The pieces of CSV files, as RFC 4180 has them.
#ifndef ITM_IO_CSV_H
#define ITM_IO_CSV_H

#include "interim/base.h"

#include <stdbool.h>
#include <stddef.h>

// A text that is being read, ended by a zero byte.
typedef struct ItmCsv {
    const char* path;
    char* at;  // what comes next
    int line;
} ItmCsv;

// What is wrong in this line, and in which column of the table.
ItmStatus itm_csv_fail(const ItmCsv* csv, int column, ItmError* error, const char* what);
ItmStatus itm_csv_fail_memory(const char* path, ItmError* error);

// The whole of a file with a zero byte after it; NULL with errno on failure.
char* itm_csv_read_file(const char* path, size_t* size);

// Take a field; a quoted one is unquoted in place. It is not ended by a zero byte.
char* itm_csv_take_field(ItmCsv* csv, size_t* length);
// Take a number, with blanks around it; column: its own, for errors.
ItmStatus itm_csv_take_number(ItmCsv* csv, double* value, int column, ItmError* error);
// Take the separator after a field: true after a comma, false at the end of the line.
bool itm_csv_take_separator(ItmCsv* csv);

#endif
