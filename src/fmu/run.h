// A run of an FMU alone, with its rows in a table.
#ifndef ITM_FMU_RUN_H
#define ITM_FMU_RUN_H

#include "interim/fmu.h"

// itm_fmu_run; rows (may be NULL) is an empty table that gets all rows. options is not NULL.
ItmStatus itm_fmu_run_into(ItmTable* rows, ItmFmuRunInfo* info, ItmFmu* fmu, const ItmFmuRunOptions* options,
                           ItmError* error);

#endif
