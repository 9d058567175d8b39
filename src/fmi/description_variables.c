// Units, types, variables and structure of a model description.
#include "fmi/description_private.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_START_VALUES 10000000  // of one variable

// ---------------------------------------------------------------------------- units

static void read_base_unit(ItmFmiParser* p, const ItmXmlNode* node, ItmFmiUnit* unit)
{
    static const char* const BASES[ITM_FMI_BASE_COUNT] = {"kg", "m", "s", "A", "K", "mol", "cd", "rad"};
    unit->has_base = true;
    for (int i = 0; i < ITM_FMI_BASE_COUNT; i++) {
        // exponents may be negative
        double e = itm_description_get_real(p, node, BASES[i], 0.0);
        if (e != floor(e) || fabs(e) > 100.0) {
            itm_description_fail(p, node, "<BaseUnit>: exponent of '%s' must be an integer", BASES[i]);
            return;
        }
        unit->e[i] = (int)e;
    }
    unit->factor = itm_description_get_real(p, node, "factor", 1.0);
    unit->offset = itm_description_get_real(p, node, "offset", 0.0);
}

static void read_unit(ItmFmiParser* p, const ItmXmlNode* node, ItmFmiUnit* unit)
{
    *unit = (ItmFmiUnit){.factor = 1.0, .line = node->line};
    unit->name = itm_description_get_text(p, node, "name", "");
    ItmFmiDisplayUnit* displays =
        itm_description_take(p, (size_t)itm_description_count(node, "DisplayUnit"), sizeof *displays);
    for (const ItmXmlNode* child = node->first; child != NULL && p->status == ITM_OK; child = child->next) {
        if (itm_xml_is(child, "BaseUnit")) {
            read_base_unit(p, child, unit);
        } else if (itm_xml_is(child, "DisplayUnit")) {
            displays[unit->ndisplay_unit++] = (ItmFmiDisplayUnit){itm_description_get_text(p, child, "name", ""),
                                                                  itm_description_get_real(p, child, "factor", 1.0),
                                                                  itm_description_get_real(p, child, "offset", 0.0),
                                                                  itm_description_get_flag(p, child, "inverse", false)};
        }
    }
    unit->display_units = displays;
}

void itm_description_read_units(ItmFmiParser* p, const ItmXmlNode* root)
{
    const ItmXmlNode* list = itm_xml_find(root, "UnitDefinitions");
    ItmFmiUnit* units = itm_description_take(p, (size_t)itm_description_count(list, "Unit"), sizeof *units);
    for (const ItmXmlNode* node = list != NULL ? list->first : NULL; node != NULL && p->status == ITM_OK;
         node = node->next) {
        if (itm_xml_is(node, "Unit")) {
            read_unit(p, node, &units[p->d->nunit++]);
        }
    }
    p->d->units = units;
}

static int find_unit(const ItmFmiDescription* d, const char* name)
{
    for (int i = 0; i < d->nunit && name != NULL; i++) {
        if (strcmp(d->units[i].name, name) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}

// ---------------------------------------------------------------------------- types

// The type that an element of FMI 2.0 (Real) or 3.0 (Float64, or Float64Type among the types) stands for, or ITM_NONE.
static int find_type(const ItmFmiDescription* d, const char* name, size_t length)
{
    static const struct {
        const char* name;
        ItmFmiType type;
    } OLD[] = {{"Real", ITM_FMI_FLOAT64},
               {"Integer", ITM_FMI_INT32},
               {"Boolean", ITM_FMI_BOOLEAN},
               {"String", ITM_FMI_STRING},
               {"Enumeration", ITM_FMI_ENUMERATION}};
    for (int i = 0; d->major == 2 && i < ITM_COUNT_OF(OLD); i++) {
        if (strlen(OLD[i].name) == length && memcmp(OLD[i].name, name, length) == 0) {
            return (int)OLD[i].type;
        }
    }
    for (int i = 0; d->major == 3 && i < ITM_FMI_TYPE_COUNT; i++) {
        const char* word = itm_description_get_type_name((ItmFmiType)i);
        if (strlen(word) == length && memcmp(word, name, length) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}

static void read_items(ItmFmiParser* p, const ItmXmlNode* node, ItmFmiTypeDefinition* type)
{
    ItmFmiItem* items = itm_description_take(p, (size_t)itm_description_count(node, "Item"), sizeof *items);
    for (const ItmXmlNode* child = node->first; child != NULL && p->status == ITM_OK; child = child->next) {
        const char* value = itm_xml_get(child, "value");
        if (!itm_xml_is(child, "Item")) {
            continue;
        }
        ItmFmiItem* item = &items[type->nitem++];
        item->name = itm_description_get_text(p, child, "name", "");
        item->description = itm_description_get_text(p, child, "description", "");
        if (value == NULL || !itm_xml_to_integer(&item->value, value)) {
            itm_description_fail(p, child, "<Item> needs an integer as 'value'");
        }
    }
    type->items = items;
}

// node: the element with the attributes of the type; named: the one with its name (FMI 2.0: around it).
static void read_type(ItmFmiParser* p, const ItmXmlNode* named, const ItmXmlNode* node, ItmFmiType type,
                      ItmFmiTypeDefinition* t)
{
    *t = (ItmFmiTypeDefinition){.type = type, .line = named->line};
    t->name = itm_description_get_text(p, named, "name", "");
    t->description = itm_description_get_text(p, named, "description", "");
    t->quantity = itm_description_get_text(p, node, "quantity", NULL);
    t->unit = itm_description_get_text(p, node, "unit", NULL);
    t->display_unit = itm_description_get_text(p, node, "displayUnit", NULL);
    t->min = itm_description_get_real(p, node, "min", NAN);
    t->max = itm_description_get_real(p, node, "max", NAN);
    t->nominal = itm_description_get_real(p, node, "nominal", NAN);
    t->is_relative = itm_description_get_flag(p, node, "relativeQuantity", false);
    t->is_unbounded = itm_description_get_flag(p, node, "unbounded", false);
    t->mime_type = itm_description_get_text(p, node, "mimeType", NULL);
    if (type == ITM_FMI_ENUMERATION) {
        read_items(p, node, t);
    }
}

void itm_description_read_types(ItmFmiParser* p, const ItmXmlNode* root)
{
    const ItmXmlNode* list = itm_xml_find(root, "TypeDefinitions");
    ItmFmiTypeDefinition* types = itm_description_take(p, (size_t)itm_description_count(list, NULL), sizeof *types);
    for (const ItmXmlNode* node = list != NULL ? list->first : NULL; node != NULL && p->status == ITM_OK;
         node = node->next) {
        const ItmXmlNode* inner = p->d->major == 2 ? node->first : node;
        size_t length = inner != NULL ? strlen(inner->name) : 0;
        length -= p->d->major == 3 && length > 4 ? 4 : 0;  // "Float64Type"
        int type = inner != NULL ? find_type(p->d, inner->name, length) : ITM_NONE;
        if (type == ITM_NONE) {
            ITM_FMI_FAULT(p, ITM_FMI_WARNING, node, "known elements",
                          "<%.60s> in <TypeDefinitions> has no known type; it is ignored", node->name);
            continue;
        }
        read_type(p, node, inner, (ItmFmiType)type, &types[p->d->ntype++]);
    }
    p->d->types = types;
}

// ---------------------------------------------------------------------------- variables

static const char* const CAUSALITIES[ITM_FMI_CAUSALITY_COUNT] = {
    "parameter", "calculatedParameter", "input", "output", "local", "independent", "structuralParameter"};
static const char* const VARIABILITIES[ITM_FMI_VARIABILITY_COUNT] = {"constant", "fixed", "tunable", "discrete",
                                                                     "continuous"};
static const char* const INITIALS[ITM_FMI_INITIAL_COUNT] = {"", "exact", "approx", "calculated"};

static bool is_float(ItmFmiType type)
{
    return type == ITM_FMI_FLOAT64 || type == ITM_FMI_FLOAT32;
}

static bool is_parameter(ItmFmiCausality causality)
{
    return causality == ITM_FMI_PARAMETER || causality == ITM_FMI_CALCULATED_PARAMETER ||
           causality == ITM_FMI_STRUCTURAL_PARAMETER;
}

// The default of `initial` by variability and causality.
static ItmFmiInitial get_default_initial(const ItmFmiVariable* v)
{
    if (v->causality == ITM_FMI_INPUT || v->causality == ITM_FMI_INDEPENDENT) {
        return ITM_FMI_INITIAL_NONE;
    }
    if (v->variability == ITM_FMI_CONSTANT || v->causality == ITM_FMI_PARAMETER ||
        v->causality == ITM_FMI_STRUCTURAL_PARAMETER) {
        return ITM_FMI_EXACT;
    }
    return ITM_FMI_CALCULATED;
}

static void read_value_reference(ItmFmiParser* p, const ItmXmlNode* node, uint32_t* reference)
{
    const char* text = itm_xml_get(node, "valueReference");
    int64_t value = 0;
    if (text == NULL || !itm_xml_to_integer(&value, text) || value < 0 || value > UINT32_MAX) {
        itm_description_fail(p, node, "<%s> needs 'valueReference', an integer from 0 to 4294967295", node->name);
    }
    *reference = (uint32_t)value;
}

// Attributes that both versions have; named: the element with name, causality and so on (FMI 2.0: around the type's).
static void read_attributes(ItmFmiParser* p, const ItmXmlNode* named, const ItmXmlNode* node, ItmFmiVariable* v)
{
    v->line = named->line;
    v->column = named->column;
    v->name = itm_description_get_text(p, named, "name", NULL);
    if (v->name == NULL) {
        itm_description_fail(p, named, "<%s> needs the attribute 'name'", named->name);
        v->name = "";
    }
    v->description = itm_description_get_text(p, named, "description", "");
    read_value_reference(p, named, &v->value_reference);
    v->causality = (ItmFmiCausality)itm_description_get_word(
        p, named, "causality", CAUSALITIES, ITM_FMI_CAUSALITY_COUNT - (p->d->major == 2), ITM_FMI_LOCAL);
    ItmFmiVariability natural = is_parameter(v->causality) ? ITM_FMI_FIXED
                                : is_float(v->type)        ? ITM_FMI_CONTINUOUS
                                                           : ITM_FMI_DISCRETE;
    v->variability = (ItmFmiVariability)itm_description_get_word(p, named, "variability", VARIABILITIES,
                                                                 ITM_FMI_VARIABILITY_COUNT, (int)natural);
    v->initial = (ItmFmiInitial)itm_description_get_word(p, named, "initial", INITIALS, ITM_FMI_INITIAL_COUNT,
                                                         (int)get_default_initial(v));
    v->can_be_set_often = itm_description_get_flag(p, named, "canHandleMultipleSetPerTimeInstant", true);
    v->has_intermediate_update = itm_description_get_flag(p, named, "intermediateUpdate", false);
    v->can_be_reinitialised = itm_description_get_flag(p, node, "reinit", false);
    v->mime_type = itm_description_get_text(p, node, "mimeType", NULL);
    if (itm_xml_get(named, "clocks") != NULL) {
        itm_description_fail(
            p, named, "variable '%.100s' is clocked; Interim does not support clocks; export the FMU without them",
            v->name);
        p->status = ITM_ERR_UNSUPPORTED;
    }
}

// Declared type, unit, bounds: those of the variable go before those of its type.
static void read_unit_and_bounds(ItmFmiParser* p, const ItmXmlNode* node, ItmFmiVariable* v, const ItmNames* types)
{
    const char* declared = itm_xml_get(node, "declaredType");
    v->type_id = declared != NULL ? itm_names_find(types, declared, strlen(declared)) : ITM_NONE;
    if (declared != NULL && v->type_id == ITM_NONE) {
        ITM_FMI_FAULT(p, ITM_FMI_ERROR, node, "declared types", "variable '%.100s': type '%.60s' is not defined",
                      v->name, declared);
    }
    ItmFmiTypeDefinition none = {.min = NAN, .max = NAN, .nominal = NAN};
    const ItmFmiTypeDefinition* t = v->type_id != ITM_NONE ? &p->d->types[v->type_id] : &none;
    v->unit = itm_description_get_text(p, node, "unit", t->unit);
    v->display_unit = itm_description_get_text(p, node, "displayUnit", t->display_unit);
    v->unit_id = find_unit(p->d, v->unit);
    v->min = itm_description_get_real(p, node, "min", t->min);
    v->max = itm_description_get_real(p, node, "max", t->max);
    v->nominal = itm_description_get_real(p, node, "nominal", isnan(t->nominal) ? 1.0 : t->nominal);
    v->is_relative = itm_description_get_flag(p, node, "relativeQuantity", t->is_relative);
}

// ---------------------------------------------------------------------------- start values

static int count_words(const char* text)
{
    int count = 0;
    for (const char* at = text + strspn(text, " \t\r\n"); *at != '\0'; at += strspn(at, " \t\r\n")) {
        at += strcspn(at, " \t\r\n");
        count++;
    }
    return count;
}

// One number of a list, as the type requires.
static bool read_start_value(const ItmFmiVariable* v, const char* word, double* real, int64_t* integer)
{
    bool flag = false;
    if (is_float(v->type)) {
        return itm_xml_to_real(real, word);
    }
    if (v->type == ITM_FMI_BOOLEAN) {
        bool is_right = itm_xml_to_boolean(&flag, word);
        *integer = flag;
        *real = flag;
        return is_right;
    }
    bool is_right = itm_xml_to_integer(integer, word);
    *real = v->type == ITM_FMI_UINT64 ? (double)(uint64_t)*integer : (double)*integer;
    return is_right;
}

static void read_start_numbers(ItmFmiParser* p, const ItmXmlNode* node, ItmFmiVariable* v, const char* text)
{
    int count = count_words(text);
    if (count == 0 || count > MOST_START_VALUES) {
        itm_description_fail(p, node, "variable '%.100s': 'start' has no value, or too many", v->name);
        return;
    }
    double* real = itm_description_take(p, (size_t)count, sizeof *real);
    int64_t* integer = itm_description_take(p, (size_t)count, sizeof *integer);
    const char* at = text;
    for (int i = 0; i < count && real != NULL && integer != NULL; i++) {
        at += strspn(at, " \t\r\n");
        size_t length = strcspn(at, " \t\r\n");
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), at);
        if (length >= sizeof word || !read_start_value(v, word, &real[i], &integer[i])) {
            itm_description_fail(p, node, "variable '%.100s': start value '%.40s' is no %s", v->name, word,
                                 itm_description_get_type_name(v->type));
            return;
        }
        at += length;
    }
    v->start = real;
    v->start_integer = is_float(v->type) ? NULL : integer;
    v->nstart = count;
}

static void read_start_texts(ItmFmiParser* p, const ItmXmlNode* node, ItmFmiVariable* v)
{
    int count = itm_description_count(node, "Start");
    const char** texts = itm_description_take(p, (size_t)count + 1, sizeof *texts);
    for (const ItmXmlNode* child = node->first; child != NULL && texts != NULL; child = child->next) {
        if (itm_xml_is(child, "Start")) {
            texts[v->nstart++] = itm_description_get_text(p, child, "value", "");
        }
    }
    if (count == 0 && v->start_text != NULL && texts != NULL) {
        texts[v->nstart++] = v->start_text;
    }
    v->start_texts = texts;
    v->start_text = v->nstart > 0 && texts != NULL ? texts[0] : NULL;
}

static void read_start(ItmFmiParser* p, const ItmXmlNode* node, ItmFmiVariable* v)
{
    v->start_text = itm_description_get_text(p, node, "start", NULL);
    if (v->type == ITM_FMI_STRING || v->type == ITM_FMI_BINARY) {
        read_start_texts(p, node, v);
    } else if (v->start_text != NULL) {
        read_start_numbers(p, node, v, v->start_text);
    }
}

// ---------------------------------------------------------------------------- list of variables

// A variable of FMI 2.0 is <ScalarVariable> around its type; one of FMI 3.0 is the type's element. NULL: not a variable.
static const ItmXmlNode* find_type_node(const ItmFmiParser* p, const ItmXmlNode* node, int* type)
{
    if (p->d->major == 3) {
        *type = find_type(p->d, node->name, strlen(node->name));
        return *type != ITM_NONE ? node : NULL;
    }
    for (const ItmXmlNode* child = itm_xml_is(node, "ScalarVariable") ? node->first : NULL; child != NULL;
         child = child->next) {
        *type = find_type(p->d, child->name, strlen(child->name));
        if (*type != ITM_NONE) {
            return child;
        }
    }
    return NULL;
}

static void read_variable(ItmFmiParser* p, const ItmXmlNode* node, ItmFmiVariable* v, const ItmNames* types)
{
    int type = ITM_NONE;
    const ItmXmlNode* inner = find_type_node(p, node, &type);
    if (inner == NULL) {
        bool is_clock = itm_xml_is(node, "Clock");
        itm_description_fail(
            p, node,
            is_clock ? "variable '%.100s' is a clock; Interim does not support clocks; export the FMU without them"
                     : "<%.100s> in <ModelVariables> is no variable of a known type",
            is_clock && itm_xml_get(node, "name") != NULL ? itm_xml_get(node, "name") : node->name);
        p->status = is_clock ? ITM_ERR_UNSUPPORTED : p->status;
        return;
    }
    *v = (ItmFmiVariable){.type = (ItmFmiType)type, .count = 1, .derivative_of = ITM_NONE, .alias_of = ITM_NONE};
    read_attributes(p, node, inner, v);
    read_unit_and_bounds(p, inner, v, types);
    read_start(p, inner, v);
    if (type == ITM_FMI_ENUMERATION && itm_xml_get(inner, "declaredType") == NULL) {
        ITM_FMI_FAULT(p, ITM_FMI_ERROR, node, "declared types", "enumeration '%.100s' has no 'declaredType'", v->name);
    }
}

static void add_name(ItmFmiParser* p, const ItmFmiVariable* v, int index, const ItmXmlNode* node)
{
    size_t length = strlen(v->name);
    int other = itm_names_find(&p->d->reading->names, v->name, length);
    if (other != ITM_NONE) {
        ITM_FMI_FAULT(p, ITM_FMI_ERROR, node, "unique names", "the name '%.100s' is used twice, first in line %d",
                      v->name, p->d->variables[other].line);
    } else if (itm_names_add(&p->d->reading->names, v->name, length, index) == NULL) {
        itm_description_fail_memory(p);
    }
}

// <Alias> of FMI 3.0: another name of the variable around it.
static void read_aliases(ItmFmiParser* p, const ItmXmlNode* node, ItmFmiVariable* variables, int owner)
{
    for (const ItmXmlNode* child = node->first; child != NULL && p->status == ITM_OK; child = child->next) {
        if (!itm_xml_is(child, "Alias")) {
            continue;
        }
        ItmFmiVariable* v = &variables[p->d->nvariable];
        *v = variables[owner];
        v->name = itm_description_get_text(p, child, "name", "");
        v->description = itm_description_get_text(p, child, "description", v->description);
        v->display_unit = itm_description_get_text(p, child, "displayUnit", v->display_unit);
        v->alias_of = owner;
        v->line = child->line;
        v->column = child->column;
        add_name(p, v, p->d->nvariable++, child);
    }
}

// ---------------------------------------------------------------------------- references between variables

// Value references to variables: sorted by class of type (FMI 2.0 counts each class apart), reference, index.
typedef struct Reference {
    int class;
    uint32_t value;
    int index;
} Reference;

static int get_class(const ItmFmiDescription* d, const ItmFmiVariable* v)
{
    static const int CLASSES[ITM_FMI_TYPE_COUNT] = {
        [ITM_FMI_INT32] = 1, [ITM_FMI_ENUMERATION] = 1, [ITM_FMI_BOOLEAN] = 2, [ITM_FMI_STRING] = 3};
    return d->major == 2 ? CLASSES[v->type] : 0;
}

static int compare_references(const void* x, const void* y)
{
    const Reference *a = x, *b = y;
    if (a->class != b->class) {
        return a->class < b->class ? -1 : 1;
    }
    if (a->value != b->value) {
        return a->value < b->value ? -1 : 1;
    }
    return (a->index > b->index) - (a->index < b->index);
}

static Reference* sort_references(ItmFmiParser* p, const ItmFmiVariable* variables, int count)
{
    Reference* list = malloc(((size_t)count + 1) * sizeof *list);
    if (list == NULL) {
        itm_description_fail_memory(p);
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        list[i] = (Reference){get_class(p->d, &variables[i]), variables[i].value_reference, i};
    }
    qsort(list, (size_t)count, sizeof *list, compare_references);
    return list;
}

// The first variable of a value reference, or ITM_NONE (FMI 3.0).
static int find_reference(const Reference* list, int count, int64_t value)
{
    int low = 0, high = count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if ((int64_t)list[middle].value < value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < count && (int64_t)list[low].value == value ? list[low].index : ITM_NONE;
}

static void find_aliases(ItmFmiVariable* variables, const Reference* list, int count)
{
    for (int i = 1; i < count; i++) {
        const Reference *a = &list[i - 1], *b = &list[i];
        if (a->class == b->class && a->value == b->value) {
            int first = variables[a->index].alias_of;
            variables[b->index].alias_of = first != ITM_NONE ? first : a->index;
        }
    }
}

// A reference to a variable as attributes have it: index from 1 (2.0) or value reference (3.0).
static int resolve(const ItmFmiDescription* d, const Reference* list, int64_t value)
{
    if (d->major == 2) {
        return value >= 1 && value <= d->nvariable ? (int)value - 1 : ITM_NONE;
    }
    return find_reference(list, d->nvariable, value);
}

static void read_dimensions(ItmFmiParser* p, const ItmXmlNode* node, ItmFmiVariable* v, const ItmFmiVariable* variables,
                            const Reference* list)
{
    int count = itm_description_count(node, "Dimension");
    ItmFmiDimension* dimensions = count > 0 ? itm_description_take(p, (size_t)count, sizeof *dimensions) : NULL;
    for (const ItmXmlNode* child = node->first; child != NULL && dimensions != NULL && p->status == ITM_OK;
         child = child->next) {
        if (!itm_xml_is(child, "Dimension")) {
            continue;
        }
        const char *fixed = itm_xml_get(child, "start"), *reference = itm_xml_get(child, "valueReference");
        const char* text = fixed != NULL ? fixed : reference != NULL ? reference : "";
        int64_t value = 0;
        ItmFmiDimension* dimension = &dimensions[v->ndimension++];
        if (!itm_xml_to_integer(&value, text) || value < 0 || (fixed != NULL && reference != NULL)) {
            itm_description_fail(p, child, "<Dimension> needs either 'start' or 'valueReference', an integer");
            return;
        }
        *dimension = (ItmFmiDimension){(uint64_t)value, ITM_NONE};
        if (fixed == NULL) {
            int index = find_reference(list, p->d->nvariable, value);
            if (index == ITM_NONE || variables[index].nstart != 1 || variables[index].start_integer == NULL ||
                variables[index].start_integer[0] < 0) {
                itm_description_fail(
                    p, child, "<Dimension>: valueReference %s is no structural parameter with one start value", text);
                return;
            }
            *dimension = (ItmFmiDimension){(uint64_t)variables[index].start_integer[0], index};
        }
        if (dimension->size > 0 && v->count > (uint64_t)MOST_START_VALUES / dimension->size) {
            itm_description_fail(p, child, "variable '%.100s' has more than %d elements", v->name, MOST_START_VALUES);
            return;
        }
        v->count *= dimension->size;
    }
    v->dimensions = dimensions;
}

static void read_derivative(ItmFmiParser* p, const ItmXmlNode* node, ItmFmiVariable* v, const Reference* list)
{
    int type = ITM_NONE;
    const ItmXmlNode* inner = find_type_node(p, node, &type);
    const char* text = itm_xml_get(inner, "derivative");
    int64_t value = 0;
    if (text == NULL) {
        return;
    }
    v->derivative_of = itm_xml_to_integer(&value, text) ? resolve(p->d, list, value) : ITM_NONE;
    if (v->derivative_of == ITM_NONE) {
        ITM_FMI_FAULT(p, ITM_FMI_ERROR, node, "derivatives",
                      "variable '%.100s': derivative=\"%.20s\" refers to no variable", v->name, text);
    }
}

static ItmStatus name_types(ItmFmiParser* p, ItmNames* names)
{
    for (int i = 0; i < p->d->ntype; i++) {
        const ItmFmiTypeDefinition* t = &p->d->types[i];
        size_t length = strlen(t->name);
        if (itm_names_find(names, t->name, length) != ITM_NONE) {
            itm_description_find_fault(&p->d->reading->findings, ITM_FMI_ERROR, t->line, 1, "unique names",
                                       "the type '%.100s' is defined twice", t->name);
        } else if (itm_names_add(names, t->name, length, i) == NULL) {
            itm_description_fail_memory(p);
        }
    }
    return p->status;
}

// Second pass, when all variables are known.
static void connect_variables(ItmFmiParser* p, const ItmXmlNode* list, ItmFmiVariable* variables)
{
    Reference* references = sort_references(p, variables, p->d->nvariable);
    if (references == NULL) {
        return;
    }
    find_aliases(variables, references, p->d->nvariable);
    int i = 0;
    for (const ItmXmlNode* node = list->first; node != NULL && p->status == ITM_OK; node = node->next, i++) {
        read_dimensions(p, node, &variables[i], variables, references);
        read_derivative(p, node, &variables[i], references);
    }
    for (; i < p->d->nvariable && p->status == ITM_OK; i++) {
        // aliases of FMI 3.0, copied before the dimensions were known
        const ItmFmiVariable* owner = &variables[variables[i].alias_of];
        variables[i].dimensions = owner->dimensions;
        variables[i].ndimension = owner->ndimension;
        variables[i].count = owner->count;
    }
    free(references);
}

void itm_description_read_variables(ItmFmiParser* p, const ItmXmlNode* root)
{
    const ItmXmlNode* list = itm_xml_find(root, "ModelVariables");
    if (list == NULL) {
        itm_description_fail(p, root, "the file has no <ModelVariables>");
        return;
    }
    size_t count = 0;
    for (const ItmXmlNode* node = list->first; node != NULL; node = node->next) {
        count += 1 + (size_t)(p->d->major == 3 ? itm_description_count(node, "Alias") : 0);
    }
    ItmNames types = {0};
    ItmFmiVariable* variables = itm_description_take(p, count, sizeof *variables);
    p->d->variables = variables;
    if (variables != NULL) {
        name_types(p, &types);
    }
    for (const ItmXmlNode* node = list->first; node != NULL && p->status == ITM_OK; node = node->next) {
        ItmFmiVariable* v = &variables[p->d->nvariable];
        read_variable(p, node, v, &types);
        if (p->status == ITM_OK) {
            add_name(p, v, p->d->nvariable++, node);
        }
    }
    int owner = 0;
    for (const ItmXmlNode* node = list->first; node != NULL && p->status == ITM_OK && p->d->major == 3;
         node = node->next) {
        read_aliases(p, node, variables, owner++);
    }
    if (p->status == ITM_OK) {
        connect_variables(p, list, variables);
    }
    itm_names_free(&types);
}

// ---------------------------------------------------------------------------- structure

static const char* const DEPENDENCY_KINDS[] = {"dependent", "constant", "fixed", "tunable", "discrete"};

// "1 3 4": variables; those that do not exist are left out with a finding.
static void read_dependencies(ItmFmiParser* p, const ItmXmlNode* node, ItmFmiUnknown* unknown, const Reference* list)
{
    const char* text = itm_xml_get(node, "dependencies");
    const char* words = itm_xml_get(node, "dependenciesKind");
    unknown->ndependency = ITM_NONE;
    if (text == NULL) {
        return;
    }
    int count = count_words(text);
    int* dependencies = itm_description_take(p, (size_t)count, sizeof *dependencies);
    ItmFmiDependencyKind* kinds = itm_description_take(p, (size_t)count, sizeof *kinds);
    if (words != NULL && count_words(words) != count) {
        ITM_FMI_FAULT(p, ITM_FMI_ERROR, node, "dependencies",
                      "<%s>: 'dependencies' has %d entries and 'dependenciesKind' %d", node->name, count,
                      count_words(words));
        words = NULL;
    }
    unknown->ndependency = 0;
    for (int i = 0; i < count && dependencies != NULL && kinds != NULL; i++) {
        char word[32] = "", kind[32] = "";
        int n = 0;
        sscanf(text, "%31s%n", word, &n);
        text += n;
        if (words != NULL) {
            n = 0;
            sscanf(words, "%31s%n", kind, &n);
            words += n;
        }
        int64_t value = 0;
        int index = itm_xml_to_integer(&value, word) ? resolve(p->d, list, value) : ITM_NONE;
        if (index == ITM_NONE) {
            ITM_FMI_FAULT(p, ITM_FMI_ERROR, node, "structure", "<%s>: dependency '%.20s' refers to no variable",
                          node->name, word);
            continue;
        }
        kinds[unknown->ndependency] = ITM_FMI_DEPENDENT;
        for (int k = 0; k < ITM_COUNT_OF(DEPENDENCY_KINDS); k++) {
            kinds[unknown->ndependency] =
                strcmp(kind, DEPENDENCY_KINDS[k]) == 0 ? (ItmFmiDependencyKind)k : kinds[unknown->ndependency];
        }
        dependencies[unknown->ndependency++] = index;
    }
    unknown->dependencies = dependencies;
    unknown->kinds = kinds;
}

// All elements `name` below `list`.
static void read_unknowns(ItmFmiParser* p, const ItmXmlNode* list, const char* name, ItmFmiUnknowns* unknowns,
                          const Reference* references)
{
    const char* attribute = p->d->major == 2 ? "index" : "valueReference";
    ItmFmiUnknown* items = itm_description_take(p, (size_t)itm_description_count(list, name), sizeof *items);
    for (const ItmXmlNode* node = list != NULL ? list->first : NULL;
         node != NULL && items != NULL && p->status == ITM_OK; node = node->next) {
        if (!itm_xml_is(node, name)) {
            continue;
        }
        const char* text = itm_xml_get(node, attribute);
        int64_t value = 0;
        int index = text != NULL && itm_xml_to_integer(&value, text) ? resolve(p->d, references, value) : ITM_NONE;
        if (index == ITM_NONE) {
            ITM_FMI_FAULT(p, ITM_FMI_ERROR, node, "structure", "<%s %s=\"%.20s\"> refers to no variable", node->name,
                          attribute, text != NULL ? text : "");
            continue;
        }
        items[unknowns->count] = (ItmFmiUnknown){.variable = index, .line = node->line};
        read_dependencies(p, node, &items[unknowns->count++], references);
    }
    unknowns->items = items;
}

void itm_description_read_structure(ItmFmiParser* p, const ItmXmlNode* root)
{
    const ItmXmlNode* node = itm_xml_find(root, "ModelStructure");
    ItmFmiDescription* d = p->d;
    Reference* references = sort_references(p, d->variables, d->nvariable);
    if (references == NULL) {
        return;
    }
    if (node == NULL) {
        ITM_FMI_FAULT(p, ITM_FMI_ERROR, root, "structure", "the file has no <ModelStructure>");
    } else if (d->major == 2) {
        static const char* const KNOWN[] = {"Outputs", "Derivatives", "DiscreteStates", "InitialUnknowns"};
        itm_description_note_unknown(p, node, KNOWN, ITM_COUNT_OF(KNOWN));
        read_unknowns(p, itm_xml_find(node, "Outputs"), "Unknown", &d->outputs, references);
        read_unknowns(p, itm_xml_find(node, "Derivatives"), "Unknown", &d->derivatives, references);
        read_unknowns(p, itm_xml_find(node, "DiscreteStates"), "Unknown", &d->discrete_states, references);
        read_unknowns(p, itm_xml_find(node, "InitialUnknowns"), "Unknown", &d->initial_unknowns, references);
    } else {
        static const char* const KNOWN[] = {
            "Output", "ContinuousStateDerivative", "ClockedState", "InitialUnknown", "EventIndicator", "Annotations"};
        itm_description_note_unknown(p, node, KNOWN, ITM_COUNT_OF(KNOWN));
        read_unknowns(p, node, "Output", &d->outputs, references);
        read_unknowns(p, node, "ContinuousStateDerivative", &d->derivatives, references);
        read_unknowns(p, node, "InitialUnknown", &d->initial_unknowns, references);
        read_unknowns(p, node, "EventIndicator", &d->event_indicators, references);
        for (int i = 0; i < d->event_indicators.count; i++) {
            uint64_t n = d->variables[d->event_indicators.items[i].variable].count;
            d->nevent_indicator += n < INT_MAX / 2 ? (int)n : 0;
        }
    }
    free(references);
}
