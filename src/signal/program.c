#include "signal/program.h"

#include "base/list.h"

#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------- running

static double load(const ItmOp* op, const ItmProgramScope* scope)
{
    switch (op->code) {
    case ITM_OP_CONSTANT:
        return op->value;
    case ITM_OP_TIME:
        return scope->time;
    case ITM_OP_BLOCK:
        return scope->blocks[op->index];
    case ITM_OP_SIGNAL:
        return scope->signals[op->index];
    case ITM_OP_SIGNAL_RATE:
        return scope->signal_rates[op->index];
    case ITM_OP_INPUT:
        return scope->inputs[op->index];
    default:
        return NAN;
    }
}

double itm_program_run(const ItmOp* ops, int nop, const ItmProgramScope* scope, double* stack)
{
    double* top = stack;  // first free place
    for (int i = 0; i < nop; i++) {
        if (ops[i].code < ITM_OP_NEGATE) {
            *top++ = load(&ops[i], scope);
        } else {
            top -= itm_grammar_count_operands(&ops[i]);
            *top = itm_grammar_apply(&ops[i], top);
            top++;
        }
    }
    return stack[0];
}

// ---------------------------------------------------------------------------- compiling

typedef struct Compiler {
    struct {
        ItmOp* items;
        int count, capacity;
    } ops;
    int height, nstack;  // of the stack, now and at most
    bool is_out_of_memory;
} Compiler;

// Where all operands are constants, the operation is one too.
static bool fold(Compiler* c, const ItmOp* op, int n)
{
    double x[ITM_FUNCTION_MOST_ARGUMENTS];
    ItmOp* first = c->ops.items + c->ops.count - n;
    for (int i = 0; i < n; i++) {
        if (first[i].code != ITM_OP_CONSTANT) {
            return false;
        }
        x[i] = first[i].value;
    }
    first->value = itm_grammar_apply(op, x);
    c->ops.count -= n - 1;
    return true;
}

static void put(void* context, ItmScan* scan, const ItmOp* op, const ItmQuantity* constant)
{
    (void)constant;
    Compiler* c = context;
    int n = itm_grammar_count_operands(op);
    c->height += 1 - n;
    c->nstack = c->height > c->nstack ? c->height : c->nstack;
    if ((n == 0 || !fold(c, op, n)) && !ITM_LIST_APPEND(c->ops, *op)) {
        c->is_out_of_memory = true;
        itm_scan_fail(scan, 0, "out of memory");
    }
}

ItmStatus itm_program_compile(ItmProgram* program, const char* text, const ItmScope* scope, ItmExpressionError* error)
{
    Compiler c = {0};
    ItmScan scan = {.text = text, .length = strlen(text), .error = error};
    itm_grammar_parse(&scan, scope, &(ItmOpSink){.context = &c, .put = put});
    *program = (ItmProgram){.text = scan.has_failed ? NULL : strdup(text)};
    if (program->text == NULL) {
        bool is_out_of_memory = c.is_out_of_memory || !scan.has_failed;
        free(c.ops.items);
        return is_out_of_memory ? ITM_ERR_MEMORY : ITM_ERR_INPUT;
    }
    program->ops = c.ops.items;
    program->nop = c.ops.count;
    program->nstack = c.nstack;
    return ITM_OK;
}

void itm_program_free(ItmProgram* program)
{
    free(program->text);
    free(program->ops);
    *program = (ItmProgram){0};
}
