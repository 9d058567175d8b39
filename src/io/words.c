#include "io/words.h"

#include "base/error.h"
#include "io/bytes.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- words

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' || c == '\0';
}

ItmWord itm_words_next(ItmWords* text)
{
    while (text->at < text->end && is_blank(*text->at)) {
        text->at++;
    }
    ItmWord word = {text->at, 0};
    while (text->at < text->end && !is_blank(*text->at) && *text->at != '\n') {
        text->at++;
    }
    word.length = (size_t)(text->at - word.start);
    return word;
}

bool itm_words_next_line(ItmWords* text)
{
    while (text->at < text->end && *text->at != '\n') {
        text->at++;
    }
    if (text->at == text->end) {
        return false;
    }
    text->at++;
    text->line++;
    return text->at < text->end;
}

bool itm_words_is(ItmWord word, const char* expected)
{
    if (strlen(expected) != word.length) {
        return false;
    }
    for (size_t i = 0; i < word.length; i++) {
        if (tolower((unsigned char)word.start[i]) != expected[i]) {
            return false;
        }
    }
    return true;
}

// Only digits, sign, point and exponent: strtod alone would take "nan", "inf" and hexadecimals.
bool itm_words_to_real(double* value, ItmWord word)
{
    char copy[64];
    if (word.length == 0 || word.length >= sizeof copy) {
        return false;
    }
    for (size_t i = 0; i < word.length; i++) {
        if (strchr("0123456789+-.eE", word.start[i]) == NULL) {
            return false;
        }
    }
    memcpy(copy, word.start, word.length);
    copy[word.length] = '\0';
    char* end;
    *value = strtod(copy, &end);
    return *end == '\0' && fabs(*value) < 1e100;
}

ItmStatus itm_words_fail(ItmError* error, const ItmWords* text, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    itm_error_set_list(error, ITM_ERR_INPUT, __func__, NULL, format, arguments);
    va_end(arguments);
    itm_error_locate(error, text->name, text->line, 0);
    return ITM_ERR_INPUT;
}

// ---------------------------------------------------------------------------- files

static ItmStatus fail_file(ItmError* error, const char* path, const char* why)
{
    itm_error_set(error, ITM_ERR_IO, __func__, NULL, "cannot read %s: %s", path, why);
    itm_error_locate(error, path, 0, 0);
    return ITM_ERR_IO;
}

ItmStatus itm_words_read(char** bytes, size_t* length, const char* path, size_t most, ItmError* error)
{
    const char* why;
    *bytes = itm_bytes_read(path, most, length, &why);
    return *bytes != NULL ? ITM_OK : fail_file(error, path, why);
}
