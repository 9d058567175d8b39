#include "export/export_tree.h"

#include "base/error.h"
#include "io/bytes.h"
#include "io/model/file.h"
#include "signal/quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- parts

typedef struct Cut {
    ItmExportTree* tree;
    const ItmExportOptions* options;
    const ItmNode* subsystems;  // of the whole model, may be NULL
    char name[80];              // of the section multibody, "" for none
    bool has_multibody;
    ItmStatus status;
    ItmError* error;
} Cut;

static bool is_chosen(const Cut* c, const char* name, size_t length)
{
    bool is = c->options->npart == 0;
    for (int i = 0; i < c->options->npart && !is; i++) {
        is = strlen(c->options->parts[i]) == length && strncmp(c->options->parts[i], name, length) == 0;
    }
    return is;
}

// Whether a text begins with the name of a part of the model and a dot; which length the name has.
static bool names_part(const Cut* c, const char* text, size_t* length)
{
    *length = strcspn(text, ".");
    if (text[*length] != '.') {
        return false;
    }
    bool is = c->has_multibody && strlen(c->name) == *length && strncmp(c->name, text, *length) == 0;
    for (const ItmItem* item = c->subsystems != NULL ? c->subsystems->first : NULL; item != NULL && !is;
         item = item->next) {
        is = item->key->length == *length && strncmp(item->key->text, text, *length) == 0;
    }
    return is;
}

// Whether a text is the full name of something in a part that is not exported.
static bool is_outside(const Cut* c, const char* text)
{
    size_t length;
    return names_part(c, text, &length) && !is_chosen(c, text, length);
}

static bool is_part(const Cut* c, const char* name)
{
    return (c->has_multibody && strcmp(c->name, name) == 0) ||
           (c->subsystems != NULL && itm_document_find(c->subsystems, name) != NULL);
}

static ItmStatus check_parts(const Cut* c)
{
    for (int i = 0; i < c->options->npart; i++) {
        if (!is_part(c, c->options->parts[i])) {
            return itm_error_set(c->error, ITM_ERR_INPUT, "itm_export_fmu", c->options->parts[i],
                                 "the model has no mechanism or subsystem '%s'", c->options->parts[i]);
        }
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- taking out

static void remove_if(ItmNode* map, bool (*is_removed)(Cut*, const ItmItem*), Cut* c)
{
    ItmItem** link = &map->first;
    map->last = NULL;
    while (*link != NULL) {
        ItmItem* item = *link;
        if (is_removed(c, item)) {
            *link = item->next;
            map->count--;
        } else {
            map->last = item;
            link = &item->next;
        }
    }
}

static bool is_unchosen_subsystem(Cut* c, const ItmItem* item)
{
    return !is_chosen(c, item->key->text, item->key->length);
}

static bool is_unchosen_multibody(Cut* c, const ItmItem* item)
{
    return strcmp(item->key->text, "multibody") == 0 && !is_chosen(c, c->name, strlen(c->name));
}

static void add_port(Cut* c, const char* text, bool is_mechanism)
{
    size_t length;
    ItmExportTree* tree = c->tree;
    if (tree->nport >= ITM_UNIT_MOST_PORTS || !names_part(c, text, &length)) {
        c->status =
            itm_error_set(c->error, ITM_ERR_UNSUPPORTED, "itm_export_fmu", NULL,
                          "'%s' is no port of a part, or there are more than %d ports", text, ITM_UNIT_MOST_PORTS);
        return;
    }
    ItmUnitPort* port = &tree->ports[tree->nport++];
    *port = (ItmUnitPort){strndup(text, length), strdup(text + length + 1), is_mechanism, NAN};
    if (port->part == NULL || port->name == NULL) {
        c->status = itm_error_set(c->error, ITM_ERR_MEMORY, "itm_export_fmu", NULL, "out of memory");
    }
}

static const char* get_bond_port(const ItmItem* item)
{
    const ItmNode* port = item->value->kind == ITM_NODE_MAP ? itm_document_find(item->value, "port") : item->value;
    return port != NULL && port->kind == ITM_NODE_SCALAR ? port->text : "";
}

// A bond with an end outside goes; its end inside becomes a port.
static bool is_cut_bond(Cut* c, const ItmItem* item)
{
    const char *actuator = item->key->text, *port = get_bond_port(item);
    bool is_first_out = is_outside(c, actuator), is_second_out = is_outside(c, port);
    if (is_first_out && !is_second_out) {
        add_port(c, port, false);
    } else if (is_second_out && !is_first_out) {
        add_port(c, actuator, true);
    }
    return is_first_out || is_second_out;
}

static bool is_outside_either(Cut* c, const ItmItem* item)
{
    bool is_scalar = item->value->kind == ITM_NODE_SCALAR;
    return is_outside(c, item->key->text) || (is_scalar && is_outside(c, item->value->text));
}

static ItmNode* find_map(const ItmNode* map, const char* key)
{
    ItmNode* node = map != NULL && map->kind == ITM_NODE_MAP ? itm_document_find(map, key) : NULL;
    return node != NULL && node->kind == ITM_NODE_MAP ? node : NULL;
}

static bool is_empty_map(Cut* c, const ItmItem* item)
{
    (void)c;
    return item->value->kind == ITM_NODE_MAP && item->value->count == 0;
}

static void cut(Cut* c)
{
    ItmNode *root = c->tree->doc.root, *cosim = find_map(root, "cosim");
    ItmNode *bonds = find_map(cosim, "bonds"), *wires = find_map(cosim, "wires"), *aliases = find_map(cosim, "aliases");
    ItmNode *overrides = find_map(cosim, "overrides"), *subsystems = find_map(root, "subsystems");
    if (bonds != NULL) {
        remove_if(bonds, is_cut_bond, c);
    }
    ItmNode* lists[] = {wires, aliases};
    for (int i = 0; i < 2; i++) {
        if (lists[i] != NULL) {
            remove_if(lists[i], is_outside_either, c);
        }
    }
    if (overrides != NULL) {
        remove_if(overrides, is_unchosen_subsystem, c);
    }
    if (subsystems != NULL) {
        remove_if(subsystems, is_unchosen_subsystem, c);
    }
    remove_if(root, is_unchosen_multibody, c);
    remove_if(root, is_empty_map, c);
    if (cosim != NULL) {
        remove_if(cosim, is_empty_map, c);
    }
}

// ---------------------------------------------------------------------------- the whole

static ItmStatus parse(ItmExportTree* tree, const char* path, const ItmExportOptions* options, ItmError* error)
{
    size_t length = 0;
    const char* why = "";
    tree->text = itm_bytes_read(path, itm_document_get_max_bytes(), &length, &why);
    if (tree->text == NULL) {
        return itm_error_set(error, ITM_ERR_IO, "itm_export_fmu", NULL, "cannot read '%s': %s", path, why);
    }
    ItmStatus status = itm_yaml_parse(&tree->doc.root, &tree->doc, tree->text, length, path, 1, error);
    for (int i = 0; i < options->noverride && status == ITM_OK; i++) {
        status = itm_override_apply(&tree->doc, options->overrides[i], error);
    }
    if (status == ITM_OK && tree->doc.root->kind != ITM_NODE_MAP) {
        status = itm_error_set(error, ITM_ERR_INPUT, "itm_export_fmu", NULL, "'%s' is not a model file", path);
    }
    return status;
}

ItmStatus itm_export_read_tree(ItmExportTree* tree, const char* path, const ItmExportOptions* options, ItmError* error)
{
    ItmStatus status = parse(tree, path, options, error);
    if (status != ITM_OK) {
        return status;
    }
    Cut c = {.tree = tree, .options = options, .error = error, .subsystems = find_map(tree->doc.root, "subsystems")};
    const ItmNode *multibody = find_map(tree->doc.root, "multibody"), *name = NULL;
    c.has_multibody = multibody != NULL;
    name = multibody != NULL ? itm_document_find(multibody, "name") : NULL;
    if (name != NULL && name->kind == ITM_NODE_SCALAR && name->length < sizeof c.name) {
        memcpy(c.name, name->text, name->length + 1);
    }
    status = check_parts(&c);
    if (status == ITM_OK && options->npart > 0) {
        cut(&c);
        status = c.status;
    }
    return status == ITM_OK ? itm_export_inline_recordings(&tree->doc, path, error) : status;
}

void itm_export_free_tree(ItmExportTree* tree)
{
    for (int i = 0; i < tree->nport; i++) {
        free(tree->ports[i].part);
        free(tree->ports[i].name);
    }
    itm_document_free(&tree->doc);
    free(tree->text);
}

// ---------------------------------------------------------------------------- units

// "kg m^2/s", "1/s", "N m", "rad/s": products and quotients of units with whole powers.
bool itm_export_read_unit(const char* unit, ItmExportUnit* base)
{
    ItmDimension sum = ITM_DIM_ONE;
    *base = (ItmExportUnit){0};
    int sign = 1;
    for (const char* at = unit; *at != '\0';) {
        size_t n = strcspn(at, " /^()");
        double factor = 1.0, power = 1.0;
        ItmDimension dimension = ITM_DIM_ONE;
        bool is_one = n == 1 && at[0] == '1';
        if (n > 0 && !is_one && (!itm_quantity_find_unit(at, n, &factor, &dimension) || factor != 1.0)) {
            return false;
        }
        base->is_angle = base->is_angle || (n == 3 && strncmp(at, "rad", 3) == 0 && sign > 0);
        at += n;
        if (*at == '^') {
            char* end;
            power = strtod(at + 1, &end);
            at = end;
        }
        sum = itm_quantity_multiply_dimensions(sum, dimension, sign * power);
        for (; *at == ' ' || *at == '/' || *at == '(' || *at == ')'; at++) {
            sign = *at == '/' ? -1 : sign;
        }
    }
    for (int i = 0; i < ITM_BASE_COUNT; i++) {
        base->e[i] = (int)lround(sum.e[i]);
        if (sum.e[i] != base->e[i]) {
            return false;
        }
    }
    return true;
}

int itm_export_find_step(const ItmUnit* unit)
{
    int i = 0;
    while (itm_unit_get_variable(unit, i)->kind != ITM_UNIT_STEP) {
        i++;
    }
    return i;
}
