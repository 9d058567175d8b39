// Controllers: blocks of signals (PID, filters, limiters, look-up tables, expressions), evaluated at sample times.
//
// A builder collects named blocks; itm_control_build compiles them into an ItmControl, which never changes and may be shared
// by threads; an ItmController is one running instance of it. The inputs of a block are expressions of other blocks, of
// signals of time, of constants, and of outputs of other subsystems by their full names ("arm.cyl1.rate"): these are the
// inputs of the control, given at every step by whoever runs it. Every block's value is an output.
// docs/theory-control.md
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_CONTROL_H
#define INTERIM_CONTROL_H

#include "interim/base.h"
#include "interim/signal.h"

ITM_EXTERN_C_BEGIN

typedef struct ItmControlBuilder ItmControlBuilder;  // definitions so far
typedef struct ItmControl ItmControl;                // compiled, read-only
typedef struct ItmController ItmController;          // a running instance

// ---------------------------------------------------------------------------- blocks

// u is the value of the input, y that of the block, h the time until the next sample.
typedef enum ItmControlKind {
    ITM_CONTROL_EXPRESSION,  // y = u: gains, sums, switches, saturation
    ITM_CONTROL_PID,         // y = proportional u + integral of (integral u) + derivative u' + feed_forward
    ITM_CONTROL_INTEGRATOR,  // y = start + integral of u, held within the limits
    ITM_CONTROL_LAG,         // first-order lag: time_constant y' + y = u, exact for an input held between samples
    ITM_CONTROL_DERIVATIVE,  // rate of u behind a first-order lag, exact for an input straight between samples
    ITM_CONTROL_RATE_LIMIT,  // y follows u with y' in [-falling, rising]
    ITM_CONTROL_DELAY,       // dead time: u of `samples` samples before
    ITM_CONTROL_LOOKUP,      // y = table(u), constant outside
    ITM_CONTROL_KIND_COUNT
} ItmControlKind;

// What happens to the integral of a PID whose output is at a limit.
typedef enum ItmAntiWindup {
    ITM_WINDUP_CLAMP,     // it stands still while the error would drive it further out
    ITM_WINDUP_TRACKING,  // it is driven back with time constant tracking_time (back-calculation)
    ITM_WINDUP_NONE,      // it goes on: to compare
    ITM_WINDUP_COUNT
} ItmAntiWindup;

// Definition of a block. The fields after `upper` belong to the kinds that are named.
typedef struct ItmControlBlockDef {
    const char* name;          // letters, digits, underscores, no digit first; neither "time" nor "pi"
    ItmControlKind kind;
    const char* input;         // u, an expression, see below
    const char* unit;          // of the output, for results; NULL: not known
    double sample;             // s: evaluated at multiples of it and held in between; 0: at every step
    double lower, upper;       // limits of the output: -INFINITY, INFINITY for none
    double start;              // pid: integral part; integrator, lag, delay, rate limit: value at the start,
                               // NAN (the last three): the first input
    double proportional, integral, derivative;  // pid: gains, derivative s, integral 1/s
    const char* error_rate;    // pid: expression for u' where it is measured; NULL: differences of u
    const char* feed_forward;  // pid: expression, added before the limits; NULL: none
    ItmAntiWindup anti_windup; // pid
    double tracking_time;      // pid with tracking: s, > 0
    double time_constant;      // lag: s, > 0; derivative and pid: of the filter of the rate, s, >= 0
    double rising, falling;    // rate limit: 1/s, > 0, INFINITY: none
    int samples;               // delay: 1 to 1000000
    const double* points;      // look-up: inputs, increasing   (npoint)
    const double* values;      // look-up                       (npoint)
    int npoint;                // look-up: at least 2
    bool is_stepped;           // look-up: value of the last point reached, instead of interpolating
    ItmInterpolation interpolation;  // look-up
} ItmControlBlockDef;

// No limits, every step, start 0 (rate limit: NAN), gains 0, anti-windup by clamping, straight interpolation.
ITM_API ItmControlBlockDef itm_default_control_block_def(ItmControlKind kind);
// "expression", "pid", "integrator", "lag", "derivative", "rate-limit", "delay", "lookup"
ITM_API const char* itm_control_kind_name(ItmControlKind kind);
// "clamp", "tracking", "none"
ITM_API const char* itm_anti_windup_name(ItmAntiWindup method);

// ---------------------------------------------------------------------------- expressions

// By precedence, from what binds least:
//   or   and   not   < <= > >= == !=   + -   * /   unary + -   ^   ( )
// A comparison is 1 or 0, and whatever is not 0 is true. Functions: sin cos tan asin acos atan atan2(y, x) sqrt abs exp log
// pow(a, b) min(a, b, ...) max(a, b, ...) sign floor ceil clamp(x, lower, upper) deadband(x, width) if(condition, a, b);
// rate(s) is the time derivative of a signal s. pi and time (of the sample, s) are known; other names are blocks, signals or
// constants, in any order of definition; with a dot in it a name is an input of the control. Names with other characters than
// letters, digits, underscores and dots stand in single quotes: 'arm.left-cyl.rate'.

// ---------------------------------------------------------------------------- building

ITM_API ItmStatus itm_control_builder_create(ItmControlBuilder** builder, ItmError* error);
ITM_API void itm_control_builder_destroy(ItmControlBuilder* b);

// The name of the subsystem, so that "control.valve" inside it is its own block valve. Otherwise that would be an input.
ITM_API ItmStatus itm_control_builder_set_name(ItmControlBuilder* b, const char* name, ItmError* error);

// Each add checks its definition and copies it. Names are unique among blocks, among signals and among constants.
// ITM_ERR_INPUT: error->field names the member at fault; of an expression, error->column is the place in it, from 1.
ITM_API ItmStatus itm_control_add_signal(ItmControlBuilder* b, const ItmSignalDef* def, ItmError* error);
ITM_API ItmStatus itm_control_add_constant(ItmControlBuilder* b, const char* name, double value, ItmError* error);
// id (may be NULL): also the number of its output.
ITM_API ItmStatus itm_control_add_block(ItmControlBuilder* b, const ItmControlBlockDef* def, int* id, ItmError* error);

// Compile. ITM_ERR_INPUT: a name that nothing has, or more than one thing; an algebraic loop, whose blocks the message
// names. error->field is then "block.member", and error->column the place in its expression. The builder is not changed.
ITM_API ItmStatus itm_control_build(ItmControl** control, const ItmControlBuilder* b, ItmError* error);
ITM_API void itm_control_destroy(ItmControl* c);

typedef struct ItmControlInfo {
    int nblock;         // and outputs
    int ninput;         // outputs of other subsystems
    int nsignal;
    int nstate;         // reals of memory of all blocks
    size_t data_bytes;  // size of a running instance
} ItmControlInfo;

ITM_API ItmControlInfo itm_control_get_info(const ItmControl* c);

// Inputs: full names of outputs of other subsystems, in the order in which the blocks mention them first.
ITM_API int itm_control_get_input_count(const ItmControl* c);
ITM_API const char* itm_control_get_input_name(const ItmControl* c, int input);
ITM_API int itm_control_find_input(const ItmControl* c, const char* name);

// Outputs: the blocks, in the order in which they were added.
ITM_API int itm_control_get_output_count(const ItmControl* c);
ITM_API ItmOutputInfo itm_control_get_output_info(const ItmControl* c, int output);
ITM_API int itm_control_find_output(const ItmControl* c, const char* name);

// Whether the output at a sample depends on the input at the same sample. Where it does not, the two may stand in a loop.
ITM_API bool itm_control_is_feedthrough(const ItmControl* c, int output, int input);
// Sample time of an output's block, s; 0: every step.
ITM_API double itm_control_get_sample(const ItmControl* c, int output);

// ---------------------------------------------------------------------------- running

// One block of memory, made once: stepping allocates nothing.
ITM_API ItmStatus itm_controller_create(ItmController** controller, const ItmControl* c, ItmError* error);
ITM_API void itm_controller_destroy(ItmController* d);
// Back to the start; outputs are 0 until the first step.
ITM_API void itm_controller_reset(const ItmControl* c, ItmController* d);

// A sample at time t: first the outputs from the states, the signals at t and the inputs (ninput; NULL where there is none),
// then the states go on to t + h, h > 0, with the inputs held. The outputs stay until the next sample.
// A block with a sample time takes part when a multiple of it has been reached, and goes on by its sample time.
// ITM_ERR_NOT_FINITE: an input, output or state is not finite; error->field names it. ITM_ERR_ARGUMENT: t or h makes no sense.
// After a failure everything is as before.
ITM_API ItmStatus itm_controller_step(const ItmControl* c, ItmController* d, double t, double h, const double* inputs);
// Only the first half: the outputs at t, without going on. May be repeated.
ITM_API ItmStatus itm_controller_evaluate(const ItmControl* c, ItmController* d, double t, const double* inputs);
ITM_API const ItmError* itm_controller_get_error(const ItmController* d);

// The outputs, (nblock); they belong to the controller.
ITM_API const double* itm_controller_get_outputs(const ItmController* d);

// The whole state as bytes: restored, the controller continues bit for bit, in another instance of the same control too.
ITM_API size_t itm_controller_get_state_size(const ItmController* d);
ITM_API ItmStatus itm_controller_save(const ItmController* d, void* bytes, size_t size);
ITM_API ItmStatus itm_controller_restore(ItmController* d, const void* bytes, size_t size);

ITM_EXTERN_C_END

#endif
