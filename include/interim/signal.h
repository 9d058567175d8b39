// Signals: functions of time that drive motions, forces and actuators, known beforehand or told from outside.
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
    ITM_SIGNAL_PIECEWISE,  // value of the last point whose time has come; first value before that
    ITM_SIGNAL_OUTSIDE,    // of a mechanism: told while it runs (itm_data_set_signal), `value` until then
} ItmSignalKind;

typedef enum ItmInterpolation {
    ITM_INTERPOLATE_LINEAR,  // continuous; rate jumps at the points
    ITM_INTERPOLATE_CUBIC,   // natural cubic spline: rate and second derivative are continuous
    ITM_INTERPOLATE_SMOOTH,  // at rest in every point, a smooth ramp from each to the next
} ItmInterpolation;

// Definition of a signal; the unit of its value is that of what it drives.
typedef struct ItmSignalDef {
    const char* name;
    ItmSignalKind kind;
    double value;                            // constant, outside
    double t_start, t_end;                   // ramp                                        s
    double from, to;                         // ramp
    bool is_smooth;                          // ramp: false, straight; true, degree five with zero rate and acceleration at both ends.
                                             // outside: false, jumps to each value it is given; true, moves straight to it, so that
                                             // it has a rate (for motions of kind position and targets of servos)
    double offset, amplitude;                // sine
    double frequency;                        // sine                                        Hz
    double phase;                            // sine                                        rad
    const double* times;                     // table, piecewise: strictly increasing (npoint)   s
    const double* values;                    // table, piecewise                      (npoint)
    int npoint;                              // table: at least 2; piecewise: at least 1
    ItmInterpolation interpolation;          // table
} ItmSignalDef;

// A constant of value 0, named NULL; not smooth: turned into a ramp, it is straight.
ITM_API ItmSignalDef itm_default_signal_def(void);

ITM_EXTERN_C_END

#endif
