// Letters as strokes, for pictures made of pixels.
#ifndef ITM_REPORT_STROKE_FONT_H
#define ITM_REPORT_STROKE_FONT_H

#define ITM_STROKE_FONT_BASE 2    // grid height of the base line
#define ITM_STROKE_FONT_GRID 0.1  // size of a grid square, em

// The glyph of the next character of UTF-8 text, which is taken: polylines of "xy" pairs of digits, parted by spaces.
const char* itm_stroke_font_next(const char** text);
// Grid squares to the next glyph.
int itm_stroke_font_advance(const char* glyph);

#endif
