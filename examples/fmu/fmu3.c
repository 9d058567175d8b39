// An FMU of FMI 3.0 around a model (fmu.h): co-simulation and model exchange, arrays, states that can be saved.
// SPDX-License-Identifier: Apache-2.0
#include "fmi3.h"
#include "fmu.h"
#include "integrate.h"

#include <stdio.h>
#include <stdlib.h>

#ifndef FMU_ENTER
#define FMU_ENTER(instance, name) ((void)(instance))
#endif

typedef struct Instance {
    Fmu m;
    fmi3InstanceEnvironment environment;
    fmi3LogMessageCallback* log;
} Instance;

#define EXPORT __attribute__((visibility("default")))
#define DECLARE(name, presence) EXPORT fmi3##name##TYPE fmi3##name;
FMI3_FUNCTIONS(DECLARE)

// ---------------------------------------------------------------------------- creation, modes

const char* fmi3GetVersion(void)
{
    return "3.0";
}

fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t n, const fmi3String categories[])
{
    (void)c, (void)on, (void)n, (void)categories;
    return fmi3OK;
}

static fmi3Instance instantiate(fmi3String token, fmi3InstanceEnvironment environment, fmi3LogMessageCallback* log)
{
    FMU_ENTER(NULL, "fmi3Instantiate");
    if (strcmp(token, fmu_token) != 0) {
        if (log != NULL) {
            log(environment, fmi3Error, "model", "the instantiation token is not that of this library");
        }
        return NULL;
    }
    Instance* x = calloc(1, sizeof *x);
    if (x != NULL) {
        x->environment = environment;
        x->log = log;
        x->m.next_event = -1.0;
        fmu_start(&x->m);
    }
    return x;
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String instance, fmi3String token, fmi3String resources,
                                          fmi3Boolean visible, fmi3Boolean logging, fmi3InstanceEnvironment environment,
                                          fmi3LogMessageCallback* log)
{
    (void)instance, (void)resources, (void)visible, (void)logging;
    return instantiate(token, environment, log);
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String instance, fmi3String token, fmi3String resources,
                                         fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean event_mode,
                                         fmi3Boolean early_return, const fmi3ValueReference intermediate[],
                                         size_t nintermediate, fmi3InstanceEnvironment environment,
                                         fmi3LogMessageCallback* log, fmi3IntermediateUpdateCallback* update)
{
    (void)instance, (void)resources, (void)visible, (void)logging, (void)event_mode, (void)early_return;
    (void)intermediate, (void)nintermediate, (void)update;
    return instantiate(token, environment, log);
}

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String instance, fmi3String token, fmi3String resources,
                                               fmi3Boolean visible, fmi3Boolean logging,
                                               fmi3InstanceEnvironment environment, fmi3LogMessageCallback* log,
                                               fmi3ClockUpdateCallback* update, fmi3LockPreemptionCallback* lock,
                                               fmi3UnlockPreemptionCallback* unlock)
{
    (void)instance, (void)token, (void)resources, (void)visible, (void)logging, (void)environment, (void)log;
    (void)update, (void)lock, (void)unlock;
    return NULL;
}

void fmi3FreeInstance(fmi3Instance c)
{
    FMU_ENTER(c, "fmi3FreeInstance");
    free(c);
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean has_tolerance, fmi3Float64 tolerance,
                                       fmi3Float64 start, fmi3Boolean has_stop, fmi3Float64 stop)
{
    (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
    FMU_ENTER(c, "fmi3EnterInitializationMode");
    ((Instance*)c)->m.time = start;
    return fmi3OK;
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance c)
{
    FMU_ENTER(c, "fmi3ExitInitializationMode");
    fmu_compute(&((Instance*)c)->m);
    return fmi3OK;
}

fmi3Status fmi3Reset(fmi3Instance c)
{
    Instance* x = c;
    memset(&x->m, 0, sizeof x->m);
    x->m.next_event = -1.0;
    fmu_start(&x->m);
    return fmi3OK;
}

#define MODE(Name)                                                                                                     \
    fmi3Status fmi3##Name(fmi3Instance c)                                                                              \
    {                                                                                                                  \
        FMU_ENTER(c, "fmi3" #Name);                                                                                    \
        (void)c;                                                                                                       \
        return fmi3OK;                                                                                                 \
    }
MODE(EnterEventMode)
MODE(Terminate)
MODE(EnterConfigurationMode)
MODE(ExitConfigurationMode)
MODE(EnterContinuousTimeMode)
MODE(EnterStepMode)
MODE(EvaluateDiscreteStates)

// ---------------------------------------------------------------------------- variables

#define ACCESS(Name, type)                                                                                             \
    fmi3Status fmi3Get##Name(fmi3Instance c, const fmi3ValueReference refs[], size_t n, type values[], size_t nvalue)  \
    {                                                                                                                  \
        FMU_ENTER(c, "fmi3Get" #Name);                                                                                 \
        Instance* x = c;                                                                                               \
        size_t k = 0;                                                                                                  \
        fmu_compute(&x->m);                                                                                            \
        for (size_t i = 0; i < n; i++) {                                                                               \
            if (refs[i] >= (unsigned)fmu_nvariable || k + (size_t)fmu_variables[refs[i]].count > nvalue) {             \
                return fmi3Error;                                                                                      \
            }                                                                                                          \
            for (int j = 0; j < fmu_variables[refs[i]].count; j++) {                                                   \
                values[k++] = (type)x->m.r[fmu_variables[refs[i]].at + j];                                             \
            }                                                                                                          \
        }                                                                                                              \
        return k == nvalue ? fmi3OK : fmi3Error;                                                                       \
    }                                                                                                                  \
    fmi3Status fmi3Set##Name(fmi3Instance c, const fmi3ValueReference refs[], size_t n, const type values[],           \
                             size_t nvalue)                                                                            \
    {                                                                                                                  \
        FMU_ENTER(c, "fmi3Set" #Name);                                                                                 \
        Instance* x = c;                                                                                               \
        size_t k = 0;                                                                                                  \
        for (size_t i = 0; i < n; i++) {                                                                               \
            if (refs[i] >= (unsigned)fmu_nvariable || k + (size_t)fmu_variables[refs[i]].count > nvalue) {             \
                return fmi3Error;                                                                                      \
            }                                                                                                          \
            for (int j = 0; j < fmu_variables[refs[i]].count; j++) {                                                   \
                x->m.r[fmu_variables[refs[i]].at + j] = (double)values[k++];                                           \
            }                                                                                                          \
        }                                                                                                              \
        return k == nvalue ? fmi3OK : fmi3Error;                                                                       \
    }
ACCESS(Float32, fmi3Float32)
ACCESS(Float64, fmi3Float64)
ACCESS(Int8, fmi3Int8)
ACCESS(UInt8, fmi3UInt8)
ACCESS(Int16, fmi3Int16)
ACCESS(UInt16, fmi3UInt16)
ACCESS(Int32, fmi3Int32)
ACCESS(UInt32, fmi3UInt32)
ACCESS(Int64, fmi3Int64)
ACCESS(UInt64, fmi3UInt64)
ACCESS(Boolean, fmi3Boolean)

fmi3Status fmi3GetString(fmi3Instance c, const fmi3ValueReference refs[], size_t n, fmi3String values[], size_t nvalue)
{
    (void)refs, (void)n;
    for (size_t i = 0; i < nvalue; i++) {
        values[i] = ((Instance*)c)->m.text;
    }
    return fmi3OK;
}

fmi3Status fmi3SetString(fmi3Instance c, const fmi3ValueReference refs[], size_t n, const fmi3String values[],
                         size_t nvalue)
{
    (void)refs, (void)n;
    for (size_t i = 0; i < nvalue; i++) {
        snprintf(((Instance*)c)->m.text, FMU_TEXT, "%s", values[i]);
    }
    return fmi3OK;
}

// ---------------------------------------------------------------------------- state

fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState* state)
{
    FMU_ENTER(c, "fmi3GetFMUState");
    Fmu* copy = *state != NULL ? *state : malloc(sizeof *copy);
    if (copy == NULL) {
        return fmi3Error;
    }
    *copy = ((Instance*)c)->m;
    *state = copy;
    return fmi3OK;
}

fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState state)
{
    FMU_ENTER(c, "fmi3SetFMUState");
    ((Instance*)c)->m = *(const Fmu*)state;
    return fmi3OK;
}

fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState* state)
{
    (void)c;
    free(*state);
    *state = NULL;
    return fmi3OK;
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState state, size_t* size)
{
    (void)c, (void)state;
    *size = sizeof(Fmu);
    return fmi3OK;
}

fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    (void)c;
    memcpy(bytes, state, size < sizeof(Fmu) ? size : sizeof(Fmu));
    return fmi3OK;
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], size_t size, fmi3FMUState* state)
{
    (void)c;
    Fmu* copy = *state != NULL ? *state : malloc(sizeof *copy);
    if (copy == NULL || size != sizeof *copy) {
        return fmi3Error;
    }
    memcpy(copy, bytes, size);
    *state = copy;
    return fmi3OK;
}

// ---------------------------------------------------------------------------- co-simulation

fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 time, fmi3Float64 step, fmi3Boolean no_set_state_before,
                      fmi3Boolean* event_needed, fmi3Boolean* terminate, fmi3Boolean* early_return,
                      fmi3Float64* last_time)
{
    (void)no_set_state_before;
    FMU_ENTER(c, "fmi3DoStep");
    fmu_integrate(&((Instance*)c)->m, time, step);
    *event_needed = *terminate = *early_return = fmi3False;
    *last_time = time + step;
    return fmi3OK;
}

// ---------------------------------------------------------------------------- model exchange

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean* needs_update, fmi3Boolean* terminate,
                                    fmi3Boolean* nominals_changed, fmi3Boolean* states_changed,
                                    fmi3Boolean* has_next_event, fmi3Float64* next_event)
{
    Instance* x = c;
    fmu_compute(&x->m);
    *states_changed = fmu_handle_event(&x->m);
    *needs_update = *terminate = *nominals_changed = fmi3False;
    *has_next_event = x->m.next_event >= 0.0;
    *next_event = x->m.next_event;
    return fmi3OK;
}

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean no_set_state_before, fmi3Boolean* event,
                                       fmi3Boolean* over)
{
    (void)c, (void)no_set_state_before;
    *event = *over = fmi3False;
    return fmi3OK;
}

fmi3Status fmi3SetTime(fmi3Instance c, fmi3Float64 time)
{
    ((Instance*)c)->m.time = time;
    return fmi3OK;
}

fmi3Status fmi3SetContinuousStates(fmi3Instance c, const fmi3Float64 values[], size_t nx)
{
    for (size_t i = 0; i < nx; i++) {
        ((Instance*)c)->m.r[fmu_states[i]] = values[i];
    }
    return fmi3OK;
}

fmi3Status fmi3GetContinuousStates(fmi3Instance c, fmi3Float64 values[], size_t nx)
{
    for (size_t i = 0; i < nx; i++) {
        values[i] = ((Instance*)c)->m.r[fmu_states[i]];
    }
    return fmi3OK;
}

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, fmi3Float64 values[], size_t nx)
{
    fmu_compute(&((Instance*)c)->m);
    for (size_t i = 0; i < nx; i++) {
        values[i] = ((Instance*)c)->m.r[fmu_derivatives[i]];
    }
    return fmi3OK;
}

fmi3Status fmi3GetEventIndicators(fmi3Instance c, fmi3Float64 z[], size_t nz)
{
    (void)nz;
    fmu_compute(&((Instance*)c)->m);
    fmu_indicate(&((Instance*)c)->m, z);
    return fmi3OK;
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance c, fmi3Float64 values[], size_t nx)
{
    (void)c;
    for (size_t i = 0; i < nx; i++) {
        values[i] = 1.0;
    }
    return fmi3OK;
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t* nx)
{
    (void)c;
    *nx = (size_t)fmu_nx;
    return fmi3OK;
}

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t* nz)
{
    (void)c;
    *nz = (size_t)fmu_nz;
    return fmi3OK;
}

// ---------------------------------------------------------------------------- derivatives

// By central differences.
fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t nunknown,
                                        const fmi3ValueReference knowns[], size_t nknown, const fmi3Float64 seed[],
                                        size_t nseed, fmi3Float64 sensitivity[], size_t nsensitivity)
{
    Instance* x = c;
    Fmu before = x->m;
    double scale = 1e-6;
    bool is_good = nseed == nknown && nsensitivity == nunknown;
    for (size_t i = 0; i < nknown + nunknown && is_good; i++) {
        is_good = (i < nknown ? knowns[i] : unknowns[i - nknown]) < (unsigned)fmu_nvariable;
    }
    for (int side = 0; side < 2 && is_good; side++) {
        x->m = before;
        for (size_t i = 0; i < nknown; i++) {
            x->m.r[fmu_variables[knowns[i]].at] += (side == 0 ? scale : -scale) * seed[i];
        }
        fmu_compute(&x->m);
        for (size_t i = 0; i < nunknown; i++) {
            double value = x->m.r[fmu_variables[unknowns[i]].at];
            sensitivity[i] = side == 0 ? value : (sensitivity[i] - value) / (2.0 * scale);
        }
    }
    x->m = before;
    return is_good ? fmi3OK : fmi3Error;
}

// ---------------------------------------------------------------------------- not offered: every function must be there

#define ABSENT(Name, arguments)                                                                                        \
    fmi3Status fmi3##Name arguments                                                                                    \
    {                                                                                                                  \
        (void)c;                                                                                                       \
        return fmi3Error;                                                                                              \
    }
#define REFS const fmi3ValueReference refs[], size_t n
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
ABSENT(GetBinary, (fmi3Instance c, REFS, size_t sizes[], fmi3Binary values[], size_t nvalue))
ABSENT(SetBinary, (fmi3Instance c, REFS, const size_t sizes[], const fmi3Binary values[], size_t nvalue))
ABSENT(GetClock, (fmi3Instance c, REFS, fmi3Clock values[]))
ABSENT(SetClock, (fmi3Instance c, REFS, const fmi3Clock values[]))
ABSENT(GetNumberOfVariableDependencies, (fmi3Instance c, fmi3ValueReference ref, size_t* n))
ABSENT(GetVariableDependencies, (fmi3Instance c, fmi3ValueReference ref, size_t e[], fmi3ValueReference i[], size_t f[],
                                 fmi3DependencyKind kinds[], size_t n))
ABSENT(GetAdjointDerivative, (fmi3Instance c, REFS, const fmi3ValueReference knowns[], size_t nk,
                              const fmi3Float64 seed[], size_t ns, fmi3Float64 s[], size_t nu))
ABSENT(GetIntervalDecimal, (fmi3Instance c, REFS, fmi3Float64 v[], fmi3IntervalQualifier q[]))
ABSENT(GetIntervalFraction, (fmi3Instance c, REFS, fmi3UInt64 v[], fmi3UInt64 w[], fmi3IntervalQualifier q[]))
ABSENT(GetShiftDecimal, (fmi3Instance c, REFS, fmi3Float64 v[]))
ABSENT(GetShiftFraction, (fmi3Instance c, REFS, fmi3UInt64 v[], fmi3UInt64 w[]))
ABSENT(SetIntervalDecimal, (fmi3Instance c, REFS, const fmi3Float64 v[]))
ABSENT(SetIntervalFraction, (fmi3Instance c, REFS, const fmi3UInt64 v[], const fmi3UInt64 w[]))
ABSENT(SetShiftDecimal, (fmi3Instance c, REFS, const fmi3Float64 v[]))
ABSENT(SetShiftFraction, (fmi3Instance c, REFS, const fmi3UInt64 v[], const fmi3UInt64 w[]))
ABSENT(GetOutputDerivatives, (fmi3Instance c, REFS, const fmi3Int32 orders[], fmi3Float64 v[], size_t nvalue))
ABSENT(ActivateModelPartition, (fmi3Instance c, fmi3ValueReference clock, fmi3Float64 time))
#pragma GCC diagnostic pop
