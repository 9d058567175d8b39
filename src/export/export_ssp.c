// A model file as a system structure (SSP): every part is an FMU in resources/, wires and bonds are connections, parameters are a
// parameter set that is mapped to all FMUs.
//
// A bond is three connections (position, rate, force), which any tool can hold over its steps. That they are a bond, and how it is
// coupled, is in annotations of the type "interim" (io/model/file_ssp.c reads them): `interim run` then couples the FMUs with the
// reduced interface model, as the model file does.
#include "base/error.h"
#include "export/export.h"
#include "fmi/fmu.h"
#include "fmi/ssp.h"
#include "interim/file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_PARTS 64

// A mechanism or subsystem of the model. Parts that cannot be apart share a component.
typedef struct Part {
    const char* name;
    double step;    // its own, s; 0: the macro step
    int component;  // index of the part that stands for it
    bool is_mechanism;
} Part;

typedef struct Structure {
    const ItmExportOptions* options;
    const char* model;
    ItmModelFile* file;
    ItmCosim* cosim;  // the whole system in its initial state
    double* y;        // its outputs
    Part parts[MOST_PARTS];
    int npart, ncomponent;
    ItmFmu* fmus[MOST_PARTS];  // of the components; NULL: the part has none of its own
    char* paths[MOST_PARTS];   // their files, which go away again
    char folder[300];
    ItmText ssd, values, mapping;
    ItmStatus status;
    ItmError* error;
} Structure;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
refuse(Structure* x, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (x->status == ITM_OK) {
        x->status = itm_error_set_list(x->error, ITM_ERR_UNSUPPORTED, "itm_export_ssp", NULL, format, arguments);
    }
    va_end(arguments);
}

// ---------------------------------------------------------------------------- parts

static void add_part(Structure* x, const char* name, double step, bool is_mechanism)
{
    if (x->npart == MOST_PARTS) {
        refuse(x, "the model has more than %d parts", MOST_PARTS);
        return;
    }
    x->parts[x->npart] = (Part){name, step, x->npart, is_mechanism};
    x->npart++;
}

// The part that a full name begins with; the rest of it after the dot.
static int find_part(const Structure* x, const char* full, const char** rest)
{
    size_t n = strcspn(full, ".");
    for (int i = 0; i < x->npart; i++) {
        if (full[n] == '.' && strlen(x->parts[i].name) == n && strncmp(x->parts[i].name, full, n) == 0) {
            *rest = full + n + 1;
            return i;
        }
    }
    return ITM_NONE;
}

// Two parts share a component; the first of both stands for it.
static void join(Structure* x, int a, int b)
{
    int first = x->parts[a].component, second = x->parts[b].component;
    for (int k = 0; k < x->npart; k++) {
        bool is_joined = x->parts[k].component == first || x->parts[k].component == second;
        x->parts[k].component = is_joined ? (first < second ? first : second) : x->parts[k].component;
    }
}

// Mechanisms connected at frames share a component, because an FMU has power ports only.
static void join_mechanisms(Structure* x)
{
    const char* end;
    for (int i = 0; i < x->file->cosim.nbond; i++) {
        int a = find_part(x, x->file->cosim.bonds[i].actuator, &end);
        int b = find_part(x, x->file->cosim.bonds[i].port, &end);
        if (a != ITM_NONE && b != ITM_NONE && x->parts[b].is_mechanism) {
            join(x, a, b);
        }
    }
}

// So do a mechanism and the part that prescribes one of its motions: the mechanism starts where the motion does.
static void join_motions(Structure* x)
{
    const char* end;
    for (int i = 0; i < x->file->nconnection && x->status == ITM_OK; i++) {
        const ItmFileConnection* c = &x->file->connections[i];
        int from = find_part(x, c->from, &end), to = find_part(x, c->to, &end);
        if (from != ITM_NONE && to != ITM_NONE && x->parts[to].is_mechanism &&
            itm_cosim_get_input_info(x->cosim, itm_cosim_find_input(x->cosim, c->to)).is_signal) {
            join(x, from, to);
        }
    }
}

// The whole system in its initial state, and its outputs.
static void start_system(Structure* x)
{
    x->status = itm_file_create_cosim(&x->cosim, x->file, NULL, x->error);
    x->y = x->status == ITM_OK ? calloc((size_t)itm_cosim_get_output_count(x->cosim) + 1, sizeof *x->y) : NULL;
    if (x->status == ITM_OK && x->y == NULL) {
        x->status = itm_error_set(x->error, ITM_ERR_MEMORY, "itm_export_ssp", NULL, "out of memory");
    }
    if (x->status == ITM_OK && itm_cosim_compute_outputs(x->cosim, x->y) != ITM_OK) {
        x->status = itm_cosim_get_error(x->cosim)->status;
        if (x->error != NULL) {
            *x->error = *itm_cosim_get_error(x->cosim);
        }
    }
}

static void list_parts(Structure* x)
{
    const ItmModelFile* f = x->file;
    for (int i = 0; i < f->nmechanism; i++) {
        add_part(x, f->mechanisms[i].name, 0.0, true);
    }
    for (int i = 0; i < f->ncircuit; i++) {
        add_part(x, f->circuits[i].name, f->circuits[i].step, false);
    }
    for (int i = 0; i < f->ncontrol; i++) {
        add_part(x, f->controls[i].name, f->controls[i].step, false);
    }
    for (int i = 0; i < f->ndrive; i++) {
        add_part(x, f->drives[i].name, f->drives[i].step, false);
    }
    if (f->nfmu > 0) {
        refuse(x, "the model runs the FMU of '%s': a system structure of FMUs is written from native parts only",
               f->fmus[0].name);
    }
    if (f->nexternal > 0) {
        refuse(x, "subsystem '%s' is external: a program fills it, and no FMU can", f->externals[0].name);
    }
    if (x->status == ITM_OK) {
        start_system(x);
    }
    if (x->status == ITM_OK) {
        join_mechanisms(x);
        join_motions(x);
    }
    for (int i = 0; i < x->npart; i++) {
        x->ncomponent += x->parts[i].component == i;
    }
}

static bool is_component(const Structure* x, int i)
{
    return x->parts[i].component == i;
}

// The name of a component: that of its part, or of a model that is one mechanism without a name.
static const char* get_name(const Structure* x, int i)
{
    return x->parts[i].name[0] != '\0' ? x->parts[i].name : "model";
}

// ---------------------------------------------------------------------------- FMUs

// The macro step of a component in its FMU; 0: that of the model. A mechanism that is connected to others has no interface model port, and
// its master takes two steps per macro step: two constant forces have the impulse and its moment.
static double get_step(const Structure* x, int component)
{
    int nmechanism = 0;
    for (int i = 0; i < x->npart; i++) {
        nmechanism += x->parts[i].component == component && x->parts[i].is_mechanism;
    }
    bool is_alone = x->ncomponent == 1;
    return nmechanism == 0               ? x->parts[component].step
           : nmechanism > 1 && !is_alone ? 0.5 * x->file->cosim.options.macro_step
                                         : 0.0;
}

// Export a component and open its FMU. A subsystem that steps faster than the macro step does so in its FMU too: its master takes micro
// steps.
static void export_component(Structure* x, int i)
{
    const char* names[MOST_PARTS];
    char step[64];
    ItmExportOptions options = *x->options;
    int noverride = options.noverride;
    const char** overrides = calloc((size_t)noverride + 2, sizeof *overrides);
    size_t size = strlen(x->folder) + strlen(get_name(x, i)) + 8;
    x->paths[i] = malloc(size);
    if (overrides == NULL || x->paths[i] == NULL) {
        x->status = itm_error_set(x->error, ITM_ERR_MEMORY, "itm_export_ssp", NULL, "out of memory");
        free(overrides);
        return;
    }
    snprintf(x->paths[i], size, "%s/%s.fmu", x->folder, get_name(x, i));
    for (int k = 0; k < noverride; k++) {
        overrides[k] = options.overrides[k];
    }
    double H = get_step(x, i);
    if (H > 0.0) {
        snprintf(step, sizeof step, "cosim.macro_step=%.17g s", H);
        overrides[options.noverride++] = step;
    }
    options.overrides = overrides;
    for (int k = 0; k < x->npart && x->ncomponent > 1; k++) {
        if (x->parts[k].component == i) {
            names[options.npart++] = x->parts[k].name;
        }
    }
    options.parts = names;
    x->status = itm_export_fmu(x->model, x->paths[i], &options, x->error);
    x->status = x->status == ITM_OK ? itm_fmu_open(&x->fmus[i], x->paths[i], x->error) : x->status;
    free(overrides);
}

// Index of a variable of a component's FMU, which must be there.
static const ItmFmiVariable* get_variable(Structure* x, int component, const char* name)
{
    const ItmFmiDescription* d = itm_fmi_get_description(x->fmus[component]);
    int i = itm_description_find(d, name);
    if (i == ITM_NONE) {
        refuse(x, "the FMU of '%s' has no variable '%s'", get_name(x, component), name);
    }
    return i != ITM_NONE ? &d->variables[i] : NULL;
}

// ---------------------------------------------------------------------------- connections

// Calls `use` for every connection between two components.
typedef void Visitor(Structure* x, int from, const char* output, int to, const char* input, double factor,
                     double offset, void* context);

static void visit_bond(Structure* x, const ItmFileBond* bond, Visitor* use, void* context)
{
    static const char* const MOTIONS[] = {"position", "rate"};
    const char *actuator = "", *port = "";
    int a = find_part(x, bond->actuator, &actuator), b = find_part(x, bond->port, &port);
    if (a == ITM_NONE || b == ITM_NONE || x->parts[b].is_mechanism) {
        return;
    }
    char output[320], input[320];
    int from = x->parts[a].component, to = x->parts[b].component;
    for (int i = 0; i < 2; i++) {
        snprintf(output, sizeof output, "%s-%s.%s", x->parts[a].name, actuator, MOTIONS[i]);
        snprintf(input, sizeof input, "%s-%s.%s", x->parts[b].name, port, MOTIONS[i]);
        use(x, from, output, to, input, 1.0, 0.0, context);
    }
    snprintf(output, sizeof output, "%s-%s.force", x->parts[b].name, port);
    snprintf(input, sizeof input, "%s-%s.force", x->parts[a].name, actuator);
    use(x, to, output, from, input, 1.0, 0.0, context);
}

static void visit_connections(Structure* x, Visitor* use, void* context)
{
    const char* rest;
    for (int i = 0; i < x->file->nconnection && x->status == ITM_OK; i++) {
        const ItmFileConnection* c = &x->file->connections[i];
        int from = find_part(x, c->from, &rest), to = find_part(x, c->to, &rest);
        bool is_between = from != ITM_NONE && to != ITM_NONE && x->parts[from].component != x->parts[to].component;
        if (is_between) {
            use(x, x->parts[from].component, c->from, x->parts[to].component, c->to, c->factor, c->offset, context);
        }
    }
    for (int i = 0; i < x->file->cosim.nbond && x->status == ITM_OK; i++) {
        visit_bond(x, &x->file->cosim.bonds[i], use, context);
    }
}

static void write_connection(Structure* x, int from, const char* output, int to, const char* input, double factor,
                             double offset, void* context)
{
    bool is_plain = factor == 1.0 && offset == 0.0;
    (void)context;
    itm_text_add(&x->ssd, "      <ssd:Connection");
    itm_export_add_attribute(&x->ssd, "startElement", get_name(x, from));
    itm_export_add_attribute(&x->ssd, "startConnector", output);
    itm_export_add_attribute(&x->ssd, "endElement", get_name(x, to));
    itm_export_add_attribute(&x->ssd, "endConnector", input);
    itm_text_add(&x->ssd, is_plain ? "/>\n" : ">\n        <ssc:LinearTransformation");
    if (!is_plain) {
        itm_export_add_number(&x->ssd, "factor", factor);
        itm_export_add_number(&x->ssd, "offset", offset);
        itm_text_add(&x->ssd, "/>\n      </ssd:Connection>\n");
    }
}

// ---------------------------------------------------------------------------- connectors

// Take back what was added behind a length.
static void cut_text(ItmText* text, size_t length)
{
    if (!text->has_failed && text->chars != NULL) {
        text->length = length;
        text->chars[length] = '\0';
    }
}

typedef struct Connectors {
    int component;
    bool* is_listed;  // variables of its FMU
} Connectors;

static void write_connector(Structure* x, const ItmFmiVariable* v, const char* kind)
{
    itm_text_add(&x->ssd, "          <ssd:Connector");
    itm_export_add_attribute(&x->ssd, "name", v->name);
    itm_text_format(&x->ssd, " kind=\"%s\"><ssc:Real", kind);
    if (v->unit != NULL) {
        itm_export_add_attribute(&x->ssd, "unit", v->unit);
    }
    itm_text_add(&x->ssd, "/></ssd:Connector>\n");
}

static void list_end(Structure* x, Connectors* c, int component, const char* name, const char* kind)
{
    const ItmFmiVariable* v = component == c->component ? get_variable(x, component, name) : NULL;
    long i = v != NULL ? v - itm_fmi_get_description(x->fmus[component])->variables : 0;
    if (v != NULL && !c->is_listed[i]) {
        c->is_listed[i] = true;
        write_connector(x, v, kind);
    }
}

static void list_connector(Structure* x, int from, const char* output, int to, const char* input, double factor,
                           double offset, void* context)
{
    (void)factor;
    (void)offset;
    list_end(x, context, from, output, "output");
    list_end(x, context, to, input, "input");
}

// Ends of connections, and parameters.
static void write_connectors(Structure* x, int component)
{
    const ItmFmiDescription* d = itm_fmi_get_description(x->fmus[component]);
    Connectors c = {component, calloc((size_t)d->nvariable + 1, sizeof *c.is_listed)};
    if (c.is_listed == NULL) {
        x->status = itm_error_set(x->error, ITM_ERR_MEMORY, "itm_export_ssp", NULL, "out of memory");
        return;
    }
    itm_text_add(&x->ssd, "        <ssd:Connectors>\n");
    visit_connections(x, list_connector, &c);
    for (int i = 0; i < d->nvariable; i++) {
        if (d->variables[i].causality == ITM_FMI_PARAMETER) {
            write_connector(x, &d->variables[i], "parameter");
        }
    }
    itm_text_add(&x->ssd, "        </ssd:Connectors>\n");
    free(c.is_listed);
}

// A connected input starts with the value that the model has there.
static void write_start(Structure* x, int from, const char* output, int to, const char* input, double factor,
                        double offset, void* context)
{
    const int* component = context;
    int i = *component == to ? itm_cosim_find_output(x->cosim, output) : ITM_NONE;
    (void)from;
    if (i != ITM_NONE) {
        itm_text_add(&x->ssd, "                <ssv:Parameter");
        itm_export_add_attribute(&x->ssd, "name", input);
        itm_text_add(&x->ssd, "><ssv:Real");
        itm_export_add_number(&x->ssd, "value", factor * x->y[i] + offset);
        itm_text_add(&x->ssd, "/></ssv:Parameter>\n");
    }
}

static void write_starts(Structure* x, int component)
{
    size_t empty = x->ssd.length;
    itm_text_add(
        &x->ssd,
        "        <ssd:ParameterBindings>\n          <ssd:ParameterBinding>\n            <ssd:ParameterValues>\n"
        "              <ssv:ParameterSet version=\"1.0\" name=\"start\"><ssv:Parameters>\n");
    size_t begun = x->ssd.length;
    visit_connections(x, write_start, &component);
    if (x->ssd.length > begun) {
        itm_text_add(&x->ssd, "              </ssv:Parameters></ssv:ParameterSet>\n            </ssd:ParameterValues>\n"
                              "          </ssd:ParameterBinding>\n        </ssd:ParameterBindings>\n");
    } else {
        cut_text(&x->ssd, empty);
    }
}

// ---------------------------------------------------------------------------- annotations

// Text of YAML in an element, because SSP 1.0 has no text in annotations.
static void begin_annotation(Structure* x, const char* indent)
{
    itm_text_format(&x->ssd,
                    "%s<ssd:Annotations><ssc:Annotation type=\"" ITM_SSP_ANNOTATION
                    "\"><yaml xmlns=\"urn:" ITM_SSP_ANNOTATION "\">",
                    indent);
}

static void end_annotation(Structure* x)
{
    itm_text_add(&x->ssd, "</yaml></ssc:Annotation></ssd:Annotations>\n");
}

// A port of a component: "cyl1: {force: crane-cyl1.force, ...}". Names of variables that are angles: torque, angle.
static void annotate_port(Structure* x, int component, const Part* part, const char* port, const char* comma)
{
    char name[320];
    snprintf(name, sizeof name, "%s-%s.force", part->name, port);
    const ItmFmiVariable* v = get_variable(x, component, name);
    bool is_angle = v != NULL && v->unit != NULL && strcmp(v->unit, "N m") == 0;
    itm_text_format(&x->ssd, "%s%s: {%s: %s-%s.force, rate: %s-%s.rate, %s: %s-%s.position}", comma, port,
                    is_angle ? "torque" : "force", part->name, port, part->name, port, is_angle ? "angle" : "position",
                    part->name, port);
}

// Micro step and ports of a component.
static void annotate_component(Structure* x, int component)
{
    const char *separator = "ports: {", *name;
    bool has_ports = false;
    begin_annotation(x, "        ");
    if (x->parts[component].step > 0.0) {
        itm_text_add(&x->ssd, "step: ");
        itm_text_add_number(&x->ssd, x->parts[component].step, 17);
        itm_text_add(&x->ssd, " s\n");
    }
    for (int i = 0; i < x->file->cosim.nbond && x->status == ITM_OK; i++) {
        const char* ends[] = {x->file->cosim.bonds[i].actuator, x->file->cosim.bonds[i].port};
        int other = find_part(x, ends[1], &name);
        bool is_frame = other == ITM_NONE || x->parts[other].is_mechanism;
        for (int k = 0; k < 2 && !is_frame; k++) {
            int part = find_part(x, ends[k], &name);
            if (part != ITM_NONE && x->parts[part].component == component) {
                annotate_port(x, component, &x->parts[part], name, separator);
                separator = ", ";
                has_ports = true;
            }
        }
    }
    itm_text_add(&x->ssd, has_ports ? "}" : x->parts[component].step > 0.0 ? "" : "{}");
    end_annotation(x);
}

// Bonds and coupling of the whole, and the output interval.
static void annotate_system(Structure* x)
{
    const ItmFileCosim* cosim = &x->file->cosim;
    const ItmCosimOptions* o = &cosim->options;
    const char* separator = "\n  bonds:\n";
    begin_annotation(x, "  ");
    itm_text_add(&x->ssd, "cosim:\n  macro_step: ");
    itm_text_add_number(&x->ssd, o->macro_step, 17);
    itm_text_format(&x->ssd, " s\n  scheme: %s", itm_cosim_scheme_name(o->scheme));
    if (o->is_monolithic) {
        itm_text_add(&x->ssd, "\n  coupling: monolithic");
    }
    for (int i = 0; i < cosim->nbond; i++) {
        const ItmFileBond* b = &cosim->bonds[i];
        const char *actuator = "", *port = "";
        int first = find_part(x, b->actuator, &actuator), second = find_part(x, b->port, &port);
        if (first == ITM_NONE || second == ITM_NONE || x->parts[second].is_mechanism) {
            continue;
        }
        itm_text_format(&x->ssd, "%s    %s.%s: {port: %s.%s", separator, get_name(x, x->parts[first].component),
                        actuator, get_name(x, x->parts[second].component), port);
        if (!o->is_monolithic) {
            itm_text_format(&x->ssd, ", coupling: %s, exchange: %s", itm_cosim_coupling_name(b->options.coupling),
                            itm_cosim_exchange_name(b->options.exchange));
        }
        itm_text_add(&x->ssd, "}");
        separator = "\n";
    }
    itm_text_add(&x->ssd, "\n");
    if (x->file->run.output_interval > 0.0) {
        itm_text_add(&x->ssd, "run:\n  output_interval: ");
        itm_text_add_number(&x->ssd, x->file->run.output_interval, 17);
        itm_text_add(&x->ssd, " s\n");
    }
    end_annotation(x);
}

// ---------------------------------------------------------------------------- parameters

#define XML "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
#define NAMESPACE "http://ssp-standard.org/SSP1/SystemStructure"

// Parameters of the model file in one set, each mapped to all FMUs that have it.
static void write_parameters(Structure* x)
{
    itm_text_add(&x->values, XML "<ssv:ParameterSet xmlns:ssv=\"" NAMESPACE "ParameterValues\" xmlns:ssc=\"" NAMESPACE
                                 "Common\" version=\"1.0\" name=\"parameters\">\n  <ssv:Parameters>\n");
    itm_text_add(&x->mapping, XML "<ssm:ParameterMapping xmlns:ssm=\"" NAMESPACE
                                  "ParameterMapping\" xmlns:ssc=\"" NAMESPACE "Common\" version=\"1.0\">\n");
    for (int i = 0; i < x->file->nparameter; i++) {
        const ItmFileParameter* p = &x->file->parameters[i];
        char target[400];
        if (p->is_calculated) {
            continue;
        }
        itm_text_add(&x->values, "    <ssv:Parameter");
        itm_export_add_attribute(&x->values, "name", p->name);
        itm_text_add(&x->values, "><ssv:Real");
        itm_export_add_number(&x->values, "value", p->value);
        if (strcmp(p->unit, "1") != 0) {
            itm_export_add_attribute(&x->values, "unit", p->unit);
        }
        itm_text_add(&x->values, "/></ssv:Parameter>\n");
        for (int k = 0; k < x->npart; k++) {
            if (is_component(x, k)) {
                snprintf(target, sizeof target, "%s.parameters.%s", get_name(x, k), p->name);
                itm_text_add(&x->mapping, "  <ssm:MappingEntry");
                itm_export_add_attribute(&x->mapping, "source", p->name);
                itm_export_add_attribute(&x->mapping, "target", target);
                itm_text_add(&x->mapping, "/>\n");
            }
        }
    }
    itm_text_add(&x->values, "  </ssv:Parameters>\n");
    itm_text_add(&x->mapping, "</ssm:ParameterMapping>\n");
}

static bool has_parameters(const Structure* x)
{
    bool has = false;
    for (int i = 0; i < x->file->nparameter; i++) {
        has = has || !x->file->parameters[i].is_calculated;
    }
    return has;
}

// Whether a unit stands in the list already. units (n)
static bool is_new_unit(const char** units, int n, const char* unit)
{
    bool is_new = unit != NULL && strcmp(unit, "1") != 0;
    for (int i = 0; i < n && is_new; i++) {
        is_new = strcmp(units[i], unit) != 0;
    }
    return is_new;
}

// Units of all variables of all FMUs.
static void write_units(Structure* x)
{
    const char* units[200];
    int n = 0;
    for (int k = 0; k < x->npart; k++) {
        const ItmFmiDescription* d = is_component(x, k) ? itm_fmi_get_description(x->fmus[k]) : NULL;
        for (int i = 0; d != NULL && i < d->nvariable && n < 200; i++) {
            if (is_new_unit(units, n, d->variables[i].unit)) {
                units[n++] = d->variables[i].unit;
            }
        }
    }
    itm_text_add(&x->ssd, n > 0 ? "  <ssd:Units>\n" : "");
    for (int i = 0; i < n; i++) {
        itm_export_add_unit(&x->ssd, "ssc:", units[i]);
    }
    itm_text_add(&x->ssd, n > 0 ? "  </ssd:Units>\n" : "");
    itm_text_add(&x->values, n > 0 ? "  <ssv:Units>\n" : "");
    for (int i = 0; i < n; i++) {
        itm_export_add_unit(&x->values, "ssc:", units[i]);
    }
    itm_text_add(&x->values, n > 0 ? "  </ssv:Units>\n</ssv:ParameterSet>\n" : "</ssv:ParameterSet>\n");
}

// ---------------------------------------------------------------------------- structure

static void write_structure(Structure* x)
{
    const char* title = x->file->title[0] != '\0' ? x->file->title : "model";
    itm_text_add(&x->ssd,
                 XML "<ssd:SystemStructureDescription xmlns:ssd=\"" NAMESPACE "Description\" xmlns:ssc=\"" NAMESPACE
                     "Common\" xmlns:ssv=\"" NAMESPACE "ParameterValues\" version=\"1.0\"");
    itm_export_add_attribute(&x->ssd, "name", title);
    itm_text_add(&x->ssd, " generationTool=\"Interim " ITM_VERSION "\">\n  <ssd:System name=\"system\">\n");
    if (has_parameters(x)) {
        itm_text_add(
            &x->ssd,
            "    <ssd:ParameterBindings>\n      <ssd:ParameterBinding type=\"application/x-ssp-parameter-set\" "
            "source=\"resources/parameters.ssv\">\n        <ssd:ParameterMapping "
            "source=\"resources/parameters.ssm\"/>\n      </ssd:ParameterBinding>\n"
            "    </ssd:ParameterBindings>\n");
    }
    itm_text_add(&x->ssd, "    <ssd:Elements>\n");
    for (int i = 0; i < x->npart && x->status == ITM_OK; i++) {
        if (is_component(x, i)) {
            itm_text_add(&x->ssd, "      <ssd:Component");
            itm_export_add_attribute(&x->ssd, "name", get_name(x, i));
            itm_text_format(&x->ssd,
                            " type=\"application/x-fmu-sharedlibrary\" implementation=\"CoSimulation\" "
                            "source=\"resources/%s.fmu\">\n",
                            get_name(x, i));
            write_connectors(x, i);
            write_starts(x, i);
            annotate_component(x, i);
            itm_text_add(&x->ssd, "      </ssd:Component>\n");
        }
    }
    itm_text_add(&x->ssd, "    </ssd:Elements>\n");
    size_t empty = x->ssd.length;
    itm_text_add(&x->ssd, "    <ssd:Connections>\n");
    size_t begun = x->ssd.length;
    visit_connections(x, write_connection, NULL);
    if (x->ssd.length > begun) {
        itm_text_add(&x->ssd, "    </ssd:Connections>\n");
    } else {
        cut_text(&x->ssd, empty);
    }
    itm_text_add(&x->ssd, "  </ssd:System>\n");
    write_parameters(x);
    write_units(x);
    itm_text_add(&x->ssd, "  <ssd:DefaultExperiment startTime=\"0\"");
    itm_export_add_number(&x->ssd, "stopTime", x->file->run.duration);
    itm_text_add(&x->ssd, "/>\n");
    annotate_system(x);
    itm_text_add(&x->ssd, "</ssd:SystemStructureDescription>\n");
    if (x->ssd.has_failed || x->values.has_failed || x->mapping.has_failed) {
        x->status = itm_error_set(x->error, ITM_ERR_MEMORY, "itm_export_ssp", NULL, "out of memory");
    }
}

static ItmStatus write_archive(Structure* x, const char* path)
{
    zip_t* zip = NULL;
    ItmStatus status = itm_export_open_archive(&zip, path, x->error);
    if (status != ITM_OK) {
        return status;
    }
    bool is_good = itm_export_add_bytes(zip, "SystemStructure.ssd", x->ssd.chars, x->ssd.length);
    if (is_good && has_parameters(x)) {
        is_good = itm_export_add_bytes(zip, "resources/parameters.ssv", x->values.chars, x->values.length) &&
                  itm_export_add_bytes(zip, "resources/parameters.ssm", x->mapping.chars, x->mapping.length);
    }
    for (int i = 0; i < x->npart && is_good; i++) {
        char name[300];
        if (is_component(x, i)) {
            snprintf(name, sizeof name, "resources/%s.fmu", get_name(x, i));
            is_good = itm_export_add_file(zip, name, x->paths[i]);
        }
    }
    return itm_export_close_archive(zip, is_good, path, x->error);
}

static void make_folder(Structure* x)
{
    const char* room = getenv("TMPDIR");
    snprintf(x->folder, sizeof x->folder, "%.250s/interim-export-XXXXXX", room != NULL ? room : "/tmp");
    if (mkdtemp(x->folder) == NULL) {
        x->status = itm_error_set(x->error, ITM_ERR_IO, "itm_export_ssp", NULL,
                                  "cannot make a folder for FMUs in '%s'; set TMPDIR", room != NULL ? room : "/tmp");
        x->folder[0] = '\0';
    }
}

static void finish(Structure* x)
{
    for (int i = 0; i < x->npart; i++) {
        itm_fmu_close(x->fmus[i]);
        if (x->paths[i] != NULL) {
            unlink(x->paths[i]);
        }
        free(x->paths[i]);
    }
    if (x->folder[0] != '\0') {
        rmdir(x->folder);
    }
    itm_text_free(&x->ssd);
    itm_text_free(&x->values);
    itm_text_free(&x->mapping);
    free(x->y);
    itm_cosim_destroy(x->cosim);
    itm_file_destroy(x->file);
}

ItmStatus itm_export_ssp(const char* model, const char* ssp, const ItmExportOptions* options, ItmError* error)
{
    ItmExportOptions chosen = options != NULL ? *options : itm_default_export_options();
    if (model == NULL || ssp == NULL) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, NULL, "model or path of the SSP is NULL");
    }
    if (chosen.npart > 0) {
        return itm_error_set(error, ITM_ERR_ARGUMENT, __func__, "parts",
                             "a system structure holds all parts of the model");
    }
    Structure x = {.options = &chosen, .model = model, .error = error};
    x.status = itm_file_load_below(&x.file, model, chosen.sandbox, chosen.overrides, chosen.noverride, error);
    if (x.status == ITM_OK) {
        list_parts(&x);
    }
    if (x.status == ITM_OK) {
        make_folder(&x);
    }
    for (int i = 0; i < x.npart && x.status == ITM_OK; i++) {
        if (is_component(&x, i)) {
            export_component(&x, i);
        }
    }
    if (x.status == ITM_OK) {
        write_structure(&x);
    }
    x.status = x.status == ITM_OK ? write_archive(&x, ssp) : x.status;
    finish(&x);
    return x.status;
}
