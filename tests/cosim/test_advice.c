// Advice on the macro step: the spectral radius against closed forms of sampled-data loops, of an oscillator cut in two and of a
// foreign subsystem; and against runs on both sides of the step that it calls the largest.
#include "system.h"

#include "cosim/advice.h"

#define MARGIN 1e-4  // of radii at 1, which differences know to a few 1e-5 where eigenvalues coincide

// ---------------------------------------------------------------------------- systems from text

// With parameters.H at a value and one more override, or NULL.
static void start_at(System* s, const char* text, double H, const char* override)
{
    char step[64];
    snprintf(step, sizeof step, "parameters.H=%.17g s", H);
    const char* overrides[] = {step, override};
    *s = system_parse(text, overrides, override != NULL ? 2 : 1);
}

static double compute_radius(const char* text, double H, const char* override)
{
    System s;
    double radius = NAN;
    start_at(&s, text, H, override);
    CHECK_OK(itm_cosim_compute_radius(s.x, 1, &radius), itm_cosim_get_error(s.x));
    system_finish(&s);
    return radius;
}

// Largest magnitude of an output while `nstep` steps are taken; INFINITY where they break down.
static double run(const char* text, double H, const char* override, const char* output, int nstep)
{
    System s;
    start_at(&s, text, H, override);
    double most = 0.0;
    for (int k = 0; k < nstep && isfinite(most); k++) {
        ItmStatus status = itm_cosim_step(s.x);
        itm_cosim_compute_outputs(s.x, s.y);
        most = status == ITM_OK ? fmax(most, fabs(system_get(&s, output))) : INFINITY;
    }
    system_finish(&s);
    return most;
}

// The larger magnitude of the roots of z^2 - b z + c.
static double root_of(double b, double c)
{
    double d = b * b / 4.0 - c;
    return d < 0.0 ? sqrt(c) : fabs(b / 2.0) + sqrt(d);
}

// ---------------------------------------------------------------------------- sampled control

// A sled of 2 kg on a rail, and a control of its position and speed; all meet every H.
#define SLED(blocks, step)                                                                                             \
    "parameters: {H: 1 ms}\n"                                                                                          \
    "multibody:\n"                                                                                                     \
    "  name: rig\n"                                                                                                    \
    "  gravity: [0, 0, 0]\n"                                                                                           \
    "  bodies: {sled: {mass: 2 kg, inertia: [1, 1, 1], position: [0.5 m, 0, 0]}}\n"                                    \
    "  joints: {rail: {type: prismatic, bodies: [ground, sled], at: [0.5 m, 0, 0], axis: [1, 0, 0], start: 0,\n"       \
    "           start_rate: 10 mm/s}}\n"                                                                               \
    "  forces: {ram: {type: actuator, bodies: [ground, sled], force: control.force}}\n"                                \
    "subsystems:\n"                                                                                                    \
    "  control: {type: control, step: " step ", blocks: {" blocks "}}\n"                                               \
    "run: {step: H, duration: 1 s}\n"

#define X "rig.rail.displacement"
#define V "rig.rail.displacement_rate"

// u = -800 x - 60 v, held: v+ = v + H u / m, x+ = x + H v+ has z^2 - (2 - b - a) z + 1 - b, a = H^2 kp/m, b = H kd/m, and is
// stable as long as a + 2 b < 4.
static void servo_is_stable_up_to_the_closed_form(void** state)
{
    (void)state;
    static const char SERVO[] = SLED("force: -800*" X " - 60*" V, "H");
    double kp = 400.0, kd = 30.0, limit = (sqrt(4.0 * kd * kd + 16.0 * kp) - 2.0 * kd) / (2.0 * kp);
    for (int i = 0; i < 5; i++) {
        const double times[] = {0.05, 0.6, 0.99, 1.01, 1.5};
        double H = times[i] * limit, a = H * H * kp, b = H * kd;
        double expected = root_of(2.0 - b - a, 1.0 - b), radius = compute_radius(SERVO, H, NULL);
        // central differences of a linear map: rounding against the disturbance, 1e-16/1e-6; observed 2e-10
        CHECK_NEAR(radius, expected, 2e-9);
        assert_true((radius < 1.0) == (times[i] < 1.0));
    }
    assert_true(run(SERVO, 0.98 * limit, NULL, X, 400) < 0.01);
    assert_true(run(SERVO, 1.02 * limit, NULL, X, 400) > 1.0);
}

// u = -k_P v - s, s+ = s + H k_I v: z^2 - (2 - a) z + 1 - a + b, a = H k_P/m, b = H^2 k_I/m. Without the state of the control it would
// be 1 - a. The position takes no part: 1.
static void state_of_a_control_counts(void** state)
{
    (void)state;
    static const char SPEED[] = SLED("sum: {type: integrator, input: 6000*" V "}, force: -20*" V " - sum", "H");
    for (int i = 0; i < 3; i++) {
        const double steps[] = {1e-3, 3.2e-3, 3.5e-3};  // b = a at H = k_P/k_I = 3.33 ms
        double H = steps[i], a = H * 10.0, b = H * H * 3000.0, radius = compute_radius(SPEED, H, NULL);
        CHECK_NEAR(radius, fmax(1.0, root_of(2.0 - a, 1.0 - a + b)), 2e-9);
        assert_true((radius < 1.0 + 1e-9) == (i < 2));
    }
}

// A control that samples every T = N H: over T the sled gets x+ = x + T v + T^2 (1 + 1/N)/2 u/m, v+ = v + T u/m. The same where a
// block of a faster control has the sample time T.
static void control_that_samples_rarely_is_judged_over_its_period(void** state)
{
    (void)state;
    static const char SLOW[] = SLED("force: -800*" X " - 60*" V, "5*H");
    static const char BLOCK[] = SLED(
        "force: {type: pid, input: -" X ", proportional: 800, derivative: 60, error_rate: -" V ", sample: 5*H}", "H");
    for (int i = 0; i < 3; i++) {
        const double steps[] = {2e-3, 8e-3, 13e-3};
        double H = steps[i], T = 5.0 * H, kp = 400.0, kd = 30.0, c = 0.5 * T * T * 1.2;
        // [1 - c kp, T - c kd; -T kp, 1 - T kd]
        double trace = 2.0 - c * kp - T * kd, det = (1.0 - c * kp) * (1.0 - T * kd) + T * kp * (T - c * kd);
        double expected = pow(root_of(trace, det), 0.2);
        CHECK_NEAR(compute_radius(SLOW, H, NULL), expected, 2e-9);
        CHECK_NEAR(compute_radius(BLOCK, H, NULL), expected, 2e-9);
    }
}

// u = -k v of d samples ago: z^(d+1) - z^d + a = 0, a = H k/m, is stable as long as a < 2 sin(pi / (2 (2 d + 1))).
static void delayed_control_is_stable_up_to_the_closed_form(void** state)
{
    (void)state;
    static const char DELAYED[] =
        SLED("late: {type: delay, input: " V ", samples: 3, start: 0}, force: -100*late", "H");
    double limit = 2.0 * sin(3.14159265358979323846 / 14.0) / 50.0;
    // the position takes no part: 1
    CHECK_NEAR(compute_radius(DELAYED, 0.998 * limit, NULL), 1.0, 1e-9);
    CHECK_NEAR(compute_radius(DELAYED, limit, NULL), 1.0, 1e-8);
    assert_true(compute_radius(DELAYED, 1.002 * limit, NULL) > 1.0 + 1e-4);
}

// ---------------------------------------------------------------------------- joined mechanisms

// Two carts of 3 and 1 kg that move together, the second at a spring of 400 N/m: omega = 10/s.
static const char CARTS[] =
    "parameters: {H: 10 ms, n: 1}\n"
    "multibody:\n"
    "  name: a\n"
    "  gravity: [0, 0, 0]\n"
    "  bodies: {cart: {mass: 3 kg, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
    "  joints: {rail: {type: prismatic, bodies: [ground, cart], at: [0, 0, 0], axis: [1, 0, 0], start_rate: 0.1 m/s}}\n"
    "  interfaces: {end: {body: cart, directions: [tx]}}\n"
    "subsystems:\n"
    "  b:\n"
    "    type: multibody\n"
    "    gravity: [0, 0, 0]\n"
    "    bodies: {cart: {mass: 1 kg, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
    "    joints: {rail: {type: prismatic, bodies: [ground, cart], at: [0, 0, 0], axis: [1, 0, 0], start_rate: 0.1 "
    "m/s}}\n"
    "    forces: {spring: {type: joint-spring, joint: rail, stiffness: 400 N/m}}\n"
    "    interfaces: {start: {body: cart, directions: [tx]}}\n"
    "cosim: {macro_step: H, coupling: rim, exchange: hold, bonds: {a.end: b.start}, overrides: {b: {step: H/n}}}\n"
    "run: {duration: 1 s, bounds: {breakdown: 0}}\n";  // growth is what is looked at

// Impulses: v+ = v - H omega^2 (x + H/2 v), x+ = x + H (v + v+)/2 has z^2 - (2 - a) z + 1, a = (H omega)^2: the cut adds nothing, and
// what opens it is gone after a step.
static void cut_oscillator_is_stable_up_to_the_closed_form(void** state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        const double times[] = {0.1, 0.98, 1.02, 1.5};
        double H = 0.2 * times[i], a = 100.0 * H * H;
        // below the limit two eigenvalues of magnitude 1; observed 4e-10
        CHECK_NEAR(compute_radius(CARTS, H, "cosim.exchange=impulse"), root_of(2.0 - a, 1.0), 1e-8);
    }
    // the papers' exchange: each side takes a step of semi-implicit Euler with the other's model, which has the same limit
    CHECK_NEAR(compute_radius(CARTS, 0.196, NULL), 1.0, 1e-7);
    CHECK_NEAR(compute_radius(CARTS, 0.24, NULL), root_of(2.0 - 100.0 * 0.24 * 0.24, 1.0), 1e-7);
}

// Where the sides take different steps, the papers' exchange opens the cut more and more: disturbances grow in a run as the advice says.
static void held_models_let_the_cut_grow_at_the_advised_rate(void** state)
{
    (void)state;
    double radius = compute_radius(CARTS, 0.1, "parameters.n=4"), y[4] = {0.0};
    System s;
    start_at(&s, CARTS, 0.1, "parameters.n=4");
    for (int k = 0; k < 160; k++) {
        system_step(&s);
        memmove(y, y + 1, 3 * sizeof *y);
        y[3] = system_get(&s, "a.rail.displacement");
    }
    system_finish(&s);
    // by then only a pair of modes is left, y_k = c r^k cos(k phi + psi): r^2 = (y1 y3 - y2^2) / (y0 y2 - y1^2)
    double growth = sqrt((y[1] * y[3] - y[2] * y[2]) / (y[0] * y[2] - y[1] * y[1]));
    printf("radius %.9f, growth a step in a run %.9f\n", radius, growth);
    assert_true(radius > 1.05);
    CHECK_NEAR(growth, radius, 1e-7);
}

// A chain of three mechanisms whose hinges are springs.
static const char CHAIN[] =
    "parameters: {H: 10 ms}\n"
    "multibody:\n"
    "  name: a\n"
    "  gravity: [0, 0, 0]\n"
    "  bodies:\n"
    "    a1: {mass: 2 kg, com: [0.5 m, 0, 0], inertia: [0.01, 0.17, 0.17], position: [0, 0, 0]}\n"
    "  joints: {j1: {type: revolute, bodies: [ground, a1], at: [0, 0, 0], axis: [0, 1, 0]}}\n"
    "  forces: {s1: {type: joint-spring, joint: j1, stiffness: 200 N m/rad}}\n"
    "  interfaces: {end: {body: a1, point: [1 m, 0, 0]}}\n"
    "subsystems:\n"
    "  b:\n"
    "    type: multibody\n"
    "    gravity: [0, 0, 0]\n"
    "    bodies:\n"
    "      b1: {mass: 1 kg, com: [0.5 m, 0, 0], inertia: [0.01, 0.08, 0.08], position: [1 m, 0, 0]}\n"
    "      b2: {mass: 1.5 kg, com: [0.5 m, 0, 0], inertia: [0.01, 0.12, 0.12], position: [2 m, 0, 0]}\n"
    "    joints: {j2: {type: revolute, bodies: [b1, b2], at: [2 m, 0, 0], axis: [0, 1, 0], start_rate: 0.01 rad/s}}\n"
    "    forces: {s2: {type: joint-spring, joint: j2, stiffness: 300 N m/rad}}\n"
    "    interfaces: {start: {body: b1}, end: {body: b2, point: [1 m, 0, 0]}}\n"
    "  c:\n"
    "    type: multibody\n"
    "    gravity: [0, 0, 0]\n"
    "    bodies:\n"
    "      c1: {mass: 0.5 kg, com: [0.3 m, 0.2 m, 0], inertia: [0.02, 0.04, 0.03], position: [3 m, 0, 0]}\n"
    "      c2: {mass: 0.5 kg, com: [0.2 m, 0, 0], inertia: [0.01, 0.01, 0.01], position: [3.5 m, 0, 0]}\n"
    "    joints: {j3: {type: revolute, bodies: [c1, c2], at: [3.5 m, 0, 0], axis: [0, 0, 1]}}\n"
    "    forces: {s3: {type: joint-spring, joint: j3, stiffness: 20 N m/rad}}\n"
    "    interfaces: {start: {body: c1}}\n"
    "cosim: {macro_step: H, coupling: rim, bonds: {a.end: b.start, b.end: c.start}}\n"
    "run: {duration: 1 s}\n";

// The largest H between two that is stable, to 1 %.
static double find_limit(const char* text, const char* override, double stable, double unstable)
{
    assert_true(compute_radius(text, stable, override) <= 1.0 + MARGIN);
    assert_true(compute_radius(text, unstable, override) > 1.0 + MARGIN);
    while (unstable > 1.01 * stable) {
        double H = sqrt(stable * unstable);
        if (compute_radius(text, H, override) <= 1.0 + MARGIN) {
            stable = H;
        } else {
            unstable = H;
        }
    }
    return stable;
}

// What the advice calls stable stays small in a run, and what it does not call so does not.
static void check_limit(const char* text, const char* exchange, const char* output, double stable, double unstable)
{
    double limit = find_limit(text, exchange, stable, unstable), start = run(text, stable, exchange, output, 500);
    double below = run(text, 0.98 * limit, exchange, output, 500),
           above = run(text, 1.03 * limit, exchange, output, 500);
    printf("%s: stable up to %.4g ms; within 500 steps %s reaches %.2g below, %.2g above\n", exchange, 1e3 * limit,
           output, below, above);
    // near the limit oscillations are slow beats, and larger: ten times for 2 %
    assert_true(below < 30.0 * start);
    assert_true(above > 1e4 * start);
}

// An arm with servos at its two joints, in joint coordinates, and a tool at its hand, in absolute ones.
static const char ARM[] =
    "parameters: {H: 10 ms}\n"
    "multibody:\n"
    "  name: arm\n"
    "  gravity: [0, 0, 0]\n"
    "  bodies:\n"
    "    upper: {mass: 8 kg, com: [0.3 m, 0, 0], inertia: [0.02, 0.3, 0.3], position: [0, 0, 0]}\n"
    "    fore: {mass: 4 kg, com: [0.25 m, 0, 0], inertia: [0.01, 0.1, 0.1], position: [0.6 m, 0, 0]}\n"
    "  joints:\n"
    "    shoulder: {type: revolute, bodies: [ground, upper], at: [0, 0, 0], axis: [0, 0, 1], start: 0}\n"
    "    elbow: {type: revolute, bodies: [upper, fore], at: [0.6 m, 0, 0], axis: [0, 1, 0], start: 0}\n"
    "  forces:\n"
    "    s1: {type: servo, joint: shoulder, stiffness: 3000, damping: 20}\n"
    "    s2: {type: servo, joint: elbow, position: 1e-3, stiffness: 1000, damping: 4}\n"
    "  interfaces: {flange: {body: fore, point: [0.5 m, 0, 0]}}\n"
    "subsystems:\n"
    "  tool:\n"
    "    type: multibody\n"
    "    gravity: [0, 0, 0]\n"
    "    coordinates: absolute\n"
    "    bodies: {tool: {mass: 5 kg, com: [0.1 m, 0.05 m, 0], inertia: [0.03, 0.04, 0.05], position: [1.1 m, 0, 0]}}\n"
    "    interfaces: {mount: {body: tool}}\n"
    "cosim: {macro_step: H, coupling: rim, bonds: {arm.flange: tool.mount}}\n"
    "run: {duration: 1 s}\n";

static void arm_with_a_tool_is_stable_as_far_as_advised(void** state)
{
    (void)state;
    check_limit(ARM, "cosim.exchange=impulse", "arm.elbow.angle", 1e-3, 0.5);
    check_limit(ARM, "cosim.exchange=hold", "arm.elbow.angle", 1e-3, 0.5);
}

static void chain_of_three_is_stable_as_far_as_advised(void** state)
{
    (void)state;
    check_limit(CHAIN, "cosim.exchange=impulse", "b.j2.angle", 1e-3, 0.2);
    check_limit(CHAIN, "cosim.exchange=hold", "b.j2.angle", 1e-3, 0.2);
}

// The same crane in one piece and cut at its hook has the same radii, with predicted rates and with the interface model.
static void cut_crane_is_as_stable_as_the_whole_one(void** state)
{
    (void)state;
    const char* files[] = {ITM_SOURCE_DIR "/examples/crane-single.yaml", ITM_SOURCE_DIR "/examples/crane-cut.yaml"};
    for (ItmCoupling coupling = ITM_COUPLING_ZOH; coupling <= ITM_COUPLING_RIM; coupling++) {
        double radius[2];
        for (int k = 0; k < 2; k++) {
            System s = {0};
            ItmError error = {0};
            CHECK_OK(itm_file_load(&s.file, files[k], NULL, 0, &error), &error);
            s.file->cosim.bonds[0].options.coupling = coupling;  // the cylinder
            CHECK_OK(itm_file_create_cosim(&s.x, s.file, NULL, &error), &error);
            CHECK_OK(itm_cosim_compute_radius(s.x, 1, &radius[k]), itm_cosim_get_error(s.x));
            system_finish(&s);
        }
        printf("%-10s whole %.7f, cut %.7f\n", itm_cosim_coupling_name(coupling), radius[0], radius[1]);
        CHECK_NEAR(radius[1], radius[0], coupling == ITM_COUPLING_RIM ? MARGIN : 1e-6);
    }
}

// ---------------------------------------------------------------------------- one system for many steps

// A system that takes another macro step is the one that is built with it, bit for bit.
// The coupling is that of the first nbond bonds.
static void check_other_step(const char* path, double H, int nbond, ItmCoupling coupling, ItmExchange exchange)
{
    System s[2] = {0};
    double radius[2];
    ItmError error = {0};
    for (int k = 0; k < 2; k++) {
        CHECK_OK(itm_file_load(&s[k].file, path, NULL, 0, &error), &error);
        for (int i = 0; i < nbond; i++) {
            s[k].file->cosim.bonds[i].options.coupling = coupling;
            s[k].file->cosim.bonds[i].options.exchange = exchange;
        }
        if (k == 1) {
            s[k].file->cosim.options.macro_step = s[k].file->run.step.step = H;
        }
        CHECK_OK(itm_file_create_cosim(&s[k].x, s[k].file, NULL, &error), &error);
    }
    CHECK_OK(itm_cosim_step(s[0].x), itm_cosim_get_error(s[0].x));
    CHECK_OK(itm_cosim_set_macro_step(s[0].x, H), itm_cosim_get_error(s[0].x));
    for (int k = 0; k < 2; k++) {
        CHECK_OK(itm_cosim_compute_radius(s[k].x, 1, &radius[k]), itm_cosim_get_error(s[k].x));
        system_finish(&s[k]);
    }
    printf("%s at %g ms: %.17g\n", strrchr(path, '/') + 1, 1e3 * H, radius[1]);
    assert_true(radius[0] == radius[1]);
}

static void other_macro_step_is_that_of_a_new_system(void** state)
{
    (void)state;
    check_other_step(ITM_SOURCE_DIR "/examples/crane-single.yaml", 3e-3, 1, ITM_COUPLING_ZOH, ITM_EXCHANGE_HOLD);
    check_other_step(ITM_SOURCE_DIR "/examples/crane-single.yaml", 25e-3, 1, ITM_COUPLING_RIM, ITM_EXCHANGE_IMPULSE);
    check_other_step(ITM_SOURCE_DIR "/examples/crane-cut.yaml", 4e-3, 1, ITM_COUPLING_QUADRATIC, ITM_EXCHANGE_HOLD);
    check_other_step(ITM_SOURCE_DIR "/examples/manipulator.yaml", 12e-3, 2, ITM_COUPLING_RIM, ITM_EXCHANGE_HOLD);
    check_other_step(ITM_SOURCE_DIR "/examples/arm-manoeuvre1.yaml", 1.0 / 120.0, 1, ITM_COUPLING_RIM,
                     ITM_EXCHANGE_HOLD);
    // a step that does not fit is refused
    System s = system_load(ITM_SOURCE_DIR "/examples/crane-single.yaml", NULL, 0);
    assert_int_equal(itm_cosim_set_macro_step(s.x, 0.25e-3), ITM_ERR_INPUT);
    system_finish(&s);
}

// ---------------------------------------------------------------------------- components

// n pairs of carts, each joined at a frame; the springs differ.
static void write_pairs(char* text, size_t size, int n)
{
    static const char CART[] =
        "gravity: [0, 0, 0], bodies: {cart: {mass: %d kg, inertia: [1, 1, 1], position: [0, %d, 0]}}, "
        "joints: {rail: {type: prismatic, bodies: [ground, cart], at: [0, %d, 0], axis: [1, 0, 0]}}, "
        "forces: {spring: {type: joint-spring, joint: rail, stiffness: %d N/m}}, "
        "interfaces: {end: {body: cart, directions: [tx]}}}\n";
    char bonds[512] = "";
    size_t used = 0;
    for (int i = 0; i < 2 * n; i++) {
        used += i == 0 ? (size_t)snprintf(text + used, size - used, "multibody: {name: a0, ")
                       : (size_t)snprintf(text + used, size - used, "%s  %c%d: {type: multibody, ",
                                          i == 1 ? "subsystems:\n" : "", "ab"[i % 2], i / 2);
        used += (size_t)snprintf(text + used, size - used, CART, i % 2 == 0 ? 3 : 1, i / 2, i / 2,
                                 i % 2 == 0 ? 1 : 400 - i);
        if (i % 2 == 1) {
            snprintf(bonds + strlen(bonds), sizeof bonds - strlen(bonds), "%sa%d.end: b%d.end", i > 1 ? ", " : "",
                     i / 2, i / 2);
        }
    }
    snprintf(text + used, size - used,
             "cosim: {macro_step: 0.24 s, coupling: rim, bonds: {%s}}\nrun: {duration: 1 s}\n", bonds);
}

static bool count_calls(void* context)
{
    ++*(int*)context;
    return false;
}

static bool stop_at_five(void* context)
{
    return ++*(int*)context > 5;
}

// Copies are components of their own: all are disturbed in the trial steps of one, and the radius is that of the worst.
static void copies_are_disturbed_together(void** state)
{
    (void)state;
    static char text[8192];
    double radius[2];
    int ncall[2] = {0};
    for (int k = 0; k < 2; k++) {
        int n = k == 0 ? 1 : 5;
        write_pairs(text, sizeof text, n);
        System s = system_parse(text, NULL, 0);
        ItmStates states;
        assert_int_equal(itm_advice_states_create(&states, s.x, false), ITM_OK);
        assert_int_equal(states.ncomponent, n);
        assert_int_equal(states.n, n * (states.first[1] - states.first[0]));
        itm_advice_states_destroy(&states);
        CHECK_OK(itm_advice_compute_radius(s.x, 1, (ItmAdviceWatch){count_calls, &ncall[k]}, &radius[k]),
                 itm_cosim_get_error(s.x));
        system_finish(&s);
    }
    // the first pair has the stiffest spring, 399 N/m and 1 N/m, on 4 kg: omega = 10/s
    CHECK_NEAR(radius[0], root_of(2.0 - 100.0 * 0.24 * 0.24, 1.0), 1e-7);
    CHECK_NEAR(radius[1], radius[0], 1e-9);
    assert_int_equal(ncall[0], ncall[1]);
}

// Given up in the middle, the system is as it was.
static void trial_can_be_given_up(void** state)
{
    (void)state;
    System s = system_load(ITM_SOURCE_DIR "/examples/crane-single.yaml", NULL, 0);
    size_t size = itm_cosim_get_state_size(s.x);
    char *before = malloc(size), *after = malloc(size);
    int ncall = 0;
    double radius = NAN;
    itm_cosim_save(s.x, before, size);
    assert_int_equal(itm_advice_compute_radius(s.x, 1, (ItmAdviceWatch){stop_at_five, &ncall}, &radius),
                     ITM_ERR_CAPACITY);
    assert_int_equal(ncall, 6);
    itm_cosim_save(s.x, after, size);
    assert_memory_equal(before, after, size);
    free(before);
    free(after);
    system_finish(&s);
}

// ---------------------------------------------------------------------------- foreign subsystems

// A spring that integrates the rate it is told: its stretch is a state that nobody else knows.
typedef struct Spring {
    double k, stretch, w;
} Spring;

static void spring_set_motion(void* self, const double* s, const double* w, const double* w_end)
{
    (void)s;
    (void)w_end;
    ((Spring*)self)->w = w[0];
}

static void spring_get_forces(void* self, double* force)
{
    const Spring* x = self;
    force[0] = -x->k * x->stretch;
}

static ItmStatus spring_do_step(void* self, double t, double h, ItmError* error)
{
    Spring* x = self;
    (void)t;
    (void)error;
    x->stretch += h * x->w;
    return ITM_OK;
}

static void spring_reset(void* self)
{
    ((Spring*)self)->stretch = ((Spring*)self)->w = 0.0;
}

static void spring_get_states(void* self, double* x)
{
    x[0] = ((Spring*)self)->stretch;
}

static void spring_set_states(void* self, const double* x)
{
    ((Spring*)self)->stretch = x[0];
}

// A sled and the spring, rates held: v+ = v - H k/m y, y+ = y + H v has |z| = sqrt(1 + H^2 k/m).
static double compute_spring_radius(bool tells_state, char* opaque, size_t size)
{
    static const char* const PORTS[] = {"end"};
    static const char LONELY[] =
        "multibody:\n"
        "  gravity: [0, 0, 0]\n"
        "  bodies: {sled: {mass: 2 kg, inertia: [1, 1, 1], position: [0.5 m, 0, 0]}}\n"
        "  joints: {rail: {type: prismatic, bodies: [ground, sled], at: [0.5 m, 0, 0], axis: [1, 0, 0]}}\n"
        "  forces: {ram: {type: actuator, bodies: [ground, sled]}}\n";
    Spring spring = {.k = 50.0};
    ItmSubsystem table = {.self = &spring,
                          .nport = 1,
                          .port_names = PORTS,
                          .set_motion = spring_set_motion,
                          .get_forces = spring_get_forces,
                          .do_step = spring_do_step,
                          .reset = spring_reset,
                          .memory = &spring,
                          .memory_size = sizeof spring};
    if (tells_state) {
        table.nstate = 1;
        table.get_states = spring_get_states;
        table.set_states = spring_set_states;
    }
    ItmBondOptions zoh = {ITM_COUPLING_ZOH, ITM_EXCHANGE_HOLD, ITM_VARIABLES_VELOCITY_FORCE};
    ItmCosimOptions options = itm_default_cosim_options();
    options.macro_step = 0.1;
    ItmModelFile* file = NULL;
    ItmCosimBuilder* b = NULL;
    ItmCosim* x = NULL;
    ItmError error = {0};
    double radius = NAN;
    CHECK_OK(itm_file_parse(&file, LONELY, strlen(LONELY), "text", NULL, 0, &error), &error);
    CHECK_OK(itm_cosim_builder_create(&b, &error), &error);
    CHECK_OK(itm_cosim_builder_add_mechanism(b, "rig", file->model, NULL, NULL, &error), &error);
    CHECK_OK(itm_cosim_builder_add_subsystem(b, "spring", &table, 0.1, NULL, &error), &error);
    CHECK_OK(itm_cosim_builder_add_bond(b, 0, "ram", 0, "end", &zoh, &error), &error);
    CHECK_OK(itm_cosim_build(&x, b, &options, &error), &error);
    CHECK_OK(itm_cosim_compute_radius(x, 1, &radius), itm_cosim_get_error(x));
    const char* name = itm_cosim_get_unlinearised(x, 0);
    snprintf(opaque, size, "%s", name != NULL ? name : "");
    itm_cosim_destroy(x);
    itm_cosim_builder_destroy(b);
    itm_file_destroy(file);
    return radius;
}

static void state_of_a_foreign_subsystem_counts_where_it_tells(void** state)
{
    (void)state;
    char opaque[32];
    CHECK_NEAR(compute_spring_radius(true, opaque, sizeof opaque), sqrt(1.0 + 0.01 * 25.0), 1e-8);
    assert_string_equal(opaque, "");
    // otherwise it is named, and what it keeps in mind is missing
    assert_true(fabs(compute_spring_radius(false, opaque, sizeof opaque) - sqrt(1.25)) > 0.01);
    assert_string_equal(opaque, "spring");
}

static void subsystem_without_a_state_to_save_is_refused_by_name(void** state)
{
    (void)state;
    ItmSubsystem table = {.do_step = spring_do_step, .reset = spring_reset};
    ItmCosimBuilder* b = NULL;
    ItmError error = {0};
    CHECK_OK(itm_cosim_builder_create(&b, &error), &error);
    assert_int_equal(itm_cosim_builder_add_subsystem(b, "stranger", &table, 0.1, NULL, &error), ITM_ERR_ARGUMENT);
    assert_non_null(strstr(error.message, "'stranger' lacks a state that can be saved"));
    itm_cosim_builder_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servo_is_stable_up_to_the_closed_form),
        cmocka_unit_test(state_of_a_control_counts),
        cmocka_unit_test(control_that_samples_rarely_is_judged_over_its_period),
        cmocka_unit_test(delayed_control_is_stable_up_to_the_closed_form),
        cmocka_unit_test(cut_oscillator_is_stable_up_to_the_closed_form),
        cmocka_unit_test(held_models_let_the_cut_grow_at_the_advised_rate),
        cmocka_unit_test(chain_of_three_is_stable_as_far_as_advised),
        cmocka_unit_test(arm_with_a_tool_is_stable_as_far_as_advised),
        cmocka_unit_test(cut_crane_is_as_stable_as_the_whole_one),
        cmocka_unit_test(other_macro_step_is_that_of_a_new_system),
        cmocka_unit_test(copies_are_disturbed_together),
        cmocka_unit_test(trial_can_be_given_up),
        cmocka_unit_test(state_of_a_foreign_subsystem_counts_where_it_tells),
        cmocka_unit_test(subsystem_without_a_state_to_save_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
