// subsystems: everything but the mechanism, a function a type; and the signals that go from one to another.
#include "io/reader.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- connections

// Letters of a name in a connection: what names may have, but no operator of an expression.
static bool is_name_letter(char c)
{
    return (unsigned char)c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name_byte(char c)
{
    return is_name_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

// "control.kappa1", "arm.cyl1.length": names with dots between. An expression has a dot only in a number.
bool itm_reader_is_connection(const ItmNode* node)
{
    if (node->kind != ITM_NODE_SCALAR) {
        return false;
    }
    int nname = 0;
    const char* c = node->text;
    do {
        if (!is_name_letter(*c)) {
            return false;
        }
        while (is_name_byte(*c)) {
            c++;
        }
        nname++;
    } while (*c++ == '.');
    return nname >= 2 && c == node->text + node->length + 1;
}

static ItmStatus out_of_memory(ItmReader* r)
{
    return itm_error_set(r->error, ITM_ERR_MEMORY, "itm_read_subsystems", NULL, "out of memory");
}

ItmFilePlace itm_reader_get_place(ItmReader* r, const ItmNode* node)
{
    ItmFilePlace place = {strdup(node->source), node->line, node->column};
    if (place.file == NULL && r->status == ITM_OK) {
        r->status = out_of_memory(r);
    }
    return place;
}

// "a.b"; NULL without memory
static char* join(const char* a, const char* b)
{
    size_t na = strlen(a), nb = strlen(b);
    char* joined = malloc(na + nb + 2);
    if (joined != NULL) {
        memcpy(joined, a, na);
        joined[na] = '.';
        memcpy(joined + na + 1, b, nb + 1);
    }
    return joined;
}

void itm_reader_add_connection(ItmReader* r, const ItmNode* node, const char* subsystem,
                               const char* input)
{
    ItmModelFile* file = r->file;
    if (r->status != ITM_OK) {
        return;
    }
    ItmFileConnection* moved =
        realloc(file->connections, ((size_t)file->nconnection + 1) * sizeof *moved);
    if (moved == NULL) {
        r->status = out_of_memory(r);
        return;
    }
    file->connections = moved;
    ItmFileConnection* connection = &moved[file->nconnection++];
    *connection = (ItmFileConnection){.from = strdup(node->text), .to = join(subsystem, input)};
    connection->place = itm_reader_get_place(r, node);
    if (connection->from == NULL || connection->to == NULL) {
        r->status = out_of_memory(r);
    }
}

// A connection must come from a subsystem of the file, or from its mechanism.
static void check_connection(ItmReader* r, const ItmNode* subsystems, const ItmFileConnection* c)
{
    size_t length = strcspn(c->from, ".");
    const char* mechanism = r->file->name;
    ItmNearest nearest = itm_nearest_start(c->from, length);
    if (mechanism != NULL) {
        itm_nearest_offer(&nearest, mechanism);
    }
    bool is_known = mechanism != NULL && strlen(mechanism) == length &&
                    strncmp(mechanism, c->from, length) == 0;
    for (const ItmItem* item = subsystems->first; item != NULL; item = item->next) {
        is_known = is_known || (item->key->length == length &&
                                memcmp(item->key->text, c->from, length) == 0);
        itm_nearest_offer(&nearest, item->key->text);
    }
    if (!is_known) {
        const ItmNode here = {.kind = ITM_NODE_SCALAR, .line = c->place.line, .column = c->place.column,
                              .source = c->place.file, .text = c->from, .length = strlen(c->from)};
        itm_reader_fail(r, &here, "there is no subsystem '%.*s'%s%s%s", (int)length, c->from,
                        nearest.best != NULL ? "; nearest: '" : "",
                        nearest.best != NULL ? nearest.best : "", nearest.best != NULL ? "'" : "");
    }
}

// ---------------------------------------------------------------------------- subsystems

static void read_subsystem(ItmReader* r, const ItmItem* item)
{
    static const char* const TYPES[] = {"hydraulics"};
    static void (*const READERS[])(ItmReader*, const ItmItem*) = {itm_read_circuit};
    itm_reader_check_name(r, item->key);
    if (r->status == ITM_OK && r->file->name != NULL &&
        strcmp(r->file->name, item->key->text) == 0) {
        itm_reader_fail(r, item->key, "'%s' is the name of the mechanism already", item->key->text);
    }
    int type = itm_reader_get_type(r, item, "a subsystem", "a type of subsystem", TYPES,
                                   ITM_COUNT(TYPES));
    if (type != ITM_NONE) {
        READERS[type](r, item);
    }
}

void itm_read_subsystems(ItmReader* r, const ItmNode* node)
{
    if (!itm_reader_is_collection(r, node, "subsystems")) {
        return;
    }
    if (node->count == 0 && r->builder == NULL) {
        itm_reader_fail(r, node, "there are no subsystems");
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK;
         item = item->next) {
        read_subsystem(r, item);
    }
    for (int i = 0; i < r->file->nconnection && r->status == ITM_OK; i++) {
        check_connection(r, node, &r->file->connections[i]);
    }
}
