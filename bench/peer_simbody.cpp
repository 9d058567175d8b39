// Simbody: arm, chain and four-bar in its mobilities, by its semi-explicit Euler integrator.
#include "bench/measure.h"

#include <Simbody.h>

#include <memory>
#include <vector>

using namespace SimTK;

struct Scene {
    MultibodySystem system;
    SimbodyMatterSubsystem matter{system};
    GeneralForceSubsystem forces{system};
    State start;
    std::unique_ptr<Integrator> integrator;
    std::unique_ptr<TimeStepper> stepper;
    std::vector<MobilizedBody> bodies;
    double time = 0;
};

// Rotation of a frame whose z is the joint's axis.
static Rotation axis_frame(int axis)
{
    if (axis == 0) {
        return Rotation(Pi / 2, YAxis);
    }
    return axis == 1 ? Rotation(-Pi / 2, XAxis) : Rotation();
}

// Cylinder along x that starts at the body's origin.
static MassProperties cylinder(double m, double r, double l)
{
    Vec3 centre(l / 2, 0, 0);
    double transverse = itm_cylinder_transverse(m, r, l);
    Inertia central(itm_cylinder_axial(m, r), transverse, transverse);
    return MassProperties(m, centre, central.shiftFromMassCenter(centre, m));
}

static MassProperties rod(Vec3 centre)
{
    Inertia central(ITM_FOUR_BAR_INERTIA, ITM_FOUR_BAR_INERTIA, ITM_FOUR_BAR_INERTIA);
    return MassProperties(1, centre, central.shiftFromMassCenter(centre, 1));
}

static MobilizedBody add_pin(Scene* scene, MobilizedBody parent, Vec3 at, int axis,
                             const MassProperties& mass)
{
    Rotation R = axis_frame(axis);
    MobilizedBody body =
        MobilizedBody::Pin(parent, Transform(R, at), Body::Rigid(mass), Transform(R));
    scene->bodies.push_back(body);
    return body;
}

static std::unique_ptr<Scene> make_scene(double gravity)
{
    auto scene = std::make_unique<Scene>();
    if (gravity != 0) {
        Force::UniformGravity(scene->forces, scene->matter, Vec3(0, 0, -gravity));
    }
    return scene;
}

static void compile(Scene* scene)
{
    scene->start = scene->system.realizeTopology();
    scene->system.realizeModel(scene->start);
}

static void start_stepping(Scene* scene)
{
    scene->integrator =
        std::make_unique<SemiExplicitEulerIntegrator>(scene->system, ITM_SCENE_STEP);
    scene->integrator->setConstraintTolerance(1e-8);
    scene->stepper = std::make_unique<TimeStepper>(scene->system, *scene->integrator);
    scene->stepper->initialize(scene->start);
}

static void destroy(void* self)
{
    delete static_cast<Scene*>(self);
}

static void step(void* self, int count)
{
    Scene* scene = static_cast<Scene*>(self);
    scene->time += count * ITM_SCENE_STEP;
    scene->stepper->stepTo(scene->time);
}

static const State& present(Scene* scene)
{
    const State& state = scene->stepper->getState();
    scene->system.realize(state, Stage::Velocity);
    return state;
}

// ---------------------------------------------------------------------------- arm

static void* create_arm(double gravity)
{
    auto scene = make_scene(gravity);
    MobilizedBody parent = scene->matter.Ground();
    for (int i = 0; i < ITM_ARM7_JOINTS; i++) {
        const ItmArm7Link& link = ITM_ARM7_LINKS[i];
        Vec3 at(i > 0 ? ITM_ARM7_LINKS[i - 1].length : 0, 0, 0);
        parent = add_pin(scene.get(), parent, at, link.axis,
                         cylinder(link.mass, ITM_ARM7_RADIUS, link.length));
    }
    double moment = itm_sphere_inertia(ITM_ARM7_TOOL_MASS, ITM_ARM7_TOOL_RADIUS);
    MassProperties tool(ITM_ARM7_TOOL_MASS, Vec3(0), Inertia(moment, moment, moment));
    Vec3 tip(ITM_ARM7_LINKS[ITM_ARM7_JOINTS - 1].length, 0, 0);
    scene->bodies.push_back(
        MobilizedBody::Weld(parent, Transform(tip), Body::Rigid(tool), Transform()));
    compile(scene.get());
    for (int i = 0; i < ITM_ARM7_JOINTS; i++) {
        scene->start.updQ()[i] = ITM_ARM7_LINKS[i].q;
        scene->start.updU()[i] = ITM_ARM7_LINKS[i].v;
    }
    start_stepping(scene.get());
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
        scene->start.updQ()[0] = ITM_ARM7_LINKS[0].q + 1e-9 * i;
        scene->system.realize(scene->start, Stage::Acceleration);
    }
    return scene->start.getUDot().norm();
}

static double get_tool_z(void* self)
{
    Scene* scene = static_cast<Scene*>(self);
    return scene->bodies.back().getBodyOriginLocation(present(scene))[2];
}

// ---------------------------------------------------------------------------- chain

static void* create_chain(int n)
{
    auto scene = make_scene(ITM_SCENE_GRAVITY);
    MobilizedBody parent = scene->matter.Ground();
    for (int i = 0; i < n; i++) {
        parent = add_pin(scene.get(), parent, Vec3(i > 0, 0, 0), itm_chain_axis(i),
                         cylinder(1, ITM_CHAIN_RADIUS, 1));
    }
    compile(scene.get());
    scene->start.updU()[1] = itm_chain_rate(n);
    start_stepping(scene.get());
    return scene.release();
}

static double get_tip_z(void* self)
{
    Scene* scene = static_cast<Scene*>(self);
    const State& state = present(scene);
    return scene->bodies.back().findStationLocationInGround(state, Vec3(1, 0, 0))[2];
}

// ---------------------------------------------------------------------------- four-bar

// Uprights first, then couplers; a coupler's free end is held to the next upright by a ball.
static void* create_loop(int n)
{
    auto scene = make_scene(ITM_SCENE_GRAVITY);
    const Vec3 top(0, 0, 1), end(1, 0, 0);
    for (int i = 0; i <= n; i++) {
        add_pin(scene.get(), scene->matter.Ground(), Vec3(i, 0, 0), 1, rod(top / 2));
    }
    for (int i = 0; i < n; i++) {
        MobilizedBody coupler = add_pin(scene.get(), scene->bodies[i], top, 1, rod(end / 2));
        Constraint::Ball(coupler, end, scene->bodies[i + 1], top);
    }
    compile(scene.get());
    for (int i = 0; i < 2 * n + 1; i++) {
        scene->bodies[i].setOneU(scene->start, 0, i <= n ? 1 : -1);
    }
    start_stepping(scene.get());
    return scene.release();
}

static double get_energy(void* self)
{
    Scene* scene = static_cast<Scene*>(self);
    return scene->system.calcEnergy(present(scene));
}

static double get_gap(void* self)
{
    Scene* scene = static_cast<Scene*>(self);
    const State& state = present(scene);
    size_t n = scene->bodies.size() / 2;
    double gap = 0;
    for (size_t i = 0; i < n; i++) {
        Vec3 a = scene->bodies[n + 1 + i].findStationLocationInGround(state, Vec3(1, 0, 0));
        Vec3 b = scene->bodies[i + 1].findStationLocationInGround(state, Vec3(0, 0, 1));
        gap = fmax(gap, (a - b).norm());
    }
    return gap;
}

static BenchDirection get_upright(void* self)
{
    Scene* scene = static_cast<Scene*>(self);
    Vec3 top = scene->bodies[0].findStationLocationInGround(present(scene), Vec3(0, 0, 1));
    return {top[0], top[2]};
}

// ---------------------------------------------------------------------------- main

static const BenchScene SCENES[] = {
    {.kind = BENCH_ARM, .subject = {.name = "simbody", .create = create_arm_floating, .destroy = destroy, .step = step,
                                    .forward = forward, .get_tip_z = get_tool_z}},
    {.kind = BENCH_ARM_GRAVITY, .subject = {.name = "simbody", .create = create_arm_heavy, .destroy = destroy, .step = step,
                                            .forward = forward, .get_tip_z = get_tool_z}},
    {.kind = BENCH_CHAIN, .subject = {.name = "simbody", .create = create_chain, .destroy = destroy, .step = step,
                                      .get_tip_z = get_tip_z}},
    {.kind = BENCH_LOOP, .subject = {.name = "simbody", .create = create_loop, .destroy = destroy, .step = step,
                                     .get_energy = get_energy, .get_gap = get_gap, .get_upright = get_upright}},
};

int main(int argc, char** argv)
{
    bench_run_scenes(SCENES, BENCH_COUNT(SCENES), argc, argv);
    return 0;
}
