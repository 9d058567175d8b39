// Signals that go from one subsystem to another: "control.kappa1" where a command is expected.
#include "io/model/reader.h"

#include "base/error.h"
#include "base/utf8.h"
#include "fmi/fmu.h"

#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------------------- reading

// Letters of a name in a connection: what names may have, but no operator of an expression.
static bool is_name_letter(char c)
{
    return (unsigned char)c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name_byte(char c)
{
    // outputs of FMUs have indices: "hydraulics.p[1,2].flow"
    return is_name_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '[' || c == ']' || c == ',';
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
    return itm_error_set(r->error, ITM_ERR_MEMORY, "itm_file_parse", NULL, "out of memory");
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

void itm_reader_add_connection(ItmReader* r, const ItmNode* node, const char* subsystem, const char* input)
{
    ItmModelFile* file = r->file;
    if (r->status != ITM_OK) {
        return;
    }
    ItmFileConnection* moved = realloc(file->connections, ((size_t)file->nconnection + 1) * sizeof *moved);
    if (moved == NULL) {
        r->status = out_of_memory(r);
        return;
    }
    file->connections = moved;
    ItmFileConnection* connection = &moved[file->nconnection++];
    *connection = (ItmFileConnection){.from = strdup(node->text), .to = join(subsystem, input), .factor = 1.0};
    connection->place = itm_reader_get_place(r, node);
    if (connection->from == NULL || connection->to == NULL) {
        r->status = out_of_memory(r);
    }
}

// ---------------------------------------------------------------------------- checking

// The place of a connection as a node, for complaints.
static ItmNode make_node(const ItmFileConnection* c)
{
    return (ItmNode){.kind = ITM_NODE_SCALAR,
                     .line = c->place.line,
                     .column = c->place.column,
                     .source = c->place.file,
                     .text = c->from,
                     .length = strlen(c->from)};
}

static bool is_name(const char* name, const char* text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

// It must come from a subsystem of the file, or from its mechanism. Whether it does.
static bool check_subsystem(ItmReader* r, const ItmNode* subsystems, const ItmFileConnection* c)
{
    size_t length = strcspn(c->from, ".");
    const char* mechanism = r->file->name != NULL ? r->file->name : "";
    ItmNearest nearest = itm_nearest_start(c->from, length);
    bool is_known = is_name(mechanism, c->from, length);
    itm_nearest_offer(&nearest, mechanism);
    for (const ItmItem* item = subsystems->first; item != NULL; item = item->next) {
        is_known = is_known || is_name(item->key->text, c->from, length);
        itm_nearest_offer(&nearest, item->key->text);
    }
    if (!is_known && !r->doc->is_part) {
        const ItmNode here = make_node(c);
        char hint[128];
        itm_reader_fail(r, &here, "there is no subsystem '%.*s'%s", (int)itm_utf8_cut(c->from, length, 64), c->from,
                        itm_nearest_format(&nearest, hint, sizeof hint));
    }
    return is_known;
}

// In a part of a model, a value from another part is an input: without the connection, nothing sets it.
static void remove_connection(ItmModelFile* file, int i)
{
    ItmFileConnection* c = &file->connections[i];
    free(c->from);
    free(c->to);
    free(c->place.file);
    memmove(c, c + 1, (size_t)(--file->nconnection - i) * sizeof *c);
}

void itm_reader_check_connections(ItmReader* r, const ItmNode* subsystems)
{
    for (int i = 0; i < r->file->nconnection && r->status == ITM_OK;) {
        if (check_subsystem(r, subsystems, &r->file->connections[i]) || r->status != ITM_OK) {
            i++;
        } else {
            remove_connection(r->file, i);
        }
    }
}

// Whether there is an output of that name; offers all there are. Prefix: name of the subsystem.
static bool has_output(const ItmModelFile* file, const char* from, ItmNearest* nearest)
{
    size_t length = strcspn(from, ".");
    const char* output = from + length + 1;
    for (int k = 0; k < file->nmechanism; k++) {
        const ItmModel* m = file->mechanisms[k].model;
        if (!is_name(file->mechanisms[k].name, from, length)) {
            continue;
        }
        for (int i = 0; i < itm_model_get_output_count(m); i++) {
            itm_nearest_offer(nearest, itm_model_get_output_info(m, i).name);
        }
        return itm_model_find_output(m, output) != ITM_NONE;
    }
    for (int i = 0; i < file->ncircuit; i++) {
        const ItmCircuit* c = file->circuits[i].circuit;
        if (is_name(file->circuits[i].name, from, length)) {
            for (int k = 0; k < itm_circuit_get_output_count(c); k++) {
                itm_nearest_offer(nearest, itm_circuit_get_output_info(c, k).name);
            }
            return itm_circuit_find_output(c, output) != ITM_NONE;
        }
    }
    for (int i = 0; i < file->ncontrol; i++) {
        const ItmControl* c = file->controls[i].control;
        if (is_name(file->controls[i].name, from, length)) {
            for (int k = 0; k < itm_control_get_output_count(c); k++) {
                itm_nearest_offer(nearest, itm_control_get_output_info(c, k).name);
            }
            return itm_control_find_output(c, output) != ITM_NONE;
        }
    }
    for (int i = 0; i < file->ndrive; i++) {
        const ItmDrives* d = file->drives[i].drives;
        if (is_name(file->drives[i].name, from, length)) {
            for (int k = 0; k < itm_drives_get_output_count(d); k++) {
                itm_nearest_offer(nearest, itm_drives_get_output_info(d, k).name);
            }
            return itm_drives_find_output(d, output) != ITM_NONE;
        }
    }
    for (int i = 0; i < file->nfmu; i++) {
        const ItmFmu* fmu = file->fmus[i].fmu;
        bool is_there = false;
        if (is_name(file->fmus[i].name, from, length)) {
            for (int k = 0; k < itm_fmi_get_spec(fmu)->noutput; k++) {
                const char* name = itm_fmi_get_output_info(fmu, k).name;
                itm_nearest_offer(nearest, name);
                is_there = is_there || strcmp(name, output) == 0;
            }
            return is_there;
        }
    }
    return true;
}

ItmStatus itm_reader_check_file_connections(const ItmModelFile* file, ItmError* error)
{
    ItmReader r = {.error = error};
    for (int i = 0; i < file->nconnection && r.status == ITM_OK; i++) {
        const ItmFileConnection* c = &file->connections[i];
        size_t length = strcspn(c->from, ".");
        ItmNearest nearest = itm_nearest_start(c->from + length + 1, strlen(c->from) - length - 1);
        if (!has_output(file, c->from, &nearest)) {
            const ItmNode here = make_node(c);
            const char* output = c->from + length + 1;
            char hint[160];
            itm_reader_fail(&r, &here, "subsystem '%.*s' has no output '%.*s'%s", (int)length, c->from,
                            (int)itm_utf8_cut(output, strlen(output), 128), output,
                            itm_nearest_format(&nearest, hint, sizeof hint));
        }
    }
    return r.status;
}
