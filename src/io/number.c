#include "io/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// With x = m 2^e, m < 2^53, and a power of ten T 2^t, 2^127 <= T < 2^128, chosen so that 10^16 <= x 10^p < 10^17:
//   V = m T (181 bits),  x 10^p = V 2^-shift = N + F 2^-shift,  122 <= shift <= 127
// Another decimal N + u reads back as x where it lies within half a unit of m, that is T / 2 of V:  |u 2^shift - F| < T / 2.
// T is exact for 0 <= p <= 38, x from 1e-22 to 1e17; elsewhere it is too small by less than 4, and what that leaves open goes to the C
// library.

#define DIGITS 17

__extension__ typedef unsigned __int128 Wide;

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
                                10000000000000000,
                                100000000000000000};

#define FIRST_POWER (-19)

// The leading 128 bits of 10^(16 a), a from FIRST_POWER on, high and low half
// clang-format off
static const uint64_t POWERS[][2] = {
    {UINT64_C(0x8c71dcd9ba0b4925), UINT64_C(0x9ff0c08b7f1d0b14)},  // 1e-304
    {UINT64_C(0x9becce62836ac577), UINT64_C(0x4ee367f9430aec32)},  // 1e-288
    {UINT64_C(0xad1c8eab5ee43b66), UINT64_C(0xda3243650005eecf)},  // 1e-272
    {UINT64_C(0xc0314325637a1939), UINT64_C(0xfa911155fefb5308)},  // 1e-256
    {UINT64_C(0xd5605fcdcf32e1d6), UINT64_C(0xfb1e4a9a90880a64)},  // 1e-240
    {UINT64_C(0xece53cec4a314ebd), UINT64_C(0xa4f8bf5635246428)},  // 1e-224
    {UINT64_C(0x8380dea93da4bc60), UINT64_C(0x4247cb9e59f71e6d)},  // 1e-208
    {UINT64_C(0x91ff83775423cc06), UINT64_C(0x7b6306a34627ddcf)},  // 1e-192
    {UINT64_C(0xa21727db38cb002f), UINT64_C(0xb8ada00e5a506a7c)},  // 1e-176
    {UINT64_C(0xb3f4e093db73a093), UINT64_C(0x59ed216765690f56)},  // 1e-160
    {UINT64_C(0xc7caba6e7c5382c8), UINT64_C(0xfe64a52ee96b8fc0)},  // 1e-144
    {UINT64_C(0xddd0467c64bce4a0), UINT64_C(0xac7cb3f6d05ddbde)},  // 1e-128
    {UINT64_C(0xf64335bcf065d37d), UINT64_C(0x4d4617b5ff4a16d5)},  // 1e-112
    {UINT64_C(0x88b402f7fd75539b), UINT64_C(0x11dbcb0218ebb414)},  // 1e-96
    {UINT64_C(0x97c560ba6b0919a5), UINT64_C(0xdccd879fc967d41a)},  // 1e-80
    {UINT64_C(0xa87fea27a539e9a5), UINT64_C(0x3f2398d747b36224)},  // 1e-64
    {UINT64_C(0xbb127c53b17ec159), UINT64_C(0x5560c018580d5d52)},  // 1e-48
    {UINT64_C(0xcfb11ead453994ba), UINT64_C(0x67de18eda5814af2)},  // 1e-32
    {UINT64_C(0xe69594bec44de15b), UINT64_C(0x4c2ebe687989a9b3)},  // 1e-16
    {UINT64_C(0x8000000000000000), UINT64_C(0x0000000000000000)},  // 1e0
    {UINT64_C(0x8e1bc9bf04000000), UINT64_C(0x0000000000000000)},  // 1e16
    {UINT64_C(0x9dc5ada82b70b59d), UINT64_C(0xf020000000000000)},  // 1e32
    {UINT64_C(0xaf298d050e4395d6), UINT64_C(0x9670b12b7f410000)},  // 1e48
    {UINT64_C(0xc2781f49ffcfa6d5), UINT64_C(0x3cbf6b71c76b25fb)},  // 1e64
    {UINT64_C(0xd7e77a8f87daf7fb), UINT64_C(0xdc33745ec97be906)},  // 1e80
    {UINT64_C(0xefb3ab16c59b14a2), UINT64_C(0xc5cfe94ef3ea101e)},  // 1e96
    {UINT64_C(0x850fadc09923329e), UINT64_C(0x03e2cf6bc604ddb0)},  // 1e112
    {UINT64_C(0x93ba47c980e98cdf), UINT64_C(0xc66f336c36b10137)},  // 1e128
    {UINT64_C(0xa402b9c5a8d3a6e7), UINT64_C(0x5f16206c9c6209a6)},  // 1e144
    {UINT64_C(0xb616a12b7fe617aa), UINT64_C(0x577b986b314d6009)},  // 1e160
    {UINT64_C(0xca28a291859bbf93), UINT64_C(0x7d7b8f7503cfdcfe)},  // 1e176
    {UINT64_C(0xe070f78d3927556a), UINT64_C(0x85bbe253f47b1417)},  // 1e192
    {UINT64_C(0xf92e0c3537826145), UINT64_C(0xa7709a56ccdf8a82)},  // 1e208
    {UINT64_C(0x8a5296ffe33cc92f), UINT64_C(0x82bd6b70d99aaa6f)},  // 1e224
    {UINT64_C(0x9991a6f3d6bf1765), UINT64_C(0xacca6da1e0a8ef29)},  // 1e240
    {UINT64_C(0xaa7eebfb9df9de8d), UINT64_C(0xddbb901b98feeab7)},  // 1e256
    {UINT64_C(0xbd49d14aa79dbc82), UINT64_C(0x4b2d8644d8a74e18)},  // 1e272
    {UINT64_C(0xd226fc195c6a2f8c), UINT64_C(0x73832eec6fff3111)},  // 1e288
    {UINT64_C(0xe950df20247c83fd), UINT64_C(0x47c6b82ef32a2069)},  // 1e304
    {UINT64_C(0x81842f29f2cce375), UINT64_C(0xe6a1158300d46640)},  // 1e320
    {UINT64_C(0x8fcac257558ee4e6), UINT64_C(0x213a4f0aa5e8a7b1)},  // 1e336
};
// clang-format on

typedef struct Power {
    Wide T;  // 10^p = T 2^t, 2^127 <= T < 2^128
    int t;
    bool is_exact;
} Power;

// 10^p = 10^(16 a) 10^b, 0 <= b < 16
static Power find_power(int p)
{
    int a = (p + 16 * 32) / 16 - 32, b = p - 16 * a;
    const uint64_t* A = POWERS[a - FIRST_POWER];
    int zeros = __builtin_clzll(TENS[b]);
    uint64_t B = TENS[b] << zeros;
    // (A1 2^64 + A0) B = C 2^64 + rest, of 191 or 192 bits
    Wide low = (Wide)A[1] * B, C = (Wide)A[0] * B + (low >> 64);
    uint64_t rest = (uint64_t)low;
    Power power = {.T = C, .t = ((16 * a * 217706) >> 16) - 127 - zeros + 64, .is_exact = a >= 0 && a <= 2};
    if (C >> 127 == 0) {
        power.T = C << 1 | rest >> 63;
        power.t--;
        rest <<= 1;
    }
    power.is_exact = power.is_exact && rest == 0;
    return power;
}

// x 10^p, see above
typedef struct Scaled {
    uint64_t N;
    Wide F;
    int shift;
    Power power;
} Scaled;

static Scaled scale(uint64_t m, int e, int p)
{
    Scaled s = {.power = find_power(p)};
    Wide low = (Wide)m * (uint64_t)s.power.T, high = (Wide)m * (uint64_t)(s.power.T >> 64) + (low >> 64);
    s.shift = -(e + s.power.t);
    s.N = (uint64_t)(high >> (s.shift - 64));
    s.F = (high & (((Wide)1 << (s.shift - 64)) - 1)) << 64 | (uint64_t)low;
    return s;
}

enum { NO, YES, OPEN };

// a < b, or a = b where ties count; OPEN where the error of T decides
static int is_less(Wide a, Wide b, bool is_tie, bool is_exact)
{
    Wide distance = a < b ? b - a : a - b;
    if (!is_exact && distance < (Wide)1 << 57) {
        return OPEN;
    }
    return a < b || (a == b && is_tie);
}

// Whether the decimal N + u reads back as x; ties go to even m. Below a power of two numbers are twice as dense.
static int reads_back(const Scaled* s, int u, uint64_t m)
{
    bool is_even = m % 2 == 0, is_power = m == UINT64_C(1) << 52;
    Wide half = s->power.T >> 1;
    if (u > 0) {
        // u 2^shift <= F + T / 2
        return u >> (128 - s->shift) != 0 ? NO : is_less((Wide)u << s->shift, s->F + half, is_even, s->power.is_exact);
    }
    // F - u 2^shift <= T / 2
    Wide below = is_power ? half >> 1 : half;
    return -u >> (127 - s->shift) != 0 ? NO
                                       : is_less(s->F + ((Wide)(-u) << s->shift), below, is_even, s->power.is_exact);
}

// N + F 2^-shift rounded to a multiple of `unit` (1, 10, 100), as the difference from N; ties to even
static int round_to(const Scaled* s, int unit)
{
    int rest = (int)(s->N % (uint64_t)unit);
    Wide half = (Wide)1 << (s->shift - 1);
    bool is_odd = s->N / (uint64_t)unit % 2 != 0, is_up = false;
    if (unit == 1) {
        is_up = s->F > half || (s->F == half && is_odd);
    } else {
        is_up = 2 * rest > unit || (2 * rest == unit && (s->F != 0 || is_odd));
    }
    return (is_up ? unit : 0) - rest;
}

// The shortest digits (15, 16 or 17 of them, as an integer of 17) that read back as x, and the exponent of the first in *k. 0: the error of T leaves it open.
static uint64_t find_digits(double x, int* k)
{
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    uint64_t m = (bits & ((UINT64_C(1) << 52) - 1)) | (UINT64_C(1) << 52);
    int e = (int)(bits >> 52) - 1075;
    *k = ((e + 52) * 78913) >> 18;  // of 2^(e + 52) <= x; that of x may be one more
    Scaled s = scale(m, e, DIGITS - 1 - *k);
    if (s.N >= TENS[DIGITS]) {
        ++*k;
        s = scale(m, e, DIGITS - 1 - *k);
    }
    // fewer than 16 digits are found with 15, because no two such numbers are as close as two doubles
    static const int UNITS[] = {100, 10};
    uint64_t number = 0;
    for (int i = 0; i < 2 && number == 0; i++) {
        int u = round_to(&s, UNITS[i]), verdict = reads_back(&s, u, m);
        if (verdict == OPEN) {
            return 0;
        }
        number = verdict == YES ? s.N + (uint64_t)(int64_t)u : 0;
    }
    if (number == 0) {
        Wide half = (Wide)1 << (s.shift - 1);
        if (is_less(s.F, half, false, s.power.is_exact) == OPEN) {
            return 0;
        }
        number = s.N + (uint64_t)(int64_t)round_to(&s, 1);
    }
    if (number == TENS[DIGITS]) {  // 9.99... was rounded up
        ++*k;
        number /= 10;
    }
    return number;
}

// ---------------------------------------------------------------------------- text

static const char PAIRS[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
    "49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
    "9899";

static void write_pair(char* at, uint32_t pair)
{
    memcpy(at, PAIRS + 2 * pair, 2);
}

static void write_eight(char* at, uint32_t number)
{
    uint32_t high = number / 10000, low = number % 10000;
    write_pair(at, high / 100);
    write_pair(at + 2, high % 100);
    write_pair(at + 4, low / 100);
    write_pair(at + 6, low % 100);
}

// The 17 digits of a number; returns how many there are without the zeros behind.
static int write_digits(char* digits, uint64_t number)
{
    uint64_t high = number / 100000000;
    digits[0] = (char)('0' + high / 100000000);
    write_eight(digits + 1, (uint32_t)(high % 100000000));
    write_eight(digits + 9, (uint32_t)(number % 100000000));
    int n = DIGITS;
    while (n > 1 && digits[n - 1] == '0') {
        n--;
    }
    return n;
}

// Digits with a decimal point after the first k + 1 of them; digits behind the last are zeros.
static char* place_point(char* at, const char* digits, int ndigit, int k)
{
    if (k < 0) {
        memcpy(at, "0.000", 5);
        at += 1 - k;
        memcpy(at, digits, DIGITS);
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

// d.ddde-07, at least two digits in the exponent as printf has it
static char* add_exponent(char* at, const char* digits, int ndigit, int k)
{
    *at++ = digits[0];
    if (ndigit > 1) {
        *at++ = '.';
        memcpy(at, digits + 1, DIGITS - 1);
        at += ndigit - 1;
    }
    *at++ = 'e';
    *at++ = k < 0 ? '-' : '+';
    uint32_t size = (uint32_t)(k < 0 ? -k : k);
    if (size >= 100) {
        *at++ = (char)('0' + size / 100);
    }
    write_pair(at, size % 100);
    return at + 2;
}

// By the C library: the least number of digits that reads back.
static uint64_t find_digits_slowly(double x, int* k)
{
    char text[ITM_NUMBER_BYTES];
    int n = 0;
    do {
        snprintf(text, sizeof text, "%.*e", n++, x);
    } while (n < DIGITS && strtod(text, NULL) != x);
    uint64_t number = 0;
    const char* at = text;
    for (; *at != 'e'; at++) {
        number = *at >= '0' && *at <= '9' ? 10 * number + (uint64_t)(*at - '0') : number;
    }
    *k = atoi(at + 1);
    return number * TENS[DIGITS - n];
}

char* itm_number_format(char* at, double x)
{
    if (isnan(x)) {
        return stpcpy(at, "nan");
    }
    if (signbit(x)) {
        *at++ = '-';
        x = -x;
    }
    if (x == 0.0 || isinf(x)) {
        return stpcpy(at, x == 0.0 ? "0" : "inf");
    }
    char digits[DIGITS];
    int k = 0;
    uint64_t number = x >= 0x1p-1022 ? find_digits(x, &k) : 0;
    number = number != 0 ? number : find_digits_slowly(x, &k);
    int ndigit = write_digits(digits, number);
    at = k >= -4 && k < DIGITS ? place_point(at, digits, ndigit, k) : add_exponent(at, digits, ndigit, k);
    *at = '\0';
    return at;
}
