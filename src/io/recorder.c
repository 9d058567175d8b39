#include "io/recorder.h"

#include "base/list.h"
#include "interim/contact.h"
#include "multibody/builder.h"
#include "multibody/data.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MOST_REALS 2000000    // of all poses: what the number of frames is chosen for
#define MOST_FRAMES 3000
#define LEAST_FRAMES 200
#define MOST_CONTACTS 200     // of a frame: the hardest ones
#define MOST_INTERVALS 20000  // of contact in all; the later ones are counted only
#define MOST_PAIRS 4096       // of shapes whose intervals are kept
#define HASH_SIZE (4 * MOST_PAIRS)

// Worst values since the frame before, from the step infos of all mechanisms.
typedef enum Channel {
    CHANNEL_ITERATIONS,
    CHANNEL_SOLVER_ITERATIONS,
    CHANNEL_SOLVER_RESIDUAL,
    CHANNEL_FALLBACKS,
    CHANNEL_UNSOLVED,
    CHANNEL_CONTACTS,
    CHANNEL_PENETRATION,
    CHANNEL_GAP,
    NCHANNEL
} Channel;

static const ItmOutputInfo CHANNELS[NCHANNEL] = {
    [CHANNEL_ITERATIONS] = {"stepper.iterations", "1", "iterations of a step: Newton, augmented Lagrangian, gaps"},
    [CHANNEL_SOLVER_ITERATIONS] = {"solver.iterations", "1", "iterations of the complementarity solver in a step"},
    [CHANNEL_SOLVER_RESIDUAL] = {"solver.residual", "1", "relative residual of the complementarity solver"},
    [CHANNEL_FALLBACKS] = {"solver.fallbacks", "1", "islands so far that the first solver could not do"},
    [CHANNEL_UNSOLVED] = {"solver.unsolved", "1", "islands so far that no solver could do to the tolerance"},
    [CHANNEL_CONTACTS] = {"contact.count", "1", "contacts near enough to count"},
    [CHANNEL_PENETRATION] = {"contact.penetration", "m", "deepest penetration"},
    [CHANNEL_GAP] = {"joints.gap", "m", "largest joint gap, m or rad"},
};

typedef struct Mechanism {
    const ItmModel* model;
    const ItmData* data;
    char* prefix;
    int first_body;
} Mechanism;

// Two shapes that touched, and the state that they are in since a moment.
typedef struct Pair {
    const char *name_a, *name_b;  // belong to the model; name_b NULL: a user's gap
    int mechanism;
    int state, noted_state;  // of the interval; of the step being noted
    double since;
} Pair;

typedef struct Interval {
    double from, to;
    int32_t pair, state;
} Interval;

typedef struct Contact {
    float values[6];
    int32_t pair, state;
} Contact;

typedef struct Number {
    char *name, *unit, *description;
    double value;
} Number;

// One frame; poses and channels are in arrays beside.
typedef struct Frame {
    double time;
    ITM_DEF_LIST(Contact) contacts;
} Frame;

struct ItmRecorder {
    ITM_DEF_LIST(Mechanism) mechanisms;
    ITM_DEF_LIST(Pair) pairs;
    ITM_DEF_LIST(Interval) intervals;
    ITM_DEF_LIST(Number) numbers;
    long nlost;                   // intervals past the limit
    int nbody;
    Frame* frames;                // (capacity)
    float* poses;                 // (capacity x nbody x 7)
    float* channels;              // (capacity x NCHANNEL)
    float worst[NCHANNEL];        // since the last frame
    int nframe, capacity;         // 0 before the first note
    long nnoted, stride;          // every stride-th noted state is a frame
    bool is_last_a_frame;         // the state noted last
    double time, step;            // of the state noted last; time it took
    int* hash;                    // pairs by their names, ITM_NONE: empty   (HASH_SIZE)
};

// ---------------------------------------------------------------------------- life

ItmRecorder* itm_recorder_create(void)
{
    ItmRecorder* r = calloc(1, sizeof *r);
    int* hash = malloc(HASH_SIZE * sizeof *hash);
    if (r == NULL || hash == NULL) {
        free(r);
        free(hash);
        return NULL;
    }
    memset(hash, 0xff, HASH_SIZE * sizeof *hash);
    *r = (ItmRecorder){.hash = hash, .stride = 1};
    return r;
}

void itm_recorder_destroy(ItmRecorder* r)
{
    if (r == NULL) {
        return;
    }
    for (int i = 0; i < r->mechanisms.count; i++) {
        free(r->mechanisms.items[i].prefix);
    }
    for (int i = 0; i < r->numbers.count; i++) {
        free(r->numbers.items[i].name);
        free(r->numbers.items[i].unit);
        free(r->numbers.items[i].description);
    }
    for (int i = 0; i < r->capacity; i++) {
        free(r->frames[i].contacts.items);
    }
    free(r->hash);
    free(r->mechanisms.items);
    free(r->pairs.items);
    free(r->intervals.items);
    free(r->numbers.items);
    free(r->frames);
    free(r->poses);
    free(r->channels);
    free(r);
}

bool itm_recorder_add(ItmRecorder* r, const ItmModel* m, const ItmData* d, const char* prefix)
{
    Mechanism mechanism = {m, d, strdup(prefix), r->nbody};
    if (mechanism.prefix == NULL || !ITM_LIST_APPEND(r->mechanisms, mechanism)) {
        free(mechanism.prefix);
        return false;
    }
    r->nbody += m->nuser;
    return true;
}

bool itm_recorder_add_number(ItmRecorder* r, const char* name, double value, const char* unit, const char* description)
{
    Number number = {strdup(name), strdup(unit), strdup(description), value};
    if (number.name == NULL || number.unit == NULL || number.description == NULL ||
        !ITM_LIST_APPEND(r->numbers, number)) {
        free(number.name);
        free(number.unit);
        free(number.description);
        return false;
    }
    return true;
}

// ---------------------------------------------------------------------------- contacts

// The pair of a contact, new or known; ITM_NONE where there are too many. Names are told apart by their place.
static int find_pair(ItmRecorder* r, int mechanism, const ItmContactInfo* c)
{
    uint64_t key = (uint64_t)(uintptr_t)c->name_a * 0x9e3779b97f4a7c15u + (uint64_t)(uintptr_t)c->name_b;
    unsigned slot = (unsigned)((key * 0x9e3779b97f4a7c15u) >> 40) % HASH_SIZE;
    for (; r->hash[slot] != ITM_NONE; slot = (slot + 1) % HASH_SIZE) {
        const Pair* pair = &r->pairs.items[r->hash[slot]];
        if (pair->name_a == c->name_a && pair->name_b == c->name_b) {
            return r->hash[slot];
        }
    }
    Pair pair = {.name_a = c->name_a, .name_b = c->name_b, .mechanism = mechanism};
    if (r->pairs.count == MOST_PAIRS || !ITM_LIST_APPEND(r->pairs, pair)) {
        return ITM_NONE;
    }
    r->hash[slot] = r->pairs.count - 1;
    return r->hash[slot];
}

static void end_interval(ItmRecorder* r, int index, double to)
{
    const Pair* pair = &r->pairs.items[index];
    Interval interval = {pair->since, to, index, pair->state};
    if (pair->state == ITM_CONTACT_OPEN || !(to > pair->since)) {
        return;
    }
    if (r->intervals.count == MOST_INTERVALS || !ITM_LIST_APPEND(r->intervals, interval)) {
        r->nlost++;
    }
}

// What the last step did to every pair: one that sticks at any of its points sticks.
static void note_pairs(ItmRecorder* r, double from)
{
    for (int i = 0; i < r->pairs.count; i++) {
        r->pairs.items[i].noted_state = ITM_CONTACT_OPEN;
    }
    for (int k = 0; k < r->mechanisms.count; k++) {
        int n = itm_contact_get_count(r->mechanisms.items[k].data);
        for (int i = 0; i < n; i++) {
            ItmContactInfo c = itm_contact_get_info(r->mechanisms.items[k].data, i);
            int index = c.state != ITM_CONTACT_OPEN ? find_pair(r, k, &c) : ITM_NONE;
            if (index != ITM_NONE) {
                Pair* pair = &r->pairs.items[index];
                pair->noted_state = pair->noted_state == ITM_CONTACT_STICKING ? pair->noted_state : (int)c.state;
            }
        }
    }
    for (int i = 0; i < r->pairs.count; i++) {
        Pair* pair = &r->pairs.items[i];
        if (pair->noted_state != pair->state) {
            end_interval(r, i, from);
            pair->state = pair->noted_state;
            pair->since = from;
        }
    }
}

static int compare_force(const void* a, const void* b)
{
    const float *f = ((const Contact*)a)->values + 3, *g = ((const Contact*)b)->values + 3;
    float x = f[0] * f[0] + f[1] * f[1] + f[2] * f[2], y = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
    return (x < y) - (x > y);
}

// A number that fits a float: pictures of a run that blew up end at its largest.
static float to_float(double x)
{
    return (float)fmax(-FLT_MAX, fmin(FLT_MAX, x));
}

static void take_contacts(ItmRecorder* r, Frame* frame)
{
    frame->contacts.count = 0;
    for (int k = 0; k < r->mechanisms.count; k++) {
        int n = itm_contact_get_count(r->mechanisms.items[k].data);
        for (int i = 0; i < n && r->step > 0.0; i++) {
            ItmContactInfo c = itm_contact_get_info(r->mechanisms.items[k].data, i);
            int pair = c.state != ITM_CONTACT_OPEN ? find_pair(r, k, &c) : ITM_NONE;
            if (pair == ITM_NONE) {
                continue;
            }
            ItmVec3 at = itm_vec_scale(0.5, itm_vec_add(c.point.point_a, c.point.point_b));
            ItmVec3 force = itm_vec_scale(1.0 / r->step, c.impulse);
            Contact contact = {{to_float(at.x), to_float(at.y), to_float(at.z), to_float(force.x), to_float(force.y),
                                to_float(force.z)},
                               pair,
                               (int32_t)c.state};
            (void)ITM_LIST_APPEND(frame->contacts, contact);  // without memory the picture lacks a point
        }
    }
    if (frame->contacts.count > MOST_CONTACTS) {
        qsort(frame->contacts.items, (size_t)frame->contacts.count, sizeof(Contact), compare_force);
        frame->contacts.count = MOST_CONTACTS;
    }
}

// ---------------------------------------------------------------------------- frames

static void note_worst(ItmRecorder* r)
{
    double sum[NCHANNEL] = {0};
    for (int k = 0; k < r->mechanisms.count; k++) {
        ItmStepInfo info = itm_data_get_step_info(r->mechanisms.items[k].data);
        sum[CHANNEL_ITERATIONS] += info.iterations;
        sum[CHANNEL_SOLVER_ITERATIONS] += info.solver_iterations;
        sum[CHANNEL_SOLVER_RESIDUAL] = fmax(sum[CHANNEL_SOLVER_RESIDUAL], info.solver_residual);
        sum[CHANNEL_FALLBACKS] += (double)info.fallbacks;
        sum[CHANNEL_UNSOLVED] += (double)info.unsolved;
        sum[CHANNEL_CONTACTS] += info.ncontact;
        sum[CHANNEL_PENETRATION] = fmax(sum[CHANNEL_PENETRATION], info.penetration);
        sum[CHANNEL_GAP] = fmax(sum[CHANNEL_GAP], info.gap);
    }
    for (int i = 0; i < NCHANNEL; i++) {
        r->worst[i] = fmaxf(r->worst[i], to_float(sum[i]));
    }
}

static bool reserve_frames(ItmRecorder* r)
{
    long count = r->nbody > 0 ? MOST_REALS / (7l * r->nbody) : MOST_FRAMES;
    count = count > MOST_FRAMES ? MOST_FRAMES : count < LEAST_FRAMES ? LEAST_FRAMES : count;
    r->frames = calloc((size_t)count, sizeof *r->frames);
    r->poses = malloc((size_t)count * (size_t)r->nbody * 7 * sizeof *r->poses + 1);
    r->channels = malloc((size_t)count * NCHANNEL * sizeof *r->channels);
    if (r->frames == NULL || r->poses == NULL || r->channels == NULL) {
        return false;
    }
    r->capacity = (int)count;
    return true;
}

static void move_frame(ItmRecorder* r, int to, int from)
{
    Frame swapped = r->frames[to];
    r->frames[to] = r->frames[from];
    r->frames[from] = swapped;  // its memory serves again
    size_t width = (size_t)r->nbody * 7;
    memcpy(r->poses + (size_t)to * width, r->poses + (size_t)from * width, width * sizeof *r->poses);
    memcpy(r->channels + (size_t)to * NCHANNEL, r->channels + (size_t)from * NCHANNEL,
           NCHANNEL * sizeof *r->channels);
}

// Full: every second frame goes, the worst values of those that go join those that stay.
static void thin_frames(ItmRecorder* r)
{
    for (int i = 2; i < r->nframe; i += 2) {
        float *kept = r->channels + (size_t)i * NCHANNEL, *gone = kept - NCHANNEL;
        for (int k = 0; k < NCHANNEL; k++) {
            kept[k] = fmaxf(kept[k], gone[k]);
        }
        move_frame(r, i / 2, i);
    }
    if (r->nframe % 2 == 0) {
        for (int k = 0; k < NCHANNEL; k++) {
            r->worst[k] = fmaxf(r->worst[k], r->channels[(size_t)(r->nframe - 1) * NCHANNEL + (size_t)k]);
        }
    }
    r->nframe = (r->nframe + 1) / 2;
    r->stride *= 2;
}

static void take_frame(ItmRecorder* r)
{
    Frame* frame = &r->frames[r->nframe];
    float* pose = r->poses + (size_t)r->nframe * (size_t)r->nbody * 7;
    frame->time = r->time;
    for (int k = 0; k < r->mechanisms.count; k++) {
        const Mechanism* mechanism = &r->mechanisms.items[k];
        for (int id = 0; id < mechanism->model->nuser; id++, pose += 7) {
            ItmPose p = itm_data_get_body_pose(mechanism->model, mechanism->data, id);
            const double values[7] = {p.p.x, p.p.y, p.p.z, p.q.w, p.q.x, p.q.y, p.q.z};
            for (int i = 0; i < 7; i++) {
                pose[i] = to_float(values[i]);
            }
        }
    }
    take_contacts(r, frame);
    memcpy(r->channels + (size_t)r->nframe * NCHANNEL, r->worst, sizeof r->worst);
    memset(r->worst, 0, sizeof r->worst);
    r->nframe++;
}

bool itm_recorder_note(ItmRecorder* r, double time)
{
    if (r->mechanisms.count == 0) {
        return true;
    }
    if (r->capacity == 0 && !reserve_frames(r)) {
        return false;
    }
    r->step = r->nnoted > 0 ? time - r->time : 0.0;
    double from = r->nnoted > 0 ? r->time : time;
    r->time = time;
    note_worst(r);
    note_pairs(r, from);
    r->is_last_a_frame = r->nnoted % r->stride == 0;
    if (r->is_last_a_frame) {
        if (r->nframe == r->capacity) {
            thin_frames(r);
            r->is_last_a_frame = r->nnoted % r->stride == 0;
        }
        if (r->is_last_a_frame) {
            take_frame(r);
        }
    }
    r->nnoted++;
    return true;
}

// ---------------------------------------------------------------------------- taking

static void add_list(ItmText* text, const char* key, ItmText* members, const char* after)
{
    // the last member has no comma behind it
    size_t length = members->length >= 2 ? members->length - 2 : 0;
    itm_text_format(text, "  \"%s\": [\n", key);
    itm_text_add_bytes(text, members->chars, length);
    itm_text_format(text, "\n  ]%s", after);
    text->has_failed = text->has_failed || members->has_failed;
    itm_text_free(members);
}

static void add_pair(ItmText* text, const ItmRecorder* r, const Pair* pair)
{
    const char* prefix = r->mechanisms.items[pair->mechanism].prefix;
    const char* names[2] = {pair->name_a, pair->name_b};
    itm_text_add(text, "    [");
    for (int i = 0; i < 2 && names[i] != NULL; i++) {
        char name[256];
        snprintf(name, sizeof name, "%s%s%s", prefix, prefix[0] != '\0' ? "." : "", names[i]);
        itm_text_add(text, i > 0 ? ", " : "");
        itm_text_add_json(text, name);
    }
    itm_text_add(text, "],\n");
}

static void add_info(ItmText* text, const char* name, const char* unit, const char* description)
{
    itm_text_add(text, "    {\"name\": ");
    itm_text_add_json(text, name);
    itm_text_add(text, ", \"unit\": ");
    itm_text_add_json(text, unit);
    itm_text_add(text, ", \"description\": ");
    itm_text_add_json(text, description);
}

static void describe(ItmText* text, ItmRecorder* r)
{
    ItmSceneText scene = {0};
    ItmText pairs = {0}, channels = {0}, numbers = {0};
    for (int i = 0; i < r->mechanisms.count; i++) {
        const Mechanism* mechanism = &r->mechanisms.items[i];
        itm_scene_add_model(&scene, mechanism->model, mechanism->prefix, mechanism->first_body);
    }
    for (int i = 0; i < r->pairs.count; i++) {
        add_pair(&pairs, r, &r->pairs.items[i]);
    }
    for (int i = 0; i < NCHANNEL; i++) {
        add_info(&channels, CHANNELS[i].name, CHANNELS[i].unit, CHANNELS[i].description);
        itm_text_add(&channels, "},\n");
    }
    for (int i = 0; i < r->numbers.count; i++) {
        const Number* number = &r->numbers.items[i];
        add_info(&numbers, number->name, number->unit, number->description);
        itm_text_add(&numbers, ", \"value\": ");
        itm_text_add_number(&numbers, number->value, 17);
        itm_text_add(&numbers, "},\n");
    }
    ItmVec3 g = r->mechanisms.items[0].model->gravity;
    itm_text_add(text, "{\n  \"gravity\": [");
    itm_text_add_number(text, g.x, 17);
    itm_text_add(text, ", ");
    itm_text_add_number(text, g.y, 17);
    itm_text_add(text, ", ");
    itm_text_add_number(text, g.z, 17);
    itm_text_format(text, "],\n  \"lost_intervals\": %ld,\n", r->nlost);
    add_list(text, "bodies", &scene.bodies, ",\n");
    add_list(text, "shapes", &scene.shapes, ",\n");
    add_list(text, "joints", &scene.joints, ",\n");
    add_list(text, "lines", &scene.lines, ",\n");
    add_list(text, "pairs", &pairs, ",\n");
    add_list(text, "channels", &channels, ",\n");
    add_list(text, "numbers", &numbers, "\n}");
}

static bool allocate_arrays(const ItmRecorder* r, ItmRecord* record)
{
    long ncontact = 0;
    for (int i = 0; i < r->nframe; i++) {
        ncontact += r->frames[i].contacts.count;
    }
    const long sizes[ITM_MOTION_COUNT][3] = {
        [ITM_MOTION_TIME] = {r->nframe},
        [ITM_MOTION_POSE] = {r->nframe, r->nbody, 7},
        [ITM_MOTION_CHANNEL] = {r->nframe, NCHANNEL},
        [ITM_MOTION_CONTACT_START] = {r->nframe + 1},
        [ITM_MOTION_CONTACT] = {ncontact, 6},
        [ITM_MOTION_CONTACT_PAIR] = {ncontact, 2},
        [ITM_MOTION_INTERVAL] = {r->intervals.count, 2},
        [ITM_MOTION_INTERVAL_PAIR] = {r->intervals.count, 2},
    };
    for (int i = 0; i < ITM_MOTION_COUNT; i++) {
        if (!itm_array_allocate(&record->arrays[i], (ItmMotionArray)i, sizes[i])) {
            return false;
        }
    }
    return true;
}

static void copy_frames(const ItmRecorder* r, ItmRecord* record)
{
    double* time = record->arrays[ITM_MOTION_TIME].values;
    int32_t* start = record->arrays[ITM_MOTION_CONTACT_START].values;
    float* contact = record->arrays[ITM_MOTION_CONTACT].values;
    int32_t* pair = record->arrays[ITM_MOTION_CONTACT_PAIR].values;
    size_t nframe = (size_t)r->nframe;
    memcpy(record->arrays[ITM_MOTION_POSE].values, r->poses, nframe * (size_t)r->nbody * 7 * sizeof(float));
    memcpy(record->arrays[ITM_MOTION_CHANNEL].values, r->channels, nframe * NCHANNEL * sizeof(float));
    for (int i = 0; i < r->nframe; i++) {
        const Frame* frame = &r->frames[i];
        time[i] = frame->time;
        start[i + 1] = start[i] + frame->contacts.count;
        for (int k = 0; k < frame->contacts.count; k++, contact += 6, pair += 2) {
            const Contact* c = &frame->contacts.items[k];
            memcpy(contact, c->values, sizeof c->values);
            pair[0] = c->pair;
            pair[1] = c->state;
        }
    }
}

static void copy_intervals(const ItmRecorder* r, ItmRecord* record)
{
    double* times = record->arrays[ITM_MOTION_INTERVAL].values;
    int32_t* pairs = record->arrays[ITM_MOTION_INTERVAL_PAIR].values;
    for (int i = 0; i < r->intervals.count; i++) {
        const Interval* interval = &r->intervals.items[i];
        times[2 * i] = interval->from;
        times[2 * i + 1] = interval->to;
        pairs[2 * i] = interval->pair;
        pairs[2 * i + 1] = interval->state;
    }
}

bool itm_recorder_take(ItmRecorder* r, ItmRecord* record)
{
    *record = (ItmRecord){0};
    if (r->mechanisms.count == 0 || r->nnoted == 0) {
        return true;
    }
    if (!r->is_last_a_frame) {
        if (r->nframe == r->capacity) {
            thin_frames(r);
        }
        take_frame(r);
        r->is_last_a_frame = true;
    }
    for (int i = 0; i < r->pairs.count; i++) {
        end_interval(r, i, r->time);
        r->pairs.items[i].state = ITM_CONTACT_OPEN;
    }
    ItmText text = {0};
    describe(&text, r);
    bool is_taken = !text.has_failed && allocate_arrays(r, record);
    if (is_taken) {
        record->scene = text.chars;
        copy_frames(r, record);
        copy_intervals(r, record);
    } else {
        itm_text_free(&text);
        itm_record_free(record);
    }
    return is_taken;
}
