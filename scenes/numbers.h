// Dimensions and start values of the benchmark scenes, defined once for Interim and for its peers.
// Plain C that C++ reads too; SI units.
#ifndef ITM_SCENES_NUMBERS_H
#define ITM_SCENES_NUMBERS_H

#include <math.h>

#define ITM_SCENE_GRAVITY 9.81      // m/s^2
#define ITM_SCENE_STEP (1.0 / 600)  // s, the step of all benchmarks

// ---------------------------------------------------------------------------- solids

// Solid cylinder of mass m, radius r, length l: moment of inertia about its axis, across it.
static inline double itm_cylinder_axial(double m, double r)
{
    return 0.5 * m * r * r;
}

static inline double itm_cylinder_transverse(double m, double r, double l)
{
    return m * (3 * r * r + l * l) / 12;
}

static inline double itm_sphere_inertia(double m, double r)
{
    return 0.4 * m * r * r;
}

// ---------------------------------------------------------------------------- arm7

// Seven cylinders in a row along +x at rest, joint i at the start of link i, sphere on the tip.
#define ITM_ARM7_JOINTS 7
#define ITM_ARM7_RADIUS 0.15
#define ITM_ARM7_TOOL_MASS 50.0
#define ITM_ARM7_TOOL_RADIUS 0.15

typedef struct ItmArm7Link {
    double length;  // m
    double mass;    // kg
    int axis;       // of the joint at its start: 0 x, 1 y, 2 z
    double q, v;    // joint angle and rate at the start, rad, rad/s
} ItmArm7Link;

static const ItmArm7Link ITM_ARM7_LINKS[ITM_ARM7_JOINTS] = {
    {0.64, 121.2, 0, 0.1, 0.05},  {0.50, 96.2, 2, 0.3, -0.04},  {6.85, 1307.3, 1, -0.5, 0.03},
    {6.85, 1307.3, 1, 1.0, 0.06}, {0.50, 96.2, 1, -0.4, -0.05}, {0.64, 121.2, 2, 0.2, 0.04},
    {0.38, 72.5, 0, 0.1, 0.02},
};

// ---------------------------------------------------------------------------- chain

// N cylinders of 1 m and 1 kg along +x, axes y, z, y, z, ...; only joint 1 moves at the start.
#define ITM_CHAIN_RADIUS 0.05

static inline int itm_chain_axis(int joint)
{
    return joint % 2 ? 2 : 1;
}

static inline double itm_chain_rate(int n)
{
    return 5.0 / n;
}

// ---------------------------------------------------------------------------- n-four-bar

// N + 1 upright rods of 1 m and 1 kg, N rods between their tops; the tops start at 1 m/s along +x.
#define ITM_FOUR_BAR_INERTIA (1.0 / 12)

// Angle from upright of the uprights at time t. The exact motion is that of a parallelogram, one
// equation a'' = k sin a, integrated here by Runge-Kutta 4 at a twentieth of the step.
static inline double itm_four_bar_compute_angle(int n, double t)
{
    double inertia = (n + 1) / 3.0 + n;
    double k = ITM_SCENE_GRAVITY * (0.5 * (n + 1) + n) / inertia;
    double h = ITM_SCENE_STEP / 20, a = 0, w = 1;
    long steps = lround(t / h);
    for (long i = 0; i < steps; i++) {
        double b1 = k * sin(a), w2 = w + 0.5 * h * b1;
        double b2 = k * sin(a + 0.5 * h * w), w3 = w + 0.5 * h * b2;
        double b3 = k * sin(a + 0.5 * h * w2), w4 = w + h * b3;
        double b4 = k * sin(a + h * w3);
        a += h / 6 * (w + 2 * w2 + 2 * w3 + w4);
        w += h / 6 * (b1 + 2 * b2 + 2 * b3 + b4);
    }
    return a;
}

// ---------------------------------------------------------------------------- bricks

// Bricks on the plane z = 0 under gravity: as a wall of n, or each alone on the floor.
#define ITM_BRICK_LENGTH 1.0  // along x
#define ITM_BRICK_WIDTH 0.5   // along y
#define ITM_BRICK_HEIGHT 0.5  // along z
#define ITM_BRICK_MASS 250.0
#define ITM_BRICK_FRICTION 0.5
#define ITM_WALL_GAP 0.01  // between the bricks of a course

static inline int itm_wall_get_columns(int n)
{
    return n <= 10 ? 5 : n <= 50 ? 10 : 20;
}

// Centre of brick i; every other course is shifted by a quarter of a brick.
static inline void itm_wall_get_position(int n, int i, double p[3])
{
    int columns = itm_wall_get_columns(n), course = i / columns, column = i % columns;
    double shift = course % 2 ? 0.25 * ITM_BRICK_LENGTH : 0;
    p[0] = (ITM_BRICK_LENGTH + ITM_WALL_GAP) * column + shift;
    p[1] = 0;
    p[2] = ITM_BRICK_HEIGHT * (course + 0.5);
}

// Centre of brick i of n, on a square grid of 2 m.
static inline void itm_floor_get_position(int n, int i, double p[3])
{
    int side = (int)ceil(sqrt(n));
    p[0] = 2.0 * (i % side);
    p[1] = 2.0 * (i / side);
    p[2] = 0.5 * ITM_BRICK_HEIGHT;
}

// ---------------------------------------------------------------------------- pile

// Boxes (cubes) or spheres dropped on the plane in columns that lean a little: boxes stay columns, spheres become a heap.
#define ITM_PILE_SIZE 0.5     // edge, diameter
#define ITM_PILE_MASS 125.0   // of either
#define ITM_PILE_PITCH 0.7    // between columns
#define ITM_PILE_GAP 0.02     // above each at the start
#define ITM_PILE_SHIFT 0.025  // at most, of a centre off the middle of its column

// -1 ... 1, the same for everybody
static inline double itm_pile_scatter(int i)
{
    double x = 0.6180339887498949 * (i + 1);
    return 2 * (x - floor(x)) - 1;
}

// Centre of the i-th of n.
static inline void itm_pile_get_position(int n, int i, double p[3])
{
    int side = (int)lround(cbrt(n)), column = i % (side * side);
    p[0] = ITM_PILE_PITCH * (column % side) + ITM_PILE_SHIFT * itm_pile_scatter(2 * i);
    p[1] = ITM_PILE_PITCH * (column / side) + ITM_PILE_SHIFT * itm_pile_scatter(2 * i + 1);
    p[2] = (ITM_PILE_SIZE + ITM_PILE_GAP) * (i / (side * side)) + 0.5 * ITM_PILE_SIZE + ITM_PILE_GAP;
}

#endif
