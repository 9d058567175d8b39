// Output of `interim check` about the coupling of a system.
#ifndef INTERIM_APP_COUPLING_H
#define INTERIM_APP_COUPLING_H

#include "app.h"

// How far from static equilibrium the system starts; for every coupling the spectral radius of the macro step at the file's H and the largest
// stable H, found within a budget of processor time (s). Returns the number of warnings, -1 after printing what is wrong. The file is
// as it was afterwards.
int app_coupling_check(ItmModelFile* file, double budget);

#endif
