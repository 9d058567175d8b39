// Life and look-ups of a compiled control.
#include "control/control.h"

#include "base/guard.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void itm_control_destroy(ItmControl* c)
{
    if (c == NULL) {
        return;
    }
    itm_arena_free(&c->arena);
    free(c);
}

ItmControlInfo itm_control_get_info(const ItmControl* c)
{
    ITM_GUARD(c != NULL, (ItmControlInfo){0});
    return (ItmControlInfo){
        .nblock = c->nblock, .ninput = c->ninput, .nsignal = c->nsignal, .nstate = c->nx, .data_bytes = c->data_bytes};
}

// ---------------------------------------------------------------------------- inputs

int itm_control_get_input_count(const ItmControl* c)
{
    ITM_GUARD(c != NULL, 0);
    return c->ninput;
}

const char* itm_control_get_input_name(const ItmControl* c, int input)
{
    ITM_GUARD(c != NULL, NULL);
    return input >= 0 && input < c->ninput ? c->input_name[input] : NULL;
}

int itm_control_find_input(const ItmControl* c, const char* name)
{
    ITM_GUARD(c != NULL && name != NULL, ITM_NONE);
    for (int i = 0; i < c->ninput; i++) {
        if (strcmp(c->input_name[i], name) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}

// ---------------------------------------------------------------------------- outputs

static const char* describe(ItmControlKind kind)
{
    static const char* const TEXTS[ITM_CONTROL_KIND_COUNT] = {
        [ITM_CONTROL_EXPRESSION] = "value of an expression",
        [ITM_CONTROL_PID] = "output of a PID controller",
        [ITM_CONTROL_INTEGRATOR] = "output of an integrator",
        [ITM_CONTROL_LAG] = "output of a first-order lag",
        [ITM_CONTROL_DERIVATIVE] = "rate of the input",
        [ITM_CONTROL_RATE_LIMIT] = "output of a rate limiter",
        [ITM_CONTROL_DELAY] = "delayed input",
        [ITM_CONTROL_LOOKUP] = "value from a look-up table",
    };
    return TEXTS[kind];
}

int itm_control_get_output_count(const ItmControl* c)
{
    ITM_GUARD(c != NULL, 0);
    return c->nblock;
}

ItmOutputInfo itm_control_get_output_info(const ItmControl* c, int output)
{
    ITM_GUARD(c != NULL, (ItmOutputInfo){0});
    if (output < 0 || output >= c->nblock) {
        return (ItmOutputInfo){0};
    }
    const ItmControlBlockDef* def = &c->blocks[output].def;
    return (ItmOutputInfo){.name = def->name, .unit = def->unit, .description = describe(def->kind)};
}

int itm_control_find_output(const ItmControl* c, const char* name)
{
    ITM_GUARD(c != NULL && name != NULL, ITM_NONE);
    for (int i = 0; i < c->nblock; i++) {
        if (strcmp(c->blocks[i].def.name, name) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}

bool itm_control_is_feedthrough(const ItmControl* c, int output, int input)
{
    ITM_GUARD(c != NULL, false);
    if (output < 0 || output >= c->nblock || input < 0 || input >= c->ninput) {
        return false;
    }
    unsigned bits = c->feedthrough[(size_t)output * (size_t)c->nfeed + (size_t)(input / CHAR_BIT)];
    return (bits >> (input % CHAR_BIT) & 1u) != 0;
}

double itm_control_get_sample(const ItmControl* c, int output)
{
    ITM_GUARD(c != NULL, 0.0);
    return output >= 0 && output < c->nblock ? c->blocks[output].def.sample : NAN;
}
