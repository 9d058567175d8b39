// Co-simulation of a mechanism with a hydraulic circuit: they meet every macro step H, the circuit takes micro steps h in
// between, and nothing is iterated or stepped twice.
//
// The mechanism's line actuators are the interfaces: lengths and rates go to the cylinders, their forces come back. In
// between the circuit sees a reduced interface model of the mechanism (coupling rim), or predicted rates (zoh, linear).
// docs/theory-cosim.md says what is solved, and what sets H.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_COSIM_H
#define INTERIM_COSIM_H

#include "interim/base.h"
#include "interim/data.h"
#include "interim/hydraulics.h"

ITM_EXTERN_C_BEGIN

typedef struct ItmCosim ItmCosim;

// What stands in for the mechanism between two communication points.
typedef enum ItmCoupling {
    ITM_COUPLING_ZOH,     // its rates of the last point, held
    ITM_COUPLING_LINEAR,  // its rates extrapolated from the last two points
    ITM_COUPLING_RIM,     // its reduced interface model
    ITM_COUPLING_COUNT
} ItmCoupling;

// What the mechanism is given for its macro step.
typedef enum ItmExchange {
    ITM_EXCHANGE_IMPULSE,  // impulse and first moment of the interface forces over this step; with coupling rim
    ITM_EXCHANGE_HOLD,     // the force of the last micro step of the step before, held (papers); always with zoh, linear
    ITM_EXCHANGE_COUNT
} ItmExchange;

typedef struct ItmCosimOptions {
    double macro_step;               // H, s; a multiple of the micro step
    double micro_step;               // h, s
    ItmCoupling coupling;
    ItmExchange exchange;            // taken for coupling rim; zoh and linear always hold
    ItmHydraulicOptions hydraulics;  // integrator of the micro steps; euler: the interface model takes semi-implicit Euler
                                     // steps, otherwise Heun's (order 2)
} ItmCosimOptions;

// 10 ms and 0.1 ms, rim, impulse, hydraulics by RK4 with ledger.
ITM_API ItmCosimOptions itm_default_cosim_options(void);
// "zoh", "linear", "rim"; "impulse", "hold"
ITM_API const char* itm_coupling_name(ItmCoupling coupling);
ITM_API const char* itm_exchange_name(ItmExchange exchange);

// A line actuator of the model that is a cylinder of the circuit.
typedef struct ItmCosimPair {
    int actuator, cylinder;
} ItmCosimPair;

// Model and circuit must outlive the result. step (NULL: defaults): stepper and tolerances of the mechanism, its step is
// replaced by the macro step. options NULL: the defaults. pairs (npair, at least 1); cylinders without a pair stand still or
// follow their motion signal.
// ITM_ERR_INPUT: error->field names the option or pair at fault: H no multiple of h, an actuator or cylinder that does not
// exist, is paired twice or follows a signal, a length outside the cylinder's stroke.
// ITM_ERR_UNSUPPORTED: coupling rim with a stepper other than semi-implicit Euler.
ITM_API ItmStatus itm_cosim_create(ItmCosim** cosim, const ItmModel* m, const ItmStepOptions* step, const ItmCircuit* c,
                                   const ItmCosimPair* pairs, int npair, const ItmCosimOptions* options,
                                   ItmError* error);
ITM_API void itm_cosim_destroy(ItmCosim* cosim);
// Both parts back to their starts, time 0.
ITM_API void itm_cosim_reset(ItmCosim* cosim);

// One macro step. On failure everything is as it was before; itm_cosim_get_error says why, its field names the signal that
// went first: ITM_ERR_NOT_FINITE or ITM_ERR_DIVERGED (a piston left its stroke).
ITM_API ItmStatus itm_cosim_step(ItmCosim* cosim);
ITM_API const ItmError* itm_cosim_get_error(const ItmCosim* cosim);

// Time is macro steps * H, exactly one rounding.
ITM_API double itm_cosim_get_time(const ItmCosim* cosim);
// The running parts, to look at or to set inputs of. They must not be stepped on their own.
ITM_API ItmData* itm_cosim_get_data(ItmCosim* cosim);
ITM_API ItmHydraulics* itm_cosim_get_hydraulics(ItmCosim* cosim);

// An interface at the present communication point.
typedef struct ItmInterfaceState {
    double length;   // m
    double rate;     // m/s
    double force;    // of the cylinder, push > 0, at the end of the last micro step, N
    double impulse;  // over the last macro step, N s
} ItmInterfaceState;
ITM_API ItmInterfaceState itm_cosim_get_interface(ItmCosim* cosim, int pair);

// The whole coupled state as bytes: restored, the simulation continues bit for bit, in another instance of the same model,
// circuit and options too.
ITM_API size_t itm_cosim_get_state_size(const ItmCosim* cosim);
ITM_API ItmStatus itm_cosim_save(const ItmCosim* cosim, void* bytes, size_t size);
ITM_API ItmStatus itm_cosim_restore(ItmCosim* cosim, const void* bytes, size_t size);

ITM_EXTERN_C_END

#endif
