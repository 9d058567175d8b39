#include "signal/scan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_NUMBER 100

// ---------------------------------------------------------------------------- faults

void itm_scan_fail(ItmScan* s, size_t offset, const char* format, ...)
{
    if (s->has_failed) {
        return;
    }
    s->has_failed = true;
    s->error->offset = offset;
    s->error->is_elsewhere = false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->error->message, sizeof s->error->message, format, arguments);
    va_end(arguments);
}

void itm_scan_enter(ItmScan* s)
{
    if (++s->depth > ITM_EXPRESSION_MAX_DEPTH) {
        itm_scan_fail(s, s->at, "the expression is nested more than %d deep", ITM_EXPRESSION_MAX_DEPTH);
    }
}

// ---------------------------------------------------------------------------- characters

bool itm_scan_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool itm_scan_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

char itm_scan_at(const ItmScan* s, size_t at)
{
    return at < s->length ? s->text[at] : '\0';
}

void itm_scan_skip_space(ItmScan* s)
{
    while (s->at < s->length && strchr(" \t\r\n", s->text[s->at]) != NULL) {
        s->at++;
    }
}

char itm_scan_peek(ItmScan* s)
{
    if (s->has_failed) {
        return '\0';
    }
    itm_scan_skip_space(s);
    return itm_scan_at(s, s->at);
}

bool itm_scan_accept(ItmScan* s, char c)
{
    if (itm_scan_peek(s) != c) {
        return false;
    }
    s->at++;
    return true;
}

// ---------------------------------------------------------------------------- names

size_t itm_scan_measure_name(const ItmScan* s, size_t at)
{
    size_t end = at;
    while (itm_scan_is_letter(itm_scan_at(s, end)) || (end > at && itm_scan_is_digit(itm_scan_at(s, end)))) {
        end++;
    }
    return end - at;
}

bool itm_scan_is_word(const char* word, size_t length, const char* expected)
{
    return strlen(expected) == length && memcmp(word, expected, length) == 0;
}

// ---------------------------------------------------------------------------- numbers

bool itm_scan_has_number(const ItmScan* s)
{
    char c = itm_scan_at(s, s->at);
    return itm_scan_is_digit(c) || (c == '.' && itm_scan_is_digit(itm_scan_at(s, s->at + 1)));
}

// Digits with an optional point and exponent; strtod alone would also take "inf", "0x1p3" and other
// locales' commas.
static size_t measure_number(const ItmScan* s)
{
    size_t end = s->at;
    while (itm_scan_is_digit(itm_scan_at(s, end))) {
        end++;
    }
    if (itm_scan_at(s, end) == '.') {
        end++;
        while (itm_scan_is_digit(itm_scan_at(s, end))) {
            end++;
        }
    }
    if (itm_scan_at(s, end) == 'e' || itm_scan_at(s, end) == 'E') {
        size_t digit = end + 1;
        digit += itm_scan_at(s, digit) == '-' || itm_scan_at(s, digit) == '+';
        if (itm_scan_is_digit(itm_scan_at(s, digit))) {
            end = digit;
            while (itm_scan_is_digit(itm_scan_at(s, end))) {
                end++;
            }
        }
    }
    return end - s->at;
}

// Value of a decimal number of at most LONGEST_NUMBER characters. strtod would look for the decimal
// point of the locale, so the point goes into the exponent: 12.5e3 is read as 125e2.
static double convert(const char* text, size_t length)
{
    char digits[LONGEST_NUMBER + 32], power[LONGEST_NUMBER + 1] = "";
    size_t n = 0, i = 0;
    long exponent = 0;
    for (bool is_fraction = false; i < length && text[i] != 'e' && text[i] != 'E'; i++) {
        if (text[i] == '.') {
            is_fraction = true;
        } else {
            digits[n++] = text[i];
            exponent -= is_fraction;
        }
    }
    if (i < length) {
        memcpy(power, text + i + 1, length - i - 1);
        long written = strtol(power, NULL, 10);
        // far beyond what a double can be, and far from overflow here
        exponent += written > 100000 ? 100000 : written < -100000 ? -100000 : written;
    }
    snprintf(digits + n, sizeof digits - n, "e%ld", exponent);
    return strtod(digits, NULL);
}

double itm_scan_number(ItmScan* s)
{
    size_t length = measure_number(s);
    if (length > LONGEST_NUMBER) {
        itm_scan_fail(s, s->at, "a number of %zu digits is too long", length);
        return 0.0;
    }
    double value = convert(s->text + s->at, length);
    if (!isfinite(value)) {
        itm_scan_fail(s, s->at, "%.*s is too large for a number", (int)length, s->text + s->at);
    }
    s->at += length;
    return value;
}
