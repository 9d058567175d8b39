// The page of a sweep: curves of every result over the key with most values, maps over two keys, stability, the table.
// It needs no script: curves are pictures, maps are tables with coloured cells.
#include "report/plot.h"
#include "report/report.h"
#include "report/sweep_grid.h"
#include "io/results/results.h"

#include "base/error.h"
#include "base/guard.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LINES 24  // of a plot
#define MOST_MAPS 24   // of a result
#define LOG_RATIO 8.0  // from which an axis is logarithmic

// The values that a key takes, in the order of the rows.
typedef struct Axis {
    int column;
    const char** values;  // (count), belong to the grid
    int count;
    bool is_number;
} Axis;

typedef struct Page {
    ItmText* text;
    const ItmSweepGrid* grid;
    Axis* axes;  // (nkey)
    int* order;  // keys, that of the x axis first, then by the number of their values   (nkey)
    int verdict, end_time;
    const ItmReportRun* runs;  // the runs of the rows, to plot over time; NULL: none   (nrun)
    int nrun;
    const ItmSweepReportOptions* options;
} Page;

// ---------------------------------------------------------------------------- axes

static int find_value(const Axis* axis, const char* value)
{
    for (int i = 0; i < axis->count; i++) {
        if (strcmp(axis->values[i], value) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}

static bool fill_axis(Axis* axis, const ItmSweepGrid* g, int column)
{
    *axis = (Axis){.column = column, .values = calloc((size_t)g->nrow + 1, sizeof *axis->values), .is_number = true};
    for (long row = 0; row < g->nrow && axis->values != NULL; row++) {
        const char* value = itm_sweep_grid_get(g, row, column);
        if (find_value(axis, value) == ITM_NONE) {
            axis->values[axis->count++] = value;
            axis->is_number = axis->is_number && !isnan(itm_sweep_grid_get_number(g, row, column));
        }
    }
    return axis->values != NULL;
}

// Numbers before words, many values before few.
static bool comes_before(const Axis* a, const Axis* b)
{
    bool is_line_a = a->is_number && a->count > 1, is_line_b = b->is_number && b->count > 1;
    return is_line_a != is_line_b ? is_line_a : a->count > b->count;
}

static void sort_keys(Page* p)
{
    for (int i = 0; i < p->grid->nkey; i++) {
        int at = i;
        for (; at > 0 && comes_before(&p->axes[i], &p->axes[p->order[at - 1]]); at--) {
            p->order[at] = p->order[at - 1];
        }
        p->order[at] = i;
    }
}

static bool is_doubtful(const Page* p, long row)
{
    const char* verdict = itm_sweep_grid_get(p->grid, row, p->verdict);
    return strcmp(verdict, itm_results_verdict_name(ITM_VERDICT_DOUBTFUL)) == 0;
}

// With or without doubts.
static bool is_finished(const Page* p, long row)
{
    return is_doubtful(p, row) || strcmp(itm_sweep_grid_get(p->grid, row, p->verdict), "finished") == 0;
}

// Whether two rows agree in all keys from the `from`-th of the order on.
static bool is_same_rest(const Page* p, long a, long b, int from)
{
    for (int i = from; i < p->grid->nkey; i++) {
        if (strcmp(itm_sweep_grid_get(p->grid, a, p->order[i]), itm_sweep_grid_get(p->grid, b, p->order[i])) != 0) {
            return false;
        }
    }
    return true;
}

// Whether a row is the first with its values of those keys.
static bool is_first_of_rest(const Page* p, long row, int from)
{
    for (long i = 0; i < row; i++) {
        if (is_same_rest(p, i, row, from)) {
            return false;
        }
    }
    return true;
}

// Unit of a column, "": none is known.
static const char* get_unit(const Page* p, int column)
{
    for (int i = 0; i < p->options->nunit; i++) {
        if (strcmp(p->options->columns[i], p->grid->names[column]) == 0) {
            return p->options->units[i];
        }
    }
    return column == p->end_time ? "s" : "";
}

// " [mm]", or nothing.
static void add_unit(Page* p, int column)
{
    const char* unit = get_unit(p, column);
    itm_text_add(p->text, unit[0] != '\0' ? " [" : "");
    itm_text_add_html(p->text, unit);
    itm_text_add(p->text, unit[0] != '\0' ? "]" : "");
}

// The last word of a key.
static const char* shorten(const char* name)
{
    const char* dot = strrchr(name, '.');
    return dot != NULL ? dot + 1 : name;
}

// "coupling = zoh, mu = 0.1" of a row; keys that do not vary are left out. text (size)
static void describe_rest(char* text, size_t size, const Page* p, long row, int from)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = from; i < p->grid->nkey && used < size; i++) {
        const Axis* axis = &p->axes[p->order[i]];
        if (axis->count > 1) {
            int count = snprintf(text + used, size - used, "%s%s = %s", used > 0 ? ", " : "",
                                 shorten(p->grid->names[axis->column]), itm_sweep_grid_get(p->grid, row, axis->column));
            used += count > 0 ? (size_t)count : 0;
        }
    }
}

// ---------------------------------------------------------------------------- curves

typedef struct Curve {
    double* x;
    float* y;
    long count;
} Curve;

static void sort_curve(Curve* c)
{
    for (long i = 1; i < c->count; i++) {
        for (long k = i; k > 0 && c->x[k] < c->x[k - 1]; k--) {
            double x = c->x[k];
            float y = c->y[k];
            c->x[k] = c->x[k - 1];
            c->y[k] = c->y[k - 1];
            c->x[k - 1] = x;
            c->y[k - 1] = y;
        }
    }
}

static bool is_error(const char* name)
{
    size_t n = strlen(name);
    return (n > 4 && (strcmp(name + n - 4, ".rms") == 0 || strcmp(name + n - 4, ".max") == 0)) ||
           strstr(name, "coupling_error") != NULL;
}

// Errors have no sign, so that logarithms show them.
static double get_result(const Page* p, long row, int column)
{
    double value = itm_sweep_grid_get_number(p->grid, row, column);
    return is_error(p->grid->names[column]) ? fabs(value) : value;
}

// Points of the runs that agree with a row in the keys behind the first; those that did not finish are gaps.
static bool fill_curve(Curve* c, const Page* p, long row, int column)
{
    const ItmSweepGrid* g = p->grid;
    *c = (Curve){malloc((size_t)g->nrow * sizeof *c->x), malloc((size_t)g->nrow * sizeof *c->y), 0};
    for (long i = 0; i < g->nrow && c->x != NULL && c->y != NULL; i++) {
        if (is_same_rest(p, i, row, 1)) {
            c->x[c->count] = itm_sweep_grid_get_number(g, i, p->order[0]);
            c->y[c->count++] = is_finished(p, i) ? (float)get_result(p, i, column) : NAN;
        }
    }
    sort_curve(c);
    return c->x != NULL && c->y != NULL;
}

// Whether all values are positive and far apart.
static bool wants_log(double lo, double hi)
{
    return lo > 0.0 && hi > LOG_RATIO * lo;
}

// Distance of two values as a share of the axis from lo to hi.
static double get_distance(double a, double b, double lo, double hi, bool is_log)
{
    return is_log ? fabs(log(a / b)) / log(hi / lo) : fabs(a - b) / (hi - lo);
}

// Whether two curves look the same in a plot: within half a line of each other everywhere.
static bool is_same_curve(const Curve* a, const Curve* b, double lo, double hi, bool is_log)
{
    bool is_same = a->count == b->count;
    for (long i = 0; i < a->count && is_same; i++) {
        bool is_gap = isnan(a->y[i]) || isnan(b->y[i]);
        is_same = a->x[i] == b->x[i] && (is_gap ? isnan(a->y[i]) && isnan(b->y[i])
                                                : a->y[i] == b->y[i] || get_distance((double)a->y[i], (double)b->y[i],
                                                                                     lo, hi, is_log) <= 3e-3);
    }
    return is_same;
}

// Dashes the curves that lie on others, so that both are seen, and names them in the legend.
static void mark_coincident(ItmPlotSeries* series, char (*labels)[200], const Curve* curves, int n, double lo,
                            double hi, bool is_log)
{
    for (int i = 1; i < n; i++) {
        for (int k = 0; k < i; k++) {
            if (is_same_curve(&curves[i], &curves[k], lo, hi, is_log)) {
                series[i].is_dashed = true;
                size_t used = strlen(labels[i]);
                snprintf(labels[i] + used, sizeof labels[i] - used, " (coincides)");
                break;
            }
        }
    }
}

static void add_curves(Page* p, int column)
{
    const ItmSweepGrid* g = p->grid;
    ItmPlotSeries series[MOST_LINES];
    Curve curves[MOST_LINES];
    char labels[MOST_LINES][200];
    int n = 0;
    double x_lo = INFINITY, x_hi = -INFINITY, y_lo = INFINITY, y_hi = -INFINITY;
    for (long row = 0; row < g->nrow && n < MOST_LINES; row++) {
        if (!is_first_of_rest(p, row, 1)) {
            continue;
        }
        p->text->has_failed = !fill_curve(&curves[n], p, row, column) || p->text->has_failed;
        describe_rest(labels[n], sizeof labels[n], p, row, 1);
        for (long i = 0; i < curves[n].count; i++) {
            x_lo = fmin(x_lo, curves[n].x[i]);
            x_hi = fmax(x_hi, curves[n].x[i]);
            y_lo = fmin(y_lo, (double)curves[n].y[i]);
            y_hi = fmax(y_hi, (double)curves[n].y[i]);
        }
        series[n] = (ItmPlotSeries){
            labels[n], curves[n].x, curves[n].y, curves[n].count, n % ITM_INK_SERIES_COUNT, n >= ITM_INK_SERIES_COUNT,
            true};
        n++;
    }
    bool is_log = wants_log(y_lo, y_hi);
    if (!p->text->has_failed) {
        mark_coincident(series, labels, curves, n, y_lo, y_hi, is_log);
    }
    const char* x_unit = get_unit(p, p->order[0]);
    char x_label[200];
    snprintf(x_label, sizeof x_label, "%s%s%s", g->names[p->order[0]], x_unit[0] != '\0' ? ", " : "", x_unit);
    ItmPlotOptions options = itm_default_plot_options();
    options.x_label = x_label;
    options.width = ITM_PLOT_PAGE_WIDTH;
    ItmPlotPanel panel = {g->names[column], get_unit(p, column), series, n, wants_log(x_lo, x_hi), is_log};
    if (y_lo <= y_hi && !p->text->has_failed) {
        itm_text_add(p->text, "<figure>\n");
        itm_plot_add_saved(p->text, &panel, &options);
        itm_text_add(p->text, "</figure>\n");
    }
    for (int i = 0; i < n; i++) {
        free(curves[i].x);
        free(curves[i].y);
    }
}

// ---------------------------------------------------------------------------- over time

// Range of a column over the runs that finished; lo > hi: none did.
static void find_good_range(const Page* p, const char* name, double* lo, double* hi)
{
    *lo = INFINITY;
    *hi = -INFINITY;
    for (int i = 0; i < p->nrun; i++) {
        const ItmTable* table = p->runs[i].table;
        int column = itm_results_table_find(table, name);
        bool is_good = table->verdict != ITM_VERDICT_BROKE_DOWN && column != ITM_NONE;
        for (long row = 0; is_good && row < table->nrow; row++) {
            double value = itm_results_table_get(table, row, column);
            *lo = isfinite(value) ? fmin(*lo, value) : *lo;
            *hi = isfinite(value) ? fmax(*hi, value) : *hi;
        }
    }
}

// One signal of all runs. What a run that broke down did outside the range of the others is left out: it would squash their axis.
static void add_time_plot(Page* p, int column)
{
    ItmReportRun runs[MOST_LINES];
    char labels[MOST_LINES][160];
    const char* name = p->runs[0].table->names[column];
    double lo, hi;
    int n = 0;
    find_good_range(p, name, &lo, &hi);
    double room = 0.25 * (hi - lo);
    for (int i = 0; i < p->nrun && n < MOST_LINES; i++) {
        const ItmTable* table = p->runs[i].table;
        bool is_broken = table->verdict == ITM_VERDICT_BROKE_DOWN;
        int columns[2] = {0, itm_results_table_find(table, name)};
        ItmTable* copy = columns[1] != ITM_NONE ? itm_results_table_select(table, columns, 2) : NULL;
        if (copy == NULL) {
            continue;
        }
        for (long row = 0; row < copy->nrow && is_broken && lo <= hi; row++) {
            double* value = &copy->values[2 * row + 1];
            *value = *value < lo - room || *value > hi + room ? (double)NAN : *value;
        }
        snprintf(labels[n], sizeof labels[n], "%s%s", p->runs[i].label, is_broken ? ", broke down" : "");
        runs[n] = (ItmReportRun){labels[n], copy};
        n++;
    }
    if (n > 0) {
        itm_text_add(p->text, "<figure>\n");
        itm_plot_add_columns(p->text, runs, n, 1, 1, true);
        itm_text_add(p->text, "</figure>\n");
    }
    for (int i = 0; i < n; i++) {
        itm_results_table_destroy((ItmTable*)runs[i].table);
    }
}

// Signals that the table of the sweep has a statistic of.
static void add_time_plots(Page* p)
{
    const ItmSweepGrid* g = p->grid;
    bool is_open = false;
    for (int column = 1; p->nrun > 0 && column < p->runs[0].table->ncolumn; column++) {
        const char* name = p->runs[0].table->names[column];
        size_t length = strlen(name);
        bool is_wanted = false;
        for (int i = p->verdict + 1; i < g->ncolumn && !is_wanted; i++) {
            is_wanted = strncmp(g->names[i], name, length) == 0 && g->names[i][length] == '.' &&
                        strchr(g->names[i] + length + 1, '.') == NULL;
        }
        if (is_wanted) {
            itm_text_add(p->text, is_open ? "" : "<section><h2>Over time</h2>\n<div class=\"figures\">\n");
            is_open = true;
            add_time_plot(p, column);
        }
    }
    itm_text_add(p->text, is_open ? "</div></section>\n" : "");
}

// ---------------------------------------------------------------------------- maps

// From dark violet over green to yellow, even to the eye; share 0 .. 1.
static unsigned map_color(double share)
{
    static const unsigned STOPS[5] = {0x440154, 0x3b528b, 0x21918c, 0x5ec962, 0xfde725};
    share = share < 0.0 ? 0.0 : share > 1.0 ? 1.0 : share;
    int i = share < 1.0 ? (int)(4.0 * share) : 3;
    double s = 4.0 * share - i;
    unsigned color = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
        double a = STOPS[i] >> shift & 255, b = STOPS[i + 1] >> shift & 255;
        color |= (unsigned)lround(a + s * (b - a)) << shift;
    }
    return color;
}

static void add_map_cell(Page* p, long row, int column, double lo, double hi, bool is_log)
{
    ItmText* text = p->text;
    if (row < 0) {
        itm_text_add(text, "<td></td>");
        return;
    }
    double value = get_result(p, row, column);
    if (!is_finished(p, row)) {
        itm_text_add(text, "<td class=\"lost\" title=\"");
        itm_text_add_html(text, itm_sweep_grid_get(p->grid, row, p->verdict));
        itm_text_add(text, "\">");
        if (column == p->end_time) {
            itm_text_add_number(text, value, 3);
        } else {
            itm_text_add_html(text, itm_sweep_grid_get(p->grid, row, p->verdict));
        }
        itm_text_add(text, "</td>");
        return;
    }
    double share = !(hi > lo) ? 0.0 : is_log ? log(value / lo) / log(hi / lo) : (value - lo) / (hi - lo);
    itm_text_format(text, "<td style=\"background:#%06x;color:%s\">", map_color(isnan(share) ? 0.0 : share),
                    share > 0.6 ? "#111" : "#fff");
    itm_text_add_number(text, value, 3);
    itm_text_add(text, "</td>");
}

// The row with these values of the first two keys that agrees with `like` in the others, or -1.
static long find_row(const Page* p, const char* first, const char* second, long like)
{
    for (long i = 0; i < p->grid->nrow; i++) {
        if (strcmp(itm_sweep_grid_get(p->grid, i, p->order[0]), first) == 0 &&
            strcmp(itm_sweep_grid_get(p->grid, i, p->order[1]), second) == 0 && is_same_rest(p, i, like, 2)) {
            return i;
        }
    }
    return -1;
}

// The last word of a key, where there is little room; the whole key shows up under the mouse.
static void add_short_name(ItmText* text, const char* name)
{
    itm_text_add(text, "<span title=\"");
    itm_text_add_html(text, name);
    itm_text_add(text, "\">");
    itm_text_add_html(text, shorten(name));
    itm_text_add(text, "</span>");
}

static void add_map(Page* p, int column, long like, double lo, double hi)
{
    const Axis *across = &p->axes[p->order[0]], *down = &p->axes[p->order[1]];
    ItmText* text = p->text;
    char rest[200];
    describe_rest(rest, sizeof rest, p, like, 2);
    itm_text_add(text, "<figure class=\"map\"><figcaption><b>");
    itm_text_add_html(text, p->grid->names[column]);
    add_unit(p, column);
    itm_text_add(text, "</b> ");
    itm_text_add_html(text, rest);
    itm_text_add(text, "</figcaption><table><thead><tr><th>");
    add_short_name(text, p->grid->names[down->column]);
    add_unit(p, down->column);
    itm_text_add(text, " \\ ");
    add_short_name(text, p->grid->names[across->column]);
    add_unit(p, across->column);
    itm_text_add(text, "</th>");
    for (int i = 0; i < across->count; i++) {
        itm_text_add(text, "<th>");
        itm_text_add_html(text, across->values[i]);
        itm_text_add(text, "</th>");
    }
    itm_text_add(text, "</tr></thead><tbody>\n");
    for (int k = 0; k < down->count; k++) {
        itm_text_add(text, "<tr><th>");
        itm_text_add_html(text, down->values[k]);
        itm_text_add(text, "</th>");
        for (int i = 0; i < across->count; i++) {
            long row = find_row(p, across->values[i], down->values[k], like);
            add_map_cell(p, row, column, lo, hi, wants_log(lo, hi));
        }
        itm_text_add(text, "</tr>\n");
    }
    itm_text_add(text, "</tbody></table></figure>\n");
}

// Maps of a result over the first two keys, one for each combination of the others; the same colours in all.
static void add_maps(Page* p, int column)
{
    double lo = INFINITY, hi = -INFINITY;
    for (long row = 0; row < p->grid->nrow; row++) {
        double value = is_finished(p, row) ? get_result(p, row, column) : (double)NAN;
        lo = fmin(lo, value);
        hi = fmax(hi, value);
    }
    int count = 0;
    for (long row = 0; row < p->grid->nrow && count < MOST_MAPS; row++) {
        if (is_first_of_rest(p, row, 2)) {
            add_map(p, column, row, lo, hi);
            count++;
        }
    }
}

// ---------------------------------------------------------------------------- table

// Results worth a curve: numbers behind the verdict that are not what a run cost.
static bool is_result(const Page* p, int column)
{
    static const char* const COSTS[] = {"end_time", "wall_time", "cpu_time", "real_time_factor", "message"};
    for (size_t i = 0; i < sizeof COSTS / sizeof COSTS[0]; i++) {
        if (strcmp(p->grid->names[column], COSTS[i]) == 0) {
            return false;
        }
    }
    return column > p->verdict;
}

// Columns from `first` on that belong to one signal: "boom.angle.rms", "boom.angle.max"; 1 for keys and costs.
static int count_group(const ItmSweepGrid* g, int verdict, int first)
{
    const char* dot = strrchr(g->names[first], '.');
    size_t length = dot != NULL ? (size_t)(dot - g->names[first]) + 1 : 0;
    int n = 1;
    while (first > verdict && length > 0 && first + n < g->ncolumn &&
           strncmp(g->names[first], g->names[first + n], length) == 0 &&
           strchr(g->names[first + n] + length, '.') == NULL) {
        n++;
    }
    return n;
}

// A statistic of a signal stands below its signal; keys and costs stand alone.
static bool is_grouped(const Page* p, int column)
{
    return is_result(p, column) && strrchr(p->grid->names[column], '.') != NULL;
}

// Two lines: the signals, and below each its statistics; keys and costs by their last word.
static void add_table_head(Page* p)
{
    ItmText* text = p->text;
    const ItmSweepGrid* g = p->grid;
    itm_text_add(text, "<thead><tr>");
    for (int i = 0, n = 1; i < g->ncolumn; i += n) {
        n = count_group(g, p->verdict, i);
        if (!is_grouped(p, i)) {
            itm_text_add(text, "<th rowspan=\"2\">");
            add_short_name(text, g->names[i]);
            add_unit(p, i);
            itm_text_add(text, "</th>");
        } else {
            itm_text_format(text, "<th colspan=\"%d\">", n);
            char name[256];
            snprintf(name, sizeof name, "%.*s", (int)(strrchr(g->names[i], '.') - g->names[i]), g->names[i]);
            itm_text_add_html(text, name);
            add_unit(p, i);
            itm_text_add(text, "</th>");
        }
    }
    itm_text_add(text, "</tr>\n<tr>");
    for (int i = 0, n = 1; i < g->ncolumn; i += n) {
        n = count_group(g, p->verdict, i);
        for (int k = 0; k < n && is_grouped(p, i); k++) {
            itm_text_add(text, "<th class=\"num\">");
            add_short_name(text, g->names[i + k]);
            itm_text_add(text, "</th>");
        }
    }
    itm_text_add(text, "</tr></thead>");
}

#define LONG_CELL 40  // characters; the message of a run that broke down needs a wide column

static void add_cell(Page* p, long row, int i)
{
    ItmText* text = p->text;
    double value = itm_sweep_grid_get_number(p->grid, row, i);
    const char* cell = itm_sweep_grid_get(p->grid, row, i);
    bool is_missing = cell[0] == '\0' && is_result(p, i), is_long = strlen(cell) > LONG_CELL;
    itm_text_add(text, is_missing || !isnan(value) ? "<td class=\"num\">" : is_long ? "<td class=\"long\">" : "<td>");
    if (i == p->verdict) {
        const char* kind = is_doubtful(p, row)   ? "finished-with-doubts"
                           : is_finished(p, row) ? "finished"
                                                 : "broke-down";
        itm_text_format(text, "<span class=\"verdict %s\">", kind);
    }
    if (isnan(value)) {
        itm_text_add_html(text, is_missing ? "\u2013" : cell);
    } else {
        itm_text_add_number(text, value, 5);
    }
    itm_text_add(text, i == p->verdict ? "</span></td>" : "</td>");
}

static void add_table(Page* p)
{
    ItmText* text = p->text;
    itm_text_add(text, "<section><h2>All runs</h2>\n<div class=\"wide\"><table class=\"errors\">");
    add_table_head(p);
    itm_text_add(text, "<tbody>\n");
    for (long row = 0; row < p->grid->nrow; row++) {
        itm_text_add(text, "<tr>");
        for (int i = 0; i < p->grid->ncolumn; i++) {
            add_cell(p, row, i);
        }
        itm_text_add(text, "</tr>\n");
    }
    itm_text_add(text, "</tbody></table></div></section>\n");
}

// ---------------------------------------------------------------------------- page

static void add_section(Page* p, const char* title, bool is_about_errors, void (*add)(Page*, int))
{
    bool is_open = false;
    for (int i = 0; i < p->grid->ncolumn; i++) {
        if (is_result(p, i) && is_error(p->grid->names[i]) == is_about_errors) {
            if (!is_open) {
                itm_text_format(p->text, "<section><h2>%s</h2>\n<div class=\"figures\">\n", title);
            }
            is_open = true;
            add(p, i);
        }
    }
    itm_text_add(p->text, is_open ? "</div></section>\n" : "");
}

static void add_banner(Page* p, const char* title)
{
    long nfinished = 0, ndoubtful = 0;
    char doubts[40] = "";
    for (long row = 0; row < p->grid->nrow; row++) {
        nfinished += is_finished(p, row);
        ndoubtful += is_doubtful(p, row);
    }
    if (ndoubtful > 0) {
        snprintf(doubts, sizeof doubts, ", %ld with doubts", ndoubtful);
    }
    itm_text_add(p->text, "<header id=\"top\">\n<p class=\"brand\">Interim sweep</p>\n<h1>");
    itm_text_add_html(p->text, title);
    itm_text_format(
        p->text, "</h1>\n<p class=\"outcome\"><span class=\"verdict %s\">%ld of %ld finished%s</span></p>\n",
        nfinished == p->grid->nrow && ndoubtful == 0 ? "finished" : "interrupted", nfinished, p->grid->nrow, doubts);
    itm_text_add(p->text, "<dl class=\"numbers\">");
    for (int i = 0; i < p->grid->nkey; i++) {
        itm_text_add(p->text, "<div><dt>");
        itm_text_add_html(p->text, p->grid->names[i]);
        itm_text_format(p->text, "</dt><dd>%d <small>values</small></dd></div>", p->axes[i].count);
    }
    itm_text_add(p->text, "</dl></header>\n");
}

static bool has_unfinished(const Page* p)
{
    for (long row = 0; row < p->grid->nrow; row++) {
        if (!is_finished(p, row)) {
            return true;
        }
    }
    return false;
}

static void add_content(Page* p)
{
    bool has_line = p->axes[p->order[0]].is_number && p->axes[p->order[0]].count > 1;
    bool has_map = p->grid->nkey > 1 && p->axes[p->order[0]].count > 1 && p->axes[p->order[1]].count > 1;
    itm_text_add(p->text, "<main class=\"text\">\n");
    add_time_plots(p);
    if (has_line) {
        add_section(p, "Errors", true, add_curves);
    }
    if (has_map) {
        add_section(p, "Maps of errors", true, add_maps);
        itm_text_add(p->text, "<p class=\"note\">Dark is small and yellow large, by decades where values span many; "
                              "hatched red runs did not finish.</p>\n");
        if (p->end_time != ITM_NONE && has_unfinished(p)) {
            itm_text_add(p->text, "<section><h2>Stability</h2><p class=\"note\">How far each run came, in seconds; "
                                  "hatched red: and no farther.</p>\n<div class=\"figures\">\n");
            add_maps(p, p->end_time);
            itm_text_add(p->text, "</div></section>\n");
        }
    }
    if (has_line) {
        add_section(p, "Results", false, add_curves);
    }
    add_table(p);
    itm_text_add(p->text, "</main>\n<footer>Written by Interim ");
    itm_text_add_html(p->text, itm_version());
    itm_text_add(p->text, ". Runs that did not finish are gaps in the curves. This page is complete in itself and "
                          "fetches nothing.</footer>\n</body>\n</html>\n");
}

static bool fill_page(Page* p)
{
    bool is_filled = p->axes != NULL && p->order != NULL;
    for (int i = 0; i < p->grid->nkey && is_filled; i++) {
        is_filled = fill_axis(&p->axes[i], p->grid, i);
    }
    if (is_filled) {
        sort_keys(p);
    }
    return is_filled;
}

static ItmStatus write_page(const char* path, const ItmSweepGrid* grid, const char* title,
                            const ItmSweepReportOptions* options, ItmError* error)
{
    ItmText text = {0};
    Page p = {.text = &text,
              .grid = grid,
              .axes = calloc((size_t)grid->nkey, sizeof(Axis)),
              .order = calloc((size_t)grid->nkey, sizeof(int)),
              .verdict = itm_sweep_grid_find(grid, "verdict"),
              .end_time = itm_sweep_grid_find(grid, "end_time"),
              .runs = options->runs,
              .nrun = options->runs != NULL ? options->nrun : 0,
              .options = options};
    if (!fill_page(&p)) {
        text.has_failed = true;
    } else {
        itm_report_add_head(&text, title, false);
        add_banner(&p, title);
        add_content(&p);
    }
    ItmStatus status = itm_text_write(&text, path, error);
    for (int i = 0; p.axes != NULL && i < grid->nkey; i++) {
        free(p.axes[i].values);
    }
    free(p.axes);
    free(p.order);
    itm_text_free(&text);
    return status;
}

ItmStatus itm_report_write_sweep(const char* path, const char* table, const ItmSweepReportOptions* options,
                                 ItmError* error)
{
    static const ItmSweepReportOptions NOTHING = {0};
    ITM_GUARD(path != NULL && table != NULL, ITM_ERR_ARGUMENT);
    options = options != NULL ? options : &NOTHING;
    ItmSweepGrid grid;
    const char* slash = strrchr(table, '/');
    ItmStatus status = itm_sweep_grid_read(&grid, table, error);
    if (status == ITM_OK) {
        const char* title = options->title != NULL ? options->title : slash != NULL ? slash + 1 : table;
        status = write_page(path, &grid, title, options, error);
        itm_sweep_grid_free(&grid);
    }
    return status;
}
