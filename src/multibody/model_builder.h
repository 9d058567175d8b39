// The definitions a builder has collected, as the compiler of models reads them.
#ifndef ITM_MULTIBODY_BUILDER_H
#define ITM_MULTIBODY_BUILDER_H

#include "base/names.h"
#include "interim/contact.h"
#include "interim/model.h"
#include "multibody/elastic.h"

// Growing array of definitions; `items` owns copies, whose strings and tables belong to the builder.
#define ITM_DEF_LIST(type)                                                                                             \
    struct {                                                                                                           \
        type* items;                                                                                                   \
        int count, capacity;                                                                                           \
    }

// What a name stands for. Signals have their own names; those of the others are unique over all kinds.
typedef enum ItmElement {
    ITM_ELEMENT_SIGNAL,
    ITM_ELEMENT_BODY,
    ITM_ELEMENT_JOINT,
    ITM_ELEMENT_COUPLING,
    ITM_ELEMENT_MOTION,
    ITM_ELEMENT_LOAD,
    ITM_ELEMENT_SPRING,
    ITM_ELEMENT_JOINT_SPRING,
    ITM_ELEMENT_SERVO,
    ITM_ELEMENT_BUSHING,
    ITM_ELEMENT_ACTUATOR,
    ITM_ELEMENT_ROPE,
    ITM_ELEMENT_MATERIAL,
    ITM_ELEMENT_COLLIDER,
    ITM_ELEMENT_GAP,
    ITM_ELEMENT_LIMIT,
    ITM_ELEMENT_JOINT_FRICTION,
    ITM_ELEMENT_CONTACT,
    ITM_ELEMENT_LATCH,
    ITM_ELEMENT_POINT,
    ITM_ELEMENT_COUNT
} ItmElement;

typedef struct ItmBodyPair {
    int a, b;
} ItmBodyPair;

struct ItmModelBuilder {
    ItmWorldDef world;
    ITM_DEF_LIST(ItmSignalDef) signals;
    ITM_DEF_LIST(ItmBodyDef) bodies;
    ITM_DEF_LIST(ItmJointDef) joints;
    ITM_DEF_LIST(ItmCouplingDef) couplings;
    ITM_DEF_LIST(ItmMotionDef) motions;
    ITM_DEF_LIST(ItmLoadDef) loads;
    ITM_DEF_LIST(ItmSpringDef) springs;
    ITM_DEF_LIST(ItmJointSpringDef) joint_springs;
    ITM_DEF_LIST(ItmServoDef) servos;
    ITM_DEF_LIST(ItmBushingDef) bushings;
    ITM_DEF_LIST(ItmActuatorDef) actuators;
    ITM_DEF_LIST(ItmRopeDef) ropes;
    ITM_DEF_LIST(ItmElastic*) elastics;  // of flexible bodies
    ITM_DEF_LIST(ItmLatchDef) latches;
    ITM_DEF_LIST(ItmEventDef) events;
    ITM_DEF_LIST(ItmPointDef) points;
    ItmContactOptions contact;
    ITM_DEF_LIST(ItmMaterialDef) materials;
    ITM_DEF_LIST(ItmMaterialPairDef) material_pairs;
    ITM_DEF_LIST(ItmColliderDef) colliders;
    ITM_DEF_LIST(ItmColliderDef) visuals;  // shapes to look at; no names of their own
    ITM_DEF_LIST(ItmGapDef) gaps;
    ITM_DEF_LIST(ItmLimitDef) limits;
    ITM_DEF_LIST(ItmJointFrictionDef) joint_frictions;
    ITM_DEF_LIST(ItmBodyPair) excluded;  // bodies whose shapes never collide
    ITM_DEF_LIST(unsigned) driven;       // directions of each joint whose position or velocity is prescribed
    ItmNames signal_names;               // name to id
    ItmNames material_names;             // name to id
    ItmNames names;                      // name to id * ITM_ELEMENT_COUNT + element
};

// Id of a named element of this kind, or ITM_NONE.
int itm_model_builder_find(const ItmModelBuilder* b, ItmElement element, const char* name, size_t length);
// How a body (user's id, or ITM_GROUND) deforms, or NULL: it is rigid.
const ItmElastic* itm_model_builder_get_elastic(const ItmModelBuilder* b, int body);
// "body", "joint spring", ...
const char* itm_model_element_name(ItmElement element);

// Whether this is a name that an element may have (see itm_model_builder_add_*).
ItmStatus itm_model_builder_check_name(ItmElement element, const char* name, ItmError* error);

// Whether the definition may be added to b; itm_model_builder_add_* call it. Quaternions need not be normalised.
ItmStatus itm_model_builder_check_body(const ItmBodyDef* def, ItmError* error);
ItmStatus itm_model_builder_check_joint(const ItmModelBuilder* b, const ItmJointDef* def, ItmError* error);
ItmStatus itm_model_builder_check_coupling(const ItmModelBuilder* b, const ItmCouplingDef* def, ItmError* error);
ItmStatus itm_model_builder_check_motion(const ItmModelBuilder* b, const ItmMotionDef* def, ItmError* error);
ItmStatus itm_model_builder_check_load(const ItmModelBuilder* b, const ItmLoadDef* def, ItmError* error);
ItmStatus itm_model_builder_check_spring(const ItmModelBuilder* b, const ItmSpringDef* def, ItmError* error);
ItmStatus itm_model_builder_check_joint_spring(const ItmModelBuilder* b, const ItmJointSpringDef* def, ItmError* error);
ItmStatus itm_model_builder_check_servo(const ItmModelBuilder* b, const ItmServoDef* def, ItmError* error);
ItmStatus itm_model_builder_check_point(const ItmModelBuilder* b, const ItmPointDef* def, ItmError* error);
ItmStatus itm_model_builder_check_bushing(const ItmModelBuilder* b, const ItmBushingDef* def, ItmError* error);
ItmStatus itm_model_builder_check_actuator(const ItmModelBuilder* b, const ItmActuatorDef* def, ItmError* error);
ItmStatus itm_model_builder_check_rope(const ItmModelBuilder* b, const ItmRopeDef* def, ItmError* error);
ItmStatus itm_model_builder_check_latch(const ItmModelBuilder* b, const ItmLatchDef* def, ItmError* error);
ItmStatus itm_model_builder_check_event(const ItmModelBuilder* b, const ItmEventDef* def, ItmError* error);
ItmStatus itm_model_builder_check_material(const ItmMaterialDef* def, ItmError* error);
ItmStatus itm_model_builder_check_material_pair(const ItmModelBuilder* b, const ItmMaterialPairDef* def,
                                                ItmError* error);
ItmStatus itm_model_builder_check_collider(const ItmModelBuilder* b, const ItmColliderDef* def, ItmError* error);
ItmStatus itm_model_builder_check_gap(const ItmModelBuilder* b, const ItmGapDef* def, ItmError* error);
ItmStatus itm_model_builder_check_limit(const ItmModelBuilder* b, const ItmLimitDef* def, ItmError* error);
ItmStatus itm_model_builder_check_joint_friction(const ItmModelBuilder* b, const ItmJointFrictionDef* def,
                                                 ItmError* error);
ItmStatus itm_model_builder_check_contact_options(const ItmContactOptions* options, ItmError* error);

// Whether a solid body can have this inertia about its centre of mass: finite, positive definite, principal moments
// that satisfy the triangle inequality. name: of the body, for the message.
ItmStatus itm_inertia_check(const ItmSym3* inertia, const char* name, ItmError* error);

// Free directions of a joint as a bit set over ItmDirection. A screw has tz and rz, a distance joint all six.
unsigned itm_model_get_free_directions(const ItmJointDef* def);

#endif
