// The table of a sweep read back: one row per run, the swept keys first, then `verdict` and what came out.
#ifndef ITM_REPORT_SWEEP_GRID_H
#define ITM_REPORT_SWEEP_GRID_H

#include "interim/base.h"

typedef struct ItmSweepGrid {
    int ncolumn, nkey;  // keys are the columns before `verdict`
    long nrow;
    char** names;  // (ncolumn)
    char** cells;  // row by row, "" for an empty one   (nrow * ncolumn)
} ItmSweepGrid;

// ITM_ERR_INPUT with line and column (in fields) of what is wrong, ITM_ERR_IO, ITM_ERR_MEMORY.
ItmStatus itm_sweep_grid_read(ItmSweepGrid* grid, const char* path, ItmError* error);
void itm_sweep_grid_free(ItmSweepGrid* grid);

const char* itm_sweep_grid_get(const ItmSweepGrid* grid, long row, int column);
// The cell as a number, NAN where it is none.
double itm_sweep_grid_get_number(const ItmSweepGrid* grid, long row, int column);
// Column by name, or ITM_NONE.
int itm_sweep_grid_find(const ItmSweepGrid* grid, const char* name);

#endif
