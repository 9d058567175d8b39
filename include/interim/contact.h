// Unilateral constraints: colliding shapes and their materials, joint limits, joint friction.
// (Motors with a force limit are motions with max_force, see model.h.)
// SPDX-License-Identifier: Apache-2.0
#ifndef INTERIM_CONTACT_H
#define INTERIM_CONTACT_H

#include <stdint.h>

#include "interim/mlcp.h"
#include "interim/model.h"

ITM_EXTERN_C_BEGIN

// ---------------------------------------------------------------------------- materials

// Contact properties of two surfaces. stiffness and damping both 0: rigid.
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

// Default material: friction 0.5, no restitution, rigid.
ITM_API ItmMaterialDef itm_default_material_def(void);

// Contact properties of two materials. Pairs without a definition combine their materials: the geometric mean of
// friction, the larger restitution, torsional and rolling friction, stiffness and damping in series.
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
    ITM_COLLIDER_MESH,      // triangles over vertices, counter-clockwise seen from outside
    ITM_COLLIDER_HEIGHTS,   // heights over a regular grid in x and y, centred on the frame
    ITM_COLLIDER_KIND_COUNT
} ItmColliderKind;

typedef struct ItmColliderDef {
    const char* name;
    int body;  // or ITM_GROUND
    ItmColliderKind kind;
    double size[3];  // m; heights: extent along x and y
    ItmPose pose;    // frame of the shape in the body frame
    int material;    // or ITM_NONE: the default material
    uint32_t group;  // groups of the shape, as bits; default 1
    uint32_t mask;   // groups it collides with, default all; both masks must contain a group of the other shape
    int color;       // in reports, 0xRRGGBB; ITM_NONE: that of its body
    const ItmVec3* vertices;  // hull, mesh                              (nvertex)
    int nvertex;
    const int* triangles;  // mesh: vertex indices                    (3 ntriangle)
    int ntriangle;
    const double* heights;  // heights: row by row along x             (nx * ny)
    int nx, ny;
} ItmColliderDef;

// Default shape: a sphere of radius 1 m on the ground, default material, group 1, all groups in the mask.
ITM_API ItmColliderDef itm_default_collider_def(void);

// One point of a gap between two bodies, world axes.
typedef struct ItmGapPoint {
    double gap;       // m, negative: penetration
    ItmVec3 normal;   // unit, from body a to body b
    ItmVec3 point_a;  // nearest point on a
    ItmVec3 point_b;  // nearest point on b
    uint64_t key;     // identifies the point from step to step
} ItmGapPoint;

// User-defined gap function: writes up to `max` points for the given poses of the body frames and returns their number.
// Called during a step, from the stepping thread; must not call the library.
typedef int ItmGapFunction(void* context, ItmGapPoint* points, int max, const ItmPose* pose_a, const ItmPose* pose_b);

typedef struct ItmGapDef {
    const char* name;
    int body_a, body_b;
    ItmGapFunction* function;
    void* context;
    int max_points;  // 1 .. 16
    ItmSurface surface;
} ItmGapDef;

// Default gap: one point, friction 0.5; name, bodies and function are not set.
ITM_API ItmGapDef itm_default_gap_def(void);

// ---------------------------------------------------------------------------- joints

// Joint limit: a free direction stays in [lower, upper].
typedef struct ItmLimitDef {
    const char* name;
    int joint;
    ItmDirection direction;
    double lower, upper;        // m or rad; -INFINITY and INFINITY: none
    double restitution;         // 0 .. 1
    double stiffness, damping;  // of the limit; both 0: rigid
} ItmLimitDef;

// Default limit: direction ITM_RZ, no bounds, rigid, no restitution; the joint is not set.
ITM_API ItmLimitDef itm_default_limit_def(void);

// Dry friction on a free direction: at most `force`, opposing the motion.
typedef struct ItmJointFrictionDef {
    const char* name;
    int joint;
    ItmDirection direction;
    double force;  // N or N m, >= 0
} ItmJointFrictionDef;

// Default joint friction: direction ITM_RZ, force 0; the joint is not set.
ITM_API ItmJointFrictionDef itm_default_joint_friction_def(void);

// ---------------------------------------------------------------------------- contact options

typedef struct ItmContactOptions {
    ItmFrictionLaw law;        // box, pyramid, exact cone
    int ndirection;            // corners of the pyramid
    bool lag_friction_bounds;  // friction bounds from the last normal impulse (as in the papers), not the current one
    double margin;             // shapes closer than this (plus their motion in one step) become contacts, m
    double restitution_speed;  // no restitution below this approach speed, m/s
    int max_contacts;          // capacity; 0: derived from the shapes
    ItmMlcpSolver solver;
    double tolerance;       // relative residual at which a solve counts as solved
    double effort;          // limit per island, see ItmMlcpOptions.effort; 0: no limit
    double residual_limit;  // relative residual above which a step counts as bad
    int residual_steps;     // number of consecutive bad steps that ends the run; 0: never
    double
        sleep_after;  // islands of free bodies that have rested this long sleep until something reaches them, s; 0: never
    double sleep_speed;  // a body is at rest while sqrt(2 T / m), its speed including rotation, is below this, m/s
} ItmContactOptions;

// Default options: exact cone, margin 1 mm, restitution above 1 cm/s, solver AUTO to 1e-9 with an effort of 40; 20
// consecutive steps with a residual above 1e-3 end the run.
ITM_API ItmContactOptions itm_default_contact_options(void);

// ---------------------------------------------------------------------------- builder

// Set the contact options of the model.
ITM_API ItmStatus itm_model_builder_set_contact_options(ItmModelBuilder* b, const ItmContactOptions* options,
                                                        ItmError* error);
// Add a material. Material names are a namespace of their own, like those of signals.
ITM_API ItmStatus itm_model_builder_add_material(ItmModelBuilder* b, const ItmMaterialDef* def, int* id,
                                                 ItmError* error);
// Define the contact properties of a pair of materials.
ITM_API ItmStatus itm_model_builder_add_material_pair(ItmModelBuilder* b, const ItmMaterialPairDef* def,
                                                      ItmError* error);
// Add a colliding shape to a body or to the ground.
ITM_API ItmStatus itm_model_builder_add_collider(ItmModelBuilder* b, const ItmColliderDef* def, int* id,
                                                 ItmError* error);
// Add a shape for display only: it does not collide and has no mass. Its name is not kept.
ITM_API ItmStatus itm_model_builder_add_visual(ItmModelBuilder* b, const ItmColliderDef* def, ItmError* error);
// Add a user-defined gap between two bodies.
ITM_API ItmStatus itm_model_builder_add_gap(ItmModelBuilder* b, const ItmGapDef* def, int* id, ItmError* error);
// Add a limit to a free direction of a joint.
ITM_API ItmStatus itm_model_builder_add_limit(ItmModelBuilder* b, const ItmLimitDef* def, int* id, ItmError* error);
// Add dry friction to a free direction of a joint.
ITM_API ItmStatus itm_model_builder_add_joint_friction(ItmModelBuilder* b, const ItmJointFrictionDef* def, int* id,
                                                       ItmError* error);
// Exclude contact between two bodies. Bodies connected by a joint are always excluded.
ITM_API ItmStatus itm_model_builder_exclude_contact(ItmModelBuilder* b, int body_a, int body_b, ItmError* error);

// ---------------------------------------------------------------------------- reading a model

// Shapes and contact properties of a model.
typedef struct ItmContactModelInfo {
    int nshape;
    int nmaterial;  // without the default material
    int nexcluded;  // pairs of bodies that never collide
    ItmContactOptions options;
} ItmContactModelInfo;
// Shapes and contact properties of a model; nshape is 0 if it has none.
ITM_API ItmContactModelInfo itm_contact_get_model_info(const struct ItmModel* m);

// A shape of a model.
typedef struct ItmShapeInfo {
    const char* name;
    const char* kind;  // "box", "sphere", "mesh", ...
    int body;          // id of the builder, or ITM_GROUND
} ItmShapeInfo;
// A shape, 0 <= shape < nshape.
ITM_API ItmShapeInfo itm_contact_get_shape(const struct ItmModel* m, int shape);
// A shape as it is drawn: those that collide first, then those for display only. Poses of bodies: itm_data_get_body_pose.
typedef struct ItmDrawnShape {
    const char* name;  // NULL: for display only
    int body;          // id of the builder, or ITM_GROUND
    bool collides;
    int color;  // 0xRRGGBB; ITM_NONE: none given
    ItmColliderKind kind;
    double size[3];           // as in ItmColliderDef; heights: spacing of the grid along x and y
    ItmPose pose;             // frame of the shape in the body frame; heights: of the first corner of the grid
    const ItmVec3* vertices;  // hull, mesh: in the frame of the shape   (nvertex)
    int nvertex;
    const int* triangles;  // mesh: vertex indices                    (3 ntriangle)
    int ntriangle;
    const double* heights;  // heights: row by row along x             (nx * ny)
    int nx, ny;
} ItmDrawnShape;
// Number of shapes to draw.
ITM_API int itm_contact_get_drawn_count(const struct ItmModel* m);
// A shape to draw, 0 <= shape < itm_contact_get_drawn_count. Pointers live as long as the model.
ITM_API ItmDrawnShape itm_contact_get_drawn(const struct ItmModel* m, int shape);
// Whether two shapes should collide by their groups and bodies, but pass through each other because this pair of kinds is not
// supported.
ITM_API bool itm_contact_is_unsupported(const struct ItmModel* m, int shape_a, int shape_b);

// ---------------------------------------------------------------------------- reading contacts

typedef enum ItmContactState {
    ITM_CONTACT_OPEN,
    ITM_CONTACT_STICKING,
    ITM_CONTACT_SLIDING,
} ItmContactState;

// A contact of the last step.
typedef struct ItmContactInfo {
    int body_a, body_b;  // ids of the builder, or ITM_GROUND
    const char* name_a;  // names of the shapes; a user-defined gap has only name_a
    const char* name_b;
    ItmGapPoint point;      // at the start of the step
    ItmVec3 impulse;        // on body b, world axes; minimum norm if contacts are redundant   N s
    double normal_impulse;  // N s
    ItmVec3 force;          // impulse over the length of the step: mean force on body b   N
    double normal_force;    // N
    ItmContactState state;
} ItmContactInfo;

struct ItmData;
// Number of contacts of the last step.
ITM_API int itm_contact_get_count(const struct ItmData* d);
// Contact of the last step by index, 0 .. count - 1. Computes minimum-norm impulses on the first call after a step.
ITM_API ItmContactInfo itm_contact_get_info(struct ItmData* d, int contact);

ITM_EXTERN_C_END

#endif
