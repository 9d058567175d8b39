#include "scenes/scene.h"

ItmScene itm_scene_begin(ItmCoordinates coordinates, ItmVec3 gravity, ItmError* error)
{
    ItmWorldDef world = itm_default_world_def();
    world.coordinates = coordinates;
    world.gravity = gravity;
    ItmScene scene = {.error = error};
    scene.status = itm_model_builder_create(&scene.builder, &world, error);
    return scene;
}

int itm_scene_add_body(ItmScene* scene, const ItmBodyDef* def)
{
    int id = ITM_NONE;
    if (scene->status == ITM_OK) {
        scene->status = itm_model_builder_add_body(scene->builder, def, &id, scene->error);
    }
    return id;
}

int itm_scene_add_joint(ItmScene* scene, const ItmJointDef* def)
{
    int id = ITM_NONE;
    if (scene->status == ITM_OK) {
        scene->status = itm_model_builder_add_joint(scene->builder, def, &id, scene->error);
    }
    return id;
}

int itm_scene_add_collider(ItmScene* scene, const ItmColliderDef* def)
{
    int id = ITM_NONE;
    if (scene->status == ITM_OK) {
        scene->status = itm_model_builder_add_collider(scene->builder, def, &id, scene->error);
    }
    return id;
}

void itm_scene_set_contact_options(ItmScene* scene, const ItmContactOptions* options)
{
    if (scene->status == ITM_OK) {
        scene->status = itm_model_builder_set_contact_options(scene->builder, options, scene->error);
    }
}

int itm_scene_add_material(ItmScene* scene, const ItmMaterialDef* def)
{
    int id = ITM_NONE;
    if (scene->status == ITM_OK) {
        scene->status = itm_model_builder_add_material(scene->builder, def, &id, scene->error);
    }
    return id;
}

void itm_scene_add_actuator(ItmScene* scene, const char* name, int a, ItmVec3 at_a, int b, ItmVec3 at_b)
{
    ItmActuatorDef def = itm_default_actuator_def();
    def.name = name;
    def.body_a = a;
    def.point_a = at_a;
    def.body_b = b;
    def.point_b = at_b;
    if (scene->status == ITM_OK) {
        scene->status = itm_model_builder_add_actuator(scene->builder, &def, NULL, scene->error);
    }
}

ItmStatus itm_scene_finish(ItmScene* scene, ItmModel** model)
{
    if (scene->status == ITM_OK) {
        scene->status = itm_model_build(model, scene->builder, scene->error);
    }
    itm_model_builder_destroy(scene->builder);
    return scene->status;
}

ItmPose itm_scene_frame(ItmVec3 at, ItmVec3 axis)
{
    ItmPose frame = {at, {1, 0, 0, 0}};
    itm_model_frame_from_axis(&frame, at, axis, (ItmVec3){1, 0, 0}, NULL);
    return frame;
}

ItmVec3 itm_scene_unit(int axis)
{
    return (ItmVec3){axis == 0, axis == 1, axis == 2};
}

ItmJointDef itm_scene_hinge(const char* name, int body_a, ItmVec3 at_a, int body_b, ItmVec3 at_b, ItmVec3 axis)
{
    ItmJointDef def = itm_default_joint_def(ITM_JOINT_REVOLUTE);
    def.name = name;
    def.body_a = body_a;
    def.body_b = body_b;
    def.frame_a = itm_scene_frame(at_a, axis);
    def.frame_b = itm_scene_frame(at_b, axis);
    return def;
}

void itm_scene_set_start(ItmJointDef* def, ItmDirection direction, double value, double rate)
{
    def->has_start[direction] = true;
    def->start[direction] = value;
    def->start_rate[direction] = rate;
}
