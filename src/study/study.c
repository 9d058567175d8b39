#include "study/study.h"

#include "base/error.h"
#include "base/guard.h"
#include "base/list.h"
#include "interim/signal.h"
#include "io/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char* itm_study_verdict_name(ItmStudyVerdict verdict)
{
    static const char* const NAMES[ITM_STUDY_VERDICT_COUNT] = {[ITM_STUDY_WAITING] = "waiting",
                                                               [ITM_STUDY_FINISHED] = "finished",
                                                               [ITM_STUDY_DOUBTFUL] = "finished-with-doubts",
                                                               [ITM_STUDY_BROKE_DOWN] = "broke-down",
                                                               [ITM_STUDY_TIMED_OUT] = "timed-out",
                                                               [ITM_STUDY_INTERRUPTED] = "interrupted",
                                                               [ITM_STUDY_CRASHED] = "crashed",
                                                               [ITM_STUDY_FAILED] = "failed"};
    return verdict >= 0 && verdict < ITM_STUDY_VERDICT_COUNT ? NAMES[verdict] : NULL;
}

bool itm_study_is_finished(const ItmStudyRun* run)
{
    return run->verdict == ITM_STUDY_FINISHED || run->verdict == ITM_STUDY_DOUBTFUL;
}

bool itm_study_is_done(const ItmStudyRun* run)
{
    return run->verdict != ITM_STUDY_WAITING && run->verdict != ITM_STUDY_INTERRUPTED &&
           run->verdict != ITM_STUDY_CRASHED && run->verdict != ITM_STUDY_FAILED;
}

// ---------------------------------------------------------------------------- texts

ItmStatus itm_study_fail_memory(ItmError* error)
{
    return itm_error_set(error, ITM_ERR_MEMORY, "itm_study", NULL, "out of memory");
}

char* itm_study_copy_text(ItmStudy* s, const char* text, size_t length)
{
    char* copy = itm_owned_take(&s->owned, length + 1, 1);
    return copy != NULL ? memcpy(copy, text, length) : NULL;
}

bool itm_study_add_text(ItmStudy* s, ItmStudyTexts* texts, const char* text, size_t length)
{
    char* copy = itm_study_copy_text(s, text, length);
    return copy != NULL && ITM_LIST_APPEND(*texts, copy);
}

int itm_study_find_text(const ItmStudyTexts* texts, const char* text, size_t length)
{
    for (int i = 0; i < texts->count; i++) {
        if (strlen(texts->items[i]) == length && memcmp(texts->items[i], text, length) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}

// ---------------------------------------------------------------------------- definition

ItmStatus itm_study_create(ItmStudy** study, const char* model, const char* root, const char* const* overrides,
                           int noverride, ItmError* error)
{
    ITM_GUARD(study != NULL && model != NULL && (overrides != NULL || noverride <= 0), ITM_ERR_ARGUMENT);
    ItmStudy* s = calloc(1, sizeof *s);
    *study = NULL;
    if (s == NULL) {
        return itm_study_fail_memory(error);
    }
    s->journal = -1;
    s->timeout = INFINITY;
    s->npoint = 200;
    s->design = (ItmStudyDesign){.type = ITM_DESIGN_GRID, .nsample = 1, .nlevel = 3, .seed = 1};
    s->text = s->title = "";
    s->version = itm_version();
    s->model = itm_owned_copy_string(&s->owned, model);
    s->root = root != NULL ? itm_owned_copy_string(&s->owned, root) : NULL;
    bool has_all = s->model != NULL && (root == NULL || s->root != NULL);
    for (int i = 0; i < noverride && has_all; i++) {
        has_all = itm_study_add_text(s, &s->settings, overrides[i], strlen(overrides[i]));
        s->noverride++;
    }
    if (!has_all) {
        itm_study_destroy(s);
        return itm_study_fail_memory(error);
    }
    *study = s;
    return ITM_OK;
}

static ItmStatus check_open(const ItmStudy* s, ItmError* error)
{
    return !s->is_prepared ? ITM_OK
                           : itm_error_set(error, ITM_ERR_ARGUMENT, "itm_study", NULL,
                                           "the study is prepared; its definition cannot change");
}

ItmStatus itm_study_add_axis(ItmStudy* s, const char* text, ItmError* error)
{
    ITM_GUARD(s != NULL && text != NULL, ITM_ERR_ARGUMENT);
    size_t length = strcspn(text, "=");
    if (check_open(s, error) != ITM_OK) {
        return ITM_ERR_ARGUMENT;
    }
    if (length == 0 || text[length] == '\0') {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, NULL, "--over requires KEY=VALUE,VALUE,..., got '%s'",
                             text);
    }
    for (int i = 0; i < s->factors.count; i++) {
        if (strlen(s->factors.items[i].key) == length && memcmp(s->factors.items[i].key, text, length) == 0) {
            return itm_error_set(error, ITM_ERR_INPUT, __func__, NULL,
                                 "only one --over per key is allowed, but there are two for '%.*s'", (int)length, text);
        }
    }
    ItmStudyFactor factor = {.key = itm_study_copy_text(s, text, length), .nominal = NAN};
    factor.name = factor.key;
    if (factor.key == NULL) {
        return itm_study_fail_memory(error);
    }
    ItmStatus status = itm_values_read(s, &factor, text + length + 1, error);
    bool is_added =
        status == ITM_OK && ITM_LIST_APPEND(s->factors, factor) && itm_study_add_text(s, &s->axes, text, strlen(text));
    return status == ITM_OK && !is_added ? itm_study_fail_memory(error) : status;
}

ItmStatus itm_study_add_signals(ItmStudy* s, const char* pattern, ItmError* error)
{
    ITM_GUARD(s != NULL && pattern != NULL && check_open(s, error) == ITM_OK, ITM_ERR_ARGUMENT);
    return itm_study_add_text(s, &s->patterns, pattern, strlen(pattern)) ? ITM_OK : itm_study_fail_memory(error);
}

ItmStatus itm_study_add_reference(ItmStudy* s, const char* setting, ItmError* error)
{
    ITM_GUARD(s != NULL && setting != NULL && check_open(s, error) == ITM_OK, ITM_ERR_ARGUMENT);
    return itm_study_add_text(s, &s->reference, setting, strlen(setting)) ? ITM_OK : itm_study_fail_memory(error);
}

ItmStatus itm_study_set_reference_file(ItmStudy* s, const char* path, ItmError* error)
{
    ITM_GUARD(s != NULL && path != NULL && check_open(s, error) == ITM_OK, ITM_ERR_ARGUMENT);
    s->reference_file = itm_owned_copy_string(&s->owned, path);
    return s->reference_file != NULL ? ITM_OK : itm_study_fail_memory(error);
}

void itm_study_destroy(ItmStudy* s)
{
    ITM_GUARD_VOID(s != NULL);
    for (int i = 0; i < s->responses.count; i++) {
        itm_program_free(&s->responses.items[i].program);
    }
    for (int i = 0; s->runs != NULL && i < s->nrun + s->nreference; i++) {
        free(s->runs[i].samples);
    }
    for (int i = 0; s->references != NULL && i < (s->nreference > 0 ? s->nreference : 1); i++) {
        free(s->references[i].values);
    }
    ItmStudyTexts* texts[] = {&s->settings,       &s->reference, &s->axes,         &s->patterns,
                              &s->trace_patterns, &s->signals,   &s->signal_units, &s->parameters};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        free(texts[i]->items);
    }
    if (s->journal >= 0) {
        close(s->journal);
    }
    free(s->references);
    free(s->factors.items);
    free(s->responses.items);
    itm_document_free(&s->document);
    itm_owned_free(&s->owned);
    free(s);
}

// ---------------------------------------------------------------------------- values

void itm_study_format_value(const ItmStudyFactor* factor, double value, char* text, size_t size)
{
    if (factor->distribution == ITM_DISTRIBUTION_CHOICE) {
        snprintf(text, size, "%s", factor->texts[(int)value]);
        return;
    }
    ItmText number = {0};
    itm_text_add_number(&number, value, 12);
    snprintf(text, size, "%s%s%s", number.chars != NULL ? number.chars : "", factor->unit[0] != '\0' ? " " : "",
             strcmp(factor->unit, "1") == 0 ? "rad" : factor->unit);
    itm_text_free(&number);
}

// Put `to` in the place of the first `from` in a text of this size; the end that has no room is cut off.
static void replace(char* text, size_t size, const char* from, const char* to)
{
    char* at = strstr(text, from);
    ItmText whole = {0};
    if (at != NULL) {
        itm_text_add_bytes(&whole, text, (size_t)(at - text));
        itm_text_add(&whole, to);
        itm_text_add(&whole, at + strlen(from));
        snprintf(text, size, "%s", whole.has_failed ? text : whole.chars);
    }
    itm_text_free(&whole);
}

void itm_study_name_origin(const ItmStudy* s, ItmError* error)
{
    for (int i = 0; i < s->factors.count; i++) {
        const ItmStudyFactor* factor = &s->factors.items[i];
        char setting[256], origin[400];
        snprintf(setting, sizeof setting, "--set %.240s=", factor->key);
        if (s->axes.count > 0) {
            snprintf(origin, sizeof origin, "--over %.240s=", factor->key);
        } else {
            snprintf(origin, sizeof origin, "factor %.120s, %.240s=", factor->name, factor->key);
        }
        replace(error->file, sizeof error->file, setting, origin);
        replace(error->message, sizeof error->message, setting, origin);
    }
}

bool itm_study_is_referred(const ItmStudy* s, const ItmStudyFactor* factor)
{
    for (int i = 0; i < s->reference.count; i++) {
        const char* setting = s->reference.items[i];
        size_t length = strcspn(setting, "=");
        if (strncmp(setting, factor->key, length) == 0 && (factor->key[length] == '\0' || factor->key[length] == '.')) {
            return true;
        }
    }
    return false;
}

static bool add_setting(ItmOwned* owned, ItmStudyTexts* texts, const char* key, const char* value)
{
    size_t size = strlen(key) + strlen(value) + 2;
    char* text = itm_owned_take(owned, size, 1);
    if (text == NULL) {
        return false;
    }
    snprintf(text, size, "%s%s%s", key, value[0] != '\0' ? "=" : "", value);
    return ITM_LIST_APPEND(*texts, text);
}

ItmStatus itm_study_collect_settings(const ItmStudy* s, int run, ItmOwned* owned, ItmStudyTexts* texts)
{
    bool is_reference = run >= s->nrun, has_all = true;
    int point = is_reference ? s->reference_runs[run - s->nrun] : run;
    for (int i = 0; i < s->settings.count && has_all; i++) {
        has_all = add_setting(owned, texts, s->settings.items[i], "");
    }
    for (int i = 0; i < s->factors.count && has_all; i++) {
        const ItmStudyFactor* factor = &s->factors.items[i];
        char value[512];
        itm_study_format_value(factor, s->points[(size_t)point * (size_t)s->factors.count + (size_t)i], value,
                               sizeof value);
        has_all = (is_reference && itm_study_is_referred(s, factor)) || add_setting(owned, texts, factor->key, value);
    }
    for (int i = 0; i < s->reference.count && has_all && is_reference; i++) {
        has_all = add_setting(owned, texts, s->reference.items[i], "");
    }
    return has_all ? ITM_OK : ITM_ERR_MEMORY;
}

// ---------------------------------------------------------------------------- reading

ItmStudyInfo itm_study_get_info(const ItmStudy* s)
{
    ITM_GUARD(s != NULL, (ItmStudyInfo){0});
    return (ItmStudyInfo){.title = s->title,
                          .model = s->model,
                          .path = s->path,
                          .version = s->version,
                          .nfactor = s->factors.count,
                          .nresponse = s->responses.count,
                          .nrun = s->nrun,
                          .nreference = s->nreference,
                          .njob = s->njob,
                          .timeout = s->timeout,
                          .nsignal = s->npattern_signal,
                          .has_reference = s->reference.count > 0 || s->reference_file != NULL};
}

const char* itm_study_get_factor_name(const ItmStudy* s, int factor)
{
    ITM_GUARD(s != NULL && ITM_IS_INDEX(factor, s->factors.count), NULL);
    return s->factors.items[factor].name;
}

// "" for a quantity without unit.
static const char* hide_one(const char* unit)
{
    return strcmp(unit, "1") == 0 || strcmp(unit, "no unit") == 0 ? "" : unit;
}

const char* itm_study_get_factor_unit(ItmStudy* s, int factor)
{
    ITM_GUARD(s != NULL && ITM_IS_INDEX(factor, s->factors.count), NULL);
    const ItmStudyFactor* f = &s->factors.items[factor];
    char unit[48] = "";
    double value;
    bool is_choice = f->unit[0] == '\0' && f->nvalue > 0 && f->texts != NULL && !isnan(f->numbers[0]);
    if (is_choice && itm_expression_evaluate(f->texts[0], &value, unit, sizeof unit, NULL) == ITM_OK) {
        const char* copy = itm_study_copy_text(s, hide_one(unit), strlen(hide_one(unit)));
        return copy != NULL ? copy : "";
    }
    return hide_one(f->unit);
}

const char* itm_study_get_factor_value(ItmStudy* s, int run, int factor)
{
    ITM_GUARD(s != NULL && ITM_IS_INDEX(run, s->nrun) && ITM_IS_INDEX(factor, s->factors.count), NULL);
    itm_study_format_value(&s->factors.items[factor],
                           s->points[(size_t)run * (size_t)s->factors.count + (size_t)factor], s->answer,
                           sizeof s->answer);
    return s->answer;
}

const char* itm_study_get_response_name(const ItmStudy* s, int response)
{
    ITM_GUARD(s != NULL && ITM_IS_INDEX(response, s->responses.count), NULL);
    return s->responses.items[response].name;
}

const char* itm_study_get_response_unit(const ItmStudy* s, int response)
{
    ITM_GUARD(s != NULL && ITM_IS_INDEX(response, s->responses.count), NULL);
    return hide_one(s->responses.items[response].unit);
}

const ItmStudyRun* itm_study_get_run(const ItmStudy* s, int run)
{
    ITM_GUARD(s != NULL && ITM_IS_INDEX(run, s->nrun + s->nreference), NULL);
    return &s->runs[run];
}

int itm_study_get_reference(const ItmStudy* s, int run)
{
    ITM_GUARD(s != NULL && ITM_IS_INDEX(run, s->nrun), ITM_NONE);
    return s->nreference > 0 ? s->nrun + s->reference_ids[run] : ITM_NONE;
}

const char* itm_study_get_setting(ItmStudy* s, int run, int setting)
{
    ITM_GUARD(s != NULL && ITM_IS_INDEX(run, s->nrun + s->nreference) && setting >= 0, NULL);
    ItmOwned owned = {0};
    ItmStudyTexts texts = {0};
    bool has_setting = itm_study_collect_settings(s, run, &owned, &texts) == ITM_OK && setting < texts.count;
    if (has_setting) {
        snprintf(s->answer, sizeof s->answer, "%s", texts.items[setting]);
    }
    free(texts.items);
    itm_owned_free(&owned);
    return has_setting ? s->answer : NULL;
}

const char* itm_study_get_signature(const ItmStudy* s)
{
    ITM_GUARD(s != NULL, NULL);
    return s->signature;
}

void itm_study_set_attempts(ItmStudy* s, int run, int nattempt)
{
    ITM_GUARD_VOID(s != NULL && ITM_IS_INDEX(run, s->nrun + s->nreference) && nattempt >= 0);
    s->runs[run].nattempt = nattempt;
}
