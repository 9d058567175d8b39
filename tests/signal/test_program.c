// Expressions of signals: the language, its errors, and random programs against a second evaluation.
#include "check.h"

#include "signal/program.h"

static const double BLOCKS[] = {3.5, -2.0, 0.0, 1e-3};

// Names a, b, c, d are blocks 0 ... 3.
static bool bind(ItmProgram* p)
{
    for (int i = 0; i < p->nop; i++) {
        if (p->ops[i].code == ITM_OP_NAME) {
            p->ops[i].code = ITM_OP_BLOCK;
            p->ops[i].index = p->text[p->ops[i].offset] - 'a';
            if (p->ops[i].length != 1 || p->ops[i].index < 0 || p->ops[i].index > 3) {
                return false;
            }
        }
    }
    return true;
}

static double run(const ItmProgram* p)
{
    double* stack = malloc((size_t)p->nstack * sizeof *stack);
    ItmProgramScope scope = {.time = 0.25, .blocks = BLOCKS};
    double value = itm_program_run(p->ops, p->nop, &scope, stack);
    free(stack);
    return value;
}

static double compute(const char* text)
{
    ItmProgram p;
    ItmExpressionError error;
    if (itm_program_compile(&p, text, NULL, &error) != ITM_OK) {
        fail_msg("'%s': %s at %zu", text, error.message, error.offset);
    }
    assert_true(bind(&p));
    double value = run(&p);
    itm_program_free(&p);
    return value;
}

static void refuse(const char* text, size_t offset, const char* words)
{
    ItmProgram p;
    ItmExpressionError error;
    if (itm_program_compile(&p, text, NULL, &error) != ITM_ERR_INPUT) {
        fail_msg("'%s' is accepted", text);
    }
    if (error.offset != offset || strstr(error.message, words) == NULL) {
        fail_msg("'%s': expected '%s' at %zu, got '%s' at %zu", text, words, offset, error.message, error.offset);
    }
    assert_null(p.ops);
}

#define CHECK(text, value) check_near(compute(text), (value), 0, text, __FILE__, __LINE__)

static void arithmetic_and_precedence(void** state)
{
    (void)state;
    CHECK("1 + 2*3", 7);
    CHECK("2^3^2", 512);
    CHECK("-2^2", -4);
    CHECK("2^-1", 0.5);
    CHECK("8/4/2 - 7 + 4", -2);
    CHECK("--a", 3.5);
    CHECK("2*a - b", 9);
    CHECK("(a + b) * (a - b)", 1.5 * 5.5);
    CHECK("time + pi", 0.25 + 3.14159265358979323846);
    CHECK(" .5e1 ", 5);
}

static void comparisons_and_words(void** state)
{
    (void)state;
    CHECK("a > b", 1);
    CHECK("a >= 3.5 and b <= -2", 1);
    CHECK("a < b or a == 3.5", 1);
    CHECK("a != 3.5", 0);
    CHECK("not a", 0);
    CHECK("not c", 1);
    CHECK("not not a", 1);
    CHECK("not a > b", 0);      // not (a > b)
    CHECK("c and 1 or 1", 1);   // (c and 1) or 1
    CHECK("1 or 1 and c", 1);   // 1 or (1 and c)
    CHECK("a + 1 > b * 2", 1);  // (a + 1) > (b * 2)
    CHECK("(a > 3) * 10", 10);
    CHECK("if(time > 1, a, b)", -2);
    CHECK("if(a > 0, sqrt(4), sqrt(b))", 2);  // what is not chosen may be no number
}

static void functions(void** state)
{
    (void)state;
    CHECK("min(a, b)", -2);
    CHECK("max(a, b, 7, 1)", 7);
    CHECK("min(4, 3, 2, 1, 0.5)", 0.5);
    CHECK("abs(b) + sign(b) + sign(c)", 1);
    CHECK("clamp(a, 0, 1) + clamp(b, 0, 1) + clamp(0.3, 0, 1)", 1.3);
    CHECK("deadband(a, 1)", 2.5);
    CHECK("deadband(b, 0.5)", -1.5);
    CHECK("deadband(0.2, 0.5)", 0);
    CHECK("floor(b + 0.5) + ceil(0.1)", -1);
    CHECK("atan2(1, b)", atan2(1, -2));
    CHECK("sin(a)^2 + cos(a)^2", pow(sin(3.5), 2) + pow(cos(3.5), 2));
    CHECK("exp(log(a))", exp(log(3.5)));
    CHECK("pow(2, 10)", 1024);
}

static void faults_have_a_place_and_a_remedy(void** state)
{
    (void)state;
    refuse("", 0, "too early");
    refuse("1 +", 3, "too early");
    refuse("1 + * 2", 4, "expected a number");
    refuse("(a + b", 6, "')' is missing");
    refuse("a b", 2, "'b' has no meaning");
    refuse("2 q", 2, "no unit 'q'");
    refuse("sqr(a)", 0, "nearest: sqrt");
    refuse("clamp(a, 1)", 0, "takes 3 values, not 2");
    refuse("min(a)", 0, "at least 2 values, not 1");
    refuse("sin(a, b)", 0, "takes 1 value, not 2");
    refuse("a < b < c", 6, "do not chain");
    refuse("a = b", 2, "==");
    refuse("and a", 0, "not 'and'");
    refuse("a and or b", 6, "not 'or'");
    refuse("rate(2)", 5, "name of a signal");
    refuse("rate(a + b)", 7, "nothing else");
    refuse("'arm.x", 0, "quotes");
    refuse("1e999", 0, "too large");
    refuse("a ? b", 2, "'? b' has no meaning");
    char deep[600];
    memset(deep, '(', sizeof deep);
    deep[sizeof deep - 1] = '\0';
    refuse(deep, 100, "nested");
    memset(deep, '-', sizeof deep - 1);
    refuse(deep, 100, "nested");
    char* longest = malloc(5001);
    memset(longest, ' ', 5000);
    longest[5000] = '\0';
    refuse(longest, 0, "too long");
    free(longest);
}

static void names_keep_their_dots_and_quotes(void** state)
{
    (void)state;
    const char* text = "arm.cyl1.rate - 'left-arm.x y' * 2.5 + block.position.x";
    const char* names[] = {"arm.cyl1.rate", "left-arm.x y", "block.position.x"};
    ItmProgram p;
    ItmExpressionError error;
    assert_int_equal(itm_program_compile(&p, text, NULL, &error), ITM_OK);
    int n = 0;
    for (int i = 0; i < p.nop; i++) {
        if (p.ops[i].code == ITM_OP_NAME) {
            assert_int_equal(p.ops[i].length, strlen(names[n]));
            assert_memory_equal(p.text + p.ops[i].offset, names[n], strlen(names[n]));
            n++;
        }
    }
    assert_int_equal(n, 3);
    itm_program_free(&p);
}

static void constants_are_folded(void** state)
{
    (void)state;
    ItmProgram p;
    ItmExpressionError error;
    assert_int_equal(itm_program_compile(&p, "a * (2*pi/360 + max(1, 2, 3)) ^ 2", NULL, &error), ITM_OK);
    assert_int_equal(p.nop, 3);
    assert_int_equal(p.nstack, 4);  // a, 2 pi / 360, 2, 3 while it was written; never less than needed
    itm_program_free(&p);
}

// ---------------------------------------------------------------------------- random programs

// A random expression is written as text with as few parentheses as the precedences allow, and evaluated on the way by the
// C compiler's own operators.
typedef struct Writer {
    char text[16384];
    size_t length;
    uint64_t random;
} Writer;

static unsigned draw(Writer* w, unsigned n)
{
    w->random = w->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(w->random >> 33) % n;
}

static void put(Writer* w, const char* text)
{
    w->length +=
        (size_t)snprintf(w->text + w->length, sizeof w->text - w->length, "%s%s", text, draw(w, 4) == 0 ? " " : "");
}

// How strongly things bind.
enum { OR, AND, NOT, COMPARE, SUM, PRODUCT, UNARY, POWER, PRIMARY };

static double write_any(Writer* w, int level, int depth);

static double write_primary(Writer* w, int depth)
{
    char text[32];
    double a, b, c;
    switch (draw(w, depth > 0 ? 9 : 3)) {
    case 0:
        a = (double)draw(w, 1000) / 8;
        snprintf(text, sizeof text, "%.17g", a);
        put(w, text);
        return a;
    case 1: {
        unsigned i = draw(w, 4);
        snprintf(text, sizeof text, "%c", 'a' + (int)i);
        put(w, text);
        return BLOCKS[i];
    }
    case 2:
        put(w, "time");
        return 0.25;
    case 3:
        put(w, "min(");
        a = write_any(w, OR, depth - 1);
        put(w, ",");
        b = write_any(w, OR, depth - 1);
        put(w, ",");
        c = write_any(w, OR, depth - 1);
        put(w, ")");
        return fmin(fmin(a, b), c);
    case 4:
        put(w, "if(");
        a = write_any(w, OR, depth - 1);
        put(w, ",");
        b = write_any(w, OR, depth - 1);
        put(w, ",");
        c = write_any(w, OR, depth - 1);
        put(w, ")");
        return a != 0 ? b : c;
    case 5:
        put(w, "sin(");
        a = write_any(w, OR, depth - 1);
        put(w, ")");
        return sin(a);
    case 6:
        put(w, "deadband(");
        a = write_any(w, OR, depth - 1);
        put(w, ",1.5)");
        return a > 1.5 ? a - 1.5 : a < -1.5 ? a + 1.5 : 0.0;
    case 7:
        put(w, "sqrt(");
        a = write_any(w, OR, depth - 1);
        put(w, ")");
        return sqrt(a);
    default:
        put(w, "(");
        a = write_any(w, OR, depth - 1);
        put(w, ")");
        return a;
    }
}

// Two operands of an operator of this level; the right one binds stronger, the left one too where operators do not repeat.
static double write_two(Writer* w, int level, int depth)
{
    static const char* const COMPARISONS[] = {"<", "<=", ">", ">=", "==", "!="};
    unsigned which = draw(w, level == COMPARE ? 6 : 2);
    double a = write_any(w, level == COMPARE ? SUM : level, depth - 1);
    put(w, level == OR        ? " or "
           : level == AND     ? " and "
           : level == COMPARE ? COMPARISONS[which]
           : level == SUM     ? (which == 0 ? "+" : "-")
                              : (which == 0 ? "*" : "/"));
    double b = write_any(w, level == COMPARE ? SUM : level + 1, depth - 1);
    switch (level) {
    case OR:
        return a != 0 || b != 0;
    case AND:
        return a != 0 && b != 0;
    case SUM:
        return which == 0 ? a + b : a - b;
    case PRODUCT:
        return which == 0 ? a * b : a / b;
    default:
        return which == 0   ? a < b
               : which == 1 ? a <= b
               : which == 2 ? a > b
               : which == 3 ? a >= b
               : which == 4 ? a == b
                            : a != b;
    }
}

// Something that binds at least as strongly as `level`.
static double write_any(Writer* w, int level, int depth)
{
    int kind = depth > 0 ? level + (int)draw(w, (unsigned)(PRIMARY - level + 1)) : PRIMARY;
    double a, b;
    switch (kind) {
    case NOT:
        put(w, "not ");
        return write_any(w, COMPARE, depth - 1) == 0;
    case UNARY:
        put(w, "-");
        return -write_any(w, UNARY, depth - 1);
    case POWER:
        a = write_primary(w, depth - 1);
        put(w, "^");
        b = write_any(w, UNARY, depth - 1);
        return pow(a, b);
    case PRIMARY:
        return write_primary(w, depth - 1);
    default:
        return write_two(w, kind, depth);
    }
}

static void random_programs_agree_with_a_second_evaluation(void** state)
{
    (void)state;
    Writer w = {.random = 20240917};
    int nfinite = 0, nlong = 0;
    for (int i = 0; i < 20000; i++) {
        w.length = 0;
        double want = write_any(&w, OR, 1 + (int)draw(&w, 6));
        if (w.length >= ITM_EXPRESSION_MAX_LENGTH) {
            nlong++;
            continue;
        }
        double got = compute(w.text);
        if (!(got == want || (isnan(got) && isnan(want)))) {
            fail_msg("case %d: '%s' gives %.17g, want %.17g", i, w.text, got, want);
        }
        nfinite += isfinite(want);
    }
    assert_true(nfinite > 10000);  // otherwise it proves little
    assert_true(nlong < 1000);
}

// Broken texts come back with a place inside them, whatever they are.
static void broken_programs_end(void** state)
{
    (void)state;
    Writer w = {.random = 7};
    static const char SPICE[] = "()+-*/^<>=!',.0e '\xc3\xb2ratenotifand";
    for (int i = 0; i < 20000; i++) {
        w.length = 0;
        write_any(&w, OR, 4);
        for (unsigned n = draw(&w, 4) + 1; n > 0 && w.length > 0; n--) {
            w.text[draw(&w, (unsigned)w.length)] = SPICE[draw(&w, sizeof SPICE - 1)];
        }
        ItmProgram p;
        ItmExpressionError error;
        ItmStatus status = itm_program_compile(&p, w.text, NULL, &error);
        if (status == ITM_OK) {
            itm_program_free(&p);
        } else {
            assert_int_equal(status, ITM_ERR_INPUT);
            assert_true(error.offset <= strlen(w.text));
            assert_true(strlen(error.message) > 5);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_and_precedence),
        cmocka_unit_test(comparisons_and_words),
        cmocka_unit_test(functions),
        cmocka_unit_test(faults_have_a_place_and_a_remedy),
        cmocka_unit_test(names_keep_their_dots_and_quotes),
        cmocka_unit_test(constants_are_folded),
        cmocka_unit_test(random_programs_agree_with_a_second_evaluation),
        cmocka_unit_test(broken_programs_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
