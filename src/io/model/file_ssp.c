// A system structure (SSP) as a model file: components are subsystems of type fmu, connections are wires.
//
// The result is a document as if somebody had written the model file, except that every node has its place in the .ssd or .ssv
// file. What SSP has no place for (steps, bonds, limits) is in annotations of the type "interim", whose text is YAML: on a
// component it holds keys of the subsystem, on the structure or its default experiment keys of the model file.
#include "io/model/file.h"

#include "base/error.h"
#include "fmi/ssp.h"
#include "signal/quantity.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Maker {
    ItmDocument* doc;
    const ItmSsp* ssp;
    const char* folder;  // where the archive is unpacked, or NULL: beside the .ssd file
    ItmError* error;
    ItmStatus status;
} Maker;

// ---------------------------------------------------------------------------- nodes

static void fail_memory(Maker* m)
{
    if (m->status == ITM_OK) {
        m->status = itm_error_set(m->error, ITM_ERR_MEMORY, "itm_file_load", NULL, "out of memory");
    }
}

// The text, or without memory an empty one.
static const char* check_kept(Maker* m, const char* text)
{
    if (text == NULL) {
        fail_memory(m);
        return "";
    }
    return text;
}

static const char* keep(Maker* m, const char* text)
{
    return check_kept(m, itm_owned_copy_string(&m->doc->owned, text));
}

#define KEEP_FORMAT(m, ...) check_kept(m, itm_owned_print(&(m)->doc->owned, __VA_ARGS__))

static ItmNode* make_node(Maker* m, ItmNodeKind kind, const char* text, const char* file, int line, int column)
{
    ItmNode* node = itm_document_take(m->doc, sizeof *node);
    if (node == NULL) {
        fail_memory(m);
        return NULL;
    }
    *node = (ItmNode){.kind = kind,
                      .line = line > 0 ? line : 1,
                      .column = column > 0 ? column : 1,
                      .source = keep(m, file),
                      .text = text,
                      .length = text != NULL ? strlen(text) : 0,
                      .size = 1};
    return node;
}

// A mapping in the .ssd file.
static ItmNode* make_map(Maker* m, int line, int column)
{
    return make_node(m, ITM_NODE_MAP, NULL, m->ssp->file, line, column);
}

static ItmNode* make_scalar(Maker* m, const char* text, int line, int column)
{
    return make_node(m, ITM_NODE_SCALAR, keep(m, text), m->ssp->file, line, column);
}

// Set a key of a mapping: a new one, or instead of the value that it has.
static void set_key(Maker* m, ItmNode* map, ItmNode* key, ItmNode* value)
{
    if (map == NULL || key == NULL || value == NULL) {
        return;
    }
    for (ItmItem* item = map->first; item != NULL; item = item->next) {
        if (strcmp(item->key->text, key->text) == 0) {
            item->value = value;
            return;
        }
    }
    if (!itm_document_append(m->doc, map, key, value)) {
        fail_memory(m);
        return;
    }
    map->size += 1 + value->size;
}

static void set_word(Maker* m, ItmNode* map, const char* key, ItmNode* value)
{
    if (value != NULL) {
        set_key(m, map, make_node(m, ITM_NODE_SCALAR, keep(m, key), value->source, value->line, value->column), value);
    }
}

static void set_text(Maker* m, ItmNode* map, const char* key, const char* text)
{
    if (map != NULL) {
        set_word(m, map, key, make_scalar(m, text, map->line, map->column));
    }
}

// Mappings of an annotation are merged with those that are there: `cosim: {macro_step: ...}` keeps the wires.
static void merge(Maker* m, ItmNode* map, const ItmNode* more)
{
    for (const ItmItem* item = more->first; item != NULL && m->status == ITM_OK; item = item->next) {
        ItmNode* old = itm_document_find(map, item->key->text);
        if (old != NULL && old->kind == ITM_NODE_MAP && item->value->kind == ITM_NODE_MAP) {
            merge(m, old, item->value);
        } else {
            set_key(m, map, item->key, item->value);
        }
    }
}

// The YAML of an annotation, into a mapping.
static void merge_annotation(Maker* m, ItmNode* map, const char* text, int line)
{
    ItmNode* node = NULL;
    if (text == NULL || map == NULL || m->status != ITM_OK) {
        return;
    }
    const char* source = KEEP_FORMAT(m, "%s:%d (annotation)", m->ssp->file, line);
    m->status = itm_yaml_parse(&node, m->doc, text, strlen(text), source, 1, m->error);
    if (m->status == ITM_OK && (node == NULL || node->kind != ITM_NODE_MAP)) {
        m->status = itm_error_set(m->error, ITM_ERR_INPUT, "itm_file_load", NULL,
                                  "an annotation of the type " ITM_SSP_ANNOTATION
                                  " holds a YAML mapping of keys of the model file");
        itm_error_locate(m->error, m->ssp->file, line, 1);
    }
    if (m->status == ITM_OK) {
        merge(m, map, node);
    }
}

// ---------------------------------------------------------------------------- components

// "210 bar" where we know the unit, otherwise the number alone, which is in the unit of the FMU.
static ItmNode* make_value(Maker* m, const ItmSspValue* v)
{
    double factor = 0.0;
    ItmDimension dimension;
    bool has_unit =
        v->unit != NULL && !v->is_text && itm_quantity_find_unit(v->unit, strlen(v->unit), &factor, &dimension);
    const char* text = has_unit ? KEEP_FORMAT(m, "%s %s", v->text, v->unit) : keep(m, v->text);
    return make_node(m, ITM_NODE_SCALAR, text, v->file, v->line, v->column);
}

static ItmNode* make_component(Maker* m, const ItmSspComponent* c)
{
    ItmNode* map = make_map(m, c->line, c->column);
    set_text(m, map, "type", "fmu");
    set_text(m, map, "file", m->folder != NULL ? KEEP_FORMAT(m, "%s/%s", m->folder, c->source) : c->source);
    if (strcmp(c->implementation, "any") != 0) {
        set_text(m, map, "kind", strcmp(c->implementation, "ModelExchange") == 0 ? "model-exchange" : "co-simulation");
    }
    ItmNode* set = c->values.count > 0 ? make_map(m, c->line, c->column) : NULL;
    for (int i = 0; i < c->values.count; i++) {
        set_word(m, set, c->values.items[i].name, make_value(m, &c->values.items[i]));
    }
    set_word(m, map, "set", set);
    merge_annotation(m, map, c->annotation, c->annotation_line);
    return map;
}

// ---------------------------------------------------------------------------- the whole

static ItmNode* make_wire(Maker* m, const ItmSspConnection* c)
{
    const char* from = KEEP_FORMAT(m, "%s.%s", m->ssp->components.items[c->from].name, c->from_connector);
    if (c->factor == 1.0 && c->offset == 0.0) {
        return make_scalar(m, from, c->line, c->column);
    }
    ItmNode* map = make_map(m, c->line, c->column);
    set_text(m, map, "from", from);
    set_text(m, map, "factor", KEEP_FORMAT(m, "%.17g", c->factor));
    set_text(m, map, "offset", KEEP_FORMAT(m, "%.17g", c->offset));
    return map;
}

static ItmNode* make_cosim(Maker* m)
{
    ItmNode *cosim = make_map(m, 1, 1), *wires = make_map(m, 1, 1);
    for (int i = 0; i < m->ssp->connections.count; i++) {
        const ItmSspConnection* c = &m->ssp->connections.items[i];
        const char* to = KEEP_FORMAT(m, "%s.%s", m->ssp->components.items[c->to].name, c->to_connector);
        set_word(m, wires, to, make_wire(m, c));
    }
    if (wires != NULL && wires->count > 0) {
        set_word(m, cosim, "wires", wires);
    }
    return cosim;
}

static ItmNode* make_run(Maker* m)
{
    ItmNode* run = make_map(m, 1, 1);
    double start = isnan(m->ssp->start_time) ? 0.0 : m->ssp->start_time;
    if (!isnan(m->ssp->stop_time)) {
        set_text(m, run, "duration", KEEP_FORMAT(m, "%.17g s", m->ssp->stop_time - start));
    }
    return run;
}

// ---------------------------------------------------------------------------- bonds

static ItmNode* find_map(const ItmNode* map, const char* key)
{
    ItmNode* node = map != NULL && map->kind == ITM_NODE_MAP ? itm_document_find(map, key) : NULL;
    return node != NULL && node->kind == ITM_NODE_MAP ? node : NULL;
}

// Whether a variable of a component belongs to one of its ports (`ports` of its annotation).
static bool is_of_port(const ItmNode* component, const char* variable)
{
    const ItmNode* ports = find_map(component, "ports");
    for (const ItmItem* port = ports != NULL ? ports->first : NULL; port != NULL; port = port->next) {
        const ItmNode* names = port->value->kind == ITM_NODE_MAP ? port->value : NULL;
        for (const ItmItem* item = names != NULL ? names->first : NULL; item != NULL; item = item->next) {
            if (item->value->kind == ITM_NODE_SCALAR &&
                strcmp(item->value->text + (item->value->text[0] == '-'), variable) == 0) {
                return true;
            }
        }
    }
    return false;
}

// Connections between variables of ports are bonds for tools that have none: where the annotation names bonds, they are no wires.
static void remove_bonded_wires(Maker* m, ItmNode* root)
{
    ItmNode *cosim = find_map(root, "cosim"), *wires = find_map(cosim, "wires");
    const ItmNode* subsystems = find_map(root, "subsystems");
    if (find_map(cosim, "bonds") == NULL || wires == NULL) {
        return;
    }
    ItmItem** link = &wires->first;
    wires->last = NULL;
    while (*link != NULL) {
        ItmItem* item = *link;
        size_t n = strcspn(item->key->text, ".");
        const ItmNode* component = find_map(subsystems, KEEP_FORMAT(m, "%.*s", (int)n, item->key->text));
        if (item->key->text[n] == '.' && is_of_port(component, item->key->text + n + 1)) {
            *link = item->next;
            wires->count--;
        } else {
            wires->last = item;
            link = &item->next;
        }
    }
}

static void make_root(Maker* m)
{
    const ItmSsp* ssp = m->ssp;
    ItmNode *root = make_map(m, 1, 1), *subsystems = make_map(m, 1, 1);
    set_text(m, root, "title", ssp->name);
    for (int i = 0; i < ssp->components.count && m->status == ITM_OK; i++) {
        const ItmSspComponent* c = &ssp->components.items[i];
        set_word(m, subsystems, c->name, make_component(m, c));
    }
    set_word(m, root, "subsystems", subsystems);
    ItmNode *cosim = make_cosim(m), *run = make_run(m);
    if (cosim != NULL && cosim->count > 0) {
        set_word(m, root, "cosim", cosim);
    }
    if (run != NULL && run->count > 0) {
        set_word(m, root, "run", run);
    }
    merge_annotation(m, root, ssp->annotation, ssp->annotation_line);
    if (m->status == ITM_OK) {
        remove_bonded_wires(m, root);
    }
    m->doc->root = root;
}

ItmStatus itm_file_make_ssp_document(ItmDocument* doc, const ItmSsp* ssp, const char* folder, ItmError* error)
{
    Maker m = {.doc = doc, .ssp = ssp, .folder = folder, .error = error};
    // numbers are written with a point whatever the locale
    locale_t c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t before = uselocale(c_locale);
    make_root(&m);
    uselocale(before);
    if (c_locale != (locale_t)0) {
        freelocale(c_locale);
    }
    return m.status;
}
