#include "sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool complain(const char* what, const char* text, size_t length)
{
    fprintf(stderr, "interim sweep: %s '%.*s' (see: interim help sweep)\n", what, (int)length, text);
    return false;
}

// ---------------------------------------------------------------------------- ranges

typedef struct Range {
    double first, last;  // in `unit`
    const char* unit;    // text after the number
    size_t unit_length;
    int count;
    bool is_log;
} Range;

static size_t skip_spaces(const char* text, size_t length)
{
    size_t n = 0;
    while (n < length && text[n] == ' ') {
        n++;
    }
    return n;
}

// A number and the unit after it; false where the text is not that.
static bool split_number(const char* text, size_t length, double* number, const char** unit, size_t* unit_length)
{
    char copy[64];
    if (length >= sizeof copy || length == 0 || strchr("+-.0123456789", text[0]) == NULL) {
        return false;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    char* end = NULL;
    *number = strtod(copy, &end);
    size_t used = (size_t)(end - copy);
    used += skip_spaces(text + used, length - used);
    *unit = text + used;
    *unit_length = length - used;
    return end != copy && isfinite(*number);
}

// "20" or "20log"
static bool read_count(Range* range, const char* text, size_t length)
{
    range->is_log = length > 3 && memcmp(text + length - 3, "log", 3) == 0;
    length -= range->is_log ? 3 : 0;
    if (length == 0 || length > 6 || strspn(text, "0123456789") < length) {
        return false;
    }
    range->count = atoi(text);
    return true;
}

// How many of unit b one unit a is; false where they do not measure the same.
static bool convert_unit(double* factor, const char* a, size_t a_length, const char* b, size_t b_length)
{
    char text_a[72], text_b[72];
    double one_a, one_b;
    char unit_a[64], unit_b[64];
    snprintf(text_a, sizeof text_a, "1 %.*s", (int)a_length, a);
    snprintf(text_b, sizeof text_b, "1 %.*s", (int)b_length, b);
    if (itm_expression_evaluate(text_a, &one_a, unit_a, sizeof unit_a, NULL) != ITM_OK ||
        itm_expression_evaluate(text_b, &one_b, unit_b, sizeof unit_b, NULL) != ITM_OK || strcmp(unit_a, unit_b) != 0) {
        return false;
    }
    *factor = one_a / one_b;
    return true;
}

// Whether an item is a range. "1:5ms:5" is in milliseconds at both ends.
static bool parse_range(Range* range, const char* text, size_t length)
{
    const char* colon = memchr(text, ':', length);
    const char* second = colon != NULL ? memchr(colon + 1, ':', length - (size_t)(colon + 1 - text)) : NULL;
    if (second == NULL) {
        return false;
    }
    const char* unit = NULL;
    size_t unit_length = 0;
    double factor = 1.0;
    if (!split_number(text, (size_t)(colon - text), &range->first, &unit, &unit_length) ||
        !split_number(colon + 1, (size_t)(second - colon - 1), &range->last, &range->unit, &range->unit_length) ||
        !read_count(range, second + 1, length - (size_t)(second + 1 - text))) {
        return false;
    }
    if (unit_length > 0 && !convert_unit(&factor, unit, unit_length, range->unit, range->unit_length)) {
        return false;
    }
    range->first *= factor;
    return true;
}

static double range_value(const Range* range, int i)
{
    if (i == 0) {
        return range->first;
    }
    double share = (double)i / (range->count - 1);
    if (i == range->count - 1) {
        return range->last;
    }
    return range->is_log ? range->first * pow(range->last / range->first, share)
                         : range->first + (range->last - range->first) * share;
}

static bool add_range(SweepAxis* axis, const Range* range, const char* text, size_t length)
{
    if (range->count < 2 || range->count > SWEEP_MOST_RUNS) {
        return complain("a range requires at least 2 and at most 100000 values, got", text, length);
    }
    if (range->is_log && !(range->first / range->last > 0.0)) {
        return complain("a logarithmic range cannot cross zero:", text, length);
    }
    for (int i = 0; i < range->count; i++) {
        char value[128];
        int n = snprintf(value, sizeof value, "%.12g%s%.*s", range_value(range, i), range->unit_length > 0 ? " " : "",
                         (int)range->unit_length, range->unit);
        if (!app_sweep_add_text(&axis->values, value, (size_t)n)) {
            return false;
        }
    }
    return true;
}

// ---------------------------------------------------------------------------- items

// Length of the first item of a list: up to a comma outside brackets and quotes.
static size_t item_length(const char* text)
{
    int depth = 0;
    char quote = '\0';
    size_t n = 0;
    for (; text[n] != '\0' && !(text[n] == ',' && depth == 0 && quote == '\0'); n++) {
        if (quote != '\0') {
            quote = text[n] == quote ? '\0' : quote;
        } else if (text[n] == '"' || text[n] == '\'') {
            quote = text[n];
        } else {
            depth += text[n] == '[' || text[n] == '{' || text[n] == '(';
            depth -= text[n] == ']' || text[n] == '}' || text[n] == ')';
        }
    }
    return n;
}

static bool add_item(SweepAxis* axis, const char* text, size_t length)
{
    Range range;
    size_t spaces = skip_spaces(text, length);
    text += spaces;
    length -= spaces;
    while (length > 0 && text[length - 1] == ' ') {
        length--;
    }
    if (length == 0) {
        return complain("missing value in the list of", axis->key, strlen(axis->key));
    }
    return parse_range(&range, text, length) ? add_range(axis, &range, text, length)
                                             : app_sweep_add_text(&axis->values, text, length);
}

static bool add_items(SweepAxis* axis, const char* text)
{
    for (;;) {
        size_t length = item_length(text);
        if (!add_item(axis, text, length)) {
            return false;
        }
        if (text[length] == '\0') {
            return true;
        }
        text += length + 1;
    }
}

bool app_sweep_axes_add(SweepAxes* axes, const char* text)
{
    size_t length = strcspn(text, "=");
    if (length == 0 || text[length] == '\0') {
        return complain("--over requires KEY=VALUE,VALUE,..., got", text, strlen(text));
    }
    if (app_sweep_axes_find(axes, text) != ITM_NONE) {
        return complain("only one --over per key is allowed, but there are two for", text, length);
    }
    SweepAxis* moved = realloc(axes->items, ((size_t)axes->count + 1) * sizeof *moved);
    axes->items = moved != NULL ? moved : axes->items;
    char* key = moved != NULL ? strndup(text, length) : NULL;
    if (key == NULL) {
        return app_sweep_complain_memory();
    }
    axes->items[axes->count++] = (SweepAxis){.key = key};
    return add_items(&axes->items[axes->count - 1], text + length + 1);
}

void app_sweep_axes_free(SweepAxes* axes)
{
    for (int i = 0; i < axes->count; i++) {
        SweepAxis* axis = &axes->items[i];
        app_sweep_free_texts(&axis->values);
        free(axis->key);
    }
    free(axes->items);
    *axes = (SweepAxes){0};
}

// ---------------------------------------------------------------------------- combinations

int app_sweep_axes_count(const SweepAxes* axes)
{
    long count = 1;
    for (int i = 0; i < axes->count && count <= SWEEP_MOST_RUNS; i++) {
        count *= axes->items[i].values.count;
    }
    return count <= SWEEP_MOST_RUNS ? (int)count : SWEEP_MOST_RUNS + 1;
}

const char* app_sweep_axes_get(const SweepAxes* axes, int combination, int axis)
{
    for (int i = axes->count - 1; i > axis; i--) {
        combination /= axes->items[i].values.count;
    }
    return axes->items[axis].values.items[combination % axes->items[axis].values.count];
}

int app_sweep_axes_find(const SweepAxes* axes, const char* text)
{
    size_t length = strcspn(text, "=");
    for (int i = 0; i < axes->count; i++) {
        if (strlen(axes->items[i].key) == length && memcmp(axes->items[i].key, text, length) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}
