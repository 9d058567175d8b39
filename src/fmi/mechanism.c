#include "fmi/mechanism.h"

#include "base/error.h"
#include "cosim/cosim.h"
#include "fmi/instance.h"
#include "rim/message.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// clang-format off
typedef struct Mechanism {
    ItmFmu* fmu;
    ItmFmuSpec spec;             // of the running FMU: the choices, and where the step is ours a setting of it
    ItmFmuSetting* settings;     // own copy, the step last; NULL: the step is not ours  (nsetting)
    ItmSubsystem table;          // the running FMU
    int  nport, ninput, noutput; // ports; inputs and outputs of the FMU
    const char** port_names;     //                                                     (nport)
    int  *force, *rate, *position; // input and outputs of each port                    (nport)
    double *force_sign, *rate_sign, *position_sign, *offset; //                         (nport)
    double *u, *y;               // inputs and outputs                                  (ninput), (noutput)
    int  nfree;                  // inputs that are neither forces nor of the interface model
    int* free_input;             //                                                     (nfree)
    const char** free_names;     //                                                     (nfree)
    ItmOutputInfo* outputs;      //                                                     (noutput)
    // interface model port; row[i] is the row of port i
    bool has_model;
    int* row;                    //                                                     (nport)
    int *W, *a0, *P0, *P1;       // places in outputs and inputs, by rows of the FMU    (nport^2), (nport)
    int  theta, use_impulses;
    double t, H;                 // of the macro step that has begun                    s
    ItmFmuProcess* process;      // of the FMU, NULL: it runs in this process
    ItmFmuPortCall* own_call;    // there; otherwise the call lies in the process's mapping
    void* own_rows;              // likewise, contact rows and results                  (ITM_MOST_RUN_BYTES)
    bool has_layer;              // level 2
    int  ncontact;               // rows of contacts in the model of the macro step
    size_t rows_size;            // bytes of these rows, 0: micro steps are taken by the FMU
    bool has_derivatives;
    uint32_t *acceleration, *force_reference; //                                        (nport)
    double* derivative_scale;    // of the accelerations, in our units                  (nport)
    double* force_scale;         //                                                     (nport)
    void* memory;
} Mechanism;
// clang-format on

// ---------------------------------------------------------------------------- names

static int find_input(const ItmFmu* fmu, const char* name)
{
    for (int i = 0; i < itm_fmi_get_spec(fmu)->ninput; i++) {
        if (strcmp(itm_fmi_get_input_name(fmu, i), name) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}

static int find_output(const ItmFmu* fmu, const char* name)
{
    for (int i = 0; i < itm_fmi_get_spec(fmu)->noutput; i++) {
        if (strcmp(itm_fmi_get_output_info(fmu, i).name, name) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}

// A variable of a port and its sign.
static ItmStatus find_variable(const ItmFmu* fmu, const char* port, const char* name, bool is_input, int* place,
                               double* sign, ItmError* error)
{
    *sign = name[0] == '-' ? -1.0 : 1.0;
    const char* bare = name + (name[0] == '-');
    *place = is_input ? find_input(fmu, bare) : find_output(fmu, bare);
    return *place != ITM_NONE
               ? ITM_OK
               : itm_error_set(error, ITM_ERR_INPUT, "itm_fmi_make_mechanism", name,
                               "port '%s': the FMU has no %s '%s'%s", port, is_input ? "input" : "output", bare,
                               is_input ? "" : " (other variables can be named in 'record')");
}

// ---------------------------------------------------------------------------- interface model port

// The row of W that belongs to an input "name.force": ports of the FMU are counted in the order of its inputs.
static int find_row(const ItmFmu* fmu, int force)
{
    int row = 0;
    for (int i = 0; i < force; i++) {
        const char* name = itm_fmi_get_input_name(fmu, i);
        size_t n = strlen(name);
        row += n > 6 && strcmp(name + n - 6, ".force") == 0;
    }
    return row;
}

// Whether the FMU has the variables of an interface model for exactly these ports.
static void find_model(Mechanism* x, const ItmFmu* fmu)
{
    char name[80];
    int n = x->nport;
    bool has_all = true;
    for (int i = 0; i < n * n; i++) {
        snprintf(name, sizeof name, "rim.W[%d,%d]", i / n + 1, i % n + 1);
        x->W[i] = find_output(fmu, name);
        has_all = has_all && x->W[i] != ITM_NONE;
    }
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "rim.a0[%d]", i + 1);
        x->a0[i] = find_output(fmu, name);
        snprintf(name, sizeof name, "rim.P0[%d]", i + 1);
        x->P0[i] = find_input(fmu, name);
        snprintf(name, sizeof name, "rim.P1[%d]", i + 1);
        x->P1[i] = find_input(fmu, name);
        x->row[i] = find_row(fmu, x->force[i]);
        has_all = has_all && x->a0[i] != ITM_NONE && x->P0[i] != ITM_NONE && x->P1[i] != ITM_NONE && x->row[i] < n;
    }
    snprintf(name, sizeof name, "rim.a0[%d]", n + 1);
    x->theta = find_input(fmu, "rim.theta");
    x->use_impulses = find_input(fmu, "rim.use_impulses");
    x->has_model = has_all && x->theta != ITM_NONE && x->use_impulses != ITM_NONE && find_output(fmu, name) == ITM_NONE;
}

// ---------------------------------------------------------------------------- calls at the ports

static ItmFmuPortCall* get_call(Mechanism* x)
{
    return x->process != NULL ? itm_fmi_get_port_call(x->process) : x->own_call;
}

static ItmStatus make_call(Mechanism* x, ItmFmuPortAction action, ItmError* error)
{
    ItmFmuPortCall* call = get_call(x);
    call->action = (int)action;
    call->n = x->nport;
    if (x->process != NULL) {
        return itm_fmi_call_port(x->process, error);
    }
    ItmFmuInstance* instance = x->table.self;
    ItmStatus status = itm_fmi_serve_port(instance, call, x->own_rows);
    if (status != ITM_OK) {
        *error = instance->error;
    }
    return status;
}

// Forces by rows of the FMU.
static void put_forces(const Mechanism* x, ItmFmuPortCall* call, double h, const double* lambda)
{
    call->h = h;
    for (int i = 0; i < x->nport; i++) {
        call->lambda[x->row[i]] = x->force_sign[i] * lambda[i];
    }
}

static void take_model(const Mechanism* x, const double* W_rows, const double* a0_rows, double* W, double* a0)
{
    int n = x->nport;
    for (int i = 0; i < n; i++) {
        a0[i] = x->rate_sign[i] * a0_rows[x->row[i]];
        for (int j = 0; j < n; j++) {
            W[i * n + j] = x->rate_sign[i] * x->force_sign[j] * W_rows[x->row[i] * n + x->row[j]];
        }
    }
}

static ItmStatus predict(void* self, double h, const double* lambda, double* w_end, ItmError* error)
{
    Mechanism* x = self;
    ItmFmuPortCall* call = get_call(x);
    put_forces(x, call, h, lambda);
    ItmStatus status = make_call(x, ITM_FMU_PORT_PREDICT, error);
    for (int i = 0; i < x->nport; i++) {
        w_end[i] = x->rate_sign[i] * call->w[x->row[i]];
    }
    return status;
}

static ItmStatus advance(void* self, double h, const double* lambda, double* s, double* w, ItmError* error)
{
    Mechanism* x = self;
    ItmFmuPortCall* call = get_call(x);
    put_forces(x, call, h, lambda);
    ItmStatus status = make_call(x, ITM_FMU_PORT_ADVANCE, error);
    for (int i = 0; i < x->nport; i++) {
        s[i] = x->position_sign[i] * call->s[x->row[i]] + x->offset[i];
        w[i] = x->rate_sign[i] * call->w[x->row[i]];
    }
    return status;
}

// ---------------------------------------------------------------------------- macro steps with the interface model

// Contact rows are in the order and with the signs of the FMU.
static bool hands_over(const Mechanism* x)
{
    bool is_same = true;
    for (int i = 0; i < x->nport; i++) {
        is_same = is_same && x->row[i] == i && x->force_sign[i] == 1.0 && x->rate_sign[i] == 1.0 &&
                  x->position_sign[i] == 1.0 && x->offset[i] == 0.0;
    }
    return is_same;
}

static ItmStatus begin(void* self, double t, double H, int K, bool use_heun, double* W, double* a0, ItmError* error)
{
    Mechanism* x = self;
    x->t = t;
    x->H = H;
    ItmFmuPortCall* call = x->has_layer ? get_call(x) : x->own_call;
    ItmStatus status = ITM_OK;
    if (x->has_layer) {
        call->t = t;
        call->H = H;
        call->K = K;
        call->use_heun = use_heun;
        x->table.set_inputs(x->table.self, x->u);
        call->rows_size = 0;
        status = make_call(x, ITM_FMU_PORT_BEGIN, error);
        x->ncontact = call->ncontact;
        uint64_t size = call->rows_size;  // read once: the host of an FMU may change it at any time
        x->rows_size = status == ITM_OK && hands_over(x) && size <= ITM_MOST_RUN_BYTES ? (size_t)size : 0;
    } else {
        x->table.get_outputs(x->table.self, x->y);
        for (int i = 0; i < x->nport * x->nport; i++) {
            call->W[i] = x->y[x->W[i]];
        }
        for (int i = 0; i < x->nport; i++) {
            call->a0[i] = x->y[x->a0[i]];
        }
        x->ncontact = 0;
    }
    take_model(x, call->W, call->a0, W, a0);
    return status;
}

static void* get_rows(void* self, size_t* size)
{
    Mechanism* x = self;
    *size = x->rows_size;
    return x->process != NULL ? itm_fmi_get_port_rows(x->process) : x->own_rows;
}

// Whether results of micro steps are in the place of the rows.
static bool has_results(Mechanism* x)
{
    ItmRimMessage message = {.is_result = 0};
    size_t size;
    const void* rows = get_rows(x, &size);
    if (size > 0) {
        memcpy(&message, rows, sizeof message);
    }
    return message.is_result != 0;
}

static bool is_smooth(void* self)
{
    return ((const Mechanism*)self)->ncontact == 0;
}

static ItmStatus step(Mechanism* x, double t, double h, ItmError* error)
{
    x->table.set_inputs(x->table.self, x->u);
    return x->table.do_step(x->table.self, t, h, error);
}

// Level 1: impulses are inputs of a step.
static ItmStatus commit_variables(Mechanism* x, const double* P0, const double* P1, double theta, ItmError* error)
{
    for (int i = 0; i < x->nport; i++) {
        x->u[x->P0[x->row[i]]] = x->force_sign[i] * P0[i];
        x->u[x->P1[x->row[i]]] = x->force_sign[i] * P1[i];
    }
    x->u[x->theta] = theta;
    x->u[x->use_impulses] = 1.0;
    return step(x, x->t, x->H, error);
}

static ItmStatus commit(void* self, const double* P0, const double* P1, double theta, ItmError* error)
{
    Mechanism* x = self;
    if (!x->has_layer) {
        return commit_variables(x, P0, P1, theta, error);
    }
    ItmFmuPortCall* call = get_call(x);
    call->theta = theta;
    call->rows_size = has_results(x) ? x->rows_size : 0;
    for (int i = 0; i < x->nport; i++) {
        call->P0[x->row[i]] = x->force_sign[i] * P0[i];
        call->P1[x->row[i]] = x->force_sign[i] * P1[i];
    }
    return make_call(x, ITM_FMU_PORT_COMMIT, error);
}

static void cancel(void* self)
{
    Mechanism* x = self;
    ItmError ignored;
    if (x->has_layer) {
        make_call(x, ITM_FMU_PORT_CANCEL, &ignored);
    }
}

// ---------------------------------------------------------------------------- derivatives

// The variable that is declared as the derivative of another, of floating-point type; ITM_NONE: there is none.
static int find_derivative(const ItmFmiDescription* d, const char* name)
{
    int variable = itm_description_find(d, name + (name[0] == '-'));
    for (int i = 0; i < d->nvariable && variable != ITM_NONE; i++) {
        if (d->variables[i].derivative_of == variable && d->variables[i].type == ITM_FMI_FLOAT64 &&
            d->variables[i].ndimension == 0) {
            return i;
        }
    }
    return ITM_NONE;
}

static double get_scale(const ItmFmiDescription* d, int variable)
{
    ItmFmiConversion c = {.is_known = false};
    bool is_known = itm_description_convert_unit(&c, d, variable, NULL) == ITM_OK && c.is_known && c.factor != 0.0;
    return is_known ? c.factor : 1.0;
}

// Accelerations and forces of the ports by reference. False: an acceleration is not a variable of the FMU.
static bool find_accelerations(Mechanism* x, const ItmFmu* fmu, const ItmFmuMechanismPort* ports)
{
    const ItmFmiDescription* d = itm_fmi_get_description(fmu);
    bool has_all = !itm_fmi_get_spec(fmu)->is_exchange && d->kinds[ITM_FMI_CO_SIMULATION].has_directional_derivatives;
    for (int i = 0; i < x->nport && has_all; i++) {
        int a = find_derivative(d, ports[i].rate),
            f = itm_description_find(d, ports[i].force + (ports[i].force[0] == '-'));
        has_all = a != ITM_NONE && f != ITM_NONE && d->variables[f].type == ITM_FMI_FLOAT64;
        if (has_all) {
            x->acceleration[i] = d->variables[a].value_reference;
            x->force_reference[i] = d->variables[f].value_reference;
            x->derivative_scale[i] = get_scale(d, a);
            x->force_scale[i] = get_scale(d, f);
        }
    }
    return has_all;
}

static void put_force_inputs(Mechanism* x, const double* force)
{
    for (int i = 0; i < x->nport; i++) {
        x->u[x->force[i]] = x->force_sign[i] * force[i];
    }
    if (x->has_model) {
        x->u[x->use_impulses] = 0.0;
    }
}

static ItmStatus get_derivatives(void* self, const double* force, double* W, double* dw_dt, ItmError* error)
{
    Mechanism* x = self;
    ItmFmuPortCall* call = get_call(x);
    int n = x->nport;
    put_force_inputs(x, force);
    x->table.set_inputs(x->table.self, x->u);
    memcpy(call->acceleration, x->acceleration, sizeof *x->acceleration * (size_t)n);
    memcpy(call->force, x->force_reference, sizeof *x->force_reference * (size_t)n);
    ItmStatus status = make_call(x, ITM_FMU_PORT_DERIVE, error);
    if (status == ITM_OK && !call->has_derivatives) {
        return itm_error_set(error, ITM_ERR_UNSUPPORTED, "itm_fmi_make_mechanism", NULL,
                             "the FMU claims directional derivatives, but returned none; use mobility: probing");
    }
    for (int i = 0; i < n; i++) {
        double scale = x->rate_sign[i] * x->derivative_scale[i];
        dw_dt[i] = scale * call->a0[i];
        for (int j = 0; j < n; j++) {
            W[i * n + j] = scale * x->force_sign[j] / x->force_scale[j] * call->W[i * n + j];
        }
    }
    return status;
}

// What the running FMU offers: functions are looked up, and derivatives are computed once.
static ItmStatus look(Mechanism* x, const ItmFmu* fmu, const ItmFmuMechanismPort* ports, ItmError* error)
{
    ItmFmuPortCall* call = get_call(x);
    ItmStatus status = make_call(x, ITM_FMU_PORT_LOOK, error);
    bool has_manifest = itm_archive_find(itm_fmi_get_archive((ItmFmu*)(uintptr_t)fmu), ITM_LAYER_MANIFEST) != ITM_NONE;
    x->has_layer = x->has_model && call->has_layer && has_manifest;
    x->has_derivatives = status == ITM_OK && call->has_derivatives && find_accelerations(x, fmu, ports);
    if (x->has_derivatives) {
        ItmError ignored;
        x->has_derivatives = get_derivatives(x, x->force_sign, x->own_call->W, x->own_call->a0, &ignored) == ITM_OK;
    }
    return status;
}

// ---------------------------------------------------------------------------- step

// The parameter of an FMU with the interface model port that fixes its macro step; ITM_NONE: there is none.
static int find_step(const ItmFmu* fmu)
{
    const ItmFmiDescription* d = itm_fmi_get_description(fmu);
    bool has_manifest = itm_archive_find(itm_fmi_get_archive((ItmFmu*)(uintptr_t)fmu), ITM_LAYER_MANIFEST) != ITM_NONE;
    int variable = has_manifest ? itm_description_find(d, ITM_LAYER_STEP) : ITM_NONE;
    bool is_parameter = variable != ITM_NONE && d->variables[variable].causality == ITM_FMI_PARAMETER &&
                        d->variables[variable].type == ITM_FMI_FLOAT64 && d->variables[variable].count == 1;
    return is_parameter ? variable : ITM_NONE;
}

// The value that the choices give the step; 0: none.
static double get_chosen_step(const ItmFmu* fmu, int variable)
{
    const ItmFmuSpec* spec = itm_fmi_get_spec(fmu);
    uint32_t reference = itm_fmi_get_description(fmu)->variables[variable].value_reference;
    double step = 0.0;
    for (int i = 0; i < spec->nsetting; i++) {
        const ItmFmuScalar* v = &spec->settings[i].variable;
        step = v->reference == reference && v->type == ITM_FMI_FLOAT64 ? spec->settings[i].value : step;
    }
    return step;
}

double itm_fmi_get_mechanism_step(const ItmFmu* fmu)
{
    int variable = find_step(fmu);
    double chosen = variable != ITM_NONE ? get_chosen_step(fmu, variable) : 0.0;
    return chosen > 0.0 ? chosen : variable != ITM_NONE ? 0.0 : itm_fmi_get_fixed_step(fmu);
}

// A spec of its own where the step is ours to set.
static bool own_step(Mechanism* x)
{
    int variable = find_step(x->fmu);
    x->spec = *itm_fmi_get_spec(x->fmu);
    if (variable == ITM_NONE || get_chosen_step(x->fmu, variable) > 0.0) {
        return true;
    }
    const ItmFmiVariable* v = &itm_fmi_get_description(x->fmu)->variables[variable];
    x->settings = calloc((size_t)x->spec.nsetting + 1, sizeof *x->settings);
    if (x->settings == NULL) {
        return false;
    }
    memcpy(x->settings, x->spec.settings, sizeof *x->settings * (size_t)x->spec.nsetting);
    x->settings[x->spec.nsetting] = (ItmFmuSetting){
        .variable = {.reference = v->value_reference, .type = ITM_FMI_FLOAT64, .count = 1, .scale = 1.0},
        .phase = ITM_FMU_START,
        .value = itm_fmi_get_fixed_step(x->fmu)};
    x->spec.nsetting++;
    x->spec.settings = x->settings;
    return true;
}

// The FMU starts anew where its step is another one.
static ItmStatus set_step(void* self, double h, ItmError* error)
{
    Mechanism* x = self;
    ItmFmuSetting* step = &x->settings[x->spec.nsetting - 1];
    double before = step->value;
    ItmSubsystem table;
    ItmFmuProcess* process;
    if (fabs(before - h) <= 1e-12 * h) {
        return ITM_OK;
    }
    step->value = h;
    ItmStatus status = itm_fmi_make_variant(&table, x->fmu, &x->spec, &process, error);
    if (status != ITM_OK) {
        step->value = before;
        return status;
    }
    x->table.destroy(x->table.self);
    x->table = table;
    x->process = process;
    return ITM_OK;
}

// ---------------------------------------------------------------------------- functions of the table

static ItmStatus get_motion(void* self, double* s, double* w, ItmError* error)
{
    Mechanism* x = self;
    (void)error;
    x->table.get_outputs(x->table.self, x->y);
    for (int i = 0; i < x->nport; i++) {
        s[i] = x->position_sign[i] * x->y[x->position[i]] + x->offset[i];
        w[i] = x->rate_sign[i] * x->y[x->rate[i]];
    }
    return ITM_OK;
}

static ItmStatus do_step(void* self, double t, double h, const double* force, ItmError* error)
{
    Mechanism* x = self;
    put_force_inputs(x, force);
    return step(x, t, h, error);
}

static ItmStatus set_inputs(void* self, const double* u, ItmError* error)
{
    Mechanism* x = self;
    (void)error;
    for (int i = 0; i < x->nfree; i++) {
        x->u[x->free_input[i]] = u[i];
    }
    return ITM_OK;
}

static ItmStatus get_outputs(void* self, double* y, ItmError* error)
{
    Mechanism* x = self;
    (void)error;
    x->table.get_outputs(x->table.self, y);
    return ITM_OK;
}

static ItmStatus reset(void* self, ItmError* error)
{
    Mechanism* x = self;
    (void)error;
    memset(x->u, 0, sizeof(double) * (size_t)x->ninput);
    x->table.reset(x->table.self);
    return ITM_OK;
}

static size_t get_state_size(void* self)
{
    const Mechanism* x = self;
    return x->table.get_state_size(x->table.self) + sizeof(double) * (size_t)x->ninput;
}

static ItmStatus save(void* self, void* bytes)
{
    const Mechanism* x = self;
    memcpy(bytes, x->u, sizeof(double) * (size_t)x->ninput);
    x->table.save(x->table.self, (char*)bytes + sizeof(double) * (size_t)x->ninput);
    return ITM_OK;
}

static ItmStatus restore(void* self, const void* bytes)
{
    Mechanism* x = self;
    memcpy(x->u, bytes, sizeof(double) * (size_t)x->ninput);
    x->table.restore(x->table.self, (const char*)bytes + sizeof(double) * (size_t)x->ninput);
    return ITM_OK;
}

static void destroy(void* self)
{
    Mechanism* x = self;
    if (x->table.destroy != NULL) {
        x->table.destroy(x->table.self);
    }
    free(x->own_call);
    free(x->own_rows);
    free(x->settings);
    free(x->memory);
    free(x);
}

// ---------------------------------------------------------------------------- creation

static bool allocate(Mechanism* x, int nport, int ninput, int noutput)
{
    size_t n = (size_t)nport, nu = (size_t)ninput + 1, ny = (size_t)noutput + 1;
    double** reals[] = {&x->force_sign, &x->rate_sign,        &x->position_sign,
                        &x->offset,     &x->derivative_scale, &x->force_scale};
    int** ints[] = {&x->force, &x->rate, &x->position, &x->row, &x->a0, &x->P0, &x->P1};
    size_t size = sizeof(double) * (6 * n + nu + ny) + sizeof(void*) * (n + nu) + sizeof(ItmOutputInfo) * ny +
                  sizeof(int) * (7 * n + n * n + nu) + sizeof(uint32_t) * 2 * n;
    char* at = x->memory = calloc(1, size + 64);
    x->own_call = calloc(1, sizeof *x->own_call);
    if (at == NULL || x->own_call == NULL) {
        return false;
    }
    x->outputs = (ItmOutputInfo*)(void*)at;
    at += sizeof(ItmOutputInfo) * ny;
    for (int i = 0; i < 6; i++, at += sizeof(double) * n) {
        *reals[i] = (double*)(void*)at;
    }
    x->u = (double*)(void*)at;
    x->y = x->u + nu;
    at = (char*)(x->y + ny);
    x->port_names = (const char**)(void*)at;
    x->free_names = x->port_names + n;
    at = (char*)(x->free_names + nu);
    for (int i = 0; i < 7; i++, at += sizeof(int) * n) {
        *ints[i] = (int*)(void*)at;
    }
    x->W = (int*)(void*)at;
    x->free_input = x->W + n * n;
    x->acceleration = (uint32_t*)(void*)(x->free_input + nu);
    x->force_reference = x->acceleration + n;
    x->nport = nport;
    x->ninput = ninput;
    x->noutput = noutput;
    return true;
}

static bool is_own_input(const Mechanism* x, int input)
{
    bool is = x->has_model && (input == x->theta || input == x->use_impulses);
    for (int i = 0; i < x->nport && !is; i++) {
        is = input == x->force[i] || (x->has_model && (input == x->P0[i] || input == x->P1[i]));
    }
    return is;
}

static ItmStatus find_ports(Mechanism* x, const ItmFmu* fmu, const ItmFmuMechanismPort* ports, ItmError* error)
{
    ItmStatus status = ITM_OK;
    for (int i = 0; i < x->nport && status == ITM_OK; i++) {
        const ItmFmuMechanismPort* port = &ports[i];
        x->port_names[i] = port->name;
        x->offset[i] = port->offset;
        status = find_variable(fmu, port->name, port->force, true, &x->force[i], &x->force_sign[i], error);
        if (status == ITM_OK) {
            status = find_variable(fmu, port->name, port->rate, false, &x->rate[i], &x->rate_sign[i], error);
        }
        if (status == ITM_OK) {
            status =
                find_variable(fmu, port->name, port->position, false, &x->position[i], &x->position_sign[i], error);
        }
    }
    find_model(x, fmu);
    for (int i = 0; i < x->ninput && status == ITM_OK; i++) {
        if (!is_own_input(x, i)) {
            x->free_input[x->nfree] = i;
            x->free_names[x->nfree++] = itm_fmi_get_input_name(fmu, i);
        }
    }
    for (int i = 0; i < x->noutput; i++) {
        x->outputs[i] = itm_fmi_get_output_info(fmu, i);
    }
    return status;
}

static ItmForeignMechanism make_table(Mechanism* x, const ItmFmu* fmu)
{
    bool has_state = itm_fmi_get_spec(fmu)->has_state && x->table.save != NULL;
    return (ItmForeignMechanism){.self = x,
                                 .nport = x->nport,
                                 .port_names = x->port_names,
                                 .ninput = x->nfree,
                                 .input_names = x->free_names,
                                 .noutput = x->noutput,
                                 .outputs = x->outputs,
                                 .step = x->settings != NULL ? x->settings[x->spec.nsetting - 1].value
                                                             : itm_fmi_get_mechanism_step(fmu),
                                 .set_step = x->settings != NULL ? set_step : NULL,
                                 .get_motion = get_motion,
                                 .do_step = do_step,
                                 .set_inputs = set_inputs,
                                 .get_outputs = get_outputs,
                                 .reset = reset,
                                 .get_state_size = has_state ? get_state_size : NULL,
                                 .save = has_state ? save : NULL,
                                 .is_state_local = !itm_fmi_get_spec(fmu)->has_bytes,
                                 .restore = has_state ? restore : NULL,
                                 .get_derivatives = x->has_derivatives ? get_derivatives : NULL,
                                 .begin = x->has_model ? begin : NULL,
                                 .is_smooth = x->has_model ? is_smooth : NULL,
                                 .get_rows = x->has_layer ? get_rows : NULL,
                                 .predict = x->has_layer ? predict : NULL,
                                 .advance = x->has_layer ? advance : NULL,
                                 .commit = x->has_model ? commit : NULL,
                                 .cancel = x->has_model ? cancel : NULL,
                                 .destroy = destroy};
}

ItmStatus itm_fmi_make_mechanism(ItmForeignMechanism* mechanism, ItmFmu* fmu, const ItmFmuMechanismPort* ports,
                                 int nport, ItmError* error)
{
    ItmError ignored;
    error = error != NULL ? error : &ignored;
    const ItmFmuSpec* spec = itm_fmi_get_spec(fmu);
    if (nport > ITM_FMU_MOST_FORCES) {
        return itm_error_set(error, ITM_ERR_UNSUPPORTED, __func__, NULL, "%d ports of a mechanism: at most %d", nport,
                             ITM_FMU_MOST_FORCES);
    }
    Mechanism* x = calloc(1, sizeof *x);
    if (x == NULL || !allocate(x, nport, spec->ninput, spec->noutput)) {
        if (x != NULL) {
            destroy(x);
        }
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
    x->fmu = fmu;
    ItmStatus status = find_ports(x, fmu, ports, error);
    if (status == ITM_OK && !own_step(x)) {
        status = itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
    status = status == ITM_OK ? itm_fmi_make_variant(&x->table, fmu, &x->spec, &x->process, error) : status;
    if (status != ITM_OK) {
        x->table.destroy = NULL;
        destroy(x);
        return status;
    }
    status = look(x, fmu, ports, error);
    // pages that are not written cost nothing
    x->own_rows = x->process == NULL && x->has_layer ? malloc(ITM_MOST_RUN_BYTES) : NULL;
    if (status == ITM_OK && x->process == NULL && x->has_layer && x->own_rows == NULL) {
        status = itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
    if (status != ITM_OK) {
        destroy(x);
        return status;
    }
    *mechanism = make_table(x, fmu);
    return ITM_OK;
}
