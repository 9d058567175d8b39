#include "control/program.h"

#include "base/list.h"
#include "base/utf8.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- running

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

// Operands that an operation takes from the stack.
static int count_operands(const ItmOp* op)
{
    if (op->code == ITM_OP_FUNCTION) {
        return itm_function_get_argument_count((ItmFunction)op->index);
    }
    return op->code < ITM_OP_NEGATE ? 0 : op->code < ITM_OP_ADD ? 1 : 2;
}

static double apply(const ItmOp* op, const double* x)
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

static double load(const ItmOp* op, const ItmProgramScope* scope)
{
    switch (op->code) {
    case ITM_OP_CONSTANT:
        return op->value;
    case ITM_OP_TIME:
        return scope->time;
    case ITM_OP_BLOCK:
        return scope->blocks[op->index];
    case ITM_OP_SIGNAL:
        return scope->signals[op->index];
    case ITM_OP_SIGNAL_RATE:
        return scope->signal_rates[op->index];
    case ITM_OP_INPUT:
        return scope->inputs[op->index];
    default:
        return NAN;
    }
}

double itm_program_run(const ItmOp* ops, int nop, const ItmProgramScope* scope, double* stack)
{
    double* top = stack;  // first free place
    for (int i = 0; i < nop; i++) {
        if (ops[i].code < ITM_OP_NEGATE) {
            *top++ = load(&ops[i], scope);
        } else {
            top -= count_operands(&ops[i]);
            *top = apply(&ops[i], top);
            top++;
        }
    }
    return stack[0];
}

// ---------------------------------------------------------------------------- writing

typedef struct Compiler {
    ItmScan s;
    struct {
        ItmOp* items;
        int count, capacity;
    } ops;
    int height, nstack;  // of the stack, now and at most
    ItmScanUnit scan_unit;
    const void* context;
    bool is_out_of_memory;
} Compiler;

static void parse_or(Compiler* c);
static void parse_unary(Compiler* c);

// Where all operands are constants, the operation is one too.
static bool fold(Compiler* c, const ItmOp* op, int n)
{
    double x[ITM_FUNCTION_MOST_ARGUMENTS];
    ItmOp* first = c->ops.items + c->ops.count - n;
    for (int i = 0; i < n; i++) {
        if (first[i].code != ITM_OP_CONSTANT) {
            return false;
        }
        x[i] = first[i].value;
    }
    first->value = apply(op, x);
    c->ops.count -= n - 1;
    return true;
}

static void emit(Compiler* c, ItmOp op)
{
    if (c->s.has_failed) {
        return;
    }
    int n = count_operands(&op);
    c->height += 1 - n;
    c->nstack = c->height > c->nstack ? c->height : c->nstack;
    if ((n == 0 || !fold(c, &op, n)) && !ITM_LIST_APPEND(c->ops, op)) {
        c->is_out_of_memory = true;
        itm_scan_fail(&c->s, 0, "out of memory");
    }
}

static void emit_code(Compiler* c, ItmOpCode code)
{
    emit(c, (ItmOp){.code = code});
}

// ---------------------------------------------------------------------------- reading

// Go past a word that is an operator.
static bool accept_word(Compiler* c, const char* word)
{
    if (!itm_scan_is_letter(itm_scan_peek(&c->s))) {
        return false;
    }
    size_t length = itm_scan_measure_name(&c->s, c->s.at);
    if (!itm_scan_is_word(c->s.text + c->s.at, length, word)) {
        return false;
    }
    c->s.at += length;
    return true;
}

static void expect_close(Compiler* c)
{
    if (!itm_scan_accept(&c->s, ')')) {
        itm_scan_fail(&c->s, c->s.at, "a ')' is missing");
    }
}

// What is on the stack, in the unit that follows.
static void parse_unit(Compiler* c)
{
    if (c->scan_unit == NULL || c->s.has_failed) {
        return;
    }
    double factor = c->scan_unit(&c->s, c->context);
    if (factor != 1.0) {
        emit(c, (ItmOp){.code = ITM_OP_CONSTANT, .value = factor});
        emit_code(c, ITM_OP_MULTIPLY);
    }
}

// A name with its dots, or in quotes; the op says where it stands.
static ItmOp parse_name(Compiler* c, ItmOpCode code)
{
    ItmScan* s = &c->s;
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
        while (itm_scan_at(s, s->at) == '.' &&
               (itm_scan_is_letter(itm_scan_at(s, s->at + 1)) || itm_scan_is_digit(itm_scan_at(s, s->at + 1)))) {
            do {
                s->at++;
            } while (itm_scan_is_letter(itm_scan_at(s, s->at)) || itm_scan_is_digit(itm_scan_at(s, s->at)));
        }
    }
    ItmOp op = {.code = code, .offset = (int)start, .length = (int)(s->at - start)};
    s->at += is_quoted && !s->has_failed;
    return op;
}

// rate(name)
static void parse_rate(Compiler* c)
{
    char next = itm_scan_peek(&c->s);
    if (next != '\'' && !itm_scan_is_letter(next)) {
        itm_scan_fail(&c->s, c->s.at, "rate takes the name of a signal; of other things a derivative block gives the rate");
        return;
    }
    emit(c, parse_name(c, ITM_OP_RATE));
    if (!itm_scan_accept(&c->s, ')')) {
        itm_scan_fail(&c->s, c->s.at,
                      "rate takes the name of a signal and nothing else; of other things a derivative block gives the rate");
    }
}

// The arguments of a function, behind its '('. min and max take any number from two on.
static void parse_function(Compiler* c, size_t start, size_t length)
{
    const char* nearest = NULL;
    int function = itm_function_find(c->s.text + start, length, ITM_FUNCTION_COUNT, &nearest);
    if (function == ITM_NONE) {
        itm_scan_fail(&c->s, start, "there is no function '%.*s'%s%s", (int)(length < 40 ? length : 40),
                      c->s.text + start, nearest != NULL ? "; nearest: " : "", nearest != NULL ? nearest : "");
        return;
    }
    int wanted = itm_function_get_argument_count((ItmFunction)function), n = 0;
    bool is_open = function == ITM_FUNCTION_MIN || function == ITM_FUNCTION_MAX;
    ItmOp call = {.code = ITM_OP_FUNCTION, .index = function, .offset = (int)start, .length = (int)length};
    do {
        parse_or(c);
        n++;
        if (is_open && n >= wanted) {
            emit(c, call);
        }
    } while (itm_scan_accept(&c->s, ','));
    expect_close(c);
    if (is_open ? n < wanted : n != wanted) {
        itm_scan_fail(&c->s, start, "%s takes %s%d value%s, not %d", itm_function_name((ItmFunction)function),
                      is_open ? "at least " : "", wanted, wanted == 1 ? "" : "s", n);
    } else if (!is_open) {
        emit(c, call);
    }
}

static void parse_word(Compiler* c)
{
    ItmOp name = parse_name(c, ITM_OP_NAME);
    const char* word = c->s.text + name.offset;
    size_t length = (size_t)name.length, start = (size_t)name.offset;
    bool is_quoted = start > 0 && word[-1] == '\'';
    bool is_dotted = memchr(word, '.', length) != NULL;
    if (is_quoted || is_dotted) {
        emit(c, name);
    } else if (itm_scan_accept(&c->s, '(')) {
        if (itm_scan_is_word(word, length, "rate")) {
            parse_rate(c);
        } else {
            parse_function(c, start, length);
        }
    } else if (itm_scan_is_word(word, length, "pi")) {
        emit(c, (ItmOp){.code = ITM_OP_CONSTANT, .value = 3.14159265358979323846});
    } else if (itm_scan_is_word(word, length, "time")) {
        name.code = ITM_OP_TIME;
        emit(c, name);
    } else if (itm_scan_is_word(word, length, "and") || itm_scan_is_word(word, length, "or") ||
               itm_scan_is_word(word, length, "not")) {
        itm_scan_fail(&c->s, start, "a value should stand here, not '%.*s'", name.length, word);
    } else {
        emit(c, name);
    }
}

static void parse_primary(Compiler* c)
{
    ItmScan* s = &c->s;
    char next = itm_scan_peek(s);
    if (s->has_failed) {
        return;
    }
    if (itm_scan_has_number(s)) {
        emit(c, (ItmOp){.code = ITM_OP_CONSTANT, .value = itm_scan_number(s)});
        parse_unit(c);
    } else if (itm_scan_is_letter(next) || next == '\'') {
        parse_word(c);
    } else if (itm_scan_accept(s, '(')) {
        parse_or(c);
        expect_close(c);
        parse_unit(c);
    } else {
        itm_scan_fail(s, s->at, s->at < s->length ? "a number, a name or '(' should stand here"
                                                  : "the expression ends too early");
    }
}

static void parse_power(Compiler* c)
{
    parse_primary(c);
    if (itm_scan_accept(&c->s, '^')) {
        parse_unary(c);
        emit(c, (ItmOp){.code = ITM_OP_FUNCTION, .index = ITM_FUNCTION_POW});
    }
}

static void parse_unary(Compiler* c)
{
    itm_scan_enter(&c->s);
    if (itm_scan_accept(&c->s, '-')) {
        parse_unary(c);
        emit_code(c, ITM_OP_NEGATE);
    } else if (itm_scan_accept(&c->s, '+')) {
        parse_unary(c);
    } else if (!c->s.has_failed) {
        parse_power(c);
    }
    c->s.depth--;
}

static void parse_product(Compiler* c)
{
    parse_unary(c);
    for (char next = itm_scan_peek(&c->s); next == '*' || next == '/'; next = itm_scan_peek(&c->s)) {
        c->s.at++;
        parse_unary(c);
        emit_code(c, next == '*' ? ITM_OP_MULTIPLY : ITM_OP_DIVIDE);
    }
}

static void parse_sum(Compiler* c)
{
    parse_product(c);
    for (char next = itm_scan_peek(&c->s); next == '+' || next == '-'; next = itm_scan_peek(&c->s)) {
        c->s.at++;
        parse_product(c);
        emit_code(c, next == '+' ? ITM_OP_ADD : ITM_OP_SUBTRACT);
    }
}

// The comparison at hand, and go past it; ITM_OP_CONSTANT if there is none.
static ItmOpCode accept_comparison(ItmScan* s)
{
    static const struct {
        char first, second;
        ItmOpCode code;
    } SIGNS[] = {{'<', '=', ITM_OP_LESS_EQUAL}, {'<', '\0', ITM_OP_LESS},        {'>', '=', ITM_OP_GREATER_EQUAL},
                 {'>', '\0', ITM_OP_GREATER},   {'=', '=', ITM_OP_EQUAL},        {'!', '=', ITM_OP_NOT_EQUAL}};
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

static void parse_compare(Compiler* c)
{
    parse_sum(c);
    ItmOpCode code = accept_comparison(&c->s);
    if (code == ITM_OP_CONSTANT) {
        return;
    }
    parse_sum(c);
    emit_code(c, code);
    size_t at = c->s.at;
    if (accept_comparison(&c->s) != ITM_OP_CONSTANT) {
        itm_scan_fail(&c->s, at, "comparisons do not chain: write a < b and b < c");
    }
}

static void parse_not(Compiler* c)
{
    int n = 0;
    while (accept_word(c, "not")) {
        n++;
    }
    parse_compare(c);
    // 1 or 0, however often
    for (int i = 0; i < (n > 0 ? 2 - n % 2 : 0); i++) {
        emit_code(c, ITM_OP_NOT);
    }
}

static void parse_and(Compiler* c)
{
    parse_not(c);
    while (accept_word(c, "and")) {
        parse_not(c);
        emit_code(c, ITM_OP_AND);
    }
}

static void parse_or(Compiler* c)
{
    parse_and(c);
    while (accept_word(c, "or")) {
        parse_and(c);
        emit_code(c, ITM_OP_OR);
    }
}

ItmStatus itm_program_compile(ItmProgram* program, const char* text, ItmScanUnit scan_unit, const void* context,
                              ItmExpressionError* error)
{
    *program = (ItmProgram){0};
    *error = (ItmExpressionError){0};
    size_t length = strlen(text);
    Compiler c = {.s = {.text = text, .length = length, .error = error}, .scan_unit = scan_unit, .context = context};
    if (length > ITM_EXPRESSION_MAX_LENGTH) {
        itm_scan_fail(&c.s, 0, "an expression of %zu characters is too long", length);
    } else {
        parse_or(&c);
        if (itm_scan_peek(&c.s) != '\0') {
            itm_scan_fail(&c.s, c.s.at, "what should '%.*s' mean here?",
                          (int)itm_utf8_cut(text + c.s.at, length - c.s.at, 20), text + c.s.at);
        }
        program->text = malloc(length + 1);
    }
    if (c.s.has_failed || program->text == NULL) {
        bool is_out_of_memory = c.is_out_of_memory || !c.s.has_failed;
        free(c.ops.items);
        itm_program_free(program);
        return is_out_of_memory ? ITM_ERR_MEMORY : ITM_ERR_INPUT;
    }
    memcpy(program->text, text, length + 1);
    program->ops = c.ops.items;
    program->nop = c.ops.count;
    program->nstack = c.nstack;
    return ITM_OK;
}

void itm_program_free(ItmProgram* program)
{
    free(program->text);
    free(program->ops);
    *program = (ItmProgram){0};
}
