#include "instance.h"

#include "base/error.h"
#include "io/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES ((size_t)64 << 20)

// ---------------------------------------------------------------------------- resources

static int get_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// A path from a path or a file URI: "file:/x", "file:///x", "file://localhost/x", %20.
static char* make_folder(const char* resources)
{
    const char* at = resources;
    bool is_uri = strncmp(at, "file:", 5) == 0;
    if (is_uri) {
        at += 5;
        if (strncmp(at, "//", 2) == 0) {
            at += 2;
            at += strcspn(at, "/");  // host
        }
    }
    char* path = malloc(strlen(at) + 2);
    size_t n = 0;
    for (; path != NULL && *at != '\0'; at++) {
        bool is_escape = is_uri && at[0] == '%' && get_digit(at[1]) >= 0 && get_digit(at[2]) >= 0;
        path[n++] = is_escape ? (char)(16 * get_digit(at[1]) + get_digit(at[2])) : *at;
        at += is_escape ? 2 : 0;
    }
    if (path != NULL) {
        if (n > 0 && path[n - 1] != '/') {
            path[n++] = '/';
        }
        path[n] = '\0';
    }
    return path;
}

static char* read_resource(const char* folder, const char* name, char** path, size_t* length, ItmError* error)
{
    const char* why = "out of memory";
    size_t size = strlen(folder) + strlen(name) + 1;
    *path = malloc(size);
    char* bytes = NULL;
    if (*path != NULL) {
        snprintf(*path, size, "%s%s", folder, name);
        bytes = itm_bytes_read(*path, MOST_BYTES, length, &why);
    }
    if (bytes == NULL) {
        itm_error_set(error, ITM_ERR_IO, "fmiInstantiate", NULL, "cannot read '%s%s': %s", folder, name, why);
    }
    return bytes;
}

// ---------------------------------------------------------------------------- ports

// Lines "token TOKEN", "mechanism PART NAME START" and "subsystem PART NAME START", fields separated by tabs; START: bits of a number.
// The fields stay in text, which is split at the ends of its lines.
static int parse_ports(char* text, ItmUnitPort* ports, const char** token)
{
    int n = 0;
    *token = "";
    for (char* line = text; line != NULL && *line != '\0';) {
        char* next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        char* part = strchr(line, '\t');
        char* name = part != NULL ? strchr(part + 1, '\t') : NULL;
        if (part != NULL && name == NULL && strncmp(line, "token", 5) == 0) {
            *token = part + 1;
        } else if (name != NULL && n < ITM_UNIT_MOST_PORTS) {
            char* start = strchr(name + 1, '\t');
            unsigned long long bits = start != NULL ? strtoull(start + 1, NULL, 16) : 0;
            double position;
            memcpy(&position, &bits, sizeof position);
            *part = *name = '\0';
            if (start != NULL) {
                *start = '\0';
            }
            ports[n++] = (ItmUnitPort){part + 1, name + 1, strcmp(line, "mechanism") == 0, position};
        }
        line = next;
    }
    return n;
}

// Lines "tunable PARAMETER" of the split text.
static void allow_tuning(ItmUnit* unit, const char* text, size_t length)
{
    for (const char* line = text; line < text + length; line += strlen(line) + 1) {
        if (strncmp(line, "tunable\t", 8) == 0) {
            itm_unit_allow_tuning(unit, line + 8);
        }
    }
}

// ---------------------------------------------------------------------------- instances

static ItmUnit* open_unit(const char* folder, const char* token, ItmError* error)
{
    ItmUnit* unit = NULL;
    char *port_path = NULL, *model_path = NULL;
    size_t nport_byte, nbyte;
    ItmUnitPort ports[ITM_UNIT_MOST_PORTS];
    const char* own_token;
    char* lines = read_resource(folder, "ports.txt", &port_path, &nport_byte, error);
    char* model = lines != NULL ? read_resource(folder, "model.tree", &model_path, &nbyte, error) : NULL;
    if (model != NULL) {
        int n = parse_ports(lines, ports, &own_token);
        if (token == NULL || strcmp(token, own_token) != 0) {
            itm_error_set(error, ITM_ERR_INPUT, "fmiInstantiate", NULL,
                          "the master's token '%.80s' is not that of this FMU, '%.80s'", token != NULL ? token : "",
                          own_token);
        } else {
            itm_unit_create(&unit, model, nbyte, model_path, ports, n, error);
        }
        if (unit != NULL) {
            allow_tuning(unit, lines, nport_byte);
        }
    }
    free(lines);
    free(model);
    free(port_path);
    free(model_path);
    return unit;
}

Instance* instance_create(const char* name, const char* token, const char* resources, ItmError* error)
{
    Instance* x = calloc(1, sizeof *x);
    char* folder = resources != NULL ? make_folder(resources) : NULL;
    if (x == NULL || folder == NULL) {
        itm_error_set(error, ITM_ERR_MEMORY, "fmiInstantiate", NULL, "%s",
                      resources == NULL ? "the master gave no location of the resources" : "out of memory");
        free(x);
        free(folder);
        return NULL;
    }
    x->name = strdup(name != NULL ? name : "");
    x->unit = open_unit(folder, token, error);
    free(folder);
    if (x->unit == NULL || x->name == NULL) {
        instance_destroy(x);
        return NULL;
    }
    return x;
}

void instance_destroy(Instance* x)
{
    if (x != NULL) {
        itm_unit_destroy(x->unit);
        free(x->name);
        free(x);
    }
}

// ---------------------------------------------------------------------------- values and states

// Variables that need the interface model of the coming step, which is lost where outputs are computed.
static bool needs_model(const Instance* x, unsigned reference)
{
    const ItmUnitVariable* v = itm_unit_get_variable(x->unit, (int)reference);
    return v != NULL && (v->kind == ITM_UNIT_W || v->kind == ITM_UNIT_A0 || v->kind == ITM_UNIT_ACCELERATION ||
                         v->kind == ITM_UNIT_RANK || v->kind == ITM_UNIT_VALIDITY);
}

ItmStatus instance_get(Instance* x, const unsigned* references, size_t n, double* values)
{
    ItmStatus status = ITM_OK;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < n && status == ITM_OK; i++) {
            if (needs_model(x, references[i]) == (pass == 1)) {
                status = itm_unit_get(x->unit, (int)references[i], &values[i]);
            }
        }
    }
    return status;
}

ItmStatus instance_set(Instance* x, const unsigned* references, size_t n, const double* values)
{
    ItmStatus status = ITM_OK;
    for (size_t i = 0; i < n && status == ITM_OK; i++) {
        status = itm_unit_set(x->unit, (int)references[i], values[i]);
    }
    return status;
}

bool instance_is_broken_down(ItmStatus status)
{
    return status == ITM_ERR_DIVERGED || status == ITM_ERR_NOT_FINITE;
}

static bool allocate_state(void** state, size_t size)
{
    *state = *state != NULL ? *state : malloc(size + 1);
    return *state != NULL;
}

ItmStatus instance_save(Instance* x, void** state)
{
    size_t size = itm_unit_get_state_size(x->unit);
    return allocate_state(state, size) ? itm_unit_save(x->unit, *state, size) : ITM_ERR_MEMORY;
}

ItmStatus instance_restore(Instance* x, const void* state)
{
    return itm_unit_restore(x->unit, state, itm_unit_get_state_size(x->unit));
}

void instance_free_state(void** state)
{
    if (state != NULL) {
        free(*state);
        *state = NULL;
    }
}

ItmStatus instance_write_state(Instance* x, const void* state, void* bytes, size_t size)
{
    if (size != itm_unit_get_state_size(x->unit)) {
        return ITM_ERR_ARGUMENT;
    }
    memcpy(bytes, state, size);
    return ITM_OK;
}

ItmStatus instance_read_state(Instance* x, const void* bytes, size_t size, void** state)
{
    if (size != itm_unit_get_state_size(x->unit)) {
        return ITM_ERR_ARGUMENT;
    }
    if (!allocate_state(state, size)) {
        return ITM_ERR_MEMORY;
    }
    memcpy(*state, bytes, size);
    return ITM_OK;
}

// ---------------------------------------------------------------------------- derivatives

bool instance_differentiate(Instance* x, const unsigned* unknowns, size_t nunknown, const unsigned* knowns,
                            size_t nknown, const double* seed, double* sensitivity)
{
    int n = itm_unit_get_model_size(x->unit), first = -1;
    for (int i = 0; i < itm_unit_get_variable_count(x->unit) && first < 0; i++) {
        first = itm_unit_get_variable(x->unit, i)->kind == ITM_UNIT_W ? i : -1;
    }
    for (size_t i = 0; i < nunknown; i++) {
        const ItmUnitVariable* unknown = itm_unit_get_variable(x->unit, (int)unknowns[i]);
        sensitivity[i] = 0.0;
        for (size_t j = 0; j < nknown; j++) {
            const ItmUnitVariable* known = itm_unit_get_variable(x->unit, (int)knowns[j]);
            double W = 0.0;
            bool is_good = unknown != NULL && known != NULL && unknown->kind == ITM_UNIT_ACCELERATION &&
                           known->kind == ITM_UNIT_FORCE_IN &&
                           itm_unit_get(x->unit, first + unknown->index * n + known->index, &W) == ITM_OK;
            if (!is_good) {
                return false;
            }
            sensitivity[i] += W * seed[j];
        }
    }
    return true;
}
