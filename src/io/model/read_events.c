// multibody.events: joints locked, bodies grasped, both let go again, each at a time.
#include "io/model/reader.h"

#include "base/check.h"

#include <stdio.h>
#include <string.h>

enum { AT, LOCK, GRASP, RELEASE, NAME, NKEY };
static const char* const KEYS[NKEY] = {"at", "lock", "grasp", "release", "name"};

// What an event holds or lets go: a direction of a joint, or two bodies.
static ItmLatchDef get_bodies(ItmReader* r, const ItmNode* node)
{
    ItmLatchDef def = itm_default_latch_def(ITM_LATCH_BODIES);
    itm_reader_get_bodies(r, node, &def.body_a, &def.body_b);
    return def;
}

// "joint" or "joint.rz". A joint with several free directions, named alone, is held as its two bodies are.
static ItmLatchDef get_joint(ItmReader* r, const ItmNode* node)
{
    ItmLatchDef def = itm_default_latch_def(ITM_LATCH_DIRECTION);
    if (itm_reader_get_text(r, node, "the name of a joint") == NULL) {
        return def;
    }
    int joint = itm_model_builder_find(r->builder, ITM_ELEMENT_JOINT, node->text, node->length);
    unsigned mobile = joint != ITM_NONE ? itm_model_get_free_directions(&r->builder->joints.items[joint]) : 0;
    if ((mobile & (mobile - 1)) != 0) {
        def = itm_default_latch_def(ITM_LATCH_BODIES);
        def.body_a = r->builder->joints.items[joint].body_a;
        def.body_b = r->builder->joints.items[joint].body_b;
        return def;
    }
    itm_reader_get_direction(r, node, &def.joint, &def.direction);
    return def;
}

static ItmLatchDef get_target(ItmReader* r, const ItmNode** v)
{
    if (v[LOCK] != NULL) {
        return get_joint(r, v[LOCK]);
    }
    if (v[GRASP] != NULL) {
        return get_bodies(r, v[GRASP]);
    }
    return v[RELEASE]->kind == ITM_NODE_LIST ? get_bodies(r, v[RELEASE]) : get_joint(r, v[RELEASE]);
}

static bool is_same(const ItmLatchDef* a, const ItmLatchDef* b)
{
    if (a->kind != b->kind) {
        return false;
    }
    if (a->kind == ITM_LATCH_DIRECTION) {
        return a->joint == b->joint && a->direction == b->direction;
    }
    return (a->body_a == b->body_a && a->body_b == b->body_b) || (a->body_a == b->body_b && a->body_b == b->body_a);
}

static int find_latch(const ItmReader* r, const ItmLatchDef* target)
{
    for (int i = 0; i < r->builder->latches.count; i++) {
        if (is_same(&r->builder->latches.items[i], target)) {
            return i;
        }
    }
    return ITM_NONE;
}

static const char* body_name(const ItmReader* r, int body)
{
    return body == ITM_GROUND ? "ground" : r->builder->bodies.items[body].name;
}

// "lock-elbow", "lock-slide-tz" where that is not its only direction, "grasp-tool-box"
static void make_name(const ItmReader* r, char* name, size_t size, const ItmNode* lock, const ItmLatchDef* def)
{
    if (lock != NULL) {
        snprintf(name, size, "lock-%s", lock->text);
        for (char* dot = strchr(name, '.'); dot != NULL; dot = strchr(dot, '.')) {
            *dot = '-';
        }
    } else {
        snprintf(name, size, "grasp-%s-%s", body_name(r, def->body_a), body_name(r, def->body_b));
    }
}

static int add_latch(ItmReader* r, const ItmNode* whole, const ItmNode** v, ItmLatchDef def)
{
    char made[160];
    int id = ITM_NONE;
    make_name(r, made, sizeof made, v[LOCK], &def);
    def.name = v[NAME] != NULL ? itm_reader_get_text(r, v[NAME], "a name") : made;
    if (r->status == ITM_OK && v[NAME] == NULL && strlen(made) > ITM_LONGEST_NAME) {
        itm_reader_fail(r, whole, "the name '%s' is too long; give a shorter one with 'name'", made);
    }
    if (r->status != ITM_OK) {
        return ITM_NONE;
    }
    const ItmNode* target = v[LOCK] != NULL ? v[LOCK] : v[GRASP];
    const ItmBlame blames[] = {
        {"name", v[NAME]}, {"joint", target}, {"direction", target}, {"body_a", target}, {"body_b", target}};
    ItmStatus status = itm_model_builder_add_latch(r->builder, &def, &id, r->error);
    itm_reader_take(r, status, target, blames, ITM_COUNT(blames));
    return id;
}

static void read_event(ItmReader* r, const ItmNode* node)
{
    const ItmNode* v[NKEY];
    itm_reader_get_map(r, node, "an event", KEYS, NKEY, v);
    itm_reader_require(r, node, v[AT], "an event", "at");
    if (r->status == ITM_OK && (v[LOCK] != NULL) + (v[GRASP] != NULL) + (v[RELEASE] != NULL) != 1) {
        itm_reader_fail(r, node, "an event does exactly one of lock, grasp and release");
    }
    ItmEventDef event = {.time = itm_reader_get_real(r, v[AT], ITM_DIM_TIME, 0.0), .closes = v[RELEASE] == NULL};
    if (r->status != ITM_OK) {
        return;
    }
    ItmLatchDef target = get_target(r, v);
    event.latch = r->status == ITM_OK ? find_latch(r, &target) : ITM_NONE;
    if (r->status == ITM_OK && event.latch == ITM_NONE && !event.closes) {
        itm_reader_fail(r, v[RELEASE], "nothing before this in the list locks or grasps it");
    } else if (r->status == ITM_OK && event.latch == ITM_NONE) {
        event.latch = add_latch(r, node, v, target);
    }
    if (r->status == ITM_OK) {
        const ItmBlame blames[] = {{"time", v[AT]}};
        itm_reader_take(r, itm_model_builder_add_event(r->builder, &event, r->error), node, blames, ITM_COUNT(blames));
    }
}

void itm_read_events(ItmReader* r, const ItmNode* node)
{
    if (r->status != ITM_OK || node == NULL) {
        return;
    }
    if (node->kind != ITM_NODE_LIST && !(node->kind == ITM_NODE_SCALAR && node->length == 0)) {
        char found[64];
        itm_reader_fail(r, node, "expected a list of events, found %s",
                        itm_document_describe(node, found, sizeof found));
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        read_event(r, item->value);
    }
}
