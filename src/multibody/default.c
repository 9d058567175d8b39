#include "interim/data.h"
#include "multibody/model_builder.h"

#include <math.h>

ItmWorldDef itm_default_world_def(void)
{
    return (ItmWorldDef){.gravity = {0, 0, -9.81}, .coordinates = ITM_COORDINATES_JOINT};
}

ItmBodyDef itm_default_body_def(void)
{
    return (ItmBodyDef){.mass = 1.0, .inertia = {.xx = 1.0, .yy = 1.0, .zz = 1.0}, .pose = itm_pose_identity()};
}

ItmJointDef itm_default_joint_def(ItmJointType type)
{
    return (ItmJointDef){.type = type,
                         .body_a = ITM_GROUND,
                         .body_b = ITM_GROUND,
                         .frame_a = itm_pose_identity(),
                         .frame_b = itm_pose_identity()};
}

ItmCouplingDef itm_default_coupling_def(void)
{
    return (ItmCouplingDef){.joint_first = ITM_NONE,
                            .joint_second = ITM_NONE,
                            .direction_first = ITM_RZ,
                            .direction_second = ITM_RZ,
                            .ratio = 1.0};
}

ItmMotionDef itm_default_motion_def(void)
{
    return (ItmMotionDef){.joint = ITM_NONE, .direction = ITM_RZ, .kind = ITM_MOTION_POSITION, .signal = ITM_NONE};
}

ItmLoadDef itm_default_load_def(void)
{
    return (ItmLoadDef){.body = ITM_NONE, .signal = ITM_NONE};
}

ItmSpringDef itm_default_spring_def(void)
{
    return (ItmSpringDef){.body_a = ITM_GROUND, .body_b = ITM_GROUND, .length = -1.0};
}

ItmJointSpringDef itm_default_joint_spring_def(void)
{
    return (ItmJointSpringDef){.joint = ITM_NONE, .direction = ITM_RZ};
}

ItmServoDef itm_default_servo_def(void)
{
    return (ItmServoDef){.joint = ITM_NONE, .direction = ITM_RZ, .target = ITM_NONE, .feedforward = ITM_NONE};
}

ItmBushingDef itm_default_bushing_def(void)
{
    return (ItmBushingDef){
        .body_a = ITM_GROUND, .body_b = ITM_GROUND, .frame_a = itm_pose_identity(), .frame_b = itm_pose_identity()};
}

ItmActuatorDef itm_default_actuator_def(void)
{
    return (ItmActuatorDef){.joint = ITM_NONE, .body_a = ITM_GROUND, .body_b = ITM_GROUND, .signal = ITM_NONE};
}

ItmRopeDef itm_default_rope_def(void)
{
    return (ItmRopeDef){.body_a = ITM_GROUND, .body_b = ITM_GROUND, .drum = ITM_NONE, .length = -1.0};
}

ItmLatchDef itm_default_latch_def(ItmLatchKind kind)
{
    return (ItmLatchDef){
        .kind = kind, .joint = ITM_NONE, .direction = ITM_RZ, .body_a = ITM_GROUND, .body_b = ITM_GROUND};
}

ItmMaterialDef itm_default_material_def(void)
{
    return (ItmMaterialDef){.surface = {.friction = 0.5}};
}

ItmColliderDef itm_default_collider_def(void)
{
    return (ItmColliderDef){.body = ITM_GROUND,
                            .kind = ITM_COLLIDER_SPHERE,
                            .size = {1, 1, 1},
                            .pose = itm_pose_identity(),
                            .material = ITM_NONE,
                            .group = 1,
                            .mask = UINT32_MAX,
                            .color = ITM_NONE};
}

ItmGapDef itm_default_gap_def(void)
{
    return (ItmGapDef){.body_a = ITM_GROUND, .body_b = ITM_GROUND, .max_points = 1, .surface = {.friction = 0.5}};
}

ItmLimitDef itm_default_limit_def(void)
{
    return (ItmLimitDef){.joint = ITM_NONE, .direction = ITM_RZ, .lower = -INFINITY, .upper = INFINITY};
}

ItmJointFrictionDef itm_default_joint_friction_def(void)
{
    return (ItmJointFrictionDef){.joint = ITM_NONE, .direction = ITM_RZ};
}

ItmContactOptions itm_default_contact_options(void)
{
    return (ItmContactOptions){.law = ITM_FRICTION_CONE,
                               .ndirection = 8,
                               .margin = 1e-3,
                               .restitution_speed = 1e-2,
                               .solver = ITM_MLCP_AUTO,
                               .tolerance = 1e-9,
                               .effort = 40.0,
                               .residual_limit = 1e-3,
                               .residual_steps = 20,
                               .sleep_speed = 1e-4};
}

ItmStepOptions itm_default_step_options(void)
{
    return (ItmStepOptions){
        .stepper = ITM_STEPPER_EULER,
        .step = 1e-3,
        .tolerance = 1e-10,
        .gap_tolerance = 1e-11,
        .max_iterations = 50,
        .damping_ratio = 1.0,
    };
}

ItmFlexibleDef itm_default_flexible_def(void)
{
    return (ItmFlexibleDef){.use_stiffening = true};
}
