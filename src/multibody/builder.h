// The definitions a builder has collected, as the compiler of models reads them.
#ifndef ITM_MULTIBODY_BUILDER_H
#define ITM_MULTIBODY_BUILDER_H

#include "interim/model.h"

// Growing array of definitions; `items` owns copies, whose strings and tables belong to the builder.
#define ITM_DEF_LIST(type)                                                                         \
    struct {                                                                                       \
        type* items;                                                                               \
        int count, capacity;                                                                       \
    }

struct ItmBuilder {
    ItmWorldDef world;
    ITM_DEF_LIST(ItmSignalDef) signals;
    ITM_DEF_LIST(ItmBodyDef) bodies;
    ITM_DEF_LIST(ItmJointDef) joints;
    ITM_DEF_LIST(ItmCouplingDef) couplings;
    ITM_DEF_LIST(ItmMotionDef) motions;
    ITM_DEF_LIST(ItmLoadDef) loads;
    ITM_DEF_LIST(ItmSpringDef) springs;
    ITM_DEF_LIST(ItmJointSpringDef) joint_springs;
    ITM_DEF_LIST(ItmBushingDef) bushings;
    ITM_DEF_LIST(ItmActuatorDef) actuators;
};

// Free directions of a joint as a bit set over ItmDirection. A screw has tz and rz, a distance joint all six.
unsigned itm_joint_def_get_free(const ItmJointDef* def);

#endif
