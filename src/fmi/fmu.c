// From a description and the user's choices to a spec, and to a running subsystem.
#define _GNU_SOURCE
#include "fmi/fmu.h"

#include "base/error.h"
#include "base/guard.h"
#include "fmi/instance.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NOTES 8
#define MOST_ELEMENTS 10000  // of an array that are recorded one by one

// clang-format off
struct ItmFmu {
    ItmArchive* archive;
    ItmFmiDescription* description;
    const char* folder;          // unpacked; belongs to the archive, NULL: not yet
    char*   path;
    ItmFmuDef def;               // numbers of it only: texts and arrays are the caller's
    ItmFmuSpec spec;
    char   *name, *library, *resources;
    ItmFmuSetting* settings;     //                                       (nsetting)
    ItmFmuScalar*  inputs;       //                                       (ninput)
    ItmFmuScalar*  outputs;      //                                       (noutput)
    ItmFmuPort*    ports;        //                                       (nport)
    ItmFmuSlope*   slopes;       //                                       (nslope)
    char**  input_names;         //                                       (ninput)
    char**  port_names;          //                                       (nport)
    bool    is_proven;
    char*   notes[MOST_NOTES];
    int     nnote;
    ItmOutputInfo* infos;        // name and unit belong to it            (noutput)
};
// clang-format on

ItmFmuDef itm_default_fmi_def(void)
{
    return (ItmFmuDef){.kind = ITM_NONE, .stop = NAN, .isolation = ITM_FMU_PROCESS, .limits = itm_default_fmi_limits()};
}

static ItmStatus refuse_memory(ItmError* error)
{
    return itm_error_set(error, ITM_ERR_MEMORY, "itm_fmi_choose", NULL, "out of memory for an FMU");
}

// ---------------------------------------------------------------------------- opening

ItmStatus itm_fmu_open(ItmFmu** fmu, const char* path, ItmError* error)
{
    ITM_GUARD(fmu != NULL && path != NULL,
              itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "the path or the place for the FMU is NULL"));
    *fmu = NULL;
    ItmFmu* f = calloc(1, sizeof *f);
    if (f == NULL || (f->path = strdup(path)) == NULL) {
        free(f);
        return refuse_memory(error);
    }
    ItmStatus status = itm_archive_open(&f->archive, path, NULL, error);
    status = status == ITM_OK ? itm_description_read(&f->description, f->archive, error) : status;
    if (status != ITM_OK) {
        itm_fmu_close(f);
        return status;
    }
    *fmu = f;
    return ITM_OK;
}

static void forget_choices(ItmFmu* f)
{
    for (int i = 0; i < f->spec.ninput && f->input_names != NULL; i++) {
        free(f->input_names[i]);
    }
    for (int i = 0; i < f->spec.noutput && f->infos != NULL; i++) {
        free((char*)(uintptr_t)f->infos[i].name);
        free((char*)(uintptr_t)f->infos[i].unit);
    }
    for (int i = 0; i < f->spec.nport && f->port_names != NULL; i++) {
        free(f->port_names[i]);
    }
    for (int i = 0; i < f->spec.nsetting && f->settings != NULL; i++) {
        free((char*)(uintptr_t)f->settings[i].text);
    }
    while (f->nnote > 0) {
        free(f->notes[--f->nnote]);
    }
    f->is_proven = false;
    free(f->settings);
    free(f->inputs);
    free(f->outputs);
    free(f->ports);
    free(f->slopes);
    free(f->input_names);
    free(f->port_names);
    free(f->infos);
    free(f->name);
    free(f->library);
    free(f->resources);
    f->settings = NULL;
    f->inputs = f->outputs = NULL;
    f->ports = NULL;
    f->slopes = NULL;
    f->input_names = f->port_names = NULL;
    f->infos = NULL;
    f->name = f->library = f->resources = NULL;
    f->spec = (ItmFmuSpec){0};
}

void itm_fmu_close(ItmFmu* f)
{
    if (f == NULL) {
        return;
    }
    forget_choices(f);
    itm_description_destroy(f->description);
    itm_archive_close(f->archive);
    free(f->path);
    free(f);
}

const ItmFmiDescription* itm_fmi_get_description(const ItmFmu* f)
{
    return f->description;
}

ItmArchive* itm_fmi_get_archive(ItmFmu* f)
{
    return f->archive;
}

const char* itm_fmi_get_path(const ItmFmu* f)
{
    return f->path;
}

const ItmFmuSpec* itm_fmi_get_spec(const ItmFmu* f)
{
    return &f->spec;
}

const char* itm_fmi_get_input_name(const ItmFmu* f, int input)
{
    return f->input_names[input];
}

ItmOutputInfo itm_fmi_get_output_info(const ItmFmu* f, int output)
{
    return f->infos[output];
}

// ---------------------------------------------------------------------------- variables by name

static ItmStatus refuse_unknown(const ItmFmu* f, const char* name, ItmError* error)
{
    const char* near = itm_description_suggest(f->description, name);
    return itm_error_set(error, ITM_ERR_INPUT, "itm_fmi_choose", name, "the FMU has no variable '%s'%s%s%s", name,
                         near != NULL ? "; nearest: '" : "", near != NULL ? near : "", near != NULL ? "'" : "");
}

// Element of an array from its indices, "[2,1]", counted from 1; ITM_NONE: they do not fit.
static int find_element(const ItmFmiVariable* v, const char* indices)
{
    uint64_t element = 0;
    const char* c = indices + 1;
    for (int i = 0; i < v->ndimension; i++) {
        char* end;
        unsigned long long k = strtoull(c, &end, 10);
        if (end == c || k < 1 || k > v->dimensions[i].size || *end != (i + 1 < v->ndimension ? ',' : ']')) {
            return ITM_NONE;
        }
        element = element * v->dimensions[i].size + (k - 1);
        c = end + 1;
    }
    return *c == '\0' && v->ndimension > 0 && element < MOST_ELEMENTS ? (int)element : ITM_NONE;
}

// A variable, or an element of an array.
static ItmStatus find_scalar(const ItmFmu* f, const char* name, int* variable, int* element, ItmError* error)
{
    const ItmFmiDescription* d = f->description;
    *element = 0;
    *variable = itm_description_find(d, name);
    if (*variable != ITM_NONE) {
        return d->variables[*variable].ndimension == 0
                   ? ITM_OK
                   : itm_error_set(error, ITM_ERR_INPUT, "itm_fmi_choose", name,
                                   "variable '%s' of the FMU is an array; name an element, as in '%s[1]'", name, name);
    }
    const char* bracket = strrchr(name, '[');
    if (bracket == NULL) {
        return refuse_unknown(f, name, error);
    }
    char* base = strndup(name, (size_t)(bracket - name));
    *variable = base != NULL ? itm_description_find(d, base) : ITM_NONE;
    free(base);
    if (*variable == ITM_NONE) {
        return refuse_unknown(f, name, error);
    }
    *element = find_element(&d->variables[*variable], bracket);
    return *element != ITM_NONE
               ? ITM_OK
               : itm_error_set(error, ITM_ERR_INPUT, "itm_fmi_choose", name,
                               "array variable of the FMU has no element '%s'; indices count from 1", name);
}

static bool is_real(ItmFmiType type)
{
    return type == ITM_FMI_FLOAT64 || type == ITM_FMI_FLOAT32;
}

// Conversion to SI where the unit is known.
static ItmFmuScalar make_scalar(const ItmFmu* f, int variable, int element)
{
    const ItmFmiVariable* v = &f->description->variables[variable];
    ItmFmiConversion c = {.is_known = false};
    bool is_known = !f->def.keeps_units && itm_description_convert_unit(&c, f->description, variable, NULL) == ITM_OK &&
                    c.is_known && c.factor != 0.0;
    return (ItmFmuScalar){.reference = v->value_reference,
                          .type = (int)v->type,
                          .element = element,
                          .count = (int)v->count,
                          .scale = is_known ? c.factor : 1.0,
                          .shift = is_known && !v->is_relative ? c.offset : 0.0,
                          .is_discrete = v->causality == ITM_FMI_INPUT &&
                                         (v->variability != ITM_FMI_CONTINUOUS || !is_real(v->type))};
}

static bool is_number(ItmFmiType type)
{
    return type != ITM_FMI_STRING && type != ITM_FMI_BINARY;
}

// ---------------------------------------------------------------------------- values

static ItmStatus refuse_value(const ItmFmuValue* value, const ItmFmiVariable* v, const char* what, ItmError* error)
{
    return itm_error_set(error, ITM_ERR_INPUT, "itm_fmi_choose", value->variable,
                         "variable '%s' of the FMU is %s; '%s' is %s", v->name, itm_description_get_type_name(v->type),
                         value->text, what);
}

// "true", "false" and names of enumerations.
static bool find_word(const ItmFmu* f, const ItmFmiVariable* v, const char* text, double* number)
{
    if (v->type == ITM_FMI_BOOLEAN) {
        *number = strcmp(text, "true") == 0;
        return strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
    }
    if (v->type == ITM_FMI_ENUMERATION && v->type_id != ITM_NONE) {
        const ItmFmiTypeDefinition* type = &f->description->types[v->type_id];
        for (int i = 0; i < type->nitem; i++) {
            if (strcmp(type->items[i].name, text) == 0) {
                *number = (double)type->items[i].value;
                return true;
            }
        }
    }
    return false;
}

static ItmStatus convert_number(const ItmFmu* f, const ItmFmuValue* value, int variable, double* number,
                                ItmError* error)
{
    const ItmFmiVariable* v = &f->description->variables[variable];
    if (find_word(f, v, value->text, number)) {
        return ITM_OK;
    }
    if (!value->has_number) {
        return refuse_value(value, v, v->type == ITM_FMI_ENUMERATION ? "no item of it" : "no number", error);
    }
    *number = value->number.value;
    if (!value->number.is_bare) {
        ItmStatus status = itm_description_check_dimension(f->description, variable, value->number.dimension, error);
        if (status != ITM_OK) {
            snprintf(error->field, sizeof error->field, "%.120s", value->variable);
            return status;
        }
        ItmFmuScalar scalar = make_scalar(f, variable, 0);
        *number = (*number - scalar.shift) / scalar.scale;
    }
    if (*number < v->min || *number > v->max) {
        return itm_error_set(error, ITM_ERR_INPUT, "itm_fmi_choose", value->variable,
                             "variable '%s' of the FMU lies between %g and %g; %s is outside", v->name, v->min, v->max,
                             value->text);
    }
    return ITM_OK;
}

static ItmStatus choose_value(ItmFmu* f, const ItmFmuValue* value, ItmFmuSetting* setting, ItmError* error)
{
    int variable, element;
    ItmStatus status = find_scalar(f, value->variable, &variable, &element, error);
    if (status != ITM_OK) {
        return status;
    }
    const ItmFmiVariable* v = &f->description->variables[variable];
    bool is_settable = v->causality == ITM_FMI_PARAMETER || v->causality == ITM_FMI_STRUCTURAL_PARAMETER ||
                       v->causality == ITM_FMI_INPUT || v->initial == ITM_FMI_EXACT || v->initial == ITM_FMI_APPROX;
    if (!is_settable || v->variability == ITM_FMI_CONSTANT) {
        return itm_error_set(error, ITM_ERR_INPUT, "itm_fmi_choose", value->variable,
                             "variable '%s' of the FMU cannot be set: its causality is %s and its variability %s",
                             v->name, itm_description_get_causality_name(v->causality),
                             itm_description_get_variability_name(v->variability));
    }
    setting->variable = make_scalar(f, variable, element);
    setting->phase = v->causality == ITM_FMI_STRUCTURAL_PARAMETER ? ITM_FMU_CONFIGURE : ITM_FMU_START;
    if (is_number(v->type)) {
        return convert_number(f, value, variable, &setting->value, error);
    }
    setting->text = strdup(value->text);
    return setting->text != NULL ? ITM_OK : refuse_memory(error);
}

static ItmStatus choose_values(ItmFmu* f, const ItmFmuDef* def, ItmError* error)
{
    f->settings = calloc((size_t)def->nvalue + 1, sizeof *f->settings);
    if (f->settings == NULL) {
        return refuse_memory(error);
    }
    f->spec.settings = f->settings;
    ItmStatus status = ITM_OK;
    for (int i = 0; i < def->nvalue && status == ITM_OK; i++) {
        f->spec.nsetting = i + 1;
        status = choose_value(f, &def->values[i], &f->settings[i], error);
    }
    return status;
}

// ---------------------------------------------------------------------------- ports

// has_update becomes false where the variable cannot be set while the FMU integrates.
static ItmStatus choose_end(ItmFmu* f, const char* typed, ItmFmiCausality causality, ItmDimension dimension,
                            ItmFmuScalar* scalar, bool* has_update, ItmError* error)
{
    bool is_reversed = typed[0] == '-';
    const char* name = typed + is_reversed;
    int variable, element;
    ItmStatus status = find_scalar(f, name, &variable, &element, error);
    status = status == ITM_OK ? itm_description_check_dimension(f->description, variable, dimension, error) : status;
    if (status != ITM_OK) {
        snprintf(error->field, sizeof error->field, "%.120s", typed);
        return status;
    }
    const ItmFmiVariable* v = &f->description->variables[variable];
    if (v->causality != causality || !is_real(v->type)) {
        bool is_mechanism = is_real(v->type) && causality == ITM_FMI_OUTPUT && v->causality == ITM_FMI_INPUT;
        return itm_error_set(
            error, ITM_ERR_INPUT, "itm_fmi_choose", typed,
            "variable '%s' of the FMU is %s %s; a port needs a real %s here%s", v->name,
            v->causality == ITM_FMI_INPUT || v->causality == ITM_FMI_OUTPUT || v->causality == ITM_FMI_INDEPENDENT
                ? "an"
                : "a",
            itm_description_get_causality_name(v->causality), itm_description_get_causality_name(causality),
            is_mechanism ? ": an FMU that takes forces and returns rates is a mechanism, not a partner" : "");
    }
    *scalar = make_scalar(f, variable, element);
    *has_update = *has_update && v->has_intermediate_update && v->count == 1;
    // ours = scale * theirs + shift; reversed: both change sign
    scalar->scale = is_reversed ? -scalar->scale : scalar->scale;
    scalar->shift = is_reversed ? -scalar->shift : scalar->shift;
    return ITM_OK;
}

// Start value of the variable of a port, in our units.
static double get_start(ItmFmu* f, const char* typed, const ItmFmuScalar* scalar)
{
    int variable, element;
    if (find_scalar(f, typed + (typed[0] == '-'), &variable, &element, NULL) != ITM_OK) {
        return 0.0;
    }
    const ItmFmiVariable* v = &f->description->variables[variable];
    double start = v->start == NULL || v->nstart == 0 ? 0.0 : v->start[element < v->nstart ? element : 0];
    for (int i = 0; i < f->spec.nsetting; i++) {
        const ItmFmuScalar* set = &f->settings[i].variable;
        bool is_this =
            set->reference == scalar->reference && set->type == scalar->type && set->element == scalar->element;
        start = is_this ? f->settings[i].value : start;
    }
    return scalar->scale * start + scalar->shift;
}

static ItmStatus choose_port(ItmFmu* f, const ItmFmuPortDef* def, ItmFmuPort* port, ItmError* error)
{
    ItmDimension angle = ITM_DIM_ONE, frequency = ITM_DIM_FREQUENCY, torque = ITM_DIM_TORQUE;
    ItmDimension length = ITM_DIM_LENGTH, velocity = ITM_DIM_VELOCITY, force = ITM_DIM_FORCE;
    bool is_turning = def->is_rotational;
    port->has_rate = def->rate != NULL;
    port->has_position = def->position != NULL;
    const ItmFmiKind* kind = &f->description->kinds[ITM_FMI_CO_SIMULATION];
    bool is_unused = false;
    port->has_update = f->spec.version == 3 && !f->spec.is_exchange && kind->has_intermediate_update;
    ItmStatus status =
        choose_end(f, def->force, ITM_FMI_OUTPUT, is_turning ? torque : force, &port->force, &is_unused, error);
    if (status == ITM_OK && port->has_rate) {
        status = choose_end(f, def->rate, ITM_FMI_INPUT, is_turning ? frequency : velocity, &port->rate,
                            &port->has_update, error);
    }
    if (status == ITM_OK && port->has_position) {
        status = choose_end(f, def->position, ITM_FMI_INPUT, is_turning ? angle : length, &port->position,
                            &port->has_update, error);
        port->position.shift += def->offset;
        port->start = status == ITM_OK ? get_start(f, def->position, &port->position) : 0.0;
    }
    return status;
}

static ItmStatus choose_ports(ItmFmu* f, const ItmFmuDef* def, ItmError* error)
{
    f->ports = calloc((size_t)def->nport + 1, sizeof *f->ports);
    f->port_names = calloc((size_t)def->nport + 1, sizeof *f->port_names);
    if (f->ports == NULL || f->port_names == NULL) {
        return refuse_memory(error);
    }
    f->spec.ports = f->ports;
    ItmStatus status = ITM_OK;
    for (int i = 0; i < def->nport && status == ITM_OK; i++) {
        f->spec.nport = i + 1;
        f->port_names[i] = strdup(def->ports[i].name);
        status = f->port_names[i] != NULL ? choose_port(f, &def->ports[i], &f->ports[i], error) : refuse_memory(error);
    }
    return status;
}

// ---------------------------------------------------------------------------- inputs and outputs

// "x", "x[3]", "A[2,1]"
static char* name_element(const ItmFmiVariable* v, uint64_t element)
{
    char indices[256] = "";
    for (int i = v->ndimension; i-- > 0;) {
        char rest[sizeof indices];
        memcpy(rest, indices, sizeof rest);
        uint64_t size = v->dimensions[i].size;
        snprintf(indices, sizeof indices, "%llu%s%.200s", (unsigned long long)(element % size + 1),
                 rest[0] != '\0' ? "," : "", rest);
        element /= size;
    }
    size_t room = strlen(v->name) + sizeof indices + 3;
    char* name = malloc(room);
    if (name != NULL) {
        snprintf(name, room, v->ndimension > 0 ? "%s[%s]" : "%s", v->name, indices);
    }
    return name;
}

char* itm_fmi_name_element(const ItmFmu* f, int variable, int element)
{
    const ItmFmiVariable* v = &f->description->variables[variable];
    bool is_there = v->ndimension > 0 && element >= 0 && (uint64_t)element < v->count;
    return is_there ? name_element(v, (uint64_t)element) : NULL;
}

static bool is_in_port(const ItmFmu* f, const ItmFmiVariable* v, int element)
{
    for (int i = 0; i < f->spec.nport; i++) {
        const ItmFmuPort* port = &f->ports[i];
        const ItmFmuScalar* ends[2] = {port->has_rate ? &port->rate : NULL,
                                       port->has_position ? &port->position : NULL};
        for (int k = 0; k < 2; k++) {
            if (ends[k] != NULL && ends[k]->reference == v->value_reference && ends[k]->type == (int)v->type &&
                ends[k]->element == element) {
                return true;
            }
        }
    }
    return false;
}

static bool is_recorded(const ItmFmiVariable* v, const ItmFmuDef* def)
{
    bool is_any = v->causality == ITM_FMI_OUTPUT;
    for (int i = 0; i < def->nrecord && !is_any; i++) {
        is_any = fnmatch(def->records[i], v->name, 0) == 0 || strcmp(def->records[i], v->name) == 0;
    }
    return is_any && is_number(v->type) && v->causality != ITM_FMI_INDEPENDENT && v->count <= MOST_ELEMENTS;
}

static char* make_unit(const ItmFmu* f, int variable)
{
    ItmFmiConversion c = {.is_known = false};
    char buffer[64];
    if (!f->def.keeps_units && itm_description_convert_unit(&c, f->description, variable, NULL) == ITM_OK &&
        c.is_known) {
        const char* text = itm_quantity_format_dimension(c.dimension, buffer, sizeof buffer);
        return strdup(strcmp(text, "no unit") == 0 ? "1" : text);
    }
    const char* unit = f->description->variables[variable].unit;
    return strdup(unit != NULL ? unit : "1");
}

static ItmStatus choose_signals(ItmFmu* f, const ItmFmuDef* def, ItmError* error)
{
    const ItmFmiDescription* d = f->description;
    size_t ninput = 0, noutput = 0;
    for (int i = 0; i < d->nvariable; i++) {
        const ItmFmiVariable* v = &d->variables[i];
        ninput += v->causality == ITM_FMI_INPUT && v->count <= MOST_ELEMENTS ? (size_t)v->count : 0;
        noutput += is_recorded(v, def) ? (size_t)v->count : 0;
    }
    f->inputs = calloc(ninput + 1, sizeof *f->inputs);
    f->input_names = calloc(ninput + 1, sizeof *f->input_names);
    f->outputs = calloc(noutput + 1, sizeof *f->outputs);
    f->infos = calloc(noutput + 1, sizeof *f->infos);
    bool is_there = f->inputs != NULL && f->input_names != NULL && f->outputs != NULL && f->infos != NULL;
    for (int i = 0; i < d->nvariable && is_there; i++) {
        const ItmFmiVariable* v = &d->variables[i];
        bool is_input = v->causality == ITM_FMI_INPUT && is_number(v->type) && v->count <= MOST_ELEMENTS;
        for (int k = 0; is_input && k < (int)v->count && is_there; k++) {
            if (!is_in_port(f, v, k)) {
                f->inputs[f->spec.ninput] = make_scalar(f, i, k);
                f->input_names[f->spec.ninput] = name_element(v, (uint64_t)k);
                is_there = f->input_names[f->spec.ninput++] != NULL;
            }
        }
        for (int k = 0; is_recorded(v, def) && k < (int)v->count && is_there; k++) {
            ItmOutputInfo* info = &f->infos[f->spec.noutput];
            f->outputs[f->spec.noutput] = make_scalar(f, i, k);
            *info = (ItmOutputInfo){name_element(v, (uint64_t)k), make_unit(f, i), v->description};
            f->spec.noutput++;
            is_there = info->name != NULL && info->unit != NULL;
        }
    }
    f->spec.inputs = f->inputs;
    f->spec.outputs = f->outputs;
    return is_there ? ITM_OK : refuse_memory(error);
}

// ---------------------------------------------------------------------------- the whole

static ItmStatus choose_kind(const ItmFmu* f, int* kind, ItmError* error)
{
    const ItmFmiDescription* d = f->description;
    if (*kind == ITM_NONE) {
        *kind = d->kinds[ITM_FMI_CO_SIMULATION].is_present ? ITM_FMI_CO_SIMULATION : ITM_FMI_MODEL_EXCHANGE;
    }
    return d->kinds[*kind].is_present
               ? ITM_OK
               : itm_error_set(error, ITM_ERR_INPUT, "itm_fmi_choose", "kind", "the FMU has no %s",
                               *kind == ITM_FMI_CO_SIMULATION ? "co-simulation; use kind: model-exchange"
                                                              : "model exchange; use kind: co-simulation");
}

static ItmStatus choose_paths(ItmFmu* f, int kind, ItmError* error)
{
    const char* library = itm_description_get_library(f->description, f->archive, kind);
    if (library == NULL) {
        char have[200] = "";
        for (int i = 0; i < f->description->nplatform && strlen(have) < 150; i++) {
            size_t used = strlen(have);
            snprintf(have + used, sizeof have - used, "%s%.40s", i > 0 ? ", " : "", f->description->platforms[i].name);
        }
        return itm_error_set(error, ITM_ERR_UNSUPPORTED, "itm_fmi_choose", "file",
                             "the FMU has no binary for this machine (it has: %s)", have[0] != '\0' ? have : "none");
    }
    if (f->folder == NULL) {
        ItmStatus status = itm_archive_unpack(f->archive, &f->folder, error);
        if (status != ITM_OK) {
            return status;
        }
    }
    bool is_there = asprintf(&f->library, "%s/%s", f->folder, library) > 0 &&
                    asprintf(&f->resources, "%s/resources", f->folder) > 0;
    f->spec.library = f->library;
    f->spec.resources = f->resources;
    return is_there ? ITM_OK : refuse_memory(error);
}

static void claim(ItmFmu* f, int kind)
{
    const ItmFmiDescription* d = f->description;
    const ItmFmiKind* k = &d->kinds[kind];
    ItmFmuSpec* s = &f->spec;
    s->version = d->major;
    s->token = d->token;
    s->is_exchange = kind == ITM_FMI_MODEL_EXCHANGE;
    s->has_state = k->can_get_set_state && !f->def.is_stateless;
    s->has_bytes = s->has_state && k->can_serialize_state;
    s->has_slopes = d->major == 2 && k->can_interpolate_inputs && !s->is_exchange;
    s->has_event_mode = d->major == 3 && k->has_event_mode && !s->is_exchange;
    s->needs_completed_step = k->needs_completed_step;
    s->nx = (int)itm_description_count_states(d);
    s->nz = d->nevent_indicator;
}

// Continuous states and their derivatives; none where some are arrays.
static ItmStatus choose_slopes(ItmFmu* f, ItmError* error)
{
    const ItmFmiDescription* d = f->description;
    int n = d->derivatives.count;
    f->slopes = calloc((size_t)n + 1, sizeof *f->slopes);
    f->spec.slopes = f->slopes;
    if (f->slopes == NULL) {
        return refuse_memory(error);
    }
    bool is_good = true;
    for (int i = 0; i < n && is_good; i++) {
        const ItmFmiVariable* v = &d->variables[d->derivatives.items[i].variable];
        is_good = v->derivative_of != ITM_NONE && v->count == 1 && v->type == ITM_FMI_FLOAT64;
        if (is_good) {
            const ItmFmiVariable* state = &d->variables[v->derivative_of];
            f->slopes[i] = (ItmFmuSlope){.state = state->value_reference,
                                         .derivative = v->value_reference,
                                         .nominal = state->nominal > 0.0 ? state->nominal : 1.0};
        }
    }
    f->spec.nslope = is_good ? n : 0;
    f->spec.has_state_access = f->spec.is_exchange && f->spec.nslope > 0;
    return ITM_OK;
}

ItmStatus itm_fmi_choose(ItmFmu* f, const ItmFmuDef* def, ItmError* error)
{
    ItmError ignored;
    error = error != NULL ? error : &ignored;
    forget_choices(f);
    f->def = *def;
    int kind = def->kind;
    ItmStatus status = choose_kind(f, &kind, error);
    if (status != ITM_OK) {
        return status;
    }
    claim(f, kind);
    double tolerance = f->description->tolerance;
    f->name = strdup(def->name != NULL ? def->name : f->description->model_name);
    f->spec.name = f->name;
    f->spec.is_logging = def->is_logging;
    f->spec.tolerance = def->tolerance > 0.0 ? def->tolerance : tolerance > 0.0 ? tolerance : 0.0;
    f->spec.start = def->start;
    f->spec.stop = def->stop;
    status = f->name != NULL ? choose_paths(f, kind, error) : refuse_memory(error);
    status = status == ITM_OK ? choose_values(f, def, error) : status;
    status = status == ITM_OK ? choose_ports(f, def, error) : status;
    status = status == ITM_OK ? choose_signals(f, def, error) : status;
    return status == ITM_OK ? choose_slopes(f, error) : status;
}

static void note(ItmFmu* f, const char* claim, const ItmFmuProbe* probe)
{
    char* sentence = NULL;
    if (f->nnote < MOST_NOTES && asprintf(&sentence, "FMU '%s' %s: %s", f->name, claim, probe->text) > 0) {
        f->notes[f->nnote++] = sentence;
    }
}

int itm_fmi_get_note_count(const ItmFmu* f)
{
    return f->nnote;
}

const char* itm_fmi_get_note(const ItmFmu* f, int i)
{
    return f->notes[i];
}

double itm_fmi_get_fixed_step(const ItmFmu* f)
{
    const ItmFmiDescription* d = f->description;
    const ItmFmiKind* k = &d->kinds[ITM_FMI_CO_SIMULATION];
    double step = k->fixed_step > 0.0 ? k->fixed_step : d->step_size > 0.0 ? d->step_size : 0.0;
    return f->spec.is_exchange || k->can_handle_variable_step ? 0.0 : step;
}

// Step of the probes: that of the model file, the FMU's own, that of its default experiment, or 1 ms.
static double get_probe_step(const ItmFmu* f)
{
    const ItmFmiDescription* d = f->description;
    double fixed = d->kinds[f->spec.is_exchange ? ITM_FMI_MODEL_EXCHANGE : ITM_FMI_CO_SIMULATION].fixed_step;
    return f->def.step > 0.0 ? f->def.step : fixed > 0.0 ? fixed : d->step_size > 0.0 ? d->step_size : 1e-3;
}

static void prove_state(ItmFmu* f)
{
    ItmFmuSpec* s = &f->spec;
    ItmFmuProbe probe = itm_fmi_probe_state(s, &f->def.limits, get_probe_step(f));
    if (probe.verdict != ITM_FMU_HOLDS && s->has_bytes) {
        note(f, "claims that its state can be written as bytes, which is not relied on", &probe);
        s->has_bytes = false;
        probe = itm_fmi_probe_state(s, &f->def.limits, get_probe_step(f));
    }
    if (probe.verdict != ITM_FMU_HOLDS) {
        note(f, "claims that its state can be saved and restored, which is not relied on", &probe);
        s->has_state = false;
    }
}

ItmStatus itm_fmi_prove(ItmFmu* f, ItmError* error)
{
    ItmFmuSpec* s = &f->spec;
    if (!f->is_proven && f->def.isolation == ITM_FMU_PROCESS) {
        f->is_proven = true;
        if (s->has_state) {
            prove_state(f);
        }
        if (s->is_exchange && f->description->kinds[ITM_FMI_MODEL_EXCHANGE].has_directional_derivatives) {
            ItmFmuProbe derivatives = itm_fmi_probe_derivatives(s, &f->def.limits);
            s->has_derivatives = derivatives.verdict == ITM_FMU_HOLDS;
            if (!s->has_derivatives && derivatives.verdict != ITM_FMU_NOT_CLAIMED) {
                note(f, "claims that it has directional derivatives, which are not relied on", &derivatives);
            }
        }
        if (s->has_state && s->nslope > 0 && !s->is_exchange) {
            ItmFmuProbe access = itm_fmi_probe_state_access(s, &f->def.limits, get_probe_step(f));
            s->has_state_access = access.verdict == ITM_FMU_HOLDS;
        }
        ItmFmuProbe latch = itm_fmi_probe_latch(s, &f->def.limits, get_probe_step(f));
        if (latch.verdict == ITM_FMU_WRONG) {
            note(f, "latches its inputs", &latch);
            s->is_latched = true;
        }
    }
    return f->def.is_restarting && !s->has_bytes
               ? itm_error_set(error, ITM_ERR_UNSUPPORTED, "itm_fmi_choose", "on_failure",
                               "on_failure: restart needs a state that can be written as bytes; this FMU has none that "
                               "holds its test%s%s",
                               f->nnote > 0 ? ": " : "", f->nnote > 0 ? f->notes[0] : "")
               : ITM_OK;
}

// ---------------------------------------------------------------------------- subsystem

static void destroy_process(void* self)
{
    itm_fmi_destroy_process(self);
}

static void destroy_instance(void* self)
{
    itm_fmi_destroy_instance(self);
}

static void name_table(ItmSubsystem* table, const ItmFmu* f)
{
    table->port_names = (const char* const*)f->port_names;
    table->input_names = (const char* const*)f->input_names;
    table->outputs = f->infos;
}

ItmStatus itm_fmi_make_subsystem(ItmSubsystem* subsystem, ItmFmu* f, ItmFmuProcess** process, ItmError* error)
{
    return itm_fmi_make_variant(subsystem, f, &f->spec, process, error);
}

ItmStatus itm_fmi_make_variant(ItmSubsystem* subsystem, ItmFmu* f, const ItmFmuSpec* spec, ItmFmuProcess** process,
                               ItmError* error)
{
    ItmError ignored;
    error = error != NULL ? error : &ignored;
    if (process != NULL) {
        *process = NULL;
    }
    if (f->def.isolation == ITM_FMU_IN_PLACE) {
        ItmFmuInstance* instance;
        ItmStatus status = itm_fmi_create_instance(&instance, spec, NULL, NULL, NULL, error);
        if (status == ITM_OK) {
            *subsystem = itm_fmi_get_table(instance);
            subsystem->destroy = destroy_instance;
            name_table(subsystem, f);
        }
        return status;
    }
    ItmFmuProcess* host;
    ItmFmuProcessOptions options = {.limits = f->def.limits, .is_restarting = f->def.is_restarting, .file = f->path};
    ItmStatus status = itm_fmi_create_process(&host, spec, &options, error);
    if (status == ITM_OK) {
        *subsystem = itm_fmi_get_process_table(host);
        subsystem->destroy = destroy_process;
        name_table(subsystem, f);
        if (process != NULL) {
            *process = host;
        }
    }
    return status;
}
