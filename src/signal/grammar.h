// The expression language of model files: "2*L + 30 mm", "0.5*rho*pi*(d/2)^2", "if(boom.pressure > 180 bar, 0, lever)".
//
//   or      = and { "or" and }
//   and     = not { "and" not }
//   not     = { "not" } compare
//   compare = sum [ (< | <= | > | >= | == | !=) sum ]
//   sum     = product { (+|-) product }
//   product = unary { (*|/) unary }
//   unary   = (+|-) unary | power
//   power   = primary [ ^ unary ]
//   primary = number [unit] | ( or ) [unit] | function ( or {, or} ) | "rate" ( name ) | name
//   name    = word { . word } | ' anything '
//   unit    = word [^ integer] { (space | * | / | ·) word [^ integer] }   with no spaces around * and /
//
// A unit stands only behind a number or a closing parenthesis, so parameters may be called m, s or g.
// The grammar emits operations in postfix order. Two clients receive them: expression.c computes a quantity at once,
// program.c compiles them for repeated evaluation.
#ifndef ITM_SIGNAL_GRAMMAR_H
#define ITM_SIGNAL_GRAMMAR_H

#include "signal/function.h"
#include "signal/quantity.h"
#include "signal/scan.h"

typedef enum ItmOpCode {
    // push
    ITM_OP_CONSTANT,  // value
    ITM_OP_TIME,
    ITM_OP_NAME,   // text[offset ... offset + length)
    ITM_OP_RATE,   // rate of the signal of that name
    ITM_OP_BLOCK,  // index, as the following; only in resolved programs
    ITM_OP_SIGNAL,
    ITM_OP_SIGNAL_RATE,
    ITM_OP_INPUT,
    // replace the top
    ITM_OP_NEGATE,
    ITM_OP_NOT,
    // replace the two on top
    ITM_OP_ADD,
    ITM_OP_SUBTRACT,
    ITM_OP_MULTIPLY,
    ITM_OP_DIVIDE,
    ITM_OP_LESS,
    ITM_OP_LESS_EQUAL,
    ITM_OP_GREATER,
    ITM_OP_GREATER_EQUAL,
    ITM_OP_EQUAL,
    ITM_OP_NOT_EQUAL,
    ITM_OP_AND,
    ITM_OP_OR,
    // replace its arguments
    ITM_OP_FUNCTION,  // index: ItmFunction
} ItmOpCode;

// One operation of an expression.
typedef struct ItmOp {
    ItmOpCode code;
    int index;
    int offset, length;  // of its name or operator in the text
    double value;        // SI
} ItmOp;

// Where names come from.
typedef struct ItmScope {
    void* context;
    // Computes the value of a parameter. Returns false if it has none, with error->message, or is_elsewhere set.
    bool (*find)(void* context, const char* name, size_t length, int depth, ItmQuantity* value,
                 ItmExpressionError* error);
    // Whether there is a parameter of that name, without computing it.
    bool (*has)(void* context, const char* name, size_t length);
} ItmScope;

// Receives the operations in postfix order. constant: the quantity of ITM_OP_CONSTANT, else NULL. Refuses with itm_scan_fail.
typedef struct ItmOpSink {
    void* context;
    void (*put)(void* context, ItmScan* scan, const ItmOp* op, const ItmQuantity* constant);
} ItmOpSink;

// Operands that an operation takes from the stack.
int itm_grammar_count_operands(const ItmOp* op);
// Value of an operation that is no push; x holds its operands.
double itm_grammar_apply(const ItmOp* op, const double* x);

// Read a whole text from scan->at. scope decides which words are parameters; it may be NULL. Refusals are in scan->error.
void itm_grammar_parse(ItmScan* scan, const ItmScope* scope, const ItmOpSink* sink);

#endif
