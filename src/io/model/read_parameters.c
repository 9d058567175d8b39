#include "io/model/reader.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static bool is_parameter_name(const char* name)
{
    static const char* const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char* const ALL = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return strspn(name, LETTERS) > 0 && name[strspn(name, ALL)] == '\0';
}

static void add_parameter(ItmReader* r, const ItmItem* item)
{
    const ItmNode* key = item->key;
    if (!is_parameter_name(key->text)) {
        itm_reader_fail(r, key, "a parameter's name has letters, digits and underscores, and begins with no digit");
    } else if (strcmp(key->text, "pi") == 0) {
        itm_reader_fail(r, key, "'pi' is a constant already");
    } else if (itm_names_add(&r->parameter_names, key->text, key->length, r->nparameter) == NULL) {
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    } else {
        r->parameters[r->nparameter++].node = item->value;
    }
}

// Whether an expression names a parameter. A name right after a number is a unit.
static bool uses_parameters(const ItmReader* r, const char* text)
{
    static const char* const ALL = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    bool uses = false, is_after_number = false;
    while (*text != '\0' && !uses) {
        size_t n = strspn(text, ALL);
        bool is_number = n > 0 && *text >= '0' && *text <= '9';
        uses = n > 0 && !is_number && !is_after_number && itm_names_find(&r->parameter_names, text, n) != ITM_NONE;
        is_after_number = is_number || (is_after_number && n == 0 && (*text == ' ' || *text == '.'));
        text += n > 0 ? n : 1;
    }
    return uses;
}

// The value of a parameter for those who list them.
static void keep_value(ItmReader* r, const ItmItem* item, ItmQuantity q)
{
    ItmModelFile* file = r->file;
    if (file == NULL) {  // only expressions are of interest
        return;
    }
    char unit[64];
    itm_quantity_format_dimension(q.dimension, unit, sizeof unit);
    ItmFileParameter* moved = realloc(file->parameters, ((size_t)file->nparameter + 1) * sizeof *moved);
    bool is_one = itm_quantity_equal_dimensions(q.dimension, ITM_DIM_ONE);
    if (moved != NULL && r->status == ITM_OK) {
        file->parameters = moved;
        ItmFileParameter* p = &moved[file->nparameter++];
        *p = (ItmFileParameter){.name = strdup(item->key->text), .value = q.value, .unit = strdup(is_one ? "1" : unit)};
        p->is_calculated = item->value->kind == ITM_NODE_SCALAR && uses_parameters(r, item->value->text);
        moved = p->name != NULL && p->unit != NULL ? moved : NULL;
    } else if (moved != NULL) {
        file->parameters = moved;
    }
    if (moved == NULL) {
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, "itm_file_load", NULL, "out of memory");
    }
}

void itm_read_parameters(ItmReader* r, const ItmNode* node)
{
    if (!itm_reader_is_collection(r, node, "parameters")) {
        return;
    }
    r->parameters = calloc((size_t)node->count + 1, sizeof *r->parameters);
    if (r->parameters == NULL) {
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
        return;
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        add_parameter(r, item);
    }
    // every parameter must have a value, used or not: as if an expression of its name alone stood
    // in the file
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        keep_value(r, item, itm_reader_get_quantity(r, item->key));
    }
}
