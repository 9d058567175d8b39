#include "sweep.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---------------------------------------------------------------------------- columns

// A table is a walk over its cells: the same one counts, measures and prints, so that heads and cells agree.
typedef struct Sink Sink;
struct Sink {
    void (*cell)(Sink* sink, const char* group, const char* name, const char* text);
    FILE* out;
    int column;   // of the next cell
    int* widths;  // terminal: of each column  (ncolumn)
    int ncolumn;
    bool is_head;  // the names, not the values, are wanted
};

static void emit_number(Sink* sink, const char* group, const char* name, const char* format, double value)
{
    char text[40] = "";
    if (!isnan(value)) {
        snprintf(text, sizeof text, format, value);
    }
    sink->cell(sink, group, name, text);
}

static bool has_finished(const SweepJob* job)
{
    return job->verdict == SWEEP_FINISHED || job->verdict == SWEEP_DOUBTFUL;
}

static void emit_signals(Sink* sink, const SweepTable* t, const SweepRow* row, const char* format)
{
    for (int i = 0; i < t->nsignal; i++) {
        const char* name = t->signals[i];
        if (t->has_reference) {
            // of a run that did not come to its end there is no error to compare: the shorter it was, the smaller
            emit_number(sink, name, "rms", format, has_finished(row->job) ? row->signals[i].rms : NAN);
            emit_number(sink, name, "max", format, has_finished(row->job) ? row->signals[i].maximum : NAN);
        }
        emit_number(sink, name, "final", format, row->signals[i].last);
        emit_number(sink, name, "peak", format, row->signals[i].peak);
    }
    for (int i = 0; i < t->nerror; i++) {
        emit_number(sink, t->errors[i], "final", format, row->errors[i]);
    }
}

static void emit_cost(Sink* sink, const SweepJob* job, const char* format)
{
    bool has_time = job->wall_time > 0.0 && !isnan(job->end_time);
    emit_number(sink, "", "cpu_time", format, job->cpu_time);
    emit_number(sink, "", "real_time_factor", format, has_time ? job->end_time / job->wall_time : NAN);
}

// ---------------------------------------------------------------------------- terminal

static bool ends_with(const char* text, const char* tail)
{
    size_t length = strlen(text), tail_length = strlen(tail);
    return length >= tail_length && strcmp(text + length - tail_length, tail) == 0;
}

// The part of a key that distinguishes it from the others: "run.step" is "step" unless another ends so.
static const char* short_key(const SweepAxes* axes, int axis)
{
    const char* key = axes->items[axis].key;
    for (const char* dot = key + strlen(key); dot > key; dot--) {
        bool is_unique = *dot == '.';
        for (int i = 0; i < axes->count && is_unique; i++) {
            is_unique = i == axis || !ends_with(axes->items[i].key, dot);
        }
        if (is_unique) {
            return dot + 1;
        }
    }
    return key;
}

static void emit_row(Sink* sink, const SweepTable* t, int combination)
{
    const SweepRow* row = &t->rows[combination];
    sink->column = 0;
    for (int i = 0; i < t->axes->count; i++) {
        sink->cell(sink, "", short_key(t->axes, i), app_sweep_axes_get(t->axes, combination, i));
    }
    sink->cell(sink, "", "verdict", app_sweep_verdict_name(row->job->verdict));
    emit_number(sink, "", "end_time", "%.5g", row->job->end_time);
    emit_signals(sink, t, row, "%.4g");
    emit_cost(sink, row->job, "%.3g");
}

static void measure_cell(Sink* sink, const char* group, const char* name, const char* text)
{
    (void)group;
    int width = (int)(strlen(text) > strlen(name) ? strlen(text) : strlen(name));
    int* column = &sink->widths[sink->column++];
    *column = width > *column ? width : *column;
}

static void print_cell(Sink* sink, const char* group, const char* name, const char* text)
{
    (void)group;
    bool is_last = sink->column + 1 == sink->ncolumn;
    printf("%s%-*s%s", sink->column > 0 ? "  " : "", is_last ? 0 : sink->widths[sink->column],
           sink->is_head     ? name
           : text[0] != '\0' ? text
                             : "-",
           is_last ? "\n" : "");
    sink->column++;
}

// Columns of a signal; the first is column `t->axes->count + 2`.
static int group_size(const SweepTable* t, int group)
{
    return group >= t->nsignal ? 1 : t->has_reference ? 4 : 2;
}

static const char* group_name(const SweepTable* t, int group)
{
    return group < t->nsignal ? t->signals[group] : t->errors[group - t->nsignal];
}

// A signal's name stands once, above its columns: make the last of them so wide that it fits.
static void widen_groups(Sink* sink, const SweepTable* t)
{
    int column = t->axes->count + 2;
    for (int i = 0; i < t->nsignal + t->nerror; i++) {
        int width = -2;
        for (int k = 0; k < group_size(t, i); k++) {
            width += sink->widths[column++] + 2;
        }
        int missing = (int)strlen(group_name(t, i)) - width;
        sink->widths[column - 1] += missing > 0 ? missing : 0;
    }
}

static void print_groups(const Sink* sink, const SweepTable* t)
{
    int column = t->axes->count + 2, wanted = 0, at = 0;
    for (int i = 0; i < column; i++) {
        wanted += sink->widths[i] + 2;
    }
    for (int i = 0; i < t->nsignal + t->nerror; i++) {
        at += printf("%*s%s", wanted - at, "", group_name(t, i));
        for (int k = 0; k < group_size(t, i); k++) {
            wanted += sink->widths[column++] + 2;
        }
    }
    printf(t->nsignal + t->nerror > 0 ? "\n" : "");
}

static void print_rows(Sink* sink, const SweepTable* t)
{
    print_groups(sink, t);
    sink->cell = print_cell;
    sink->is_head = true;
    emit_row(sink, t, 0);
    sink->is_head = false;
    for (int i = 0; i < t->nrow; i++) {
        if (t->rows[i].job->verdict != SWEEP_WAITING) {
            emit_row(sink, t, i);
        }
    }
}

void app_sweep_table_print(const SweepTable* t)
{
    int ncolumn = t->axes->count + 4 + (t->has_reference ? 4 : 2) * t->nsignal + t->nerror;
    Sink sink = {.cell = measure_cell, .widths = calloc((size_t)ncolumn, sizeof *sink.widths), .ncolumn = ncolumn};
    if (sink.widths == NULL) {
        fprintf(stderr, "interim: out of memory printing the table\n");
        return;
    }
    for (int i = 0; i < t->nrow; i++) {
        emit_row(&sink, t, i);
    }
    widen_groups(&sink, t);
    print_rows(&sink, t);
    free(sink.widths);
}

// ---------------------------------------------------------------------------- CSV

static void write_text(FILE* out, const char* text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, out);
        return;
    }
    putc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            putc('"', out);
        }
        putc(*text, out);
    }
    putc('"', out);
}

static void write_cell(Sink* sink, const char* group, const char* name, const char* text)
{
    char head[256];
    if (sink->column++ > 0) {
        putc(',', sink->out);
    }
    snprintf(head, sizeof head, "%s%s%s", group, group[0] != '\0' ? "." : "", name);
    write_text(sink->out, sink->is_head ? head : text);
}

// A swept value: in SI units where it is a quantity, otherwise as it was written.
static void emit_value(Sink* sink, const char* key, const char* text)
{
    double value;
    char number[40];
    if (itm_expression_evaluate(text, &value, NULL, 0, NULL) == ITM_OK) {
        snprintf(number, sizeof number, "%.12g", value);
        text = number;
    }
    sink->cell(sink, "", key, text);
}

static void write_row(Sink* sink, const SweepTable* t, int combination)
{
    const SweepRow* row = &t->rows[combination];
    sink->column = 0;
    for (int i = 0; i < t->axes->count; i++) {
        emit_value(sink, t->axes->items[i].key, app_sweep_axes_get(t->axes, combination, i));
    }
    sink->cell(sink, "", "verdict", app_sweep_verdict_name(row->job->verdict));
    emit_number(sink, "", "end_time", "%.12g", row->job->end_time);
    emit_signals(sink, t, row, "%.12g");
    emit_number(sink, "", "wall_time", "%.6g", row->job->wall_time);
    emit_cost(sink, row->job, "%.6g");
    sink->cell(sink, "", "message", row->job->message);
    putc('\n', sink->out);
}

static void write_rows(const SweepTable* t, FILE* out)
{
    Sink sink = {.cell = write_cell, .out = out, .is_head = true};
    write_row(&sink, t, 0);
    sink.is_head = false;
    for (int i = 0; i < t->nrow; i++) {
        if (t->rows[i].job->verdict != SWEEP_WAITING) {
            write_row(&sink, t, i);
        }
    }
}

bool app_sweep_table_write(const SweepTable* t, const char* path)
{
    char* part = app_path_replace_ending(path, ".part.csv");
    FILE* out = part != NULL ? fopen(part, "w") : NULL;
    bool is_written = out != NULL;
    if (out != NULL) {
        write_rows(t, out);
        is_written = ferror(out) == 0;
        is_written = fclose(out) == 0 && is_written;
    }
    is_written = is_written && rename(part, path) == 0;
    if (!is_written) {
        fprintf(stderr, "interim: cannot write '%s': %s\n", path, strerror(errno));
    }
    if (!is_written && out != NULL) {
        unlink(part);
    }
    free(part);
    return is_written;
}
