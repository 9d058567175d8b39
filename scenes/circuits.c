// The hydraulic circuits of the papers.
#include "scenes/scenes.h"

#include <math.h>
#include <stdio.h>

// A builder that remembers its first error, so that a circuit reads as a list.
typedef struct Scene {
    ItmCircuitBuilder* builder;
    ItmStatus status;
    ItmError* error;
} Scene;

#define ADD(scene, kind, def, id)                                                                  \
    ((scene)->status == ITM_OK                                                                     \
         ? (void)((scene)->status = itm_circuit_add_##kind((scene)->builder, def, id, (scene)->error)) \
         : (void)0)

static void add_alias(Scene* scene, const char* alias, const char* output)
{
    if (scene->status == ITM_OK) {
        scene->status = itm_circuit_add_alias(scene->builder, alias, output, scene->error);
    }
}

static ItmStatus finish(Scene* scene, ItmCircuit** circuit)
{
    if (scene->status == ITM_OK) {
        scene->status = itm_circuit_build(circuit, scene->builder, scene->error);
    }
    itm_circuit_builder_destroy(scene->builder);
    return scene->status;
}

// Pump at 7.6 MPa and tank at 0.1 MPa, as both papers have them.
static void add_supply(Scene* scene, int fluid, int* pump, int* tank)
{
    ItmPressureSourceDef source = itm_default_pressure_source_def();
    source.name = "pump";
    source.fluid = fluid;
    source.pressure = 7.6e6;
    ADD(scene, pressure_source, &source, pump);
    source = itm_default_tank_def();
    source.name = "tank";
    source.fluid = fluid;
    ADD(scene, pressure_source, &source, tank);
}

static int add_volume(Scene* scene, const char* name, double volume, double wall_modulus, double pressure, bool is_held)
{
    ItmVolumeDef def = itm_default_volume_def();
    int id = ITM_NONE;
    def.name = name;
    def.volume = volume;
    def.wall_modulus = wall_modulus;
    def.pressure = pressure;
    def.is_held = is_held;
    ADD(scene, volume, &def, &id);
    return id;
}

// ---------------------------------------------------------------------------- cranes

#define CRANE_AREA_1 5.026548245743669e-3
#define CRANE_AREA_2 4.064435495581795e-3

// Joysticks of the cranes' page: value of the last point whose time has come.
static const double SINGLE_T[] = {0, 0.5, 2.5, 3, 11.5, 12, 14, 15};
static const double SINGLE_U[] = {0, -10, 0, 10, 0, -10, 5, 0};
static const double DOUBLE_T1[] = {0, 0.5, 4, 5, 8, 9, 10.5};
static const double DOUBLE_U1[] = {0, 8, 0, -6, 0, 10, 0};
static const double DOUBLE_T2[] = {0, 1, 3.5, 4.5, 7, 8.5, 11};
static const double DOUBLE_U2[] = {0, 6, 0, 10, 0, -10, 0};

static int add_joystick(Scene* scene, const char* name, int ncylinder, int which)
{
    ItmSignalDef def = itm_default_signal_def();
    int id = ITM_NONE;
    def.name = name;
    def.kind = ITM_SIGNAL_PIECEWISE;
    def.times = ncylinder == 1 ? SINGLE_T : which == 0 ? DOUBLE_T1 : DOUBLE_T2;
    def.values = ncylinder == 1 ? SINGLE_U : which == 0 ? DOUBLE_U1 : DOUBLE_U2;
    def.npoint = ncylinder == 1 ? 8 : 7;
    ADD(scene, signal, &def, &id);
    return id;
}

static void add_crane_valve(Scene* scene, const char* name, int signal, int pump, int tank, int line, int rod_side)
{
    ItmValveDef def = itm_default_valve_def(ITM_VALVE_4_3);
    def.name = name;
    def.port_p = pump;
    def.port_t = tank;
    def.port_a = line;
    def.port_b = rod_side;
    def.law.coefficient = 1.0690e-8;
    def.signal = signal;
    def.spool = ITM_SPOOL_FIRST;
    def.time_constant = 1.0 / (2.0 * 3.14159265358979323846 * 35.0);
    ADD(scene, valve, &def, NULL);
}

static void add_crane_cylinder(Scene* scene, const char* name, int motion, int piston_side, int rod_side, double length)
{
    ItmCylinderDef def = itm_default_cylinder_def();
    def.name = name;
    def.port_1 = piston_side;
    def.port_2 = rod_side;
    def.bore = 0.080;
    def.rod = 0.035;
    def.stroke = 0.3;
    def.start_length = length;
    def.start_extension = 0.05;
    def.wall_modulus = 31.5e9;
    def.viscous = 1e5;
    def.damper_length = 0.008;
    def.damper_stiffness = 1e7;
    def.damper_damping = 5e3;
    def.motion = motion;
    ADD(scene, cylinder, &def, NULL);
}

// One actuator with its three volumes, throttle and valve; elements carry the number `which` + 1.
static void add_crane_actuator(Scene* scene, const ItmCraneCircuit* crane, int which, int pump, int tank, int motion)
{
    static const char* const NAMES[2][8] = {
        {"piston1", "rod1", "line1", "throttle1", "valve1", "cyl1", "joystick1", "cyl1.p3"},
        {"piston2", "rod2", "line2", "throttle2", "valve2", "cyl2", "joystick2", "cyl2.p3"}};
    const char* const* name = NAMES[which];
    double force = which == 0 ? 8829.0 : 0.0, p_2 = 2e6;
    double p_1 = (force + p_2 * CRANE_AREA_2) / CRANE_AREA_1;
    double length = which == 0 ? 0.5 : 0.25 * sqrt(3.0);
    int piston_side = add_volume(scene, name[0], 3.14e-5, 150e6, p_1, false);
    int rod_side = add_volume(scene, name[1], 7.85e-5, 150e6, p_2, true);
    int line = add_volume(scene, name[2], crane->hose_3, 150e6, p_1, false);
    ItmOrificeDef throttle = itm_default_orifice_def();
    throttle.name = name[3];
    throttle.port_a = line;
    throttle.port_b = piston_side;
    throttle.law.discharge = 0.8;
    throttle.law.area = 3.14159265358979323846 / 4.0 * 0.006 * 0.006;
    ADD(scene, orifice, &throttle, NULL);
    int joystick = crane->has_joystick ? add_joystick(scene, name[6], crane->ncylinder, which) : ITM_NONE;
    add_crane_valve(scene, name[4], joystick, pump, tank, line, rod_side);
    add_crane_cylinder(scene, name[5], motion, piston_side, rod_side, length);
    char output[32], alias[32];
    snprintf(output, sizeof output, "%s.pressure", name[2]);
    add_alias(scene, name[7], output);
    snprintf(output, sizeof output, "%s.spool", name[4]);
    snprintf(alias, sizeof alias, "%s.U", name[5]);
    add_alias(scene, alias, output);
}

ItmCraneCircuit itm_default_crane_circuit(void)
{
    return (ItmCraneCircuit){.ncylinder = 1, .hose_3 = 4.71e-5, .has_joystick = true};
}

ItmStatus itm_crane_circuit_build(ItmCircuit** circuit, const ItmCraneCircuit* crane, ItmError* error)
{
    Scene scene = {.error = error};
    scene.status = itm_circuit_builder_create(&scene.builder, error);
    ItmFluidDef oil = itm_default_fluid_def();
    oil.name = "oil";
    ADD(&scene, fluid, &oil, NULL);
    int pump = ITM_NONE, tank = ITM_NONE;
    add_supply(&scene, 0, &pump, &tank);
    for (int i = 0; i < crane->ncylinder; i++) {
        int motion = ITM_NONE;
        if (crane->motion[i] != NULL) {
            ADD(&scene, signal, crane->motion[i], &motion);
        }
        add_crane_actuator(&scene, crane, i, pump, tank, motion);
    }
    return finish(&scene, circuit);
}

// ---------------------------------------------------------------------------- manipulator

// Lengths at the start: from A = (0.3, -0.3) m to the middle of link 1, and over the joint between the links.
#define MANIPULATOR_LENGTH_1 0.56585543990021725
#define MANIPULATOR_LENGTH_2 0.46097722286464438

static void add_manipulator_actuator(Scene* scene, int which, int pump, int tank, int ramp)
{
    static const char* const NAMES[2][4] = {{"push1", "pull1", "valve1", "cyl1"}, {"push2", "pull2", "valve2", "cyl2"}};
    int push = add_volume(scene, NAMES[which][0], 0.0, INFINITY, 3.8e6, false);
    int pull = add_volume(scene, NAMES[which][1], 0.0, INFINITY, 3.8e6, false);
    ItmValveDef valve = itm_default_valve_def(ITM_VALVE_SYMMETRIC);
    valve.name = NAMES[which][2];
    valve.port_p = pump;
    valve.port_t = tank;
    valve.port_a = push;
    valve.port_b = pull;
    valve.law.area = 5e-4;
    valve.law.discharge = 0.67;
    valve.signal = which == 1 ? ramp : ITM_NONE;
    ADD(scene, valve, &valve, NULL);
    ItmCylinderDef cylinder = itm_default_cylinder_def();
    cylinder.name = NAMES[which][3];
    cylinder.port_1 = push;
    cylinder.port_2 = pull;
    cylinder.area_1 = cylinder.area_2 = 6.5e-3;
    cylinder.stroke = 0.442;
    cylinder.start_length = which == 0 ? MANIPULATOR_LENGTH_1 : MANIPULATOR_LENGTH_2;
    cylinder.viscous = 1e5;
    ADD(scene, cylinder, &cylinder, NULL);
}

ItmStatus itm_manipulator_circuit_build(ItmCircuit** circuit, double dkappa2, ItmError* error)
{
    Scene scene = {.error = error};
    scene.status = itm_circuit_builder_create(&scene.builder, error);
    ItmFluidDef oil = itm_default_fluid_def();
    oil.name = "oil";
    oil.has_pressure_law = true;
    oil.compress_a = 6.53e-10;
    oil.compress_b = -1.19e-18;
    ADD(&scene, fluid, &oil, NULL);
    // [contact-rim, eq. 52]
    ItmSignalDef ramp = itm_default_signal_def();
    ramp.name = "kappa2";
    ramp.kind = ITM_SIGNAL_RAMP;
    ramp.t_start = 1.0;
    ramp.t_end = 2.0;
    ramp.to = dkappa2;
    ramp.is_smooth = false;
    int pump = ITM_NONE, tank = ITM_NONE, id = ITM_NONE;
    ADD(&scene, signal, &ramp, &id);
    add_supply(&scene, 0, &pump, &tank);
    for (int i = 0; i < 2; i++) {
        add_manipulator_actuator(&scene, i, pump, tank, id);
    }
    return finish(&scene, circuit);
}
