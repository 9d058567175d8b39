// Laws of mechanisms joined at frames that hold in every coupling and exchange: a body that touches nothing changes nothing,
// interfaces that both sides hold stay where they are, and coupled runs converge to the machine in one piece.
#include "system.h"

#define CAPTURE ITM_SOURCE_DIR "/examples/arm-capture.yaml"
#define MANOEUVRE ITM_SOURCE_DIR "/examples/arm-manoeuvre2.yaml"
#define EVERY (1.0 / 12.0)  // s, at which runs are looked at

static const char* const COUPLINGS[][2] = {
    {"cosim.coupling=rim", "cosim.exchange=impulse"},           {"cosim.coupling=rim", "cosim.exchange=hold"},
    {"cosim.coupling=rim-nonsmooth", "cosim.exchange=impulse"}, {"cosim.coupling=rim-nonsmooth", "cosim.exchange=hold"},
    {"cosim.coupling=monolithic", "cosim.exchange=impulse"},
};
#define NCOUPLING ((int)(sizeof COUPLINGS / sizeof COUPLINGS[0]))

// ---------------------------------------------------------------------------- a body that touches nothing

// The arm carries its tool towards a box that lies on the ground, and the same without a box.
static void body_that_touches_nothing_changes_no_bit(void** state)
{
    (void)state;
    const char* tool = "subsystems.tool.bodies={tool: {mass: 50 kg, shape: {cylinder: {radius: r, "
                       "length: 0.50 m}, position: [0.25 m, 0, 0], "
                       "orientation: {axis: [0, 1, 0], angle: 90 deg}}, position: [7 m, 1 m, 2 m], "
                       "orientation: {axis: [0, 1, 0], angle: 90 deg}}}";
    const char* watched[] = {"tool.P.position.x", "tool.P.position.y", "tool.P.position.z", "tool.P.velocity.x",
                             "tool.P.velocity.z", "arm.theta1",        "arm.theta3",        "arm.theta4",
                             "arm.theta5",        "arm.theta7"};
    for (int i = 0; i < NCOUPLING; i++) {
        const char *with[] = {COUPLINGS[i][0], COUPLINGS[i][1]},
                   *without[] = {COUPLINGS[i][0],
                                 COUPLINGS[i][1],
                                 "subsystems.tool.events=[]",
                                 tool,
                                 "subsystems.tool.forces={}",
                                 "subsystems.tool.points={P: {body: tool, point: [0.5 m, 0, 0]}}"};
        System s = system_load(CAPTURE, with, 2), alone = system_load(CAPTURE, without, 6);
        for (int n = 1; n <= 12; n++) {
            system_step_to(&s, n * EVERY);
            system_step_to(&alone, n * EVERY);
            for (size_t k = 0; k < sizeof watched / sizeof watched[0]; k++) {
                double a = system_get(&s, watched[k]), b = system_get(&alone, watched[k]);
                if (a != b) {
                    fail_msg("%s, %s: %s at %g s is %.17g with a box on the ground and %.17g without", COUPLINGS[i][0],
                             COUPLINGS[i][1], watched[k], n * EVERY, a, b);
                }
            }
        }
        system_finish(&s);
        system_finish(&alone);
    }
}

// ---------------------------------------------------------------------------- locked interfaces

#define LOCK(joint) "{at: 9 s, lock: theta" #joint "}"

// At 9 s, while the box is dragged on its edge, all joints of the arm are locked: the arm cannot move at all, and tool and box not along
// two of six directions.
static void locked_interfaces_stay_locked(void** state)
{
    (void)state;
    const char* locks =
        "multibody.events=[" LOCK(1) ", " LOCK(2) ", " LOCK(3) ", " LOCK(4) ", " LOCK(5) ", " LOCK(6) ", " LOCK(7) "]";
    for (int i = 0; i < NCOUPLING; i++) {
        const char* sets[] = {COUPLINGS[i][0], COUPLINGS[i][1], locks};
        System s = system_load(CAPTURE, sets, 3);
        double moved = 0.0, speed = 0.0, gap = 0.0, place[3] = {0.0};
        for (int n = 1; n <= 120; n++) {
            for (double t = n * EVERY; itm_cosim_get_time(s.x) < t - 1e-9;) {
                system_step(&s);
                gap = fmax(gap, itm_cosim_get_frame_bond(s.x, 0).drift);
            }
            for (int k = 0; k < 3 && n >= 108; k++) {
                double at = system_get_component(&s, "tool.P.position", (char)('x' + k));
                place[k] = n == 108 ? at : place[k];
                moved = fmax(moved, fabs(at - place[k]));
                speed =
                    n > 108 ? fmax(speed, fabs(system_get_component(&s, "tool.box.velocity", (char)('x' + k)))) : 0.0;
            }
        }
        ItmFrameBondState bond = itm_cosim_get_frame_bond(s.x, 0);
        printf("%s, %s: locked at 9 s, P moves %.2g m afterwards, the box has up to %.2g m/s; gap "
               "of the interface up to %.2g m at %.3g s\n",
               COUPLINGS[i][0], COUPLINGS[i][1], moved, speed, gap, bond.drift_time);
        // the interface moves back what it was open by, and no more: observed 1.5e-7 m. A gap of a macro step is of order H^3 a, here
        // 5e-6 m/s^2 s^2 a with a below 2 m/s^2: observed up to 3.3e-6 m
        assert_true(moved < 1e-6);
        assert_true(speed < 1e-6);
        assert_true(gap < 1e-5);
        // reported is the largest value of the run, not the last
        assert_true(bond.largest_drift == gap);
        system_finish(&s);
    }
}

// ---------------------------------------------------------------------------- convergence

typedef struct Run {
    const char *file, *coupling, *exchange, *macro_step, *step_arm, *step_tool;
} Run;

static System load(const Run* r)
{
    const char* sets[] = {r->coupling, r->exchange, r->macro_step, r->step_arm, r->step_tool};
    return system_load(r->file, sets, 5);
}

// Largest distance of a point in two runs.
static double compare(const Run* a, const Run* b, const char* point, double duration)
{
    System s = load(a), t = load(b);
    double most = 0.0;
    for (int n = 1; n * EVERY <= duration + 1e-9; n++) {
        system_step_to(&s, n * EVERY);
        system_step_to(&t, n * EVERY);
        most = fmax(most, system_measure(&s, point, &t, point));
    }
    system_finish(&s);
    system_finish(&t);
    return most;
}

#define MACRO(n) "cosim.macro_step=(1/" #n ") s"
#define ARM(n) "cosim.overrides.arm.step=(1/" #n ") s"
#define TOOL(n) "cosim.overrides.tool.step=(1/" #n ") s"
#define HOLD "cosim.exchange=hold"
#define IMPULSE "cosim.exchange=impulse"
#define MONOLITHIC "cosim.coupling=monolithic"

static const char* const MACRO_STEPS[] = {MACRO(60), MACRO(120), MACRO(300)};
static const double BEYOND[] = {9.0, 4.0, 1.0};  // (H - h) / h at h = 1/600 s

// Runs at three macro steps against the run of the same kind with H = h: the error is that of models carried over more than one micro
// step, proportional to H - h.
static void check_order(Run run, const Run* limit, const char* point, double duration, double most)
{
    double error[3];
    for (int i = 0; i < 3; i++) {
        run.macro_step = MACRO_STEPS[i];
        error[i] = compare(&run, limit, point, duration);
    }
    printf("%s, %s, %s of %s: %.3g, %.3g, %.3g mm at H = 1/60, 1/120, 1/300 s\n", run.coupling, run.exchange, point,
           strrchr(run.file, '/') + 1, 1e3 * error[0], 1e3 * error[1], 1e3 * error[2]);
    assert_true(error[0] < most);
    // order 1 within half an order: observed 0.65 to 1.2
    for (int i = 1; i < 3; i++) {
        double order = log(error[i - 1] / error[i]) / log(BEYOND[i - 1] / BEYOND[i]);
        CHECK_NEAR(order, 1.0, 0.5);
    }
}

static void hold_converges_with_contact(void** state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const char* coupling = i == 0 ? "cosim.coupling=rim" : "cosim.coupling=rim-nonsmooth";
        Run run = {CAPTURE, coupling, HOLD, NULL, ARM(600), TOOL(600)}, limit = run;
        limit.macro_step = MACRO(600);
        // as good as an independent implementation, over a way of 3 m
        check_order(run, &limit, "tool.U.position", 12.0, i == 0 ? 1.9e-3 : 0.65e-3);
    }
}

// Before the wall is reached: all steps halved, half the error.
static void hold_converges_without_contact(void** state)
{
    (void)state;
    const char* coupling = "cosim.coupling=rim";
    Run runs[] = {{MANOEUVRE, coupling, HOLD, MACRO(60), ARM(600), TOOL(600)},
                  {MANOEUVRE, coupling, HOLD, MACRO(120), ARM(1200), TOOL(1200)}};
    Run limit = {MANOEUVRE, MONOLITHIC, IMPULSE, MACRO(2400), ARM(2400), TOOL(2400)};
    double error[2] = {compare(&runs[0], &limit, "tool.P.position", 4.0),
                       compare(&runs[1], &limit, "tool.P.position", 4.0)};
    printf("hold without contact: %.3g, %.3g mm at H = 1/60, 1/120 s\n", 1e3 * error[0], 1e3 * error[1]);
    assert_true(error[0] < 4e-3);
    CHECK_NEAR(log2(error[0] / error[1]), 1.0, 0.2);
}

// What is left at H = h is the rule of the own steps: order 1 in h.
static void hold_tends_to_the_monolithic_run(void** state)
{
    (void)state;
    Run coarse = {CAPTURE, "cosim.coupling=rim-nonsmooth", HOLD, MACRO(300), ARM(300), TOOL(300)};
    Run fine = {CAPTURE, "cosim.coupling=rim-nonsmooth", HOLD, MACRO(600), ARM(600), TOOL(600)};
    Run whole_coarse = coarse, whole_fine = fine;
    whole_coarse.coupling = whole_fine.coupling = MONOLITHIC;
    whole_coarse.exchange = whole_fine.exchange = IMPULSE;
    double error[2] = {compare(&coarse, &whole_coarse, "tool.U.position", 12.0),
                       compare(&fine, &whole_fine, "tool.U.position", 12.0)};
    printf("hold at H = h against monolithic: %.3g, %.3g mm at 1/300, 1/600 s\n", 1e3 * error[0], 1e3 * error[1]);
    assert_true(error[1] < 1.5e-3);
    CHECK_NEAR(log2(error[0] / error[1]), 1.0, 0.3);
}

static void smooth_models_with_impulses_converge_to_the_monolithic_run(void** state)
{
    (void)state;
    Run run = {CAPTURE, "cosim.coupling=rim", IMPULSE, NULL, ARM(600), TOOL(600)}, limit = run;
    limit.coupling = MONOLITHIC;
    limit.macro_step = MACRO(600);
    check_order(run, &limit, "tool.U.position", 12.0, 8e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(body_that_touches_nothing_changes_no_bit),
        cmocka_unit_test(locked_interfaces_stay_locked),
        cmocka_unit_test(hold_converges_with_contact),
        cmocka_unit_test(hold_converges_without_contact),
        cmocka_unit_test(hold_tends_to_the_monolithic_run),
        cmocka_unit_test(smooth_models_with_impulses_converge_to_the_monolithic_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
