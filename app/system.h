// Summary of the parts of a system at the end of `interim run`.
#ifndef INTERIM_APP_SYSTEM_H
#define INTERIM_APP_SYSTEM_H

#include "app.h"
#include "summary.h"

// After a step of the system.
void app_system_note_step(AppRunSummary* summary, ItmCosim* cosim);
// After the outputs of the system.
void app_system_note_outputs(AppRunSummary* summary, ItmCosim* cosim);
// Lines of the summary: mechanisms, circuits, coupling.
void app_system_print_summary(const AppRunSummary* summary, const ItmModelFile* file, ItmCosim* cosim);

// Key numbers for the top of a report; results may be NULL. time: simulated, s
void app_system_add_numbers(const AppRunSummary* summary, const ItmModelFile* file, ItmCosim* cosim,
                            ItmResults* results, double time);

#endif
