// Arithmetic with quantities: "2*L + 30 mm", "0.5*rho*pi*(d/2)^2", "7.6 MPa".
//
//   sum     = product { (+|-) product }
//   product = unary { (*|/) unary }
//   unary   = [+|-] power
//   power   = primary [ ^ unary ]
//   primary = number [unit] | ( sum ) [unit] | function ( sum {, sum} ) | name
//   unit    = word [^ integer] { (space | * | / | ·) word [^ integer] }   with no spaces around * and /
//
// A name is a parameter, or pi. A unit stands only behind a number or a closing parenthesis, so
// parameters may be called m, s or g.
#ifndef ITM_IO_EXPRESSION_H
#define ITM_IO_EXPRESSION_H

#include "io/quantity.h"

#define ITM_EXPRESSION_MAX_LENGTH 4096
#define ITM_EXPRESSION_MAX_DEPTH 100 // parentheses, powers and parameters inside one another

// Why an expression has no value. is_elsewhere: the fault is in a parameter that the text refers to,
// and its scope has reported it.
typedef struct ItmExpressionError {
    char message[512];
    size_t offset; // byte of the text at fault
    bool is_elsewhere;
} ItmExpressionError;

// Where names come from.
typedef struct ItmScope {
    void* context;
    // Value of a parameter. Returns false if it has none, with error->message, or is_elsewhere set.
    bool (*find)(void* context, const char* name, size_t length, int depth, ItmQuantity* value,
                 ItmExpressionError* error);
    // Whether there is a parameter of that name, without computing it.
    bool (*has)(void* context, const char* name, size_t length);
} ItmScope;

// Evaluate a whole text. scope may be NULL (no parameters). depth: how deep we are in other
// expressions, 0 outside.
bool itm_expression_compute(ItmQuantity* value, const char* text, size_t length,
                            const ItmScope* scope, int depth, ItmExpressionError* error);

#endif
