// An expression of signals as a program for a stack of reals: compiled once, run at every sample without allocating.
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
//
// Units stand only where whoever compiles brings a reader for them.
#ifndef ITM_CONTROL_PROGRAM_H
#define ITM_CONTROL_PROGRAM_H

#include "base/function.h"
#include "base/scan.h"

typedef enum ItmOpCode {
    // push
    ITM_OP_CONSTANT,     // value
    ITM_OP_TIME,
    ITM_OP_NAME,         // not known yet: text[offset ... offset + length)
    ITM_OP_RATE,         // not known yet: rate of the signal of that name
    ITM_OP_BLOCK,        // index
    ITM_OP_SIGNAL,       // index
    ITM_OP_SIGNAL_RATE,  // index
    ITM_OP_INPUT,        // index
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
    ITM_OP_FUNCTION,     // index: ItmFunction
} ItmOpCode;

typedef struct ItmOp {
    ItmOpCode code;
    int index;
    int offset, length;  // where it stands in the text
    double value;
} ItmOp;

typedef struct ItmProgram {
    char* text;  // copy of the expression, ends with NUL
    ItmOp* ops;  // (nop)
    int nop;
    int nstack;  // reals that running it needs
} ItmProgram;

// Goes past a unit at scan->at, if there is one, and gives its factor to SI.
typedef double (*ItmScanUnit)(ItmScan* scan, const void* context);

// Compile a text; names stay open. scan_unit may be NULL: no units. ITM_ERR_INPUT: error says what is wrong and where.
ItmStatus itm_program_compile(ItmProgram* program, const char* text, ItmScanUnit scan_unit, const void* context,
                              ItmExpressionError* error);
void itm_program_free(ItmProgram* program);

// What a program sees while it runs.
typedef struct ItmProgramScope {
    double time;
    const double *blocks, *signals, *signal_rates, *inputs;
} ItmProgramScope;

// Run a program without open names. stack (nstack)
double itm_program_run(const ItmOp* ops, int nop, const ItmProgramScope* scope, double* stack);

#endif
