// The part of `interim check` on controls.
#ifndef INTERIM_APP_CONTROLS_H
#define INTERIM_APP_CONTROLS_H

#include "app.h"

// Blocks, samples and inputs of every control of the file.
void app_controls_print(const ItmModelFile* file);

#endif
