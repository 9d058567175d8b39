// Height fields from CSV files.
#ifndef ITM_IO_GEOMETRY_HEIGHT_FILE_H
#define ITM_IO_GEOMETRY_HEIGHT_FILE_H

#include "interim/base.h"

typedef struct ItmHeightFile {
    int nx, ny;      // numbers in a line, lines
    double* values;  // row-major, the lines as they come (nx ny)  m
} ItmHeightFile;

// Read a table of numbers without a header, every line as long as the first, times a scale. The values belong to the caller (free)
// on success. Errors have line and column of the table: ITM_ERR_INPUT, ITM_ERR_IO, ITM_ERR_MEMORY.
ItmStatus itm_height_file_read(ItmHeightFile* file, const char* path, double scale, ItmError* error);

#endif
