// Values of model files: an expression with units (signal/grammar.h) computed at once, as a quantity.
#ifndef ITM_SIGNAL_EXPRESSION_H
#define ITM_SIGNAL_EXPRESSION_H

#include "signal/grammar.h"

// Evaluate a whole text. scope may be NULL (no parameters). depth: nesting inside other expressions, 0 outside.
// Functions that need plain numbers refuse units; sums, comparisons and choices need operands of one dimension.
bool itm_expression_compute(ItmQuantity* value, const char* text, size_t length, const ItmScope* scope, int depth,
                            ItmExpressionError* error);

#endif
