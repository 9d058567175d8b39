#include "base/error.h"

#include "base/utf8.h"

#include <stdio.h>

ItmStatus itm_error_set_list(ItmError* error, ItmStatus status, const char* function, const char* field,
                             const char* format, va_list arguments)
{
    if (error == NULL) {
        return status;
    }
    *error = (ItmError){.status = status, .function = function};
    if (field != NULL) {
        snprintf(error->field, sizeof error->field, "%s", field);
    }
    vsnprintf(error->message, sizeof error->message, format, arguments);
    // messages quote what is in files, and go to terminals
    itm_utf8_clean_lines(error->message);
    itm_utf8_clean_lines(error->field);
    return status;
}

ItmStatus itm_error_set(ItmError* error, ItmStatus status, const char* function, const char* field, const char* format,
                        ...)
{
    va_list arguments;
    va_start(arguments, format);
    itm_error_set_list(error, status, function, field, format, arguments);
    va_end(arguments);
    return status;
}

void itm_error_locate(ItmError* error, const char* file, int line, int column)
{
    if (error != NULL) {
        snprintf(error->file, sizeof error->file, "%s", file);
        error->line = line;
        error->column = column;
    }
}
