// An expression of signals (signal/grammar.h) compiled for a stack of reals: once compiled, it runs at every sample without
// allocating.
#ifndef ITM_SIGNAL_PROGRAM_H
#define ITM_SIGNAL_PROGRAM_H

#include "signal/grammar.h"

typedef struct ItmProgram {
    char* text;  // copy of the expression, ends with NUL
    ItmOp* ops;  // (nop)
    int nop;
    int nstack;  // reals that running it needs
} ItmProgram;

// Compile a text; names stay open. scope decides which words are parameters and no units; it may be NULL.
// ITM_ERR_INPUT: error holds message and place.
ItmStatus itm_program_compile(ItmProgram* program, const char* text, const ItmScope* scope, ItmExpressionError* error);
void itm_program_free(ItmProgram* program);

// What a program sees while it runs.
typedef struct ItmProgramScope {
    double time;
    const double *blocks, *signals, *signal_rates, *inputs;
} ItmProgramScope;

// Run a program without open names. stack (nstack)
double itm_program_run(const ItmOp* ops, int nop, const ItmProgramScope* scope, double* stack);

#endif
