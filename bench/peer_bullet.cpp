// Bullet, double precision: chain as a btMultiBody (joint coordinates), four-bar as bodies with hinges
// and bricks by its sequential impulses.
#include "bench/measure.h"

#include <btBulletDynamicsCommon.h>
#include <BulletDynamics/Featherstone/btMultiBody.h>
#include <BulletDynamics/Featherstone/btMultiBodyConstraintSolver.h>
#include <BulletDynamics/Featherstone/btMultiBodyDynamicsWorld.h>

#include <memory>
#include <vector>

struct World {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
};

static const btVector3 GRAVITY(0, 0, -ITM_SCENE_GRAVITY);

// ---------------------------------------------------------------------------- chain

struct Chain : World {
    btMultiBodyConstraintSolver solver;
    btMultiBodyDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    std::unique_ptr<btMultiBody> body;
    int n;

    explicit Chain(int links);
    ~Chain()
    {
        world.removeMultiBody(body.get());
    }
};

Chain::Chain(int links) : n(links)
{
    world.setGravity(GRAVITY);
    body = std::make_unique<btMultiBody>(n, 1, btVector3(1, 1, 1), true, false);
    body->setHasSelfCollision(false);
    body->setUseGyroTerm(true);
    body->setLinearDamping(0);
    body->setAngularDamping(0);
    double transverse = itm_cylinder_transverse(1, ITM_CHAIN_RADIUS, 1);
    btVector3 inertia(itm_cylinder_axial(1, ITM_CHAIN_RADIUS), transverse, transverse);
    for (int i = 0; i < n; i++) {
        btVector3 axis = itm_chain_axis(i) == 1 ? btVector3(0, 1, 0) : btVector3(0, 0, 1);
        body->setupRevolute(i, 1, inertia, i - 1, btQuaternion(0, 0, 0, 1), axis,
                            btVector3(i > 0 ? 0.5 : 0, 0, 0), btVector3(0.5, 0, 0), true);
    }
    body->finalizeMultiDof();
    world.addMultiBody(body.get());
    body->setBaseWorldTransform(btTransform::getIdentity());
    body->setMaxCoordinateVelocity(1e6);
    body->setJointVel(1, itm_chain_rate(n));
    btAlignedObjectArray<btQuaternion> rotations;
    btAlignedObjectArray<btVector3> origins;
    body->forwardKinematics(rotations, origins);
}

static void* create_chain(int n)
{
    return new Chain(n);
}

static void destroy_chain(void* self)
{
    delete static_cast<Chain*>(self);
}

static void step_chain(void* self, int count)
{
    for (int i = 0; i < count; i++) {
        static_cast<Chain*>(self)->world.stepSimulation(ITM_SCENE_STEP, 0);
    }
}

static double get_tip_z(void* self)
{
    Chain* chain = static_cast<Chain*>(self);
    return chain->body->localPosToWorld(chain->n - 1, btVector3(0.5, 0, 0)).z();
}

// ---------------------------------------------------------------------------- four-bar

struct Loop : World {
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    btSphereShape shape{0.001};
    std::vector<std::unique_ptr<btRigidBody>> bodies;
    std::vector<std::unique_ptr<btHingeConstraint>> hinges;

    explicit Loop(int n);
    ~Loop();
    btRigidBody* add_rod(double x, double z, double speed);
    btRigidBody* add_upright(int i);
    void add_hinge(std::unique_ptr<btHingeConstraint> hinge);
};

btRigidBody* Loop::add_rod(double x, double z, double speed)
{
    btTransform pose(btQuaternion(0, 0, 0, 1), btVector3(x, 0, z));
    btRigidBody::btRigidBodyConstructionInfo info(
        1, nullptr, &shape,
        btVector3(ITM_FOUR_BAR_INERTIA, ITM_FOUR_BAR_INERTIA, ITM_FOUR_BAR_INERTIA));
    info.m_startWorldTransform = pose;
    bodies.push_back(std::make_unique<btRigidBody>(info));
    btRigidBody* body = bodies.back().get();
    body->setActivationState(DISABLE_DEACTIVATION);
    body->setDamping(0, 0);
    body->setLinearVelocity(btVector3(speed, 0, 0));
    world.addRigidBody(body);
    return body;
}

void Loop::add_hinge(std::unique_ptr<btHingeConstraint> hinge)
{
    world.addConstraint(hinge.get(), true);
    hinges.push_back(std::move(hinge));
}

btRigidBody* Loop::add_upright(int i)
{
    btRigidBody* body = add_rod(i, 0.5, 0.5);
    body->setAngularVelocity(btVector3(0, 1, 0));
    btVector3 foot(0, 0, -0.5), axis(0, 1, 0);
    add_hinge(std::make_unique<btHingeConstraint>(*body, foot, axis));
    return body;
}

Loop::Loop(int n)
{
    world.setGravity(GRAVITY);
    const btVector3 axis(0, 1, 0), top(0, 0, 0.5), left(-0.5, 0, 0), right(0.5, 0, 0);
    btRigidBody* before = add_upright(0);
    for (int i = 0; i < n; i++) {
        btRigidBody* after = add_upright(i + 1);
        btRigidBody* coupler = add_rod(i + 0.5, 1, 1);
        add_hinge(std::make_unique<btHingeConstraint>(*coupler, *before, left, top, axis, axis));
        add_hinge(std::make_unique<btHingeConstraint>(*coupler, *after, right, top, axis, axis));
        before = after;
    }
}

Loop::~Loop()
{
    for (auto& hinge : hinges) {
        world.removeConstraint(hinge.get());
    }
    for (auto& body : bodies) {
        world.removeRigidBody(body.get());
    }
}

static void* create_loop(int n)
{
    return new Loop(n);
}

static void destroy_loop(void* self)
{
    delete static_cast<Loop*>(self);
}

static void step_loop(void* self, int count)
{
    for (int i = 0; i < count; i++) {
        static_cast<Loop*>(self)->world.stepSimulation(ITM_SCENE_STEP, 0);
    }
}

static double get_energy(void* self)
{
    double energy = 0;
    for (const auto& body : static_cast<Loop*>(self)->bodies) {
        energy += ITM_SCENE_GRAVITY * body->getCenterOfMassPosition().z() +
                  0.5 * body->getLinearVelocity().length2() +
                  0.5 * ITM_FOUR_BAR_INERTIA * body->getAngularVelocity().length2();
    }
    return energy;
}

static double get_gap(void* self)
{
    double gap = 0;
    for (const auto& hinge : static_cast<Loop*>(self)->hinges) {
        btVector3 a = hinge->getRigidBodyA().getCenterOfMassTransform() *
                      hinge->getFrameOffsetA().getOrigin();
        btVector3 b = hinge->getRigidBodyB().getCenterOfMassTransform() *
                      hinge->getFrameOffsetB().getOrigin();
        gap = fmax(gap, (a - b).length());
    }
    return gap;
}

static BenchDirection get_upright(void* self)
{
    const auto& upright = static_cast<Loop*>(self)->bodies.front();
    btVector3 z = upright->getCenterOfMassTransform().getBasis().getColumn(2);
    return {z.x(), z.z()};
}

// ---------------------------------------------------------------------------- bricks

struct Bricks : World {
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    btStaticPlaneShape plane{btVector3(0, 0, 1), 0};
    btBoxShape box{0.5 * btVector3(ITM_BRICK_LENGTH, ITM_BRICK_WIDTH, ITM_BRICK_HEIGHT)};
    btBoxShape cube{0.5 * btVector3(ITM_PILE_SIZE, ITM_PILE_SIZE, ITM_PILE_SIZE)};
    btSphereShape ball{0.5 * ITM_PILE_SIZE};
    std::vector<std::unique_ptr<btRigidBody>> bodies; // bricks, then the ground

    Bricks(int n, bool is_pile, bool is_round, void (*get_position)(int n, int i, double p[3]));
    ~Bricks();
    void add(btCollisionShape* shape, double mass, const btVector3& at);
};

// Bullet multiplies the friction of the two bodies.
void Bricks::add(btCollisionShape* shape, double mass, const btVector3& at)
{
    btVector3 inertia(0, 0, 0);
    if (mass > 0) {
        shape->calculateLocalInertia(mass, inertia);
    }
    btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape, inertia);
    info.m_startWorldTransform = btTransform(btQuaternion(0, 0, 0, 1), at);
    info.m_friction = sqrt(ITM_BRICK_FRICTION);
    info.m_restitution = 0;
    bodies.push_back(std::make_unique<btRigidBody>(info));
    bodies.back()->setActivationState(DISABLE_DEACTIVATION);
    bodies.back()->setDamping(0, 0);
    world.addRigidBody(bodies.back().get());
}

Bricks::Bricks(int n, bool is_pile, bool is_round, void (*get_position)(int n, int i, double p[3]))
{
    btCollisionShape* shape = is_round ? static_cast<btCollisionShape*>(&ball) : is_pile ? &cube : &box;
    world.setGravity(GRAVITY);
    for (int i = 0; i < n; i++) {
        double p[3];
        get_position(n, i, p);
        add(shape, is_pile ? ITM_PILE_MASS : ITM_BRICK_MASS, btVector3(p[0], p[1], p[2]));
    }
    add(&plane, 0, btVector3(0, 0, 0));
}

Bricks::~Bricks()
{
    for (auto& body : bodies) {
        world.removeRigidBody(body.get());
    }
}

static void* create_wall(int n)
{
    return new Bricks(n, false, false, itm_wall_get_position);
}

static void* create_floor(int n)
{
    return new Bricks(n, false, false, itm_floor_get_position);
}

static void* create_boxes(int n)
{
    return new Bricks(n, true, false, itm_pile_get_position);
}

static void* create_spheres(int n)
{
    return new Bricks(n, true, true, itm_pile_get_position);
}

static void destroy_bricks(void* self)
{
    delete static_cast<Bricks*>(self);
}

static void step_bricks(void* self, int count)
{
    for (int i = 0; i < count; i++) {
        static_cast<Bricks*>(self)->world.stepSimulation(ITM_SCENE_STEP, 0);
    }
}

static void get_brick(void* self, int i, double p[3])
{
    btVector3 at = static_cast<Bricks*>(self)->bodies[i]->getCenterOfMassPosition();
    p[0] = at.x();
    p[1] = at.y();
    p[2] = at.z();
}

static BenchTouch get_touch(void* self)
{
    btCollisionDispatcher& dispatcher = static_cast<Bricks*>(self)->dispatcher;
    BenchTouch touch = {0, 0, 0};
    for (int i = 0; i < dispatcher.getNumManifolds(); i++) {
        btPersistentManifold* manifold = dispatcher.getManifoldByIndexInternal(i);
        for (int k = 0; k < manifold->getNumContacts(); k++) {
            touch.penetration = fmax(touch.penetration, -manifold->getContactPoint(k).getDistance());
            touch.ncontact++;
        }
    }
    return touch;
}

// ---------------------------------------------------------------------------- main

static const BenchScene SCENES[] = {
    {.kind = BENCH_CHAIN, .subject = {.name = "bullet", .create = create_chain, .destroy = destroy_chain, .step = step_chain,
                                      .get_tip_z = get_tip_z}},
    {.kind = BENCH_LOOP, .subject = {.name = "bullet", .create = create_loop, .destroy = destroy_loop, .step = step_loop,
                                     .get_energy = get_energy, .get_gap = get_gap, .get_upright = get_upright}},
    {.kind = BENCH_WALL, .subject = {.name = "bullet", .create = create_wall, .destroy = destroy_bricks, .step = step_bricks,
                                     .get_brick = get_brick, .get_touch = get_touch}},
    {.kind = BENCH_FLOOR, .subject = {.name = "bullet", .create = create_floor, .destroy = destroy_bricks, .step = step_bricks,
                                     .get_brick = get_brick, .get_touch = get_touch}},
    {.kind = BENCH_PILE_BOXES, .subject = {.name = "bullet", .create = create_boxes, .destroy = destroy_bricks,
                                           .step = step_bricks, .get_touch = get_touch}},
    {.kind = BENCH_PILE_SPHERES, .subject = {.name = "bullet", .create = create_spheres, .destroy = destroy_bricks,
                                             .step = step_bricks, .get_touch = get_touch}},
};

int main(int argc, char** argv)
{
    bench_run_scenes(SCENES, BENCH_COUNT(SCENES), argc, argv);
    return 0;
}
