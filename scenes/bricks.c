// Bricks on the ground: a wall, where every course carries those above, and bricks that do not touch. Any number: no model
// file has that.
#include "scenes/scene.h"
#include "scenes/scenes.h"
#include "scenes/numbers.h"

#include <stdio.h>

static int add_material(ItmScene* scene)
{
    ItmMaterialDef def = itm_default_material_def();
    def.name = "brick";
    def.surface.friction = ITM_BRICK_FRICTION;
    return itm_scene_add_material(scene, &def);
}

static void add_ground(ItmScene* scene, int material)
{
    ItmColliderDef def = itm_default_collider_def();
    def.name = "plane";
    def.body = ITM_GROUND;
    def.kind = ITM_COLLIDER_PLANE;
    def.material = material;
    itm_scene_add_collider(scene, &def);
}

static void add_brick(ItmScene* scene, int i, const double p[3], int material)
{
    const double x = ITM_BRICK_LENGTH, y = ITM_BRICK_WIDTH, z = ITM_BRICK_HEIGHT;
    char name[24];
    snprintf(name, sizeof name, "brick%d", i);
    ItmBodyDef body = itm_default_body_def();
    body.name = name;
    body.mass = ITM_BRICK_MASS;
    body.inertia = (ItmSym3){.xx = ITM_BRICK_MASS * (y * y + z * z) / 12,
                             .yy = ITM_BRICK_MASS * (x * x + z * z) / 12,
                             .zz = ITM_BRICK_MASS * (x * x + y * y) / 12};
    body.has_pose = true;
    body.pose.p = (ItmVec3){p[0], p[1], p[2]};
    ItmColliderDef shape = itm_default_collider_def();
    shape.body = itm_scene_add_body(scene, &body);
    snprintf(name, sizeof name, "box%d", i);
    shape.name = name;
    shape.kind = ITM_COLLIDER_BOX;
    shape.size[0] = x;
    shape.size[1] = y;
    shape.size[2] = z;
    shape.material = material;
    itm_scene_add_collider(scene, &shape);
}

static ItmStatus build_bricks(ItmModel** model, int n, void (*get_position)(int n, int i, double p[3]), ItmError* error)
{
    ItmScene scene = itm_scene_begin(ITM_COORDINATES_ABSOLUTE, (ItmVec3){0, 0, -ITM_SCENE_GRAVITY}, error);
    int material = add_material(&scene);
    add_ground(&scene, material);
    for (int i = 0; i < n; i++) {
        double p[3];
        get_position(n, i, p);
        add_brick(&scene, i, p, material);
    }
    return itm_scene_finish(&scene, model);
}

ItmStatus itm_wall_build(ItmModel** model, int n, ItmError* error)
{
    return build_bricks(model, n, itm_wall_get_position, error);
}

ItmStatus itm_floor_build(ItmModel** model, int n, ItmError* error)
{
    return build_bricks(model, n, itm_floor_get_position, error);
}
