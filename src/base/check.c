#include "base/check.h"

#include "base/error.h"
#include "base/utf8.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void itm_check_refuse(ItmCheck* c, const char* field, const char* format, ...)
{
    if (c->status != ITM_OK) {
        return;
    }
    char why[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    c->status = itm_error_set(c->error, ITM_ERR_INPUT, c->function, field, "%s '%s': %s", c->kind, c->name, why);
}

static bool is_name_byte(unsigned char byte)
{
    return byte > ' ' && byte != 0x7f && strchr(".,/=\"", byte) == NULL;
}

ItmCheck itm_check_start(const char* function, const char* kind, const char* name, ItmError* error)
{
    ItmCheck c = {.error = error, .function = function, .kind = kind, .name = name != NULL ? name : ""};
    size_t length = strlen(c.name);
    if (length == 0) {
        itm_check_refuse(&c, "name", "a name is needed");
    }
    if (length > ITM_LONGEST_NAME) {
        c.name = "...";
        itm_check_refuse(&c, "name", "the name has %zu bytes, more than %d", length, ITM_LONGEST_NAME);
        return c;
    }
    for (size_t i = 0; i < length; i++) {
        if (!is_name_byte((unsigned char)c.name[i])) {
            itm_check_refuse(&c, "name", "a name may not contain white space, control characters or any of . , / = \"");
        }
    }
    if (strchr("+-@", c.name[0]) != NULL && length > 0) {
        itm_check_refuse(&c, "name", "a name may not begin with + - or @, which spreadsheets take for a formula");
    }
    if (itm_utf8_find_direction(c.name, length) < length) {
        c.name = "...";
        itm_check_refuse(&c, "name", "a name may not contain characters that change the direction of the text");
    }
    return c;
}

void itm_check_finite(ItmCheck* c, const char* field, double value)
{
    if (!isfinite(value)) {
        itm_check_refuse(c, field, "%s must be finite", field);
    }
}

void itm_check_positive(ItmCheck* c, const char* field, double value)
{
    if (!isfinite(value) || value <= 0) {
        itm_check_refuse(c, field, "%s must be finite and positive, got %g", field, value);
    }
}

void itm_check_not_negative(ItmCheck* c, const char* field, double value)
{
    if (!isfinite(value) || value < 0) {
        itm_check_refuse(c, field, "%s must be finite and not negative, got %g", field, value);
    }
}
