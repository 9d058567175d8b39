// Pixels: strokes by their distance from the middle of each pixel, then a PNG file (8 bits a channel, no alpha).
#include "report/canvas.h"

#include "report/stroke_font.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

typedef struct PngState {
    int width, height, scale;  // pixels; a unit of the canvas
    unsigned char* pixels;     // rgb                              (3 width height)
    unsigned char* mask;       // how far a stroke covers a pixel  (width height)
    int box[4];                // pixels that strokes may touch: left, top, right, bottom
} PngState;

// ---------------------------------------------------------------------------- strokes

static double distance_to_segment(double x, double y, ItmPoint a, ItmPoint b)
{
    double dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
    double s = square > 0.0 ? ((x - a.x) * dx + (y - a.y) * dy) / square : 0.0;
    s = s < 0.0 ? 0.0 : s > 1.0 ? 1.0 : s;
    return hypot(x - a.x - s * dx, y - a.y - s * dy);
}

static int clamp(double x, int lo, int hi)
{
    return x < lo ? lo : x > hi ? hi : (int)x;
}

// Cover the mask along a segment, in pixels.
static void cover_segment(PngState* s, ItmPoint a, ItmPoint b, double width)
{
    double reach = 0.5 * width + 1.0;
    int left = clamp(fmin(a.x, b.x) - reach, s->box[0], s->box[2]);
    int right = clamp(fmax(a.x, b.x) + reach + 1.0, s->box[0], s->box[2]);
    int top = clamp(fmin(a.y, b.y) - reach, s->box[1], s->box[3]);
    int bottom = clamp(fmax(a.y, b.y) + reach + 1.0, s->box[1], s->box[3]);
    for (int y = top; y < bottom; y++) {
        for (int x = left; x < right; x++) {
            double cover = 0.5 + 0.5 * width - distance_to_segment(x + 0.5, y + 0.5, a, b);
            int value = clamp(255.0 * cover, 0, 255);
            unsigned char* at = &s->mask[(size_t)y * (size_t)s->width + (size_t)x];
            *at = value > *at ? (unsigned char)value : *at;
        }
    }
}

// Paint what the mask covers and clear it.
static void paint(PngState* s, unsigned color)
{
    size_t count = (size_t)s->width * (size_t)s->height;
    const unsigned rgb[3] = {color >> 16 & 255, color >> 8 & 255, color & 255};
    for (size_t i = 0; i < count; i++) {
        unsigned cover = s->mask[i];
        if (cover > 0) {
            for (int k = 0; k < 3; k++) {
                unsigned char* at = &s->pixels[3 * i + (size_t)k];
                *at = (unsigned char)((*at * (255 - cover) + rgb[k] * cover + 127) / 255);
            }
            s->mask[i] = 0;
        }
    }
}

// A segment in dashes of 6 with gaps of 4 units; `at` is how far along the line it begins.
static void cover_dashed(PngState* s, ItmPoint a, ItmPoint b, double width, double* at)
{
    double dash = 6.0 * s->scale, period = 10.0 * s->scale;
    double length = hypot(b.x - a.x, b.y - a.y);
    for (double from = 0.0; from < length;) {
        double phase = fmod(*at + from, period);
        double to = fmin(length, from + (phase < dash ? dash - phase : period - phase) + 1e-9);
        if (phase < dash) {
            double u = from / length, v = to / length;
            cover_segment(s, (ItmPoint){a.x + u * (b.x - a.x), a.y + u * (b.y - a.y)},
                          (ItmPoint){a.x + v * (b.x - a.x), a.y + v * (b.y - a.y)}, width);
        }
        from = to;
    }
    *at += length;
}

static void png_polyline(ItmCanvas* canvas, const ItmPoint* points, long count, int ink, double width, bool is_dashed)
{
    PngState* s = canvas->state;
    double along = 0.0, scale = s->scale;
    for (long i = 0; i + 1 < count; i++) {
        ItmPoint a = {scale * points[i].x, scale * points[i].y}, b = {scale * points[i + 1].x, scale * points[i + 1].y};
        if (is_dashed) {
            cover_dashed(s, a, b, scale * width, &along);
        } else {
            cover_segment(s, a, b, scale * width);
        }
    }
    paint(s, itm_canvas_ink_color(ink));
}

// ---------------------------------------------------------------------------- words

static double measure_words(const char* text, double size)
{
    int advance = 0;
    while (*text != '\0') {
        advance += itm_stroke_font_advance(itm_stroke_font_next(&text));
    }
    return ITM_STROKE_FONT_GRID * size * advance;
}

static ItmPoint grid_point(const char* digits, double x, double y, double grid)
{
    return (ItmPoint){x + grid * (digits[0] - '0'), y - grid * (digits[1] - '0' - ITM_STROKE_FONT_BASE)};
}

static void cover_glyph(PngState* s, const char* glyph, double x, double y, double grid, double width)
{
    for (const char* at = glyph; *at != '\0';) {
        ItmPoint before = grid_point(at, x, y, grid);
        for (; *at != '\0' && *at != ' '; at += 2) {
            ItmPoint next = grid_point(at, x, y, grid);
            cover_segment(s, before, next, width);
            before = next;
        }
        at += *at == ' ' ? 1 : 0;
    }
}

static void png_words(ItmCanvas* canvas, double x, double y, double size, ItmAnchor anchor, int ink, bool is_bold,
                      const char* text)
{
    PngState* s = canvas->state;
    double grid = ITM_STROKE_FONT_GRID * size * s->scale, width = (is_bold ? 0.13 : 0.09) * size * s->scale;
    x -= anchor == ITM_ANCHOR_MIDDLE ? 0.5 * measure_words(text, size)
         : anchor == ITM_ANCHOR_END  ? measure_words(text, size)
                                     : 0.0;
    double at = x * s->scale;
    while (*text != '\0') {
        const char* glyph = itm_stroke_font_next(&text);
        cover_glyph(s, glyph, at, y * s->scale, grid, width);
        at += grid * itm_stroke_font_advance(glyph);
    }
    paint(s, itm_canvas_ink_color(ink));
}

static void png_clip(ItmCanvas* canvas, double x, double y, double width, double height)
{
    PngState* s = canvas->state;
    bool has_box = width > 0.0;
    s->box[0] = has_box ? clamp(x * s->scale, 0, s->width) : 0;
    s->box[1] = has_box ? clamp(y * s->scale, 0, s->height) : 0;
    s->box[2] = has_box ? clamp((x + width) * s->scale, 0, s->width) : s->width;
    s->box[3] = has_box ? clamp((y + height) * s->scale, 0, s->height) : s->height;
}

// ---------------------------------------------------------------------------- file

static void add_big_endian(ItmText* text, uint32_t x)
{
    const unsigned char bytes[4] = {(unsigned char)(x >> 24), (unsigned char)(x >> 16), (unsigned char)(x >> 8),
                                    (unsigned char)x};
    itm_text_add_bytes(text, bytes, 4);
}

// length, kind, bytes, checksum of kind and bytes
static void add_chunk(ItmText* text, const char* kind, const unsigned char* bytes, size_t count)
{
    add_big_endian(text, (uint32_t)count);
    itm_text_add_bytes(text, kind, 4);
    itm_text_add_bytes(text, bytes, count);
    uLong sum = crc32(crc32(0, Z_NULL, 0), (const Bytef*)kind, 4);
    if (count > 0) {
        sum = crc32(sum, bytes, (uInt)count);
    }
    add_big_endian(text, (uint32_t)sum);
}

static void add_header(ItmText* text, const PngState* s)
{
    ItmText header = {0};
    add_big_endian(&header, (uint32_t)s->width);
    add_big_endian(&header, (uint32_t)s->height);
    itm_text_add_bytes(&header, "\x08\x02\x00\x00\x00", 5);  // 8 bits, rgb, deflate, filters, not interlaced
    itm_text_add_bytes(text, "\x89PNG\r\n\x1a\n", 8);
    if (header.has_failed) {
        text->has_failed = true;
    } else {
        add_chunk(text, "IHDR", (const unsigned char*)header.chars, header.length);
    }
    itm_text_free(&header);
}

// Every line begins with the number of its filter: 0, none.
static void add_lines(ItmText* text, const PngState* s)
{
    size_t width = 3 * (size_t)s->width, size = (width + 1) * (size_t)s->height;
    uLongf packed_size = compressBound((uLong)size);
    unsigned char* lines = malloc(size);
    unsigned char* packed = malloc(packed_size);
    if (lines == NULL || packed == NULL) {
        text->has_failed = true;
    } else {
        for (size_t y = 0; y < (size_t)s->height; y++) {
            lines[y * (width + 1)] = 0;
            memcpy(lines + y * (width + 1) + 1, s->pixels + y * width, width);
        }
        compress2(packed, &packed_size, lines, (uLong)size, 9);
        add_chunk(text, "IDAT", packed, packed_size);
    }
    free(lines);
    free(packed);
}

static void destroy(PngState* s)
{
    if (s != NULL) {
        free(s->pixels);
        free(s->mask);
    }
    free(s);
}

ItmCanvas itm_canvas_begin_png(int width, int height, int scale)
{
    PngState* s = calloc(1, sizeof *s);
    size_t count = (size_t)(width * scale) * (size_t)(height * scale);
    if (s != NULL) {
        *s = (PngState){.width = width * scale, .height = height * scale, .scale = scale};
        s->pixels = malloc(3 * count);
        s->mask = calloc(count, 1);
    }
    if (s == NULL || s->pixels == NULL || s->mask == NULL) {
        destroy(s);
        return (ItmCanvas){0};
    }
    memset(s->pixels, 0xff, 3 * count);
    ItmCanvas canvas = {width, height, s, png_polyline, png_words, png_clip};
    png_clip(&canvas, 0, 0, 0, 0);
    return canvas;
}

void itm_canvas_end_png(ItmCanvas* canvas, ItmText* text)
{
    PngState* s = canvas->state;
    add_header(text, s);
    add_lines(text, s);
    add_chunk(text, "IEND", NULL, 0);
    destroy(s);
    canvas->state = NULL;
}
