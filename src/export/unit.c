#include "export/unit.h"

#include "base/error.h"
#include "base/list.h"
#include "cosim/cosim.h"
#include "hydraulics/data.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// clang-format off
struct ItmUnit {
    char*  bytes;                // of the model
    size_t length;
    char*  path;
    int    nport, nmechanism_port, nsubsystem_port;
    ItmUnitPort* ports;          // those of the mechanism first                        (nport)
    const char** port_names;     // "part.name" of each                                 (nport)
    ItmModelFile* file;
    ItmCosim* cosim;             // NULL before initialization
    int    mechanism;            // of the ports, or ITM_NONE
    int    mechanism_bond, subsystem_bond; // first bonds of either kind

    struct {
        ItmUnitVariable* items;
        int count, capacity;
    } variables;
    double* values;              // of everything that can be set                       (count)
    bool*   is_set;              // before initialization                               (count)

    // partners of the ports: forces on the mechanism; motion of the subsystems' ports
    double force[ITM_UNIT_MOST_PORTS], s[ITM_UNIT_MOST_PORTS], w[ITM_UNIT_MOST_PORTS], slope[ITM_UNIT_MOST_PORTS];
    double W[ITM_UNIT_MOST_PORTS * ITM_UNIT_MOST_PORTS], a0[ITM_UNIT_MOST_PORTS];
    double P0[ITM_UNIT_MOST_PORTS], P1[ITM_UNIT_MOST_PORTS], theta, use_impulses;
    bool   is_begun;             // W and a0 belong to the coming step
    bool   is_driven;            // whose micro steps have begun (level 2)
    bool   has_moved;            // ports of subsystems have been set: their forces are to be computed
    double* y;                   // outputs at the present time
    bool   has_outputs;
    ItmError error;
};
// clang-format on

// ---------------------------------------------------------------------------- partners outside of the unit

static void ignore_motion(void* self, const double* s, const double* w, const double* w_end)
{
    (void)self;
    (void)s;
    (void)w;
    (void)w_end;
}

static void get_forces(void* self, double* force)
{
    const ItmUnit* u = self;
    memcpy(force, u->force, sizeof(double) * (size_t)u->nmechanism_port);
}

static ItmStatus stay(void* self, double t, double h, ItmError* error)
{
    (void)self;
    (void)t;
    (void)h;
    (void)error;
    return ITM_OK;
}

static void reset_nothing(void* self)
{
    (void)self;
}

// The partner of the mechanism: constant forces over a macro step.
static ItmSubsystem make_partner(ItmUnit* u)
{
    return (ItmSubsystem){.self = u,
                          .nport = u->nmechanism_port,
                          .port_names = u->port_names,
                          .is_second_order = true,
                          .set_motion = ignore_motion,
                          .get_forces = get_forces,
                          .do_step = stay,
                          .reset = reset_nothing,
                          .memory =
                              u,  // nothing of it: forces are inputs, which a step that is cancelled leaves as they are
                          .memory_size = 0};
}

static ItmStatus get_motion(void* self, double* s, double* w, ItmError* error)
{
    const ItmUnit* u = self;
    (void)error;
    memcpy(s, u->s, sizeof(double) * (size_t)u->nsubsystem_port);
    memcpy(w, u->w, sizeof(double) * (size_t)u->nsubsystem_port);
    return ITM_OK;
}

static ItmStatus begin(void* self, double t, double H, int K, bool use_heun, double* W, double* a0, ItmError* error)
{
    const ItmUnit* u = self;
    size_t n = (size_t)u->nsubsystem_port;
    (void)t;
    (void)H;
    (void)K;
    (void)use_heun;
    (void)error;
    memset(W, 0, sizeof(double) * n * n);
    memcpy(a0, u->slope, sizeof(double) * n);
    return ITM_OK;
}

static ItmStatus commit(void* self, const double* P0, const double* P1, double theta, ItmError* error)
{
    (void)self;
    (void)P0;
    (void)P1;
    (void)theta;
    (void)error;
    return ITM_OK;
}

static ItmStatus step_held(void* self, double t, double h, const double* force, ItmError* error)
{
    (void)force;
    return stay(self, t, h, error);
}

static ItmStatus reset_mechanism(void* self, ItmError* error)
{
    (void)self;
    (void)error;
    return ITM_OK;
}

// The mechanism at the subsystems' ports: given rates over a macro step, whatever the forces.
static ItmForeignMechanism make_mechanism(ItmUnit* u)
{
    return (ItmForeignMechanism){.self = u,
                                 .nport = u->nsubsystem_port,
                                 .port_names = u->port_names + u->nmechanism_port,
                                 .get_motion = get_motion,
                                 .do_step = step_held,
                                 .reset = reset_mechanism,
                                 .begin = begin,
                                 .commit = commit};
}

// ---------------------------------------------------------------------------- building

static ItmStatus add_mechanism_ports(ItmUnit* u, ItmCosimBuilder* b)
{
    int partner;
    ItmSubsystem table = make_partner(u);
    ItmStatus status = itm_cosim_builder_add_subsystem(b, "partner", &table, 0.0, &partner, &u->error);
    for (int i = 0; i < u->nmechanism_port && status == ITM_OK; i++) {
        status =
            itm_cosim_builder_add_bond(b, u->mechanism, u->ports[i].name, partner, u->port_names[i], NULL, &u->error);
    }
    return status;
}

static int find_subsystem(const ItmModelFile* file, const char* name)
{
    for (int i = 0; i < file->ncircuit; i++) {
        if (strcmp(file->circuits[i].name, name) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}

static ItmStatus add_subsystem_ports(ItmUnit* u, ItmCosimBuilder* b)
{
    int mechanism;
    ItmForeignMechanism table = make_mechanism(u);
    ItmStatus status = itm_cosim_builder_add_foreign_mechanism(b, "mechanism", &table, NULL, &mechanism, &u->error);
    for (int i = 0; i < u->nsubsystem_port && status == ITM_OK; i++) {
        const ItmUnitPort* port = &u->ports[u->nmechanism_port + i];
        int subsystem = find_subsystem(u->file, port->part);
        status = subsystem != ITM_NONE ? itm_cosim_builder_add_bond(b, mechanism, u->port_names[u->nmechanism_port + i],
                                                                    subsystem, port->name, NULL, &u->error)
                                       : itm_error_set(&u->error, ITM_ERR_INPUT, "itm_unit_initialize", port->part,
                                                       "the unit has no circuit '%s'", port->part);
    }
    return status;
}

// Start lengths of the subsystems' ports: those of their own definitions, until they are set.
static void read_start_motion(ItmUnit* u)
{
    for (int i = 0; i < u->nsubsystem_port; i++) {
        const ItmUnitPort* port = &u->ports[u->nmechanism_port + i];
        int circuit = find_subsystem(u->file, port->part);
        ItmHydraulics* data = NULL;
        if (circuit != ITM_NONE &&
            itm_file_create_hydraulics(&data, &u->file->circuits[circuit], NULL, NULL) == ITM_OK) {
            int cylinder = itm_circuit_find_cylinder(u->file->circuits[circuit].circuit, port->name);
            u->s[i] = cylinder != ITM_NONE ? data->s[cylinder] : 0.0;
        }
        itm_hydraulics_destroy(data);
    }
}

static ItmStatus build(ItmUnit* u)
{
    ItmCosimBuilder* b = NULL;
    ItmStatus status = itm_file_create_builder(&b, u->file, &u->error);
    u->mechanism_bond = u->file->cosim.nbond;
    u->subsystem_bond = u->mechanism_bond + u->nmechanism_port;
    if (status == ITM_OK && u->nmechanism_port > 0) {
        status = add_mechanism_ports(u, b);
    }
    if (status == ITM_OK && u->nsubsystem_port > 0) {
        status = add_subsystem_ports(u, b);
    }
    if (status == ITM_OK) {
        status = itm_file_build_cosim(&u->cosim, u->file, b, NULL, &u->error);
    }
    itm_cosim_builder_destroy(b);
    return status;
}

// Read the model with the parameters that were set.
static ItmStatus load(ItmUnit* u)
{
    int n = 0;
    char(*texts)[160] = calloc((size_t)u->variables.count + 1, sizeof *texts);
    const char** overrides = calloc((size_t)u->variables.count + 1, sizeof *overrides);
    if (texts == NULL || overrides == NULL) {
        free(texts);
        free(overrides);
        return itm_error_set(&u->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
    for (int i = 0; i < u->variables.count; i++) {
        const ItmUnitVariable* v = &u->variables.items[i];
        bool is_step = v->kind == ITM_UNIT_STEP;
        if (u->is_set[i] && (is_step || v->kind == ITM_UNIT_PARAMETER)) {
            snprintf(texts[n], sizeof texts[n], "%s=%.17g %s", is_step ? "cosim.macro_step" : v->name, u->values[i],
                     strcmp(v->unit, "1") == 0 ? "" : v->unit);
            overrides[n] = texts[n];
            n++;
        }
    }
    itm_file_destroy(u->file);
    u->file = NULL;
    ItmStatus status = itm_file_parse(&u->file, u->bytes, u->length, u->path, overrides, n, &u->error);
    free(texts);
    free(overrides);
    return status;
}

// ---------------------------------------------------------------------------- variables

static ItmStatus add_variable(ItmUnit* u, ItmUnitKind kind, int index, const char* unit, const char* description,
                              double start, const char* format, ...)
{
    char name[320];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    ItmUnitVariable v = {strdup(name), kind, index, unit, description, start};
    if (v.name == NULL || !ITM_LIST_APPEND(u->variables, v)) {
        free(v.name);
        return itm_error_set(&u->error, ITM_ERR_MEMORY, "itm_unit_create", NULL, "out of memory");
    }
    return ITM_OK;
}

#define ADD(...) (status = status == ITM_OK ? add_variable(u, __VA_ARGS__) : status)

static ItmStatus list_ports(ItmUnit* u)
{
    ItmStatus status = ITM_OK;
    for (int i = 0; i < u->nmechanism_port; i++) {
        ItmBondState state = itm_cosim_get_bond(u->cosim, u->mechanism_bond + i);
        bool is_rotary = state.is_rotary;
        ADD(ITM_UNIT_FORCE_IN, i, is_rotary ? "N m" : "N",
            "force or torque on the mechanism; > 0 increases the position", 0.0, "%s.force", u->port_names[i]);
        ADD(ITM_UNIT_POSITION_OUT, i, is_rotary ? "rad" : "m", "length or angle of the actuator", state.length,
            "%s.position", u->port_names[i]);
        ADD(ITM_UNIT_RATE_OUT, i, is_rotary ? "rad/s" : "m/s", "rate of the position", state.rate, "%s.rate",
            u->port_names[i]);
        ADD(ITM_UNIT_ACCELERATION, i, is_rotary ? "rad/s^2" : "m/s^2",
            "acceleration of the position at the present forces, mean over the macro step", 0.0, "%s.acceleration",
            u->port_names[i]);
    }
    for (int i = 0; i < u->nsubsystem_port; i++) {
        const char* name = u->port_names[u->nmechanism_port + i];
        ADD(ITM_UNIT_POSITION_IN, i, "m", "length of the actuator", u->s[i], "%s.position", name);
        ADD(ITM_UNIT_RATE_IN, i, "m/s", "rate of the length", 0.0, "%s.rate", name);
        ADD(ITM_UNIT_FORCE_OUT, i, "N", "force of the port; > 0 lengthens", 0.0, "%s.force", name);
    }
    return status;
}

static bool is_rotary(const ItmUnit* u, int port)
{
    return itm_cosim_get_bond(u->cosim, u->mechanism_bond + port).is_rotary;
}

// The interface model port.
static ItmStatus list_model(ItmUnit* u)
{
    static const char* const MOBILITIES[] = {"1/kg", "1/(kg m)", "1/(kg m^2)"};
    int n = u->nmechanism_port;
    ItmStatus status = ITM_OK;
    for (int i = 0; i < n * n; i++) {
        ADD(ITM_UNIT_W, i, MOBILITIES[is_rotary(u, i / n) + is_rotary(u, i % n)],
            "mobility of the ports for the coming macro step", 0.0, "rim.W[%d,%d]", i / n + 1, i % n + 1);
    }
    for (int i = 0; i < n; i++) {
        ADD(ITM_UNIT_A0, i, is_rotary(u, i) ? "rad/s^2" : "m/s^2", "acceleration of the port without forces", 0.0,
            "rim.a0[%d]", i + 1);
    }
    for (int i = 0; i < n; i++) {
        ADD(ITM_UNIT_P0, i, is_rotary(u, i) ? "N m s" : "N s", "impulse over the coming macro step", 0.0, "rim.P0[%d]",
            i + 1);
        ADD(ITM_UNIT_P1, i, is_rotary(u, i) ? "N m s" : "N s", "first moment of the impulse over the macro step", 0.0,
            "rim.P1[%d]", i + 1);
    }
    if (n > 0) {
        ADD(ITM_UNIT_THETA, 0, "1", "integral of (H - tau)/H^2 over the micro steps", 0.5, "rim.theta");
        ADD(ITM_UNIT_USE_IMPULSES, 0, "1", "1: the step takes P0 and P1; 0: forces", 0.0, "rim.use_impulses");
    }
    return status;
}

static ItmStatus list_variables(ItmUnit* u)
{
    ItmStatus status = ITM_OK;
    for (int i = 0; i < u->file->nparameter; i++) {
        const ItmFileParameter* p = &u->file->parameters[i];
        if (!p->is_calculated) {
            ADD(ITM_UNIT_PARAMETER, i, p->unit, "parameter of the model", p->value, "parameters.%s", p->name);
        }
    }
    ADD(ITM_UNIT_TIME, 0, "s", "time", 0.0, "time");
    ADD(ITM_UNIT_STEP, 0, "s", "macro step of the model", itm_cosim_get_step(u->cosim), "macro_step");
    for (int i = 0; i < itm_cosim_get_input_count(u->cosim); i++) {
        ItmInputInfo info = itm_cosim_get_input_info(u->cosim, i);
        if (!info.is_wired && strncmp(info.name, "partner.", 8) != 0) {
            ADD(ITM_UNIT_INPUT, i, "1", "input", itm_cosim_get_input_value(u->cosim, i), "%s", info.name);
        }
    }
    status = status == ITM_OK ? list_ports(u) : status;
    status = status == ITM_OK ? list_model(u) : status;
    for (int i = 0; i < itm_cosim_get_output_count(u->cosim); i++) {
        ItmOutputInfo info = itm_cosim_get_output_info(u->cosim, i);
        if (strncmp(info.name, "mechanism.", 10) != 0 || u->nsubsystem_port == 0) {
            ADD(ITM_UNIT_OUTPUT, i, info.unit, info.description, u->y[i], "%s", info.name);
        }
    }
    return status;
}

// ---------------------------------------------------------------------------- creation

static char* join_name(const ItmUnitPort* port)
{
    size_t size = strlen(port->part) + strlen(port->name) + 2;
    char* name = malloc(size);
    if (name != NULL) {
        snprintf(name, size, "%s%s%s", port->part, port->part[0] != '\0' ? "-" : "", port->name);
    }
    return name;
}

static ItmStatus take_ports(ItmUnit* u, const ItmUnitPort* ports, int nport)
{
    u->ports = calloc((size_t)nport + 1, sizeof *u->ports);
    u->port_names = calloc((size_t)nport + 1, sizeof *u->port_names);
    bool has_memory = u->ports != NULL && u->port_names != NULL;
    for (int pass = 0; pass < 2 && has_memory; pass++) {
        for (int i = 0; i < nport && has_memory; i++) {
            if (ports[i].is_mechanism == (pass == 0)) {
                ItmUnitPort* port = &u->ports[u->nport];
                *port = (ItmUnitPort){strdup(ports[i].part), strdup(ports[i].name), ports[i].is_mechanism};
                u->nport++;
                *(pass == 0 ? &u->nmechanism_port : &u->nsubsystem_port) += 1;
                has_memory = port->part != NULL && port->name != NULL;
                u->port_names[u->nport - 1] = has_memory ? join_name(port) : NULL;
                has_memory = has_memory && u->port_names[u->nport - 1] != NULL;
            }
        }
    }
    return has_memory ? ITM_OK : itm_error_set(&u->error, ITM_ERR_MEMORY, "itm_unit_create", NULL, "out of memory");
}

// The mechanism of the ports.
static ItmStatus find_mechanism(ItmUnit* u)
{
    u->mechanism = ITM_NONE;
    for (int i = 0; i < u->nmechanism_port; i++) {
        int found = ITM_NONE;
        for (int k = 0; k < u->file->nmechanism; k++) {
            found = strcmp(u->file->mechanisms[k].name, u->ports[i].part) == 0 ? k : found;
        }
        if (found == ITM_NONE || (u->mechanism != ITM_NONE && found != u->mechanism)) {
            return itm_error_set(&u->error, ITM_ERR_UNSUPPORTED, "itm_unit_create", u->ports[i].part,
                                 "ports of two mechanisms, or of none: export each mechanism by itself");
        }
        u->mechanism = found;
    }
    return ITM_OK;
}

// Once, to find out which variables there are.
static ItmStatus look(ItmUnit* u)
{
    ItmStatus status = load(u);
    status = status == ITM_OK ? find_mechanism(u) : status;
    if (status == ITM_OK) {
        read_start_motion(u);
        status = build(u);
    }
    int noutput = status == ITM_OK ? itm_cosim_get_output_count(u->cosim) : 0;
    u->y = calloc((size_t)noutput + 1, sizeof *u->y);
    if (u->y == NULL) {
        return itm_error_set(&u->error, ITM_ERR_MEMORY, "itm_unit_create", NULL, "out of memory");
    }
    if (status == ITM_OK) {
        status = itm_cosim_compute_outputs(u->cosim, u->y);
    }
    return status == ITM_OK ? list_variables(u) : status;
}

ItmStatus itm_unit_create(ItmUnit** unit, const char* bytes, size_t length, const char* path, const ItmUnitPort* ports,
                          int nport, ItmError* error)
{
    *unit = NULL;
    ItmUnit* u = nport <= ITM_UNIT_MOST_PORTS ? calloc(1, sizeof *u) : NULL;
    if (u == NULL) {
        return itm_error_set(error, nport <= ITM_UNIT_MOST_PORTS ? ITM_ERR_MEMORY : ITM_ERR_UNSUPPORTED, __func__, NULL,
                             "out of memory, or more than %d ports", ITM_UNIT_MOST_PORTS);
    }
    u->bytes = malloc(length + 1);
    u->path = strdup(path);
    u->length = length;
    ItmStatus status = u->bytes != NULL && u->path != NULL
                           ? take_ports(u, ports, nport)
                           : itm_error_set(&u->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    if (status == ITM_OK) {
        memcpy(u->bytes, bytes, length);
        status = look(u);
    }
    u->values = calloc((size_t)u->variables.count + 1, sizeof *u->values);
    u->is_set = calloc((size_t)u->variables.count + 1, sizeof *u->is_set);
    if (status == ITM_OK && (u->values == NULL || u->is_set == NULL)) {
        status = itm_error_set(&u->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
    status = status == ITM_OK ? itm_unit_reset(u) : status;
    if (status != ITM_OK) {
        if (error != NULL) {
            *error = u->error;
        }
        itm_unit_destroy(u);
        return status;
    }
    *unit = u;
    return ITM_OK;
}

void itm_unit_destroy(ItmUnit* u)
{
    if (u == NULL) {
        return;
    }
    itm_cosim_destroy(u->cosim);
    itm_file_destroy(u->file);
    for (int i = 0; i < u->variables.count; i++) {
        free(u->variables.items[i].name);
    }
    for (int i = 0; i < u->nport; i++) {
        free(u->ports[i].part);
        free(u->ports[i].name);
        free((char*)u->port_names[i]);
    }
    free(u->variables.items);
    free(u->values);
    free(u->is_set);
    free(u->ports);
    free(u->port_names);
    free(u->y);
    free(u->bytes);
    free(u->path);
    free(u);
}

// ---------------------------------------------------------------------------- values

int itm_unit_get_variable_count(const ItmUnit* u)
{
    return u->variables.count;
}

const ItmUnitVariable* itm_unit_get_variable(const ItmUnit* u, int i)
{
    return i >= 0 && i < u->variables.count ? &u->variables.items[i] : NULL;
}

const ItmModelFile* itm_unit_get_file(const ItmUnit* u)
{
    return u->file;
}

int itm_unit_get_mechanism_port_count(const ItmUnit* u)
{
    return u->nmechanism_port;
}

static double* get_place(ItmUnit* u, const ItmUnitVariable* v)
{
    switch (v->kind) {
    case ITM_UNIT_FORCE_IN:
        return &u->force[v->index];
    case ITM_UNIT_POSITION_IN:
        return &u->s[v->index];
    case ITM_UNIT_RATE_IN:
        return &u->w[v->index];
    case ITM_UNIT_P0:
        return &u->P0[v->index];
    case ITM_UNIT_P1:
        return &u->P1[v->index];
    case ITM_UNIT_THETA:
        return &u->theta;
    case ITM_UNIT_USE_IMPULSES:
        return &u->use_impulses;
    default:
        return NULL;
    }
}

static ItmStatus keep_error(ItmUnit* u, ItmStatus status)
{
    if (status != ITM_OK) {
        u->error = *itm_cosim_get_error(u->cosim);
    }
    return status;
}

// The interface model of the coming step.
static ItmStatus begin_step(ItmUnit* u)
{
    if (u->is_begun) {
        return ITM_OK;
    }
    ItmStatus status = keep_error(u, itm_cosim_begin_step(u->cosim, u->mechanism, 0, true, u->W, u->a0));
    u->is_begun = status == ITM_OK;
    return status;
}

static void cancel_step(ItmUnit* u)
{
    if (u->is_begun) {
        itm_cosim_cancel_step(u->cosim);
        u->is_begun = u->is_driven = false;
    }
}

static ItmStatus refuse_order(ItmUnit* u, const char* what)
{
    return itm_error_set(&u->error, ITM_ERR_INPUT, "itm_unit_begin", what,
                         "%s: not between the begin and the end of a macro step in micro steps", what);
}

static ItmStatus get_output(ItmUnit* u, int output, double* value)
{
    ItmStatus status = ITM_OK;
    if (!u->has_outputs && u->is_driven) {
        return refuse_order(u, "outputs");
    }
    if (!u->has_outputs) {
        cancel_step(u);
        status = keep_error(u, itm_cosim_compute_outputs(u->cosim, u->y));
        u->has_outputs = status == ITM_OK;
    }
    *value = u->y[output];
    return status;
}

ItmStatus itm_unit_get(ItmUnit* u, int variable, double* value)
{
    const ItmUnitVariable* v = itm_unit_get_variable(u, variable);
    if (v == NULL) {
        return itm_error_set(&u->error, ITM_ERR_ARGUMENT, __func__, NULL, "there is no variable %d", variable);
    }
    ItmStatus status = ITM_OK;
    const double* place = get_place(u, v);
    *value = place != NULL ? *place : u->values[variable];
    if (u->cosim == NULL) {
        return ITM_OK;
    }
    switch (v->kind) {
    case ITM_UNIT_TIME:
        *value = itm_cosim_get_time(u->cosim);
        break;
    case ITM_UNIT_OUTPUT:
        return get_output(u, v->index, value);
    case ITM_UNIT_POSITION_OUT:
        *value = itm_cosim_get_bond(u->cosim, u->mechanism_bond + v->index).length;
        break;
    case ITM_UNIT_RATE_OUT:
        *value = itm_cosim_get_bond(u->cosim, u->mechanism_bond + v->index).rate;
        break;
    case ITM_UNIT_FORCE_OUT:
        if (u->has_moved) {
            status = keep_error(u, itm_cosim_refresh_ports(u->cosim));
            u->has_moved = false;
        }
        *value = itm_cosim_get_bond(u->cosim, u->subsystem_bond + v->index).force;
        break;
    case ITM_UNIT_ACCELERATION:
        status = begin_step(u);
        *value = u->a0[v->index];
        for (int k = 0; k < u->nmechanism_port; k++) {
            *value += u->W[v->index * u->nmechanism_port + k] * u->force[k];
        }
        break;
    case ITM_UNIT_W:
    case ITM_UNIT_A0:
        status = begin_step(u);
        *value = v->kind == ITM_UNIT_W ? u->W[v->index] : u->a0[v->index];
        break;
    default:
        break;
    }
    return status;
}

ItmStatus itm_unit_set_slope(ItmUnit* u, int variable, double slope)
{
    const ItmUnitVariable* v = itm_unit_get_variable(u, variable);
    if (v == NULL || (v->kind != ITM_UNIT_RATE_IN && v->kind != ITM_UNIT_POSITION_IN) || !isfinite(slope)) {
        return itm_error_set(&u->error, ITM_ERR_ARGUMENT, __func__, v != NULL ? v->name : NULL,
                             "only rates and positions of ports have slopes, which are finite");
    }
    // the slope of a position is its rate
    if (v->kind == ITM_UNIT_RATE_IN) {
        u->slope[v->index] = slope;
    }
    return ITM_OK;
}

static bool is_fixed(const ItmUnitVariable* v)
{
    return v->kind == ITM_UNIT_PARAMETER || v->kind == ITM_UNIT_STEP;
}

ItmStatus itm_unit_set(ItmUnit* u, int variable, double value)
{
    const ItmUnitVariable* v = itm_unit_get_variable(u, variable);
    double* place = v != NULL ? get_place(u, v) : NULL;
    bool can_be_set = v != NULL && (place != NULL || v->kind == ITM_UNIT_INPUT || (is_fixed(v) && u->cosim == NULL));
    if (!can_be_set || !isfinite(value)) {
        return itm_error_set(&u->error, ITM_ERR_ARGUMENT, __func__, v != NULL ? v->name : NULL, "'%s' %s",
                             v != NULL ? v->name : "?",
                             v == NULL     ? "does not exist"
                             : !can_be_set ? "is an output, or a parameter after initialization, and cannot be set"
                                           : "must be finite");
    }
    u->values[variable] = value;
    u->is_set[variable] = true;
    if (place != NULL) {
        u->has_moved = u->has_moved || v->kind == ITM_UNIT_POSITION_IN || v->kind == ITM_UNIT_RATE_IN;
        *place = value;
    } else if (v->kind == ITM_UNIT_INPUT && u->cosim != NULL) {
        if (u->is_driven) {
            return refuse_order(u, "input");
        }
        cancel_step(u);
        u->has_outputs = false;
        return keep_error(u, itm_cosim_set_input_value(u->cosim, v->index, value));
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- running

// Values that were set before there was a system, and the motion of ports that it starts with.
static ItmStatus apply_inputs(ItmUnit* u)
{
    ItmStatus status = ITM_OK;
    for (int i = 0; i < u->variables.count && status == ITM_OK; i++) {
        const ItmUnitVariable* v = &u->variables.items[i];
        if (u->is_set[i] && v->kind == ITM_UNIT_INPUT) {
            status = keep_error(u, itm_cosim_set_input_value(u->cosim, v->index, u->values[i]));
        }
    }
    return status;
}

ItmStatus itm_unit_initialize(ItmUnit* u)
{
    itm_cosim_destroy(u->cosim);
    u->cosim = NULL;
    u->is_begun = u->is_driven = u->has_outputs = false;
    ItmStatus status = load(u);
    status = status == ITM_OK ? build(u) : status;
    return status == ITM_OK ? apply_inputs(u) : status;
}

ItmStatus itm_unit_reset(ItmUnit* u)
{
    itm_cosim_destroy(u->cosim);
    u->cosim = NULL;
    u->is_begun = u->is_driven = u->has_outputs = false;
    for (int i = 0; i < u->variables.count; i++) {
        const ItmUnitVariable* v = &u->variables.items[i];
        double* place = get_place(u, v);
        u->values[i] = v->start;
        u->is_set[i] = false;
        if (place != NULL) {
            *place = v->start;
        }
    }
    return ITM_OK;
}

static ItmStatus step_once(ItmUnit* u, bool is_impulse)
{
    if (is_impulse) {
        ItmStatus status = begin_step(u);
        u->is_begun = false;
        return status == ITM_OK ? keep_error(u, itm_cosim_commit_step(u->cosim, u->P0, u->P1, u->theta)) : status;
    }
    cancel_step(u);
    return keep_error(u, itm_cosim_step(u->cosim));
}

ItmStatus itm_unit_step(ItmUnit* u, double H)
{
    double h = u->cosim != NULL ? itm_cosim_get_step(u->cosim) : NAN;
    double n = round(H / h);
    if (u->is_driven) {
        return refuse_order(u, "step");
    }
    if (!(n >= 1.0 && n < 1e9 && fabs(n * h - H) <= 1e-9 * H)) {
        return itm_error_set(&u->error, ITM_ERR_INPUT, __func__, "macro_step",
                             "the step %.9g s is not a multiple of the macro step %.9g s: set the parameter macro_step",
                             H, h);
    }
    ItmStatus status = ITM_OK;
    bool is_impulse = u->use_impulses != 0.0 && u->nmechanism_port > 0;
    if (is_impulse && n != 1.0) {
        return itm_error_set(&u->error, ITM_ERR_INPUT, __func__, "macro_step",
                             "impulses belong to one macro step: set the parameter macro_step to %.9g s, not %.9g s", H,
                             h);
    }
    u->has_outputs = u->has_moved = false;
    for (long i = 0; i < (long)n && status == ITM_OK; i++) {
        status = step_once(u, is_impulse);
        // ports of subsystems move on with their rates
        for (int k = 0; k < u->nsubsystem_port; k++) {
            u->s[k] += h * (u->w[k] + 0.5 * h * u->slope[k]);
            u->w[k] += h * u->slope[k];
        }
    }
    memset(u->slope, 0, sizeof u->slope);
    return status;
}

// ---------------------------------------------------------------------------- micro steps

static ItmStatus check_call(ItmUnit* u, bool is_open, size_t n)
{
    if (u->cosim == NULL || u->is_driven != is_open || n != (size_t)u->nmechanism_port || n == 0) {
        return itm_error_set(&u->error, ITM_ERR_INPUT, "itm_unit_begin", NULL,
                             "%zu ports, or calls out of order: begin, predict and advance, commit or cancel", n);
    }
    return ITM_OK;
}

ItmStatus itm_unit_begin(ItmUnit* u, double H, int K, bool use_heun, size_t n, double* W, double* a0, int* ncontact)
{
    ItmStatus status = check_call(u, false, n);
    double h = status == ITM_OK ? itm_cosim_get_step(u->cosim) : 0.0;
    if (status == ITM_OK && !(fabs(H - h) <= 1e-9 * h && K > 0)) {
        status = itm_error_set(&u->error, ITM_ERR_INPUT, __func__, "macro_step",
                               "a macro step of %.9g s in %d micro steps: set the parameter macro_step, which is "
                               "%.9g s; there is at least one micro step",
                               H, K, h);
    }
    if (status != ITM_OK) {
        return status;
    }
    status = keep_error(u, itm_cosim_begin_step(u->cosim, u->mechanism, K, use_heun, u->W, u->a0));
    u->is_begun = u->is_driven = status == ITM_OK;
    memcpy(W, u->W, sizeof(double) * n * n);
    memcpy(a0, u->a0, sizeof(double) * n);
    *ncontact = itm_cosim_count_step_contacts(u->cosim);
    return status;
}

ItmStatus itm_unit_predict(ItmUnit* u, double h, size_t n, const double* lambda, double* w_end)
{
    ItmStatus status = check_call(u, true, n);
    return status == ITM_OK ? keep_error(u, itm_cosim_predict_step(u->cosim, h, lambda, w_end)) : status;
}

ItmStatus itm_unit_advance(ItmUnit* u, double h, size_t n, const double* lambda, double* s, double* w)
{
    ItmStatus status = check_call(u, true, n);
    return status == ITM_OK ? keep_error(u, itm_cosim_advance_step(u->cosim, h, lambda, s, w)) : status;
}

ItmStatus itm_unit_commit(ItmUnit* u, size_t n, const double* P0, const double* P1, double theta)
{
    ItmStatus status = check_call(u, true, n);
    if (status != ITM_OK) {
        return status;
    }
    u->is_begun = u->is_driven = u->has_outputs = false;
    return keep_error(u, itm_cosim_commit_step(u->cosim, P0, P1, theta));
}

ItmStatus itm_unit_get_rows(ItmUnit* u, size_t capacity, size_t* size, void* bytes)
{
    ItmStatus status = check_call(u, true, (size_t)u->nmechanism_port);
    *size = status == ITM_OK ? itm_external_write_rows(u->cosim, capacity, bytes) : 0;
    return status;
}

ItmStatus itm_unit_set_results(ItmUnit* u, size_t size, const void* bytes)
{
    ItmStatus status = check_call(u, true, (size_t)u->nmechanism_port);
    return status == ITM_OK ? keep_error(u, itm_external_read_results(u->cosim, size, bytes)) : status;
}

void itm_unit_cancel(ItmUnit* u)
{
    cancel_step(u);
}

double itm_unit_get_time(const ItmUnit* u)
{
    return u->cosim != NULL ? itm_cosim_get_time(u->cosim) : 0.0;
}

// ---------------------------------------------------------------------------- state

static size_t count_own_reals(const ItmUnit* u)
{
    return (size_t)(2 + 6 * ITM_UNIT_MOST_PORTS) + (size_t)u->variables.count;
}

size_t itm_unit_get_state_size(const ItmUnit* u)
{
    return u->cosim != NULL ? itm_cosim_get_state_size(u->cosim) + sizeof(double) * count_own_reals(u) : 0;
}

// Arrays that belong to the state beside the system, one after the other.
static void copy_own(ItmUnit* u, double* at, bool is_saving)
{
    double* arrays[] = {u->force, u->s, u->w, u->slope, u->P0, u->P1};
    double* numbers[] = {&u->theta, &u->use_impulses};
    for (int i = 0; i < 6; i++, at += ITM_UNIT_MOST_PORTS) {
        memcpy(is_saving ? at : arrays[i], is_saving ? arrays[i] : at, sizeof(double) * ITM_UNIT_MOST_PORTS);
    }
    for (int i = 0; i < 2; i++, at++) {
        *(is_saving ? at : numbers[i]) = is_saving ? *numbers[i] : *at;
    }
    size_t size = sizeof(double) * (size_t)u->variables.count;
    memcpy(is_saving ? at : u->values, is_saving ? u->values : at, size);
}

ItmStatus itm_unit_save(ItmUnit* u, void* bytes, size_t size)
{
    if (u->cosim == NULL || size != itm_unit_get_state_size(u)) {
        return itm_error_set(&u->error, ITM_ERR_ARGUMENT, __func__, NULL, "there is no state of %zu bytes", size);
    }
    if (u->is_driven) {
        return refuse_order(u, "state");
    }
    size_t own = sizeof(double) * count_own_reals(u);
    copy_own(u, bytes, true);
    return keep_error(u, itm_cosim_save(u->cosim, (char*)bytes + own, size - own));
}

ItmStatus itm_unit_restore(ItmUnit* u, const void* bytes, size_t size)
{
    if (u->cosim == NULL || size != itm_unit_get_state_size(u)) {
        return itm_error_set(&u->error, ITM_ERR_ARGUMENT, __func__, NULL, "there is no state of %zu bytes", size);
    }
    cancel_step(u);
    u->has_outputs = false;
    size_t own = sizeof(double) * count_own_reals(u);
    copy_own(u, (double*)(uintptr_t)bytes, false);
    return keep_error(u, itm_cosim_restore(u->cosim, (const char*)bytes + own, size - own));
}

const ItmError* itm_unit_get_error(const ItmUnit* u)
{
    return &u->error;
}
