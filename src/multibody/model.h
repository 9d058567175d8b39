// The compiled model: tables that never change while a simulation runs.
//
// All mechanisms are one thing here: a forest of bodies, each hanging on its parent (or the world) by a
// mobilizer with 0 to 6 velocities, plus blocks of constraint rows. In absolute coordinates every body hangs
// on the world by a mobilizer with six velocities and every joint is a block of rows; in joint coordinates
// the joints of a spanning tree are the mobilizers and only the loop-closing joints are rows.
//
// Bodies are numbered parents first. Inside, the frame of a body has its origin in the centre of mass and
// the axes the user gave; what the user placed in the body frame is moved there at compilation.
#ifndef ITM_MULTIBODY_MODEL_H
#define ITM_MULTIBODY_MODEL_H

#include "base/owned.h"
#include "interim/contact.h"
#include "interim/data.h"
#include "interim/model.h"
#include "math/blocks.h"
#include "math/vec.h"
#include "multibody/elastic.h"
#include "signal/signal.h"

// clang-format off
// How a body moves relative to its parent: translations along axes of frame a, then rotations.
typedef enum ItmMobilizerKind {
    ITM_MOBILIZER_FIXED,    // nothing moves
    ITM_MOBILIZER_REVOLUTE, // one rotation, the commonest case
    ITM_MOBILIZER_FREE,     // on the world: r, p of the centre of mass; r' in world axes, omega' in body axes
    ITM_MOBILIZER_GENERAL,  // any other mixture
    ITM_MOBILIZER_MODES,    // modes of the flexible body that is the parent: as many velocities, the frame does not move
    ITM_MOBILIZER_NODE,     // a place on a flexible body, moved by the modes (its parent); no velocities of its own
} ItmMobilizerKind;

// What every pass over the bodies reads comes first, so that it shares a cache line.
typedef struct ItmBody {
    ItmMobilizerKind mobility;
    int  parent;           // body, or ITM_NONE: the world
    int  q_adr, nq;        // coordinates: translations, then angles or quaternion
    int  v_adr, nv;        // velocities:  translations, then rates or omega of b against a in axes of b
    int  L_adr;            // its nv x nv factor in ItmData.mass.L
    int  ntrans;           // free translations
    int  nrot;             // free rotations; 3: a quaternion
    int  turn_axis;        // revolute: turns about this axis of the parent, whose axes it has at q = 0; else ITM_NONE
    bool is_root_leaf;     // free on the world and nothing hangs on it: its mass matrix is constant; nothing in d->S, d->mass.G, d->mass.L
    bool has_diagonal_inertia; // all its products are 0
    bool has_shape;        // something can touch it
    double  turn_sign;     // revolute: +1, or -1: about the opposite of turn_axis
    double  mass;          // kg
    ItmSym3 inertia;       // about the centre of mass, body axes                             kg m^2
    double  inv_inertia_L[6]; // inverse of the lower Cholesky factor of the inertia, packed by rows
    double  inv_mass, inv_sqrt_mass; //                                                       1/kg, 1/sqrt(kg)
    double  inv_mean_inertia; // of the mean of the three moments                             1/(kg m^2)

    ItmFrame a, b;         // joint frame in the parent and in this body
    ItmVec3 axis;          // revolute: axis in the parent
    ItmMat3 turn[3];       // revolute: R against the parent = turn[0] + cos turn[1] + sin turn[2]; fixed: R = turn[0]
    int  trans_axis[3];    // axes of the free translations in frame a
    int  rot_axis[2];      // and of the rotations: the first is fixed in frame a, the second in frame b
    double lead;           // screw: the one rotation also translates along its axis, m/rad; else 0
    const char* name;
    ItmVec3 com;           // centre of mass in the user's body frame                         m
    int  joint;            // the joint that became this mobilizer, or ITM_NONE
    int  owner;            // the user's body that it is part of: itself, but for modes and nodes
    int  part;             // modes: the flexible body in ItmModel.flexibles; node: in ItmModel.nodes; else ITM_NONE
} ItmBody;

// A flexible body is three kinds of bodies here: its frame, a rigid body with the mass of the undeformed one; on it the modes,
// with what deformation adds to that mass; on these the nodes, massless frames where joints, forces and shapes sit.
typedef struct ItmFlexible {
    int    frame, modes;           // bodies
    int    n;                      // modes
    int    mode_adr;               // first one in ItmData.flex_...
    bool   is_stiffening;          // bending shortens the axis x
    double axis_mass, axis_moment; // sum m, sum m s_x^2                                      kg, kg m^2
    double inv_axis_mass, inv_axis_moment; // where it is stiffening                          1/kg, 1/(kg m^2)
    const ItmVec3* spin;           // sum m phi_k x phi_l in element k n + l                  (n x n) kg
    ItmElasticTables tables;
    ItmElasticPicture picture;
} ItmFlexible;

typedef struct ItmFlexNode {
    const char* name;              // of a point the user named, or NULL
    int     flexible, body;
    ItmVec3 origin;                // undeformed, in the user's body frame                          m
    ItmVec3 s;                     // the same from the centre of mass                              m
    ItmVec3 point;                 // from there to the point with the name                         m
    const ItmSpatial* shape;       // psi_k (ang), phi_k (lin) of the modes                         (n)
    const double* gamma;           // shortening of the axis up to here, or NULL                    (n x n)
    int     S_adr;                 // first of its n motions in ItmData.node_S
    bool    carries;               // a body hangs on it by a tree joint
} ItmFlexNode;

static inline bool itm_body_is_elastic(const ItmBody* body)
{
    return body->mobility >= ITM_MOBILIZER_MODES;
}

// Whether a body is the modes of a flexible one, and there are any: without modes it is rigid.
static inline bool itm_body_has_modes(const ItmBody* body)
{
    return body->mobility == ITM_MOBILIZER_MODES && body->nv > 0;
}

// What every look at the gaps reads comes first, so that it shares cache lines: of frames along the axes of their bodies only the origins.
typedef struct ItmJoint {
    int      body_a, body_b;       // ITM_NONE: the world
    unsigned free;                 // bit set of ItmDirection
    ItmJointType type;
    ItmAxes  axes_a, axes_b;       // axes of its frames
    ItmFrame a, b;                 // joint frame in each body
    const char* name;
    int      index;                // its own
    double   lead;                 // screw, m/rad
    int      tree_body;            // body whose mobilizer it is, or ITM_NONE: rows
    int      measure[ITM_DIRECTION_COUNT];  // of its free directions, or ITM_NONE
    int      block;                // its first row block, or ITM_NONE
    int      clearance;                // its clearance, or ITM_NONE: ideal
    double   stiffness, damping;   // of the locked directions; 0, 0: rigid
} ItmJoint;

#define ITM_BLOCK_BODIES 6                           // bodies a row can touch
#define ITM_MEASURE_OTHERS (ITM_BLOCK_BODIES - 2)    // of them beside the two that every measure has

// A point that a rope runs over.
typedef struct ItmRopePlace {
    int     body;                  // ITM_NONE: the world
    int     slot;                  // which body of the measure that is: 0: a, 1: b, 2 ...: others; ITM_NONE: the world
    ItmVec3 point;                 // from the centre of mass, body axes                            m
} ItmRopePlace;

// A scalar that can be watched, driven or sprung: a free direction of a joint, the distance of two points, or the length of a rope over
// points, with what a drum has taken in.
typedef struct ItmMeasure {
    int      joint;                // ITM_NONE: a line
    ItmDirection direction;
    int      q_index, v_index;     // tree coordinate that it is, times scale; else ITM_NONE
    double   scale;
    int      angle;                // index of its unwrapped angle in the state, or ITM_NONE
    bool     has_value;            // false: a rotation of three, which has a rate only
    int      body_a, body_b;       // ITM_NONE: the world
    ItmVec3  point_a, point_b;     // line: ends in the bodies
    const ItmRopePlace* places;    // rope: NULL for all others; a, b and others are then the moving bodies, each once (nplace)
    int      nplace;
    int      nother, other[ITM_MEASURE_OTHERS]; // rope: bodies after the first two
    int      drum, drum_slot[2];   // rope: measure of the angle of its drum, or ITM_NONE; slots of the bodies of that joint
    double   drum_radius;          //                                                               m
} ItmMeasure;

// Whether it is an angle; lines and translations are lengths.
static inline bool itm_measure_is_rotation(const ItmMeasure* measure)
{
    return measure->joint != ITM_NONE && measure->direction >= ITM_RX;
}

// ---------------------------------------------------------------------------- rows

typedef enum ItmBlockKind {
    ITM_BLOCK_JOINT,     // locked directions of a joint
    ITM_BLOCK_DISTANCE,  // length of a line
    ITM_BLOCK_SCREW,     // tz - lead rz of a joint
    ITM_BLOCK_COUPLING,  // first - ratio second
    ITM_BLOCK_MOTION,    // measure - signal
    ITM_BLOCK_START,     // measure - start value of a joint, only while assembling
    ITM_BLOCK_LOCK,      // measure - what a latch keeps
    ITM_BLOCK_GRASP,     // pose of a body in another - what a latch keeps
    ITM_BLOCK_SPRING,    // measure - rest, compliant
} ItmBlockKind;

#define ITM_BLOCK_DOFS 2    // tree coordinates it can act on directly

// What passes over the rows read comes first, so that it shares cache lines.
typedef struct ItmRowBlock {
    ItmBlockKind kind;
    int    index;                  // joint (also of distance, screw, start), coupling, motion or latch
    int    row, nrow;              // first row, number of rows (1 to 6)
    int    nbody;                  // bodies it touches
    int    body[ITM_BLOCK_BODIES];
    int    cov_adr;                // first covector in ItmData.rows.cov: nrow x nbody
    int    ndof;                   // coordinates it acts on directly (tree measures), one row only
    int    ny, y_adr;              // velocities on the path; its Y in ItmData.rows.Y: nrow x ny
    int    npath;
    const int* path;               // bodies from the touched ones down to the roots, children first (npath)
    double stiffness, damping;     // compliance; 0, 0: rigid
    int    latch;                  // that switches it on and off, or ITM_NONE
    int    signal;                 // or ITM_NONE
    unsigned idle;                 // joint: directions of the rows of nidle, bit set of ItmDirection
    bool   turns;                  // joint: a locked rotation is among the rows
    bool   is_velocity;            // no position level: the gap is always 0
    int    nidle;                  // rows after those that no coordinate can move (planar.h): named and counted as redundant, never solved
    int    dof[ITM_BLOCK_DOFS];    // velocity index of the coordinates
    double dof_coef[ITM_BLOCK_DOFS];
    int    nterm;                  // measures it combines (all kinds but JOINT)
    int    term[2];                //   measure
    double term_coef[2];
    double offset, offset_rate;    // gap: sum coef measure - offset - signal; rate likewise
    const int* path_parent;        // position of the parent in the path, or ITM_NONE     (npath)
} ItmRowBlock;

// Nodes of six velocities: first the bodies, of which those that are free on the world and have no bilateral rows are nodes; then those of
// components with joints, whose velocities, and compliant bilateral rows after them, fill as many as they need.
typedef struct ItmVelocityNodes {
    int    n;                      // all
    int    most;                   // of a component
    int*   first;                  // node of a component, by its name                     (nbody)
    int*   count;                  // its nodes, 0: the body itself                        (nbody)
    int*   place;                  // of the velocities of a body in its component         (nbody)
    int*   next;                   // next body of the component, or ITM_NONE              (nbody)
    int*   row_place;              // of a compliant bilateral row there, or ITM_NONE      (nrow)
} ItmVelocityNodes;

// A run of velocities on the paths of both blocks of a pair.
typedef struct ItmSharedRun {
    int y_first, y_second;  // offsets in the rows of Y of the two blocks
    int count;
} ItmSharedRun;

// Two blocks (or one with itself) whose paths have a common part, and where their product goes in the factor.
typedef struct ItmBlockPair {
    int  first, second;
    int  address;
    bool is_transposed;
    int  run_adr, nrun;
} ItmBlockPair;

// A body in the forest of rows, parents first.
typedef struct ItmSpanningNode {
    int body;
    int parent;            // node, or ITM_NONE: the world, or it floats
    int block, row;        // of its joint, and the first row; block ITM_NONE: it floats
    int nlin, nrot, nfree; // locked translations, locked rotations, free directions
    int free_adr, L_adr;   // the first of them in d->spanning.S, of its factor in d->spanning.L
} ItmSpanningNode;

// ---------------------------------------------------------------------------- forces

typedef struct ItmLoad {
    const char* name;
    int     body;       // ITM_NONE: on the world, no effect
    bool    is_torque, in_body;
    ItmVec3 point, vector;
    int     signal;
} ItmLoad;

// Springs, dampers, actuators and driving forces all push along a measure:
// force = signal + input - stiffness (x - rest) - damping x'.
typedef struct ItmScalarForce {
    const char* name;
    int    measure;
    double stiffness, damping, rest;
    double constant;    // N
    int    signal;      // or ITM_NONE
    int    input;       // actuator number, or ITM_NONE
    bool   is_tension;  // report the force positive in tension (springs), not in compression
    bool   is_servo;    // PD control: rest and its rate are a signal's, all of it is work of a load
    int    target;      //   that signal, or ITM_NONE
    double max_force;   //   limit either way, 0: none
} ItmScalarForce;

// A point that is watched.
typedef struct ItmPoint {
    const char* name;
    int     body;
    ItmVec3 point;      // from the centre of mass, body axes                                      m
} ItmPoint;

// A joint spring that is a compliant row.
typedef struct ItmSpringRow {
    const char* name;
    int    measure;
    double stiffness, damping, rest;
    int    block;
} ItmSpringRow;

typedef struct ItmBushing {
    const char* name;
    int      body_a, body_b;
    ItmFrame a, b;
    double   stiffness[6], damping[6];
} ItmBushing;

typedef struct ItmMotion {
    const char* name;
    int measure;
    int block;         // row block, or ITM_NONE
    int scalar_force;  // scalar force, or ITM_NONE
    int signal;
    bool is_velocity;
    double max_force;  // > 0: a motor, neither row block nor scalar force but a bounded row
} ItmMotion;

typedef struct ItmLimit {
    const char* name;
    int    measure;
    bool   is_rope;    // the upper limit is the length of a rope without load
    double lower, upper;
    double restitution, stiffness, damping;
} ItmLimit;

typedef struct ItmJointFriction {
    const char* name;
    int    measure;
    double force;
} ItmJointFriction;

// The clearance of a joint as a set of gaps, each between a point of the hub (body b) and a surface of body a:
//   spherical    1    the centre of the socket
//   cylindrical  2    the ends of the hub's centre line, -z then +z
//   revolute     4    the same, then the stops at both ends
//   prismatic    4 n  the corners of both faces, each against the two planes that join there
typedef struct ItmClearanceJoint {
    int    joint;
    ItmJointType type;
    double radial, axial;          // m
    double half_length;            // of the hub                                       m
    double radius;                 // of the pin                                       m
    double friction, restitution, stiffness, damping;
    int    ncorner;                // prismatic
    const double* corner;          // x, y in frame b, counter-clockwise               (2 ncorner)  m
    const double* normal;          // x, y in frame a: outwards from the edge that begins at a corner (2 ncorner)
    const double* offset;          // of the guide's plane beside that edge            (ncorner)  m
    int    npoint;                 // gaps
    int    first_point;            // among those of all joints with clearance
} ItmClearanceJoint;

typedef struct ItmLatch {
    const char* name;
    ItmLatchKind kind;
    int measure;         // direction
    int body_a, body_b;  // bodies; ITM_NONE: the world
    int block;
} ItmLatch;

typedef struct ItmEvent {
    double time;  // s
    int latch;
    bool closes;
} ItmEvent;

// ---------------------------------------------------------------------------- outputs

typedef struct ItmOutput {
    char* name;
    const char* unit;
    char* description;
} ItmOutput;

struct ItmModel {
    ItmVec3 gravity;
    int nuser;            // bodies of the user; flexible ones count as several in nbody
    int nbody, njoint, ncoupling, nmeasure, nmotion, nload, nscalar_force, nbushing, nsignal, nactuator, npoint;
    int nexternal;             // signals that are external
    int nq, nv, nL;       // coordinates, velocities, reals of the mobilizers' factors
    int ntree, nv_tree;   // bodies and velocities up to the last one that is not is_root_leaf
    int nangle;           // unwrapped angles in the state
    int nblock, nrow;     // row blocks, rows
    bool has_driven_rows, has_compliant_rows; // some block has a signal, a compliance
    int ncov, nY, npath;  // covectors, reals of Y, path entries in all
    int npath_max;        // longest path of a block or a contact
    int depth, depth_velocities; // longest way to a root, in bodies and in velocities

    ItmBody*    bodies;       // parents first                              (nbody)
    int*        body_index;   // user's id -> index                         (nuser)
    ItmFlexible* flexibles;   //                                            (nflexible)
    ItmFlexNode* nodes;       //                                            (nnode)
    int         nflexible, nnode, nmode, nnode_S;
    ItmJoint*   joints;       //                                            (njoint)
    ItmMeasure* measures;
    ItmMotion*  motions;
    ItmLoad*    loads;
    ItmScalarForce*    scalar_forces;       // user's springs, joint springs, actuators, force motions
    ItmBushing* bushings;
    ItmPoint*   points;
    ItmSignal*  signals;
    int*        actuator_force; // actuator -> scalar force                   (nactuator)
    double*     actuator_start; // length or angle at the start              (nactuator)  m, rad
    ItmLimit*   limits;       // of joints and ropes, then of actuators     (nlimit + nactuator)
    ItmJointFriction* joint_frictions; //                                   (njoint_friction)
    struct ItmContactModel* contact; // shapes and materials (src/contact), or NULL
    ItmClearanceJoint*   clearances;        // joints with clearance                      (nclearance)
    int         nclearance, nclearance_point, nclearance_row; // with their gaps, and rows at most
    struct ItmCollider* visuals; // shapes to look at that touch nothing (src/contact) (nvisual)
    int         nvisual;
    int         nlimit, njoint_friction;
    int         nmotor;       // motions with a force limit
    int         ncontact_max; // capacity for contacts, 0: the model has no shapes
    ItmContactOptions contact_options;

    ItmSpringRow* spring_rows; //                                           (nspring_row)
    int         nspring_row;
    ItmLatch*   latches;      //                                            (nlatch)
    ItmEvent*   events;       // by time                                    (nevent)
    int         nlatch, nevent;

    ItmRowBlock* blocks;      //                                            (nblock)
    int*        path;         // paths of the blocks, one after the other   (npath)
    int*        path_parent;  //                                            (npath)
    int*        body_block_adr; // blocks whose path holds a body: first entry (nbody + 1)
    int*        body_block;   //   block                                    (npath)
    int*        body_block_y; //   where its Y has the body's velocities    (npath)
    int*        component;    // smallest body that a body is connected with by joints (nbody)
    bool*       is_planar;    // whether its joints keep a component in a plane (planar.h), by the name of the component (nbody)
    bool*       is_articulated; // whether M of a component depends on q: a tree that is not a free body, without modes; by its name (nbody)
    int         narticulated; // such components
    ItmVelocityNodes velocity_nodes; // velocities in groups of six (multibody/bounded_nodes.h)
    int*        row_block;    // block of a row                             (nrow)
    char**      row_names;    //                                            (nrow)
    int         nidle;        // idle rows of all blocks
    bool*       is_row_redundant; // in the start configuration             (nrow)
    bool*       is_in_loop;   // itm_loops_find                             (nblock)
    double*     pivot_raise;  // itm_rows_factor_step                       (nrow)
    ItmBlocks   pattern;      // of H
    ItmBlockPair* pairs;
    int         npair;
    ItmSharedRun* runs;
    int         nrun;

    ItmSpanningNode* spanning; // forest of rows (multibody/spanning.h)     (nspanning)
    int         nspanning;    // 0: the rows are not a forest
    int         nspanning_free, nspanning_L; // free directions of all nodes, reals in their factors

    double*     start;        // assembled start: q, v, angles              (nq + nv + nangle)
    ItmOutput*  outputs;
    int         noutput;
    int*        output_hash;  // open addressing by name                    (noutput_hash)
    int         noutput_hash;

    ItmOwned    owned;        // memory of all of the above
    ItmModelInfo info;
};
// clang-format on

// Frees everything but what other rooms hung on the model.
void itm_multibody_destroy(ItmModel* m);

// Whether anything has a bound: contacts, joint limits, clearance, dry friction, motors with a force limit.
static inline bool itm_model_has_bounds(const ItmModel* m)
{
    return m->nlimit + m->njoint_friction + m->nmotor + m->nclearance + m->ncontact_max > 0;
}

// A point given from the centre of mass, or from a node of a flexible body, in the user's body frame.
ItmVec3 itm_model_find_user_point(const ItmModel* m, int body, ItmVec3 point);

// The body whose mobilizer has this velocity.
int itm_model_body_of_velocity(const ItmModel* m, int v_index);

// Zeroed memory that lives as long as the model; NULL without memory.
void* itm_model_take(ItmModel* m, size_t count, size_t size);
char* itm_model_take_string(ItmModel* m, const char* text);

#endif
