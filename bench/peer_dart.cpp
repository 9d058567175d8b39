// DART: arm and chain as skeletons (joint coordinates).
#include "bench/measure.h"

#include <dart/dart.hpp>

#include <memory>
#include <string>

using namespace dart::dynamics;

struct Scene {
    SkeletonPtr skeleton = Skeleton::create("scene");
    dart::simulation::WorldPtr world = dart::simulation::World::create();
    BodyNode* last = nullptr;
};

static std::unique_ptr<Scene> make_scene(double gravity)
{
    auto scene = std::make_unique<Scene>();
    scene->world->setTimeStep(ITM_SCENE_STEP);
    scene->world->setGravity(Eigen::Vector3d(0, 0, -gravity));
    return scene;
}

template <class Joint>
static void add_body(Scene* scene, typename Joint::Properties joint, double x,
                     const Inertia& inertia)
{
    std::string number = std::to_string(scene->skeleton->getNumBodyNodes());
    joint.mName = "joint" + number;
    joint.mT_ParentBodyToJoint.translation() = Eigen::Vector3d(x, 0, 0);
    BodyNode::Properties body(BodyNode::AspectProperties("body" + number));
    body.mInertia = inertia;
    scene->last =
        scene->skeleton->createJointAndBodyNodePair<Joint>(scene->last, joint, body).second;
}

static void add_link(Scene* scene, int axis, double x, double m, double r, double l)
{
    RevoluteJoint::Properties joint;
    joint.mAxis = Eigen::Vector3d::Unit(axis);
    double transverse = itm_cylinder_transverse(m, r, l);
    Inertia inertia(m, Eigen::Vector3d(l / 2, 0, 0),
                    Eigen::Vector3d(itm_cylinder_axial(m, r), transverse, transverse).asDiagonal());
    add_body<RevoluteJoint>(scene, joint, x, inertia);
}

static void destroy(void* self)
{
    delete static_cast<Scene*>(self);
}

static void step(void* self, int count)
{
    for (int i = 0; i < count; i++) {
        static_cast<Scene*>(self)->world->step();
    }
}

// ---------------------------------------------------------------------------- arm

static void* create_arm(double gravity)
{
    auto scene = make_scene(gravity);
    double x = 0;
    for (const ItmArm7Link& link : ITM_ARM7_LINKS) {
        add_link(scene.get(), link.axis, x, link.mass, ITM_ARM7_RADIUS, link.length);
        x = link.length;
    }
    double moment = itm_sphere_inertia(ITM_ARM7_TOOL_MASS, ITM_ARM7_TOOL_RADIUS);
    Inertia tool(ITM_ARM7_TOOL_MASS, Eigen::Vector3d::Zero(), moment * Eigen::Matrix3d::Identity());
    add_body<WeldJoint>(scene.get(), WeldJoint::Properties(), x, tool);
    for (int i = 0; i < ITM_ARM7_JOINTS; i++) {
        scene->skeleton->setPosition(i, ITM_ARM7_LINKS[i].q);
        scene->skeleton->setVelocity(i, ITM_ARM7_LINKS[i].v);
    }
    scene->world->addSkeleton(scene->skeleton);
    return scene.release();
}

static void* create_arm_floating(int)
{
    return create_arm(0);
}

static void* create_arm_heavy(int)
{
    return create_arm(ITM_SCENE_GRAVITY);
}

static double forward(void* self, int count)
{
    Scene* scene = static_cast<Scene*>(self);
    for (int i = count - 1; i >= 0; i--) {
        scene->skeleton->setPosition(0, ITM_ARM7_LINKS[0].q + 1e-9 * i);
        scene->skeleton->computeForwardDynamics();
    }
    return scene->skeleton->getAccelerations().norm();
}

static double get_tool_z(void* self)
{
    return static_cast<Scene*>(self)->last->getTransform().translation()[2];
}

// ---------------------------------------------------------------------------- chain

static void* create_chain(int n)
{
    auto scene = make_scene(ITM_SCENE_GRAVITY);
    for (int i = 0; i < n; i++) {
        add_link(scene.get(), itm_chain_axis(i), i > 0, 1, ITM_CHAIN_RADIUS, 1);
    }
    scene->skeleton->setVelocity(1, itm_chain_rate(n));
    scene->world->addSkeleton(scene->skeleton);
    return scene.release();
}

static double get_tip_z(void* self)
{
    return (static_cast<Scene*>(self)->last->getTransform() * Eigen::Vector3d(1, 0, 0))[2];
}

// ---------------------------------------------------------------------------- main

static const BenchScene SCENES[] = {
    {.kind = BENCH_ARM, .subject = {.name = "dart", .create = create_arm_floating, .destroy = destroy, .step = step,
                                    .forward = forward, .get_tip_z = get_tool_z}},
    {.kind = BENCH_ARM_GRAVITY, .subject = {.name = "dart", .create = create_arm_heavy, .destroy = destroy, .step = step,
                                            .forward = forward, .get_tip_z = get_tool_z}},
    {.kind = BENCH_CHAIN, .n_max = 300, .subject = {.name = "dart", .create = create_chain, .destroy = destroy, .step = step,
                                      .get_tip_z = get_tip_z}},
};

int main(int argc, char** argv)
{
    bench_run_scenes(SCENES, BENCH_COUNT(SCENES), argc, argv);
    return 0;
}
