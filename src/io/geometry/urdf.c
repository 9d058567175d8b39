#include "io/geometry/urdf.h"

#include "base/error.h"
#include "base/list.h"
#include "base/names.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "math/vec.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <libxml/parser.h>
#include <libxml/tree.h>

static const char* const TYPE_NAMES[ITM_URDF_JOINT_TYPE_COUNT] = {"fixed",  "revolute", "continuous", "prismatic",
                                                                  "planar", "floating", "spherical"};

// A joint as it stands in the file, with the names it refers to.
typedef struct RawJoint {
    ItmUrdfJoint joint;
    const char *parent, *child;
    int parent_line, child_line, mimic_line;
} RawJoint;

typedef struct Parser {
    ItmUrdf* robot;
    ItmDocument* doc;
    const char* path;
    ItmError* error;
    ItmStatus status;
    struct {
        ItmUrdfLink* items;
        int count, capacity;
    } links;
    struct {
        RawJoint* items;
        int count, capacity;
    } joints;
    struct {
        ItmUrdfShape* items;
        int count, capacity;
    } shapes;
    ItmNames link_names, joint_names;
} Parser;

// ---------------------------------------------------------------------------- complaints

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static void
fail(Parser* p, int line, const char* format, ...)
{
    if (p->status != ITM_OK) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    p->status = itm_error_set_list(p->error, ITM_ERR_INPUT, "itm_urdf_parse", NULL, format, arguments);
    va_end(arguments);
    itm_error_locate(p->error, p->path, line > 0 ? line : 1, 1);
}

static void fail_memory(Parser* p)
{
    if (p->status == ITM_OK) {
        p->status = itm_error_set(p->error, ITM_ERR_MEMORY, "itm_urdf_parse", NULL, "out of memory");
    }
}

static int line_of(const xmlNode* node)
{
    return (int)xmlGetLineNo((xmlNode*)node);
}

static const char* tag_of(const xmlNode* node)
{
    return (const char*)node->name;
}

static bool is_tag(const xmlNode* node, const char* name)
{
    return strcmp(tag_of(node), name) == 0;
}

static char* keep(Parser* p, const char* text)
{
    size_t size = strlen(text) + 1;
    char* copy = itm_document_take(p->doc, size);
    if (copy == NULL) {
        fail_memory(p);
        return NULL;
    }
    memcpy(copy, text, size);
    return copy;
}

// Note something that nothing is made of; the same thing is noted once, with its count.
static void note_unused(Parser* p, const xmlNode* node, const char* what, const char* where)
{
    char text[160];
    snprintf(text, sizeof text, "%.60s in <%.60s>", what, where);
    ItmUrdf* robot = p->robot;
    for (int i = 0; i < robot->nunused; i++) {
        if (strcmp(robot->unused[i].what, text) == 0) {
            robot->unused[i].count++;
            return;
        }
    }
    char* kept = robot->nunused < ITM_URDF_MOST_UNUSED ? keep(p, text) : NULL;
    if (kept != NULL) {
        robot->unused[robot->nunused++] = (ItmUrdfUnused){kept, line_of(node), 1};
    }
}

static void note_tag(Parser* p, const xmlNode* node)
{
    char tag[80];
    snprintf(tag, sizeof tag, "<%.60s>", tag_of(node));
    note_unused(p, node, tag, tag_of(node->parent));
}

// ---------------------------------------------------------------------------- attributes

// The text of an attribute, or NULL; the caller frees it with xmlFree.
static char* get_attribute(const xmlNode* node, const char* name)
{
    return (char*)xmlGetNoNsProp((xmlNode*)node, (const xmlChar*)name);
}

static const char* require_text(Parser* p, const xmlNode* node, const char* name)
{
    char* text = get_attribute(node, name);
    char* kept = NULL;
    if (text == NULL || text[0] == '\0') {
        fail(p, line_of(node), "<%s> needs the attribute '%s'", tag_of(node), name);
    } else {
        kept = keep(p, text);
    }
    xmlFree(text);
    return kept;
}

// Exactly n finite numbers, separated by white space.
static bool scan_numbers(const char* text, double* values, int n)
{
    for (int i = 0; i < n; i++) {
        char* end = NULL;
        values[i] = strtod(text, &end);
        if (end == text || !isfinite(values[i])) {
            return false;
        }
        text = end;
    }
    return text[strspn(text, " \t\r\n")] == '\0';
}

// Numbers of an attribute; where it is absent they stay as they are, and false is returned.
static bool get_numbers(Parser* p, const xmlNode* node, const char* name, double* values, int n)
{
    char* text = get_attribute(node, name);
    if (text == NULL) {
        return false;
    }
    if (!scan_numbers(text, values, n)) {
        fail(p, line_of(node), "attribute '%s' of <%s>: expected %d finite number%s, found '%.60s'%s", name,
             tag_of(node), n, n == 1 ? "" : "s", text,
             strchr(text, '$') != NULL ? "; expand the file with xacro first" : "");
    }
    xmlFree(text);
    return true;
}

static double get_number(Parser* p, const xmlNode* node, const char* name, double absent)
{
    get_numbers(p, node, name, &absent, 1);
    return absent;
}

static double require_number(Parser* p, const xmlNode* node, const char* name)
{
    double value = 0.0;
    if (!get_numbers(p, node, name, &value, 1)) {
        fail(p, line_of(node), "<%s> needs the attribute '%s'", tag_of(node), name);
    }
    return value;
}

// Roll, pitch and yaw about the fixed axes x, y, z, in this order.
static ItmQuat quat_from_rpy(const double* rpy)
{
    ItmQuat x = itm_quat_exp(itm_vec(rpy[0], 0, 0));
    ItmQuat y = itm_quat_exp(itm_vec(0, rpy[1], 0));
    ItmQuat z = itm_quat_exp(itm_vec(0, 0, rpy[2]));
    return itm_quat_normalize(itm_quat_mul(z, itm_quat_mul(y, x)));
}

static ItmPose get_origin(Parser* p, const xmlNode* node)
{
    double xyz[3] = {0}, rpy[3] = {0};
    get_numbers(p, node, "xyz", xyz, 3);
    get_numbers(p, node, "rpy", rpy, 3);
    return (ItmPose){itm_vec(xyz[0], xyz[1], xyz[2]), quat_from_rpy(rpy)};
}

// ---------------------------------------------------------------------------- links

static void read_inertial(Parser* p, const xmlNode* node, ItmUrdfLink* link)
{
    bool has_inertia = false;
    link->inertial_line = line_of(node);
    link->inertial = itm_pose_identity();
    for (const xmlNode* child = node->children; child != NULL; child = child->next) {
        if (child->type != XML_ELEMENT_NODE) {
            continue;
        }
        if (is_tag(child, "origin")) {
            link->inertial = get_origin(p, child);
        } else if (is_tag(child, "mass")) {
            link->mass = require_number(p, child, "value");
        } else if (is_tag(child, "inertia")) {
            has_inertia = true;
            link->inertia = (ItmSym3){
                .xx = require_number(p, child, "ixx"),
                .yy = require_number(p, child, "iyy"),
                .zz = require_number(p, child, "izz"),
                .xy = get_number(p, child, "ixy", 0.0),
                .xz = get_number(p, child, "ixz", 0.0),
                .yz = get_number(p, child, "iyz", 0.0),
            };
        } else {
            note_tag(p, child);
        }
    }
    if (link->mass < 0.0) {
        fail(p, link->inertial_line, "link '%s': the mass must not be negative, got %g", link->name, link->mass);
    } else if (link->mass > 0.0 && !has_inertia) {
        fail(p, link->inertial_line, "link '%s' has a mass but no <inertia>", link->name);
    }
}

// One factor for all, or three.
static void get_scale(Parser* p, const xmlNode* node, double* scale)
{
    char* text = get_attribute(node, "scale");
    if (text != NULL && scan_numbers(text, scale, 1)) {
        scale[1] = scale[2] = scale[0];
    } else {
        get_numbers(p, node, "scale", scale, 3);
    }
    xmlFree(text);
}

// <box size>, <cylinder radius length>, <sphere radius> or <mesh filename scale>; false for anything else.
static bool read_geometry(Parser* p, const xmlNode* node, ItmUrdfShape* shape)
{
    if (is_tag(node, "box")) {
        shape->kind = ITM_URDF_BOX;
        if (!get_numbers(p, node, "size", shape->size, 3)) {
            fail(p, line_of(node), "<box> needs the attribute 'size'");
        }
    } else if (is_tag(node, "sphere")) {
        shape->kind = ITM_URDF_SPHERE;
        shape->size[0] = require_number(p, node, "radius");
    } else if (is_tag(node, "cylinder")) {
        shape->kind = ITM_URDF_CYLINDER;
        shape->size[0] = require_number(p, node, "radius");
        shape->size[1] = require_number(p, node, "length");
    } else if (is_tag(node, "mesh")) {
        shape->kind = ITM_URDF_MESH;
        shape->size[0] = shape->size[1] = shape->size[2] = 1.0;
        shape->file = require_text(p, node, "filename");
        get_scale(p, node, shape->size);
    } else {
        return false;
    }
    return true;
}

static void read_collision(Parser* p, const xmlNode* node, int link)
{
    ItmUrdfShape shape = {.line = line_of(node), .link = link, .pose = itm_pose_identity()};
    bool has_geometry = false;
    for (const xmlNode* child = node->children; child != NULL; child = child->next) {
        if (child->type != XML_ELEMENT_NODE) {
            continue;
        }
        if (is_tag(child, "origin")) {
            shape.pose = get_origin(p, child);
        } else if (is_tag(child, "geometry")) {
            for (const xmlNode* kind = child->children; kind != NULL; kind = kind->next) {
                if (kind->type == XML_ELEMENT_NODE && read_geometry(p, kind, &shape)) {
                    has_geometry = true;
                } else if (kind->type == XML_ELEMENT_NODE) {
                    note_tag(p, kind);
                }
            }
        } else {
            note_tag(p, child);
        }
    }
    if (has_geometry && p->status == ITM_OK && !ITM_LIST_APPEND(p->shapes, shape)) {
        fail_memory(p);
    }
}

static void read_link(Parser* p, const xmlNode* node)
{
    ItmUrdfLink link = {.line = line_of(node), .joint = ITM_NONE, .inertial = itm_pose_identity()};
    link.name = require_text(p, node, "name");
    if (p->status != ITM_OK) {
        return;
    }
    int index = p->links.count;
    if (itm_names_find(&p->link_names, link.name, strlen(link.name)) != ITM_NONE) {
        fail(p, link.line, "there is a link '%s' already", link.name);
    } else if (itm_names_add(&p->link_names, link.name, strlen(link.name), index) == NULL) {
        fail_memory(p);
    }
    for (const xmlNode* child = node->children; child != NULL && p->status == ITM_OK; child = child->next) {
        if (child->type != XML_ELEMENT_NODE) {
            continue;
        }
        if (is_tag(child, "inertial")) {
            read_inertial(p, child, &link);
        } else if (is_tag(child, "collision")) {
            read_collision(p, child, index);
        } else {
            note_tag(p, child);
        }
    }
    if (p->status == ITM_OK && !ITM_LIST_APPEND(p->links, link)) {
        fail_memory(p);
    }
}

// ---------------------------------------------------------------------------- joints

static ItmUrdfJointType get_type(Parser* p, const xmlNode* node, const char* name)
{
    const char* text = require_text(p, node, "type");
    for (int i = 0; text != NULL && i < ITM_URDF_JOINT_TYPE_COUNT; i++) {
        if (strcmp(text, TYPE_NAMES[i]) == 0) {
            return (ItmUrdfJointType)i;
        }
    }
    if (text != NULL) {
        ItmNearest nearest = itm_nearest_start(text, strlen(text));
        for (int i = 0; i < ITM_URDF_JOINT_TYPE_COUNT; i++) {
            itm_nearest_offer(&nearest, TYPE_NAMES[i]);
        }
        char hint[160];
        fail(p, line_of(node),
             "joint '%s': '%.40s' is not a type of joint; expected fixed, revolute, continuous, prismatic, "
             "planar or floating%s",
             name, text, itm_nearest_format(&nearest, hint, sizeof hint));
    }
    return ITM_URDF_FIXED;
}

static void read_axis(Parser* p, const xmlNode* node, ItmUrdfJoint* joint)
{
    double xyz[3] = {1, 0, 0};
    get_numbers(p, node, "xyz", xyz, 3);
    ItmVec3 axis = itm_vec(xyz[0], xyz[1], xyz[2]);
    double length = itm_vec_norm(axis);
    bool has_axis =
        joint->type != ITM_URDF_FIXED && joint->type != ITM_URDF_FLOATING && joint->type != ITM_URDF_SPHERICAL;
    if (has_axis && !(length > 0.0 && isfinite(length))) {
        fail(p, line_of(node), "joint '%s': the axis has no direction", joint->name);
    }
    joint->axis = length > 0.0 ? itm_vec_scale(1.0 / length, axis) : axis;
}

static void read_limit(Parser* p, const xmlNode* node, ItmUrdfJoint* joint)
{
    joint->has_limit = joint->type == ITM_URDF_REVOLUTE || joint->type == ITM_URDF_PRISMATIC;
    joint->lower = get_number(p, node, "lower", 0.0);
    joint->upper = get_number(p, node, "upper", 0.0);
    if (joint->has_limit && joint->lower > joint->upper) {
        joint->has_limit = false;
        note_unused(p, node, "a lower limit above the upper one", "limit");
    }
    if (xmlHasProp((xmlNode*)node, (const xmlChar*)"effort") ||
        xmlHasProp((xmlNode*)node, (const xmlChar*)"velocity")) {
        note_unused(p, node, "effort and velocity", "limit");
    }
}

static void read_joint_part(Parser* p, const xmlNode* node, RawJoint* raw)
{
    ItmUrdfJoint* joint = &raw->joint;
    if (is_tag(node, "parent")) {
        raw->parent = require_text(p, node, "link");
        raw->parent_line = line_of(node);
    } else if (is_tag(node, "child")) {
        raw->child = require_text(p, node, "link");
        raw->child_line = line_of(node);
    } else if (is_tag(node, "origin")) {
        joint->origin = get_origin(p, node);
    } else if (is_tag(node, "axis")) {
        read_axis(p, node, joint);
    } else if (is_tag(node, "limit")) {
        read_limit(p, node, joint);
    } else if (is_tag(node, "dynamics")) {
        joint->damping = get_number(p, node, "damping", 0.0);
        joint->friction = get_number(p, node, "friction", 0.0);
    } else if (is_tag(node, "mimic")) {
        joint->mimic = require_text(p, node, "joint");
        joint->multiplier = get_number(p, node, "multiplier", 1.0);
        joint->offset = get_number(p, node, "offset", 0.0);
        raw->mimic_line = line_of(node);
    } else {
        note_tag(p, node);
    }
}

static void read_joint(Parser* p, const xmlNode* node)
{
    RawJoint raw = {.joint = {.line = line_of(node), .origin = itm_pose_identity(), .axis = {1, 0, 0}}};
    ItmUrdfJoint* joint = &raw.joint;
    joint->name = require_text(p, node, "name");
    joint->type = joint->name != NULL ? get_type(p, node, joint->name) : ITM_URDF_FIXED;
    for (const xmlNode* child = node->children; child != NULL && p->status == ITM_OK; child = child->next) {
        if (child->type == XML_ELEMENT_NODE) {
            read_joint_part(p, child, &raw);
        }
    }
    if (p->status != ITM_OK) {
        return;
    }
    if (raw.parent == NULL || raw.child == NULL) {
        fail(p, joint->line, "joint '%s' needs <%s link=\"...\"/>", joint->name,
             raw.parent == NULL ? "parent" : "child");
    } else if (joint->damping < 0.0 || joint->friction < 0.0) {
        fail(p, joint->line, "joint '%s': damping and friction must not be negative", joint->name);
    } else if (itm_names_find(&p->joint_names, joint->name, strlen(joint->name)) != ITM_NONE) {
        fail(p, joint->line, "there is a joint '%s' already", joint->name);
    } else if (itm_names_add(&p->joint_names, joint->name, strlen(joint->name), p->joints.count) == NULL ||
               !ITM_LIST_APPEND(p->joints, raw)) {
        fail_memory(p);
    }
}

// ---------------------------------------------------------------------------- tree

static int find_link(Parser* p, const char* name, int line)
{
    int link = itm_names_find(&p->link_names, name, strlen(name));
    if (link == ITM_NONE) {
        ItmNearest nearest = itm_nearest_start(name, strlen(name));
        for (int i = 0; i < p->links.count; i++) {
            itm_nearest_offer(&nearest, p->links.items[i].name);
        }
        char hint[160];
        fail(p, line, "there is no link '%.64s'%s", name, itm_nearest_format(&nearest, hint, sizeof hint));
    }
    return link;
}

// Links by number, and which joint leads to which link.
static void connect(Parser* p)
{
    for (int i = 0; i < p->joints.count && p->status == ITM_OK; i++) {
        RawJoint* raw = &p->joints.items[i];
        ItmUrdfJoint* joint = &raw->joint;
        joint->parent = find_link(p, raw->parent, raw->parent_line);
        joint->child = find_link(p, raw->child, raw->child_line);
        if (p->status != ITM_OK) {
            return;
        }
        ItmUrdfLink* child = &p->links.items[joint->child];
        if (child->joint != ITM_NONE) {
            fail(p, joint->line, "link '%s' is the child of both joint '%s' and joint '%s': the links must form a tree",
                 child->name, p->joints.items[child->joint].joint.name, joint->name);
        }
        child->joint = i;
        if (joint->mimic != NULL && itm_names_find(&p->joint_names, joint->mimic, strlen(joint->mimic)) == ITM_NONE) {
            fail(p, raw->mimic_line, "joint '%s' follows joint '%.64s', which is not there", joint->name, joint->mimic);
        }
    }
}

static int find_root(Parser* p)
{
    int root = ITM_NONE;
    for (int i = 0; i < p->links.count; i++) {
        const ItmUrdfLink* link = &p->links.items[i];
        if (link->joint == ITM_NONE && root != ITM_NONE) {
            fail(p, link->line, "no joint leads to link '%s' nor to link '%s': a robot has one root", link->name,
                 p->links.items[root].name);
        }
        root = link->joint == ITM_NONE && root == ITM_NONE ? i : root;
    }
    if (root == ITM_NONE) {
        fail(p, 1, "%s", p->links.count == 0 ? "there are no links" : "every link is a child: the joints form a loop");
    }
    return root;
}

// Order links root first, parents before children, by breadth. next, first: links by parent as linked lists.
static void sort_links(Parser* p, int root)
{
    int n = p->links.count, count = 1;
    ItmUrdf* robot = p->robot;
    int* work = itm_document_take(p->doc, 4 * (size_t)n * sizeof *work);
    robot->links = itm_document_take(p->doc, (size_t)n * sizeof *robot->links);
    robot->joints = itm_document_take(p->doc, (size_t)n * sizeof *robot->joints);
    if (work == NULL || robot->links == NULL || robot->joints == NULL) {
        fail_memory(p);
        return;
    }
    int *first = work, *next = work + n, *order = work + 2 * n, *index = work + 3 * n;
    for (int i = 0; i < n; i++) {
        first[i] = next[i] = index[i] = ITM_NONE;
    }
    for (int i = p->joints.count - 1; i >= 0; i--) {
        const ItmUrdfJoint* joint = &p->joints.items[i].joint;
        next[joint->child] = first[joint->parent];
        first[joint->parent] = joint->child;
    }
    order[0] = root;
    for (int i = 0; i < count; i++) {
        index[order[i]] = i;
        for (int child = first[order[i]]; child != ITM_NONE; child = next[child]) {
            order[count++] = child;
        }
    }
    for (int i = 0; i < n && count < n; i++) {
        if (index[i] == ITM_NONE) {
            fail(p, p->links.items[i].line, "link '%s' does not hang on the root '%s': its joints form a loop",
                 p->links.items[i].name, p->links.items[root].name);
            return;
        }
    }
    for (int i = 0; i < n; i++) {
        robot->links[i] = p->links.items[order[i]];
        if (i > 0) {
            ItmUrdfJoint joint = p->joints.items[robot->links[i].joint].joint;
            joint.parent = index[joint.parent];
            joint.child = i;
            robot->links[i].joint = i - 1;
            robot->joints[i - 1] = joint;
        }
    }
    for (int i = 0; i < p->shapes.count; i++) {
        p->shapes.items[i].link = index[p->shapes.items[i].link];
    }
    robot->nlink = n;
    robot->njoint = n - 1;
}

static void keep_shapes(Parser* p)
{
    size_t size = (size_t)p->shapes.count * sizeof *p->shapes.items;
    p->robot->shapes = itm_document_take(p->doc, size + 1);
    if (p->robot->shapes == NULL) {
        fail_memory(p);
    } else if (p->shapes.count > 0) {
        memcpy(p->robot->shapes, p->shapes.items, size);
        p->robot->nshape = p->shapes.count;
    }
}

// ---------------------------------------------------------------------------- document

static void read_robot(Parser* p, const xmlNode* root)
{
    if (root == NULL || !is_tag(root, "robot")) {
        fail(p, root != NULL ? line_of(root) : 1, "a URDF file begins with <robot>, not <%.40s>",
             root != NULL ? tag_of(root) : "");
        return;
    }
    char* name = get_attribute(root, "name");
    p->robot->name = keep(p, name != NULL ? name : "");
    xmlFree(name);
    for (const xmlNode* node = root->children; node != NULL && p->status == ITM_OK; node = node->next) {
        if (node->type != XML_ELEMENT_NODE) {
            continue;
        }
        if (is_tag(node, "link")) {
            read_link(p, node);
        } else if (is_tag(node, "joint")) {
            read_joint(p, node);
        } else {
            note_tag(p, node);
        }
    }
    if (p->status == ITM_OK) {
        connect(p);
    }
    int root_link = p->status == ITM_OK ? find_root(p) : ITM_NONE;
    if (p->status == ITM_OK) {
        sort_links(p, root_link);
    }
    if (p->status == ITM_OK) {
        keep_shapes(p);
    }
}

// Text that must not be in a description: entities are the way to bombs and to other files.
static void check_bytes(Parser* p, const char* bytes, size_t length)
{
    static const char* const FORBIDDEN[] = {"<!DOCTYPE", "<!ENTITY"};
    size_t good = itm_utf8_check(bytes, length);
    int line = 1;
    if (length > ITM_URDF_MAX_BYTES) {
        fail(p, 1, "the file is larger than %zu MB", ITM_URDF_MAX_BYTES >> 20);
        return;
    }
    for (size_t i = 0; i < length && p->status == ITM_OK; i++) {
        line += bytes[i] == '\n';
        if (i == good || bytes[i] == '\0') {
            fail(p, line, "this is not UTF-8 text");
        }
        for (int k = 0; k < 2 && bytes[i] == '<'; k++) {
            size_t n = strlen(FORBIDDEN[k]);
            if (length - i >= n && strncasecmp(bytes + i, FORBIDDEN[k], n) == 0) {
                fail(p, line, "a robot description has no business with %s", FORBIDDEN[k] + 1);
            }
        }
    }
}

// A copy without the XML declaration: it adds nothing, and is wrong more often than not (version "0.0",
// not at the start). Blanks take its place, so that lines stay.
static char* copy_without_declaration(Parser* p, const char* bytes, size_t length)
{
    char* copy = itm_document_take(p->doc, length + 1);
    if (copy == NULL) {
        fail_memory(p);
        return NULL;
    }
    memcpy(copy, bytes, length);
    copy[length] = '\0';
    char* declaration = strstr(copy, "<?xml ");
    char* end = declaration != NULL ? strstr(declaration, "?>") : NULL;
    for (char* c = declaration; end != NULL && c < end + 2; c++) {
        *c = *c == '\n' ? '\n' : ' ';
    }
    return copy;
}

static void parse_xml(Parser* p, const char* bytes, size_t length)
{
    char* text = copy_without_declaration(p, bytes, length);
    xmlParserCtxt* context = text != NULL ? xmlNewParserCtxt() : NULL;
    if (context == NULL) {
        fail_memory(p);
        return;
    }
    xmlDoc* document =
        xmlCtxtReadMemory(context, text, (int)length, NULL, "UTF-8",
                          XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_BIG_LINES);
    if (document == NULL) {
        const xmlError* error = xmlCtxtGetLastError(context);
        char reason[200] = "it cannot be parsed";
        if (error != NULL && error->message != NULL) {
            snprintf(reason, sizeof reason, "%s", error->message);
            reason[strcspn(reason, "\n")] = '\0';
        }
        fail(p, error != NULL ? error->line : 1, "not well-formed XML: %s", reason);
    } else {
        read_robot(p, xmlDocGetRootElement(document));
    }
    xmlFreeDoc(document);
    xmlFreeParserCtxt(context);
}

ItmStatus itm_urdf_parse(ItmUrdf* robot, ItmDocument* doc, const char* bytes, size_t length, const char* path,
                         ItmError* error)
{
    *robot = (ItmUrdf){0};
    Parser p = {.robot = robot, .doc = doc, .path = path, .error = error};
    // numbers are written with a point whatever the locale
    locale_t c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t before = uselocale(c_locale);
    check_bytes(&p, bytes, length);
    if (p.status == ITM_OK) {
        parse_xml(&p, bytes, length);
    }
    uselocale(before);
    if (c_locale != (locale_t)0) {
        freelocale(c_locale);
    }
    free(p.links.items);
    free(p.joints.items);
    free(p.shapes.items);
    itm_names_free(&p.link_names);
    itm_names_free(&p.joint_names);
    return p.status;
}
