#include "report/canvas.h"

#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

typedef struct SvgState {
    ItmText* text;
    bool is_inline, is_clipped;
    int nclip;
} SvgState;

unsigned itm_canvas_ink_color(int ink)
{
    static const unsigned SERIES[ITM_INK_SERIES_COUNT] = {0x2563eb, 0xd97706, 0x059669, 0xdc2626,
                                                          0x7c3aed, 0x0891b2, 0xbe185d, 0x65a30d};
    switch (ink) {
    case ITM_INK_PAPER:
        return 0xffffff;
    case ITM_INK_TEXT:
        return 0x1f2937;
    case ITM_INK_MUTED:
        return 0x6b7280;
    case ITM_INK_GRID:
        return 0xe5e7eb;
    case ITM_INK_FRAME:
        return 0x9ca3af;
    default:
        return SERIES[(ink - ITM_INK_SERIES) % ITM_INK_SERIES_COUNT];
    }
}

double itm_canvas_measure(const char* text, double size)
{
    return 0.6 * size * (double)itm_utf8_count(text, strlen(text));
}

static const char* const NAMES[ITM_INK_SERIES] = {"paper", "text", "muted", "grid", "frame"};

static void add_color(SvgState* s, const char* property, int ink)
{
    if (!s->is_inline) {
        itm_text_format(s->text, " %s=\"#%06x\"", property, itm_canvas_ink_color(ink));
    } else if (ink < ITM_INK_SERIES) {
        itm_text_format(s->text, " style=\"%s:var(--%s)\"", property, NAMES[ink]);
    } else {
        itm_text_format(s->text, " style=\"%s:var(--s%d)\"", property, (ink - ITM_INK_SERIES) % ITM_INK_SERIES_COUNT);
    }
}

// Tenths of a pixel do.
static void add_coordinate(ItmText* text, const char* before, double x)
{
    double tenths = x < 0 ? (double)(long)(10.0 * x - 0.5) : (double)(long)(10.0 * x + 0.5);
    itm_text_add(text, before);
    itm_text_add_number(text, tenths / 10.0, 8);
}

static void svg_polyline(ItmCanvas* canvas, const ItmPoint* points, long count, int ink, double width, bool is_dashed)
{
    SvgState* s = canvas->state;
    itm_text_add(s->text, "<polyline fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\"");
    add_color(s, "stroke", ink);
    add_coordinate(s->text, " stroke-width=\"", width);
    itm_text_add(s->text, is_dashed ? "\" stroke-dasharray=\"6 4\" points=\"" : "\" points=\"");
    for (long i = 0; i < count; i++) {
        add_coordinate(s->text, i > 0 ? " " : "", points[i].x);
        add_coordinate(s->text, ",", points[i].y);
    }
    itm_text_add(s->text, "\"/>\n");
}

static void svg_words(ItmCanvas* canvas, double x, double y, double size, ItmAnchor anchor, int ink, bool is_bold,
                      const char* text)
{
    static const char* const ANCHORS[] = {"start", "middle", "end"};
    SvgState* s = canvas->state;
    add_coordinate(s->text, "<text x=\"", x);
    add_coordinate(s->text, "\" y=\"", y);
    add_coordinate(s->text, "\" font-size=\"", size);
    itm_text_format(s->text, "\" text-anchor=\"%s\"%s", ANCHORS[anchor], is_bold ? " font-weight=\"600\"" : "");
    add_color(s, "fill", ink);
    itm_text_add(s->text, ">");
    itm_text_add_html(s->text, text);
    itm_text_add(s->text, "</text>\n");
}

static void svg_clip(ItmCanvas* canvas, double x, double y, double width, double height)
{
    SvgState* s = canvas->state;
    if (s->is_clipped) {
        itm_text_add(s->text, "</svg>\n");
        s->is_clipped = false;
    }
    if (width > 0.0) {
        // an inner svg clips without names that could clash with those of another picture of the page
        add_coordinate(s->text, "<svg x=\"", x);
        add_coordinate(s->text, "\" y=\"", y);
        add_coordinate(s->text, "\" width=\"", width);
        add_coordinate(s->text, "\" height=\"", height);
        add_coordinate(s->text, "\" viewBox=\"", x);
        add_coordinate(s->text, " ", y);
        add_coordinate(s->text, " ", width);
        add_coordinate(s->text, " ", height);
        itm_text_add(s->text, "\">\n");
        s->is_clipped = true;
    }
}

ItmCanvas itm_canvas_begin_svg(ItmText* text, int width, int height, bool is_inline, const char* label)
{
    SvgState* s = calloc(1, sizeof *s);
    if (s == NULL) {
        text->has_failed = true;
        return (ItmCanvas){0};
    }
    *s = (SvgState){.text = text, .is_inline = is_inline};
    itm_text_add(text, "<svg ");
    itm_text_add(text, is_inline ? "" : "xmlns=\"http://www.w3.org/2000/svg\" ");
    itm_text_format(text, "viewBox=\"0 0 %d %d\" role=\"img\" font-family=\"system-ui, sans-serif\"", width, height);
    if (!is_inline) {
        itm_text_format(text, " width=\"%d\" height=\"%d\"", width, height);
    }
    itm_text_add(text, " aria-label=\"");
    itm_text_add_html(text, label);
    itm_text_add(text, "\">\n");
    if (!is_inline) {
        itm_text_format(text, "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", width, height);
    }
    return (ItmCanvas){width, height, s, svg_polyline, svg_words, svg_clip};
}

void itm_canvas_end_svg(ItmCanvas* canvas)
{
    SvgState* s = canvas->state;
    if (s != NULL) {
        svg_clip(canvas, 0, 0, 0, 0);
        itm_text_add(s->text, "</svg>\n");
    }
    free(s);
    canvas->state = NULL;
}

// ---------------------------------------------------------------------------- saving

// The ink of a variable of the style sheet: "muted", "s3".
static int find_ink(const char* name, size_t length)
{
    for (int ink = 0; ink < ITM_INK_SERIES; ink++) {
        if (strlen(NAMES[ink]) == length && memcmp(NAMES[ink], name, length) == 0) {
            return ink;
        }
    }
    return ITM_INK_SERIES + atoi(name + 1);
}

// style="fill:var(--s3)" becomes fill="#dc2626". Words of a picture have no quotes: they are escaped.
static void add_with_colors(ItmText* file, const char* svg)
{
    static const char STYLE[] = " style=\"", VARIABLE[] = ":var(--";
    for (const char* style; (style = strstr(svg, STYLE)) != NULL;) {
        const char* property = style + strlen(STYLE);
        const char* name = strstr(property, VARIABLE) + strlen(VARIABLE);
        const char* end = strchr(name, ')');
        itm_text_add_bytes(file, svg, (size_t)(style - svg));
        itm_text_format(file, " %.*s=\"#%06x\"", (int)strcspn(property, ":"), property,
                        itm_canvas_ink_color(find_ink(name, (size_t)(end - name))));
        svg = strchr(end, '"') + 1;
    }
    itm_text_add(file, svg);
}

void itm_canvas_add_save_link(ItmText* text, const char* title, size_t start)
{
    ItmText file = {0};
    if (text->has_failed) {
        return;
    }
    const char* svg = text->chars + start;
    const char* content = strchr(svg, '>') + 1;
    itm_text_add(&file, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    itm_text_add_bytes(&file, svg + strlen("<svg"), (size_t)(content - svg) - strlen("<svg"));
    itm_text_add(&file, "\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>");
    add_with_colors(&file, content);
    itm_text_add(text, "<a class=\"save\" title=\"save this figure\" download=\"");
    itm_text_add_html(text, title);
    itm_text_add(text, ".svg\" href=\"data:image/svg+xml;base64,");
    itm_text_add_base64(text, file.chars, file.length, false);
    itm_text_add(text, "\">SVG</a>\n");
    text->has_failed = text->has_failed || file.has_failed;
    itm_text_free(&file);
}
