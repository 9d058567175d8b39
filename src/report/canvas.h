// Drawing of plots: the same strokes and words as an SVG picture or as pixels of a PNG file.
#ifndef ITM_REPORT_CANVAS_H
#define ITM_REPORT_CANVAS_H

#include "io/text.h"

// Colours by their role, so that a picture inside a page can follow its theme.
typedef enum ItmInk {
    ITM_INK_PAPER,
    ITM_INK_TEXT,
    ITM_INK_MUTED,  // tick labels
    ITM_INK_GRID,
    ITM_INK_FRAME,
    ITM_INK_SERIES,  // + 0 .. ITM_INK_SERIES_COUNT - 1
} ItmInk;
#define ITM_INK_SERIES_COUNT 8

typedef enum ItmAnchor {
    ITM_ANCHOR_START,
    ITM_ANCHOR_MIDDLE,
    ITM_ANCHOR_END,
} ItmAnchor;

typedef struct ItmPoint {
    double x, y;  // pixels, y downwards
} ItmPoint;

// A picture being drawn; `state` belongs to the kind. Whatever lacks memory shows when it is finished.
typedef struct ItmCanvas {
    int width, height;  // px
    void* state;
    void (*polyline)(struct ItmCanvas* canvas, const ItmPoint* points, long count, int ink, double width,
                     bool is_dashed);
    // y is the base line; size in px
    void (*words)(struct ItmCanvas* canvas, double x, double y, double size, ItmAnchor anchor, int ink, bool is_bold,
                  const char* text);
    // later polylines are clipped at this box, until it is set again; width 0: no box
    void (*clip)(struct ItmCanvas* canvas, double x, double y, double width, double height);
} ItmCanvas;

// SVG, added to text. is_inline: part of a page, whose style sheet gives the colours. label: for those who do not see it.
ItmCanvas itm_canvas_begin_svg(ItmText* text, int width, int height, bool is_inline, const char* label);
void itm_canvas_end_svg(ItmCanvas* canvas);

// A link that saves the inline picture which stands from `start` to the end of a page's text, as an SVG file for a paper:
// with colours of its own, on white.
void itm_canvas_add_save_link(ItmText* text, const char* title, size_t start);

// Pixels. `scale` pixels a unit: width and height are multiplied by it. state is NULL without memory.
ItmCanvas itm_canvas_begin_png(int width, int height, int scale);
// PNG file of it, added to `text` as bytes; frees the canvas.
void itm_canvas_end_png(ItmCanvas* canvas, ItmText* text);

// Width of words in any kind, about.
double itm_canvas_measure(const char* text, double size);

// Colour of an ink on white paper, 0xrrggbb.
unsigned itm_canvas_ink_color(int ink);

#endif
