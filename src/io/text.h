// Text that grows: JSON, HTML and SVG are built in it, and bytes are packed into it. Without memory it stays as it is and
// reports it once, at the end.
#ifndef ITM_IO_TEXT_H
#define ITM_IO_TEXT_H

#include "interim/base.h"

typedef struct ItmText {
    char* chars;  // ended by a zero byte once anything was added; NULL before
    size_t length, capacity;
    bool has_failed;  // something was lost because memory ran out
} ItmText;

void itm_text_free(ItmText* text);

void itm_text_add(ItmText* text, const char* chars);
void itm_text_add_bytes(ItmText* text, const void* bytes, size_t count);
// Printed into the text. Not for numbers that programs read: decimal points follow the locale. See itm_text_add_number.
void itm_text_format(ItmText* text, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

// A number with `digits` significant digits (1 to 17) and a decimal point in any locale; "null" where it is not finite.
void itm_text_add_number(ItmText* text, double x, int digits);

// A JSON string with its quotes. "<" is escaped, so that it may stand in a page; bytes above 127 pass, if they
// are UTF-8.
void itm_text_add_json(ItmText* text, const char* string);
// Text of a page or an SVG picture, also inside quotes of an attribute.
void itm_text_add_html(ItmText* text, const char* string);

// Bytes in base64, deflated before (zlib format) if `is_packed`.
void itm_text_add_base64(ItmText* text, const void* bytes, size_t count, bool is_packed);
// Bytes from base64 of the given length, inflated if `is_packed`. ITM_ERR_INPUT: these are not exactly `count`.
// ITM_ERR_MEMORY.
ItmStatus itm_text_read_base64(void* bytes, size_t count, const char* chars, size_t length, bool is_packed);

// Make a file of the text. ITM_ERR_MEMORY if something was lost on the way, ITM_ERR_IO with the system's reason.
ItmStatus itm_text_write(const ItmText* text, const char* path, ItmError* error);

#endif
