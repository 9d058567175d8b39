// Before a sweep: load every value once and find the signals.
#include "sweep.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---------------------------------------------------------------------------- probing

// What a probe gave: that it could be loaded, and the names of its results.
typedef struct Probe {
    const SweepJob* first;  // whose names count
    ItmTable* names;
    bool has_failed;
} Probe;

static void take_probe(void* context, SweepJob* job)
{
    Probe* probe = context;
    ItmError error = {0};
    if (job->verdict == SWEEP_FAILED && !probe->has_failed) {
        probe->has_failed = true;
        fprintf(stderr, "interim: %s\n", job->message);
    }
    if (job == probe->first && access(job->output, R_OK) == 0 &&
        itm_results_read(&probe->names, job->output, &error) != ITM_OK) {
        app_print_error(&error);
    }
    app_sweep_remove_results(job);
}

static bool make_probe(Sweep* s, SweepJob* job, int number, int combination, bool is_reference)
{
    return app_sweep_make_job(s, job, "probe", number) &&
           app_sweep_add_combination(s, job, combination, is_reference) &&
           (app_sweep_job_add_override(job, "run.duration", 12, "0") || app_sweep_complain_memory());
}

// A probe for each value of each axis, the other axes at their first; and one for the reference. Returns their
// number, 0 without memory.
static int make_probes(Sweep* s, SweepJob* jobs)
{
    int count = 0, stride = s->ncombination;
    for (int i = 0; i < s->axes.count; i++) {
        stride /= s->axes.items[i].values.count;
        for (int j = i == 0 ? 0 : 1; j < s->axes.items[i].values.count; j++) {
            if (!make_probe(s, &jobs[count], count, j * stride, false)) {
                return 0;
            }
            count++;
        }
    }
    if (s->reference.count > 0) {
        return make_probe(s, &jobs[count], count, 0, true) ? count + 1 : 0;
    }
    return count;
}

static int count_values(const Sweep* s)
{
    int count = 0;
    for (int i = 0; i < s->axes.count; i++) {
        count += s->axes.items[i].values.count;
    }
    return count;
}

// Load every value once and make no step: what is misspelt shows before anything is run. Gives an empty table with
// the names of the results; NULL after printing what is wrong, or after a signal.
static ItmTable* probe_values(Sweep* s)
{
    int most = count_values(s) + 1;
    SweepJob* jobs = calloc((size_t)most, sizeof *jobs);
    if (jobs == NULL) {
        app_sweep_complain_memory();
        return NULL;
    }
    Probe probe = {.first = jobs};
    SweepPool pool = {.model = s->arguments->model,
                      .sandbox = s->arguments->sandbox,
                      .jobs = jobs,
                      .nworker = s->nworker,
                      .timeout = s->timeout,
                      .done = take_probe,
                      .context = &probe};
    pool.njob = make_probes(s, jobs);
    app_sweep_pool_run(&pool);
    if (pool.njob > 0 && !probe.has_failed && probe.names == NULL && app_signals_get() == 0) {
        fprintf(stderr, "interim: the first run gave no results: %s %s\n", app_sweep_verdict_name(jobs[0].verdict),
                jobs[0].message);
    }
    for (int i = 0; i < most; i++) {
        app_sweep_job_free(&jobs[i]);
    }
    free(jobs);
    if (probe.has_failed) {
        itm_results_table_destroy(probe.names);
        return NULL;
    }
    return probe.names;
}

// ---------------------------------------------------------------------------- signals

static bool complain_signal(const ItmTable* names, const char* pattern, const char* where)
{
    const char* nearest =
        itm_nearest_find(pattern, strlen(pattern), (const char* const*)names->names + 1, names->ncolumn - 1);
    fprintf(stderr, "interim sweep: %s no signal '%s'", where, pattern);
    if (nearest != NULL) {
        fprintf(stderr, "; did you mean '%s'?\n", nearest);
    } else {
        fprintf(stderr, "; use the signal names of the results of interim run\n");
    }
    return false;
}

// A signal once, however many patterns match it.
static bool add_signal(Sweep* s, const char* name)
{
    for (int i = 0; i < s->signals.count; i++) {
        if (strcmp(s->signals.items[i], name) == 0) {
            return true;
        }
    }
    return app_sweep_add_text(&s->signals, name, strlen(name));
}

static bool match_pattern(Sweep* s, const ItmTable* names, const char* pattern)
{
    bool is_matched = false;
    for (int i = 1; i < names->ncolumn; i++) {
        if (fnmatch(pattern, names->names[i], 0) == 0) {
            is_matched = true;
            if (!add_signal(s, names->names[i])) {
                return false;
            }
        }
    }
    return is_matched || complain_signal(names, pattern, "the results have");
}

static bool find_signals(Sweep* s, const ItmTable* names)
{
    for (int i = 0; i < s->patterns.count; i++) {
        if (!match_pattern(s, names, s->patterns.items[i])) {
            return false;
        }
    }
    for (int i = 1; i < names->ncolumn; i++) {
        if (fnmatch("*.coupling_error", names->names[i], 0) == 0 &&
            !app_sweep_add_text(&s->errors, names->names[i], strlen(names->names[i]))) {
            return false;
        }
    }
    return true;
}

static bool read_reference_file(Sweep* s)
{
    ItmTable* table = NULL;
    ItmError error = {0};
    if (s->reference_file == NULL) {
        return true;
    }
    if (itm_results_read(&table, s->reference_file, &error) != ITM_OK) {
        app_print_error(&error);
        return false;
    }
    bool has_all = true;
    for (int i = 0; i < s->signals.count && has_all; i++) {
        if (itm_results_table_find(table, s->signals.items[i]) == ITM_NONE) {
            has_all = complain_signal(table, s->signals.items[i], "the reference file has");
        }
    }
    s->reference_table = has_all ? app_sweep_select_columns(s, table) : NULL;
    itm_results_table_destroy(table);
    return s->reference_table != NULL || (has_all && app_sweep_complain_memory());
}

bool app_sweep_probe(Sweep* s)
{
    ItmTable* names = probe_values(s);
    bool is_found = names != NULL && find_signals(s, names) && read_reference_file(s);
    itm_results_table_destroy(names);
    return is_found;
}
