// Findings of the check of an FMU.
#ifndef ITM_FMU_CHECK_H
#define ITM_FMU_CHECK_H

#include "interim/fmu.h"

typedef struct ItmFmuCheck {
    ItmFmuFindingHandler* handler;  // or NULL
    void* context;
    int counts[ITM_FMU_LEVEL_COUNT];
} ItmFmuCheck;

// Count a finding and pass it on.
void itm_fmu_note_finding(ItmFmuCheck* check, ItmFmuLevel level, const char* subject, const char* format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 4, 5)))
#endif
    ;

// Run the FMU in processes that are thrown away: determinism, states, input latch, derivatives, effort.
void itm_fmu_probe(ItmFmuCheck* check, ItmFmu* fmu);

#endif
