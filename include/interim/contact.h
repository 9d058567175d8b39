// Contact and everything else with a bound: colliding shapes and their materials, joint limits, joint friction.
// (Motors with a force limit are motions with max_force, see model.h.)
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_CONTACT_H
#define INTERIM_CONTACT_H

#include <stdint.h>

#include "interim/mlcp.h"
#include "interim/model.h"

ITM_EXTERN_C_BEGIN

// ---------------------------------------------------------------------------- materials

// How two surfaces meet. stiffness and damping both 0: rigid.
typedef struct ItmSurface {
    double friction;            // Coulomb's coefficient, >= 0
    double torsional_friction;  // torque about the normal / normal force, m, >= 0
    double rolling_friction;    // torque across the normal / normal force, m, >= 0
    double restitution;         // Newton's coefficient, 0 .. 1
    double stiffness;           // N/m, >= 0
    double damping;             // N s/m, >= 0
} ItmSurface;

typedef struct ItmMaterialDef {
    const char* name;
    ItmSurface surface;
} ItmMaterialDef;

// Friction 0.5, nothing else; rigid.
ITM_API ItmMaterialDef itm_default_material_def(void);

// What holds where these two materials meet. Pairs that are not given combine their materials: friction by the
// geometric mean, restitution, torsional and rolling friction by the larger one, stiffness and damping in series.
typedef struct ItmMaterialPairDef {
    int material_a, material_b;
    ItmSurface surface;
} ItmMaterialPairDef;

// ---------------------------------------------------------------------------- shapes

typedef enum ItmColliderKind {
    ITM_COLLIDER_BOX,       // size: edge lengths along x, y, z
    ITM_COLLIDER_SPHERE,    // size: radius
    ITM_COLLIDER_CYLINDER,  // size: radius, length along z
    ITM_COLLIDER_CAPSULE,   // size: radius, length of the cylindrical part along z
    ITM_COLLIDER_PLANE,     // half space below z = 0 of its frame
    ITM_COLLIDER_HULL,      // convex hull of vertices
    ITM_COLLIDER_MESH,      // triangles over vertices, outside where they turn counter-clockwise
    ITM_COLLIDER_HEIGHTS,   // heights over a regular grid in x and y, centred on the frame
    ITM_COLLIDER_KIND_COUNT
} ItmColliderKind;

typedef struct ItmColliderDef {
    const char* name;
    int body;                  // or ITM_GROUND
    ItmColliderKind kind;
    double size[3];            // m; heights: extent along x and y
    ItmPose pose;              // frame of the shape in the body frame
    int material;              // or ITM_NONE: the default material
    uint32_t group;            // what it is, as bits; default 1
    uint32_t mask;             // groups it meets; default all. Two shapes meet if each has the other's group in its mask
    const ItmVec3* vertices;   // hull, mesh                              (nvertex)
    int nvertex;
    const int* triangles;      // mesh: vertex indices                    (3 ntriangle)
    int ntriangle;
    const double* heights;     // heights: row by row along x             (nx * ny)
    int nx, ny;
} ItmColliderDef;

ITM_API ItmColliderDef itm_default_collider_def(void);

// One point of a gap between two bodies, world axes.
typedef struct ItmGapPoint {
    double gap;       // m, negative: penetration
    ItmVec3 normal;   // unit, from body a to body b
    ItmVec3 point_a;  // nearest point on a
    ItmVec3 point_b;  // nearest point on b
    uint64_t key;     // names the point from step to step
} ItmGapPoint;

// A gap that the user computes: writes up to `max` points for the given poses of the body frames and returns how many.
// Called while stepping, from the thread that steps; must not call back into the library.
typedef int ItmGapFunction(void* context, ItmGapPoint* points, int max, const ItmPose* pose_a,
                           const ItmPose* pose_b);

typedef struct ItmGapDef {
    const char* name;
    int body_a, body_b;
    ItmGapFunction* function;
    void* context;
    int max_points;     // 1 .. 16
    ItmSurface surface;
} ItmGapDef;

ITM_API ItmGapDef itm_default_gap_def(void);

// ---------------------------------------------------------------------------- joints

// A free direction stays in [lower, upper].
typedef struct ItmLimitDef {
    const char* name;
    int joint;
    ItmDirection direction;
    double lower, upper;        // m or rad; -INFINITY and INFINITY: none
    double restitution;         // 0 .. 1
    double stiffness, damping;  // of the stop; both 0: rigid
} ItmLimitDef;

ITM_API ItmLimitDef itm_default_limit_def(void);

// Dry friction on a free direction: at most `force`, against the motion.
typedef struct ItmJointFrictionDef {
    const char* name;
    int joint;
    ItmDirection direction;
    double force;  // N or N m, >= 0
} ItmJointFrictionDef;

ITM_API ItmJointFrictionDef itm_default_joint_friction_def(void);

// ---------------------------------------------------------------------------- laws of the whole model

typedef struct ItmContactOptions {
    ItmFrictionLaw law;           // box, pyramid, exact cone
    int ndirection;               // corners of the pyramid
    bool use_last_normal;         // friction bounds from the last step's normal impulse (as the papers) instead of this one's
    double margin;                // shapes nearer than this (plus their way in one step) are contacts, m
    double restitution_speed;     // slower approaches do not bounce, m/s
    int max_contacts;             // capacity; 0: chosen from the shapes
    ItmMlcpSolver solver;
    double tolerance;             // relative residual at which a solve counts as done
    double effort;                // what the solve of an island may cost, ItmMlcpOptions.effort; 0: no limit
    double residual_limit;        // relative residual beyond which a step counts as bad,
    int residual_steps;           // and how many bad steps on end stop the run; 0: never
} ItmContactOptions;

// Exact cone, margin 1 mm, bounce above 1 cm/s, automatic solver to 1e-9 at an effort of 40; 20 steps on end with a
// residual above 1e-3 stop the run.
ITM_API ItmContactOptions itm_default_contact_options(void);

// ---------------------------------------------------------------------------- builder

ITM_API ItmStatus itm_builder_set_contact_options(ItmBuilder* b, const ItmContactOptions* options, ItmError* error);
// Materials have names of their own, like signals.
ITM_API ItmStatus itm_builder_add_material(ItmBuilder* b, const ItmMaterialDef* def, int* id, ItmError* error);
ITM_API ItmStatus itm_builder_add_material_pair(ItmBuilder* b, const ItmMaterialPairDef* def, ItmError* error);
ITM_API ItmStatus itm_builder_add_collider(ItmBuilder* b, const ItmColliderDef* def, int* id, ItmError* error);
// A shape to look at in pictures of the machine: it touches nothing and weighs nothing. Its name is not kept.
ITM_API ItmStatus itm_builder_add_visual(ItmBuilder* b, const ItmColliderDef* def, ItmError* error);
ITM_API ItmStatus itm_builder_add_gap(ItmBuilder* b, const ItmGapDef* def, int* id, ItmError* error);
ITM_API ItmStatus itm_builder_add_limit(ItmBuilder* b, const ItmLimitDef* def, int* id, ItmError* error);
ITM_API ItmStatus itm_builder_add_joint_friction(ItmBuilder* b, const ItmJointFrictionDef* def, int* id, ItmError* error);
// Shapes of these two bodies never meet. Bodies that a joint connects never meet anyway.
ITM_API ItmStatus itm_builder_exclude_contact(ItmBuilder* b, int body_a, int body_b, ItmError* error);

// ---------------------------------------------------------------------------- looking at contacts

typedef enum ItmContactState {
    ITM_CONTACT_OPEN,
    ITM_CONTACT_STICKING,
    ITM_CONTACT_SLIDING,
} ItmContactState;

// A contact of the last step.
typedef struct ItmContactInfo {
    int body_a, body_b;       // user's ids, or ITM_GROUND
    const char* name_a;       // of the shapes; name_a alone for a user's gap
    const char* name_b;
    ItmGapPoint point;        // at the start of the step
    ItmVec3 impulse;          // on body b, world axes; of least norm where redundant contacts leave a choice   N s
    double normal_impulse;    // N s
    ItmContactState state;
} ItmContactInfo;

struct ItmData;
ITM_API int itm_contact_get_count(const struct ItmData* d);
ITM_API ItmContactInfo itm_contact_get_info(const struct ItmData* d, int contact);

ITM_EXTERN_C_END

#endif
