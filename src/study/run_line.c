// The outcome of a run as one line of JSON: from a child process, between machines, in the journal.
#include "study/study.h"

#include "base/error.h"
#include "base/guard.h"
#include "io/json.h"
#include "io/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- writing

static void add_numbers(ItmText* text, const char* key, const double* values, size_t count)
{
    itm_text_format(text, ",\"%s\":[", key);
    for (size_t i = 0; i < count; i++) {
        itm_text_add(text, i > 0 ? "," : "");
        itm_text_add_number(text, values[i], 17);
    }
    itm_text_add(text, "]");
}

static void add_number(ItmText* text, const char* key, double value)
{
    itm_text_format(text, ",\"%s\":", key);
    itm_text_add_number(text, value, 17);
}

static void add_string(ItmText* text, const char* key, const char* value)
{
    itm_text_format(text, ",\"%s\":", key);
    itm_text_add_json(text, value);
}

char* itm_study_write_run(const ItmStudy* s, int run)
{
    ITM_GUARD(s != NULL && ITM_IS_INDEX(run, s->nrun + s->nreference), NULL);
    const ItmStudyRun* r = &s->runs[run];
    ItmText text = {0};
    itm_text_format(&text, "{\"run\":%d", run + 1);
    add_string(&text, "verdict", itm_study_verdict_name(r->verdict));
    add_number(&text, "end_time", r->end_time);
    add_numbers(&text, "responses", r->responses, (size_t)s->responses.count);
    add_string(&text, "message", r->message);
    add_number(&text, "cpu_time", r->cpu_time);
    add_number(&text, "wall_time", r->wall_time);
    add_string(&text, "host", r->host);
    itm_text_format(&text, ",\"attempt\":%d", r->nattempt);
    if (s->ntrace > 0 && run < s->nrun) {
        add_numbers(&text, "traces", r->traces, (size_t)s->ntrace * (size_t)s->npoint);
    }
    if (r->samples != NULL) {
        itm_text_add(&text, ",\"samples\":");
        itm_text_add(&text, r->samples);
    }
    itm_text_add(&text, "}");
    if (text.has_failed) {
        itm_text_free(&text);
        return NULL;
    }
    return text.chars;
}

// ---------------------------------------------------------------------------- reading

static double read_number(const ItmNode* node)
{
    // JSON has a decimal point in any locale, and so have the programs that read it: none sets another
    char* end = NULL;
    double value = node != NULL && node->kind == ITM_NODE_SCALAR && node->length > 0 ? strtod(node->text, &end) : NAN;
    return end != NULL && *end == '\0' ? value : (double)NAN;
}

static bool read_numbers(double* values, size_t count, const ItmNode* list)
{
    size_t i = 0;
    if (list == NULL || list->kind != ITM_NODE_LIST || (size_t)list->count != count) {
        return false;
    }
    for (const ItmItem* item = list->first; item != NULL; item = item->next) {
        values[i++] = read_number(item->value);
    }
    return true;
}

static int find_verdict(const char* name)
{
    for (int i = 0; i < ITM_STUDY_VERDICT_COUNT; i++) {
        if (strcmp(name, itm_study_verdict_name((ItmStudyVerdict)i)) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}

static ItmStatus fail(ItmError* error, const char* why)
{
    return itm_error_set(error, ITM_ERR_INPUT, "itm_study_read_run", NULL, "a line of the journal is damaged: %s", why);
}

ItmStatus itm_run_line_read_samples(const ItmStudy* s, ItmSamples* samples, const char* text, ItmError* error)
{
    ItmDocument doc = {0};
    ItmNode* root = NULL;
    ItmStatus status = itm_json_parse(&root, &doc, text, strlen(text), error);
    size_t width = (size_t)s->signals.count + 1;
    if (status == ITM_OK && (root->kind != ITM_NODE_LIST || (size_t)root->count % width != 0)) {
        status = fail(error, "samples");
    }
    double* values = status == ITM_OK ? malloc(sizeof *values * ((size_t)root->count + 1)) : NULL;
    if (status == ITM_OK && values == NULL) {
        status = itm_study_fail_memory(error);
    } else if (status == ITM_OK) {
        (void)read_numbers(values, (size_t)root->count, root);
        free(samples->values);
        *samples = (ItmSamples){.values = values, .nrow = (long)((size_t)root->count / width)};
    }
    itm_document_free(&doc);
    return status;
}

static ItmStatus take(ItmStudy* s, const ItmNode* root, int id, ItmError* error)
{
    ItmStudyRun* r = &s->runs[id];
    int verdict = find_verdict(itm_json_get_text(root, "verdict"));
    if (verdict == ITM_NONE) {
        return fail(error, "verdict");
    }
    if (!read_numbers(r->responses, (size_t)s->responses.count, itm_json_find(root, "responses"))) {
        return fail(error, "responses");
    }
    if (s->ntrace > 0 && id < s->nrun &&
        !read_numbers(r->traces, (size_t)s->ntrace * (size_t)s->npoint, itm_json_find(root, "traces"))) {
        return fail(error, "traces");
    }
    const ItmNode* samples = itm_json_find(root, "samples");
    if (samples != NULL && id >= s->nrun) {
        char* copy = strndup(samples->text, samples->length);
        ItmStatus status = copy != NULL ? itm_run_line_read_samples(s, &s->references[id - s->nrun], copy, error)
                                        : itm_study_fail_memory(error);
        free(r->samples);
        r->samples = copy;
        if (status != ITM_OK) {
            return status;
        }
    }
    r->verdict = (ItmStudyVerdict)verdict;
    r->end_time = read_number(itm_json_find(root, "end_time"));
    r->cpu_time = read_number(itm_json_find(root, "cpu_time"));
    r->wall_time = read_number(itm_json_find(root, "wall_time"));
    double nattempt = read_number(itm_json_find(root, "attempt"));
    r->nattempt = nattempt >= 1.0 && nattempt < 1e6 ? (int)nattempt : r->nattempt;
    snprintf(r->message, sizeof r->message, "%s", itm_json_get_text(root, "message"));
    snprintf(r->host, sizeof r->host, "%s", itm_json_get_text(root, "host"));
    return ITM_OK;
}

ItmStatus itm_study_read_run(ItmStudy* s, const char* line, int* run, ItmError* error)
{
    ITM_GUARD(s != NULL && line != NULL && s->is_prepared, ITM_ERR_ARGUMENT);
    ItmDocument doc = {0};
    ItmNode* root = NULL;
    ItmStatus status = itm_json_parse_shown(&root, &doc, line, strlen(line), error);
    double number = status == ITM_OK ? read_number(itm_json_find(root, "run")) : (double)NAN;
    if (status == ITM_OK && !(number >= 1.0 && number <= s->nrun + s->nreference)) {
        status = fail(error, "number of the run");
    }
    if (status == ITM_OK) {
        int id = (int)number - 1;
        status = take(s, root, id, error);
        if (run != NULL) {
            *run = id;
        }
    }
    itm_document_free(&doc);
    return status;
}
