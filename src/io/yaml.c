// From libfyaml's events to nodes.
#include "io/document.h"
#include "io/tree.h"

#include "base/error.h"
#include "base/names.h"
#include "base/utf8.h"
#include "io/yaml_advice.h"

#include <libfyaml.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A text counts as one value for so many bytes, for many aliases of a long one are a bomb too.
#define TEXT_PER_NODE 64

// A list or map that is still open, while its events come in.
typedef struct Level {
    ItmNode* node;
    ItmNode* key;        // map: the key whose value comes next, or NULL
    ItmNames keys;       // map: keys so far
    const char* anchor;  // of this node, or NULL
} Level;

typedef struct Loader {
    ItmDocument* doc;
    const char* text;  // the whole of it
    size_t length;
    const char* source;
    int first_column;  // of line 1
    ItmError* error;
    ItmStatus status;
    int line, column;  // of the event at hand
    Level levels[ITM_DOCUMENT_MAX_DEPTH];
    int depth;         // open levels
    ItmNames anchors;  // anchor to index in anchored
    ItmNode** anchored;
    int nanchored, capacity;
    ItmNode* root;
    int max_nodes, ndocument;
} Loader;

static void refuse(Loader* l, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

static void refuse(Loader* l, const char* format, ...)
{
    if (l->status != ITM_OK) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    l->status = itm_error_set_list(l->error, ITM_ERR_INPUT, "itm_yaml_parse", NULL, format, arguments);
    va_end(arguments);
    const ItmNode here = {.kind = ITM_NODE_MAP, .line = l->line, .column = l->column, .source = l->source};
    itm_document_locate(&here, 0, l->error);
}

static void run_out_of_memory(Loader* l)
{
    l->status = itm_error_set(l->error, ITM_ERR_MEMORY, "itm_yaml_parse", NULL, "out of memory");
}

// ---------------------------------------------------------------------------- the text

static void set_position(Loader* l, int line, int column)
{
    l->line = line;
    l->column = line == 1 ? column + l->first_column - 1 : column;
}

// Line and column, 1-based, of a byte of the text.
static void set_position_of_byte(Loader* l, const char* text, size_t at)
{
    int line = 1;
    size_t start = 0;
    for (size_t i = 0; i < at; i++) {
        if (text[i] == '\n') {
            line++;
            start = i + 1;
        }
    }
    set_position(l, line, 1 + (int)itm_utf8_count(text + start, at - start));
}

// What libfyaml never gets to see: files without end, other encodings, control characters.
static void check_text(Loader* l, const char* text, size_t length)
{
    set_position(l, 1, 1);
    if (length > itm_document_get_max_bytes()) {
        refuse(
            l,
            "the file has more than %zu MB, for which the memory of this machine or the limit of this process is too small",
            itm_document_get_max_bytes() >> 20);
        return;
    }
    size_t good = itm_utf8_check(text, length);
    if (good < length) {
        set_position_of_byte(l, text, good);
        unsigned byte = (unsigned char)text[good];
        refuse(l,
               byte < 0x80 ? "control character 0x%02x: a model file is text"
                           : "byte 0x%02x is not valid UTF-8: a model file is text",
               byte);
        return;
    }
    size_t turned = itm_utf8_find_direction(text, length);
    if (turned < length) {
        set_position_of_byte(l, text, turned);
        refuse(
            l,
            "a character that changes the direction of the text or separates lines; remove it, because an editor does "
            "not show the text as Interim reads it");
    }
}

// ---------------------------------------------------------------------------- nodes

static ItmNode* make_node(Loader* l, ItmNodeKind kind)
{
    ItmNode* node = itm_document_take(l->doc, sizeof *node);
    if (node == NULL) {
        run_out_of_memory(l);
        return NULL;
    }
    *node = (ItmNode){.kind = kind, .line = l->line, .column = l->column, .source = l->source, .size = 1};
    return node;
}

static const char* copy_text(Loader* l, struct fy_token* token, size_t* length)
{
    const char* text = token != NULL ? fy_token_get_text(token, length) : NULL;
    if (text == NULL) {
        *length = 0;
        text = "";
    }
    char* copy = itm_document_take(l->doc, *length + 1);
    if (copy == NULL) {
        run_out_of_memory(l);
        return NULL;
    }
    memcpy(copy, text, *length);
    return copy;
}

// How a scalar stands in the file: the bytes between its quotes, where they are on one line.
typedef struct Raw {
    const char* text;  // NULL: more than one line
    size_t length;
} Raw;

static Raw get_raw(const Loader* l, struct fy_token* token)
{
    const struct fy_mark* start = fy_token_start_mark(token);
    const struct fy_mark* end = fy_token_end_mark(token);
    bool is_simple = start != NULL && end != NULL && start->line == end->line && start->input_pos <= end->input_pos &&
                     end->input_pos <= l->length;
    return is_simple ? (Raw){l->text + start->input_pos, end->input_pos - start->input_pos} : (Raw){0};
}

// The text between single quotes, where two quotes stand for one. libfyaml 0.7 loses memory on
// '''''''''''''', so this is ours; over several lines such quotes are refused.
static const char* unquote(Loader* l, Raw raw, size_t* length)
{
    char* copy = itm_document_take(l->doc, raw.length + 1);
    if (copy == NULL) {
        run_out_of_memory(l);
        return NULL;
    }
    *length = 0;
    for (size_t i = 0; i < raw.length; i++) {
        copy[(*length)++] = raw.text[i];
        i += raw.text[i] == '\'';
    }
    return copy;
}

static const char* copy_scalar(Loader* l, struct fy_token* token, Raw raw, size_t* length)
{
    if (token == NULL || fy_token_scalar_style(token) != FYSS_SINGLE_QUOTED) {
        return copy_text(l, token, length);
    }
    if (raw.text == NULL) {
        refuse(l, "a text in single quotes must end on its line; use double quotes");
        return NULL;
    }
    return unquote(l, raw, length);
}

static ItmNode* make_scalar(Loader* l, struct fy_token* token)
{
    ItmNode* node = make_node(l, ITM_NODE_SCALAR);
    if (node == NULL) {
        return NULL;
    }
    Raw raw = token != NULL ? get_raw(l, token) : (Raw){0};
    node->text = copy_scalar(l, token, raw, &node->length);
    node->size = 1 + (int)(node->length / TEXT_PER_NODE);
    node->is_exact = raw.text != NULL && raw.length == node->length;
    // an escape in quotes can bring back what check_text kept out
    if (node->text != NULL && (itm_utf8_check(node->text, node->length) < node->length ||
                               itm_utf8_find_direction(node->text, node->length) < node->length)) {
        refuse(l, "an escape gives a control character, one that changes the direction of the text, or a broken one");
    }
    return node;
}

// ---------------------------------------------------------------------------- placing

static void register_anchor(Loader* l, const char* anchor, ItmNode* node)
{
    if (itm_names_find(&l->anchors, anchor, strlen(anchor)) != ITM_NONE) {
        refuse(l, "anchor '&%.60s' is defined twice", anchor);
        return;
    }
    if (l->nanchored == l->capacity) {
        int larger = l->capacity == 0 ? 16 : 2 * l->capacity;
        ItmNode** moved = realloc(l->anchored, (size_t)larger * sizeof(ItmNode*));
        if (moved == NULL) {
            run_out_of_memory(l);
            return;
        }
        l->anchored = moved;
        l->capacity = larger;
    }
    l->anchored[l->nanchored] = node;
    if (itm_names_add(&l->anchors, anchor, strlen(anchor), l->nanchored++) == NULL) {
        run_out_of_memory(l);
    }
}

static void append_item(Loader* l, ItmNode* parent, ItmNode* key, ItmNode* value)
{
    if (!itm_document_append(l->doc, parent, key, value)) {
        run_out_of_memory(l);
        return;
    }
    // sizes stay below twice the limit, so the sum cannot overflow
    parent->size += value->size + (key != NULL ? 1 : 0);
    if (parent->size > l->max_nodes) {
        refuse(l, "more than %d values, counting an alias as often as it is used", l->max_nodes);
    }
}

static void take_key(Loader* l, Level* level, ItmNode* key)
{
    if (key->kind != ITM_NODE_SCALAR || key->length == 0) {
        refuse(l, "a key must be a word");
        return;
    }
    if (itm_names_find(&level->keys, key->text, key->length) != ITM_NONE) {
        refuse(l, "'%.60s' is given twice in the same mapping", key->text);
        return;
    }
    if (itm_names_add(&level->keys, key->text, key->length, 0) == NULL) {
        run_out_of_memory(l);
    }
    level->key = key;
}

// Put a finished node where it belongs: root, list item, key or value.
static void place(Loader* l, ItmNode* node)
{
    if (l->status != ITM_OK) {
        return;
    }
    if (l->depth == 0) {
        l->root = node;
        return;
    }
    Level* level = &l->levels[l->depth - 1];
    if (level->node->kind == ITM_NODE_LIST) {
        append_item(l, level->node, NULL, node);
    } else if (level->key == NULL) {
        take_key(l, level, node);
    } else {
        append_item(l, level->node, level->key, node);
        level->key = NULL;
    }
}

// ---------------------------------------------------------------------------- events

static const char* copy_anchor(Loader* l, struct fy_token* token)
{
    size_t length;
    return token != NULL ? copy_text(l, token, &length) : NULL;
}

static void open_level(Loader* l, ItmNodeKind kind, struct fy_token* anchor)
{
    if (l->depth == ITM_DOCUMENT_MAX_DEPTH) {
        refuse(l, "lists and mappings nested more than %d deep", ITM_DOCUMENT_MAX_DEPTH);
        return;
    }
    Level* level = &l->levels[l->depth];
    if (l->depth > 0 && level[-1].node->kind == ITM_NODE_MAP && level[-1].key == NULL) {
        refuse(l, "a key must be a word, not a list or a mapping");
        return;
    }
    *level = (Level){.node = make_node(l, kind), .anchor = copy_anchor(l, anchor)};
    l->depth++;
}

static void close_level(Loader* l)
{
    Level* level = &l->levels[--l->depth];
    itm_names_free(&level->keys);
    if (level->anchor != NULL) {
        register_anchor(l, level->anchor, level->node);
    }
    place(l, level->node);
}

static void take_scalar(Loader* l, struct fy_token* value, struct fy_token* anchor)
{
    ItmNode* node = make_scalar(l, value);
    const char* name = copy_anchor(l, anchor);
    if (l->status != ITM_OK) {
        return;
    }
    if (name != NULL) {
        register_anchor(l, name, node);
    }
    place(l, node);
}

static void take_alias(Loader* l, struct fy_token* anchor)
{
    l->column--;  // libfyaml marks the name, not its star
    size_t length;
    const char* name = copy_text(l, anchor, &length);
    int index = name != NULL ? itm_names_find(&l->anchors, name, length) : ITM_NONE;
    if (index == ITM_NONE) {
        refuse(l, "alias '*%.60s' refers to no anchor before it", name != NULL ? name : "");
    } else if (l->depth > 0 && l->levels[l->depth - 1].node->kind == ITM_NODE_MAP &&
               l->levels[l->depth - 1].key == NULL) {
        refuse(l, "a key must be a word, not an alias");
    } else {
        place(l, l->anchored[index]);
    }
}

static void refuse_tag(Loader* l, struct fy_token* tag)
{
    if (tag != NULL) {
        refuse(l, "tags ('!...') have no meaning in a model file");
    }
}

static void take_event(Loader* l, struct fy_event* event)
{
    const struct fy_mark* mark = fy_event_start_mark(event);
    if (mark != NULL && event->type != FYET_MAPPING_END && event->type != FYET_SEQUENCE_END) {
        set_position(l, mark->line + 1, mark->column + 1);
    }
    switch (event->type) {
    case FYET_DOCUMENT_START:
        if (++l->ndocument > 1) {
            refuse(l, "a second YAML document begins here; a model file has one");
        }
        break;
    case FYET_MAPPING_START:
        refuse_tag(l, event->mapping_start.tag);
        open_level(l, ITM_NODE_MAP, event->mapping_start.anchor);
        break;
    case FYET_SEQUENCE_START:
        refuse_tag(l, event->sequence_start.tag);
        open_level(l, ITM_NODE_LIST, event->sequence_start.anchor);
        break;
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END:
        close_level(l);
        break;
    case FYET_SCALAR:
        refuse_tag(l, event->scalar.tag);
        take_scalar(l, event->scalar.value, event->scalar.anchor);
        break;
    case FYET_ALIAS:
        take_alias(l, event->alias.anchor);
        break;
    default:
        break;
    }
}

// ---------------------------------------------------------------------------- parsing

// The parser's first complaint. It places what is missing at the end into a line after the last
// one.
static void take_syntax_error(Loader* l, struct fy_diag* diag, const char* text, size_t length)
{
    void* iterator = NULL;
    const struct fy_diag_error* first = fy_diag_errors_iterate(diag, &iterator);
    if (first == NULL) {
        refuse(l, "this is not YAML");
        return;
    }
    set_position_of_byte(l, text, length);
    if (first->line > 0 && first->line <= l->line) {
        set_position(l, first->line, first->column > 0 ? first->column : 1);
    }
    if (strstr(first->msg, "used as indentation") != NULL) {
        refuse(l, "this line is indented with a tab; YAML takes spaces only");
    }
    ItmYamlAdvice advice;
    if (strstr(first->msg, "tab") == NULL && itm_yaml_advise(&advice, text, length, l->line)) {
        set_position_of_byte(l, text, advice.at);
        refuse(l, "%s", advice.message);
    }
    refuse(l, "not valid YAML: %s", first->msg);
}

static void take_all_events(Loader* l, struct fy_parser* parser)
{
    struct fy_event* event;
    while (l->status == ITM_OK && (event = fy_parser_parse(parser)) != NULL) {
        take_event(l, event);
        fy_parser_event_free(parser, event);
    }
}

// libfyaml 0.7 crashes where there is no memory for its description of the input, some 300 bytes: whether these can be had is
// found out here, right before it asks for them.
static bool has_spare_memory(void)
{
    volatile char* spare = malloc(4096);
    bool is_there = spare != NULL;
    if (is_there) {
        spare[0] = 0;
    }
    free((void*)spare);
    return is_there;
}

static void run_parser(Loader* l, const char* text, size_t length)
{
    struct fy_diag_cfg diag_cfg;
    fy_diag_cfg_default(&diag_cfg);
    diag_cfg.fp = NULL;
    diag_cfg.colorize = false;
    struct fy_diag* diag = fy_diag_create(&diag_cfg);
    struct fy_parse_cfg cfg = {.flags = FYPCF_QUIET | FYPCF_JSON_NONE | FYPCF_DEFAULT_VERSION_1_2, .diag = diag};
    struct fy_parser* parser = diag != NULL ? fy_parser_create(&cfg) : NULL;
    if (parser == NULL || !has_spare_memory() || fy_parser_set_string(parser, text, length) != 0) {
        run_out_of_memory(l);
    } else {
        fy_diag_set_collect_errors(diag, true);
        take_all_events(l, parser);
        if (l->status == ITM_OK && (fy_parser_get_stream_error(parser) || l->depth > 0)) {
            take_syntax_error(l, diag, text, length);
        }
    }
    fy_parser_destroy(parser);
    fy_diag_destroy(diag);
}

ItmStatus itm_yaml_parse(ItmNode** root, ItmDocument* doc, const char* text, size_t length, const char* source,
                         int column, ItmError* error)
{
    if (itm_tree_is(text, length)) {
        return itm_tree_read(root, doc, text, length, source, error);
    }
    Loader* l = calloc(1, sizeof *l);
    if (l == NULL) {
        return itm_error_set(error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
    *l = (Loader){.doc = doc,
                  .text = text,
                  .length = length,
                  .source = source,
                  .first_column = column,
                  .error = error,
                  .max_nodes = itm_document_get_max_nodes(length)};
    check_text(l, text, length);
    if (l->status == ITM_OK) {
        run_parser(l, text, length);
    }
    if (l->status == ITM_OK && l->root == NULL) {
        set_position(l, 1, 1);
        refuse(l, l->first_column > 1 ? "a value is missing" : "the file is empty");
    }
    *root = l->root;
    ItmStatus status = l->status;
    for (int i = 0; i < l->depth; i++) {
        itm_names_free(&l->levels[i].keys);
    }
    itm_names_free(&l->anchors);
    free(l->anchored);
    free(l);
    return status;
}
