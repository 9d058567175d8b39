// Parameters that may change while an FMU runs: those that only signals and blocks of controls use. They enter no state, so that the model
// can be compiled again with another value and goes on from the state that it has.
#include "export/export_tree.h"

#include <string.h>

typedef struct Search {
    const char* name;
    size_t length;
} Search;

static bool is_word_byte(char c)
{
    return (unsigned char)c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

// Whether a text has the name as a word of its own; "control.gain" has no word "gain".
static bool has_word(const char* text, const Search* s)
{
    for (const char* at = strstr(text, s->name); at != NULL; at = strstr(at + 1, s->name)) {
        char before = at > text ? at[-1] : ' ', after = at[s->length];
        if (!is_word_byte(before) && before != '.' && !is_word_byte(after) && after != '.') {
            return true;
        }
    }
    return false;
}

static bool is_used(const ItmNode* node, const Search* s)
{
    bool is = node != NULL && node->kind == ITM_NODE_SCALAR && has_word(node->text, s);
    for (const ItmItem* item = node != NULL ? node->first : NULL; item != NULL && !is; item = item->next) {
        is = is_used(item->value, s);
    }
    return is;
}

static bool is_key(const ItmItem* item, const char* key)
{
    return item->key != NULL && strcmp(item->key->text, key) == 0;
}

static bool is_control(const ItmNode* subsystem)
{
    const ItmNode* type = subsystem->kind == ITM_NODE_MAP ? itm_document_find(subsystem, "type") : NULL;
    return type != NULL && type->kind == ITM_NODE_SCALAR && strcmp(type->text, "control") == 0;
}

// Uses in signals and in blocks of controls (*nfree), and everywhere else but in other parameters (*nbound).
static void count_uses(const ItmNode* root, const Search* s, int* nfree, int* nbound)
{
    *nfree = *nbound = 0;
    for (const ItmItem* section = root->first; section != NULL; section = section->next) {
        if (is_key(section, "signals")) {
            *nfree += is_used(section->value, s);
        } else if (is_key(section, "subsystems")) {
            for (const ItmItem* part = section->value->first; part != NULL; part = part->next) {
                for (const ItmItem* item = part->value->first; item != NULL; item = item->next) {
                    bool is_free = is_control(part->value) && is_key(item, "blocks");
                    *(is_free ? nfree : nbound) += is_used(item->value, s);
                }
            }
        } else if (!is_key(section, "parameters")) {
            *nbound += is_used(section->value, s);
        }
    }
}

// Through other parameters that are calculated from it, to any depth that the file has.
static void count_all_uses(const ItmNode* root, const ItmNode* parameters, const char* name, int depth, int* nfree,
                           int* nbound)
{
    Search s = {name, strlen(name)};
    count_uses(root, &s, nfree, nbound);
    for (const ItmItem* item = parameters->first; item != NULL && depth < ITM_DOCUMENT_MAX_DEPTH; item = item->next) {
        if (item->value->kind == ITM_NODE_SCALAR && has_word(item->value->text, &s)) {
            int free_uses, bound_uses;
            count_all_uses(root, parameters, item->key->text, depth + 1, &free_uses, &bound_uses);
            *nfree += free_uses;
            *nbound += bound_uses;
        }
    }
}

bool itm_export_is_tunable(const ItmNode* root, const char* parameter)
{
    const ItmNode* parameters = itm_document_find(root, "parameters");
    int nfree = 0, nbound = 0;
    if (parameters != NULL && parameters->kind == ITM_NODE_MAP) {
        count_all_uses(root, parameters, parameter, 0, &nfree, &nbound);
    }
    return nfree > 0 && nbound == 0;
}
