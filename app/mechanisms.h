// Output of `interim check` about mechanisms and the interfaces between them.
#ifndef INTERIM_APP_MECHANISMS_H
#define INTERIM_APP_MECHANISMS_H

#include "app.h"

// Bodies, joints, freedom, redundant rows, sizes, shapes and interfaces of every mechanism; then the interfaces between mechanisms. Returns the number of
// warnings, -1 after printing what is wrong: for example frames that are to be joined and do not coincide.
int app_mechanisms_print(const ItmModelFile* file);
// A warning for everything that is badly scaled, overlaps or cannot hold, and with is_checking the number of contacts at the
// start; returns their number, -1 after printing
// that there is not enough memory.
int app_mechanisms_warn(const ItmModelFile* file, bool is_checking);

#endif
