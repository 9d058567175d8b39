// The table of a sweep on the terminal.
#include "study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A table is a walk over its cells: the same one measures and prints, so that heads and cells agree.
typedef struct Sink Sink;
struct Sink {
    const AppStudy* study;
    void (*cell)(Sink* sink, const char* name, const char* text);
    int column;   // of the next cell
    int* widths;  // of each column  (ncolumn)
    int ncolumn;
    bool is_head;  // the names, not the values, are wanted
};

static void emit_number(Sink* sink, const char* name, const char* format, double value)
{
    char text[40] = "";
    if (!isnan(value)) {
        snprintf(text, sizeof text, format, value);
    }
    sink->cell(sink, name, text);
}

static bool ends_with(const char* text, const char* tail)
{
    size_t length = strlen(text), tail_length = strlen(tail);
    return length >= tail_length && strcmp(text + length - tail_length, tail) == 0;
}

// The part of a key that distinguishes it from the others: "run.step" is "step" unless another ends so.
static const char* short_key(const AppStudy* s, int factor)
{
    const char* key = itm_study_get_factor_name(s->study, factor);
    for (const char* dot = key + strlen(key); dot > key; dot--) {
        bool is_unique = *dot == '.';
        for (int i = 0; i < s->info.nfactor && is_unique; i++) {
            is_unique = i == factor || !ends_with(itm_study_get_factor_name(s->study, i), dot);
        }
        if (is_unique) {
            return dot + 1;
        }
    }
    return key;
}

// Responses are called SIGNAL.STATISTIC.
static const char* get_statistic(const AppStudy* s, int response)
{
    return strrchr(itm_study_get_response_name(s->study, response), '.') + 1;
}

static void emit_row(Sink* sink, int run)
{
    const AppStudy* s = sink->study;
    const ItmStudyRun* r = itm_study_get_run(s->study, run);
    bool has_time = r->wall_time > 0.0 && !isnan(r->end_time);
    sink->column = 0;
    for (int i = 0; i < s->info.nfactor; i++) {
        sink->cell(sink, short_key(s, i), itm_study_get_factor_value(s->study, run, i));
    }
    sink->cell(sink, "verdict", itm_study_verdict_name(r->verdict));
    emit_number(sink, "end_time", "%.5g", r->end_time);
    for (int i = 0; i < s->info.nresponse; i++) {
        emit_number(sink, get_statistic(s, i), "%.4g", r->responses[i]);
    }
    emit_number(sink, "cpu_time", "%.3g", r->cpu_time);
    emit_number(sink, "real_time_factor", "%.3g", has_time ? r->end_time / r->wall_time : (double)NAN);
}

static void measure_cell(Sink* sink, const char* name, const char* text)
{
    int width = (int)(strlen(text) > strlen(name) ? strlen(text) : strlen(name));
    int* column = &sink->widths[sink->column++];
    *column = width > *column ? width : *column;
}

static void print_cell(Sink* sink, const char* name, const char* text)
{
    bool is_last = sink->column + 1 == sink->ncolumn;
    printf("%s%-*s%s", sink->column > 0 ? "  " : "", is_last ? 0 : sink->widths[sink->column],
           sink->is_head     ? name
           : text[0] != '\0' ? text
                             : "-",
           is_last ? "\n" : "");
    sink->column++;
}

// Length of the signal's name in front of a response's statistic.
static int measure_signal(const AppStudy* s, int response)
{
    return (int)(get_statistic(s, response) - itm_study_get_response_name(s->study, response)) - 1;
}

// Responses from `first` on that belong to one signal.
static int count_group(const AppStudy* s, int first)
{
    int length = measure_signal(s, first), n = 1;
    const char* name = itm_study_get_response_name(s->study, first);
    while (first + n < s->info.nresponse && measure_signal(s, first + n) == length &&
           strncmp(itm_study_get_response_name(s->study, first + n), name, (size_t)length) == 0) {
        n++;
    }
    return n;
}

// A signal's name stands once, above its columns: make the last of them so wide that it fits.
static void widen_groups(Sink* sink)
{
    const AppStudy* s = sink->study;
    int column = s->info.nfactor + 2;
    for (int i = 0, n; i < s->info.nresponse; i += n) {
        n = count_group(s, i);
        int width = -2;
        for (int k = 0; k < n; k++) {
            width += sink->widths[column++] + 2;
        }
        int missing = measure_signal(s, i) - width;
        sink->widths[column - 1] += missing > 0 ? missing : 0;
    }
}

static void print_groups(const Sink* sink)
{
    const AppStudy* s = sink->study;
    int column = s->info.nfactor + 2, wanted = 0, at = 0;
    for (int i = 0; i < column; i++) {
        wanted += sink->widths[i] + 2;
    }
    for (int i = 0, n; i < s->info.nresponse; i += n) {
        n = count_group(s, i);
        at += printf("%*s%.*s", wanted - at, "", measure_signal(s, i), itm_study_get_response_name(s->study, i));
        for (int k = 0; k < n; k++) {
            wanted += sink->widths[column++] + 2;
        }
    }
    printf(s->info.nresponse > 0 ? "\n" : "");
}

void app_sweep_table_print(const AppStudy* s)
{
    int ncolumn = s->info.nfactor + 4 + s->info.nresponse;
    Sink sink = {
        .study = s, .cell = measure_cell, .widths = calloc((size_t)ncolumn, sizeof *sink.widths), .ncolumn = ncolumn};
    if (sink.widths == NULL) {
        fprintf(stderr, "interim: out of memory printing the table\n");
        return;
    }
    for (int i = 0; i < s->info.nrun; i++) {
        emit_row(&sink, i);
    }
    widen_groups(&sink);
    print_groups(&sink);
    sink.cell = print_cell;
    sink.is_head = true;
    emit_row(&sink, 0);
    sink.is_head = false;
    for (int i = 0; i < s->info.nrun; i++) {
        if (itm_study_get_run(s->study, i)->verdict != ITM_STUDY_WAITING) {
            emit_row(&sink, i);
        }
    }
    free(sink.widths);
}
