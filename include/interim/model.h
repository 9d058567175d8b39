// Describing a mechanism and compiling it into a model.
//
// A builder collects definitions (bodies, joints, forces, signals). itm_model_build compiles them into
// an ItmModel, which never changes afterwards and may be shared by threads. Every add function checks
// its definition, copies it, and gives an id; on bad input it returns ITM_ERR_INPUT, and the error's
// `field` names the member of the definition that is at fault.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_MODEL_H
#define INTERIM_MODEL_H

#include "interim/base.h"
#include "interim/signal.h"

ITM_EXTERN_C_BEGIN

typedef struct ItmModelBuilder ItmModelBuilder;  // definitions so far
typedef struct ItmModel ItmModel;      // compiled, read-only

// ---------------------------------------------------------------------------- world

// How joints become equations. A single joint may override this (ItmJointDef.coordinates).
typedef enum ItmCoordinates {
    ITM_COORDINATES_ABSOLUTE,  // six velocities a body, every joint a block of rows
    ITM_COORDINATES_JOINT,     // joint coordinates along a spanning tree, loop-closing joints as rows
} ItmCoordinates;

typedef struct ItmWorldDef {
    ItmVec3 gravity;             // m/s^2, world axes
    ItmCoordinates coordinates;
} ItmWorldDef;

// Gravity (0, 0, -9.81), joint coordinates.
ITM_API ItmWorldDef itm_default_world_def(void);

// ---------------------------------------------------------------------------- bodies

typedef struct ItmBodyDef {
    const char* name;
    double mass;               // kg, > 0
    ItmVec3 com;               // centre of mass in the body frame                          m
    ItmSym3 inertia;           // about the centre of mass, along the body axes             kg m^2
    bool has_pose;             // pose is given; otherwise it follows from the joints
    ItmPose pose;              // body frame in the world at the start
    ItmVec3 velocity;          // of the body frame's origin at the start, world axes       m/s
    ItmVec3 angular_velocity;  // at the start, world axes                                  rad/s
} ItmBodyDef;

// Mass 1, unit inertia, frame at the origin, no pose given.
ITM_API ItmBodyDef itm_default_body_def(void);

typedef enum ItmShapeKind {
    ITM_SHAPE_BOX,       // size: edge lengths along x, y, z
    ITM_SHAPE_SPHERE,    // size: radius
    ITM_SHAPE_CYLINDER,  // size: radius, length along z
    ITM_SHAPE_CAPSULE,   // size: radius, length of the cylindrical part along z
} ItmShapeKind;

typedef struct ItmShapeDef {
    ItmShapeKind kind;
    double size[3];  // m, > 0
    ItmPose pose;    // shape frame in the body frame; the shape is centred on its frame
} ItmShapeDef;

// Mass properties of a homogeneous solid, in the body frame, as ItmBodyDef wants them.
ITM_API ItmStatus itm_shape_compute_mass(double* mass, ItmVec3* com, ItmSym3* inertia,
                                         const ItmShapeDef* shape, double density, ItmError* error);

// ---------------------------------------------------------------------------- joints

// The six directions of relative motion of joint frame b with respect to joint frame a:
// translations along the axes of frame a, rotations about the axes (see ItmJointType).
typedef enum ItmDirection {
    ITM_TX,
    ITM_TY,
    ITM_TZ,
    ITM_RX,
    ITM_RY,
    ITM_RZ,
    ITM_DIRECTION_COUNT
} ItmDirection;

// A joint leaves some directions free and locks the others. With two free rotations the first turns
// about an axis of frame a, the second about an axis of frame b (a universal joint).
typedef enum ItmJointType {
    ITM_JOINT_FIXED,        // nothing free
    ITM_JOINT_REVOLUTE,     // rz
    ITM_JOINT_PRISMATIC,    // tz
    ITM_JOINT_CYLINDRICAL,  // tz rz
    ITM_JOINT_SPHERICAL,    // rx ry rz
    ITM_JOINT_UNIVERSAL,    // rx (axis of a), ry (axis of b)
    ITM_JOINT_PLANAR,       // tx ty rz
    ITM_JOINT_DISTANCE,     // all free, but the distance of the two frame origins is fixed
    ITM_JOINT_SCREW,        // tz and rz, coupled by the pitch
    ITM_JOINT_GENERIC,      // the directions in `free`
    ITM_JOINT_TYPE_COUNT
} ItmJointType;

typedef enum ItmJointMode {
    ITM_JOINT_AUTO,  // follow the world's choice of coordinates
    ITM_JOINT_TREE,  // joint coordinates where this closes no loop
    ITM_JOINT_ROWS,  // always a block of constraint rows
} ItmJointMode;

// Play of a revolute, cylindrical, prismatic or spherical joint. Body a carries the pin (or the ball, or the guide), body b
// the hub (or the socket, or the slider), centred on frame b. radial 0: no play, the joint is ideal.
typedef struct ItmClearance {
    double radial;               // difference of the radii; prismatic: between each face of the section and the guide  m
    double axial;                // revolute: play on either side                                                       m
    double length;               // of the hub or slider along z; not for spherical joints                              m
    double radius;               // of the pin or ball, the lever arm of friction                                       m
    const double* section;       // prismatic: corners x, y in frame b of a convex polygon        (2 nsection)          m
    int nsection;
    double friction;             // Coulomb's coefficient, >= 0
    double restitution;          // Newton's coefficient, 0 .. 1
    double stiffness, damping;   // of one contact point, N/m and N s/m; both 0: rigid
} ItmClearance;

#define ITM_CLEARANCE_MAX_CORNERS 64

typedef struct ItmJointDef {
    const char* name;
    ItmJointType type;
    int body_a, body_b;                  // ITM_GROUND for the fixed body; different bodies
    ItmPose frame_a, frame_b;            // joint frame in body a, in body b
    unsigned free;                       // generic: bits 1 << ITM_TX ... 1 << ITM_RZ
    double pitch;                        // screw: advance a turn, m
    double length;                       // distance: m, > 0; or 0: as at the start
    ItmJointMode coordinates;
    bool has_start[ITM_DIRECTION_COUNT];   // start value of a free direction is given
    double start[ITM_DIRECTION_COUNT];     // m or rad
    double start_rate[ITM_DIRECTION_COUNT];  // m/s or rad/s; used where has_start
    double stiffness, damping;           // of the locked directions, N/m and N s/m (N m/rad ...);
                                         // both 0: rigid. Compliant joints are always rows.
    ItmClearance clearance;              // loose joints are bounded rows, whatever the coordinates. They start in the
                                         // middle and moving as if ideal, unless poses or velocities that are given of
                                         // their bodies say otherwise
} ItmJointDef;

// Joint frames at the body origins, rigid, coordinates as the world has them.
ITM_API ItmJointDef itm_default_joint_def(ItmJointType type);

// Frame with origin `at` whose z axis is `axis`; its x axis is `x_hint` made perpendicular, or, where
// that is zero or parallel, a fixed choice. ITM_ERR_INPUT if `axis` is zero.
ITM_API ItmStatus itm_model_frame_from_axis(ItmPose* frame, ItmVec3 at, ItmVec3 axis, ItmVec3 x_hint,
                                      ItmError* error);

// ITM_JOINT_TYPE_COUNT names: "fixed", "revolute", ...
ITM_API const char* itm_model_joint_type_name(ItmJointType type);
// "tx" ... "rz"
ITM_API const char* itm_model_direction_name(ItmDirection direction);

// A relation between two free directions of two joints (or of one): first - ratio * second keeps its
// value of the start. Gears: two rotations; rack and pinion: a translation and a rotation (ratio in m/rad).
typedef struct ItmCouplingDef {
    const char* name;
    int joint_first, joint_second;
    ItmDirection direction_first, direction_second;
    double ratio;
} ItmCouplingDef;

ITM_API ItmCouplingDef itm_default_coupling_def(void);

// What a signal prescribes on a free direction.
typedef enum ItmMotionKind {
    ITM_MOTION_POSITION,  // m or rad; not for directions of a joint with three free rotations
    ITM_MOTION_VELOCITY,  // m/s or rad/s
    ITM_MOTION_FORCE,     // N or N m, on body b along the direction, and its reaction on body a
} ItmMotionKind;

typedef struct ItmMotionDef {
    const char* name;
    int joint;
    ItmDirection direction;
    ItmMotionKind kind;
    int signal;
    double max_force;  // position, velocity: the motor yields above this, N or N m; 0: it never does
} ItmMotionDef;

ITM_API ItmMotionDef itm_default_motion_def(void);

// ---------------------------------------------------------------------------- forces

// Force at a point of a body, or (is_torque) a torque on it: signal times vector.
typedef struct ItmLoadDef {
    const char* name;
    int body;
    bool is_torque;
    ItmVec3 point;    // where the force acts, body frame                    m
    ItmVec3 vector;   // value at signal 1                                   N or N m
    bool in_body;     // vector turns with the body; otherwise world axes
    int signal;       // or ITM_NONE: factor 1
} ItmLoadDef;

ITM_API ItmLoadDef itm_default_load_def(void);

// Spring and damper between two points: pulls with stiffness (l - length) + damping l' + preload.
typedef struct ItmSpringDef {
    const char* name;
    int body_a, body_b;
    ItmVec3 point_a, point_b;  // body frames                                m
    double stiffness;          // N/m, >= 0
    double damping;            // N s/m, >= 0
    double length;             // unstressed length, m; negative: as at the start
    double preload;            // N
} ItmSpringDef;

ITM_API ItmSpringDef itm_default_spring_def(void);

// Spring and damper on a free direction of a joint: -stiffness (x - rest) - damping x'.
typedef struct ItmJointSpringDef {
    const char* name;
    int joint;
    ItmDirection direction;
    double stiffness;  // N/m or N m/rad, >= 0
    double damping;    // N s/m or N m s/rad, >= 0
    double rest;       // m or rad
    bool is_implicit;  // a compliant row, taken at the end of the step by the Euler stepper: no stiffness or damping is too
                       // large then; otherwise an explicit force
} ItmJointSpringDef;

ITM_API ItmJointSpringDef itm_default_joint_spring_def(void);

// PD control of a free direction of a joint: pushes with feedforward + stiffness (r - x) + damping (r' - x'), at most
// max_force either way. What it does is work of a load.
typedef struct ItmServoDef {
    const char* name;
    int joint;
    ItmDirection direction;
    int target;        // signal r, m or rad; or ITM_NONE: 0
    double stiffness;  // N/m or N m/rad, >= 0
    double damping;    // N s/m or N m s/rad, >= 0
    int feedforward;   // signal, N or N m; or ITM_NONE
    double max_force;  // N or N m; 0: no limit
} ItmServoDef;

ITM_API ItmServoDef itm_default_servo_def(void);

// Six springs and dampers between two frames; deformations along the axes of frame a, rotations as the
// rotation vector from a to b. Frames that coincide are unstressed.
typedef struct ItmBushingDef {
    const char* name;
    int body_a, body_b;
    ItmPose frame_a, frame_b;
    double stiffness[ITM_DIRECTION_COUNT];  // N/m, N m/rad; >= 0
    double damping[ITM_DIRECTION_COUNT];    // N s/m, N m s/rad; >= 0
} ItmBushingDef;

ITM_API ItmBushingDef itm_default_bushing_def(void);

// A point on a body that is watched: outputs name.position and name.velocity.
typedef struct ItmPointDef {
    const char* name;
    int body;
    ItmVec3 point;  // in the body frame, m
} ItmPointDef;

// Line actuator between two points: pushes (force > 0 lengthens) with a force from outside, the sum of
// a signal and an input set through itm_data_set_actuator_force.
typedef struct ItmActuatorDef {
    const char* name;
    int body_a, body_b;
    ItmVec3 point_a, point_b;  // body frames                                m
    int signal;                // N, or ITM_NONE
} ItmActuatorDef;

ITM_API ItmActuatorDef itm_default_actuator_def(void);

// ---------------------------------------------------------------------------- latches and events

// Something that can be held fast and let go while a simulation runs. Closed, it holds what it was closed on as it was at that
// moment; closing is an impact that conserves momentum and leaves no relative velocity. All latches start open.
typedef enum ItmLatchKind {
    ITM_LATCH_DIRECTION,  // a free direction of a joint: locking
    ITM_LATCH_BODIES,     // all six freedoms of a body against another: grasping
} ItmLatchKind;

typedef struct ItmLatchDef {
    const char* name;
    ItmLatchKind kind;
    int joint;               // direction: not one of a joint with three free rotations, and not driven by a motion
    ItmDirection direction;
    int body_a, body_b;      // bodies: different, or ITM_GROUND
} ItmLatchDef;

ITM_API ItmLatchDef itm_default_latch_def(ItmLatchKind kind);

// At the first step that begins at or after a time, close or open a latch. Nothing happens if it is so already.
typedef struct ItmEventDef {
    double time;   // s, >= 0
    int latch;
    bool closes;
} ItmEventDef;

// ---------------------------------------------------------------------------- builder

ITM_API ItmStatus itm_model_builder_create(ItmModelBuilder** builder, const ItmWorldDef* world, ItmError* error);
ITM_API void itm_model_builder_destroy(ItmModelBuilder* builder);

// Names are unique over bodies, joints, couplings, motions and forces together (signals apart), have 1 to
// 64 bytes without white space, control characters or any of . , / = " and are not "ground".
// id (may be NULL) receives the index, counted from 0 per kind.
ITM_API ItmStatus itm_model_builder_add_signal(ItmModelBuilder* b, const ItmSignalDef* def, int* id, ItmError* error);
ITM_API ItmStatus itm_model_builder_add_body(ItmModelBuilder* b, const ItmBodyDef* def, int* id, ItmError* error);
ITM_API ItmStatus itm_model_builder_add_joint(ItmModelBuilder* b, const ItmJointDef* def, int* id, ItmError* error);
ITM_API ItmStatus itm_model_builder_add_coupling(ItmModelBuilder* b, const ItmCouplingDef* def, int* id, ItmError* error);
ITM_API ItmStatus itm_model_builder_add_motion(ItmModelBuilder* b, const ItmMotionDef* def, int* id, ItmError* error);
ITM_API ItmStatus itm_model_builder_add_load(ItmModelBuilder* b, const ItmLoadDef* def, int* id, ItmError* error);
ITM_API ItmStatus itm_model_builder_add_spring(ItmModelBuilder* b, const ItmSpringDef* def, int* id, ItmError* error);
ITM_API ItmStatus itm_model_builder_add_joint_spring(ItmModelBuilder* b, const ItmJointSpringDef* def, int* id, ItmError* error);
ITM_API ItmStatus itm_model_builder_add_servo(ItmModelBuilder* b, const ItmServoDef* def, int* id, ItmError* error);
ITM_API ItmStatus itm_model_builder_add_point(ItmModelBuilder* b, const ItmPointDef* def, int* id, ItmError* error);
ITM_API ItmStatus itm_model_builder_add_bushing(ItmModelBuilder* b, const ItmBushingDef* def, int* id, ItmError* error);
ITM_API ItmStatus itm_model_builder_add_latch(ItmModelBuilder* b, const ItmLatchDef* def, int* id, ItmError* error);
ITM_API ItmStatus itm_model_builder_add_event(ItmModelBuilder* b, const ItmEventDef* def, ItmError* error);
ITM_API ItmStatus itm_model_builder_add_actuator(ItmModelBuilder* b, const ItmActuatorDef* def, int* id, ItmError* error);

// ---------------------------------------------------------------------------- model

// Compile and assemble: choose the coordinates, order the bodies, close all joints at the start
// (positions and velocities), find redundant rows. The builder is not changed and may be destroyed.
// ITM_ERR_ASSEMBLY names the joints that cannot be closed, with their gaps.
ITM_API ItmStatus itm_model_build(ItmModel** model, const ItmModelBuilder* builder, ItmError* error);
ITM_API void itm_model_destroy(ItmModel* model);

// What a model is. Counts are fixed at compilation.
typedef struct ItmModelInfo {
    int nbody, njoint, ncoupling, nmotion, nforce, nsignal, nactuator;
    int nmode;       // modes of flexible bodies
    int nq;          // position coordinates (quaternions count 4)
    int nv;          // velocity coordinates
    int nrow;        // constraint rows
    int nredundant;  // rows that depend on the others in the start configuration
    int freedom;     // nv - (nrow - nredundant)
    int ntree_joint; // joints that became coordinates
    double mass;            // total, kg
    double mass_min, mass_max;  // lightest and heaviest body, kg
    double length;          // largest distance of a body or joint frame from the world origin, m
    size_t data_bytes;      // size of a data object for the semi-implicit stepper
} ItmModelInfo;

ITM_API ItmModelInfo itm_model_get_info(const ItmModel* m);

// Ids by name, ITM_NONE if there is none; names by id, NULL if out of range. Name strings belong to m.
ITM_API int itm_model_find_body(const ItmModel* m, const char* name);
ITM_API int itm_model_find_joint(const ItmModel* m, const char* name);
ITM_API int itm_latch_find(const ItmModel* m, const char* name);
ITM_API int itm_model_find_actuator(const ItmModel* m, const char* name);
ITM_API int itm_model_find_signal(const ItmModel* m, const char* name);
ITM_API const char* itm_model_get_body_name(const ItmModel* m, int body);
ITM_API const char* itm_model_get_joint_name(const ItmModel* m, int joint);
// "hinge.tx", "gearbox", "drive": joint and direction, coupling or motion of a constraint row.
ITM_API const char* itm_model_get_row_name(const ItmModel* m, int row);
// Whether the row was found to depend on earlier ones in the start configuration.
ITM_API bool itm_model_is_row_redundant(const ItmModel* m, int row);
// Whether the joint became coordinates of the tree (otherwise it is a block of rows).
ITM_API bool itm_model_is_joint_in_tree(const ItmModel* m, int joint);

ITM_EXTERN_C_END

#endif
