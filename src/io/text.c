#include "io/text.h"

#include "base/error.h"
#include "io/bytes.h"
#include "io/results/results.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

// ---------------------------------------------------------------------------- growing

void itm_text_free(ItmText* text)
{
    free(text->chars);
    *text = (ItmText){0};
}

// Room for `count` more bytes and the terminator.
static bool reserve(ItmText* text, size_t count)
{
    if (text->length + count + 1 <= text->capacity) {
        return true;
    }
    size_t capacity = 2 * text->capacity + count + 256;
    char* chars = realloc(text->chars, capacity);
    if (chars == NULL) {
        text->has_failed = true;
        return false;
    }
    text->chars = chars;
    text->capacity = capacity;
    return true;
}

void itm_text_add_bytes(ItmText* text, const void* bytes, size_t count)
{
    if (reserve(text, count)) {
        if (count > 0) {
            memcpy(text->chars + text->length, bytes, count);
        }
        text->length += count;
        text->chars[text->length] = '\0';
    }
}

void itm_text_add(ItmText* text, const char* chars)
{
    itm_text_add_bytes(text, chars, strlen(chars));
}

void itm_text_format(ItmText* text, const char* format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int count = vsnprintf(NULL, 0, format, arguments);
    if (count >= 0 && reserve(text, (size_t)count)) {
        vsnprintf(text->chars + text->length, (size_t)count + 1, format, again);
        text->length += (size_t)count;
    }
    va_end(again);
    va_end(arguments);
}

void itm_text_add_number(ItmText* text, double x, int digits)
{
    char number[40];
    if (!isfinite(x)) {
        itm_text_add(text, "null");
        return;
    }
    snprintf(number, sizeof number, "%.*g", digits, x);
    char* comma = strpbrk(number, ",");
    if (comma != NULL) {
        *comma = '.';
    }
    itm_text_add(text, number);
}

// ---------------------------------------------------------------------------- escaping

void itm_text_add_json(ItmText* text, const char* string)
{
    itm_text_add(text, "\"");
    for (const unsigned char* c = (const unsigned char*)string; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            itm_text_format(text, "\\%c", *c);
        } else if (*c < 0x20 || *c == '<' || *c == 0x7f) {
            itm_text_format(text, "\\u%04x", *c);
        } else {
            itm_text_add_bytes(text, c, 1);
        }
    }
    itm_text_add(text, "\"");
}

void itm_text_add_html(ItmText* text, const char* string)
{
    for (const char* c = string; *c != '\0'; c++) {
        switch (*c) {
        case '&':
            itm_text_add(text, "&amp;");
            break;
        case '<':
            itm_text_add(text, "&lt;");
            break;
        case '>':
            itm_text_add(text, "&gt;");
            break;
        case '"':
            itm_text_add(text, "&quot;");
            break;
        case '\'':
            itm_text_add(text, "&#39;");
            break;
        default:
            itm_text_add_bytes(text, (unsigned char)*c < 0x20 ? " " : c, 1);
        }
    }
}

// ---------------------------------------------------------------------------- base64

static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void add_digits(ItmText* text, const unsigned char* bytes, size_t count)
{
    if (!reserve(text, 4 * ((count + 2) / 3))) {
        return;
    }
    char* at = text->chars + text->length;
    for (size_t i = 0; i < count; i += 3) {
        size_t left = count - i;
        uint32_t group =
            (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) | (left > 2 ? bytes[i + 2] : 0);
        *at++ = DIGITS[group >> 18 & 63];
        *at++ = DIGITS[group >> 12 & 63];
        *at++ = left > 1 ? DIGITS[group >> 6 & 63] : '=';
        *at++ = left > 2 ? DIGITS[group & 63] : '=';
    }
    *at = '\0';
    text->length = (size_t)(at - text->chars);
}

void itm_text_add_base64(ItmText* text, const void* bytes, size_t count, bool is_packed)
{
    if (!is_packed) {
        add_digits(text, bytes, count);
        return;
    }
    uLongf size = compressBound((uLong)count);
    unsigned char* packed = malloc(size);
    if (packed == NULL || compress2(packed, &size, bytes, (uLong)count, 6) != Z_OK) {
        text->has_failed = true;
    } else {
        add_digits(text, packed, size);
    }
    free(packed);
}

// The value of a base64 digit, -1 for anything else.
static int digit_of(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

// Bytes of base64 text into memory for 3/4 of its length; their number, or SIZE_MAX for text that is not base64.
static size_t take_digits(unsigned char* bytes, const char* chars, size_t length)
{
    size_t count = 0;
    uint32_t group = 0;
    int nbit = 0;
    while (length > 0 && chars[length - 1] == '=') {
        length--;
    }
    for (size_t i = 0; i < length; i++) {
        int digit = digit_of(chars[i]);
        if (digit < 0) {
            return SIZE_MAX;
        }
        group = group << 6 | (uint32_t)digit;
        nbit += 6;
        if (nbit >= 8) {
            nbit -= 8;
            bytes[count++] = (unsigned char)(group >> nbit & 255);
        }
    }
    return count;
}

ItmStatus itm_text_read_base64(void* bytes, size_t count, const char* chars, size_t length, bool is_packed)
{
    unsigned char* raw = malloc(length + 1);
    if (raw == NULL) {
        return ITM_ERR_MEMORY;
    }
    size_t nraw = take_digits(raw, chars, length);
    bool is_read = nraw != SIZE_MAX;
    int code = Z_OK;
    if (is_read && is_packed) {
        uLongf size = (uLongf)count;
        code = uncompress(bytes, &size, raw, (uLong)nraw);
        is_read = code == Z_OK && size == count;
    } else if (is_read) {
        is_read = nraw == count;
        if (is_read) {
            memcpy(bytes, raw, count);
        }
    }
    free(raw);
    return is_read ? ITM_OK : code == Z_MEM_ERROR ? ITM_ERR_MEMORY : ITM_ERR_INPUT;
}

// ---------------------------------------------------------------------------- files

static bool write_all(const ItmText* text, FILE* out)
{
    bool has_failed = fwrite(text->chars, 1, text->length, out) != text->length;
    return fclose(out) == 0 && !has_failed;
}

// A device or a pipe takes the text as it comes; a file only once all of it is written.
static bool is_special(const char* path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

ItmStatus itm_text_write(const ItmText* text, const char* path, ItmError* error)
{
    if (text->has_failed) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory to write '%s'", path);
    }
    size_t size = strlen(path) + 40;
    char* aside = malloc(size);
    if (aside == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "no memory to write '%s'", path);
    }
    bool is_direct = is_special(path);
    snprintf(aside, size, is_direct ? "%s" : "%s.part-%ld", path, (long)getpid());
    errno = 0;
    FILE* out = is_direct ? fopen(aside, "wb") : itm_bytes_open(aside, "wb");
    bool is_written = out != NULL && write_all(text, out) && (is_direct || rename(aside, path) == 0);
    ItmStatus status = is_written ? ITM_OK : itm_results_fail_io(error, __func__, "write", path, errno);
    if (!is_written && out != NULL && !is_direct) {
        unlink(aside);
    }
    free(aside);
    return status;
}
