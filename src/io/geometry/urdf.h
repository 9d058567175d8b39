// A robot description in URDF, read from XML into plain tables; read_urdf.c makes bodies and joints of them.
//
// The file is not trusted: no entities, no document type, nothing is fetched, sizes are bounded, every number must be finite, and
// the links must form one tree.
#ifndef ITM_IO_GEOMETRY_URDF_H
#define ITM_IO_GEOMETRY_URDF_H

#include "io/document.h"

#define ITM_URDF_MAX_BYTES ((size_t)16 << 20)  // of one file

typedef enum ItmUrdfJointType {
    ITM_URDF_FIXED,
    ITM_URDF_REVOLUTE,
    ITM_URDF_CONTINUOUS,
    ITM_URDF_PRISMATIC,
    ITM_URDF_PLANAR,
    ITM_URDF_FLOATING,
    ITM_URDF_SPHERICAL,  // not of the standard, but in use
    ITM_URDF_JOINT_TYPE_COUNT
} ItmUrdfJointType;

typedef enum ItmUrdfShapeKind {
    ITM_URDF_BOX,       // size: edges
    ITM_URDF_SPHERE,    // size: radius
    ITM_URDF_CYLINDER,  // size: radius, length along z
    ITM_URDF_MESH,      // file, and scale in size
} ItmUrdfShapeKind;

// Collision geometry of a link.
typedef struct ItmUrdfShape {
    int line;
    int link;
    ItmUrdfShapeKind kind;
    ItmPose pose;      // in the link frame
    double size[3];    // m, > 0; mesh: factors, not 0
    const char* file;  // mesh: as written
} ItmUrdfShape;

typedef struct ItmUrdfLink {
    const char* name;
    int line;  // in the file
    int inertial_line;
    double mass;       // kg; 0: none given
    ItmPose inertial;  // frame of the centre of mass in the link frame
    ItmSym3 inertia;   // in that frame, kg m^2
    int joint;         // that leads to it, ITM_NONE: the root
} ItmUrdfLink;

typedef struct ItmUrdfJoint {
    const char* name;
    int line;
    ItmUrdfJointType type;
    int parent, child;  // links
    ItmPose origin;     // of the joint, and of the child link at 0, in the parent link frame
    ItmVec3 axis;       // unit, in the joint frame
    bool has_limit;
    double lower, upper;       // m or rad
    double damping, friction;  // N s/m, N; N m s/rad, N m
    const char* mimic;         // joint that it follows, or NULL
    double multiplier, offset;
} ItmUrdfJoint;

// Something in the file that nothing is made of.
typedef struct ItmUrdfUnused {
    const char* what;  // "<gazebo> in <robot>"
    int line;          // of the first
    int count;
} ItmUrdfUnused;

#define ITM_URDF_MOST_UNUSED 64

typedef struct ItmUrdf {
    const char* name;
    ItmUrdfLink* links;  // root first, parents before children  (nlink)
    int nlink;
    ItmUrdfJoint* joints;  // in the order of the child links      (njoint = nlink - 1)
    int njoint;
    ItmUrdfShape* shapes;  //                                      (nshape)
    int nshape;
    ItmUrdfUnused unused[ITM_URDF_MOST_UNUSED];
    int nunused;
} ItmUrdf;

// Parse; everything belongs to doc. `path` stands for the file in messages, which carry the line.
ItmStatus itm_urdf_parse(ItmUrdf* robot, ItmDocument* doc, const char* bytes, size_t length, const char* path,
                         ItmError* error);

// urdf_table.c: the tables as bytes, which programs without XML read, and the tables from them; unused parts are left out.
typedef void ItmUrdfSink(void* context, const void* bytes, size_t count);
void itm_urdf_store(const ItmUrdf* robot, ItmUrdfSink* put, void* context);
// ITM_ERR_INPUT: damaged. Everything belongs to doc.
ItmStatus itm_urdf_restore(ItmUrdf* robot, ItmDocument* doc, const char* bytes, size_t length, ItmError* error);

#endif
