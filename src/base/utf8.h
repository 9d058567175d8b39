// The little that a reader must know about UTF-8.
#ifndef ITM_BASE_UTF8_H
#define ITM_BASE_UTF8_H

#include <stddef.h>

// Bytes from the start that are well-formed UTF-8 without control characters (tab, line feed and
// carriage return may stand); equal to `length` if all are.
size_t itm_utf8_check(const char* text, size_t length);
// Number of characters that begin in the first `length` bytes.
size_t itm_utf8_count(const char* text, size_t length);
// The largest number of bytes, at most `most`, that does not split a character.
size_t itm_utf8_cut(const char* text, size_t length, size_t most);

#endif
