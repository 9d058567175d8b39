#include "signal/function.h"

#include "base/nearest.h"

#include <math.h>
#include <string.h>

static const struct {
    const char* name;
    int nargument;
} FUNCTIONS[ITM_FUNCTION_COUNT] = {
    [ITM_FUNCTION_SIN] = {"sin", 1},           [ITM_FUNCTION_COS] = {"cos", 1},   [ITM_FUNCTION_TAN] = {"tan", 1},
    [ITM_FUNCTION_ASIN] = {"asin", 1},         [ITM_FUNCTION_ACOS] = {"acos", 1}, [ITM_FUNCTION_ATAN] = {"atan", 1},
    [ITM_FUNCTION_ATAN2] = {"atan2", 2},       [ITM_FUNCTION_SQRT] = {"sqrt", 1}, [ITM_FUNCTION_ABS] = {"abs", 1},
    [ITM_FUNCTION_MIN] = {"min", 2},           [ITM_FUNCTION_MAX] = {"max", 2},   [ITM_FUNCTION_EXP] = {"exp", 1},
    [ITM_FUNCTION_LOG] = {"log", 1},           [ITM_FUNCTION_POW] = {"pow", 2},   [ITM_FUNCTION_SIGN] = {"sign", 1},
    [ITM_FUNCTION_FLOOR] = {"floor", 1},       [ITM_FUNCTION_CEIL] = {"ceil", 1}, [ITM_FUNCTION_CLAMP] = {"clamp", 3},
    [ITM_FUNCTION_DEADBAND] = {"deadband", 2}, [ITM_FUNCTION_IF] = {"if", 3},
};

int itm_function_find(const char* name, size_t length, const char** nearest)
{
    ItmNearest search = itm_nearest_start(name, length);
    for (int i = 0; i < ITM_FUNCTION_COUNT; i++) {
        if (strlen(FUNCTIONS[i].name) == length && memcmp(FUNCTIONS[i].name, name, length) == 0) {
            return i;
        }
        itm_nearest_offer(&search, FUNCTIONS[i].name);
    }
    *nearest = search.best;
    return ITM_NONE;
}

const char* itm_function_name(ItmFunction function)
{
    return FUNCTIONS[function].name;
}

int itm_function_get_argument_count(ItmFunction function)
{
    return FUNCTIONS[function].nargument;
}

double itm_function_compute(ItmFunction function, const double* x)
{
    switch (function) {
    case ITM_FUNCTION_SIN:
        return sin(x[0]);
    case ITM_FUNCTION_COS:
        return cos(x[0]);
    case ITM_FUNCTION_TAN:
        return tan(x[0]);
    case ITM_FUNCTION_ASIN:
        return asin(x[0]);
    case ITM_FUNCTION_ACOS:
        return acos(x[0]);
    case ITM_FUNCTION_ATAN:
        return atan(x[0]);
    case ITM_FUNCTION_ATAN2:
        return atan2(x[0], x[1]);
    case ITM_FUNCTION_SQRT:
        return sqrt(x[0]);
    case ITM_FUNCTION_ABS:
        return fabs(x[0]);
    case ITM_FUNCTION_MIN:
        return fmin(x[0], x[1]);
    case ITM_FUNCTION_MAX:
        return fmax(x[0], x[1]);
    case ITM_FUNCTION_EXP:
        return exp(x[0]);
    case ITM_FUNCTION_LOG:
        return log(x[0]);
    case ITM_FUNCTION_POW:
        return pow(x[0], x[1]);
    case ITM_FUNCTION_SIGN:
        return (x[0] > 0) - (x[0] < 0);
    case ITM_FUNCTION_FLOOR:
        return floor(x[0]);
    case ITM_FUNCTION_CEIL:
        return ceil(x[0]);
    case ITM_FUNCTION_CLAMP:
        return fmax(fmin(x[0], x[2]), x[1]);
    case ITM_FUNCTION_DEADBAND:
        return x[0] > x[1] ? x[0] - x[1] : x[0] < -x[1] ? x[0] + x[1] : 0.0;
    case ITM_FUNCTION_IF:
        return x[0] != 0 ? x[1] : x[2];
    case ITM_FUNCTION_COUNT:
        break;
    }
    return NAN;
}
