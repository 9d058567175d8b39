// subsystems: everything but the mechanism, a function a type.
#include "io/model/reader.h"

#include <string.h>

// ---------------------------------------------------------------------------- subsystems

static void read_subsystem(ItmReader* r, const ItmItem* item)
{
    static const char* const TYPES[] = {"hydraulics", "control", "multibody", "drive", "fmu", "external"};
    static void (*const READERS[])(ItmReader*, const ItmItem*) = {
        itm_read_circuit, itm_read_control, itm_read_mechanism, itm_read_drive, itm_read_fmu, itm_read_external};
    itm_reader_check_name(r, item->key);
    if (r->status == ITM_OK && r->file->name != NULL && strcmp(r->file->name, item->key->text) == 0) {
        itm_reader_fail(r, item->key, "'%s' is the name of the mechanism already", item->key->text);
    }
    int type = itm_reader_get_type(r, item, "a subsystem", "a type of subsystem", TYPES, ITM_COUNT(TYPES));
    if (type != ITM_NONE) {
        READERS[type](r, item);
    }
}

void itm_read_subsystems(ItmReader* r, const ItmNode* node)
{
    if (!itm_reader_is_collection(r, node, "subsystems")) {
        static const ItmNode NONE = {.kind = ITM_NODE_MAP};
        if (r->doc->is_part) {
            itm_reader_check_connections(r, &NONE);
        }
        return;
    }
    if (node->count == 0 && r->builder == NULL) {
        itm_reader_fail(r, node, "there are no subsystems");
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        read_subsystem(r, item);
    }
    itm_reader_check_connections(r, node);
}
