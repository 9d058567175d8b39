// Seven-joint arm (axes roll, yaw, pitch, pitch, pitch, yaw, roll), without torques, from the numbers that the peers share.
#include "scenes/scene.h"
#include "scenes/scenes.h"
#include "scenes/numbers.h"

#include <stdio.h>

static int add_link(ItmScene* scene, int i)
{
    const ItmArm7Link* link = &ITM_ARM7_LINKS[i];
    char name[24];
    snprintf(name, sizeof name, "link%d", i + 1);
    double transverse = itm_cylinder_transverse(link->mass, ITM_ARM7_RADIUS, link->length);
    ItmBodyDef def = itm_default_body_def();
    def.name = name;
    def.mass = link->mass;
    def.com = (ItmVec3){0.5 * link->length, 0, 0};
    def.inertia = (ItmSym3){.xx = itm_cylinder_axial(link->mass, ITM_ARM7_RADIUS), .yy = transverse, .zz = transverse};
    return itm_scene_add_body(scene, &def);
}

static void add_joint(ItmScene* scene, int i, int parent, int child)
{
    const ItmArm7Link* link = &ITM_ARM7_LINKS[i];
    char name[24];
    snprintf(name, sizeof name, "joint%d", i + 1);
    ItmVec3 at = {i > 0 ? ITM_ARM7_LINKS[i - 1].length : 0.0, 0, 0};
    ItmJointDef def = itm_scene_hinge(name, parent, at, child, (ItmVec3){0, 0, 0}, itm_scene_unit(link->axis));
    itm_scene_set_start(&def, ITM_RZ, link->q, link->v);
    itm_scene_add_joint(scene, &def);
}

static void add_tool(ItmScene* scene, int parent)
{
    double moment = itm_sphere_inertia(ITM_ARM7_TOOL_MASS, ITM_ARM7_TOOL_RADIUS);
    ItmBodyDef body = itm_default_body_def();
    body.name = "tool";
    body.mass = ITM_ARM7_TOOL_MASS;
    body.inertia = (ItmSym3){.xx = moment, .yy = moment, .zz = moment};
    ItmJointDef weld = itm_default_joint_def(ITM_JOINT_FIXED);
    weld.name = "weld";
    weld.body_a = parent;
    weld.body_b = itm_scene_add_body(scene, &body);
    weld.frame_a.p.x = ITM_ARM7_LINKS[ITM_ARM7_JOINTS - 1].length;
    itm_scene_add_joint(scene, &weld);
}

ItmStatus itm_arm7_build(ItmModel** model, ItmCoordinates coordinates, bool has_gravity, ItmError* error)
{
    ItmVec3 gravity = {0, 0, has_gravity ? -ITM_SCENE_GRAVITY : 0.0};
    ItmScene scene = itm_scene_begin(coordinates, gravity, error);
    int parent = ITM_GROUND;
    for (int i = 0; i < ITM_ARM7_JOINTS; i++) {
        int child = add_link(&scene, i);
        add_joint(&scene, i, parent, child);
        parent = child;
    }
    add_tool(&scene, parent);
    return itm_scene_finish(&scene, model);
}
