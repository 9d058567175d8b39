// What the scene files share: a builder that remembers its first error, so that a scene reads as a list.
#ifndef ITM_SCENES_SCENE_H
#define ITM_SCENES_SCENE_H

#include "interim/contact.h"
#include "interim/model.h"

typedef struct ItmScene {
    ItmModelBuilder* builder;
    ItmStatus status;  // of the first call that failed; later calls do nothing
    ItmError* error;
} ItmScene;

ItmScene itm_scene_begin(ItmCoordinates coordinates, ItmVec3 gravity, ItmError* error);
// These return the id, or ITM_NONE after an error.
int itm_scene_add_body(ItmScene* scene, const ItmBodyDef* def);
int itm_scene_add_joint(ItmScene* scene, const ItmJointDef* def);
int itm_scene_add_collider(ItmScene* scene, const ItmColliderDef* def);
int itm_scene_add_material(ItmScene* scene, const ItmMaterialDef* def);
void itm_scene_set_contact_options(ItmScene* scene, const ItmContactOptions* options);
// A line actuator from a point of body a to one of body b.
void itm_scene_add_actuator(ItmScene* scene, const char* name, int a, ItmVec3 at_a, int b, ItmVec3 at_b);
// Compile, destroy the builder, give the status.
ItmStatus itm_scene_finish(ItmScene* scene, ItmModel** model);

// Frame at a point with z along an axis that is not zero, x by default.
ItmPose itm_scene_frame(ItmVec3 at, ItmVec3 axis);
// Unit vector along axis 0, 1 or 2.
ItmVec3 itm_scene_unit(int axis);
// Revolute joint about the same axis in both bodies, no start value given.
ItmJointDef itm_scene_hinge(const char* name, int body_a, ItmVec3 at_a, int body_b, ItmVec3 at_b, ItmVec3 axis);
void itm_scene_set_start(ItmJointDef* def, ItmDirection direction, double value, double rate);

#endif
