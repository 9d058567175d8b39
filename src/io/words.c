#include "io/words.h"

#include "base/error.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ---------------------------------------------------------------------------- words

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' || c == '\0';
}

ItmWord itm_text_next_word(ItmText* text)
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

bool itm_text_next_line(ItmText* text)
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

bool itm_word_is(ItmWord word, const char* expected)
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
bool itm_word_to_real(double* value, ItmWord word)
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

ItmStatus itm_text_fail(ItmError* error, const ItmText* text, const char* format, ...)
{
    char message[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    itm_error_set(error, ITM_ERR_INPUT, __func__, NULL, "%s", message);
    if (error != NULL) {
        snprintf(error->file, sizeof error->file, "%s", text->name);
        error->line = text->line;
    }
    return ITM_ERR_INPUT;
}

// ---------------------------------------------------------------------------- files

static ItmStatus fail_file(ItmError* error, const char* path, const char* why)
{
    itm_error_set(error, ITM_ERR_IO, __func__, NULL, "cannot read %s: %s", path, why);
    if (error != NULL) {
        snprintf(error->file, sizeof error->file, "%s", path);
    }
    return ITM_ERR_IO;
}

// The whole stream, or NULL without memory or beyond the limit.
static char* read_stream(FILE* stream, size_t* length, size_t most)
{
    size_t capacity = 1 << 16;
    char* bytes = malloc(capacity);
    *length = 0;
    while (bytes != NULL) {
        *length += fread(bytes + *length, 1, capacity - *length, stream);
        if (*length < capacity) {
            return bytes;
        }
        char* grown = capacity < most ? realloc(bytes, 2 * capacity) : NULL;
        if (grown == NULL) {
            free(bytes);
        }
        bytes = grown;
        capacity *= 2;
    }
    return NULL;
}

ItmStatus itm_text_read(char** bytes, size_t* length, const char* path, size_t most, ItmError* error)
{
    *bytes = NULL;
    errno = 0;
    // a device or a pipe may never end, or not even open
    struct stat about;
    FILE* stream = stat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "rb") : NULL;
    if (stream == NULL) {
        return fail_file(error, path, errno != 0 ? strerror(errno) : "it is not a file");
    }
    char* all = read_stream(stream, length, most);
    bool has_failed = ferror(stream) != 0;
    fclose(stream);
    if (all == NULL || has_failed) {
        free(all);
        return fail_file(error, path, has_failed ? "reading failed" : "it is too large");
    }
    *bytes = all;
    return ITM_OK;
}
