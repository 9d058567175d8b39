// The part of UTF-8 that a reader needs.
#ifndef ITM_BASE_UTF8_H
#define ITM_BASE_UTF8_H

#include <stddef.h>

// Bytes from the start that are well-formed UTF-8 without control characters (tab, line feed and
// carriage return may stand); equal to `length` if all are.
size_t itm_utf8_check(const char* text, size_t length);
// Bytes before the first character that changes the direction of the text around it or separates lines and paragraphs (U+061C,
// U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069): what a reader sees is then not what is written. `length` if there is none.
size_t itm_utf8_find_direction(const char* text, size_t length);
// Put '?' in place of bytes that are no well-formed UTF-8, of control characters and of those above, so that the text can be shown
// in a terminal; line ends become blanks. The length stays.
void itm_utf8_clean(char* text);
// The same, but line ends stay.
void itm_utf8_clean_lines(char* text);
// Number of characters that begin in the first `length` bytes.
size_t itm_utf8_count(const char* text, size_t length);
// The largest number of bytes, at most `most`, that does not split a character.
size_t itm_utf8_cut(const char* text, size_t length, size_t most);

#endif
