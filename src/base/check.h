// Checking a definition: keeps the first thing found wrong; later findings then do nothing.
#ifndef ITM_BASE_CHECK_H
#define ITM_BASE_CHECK_H

#include "interim/base.h"

#define ITM_LONGEST_NAME 64  // bytes

typedef struct ItmCheck {
    ItmError* error;       // may be NULL
    const char* function;  // for the error
    const char* kind;      // what is checked: "body", "valve"
    const char* name;      // its name
    ItmStatus status;
} ItmCheck;

// Start with the name, which must be 1 to ITM_LONGEST_NAME bytes without white space, control characters, characters that change
// the direction of the text, or any of . , / = ", and may not begin with + - or @. name may be NULL, which is refused.
ItmCheck itm_check_start(const char* function, const char* kind, const char* name, ItmError* error);

// Refuse because of a field: "body 'rod': mass must be positive".
void itm_check_refuse(ItmCheck* c, const char* field, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

void itm_check_finite(ItmCheck* c, const char* field, double value);
void itm_check_positive(ItmCheck* c, const char* field, double value);
void itm_check_not_negative(ItmCheck* c, const char* field, double value);

#endif
