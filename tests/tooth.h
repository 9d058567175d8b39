// A tooth that leaves a face within a macro step: a cylinder pushes a carriage; the tooth slides in it, up and down, over a ledge that ends at
// x = 0.1 m, and falls on a floor 20 mm below.
#ifndef ITM_TESTS_TOOTH_H
#define ITM_TESTS_TOOTH_H

#define TOOTH_MECHANISM                                                                                                \
    "multibody:\n  name: m\n"                                                                                          \
    "  materials: {steel: {friction: 0.3}}\n"                                                                          \
    "  bodies:\n"                                                                                                      \
    "    carriage: {mass: 50 kg, inertia: [1 kg m^2, 1 kg m^2, 1 kg m^2], position: [0, 0, 0.5 m]}\n"                  \
    "    tooth: {mass: 20 kg, shape: {box: [40 mm, 40 mm, 100 mm], collide: true, material: steel},\n"                 \
    "            position: [0, 0, 50 mm]}\n"                                                                           \
    "  joints:\n"                                                                                                      \
    "    rail: {type: prismatic, bodies: [ground, carriage], at: [0, 0, 0.5 m], axis: [1, 0, 0]}\n"                    \
    "    guide: {type: prismatic, bodies: [carriage, tooth], at: [0, 0, 50 mm], axis: [0, 0, 1]}\n"                    \
    "  forces:\n"                                                                                                      \
    "    cyl: {type: actuator, bodies: [ground, carriage], at_a: [-2 m, 0, 0.5 m], at_b: [0, 0, 0.5 m]}\n"             \
    "  shapes:\n"                                                                                                      \
    "    ledge: {body: ground, box: [1 m, 1 m, 0.1 m], position: [-0.4 m, 0, -50 mm], material: steel}\n"              \
    "    floor: {body: ground, plane: [0, 0, 1], position: [0, 0, -20 mm], material: steel}\n"

#define TOOTH_OIL                                                                                                      \
    "subsystems:\n  hydraulics:\n    type: hydraulics\n    step: 0.1 ms\n"                                             \
    "    nodes:\n"                                                                                                     \
    "      supply: {type: pressure-source, pressure: 60 bar}\n"                                                        \
    "      back: {type: pressure-source, pressure: 10 bar}\n"                                                          \
    "      a: {type: volume, volume: 1 l, pressure: 10 bar}\n"                                                         \
    "    elements:\n"                                                                                                  \
    "      throttle: {type: laminar, ports: [supply, a], conductance: 1e-10 m^3/s/Pa}\n"                               \
    "      cyl: {type: cylinder, ports: [a, back], bore: 40 mm, stroke: 4 m, viscous: 500 N s/m}\n"

#define TOOTH_BONDS "cosim: {macro_step: 50 ms, coupling: rim, bonds: {m.cyl: hydraulics.cyl}}\n"

#define TOOTH TOOTH_MECHANISM TOOTH_OIL TOOTH_BONDS

#endif
