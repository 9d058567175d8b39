#include "io/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// With x = m 2^e, m < 2^53, and a power of ten T 2^t, 2^127 <= T < 2^128, chosen so that 10^16 <= x 10^p < 2 10^17:
//   V = m T (181 bits),  x 10^p = V 2^-shift,  122 <= shift <= 127
// A decimal between (m - 1/2) T and (m + 1/2) T reads back as x. Written is the shortest of them, and of several the nearest to x.  [steele-white]
// The ends of the interval have 64 bits behind the point, where T is too small by less than 4: they are off by less than 3 2^-64. Where that
// matters, or at a tie, the C library decides.                                                                                      [adams]

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

// A number of 64 bits before the point and 64 behind.
typedef struct Fixed {
    uint64_t N, F;
} Fixed;

static inline Fixed add(Fixed a, Fixed b)
{
    uint64_t F = a.F + b.F;
    return (Fixed){a.N + b.N + (F < a.F), F};
}

static inline Fixed subtract(Fixed a, Fixed b)
{
    return (Fixed){a.N - b.N - (a.F < b.F), a.F - b.F};
}

#define OFF 4  // what F may be wrong by, and more

static inline bool is_near_integer(uint64_t F)
{
    return F + OFF < 2 * OFF;
}

// T of 10^p = 10^(16 a) 10^b, 0 <= b < 16
static inline Wide find_power(int p)
{
    int a = (p + 16 * 32) / 16 - 32, b = p - 16 * a;
    const uint64_t* A = POWERS[a - FIRST_POWER];
    uint64_t B = TENS[b] << __builtin_clzll(TENS[b]);
    // (A1 2^64 + A0) B = T 2^64 + rest, of 191 or 192 bits
    Wide low = (Wide)A[1] * B, T = (Wide)A[0] * B + (low >> 64);
    return T >> 127 != 0 ? T : T << 1 | (Wide)((uint64_t)low >> 63);
}

// The shortest digits that read back as x, as an integer of 17, and the exponent of the first in *k. 0: not known.
static inline uint64_t find_digits(uint64_t bits, int* k)
{
    uint64_t m = (bits & ((UINT64_C(1) << 52) - 1)) | (UINT64_C(1) << 52);
    int e = (int)(bits >> 52) - 1075;
    *k = ((e + 52) * 78913) >> 18;  // of 2^(e + 52) <= x; that of x may be one more
    int p = DIGITS - 1 - *k, t = ((p * 1741647) >> 19) - 127;
    Wide T = find_power(p);
    uint64_t T_1 = (uint64_t)(T >> 64), T_0 = (uint64_t)T;

    // x 10^p = V 2^-shift and half a unit, T / 2 2^-shift; below a power of two numbers are twice as dense
    int up = 128 + e + t;  // 128 - shift: 1 to 6
    Wide low = (Wide)m * T_0, high = (Wide)m * T_1 + (low >> 64);
    uint64_t V_1 = (uint64_t)high;
    Fixed V = {(uint64_t)(high >> 64) << up | V_1 >> (64 - up), V_1 << up | (uint64_t)low >> (64 - up)};
    Fixed half = {T_1 >> 1 >> (64 - up), T_1 << (up - 1) | T_0 >> 1 >> (64 - up)};
    bool is_power = m == UINT64_C(1) << 52;
    Fixed above = add(V, half), below = subtract(V, half);
    if (is_power) {
        below = subtract(V, (Fixed){half.N >> 1, half.N << 63 | half.F >> 1});
    }

    // at most one multiple of 100 lies in between, which has 15 or 16 digits or fewer; otherwise the nearest of 10, or of 1
    uint64_t hundred = above.N - above.N % 100, rest = V.N % 10, ten = V.N - rest + (rest >= 5 ? 10 : 0);
    bool is_hundred = hundred > below.N, is_ten = ten > below.N && ten <= above.N;
    bool is_tie = is_near_integer(V.F) && (rest == 4 || rest == 5);
    if (is_near_integer(above.F) || is_near_integer(below.F) || is_near_integer(V.F + (UINT64_C(1) << 63)) || is_tie ||
        (is_power && !is_hundred)) {
        return 0;
    }
    uint64_t number = V.N + (V.F >> 63);
    number = is_ten ? ten : number;
    number = is_hundred ? hundred : number;
    if (number >= TENS[DIGITS]) {
        ++*k;
        number /= 10;  // a multiple of 10, because it has a digit too many
    }
    return number;
}

// ---------------------------------------------------------------------------- text

#define ZEROS UINT64_C(0x3030303030303030)  // eight digits 0

// Of the digits of a number, in text: the first, and behind it twice eight, the earlier in the lower byte.
typedef struct Digits {
    char first;
    uint64_t next, last;
    int n;  // without the zeros behind
} Digits;

// Halves of four, two and one digits side by side; the factors divide by 100 and 10 exactly for so few digits.
static inline uint64_t spread_eight(uint32_t number)
{
    uint64_t fours = number / 10000 | (uint64_t)(number % 10000) << 32;
    uint64_t hundreds = fours * 10486 >> 20 & UINT64_C(0x0000007f0000007f);
    uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
    uint64_t tens = twos * 103 >> 10 & UINT64_C(0x000f000f000f000f);
    return (tens | (twos - 10 * tens) << 8) + ZEROS;
}

static inline Digits spread(uint64_t number)
{
    uint64_t high = number / 100000000;
    Digits d = {.first = (char)('0' + high / 100000000),
                .next = spread_eight((uint32_t)(high % 100000000)),
                .last = spread_eight((uint32_t)(number % 100000000)),
                .n = 1};
    if (d.last != ZEROS) {
        d.n = 17 - __builtin_clzll(d.last ^ ZEROS) / 8;
    } else if (d.next != ZEROS) {
        d.n = 9 - __builtin_clzll(d.next ^ ZEROS) / 8;
    }
    return d;
}

static inline void write_eight(char* at, uint64_t digits)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    digits = __builtin_bswap64(digits);
#endif
    memcpy(at, &digits, sizeof digits);
}

static inline void write_digits(char* at, const Digits* d)
{
    at[0] = d->first;
    write_eight(at + 1, d->next);
    write_eight(at + 9, d->last);
}

// Digits with a decimal point after the first k + 1 of them. All 17 are written, wherever the text ends.
static inline char* place_point(char* at, const Digits* d, int k)
{
    if (k < 0) {
        memcpy(at, "0.000", 5);
        write_digits(at + 1 - k, d);
        return at + 1 - k + d->n;
    }
    write_digits(at, d);
    if (d->n <= k + 1) {
        return at + k + 1;
    }
    Wide behind = ((Wide)d->last << 64 | d->next) >> (8 * k);
    at[k + 1] = '.';
    write_eight(at + k + 2, (uint64_t)behind);
    write_eight(at + k + 10, (uint64_t)(behind >> 64));
    return at + d->n + 1;
}

// d.ddde-07, at least two digits in the exponent as printf has it
static inline char* add_exponent(char* at, const Digits* d, int k)
{
    at[0] = d->first;
    at[1] = '.';
    write_eight(at + 2, d->next);
    write_eight(at + 10, d->last);
    at += d->n > 1 ? d->n + 1 : 1;
    uint32_t size = (uint32_t)(k < 0 ? -k : k);
    *at++ = 'e';
    *at++ = k < 0 ? '-' : '+';
    if (size >= 100) {
        *at++ = (char)('0' + size / 100);
    }
    *at++ = (char)('0' + size / 10 % 10);
    *at++ = (char)('0' + size % 10);
    return at;
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
    char* start = at;
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    *at = '-';
    at += bits >> 63;
    bits &= ~(UINT64_C(1) << 63);
    if (bits == 0) {
        memcpy(at, "0", 2);
        return at + 1;
    }
    if (bits >> 52 == 0x7ff) {
        return isnan(x) ? stpcpy(start, "nan") : stpcpy(at, "inf");
    }
    int k = 0;
    uint64_t number = bits >> 52 != 0 ? find_digits(bits, &k) : 0;
    number = number != 0 ? number : find_digits_slowly(fabs(x), &k);
    Digits d = spread(number);
    at = k >= -4 && k < DIGITS ? place_point(at, &d, k) : add_exponent(at, &d, k);
    *at = '\0';
    return at;
}
