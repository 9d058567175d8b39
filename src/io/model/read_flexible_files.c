// flexible.model: matrices and nodes of a finite element program.
#include "io/model/read_flexible.h"

#include <stdio.h>
#include <stdlib.h>

enum { MASS, STIFFNESS, NODES, INTERFACES, FRAME, MODES, NKEY };
static const char* const KEYS[NKEY] = {"mass", "stiffness", "nodes", "interfaces", "frame", "modes"};

void itm_read_free_model_files(ItmModelFiles* files)
{
    itm_matrix_free(&files->mass);
    itm_matrix_free(&files->stiffness);
    itm_matrix_free_nodes(&files->nodes);
    free(files->interfaces);
    free(files->interface_nodes);
}

// ---------------------------------------------------------------------------- files

// Complain about a file at the node that names it, with the line in the file.
static void fail_file(ItmReader* r, const ItmNode* node, const char* name, const ItmError* error)
{
    char line[24] = "";
    if (error->line > 0) {
        snprintf(line, sizeof line, ":%d", error->line);
    }
    itm_reader_fail(r, node, "file '%.200s'%s: %s", name, line, error->message);
}

static void read_matrix(ItmReader* r, const ItmNode* node, ItmMatrixFile* matrix, ItmSparseDef* def)
{
    const char* name = itm_reader_get_text(r, node, "the name of a Matrix Market file");
    char* path = name != NULL && r->status == ITM_OK ? itm_reader_make_path(r, name) : NULL;
    ItmError error = {0};
    if (path != NULL && itm_matrix_read(matrix, path, &error) != ITM_OK) {
        fail_file(r, node, name, &error);
    }
    free(path);
    *def = (ItmSparseDef){matrix->n, matrix->nentry, matrix->row, matrix->column, matrix->value};
}

static void read_nodes(ItmReader* r, const ItmNode* node, ItmModelFiles* files)
{
    const char* name = itm_reader_get_text(r, node, "the name of a table of nodes");
    char* path = name != NULL && r->status == ITM_OK ? itm_reader_make_path(r, name) : NULL;
    ItmError error = {0};
    if (path != NULL && itm_matrix_read_nodes(&files->nodes, path, &error) != ITM_OK) {
        fail_file(r, node, name, &error);
    }
    free(path);
    files->def.nodes = files->nodes.at;
    files->def.nnode = files->nodes.count;
}

// ---------------------------------------------------------------------------- interfaces

static int get_node(ItmReader* r, const ItmNode* node, const ItmNodeTable* table)
{
    double id = itm_reader_get_real(r, node, ITM_DIM_ONE, 0.0);
    int index = r->status == ITM_OK && id >= 0 && id < 1e15 ? itm_matrix_find_node(table, (long)id) : ITM_NONE;
    if (r->status == ITM_OK && index == ITM_NONE) {
        itm_reader_fail(r, node, "there is no node %g in the table of nodes", id);
    }
    return index;
}

// The nodes of one interface: a number, or a list of them.
static void read_interface(ItmReader* r, const ItmItem* item, ItmModelFiles* files, int* used)
{
    ItmModalInterface* face = &files->interfaces[files->def.ninterface++];
    *face = (ItmModalInterface){.name = item->key->text, .nodes = files->interface_nodes + *used};
    if (item->value->kind != ITM_NODE_LIST) {
        files->interface_nodes[(*used)++] = get_node(r, item->value, &files->nodes);
        face->nnode = 1;
        return;
    }
    for (const ItmItem* n = item->value->first; n != NULL && r->status == ITM_OK; n = n->next) {
        files->interface_nodes[(*used)++] = get_node(r, n->value, &files->nodes);
        face->nnode++;
    }
}

static void read_interfaces(ItmReader* r, const ItmNode* node, ItmModelFiles* files)
{
    if (!itm_reader_is_collection(r, node, "interfaces")) {
        return;
    }
    int count = 0, used = 0;
    for (const ItmItem* item = node->first; item != NULL; item = item->next) {
        count += item->value->kind == ITM_NODE_LIST ? item->value->count : 1;
    }
    files->interfaces = itm_reader_take_array(r, node->count, sizeof *files->interfaces);
    files->interface_nodes = itm_reader_take_array(r, count, sizeof(int));
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        read_interface(r, item, files, &used);
    }
    files->def.interfaces = files->interfaces;
}

void itm_read_model_files(ItmReader* r, const ItmNode* node, ItmModelFiles* files)
{
    const ItmNode* v[NKEY];
    const char* frames[ITM_MODAL_FRAME_COUNT];
    for (int i = 0; i < ITM_MODAL_FRAME_COUNT; i++) {
        frames[i] = itm_modal_frame_name((ItmModalFrame)i);
    }
    files->def = itm_default_modal_def();
    itm_reader_get_map(r, node, "a finite element model", KEYS, NKEY, v);
    for (int k = MASS; k <= INTERFACES; k++) {
        itm_reader_require(r, node, v[k], "a finite element model", KEYS[k]);
    }
    if (r->status != ITM_OK) {
        return;
    }
    read_matrix(r, v[MASS], &files->mass, &files->def.mass);
    read_matrix(r, v[STIFFNESS], &files->stiffness, &files->def.stiffness);
    read_nodes(r, v[NODES], files);
    read_interfaces(r, v[INTERFACES], files);
    int frame = itm_reader_get_word(r, v[FRAME], "a frame", frames, ITM_MODAL_FRAME_COUNT, (int)files->def.frame);
    files->def.frame = frame >= 0 ? (ItmModalFrame)frame : files->def.frame;
    files->def.modes = itm_reader_get_int(r, v[MODES], 0, 1000, files->def.modes);
}
