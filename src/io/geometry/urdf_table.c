// The tables of a robot description as bytes: an exported FMU has no parser of XML.
//
// One function lists all fields, for writing and for reading. Numbers have 8 bytes, texts a length before them. What is read is checked: the
// bytes end where the tables do, and every index is in its table.
#include "io/geometry/urdf.h"

#include "base/error.h"

#include <stdint.h>
#include <string.h>

#define MAGIC "interim-urdf 1\n"
#define MOST_ROWS 100000

typedef struct Stream {
    ItmUrdfSink* put;  // NULL: reading
    void* context;
    const char *at, *end;
    ItmDocument* doc;
    bool has_failed;
} Stream;

// ---------------------------------------------------------------------------- fields

static void pass(Stream* s, void* value, size_t size)
{
    if (s->put != NULL) {
        s->put(s->context, value, size);
    } else if ((size_t)(s->end - s->at) >= size && !s->has_failed) {
        memcpy(value, s->at, size);
        s->at += size;
    } else {
        memset(value, 0, size);
        s->has_failed = true;
    }
}

static void pass_int(Stream* s, int* value)
{
    int64_t wide = *value;
    pass(s, &wide, sizeof wide);
    *value = (int)wide;
    s->has_failed = s->has_failed || wide != *value;
}

static void pass_bool(Stream* s, bool* value)
{
    int number = *value;
    pass_int(s, &number);
    *value = number != 0;
}

static void pass_reals(Stream* s, double* values, int n)
{
    pass(s, values, sizeof(double) * (size_t)n);
}

// Length and bytes; a length of -1: NULL.
static void pass_text(Stream* s, const char** text)
{
    int length = *text != NULL ? (int)strlen(*text) : -1;
    pass_int(s, &length);
    if (s->put != NULL) {
        s->put(s->context, *text != NULL ? *text : "", length > 0 ? (size_t)length : 0);
        return;
    }
    bool is_good = !s->has_failed && length >= -1 && s->end - s->at >= length;
    char* copy = is_good && length >= 0 ? itm_document_take(s->doc, (size_t)length + 1) : NULL;
    s->has_failed = s->has_failed || !is_good || (length >= 0 && copy == NULL);
    if (copy != NULL) {
        memcpy(copy, s->at, (size_t)length);
        s->at += length;
    }
    *text = copy;
}

// Number of rows, and room for them.
static void* pass_count(Stream* s, void* rows, int* count, size_t size)
{
    pass_int(s, count);
    if (s->put != NULL) {
        return rows;
    }
    s->has_failed = s->has_failed || *count < 0 || *count > MOST_ROWS;
    rows = !s->has_failed ? itm_document_take(s->doc, size * ((size_t)*count + 1)) : NULL;
    s->has_failed = s->has_failed || rows == NULL;
    *count = s->has_failed ? 0 : *count;
    return rows;
}

// ---------------------------------------------------------------------------- tables

static void pass_pose(Stream* s, ItmPose* pose)
{
    double values[7] = {pose->p.x, pose->p.y, pose->p.z, pose->q.w, pose->q.x, pose->q.y, pose->q.z};
    pass_reals(s, values, 7);
    *pose = (ItmPose){.p = {values[0], values[1], values[2]},
                      .q = {.w = values[3], .x = values[4], .y = values[5], .z = values[6]}};
}

static void pass_link(Stream* s, ItmUrdfLink* link)
{
    double I[6] = {link->inertia.xx, link->inertia.yy, link->inertia.zz,
                   link->inertia.xy, link->inertia.xz, link->inertia.yz};
    pass_text(s, &link->name);
    pass_int(s, &link->line);
    pass_int(s, &link->inertial_line);
    pass_reals(s, &link->mass, 1);
    pass_pose(s, &link->inertial);
    pass_reals(s, I, 6);
    pass_int(s, &link->joint);
    link->inertia = (ItmSym3){.xx = I[0], .yy = I[1], .zz = I[2], .xy = I[3], .xz = I[4], .yz = I[5]};
}

static void pass_joint(Stream* s, ItmUrdfJoint* joint)
{
    double axis[3] = {joint->axis.x, joint->axis.y, joint->axis.z};
    int type = (int)joint->type;
    pass_text(s, &joint->name);
    pass_int(s, &joint->line);
    pass_int(s, &type);
    pass_int(s, &joint->parent);
    pass_int(s, &joint->child);
    pass_pose(s, &joint->origin);
    pass_reals(s, axis, 3);
    pass_bool(s, &joint->has_limit);
    pass_reals(s, &joint->lower, 1);
    pass_reals(s, &joint->upper, 1);
    pass_reals(s, &joint->damping, 1);
    pass_reals(s, &joint->friction, 1);
    pass_text(s, &joint->mimic);
    pass_reals(s, &joint->multiplier, 1);
    pass_reals(s, &joint->offset, 1);
    joint->axis = (ItmVec3){axis[0], axis[1], axis[2]};
    joint->type = (ItmUrdfJointType)type;
    s->has_failed = s->has_failed || type < 0 || type >= ITM_URDF_JOINT_TYPE_COUNT;
}

static void pass_shape(Stream* s, ItmUrdfShape* shape)
{
    int kind = (int)shape->kind;
    pass_int(s, &shape->line);
    pass_int(s, &shape->link);
    pass_int(s, &kind);
    pass_pose(s, &shape->pose);
    pass_reals(s, shape->size, 3);
    pass_text(s, &shape->file);
    shape->kind = (ItmUrdfShapeKind)kind;
    s->has_failed = s->has_failed || kind < 0 || kind > ITM_URDF_MESH || (kind == ITM_URDF_MESH && shape->file == NULL);
}

static void pass_robot(Stream* s, ItmUrdf* robot)
{
    pass_text(s, &robot->name);
    robot->links = pass_count(s, robot->links, &robot->nlink, sizeof *robot->links);
    for (int i = 0; i < robot->nlink; i++) {
        pass_link(s, &robot->links[i]);
    }
    robot->joints = pass_count(s, robot->joints, &robot->njoint, sizeof *robot->joints);
    for (int i = 0; i < robot->njoint; i++) {
        pass_joint(s, &robot->joints[i]);
    }
    robot->shapes = pass_count(s, robot->shapes, &robot->nshape, sizeof *robot->shapes);
    for (int i = 0; i < robot->nshape; i++) {
        pass_shape(s, &robot->shapes[i]);
    }
}

// ---------------------------------------------------------------------------- both ways

static bool is_index(int i, int count)
{
    return i >= 0 && i < count;
}

static bool has_good_indices(const ItmUrdf* robot)
{
    bool is_good = robot->nlink > 0 && robot->njoint == robot->nlink - 1;
    for (int i = 0; i < robot->nlink; i++) {
        int joint = robot->links[i].joint;
        is_good = is_good && robot->links[i].name != NULL && (joint == ITM_NONE || is_index(joint, robot->njoint));
    }
    for (int i = 0; i < robot->njoint; i++) {
        const ItmUrdfJoint* joint = &robot->joints[i];
        // parents stand before their children
        is_good = is_good && joint->name != NULL && is_index(joint->child, robot->nlink) &&
                  is_index(joint->parent, joint->child);
    }
    for (int i = 0; i < robot->nshape; i++) {
        is_good = is_good && is_index(robot->shapes[i].link, robot->nlink);
    }
    return is_good;
}

void itm_urdf_store(const ItmUrdf* robot, ItmUrdfSink* put, void* context)
{
    Stream s = {.put = put, .context = context};
    ItmUrdf copy = *robot;
    put(context, MAGIC, sizeof MAGIC - 1);
    pass_robot(&s, &copy);
}

ItmStatus itm_urdf_restore(ItmUrdf* robot, ItmDocument* doc, const char* bytes, size_t length, ItmError* error)
{
    *robot = (ItmUrdf){0};
    Stream s = {.doc = doc, .at = bytes, .end = bytes + length};
    s.has_failed = length < sizeof MAGIC - 1 || memcmp(bytes, MAGIC, sizeof MAGIC - 1) != 0;
    s.at += s.has_failed ? 0 : sizeof MAGIC - 1;
    pass_robot(&s, robot);
    if (s.has_failed || s.at != s.end || !has_good_indices(robot)) {
        *robot = (ItmUrdf){0};
        return itm_error_set(error, ITM_ERR_INPUT, __func__, NULL, "the tables of the robot are damaged");
    }
    return ITM_OK;
}
