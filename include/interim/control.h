// Controllers: blocks (PID, filters, limiters, look-up tables, expressions) evaluated at sample times.
//
// A builder collects named blocks. itm_control_build compiles them into an ItmControl, which is immutable and may be shared
// by threads. An ItmController is one instance of it. The inputs of a block are expressions of other blocks,
// signals of time, constants, and outputs of other subsystems by their full names ("arm.cyl1.rate"). The latter are the
// inputs of the control; the caller passes their values at every step. The value of every block is an output.
// docs/theory-control.md
//
// Threads: an ItmControl is read-only; any number of threads may share it. One thread at a time uses an ItmController or a
// builder, reading included.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_CONTROL_H
#define INTERIM_CONTROL_H

#include "interim/base.h"
#include "interim/signal.h"

ITM_EXTERN_C_BEGIN

typedef struct ItmControlBuilder ItmControlBuilder;  // collects definitions
typedef struct ItmControl ItmControl;                // compiled, read-only
typedef struct ItmController ItmController;          // an instance with its state

// ---------------------------------------------------------------------------- blocks

// u is the value of the input, y the value of the block, h the time to the next sample.
typedef enum ItmControlKind {
    ITM_CONTROL_EXPRESSION,  // y = u: gains, sums, switches, saturation
    ITM_CONTROL_PID,         // y = proportional u + integral of (integral u) + derivative du/dt + feed_forward
    ITM_CONTROL_INTEGRATOR,  // y = start + integral of u, clamped to the limits
    ITM_CONTROL_LAG,         // first-order lag: time_constant dy/dt + y = u, exact for an input held between samples
    ITM_CONTROL_DERIVATIVE,  // rate of u with a first-order filter, exact for an input that is linear between samples
    ITM_CONTROL_RATE_LIMIT,  // y follows u with dy/dt in [-falling, rising]
    ITM_CONTROL_DELAY,       // dead time: u delayed by `samples` samples
    ITM_CONTROL_LOOKUP,      // y = table(u), constant outside
    ITM_CONTROL_KIND_COUNT
} ItmControlKind;

// Anti-windup: treatment of the integral of a PID while its output is at a limit.
typedef enum ItmAntiWindup {
    ITM_WINDUP_CLAMP,     // stops while the error would drive the output further beyond the limit
    ITM_WINDUP_TRACKING,  // back-calculation with time constant tracking_time
    ITM_WINDUP_NONE,      // continues; for comparison
    ITM_WINDUP_COUNT
} ItmAntiWindup;

// Definition of a block. The fields after `upper` apply only to the kinds named in their comments.
typedef struct ItmControlBlockDef {
    const char* name;  // letters, digits, underscores, not starting with a digit; neither "time" nor "pi"
    ItmControlKind kind;
    const char* input;    // u, an expression, see below
    const char* unit;     // of the output, for results; NULL: unknown
    double sample;        // sample time, s: evaluated at its multiples and held in between; 0: every step
    double lower, upper;  // limits of the output; -INFINITY, INFINITY: none
    double start;         // pid: integral part; integrator, lag, delay, rate limit: initial value,
                          // NAN (the last three): the first input
    double proportional, integral, derivative;  // pid: gains, derivative s, integral 1/s
    const char* error_rate;                     // pid: expression for du/dt if it is measured; NULL: differences of u
    const char* feed_forward;                   // pid: expression, added before the limits; NULL: none
    ItmAntiWindup anti_windup;                  // pid
    double tracking_time;                       // pid with tracking: s, > 0
    double time_constant;                       // lag: s, > 0; derivative and pid: of the rate filter, s, >= 0
    double rising, falling;                     // rate limit: 1/s, > 0, INFINITY: none
    int samples;                                // delay: 1 to 1000000
    const double* points;                       // look-up: inputs, increasing   (npoint)
    const double* values;                       // look-up                       (npoint)
    int npoint;                                 // look-up: at least 2
    bool is_stepped;                            // look-up: value of the last point reached instead of interpolation
    ItmInterpolation interpolation;             // look-up
} ItmControlBlockDef;

// Default block: no limits, every step, start 0 (rate limit: NAN), gains 0, anti-windup by clamping, linear interpolation.
ITM_API ItmControlBlockDef itm_default_control_block_def(ItmControlKind kind);
// "expression", "pid", "integrator", "lag", "derivative", "rate-limit", "delay", "lookup"
ITM_API const char* itm_control_kind_name(ItmControlKind kind);
// "clamp", "tracking", "none"
ITM_API const char* itm_control_anti_windup_name(ItmAntiWindup method);

// ---------------------------------------------------------------------------- expressions

// Operators, from lowest to highest precedence:
//   or   and   not   < <= > >= == !=   + -   * /   unary + -   ^   ( )
// A comparison is 1 or 0; any nonzero value is true. Functions: sin cos tan asin acos atan atan2(y, x) sqrt abs exp log
// pow(a, b) min(a, b, ...) max(a, b, ...) sign floor ceil clamp(x, lower, upper) deadband(x, width) if(condition, a, b);
// rate(s) is the time derivative of a signal s. pi and time (of the sample, s) are predefined. Other names are blocks, signals
// or constants, in any order of definition; a name with a dot is an input of the control. Names with characters other than
// letters, digits, underscores and dots need single quotes: 'arm.left-cyl.rate'.

// ---------------------------------------------------------------------------- building

// Create an empty builder.
ITM_API ItmStatus itm_control_builder_create(ItmControlBuilder** builder, ItmError* error);
// Free a builder; NULL is allowed.
ITM_API void itm_control_builder_destroy(ItmControlBuilder* b);

// Set the name of the subsystem. With the name "control", "control.valve" is its own block valve; otherwise it is an input.
ITM_API ItmStatus itm_control_builder_set_name(ItmControlBuilder* b, const char* name, ItmError* error);

// Each itm_control_add_ function checks the definition and copies it. Names are unique among blocks, among signals and among constants.
// ITM_ERR_INPUT: error->field is the invalid field; in an expression, error->column is the position, from 1.

// Add a signal of time.
ITM_API ItmStatus itm_control_builder_add_signal(ItmControlBuilder* b, const ItmSignalDef* def, ItmError* error);
// Add a named constant.
ITM_API ItmStatus itm_control_builder_add_constant(ItmControlBuilder* b, const char* name, double value,
                                                   ItmError* error);
// Add a block. id (may be NULL) is also the index of its output.
ITM_API ItmStatus itm_control_builder_add_block(ItmControlBuilder* b, const ItmControlBlockDef* def, int* id,
                                                ItmError* error);

// Compile a control. ITM_ERR_INPUT: an unknown or ambiguous name, or an algebraic loop; the message lists its blocks.
// error->field is then "block.field", and error->column the position in its expression. The builder is not changed.
ITM_API ItmStatus itm_control_build(ItmControl** control, const ItmControlBuilder* b, ItmError* error);
// Free a control; NULL is allowed.
ITM_API void itm_control_destroy(ItmControl* c);

typedef struct ItmControlInfo {
    int nblock;  // blocks, and outputs
    int ninput;  // outputs of other subsystems
    int nsignal;
    int nstate;         // state variables of all blocks
    size_t data_bytes;  // size of an instance
} ItmControlInfo;

// Sizes of a control.
ITM_API ItmControlInfo itm_control_get_info(const ItmControl* c);

// Number of inputs. Inputs are outputs of other subsystems, in the order in which the blocks first use them.
ITM_API int itm_control_get_input_count(const ItmControl* c);
// Full name of an input ("arm.cyl1.rate"); NULL if there is no such input.
ITM_API const char* itm_control_get_input_name(const ItmControl* c, int input);
// Index of an input by its full name, or ITM_NONE.
ITM_API int itm_control_find_input(const ItmControl* c, const char* name);

// Number of outputs. Outputs are the blocks, in the order in which they were added.
ITM_API int itm_control_get_output_count(const ItmControl* c);
// Name, unit and description of an output; all NULL if there is no such output.
ITM_API ItmOutputInfo itm_control_get_output_info(const ItmControl* c, int output);
// Index of an output by the name of its block, or ITM_NONE.
ITM_API int itm_control_find_output(const ItmControl* c, const char* name);

// Whether the output at a sample depends on the input at the same sample. If not, the two may be part of a loop.
ITM_API bool itm_control_is_feedthrough(const ItmControl* c, int output, int input);
// Sample time of an output's block, s; 0: every step.
ITM_API double itm_control_get_sample(const ItmControl* c, int output);

// ---------------------------------------------------------------------------- running

// Create an instance as one block of memory; stepping allocates nothing.
ITM_API ItmStatus itm_controller_create(ItmController** controller, const ItmControl* c, ItmError* error);
// Free a controller; NULL is allowed.
ITM_API void itm_controller_destroy(ItmController* d);
// Reset to the initial state; outputs are 0 until the first step.
ITM_API void itm_controller_reset(const ItmControl* c, ItmController* d);

// Compute a sample at time t: first the outputs from the states, the signals at t and the inputs (ninput; NULL if there are
// none), then the states at t + h, h > 0, with constant inputs. The outputs keep their values until the next sample.
// A block with a sample time is evaluated at its multiples and advances by its sample time.
// ITM_ERR_NOT_FINITE: an input, output or state is not finite; error->field names it. ITM_ERR_ARGUMENT: invalid t or h.
// On failure the state is unchanged.
ITM_API ItmStatus itm_controller_step(const ItmControl* c, ItmController* d, double t, double h, const double* inputs);
// Compute only the outputs at t and keep the states. May be repeated.
ITM_API ItmStatus itm_controller_evaluate(const ItmControl* c, ItmController* d, double t, const double* inputs);
// The last error of this controller.
ITM_API const ItmError* itm_controller_get_error(const ItmController* d);

// The outputs (nblock); the controller owns the array.
ITM_API const double* itm_controller_get_outputs(const ItmController* d);

// Size of the saved state in bytes. A restored controller continues bit for bit, also in another instance of the same control.
ITM_API size_t itm_controller_get_state_size(const ItmController* d);
// Save the state; size must be itm_controller_get_state_size.
ITM_API ItmStatus itm_controller_save(const ItmController* d, void* bytes, size_t size);
// Restore a saved state. ITM_ERR_ARGUMENT: wrong size.
ITM_API ItmStatus itm_controller_restore(ItmController* d, const void* bytes, size_t size);

ITM_EXTERN_C_END

#endif
