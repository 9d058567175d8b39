#include "io/json.h"

#include "base/error.h"
#include "base/utf8.h"

#include <string.h>

typedef struct Reader {
    const char *start, *at, *end;
    ItmDocument* doc;
    ItmStatus status;
    int depth;
    bool is_shown;  // strings are cleaned
} Reader;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_blanks(Reader* r)
{
    while (r->at < r->end && is_blank(*r->at)) {
        r->at++;
    }
}

// Take a character; false and an error where another one stands.
static bool take(Reader* r, char c)
{
    skip_blanks(r);
    if (r->at < r->end && *r->at == c) {
        r->at++;
        return true;
    }
    r->status = r->status == ITM_OK ? ITM_ERR_INPUT : r->status;
    return false;
}

static bool is_next(Reader* r, char c)
{
    skip_blanks(r);
    return r->at < r->end && *r->at == c;
}

static void* make(Reader* r, size_t size)
{
    void* memory = itm_document_take(r->doc, size);
    r->status = memory == NULL ? ITM_ERR_MEMORY : r->status;
    return memory;
}

// ---------------------------------------------------------------------------- strings

// Four hexadecimal digits; -1 where they are none.
static long take_hex(Reader* r)
{
    long value = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        static const char DIGITS[] = "0123456789abcdef0123456789ABCDEF";
        const char* digit = r->at < r->end && *r->at != '\0' ? strchr(DIGITS, *r->at) : NULL;
        if (digit == NULL) {
            return -1;
        }
        value = 16 * value + (digit - DIGITS) % 16;
    }
    return value;
}

// The character after "\u", of two halves where it is beyond 16 bits; -1 where it is none that a text may hold.
static long take_code(Reader* r)
{
    long code = take_hex(r);
    if (code >= 0xd800 && code < 0xdc00 && r->end - r->at >= 6 && r->at[0] == '\\' && r->at[1] == 'u') {
        r->at += 2;
        long low = take_hex(r);
        return low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : -1;
    }
    return code == 0 || (code >= 0xd800 && code < 0xe000) ? -1 : code;
}

static char* put_utf8(char* to, long code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | (code >> 6));
        *to++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *to++ = (char)(0xe0 | (code >> 12));
        *to++ = (char)(0x80 | ((code >> 6) & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    } else {
        *to++ = (char)(0xf0 | (code >> 18));
        *to++ = (char)(0x80 | ((code >> 12) & 0x3f));
        *to++ = (char)(0x80 | ((code >> 6) & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    }
    return to;
}

// The character of an escape, behind its backslash.
static long take_escape(Reader* r)
{
    static const char NAMES[] = "\"\\/bfnrt", VALUES[] = "\"\\/\b\f\n\r\t";
    char c = r->at < r->end ? *r->at++ : '\0';
    if (c == 'u') {
        return take_code(r);
    }
    const char* name = c != '\0' ? strchr(NAMES, c) : NULL;
    return name != NULL ? VALUES[name - NAMES] : -1;
}

// Bytes up to the closing quote, which is not taken; an escape is never shorter than the character that it stands for.
static size_t measure_string(const Reader* r)
{
    const char* at = r->at;
    while (at < r->end && *at != '"') {
        at += *at == '\\' && at + 1 < r->end ? 2 : 1;
    }
    return (size_t)(at - r->at);
}

static ItmNode* take_string(Reader* r)
{
    if (!take(r, '"')) {
        return NULL;
    }
    ItmNode* node = make(r, sizeof *node);
    char* text = node != NULL ? make(r, measure_string(r) + 1) : NULL;
    if (text == NULL) {
        return NULL;
    }
    char* to = text;
    while (r->at < r->end && *r->at != '"') {
        if (*r->at != '\\') {
            *to++ = *r->at++;
            continue;
        }
        r->at++;
        long code = take_escape(r);
        if (code < 0) {
            r->status = ITM_ERR_INPUT;
            return NULL;
        }
        to = put_utf8(to, code);
    }
    *to = '\0';
    if (r->is_shown) {
        itm_utf8_clean(text);
    }
    *node = (ItmNode){.kind = ITM_NODE_SCALAR, .text = text, .length = (size_t)(to - text), .size = 1};
    return take(r, '"') ? node : NULL;
}

// ---------------------------------------------------------------------------- values

static ItmNode* take_value(Reader* r);

// A number, true, false or null: who uses it checks it.
static ItmNode* take_word(Reader* r)
{
    const char* from = r->at;
    while (r->at < r->end && (strchr("+-.", *r->at) != NULL || (*r->at >= '0' && *r->at <= '9') ||
                              (*r->at >= 'a' && *r->at <= 'z') || *r->at == 'E')) {
        r->at++;
    }
    size_t length = (size_t)(r->at - from);
    bool is_known =
        length > 0 && (strchr("-0123456789", *from) != NULL || (length == 4 && memcmp(from, "true", 4) == 0) ||
                       (length == 5 && memcmp(from, "false", 5) == 0) || (length == 4 && memcmp(from, "null", 4) == 0));
    ItmNode* node = is_known ? make(r, sizeof *node) : NULL;
    char* text = node != NULL ? make(r, length + 1) : NULL;
    if (text == NULL) {
        r->status = r->status == ITM_OK ? ITM_ERR_INPUT : r->status;
        return NULL;
    }
    memcpy(text, from, length);
    *node = (ItmNode){.kind = ITM_NODE_SCALAR, .is_exact = true, .text = text, .length = length, .size = 1};
    return node;
}

static bool append(Reader* r, ItmNode* parent, ItmNode* key, ItmNode* value)
{
    if (value != NULL && !itm_document_append(r->doc, parent, key, value)) {
        r->status = ITM_ERR_MEMORY;
    }
    return value != NULL && r->status == ITM_OK;
}

// A list or an object, whose open bracket is next.
static ItmNode* take_inside(Reader* r, ItmNodeKind kind)
{
    const char* from = r->at++;
    char close = kind == ITM_NODE_LIST ? ']' : '}';
    ItmNode* node = make(r, sizeof *node);
    if (node == NULL || ++r->depth > ITM_JSON_MAX_DEPTH) {
        r->status = r->status == ITM_OK ? ITM_ERR_INPUT : r->status;
        return NULL;
    }
    *node = (ItmNode){.kind = kind, .size = 1};
    for (bool has_more = !is_next(r, close); has_more; has_more = is_next(r, ',') && take(r, ',')) {
        ItmNode* key = kind == ITM_NODE_MAP ? take_string(r) : NULL;
        if ((kind == ITM_NODE_MAP && (key == NULL || !take(r, ':'))) || !append(r, node, key, take_value(r))) {
            return NULL;
        }
    }
    if (!take(r, close)) {
        return NULL;
    }
    r->depth--;
    node->text = from;
    node->length = (size_t)(r->at - from);
    return node;
}

static ItmNode* take_value(Reader* r)
{
    if (is_next(r, '"')) {
        return take_string(r);
    }
    if (is_next(r, '{')) {
        return take_inside(r, ITM_NODE_MAP);
    }
    return is_next(r, '[') ? take_inside(r, ITM_NODE_LIST) : take_word(r);
}

static ItmStatus parse(ItmNode** root, Reader r, ItmError* error)
{
    const char* text = r.start;
    size_t length = (size_t)(r.end - r.start);
    *root = NULL;
    if (itm_utf8_check(text, length) < length) {
        return itm_error_set(error, ITM_ERR_INPUT, "itm_json_parse", NULL,
                             "not JSON: a control character, or not UTF-8");
    }
    ItmNode* node = take_value(&r);
    skip_blanks(&r);
    if (r.status == ITM_OK && r.at < r.end) {
        r.status = ITM_ERR_INPUT;
    }
    if (r.status == ITM_ERR_MEMORY) {
        return itm_error_set(error, ITM_ERR_MEMORY, "itm_json_parse", NULL, "out of memory");
    }
    if (r.status != ITM_OK) {
        return itm_error_set(error, ITM_ERR_INPUT, "itm_json_parse", NULL, "not JSON at byte %zu",
                             (size_t)(r.at - r.start));
    }
    *root = node;
    return ITM_OK;
}

ItmStatus itm_json_parse(ItmNode** root, ItmDocument* doc, const char* text, size_t length, ItmError* error)
{
    return parse(root, (Reader){.start = text, .at = text, .end = text + length, .doc = doc}, error);
}

ItmStatus itm_json_parse_shown(ItmNode** root, ItmDocument* doc, const char* text, size_t length, ItmError* error)
{
    return parse(root, (Reader){.start = text, .at = text, .end = text + length, .doc = doc, .is_shown = true}, error);
}

// ---------------------------------------------------------------------------- looking up

const ItmNode* itm_json_get_item(const ItmNode* list, int index)
{
    const ItmItem* item = list != NULL && list->kind == ITM_NODE_LIST ? list->first : NULL;
    for (int i = 0; i < index && item != NULL; i++) {
        item = item->next;
    }
    return item != NULL ? item->value : NULL;
}

const ItmNode* itm_json_find(const ItmNode* object, const char* key)
{
    return object != NULL && object->kind == ITM_NODE_MAP ? itm_document_find(object, key) : NULL;
}

const char* itm_json_get_text(const ItmNode* object, const char* key)
{
    const ItmNode* value = itm_json_find(object, key);
    return value != NULL && value->kind == ITM_NODE_SCALAR ? value->text : "";
}
