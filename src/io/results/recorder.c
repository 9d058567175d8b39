#include "io/results/recorder.h"

#include "base/list.h"
#include "io/cursor.h"
#include "io/results/interface_log.h"
#include "multibody/data.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MOST_REALS 2000000  // of all frames: what their number is chosen for
#define MOST_FRAMES 3000
#define LEAST_FRAMES 200

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

typedef struct Number {
    char *name, *unit, *description;
    double value;
} Number;

// One frame; its reals are in an array beside.
typedef struct Frame {
    double time;
    ItmTouchList contacts;
} Frame;

// What a frame's reals are, one after the other.
typedef enum Part {
    PART_POSE,      // of the bodies
    PART_MODE,      // of flexible bodies
    PART_MOBILITY,  // of the interfaces
    PART_CHANNEL,
    NPART
} Part;

typedef ITM_DEF_LIST(char*) Texts;  // owned

struct ItmRecorder {
    ItmWatchedList mechanisms;
    ItmContactLog contacts;
    ITM_DEF_LIST(Number) numbers;
    Texts settings;   // "key.path=value"
    Texts messages;   // of subsystems
    ItmCosim* cosim;  // whose interfaces are watched, or NULL
    int nbody, nmode;
    int adr[NPART + 1];     // of the parts in the reals of a frame; the last one: reals in all
    Frame* frames;          // (capacity)
    float* reals;           // (capacity x adr[NPART])
    float worst[NCHANNEL];  // since the last frame
    int nframe, capacity;   // 0 before the first note
    long nnoted, stride;    // every stride-th noted state is a frame
    bool is_last_a_frame;   // the state noted last
    double time, step;      // of the state noted last; time it took
};

// ---------------------------------------------------------------------------- life

ItmRecorder* itm_recorder_create(void)
{
    ItmRecorder* r = calloc(1, sizeof *r);
    if (r == NULL || !itm_contact_log_init(&r->contacts)) {
        free(r);
        return NULL;
    }
    r->stride = 1;
    return r;
}

static void free_texts(Texts* texts)
{
    for (int i = 0; i < texts->count; i++) {
        free(texts->items[i]);
    }
    free(texts->items);
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
    free_texts(&r->settings);
    free_texts(&r->messages);
    for (int i = 0; i < r->capacity; i++) {
        free(r->frames[i].contacts.items);
    }
    itm_contact_log_free(&r->contacts);
    free(r->mechanisms.items);
    free(r->numbers.items);
    free(r->frames);
    free(r->reals);
    free(r);
}

bool itm_recorder_add(ItmRecorder* r, const ItmModel* m, ItmData* d, const char* prefix)
{
    ItmWatched mechanism = {m, d, strdup(prefix), r->nbody};
    if (mechanism.prefix == NULL || !ITM_LIST_APPEND(r->mechanisms, mechanism)) {
        free(mechanism.prefix);
        return false;
    }
    r->nbody += m->nuser;
    r->nmode += m->nmode;
    return true;
}

void itm_recorder_add_interfaces(ItmRecorder* r, ItmCosim* cosim)
{
    r->cosim = cosim;
}

static int count_interfaces(const ItmRecorder* r)
{
    return r->cosim != NULL ? itm_cosim_get_interface_count(r->cosim) : 0;
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

static bool append_text(Texts* texts, const char* text)
{
    char* copy = strdup(text);
    if (copy == NULL || !ITM_LIST_APPEND(*texts, copy)) {
        free(copy);
        return false;
    }
    return true;
}

bool itm_recorder_add_setting(ItmRecorder* r, const char* setting)
{
    return append_text(&r->settings, setting);
}

bool itm_recorder_add_message(ItmRecorder* r, const char* message)
{
    return append_text(&r->messages, message);
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
        r->worst[i] = fmaxf(r->worst[i], itm_contact_log_to_float(sum[i]));
    }
}

static bool reserve_frames(ItmRecorder* r)
{
    const int sizes[NPART] = {7 * r->nbody, r->nmode, ITM_INTERFACE_REALS * count_interfaces(r), NCHANNEL};
    for (int i = 0; i < NPART; i++) {
        r->adr[i + 1] = r->adr[i] + sizes[i];
    }
    long count = MOST_REALS / r->adr[NPART];
    count = count > MOST_FRAMES ? MOST_FRAMES : count < LEAST_FRAMES ? LEAST_FRAMES : count;
    r->frames = calloc((size_t)count, sizeof *r->frames);
    r->reals = malloc((size_t)count * (size_t)r->adr[NPART] * sizeof *r->reals);
    if (r->frames == NULL || r->reals == NULL) {
        return false;
    }
    r->capacity = (int)count;
    return true;
}

// The reals of a part of a frame.
static float* get_reals(const ItmRecorder* r, int frame, Part part)
{
    return r->reals + (size_t)frame * (size_t)r->adr[NPART] + r->adr[part];
}

static void move_frame(ItmRecorder* r, int to, int from)
{
    Frame swapped = r->frames[to];
    r->frames[to] = r->frames[from];
    r->frames[from] = swapped;  // its memory serves again
    memcpy(get_reals(r, to, PART_POSE), get_reals(r, from, PART_POSE), (size_t)r->adr[NPART] * sizeof *r->reals);
}

// Worst values of a frame that goes join others.
static void join_worst(float* kept, const float* gone)
{
    for (int k = 0; k < NCHANNEL; k++) {
        kept[k] = fmaxf(kept[k], gone[k]);
    }
}

// Full: every second frame goes, the worst values of those that go join those that stay.
static void thin_frames(ItmRecorder* r)
{
    for (int i = 2; i < r->nframe; i += 2) {
        join_worst(get_reals(r, i, PART_CHANNEL), get_reals(r, i - 1, PART_CHANNEL));
        move_frame(r, i / 2, i);
    }
    if (r->nframe % 2 == 0) {
        join_worst(r->worst, get_reals(r, r->nframe - 1, PART_CHANNEL));
    }
    r->nframe = (r->nframe + 1) / 2;
    r->stride *= 2;
}

static float* take_poses(float* pose, const ItmModel* m, ItmData* d)
{
    for (int id = 0; id < m->nuser; id++) {
        ItmPose p = itm_data_get_body_pose(m, d, id);
        const double values[7] = {p.p.x, p.p.y, p.p.z, p.q.w, p.q.x, p.q.y, p.q.z};
        for (int i = 0; i < 7; i++) {
            *pose++ = itm_contact_log_to_float(values[i]);
        }
    }
    return pose;
}

static float* take_modes(float* mode, const ItmModel* m, const ItmData* d)
{
    for (int i = 0; i < m->nflexible; i++) {
        const double* eta = d->q + m->bodies[m->flexibles[i].modes].q_adr;
        for (int k = 0; k < m->flexibles[i].n; k++) {
            *mode++ = itm_contact_log_to_float(eta[k]);
        }
    }
    return mode;
}

static void take_frame(ItmRecorder* r)
{
    Frame* frame = &r->frames[r->nframe];
    float *pose = get_reals(r, r->nframe, PART_POSE), *mode = get_reals(r, r->nframe, PART_MODE);
    frame->time = r->time;
    for (int k = 0; k < r->mechanisms.count; k++) {
        const ItmWatched* mechanism = &r->mechanisms.items[k];
        pose = take_poses(pose, mechanism->model, mechanism->data);
        mode = take_modes(mode, mechanism->model, mechanism->data);
    }
    if (r->cosim != NULL) {
        itm_interface_log_take(r->cosim, get_reals(r, r->nframe, PART_MOBILITY));
    }
    itm_contact_log_take(&r->contacts, &r->mechanisms, r->step, &frame->contacts);
    memcpy(get_reals(r, r->nframe, PART_CHANNEL), r->worst, sizeof r->worst);
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
    itm_contact_log_note(&r->contacts, &r->mechanisms, from);
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

static void add_info(ItmText* text, const char* name, const char* unit, const char* description)
{
    itm_text_add(text, "    {\"name\": ");
    itm_text_add_json(text, name);
    itm_text_add(text, ", \"unit\": ");
    itm_text_add_json(text, unit);
    itm_text_add(text, ", \"description\": ");
    itm_text_add_json(text, description);
}

static void add_texts(ItmText* out, const Texts* texts)
{
    for (int i = 0; i < texts->count; i++) {
        itm_text_add(out, "    ");
        itm_text_add_json(out, texts->items[i]);
        itm_text_add(out, ",\n");
    }
}

static void describe(ItmText* text, ItmRecorder* r)
{
    ItmSceneText scene = {0};
    ItmText interfaces = {0}, pairs = {0}, channels = {0}, numbers = {0}, settings = {0};
    ItmText messages = {0};
    for (int i = 0, mode = 0; i < r->mechanisms.count; i++) {
        const ItmWatched* mechanism = &r->mechanisms.items[i];
        itm_scene_add_model(&scene, mechanism->model, mechanism->prefix, mechanism->first_body, mode);
        mode += mechanism->model->nmode;
    }
    if (r->cosim != NULL) {
        itm_interface_log_describe(r->cosim, &r->mechanisms, &interfaces);
    }
    itm_contact_log_name_pairs(&r->contacts, &r->mechanisms, &pairs);
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
    add_texts(&settings, &r->settings);
    add_texts(&messages, &r->messages);
    ItmVec3 g = r->mechanisms.items[0].model->gravity;
    itm_text_add(text, "{\n  \"gravity\": [");
    itm_text_add_number(text, g.x, 17);
    itm_text_add(text, ", ");
    itm_text_add_number(text, g.y, 17);
    itm_text_add(text, ", ");
    itm_text_add_number(text, g.z, 17);
    itm_text_format(text, "],\n  \"lost_intervals\": %ld,\n", r->contacts.nlost);
    add_list(text, "bodies", &scene.bodies, ",\n");
    add_list(text, "shapes", &scene.shapes, ",\n");
    add_list(text, "joints", &scene.joints, ",\n");
    add_list(text, "lines", &scene.lines, ",\n");
    add_list(text, "flexible", &scene.flexible, ",\n");
    add_list(text, "interfaces", &interfaces, ",\n");
    add_list(text, "pairs", &pairs, ",\n");
    add_list(text, "channels", &channels, ",\n");
    add_list(text, "numbers", &numbers, ",\n");
    add_list(text, "settings", &settings, ",\n");
    add_list(text, "messages", &messages, "\n}");
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
        [ITM_MOTION_MODE] = {r->nframe, r->nmode},
        [ITM_MOTION_MOBILITY] = {r->nframe, count_interfaces(r), ITM_INTERFACE_REALS},
        [ITM_MOTION_CHANNEL] = {r->nframe, NCHANNEL},
        [ITM_MOTION_CONTACT_START] = {r->nframe + 1},
        [ITM_MOTION_CONTACT] = {ncontact, 6},
        [ITM_MOTION_CONTACT_PAIR] = {ncontact, 2},
        [ITM_MOTION_INTERVAL] = {r->contacts.intervals.count, 2},
        [ITM_MOTION_INTERVAL_PAIR] = {r->contacts.intervals.count, 2},
    };
    for (int i = 0; i < ITM_MOTION_COUNT; i++) {
        if (itm_record_array_allocate(&record->arrays[i], (ItmMotionArray)i, sizes[i]) != ITM_OK) {
            return false;
        }
    }
    return true;
}

// A part of all frames into an array of its own.
static void copy_part(const ItmRecorder* r, float* to, Part part)
{
    size_t width = (size_t)(r->adr[part + 1] - r->adr[part]);
    for (int i = 0; i < r->nframe; i++) {
        memcpy(to + (size_t)i * width, get_reals(r, i, part), width * sizeof *to);
    }
}

static void copy_frames(const ItmRecorder* r, ItmRecord* record)
{
    double* time = record->arrays[ITM_MOTION_TIME].values;
    int32_t* start = record->arrays[ITM_MOTION_CONTACT_START].values;
    float* contact = record->arrays[ITM_MOTION_CONTACT].values;
    int32_t* pair = record->arrays[ITM_MOTION_CONTACT_PAIR].values;
    copy_part(r, record->arrays[ITM_MOTION_POSE].values, PART_POSE);
    copy_part(r, record->arrays[ITM_MOTION_MODE].values, PART_MODE);
    copy_part(r, record->arrays[ITM_MOTION_MOBILITY].values, PART_MOBILITY);
    copy_part(r, record->arrays[ITM_MOTION_CHANNEL].values, PART_CHANNEL);
    for (int i = 0; i < r->nframe; i++) {
        const Frame* frame = &r->frames[i];
        time[i] = frame->time;
        start[i + 1] = start[i] + frame->contacts.count;
        for (int k = 0; k < frame->contacts.count; k++, contact += 6, pair += 2) {
            const ItmTouch* c = &frame->contacts.items[k];
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
    for (int i = 0; i < r->contacts.intervals.count; i++) {
        const ItmTouchInterval* interval = &r->contacts.intervals.items[i];
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
    itm_contact_log_end(&r->contacts, r->time);
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

// ---------------------------------------------------------------------------- checkpoints

typedef struct SavedHead {
    int64_t nreal, nframe, nnoted, stride, is_last_a_frame;
    double time, step;
    float worst[NCHANNEL];
} SavedHead;

void itm_recorder_save(const ItmRecorder* r, ItmText* text)
{
    SavedHead head = {r->adr[NPART], r->nframe, r->nnoted, r->stride, r->is_last_a_frame, r->time, r->step, {0}};
    memcpy(head.worst, r->worst, sizeof head.worst);
    itm_text_add_bytes(text, &head, sizeof head);
    for (int i = 0; i < r->nframe; i++) {
        const Frame* frame = &r->frames[i];
        int64_t count = frame->contacts.count;
        itm_text_add_bytes(text, &frame->time, sizeof frame->time);
        itm_text_add_bytes(text, &count, sizeof count);
        itm_text_add_bytes(text, frame->contacts.items, (size_t)count * sizeof *frame->contacts.items);
    }
    itm_text_add_bytes(text, r->reals, (size_t)r->nframe * (size_t)r->adr[NPART] * sizeof *r->reals);
    itm_contact_log_save(&r->contacts, text);
}

static bool restore_frame(Frame* frame, ItmCursor* c)
{
    frame->time = itm_cursor_take_real(c);
    int64_t count = itm_cursor_take_count(c, INT32_MAX / 2);
    for (int64_t i = 0; i < count && !c->has_failed; i++) {
        ItmTouch touch;
        itm_cursor_take(c, &touch, sizeof touch);
        if (!ITM_LIST_APPEND(frame->contacts, touch)) {
            return false;
        }
    }
    return true;
}

// Whether every contact of a frame is of a pair that there is.
static bool has_pairs(const ItmRecorder* r)
{
    for (int i = 0; i < r->nframe; i++) {
        for (int k = 0; k < r->frames[i].contacts.count; k++) {
            int32_t pair = r->frames[i].contacts.items[k].pair;
            if (pair < 0 || pair >= r->contacts.pairs.count) {
                return false;
            }
        }
    }
    return true;
}

ItmStatus itm_recorder_restore(ItmRecorder* r, const char* bytes, size_t length)
{
    ItmCursor c = {bytes, length, false};
    SavedHead head;
    itm_cursor_take(&c, &head, sizeof head);
    bool is_empty = r->mechanisms.count == 0;  // it never notes anything
    if (!is_empty && !reserve_frames(r)) {
        return ITM_ERR_MEMORY;
    }
    if (c.has_failed || head.nreal != r->adr[NPART] || head.nframe < 0 || head.nframe > r->capacity ||
        head.nnoted < head.nframe || head.stride < 1) {
        return ITM_ERR_INPUT;
    }
    for (int i = 0; i < head.nframe; i++) {
        if (!restore_frame(&r->frames[i], &c)) {
            return ITM_ERR_MEMORY;
        }
    }
    if (head.nframe > 0) {
        itm_cursor_take(&c, r->reals, (size_t)head.nframe * (size_t)r->adr[NPART] * sizeof *r->reals);
    }
    r->nframe = (int)head.nframe;
    r->nnoted = (long)head.nnoted;
    r->stride = (long)head.stride;
    r->is_last_a_frame = head.is_last_a_frame != 0;
    r->time = head.time;
    r->step = head.step;
    memcpy(r->worst, head.worst, sizeof r->worst);
    ItmStatus status = itm_contact_log_restore(&r->contacts, &r->mechanisms, &c);
    return status == ITM_OK && (c.has_failed || c.left > 0 || !has_pairs(r)) ? ITM_ERR_INPUT : status;
}
