#include "report/plot.h"

#include "base/error.h"
#include "base/guard.h"
#include "report/decimate.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FONT 12.0  // px
#define TICK_LENGTH 4.0
#define LEGEND_LINE 17.0

typedef struct Range {
    double lo, hi;
} Range;

// One panel being drawn.
typedef struct Frame {
    ItmCanvas* canvas;
    double left, top, width, height;  // of the area of the lines, px
    Range x, y;                       // logarithms where the axis has them
    bool is_log_x, is_log_y;
} Frame;

ItmPlotOptions itm_default_plot_options(void)
{
    return (ItmPlotOptions){.width = 720, .height = 260, .x_label = "time, s"};
}

// ---------------------------------------------------------------------------- ranges and ticks

// A value on an axis.
static double on_axis(double value, bool is_log)
{
    return is_log ? log10(fmax(value, DBL_MIN)) : value;
}

static Range find_x_range(const ItmPlotPanel* panels, int npanel, const ItmPlotOptions* options)
{
    if (options->from < options->to) {
        return (Range){options->from, options->to};
    }
    Range r = {INFINITY, -INFINITY};
    for (int p = 0; p < npanel; p++) {
        for (int i = 0; i < panels[p].nseries; i++) {
            const ItmPlotSeries* s = &panels[p].series[i];
            for (long k = 0; k < s->count; k++) {
                double x = on_axis(s->x[k], panels[p].is_log_x);
                r.lo = fmin(r.lo, x);
                r.hi = fmax(r.hi, x);
            }
        }
    }
    double lo = isfinite(r.lo) ? r.lo : 0.0;
    return r.lo < r.hi ? r : (Range){lo, lo + fmax(1.0, 1e-9 * fabs(lo))};
}

// What is seen in the range of x, with a little room; a constant gets some, too.
static Range find_y_range(const ItmPlotPanel* panel, Range x)
{
    Range r = {INFINITY, -INFINITY};
    for (int i = 0; i < panel->nseries; i++) {
        const ItmPlotSeries* s = &panel->series[i];
        for (long k = 0; k < s->count; k++) {
            double at = on_axis(s->x[k], panel->is_log_x);
            if (isfinite(s->y[k]) && at >= x.lo && at <= x.hi) {
                double y = on_axis((double)s->y[k], panel->is_log_y);
                r.lo = fmin(r.lo, y);
                r.hi = fmax(r.hi, y);
            }
        }
    }
    if (!(r.lo <= r.hi)) {
        return (Range){0.0, 1.0};
    }
    double room = 0.05 * (r.hi - r.lo);
    room = room > 1e-9 * fmax(fabs(r.lo), fabs(r.hi)) ? room : r.lo != 0.0 ? 0.5 * fabs(r.lo) : 0.5;
    return (Range){r.lo - room, r.hi + room};
}

// Distance of ticks: 1, 2 or 5 times a power of ten, for about `count` of them.
static double choose_step(Range r, int count)
{
    double raw = (r.hi - r.lo) / count, power = pow(10.0, floor(log10(raw)));
    double share = raw / power;
    return power * (share <= 1.0 ? 1.0 : share <= 2.0 ? 2.0 : share <= 5.0 ? 5.0 : 10.0);
}

// A tick as a text with just the digits that distinguish it from the next. Small steps far from zero are decimals: 0.47785.
static void format_tick(char* text, size_t size, double value, double step)
{
    double largest = fmax(fabs(value), step);
    if (fabs(value) < 1e-9 * step) {
        snprintf(text, size, "0");
    } else if (largest >= 1e5 || (step < 1e-4 && (step < 1e-8 || largest < 200.0 * step))) {
        int digits = (int)ceil(log10(largest / step));
        snprintf(text, size, "%.*e", digits < 0 ? 0 : digits > 6 ? 6 : digits, value);
        char* e = strchr(text, 'e');
        // "2e-05" -> "2e-5"
        if (e != NULL) {
            int exponent = atoi(e + 1);
            snprintf(e, size - (size_t)(e - text), "e%d", exponent);
        }
    } else {
        int decimals = (int)fmax(0.0, ceil(-log10(step) - 1e-9));
        snprintf(text, size, "%.*f", decimals, value);
    }
    char* comma = strchr(text, ',');
    if (comma != NULL) {
        *comma = '.';
    }
}

// Where a point of the axes is drawn.
static ItmPoint place(const Frame* f, double x, double y)
{
    return (ItmPoint){f->left + f->width * (x - f->x.lo) / (f->x.hi - f->x.lo),
                      f->top + f->height * (f->y.hi - y) / (f->y.hi - f->y.lo)};
}

static void draw_line(ItmCanvas* canvas, double x1, double y1, double x2, double y2, int ink)
{
    canvas->polyline(canvas, (ItmPoint[2]){{x1, y1}, {x2, y2}}, 2, ink, 1.0, false);
}

// One tick of an axis at a place on it, with its text.
typedef void DrawTick(const Frame* f, double at, const char* text);

static void draw_x_tick(const Frame* f, double at, const char* text)
{
    double x = place(f, at, 0.0).x, bottom = f->top + f->height;
    draw_line(f->canvas, x, f->top, x, bottom, ITM_INK_GRID);
    draw_line(f->canvas, x, bottom, x, bottom + TICK_LENGTH, ITM_INK_FRAME);
    f->canvas->words(f->canvas, x, bottom + 17.0, FONT - 1.0, ITM_ANCHOR_MIDDLE, ITM_INK_MUTED, false, text);
}

static void draw_y_tick(const Frame* f, double at, const char* text)
{
    double y = place(f, f->x.lo, at).y;
    draw_line(f->canvas, f->left, y, f->left + f->width, y, ITM_INK_GRID);
    draw_line(f->canvas, f->left - TICK_LENGTH, y, f->left, y, ITM_INK_FRAME);
    f->canvas->words(f->canvas, f->left - 8.0, y + 4.0, FONT - 1.0, ITM_ANCHOR_END, ITM_INK_MUTED, false, text);
}

// The step is at least (hi - lo) / count, so there are at most count + 1 ticks; they are counted because i + 1 is i where the range is below
// the resolution of its numbers.
static void draw_linear_ticks(const Frame* f, Range r, int count, DrawTick* draw)
{
    double step = choose_step(r, count), first = ceil(r.lo / step - 1e-9);
    for (int k = 0; k <= count && (first + k) * step <= r.hi + 1e-9 * step; k++) {
        double i = first + k;
        char text[40];
        format_tick(text, sizeof text, i * step, step);
        draw(f, i * step, text);
    }
}

// Powers of ten, and twice and five times them where there are few.
static void draw_log_ticks(const Frame* f, Range r, int count, DrawTick* draw)
{
    double decades = r.hi - r.lo, every = fmax(1.0, ceil(decades / count));
    for (double power = floor(r.lo); power <= r.hi; power++) {
        for (int k = 0; k < 3; k++) {
            double value = pow(10.0, power) * (k == 0 ? 1.0 : k == 1 ? 2.0 : 5.0), at = log10(value);
            bool is_wanted = k == 0 ? fmod(fabs(power), every) == 0.0 : 3.0 * decades <= count;
            if (is_wanted && at >= r.lo - 1e-9 && at <= r.hi + 1e-9) {
                char text[40];
                snprintf(text, sizeof text, "%g", value);
                draw(f, at, text);
            }
        }
    }
}

static void draw_x_ticks(const Frame* f, const char* label)
{
    int count = (int)fmax(2.0, f->width / 90.0);
    double bottom = f->top + f->height;
    (f->is_log_x ? draw_log_ticks : draw_linear_ticks)(f, f->x, count, draw_x_tick);
    f->canvas->words(f->canvas, f->left + f->width, bottom + 33.0, FONT, ITM_ANCHOR_END, ITM_INK_MUTED, false, label);
}

static void draw_y_ticks(const Frame* f)
{
    int count = (int)fmax(2.0, f->height / 34.0);
    (f->is_log_y ? draw_log_ticks : draw_linear_ticks)(f, f->y, count, draw_y_tick);
}

// ---------------------------------------------------------------------------- lines

// Pieces between gaps.
static void draw_series(const Frame* f, const ItmPlotSeries* s, ItmPoint* points)
{
    long count = 0;
    for (long i = 0; i <= s->count; i++) {
        if (i < s->count && isfinite(s->y[i])) {
            ItmPoint p = place(f, on_axis(s->x[i], f->is_log_x), on_axis((double)s->y[i], f->is_log_y));
            // far outside is as good as farther outside, and keeps numbers short
            p.y = fmax(-1e4, fmin(1e4, p.y));
            p.x = fmax(-1e4, fmin(1e4, p.x));
            points[count++] = p;
            if (s->has_marks) {
                // a stroke without length, which is as wide as it is round
                f->canvas->polyline(f->canvas, (ItmPoint[2]){{p.x - 0.1, p.y}, {p.x + 0.1, p.y}}, 2,
                                    ITM_INK_SERIES + s->color, 7.0, false);
            }
        } else if (count > 0) {
            f->canvas->polyline(f->canvas, points, count, ITM_INK_SERIES + s->color, 1.6, s->is_dashed);
            count = 0;
        }
    }
}

// Height of the legend; draws it where `canvas` is given.
static double lay_legend(ItmCanvas* canvas, const ItmPlotPanel* panel, double left, double top, double width)
{
    double x = left, y = top + LEGEND_LINE;
    if (panel->nseries == 0) {
        return 0.0;
    }
    for (int i = 0; i < panel->nseries; i++) {
        const ItmPlotSeries* s = &panel->series[i];
        double needed = 26.0 + itm_canvas_measure(s->label, FONT - 0.5) + 16.0;
        if (x > left && x + needed > left + width) {
            x = left;
            y += LEGEND_LINE;
        }
        if (canvas != NULL) {
            canvas->polyline(canvas, (ItmPoint[2]){{x, y - 4.0}, {x + 18.0, y - 4.0}}, 2, ITM_INK_SERIES + s->color,
                             2.4, s->is_dashed);
            canvas->words(canvas, x + 24.0, y, FONT - 0.5, ITM_ANCHOR_START, ITM_INK_TEXT, false, s->label);
        }
        x += needed;
    }
    return y - top;
}

static double measure_panel(const ItmPlotPanel* panel, const ItmPlotOptions* o)
{
    return o->height + lay_legend(NULL, panel, 14.0, 0.0, o->width - 28.0);
}

static void draw_panel(ItmCanvas* canvas, const ItmPlotPanel* panel, const ItmPlotOptions* o, Range x, double top,
                       ItmPoint* points)
{
    double legend = lay_legend(canvas, panel, 14.0, top + 24.0, o->width - 28.0);
    Frame f = {.canvas = canvas,
               .left = 72.0,
               .top = top + 24.0 + legend + 26.0,
               .width = o->width - 72.0 - 18.0,
               .x = x,
               .is_log_x = panel->is_log_x,
               .is_log_y = panel->is_log_y};
    f.height = top + o->height + legend - 42.0 - f.top;
    f.y = find_y_range(panel, x);
    canvas->words(canvas, 14.0, top + 20.0, FONT + 1.5, ITM_ANCHOR_START, ITM_INK_TEXT, true, panel->title);
    canvas->words(canvas, f.left, f.top - 8.0, FONT - 1.0, ITM_ANCHOR_END, ITM_INK_MUTED, false,
                  strcmp(panel->unit, "1") == 0 ? "" : panel->unit);
    draw_x_ticks(&f, o->x_label);
    draw_y_ticks(&f);
    canvas->polyline(canvas,
                     (ItmPoint[3]){{f.left, f.top}, {f.left, f.top + f.height}, {f.left + f.width, f.top + f.height}},
                     3, ITM_INK_FRAME, 1.0, false);
    canvas->clip(canvas, f.left, f.top - 2.0, f.width, f.height + 4.0);
    for (int i = 0; i < panel->nseries; i++) {
        draw_series(&f, &panel->series[i], points);
    }
    canvas->clip(canvas, 0.0, 0.0, 0.0, 0.0);
}

static long count_points(const ItmPlotPanel* panels, int npanel)
{
    long most = 1;
    for (int p = 0; p < npanel; p++) {
        for (int i = 0; i < panels[p].nseries; i++) {
            most = panels[p].series[i].count > most ? panels[p].series[i].count : most;
        }
    }
    return most;
}

static double measure_panels(const ItmPlotPanel* panels, int npanel, const ItmPlotOptions* options)
{
    double height = 0.0;
    for (int p = 0; p < npanel; p++) {
        height += measure_panel(&panels[p], options);
    }
    return height;
}

static bool draw_panels(ItmCanvas* canvas, const ItmPlotPanel* panels, int npanel, const ItmPlotOptions* options)
{
    ItmPoint* points = malloc((size_t)count_points(panels, npanel) * sizeof *points);
    if (points == NULL) {
        return false;
    }
    Range x = find_x_range(panels, npanel, options);
    if (npanel > 0 && panels[0].nseries > 0 && panels[0].series[0].has_marks) {
        double room = 0.03 * (x.hi - x.lo);
        x = (Range){x.lo - room, x.hi + room};
    }
    double top = 0.0;
    for (int p = 0; p < npanel; p++) {
        draw_panel(canvas, &panels[p], options, x, top, points);
        top += measure_panel(&panels[p], options);
    }
    free(points);
    return true;
}

void itm_plot_add_svg(ItmText* text, const ItmPlotPanel* panels, int npanel, const ItmPlotOptions* options,
                      bool is_inline)
{
    int height = (int)ceil(measure_panels(panels, npanel, options));
    ItmCanvas canvas = itm_canvas_begin_svg(text, options->width, height, is_inline, npanel > 0 ? panels[0].title : "");
    if (canvas.state != NULL) {
        text->has_failed = !draw_panels(&canvas, panels, npanel, options) || text->has_failed;
        itm_canvas_end_svg(&canvas);
    }
}

// Two pixels a unit.
static void add_png(ItmText* text, const ItmPlotPanel* panels, int npanel, const ItmPlotOptions* options)
{
    int height = (int)ceil(measure_panels(panels, npanel, options));
    ItmCanvas canvas = itm_canvas_begin_png(options->width, height, 2);
    if (canvas.state == NULL) {
        text->has_failed = true;
        return;
    }
    text->has_failed = !draw_panels(&canvas, panels, npanel, options) || text->has_failed;
    itm_canvas_end_png(&canvas, text);
}

// ---------------------------------------------------------------------------- from tables

// Series of a picture with their memory.
typedef struct Sheet {
    ItmPlotSeries* series;  // (nseries)
    int nseries;
    bool has_failed;
} Sheet;

static void free_sheet(Sheet* sheet)
{
    for (int i = 0; i < sheet->nseries; i++) {
        free((void*)sheet->series[i].x);
        free((void*)sheet->series[i].y);
        free((void*)sheet->series[i].label);
    }
    free(sheet->series);
}

static char* make_label(const char* name, const char* run)
{
    size_t size = strlen(name) + strlen(run) + 4;
    char* label = malloc(size);
    if (label != NULL) {
        bool has_both = name[0] != '\0' && run[0] != '\0';
        snprintf(label, size, "%s%s%s%s", name, has_both ? " (" : "", run, has_both ? ")" : "");
    }
    return label;
}

static void add_series(Sheet* sheet, const ItmTable* table, int column, const char* name, const char* run, int color,
                       bool is_dashed, int width)
{
    ItmDecimation plan = itm_decimate_plan(table->nrow, 4l * width);
    double* x = malloc((size_t)plan.npoint * sizeof *x + 1);
    float* y = malloc((size_t)plan.npoint * sizeof *y + 1);
    char* label = make_label(name, run);
    if (x == NULL || y == NULL || label == NULL) {
        sheet->has_failed = true;
    } else {
        itm_decimate_time(&plan, table, x);
        itm_decimate_column(&plan, table, column, y);
    }
    sheet->series[sheet->nseries++] =
        (ItmPlotSeries){label, x, y, plan.npoint, color % ITM_INK_SERIES_COUNT, is_dashed, false};
}

// Column `index` of the `count` of a panel: of the first run, and of the others those that have it. Every line has its own colour
// as long as there are enough, so that a dashed one is seen on the solid one below it; then runs differ by dashes only, or, of one
// signal, by colours that begin again with dashes.
static void add_column(Sheet* sheet, const ItmReportRun* runs, int nrun, int column, const char* name, int index,
                       int count, int width)
{
    bool has_enough = count * nrun <= ITM_INK_SERIES_COUNT;
    for (int i = 0; i < nrun; i++) {
        int at = i == 0 ? column : itm_results_table_find(runs[i].table, runs[0].table->names[column]);
        if (at != ITM_NONE) {
            int color = has_enough || count == 1 ? index * nrun + i : index;
            bool is_dashed = has_enough || count > 1 ? i > 0 : i / ITM_INK_SERIES_COUNT % 2 == 1;
            add_series(sheet, runs[i].table, at, name, nrun > 1 ? runs[i].label : "", color, is_dashed, width);
        }
    }
}

static bool begin_sheet(Sheet* sheet, int capacity)
{
    *sheet = (Sheet){.series = calloc((size_t)capacity + 1, sizeof(ItmPlotSeries))};
    return sheet->series != NULL;
}

void itm_plot_add_saved(ItmText* text, const ItmPlotPanel* panel, const ItmPlotOptions* options)
{
    size_t start = text->length;
    itm_plot_add_svg(text, panel, 1, options, true);
    itm_canvas_add_save_link(text, panel->title, start);
}

void itm_plot_add_columns(ItmText* text, const ItmReportRun* runs, int nrun, int first, int count, bool is_saved)
{
    const ItmTable* table = runs[0].table;
    ItmPlotOptions options = itm_default_plot_options();
    options.width = is_saved ? ITM_PLOT_PAGE_WIDTH : options.width;
    Sheet sheet;
    if (!begin_sheet(&sheet, count * nrun)) {
        text->has_failed = true;
        return;
    }
    const char* name = table->names[first];
    const char* dot = strrchr(name, '.');
    char title[256];
    snprintf(title, sizeof title, "%.*s", count > 1 && dot != NULL ? (int)(dot - name) : (int)strlen(name), name);
    for (int i = 0; i < count; i++) {
        const char* whole = table->names[first + i];
        const char* part = count > 1 && dot != NULL ? strrchr(whole, '.') + 1 : nrun > 1 ? "" : whole;
        add_column(&sheet, runs, nrun, first + i, part, i, count, options.width);
    }
    ItmPlotPanel panel = {
        .title = title, .unit = table->units[first], .series = sheet.series, .nseries = sheet.nseries};
    if (sheet.has_failed) {
        text->has_failed = true;
    } else if (is_saved) {
        itm_plot_add_saved(text, &panel, &options);
    } else {
        itm_plot_add_svg(text, &panel, 1, &options, true);
    }
    free_sheet(&sheet);
}

// Whether the unit of columns[index] came before.
static bool is_unit_known(const ItmTable* table, const int* columns, int index)
{
    for (int i = 0; i < index; i++) {
        if (strcmp(table->units[columns[i]], table->units[columns[index]]) == 0) {
            return true;
        }
    }
    return false;
}

// Panels (at most ncolumn) with the series of the sheet; how many there are.
static int fill_panels(ItmPlotPanel* panels, Sheet* sheet, const ItmReportRun* runs, int nrun, const int* columns,
                       int ncolumn, int width)
{
    const ItmTable* table = runs[0].table;
    int npanel = 0;
    for (int i = 0; i < ncolumn; i++) {
        if (is_unit_known(table, columns, i)) {
            continue;
        }
        int first = sheet->nseries, count = 0, index = 0;
        for (int k = i; k < ncolumn; k++) {
            count += strcmp(table->units[columns[k]], table->units[columns[i]]) == 0;
        }
        for (int k = i; k < ncolumn; k++) {
            if (strcmp(table->units[columns[k]], table->units[columns[i]]) == 0) {
                add_column(sheet, runs, nrun, columns[k], table->names[columns[k]], index++, count, width);
            }
        }
        const char* title = npanel == 0 ? (table->title[0] != '\0' ? table->title : runs[0].label) : "";
        panels[npanel++] = (ItmPlotPanel){.title = title,
                                          .unit = table->units[columns[i]],
                                          .series = sheet->series + first,
                                          .nseries = sheet->nseries - first};
    }
    return npanel;
}

static bool has_ending(const char* path, const char* ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n > m && strcasecmp(path + n - m, ending) == 0;
}

ItmStatus itm_plot_write(const char* path, const ItmReportRun* runs, int nrun, const int* columns, int ncolumn,
                         const ItmPlotOptions* options, ItmError* error)
{
    ITM_GUARD(path != NULL && runs != NULL && columns != NULL, ITM_ERR_ARGUMENT);
    bool is_png = has_ending(path, ".png");
    if (!is_png && !has_ending(path, ".svg")) {
        return itm_error_set(error, ITM_ERR_INPUT, __func__, "path",
                             "a plot goes to a file ending in .svg or .png, not '%s'", path);
    }
    Sheet sheet;
    ItmText text = {0};
    ItmPlotOptions usual = itm_default_plot_options();
    options = options != NULL ? options : &usual;
    ItmPlotPanel* panels = calloc((size_t)ncolumn + 1, sizeof *panels);
    text.has_failed = !begin_sheet(&sheet, ncolumn * nrun) || panels == NULL;
    if (!text.has_failed) {
        int npanel = fill_panels(panels, &sheet, runs, nrun, columns, ncolumn, options->width);
        text.has_failed = sheet.has_failed;
        if (!text.has_failed && is_png) {
            add_png(&text, panels, npanel, options);
        } else if (!text.has_failed) {
            itm_plot_add_svg(&text, panels, npanel, options, false);
        }
        free_sheet(&sheet);
    }
    ItmStatus status = itm_text_write(&text, path, error);
    itm_text_free(&text);
    free(panels);
    return status;
}
