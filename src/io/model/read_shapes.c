// multibody.shapes, and the shape of a body: what collides, and what a homogeneous solid weighs.
#include "io/model/read_shape.h"

#include "contact/contact.h"
#include "math/vec.h"

#include <stdlib.h>
#include <string.h>

enum {
    NKIND = ITM_COLLIDER_KIND_COUNT,
    POSITION = NKIND,
    ORIENTATION,
    MATERIAL,
    GROUP,
    COLLIDES_WITH,
    COLLIDE,
    COLOR,
    OWNER,  // last, because only under `shapes`
    NKEY
};

void itm_read_free_shape_text(ItmShapeText* shape)
{
    itm_mesh_free(&shape->mesh);
    free(shape->heights);
    shape->heights = NULL;
}

// ---------------------------------------------------------------------------- one shape

static void get_kind(ItmReader* r, const ItmNode* node, const ItmNode** v, ItmShapeText* shape)
{
    static const char* const ALL = "box, sphere, cylinder, capsule, hull, mesh, plane or heights";
    int kind = ITM_NONE;
    for (int i = 0; i < NKIND; i++) {
        if (v[i] != NULL && kind != ITM_NONE) {
            itm_reader_fail(r, v[i], "a shape is one of %s, not two", ALL);
        }
        kind = v[i] != NULL ? i : kind;
    }
    if (kind == ITM_NONE) {
        itm_reader_fail(r, node, "a shape needs one of %s", ALL);
    }
    if (r->status == ITM_OK) {
        itm_read_shape_kind(r, v[kind], (ItmColliderKind)kind, shape);
    }
}

// A colour of reports: a word, or "#rrggbb". ITM_NONE: none given.
static int get_color(ItmReader* r, const ItmNode* node)
{
    static const char* const COLOR_NAMES[] = {"black", "blue",   "brown", "gray",  "green", "orange",
                                              "pink",  "purple", "red",   "white", "yellow"};
    static const int COLORS[] = {0x202428, 0x2563eb, 0x8a5a2b, 0x8b95a1, 0x2f9e44, 0xe8740c,
                                 0xd6478f, 0x7c3aed, 0xd63a3a, 0xf4f6f8, 0xf2c200};
    if (node == NULL) {
        return ITM_NONE;
    }
    const char* text = itm_reader_get_text(r, node, "a colour");
    if (text == NULL || text[0] != '#') {
        int k = itm_reader_get_word(r, node, "a colour", COLOR_NAMES, ITM_COUNT(COLOR_NAMES), 0);
        return k == ITM_NONE ? ITM_NONE : COLORS[k];
    }
    if (strlen(text) != 7 || strspn(text + 1, "0123456789abcdefABCDEF") != 6) {
        itm_reader_fail(r, node, "'%s' is not a colour; write '#rrggbb' with six hexadecimal digits, or a word", text);
        return ITM_NONE;
    }
    return (int)strtol(text + 1, NULL, 16);
}

void itm_read_shape(ItmReader* r, const ItmNode* node, bool is_of_body, ItmShapeText* shape)
{
    const char* keys[NKEY];
    const ItmNode* v[NKEY];
    memcpy(keys, itm_shape_kind_keys, sizeof itm_shape_kind_keys);
    keys[POSITION] = "position";
    keys[ORIENTATION] = "orientation";
    keys[MATERIAL] = "material";
    keys[GROUP] = "group";
    keys[COLLIDES_WITH] = "collides_with";
    keys[COLLIDE] = "collide";
    keys[COLOR] = "color";
    keys[OWNER] = "body";
    *shape = (ItmShapeText){.def = itm_default_collider_def()};
    itm_reader_get_map(r, node, "a shape", keys, is_of_body ? OWNER : NKEY, v);
    shape->body = is_of_body ? NULL : v[OWNER];
    shape->collides = itm_reader_get_bool(r, v[COLLIDE], !is_of_body);
    shape->position = v[POSITION];
    shape->orientation = v[ORIENTATION];
    shape->material = v[MATERIAL];
    shape->def.pose.p = itm_reader_get_vec(r, v[POSITION], ITM_DIM_LENGTH, itm_vec(0, 0, 0));
    shape->def.pose.q = itm_reader_get_orientation(r, v[ORIENTATION]);
    get_kind(r, node, v, shape);
    shape->def.material = itm_reader_get_material(r, v[MATERIAL]);
    shape->def.group = itm_reader_get_groups(r, v[GROUP], shape->def.group);
    shape->def.mask = itm_reader_get_groups(r, v[COLLIDES_WITH], shape->def.mask);
    shape->def.color = get_color(r, v[COLOR]);
    if (!shape->collides && v[MATERIAL] != NULL) {
        itm_reader_fail(r, v[MATERIAL], "a material needs 'collide: true'");
    }
}

void itm_read_add_shape(ItmReader* r, const ItmNode* whole, const char* name, int body, ItmShapeText* shape)
{
    if (r->status != ITM_OK) {
        return;
    }
    shape->def.name = name;
    shape->def.body = body;
    const ItmBlame blames[] = {
        {"body", shape->body},    {"size", shape->kind},     {"vertices", shape->kind},     {"triangles", shape->kind},
        {"heights", shape->kind}, {"pose", shape->position}, {"material", shape->material},
    };
    ItmStatus status = shape->collides ? itm_model_builder_add_collider(r->builder, &shape->def, NULL, r->error)
                                       : itm_model_builder_add_visual(r->builder, &shape->def, r->error);
    itm_reader_take(r, status, whole, blames, ITM_COUNT(blames));
}

// ---------------------------------------------------------------------------- mass

// Of a convex hull or a closed mesh: its own integrals, turned into the frame of the body.
static ItmStatus compute_geom_mass(const ItmColliderDef* def, double density, ItmBodyDef* body, ItmError* error)
{
    ItmGeom* geom = NULL;
    ItmStatus status = itm_contact_create_geom(&geom, def, error);
    if (status == ITM_OK) {
        status = itm_geom_compute_mass(&body->mass, &body->com, &body->inertia, geom, density, error);
    }
    itm_geom_destroy(geom);
    if (status == ITM_OK) {
        ItmMat3 R = itm_quat_to_mat(def->pose.q);
        body->com = itm_vec_add(def->pose.p, itm_mat_mul_vec(&R, body->com));
        body->inertia = itm_sym_rotate(&R, &body->inertia);
    }
    return status;
}

void itm_read_shape_mass(ItmReader* r, const ItmShapeText* shape, const ItmNode* density, ItmBodyDef* body)
{
    double rho = itm_reader_get_real(r, density, ITM_DIM_DENSITY, 1.0);
    if (r->status != ITM_OK) {
        return;
    }
    const ItmColliderDef* def = &shape->def;
    ItmStatus status;
    if (def->kind == ITM_COLLIDER_PLANE || def->kind == ITM_COLLIDER_HEIGHTS) {
        itm_reader_fail(r, shape->kind, "%s enclose no volume: a body needs a solid for its mass",
                        def->kind == ITM_COLLIDER_PLANE ? "planes" : "heights");
        return;
    }
    if (def->kind <= ITM_COLLIDER_CAPSULE) {
        ItmShapeDef solid = {
            .kind = (ItmShapeKind)def->kind, .size = {def->size[0], def->size[1], def->size[2]}, .pose = def->pose};
        status = itm_shape_compute_mass(&body->mass, &body->com, &body->inertia, &solid, rho, r->error);
    } else {
        status = compute_geom_mass(def, rho, body, r->error);
    }
    const ItmBlame blames[] = {{"density", density}};
    itm_reader_take(r, status, shape->kind, blames, ITM_COUNT(blames));
}

// ---------------------------------------------------------------------------- shapes

static void read_shape(ItmReader* r, const ItmItem* item)
{
    ItmShapeText shape;
    itm_read_shape(r, item->value, false, &shape);
    itm_reader_require(r, item->key, shape.body, "a shape", "body");
    int body = itm_reader_get_body(r, shape.body);
    itm_read_add_shape(r, item->key, item->key->text, body, &shape);
    itm_read_free_shape_text(&shape);
}

void itm_read_shapes(ItmReader* r, const ItmNode* node)
{
    if (!itm_reader_is_collection(r, node, "shapes")) {
        return;
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        read_shape(r, item);
    }
}
