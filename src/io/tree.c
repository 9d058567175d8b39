#include "io/tree.h"

#include "base/error.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct Tree {
    ItmDocument* doc;
    const char *at, *end;
    const char* damage;  // where it was noticed
    const char* source;
    ItmStatus status;
} Tree;

bool itm_tree_is(const char* bytes, size_t length)
{
    return length >= sizeof ITM_TREE_MAGIC - 1 && memcmp(bytes, ITM_TREE_MAGIC, sizeof ITM_TREE_MAGIC - 1) == 0;
}

static void fail(Tree* t, ItmStatus status)
{
    if (t->status == ITM_OK) {
        t->status = status;
        t->damage = t->at;
    }
    t->at = t->end;
}

// A number after a space.
static long take_number(Tree* t)
{
    long value = 0;
    bool has_digit = false;
    if (t->at < t->end && *t->at == ' ') {
        for (t->at++; t->at < t->end && *t->at >= '0' && *t->at <= '9' && value < INT_MAX / 10; t->at++) {
            value = 10 * value + (*t->at - '0');
            has_digit = true;
        }
    }
    if (!has_digit) {
        fail(t, ITM_ERR_INPUT);
    }
    return value;
}

static void take_line_end(Tree* t)
{
    if (t->at < t->end && *t->at == '\n') {
        t->at++;
    } else {
        fail(t, ITM_ERR_INPUT);
    }
}

// Bytes and a line end, as a text of the document.
static const char* take_bytes(Tree* t, size_t length)
{
    if (t->status != ITM_OK || (size_t)(t->end - t->at) < length || memchr(t->at, '\0', length) != NULL) {
        fail(t, ITM_ERR_INPUT);
        return NULL;
    }
    char* text = itm_document_take(t->doc, length + 1);
    if (text == NULL) {
        fail(t, ITM_ERR_MEMORY);
        return NULL;
    }
    memcpy(text, t->at, length);
    t->at += length;
    take_line_end(t);
    return text;
}

static ItmNode* take_node(Tree* t, int depth);

static void take_items(Tree* t, ItmNode* node, long count, int depth)
{
    for (long i = 0; i < count && t->status == ITM_OK; i++) {
        ItmItem* item = itm_document_take(t->doc, sizeof *item);
        if (item == NULL) {
            fail(t, ITM_ERR_MEMORY);
            return;
        }
        item->key = node->kind == ITM_NODE_MAP ? take_node(t, depth) : NULL;
        if (item->key != NULL && item->key->kind != ITM_NODE_SCALAR) {
            fail(t, ITM_ERR_INPUT);
        }
        item->value = t->status == ITM_OK ? take_node(t, depth) : NULL;
        if (t->status != ITM_OK) {
            return;
        }
        *(node->last != NULL ? &node->last->next : &node->first) = item;
        node->last = item;
        node->count++;
        node->size += item->value->size;
    }
}

static ItmNode* take_node(Tree* t, int depth)
{
    ItmNode* node = itm_document_take(t->doc, sizeof *node);
    char letter = t->at < t->end ? *t->at : '\0';
    if (node == NULL || depth > ITM_DOCUMENT_MAX_DEPTH) {
        fail(t, node == NULL ? ITM_ERR_MEMORY : ITM_ERR_INPUT);
        return node;
    }
    if (letter != 'M' && letter != 'L' && letter != 'S') {
        fail(t, ITM_ERR_INPUT);
        return node;
    }
    t->at++;
    *node = (ItmNode){.kind = letter == 'M'   ? ITM_NODE_MAP
                              : letter == 'L' ? ITM_NODE_LIST
                                              : ITM_NODE_SCALAR,
                      .source = t->source,
                      .size = 1};
    node->line = (int)take_number(t);
    node->column = (int)take_number(t);
    if (node->line < 1 || node->column < 1) {
        fail(t, ITM_ERR_INPUT);
    }
    if (node->kind == ITM_NODE_SCALAR) {
        node->is_exact = take_number(t) != 0;
        node->length = (size_t)take_number(t);
        take_line_end(t);
        node->text = take_bytes(t, node->length);
    } else {
        long count = take_number(t);
        take_line_end(t);
        take_items(t, node, count, depth + 1);
    }
    return node;
}

static ItmStatus report(const Tree* t, const char* bytes, const char* file, ItmError* error)
{
    if (t->status == ITM_ERR_MEMORY) {
        return itm_error_set(error, t->status, "itm_tree_read", NULL, "out of memory");
    }
    int line = 1;
    for (const char* at = bytes; at < t->damage; at++) {
        line += *at == '\n';
    }
    itm_error_set(error, t->status, "itm_tree_read", NULL, "the model tree is damaged");
    itm_error_locate(error, file, line, 1);
    return t->status;
}

ItmStatus itm_tree_read(ItmNode** root, ItmDocument* doc, const char* bytes, size_t length, const char* file,
                        ItmError* error)
{
    Tree t = {.doc = doc, .at = bytes, .end = bytes + length};
    *root = NULL;
    doc->is_part = true;
    if (itm_tree_is(bytes, length) && length > sizeof ITM_TREE_MAGIC + 4) {
        t.at += sizeof ITM_TREE_MAGIC - 1 + 4;  // "file"
        size_t n = (size_t)take_number(&t);
        take_line_end(&t);
        t.source = take_bytes(&t, n);
        ItmNode* node = t.status == ITM_OK ? take_node(&t, 0) : NULL;
        *root = t.status == ITM_OK ? node : NULL;
    } else {
        fail(&t, ITM_ERR_INPUT);
    }
    return t.status == ITM_OK ? ITM_OK : report(&t, bytes, file, error);
}
