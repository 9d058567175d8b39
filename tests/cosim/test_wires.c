// Outputs of controls that drive motions, joint torques, servos and loads of a mechanism.
#include "system.h"

// A rod of 2 kg and 1 kg m^2 at its hinge's end of 0.5 m: 1.5 kg m^2 about the hinge; and a control with block `out`.
#define ROD(driven, out)                                                                                               \
    "multibody:\n"                                                                                                     \
    "  name: rig\n"                                                                                                    \
    "  gravity: [0, 0, 0]\n"                                                                                           \
    "  coordinates: joint\n"                                                                                           \
    "  bodies: {rod: {mass: 2 kg, inertia: [1, 1, 1], position: [0.5 m, 0, 0]}}\n"                                     \
    "  joints: {hinge: {type: revolute, bodies: [ground, rod], at: [0, 0, 0], axis: [0, 0, 1], start: 0.3}}\n"         \
    "  " driven "\n"                                                                                                   \
    "subsystems: {control: {type: control, step: 2 ms, blocks: {out: " out "}}}\n"                                     \
    "run: {step: 2 ms, duration: 1 s}\n"

static const char* const COORDINATES[] = {"multibody.coordinates=joint", "multibody.coordinates=absolute"};

// Straight from sample to sample, each reached a step later.
static void control_drives_a_position(void** state)
{
    (void)state;
    static const char TEXT[] = ROD("motions: {drive: {joint: hinge, position: control.out}}", "0.3 + 0.2*sin(5*time)");
    for (int i = 0; i < 2; i++) {
        System s;
        s = system_parse(TEXT, &COORDINATES[i], 1);
        for (int k = 1; k <= 400; k++) {
            system_step(&s);
            double t = 2e-3 * (k - 1), last = k > 1 ? 0.3 + 0.2 * sin(5.0 * (t - 2e-3)) : 0.3;
            // joint coordinates: rounding; absolute: gaps of rows are closed to 1e-12
            CHECK_NEAR(system_get(&s, "rig.hinge.angle"), 0.3 + 0.2 * sin(5.0 * t), 1e-11);
            CHECK_NEAR(system_get(&s, "rig.hinge.angle_rate"), (0.3 + 0.2 * sin(5.0 * t) - last) / 2e-3, 1e-8);
        }
        // the torque is that of the mean acceleration over the last two steps: 1.5 kg m^2 times the second difference
        double a = (sin(5.0 * 0.798) - 2.0 * sin(5.0 * 0.796) + sin(5.0 * 0.794)) * 0.2 / 4e-6;
        CHECK_NEAR(system_get(&s, "rig.drive.torque"), 1.5 * a, 1e-5);
        system_finish(&s);
    }
}

static void control_drives_a_velocity(void** state)
{
    (void)state;
    static const char TEXT[] = ROD("motions: {drive: {joint: hinge, velocity: control.out}}", "3*time");
    for (int i = 0; i < 2; i++) {
        System s;
        s = system_parse(TEXT, &COORDINATES[i], 1);
        for (int k = 1; k <= 100; k++) {
            system_step(&s);
            CHECK_NEAR(system_get(&s, "rig.hinge.angle_rate"), 3.0 * 2e-3 * (k - 1), 1e-11);
        }
        system_finish(&s);
    }
}

// phi'' = torque / 1.5 kg m^2, by impulses of 2 ms: rates are exact for torques that are straight in time.
static void control_drives_a_torque(void** state)
{
    (void)state;
    static const char TEXT[] = ROD("motions: {drive: {joint: hinge, force: control.out}}", "6 - 12*time");
    for (int i = 0; i < 2; i++) {
        System s;
        s = system_parse(TEXT, &COORDINATES[i], 1);
        double rate = 0.0;
        for (int k = 0; k < 200; k++) {
            system_step(&s);
            rate += 2e-3 * (6.0 - 12.0 * 2e-3 * k) / 1.5;
            CHECK_NEAR(system_get(&s, "rig.hinge.angle_rate"), rate, 1e-12);
        }
        system_finish(&s);
    }
}

// A load and the two signals of a servo, each from a block, against the same from signals: constant ones are the same at all times
// but the first step, in which the servo's target goes there.
static void control_drives_servo_and_load(void** state)
{
    (void)state;
#define FORCES(a, b, c)                                                                                                \
    "forces: {arm: {type: servo, joint: hinge, position: " a ", feedforward: " b ", stiffness: 50, damping: 8},\n"     \
    "           push: {type: force, body: rod, vector: [0, 2 N, 0], signal: " c "}}"
    static const char DRIVEN[] = ROD(FORCES("control.out", "control.two", "control.three"), "0, two: 1.5, three: 0.7");
    static const char PLAIN[] = ROD(FORCES("0", "1.5", "0.7"), "0");
    System a, b;
    a = system_parse(DRIVEN, NULL, 0);
    b = system_parse(PLAIN, NULL, 0);
    for (int k = 0; k < 300; k++) {
        system_step(&a);
        system_step(&b);
        CHECK_NEAR(system_get(&a, "rig.hinge.angle"), system_get(&b, "rig.hinge.angle"), 1e-13);
    }
    assert_true(fabs(system_get(&a, "rig.hinge.angle") - 0.3) > 0.1);
    system_finish(&a);
    system_finish(&b);
}

// A motor with a force limit follows as far as it can: 3 N m move 1.5 kg m^2 with 2 rad/s^2, not with 4.
static void control_drives_a_motor_with_a_limit(void** state)
{
    (void)state;
    static const char TEXT[] =
        ROD("motions: {drive: {joint: hinge, velocity: control.out, max_force: 3 N m}}", "\"4*min(time, 0.1)\"");
    System s;
    s = system_parse(TEXT, NULL, 0);
    for (int k = 1; k <= 200; k++) {
        system_step(&s);
        double t = 2e-3 * k;
        // it has caught up with 0.4 rad/s after 0.2 s
        CHECK_NEAR(system_get(&s, "rig.hinge.angle_rate"), fmin(2.0 * t, 0.4), 4.0 * 2e-3 + 1e-9);
    }
    system_finish(&s);
}

// The same motor where it is solved in the interface model of two carts, 1 kg and 0.5 kg, that move together: 3 N give 2 m/s^2. The first sample
// is 0, so it begins at the second meeting.
static void control_drives_a_motor_inside_an_interface_model(void** state)
{
    (void)state;
    static const char TEXT[] =
        "multibody:\n"
        "  name: a\n"
        "  gravity: [0, 0, 0]\n"
        "  bodies: {cart: {mass: 1 kg, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
        "  joints: {rail: {type: prismatic, bodies: [ground, cart], at: [0, 0, 0], axis: [1, 0, 0]}}\n"
        "  motions: {drive: {joint: rail, velocity: control.out, max_force: 3 N}}\n"
        "  interfaces: {end: {body: cart, directions: [tx]}}\n"
        "subsystems:\n"
        "  b:\n"
        "    type: multibody\n"
        "    gravity: [0, 0, 0]\n"
        "    bodies: {cart: {mass: 0.5 kg, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
        "    joints: {rail: {type: prismatic, bodies: [ground, cart], at: [0, 0, 0], axis: [1, 0, 0]}}\n"
        "    interfaces: {start: {body: cart, directions: [tx]}}\n"
        "  control: {type: control, step: 10 ms, blocks: {out: \"4*min(time, 0.1)\"}}\n"
        "cosim: {macro_step: 10 ms, coupling: rim-nonsmooth, bonds: {a.end: b.start}, overrides: {a: {step: 1 ms}}}\n"
        "run: {duration: 1 s}\n";
    System s;
    s = system_parse(TEXT, NULL, 0);
    for (int k = 1; k <= 40; k++) {
        system_step(&s);
        // rounding
        CHECK_NEAR(system_get(&s, "b.rail.displacement_rate"), fmin(0.02 * (k - 1), 0.4), 1e-12);
    }
    system_finish(&s);
}

// A cart of 2 kg that an actuator pushes: 2 * 3 + 4 = 10 N through the wire are 10 N of the control, bit for bit.
static void a_wire_scales_and_shifts(void** state)
{
    (void)state;
#define CART(out, wire)                                                                                                \
    "multibody:\n"                                                                                                     \
    "  name: rig\n"                                                                                                    \
    "  gravity: [0, 0, 0]\n"                                                                                           \
    "  bodies: {cart: {mass: 2 kg, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"                                        \
    "  joints: {rail: {type: prismatic, bodies: [ground, cart], at: [0, 0, 0], axis: [1, 0, 0]}}\n"                    \
    "  forces: {push: {type: actuator, bodies: [ground, cart], point_a: [-1, 0, 0], point_b: [0, 0, 0]}}\n"            \
    "subsystems: {control: {type: control, step: 2 ms, blocks: {out: " out "}}}\n"                                     \
    "cosim: {macro_step: 2 ms, wires: {rig.push: " wire "}}\n"                                                         \
    "run: {step: 2 ms, duration: 1 s}\n"
    System a, b;
    a = system_parse(CART("3", "{from: control.out, factor: 2, offset: 4}"), NULL, 0);
    b = system_parse(CART("10", "control.out"), NULL, 0);
    for (int k = 0; k < 50; k++) {
        system_step(&a);
        system_step(&b);
        assert_true(system_get(&a, "rig.rail.displacement_rate") == system_get(&b, "rig.rail.displacement_rate"));
    }
    // 5 m/s^2 for 0.1 s; the first sample may come a step late
    CHECK_NEAR(system_get(&a, "rig.rail.displacement_rate"), 0.5, 0.01 + 1e-12);
    system_finish(&a);
    system_finish(&b);
}

static void what_is_told_is_part_of_the_state(void** state)
{
    (void)state;
    static const char TEXT[] = ROD("motions: {drive: {joint: hinge, position: control.out}}", "0.3 + 0.2*sin(5*time)");
    System a, b;
    a = system_parse(TEXT, NULL, 0);
    b = system_parse(TEXT, NULL, 0);
    for (int k = 0; k < 20; k++) {
        system_step(&a);
    }
    size_t size = itm_cosim_get_state_size(a.x);
    void* bytes = malloc(size);
    CHECK_OK(itm_cosim_save(a.x, bytes, size), itm_cosim_get_error(a.x));
    CHECK_OK(itm_cosim_restore(b.x, bytes, size), itm_cosim_get_error(b.x));
    free(bytes);
    for (int k = 0; k < 20; k++) {
        system_step(&a);
        system_step(&b);
        assert_memory_equal(a.y, b.y, sizeof(double) * (size_t)itm_cosim_get_output_count(a.x));
    }
    system_finish(&a);
    system_finish(&b);
}

static void refuse(const char* text, int line, const char* words)
{
    ItmModelFile* file = NULL;
    ItmCosim* x = NULL;
    ItmError error = {0};
    ItmStatus status = itm_file_parse(&file, text, strlen(text), "text", NULL, 0, &error);
    status = status == ITM_OK ? itm_file_create_cosim(&x, file, NULL, &error) : status;
    if (status == ITM_OK || error.line != line || strstr(error.message, words) == NULL) {
        fail_msg("expected line %d, '%s', got %d, '%s'", line, words, error.line, error.message);
    }
    itm_cosim_destroy(x);
    itm_file_destroy(file);
}

static void bad_drives_are_refused_where_they_stand(void** state)
{
    (void)state;
    refuse(ROD("motions: {drive: {joint: hinge, position: control.outt}}", "1"), 7, "out");
    refuse(ROD("motions: {drive: {joint: hinge, position: contrl.out}}", "1"), 7, "control");
    refuse("multibody:\n"
           "  bodies: {rod: {mass: 2 kg, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
           "  joints: {hinge: {type: revolute, bodies: [ground, rod], at: [0, 0, 0], axis: [0, 0, 1]}}\n"
           "  motions: {drive: {joint: hinge, velocity: control.out}}\n"
           "subsystems: {control: {type: control, step: 2 ms, blocks: {out: 1}}}\n"
           "run: {step: 2 ms, duration: 1 s}\n",
           4, "needs a 'name'");
    // a motion that a signal of the file drives cannot be driven by a wire, and none takes two
    refuse("multibody:\n"
           "  name: rig\n"
           "  bodies: {rod: {mass: 2 kg, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
           "  joints: {hinge: {type: revolute, bodies: [ground, rod], at: [0, 0, 0], axis: [0, 0, 1]}}\n"
           "  motions: {drive: {joint: hinge, velocity: 1 rad/s}}\n"
           "subsystems: {control: {type: control, step: 2 ms, blocks: {out: 1}}}\n"
           "cosim: {macro_step: 2 ms, wires: {rig.drive: control.out}}\n"
           "run: {duration: 1 s}\n",
           7, "rig.drive");
    refuse("multibody:\n"
           "  name: rig\n"
           "  bodies: {rod: {mass: 2 kg, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"
           "  joints: {hinge: {type: revolute, bodies: [ground, rod], at: [0, 0, 0], axis: [0, 0, 1]}}\n"
           "  motions: {drive: {joint: hinge, velocity: control.out}}\n"
           "subsystems: {control: {type: control, step: 2 ms, blocks: {out: 1}}}\n"
           "cosim: {macro_step: 2 ms, wires: {rig.drive: control.out}}\n"
           "run: {duration: 1 s}\n",
           7, "two wires end at 'rig.drive'");
}

static void signals_are_told_through_the_api(void** state)
{
    (void)state;
    System s;
    s = system_parse(ROD("motions: {drive: {joint: hinge, velocity: control.out}}", "1"), NULL, 0);
    const ItmModel* m = itm_cosim_get_model(s.x, 0);
    ItmData* d = itm_cosim_get_data(s.x, 0);
    int signal = itm_model_find_signal(m, "drive:signal");
    assert_int_not_equal(signal, ITM_NONE);
    assert_int_equal(itm_model_find_signal(m, "nothing"), ITM_NONE);
    assert_int_equal(itm_data_set_signal(m, d, signal, 1.0, 0.1), ITM_OK);
    assert_int_equal(itm_data_set_signal(m, d, signal, INFINITY, 0.1), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_data_set_signal(m, d, signal, 1.0, 0.0), ITM_ERR_ARGUMENT);
    assert_int_equal(itm_data_set_signal(m, d, 99, 1.0, 0.1), ITM_ERR_ARGUMENT);
    system_finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_drives_a_position),
        cmocka_unit_test(control_drives_a_velocity),
        cmocka_unit_test(control_drives_a_torque),
        cmocka_unit_test(control_drives_servo_and_load),
        cmocka_unit_test(control_drives_a_motor_with_a_limit),
        cmocka_unit_test(control_drives_a_motor_inside_an_interface_model),
        cmocka_unit_test(a_wire_scales_and_shifts),
        cmocka_unit_test(what_is_told_is_part_of_the_state),
        cmocka_unit_test(bad_drives_are_refused_where_they_stand),
        cmocka_unit_test(signals_are_told_through_the_api),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
