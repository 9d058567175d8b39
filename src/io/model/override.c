// "--set key.path=value": changes the tree before it is read, so that the value is checked like the
// file itself.
#include "io/document.h"

#include "base/error.h"
#include "base/nearest.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

// Maps from names that the user chose. An override changes entries of these; it cannot add one,
// because a misspelt parameter would be a new one that nobody reads. * stands for any one key.
static const char* const COLLECTIONS[] = {
    "parameters",
    "signals",
    "multibody.bodies",
    "multibody.joints",
    "multibody.couplings",
    "multibody.motions",
    "multibody.forces",
    "multibody.materials",
    "multibody.shapes",
    "multibody.points",
    "multibody.interfaces",
    "subsystems",
    "subsystems.*.bodies",
    "subsystems.*.joints",
    "subsystems.*.couplings",
    "subsystems.*.motions",
    "subsystems.*.forces",
    "subsystems.*.materials",
    "subsystems.*.shapes",
    "subsystems.*.points",
    "subsystems.*.interfaces",
    "subsystems.*.fluids",
    "subsystems.*.nodes",
    "subsystems.*.elements",
    "subsystems.*.outputs",
    "subsystems.*.blocks",
    "cosim.bonds",
    "cosim.wires",
    "cosim.aliases",
};

typedef struct Override {
    ItmDocument* doc;
    const char* source;  // "--set key.path=value"
    const char* text;    // "key.path=value"
    size_t path_length;
    ItmNode* value;
    ItmError* error;
    ItmStatus status;
} Override;

static void refuse(Override* o, size_t at, const char* message)
{
    if (o->status != ITM_OK) {
        return;
    }
    o->status = itm_error_set(o->error, ITM_ERR_INPUT, "itm_override_apply", NULL, "%s", message);
    const ItmNode here = {
        .kind = ITM_NODE_MAP, .line = 1, .source = o->source, .column = 1 + (int)itm_utf8_count(o->text, at)};
    itm_document_locate(&here, 0, o->error);
}

static void run_out_of_memory(Override* o)
{
    if (o->status == ITM_OK) {
        o->status = itm_error_set(o->error, ITM_ERR_MEMORY, "itm_override_apply", NULL, "out of memory");
    }
}

static void* take(Override* o, size_t size)
{
    void* taken = itm_document_take(o->doc, size);
    if (taken == NULL) {
        run_out_of_memory(o);
    }
    return taken;
}

// A node of the override's own, standing at byte `at` of its text.
static ItmNode* make_node(Override* o, ItmNodeKind kind, size_t at, size_t length)
{
    ItmNode* node = take(o, sizeof *node);
    char* text = take(o, length + 1);
    if (node == NULL || text == NULL) {
        return NULL;
    }
    memcpy(text, o->text + at, length);
    *node = (ItmNode){.kind = kind,
                      .is_exact = true,
                      .line = 1,
                      .source = o->source,
                      .column = 1 + (int)itm_utf8_count(o->text, at),
                      .text = text,
                      .length = length,
                      .size = 1};
    return node;
}

static void append_item(Override* o, ItmNode* map, ItmNode* key, ItmNode* value)
{
    if (!itm_document_append(o->doc, map, key, value)) {
        run_out_of_memory(o);
    }
}

// A copy of a list or map with its own items, so that other aliases of the node keep theirs.
static ItmNode* copy_items(Override* o, const ItmNode* node)
{
    ItmNode* copy = take(o, sizeof *copy);
    if (copy == NULL) {
        return NULL;
    }
    *copy = *node;
    copy->first = copy->last = NULL;
    copy->count = 0;
    for (const ItmItem* item = node->first; item != NULL && o->status == ITM_OK; item = item->next) {
        append_item(o, copy, item->key, item->value);
    }
    return copy;
}

// The item that a piece of the path names: a key of a map, or a number, counted from 0, of a list.
static ItmItem* find_item(const ItmNode* node, const char* piece, size_t length)
{
    int index = 0;
    for (ItmItem* item = node->first; item != NULL; item = item->next, index++) {
        char number[16];
        int digits = snprintf(number, sizeof number, "%d", index);
        bool is_it = item->key != NULL ? item->key->length == length && memcmp(item->key->text, piece, length) == 0
                                       : (size_t)digits == length && memcmp(number, piece, length) == 0;
        if (is_it) {
            return item;
        }
    }
    return NULL;
}

// Whether a path fits a pattern, key by key.
static bool fits(const char* path, size_t length, const char* pattern)
{
    const char* end = path + length;
    while (*pattern != '\0' && path < end) {
        if (*pattern == '*') {
            while (path < end && *path != '.') {
                path++;
            }
            pattern++;
        } else if (*pattern++ != *path++) {
            return false;
        }
    }
    return *pattern == '\0' && path == end;
}

static bool is_collection(const char* path, size_t length)
{
    for (size_t i = 0; i < sizeof COLLECTIONS / sizeof *COLLECTIONS; i++) {
        if (fits(path, length, COLLECTIONS[i])) {
            return true;
        }
    }
    return false;
}

static void refuse_missing(Override* o, const ItmNode* node, size_t at, size_t length)
{
    ItmNearest nearest = itm_nearest_start(o->text + at, length);
    for (const ItmItem* item = node->first; item != NULL; item = item->next) {
        if (item->key != NULL) {
            itm_nearest_offer(&nearest, item->key->text);
        }
    }
    char message[256];
    int shown = (int)itm_utf8_cut(o->text + at, length, 64);
    if (node->kind == ITM_NODE_LIST) {
        snprintf(message, sizeof message, "'%.*s' is not the number of an item: the list has %d, counted from 0", shown,
                 o->text + at, node->count);
    } else {
        snprintf(message, sizeof message, "the file has no '%.*s' here that could be changed%s%.64s%s", shown,
                 o->text + at, nearest.best != NULL ? "; nearest: '" : "", nearest.best != NULL ? nearest.best : "",
                 nearest.best != NULL ? "'" : "");
    }
    refuse(o, at, message);
}

// Whether a value is a plain number, without a unit.
static bool is_plain(const ItmNode* node)
{
    return node->kind == ITM_NODE_SCALAR && node->length > 0 && strspn(node->text, "0123456789.+-eE") == node->length;
}

// Whether a value begins with a number and goes on with a unit, as in "2 MPa".
static bool has_unit(const ItmNode* node)
{
    if (node->kind != ITM_NODE_SCALAR || node->length == 0) {
        return false;
    }
    size_t digits = strspn(node->text, "0123456789.+-");
    return digits > 0 && digits < node->length && strpbrk(node->text + digits, "()*/^") == NULL;
}

// A plain number where the file has a unit is legal (SI), and often not meant: if it leads to an error, the message mentions it.
static void note_unit(Override* o, const ItmNode* old)
{
    if (o->doc->unitless == NULL && is_plain(o->value) && has_unit(old)) {
        o->doc->unitless = o->source;
        o->doc->quantity = old;
    }
}

// `node` with the value put in at the path that begins at byte `at`; nodes on the way are copied.
static ItmNode* put(Override* o, const ItmNode* node, size_t at)
{
    size_t end = at;
    while (end < o->path_length && o->text[end] != '.') {
        end++;
    }
    if (end == at) {
        refuse(o, at, "a key is missing in the path");
        return NULL;
    }
    if (node->kind == ITM_NODE_SCALAR && node->length > 0) {
        refuse(o, at, "the path continues here, but the file has a single value at this place");
        return NULL;
    }
    ItmNode* copy = copy_items(o, node);
    if (copy == NULL || o->status != ITM_OK) {
        return NULL;
    }
    copy->kind = node->kind == ITM_NODE_LIST ? ITM_NODE_LIST : ITM_NODE_MAP;
    ItmItem* item = find_item(copy, o->text + at, end - at);
    if (item == NULL && (copy->kind == ITM_NODE_LIST || is_collection(o->text, at > 0 ? at - 1 : 0))) {
        refuse_missing(o, copy, at, end - at);
        return NULL;
    }
    if (item == NULL) {
        append_item(o, copy, make_node(o, ITM_NODE_SCALAR, at, end - at), make_node(o, ITM_NODE_MAP, at, 0));
        item = copy->last;
    }
    if (o->status == ITM_OK) {
        if (end == o->path_length) {
            note_unit(o, item->value);
        }
        item->value = end == o->path_length ? o->value : put(o, item->value, end + 1);
    }
    return copy;
}

static const char* copy_source(Override* o, const char* override)
{
    size_t length = strlen(override);
    char* source = take(o, length + 7);
    if (source != NULL) {
        memcpy(source, "--set ", 6);
        memcpy(source + 6, override, length);
    }
    return source;
}

static size_t count_pieces(const char* path, size_t length)
{
    size_t count = 1;
    for (size_t i = 0; i < length; i++) {
        count += path[i] == '.';
    }
    return count;
}

ItmStatus itm_override_apply(ItmDocument* doc, const char* override, ItmError* error)
{
    Override o = {.doc = doc, .error = error};
    o.source = copy_source(&o, override);
    if (o.source == NULL) {
        return o.status;
    }
    o.text = o.source + 6;
    const char* equals = strchr(o.text, '=');
    o.path_length = equals != NULL ? (size_t)(equals - o.text) : strlen(o.text);
    if (itm_utf8_check(o.text, o.path_length) < o.path_length) {
        refuse(&o, 0, "the path is not valid UTF-8");
    } else if (equals == NULL) {
        refuse(&o, o.path_length, "'=' is missing: an override is key.path=value");
    } else if (count_pieces(o.text, o.path_length) > ITM_DOCUMENT_MAX_DEPTH) {
        refuse(&o, 0, "the path has too many keys");
    } else {
        o.status = itm_yaml_parse(&o.value, doc, equals + 1, strlen(equals + 1), o.source,
                                  2 + (int)itm_utf8_count(o.text, o.path_length), error);
    }
    ItmNode* root = o.status == ITM_OK ? put(&o, doc->root, 0) : NULL;
    if (o.status == ITM_OK) {
        doc->root = root;
    }
    return o.status;
}
