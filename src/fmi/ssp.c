#include "fmi/ssp.h"

#include "base/error.h"
#include "base/list.h"
#include "base/names.h"
#include "fmi/xml.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_NOTES 50

// A connection as it is written, between connectors of elements or of the system around them.
typedef struct Edge {
    const char *start_path, *start, *end_path, *end;
    double factor, offset;
    int line, column;
} Edge;

typedef struct Parser {
    ItmSsp* ssp;
    ItmArchive* archive;  // or NULL
    const char* folder;   // of the .ssd file, or NULL
    const ItmXml* xml;    // being read
    ItmError* error;
    ItmStatus status;
    struct {
        Edge* items;
        int count, capacity;
    } edges;
    ItmNames incoming;           // "path\nconnector" of the end -> edge
    ItmNames components;         // path -> component
    ItmNames systems;            // path -> anything
    ItmNames names;              // of subsystems
    ItmSspValues system_values;  // on connectors of systems; their names are "path\nconnector"
} Parser;

// ---------------------------------------------------------------------------- complaints

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static void
fail(Parser* p, const ItmXmlNode* node, const char* format, ...)
{
    if (p->status != ITM_OK) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    p->status = itm_error_set_list(p->error, ITM_ERR_INPUT, "itm_ssp_read", NULL, format, arguments);
    va_end(arguments);
    itm_error_locate(p->error, p->xml->file, node->line, node->column);
}

static void fail_memory(Parser* p)
{
    if (p->status == ITM_OK) {
        p->status = itm_error_set(p->error, ITM_ERR_MEMORY, "itm_ssp_read", NULL, "out of memory");
    }
}

// The text, or without memory an empty one.
static const char* check_kept(Parser* p, const char* text)
{
    if (text == NULL) {
        fail_memory(p);
        return "";
    }
    return text;
}

static const char* keep(Parser* p, const char* text)
{
    return check_kept(p, itm_owned_copy_string(&p->ssp->owned, text));
}

#define KEEP_FORMAT(p, ...) check_kept(p, itm_owned_print(&(p)->ssp->owned, __VA_ARGS__))

// A part that is not used. The first MOST_NOTES are kept; the last of them notes that there are more.
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static void
note(Parser* p, int line, const char* format, ...)
{
    char message[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    const char* text = KEEP_FORMAT(p, "%s:%d: %s", p->xml->file, line, message);
    if (p->ssp->notes.count < MOST_NOTES) {
        if (!ITM_LIST_APPEND(p->ssp->notes, text)) {
            fail_memory(p);
        }
    } else {
        p->ssp->notes.items[MOST_NOTES - 1] = "and further parts that are not used";
    }
}

// Name children that are none of the known ones.
static void note_unknown(Parser* p, const ItmXmlNode* node, const char* const* known, int nknown)
{
    for (const ItmXmlNode* child = node->first; child != NULL; child = child->next) {
        bool is_known = false;
        for (int i = 0; i < nknown && !is_known; i++) {
            is_known = itm_xml_is(child, known[i]);
        }
        if (!is_known) {
            note(p, child->line, "<%.60s> in <%.60s> is not used", child->name, node->name);
        }
    }
}

#define NOTE_UNKNOWN(p, node, ...)                                                                                     \
    do {                                                                                                               \
        static const char* const known_names[] = {__VA_ARGS__};                                                        \
        note_unknown(p, node, known_names, (int)(sizeof known_names / sizeof *known_names));                           \
    } while (0)

// ---------------------------------------------------------------------------- attributes

static const char* require(Parser* p, const ItmXmlNode* node, const char* name)
{
    const char* text = itm_xml_get(node, name);
    if (text == NULL || text[0] == '\0') {
        fail(p, node, "<%s> needs the attribute '%s'", node->name, name);
        return "";
    }
    return keep(p, text);
}

static double get_real(Parser* p, const ItmXmlNode* node, const char* name, double absent)
{
    const char* text = itm_xml_get(node, name);
    double value = absent;
    if (text != NULL && (!itm_xml_to_real(&value, text) || !isfinite(value))) {
        fail(p, node, "<%s>: attribute '%s' must be a finite number, found '%.40s'", node->name, name, text);
    }
    return value;
}

// Text of our annotation among the annotations of an element, or NULL; others are named.
static const char* get_annotation(Parser* p, const ItmXmlNode* node, int* line)
{
    const ItmXmlNode* list = itm_xml_find(node, "Annotations");
    const char* text = NULL;
    for (const ItmXmlNode* child = list != NULL ? list->first : NULL; child != NULL; child = child->next) {
        const char* type = itm_xml_get(child, "type");
        if (type != NULL && strcmp(type, ITM_SSP_ANNOTATION) == 0) {
            // SSP 1.0 has no text here, only elements: the text of the first then
            const ItmXmlNode* holder = child->first != NULL ? child->first : child;
            text = keep(p, holder->text);
            *line = holder->line;
        } else {
            note(p, child->line, "the annotation of type '%.60s' is not used", type != NULL ? type : "");
        }
    }
    return text;
}

// ---------------------------------------------------------------------------- files

// A URI relative to the structure, percent signs decoded. Refused: other schemes, and what leaves an archive.
static const char* decode_source(Parser* p, const ItmXmlNode* node, const char* uri)
{
    char* path = itm_owned_copy_string(&p->ssp->owned, uri);
    if (path == NULL) {
        fail_memory(p);
        return "";
    }
    size_t n = 0;
    for (const char* c = uri; *c != '\0'; n++) {
        unsigned byte = 0;
        if (c[0] == '%' && sscanf(c + 1, "%2x", &byte) == 1 && byte > 0 && c[1] != '\0' && c[2] != '\0') {
            path[n] = (char)byte;
            c += 3;
        } else {
            path[n] = *c++;
        }
    }
    path[n] = '\0';
    bool is_outside = path[0] == '/' || strncmp(path, "../", 3) == 0 || strstr(path, "/../") != NULL;
    if (strstr(path, "://") != NULL) {
        fail(p, node, "source '%.100s' is not a file of the archive; put it into resources/", uri);
    } else if (p->archive != NULL && is_outside) {
        fail(p, node, "source '%.100s' leads out of the archive; put the file into resources/", uri);
    }
    return strncmp(path, "./", 2) == 0 ? path + 2 : path;
}

// Whether the archive has a file of this name, or an unpacked FMU.
static bool has_source(const ItmArchive* archive, const char* name)
{
    size_t n = strlen(name);
    bool has = false;
    for (int i = 0; i < itm_archive_get_count(archive) && !has; i++) {
        const char* file = itm_archive_get_file(archive, i)->name;
        has = strncmp(file, name, n) == 0 && (file[n] == '\0' || file[n] == '/' || (n > 0 && name[n - 1] == '/'));
    }
    return has;
}

static char* read_plain(const char* path, size_t* length)
{
    struct stat s;
    FILE* file =
        stat(path, &s) == 0 && S_ISREG(s.st_mode) && (size_t)s.st_size <= ITM_XML_MAX_BYTES ? fopen(path, "rb") : NULL;
    char* bytes = file != NULL ? malloc((size_t)s.st_size + 1) : NULL;
    if (bytes != NULL) {
        *length = fread(bytes, 1, (size_t)s.st_size, file);
    }
    if (file != NULL) {
        fclose(file);
    }
    return bytes;
}

// Parse an XML file beside the structure; false with a failure at `node`.
static bool read_beside(Parser* p, ItmXml* xml, const ItmXmlNode* node, const char* source)
{
    const char* name = decode_source(p, node, source);
    char* bytes = NULL;
    size_t length = 0;
    const char* file = "";
    ItmStatus status = p->status;
    if (status == ITM_OK && p->archive != NULL) {
        file = KEEP_FORMAT(p, "%s!%s", itm_archive_get_path(p->archive), name);
        status = itm_archive_read(p->archive, &bytes, &length, name, ITM_XML_MAX_BYTES, p->error);
    } else if (status == ITM_OK && p->folder != NULL) {
        file = KEEP_FORMAT(p, "%s/%s", p->folder, name);
        bytes = read_plain(file, &length);
    }
    if (status == ITM_OK && bytes == NULL) {
        fail(p, node, "the file '%.150s' cannot be read", name);
    } else if (status == ITM_OK) {
        status = itm_xml_parse(xml, bytes, length, file, p->error);
    }
    free(bytes);
    p->status = p->status == ITM_OK ? status : p->status;
    return p->status == ITM_OK;
}

// ---------------------------------------------------------------------------- values

static void set_value(Parser* p, ItmSspValues* values, ItmSspValue value)
{
    for (int i = 0; i < values->count; i++) {
        if (strcmp(values->items[i].name, value.name) == 0) {
            values->items[i] = value;
            return;
        }
    }
    if (!ITM_LIST_APPEND(*values, value)) {
        fail_memory(p);
    }
}

static const char* join(Parser* p, const char* path, const char* name)
{
    return path[0] != '\0' ? KEEP_FORMAT(p, "%s/%s", path, name) : keep(p, name);
}

static const char* make_key(Parser* p, const char* path, const char* connector)
{
    return KEEP_FORMAT(p, "%s\n%s", path, connector);
}

// Set a value on an element. On a system, "element.name" leads inside, otherwise it is the system's own connector.
static void apply_value(Parser* p, const char* path, ItmSspValue value)
{
    int component = itm_names_find(&p->components, path, strlen(path));
    if (component != ITM_NONE) {
        set_value(p, &p->ssp->components.items[component].values, value);
        return;
    }
    for (const char* dot = strchr(value.name, '.'); dot != NULL; dot = strchr(dot + 1, '.')) {
        const char* head = KEEP_FORMAT(p, "%.*s", (int)(dot - value.name), value.name);
        const char* inner = join(p, path, head);
        size_t n = strlen(inner);
        if (itm_names_find(&p->components, inner, n) != ITM_NONE || itm_names_find(&p->systems, inner, n) != ITM_NONE) {
            value.name = dot + 1;
            apply_value(p, inner, value);
            return;
        }
    }
    value.name = make_key(p, path, value.name);
    set_value(p, &p->system_values, value);
}

// factor * value + offset, where there is a transformation
static void transform_value(Parser* p, ItmSspValue* value, double factor, double offset)
{
    double number = 0.0;
    if ((factor != 1.0 || offset != 0.0) && itm_xml_to_real(&number, value->text)) {
        value->text = KEEP_FORMAT(p, "%.17g", factor * number + offset);
    }
}

static void read_transformation(Parser* p, const ItmXmlNode* node, double* factor, double* offset)
{
    *factor = 1.0;
    *offset = 0.0;
    for (const ItmXmlNode* child = node->first; child != NULL; child = child->next) {
        if (itm_xml_is(child, "LinearTransformation")) {
            *factor = get_real(p, child, "factor", 1.0);
            *offset = get_real(p, child, "offset", 0.0);
        } else if (strstr(child->name, "Transformation") != NULL) {
            fail(p, child, "<%.60s> is not supported; only linear transformations are", child->name);
        } else if (!itm_xml_is(child, "ConnectionGeometry") && !itm_xml_is(child, "Annotations")) {
            note(p, child->line, "<%.60s> in <%.60s> is not used", child->name, node->name);
        }
    }
}

// Apply one parameter through the mapping: without one by its own name, with one by the names that it has there.
static void map_value(Parser* p, const char* path, ItmSspValue value, const char* prefix, const ItmXmlNode* mapping)
{
    const char* name = value.name;
    bool is_mapped = false;
    if (mapping == NULL) {
        value.name = prefix[0] != '\0' ? KEEP_FORMAT(p, "%s%s", prefix, name) : name;
        apply_value(p, path, value);
        return;
    }
    for (const ItmXmlNode* entry = mapping->first; entry != NULL && p->status == ITM_OK; entry = entry->next) {
        const char* source = itm_xml_is(entry, "MappingEntry") ? itm_xml_get(entry, "source") : NULL;
        if (source == NULL || strcmp(source, name) != 0) {
            continue;
        }
        double factor, offset;
        ItmSspValue mapped = value;
        const char* target = require(p, entry, "target");
        mapped.name = prefix[0] != '\0' ? KEEP_FORMAT(p, "%s%s", prefix, target) : target;
        read_transformation(p, entry, &factor, &offset);
        transform_value(p, &mapped, factor, offset);
        apply_value(p, path, mapped);
        is_mapped = true;
    }
    if (!is_mapped) {
        note(p, value.line, "parameter '%.100s' is not mapped to anything and is not used", name);
    }
}

// <Parameter name><Real value unit/></Parameter>
static void read_parameter(Parser* p, const ItmXmlNode* node, const char* path, const char* prefix,
                           const ItmXmlNode* mapping)
{
    const ItmXmlNode* type = node->first;
    while (type != NULL && itm_xml_is(type, "Annotations")) {
        type = type->next;
    }
    const char* name = require(p, node, "name");
    const char* text = type != NULL ? itm_xml_get(type, "value") : NULL;
    if (text == NULL) {
        fail(p, node, "parameter '%.100s' has no value", name);
        return;
    }
    const char* unit = itm_xml_get(type, "unit");
    ItmSspValue value = {name,
                         keep(p, text),
                         unit != NULL && unit[0] != '\0' ? keep(p, unit) : NULL,
                         itm_xml_is(type, "String") || itm_xml_is(type, "Enumeration") || itm_xml_is(type, "Binary"),
                         keep(p, p->xml->file),
                         node->line,
                         node->column};
    map_value(p, path, value, prefix, mapping);
}

static void read_parameter_set(Parser* p, const ItmXmlNode* set, const char* path, const char* prefix,
                               const ItmXmlNode* mapping)
{
    const ItmXmlNode* list = itm_xml_find(set, "Parameters");
    NOTE_UNKNOWN(p, set, "Parameters", "Enumerations", "Units", "Annotations");
    for (const ItmXmlNode* node = list != NULL ? list->first : NULL; node != NULL && p->status == ITM_OK;
         node = node->next) {
        if (itm_xml_is(node, "Parameter")) {
            read_parameter(p, node, path, prefix, mapping);
        }
    }
}

// The set of a binding: inline, or a file *.ssv.
static void read_values(Parser* p, const ItmXmlNode* binding, const char* path, const ItmXmlNode* mapping)
{
    const char *prefix = itm_xml_get(binding, "prefix"), *source = itm_xml_get(binding, "source");
    const ItmXmlNode* values = itm_xml_find(binding, "ParameterValues");
    const ItmXmlNode* set = itm_xml_find(values, "ParameterSet");
    const char* base = itm_xml_get(binding, "sourceBase");
    prefix = prefix != NULL ? prefix : "";
    if (base != NULL && strcmp(base, "SSD") != 0) {
        fail(p, binding, "sourceBase '%.40s' is not supported; give the source relative to the structure", base);
        return;
    }
    if (source == NULL) {
        if (set == NULL) {
            fail(p, binding, "<ParameterBinding> has neither 'source' nor values");
        } else {
            read_parameter_set(p, set, path, prefix, mapping);
        }
        return;
    }
    ItmXml xml = {0};
    if (read_beside(p, &xml, binding, source)) {
        const ItmXml* outer = p->xml;
        p->xml = &xml;
        if (itm_xml_is(xml.root, "ParameterSet")) {
            read_parameter_set(p, xml.root, path, prefix, mapping);
        } else {
            fail(p, xml.root, "expected <ParameterSet>, found <%.60s>", xml.root->name);
        }
        p->xml = outer;
    }
    itm_xml_free(&xml);
}

static void read_binding(Parser* p, const ItmXmlNode* binding, const char* path)
{
    NOTE_UNKNOWN(p, binding, "ParameterValues", "ParameterMapping", "Annotations");
    const ItmXmlNode* holder = itm_xml_find(binding, "ParameterMapping");
    const char* source = holder != NULL ? itm_xml_get(holder, "source") : NULL;
    ItmXml xml = {0};
    if (source != NULL && read_beside(p, &xml, holder, source)) {
        if (itm_xml_is(xml.root, "ParameterMapping")) {
            read_values(p, binding, path, xml.root);
        } else {
            fail(p, holder, "'%.100s' has no <ParameterMapping>", source);
        }
    } else if (p->status == ITM_OK) {
        // inside <ssd:ParameterMapping> is <ssm:ParameterMapping>
        const ItmXmlNode* inner = itm_xml_find(holder, "ParameterMapping");
        read_values(p, binding, path, inner != NULL ? inner : holder);
    }
    itm_xml_free(&xml);
}

static void read_bindings(Parser* p, const ItmXmlNode* element, const char* path)
{
    const ItmXmlNode* list = itm_xml_find(element, "ParameterBindings");
    for (const ItmXmlNode* node = list != NULL ? list->first : NULL; node != NULL && p->status == ITM_OK;
         node = node->next) {
        if (itm_xml_is(node, "ParameterBinding")) {
            read_binding(p, node, path);
        }
    }
}

// ---------------------------------------------------------------------------- elements

// A name of a subsystem: the path with "-" between, without characters that names must not have, and unique.
static const char* make_name(Parser* p, const char* path)
{
    char name[60];
    snprintf(name, sizeof name, "%.50s", path);
    for (char* c = name; *c != '\0'; c++) {
        bool is_letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        *c = *c == '/' ? '-' : is_letter || *c == '_' || *c == '-' ? *c : '_';
    }
    if (name[0] >= '0' && name[0] <= '9') {
        name[0] = '_';
    }
    size_t n = strlen(name);
    for (int i = 2; itm_names_find(&p->names, name, strlen(name)) != ITM_NONE; i++) {
        snprintf(name + n, sizeof name - n, "-%d", i);
    }
    if (itm_names_add(&p->names, name, strlen(name), 0) == NULL) {
        fail_memory(p);
    }
    return keep(p, name);
}

static void add_path(Parser* p, ItmNames* names, const ItmXmlNode* node, const char* path, int value)
{
    size_t n = strlen(path);
    if (itm_names_find(&p->components, path, n) != ITM_NONE || itm_names_find(&p->systems, path, n) != ITM_NONE) {
        fail(p, node, "two elements are named '%.100s'", path);
    } else if (itm_names_add(names, path, n, value) == NULL) {
        fail_memory(p);
    }
}

static void read_component(Parser* p, const ItmXmlNode* node, const char* around)
{
    NOTE_UNKNOWN(p, node, "Connectors", "ElementGeometry", "ParameterBindings", "Annotations");
    const char *type = itm_xml_get(node, "type"), *implementation = itm_xml_get(node, "implementation");
    ItmSspComponent c = {.line = node->line, .column = node->column};
    if (type != NULL && strcmp(type, "application/x-fmu-sharedlibrary") != 0) {
        fail(p, node,
             "component '%.60s' has the type '%.60s'; only FMUs (application/x-fmu-sharedlibrary) are supported",
             itm_xml_get(node, "name") != NULL ? itm_xml_get(node, "name") : "", type);
        return;
    }
    c.path = join(p, around, require(p, node, "name"));
    c.source = decode_source(p, node, require(p, node, "source"));
    if (p->status == ITM_OK && p->archive != NULL && !has_source(p->archive, c.source)) {
        fail(p, node, "component '%.60s': the archive has no file '%.100s'", c.path, c.source);
    }
    c.implementation = implementation != NULL ? keep(p, implementation) : "any";
    c.annotation = get_annotation(p, node, &c.annotation_line);
    if (p->status != ITM_OK) {
        return;
    }
    c.name = make_name(p, c.path);
    add_path(p, &p->components, node, c.path, p->ssp->components.count);
    if (!ITM_LIST_APPEND(p->ssp->components, c)) {
        fail_memory(p);
    }
    read_bindings(p, node, c.path);
}

// Values go through wires in SI units, so the units of the FMUs are always converted.
static void note_conversion(Parser* p, const ItmXmlNode* node)
{
    const char* text = itm_xml_get(node, "suppressUnitConversion");
    bool is_suppressed = false;
    if (text != NULL && itm_xml_to_boolean(&is_suppressed, text) && is_suppressed) {
        note(p, node->line, "suppressUnitConversion of <%s> is not used: units of FMUs are always converted",
             node->name);
    }
}

static void read_connection(Parser* p, const ItmXmlNode* node, const char* path)
{
    Edge e = {.line = node->line, .column = node->column};
    const char *start = itm_xml_get(node, "startElement"), *end = itm_xml_get(node, "endElement");
    e.start_path = start != NULL && start[0] != '\0' ? join(p, path, start) : path;
    e.end_path = end != NULL && end[0] != '\0' ? join(p, path, end) : path;
    e.start = require(p, node, "startConnector");
    e.end = require(p, node, "endConnector");
    read_transformation(p, node, &e.factor, &e.offset);
    note_conversion(p, node);
    if (itm_xml_get(node, "startIndices") != NULL || itm_xml_get(node, "endIndices") != NULL) {
        fail(p, node, "connections of elements of arrays are not supported; connect whole arrays or scalar variables");
    }
    const char* key = make_key(p, e.end_path, e.end);
    if (p->status != ITM_OK) {
        return;
    }
    int other = itm_names_find(&p->incoming, key, strlen(key));
    if (other != ITM_NONE) {
        fail(p, node, "connector '%.60s' of '%.60s' has two connections, the first in line %d", e.end, e.end_path,
             p->edges.items[other].line);
    } else if (itm_names_add(&p->incoming, key, strlen(key), p->edges.count) == NULL || !ITM_LIST_APPEND(p->edges, e)) {
        fail_memory(p);
    }
}

// Post-order: values that an outer system sets replace those of an inner one.
static void read_system(Parser* p, const ItmXmlNode* node, const char* path)
{
    NOTE_UNKNOWN(p, node, "Connectors", "ElementGeometry", "ParameterBindings", "Elements", "Connections",
                 "SystemGeometry", "GraphicalElements", "Annotations");
    const ItmXmlNode* elements = itm_xml_find(node, "Elements");
    const ItmXmlNode* connections = itm_xml_find(node, "Connections");
    for (const ItmXmlNode* child = elements != NULL ? elements->first : NULL; child != NULL && p->status == ITM_OK;
         child = child->next) {
        if (itm_xml_is(child, "Component")) {
            read_component(p, child, path);
        } else if (itm_xml_is(child, "System")) {
            int line = 0;
            const char* inner = join(p, path, require(p, child, "name"));
            add_path(p, &p->systems, child, inner, 0);
            get_annotation(p, child, &line);
            read_system(p, child, inner);
        } else if (!itm_xml_is(child, "Annotations")) {
            note(p, child->line, "<%.60s> in <Elements> is not used", child->name);
        }
    }
    for (const ItmXmlNode* child = connections != NULL ? connections->first : NULL;
         child != NULL && p->status == ITM_OK; child = child->next) {
        read_connection(p, child, path);
    }
    if (p->status == ITM_OK) {
        read_bindings(p, node, path);
    }
}

// ---------------------------------------------------------------------------- flattening

static const ItmSspValue* find_system_value(const Parser* p, const char* key)
{
    for (int i = 0; i < p->system_values.count; i++) {
        if (strcmp(p->system_values.items[i].name, key) == 0) {
            return &p->system_values.items[i];
        }
    }
    return NULL;
}

// Follow a connection from its end at a component back through connectors of systems to the component where it starts.
// end = factor * start + offset along the way: the inner transformation comes last.
static void resolve_edge(Parser* p, const Edge* last, int to)
{
    double factor = last->factor, offset = last->offset;
    const Edge* e = last;
    for (int hops = 0; hops < p->edges.count + 1; hops++) {
        int from = itm_names_find(&p->components, e->start_path, strlen(e->start_path));
        if (from != ITM_NONE) {
            ItmSspConnection c = {from, to, e->start, last->end, factor, offset, last->line, last->column};
            if (!ITM_LIST_APPEND(p->ssp->connections, c)) {
                fail_memory(p);
            }
            return;
        }
        const char* key = make_key(p, e->start_path, e->start);
        int next = itm_names_find(&p->incoming, key, strlen(key));
        const ItmSspValue* value = find_system_value(p, key);
        if (next == ITM_NONE && value != NULL) {
            ItmSspValue set = *value;
            set.name = last->end;
            transform_value(p, &set, factor, offset);
            set_value(p, &p->ssp->components.items[to].values, set);
            return;
        }
        if (next == ITM_NONE) {
            note(
                p, e->line,
                "connector '%.60s' of system '%.60s' is connected to nothing; '%.60s' of '%.60s' keeps its start value",
                e->start, e->start_path[0] != '\0' ? e->start_path : p->ssp->name, last->end, last->end_path);
            return;
        }
        e = &p->edges.items[next];
        offset += factor * e->offset;
        factor *= e->factor;
    }
    if (p->status == ITM_OK) {
        p->status = itm_error_set(p->error, ITM_ERR_INPUT, "itm_ssp_read", NULL, "connections of systems form a ring");
        itm_error_locate(p->error, p->xml->file, last->line, last->column);
    }
}

static void resolve_edges(Parser* p)
{
    for (int i = 0; i < p->edges.count && p->status == ITM_OK; i++) {
        const Edge* e = &p->edges.items[i];
        int to = itm_names_find(&p->components, e->end_path, strlen(e->end_path));
        bool is_system =
            e->end_path[0] == '\0' || itm_names_find(&p->systems, e->end_path, strlen(e->end_path)) != ITM_NONE;
        bool has_start = e->start_path[0] == '\0' ||
                         itm_names_find(&p->components, e->start_path, strlen(e->start_path)) != ITM_NONE ||
                         itm_names_find(&p->systems, e->start_path, strlen(e->start_path)) != ITM_NONE;
        if (!has_start || (to == ITM_NONE && !is_system)) {
            p->status = itm_error_set(p->error, ITM_ERR_INPUT, "itm_ssp_read", NULL,
                                      "the connection refers to '%.100s', which is no element here",
                                      !has_start ? e->start_path : e->end_path);
            itm_error_locate(p->error, p->xml->file, e->line, e->column);
        } else if (to != ITM_NONE) {
            resolve_edge(p, e, to);
        }
    }
}

// ---------------------------------------------------------------------------- reading

static void read_experiment(Parser* p, const ItmXmlNode* root)
{
    const ItmXmlNode* node = itm_xml_find(root, "DefaultExperiment");
    p->ssp->start_time = p->ssp->stop_time = NAN;
    if (node == NULL) {
        return;
    }
    p->ssp->start_time = get_real(p, node, "startTime", NAN);
    p->ssp->stop_time = get_real(p, node, "stopTime", NAN);
    if (p->ssp->stop_time <= (isnan(p->ssp->start_time) ? 0.0 : p->ssp->start_time)) {
        fail(p, node, "stopTime %g s is not after startTime", p->ssp->stop_time);
    }
    int line = 0;
    const char* annotation = get_annotation(p, node, &line);
    if (annotation != NULL) {
        p->ssp->annotation = annotation;
        p->ssp->annotation_line = line;
    }
}

static void read_root(Parser* p, const ItmXmlNode* root)
{
    const ItmXmlNode* system = itm_xml_find(root, "System");
    if (!itm_xml_is(root, "SystemStructureDescription")) {
        fail(p, root, "expected <SystemStructureDescription>, found <%.60s>", root->name);
        return;
    }
    p->ssp->version = require(p, root, "version");
    if (p->status == ITM_OK && strncmp(p->ssp->version, "1.", 2) != 0 && strncmp(p->ssp->version, "2.0", 3) != 0) {
        fail(p, root, "this is SSP %.20s; Interim reads SSP 1.0 and 2.0", p->ssp->version);
    }
    p->ssp->name = require(p, root, "name");
    NOTE_UNKNOWN(p, root, "System", "Enumerations", "Units", "DefaultExperiment", "Annotations");
    p->ssp->annotation = get_annotation(p, root, &p->ssp->annotation_line);
    if (system == NULL) {
        fail(p, root, "the file has no <System>");
        return;
    }
    read_system(p, system, "");
    read_experiment(p, root);
    if (p->status == ITM_OK && p->ssp->components.count == 0) {
        fail(p, system, "the system has no components");
    }
    resolve_edges(p);
}

static void free_parser(Parser* p)
{
    free(p->edges.items);
    free(p->system_values.items);
    itm_names_free(&p->incoming);
    itm_names_free(&p->components);
    itm_names_free(&p->systems);
    itm_names_free(&p->names);
}

static ItmStatus parse(ItmSsp** ssp, Parser* p, const char* bytes, size_t length, const char* file)
{
    ItmXml xml = {0};
    p->ssp = calloc(1, sizeof *p->ssp);
    if (p->ssp == NULL) {
        return itm_error_set(p->error, ITM_ERR_MEMORY, "itm_ssp_read", NULL, "out of memory");
    }
    p->ssp->file = keep(p, file);
    // numbers are written with a point whatever the locale
    locale_t c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t before = uselocale(c_locale);
    p->status = itm_xml_parse(&xml, bytes, length, file, p->error);
    if (p->status == ITM_OK) {
        p->xml = &xml;
        read_root(p, xml.root);
    }
    uselocale(before);
    if (c_locale != (locale_t)0) {
        freelocale(c_locale);
    }
    itm_xml_free(&xml);
    free_parser(p);
    if (p->status != ITM_OK) {
        itm_ssp_destroy(p->ssp);
        return p->status;
    }
    *ssp = p->ssp;
    return ITM_OK;
}

ItmStatus itm_ssp_read(ItmSsp** ssp, ItmArchive* archive, ItmError* error)
{
    *ssp = NULL;
    Parser p = {.archive = archive, .error = error};
    char file[256];
    char* bytes = NULL;
    size_t length = 0;
    snprintf(file, sizeof file, "%.220s%sSystemStructure.ssd", itm_archive_get_path(archive),
             itm_archive_is_folder(archive) ? "/" : "!");
    ItmStatus status = itm_archive_read(archive, &bytes, &length, "SystemStructure.ssd", ITM_XML_MAX_BYTES, error);
    if (status == ITM_OK) {
        status = parse(ssp, &p, bytes, length, file);
    }
    free(bytes);
    return status;
}

ItmStatus itm_ssp_read_file(ItmSsp** ssp, const char* path, ItmError* error)
{
    *ssp = NULL;
    const char* slash = strrchr(path, '/');
    char* folder = slash != NULL ? strdup(path) : strdup(".");
    size_t length = 0;
    char* bytes = folder != NULL ? read_plain(path, &length) : NULL;
    ItmStatus status = ITM_ERR_IO;
    if (bytes != NULL) {
        if (slash != NULL) {
            folder[slash - path] = '\0';
        }
        Parser p = {.folder = folder, .error = error};
        status = parse(ssp, &p, bytes, length, path);
    } else {
        itm_error_set(error, ITM_ERR_IO, __func__, NULL, "%s: the file cannot be read", path);
    }
    free(bytes);
    free(folder);
    return status;
}

ItmStatus itm_ssp_parse(ItmSsp** ssp, const char* xml, size_t length, const char* file, ItmError* error)
{
    *ssp = NULL;
    Parser p = {.error = error};
    return parse(ssp, &p, xml, length, file);
}

void itm_ssp_destroy(ItmSsp* ssp)
{
    if (ssp == NULL) {
        return;
    }
    for (int i = 0; i < ssp->components.count; i++) {
        free(ssp->components.items[i].values.items);
    }
    free(ssp->components.items);
    free(ssp->connections.items);
    free(ssp->notes.items);
    itm_owned_free(&ssp->owned);
    free(ssp);
}
