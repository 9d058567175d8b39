// The log crane of contact-rim, section 5.3: examples/log-crane.yaml. Whole runs are long, so the manoeuvre is shortened: the
// claws close in 0.1 ... 0.9 s, the crane lifts in 1.1 ... 2.1 s and holds the log until 2.7 s. The whole study is in
// reproduce/log-crane-*.mjs.
#include "check.h"

#include "interim/interim.h"

#define END 2.7
#define G 9.81

typedef struct Crane {
    ItmModelFile* file;
    ItmCosim* cosim;
    double* outputs;
    ItmCosimResidual rest;
} Crane;

static Crane start(int nextra, const char* const* extra)
{
    const char* overrides[16] = {"signals.close.ramp.start=0.1 s", "signals.close.ramp.end=0.9 s",
                                 "parameters.t_ini=1.1 s",         "parameters.t_max=1.5 s",
                                 "parameters.t_end=2.1 s",         "cosim.macro_step=16ms"};
    for (int i = 0; i < nextra; i++) {
        overrides[6 + i] = extra[i];
    }
    Crane c = {0};
    ItmError error = {0};
    CHECK_OK(itm_file_load(&c.file, ITM_SOURCE_DIR "/examples/log-crane.yaml", overrides, 6 + nextra, &error), &error);
    CHECK_OK(itm_file_create_cosim(&c.cosim, c.file, &c.rest, &error), &error);
    c.outputs = calloc((size_t)itm_cosim_get_output_count(c.cosim), sizeof *c.outputs);
    return c;
}

#define START(...) start((int)(sizeof((const char*[]){__VA_ARGS__}) / sizeof(char*)), (const char*[]){__VA_ARGS__})

static void done(Crane* c)
{
    free(c->outputs);
    itm_cosim_destroy(c->cosim);
    itm_file_destroy(c->file);
}

static double get(Crane* c, const char* name)
{
    int output = itm_cosim_find_output(c->cosim, name);
    if (output == ITM_NONE) {
        fail_msg("no output %s", name);
    }
    CHECK_OK(itm_cosim_compute_outputs(c->cosim, c->outputs), itm_cosim_get_error(c->cosim));
    return c->outputs[output];
}

static void run_until(Crane* c, double time)
{
    while (itm_cosim_get_time(c->cosim) < time - 1e-9) {
        CHECK_OK(itm_cosim_step(c->cosim), itm_cosim_get_error(c->cosim));
    }
}

// How far the log is below the head of the gripper, along the gripper: constant while it does not creep. The pads' middle is 0.8 m
// below.
static double get_grip(Crane* c)
{
    double x = get(c, "crane.log.position.x") - get(c, "crane.head.position.x");
    double y = get(c, "crane.log.position.y") - get(c, "crane.head.position.y");
    double z = get(c, "crane.log.position.z") - get(c, "crane.head.position.z");
    return sqrt(x * x + y * y + z * z);
}

// ---------------------------------------------------------------------------- the machine

static void crane_has_the_papers_bodies_joints_and_rows(void** state)
{
    (void)state;
    Crane c = START("run.duration=12 s");
    ItmModelInfo info = itm_model_get_info(c.file->model);
    assert_int_equal(info.nbody, 18);
    assert_int_equal(info.njoint, 22);
    // two cylinders, the third with its motor, three rotations of the gripper, the log
    assert_int_equal(info.freedom, 2 + 1 + 3 + 6);
    // planar loops: three rows each of the four-bar linkage, the tie bar and the third cylinder; one of each cylinder with a ball
    // joint
    assert_int_equal(info.nredundant, 3 * 3 + 2);
    done(&c);

    // with absolute coordinates all joints are rows: 17 hinges and 3 slides of five, 2 ball joints of three, the brake; in the
    // grip 22 contacts of three and the motor come on top. The paper has up to 178.
    c = START("multibody.coordinates=absolute");
    info = itm_model_get_info(c.file->model);
    assert_int_equal(info.nrow, 20 * 5 + 2 * 3 + 1);
    run_until(&c, 1.0);
    assert_int_equal((int)get(&c, "crane.solver.rows"), 22 * 3 + 1);
    done(&c);
}

// Moments about the foot of the boom: weights of everything but cylinder 1's barrel, the pull of the cylinder and its rod's
// weight at the tail. The cylinder stands 1.2 deg off the vertical: what its own weight bends (10 N of 46 kN) is left out.
static void static_start_balances_the_moments(void** state)
{
    (void)state;
    Crane c = START("run.duration=12 s");
    static const struct {
        const char* name;
        double mass;
    } parts[] = {{"boom", 400},      {"stick", 180},  {"rocker-arm", 20}, {"link-bar", 15}, {"barrel2", 60},
                 {"rod2", 30},       {"hanger", 15},  {"yoke", 15},       {"head", 80},     {"claw-left", 50},
                 {"claw-right", 50}, {"tie-bar", 10}, {"barrel3", 10},    {"rod3", 10}};
    // where the centre of mass is along the body's own x axis; the gripper hangs below P, left and right alike
    const double com[] = {1.5, 1.125, 0.225, 0.0, 0.6, -0.6};
    double moment = 0.0, x_P = get(&c, "crane.hanger.position.x");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char x[64], y[64];
        snprintf(x, sizeof x, "crane.%s.position.x", parts[i].name);
        snprintf(y, sizeof y, "crane.%s.orientation.y", parts[i].name);
        double cosine = 1.0 - 2.0 * get(&c, y) * get(&c, y);
        double along = i == 3 ? 0.5 * 0.3817 : i < 6 ? com[i] : 0.0;  // the link bar is 0.3817 m long
        moment += parts[i].mass * G * (i < 6 ? get(&c, x) + along * cosine : x_P);
    }
    double x_T = get(&c, "crane.rod1.position.x"), z_T = get(&c, "crane.rod1.position.z") - 2.4;
    double x_F = get(&c, "crane.barrel1.position.x"), z_F = get(&c, "crane.barrel1.position.z") - 2.4;
    double length = get(&c, "crane.cyl1.length"), lever = (z_T * x_F - x_T * z_F) / length;
    CHECK_NEAR(length, hypot(x_T - x_F, z_T - z_F), 1e-12);
    double pull = -(moment + 30 * G * x_T) / fabs(lever);
    print_message("cylinder 1 pulls %.1f N, moments say %.1f N\n", get(&c, "hydraulics.cyl1.force"), pull);
    CHECK_NEAR(get(&c, "hydraulics.cyl1.force"), pull, 1e-3 * fabs(pull));
    // and it stands: the controllers have nothing to do until the claws move
    run_until(&c, 0.096);
    CHECK_NEAR(get(&c, "crane.cyl1.rate"), 0.0, 1e-9);
    CHECK_NEAR(get(&c, "crane.cyl2.rate"), 0.0, 1e-9);
    CHECK_NEAR(get(&c, "control.kappa1"), 0.0, 1e-9);
    done(&c);
}

// ---------------------------------------------------------------------------- the grip

// Friction of all contacts of the last step within the cone of their normal impulse.
static void check_cones(Crane* c, double mu)
{
    ItmData* d = itm_cosim_get_data(c->cosim, 0);
    for (int i = 0; i < itm_contact_get_count(d); i++) {
        ItmContactInfo info = itm_contact_get_info(d, i);
        ItmVec3 p = info.impulse;
        double tangential =
            sqrt(fmax(0.0, p.x * p.x + p.y * p.y + p.z * p.z - info.normal_impulse * info.normal_impulse));
        if (tangential > mu * info.normal_impulse + 1e-6) {
            fail_msg("%s on %s: friction %g of %g N s", info.name_a, info.name_b, tangential, mu * info.normal_impulse);
        }
    }
}

// Stable and held at the macro steps of the paper; creep in the claws below a millimetre. Rigid contacts alike: twenty points
// share the grip as they like.
static void check_grip(const char* stiffness, const char* damping)
{
    const char* steps[] = {"cosim.macro_step=5ms", "cosim.macro_step=10ms", "cosim.macro_step=16ms",
                           "cosim.macro_step=20ms"};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        Crane c = START(steps[i], stiffness, damping);
        run_until(&c, 1.6);
        double grip = get_grip(&c);
        while (itm_cosim_get_time(c.cosim) < END) {
            CHECK_OK(itm_cosim_step(c.cosim), itm_cosim_get_error(c.cosim));
            check_cones(&c, 0.5);
            if (get(&c, "crane.log.contact_sliding") > 0) {
                fail_msg("%s, %s: %g contacts slide at %g s", stiffness, steps[i], get(&c, "crane.log.contact_sliding"),
                         itm_cosim_get_time(c.cosim));
            }
        }
        print_message("%s, %s: creep %.2e m, log at %.3f m\n", stiffness, steps[i], get_grip(&c) - grip,
                      get(&c, "crane.log.position.z"));
        CHECK_NEAR(get_grip(&c), grip, 1e-3);
        assert_true(get(&c, "crane.log.position.z") > 0.4);
        done(&c);
    }
}

static void log_is_held_at_every_macro_step(void** state)
{
    (void)state;
    check_grip("parameters.K=1e6 N/m", "parameters.D=1e5 N s/m");
}

static void rigid_claws_hold_it_as_well(void** state)
{
    (void)state;
    check_grip("parameters.K=0", "parameters.D=0");
}

// Against the monolithic run, whose balance of energy closes.
static void rim_follows_the_monolithic_run(void** state)
{
    (void)state;
    Crane whole = START("cosim.coupling=monolithic", "cosim.macro_step=10ms"), rim = START("cosim.macro_step=10ms");
    Crane held = START("cosim.coupling=zoh", "cosim.macro_step=10ms");
    double sum = 0.0, sum_held = 0.0;
    int n = 0;
    for (double t = 0.01; t < END; t += 0.01, n++) {
        run_until(&whole, t);
        run_until(&rim, t);
        run_until(&held, t);
        double length = get(&whole, "crane.cyl1.length");
        sum += pow(get(&rim, "crane.cyl1.length") - length, 2);
        sum_held += pow(get(&held, "crane.cyl1.length") - length, 2);
    }
    double throughput = get(&whole, "bond.cyl1.throughput") + get(&whole, "bond.cyl2.throughput");
    print_message("cyl1.length, 10 ms: rim %.2e m, zoh %.2e m rms; balance %.2e J of %.0f J\n", sqrt(sum / n),
                  sqrt(sum_held / n), get(&whole, "energy.balance"), throughput);
    assert_true(sqrt(sum / n) < 1e-3);
    assert_true(sqrt(sum_held / n) > sqrt(sum / n));
    assert_true(fabs(get(&whole, "energy.balance")) < 1e-3 * throughput);
    done(&held);
    done(&rim);
    done(&whole);
}

// Height of the log at the end of a variant.
static double finish(const char* name, Crane c)
{
    run_until(&c, END);
    double z = get(&c, "crane.log.position.z");
    print_message("%s: log at %.3f m\n", name, z);
    done(&c);
    return z;
}

// The claws press with 11.6 kN each: friction holds 2 mu 11.6 kN, a log of 402 kg needs 3.9 kN.
static void log_is_lost_or_held_as_friction_says(void** state)
{
    (void)state;
    assert_true(finish("slippery", START("parameters.mu=0.1")) < 0.21);
    assert_true(finish("one claw", START("multibody.shapes.trunk.collides_with=[default, left]")) < 0.21);
    assert_true(finish("heavy", START("parameters.log_density=1600 kg/m^3")) > 0.4);
    assert_true(
        finish("gusts", START("parameters.gust=2 kN", "signals.gusts.table.times=[1.5, 1.7, 1.9, 2, 2.2, 2.4]")) > 0.4);
    assert_true(finish("stiff", START("parameters.K=1e8", "parameters.D=1e6")) > 0.4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crane_has_the_papers_bodies_joints_and_rows),
        cmocka_unit_test(static_start_balances_the_moments),
        cmocka_unit_test(log_is_held_at_every_macro_step),
        cmocka_unit_test(rigid_claws_hold_it_as_well),
        cmocka_unit_test(rim_follows_the_monolithic_run),
        cmocka_unit_test(log_is_lost_or_held_as_friction_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
