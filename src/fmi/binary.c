// Loading the library of an FMU, and every call into it.
#include "fmi/binary.h"

#include "base/error.h"

#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- names of calls

#define CALL_ID2(name, presence) ID2_##name,
#define CALL_ID3(name, presence) ID3_##name,
#define CALL_NAME2(name, presence) "fmi2" #name,
#define CALL_NAME3(name, presence) "fmi3" #name,
#define CALL_ID_LAYER(name) ID_LAYER_##name,
#define CALL_NAME_LAYER(name) "interimRim" #name,

enum {
    ID_NONE,
    FMI2_FUNCTIONS(CALL_ID2) FMI3_FUNCTIONS(CALL_ID3) LAYER_FUNCTIONS(CALL_ID_LAYER) LAYER_OPTIONAL(CALL_ID_LAYER)
        ID_LOAD,
    ID_COUNT
};
static const char* const CALLS[ID_COUNT] = {"", FMI2_FUNCTIONS(CALL_NAME2) FMI3_FUNCTIONS(CALL_NAME3) LAYER_FUNCTIONS(
                                                    CALL_NAME_LAYER) LAYER_OPTIONAL(CALL_NAME_LAYER) "dlopen"};

const char* itm_fmi_get_call_name(int call)
{
    return call >= 0 && call < ID_COUNT ? CALLS[call] : "";
}

static void begin_call(ItmFmuBinary* b, int id)
{
    ItmFmuWatch* watch = b->watch;
    atomic_store_explicit(&watch->time, b->time, memory_order_relaxed);
    atomic_store_explicit(&watch->call, id, memory_order_relaxed);
    atomic_store_explicit(&watch->count, atomic_load_explicit(&watch->count, memory_order_relaxed) + 1,
                          memory_order_release);
}

static void end_call(ItmFmuBinary* b)
{
    ItmFmuWatch* watch = b->watch;
    atomic_store_explicit(&watch->call, ID_NONE, memory_order_relaxed);
    atomic_store_explicit(&watch->count, atomic_load_explicit(&watch->count, memory_order_relaxed) + 1,
                          memory_order_release);
}

// ---------------------------------------------------------------------------- outcomes

static ItmStatus refuse_missing(ItmFmuBinary* b, int id)
{
    return itm_error_set(&b->error, ITM_ERR_UNSUPPORTED, CALLS[id], CALLS[id], "the FMU has no function %s", CALLS[id]);
}

// OK and Warning pass; the status is that of either version, whose numbers agree.
static ItmStatus judge(ItmFmuBinary* b, int id, int status)
{
    static const char* const WORDS[] = {"OK", "Warning", "Discard", "Error", "Fatal", "Pending"};
    end_call(b);
    if (status == fmi2OK || status == fmi2Warning) {
        return ITM_OK;
    }
    bool is_known = status > 0 && status <= fmi2Pending;
    char number[32];
    snprintf(number, sizeof number, "%d, which is no status", status);
    return itm_error_set(&b->error, ITM_ERR_DIVERGED, CALLS[id], CALLS[id], "%s returned %s%s at %.9g s%s%s", CALLS[id],
                         is_known ? (b->version == 2 ? "fmi2" : "fmi3") : "", is_known ? WORDS[status] : number,
                         b->time, b->last[0] != '\0' ? "; its last message: " : "", b->last);
}

// Call a function of either version that returns a status.
#define CALL2(b, name, ...)                                                                                            \
    ((b)->f2.name == NULL ? refuse_missing(b, ID2_##name)                                                              \
                          : (begin_call(b, ID2_##name), judge(b, ID2_##name, (int)(b)->f2.name(__VA_ARGS__))))
#define CALL3(b, name, ...)                                                                                            \
    ((b)->f3.name == NULL ? refuse_missing(b, ID3_##name)                                                              \
                          : (begin_call(b, ID3_##name), judge(b, ID3_##name, (int)(b)->f3.name(__VA_ARGS__))))
// A function of either version, with its name in both.
#define CALL_EITHER(b, name2, name3, ...)                                                                              \
    ((b)->version == 2 ? CALL2(b, name2, __VA_ARGS__) : CALL3(b, name3, __VA_ARGS__))
#define CALL_LAYER(b, name, ...)                                                                                       \
    ((b)->layer.name == NULL                                                                                           \
         ? refuse_missing(b, ID_LAYER_##name)                                                                          \
         : (begin_call(b, ID_LAYER_##name), judge(b, ID_LAYER_##name, (b)->layer.name((b)->instance, __VA_ARGS__))))

// ---------------------------------------------------------------------------- log

static void take_message(ItmFmuBinary* b, int status, const char* category, const char* text)
{
    if (status != fmi2OK) {
        snprintf(b->last, sizeof b->last, "%s", text);
        for (char* c = b->last; *c != '\0'; c++) {
            *c = (unsigned char)*c < ' ' ? ' ' : *c;
        }
    }
    if (b->logger != NULL) {
        b->logger(b->logger_context, status, category != NULL ? category : "", text);
    }
}

static void log2_message(fmi2ComponentEnvironment environment, fmi2String instance, fmi2Status status,
                         fmi2String category, fmi2String message, ...)
{
    (void)instance;
    char text[2048] = "";
    if (message != NULL) {
        va_list arguments;
        va_start(arguments, message);
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#endif
        vsnprintf(text, sizeof text, message, arguments);
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
        va_end(arguments);
    }
    if (environment != NULL) {
        take_message(environment, (int)status, category, text);
    }
}

static void log3_message(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category,
                         fmi3String message)
{
    if (environment != NULL) {
        take_message(environment, (int)status, category, message != NULL ? message : "");
    }
}

// The FMU must not return early on our account.
static void update3(fmi3InstanceEnvironment environment, fmi3Float64 time, fmi3Boolean set_requested,
                    fmi3Boolean get_allowed, fmi3Boolean step_finished, fmi3Boolean can_return_early,
                    fmi3Boolean* early_return, fmi3Float64* early_time)
{
    (void)get_allowed, (void)step_finished, (void)can_return_early;
    ItmFmuBinary* b = environment;
    if (early_return != NULL) {
        *early_return = false;
    }
    if (early_time != NULL) {
        *early_time = time;
    }
    if (b != NULL && set_requested && b->update != NULL) {
        b->update(b->update_context, time);
    }
}

// ---------------------------------------------------------------------------- loading

// Debian packages of libraries that FMUs are often linked with.
static const char* find_package(const char* message)
{
    static const struct {
        const char *library, *package;
    } TABLE[] = {
        {"libgfortran.so.3", "libgfortran3 of Debian 9; not in Debian 12"},
        {"libgfortran.so.4", "libgfortran4 of Debian 10; not in Debian 12"},
        {"libgfortran.so.5", "libgfortran5"},
        {"libquadmath.so.0", "libquadmath0"},
        {"libgomp.so.1", "libgomp1"},
        {"libstdc++.so.6", "libstdc++6"},
        {"libgcc_s.so.1", "libgcc-s1"},
        {"liblapack.so.3", "liblapack3"},
        {"libblas.so.3", "libblas3"},
        {"libopenblas.so.0", "libopenblas0"},
        {"libpython3.11.so.1.0", "libpython3.11"},
        {"libxml2.so.2", "libxml2"},
        {"libz.so.1", "zlib1g"},
        {"libzmq.so.5", "libzmq5"},
        {"libdl.so.2", "libc6"},
    };
    for (size_t i = 0; i < sizeof TABLE / sizeof *TABLE; i++) {
        if (strstr(message, TABLE[i].library) != NULL) {
            return TABLE[i].package;
        }
    }
    return NULL;
}

static ItmStatus open_library(ItmFmuBinary* b, const char* library)
{
    begin_call(b, ID_LOAD);
    b->handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    const char* reason = b->handle == NULL ? dlerror() : NULL;
    char text[512] = "";
    if (reason != NULL) {
        snprintf(text, sizeof text, "%s", reason);
    }
    if (b->handle == NULL && strstr(text, "undefined symbol") != NULL) {
        b->handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
        b->is_lazy = b->handle != NULL;
    }
    end_call(b);
    if (b->handle != NULL) {
        return ITM_OK;
    }
    const char* package = find_package(text);
    return itm_error_set(&b->error, ITM_ERR_IO, "dlopen", NULL, "the library of the FMU cannot be loaded: %s%s%s%s",
                         text, package != NULL ? " (Debian package " : "", package != NULL ? package : "",
                         package != NULL ? ")" : "");
}

enum { REQUIRED, OPTIONAL, EXCHANGE, COSIM };

// A few functions are needed by every run; the others complain when they are called.
static bool is_needed(int presence, bool is_exchange)
{
    return presence == (is_exchange ? EXCHANGE : COSIM);
}

#define LOOK_UP2(name, presence)                                                                                       \
    *(void**)&b->f2.name = dlsym(b->handle, "fmi2" #name);                                                             \
    missing = missing == ID_NONE && b->f2.name == NULL && is_needed(presence, b->is_exchange) ? ID2_##name : missing;
#define LOOK_UP3(name, presence)                                                                                       \
    *(void**)&b->f3.name = dlsym(b->handle, "fmi3" #name);                                                             \
    missing = missing == ID_NONE && b->f3.name == NULL && is_needed(presence, b->is_exchange) ? ID3_##name : missing;
#define LOOK_UP_LAYER(name) *(void**)&b->layer.name = dlsym(b->handle, "interimRim" #name);

ItmStatus itm_fmi_load(ItmFmuBinary* b, const char* library, int version, bool is_exchange)
{
    b->version = version;
    b->is_exchange = is_exchange;
    b->watch = b->watch != NULL ? b->watch : &b->own_watch;
    ItmStatus status = open_library(b, library);
    if (status != ITM_OK) {
        return status;
    }
    int missing = ID_NONE;
    if (version == 2) {
        FMI2_FUNCTIONS(LOOK_UP2)
        missing = b->f2.Instantiate == NULL ? ID2_Instantiate : missing;
    } else {
        FMI3_FUNCTIONS(LOOK_UP3)
    }
    LAYER_FUNCTIONS(LOOK_UP_LAYER)
    LAYER_OPTIONAL(LOOK_UP_LAYER)
    // real FMUs leave these out where they have no states or events
    bool can_miss = missing == ID2_GetNominalsOfContinuousStates || missing == ID3_GetNominalsOfContinuousStates ||
                    missing == ID2_CompletedIntegratorStep || missing == ID3_CompletedIntegratorStep ||
                    missing == ID2_GetEventIndicators || missing == ID3_GetEventIndicators;
    return missing == ID_NONE || can_miss ? ITM_OK : refuse_missing(b, missing);
}

void itm_fmi_unload(ItmFmuBinary* b)
{
    itm_fmi_free_instance(b);
    if (b->handle != NULL) {
        dlclose(b->handle);
        b->handle = NULL;
    }
    free(b->resources);
    free(b->name);
    b->resources = b->name = NULL;
}

// ---------------------------------------------------------------------------- creation

// 2.0: "file:///tmp/with%20space/resources"; 3.0: the path with a separator at its end.
static char* make_resources(const char* path, int version)
{
    size_t n = strlen(path);
    char* text = malloc(3 * n + 16);
    if (text == NULL) {
        return NULL;
    }
    if (version != 2) {
        snprintf(text, 3 * n + 16, "%s/", path);
        return text;
    }
    char* at = text + sprintf(text, "file://");
    for (const char* c = path; *c != '\0'; c++) {
        bool is_plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
                        strchr("/-_.~", *c) != NULL;
        at += is_plain ? sprintf(at, "%c", *c) : sprintf(at, "%%%02X", (unsigned)(unsigned char)*c);
    }
    return text;
}

static void* instantiate2(ItmFmuBinary* b, const char* token, bool is_logging)
{
    b->callbacks = (fmi2CallbackFunctions){.logger = log2_message,
                                           .allocateMemory = calloc,
                                           .freeMemory = free,
                                           .stepFinished = NULL,
                                           .componentEnvironment = b};
    begin_call(b, ID2_Instantiate);
    void* instance = b->f2.Instantiate(b->name, b->is_exchange ? fmi2ModelExchange : fmi2CoSimulation, token,
                                       b->resources, &b->callbacks, fmi2False, is_logging);
    end_call(b);
    return instance;
}

static void* instantiate3(ItmFmuBinary* b, const char* token, bool is_logging)
{
    void* instance;
    if (b->is_exchange) {
        begin_call(b, ID3_InstantiateModelExchange);
        instance = b->f3.InstantiateModelExchange(b->name, token, b->resources, false, is_logging, b, log3_message);
    } else {
        begin_call(b, ID3_InstantiateCoSimulation);
        instance = b->f3.InstantiateCoSimulation(b->name, token, b->resources, false, is_logging, b->has_event_mode,
                                                 b->has_event_mode, b->update_refs, (size_t)b->nupdate_ref, b,
                                                 log3_message, b->update != NULL ? update3 : NULL);
    }
    end_call(b);
    return instance;
}

ItmStatus itm_fmi_instantiate(ItmFmuBinary* b, const char* name, const char* token, const char* resources,
                              bool is_logging)
{
    free(b->resources);
    free(b->name);
    b->resources = make_resources(resources, b->version);
    b->name = strdup(name);
    b->last[0] = '\0';
    if (b->resources == NULL || b->name == NULL) {
        return itm_error_set(&b->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory for an FMU");
    }
    b->instance = b->version == 2 ? instantiate2(b, token, is_logging) : instantiate3(b, token, is_logging);
    if (b->instance == NULL && b->has_event_mode) {
        // event mode is a claim, too
        b->has_event_mode = false;
        b->instance = instantiate3(b, token, is_logging);
    }
    if (b->instance == NULL) {
        return itm_error_set(&b->error, ITM_ERR_INPUT, __func__, NULL, "the FMU refuses to be instantiated%s%s",
                             b->last[0] != '\0' ? "; its last message: " : "", b->last);
    }
    return ITM_OK;
}

void itm_fmi_free_instance(ItmFmuBinary* b)
{
    if (b->instance == NULL) {
        return;
    }
    void* instance = b->instance;
    b->instance = NULL;
    begin_call(b, b->version == 2 ? ID2_FreeInstance : ID3_FreeInstance);
    if (b->version == 2 && b->f2.FreeInstance != NULL) {
        b->f2.FreeInstance(instance);
    } else if (b->version == 3 && b->f3.FreeInstance != NULL) {
        b->f3.FreeInstance(instance);
    }
    end_call(b);
}

ItmStatus itm_fmi_enter_initialization(ItmFmuBinary* b, double tolerance, double start, double stop)
{
    bool has_stop = !isnan(stop);
    b->time = start;
    if (b->version == 3) {
        return CALL3(b, EnterInitializationMode, b->instance, tolerance > 0.0, tolerance, start, has_stop,
                     has_stop ? stop : 0.0);
    }
    ItmStatus status =
        CALL2(b, SetupExperiment, b->instance, tolerance > 0.0, tolerance, start, has_stop, has_stop ? stop : 0.0);
    return status == ITM_OK ? CALL2(b, EnterInitializationMode, b->instance) : status;
}

ItmStatus itm_fmi_exit_initialization(ItmFmuBinary* b)
{
    return CALL_EITHER(b, ExitInitializationMode, ExitInitializationMode, b->instance);
}

ItmStatus itm_fmi_enter_configuration(ItmFmuBinary* b)
{
    return CALL3(b, EnterConfigurationMode, b->instance);
}

ItmStatus itm_fmi_exit_configuration(ItmFmuBinary* b)
{
    return CALL3(b, ExitConfigurationMode, b->instance);
}

ItmStatus itm_fmi_terminate(ItmFmuBinary* b)
{
    return CALL_EITHER(b, Terminate, Terminate, b->instance);
}

// ---------------------------------------------------------------------------- values

size_t itm_fmi_get_value_size(int version, ItmFmiType type)
{
    switch (type) {
    case ITM_FMI_FLOAT32:
    case ITM_FMI_INT32:
    case ITM_FMI_UINT32:
        return 4;
    case ITM_FMI_INT8:
    case ITM_FMI_UINT8:
        return 1;
    case ITM_FMI_INT16:
    case ITM_FMI_UINT16:
        return 2;
    case ITM_FMI_BOOLEAN:
        return version == 2 ? sizeof(fmi2Boolean) : sizeof(fmi3Boolean);
    case ITM_FMI_ENUMERATION:
        return version == 2 ? sizeof(fmi2Integer) : sizeof(fmi3Int64);
    default:
        return 8;
    }
}

#define READ(ctype) (double)*(const ctype*)value

double itm_fmi_read_value(int version, ItmFmiType type, const void* value)
{
    switch (type) {
    case ITM_FMI_FLOAT64:
        return READ(double);
    case ITM_FMI_FLOAT32:
        return READ(float);
    case ITM_FMI_INT8:
        return READ(int8_t);
    case ITM_FMI_UINT8:
        return READ(uint8_t);
    case ITM_FMI_INT16:
        return READ(int16_t);
    case ITM_FMI_UINT16:
        return READ(uint16_t);
    case ITM_FMI_INT32:
        return READ(int32_t);
    case ITM_FMI_UINT32:
        return READ(uint32_t);
    case ITM_FMI_INT64:
        return READ(int64_t);
    case ITM_FMI_UINT64:
        return READ(uint64_t);
    case ITM_FMI_BOOLEAN:
        return version == 2 ? (*(const fmi2Boolean*)value != 0 ? 1.0 : 0.0) : *(const uint8_t*)value != 0 ? 1.0 : 0.0;
    case ITM_FMI_ENUMERATION:
        return version == 2 ? READ(int32_t) : READ(int64_t);
    default:
        return NAN;
    }
}

#define WRITE(ctype, least, most)                                                                                      \
    *(ctype*)value = !(number > (double)(least)) ? (ctype)(least)                                                      \
                     : number >= (double)(most)  ? (ctype)(most)                                                       \
                                                 : (ctype)floor(number + 0.5);                                          \
    break

void itm_fmi_write_value(int version, ItmFmiType type, void* value, double number)
{
    switch (type) {
    case ITM_FMI_FLOAT64:
        *(double*)value = number;
        break;
    case ITM_FMI_FLOAT32:
        *(float*)value = (float)number;
        break;
    case ITM_FMI_INT8:
        WRITE(int8_t, INT8_MIN, INT8_MAX);
    case ITM_FMI_UINT8:
        WRITE(uint8_t, 0, UINT8_MAX);
    case ITM_FMI_INT16:
        WRITE(int16_t, INT16_MIN, INT16_MAX);
    case ITM_FMI_UINT16:
        WRITE(uint16_t, 0, UINT16_MAX);
    case ITM_FMI_INT32:
        WRITE(int32_t, INT32_MIN, INT32_MAX);
    case ITM_FMI_UINT32:
        WRITE(uint32_t, 0, UINT32_MAX);
    case ITM_FMI_INT64:
        WRITE(int64_t, INT64_MIN, INT64_MAX);
    case ITM_FMI_UINT64:
        WRITE(uint64_t, 0, UINT64_MAX);
    case ITM_FMI_BOOLEAN:
        if (version == 2) {
            *(fmi2Boolean*)value = number != 0.0;
        } else {
            *(fmi3Boolean*)value = number != 0.0;
        }
        break;
    case ITM_FMI_ENUMERATION:
        if (version == 2) {
            WRITE(int32_t, INT32_MIN, INT32_MAX);
        }
        WRITE(int64_t, INT64_MIN, INT64_MAX);
    default:
        break;
    }
}

static ItmStatus get2(ItmFmuBinary* b, ItmFmiType type, const uint32_t* refs, size_t n, void* values)
{
    switch (type) {
    case ITM_FMI_FLOAT64:
        return CALL2(b, GetReal, b->instance, refs, n, values);
    case ITM_FMI_BOOLEAN:
        return CALL2(b, GetBoolean, b->instance, refs, n, values);
    case ITM_FMI_STRING:
        return CALL2(b, GetString, b->instance, refs, n, values);
    default:
        return CALL2(b, GetInteger, b->instance, refs, n, values);
    }
}

static ItmStatus set2(ItmFmuBinary* b, ItmFmiType type, const uint32_t* refs, size_t n, const void* values)
{
    switch (type) {
    case ITM_FMI_FLOAT64:
        return CALL2(b, SetReal, b->instance, refs, n, values);
    case ITM_FMI_BOOLEAN:
        return CALL2(b, SetBoolean, b->instance, refs, n, values);
    case ITM_FMI_STRING:
        return CALL2(b, SetString, b->instance, refs, n, values);
    default:
        return CALL2(b, SetInteger, b->instance, refs, n, values);
    }
}

#define ACCESS3(Verb, Name, TYPE)                                                                                      \
    case ITM_FMI_##TYPE:                                                                                               \
        return CALL3(b, Verb##Name, b->instance, refs, n, values, nvalue);
#define CASES3(Verb)                                                                                                   \
    ACCESS3(Verb, Float64, FLOAT64)                                                                                    \
    ACCESS3(Verb, Float32, FLOAT32)                                                                                    \
    ACCESS3(Verb, Int8, INT8)                                                                                          \
    ACCESS3(Verb, UInt8, UINT8)                                                                                        \
    ACCESS3(Verb, Int16, INT16)                                                                                        \
    ACCESS3(Verb, UInt16, UINT16)                                                                                      \
    ACCESS3(Verb, Int32, INT32)                                                                                        \
    ACCESS3(Verb, UInt32, UINT32)                                                                                      \
    ACCESS3(Verb, Int64, INT64)                                                                                        \
    ACCESS3(Verb, UInt64, UINT64)                                                                                      \
    ACCESS3(Verb, Boolean, BOOLEAN)                                                                                    \
    ACCESS3(Verb, String, STRING)

static ItmStatus get3(ItmFmuBinary* b, ItmFmiType type, const uint32_t* refs, size_t n, void* values, size_t nvalue)
{
    switch (type) {
        CASES3(Get)
    default:
        return CALL3(b, GetInt64, b->instance, refs, n, values, nvalue);
    }
}

static ItmStatus set3(ItmFmuBinary* b, ItmFmiType type, const uint32_t* refs, size_t n, const void* values,
                      size_t nvalue)
{
    switch (type) {
        CASES3(Set)
    default:
        return CALL3(b, SetInt64, b->instance, refs, n, values, nvalue);
    }
}

ItmStatus itm_fmi_get(ItmFmuBinary* b, ItmFmiType type, const uint32_t* refs, int nref, void* values, int nvalue)
{
    return b->version == 2 ? get2(b, type, refs, (size_t)nref, values)
                           : get3(b, type, refs, (size_t)nref, values, (size_t)nvalue);
}

ItmStatus itm_fmi_set(ItmFmuBinary* b, ItmFmiType type, const uint32_t* refs, int nref, const void* values, int nvalue)
{
    return b->version == 2 ? set2(b, type, refs, (size_t)nref, values)
                           : set3(b, type, refs, (size_t)nref, values, (size_t)nvalue);
}

ItmStatus itm_fmi_set_binary(ItmFmuBinary* b, uint32_t ref, const uint8_t* bytes, size_t size)
{
    return CALL3(b, SetBinary, b->instance, &ref, 1, &size, &bytes, 1);
}

ItmStatus itm_fmi_set_slopes(ItmFmuBinary* b, const uint32_t* refs, int n, const double* slopes)
{
    fmi2Integer orders[64];
    for (int i = 0; i < 64; i++) {
        orders[i] = 1;
    }
    ItmStatus status = ITM_OK;
    for (int i = 0; i < n && status == ITM_OK; i += 64) {
        size_t count = (size_t)(n - i < 64 ? n - i : 64);
        status = CALL2(b, SetRealInputDerivatives, b->instance, refs + i, count, orders, slopes + i);
    }
    return status;
}

// ---------------------------------------------------------------------------- state, derivatives

ItmStatus itm_fmi_get_state(ItmFmuBinary* b, void** state)
{
    return CALL_EITHER(b, GetFMUstate, GetFMUState, b->instance, state);
}

ItmStatus itm_fmi_set_state(ItmFmuBinary* b, void* state)
{
    return CALL_EITHER(b, SetFMUstate, SetFMUState, b->instance, state);
}

void itm_fmi_free_state(ItmFmuBinary* b, void** state)
{
    ItmStatus status = *state == NULL ? ITM_OK : CALL_EITHER(b, FreeFMUstate, FreeFMUState, b->instance, state);
    (void)status;  // a state that cannot be freed is lost, no more
    *state = NULL;
}

ItmStatus itm_fmi_get_state_bytes(ItmFmuBinary* b, void* state, size_t* size)
{
    return CALL_EITHER(b, SerializedFMUstateSize, SerializedFMUStateSize, b->instance, state, size);
}

ItmStatus itm_fmi_serialize(ItmFmuBinary* b, void* state, void* bytes, size_t size)
{
    return CALL_EITHER(b, SerializeFMUstate, SerializeFMUState, b->instance, state, bytes, size);
}

ItmStatus itm_fmi_deserialize(ItmFmuBinary* b, const void* bytes, size_t size, void** state)
{
    return CALL_EITHER(b, DeSerializeFMUstate, DeserializeFMUState, b->instance, bytes, size, state);
}

ItmStatus itm_fmi_get_directional(ItmFmuBinary* b, const uint32_t* unknowns, int nunknown, const uint32_t* knowns,
                                  int nknown, const double* seed, double* sensitivity)
{
    size_t nu = (size_t)nunknown, nk = (size_t)nknown;
    return b->version == 2
               ? CALL2(b, GetDirectionalDerivative, b->instance, unknowns, nu, knowns, nk, seed, sensitivity)
               : CALL3(b, GetDirectionalDerivative, b->instance, unknowns, nu, knowns, nk, seed, nk, sensitivity, nu);
}

// ---------------------------------------------------------------------------- layered standard

bool itm_fmi_has_layer(const ItmFmuBinary* b)
{
#define IS_THERE(name) &&b->layer.name != NULL
    return true LAYER_FUNCTIONS(IS_THERE);
}

ItmStatus itm_fmi_begin_layer(ItmFmuBinary* b, double H, int K, bool use_heun, int n, double* W, double* a0,
                              int* ncontact)
{
    return CALL_LAYER(b, Begin, H, K, use_heun, (size_t)n, W, a0, ncontact);
}

ItmStatus itm_fmi_predict_layer(ItmFmuBinary* b, double h, int n, const double* lambda, double* w_end)
{
    return CALL_LAYER(b, Predict, h, (size_t)n, lambda, w_end);
}

ItmStatus itm_fmi_advance_layer(ItmFmuBinary* b, double h, int n, const double* lambda, double* s, double* w)
{
    return CALL_LAYER(b, Advance, h, (size_t)n, lambda, s, w);
}

ItmStatus itm_fmi_commit_layer(ItmFmuBinary* b, int n, const double* P0, const double* P1, double theta)
{
    return CALL_LAYER(b, Commit, (size_t)n, P0, P1, theta);
}

ItmStatus itm_fmi_get_layer_rows(ItmFmuBinary* b, size_t capacity, size_t* size, void* bytes)
{
    *size = 0;
    ItmStatus status = b->layer.GetRows != NULL && b->layer.SetResults != NULL
                           ? CALL_LAYER(b, GetRows, capacity, size, bytes)
                           : ITM_OK;
    *size = *size <= capacity ? *size : 0;
    return status;
}

ItmStatus itm_fmi_set_layer_results(ItmFmuBinary* b, size_t size, const void* bytes)
{
    return CALL_LAYER(b, SetResults, size, bytes);
}

void itm_fmi_cancel_layer(ItmFmuBinary* b)
{
    if (b->layer.Cancel != NULL) {
        begin_call(b, ID_LAYER_Cancel);
        b->layer.Cancel(b->instance);
        end_call(b);
    }
}

// ---------------------------------------------------------------------------- co-simulation

static ItmStatus refuse_end(ItmFmuBinary* b)
{
    return itm_error_set(&b->error, ITM_ERR_DIVERGED, "fmi", ITM_FMU_END,
                         "the FMU asks to end the simulation at %.9g s", b->time);
}

// Discard with the status `terminated` is a wish to end, not a failure.
static ItmStatus do_step2(ItmFmuBinary* b, double t, double h)
{
    ItmStatus status = CALL2(b, DoStep, b->instance, t, h, b->keeps_past ? fmi2False : fmi2True);
    if (status == ITM_OK || b->f2.GetBooleanStatus == NULL || strstr(b->error.message, "Discard") == NULL) {
        return status;
    }
    ItmError before = b->error;
    fmi2Boolean is_over = fmi2False;
    if (CALL2(b, GetBooleanStatus, b->instance, fmi2Terminated, &is_over) == ITM_OK && is_over) {
        return refuse_end(b);
    }
    b->error = before;
    return status;
}

static ItmStatus do_step3(ItmFmuBinary* b, double t, double h, ItmFmuStepEnd* end)
{
    fmi3Boolean has_event = false, is_over = false, is_early = false;
    fmi3Float64 last = t + h;
    ItmStatus status = CALL3(b, DoStep, b->instance, t, h, !b->keeps_past, &has_event, &is_over, &is_early, &last);
    if (status == ITM_OK && is_over) {
        b->time = last;
        return refuse_end(b);
    }
    if (status == ITM_OK && is_early && !(last >= t && last <= t + h)) {
        return itm_error_set(&b->error, ITM_ERR_DIVERGED, "fmi3DoStep", "fmi3DoStep",
                             "fmi3DoStep returned early from a step of %.9g s at %.9g s, at %.9g s, which is outside",
                             h, t, last);
    }
    *end = (ItmFmuStepEnd){is_early ? last : t + h, is_early, has_event};
    return status;
}

ItmStatus itm_fmi_do_step(ItmFmuBinary* b, double t, double h, ItmFmuStepEnd* end)
{
    b->time = t;
    *end = (ItmFmuStepEnd){.t = t + h};
    return b->version == 2 ? do_step2(b, t, h) : do_step3(b, t, h, end);
}

// ---------------------------------------------------------------------------- model exchange

ItmStatus itm_fmi_count_states(ItmFmuBinary* b, size_t* nx, size_t* nz)
{
    ItmStatus status = CALL3(b, GetNumberOfContinuousStates, b->instance, nx);
    return status == ITM_OK ? CALL3(b, GetNumberOfEventIndicators, b->instance, nz) : status;
}

ItmStatus itm_fmi_set_time(ItmFmuBinary* b, double t)
{
    b->time = t;
    return CALL_EITHER(b, SetTime, SetTime, b->instance, t);
}

ItmStatus itm_fmi_set_continuous(ItmFmuBinary* b, const double* x, size_t nx)
{
    return nx == 0 ? ITM_OK : CALL_EITHER(b, SetContinuousStates, SetContinuousStates, b->instance, x, nx);
}

ItmStatus itm_fmi_get_continuous(ItmFmuBinary* b, double* x, size_t nx)
{
    return nx == 0 ? ITM_OK : CALL_EITHER(b, GetContinuousStates, GetContinuousStates, b->instance, x, nx);
}

ItmStatus itm_fmi_get_nominals(ItmFmuBinary* b, double* nominal, size_t nx)
{
    return nx == 0
               ? ITM_OK
               : CALL_EITHER(b, GetNominalsOfContinuousStates, GetNominalsOfContinuousStates, b->instance, nominal, nx);
}

ItmStatus itm_fmi_get_derivatives(ItmFmuBinary* b, double* dx, size_t nx)
{
    return nx == 0 ? ITM_OK : CALL_EITHER(b, GetDerivatives, GetContinuousStateDerivatives, b->instance, dx, nx);
}

ItmStatus itm_fmi_get_indicators(ItmFmuBinary* b, double* z, size_t nz)
{
    return nz == 0 ? ITM_OK : CALL_EITHER(b, GetEventIndicators, GetEventIndicators, b->instance, z, nz);
}

ItmStatus itm_fmi_complete_step(ItmFmuBinary* b, bool* has_event)
{
    ItmStatus status;
    bool is_over;
    if (b->version == 2) {
        fmi2Boolean event = 0, over = 0;
        status = CALL2(b, CompletedIntegratorStep, b->instance, fmi2True, &event, &over);
        *has_event = event != 0;
        is_over = over != 0;
    } else {
        fmi3Boolean event = false, over = false;
        status = CALL3(b, CompletedIntegratorStep, b->instance, fmi3True, &event, &over);
        *has_event = event;
        is_over = over;
    }
    return status == ITM_OK && is_over ? refuse_end(b) : status;
}

ItmStatus itm_fmi_enter_event_mode(ItmFmuBinary* b)
{
    return CALL_EITHER(b, EnterEventMode, EnterEventMode, b->instance);
}

#define MOST_ITERATIONS 1000

static ItmStatus update_once(ItmFmuBinary* b, fmi2EventInfo* info)
{
    if (b->version == 2) {
        return CALL2(b, NewDiscreteStates, b->instance, info);
    }
    fmi3Boolean needed = false, over = false, nominals = false, states = false, has_next = false;
    fmi3Float64 next = 0.0;
    ItmStatus status =
        CALL3(b, UpdateDiscreteStates, b->instance, &needed, &over, &nominals, &states, &has_next, &next);
    *info = (fmi2EventInfo){.newDiscreteStatesNeeded = needed,
                            .terminateSimulation = over,
                            .nominalsOfContinuousStatesChanged = nominals,
                            .valuesOfContinuousStatesChanged = states,
                            .nextEventTimeDefined = has_next,
                            .nextEventTime = next};
    return status;
}

ItmStatus itm_fmi_update_discrete(ItmFmuBinary* b, bool* has_new_states, double* next)
{
    fmi2EventInfo info = {.newDiscreteStatesNeeded = fmi2True};
    *has_new_states = false;
    for (int i = 0; i < MOST_ITERATIONS && info.newDiscreteStatesNeeded; i++) {
        info = (fmi2EventInfo){0};
        ItmStatus status = update_once(b, &info);
        if (status != ITM_OK) {
            return status;
        }
        if (info.terminateSimulation) {
            return refuse_end(b);
        }
        *has_new_states = *has_new_states || info.valuesOfContinuousStatesChanged;
    }
    *next = info.nextEventTimeDefined ? info.nextEventTime : INFINITY;
    return info.newDiscreteStatesNeeded
               ? itm_error_set(&b->error, ITM_ERR_DIVERGED, __func__, NULL,
                               "the discrete states of the FMU still change after %d iterations at %.9g s",
                               MOST_ITERATIONS, b->time)
               : ITM_OK;
}

ItmStatus itm_fmi_leave_event_mode(ItmFmuBinary* b)
{
    return b->version == 2  ? CALL2(b, EnterContinuousTimeMode, b->instance)
           : b->is_exchange ? CALL3(b, EnterContinuousTimeMode, b->instance)
                            : CALL3(b, EnterStepMode, b->instance);
}
