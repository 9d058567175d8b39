// Warnings about badly scaled models: for double precision, or for the step of the run.
#ifndef INTERIM_APP_SCALES_H
#define INTERIM_APP_SCALES_H

#include "app.h"

// Print a warning to stdout for each; returns their number, or -1 after an error message. name: of the mechanism, "" if there is only one.
int app_scales_warn(const ItmModel* m, const ItmStepOptions* step, const char* name);

#endif
