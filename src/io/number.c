#include "io/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define DIGITS 17

__extension__ typedef unsigned __int128 Wide;

static const double POWERS[] = {1e-4, 1e-3, 1e-2, 1e-1, 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,
                                1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17};

static const uint64_t TENS[] = {1,
                                10,
                                100,
                                1000,
                                10000,
                                100000,
                                1000000,
                                10000000,
                                100000000,
                                1000000000,
                                10000000000,
                                100000000000,
                                1000000000000,
                                10000000000000,
                                100000000000000,
                                1000000000000000,
                                10000000000000000};

// The decimal exponent k with 10^k <= x < 10^(k + 1), for x in [1e-4, 1e17). Powers below 1 are not exact, so that k may be
// one too large for the double next below one of them; the digits decide.
static int find_exponent(double x)
{
    int k = 0;
    while (x >= POWERS[k + 1]) {
        k++;
    }
    return k - 4;
}

// x 10^p rounded to the nearest integer, ties to even, for x in [1e-4, 1e17) and 0 <= p <= 21.
// x = m 2^e with 53 bits in m: m 10^p has at most 123 bits, and e >= -66, so that nothing is lost before rounding.
static uint64_t scale(double x, int p)
{
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    uint64_t m = (bits & ((UINT64_C(1) << 52) - 1)) | (UINT64_C(1) << 52);
    int e = (int)(bits >> 52) - 1075;

    Wide product = (Wide)m * TENS[p < 16 ? p : 16] * TENS[p < 16 ? 0 : p - 16];
    if (e >= 0) {
        return (uint64_t)(product << e);
    }
    Wide whole = product >> -e;
    Wide rest = product - (whole << -e), half = (Wide)1 << (-e - 1);
    bool is_up = rest > half || (rest == half && (whole & 1));
    return (uint64_t)whole + is_up;
}

// 17 digits of x and its exponent.
static int split(char* digits, double x)
{
    int k = find_exponent(x);
    uint64_t number = scale(x, DIGITS - 1 - k);
    if (number < UINT64_C(10000000000000000)) {  // the power was just above x
        k--;
        number = scale(x, DIGITS - 1 - k);
    } else if (number >= UINT64_C(100000000000000000)) {  // 9.99... was rounded up
        k++;
        number /= 10;
    }
    for (int i = DIGITS - 1; i >= 0; i--) {
        digits[i] = (char)('0' + number % 10);
        number /= 10;
    }
    return k;
}

// Digits with a decimal point after the first k + 1 of them.
static char* place_point(char* at, const char* digits, int ndigit, int k)
{
    if (k < 0) {
        at = stpcpy(at, "0.");
        memset(at, '0', (size_t)(-k - 1));
        at += -k - 1;
        memcpy(at, digits, (size_t)ndigit);
        return at + ndigit;
    }
    memcpy(at, digits, (size_t)(k + 1));
    at += k + 1;
    if (ndigit > k + 1) {
        *at++ = '.';
        memcpy(at, digits + k + 1, (size_t)(ndigit - k - 1));
        at += ndigit - k - 1;
    }
    return at;
}

char* itm_number_format(char* at, double x)
{
    char digits[DIGITS];
    double size = fabs(x);
    if (isnan(x)) {
        return stpcpy(at, "nan");
    }
    if (x == 0.0) {
        return stpcpy(at, signbit(x) ? "-0" : "0");
    }
    if (!(size >= 1e-4 && size < 1e17)) {
        return at + snprintf(at, ITM_NUMBER_BYTES, "%.17g", x);
    }
    int k = split(digits, size);
    int ndigit = DIGITS;
    while (ndigit > k + 1 && ndigit > 1 && digits[ndigit - 1] == '0') {
        ndigit--;
    }
    if (x < 0.0) {
        *at++ = '-';
    }
    at = place_point(at, digits, ndigit, k);
    *at = '\0';
    return at;
}
