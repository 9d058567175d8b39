// multibody.bodies
#include "io/model/read_shape.h"

#include "math/vec.h"

#include <stdio.h>

enum { MASS, COM, INERTIA, SHAPE, DENSITY, POSITION, ORIENTATION, VELOCITY, ANGULAR_VELOCITY, FLEXIBLE, NKEY };

static const char* const KEYS[NKEY] = {"mass",        "com",      "inertia",          "shape",   "density", "position",
                                       "orientation", "velocity", "angular_velocity", "flexible"};

// ---------------------------------------------------------------------------- inertia

// [xx, yy, zz] or {xx, yy, zz, xy, xz, yz}
static ItmSym3 get_inertia(ItmReader* r, const ItmNode* node)
{
    if (node->kind != ITM_NODE_MAP) {
        ItmVec3 diagonal = itm_reader_get_vec(r, node, ITM_DIM_INERTIA, itm_vec(1, 1, 1));
        return (ItmSym3){.xx = diagonal.x, .yy = diagonal.y, .zz = diagonal.z};
    }
    static const char* const ELEMENTS[6] = {"xx", "yy", "zz", "xy", "xz", "yz"};
    const ItmNode* v[6];
    double value[6];
    itm_reader_get_map(r, node, "an inertia", ELEMENTS, 6, v);
    for (int i = 0; i < 6; i++) {
        if (i < 3) {
            itm_reader_require(r, node, v[i], "an inertia", ELEMENTS[i]);
        }
        value[i] = itm_reader_get_real(r, v[i], ITM_DIM_INERTIA, 0.0);
    }
    return (ItmSym3){value[0], value[1], value[2], value[3], value[4], value[5]};
}

// ---------------------------------------------------------------------------- mass

static void scale_inertia(ItmSym3* I, double factor)
{
    *I = (ItmSym3){factor * I->xx, factor * I->yy, factor * I->zz, factor * I->xy, factor * I->xz, factor * I->yz};
}

// Mass, centre of mass and inertia of the shape, of the given density or the given mass.
static void read_shape_mass(ItmReader* r, const ItmNode* node, const ItmNode** v, ItmBodyDef* def, ItmShapeText* shape)
{
    if (v[COM] != NULL || v[INERTIA] != NULL) {
        itm_reader_fail(r, v[COM] != NULL ? v[COM] : v[INERTIA],
                        "com and inertia follow from the shape: give them without a shape only");
    }
    if ((v[MASS] != NULL) == (v[DENSITY] != NULL)) {
        itm_reader_fail(r, v[DENSITY] != NULL ? v[DENSITY] : node, "a body with a shape needs mass or density%s",
                        v[MASS] != NULL ? ", not both" : "");
    }
    itm_read_shape(r, v[SHAPE], true, shape);
    double mass = itm_reader_get_real(r, v[MASS], ITM_DIM_MASS, 1.0);
    itm_read_shape_mass(r, shape, v[DENSITY], def);
    if (r->status == ITM_OK && v[MASS] != NULL) {
        scale_inertia(&def->inertia, mass / def->mass);
        def->mass = mass;
    }
}

static void read_mass(ItmReader* r, const ItmNode* node, const ItmNode** v, ItmBodyDef* def)
{
    if (v[DENSITY] != NULL) {
        itm_reader_fail(r, v[DENSITY], "a density needs a shape");
    }
    itm_reader_require(r, node, v[MASS], "a body without shape", "mass");
    itm_reader_require(r, node, v[INERTIA], "a body without shape", "inertia");
    if (r->status != ITM_OK) {
        return;
    }
    def->mass = itm_reader_get_real(r, v[MASS], ITM_DIM_MASS, 1.0);
    def->com = itm_reader_get_vec(r, v[COM], ITM_DIM_LENGTH, itm_vec(0, 0, 0));
    def->inertia = get_inertia(r, v[INERTIA]);
}

// Mass and inertia of a flexible body follow from what it is made of.
static void refuse_mass(ItmReader* r, const ItmNode** v)
{
    for (int k = MASS; k <= DENSITY; k++) {
        if (v[k] != NULL) {
            itm_reader_fail(r, v[k], "%s does not go with 'flexible', which gives mass and inertia%s", KEYS[k],
                            k == SHAPE ? "; put shapes for contact under 'shapes'" : "");
        }
    }
}

// ---------------------------------------------------------------------------- bodies

// The shape of a body is seen, and collides where it is marked so, as "body-shape".
static void add_own_shape(ItmReader* r, const ItmItem* item, int body, ItmShapeText* shape)
{
    char name[256];
    snprintf(name, sizeof name, "%s-shape", item->key->text);
    itm_read_add_shape(r, shape->kind, name, body, shape);
}

static void add_body(ItmReader* r, const ItmItem* item, const ItmNode** v, const ItmBodyDef* def, int* id)
{
    if (r->status != ITM_OK) {
        return;
    }
    const ItmBlame blames[] = {
        {"name", item->key},
        {"mass", v[MASS] != NULL ? v[MASS] : v[SHAPE]},
        {"com", v[COM]},
        {"inertia", v[INERTIA] != NULL ? v[INERTIA] : v[SHAPE]},
        {"pose", v[POSITION]},
        {"velocity", v[VELOCITY]},
        {"angular_velocity", v[ANGULAR_VELOCITY]},
    };
    ItmStatus status = itm_model_builder_add_body(r->builder, def, id, r->error);
    itm_reader_take(r, status, item->key, blames, ITM_COUNT(blames));
}

static void read_body(ItmReader* r, const ItmItem* item)
{
    const ItmNode* v[NKEY];
    ItmShapeText shape = {0};
    ItmBodyDef def = itm_default_body_def();
    def.name = item->key->text;
    itm_reader_get_map(r, item->value, "a body", KEYS, NKEY, v);
    if (v[FLEXIBLE] != NULL) {
        refuse_mass(r, v);
    } else if (v[SHAPE] != NULL) {
        read_shape_mass(r, item->key, v, &def, &shape);
    } else {
        read_mass(r, item->key, v, &def);
    }
    def.has_pose = v[POSITION] != NULL || v[ORIENTATION] != NULL;
    def.pose.p = itm_reader_get_vec(r, v[POSITION], ITM_DIM_LENGTH, itm_vec(0, 0, 0));
    def.pose.q = itm_reader_get_orientation(r, v[ORIENTATION]);
    def.velocity = itm_reader_get_vec(r, v[VELOCITY], ITM_DIM_VELOCITY, itm_vec(0, 0, 0));
    def.angular_velocity = itm_reader_get_vec(r, v[ANGULAR_VELOCITY], ITM_DIM_FREQUENCY, itm_vec(0, 0, 0));
    int body = ITM_NONE;
    add_body(r, item, v, &def, &body);
    if (v[FLEXIBLE] != NULL) {
        itm_read_flexible(r, v[FLEXIBLE], body);
    }
    if (v[SHAPE] != NULL) {
        add_own_shape(r, item, body, &shape);
    }
    itm_read_free_shape_text(&shape);
}

void itm_read_bodies(ItmReader* r, const ItmNode* node)
{
    if (!itm_reader_is_collection(r, node, "bodies")) {
        return;
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        read_body(r, item);
    }
}
