// What a run tells at its end.
#ifndef INTERIM_APP_SUMMARY_H
#define INTERIM_APP_SUMMARY_H

#include "app.h"

typedef struct AppRunSummary {
    double wall_time;    // s
    long nrow;           // result rows
    double gap;          // largest joint gap after any step, m or rad
    bool has_energy;      // the model has an energy balance
    double energy_error;  // largest deviation from balance in any row, J
    int ncontact;         // most contacts of a step
    int nbounded;         // most bounded rows of a step
    int nredundant;       // most of them that depended on others
    long solver_iterations;  // of the complementarity solver in all
    double solver_residual;  // largest of a step
    double penetration;      // deepest of a step, m
} AppRunSummary;

// After a step, and after the outputs of a row were computed.
void app_summary_note_step(AppRunSummary* summary, const ItmData* data);
void app_summary_note_outputs(AppRunSummary* summary, const ItmModel* m, const double* values);

// Key numbers for the top of a report; results may be NULL.
void app_summary_add_numbers(const AppRunSummary* summary, const ItmModelFile* file, const ItmData* data,
                             ItmResults* results);

void app_summary_print(const AppRunSummary* summary, const ItmModelFile* file, const ItmData* data,
                       ItmVerdict verdict, const char* output);

#endif
