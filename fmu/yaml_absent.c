// Documents in an exported FMU: the model is a tree (io/tree.h); values of parameters that the master sets are plain scalars. There is no
// YAML parser.
#include "io/document.h"
#include "io/tree.h"

#include "base/error.h"

#include <string.h>

ItmStatus itm_yaml_parse(ItmNode** root, ItmDocument* doc, const char* text, size_t length, const char* source,
                         int column, ItmError* error)
{
    if (itm_tree_is(text, length)) {
        return itm_tree_read(root, doc, text, length, source, error);
    }
    ItmNode* node = itm_document_take(doc, sizeof *node);
    char* copy = itm_document_take(doc, length + 1);
    if (node == NULL || copy == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
    memcpy(copy, text, length);
    while (length > 0 && copy[length - 1] == ' ') {
        copy[--length] = '\0';
    }
    *node = (ItmNode){.kind = ITM_NODE_SCALAR,
                      .is_exact = true,
                      .line = 1,
                      .column = column,
                      .source = source,
                      .text = copy,
                      .length = length,
                      .size = 1};
    *root = node;
    return ITM_OK;
}
