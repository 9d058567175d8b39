// The examples have the numbers of the papers: tests/papers/PAPER.csv lists every number of the parameter tables and of the text beside
// them, and where it is in an example. Columns:
//   place      table, section or equation
//   symbol     as in the paper
//   value      as printed, a number or an expression; "a ± b" where the paper has rounded
//   unit       as printed, in the notation of model files
//   examples   files of examples/ without their ending, separated by spaces
//   where      path of the value, or an expression with paths in braces: {multibody.gravity.1}; {#multibody.joints} counts members, and
//              {ramp @ 1.5 s} is a signal at a time. Empty: the example has no such value.
//   here       value and unit in the example where it differs on purpose; empty: as printed
//   why        reason of a difference or an absence
// Units and parameters are those of the reader of model files itself.
#include "check.h"

#include "signal/expression.h"
#include "io/model/reader.h"
#include "signal/signal.h"

enum { PLACE, SYMBOL, VALUE, UNIT, EXAMPLES, WHERE, HERE, WHY, NFIELD };
enum { LINE = 2048 };

// ---------------------------------------------------------------------------- the tables

// Split a line of CSV in place: fields may be quoted, a quote inside is doubled. Returns their number.
static int split(char* line, char* fields[NFIELD])
{
    int n = 0;
    char *from = line, *to = line;
    bool is_quoted = false;
    fields[n++] = to;
    for (; *from != '\0' && *from != '\n'; from++) {
        if (*from == '"' && is_quoted && from[1] == '"') {
            *to++ = *from++;
        } else if (*from == '"') {
            is_quoted = !is_quoted;
        } else if (*from == ',' && !is_quoted) {
            *to++ = '\0';
            if (n == NFIELD) {
                return NFIELD + 1;
            }
            fields[n++] = to;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
    return n;
}

// value and unit as the reader of model files takes them; a text that it cannot read fails the test.
static ItmQuantity evaluate(const char* value, size_t length, const char* unit)
{
    char text[LINE];
    snprintf(text, sizeof text, "(%.*s) %s", (int)length, value, unit);
    ItmQuantity quantity = {0};
    ItmExpressionError error = {0};
    if (!itm_expression_compute(&quantity, text, strlen(text), NULL, 0, &error)) {
        fail_msg("'%s' is no quantity", text);
    }
    return quantity;
}

// ---------------------------------------------------------------------------- the examples

typedef struct Example {
    ItmDocument doc;
    ItmError error;
    ItmReader reader;
    char* text;
    char path[LINE];
} Example;

static char* read_whole(const char* path)
{
    FILE* stream = fopen(path, "rb");
    if (stream == NULL) {
        fail_msg("there is no file %s", path);
    }
    const size_t capacity = 1u << 20;
    char* text = calloc(1, capacity);
    size_t length = fread(text, 1, capacity, stream);
    assert_true(length > 0 && length < capacity);
    fclose(stream);
    return text;
}

static void open_example(Example* e, const char* name, size_t length, const char* override, bool has_signals)
{
    *e = (Example){0};
    snprintf(e->path, sizeof e->path, "%s/examples/%.*s.yaml", ITM_SOURCE_DIR, (int)length, name);
    e->text = read_whole(e->path);
    CHECK_OK(itm_yaml_parse(&e->doc.root, &e->doc, e->text, strlen(e->text), e->path, 1, &e->error), &e->error);
    if (override != NULL) {
        CHECK_OK(itm_override_apply(&e->doc, override, &e->error), &e->error);
    }
    e->reader = (ItmReader){.doc = &e->doc, .error = &e->error, .path = e->path};
    itm_read_parameters(&e->reader, itm_document_find(e->doc.root, "parameters"));
    if (has_signals) {
        itm_read_signals(&e->reader, itm_document_find(e->doc.root, "signals"));
    }
    CHECK_OK(e->reader.status, &e->error);
}

static void close_example(Example* e)
{
    free(e->reader.parameters);
    free(e->reader.signals);
    itm_names_free(&e->reader.parameter_names);
    itm_names_free(&e->reader.signal_names);
    itm_document_free(&e->doc);
    free(e->text);
}

// The node at "multibody.bodies.boom.com.0": keys of mappings, indices of lists; NULL: there is none.
static const ItmNode* find_node(const ItmNode* node, const char* path)
{
    char key[LINE];
    while (node != NULL && *path != '\0') {
        size_t n = strcspn(path, ".");
        snprintf(key, sizeof key, "%.*s", (int)n, path);
        path += n + (path[n] == '.');
        if (node->kind == ITM_NODE_LIST) {
            const ItmItem* item = node->first;
            for (long i = strtol(key, NULL, 10); i > 0 && item != NULL; i--) {
                item = item->next;
            }
            node = item != NULL ? item->value : NULL;
        } else {
            node = node->kind == ITM_NODE_MAP ? itm_document_find(node, key) : NULL;
        }
    }
    return node;
}

// Value of the signal `name` at a time.
static double compute_signal(Example* e, const char* name, double time)
{
    const ItmReader* r = &e->reader;
    for (int i = 0; i < r->nsignal; i++) {
        const ItmSignalDef* def = &r->signals[i].def;
        if (strcmp(def->name, name) == 0) {
            ItmSignal signal;
            double* memory = calloc(4 * (size_t)def->npoint + 1, sizeof *memory);
            itm_signal_compile(&signal, def, memory);
            double value = itm_signal_compute(&signal, time).x;
            free(memory);
            return value;
        }
    }
    fail_msg("%s: there is no signal '%s'", e->path, name);
    return 0.0;
}

// What stands in braces, as a text that the reader of expressions takes.
static int expand(Example* e, const char* inside, char* text, size_t size)
{
    char name[LINE];
    const char* at = strchr(inside, '@');
    if (at != NULL) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(inside, " @"), inside);
        ItmQuantity time = evaluate(at + 1, strlen(at + 1), "");
        return snprintf(text, size, "(%.17g)", compute_signal(e, name, time.value));
    }
    const ItmNode* node = find_node(e->doc.root, inside + (*inside == '#'));
    if (node == NULL || (*inside != '#' && node->kind != ITM_NODE_SCALAR)) {
        fail_msg("%s: there is no value %s", e->path, inside);
    }
    return *inside == '#' ? snprintf(text, size, "%d", node->count) : snprintf(text, size, "(%s)", node->text);
}

static ItmQuantity find_value(Example* e, const char* where)
{
    char text[4 * LINE], inside[LINE];
    size_t n = 0;
    if (strchr(where, '{') == NULL) {
        n = (size_t)expand(e, where, text, sizeof text);
        where = "";
    }
    while (*where != '\0' && n < sizeof text - 1) {
        size_t length = strcspn(where, "}");
        if (*where == '{') {
            snprintf(inside, sizeof inside, "%.*s", (int)length - 1, where + 1);
            n += (size_t)expand(e, inside, text + n, sizeof text - n);
            where += length + (where[length] == '}');
        } else {
            text[n++] = *where++;
        }
    }
    assert_true(n < sizeof text - 1);
    text[n] = '\0';
    ItmNode node = {.kind = ITM_NODE_SCALAR, .text = text, .length = n, .source = e->path};
    ItmQuantity value = itm_reader_get_quantity(&e->reader, &node);
    CHECK_OK(e->reader.status, &e->error);
    return value;
}

// ---------------------------------------------------------------------------- comparing

// Equal up to rounding of units and square roots, or of print. A number without any unit fits every unit.
static bool is_equal(ItmQuantity a, ItmQuantity b, double tolerance)
{
    bool has_unit = a.is_bare || b.is_bare || itm_quantity_equal_dimensions(a.dimension, b.dimension);
    return has_unit && fabs(a.value - b.value) <= fmax(tolerance, 1e-12 * fabs(a.value));
}

// A number of the paper beside that of one example. Returns whether they agree, and prints both where not.
static bool compare(char* const row[NFIELD], const char* example, size_t length, const char* override)
{
    const char* rounding = strstr(row[VALUE], "±");
    ItmQuantity printed =
        evaluate(row[VALUE], rounding != NULL ? (size_t)(rounding - row[VALUE]) : strlen(row[VALUE]), row[UNIT]);
    double tolerance =
        rounding != NULL ? evaluate(rounding + strlen("±"), strlen(rounding + strlen("±")), row[UNIT]).value : 0.0;
    bool is_different = row[HERE][0] != '\0';
    ItmQuantity wanted = is_different ? evaluate(row[HERE], strlen(row[HERE]), "") : printed;
    Example e;
    open_example(&e, example, length, override, strchr(row[WHERE], '@') != NULL);
    ItmQuantity found = find_value(&e, row[WHERE]);
    close_example(&e);
    if (is_different && is_equal(printed, wanted, tolerance)) {
        fail_msg("%s, %s: the column 'here' has the number of the paper", row[PLACE], row[SYMBOL]);
    }
    if (is_equal(wanted, found, is_different ? 0.0 : tolerance)) {
        return true;
    }
    char unit[64];
    print_message("    %s, %s = %s %s%s%s, but examples/%.*s.yaml has %.12g (%s) at %s\n", row[PLACE], row[SYMBOL],
                  row[VALUE], row[UNIT], is_different ? ", here " : "", row[HERE], (int)length, example, found.value,
                  itm_quantity_format_dimension(found.dimension, unit, sizeof unit), row[WHERE]);
    return false;
}

typedef struct Tally {
    int nrow, nvalue, ndifferent;
} Tally;

// Compare all rows of a paper; only: those of one example, changed by an override.
static Tally compare_paper(const char* paper, const char* only, const char* override)
{
    char path[LINE], line[LINE];
    char* row[NFIELD];
    snprintf(path, sizeof path, "%s/tests/papers/%s.csv", ITM_SOURCE_DIR, paper);
    FILE* stream = fopen(path, "r");
    assert_non_null(stream);
    assert_non_null(fgets(line, sizeof line, stream));  // names of the columns
    Tally tally = {0};
    while (fgets(line, sizeof line, stream) != NULL) {
        tally.nrow++;
        if (split(line, row) != NFIELD) {
            fail_msg("%s: row %d has not %d columns", path, tally.nrow + 1, NFIELD);
        }
        bool is_absent = row[WHERE][0] == '\0';
        if ((is_absent || row[HERE][0] != '\0') != (row[WHY][0] != '\0')) {
            fail_msg("%s: row %d: a reason is needed where, and only where, the example differs", path, tally.nrow + 1);
        }
        for (const char* name = row[EXAMPLES]; !is_absent && *name != '\0';) {
            size_t length = strcspn(name, " ");
            if (only == NULL || (strlen(only) == length && strncmp(name, only, length) == 0)) {
                tally.nvalue++;
                tally.ndifferent += !compare(row, name, length, override);
            }
            name += length + (name[length] == ' ');
        }
    }
    fclose(stream);
    return tally;
}

static void check_paper(const char* paper)
{
    Tally tally = compare_paper(paper, NULL, NULL);
    print_message("%s: %d numbers, compared %d times\n", paper, tally.nrow, tally.nvalue);
    assert_true(tally.nvalue > 0);
    assert_int_equal(tally.ndifferent, 0);
}

static void examples_have_the_numbers_of_contact_rim(void** state)
{
    (void)state;
    check_paper("contact-rim");
}

static void examples_have_the_numbers_of_clearance(void** state)
{
    (void)state;
    check_paper("clearance");
}

static void examples_have_the_numbers_of_cranes(void** state)
{
    (void)state;
    check_paper("cranes");
}

static void examples_have_the_numbers_of_nonsmooth_rim(void** state)
{
    (void)state;
    check_paper("nonsmooth-rim");
}

static void examples_have_the_numbers_of_flexible_rim(void** state)
{
    (void)state;
    check_paper("flexible-rim");
}

static void a_changed_example_is_noticed(void** state)
{
    (void)state;
    assert_int_equal(compare_paper("cranes", "crane-single", "parameters.m_h=100.001 kg").ndifferent, 1);
    assert_int_equal(
        compare_paper("cranes", "crane-single", "subsystems.hydraulics.nodes.tank.pressure=1.1 bar").ndifferent, 1);
    // also one that differs on purpose
    assert_int_equal(
        compare_paper("cranes", "crane-single", "subsystems.hydraulics.nodes.line.volume=47.2 cm^3").ndifferent, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_have_the_numbers_of_contact_rim),
        cmocka_unit_test(examples_have_the_numbers_of_clearance),
        cmocka_unit_test(examples_have_the_numbers_of_cranes),
        cmocka_unit_test(examples_have_the_numbers_of_nonsmooth_rim),
        cmocka_unit_test(examples_have_the_numbers_of_flexible_rim),
        cmocka_unit_test(a_changed_example_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
