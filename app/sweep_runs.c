// The jobs of a sweep: their overrides, files and results.
#include "sweep.h"

#include "interim/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---------------------------------------------------------------------------- files

static char* join(const char* directory, const char* stem, int number, const char* ending)
{
    size_t size = strlen(directory) + strlen(stem) + strlen(ending) + 16;
    char* path = malloc(size);
    if (path != NULL) {
        snprintf(path, size, "%s/%s%d%s", directory, stem, number, ending);
    }
    return path;
}

// The directory to keep results in, or one that goes away with the sweep.
bool app_sweep_make_directory(Sweep* s)
{
    if (s->keep != NULL) {
        s->directory = strdup(s->keep);
        if (mkdir(s->keep, 0777) != 0 && errno != EEXIST) {
            fprintf(stderr, "interim sweep: cannot create the directory '%s': %s\n", s->keep, strerror(errno));
            return false;
        }
        return s->directory != NULL || app_sweep_complain_memory();
    }
    const char* parent = getenv("TMPDIR");
    parent = parent != NULL && parent[0] != '\0' ? parent : "/tmp";
    size_t size = strlen(parent) + 32;
    char* path = malloc(size);
    if (path == NULL) {
        return app_sweep_complain_memory();
    }
    snprintf(path, size, "%s/interim-sweep-XXXXXX", parent);
    if (mkdtemp(path) == NULL) {
        fprintf(stderr, "interim sweep: cannot create a directory in '%s': %s\n", parent, strerror(errno));
        free(path);
        return false;
    }
    s->directory = path;
    return true;
}

// A run leaves its results, or the part file and the lock of one that was killed.
void app_sweep_remove_results(const SweepJob* job)
{
    static const char* const ENDINGS[] = {".h5", ".part.h5", ".part.h5.lock"};
    for (size_t i = 0; i < sizeof ENDINGS / sizeof ENDINGS[0]; i++) {
        char* path = app_path_replace_ending(job->output, ENDINGS[i]);
        if (path != NULL) {
            unlink(path);
        }
        free(path);
    }
}

// ---------------------------------------------------------------------------- jobs

bool app_sweep_make_job(Sweep* s, SweepJob* job, const char* stem, int number)
{
    job->output = join(s->directory, stem, number, ".h5");
    job->log = join(s->directory, stem, number, ".log");
    bool has_all = job->output != NULL && job->log != NULL;
    for (int i = 0; i < s->arguments->noverride && has_all; i++) {
        const char* text = s->arguments->overrides[i];
        has_all = app_sweep_job_add_override(job, text, strlen(text), NULL);
    }
    return has_all || app_sweep_complain_memory();
}

// Whether the reference run sets this axis by itself.
static bool is_referred(const Sweep* s, int axis)
{
    SweepAxes one = {.items = &s->axes.items[axis], .count = 1};
    for (int i = 0; i < s->reference.count; i++) {
        if (app_sweep_axes_find(&one, s->reference.items[i]) == 0) {
            return true;
        }
    }
    return false;
}

// A run of a combination; for its reference without the axes that the reference sets.
bool app_sweep_add_combination(Sweep* s, SweepJob* job, int combination, bool is_reference)
{
    for (int i = 0; i < s->axes.count; i++) {
        const char* key = s->axes.items[i].key;
        if ((!is_reference || !is_referred(s, i)) &&
            !app_sweep_job_add_override(job, key, strlen(key), app_sweep_axes_get(&s->axes, combination, i))) {
            return app_sweep_complain_memory();
        }
    }
    for (int i = 0; i < s->reference.count && is_reference; i++) {
        const char* text = s->reference.items[i];
        if (!app_sweep_job_add_override(job, text, strlen(text), NULL)) {
            return app_sweep_complain_memory();
        }
    }
    return true;
}

// Combinations that differ only in what the reference sets share one reference run: its number.
static int find_reference(const Sweep* s, int combination)
{
    int number = 0, stride = 1;
    for (int i = s->axes.count - 1; i >= 0; i--) {
        int count = s->axes.items[i].values.count;
        if (!is_referred(s, i)) {
            number += stride * (combination % count);
            stride *= count;
        }
        combination /= count;
    }
    return number;
}

static int count_references(const Sweep* s)
{
    return s->reference.count > 0 ? 1 + find_reference(s, s->ncombination - 1) : 0;
}

bool app_sweep_make_jobs(Sweep* s)
{
    s->nreference = count_references(s);
    s->jobs = calloc((size_t)(s->nreference + s->ncombination), sizeof *s->jobs);
    if (s->jobs == NULL) {
        return app_sweep_complain_memory();
    }
    bool is_made = true;
    for (int i = 0; i < s->ncombination && is_made; i++) {
        is_made = app_sweep_make_job(s, &s->jobs[s->nreference + i], "run", i + 1) &&
                  app_sweep_add_combination(s, &s->jobs[s->nreference + i], i, false);
        SweepJob* reference = s->nreference > 0 ? &s->jobs[find_reference(s, i)] : NULL;
        if (is_made && reference != NULL && reference->output == NULL) {
            is_made = app_sweep_make_job(s, reference, "reference", find_reference(s, i) + 1) &&
                      app_sweep_add_combination(s, reference, i, true);
        }
    }
    return is_made;
}

// ---------------------------------------------------------------------------- results

// Time and those of the wanted columns that the table has.
ItmTable* app_sweep_select_columns(const Sweep* s, const ItmTable* table)
{
    int count = 0;
    int* columns = calloc((size_t)(1 + s->signals.count + s->errors.count), sizeof *columns);
    if (columns == NULL) {
        return NULL;
    }
    columns[count++] = 0;
    for (int i = 0; i < s->signals.count + s->errors.count; i++) {
        const char* name = i < s->signals.count ? s->signals.items[i] : s->errors.items[i - s->signals.count];
        int column = itm_results_table_find(table, name);
        columns[count] = column;
        count += column != ITM_NONE;
    }
    ItmTable* selected = itm_results_table_select(table, columns, count);
    free(columns);
    return selected;
}

static void read_results(const Sweep* s, SweepJob* job)
{
    ItmTable* table = NULL;
    ItmError error = {0};
    if (access(job->output, R_OK) != 0) {
        return;
    }
    if (itm_results_read(&table, job->output, &error) == ITM_OK) {
        if (job->verdict == SWEEP_FINISHED && table->verdict == ITM_VERDICT_DOUBTFUL) {
            job->verdict = SWEEP_DOUBTFUL;
            snprintf(job->message, sizeof job->message, "%.*s", (int)sizeof job->message - 1, table->reason);
        }
        job->end_time = table->nrow > 0 ? itm_results_table_get(table, table->nrow - 1, 0) : NAN;
        job->table = app_sweep_select_columns(s, table);
    } else if (job->verdict == SWEEP_FINISHED || job->message[0] == '\0') {
        job->verdict = job->verdict == SWEEP_FINISHED ? SWEEP_FAILED : job->verdict;
        snprintf(job->message, sizeof job->message, "%.500s", error.message);
    }
    itm_results_table_destroy(table);
}

static void note_values(SweepSignal* signal, const ItmTable* table, int column)
{
    for (long row = 0; row < table->nrow; row++) {
        double value = itm_results_table_get(table, row, column);
        signal->last = value;
        signal->peak = isnan(signal->peak) || fabs(value) > fabs(signal->peak) ? value : signal->peak;
    }
}

static void note_difference(SweepSignal* signal, SweepJob* job, int column, const ItmTable* reference, const char* name)
{
    ItmComparison c;
    ItmError error = {0};
    int reference_column = itm_results_table_find(reference, name);
    if (reference_column == ITM_NONE) {
        return;
    }
    if (itm_compare(&c, job->table, column, reference, reference_column, NULL, &error) == ITM_OK) {
        signal->rms = c.rms;
        signal->maximum = c.maximum;
    } else if (job->message[0] == '\0') {
        snprintf(job->message, sizeof job->message, "%.500s", error.message);
    }
}

// Fill a row from the results of its run, which are then not needed any more.
static void fill_row(Sweep* s, SweepRow* row, SweepJob* job, const ItmTable* reference)
{
    for (int i = 0; i < s->signals.count; i++) {
        int column = itm_results_table_find(job->table, s->signals.items[i]);
        if (column != ITM_NONE) {
            note_values(&row->signals[i], job->table, column);
        }
        if (column != ITM_NONE && reference != NULL) {
            note_difference(&row->signals[i], job, column, reference, s->signals.items[i]);
        }
    }
    for (int i = 0; i < s->errors.count; i++) {
        int column = itm_results_table_find(job->table, s->errors.items[i]);
        if (column != ITM_NONE && job->table->nrow > 0) {
            row->errors[i] = itm_results_table_get(job->table, job->table->nrow - 1, column);
        }
    }
    itm_results_table_destroy(job->table);
    job->table = NULL;
}

// Fill the rows of all runs that have results and whose reference, if there is one, has its verdict.
static void fill_rows(Sweep* s)
{
    for (int i = 0; i < s->ncombination; i++) {
        SweepJob* job = &s->jobs[s->nreference + i];
        if (job->table == NULL) {
            continue;
        }
        const SweepJob* reference = s->nreference > 0 ? &s->jobs[find_reference(s, i)] : NULL;
        if (reference == NULL || reference->verdict != SWEEP_WAITING) {
            fill_row(s, &s->table.rows[i], job, reference != NULL ? reference->table : s->reference_table);
        }
    }
}

void app_sweep_write_table(Sweep* s)
{
    if (s->arguments->output != NULL && !app_sweep_table_write(&s->table, s->arguments->output)) {
        s->has_failed = true;
    }
    s->written = app_wall_time();
}

void app_sweep_take_job(void* context, SweepJob* job)
{
    Sweep* s = context;
    read_results(s, job);
    if (s->keep == NULL) {
        app_sweep_remove_results(job);
    }
    fill_rows(s);
    if (app_wall_time() - s->written > 1.0 && !s->has_failed) {
        app_sweep_write_table(s);
    }
}

bool app_sweep_make_table(Sweep* s)
{
    s->table = (SweepTable){.axes = &s->axes,
                            .signals = s->signals.items,
                            .nsignal = s->signals.count,
                            .errors = s->errors.items,
                            .nerror = s->errors.count,
                            .has_reference = s->nreference > 0 || s->reference_file != NULL};
    s->table.rows = calloc((size_t)s->ncombination, sizeof *s->table.rows);
    for (; s->table.rows != NULL && s->table.nrow < s->ncombination; s->table.nrow++) {
        SweepRow* row = &s->table.rows[s->table.nrow];
        row->job = &s->jobs[s->nreference + s->table.nrow];
        row->signals = calloc((size_t)s->signals.count + 1, sizeof *row->signals);
        row->errors = calloc((size_t)s->errors.count + 1, sizeof *row->errors);
        if (row->signals == NULL || row->errors == NULL) {
            free(row->signals);
            free(row->errors);
            return app_sweep_complain_memory();
        }
        for (int i = 0; i < s->signals.count; i++) {
            row->signals[i] = (SweepSignal){NAN, NAN, NAN, NAN};
        }
        for (int i = 0; i < s->errors.count; i++) {
            row->errors[i] = NAN;
        }
    }
    return s->table.rows != NULL || app_sweep_complain_memory();
}
