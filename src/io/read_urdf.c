// multibody.urdf: a robot description becomes bodies, joints, stops, friction and shapes of the mechanism.
//
// Links with mass are bodies. Links without are frames: what hangs on one hangs on a body that fixed joints connect it with, or,
// below a fixed base, on the ground.
#include "io/reader.h"

#include "base/check.h"
#include "base/error.h"
#include "io/bytes.h"
#include "io/mesh.h"
#include "io/urdf.h"
#include "math/vec.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_LINKS 4000  // work grows with their square in places

typedef enum Contacts {
    CONTACTS_OUTSIDE,  // with everything that is not the robot
    CONTACTS_ALL,      // also of links that no joint connects
    CONTACTS_NONE,
} Contacts;

// What a link is in the mechanism.
typedef struct Place {
    ItmPose world;  // link frame at the start
    int group;      // links that fixed joints connect: number of the first of them
    bool is_lost;   // without mass below a moving joint, as is all that hangs on it
    int body;       // of the builder, ITM_GROUND
    ItmPose in_body;  // link frame in the body frame
} Place;

typedef struct Import {
    ItmReader* r;
    const ItmNode* node;  // of the file's name in the model file
    const char* path;     // of the URDF file
    ItmUrdf robot;
    bool is_free;         // base
    ItmPose pose;         // of the root link
    Contacts contacts;
    int material;
    bool repairs;         // inertias that no solid has
    const char* prefix;
    const ItmNode* start;
    const ItmNode* packages;
    Place* places;        // (nlink)
    double* values;       // start value of each joint  (njoint)
    int* joints;          // of the builder, ITM_NONE: none  (njoint)
} Import;

// ---------------------------------------------------------------------------- complaints

// The builder's complaint, or our own, at a line of the URDF file.
static void take_status(Import* m, ItmStatus status, int line)
{
    if (m->r->status == ITM_OK && status != ITM_OK) {
        m->r->status = status;
        itm_error_locate(m->r->error, m->path, line, 1);
    }
}

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static void fail_at(Import* m, int line, const char* format, ...)
{
    if (m->r->status != ITM_OK) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    take_status(m, itm_error_set_list(m->r->error, ITM_ERR_INPUT, "itm_read_urdf", NULL, format, arguments), line);
    va_end(arguments);
}

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static void note_at(Import* m, int line, const char* format, ...)
{
    char message[512], placed[900];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    snprintf(placed, sizeof placed, "%.300s:%d: %s", m->path, line, message);
    itm_reader_note(m->r, placed);
}

static void* take(Import* m, size_t size)
{
    void* memory = itm_document_take(m->r->doc, size + 1);
    if (memory == NULL && m->r->status == ITM_OK) {
        m->r->status = itm_error_set(m->r->error, ITM_ERR_MEMORY, "itm_read_urdf", NULL, "out of memory");
    }
    return memory;
}

// A path as the model file means it, in memory of the document; NULL without memory.
static const char* keep_path(Import* m, const char* name)
{
    char* path = itm_reader_make_path(m->r, name);
    char* kept = path != NULL ? take(m, strlen(path)) : NULL;
    if (kept != NULL) {
        strcpy(kept, path);
    }
    free(path);
    return kept;
}

// ---------------------------------------------------------------------------- names

static bool is_taken(const Import* m, const char* name)
{
    return itm_names_find(&m->r->builder->names, name, strlen(name)) != ITM_NONE;
}

// A name for the builder, which allows fewer characters than XML, and one name for one thing; NULL without memory.
static const char* make_name(Import* m, const char* name, const char* ending)
{
    size_t size = strlen(m->prefix) + strlen(name) + strlen(ending) + 8;
    char* made = take(m, size);
    if (made == NULL) {
        return NULL;
    }
    snprintf(made, size, "%s%s%s", m->prefix, name, ending);
    for (char* c = made; *c != '\0'; c++) {
        *c = (unsigned char)*c <= ' ' || strchr(".,/=\"", *c) != NULL ? '_' : *c;
    }
    return made;
}

static const char* make_joint_name(Import* m, const char* name)
{
    const char* made = make_name(m, name, "");
    return made != NULL && is_taken(m, made) ? make_name(m, name, "-joint") : made;
}

// ---------------------------------------------------------------------------- start

static bool has_coordinate(const ItmUrdfJoint* joint)
{
    return joint->type == ITM_URDF_REVOLUTE || joint->type == ITM_URDF_CONTINUOUS || joint->type == ITM_URDF_PRISMATIC;
}

static int find_joint(const Import* m, const char* name)
{
    for (int i = 0; i < m->robot.njoint; i++) {
        if (strcmp(m->robot.joints[i].name, name) == 0) {
            return i;
        }
    }
    return ITM_NONE;
}

// 0, or the limit that is nearest to it.
static void set_default_starts(Import* m)
{
    for (int i = 0; i < m->robot.njoint; i++) {
        const ItmUrdfJoint* joint = &m->robot.joints[i];
        m->values[i] = joint->has_limit ? fmin(fmax(0.0, joint->lower), joint->upper) : 0.0;
        if (m->values[i] != 0.0) {
            note_at(m, joint->line, "joint '%s' starts at its limit %g, because 0 is outside of its limits", joint->name,
                    m->values[i]);
        }
    }
}

static void read_starts(Import* m)
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
        m->values[joint] =
            itm_reader_get_real(m->r, item->value, is_slide ? ITM_DIM_LENGTH : ITM_DIM_ONE, 0.0);
    }
}

// A joint that follows another starts where that one has it. Each chain of followers is walked to its end, then taken back.
static void follow_leaders(Import* m)
{
    int n = m->robot.njoint;
    int* leaders = take(m, (size_t)n * sizeof *leaders);
    int* chain = take(m, (size_t)n * sizeof *chain);
    for (int i = 0; i < n && m->r->status == ITM_OK; i++) {
        const ItmUrdfJoint* joint = &m->robot.joints[i];
        leaders[i] = joint->mimic != NULL && has_coordinate(joint) ? find_joint(m, joint->mimic) : ITM_NONE;
    }
    for (int i = 0; i < n && m->r->status == ITM_OK; i++) {
        int count = 0;
        for (int k = i; leaders[k] != ITM_NONE; k = leaders[k]) {
            if (count == n) {
                fail_at(m, m->robot.joints[i].line, "joint '%s' follows others in a circle", m->robot.joints[i].name);
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

static void place_links(Import* m)
{
    m->places[0] = (Place){.world = m->pose, .group = 0};
    for (int i = 1; i < m->robot.nlink; i++) {
        const ItmUrdfJoint* joint = &m->robot.joints[i - 1];
        const Place* parent = &m->places[joint->parent];
        m->places[i] = (Place){.world = itm_pose_mul(parent->world, joint_pose(joint, m->values[i - 1])),
                               .group = joint->type == ITM_URDF_FIXED ? parent->group : i};
    }
}

// ---------------------------------------------------------------------------- mass

static bool is_solid(const ItmUrdfLink* link)
{
    return link->mass > 0.0 && itm_inertia_check(&link->inertia, link->name, NULL) == ITM_OK;
}

// Inertia about a point at `arm` from the centre of mass.
static ItmSym3 shift_inertia(ItmSym3 J, double mass, ItmVec3 arm)
{
    J.xx += mass * (arm.y * arm.y + arm.z * arm.z);
    J.yy += mass * (arm.x * arm.x + arm.z * arm.z);
    J.zz += mass * (arm.x * arm.x + arm.y * arm.y);
    J.xy -= mass * arm.x * arm.y;
    J.xz -= mass * arm.x * arm.z;
    J.yz -= mass * arm.y * arm.z;
    return J;
}

static ItmSym3 add_inertias(ItmSym3 a, ItmSym3 b)
{
    return (ItmSym3){a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz};
}

// Put the mass of a link into another one of its group, and leave it as a frame.
static void merge_mass(Import* m, int into, int from)
{
    ItmUrdfLink *a = &m->robot.links[into], *b = &m->robot.links[from];
    ItmPose between = itm_pose_mul(itm_pose_inverse(m->places[into].world), m->places[from].world);
    ItmPose b_in_a = itm_pose_mul(between, b->inertial);
    ItmMat3 R_a = itm_quat_to_mat(a->inertial.q), R_b = itm_quat_to_mat(b_in_a.q);
    double mass = a->mass + b->mass;
    ItmVec3 com = itm_vec_scale(1.0 / mass, itm_vec_add(itm_vec_scale(a->mass, a->inertial.p), itm_vec_scale(b->mass, b_in_a.p)));
    ItmSym3 J_a = shift_inertia(itm_sym_rotate(&R_a, &a->inertia), a->mass, itm_vec_sub(a->inertial.p, com));
    ItmSym3 J_b = shift_inertia(itm_sym_rotate(&R_b, &b->inertia), b->mass, itm_vec_sub(b_in_a.p, com));
    a->mass = mass;
    a->inertial = (ItmPose){com, itm_quat_identity()};
    a->inertia = add_inertias(J_a, J_b);
    b->mass = 0.0;
    note_at(m, b->inertial_line, "the mass of link '%s' is counted to link '%s', which it is fixed to", b->name, a->name);
}

// Merge links of a group into its link `into`: those whose inertia no solid has, or (all) every one.
static void merge_group(Import* m, int into, bool all)
{
    for (int i = 0; i < m->robot.nlink; i++) {
        const ItmUrdfLink* link = &m->robot.links[i];
        if (i != into && m->places[i].group == m->places[into].group && link->mass > 0.0 && (all || !is_solid(link))) {
            merge_mass(m, into, i);
        }
    }
}

// Enlarge all three principal moments by the same, as little as makes them those of a solid; of a body without any
// inertia by those of a ball of its mass with a radius of gyration of 1 cm.
static void repair_inertia(Import* m, ItmUrdfLink* link)
{
    double enlarged = 0.0, add = 1e-12 * link->mass;
    ItmSym3 J = link->inertia;
    bool is_zero = J.xx == 0.0 && J.yy == 0.0 && J.zz == 0.0 && J.xy == 0.0 && J.xz == 0.0 && J.yz == 0.0;
    add = is_zero ? 1e-4 * link->mass : add;
    for (int i = 0; i < 200 && !is_solid(link); i++, add *= 1.5) {
        enlarged += add;
        link->inertia.xx = J.xx + enlarged;
        link->inertia.yy = J.yy + enlarged;
        link->inertia.zz = J.zz + enlarged;
    }
    note_at(m, link->inertial_line, "the principal moments of inertia of link '%s' are enlarged by %.3g kg m^2", link->name,
            enlarged);
}

// Make a link that of a solid with the masses of its group: those that are none's, then all; then by force or not at all.
static void settle_link(Import* m, int index)
{
    ItmUrdfLink* link = &m->robot.links[index];
    merge_group(m, index, false);
    if (!is_solid(link)) {
        merge_group(m, index, true);
    }
    if (!is_solid(link) && m->repairs) {
        repair_inertia(m, link);
    } else if (!is_solid(link)) {
        ItmError reason = {0};
        itm_inertia_check(&link->inertia, link->name, &reason);
        fail_at(m, link->inertial_line, "%.300s; 'inertia: repair' in urdf enlarges it as little as needed", reason.message);
    }
}

// Links whose inertia no solid has: below a fixed base it does not matter; fixed to others the sum counts; otherwise the file
// is refused, or repaired where the user wants that.
static void settle_masses(Import* m)
{
    for (int i = 0; i < m->robot.nlink && m->r->status == ITM_OK; i++) {
        ItmUrdfLink* link = &m->robot.links[i];
        int group = m->places[i].group, into = i;
        if (link->mass == 0.0 || is_solid(link)) {
            continue;
        }
        if (group == 0 && !m->is_free) {
            link->mass = 0.0;
            note_at(m, link->inertial_line, "link '%s' is part of the ground: its inertia is not that of a solid", link->name);
            continue;
        }
        for (int k = m->robot.nlink - 1; k >= 0; k--) {
            into = m->places[k].group == group && is_solid(&m->robot.links[k]) ? k : into;
        }
        settle_link(m, into);
    }
}

// ---------------------------------------------------------------------------- frames

// The link of each group that carries its frames: the first with mass, ITM_NONE: none. carriers (nlink)
static void find_carriers(const Import* m, int* carriers)
{
    for (int i = 0; i < m->robot.nlink; i++) {
        carriers[i] = ITM_NONE;
    }
    for (int i = m->robot.nlink - 1; i >= 0; i--) {
        if (m->robot.links[i].mass > 0.0) {
            carriers[m->places[i].group] = i;
        }
    }
}

// Groups without mass: the ground below a fixed base; otherwise they are lost with all that hangs on them, which must have
// no mass either. has_mass (nlink): something with mass hangs on the link, or it has mass itself.
static void drop_massless(Import* m, const int* carriers, bool* has_mass)
{
    const ItmUrdf* robot = &m->robot;
    for (int i = robot->nlink - 1; i >= 0; i--) {
        has_mass[i] = has_mass[i] || robot->links[i].mass > 0.0;
        if (i > 0 && has_mass[i]) {
            has_mass[robot->joints[i - 1].parent] = true;
        }
    }
    for (int i = 0; i < robot->nlink; i++) {
        int group = m->places[i].group;
        if (carriers[group] != ITM_NONE || (group == 0 && !m->is_free)) {
            continue;
        }
        m->places[i].is_lost = true;
        if (has_mass[i]) {
            fail_at(m, robot->links[i].line, "link '%s' moves but has no mass: give it an <inertial>, or fix it to one that has",
                    robot->links[i].name);
            return;
        }
        note_at(m, robot->links[i].line, "link '%s' is left out: nothing there has mass", robot->links[i].name);
    }
}

// ---------------------------------------------------------------------------- bodies

static void add_body(Import* m, int index)
{
    const ItmUrdfLink* link = &m->robot.links[index];
    ItmMat3 R = itm_quat_to_mat(link->inertial.q);
    ItmBodyDef def = itm_default_body_def();
    def.name = make_name(m, link->name, "");
    def.mass = link->mass;
    def.com = link->inertial.p;
    def.inertia = itm_sym_rotate(&R, &link->inertia);
    def.has_pose = true;
    def.pose = m->places[index].world;
    if (m->r->status == ITM_OK) {
        take_status(m, itm_builder_add_body(m->r->builder, &def, &m->places[index].body, m->r->error), link->inertial_line);
        m->places[index].in_body = itm_pose_identity();
    }
}

static void add_bodies(Import* m, const int* carriers)
{
    for (int i = 0; i < m->robot.nlink && m->r->status == ITM_OK; i++) {
        if (m->robot.links[i].mass > 0.0) {
            add_body(m, i);
        }
    }
    for (int i = 0; i < m->robot.nlink; i++) {
        Place* place = &m->places[i];
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

static int add_joint(Import* m, ItmJointDef* def, int line)
{
    int id = ITM_NONE;
    if (m->r->status == ITM_OK) {
        take_status(m, itm_builder_add_joint(m->r->builder, def, &id, m->r->error), line);
    }
    return id;
}

// The base of the robot on the ground.
static void mount(Import* m, int carrier)
{
    if (m->is_free || carrier == ITM_NONE || m->r->status != ITM_OK) {
        return;
    }
    ItmJointDef def = itm_default_joint_def(ITM_JOINT_FIXED);
    def.name = make_name(m, m->robot.links[carrier].name, "-mount");
    def.body_b = m->places[carrier].body;
    def.frame_a = m->places[carrier].world;
    add_joint(m, &def, m->robot.links[carrier].line);
}

// A fixed joint between two bodies of a group; frames and carriers need none.
static int add_fixed(Import* m, const ItmUrdfJoint* joint, int carrier)
{
    const Place *parent = &m->places[joint->parent], *child = &m->places[joint->child];
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

static int add_moving(Import* m, const ItmUrdfJoint* joint, double value)
{
    static const ItmJointType TYPES[ITM_URDF_JOINT_TYPE_COUNT] = {
        [ITM_URDF_REVOLUTE] = ITM_JOINT_REVOLUTE,
        [ITM_URDF_CONTINUOUS] = ITM_JOINT_REVOLUTE,
        [ITM_URDF_PRISMATIC] = ITM_JOINT_PRISMATIC,
        [ITM_URDF_PLANAR] = ITM_JOINT_PLANAR,
        [ITM_URDF_SPHERICAL] = ITM_JOINT_SPHERICAL,
    };
    const Place *parent = &m->places[joint->parent], *child = &m->places[joint->child];
    ItmPose along;  // z along the axis of the joint
    take_status(m, itm_frame_from_axis(&along, itm_vec(0, 0, 0), joint->axis, itm_vec(0, 0, 0), m->r->error), joint->line);
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
static void add_dynamics(Import* m, const ItmUrdfJoint* joint, int id)
{
    ItmDirection direction = joint->type == ITM_URDF_PRISMATIC ? ITM_TZ : ITM_RZ;
    ItmStatus status = ITM_OK;
    if (joint->has_limit) {
        ItmLimitDef def = itm_default_limit_def();
        def.name = make_name(m, joint->name, "-limit");
        def.joint = id;
        def.direction = direction;
        def.lower = joint->lower;
        def.upper = joint->upper;
        status = itm_builder_add_limit(m->r->builder, &def, NULL, m->r->error);
    }
    if (joint->damping > 0.0 && status == ITM_OK) {
        ItmJointSpringDef def = itm_default_joint_spring_def();
        def.name = make_name(m, joint->name, "-damping");
        def.joint = id;
        def.direction = direction;
        def.damping = joint->damping;
        def.is_implicit = true;  // light links with much damping are common
        status = itm_builder_add_joint_spring(m->r->builder, &def, NULL, m->r->error);
    }
    if (joint->friction > 0.0 && status == ITM_OK) {
        ItmJointFrictionDef def = itm_default_joint_friction_def();
        def.name = make_name(m, joint->name, "-friction");
        def.joint = id;
        def.direction = direction;
        def.force = joint->friction;
        status = itm_builder_add_joint_friction(m->r->builder, &def, NULL, m->r->error);
    }
    take_status(m, status, joint->line);
}

static void add_joints(Import* m, const int* carriers)
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

static void add_couplings(Import* m)
{
    for (int i = 0; i < m->robot.njoint && m->r->status == ITM_OK; i++) {
        const ItmUrdfJoint* joint = &m->robot.joints[i];
        int leader = joint->mimic != NULL ? find_joint(m, joint->mimic) : ITM_NONE;
        if (leader == ITM_NONE || m->joints[i] == ITM_NONE) {
            continue;
        }
        const ItmUrdfJoint* other = &m->robot.joints[leader];
        if (m->joints[leader] == ITM_NONE || !has_coordinate(joint) || !has_coordinate(other) || joint->multiplier == 0.0) {
            note_at(m, joint->line, "joint '%s' does not follow joint '%s': both need one coordinate, and a factor", joint->name,
                    joint->mimic);
            continue;
        }
        ItmCouplingDef def = itm_default_coupling_def();
        def.name = make_name(m, joint->name, "-mimic");
        def.joint_first = m->joints[i];
        def.joint_second = m->joints[leader];
        def.direction_first = joint->type == ITM_URDF_PRISMATIC ? ITM_TZ : ITM_RZ;
        def.direction_second = other->type == ITM_URDF_PRISMATIC ? ITM_TZ : ITM_RZ;
        def.ratio = joint->multiplier;
        take_status(m, itm_builder_add_coupling(m->r->builder, &def, NULL, m->r->error), joint->line);
    }
}

// ---------------------------------------------------------------------------- shapes

static bool is_file(const char* path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

// directory/name, or NULL where that is no file or does not fit.
static const char* try_path(char* path, size_t size, const char* directory, size_t length, const char* name)
{
    int n = snprintf(path, size, "%.*s%s", (int)length, directory, name);
    return n > 0 && (size_t)n < size && is_file(path) ? path : NULL;
}

// Where the model file says that a package is, with a slash at its end; NULL if it does not.
static const char* find_package(Import* m, const char* name, size_t length)
{
    for (const ItmItem* item = m->packages != NULL ? m->packages->first : NULL; item != NULL; item = item->next) {
        if (item->key != NULL && item->key->length == length && memcmp(item->key->text, name, length) == 0) {
            const char* directory = itm_reader_get_text(m->r, item->value, "a directory");
            return directory != NULL ? keep_path(m, directory) : NULL;
        }
    }
    return NULL;
}

// The file that a mesh means: "package://name/rest" where the model file says, or in a directory `name` beside the URDF file or
// above it; "file://path"; anything else beside the URDF file.
static const char* find_mesh(Import* m, const char* uri, char* path, size_t size)
{
    const char* slash = strrchr(m->path, '/');
    size_t directory = slash != NULL ? (size_t)(slash - m->path) + 1 : 0;
    if (strncmp(uri, "file://", 7) == 0) {
        return try_path(path, size, "", 0, uri + 7);
    }
    if (strncmp(uri, "package://", 10) != 0) {
        return try_path(path, size, m->path, uri[0] == '/' ? 0 : directory, uri);
    }
    const char* rest = uri + 10;
    size_t length = strcspn(rest, "/");
    const char* package = find_package(m, rest, length);
    if (package != NULL) {
        char base[1024];
        int n = snprintf(base, sizeof base, "%s", package);
        return n > 0 && (size_t)n < sizeof base ? try_path(path, size, base, (size_t)n, rest + length) : NULL;
    }
    const char* found = NULL;
    char up[1024] = "";
    for (int level = 0; level < 8 && found == NULL; level++) {
        char name[1024];
        snprintf(name, sizeof name, "%.200s%.800s", up, rest);
        found = try_path(path, size, m->path, directory, name);
        if (found == NULL && rest[length] == '/') {
            snprintf(name, sizeof name, "%.200s%.800s", up, rest + length + 1);
            found = try_path(path, size, m->path, directory, name);
        }
        strcat(up, "../");
    }
    return found;
}

// The convex hull of a mesh. A mesh that cannot be had is left out, with a note.
static void add_mesh(Import* m, const ItmUrdfShape* shape, ItmColliderDef* def)
{
    char path[2048];
    ItmMesh mesh = {0};
    ItmError error = {0};
    const char* found = find_mesh(m, shape->file, path, sizeof path);
    if (found == NULL) {
        note_at(m, shape->line, "mesh '%.200s' is left out: it is not found", shape->file);
        return;
    }
    if (itm_mesh_read(&mesh, found, 1.0, &error) != ITM_OK) {
        note_at(m, shape->line, "mesh '%.200s' is left out: %.200s", shape->file, error.message);
        itm_mesh_free(&mesh);
        return;
    }
    for (int i = 0; i < mesh.nvertex; i++) {
        ItmVec3* v = &mesh.vertices[i];
        *v = itm_vec(shape->size[0] * v->x, shape->size[1] * v->y, shape->size[2] * v->z);
    }
    def->kind = ITM_COLLIDER_HULL;
    def->vertices = mesh.vertices;
    def->nvertex = mesh.nvertex;
    if (itm_builder_add_collider(m->r->builder, def, NULL, &error) != ITM_OK) {
        note_at(m, shape->line, "mesh '%.200s' is left out: %.200s", shape->file, error.message);
    }
    itm_mesh_free(&mesh);
}

static void add_shape(Import* m, const ItmUrdfShape* shape, const char* name)
{
    static const ItmColliderKind KINDS[] = {
        [ITM_URDF_BOX] = ITM_COLLIDER_BOX,
        [ITM_URDF_SPHERE] = ITM_COLLIDER_SPHERE,
        [ITM_URDF_CYLINDER] = ITM_COLLIDER_CYLINDER,
    };
    const Place* place = &m->places[shape->link];
    ItmColliderDef def = itm_default_collider_def();
    def.name = name;
    def.body = place->body;
    def.pose = itm_pose_mul(place->in_body, shape->pose);
    def.material = m->material;
    if (shape->kind == ITM_URDF_MESH) {
        add_mesh(m, shape, &def);
        return;
    }
    def.kind = KINDS[shape->kind];
    memcpy(def.size, shape->size, sizeof def.size);
    take_status(m, itm_builder_add_collider(m->r->builder, &def, NULL, m->r->error), shape->line);
}

static void add_shapes(Import* m)
{
    int last = ITM_NONE, number = 0;
    for (int i = 0; i < m->robot.nshape && m->r->status == ITM_OK; i++) {
        const ItmUrdfShape* shape = &m->robot.shapes[i];
        number = shape->link == last ? number + 1 : 1;
        last = shape->link;
        char ending[24];
        snprintf(ending, sizeof ending, number > 1 ? "-shape%d" : "-shape", number);
        const char* name = make_name(m, m->robot.links[shape->link].name, ending);
        if (name != NULL && !m->places[shape->link].is_lost && m->contacts != CONTACTS_NONE) {
            add_shape(m, shape, name);
        }
    }
}

// Whether the shapes of two links may meet.
static bool may_meet(const Import* m, int a, int b)
{
    const ItmUrdf* robot = &m->robot;
    int group_a = m->places[a].group, group_b = m->places[b].group;
    if (m->contacts != CONTACTS_ALL || group_a == group_b) {
        return false;
    }
    bool is_above = group_b > 0 && m->places[robot->joints[group_b - 1].parent].group == group_a;
    bool is_below = group_a > 0 && m->places[robot->joints[group_a - 1].parent].group == group_b;
    return !is_above && !is_below;
}

static void exclude_contacts(Import* m)
{
    for (int i = 0; i < m->robot.nlink && m->contacts != CONTACTS_NONE; i++) {
        for (int k = 0; k < i && m->r->status == ITM_OK; k++) {
            const Place *a = &m->places[i], *b = &m->places[k];
            if (!a->is_lost && !b->is_lost && a->body != b->body && !may_meet(m, i, k)) {
                take_status(m, itm_builder_exclude_contact(m->r->builder, a->body, b->body, m->r->error), 1);
            }
        }
    }
}

// ---------------------------------------------------------------------------- robot

static void note_unused(Import* m)
{
    for (int i = 0; i < m->robot.nunused; i++) {
        const ItmUrdfUnused* unused = &m->robot.unused[i];
        char times[32] = "";
        if (unused->count > 1) {
            snprintf(times, sizeof times, ", %d times", unused->count);
        }
        note_at(m, unused->line, "%s is not used%s", unused->what, times);
    }
}

static void build_robot(Import* m)
{
    size_t n = (size_t)m->robot.nlink;
    m->places = take(m, n * sizeof *m->places);
    m->values = take(m, n * sizeof *m->values);
    m->joints = take(m, n * sizeof *m->joints);
    int* carriers = take(m, n * sizeof *carriers);
    bool* has_mass = take(m, n * sizeof *has_mass);
    if (m->r->status != ITM_OK) {
        return;
    }
    set_default_starts(m);
    read_starts(m);
    follow_leaders(m);
    place_links(m);
    settle_masses(m);
    find_carriers(m, carriers);
    drop_massless(m, carriers, has_mass);
    add_bodies(m, carriers);
    mount(m, carriers[0]);
    add_joints(m, carriers);
    add_couplings(m);
    add_shapes(m);
    exclude_contacts(m);
    note_unused(m);
}

static void read_options(Import* m, const ItmNode* node)
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
    m->contacts = contacts > 0 ? (Contacts)contacts : CONTACTS_OUTSIDE;
    m->material = itm_reader_get_material(r, v[MATERIAL]);
    m->repairs = itm_reader_get_word(r, v[INERTIA], "a choice for bad inertias", INERTIAS, 2, 0) == 1;
    const char* prefix = itm_reader_get_text(r, v[PREFIX], "a prefix");
    m->prefix = prefix != NULL ? prefix : "";
    m->start = v[START];
    m->packages = v[PACKAGES];
    if (m->packages != NULL) {
        itm_reader_is_collection(r, m->packages, "packages");
    }
    m->path = r->status == ITM_OK ? keep_path(m, name) : NULL;
}

static void read_robot(ItmReader* r, const ItmNode* node)
{
    Import m = {.r = r, .node = node};
    size_t length = 0;
    const char* why = NULL;
    read_options(&m, node);
    if (m.path == NULL || r->status != ITM_OK) {
        return;
    }
    char* bytes = itm_bytes_read(m.path, ITM_DOCUMENT_MAX_BYTES, &length, &why);
    if (bytes == NULL) {
        itm_reader_fail(r, m.node, "cannot read '%.200s': %s", m.path, why);
        return;
    }
    r->status = itm_urdf_parse(&m.robot, r->doc, bytes, length, m.path, r->error);
    free(bytes);
    if (r->status == ITM_OK && m.robot.nlink > MOST_LINKS) {
        fail_at(&m, 1, "the robot has %d links; at most %d are read", m.robot.nlink, MOST_LINKS);
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
