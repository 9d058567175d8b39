// multibody: the world and, in the order in which they refer to one another, what is in it.
#include "io/reader.h"

#include "base/error.h"

#include <string.h>

enum {
    NAME,
    GRAVITY,
    COORDINATES,
    MATERIALS,
    MATERIAL_PAIRS,
    CONTACT,
    BODIES,
    URDF,
    SHAPES,
    NO_CONTACT,
    JOINTS,
    COUPLINGS,
    MOTIONS,
    FORCES,
    EVENTS,
    NKEY
};

static const char* const KEYS[NKEY] = {
    "name",       "gravity", "coordinates", "materials", "material_pairs", "contact", "bodies", "urdf", "shapes",
    "no_contact", "joints",  "couplings",   "motions",   "forces",         "events"};

static void read_world(ItmReader* r, const ItmNode** v)
{
    static const char* const COORDINATES_WORDS[] = {"absolute", "joint"};
    ItmWorldDef world = itm_default_world_def();
    world.gravity = itm_reader_get_vec(r, v[GRAVITY], ITM_DIM_ACCELERATION, world.gravity);
    int word =
        itm_reader_get_word(r, v[COORDINATES], "a choice of coordinates", COORDINATES_WORDS, 2, 1);
    world.coordinates = word == 0 ? ITM_COORDINATES_ABSOLUTE : ITM_COORDINATES_JOINT;
    if (r->status == ITM_OK) {
        r->builder->world = world;
    }
}

static void read_name(ItmReader* r, const ItmNode* node, char** name)
{
    const char* text = itm_reader_get_text(r, node, "a name");
    if (text == NULL) {
        return;
    }
    itm_reader_check_name(r, node);
    if (r->status != ITM_OK) {
        return;
    }
    *name = strdup(text);
    if (*name == NULL) {
        r->status = itm_error_set(r->error, ITM_ERR_MEMORY, __func__, NULL, "out of memory");
    }
}

static int find_signal(const void* builder, const char* name)
{
    return itm_builder_find(builder, ITM_ELEMENT_SIGNAL, name, strlen(name));
}

static ItmStatus add_signal(void* builder, const ItmSignalDef* def, int* id, ItmError* error)
{
    return itm_builder_add_signal(builder, def, id, error);
}

// The mechanism gets all signals of the file, used or not; the file's own checks have passed them.
static void take_signals(ItmReader* r)
{
    r->taker = (ItmSignalTaker){r->builder, find_signal, add_signal};
    for (int i = 0; i < r->nsignal && r->status == ITM_OK; i++) {
        r->status = itm_builder_add_signal(r->builder, &r->signals[i].def, NULL, r->error);
    }
}

void itm_read_multibody(ItmReader* r, const ItmNode* node, char** name)
{
    const ItmNode* v[NKEY];
    if (r->status != ITM_OK || node == NULL) {
        return;
    }
    r->status = itm_builder_create(&r->builder, NULL, r->error);
    if (r->status != ITM_OK) {
        return;
    }
    take_signals(r);
    itm_reader_get_map(r, node, "multibody", KEYS, NKEY, v);
    read_name(r, v[NAME], name);
    read_world(r, v);
    itm_read_materials(r, v[MATERIALS]);
    itm_read_material_pairs(r, v[MATERIAL_PAIRS]);
    itm_read_contact(r, v[CONTACT]);
    itm_read_bodies(r, v[BODIES]);
    itm_read_urdf(r, v[URDF]);
    itm_read_shapes(r, v[SHAPES]);
    itm_read_no_contact(r, v[NO_CONTACT]);
    itm_read_joints(r, v[JOINTS]);
    itm_read_couplings(r, v[COUPLINGS]);
    itm_read_motions(r, v[MOTIONS]);
    itm_read_forces(r, v[FORCES]);
    itm_read_events(r, v[EVENTS]);
    if (r->status == ITM_OK && r->builder->bodies.count == 0) {
        itm_reader_fail(r, v[BODIES] != NULL ? v[BODIES] : node, "there are no bodies%s",
                        v[URDF] != NULL ? " that could move: 'base: free' in urdf lets the robot go" : "");
    }
}
