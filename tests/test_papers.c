// The numbers of the papers' parameter tables, tests/papers/*.csv, against the example files: a drift of either is found here.
//
// A row is  table,symbol,value,unit,example,where,used,why.  `value` and `unit` are what the paper prints; `example` names one or
// more files, `where` the key in them ("multibody.bodies.link1.inertia.0": first of a list). Where the examples deviate from the
// print, `used` is their value and `why` the reason. A number that is in no example has neither example nor where, but a reason.
#include "check.h"

#include "io/bytes.h"
#include "io/model/reader.h"

enum { TABLE, SYMBOL, VALUE, UNIT, EXAMPLE, WHERE, USED, WHY, NFIELD };

static char* read_whole(const char* path, size_t* length)
{
    const char* why = NULL;
    char* text = itm_bytes_read(path, 1 << 20, length, &why);
    if (text == NULL) {
        fail_msg("%s: %s", path, why);
    }
    return text;
}

// ---------------------------------------------------------------------------- values

// The node at "multibody.bodies.link1.inertia.0", or NULL.
static const ItmNode* find_node(const ItmNode* node, const char* where)
{
    while (node != NULL && *where != '\0') {
        char key[64] = "";
        size_t n = strcspn(where, ".");
        memcpy(key, where, n < sizeof key ? n : sizeof key - 1);
        where += n + (where[n] == '.');
        if (node->kind == ITM_NODE_MAP) {
            node = itm_node_find(node, key);
        } else {
            const ItmItem* item = node->kind == ITM_NODE_LIST ? node->first : NULL;
            for (int k = atoi(key); k > 0 && item != NULL; k--) {
                item = item->next;
            }
            node = item != NULL ? item->value : NULL;
        }
    }
    return node;
}

// The value of a node of a document in which `parameters` may stand.
static ItmQuantity compute(ItmDocument* doc, const ItmNode* node, const char* row)
{
    ItmError error = {0};
    ItmReader reader = {.doc = doc, .error = &error};
    const ItmNode* parameters = doc->root->kind == ITM_NODE_MAP ? itm_node_find(doc->root, "parameters") : NULL;
    if (parameters != NULL) {
        itm_read_parameters(&reader, parameters);
    }
    ItmQuantity value = itm_reader_get_quantity(&reader, node);
    if (reader.status != ITM_OK) {
        fail_msg("%s: %s", row, error.message);
    }
    free(reader.parameters);
    itm_names_free(&reader.parameter_names);
    return value;
}

static ItmQuantity compute_text(const char* text, const char* row)
{
    ItmError error = {0};
    ItmDocument doc = {0};
    CHECK_OK(itm_yaml_parse(&doc.root, &doc, text, strlen(text), "table", 1, &error), &error);
    ItmQuantity value = compute(&doc, doc.root, row);
    itm_document_free(&doc);
    return value;
}

static ItmQuantity compute_in_example(const char* name, const char* where, const char* row)
{
    char path[512];
    size_t length = 0;
    snprintf(path, sizeof path, "%s/examples/%s.yaml", ITM_SOURCE_DIR, name);
    char* text = read_whole(path, &length);
    ItmError error = {0};
    ItmDocument doc = {0};
    CHECK_OK(itm_yaml_parse(&doc.root, &doc, text, length, path, 1, &error), &error);
    const ItmNode* node = find_node(doc.root, where);
    if (node == NULL) {
        fail_msg("%s: %s has no %s", row, name, where);
    }
    ItmQuantity value = compute(&doc, node, row);
    itm_document_free(&doc);
    free(text);
    return value;
}

// ---------------------------------------------------------------------------- rows

// Cuts a line at its commas, in place; the last field may have some.
static void split(char* line, char* fields[NFIELD])
{
    for (int i = 0; i < NFIELD; i++) {
        fields[i] = line;
        char* comma = i + 1 < NFIELD ? strchr(line, ',') : NULL;
        if (i + 1 < NFIELD && comma == NULL) {
            fail_msg("a row has %d fields, this one %d: %s", NFIELD, i + 1, fields[0]);
        }
        if (comma != NULL) {
            *comma = '\0';
            line = comma + 1;
        }
    }
}

static void check_example(const char* name, char* const fields[NFIELD], ItmQuantity want, const char* row)
{
    ItmQuantity got = compute_in_example(name, fields[WHERE], row);
    bool fits = got.is_bare || want.is_bare || itm_dimension_equal(got.dimension, want.dimension);
    // rounding of units and of roots written in decimals
    if (!fits || !(fabs(got.value - want.value) <= 1e-15 + 1e-12 * fabs(want.value))) {
        fail_msg("%s: %s has %.12g at %s, the table %.12g (SI)%s", row, name, got.value, fields[WHERE], want.value,
                 fits ? "" : " of another unit");
    }
}

// Returns the number of values that were compared.
static int check_row(char* line, const char* paper)
{
    char *fields[NFIELD], row[128], printed[128];
    split(line, fields);
    snprintf(row, sizeof row, "%s, table %s, %s", paper, fields[TABLE], fields[SYMBOL]);
    snprintf(printed, sizeof printed, "(%s) %s", fields[VALUE], fields[UNIT]);
    ItmQuantity want = compute_text(printed, row);
    bool is_somewhere = fields[EXAMPLE][0] != '\0';
    if (is_somewhere != (fields[WHERE][0] != '\0') || ((!is_somewhere || fields[USED][0] != '\0') && fields[WHY][0] == '\0')) {
        fail_msg("%s: needs example and where, or the reason why not", row);
    }
    if (fields[USED][0] != '\0') {
        want = compute_text(fields[USED], row);
    }
    int count = 0;
    for (char* name = strtok(fields[EXAMPLE], " "); name != NULL; name = strtok(NULL, " ")) {
        check_example(name, fields, want, row);
        count++;
    }
    return count;
}

static void check_paper(const char* paper, int least)
{
    char path[512];
    size_t length = 0;
    snprintf(path, sizeof path, "%s/tests/papers/%s.csv", ITM_SOURCE_DIR, paper);
    char *text = read_whole(path, &length), *line = strchr(text, '\n') + 1;
    assert_int_equal(strncmp(text, "table,symbol,value,unit,example,where,used,why\n", (size_t)(line - text)), 0);
    int count = 0;
    while (*line != '\0') {
        char* end = line + strcspn(line, "\n");
        bool is_last = *end == '\0';
        *end = '\0';
        count += check_row(line, paper);
        line = end + !is_last;
    }
    print_message("%s: %d numbers of the examples are those of the paper\n", paper, count);
    assert_true(count >= least);
    free(text);
}

static void examples_have_the_numbers_of_contact_rim(void** state)
{
    (void)state;
    check_paper("contact-rim", 70);
}

static void examples_have_the_numbers_of_clearance(void** state)
{
    (void)state;
    check_paper("clearance", 20);
}

static void examples_have_the_numbers_of_cranes(void** state)
{
    (void)state;
    check_paper("cranes", 80);
}

static void examples_have_the_numbers_of_nonsmooth_rim(void** state)
{
    (void)state;
    check_paper("nonsmooth-rim", 50);
}

static void examples_have_the_numbers_of_flexible_rim(void** state)
{
    (void)state;
    check_paper("flexible-rim", 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_have_the_numbers_of_contact_rim),
        cmocka_unit_test(examples_have_the_numbers_of_clearance),
        cmocka_unit_test(examples_have_the_numbers_of_cranes),
        cmocka_unit_test(examples_have_the_numbers_of_nonsmooth_rim),
        cmocka_unit_test(examples_have_the_numbers_of_flexible_rim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
