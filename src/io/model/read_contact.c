// multibody.materials, material_pairs, contact and no_contact: the laws of contact between shapes.
#include "io/model/reader.h"

#include "contact/contact.h"

#include <string.h>

// ---------------------------------------------------------------------------- surfaces

enum { FRICTION, TORSIONAL, ROLLING, RESTITUTION, STIFFNESS, DAMPING, NSURFACE };

static const char* const SURFACE_KEYS[NSURFACE + 1] = {
    "friction", "torsional_friction", "rolling_friction", "restitution", "stiffness", "damping", "materials"};

// Replace what the nodes give.
static void read_surface(ItmReader* r, const ItmNode** v, ItmSurface* s)
{
    s->friction = itm_reader_get_real(r, v[FRICTION], ITM_DIM_ONE, s->friction);
    s->torsional_friction = itm_reader_get_real(r, v[TORSIONAL], ITM_DIM_LENGTH, s->torsional_friction);
    s->rolling_friction = itm_reader_get_real(r, v[ROLLING], ITM_DIM_LENGTH, s->rolling_friction);
    s->restitution = itm_reader_get_real(r, v[RESTITUTION], ITM_DIM_ONE, s->restitution);
    s->stiffness = itm_reader_get_real(r, v[STIFFNESS], ITM_DIM_STIFFNESS, s->stiffness);
    s->damping = itm_reader_get_real(r, v[DAMPING], ITM_DIM_DAMPING, s->damping);
}

// Take over a builder's verdict on a surface: fields are called like the keys.
static void take_surface(ItmReader* r, ItmStatus status, const ItmNode* whole, const ItmNode** v)
{
    ItmBlame blames[NSURFACE];
    for (int i = 0; i < NSURFACE; i++) {
        blames[i] = (ItmBlame){SURFACE_KEYS[i], v[i]};
    }
    itm_reader_take(r, status, whole, blames, NSURFACE);
}

static void read_material(ItmReader* r, const ItmItem* item)
{
    const ItmNode* v[NSURFACE];
    ItmMaterialDef def = itm_default_material_def();
    def.name = item->key->text;
    itm_reader_get_map(r, item->value, "a material", SURFACE_KEYS, NSURFACE, v);
    read_surface(r, v, &def.surface);
    if (r->status == ITM_OK) {
        take_surface(r, itm_model_builder_add_material(r->builder, &def, NULL, r->error), item->key, v);
    }
}

void itm_read_materials(ItmReader* r, const ItmNode* node)
{
    if (!itm_reader_is_collection(r, node, "materials")) {
        return;
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        read_material(r, item);
    }
}

// ---------------------------------------------------------------------------- pairs

static bool is_list(ItmReader* r, const ItmNode* node, const char* expected)
{
    if (r->status != ITM_OK || node == NULL) {
        return false;
    }
    if (node->kind != ITM_NODE_LIST) {
        char found[64];
        itm_reader_fail(r, node, "expected %s, found %s", expected, itm_document_describe(node, found, sizeof found));
        return false;
    }
    return true;
}

// [a, b] into both ids.
static void get_materials(ItmReader* r, const ItmNode* node, ItmMaterialPairDef* def)
{
    if (!is_list(r, node, "two materials [a, b]") || node->count != 2) {
        if (node != NULL) {
            itm_reader_fail(r, node, "a pair has two materials [a, b]");
        }
        return;
    }
    def->material_a = itm_reader_get_material(r, node->first->value);
    def->material_b = itm_reader_get_material(r, node->last->value);
}

// What a pair does not give is combined from its materials.
static void read_pair(ItmReader* r, const ItmNode* node)
{
    const ItmNode* v[NSURFACE + 1];
    ItmMaterialPairDef def = {.material_a = ITM_NONE, .material_b = ITM_NONE};
    itm_reader_get_map(r, node, "a pair of materials", SURFACE_KEYS, NSURFACE + 1, v);
    itm_reader_require(r, node, v[NSURFACE], "a pair of materials", "materials");
    get_materials(r, v[NSURFACE], &def);
    if (r->status != ITM_OK) {
        return;
    }
    const ItmMaterialDef* materials = r->builder->materials.items;
    def.surface = itm_contact_combine_surfaces(&materials[def.material_a].surface, &materials[def.material_b].surface);
    read_surface(r, v, &def.surface);
    if (r->status == ITM_OK) {
        take_surface(r, itm_model_builder_add_material_pair(r->builder, &def, r->error), node, v);
    }
}

void itm_read_material_pairs(ItmReader* r, const ItmNode* node)
{
    if (!is_list(r, node, "a list of pairs {materials: [a, b], friction: ...}")) {
        return;
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        read_pair(r, item->value);
    }
}

void itm_read_no_contact(ItmReader* r, const ItmNode* node)
{
    if (!is_list(r, node, "a list of pairs of bodies [[a, b], ...]")) {
        return;
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        int a = ITM_GROUND, b = ITM_GROUND;
        itm_reader_get_bodies(r, item->value, &a, &b);
        if (r->status == ITM_OK) {
            ItmStatus status = itm_model_builder_exclude_contact(r->builder, a, b, r->error);
            itm_reader_take(r, status, item->value, NULL, 0);
        }
    }
}

// ---------------------------------------------------------------------------- groups

static void add_group(ItmReader* r, const ItmNode* node)
{
    const char* name = itm_reader_get_text(r, node, "the name of a group of shapes");
    for (int i = 0; name != NULL && i < r->ngroup; i++) {
        if (strcmp(r->groups[i], name) == 0) {
            itm_reader_fail(r, node, "there is a group '%.64s' already", name);
        }
    }
    if (r->status == ITM_OK && r->ngroup == ITM_MOST_GROUPS) {
        itm_reader_fail(r, node, "there can be at most %d groups", ITM_MOST_GROUPS - 1);
    }
    if (r->status == ITM_OK) {
        r->groups[r->ngroup++] = name;
    }
}

static void read_groups(ItmReader* r, const ItmNode* node)
{
    r->groups[0] = "default";
    r->ngroup = 1;
    if (!is_list(r, node, "a list of names of groups")) {
        return;
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        add_group(r, item->value);
    }
}

// ---------------------------------------------------------------------------- options

static int get_solver(ItmReader* r, const ItmNode* node, ItmMlcpSolver absent)
{
    const char* names[ITM_MLCP_SOLVER_COUNT];
    for (int i = 0; i < ITM_MLCP_SOLVER_COUNT; i++) {
        names[i] = itm_mlcp_solver_name((ItmMlcpSolver)i);
    }
    return itm_reader_get_word(r, node, "a solver", names, ITM_MLCP_SOLVER_COUNT, (int)absent);
}

void itm_read_contact(ItmReader* r, const ItmNode* node)
{
    enum {
        LAW,
        DIRECTIONS,
        BOUNDS,
        MARGIN,
        SPEED,
        MOST,
        SOLVER,
        TOLERANCE,
        GROUPS,
        EFFORT,
        LIMIT,
        STEPS,
        SLEEP_AFTER,
        SLEEP_SPEED,
        NKEY
    };
    static const char* const KEYS[NKEY] = {
        "friction_law", "directions", "bounds", "margin",         "restitution_speed", "max_contacts", "solver",
        "tolerance",    "groups",     "effort", "residual_limit", "residual_steps",    "sleep_after",  "sleep_speed"};
    static const char* const LAWS[] = {"box", "pyramid", "cone"};
    static const char* const BOUNDS_WORDS[] = {"current", "last"};
    const ItmNode* v[NKEY];
    ItmContactOptions o = itm_default_contact_options();
    itm_reader_get_map(r, node, "contact", KEYS, NKEY, v);
    int law = itm_reader_get_word(r, v[LAW], "a friction law", LAWS, 3, (int)o.law);
    int solver = get_solver(r, v[SOLVER], o.solver);
    o.ndirection = itm_reader_get_int(r, v[DIRECTIONS], 3, 32, o.ndirection);
    o.lag_friction_bounds = itm_reader_get_word(r, v[BOUNDS], "a choice of bounds", BOUNDS_WORDS, 2, 0) == 1;
    o.margin = itm_reader_get_real(r, v[MARGIN], ITM_DIM_LENGTH, o.margin);
    o.restitution_speed = itm_reader_get_real(r, v[SPEED], ITM_DIM_VELOCITY, o.restitution_speed);
    o.max_contacts = itm_reader_get_int(r, v[MOST], 0, 1000000, o.max_contacts);
    o.tolerance = itm_reader_get_real(r, v[TOLERANCE], ITM_DIM_ONE, o.tolerance);
    o.effort = itm_reader_get_real(r, v[EFFORT], ITM_DIM_ONE, o.effort);
    // a coarser tolerance alone moves the limit with it
    o.residual_limit = o.residual_limit > o.tolerance ? o.residual_limit : o.tolerance;
    o.residual_limit = itm_reader_get_real(r, v[LIMIT], ITM_DIM_ONE, o.residual_limit);
    o.residual_steps = itm_reader_get_int(r, v[STEPS], 0, 1000000000, o.residual_steps);
    o.sleep_after = itm_reader_get_real(r, v[SLEEP_AFTER], ITM_DIM_TIME, o.sleep_after);
    o.sleep_speed = itm_reader_get_real(r, v[SLEEP_SPEED], ITM_DIM_VELOCITY, o.sleep_speed);
    read_groups(r, v[GROUPS]);
    if (r->status != ITM_OK) {
        return;
    }
    o.law = (ItmFrictionLaw)law;
    o.solver = (ItmMlcpSolver)solver;
    if (v[DIRECTIONS] != NULL && o.law != ITM_FRICTION_PYRAMID) {
        itm_reader_fail(r, v[DIRECTIONS], "only friction_law: pyramid has directions");
    }
    const ItmBlame blames[] = {{"margin", v[MARGIN]},           {"restitution_speed", v[SPEED]},
                               {"tolerance", v[TOLERANCE]},     {"effort", v[EFFORT]},
                               {"residual_limit", v[LIMIT]},    {"residual_steps", v[STEPS]},
                               {"sleep_after", v[SLEEP_AFTER]}, {"sleep_speed", v[SLEEP_SPEED]}};
    ItmStatus status = itm_model_builder_set_contact_options(r->builder, &o, r->error);
    itm_reader_take(r, status, node, blames, ITM_COUNT(blames));
}
