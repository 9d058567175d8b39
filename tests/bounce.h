// A machine that several tests run: mechanisms of a rod and of a ball.
#ifndef ITM_TESTS_BOUNCE_H
#define ITM_TESTS_BOUNCE_H

#define G "[0, 0, -9.81 m/s^2]\n"

// A ball at the end of a rod falls on the floor and bounces; rod and ball are mechanisms of their own.
static const char BOUNCE[] =
    "multibody:\n"
    "  name: a\n  gravity: " G "  bodies:\n    rod: {mass: 1 kg, com: [0.5 m, 0, 0], inertia: [0.001 kg m^2, 0.083 kg "
    "m^2, 0.083 kg m^2], position: [0, 0, 0]}\n"
    "  joints:\n    j: {type: revolute, bodies: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0], start: 0}\n"
    "  interfaces: {end: {body: rod, point: [1 m, 0, 0]}}\n"
    "subsystems:\n"
    "  b:\n    type: multibody\n    gravity: " G
    "    bodies:\n      ball: {mass: 1 kg, shape: {sphere: 0.1 m, collide: true, material: m}, position: [1 m, 0, 0]}\n"
    "    shapes:\n      floor: {body: ground, plane: [0, 0, 1], position: [0, 0, -0.3 m], material: m}\n"
    "    materials:\n      m: {friction: 0.3, restitution: 0.6}\n"
    "    interfaces: {start: {body: ball}}\n"
    "cosim:\n  macro_step: 20 ms\n  overrides: {a: {step: 1 ms}, b: {step: 1 ms}}\n"
    "  bonds: {a.end: b.start}\n";

#endif
