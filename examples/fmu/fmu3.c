// An FMU of FMI 3.0 around a model (fmu.h): co-simulation and model exchange, arrays, a binary, states that can be saved,
// derivatives by differences. Co-simulation has event mode and early return, and asks for inputs while it integrates
// (intermediate update).
// SPDX-License-Identifier: Apache-2.0
#include "fmi3.h"
#include "instance.h"

typedef struct Instance {
    Fmu m;
    fmi3InstanceEnvironment environment;
    fmi3LogMessageCallback* log;
    fmi3IntermediateUpdateCallback* update;  // NULL: inputs are constant over a step
    bool has_events;                         // model exchange, or co-simulation with event mode
    bool can_return_early;
    FmuMode mode;
} Instance;

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
        fmu_reset(&x->m);
    }
    return x;
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String instance, fmi3String token, fmi3String resources,
                                          fmi3Boolean visible, fmi3Boolean logging, fmi3InstanceEnvironment environment,
                                          fmi3LogMessageCallback* log)
{
    (void)instance, (void)resources, (void)visible, (void)logging;
    Instance* x = instantiate(token, environment, log);
    if (x != NULL) {
        x->has_events = true;
    }
    return x;
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String instance, fmi3String token, fmi3String resources,
                                         fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean event_mode,
                                         fmi3Boolean early_return, const fmi3ValueReference intermediate[],
                                         size_t nintermediate, fmi3InstanceEnvironment environment,
                                         fmi3LogMessageCallback* log, fmi3IntermediateUpdateCallback* update)
{
    (void)instance, (void)resources, (void)visible, (void)logging, (void)intermediate;
    Instance* x = instantiate(token, environment, log);
    if (x != NULL) {
        x->has_events = event_mode;
        x->can_return_early = early_return;
        x->update = nintermediate > 0 ? update : NULL;
    }
    return x;
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
    Instance* x = c;
    fmu_compute(&x->m);
    x->mode = x->has_events ? FMU_EVENT : FMU_RUNNING;
    return fmi3OK;
}

fmi3Status fmi3Reset(fmi3Instance c)
{
    Instance* x = c;
    fmu_reset(&x->m);
    x->mode = FMU_START;
    return fmi3OK;
}

#define MODE(Name, new_mode)                                                                                           \
    fmi3Status fmi3##Name(fmi3Instance c)                                                                              \
    {                                                                                                                  \
        FMU_ENTER(c, "fmi3" #Name);                                                                                    \
        ((Instance*)c)->mode = new_mode;                                                                               \
        return fmi3OK;                                                                                                 \
    }
MODE(EnterEventMode, FMU_EVENT)
MODE(Terminate, FMU_START)
MODE(EnterConfigurationMode, FMU_START)
MODE(ExitConfigurationMode, FMU_START)
MODE(EnterContinuousTimeMode, FMU_RUNNING)
MODE(EnterStepMode, FMU_RUNNING)
MODE(EvaluateDiscreteStates, FMU_EVENT)

static fmi3Status refuse_set(Instance* x)
{
    if (x->log != NULL) {
        x->log(x->environment, fmi3Error, "model",
               "no such variable, or a discrete one that is set outside of event mode");
    }
    return fmi3Error;
}

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
            if (!fmu_may_set(refs[i], x->mode, x->has_events) || k + (size_t)fmu_variables[refs[i]].count > nvalue) {  \
                return refuse_set(x);                                                                                  \
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

fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3ValueReference refs[], size_t n, size_t sizes[], fmi3Binary values[],
                         size_t nvalue)
{
    (void)refs, (void)n;
    for (size_t i = 0; i < nvalue; i++) {
        sizes[i] = ((Instance*)c)->m.nbyte;
        values[i] = ((Instance*)c)->m.bytes;
    }
    return fmi3OK;
}

fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3ValueReference refs[], size_t n, const size_t sizes[],
                         const fmi3Binary values[], size_t nvalue)
{
    (void)refs, (void)n;
    Fmu* m = &((Instance*)c)->m;
    for (size_t i = 0; i < nvalue; i++) {
        m->nbyte = sizes[i] < FMU_BYTES ? sizes[i] : FMU_BYTES;
        memcpy(m->bytes, values[i], m->nbyte);
    }
    return fmi3OK;
}

// ---------------------------------------------------------------------------- state

fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState* state)
{
    FMU_ENTER(c, "fmi3GetFMUState");
    return fmu_save(&((Instance*)c)->m, state) ? fmi3OK : fmi3Error;
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
    fmu_free_state(state);
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
    return fmu_write_bytes(state, bytes, size) ? fmi3OK : fmi3Error;
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], size_t size, fmi3FMUState* state)
{
    (void)c;
    return fmu_read_bytes(bytes, size, state) ? fmi3OK : fmi3Error;
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t nunknown,
                                        const fmi3ValueReference knowns[], size_t nknown, const fmi3Float64 seed[],
                                        size_t nseed, fmi3Float64 sensitivity[], size_t nsensitivity)
{
    FMU_ENTER(c, "fmi3GetDirectionalDerivative");
    bool is_good = nseed == nknown && nsensitivity == nunknown &&
                   fmu_differentiate(&((Instance*)c)->m, unknowns, nunknown, knowns, nknown, seed, sensitivity);
    return is_good ? fmi3OK : fmi3Error;
}

// ---------------------------------------------------------------------------- co-simulation

static void ask_for_inputs(void* context, double t)
{
    Instance* x = context;
    fmi3Boolean is_early = false;
    fmi3Float64 early_time = t;
    x->update(x->environment, t, true, false, false, false, &is_early, &early_time);
}

fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 time, fmi3Float64 step, fmi3Boolean no_set_state_before,
                      fmi3Boolean* event_needed, fmi3Boolean* terminate, fmi3Boolean* early_return,
                      fmi3Float64* last_time)
{
    (void)no_set_state_before;
    FMU_ENTER(c, "fmi3DoStep");
    Instance* x = c;
    FmuGuest guest = {.update = x->update != NULL ? ask_for_inputs : NULL,
                      .context = x,
                      .stops_at_events = x->has_events && x->can_return_early};
    bool has_event;
    double end = fmu_integrate(&x->m, time, step, &guest, &has_event);
    *event_needed = has_event;
    *terminate = fmi3False;
    *early_return = has_event && end < time + step;
    *last_time = end;
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
    fmu_put_states(&((Instance*)c)->m, values, nx);
    return fmi3OK;
}

fmi3Status fmi3GetContinuousStates(fmi3Instance c, fmi3Float64 values[], size_t nx)
{
    fmu_get_states(&((Instance*)c)->m, values, nx);
    return fmi3OK;
}

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, fmi3Float64 values[], size_t nx)
{
    fmu_get_derivatives(&((Instance*)c)->m, values, nx);
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
    fmu_get_nominals(values, nx);
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
