#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

static bool is_continuation(unsigned char byte)
{
    return (byte & 0xC0u) == 0x80u;
}

// Bytes of the well-formed character at s, of which `left` remain, or 0. Overlong forms,
// surrogates, and code points above 0x10FFFF are not well-formed (Unicode, table 3-7).
static size_t measure(const unsigned char* s, size_t left)
{
    if (s[0] < 0x80) {
        return s[0] >= 0x20 || s[0] == '\t' || s[0] == '\n' || s[0] == '\r' ? (s[0] != 0x7f) : 0;
    }
    size_t n = s[0] >= 0xC2 && s[0] <= 0xDF   ? 2
               : s[0] >= 0xE0 && s[0] <= 0xEF ? 3
               : s[0] >= 0xF0 && s[0] <= 0xF4 ? 4
                                              : 0;
    if (n == 0 || left < n) {
        return 0;
    }
    for (size_t i = 1; i < n; i++) {
        if (!is_continuation(s[i])) {
            return 0;
        }
    }
    bool is_bad = (s[0] == 0xC2 && s[1] < 0xA0) ||                                   // C1 control characters
                  (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90) ||  // overlong
                  (s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF4 && s[1] > 0x8F);    // surrogates, too large
    return is_bad ? 0 : n;
}

size_t itm_utf8_check(const char* text, size_t length)
{
    size_t at = 0;
    while (at < length) {
        size_t n = measure((const unsigned char*)text + at, length - at);
        if (n == 0) {
            return at;
        }
        at += n;
    }
    return length;
}

static bool is_direction(const unsigned char* s, size_t n)
{
    return (n == 2 && s[0] == 0xD8 && s[1] == 0x9C) ||
           (n == 3 && s[0] == 0xE2 && s[1] == 0x80 &&
            (s[2] == 0x8E || s[2] == 0x8F || (s[2] >= 0xA8 && s[2] <= 0xAE))) ||
           (n == 3 && s[0] == 0xE2 && s[1] == 0x81 && s[2] >= 0xA6 && s[2] <= 0xA9);
}

size_t itm_utf8_find_direction(const char* text, size_t length)
{
    size_t at = 0;
    while (at < length) {
        const unsigned char* s = (const unsigned char*)text + at;
        size_t n = measure(s, length - at);
        if (is_direction(s, n)) {
            return at;
        }
        at += n > 0 ? n : 1;
    }
    return length;
}

static void clean(char* text, bool has_lines)
{
    size_t length = strlen(text), at = 0;
    while (at < length) {
        unsigned char* s = (unsigned char*)text + at;
        size_t n = measure(s, length - at);
        if (n == 1 && s[0] < 0x20 && s[0] != '\t' && !has_lines) {
            s[0] = ' ';
        } else if (n == 0 || is_direction(s, n)) {
            memset(s, '?', n > 0 ? n : 1);
        }
        at += n > 0 ? n : 1;
    }
}

void itm_utf8_clean(char* text)
{
    clean(text, false);
}

void itm_utf8_clean_lines(char* text)
{
    clean(text, true);
}

size_t itm_utf8_count(const char* text, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        count += !is_continuation((unsigned char)text[i]);
    }
    return count;
}

size_t itm_utf8_cut(const char* text, size_t length, size_t most)
{
    if (length <= most) {
        return length;
    }
    while (most > 0 && is_continuation((unsigned char)text[most])) {
        most--;
    }
    return most;
}
