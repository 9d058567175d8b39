// Defaults and names of blocks.
#include "control/builder.h"

#include <math.h>

ItmControlBlockDef itm_default_control_block_def(ItmControlKind kind)
{
    return (ItmControlBlockDef){
        .kind = kind,
        .lower = -INFINITY,
        .upper = INFINITY,
        .start = kind == ITM_CONTROL_RATE_LIMIT ? NAN : 0.0,
        .rising = INFINITY,
        .falling = INFINITY,
        .samples = 1,
    };
}

const char* itm_control_kind_name(ItmControlKind kind)
{
    static const char* const NAMES[ITM_CONTROL_KIND_COUNT] = {
        [ITM_CONTROL_EXPRESSION] = "expression", [ITM_CONTROL_PID] = "pid",
        [ITM_CONTROL_INTEGRATOR] = "integrator", [ITM_CONTROL_LAG] = "lag",
        [ITM_CONTROL_DERIVATIVE] = "derivative", [ITM_CONTROL_RATE_LIMIT] = "rate-limit",
        [ITM_CONTROL_DELAY] = "delay",           [ITM_CONTROL_LOOKUP] = "lookup",
    };
    return (int)kind >= 0 && kind < ITM_CONTROL_KIND_COUNT ? NAMES[kind] : "?";
}

const char* itm_control_anti_windup_name(ItmAntiWindup method)
{
    static const char* const NAMES[ITM_WINDUP_COUNT] = {"clamp", "tracking", "none"};
    return (int)method >= 0 && method < ITM_WINDUP_COUNT ? NAMES[method] : "?";
}

const char* itm_control_slot_name(ItmControlSlot slot)
{
    static const char* const NAMES[ITM_SLOT_COUNT] = {"input", "error_rate", "feed_forward"};
    return NAMES[slot];
}

const char* itm_control_block_def_get_text(const ItmControlBlockDef* def, ItmControlSlot slot)
{
    if (slot == ITM_SLOT_INPUT) {
        return def->input;
    }
    if (def->kind != ITM_CONTROL_PID) {
        return NULL;
    }
    return slot == ITM_SLOT_ERROR_RATE ? def->error_rate : def->feed_forward;
}
