// Defining a mechanism and compiling it into a model.
//
// A builder collects definitions (bodies, joints, forces, signals). itm_model_build compiles them into an ItmModel. Every add
// function checks its definition, copies it and returns an id. An invalid definition returns ITM_ERR_INPUT, with the invalid
// field of the definition in error->field.
//
// Threads: an ItmModel is read-only; any number of threads may share it. One thread at a time uses a builder.
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_MODEL_H
#define INTERIM_MODEL_H

#include "interim/base.h"
#include "interim/signal.h"

ITM_EXTERN_C_BEGIN

typedef struct ItmModelBuilder ItmModelBuilder;  // collects definitions
typedef struct ItmModel ItmModel;                // compiled, read-only

// ---------------------------------------------------------------------------- world

// Formulation of joints. A single joint may override it (ItmJointDef.coordinates).
typedef enum ItmCoordinates {
    ITM_COORDINATES_ABSOLUTE,  // six velocities per body, every joint a block of constraint rows
    ITM_COORDINATES_JOINT,     // joint coordinates along a spanning tree, loop-closing joints as constraint rows
} ItmCoordinates;

// Properties of the whole model.
typedef struct ItmWorldDef {
    ItmVec3 gravity;  // m/s^2, world axes
    ItmCoordinates coordinates;
} ItmWorldDef;

// Defaults: gravity (0, 0, -9.81), joint coordinates.
ITM_API ItmWorldDef itm_default_world_def(void);

// ---------------------------------------------------------------------------- bodies

// A rigid body.
typedef struct ItmBodyDef {
    const char* name;
    double mass;               // kg, > 0
    ItmVec3 com;               // centre of mass in the body frame                          m
    ItmSym3 inertia;           // about the centre of mass, along the body axes             kg m^2
    bool has_pose;             // pose is given; otherwise the joints determine it
    ItmPose pose;              // body frame in the world at the start
    ItmVec3 velocity;          // of the body frame's origin at the start, world axes       m/s
    ItmVec3 angular_velocity;  // at the start, world axes                                  rad/s
} ItmBodyDef;

// Defaults: mass 1, unit inertia, frame at the origin, no pose given.
ITM_API ItmBodyDef itm_default_body_def(void);

// Shapes for mass properties.
typedef enum ItmShapeKind {
    ITM_SHAPE_BOX,       // size: edge lengths along x, y, z
    ITM_SHAPE_SPHERE,    // size: radius
    ITM_SHAPE_CYLINDER,  // size: radius, length along z
    ITM_SHAPE_CAPSULE,   // size: radius, length of the cylindrical part along z
} ItmShapeKind;

// A solid, for mass properties.
typedef struct ItmShapeDef {
    ItmShapeKind kind;
    double size[3];  // m, > 0
    ItmPose pose;    // shape frame in the body frame; the shape is centred on its frame
} ItmShapeDef;

// Compute mass properties of a homogeneous solid in the body frame, for ItmBodyDef. density: kg/m^3
ITM_API ItmStatus itm_shape_compute_mass(double* mass, ItmVec3* com, ItmSym3* inertia, const ItmShapeDef* shape,
                                         double density, ItmError* error);

// ---------------------------------------------------------------------------- joints

// The six directions of relative motion of joint frame b with respect to joint frame a:
// translations along the axes of frame a, rotations about the axes (see ItmJointType).
typedef enum ItmDirection { ITM_TX, ITM_TY, ITM_TZ, ITM_RX, ITM_RY, ITM_RZ, ITM_DIRECTION_COUNT } ItmDirection;

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

// Formulation of one joint.
typedef enum ItmJointMode {
    ITM_JOINT_AUTO,  // as in ItmWorldDef.coordinates
    ITM_JOINT_TREE,  // joint coordinates unless the joint closes a loop
    ITM_JOINT_ROWS,  // always a block of constraint rows
} ItmJointMode;

// Clearance of a revolute, cylindrical, prismatic or spherical joint. Body a carries the pin (ball, guide), body b the hub
// (socket, slider), centred on frame b. radial 0: no clearance, the joint is ideal.
typedef struct ItmClearance {
    double radial;          // difference of the radii; prismatic: gap between each face of the section and the guide  m
    double axial;           // revolute: clearance on either side                                                  m
    double length;          // of the hub or slider along z; not for spherical joints                              m
    double radius;          // of the pin or ball, the lever arm of friction                                       m
    const double* section;  // prismatic: corners x, y in frame b of a convex polygon        (2 nsection)          m
    int nsection;
    double friction;            // Coulomb coefficient, >= 0
    double restitution;         // Newton coefficient, 0 .. 1
    double stiffness, damping;  // of one contact point, N/m and N s/m; both 0: rigid
} ItmClearance;

#define ITM_CLEARANCE_MAX_CORNERS 64

// A joint between two bodies.
typedef struct ItmJointDef {
    const char* name;
    ItmJointType type;
    int body_a, body_b;        // ITM_GROUND for the fixed body; different bodies
    ItmPose frame_a, frame_b;  // joint frame in body a, in body b
    unsigned free;             // generic: bits 1 << ITM_TX ... 1 << ITM_RZ
    double pitch;              // screw: advance per turn, m
    double length;             // distance: m, > 0; 0: the distance at the start
    ItmJointMode coordinates;
    bool has_start[ITM_DIRECTION_COUNT];     // start value of a free direction is given
    double start[ITM_DIRECTION_COUNT];       // m or rad
    double start_rate[ITM_DIRECTION_COUNT];  // m/s or rad/s; used where has_start
    double stiffness, damping;               // of the locked directions, N/m and N s/m (N m/rad ...);
                                             // both 0: rigid. Compliant joints are always rows.
    ItmClearance clearance;  // joints with clearance are bounded rows in any formulation. They start centred and
                             // with the velocities of an ideal joint, unless given poses or velocities of
                             // their bodies differ
} ItmJointDef;

// Defaults: joint frames at the body origins, rigid, coordinates as in ItmWorldDef.
ITM_API ItmJointDef itm_default_joint_def(ItmJointType type);

// Compute the frame with origin `at` and z axis `axis`. Its x axis is `x_hint` made perpendicular, or a fixed choice if
// `x_hint` is zero or parallel. ITM_ERR_INPUT: `axis` is zero.
ITM_API ItmStatus itm_model_frame_from_axis(ItmPose* frame, ItmVec3 at, ItmVec3 axis, ItmVec3 x_hint, ItmError* error);

// Name as in model files: "fixed", "revolute", ...
ITM_API const char* itm_model_joint_type_name(ItmJointType type);
// Name as in model files: "tx" ... "rz".
ITM_API const char* itm_model_direction_name(ItmDirection direction);

// A relation between two free directions of one or two joints: first - ratio * second stays constant. Gears couple two
// rotations; rack and pinion couple a translation and a rotation (ratio in m/rad).
typedef struct ItmCouplingDef {
    const char* name;
    int joint_first, joint_second;
    ItmDirection direction_first, direction_second;
    double ratio;
} ItmCouplingDef;

// Defaults: rotations rz, ratio 1.
ITM_API ItmCouplingDef itm_default_coupling_def(void);

// Quantity that a signal prescribes on a free direction.
typedef enum ItmMotionKind {
    ITM_MOTION_POSITION,  // m or rad; not for directions of a joint with three free rotations
    ITM_MOTION_VELOCITY,  // m/s or rad/s
    ITM_MOTION_FORCE,     // N or N m, on body b along the direction, and its reaction on body a
} ItmMotionKind;

// A prescribed motion of a free direction of a joint.
typedef struct ItmMotionDef {
    const char* name;
    int joint;
    ItmDirection direction;
    ItmMotionKind kind;
    int signal;
    double max_force;  // position, velocity: force limit of the motor, N or N m; 0: no limit
} ItmMotionDef;

// Defaults: position of direction rz, no force limit.
ITM_API ItmMotionDef itm_default_motion_def(void);

// ---------------------------------------------------------------------------- forces

// Force at a point of a body, or torque on it (is_torque): signal times vector.
typedef struct ItmLoadDef {
    const char* name;
    int body;
    bool is_torque;
    ItmVec3 point;   // where the force acts, body frame                    m
    ItmVec3 vector;  // value at signal 1                                   N or N m
    bool in_body;    // vector turns with the body; otherwise world axes
    int signal;      // or ITM_NONE: factor 1
} ItmLoadDef;

// Defaults: no body, no signal, zero vector.
ITM_API ItmLoadDef itm_default_load_def(void);

// Spring and damper between two points at distance l. Tension: stiffness (l - length) + damping dl/dt + preload.
typedef struct ItmSpringDef {
    const char* name;
    int body_a, body_b;
    ItmVec3 point_a, point_b;  // body frames                                m
    double stiffness;          // N/m, >= 0
    double damping;            // N s/m, >= 0
    double length;             // unstressed length, m; negative: the distance at the start
    double preload;            // N
} ItmSpringDef;

// Defaults: no stiffness or damping, unstressed at the start.
ITM_API ItmSpringDef itm_default_spring_def(void);

// Spring and damper on a free direction x of a joint. Force: -stiffness (x - rest) - damping dx/dt.
typedef struct ItmJointSpringDef {
    const char* name;
    int joint;
    ItmDirection direction;
    double stiffness;  // N/m or N m/rad, >= 0
    double damping;    // N s/m or N m s/rad, >= 0
    double rest;       // m or rad
    bool
        is_implicit;  // a compliant row, evaluated at the end of the step by the Euler stepper, stable for any stiffness
                      // and damping; otherwise an explicit force
} ItmJointSpringDef;

// Defaults: direction rz, no stiffness or damping, explicit.
ITM_API ItmJointSpringDef itm_default_joint_spring_def(void);

// PD control of a free direction x of a joint. Force: feedforward + stiffness (r - x) + damping (dr/dt - dx/dt), limited to
// max_force in both directions. Its work counts as load work in the energy balance.
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

// Defaults: direction rz, target 0, no feedforward, no force limit.
ITM_API ItmServoDef itm_default_servo_def(void);

// Six springs and dampers between two frames. Deformations are along the axes of frame a; rotations are the rotation vector
// from a to b. The bushing is unstressed when the frames coincide.
typedef struct ItmBushingDef {
    const char* name;
    int body_a, body_b;
    ItmPose frame_a, frame_b;
    double stiffness[ITM_DIRECTION_COUNT];  // N/m, N m/rad; >= 0
    double damping[ITM_DIRECTION_COUNT];    // N s/m, N m s/rad; >= 0
} ItmBushingDef;

// Defaults: frames at the body origins, no stiffness or damping.
ITM_API ItmBushingDef itm_default_bushing_def(void);

// A point on a body with outputs name.position and name.velocity.
typedef struct ItmPointDef {
    const char* name;
    int body;
    ItmVec3 point;  // in the body frame, m
} ItmPointDef;

// A small sheave without friction that a rope runs over: a point on a body.
typedef struct ItmSheave {
    int body;       // or ITM_GROUND
    ItmVec3 point;  // body frame, m
} ItmSheave;

// Actuator between two points (force, > 0 lengthens), or at a free direction of a joint (force or torque along it). It is the sum
// of a signal and an external force set by itm_data_set_actuator_force. With a bond it is a power port (interim/cosim.h).
// With sheaves it acts along a rope: its length is the sum of the distances from point a over the sheaves to point b, and its force,
// < 0 for tension, pulls at all of these points.
typedef struct ItmActuatorDef {
    const char* name;
    int joint;                 // ITM_NONE: between two points
    ItmDirection direction;    // of the joint; not of a rotation of three, which has no angle
    int body_a, body_b;        // of the points; may be the same with sheaves between them
    ItmVec3 point_a, point_b;  // body frames                                m
    const ItmSheave* via;      // sheaves from a to b, or NULL               (nvia)
    int nvia;
    int signal;  // N or N m, or ITM_NONE
} ItmActuatorDef;

// Defaults: between two points, no signal.
ITM_API ItmActuatorDef itm_default_actuator_def(void);

// Rope of a given length from point a over sheaves to point b, or to a drum beside the last sheave. It only pulls: with e the
// path's length less that of the rope, the tension is 0 where e < 0, and else stiffness e + damping e'. Without stiffness and
// damping it does not stretch. The drum's joint hauls in for positive rotation: e grows by drum_radius times the angle.
typedef struct ItmRopeDef {
    const char* name;
    int body_a, body_b;        // of the ends; may be the same with sheaves between them
    ItmVec3 point_a, point_b;  // body frames                                m
    const ItmSheave* via;      // sheaves from a to b, or NULL               (nvia)
    int nvia;
    int drum;                   // joint whose direction rz turns the drum, or ITM_NONE
    double drum_radius;         // m, > 0 with a drum
    double length;              // without load, m; < 0: that of the path in the initial state, less preload / stiffness
    double preload;             // tension in the initial state where the length is not given, N; needs a stiffness
    double stiffness, damping;  // N/m, N s/m, >= 0
    double restitution;         // of a rope that does not stretch, when it becomes taut, 0 .. 1
} ItmRopeDef;

// Defaults: no sheaves, no drum, length of the initial state, does not stretch or bounce.
ITM_API ItmRopeDef itm_default_rope_def(void);

// ---------------------------------------------------------------------------- latches and events

// A latch locks and releases relative motion during a simulation. A closed latch keeps the relative position at which it
// closed. Closing is a plastic impact: it conserves momentum and leaves no relative velocity. All latches start open.
typedef enum ItmLatchKind {
    ITM_LATCH_DIRECTION,  // locks a free direction of a joint
    ITM_LATCH_BODIES,     // locks all six degrees of freedom between two bodies: grasping
} ItmLatchKind;

// A latch.
typedef struct ItmLatchDef {
    const char* name;
    ItmLatchKind kind;
    int joint;  // direction: not of a joint with three free rotations, and without a prescribed motion
    ItmDirection direction;
    int body_a, body_b;  // bodies: different, or ITM_GROUND
} ItmLatchDef;

// Defaults: direction rz, both bodies ITM_GROUND.
ITM_API ItmLatchDef itm_default_latch_def(ItmLatchKind kind);

// Closes or opens a latch at the first step that starts at or after `time`. No effect if the latch is in that state already.
typedef struct ItmEventDef {
    double time;  // s, >= 0
    int latch;
    bool closes;
} ItmEventDef;

// ---------------------------------------------------------------------------- builder

// Create an empty builder. world NULL: itm_default_world_def.
ITM_API ItmStatus itm_model_builder_create(ItmModelBuilder** builder, const ItmWorldDef* world, ItmError* error);
// Destroy a builder; builder may be NULL. Models built from it stay valid.
ITM_API void itm_model_builder_destroy(ItmModelBuilder* builder);

// Names of bodies, joints, couplings, motions and forces are unique together; signals have their own names. A name has 1 to 64
// bytes without white space, control characters or any of . , / = " and is not "ground".
// id (may be NULL) receives the index, counted from 0 per kind.

// Add a function of time or an external signal.
ITM_API ItmStatus itm_model_builder_add_signal(ItmModelBuilder* b, const ItmSignalDef* def, int* id, ItmError* error);
// Add a rigid body.
ITM_API ItmStatus itm_model_builder_add_body(ItmModelBuilder* b, const ItmBodyDef* def, int* id, ItmError* error);
// Add a joint.
ITM_API ItmStatus itm_model_builder_add_joint(ItmModelBuilder* b, const ItmJointDef* def, int* id, ItmError* error);
// Add a coupling of two joint directions.
ITM_API ItmStatus itm_model_builder_add_coupling(ItmModelBuilder* b, const ItmCouplingDef* def, int* id,
                                                 ItmError* error);
// Add a prescribed motion.
ITM_API ItmStatus itm_model_builder_add_motion(ItmModelBuilder* b, const ItmMotionDef* def, int* id, ItmError* error);
// Add a load.
ITM_API ItmStatus itm_model_builder_add_load(ItmModelBuilder* b, const ItmLoadDef* def, int* id, ItmError* error);
// Add a spring and damper between two points.
ITM_API ItmStatus itm_model_builder_add_spring(ItmModelBuilder* b, const ItmSpringDef* def, int* id, ItmError* error);
// Add a spring and damper on a joint direction.
ITM_API ItmStatus itm_model_builder_add_joint_spring(ItmModelBuilder* b, const ItmJointSpringDef* def, int* id,
                                                     ItmError* error);
// Add a PD servo.
ITM_API ItmStatus itm_model_builder_add_servo(ItmModelBuilder* b, const ItmServoDef* def, int* id, ItmError* error);
// Add a point with outputs.
ITM_API ItmStatus itm_model_builder_add_point(ItmModelBuilder* b, const ItmPointDef* def, int* id, ItmError* error);
// Add a bushing.
ITM_API ItmStatus itm_model_builder_add_bushing(ItmModelBuilder* b, const ItmBushingDef* def, int* id, ItmError* error);
// Add a latch.
ITM_API ItmStatus itm_model_builder_add_latch(ItmModelBuilder* b, const ItmLatchDef* def, int* id, ItmError* error);
// Add an event that closes or opens a latch.
ITM_API ItmStatus itm_model_builder_add_event(ItmModelBuilder* b, const ItmEventDef* def, ItmError* error);
// Add a line actuator.
ITM_API ItmStatus itm_model_builder_add_actuator(ItmModelBuilder* b, const ItmActuatorDef* def, int* id,
                                                 ItmError* error);
// Add a rope. It touches at most six bodies, those of its drum's joint included.
ITM_API ItmStatus itm_model_builder_add_rope(ItmModelBuilder* b, const ItmRopeDef* def, int* id, ItmError* error);

// ---------------------------------------------------------------------------- model

// Compile and assemble a model: choose coordinates, order the bodies, close all joints at the start (positions and
// velocities), find redundant constraints. The builder does not change and may be destroyed. ITM_ERR_ASSEMBLY: the message lists
// the joints that cannot be closed, with their gaps.
ITM_API ItmStatus itm_model_build(ItmModel** model, const ItmModelBuilder* builder, ItmError* error);
// Destroy a model; model may be NULL. Destroy its data objects and systems first.
ITM_API void itm_model_destroy(ItmModel* model);

// Size of a model. Fixed at compilation.
typedef struct ItmModelInfo {
    int nbody, njoint, ncoupling, nmotion, nforce, nsignal, nactuator;
    int nlimit, nfriction;      // joint limits and joint frictions
    int nmotor;                 // motions with a force limit
    int nrope;                  // ropes of given length
    int nmode;                  // modes of flexible bodies
    int nq;                     // position coordinates (quaternions count 4)
    int nv;                     // velocity coordinates
    int nrow;                   // constraint rows
    int nredundant;             // redundant rows in the start configuration
    int freedom;                // degrees of freedom: nv - (nrow - nredundant)
    int ntree_joint;            // joints with joint coordinates
    double mass;                // total, kg
    double mass_min, mass_max;  // lightest and heaviest body, kg
    double length;              // largest distance of a body or joint frame from the world origin, m
    size_t data_bytes;          // size of a data object with stepper euler
} ItmModelInfo;

// Size of a model.
ITM_API ItmModelInfo itm_model_get_info(const ItmModel* m);

// Find functions return ITM_NONE if the name does not exist. Name strings belong to the model.

// Id of a body by name.
ITM_API int itm_model_find_body(const ItmModel* m, const char* name);
// Id of a joint by name.
ITM_API int itm_model_find_joint(const ItmModel* m, const char* name);
// Id of a latch by name.
ITM_API int itm_latch_find(const ItmModel* m, const char* name);
// Length (m) or angle (rad) of an actuator in the initial state; NAN if there is no such actuator.
ITM_API double itm_model_get_start_length(const ItmModel* m, int actuator);
// Id of an actuator by name.
ITM_API int itm_model_find_actuator(const ItmModel* m, const char* name);
// Id of a signal by name.
ITM_API int itm_model_find_signal(const ItmModel* m, const char* name);
// Name of a body; NULL if out of range.
ITM_API const char* itm_model_get_body_name(const ItmModel* m, int body);
// Name of a joint; NULL if out of range.
ITM_API const char* itm_model_get_joint_name(const ItmModel* m, int joint);
// Name of a constraint row: joint and direction, coupling or motion ("hinge.tx", "gearbox", "drive").
ITM_API const char* itm_model_get_row_name(const ItmModel* m, int row);
// Whether a row is redundant with earlier rows in the start configuration.
ITM_API bool itm_model_is_row_redundant(const ItmModel* m, int row);
// Whether a joint has joint coordinates; otherwise it is a block of constraint rows.
ITM_API bool itm_model_is_joint_in_tree(const ItmModel* m, int joint);

// A body as compiled.
typedef struct ItmBodyInfo {
    const char* name;
    double mass;      // kg
    ItmSym3 inertia;  // about the centre of mass, in axes of the body frame, kg m^2
} ItmBodyInfo;
// A body, 0 <= body < nbody.
ITM_API ItmBodyInfo itm_model_get_body_info(const ItmModel* m, int body);

// A joint as compiled.
typedef struct ItmJointInfo {
    const char* name;
    ItmJointType type;
    const char *body_a, *body_b;  // names of the bodies, "ground"
    unsigned free;                // free directions, bits 1 << ITM_TX ...
    bool is_in_tree;              // has joint coordinates
    int nrow;                     // otherwise: constraint rows
    double clearance;             // radial clearance, m; 0: none
    int nclearance_point;         // its contact points
} ItmJointInfo;
// A joint, 0 <= joint < njoint.
ITM_API ItmJointInfo itm_model_get_joint_info(const ItmModel* m, int joint);

// An event as compiled.
typedef struct ItmEventInfo {
    double time;        // s
    const char* latch;  // its name
    bool closes;        // otherwise opens
} ItmEventInfo;
// Number of events.
ITM_API int itm_model_get_event_count(const ItmModel* m);
// An event in the order of time, 0 <= event < count.
ITM_API ItmEventInfo itm_model_get_event(const ItmModel* m, int event);

// Largest step at which explicit treatment of a spring, damper, servo, actuator or bushing is stable, if its bodies were free
// otherwise. Other masses and joints only raise the limit, see itm_stiffness_compute_limit.
typedef struct ItmStepLimit {
    const char* name;
    double step;  // s; INFINITY: no stiffness and damping
} ItmStepLimit;
// Number of such elements.
ITM_API int itm_stiffness_get_limit_count(const ItmModel* m);
// Step limit of an element, 0 <= element < count.
ITM_API ItmStepLimit itm_stiffness_get_limit(const ItmModel* m, int element);

ITM_EXTERN_C_END

#endif
