// Plots as pictures: lines over time, one panel above the other, each with the signals of one unit.
#ifndef ITM_REPORT_PLOT_H
#define ITM_REPORT_PLOT_H

#include "report/canvas.h"
#include "report/report.h"

typedef struct ItmPlotSeries {
    const char* label;
    const double* x;  // (count)
    const float* y;   // NaN: a gap    (count)
    long count;
    int color;  // 0 .. ITM_INK_SERIES_COUNT - 1
    bool is_dashed;
    bool has_marks;  // a dot on every point
} ItmPlotSeries;

typedef struct ItmPlotPanel {
    const char* title;
    const char* unit;
    const ItmPlotSeries* series;
    int nseries;
    bool is_log_x, is_log_y;  // then all values shown are positive
} ItmPlotPanel;

// Width of a figure of a page, px: two fit beside each other on a desktop, one fills a phone and can still be read.
#define ITM_PLOT_PAGE_WIDTH 520

// Panels as an SVG picture; is_inline: inside a page.
void itm_plot_add_svg(ItmText* text, const ItmPlotPanel* panels, int npanel, const ItmPlotOptions* options,
                      bool is_inline);

// A panel of `count` columns of the first run from `first` on, the other runs' columns of the same names dashed, as a
// picture for a page; is_saved: with a link that saves it.
void itm_plot_add_columns(ItmText* text, const ItmReportRun* runs, int nrun, int first, int count, bool is_saved);

// A panel inside a page, and a link that saves it as an SVG file for a paper.
void itm_plot_add_saved(ItmText* text, const ItmPlotPanel* panel, const ItmPlotOptions* options);

#endif
