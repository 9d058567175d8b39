// cosim.potential: which contacts, stops and frictions may change between two meetings.
#include "io/model/reader.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static void read_options(ItmReader* r, const ItmNode* rows, const ItmNode* margin, ItmPotentialOptions* o)
{
    const char* names[ITM_POTENTIAL_COUNT];
    for (int i = 0; i < ITM_POTENTIAL_COUNT; i++) {
        names[i] = itm_potential_name((ItmPotential)i);
    }
    int choice = itm_reader_get_word(r, rows, "a choice of potential rows", names, ITM_POTENTIAL_COUNT, (int)o->rows);
    o->rows = choice >= 0 ? (ItmPotential)choice : o->rows;
    o->margin = itm_reader_get_real(r, margin, ITM_DIM_ONE, o->margin);
    if (r->status == ITM_OK && !(o->margin >= 0.0)) {
        itm_reader_fail(r, margin, "margin must not be negative, got %g", o->margin);
    }
}

static void add_choice(ItmReader* r, const ItmNode* node, ItmFileMechanism* mechanism, const char* first, const char* second,
                       bool is_potential)
{
    ItmFilePotential* moved = realloc(mechanism->choices, ((size_t)mechanism->nchoice + 1) * sizeof *moved);
    if (moved != NULL) {
        mechanism->choices = moved;
        ItmFilePotential* choice = &moved[mechanism->nchoice++];
        *choice = (ItmFilePotential){.first = strdup(first), .second = second != NULL ? strdup(second) : NULL,
                                     .is_potential = is_potential, .place = itm_reader_get_place(r, node)};
        if (choice->first != NULL && (second == NULL || choice->second != NULL)) {
            return;
        }
    }
    r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
}

// `box`, `hinge` or `[box, ground]`
static void read_choice(ItmReader* r, const ItmNode* node, ItmFileMechanism* mechanism, bool is_potential)
{
    const ItmItem* item = node->kind == ITM_NODE_LIST ? node->first : NULL;
    bool is_pair = item != NULL && item->next != NULL && item->next->next == NULL;
    if (node->kind != ITM_NODE_SCALAR && !is_pair) {
        itm_reader_fail(r, node, "expected a body, a joint, or a pair of bodies, as in [box, ground]");
        return;
    }
    const char* first = itm_reader_get_text(r, is_pair ? item->value : node, "a body or joint");
    const char* second = is_pair ? itm_reader_get_text(r, item->next->value, "a body") : NULL;
    if (r->status == ITM_OK && first != NULL) {
        add_choice(r, node, mechanism, first, second, is_potential);
    }
}

static void read_choices(ItmReader* r, const ItmNode* node, ItmFileMechanism* mechanism, bool is_potential)
{
    if (node == NULL || r->status != ITM_OK) {
        return;
    }
    if (node->kind != ITM_NODE_LIST) {
        itm_reader_fail(r, node, "expected a list of bodies, joints and pairs of bodies, as in [hinge, [box, ground]]");
        return;
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        read_choice(r, item->value, mechanism, is_potential);
    }
}

void itm_read_potential(ItmReader* r, const ItmNode* node, ItmFileMechanism* mechanism)
{
    enum { ROWS, MARGIN, ALWAYS, NEVER, NKEY };
    static const char* const KEYS[NKEY] = {"rows", "margin", "always", "never"};
    const ItmNode* v[NKEY] = {node, NULL, NULL, NULL};
    if (node == NULL || r->status != ITM_OK) {
        return;
    }
    if (node->kind == ITM_NODE_MAP) {
        // names belong to a mechanism
        itm_reader_get_map(r, node, "potential", KEYS, mechanism != NULL ? NKEY : ALWAYS, v);
    }
    for (int i = 0; i < r->file->nmechanism && mechanism == NULL; i++) {
        read_options(r, v[ROWS], v[MARGIN], &r->file->mechanisms[i].potential);
    }
    if (mechanism != NULL) {
        read_options(r, v[ROWS], v[MARGIN], &mechanism->potential);
        read_choices(r, v[ALWAYS], mechanism, true);
        read_choices(r, v[NEVER], mechanism, false);
    }
}
