#include "signal/quantity.h"

#include "base/nearest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define PI 3.14159265358979323846

// ---------------------------------------------------------------------------- units

typedef struct Unit {
    const char* name;
    double factor;  // to SI
    signed char e[ITM_BASE_COUNT];
    bool takes_prefix;
} Unit;

// clang-format off
static const Unit UNITS[] = {
    // name    factor to SI        m  kg   s  A  K   prefix
    {"m",      1,                { 1,  0,  0, 0, 0}, true},
    {"g",      1e-3,             { 0,  1,  0, 0, 0}, true},
    {"t",      1e3,              { 0,  1,  0, 0, 0}, false},
    {"s",      1,                { 0,  0,  1, 0, 0}, true},
    {"min",    60,               { 0,  0,  1, 0, 0}, false},
    {"h",      3600,             { 0,  0,  1, 0, 0}, false},
    {"A",      1,                { 0,  0,  0, 1, 0}, true},
    {"K",      1,                { 0,  0,  0, 0, 1}, true},
    {"rad",    1,                { 0,  0,  0, 0, 0}, true},
    {"deg",    PI / 180,         { 0,  0,  0, 0, 0}, false},
    {"°",      PI / 180,         { 0,  0,  0, 0, 0}, false},
    {"rev",    2 * PI,           { 0,  0,  0, 0, 0}, false},
    {"%",      1e-2,             { 0,  0,  0, 0, 0}, false},
    {"Hz",     1,                { 0,  0, -1, 0, 0}, true},
    {"rpm",    2 * PI / 60,      { 0,  0, -1, 0, 0}, false},
    {"N",      1,                { 1,  1, -2, 0, 0}, true},
    {"Nm",     1,                { 2,  1, -2, 0, 0}, true},
    {"Pa",     1,                {-1,  1, -2, 0, 0}, true},
    {"bar",    1e5,              {-1,  1, -2, 0, 0}, true},
    {"J",      1,                { 2,  1, -2, 0, 0}, true},
    {"W",      1,                { 2,  1, -3, 0, 0}, true},
    {"V",      1,                { 2,  1, -3,-1, 0}, true},
    {"l",      1e-3,             { 3,  0,  0, 0, 0}, true},
    {"L",      1e-3,             { 3,  0,  0, 0, 0}, true},
    {"St",     1e-4,             { 2,  0, -1, 0, 0}, true},
    {"in",     0.0254,           { 1,  0,  0, 0, 0}, false},
    {"ft",     0.3048,           { 1,  0,  0, 0, 0}, false},
    {"lb",     0.45359237,       { 0,  1,  0, 0, 0}, false},
    {"lbf",    4.4482216152605,  { 1,  1, -2, 0, 0}, false},
    {"psi",    6894.757293168361,{-1,  1, -2, 0, 0}, false},
};

static const struct { const char* name; double factor; } PREFIXES[] = {
    {"n", 1e-9}, {"u", 1e-6}, {"µ", 1e-6}, {"μ", 1e-6}, {"m", 1e-3}, {"c", 1e-2}, {"d", 1e-1},
    {"h", 1e2}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12},
};
// clang-format on

#define NUNIT (sizeof UNITS / sizeof *UNITS)
#define NPREFIX (sizeof PREFIXES / sizeof *PREFIXES)

static const Unit* find_exact(const char* name, size_t length)
{
    for (size_t i = 0; i < NUNIT; i++) {
        if (strlen(UNITS[i].name) == length && memcmp(UNITS[i].name, name, length) == 0) {
            return &UNITS[i];
        }
    }
    return NULL;
}

// A name without prefix goes before the same name with one: "min" is no milli-inch, "Pa" no
// peta-ampere.
bool itm_quantity_find_unit(const char* name, size_t length, double* factor, ItmDimension* dimension)
{
    double prefix = 1.0;
    const Unit* unit = find_exact(name, length);
    for (size_t i = 0; unit == NULL && i < NPREFIX; i++) {
        size_t n = strlen(PREFIXES[i].name);
        if (length > n && memcmp(name, PREFIXES[i].name, n) == 0) {
            unit = find_exact(name + n, length - n);
            unit = unit != NULL && unit->takes_prefix ? unit : NULL;
            prefix = PREFIXES[i].factor;
        }
    }
    if (unit == NULL) {
        return false;
    }
    // kg and its relatives are written with round factors: 1e3 * 1e-3 is exactly 1
    *factor = prefix * unit->factor;
    for (int i = 0; i < ITM_BASE_COUNT; i++) {
        dimension->e[i] = unit->e[i];
    }
    return true;
}

// Words that people write for units, and the unit that is meant.
static const char* const WRITTEN_OUT[][2] = {
    {"sec", "s"},      {"second", "s"},      {"msec", "ms"},       {"metre", "m"}, {"meter", "m"}, {"newton", "N"},
    {"degree", "deg"}, {"radian", "rad"},    {"pascal", "Pa"},     {"joule", "J"}, {"watt", "W"},  {"hertz", "Hz"},
    {"litre", "l"},    {"liter", "l"},       {"minute", "min"},    {"hour", "h"},  {"inch", "in"}, {"kilogram", "kg"},
    {"gram", "g"},     {"millimetre", "mm"}, {"millimeter", "mm"}, {"kilo", "kg"},
};

const char* itm_quantity_suggest_unit(const char* name, size_t length)
{
    size_t singular = length > 3 && name[length - 1] == 's' ? length - 1 : length;
    for (size_t i = 0; i < sizeof WRITTEN_OUT / sizeof *WRITTEN_OUT; i++) {
        size_t n = strlen(WRITTEN_OUT[i][0]);
        if ((n == length || n == singular) && strncasecmp(WRITTEN_OUT[i][0], name, n) == 0) {
            return WRITTEN_OUT[i][1];
        }
    }
    static const char* const COMMON[] = {"mm",  "cm",   "km",  "kg", "ms", "us", "kN",  "MN",  "kPa", "MPa",
                                         "GPa", "mbar", "kHz", "kW", "kJ", "ml", "cSt", "kNm", "mrad"};
    ItmNearest nearest = itm_nearest_start(name, length);
    for (size_t i = 0; i < NUNIT; i++) {
        itm_nearest_offer(&nearest, UNITS[i].name);
    }
    for (size_t i = 0; i < sizeof COMMON / sizeof *COMMON; i++) {
        itm_nearest_offer(&nearest, COMMON[i]);
    }
    return nearest.best;
}

// ---------------------------------------------------------------------------- dimensions

bool itm_quantity_equal_dimensions(ItmDimension a, ItmDimension b)
{
    for (int i = 0; i < ITM_BASE_COUNT; i++) {
        // exponents are small integers or come out of a few roots and powers
        if (!(fabs(a.e[i] - b.e[i]) < 1e-9)) {
            return false;
        }
    }
    return true;
}

ItmDimension itm_quantity_multiply_dimensions(ItmDimension a, ItmDimension b, double power)
{
    for (int i = 0; i < ITM_BASE_COUNT; i++) {
        a.e[i] += power * b.e[i];
    }
    return a;
}

bool itm_quantity_fits(ItmQuantity q, ItmDimension expected)
{
    return q.is_bare || itm_quantity_equal_dimensions(q.dimension, expected);
}

// clang-format off
static const struct { const char* name; signed char e[ITM_BASE_COUNT]; } USUAL_NAMES[] = {
    {"N",     { 1,  1, -2}}, {"N m",   { 2,  1, -2}}, {"N/m",   { 0,  1, -2}}, {"N s/m",   { 0, 1, -1}},
    {"N m s", { 2,  1, -1}}, {"Pa",    {-1,  1, -2}}, {"W",     { 2,  1, -3}}, {"no unit", {0}},
};
// clang-format on

static const char* find_usual_name(ItmDimension dimension)
{
    for (size_t i = 0; i < sizeof USUAL_NAMES / sizeof *USUAL_NAMES; i++) {
        ItmDimension named;
        for (int j = 0; j < ITM_BASE_COUNT; j++) {
            named.e[j] = USUAL_NAMES[i].e[j];
        }
        if (itm_quantity_equal_dimensions(named, dimension)) {
            return USUAL_NAMES[i].name;
        }
    }
    return NULL;
}

// "^2", "^1.5", "^(1/3)": what is read back as the same power.
static void append_power(char* buffer, size_t size, double power)
{
    size_t used = strlen(buffer);
    for (int q = 1; q <= 12; q++) {
        double p = round(q * power);
        bool is_decimal = q == 1 || q == 2 || q == 4 || q == 5 || q == 8 || q == 10;
        if (fabs(q * power - p) < 1e-9 * q && !is_decimal) {
            snprintf(buffer + used, size - used, "^(%.12g/%d)", p, q);
            return;
        }
        if (fabs(q * power - p) < 1e-9 * q) {
            power = p / q;
            break;
        }
    }
    snprintf(buffer + used, size - used, "^%.12g", power);
}

// Append the base units whose exponent has this sign: " kg m^2" or "/s^2/A".
static void append_powers(char* buffer, size_t size, ItmDimension dimension, double sign)
{
    static const char* const NAMES[ITM_BASE_COUNT] = {"m", "kg", "s", "A", "K"};
    static const int ORDER[ITM_BASE_COUNT] = {ITM_BASE_KG, ITM_BASE_M, ITM_BASE_S, ITM_BASE_A, ITM_BASE_K};
    for (int i = 0; i < ITM_BASE_COUNT; i++) {
        double power = sign * dimension.e[ORDER[i]];
        size_t used = strlen(buffer);
        if (power > 1e-9) {
            const char* separator = sign < 0 ? "/" : used > 0 ? " " : "";
            snprintf(buffer + used, size - used, "%s%s", separator, NAMES[ORDER[i]]);
        }
        if (power > 1e-9 && fabs(power - 1.0) > 1e-9) {
            append_power(buffer, size, power);
        }
    }
}

const char* itm_quantity_format_dimension(ItmDimension dimension, char* buffer, size_t size)
{
    const char* usual = find_usual_name(dimension);
    if (usual != NULL) {
        snprintf(buffer, size, "%s", usual);
        return buffer;
    }
    buffer[0] = '\0';
    append_powers(buffer, size, dimension, 1.0);
    if (buffer[0] == '\0') {
        snprintf(buffer, size, "1");
    }
    append_powers(buffer, size, dimension, -1.0);
    return buffer;
}
