// Power ports: ends of strokes, lengths at the start, rotating ports, in every coupling.
#include "system.h"

#include <math.h>

#define NCOUPLING 5
static const char* const COUPLINGS[NCOUPLING] = {"zoh", "linear", "quadratic", "rim", "rim-nonsmooth"};

// An override as of --set.
typedef struct Override {
    char text[96];
} Override;

static Override set_number(const char* key, double value)
{
    Override o;
    snprintf(o.text, sizeof o.text, "%s=%.17g", key, value);
    return o;
}

static Override set_step(double H)
{
    Override o;
    snprintf(o.text, sizeof o.text, "cosim.macro_step=%.17g s", H);
    return o;
}

static Override set_word(const char* key, const char* word)
{
    Override o;
    snprintf(o.text, sizeof o.text, "%s=%s", key, word);
    return o;
}

// ---------------------------------------------------------------------------- ends of strokes

// A block on a rail, thrown along a cylinder that starts in the middle of its stroke of 0.4 m.
#define RIG                                                                                                            \
    "parameters: {v0: 1, u: 0}\n"                                                                                      \
    "multibody:\n"                                                                                                     \
    "  name: rig\n"                                                                                                    \
    "  gravity: [0, 0, 0]\n"                                                                                           \
    "  bodies:\n"                                                                                                      \
    "    block: {mass: 100 kg, inertia: [1, 1, 1], position: [1 m, 0, 0], velocity: [v0 * 1 m/s, 0, 0]}\n"             \
    "  joints:\n"                                                                                                      \
    "    rail: {type: prismatic, bodies: [ground, block], at: [1 m, 0, 0], axis: [1, 0, 0]}\n"                         \
    "  forces:\n"                                                                                                      \
    "    cyl: {type: actuator, bodies: [ground, block], at_a: [0, 0.3 m, 0], at_b: [1 m, 0, 0]}\n"                     \
    "subsystems:\n"                                                                                                    \
    "  hydraulics:\n"                                                                                                  \
    "    type: hydraulics\n"                                                                                           \
    "    step: 0.1 ms\n"                                                                                               \
    "    nodes:\n"                                                                                                     \
    "      pump: {type: pressure-source, pressure: 100 bar}\n"                                                         \
    "      tank: {type: tank}\n"                                                                                       \
    "      a: {type: hose, volume: 0.1 l, wall_modulus: 700 MPa, pressure: 10 bar}\n"                                  \
    "      b: {type: hose, volume: 0.1 l, wall_modulus: 700 MPa, pressure: 10 bar}\n"                                  \
    "    elements:\n"                                                                                                  \
    "      valve: {type: valve-4-3, ports: {p: pump, t: tank, a: a, b: b}, coefficient: 100 l/min/sqrt(10 bar),\n"     \
    "              command: u}\n"                                                                                      \
    "      bypass_a: {type: orifice, ports: [a, tank], coefficient: 900 l/min/sqrt(1 bar)}\n"                          \
    "      bypass_b: {type: orifice, ports: [b, tank], coefficient: 900 l/min/sqrt(1 bar)}\n"                          \
    "      cyl: {type: cylinder, ports: [a, b], bore: 50 mm, rod: 20 mm, stroke: 0.4 m START}\n"                       \
    "cosim:\n"                                                                                                         \
    "  macro_step: 10 ms\n"                                                                                            \
    "  coupling: rim\n"                                                                                                \
    "  bonds: {rig.cyl: hydraulics.cyl}\n"

// RIG with more keys of the cylinder.
static const char* make_rig(const char* start)
{
    static char text[4000];
    const char* place = strstr(RIG, "START");
    snprintf(text, sizeof text, "%.*s%s%s", (int)(place - RIG), RIG, start, place + 5);
    return text;
}

static const double START = 1.0440306508910551;  // sqrt(1 + 0.09) m

// Largest penetration of either end at the communication points until the block has been stopped for a while.
static double run_into_end(const char* coupling, double v0, double u, double H, double* gain)
{
    Override o[4] = {set_number("parameters.v0", v0), set_number("parameters.u", u), set_step(H),
                     set_word("cosim.coupling", coupling)};
    const char* overrides[] = {o[0].text, o[1].text, o[2].text, o[3].text, "run.bounds.breakdown=1e300"};
    System s = system_parse(make_rig(""), overrides, 5);
    double deepest = 0.0, before = system_get(&s, "rig.energy.mechanical");
    *gain = 0.0;
    for (double t = 0.0; t < 0.4; t += H) {
        system_step(&s);
        double length = system_get(&s, "rig.cyl.length");
        deepest = fmax(deepest, fmax(length - (START + 0.2), (START - 0.2) - length));
        // what the block has, beyond what its actuator gave it
        double after = system_get(&s, "rig.energy.mechanical") - system_get(&s, "rig.energy.load_work");
        *gain = fmax(*gain, (after - before) / (before + 1.0));
    }
    system_finish(&s);
    return deepest;
}

// At any speed and macro step, thrown or driven: no penetration over 0.1 mm; the stop makes no energy. Pistons run at 1 m/s at most.
static void end_of_stroke_stops_the_piston(void** state)
{
    (void)state;
    static const double SPEEDS[] = {-20.0, -1.0, 0.0, 0.3, 5.0, 20.0}, STEPS[] = {1e-4, 1e-3, 1e-2, 5e-2};
    double deepest = 0.0, most = 0.0;
    for (int c = 0; c < NCOUPLING; c++) {
        for (int i = 0; i < 6; i++) {
            for (int k = 0; k < 4; k++) {
                double gain,
                    depth = run_into_end(COUPLINGS[c], SPEEDS[i], SPEEDS[i] == 0.0 ? 1.0 : 0.0, STEPS[k], &gain);
                if (depth > 1e-4) {
                    fail_msg("%s, %g m/s, H %g s: %g m beyond the end", COUPLINGS[c], SPEEDS[i], STEPS[k], depth);
                }
                // the work of the actuator is booked with the rates at both ends of a step: order H^2 where the actuator turns
                if (gain > 1e-3) {
                    fail_msg("%s, %g m/s, H %g s: the block gained %g of its energy", COUPLINGS[c], SPEEDS[i], STEPS[k],
                             gain);
                }
                deepest = fmax(deepest, depth);
                most = fmax(most, gain);
            }
        }
    }
    print_message("deepest penetration %.3g m, largest gain of energy %.3g\n", deepest, most);
}

static void start_length_is_that_of_the_actuator(void** state)
{
    (void)state;
    System s = system_parse(make_rig(", start_length: 1.0440306508910551 m"), NULL, 0);
    CHECK_NEAR(system_get(&s, "hydraulics.cyl.length"), START, 1e-12);
    system_finish(&s);
    s = system_parse(make_rig(""), NULL, 0);
    CHECK_NEAR(system_get(&s, "hydraulics.cyl.length"), START, 1e-12);
    system_finish(&s);
    system_refuse(make_rig(", start_length: 1.05 m"), NULL, 0, "start_length 1.05 m, but actuator 'cyl'");
    system_refuse(make_rig(", start_length: 1.05 m"), NULL, 0, "starts with length 1.04403065 m");
}

// ---------------------------------------------------------------------------- compliant contact

// A cylinder drags a boulder over soil, back and forth.
static const char DRAGGED[] =
    "parameters: {K: 4e5 N/m, D: 2e4 N s/m}\n"
    "signals:\n"
    "  lever: {table: {times: [0.1 s, 0.4 s, 0.9 s, 1.1 s, 1.6 s], values: [0, 0.6, 0.6, -0.5, -0.5]}}\n"
    "multibody:\n"
    "  name: soil\n"
    "  materials: {rock: {friction: 0.3, stiffness: K, damping: D}}\n"
    "  bodies:\n"
    "    boulder: {mass: 250 kg, shape: {box: [0.5 m, 0.5 m, 0.5 m], collide: true, material: rock}, position: [0, 0, 0.25 m]}\n"
    "  forces:\n"
    "    cyl: {type: actuator, bodies: [ground, boulder], at_a: [-1.5 m, 0, 0.8 m], at_b: [-0.25 m, 0, 0.3 m]}\n"
    "  shapes: {floor: {body: ground, plane: [0, 0, 1], material: rock}}\n"
    "subsystems:\n"
    "  hydraulics:\n"
    "    type: hydraulics\n"
    "    step: 0.2 ms\n"
    "    nodes:\n"
    "      pump: {type: pressure-source, pressure: 60 bar}\n"
    "      tank: {type: tank}\n"
    "      push: {type: hose, volume: 0.1 l, wall_modulus: 700 MPa, pressure: 10 bar}\n"
    "      pull: {type: hose, volume: 0.1 l, wall_modulus: 700 MPa, pressure: 16 bar}\n"
    "    elements:\n"
    "      valve: {type: valve-4-3, ports: {p: pump, t: tank, a: push, b: pull}, coefficient: 10 l/min / sqrt(20 bar),\n"
    "              command: lever, spool: {time_constant: 20 ms}}\n"
    "      cyl: {type: cylinder, ports: [push, pull], bore: 40 mm, rod: 25 mm, stroke: 1 m, viscous: 500 N s/m}\n"
    "cosim: {macro_step: 10 ms, coupling: rim, bonds: {soil.cyl: hydraulics.cyl}}\n";

// Largest distance of the boulder from the run at the micro step, at multiples of 50 ms over 1.6 s.
static double drag(const char* K, const char* D, double H)
{
    Override step = set_step(H), fine = set_step(1e-3);
    const char *overrides[] = {K, D, step.text}, *fine_overrides[] = {K, D, fine.text};
    System s = system_parse(DRAGGED, overrides, 3), twin = system_parse(DRAGGED, fine_overrides, 3);
    double largest = 0.0;
    for (int i = 0; i < 32; i++) {
        for (long n = lround(0.05 / H); n > 0; n--) {
            system_step(&s);
        }
        for (int n = 0; n < 50; n++) {
            system_step(&twin);
        }
        double dx = system_get(&s, "soil.boulder.position.x") - system_get(&twin, "soil.boulder.position.x");
        double dz = system_get(&s, "soil.boulder.position.z") - system_get(&twin, "soil.boulder.position.z");
        largest = fmax(largest, hypot(dx, dz));
    }
    system_finish(&s);
    system_finish(&twin);
    return largest;
}

// Compliance and damping of contacts enter the interface model as they enter the step: no worse than rigid contacts, at any H.
static void compliant_contact_converges_as_rigid_contact_does(void** state)
{
    (void)state;
    static const double STEPS[] = {0.005, 0.01, 0.05};
    for (int i = 0; i < 3; i++) {
        double rigid = drag("parameters.K=0", "parameters.D=0", STEPS[i]);
        double compliant = drag("parameters.K=4e5 N/m", "parameters.D=2e4 N s/m", STEPS[i]);
        print_message("H %5.1f ms: rigid %.2g m, compliant %.2g m\n", 1e3 * STEPS[i], rigid, compliant);
        assert_true(compliant < 1e-5 && rigid < 1e-5);  // of 0.3 m; observed 3e-6 at 50 ms
    }
}

// A ball on a guide, 20 mm above soil, with a cylinder: it lands, leaves the soil and lands again, and never slides.
static const char DROPPED[] =
    "multibody:\n"
    "  name: soil\n"
    "  gravity: [0, 0, -9.81 m/s^2]\n"
    "  materials: {rock: {stiffness: 4e5 N/m, damping: 2e3 N s/m}}\n"
    "  bodies:\n"
    "    post: {mass: 10 kg, inertia: [1, 1, 1], position: [2 m, 0, 0]}\n"
    "    ball: {mass: 250 kg, shape: {sphere: 0.25 m, collide: true, material: rock}, position: [0, 0, 0.27 m]}\n"
    "  joints:\n"
    "    stand: {type: fixed, bodies: [ground, post], at: [2 m, 0, 0]}\n"
    "    guide: {type: prismatic, bodies: [post, ball], at: [0, 0, 0], axis: [0, 0, 1]}\n"
    "  forces:\n"
    "    cyl: {type: actuator, bodies: [ground, ball], at_a: [0, 0, 1.5 m], at_b: [0, 0, 0.32 m]}\n"
    "  shapes: {floor: {body: ground, plane: [0, 0, 1], material: rock}}\n"
    "subsystems:\n"
    "  hydraulics:\n"
    "    type: hydraulics\n"
    "    step: 0.1 ms\n"
    "    nodes:\n"
    "      supply: {type: pressure-source, pressure: 60 bar}\n"
    "      back: {type: pressure-source, pressure: 60 bar}\n"
    "      a: {type: volume, volume: 1 l, pressure: 60 bar}\n"
    "    elements:\n"
    "      throttle: {type: laminar, ports: [supply, a], conductance: 5e-10 m^3/s/Pa}\n"
    "      cyl: {type: cylinder, ports: [a, back], bore: 40 mm, stroke: 1 m, viscous: 500 N s/m}\n"
    "cosim: {macro_step: 10 ms, coupling: rim, bonds: {soil.cyl: hydraulics.cyl}}\n";

typedef struct Drop {
    double z, w, p;  // height above the soil, its rate, pressure
} Drop;

// m w' = -m g + N - A (p - p0) - c w,   p' = B / V (G (p0 - p) + A w),   N = -k z - d w where the ball is in the soil, not below 0.
// Stiffness and damping of two equal materials in series are half of one.
static Drop differentiate_drop(Drop y)
{
    double A = 0.25 * 3.14159265358979323846 * 0.04 * 0.04, V = 1e-3 + A * (0.5 + 0.02 - y.z), p0 = 60e5;
    double N = y.z < 0.0 ? fmax(0.0, -2e5 * y.z - 1e3 * y.w) : 0.0;
    return (Drop){y.w, -9.81 + (N - A * (y.p - p0) - 500.0 * y.w) / 250.0, 1.5e9 / V * (5e-10 * (p0 - y.p) + A * y.w)};
}

static Drop move_drop(Drop y, double h, Drop rate)
{
    return (Drop){y.z + h * rate.z, y.w + h * rate.w, y.p + h * rate.p};
}

// Heights every 50 ms over 1 s by the classical Runge-Kutta method, 2 us: the kinks of N cost about 1e-10 m.
static void integrate_drop(double z[20])
{
    const double h = 2e-6;
    Drop y = {0.02, 0.0, 60e5};
    for (int i = 0; i < 20; i++) {
        for (int n = 0; n < 25000; n++) {
            Drop a = differentiate_drop(y), b = differentiate_drop(move_drop(y, 0.5 * h, a));
            Drop c = differentiate_drop(move_drop(y, 0.5 * h, b)), d = differentiate_drop(move_drop(y, h, c));
            y = move_drop(move_drop(y, h / 6.0, a), h / 3.0, b);
            y = move_drop(move_drop(y, h / 3.0, c), h / 6.0, d);
        }
        z[i] = y.z;
    }
}

// Largest difference from the heights z; micro step h.
static double drop(const char* coupling, double H, double h, const double z[20])
{
    Override o[3] = {set_word("cosim.coupling", coupling), set_step(H), set_number("subsystems.hydraulics.step", h)};
    const char* overrides[] = {o[0].text, o[1].text, o[2].text};
    System s = system_parse(DROPPED, overrides, 3);
    double largest = 0.0;
    for (int i = 0; i < 20; i++) {
        system_step_to(&s, 0.05 * (i + 1));
        largest = fmax(largest, fabs(system_get(&s, "soil.ball.position.z") - 0.25 - z[i]));
    }
    system_finish(&s);
    return largest;
}

// Impacts, lift-off and a piston on compliant ground: the macro step adds nothing to the error of the micro step, which is of first
// order (compliance is integrated by the implicit Euler method).
static void compliant_ground_matches_a_differential_equation(void** state)
{
    (void)state;
    double z[20];
    integrate_drop(z);
    double micro = drop("monolithic", 1e-3, 1e-4, z), coarse = drop("monolithic", 1e-3, 2e-4, z);
    print_message("ball on soil: %.3g m with micro steps of 0.1 ms, %.3g m with 0.2 ms\n", micro, coarse);
    assert_true(coarse / micro > 1.8 && coarse / micro < 2.2);
    // relative to the stroke of 40 mm: omega h = 2.8e-3 for omega = sqrt(k / m) = 28 rad/s
    assert_true(micro < 0.04 * 2.8e-3);
    static const double STEPS[] = {1e-3, 1e-2, 5e-2};
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(drop("rim", STEPS[i], 1e-4, z), micro, 1e-7);
        CHECK_NEAR(drop("rim-nonsmooth", STEPS[i], 1e-4, z), micro, 1e-7);
    }
}

// ---------------------------------------------------------------------------- excavator

// Largest distance of the bucket's tip from the run at 1 ms while the arm digs without the boulder: nothing passes an edge.
static double dig(double H, double gain)
{
    Override o[3] = {set_step(H), set_step(1e-3), set_number("subsystems.control.blocks.u_stick.proportional", gain)};
    const char* place = "multibody.bodies.boulder.position=[-9 m, 0, 0.25 m]";
    const char *overrides[] = {o[0].text, o[2].text, place}, *fine_overrides[] = {o[1].text, o[2].text, place};
    System s = system_load(ITM_SOURCE_DIR "/examples/excavator.yaml", overrides, 3);
    System fine = system_load(ITM_SOURCE_DIR "/examples/excavator.yaml", fine_overrides, 3);
    double largest = 0.0;
    for (int i = 1; i <= 110; i++) {
        system_step_to(&s, 0.05 * i);
        system_step_to(&fine, 0.05 * i);
        largest = fmax(largest, system_measure(&s, "exc.tip.position", &fine, "exc.tip.position"));
    }
    system_finish(&s);
    system_finish(&fine);
    return largest;
}

// The bucket scrapes rigid ground: second order in H, within 1 mm at 50 ms whatever the gain. For the boulder, whose edge the teeth pass, see
// test_renewals.
static void excavator_is_second_order(void** state)
{
    (void)state;
    static const double GAINS[] = {4.0, 8.0};
    for (int i = 0; i < 2; i++) {
        double at_50 = dig(0.05, GAINS[i]), at_10 = dig(0.01, GAINS[i]);
        print_message("gain %g, no boulder: tip off by %.3g m at 50 ms, %.3g m at 10 ms\n", GAINS[i], at_50, at_10);
        assert_true(at_50 < 1e-3 && at_50 / at_10 > 10.0);
    }
}

// ---------------------------------------------------------------------------- rotating ports

// A motor turns a flywheel: pressure p behind a laminar throttle, C p' = G (p_0 - p) - D w, I w' = D (p - p_0) - c w.
static const char FLYWHEEL[] =
    "parameters: {I: 0.02, w0: 20}\n"
    "multibody:\n"
    "  name: rig\n"
    "  gravity: [0, 0, 0]\n"
    "  bodies:\n"
    "    wheel: {mass: 10 kg, inertia: [5 kg m^2, 5 kg m^2, I * 1 kg m^2], position: [0, 0, 0], angular_velocity: [0, 0, w0 * 1 rad/s]}\n"
    "  joints:\n"
    "    shaft: {type: revolute, bodies: [ground, wheel], at: [0, 0, 0], axis: [0, 0, 1]}\n"
    "  forces:\n"
    "    drive: {type: actuator, joint: shaft}\n"
    "subsystems:\n"
    "  hydraulics:\n"
    "    type: hydraulics\n"
    "    step: 0.1 ms\n"
    "    nodes:\n"
    "      supply: {type: pressure-source, pressure: 100 bar}\n"
    "      back: {type: pressure-source, pressure: 100 bar}\n"
    "      a: {type: volume, volume: 1 l, pressure: 100 bar}\n"
    "    elements:\n"
    "      throttle: {type: laminar, ports: [supply, a], conductance: 2e-11 m^3/s/Pa}\n"
    "      drive: {type: motor, ports: [a, back], displacement: 20e-6 m^3, viscous: 0.01 N m s}\n"
    "cosim:\n"
    "  macro_step: 10 ms\n"
    "  coupling: rim\n"
    "  bonds: {rig.drive: hydraulics.drive}\n";

// w(t) of the closed form with w(0) = 20 rad/s, p(0) = p_0: w'' + (G/C + c/I) w' + (D^2/(I C) + G c/(C I)) w = 0
static double closed_form(double t, double I)
{
    double C = 1e-3 / 1.5e9, G = 2e-11, D = 20e-6, c = 0.01;
    double a = 0.5 * (G / C + c / I), b = D * D / (I * C) + G * c / (C * I);
    double w0 = 20.0, w0_dot = -c / I * w0, omega = sqrt(b - a * a);
    return exp(-a * t) * (w0 * cos(omega * t) + (w0_dot + a * w0) / omega * sin(omega * t));
}

// RMS of w over 0.2 s against the closed form.
static double run_flywheel(const char* coupling, const char* coordinates, double H)
{
    Override o[3] = {set_word("cosim.coupling", coupling), set_step(H), set_word("multibody.coordinates", coordinates)};
    const char* overrides[] = {o[0].text, o[1].text, o[2].text, "run.bounds.breakdown=1e300"};
    System s = system_parse(FLYWHEEL, overrides, 4);
    double sum = 0.0;
    int n = (int)lround(0.2 / H);
    for (int k = 0; k < n; k++) {
        system_step(&s);
        double error = system_get(&s, "rig.drive.rate") - closed_form(itm_cosim_get_time(s.x), 0.02);
        sum += error * error;
    }
    system_finish(&s);
    return sqrt(sum / n);
}

// Orders as at line actuators: zero-order hold 1, the interface model as good as the micro steps at every H.
static void motor_and_flywheel_meet_the_closed_form(void** state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        const char* coordinates = k == 0 ? "absolute" : "joint";
        // micro steps of 0.1 ms by trapezoidal and Heun's rule: (omega h)^2 / 12 per radian, omega = 187 rad/s: 1.1e-3 over 37 rad
        for (double H = 1e-3; H < 0.06; H *= 2.0) {
            double rim = run_flywheel("rim", coordinates, H), nonsmooth = run_flywheel("rim-nonsmooth", coordinates, H);
            CHECK_NEAR(rim, 0.0, 20.0 * 1.1e-3);
            CHECK_NEAR(nonsmooth, rim, 1e-9);
        }
        double zoh = run_flywheel("zoh", coordinates, 2e-4) / run_flywheel("zoh", coordinates, 1e-4);
        double linear = run_flywheel("linear", coordinates, 2e-3) / run_flywheel("linear", coordinates, 1e-3);
        double quadratic = run_flywheel("quadratic", coordinates, 2e-3) / run_flywheel("quadratic", coordinates, 1e-3);
        print_message(
            "%s: rim %.3g rad/s at 50 ms; error at 2 H over that at H: zoh %.2f, linear %.2f, quadratic %.2f\n",
            coordinates, run_flywheel("rim", coordinates, 5e-2), zoh, linear, quadratic);
        assert_true(zoh > 1.7 && zoh < 2.6);
        assert_true(linear > 1.7 && quadratic > 1.7);
    }
}

// Growth of a small disturbance per macro step says from which H on a run grows.
static void stability_radius_is_confirmed_by_runs(void** state)
{
    (void)state;
    for (int c = 0; c < NCOUPLING; c++) {
        for (double H = 1e-3; H < 0.04; H *= 2.0) {
            Override o[3] = {set_word("cosim.coupling", COUPLINGS[c]), set_step(H), set_number("parameters.w0", 1e-3)};
            const char* overrides[] = {o[0].text, o[1].text, o[2].text, "run.bounds.breakdown=1e300"};
            System s = system_parse(FLYWHEEL, overrides, 4);
            double radius = 0.0, before = system_get(&s, "rig.energy.kinetic"), after = 0.0;
            CHECK_OK(itm_cosim_compute_radius(s.x, 1, &radius), itm_cosim_get_error(s.x));
            // the angle stays where it got to: one eigenvalue is 1. What turns is judged by its kinetic energy
            for (int k = 0; k < 400; k++) {
                system_step(&s);
                double E = system_get(&s, "rig.energy.kinetic");
                after = fmax(after, k >= 360 ? E : 0.0);
            }
            bool grows = radius > 1.0 + 1e-6;
            if (grows != (after > before) && fabs(radius - 1.0) > 1e-2) {
                fail_msg("%s, H %g s: radius %g, but energy %g J became %g J", COUPLINGS[c], H, radius, before, after);
            }
            assert_true(c < 3 || !grows);
            system_finish(&s);
        }
    }
}

// ---------------------------------------------------------------------------- mixed units

// A crane that slews by a motor and luffs by a cylinder: both in one interface model.
static const char CRANE[] =
    "multibody:\n"
    "  name: crane\n"
    "  bodies:\n"
    "    tower: {mass: 800 kg, shape: {box: [0.6 m, 0.6 m, 2 m]}, position: [0, 0, 1 m]}\n"
    "    boom: {mass: 300 kg, shape: {box: [4 m, 0.3 m, 0.3 m]}, position: [2 m, 0, 2 m]}\n"
    "  joints:\n"
    "    ring: {type: revolute, bodies: [ground, tower], at: [0, 0, 0], axis: [0, 0, 1]}\n"
    "    foot: {type: revolute, bodies: [tower, boom], at: [0, 0, 2 m], axis: [0, -1, 0]}\n"
    "  forces:\n"
    "    slew: {type: actuator, joint: ring}\n"
    "    luff: {type: actuator, bodies: [tower, boom], at_a: [0.3 m, 0, 0.5 m], at_b: [1 m, 0, 2 m]}\n"
    "subsystems:\n"
    "  hydraulics:\n"
    "    type: hydraulics\n"
    "    step: 0.2 ms\n"
    "    nodes:\n"
    "      pump: {type: pressure-source, pressure: 200 bar}\n"
    "      tank: {type: tank}\n"
    "      a1: {type: hose, volume: 0.2 l, wall_modulus: 700 MPa, pressure: 40 bar}\n"
    "      b1: {type: hose, volume: 0.2 l, wall_modulus: 700 MPa, pressure: 40 bar}\n"
    "      a2: {type: hose, volume: 0.2 l, wall_modulus: 700 MPa, pressure: 60 bar}\n"
    "      b2: {type: hose, volume: 0.2 l, wall_modulus: 700 MPa, pressure: 10 bar, held: true}\n"
    "    elements:\n"
    "      v1: {type: valve-4-3, ports: {p: pump, t: tank, a: a1, b: b1}, coefficient: 30 l/min/sqrt(100 bar),\n"
    "           command: {ramp: {end: 0.5 s, from: 0, to: 0.4}}, spool: {time_constant: 30 ms}}\n"
    "      v2: {type: valve-4-3, ports: {p: pump, t: tank, a: a2, b: b2}, coefficient: 20 l/min/sqrt(100 bar),\n"
    "           command: {ramp: {end: 0.5 s, from: 0, to: 0.3}}, spool: {time_constant: 30 ms}}\n"
    "      slew: {type: motor, ports: [a1, b1], displacement: 3 l/rev, leakage: 1e-12 m^3/s/Pa, viscous: 200 N m s}\n"
    "      luff: {type: cylinder, ports: [a2, b2], bore: 80 mm, rod: 50 mm, stroke: 1 m, viscous: 5 kN s/m}\n"
    "    start: static\n"
    "cosim:\n"
    "  macro_step: 50 ms\n"
    "  coupling: rim\n"
    "  bonds: {crane.slew: hydraulics.slew, crane.luff: hydraulics.luff}\n";

// RMS of angle and length against the run at every micro step, relative to how far they come.
static double run_crane(const char* coupling, double H)
{
    Override o[2] = {set_word("cosim.coupling", coupling), set_step(H)};
    const char *overrides[] = {o[0].text, o[1].text, "run.bounds.breakdown=1e300"},
               *twin_overrides[] = {"cosim.coupling=monolithic", o[1].text};
    System s = system_parse(CRANE, overrides, 3), twin = system_parse(CRANE, twin_overrides, 2);
    double sum[2] = {0.0}, size[2] = {0.0};
    static const char* const NAMES[2] = {"crane.slew.angle", "crane.luff.length"};
    double start[2] = {system_get(&s, NAMES[0]), system_get(&s, NAMES[1])};
    for (int k = 0; k * H < 2.0; k++) {
        if (itm_cosim_step(s.x) != ITM_OK) {
            sum[0] = INFINITY;
            break;
        }
        system_step_to(&twin, itm_cosim_get_time(s.x));
        for (int i = 0; i < 2; i++) {
            double x = system_get(&twin, NAMES[i]), error = system_get(&s, NAMES[i]) - x;
            sum[i] += error * error;
            size[i] += (x - start[i]) * (x - start[i]);
        }
    }
    system_finish(&s);
    system_finish(&twin);
    return fmax(sqrt(sum[0] / size[0]), sqrt(sum[1] / size[1]));
}

// Angles and lengths share W; at 50 ms the interface model is within 1 % where zero-order hold is useless.
static void line_and_rotating_ports_share_an_interface_model(void** state)
{
    (void)state;
    double rim = run_crane("rim", 0.05), zoh = run_crane("zoh", 0.05);
    print_message("crane at 50 ms: rim %.3g, zoh %.3g of the way\n", rim, zoh);
    assert_true(rim < 0.01);
    assert_true(!(zoh < 0.1));
}

static void kinds_of_ports_must_agree(void** state)
{
    (void)state;
    const char* overrides[] = {"cosim.bonds={crane.slew: hydraulics.luff}"};
    system_refuse(CRANE, overrides, 1, "actuator 'slew' has an angle, but port 'luff' of 'hydraulics' has a length");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(end_of_stroke_stops_the_piston),
        cmocka_unit_test(start_length_is_that_of_the_actuator),
        cmocka_unit_test(compliant_contact_converges_as_rigid_contact_does),
        cmocka_unit_test(compliant_ground_matches_a_differential_equation),
        cmocka_unit_test(excavator_is_second_order),
        cmocka_unit_test(motor_and_flywheel_meet_the_closed_form),
        cmocka_unit_test(stability_radius_is_confirmed_by_runs),
        cmocka_unit_test(line_and_rotating_ports_share_an_interface_model),
        cmocka_unit_test(kinds_of_ports_must_agree),
    };
    return cmocka_run_group_tests_name("ports", tests, NULL, NULL);
}
