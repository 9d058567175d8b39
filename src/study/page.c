// The page of a study: distributions, what matters, scatter, parallel coordinates, best and worst runs. It needs no script.
#include "study/study.h"

#include "base/guard.h"
#include "report/plot.h"
#include "report/report.h"
#include "study/effects.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WIDTH ITM_PLOT_PAGE_WIDTH
#define HEIGHT 240
#define LEFT 64.0
#define RIGHT 14.0
#define TOP 30.0
#define BOTTOM 44.0
#define MOST_POINTS 800  // of a scatter plot
#define MOST_LINES 250   // of parallel coordinates
#define MOST_ROWS 1000   // of the table
#define MOST_SCATTERS 48
#define NBEST 3

typedef struct Page {
    ItmText* text;
    ItmStudy* study;
    const char* reports;  // prefix of reports of runs, NULL: none
    size_t figure;        // start of the picture being drawn in the text
} Page;

#define MOST_VALUE 1e300  // larger values are drawn as this one, so that ranges are finite
#define MOST_TICKS 8      // find_tick divides a range into seven intervals at most

// A range of values and where it lies on the picture.
typedef struct Axis {
    double lo, hi;    // values
    double from, to;  // pixels
} Axis;

// ---------------------------------------------------------------------------- drawing

static double limit_value(double value)
{
    return fmax(-MOST_VALUE, fmin(value, MOST_VALUE));
}

static Axis make_axis(double lo, double hi, double from, double to)
{
    lo = limit_value(lo);
    hi = limit_value(hi);
    double room = hi > lo ? 0.04 * (hi - lo) : fmax(1e-12, 0.5 * fabs(lo));
    return (Axis){lo - room, hi + room, from, to};
}

static double place(const Axis* axis, double value)
{
    return axis->from + (axis->to - axis->from) * (limit_value(value) - axis->lo) / (axis->hi - axis->lo);
}

static void add_pixels(ItmText* text, const char* name, double x)
{
    itm_text_format(text, " %s=\"", name);
    itm_text_add_number(text, round(10.0 * x) / 10.0, 6);
    itm_text_add(text, "\"");
}

static void add_bar(ItmText* text, double x, double y, double width, double height, int series, double opacity)
{
    itm_text_add(text, "<rect");
    add_pixels(text, "x", x);
    add_pixels(text, "y", y);
    add_pixels(text, "width", fmax(width, 0.5));
    add_pixels(text, "height", fmax(height, 0.0));
    add_pixels(text, "opacity", opacity);
    itm_text_format(text, " style=\"fill:var(--s%d)\"/>\n", series % ITM_INK_SERIES_COUNT);
}

static void add_dot(ItmText* text, double x, double y, double radius, int series)
{
    itm_text_add(text, "<circle");
    add_pixels(text, "cx", x);
    add_pixels(text, "cy", y);
    add_pixels(text, "r", radius);
    itm_text_format(text, " opacity=\"0.65\" style=\"fill:var(--s%d)\"/>\n", series % ITM_INK_SERIES_COUNT);
}

static void draw_line(ItmCanvas* canvas, double x0, double y0, double x1, double y1, int ink, double width)
{
    canvas->polyline(canvas, (ItmPoint[2]){{x0, y0}, {x1, y1}}, 2, ink, width, false);
}

static void format_number(char* text, size_t size, double value, int digits)
{
    ItmText number = {0};
    itm_text_add_number(&number, value, digits);
    snprintf(text, size, "%s", number.chars != NULL ? number.chars : "");
    itm_text_free(&number);
}

// A round number near a fifth of the range.
static double find_tick(double range)
{
    double power = pow(10.0, floor(log10(range / 4.0)));
    double share = range / 4.0 / power;
    return power * (share < 1.5 ? 1.0 : share < 3.5 ? 2.0 : share < 7.5 ? 5.0 : 10.0);
}

// Ticks are counted: where the range is below the resolution of the numbers, adding a step would not lead to its end. False: behind it.
static bool get_tick(const Axis* axis, double step, int k, double* v)
{
    *v = (ceil(axis->lo / step) + k) * step;
    *v = fabs(*v) < 1e-9 * step ? 0.0 : *v;
    return *v <= axis->hi;
}

// Frame, ticks and labels of a picture; words (may be NULL) stand below the numbers 0 ... nword - 1 of the x axis.
static void draw_axes(ItmCanvas* canvas, const Axis* x, const Axis* y, const char* title, const char* below,
                      const char* const* words, int nword)
{
    char text[64];
    canvas->words(canvas, x->from, 18.0, 13.0, ITM_ANCHOR_START, ITM_INK_TEXT, true, title);
    canvas->words(canvas, 0.5 * (x->from + x->to), HEIGHT - 8.0, 12.0, ITM_ANCHOR_MIDDLE, ITM_INK_MUTED, false, below);
    double step = find_tick(y->hi - y->lo), v;
    for (int k = 0; k < MOST_TICKS && get_tick(y, step, k, &v); k++) {
        double at = place(y, v);
        draw_line(canvas, x->from, at, x->to, at, ITM_INK_GRID, 1.0);
        format_number(text, sizeof text, v, 4);
        canvas->words(canvas, x->from - 6.0, at + 4.0, 11.0, ITM_ANCHOR_END, ITM_INK_MUTED, false, text);
    }
    step = words != NULL ? 1.0 : find_tick(x->hi - x->lo);
    int most = words != NULL ? (int)(x->hi - x->lo) + 2 : MOST_TICKS;
    for (int k = 0; k < most && get_tick(x, step, k, &v); k++) {
        double at = place(x, v);
        format_number(text, sizeof text, v, 4);
        bool has_word = words != NULL && v >= 0.0 && v < nword;
        draw_line(canvas, at, y->from, at, y->from + 4.0, ITM_INK_FRAME, 1.0);
        canvas->words(canvas, at, y->from + 16.0, 11.0, ITM_ANCHOR_MIDDLE, ITM_INK_MUTED, false,
                      words == NULL ? text
                      : has_word    ? words[(int)v]
                                    : "");
    }
    draw_line(canvas, x->from, y->from, x->to, y->from, ITM_INK_FRAME, 1.0);
    draw_line(canvas, x->from, y->from, x->from, y->to, ITM_INK_FRAME, 1.0);
}

static ItmCanvas begin_figure(Page* p, const char* label, int height)
{
    itm_text_add(p->text, "<figure>\n");
    p->figure = p->text->length;
    return itm_canvas_begin_svg(p->text, WIDTH, height, true, label);
}

static void end_figure(Page* p, ItmCanvas* canvas, const char* title)
{
    itm_canvas_end_svg(canvas);
    itm_canvas_add_save_link(p->text, title, p->figure);
    itm_text_add(p->text, "</figure>\n");
}

static void begin_section(Page* p, const char* id, const char* title, const char* note)
{
    itm_text_format(p->text, "<section id=\"%s\"><h2>%s</h2>\n", id, title);
    if (note[0] != '\0') {
        itm_text_format(p->text, "<p class=\"note\">%s</p>\n", note);
    }
    itm_text_add(p->text, "<div class=\"figures\">\n");
}

static void end_section(Page* p)
{
    itm_text_add(p->text, "</div></section>\n");
}

// ---------------------------------------------------------------------------- names

static void name_response(char* text, size_t size, const ItmStudyResponse* r)
{
    bool has_unit = r->unit[0] != '\0' && strcmp(r->unit, "1") != 0;
    snprintf(text, size, "%s%s%s%s", r->name, has_unit ? " [" : "", has_unit ? r->unit : "", has_unit ? "]" : "");
}

static void name_factor(char* text, size_t size, const ItmStudyFactor* f)
{
    bool has_unit = f->unit[0] != '\0' && strcmp(f->unit, "1") != 0;
    snprintf(text, size, "%s%s%s%s", f->name, has_unit ? " [" : "", has_unit ? f->unit : "", has_unit ? "]" : "");
}

// The words of a choice that is not of numbers; NULL otherwise.
static const char* const* get_words(const ItmStudyFactor* f)
{
    for (int i = 0; i < f->nvalue && f->distribution == ITM_DISTRIBUTION_CHOICE; i++) {
        if (isnan(f->numbers[i])) {
            return f->texts;
        }
    }
    return NULL;
}

static bool is_usable(const ItmStudy* s, int run, int response)
{
    return itm_study_is_finished(&s->runs[run]) && isfinite(s->runs[run].responses[response]);
}

static void find_factor_range(const ItmStudy* s, int factor, double* lo, double* hi)
{
    *lo = INFINITY;
    *hi = -INFINITY;
    for (int run = 0; run < s->nrun; run++) {
        double value = itm_effects_get_value(s, run, factor);
        *lo = fmin(*lo, value);
        *hi = fmax(*hi, value);
    }
}

// ---------------------------------------------------------------------------- distributions

static void add_histogram(Page* p, int response)
{
    ItmStudy* s = p->study;
    ItmStudyStatistics t = itm_study_compute_statistics(s, response);
    if (t.count == 0) {
        return;
    }
    int nbin = (int)fmin(40.0, fmax(5.0, ceil(1.5 * sqrt(t.count)))), counts[40] = {0}, most = 0;
    double half =
        (0.5 * t.largest - 0.5 * t.least) / nbin;  // of the width of a bin; the difference itself may overflow
    half = half > 0.0 ? half : 0.5;
    double width = 2.0 * half;
    for (int run = 0; run < s->nrun; run++) {
        if (is_usable(s, run, response)) {
            int k = (int)((0.5 * s->runs[run].responses[response] - 0.5 * t.least) / half);
            k = k < nbin ? k : nbin - 1;
            counts[k]++;
            most = counts[k] > most ? counts[k] : most;
        }
    }
    char title[200];
    name_response(title, sizeof title, &s->responses.items[response]);
    ItmCanvas canvas = begin_figure(p, title, HEIGHT);
    if (canvas.state == NULL) {
        return;
    }
    Axis x = make_axis(t.least, t.least + nbin * width, LEFT, WIDTH - RIGHT);
    Axis y = {0.0, 1.08 * most, HEIGHT - BOTTOM, TOP};
    draw_axes(&canvas, &x, &y, title, "number of runs; lines: 5 %, median, 95 %", NULL, 0);
    for (int k = 0; k < nbin; k++) {
        double left = place(&x, t.least + k * width), right = place(&x, t.least + (k + 1) * width),
               top = place(&y, counts[k]);
        add_bar(p->text, left + 0.5, top, right - left - 1.0, y.from - top, 0, 0.8);
    }
    for (int i = 0; i < 3; i++) {
        double at = place(&x, t.quantiles[i]);
        canvas.polyline(&canvas, (ItmPoint[2]){{at, y.from}, {at, y.to}}, 2, ITM_INK_SERIES + 1, 1.5, i != 1);
    }
    end_figure(p, &canvas, title);
}

static void add_cell(ItmText* text, double value)
{
    itm_text_add(text, "<td class=\"num\">");
    if (isfinite(value)) {
        itm_text_add_number(text, value, 4);
    } else {
        itm_text_add(text, "\u2013");
    }
    itm_text_add(text, "</td>");
}

static void add_statistics(Page* p)
{
    ItmStudy* s = p->study;
    itm_text_add(
        p->text,
        "<section id=\"responses\"><h2>Responses</h2>\n<div class=\"wide\"><table class=\"errors\"><thead><tr><th>"
        "response</th><th class=\"of\">of</th><th class=\"num\">runs</th><th class=\"num\">mean</th><th class=\"num\">std</th>"
        "<th class=\"num\">least</th><th class=\"num\">5 %</th><th class=\"num\">median</th><th class=\"num\">95 %"
        "</th><th class=\"num\">largest</th></tr></thead><tbody>\n");
    for (int i = 0; i < s->responses.count; i++) {
        const ItmStudyResponse* r = &s->responses.items[i];
        ItmStudyStatistics t = itm_study_compute_statistics(s, i);
        char name[200];
        name_response(name, sizeof name, r);
        itm_text_add(p->text, "<tr><th>");
        itm_text_add_html(p->text, name);
        itm_text_format(p->text, "</th><td>%s of <code>", itm_response_statistic_name(r->statistic));
        itm_text_add_html(p->text, r->expression);
        itm_text_format(p->text, "</code></td><td class=\"num\">%d</td>", t.count);
        const double values[] = {t.mean,         t.deviation,    t.least,  t.quantiles[0],
                                 t.quantiles[1], t.quantiles[2], t.largest};
        for (int k = 0; k < 7; k++) {
            add_cell(p->text, values[k]);
        }
        itm_text_add(p->text, "</tr>\n");
    }
    itm_text_add(p->text, "</tbody></table></div>\n<div class=\"figures\">\n");
    for (int i = 0; i < s->responses.count; i++) {
        add_histogram(p, i);
    }
    end_section(p);
}

// ---------------------------------------------------------------------------- what matters

static void add_effect(Page* p, ItmCanvas* canvas, const Axis* x, double y, ItmStudyEffect effect, int series)
{
    double zero = place(x, 0.0), at = place(x, effect.value);
    add_bar(p->text, fmin(zero, at), y - 7.0, fabs(at - zero), 14.0, series, 0.8);
    if (isfinite(effect.low)) {
        draw_line(canvas, place(x, effect.low), y, place(x, effect.high), y, ITM_INK_TEXT, 1.5);
        draw_line(canvas, place(x, effect.low), y - 4.0, place(x, effect.low), y + 4.0, ITM_INK_TEXT, 1.5);
        draw_line(canvas, place(x, effect.high), y - 4.0, place(x, effect.high), y + 4.0, ITM_INK_TEXT, 1.5);
    }
}

// Bars of up to two measures per factor.
static void add_effects(Page* p, int response, const ItmStudyMeasure* measures, int nmeasure, double lo)
{
    ItmStudy* s = p->study;
    int height = (int)(56.0 + 20.0 * nmeasure * s->factors.count + 8.0 * s->factors.count + 24.0);
    char title[300], name[200], number[32];
    name_response(name, sizeof name, &s->responses.items[response]);
    snprintf(title, sizeof title, "%s: %s%s", name, nmeasure > 1 ? "Sobol' indices" : "rank correlation",
             nmeasure > 1 ? " of first order and total" : "");
    ItmCanvas canvas = begin_figure(p, title, height);
    if (canvas.state == NULL) {
        return;
    }
    Axis x = {lo - 0.05, 1.08, 170.0, WIDTH - 20.0};
    canvas.words(&canvas, 12.0, 18.0, 13.0, ITM_ANCHOR_START, ITM_INK_TEXT, true, title);
    for (double v = lo; v < 1.05; v += 0.25) {
        double at = place(&x, v);
        draw_line(&canvas, at, 32.0, at, height - 26.0, ITM_INK_GRID, 1.0);
        format_number(number, sizeof number, v, 3);
        canvas.words(&canvas, at, height - 10.0, 11.0, ITM_ANCHOR_MIDDLE, ITM_INK_MUTED, false, number);
    }
    double y = 46.0;
    for (int i = 0; i < s->factors.count; i++) {
        canvas.words(&canvas, 160.0, y + 4.0 + 10.0 * (nmeasure - 1), 12.0, ITM_ANCHOR_END, ITM_INK_TEXT, false,
                     s->factors.items[i].name);
        for (int k = 0; k < nmeasure; k++, y += 20.0) {
            ItmStudyEffect effect = itm_study_compute_effect(s, measures[k], response, i);
            if (isfinite(effect.value)) {
                add_effect(p, &canvas, &x, y, effect, 2 * k);
            }
        }
        y += 8.0;
    }
    end_figure(p, &canvas, title);
}

static void add_importance(Page* p)
{
    static const ItmStudyMeasure INDICES[] = {ITM_STUDY_FIRST_INDEX, ITM_STUDY_TOTAL_INDEX},
                                 RANKS[] = {ITM_STUDY_RANK_CORRELATION};
    bool has_indices = p->study->design.type == ITM_DESIGN_SOBOL_INDICES;
    begin_section(
        p, "effects", "Which factors matter",
        has_indices
            ? "Share of the variance that a factor explains alone (first bar) and with all others (second bar). "
              "Whiskers: 95 % intervals by resampling."
            : "Rank correlation of response and factor: 1 or -1 is a monotonic dependence, 0 none. Whiskers: 95 % "
              "intervals by resampling.");
    for (int i = 0; i < p->study->responses.count; i++) {
        if (has_indices) {
            add_effects(p, i, INDICES, 2, 0.0);
        } else {
            add_effects(p, i, RANKS, 1, -1.0);
        }
    }
    end_section(p);
}

static void add_main_effect(Page* p, int response)
{
    ItmStudy* s = p->study;
    char title[260], name[200];
    double lo = INFINITY, hi = -INFINITY;
    ItmEffectClasses* classes = calloc((size_t)s->factors.count, sizeof *classes);
    for (int i = 0; i < s->factors.count && classes != NULL; i++) {
        p->text->has_failed = itm_effects_classify(&classes[i], s, response, i) != ITM_OK || p->text->has_failed;
        for (int k = 0; k < classes[i].count; k++) {
            lo = fmin(lo, classes[i].mean[k] - classes[i].deviation[k]);
            hi = fmax(hi, classes[i].mean[k] + classes[i].deviation[k]);
        }
    }
    if (classes == NULL || !(lo <= hi)) {
        p->text->has_failed = p->text->has_failed || classes == NULL;
        free(classes);
        return;
    }
    name_response(name, sizeof name, &s->responses.items[response]);
    snprintf(title, sizeof title, "mean of %s", name);
    ItmCanvas canvas = begin_figure(p, title, HEIGHT);
    if (canvas.state == NULL) {
        free(classes);
        return;
    }
    Axis y = make_axis(lo, hi, HEIGHT - BOTTOM, TOP);
    Axis whole = {0.0, 1.0, LEFT, WIDTH - RIGHT};
    char text[64];
    canvas.words(&canvas, LEFT, 18.0, 13.0, ITM_ANCHOR_START, ITM_INK_TEXT, true, title);
    double step = find_tick(y.hi - y.lo), v;
    for (int k = 0; k < MOST_TICKS && get_tick(&y, step, k, &v); k++) {
        draw_line(&canvas, whole.from, place(&y, v), whole.to, place(&y, v), ITM_INK_GRID, 1.0);
        format_number(text, sizeof text, v, 4);
        canvas.words(&canvas, whole.from - 6.0, place(&y, v) + 4.0, 11.0, ITM_ANCHOR_END, ITM_INK_MUTED, false, text);
    }
    // one panel per factor, side by side
    double width = (whole.to - whole.from) / s->factors.count;
    for (int i = 0; i < s->factors.count; i++) {
        const ItmEffectClasses* c = &classes[i];
        double left = whole.from + i * width;
        Axis x = make_axis(c->at[0], c->at[c->count > 0 ? c->count - 1 : 0], left + 4.0, left + width - 4.0);
        ItmPoint points[ITM_EFFECTS_MOST_CLASSES];
        for (int k = 0; k < c->count; k++) {
            points[k] = (ItmPoint){place(&x, c->at[k]), place(&y, c->mean[k])};
            draw_line(&canvas, points[k].x, place(&y, c->mean[k] - c->deviation[k]), points[k].x,
                      place(&y, c->mean[k] + c->deviation[k]), ITM_INK_SERIES + i % ITM_INK_SERIES_COUNT, 1.0);
            add_dot(p->text, points[k].x, points[k].y, 2.5, i);
        }
        canvas.polyline(&canvas, points, c->count, ITM_INK_SERIES + i % ITM_INK_SERIES_COUNT, 1.6, false);
        draw_line(&canvas, left, y.from, left, y.to, ITM_INK_FRAME, 1.0);
        canvas.words(&canvas, left + 0.5 * width, HEIGHT - BOTTOM + (i % 2 == 0 ? 16.0 : 30.0), 11.0, ITM_ANCHOR_MIDDLE,
                     ITM_INK_SERIES + i % ITM_INK_SERIES_COUNT, false, s->factors.items[i].name);
    }
    end_figure(p, &canvas, title);
    free(classes);
}

static void add_main_effects(Page* p)
{
    begin_section(
        p, "main-effects", "Main effects",
        "Mean of the response over the values of each factor, from its lowest to its highest, all other factors varying. "
        "Vertical lines: standard error.");
    for (int i = 0; i < p->study->responses.count; i++) {
        add_main_effect(p, i);
    }
    end_section(p);
}

// ---------------------------------------------------------------------------- scatter

static void add_scatter(Page* p, int response, int factor)
{
    ItmStudy* s = p->study;
    const ItmStudyFactor* f = &s->factors.items[factor];
    ItmStudyStatistics t = itm_study_compute_statistics(s, response);
    if (t.count == 0) {
        return;
    }
    char title[200], below[200];
    name_response(title, sizeof title, &s->responses.items[response]);
    name_factor(below, sizeof below, f);
    double lo, hi;
    find_factor_range(s, factor, &lo, &hi);
    ItmCanvas canvas = begin_figure(p, title, HEIGHT);
    if (canvas.state == NULL) {
        return;
    }
    Axis x = make_axis(lo, hi, LEFT, WIDTH - RIGHT), y = make_axis(t.least, t.largest, HEIGHT - BOTTOM, TOP);
    draw_axes(&canvas, &x, &y, title, below, get_words(f), f->nvalue);
    int stride = 1 + (t.count - 1) / MOST_POINTS;
    for (int run = 0, k = 0; run < s->nrun; run++) {
        if (is_usable(s, run, response) && k++ % stride == 0) {
            add_dot(p->text, place(&x, itm_effects_get_value(s, run, factor)),
                    place(&y, s->runs[run].responses[response]), 2.2, factor);
        }
    }
    end_figure(p, &canvas, title);
}

static void add_scatters(Page* p)
{
    ItmStudy* s = p->study;
    int count = 0;
    begin_section(p, "scatter", "Responses over factors", "One point per run that finished.");
    for (int i = 0; i < s->responses.count; i++) {
        for (int k = 0; k < s->factors.count && count < MOST_SCATTERS; k++, count++) {
            add_scatter(p, i, k);
        }
    }
    end_section(p);
}

// ---------------------------------------------------------------------------- parallel coordinates

// Value of axis i, the factors first and then the responses.
static double get_coordinate(const ItmStudy* s, int run, int i)
{
    return i < s->factors.count ? itm_effects_get_value(s, run, i) : s->runs[run].responses[i - s->factors.count];
}

static void add_lines(ItmCanvas* canvas, const ItmStudy* s, const Axis* axes, const double* at, ItmPoint* points)
{
    int n = s->factors.count + s->responses.count, nfinished = 0, k = 0;
    ItmStudyStatistics t = itm_study_compute_statistics(s, 0);
    for (int run = 0; run < s->nrun; run++) {
        nfinished += is_usable(s, run, 0);
    }
    int stride = 1 + (nfinished - 1) / MOST_LINES;
    for (int run = 0; run < s->nrun; run++) {
        bool is_extreme = run == t.best_run || run == t.worst_run;
        if (!is_usable(s, run, 0) || (k++ % stride != 0 && !is_extreme)) {
            continue;
        }
        int count = 0;
        for (int i = 0; i < n; i++) {
            double value = get_coordinate(s, run, i);
            if (isfinite(value)) {
                points[count++] = (ItmPoint){at[i], place(&axes[i], value)};
            }
        }
        // the highest twentieth of the first response red, the lowest green, the others blue
        double y = s->runs[run].responses[0];
        int series = y >= t.quantiles[2] ? 3 : y <= t.quantiles[0] ? 2 : 0;
        canvas->polyline(canvas, points, count, ITM_INK_SERIES + series,
                         is_extreme    ? 2.4
                         : series != 0 ? 1.0
                                       : 0.4,
                         false);
    }
}

static void add_parallel(Page* p)
{
    ItmStudy* s = p->study;
    int n = s->factors.count + s->responses.count, width = (int)fmax(760.0, 110.0 * n), height = 330;
    Axis* axes = calloc((size_t)n, sizeof *axes);
    double* at = calloc((size_t)n, sizeof *at);
    ItmPoint* points = calloc((size_t)n, sizeof *points);
    bool has_memory = axes != NULL && at != NULL && points != NULL;
    p->text->has_failed = p->text->has_failed || !has_memory;
    itm_text_add(
        p->text,
        "<section id=\"parallel\"><h2>Parallel coordinates</h2>\n<p class=\"note\">One line per run: factors, then "
        "responses. Red: the largest 5 % of the first response; green: its smallest 5 %; thick: its extremes.</p>\n"
        "<div class=\"figures\"><figure class=\"broad\">\n");
    p->figure = p->text->length;
    ItmCanvas canvas = itm_canvas_begin_svg(p->text, width, height, true, "parallel coordinates");
    if (canvas.state != NULL && has_memory) {
        for (int i = 0; i < n; i++) {
            double lo = INFINITY, hi = -INFINITY;
            for (int run = 0; run < s->nrun; run++) {
                double value = itm_study_is_finished(&s->runs[run]) ? get_coordinate(s, run, i) : (double)NAN;
                lo = fmin(lo, value);
                hi = fmax(hi, value);
            }
            axes[i] = make_axis(lo <= hi ? lo : 0.0, lo <= hi ? hi : 1.0, height - 52.0, 40.0);
            at[i] = 60.0 + (width - 120.0) * i / (n > 1 ? n - 1 : 1);
        }
        add_lines(&canvas, s, axes, at, points);
        for (int i = 0; i < n; i++) {
            char text[64];
            draw_line(&canvas, at[i], axes[i].from, at[i], axes[i].to, ITM_INK_FRAME, 1.5);
            format_number(text, sizeof text, axes[i].hi, 3);
            canvas.words(&canvas, at[i], 32.0, 11.0, ITM_ANCHOR_MIDDLE, ITM_INK_MUTED, false, text);
            format_number(text, sizeof text, axes[i].lo, 3);
            canvas.words(&canvas, at[i], height - 38.0, 11.0, ITM_ANCHOR_MIDDLE, ITM_INK_MUTED, false, text);
            canvas.words(&canvas, at[i], height - (i % 2 == 0 ? 20.0 : 6.0), 12.0, ITM_ANCHOR_MIDDLE, ITM_INK_TEXT,
                         i >= s->factors.count,
                         i < s->factors.count ? s->factors.items[i].name
                                              : s->responses.items[i - s->factors.count].name);
        }
        itm_canvas_end_svg(&canvas);
        itm_canvas_add_save_link(p->text, "parallel coordinates", p->figure);
    }
    itm_text_add(p->text, "</figure></div></section>\n");
    free(axes);
    free(at);
    free(points);
}

// ---------------------------------------------------------------------------- runs

static void add_shell_word(ItmText* text, const char* word)
{
    // quotes only where a shell needs them
    bool is_plain = word[0] != '\0' && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                                    "-_./=:,+@%") == strlen(word);
    char* quoted = NULL;
    if (!is_plain) {
        size_t n = 0;
        quoted = malloc(4 * strlen(word) + 3);
        if (quoted == NULL) {
            text->has_failed = true;
            return;
        }
        quoted[n++] = '\'';
        for (; *word != '\0'; word++) {
            n += (size_t)snprintf(quoted + n, 5, *word == '\'' ? "'\\''" : "%c", *word);
        }
        snprintf(quoted + n, 2, "'");
    }
    itm_text_add_html(text, is_plain ? word : quoted);
    free(quoted);
}

// The command that repeats a run, with a report.
static void add_command(Page* p, int run)
{
    ItmStudy* s = p->study;
    ItmOwned owned = {0};
    ItmStudyTexts settings = {0};
    p->text->has_failed = itm_study_collect_settings(s, run, &owned, &settings) != ITM_OK || p->text->has_failed;
    itm_text_add(p->text, "<code>interim run ");
    add_shell_word(p->text, s->model);
    for (int i = 0; i < settings.count; i++) {
        itm_text_add(p->text, " --set ");
        add_shell_word(p->text, settings.items[i]);
    }
    itm_text_format(p->text, " --report run%d.html</code>", run + 1);
    free(settings.items);
    itm_owned_free(&owned);
}

static void add_run_name(Page* p, int run)
{
    ItmText path = {0};
    if (p->reports != NULL) {
        itm_text_add(&path, p->reports);
        itm_text_format(&path, "%d.html", run + 1);
    }
    bool has_report = path.chars != NULL && access(path.chars, R_OK) == 0;
    if (has_report) {
        // the page links to the folder beside it
        const char *slash = strrchr(path.chars, '/'), *name = path.chars;
        for (const char* c = path.chars; slash != NULL && c < slash; c++) {
            name = *c == '/' ? c + 1 : name;
        }
        itm_text_add(p->text, "<a href=\"");
        itm_text_add_html(p->text, name);
        itm_text_add(p->text, "\">");
    }
    itm_text_format(p->text, "run %d", run + 1);
    itm_text_add(p->text, has_report ? "</a>" : "");
    itm_text_free(&path);
}

static void add_factors(Page* p, int run)
{
    ItmStudy* s = p->study;
    for (int i = 0; i < s->factors.count; i++) {
        const ItmStudyFactor* f = &s->factors.items[i];
        double value = s->points[(size_t)run * (size_t)s->factors.count + (size_t)i];
        if (f->distribution != ITM_DISTRIBUTION_CHOICE) {
            add_cell(p->text, value);
        } else {
            itm_text_add(p->text, "<td class=\"num\">");
            itm_text_add_html(p->text, f->texts[(int)value]);
            itm_text_add(p->text, "</td>");
        }
    }
}

static void add_factor_heads(Page* p)
{
    for (int i = 0; i < p->study->factors.count; i++) {
        char name[200];
        name_factor(name, sizeof name, &p->study->factors.items[i]);
        itm_text_add(p->text, "<th class=\"num\">");
        itm_text_add_html(p->text, name);
        itm_text_add(p->text, "</th>");
    }
}

static void add_extreme(Page* p, int response, int run, const char* word)
{
    ItmStudy* s = p->study;
    itm_text_format(p->text, "<tr style=\"white-space:nowrap\"><td>%s</td><td>", word);
    add_run_name(p, run);
    itm_text_add(p->text, "</td>");
    add_cell(p->text, s->runs[run].responses[response]);
    add_factors(p, run);
    itm_text_add(p->text, "</tr>\n<tr><td></td><td colspan=\"99\"><details><summary>repeat it</summary>");
    add_command(p, run);
    itm_text_add(p->text, "</details></td></tr>\n");
}

// The next run in the order of a response, after `run` with value `after`; ITM_NONE: there is none.
static int find_next(const ItmStudy* s, int response, int before, int sign)
{
    int found = ITM_NONE;
    for (int run = 0; run < s->nrun; run++) {
        if (!is_usable(s, run, response) || run == before) {
            continue;
        }
        double y = sign * s->runs[run].responses[response];
        double last = before != ITM_NONE ? sign * s->runs[before].responses[response] : -INFINITY;
        bool is_after = y > last || (y == last && run > before);
        bool is_first = found == ITM_NONE || y < sign * s->runs[found].responses[response];
        found = is_after && is_first ? run : found;
    }
    return found;
}

static void add_extremes(Page* p)
{
    ItmStudy* s = p->study;
    itm_text_add(p->text, "<section id=\"extremes\"><h2>Best and worst runs</h2>\n");
    for (int i = 0; i < s->responses.count; i++) {
        char name[200];
        name_response(name, sizeof name, &s->responses.items[i]);
        itm_text_add(p->text,
                     "<div class=\"wide\"><table class=\"errors\"><thead><tr><th></th><th>run</th><th class=\"num\">");
        itm_text_add_html(p->text, name);
        itm_text_add(p->text, "</th>");
        add_factor_heads(p);
        itm_text_add(p->text, "</tr></thead><tbody>\n");
        for (int sign = 1; sign >= -1; sign -= 2) {
            int run = ITM_NONE;
            for (int k = 0; k < NBEST; k++) {
                run = find_next(s, i, run, sign);
                if (run == ITM_NONE) {
                    break;
                }
                add_extreme(p, i, run, sign > 0 ? "smallest" : "largest");
            }
        }
        itm_text_add(p->text, "</tbody></table></div>\n");
    }
    itm_text_add(p->text, "</section>\n");
}

static void add_table(Page* p)
{
    ItmStudy* s = p->study;
    itm_text_add(p->text, "<section id=\"runs\"><h2>All runs</h2>\n");
    if (s->nrun > MOST_ROWS) {
        itm_text_format(p->text, "<p class=\"note\">The first %d of %d; the CSV and HDF5 files have all.</p>\n",
                        MOST_ROWS, s->nrun);
    }
    itm_text_add(p->text, "<div class=\"wide\"><table class=\"errors\"><thead><tr><th>run</th>");
    add_factor_heads(p);
    itm_text_add(p->text, "<th>verdict</th>");
    for (int i = 0; i < s->responses.count; i++) {
        itm_text_add(p->text, "<th class=\"num\">");
        itm_text_add_html(p->text, s->responses.items[i].name);
        itm_text_add(p->text, "</th>");
    }
    itm_text_add(p->text, "</tr></thead><tbody>\n");
    for (int run = 0; run < s->nrun && run < MOST_ROWS; run++) {
        const ItmStudyRun* r = &s->runs[run];
        if (r->verdict == ITM_STUDY_WAITING) {
            continue;
        }
        itm_text_add(p->text, "<tr style=\"white-space:nowrap\"><td>");
        add_run_name(p, run);
        itm_text_add(p->text, "</td>");
        add_factors(p, run);
        itm_text_format(p->text, "<td><span class=\"verdict %s\" title=\"",
                        r->verdict == ITM_STUDY_FINISHED   ? "finished"
                        : r->verdict == ITM_STUDY_DOUBTFUL ? "finished-with-doubts"
                                                           : "broke-down");
        itm_text_add_html(p->text, r->message);
        itm_text_format(p->text, "\">%s</span></td>", itm_study_verdict_name(r->verdict));
        for (int i = 0; i < s->responses.count; i++) {
            add_cell(p->text, r->responses[i]);
        }
        itm_text_add(p->text, "</tr>\n");
    }
    itm_text_add(p->text, "</tbody></table></div></section>\n");
}

// ---------------------------------------------------------------------------- page

static void add_number(Page* p, const char* name, const char* value)
{
    itm_text_format(p->text, "<div><dt>%s</dt><dd>", name);
    itm_text_add_html(p->text, value);
    itm_text_add(p->text, "</dd></div>");
}

static void add_banner(Page* p, const char* title)
{
    ItmStudy* s = p->study;
    int nfinished = 0, ndoubtful = 0;
    char text[80];
    for (int run = 0; run < s->nrun; run++) {
        nfinished += itm_study_is_finished(&s->runs[run]);
        ndoubtful += s->runs[run].verdict == ITM_STUDY_DOUBTFUL;
    }
    itm_text_add(p->text, "<header id=\"top\">\n<p class=\"brand\">Interim study</p>\n<h1>");
    itm_text_add_html(p->text, title);
    itm_text_format(p->text, "</h1>\n<p class=\"outcome\"><span class=\"verdict %s\">%d of %d finished",
                    nfinished == s->nrun && ndoubtful == 0 ? "finished" : "interrupted", nfinished, s->nrun);
    if (ndoubtful > 0) {
        itm_text_format(p->text, ", %d with doubts", ndoubtful);
    }
    itm_text_add(p->text, "</span></p>\n<dl class=\"numbers\">");
    const char* slash = strrchr(s->model, '/');
    add_number(p, "model", slash != NULL ? slash + 1 : s->model);
    add_number(p, "design", itm_design_type_name(s->design.type));
    snprintf(text, sizeof text, "%d", s->nrun);
    add_number(p, "runs", text);
    snprintf(text, sizeof text, "%d", s->factors.count);
    add_number(p, "factors", text);
    snprintf(text, sizeof text, "%d", s->design.seed);
    bool is_random = s->design.type != ITM_DESIGN_GRID && s->design.type != ITM_DESIGN_ONE_AT_A_TIME;
    if (is_random) {
        add_number(p, "seed", text);
    }
    itm_text_add(p->text, "</dl></header>\n");
}

ItmStatus itm_study_write_page(ItmStudy* s, const char* path, const char* reports, ItmError* error)
{
    ITM_GUARD(s != NULL && path != NULL && s->is_prepared, ITM_ERR_ARGUMENT);
    ItmText text = {0};
    Page p = {.text = &text, .study = s, .reports = reports};
    const char* title = s->title[0] != '\0' ? s->title : s->model;
    itm_report_add_head(&text, title, false);
    add_banner(&p, title);
    itm_text_add(&text, "<main class=\"text\">\n");
    if (s->responses.count > 0) {
        add_statistics(&p);
        add_extremes(&p);
        add_importance(&p);
        add_main_effects(&p);
        add_scatters(&p);
        add_parallel(&p);
    }
    add_table(&p);
    itm_text_add(&text, "</main>\n<footer>Written by Interim ");
    itm_text_add_html(&text, itm_version());
    itm_text_add(&text, ". This page is complete in itself and fetches nothing.</footer>\n</body>\n</html>\n");
    ItmStatus status = itm_text_write(&text, path, error);
    itm_text_free(&text);
    return status;
}
