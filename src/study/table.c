// Tables of a study as CSV.
#include "study/study.h"

#include "base/error.h"
#include "base/guard.h"
#include "io/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ItmStudyTableOptions itm_default_study_table_options(void)
{
    return (ItmStudyTableOptions){.has_numbers = true, .digits = 17};
}

// ---------------------------------------------------------------------------- cells

static void add_text(ItmText* text, const char* cell)
{
    if (strpbrk(cell, ",\"\r\n") == NULL) {
        itm_text_add(text, cell);
        return;
    }
    itm_text_add(text, "\"");
    for (; *cell != '\0'; cell++) {
        itm_text_add(text, *cell == '"' ? "\"" : "");
        itm_text_add_bytes(text, cell, 1);
    }
    itm_text_add(text, "\"");
}

static void add_number(ItmText* text, double value, int digits)
{
    itm_text_add(text, ",");
    if (isfinite(value)) {
        itm_text_add_number(text, value, digits);
    }
}

// In SI units where it is a quantity, otherwise as it is written in the model.
static void add_factor(ItmText* text, const ItmStudyFactor* factor, double value)
{
    bool is_choice = factor->distribution == ITM_DISTRIBUTION_CHOICE;
    double number = is_choice ? factor->numbers[(int)value] : value;
    if (isnan(number)) {
        add_text(text, factor->texts[(int)value]);
    } else {
        itm_text_add_number(text, number, 12);
    }
}

// The table is replaced only once the new one is complete.
static ItmStatus write_file(ItmText* text, const char* path, ItmError* error)
{
    ItmStatus status = itm_text_write(text, path, error);
    itm_text_free(text);
    return status;
}

// ---------------------------------------------------------------------------- table

static void add_head(ItmText* text, const ItmStudy* s, const ItmStudyTableOptions* options)
{
    itm_text_add(text, options->has_numbers ? "run," : "");
    for (int i = 0; i < s->factors.count; i++) {
        add_text(text, s->factors.items[i].name);
        itm_text_add(text, ",");
    }
    itm_text_add(text, "verdict,end_time");
    for (int i = 0; i < s->responses.count; i++) {
        itm_text_add(text, ",");
        add_text(text, s->responses.items[i].name);
    }
    itm_text_add(text, options->has_costs ? ",wall_time,cpu_time,real_time_factor" : "");
    itm_text_add(text, ",message\n");
}

static void add_row(ItmText* text, const ItmStudy* s, int run, const ItmStudyTableOptions* options)
{
    const ItmStudyRun* r = &s->runs[run];
    if (options->has_numbers) {
        itm_text_format(text, "%d,", run + 1);
    }
    for (int i = 0; i < s->factors.count; i++) {
        add_factor(text, &s->factors.items[i], s->points[(size_t)run * (size_t)s->factors.count + (size_t)i]);
        itm_text_add(text, ",");
    }
    itm_text_add(text, itm_study_verdict_name(r->verdict));
    add_number(text, r->end_time, 12);
    for (int i = 0; i < s->responses.count; i++) {
        add_number(text, r->responses[i], options->digits);
    }
    if (options->has_costs) {
        bool has_time = r->wall_time > 0.0 && !isnan(r->end_time);
        add_number(text, r->wall_time, 6);
        add_number(text, r->cpu_time, 6);
        add_number(text, has_time ? r->end_time / r->wall_time : (double)NAN, 6);
    }
    itm_text_add(text, ",");
    add_text(text, r->message);
    itm_text_add(text, "\n");
}

ItmStatus itm_study_write_csv(const ItmStudy* s, const char* path, const ItmStudyTableOptions* options, ItmError* error)
{
    ITM_GUARD(s != NULL && path != NULL && s->is_prepared, ITM_ERR_ARGUMENT);
    ItmStudyTableOptions chosen = options != NULL ? *options : itm_default_study_table_options();
    ITM_GUARD(chosen.digits >= 1 && chosen.digits <= 17, ITM_ERR_ARGUMENT);
    ItmText text = {0};
    add_head(&text, s, &chosen);
    for (int run = 0; run < s->nrun; run++) {
        if (s->runs[run].verdict != ITM_STUDY_WAITING) {
            add_row(&text, s, run, &chosen);
        }
    }
    return write_file(&text, path, error);
}

ItmStatus itm_study_write_costs(const ItmStudy* s, const char* path, ItmError* error)
{
    ITM_GUARD(s != NULL && path != NULL && s->is_prepared, ITM_ERR_ARGUMENT);
    ItmText text = {0};
    itm_text_add(&text, "run,attempts,host,wall_time,cpu_time\n");
    for (int run = 0; run < s->nrun + s->nreference; run++) {
        const ItmStudyRun* r = &s->runs[run];
        if (r->verdict == ITM_STUDY_WAITING) {
            continue;
        }
        if (run < s->nrun) {
            itm_text_format(&text, "%d,%d,", run + 1, r->nattempt);
        } else {
            itm_text_format(&text, "reference %d,%d,", run - s->nrun + 1, r->nattempt);
        }
        add_text(&text, r->host);
        add_number(&text, r->wall_time, 6);
        add_number(&text, r->cpu_time, 6);
        itm_text_add(&text, "\n");
    }
    return write_file(&text, path, error);
}

// ---------------------------------------------------------------------------- effects

ItmStatus itm_study_write_effects(const ItmStudy* s, const char* path, ItmError* error)
{
    ITM_GUARD(s != NULL && path != NULL && s->is_prepared, ITM_ERR_ARGUMENT);
    ItmText text = {0};
    itm_text_add(&text, "response,factor,measure,value,low,high\n");
    for (int i = 0; i < s->responses.count; i++) {
        for (int k = 0; k < s->factors.count; k++) {
            for (int m = 0; m < ITM_STUDY_MEASURE_COUNT; m++) {
                ItmStudyEffect effect = itm_study_compute_effect(s, (ItmStudyMeasure)m, i, k);
                if (isnan(effect.value)) {
                    continue;
                }
                add_text(&text, s->responses.items[i].name);
                itm_text_add(&text, ",");
                add_text(&text, s->factors.items[k].name);
                itm_text_add(&text, ",");
                itm_text_add(&text, itm_study_measure_name((ItmStudyMeasure)m));
                add_number(&text, effect.value, 6);
                add_number(&text, effect.low, 6);
                add_number(&text, effect.high, 6);
                itm_text_add(&text, "\n");
            }
        }
    }
    return write_file(&text, path, error);
}
