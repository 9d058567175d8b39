#include "fmi/xml.h"

#include "base/error.h"
#include "base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>

typedef struct Builder {
    ItmXml* xml;
    ItmError* error;
    ItmStatus status;
    xmlParserCtxt* context;
    ItmXmlNode* open;  // innermost element that is not closed
    int depth;
    long nnode;
    // the last start tag: offset of its "<" in the file, and its place
    unsigned long tag;
    int tag_line, tag_column;
    // text of the open elements, one after the other; an element's own begins at text_start[depth]
    char* text;
    size_t ntext, text_capacity;
    size_t text_start[ITM_XML_MAX_DEPTH + 2];
} Builder;

// ---------------------------------------------------------------------------- complaints

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static void
stop(Builder* b, int line, int column, const char* format, ...)
{
    if (b->status == ITM_OK) {
        va_list arguments;
        va_start(arguments, format);
        b->status = itm_error_set_list(b->error, ITM_ERR_INPUT, "itm_xml_parse", NULL, format, arguments);
        va_end(arguments);
        itm_error_locate(b->error, b->xml->file, line > 0 ? line : 1, column > 0 ? column : 1);
        xmlStopParser(b->context);
    }
}

static void stop_memory(Builder* b)
{
    if (b->status == ITM_OK) {
        b->status = itm_error_set(b->error, ITM_ERR_MEMORY, "itm_xml_parse", NULL, "out of memory");
        xmlStopParser(b->context);
    }
}

static int line_now(const Builder* b)
{
    return b->context->input != NULL ? b->context->input->line : 1;
}

static int column_now(const Builder* b)
{
    return b->context->input != NULL ? b->context->input->col : 1;
}

static void take_parser_error(void* context, xmlError* e)
{
    Builder* b = ((xmlParserCtxt*)context)->_private;
    if (e->level < XML_ERR_ERROR || e->code == XML_ERR_UNSUPPORTED_ENCODING) {
        return;
    }
    char message[200];
    snprintf(message, sizeof message, "%s", e->message != NULL ? e->message : "unknown");
    message[strcspn(message, "\r\n")] = '\0';
    stop(b, e->line, e->int2, "the file is not well-formed XML: %s", message);
}

// ---------------------------------------------------------------------------- place of an element

// Characters of UTF-8 from one byte to another.
static int count_characters(const xmlChar* from, const xmlChar* to)
{
    int count = 0;
    for (; from < to; from++) {
        count += (*from & 0xc0) != 0x80;
    }
    return count;
}

// The parser stands behind the attributes of a start tag. Its "<" is the last one before, because no value may contain one. Columns are
// counted from the last tag on where it is in the same line: all of a file may be one line.
static void locate_tag(Builder* b, int* line, int* column)
{
    const xmlParserInput* input = b->context->input;
    const xmlChar* at = input->cur;
    *line = input->line;
    while (at > input->base && *at != '<') {
        at--;
        *line -= *at == '\n';
    }
    bool has_last = b->tag_line == *line && b->tag > input->consumed;
    const xmlChar* last = has_last ? input->base + (b->tag - input->consumed) : input->base;
    const xmlChar* start = at;
    while (start > last && start[-1] != '\n') {
        start--;
    }
    // where the parser has dropped the beginning of the line, its own column is all there is
    bool has_beginning = start > input->base || *line < input->line;
    *column = has_last && start == last ? b->tag_column + count_characters(last, at)
              : has_beginning           ? count_characters(start, at) + 1
                                        : input->col - count_characters(at, input->cur);
    *column = *column > 0 ? *column : 1;
    b->tag = input->consumed + (unsigned long)(at - input->base);
    b->tag_line = *line;
    b->tag_column = *column;
}

// ---------------------------------------------------------------------------- events

static const char* keep(Builder* b, const xmlChar* text, size_t length)
{
    char* copy = itm_owned_take(&b->xml->owned, length + 1, 1);
    if (copy == NULL) {
        stop_memory(b);
        return "";
    }
    if (length > 0) {
        memcpy(copy, text, length);
        itm_utf8_clean_lines(copy);  // it goes to terminals: names, units, descriptions
    }
    return copy;
}

// libxml2 gives five pointers per attribute: name, prefix, URI, start and end of the value.
static void add_attributes(Builder* b, ItmXmlNode* node, int count, const xmlChar** given)
{
    ItmXmlAttribute* attributes = itm_owned_take(&b->xml->owned, (size_t)count + 1, sizeof *attributes);
    if (attributes == NULL) {
        stop_memory(b);
        return;
    }
    for (int i = 0; i < count; i++, given += 5) {
        attributes[i].name = (const char*)given[0];
        attributes[i].name_space = (const char*)given[2];
        attributes[i].value = keep(b, given[3], (size_t)(given[4] - given[3]));
    }
    node->attributes = attributes;
    node->nattribute = count;
}

static void start_element(void* context, const xmlChar* name, const xmlChar* prefix, const xmlChar* uri, int nnamespace,
                          const xmlChar** namespaces, int nattribute, int ndefaulted, const xmlChar** attributes)
{
    (void)prefix, (void)nnamespace, (void)namespaces, (void)ndefaulted;
    Builder* b = ((xmlParserCtxt*)context)->_private;
    if (b->status != ITM_OK) {
        return;
    }
    int line, column;
    locate_tag(b, &line, &column);
    b->nnode += 1 + nattribute;
    if (b->depth >= ITM_XML_MAX_DEPTH) {
        stop(b, line, column, "elements are nested more than %d deep", ITM_XML_MAX_DEPTH);
        return;
    }
    if (b->nnode > ITM_XML_MAX_NODES) {
        stop(b, line, column, "the file has more than %d elements and attributes", ITM_XML_MAX_NODES);
        return;
    }
    ItmXmlNode* node = itm_owned_take(&b->xml->owned, 1, sizeof *node);
    if (node == NULL) {
        stop_memory(b);
        return;
    }
    *node = (ItmXmlNode){.text = "", .line = line, .column = column, .parent = b->open};
    node->name = (const char*)name;
    node->name_space = (const char*)uri;
    add_attributes(b, node, nattribute, attributes);
    if (b->open == NULL) {
        b->xml->root = node;
    } else if (b->open->first == NULL) {
        b->open->first = b->open->last = node;
    } else {
        b->open->last->next = node;
        b->open->last = node;
    }
    b->open = node;
    b->text_start[++b->depth] = b->ntext;
}

static void end_element(void* context, const xmlChar* name, const xmlChar* prefix, const xmlChar* uri)
{
    (void)name, (void)prefix, (void)uri;
    Builder* b = ((xmlParserCtxt*)context)->_private;
    if (b->status != ITM_OK || b->open == NULL) {
        return;
    }
    size_t start = b->text_start[b->depth--];
    if (b->ntext > start) {
        b->open->text = keep(b, (const xmlChar*)b->text + start, b->ntext - start);
    }
    b->ntext = start;
    b->open = b->open->parent;
}

static void add_characters(void* context, const xmlChar* chars, int length)
{
    Builder* b = ((xmlParserCtxt*)context)->_private;
    size_t n = (size_t)length;
    if (b->status != ITM_OK || b->open == NULL) {
        return;
    }
    // white space between elements is no text
    if (b->ntext == b->text_start[b->depth]) {
        size_t blank = 0;
        while (blank < n && strchr(" \t\r\n", chars[blank]) != NULL) {
            blank++;
        }
        chars += blank;
        n -= blank;
    }
    if (b->ntext + n > b->text_capacity) {
        size_t capacity = 2 * (b->ntext + n) + 256;
        char* moved = realloc(b->text, capacity);
        if (moved == NULL) {
            stop_memory(b);
            return;
        }
        b->text = moved;
        b->text_capacity = capacity;
    }
    if (n > 0) {
        memcpy(b->text + b->ntext, chars, n);
        b->ntext += n;
    }
}

static void refuse_document_type(void* context, const xmlChar* name, const xmlChar* id, const xmlChar* system)
{
    (void)name, (void)id, (void)system;
    Builder* b = ((xmlParserCtxt*)context)->_private;
    stop(
        b, line_now(b), column_now(b),
        "the file has a document type (<!DOCTYPE>), which is refused because entities can expand without bound; remove it");
}

// ---------------------------------------------------------------------------- parsing

// Names are strings of the parser's dictionary, which outlives it.
static void run_parser(Builder* b)
{
    xmlSAXHandler* sax = b->context->sax;
    memset(sax, 0, sizeof *sax);
    sax->initialized = XML_SAX2_MAGIC;
    sax->startElementNs = start_element;
    sax->endElementNs = end_element;
    sax->characters = add_characters;
    sax->ignorableWhitespace = add_characters;
    sax->cdataBlock = add_characters;
    sax->internalSubset = refuse_document_type;
    sax->serror = (xmlStructuredErrorFunc)take_parser_error;
    b->context->_private = b;
    b->xml->names = b->context->dict;
    xmlDictReference(b->context->dict);
    xmlCtxtUseOptions(b->context, XML_PARSE_NONET | XML_PARSE_NOCDATA);
    xmlParseDocument(b->context);
    if (b->status == ITM_OK && (!b->context->wellFormed || b->xml->root == NULL || b->open != NULL)) {
        stop(b, line_now(b), column_now(b), "the file is not well-formed XML");
    }
}

ItmStatus itm_xml_parse(ItmXml* xml, const char* bytes, size_t length, const char* file, ItmError* error)
{
    *xml = (ItmXml){0};
    Builder b = {.xml = xml, .error = error};
    xml->file = itm_owned_copy_string(&xml->owned, file);
    if (length == 0 || length > ITM_XML_MAX_BYTES) {
        b.status = itm_error_set(error, ITM_ERR_INPUT, __func__, NULL, "the file is empty or larger than %d MB",
                                 (int)(ITM_XML_MAX_BYTES >> 20));
        itm_error_locate(error, file, 1, 1);
    } else if (xml->file == NULL || (b.context = xmlCreateMemoryParserCtxt(bytes, (int)length)) == NULL) {
        b.status = itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    } else {
        run_parser(&b);
        xmlFreeDoc(b.context->myDoc);
        xmlFreeParserCtxt(b.context);
    }
    free(b.text);
    if (b.status != ITM_OK) {
        itm_xml_free(xml);
    }
    return b.status;
}

void itm_xml_free(ItmXml* xml)
{
    if (xml->names != NULL) {
        xmlDictFree(xml->names);
    }
    itm_owned_free(&xml->owned);
    *xml = (ItmXml){0};
}

// ---------------------------------------------------------------------------- reading

bool itm_xml_is(const ItmXmlNode* node, const char* name)
{
    return strcmp(node->name, name) == 0;
}

const ItmXmlNode* itm_xml_find(const ItmXmlNode* node, const char* name)
{
    const ItmXmlNode* child = node != NULL ? node->first : NULL;
    while (child != NULL && !itm_xml_is(child, name)) {
        child = child->next;
    }
    return child;
}

const char* itm_xml_get(const ItmXmlNode* node, const char* name)
{
    for (int i = 0; i < node->nattribute; i++) {
        if (node->attributes[i].name_space == NULL && strcmp(node->attributes[i].name, name) == 0) {
            return node->attributes[i].value;
        }
    }
    return NULL;
}

ItmStatus itm_xml_fail(const ItmXml* xml, const ItmXmlNode* node, ItmError* error, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    ItmStatus status = itm_error_set_list(error, ITM_ERR_INPUT, "itm_xml", NULL, format, arguments);
    va_end(arguments);
    itm_error_locate(error, xml->file, node->line, node->column);
    return status;
}

static bool is_blank(const char* text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

bool itm_xml_to_real(double* value, const char* text)
{
    char* end = NULL;
    const char* start = text + strspn(text, " \t\r\n");
    const char* digits = start + (*start == '-' || *start == '+');
    if (strncmp(digits, "INF", 3) == 0 && is_blank(digits + 3)) {
        *value = *start == '-' ? -INFINITY : INFINITY;
        return true;
    }
    if (strncmp(start, "NaN", 3) == 0 && is_blank(start + 3)) {
        *value = NAN;
        return true;
    }
    // strtod takes more than XML: hexadecimal numbers and "nan"
    *value = strtod(start, &end);
    return end != start && is_blank(end) && strpbrk(start, "xXnN") == NULL && isfinite(*value);
}

bool itm_xml_to_integer(int64_t* value, const char* text)
{
    char* end = NULL;
    errno = 0;
    *value = strtoll(text, &end, 10);
    if (errno == ERANGE && *text != '-') {
        // the upper half of 64-bit unsigned numbers, as bits
        errno = 0;
        *value = (int64_t)strtoull(text, &end, 10);
    }
    return end != text && is_blank(end) && errno == 0;
}

bool itm_xml_to_boolean(bool* value, const char* text)
{
    char word[8] = "";
    int n = 0;
    if (sscanf(text, " %7s %n", word, &n) != 1 || text[n] != '\0') {
        return false;
    }
    *value = strcmp(word, "true") == 0 || strcmp(word, "1") == 0;
    return *value || strcmp(word, "false") == 0 || strcmp(word, "0") == 0;
}
