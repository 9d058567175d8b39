#include "io/expression.h"

#include "io/nearest.h"
#include "io/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_NUMBER 100

typedef struct Parser {
    const char* text;
    size_t length, at;
    const ItmScope* scope;
    int depth;
    ItmExpressionError* error;
    bool has_failed;
} Parser;

static ItmQuantity parse_sum(Parser* p);
static ItmQuantity parse_unary(Parser* p);

static const ItmQuantity NOTHING = {.is_bare = true};

// ---------------------------------------------------------------------------- errors and characters

static void fail_at(Parser* p, size_t offset, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

static void fail_at(Parser* p, size_t offset, const char* format, ...)
{
    if (p->has_failed) {
        return;
    }
    p->has_failed = true;
    p->error->offset = offset;
    p->error->is_elsewhere = false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(p->error->message, sizeof p->error->message, format, arguments);
    va_end(arguments);
}

static char peek_at(const Parser* p, size_t at)
{
    return at < p->length ? p->text[at] : '\0';
}

static void skip_space(Parser* p)
{
    while (p->at < p->length && strchr(" \t\r\n", p->text[p->at]) != NULL) {
        p->at++;
    }
}

// The next character that is not white space; NUL at the end or after a failure, which ends every
// loop.
static char peek(Parser* p)
{
    if (p->has_failed) {
        return '\0';
    }
    skip_space(p);
    return peek_at(p, p->at);
}

static bool accept(Parser* p, char c)
{
    if (peek(p) != c) {
        return false;
    }
    p->at++;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Bytes of the name at `at`: letters, digits, underscores.
static size_t measure_name(const Parser* p, size_t at)
{
    size_t end = at;
    while (is_letter(peek_at(p, end)) || (end > at && is_digit(peek_at(p, end)))) {
        end++;
    }
    return end - at;
}

// Bytes of the unit word at `at`: letters, and characters beyond ASCII, but no superscript, no dot.
static size_t measure_unit(const Parser* p, size_t at)
{
    size_t end = at;
    if (peek_at(p, at) == '%') {
        return 1;
    }
    while (end < p->length) {
        const char* s = p->text + end;
        size_t left = p->length - end;
        bool is_special = left >= 2 && (memcmp(s, "²", 2) == 0 || memcmp(s, "³", 2) == 0 ||
                                        memcmp(s, "·", 2) == 0);
        if (is_special || !(is_letter(*s) || (unsigned char)*s >= 0x80)) {
            break;
        }
        end++;
    }
    return end - at;
}

// ---------------------------------------------------------------------------- units

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
    if (peek_at(p, p->at) != '^') {
        return 1;
    }
    size_t digit = p->at + 1;
    int sign = 1;
    if (peek_at(p, digit) == '-' || peek_at(p, digit) == '+') {
        sign = peek_at(p, digit) == '-' ? -1 : 1;
        digit++;
    }
    if (!is_digit(peek_at(p, digit)) || is_digit(peek_at(p, digit + 1))) {
        fail_at(p, p->at, "the power of a unit is a whole number below ten");
        return 1;
    }
    p->at = digit + 1;
    return sign * (peek_at(p, digit) - '0');
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
        if (p->scope != NULL && p->scope->has(p->scope->context, word, length)) {
            fail_at(p, p->at, "'%.*s' is a parameter, not a unit: write * before it", shown, word);
        } else {
            fail_at(p, p->at, "there is no unit '%.*s'%s%s%s", shown, word,
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
    size_t length = measure_unit(p, at), name_length = measure_name(p, at);
    const char* word = p->text + at;
    double factor;
    ItmDimension dimension;
    if (length == 0 || itm_unit_find(word, length, &factor, &dimension)) {
        return length > 0;
    }
    bool is_name = (name_length == 2 && memcmp(word, "pi", 2) == 0) ||
                   peek_at(p, at + name_length) == '(' ||
                   (p->scope != NULL && p->scope->has(p->scope->context, word, name_length));
    return !is_name;
}

// The unit behind a number, if there is one. What follows a / by a space stays below it: J/kg K is
// J/(kg K).
static void parse_unit(Parser* p, ItmQuantity* value)
{
    skip_space(p);
    int sign = 1;
    size_t length = measure_unit(p, p->at);
    while (length > 0 && !p->has_failed) {
        parse_unit_word(p, length, sign, value);
        size_t at = p->at;
        char next = peek_at(p, at);
        if ((next == '*' || next == '/') && continues_unit(p, at + 1)) {
            sign = next == '*' ? 1 : -1;
            p->at++;
        } else if (!skip_utf8(p, "·")) {
            skip_space(p);
        }
        length = measure_unit(p, p->at);
    }
}

// ---------------------------------------------------------------------------- functions

typedef struct Function {
    const char* name;
    int nargument;
} Function;

enum { SIN, COS, TAN, ASIN, ACOS, ATAN, ATAN2, SQRT, ABS, MIN, MAX, EXP, LOG, POW, NFUNCTION };

static const Function FUNCTIONS[NFUNCTION] = {
    [SIN] = {"sin", 1},   [COS] = {"cos", 1},   [TAN] = {"tan", 1},     [ASIN] = {"asin", 1},
    [ACOS] = {"acos", 1}, [ATAN] = {"atan", 1}, [ATAN2] = {"atan2", 2}, [SQRT] = {"sqrt", 1},
    [ABS] = {"abs", 1},   [MIN] = {"min", 2},   [MAX] = {"max", 2},     [EXP] = {"exp", 1},
    [LOG] = {"log", 1},   [POW] = {"pow", 2},
};

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
    fail_at(p, at, "cannot %s %s and %s", what,
            itm_dimension_format(a.dimension, unit_a, sizeof unit_a),
            itm_dimension_format(b.dimension, unit_b, sizeof unit_b));
    return NOTHING;
}

static double need_number(Parser* p, size_t at, const char* what, ItmQuantity a)
{
    if (!itm_quantity_fits(a, ITM_DIM_ONE)) {
        char unit[64];
        fail_at(p, at, "%s needs a number without unit, got %s", what,
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

static ItmQuantity apply_two(Parser* p, size_t at, int function, ItmQuantity a, ItmQuantity b)
{
    if (function == POW) {
        return raise(p, at, a, b);
    }
    ItmQuantity result = agree(p, at, "compare", a, b);
    if (function == ATAN2) {
        return number(atan2(a.value, b.value));
    }
    result.value = function == MIN ? fmin(a.value, b.value) : fmax(a.value, b.value);
    return result;
}

static ItmQuantity apply_one(Parser* p, size_t at, int function, ItmQuantity a)
{
    if (function == SQRT) {
        return raise(p, at, a, number(0.5));
    }
    if (function == ABS) {
        a.value = fabs(a.value);
        return a;
    }
    double x = need_number(p, at, FUNCTIONS[function].name, a);
    switch (function) {
    case SIN:
        return number(sin(x));
    case COS:
        return number(cos(x));
    case TAN:
        return number(tan(x));
    case ASIN:
        return number(asin(x));
    case ACOS:
        return number(acos(x));
    case ATAN:
        return number(atan(x));
    case EXP:
        return number(exp(x));
    default:
        return number(log(x));
    }
}

static int find_function(const char* name, size_t length)
{
    for (int i = 0; i < NFUNCTION; i++) {
        if (strlen(FUNCTIONS[i].name) == length && memcmp(FUNCTIONS[i].name, name, length) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}

static ItmQuantity parse_function(Parser* p, size_t start, size_t length)
{
    int function = find_function(p->text + start, length);
    if (function == ITM_NONE) {
        ItmNearest nearest = itm_nearest_start(p->text + start, length);
        for (int i = 0; i < NFUNCTION; i++) {
            itm_nearest_offer(&nearest, FUNCTIONS[i].name);
        }
        fail_at(p, start, "there is no function '%.*s'%s%s", (int)(length < 40 ? length : 40),
                p->text + start, nearest.best != NULL ? "; nearest: " : "",
                nearest.best != NULL ? nearest.best : "");
        return NOTHING;
    }
    ItmQuantity arguments[2] = {parse_sum(p), NOTHING};
    int n = FUNCTIONS[function].nargument;
    if (n == 2) {
        if (!accept(p, ',')) {
            fail_at(p, p->at, "%s takes two values, separated by a comma",
                    FUNCTIONS[function].name);
        }
        arguments[1] = parse_sum(p);
    }
    if (!accept(p, ')')) {
        fail_at(p, p->at, "a ')' is missing");
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
    size_t start = p->at, length = measure_name(p, start);
    const char* name = p->text + start;
    p->at += length;
    if (accept(p, '(')) {
        return parse_function(p, start, length);
    }
    if (length == 2 && memcmp(name, "pi", 2) == 0) {
        return number(3.14159265358979323846);
    }
    ItmQuantity value = NOTHING;
    if (p->scope == NULL) {
        fail_at(p, start, "there is no parameter '%.*s'", (int)(length < 40 ? length : 40), name);
    } else if (!p->scope->find(p->scope->context, name, length, p->depth, &value, p->error)) {
        p->has_failed = true;
        p->error->offset = start;
    }
    return value;
}

// Digits with an optional point and exponent; strtod alone would also take "inf", "0x1p3" and other
// locales' commas.
static size_t measure_number(const Parser* p)
{
    size_t end = p->at;
    while (is_digit(peek_at(p, end))) {
        end++;
    }
    if (peek_at(p, end) == '.') {
        end++;
        while (is_digit(peek_at(p, end))) {
            end++;
        }
    }
    if (peek_at(p, end) == 'e' || peek_at(p, end) == 'E') {
        size_t digit = end + 1;
        digit += peek_at(p, digit) == '-' || peek_at(p, digit) == '+';
        if (is_digit(peek_at(p, digit))) {
            end = digit;
            while (is_digit(peek_at(p, end))) {
                end++;
            }
        }
    }
    return end - p->at;
}

// Value of a decimal number of at most LONGEST_NUMBER characters. strtod would look for the decimal
// point of the locale, so the point goes into the exponent: 12.5e3 is read as 125e2.
static double convert(const char* text, size_t length)
{
    char digits[LONGEST_NUMBER + 32], power[LONGEST_NUMBER + 1] = "";
    size_t n = 0, i = 0;
    long exponent = 0;
    for (bool is_fraction = false; i < length && text[i] != 'e' && text[i] != 'E'; i++) {
        if (text[i] == '.') {
            is_fraction = true;
        } else {
            digits[n++] = text[i];
            exponent -= is_fraction;
        }
    }
    if (i < length) {
        memcpy(power, text + i + 1, length - i - 1);
        long written = strtol(power, NULL, 10);
        // far beyond what a double can be, and far from overflow here
        exponent += written > 100000 ? 100000 : written < -100000 ? -100000 : written;
    }
    snprintf(digits + n, sizeof digits - n, "e%ld", exponent);
    return strtod(digits, NULL);
}

static ItmQuantity parse_number(Parser* p)
{
    size_t length = measure_number(p);
    if (length > LONGEST_NUMBER) {
        fail_at(p, p->at, "a number of %zu digits is too long", length);
        return NOTHING;
    }
    ItmQuantity value = number(convert(p->text + p->at, length));
    if (!isfinite(value.value)) {
        fail_at(p, p->at, "%.*s is too large for a number", (int)length, p->text + p->at);
    }
    p->at += length;
    parse_unit(p, &value);
    return value;
}

static ItmQuantity parse_primary(Parser* p)
{
    char c = peek(p);
    if (p->has_failed) {
        return NOTHING;
    }
    if (is_digit(c) || (c == '.' && is_digit(peek_at(p, p->at + 1)))) {
        return parse_number(p);
    }
    if (is_letter(c)) {
        return parse_name(p);
    }
    if (accept(p, '(')) {
        ItmQuantity value = parse_sum(p);
        if (!accept(p, ')')) {
            fail_at(p, p->at, "a ')' is missing");
        }
        if (!p->has_failed) {
            parse_unit(p, &value);
        }
        return value;
    }
    fail_at(p, p->at,
            p->at < p->length ? "a number, a name or '(' should stand here"
                              : "the expression ends too early");
    return NOTHING;
}

static ItmQuantity parse_power(Parser* p)
{
    ItmQuantity base = parse_primary(p);
    size_t at = p->at;
    if (accept(p, '^')) {
        return raise(p, at, base, parse_unary(p));
    }
    return base;
}

static ItmQuantity parse_unary(Parser* p)
{
    if (++p->depth > ITM_EXPRESSION_MAX_DEPTH) {
        fail_at(p, p->at, "the expression is nested more than %d deep", ITM_EXPRESSION_MAX_DEPTH);
    }
    ItmQuantity value = NOTHING;
    if (accept(p, '-')) {
        value = parse_unary(p);
        value.value = -value.value;
    } else if (accept(p, '+')) {
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
    for (char c = peek(p); c == '*' || c == '/'; c = peek(p)) {
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
    for (char c = peek(p); c == '+' || c == '-'; c = peek(p)) {
        size_t at = p->at++;
        ItmQuantity b = parse_product(p);
        ItmQuantity sum =
            p->has_failed ? NOTHING : agree(p, at, c == '+' ? "add" : "subtract", a, b);
        sum.value = c == '+' ? a.value + b.value : a.value - b.value;
        a = sum;
    }
    return a;
}

bool itm_expression_compute(ItmQuantity* value, const char* text, size_t length,
                            const ItmScope* scope, int depth, ItmExpressionError* error)
{
    *error = (ItmExpressionError){0};
    Parser p = {.text = text, .length = length, .scope = scope, .depth = depth, .error = error};
    if (length > ITM_EXPRESSION_MAX_LENGTH) {
        fail_at(&p, 0, "an expression of %zu characters is too long", length);
        return false;
    }
    *value = parse_sum(&p);
    if (peek(&p) != '\0') {
        fail_at(&p, p.at, "what should '%.*s' mean here?",
                (int)itm_utf8_cut(text + p.at, length - p.at, 20), text + p.at);
    }
    if (!p.has_failed && !isfinite(value->value)) {
        fail_at(&p, 0, "the result is not a finite number");
    }
    return !p.has_failed;
}
