#include "io/results/contact_log.h"

#include "base/list.h"
#include "contact/contact.h"
#include "multibody/clearance.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CONTACTS 200     // of a frame: the hardest ones
#define MOST_INTERVALS 20000  // of contact in all; the later ones are counted only
#define MOST_PAIRS 4096       // of shapes whose intervals are kept
#define HASH_SIZE (4 * MOST_PAIRS)

bool itm_contact_log_init(ItmContactLog* log)
{
    *log = (ItmContactLog){.hash = malloc(HASH_SIZE * sizeof *log->hash)};
    if (log->hash != NULL) {
        memset(log->hash, 0xff, HASH_SIZE * sizeof *log->hash);
    }
    return log->hash != NULL;
}

void itm_contact_log_free(ItmContactLog* log)
{
    free(log->pairs.items);
    free(log->intervals.items);
    free(log->hash);
}

float itm_contact_log_to_float(double x)
{
    return (float)fmax(-FLT_MAX, fmin(FLT_MAX, x));
}

// ---------------------------------------------------------------------------- walking

typedef void Visit(ItmContactLog* log, int pair, const ItmContactInfo* contact, void* context);

// The pair of a contact, new or known; ITM_NONE where there are too many. Names are distinguished by their place.
static int find_pair(ItmContactLog* log, int mechanism, const ItmContactInfo* c)
{
    uint64_t key = (uint64_t)(uintptr_t)c->name_a * 0x9e3779b97f4a7c15u + (uint64_t)(uintptr_t)c->name_b;
    unsigned slot = (unsigned)((key * 0x9e3779b97f4a7c15u) >> 40) % HASH_SIZE;
    for (; log->hash[slot] != ITM_NONE; slot = (slot + 1) % HASH_SIZE) {
        const ItmTouchPair* pair = &log->pairs.items[log->hash[slot]];
        if (pair->name_a == c->name_a && pair->name_b == c->name_b) {
            return log->hash[slot];
        }
    }
    ItmTouchPair pair = {.name_a = c->name_a, .name_b = c->name_b, .mechanism = mechanism};
    if (log->pairs.count == MOST_PAIRS || !ITM_LIST_APPEND(log->pairs, pair)) {
        return ITM_NONE;
    }
    log->hash[slot] = log->pairs.count - 1;
    return log->hash[slot];
}

static void visit_closed(ItmContactLog* log, int mechanism, const ItmContactInfo* contact, Visit* visit, void* context)
{
    int pair = contact->state != ITM_CONTACT_OPEN ? find_pair(log, mechanism, contact) : ITM_NONE;
    if (pair != ITM_NONE) {
        visit(log, pair, contact, context);
    }
}

// All closed contacts of the last step: of shapes, of joints with clearance. Impulses are those that the step found; the share that
// redundant contacts have of a load is a matter of outputs, and costs more than the step.
static void visit_all(ItmContactLog* log, const ItmWatchedList* mechanisms, Visit* visit, void* context)
{
    for (int k = 0; k < mechanisms->count; k++) {
        const ItmModel* m = mechanisms->items[k].model;
        const ItmData* d = mechanisms->items[k].data;
        int n = itm_contact_get_count(d);
        for (int i = 0; i < n; i++) {
            ItmContactInfo contact = itm_contact_look(d, i);
            contact.state = itm_contact_get_state(d, i);
            visit_closed(log, k, &contact, visit, context);
        }
        for (int clearance = 0; clearance < m->nclearance; clearance++) {
            for (int i = 0; i < m->clearances[clearance].npoint; i++) {
                ItmContactInfo contact = itm_clearance_get_contact(m, d, clearance, i);
                visit_closed(log, k, &contact, visit, context);
            }
        }
    }
}

// ---------------------------------------------------------------------------- intervals

static void end_interval(ItmContactLog* log, int index, double to)
{
    const ItmTouchPair* pair = &log->pairs.items[index];
    ItmTouchInterval interval = {pair->since, to, index, pair->state};
    if (pair->state == ITM_CONTACT_OPEN || !(to > pair->since)) {
        return;
    }
    if (log->intervals.count == MOST_INTERVALS || !ITM_LIST_APPEND(log->intervals, interval)) {
        log->nlost++;
    }
}

static void note_state(ItmContactLog* log, int index, const ItmContactInfo* contact, void* context)
{
    (void)context;
    ItmTouchPair* pair = &log->pairs.items[index];
    pair->noted_state = pair->noted_state == ITM_CONTACT_STICKING ? pair->noted_state : (int)contact->state;
}

void itm_contact_log_note(ItmContactLog* log, const ItmWatchedList* mechanisms, double from)
{
    for (int i = 0; i < log->pairs.count; i++) {
        log->pairs.items[i].noted_state = ITM_CONTACT_OPEN;
    }
    visit_all(log, mechanisms, note_state, NULL);
    for (int i = 0; i < log->pairs.count; i++) {
        ItmTouchPair* pair = &log->pairs.items[i];
        if (pair->noted_state != pair->state) {
            end_interval(log, i, from);
            pair->state = pair->noted_state;
            pair->since = from;
        }
    }
}

void itm_contact_log_end(ItmContactLog* log, double time)
{
    for (int i = 0; i < log->pairs.count; i++) {
        end_interval(log, i, time);
        log->pairs.items[i].state = ITM_CONTACT_OPEN;
    }
}

// ---------------------------------------------------------------------------- points and forces

typedef struct Taking {
    ItmTouchList* touches;
    double step;
} Taking;

static void take_touch(ItmContactLog* log, int pair, const ItmContactInfo* contact, void* context)
{
    (void)log;
    Taking* taking = context;
    ItmVec3 at = itm_vec_scale(0.5, itm_vec_add(contact->point.point_a, contact->point.point_b));
    ItmVec3 force = itm_vec_scale(1.0 / taking->step, contact->impulse);
    ItmTouch touch = {.pair = pair, .state = (int32_t)contact->state};
    for (int i = 0; i < 3; i++) {
        touch.values[i] = itm_contact_log_to_float(itm_vec_get(at, i));
        touch.values[3 + i] = itm_contact_log_to_float(itm_vec_get(force, i));
    }
    (void)ITM_LIST_APPEND(*taking->touches, touch);  // without memory the picture lacks a point
}

static int compare_force(const void* a, const void* b)
{
    const float *f = ((const ItmTouch*)a)->values + 3, *g = ((const ItmTouch*)b)->values + 3;
    float x = f[0] * f[0] + f[1] * f[1] + f[2] * f[2], y = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
    return (x < y) - (x > y);
}

void itm_contact_log_take(ItmContactLog* log, const ItmWatchedList* mechanisms, double step, ItmTouchList* touches)
{
    Taking taking = {touches, step};
    touches->count = 0;
    if (step > 0.0) {
        visit_all(log, mechanisms, take_touch, &taking);
    }
    if (touches->count > MOST_CONTACTS) {
        qsort(touches->items, (size_t)touches->count, sizeof(ItmTouch), compare_force);
        touches->count = MOST_CONTACTS;
    }
}

// ---------------------------------------------------------------------------- names

void itm_contact_log_name_pairs(const ItmContactLog* log, const ItmWatchedList* mechanisms, ItmText* text)
{
    for (int i = 0; i < log->pairs.count; i++) {
        const ItmTouchPair* pair = &log->pairs.items[i];
        const char* prefix = mechanisms->items[pair->mechanism].prefix;
        const char* names[2] = {pair->name_a, pair->name_b};
        itm_text_add(text, "    [");
        for (int k = 0; k < 2 && names[k] != NULL; k++) {
            char name[256];
            snprintf(name, sizeof name, "%s%s%s", prefix, prefix[0] != '\0' ? "." : "", names[k]);
            itm_text_add(text, k > 0 ? ", " : "");
            itm_text_add_json(text, name);
        }
        itm_text_add(text, "],\n");
    }
}

// ---------------------------------------------------------------------------- checkpoints

static void save_name(ItmText* text, const char* name)
{
    int64_t length = name != NULL ? (int64_t)strlen(name) + 1 : 0;
    itm_text_add_bytes(text, &length, sizeof length);
    itm_text_add_bytes(text, name, (size_t)length);
}

void itm_contact_log_save(const ItmContactLog* log, ItmText* text)
{
    int64_t counts[3] = {log->pairs.count, log->intervals.count, log->nlost};
    itm_text_add_bytes(text, counts, sizeof counts);
    for (int i = 0; i < log->pairs.count; i++) {
        const ItmTouchPair* pair = &log->pairs.items[i];
        int64_t numbers[2] = {pair->mechanism, pair->state};
        itm_text_add_bytes(text, numbers, sizeof numbers);
        itm_text_add_bytes(text, &pair->since, sizeof pair->since);
        save_name(text, pair->name_a);
        save_name(text, pair->name_b);
    }
    itm_text_add_bytes(text, log->intervals.items, (size_t)log->intervals.count * sizeof(ItmTouchInterval));
}

// The name in the model: pairs differ by its address. NULL: it has none.
static const char* find_name(const ItmModel* m, const char* name, bool is_alone)
{
    const ItmContactModel* c = m->contact;
    for (int i = 0; c != NULL && !is_alone && i < c->ncollider; i++) {
        if (strcmp(c->colliders[i].name, name) == 0) {
            return c->colliders[i].name;
        }
    }
    for (int i = 0; c != NULL && is_alone && i < c->ngap; i++) {
        if (strcmp(c->gaps[i].name, name) == 0) {
            return c->gaps[i].name;
        }
    }
    for (int i = 0; is_alone && i < m->nclearance; i++) {
        const char* joint = m->joints[m->clearances[i].joint].name;
        if (strcmp(joint, name) == 0) {
            return joint;
        }
    }
    return NULL;
}

// A text with its end, or NULL where there is none.
static const char* take_name(ItmCursor* c)
{
    int64_t length = itm_cursor_take_count(c, 1 << 16);
    const char* name = length > 0 ? itm_cursor_skip(c, (size_t)length) : NULL;
    c->has_failed = c->has_failed || (name != NULL && name[length - 1] != '\0');
    return c->has_failed ? NULL : name;
}

static ItmStatus restore_pair(ItmContactLog* log, const ItmWatchedList* mechanisms, ItmCursor* c)
{
    int mechanism = (int)itm_cursor_take_count(c, mechanisms->count - 1);
    int state = (int)itm_cursor_take_count(c, ITM_CONTACT_SLIDING);
    double since = itm_cursor_take_real(c);
    const char *name_a = take_name(c), *name_b = take_name(c);
    if (c->has_failed || name_a == NULL) {
        return ITM_ERR_INPUT;
    }
    const ItmModel* m = mechanisms->items[mechanism].model;
    ItmContactInfo found = {.name_a = find_name(m, name_a, name_b == NULL),
                            .name_b = name_b != NULL ? find_name(m, name_b, false) : NULL};
    if (found.name_a == NULL || (found.name_b == NULL) != (name_b == NULL)) {
        return ITM_ERR_INPUT;
    }
    int before = log->pairs.count, pair = find_pair(log, mechanism, &found);
    if (pair == ITM_NONE || pair != before) {
        return pair == ITM_NONE && before < MOST_PAIRS ? ITM_ERR_MEMORY : ITM_ERR_INPUT;
    }
    log->pairs.items[pair].state = state;
    log->pairs.items[pair].since = since;
    return ITM_OK;
}

ItmStatus itm_contact_log_restore(ItmContactLog* log, const ItmWatchedList* mechanisms, ItmCursor* c)
{
    int64_t npair = itm_cursor_take_count(c, MOST_PAIRS), ninterval = itm_cursor_take_count(c, MOST_INTERVALS);
    log->nlost = (long)itm_cursor_take_count(c, LONG_MAX);
    ItmStatus status = npair > 0 && mechanisms->count == 0 ? ITM_ERR_INPUT : ITM_OK;
    for (int64_t i = 0; i < npair && status == ITM_OK; i++) {
        status = restore_pair(log, mechanisms, c);
    }
    for (int64_t i = 0; i < ninterval && status == ITM_OK && !c->has_failed; i++) {
        ItmTouchInterval interval;
        itm_cursor_take(c, &interval, sizeof interval);
        if (interval.pair < 0 || interval.pair >= npair) {
            return ITM_ERR_INPUT;
        }
        status = ITM_LIST_APPEND(log->intervals, interval) ? ITM_OK : ITM_ERR_MEMORY;
    }
    return status;
}
