// multibody: the world and, in the order in which they refer to one another, what is in it.
#include "io/model/reader.h"

#include "base/error.h"

#include <stdlib.h>
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
    POINTS,
    INTERFACES,
    STEP,  // this and the next of subsystems only
    TYPE,
    NKEY
};

static const char* const KEYS[NKEY] = {"name",    "gravity",    "coordinates", "materials", "material_pairs",
                                       "contact", "bodies",     "urdf",        "shapes",    "no_contact",
                                       "joints",  "couplings",  "motions",     "forces",    "events",
                                       "points",  "interfaces", "step",        "type"};

static void read_world(ItmReader* r, const ItmNode** v)
{
    static const char* const COORDINATES_WORDS[] = {"absolute", "joint"};
    ItmWorldDef world = itm_default_world_def();
    world.gravity = itm_reader_get_vec(r, v[GRAVITY], ITM_DIM_ACCELERATION, world.gravity);
    int word = itm_reader_get_word(r, v[COORDINATES], "a choice of coordinates", COORDINATES_WORDS, 2, 1);
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
    return itm_model_builder_find(builder, ITM_ELEMENT_SIGNAL, name, strlen(name));
}

static ItmStatus add_signal(void* builder, const ItmSignalDef* def, int* id, ItmError* error)
{
    return itm_model_builder_add_signal(builder, def, id, error);
}

// The mechanism gets all signals of the file, used or not; the file's own checks have passed them.
static void take_signals(ItmReader* r)
{
    r->taker = (ItmSignalTaker){r->builder, find_signal, add_signal};
    for (int i = 0; i < r->nsignal && r->status == ITM_OK; i++) {
        r->status = itm_model_builder_add_signal(r->builder, &r->signals[i].def, NULL, r->error);
    }
}

// ---------------------------------------------------------------------------- points and interfaces

// `P: {body: tool, point: [x, y, z]}`
static void read_point(ItmReader* r, const ItmItem* item)
{
    enum { BODY, POINT, NPOINT_KEY };
    static const char* const POINT_KEYS[NPOINT_KEY] = {"body", "point"};
    const ItmNode* v[NPOINT_KEY];
    itm_reader_get_map(r, item->value, "a point", POINT_KEYS, NPOINT_KEY, v);
    itm_reader_require(r, item->value, v[BODY], "a point", "body");
    ItmPointDef def = {.name = item->key->text, .body = itm_reader_get_body(r, v[BODY])};
    def.point = itm_reader_get_vec(r, v[POINT], ITM_DIM_LENGTH, def.point);
    if (r->status == ITM_OK) {
        const ItmBlame blames[] = {{"name", item->key}, {"body", v[BODY]}, {"point", v[POINT]}};
        itm_reader_take(r, itm_model_builder_add_point(r->builder, &def, NULL, r->error), item->key, blames,
                        ITM_COUNT(blames));
    }
}

static void read_points(ItmReader* r, const ItmNode* node)
{
    for (const ItmItem* item = itm_reader_is_collection(r, node, "points") ? node->first : NULL;
         item != NULL && r->status == ITM_OK; item = item->next) {
        read_point(r, item);
    }
}

static void fail_memory(ItmReader* r)
{
    r->status = itm_error_set(r->error, ITM_ERR_MEMORY, "itm_file_parse", NULL, "out of memory");
}

static void read_interface(ItmReader* r, const ItmItem* item, ItmFileInterface* it)
{
    enum { BODY, POINT, DIRECTIONS, NINTERFACE_KEY };
    static const char* const INTERFACE_KEYS[NINTERFACE_KEY] = {"body", "point", "directions"};
    const ItmNode* v[NINTERFACE_KEY];
    itm_reader_get_map(r, item->value, "an interface", INTERFACE_KEYS, NINTERFACE_KEY, v);
    itm_reader_require(r, item->value, v[BODY], "an interface", "body");
    itm_reader_check_name(r, item->key);
    int body = itm_reader_get_body(r, v[BODY]);
    it->point = itm_reader_get_vec(r, v[POINT], ITM_DIM_LENGTH, it->point);
    it->directions =
        v[DIRECTIONS] != NULL ? itm_reader_get_directions(r, v[DIRECTIONS]) : itm_default_interface_def().directions;
    if (r->status == ITM_OK && it->directions == 0) {
        itm_reader_fail(r, v[DIRECTIONS], "an interface needs a direction, as in [tx, ty, tz]");
    }
    if (r->status == ITM_OK && body == ITM_GROUND) {
        itm_reader_fail(r, v[BODY], "an interface is on a body that can move, not on the ground");
    }
    if (r->status == ITM_OK) {
        it->name = strdup(item->key->text);
        it->body = strdup(r->builder->bodies.items[body].name);
        it->place = itm_reader_get_place(r, item->key);
        if (it->name == NULL || it->body == NULL) {
            fail_memory(r);
        }
    }
}

static void read_interfaces(ItmReader* r, const ItmNode* node, ItmFileMechanism* mechanism)
{
    if (node == NULL || !itm_reader_is_collection(r, node, "interfaces")) {
        return;
    }
    mechanism->interfaces = calloc((size_t)node->count + 1, sizeof *mechanism->interfaces);
    if (mechanism->interfaces == NULL) {
        fail_memory(r);
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        read_interface(r, item, &mechanism->interfaces[mechanism->ninterface++]);
    }
}

// ---------------------------------------------------------------------------- mechanisms

static void read_parts(ItmReader* r, const ItmNode* node, const ItmNode** v, ItmFileMechanism* mechanism)
{
    take_signals(r);
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
    read_points(r, v[POINTS]);
    read_interfaces(r, v[INTERFACES], mechanism);
}

// Room for one more mechanism, with a builder that is the reader's from now on. NULL after a complaint.
static ItmFileMechanism* add_mechanism(ItmReader* r, const ItmNode* node)
{
    ItmModelFile* file = r->file;
    ItmFileParts* parts = r->parts;
    ItmFileMechanism* moved = realloc(file->mechanisms, ((size_t)file->nmechanism + 1) * sizeof *moved);
    file->mechanisms = moved != NULL ? moved : file->mechanisms;
    ItmMechanismPart* part = realloc(parts->mechanisms, ((size_t)parts->nmechanism + 1) * sizeof *part);
    parts->mechanisms = part != NULL ? part : parts->mechanisms;
    if (moved == NULL || part == NULL) {
        fail_memory(r);
        return NULL;
    }
    r->status = itm_model_builder_create(&r->builder, NULL, r->error);
    if (r->status != ITM_OK) {
        return NULL;
    }
    parts->mechanisms[parts->nmechanism++] = (ItmMechanismPart){r->builder, node};
    file->mechanisms[file->nmechanism] = (ItmFileMechanism){0};
    return &file->mechanisms[file->nmechanism++];
}

static void set_name(ItmReader* r, ItmFileMechanism* mechanism, const char* name)
{
    mechanism->name = strdup(name);
    if (mechanism->name == NULL && r->status == ITM_OK) {
        fail_memory(r);
    }
}

void itm_read_multibody(ItmReader* r, const ItmNode* node)
{
    const ItmNode* v[NKEY] = {NULL};
    ItmFileMechanism* mechanism = r->status == ITM_OK && node != NULL ? add_mechanism(r, node) : NULL;
    if (mechanism == NULL) {
        return;
    }
    itm_reader_get_map(r, node, "multibody", KEYS, STEP, v);
    read_name(r, v[NAME], &r->file->name);
    r->mechanism = r->file->name;
    set_name(r, mechanism, r->file->name != NULL ? r->file->name : "");
    read_parts(r, node, v, mechanism);
}

void itm_read_mechanism(ItmReader* r, const ItmItem* item)
{
    const ItmNode* v[NKEY] = {NULL};
    ItmModelBuilder* before = r->builder;
    const char* name_before = r->mechanism;
    ItmFileMechanism* mechanism = r->status == ITM_OK ? add_mechanism(r, item->value) : NULL;
    if (mechanism == NULL) {
        return;
    }
    itm_reader_get_map(r, item->value, "a multibody subsystem", KEYS + GRAVITY, NKEY - GRAVITY, v + GRAVITY);
    set_name(r, mechanism, item->key->text);
    r->mechanism = item->key->text;
    mechanism->step = itm_reader_get_real(r, v[STEP], ITM_DIM_TIME, 0.0);
    if (r->status == ITM_OK && v[STEP] != NULL && !(mechanism->step > 0.0)) {
        itm_reader_fail(r, v[STEP], "step must be positive, got %g", mechanism->step);
    }
    read_parts(r, item->value, v, mechanism);
    r->builder = before != NULL ? before : r->builder;
    r->mechanism = before != NULL ? name_before : r->mechanism;
}
