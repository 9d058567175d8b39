#include "signal/signal.h"

#include "base/error.h"
#include "math/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REACHED 1e-9

ItmSignalDef itm_default_signal_def(void)
{
    return (ItmSignalDef){.kind = ITM_SIGNAL_CONSTANT};
}

// ---------------------------------------------------------------------------- checking

static ItmStatus refuse(const ItmSignalDef* def, ItmError* error, const char* field, const char* why)
{
    return itm_error_set(error, ITM_ERR_INPUT, "itm_signal_def_check", field, "signal '%s': %s",
                         def->name != NULL ? def->name : "", why);
}

static ItmStatus check_ramp(const ItmSignalDef* def, ItmError* error)
{
    if (!isfinite(def->t_start)) {
        return refuse(def, error, "t_start", "the start of a ramp must be finite");
    }
    if (!isfinite(def->t_end) || def->t_end <= def->t_start) {
        return refuse(def, error, "t_end", "the end of a ramp must be finite and after its start");
    }
    if (!isfinite(def->from)) {
        return refuse(def, error, "from", "the first value of a ramp must be finite");
    }
    if (!isfinite(def->to)) {
        return refuse(def, error, "to", "the last value of a ramp must be finite");
    }
    return ITM_OK;
}

static ItmStatus check_sine(const ItmSignalDef* def, ItmError* error)
{
    if (!isfinite(def->offset)) {
        return refuse(def, error, "offset", "the offset of a sine must be finite");
    }
    if (!isfinite(def->amplitude)) {
        return refuse(def, error, "amplitude", "the amplitude of a sine must be finite");
    }
    if (!isfinite(def->frequency) || def->frequency < 0) {
        return refuse(def, error, "frequency", "the frequency of a sine must be finite and not negative");
    }
    if (!isfinite(def->phase)) {
        return refuse(def, error, "phase", "the phase of a sine must be finite");
    }
    return ITM_OK;
}

static ItmStatus check_points(const ItmSignalDef* def, ItmError* error, int nmin)
{
    if (def->npoint < nmin || def->times == NULL || def->values == NULL) {
        return refuse(def, error, "times",
                      nmin == 1 ? "at least one point is needed" : "at least two points are needed");
    }
    for (int i = 0; i < def->npoint; i++) {
        if (!isfinite(def->times[i]) || (i > 0 && def->times[i] <= def->times[i - 1])) {
            return itm_error_set(error, ITM_ERR_INPUT, __func__, "times",
                                 "signal '%s': times must be finite and increase, but number %d is %g after %g",
                                 def->name != NULL ? def->name : "", i + 1, def->times[i],
                                 i > 0 ? def->times[i - 1] : -INFINITY);
        }
        if (!isfinite(def->values[i])) {
            return refuse(def, error, "values", "all values must be finite");
        }
    }
    return ITM_OK;
}

ItmStatus itm_signal_def_check(const ItmSignalDef* def, ItmError* error)
{
    switch (def->kind) {
    case ITM_SIGNAL_CONSTANT:
    case ITM_SIGNAL_EXTERNAL:
        return isfinite(def->value) ? ITM_OK : refuse(def, error, "value", "the value must be finite");
    case ITM_SIGNAL_RAMP:
        return check_ramp(def, error);
    case ITM_SIGNAL_SINE:
        return check_sine(def, error);
    case ITM_SIGNAL_TABLE:
        if ((int)def->interpolation < ITM_INTERPOLATE_LINEAR || def->interpolation > ITM_INTERPOLATE_SMOOTH) {
            return refuse(def, error, "interpolation", "unknown interpolation");
        }
        return check_points(def, error, 2);
    case ITM_SIGNAL_PIECEWISE:
        return check_points(def, error, 1);
    }
    return refuse(def, error, "kind", "unknown kind of signal");
}

// ---------------------------------------------------------------------------- copying

// A copy of n reals; for n = 0 too it is not NULL.
static double* copy_reals(const double* values, int n)
{
    double* copy = malloc(((size_t)n + 1) * sizeof *copy);
    if (copy != NULL && n > 0) {
        memcpy(copy, values, (size_t)n * sizeof *copy);
    }
    return copy;
}

bool itm_signal_def_copy(ItmSignalDef* copy, const ItmSignalDef* def)
{
    bool has_points = def->kind == ITM_SIGNAL_TABLE || def->kind == ITM_SIGNAL_PIECEWISE;
    *copy = *def;
    copy->npoint = has_points ? def->npoint : 0;
    copy->times = copy_reals(def->times, copy->npoint);
    copy->values = copy_reals(def->values, copy->npoint);
    if (copy->times == NULL || copy->values == NULL) {
        itm_signal_def_free(copy);
        return false;
    }
    return true;
}

void itm_signal_def_free(ItmSignalDef* copy)
{
    free((void*)copy->times);
    free((void*)copy->values);
    copy->times = copy->values = NULL;
}

// ---------------------------------------------------------------------------- compiling

// Second derivatives m of the natural cubic spline through (t, x), from continuity of the rate:
//   h_i-1 m_i-1 + 2 (h_i-1 + h_i) m_i + h_i m_i+1 = 6 (d_i - d_i-1),   d_i = (x_i+1 - x_i) / h_i
// with m = 0 at both ends: a tridiagonal system, solved by elimination (diagonally dominant: no
// pivots).
static void compute_spline(double* m, double* upper, const double* t, const double* x, int n)
{
    m[0] = 0.0;
    upper[0] = 0.0;
    for (int i = 1; i < n - 1; i++) {
        double h_prev = t[i] - t[i - 1], h = t[i + 1] - t[i];
        double right = 6.0 * ((x[i + 1] - x[i]) / h - (x[i] - x[i - 1]) / h_prev);
        double pivot = 2.0 * (h_prev + h) - h_prev * upper[i - 1];
        upper[i] = h / pivot;
        m[i] = (right - h_prev * m[i - 1]) / pivot;
    }
    m[n - 1] = 0.0;
    for (int i = n - 2; i > 0; i--) {
        m[i] -= upper[i] * m[i + 1];
    }
}

void itm_signal_init(ItmSignal* signal, const ItmSignalDef* def, double* second, double* scratch)
{
    *signal = (ItmSignal){.def = *def};
    if (def->kind == ITM_SIGNAL_TABLE && def->interpolation == ITM_INTERPOLATE_CUBIC) {
        compute_spline(second, scratch, def->times, def->values, def->npoint);
        signal->second = second;
    }
}

void itm_signal_compile(ItmSignal* signal, const ItmSignalDef* def, double* memory)
{
    ItmSignalDef placed = *def;
    size_t n = (size_t)def->npoint;
    if (n > 0) {
        memcpy(memory, def->times, n * sizeof *memory);
        memcpy(memory + n, def->values, n * sizeof *memory);
        placed.times = memory;
        placed.values = memory + n;
    }
    itm_signal_init(signal, &placed, memory + 2 * n, memory + 3 * n);
}

// ---------------------------------------------------------------------------- evaluating

// The last point whose time is not after t, or -1.
static int find_point(const ItmSignalDef* def, double t)
{
    int below = -1, above = def->npoint;
    while (above - below > 1) {
        int middle = below + (above - below) / 2;
        if (def->times[middle] <= t) {
            below = middle;
        } else {
            above = middle;
        }
    }
    return below;
}

// The point whose value a held signal has at t, or -1. Times of steps are multiples of a step and those of points are decimals: 1e-9 of
// the time between two points before the next one, it counts as reached, or a step that should begin there may begin without it.
static int find_held(const ItmSignalDef* def, double t)
{
    int i = find_point(def, t);
    bool has_both = i >= 0 && i + 1 < def->npoint;
    return has_both && def->times[i + 1] - t <= REACHED * (def->times[i + 1] - def->times[i]) ? i + 1 : i;
}

// from + rise (10 s^3 - 15 s^4 + 6 s^5) at the share s of a span: at rest, without acceleration, at both ends.
static ItmSignalValue compute_rise(double from, double rise, double span, double s)
{
    return (ItmSignalValue){
        .x = from + rise * s * s * s * (10.0 + s * (-15.0 + 6.0 * s)),
        .x_dot = rise / span * 30.0 * s * s * (1.0 - s) * (1.0 - s),
        .x_ddot = rise / (span * span) * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s),
    };
}

static ItmSignalValue compute_ramp(const ItmSignalDef* def, double t)
{
    if (t < def->t_start) {
        return (ItmSignalValue){.x = def->from};
    }
    if (t >= def->t_end) {
        return (ItmSignalValue){.x = def->to};
    }
    double span = def->t_end - def->t_start, rise = def->to - def->from;
    double s = (t - def->t_start) / span;
    if (!def->is_smooth) {
        return (ItmSignalValue){.x = def->from + rise * s, .x_dot = rise / span};
    }
    return compute_rise(def->from, rise, span, s);
}

static ItmSignalValue compute_sine(const ItmSignalDef* def, double t)
{
    double omega = 2.0 * ITM_PI * def->frequency;
    double angle = omega * t + def->phase;
    return (ItmSignalValue){
        .x = def->offset + def->amplitude * sin(angle),
        .x_dot = def->amplitude * omega * cos(angle),
        .x_ddot = -def->amplitude * omega * omega * sin(angle),
    };
}

static ItmSignalValue compute_table(const ItmSignal* signal, double t)
{
    const ItmSignalDef* def = &signal->def;
    int i = find_point(def, t);
    if (i < 0) {
        return (ItmSignalValue){.x = def->values[0]};
    }
    if (i >= def->npoint - 1) {
        return (ItmSignalValue){.x = def->values[def->npoint - 1]};
    }
    double h = def->times[i + 1] - def->times[i];
    double b = (t - def->times[i]) / h, a = 1.0 - b;
    double x_a = def->values[i], x_b = def->values[i + 1];
    if (def->interpolation == ITM_INTERPOLATE_SMOOTH) {
        return compute_rise(x_a, x_b - x_a, h, b);
    }
    if (signal->second == NULL) {
        return (ItmSignalValue){.x = a * x_a + b * x_b, .x_dot = (x_b - x_a) / h};
    }
    double m_a = signal->second[i], m_b = signal->second[i + 1];
    return (ItmSignalValue){
        .x = a * x_a + b * x_b + ((a * a * a - a) * m_a + (b * b * b - b) * m_b) * h * h / 6.0,
        .x_dot = (x_b - x_a) / h + ((1.0 - 3.0 * a * a) * m_a + (3.0 * b * b - 1.0) * m_b) * h / 6.0,
        .x_ddot = a * m_a + b * m_b,
    };
}

ItmSignalValue itm_signal_compute(const ItmSignal* signal, double t)
{
    const ItmSignalDef* def = &signal->def;
    switch (def->kind) {
    case ITM_SIGNAL_RAMP:
        return compute_ramp(def, t);
    case ITM_SIGNAL_SINE:
        return compute_sine(def, t);
    case ITM_SIGNAL_TABLE:
        return compute_table(signal, t);
    case ITM_SIGNAL_PIECEWISE: {
        int i = find_held(def, t);
        return (ItmSignalValue){.x = def->values[i < 0 ? 0 : i]};
    }
    case ITM_SIGNAL_CONSTANT:
    case ITM_SIGNAL_EXTERNAL:
        break;
    }
    return (ItmSignalValue){.x = def->value};
}

double itm_signal_next_break(const ItmSignal* signal, double t)
{
    const ItmSignalDef* def = &signal->def;
    switch (def->kind) {
    case ITM_SIGNAL_RAMP:
        return t < def->t_start ? def->t_start : t < def->t_end ? def->t_end : INFINITY;
    case ITM_SIGNAL_TABLE:
    case ITM_SIGNAL_PIECEWISE: {
        int i = def->kind == ITM_SIGNAL_TABLE ? find_point(def, t) : find_held(def, t);
        return i + 1 < def->npoint ? def->times[i + 1] : INFINITY;
    }
    case ITM_SIGNAL_CONSTANT:
    case ITM_SIGNAL_SINE:
    case ITM_SIGNAL_EXTERNAL:
        break;
    }
    return INFINITY;
}
