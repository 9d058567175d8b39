// A hydraulic cylinder lifts a load: a circuit through the C API, coupled by hand to the simplest mechanics there is.
//
//   cc hydraulic_cylinder.c $(pkg-config --cflags --libs interim) -lm && ./a.out
//
// The load rests at the start (static start), the valve opens for one second and closes again. Every micro step the circuit
// gets the piston's length and rate and gives back its force.
// SPDX-License-Identifier: Apache-2.0
#include <interim/interim.h>

#include <stdio.h>
#include <stdlib.h>

#define MASS 900.0    // kg
#define GRAVITY 9.81  // m/s^2
#define STEP 1e-4     // s
#define DURATION 2.0  // s

// Every call that can fail returns a status and fills an ItmError with a sentence.
static void must(ItmStatus status, const ItmError* error)
{
    if (status != ITM_OK) {
        fprintf(stderr, "%s\n", error->message);
        exit(1);
    }
}

// 1. Nodes. Volumes have a pressure state, sources a given pressure.
static int add_volume(ItmCircuitBuilder* builder, const char* name, double volume, bool is_held)
{
    ItmError error;
    int id;
    ItmVolumeDef def = itm_default_volume_def();
    def.name = name;
    def.volume = volume;  // the hose; the chamber of the cylinder comes on top
    def.wall_modulus = 150e6;
    def.pressure = 2e6;
    def.is_held = is_held;  // the static start leaves this pressure as it is
    must(itm_circuit_builder_add_volume(builder, &def, &id, &error), &error);
    return id;
}

static int add_source(ItmCircuitBuilder* builder, const char* name, double pressure)
{
    ItmError error;
    int id;
    ItmPressureSourceDef def = itm_default_pressure_source_def();
    def.name = name;
    def.pressure = pressure;
    must(itm_circuit_builder_add_pressure_source(builder, &def, &id, &error), &error);
    return id;
}

// 2. Elements join the nodes by their ports.
static void add_valve(ItmCircuitBuilder* builder, int pump, int tank, int piston_side, int rod_side)
{
    static const double TIMES[] = {0.0, 0.2, 1.2}, VOLTS[] = {0.0, 8.0, 0.0};
    ItmError error;
    ItmSignalDef joystick = itm_default_signal_def();
    ItmValveDef def = itm_default_valve_def(ITM_VALVE_4_3);
    joystick.name = "joystick";
    joystick.kind = ITM_SIGNAL_PIECEWISE;
    joystick.times = TIMES;
    joystick.values = VOLTS;
    joystick.npoint = 3;
    must(itm_circuit_builder_add_signal(builder, &joystick, &def.signal, &error), &error);
    def.name = "valve";
    def.port_p = pump;
    def.port_t = tank;
    def.port_a = piston_side;
    def.port_b = rod_side;
    def.law.coefficient = 1.069e-8;  // m^3/(s sqrt(Pa)) per volt
    def.spool = ITM_SPOOL_FIRST;
    def.time_constant = 4.5e-3;
    must(itm_circuit_builder_add_valve(builder, &def, NULL, &error), &error);
}

static void add_cylinder(ItmCircuitBuilder* builder, int piston_side, int rod_side)
{
    ItmError error;
    ItmCylinderDef def = itm_default_cylinder_def();
    def.name = "lift";
    def.port_1 = piston_side;
    def.port_2 = rod_side;
    def.bore = 0.08;
    def.rod = 0.035;
    def.stroke = 0.3;
    def.start_length = 0.5;
    def.start_extension = 0.05;
    def.viscous = 1e4;
    must(itm_circuit_builder_add_cylinder(builder, &def, NULL, &error), &error);
}

static ItmCircuit* build_circuit(void)
{
    ItmError error;
    ItmCircuitBuilder* builder;
    ItmCircuit* circuit;
    ItmFluidDef oil = itm_default_fluid_def();
    oil.name = "oil";
    must(itm_circuit_builder_create(&builder, &error), &error);
    must(itm_circuit_builder_add_fluid(builder, &oil, NULL, &error), &error);
    int pump = add_source(builder, "pump", 7.6e6), tank = add_source(builder, "tank", 1e5);
    int piston_side = add_volume(builder, "piston_side", 3e-5, false);
    int rod_side = add_volume(builder, "rod_side", 8e-5, true);
    add_valve(builder, pump, tank, piston_side, rod_side);
    add_cylinder(builder, piston_side, rod_side);
    must(itm_circuit_build(&circuit, builder, &error), &error);
    itm_circuit_builder_destroy(builder);
    return circuit;
}

// 3. Start at rest: pressures at which the cylinder carries the load.
static void find_rest(const ItmCircuit* circuit, ItmHydraulics* data)
{
    double weight = MASS * GRAVITY;
    ItmHydraulicStatics statics = itm_default_hydraulic_statics();
    statics.force = &weight;
    must(itm_hydraulics_solve_static(circuit, data, &statics, NULL), itm_hydraulics_get_error(data));
}

static void print_row(const ItmCircuit* circuit, const ItmHydraulics* data, double s, double w)
{
    printf("%5.2f s  length %.5f m  rate %8.5f m/s  force %8.1f N  p1 %6.3f MPa\n", itm_hydraulics_get_time(data), s, w,
           itm_hydraulics_get_force(circuit, data, 0).total,
           1e-6 * itm_hydraulics_get_pressure(circuit, data, itm_circuit_find_node(circuit, "piston_side")));
}

int main(void)
{
    ItmError error;
    ItmHydraulics* data;
    ItmCircuit* circuit = build_circuit();
    ItmHydraulicOptions options = itm_default_hydraulic_options();
    options.integrator = ITM_HYDRAULIC_HEUN;
    must(itm_hydraulics_create(&data, circuit, &options, &error), &error);
    find_rest(circuit, data);

    // 4. Micro steps. Heun: predict the rate, step the circuit along it, use the mean of old and new force.
    double s = 0.5, w = 0.0, force = itm_hydraulics_get_force(circuit, data, 0).total;
    long steps = (long)(DURATION / STEP + 0.5);
    for (long i = 0; i < steps; i++) {
        if (i % 2000 == 0) {
            print_row(circuit, data, s, w);
        }
        double w_end = w + STEP * (force / MASS - GRAVITY);
        must(itm_hydraulics_set_piston_motion(circuit, data, 0, s, w, w_end), itm_hydraulics_get_error(data));
        must(itm_hydraulics_step(circuit, data, STEP), itm_hydraulics_get_error(data));
        double force_end = itm_hydraulics_get_force(circuit, data, 0).total;
        double w_next = w + STEP * (0.5 * (force + force_end) / MASS - GRAVITY);
        s += 0.5 * STEP * (w + w_next);
        w = w_next;
        must(itm_hydraulics_set_piston(circuit, data, 0, s, w), itm_hydraulics_get_error(data));
        force = itm_hydraulics_get_force(circuit, data, 0).total;
    }
    print_row(circuit, data, s, w);

    // 5. Where the energy went.
    const double* energy = itm_hydraulics_get_ledger(data);
    printf("supply %.2f J = valve %.2f + compression %.2f + viscous %.2f + mechanical %.2f;  lifting took %.2f J\n",
           energy[ITM_HYDRAULIC_SUPPLY], energy[ITM_HYDRAULIC_VALVE], energy[ITM_HYDRAULIC_COMPRESSION],
           energy[ITM_HYDRAULIC_VISCOUS], energy[ITM_HYDRAULIC_MECHANICAL], MASS * (GRAVITY * (s - 0.5) + 0.5 * w * w));
    itm_hydraulics_destroy(data);
    itm_circuit_destroy(circuit);
    return 0;
}
