// Text files as words, line by line: meshes, matrices, tables of nodes. The files are not trusted.
#ifndef ITM_IO_WORDS_H
#define ITM_IO_WORDS_H

#include "interim/base.h"

// Text split into words, line by line.
typedef struct ItmWords {
    const char* at;
    const char* end;
    const char* name;
    int line;
} ItmWords;

typedef struct ItmWord {
    const char* start;
    size_t length;  // 0: none left on the line
} ItmWord;

// The next word of this line.
ItmWord itm_words_next(ItmWords* text);
// Go to the next line; false at the end.
bool itm_words_next_line(ItmWords* text);
// Without regard to case; expected is in lower case.
bool itm_words_is(ItmWord word, const char* expected);
// A finite decimal number.
bool itm_words_to_real(double* value, ItmWord word);

// ITM_ERR_INPUT with file and line.
ItmStatus itm_words_fail(ItmError* error, const ItmWords* text, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

// All bytes of a regular file of at most `most` bytes, to be freed.
ItmStatus itm_words_read(char** bytes, size_t* length, const char* path, size_t most, ItmError* error);

#endif
