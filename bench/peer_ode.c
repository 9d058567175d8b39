// ODE: chain and four-bar as bodies with hinge rows (absolute coordinates), bricks as boxes, by its iterative QuickStep.
#include "bench/measure.h"

#include <ode/ode.h>

#include <stdlib.h>

typedef struct Scene {
    dWorldID world;
    dBodyID* links;
    dJointID* joints;
    int nlink, njoint;
    double moment[3];  // principal moments of every link
    dSpaceID space;    // bricks only, as what follows
    dJointGroupID contacts;
    BenchTouch touch;
} Scene;

static Scene* make_scene(int nlink, int njoint)
{
    Scene* scene = calloc(1, sizeof *scene);
    scene->world = dWorldCreate();
    dWorldSetGravity(scene->world, 0, 0, -ITM_SCENE_GRAVITY);
    scene->links = calloc((size_t)nlink, sizeof *scene->links);
    scene->joints = calloc((size_t)njoint, sizeof *scene->joints);
    return scene;
}

static void destroy(void* self)
{
    Scene* scene = self;
    dWorldDestroy(scene->world);
    free(scene->links);
    free(scene->joints);
    free(scene);
}

static void step(void* self, int count)
{
    Scene* scene = self;
    for (int i = 0; i < count; i++) {
        dWorldQuickStep(scene->world, ITM_SCENE_STEP);
    }
}

static dBodyID add_link(Scene* scene, double x, double z)
{
    dBodyID body = dBodyCreate(scene->world);
    dMass mass;
    const double* I = scene->moment;
    dMassSetParameters(&mass, 1, 0, 0, 0, I[0], I[1], I[2], 0, 0, 0);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, x, 0, z);
    scene->links[scene->nlink++] = body;
    return body;
}

static void add_hinge(Scene* scene, dBodyID a, dBodyID b, double x, double z, int axis)
{
    dJointID joint = dJointCreateHinge(scene->world, 0);
    dJointAttach(joint, a, b);
    dJointSetHingeAnchor(joint, x, 0, z);
    dJointSetHingeAxis(joint, axis == 0, axis == 1, axis == 2);
    scene->joints[scene->njoint++] = joint;
}

static double get_gap(void* self)
{
    Scene* scene = self;
    double gap = 0;
    for (int i = 0; i < scene->njoint; i++) {
        dVector3 a, b;
        dJointGetHingeAnchor(scene->joints[i], a);
        dJointGetHingeAnchor2(scene->joints[i], b);
        gap = fmax(gap,
                   sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2])));
    }
    return gap;
}

static double get_energy(void* self)
{
    Scene* scene = self;
    double energy = 0;
    for (int i = 0; i < scene->nlink; i++) {
        dBodyID body = scene->links[i];
        const dReal *v = dBodyGetLinearVel(body), *w = dBodyGetAngularVel(body);
        dVector3 omega;
        dBodyVectorFromWorld(body, w[0], w[1], w[2], omega);
        energy += ITM_SCENE_GRAVITY * dBodyGetPosition(body)[2];
        for (int k = 0; k < 3; k++) {
            energy += 0.5 * (v[k] * v[k] + scene->moment[k] * omega[k] * omega[k]);
        }
    }
    return energy;
}

// ---------------------------------------------------------------------------- chain

static void* create_chain(int n)
{
    Scene* scene = make_scene(n, n);
    scene->moment[0] = itm_cylinder_axial(1, ITM_CHAIN_RADIUS);
    scene->moment[1] = scene->moment[2] = itm_cylinder_transverse(1, ITM_CHAIN_RADIUS, 1);
    dBodyID last = 0;
    for (int i = 0; i < n; i++) {
        dBodyID body = add_link(scene, i + 0.5, 0);
        if (i > 0) {
            dBodySetAngularVel(body, 0, 0, itm_chain_rate(n));
            dBodySetLinearVel(body, 0, itm_chain_rate(n) * (i - 0.5), 0);
        }
        add_hinge(scene, body, last, i, 0, itm_chain_axis(i));
        last = body;
    }
    return scene;
}

static double get_tip_z(void* self)
{
    Scene* scene = self;
    dVector3 tip;
    dBodyGetRelPointPos(scene->links[scene->nlink - 1], 0.5, 0, 0, tip);
    return tip[2];
}

// ---------------------------------------------------------------------------- four-bar

static dBodyID add_upright(Scene* scene, int i)
{
    dBodyID body = add_link(scene, i, 0.5);
    dBodySetAngularVel(body, 0, 1, 0);
    dBodySetLinearVel(body, 0.5, 0, 0);
    add_hinge(scene, body, 0, i, 0, 1);
    return body;
}

static void* create_loop(int n)
{
    Scene* scene = make_scene(2 * n + 1, 3 * n + 1);
    for (int k = 0; k < 3; k++) {
        scene->moment[k] = ITM_FOUR_BAR_INERTIA;
    }
    dBodyID left = add_upright(scene, 0);
    for (int i = 0; i < n; i++) {
        dBodyID right = add_upright(scene, i + 1);
        dBodyID coupler = add_link(scene, i + 0.5, 1);
        dBodySetLinearVel(coupler, 1, 0, 0);
        add_hinge(scene, coupler, left, i, 1, 1);
        add_hinge(scene, coupler, right, i + 1, 1, 1);
        left = right;
    }
    return scene;
}

static BenchDirection get_upright(void* self)
{
    Scene* scene = self;
    const dReal* R = dBodyGetRotation(scene->links[0]);
    return (BenchDirection){R[2], R[10]};
}

// ---------------------------------------------------------------------------- bricks

static void* create_bricks(int n, void (*get_position)(int n, int i, double p[3]))
{
    Scene* scene = make_scene(n, 1);
    scene->space = dHashSpaceCreate(0);
    scene->contacts = dJointGroupCreate(0);
    dCreatePlane(scene->space, 0, 0, 1, 0);
    for (int i = 0; i < n; i++) {
        double p[3];
        get_position(n, i, p);
        dBodyID body = dBodyCreate(scene->world);
        dMass mass;
        dMassSetBoxTotal(&mass, ITM_BRICK_MASS, ITM_BRICK_LENGTH, ITM_BRICK_WIDTH, ITM_BRICK_HEIGHT);
        dBodySetMass(body, &mass);
        dBodySetPosition(body, p[0], p[1], p[2]);
        dGeomSetBody(dCreateBox(scene->space, ITM_BRICK_LENGTH, ITM_BRICK_WIDTH, ITM_BRICK_HEIGHT), body);
        scene->links[scene->nlink++] = body;
    }
    return scene;
}

static void* create_wall(int n)
{
    return create_bricks(n, itm_wall_get_position);
}

static void* create_floor(int n)
{
    return create_bricks(n, itm_floor_get_position);
}

static void destroy_bricks(void* self)
{
    Scene* scene = self;
    dJointGroupDestroy(scene->contacts);
    dSpaceDestroy(scene->space);
    destroy(scene);
}

static void touch(void* self, dGeomID a, dGeomID b)
{
    enum { MAX = 16 };
    Scene* scene = self;
    dContact contacts[MAX];
    int n = dCollide(a, b, MAX, &contacts[0].geom, sizeof(dContact));
    for (int i = 0; i < n; i++) {
        contacts[i].surface.mode = dContactApprox1;
        contacts[i].surface.mu = ITM_BRICK_FRICTION;
        dJointID joint = dJointCreateContact(scene->world, scene->contacts, &contacts[i]);
        dJointAttach(joint, dGeomGetBody(a), dGeomGetBody(b));
        scene->touch.penetration = fmax(scene->touch.penetration, contacts[i].geom.depth);
        scene->touch.ncontact++;
    }
}

static void step_bricks(void* self, int count)
{
    Scene* scene = self;
    for (int i = 0; i < count; i++) {
        scene->touch = (BenchTouch){0, 0};
        dSpaceCollide(scene->space, scene, touch);
        dWorldQuickStep(scene->world, ITM_SCENE_STEP);
        dJointGroupEmpty(scene->contacts);
    }
}

static void get_brick(void* self, int i, double p[3])
{
    Scene* scene = self;
    for (int k = 0; k < 3; k++) {
        p[k] = dBodyGetPosition(scene->links[i])[k];
    }
}

static BenchTouch get_touch(void* self)
{
    return ((Scene*)self)->touch;
}

// ---------------------------------------------------------------------------- main

static const BenchScene SCENES[] = {
    {.kind = BENCH_CHAIN,
     .subject = {.name = "ode", .create = create_chain, .destroy = destroy, .step = step, .get_tip_z = get_tip_z}},
    {.kind = BENCH_LOOP,
     .subject = {.name = "ode",
                 .create = create_loop,
                 .destroy = destroy,
                 .step = step,
                 .get_energy = get_energy,
                 .get_gap = get_gap,
                 .get_upright = get_upright}},
    {.kind = BENCH_WALL,
     .subject = {.name = "ode",
                 .create = create_wall,
                 .destroy = destroy_bricks,
                 .step = step_bricks,
                 .get_brick = get_brick,
                 .get_touch = get_touch}},
    {.kind = BENCH_FLOOR,
     .subject = {.name = "ode",
                 .create = create_floor,
                 .destroy = destroy_bricks,
                 .step = step_bricks,
                 .get_brick = get_brick,
                 .get_touch = get_touch}},
};

int main(int argc, char** argv)
{
    dInitODE2(0);
    dAllocateODEDataForThread(dAllocateMaskAll);
    bench_run_scenes(SCENES, BENCH_COUNT(SCENES), argc, argv);
    dCloseODE();
    return 0;
}
