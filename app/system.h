// What `interim run` steps: a mechanism, or a hydraulic circuit alone. One table of functions for both.
#ifndef INTERIM_APP_SYSTEM_H
#define INTERIM_APP_SYSTEM_H

#include "app.h"
#include "summary.h"

typedef struct AppSystem AppSystem;

typedef struct AppSystemKind {
    ItmStatus (*create)(AppSystem* s, ItmError* error);  // at the start of the run
    void (*destroy)(AppSystem* s);
    int (*count_outputs)(const AppSystem* s);
    ItmOutputInfo (*get_output_info)(const AppSystem* s, int output);
    ItmStatus (*compute_outputs)(AppSystem* s, double* values);
    ItmStatus (*step)(AppSystem* s);                     // a step of the run
    double (*get_time)(const AppSystem* s);
    const ItmError* (*get_error)(const AppSystem* s);    // why the last call failed
    void (*print_summary)(const AppSystem* s);           // its lines of the summary
} AppSystemKind;

struct AppSystem {
    const AppSystemKind* kind;
    const ItmModelFile* file;
    const char* name;           // prefix of the results
    ItmData* data;              // mechanism
    ItmHydraulics* hydraulics;  // circuit
    long substeps;              // circuit: steps in one of the run
    AppRunSummary summary;
};

// The system that a file describes. False after printing why not: files with several subsystems are not run yet.
bool app_system_choose(AppSystem* s, const ItmModelFile* file);

#endif
