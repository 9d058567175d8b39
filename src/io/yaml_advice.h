// Plain words for the syntax errors that people make most: a bracket or quote that is not closed, a missing space after a colon,
// a line indented differently from its neighbours.
#ifndef ITM_IO_YAML_ADVICE_H
#define ITM_IO_YAML_ADVICE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ItmYamlAdvice {
    char message[160];
    size_t at;  // byte of the text
} ItmYamlAdvice;

// Find the cause of a syntax error that the parser noticed in `error_line` (1-based). False: none of the above.
bool itm_yaml_advise(ItmYamlAdvice* advice, const char* text, size_t length, int error_line);

#endif
