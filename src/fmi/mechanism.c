#include "fmi/mechanism.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// clang-format off
typedef struct Mechanism {
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

static ItmStatus begin(void* self, double t, double H, int K, bool use_heun, double* W, double* a0, ItmError* error)
{
    Mechanism* x = self;
    int n = x->nport;
    (void)K;
    (void)use_heun;
    (void)error;
    x->t = t;
    x->H = H;
    x->table.get_outputs(x->table.self, x->y);
    for (int i = 0; i < n; i++) {
        a0[i] = x->rate_sign[i] * x->y[x->a0[x->row[i]]];
        for (int j = 0; j < n; j++) {
            W[i * n + j] = x->rate_sign[i] * x->force_sign[j] * x->y[x->W[x->row[i] * n + x->row[j]]];
        }
    }
    return ITM_OK;
}

static ItmStatus step(Mechanism* x, double t, double h, ItmError* error)
{
    x->table.set_inputs(x->table.self, x->u);
    return x->table.do_step(x->table.self, t, h, error);
}

static ItmStatus commit(void* self, const double* P0, const double* P1, double theta, ItmError* error)
{
    Mechanism* x = self;
    for (int i = 0; i < x->nport; i++) {
        x->u[x->P0[x->row[i]]] = x->force_sign[i] * P0[i];
        x->u[x->P1[x->row[i]]] = x->force_sign[i] * P1[i];
    }
    x->u[x->theta] = theta;
    x->u[x->use_impulses] = 1.0;
    return step(x, x->t, x->H, error);
}

static void cancel(void* self)
{
    (void)self;  // nothing has been set
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
    for (int i = 0; i < x->nport; i++) {
        x->u[x->force[i]] = x->force_sign[i] * force[i];
    }
    if (x->has_model) {
        x->u[x->use_impulses] = 0.0;
    }
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
    free(x->memory);
    free(x);
}

// ---------------------------------------------------------------------------- creation

static bool allocate(Mechanism* x, int nport, int ninput, int noutput)
{
    size_t n = (size_t)nport, nu = (size_t)ninput + 1, ny = (size_t)noutput + 1;
    double** reals[] = {&x->force_sign, &x->rate_sign, &x->position_sign, &x->offset};
    int** ints[] = {&x->force, &x->rate, &x->position, &x->row, &x->a0, &x->P0, &x->P1};
    size_t size = sizeof(double) * (4 * n + nu + ny) + sizeof(void*) * (n + nu) + sizeof(ItmOutputInfo) * ny +
                  sizeof(int) * (7 * n + n * n + nu);
    char* at = x->memory = calloc(1, size + 64);
    if (at == NULL) {
        return false;
    }
    x->outputs = (ItmOutputInfo*)(void*)at;
    at += sizeof(ItmOutputInfo) * ny;
    for (int i = 0; i < 4; i++, at += sizeof(double) * n) {
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
                                 .step = itm_fmi_get_fixed_step(fmu),
                                 .get_motion = get_motion,
                                 .do_step = do_step,
                                 .set_inputs = set_inputs,
                                 .get_outputs = get_outputs,
                                 .reset = reset,
                                 .get_state_size = has_state ? get_state_size : NULL,
                                 .save = has_state ? save : NULL,
                                 .is_state_local = !itm_fmi_get_spec(fmu)->has_bytes,
                                 .restore = has_state ? restore : NULL,
                                 .begin = x->has_model ? begin : NULL,
                                 .commit = x->has_model ? commit : NULL,
                                 .cancel = x->has_model ? cancel : NULL,
                                 .destroy = destroy};
}

ItmStatus itm_fmi_make_mechanism(ItmForeignMechanism* mechanism, ItmFmu* fmu, const ItmFmuMechanismPort* ports,
                                 int nport, ItmError* error)
{
    const ItmFmuSpec* spec = itm_fmi_get_spec(fmu);
    Mechanism* x = calloc(1, sizeof *x);
    if (x == NULL || !allocate(x, nport, spec->ninput, spec->noutput)) {
        free(x);
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
    ItmStatus status = find_ports(x, fmu, ports, error);
    status = status == ITM_OK ? itm_fmi_make_subsystem(&x->table, fmu, NULL, error) : status;
    if (status != ITM_OK) {
        x->table.destroy = NULL;
        destroy(x);
        return status;
    }
    *mechanism = make_table(x, fmu);
    return ITM_OK;
}
