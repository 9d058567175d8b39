// FMI 2.0 for co-simulation of an exported model.
#include "fmi/fmi2.h"

#include "instance.h"

#include "base/error.h"

#define EXPORT __attribute__((visibility("default")))
#define DECLARE(name, presence) EXPORT fmi2##name##TYPE fmi2##name;
FMI2_FUNCTIONS(DECLARE)

// ---------------------------------------------------------------------------- messages

static void print(fmi2CallbackLogger* logger, void* environment, const char* instance, fmi2Status status,
                  const ItmError* error)
{
    if (logger != NULL) {
        logger(environment, instance, status, "logStatusError", "%s", error->message);
    }
}

// Status of a call, its message to the master.
static fmi2Status judge(Instance* x, ItmStatus status)
{
    if (status == ITM_OK) {
        return fmi2OK;
    }
    fmi2Status result = status == ITM_ERR_MEMORY          ? fmi2Fatal
                        : instance_is_broken_down(status) ? fmi2Discard
                                                          : fmi2Error;
    union {
        void* data;
        fmi2CallbackLogger* function;
    } logger = {x->logger};
    print(logger.function, x->environment, x->name, result, itm_unit_get_error(x->unit));
    return result;
}

static int judge_number(Instance* x, ItmStatus status)
{
    return (int)judge(x, status);
}

// ---------------------------------------------------------------------------- instances

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
    (void)n;
    (void)categories;
    ((Instance*)c)->is_logging = on != 0;
    return fmi2OK;
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions* functions, fmi2Boolean visible, fmi2Boolean logging)
{
    ItmError error = {0};
    Instance* x = NULL;
    (void)visible;
    if (type != fmi2CoSimulation) {
        itm_error_set(&error, ITM_ERR_UNSUPPORTED, __func__, NULL, "this FMU is for co-simulation only");
    } else {
        x = instance_create(name, guid, resources, &error);
    }
    if (x == NULL) {
        print(functions != NULL ? functions->logger : NULL, functions != NULL ? functions->componentEnvironment : NULL,
              name, fmi2Error, &error);
        return NULL;
    }
    union {
        fmi2CallbackLogger* function;
        void* data;
    } logger = {functions != NULL ? functions->logger : NULL};
    x->logger = logger.data;
    x->environment = functions != NULL ? functions->componentEnvironment : NULL;
    x->judge = judge_number;
    x->is_logging = logging != 0;
    return x;
}

void fmi2FreeInstance(fmi2Component c)
{
    instance_destroy(c);
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean has_stop, fmi2Real stop)
{
    (void)has_tolerance;
    (void)tolerance;
    (void)has_stop;
    (void)stop;
    ((Instance*)c)->start = start;
    return fmi2OK;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    (void)c;
    return fmi2OK;
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    Instance* x = c;
    return judge(x, itm_unit_initialize(x->unit));
}

fmi2Status fmi2Terminate(fmi2Component c)
{
    (void)c;
    return fmi2OK;
}

fmi2Status fmi2Reset(fmi2Component c)
{
    Instance* x = c;
    return judge(x, itm_unit_reset(x->unit));
}

// ---------------------------------------------------------------------------- variables

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference refs[], size_t n, fmi2Real values[])
{
    return judge(c, instance_get(c, refs, n, values));
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference refs[], size_t n, const fmi2Real values[])
{
    return judge(c, instance_set(c, refs, n, values));
}

// All variables are real numbers.
#define NONE(Name, type, constant)                                                                                     \
    fmi2Status fmi2##Name(fmi2Component c, const fmi2ValueReference refs[], size_t n, constant type values[])          \
    {                                                                                                                  \
        (void)c;                                                                                                       \
        (void)refs;                                                                                                    \
        (void)values;                                                                                                  \
        return n == 0 ? fmi2OK : fmi2Error;                                                                            \
    }
NONE(GetInteger, fmi2Integer, )
NONE(GetBoolean, fmi2Boolean, )
NONE(GetString, fmi2String, )
NONE(SetInteger, fmi2Integer, const)
NONE(SetBoolean, fmi2Boolean, const)
NONE(SetString, fmi2String, const)

// ---------------------------------------------------------------------------- steps

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real time, fmi2Real step, fmi2Boolean no_set_state_before)
{
    Instance* x = c;
    (void)time;
    (void)no_set_state_before;
    return step == 0.0 ? fmi2OK : judge(x, itm_unit_step(x->unit, step));
}

fmi2Status fmi2CancelStep(fmi2Component c)
{
    (void)c;
    return fmi2Error;
}

fmi2Status fmi2GetStatus(fmi2Component c, fmi2StatusKind kind, fmi2Status* value)
{
    (void)c;
    (void)kind;
    *value = fmi2OK;
    return fmi2Discard;
}

fmi2Status fmi2GetRealStatus(fmi2Component c, fmi2StatusKind kind, fmi2Real* value)
{
    Instance* x = c;
    *value = x->start + itm_unit_get_time(x->unit);
    return kind == fmi2LastSuccessfulTime ? fmi2OK : fmi2Discard;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, fmi2StatusKind kind, fmi2Integer* value)
{
    (void)c;
    (void)kind;
    *value = 0;
    return fmi2Discard;
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, fmi2StatusKind kind, fmi2Boolean* value)
{
    (void)c;
    *value = fmi2False;
    return kind == fmi2Terminated ? fmi2OK : fmi2Discard;
}

fmi2Status fmi2GetStringStatus(fmi2Component c, fmi2StatusKind kind, fmi2String* value)
{
    (void)c;
    (void)kind;
    *value = "";
    return fmi2Discard;
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference refs[], size_t n,
                                       const fmi2Integer order[], const fmi2Real values[])
{
    Instance* x = c;
    ItmStatus status = ITM_OK;
    for (size_t i = 0; i < n && status == ITM_OK; i++) {
        status = order[i] == 1 ? itm_unit_set_slope(x->unit, (int)refs[i], values[i]) : ITM_ERR_ARGUMENT;
    }
    return judge(x, status);
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference refs[], size_t n,
                                        const fmi2Integer order[], fmi2Real values[])
{
    (void)c;
    (void)refs;
    (void)order;
    (void)values;
    return n == 0 ? fmi2OK : fmi2Error;
}

// ---------------------------------------------------------------------------- state

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate* state)
{
    return judge(c, instance_save(c, state));
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
{
    return judge(c, instance_restore(c, state));
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate* state)
{
    (void)c;
    instance_free_state(state);
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t* size)
{
    (void)state;
    *size = itm_unit_get_state_size(((Instance*)c)->unit);
    return fmi2OK;
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    return instance_write_state(c, state, bytes, size) == ITM_OK ? fmi2OK : fmi2Error;
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate* state)
{
    ItmStatus status = instance_read_state(c, bytes, size, state);
    return status == ITM_OK ? fmi2OK : status == ITM_ERR_MEMORY ? fmi2Fatal : fmi2Error;
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknowns[], size_t nunknown,
                                        const fmi2ValueReference knowns[], size_t nknown, const fmi2Real seed[],
                                        fmi2Real sensitivity[])
{
    return instance_differentiate(c, unknowns, nunknown, knowns, nknown, seed, sensitivity) ? fmi2OK : fmi2Error;
}
