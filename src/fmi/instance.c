// A running FMU in this process.
#include "fmi/instance.h"

#include "base/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REFRESH_STEP 1e-9   // s; the first step after a new input where the FMU latches inputs
#define MOST_RETURNS 10000  // before the end of one micro step

static ItmStatus refuse_memory(ItmError* error)
{
    return itm_error_set(error, ITM_ERR_MEMORY, "itm_fmi_create_instance", NULL, "out of memory for an FMU");
}

// ---------------------------------------------------------------------------- access

static int find_group(ItmFmuAccess* a, ItmFmiType type, bool is_discrete, int version)
{
    for (int g = 0; g < a->ngroup; g++) {
        if (a->groups[g].type == type && a->groups[g].is_discrete == is_discrete) {
            return g;
        }
    }
    a->groups[a->ngroup].type = type;
    a->groups[a->ngroup].is_discrete = is_discrete;
    a->groups[a->ngroup].size = itm_fmi_get_value_size(version, type);
    return a->ngroup++;
}

// Place of a variable's first element among the values of its group; a variable that is there already is shared.
static int place_variable(ItmFmuAccess* a, int g, const ItmFmuScalar* v, const ItmFmuScalar* all, const int* first,
                          int before)
{
    for (int i = 0; i < before; i++) {
        if (all[i].reference == v->reference && all[i].type == v->type) {
            return first[i];
        }
    }
    a->groups[g].refs[a->groups[g].nref++] = v->reference;
    int at = a->groups[g].nvalue;
    a->groups[g].nvalue += v->count;
    return at;
}

static bool create_access(ItmFmuAccess* a, const ItmFmuScalar* scalars, int n, int version)
{
    size_t nvalue = 1;
    for (int i = 0; i < n; i++) {
        nvalue += (size_t)scalars[i].count;
    }
    // references of each group, values of each group with room for all, scalars, places
    size_t per_group = nvalue * 8 + (size_t)(n + 2) * sizeof(uint32_t) + 16;
    int* first = calloc((size_t)n + 1, sizeof *first);
    a->n = n;
    a->scalars = calloc((size_t)n + 1, sizeof *a->scalars);
    bool is_used[ITM_FMI_TYPE_COUNT][2] = {{false}};
    size_t ntype = 0;
    for (int i = 0; i < n; i++) {
        bool* is_there_already = &is_used[scalars[i].type][scalars[i].is_discrete];
        ntype += !*is_there_already;
        *is_there_already = true;
    }
    char* memory = a->memory = calloc(ntype + 1, per_group);
    bool is_there = first != NULL && a->scalars != NULL && memory != NULL;
    for (int i = 0; i < n && is_there; i++) {
        int ngroup = a->ngroup, g = find_group(a, (ItmFmiType)scalars[i].type, scalars[i].is_discrete, version);
        if (g == ngroup) {
            a->groups[g].values = memory + (size_t)g * (per_group / 16 * 16);
            a->groups[g].refs = (uint32_t*)(void*)(a->groups[g].values + nvalue * 8);
        }
        first[i] = place_variable(a, g, &scalars[i], scalars, first, i);
        a->scalars[i].group = g;
        a->scalars[i].place = first[i] + scalars[i].element;
        a->scalars[i].scale = scalars[i].scale;
        a->scalars[i].shift = scalars[i].shift;
    }
    free(first);
    return is_there;
}

static void destroy_access(ItmFmuAccess* a)
{
    free(a->scalars);
    free(a->memory);
    memset(a, 0, sizeof *a);
}

static ItmStatus read_access(ItmFmuInstance* x, ItmFmuAccess* a)
{
    ItmStatus status = ITM_OK;
    for (int g = 0; g < a->ngroup && status == ITM_OK; g++) {
        status = itm_fmi_get(&x->binary, a->groups[g].type, a->groups[g].refs, a->groups[g].nref, a->groups[g].values,
                             a->groups[g].nvalue);
    }
    return status;
}

static double get_scalar(const ItmFmuInstance* x, const ItmFmuAccess* a, int i)
{
    int g = a->scalars[i].group;
    const char* value = a->groups[g].values + (size_t)a->scalars[i].place * a->groups[g].size;
    double number = a->groups[g].type == ITM_FMI_FLOAT64
                        ? *(const double*)(const void*)value
                        : itm_fmi_read_value(x->spec->version, a->groups[g].type, value);
    return a->scalars[i].scale * number + a->scalars[i].shift;
}

static void put_scalar(const ItmFmuInstance* x, ItmFmuAccess* a, int i, double number)
{
    int g = a->scalars[i].group;
    size_t size = a->groups[g].size;
    char* value = a->groups[g].values + (size_t)a->scalars[i].place * size;
    char before[8];
    memcpy(before, value, size);
    itm_fmi_write_value(x->spec->version, a->groups[g].type, value,
                        (number - a->scalars[i].shift) / a->scalars[i].scale);
    a->groups[g].is_dirty = a->groups[g].is_dirty || memcmp(before, value, size) != 0;
}

// Give the FMU the values that have changed; with is_discrete also those of discrete inputs, which an FMU with event mode takes
// there only.
static ItmStatus write_access(ItmFmuInstance* x, ItmFmuAccess* a, bool is_discrete)
{
    ItmStatus status = ITM_OK;
    for (int g = 0; g < a->ngroup && status == ITM_OK; g++) {
        if (!a->groups[g].is_dirty || (a->groups[g].is_discrete && !is_discrete)) {
            continue;
        }
        status = itm_fmi_set(&x->binary, a->groups[g].type, a->groups[g].refs, a->groups[g].nref, a->groups[g].values,
                             a->groups[g].nvalue);
        a->groups[g].is_dirty = false;
    }
    return status;
}

static ItmStatus fail(ItmFmuInstance* x, ItmStatus status)
{
    // an FMU that asks to end the simulation can still be read
    if (status != ITM_OK && !x->is_failed) {
        x->is_failed = strcmp(x->binary.error.field, ITM_FMU_END) != 0;
        x->error = x->binary.error;
        x->error.status = status;
    }
    return status;
}

// ---------------------------------------------------------------------------- start

static int get_hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 0;
}

static ItmStatus set_binary(ItmFmuInstance* x, const ItmFmuSetting* s)
{
    size_t n = strlen(s->text) / 2;
    uint8_t* bytes = malloc(n + 1);
    if (bytes == NULL) {
        return refuse_memory(&x->binary.error);
    }
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (uint8_t)(16 * get_hex(s->text[2 * i]) + get_hex(s->text[2 * i + 1]));
    }
    ItmStatus status = itm_fmi_set_binary(&x->binary, s->variable.reference, bytes, n);
    free(bytes);
    return status;
}

// One value; an element of an array goes with the others, which are read first.
static ItmStatus set_one(ItmFmuInstance* x, const ItmFmuSetting* s)
{
    ItmFmiType type = (ItmFmiType)s->variable.type;
    const uint32_t* ref = &s->variable.reference;
    if (type == ITM_FMI_BINARY) {
        return set_binary(x, s);
    }
    if (type == ITM_FMI_STRING) {
        return itm_fmi_set(&x->binary, type, ref, 1, &s->text, 1);
    }
    size_t size = itm_fmi_get_value_size(x->spec->version, type);
    char* values = calloc((size_t)s->variable.count, size);
    if (values == NULL) {
        return refuse_memory(&x->binary.error);
    }
    ItmStatus status =
        s->variable.count > 1 ? itm_fmi_get(&x->binary, type, ref, 1, values, s->variable.count) : ITM_OK;
    itm_fmi_write_value(x->spec->version, type, values + (size_t)s->variable.element * size, s->value);
    status = status == ITM_OK ? itm_fmi_set(&x->binary, type, ref, 1, values, s->variable.count) : status;
    free(values);
    return status;
}

static ItmStatus set_phase(ItmFmuInstance* x, ItmFmuPhase phase)
{
    const ItmFmuSpec* spec = x->spec;
    bool is_configuring = false;
    ItmStatus status = ITM_OK;
    for (int i = 0; i < spec->nsetting && status == ITM_OK; i++) {
        if (spec->settings[i].phase != (int)phase) {
            continue;
        }
        if (phase == ITM_FMU_CONFIGURE && !is_configuring) {
            is_configuring = true;
            status = itm_fmi_enter_configuration(&x->binary);
        }
        status = status == ITM_OK ? set_one(x, &spec->settings[i]) : status;
    }
    return status == ITM_OK && is_configuring ? itm_fmi_exit_configuration(&x->binary) : status;
}

static ItmStatus start(ItmFmuInstance* x)
{
    const ItmFmuSpec* spec = x->spec;
    ItmFmuBinary* b = &x->binary;
    x->is_failed = x->has_stepped = false;
    x->t = b->time = spec->start;
    b->has_event_mode = spec->has_event_mode;
    ItmStatus status = itm_fmi_instantiate(b, spec->name, spec->token, spec->resources, spec->is_logging);
    status = status == ITM_OK ? set_phase(x, ITM_FMU_CONFIGURE) : status;
    status = status == ITM_OK ? set_phase(x, ITM_FMU_START) : status;
    status = status == ITM_OK ? itm_fmi_enter_initialization(b, spec->tolerance, spec->start, spec->stop) : status;
    // inputs that nothing sets keep the start values of the FMU, and elements of arrays go together
    status = status == ITM_OK ? read_access(x, &x->in) : status;
    status = status == ITM_OK ? itm_fmi_exit_initialization(b) : status;
    x->next_event = INFINITY;
    x->is_updating = x->update.n > 0;
    if (status == ITM_OK && (spec->is_exchange || b->has_event_mode)) {
        // after initialization the FMU is in event mode
        bool has_new_states;
        status = itm_fmi_update_discrete(b, &has_new_states, &x->next_event);
        status = status == ITM_OK ? itm_fmi_leave_event_mode(b) : status;
    }
    if (status == ITM_OK && spec->is_exchange) {
        status = itm_fmi_create_exchange(x, &b->error);
    }
    return fail(x, status);
}

static void stop(ItmFmuInstance* x)
{
    for (int i = 0; i < 64; i++) {
        itm_fmi_free_state(&x->binary, &x->states[i]);
    }
    itm_fmi_destroy_exchange(x->exchange);
    x->exchange = NULL;
    if (x->binary.instance != NULL && !x->is_failed) {
        (void)itm_fmi_terminate(&x->binary);
    }
    itm_fmi_free_instance(&x->binary);
}

// ---------------------------------------------------------------------------- intermediate update

// Rates and positions of the ports that take them while the FMU integrates.
static bool lay_out_updates(ItmFmuInstance* x)
{
    const ItmFmuSpec* spec = x->spec;
    size_t most = 2 * (size_t)spec->nport + 1;
    ItmFmuScalar* scalars = calloc(most, sizeof *scalars);
    x->update_port = calloc(most, sizeof *x->update_port);
    x->update_refs = calloc(most, sizeof *x->update_refs);
    bool is_there = scalars != NULL && x->update_port != NULL && x->update_refs != NULL;
    int n = 0;
    for (int i = 0; i < spec->nport && is_there; i++) {
        const ItmFmuPort* port = &spec->ports[i];
        if (port->has_update && port->has_rate) {
            x->update_port[n] = i;
            scalars[n++] = port->rate;
        }
        if (port->has_update && port->has_position) {
            x->update_port[n] = ~i;
            scalars[n++] = port->position;
        }
    }
    for (int i = 0; i < n; i++) {
        x->update_refs[i] = scalars[i].reference;
    }
    is_there = is_there && create_access(&x->update, scalars, n, spec->version);
    free(scalars);
    return is_there;
}

// Linear rate at a time into a step of length h: w(tau) = w + tau/h (w_end - w), s(tau) = s + tau w + tau^2 / (2 h) (w_end - w)
static double get_rate(const ItmFmuInstance* x, int port, double share)
{
    return x->w[port] + share * (x->w_end[port] - x->w[port]);
}

static double get_position(const ItmFmuInstance* x, int port, double tau, double share)
{
    return x->s[port] + tau * (x->w[port] + 0.5 * share * (x->w_end[port] - x->w[port]));
}

// The FMU asks for inputs at a time inside its step.
static void update_inputs(void* context, double time)
{
    ItmFmuInstance* x = context;
    double tau = fmin(fmax(time - x->step_start, 0.0), x->step), share = x->step > 0.0 ? tau / x->step : 0.0;
    x->has_asked = true;
    for (int i = 0; i < x->update.n; i++) {
        int port = x->update_port[i];
        put_scalar(x, &x->update, i, port >= 0 ? get_rate(x, port, share) : get_position(x, ~port, tau, share));
    }
    // inside of fmi3DoStep: an error comes back from there
    (void)write_access(x, &x->update, false);
}

// ---------------------------------------------------------------------------- creation

static bool lay_out(ItmFmuInstance* x)
{
    const ItmFmuSpec* spec = x->spec;
    int nport = spec->nport, n = spec->ninput;
    ItmFmuScalar* in = calloc((size_t)(n + 2 * nport) + 1, sizeof *in);
    ItmFmuScalar* forces = calloc((size_t)nport + 1, sizeof *forces);
    x->rate_at = calloc(2 * (size_t)nport + 2, sizeof *x->rate_at);
    x->reals = calloc(3 * (size_t)nport + (size_t)n + (size_t)spec->nslope + 1, sizeof *x->reals);
    bool is_there = in != NULL && forces != NULL && x->rate_at != NULL && x->reals != NULL && lay_out_updates(x);
    if (is_there) {
        x->position_at = x->rate_at + nport;
        x->s = x->reals;
        x->w = x->s + nport;
        x->w_end = x->w + nport;
        x->input_start = x->w_end + nport;
        x->nominal = x->input_start + n;
        for (int i = 0; i < spec->nslope; i++) {
            x->nominal[i] = spec->slopes[i].nominal;
        }
        for (int i = 0; i < n; i++) {
            in[i] = spec->inputs[i];
        }
        for (int i = 0; i < nport; i++) {
            const ItmFmuPort* port = &spec->ports[i];
            x->rate_at[i] = x->position_at[i] = ITM_NONE;
            if (port->has_rate) {
                x->rate_at[i] = n;
                in[n++] = port->rate;
            }
            if (port->has_position) {
                x->position_at[i] = n;
                in[n++] = port->position;
            }
            forces[i] = port->force;
        }
        is_there = create_access(&x->in, in, n, spec->version) &&
                   create_access(&x->forces, forces, nport, spec->version) &&
                   create_access(&x->out, spec->outputs, spec->noutput, spec->version);
    }
    free(in);
    free(forces);
    return is_there;
}

// Header of a saved state.
typedef struct SavedHead {
    uint64_t size;    // bytes that follow; 0: `number` names a state that is kept in this process
    uint64_t number;  // of the state
    double t, next_event;
    double exchange_step;
    uint64_t is_updating;
} SavedHead;

// Room for a state: what it is now, and half as much again, because it may grow with the discrete states.
static ItmStatus measure_state(ItmFmuInstance* x)
{
    x->state_capacity = x->spec->has_state ? sizeof(SavedHead) : 0;
    if (!x->spec->has_state || !x->spec->has_bytes) {
        return ITM_OK;
    }
    void* state = NULL;
    size_t size = 0;
    ItmStatus status = itm_fmi_get_state(&x->binary, &state);
    status = status == ITM_OK ? itm_fmi_get_state_bytes(&x->binary, state, &size) : status;
    itm_fmi_free_state(&x->binary, &state);
    x->state_capacity += size + size / 2;
    return status;
}

ItmStatus itm_fmi_create_instance(ItmFmuInstance** instance, const ItmFmuSpec* spec, ItmFmuWatch* watch,
                                  ItmFmuLogger* logger, void* logger_context, ItmError* error)
{
    *instance = NULL;
    ItmFmuInstance* x = calloc(1, sizeof *x);
    if (x == NULL) {
        return refuse_memory(error);
    }
    x->spec = spec;
    x->binary.watch = watch;
    x->binary.logger = logger;
    x->binary.logger_context = logger_context;
    x->binary.keeps_past = spec->has_state;
    ItmStatus status = lay_out(x) ? ITM_OK : refuse_memory(&x->binary.error);
    if (x->update.n > 0) {
        x->binary.update = update_inputs;
        x->binary.update_context = x;
        x->binary.update_refs = x->update_refs;
        x->binary.nupdate_ref = x->update.n;
    }
    status = status == ITM_OK ? itm_fmi_load(&x->binary, spec->library, spec->version, spec->is_exchange) : status;
    status = status == ITM_OK ? start(x) : status;
    status = status == ITM_OK ? measure_state(x) : status;
    if (status == ITM_OK) {
        itm_fmi_get_inputs(x, x->input_start);
    }
    if (status != ITM_OK) {
        if (error != NULL) {
            *error = x->binary.error;
        }
        x->is_failed = true;
        itm_fmi_destroy_instance(x);
        return status;
    }
    *instance = x;
    return ITM_OK;
}

void itm_fmi_destroy_instance(ItmFmuInstance* x)
{
    if (x == NULL) {
        return;
    }
    stop(x);
    itm_fmi_unload(&x->binary);
    destroy_access(&x->in);
    destroy_access(&x->forces);
    destroy_access(&x->out);
    free(x->rate_at);
    free(x->reals);
    destroy_access(&x->update);
    free(x->update_port);
    free(x->update_refs);
    free(x);
}

ItmStatus itm_fmi_reset_instance(ItmFmuInstance* x)
{
    if (!x->has_stepped && !x->is_failed) {
        return ITM_OK;
    }
    stop(x);
    return start(x);
}

// ---------------------------------------------------------------------------- inputs and outputs

void itm_fmi_set_motion(ItmFmuInstance* x, const double* s, const double* w, const double* w_end)
{
    size_t size = sizeof(double) * (size_t)x->spec->nport;
    memcpy(x->s, s, size);
    memcpy(x->w, w, size);
    memcpy(x->w_end, w_end != NULL ? w_end : w, size);
}

void itm_fmi_set_inputs(ItmFmuInstance* x, const double* u)
{
    for (int i = 0; i < x->spec->ninput; i++) {
        put_scalar(x, &x->in, i, u[i]);
    }
}

void itm_fmi_get_inputs(ItmFmuInstance* x, double* u)
{
    for (int i = 0; i < x->spec->ninput; i++) {
        u[i] = get_scalar(x, &x->in, i);
    }
}

// Rate and position of the ports at a share of a step of length h.
static void put_ports(ItmFmuInstance* x, double tau, double share)
{
    for (int i = 0; i < x->spec->nport; i++) {
        if (x->rate_at[i] != ITM_NONE) {
            put_scalar(x, &x->in, x->rate_at[i], get_rate(x, i, share));
        }
        if (x->position_at[i] != ITM_NONE) {
            put_scalar(x, &x->in, x->position_at[i], get_position(x, i, tau, share));
        }
    }
}

ItmStatus itm_fmi_feed(ItmFmuInstance* x, double tau, double h)
{
    put_ports(x, tau, h > 0.0 ? tau / h : 0.0);
    return write_access(x, &x->in, !x->spec->is_exchange && !x->binary.has_event_mode);
}

// Inputs at the present motion. Discrete inputs of an FMU with events wait for the event at the start of the next step.
static ItmStatus feed_now(ItmFmuInstance* x)
{
    return itm_fmi_feed(x, 0.0, 0.0);
}

void itm_fmi_get_forces(ItmFmuInstance* x, double* force)
{
    ItmStatus status = x->is_failed ? x->error.status : feed_now(x);
    status = status == ITM_OK ? read_access(x, &x->forces) : status;
    fail(x, status);
    for (int i = 0; i < x->spec->nport; i++) {
        force[i] = get_scalar(x, &x->forces, i);
    }
}

void itm_fmi_get_outputs(ItmFmuInstance* x, double* y)
{
    ItmStatus status = x->is_failed ? x->error.status : feed_now(x);
    status = status == ITM_OK ? read_access(x, &x->out) : status;
    fail(x, status);
    for (int i = 0; i < x->spec->noutput; i++) {
        y[i] = get_scalar(x, &x->out, i);
    }
}

// ---------------------------------------------------------------------------- steps

// The FMU integrates the linear rate itself, and the position from its start to its end.
static ItmStatus give_slopes(ItmFmuInstance* x, double h)
{
    ItmStatus status = ITM_OK;
    for (int i = 0; i < x->spec->nport && status == ITM_OK; i++) {
        const ItmFmuPort* port = &x->spec->ports[i];
        if (port->has_rate) {
            double slope = (x->w_end[i] - x->w[i]) / (h * port->rate.scale);
            status = itm_fmi_set_slopes(&x->binary, &port->rate.reference, 1, &slope);
        }
        if (port->has_position && status == ITM_OK) {
            double slope = 0.5 * (x->w[i] + x->w_end[i]) / port->position.scale;
            status = itm_fmi_set_slopes(&x->binary, &port->position.reference, 1, &slope);
        }
    }
    return status;
}

static bool has_new_inputs(const ItmFmuAccess* a)
{
    bool is_any = false;
    for (int g = 0; g < a->ngroup; g++) {
        is_any = is_any || a->groups[g].is_dirty;
    }
    return is_any;
}

bool itm_fmi_has_discrete_inputs(const ItmFmuInstance* x)
{
    bool is_any = false;
    for (int g = 0; g < x->in.ngroup; g++) {
        is_any = is_any || (x->in.groups[g].is_dirty && x->in.groups[g].is_discrete);
    }
    return is_any;
}

ItmStatus itm_fmi_handle_event(ItmFmuInstance* x, bool* has_new_states)
{
    bool ignored;
    x->nevent++;
    ItmStatus status = itm_fmi_enter_event_mode(&x->binary);
    status = status == ITM_OK ? write_access(x, &x->in, true) : status;
    if (status == ITM_OK) {
        status =
            itm_fmi_update_discrete(&x->binary, has_new_states != NULL ? has_new_states : &ignored, &x->next_event);
    }
    return status == ITM_OK ? itm_fmi_leave_event_mode(&x->binary) : status;
}

// Steps from t over h: one, unless the FMU returns early or has an event inside.
static ItmStatus advance(ItmFmuInstance* x, double t, double h)
{
    double until = t + h, left = h, least = 1e-12 * fmax(fabs(until), h);
    ItmStatus status = ITM_OK;
    for (int n = 0; left > least && status == ITM_OK; n++) {
        if (n > MOST_RETURNS) {
            return itm_error_set(&x->binary.error, ITM_ERR_DIVERGED, "fmi3DoStep", "fmi3DoStep",
                                 "the FMU returned early more than %d times in one step at %.9g s", MOST_RETURNS, t);
        }
        bool is_cut = x->next_event < until - least;
        ItmFmuStepEnd end;
        status = itm_fmi_do_step(&x->binary, t, is_cut ? x->next_event - t : left, &end);
        t = end.is_early ? end.t : is_cut ? x->next_event : until;
        left = until - t;
        x->binary.time = t;
        if (status == ITM_OK && x->binary.has_event_mode && (end.has_event || x->next_event <= t + least)) {
            status = itm_fmi_handle_event(x, NULL);
        }
    }
    return status;
}

static ItmStatus step_cosim(ItmFmuInstance* x, double t, double h)
{
    bool is_linear = x->spec->has_slopes || x->is_updating;
    put_ports(x, is_linear ? 0.0 : 0.5 * h, is_linear ? 0.0 : 0.5);
    bool is_refreshing = x->spec->is_latched && has_new_inputs(&x->in) && h > 2.0 * REFRESH_STEP;
    x->step_start = t;
    x->step = h;
    x->has_asked = false;
    ItmStatus status = write_access(x, &x->in, !x->binary.has_event_mode);
    if (status == ITM_OK && x->binary.has_event_mode && (itm_fmi_has_discrete_inputs(x) || x->next_event <= t)) {
        status = itm_fmi_handle_event(x, NULL);
    }
    if (status == ITM_OK && x->spec->has_slopes) {
        status = give_slopes(x, h);
    }
    if (status == ITM_OK && is_refreshing) {
        status = advance(x, t, REFRESH_STEP);
        t += REFRESH_STEP;
        h -= REFRESH_STEP;
    }
    status = status == ITM_OK ? advance(x, t, h) : status;
    // the FMU has inputs of its last update, not those of the start
    x->is_updating = x->has_asked;
    for (int g = 0; g < x->in.ngroup && x->has_asked; g++) {
        x->in.groups[g].is_dirty = x->in.groups[g].is_dirty || !x->in.groups[g].is_discrete;
    }
    return status;
}

// After a step the ports are where it ended.
static void move_ports(ItmFmuInstance* x, double h)
{
    for (int i = 0; i < x->spec->nport; i++) {
        x->s[i] += 0.5 * h * (x->w[i] + x->w_end[i]);
        x->w[i] = x->w_end[i];
    }
}

ItmStatus itm_fmi_step(ItmFmuInstance* x, double t, double h)
{
    if (x->is_failed || h == 0.0) {
        return x->is_failed ? x->error.status : ITM_OK;
    }
    x->has_stepped = true;
    double from = x->spec->start + t;
    ItmStatus status = x->exchange != NULL ? itm_fmi_integrate(x, from, h) : step_cosim(x, from, h);
    move_ports(x, h);
    x->t = x->binary.time = from + h;
    return fail(x, status);
}

// ---------------------------------------------------------------------------- states

static ItmStatus save_bytes(ItmFmuInstance* x, SavedHead* head, void* state)
{
    size_t size = 0, room = x->state_capacity - sizeof *head;
    ItmStatus status = itm_fmi_get_state_bytes(&x->binary, state, &size);
    if (status == ITM_OK && size > room) {
        return itm_error_set(&x->binary.error, ITM_ERR_CAPACITY, __func__, NULL,
                             "the state of the FMU has grown to %zu bytes at %.9g s; there is room for %zu", size, x->t,
                             room);
    }
    head->size = size;
    return status == ITM_OK ? itm_fmi_serialize(&x->binary, state, head + 1, size) : status;
}

bool itm_fmi_save(ItmFmuInstance* x, void* bytes)
{
    SavedHead* head = bytes;
    void* state = NULL;
    if (x->is_failed || !x->spec->has_state) {
        return !x->is_failed;
    }
    *head = (SavedHead){.t = x->t,
                        .number = x->nsaved,
                        .next_event = x->next_event,
                        .exchange_step = x->exchange != NULL ? itm_fmi_get_exchange_step(x->exchange) : 0.0,
                        .is_updating = x->is_updating};
    ItmStatus status = itm_fmi_get_state(&x->binary, &state);
    if (status == ITM_OK && x->spec->has_bytes) {
        status = save_bytes(x, head, state);
        itm_fmi_free_state(&x->binary, &state);
    } else if (status == ITM_OK) {
        void** slot = &x->states[x->nsaved++ % 64];
        itm_fmi_free_state(&x->binary, slot);
        *slot = state;
    }
    return fail(x, status) == ITM_OK;
}

bool itm_fmi_restore(ItmFmuInstance* x, const void* bytes)
{
    const SavedHead* head = bytes;
    if (x->is_failed || !x->spec->has_state) {
        return !x->is_failed;
    }
    ItmStatus status;
    if (x->spec->has_bytes) {
        void* state = NULL;
        status = itm_fmi_deserialize(&x->binary, head + 1, head->size, &state);
        status = status == ITM_OK ? itm_fmi_set_state(&x->binary, state) : status;
        itm_fmi_free_state(&x->binary, &state);
    } else if (head->number >= x->nsaved || head->number + 64 < x->nsaved) {
        status = itm_error_set(&x->binary.error, ITM_ERR_CAPACITY, __func__, NULL,
                               "the FMU cannot write its state as bytes, and only its last 64 states are kept");
    } else {
        status = itm_fmi_set_state(&x->binary, x->states[head->number % 64]);
    }
    x->t = x->binary.time = head->t;
    x->next_event = head->next_event;
    x->is_updating = head->is_updating != 0;
    x->has_stepped = true;
    // its inputs are those of the saved state now
    status = status == ITM_OK ? read_access(x, &x->in) : status;
    if (status == ITM_OK && x->exchange != NULL) {
        itm_fmi_restore_exchange(x, head->exchange_step);
    }
    return fail(x, status) == ITM_OK;
}

// ---------------------------------------------------------------------------- continuous states

// Co-simulation: by their variables. FMUs may refuse that, which a probe finds out.
void itm_fmi_get_states(ItmFmuInstance* x, double* states)
{
    ItmStatus status = x->is_failed          ? x->error.status
                       : x->exchange != NULL ? itm_fmi_get_exchange_states(x, states)
                                             : ITM_OK;
    for (int i = 0; i < x->spec->nslope && x->exchange == NULL && status == ITM_OK; i++) {
        status = itm_fmi_get(&x->binary, ITM_FMI_FLOAT64, &x->spec->slopes[i].state, 1, &states[i], 1);
    }
    fail(x, status);
}

void itm_fmi_set_states(ItmFmuInstance* x, const double* states)
{
    ItmStatus status = x->is_failed          ? x->error.status
                       : x->exchange != NULL ? itm_fmi_set_exchange_states(x, states)
                                             : ITM_OK;
    for (int i = 0; i < x->spec->nslope && x->exchange == NULL && status == ITM_OK; i++) {
        status = itm_fmi_set(&x->binary, ITM_FMI_FLOAT64, &x->spec->slopes[i].state, 1, &states[i], 1);
    }
    fail(x, status);
}

// ---------------------------------------------------------------------------- table

static void set_motion(void* self, const double* s, const double* w, const double* w_end)
{
    itm_fmi_set_motion(self, s, w, w_end);
}

static void get_forces(void* self, double* force)
{
    itm_fmi_get_forces(self, force);
}

static void set_inputs(void* self, const double* u)
{
    itm_fmi_set_inputs(self, u);
}

static void get_outputs(void* self, double* y)
{
    itm_fmi_get_outputs(self, y);
}

static ItmStatus do_step(void* self, double t, double h, ItmError* error)
{
    ItmFmuInstance* x = self;
    ItmStatus status = itm_fmi_step(x, t, h);
    if (status != ITM_OK) {
        *error = x->error;
    }
    return status;
}

static void reset(void* self)
{
    itm_fmi_reset_instance(self);
}

static size_t get_state_size(void* self)
{
    return ((ItmFmuInstance*)self)->state_capacity;
}

static void save(void* self, void* bytes)
{
    itm_fmi_save(self, bytes);
}

static void restore(void* self, const void* bytes)
{
    itm_fmi_restore(self, bytes);
}

static void get_states(void* self, double* states)
{
    itm_fmi_get_states(self, states);
}

static void set_states(void* self, const double* states)
{
    itm_fmi_set_states(self, states);
}

ItmSubsystem itm_fmi_get_table(ItmFmuInstance* x)
{
    ItmSubsystem table = itm_fmi_describe(x->spec, x->nominal, x->input_start);
    table.self = x;
    table.set_motion = set_motion;
    table.get_forces = get_forces;
    table.set_inputs = set_inputs;
    table.get_outputs = get_outputs;
    table.do_step = do_step;
    table.reset = reset;
    table.get_state_size = get_state_size;
    table.save = save;
    table.restore = restore;
    table.get_states = x->spec->has_state_access ? get_states : NULL;
    table.set_states = x->spec->has_state_access ? set_states : NULL;
    return table;
}
