// Electric drives and winches against closed forms.
#include "system.h"

#include <math.h>

// Two rotors that the backlash of their gearboxes leaves alone: a DC motor on a constant voltage, a synchronous one on a current.
static const char ROTORS[] =
    "multibody:\n"
    "  name: rig\n"
    "  gravity: [0, 0, 0]\n"
    "  bodies:\n"
    "    a: {mass: 1 kg, inertia: [1, 1, 1], position: [0, 0, 0]}\n"
    "    b: {mass: 1 kg, inertia: [1, 1, 1], position: [1 m, 0, 0]}\n"
    "  joints:\n"
    "    pin_a: {type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}\n"
    "    pin_b: {type: revolute, bodies: [ground, b], at: [1 m, 0, 0], axis: [0, 0, 1]}\n"
    "  forces:\n"
    "    a1: {type: actuator, joint: pin_a}\n"
    "    b1: {type: actuator, joint: pin_b}\n"
    "subsystems:\n"
    "  drives:\n"
    "    type: drive\n"
    "    step: 0.1 ms\n"
    "    motors:\n"
    "      dc: {type: dc, resistance: 0.5 V/A, inductance: 2 mV*s/A, torque_constant: 0.2 N m/A, inertia: 1e-3 kg m^2,\n"
    "           viscous: 1e-3 N m s, ratio: 10, stiffness: 1 kN m/rad, backlash: 1e6, mode: voltage, command: 24 V}\n"
    "      ac: {type: pmsm, resistance: 0.5 V/A, inductance: 2 mV*s/A, inductance_d: 1.5 mV*s/A, torque_constant: 0.6 N m/A,\n"
    "           pole_pairs: 4, inertia: 1e-2 kg m^2, stiffness: 1 kN m/rad, backlash: 1e6, mode: current, command: 5 A,\n"
    "           current_bandwidth: 1000 rad/s}\n"
    "cosim:\n"
    "  macro_step: 10 ms\n"
    "  bonds: {rig.a1: drives.dc, rig.b1: drives.ac}\n";

// L i' = u - R i - k w, J w' = k i - c w from rest: w = w_oo (1 - (s_2 e^(s_1 t) - s_1 e^(s_2 t)) / (s_2 - s_1)) with the roots of
// L J s^2 + (L c + R J) s + R c + k^2 = 0, because w' = 0 at the start.
static void dc_motor_runs_up_as_the_closed_form(void** state)
{
    (void)state;
    double R = 0.5, L = 2e-3, k = 0.2, J = 1e-3, c = 1e-3;
    double a = (L * c + R * J) / (2.0 * L * J), b = (R * c + k * k) / (L * J), omega = sqrt(b - a * a);
    System s = system_parse(ROTORS, NULL, 0);
    for (double t = 0.01; t < 0.1; t += 0.01) {
        system_step_to(&s, t);
        double w = 24.0 * k / (R * c + k * k) * (1.0 - exp(-a * t) * (cos(omega * t) + a / omega * sin(omega * t)));
        // Runge-Kutta of order 4 with |s| h = 0.015: 1e-10 per step
        CHECK_NEAR(system_get(&s, "drives.dc.motor_rate"), w, 1e-5);
    }
    system_finish(&s);
}

// The current control cancels the electrical pole: i = I (1 - e^(-b t)), and the axes do not disturb each other.
static void synchronous_motor_follows_its_current(void** state)
{
    (void)state;
    System s = system_parse(ROTORS, NULL, 0);
    for (double t = 0.01; t < 0.1; t += 0.01) {
        system_step_to(&s, t);
        double rise = 1.0 - exp(-1000.0 * t), w = 0.6 * 5.0 / 1e-2 * (t - rise / 1000.0);
        // b h = 0.1: Runge-Kutta errs by (b h)^5 / 120 per step in the first milliseconds
        CHECK_NEAR(system_get(&s, "drives.ac.current"), 5.0 * rise, 1e-6);
        CHECK_NEAR(system_get(&s, "drives.ac.current_d"), 0.0, 1e-9);
        CHECK_NEAR(system_get(&s, "drives.ac.motor_rate"), w, 1e-4);
    }
    system_finish(&s);
}

// A load on two parts of rope below a sheave.
static const char WINCH[] =
    "parameters: {v0: 0, load: 981}\n"
    "multibody:\n"
    "  name: rig\n"
    "  bodies:\n"
    "    load: {mass: 200 kg, inertia: [1, 1, 1], position: [0, 0, -5 m], velocity: [0, 0, v0 * 1 m/s]}\n"
    "  joints:\n"
    "    guide: {type: prismatic, bodies: [ground, load], at: [0, 0, 0], axis: [0, 0, 1]}\n"
    "  forces:\n"
    "    rope: {type: actuator, bodies: [ground, load], at_a: [0, 0, 0], at_b: [0, 0, -5 m]}\n"
    "subsystems:\n"
    "  drives:\n"
    "    type: drive\n"
    "    step: 0.2 ms\n"
    "    motors:\n"
    "      rope: {type: dc, resistance: 0.5 V/A, inductance: 2 mV*s/A, torque_constant: 0.5 N m/A, inertia: 0.01 kg m^2,\n"
    "             ratio: 20, stiffness: 500 kN/m, damping: 1 kN s/m, drum_radius: 0.1 m, parts: 2, mode: position,\n"
    "             command: 5 m, position_gain: 10 Hz, speed_gain: 2 A*s, speed_integral: 20 A, start_load: load * 1 N}\n"
    "cosim:\n"
    "  macro_step: 20 ms\n"
    "  bonds: {rig.rope: drives.rope}\n";

// Two parts carry m g / 2 each; the brake of position control keeps the load where it is.
static void rope_holds_the_load(void** state)
{
    (void)state;
    System s = system_parse(WINCH, NULL, 0);
    for (int k = 0; k < 50; k++) {
        system_step(&s);
        CHECK_NEAR(system_get(&s, "drives.rope.tension"), 200.0 * 9.81 / 2.0, 0.2);
        CHECK_NEAR(system_get(&s, "rig.rope.length"), 5.0, 1e-5);
    }
    system_finish(&s);
}

// A rope does not push: thrown upwards, the load flies freely until the rope is tight again.
static void slack_rope_lets_the_load_fly(void** state)
{
    (void)state;
    const char* overrides[] = {"parameters.v0=3"};
    System s = system_parse(WINCH, overrides, 1);
    system_step_to(&s, 0.1);
    double z0 = system_get(&s, "rig.load.position.z"), v0 = system_get(&s, "rig.load.velocity.z");
    for (double t = 0.12; t < 0.5; t += 0.02) {
        system_step_to(&s, t);
        double tau = t - 0.1;
        CHECK_NEAR(system_get(&s, "drives.rope.tension"), 0.0, 1e-12);
        CHECK_NEAR(system_get(&s, "rig.load.position.z"), z0 + v0 * tau - 0.5 * 9.81 * tau * tau, 1e-9);
    }
    system_step_to(&s, 3.0);
    CHECK_NEAR(system_get(&s, "drives.rope.tension"), 981.0, 20.0);
    system_finish(&s);
}

static void bad_drives_are_refused(void** state)
{
    (void)state;
    const char* no_ratio[] = {"subsystems.drives.motors.rope.ratio=0"};
    system_refuse(WINCH, no_ratio, 1, "ratio must be finite and not 0");
    const char* pushes[] = {"parameters.load=-1"};
    system_refuse(WINCH, pushes, 1, "a rope cannot push");
    const char* mode[] = {"subsystems.drives.motors.rope.mode=torque"};
    system_refuse(WINCH, mode, 1, "mode");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dc_motor_runs_up_as_the_closed_form),
        cmocka_unit_test(synchronous_motor_follows_its_current),
        cmocka_unit_test(rope_holds_the_load),
        cmocka_unit_test(slack_rope_lets_the_load_fly),
        cmocka_unit_test(bad_drives_are_refused),
    };
    return cmocka_run_group_tests_name("drive", tests, NULL, NULL);
}
