// What each kind of block does at a sample: its value from states and inputs, then its states at the next sample.
#include "control/control.h"

#include <math.h>

// States, in the order in which they lie.
enum { PID_INTEGRAL, PID_RATE, PID_COUNT = PID_RATE + 4 };
enum { RATE_LAST, RATE_DECAY, RATE_SLOPE, RATE_STARTED, RATE_COUNT };
enum { LAG_VALUE, LAG_STARTED, LAG_COUNT };
enum { LIMIT_LAST, LIMIT_TIME, LIMIT_STARTED, LIMIT_COUNT };
enum { DELAY_HEAD, DELAY_STARTED, DELAY_COUNT };

int itm_control_kind_count_states(const ItmControlBlockDef* def)
{
    switch (def->kind) {
    case ITM_CONTROL_PID:
        return PID_COUNT;
    case ITM_CONTROL_INTEGRATOR:
        return 1;
    case ITM_CONTROL_LAG:
        return LAG_COUNT;
    case ITM_CONTROL_DERIVATIVE:
        return RATE_COUNT;
    case ITM_CONTROL_RATE_LIMIT:
        return LIMIT_COUNT;
    case ITM_CONTROL_DELAY:
        return DELAY_COUNT;
    default:
        return 0;
    }
}

int itm_control_kind_count_samples(const ItmControlBlockDef* def)
{
    return def->kind == ITM_CONTROL_DELAY ? def->samples : 0;
}

// An integrator shows its state, and so do lag and delay, unless they start with their first input.
bool itm_control_kind_is_feedthrough(const ItmControlBlockDef* def)
{
    switch (def->kind) {
    case ITM_CONTROL_INTEGRATOR:
        return false;
    case ITM_CONTROL_LAG:
    case ITM_CONTROL_DELAY:
        return isnan(def->start);
    default:
        return true;
    }
}

double itm_control_kind_limit(const ItmControlBlock* block, double y)
{
    return y < block->def.lower ? block->def.lower : y > block->def.upper ? block->def.upper : y;
}

// ---------------------------------------------------------------------------- rate of the input

// The rate r of u behind a lag, T r' + r = u', where u is straight between samples:
//   r_k = E r_(k-1) + (1 - E) (u_k - u_(k-1)) / h,   E = exp(-h/T)
// T = 0: the difference quotient. There is no rate at the first sample.
static double compute_rate(const double* x, double u)
{
    return x[RATE_STARTED] != 0 ? x[RATE_DECAY] + x[RATE_SLOPE] * (u - x[RATE_LAST]) : 0.0;
}

static void advance_rate(double* x, double u, double T, double h)
{
    double rate = compute_rate(x, u);
    double fresh = T > 0 ? -expm1(-h / T) : 1.0;  // 1 - E
    x[RATE_LAST] = u;
    x[RATE_DECAY] = (1.0 - fresh) * rate;
    x[RATE_SLOPE] = fresh / h;
    x[RATE_STARTED] = 1.0;
}

// ---------------------------------------------------------------------------- PID

// v = k_P u + I + k_D u' + feed forward
static double compute_pid(const ItmControlBlock* block, const double* x, const double* u)
{
    double rate =
        block->nop[ITM_SLOT_ERROR_RATE] > 0 ? u[ITM_SLOT_ERROR_RATE] : compute_rate(x + PID_RATE, u[ITM_SLOT_INPUT]);
    return block->def.proportional * u[ITM_SLOT_INPUT] + x[PID_INTEGRAL] + block->def.derivative * rate +
           u[ITM_SLOT_FEED_FORWARD];
}

// I' = k_I u; where the output y is held at a limit and v is beyond:
//   clamp:     I' = 0 if k_I u drives v further out
//   tracking:  I' = k_I u + (y - v) / T_t, with v = I + rest, so that I tends to I_end = I + y - v + T_t k_I u
static void advance_pid(const ItmControlBlock* block, double* x, const double* u, double y, double h)
{
    const ItmControlBlockDef* def = &block->def;
    double excess = compute_pid(block, x, u) - y, drive = def->integral * u[ITM_SLOT_INPUT];
    if (excess != 0 && def->anti_windup == ITM_WINDUP_TRACKING) {
        double fresh = -expm1(-h / def->tracking_time);
        x[PID_INTEGRAL] += fresh * (def->tracking_time * drive - excess);
    } else if (!(excess * drive > 0 && def->anti_windup == ITM_WINDUP_CLAMP)) {
        x[PID_INTEGRAL] += h * drive;
    }
    advance_rate(x + PID_RATE, u[ITM_SLOT_INPUT], def->time_constant, h);
}

// ---------------------------------------------------------------------------- others

// The value at the first sample.
static double compute_start(const ItmControlBlockDef* def, double u)
{
    return isnan(def->start) ? u : def->start;
}

// y in [y_last - falling h, y_last + rising h]
static double compute_limited(const ItmControlBlockDef* def, const double* x, double u)
{
    if (x[LIMIT_STARTED] == 0) {
        return compute_start(def, u);
    }
    double rise = isfinite(def->rising) ? x[LIMIT_LAST] + def->rising * x[LIMIT_TIME] : INFINITY;
    double fall = isfinite(def->falling) ? x[LIMIT_LAST] - def->falling * x[LIMIT_TIME] : -INFINITY;
    return u > rise ? rise : u < fall ? fall : u;
}

void itm_control_kind_reset(const ItmControlBlock* block, double* x, double* ring)
{
    const ItmControlBlockDef* def = &block->def;
    for (int i = 0; i < itm_control_kind_count_states(def); i++) {
        x[i] = 0.0;
    }
    for (int i = 0; i < itm_control_kind_count_samples(def); i++) {
        ring[i] = isnan(def->start) ? 0.0 : def->start;
    }
    if (def->kind == ITM_CONTROL_PID || def->kind == ITM_CONTROL_INTEGRATOR) {
        x[0] = def->start;
    }
}

double itm_control_kind_compute(const ItmControlBlock* block, const double* x, const double* ring, const double* u)
{
    const ItmControlBlockDef* def = &block->def;
    switch (def->kind) {
    case ITM_CONTROL_PID:
        return compute_pid(block, x, u);
    case ITM_CONTROL_INTEGRATOR:
        return x[0];
    case ITM_CONTROL_LAG:
        return x[LAG_STARTED] != 0 ? x[LAG_VALUE] : compute_start(def, u[ITM_SLOT_INPUT]);
    case ITM_CONTROL_DERIVATIVE:
        return compute_rate(x, u[ITM_SLOT_INPUT]);
    case ITM_CONTROL_RATE_LIMIT:
        return compute_limited(def, x, u[ITM_SLOT_INPUT]);
    case ITM_CONTROL_DELAY:
        return x[DELAY_STARTED] != 0 ? ring[(int)x[DELAY_HEAD]] : compute_start(def, u[ITM_SLOT_INPUT]);
    case ITM_CONTROL_LOOKUP:
        return itm_signal_compute(&block->table, u[ITM_SLOT_INPUT]).x;
    default:
        return u[ITM_SLOT_INPUT];
    }
}

void itm_control_kind_advance(const ItmControlBlock* block, double* x, const double* u, double y, double h)
{
    const ItmControlBlockDef* def = &block->def;
    switch (def->kind) {
    case ITM_CONTROL_PID:
        advance_pid(block, x, u, y, h);
        break;
    case ITM_CONTROL_INTEGRATOR:
        x[0] = itm_control_kind_limit(block, x[0] + h * u[ITM_SLOT_INPUT]);
        break;
    case ITM_CONTROL_LAG: {
        // x_(k+1) = u + (x_k - u) exp(-h/T)
        double from = x[LAG_STARTED] != 0 ? x[LAG_VALUE] : compute_start(def, u[ITM_SLOT_INPUT]);
        x[LAG_VALUE] = from - expm1(-h / def->time_constant) * (u[ITM_SLOT_INPUT] - from);
        x[LAG_STARTED] = 1.0;
        break;
    }
    case ITM_CONTROL_DERIVATIVE:
        advance_rate(x, u[ITM_SLOT_INPUT], def->time_constant, h);
        break;
    case ITM_CONTROL_RATE_LIMIT:
        x[LIMIT_LAST] = y;
        x[LIMIT_TIME] = h;
        x[LIMIT_STARTED] = 1.0;
        break;
    default:
        break;
    }
}

void itm_control_kind_push(const ItmControlBlock* block, double* x, double* ring, const double* u)
{
    if (block->def.kind != ITM_CONTROL_DELAY) {
        return;
    }
    int n = block->def.samples, head = (int)x[DELAY_HEAD];
    for (int i = 0; i < n && x[DELAY_STARTED] == 0 && isnan(block->def.start); i++) {
        ring[i] = u[ITM_SLOT_INPUT];
    }
    ring[head] = u[ITM_SLOT_INPUT];
    x[DELAY_HEAD] = (head + 1) % n;
    x[DELAY_STARTED] = 1.0;
}

double* itm_control_kind_get_smooth(const ItmControlBlock* block, double* x, double* ring, int k)
{
    static const int PID[] = {PID_RATE + RATE_LAST, PID_RATE + RATE_DECAY, PID_INTEGRAL};
    static const int DERIVATIVE[] = {RATE_LAST, RATE_DECAY};
    switch (block->def.kind) {
    case ITM_CONTROL_PID:  // without integral action the sum is a constant
        return k < (block->def.integral != 0 ? 3 : 2) ? &x[PID[k]] : NULL;
    case ITM_CONTROL_DERIVATIVE:
        return k < 2 ? &x[DERIVATIVE[k]] : NULL;
    case ITM_CONTROL_INTEGRATOR:
        return k < 1 ? &x[0] : NULL;
    case ITM_CONTROL_LAG:
        return k < 1 ? &x[LAG_VALUE] : NULL;
    case ITM_CONTROL_RATE_LIMIT:
        return k < 1 ? &x[LIMIT_LAST] : NULL;
    case ITM_CONTROL_DELAY:  // from the oldest on, wherever that lies
        return k < block->def.samples ? &ring[((int)x[DELAY_HEAD] + k) % block->def.samples] : NULL;
    default:
        return NULL;
    }
}
