// Filling of ItmError, for all rooms.
#ifndef ITM_BASE_ERROR_H
#define ITM_BASE_ERROR_H

#include "interim/base.h"

#include <stdarg.h>

// Fill `error` (may be NULL) and return `status`, so that a caller can write
// return itm_error_set(error, ITM_ERR_INPUT, __func__, "mass", "mass must be positive, got %g", m).
// field: the definition's field at fault, or NULL.
ItmStatus itm_error_set(ItmError* error, ItmStatus status, const char* function, const char* field, const char* format,
                        ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 5, 6)))
#endif
    ;

// The same with a list of arguments, for functions that take them.
ItmStatus itm_error_set_list(ItmError* error, ItmStatus status, const char* function, const char* field,
                             const char* format, va_list arguments);

// Where in a file the error is; line 0: in the file as a whole. `error` may be NULL.
void itm_error_locate(ItmError* error, const char* file, int line, int column);

#endif
