// Interfaces: frames on bodies of mechanisms, and the bonds between two of them.
#include "cosim/builder.h"
#include "cosim/cosim.h"

#include "base/error.h"
#include "base/guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int count_directions(unsigned directions)
{
    int n = 0;
    for (int k = 0; k < ITM_DIRECTION_COUNT; k++) {
        n += (directions >> k & 1u) != 0;
    }
    return n;
}

static void create_interface(ItmCosim* x, ItmInterface* it, const ItmInterfaceEntry* entry)
{
    ItmMechanism* part = &x->mechanisms[entry->mechanism];
    *it = (ItmInterface){.name = strdup(entry->name),
                         .mechanism = entry->mechanism,
                         .frame = {.body = entry->body, .point = entry->point},
                         .directions = entry->directions,
                         .first = part->nbond + part->nframe,
                         .nrow = count_directions(entry->directions),
                         .bond = ITM_NONE};
    part->nframe += it->nrow;
}

static void create_bond(ItmCosim* x, int i, const ItmFrameBondDef* def, double* memory)
{
    ItmFrameBond* bond = &x->frame_bonds[i];
    ItmInterface *a = &x->interfaces[def->a], *b = &x->interfaces[def->b];
    char name[160];
    snprintf(name, sizeof name, "%s-%s", x->mechanisms[a->mechanism].name, a->name != NULL ? a->name : "");
    *bond = (ItmFrameBond){.name = strdup(name),
                           .options = def->options,
                           .a = def->a,
                           .b = def->b,
                           .n = a->nrow,
                           .memory = (ItmFrameMemory*)memory + i};
    a->bond = b->bond = i;
    if (x->options.is_monolithic) {
        bond->options = (ItmBondOptions){.coupling = ITM_COUPLING_RIM_NONSMOOTH, .exchange = ITM_EXCHANGE_IMPULSE};
    }
}

ItmStatus itm_frames_create(ItmCosim* x, const ItmCosimBuilder* b, ItmError* error)
{
    bool has_names = true;
    for (int i = 0; i < x->ninterface; i++) {
        create_interface(x, &x->interfaces[i], &b->interfaces.items[i]);
        has_names = has_names && x->interfaces[i].name != NULL;
    }
    double* memory = x->state + 1 + (size_t)x->nbond * sizeof(ItmBondMemory) / sizeof(double);
    for (int i = 0; i < x->nframe_bond; i++) {
        create_bond(x, i, &b->frame_bonds.items[i], memory);
        has_names = has_names && x->frame_bonds[i].name != NULL;
    }
    return has_names ? ITM_OK
                     : itm_error_set(error, ITM_ERR_MEMORY, "itm_cosim_build", NULL, "out of memory for interfaces");
}

void itm_frames_set_rows(const ItmCosim* x, ItmMechanism* part)
{
    for (int i = 0; i < x->ninterface; i++) {
        const ItmInterface* it = &x->interfaces[i];
        ItmRimFrame frame = it->frame;
        int row = it->first;
        for (int k = 0; k < ITM_DIRECTION_COUNT && part == &x->mechanisms[it->mechanism]; k++) {
            if (it->directions >> k & 1u) {
                frame.direction = (ItmDirection)k;
                itm_rim_set_frame(&part->rim, part->model, row++, &frame);
            }
        }
    }
}

void itm_frames_destroy(ItmCosim* x)
{
    for (int i = 0; i < x->ninterface; i++) {
        free(x->interfaces[i].name);
    }
    for (int i = 0; i < x->nframe_bond; i++) {
        free(x->frame_bonds[i].name);
    }
    free(x->interfaces);
    free(x->frame_bonds);
}

// ---------------------------------------------------------------------------- looking

int itm_cosim_get_frame_bond_count(const ItmCosim* x)
{
    ITM_GUARD(x != NULL, 0);
    return x->nframe_bond;
}

const char* itm_cosim_get_frame_bond_name(const ItmCosim* x, int bond)
{
    ITM_GUARD(x != NULL, NULL);
    return bond >= 0 && bond < x->nframe_bond ? x->frame_bonds[bond].name : NULL;
}

ItmFrameBondInfo itm_cosim_get_frame_bond_info(const ItmCosim* x, int bond)
{
    ITM_GUARD(x != NULL, (ItmFrameBondInfo){0});
    ItmFrameBondInfo info = {0};
    if (bond < 0 || bond >= x->nframe_bond) {
        return info;
    }
    const int ends[2] = {x->frame_bonds[bond].a, x->frame_bonds[bond].b};
    for (int i = 0; i < 2; i++) {
        const ItmInterface* it = &x->interfaces[ends[i]];
        const ItmMechanism* part = &x->mechanisms[it->mechanism];
        info.ends[i].mechanism = part->name;
        info.ends[i].interface = it->name;
        info.ends[i].body = it->frame.body == ITM_NONE ? "ground" : part->model->bodies[it->frame.body].name;
    }
    info.directions = x->interfaces[ends[0]].directions;
    return info;
}

ItmFrameBondState itm_cosim_get_frame_bond(const ItmCosim* x, int bond)
{
    ITM_GUARD(x != NULL, (ItmFrameBondState){0});
    ItmFrameBondState state = {0};
    if (bond >= 0 && bond < x->nframe_bond) {
        const ItmFrameBond* it = &x->frame_bonds[bond];
        memcpy(state.impulse, it->memory->impulse, sizeof state.impulse);
        state.drift = it->drift;
        state.turn = it->angle;
        state.slip = it->slip;
        const ItmExcess* gap = itm_verdict_get_excess(x, ITM_DOUBT_INTERFACE_GAP, bond);
        const ItmExcess* angle = itm_verdict_get_excess(x, ITM_DOUBT_INTERFACE_ANGLE, bond);
        state.largest_drift = gap->largest;
        state.drift_time = gap->largest_time;
        state.largest_turn = angle->largest;
        state.turn_time = angle->largest_time;
    }
    return state;
}

ItmRimNotes itm_cosim_get_rim_notes(const ItmCosim* x, int mechanism)
{
    ITM_GUARD(x != NULL, (ItmRimNotes){0});
    if (mechanism < 0 || mechanism >= x->nmechanism) {
        return (ItmRimNotes){0};
    }
    const ItmMechanism* part = &x->mechanisms[mechanism];
    return (ItmRimNotes){
        .switches = (long)*part->nswitch, .rank_losses = (long)*part->nlost, .renewals = (long)*part->nrenewal};
}
