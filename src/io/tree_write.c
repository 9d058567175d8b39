#include "io/tree.h"

#include "io/text.h"

#include <string.h>

static void write_node(ItmText* out, const ItmNode* node)
{
    if (node->kind == ITM_NODE_SCALAR) {
        itm_text_format(out, "S %d %d %d %zu\n", node->line, node->column, node->is_exact, node->length);
        itm_text_add_bytes(out, node->text, node->length);
        itm_text_add(out, "\n");
        return;
    }
    itm_text_format(out, "%c %d %d %d\n", node->kind == ITM_NODE_MAP ? 'M' : 'L', node->line, node->column,
                    node->count);
    for (const ItmItem* item = node->first; item != NULL; item = item->next) {
        if (item->key != NULL) {
            write_node(out, item->key);
        }
        write_node(out, item->value);
    }
}

void itm_tree_write(ItmText* out, const ItmNode* root)
{
    const char* source = root->source != NULL ? root->source : "";
    itm_text_format(out, ITM_TREE_MAGIC "file %zu\n", strlen(source));
    itm_text_add(out, source);
    itm_text_add(out, "\n");
    write_node(out, root);
}
