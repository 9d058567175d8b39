// A document without YAML: the tree of a model file written node by node, so that a program without a YAML parser, an exported FMU, reads
// the same model with the same places in its messages.
//
//   interim-tree 1
//   file LENGTH        then the name of the source and a line end
//   M LINE COLUMN COUNT                  mapping: keys and values follow in turn
//   L LINE COLUMN COUNT                  list: values follow
//   S LINE COLUMN EXACT LENGTH           scalar: its bytes and a line end follow
#ifndef ITM_IO_TREE_H
#define ITM_IO_TREE_H

#include "io/document.h"

typedef struct ItmText ItmText;

#define ITM_TREE_MAGIC "interim-tree 1\n"

// tree_write.c: write a tree. Aliases are written as often as they are used.
void itm_tree_write(ItmText* out, const ItmNode* root);
// Whether bytes begin as a tree.
bool itm_tree_is(const char* bytes, size_t length);
// Read a tree into doc. The bytes are not trusted: lengths, counts, places and depth are checked. ITM_ERR_INPUT: damaged, at a line of
// `file`, which holds the bytes.
ItmStatus itm_tree_read(ItmNode** root, ItmDocument* doc, const char* bytes, size_t length, const char* file,
                        ItmError* error);

#endif
