// Chain of n equal rods, revolute axes alternating: linear growth of cost, and nine-digit tip heights. Any n: no model file has that.
#include "scenes/scene.h"
#include "scenes/scenes.h"
#include "scenes/numbers.h"

#include <stdio.h>

static int add_link(ItmScene* scene, int i)
{
    char name[24];
    snprintf(name, sizeof name, "link%d", i);
    double transverse = itm_cylinder_transverse(1, ITM_CHAIN_RADIUS, 1);
    ItmBodyDef def = itm_default_body_def();
    def.name = name;
    def.mass = 1;
    def.com = (ItmVec3){0.5, 0, 0};
    def.inertia = (ItmSym3){.xx = itm_cylinder_axial(1, ITM_CHAIN_RADIUS), .yy = transverse, .zz = transverse};
    return itm_scene_add_body(scene, &def);
}

// clearance > 0: every joint has clearance
static ItmStatus build(ItmModel** model, ItmCoordinates coordinates, int n, double clearance, ItmError* error)
{
    ItmScene scene = itm_scene_begin(coordinates, (ItmVec3){0, 0, -ITM_SCENE_GRAVITY}, error);
    int parent = ITM_GROUND;
    for (int i = 0; i < n; i++) {
        char name[24];
        snprintf(name, sizeof name, "joint%d", i);
        int child = add_link(&scene, i);
        ItmJointDef def = itm_scene_hinge(name, parent, (ItmVec3){i > 0, 0, 0}, child, (ItmVec3){0, 0, 0},
                                          itm_scene_unit(itm_chain_axis(i)));
        itm_scene_set_start(&def, ITM_RZ, 0, i == 1 ? itm_chain_rate(n) : 0);
        def.clearance.radial = def.clearance.axial = clearance;
        def.clearance.length = clearance > 0.0 ? 4 * ITM_CHAIN_RADIUS : 0.0;
        itm_scene_add_joint(&scene, &def);
        parent = child;
    }
    return itm_scene_finish(&scene, model);
}

ItmStatus itm_chain_build(ItmModel** model, ItmCoordinates coordinates, int n, ItmError* error)
{
    return build(model, coordinates, n, 0.0, error);
}

ItmStatus itm_clearance_chain_build(ItmModel** model, ItmCoordinates coordinates, int n, double clearance,
                                    ItmError* error)
{
    return build(model, coordinates, n, clearance, error);
}
