// Runs a model file with two steps, compares the results and writes a report page and a plot.
//
//   cc report.c $(pkg-config --cflags --libs interim) -lm && ./a.out pendulum.yaml
//
// The same as: interim run, interim compare, interim report, interim plot.
// SPDX-License-Identifier: Apache-2.0
#include <interim/interim.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void must(ItmStatus status, const ItmError* error)
{
    if (status != ITM_OK) {
        fprintf(stderr, "%s: %s\n", error->file, error->message);
        exit(1);
    }
}

// Run a file with a step and write its results.
static void run(const char* path, const char* step, const char* output)
{
    ItmError error;
    ItmModelFile* file;
    ItmCosim* cosim;
    ItmResults* results;
    must(itm_file_load(&file, path, &step, 1, &error), &error);
    must(itm_file_create_cosim(&cosim, file, NULL, &error), &error);
    int n = itm_cosim_get_output_count(cosim);
    ItmOutputInfo* columns = calloc((size_t)n, sizeof *columns);
    double* values = calloc((size_t)n, sizeof *values);
    if (columns == NULL || values == NULL) {
        exit(1);
    }
    for (int i = 0; i < n; i++) {
        columns[i] = itm_cosim_get_output_info(cosim, i);
    }
    must(itm_results_create_columns(&results, output, columns, n, "", file->title, &error), &error);
    // what the 3-D view of the report shows
    must(itm_results_watch(results, itm_cosim_get_model(cosim, 0), itm_cosim_get_data(cosim, 0), "", &error), &error);
    for (long i = 0, nstep = lround(file->run.duration / itm_cosim_get_step(cosim)); i <= nstep; i++) {
        must(i > 0 ? itm_cosim_step(cosim) : ITM_OK, itm_cosim_get_error(cosim));
        must(itm_cosim_compute_outputs(cosim, values), itm_cosim_get_error(cosim));
        must(itm_results_append(results, itm_cosim_get_time(cosim), values, &error), &error);
        must(itm_results_note_step(results, itm_cosim_get_time(cosim), &error), &error);
    }
    must(itm_results_close(results, ITM_VERDICT_FINISHED, NULL, &error), &error);
    free(columns);
    free(values);
    itm_cosim_destroy(cosim);
    itm_file_destroy(file);
}

int main(int argc, char** argv)
{
    const char* model = argc > 1 ? argv[1] : "examples/pendulum.yaml";
    ItmError error;
    ItmTable *fine, *coarse;
    run(model, "run.step=0.5ms", "report-fine.csv");
    run(model, "run.step=2ms", "report-coarse.csv");
    must(itm_results_read(&fine, "report-fine.csv", &error), &error);
    must(itm_results_read(&coarse, "report-coarse.csv", &error), &error);

    // differences of all signals, the largest first
    ItmRunComparison comparison;
    must(itm_compare_runs(&comparison, coarse, fine, &error), &error);
    for (int i = 0; i < comparison.nerror && i < 3; i++) {
        const ItmSignalError* e = &comparison.errors[i];
        printf("%-24s differs by up to %.3g %s, %.3g %% of its range\n", e->name, e->comparison.maximum, e->unit,
               100.0 * itm_compare_get_share(e));
    }
    itm_compare_free_runs(&comparison);

    const ItmReportRun runs[] = {{"0.5 ms", fine}, {"2 ms", coarse}};
    int angle = itm_results_table_find(fine, "hinge.angle");
    must(itm_report_write("report.html", runs, 2, NULL, &error), &error);
    must(itm_plot_write("report.svg", runs, 2, &angle, angle == ITM_NONE ? 0 : 1, NULL, &error), &error);
    printf("open report.html in a browser\n");
    itm_results_table_destroy(fine);
    itm_results_table_destroy(coarse);
    return 0;
}
