// From definitions to the tables of a model.
#ifndef ITM_MULTIBODY_COMPILE_H
#define ITM_MULTIBODY_COMPILE_H

#include "multibody/model_builder.h"
#include "multibody/model.h"

// Poses and velocities of the bodies at the start, by user's id, in the user's body frames.
typedef struct ItmStart {
    ItmPose* pose;      // (nbody)
    ItmSpatial* twist;  // angular velocity, velocity of the frame's origin; world axes  (nbody)
    double* modes;      // modes of all flexible bodies, then their rates                 (2 nmode)
} ItmStart;

// Which joint leads to which body in the spanning tree.
typedef struct ItmTree {
    int* order;         // bodies (user's ids), parents first           (nbody)
    int* index;         // inverse of that                              (nbody)
    int* joint;         // joint that carries a body (user's id), or ITM_NONE: free  (nbody)
    bool* is_reversed;  // the joint goes from the body to its parent   (nbody)
} ItmTree;

typedef enum ItmTreeUse {
    ITM_TREE_NEVER,      // all bodies free, all joints rows
    ITM_TREE_ON_DEMAND,  // only joints that ask for it
    ITM_TREE_ALWAYS,     // every joint that may
} ItmTreeUse;

// Spanning tree by breadth-first search from the ground, joints in the order they were given.
ItmStatus itm_tree_build(ItmTree* tree, const ItmModelBuilder* b, ItmTreeUse use);
void itm_tree_free(ItmTree* tree);

// First guess of the start: given poses and velocities, and for the other bodies what the joints and their start values
// give, going outwards from the ground and the given bodies.
ItmStatus itm_tree_guess_start(ItmStart* start, const ItmModelBuilder* b);

// Where something given at a point of a user's body holds on: the body itself, or a node of it where it is flexible.
typedef struct ItmAttachment {
    int body;        // index, ITM_NONE: the world
    ItmVec3 origin;  // of its frame, in the user's body frame   m
} ItmAttachment;

ItmAttachment itm_flexible_attach(const ItmModel* m, const ItmModelBuilder* b, int body, ItmVec3 point);

// Flexible bodies and their nodes: one wherever something holds on (flexible_build.c). Fixes nbody.
ItmStatus itm_flexible_build(ItmModel* m, const ItmModelBuilder* b, ItmError* error);
// Modes and nodes of the flexible body with this index, as bodies `next`, next + 1 ... Returns how many.
int itm_flexible_add_bodies(ItmModel* m, int flexible, int frame, int next);
// Whether a joint at this point of a body can carry it in the tree: no mode moves the point.
bool itm_flexible_can_hang(const ItmModelBuilder* b, int body, ItmVec3 point);

// A model of bodies, joints and forces, assembled, without outputs.
ItmStatus itm_multibody_build(ItmModel** model, const ItmModelBuilder* b, ItmError* error);

// Compile without assembling and without the pattern of H: offsets of couplings, unstressed lengths and the start are not set yet.
// for_assembly: absolute coordinates, and given start values of joints become rows.
ItmStatus itm_compile_model(ItmModel** model, const ItmModelBuilder* b, bool for_assembly, ItmError* error);

// Row blocks and paths (rows_build.c) of a model whose other tables are complete.
ItmStatus itm_rows_build(ItmModel* m, const ItmModelBuilder* b, bool for_assembly);

// Pattern of H, once it is known which rows are idle.
ItmStatus itm_rows_build_pattern(ItmModel* m);

#endif
