// FMI 3.0 for co-simulation of an exported model.
#include "fmi/fmi3.h"

#include "instance.h"
#include "refuse.h"

#include "base/error.h"

#include <math.h>

#define EXPORT __attribute__((visibility("default")))
#define DECLARE(name, presence) EXPORT fmi3##name##TYPE fmi3##name;
FMI3_FUNCTIONS(DECLARE)

// ---------------------------------------------------------------------------- messages

static fmi3Status judge(Instance* x, ItmStatus status)
{
    if (status == ITM_OK) {
        return fmi3OK;
    }
    fmi3Status result = status == ITM_ERR_MEMORY          ? fmi3Fatal
                        : instance_is_broken_down(status) ? fmi3Discard
                                                          : fmi3Error;
    union {
        void* data;
        fmi3LogMessageCallback* function;
    } logger = {x->logger};
    if (logger.function != NULL) {
        logger.function(x->environment, result, "logStatusError", itm_unit_get_error(x->unit)->message);
    }
    return result;
}

static int judge_number(Instance* x, ItmStatus status)
{
    return (int)judge(x, status);
}

fmi3Status fmi3_refuse(const Instance* x, const char* function)
{
    union {
        void* data;
        fmi3LogMessageCallback* function;
    } logger = {x->logger};
    if (logger.function != NULL) {
        logger.function(x->environment, fmi3Error, "logStatusError", function);
    }
    return fmi3Error;
}

// ---------------------------------------------------------------------------- instances

const char* fmi3GetVersion(void)
{
    return "3.0";
}

fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t n, const fmi3String categories[])
{
    (void)n;
    (void)categories;
    ((Instance*)c)->is_logging = on;
    return fmi3OK;
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                         fmi3Boolean logging, fmi3Boolean event_mode, fmi3Boolean early_return,
                                         const fmi3ValueReference intermediate[], size_t nintermediate,
                                         fmi3InstanceEnvironment environment, fmi3LogMessageCallback* log,
                                         fmi3IntermediateUpdateCallback* update)
{
    ItmError error = {0};
    Instance* x = instance_create(name, token, resources, &error);
    (void)visible;
    (void)event_mode;
    (void)intermediate;
    if (x == NULL) {
        if (log != NULL) {
            log(environment, fmi3Error, "logStatusError", error.message);
        }
        return NULL;
    }
    union {
        fmi3LogMessageCallback* function;
        void* data;
    } logger = {log};
    union {
        fmi3IntermediateUpdateCallback* function;
        void* data;
    } updater = {nintermediate > 0 ? update : NULL};
    x->logger = logger.data;
    x->update = updater.data;
    x->environment = environment;
    x->judge = judge_number;
    x->is_logging = logging;
    x->can_return_early = early_return;
    return x;
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                          fmi3Boolean logging, fmi3InstanceEnvironment environment,
                                          fmi3LogMessageCallback* log)
{
    (void)name;
    (void)token;
    (void)resources;
    (void)visible;
    (void)logging;
    if (log != NULL) {
        log(environment, fmi3Error, "logStatusError", "this FMU is for co-simulation only");
    }
    return NULL;
}

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources,
                                               fmi3Boolean visible, fmi3Boolean logging,
                                               fmi3InstanceEnvironment environment, fmi3LogMessageCallback* log,
                                               fmi3ClockUpdateCallback* update, fmi3LockPreemptionCallback* lock,
                                               fmi3UnlockPreemptionCallback* unlock)
{
    (void)update;
    (void)lock;
    (void)unlock;
    return fmi3InstantiateModelExchange(name, token, resources, visible, logging, environment, log);
}

void fmi3FreeInstance(fmi3Instance c)
{
    instance_destroy(c);
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean has_tolerance, fmi3Float64 tolerance,
                                       fmi3Float64 start, fmi3Boolean has_stop, fmi3Float64 stop)
{
    (void)has_tolerance;
    (void)tolerance;
    (void)has_stop;
    (void)stop;
    ((Instance*)c)->start = start;
    return fmi3OK;
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance c)
{
    Instance* x = c;
    return judge(x, itm_unit_initialize(x->unit));
}

fmi3Status fmi3EnterEventMode(fmi3Instance c)
{
    return fmi3_refuse(c, "there is no event mode");
}

fmi3Status fmi3EnterStepMode(fmi3Instance c)
{
    (void)c;
    return fmi3OK;
}

fmi3Status fmi3EnterConfigurationMode(fmi3Instance c)
{
    return fmi3_refuse(c, "there are no structural parameters");
}

fmi3Status fmi3ExitConfigurationMode(fmi3Instance c)
{
    return fmi3_refuse(c, "there are no structural parameters");
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean* needs_update, fmi3Boolean* terminate,
                                    fmi3Boolean* nominals_changed, fmi3Boolean* states_changed,
                                    fmi3Boolean* has_next_event, fmi3Float64* next_event)
{
    (void)c;
    *needs_update = *terminate = *nominals_changed = *states_changed = *has_next_event = false;
    *next_event = INFINITY;
    return fmi3OK;
}

fmi3Status fmi3Terminate(fmi3Instance c)
{
    (void)c;
    return fmi3OK;
}

fmi3Status fmi3Reset(fmi3Instance c)
{
    Instance* x = c;
    return judge(x, itm_unit_reset(x->unit));
}

// ---------------------------------------------------------------------------- variables

fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference refs[], size_t n, fmi3Float64 values[],
                          size_t nvalue)
{
    if (n != nvalue) {
        return fmi3_refuse(c, "all variables are scalars: there is one value per reference");
    }
    return judge(c, instance_get(c, refs, n, values));
}

fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference refs[], size_t n, const fmi3Float64 values[],
                          size_t nvalue)
{
    if (n != nvalue) {
        return fmi3_refuse(c, "all variables are scalars: there is one value per reference");
    }
    return judge(c, instance_set(c, refs, n, values));
}

// All variables are of type Float64.
#define NONE(Name, type)                                                                                               \
    fmi3Status fmi3Get##Name(fmi3Instance c, const fmi3ValueReference refs[], size_t n, type values[], size_t nvalue)  \
    {                                                                                                                  \
        (void)refs;                                                                                                    \
        (void)values;                                                                                                  \
        return n == 0 && nvalue == 0 ? fmi3OK : fmi3_refuse(c, "all variables are of type Float64");                   \
    }                                                                                                                  \
    fmi3Status fmi3Set##Name(fmi3Instance c, const fmi3ValueReference refs[], size_t n, const type values[],           \
                             size_t nvalue)                                                                            \
    {                                                                                                                  \
        (void)refs;                                                                                                    \
        (void)values;                                                                                                  \
        return n == 0 && nvalue == 0 ? fmi3OK : fmi3_refuse(c, "all variables are of type Float64");                   \
    }
NONE(Float32, fmi3Float32)
NONE(Int8, fmi3Int8)
NONE(UInt8, fmi3UInt8)
NONE(Int16, fmi3Int16)
NONE(UInt16, fmi3UInt16)
NONE(Int32, fmi3Int32)
NONE(UInt32, fmi3UInt32)
NONE(Int64, fmi3Int64)
NONE(UInt64, fmi3UInt64)
NONE(Boolean, fmi3Boolean)
NONE(String, fmi3String)

fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3ValueReference refs[], size_t n, size_t sizes[], fmi3Binary values[],
                         size_t nvalue)
{
    (void)refs;
    (void)sizes;
    (void)values;
    return n == 0 && nvalue == 0 ? fmi3OK : fmi3_refuse(c, "all variables are of type Float64");
}

fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3ValueReference refs[], size_t n, const size_t sizes[],
                         const fmi3Binary values[], size_t nvalue)
{
    (void)refs;
    (void)sizes;
    (void)values;
    return n == 0 && nvalue == 0 ? fmi3OK : fmi3_refuse(c, "all variables are of type Float64");
}

// ---------------------------------------------------------------------------- steps

// Where the master sets inputs while a step runs, it is asked for the rates of the ports at its end: their slopes. Rates and
// positions are those of the start again afterwards.
static ItmStatus ask_for_slopes(Instance* x, double time, double step)
{
    unsigned refs[2 * ITM_UNIT_MOST_PORTS];
    double before[2 * ITM_UNIT_MOST_PORTS], after[2 * ITM_UNIT_MOST_PORTS];
    size_t n = 0;
    for (int i = 0; i < itm_unit_get_variable_count(x->unit) && n < 2 * ITM_UNIT_MOST_PORTS; i++) {
        int kind = (int)itm_unit_get_variable(x->unit, i)->kind;
        if (kind == ITM_UNIT_RATE_IN || kind == ITM_UNIT_POSITION_IN) {
            refs[n++] = (unsigned)i;
        }
    }
    union {
        void* data;
        fmi3IntermediateUpdateCallback* function;
    } update = {x->update};
    fmi3Boolean is_early = false;
    fmi3Float64 early_time = time;
    ItmStatus status = instance_get(x, refs, n, before);
    if (status == ITM_OK) {
        update.function(x->environment, time + step, true, false, false, false, &is_early, &early_time);
        status = instance_get(x, refs, n, after);
    }
    status = status == ITM_OK ? instance_set(x, refs, n, before) : status;
    for (size_t i = 0; i < n && status == ITM_OK; i++) {
        status = itm_unit_set_slope(x->unit, (int)refs[i], (after[i] - before[i]) / step);
    }
    return status;
}

fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 time, fmi3Float64 step, fmi3Boolean no_set_state_before,
                      fmi3Boolean* event_needed, fmi3Boolean* terminate, fmi3Boolean* early_return,
                      fmi3Float64* last_time)
{
    Instance* x = c;
    (void)no_set_state_before;
    *event_needed = *terminate = *early_return = false;
    double before = itm_unit_get_time(x->unit);
    ItmStatus result = x->update != NULL && step > 0.0 ? ask_for_slopes(x, time, step) : ITM_OK;
    fmi3Status status = judge(x, result == ITM_OK && step != 0.0 ? itm_unit_step(x->unit, step) : result);
    *last_time = x->start + itm_unit_get_time(x->unit);
    // macro steps before the one that broke down are done
    *early_return = status == fmi3Discard && x->can_return_early && itm_unit_get_time(x->unit) > before;
    return *early_return ? fmi3OK : status;
}

// ---------------------------------------------------------------------------- state

fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState* state)
{
    return judge(c, instance_save(c, state));
}

fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState state)
{
    return judge(c, instance_restore(c, state));
}

fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState* state)
{
    (void)c;
    instance_free_state(state);
    return fmi3OK;
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState state, size_t* size)
{
    (void)state;
    *size = itm_unit_get_state_size(((Instance*)c)->unit);
    return fmi3OK;
}

fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    return instance_write_state(c, state, bytes, size) == ITM_OK ? fmi3OK
                                                                 : fmi3_refuse(c, "the state has another size");
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], size_t size, fmi3FMUState* state)
{
    ItmStatus status = instance_read_state(c, bytes, size, state);
    return status == ITM_OK           ? fmi3OK
           : status == ITM_ERR_MEMORY ? fmi3Fatal
                                      : fmi3_refuse(c, "the state has another size");
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t nunknown,
                                        const fmi3ValueReference knowns[], size_t nknown, const fmi3Float64 seed[],
                                        size_t nseed, fmi3Float64 sensitivity[], size_t nsensitivity)
{
    bool is_good = nseed == nknown && nsensitivity == nunknown &&
                   instance_differentiate(c, unknowns, nunknown, knowns, nknown, seed, sensitivity);
    return is_good ? fmi3OK : fmi3_refuse(c, "derivatives are those of port accelerations with respect to port forces");
}
