// How a run went, in one sentence made from its numbers, and what distinguishes it from the runs beside it.
#include "interim/report.h"

#include "base/guard.h"
#include "io/json.h"
#include "io/results/record.h"
#include "io/text.h"
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- names of runs

// The record of a run as JSON; the root is NULL where there is none.
static ItmDocument read_scene(const ItmTable* table)
{
    ItmDocument doc = {0};
    const ItmRecord* record = table->record;
    if (record != NULL && record->scene != NULL &&
        itm_json_parse_shown(&doc.root, &doc, record->scene, strlen(record->scene), NULL) != ITM_OK) {
        doc.root = NULL;
    }
    return doc;
}

// The i-th "key.path=value" of a run; NULL beyond the last.
static const char* get_setting(const ItmDocument* scene, int i)
{
    const ItmNode* settings = scene->root != NULL ? itm_json_find(scene->root, "settings") : NULL;
    const ItmNode* setting = itm_json_get_item(settings, i);
    return setting != NULL && setting->kind == ITM_NODE_SCALAR ? setting->text : NULL;
}

static bool has_key(const char* setting, const char* key, size_t length)
{
    return strncmp(setting, key, length) == 0 && setting[length] == '=';
}

// Value of a key, the last one given; NULL: as in the model file.
static const char* find_value(const ItmDocument* scene, const char* key, size_t length)
{
    const char *value = NULL, *setting = NULL;
    for (int i = 0; (setting = get_setting(scene, i)) != NULL; i++) {
        value = has_key(setting, key, length) ? setting + length + 1 : value;
    }
    return value;
}

static bool is_same(const char* a, const char* b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

// Whether the runs do not all have the same value of a key.
static bool does_differ(const ItmDocument* scenes, int nrun, const char* key, size_t length)
{
    const char* first = find_value(&scenes[0], key, length);
    for (int i = 1; i < nrun; i++) {
        if (!is_same(first, find_value(&scenes[i], key, length))) {
            return true;
        }
    }
    return false;
}

// Whether a key was seen before setting `i` of run `run`.
static bool is_repeated(const ItmDocument* scenes, int run, int i, const char* key, size_t length)
{
    const char* setting = NULL;
    for (int r = 0; r <= run; r++) {
        for (int k = 0; (r < run || k < i) && (setting = get_setting(&scenes[r], k)) != NULL; k++) {
            if (has_key(setting, key, length)) {
                return true;
            }
        }
    }
    return false;
}

// "coupling=zoh": last part of the key, and the value of this run.
static void add_difference(ItmText* name, const ItmDocument* scene, const char* key, size_t length)
{
    size_t start = length;
    while (start > 0 && key[start - 1] != '.') {
        start--;
    }
    const char* value = find_value(scene, key, length);
    itm_text_add(name, name->length > 0 ? ", " : "");
    itm_text_add_bytes(name, key + start, length - start);
    itm_text_add(name, value != NULL ? "=" : " of the file");
    itm_text_add(name, value != NULL ? value : "");
}

static void add_differences(ItmText* name, const ItmDocument* scenes, int nrun, int run)
{
    for (int r = 0; r < nrun; r++) {
        const char* setting = NULL;
        for (int i = 0; (setting = get_setting(&scenes[r], i)) != NULL; i++) {
            size_t length = strcspn(setting, "=");
            if (!is_repeated(scenes, r, i, setting, length) && does_differ(scenes, nrun, setting, length)) {
                add_difference(name, &scenes[run], setting, length);
            }
        }
    }
}

static bool has_one_title(const ItmReportRun* runs, int nrun)
{
    for (int i = 1; i < nrun; i++) {
        if (strcmp(runs[i].table->title, runs[0].table->title) != 0) {
            return false;
        }
    }
    return true;
}

bool itm_report_name_runs(char** names, const ItmReportRun* runs, int nrun)
{
    ITM_GUARD(names != NULL && runs != NULL && nrun > 0, false);
    for (int i = 0; i < nrun; i++) {
        ITM_GUARD(runs[i].table != NULL, false);
    }
    ItmDocument* scenes = calloc((size_t)nrun + 1, sizeof *scenes);
    bool are_named = scenes != NULL && nrun > 0 && has_one_title(runs, nrun);
    for (int i = 0; i < nrun; i++) {
        names[i] = NULL;
        if (are_named) {
            scenes[i] = read_scene(runs[i].table);
        }
    }
    for (int i = 0; i < nrun && are_named; i++) {
        ItmText name = {0};
        add_differences(&name, scenes, nrun, i);
        names[i] = name.chars;
        are_named = names[i] != NULL && !name.has_failed;
        for (int k = 0; k < i && are_named; k++) {
            are_named = strcmp(names[k], names[i]) != 0;
        }
    }
    for (int i = 0; i < nrun; i++) {
        if (scenes != NULL) {
            itm_document_free(&scenes[i]);
        }
        if (!are_named) {
            free(names[i]);
            names[i] = NULL;
        }
    }
    free(scenes);
    return are_named;
}

// ---------------------------------------------------------------------------- messages

char* itm_report_get_messages(const ItmTable* table)
{
    ItmDocument scene = read_scene(table);
    const ItmNode *messages = scene.root != NULL ? itm_json_find(scene.root, "messages") : NULL, *item = NULL;
    ItmText text = {0};
    for (int i = 0; (item = itm_json_get_item(messages, i)) != NULL; i++) {
        itm_text_add(&text, item->kind == ITM_NODE_SCALAR ? item->text : "");
        itm_text_add(&text, "\n");
    }
    itm_document_free(&scene);
    if (text.has_failed) {
        itm_text_free(&text);
        return NULL;
    }
    return text.chars;
}

// ---------------------------------------------------------------------------- outcome

// "654 kJ": three digits and a prefix where the unit is one that takes it.
static void add_quantity(ItmText* text, double x, const char* unit)
{
    static const char* const UNITS[] = {"J", "N", "m", "s", "W", "Pa", "m/s", "N m"};
    static const char* const PREFIXES[] = {"n", "\u00b5", "m", "", "k", "M", "G"};
    bool takes_prefix = false;
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        takes_prefix = takes_prefix || strcmp(unit, UNITS[i]) == 0;
    }
    // 999.6 is 1 k already, with three digits
    int power = takes_prefix && x != 0.0 ? (int)floor(log10(fabs(x) * 1.0005) / 3.0) : 0;
    power = power < -3 ? -3 : power > 3 ? 3 : power;
    itm_text_add_number(text, x / pow(1000.0, power), 3);
    if (strcmp(unit, "1") != 0 && unit[0] != '\0') {
        itm_text_format(text, " %s%s", PREFIXES[power + 3], unit);
    }
}

// Energy that the coupling created (> 0) or lost, the largest over time; 0 if the table does not have it.
static double find_coupling_error(const ItmTable* table)
{
    int column = itm_results_table_find(table, "energy.coupling_error");
    double largest = 0.0;
    for (long row = 0; row < table->nrow && column != ITM_NONE; row++) {
        double error = itm_results_table_get(table, row, column);
        largest = fabs(error) > fabs(largest) ? error : largest;
    }
    return largest;
}

// A number of the scene; NAN: none of this name.
static double find_number(const ItmTable* table, const char* wanted)
{
    ItmDocument scene = read_scene(table);
    const ItmNode *numbers = scene.root != NULL ? itm_json_find(scene.root, "numbers") : NULL, *item = NULL;
    double x = NAN;
    for (int i = 0; (item = itm_json_get_item(numbers, i)) != NULL; i++) {
        if (strcmp(itm_json_get_text(item, "name"), wanted) == 0) {
            x = strtod(itm_json_get_text(item, "value"), NULL);
        }
    }
    itm_document_free(&scene);
    return x;
}

static void add_coupling(ItmText* text, const ItmTable* table)
{
    double error = find_coupling_error(table), largest = find_number(table, "coupling_error");
    if (error != 0.0) {
        itm_text_add(text, error > 0.0 ? "; the coupling created " : "; the coupling lost ");
        add_quantity(text, fabs(error), "J");
    } else if (isfinite(largest)) {
        itm_text_add(text, "; coupling energy error ");
        add_quantity(text, largest, "J");
    }
}

static void add_end(ItmText* text, const ItmTable* table)
{
    static const char* const ENDS[] = {"did not end; it reached ", "finished at ", "was interrupted at ",
                                       "broke down at ", "finished with doubts at "};
    double end = table->nrow > 0 ? itm_results_table_get(table, table->nrow - 1, 0) : 0.0;
    itm_text_add(text, table->is_described ? ENDS[table->verdict] : "ends at ");
    itm_text_add_number(text, end, 6);
    itm_text_add(text, " s");
}

static void add_difference_from(ItmText* text, const ItmReportRun* run, const ItmReportRun* reference)
{
    ItmRunComparison c;
    if (run->table->verdict == ITM_VERDICT_BROKE_DOWN ||
        itm_compare_runs(&c, run->table, reference->table, NULL) != ITM_OK) {
        return;
    }
    // the first one is off most, and nothing but noise may be left
    if (c.nerror > 0 && !c.errors[0].is_diagnostic) {
        const ItmSignalError* e = &c.errors[0];
        itm_text_add(text, "; ");
        itm_text_add(text, e->name);
        itm_text_add(text, " differs by at most ");
        add_quantity(text, e->comparison.maximum, e->unit);
        if (e->scale > 0.0) {
            itm_text_add(text, ", ");
            double percent = 100.0 * itm_compare_get_share(e);
            itm_text_add_number(text, percent < 100.0 ? percent : round(percent), percent < 100.0 ? 2 : 6);
            itm_text_add(text, e->comparison.reference_range > 0.0 ? " % of its range"
                                                                   : " % of the largest range in its unit");
        }
    }
    itm_compare_free_runs(&c);
}

char* itm_report_describe_run(const ItmReportRun* runs, int run)
{
    ITM_GUARD(runs != NULL && run >= 0 && runs[run].table != NULL && runs[0].table != NULL, NULL);
    ItmText text = {0};
    add_end(&text, runs[run].table);
    add_coupling(&text, runs[run].table);
    if (run > 0) {
        add_difference_from(&text, &runs[run], &runs[0]);
    }
    if (text.has_failed) {
        itm_text_free(&text);
        return NULL;
    }
    return text.chars;
}
