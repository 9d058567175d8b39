// The pieces of CSV files, as RFC 4180 has them.
#ifndef ITM_IO_CSV_H
#define ITM_IO_CSV_H

#include <stdbool.h>
#include <stddef.h>

// The whole of a file with a zero byte after it; NULL with errno on failure.
char* itm_csv_read_file(const char* path, size_t* size);

// Take a field of a text that is ended by a zero byte; a quoted one is unquoted in place. It is not ended by a zero byte.
char* itm_csv_take_field(char** at, size_t* length);
// Take the separator after a field: true after a comma, false at the end of the line.
bool itm_csv_take_separator(char** at);

#endif
