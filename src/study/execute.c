// One run of a study in this process: load, step, compute the responses.
#include "study/study.h"

#include "interim/run.h"
#include "io/model/file.h"
#include "io/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_PERIOD 0.05  // s of wall time between two looks at is_stopped

typedef struct Execution {
    ItmStudy* study;
    int id;
    ItmStudyRun* outcome;
    ItmOwned owned;
    ItmStudyTexts settings;
    ItmModelFile* file;
    ItmCosim* cosim;
    ItmRun* run;
    ItmSamples samples;
    double* parameters;  // SI values  (study->parameters)
} Execution;

// ---------------------------------------------------------------------------- set-up

static void note_error(Execution* e, const ItmError* error)
{
    ItmStudyRun* r = e->outcome;
    r->verdict = ITM_STUDY_FAILED;
    const char* message = error->message[0] != '\0' ? error->message : itm_status_message(error->status);
    if (error->file[0] != '\0' && error->line > 0) {
        snprintf(r->message, sizeof r->message, "%.200s:%d:%d: %.280s", error->file, error->line, error->column,
                 message);
    } else if (error->file[0] != '\0' && strstr(message, error->file) == NULL) {
        snprintf(r->message, sizeof r->message, "%.200s: %.300s", error->file, message);
    } else {
        snprintf(r->message, sizeof r->message, "%.500s", message);
    }
}

static ItmStatus load(Execution* e, ItmError* error)
{
    ItmStudy* s = e->study;
    ItmStatus status = itm_study_collect_settings(s, e->id, &e->owned, &e->settings);
    if (status != ITM_OK) {
        return itm_study_fail_memory(error);
    }
    if (s->has_document) {
        s->has_document = false;  // reading changes it
        return itm_file_build_document(&e->file, &s->document, s->model_text, s->model_length, s->model, s->root,
                                       e->settings.items, e->settings.count, error);
    }
    return itm_file_load_below(&e->file, s->model, s->root, e->settings.items, e->settings.count, error);
}

static bool begin(Execution* e, const char* keep, bool is_probe)
{
    ItmError error = {0};
    ItmStatus status = load(e, &error);
    status = status == ITM_OK ? itm_file_create_cosim(&e->cosim, e->file, NULL, &error) : status;
    if (status == ITM_OK) {
        ItmRunOptions options = itm_default_run_options(e->file);
        options.duration = is_probe ? 0.0 : options.duration;
        options.path = keep;
        options.keeps_rows = true;
        status = itm_run_create(&e->run, e->file, e->cosim, &options, &error);
    }
    if (status != ITM_OK) {
        error.status = status;
        itm_study_name_origin(e->study, &error);
        note_error(e, &error);
    }
    return status == ITM_OK;
}

// ---------------------------------------------------------------------------- results

// Column of every recorded signal among the outputs; ITM_NONE where this run has no such output.
static bool copy_samples(Execution* e)
{
    const ItmStudy* s = e->study;
    size_t noutput = (size_t)itm_cosim_get_output_count(e->cosim), width = (size_t)s->signals.count + 1;
    const double* rows = itm_run_get_rows(e->run);
    e->samples.nrow = itm_run_get_info(e->run).nrow;
    e->samples.values = malloc(sizeof *e->samples.values * width * (size_t)(e->samples.nrow + 1));
    if (e->samples.values == NULL) {
        return false;
    }
    for (size_t k = 0; k < width; k++) {
        size_t column = 0;  // time
        for (size_t i = 0; i < noutput && k > 0 && column == 0; i++) {
            column = strcmp(itm_cosim_get_output_info(e->cosim, (int)i).name, s->signals.items[k - 1]) == 0 ? i + 1 : 0;
        }
        for (long row = 0; row < e->samples.nrow; row++) {
            e->samples.values[width * (size_t)row + k] =
                column > 0 || k == 0 ? rows[(noutput + 1) * (size_t)row + column] : (double)NAN;
        }
    }
    return true;
}

static bool read_parameters(Execution* e)
{
    const ItmStudy* s = e->study;
    e->parameters = calloc((size_t)s->parameters.count + 1, sizeof *e->parameters);
    for (int i = 0; i < s->parameters.count && e->parameters != NULL; i++) {
        e->parameters[i] = NAN;
        for (int k = 0; k < e->file->nparameter; k++) {
            if (strcmp(e->file->parameters[k].name, s->parameters.items[i]) == 0) {
                e->parameters[i] = e->file->parameters[k].value;
            }
        }
    }
    return e->parameters != NULL;
}

static const ItmSamples* find_reference(const Execution* e)
{
    const ItmStudy* s = e->study;
    if (e->id >= s->nrun || s->references == NULL) {
        return NULL;
    }
    const ItmSamples* samples = &s->references[s->nreference > 0 ? s->reference_ids[e->id] : 0];
    return samples->nrow > 0 ? samples : NULL;
}

static bool compute_responses(Execution* e)
{
    bool has_memory = true;
    const ItmStudy* s = e->study;
    const ItmSamples* reference = find_reference(e);
    for (int i = 0; i < s->responses.count; i++) {
        const ItmStudyResponse* response = &s->responses.items[i];
        bool is_difference =
            response->statistic == ITM_STATISTIC_RMS_DIFFERENCE || response->statistic == ITM_STATISTIC_MAX_DIFFERENCE;
        // a run that did not come to its end has no error to compare: the shorter it was, the smaller
        bool has_value = !is_difference || itm_study_is_finished(e->outcome);
        e->outcome->responses[i] = NAN;
        has_memory = (!has_value || itm_response_compute(&e->outcome->responses[i], s, response, &e->samples,
                                                         e->parameters, reference)) &&
                     has_memory;
    }
    return has_memory;
}

// Signals at npoint evenly spaced times, straight lines between the rows.
static void compute_traces(Execution* e)
{
    const ItmStudy* s = e->study;
    size_t width = (size_t)s->signals.count + 1;
    long row = 0;
    for (int k = 0; k < s->npoint; k++) {
        double t = s->npoint > 1 ? s->duration * k / (s->npoint - 1) : s->duration;
        double slack = 1e-9 * s->duration;
        while (row + 2 < e->samples.nrow && e->samples.values[width * (size_t)(row + 1)] <= t) {
            row++;
        }
        bool has_next = row + 1 < e->samples.nrow;
        const double *a = e->samples.values + width * (size_t)row, *b = has_next ? a + width : a;
        double share = has_next ? (t - a[0]) / (b[0] - a[0]) : 0.0;
        for (int i = 0; i < s->ntrace; i++) {
            double from = a[1 + s->traces[i]], to = b[1 + s->traces[i]];
            e->outcome->traces[(size_t)i * (size_t)s->npoint + (size_t)k] =
                e->samples.nrow > 0 && t <= b[0] + slack ? from + fmin(fmax(share, 0.0), 1.0) * (to - from)
                                                         : (double)NAN;
        }
    }
}

static bool write_samples(Execution* e)
{
    ItmText text = {0};
    size_t count = ((size_t)e->study->signals.count + 1) * (size_t)e->samples.nrow;
    itm_text_add(&text, "[");
    for (size_t i = 0; i < count; i++) {
        itm_text_add(&text, i > 0 ? "," : "");
        itm_text_add_number(&text, e->samples.values[i], 17);
    }
    itm_text_add(&text, "]");
    e->outcome->samples = text.chars;
    return !text.has_failed;
}

// ---------------------------------------------------------------------------- run

static ItmStudyVerdict judge(ItmVerdict verdict)
{
    switch (verdict) {
    case ITM_VERDICT_FINISHED:
        return ITM_STUDY_FINISHED;
    case ITM_VERDICT_DOUBTFUL:
        return ITM_STUDY_DOUBTFUL;
    case ITM_VERDICT_BROKE_DOWN:
        return ITM_STUDY_BROKE_DOWN;
    default:
        return ITM_STUDY_INTERRUPTED;
    }
}

static void finish(Execution* e, ItmStatus status)
{
    ItmStudyRun* r = e->outcome;
    bool has_all = copy_samples(e) && read_parameters(e);
    for (int i = 0; i < e->settings.count && itm_run_get_results(e->run) != NULL; i++) {
        // without memory a comparison names the run by its file
        itm_results_add_setting(itm_run_get_results(e->run), e->settings.items[i], NULL);
    }
    ItmStatus closed = itm_run_close(e->run);
    if (status != ITM_OK || closed != ITM_OK) {
        note_error(e, itm_run_get_error(e->run));
        return;
    }
    r->verdict = judge(itm_run_get_info(e->run).verdict);
    snprintf(r->message, sizeof r->message, "%.*s", (int)sizeof r->message - 1, itm_run_get_reason(e->run));
    size_t width = (size_t)e->study->signals.count + 1;
    if (has_all && e->samples.nrow > 0) {
        r->end_time = e->samples.values[width * (size_t)(e->samples.nrow - 1)];
        has_all = compute_responses(e);
        if (e->study->ntrace > 0 && e->id < e->study->nrun) {
            compute_traces(e);
        }
        has_all = has_all && (e->id < e->study->nrun || write_samples(e));
    }
    if (!has_all) {
        r->verdict = ITM_STUDY_FAILED;
        snprintf(r->message, sizeof r->message, "out of memory");
    }
}

void itm_study_execute(ItmStudy* s, int id, const char* keep, bool is_probe, bool (*is_stopped)(void))
{
    Execution e = {.study = s, .id = id, .outcome = &s->runs[id]};
    if (begin(&e, keep, is_probe)) {
        ItmStatus status = ITM_OK;
        while (status == ITM_OK && itm_run_get_info(e.run).verdict == ITM_VERDICT_RUNNING) {
            if (is_stopped()) {
                itm_run_stop(e.run, "the study");
            } else {
                status = itm_run_advance(e.run, LOOK_PERIOD);
            }
        }
        finish(&e, status);
    }
    itm_run_destroy(e.run);
    itm_cosim_destroy(e.cosim);
    itm_file_destroy(e.file);
    free(e.samples.values);
    free(e.parameters);
    free(e.settings.items);
    itm_owned_free(&e.owned);
}
