// Signals: functions of time that drive motions, forces and actuators; defined in advance or set by the caller (external).
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_SIGNAL_H
#define INTERIM_SIGNAL_H

#include "interim/base.h"

ITM_EXTERN_C_BEGIN

typedef enum ItmSignalKind {
    ITM_SIGNAL_CONSTANT,   // value
    ITM_SIGNAL_RAMP,       // from `from` at t_start to `to` at t_end, constant outside
    ITM_SIGNAL_SINE,       // offset + amplitude sin(2 pi frequency t + phase)
    ITM_SIGNAL_TABLE,      // interpolated between points, constant outside
    ITM_SIGNAL_PIECEWISE,  // value of the last point at or before t; the first value before the first point
    ITM_SIGNAL_EXTERNAL,  // external signal of a mechanism: set during the run (itm_data_set_signal), `value` until then
} ItmSignalKind;

typedef enum ItmInterpolation {
    ITM_INTERPOLATE_LINEAR,  // continuous; the rate jumps at the points
    ITM_INTERPOLATE_CUBIC,   // natural cubic spline: continuous rate and second derivative
    ITM_INTERPOLATE_SMOOTH,  // zero rate at every point, a smooth ramp from each point to the next
} ItmInterpolation;

// Definition of a signal. The quantity that it drives determines the unit of its value.
typedef struct ItmSignalDef {
    const char* name;
    ItmSignalKind kind;
    double value;              // constant, external
    double t_start, t_end;     // ramp                                        s
    double from, to;           // ramp
    bool is_smooth;            // ramp: false, linear; true, degree five with zero rate and acceleration at both ends.
                               // external: false, jumps to each new value; true, moves linearly to it, so that
                               // it has a rate (for motions of kind position and servo targets)
    double offset, amplitude;  // sine
    double frequency;          // sine                                        Hz
    double phase;              // sine                                        rad
    const double* times;       // table, piecewise: strictly increasing (npoint)   s
    const double* values;      // table, piecewise                      (npoint)
    int npoint;                // table: at least 2; piecewise: at least 1
    ItmInterpolation interpolation;  // table
} ItmSignalDef;

// A constant 0 without a name (NULL); not smooth, so a ramp is linear.
ITM_API ItmSignalDef itm_default_signal_def(void);

// Value of an expression with units as model files have them ("2 ms", "3*0.5 bar", "sqrt(2)"), in SI units. unit (size bytes, may be
// NULL) receives its SI unit: "s", "kg m^2", "1" for an angle, or "" for a bare number. ITM_ERR_INPUT: error->message contains the reason, error->column
// the position in the text.
ITM_API ItmStatus itm_expression_evaluate(const char* text, double* value, char* unit, size_t size, ItmError* error);

ITM_EXTERN_C_END

#endif
