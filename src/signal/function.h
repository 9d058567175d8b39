// The functions that expressions may call: names, arguments, values.
#ifndef ITM_SIGNAL_FUNCTION_H
#define ITM_SIGNAL_FUNCTION_H

#include "interim/base.h"

#define ITM_FUNCTION_MOST_ARGUMENTS 3

typedef enum ItmFunction {
    ITM_FUNCTION_SIN,
    ITM_FUNCTION_COS,
    ITM_FUNCTION_TAN,
    ITM_FUNCTION_ASIN,
    ITM_FUNCTION_ACOS,
    ITM_FUNCTION_ATAN,
    ITM_FUNCTION_ATAN2,
    ITM_FUNCTION_SQRT,
    ITM_FUNCTION_ABS,
    ITM_FUNCTION_MIN,
    ITM_FUNCTION_MAX,
    ITM_FUNCTION_EXP,
    ITM_FUNCTION_LOG,
    ITM_FUNCTION_POW,
    ITM_FUNCTION_SIGN,  // -1, 0, 1
    ITM_FUNCTION_FLOOR,
    ITM_FUNCTION_CEIL,
    ITM_FUNCTION_CLAMP,     // clamp(x, lower, upper): x, not below lower, not above upper; lower where they cross
    ITM_FUNCTION_DEADBAND,  // deadband(x, width): 0 for |x| <= width, from there on x less the width
    ITM_FUNCTION_IF,        // if(condition, a, b): a where the condition is not 0
    ITM_FUNCTION_COUNT
} ItmFunction;

// By its name; ITM_NONE after a miss, with the nearest name (or NULL) in *nearest.
int itm_function_find(const char* name, size_t length, const char** nearest);
const char* itm_function_name(ItmFunction function);
int itm_function_get_argument_count(ItmFunction function);
// x (as many as it has arguments)
double itm_function_compute(ItmFunction function, const double* x);

#endif
