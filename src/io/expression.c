#include "io/expression.h"

#include "base/function.h"
#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef ItmScan Parser; // its context is the ItmScope, or NULL

static ItmQuantity parse_sum(Parser* p);
static ItmQuantity parse_unary(Parser* p);

static const ItmQuantity NOTHING = {.is_bare = true};

static bool has_parameter(const Parser* p, const char* name, size_t length)
{
    const ItmScope* scope = p->context;
    return scope != NULL && scope->has(scope->context, name, length);
}

// ---------------------------------------------------------------------------- units

// Bytes of the unit word at `at`: letters, and characters beyond ASCII, but no superscript, no dot; and not the words that
// join conditions of signals.
static size_t measure_unit(const Parser* p, size_t at)
{
    size_t end = at;
    if (itm_scan_at(p, at) == '%') {
        return 1;
    }
    while (end < p->length) {
        const char* s = p->text + end;
        size_t left = p->length - end;
        bool is_special = left >= 2 && (memcmp(s, "²", 2) == 0 || memcmp(s, "³", 2) == 0 ||
                                        memcmp(s, "·", 2) == 0);
        if (is_special || !(itm_scan_is_letter(*s) || (unsigned char)*s >= 0x80)) {
            break;
        }
        end++;
    }
    size_t length = end - at;
    bool is_operator =
        itm_scan_is_word(p->text + at, length, "and") || itm_scan_is_word(p->text + at, length, "or");
    return is_operator ? 0 : length;
}

static bool skip_utf8(Parser* p, const char* character)
{
    size_t n = strlen(character);
    if (p->length - p->at >= n && memcmp(p->text + p->at, character, n) == 0) {
        p->at += n;
        return true;
    }
    return false;
}

// "^2", "^-1", "²", "³", or nothing.
static int parse_unit_power(Parser* p)
{
    if (skip_utf8(p, "²")) {
        return 2;
    }
    if (skip_utf8(p, "³")) {
        return 3;
    }
    if (itm_scan_at(p, p->at) != '^') {
        return 1;
    }
    size_t digit = p->at + 1;
    int sign = 1;
    if (itm_scan_at(p, digit) == '-' || itm_scan_at(p, digit) == '+') {
        sign = itm_scan_at(p, digit) == '-' ? -1 : 1;
        digit++;
    }
    if (!itm_scan_is_digit(itm_scan_at(p, digit)) || itm_scan_is_digit(itm_scan_at(p, digit + 1))) {
        itm_scan_fail(p, p->at, "the power of a unit is a whole number below ten");
        return 1;
    }
    p->at = digit + 1;
    return sign * (itm_scan_at(p, digit) - '0');
}

// One unit word with its power into *value, as a factor or (sign < 0) as a divisor.
static void parse_unit_word(Parser* p, size_t length, int sign, ItmQuantity* value)
{
    double factor;
    ItmDimension dimension;
    const char* word = p->text + p->at;
    if (!itm_unit_find(word, length, &factor, &dimension)) {
        const char* nearest = itm_unit_suggest(word, length);
        int shown = (int)itm_utf8_cut(word, length, 40);
        if (has_parameter(p, word, length)) {
            itm_scan_fail(p, p->at, "'%.*s' is a parameter, not a unit: write * before it", shown, word);
        } else {
            itm_scan_fail(p, p->at, "there is no unit '%.*s'%s%s%s", shown, word,
                    nearest != NULL ? "; nearest: '" : "", nearest != NULL ? nearest : "",
                    nearest != NULL ? "'" : "");
        }
        return;
    }
    p->at += length;
    int power = sign * parse_unit_power(p);
    value->value = power == 1 ? value->value * factor : value->value * pow(factor, power);
    value->dimension = itm_dimension_mul(value->dimension, dimension, power);
    value->is_bare = false;
}

// Whether a unit goes on behind an operator at `at`: a word follows at once, and nothing but a unit
// has that name.
static bool continues_unit(const Parser* p, size_t at)
{
    size_t length = measure_unit(p, at), name_length = itm_scan_measure_name(p, at);
    const char* word = p->text + at;
    double factor;
    ItmDimension dimension;
    if (length == 0 || itm_unit_find(word, length, &factor, &dimension)) {
        return length > 0;
    }
    bool is_name = itm_scan_is_word(word, name_length, "pi") ||
                   itm_scan_at(p, at + name_length) == '(' || has_parameter(p, word, name_length);
    return !is_name;
}

// The unit behind a number, if there is one. What follows a / by a space stays below it: J/kg K is
// J/(kg K).
static void parse_unit(Parser* p, ItmQuantity* value)
{
    itm_scan_skip_space(p);
    int sign = 1;
    size_t length = measure_unit(p, p->at);
    while (length > 0 && !p->has_failed) {
        parse_unit_word(p, length, sign, value);
        size_t at = p->at;
        char next = itm_scan_at(p, at);
        if ((next == '*' || next == '/') && continues_unit(p, at + 1)) {
            sign = next == '*' ? 1 : -1;
            p->at++;
        } else if (!skip_utf8(p, "·")) {
            itm_scan_skip_space(p);
        }
        length = measure_unit(p, p->at);
    }
}

// ---------------------------------------------------------------------------- functions

static ItmQuantity number(double value)
{
    return (ItmQuantity){.value = value, .is_bare = true};
}

// Both in one dimension (a bare number takes the other's), or a failure; gives that dimension,
// value 0.
static ItmQuantity agree(Parser* p, size_t at, const char* what, ItmQuantity a, ItmQuantity b)
{
    if (a.is_bare || b.is_bare || itm_dimension_equal(a.dimension, b.dimension)) {
        ItmQuantity common = a.is_bare ? b : a;
        common.value = 0.0;
        return common;
    }
    char unit_a[64], unit_b[64];
    itm_scan_fail(p, at, "cannot %s %s and %s", what,
            itm_dimension_format(a.dimension, unit_a, sizeof unit_a),
            itm_dimension_format(b.dimension, unit_b, sizeof unit_b));
    return NOTHING;
}

static double need_number(Parser* p, size_t at, const char* what, ItmQuantity a)
{
    if (!itm_quantity_fits(a, ITM_DIM_ONE)) {
        char unit[64];
        itm_scan_fail(p, at, "%s needs a number without unit, got %s", what,
                itm_dimension_format(a.dimension, unit, sizeof unit));
    }
    return a.value;
}

static ItmQuantity raise(Parser* p, size_t at, ItmQuantity base, ItmQuantity exponent)
{
    double power = need_number(p, at, "an exponent", exponent);
    return (ItmQuantity){.value = pow(base.value, power),
                         .dimension = itm_dimension_mul(ITM_DIM_ONE, base.dimension, power),
                         .is_bare = base.is_bare};
}

static ItmQuantity apply_two(Parser* p, size_t at, ItmFunction function, ItmQuantity a, ItmQuantity b)
{
    if (function == ITM_FUNCTION_POW) {
        return raise(p, at, a, b);
    }
    ItmQuantity result = agree(p, at, "compare", a, b);
    const double x[] = {a.value, b.value};
    if (function == ITM_FUNCTION_ATAN2) {
        return number(itm_function_compute(function, x));
    }
    result.value = itm_function_compute(function, x);
    return result;
}

static ItmQuantity apply_one(Parser* p, size_t at, ItmFunction function, ItmQuantity a)
{
    if (function == ITM_FUNCTION_SQRT) {
        return raise(p, at, a, number(0.5));
    }
    if (function == ITM_FUNCTION_ABS) {
        a.value = fabs(a.value);
        return a;
    }
    double x = need_number(p, at, itm_function_name(function), a);
    return number(itm_function_compute(function, &x));
}

static ItmQuantity parse_function(Parser* p, size_t start, size_t length)
{
    const char* nearest = NULL;
    int found = itm_function_find(p->text + start, length, ITM_FUNCTION_VALUE_COUNT, &nearest);
    if (found == ITM_NONE) {
        itm_scan_fail(p, start, "there is no function '%.*s'%s%s", (int)(length < 40 ? length : 40),
                      p->text + start, nearest != NULL ? "; nearest: " : "",
                      nearest != NULL ? nearest : "");
        return NOTHING;
    }
    ItmFunction function = (ItmFunction)found;
    ItmQuantity arguments[2] = {parse_sum(p), NOTHING};
    int n = itm_function_get_argument_count(function);
    if (n == 2) {
        if (!itm_scan_accept(p, ',')) {
            itm_scan_fail(p, p->at, "%s takes two values, separated by a comma",
                          itm_function_name(function));
        }
        arguments[1] = parse_sum(p);
    }
    if (!itm_scan_accept(p, ')')) {
        itm_scan_fail(p, p->at, "a ')' is missing");
    }
    if (p->has_failed) {
        return NOTHING;
    }
    return n == 2 ? apply_two(p, start, function, arguments[0], arguments[1])
                  : apply_one(p, start, function, arguments[0]);
}

// ---------------------------------------------------------------------------- grammar

static ItmQuantity parse_name(Parser* p)
{
    size_t start = p->at, length = itm_scan_measure_name(p, start);
    const char* name = p->text + start;
    p->at += length;
    if (itm_scan_accept(p, '(')) {
        return parse_function(p, start, length);
    }
    if (itm_scan_is_word(name, length, "pi")) {
        return number(3.14159265358979323846);
    }
    ItmQuantity value = NOTHING;
    const ItmScope* scope = p->context;
    if (scope == NULL) {
        itm_scan_fail(p, start, "there is no parameter '%.*s'", (int)(length < 40 ? length : 40), name);
    } else if (!scope->find(scope->context, name, length, p->depth, &value, p->error)) {
        p->has_failed = true;
        p->error->offset = start;
    }
    return value;
}

static ItmQuantity parse_number(Parser* p)
{
    ItmQuantity value = number(itm_scan_number(p));
    if (!p->has_failed) {
        parse_unit(p, &value);
    }
    return value;
}

static ItmQuantity parse_primary(Parser* p)
{
    char c = itm_scan_peek(p);
    if (p->has_failed) {
        return NOTHING;
    }
    if (itm_scan_has_number(p)) {
        return parse_number(p);
    }
    if (itm_scan_is_letter(c)) {
        return parse_name(p);
    }
    if (itm_scan_accept(p, '(')) {
        ItmQuantity value = parse_sum(p);
        if (!itm_scan_accept(p, ')')) {
            itm_scan_fail(p, p->at, "a ')' is missing");
        }
        if (!p->has_failed) {
            parse_unit(p, &value);
        }
        return value;
    }
    itm_scan_fail(p, p->at,
            p->at < p->length ? "a number, a name or '(' should stand here"
                              : "the expression ends too early");
    return NOTHING;
}

static ItmQuantity parse_power(Parser* p)
{
    ItmQuantity base = parse_primary(p);
    size_t at = p->at;
    if (itm_scan_accept(p, '^')) {
        return raise(p, at, base, parse_unary(p));
    }
    return base;
}

static ItmQuantity parse_unary(Parser* p)
{
    itm_scan_enter(p);
    ItmQuantity value = NOTHING;
    if (itm_scan_accept(p, '-')) {
        value = parse_unary(p);
        value.value = -value.value;
    } else if (itm_scan_accept(p, '+')) {
        value = parse_unary(p);
    } else if (!p->has_failed) {
        value = parse_power(p);
    }
    p->depth--;
    return value;
}

static ItmQuantity parse_product(Parser* p)
{
    ItmQuantity a = parse_unary(p);
    for (char c = itm_scan_peek(p); c == '*' || c == '/'; c = itm_scan_peek(p)) {
        p->at++;
        ItmQuantity b = parse_unary(p);
        a.value = c == '*' ? a.value * b.value : a.value / b.value;
        a.dimension = itm_dimension_mul(a.dimension, b.dimension, c == '*' ? 1.0 : -1.0);
        a.is_bare = a.is_bare && b.is_bare;
    }
    return a;
}

static ItmQuantity parse_sum(Parser* p)
{
    ItmQuantity a = parse_product(p);
    for (char c = itm_scan_peek(p); c == '+' || c == '-'; c = itm_scan_peek(p)) {
        size_t at = p->at++;
        ItmQuantity b = parse_product(p);
        ItmQuantity sum =
            p->has_failed ? NOTHING : agree(p, at, c == '+' ? "add" : "subtract", a, b);
        sum.value = c == '+' ? a.value + b.value : a.value - b.value;
        a = sum;
    }
    return a;
}

double itm_expression_scan_unit(ItmScan* scan, const ItmScope* scope)
{
    Parser p = *scan;
    p.context = scope;
    ItmQuantity value = number(1.0);
    parse_unit(&p, &value);
    scan->at = p.at;
    scan->has_failed = p.has_failed;
    return value.value;
}

bool itm_expression_compute(ItmQuantity* value, const char* text, size_t length,
                            const ItmScope* scope, int depth, ItmExpressionError* error)
{
    *error = (ItmExpressionError){0};
    Parser p = {.text = text, .length = length, .depth = depth, .error = error, .context = scope};
    if (length > ITM_EXPRESSION_MAX_LENGTH) {
        itm_scan_fail(&p, 0, "an expression of %zu characters is too long", length);
        return false;
    }
    *value = parse_sum(&p);
    if (itm_scan_peek(&p) != '\0') {
        itm_scan_fail(&p, p.at, "what should '%.*s' mean here?",
                (int)itm_utf8_cut(text + p.at, length - p.at, 20), text + p.at);
    }
    if (!p.has_failed && !isfinite(value->value)) {
        itm_scan_fail(&p, 0, "the result is not a finite number");
    }
    return !p.has_failed;
}
