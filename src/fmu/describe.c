// An FMU as its files describe it, for people and as JSON.
#include "base/guard.h"
#include "fmi/fmu.h"
#include "fmu/library.h"
#include "io/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* const KIND_NAMES[ITM_FMI_KIND_COUNT] = {"co-simulation", "model exchange"};

// ---------------------------------------------------------------------------- capabilities

typedef struct Capability {
    const char* name;
    bool is_there;
} Capability;

enum { NCAPABILITY = 14 };

static void list_capabilities(Capability* list, const ItmFmiKind* k, int kind)
{
    bool is_cs = kind == ITM_FMI_CO_SIMULATION;
    const Capability all[NCAPABILITY] = {
        {"get and set state", k->can_get_set_state},
        {"serialised state", k->can_serialize_state},
        {"directional derivatives", k->has_directional_derivatives},
        {"adjoint derivatives", k->has_adjoint_derivatives},
        {"variable step", k->can_handle_variable_step},
        {"fixed internal step", k->fixed_step > 0.0},
        {"interpolated inputs", k->can_interpolate_inputs},
        {"asynchronous steps", k->can_run_asynchronously},
        {"event mode", k->has_event_mode},
        {"early return", k->can_return_early},
        {"intermediate update", k->has_intermediate_update},
        {"output derivatives", k->max_output_derivative_order > 0},
        {"one instance per process", k->once_per_process},
        {"needs the tool that made it", k->needs_execution_tool},
    };
    memcpy(list, all, sizeof all);
    for (int i = 4; i < 12 && !is_cs; i++) {
        list[i].is_there = false;
    }
}

static void write_kind(ItmText* out, const ItmFmiKind* k, int kind)
{
    Capability list[NCAPABILITY];
    if (!k->is_present) {
        return;
    }
    list_capabilities(list, k, kind);
    itm_text_format(out, "  %-16s %s.so", KIND_NAMES[kind], k->model_identifier);
    const char* separator = ": ";
    for (int i = 0; i < NCAPABILITY; i++) {
        if (list[i].is_there) {
            itm_text_format(out, "%s%s", separator, list[i].name);
            separator = ", ";
        }
    }
    if (k->fixed_step > 0.0 && kind == ITM_FMI_CO_SIMULATION) {
        itm_text_format(out, " (%g s)", k->fixed_step);
    }
    itm_text_format(out, "\n");
}

// ---------------------------------------------------------------------------- text

static void write_size(ItmText* out, uint64_t bytes)
{
    if (bytes < 1000) {
        itm_text_format(out, "%d B", (int)bytes);
    } else if (bytes < 1000000) {
        itm_text_format(out, "%.3g kB", (double)bytes / 1e3);
    } else {
        itm_text_format(out, "%.4g MB", (double)bytes / 1e6);
    }
}

static void write_field(ItmText* out, const char* name, const char* text)
{
    if (text[0] != '\0') {
        itm_text_format(out, "  %-16s %s\n", name, text);
    }
}

static void write_experiment(ItmText* out, const ItmFmiDescription* d)
{
    if (isnan(d->start_time) && isnan(d->stop_time) && isnan(d->step_size) && isnan(d->tolerance)) {
        return;
    }
    itm_text_format(out, "  %-16s %g s to", "experiment", isnan(d->start_time) ? 0.0 : d->start_time);
    if (isnan(d->stop_time)) {
        itm_text_format(out, " (no stop time)");
    } else {
        itm_text_format(out, " %g s", d->stop_time);
    }
    if (!isnan(d->step_size)) {
        itm_text_format(out, ", step %g s", d->step_size);
    }
    if (!isnan(d->tolerance)) {
        itm_text_format(out, ", tolerance %g", d->tolerance);
    }
    itm_text_format(out, "\n");
}

static void write_platforms(ItmText* out, const ItmFmiDescription* d)
{
    itm_text_format(out, "  %-16s", "platforms");
    const char* separator = " ";
    for (int i = 0; i < d->nplatform; i++) {
        itm_text_format(out, "%s%s%s", separator, d->platforms[i].name,
                        d->platforms[i].is_ours ? " (this machine)" : "");
        separator = ", ";
    }
    if (d->nsource > 0) {
        itm_text_format(out, "%ssources (%d files)", separator, d->nsource);
        separator = ", ";
    }
    itm_text_format(out, "%s\n", separator[0] == ' ' ? " none" : "");
}

static void write_library(ItmText* out, const ItmFmuLibrary* fmu)
{
    if (!fmu->has_elf) {
        if (fmu->file != NULL) {
            write_field(out, "library", fmu->error.message);
        }
        return;
    }
    const ItmElf* elf = &fmu->elf;
    const char* c_library = itm_elf_get_c_library(elf);
    itm_text_format(out, "  %-16s %s", "needs", elf->needed.count == 0 ? "no library" : "");
    for (int i = 0; i < elf->needed.count; i++) {
        itm_text_format(out, "%s%s", i > 0 ? ", " : "", elf->needed.items[i]);
    }
    itm_text_format(out, "%s%s\n", c_library[0] != '\0' ? "; glibc " : "", c_library);
    char text[256];
    for (int i = 0; itm_fmu_get_missing_library(fmu, i, text, sizeof text); i++) {
        write_field(out, "missing", text);
    }
    int nfmi = 0, nclash = 0;
    for (int i = 0; i < elf->exported.count; i++) {
        nfmi += strncmp(elf->exported.items[i], "fmi", 3) == 0;
        nclash += itm_elf_get_clash(elf->exported.items[i]) != NULL;
    }
    itm_text_format(out, "  %-16s %d FMI functions, %d other symbols\n", "exports", nfmi, elf->exported.count - nfmi);
    for (int i = 0, shown = 0; i < elf->exported.count && nclash > 0 && shown == 0; i++) {
        const char* library = itm_elf_get_clash(elf->exported.items[i]);
        if (library != NULL) {
            itm_text_format(
                out, "  %-16s %d symbols that other libraries export too (%s of %s); run it in a process of its own\n",
                "clashes", nclash, elf->exported.items[i], library);
            shown = 1;
        }
    }
}

static void write_beside(ItmText* out, const ItmFmiDescription* d)
{
    for (int i = 0; i < d->nterminal; i++) {
        const ItmFmiTerminal* t = &d->terminals[i];
        itm_text_format(out, "  %-16s %s%s%s, %d variables\n", "terminal", t->name, t->kind[0] != '\0' ? ", " : "",
                        t->kind, t->nmember);
    }
    for (int i = 0; i < d->nlayer; i++) {
        itm_text_format(out, "  %-16s %s %s: %s\n", "layered standard", d->layers[i].name, d->layers[i].version,
                        d->layers[i].description);
    }
    for (int i = 0; i < d->ncategory; i++) {
        itm_text_format(out, "  %-16s %s%s%s\n", "log category", d->categories[i].name,
                        d->categories[i].description[0] != '\0' ? ": " : "", d->categories[i].description);
    }
}

// "Float64[3,n]"
static void format_type(char* text, size_t size, const ItmFmiDescription* d, const ItmFmiVariable* v)
{
    size_t used = (size_t)snprintf(text, size, "%s", itm_description_get_type_name(v->type));
    for (int i = 0; i < v->ndimension && used < size; i++) {
        const ItmFmiDimension* dimension = &v->dimensions[i];
        const char* separator = i == 0 ? "[" : ",";
        used +=
            dimension->variable != ITM_NONE
                ? (size_t)snprintf(text + used, size - used, "%s%s", separator, d->variables[dimension->variable].name)
                : (size_t)snprintf(text + used, size - used, "%s%llu", separator, (unsigned long long)dimension->size);
    }
    if (v->ndimension > 0 && used < size) {
        snprintf(text + used, size - used, "]");
    }
}

static void write_variables_of(ItmText* out, const ItmFmiDescription* d, ItmFmiCausality causality, const char* title)
{
    int count = 0, width = 8;
    for (int i = 0; i < d->nvariable; i++) {
        if (d->variables[i].causality == causality) {
            int length = (int)strlen(d->variables[i].name);
            width = length > width && length < 48 ? length : width;
            count++;
        }
    }
    if (count == 0) {
        return;
    }
    itm_text_format(out, "\n%s (%d)\n", title, count);
    for (int i = 0; i < d->nvariable; i++) {
        const ItmFmiVariable* v = &d->variables[i];
        if (v->causality != causality) {
            continue;
        }
        char type[128];
        format_type(type, sizeof type, d, v);
        itm_text_format(out, "  %-*s  %-11s  %-10s  %-10s", width, v->name, type,
                        itm_description_get_variability_name(v->variability), v->unit != NULL ? v->unit : "");
        if (v->start_text != NULL) {
            itm_text_format(out, "  %.60s", v->start_text);
        }
        if (v->alias_of != ITM_NONE) {
            itm_text_format(out, "  = %s", d->variables[v->alias_of].name);
        }
        itm_text_format(out, "%s%s\n", v->description[0] != '\0' ? "  " : "", v->description);
    }
}

static void write_variables(ItmText* out, const ItmFmiDescription* d, bool is_all)
{
    write_variables_of(out, d, ITM_FMI_INPUT, "inputs");
    write_variables_of(out, d, ITM_FMI_OUTPUT, "outputs");
    write_variables_of(out, d, ITM_FMI_STRUCTURAL_PARAMETER, "structural parameters");
    write_variables_of(out, d, ITM_FMI_PARAMETER, "parameters");
    if (is_all) {
        write_variables_of(out, d, ITM_FMI_CALCULATED_PARAMETER, "calculated parameters");
        write_variables_of(out, d, ITM_FMI_INDEPENDENT, "independent");
        write_variables_of(out, d, ITM_FMI_LOCAL, "local");
        return;
    }
    int nrest = 0;
    for (int i = 0; i < d->nvariable; i++) {
        ItmFmiCausality c = d->variables[i].causality;
        nrest += c == ITM_FMI_LOCAL || c == ITM_FMI_CALCULATED_PARAMETER;
    }
    if (nrest > 0) {
        itm_text_format(out, "\n%d local variables and calculated parameters; --all lists them\n", nrest);
    }
}

static void write_text(ItmText* out, const ItmFmuLibrary* fmu, bool is_all)
{
    const ItmFmiDescription* d = fmu->description;
    itm_text_format(out, "%s: FMI %s\n", d->model_name, d->version);
    write_field(out, "description", d->description);
    itm_text_format(out, "  %-16s %s, ", "file", itm_archive_get_path(fmu->archive));
    write_size(out, itm_archive_get_size(fmu->archive));
    itm_text_format(out, ", %d files\n", itm_archive_get_count(fmu->archive));
    write_field(out, "tool", d->tool);
    write_field(out, "date", d->date);
    write_field(out, "author", d->author);
    write_field(out, "version", d->model_version);
    write_field(out, "license", d->license);
    write_field(out, d->major == 2 ? "guid" : "token", d->token);
    write_experiment(out, d);
    for (int i = 0; i < ITM_FMI_KIND_COUNT; i++) {
        write_kind(out, &d->kinds[i], i);
    }
    itm_text_format(out, "  %-16s %d variables, %llu states, %d event indicators\n", "size", d->nvariable,
                    (unsigned long long)itm_description_count_states(d), d->nevent_indicator);
    write_platforms(out, d);
    write_library(out, fmu);
    write_beside(out, d);
    write_variables(out, d, is_all);
}

// ---------------------------------------------------------------------------- JSON

static void add_text(ItmText* t, const char* name, const char* value)
{
    itm_text_add_json(t, name);
    itm_text_add(t, ":");
    if (value != NULL) {
        itm_text_add_json(t, value);
    } else {
        itm_text_add(t, "null");
    }
}

// null where it is not given
static void add_number(ItmText* t, const char* name, double value)
{
    itm_text_add_json(t, name);
    itm_text_add(t, ":");
    itm_text_add_number(t, value, 17);
}

static void add_names(ItmText* t, const char* name, const ItmElfNames* names)
{
    itm_text_add_json(t, name);
    itm_text_add(t, ":[");
    for (int i = 0; i < names->count; i++) {
        itm_text_add(t, i > 0 ? "," : "");
        itm_text_add_json(t, names->items[i]);
    }
    itm_text_add(t, "]");
}

static void add_kinds(ItmText* t, const ItmFmiDescription* d)
{
    itm_text_add(t, "\"kinds\":[");
    const char* separator = "";
    for (int i = 0; i < ITM_FMI_KIND_COUNT; i++) {
        Capability list[NCAPABILITY];
        if (!d->kinds[i].is_present) {
            continue;
        }
        itm_text_add(t, separator);
        itm_text_add(t, "{");
        add_text(t, "kind", KIND_NAMES[i]);
        itm_text_add(t, ",");
        add_text(t, "model_identifier", d->kinds[i].model_identifier);
        itm_text_add(t, ",\"capabilities\":[");
        list_capabilities(list, &d->kinds[i], i);
        const char* comma = "";
        for (int k = 0; k < NCAPABILITY; k++) {
            if (list[k].is_there) {
                itm_text_add(t, comma);
                itm_text_add_json(t, list[k].name);
                comma = ",";
            }
        }
        itm_text_add(t, "]}");
        separator = ",";
    }
    itm_text_add(t, "]");
}

static void add_start(ItmText* t, const ItmFmiVariable* v)
{
    itm_text_add(t, "\"start\":[");
    for (int i = 0; i < v->nstart; i++) {
        itm_text_add(t, i > 0 ? "," : "");
        if (v->start != NULL) {
            itm_text_add_number(t, v->start[i], 17);
        } else {
            itm_text_add_json(t, v->start_texts[i]);
        }
    }
    itm_text_add(t, "],\"dimensions\":[");
    for (int i = 0; i < v->ndimension; i++) {
        itm_text_format(t, "%s%llu", i > 0 ? "," : "", (unsigned long long)v->dimensions[i].size);
    }
    itm_text_add(t, "]");
}

static void add_variable(ItmText* t, const ItmFmiDescription* d, const ItmFmiVariable* v)
{
    const char* const texts[][2] = {
        {"name", v->name},
        {"type", itm_description_get_type_name(v->type)},
        {"causality", itm_description_get_causality_name(v->causality)},
        {"variability", itm_description_get_variability_name(v->variability)},
        {"initial", itm_description_get_initial_name(v->initial)},
        {"unit", v->unit},
        {"display_unit", v->display_unit},
        {"description", v->description},
        {"derivative_of", v->derivative_of != ITM_NONE ? d->variables[v->derivative_of].name : NULL},
        {"alias_of", v->alias_of != ITM_NONE ? d->variables[v->alias_of].name : NULL}};
    itm_text_format(t, "{\"value_reference\":%u", v->value_reference);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        itm_text_add(t, ",");
        add_text(t, texts[i][0], texts[i][1]);
    }
    itm_text_add(t, ",");
    add_number(t, "min", v->min);
    itm_text_add(t, ",");
    add_number(t, "max", v->max);
    itm_text_add(t, ",");
    add_number(t, "nominal", v->nominal);
    itm_text_add(t, ",");
    add_start(t, v);
    itm_text_add(t, "}");
}

static void add_library(ItmText* t, const ItmFmuLibrary* fmu)
{
    const ItmFmiDescription* d = fmu->description;
    itm_text_add(t, "\"platforms\":[");
    for (int i = 0; i < d->nplatform; i++) {
        itm_text_add(t, i > 0 ? ",{" : "{");
        add_text(t, "name", d->platforms[i].name);
        itm_text_add(t, ",");
        add_text(t, "library", d->platforms[i].library);
        itm_text_format(t, ",\"is_ours\":%s}", d->platforms[i].is_ours ? "true" : "false");
    }
    itm_text_format(t, "],\"sources\":%d,", d->nsource);
    add_text(t, "library", fmu->file);
    itm_text_add(t, ",");
    add_names(t, "needed", &fmu->elf.needed);
    itm_text_add(t, ",\"missing\":[");
    char text[256];
    for (int i = 0; itm_fmu_get_missing_library(fmu, i, text, sizeof text); i++) {
        itm_text_add(t, i > 0 ? "," : "");
        itm_text_add_json(t, text);
    }
    itm_text_add(t, "],");
    add_text(t, "glibc", itm_elf_get_c_library(&fmu->elf));
    itm_text_add(t, ",\"clashes\":[");
    const char* comma = "";
    for (int i = 0; i < fmu->elf.exported.count; i++) {
        if (itm_elf_get_clash(fmu->elf.exported.items[i]) != NULL) {
            itm_text_add(t, comma);
            itm_text_add_json(t, fmu->elf.exported.items[i]);
            comma = ",";
        }
    }
    itm_text_add(t, "]");
}

static void write_json(ItmText* t, const ItmFmuLibrary* fmu)
{
    const ItmFmiDescription* d = fmu->description;
    const char* const texts[][2] = {{"model_name", d->model_name},
                                    {"fmi_version", d->version},
                                    {"token", d->token},
                                    {"description", d->description},
                                    {"tool", d->tool},
                                    {"date", d->date},
                                    {"author", d->author},
                                    {"version", d->model_version}};
    itm_text_add(t, "{");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        add_text(t, texts[i][0], texts[i][1]);
        itm_text_add(t, ",");
    }
    itm_text_format(t, "\"bytes\":%llu,\"files\":%d,\"states\":%llu,\"event_indicators\":%d,",
                    (unsigned long long)itm_archive_get_size(fmu->archive), itm_archive_get_count(fmu->archive),
                    (unsigned long long)itm_description_count_states(d), d->nevent_indicator);
    add_number(t, "start_time", d->start_time);
    itm_text_add(t, ",");
    add_number(t, "stop_time", d->stop_time);
    itm_text_add(t, ",");
    add_number(t, "step_size", d->step_size);
    itm_text_add(t, ",");
    add_number(t, "tolerance", d->tolerance);
    itm_text_add(t, ",");
    add_kinds(t, d);
    itm_text_add(t, ",");
    add_library(t, fmu);
    itm_text_add(t, ",\"variables\":[");
    for (int i = 0; i < d->nvariable; i++) {
        itm_text_add(t, i > 0 ? ",\n" : "\n");
        add_variable(t, d, &d->variables[i]);
    }
    itm_text_add(t, "]}\n");
}

char* itm_fmu_describe(ItmFmu* fmu, ItmFmuFormat format)
{
    ITM_GUARD(fmu != NULL, NULL);
    ItmText text = {0};
    ItmFmuLibrary library;
    itm_fmu_read_library(&library, fmu);
    if (format == ITM_FMU_JSON) {
        write_json(&text, &library);
    } else {
        write_text(&text, &library, format == ITM_FMU_TEXT_AND_LOCALS);
    }
    itm_fmu_free_library(&library);
    if (text.has_failed) {
        itm_text_free(&text);
    }
    return text.chars;
}
