// libFuzzer target: any text as an expression with units. An error has a message and a place inside the text.
#include "interim/signal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    char* text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    double value = 0.0;
    char unit[64] = "";
    ItmError error = {0};
    ItmStatus status = itm_expression_evaluate(text, &value, unit, sizeof unit, &error);
    if (status != ITM_OK && (error.message[0] == '\0' || error.column < 0 || error.column > (int)strlen(text) + 1)) {
        __builtin_trap();
    }
    free(text);
    return 0;
}
