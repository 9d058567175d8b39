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

#include "base/scan.h"
#include "io/quantity.h"

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

// For readers of other expressions: go past the unit at scan->at, if there is one, and give its factor to SI. The scope
// says which words are parameters; it may be NULL.
double itm_expression_scan_unit(ItmScan* scan, const ItmScope* scope);

#endif
