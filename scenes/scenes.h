// What tests and benchmarks run: the shipped examples, and machines that no example has.
// A function that builds compiles a model, which the caller destroys; coordinates as asked.
#ifndef ITM_SCENES_SCENES_H
#define ITM_SCENES_SCENES_H

#include "interim/interim.h"

// ---------------------------------------------------------------------------- shipped examples

// examples/<name>.yaml with overrides as of `interim run --set` (noverride). A machine that is an example is loaded by this and
// built nowhere else, so that a test checks what a user runs. The caller destroys the file.
ItmStatus itm_example_load(ItmModelFile** file, const char* name, const char* const* overrides, int noverride,
                           ItmError* error);

// The seven-joint arm of examples/arm-effective-mass.yaml, rigid or with booms that bend, in motion and without the locks of the
// file, so that a step costs what the arm costs. Freedom 7 or 15.                       [flexible-rim, sections III-IV]
ItmStatus itm_example_load_arm(ItmModelFile** file, ItmCoordinates coordinates, bool is_flexible, ItmError* error);

// ---------------------------------------------------------------------------- benchmarks

// Seven-joint arm with a sphere welded on its tip, all links in a row: the dimensions that the programs of the peers have too
// (numbers.h), simpler than the papers' arm of the examples. Joints "joint1" ... "joint7", bodies "link1" ...
// "link7" and "tool". No torques; starts moving. Freedom 7.
ItmStatus itm_arm7_build(ItmModel** model, ItmCoordinates coordinates, bool has_gravity, ItmError* error);

// Chain of n rods with revolute joints about y and z in turn, held at one end. Joints "joint0" ...,
// bodies "link0" ...; the origin of a body is at its joint, its tip at (1, 0, 0). Freedom n.
ItmStatus itm_chain_build(ItmModel** model, ItmCoordinates coordinates, int n, ItmError* error);

// The same chain on joints with clearance, along and across the pins, in m.
ItmStatus itm_clearance_chain_build(ItmModel** model, ItmCoordinates coordinates, int n, double clearance,
                                    ItmError* error);

// n four-bar windows side by side (IFToMM benchmark A02) in the x-z plane, as bodies in space: of the
// six rows that close a window three are redundant. Bodies "upright0" ... "upright<n>" (origin below,
// along z), "coupler0" ... (along x). Freedom 1, in horizontal position n + 1.
ItmStatus itm_four_bar_build(ItmModel** model, ItmCoordinates coordinates, int n, ItmError* error);

// Wall of n bricks on the ground, every other course shifted by a quarter of a brick, and n bricks each
// alone on the ground. Bodies "brick0" ..., shapes "box0" ...; exact cone of friction, rigid. Freedom 6 n.
ItmStatus itm_wall_build(ItmModel** model, int n, ItmError* error);
// The wall with the contact option sleep_after, s.
ItmStatus itm_wall_build_sleeper(ItmModel** model, int n, double sleep_after, ItmError* error);
ItmStatus itm_floor_build(ItmModel** model, int n, ItmError* error);
// n boxes or spheres dropped on the ground in columns that lean a little. Bodies "piece0" ..., otherwise as above.
ItmStatus itm_pile_build(ItmModel** model, int n, bool is_round, ItmError* error);

// ---------------------------------------------------------------------------- orders of convergence

// Two rods of 1 m and 1 kg, "upper" and "lower", hinged about parallel axes; start at rest at these angles from
// hanging (the second relative to the first).
ItmStatus itm_double_pendulum_build(ItmModel** model, ItmCoordinates coordinates, double angle_upper,
                                    double angle_lower, ItmError* error);

// ---------------------------------------------------------------------------- every joint

// A swinging body "carrier", and on it "rider" by a joint "joint" of the given type, with generic inertia, skew
// frames, start values and rates on every free direction. Freedom 1 + itm_zoo_get_freedom(type).
ItmStatus itm_zoo_build_pair(ItmModel** model, ItmCoordinates coordinates, ItmJointType type, ItmError* error);
// A carrier that turns slowly in space, without gravity, and on a joint of the type a rotor of three different moments that spins at a
// rate, rad/s, in every rotation that the joint leaves (universal: about the first axis); on a joint without rotations a bearing with
// the rotor on an axle. Energy, momentum and angular momentum are constant.
ItmStatus itm_zoo_build_spin(ItmModel** model, ItmCoordinates coordinates, ItmJointType type, double rate,
                             ItmError* error);
// Freedoms that the joint leaves in the zoo (a generic joint has tx, tz, ry there).
int itm_zoo_get_freedom(ItmJointType type);

// One closed loop through every joint type, named by its type, from ground to ground over bodies
// "body1" ...; starts at rest under a skew gravity.
ItmStatus itm_zoo_build_loop(ItmModel** model, ItmCoordinates coordinates, ItmError* error);

// ---------------------------------------------------------------------------- closed loop with an actuator

// Crane whose head stays upright: parallelogram of "boom", "rod" and "head" closed by "rod_tip", with redundant rows, and
// the line actuator "cyl1" of examples/crane-single.yaml. Freedom 1, inertia about the foot
// (200/3 + 250 + 20/3 + 5 + 100) kg m^2, whatever the angle.
ItmStatus itm_parallel_crane_build(ItmModel** model, ItmCoordinates coordinates, ItmError* error);

#endif
