// Ropes over sheaves: closed forms of Atwood's machine, tackles and drums, slack and taut again, energy, and winches in every coupling.
#include "system.h"

#include <math.h>

#define G 9.81
#define PI 3.14159265358979323846

static const char* const COORDINATES[2] = {"multibody.coordinates=absolute", "multibody.coordinates=joint"};

// ---------------------------------------------------------------------------- a rope of given length

#define ATWOOD                                                                                                         \
    "multibody:\n"                                                                                                     \
    "  name: m\n"                                                                                                      \
    "  bodies:\n"                                                                                                      \
    "    a: {mass: 3 kg, inertia: [1, 1, 1], position: [-0.5 m, 0, 0]}\n"                                              \
    "    b: {mass: 2 kg, inertia: [1, 1, 1], position: [0.5 m, 0, 0]}\n"                                               \
    "  forces:\n"                                                                                                      \
    "    rope:\n"                                                                                                      \
    "      type: rope\n"                                                                                               \
    "      bodies: [a, b]\n"                                                                                           \
    "      via: [{body: ground, at: [-0.5 m, 0, 4 m]}, {body: ground, at: [0.5 m, 0, 4 m]}]\n"                         \
    "run: {step: 1 ms, duration: 1 s}\n"

// a = g (m_a - m_b) / (m_a + m_b), T = 2 g m_a m_b / (m_a + m_b). Euler's velocities are exact: rounding of 1000 steps.
static void atwood_machine_accelerates_as_in_closed_form(void** state)
{
    (void)state;
    System s = system_parse(ATWOOD, NULL, 0);
    system_step_to(&s, 1.0);
    CHECK_NEAR(system_get(&s, "m.a.velocity.z"), -G / 5.0, 1e-10);
    CHECK_NEAR(system_get(&s, "m.b.velocity.z"), G / 5.0, 1e-10);
    CHECK_NEAR(system_get(&s, "m.rope.tension"), 12.0 / 5.0 * G, 1e-9);
    CHECK_NEAR(system_get(&s, "m.rope.length"), 9.0, 1e-9);
    system_finish(&s);
}

// A hook with n falls between it and the ground, and a weight at the other end of the rope: with the hook rising at a, the weight sinks at
// n a: a = g (n m - M) / (M + n^2 m), T = m (g - n a).
static void tackle_multiplies_force_by_its_falls(void** state)
{
    (void)state;
    for (int n = 1; n <= 6; n++) {
        for (int k = 0; k < 2; k++) {
            CHECK_CASE("%d falls, %s", n, COORDINATES[k]);
            char text[2000], via[1000] = "{body: ground, at: [0, 0, 5 m]}";
            for (int i = 1; i < n; i++) {
                strcat(via, i % 2 == 1 ? ", {body: hook, at: [0, 0, 0]}" : ", {body: ground, at: [0, 0, 5 m]}");
            }
            double M = 12.0, m = 3.0, a = G * (n * m - M) / (M + n * n * m);
            // an odd number of falls ends at the hook, an even one at the ground
            snprintf(text, sizeof text,
                     "multibody:\n"
                     "  name: m\n"
                     "  bodies:\n"
                     "    hook: {mass: 12 kg, inertia: [1, 1, 1], position: [0, 0, 0]}\n"
                     "    weight: {mass: 3 kg, inertia: [1, 1, 1], position: [1 m, 0, 0]}\n"
                     "  joints:\n"
                     "    rail: {type: prismatic, bodies: [ground, hook], at: [0, 0, 0], axis: [0, 0, 1]}\n"
                     "    guide: {type: prismatic, bodies: [ground, weight], at: [1 m, 0, 0], axis: [0, 0, 1]}\n"
                     "  forces:\n"
                     "    rope: {type: rope, bodies: [weight, %s], at_a: [1 m, 0, 0], at_b: [0, 0, %s],\n"
                     "           via: [{body: ground, at: [1 m, 0, 5 m]}, %s]}\n"
                     "run: {step: 1 ms, duration: 1 s}\n",
                     n % 2 == 1 ? "hook" : "ground", n % 2 == 1 ? "0" : "5 m", via);
            System s = system_parse(text, &COORDINATES[k], 1);
            system_step_to(&s, 0.3);
            CHECK_NEAR(system_get(&s, "m.hook.velocity.z"), 0.3 * a, 1e-9);
            CHECK_NEAR(system_get(&s, "m.rope.tension"), m * (G - n * a), 1e-8);
            system_finish(&s);
        }
    }
    CHECK_CASE("%s", "");
}

// A mass that pulls a rope from a drum: a = g / (1 + J / (m r^2)), also where the angle of the drum is a coordinate of the tree.
static void drum_lets_a_mass_sink_as_in_closed_form(void** state)
{
    (void)state;
    static const char TEXT[] =
        "multibody:\n"
        "  name: m\n"
        "  bodies:\n"
        "    drum: {mass: 5 kg, inertia: [0.3, 0.3, 0.3], position: [0, 0, 5 m]}\n"
        "    load: {mass: 2 kg, inertia: [1, 1, 1], position: [1 m, 0, 0]}\n"
        "  joints:\n"
        "    axle: {type: revolute, bodies: [ground, drum], at: [0, 0, 5 m], axis: [0, 1, 0]}\n"
        "  forces:\n"
        "    rope: {type: rope, bodies: [ground, load], at_a: [0.2 m, 0, 5 m], at_b: [1 m, 0, 0],\n"
        "           via: [{body: ground, at: [1 m, 0, 5 m]}], drum: {joint: axle, radius: 0.2 m}}\n"
        "run: {step: 1 ms, duration: 1 s}\n";
    double a = G / (1.0 + 0.3 / (2.0 * 0.04));
    for (int k = 0; k < 2; k++) {
        CHECK_CASE("%s", COORDINATES[k]);
        System s = system_parse(TEXT, &COORDINATES[k], 1);
        system_step_to(&s, 1.0);
        CHECK_NEAR(system_get(&s, "m.load.velocity.z"), -a, 1e-9);
        CHECK_NEAR(system_get(&s, "m.drum.angular_velocity.y"), -a / 0.2, 1e-8);
        CHECK_NEAR(system_get(&s, "m.rope.tension"), 2.0 * (G - a), 1e-9);
        system_finish(&s);
    }
    CHECK_CASE("%s", "");
}

#define HANGING                                                                                                        \
    "parameters: {h: 0.1 ms, v0: 2 m/s, e: 0, D: 0 N s/m}\n"                                                           \
    "multibody:\n"                                                                                                     \
    "  name: m\n"                                                                                                      \
    "  bodies:\n"                                                                                                      \
    "    load: {mass: 2 kg, inertia: [1, 1, 1], position: [0, 0, 0], velocity: [0, 0, v0]}\n"                          \
    "  forces:\n"                                                                                                      \
    "    rope: {type: rope, bodies: [ground, load], at_a: [0, 0, 3 m], at_b: [0, 0, 0], RIGIDITY}\n"                   \
    "run: {step: h, duration: 1 s}\n"

static System hang(const char* rigidity, const char* const* overrides, int n)
{
    char text[1500];
    const char* place = strstr(HANGING, "RIGIDITY");
    snprintf(text, sizeof text, "%.*s%s%s", (int)(place - HANGING), HANGING, rigidity, place + strlen("RIGIDITY"));
    return system_parse(text, overrides, n);
}

// Thrown up at v0 from where the rope is just taut: a flight of 2 v0 / g without tension, then an oscillation about m g / K below,
// of amplitude sqrt((m g / K)^2 + (v0 / omega)^2). Errors are of order h.
static void slack_rope_becomes_taut_again(void** state)
{
    (void)state;
    double K = 5000.0, mass = 2.0, v0 = 2.0, rest = mass * G / K, omega = sqrt(K / mass), flight = 2.0 * v0 / G;
    double deepest = rest + sqrt(rest * rest + v0 * v0 / (omega * omega)), worst[2];
    static const char* const STEPS[2] = {"parameters.h=0.1 ms", "parameters.h=0.05 ms"};
    for (int k = 0; k < 2; k++) {
        System s = hang("stiffness: 5 kN/m", &STEPS[k], 1);
        double lowest = 0.0, before = system_get(&s, "m.energy.mechanical"), most = before;
        system_step_to(&s, 0.5 * flight);
        CHECK_NEAR(system_get(&s, "m.load.position.z"), 0.5 * v0 * v0 / G, v0 * 1e-4);  // Euler: v0 h / 2
        assert_true(system_get(&s, "m.rope.tension") == 0.0);
        assert_true(system_get(&s, "m.rope.slack") > 0.2);
        while (itm_cosim_get_time(s.x) < flight + 2.0 * PI / omega) {
            system_step(&s);
            lowest = fmin(lowest, system_get(&s, "m.load.position.z"));
            most = fmax(most, system_get(&s, "m.energy.mechanical"));
        }
        worst[k] = fabs(-lowest - deepest);
        // the implicit row takes energy, and books it: it adds none
        assert_true(most <= before + 1e-9);
        CHECK_NEAR(system_get(&s, "m.energy.balance"), 0.0, 1e-3 * mass * G * deepest);
        system_finish(&s);
    }
    // implicit Euler damps by omega^2 h / 2 per second, here over omega t = pi / 2 + asin(rest / amplitude) = 1.68: 0.84 omega h
    CHECK_NEAR(worst[0], 0.0, omega * 1e-4 * deepest);
    assert_true(worst[1] < 0.6 * worst[0]);
}

// A rope that does not stretch bounces with its restitution: e^2 of the height.
static void rigid_rope_bounces_with_its_restitution(void** state)
{
    (void)state;
    System s = hang("restitution: 0.5", NULL, 0);
    double flight = 4.0 / G, highest = 0.0;
    system_step_to(&s, flight + 1e-3);
    CHECK_NEAR(system_get(&s, "m.load.velocity.z"), 1.0, 0.02);
    while (itm_cosim_get_time(s.x) < 1.5 * flight) {
        system_step(&s);
        highest = fmax(highest, system_get(&s, "m.load.position.z"));
        assert_true(system_get(&s, "m.rope.slack") > -1e-6);
    }
    CHECK_NEAR(highest, 0.25 * 2.0 / G, 1e-3);
    system_finish(&s);
}

// A load on a rope over two sheaves swings as on the rod between the last sheave and it: both keep their energy and agree to order h.
static void taut_rope_swings_as_a_rod(void** state)
{
    (void)state;
    static const char TEXT[] =
        "parameters: {h: 2 ms}\n"
        "multibody:\n"
        "  name: m\n"
        "  bodies:\n"
        "    a: {mass: 2 kg, inertia: [1, 1, 1], position: [1 m, 0, 0], velocity: [0, 1 m/s, 0]}\n"
        "    b: {mass: 2 kg, inertia: [1, 1, 1], position: [1 m, 0, 0], velocity: [0, 1 m/s, 0]}\n"
        "  joints:\n"
        "    rod: {type: distance, bodies: [ground, b], at_a: [0, 0, 2 m], at_b: [1 m, 0, 0]}\n"
        "  forces:\n"
        "    rope: {type: rope, bodies: [ground, a], at_a: [-3 m, 0, 0], at_b: [1 m, 0, 0],\n"
        "           via: [{body: ground, at: [-3 m, 0, 2 m]}, {body: ground, at: [0, 0, 2 m]}]}\n"
        "run: {step: h, duration: 4 s}\n";
    static const char* const STEPS[2] = {"parameters.h=2 ms", "parameters.h=1 ms"};
    double apart[2] = {0.0, 0.0};
    for (int k = 0; k < 2; k++) {
        System s = system_parse(TEXT, &STEPS[k], 1);
        double start = system_get(&s, "m.energy.mechanical");
        for (double t = 0.05; t < 4.0; t += 0.05) {
            system_step_to(&s, t);
            apart[k] = fmax(apart[k], system_measure(&s, "m.a.position", &s, "m.b.position"));
            assert_true(fabs(system_get(&s, "m.rope.slack")) < 1e-5);
        }
        CHECK_NEAR(system_get(&s, "m.energy.mechanical"), start, 0.02 * 2.0 * G);
        print_message("rope and rod: %g m apart\n", apart[k]);
        system_finish(&s);
    }
    CHECK_NEAR(apart[0], 0.0, 0.02);
    assert_true(apart[1] < 0.6 * apart[0]);
}

// A sheave at the tip of a clamped beam: the two stretches beside it bend the beam by F L^3 / (3 E I), F = T (1 - 2 / sqrt(20)). Beside
// that the rope presses along the beam with 1 % of its buckling load.
static void rope_bends_a_beam_by_its_two_stretches(void** state)
{
    (void)state;
    static const char TEXT[] =
        "multibody:\n"
        "  name: m\n"
        "  bodies:\n"
        "    boom:\n"
        "      flexible:\n"
        "        beam: {length: 4 m, section: {rectangle: [0.1 m, 0.1 m]}, density: 10 kg/m^3, young: 70 GPa,\n"
        "               ends: clamped-free, modes: {z: 3}}\n"
        "        damping: {ratio: 0.3}\n"
        "        points: {tip: [4 m, 0, 0]}\n"
        "      position: [0, 0, 0]\n"
        "    load: {mass: 100 kg, inertia: [1, 1, 1], position: [4 m, 0, -2 m]}\n"
        "  joints:\n"
        "    wall: {type: fixed, bodies: [ground, boom], at: [0, 0, 0]}\n"
        "    guide: {type: prismatic, bodies: [ground, load], at: [4 m, 0, -2 m], axis: [0, 0, 1]}\n"
        "  forces:\n"
        "    rope: {type: rope, bodies: [ground, load], at_a: [0, 0, 2 m], at_b: [4 m, 0, -2 m], stiffness: 500 kN/m,\n"
        "           damping: 50 kN s/m, via: [{body: boom, at: [4 m, 0, 0]}]}\n"
        "    brake: {type: joint-spring, joint: guide, damping: 2 kN s/m}\n"
        "run: {step: 1 ms, duration: 3 s}\n";
    double EI = 70e9 * 1e-4 / 12.0, T = 100.0 * G, bent = T * (1.0 - 2.0 / sqrt(20.0)) * 64.0 / (3.0 * EI);
    for (int k = 0; k < 2; k++) {
        CHECK_CASE("%s", COORDINATES[k]);
        System s = system_parse(TEXT, &COORDINATES[k], 1);
        system_step_to(&s, 3.0);
        CHECK_NEAR(system_get(&s, "m.rope.tension"), T, 1e-3 * T);
        CHECK_NEAR(system_get(&s, "m.boom.tip.position.z"), -bent, 0.02 * bent);
        system_finish(&s);
    }
    CHECK_CASE("%s", "");
}

// ---------------------------------------------------------------------------- winches

#define CRANE ITM_SOURCE_DIR "/examples/mobile-crane.yaml"

// Largest distance of the load from the monolithic run over `end` seconds.
static double compare_couplings(const char* coupling, double H, double end)
{
    char step[64], word[64];
    snprintf(step, sizeof step, "cosim.macro_step=%.17g s", H);
    snprintf(word, sizeof word, "cosim.coupling=%s", coupling);
    const char *whole[] = {"cosim.coupling=monolithic", "subsystems.control.step=0.4 ms"},
               *parts[] = {word, step, "subsystems.control.step=0.4 ms"};
    System a = system_load(CRANE, whole, 2), b = system_load(CRANE, parts, 3);
    double apart = 0.0;
    while (itm_cosim_get_time(b.x) < end - 1e-9) {
        system_step(&b);
        system_step_to(&a, itm_cosim_get_time(b.x));
        apart = fmax(apart, system_measure(&a, "crane.load.position", &b, "crane.load.position"));
    }
    system_finish(&a);
    system_finish(&b);
    return apart;
}

// The rope over sheaves is a port as others: zero-order hold is of order 1, the interface model of order 2, and usable at 50 ms.
static void winch_over_sheaves_converges_in_every_coupling(void** state)
{
    (void)state;
    double zoh = compare_couplings("zoh", 0.8e-3, 1.0) / compare_couplings("zoh", 0.4e-3, 1.0);
    double fine = compare_couplings("rim", 10e-3, 1.0), coarse = compare_couplings("rim", 20e-3, 1.0);
    double largest = compare_couplings("rim", 50e-3, 2.0);
    print_message("zoh: ratio %g; rim: %g m at 10 ms, ratio %g, %g m at 50 ms\n", zoh, fine, coarse / fine, largest);
    assert_true(zoh > 1.7);
    assert_true(coarse / fine > 3.0);
    CHECK_NEAR(largest, 0.0, 5e-3);
}

// The other port of a winch: the joint of a drum, turned by an electric motor; the rope is an element of the mechanism. Two falls and constant
// lever arms: the interface model has no error but rounding at any H, the hook rises at half the speed of the rope, and a rope that stretches by
// 5 mm is no penetration.
static void drum_is_a_rotating_port(void** state)
{
    (void)state;
    static const char TEXT[] =
        "multibody:\n"
        "  name: m\n"
        "  bodies:\n"
        "    drum: {mass: 50 kg, inertia: [2, 2, 2], position: [0, 0, 5 m]}\n"
        "    hook: {mass: 200 kg, inertia: [5, 5, 5], position: [1 m, 0, 1 m]}\n"
        "  joints:\n"
        "    axle: {type: revolute, bodies: [ground, drum], at: [0, 0, 5 m], axis: [0, -1, 0]}\n"
        "  forces:\n"
        "    port: {type: actuator, joint: axle}\n"
        "    rope: {type: rope, bodies: [ground, ground], at_a: [0.2 m, 0, 5 m], at_b: [1 m, 0, 5 m], preload: 981 N,\n"
        "           stiffness: 200 kN/m, damping: 1 kN s/m, drum: {joint: axle, radius: 0.2 m},\n"
        "           via: [{body: ground, at: [1 m, 0, 5 m]}, {body: hook, at: [1 m, 0, 1 m]}]}\n"
        "subsystems:\n"
        "  drives:\n"
        "    type: drive\n"
        "    step: 0.1 ms\n"
        "    motors:\n"
        "      port: {type: pmsm, resistance: 0.4 V/A, inductance: 2 mV s/A, torque_constant: 0.8 N m/A, pole_pairs: 4,\n"
        "             inertia: 1e-3 kg m^2, ratio: 30, stiffness: 30 kN m/rad, damping: 60 N m s, current_limit: 60 A,\n"
        "             voltage_limit: 300 V, mode: speed, command: 2, speed_gain: 0.5 A s, speed_integral: 5 A,\n"
        "             start_load: 196.2 N m}\n"
        "cosim: {macro_step: 10 ms, coupling: rim, bonds: {m.port: drives.port}}\n";
    static const char* const RUNS[] = {"cosim.coupling=monolithic", "cosim.macro_step=1 ms", "cosim.macro_step=10 ms",
                                       "cosim.macro_step=50 ms"};
    double whole[2] = {0.0, 0.0};
    for (int k = 0; k < 4; k++) {
        CHECK_CASE("%s", RUNS[k]);
        System s = system_parse(TEXT, &RUNS[k], 1);
        double z[2];
        system_step_to(&s, 0.1);  // while the drum gathers speed
        z[0] = system_get(&s, "m.hook.position.z");
        system_step_to(&s, 1.0);
        z[1] = system_get(&s, "m.hook.position.z");
        CHECK_NEAR(system_get(&s, "m.hook.velocity.z"), 0.2, 1e-4);
        CHECK_NEAR(system_get(&s, "m.rope.slack"), -981.0 / 200e3, 1e-5);
        assert_int_equal(itm_cosim_get_doubt_count(s.x), 0);
        for (int i = 0; i < 2; i++) {
            whole[i] = k == 0 ? z[i] : whole[i];
            CHECK_NEAR(z[i], whole[i], 1e-9);
        }
        system_finish(&s);
    }
    CHECK_CASE("%s", "");
}

// The tension of four falls carries a quarter of hook and load; the hook moves a quarter as fast as the rope.
static void four_falls_carry_a_quarter_each(void** state)
{
    (void)state;
    System s = system_load(CRANE, NULL, 0);
    CHECK_NEAR(system_get(&s, "winch.rope.tension"), 1750.0 * G / 4.0, 1e-9 * 1750.0 * G);
    system_step_to(&s, 2.0);
    double tip = system_get(&s, "crane.rope.length");
    assert_true(tip < 30.4 && tip > 24.0);
    system_finish(&s);
}

// ---------------------------------------------------------------------------- what is refused

static void refuse(const char* rope, const char* part)
{
    char text[1000];
    snprintf(text, sizeof text,
             "multibody:\n"
             "  name: m\n"
             "  bodies:\n"
             "    a: {mass: 3 kg, inertia: [1, 1, 1]}\n"
             "    b: {mass: 3 kg, inertia: [1, 1, 1]}\n"
             "  forces:\n"
             "    rope: {%s}\n",
             rope);
    system_refuse(text, NULL, 0, part);
}

static void bad_ropes_are_refused(void** state)
{
    (void)state;
    refuse("type: rope, bodies: [a, a], via: [{body: a, point: [0, 0, 1 m]}]", "all points are on one body");
    refuse("type: actuator, bodies: [a, a], via: [{body: a, point: [0, 0, 1 m]}]", "all points are on one body");
    refuse("type: rope, bodies: [a, b], via: [{point: [0, 0, 1 m]}]", "body");
    refuse("type: rope, bodies: [a, b], via: {body: a}", "expected a list of 1 to 64 sheaves");
    refuse("type: rope, bodies: [a, b], preload: 5 N", "a preload needs a stiffness");
    refuse("type: rope, bodies: [a, b], restitution: 2", "restitution");
    refuse("type: rope, bodies: [a, b], length: -1 m", "must not be negative");
    refuse("type: rope, bodies: [a, b], drum: {joint: axle, radius: 1 m}", "axle");
    refuse("type: actuator, joint: axle, via: [{body: a}]", "at a joint or between two points");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(atwood_machine_accelerates_as_in_closed_form),
        cmocka_unit_test(tackle_multiplies_force_by_its_falls),
        cmocka_unit_test(drum_lets_a_mass_sink_as_in_closed_form),
        cmocka_unit_test(slack_rope_becomes_taut_again),
        cmocka_unit_test(rigid_rope_bounces_with_its_restitution),
        cmocka_unit_test(taut_rope_swings_as_a_rod),
        cmocka_unit_test(rope_bends_a_beam_by_its_two_stretches),
        cmocka_unit_test(winch_over_sheaves_converges_in_every_coupling),
        cmocka_unit_test(drum_is_a_rotating_port),
        cmocka_unit_test(four_falls_carry_a_quarter_each),
        cmocka_unit_test(bad_ropes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
