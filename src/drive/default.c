// Default definition of a drive.
#include "interim/drive.h"

#include <math.h>

ItmDriveDef itm_default_drive_def(void)
{
    return (ItmDriveDef){.kind = ITM_DRIVE_PMSM,
                         .pole_pairs = 1,
                         .coulomb_speed = 1.0,
                         .ratio = 1.0,
                         .parts = 1.0,
                         .current_limit = INFINITY,
                         .voltage_limit = INFINITY,
                         .mode = ITM_DRIVE_CURRENT,
                         .current_bandwidth = 2000.0};
}
