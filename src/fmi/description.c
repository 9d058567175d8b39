#include "fmi/description_private.h"

#include "base/error.h"
#include "base/nearest.h"

#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PER_RULE 20  // findings of one rule; the rest is counted

// ---------------------------------------------------------------------------- tools of the readers

void itm_description_fail(ItmFmiParser* p, const ItmXmlNode* node, const char* format, ...)
{
    if (p->status != ITM_OK) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    p->status = itm_error_set_list(p->error, ITM_ERR_INPUT, "itm_description_read", NULL, format, arguments);
    va_end(arguments);
    itm_error_locate(p->error, p->d->file, node->line, node->column);
}

void itm_description_fail_memory(ItmFmiParser* p)
{
    if (p->status == ITM_OK) {
        p->status = itm_error_set(p->error, ITM_ERR_MEMORY, "itm_description_read", NULL, "out of memory");
    }
}

void* itm_description_take(ItmFmiParser* p, size_t count, size_t size)
{
    void* memory = itm_owned_take(&p->d->reading->owned, count > 0 ? count : 1, size);
    if (memory == NULL) {
        itm_description_fail_memory(p);
    }
    return memory;
}

const char* itm_description_keep(ItmFmiParser* p, const char* text)
{
    const char* copy = itm_owned_copy_string(&p->d->reading->owned, text);
    if (copy == NULL) {
        itm_description_fail_memory(p);
        return "";
    }
    return copy;
}

const char* itm_description_get_text(ItmFmiParser* p, const ItmXmlNode* node, const char* name, const char* absent)
{
    const char* text = itm_xml_get(node, name);
    return text != NULL ? itm_description_keep(p, text) : absent;
}

double itm_description_get_real(ItmFmiParser* p, const ItmXmlNode* node, const char* name, double absent)
{
    const char* text = itm_xml_get(node, name);
    double value = absent;
    if (text != NULL && !itm_xml_to_real(&value, text)) {
        itm_description_fail(p, node, "<%s>: attribute '%s' must be a number, found '%.40s'", node->name, name, text);
    }
    return value;
}

int itm_description_get_int(ItmFmiParser* p, const ItmXmlNode* node, const char* name, int absent)
{
    const char* text = itm_xml_get(node, name);
    int64_t value = absent;
    if (text != NULL && (!itm_xml_to_integer(&value, text) || value < 0 || value > INT_MAX)) {
        itm_description_fail(p, node, "<%s>: attribute '%s' must be an integer that is not negative, found '%.40s'",
                             node->name, name, text);
        value = absent;
    }
    return (int)value;
}

bool itm_description_get_flag(ItmFmiParser* p, const ItmXmlNode* node, const char* name, bool absent)
{
    const char* text = itm_xml_get(node, name);
    bool value = absent;
    if (text != NULL && !itm_xml_to_boolean(&value, text)) {
        itm_description_fail(p, node, "<%s>: attribute '%s' must be true or false, found '%.40s'", node->name, name,
                             text);
    }
    return value;
}

int itm_description_get_word(ItmFmiParser* p, const ItmXmlNode* node, const char* name, const char* const* words,
                             int nword, int absent)
{
    const char* text = itm_xml_get(node, name);
    if (text == NULL) {
        return absent;
    }
    ItmNearest nearest = itm_nearest_start(text, strlen(text));
    for (int i = 0; i < nword; i++) {
        if (strcmp(text, words[i]) == 0) {
            return i;
        }
        itm_nearest_offer(&nearest, words[i]);
    }
    char hint[80];
    itm_description_fail(p, node, "<%s>: attribute '%s' has the unknown value '%.40s'%s", node->name, name, text,
                         itm_nearest_format(&nearest, hint, sizeof hint));
    return absent;
}

int itm_description_count(const ItmXmlNode* node, const char* name)
{
    int count = 0;
    for (const ItmXmlNode* child = node != NULL ? node->first : NULL; child != NULL; child = child->next) {
        count += name == NULL || itm_xml_is(child, name);
    }
    return count;
}

// ---------------------------------------------------------------------------- findings

void itm_description_find_fault(ItmFmiFindings* f, ItmFmiSeverity severity, int line, int column, const char* rule,
                                const char* format, ...)
{
    int same = 0;
    for (int i = 0; i < f->count; i++) {
        same += strcmp(f->items[i].rule, rule) == 0;
    }
    f->nerror += severity == ITM_FMI_ERROR;
    f->nwarning += severity == ITM_FMI_WARNING;
    if (same >= MOST_PER_RULE) {
        f->nleft_out++;
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    const char* text = itm_owned_format(&f->owned, format, arguments);
    va_end(arguments);
    ItmFmiFinding finding = {severity, line, column, rule, text};
    if (text == NULL || !ITM_LIST_APPEND(*f, finding)) {
        f->nleft_out++;
    }
}

void itm_description_free_findings(ItmFmiFindings* findings)
{
    itm_owned_free(&findings->owned);
    free(findings->items);
    *findings = (ItmFmiFindings){0};
}

void itm_description_note_unknown(ItmFmiParser* p, const ItmXmlNode* node, const char* const* known, int nknown)
{
    for (const ItmXmlNode* child = node->first; child != NULL; child = child->next) {
        bool is_known = false;
        for (int i = 0; i < nknown && !is_known; i++) {
            is_known = itm_xml_is(child, known[i]);
        }
        if (!is_known) {
            ITM_FMI_FAULT(p, ITM_FMI_WARNING, child, "known elements",
                          "<%.60s> in <%.60s> is not part of FMI %d.0; it is ignored", child->name, node->name,
                          p->d->major);
        }
    }
}

// ---------------------------------------------------------------------------- kinds

static void read_source_files(ItmFmiParser* p, const ItmXmlNode* node, ItmFmiKind* kind)
{
    const ItmXmlNode* list = itm_xml_find(node, "SourceFiles");
    int count = itm_description_count(list, "File");
    const char** names = itm_description_take(p, (size_t)count, sizeof *names);
    for (const ItmXmlNode* file = list != NULL ? list->first : NULL; file != NULL && names != NULL; file = file->next) {
        if (itm_xml_is(file, "File")) {
            names[kind->nsource_file++] = itm_description_get_text(p, file, "name", "");
        }
    }
    kind->source_files = names;
}

static void read_capabilities(ItmFmiParser* p, const ItmXmlNode* node, ItmFmiKind* k)
{
    bool is_2 = p->d->major == 2;
    k->needs_execution_tool = itm_description_get_flag(p, node, "needsExecutionTool", false);
    k->once_per_process = itm_description_get_flag(p, node, "canBeInstantiatedOnlyOncePerProcess", false);
    k->can_get_set_state =
        itm_description_get_flag(p, node, is_2 ? "canGetAndSetFMUstate" : "canGetAndSetFMUState", false);
    k->can_serialize_state =
        itm_description_get_flag(p, node, is_2 ? "canSerializeFMUstate" : "canSerializeFMUState", false);
    k->has_directional_derivatives = itm_description_get_flag(
        p, node, is_2 ? "providesDirectionalDerivative" : "providesDirectionalDerivatives", false);
    k->has_adjoint_derivatives = itm_description_get_flag(p, node, "providesAdjointDerivatives", false);
    k->no_memory_functions = itm_description_get_flag(p, node, "canNotUseMemoryManagementFunctions", false);
}

static void read_co_simulation(ItmFmiParser* p, const ItmXmlNode* node, ItmFmiKind* k)
{
    k->can_handle_variable_step = itm_description_get_flag(p, node, "canHandleVariableCommunicationStepSize", false);
    k->fixed_step = itm_description_get_real(p, node, "fixedInternalStepSize", 0.0);
    k->can_interpolate_inputs = itm_description_get_flag(p, node, "canInterpolateInputs", false);
    k->can_run_asynchronously = itm_description_get_flag(p, node, "canRunAsynchronuously", false);
    k->max_output_derivative_order = itm_description_get_int(p, node, "maxOutputDerivativeOrder", 0);
    k->input_smoothness = itm_description_get_int(p, node, "recommendedIntermediateInputSmoothness", 0);
    k->has_event_mode = itm_description_get_flag(p, node, "hasEventMode", false);
    k->can_return_early = itm_description_get_flag(p, node, "canReturnEarlyAfterIntermediateUpdate", false);
    k->has_intermediate_update = itm_description_get_flag(p, node, "providesIntermediateUpdate", false);
}

static void read_model_exchange(ItmFmiParser* p, const ItmXmlNode* node, ItmFmiKind* k)
{
    k->needs_completed_step = p->d->major == 2
                                  ? !itm_description_get_flag(p, node, "completedIntegratorStepNotNeeded", false)
                                  : itm_description_get_flag(p, node, "needsCompletedIntegratorStep", true);
    k->has_evaluate_discrete_states = itm_description_get_flag(p, node, "providesEvaluateDiscreteStates", false);
}

// The identifier becomes the name of a file below binaries/ and, in FMI 2.0, the prefix of functions.
static void check_identifier(ItmFmiParser* p, const ItmXmlNode* node, const char* identifier)
{
    if (identifier == NULL || identifier[0] == '\0') {
        itm_description_fail(p, node, "<%s> needs the attribute 'modelIdentifier'", node->name);
    } else if (strpbrk(identifier, "/\\") != NULL || strcmp(identifier, "..") == 0 || strlen(identifier) > 200) {
        itm_description_fail(p, node, "<%s>: modelIdentifier '%.60s' is not a name of a file", node->name, identifier);
    }
}

static void read_kinds(ItmFmiParser* p, const ItmXmlNode* root)
{
    static const char* const WORDS[ITM_FMI_KIND_COUNT] = {"CoSimulation", "ModelExchange"};
    for (int i = 0; i < ITM_FMI_KIND_COUNT; i++) {
        const ItmXmlNode* node = itm_xml_find(root, WORDS[i]);
        ItmFmiKind* k = &p->d->kinds[i];
        if (node == NULL) {
            continue;
        }
        k->is_present = true;
        k->model_identifier = itm_description_get_text(p, node, "modelIdentifier", NULL);
        check_identifier(p, node, k->model_identifier);
        read_capabilities(p, node, k);
        if (i == ITM_FMI_CO_SIMULATION) {
            read_co_simulation(p, node, k);
        } else {
            read_model_exchange(p, node, k);
        }
        read_source_files(p, node, k);
    }
    const ItmXmlNode* scheduled = itm_xml_find(root, "ScheduledExecution");
    if (!p->d->kinds[0].is_present && !p->d->kinds[1].is_present && p->status == ITM_OK) {
        itm_description_fail(
            p, scheduled != NULL ? scheduled : root,
            scheduled != NULL
                ? "the FMU offers scheduled execution only, which Interim does not support; export it for "
                  "co-simulation or model exchange"
                : "the FMU has neither <CoSimulation> nor <ModelExchange>");
        p->status = scheduled != NULL ? ITM_ERR_UNSUPPORTED : p->status;
    } else if (scheduled != NULL) {
        ITM_FMI_FAULT(p, ITM_FMI_NOTE, scheduled, "kinds",
                      "scheduled execution is not supported; the other kind is used");
    }
}

// ---------------------------------------------------------------------------- root

static const char* require_text(ItmFmiParser* p, const ItmXmlNode* node, const char* name)
{
    const char* text = itm_description_get_text(p, node, name, NULL);
    if (text == NULL) {
        itm_description_fail(p, node, "<%s> needs the attribute '%s'", node->name, name);
        return "";
    }
    return text;
}

static void read_version(ItmFmiParser* p, const ItmXmlNode* root)
{
    if (!itm_xml_is(root, "fmiModelDescription")) {
        itm_description_fail(p, root, "expected <fmiModelDescription>, found <%.60s>", root->name);
        return;
    }
    p->d->version = require_text(p, root, "fmiVersion");
    if (p->status != ITM_OK) {
        return;
    }
    // "2.0", "3.0", "3.0-beta.1", "3.0.1"
    int n = sscanf(p->d->version, "%1d.%2d", &p->d->major, &p->d->minor);
    bool is_beta = strchr(p->d->version, '-') != NULL;
    if (n != 2 || p->d->major < 2 || p->d->major > 3 || p->d->minor != 0 || is_beta) {
        itm_description_fail(p, root, "this is FMI %.20s; Interim reads FMI 2.0 and 3.0%s", p->d->version,
                             n == 2 && p->d->major == 1 ? "; ask the exporting tool for one of them" : "");
        p->status = ITM_ERR_UNSUPPORTED;
    }
}

static void read_root(ItmFmiParser* p, const ItmXmlNode* root)
{
    ItmFmiDescription* d = p->d;
    d->model_name = require_text(p, root, "modelName");
    d->token = require_text(p, root, d->major == 2 ? "guid" : "instantiationToken");
    d->description = itm_description_get_text(p, root, "description", "");
    d->author = itm_description_get_text(p, root, "author", "");
    d->model_version = itm_description_get_text(p, root, "version", "");
    d->copyright = itm_description_get_text(p, root, "copyright", "");
    d->license = itm_description_get_text(p, root, "license", "");
    d->tool = itm_description_get_text(p, root, "generationTool", "");
    d->date = itm_description_get_text(p, root, "generationDateAndTime", "");
    d->naming = itm_description_get_text(p, root, "variableNamingConvention", "flat");
    d->nevent_indicator = itm_description_get_int(p, root, "numberOfEventIndicators", 0);
    static const char* const KNOWN[] = {"CoSimulation",    "ModelExchange",  "ScheduledExecution", "UnitDefinitions",
                                        "TypeDefinitions", "LogCategories",  "DefaultExperiment",  "VendorAnnotations",
                                        "ModelVariables",  "ModelStructure", "Annotations"};
    itm_description_note_unknown(p, root, KNOWN, ITM_COUNT_OF(KNOWN));
}

static void read_experiment(ItmFmiParser* p, const ItmXmlNode* root)
{
    const ItmXmlNode* node = itm_xml_find(root, "DefaultExperiment");
    ItmFmiDescription* d = p->d;
    d->start_time = d->stop_time = d->tolerance = d->step_size = NAN;
    if (node != NULL) {
        d->start_time = itm_description_get_real(p, node, "startTime", NAN);
        d->stop_time = itm_description_get_real(p, node, "stopTime", NAN);
        d->tolerance = itm_description_get_real(p, node, "tolerance", NAN);
        d->step_size = itm_description_get_real(p, node, "stepSize", NAN);
    }
}

static void read_categories(ItmFmiParser* p, const ItmXmlNode* root)
{
    const ItmXmlNode* list = itm_xml_find(root, "LogCategories");
    ItmFmiCategory* items = itm_description_take(p, (size_t)itm_description_count(list, "Category"), sizeof *items);
    for (const ItmXmlNode* node = list != NULL ? list->first : NULL; node != NULL && items != NULL; node = node->next) {
        if (itm_xml_is(node, "Category")) {
            items[p->d->ncategory++] = (ItmFmiCategory){itm_description_get_text(p, node, "name", ""),
                                                        itm_description_get_text(p, node, "description", "")};
        }
    }
    p->d->categories = items;
}

static void read_all(ItmFmiParser* p)
{
    const ItmXmlNode* root = p->xml.root;
    void (*const READERS[])(ItmFmiParser*, const ItmXmlNode*) = {read_version,
                                                                 read_root,
                                                                 read_kinds,
                                                                 read_experiment,
                                                                 read_categories,
                                                                 itm_description_read_units,
                                                                 itm_description_read_types,
                                                                 itm_description_read_variables,
                                                                 itm_description_read_structure};
    for (int i = 0; i < ITM_COUNT_OF(READERS) && p->status == ITM_OK; i++) {
        READERS[i](p, root);
    }
    // the status of a refusal
    if (p->status != ITM_OK && p->error != NULL) {
        p->error->status = p->status;
    }
}

// ---------------------------------------------------------------------------- public

static ItmFmiDescription* create(const char* file)
{
    ItmFmiDescription* d = calloc(1, sizeof *d);
    ItmFmiReading* reading = calloc(1, sizeof *reading);
    if (d != NULL && reading != NULL) {
        d->reading = reading;
        d->file = itm_owned_copy_string(&reading->owned, file);
    }
    if (d == NULL || reading == NULL || d->file == NULL) {
        free(d);
        free(reading);
        return NULL;
    }
    return d;
}

ItmStatus itm_description_parse(ItmFmiDescription** description, const char* xml, size_t length, const char* file,
                                ItmError* error)
{
    *description = NULL;
    ItmFmiParser p = {.d = create(file), .error = error};
    if (p.d == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
    // numbers are written with a point whatever the locale
    locale_t c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t before = uselocale(c_locale);
    p.status = itm_xml_parse(&p.xml, xml, length, file, error);
    if (p.status == ITM_OK) {
        read_all(&p);
    }
    uselocale(before);
    if (c_locale != (locale_t)0) {
        freelocale(c_locale);
    }
    itm_xml_free(&p.xml);
    if (p.status != ITM_OK) {
        itm_description_destroy(p.d);
        return p.status;
    }
    *description = p.d;
    return ITM_OK;
}

ItmStatus itm_description_read(ItmFmiDescription** description, ItmArchive* archive, ItmError* error)
{
    *description = NULL;
    char file[256];
    snprintf(file, sizeof file, "%.220s%smodelDescription.xml", itm_archive_get_path(archive),
             itm_archive_is_folder(archive) ? "/" : "!");
    char* xml = NULL;
    size_t length = 0;
    if (itm_archive_find(archive, "modelDescription.xml") == ITM_NONE) {
        itm_error_set(error, ITM_ERR_INPUT, __func__, NULL,
                      "the archive has no modelDescription.xml at its root, so it is not an FMU");
        itm_error_locate(error, itm_archive_get_path(archive), 0, 0);
        return ITM_ERR_INPUT;
    }
    ItmStatus status = itm_archive_read(archive, &xml, &length, "modelDescription.xml", ITM_XML_MAX_BYTES, error);
    if (status == ITM_OK) {
        status = itm_description_parse(description, xml, length, file, error);
    }
    free(xml);
    if (status == ITM_OK) {
        status = itm_description_read_files(*description, archive, error);
    }
    if (status != ITM_OK) {
        itm_description_destroy(*description);
        *description = NULL;
    }
    return status;
}

void itm_description_destroy(ItmFmiDescription* d)
{
    if (d == NULL) {
        return;
    }
    itm_names_free(&d->reading->names);
    itm_description_free_findings(&d->reading->findings);
    itm_owned_free(&d->reading->owned);
    free(d->reading);
    free(d);
}

int itm_description_find(const ItmFmiDescription* d, const char* name)
{
    return itm_names_find(&d->reading->names, name, strlen(name));
}

const char* itm_description_suggest(const ItmFmiDescription* d, const char* name)
{
    ItmNearest nearest = itm_nearest_start(name, strlen(name));
    for (int i = 0; i < d->nvariable; i++) {
        itm_nearest_offer(&nearest, d->variables[i].name);
    }
    return nearest.best;
}

uint64_t itm_description_count_states(const ItmFmiDescription* d)
{
    uint64_t count = 0;
    for (int i = 0; i < d->derivatives.count; i++) {
        count += d->variables[d->derivatives.items[i].variable].count;
    }
    return count;
}

// ---------------------------------------------------------------------------- words

const char* itm_description_get_type_name(ItmFmiType type)
{
    static const char* const WORDS[ITM_FMI_TYPE_COUNT] = {"Float64", "Float32", "Int8",   "UInt8",      "Int16",
                                                          "UInt16",  "Int32",   "UInt32", "Int64",      "UInt64",
                                                          "Boolean", "String",  "Binary", "Enumeration"};
    return WORDS[type];
}

const char* itm_description_get_causality_name(ItmFmiCausality causality)
{
    static const char* const WORDS[ITM_FMI_CAUSALITY_COUNT] = {
        "parameter", "calculatedParameter", "input", "output", "local", "independent", "structuralParameter"};
    return WORDS[causality];
}

const char* itm_description_get_variability_name(ItmFmiVariability variability)
{
    static const char* const WORDS[ITM_FMI_VARIABILITY_COUNT] = {"constant", "fixed", "tunable", "discrete",
                                                                 "continuous"};
    return WORDS[variability];
}

const char* itm_description_get_initial_name(ItmFmiInitial initial)
{
    static const char* const WORDS[ITM_FMI_INITIAL_COUNT] = {"", "exact", "approx", "calculated"};
    return WORDS[initial];
}
