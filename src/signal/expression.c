#include "signal/expression.h"

#include "base/error.h"
#include "interim/signal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A stack of quantities. Its depth is bounded: each level of the grammar keeps at most four operands waiting.
#define MOST_OPERANDS (4 * ITM_EXPRESSION_MAX_DEPTH + 8)

typedef struct Stack {
    const ItmScope* scope;
    int count;
    ItmQuantity items[MOST_OPERANDS];
} Stack;

// ---------------------------------------------------------------------------- dimensions

static ItmQuantity number(double value)
{
    return (ItmQuantity){.value = value, .is_bare = true};
}

// Both in one dimension (a bare number takes the other's), or a failure. Returns that dimension with value 0.
static ItmQuantity agree(ItmScan* s, const ItmOp* op, const char* verb, ItmQuantity a, ItmQuantity b)
{
    if (a.is_bare || b.is_bare || itm_quantity_equal_dimensions(a.dimension, b.dimension)) {
        ItmQuantity common = a.is_bare ? b : a;
        common.value = 0.0;
        return common;
    }
    char unit_a[64], unit_b[64];
    itm_scan_fail(s, (size_t)op->offset, "cannot %s %s and %s", verb,
                  itm_quantity_format_dimension(a.dimension, unit_a, sizeof unit_a),
                  itm_quantity_format_dimension(b.dimension, unit_b, sizeof unit_b));
    return number(0.0);
}

static double need_number(ItmScan* s, const ItmOp* op, const char* what, ItmQuantity a)
{
    if (!itm_quantity_fits(a, ITM_DIM_ONE)) {
        char unit[64];
        itm_scan_fail(s, (size_t)op->offset, "%s needs a number without unit, got %s", what,
                      itm_quantity_format_dimension(a.dimension, unit, sizeof unit));
    }
    return a.value;
}

static ItmQuantity raise(ItmScan* s, const ItmOp* op, ItmQuantity base, ItmQuantity exponent)
{
    double power = need_number(s, op, "an exponent", exponent);
    return (ItmQuantity){.value = pow(base.value, power),
                         .dimension = itm_quantity_multiply_dimensions(ITM_DIM_ONE, base.dimension, power),
                         .is_bare = base.is_bare};
}

// ---------------------------------------------------------------------------- operations

// Functions whose arguments from `first` on must agree, and whose value has their dimension.
static ItmQuantity apply_alike(ItmScan* s, const ItmOp* op, const ItmQuantity* x, int first, int n)
{
    ItmQuantity result = x[first];
    double values[ITM_FUNCTION_MOST_ARGUMENTS];
    for (int i = 0; i < n; i++) {
        values[i] = x[i].value;
        if (i > first) {
            result = agree(s, op, "compare", result, x[i]);
        }
    }
    result.value = itm_grammar_apply(op, values);
    return result;
}

static ItmQuantity apply_function(ItmScan* s, const ItmOp* op, const ItmQuantity* x, int n)
{
    switch ((ItmFunction)op->index) {
    case ITM_FUNCTION_POW:
        return raise(s, op, x[0], x[1]);
    case ITM_FUNCTION_SQRT:
        return raise(s, op, x[0], number(0.5));
    case ITM_FUNCTION_ABS:
    case ITM_FUNCTION_MIN:
    case ITM_FUNCTION_MAX:
    case ITM_FUNCTION_CLAMP:
    case ITM_FUNCTION_DEADBAND:
        return apply_alike(s, op, x, 0, n);
    case ITM_FUNCTION_IF:
        (void)need_number(s, op, "a condition", x[0]);
        return apply_alike(s, op, x, 1, n);
    case ITM_FUNCTION_ATAN2:
        return number(apply_alike(s, op, x, 0, n).value);
    case ITM_FUNCTION_SIGN:
        return number(itm_grammar_apply(op, &x[0].value));
    default: {
        double value = need_number(s, op, itm_function_name((ItmFunction)op->index), x[0]);
        return number(itm_grammar_apply(op, &value));
    }
    }
}

static ItmQuantity apply(ItmScan* s, const ItmOp* op, const ItmQuantity* x, int n)
{
    if (op->code == ITM_OP_FUNCTION) {
        return apply_function(s, op, x, n);
    }
    double values[] = {x[0].value, n > 1 ? x[1].value : 0.0};
    ItmQuantity result = x[0];
    switch (op->code) {
    case ITM_OP_NEGATE:
        break;
    case ITM_OP_ADD:
    case ITM_OP_SUBTRACT:
        result = agree(s, op, op->code == ITM_OP_ADD ? "add" : "subtract", x[0], x[1]);
        break;
    case ITM_OP_MULTIPLY:
    case ITM_OP_DIVIDE:
        result.dimension =
            itm_quantity_multiply_dimensions(x[0].dimension, x[1].dimension, op->code == ITM_OP_MULTIPLY ? 1.0 : -1.0);
        result.is_bare = x[0].is_bare && x[1].is_bare;
        break;
    case ITM_OP_NOT:
    case ITM_OP_AND:
    case ITM_OP_OR:
        result = number(0.0);
        break;
    default:
        (void)agree(s, op, "compare", x[0], x[1]);
        result = number(0.0);
    }
    result.value = itm_grammar_apply(op, values);
    return result;
}

static ItmQuantity find_parameter(const Stack* stack, ItmScan* s, const ItmOp* op)
{
    ItmQuantity value = number(0.0);
    const char* name = s->text + op->offset;
    int shown = op->length < 40 ? op->length : 40;
    if (op->code != ITM_OP_NAME) {
        itm_scan_fail(s, (size_t)op->offset,
                      "'%.*s' changes with time and has no value here; it belongs into a control", shown, name);
    } else if (stack->scope == NULL) {
        itm_scan_fail(s, (size_t)op->offset, "there is no parameter '%.*s'", shown, name);
    } else if (!stack->scope->find(stack->scope->context, name, (size_t)op->length, s->depth, &value, s->error)) {
        s->has_failed = true;
        s->error->offset = (size_t)op->offset;
    }
    return value;
}

static void put(void* context, ItmScan* s, const ItmOp* op, const ItmQuantity* constant)
{
    Stack* stack = context;
    int n = itm_grammar_count_operands(op);
    stack->count -= n;
    if (stack->count == MOST_OPERANDS) {
        itm_scan_fail(s, (size_t)op->offset, "the expression is nested too deep");
        return;
    }
    ItmQuantity* top = stack->items + stack->count++;
    *top = constant != NULL ? *constant : n == 0 ? find_parameter(stack, s, op) : apply(s, op, top, n);
}

bool itm_expression_compute(ItmQuantity* value, const char* text, size_t length, const ItmScope* scope, int depth,
                            ItmExpressionError* error)
{
    Stack stack;  // of which one operand is used mostly
    stack.scope = scope;
    stack.count = 0;
    stack.items[0] = (ItmQuantity){0};
    ItmScan scan = {.text = text, .length = length, .depth = depth, .error = error};
    itm_grammar_parse(&scan, scope, &(ItmOpSink){.context = &stack, .put = put});
    *value = stack.items[0];
    if (!scan.has_failed && !isfinite(value->value)) {
        itm_scan_fail(&scan, 0, "the result is not a finite number");
    }
    return !scan.has_failed;
}

ItmStatus itm_expression_evaluate(const char* text, double* value, char* unit, size_t size, ItmError* error)
{
    ItmQuantity quantity;
    ItmExpressionError why = {0};
    if (text == NULL || value == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "text and value must not be NULL");
    }
    if (!itm_expression_compute(&quantity, text, strlen(text), NULL, 0, &why)) {
        ItmStatus status = itm_error_set(error, ITM_ERR_INPUT, __func__, "text", "%s", why.message);
        if (error != NULL) {
            error->column = 1 + (int)why.offset;
        }
        return status;
    }
    *value = quantity.value;
    if (unit != NULL && size > 0) {
        bool is_one = itm_quantity_equal_dimensions(quantity.dimension, ITM_DIM_ONE);
        unit[0] = '\0';
        if (!quantity.is_bare && is_one) {
            snprintf(unit, size, "1");
        } else if (!quantity.is_bare) {
            itm_quantity_format_dimension(quantity.dimension, unit, size);
        }
    }
    return ITM_OK;
}
