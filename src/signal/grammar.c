#include "signal/grammar.h"

#include "base/utf8.h"
#include "math/vec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Parser {
    ItmScan* s;
    const ItmScope* scope;
    const ItmOpSink* sink;
} Parser;

static void parse_or(Parser* p);
static void parse_unary(Parser* p);

// ---------------------------------------------------------------------------- operations

int itm_grammar_count_operands(const ItmOp* op)
{
    if (op->code == ITM_OP_FUNCTION) {
        return itm_function_get_argument_count((ItmFunction)op->index);
    }
    return op->code < ITM_OP_NEGATE ? 0 : op->code < ITM_OP_ADD ? 1 : 2;
}

static double apply_two(ItmOpCode code, double a, double b)
{
    switch (code) {
    case ITM_OP_ADD:
        return a + b;
    case ITM_OP_SUBTRACT:
        return a - b;
    case ITM_OP_MULTIPLY:
        return a * b;
    case ITM_OP_DIVIDE:
        return a / b;
    case ITM_OP_LESS:
        return a < b;
    case ITM_OP_LESS_EQUAL:
        return a <= b;
    case ITM_OP_GREATER:
        return a > b;
    case ITM_OP_GREATER_EQUAL:
        return a >= b;
    case ITM_OP_EQUAL:
        return a == b;
    case ITM_OP_NOT_EQUAL:
        return a != b;
    case ITM_OP_AND:
        return a != 0 && b != 0;
    default:
        return a != 0 || b != 0;
    }
}

double itm_grammar_apply(const ItmOp* op, const double* x)
{
    switch (op->code) {
    case ITM_OP_NEGATE:
        return -x[0];
    case ITM_OP_NOT:
        return x[0] == 0;
    case ITM_OP_FUNCTION:
        return itm_function_compute((ItmFunction)op->index, x);
    default:
        return apply_two(op->code, x[0], x[1]);
    }
}

static void emit(Parser* p, ItmOp op)
{
    if (!p->s->has_failed) {
        p->sink->put(p->sink->context, p->s, &op, NULL);
    }
}

static void emit_at(Parser* p, ItmOpCode code, size_t at)
{
    emit(p, (ItmOp){.code = code, .offset = (int)at, .length = 1});
}

static void emit_constant(Parser* p, ItmQuantity value, size_t at)
{
    if (!p->s->has_failed) {
        ItmOp op = {.code = ITM_OP_CONSTANT, .value = value.value, .offset = (int)at, .length = (int)(p->s->at - at)};
        p->sink->put(p->sink->context, p->s, &op, &value);
    }
}

// ---------------------------------------------------------------------------- units

static bool has_parameter(const Parser* p, const char* name, size_t length)
{
    return p->scope != NULL && p->scope->has(p->scope->context, name, length);
}

// Bytes of the unit word at `at`: letters and characters beyond ASCII, except superscripts and dots; 0 for "and", "or".
static size_t measure_unit(const ItmScan* s, size_t at)
{
    size_t end = at;
    if (itm_scan_at(s, at) == '%') {
        return 1;
    }
    while (end < s->length) {
        const char* c = s->text + end;
        bool is_special =
            s->length - end >= 2 && (memcmp(c, "²", 2) == 0 || memcmp(c, "³", 2) == 0 || memcmp(c, "·", 2) == 0);
        if (is_special || !(itm_scan_is_letter(*c) || (unsigned char)*c >= 0x80)) {
            break;
        }
        end++;
    }
    size_t length = end - at;
    bool is_operator = itm_scan_is_word(s->text + at, length, "and") || itm_scan_is_word(s->text + at, length, "or");
    return is_operator ? 0 : length;
}

static bool skip_utf8(ItmScan* s, const char* character)
{
    size_t n = strlen(character);
    if (s->length - s->at >= n && memcmp(s->text + s->at, character, n) == 0) {
        s->at += n;
        return true;
    }
    return false;
}

// A number with an optional sign; NAN where there is none.
static double parse_signed(ItmScan* s)
{
    bool is_negative = itm_scan_at(s, s->at) == '-';
    s->at += is_negative || itm_scan_at(s, s->at) == '+';
    double value = itm_scan_has_number(s) ? itm_scan_number(s) : (double)NAN;
    return is_negative ? -value : value;
}

// "^2", "^-1", "^0.5", "^(1/3)", "²", "³", or nothing.
static double parse_unit_power(ItmScan* s)
{
    if (skip_utf8(s, "²")) {
        return 2.0;
    }
    if (skip_utf8(s, "³")) {
        return 3.0;
    }
    size_t start = s->at;
    if (!skip_utf8(s, "^")) {
        return 1.0;
    }
    bool is_enclosed = skip_utf8(s, "(");
    double power = parse_signed(s);
    power = is_enclosed && skip_utf8(s, "/") ? power / parse_signed(s) : power;
    if (!(fabs(power) < 100.0) || (is_enclosed && !skip_utf8(s, ")"))) {
        itm_scan_fail(s, start, "the power of a unit is a number below 100, as in m^2, m^-1, m^0.5 or m^(1/3)");
        return 1.0;
    }
    return power;
}

static void refuse_unit(Parser* p, const char* word, size_t length)
{
    const char* nearest = itm_quantity_suggest_unit(word, length);
    int shown = (int)itm_utf8_cut(word, length, 40);
    if (has_parameter(p, word, length)) {
        itm_scan_fail(p->s, p->s->at, "'%.*s' is a parameter, not a unit: write * before it", shown, word);
    } else {
        itm_scan_fail(p->s, p->s->at, "there is no unit '%.*s'%s%s%s", shown, word,
                      nearest != NULL ? "; nearest: '" : "", nearest != NULL ? nearest : "",
                      nearest != NULL ? "'" : "");
    }
}

// One unit word with its power into *value, as a factor or (sign < 0) as a divisor.
static void parse_unit_word(Parser* p, size_t length, int sign, ItmQuantity* value)
{
    double factor;
    ItmDimension dimension;
    const char* word = p->s->text + p->s->at;
    if (!itm_quantity_find_unit(word, length, &factor, &dimension)) {
        refuse_unit(p, word, length);
        return;
    }
    p->s->at += length;
    double power = sign * parse_unit_power(p->s);
    value->value = power == 1.0 ? value->value * factor : value->value * pow(factor, power);
    value->dimension = itm_quantity_multiply_dimensions(value->dimension, dimension, power);
    value->is_bare = false;
}

// Whether a unit goes on behind an operator at `at`: a word follows at once, it is a unit, and no parameter has the whole
// name there (0.35 m*s1 with a parameter s1); or nothing but a unit can stand there.
static bool continues_unit(const Parser* p, size_t at)
{
    size_t length = measure_unit(p->s, at), name_length = itm_scan_measure_name(p->s, at);
    const char* word = p->s->text + at;
    double factor;
    ItmDimension dimension;
    if (length == 0 || (name_length > length && has_parameter(p, word, name_length))) {
        return false;
    }
    if (itm_quantity_find_unit(word, length, &factor, &dimension)) {
        return true;
    }
    bool is_name = itm_scan_is_word(word, name_length, "pi") || itm_scan_at(p->s, at + name_length) == '(' ||
                   itm_scan_at(p->s, at + name_length) == '.' || has_parameter(p, word, name_length);
    return !is_name;
}

// The unit behind a number, if there is one, as in "5 m/s" and "5 1/s". What follows a / by a space stays below it: J/kg K is J/(kg K).
static bool parse_unit(Parser* p, ItmQuantity* value)
{
    ItmScan* s = p->s;
    itm_scan_skip_space(s);
    bool is_inverse = itm_scan_at(s, s->at) == '1' && itm_scan_at(s, s->at + 1) == '/' && continues_unit(p, s->at + 2);
    int sign = is_inverse ? -1 : 1;
    s->at += is_inverse ? 2 : 0;
    size_t length = measure_unit(s, s->at);
    bool has_unit = length > 0;
    while (length > 0 && !s->has_failed) {
        parse_unit_word(p, length, sign, value);
        size_t at = s->at;
        char next = itm_scan_at(s, at);
        if ((next == '*' || next == '/') && continues_unit(p, at + 1)) {
            sign = next == '*' ? 1 : -1;
            s->at++;
        } else if (!skip_utf8(s, "·")) {
            itm_scan_skip_space(s);
        }
        length = measure_unit(s, s->at);
    }
    return has_unit;
}

// ---------------------------------------------------------------------------- names and functions

static void expect_close(Parser* p)
{
    if (!itm_scan_accept(p->s, ')')) {
        itm_scan_fail(p->s, p->s->at, "a ')' is missing");
    }
}

// Go past a word that is an operator.
static bool accept_word(Parser* p, const char* word)
{
    if (!itm_scan_is_letter(itm_scan_peek(p->s))) {
        return false;
    }
    size_t length = itm_scan_measure_name(p->s, p->s->at);
    if (!itm_scan_is_word(p->s->text + p->s->at, length, word)) {
        return false;
    }
    p->s->at += length;
    return true;
}

static bool is_name_character(const ItmScan* s, size_t at)
{
    return itm_scan_is_letter(itm_scan_at(s, at)) || itm_scan_is_digit(itm_scan_at(s, at));
}

// A name with its dots, or in quotes; the operation holds its place.
static ItmOp parse_name(Parser* p, ItmOpCode code)
{
    ItmScan* s = p->s;
    bool is_quoted = itm_scan_accept(s, '\'');
    size_t start = s->at;
    if (is_quoted) {
        while (s->at < s->length && s->text[s->at] != '\'') {
            s->at++;
        }
        if (s->at == s->length || s->at == start) {
            itm_scan_fail(s, start - 1, "a name in quotes ends with ' and is not empty");
        }
    } else {
        s->at += itm_scan_measure_name(s, start);
        while (itm_scan_at(s, s->at) == '.' && is_name_character(s, s->at + 1)) {
            do {
                s->at++;
            } while (is_name_character(s, s->at));
        }
    }
    ItmOp op = {.code = code, .offset = (int)start, .length = (int)(s->at - start)};
    s->at += is_quoted && !s->has_failed;
    return op;
}

// rate(name)
static void parse_rate(Parser* p)
{
    ItmScan* s = p->s;
    char next = itm_scan_peek(s);
    if (next != '\'' && !itm_scan_is_letter(next)) {
        itm_scan_fail(s, s->at, "rate takes the name of a signal; use a derivative block for other rates");
        return;
    }
    emit(p, parse_name(p, ITM_OP_RATE));
    if (!itm_scan_accept(s, ')')) {
        itm_scan_fail(s, s->at,
                      "rate takes the name of a signal and nothing else; use a derivative block for other rates");
    }
}

// The arguments of a function, behind its '('. min and max take two or more.
static void parse_function(Parser* p, size_t start, size_t length)
{
    ItmScan* s = p->s;
    const char* nearest = NULL;
    int function = itm_function_find(s->text + start, length, &nearest);
    if (function == ITM_NONE) {
        itm_scan_fail(s, start, "there is no function '%.*s'%s%s", (int)(length < 40 ? length : 40), s->text + start,
                      nearest != NULL ? "; nearest: " : "", nearest != NULL ? nearest : "");
        return;
    }
    int wanted = itm_function_get_argument_count((ItmFunction)function), n = 0;
    bool is_open = function == ITM_FUNCTION_MIN || function == ITM_FUNCTION_MAX;
    ItmOp call = {.code = ITM_OP_FUNCTION, .index = function, .offset = (int)start, .length = (int)length};
    do {
        parse_or(p);
        n++;
        if (is_open && n >= wanted) {
            emit(p, call);
        }
    } while (itm_scan_accept(s, ','));
    expect_close(p);
    if (is_open ? n < wanted : n != wanted) {
        itm_scan_fail(s, start, "%s takes %s%d value%s, not %d", itm_function_name((ItmFunction)function),
                      is_open ? "at least " : "", wanted, wanted == 1 ? "" : "s", n);
    } else if (!is_open) {
        emit(p, call);
    }
}

static void parse_word(Parser* p)
{
    ItmScan* s = p->s;
    ItmOp name = parse_name(p, ITM_OP_NAME);
    const char* word = s->text + name.offset;
    size_t length = (size_t)name.length, start = (size_t)name.offset;
    bool is_quoted = start > 0 && word[-1] == '\'';
    bool is_dotted = memchr(word, '.', length) != NULL;
    if (is_quoted || is_dotted) {
        emit(p, name);
    } else if (itm_scan_accept(s, '(')) {
        if (itm_scan_is_word(word, length, "rate")) {
            parse_rate(p);
        } else {
            parse_function(p, start, length);
        }
    } else if (itm_scan_is_word(word, length, "pi")) {
        emit_constant(p, (ItmQuantity){.value = ITM_PI, .is_bare = true}, start);
    } else if (itm_scan_is_word(word, length, "time")) {
        name.code = ITM_OP_TIME;
        emit(p, name);
    } else if (itm_scan_is_word(word, length, "and") || itm_scan_is_word(word, length, "or") ||
               itm_scan_is_word(word, length, "not")) {
        itm_scan_fail(s, start, "expected a value, not '%.*s'", name.length, word);
    } else {
        emit(p, name);
    }
}

// ---------------------------------------------------------------------------- precedence

static void parse_number(Parser* p)
{
    size_t start = p->s->at;
    ItmQuantity value = {.value = itm_scan_number(p->s), .is_bare = true};
    if (!p->s->has_failed) {
        parse_unit(p, &value);
    }
    emit_constant(p, value, start);
}

static void parse_group(Parser* p)
{
    parse_or(p);
    expect_close(p);
    size_t at = p->s->at;
    ItmQuantity unit = {.value = 1.0, .is_bare = true};
    if (!p->s->has_failed && parse_unit(p, &unit)) {
        emit_constant(p, unit, at);
        emit_at(p, ITM_OP_MULTIPLY, at);
    }
}

static void parse_primary(Parser* p)
{
    ItmScan* s = p->s;
    char next = itm_scan_peek(s);
    if (s->has_failed) {
        return;
    }
    if (itm_scan_has_number(s)) {
        parse_number(p);
    } else if (itm_scan_is_letter(next) || next == '\'') {
        parse_word(p);
    } else if (itm_scan_accept(s, '(')) {
        parse_group(p);
    } else {
        itm_scan_fail(s, s->at,
                      s->at < s->length ? "expected a number, a name or '('" : "the expression ends too early");
    }
}

static void parse_power(Parser* p)
{
    parse_primary(p);
    size_t at = p->s->at;
    if (itm_scan_accept(p->s, '^')) {
        parse_unary(p);
        emit(p, (ItmOp){.code = ITM_OP_FUNCTION, .index = ITM_FUNCTION_POW, .offset = (int)at, .length = 1});
    }
}

static void parse_unary(Parser* p)
{
    itm_scan_enter(p->s);
    size_t at = p->s->at;
    if (itm_scan_accept(p->s, '-')) {
        parse_unary(p);
        emit_at(p, ITM_OP_NEGATE, at);
    } else if (itm_scan_accept(p->s, '+')) {
        parse_unary(p);
    } else if (!p->s->has_failed) {
        parse_power(p);
    }
    p->s->depth--;
}

static void parse_product(Parser* p)
{
    parse_unary(p);
    for (char next = itm_scan_peek(p->s); next == '*' || next == '/'; next = itm_scan_peek(p->s)) {
        size_t at = p->s->at++;
        parse_unary(p);
        emit_at(p, next == '*' ? ITM_OP_MULTIPLY : ITM_OP_DIVIDE, at);
    }
}

static void parse_sum(Parser* p)
{
    parse_product(p);
    for (char next = itm_scan_peek(p->s); next == '+' || next == '-'; next = itm_scan_peek(p->s)) {
        size_t at = p->s->at++;
        parse_product(p);
        emit_at(p, next == '+' ? ITM_OP_ADD : ITM_OP_SUBTRACT, at);
    }
}

// The comparison at hand, and go past it; ITM_OP_CONSTANT if there is none.
static ItmOpCode accept_comparison(ItmScan* s)
{
    static const struct {
        char first, second;
        ItmOpCode code;
    } SIGNS[] = {{'<', '=', ITM_OP_LESS_EQUAL}, {'<', '\0', ITM_OP_LESS}, {'>', '=', ITM_OP_GREATER_EQUAL},
                 {'>', '\0', ITM_OP_GREATER},   {'=', '=', ITM_OP_EQUAL}, {'!', '=', ITM_OP_NOT_EQUAL}};
    char first = itm_scan_peek(s), second = itm_scan_at(s, s->at + 1);
    for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++) {
        bool is_long = SIGNS[i].second != '\0';
        if (first == SIGNS[i].first && (!is_long || second == SIGNS[i].second)) {
            s->at += is_long ? 2 : 1;
            return SIGNS[i].code;
        }
    }
    if (first == '=') {
        itm_scan_fail(s, s->at, "to compare write ==");
    }
    return ITM_OP_CONSTANT;
}

static void parse_compare(Parser* p)
{
    parse_sum(p);
    size_t at = p->s->at;
    ItmOpCode code = accept_comparison(p->s);
    if (code == ITM_OP_CONSTANT) {
        return;
    }
    parse_sum(p);
    emit_at(p, code, at);
    at = p->s->at;
    if (accept_comparison(p->s) != ITM_OP_CONSTANT) {
        itm_scan_fail(p->s, at, "comparisons do not chain: write a < b and b < c");
    }
}

static void parse_not(Parser* p)
{
    int n = 0;
    size_t at = p->s->at;
    while (accept_word(p, "not")) {
        n++;
    }
    parse_compare(p);
    // 1 or 0, however often
    for (int i = 0; i < (n > 0 ? 2 - n % 2 : 0); i++) {
        emit_at(p, ITM_OP_NOT, at);
    }
}

static void parse_and(Parser* p)
{
    parse_not(p);
    for (size_t at = p->s->at; accept_word(p, "and"); at = p->s->at) {
        parse_not(p);
        emit_at(p, ITM_OP_AND, at);
    }
}

static void parse_or(Parser* p)
{
    parse_and(p);
    for (size_t at = p->s->at; accept_word(p, "or"); at = p->s->at) {
        parse_and(p);
        emit_at(p, ITM_OP_OR, at);
    }
}

void itm_grammar_parse(ItmScan* scan, const ItmScope* scope, const ItmOpSink* sink)
{
    Parser p = {.s = scan, .scope = scope, .sink = sink};
    *scan->error = (ItmExpressionError){0};
    if (scan->length > ITM_EXPRESSION_MAX_LENGTH) {
        itm_scan_fail(scan, 0, "an expression of %zu characters is too long", scan->length);
        return;
    }
    parse_or(&p);
    if (itm_scan_peek(scan) != '\0') {
        bool is_decimal_comma =
            itm_scan_at(scan, scan->at) == ',' && itm_scan_is_digit(itm_scan_at(scan, scan->at + 1));
        itm_scan_fail(scan, scan->at, "'%.*s' has no meaning here%s",
                      (int)itm_utf8_cut(scan->text + scan->at, scan->length - scan->at, 20), scan->text + scan->at,
                      is_decimal_comma ? "; write decimals with a point, as in 2.5" : "");
    }
}
