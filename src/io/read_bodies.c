// multibody.bodies
#include "io/reader.h"

#include "math/vec.h"

enum {
    MASS,
    COM,
    INERTIA,
    SHAPE,
    DENSITY,
    POSITION,
    ORIENTATION,
    VELOCITY,
    ANGULAR_VELOCITY,
    NKEY
};

static const char* const KEYS[NKEY] = {"mass",        "com",      "inertia",
                                       "shape",       "density",  "position",
                                       "orientation", "velocity", "angular_velocity"};

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

// ---------------------------------------------------------------------------- shapes

static void read_box(ItmReader* r, const ItmNode* node, ItmShapeDef* shape)
{
    ItmVec3 size = itm_reader_get_vec(r, node, ITM_DIM_LENGTH, itm_vec(1, 1, 1));
    shape->size[0] = size.x;
    shape->size[1] = size.y;
    shape->size[2] = size.z;
}

static void read_round(ItmReader* r, const ItmNode* node, ItmShapeDef* shape)
{
    static const char* const SIZES[] = {"radius", "length"};
    const ItmNode* v[2];
    itm_reader_get_map(r, node, "a cylinder or capsule", SIZES, 2, v);
    for (int i = 0; i < 2; i++) {
        itm_reader_require(r, node, v[i], "a cylinder or capsule", SIZES[i]);
        shape->size[i] = itm_reader_get_real(r, v[i], ITM_DIM_LENGTH, 1.0);
    }
}

// Returns the node of the size, for complaints about it.
static const ItmNode* get_shape(ItmReader* r, const ItmNode* node, ItmShapeDef* shape)
{
    enum { BOX, SPHERE, CYLINDER, CAPSULE, SHAPE_POSITION, SHAPE_ORIENTATION, NSHAPEKEY };
    static const char* const SHAPE_KEYS[NSHAPEKEY] = {"box",     "sphere",   "cylinder",
                                                      "capsule", "position", "orientation"};
    static const ItmShapeKind KINDS[] = {ITM_SHAPE_BOX, ITM_SHAPE_SPHERE, ITM_SHAPE_CYLINDER,
                                         ITM_SHAPE_CAPSULE};
    const ItmNode* v[NSHAPEKEY];
    itm_reader_get_map(r, node, "a shape", SHAPE_KEYS, NSHAPEKEY, v);
    const ItmNode* size = NULL;
    for (int i = BOX; i <= CAPSULE; i++) {
        if (v[i] != NULL && size != NULL) {
            itm_reader_fail(r, v[i], "a body has one shape: box, sphere, cylinder or capsule");
        }
        if (v[i] != NULL) {
            shape->kind = KINDS[i];
            size = v[i];
        }
    }
    if (size == NULL) {
        itm_reader_fail(r, node, "a shape needs one of box, sphere, cylinder or capsule");
    } else if (shape->kind == ITM_SHAPE_BOX) {
        read_box(r, size, shape);
    } else if (shape->kind == ITM_SHAPE_SPHERE) {
        shape->size[0] = itm_reader_get_real(r, size, ITM_DIM_LENGTH, 1.0);
    } else {
        read_round(r, size, shape);
    }
    shape->pose.p = itm_reader_get_vec(r, v[SHAPE_POSITION], ITM_DIM_LENGTH, itm_vec(0, 0, 0));
    shape->pose.q = itm_reader_get_orientation(r, v[SHAPE_ORIENTATION]);
    return size;
}

// ---------------------------------------------------------------------------- mass

static void scale_inertia(ItmSym3* I, double factor)
{
    *I = (ItmSym3){factor * I->xx, factor * I->yy, factor * I->zz,
                   factor * I->xy, factor * I->xz, factor * I->yz};
}

// Mass, centre of mass and inertia of the shape, of the given density or the given mass.
static void read_shape_mass(ItmReader* r, const ItmNode* node, const ItmNode** v, ItmBodyDef* def)
{
    if (v[COM] != NULL || v[INERTIA] != NULL) {
        itm_reader_fail(r, v[COM] != NULL ? v[COM] : v[INERTIA],
                        "com and inertia follow from the shape: give them without a shape only");
    }
    if ((v[MASS] != NULL) == (v[DENSITY] != NULL)) {
        itm_reader_fail(r, v[DENSITY] != NULL ? v[DENSITY] : node,
                        "a body with a shape needs mass or density%s",
                        v[MASS] != NULL ? ", not both" : "");
    }
    ItmShapeDef shape = {.pose = itm_pose_identity()};
    const ItmNode* size = get_shape(r, v[SHAPE], &shape);
    double density = itm_reader_get_real(r, v[DENSITY], ITM_DIM_DENSITY, 1.0);
    double mass = itm_reader_get_real(r, v[MASS], ITM_DIM_MASS, 1.0);
    if (r->status != ITM_OK) {
        return;
    }
    ItmStatus status =
        itm_shape_compute_mass(&def->mass, &def->com, &def->inertia, &shape, density, r->error);
    const ItmBlame blames[] = {{"density", v[DENSITY]}, {"size", size}};
    itm_reader_take(r, status, v[SHAPE], blames, ITM_COUNT(blames));
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

// ---------------------------------------------------------------------------- bodies

static void read_body(ItmReader* r, const ItmItem* item)
{
    const ItmNode* v[NKEY];
    ItmBodyDef def = itm_default_body_def();
    def.name = item->key->text;
    itm_reader_get_map(r, item->value, "a body", KEYS, NKEY, v);
    if (v[SHAPE] != NULL) {
        read_shape_mass(r, item->key, v, &def);
    } else {
        read_mass(r, item->key, v, &def);
    }
    def.has_pose = v[POSITION] != NULL || v[ORIENTATION] != NULL;
    def.pose.p = itm_reader_get_vec(r, v[POSITION], ITM_DIM_LENGTH, itm_vec(0, 0, 0));
    def.pose.q = itm_reader_get_orientation(r, v[ORIENTATION]);
    def.velocity = itm_reader_get_vec(r, v[VELOCITY], ITM_DIM_VELOCITY, itm_vec(0, 0, 0));
    def.angular_velocity =
        itm_reader_get_vec(r, v[ANGULAR_VELOCITY], ITM_DIM_FREQUENCY, itm_vec(0, 0, 0));
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
    ItmStatus status = itm_builder_add_body(r->builder, &def, NULL, r->error);
    itm_reader_take(r, status, item->key, blames, ITM_COUNT(blames));
}

void itm_read_bodies(ItmReader* r, const ItmNode* node)
{
    if (!itm_reader_is_collection(r, node, "bodies")) {
        return;
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK;
         item = item->next) {
        read_body(r, item);
    }
}
