// Lists of values of a factor: "a,b,c", with ranges "first:last:count" and, evenly in the logarithm, "first:last:countlog".
#include "study/study.h"

#include "base/error.h"
#include "io/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static double get_range_value(const Range* range, int i)
{
    if (i == 0 || i == range->count - 1) {
        return i == 0 ? range->first : range->last;
    }
    double share = (double)i / (range->count - 1);
    return range->is_log ? range->first * pow(range->last / range->first, share)
                         : range->first + (range->last - range->first) * share;
}

static ItmStatus add_range(ItmStudy* study, ItmStudyTexts* texts, const Range* range, const char* text, size_t length,
                           ItmError* error)
{
    if (range->count < 2 || range->count > ITM_STUDY_MOST_RUNS) {
        return itm_error_set(error, ITM_ERR_INPUT, "itm_study_add_axis", NULL,
                             "a range requires at least 2 and at most %d values, got '%.*s'", ITM_STUDY_MOST_RUNS,
                             (int)length, text);
    }
    if (range->is_log && !(range->first / range->last > 0.0)) {
        return itm_error_set(error, ITM_ERR_INPUT, "itm_study_add_axis", NULL,
                             "a logarithmic range cannot cross zero: '%.*s'", (int)length, text);
    }
    for (int i = 0; i < range->count; i++) {
        ItmText value = {0};
        itm_text_add_number(&value, get_range_value(range, i), 12);
        itm_text_add(&value, range->unit_length > 0 ? " " : "");
        itm_text_add_bytes(&value, range->unit, range->unit_length);
        bool is_added = !value.has_failed && itm_study_add_text(study, texts, value.chars, value.length);
        itm_text_free(&value);
        if (!is_added) {
            return itm_study_fail_memory(error);
        }
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- items

// Length of the first item of a list: up to a comma outside brackets and quotes.
static size_t measure_item(const char* text)
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

static ItmStatus add_item(ItmStudy* study, const ItmStudyFactor* factor, ItmStudyTexts* texts, const char* text,
                          size_t length, ItmError* error)
{
    Range range;
    size_t spaces = skip_spaces(text, length);
    text += spaces;
    length -= spaces;
    while (length > 0 && text[length - 1] == ' ') {
        length--;
    }
    if (length == 0) {
        return itm_error_set(error, ITM_ERR_INPUT, "itm_study_add_axis", NULL, "missing value in the list of '%s'",
                             factor->key);
    }
    if (parse_range(&range, text, length)) {
        return add_range(study, texts, &range, text, length, error);
    }
    return itm_study_add_text(study, texts, text, length) ? ITM_OK : itm_study_fail_memory(error);
}

// ---------------------------------------------------------------------------- choices

ItmStatus itm_values_set(ItmStudy* study, ItmStudyFactor* factor, const char* const* texts, int count,
                         const double* weights, ItmError* error)
{
    double sum = 0.0, total = 0.0;
    factor->distribution = ITM_DISTRIBUTION_CHOICE;
    factor->texts = itm_owned_take(&study->owned, (size_t)count, sizeof *factor->texts);
    factor->numbers = itm_owned_take(&study->owned, (size_t)count, sizeof *factor->numbers);
    factor->shares = itm_owned_take(&study->owned, (size_t)count, sizeof *factor->shares);
    if (factor->texts == NULL || factor->numbers == NULL || factor->shares == NULL) {
        return itm_study_fail_memory(error);
    }
    factor->nvalue = count;
    for (int i = 0; i < count; i++) {
        total += weights != NULL ? weights[i] : 1.0;
    }
    for (int i = 0; i < count; i++) {
        sum += weights != NULL ? weights[i] : 1.0;
        factor->texts[i] = texts[i];
        factor->shares[i] = i == count - 1 ? 1.0 : sum / total;
        if (itm_expression_evaluate(texts[i], &factor->numbers[i], NULL, 0, NULL) != ITM_OK) {
            factor->numbers[i] = NAN;
        }
    }
    return ITM_OK;
}

ItmStatus itm_values_read(ItmStudy* study, ItmStudyFactor* factor, const char* text, ItmError* error)
{
    ItmStudyTexts texts = {0};
    ItmStatus status = ITM_OK;
    for (bool is_last = false; !is_last && status == ITM_OK;) {
        size_t length = measure_item(text);
        status = add_item(study, factor, &texts, text, length, error);
        is_last = text[length] == '\0';
        text += length + 1;
    }
    status = status == ITM_OK ? itm_values_set(study, factor, texts.items, texts.count, NULL, error) : status;
    free(texts.items);
    return status;
}
