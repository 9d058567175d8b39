// Shipped examples with other steppers and couplings: how a run ends, and how far its energies are from balance, computed from its
// outputs alone. Shared by the test of verdicts and the whole matrix (torture_matrix.c).
#ifndef ITM_TESTS_MATRIX_H
#define ITM_TESTS_MATRIX_H

#include "interim/interim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MATRIX_BUDGET 5.0  // s of processor time for a run, which then ends where it is

typedef enum MatrixEnd {
    MATRIX_REFUSED,
    MATRIX_FINISHED,
    MATRIX_DOUBTFUL,
    MATRIX_BROKE_DOWN,
    MATRIX_END_COUNT
} MatrixEnd;

typedef struct MatrixRun {
    MatrixEnd end;
    int nbond;     // without bonds all couplings are one
    double time;   // reached, s
    double error;  // largest energy that is not accounted for, J
    double
        energy;  // that went through: largest of kinetic energy, range of potential energy, energy transferred through bonds, works of all
                 // sources less the heat of valves, throttles and leakage, J
    double
        held;  // kinetic and potential energy and weights (9.81 m/s^2) times distances from the origin at the start, each by its
    // magnitude, J: the numbers that rounding and tolerances belong to
    char message[400];  // why it was refused or broke down, or its doubts
} MatrixRun;

// Sums over the outputs of a step that end in a name.
typedef struct MatrixEnergies {
    double kinetic, potential, constraint, balance, coupling_error, works;
    bool has_whole;
} MatrixEnergies;

static bool matrix_ends_with(const char* text, const char* ending)
{
    size_t n = strlen(text), k = strlen(ending);
    return n >= k && strcmp(text + n - k, ending) == 0;
}

// The balance and the works of sources are those of the whole, where it has outputs of its own; otherwise of the only part.
static MatrixEnergies matrix_read(ItmCosim* x, const double* values)
{
    MatrixEnergies e = {.has_whole = itm_cosim_find_output(x, "energy.supply") != ITM_NONE &&
                                     itm_cosim_find_output(x, "energy.coupling_error") != ITM_NONE};
    static const char* const SOURCES[] = {"energy.load_work", "energy.motion_work"};
    static const char* const HEAT[] = {"energy.valve", "energy.throttle", "energy.leakage"};
    double reached = 0.0;  // work of supplies that is not heat yet
    for (int i = 0; i < itm_cosim_get_output_count(x); i++) {
        const char* name = itm_cosim_get_output_info(x, i).name;
        bool is_whole = !e.has_whole || strncmp(name, "energy.", 7) == 0;
        e.kinetic += matrix_ends_with(name, "energy.kinetic") ? values[i] : 0.0;
        e.potential += matrix_ends_with(name, "energy.potential") ? values[i] : 0.0;
        e.constraint += !e.has_whole && matrix_ends_with(name, "energy.constraint_work") ? values[i] : 0.0;
        e.balance = is_whole && matrix_ends_with(name, "energy.balance") ? values[i] : e.balance;
        e.coupling_error = is_whole && matrix_ends_with(name, "energy.coupling_error") ? values[i] : e.coupling_error;
        for (size_t k = 0; is_whole && k < sizeof SOURCES / sizeof SOURCES[0]; k++) {
            e.works += matrix_ends_with(name, SOURCES[k]) ? fabs(values[i]) : 0.0;
        }
        reached += is_whole && matrix_ends_with(name, "energy.supply") ? values[i] : 0.0;
        for (size_t k = 0; is_whole && k < sizeof HEAT / sizeof HEAT[0]; k++) {
            reached -= matrix_ends_with(name, HEAT[k]) ? values[i] : 0.0;
        }
    }
    double through = 0.0;
    for (int i = 0; i < itm_cosim_get_bond_count(x); i++) {
        through += itm_cosim_get_bond(x, i).throughput;
    }
    e.works = fmax(e.works + fabs(reached), through);
    return e;
}

static double matrix_compute_weights(ItmCosim* x)
{
    double sum = 0.0;
    for (int k = 0; k < itm_cosim_get_mechanism_count(x); k++) {
        const ItmModel* m = itm_cosim_get_model(x, k);
        for (int i = 0; m != NULL && i < itm_model_get_info(m).nbody; i++) {
            ItmVec3 p = itm_data_get_body_pose(m, itm_cosim_get_data(x, k), i).p;
            sum += 9.81 * itm_model_get_body_info(m, i).mass * hypot(hypot(p.x, p.y), p.z);
        }
    }
    return sum;
}

static void matrix_list_doubts(MatrixRun* run, const ItmCosim* x)
{
    for (int i = 0; i < itm_cosim_get_doubt_count(x); i++) {
        ItmDoubt doubt = itm_cosim_get_doubt(x, i);
        size_t used = strlen(run->message);
        snprintf(run->message + used, sizeof run->message - used, "%s%s %s %.2g > %.2g", used > 0 ? "; " : "",
                 doubt.name, doubt.where, doubt.largest, doubt.bound);
    }
}

static void matrix_step(MatrixRun* run, ItmCosim* x, double duration)
{
    double* values = calloc((size_t)itm_cosim_get_output_count(x) + 1, sizeof *values);
    double kinetic = 0.0, least = INFINITY, most = -INFINITY, works = 0.0;
    bool is_finite = values != NULL;
    clock_t start = clock();
    for (ItmStatus status = ITM_OK; status == ITM_OK && is_finite;) {
        if (itm_cosim_compute_outputs(x, values) != ITM_OK) {
            break;
        }
        MatrixEnergies e = matrix_read(x, values);
        run->held = run->time == 0.0 ? fabs(e.kinetic) + fabs(e.potential) + matrix_compute_weights(x) : run->held;
        kinetic = fmax(kinetic, e.kinetic);
        least = fmin(least, e.potential);
        most = fmax(most, e.potential);
        works = fmax(works, e.works);
        double all = e.has_whole ? e.balance + e.coupling_error : e.balance + e.constraint;
        run->error = fmax(run->error, fmax(fabs(e.balance), fabs(all)));
        is_finite = isfinite(run->error) && isfinite(kinetic);
        bool is_late = (double)(clock() - start) > MATRIX_BUDGET * CLOCKS_PER_SEC;
        if (run->time >= duration * (1.0 - 1e-9) || is_late) {
            break;
        }
        status = itm_cosim_step(x);
        run->time = itm_cosim_get_time(x);
        run->end = status == ITM_OK ? run->end : MATRIX_BROKE_DOWN;
    }
    run->energy = fmax(fmax(kinetic, most - least), works);
    free(values);
}

// An example for some time, with overrides.
static MatrixRun matrix_run(const char* path, const char* const* overrides, int noverride, double duration)
{
    MatrixRun run = {.end = MATRIX_REFUSED};
    ItmError error = {0};
    ItmModelFile* file = NULL;
    ItmCosim* x = NULL;
    if (itm_file_load(&file, path, overrides, noverride, &error) == ITM_OK &&
        itm_file_create_cosim(&x, file, NULL, &error) == ITM_OK) {
        run.end = MATRIX_FINISHED;
        run.nbond = file->cosim.nbond;
        matrix_step(&run, x, fmin(duration, file->run.duration));
        if (run.end == MATRIX_BROKE_DOWN) {
            snprintf(run.message, sizeof run.message, "%.399s", itm_cosim_get_error(x)->message);
        } else if (itm_cosim_get_doubt_count(x) > 0) {
            run.end = MATRIX_DOUBTFUL;
            matrix_list_doubts(&run, x);
        }
    } else {
        snprintf(run.message, sizeof run.message, "%.399s", error.message);
    }
    itm_cosim_destroy(x);
    itm_file_destroy(file);
    return run;
}

// A run that ends without doubts must balance to 1 % of the energy that went through; a machine at rest, where none does, to a
// millionth of what it holds.
static bool matrix_is_honest(const MatrixRun* run)
{
    return run->end != MATRIX_FINISHED || run->error <= fmax(0.01 * run->energy, 1e-6 * run->held);
}

#endif
