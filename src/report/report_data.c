// The data of the viewer: every signal decimated, the motion in 16 bits, all of it packed. web/src/data.js reads it.
#include "report/report.h"

#include "report/decimate.h"
#include "io/results/results.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_POINTS 8000  // of a signal
#define LEAST_POINTS 200

// ---------------------------------------------------------------------------- packing

// "deflated base64" of an array with its bytes sorted by significance, which packs better.
static void add_packed(ItmText* text, const void* values, size_t count, size_t size)
{
    const unsigned char* bytes = values;
    unsigned char* sorted = malloc(count * size + 1);
    if (sorted == NULL) {
        text->has_failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < size; k++) {
            sorted[k * count + i] = bytes[i * size + k];
        }
    }
    itm_text_add(text, "\"");
    itm_text_add_base64(text, sorted, count * size, true);
    itm_text_add(text, "\"");
    free(sorted);
}

static void add_key(ItmText* text, const char* key)
{
    itm_text_format(text, ",\"%s\":", key);
}

// ---------------------------------------------------------------------------- signals

static void add_columns(ItmText* text, const ItmTable* table)
{
    add_key(text, "columns");
    itm_text_add(text, "[");
    for (int i = 1; i < table->ncolumn; i++) {
        itm_text_add(text, i > 1 ? ",[" : "[");
        itm_text_add_json(text, table->names[i]);
        itm_text_add(text, ",");
        itm_text_add_json(text, table->units[i]);
        itm_text_add(text, ",");
        itm_text_add_json(text, table->descriptions[i]);
        itm_text_add(text, "]");
    }
    itm_text_add(text, "]");
}

static void add_signals(ItmText* text, const ItmTable* table, size_t budget)
{
    long most = (long)(budget / (sizeof(float) * (size_t)table->ncolumn));
    most = most > MOST_POINTS ? MOST_POINTS : most < LEAST_POINTS ? LEAST_POINTS : most;
    ItmDecimation plan = itm_decimate_plan(table->nrow, most);
    size_t n = (size_t)plan.npoint;
    double* time = malloc(n * sizeof *time + 1);
    float* values = malloc(n * (size_t)table->ncolumn * sizeof *values + 1);
    if (time == NULL || values == NULL) {
        text->has_failed = true;
    } else {
        itm_decimate_time(&plan, table, time);
        for (int i = 1; i < table->ncolumn; i++) {
            itm_decimate_column(&plan, table, i, values + (size_t)(i - 1) * n);
        }
        itm_text_format(text, ",\"rows\":%ld,\"points\":%ld", table->nrow, plan.npoint);
        add_key(text, "time");
        add_packed(text, time, n, sizeof *time);
        add_key(text, "values");
        add_packed(text, values, n * (size_t)(table->ncolumn - 1), sizeof *values);
    }
    free(time);
    free(values);
}

// ---------------------------------------------------------------------------- motion

// Frames that go into the page: every stride-th, and the last.
typedef struct Frames {
    long stride, count, last;
} Frames;

// Columns of an array over frames.
static long count_columns(const ItmArray* array)
{
    return array->size[1] * (array->ndim > 2 ? array->size[2] : 1);
}

static Frames choose_frames(const ItmRecord* record, size_t budget)
{
    const ItmArray* a = record->arrays;
    long nframe = a[ITM_MOTION_TIME].size[0];
    size_t width =
        sizeof(uint16_t) * (size_t)(count_columns(&a[ITM_MOTION_POSE]) + count_columns(&a[ITM_MOTION_MODE])) +
        sizeof(float) * (size_t)count_columns(&a[ITM_MOTION_MOBILITY]);
    long most = (long)(budget / (width > 0 ? width : 1));
    most = most < 2 ? 2 : most;
    Frames f = {.stride = 1 + (nframe - 1) / most, .last = nframe - 1};
    f.count = nframe > 0 ? (f.last + f.stride - 1) / f.stride + 1 : 0;
    return f;
}

static long frame_at(const Frames* f, long i)
{
    long frame = i * f->stride;
    return frame < f->last ? frame : f->last;
}

// An array at the chosen frames, column by column (ncolumn x count); NULL without memory.
static float* gather_columns(const ItmRecord* record, ItmMotionArray which, const Frames* f)
{
    const ItmArray* array = &record->arrays[which];
    long ncolumn = count_columns(array);
    float* columns = malloc((size_t)(ncolumn * f->count) * sizeof *columns + 1);
    for (long i = 0; i < f->count && columns != NULL; i++) {
        const float* row = (const float*)array->values + frame_at(f, i) * ncolumn;
        for (long k = 0; k < ncolumn; k++) {
            columns[k * f->count + i] = row[k];
        }
    }
    return columns;
}

// q and -q are the same rotation; take those that do not jump. q: four columns of n
static void choose_signs(float* q, long n)
{
    for (long i = 1; i < n; i++) {
        float dot = 0.0f;
        for (int k = 0; k < 4; k++) {
            dot += q[k * n + i] * q[k * n + i - 1];
        }
        for (int k = 0; k < 4 && dot < 0.0f; k++) {
            q[k * n + i] = -q[k * n + i];
        }
    }
}

// A column as differences of 16-bit numbers within its range. codes (n)
static void encode(uint16_t* codes, float range[2], const float* x, long n)
{
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (long i = 0; i < n; i++) {
        range[0] = fminf(range[0], x[i]);
        range[1] = fmaxf(range[1], x[i]);
    }
    double width = (double)range[1] - (double)range[0];
    uint16_t before = 0;
    for (long i = 0; i < n; i++) {
        uint16_t code = width > 0.0 ? (uint16_t)lround(65535.0 * ((double)x[i] - (double)range[0]) / width) : 0;
        codes[i] = (uint16_t)(code - before);
        before = code;
    }
}

// Columns (ncolumn x n) as {"ranges", "codes"}.
static void add_coded(ItmText* text, const char* key, const float* columns, long ncolumn, long n)
{
    uint16_t* codes = malloc((size_t)(ncolumn * n) * sizeof *codes + 1);
    float* ranges = malloc((size_t)(2 * ncolumn) * sizeof *ranges + 1);
    if (codes == NULL || ranges == NULL || columns == NULL) {
        text->has_failed = true;
    } else {
        for (long k = 0; k < ncolumn; k++) {
            encode(codes + k * n, ranges + 2 * k, columns + k * n, n);
        }
        add_key(text, key);
        itm_text_add(text, "{\"ranges\":");
        add_packed(text, ranges, (size_t)(2 * ncolumn), sizeof *ranges);
        add_key(text, "codes");
        add_packed(text, codes, (size_t)(ncolumn * n), sizeof *codes);
        itm_text_add(text, "}");
    }
    free(codes);
    free(ranges);
}

static void add_poses(ItmText* text, const ItmRecord* record, const Frames* f)
{
    long nbody = record->arrays[ITM_MOTION_POSE].size[1];
    float* columns = gather_columns(record, ITM_MOTION_POSE, f);
    for (long body = 0; body < nbody && columns != NULL; body++) {
        choose_signs(columns + (7 * body + 3) * f->count, f->count);
    }
    add_coded(text, "poses", columns, 7 * nbody, f->count);
    free(columns);
}

static void add_modes(ItmText* text, const ItmRecord* record, const Frames* f)
{
    float* columns = gather_columns(record, ITM_MOTION_MODE, f);
    add_coded(text, "modes", columns, count_columns(&record->arrays[ITM_MOTION_MODE]), f->count);
    free(columns);
}

// Mobilities are divided by: they keep all their digits.
static void add_mobilities(ItmText* text, const ItmRecord* record, const Frames* f)
{
    float* columns = gather_columns(record, ITM_MOTION_MOBILITY, f);
    if (columns == NULL) {
        text->has_failed = true;
        return;
    }
    add_key(text, "mobility");
    add_packed(text, columns, (size_t)(count_columns(&record->arrays[ITM_MOTION_MOBILITY]) * f->count),
               sizeof *columns);
    free(columns);
}

// ---------------------------------------------------------------------------- contacts

typedef struct Hardness {
    float force;  // squared
    long index;
} Hardness;

static int compare_hardness(const void* a, const void* b)
{
    float x = ((const Hardness*)a)->force, y = ((const Hardness*)b)->force;
    return (x < y) - (x > y);
}

// The hardest `most` contacts of a frame, at the start of `order`; how many they are.
static long choose_contacts(Hardness* order, const ItmRecord* record, long frame, long most)
{
    const int32_t* start = record->arrays[ITM_MOTION_CONTACT_START].values;
    const float* contact = record->arrays[ITM_MOTION_CONTACT].values;
    long n = start[frame + 1] - start[frame];
    for (long i = 0; i < n; i++) {
        const float* f = contact + 6 * (start[frame] + i) + 3;
        order[i] = (Hardness){f[0] * f[0] + f[1] * f[1] + f[2] * f[2], start[frame] + i};
    }
    if (n > most) {
        qsort(order, (size_t)n, sizeof *order, compare_hardness);
        n = most;
    }
    return n;
}

static void add_contacts(ItmText* text, const ItmRecord* record, const Frames* f, size_t budget)
{
    long total = record->arrays[ITM_MOTION_CONTACT].size[0];
    size_t room = (size_t)total + 1;
    Hardness* order = malloc(room * sizeof *order);
    int32_t* start = malloc(((size_t)f->count + 1) * sizeof *start);
    float* points = malloc(room * 6 * sizeof *points);
    int32_t* pairs = malloc(room * sizeof *pairs);
    long n = 0, most = f->count > 0 ? (long)(budget / (7 * sizeof(float))) / f->count : 0;
    if (order == NULL || start == NULL || points == NULL || pairs == NULL) {
        text->has_failed = true;
    } else {
        const int32_t* pair = record->arrays[ITM_MOTION_CONTACT_PAIR].values;
        for (long i = 0; i < f->count; i++) {
            start[i] = (int32_t)n;
            long count = choose_contacts(order, record, frame_at(f, i), most > 4 ? most : 4);
            for (long k = 0; k < count; k++, n++) {
                memcpy(points + 6 * n, (const float*)record->arrays[ITM_MOTION_CONTACT].values + 6 * order[k].index,
                       6 * sizeof(float));
                pairs[n] = 4 * pair[2 * order[k].index] + pair[2 * order[k].index + 1];
            }
        }
        start[f->count] = (int32_t)n;
        add_key(text, "contactStart");
        add_packed(text, start, (size_t)f->count + 1, sizeof *start);
        add_key(text, "contacts");
        add_packed(text, points, (size_t)n * 6, sizeof *points);
        add_key(text, "contactPairs");
        add_packed(text, pairs, (size_t)n, sizeof *pairs);
    }
    free(order);
    free(start);
    free(points);
    free(pairs);
}

static void add_frame_times(ItmText* text, const ItmRecord* record, const Frames* f)
{
    double* time = malloc((size_t)f->count * sizeof *time + 1);
    if (time == NULL) {
        text->has_failed = true;
        return;
    }
    for (long i = 0; i < f->count; i++) {
        time[i] = ((const double*)record->arrays[ITM_MOTION_TIME].values)[frame_at(f, i)];
    }
    add_key(text, "time");
    add_packed(text, time, (size_t)f->count, sizeof *time);
    free(time);
}

// An array of the record as it is.
static void add_whole(ItmText* text, const char* key, const ItmRecord* record, ItmMotionArray which)
{
    const ItmArray* array = &record->arrays[which];
    add_key(text, key);
    add_packed(text, array->values, itm_record_array_get_count(array),
               itm_record_array_type_size(itm_record_motion_type(which)));
}

static void add_motion(ItmText* text, const ItmRecord* record, const ItmReportBudget* budget)
{
    Frames frames = choose_frames(record, budget->motion);
    add_key(text, "scene");
    itm_text_add_json(text, record->scene);
    add_key(text, "motion");
    itm_text_format(text, "{\"frames\":%ld,\"bodies\":%ld", frames.count, record->arrays[ITM_MOTION_POSE].size[1]);
    add_frame_times(text, record, &frames);
    add_poses(text, record, &frames);
    add_modes(text, record, &frames);
    add_mobilities(text, record, &frames);
    add_contacts(text, record, &frames, budget->contacts);
    add_whole(text, "channelTime", record, ITM_MOTION_TIME);
    add_whole(text, "channels", record, ITM_MOTION_CHANNEL);
    add_whole(text, "intervals", record, ITM_MOTION_INTERVAL);
    add_whole(text, "intervalPairs", record, ITM_MOTION_INTERVAL_PAIR);
    itm_text_add(text, "}");
}

// ---------------------------------------------------------------------------- all of it

void itm_report_add_data(ItmText* text, const ItmReportRun* runs, int nrun, const ItmReportBudget* budget)
{
    itm_text_add(text, "{\"version\":");
    itm_text_add_json(text, itm_version());
    itm_text_add(text, ",\"runs\":[");
    for (int i = 0; i < nrun; i++) {
        const ItmTable* table = runs[i].table;
        itm_text_add(text, i > 0 ? ",\n{\"label\":" : "\n{\"label\":");
        itm_text_add_json(text, runs[i].label);
        add_key(text, "title");
        itm_text_add_json(text, table->title);
        add_key(text, "verdict");
        itm_text_add_json(text, table->is_described ? itm_results_verdict_name(table->verdict) : "");
        add_key(text, "reason");
        itm_text_add_json(text, table->reason);
        add_columns(text, table);
        add_signals(text, table, budget->signals / (size_t)nrun);
        if (i == 0 && table->record != NULL) {
            add_motion(text, table->record, budget);
        }
        itm_text_add(text, "}");
    }
    itm_text_add(text, "]}");
}
