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
        itm_reader_get_quantity(r, item->key);
    }
}
