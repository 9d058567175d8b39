#include "io/document.h"

#include "base/error.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

// ---------------------------------------------------------------------------- limits

#define LEAST_BYTES ((size_t)16 << 20)
#define MOST_BYTES ((size_t)512 << 20)  // sums of two numbers of values stay below the largest int
#define MEMORY_PER_BYTE 128             // of text; "0," is a node, a text and an item: 190 bytes
#define LEAST_NODES ((size_t)1000000)

size_t itm_document_get_max_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    size_t memory = pages > 0 && page > 0 ? (size_t)pages * (size_t)page : 0;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < memory) {
        memory = (size_t)limit.rlim_cur;
    }
    size_t bytes = memory / MEMORY_PER_BYTE;
    return bytes < LEAST_BYTES ? LEAST_BYTES : bytes > MOST_BYTES ? MOST_BYTES : bytes;
}

int itm_document_get_max_nodes(size_t length)
{
    return (int)(length < LEAST_NODES ? LEAST_NODES : length > MOST_BYTES ? MOST_BYTES : length);
}

// ---------------------------------------------------------------------------- memory

void* itm_document_take(ItmDocument* doc, size_t size)
{
    return itm_owned_take(&doc->owned, 1, size);
}

bool itm_document_append(ItmDocument* doc, ItmNode* parent, ItmNode* key, ItmNode* value)
{
    ItmItem* item = itm_document_take(doc, sizeof *item);
    if (item == NULL) {
        return false;
    }
    *item = (ItmItem){.key = key, .value = value};
    if (parent->last != NULL) {
        parent->last->next = item;
    } else {
        parent->first = item;
    }
    parent->last = item;
    parent->count++;
    return true;
}

void itm_document_free(ItmDocument* doc)
{
    itm_owned_free(&doc->owned);
    *doc = (ItmDocument){0};
}

// ---------------------------------------------------------------------------- nodes

void itm_document_locate(const ItmNode* node, size_t offset, ItmError* error)
{
    if (error == NULL || node == NULL) {
        return;
    }
    itm_error_locate(error, node->source, node->line, node->column);
    if (node->kind == ITM_NODE_SCALAR && node->is_exact && offset <= node->length) {
        error->column += (int)itm_utf8_count(node->text, offset);
    }
}

ItmNode* itm_document_find(const ItmNode* map, const char* key)
{
    for (const ItmItem* item = map->first; item != NULL; item = item->next) {
        if (item->key != NULL && strcmp(item->key->text, key) == 0) {
            return item->value;
        }
    }
    return NULL;
}

const char* itm_document_describe(const ItmNode* node, char* buffer, size_t size)
{
    switch (node->kind) {
    case ITM_NODE_LIST:
        snprintf(buffer, size, "a list of %d", node->count);
        break;
    case ITM_NODE_MAP:
        snprintf(buffer, size, "a mapping");
        break;
    case ITM_NODE_SCALAR:
        if (node->length == 0) {
            snprintf(buffer, size, "nothing");
        } else {
            int shown = (int)itm_utf8_cut(node->text, node->length, 40);
            snprintf(buffer, size, "'%.*s%s'", shown, node->text, (size_t)shown < node->length ? "..." : "");
        }
        break;
    }
    return buffer;
}
