// JSON, as in the side files of results and in scenes: a text becomes a tree of document nodes.
#ifndef ITM_IO_JSON_H
#define ITM_IO_JSON_H

#include "io/document.h"

#define ITM_JSON_MAX_DEPTH 64  // of lists and objects inside one another

// Read one JSON value (RFC 8259) from memory into a tree of doc. Strings have their escapes resolved; numbers and the words
// true, false and null stay as they are written. The text and length of a list or object are those of its own JSON in `text`,
// which must live as long as doc. ITM_ERR_INPUT: not JSON, not UTF-8, or too deep. ITM_ERR_MEMORY.
ItmStatus itm_json_parse(ItmNode** root, ItmDocument* doc, const char* text, size_t length, ItmError* error);
// The same for texts that go to terminals and pages: strings and keys without control characters and changes of direction (base/utf8.h).
ItmStatus itm_json_parse_shown(ItmNode** root, ItmDocument* doc, const char* text, size_t length, ItmError* error);

// The item of a list, NULL where there is none; list may be NULL.
const ItmNode* itm_json_get_item(const ItmNode* list, int index);
// The value of a key, NULL where object is none or does not have it.
const ItmNode* itm_json_find(const ItmNode* object, const char* key);
// The text of a key's string, number or word, "" where there is none.
const char* itm_json_get_text(const ItmNode* object, const char* key);

#endif
