// Mechanisms shared by tests, examples and benchmarks, built through the public API.
// Each function compiles a model that the caller destroys; coordinates as asked.
#ifndef ITM_SCENES_SCENES_H
#define ITM_SCENES_SCENES_H

#include "interim/interim.h"

// ---------------------------------------------------------------------------- benchmarks

// Seven-joint arm with a sphere welded on its tip. Joints "joint1" ... "joint7", bodies "link1" ...
// "link7" and "tool". No torques; starts moving. Freedom 7.
ItmStatus itm_arm7_build(ItmModel** model, ItmCoordinates coordinates, bool has_gravity,
                         ItmError* error);

// Seven-joint arm of aluminium cylinders, no gravity, which starts at these joint angles with small rates. Its booms "link3"
// and "link4" are rigid or flexible, with two clamped-free modes a plane and 2 % damping. Joints "joint1" ... "joint7", bodies
// "link1" ... "link7". Freedom 7 or 15.                                            [flexible-rim, sections III-IV]
ItmStatus itm_flexible_arm_build(ItmModel** model, ItmCoordinates coordinates, bool is_flexible, const double angles[7],
                                 ItmError* error);

// Chain of n rods with revolute joints about y and z in turn, held at one end. Joints "joint0" ...,
// bodies "link0" ...; the origin of a body is at its joint, its tip at (1, 0, 0). Freedom n.
ItmStatus itm_chain_build(ItmModel** model, ItmCoordinates coordinates, int n, ItmError* error);

// The same chain on loose joints: play along and across the pins, in m.
ItmStatus itm_loose_chain_build(ItmModel** model, ItmCoordinates coordinates, int n, double clearance, ItmError* error);

// n four-bar windows side by side (IFToMM benchmark A02) in the x-z plane, as bodies in space: of the
// six rows that close a window three are redundant. Bodies "upright0" ... "upright<n>" (origin below,
// along z), "coupler0" ... (along x). Freedom 1, in horizontal position n + 1.
ItmStatus itm_four_bar_build(ItmModel** model, ItmCoordinates coordinates, int n, ItmError* error);

// Bricard's six-bar (IFToMM benchmark A04): five rods of 1 m, 1 kg and 0.1 m square section along the
// edges of a cube, six revolute joints at its corners, each axis perpendicular to the next. Gravity
// along -y. Bodies "rod1" ... "rod5" with their origins in the middle. Freedom 1, one row redundant.
ItmStatus itm_bricard_build(ItmModel** model, ItmCoordinates coordinates, ItmError* error);

// Wall of n bricks on the ground, every other course shifted by a quarter of a brick, and n bricks each
// alone on the ground. Bodies "brick0" ..., shapes "box0" ...; exact cone of friction, rigid. Freedom 6 n.
ItmStatus itm_wall_build(ItmModel** model, int n, ItmError* error);
ItmStatus itm_floor_build(ItmModel** model, int n, ItmError* error);

// ---------------------------------------------------------------------------- closed forms

// Rod of 1 m and 1 kg, "rod", hinged at its end by "hinge"; starts at rest, `amplitude` from hanging.
ItmStatus itm_pendulum_build(ItmModel** model, ItmCoordinates coordinates, double amplitude,
                             ItmError* error);
// Its period at any amplitude below pi, by the complete elliptic integral.
double itm_pendulum_compute_period(double amplitude);

// Two such rods, "upper" and "lower", hinged about parallel axes; start at rest at these angles from
// hanging (the second relative to the first).
ItmStatus itm_double_pendulum_build(ItmModel** model, ItmCoordinates coordinates,
                                    double angle_upper, double angle_lower, ItmError* error);

// Heavy symmetric top, "top", on a spherical joint at its tip, tilted by `tilt` and set going so that it
// precesses steadily, without nutation.
ItmStatus itm_top_build(ItmModel** model, ItmCoordinates coordinates, double tilt, ItmError* error);
// The rate of that precession about the vertical, rad/s.
double itm_top_compute_precession(double tilt);

// Free body "body" with three different moments of inertia, no gravity, turning almost about the
// middle one: it tumbles.
ItmStatus itm_free_body_build(ItmModel** model, ItmCoordinates coordinates, ItmError* error);

// ---------------------------------------------------------------------------- every joint

// A swinging body "carrier", and on it "rider" by a joint "joint" of the given type, with generic inertia, skew
// frames, start values and rates on every free direction. Freedom 1 + itm_zoo_get_freedom(type).
ItmStatus itm_zoo_build_pair(ItmModel** model, ItmCoordinates coordinates, ItmJointType type,
                             ItmError* error);
// A carrier that turns slowly in space, without gravity, and on a joint of the type a rotor of three different moments that spins at a
// rate, rad/s, in every rotation that the joint leaves (universal: about the first axis); on a joint without rotations a bearing with
// the rotor on an axle. Energy, momentum and angular momentum are constant.
ItmStatus itm_zoo_build_spin(ItmModel** model, ItmCoordinates coordinates, ItmJointType type, double rate, ItmError* error);
// Freedoms that the joint leaves in the zoo (a generic joint has tx, tz, ry there).
int itm_zoo_get_freedom(ItmJointType type);

// One closed loop through every joint type, named by its type, from ground to ground over bodies
// "body1" ...; starts at rest under a skew gravity.
ItmStatus itm_zoo_build_loop(ItmModel** model, ItmCoordinates coordinates, ItmError* error);

// Two gear wheels "pinion", "wheel" and a rack "rack" driven by the wheel. Freedom 1.
ItmStatus itm_zoo_build_gears(ItmModel** model, ItmCoordinates coordinates, ItmError* error);

// ---------------------------------------------------------------------------- cranes

// Crane with boom and swinging hook arm, bodies "boom" and "hook", joints "foot" and "tip", one or two line actuators "cyl1"
// (ground to boom), "cyl2" (boom to hook arm). In absolute angles theta1 = foot, theta2 = foot + tip its mass matrix is
// M11 = 416.667, M12 = 50 cos(theta1 - theta2), M22 = 25 + 1e-6 kg m^2. Freedom 2.                  [cranes, section 3.1]
ItmStatus itm_crane_build(ItmModel** model, ItmCoordinates coordinates, int nactuator, ItmError* error);

// Crane whose head stays upright: parallelogram of "boom", "rod" and "head" closed by "rod_tip", with redundant rows, and
// "cyl1" as above. Freedom 1, inertia about the foot (200/3 + 250 + 20/3 + 5 + 100) kg m^2, whatever the angle.
ItmStatus itm_parallel_crane_build(ItmModel** model, ItmCoordinates coordinates, ItmError* error);

// Two links "link1", "link2" on hinges "O", "Q" with actuators "cyl1", "cyl2"; a ball at the tip, a "block" on the floor with
// friction, a wall behind it.                                                                [contact-rim, section 5.2]
typedef struct ItmManipulatorScene {
    ItmCoordinates coordinates;
    double friction;    // of block and floor
} ItmManipulatorScene;
ItmManipulatorScene itm_default_manipulator_scene(void);
ItmStatus itm_manipulator_build(ItmModel** model, const ItmManipulatorScene* def, ItmError* error);

// ---------------------------------------------------------------------------- hydraulic circuits

// Circuit of the cranes, per actuator N = 1, 2: volumes "pistonN", "rodN" (held), "lineN", "throttleN", "valveN", "cylN",
// aliases "cylN.p3", "cylN.U"; in common "pump" and "tank". Starts as the page of the models says.   [cranes, section 3.2]
typedef struct ItmCraneCircuit {
    int ncylinder;                   // 1 or 2
    double hose_3;                   // volume between valve and throttle, m^3
    bool has_joystick;               // commands as the page of the models has them; else 0
    const ItmSignalDef* motion[2];   // of the pistons, or NULL: inputs
} ItmCraneCircuit;
ItmCraneCircuit itm_default_crane_circuit(void);
ItmStatus itm_crane_circuit_build(ItmCircuit** circuit, const ItmCraneCircuit* crane, ItmError* error);

// Circuit of the manipulator, N = 1, 2: volumes "pushN" (grows with the length), "pullN", "valveN", "cylN". Commands are
// 0.5 and a ramp of dkappa2 on valve2; the static start finds the rest.               [contact-rim, section 5.1]
ItmStatus itm_manipulator_circuit_build(ItmCircuit** circuit, double dkappa2, ItmError* error);

#endif
