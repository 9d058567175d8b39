// Shapes and materials compiled, and itm_model_build, which puts a whole model together.
#include "contact/contact.h"

#include "base/error.h"
#include "multibody/compile.h"
#include "multibody/model_output.h"

#include <stdlib.h>
#include <string.h>

#define CONTACTS_PER_SHAPE 16  // capacity by default: a brick in a wall touches its neighbours at about ten points
#define LEAST_CONTACTS 64

// ---------------------------------------------------------------------------- shapes

ItmStatus itm_contact_create_geom(ItmGeom** geom, const ItmColliderDef* def, ItmError* error)
{
    const double* s = def->size;
    switch (def->kind) {
    case ITM_COLLIDER_BOX:
        return itm_geom_create_box(geom, s, error);
    case ITM_COLLIDER_SPHERE:
        return itm_geom_create_sphere(geom, s[0], error);
    case ITM_COLLIDER_CYLINDER:
        return itm_geom_create_cylinder(geom, s[0], s[1], error);
    case ITM_COLLIDER_CAPSULE:
        return itm_geom_create_capsule(geom, s[0], s[1], error);
    case ITM_COLLIDER_PLANE:
        return itm_geom_create_plane(geom, error);
    case ITM_COLLIDER_HULL:
        return itm_geom_create_hull(geom, def->vertices, def->nvertex, error);
    case ITM_COLLIDER_MESH:
        return itm_geom_create_mesh(geom, def->vertices, def->nvertex, def->triangles, def->ntriangle, error);
    default:
        return itm_geom_create_field(geom, def->nx, def->ny, s[0] / (def->nx - 1), s[1] / (def->ny - 1), def->heights,
                                     error);
    }
}

// The same with complaints that name the shape.
static ItmStatus create_named_geom(ItmGeom** geom, const ItmColliderDef* def, const char* name, ItmError* error)
{
    ItmError why = {0};
    ItmStatus status = itm_contact_create_geom(geom, def, &why);
    return status == ITM_OK ? ITM_OK
                            : itm_error_set(error, status, why.function, name, "shape '%s': %s", name, why.message);
}

// A height field starts at its frame's origin inside; users centre it.
static ItmVec3 geom_offset(const ItmColliderDef* def)
{
    return def->kind == ITM_COLLIDER_HEIGHTS ? itm_vec(-0.5 * def->size[0], -0.5 * def->size[1], 0.0)
                                             : itm_vec(0, 0, 0);
}

// The user's body that a body is part of; the world is its own.
static int owner_of(const ItmModel* m, int body)
{
    return body == ITM_NONE ? ITM_NONE : m->bodies[body].owner;
}

// Whether two definitions have the same shape, which its sizes alone describe.
static bool is_same_shape(const ItmColliderDef* a, const ItmColliderDef* b)
{
    bool is_simple = a->kind == ITM_COLLIDER_BOX || a->kind == ITM_COLLIDER_SPHERE ||
                     a->kind == ITM_COLLIDER_CYLINDER || a->kind == ITM_COLLIDER_CAPSULE;
    return is_simple && a->kind == b->kind && memcmp(a->size, b->size, sizeof a->size) == 0;
}

// A shape of a definition with this name. Many bricks in a row share one: memory near the processor holds few.
static ItmStatus build_shape(ItmModel* m, const ItmModelBuilder* b, ItmCollider* c, const ItmColliderDef* def,
                             const char* name, bool is_first, ItmError* error)
{
    ItmAttachment at = itm_flexible_attach(m, b, def->body, def->pose.p);
    *c = (ItmCollider){
        .name = itm_model_take_string(m, name),
        .body = at.body,
        .owner = owner_of(m, at.body),
        .user_id = def->body,
        .frame = {def->pose.p, itm_quat_to_mat(def->pose.q)},
        .material = def->material == ITM_NONE ? 0 : def->material + 1,
        .group = def->group,
        .mask = def->mask,
        .color = def->color,
    };
    c->frame.p = itm_vec_add(c->frame.p, itm_mat_mul_vec(&c->frame.R, geom_offset(def)));
    c->frame.p = itm_vec_sub(c->frame.p, at.origin);
    if (c->name == NULL) {
        return ITM_ERR_MEMORY;
    }
    c->is_shared = !is_first && is_same_shape(def - 1, def);
    if (c->is_shared) {
        c->geom = (c - 1)->geom;
        return ITM_OK;
    }
    return create_named_geom(&c->geom, def, name, error);
}

static ItmStatus build_colliders(ItmModel* m, ItmContactModel* contact, const ItmModelBuilder* b, ItmError* error)
{
    contact->colliders = itm_model_take(m, (size_t)b->colliders.count, sizeof(ItmCollider));
    if (contact->colliders == NULL) {
        return ITM_ERR_MEMORY;
    }
    ItmStatus status = ITM_OK;
    for (int i = 0; i < b->colliders.count && status == ITM_OK; i++) {
        const ItmColliderDef* def = &b->colliders.items[i];
        ItmCollider* c = &contact->colliders[contact->ncollider++];
        status = build_shape(m, b, c, def, def->name, i == 0, error);
        if (c->owner != ITM_NONE) {
            m->bodies[c->owner].has_shape = true;
        }
    }
    return status;
}

// Shapes to look at are named after their bodies.
static ItmStatus build_visuals(ItmModel* m, const ItmModelBuilder* b, ItmError* error)
{
    m->visuals = itm_model_take(m, (size_t)b->visuals.count, sizeof(ItmCollider));
    if (m->visuals == NULL) {
        return ITM_ERR_MEMORY;
    }
    ItmStatus status = ITM_OK;
    for (int i = 0; i < b->visuals.count && status == ITM_OK; i++) {
        const ItmColliderDef* def = &b->visuals.items[i];
        const char* name = def->body == ITM_GROUND ? "ground" : m->bodies[m->body_index[def->body]].name;
        status = build_shape(m, b, &m->visuals[m->nvisual++], def, name, i == 0, error);
    }
    return status;
}

static ItmStatus build_gaps(ItmModel* m, ItmContactModel* contact, const ItmModelBuilder* b)
{
    contact->gaps = itm_model_take(m, (size_t)b->gaps.count, sizeof(ItmGap));
    if (contact->gaps == NULL) {
        return ITM_ERR_MEMORY;
    }
    for (int i = 0; i < b->gaps.count; i++) {
        const ItmGapDef* def = &b->gaps.items[i];
        ItmGap* gap = &contact->gaps[contact->ngap++];
        *gap = (ItmGap){
            .name = itm_model_take_string(m, def->name),
            .body_a = def->body_a == ITM_GROUND ? ITM_NONE : m->body_index[def->body_a],
            .body_b = def->body_b == ITM_GROUND ? ITM_NONE : m->body_index[def->body_b],
            .user_a = def->body_a,
            .user_b = def->body_b,
            .function = def->function,
            .context = def->context,
            .max_points = def->max_points,
            .surface = def->surface,
        };
        int ends[2] = {gap->body_a, gap->body_b};
        for (int k = 0; k < 2; k++) {
            if (ends[k] != ITM_NONE) {
                m->bodies[ends[k]].has_shape = true;
            }
        }
        if (gap->name == NULL) {
            return ITM_ERR_MEMORY;
        }
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- materials

static bool is_rigid(const ItmSurface* s)
{
    return s->stiffness == 0.0 && s->damping == 0.0;
}

static double in_series(double a, double b)
{
    return a + b > 0.0 ? a * b / (a + b) : 0.0;
}

ItmSurface itm_contact_combine_surfaces(const ItmSurface* a, const ItmSurface* b)
{
    ItmSurface both = {
        .friction = sqrt(a->friction * b->friction),
        .torsional_friction = fmax(a->torsional_friction, b->torsional_friction),
        .rolling_friction = fmax(a->rolling_friction, b->rolling_friction),
        .restitution = fmax(a->restitution, b->restitution),
        .stiffness = in_series(a->stiffness, b->stiffness),
        .damping = in_series(a->damping, b->damping),
    };
    if (is_rigid(a) || is_rigid(b)) {
        both.stiffness = fmax(a->stiffness, b->stiffness);
        both.damping = fmax(a->damping, b->damping);
    }
    return both;
}

// Material 0 is the default one, the user's follow.
static ItmStatus build_surfaces(ItmModel* m, ItmContactModel* contact, const ItmModelBuilder* b)
{
    int n = contact->nmaterial = b->materials.count + 1;
    contact->surfaces = itm_model_take(m, (size_t)n * (size_t)n, sizeof(ItmSurface));
    if (contact->surfaces == NULL) {
        return ITM_ERR_MEMORY;
    }
    ItmSurface standard = itm_default_material_def().surface;
    for (int i = 0; i < n; i++) {
        const ItmSurface* a = i == 0 ? &standard : &b->materials.items[i - 1].surface;
        for (int j = 0; j < n; j++) {
            contact->surfaces[i * n + j] =
                itm_contact_combine_surfaces(a, j == 0 ? &standard : &b->materials.items[j - 1].surface);
        }
    }
    for (int i = 0; i < b->material_pairs.count; i++) {
        const ItmMaterialPairDef* pair = &b->material_pairs.items[i];
        contact->surfaces[(pair->material_a + 1) * n + pair->material_b + 1] = pair->surface;
        contact->surfaces[(pair->material_b + 1) * n + pair->material_a + 1] = pair->surface;
    }
    return ITM_OK;
}

// ---------------------------------------------------------------------------- excluded pairs

static uint64_t pair_key(int a, int b)
{
    uint64_t lo = (uint64_t)(unsigned)((a < b ? a : b) + 1), hi = (uint64_t)(unsigned)((a < b ? b : a) + 1);
    return hi << 32 | lo;
}

static int compare_keys(const void* a, const void* b)
{
    uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
    return (x > y) - (x < y);
}

bool itm_contact_is_excluded(const ItmContactModel* contact, int body_a, int body_b)
{
    uint64_t key = pair_key(body_a, body_b);
    return bsearch(&key, contact->excluded, (size_t)contact->nexcluded, sizeof key, compare_keys) != NULL;
}

static ItmStatus build_excluded(ItmModel* m, ItmContactModel* contact, const ItmModelBuilder* b)
{
    contact->excluded = itm_model_take(m, (size_t)(m->njoint + b->excluded.count), sizeof(uint64_t));
    if (contact->excluded == NULL) {
        return ITM_ERR_MEMORY;
    }
    for (int j = 0; j < m->njoint; j++) {
        contact->excluded[contact->nexcluded++] =
            pair_key(owner_of(m, m->joints[j].body_a), owner_of(m, m->joints[j].body_b));
    }
    for (int i = 0; i < b->excluded.count; i++) {
        const ItmBodyPair* pair = &b->excluded.items[i];
        int x = pair->a == ITM_GROUND ? ITM_NONE : m->body_index[pair->a];
        int y = pair->b == ITM_GROUND ? ITM_NONE : m->body_index[pair->b];
        contact->excluded[contact->nexcluded++] = pair_key(x, y);
    }
    qsort(contact->excluded, (size_t)contact->nexcluded, sizeof(uint64_t), compare_keys);
    return ITM_OK;
}

// ---------------------------------------------------------------------------- all of it

// Shapes, materials and excluded pairs of a compiled model; sets m->contact and m->ncontact_max.
static ItmStatus build_touching(ItmModel* m, const ItmModelBuilder* b, ItmError* error)
{
    if (b->colliders.count + b->gaps.count == 0) {
        return ITM_OK;
    }
    ItmContactModel* contact = itm_model_take(m, 1, sizeof *contact);
    if (contact == NULL) {
        return ITM_ERR_MEMORY;
    }
    m->contact = contact;
    ItmStatus status = build_colliders(m, contact, b, error);
    status = status == ITM_OK ? build_gaps(m, contact, b) : status;
    status = status == ITM_OK ? build_surfaces(m, contact, b) : status;
    status = status == ITM_OK ? build_excluded(m, contact, b) : status;
    int chosen = CONTACTS_PER_SHAPE * (contact->ncollider + contact->ngap);
    chosen = chosen > LEAST_CONTACTS ? chosen : LEAST_CONTACTS;
    m->ncontact_max = b->contact.max_contacts > 0 ? b->contact.max_contacts : chosen;
    return status;
}

ItmStatus itm_contact_build(ItmModel* m, const ItmModelBuilder* b, ItmError* error)
{
    ItmStatus status = build_touching(m, b, error);
    return status == ITM_OK ? build_visuals(m, b, error) : status;
}

static void destroy_shapes(ItmCollider* shapes, int n)
{
    for (int i = 0; i < n; i++) {
        if (!shapes[i].is_shared) {
            itm_geom_destroy(shapes[i].geom);
        }
    }
}

void itm_contact_destroy(ItmModel* m)
{
    if (m->contact != NULL) {
        destroy_shapes(m->contact->colliders, m->contact->ncollider);
    }
    destroy_shapes(m->visuals, m->nvisual);
}
