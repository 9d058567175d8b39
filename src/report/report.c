#include "report/report.h"

#include "base/error.h"
#include "base/guard.h"
#include "interim/report.h"
#include "io/json.h"
#include "report/plot.h"
#include "io/results/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATIC_PLOTS 40  // groups of signals that a page without scripts shows
#define STATIC_SERIES 8  // lines of one of its plots

bool itm_report_has_viewer(void)
{
    return itm_report_get_viewer().count > 0;
}

// ---------------------------------------------------------------------------- head

void itm_report_add_head(ItmText* text, const char* title, bool has_scripts)
{
    ItmReportAsset style = itm_report_get_style();
    itm_text_add(text, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                       "<meta name=\"color-scheme\" content=\"light dark\">\n"
                       // nothing is ever fetched, whatever a model file contains
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                       "style-src 'unsafe-inline'; img-src data: blob:");
    itm_text_add(text, has_scripts ? "; script-src 'unsafe-inline'\">\n<title>" : "\">\n<title>");
    itm_text_add_html(text, title);
    itm_text_add(text, "</title>\n<style>\n");
    itm_text_add_bytes(text, style.bytes, style.count);
    itm_text_add(text, "</style>\n</head>\n<body>\n");
}

static const char* verdict_words(const ItmTable* table)
{
    static const char* const WORDS[] = {"did not end", "finished", "interrupted", "broke down", "finished with doubts"};
    return table->is_described ? WORDS[table->verdict] : "a table of results";
}

static const char* verdict_class(const ItmTable* table)
{
    return table->is_described ? itm_results_verdict_name(table->verdict) : "unknown";
}

static double end_time(const ItmTable* table)
{
    return table->nrow > 0 ? itm_results_table_get(table, table->nrow - 1, 0) : 0.0;
}

// A number with the prefix that leaves one to three digits before the point: 0.02 s is 20 ms. Only units that take one.
static void add_engineering(ItmText* text, double value, const char* unit)
{
    static const struct {
        double factor;
        const char* prefix;
    } PREFIXES[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1.0, ""}, {1e-3, "m"}, {1e-6, "\u00b5"}, {1e-9, "n"}};
    bool takes_prefix = strcmp(unit, "s") == 0 || strcmp(unit, "m") == 0 || strcmp(unit, "J") == 0;
    int k = 3;
    if (takes_prefix && value != 0.0) {
        bool is_large = strcmp(unit, "J") == 0;  // 1200 m stay metres, 90 s seconds
        k = is_large ? 0 : 3;
        while (k < 6 && fabs(value) < 0.9995 * PREFIXES[k].factor) {
            k++;
        }
    }
    itm_text_add_number(text, value / PREFIXES[k].factor, takes_prefix ? 3 : 4);
    if (strcmp(unit, "1") != 0 && unit[0] != '\0') {
        itm_text_add(text, " <small>");
        itm_text_add(text, PREFIXES[k].prefix);
        itm_text_add_html(text, unit);
        itm_text_add(text, "</small>");
    }
}

// whole > 0: the number is also given as a share of it.
static void add_tile(ItmText* text, const char* name, double value, const char* unit, const char* description,
                     double whole)
{
    itm_text_add(text, "<div title=\"");
    itm_text_add_html(text, name);
    itm_text_add(text, "\"><dt>");
    itm_text_add_html(text, description);
    itm_text_add(text, "</dt><dd>");
    if (isfinite(value)) {
        add_engineering(text, value, unit);
    } else {
        itm_text_add(text, "&ndash;");
    }
    if (isfinite(value) && whole > 0.0) {
        itm_text_add(text, " <small>(");
        itm_text_add_number(text, 100.0 * value / whole, 2);
        itm_text_add(text, " %)</small>");
    }
    itm_text_add(text, "</dd></div>\n");
}

// Numbers that matter first, and the number that they are a share of.
static const struct {
    const char *name, *whole;
} LEADS[] = {{"real_time_factor", ""},         {"macro_step", ""}, {"step", ""}, {"energy_error", "energy"},
             {"coupling_error", "throughput"}, {"penetration", ""}};

#define MOST_LEADS 5
#define NLEAD ((int)(sizeof LEADS / sizeof LEADS[0]))

static const ItmNode* find_number(const ItmNode* numbers, const char* name)
{
    for (const ItmItem* item = numbers != NULL ? numbers->first : NULL; item != NULL; item = item->next) {
        if (strcmp(itm_json_get_text(item->value, "name"), name) == 0) {
            return item->value;
        }
    }
    return NULL;
}

static double value_of(const ItmNode* number)
{
    const char* value = number != NULL ? itm_json_get_text(number, "value") : "";
    return value[0] == '\0' || value[0] == 'n' ? (double)NAN : strtod(value, NULL);
}

static void add_number_tile(ItmText* text, const ItmNode* number, double whole)
{
    add_tile(text, itm_json_get_text(number, "name"), value_of(number), itm_json_get_text(number, "unit"),
             itm_json_get_text(number, "description"), whole);
}

// Whether number `k` of LEADS is among those shown first: a run with a macro step does not show the step as well.
static bool is_lead(const ItmNode* numbers, int k)
{
    return find_number(numbers, LEADS[k].name) != NULL &&
           !(strcmp(LEADS[k].name, "step") == 0 && find_number(numbers, "macro_step") != NULL);
}

// Returns how many there are.
static int add_leads(ItmText* text, const ItmNode* numbers)
{
    int n = 0;
    for (int k = 0; k < NLEAD && n < MOST_LEADS; k++) {
        if (is_lead(numbers, k)) {
            add_number_tile(text, find_number(numbers, LEADS[k].name), value_of(find_number(numbers, LEADS[k].whole)));
            n++;
        }
    }
    return n;
}

static bool is_rest(const ItmNode* numbers, const char* name)
{
    for (int k = 0; k < NLEAD; k++) {
        if (strcmp(name, LEADS[k].name) == 0 && is_lead(numbers, k)) {
            return false;
        }
    }
    return true;
}

static void add_tiles(ItmText* text, const ItmTable* table)
{
    ItmDocument document = {0};
    ItmNode* scene = NULL;
    const ItmRecord* record = table->record;
    if (record != NULL && record->scene != NULL &&
        itm_json_parse_shown(&scene, &document, record->scene, strlen(record->scene), NULL) == ITM_ERR_MEMORY) {
        text->has_failed = true;
    }
    const ItmNode* numbers = itm_json_find(scene, "numbers");
    itm_text_add(text, "<div class=\"tiles\"><dl class=\"numbers\" aria-label=\"key numbers\">\n");
    bool has_leads = add_leads(text, numbers) > 0;
    if (!has_leads) {
        add_tile(text, "end_time", end_time(table), "s", "simulated time", 0.0);
    }
    itm_text_add(text, "</dl>\n<details class=\"more\"><summary>all numbers</summary><dl class=\"numbers\">\n");
    if (has_leads) {
        add_tile(text, "end_time", end_time(table), "s", "simulated time", 0.0);
    }
    for (const ItmItem* item = numbers != NULL ? numbers->first : NULL; item != NULL; item = item->next) {
        if (is_rest(numbers, itm_json_get_text(item->value, "name"))) {
            add_number_tile(text, item->value, 0.0);
        }
    }
    add_tile(text, "rows", (double)table->nrow, "1", "rows", 0.0);
    add_tile(text, "signals", (double)(table->ncolumn - 1), "1", "signals", 0.0);
    itm_text_add(text, "</dl></details></div>\n");
    itm_document_free(&document);
}

static void add_verdict(ItmText* text, const ItmTable* table)
{
    itm_text_format(text, "<span class=\"verdict %s\">%s</span>", verdict_class(table), verdict_words(table));
}

// Several runs: a line each.
static void add_run_table(ItmText* text, const ItmReportRun* runs, int nrun)
{
    itm_text_add(text,
                 "<table class=\"runs\"><thead><tr><th>run</th><th>title</th><th>verdict</th><th>simulated time, s</th>"
                 "<th>rows</th></tr></thead><tbody>\n");
    for (int i = 0; i < nrun; i++) {
        const ItmTable* table = runs[i].table;
        itm_text_format(text, "<tr><th scope=\"row\"><i class=\"key run%d\"></i>", i % 8);
        itm_text_add_html(text, runs[i].label);
        itm_text_add(text, "</th><td>");
        itm_text_add_html(text, table->title);
        itm_text_add(text, "</td><td>");
        add_verdict(text, table);
        itm_text_add(text, " ");
        itm_text_add_html(text, table->reason);
        itm_text_add(text, "</td><td class=\"num\">");
        itm_text_add_number(text, end_time(table), 6);
        itm_text_format(text, "</td><td class=\"num\">%ld</td></tr>\n", table->nrow);
    }
    itm_text_add(text, "</tbody></table>\n");
}

// ---------------------------------------------------------------------------- comparison

static void add_cell(ItmText* text, double x, int digits, const char* after)
{
    itm_text_add(text, "<td class=\"num\">");
    itm_text_add_number(text, x, digits);
    itm_text_add(text, after);
    itm_text_add(text, "</td>");
}

static void add_error_row(ItmText* text, const ItmSignalError* e)
{
    const ItmComparison* c = &e->comparison;
    itm_text_add(text, "<tr><th scope=\"row\">");
    itm_text_add_html(text, e->name);
    itm_text_add(text, "</th><td>");
    itm_text_add_html(text, e->unit);
    itm_text_add(text, "</td>");
    add_cell(text, c->rms, 3, "");
    add_cell(text, c->maximum, 3, "");
    if (c->reference_range > 0.0) {
        add_cell(text, 100.0 * itm_compare_get_share(e), 3, " %");
    } else {
        itm_text_add(text, "<td class=\"num\">constant</td>");
    }
    add_cell(text, c->maximum_time, 6, "");
    if (c->npaired > 0) {
        itm_text_format(text, "<td class=\"num\">%d, %d; ", c->nevent, c->nreference_event);
        itm_text_add_number(text, fabs(c->shift_maximum), 3);
        itm_text_add(text, " s</td></tr>\n");
    } else {
        itm_text_add(text, "<td></td></tr>\n");
    }
}

static void add_comparison(ItmText* text, const ItmReportRun* run, const ItmReportRun* reference)
{
    ItmRunComparison c;
    if (itm_compare_runs(&c, run->table, reference->table, NULL) != ITM_OK) {
        return;  // times out of order: no message
    }
    itm_text_add(text, "<details class=\"group\"><summary><b>");
    itm_text_add_html(text, run->label);
    itm_text_add(text, " against ");
    itm_text_add_html(text, reference->label);
    itm_text_format(
        text,
        "</b><span class=\"count\">errors of %d signals</span></summary>\n<table class=\"errors\"><thead><tr>"
        "<th>signal</th><th>unit</th><th>rms</th><th>largest</th><th>of range</th><th>at, s</th>"
        "<th>events; apart</th></tr></thead><tbody>\n",
        c.nerror);
    for (int i = 0; i < c.nerror; i++) {
        add_error_row(text, &c.errors[i]);
    }
    for (int i = 0; i < c.nshift; i++) {
        itm_text_add(text, "<tr><th scope=\"row\">contact ");
        itm_text_add_html(text, c.shifts[i].name);
        itm_text_format(text, "</th><td colspan=\"5\"></td><td class=\"num\">%ld, %ld; ", c.shifts[i].nevent,
                        c.shifts[i].nreference_event);
        itm_text_add_number(text, c.shifts[i].shift, 3);
        itm_text_add(text, " s</td></tr>\n");
    }
    itm_text_add(text, "</tbody></table></details>\n");
    itm_compare_free_runs(&c);
}

// ---------------------------------------------------------------------------- top

// What each run did, a sentence each.
static void add_outcomes(ItmText* text, const ItmReportRun* runs, int nrun)
{
    itm_text_add(text, "<ul class=\"outcomes\">\n");
    for (int i = 0; i < nrun; i++) {
        char* outcome = itm_report_describe_run(runs, i);
        itm_text_format(text, "<li class=\"%s\"><i class=\"key run%d\"></i><b>", verdict_class(runs[i].table), i % 8);
        itm_text_add_html(text, runs[i].label);
        itm_text_add(text, "</b> ");
        itm_text_add_html(text, outcome != NULL ? outcome : "");
        itm_text_add(text, i == 0 ? " <span class=\"note\">(reference)</span></li>\n" : "</li>\n");
        free(outcome);
    }
    itm_text_add(text, "</ul>\n");
}

static void add_banner(ItmText* text, const ItmReportRun* runs, int nrun, const char* title)
{
    const ItmTable* first = runs[0].table;
    itm_text_add(text, "<header id=\"top\">\n<p class=\"brand\">Interim report</p>\n<h1>");
    itm_text_add_html(text, title);
    itm_text_add(text, "</h1>\n");
    if (nrun == 1) {
        itm_text_add(text, "<p class=\"outcome\" role=\"status\">");
        add_verdict(text, first);
        itm_text_add(text, " <span class=\"reason\">");
        itm_text_add_html(text, first->reason);
        itm_text_add(text, "</span></p>\n");
        add_tiles(text, first);
    } else {
        add_outcomes(text, runs, nrun);
    }
    itm_text_add(text, "</header>\n");
}

// Messages of subsystems, folded.
static void add_messages(ItmText* text, const ItmReportRun* runs, int nrun)
{
    for (int i = 0; i < nrun; i++) {
        char* messages = itm_report_get_messages(runs[i].table);
        if (messages != NULL && messages[0] != '\0') {
            itm_text_add(text,
                         "<section class=\"details\" aria-label=\"messages of subsystems\">\n<details class=\"group\">"
                         "<summary><b>messages of subsystems</b><span class=\"count\">");
            itm_text_add_html(text, runs[i].label);
            itm_text_add(text, "</span></summary>\n<pre class=\"messages\">");
            itm_text_add_html(text, messages);
            itm_text_add(text, "</pre>\n</details>\n</section>\n");
        }
        free(messages);
    }
}

// Below the plots: messages, how the runs ended, and tables of differences.
static void add_details(ItmText* text, const ItmReportRun* runs, int nrun)
{
    add_messages(text, runs, nrun);
    if (nrun == 1) {
        return;
    }
    itm_text_add(text, "<section class=\"details\" aria-label=\"details of the runs\">\n<details class=\"group\">"
                       "<summary><b>runs</b><span class=\"count\">verdicts and reasons</span></summary>\n");
    add_run_table(text, runs, nrun);
    itm_text_add(text, "</details>\n");
    for (int i = 1; i < nrun; i++) {
        add_comparison(text, &runs[i], &runs[0]);
    }
    itm_text_add(text, "</section>\n");
}

// ---------------------------------------------------------------------------- pages

static void add_footer(ItmText* text, const ItmReportRun* runs, int nrun)
{
    itm_text_add(text, "<footer>Written by Interim ");
    itm_text_add_html(text, itm_version());
    itm_text_add(text, " from ");
    for (int i = 0; i < nrun; i++) {
        itm_text_add(text, i > 0 ? ", " : "");
        itm_text_add_html(text, runs[i].label);
    }
    itm_text_add(text, ". This page is complete in itself and fetches nothing.</footer>\n");
}

// How much of two names is the same up to the last dot: signals of one quantity make one plot.
static bool is_same_group(const char* a, const char* b)
{
    const char *end_a = strrchr(a, '.'), *end_b = strrchr(b, '.');
    size_t n = end_a != NULL ? (size_t)(end_a - a) : strlen(a);
    size_t m = end_b != NULL ? (size_t)(end_b - b) : strlen(b);
    return n == m && strncmp(a, b, n) == 0;
}

// Columns from `first` that belong together: the same quantity and unit.
static int count_group(const ItmTable* table, int first)
{
    int n = 1;
    while (first + n < table->ncolumn && n < STATIC_SERIES &&
           is_same_group(table->names[first], table->names[first + n]) &&
           strcmp(table->units[first], table->units[first + n]) == 0) {
        n++;
    }
    return n;
}

static void add_static_plots(ItmText* text, const ItmReportRun* runs, int nrun)
{
    const ItmTable* table = runs[0].table;
    int nplot = 0, first = 1;
    itm_text_add(text, "<main class=\"static\">\n<p class=\"note\">This page holds plots as pictures only: ");
    itm_text_add(text, itm_report_has_viewer()
                           ? "it was asked for without scripts.</p>\n"
                           : "this build of Interim has no 3-D view, because npm was missing when it "
                             "was built.</p>\n");
    for (; first < table->ncolumn && nplot < STATIC_PLOTS; nplot++) {
        int n = count_group(table, first);
        itm_text_add(text, "<figure>\n");
        itm_plot_add_columns(text, runs, nrun, first, n, false);
        itm_text_add(text, "</figure>\n");
        first += n;
    }
    if (first < table->ncolumn) {
        itm_text_format(
            text, "<p class=\"note\">%d more signals are in the results; <code>interim plot</code> draws them.</p>\n",
            table->ncolumn - first);
    }
    itm_text_add(text, "</main>\n");
}

static void add_viewer(ItmText* text, const ItmReportRun* runs, int nrun, const ItmReportBudget* budget,
                       bool is_selection)
{
    ItmReportAsset viewer = itm_report_get_viewer();
    itm_text_add(text, "<main id=\"app\"><noscript><p class=\"note\">Plots and the 3-D view need JavaScript; "
                       "<code>interim report --static</code> writes a page without.</p></noscript></main>\n");
    add_details(text, runs, nrun);
    add_footer(text, runs, nrun);
    itm_text_add(text, "<script type=\"application/json\" id=\"itm-data\">");
    itm_report_add_data(text, runs, nrun, budget, is_selection);
    itm_text_add(text, "</script>\n<script>\n");
    itm_text_add_bytes(text, viewer.bytes, viewer.count);
    itm_text_add(text, "\n</script>\n");
}

static const char* choose_title(const ItmReportRun* runs, const ItmReportOptions* options)
{
    const char* title = options->title != NULL ? options->title : runs[0].table->title;
    return title[0] != '\0' ? title : runs[0].label;
}

static void add_page(ItmText* text, const ItmReportRun* runs, int nrun, const ItmReportOptions* options, bool is_static,
                     const ItmReportBudget* budget)
{
    const char* title = choose_title(runs, options);
    itm_report_add_head(text, title, !is_static);
    add_banner(text, runs, nrun, title);
    if (is_static) {
        add_static_plots(text, runs, nrun);
        add_details(text, runs, nrun);
        add_footer(text, runs, nrun);
    } else {
        add_viewer(text, runs, nrun, budget, options->is_selection);
    }
    itm_text_add(text, "</body>\n</html>\n");
}

ItmReportOptions itm_default_report_options(void)
{
    return (ItmReportOptions){0};
}

ItmStatus itm_report_write(const char* path, const ItmReportRun* runs, int nrun, const ItmReportOptions* options,
                           ItmError* error)
{
    ITM_GUARD(path != NULL && runs != NULL && nrun > 0, ITM_ERR_ARGUMENT);
    for (int i = 0; i < nrun; i++) {
        ITM_GUARD(runs[i].label != NULL && runs[i].table != NULL, ITM_ERR_ARGUMENT);
    }
    ItmReportBudget budget = {.signals = 4000000, .motion = 3000000, .contacts = 1200000};
    ItmText text = {0};
    ItmReportOptions chosen = options != NULL ? *options : itm_default_report_options();
    bool is_static = chosen.is_static || !itm_report_has_viewer();
    add_page(&text, runs, nrun, &chosen, is_static, &budget);
    while (!is_static && text.length > ITM_REPORT_LARGEST && budget.signals > 250000) {
        budget = (ItmReportBudget){budget.signals / 2, budget.motion / 2, budget.contacts / 2};
        itm_text_free(&text);
        add_page(&text, runs, nrun, &chosen, is_static, &budget);
    }
    ItmStatus status = itm_text_write(&text, path, error);
    itm_text_free(&text);
    return status;
}
