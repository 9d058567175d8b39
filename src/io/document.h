// A YAML document as a tree of nodes, each of which holds its place in the file.
//
// Built from libfyaml's events and not from its documents, so that the limits below hold before
// anything is built, whatever the file contains. Aliases become second references to the same node: the
// tree is a graph without cycles.
#ifndef ITM_IO_DOCUMENT_H
#define ITM_IO_DOCUMENT_H

#include "base/owned.h"
#include "interim/base.h"

#define ITM_DOCUMENT_MAX_DEPTH 32  // of lists and mappings inside one another

// Largest file that is read into a tree, bytes: what the memory of this machine, or the limit of this process (ulimit -v), can
// hold; between 16 MB and 512 MB.
size_t itm_document_get_max_bytes(void);
// Largest number of values of a text of `length` bytes, with every alias counted as often as it is used. A text without aliases
// has fewer values than bytes, so only aliases can exceed it.
int itm_document_get_max_nodes(size_t length);

typedef enum ItmNodeKind {
    ITM_NODE_SCALAR,
    ITM_NODE_LIST,
    ITM_NODE_MAP,
} ItmNodeKind;

typedef struct ItmItem ItmItem;

typedef struct ItmNode {
    ItmNodeKind kind;
    bool is_exact;       // scalar: character i of the text stands at column + i
    int line, column;    // 1-based
    const char* source;  // file, or the override it comes from
    const char* text;    // scalar: UTF-8, ends with NUL
    size_t length;       // scalar: bytes of text
    ItmItem* first;      // list, map: what is inside
    ItmItem* last;
    int count;  // list, map: number of items
    int size;   // this node and all inside, aliases followed; long texts count more
} ItmNode;

struct ItmItem {
    ItmNode* key;  // map: a scalar; list: NULL
    ItmNode* value;
    ItmItem* next;
};

// Owns all nodes and texts. All zero is an empty document.
typedef struct ItmDocument {
    ItmNode* root;            // NULL: nothing was read
    const char* unitless;     // "--set key=value" of a plain number in place of a quantity, the first one, or NULL
    const ItmNode* quantity;  // what stood there
    bool is_part;             // of a model (io/tree.h): values from parts that are elsewhere are inputs
    ItmOwned owned;
} ItmDocument;

void itm_document_free(ItmDocument* doc);
// Memory that lives as long as the document, zeroed, or NULL.
void* itm_document_take(ItmDocument* doc, size_t size);
// Append an item to a list (key NULL) or a map; false without memory. The size of the parent is the caller's.
bool itm_document_append(ItmDocument* doc, ItmNode* parent, ItmNode* key, ItmNode* value);

// yaml.c: read one YAML document from memory into a tree of doc. `source` stands for the file in
// messages and must live as long as doc. The text begins in column `column` of its line 1.
ItmStatus itm_yaml_parse(ItmNode** root, ItmDocument* doc, const char* text, size_t length, const char* source,
                         int column, ItmError* error);

// override.c: change one value. override is "key.path=value", the value YAML. Missing keys are made,
// so that whoever reads the document judges them; new entries of collections (parameters, bodies,
// ...) are refused.
ItmStatus itm_override_apply(ItmDocument* doc, const char* override, ItmError* error);

// Value of a key of a map, or NULL.
ItmNode* itm_document_find(const ItmNode* map, const char* key);
// "a list", "a mapping", "'text'": for messages, in the caller's buffer.
const char* itm_document_describe(const ItmNode* node, char* buffer, size_t size);

// Fill in where the error is: `offset` bytes into the node's text.
void itm_document_locate(const ItmNode* node, size_t offset, ItmError* error);

#endif
