// An FMU of FMI 2.0 around a model (fmu.h): co-simulation and model exchange, states that can be saved, derivatives by
// differences.
// SPDX-License-Identifier: Apache-2.0
#include "fmi2.h"
#include "instance.h"

typedef struct Instance {
    Fmu m;
    fmi2CallbackFunctions callbacks;
    char name[64];
    bool is_logging, is_exchange;
    FmuMode mode;
} Instance;

#define DECLARE(name, presence) EXPORT fmi2##name##TYPE fmi2##name;
FMI2_FUNCTIONS(DECLARE)

static void say(Instance* x, fmi2Status status, const char* text)
{
    if (x->callbacks.logger != NULL) {
        x->callbacks.logger(x->callbacks.componentEnvironment, x->name, status, "model", "%s", text);
    }
}

// ---------------------------------------------------------------------------- creation, modes

const char* fmi2GetTypesPlatform(void)
{
    return "default";
}

const char* fmi2GetVersion(void)
{
    return "2.0";
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[])
{
    (void)n, (void)categories;
    ((Instance*)c)->is_logging = on;
    return fmi2OK;
}

fmi2Component fmi2Instantiate(fmi2String instance, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions* callbacks, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)resources, (void)visible;
    FMU_ENTER(NULL, "fmi2Instantiate");
    Instance* x = calloc(1, sizeof *x);
    if (x == NULL) {
        return NULL;
    }
    x->callbacks = *callbacks;
    x->is_logging = logging;
    x->is_exchange = type == fmi2ModelExchange;
    snprintf(x->name, sizeof x->name, "%s", instance);
    if (strcmp(guid, fmu_token) != 0) {
        say(x, fmi2Error, "the GUID is not that of this library");
        free(x);
        return NULL;
    }
    fmu_reset(&x->m);
    return x;
}

void fmi2FreeInstance(fmi2Component c)
{
    FMU_ENTER(c, "fmi2FreeInstance");
    free(c);
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean has_stop, fmi2Real stop)
{
    (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
    FMU_ENTER(c, "fmi2SetupExperiment");
    ((Instance*)c)->m.time = start;
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    FMU_ENTER(c, "fmi2EnterInitializationMode");
    return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    FMU_ENTER(c, "fmi2ExitInitializationMode");
    Instance* x = c;
    fmu_compute(&x->m);
    x->mode = x->is_exchange ? FMU_EVENT : FMU_RUNNING;
    return fmi2OK;
}

fmi2Status fmi2Terminate(fmi2Component c)
{
    FMU_ENTER(c, "fmi2Terminate");
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c)
{
    Instance* x = c;
    fmu_reset(&x->m);
    x->mode = FMU_START;
    return fmi2OK;
}

// ---------------------------------------------------------------------------- variables

static double* find(Instance* x, fmi2ValueReference reference)
{
    return reference < (unsigned)fmu_nvariable ? &x->m.r[fmu_variables[reference].at] : NULL;
}

#define ACCESS(Name, type)                                                                                             \
    fmi2Status fmi2Get##Name(fmi2Component c, const fmi2ValueReference refs[], size_t n, type values[])                \
    {                                                                                                                  \
        FMU_ENTER(c, "fmi2Get" #Name);                                                                                 \
        fmu_compute(&((Instance*)c)->m);                                                                               \
        for (size_t i = 0; i < n; i++) {                                                                               \
            const double* at = find(c, refs[i]);                                                                       \
            if (at == NULL) {                                                                                          \
                return fmi2Error;                                                                                      \
            }                                                                                                          \
            values[i] = (type)*at;                                                                                     \
        }                                                                                                              \
        return fmi2OK;                                                                                                 \
    }                                                                                                                  \
    fmi2Status fmi2Set##Name(fmi2Component c, const fmi2ValueReference refs[], size_t n, const type values[])          \
    {                                                                                                                  \
        FMU_ENTER(c, "fmi2Set" #Name);                                                                                 \
        for (size_t i = 0; i < n; i++) {                                                                               \
            Instance* x = c;                                                                                           \
            if (!fmu_may_set(refs[i], x->mode, x->is_exchange)) {                                                      \
                say(x, fmi2Error, "a discrete variable can be set in event mode only");                                \
                return fmi2Error;                                                                                      \
            }                                                                                                          \
            *find(x, refs[i]) = (double)values[i];                                                                     \
        }                                                                                                              \
        return fmi2OK;                                                                                                 \
    }
ACCESS(Real, fmi2Real)
ACCESS(Integer, fmi2Integer)
ACCESS(Boolean, fmi2Boolean)

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference refs[], size_t n, fmi2String values[])
{
    (void)refs;
    for (size_t i = 0; i < n; i++) {
        values[i] = ((Instance*)c)->m.text;
    }
    return fmi2OK;
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference refs[], size_t n, const fmi2String values[])
{
    (void)refs;
    for (size_t i = 0; i < n; i++) {
        snprintf(((Instance*)c)->m.text, FMU_TEXT, "%s", values[i]);
    }
    return fmi2OK;
}

// ---------------------------------------------------------------------------- state, derivatives

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate* state)
{
    FMU_ENTER(c, "fmi2GetFMUstate");
    return fmu_save(&((Instance*)c)->m, state) ? fmi2OK : fmi2Error;
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
{
    FMU_ENTER(c, "fmi2SetFMUstate");
    ((Instance*)c)->m = *(const Fmu*)state;
    return fmi2OK;
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate* state)
{
    (void)c;
    fmu_free_state(state);
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t* size)
{
    (void)c, (void)state;
    *size = sizeof(Fmu);
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    (void)c;
    return fmu_write_bytes(state, bytes, size) ? fmi2OK : fmi2Error;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate* state)
{
    (void)c;
    return fmu_read_bytes(bytes, size, state) ? fmi2OK : fmi2Error;
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknowns[], size_t nunknown,
                                        const fmi2ValueReference knowns[], size_t nknown, const fmi2Real seed[],
                                        fmi2Real sensitivity[])
{
    FMU_ENTER(c, "fmi2GetDirectionalDerivative");
    bool is_good = fmu_differentiate(&((Instance*)c)->m, unknowns, nunknown, knowns, nknown, seed, sensitivity);
    return is_good ? fmi2OK : fmi2Error;
}

// ---------------------------------------------------------------------------- co-simulation

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real time, fmi2Real step, fmi2Boolean no_set_state_before)
{
    (void)no_set_state_before;
    FMU_ENTER(c, "fmi2DoStep");
    bool has_event;
    fmu_integrate(&((Instance*)c)->m, time, step, &(FmuGuest){NULL, NULL, false}, &has_event);
    return fmi2OK;
}

fmi2Status fmi2CancelStep(fmi2Component c)
{
    (void)c;
    return fmi2Error;
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference refs[], size_t n,
                                       const fmi2Integer order[], const fmi2Real values[])
{
    (void)c, (void)refs, (void)n, (void)order, (void)values;
    return fmi2Error;
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference refs[], size_t n,
                                        const fmi2Integer order[], fmi2Real values[])
{
    (void)c, (void)refs, (void)n, (void)order, (void)values;
    return fmi2Error;
}

#define STATUS(Name, type)                                                                                             \
    fmi2Status fmi2Get##Name(fmi2Component c, fmi2StatusKind kind, type* value)                                        \
    {                                                                                                                  \
        (void)c, (void)kind, (void)value;                                                                              \
        return fmi2Discard;                                                                                            \
    }
STATUS(Status, fmi2Status)
STATUS(RealStatus, fmi2Real)
STATUS(IntegerStatus, fmi2Integer)
STATUS(BooleanStatus, fmi2Boolean)
STATUS(StringStatus, fmi2String)

// ---------------------------------------------------------------------------- model exchange

fmi2Status fmi2EnterEventMode(fmi2Component c)
{
    ((Instance*)c)->mode = FMU_EVENT;
    return fmi2OK;
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo* info)
{
    FMU_ENTER(c, "fmi2NewDiscreteStates");
    Instance* x = c;
    fmu_compute(&x->m);
    *info = (fmi2EventInfo){.valuesOfContinuousStatesChanged = fmu_handle_event(&x->m)};
    info->nextEventTimeDefined = x->m.next_event >= 0.0;
    info->nextEventTime = x->m.next_event;
    return fmi2OK;
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c)
{
    ((Instance*)c)->mode = FMU_RUNNING;
    return fmi2OK;
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean no_set_state_before, fmi2Boolean* event,
                                       fmi2Boolean* over)
{
    (void)c, (void)no_set_state_before;
    *event = *over = fmi2False;
    return fmi2OK;
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time)
{
    ((Instance*)c)->m.time = time;
    return fmi2OK;
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real values[], size_t nx)
{
    fmu_put_states(&((Instance*)c)->m, values, nx);
    return fmi2OK;
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real values[], size_t nx)
{
    fmu_get_states(&((Instance*)c)->m, values, nx);
    return fmi2OK;
}

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real values[], size_t nx)
{
    FMU_ENTER(c, "fmi2GetDerivatives");
    fmu_get_derivatives(&((Instance*)c)->m, values, nx);
    return fmi2OK;
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real z[], size_t nz)
{
    (void)nz;
    fmu_compute(&((Instance*)c)->m);
    fmu_indicate(&((Instance*)c)->m, z);
    return fmi2OK;
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real values[], size_t nx)
{
    (void)c;
    fmu_get_nominals(values, nx);
    return fmi2OK;
}
