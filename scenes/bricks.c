// Bricks on the ground: a wall, where every course carries those above, and bricks that do not touch; boxes and spheres that fall
// on each other. Any number: no model file has that.
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

// Boxes of the same size, or spheres.
typedef struct Piece {
    const char* name;
    ItmColliderKind kind;
    double size[3];  // as the shape has it: edges, or the radius
    double mass;
} Piece;

static const Piece BRICK = {
    "brick", ITM_COLLIDER_BOX, {ITM_BRICK_LENGTH, ITM_BRICK_WIDTH, ITM_BRICK_HEIGHT}, ITM_BRICK_MASS};
static const Piece CUBE = {"piece", ITM_COLLIDER_BOX, {ITM_PILE_SIZE, ITM_PILE_SIZE, ITM_PILE_SIZE}, ITM_PILE_MASS};
static const Piece BALL = {"piece", ITM_COLLIDER_SPHERE, {0.5 * ITM_PILE_SIZE, 0, 0}, ITM_PILE_MASS};

static ItmSym3 compute_inertia(const Piece* piece)
{
    double x = piece->size[0], y = piece->size[1], z = piece->size[2], m = piece->mass;
    if (piece->kind == ITM_COLLIDER_SPHERE) {
        double I = itm_sphere_inertia(m, x);
        return (ItmSym3){.xx = I, .yy = I, .zz = I};
    }
    return (ItmSym3){.xx = m * (y * y + z * z) / 12, .yy = m * (x * x + z * z) / 12, .zz = m * (x * x + y * y) / 12};
}

static void add_piece(ItmScene* scene, const Piece* piece, int i, const double p[3], int material)
{
    char name[24];
    snprintf(name, sizeof name, "%s%d", piece->name, i);
    ItmBodyDef body = itm_default_body_def();
    body.name = name;
    body.mass = piece->mass;
    body.inertia = compute_inertia(piece);
    body.has_pose = true;
    body.pose.p = (ItmVec3){p[0], p[1], p[2]};
    ItmColliderDef shape = itm_default_collider_def();
    shape.body = itm_scene_add_body(scene, &body);
    snprintf(name, sizeof name, "shape%d", i);
    shape.name = name;
    shape.kind = piece->kind;
    for (int k = 0; k < 3; k++) {
        shape.size[k] = piece->size[k];
    }
    shape.material = material;
    itm_scene_add_collider(scene, &shape);
}

// sleep_after: contact option, s
static ItmStatus build_pieces(ItmModel** model, const Piece* piece, int n,
                              void (*get_position)(int n, int i, double p[3]), double sleep_after, ItmError* error)
{
    ItmScene scene = itm_scene_begin(ITM_COORDINATES_ABSOLUTE, (ItmVec3){0, 0, -ITM_SCENE_GRAVITY}, error);
    ItmContactOptions options = itm_default_contact_options();
    options.sleep_after = sleep_after;
    itm_scene_set_contact_options(&scene, &options);
    int material = add_material(&scene);
    add_ground(&scene, material);
    for (int i = 0; i < n; i++) {
        double p[3];
        get_position(n, i, p);
        add_piece(&scene, piece, i, p, material);
    }
    return itm_scene_finish(&scene, model);
}

ItmStatus itm_wall_build(ItmModel** model, int n, ItmError* error)
{
    return itm_wall_build_sleeper(model, n, 0.0, error);
}

ItmStatus itm_wall_build_sleeper(ItmModel** model, int n, double sleep_after, ItmError* error)
{
    return build_pieces(model, &BRICK, n, itm_wall_get_position, sleep_after, error);
}

ItmStatus itm_floor_build(ItmModel** model, int n, ItmError* error)
{
    return build_pieces(model, &BRICK, n, itm_floor_get_position, 0.0, error);
}

ItmStatus itm_pile_build(ItmModel** model, int n, bool is_round, ItmError* error)
{
    return build_pieces(model, is_round ? &BALL : &CUBE, n, itm_pile_get_position, 0.0, error);
}
