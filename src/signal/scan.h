// Scanning the text of an expression: characters, names, numbers, and the place of the first fault. Both kinds of
// expressions are read with it: those with units that have a value when a file is read, and those of signals.
#ifndef ITM_SIGNAL_SCAN_H
#define ITM_SIGNAL_SCAN_H

#include "interim/base.h"

#define ITM_EXPRESSION_MAX_LENGTH 4096
#define ITM_EXPRESSION_MAX_DEPTH 100  // parentheses, powers and parameters inside one another

// Why an expression has no value. is_elsewhere: the fault is in a parameter that the text refers to,
// and its scope has reported it.
typedef struct ItmExpressionError {
    char message[512];
    size_t offset;  // byte of the text at fault
    bool is_elsewhere;
} ItmExpressionError;

typedef struct ItmScan {
    const char* text;
    size_t length, at;
    int depth;  // of what is open around `at`
    ItmExpressionError* error;
    bool has_failed;
    const void* context;  // of whoever reads
} ItmScan;

// Refuse the text; only the first fault counts.
void itm_scan_fail(ItmScan* s, size_t offset, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

bool itm_scan_is_digit(char c);
// A letter of ASCII, or the underscore.
bool itm_scan_is_letter(char c);

// The character at a place, NUL beyond the end.
char itm_scan_at(const ItmScan* s, size_t at);
void itm_scan_skip_space(ItmScan* s);
// The next character that is not white space; NUL at the end or after a failure, which ends every loop.
char itm_scan_peek(ItmScan* s);
// Go past the next character if it is this one.
bool itm_scan_accept(ItmScan* s, char c);
// Go one level deeper; fails beyond ITM_EXPRESSION_MAX_DEPTH. The caller takes the level back: depth--.
void itm_scan_enter(ItmScan* s);

// Bytes of the name at `at`: letters, digits, underscores, no digit first.
size_t itm_scan_measure_name(const ItmScan* s, size_t at);
// Whether a number begins at s->at.
bool itm_scan_has_number(const ItmScan* s);
// The number at s->at, and go past it: digits with an optional point and exponent, whatever the locale.
double itm_scan_number(ItmScan* s);
// Whether the word is this one.
bool itm_scan_is_word(const char* word, size_t length, const char* expected);

#endif
