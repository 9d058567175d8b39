// The part of `interim check` on hydraulic circuits.
#ifndef INTERIM_APP_CIRCUITS_H
#define INTERIM_APP_CIRCUITS_H

#include "app.h"

// Size, inputs, rates and start of every circuit of the file. Returns the number of warnings, or -1 after printing an
// error: a static start that was not found.
int app_circuits_check(const ItmModelFile* file);

#endif
