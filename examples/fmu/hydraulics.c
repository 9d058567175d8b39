// The hydraulics of examples/crane-single.yaml as an FMU: pump, 4/3 valve, throttle, hoses and a cylinder with end dampers.
//
// Power port: `rate` and `length` of the cylinder in, `force` out, positive where it lengthens. Input: `command` of the valve,
// in volts, 10 is fully open.
//
//   line' = (q_a - q_t) / C_line,  piston' = (q_t - A_1 w) / C_1,  rod' = (q_b + A_2 w) / C_2,  spool' = (command - spool) / T
//   q = k sign(dp) sqrt(|dp|), C = V (1/B_oil + 1/B_wall) of hoses and chambers
// SPDX-License-Identifier: Apache-2.0
#include "fmu.h"

#include <math.h>

enum {
    LINE,
    PISTON,
    ROD,
    SPOOL,  // states: Pa, Pa, Pa, V
    D_LINE,
    D_PISTON,
    D_ROD,
    D_SPOOL,  // their derivatives
    RATE,
    LENGTH,
    COMMAND,  // inputs: m/s, m, V
    FORCE,    // output, N
    SUPPLY,
    TANK,  // parameters: Pa
    COUNT
};

const char* const fmu_token = "{0c4e0b7e-5a0e-4a43-9d0e-crane-hydraulics}";
const FmuVariable fmu_variables[] = {{LINE, 1},     {PISTON, 1}, {ROD, 1},     {SPOOL, 1}, {D_LINE, 1},
                                     {D_PISTON, 1}, {D_ROD, 1},  {D_SPOOL, 1}, {RATE, 1},  {LENGTH, 1},
                                     {COMMAND, 1},  {FORCE, 1},  {SUPPLY, 1},  {TANK, 1}};
const int fmu_nvariable = COUNT, fmu_ndiscrete = 0;
const int fmu_states[] = {LINE, PISTON, ROD, SPOOL};
const int fmu_derivatives[] = {D_LINE, D_PISTON, D_ROD, D_SPOOL};
const int fmu_nx = 4, fmu_nz = 0;
const double fmu_longest_step = 1e-4;  // s

#define PI 3.14159265358979323846
#define BORE 0.08                      // m
#define RODS 0.035                     // m
#define STROKE 0.3                     // m
#define SHORTEST 0.45                  // m, length of the cylinder with the piston at its bottom
#define OIL 1.5e9                      // Pa, bulk modulus
#define DENSITY 850.0                  // kg/m^3
#define HOSE 150e6                     // Pa, stiffness of the hoses
#define BARREL 31.5e9                  // Pa, of the cylinder
#define VALVE 1.0690e-8                // m^3/(s V sqrt(Pa))
#define LAG (1.0 / (2.0 * PI * 35.0))  // s
#define VISCOUS 1e5                    // N s/m
#define DAMPER_LENGTH 8e-3             // m
#define DAMPER_STIFFNESS 1e7           // N/m
#define DAMPER_DAMPING 5e3             // N s/m
#define LINEAR 2e5                     // Pa; below this pressure drop the root is a straight line

static double root(double drop)
{
    return fabs(drop) >= LINEAR ? copysign(sqrt(fabs(drop)), drop) : drop / sqrt(LINEAR);
}

void fmu_start(Fmu* m)
{
    double A_1 = PI / 4.0 * BORE * BORE, A_2 = A_1 - PI / 4.0 * RODS * RODS;
    m->r[SUPPLY] = 7.6e6;
    m->r[TANK] = 1e5;
    m->r[ROD] = 2e6;
    // what the cylinder carries at the start: 8829 N
    m->r[LINE] = m->r[PISTON] = (8829.0 + m->r[ROD] * A_2) / A_1;
    m->r[LENGTH] = 0.5;
}

static double compute_damper(double l, double w)
{
    double left = STROKE - l;
    return l <= DAMPER_LENGTH      ? DAMPER_STIFFNESS * (DAMPER_LENGTH - l) - DAMPER_DAMPING * w
           : left <= DAMPER_LENGTH ? -DAMPER_STIFFNESS * (DAMPER_LENGTH - left) - DAMPER_DAMPING * w
                                   : 0.0;
}

void fmu_compute(Fmu* m)
{
    double* r = m->r;
    double A_1 = PI / 4.0 * BORE * BORE, A_2 = A_1 - PI / 4.0 * RODS * RODS;
    double l = r[LENGTH] - SHORTEST, w = r[RATE];
    double open = fmax(r[SPOOL], 0.0), back = fmax(-r[SPOOL], 0.0);

    // flows: valve to line and rod, throttle from line to piston
    double q_a = VALVE * (open * root(r[SUPPLY] - r[LINE]) - back * root(r[LINE] - r[TANK]));
    double q_b = VALVE * (back * root(r[SUPPLY] - r[ROD]) - open * root(r[ROD] - r[TANK]));
    double q_t = 0.8 * PI / 4.0 * 0.006 * 0.006 * sqrt(2.0 / DENSITY) * root(r[LINE] - r[PISTON]);

    // capacities: hoses, and the chambers of the cylinder
    double hose = 1.0 / OIL + 1.0 / HOSE, barrel = 1.0 / OIL + 1.0 / BARREL;
    r[D_LINE] = (q_a - q_t) / (47.1e-6 * hose);
    r[D_PISTON] = (q_t - A_1 * w) / (31.4e-6 * hose + A_1 * l * barrel);
    r[D_ROD] = (q_b + A_2 * w) / (78.5e-6 * hose + A_2 * (STROKE - l) * barrel);
    r[D_SPOOL] = (r[COMMAND] - r[SPOOL]) / LAG;

    r[FORCE] = r[PISTON] * A_1 - r[ROD] * A_2 - VISCOUS * w + compute_damper(l, w);
}

void fmu_indicate(const Fmu* m, double* z)
{
    (void)m, (void)z;
}

bool fmu_handle_event(Fmu* m)
{
    (void)m;
    return false;
}
