// XML files from elsewhere as a small tree of elements, each with its line and column. The files are not trusted: document
// types and entities are refused, nothing is fetched, and depth and size are limited.
#ifndef ITM_FMI_XML_H
#define ITM_FMI_XML_H

#include "base/owned.h"
#include "interim/base.h"

#include <stdint.h>

#define ITM_XML_MAX_BYTES ((size_t)128 << 20)
#define ITM_XML_MAX_DEPTH 64
#define ITM_XML_MAX_NODES 5000000  // elements and attributes

typedef struct ItmXmlAttribute {
    const char* name;        // without prefix
    const char* name_space;  // URI, or NULL
    const char* value;
} ItmXmlAttribute;

typedef struct ItmXmlNode ItmXmlNode;

struct ItmXmlNode {
    const char* name;        // without prefix
    const char* name_space;  // URI, or NULL
    const ItmXmlAttribute* attributes;
    int nattribute;
    const char* text;  // characters directly inside, "" if none
    int line, column;  // of its "<", 1-based
    ItmXmlNode *parent, *first, *last, *next;
};

// Owns all nodes. All zero is empty.
typedef struct ItmXml {
    ItmXmlNode* root;
    const char* file;  // for messages; belongs to the tree
    void* names;       // libxml2's dictionary, which holds the names
    ItmOwned owned;
} ItmXml;

ItmStatus itm_xml_parse(ItmXml* xml, const char* bytes, size_t length, const char* file, ItmError* error);
void itm_xml_free(ItmXml* xml);

bool itm_xml_is(const ItmXmlNode* node, const char* name);
// First child element of this name, or NULL.
const ItmXmlNode* itm_xml_find(const ItmXmlNode* node, const char* name);
// Value of an attribute without namespace, or NULL.
const char* itm_xml_get(const ItmXmlNode* node, const char* name);

// ITM_ERR_INPUT at the place of the node.
ItmStatus itm_xml_fail(const ItmXml* xml, const ItmXmlNode* node, ItmError* error, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;

// A number ("INF", "-INF" and "NaN" are allowed), an integer, a Boolean ("true", "false", "1", "0") from text with white
// space around it; false if it is none. The caller sets the C locale.
bool itm_xml_to_real(double* value, const char* text);
bool itm_xml_to_integer(int64_t* value, const char* text);
bool itm_xml_to_boolean(bool* value, const char* text);

#endif
