// Laws of flexible bodies: closed forms of beams, conserved quantities, one coordinates against the other.
#include "run.h"

#include "math/eigen.h"
#include "math/vec.h"
#include "multibody/kinematics.h"
#include "multibody/mass.h"
#include "scenes/scene.h"

// ---------------------------------------------------------------------------- models

#define LENGTH 2.0

// Aluminium, 40 x 20 mm (y, z), clamped-free.
static ItmBeamDef make_beam(int modes_y, int modes_z)
{
    ItmBeamDef beam = itm_default_beam_def();
    const double size[2] = {0.04, 0.02};
    beam.length = LENGTH;
    beam.density = 2700.0;
    beam.young = 70e9;
    beam.shear = 26e9;
    beam.modes_y = modes_y;
    beam.modes_z = modes_z;
    assert_int_equal(itm_beam_set_section(&beam, ITM_SECTION_RECTANGLE, size, NULL), ITM_OK);
    return beam;
}

static ItmFlexibleDef make_flexible(const ItmBeamDef* beam)
{
    static const ItmFlexiblePointDef TIP[] = {{"tip", {LENGTH, 0, 0}}};
    ItmFlexibleDef def = itm_default_flexible_def();
    def.beam = beam;
    def.points = TIP;
    def.npoint = 1;
    return def;
}

static int add_flexible(ItmScene* scene, const char* name, const ItmFlexibleDef* flexible)
{
    ItmBodyDef body = itm_default_body_def();
    body.name = name;
    int id = itm_scene_add_body(scene, &body);
    scene->status = scene->status == ITM_OK ? itm_model_builder_add_flexible(scene->builder, id, flexible, scene->error)
                                            : scene->status;
    return id;
}

static void weld(ItmScene* scene, const char* name, int a, ItmVec3 at_a, int b, ItmVec3 at_b)
{
    ItmJointDef def = itm_default_joint_def(ITM_JOINT_FIXED);
    def.name = name;
    def.body_a = a;
    def.body_b = b;
    def.frame_a.p = at_a;
    def.frame_b.p = at_b;
    itm_scene_add_joint(scene, &def);
}

static void add_load(ItmScene* scene, int body, ItmVec3 point, ItmVec3 vector, bool is_torque)
{
    ItmLoadDef load = itm_default_load_def();
    load.name = is_torque ? "torque" : "force";
    load.body = body;
    load.point = point;
    load.vector = vector;
    load.is_torque = is_torque;
    scene->status =
        scene->status == ITM_OK ? itm_model_builder_add_load(scene->builder, &load, NULL, scene->error) : scene->status;
}

static Run finish_scene(ItmScene* scene, ItmStepper stepper, ItmModalRule rule, double step)
{
    ItmModel* m = NULL;
    CHECK_OK(itm_scene_finish(scene, &m), scene->error);
    ItmStepOptions options = itm_default_step_options();
    options.stepper = stepper;
    options.modal_rule = rule;
    options.step = step;
    return start_run_with(m, &options);
}

static const ItmVec3 ORIGIN = {0, 0, 0}, TIP_POINT = {LENGTH, 0, 0};

// ---------------------------------------------------------------------------- statics

// Backward steps much longer than any period come to rest at once.
static Run rest_under(const ItmFlexibleDef* flexible, ItmCoordinates coordinates, ItmVec3 gravity, ItmVec3 force,
                      ItmVec3 torque)
{
    ItmError error = {0};
    ItmScene scene = itm_scene_begin(coordinates, gravity, &error);
    int beam = add_flexible(&scene, "beam", flexible);
    weld(&scene, "wall", ITM_GROUND, ORIGIN, beam, ORIGIN);
    add_load(&scene, beam, TIP_POINT, force, false);
    add_load(&scene, beam, TIP_POINT, torque, true);
    Run run = finish_scene(&scene, ITM_STEPPER_EULER, ITM_MODAL_RULE_BACKWARD, 100.0);
    advance(&run, 30);
    return run;
}

static void tip_deflection_is_the_closed_form(void** state)
{
    (void)state;
    // what the modes left out would add falls with the cube of their number: 4e-2 / n^3
    ItmBeamDef beam = make_beam(45, 45);
    beam.modes_axial = beam.modes_torsion = 90;
    ItmFlexibleDef flexible = make_flexible(&beam);
    flexible.use_stiffening = false;
    double EIz = beam.young * beam.moment_z, EIy = beam.young * beam.moment_y, L = LENGTH;
    double w = beam.density * beam.area * 9.81;
    for (int c = 0; c < 2; c++) {
        Run run = rest_under(&flexible, COORDINATES[c], ORIGIN, (ItmVec3){0, 3.0, 2.0}, ORIGIN);
        CHECK_NEAR(output(&run, "beam.tip.deflection.y") / (3.0 * L * L * L / (3 * EIz)), 1.0, 1e-6);
        CHECK_NEAR(output(&run, "beam.tip.deflection.z") / (2.0 * L * L * L / (3 * EIy)), 1.0, 1e-6);
        // the work that bent it is all there
        double energy = 0.5 * (9.0 / EIz + 4.0 / EIy) * L * L * L / 3.0;
        CHECK_NEAR(output(&run, "beam.elastic_energy") / energy, 1.0, 1e-6);
        // and the wall feels the force
        CHECK_NEAR(output(&run, "wall.force.y"), -3.0, 1e-6);
        CHECK_NEAR(output(&run, "wall.torque.z"), -3.0 * L, 1e-6);
        finish_run(&run);
        run = rest_under(&flexible, COORDINATES[c], (ItmVec3){0, 0, -9.81}, ORIGIN, ORIGIN);
        CHECK_NEAR(output(&run, "beam.tip.deflection.z") / (-w * L * L * L * L / (8 * EIy)), 1.0, 1e-6);
        finish_run(&run);
    }
    // a moment converges more slowly, and so do pull and twist: 1 / n
    Run run = rest_under(&flexible, ITM_COORDINATES_JOINT, ORIGIN, (ItmVec3){1000.0, 0, 0}, (ItmVec3){0.5, 0, 0.7});
    CHECK_NEAR(output(&run, "beam.tip.deflection.y") / (0.7 * L * L / (2 * EIz)), 1.0, 1e-4);
    CHECK_NEAR(output(&run, "beam.tip.deflection.x") / (1000.0 * L / (beam.young * beam.area)), 1.0, 0.4 / 90);
    finish_run(&run);
}

// ---------------------------------------------------------------------------- frequencies

// Time between upward zero crossings of an output, by linear interpolation.
static double measure_period(Run* run, const char* name, int count)
{
    int i = itm_model_find_output(run->m, name), found = 0;
    double first = 0.0, last = 0.0, before = output(run, name);
    double h = itm_data_get_time(run->d);
    assert_int_not_equal(i, ITM_NONE);
    while (found <= count) {
        advance(run, 1);
        double now = output(run, name), t = itm_data_get_time(run->d);
        h = t - h;
        if (before < 0.0 && now >= 0.0) {
            last = t - h * now / (now - before);
            first = found == 0 ? last : first;
            found++;
        }
        before = now;
        h = t;
    }
    return (last - first) / count;
}

static void vibration_has_the_natural_frequencies(void** state)
{
    (void)state;
    const double start[2][2] = {{1e-4, 0}, {0, 1e-4}};
    const double roots[2] = {1.8751040687119611, 4.6940911329741746};
    for (int mode = 0; mode < 2; mode++) {
        ItmBeamDef beam = make_beam(2, 0);
        ItmFlexibleDef flexible = make_flexible(&beam);
        flexible.start = start[mode];
        flexible.nstart = 2;
        ItmError error = {0};
        ItmScene scene = itm_scene_begin(COORDINATES[mode], ORIGIN, &error);
        int body = add_flexible(&scene, "beam", &flexible);
        weld(&scene, "wall", ITM_GROUND, ORIGIN, body, ORIGIN);
        double omega = pow(roots[mode] / LENGTH, 2) * sqrt(beam.young * beam.moment_z / (beam.density * beam.area));
        double period = 2.0 * ITM_PI / omega;
        Run run = finish_scene(&scene, ITM_STEPPER_REFERENCE, ITM_MODAL_RULE_NEWMARK, period / 400);
        // linear interpolation of a sine in 400 steps: (2 pi / 400)^3 / 50 of a period at most, over 10 periods; stiffening
        // and centrifugal terms are quadratic in 1e-4 / L
        CHECK_NEAR(measure_period(&run, mode == 0 ? "beam.mode.1" : "beam.mode.2", 10) / period, 1.0, 1e-6);
        finish_run(&run);
    }
}

// Clamped beam with a mass at its tip: 1 + 1 / (cos cosh) = r x (tan - tanh), r = tip mass / beam mass.
static double tip_mass_root(double r)
{
    double lo = 0.1, hi = 1.56;
    for (int i = 0; i < 100; i++) {
        double x = 0.5 * (lo + hi);
        bool is_above = 1.0 + cos(x) * cosh(x) - r * x * (sin(x) * cosh(x) - cos(x) * sinh(x)) > 0.0;
        lo = is_above ? x : lo;
        hi = is_above ? hi : x;
    }
    return 0.5 * (lo + hi);
}

// In joint coordinates the mass hangs on a node of the beam, in absolute ones rows tie it there.
static void tip_mass_lowers_the_frequency_as_it_should(void** state)
{
    (void)state;
    const double start[1] = {1e-4};
    for (int c = 0; c < 2; c++) {
        ItmBeamDef beam = make_beam(8, 0);
        ItmFlexibleDef flexible = make_flexible(&beam);
        flexible.start = start;
        flexible.nstart = 1;
        ItmError error = {0};
        ItmScene scene = itm_scene_begin(COORDINATES[c], ORIGIN, &error);
        int body = add_flexible(&scene, "beam", &flexible);
        ItmBodyDef mass = itm_default_body_def();
        double moment = 1e-9;  // a point
        mass.name = "mass";
        mass.mass = 0.7 * 2700.0 * beam.area * LENGTH;
        mass.inertia = (ItmSym3){.xx = moment, .yy = moment, .zz = moment};
        weld(&scene, "wall", ITM_GROUND, ORIGIN, body, ORIGIN);
        weld(&scene, "tip", body, TIP_POINT, itm_scene_add_body(&scene, &mass), ORIGIN);
        double x = tip_mass_root(0.7);
        double omega = pow(x / LENGTH, 2) * sqrt(beam.young * beam.moment_z / (beam.density * beam.area));
        Run run = finish_scene(&scene, ITM_STEPPER_EULER, ITM_MODAL_RULE_NEWMARK, 2.0 * ITM_PI / omega / 2000);
        // the static tip force of the mass is represented by eight modes to 1e-4 of its deflection, of which the frequency
        // sees a part; other modes ring along
        CHECK_NEAR(measure_period(&run, "beam.tip.deflection.y", 20) / (2.0 * ITM_PI / omega), 1.0, 2e-4);
        finish_run(&run);
    }
}

// ---------------------------------------------------------------------------- rotation

// Flap frequencies of a beam that turns about its root at speed W, times L^2 sqrt(m / EI)   (Wright et al., J. Appl. Mech. 1982)
static void rotating_beam_stiffens_as_the_textbook_says(void** state)
{
    (void)state;
    const struct {
        double speed, flap;
    } cases[] = {{2.0, 4.1373}, {6.0, 7.3604}, {12.0, 13.1702}};
    const double start[] = {1e-4};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int plane = 0; plane < 2; plane++) {
            ItmBeamDef beam = make_beam(plane == 0 ? 0 : 6, plane == 0 ? 6 : 0);
            ItmFlexibleDef flexible = make_flexible(&beam);
            flexible.start = start;
            flexible.nstart = 1;
            double unit = sqrt(beam.young * (plane == 0 ? beam.moment_y : beam.moment_z) /
                               (beam.density * beam.area * pow(LENGTH, 4)));
            ItmError error = {0};
            ItmScene scene = itm_scene_begin(ITM_COORDINATES_JOINT, ORIGIN, &error);
            int body = add_flexible(&scene, "blade", &flexible);
            ItmJointDef hub = itm_scene_hinge("hub", ITM_GROUND, ORIGIN, body, ORIGIN, (ItmVec3){0, 0, 1});
            itm_scene_set_start(&hub, ITM_RZ, 0.0, cases[i].speed * unit);
            int joint = itm_scene_add_joint(&scene, &hub);
            ItmSignalDef signal = itm_default_signal_def();
            ItmMotionDef motion = itm_default_motion_def();
            signal.name = "speed";
            signal.value = cases[i].speed * unit;
            motion.name = "drive";
            motion.joint = joint;
            motion.direction = ITM_RZ;
            motion.kind = ITM_MOTION_VELOCITY;
            CHECK_OK(itm_model_builder_add_signal(scene.builder, &signal, &motion.signal, &error), &error);
            CHECK_OK(itm_model_builder_add_motion(scene.builder, &motion, NULL, &error), &error);
            // in the plane of rotation the centrifugal force also bends: w^2 less by the square of the speed
            double flap = cases[i].flap;
            double want = plane == 0 ? flap : sqrt(flap * flap - cases[i].speed * cases[i].speed);
            double period = 2.0 * ITM_PI / (want * unit);
            Run run = finish_scene(&scene, ITM_STEPPER_ALI3P, ITM_MODAL_RULE_NEWMARK, period / 1000);
            // the table has five digits; other modes are excited by the start and disturb single crossings
            CHECK_NEAR(measure_period(&run, plane == 0 ? "blade.tip.deflection.z" : "blade.tip.deflection.y", 30) /
                           period,
                       1.0, 2e-3);
            finish_run(&run);
        }
    }
}

// ---------------------------------------------------------------------------- damping

static void modes_decay_at_their_ratio(void** state)
{
    (void)state;
    const double start[] = {1e-3};
    for (int kind = 0; kind < 2; kind++) {
        ItmBeamDef beam = make_beam(1, 0);
        ItmFlexibleDef flexible = make_flexible(&beam);
        flexible.start = start;
        flexible.nstart = 1;
        double omega =
            pow(1.8751040687119611 / LENGTH, 2) * sqrt(beam.young * beam.moment_z / (beam.density * beam.area));
        const double ratio = 0.02;
        flexible.damping_ratio = kind == 0 ? ratio : 0.0;
        // half of it each way
        flexible.rayleigh_mass = kind == 1 ? ratio * omega : 0.0;
        flexible.rayleigh_stiffness = kind == 1 ? ratio / omega : 0.0;
        ItmError error = {0};
        ItmScene scene = itm_scene_begin(ITM_COORDINATES_JOINT, ORIGIN, &error);
        int body = add_flexible(&scene, "beam", &flexible);
        weld(&scene, "wall", ITM_GROUND, ORIGIN, body, ORIGIN);
        double period = 2.0 * ITM_PI / (omega * sqrt(1.0 - ratio * ratio));
        Run run = finish_scene(&scene, ITM_STEPPER_EULER, ITM_MODAL_RULE_NEWMARK, period / 200);
        advance(&run, 2000);
        // a cosine that starts at rest: after whole periods exp(-ratio omega t) of the start. Errors of the rule are of order 2
        double left = exp(-ratio * omega * 10.0 * period);
        CHECK_NEAR(output(&run, "beam.mode.1") / 1e-3, left, 0.02 * left);
        // what is gone is booked
        double energy = output(&run, "energy.mechanical") + output(&run, "energy.dissipated");
        double start_energy = 0.5 * 0.25 * beam.density * beam.area * LENGTH * omega * omega * 1e-6;
        CHECK_NEAR(energy / start_energy, 1.0, 0.01);
        finish_run(&run);
    }
}

// ---------------------------------------------------------------------------- conservation

// A free beam that tumbles, bends, stretches and twists: nothing acts on it.
static Run start_tumbling(ItmBeamEnds ends, ItmBeamTheory theory, ItmStepper stepper, double step, double tolerance)
{
    static const double START[] = {0.05, -0.02, 0.03, 0.01, 1e-4, 0.02};
    static const double RATE[] = {1.0, 2.0, -1.0, 0.5, 0.1, 1.0};
    ItmBeamDef beam = make_beam(2, 2);
    beam.young /= 100.0;  // soft: large deformations
    beam.shear /= 100.0;
    beam.ends = ends;
    beam.theory = theory;
    beam.modes_axial = beam.modes_torsion = 1;
    ItmFlexibleDef flexible = make_flexible(&beam);
    flexible.start = START;
    flexible.start_rate = RATE;
    flexible.nstart = 6;
    ItmError error = {0};
    ItmScene scene = itm_scene_begin(ITM_COORDINATES_JOINT, ORIGIN, &error);
    ItmBodyDef body = itm_default_body_def();
    body.name = "beam";
    body.has_pose = true;
    body.velocity = (ItmVec3){0.3, -0.2, 0.5};
    body.angular_velocity = (ItmVec3){3.0, 2.0, 4.0};
    int id = itm_scene_add_body(&scene, &body);
    CHECK_OK(itm_model_builder_add_flexible(scene.builder, id, &flexible, &error), &error);
    ItmModel* m = NULL;
    CHECK_OK(itm_scene_finish(&scene, &m), &error);
    ItmStepOptions options = itm_default_step_options();
    options.stepper = stepper;
    options.step = step;
    options.tolerance = tolerance;
    return start_run_with(m, &options);
}

static const char* const MOMENTA[] = {"momentum.linear.x",  "momentum.linear.y",  "momentum.linear.z",
                                      "momentum.angular.x", "momentum.angular.y", "momentum.angular.z"};

static void free_beam_keeps_energy_and_momenta(void** state)
{
    (void)state;
    for (int ends = 0; ends < ITM_BEAM_ENDS_COUNT; ends++) {
        Run run = start_tumbling((ItmBeamEnds)ends, ends % 2 == 0 ? ITM_BEAM_EULER_BERNOULLI : ITM_BEAM_TIMOSHENKO,
                                 ITM_STEPPER_REFERENCE, 0.01, 1e-11);
        double energy = output(&run, "energy.mechanical"), p[6];
        for (int k = 0; k < 6; k++) {
            p[k] = output(&run, MOMENTA[k]);
        }
        advance(&run, 50);
        // the integrator's tolerance over some thousand internal steps
        CHECK_NEAR(output(&run, "energy.mechanical") / energy, 1.0, 1e-8);
        for (int k = 0; k < 6; k++) {
            CHECK_NEAR(output(&run, MOMENTA[k]), p[k], 1e-8);
        }
        finish_run(&run);
    }
}

// ---------------------------------------------------------------------------- coordinates

// Two beams and a rigid bob in a chain of hinges, with skew axes, gravity, a spring and a bushing on the beams.
static Run start_chain(ItmCoordinates coordinates, ItmStepper stepper, double step)
{
    static const double START[] = {0.02, 0.0, -0.01};
    ItmBeamDef upper = make_beam(2, 1), lower = make_beam(1, 2);
    upper.young /= 20.0;
    lower.young /= 20.0;
    lower.modes_torsion = 1;
    ItmFlexibleDef first = make_flexible(&upper), second = make_flexible(&lower);
    first.start = START;
    first.nstart = 3;
    second.damping_ratio = 0.05;
    ItmError error = {0};
    ItmScene scene = itm_scene_begin(coordinates, (ItmVec3){1.0, 0, -9.81}, &error);
    int a = add_flexible(&scene, "upper", &first), b = add_flexible(&scene, "lower", &second);
    ItmBodyDef bob = itm_default_body_def();
    bob.name = "bob";
    bob.mass = 2.0;
    bob.com = (ItmVec3){0.1, 0.05, 0};
    bob.inertia = (ItmSym3){.xx = 0.02, .yy = 0.03, .zz = 0.04};
    int c = itm_scene_add_body(&scene, &bob);
    ItmJointDef hinge = itm_scene_hinge("first", ITM_GROUND, ORIGIN, a, ORIGIN, (ItmVec3){0, 1, 0.2});
    itm_scene_set_start(&hinge, ITM_RZ, 0.3, 0.5);
    itm_scene_add_joint(&scene, &hinge);
    ItmJointDef knee = itm_scene_hinge("second", a, TIP_POINT, b, ORIGIN, (ItmVec3){0.3, 1, 1});
    itm_scene_set_start(&knee, ITM_RZ, 0.4, -0.7);
    itm_scene_add_joint(&scene, &knee);
    ItmJointDef ball = itm_default_joint_def(ITM_JOINT_SPHERICAL);
    ball.name = "third";
    ball.body_a = b;
    ball.body_b = c;
    ball.frame_a.p = (ItmVec3){LENGTH, 0.1, 0};
    itm_scene_add_joint(&scene, &ball);
    ItmSpringDef spring = itm_default_spring_def();
    spring.name = "spring";
    spring.body_a = ITM_GROUND;
    spring.body_b = b;
    spring.point_a = (ItmVec3){3.0, 1.0, 0.0};
    spring.point_b = (ItmVec3){0.5 * LENGTH, 0, 0.05};
    spring.stiffness = 50.0;
    spring.damping = 1.0;
    spring.length = 1.0;
    CHECK_OK(itm_model_builder_add_spring(scene.builder, &spring, NULL, &error), &error);
    ItmBushingDef bushing = itm_default_bushing_def();
    bushing.name = "bushing";
    bushing.body_a = a;
    bushing.body_b = b;
    bushing.frame_a.p = (ItmVec3){0.6 * LENGTH, 0, 0};
    bushing.frame_b.p = (ItmVec3){0.4 * LENGTH, 0, 0};
    for (int k = 0; k < 6; k++) {
        bushing.stiffness[k] = 5.0;
        bushing.damping[k] = 0.1;
    }
    CHECK_OK(itm_model_builder_add_bushing(scene.builder, &bushing, NULL, &error), &error);
    return finish_scene(&scene, stepper, ITM_MODAL_RULE_NEWMARK, step);
}

static const char* const CHAIN_OUTPUTS[] = {"upper.tip.position.x", "upper.tip.position.z", "lower.tip.position.x",
                                            "lower.tip.position.y", "lower.tip.position.z", "bob.position.x",
                                            "bob.position.z",       "upper.mode.1",         "upper.mode.3",
                                            "lower.mode.2",         "lower.mode.4",         "first.angle",
                                            "second.angle",         "first.torque.x",       "first.force.z",
                                            "second.force.x",       "second.torque.z",      "energy.mechanical",
                                            "lower.elastic_energy", "momentum.angular.x",   "spring.force"};

static void absolute_and_joint_coordinates_agree(void** state)
{
    (void)state;
    Run absolute = start_chain(ITM_COORDINATES_ABSOLUTE, ITM_STEPPER_REFERENCE, 0.05);
    Run joint = start_chain(ITM_COORDINATES_JOINT, ITM_STEPPER_REFERENCE, 0.05);
    assert_int_equal(itm_model_get_info(joint.m).nrow, 0);
    assert_int_equal(itm_model_get_info(joint.m).nv, 1 + 3 + 1 + 4 + 3);
    assert_int_equal(itm_model_get_info(absolute.m).freedom, itm_model_get_info(joint.m).freedom);
    for (int step = 0; step <= 20; step += 5) {
        for (size_t i = 0; i < sizeof CHAIN_OUTPUTS / sizeof CHAIN_OUTPUTS[0]; i++) {
            double a = output(&absolute, CHAIN_OUTPUTS[i]), j = output(&joint, CHAIN_OUTPUTS[i]);
            // tolerance 1e-10 of the integrator, grown over a second of chaotic motion
            check_near(a, j, 1e-6 * (1.0 + fabs(j)), CHAIN_OUTPUTS[i], __FILE__, __LINE__);
        }
        advance(&absolute, 5);
        advance(&joint, 5);
    }
    // every joule is accounted for
    CHECK_NEAR(output(&joint, "energy.balance"), 0.0, 1e-7);
    CHECK_NEAR(output(&absolute, "energy.balance"), 0.0, 1e-7);
    finish_run(&absolute);
    finish_run(&joint);
}

// Distance from the reference over positions of the chain.
static double compute_error(Run* run, const double* want)
{
    double sum = 0.0;
    for (int i = 0; i < 7; i++) {
        sum += pow(output(run, CHAIN_OUTPUTS[i]) - want[i], 2);
    }
    return sqrt(sum);
}

// Each stepper tends to the reference with its order, in both coordinates.
static void steppers_converge_with_their_order(void** state)
{
    (void)state;
    const struct {
        ItmStepper stepper;
        double order;
        int steps;
    } cases[] = {{ITM_STEPPER_EULER, 1.0, 400}, {ITM_STEPPER_ALI1, 1.0, 400}, {ITM_STEPPER_ALI3P, 2.0, 200}};
    Run reference = start_chain(ITM_COORDINATES_JOINT, ITM_STEPPER_REFERENCE, 0.05);
    advance(&reference, 4);
    double want[7];
    for (int i = 0; i < 7; i++) {
        want[i] = output(&reference, CHAIN_OUTPUTS[i]);
    }
    finish_run(&reference);
    for (int k = 0; k < 6; k++) {
        double error[2];
        for (int i = 0; i < 2; i++) {
            int steps = (i + 1) * cases[k / 2].steps;
            Run run = start_chain(COORDINATES[k % 2], cases[k / 2].stepper, 0.2 / steps);
            advance(&run, steps);
            error[i] = compute_error(&run, want);
            finish_run(&run);
        }
        CHECK_NEAR(log2(error[0] / error[1]), cases[k / 2].order, 0.3);
    }
}

// ---------------------------------------------------------------------------- stiff modes

// An axial mode of a short steel rod has a period of some 1e-4 s: steps of 1e-2 s must not mind.
static void stiff_modes_do_not_dictate_the_step(void** state)
{
    (void)state;
    for (int rule = 0; rule < ITM_MODAL_RULE_COUNT; rule++) {
        for (int c = 0; c < 2; c++) {
            ItmBeamDef beam = make_beam(3, 3);
            beam.modes_axial = beam.modes_torsion = 2;
            ItmFlexibleDef flexible = make_flexible(&beam);
            flexible.damping_ratio = 0.01;
            ItmError error = {0};
            ItmScene scene = itm_scene_begin(COORDINATES[c], (ItmVec3){0, 0, -9.81}, &error);
            int body = add_flexible(&scene, "rod", &flexible);
            ItmJointDef hinge = itm_scene_hinge("hinge", ITM_GROUND, ORIGIN, body, ORIGIN, (ItmVec3){0, 1, 0});
            itm_scene_set_start(&hinge, ITM_RZ, 1.0, 0.0);
            itm_scene_add_joint(&scene, &hinge);
            Run run = finish_scene(&scene, ITM_STEPPER_EULER, (ItmModalRule)rule, 0.01);
            double start = output(&run, "energy.mechanical");
            double fastest = itm_model_get_mode_frequency(run.m, 0, 7);
            assert_true(fastest * 0.01 > 100.0);
            advance(&run, 500);
            // a pendulum that swings on: nothing blows up, and little is lost
            double m = beam.density * beam.area * LENGTH, scale = m * 9.81 * LENGTH;
            assert_true(output(&run, "energy.mechanical") < start + 0.05 * scale);
            assert_true(output(&run, "energy.mechanical") > start - 0.2 * scale);
            finish_run(&run);
        }
    }
}

// ---------------------------------------------------------------------------- contact

// A clamped beam that sags onto a support at its tip carries 3/8 of its weight there.
static void propped_beam_rests_on_its_tip(void** state)
{
    (void)state;
    for (int c = 0; c < 2; c++) {
        ItmBeamDef beam = make_beam(0, 20);
        ItmFlexibleDef flexible = make_flexible(&beam);
        flexible.use_stiffening = false;
        ItmError error = {0};
        ItmScene scene = itm_scene_begin(COORDINATES[c], (ItmVec3){0, 0, -9.81}, &error);
        int body = add_flexible(&scene, "beam", &flexible);
        weld(&scene, "wall", ITM_GROUND, ORIGIN, body, ORIGIN);
        // friction below the axis would bend the tip
        ItmMaterialDef smooth = itm_default_material_def();
        smooth.name = "smooth";
        smooth.surface.friction = 0.0;
        ItmColliderDef ball = itm_default_collider_def(), ground = itm_default_collider_def();
        ball.name = "ball";
        ball.body = body;
        ball.size[0] = 0.1;
        ball.pose.p = TIP_POINT;
        ball.material = itm_scene_add_material(&scene, &smooth);
        // shapes of bodies that a joint connects never meet: the support is a body of its own
        ItmBodyDef support = itm_default_body_def();
        support.name = "support";
        ground.name = "top";
        ground.body = itm_scene_add_body(&scene, &support);
        weld(&scene, "foot", ITM_GROUND, ORIGIN, ground.body, ORIGIN);
        ground.kind = ITM_COLLIDER_PLANE;
        ground.pose.p = (ItmVec3){0, 0, -0.1};
        itm_scene_add_collider(&scene, &ball);
        itm_scene_add_collider(&scene, &ground);
        Run run = finish_scene(&scene, ITM_STEPPER_EULER, ITM_MODAL_RULE_BACKWARD, 1.0);
        advance(&run, 20);
        double weight = beam.density * beam.area * LENGTH * 9.81;
        // modes left out: 1e-1 / n^3 of the flexibility at the tip
        CHECK_NEAR(output(&run, "beam.contact_force.z") / weight, 0.375, 1e-4);
        CHECK_NEAR(output(&run, "beam.tip.deflection.z"), 0.0, 1e-8);
        CHECK_NEAR(output(&run, "wall.force.z") / weight, 0.625, 1e-4);
        finish_run(&run);
    }
}

// ---------------------------------------------------------------------------- flexible arm

// Condition number of the mobility W = A M^-1 A' of the centre of mass of a body.
static double compute_condition(const ItmModel* m, ItmData* d, int body)
{
    int index = m->body_index[body], path[32], parent[32];
    ItmRowBlock block = {.nrow = 1, .nbody = 1, .body = {index}, .path = path, .path_parent = parent};
    for (int i = index; i != ITM_NONE; i = m->bodies[i].parent) {
        parent[block.npath] = m->bodies[i].parent != ITM_NONE ? block.npath + 1 : ITM_NONE;
        path[block.npath++] = i;
        block.ny += m->bodies[i].nv;
    }
    ItmSpatial cov[6];
    memset(cov, 0, sizeof cov);
    cov[0].lin.x = cov[1].lin.y = cov[2].lin.z = cov[3].ang.x = cov[4].ang.y = cov[5].ang.z = 1.0;
    double Y[6 * 32], W[36], mu[6];
    itm_kinematics_compute_positions(m, d, d->q);
    itm_mass_factor(m, d);
    // row by row: a model without rows has room for one
    for (int i = 0; i < 6; i++) {
        itm_mass_half_solve(m, d, Y + i * block.ny, &block, cov + i);
    }
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            W[6 * i + j] = 0.0;
            for (int k = 0; k < block.ny; k++) {
                W[6 * i + j] += Y[i * block.ny + k] * Y[j * block.ny + k];
            }
        }
    }
    assert_int_equal(itm_eigen_symmetric(W, mu, 6), ITM_OK);
    return mu[5] / mu[0];
}

static void effective_mass_of_the_flexible_arm_is_that_of_the_paper(void** state)
{
    (void)state;
    // condition numbers of the effective mass, flexible and rigid, in configurations A, B, C   [flexible-rim, Table II]
    static const char* const CONFIGURATIONS[] = {"parameters.configuration=1", "parameters.configuration=2",
                                                 "parameters.configuration=3"};
    static const double FLEXIBLE[] = {2.59e3, 2.88e3, 3.87e3}, RIGID[] = {3.42e3, 5.38e3, 5.36e5};
    for (int i = 0; i < 6; i++) {
        bool is_flexible = i % 2 == 0;
        const char* overrides[] = {CONFIGURATIONS[i / 2],
                                   is_flexible ? "parameters.flexible=1" : "parameters.flexible=0"};
        Run run = start_example("arm-effective-mass", overrides, 2, NULL);
        const ItmModel* m = run.m;
        assert_int_equal(itm_model_get_info(m).freedom, is_flexible ? 15 : 7);
        double want = is_flexible ? FLEXIBLE[i / 2] : RIGID[i / 2];
        // the table was made with other masses and modes in their third digit
        CHECK_NEAR(compute_condition(m, run.d, itm_model_find_body(m, "link7")) / want, 1.0, 0.02);
        if (is_flexible) {
            int boom = itm_model_find_body(m, "link3");
            CHECK_NEAR(itm_model_get_mode_frequency(m, boom, 0), 28.41, 0.005);
            CHECK_NEAR(itm_model_get_mode_frequency(m, boom, 1), 178.04, 0.005);
        }
        finish_run(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tip_deflection_is_the_closed_form),
        cmocka_unit_test(vibration_has_the_natural_frequencies),
        cmocka_unit_test(tip_mass_lowers_the_frequency_as_it_should),
        cmocka_unit_test(rotating_beam_stiffens_as_the_textbook_says),
        cmocka_unit_test(modes_decay_at_their_ratio),
        cmocka_unit_test(free_beam_keeps_energy_and_momenta),
        cmocka_unit_test(absolute_and_joint_coordinates_agree),
        cmocka_unit_test(steppers_converge_with_their_order),
        cmocka_unit_test(stiff_modes_do_not_dictate_the_step),
        cmocka_unit_test(propped_beam_rests_on_its_tip),
        cmocka_unit_test(effective_mass_of_the_flexible_arm_is_that_of_the_paper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
