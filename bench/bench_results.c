// Result files: CPU time per value and size, of a table like that of the log crane.
#include "bench/measure.h"
#include "interim/interim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROWS 2000
#define COLUMNS 400
#define ROUNDS 5
#define CSV_GOAL 0.05  // us per value

static void stop_on_error(ItmStatus status, const ItmError* error)
{
    if (status != ITM_OK) {
        fprintf(stderr, "interim: %s: %s\n", itm_status_message(status), error->message);
        exit(1);
    }
}

// One value in eight is constant or zero, one in eight is rounding, the others are smooth, from micrometres to kilonewtons.
static double make_value(int row, int column)
{
    double t = 0.01 * row, size = pow(10.0, column % 11 - 6);
    switch (column % 8) {
    case 0:
        return column % 16 == 0 ? 0.0 : 0.125 * column;
    case 1:
        return 1e-16 * sin(977.0 * t + column);
    default:
        return size * (1.0 + 0.3 * sin(1.7 * t + column) + 0.01 * sin(31.0 * t));
    }
}

static void measure_file(const char* folder, const char* ending, const double* table, double* us, double* bytes)
{
    static ItmOutputInfo columns[COLUMNS];
    static char names[COLUMNS][24];
    char path[256];
    ItmError error = {0};
    for (int i = 0; i < COLUMNS; i++) {
        snprintf(names[i], sizeof names[i], "body%d.position.x", i);
        columns[i] = (ItmOutputInfo){names[i], "m", "position"};
    }
    snprintf(path, sizeof path, "%s/table%s", folder, ending);
    *us = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        ItmResults* results = NULL;
        double start = bench_now();
        stop_on_error(itm_results_create_columns(&results, path, columns, COLUMNS, "", "bench", &error), &error);
        for (int i = 0; i < ROWS; i++) {
            stop_on_error(itm_results_append(results, 0.01 * i, table + (size_t)i * COLUMNS, &error), &error);
        }
        stop_on_error(itm_results_close(results, ITM_VERDICT_FINISHED, "", &error), &error);
        *us = fmin(*us, 1e6 * (bench_now() - start) / (ROWS * (COLUMNS + 1.0)));
    }
    struct stat status = {0};
    stat(path, &status);
    *bytes = (double)status.st_size / (ROWS * (COLUMNS + 1.0));
    unlink(path);
}

int main(void)
{
    char folder[] = "/tmp/interim-bench-XXXXXX", side[64];
    double* table = malloc(sizeof(double) * ROWS * COLUMNS);
    if (table == NULL || mkdtemp(folder) == NULL) {
        fprintf(stderr, "bench_results: no memory or no folder\n");
        return 1;
    }
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        table[i] = make_value(i / COLUMNS, i % COLUMNS);
    }
    double us[2], bytes[2];
    measure_file(folder, ".csv", table, &us[0], &bytes[0]);
    measure_file(folder, ".h5", table, &us[1], &bytes[1]);
    printf("results, %d rows of %d columns, best of %d\n", ROWS, COLUMNS, ROUNDS);
    printf("  CSV   %6.3f us per value, %5.2f bytes        goal %.2f us: %s\n", us[0], bytes[0], CSV_GOAL,
           bench_at_most(us[0], CSV_GOAL));
    printf("  HDF5  %6.3f us per value, %5.2f bytes        goal smaller than CSV: %s\n", us[1], bytes[1],
           bench_at_most(bytes[1], bytes[0]));
    snprintf(side, sizeof side, "%s/table.json", folder);
    unlink(side);
    rmdir(folder);
    free(table);
    return 0;
}
