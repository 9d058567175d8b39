// Summary at the end of a run.
#ifndef INTERIM_APP_SUMMARY_H
#define INTERIM_APP_SUMMARY_H

#include "app.h"

typedef struct AppRunSummary {
    bool is_verbose;            // -v: also what only numerics people read
    double wall_time;           // s
    long nrow;                  // result rows
    double gap;                 // largest joint gap after any step, m or rad
    double energy;              // of the machine, what errors are compared with, J
    double energy_error;        // largest that was not accounted for, J
    int ncontact;               // most contacts of a step
    int nasleep;                // most bodies that slept at a time
    int nbounded;               // most bounded rows of a step
    int nredundant;             // most rows, of joints and bounded ones, that were redundant in a row of results
    double redundant_time;      // when that was, s
    char redundant_names[600];  // which they were
    long solver_iterations;     // of the complementarity solver in all
    double solver_residual;     // largest of a step
    double penetration;         // deepest of a step, m
} AppRunSummary;

// After a step of a mechanism.
void app_summary_note_step(AppRunSummary* summary, const ItmData* data);
// After the outputs of a mechanism: which of its rows were redundant.
void app_summary_note_redundant(AppRunSummary* summary, const ItmModel* model, ItmData* data);

// Title and verdict; notes of a mechanism; wall time, energy and results.
void app_summary_print_head(const char* title, ItmVerdict verdict, double time);
void app_summary_print_mechanism(const AppRunSummary* summary, const ItmModelFile* file, const ItmData* data);
void app_summary_print_tail(const AppRunSummary* summary, double time, const char* output, int noutput);

#endif
