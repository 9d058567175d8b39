// multibody.urdf: a robot description becomes bodies, joints, limits, friction and shapes of the mechanism.
//
// Links with mass are bodies. Links without are frames: what hangs on one hangs on a body that fixed joints connect it with, or,
// below a fixed base, on the ground.
#include "io/model/urdf_import.h"

#include "base/error.h"
#include "io/bytes.h"
#include "math/vec.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LINKS 4000  // work grows with their square in places

// ---------------------------------------------------------------------------- complaints

void itm_read_urdf_status(ItmUrdfImport* m, ItmStatus status, int line)
{
    if (m->r->status == ITM_OK && status != ITM_OK) {
        m->r->status = status;
        itm_error_locate(m->r->error, m->path, line, 1);
    }
}

void itm_read_urdf_fail_at(ItmUrdfImport* m, int line, const char* format, ...)
{
    if (m->r->status != ITM_OK) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    itm_read_urdf_status(m, itm_error_set_list(m->r->error, ITM_ERR_INPUT, "itm_read_urdf", NULL, format, arguments),
                         line);
    va_end(arguments);
}

void itm_read_urdf_note_at(ItmUrdfImport* m, int line, const char* format, ...)
{
    char message[512], placed[900];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    snprintf(placed, sizeof placed, "%.300s:%d: %s", m->path, line, message);
    itm_reader_note(m->r, placed);
}

void* itm_read_urdf_take(ItmUrdfImport* m, size_t size)
{
    void* memory = itm_document_take(m->r->doc, size + 1);
    if (memory == NULL && m->r->status == ITM_OK) {
        m->r->status = itm_error_set(m->r->error, ITM_ERR_MEMORY, "itm_read_urdf", NULL, "out of memory");
    }
    return memory;
}

const char* itm_read_urdf_keep_path(ItmUrdfImport* m, const char* name)
{
    char* path = itm_reader_make_path(m->r, name);
    char* kept = path != NULL ? itm_read_urdf_take(m, strlen(path)) : NULL;
    if (kept != NULL) {
        strcpy(kept, path);
    }
    free(path);
    return kept;
}

// ---------------------------------------------------------------------------- names

static bool is_taken(const ItmUrdfImport* m, const char* name)
{
    return itm_names_find(&m->r->builder->names, name, strlen(name)) != ITM_NONE;
}

const char* itm_read_urdf_make_name(ItmUrdfImport* m, const char* name, const char* ending)
{
    size_t size = strlen(m->prefix) + strlen(name) + strlen(ending) + 8;
    char* made = itm_read_urdf_take(m, size);
    if (made == NULL) {
        return NULL;
    }
    snprintf(made, size, "%s%s%s", m->prefix, name, ending);
    for (char* c = made; *c != '\0'; c++) {
        *c = (unsigned char)*c <= ' ' || strchr(".,/=\"", *c) != NULL ? '_' : *c;
    }
    return made;
}

static const char* make_joint_name(ItmUrdfImport* m, const char* name)
{
    const char* made = itm_read_urdf_make_name(m, name, "");
    return made != NULL && is_taken(m, made) ? itm_read_urdf_make_name(m, name, "-joint") : made;
}

// ---------------------------------------------------------------------------- start

static bool has_coordinate(const ItmUrdfJoint* joint)
{
    return joint->type == ITM_URDF_REVOLUTE || joint->type == ITM_URDF_CONTINUOUS || joint->type == ITM_URDF_PRISMATIC;
}

static int find_joint(const ItmUrdfImport* m, const char* name)
{
    for (int i = 0; i < m->robot.njoint; i++) {
        if (strcmp(m->robot.joints[i].name, name) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}

// 0, or the limit that is nearest to it.
static void set_default_starts(ItmUrdfImport* m)
{
    for (int i = 0; i < m->robot.njoint; i++) {
        const ItmUrdfJoint* joint = &m->robot.joints[i];
        m->values[i] = joint->has_limit ? fmin(fmax(0.0, joint->lower), joint->upper) : 0.0;
        if (m->values[i] != 0.0) {
            itm_read_urdf_note_at(m, joint->line,
                                  "joint '%s' starts at its limit %g, because 0 is outside of its limits", joint->name,
                                  m->values[i]);
        }
    }
}

static void read_starts(ItmUrdfImport* m)
{
    const ItmNode* start = m->start;
    if (start == NULL || !itm_reader_is_collection(m->r, start, "start")) {
        return;
    }
    for (const ItmItem* item = start->first; item != NULL && m->r->status == ITM_OK; item = item->next) {
        int joint = find_joint(m, item->key->text);
        if (joint == ITM_NONE || !has_coordinate(&m->robot.joints[joint])) {
            itm_reader_fail(m->r, item->key, "'%.64s' is no revolute, continuous or prismatic joint of the robot",
                            item->key->text);
            return;
        }
        bool is_slide = m->robot.joints[joint].type == ITM_URDF_PRISMATIC;
        m->values[joint] = itm_reader_get_real(m->r, item->value, is_slide ? ITM_DIM_LENGTH : ITM_DIM_ONE, 0.0);
    }
}

// A joint that follows another starts where that one has it. Each chain of followers is walked to its end, then taken back.
static void follow_leaders(ItmUrdfImport* m)
{
    int n = m->robot.njoint;
    int* leaders = itm_read_urdf_take(m, (size_t)n * sizeof *leaders);
    int* chain = itm_read_urdf_take(m, (size_t)n * sizeof *chain);
    for (int i = 0; i < n && m->r->status == ITM_OK; i++) {
        const ItmUrdfJoint* joint = &m->robot.joints[i];
        leaders[i] = joint->mimic != NULL && has_coordinate(joint) ? find_joint(m, joint->mimic) : ITM_NONE;
    }
    for (int i = 0; i < n && m->r->status == ITM_OK; i++) {
        int count = 0;
        for (int k = i; leaders[k] != ITM_NONE; k = leaders[k]) {
            if (count == n) {
                itm_read_urdf_fail_at(m, m->robot.joints[i].line, "joint '%s' follows others in a circle",
                                      m->robot.joints[i].name);
                return;
            }
            chain[count++] = k;
        }
        while (count > 0) {
            int k = chain[--count];
            m->values[k] = m->robot.joints[k].multiplier * m->values[leaders[k]] + m->robot.joints[k].offset;
            leaders[k] = ITM_NONE;  // its value is final
        }
    }
}

// ---------------------------------------------------------------------------- places

// Where the child of a joint is in the parent link frame.
static ItmPose joint_pose(const ItmUrdfJoint* joint, double value)
{
    ItmPose moved = itm_pose_identity();
    if (joint->type == ITM_URDF_PRISMATIC) {
        moved.p = itm_vec_scale(value, joint->axis);
    } else if (has_coordinate(joint)) {
        moved.q = itm_quat_exp(itm_vec_scale(value, joint->axis));
    }
    return itm_pose_mul(joint->origin, moved);
}

static void place_links(ItmUrdfImport* m)
{
    m->places[0] = (ItmUrdfPlace){.world = m->pose, .group = 0};
    for (int i = 1; i < m->robot.nlink; i++) {
        const ItmUrdfJoint* joint = &m->robot.joints[i - 1];
        const ItmUrdfPlace* parent = &m->places[joint->parent];
        m->places[i] = (ItmUrdfPlace){.world = itm_pose_mul(parent->world, joint_pose(joint, m->values[i - 1])),
                                      .group = joint->type == ITM_URDF_FIXED ? parent->group : i};
    }
}

// ---------------------------------------------------------------------------- bodies

static void add_body(ItmUrdfImport* m, int index)
{
    const ItmUrdfLink* link = &m->robot.links[index];
    ItmMat3 R = itm_quat_to_mat(link->inertial.q);
    ItmBodyDef def = itm_default_body_def();
    def.name = itm_read_urdf_make_name(m, link->name, "");
    def.mass = link->mass;
    def.com = link->inertial.p;
    def.inertia = itm_sym_rotate(&R, &link->inertia);
    def.has_pose = true;
    def.pose = m->places[index].world;
    if (m->r->status == ITM_OK) {
        itm_read_urdf_status(m, itm_model_builder_add_body(m->r->builder, &def, &m->places[index].body, m->r->error),
                             link->inertial_line);
        m->places[index].in_body = itm_pose_identity();
    }
}

static void add_bodies(ItmUrdfImport* m, const int* carriers)
{
    for (int i = 0; i < m->robot.nlink && m->r->status == ITM_OK; i++) {
        if (m->robot.links[i].mass > 0.0) {
            add_body(m, i);
        }
    }
    for (int i = 0; i < m->robot.nlink; i++) {
        ItmUrdfPlace* place = &m->places[i];
        int carrier = carriers[place->group];
        if (m->robot.links[i].mass > 0.0 || place->is_lost) {
            continue;
        }
        bool is_ground = carrier == ITM_NONE;
        ItmPose body = is_ground ? itm_pose_identity() : m->places[carrier].world;
        place->body = is_ground ? ITM_GROUND : m->places[carrier].body;
        place->in_body = itm_pose_mul(itm_pose_inverse(body), place->world);
    }
}

// ---------------------------------------------------------------------------- joints

static int add_joint(ItmUrdfImport* m, ItmJointDef* def, int line)
{
    int id = ITM_NONE;
    if (m->r->status == ITM_OK) {
        itm_read_urdf_status(m, itm_model_builder_add_joint(m->r->builder, def, &id, m->r->error), line);
    }
    return id;
}

// The base of the robot on the ground.
static void mount(ItmUrdfImport* m, int carrier)
{
    if (m->is_free || carrier == ITM_NONE || m->r->status != ITM_OK) {
        return;
    }
    ItmJointDef def = itm_default_joint_def(ITM_JOINT_FIXED);
    def.name = itm_read_urdf_make_name(m, m->robot.links[carrier].name, "-mount");
    def.body_b = m->places[carrier].body;
    def.frame_a = m->places[carrier].world;
    add_joint(m, &def, m->robot.links[carrier].line);
}

// A fixed joint between two bodies of a group; frames and carriers need none.
static int add_fixed(ItmUrdfImport* m, const ItmUrdfJoint* joint, int carrier)
{
    const ItmUrdfPlace *parent = &m->places[joint->parent], *child = &m->places[joint->child];
    if (m->robot.links[joint->child].mass == 0.0 || joint->child == carrier || parent->body == child->body) {
        return ITM_NONE;
    }
    ItmJointDef def = itm_default_joint_def(ITM_JOINT_FIXED);
    def.name = make_joint_name(m, joint->name);
    def.body_a = parent->body;
    def.body_b = child->body;
    def.frame_a = itm_pose_mul(parent->in_body, joint->origin);
    return add_joint(m, &def, joint->line);
}

static int add_moving(ItmUrdfImport* m, const ItmUrdfJoint* joint, double value)
{
    static const ItmJointType TYPES[ITM_URDF_JOINT_TYPE_COUNT] = {
        [ITM_URDF_REVOLUTE] = ITM_JOINT_REVOLUTE,   [ITM_URDF_CONTINUOUS] = ITM_JOINT_REVOLUTE,
        [ITM_URDF_PRISMATIC] = ITM_JOINT_PRISMATIC, [ITM_URDF_PLANAR] = ITM_JOINT_PLANAR,
        [ITM_URDF_SPHERICAL] = ITM_JOINT_SPHERICAL,
    };
    const ItmUrdfPlace *parent = &m->places[joint->parent], *child = &m->places[joint->child];
    ItmPose along;  // z along the axis of the joint
    itm_read_urdf_status(
        m, itm_model_frame_from_axis(&along, itm_vec(0, 0, 0), joint->axis, itm_vec(0, 0, 0), m->r->error),
        joint->line);
    if (m->r->status != ITM_OK) {
        return ITM_NONE;
    }
    ItmJointDef def = itm_default_joint_def(TYPES[joint->type]);
    def.name = make_joint_name(m, joint->name);
    def.body_a = parent->body;
    def.body_b = child->body;
    def.frame_a = itm_pose_mul(itm_pose_mul(parent->in_body, joint->origin), along);
    def.frame_b = itm_pose_mul(child->in_body, along);
    if (has_coordinate(joint)) {
        ItmDirection direction = joint->type == ITM_URDF_PRISMATIC ? ITM_TZ : ITM_RZ;
        def.has_start[direction] = true;
        def.start[direction] = value;
    }
    return add_joint(m, &def, joint->line);
}

// Stops, damping and dry friction of a joint with one coordinate.
static void add_dynamics(ItmUrdfImport* m, const ItmUrdfJoint* joint, int id)
{
    ItmDirection direction = joint->type == ITM_URDF_PRISMATIC ? ITM_TZ : ITM_RZ;
    ItmStatus status = ITM_OK;
    if (joint->has_limit) {
        ItmLimitDef def = itm_default_limit_def();
        def.name = itm_read_urdf_make_name(m, joint->name, "-limit");
        def.joint = id;
        def.direction = direction;
        def.lower = joint->lower;
        def.upper = joint->upper;
        status = itm_model_builder_add_limit(m->r->builder, &def, NULL, m->r->error);
    }
    if (joint->damping > 0.0 && status == ITM_OK) {
        ItmJointSpringDef def = itm_default_joint_spring_def();
        def.name = itm_read_urdf_make_name(m, joint->name, "-damping");
        def.joint = id;
        def.direction = direction;
        def.damping = joint->damping;
        def.is_implicit = true;  // light links with much damping are common
        status = itm_model_builder_add_joint_spring(m->r->builder, &def, NULL, m->r->error);
    }
    if (joint->friction > 0.0 && status == ITM_OK) {
        ItmJointFrictionDef def = itm_default_joint_friction_def();
        def.name = itm_read_urdf_make_name(m, joint->name, "-friction");
        def.joint = id;
        def.direction = direction;
        def.force = joint->friction;
        status = itm_model_builder_add_joint_friction(m->r->builder, &def, NULL, m->r->error);
    }
    itm_read_urdf_status(m, status, joint->line);
}

static void add_joints(ItmUrdfImport* m, const int* carriers)
{
    for (int i = 0; i < m->robot.njoint && m->r->status == ITM_OK; i++) {
        const ItmUrdfJoint* joint = &m->robot.joints[i];
        m->joints[i] = ITM_NONE;
        if (m->places[joint->child].is_lost || joint->type == ITM_URDF_FLOATING) {
            continue;
        }
        if (joint->type == ITM_URDF_FIXED) {
            m->joints[i] = add_fixed(m, joint, carriers[m->places[joint->child].group]);
            continue;
        }
        m->joints[i] = add_moving(m, joint, m->values[i]);
        if (m->r->status == ITM_OK && has_coordinate(joint)) {
            add_dynamics(m, joint, m->joints[i]);
        }
    }
}

static void add_couplings(ItmUrdfImport* m)
{
    for (int i = 0; i < m->robot.njoint && m->r->status == ITM_OK; i++) {
        const ItmUrdfJoint* joint = &m->robot.joints[i];
        int leader = joint->mimic != NULL ? find_joint(m, joint->mimic) : ITM_NONE;
        if (leader == ITM_NONE || m->joints[i] == ITM_NONE) {
            continue;
        }
        const ItmUrdfJoint* other = &m->robot.joints[leader];
        if (m->joints[leader] == ITM_NONE || !has_coordinate(joint) || !has_coordinate(other) ||
            joint->multiplier == 0.0) {
            itm_read_urdf_note_at(m, joint->line,
                                  "joint '%s' does not follow joint '%s': both need one coordinate, and a factor",
                                  joint->name, joint->mimic);
            continue;
        }
        ItmCouplingDef def = itm_default_coupling_def();
        def.name = itm_read_urdf_make_name(m, joint->name, "-mimic");
        def.joint_first = m->joints[i];
        def.joint_second = m->joints[leader];
        def.direction_first = joint->type == ITM_URDF_PRISMATIC ? ITM_TZ : ITM_RZ;
        def.direction_second = other->type == ITM_URDF_PRISMATIC ? ITM_TZ : ITM_RZ;
        def.ratio = joint->multiplier;
        itm_read_urdf_status(m, itm_model_builder_add_coupling(m->r->builder, &def, NULL, m->r->error), joint->line);
    }
}

// ---------------------------------------------------------------------------- robot

static void note_unused(ItmUrdfImport* m)
{
    for (int i = 0; i < m->robot.nunused; i++) {
        const ItmUrdfUnused* unused = &m->robot.unused[i];
        char times[32] = "";
        if (unused->count > 1) {
            snprintf(times, sizeof times, ", %d times", unused->count);
        }
        itm_read_urdf_note_at(m, unused->line, "%s is not used%s", unused->what, times);
    }
}

static void build_robot(ItmUrdfImport* m)
{
    size_t n = (size_t)m->robot.nlink;
    m->places = itm_read_urdf_take(m, n * sizeof *m->places);
    m->values = itm_read_urdf_take(m, n * sizeof *m->values);
    m->joints = itm_read_urdf_take(m, n * sizeof *m->joints);
    int* carriers = itm_read_urdf_take(m, n * sizeof *carriers);
    bool* has_mass = itm_read_urdf_take(m, n * sizeof *has_mass);
    if (m->r->status != ITM_OK) {
        return;
    }
    set_default_starts(m);
    read_starts(m);
    follow_leaders(m);
    place_links(m);
    itm_urdf_complete_masses(m);
    itm_urdf_find_carriers(m, carriers);
    itm_urdf_drop_massless(m, carriers, has_mass);
    add_bodies(m, carriers);
    mount(m, carriers[0]);
    add_joints(m, carriers);
    add_couplings(m);
    itm_urdf_add_shapes(m);
    itm_urdf_exclude_contacts(m);
    note_unused(m);
}

static void read_options(ItmUrdfImport* m, const ItmNode* node)
{
    enum { FILE_NAME, BASE, POSITION, ORIENTATION, START, CONTACT, MATERIAL, INERTIA, PREFIX, PACKAGES, NKEY };
    static const char* const KEYS[NKEY] = {"file",    "base",     "position", "orientation", "start",
                                           "contact", "material", "inertia",  "prefix",      "packages"};
    static const char* const BASES[] = {"fixed", "free"};
    static const char* const INERTIAS[] = {"refuse", "repair"};
    static const char* const CONTACTS[] = {"outside", "all", "none"};
    const ItmNode* v[NKEY] = {[FILE_NAME] = node};
    ItmReader* r = m->r;
    if (node->kind == ITM_NODE_MAP) {
        itm_reader_get_map(r, node, "a robot", KEYS, NKEY, v);
        itm_reader_require(r, node, v[FILE_NAME], "a robot", "file");
    }
    const char* name = itm_reader_get_text(r, v[FILE_NAME], "the name of a URDF file");
    m->node = v[FILE_NAME];
    m->is_free = itm_reader_get_word(r, v[BASE], "a kind of base", BASES, 2, 0) == 1;
    m->pose.p = itm_reader_get_vec(r, v[POSITION], ITM_DIM_LENGTH, itm_vec(0, 0, 0));
    m->pose.q = v[ORIENTATION] != NULL ? itm_reader_get_orientation(r, v[ORIENTATION]) : itm_quat_identity();
    int contacts = itm_reader_get_word(r, v[CONTACT], "a choice of contacts", CONTACTS, 3, 0);
    m->contacts = contacts > 0 ? (ItmUrdfContacts)contacts : ITM_URDF_CONTACTS_OUTSIDE;
    m->material = itm_reader_get_material(r, v[MATERIAL]);
    m->repairs = itm_reader_get_word(r, v[INERTIA], "a choice for bad inertias", INERTIAS, 2, 0) == 1;
    const char* prefix = itm_reader_get_text(r, v[PREFIX], "a prefix");
    m->prefix = prefix != NULL ? prefix : "";
    m->start = v[START];
    m->packages = v[PACKAGES];
    if (m->packages != NULL) {
        itm_reader_is_collection(r, m->packages, "packages");
    }
    m->path = r->status == ITM_OK ? itm_read_urdf_keep_path(m, name) : NULL;
}

static void read_robot(ItmReader* r, const ItmNode* node)
{
    ItmUrdfImport m = {.r = r, .node = node};
    size_t length = 0;
    const char* why = NULL;
    read_options(&m, node);
    if (m.path == NULL || r->status != ITM_OK) {
        return;
    }
    char* bytes = itm_bytes_read(m.path, ITM_URDF_MAX_BYTES, &length, &why);
    if (bytes == NULL) {
        itm_reader_fail(r, m.node, "cannot read '%.200s': %s", m.path, why);
        return;
    }
    r->status = itm_urdf_parse(&m.robot, r->doc, bytes, length, m.path, r->error);
    free(bytes);
    if (r->status == ITM_OK && m.robot.nlink > MOST_LINKS) {
        itm_read_urdf_fail_at(&m, 1, "the robot has %d links; at most %d are read", m.robot.nlink, MOST_LINKS);
    }
    if (r->status == ITM_OK) {
        build_robot(&m);
    }
}

void itm_read_urdf(ItmReader* r, const ItmNode* node)
{
    if (r->status != ITM_OK || node == NULL) {
        return;
    }
    if (node->kind != ITM_NODE_LIST) {
        read_robot(r, node);
        return;
    }
    for (const ItmItem* item = node->first; item != NULL && r->status == ITM_OK; item = item->next) {
        read_robot(r, item->value);
    }
}
